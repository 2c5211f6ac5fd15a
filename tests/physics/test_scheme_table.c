// SPDX-License-Identifier: MIT
// What the table of schemes in the manual says of velocity level, driven models and loops: a driven, redundant-free
// loop.
#include "run.h"

#include <math.h>

// The quadrangle of Tuomela, Arponen and Normi: a loop with a torque, to t = 0.2 s.
typedef struct outcome {
    double level, energy, joints;
} outcome;

static outcome end_of(hn_scheme scheme, double h)
{
    run r = run_model("quadrangle", scheme, HN_REDUCTION_REDUCED, h, true);
    CHECK_OK(r.context, hn_simulation_step(r.sim, llround(0.2 / h)));
    hn_constraint_state state;
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    run_end(&r);
    return (outcome){state.hidden_momentum, ledger.entry[HN_PROMISE_ENERGY].error,
                     ledger.entry[HN_PROMISE_JOINTS].error};
}

// G M^-1 p at the nodes: second order where it is not imposed.
TEST(scheme_table, velocity_level_at_the_nodes)
{
    const hn_scheme second[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_CONVECTED,
                                HN_SCHEME_GGL_VARIATIONAL};
    for (int k = 0; k < 5; ++k) {
        double ratio = end_of(second[k], 0.002).level / end_of(second[k], 0.001).level;
        print_message("%s: %.3f\n", hn_scheme_name(second[k]), ratio);
        CHECK_NEAR(ratio, 4.0, 0.4);
    }
    const hn_scheme exact[] = {HN_SCHEME_RATTLE, HN_SCHEME_GGL_CLASSICAL, HN_SCHEME_PROJECTED_RK};
    for (int k = 0; k < 3; ++k) CHECK_BELOW(end_of(exact[k], 0.002).level, 1e-12);
}

// Energy minus the work of the torque.
TEST(scheme_table, energy_balance_of_a_driven_loop)
{
    const hn_scheme exact[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_CONVECTED,
                               HN_SCHEME_PROJECTED_RK};
    for (int k = 0; k < 3; ++k) CHECK_BELOW(end_of(exact[k], 0.002).energy, 1e-11);
    const hn_scheme second[] = {HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE,
                                HN_SCHEME_GENERALIZED_ALPHA};
    for (int k = 0; k < 3; ++k)
        CHECK_NEAR(end_of(second[k], 0.002).energy / end_of(second[k], 0.001).energy, 4.0, 0.4);
    const hn_scheme first[] = {HN_SCHEME_GGL_VARIATIONAL, HN_SCHEME_GGL_CLASSICAL};
    for (int k = 0; k < 2; ++k)
        CHECK_NEAR(end_of(first[k], 0.002).energy / end_of(first[k], 0.001).energy, 2.0, 0.2);
}

// Every scheme on a loop with three redundant constraints, and on a spatial one.
TEST(scheme_table, closed_loops_with_redundant_constraints)
{
    const char *const models[] = {"four-bar", "rssr"};
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int i = 0; i < 2; ++i) {
            run r = run_model(models[i], (hn_scheme)scheme, HN_REDUCTION_REDUCED, 0.001, true);
            CHECK_OK(r.context, hn_simulation_step(r.sim, 200));
            hn_ledger ledger;
            CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
            CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-10);
            run_end(&r);
        }
}
