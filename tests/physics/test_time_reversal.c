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
