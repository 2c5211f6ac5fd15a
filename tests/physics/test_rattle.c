// SPDX-License-Identifier: MIT
// RATTLE: both constraint levels, momenta, energy without trend, dampers; its order is in test_reference_order.c.
#include "physics/damped_mass.h"
#include "physics/run.h"

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
    CHECK_BELOW(position, 1e-13); // measured 1.5e-15
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

// A mass that runs away from a damper, by (DF1) to (DF4).
TEST(rattle, a_mass_on_a_damper_follows_its_closed_form)
{
    static const double X[] = {0.1, 0.5, 1.0, 2.1, 1e6};
    double worst = 0.0;
    for (int i = 0; i < 5; ++i) {
        hn_context *context = hn_context_create(NULL);
        hn_body_id body;
        hn_model *model = damped_mass(context, 0.3, 100.0 * DAMPED_MASS * X[i], &body);
        run r = run_start(context, model, HN_SCHEME_RATTLE, HN_REDUCTION_REDUCED, 0.01, false);
        filtered_mass exact = {0.3, 0.0};
        for (int n = 0; n < 10; ++n) {
            run_step(&r, 1);
            filtered_step(&exact, X[i]);
            worst = fmax(worst, fabs(run_body(&r, body).velocity.x - exact.v));
        }
        run_end(&r);
    }
    CHECK_BELOW(worst, 1e-12); // m/s; measured 1.1e-14
}

// Reactions need the step from here on, which is solved ahead and kept: who asks for them gets the same motion, and the
// same reactions after a restart from a snapshot.
TEST(rattle, asking_for_reactions_changes_nothing)
{
    static const char *const NAMES[] = {"chain-spherical", "rssr", "four-bar"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; ++i) {
        run asked = run_model(NAMES[i], HN_SCHEME_RATTLE, HN_REDUCTION_REDUCED, 0.001, false);
        run quiet = run_model(NAMES[i], HN_SCHEME_RATTLE, HN_REDUCTION_REDUCED, 0.001, false);
        hn_joint_id last = hn_model_joint(asked.model, hn_model_joint_count(asked.model) - 1);
        hn_joint_state one, two;
        for (int n = 0; n < 50; ++n) {
            CHECK_OK(asked.context, hn_simulation_joint_state(asked.sim, last, &one));
            CHECK(one.reaction_valid);
            CHECK_NEAR(one.reaction_time, 0.001 * n, 1e-12);
            run_step(&asked, 1);
            run_step(&quiet, 1);
            CHECK_BELOW(run_difference(&asked, &quiet), 1e-300);
        }
        size_t size = hn_simulation_snapshot_size(quiet.sim);
        void *snapshot = malloc(size);
        CHECK(snapshot != NULL);
        CHECK_OK(quiet.context, hn_simulation_save(quiet.sim, snapshot, size));
        CHECK_OK(asked.context, hn_simulation_joint_state(asked.sim, last, &one));
        CHECK_OK(asked.context, hn_simulation_restore(asked.sim, snapshot, size));
        CHECK_OK(asked.context, hn_simulation_joint_state(asked.sim, last, &two));
        CHECK(memcmp(&one.reaction_force, &two.reaction_force, sizeof one.reaction_force) == 0);
        free(snapshot);
        run_end(&asked);
        run_end(&quiet);
    }
}
