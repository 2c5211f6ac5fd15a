// SPDX-License-Identifier: MIT
// Dampers of any strength: no motion changes its sign, one damper is exact, the balance closes, order two.
#include "damped_mass.h"
#include "run.h"

static uint64_t random_state = 7;

static double random_unit(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

static const hn_scheme EXACT[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                  HN_SCHEME_CONVECTED, HN_SCHEME_GENERALIZED_ALPHA};
static const hn_scheme MONOTONE[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                     HN_SCHEME_CONVECTED,       HN_SCHEME_GENERALIZED_ALPHA,
                                     HN_SCHEME_RATTLE,          HN_SCHEME_GGL_VARIATIONAL,
                                     HN_SCHEME_GGL_CLASSICAL};

TEST(strong_dampers, a_mass_follows_the_exponential_for_every_strength)
{
    double worst = 0.0;
    for (size_t k = 0; k < 7; ++k)
        for (int power = -6; power <= 18; ++power) {
            double z = pow(10.0, 0.5 * power), h = 0.01, v = 1.0;
            hn_context *context = hn_context_create(NULL);
            hn_body_id body;
            hn_model *model = damped_mass(context, 1.0, DAMPED_MASS * z / h, &body);
            run r = run_start(context, model, MONOTONE[k], HN_REDUCTION_REDUCED, h, true);
            double scale = 1.0;
            for (int n = 0; n < 20; ++n) {
                run_step(&r, 1);
                double next = run_body(&r, body).velocity.x;
                CHECK(next > -1e-13 &&
                      next <= v * (1.0 + 1e-13) + 1e-13); // m/s: no change of sign, no growth
                v = next;
                scale *= exp(-z);
                if (k < 4) worst = fmax(worst, fabs(v - scale));
            }
            hn_ledger ledger;
            CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
            if (scheme_type_of(MONOTONE[k])->energy_kept)
                CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12);
            run_end(&r);
        }
    CHECK_BELOW(worst, 1e-12); // m/s; measured 2.4e-14
}

// Dampers on a straight line: masses and dampers between them and the ground
typedef struct line {
    hn_context *context;
    hn_model *model;
    int count;
    hn_body_id body[8];
    double mass[8];
} line;

static line make_line(int count, const double *mass, const double *speed)
{
    line l = {.context = hn_context_create(NULL), .count = count};
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(l.context, hn_model_create(l.context, &world, &l.model));
    for (int i = 0; i < count; ++i) {
        hn_body_def def = hn_body_def_default();
        def.kind = HN_BODY_POINT_MASS;
        def.mass = l.mass[i] = mass[i];
        def.position = (hn_vec3){10.0 * (i + 1), 0.0, 0.0};
        CHECK_OK(l.context, hn_model_add_body(l.model, &def, &l.body[i]));
        CHECK_OK(l.context,
                 hn_model_set_velocity(l.model, l.body[i], (hn_vec3){speed[i], 0.0, 0.0}));
    }
    return l;
}

static void add_damper(line *l, int a, int b, double damping)
{
    hn_spring_def damper = hn_spring_def_default();
    hn_load_id id;
    damper.body_a = a < 0 ? hn_ground() : l->body[a];
    damper.body_b = l->body[b];
    damper.point_a = (hn_vec3){a < 0 ? 0.0 : 10.0 * (a + 1), 0.0, 0.0};
    damper.point_b = (hn_vec3){10.0 * (b + 1), 0.0, 0.0};
    damper.damping = damping;
    CHECK_OK(l->context, hn_model_add_spring(l->model, &damper, &id));
}

TEST(strong_dampers, side_by_side_act_as_their_sum)
{
    static const double RATIO[] = {1.0, 1e-3, 1e3, 1e-9};
    double worst = 0.0;
    for (size_t k = 0; k < 4; ++k)
        for (int i = 0; i < 4; ++i)
            for (int power = -3; power <= 9; power += 2) {
                const double h = 0.01, mass = 2.0, speed = 1.0;
                double z = pow(10.0, power), c = z * mass / h, exact = 1.0;
                line l = make_line(1, &mass, &speed);
                add_damper(&l, -1, 0, c / (1.0 + RATIO[i]));
                add_damper(&l, -1, 0, c * RATIO[i] / (1.0 + RATIO[i]));
                run r = run_start(l.context, l.model, EXACT[k], HN_REDUCTION_REDUCED, h, true);
                for (int n = 0; n < 10; ++n) {
                    run_step(&r, 1);
                    exact *= exp(-z);
                    worst = fmax(worst, fabs(run_body(&r, l.body[0]).velocity.x - exact));
                }
                run_end(&r);
            }
    CHECK_BELOW(worst, 1e-12); // m/s; measured 1.5e-13
}

// Chains of random masses and dampers of any strength: the work of every step is never positive and the balance closes
TEST(strong_dampers, chains_of_masses_never_ring_and_balance)
{
    double worst = 0.0, most = 0.0;
    for (int trial = 0; trial < 1000; ++trial) {
        int count = 2 + (int)(6.99 * random_unit());
        double mass[8], speed[8];
        for (int i = 0; i < count; ++i)
            mass[i] = pow(10.0, 4.0 * random_unit() - 2.0), speed[i] = 2.0 * random_unit() - 1.0;
        line l = make_line(count, mass, speed);
        for (int i = 0; i < count; ++i)
            add_damper(&l, i - 1, i, pow(10.0, 12.0 * random_unit() - 3.0));
        if (random_unit() < 0.5)
            add_damper(&l, -1, count - 1, pow(10.0, 12.0 * random_unit() - 3.0));
        run r = run_start(l.context, l.model, EXACT[trial % 3 == 1 ? 0 : trial % 3],
                          HN_REDUCTION_REDUCED, 0.01, true);
        hn_energy before, now;
        double work = 0.0, start;
        CHECK_OK(l.context, hn_simulation_energy(r.sim, &before));
        start = before.kinetic;
        for (int n = 0; n < 12; ++n) {
            run_step(&r, 1);
            CHECK_OK(l.context, hn_simulation_energy(r.sim, &now));
            most = fmax(most, (now.external_work - work) / start);
            work = now.external_work;
            worst = fmax(worst, fabs(now.kinetic - start - work) / start);
        }
        run_end(&r);
    }
    CHECK(most <= 1e-15); // of the energy at the start: never positive
    // of the energy at the start; measured 5.1e-11: places of 80 m over a step of 0.01 s, times the 30 of (F16)
    CHECK_BELOW(worst, 2e-10);
}

// R = e^(-h M^-1 J^T D J) has positive eigenvalues: so must the step's. Its matrix from unit speeds.
TEST(strong_dampers, steps_have_no_negative_eigenvalues)
{
    for (int trial = 0; trial < 200; ++trial) {
        double mass[2] = {pow(10.0, 4.0 * random_unit() - 2.0),
                          pow(10.0, 4.0 * random_unit() - 2.0)},
               matrix[2][2];
        double c[3];
        for (int i = 0; i < 3; ++i) c[i] = pow(10.0, 12.0 * random_unit() - 3.0);
        for (int column = 0; column < 2; ++column) {
            double speed[2] = {column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0};
            line l = make_line(2, mass, speed);
            add_damper(&l, -1, 0, c[0]);
            add_damper(&l, 0, 1, c[1]);
            add_damper(&l, -1, 1, c[2]);
            run r =
                run_start(l.context, l.model, EXACT[trial % 4], HN_REDUCTION_REDUCED, 0.01, false);
            run_step(&r, 1);
            for (int i = 0; i < 2; ++i) matrix[i][column] = run_body(&r, l.body[i]).velocity.x;
            run_end(&r);
        }
        // similar to a symmetric matrix: real eigenvalues between 0 and 1
        double trace = matrix[0][0] + matrix[1][1],
               determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
        double root = sqrt(fmax(0.0, 0.25 * trace * trace - determinant));
        CHECK(0.5 * trace - root > -1e-9);
        CHECK(0.5 * trace + root < 1.0 + 1e-9);
    }
}

// A bob on a rod: about the hinge it has m l^2 + J, about its own centre J only. The damper on the hinge feels the
// first.
static hn_model *damped_bob(hn_context *context, double z, double h, hn_joint_id *hinge)
{
    hn_model *model = NULL;
    hn_body_id body;
    hn_load_id id;
    const double mass = 2.0, length = 1.5, inertia = 1e-3;
    hn_model_def world = hn_model_def_default();
    world.gravity = (hn_vec3){0.0, 0.0, 0.0};
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def def = hn_body_def_default();
    def.mass = mass;
    def.inertia = (hn_vec3){inertia, inertia, inertia};
    def.position = (hn_vec3){length, 0.0, 0.0};
    CHECK_OK(context, hn_model_add_body(model, &def, &body));
    hn_joint_def joint_def = hn_joint_def_default(HN_JOINT_REVOLUTE);
    joint_def.body_b = body;
    joint_def.body_a = hn_ground();
    joint_def.axis_a = (hn_vec3){0.0, 0.0, 1.0};
    CHECK_OK(context, hn_model_add_joint(model, &joint_def, hinge));
    double rate = 0.2;
    CHECK_OK(context, hn_model_set_joint_rates(model, *hinge, &rate, 1));
    hn_torsion_spring_def damper = hn_torsion_spring_def_default();
    damper.joint = *hinge;
    damper.damping = z / h * (inertia + mass * length * length);
    CHECK_OK(context, hn_model_add_torsion_spring(model, &damper, &id));
    return model;
}

TEST(strong_dampers, on_a_hinge_feel_the_mass_behind_it)
{
    double worst = 0.0;
    for (size_t k = 0; k < 7; ++k)
        for (int power = -3; power <= 9; ++power) {
            const double h = 0.01;
            double z = pow(10.0, power), rate = 0.2, angle = 0.0, last = HUGE_VAL;
            hn_context *context = hn_context_create(NULL);
            hn_joint_id hinge;
            hn_model *model = damped_bob(context, z, h, &hinge);
            run r = run_start(context, model, MONOTONE[k], HN_REDUCTION_REDUCED, h, false);
            for (int n = 0; n < 10; ++n) {
                hn_joint_state state;
                run_step(&r, 1);
                CHECK_OK(context, hn_simulation_joint_state(r.sim, hinge, &state));
                double turn = state.coordinates[0] - angle;
                CHECK(turn > -1e-9 && turn <= last + 1e-9); // rad: no way back, no growth
                angle = state.coordinates[0], last = turn;
                // h times the mean of the rates at both ends
                double exact = 0.5 * h * rate * (1.0 + exp(-z));
                rate *= exp(-z);
                if (k < 3) worst = fmax(worst, fabs(turn - exact));
            }
            run_end(&r);
        }
    CHECK_BELOW(worst, 2e-9); // rad; measured 1.3e-9, (h omega)^2/12 of a turn is the schemes' own
}

// A weight that sinks on a damper: x = -g/k (t - (1 - e^(-k t))/k), k = c/m. Dampers that know their rate at the nodes
// have the steady speed for z = h c/m up to 30, and beyond that of 30, which is named.
TEST(strong_dampers, meet_steady_loads_with_all_of_their_coefficient)
{
    static const hn_scheme KNOWING[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_ENERGY_DECAYING};
    double worst = 0.0;
    for (int k = 0; k < 3 * HN_REDUCTION_COUNT; ++k)
        for (int power = -4; power <= 5; ++power) {
            const double h = 0.01, z = pow(10.0, 0.29 * power), rate = z / h, g = 9.81;
            char text[400];
            snprintf(text, sizeof text,
                     "holonom: 1\n"
                     "bodies: {m: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                     "joints: {rail: {prismatic: {bodies: [ground, m], at: [0, 0, 0], axis: z}}}\n"
                     "drives: {d: {spring: {joint: rail, damping: %.17g}}}\n",
                     2.0 * rate);
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            CHECK_OK(context, hn_model_parse(context, text, strlen(text), "weight.yaml", &model));
            run r = run_start(context, model, KNOWING[k % 3], (hn_reduction)(k / 3), h, true);
            run_step(&r, 100);
            double x = run_body(&r, hn_model_find_body(model, "m")).position.z,
                   exact = -g / rate * (1.0 - (1.0 - exp(-rate)) / rate);
            worst = fmax(worst, fabs(x / exact - 1.0));
            run_end(&r);
        }
    // all of it is the first step, in which the mean of the rates at its ends stands for their integral
    CHECK_BELOW(worst, 6e-3); // measured 5.0e-3 at z = 30
}

// x'' + (c/m) x' + (k/m) x = 0, overdamped: one second of a slow decay, by steps that the fast one is over in.
TEST(strong_dampers, give_way_to_springs_as_slowly_as_they_should)
{
    static const struct {
        double damping, stiffness, bound; // measured 1.7e-5, 1.3e-4, 6.1e-4
    } CASES[] = {{10.0, 5.0, 3e-5}, {100.0, 50.0, 2e-4}, {1000.0, 500.0, 1e-3}};
    for (int k = 0; k < 3; ++k) {
        const double c = CASES[k].damping, s = CASES[k].stiffness, root = sqrt(c * c - 4.0 * s),
                     slow = 0.5 * (root - c), fast = -0.5 * (c + root);
        char text[400];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies: {m: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                 "joints: {rail: {prismatic: {bodies: [ground, m], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {d: {spring: {joint: rail, stiffness: %g, damping: %g}}}\n"
                 "start: {rail: {displacement: 1}}\n",
                 s, c);
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "slider.yaml", &model));
        run r =
            run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, true);
        run_step(&r, 100);
        double x = run_body(&r, hn_model_find_body(model, "m")).position.z,
               exact = (slow * exp(fast) - fast * exp(slow)) / (slow - fast);
        CHECK_BELOW(fabs(x - exact), CASES[k].bound);
        run_end(&r);
    }
}

// A damped pendulum beside a damped wheel that turns fast: where mobilities of the wheel are found anew, those of the
// pendulum stay as they are.
TEST(strong_dampers, of_a_mechanism_know_nothing_of_others)
{
    static const char BODIES[] =
        "holonom: 1\n"
        "bodies:\n"
        "  bar: {mass: 1, inertia: [0.1, 0.1, 0.01], position: [0.5, 0, 0]}\n"
        "  bob: {mass: 0.2, inertia: [0.1, 0.1, 0.01], position: [1.5, 0, 0]}\n"
        "%s"
        "joints:\n"
        "  a: {revolute: {bodies: [ground, bar], at: [0, 0, 0], axis: y}}\n"
        "  b: {revolute: {bodies: [bar, bob], at: [1, 0, 0], axis: y}}\n"
        "%s"
        "loads:\n"
        "  da: {torsion_spring: {joint: a, damping: 40}}\n"
        "  db: {torsion_spring: {joint: b, damping: 15}}\n"
        "  across: {spring: {bodies: [ground, bob], from: [0, 0, 2], to: [1.5, 0, 0], stiffness: "
        "3, damping: 20, "
        "rest_length: 1}}\n"
        "%s";
    static const char WHEEL[] = "  wheel: {mass: 3, inertia: [1, 1, 1], position: [9, 0, 0]}\n",
                      AXLE[] =
                          "  w: {revolute: {bodies: [ground, wheel], at: [9, 0, 0], axis: y}}\n",
                      LOADS[] = "  dw: {torsion_spring: {joint: w, damping: 5}}\n"
                                "  spin: {torque: {body: wheel, vector: [0, 50, 0]}}\n";
    static const hn_scheme ASKED[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                      HN_SCHEME_VARIATIONAL, HN_SCHEME_CONVECTED};
    double worst = 0.0;
    for (int k = 0; k < 4; ++k) {
        run r[2];
        for (int both = 0; both < 2; ++both) {
            char text[1600];
            snprintf(text, sizeof text, BODIES, both ? WHEEL : "", both ? AXLE : "",
                     both ? LOADS : "");
            hn_context *context = hn_context_create(NULL);
            hn_model *model = NULL;
            CHECK_OK(context, hn_model_parse(context, text, strlen(text), "wheel.yaml", &model));
            r[both] = run_start(context, model, ASKED[k], HN_REDUCTION_REDUCED, 0.01, false);
        }
        for (int n = 0; n < 100; ++n) {
            hn_vec3 place[2];
            for (int both = 0; both < 2; ++both) {
                run_step(&r[both], 1);
                place[both] = run_body(&r[both], hn_model_find_body(r[both].model, "bob")).position;
            }
            worst = fmax(worst, vec3_norm(vec3_subtract(place[0], place[1])));
        }
        for (int both = 0; both < 2; ++both) run_end(&r[both]);
    }
    CHECK_BELOW(worst, 1e-13); // m; measured 1.5e-15
}

// The angle of a bar whose hinge is braked by two dampers, with levers of l and m metres, each as strong as one of
// 5 N s/m on a metre. Their far ends are as many levers away.
static double braked_angle(hn_scheme scheme, double l, double m, double h)
{
    char text[1200];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, 0]\n"
             "bodies: {bar: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
             "joints: {pin: {revolute: {bodies: [ground, bar], at: [0, 0, 0], axis: z}}}\n"
             "loads:\n"
             "  one: {spring: {bodies: [ground, bar], from: [%.17g, %.17g, 0], to: [%.17g, 0, 0], "
             "stiffness: 0, damping: %.17g}}\n"
             "  two: {spring: {bodies: [ground, bar], from: [%.17g, %.17g, 0], to: [%.17g, 0, 0], "
             "stiffness: 0, damping: %.17g}}\n"
             "  drive: {torque: {body: bar, vector: [0, 0, 3]}}\n"
             "start: {pin: {rate: 1}}\n",
             l, -10.0 * l, l, 5.0 / (l * l), m, -10.0 * m, m, 5.0 / (m * m));
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *sim = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "bar", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = h;
    CHECK_OK(context, hn_simulation_create(model, &def, &sim));
    CHECK_OK(context, hn_simulation_step(sim, (int64_t)round(0.5 / h)));
    hn_joint_state state;
    CHECK_OK(context, hn_simulation_joint_state(sim, hn_model_find_joint(model, "pin"), &state));
    double angle = state.coordinates[0];
    hn_simulation_destroy(sim);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return angle;
}

// What dampers share knows of their levers only what they do to the motion.
TEST(strong_dampers, share_a_motion_whatever_their_levers)
{
    const hn_scheme schemes[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                 HN_SCHEME_RATTLE,          HN_SCHEME_GENERALIZED_ALPHA,
                                 HN_SCHEME_CONVECTED,       HN_SCHEME_ENERGY_DECAYING};
    const double levers[] = {1e-6, 1e-3, 0.1, 30.0};
    double worst = 0.0;
    for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; ++s) {
        double same = braked_angle(schemes[s], 1.0, 1.0, 2e-3);
        for (size_t k = 0; k < sizeof levers / sizeof levers[0]; ++k)
            worst = fmax(worst,
                         fabs(braked_angle(schemes[s], 1.0, levers[k], 2e-3) - same) / fabs(same));
    }
    CHECK_BELOW(worst, 2e-12); // measured 2.3e-13
}

static void keep_line(const char *said, void *user)
{
    snprintf(user, 300, "%s", said);
}

// What a step of 0.01 s cannot tell is said, and nothing else: a wheel of 2 kg m^2 on its hinge.
TEST(strong_dampers, are_named_where_a_step_is_too_long)
{
    static const struct {
        hn_scheme scheme;
        const char *drive, *said; // "": nothing
    } CASES[] = {
        {HN_SCHEME_ENERGY_MOMENTUM, "spring: {joint: w, damping: 5000}", ""}, // h c/J = 25
        {HN_SCHEME_ENERGY_MOMENTUM, "spring: {joint: w, damping: 20000}",
         "meet 0.3 of its coefficient"},
        {HN_SCHEME_VARIATIONAL, "spring: {joint: w, damping: 80}", ""}, // 0.4
        {HN_SCHEME_VARIATIONAL, "spring: {joint: w, damping: 200}",
         "meet 0.924 of its coefficient"},
        {HN_SCHEME_ENERGY_MOMENTUM,
         "servo: {joint: w, target: 1, proportional: 1, derivative: 390}", ""}, // 1.95
        {HN_SCHEME_ENERGY_MOMENTUM,
         "servo: {joint: w, target: 1, proportional: 1, derivative: 410}",
         "h c/m = 2.05 at t = 0 s; beyond 2 its rate changes sign"},
        {HN_SCHEME_ENERGY_MOMENTUM,
         "servo: {joint: w, target: 1, proportional: 1, derivative: 410, armature: 2}", ""},
        {HN_SCHEME_VARIATIONAL, "motor: {joint: w, stall: 1000, no_load: 2, command: 1}",
         "h c/m = 2.5 at t"},
        {HN_SCHEME_CONVECTED,
         "spring: {joint: w, damper: {rates: [-1, 0, 1], efforts: [-10, 0, 500]}}",
         "h c/m = 2.5 at t"},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; ++k) {
        char text[500], heard[300] = "";
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {wheel: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}}\n"
                 "joints: {w: {revolute: {bodies: [ground, wheel], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {d: {%s}}\n",
                 CASES[k].drive);
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_context_set_log(context, keep_line, heard);
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "wheel.yaml", &model));
        run r = run_start(context, model, CASES[k].scheme, HN_REDUCTION_REDUCED, 0.01, false);
        bool right =
            CASES[k].said[0] == '\0' ? heard[0] == '\0' : strstr(heard, CASES[k].said) != NULL;
        if (!right) print_error("%s: '%s'\n", CASES[k].drive, heard);
        CHECK(right);
        run_end(&r);
    }
}

// Second order up to hc/m = 1: a double pendulum with dampers in both hinges and across, against h/8
static hn_vec3 end_of_pendulum(hn_scheme scheme, double h)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_body_id body[2];
    hn_load_id id;
    hn_model_def world = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &world, &model));
    for (int i = 0; i < 2; ++i) {
        hn_body_def def = hn_body_def_default();
        def.mass = 1.0;
        def.inertia = (hn_vec3){0.01, 0.08, 0.08};
        def.position = (hn_vec3){0.5 + i, 0.0, 0.0};
        CHECK_OK(context, hn_model_add_body(model, &def, &body[i]));
        hn_joint_def def_joint = hn_joint_def_default(HN_JOINT_REVOLUTE);
        hn_joint_id hinge;
        def_joint.body_a = i == 0 ? hn_ground() : body[0];
        def_joint.body_b = body[i];
        def_joint.point_a = (hn_vec3){(double)i, 0.0, 0.0};
        def_joint.axis_a = (hn_vec3){0.0, 1.0, 0.0};
        CHECK_OK(context, hn_model_add_joint(model, &def_joint, &hinge));
        hn_torsion_spring_def damper = hn_torsion_spring_def_default();
        damper.joint = hinge;
        damper.damping = 4.0;
        CHECK_OK(context, hn_model_add_torsion_spring(model, &damper, &id));
    }
    hn_spring_def across = hn_spring_def_default();
    across.body_a = hn_ground();
    across.body_b = body[1];
    across.point_a = (hn_vec3){0.3, 0.0, 0.8};
    across.point_b = (hn_vec3){1.9, 0.0, 0.0};
    across.damping = 3.0;
    CHECK_OK(context, hn_model_add_spring(model, &across, &id));
    run r = run_start(context, model, scheme, HN_REDUCTION_REDUCED, h, false);
    run_step(&r, (int64_t)(0.32 / h + 0.5));
    hn_vec3 place = run_body(&r, body[1]).position;
    run_end(&r);
    return place;
}

TEST(strong_dampers, have_order_two_in_a_mechanism)
{
    static const hn_scheme SECOND[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                       HN_SCHEME_CONVECTED, HN_SCHEME_GENERALIZED_ALPHA,
                                       HN_SCHEME_RATTLE};
    hn_vec3 exact = end_of_pendulum(HN_SCHEME_PROJECTED_RK, 0.01);
    for (int k = 0; k < 5; ++k) {
        double error[2];
        for (int i = 0; i < 2; ++i)
            error[i] = vec3_norm(
                vec3_subtract(end_of_pendulum(SECOND[k], i == 0 ? 0.001 : 0.0005), exact));
        print_message("%s: %.3g %.3g\n", hn_scheme_name(SECOND[k]), error[0], error[1]);
        CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.25);
    }
}

// Random pendulums on pendulums with dampers of any strength in and across their joints, under gravity: the work of
// every step is never positive and the balance closes
TEST(strong_dampers, in_mechanisms_only_take_energy_and_balance)
{
    double worst = 0.0, most = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_body_id body[4];
        hn_load_id id;
        hn_model_def world = hn_model_def_default();
        CHECK_OK(context, hn_model_create(context, &world, &model));
        int count = 2 + (int)(2.99 * random_unit());
        for (int i = 0; i < count; ++i) {
            hn_body_def def = hn_body_def_default();
            def.mass = pow(10.0, 2.0 * random_unit() - 1.0);
            def.inertia = (hn_vec3){0.02 * def.mass, 0.08 * def.mass, 0.09 * def.mass};
            def.position = (hn_vec3){0.5 + i, 0.0, 0.0};
            CHECK_OK(context, hn_model_add_body(model, &def, &body[i]));
            hn_joint_def def_joint =
                hn_joint_def_default(random_unit() < 0.7 ? HN_JOINT_REVOLUTE : HN_JOINT_SPHERICAL);
            hn_joint_id hinge;
            def_joint.body_a = i == 0 ? hn_ground() : body[i - 1];
            def_joint.body_b = body[i];
            def_joint.point_a = (hn_vec3){(double)i, 0.0, 0.0};
            def_joint.axis_a = (hn_vec3){0.0, 1.0, random_unit()};
            CHECK_OK(context, hn_model_add_joint(model, &def_joint, &hinge));
            if (def_joint.kind != HN_JOINT_REVOLUTE) continue;
            hn_torsion_spring_def damper = hn_torsion_spring_def_default();
            damper.joint = hinge;
            damper.damping = pow(10.0, 10.0 * random_unit() - 3.0);
            damper.stiffness = 5.0 * random_unit();
            CHECK_OK(context, hn_model_add_torsion_spring(model, &damper, &id));
        }
        for (int i = 0; i < 2; ++i) {
            hn_spring_def across = hn_spring_def_default();
            across.body_a = i == 0 ? hn_ground() : body[0];
            across.body_b = body[count - 1];
            across.point_a = (hn_vec3){0.3, 0.4, 0.8};
            across.point_b = (hn_vec3){count - 0.2, 0.1, 0.0};
            across.damping = pow(10.0, 10.0 * random_unit() - 3.0);
            CHECK_OK(context, hn_model_add_spring(model, &across, &id));
        }
        run r = run_start(context, model,
                          trial % 2 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_CONVECTED,
                          REDUCTIONS[trial % 3], 0.005, true);
        double work = 0.0;
        for (int n = 0; n < 20; ++n) {
            hn_energy now;
            run_step(&r, 1);
            CHECK_OK(context, hn_simulation_energy(r.sim, &now));
            most = fmax(most, now.external_work - work);
            work = now.external_work;
        }
        hn_ledger ledger;
        CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
        worst = fmax(worst, ledger.entry[HN_PROMISE_ENERGY].error);
        run_end(&r);
    }
    CHECK(most <= 0.0);        // J
    CHECK_BELOW(worst, 2e-11); // measured 3.3e-13
}
