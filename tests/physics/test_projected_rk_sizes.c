// SPDX-License-Identifier: MIT
// `projected-rk` does not know metres, kilograms and seconds: mechanisms of any size, and several in one file.
#include "physics/mechanism.h"

#include "schemes/projected_rk_solver.h"

static hn_simulation_def controlled(double tolerance, double h)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.step_size = h;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = tolerance;
    return def;
}

// A chain of two bars on a ball joint and a hinge, with a four-bar beside: lengths times `length`, masses times `mass`.
// `flat`: all in one plane.
static mechanism machine(double length, double mass, double gravity, bool flat)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    mechanism m = mechanism_create(16, vec3(0.0, -gravity, 0.0));
    const double at[][2][3] = {{{0, 0, 0}, {1, 0, 0}},
                               {{1, 0, 0}, {1.5, 0.4, flat ? 0.0 : 0.3}},
                               {{4, 0, 0}, {4, 0.5, 0}},
                               {{4, 0.5, 0}, {5.2, 0.9, 0}},
                               {{5.2, 0.9, 0}, {5.0, 0, 0}}};
    for (int k = 0; k < 5; ++k) {
        hn_vec3 end[2];
        for (int e = 0; e < 2; ++e)
            end[e] = vec3_scale(length, vec3(at[k][e][0], at[k][e][1], at[k][e][2]));
        mechanism_bar(&m, end[0], end[1], mass, 0.1 * length);
    }
    mechanism_joint_between(&m, HN_JOINT_SPHERICAL, MECHANISM_GROUND, 0, vec3(0.0, 0.0, 0.0), z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 0, 1, vec3(length, 0.0, 0.0), z);
    int crank = mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 2,
                                        vec3(4.0 * length, 0.0, 0.0), z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 2, 3, vec3(4.0 * length, 0.5 * length, 0.0), z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 3, 4, vec3(5.2 * length, 0.9 * length, 0.0), z);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 4, MECHANISM_GROUND,
                            vec3(5.0 * length, 0.0, 0.0), z);
    m.joints[crank].has_rate = true;
    m.joints[crank].rate = -8.0 * sqrt(gravity / (9.81 * length));
    return m;
}

typedef struct finding {
    hn_vec3 direction[5];
    int64_t steps;
} finding;

static finding run_machine(double length, double mass, double gravity, hn_projection projection,
                           bool planar)
{
    mechanism m = machine(length, mass, gravity, planar);
    mechanism_run x = mechanism_build(&m, &AS_IT_IS);
    double time = sqrt(9.81 * length / gravity); // s, what one second is to it
    hn_simulation_def def = controlled(1e-9, 0.05 * time);
    def.projected_rk.projection = projection;
    def.projected_rk.planar = planar;
    mechanism_start(&x, &def);
    CHECK_OK(x.r.context, hn_simulation_step(x.r.sim, 30));
    finding f = {.steps = x.r.sim->solver->statistics.steps};
    for (int k = 0; k < 5; ++k) {
        hn_body_state s = run_body(&x.r, x.body[k]);
        f.direction[k] = mat3_column(&s.orientation, 0);
    }
    mechanism_end(&x);
    mechanism_destroy(&m);
    return f;
}

static double distance_of(const finding *a, const finding *b)
{
    double worst = 0.0;
    for (int k = 0; k < 5; ++k)
        worst = fmax(worst, vec3_norm(vec3_subtract(a->direction[k], b->direction[k])));
    return worst;
}

// Before: 1e5 times less accurate at 1000 m, 77 times slower at 1000 km.
TEST(projected_rk_sizes, a_micrometre_and_a_megametre_give_the_digits_of_a_metre)
{
    static const char *const WAYS[] = {"quasi", "orthogonal", "planar"};
    for (int k = 0; k < 3; ++k) {
        hn_projection way = k == 1 ? HN_PROJECTION_ORTHOGONAL : HN_PROJECTION_QUASI_ORTHOGONAL;
        finding one = run_machine(1.0, 1.0, 9.81, way, k == 2);
        // slow and fast alike: the orthogonal projection weighs rates by seconds, and keeps those
        for (int scaled = 0; scaled < (k == 1 ? 1 : 2); ++scaled)
            for (int power = -6; power <= 6; power += 3) {
                double length = pow(10.0, power), gravity = scaled == 1 ? 9.81 : 9.81 * length;
                finding f = run_machine(length, pow(10.0, 2 * power), gravity, way, k == 2);
                double off = distance_of(&f, &one);
                print_message("%s, %g m, gravity %g: %lld steps, off by %.2e\n", WAYS[k], length,
                              gravity, (long long)f.steps, off);
                CHECK_BELOW(off, 3e-13); // measured 5.0e-14
                CHECK(llabs(f.steps - one.steps) <= 1);
            }
    }
}

// ---- mechanisms beside each other -----------------------------------------------------------------------

// A pendulum of length and mass one, alone or beside a rotor.
static hn_vec3 pendulum_beside(double mass, double size, double speed, double tolerance)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    mechanism m = mechanism_create(4, vec3(0.0, -9.81, 0.0));
    mechanism_bar(&m, vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), 1.0, 0.05);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0, vec3(0.0, 0.0, 0.0), z);
    if (mass > 0.0) {
        mechanism_bar(&m, vec3(0.0, 0.0, 2.0), vec3(size, 0.0, 2.0), mass, 0.2 * size);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 1, vec3(0.0, 0.0, 2.0), z);
        m.joints[1].has_rate = true;
        m.joints[1].rate = speed / size;
    }
    mechanism_run x = mechanism_build(&m, &AS_IT_IS);
    hn_simulation_def def = controlled(tolerance, 0.1);
    mechanism_start(&x, &def);
    CHECK_OK(x.r.context, hn_simulation_step(x.r.sim, 10));
    hn_body_state s = run_body(&x.r, x.body[0]);
    hn_vec3 direction = mat3_column(&s.orientation, 0);
    mechanism_end(&x);
    mechanism_destroy(&m);
    return direction;
}

// Before: off by 1e-7, as the rotor's error of energy was shared out.
TEST(projected_rk_sizes, a_light_pendulum_beside_a_heavy_fast_rotor_meets_its_tolerances)
{
    hn_vec3 exact = pendulum_beside(0.0, 1.0, 0.0, 1e-13);
    double worst = 0.0,
           alone = vec3_norm(vec3_subtract(pendulum_beside(0.0, 1.0, 0.0, 1e-8), exact));
    for (int k = 0; k <= 18; k += 6)
        for (int s = 0; s <= 3; ++s)
            for (int l = -3; l <= 3; l += 3) {
                double size = pow(10.0, l), speed = pow(10.0, s) * fmin(1.0, size);
                hn_vec3 d = pendulum_beside(pow(10.0, k), size, speed, 1e-8);
                double off = vec3_norm(vec3_subtract(d, exact));
                worst = fmax(worst, off);
            }
    MEASURED(alone);
    MEASURED(worst);
    CHECK_BELOW(worst, 2.0 * alone + 1e-9); // measured 5.1e-10, alone as well
}

// Projections stop when gaps are small for the smaller body of a joint, as the ledger measures them.
// Before: 2.9e-11 against a tolerance of 1e-12, since the larger body's size counted.
TEST(projected_rk_sizes, a_small_body_on_a_large_one_is_held_as_its_own_size_asks)
{
    const hn_vec3 z = {0.0, 0.0, 1.0};
    double worst = 0.0;
    for (int k = 0; k < 2; ++k) {
        mechanism m = mechanism_create(4, vec3(0.0, -9.81, 0.0));
        hn_vec3 tip = vec3(1.0, 0.0, 0.0), hook = vec3(1.3, 0.1, 0.0);
        mechanism_bar(&m, vec3(0.0, 0.0, 0.0), tip, 1.0, 0.05);
        mechanism_bar(&m, k == 0 ? tip : hook,
                      k == 0 ? vec3(1.02, 0.01, 0.0) : vec3(1.31, 0.1, 0.0), 0.01, 0.004);
        mechanism_joint_between(&m, HN_JOINT_SPHERICAL, MECHANISM_GROUND, 0, vec3(0.0, 0.0, 0.0),
                                z);
        int j = mechanism_joint_between(&m, k == 0 ? HN_JOINT_REVOLUTE : HN_JOINT_DISTANCE, 0, 1,
                                        tip, z);
        if (k == 1) m.joints[j].point_b = hook;
        mechanism_run x = mechanism_build(&m, &AS_IT_IS);
        hn_simulation_def def = controlled(1e-5, 0.02);
        mechanism_start(&x, &def);
        CHECK_OK(x.r.context, hn_simulation_step(x.r.sim, 60));
        hn_ledger ledger;
        CHECK_OK(x.r.context, hn_simulation_ledger(x.r.sim, &ledger));
        worst = fmax(worst, ledger.entry[HN_PROMISE_CONSTRAINTS].error);
        mechanism_end(&x);
        mechanism_destroy(&m);
    }
    MEASURED(worst);
    CHECK_BELOW(worst, 1.3e-12); // measured 1.07e-12, the tolerance of the projection
}

// ---- energies that nothing can have, or that stand still ---------------------------------------------------

// A slide that a force presses across and a torque twists stays where it is: round-off times such forces is no work
// that its damper and its velocities could have. Before: 9e-5 m/s.
TEST(projected_rk_sizes, a_loaded_slide_at_rest_stays_at_rest)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = vec3(0.0, 0.0, 0.0);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def body = hn_body_def_default();
    body.mass = 0.01;
    body.inertia = vec3(2e-3, 3e-3, 4e-3);
    body.position = vec3(-0.45, -0.76, -0.24);
    hn_body_id slide;
    CHECK_OK(context, hn_model_add_body(model, &body, &slide));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_PRISMATIC);
    def.body_a = hn_ground(), def.body_b = slide;
    def.axis_a = unit3(0.3, -0.5, 0.8);
    hn_joint_id axle;
    hn_load_id load;
    CHECK_OK(context, hn_model_add_joint(model, &def, &axle));
    hn_spring_def damper = hn_spring_def_default();
    damper.body_a = hn_ground(), damper.body_b = slide;
    damper.point_a = vec3(1.0, 0.7, 0.2), damper.point_b = body.position;
    damper.damping = 0.02;
    CHECK_OK(context, hn_model_add_spring(model, &damper, &load));
    for (int k = 0; k < 2; ++k) {
        static const double TIMES[] = {0.0, 0.013, 0.034, 0.05}, FACTORS[] = {0.2, -0.7, 1.0, 0.3};
        hn_load_def torque = hn_load_def_default();
        torque.body = slide;
        torque.torque = true;
        torque.body_fixed = k == 1;
        torque.vector = vec3(0.008, -0.001, 0.0003 + 0.01 * k);
        torque.profile.kind = HN_PROFILE_TABLE;
        torque.profile.count = 4;
        torque.profile.times = TIMES;
        torque.profile.factors = FACTORS;
        CHECK_OK(context, hn_model_add_load(model, &torque, &load));
    }
    hn_simulation_def run_def = hn_simulation_def_default();
    run_def.scheme = HN_SCHEME_PROJECTED_RK;
    run_def.step_size = 0.004;
    run_def.ledger = true;
    run r = {.context = context, .model = model};
    CHECK_OK(context, hn_simulation_create(model, &run_def, &r.sim));
    double fastest = 0.0;
    for (int n = 0; n < 60; ++n) {
        run_step(&r, 1);
        hn_body_state s = run_body(&r, slide);
        fastest = fmax(fastest, vec3_norm(s.velocity) + vec3_norm(s.angular_velocity));
    }
    CHECK_BELOW(fastest, 1e-18); // m/s, rad/s; measured 2.8e-20
    hn_ledger ledger;
    CHECK_OK(context, hn_simulation_ledger(r.sim, &ledger));
    CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
    run_end(&r);
}

// A pendulum on a tower of a hundred tons keeps its own energy: the weight of the tower is none of it.
TEST(projected_rk_sizes, energy_of_a_pendulum_on_a_heavy_tower)
{
    const hn_vec3 z = {0.0, 0.0, 1.0}, foot = {0.0, 0.0, 0.0}, top = {0.1, 10.0, 0.0},
                  tip = {0.7, 9.6, 0.3};
    mechanism m = mechanism_create(4, vec3(0.0, -9.81, 0.0));
    mechanism_bar(&m, foot, top, 1e5, 1.0);
    mechanism_bar(&m, top, tip, 1.0, 0.1);
    mechanism_joint_between(&m, HN_JOINT_FIXED, MECHANISM_GROUND, 0, foot, z);
    mechanism_joint_between(&m, HN_JOINT_SPHERICAL, 0, 1, top, z);
    mechanism_run x = mechanism_build(&m, &AS_IT_IS);
    hn_simulation_def def = controlled(1e-7, 0.02);
    def.ledger = true;
    mechanism_start(&x, &def);
    run_step(&x.r, 100);
    hn_ledger ledger;
    CHECK_OK(x.r.context, hn_simulation_ledger(x.r.sim, &ledger));
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-9); // measured 2.5e-10; before 1.3e-8
    CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// (P16) by hand: a chain of 1, 2, 5 and 3 kg from the ground on, where the first carries 5 and the last nothing.
TEST(projected_rk_sizes, what_hangs_from_a_body_counts_over_its_own_mass)
{
    enum { BODIES = 4 };
    static const double MASS[BODIES] = {1.0, 2.0, 5.0, 3.0},
                        CARRIED[BODIES] = {5.0, 5.0 / 2.0, 3.0 / 5.0, 0.0};
    mechanism m = mechanism_create(BODIES, vec3(0.0, 0.0, -9.81));
    for (int i = 0; i < BODIES; ++i) {
        hn_vec3 from = {(double)i, 0.0, 0.0}, to = {i + 1.0, 0.0, 0.0};
        mechanism_bar(&m, from, to, MASS[i], 0.1);
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, i - 1, i, from, vec3(0.0, 1.0, 0.0));
    }
    mechanism_run x =
        mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_PROJECTED_RK, HN_REDUCTION_REDUCED, 1e-3, false);
    for (int i = 0; i < BODIES; ++i)
        CHECK_NEAR(x.r.sim->solver->carried[x.r.sim->system->tree_place[i]], CARRIED[i], 1e-15);
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// A body at rest that a torque sets going from zero on, at the start or later: what it turns with is the impulse over
// its moment. Before: "no internal step meets the tolerances", as rates had nothing to be measured by at the begin of
// the step.
TEST(projected_rk, begins_from_rest_under_what_begins_from_nothing)
{
    static const hn_profile PROFILES[] = {
        {.kind = HN_PROFILE_PULSE, .start = 0.0, .peak = 0.1, .end = 0.2},
        {.kind = HN_PROFILE_PULSE, .start = 0.31, .peak = 0.41, .end = 0.51},
        {.kind = HN_PROFILE_STEP, .start = 0.0, .end = 0.4},
        {.kind = HN_PROFILE_STEP, .start = 0.215, .end = 0.615}};
    static const double IMPULSES[] = {0.1, 0.1, 0.8, 0.585};
    double worst = 0.0;
    for (int k = 0; k < 4; ++k)
        for (int imposed = 0; imposed < 2; ++imposed)
            for (int order = 5; order <= 8; order += 3)
                for (double size = 1e-6; size < 2e6; size *= 1e6) {
                    hn_context *context = hn_context_create(NULL);
                    hn_model *model = NULL;
                    hn_simulation *simulation = NULL;
                    hn_model_def world = hn_model_def_default();
                    world.gravity = vec3(0.0, 0.0, 0.0);
                    CHECK_OK(context, hn_model_create(context, &world, &model));
                    hn_body_def body = hn_body_def_default();
                    hn_load_def load = hn_load_def_default();
                    hn_load_id id;
                    double moment = 2.0 * size * size;
                    body.mass = 3.0;
                    body.inertia = vec3(moment, moment, moment);
                    CHECK_OK(context, hn_model_add_body(model, &body, &load.body));
                    load.torque = true;
                    load.vector = vec3(0.0, 0.0, 3.0 * moment);
                    load.profile = PROFILES[k];
                    CHECK_OK(context, hn_model_add_load(model, &load, &id));
                    hn_simulation_def def = controlled(1e-8, 0.01);
                    def.order = order;
                    def.projected_rk.impose_energy = imposed == 1;
                    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
                    CHECK_OK(context, hn_simulation_step(simulation, 100));
                    hn_body_state state;
                    CHECK_OK(context, hn_simulation_body_state(simulation, load.body, &state));
                    worst = fmax(worst, fabs(state.angular_velocity.z / (3.0 * IMPULSES[k]) - 1.0));
                    hn_simulation_destroy(simulation);
                    hn_model_destroy(model);
                    hn_context_destroy(context);
                }
    CHECK_BELOW(worst, 5e-6); // relative; measured 2.7e-7
}
