// SPDX-License-Identifier: MIT
// Both schemes are symmetric: reverse the velocities after some steps and the way back is the way there.
#include "physics/run.h"

static const char *const MODELS[] = {
    "unit-circle",      "pendulum",    "gyro-top",       "nutating-top",
    "cylindrical-pair", "planar-pair", "prismatic-pair", "chain-revolute",
    "chain-spherical",  "free-tree",   "planar-spring",  "double-spherical-pendulum"};
enum { MODEL_COUNT = sizeof MODELS / sizeof MODELS[0], STEPS = 200 };

// -v at t_n: what energy-momentum keeps, or M^-1 p with the momenta of the constrained Legendre transform
static void reverse(const run *r)
{
    hn_simulation *s = r->sim;
    double v[RUN_COORDINATES_MAX];
    simulation_update_momenta(s);
    for (int k = 0; k < POSE_SIZE * s->system->body_count; ++k) {
        double inertia = s->system->inertia[4 * (k / POSE_SIZE) + k % POSE_SIZE / 3];
        v[k] = inertia > 0.0 ? -s->momenta[k] / inertia : 0.0;
    }
    run_restart(r, s->state.q, v);
}

typedef struct snapshot {
    double q[RUN_COORDINATES_MAX], p[RUN_COORDINATES_MAX];
} snapshot;

static void take(const run *r, snapshot *x)
{
    run_coordinates(r, x->q);
    hn_legendre out = {.projected = x->p};
    CHECK_OK(r->context, hn_simulation_legendre(r->sim, &out));
}

// Largest distance from the start after the way there and back, in q and relative in p.
static double way_back(const char *model, hn_scheme scheme, hn_reduction way)
{
    run r = run_model(model, scheme, way, 0.0, false);
    snapshot start, middle, end;
    take(&r, &start);
    run_step(&r, STEPS);
    take(&r, &middle);
    reverse(&r);
    run_step(&r, STEPS);
    take(&r, &end);
    int n = r.coordinate_count;
    double scale = 0.0;
    for (int k = 0; k < n; ++k) {
        scale = fmax(scale, fmax(fabs(start.p[k]), fabs(middle.p[k])));
        end.p[k] = -end.p[k];
    }
    CHECK(largest_difference(start.q, middle.q, n) > 1e-3); // it went somewhere
    double worst =
        fmax(largest_difference(start.q, end.q, n), largest_difference(start.p, end.p, n) / scale);
    run_end(&r);
    print_message("%s, %s, %s: %.2g\n", model, hn_scheme_name(scheme), hn_reduction_name(way),
                  worst);
    return worst;
}

TEST(time_reversal, energy_momentum_returns_to_the_start)
{
    for (int i = 0; i < MODEL_COUNT; ++i)
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
            // measured 7.5e-12 (planar-pair)
            CHECK_BELOW(way_back(MODELS[i], HN_SCHEME_ENERGY_MOMENTUM, REDUCTIONS[k]), 1e-9);
}

TEST(time_reversal, variational_returns_to_the_start)
{
    for (int i = 0; i < MODEL_COUNT; ++i)
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
            // measured 1.2e-12 (planar-pair)
            CHECK_BELOW(way_back(MODELS[i], HN_SCHEME_VARIATIONAL, REDUCTIONS[k]), 1e-9);
}

TEST(time_reversal, rattle_returns_to_the_start)
{
    for (int i = 0; i < MODEL_COUNT; ++i)
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
            CHECK_BELOW(way_back(MODELS[i], HN_SCHEME_RATTLE, REDUCTIONS[k]), 1e-9);
}

TEST(time_reversal, ggl_energy_momentum_returns_to_the_start)
{
    for (int i = 0; i < MODEL_COUNT; ++i)
        for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
            CHECK_BELOW(way_back(MODELS[i], HN_SCHEME_GGL_ENERGY_MOMENTUM, REDUCTIONS[k]), 1e-9);
}

TEST(time_reversal, dissipative_and_one_sided_schemes_do_not_return)
{
    const hn_scheme others[] = {HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_GGL_VARIATIONAL,
                                HN_SCHEME_GGL_CLASSICAL};
    for (int k = 0; k < 3; ++k)
        CHECK(way_back("chain-spherical", others[k], HN_REDUCTION_REDUCED) > 1e-6);
}

TEST(time_reversal, projected_runge_kutta_returns_to_its_tolerance)
{
    double off = way_back("chain-spherical", HN_SCHEME_PROJECTED_RK, HN_REDUCTION_REDUCED);
    CHECK(off > 1e-14);
    CHECK_BELOW(off, 1e-5);
}

// ---- loads that change in time ----------------------------------------------------------------------

// Two bars on ball joints under a table and a pulse that is finer than the step and not in the middle of the run.
static run loaded_pair(hn_scheme scheme, hn_reduction way)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    world.gravity = vec3(0.0, 0.0, -9.81);
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_id before = hn_ground();
    static const double TIMES[] = {0.0, 0.13, 0.2, 0.77}, FACTORS[] = {0.3, 1.0, -0.5, 0.8};
    for (int i = 0; i < 2; ++i) {
        hn_body_def body = hn_body_def_default();
        body.mass = 1.0 + i;
        body.inertia = vec3(0.01, 0.1, 0.11);
        body.position = vec3(0.5 + i, 0.0, 0.0);
        hn_body_id id;
        hn_joint_id pin;
        hn_load_id load;
        CHECK_OK(context, hn_model_add_body(model, &body, &id));
        hn_joint_def ball = hn_joint_def_default(HN_JOINT_SPHERICAL);
        ball.body_a = before, ball.body_b = id;
        ball.point_a = vec3(i, 0.0, 0.0);
        CHECK_OK(context, hn_model_add_joint(model, &ball, &pin));
        hn_load_def def = hn_load_def_default();
        def.body = id;
        def.torque = i == 0;
        def.body_fixed = i == 1;
        def.vector = vec3(2.0, 5.0, 4.0 - i);
        def.profile =
            i == 0 ? (hn_profile){.kind = HN_PROFILE_TABLE,
                                  .times = TIMES,
                                  .factors = FACTORS,
                                  .count = 4}
                   : (hn_profile){
                         .kind = HN_PROFILE_PULSE, .start = 0.311, .peak = 0.3125, .end = 0.45};
        CHECK_OK(context, hn_model_add_load(model, &def, &load));
        before = id;
    }
    return run_start(context, model, scheme, way, 0.005, true);
}

TEST(time_reversal, loads_that_change_in_time_run_backwards)
{
    const hn_scheme symmetric[4] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                    HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED};
    for (int k = 0; k < 4 * HN_REDUCTION_COUNT; ++k) {
        hn_scheme scheme = symmetric[k % 4];
        if (scheme == HN_SCHEME_CONVECTED && k >= 4) continue; // it has a solver of its own
        run r = loaded_pair(scheme, REDUCTIONS[k / 4]);
        int n = r.coordinate_count;
        double start[RUN_COORDINATES_MAX], turn[RUN_COORDINATES_MAX], end[RUN_COORDINATES_MAX];
        run_coordinates(&r, start);
        run_step(&r, STEPS);
        run_coordinates(&r, turn);
        CHECK(largest_difference(start, turn, n) > 0.1); // it went somewhere
        CHECK_OK(r.context, hn_simulation_reverse(r.sim));
        run_step(&r, STEPS / 2);
        // the way back goes on from a snapshot in another simulation
        size_t size = hn_simulation_snapshot_size(r.sim);
        void *bytes = malloc(size);
        CHECK(bytes != NULL);
        CHECK_OK(r.context, hn_simulation_save(r.sim, bytes, size));
        run other = loaded_pair(scheme, REDUCTIONS[k / 4]);
        CHECK_OK(other.context, hn_simulation_restore(other.sim, bytes, size));
        run_step(&r, STEPS / 2);
        run_step(&other, STEPS / 2);
        run_coordinates(&r, end);
        CHECK(run_difference(&r, &other) == 0.0);
        CHECK_BELOW(largest_difference(start, end, n), 2e-11); // m, 1; measured 1.4e-12
        hn_ledger ledger;
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
        // and there once more
        CHECK_OK(r.context, hn_simulation_reverse(r.sim));
        run_step(&r, STEPS);
        run_coordinates(&r, end);
        CHECK_BELOW(largest_difference(turn, end, n), 1e-11);
        free(bytes);
        run_end(&other);
        run_end(&r);
    }
}

// ---- impacts ----------------------------------------------------------------------------------------

// A slide that falls onto a rigid stop 0.1 m below.
static run falling_slide(double restitution)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_model_def world = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &world, &model));
    hn_body_def body = hn_body_def_default();
    body.mass = 2.0;
    body.inertia = vec3(0.1, 0.1, 0.1);
    hn_body_id id;
    CHECK_OK(context, hn_model_add_body(model, &body, &id));
    hn_joint_def rail = hn_joint_def_default(HN_JOINT_PRISMATIC);
    rail.body_a = hn_ground(), rail.body_b = id;
    rail.axis_a = vec3(0.0, 0.0, 1.0);
    hn_drive_def stop = hn_drive_def_default(HN_DRIVE_STOP);
    CHECK_OK(context, hn_model_add_joint(model, &rail, &stop.joint));
    stop.lower = -0.1, stop.rigid = true, stop.restitution = restitution;
    hn_drive_id drive;
    CHECK_OK(context, hn_model_add_drive(model, &stop, &drive));
    return run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01, true);
}

TEST(time_reversal, impacts_go_back_where_they_take_nothing_and_are_refused_where_they_do)
{
    double start[RUN_COORDINATES_MAX], end[RUN_COORDINATES_MAX];
    run r = falling_slide(1.0);
    run_coordinates(&r, start);
    run_step(&r, 40); // hit after 0.143 s, once
    CHECK_OK(r.context, hn_simulation_reverse(r.sim));
    run_step(&r, 40);
    run_coordinates(&r, end);
    CHECK_BELOW(largest_difference(start, end, r.coordinate_count),
                1e-14); // m, 1; measured 1.3e-16
    run_end(&r);
    r = falling_slide(0.5);
    run_step(&r, 40);
    CHECK(hn_simulation_reverse(r.sim) == HN_INVALID_ARGUMENT);
    CHECK(strstr(hn_context_message(r.context), "'drive1'") != NULL);
    run_end(&r);
}
