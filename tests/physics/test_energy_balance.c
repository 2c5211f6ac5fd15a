// SPDX-License-Identifier: MIT
// Loads, springs and dampers: energy against the work they do, and motions known in closed form.
#include "physics/generic_pair.h"

static const hn_vec3 NONE = {0.0, 0.0, 0.0};

// ---- the loads of the balance, with their work found here -------------------------------------------------

enum {
    FORCE_SPACE,
    FORCE_BODY,
    TORQUE_SPACE,
    TORQUE_BODY,
    FORCE_TABLE,
    TORQUE_PULSE,
    SPRING,
    DAMPER,
    TORSION_SPRING,
    TORSION_DAMPER,
    LOAD_KINDS
};
static const char *const LOAD_NAMES[LOAD_KINDS] = {"force fixed in space",
                                                   "force fixed in the body",
                                                   "torque fixed in space",
                                                   "torque fixed in the body",
                                                   "force by a table",
                                                   "torque by a pulse",
                                                   "spring",
                                                   "damper",
                                                   "torsional spring",
                                                   "torsional damper"};

static const hn_vec3 FORCE = {3.0, -2.0, 4.0};     // N
static const hn_vec3 TORQUE = {0.8, 1.1, -0.6};    // N m
static const hn_vec3 POINT = {0.2, -0.1, 0.3};     // m, body frame
static const hn_vec3 CENTER = {-0.04, 0.02, 0.06}; // m, body frame: the child's centre of mass
static const double TIMES[] = {0.1, 0.25, 0.6}, FACTORS[] = {-0.5, 2.0, 0.3};
static const double PULSE_TIMES[] = {0.05, 0.2, 0.5}; // s
static const double DAMPING = 0.7, TORSION_DAMPING = 0.4, STIFFNESS = 60.0, TORSION_STIFFNESS = 5.0;
static const hn_vec3 SPRING_A = {0.0, 0.1, 0.6},
                     SPRING_B = {1.7, 0.2, 0.3}; // m, world at the start

static double table_factor(double t)
{
    if (t <= TIMES[0]) return FACTORS[0];
    if (t >= TIMES[2]) return FACTORS[2];
    int k = t < TIMES[1] ? 0 : 1;
    return FACTORS[k] + (FACTORS[k + 1] - FACTORS[k]) * (t - TIMES[k]) / (TIMES[k + 1] - TIMES[k]);
}

static double pulse_factor(double t)
{
    if (t <= PULSE_TIMES[0] || t >= PULSE_TIMES[2]) return 0.0;
    return t < PULSE_TIMES[1] ? (t - PULSE_TIMES[0]) / (PULSE_TIMES[1] - PULSE_TIMES[0])
                              : (PULSE_TIMES[2] - t) / (PULSE_TIMES[2] - PULSE_TIMES[1]);
}

// Mean over a step by the trapezoidal rule between the corners in it, which is exact
static double mean_factor(double (*factor)(double), const double *corners, double begin, double end)
{
    double sum = 0.0, from = begin;
    for (int i = 0; i <= 3; ++i) {
        double to = i < 3 ? fmin(fmax(corners[i], begin), end) : end;
        sum += 0.5 * (to - from) * (factor(from) + factor(to));
        from = to;
    }
    return sum / (end - begin);
}

static void add_load(const generic_pair *g, int kind)
{
    hn_load_id id;
    hn_load_def load = hn_load_def_default();
    hn_spring_def spring = hn_spring_def_default();
    hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
    load.body = g->body[CHILD];
    load.point = POINT;
    load.vector = FORCE;
    spring.body_a = g->body[PARENT];
    spring.body_b = g->body[GRANDCHILD];
    spring.point_a = SPRING_A;
    spring.point_b = SPRING_B;
    spring.stiffness = spring.damping = 0.0;
    torsion.joint = g->joint[HINGE];
    torsion.stiffness = torsion.damping = 0.0;
    switch (kind) {
    case FORCE_SPACE: break;
    case FORCE_BODY: load.body_fixed = true; break;
    case TORQUE_SPACE: load.torque = true; break;
    case TORQUE_BODY: load.torque = load.body_fixed = true; break;
    case FORCE_TABLE:
        load.profile =
            (hn_profile){.kind = HN_PROFILE_TABLE, .times = TIMES, .factors = FACTORS, .count = 3};
        break;
    case TORQUE_PULSE:
        load.torque = true;
        load.profile = (hn_profile){.kind = HN_PROFILE_PULSE,
                                    .start = PULSE_TIMES[0],
                                    .peak = PULSE_TIMES[1],
                                    .end = PULSE_TIMES[2]};
        break;
    case SPRING:
        spring.stiffness = STIFFNESS;
        spring.rest_length = 1.2;
        break;
    case DAMPER: spring.damping = DAMPING; break;
    case TORSION_SPRING:
        torsion.stiffness = TORSION_STIFFNESS;
        torsion.rest_angle = 0.4;
        break;
    default: torsion.damping = TORSION_DAMPING; break;
    }
    if (load.torque) load.vector = TORQUE;
    if (kind <= TORQUE_PULSE) CHECK_OK(g->context, hn_model_add_load(g->model, &load, &id));
    else if (kind <= DAMPER) CHECK_OK(g->context, hn_model_add_spring(g->model, &spring, &id));
    else CHECK_OK(g->context, hn_model_add_torsion_spring(g->model, &torsion, &id));
}

// What the work of a step depends on.
typedef struct instant {
    hn_vec3 place;     // of the force
    hn_mat3 directors; // of the child
    double length;     // of the damper
    double angle;      // of the hinge
} instant;

static instant observe(const run *r, const generic_pair *g, hn_vec3 arm_a, hn_vec3 arm_b)
{
    instant now;
    hn_body_state parent = run_body(r, g->body[PARENT]), child = run_body(r, g->body[CHILD]);
    hn_body_state grandchild = run_body(r, g->body[GRANDCHILD]);
    now.directors = child.orientation;
    now.place =
        vec3_add(child.position, mat3_apply(&child.orientation, vec3_subtract(POINT, CENTER)));
    hn_vec3 a = vec3_add(parent.position, mat3_apply(&parent.orientation, arm_a));
    hn_vec3 b = vec3_add(grandchild.position, mat3_apply(&grandchild.orientation, arm_b));
    now.length = vec3_norm(vec3_subtract(b, a));
    hn_joint_state state;
    CHECK_OK(r->context, hn_simulation_joint_state(r->sim, g->joint[HINGE], &state));
    now.angle = state.coordinates[0];
    return now;
}

// theta with D1 = cay(theta) D0
static hn_vec3 cayley_turn(const hn_mat3 *d0, const hn_mat3 *d1)
{
    hn_mat3 back = mat3_transpose(d0), q = mat3_multiply(d1, &back);
    double s = 2.0 / (1.0 + q.m[0][0] + q.m[1][1] + q.m[2][2]);
    return vec3(s * (q.m[2][1] - q.m[1][2]), s * (q.m[0][2] - q.m[2][0]),
                s * (q.m[1][0] - q.m[0][1]));
}

// Work of a load in one step of energy-momentum.
static double work_of_step(int kind, const instant *a, const instant *b, double h, double middle)
{
    hn_vec3 way = vec3_subtract(b->place, a->place),
            turn = cayley_turn(&a->directors, &b->directors);
    hn_vec3 turned_force =
        vec3_mean(mat3_apply(&a->directors, FORCE), mat3_apply(&b->directors, FORCE));
    hn_vec3 turned_torque =
        vec3_mean(mat3_apply(&a->directors, TORQUE), mat3_apply(&b->directors, TORQUE));
    double stretch = b->length - a->length, angle = b->angle - a->angle;
    switch (kind) {
    case FORCE_SPACE: return vec3_dot(FORCE, way);
    case FORCE_BODY: return vec3_dot(turned_force, way);
    case TORQUE_SPACE: return vec3_dot(TORQUE, turn);
    case TORQUE_BODY: return vec3_dot(turned_torque, turn);
    case FORCE_TABLE:
        return mean_factor(table_factor, TIMES, middle - 0.5 * h, middle + 0.5 * h) *
               vec3_dot(FORCE, way);
    case TORQUE_PULSE:
        return mean_factor(pulse_factor, PULSE_TIMES, middle - 0.5 * h, middle + 0.5 * h) *
               vec3_dot(TORQUE, turn);
    case DAMPER: return -DAMPING * stretch / h * stretch;
    case TORSION_DAMPER: return -TORSION_DAMPING * angle / h * angle;
    default: return 0.0; // springs: potential energy
    }
}

// Largest |E - E_0 - W| and |W of the library - W found here|, relative to the energy scale of the run.
static void balance(int first, int last, hn_reduction way, double h, double *imbalance,
                    double *work_error)
{
    generic_options o = generic_defaults(HN_JOINT_UNIVERSAL);
    o.grounded = true;
    generic_pair g = generic_build(&o);
    for (int kind = first; kind <= last; ++kind) add_load(&g, kind);
    run r = generic_run(&g, HN_SCHEME_ENERGY_MOMENTUM, way, h);
    hn_body_state parent = run_body(&r, g.body[PARENT]),
                  grandchild = run_body(&r, g.body[GRANDCHILD]);
    hn_vec3 arm_a =
        mat3_apply_transposed(&parent.orientation, vec3_subtract(SPRING_A, parent.position));
    hn_vec3 arm_b = mat3_apply_transposed(&grandchild.orientation,
                                          vec3_subtract(SPRING_B, grandchild.position));
    instant now = observe(&r, &g, arm_a, arm_b);
    hn_energy energy;
    CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
    double start = energy.kinetic + energy.potential, potential_start = energy.potential,
           work = 0.0;
    double kinetic_max = 0.0, potential_max = 0.0, work_max = 0.0;
    bool damped = first <= TORSION_DAMPER && last >= DAMPER;
    *imbalance = *work_error = 0.0;
    for (int n = 0; n < 200; ++n) {
        instant before = now;
        run_step(&r, 1);
        now = observe(&r, &g, arm_a, arm_b);
        for (int kind = first; kind <= last; ++kind)
            work += work_of_step(kind, &before, &now, h, (n + 0.5) * h);
        CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
        // of dampers without what the filter of velocities takes and gives back (DF5): hc/m is 0.2 at most here
        *imbalance = fmax(*imbalance, fabs(energy.kinetic + energy.potential - start -
                                           (damped ? energy.external_work : work)));
        *work_error = fmax(*work_error, fabs(energy.external_work - work));
        kinetic_max = fmax(kinetic_max, energy.kinetic);
        potential_max = fmax(potential_max, fabs(energy.potential - potential_start));
        work_max = fmax(work_max, fabs(work));
    }
    bool conservative = true;
    for (int kind = first; kind <= last; ++kind)
        conservative = conservative && (kind == SPRING || kind == TORSION_SPRING);
    CHECK(conservative || work_max > 1e-2); // J: the load did something
    CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
    *imbalance /= kinetic_max + potential_max;
    *work_error /= kinetic_max + potential_max;
    run_end(&r);
}

TEST(energy_balance, holds_for_every_load_at_any_step)
{
    static const double STEP_SIZES[] = {0.001, 0.01, 0.04};
    double worst = 0.0;
    for (int kind = 0; kind < LOAD_KINDS; ++kind)
        for (int i = 0; i < 3; ++i) {
            double imbalance, work_error;
            balance(kind, kind, HN_REDUCTION_REDUCED, STEP_SIZES[i], &imbalance, &work_error);
            if (!(fmax(imbalance, work_error) < 1e-12))
                print_error("%s, h = %g\n", LOAD_NAMES[kind], STEP_SIZES[i]);
            CHECK_BELOW(imbalance, 1e-12); // measured 2.8e-14
            bool damped = kind == DAMPER || kind == TORSION_DAMPER;
            CHECK_BELOW(work_error, damped ? 1e-4 : 1e-14); // measured 1.7e-16; 8.7e-6
            worst = fmax(worst, fmax(imbalance, work_error));
        }
    MEASURED(worst);
}

TEST(energy_balance, holds_for_all_loads_together_under_every_reduction)
{
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        double imbalance, work_error;
        balance(0, LOAD_KINDS - 1, REDUCTIONS[k], 0.01, &imbalance, &work_error);
        CHECK_BELOW(imbalance, 1e-12); // measured 1.2e-14
        CHECK_BELOW(work_error, 1e-6); // measured 1.6e-8, of dampers
    }
}

// The same, by the ledger that users read.
TEST(energy_balance, is_what_the_ledger_reports)
{
    generic_options o = generic_defaults(HN_JOINT_REVOLUTE);
    o.grounded = true;
    generic_pair g = generic_build(&o);
    for (int kind = 0; kind < LOAD_KINDS; ++kind) add_load(&g, kind);
    run r =
        run_start(g.context, g.model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, true);
    run_step(&r, 300);
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    CHECK(ledger.entry[HN_PROMISE_ENERGY].conserved);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // measured 1.7e-14
    run_end(&r);
}

// ---- closed forms -----------------------------------------------------------------------------------

// A free body, spun up about a principal axis: L grows by the torque, the angle is a parabola.
TEST(energy_balance, constant_torque_about_a_principal_axis)
{
    const double inertia = 0.4, torque = 1.3, rate = 0.7, time = 2.0;
    const hn_vec3 axis = unit_vector(1.0, 2.0, -0.5);
    for (int body_fixed = 0; body_fixed < 2; ++body_fixed)
        for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s) {
            double last = 0.0;
            for (int k = 0; k < 4; ++k) {
                hn_context *context = hn_context_create(NULL);
                hn_model *model = NULL;
                hn_model_def world = hn_model_def_default();
                world.gravity = NONE;
                CHECK_OK(context, hn_model_create(context, &world, &model));
                hn_body_def def = hn_body_def_default();
                def.mass = 1.7;
                def.inertia = vec3(0.25, 0.3, inertia);
                hn_vec3 side = vec3_perpendicular(axis);
                def.orientation = mat3_from_columns(side, vec3_cross(axis, side), axis);
                hn_body_id body;
                CHECK_OK(context, hn_model_add_body(model, &def, &body));
                CHECK_OK(context,
                         hn_model_set_angular_velocity(model, body, vec3_scale(rate, axis)));
                hn_load_def load = hn_load_def_default();
                hn_load_id id;
                load.body = body;
                load.torque = true;
                load.body_fixed = body_fixed == 1;
                load.vector = body_fixed ? vec3(0.0, 0.0, torque) : vec3_scale(torque, axis);
                CHECK_OK(context, hn_model_add_load(model, &load, &id));
                int steps = 100 << k;
                run r = run_start(context, model, SCHEMES[s], HN_REDUCTION_REDUCED, time / steps,
                                  false);
                run_step(&r, steps);
                hn_body_state state = run_body(&r, body);
                double angle = rate * time + 0.5 * torque / inertia * time * time;
                hn_mat3 turn = rotation_exponential(vec3_scale(angle, axis));
                double error = vec3_norm(
                    vec3_subtract(mat3_apply(&turn, side), mat3_column(&state.orientation, 0)));
                hn_vec3 expected = vec3_scale(inertia * rate + torque * time, axis);
                // kg m^2/s; measured 1.1e-13
                CHECK_BELOW(vec3_norm(vec3_subtract(state.angular_momentum, expected)), 1e-12);
                if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.99 to 2.01
                last = error;
                run_end(&r);
            }
        }
}

// A mass on a rail and a spring along it: x'' = -(k/m) x - (c/m) x'
typedef struct oscillator {
    hn_context *context;
    hn_model *model;
    hn_body_id body;
} oscillator;

enum { STRETCH_PERCENT = 20 };
static const double OSCILLATOR_MASS = 1.5, OSCILLATOR_STIFFNESS = 40.0,
                    REST_LENGTH = 1.0;          // kg, N/m, m
static const hn_vec3 RAIL = {0.48, -0.6, 0.64}; // unit vector

static oscillator make_oscillator(double damping)
{
    oscillator o = {.context = hn_context_create(NULL)};
    hn_model_def world = hn_model_def_default();
    world.gravity = NONE;
    CHECK_OK(o.context, hn_model_create(o.context, &world, &o.model));
    hn_body_def def = hn_body_def_default();
    def.mass = OSCILLATOR_MASS;
    def.inertia = vec3(0.1, 0.2, 0.25);
    def.position = vec3_scale(REST_LENGTH * (1.0 + STRETCH_PERCENT / 100.0), RAIL);
    CHECK_OK(o.context, hn_model_add_body(o.model, &def, &o.body));
    hn_joint_def rail = hn_joint_def_default(HN_JOINT_PRISMATIC);
    hn_joint_id slide;
    rail.body_a = hn_ground();
    rail.body_b = o.body;
    rail.axis_a = RAIL;
    rail.point_a = def.position;
    CHECK_OK(o.context, hn_model_add_joint(o.model, &rail, &slide));
    hn_spring_def spring = hn_spring_def_default();
    hn_load_id id;
    spring.body_a = hn_ground();
    spring.body_b = o.body;
    spring.point_b = def.position;
    spring.stiffness = OSCILLATOR_STIFFNESS;
    spring.damping = damping;
    spring.rest_length = REST_LENGTH;
    CHECK_OK(o.context, hn_model_add_spring(o.model, &spring, &id));
    return o;
}

static double stretch_at(double damping, hn_scheme scheme, double h, int steps)
{
    oscillator o = make_oscillator(damping);
    run r = run_start(o.context, o.model, scheme, HN_REDUCTION_REDUCED, h, false);
    run_step(&r, steps);
    double x = vec3_dot(RAIL, run_body(&r, o.body).position) - REST_LENGTH;
    run_end(&r);
    return x;
}

TEST(energy_balance, spring_oscillator_has_the_analytic_frequency)
{
    const double omega = sqrt(OSCILLATOR_STIFFNESS / OSCILLATOR_MASS),
                 x0 = 0.01 * STRETCH_PERCENT * REST_LENGTH;
    const double time = 2.0;
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s) {
        double last = 0.0;
        for (int k = 0; k < 5; ++k) {
            int steps = 100 << k;
            double h = time / steps, x = stretch_at(0.0, SCHEMES[s], h, steps);
            double error = fabs(x - x0 * cos(omega * time));
            if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.99 to 2.01
            // both schemes are the midpoint rule here, whose frequency is known as well
            // m; measured 4.5e-15
            CHECK_BELOW(x - x0 * cos(2.0 * steps * atan(0.5 * omega * h)), 1e-12);
            last = error;
        }
    }
}

TEST(energy_balance, damped_oscillator_decays_as_it_should)
{
    const double damping = 2.0, x0 = 0.01 * STRETCH_PERCENT * REST_LENGTH, time = 2.0;
    const double decay = 0.5 * damping / OSCILLATOR_MASS;
    const double omega = sqrt(OSCILLATOR_STIFFNESS / OSCILLATOR_MASS - decay * decay);
    double expected =
        x0 * exp(-decay * time) * (cos(omega * time) + decay / omega * sin(omega * time));
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s) {
        double last = 0.0;
        for (int k = 0; k < 5; ++k) {
            int steps = 100 << k;
            double error = fabs(stretch_at(damping, SCHEMES[s], time / steps, steps) - expected);
            if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.99 to 2.01
            last = error;
        }
    }
}

// ---- dampers and springs in a tree --------------------------------------------------------------------

TEST(energy_balance, a_damper_never_adds_energy)
{
    for (int kind = 0; kind < 2; ++kind)
        for (int large = 0; large < 2; ++large) {
            generic_options o = generic_defaults(HN_JOINT_SPHERICAL);
            o.grounded = true;
            generic_pair g = generic_build(&o);
            add_load(&g, kind == 0 ? DAMPER : TORSION_DAMPER);
            add_load(&g, SPRING);
            run r = generic_run(&g, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED,
                                large ? 0.04 : 0.005);
            hn_energy energy;
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
            double start = energy.kinetic + energy.potential, last = start, gain = 0.0;
            for (int n = 0; n < 500; ++n) {
                run_step(&r, 1);
                CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
                gain = fmax(gain, energy.kinetic + energy.potential - last);
                last = energy.kinetic + energy.potential;
            }
            CHECK_BELOW(gain, 1e-12); // J; measured 0
            CHECK(last < start - 0.1);
            run_end(&r);
        }
}

// Five links of mixed joints with a spring from the first to the last: not neighbours in the tree.
static run chain_with_spring(hn_scheme scheme, hn_reduction way)
{
    enum { LINKS = 5 };
    static const hn_joint_kind KINDS[LINKS] = {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL,
                                               HN_JOINT_UNIVERSAL, HN_JOINT_CYLINDRICAL,
                                               HN_JOINT_REVOLUTE};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    hn_body_id body[LINKS];
    CHECK_OK(context, hn_model_create(context, &world, &model));
    for (int i = 0; i < LINKS; ++i) {
        hn_body_def def = hn_body_def_default();
        def.mass = 1.0 + 0.2 * i;
        def.inertia = vec3(0.05 + 0.01 * i, 0.06, 0.04);
        def.position = vec3(0.25 + 0.5 * i, 0.1 * (i % 2), -0.05 * i);
        def.orientation = rotation_exponential(vec3(0.2 * i, -0.3, 0.1 * i));
        CHECK_OK(context, hn_model_add_body(model, &def, &body[i]));
        hn_joint_def joint_def = hn_joint_def_default(KINDS[i]);
        hn_joint_id id;
        joint_def.body_a = i == 0 ? hn_ground() : body[i - 1];
        joint_def.body_b = body[i];
        joint_def.point_a = vec3(0.5 * i, 0.05, -0.05 * i + 0.02);
        joint_def.axis_a = vec3(0.1 * i, 1.0, 0.2);
        joint_def.axis_b = vec3(0.0, -0.2, 1.0);
        CHECK_OK(context, hn_model_add_joint(model, &joint_def, &id));
    }
    hn_spring_def spring = hn_spring_def_default();
    hn_load_id id;
    spring.body_a = body[0];
    spring.body_b = body[LINKS - 1];
    spring.point_a = vec3(0.3, 0.2, 0.1);
    spring.point_b = vec3(2.4, -0.1, 0.0);
    spring.stiffness = 80.0;
    spring.damping = 0.5;
    spring.rest_length = 1.4;
    CHECK_OK(context, hn_model_add_spring(model, &spring, &id));
    return run_start(context, model, scheme, way, 0.005, true);
}

TEST(energy_balance, spring_across_a_chain_is_the_same_in_all_reductions)
{
    for (int s = 0; s < PROMISE_SCHEME_COUNT; ++s) {
        run r[HN_REDUCTION_COUNT];
        double worst = 0.0;
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
            r[k] = chain_with_spring(SCHEMES[s], REDUCTIONS[k]);
        for (int n = 0; n < 200; ++n)
            for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
                run_step(&r[k], 1);
                if (k > 0) worst = fmax(worst, run_difference(&r[0], &r[k]));
            }
        CHECK_BELOW(worst, 1e-11); // measured 1.8e-13
        hn_ledger ledger;
        CHECK_OK(r[0].context, hn_simulation_ledger(r[0].sim, &ledger));
        if (SCHEMES[s] == HN_SCHEME_ENERGY_MOMENTUM)
            // measured 4.6e-15
            CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12);
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k) run_end(&r[k]);
    }
}
