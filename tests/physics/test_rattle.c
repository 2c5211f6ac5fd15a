// SPDX-License-Identifier: MIT
// RATTLE: both constraint levels, momenta, energy without trend; its order is in test_reference_order.c.
#include "run.h"

#include <math.h>

static const char *const MODELS[] = {"pendulum",         "gyro-top",    "nutating-top",
                                     "cylindrical-pair", "planar-pair", "prismatic-pair",
                                     "chain-spherical",  "free-tree",   "planar-spring",
                                     "six-body-linkage", "rssr",        "four-bar"};
enum { MODEL_COUNT = sizeof MODELS / sizeof MODELS[0] };

TEST(rattle, keeps_both_constraint_levels_and_momenta)
{
    double level = 0.0, position = 0.0, momentum = 0.0;
    for (int i = 0; i < MODEL_COUNT; ++i) {
        run r = run_model(MODELS[i], HN_SCHEME_RATTLE, HN_REDUCTION_REDUCED, 0.0, true);
        hn_constraint_state state;
        hn_ledger ledger;
        double speed = 0.0;
        for (int k = 0; k < 20; ++k) {
            CHECK_OK(r.context, hn_simulation_step(r.sim, 25));
            CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
            hn_energy energy;
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
            for (int b = 0; b < hn_model_body_count(r.model); ++b) {
                hn_body_state body;
                CHECK_OK(r.context,
                         hn_simulation_body_state(r.sim, hn_model_body(r.model, b), &body));
                speed =
                    fmax(speed, fmax(vec3_norm(body.velocity), vec3_norm(body.angular_velocity)));
            }
            level = fmax(level, state.hidden_momentum / fmax(1.0, speed));
        }
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        position = fmax(position, ledger.entry[HN_PROMISE_CONSTRAINTS].error);
        if (ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].conserved)
            momentum = fmax(momentum, ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM].error);
        if (ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].conserved)
            momentum = fmax(momentum, ledger.entry[HN_PROMISE_LINEAR_MOMENTUM].error);
        run_end(&r);
    }
    CHECK_BELOW(position, 1e-12); // measured 1.5e-15
    CHECK_BELOW(level, 1e-12);    // G M^-1 p relative to the largest speed
    CHECK_BELOW(momentum, 1e-11);
}

TEST(rattle, energy_oscillates_without_trend)
{
    run r = run_model("pendulum", HN_SCHEME_RATTLE, HN_REDUCTION_REDUCED, 0.0, false);
    enum { TENTH = 20000 };
    double first = 0.0, last = 0.0, low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < 10 * TENTH; ++i) {
        hn_energy energy;
        CHECK_OK(r.context, hn_simulation_step(r.sim, 1));
        CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
        double e = energy.kinetic + energy.potential;
        low = fmin(low, e), high = fmax(high, e);
        if (i < TENTH) first += e / TENTH;
        if (i >= 9 * TENTH) last += e / TENTH;
    }
    CHECK_BELOW(fabs(last - first) / (high - low), 1e-3);
    run_end(&r);
}
