// SPDX-License-Identifier: MIT
// Orders 4, 6 and 8 over 1e5 steps: energy, momenta and both constraint levels stay below max(1e-11, 2e-16 substeps).
#include "physics/composed_run.h"

#include "schemes/composition.h"

enum { STEPS = 100000, FEWER = 20000, LOOKS = 100 };

static void run_long(const char *model, hn_scheme scheme, int order, double h, int steps)
{
    double bound = fmax(1e-11, 2e-16 * composition_of_order(order)->stage_count * (double)steps);
    double level = 0.0, momentum = 0.0;
    hn_simulation_def def = composed_def(scheme, order, h, true);
    run r = composed_run(model, &def);
    for (int look = 0; look < LOOKS; ++look) {
        hn_constraint_state state;
        run_step(&r, steps / LOOKS);
        CHECK_OK(r.context, hn_simulation_constraints(r.sim, &state));
        level = fmax(level, state.hidden_momentum);
    }
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    double energy = ledger.entry[HN_PROMISE_ENERGY].error,
           joints = ledger.entry[HN_PROMISE_JOINTS].error;
    for (int p = HN_PROMISE_LINEAR_MOMENTUM; p <= HN_PROMISE_ANGULAR_MOMENTUM; ++p)
        if (ledger.entry[p].conserved) momentum = fmax(momentum, ledger.entry[p].error);
    print_message("%s, %s %d: energy %.1e, momenta %.1e, joints %.1e m, level %.1e m/s\n", model,
                  hn_scheme_name(scheme), order, energy, momentum, joints, level);
    if (scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM) CHECK_BELOW(energy, bound);
    CHECK_BELOW(momentum, bound);
    CHECK_BELOW(joints, bound);
    CHECK_BELOW(level, bound);
    run_end(&r);
}

// A tree that keeps an angular momentum, with h |omega| = 0.35.
TEST(long_composition, of_the_nutating_top)
{
    for (int s = 0; s < COMPOSED_SCHEMES; ++s)
        for (int k = 0; k < ORDERS; ++k) {
            // the symplectic ones have no energy to lose: fewer steps where substeps are many
            bool all = COMPOSED[s] == HN_SCHEME_GGL_ENERGY_MOMENTUM || ORDER[k] == 4;
            run_long("nutating-top", COMPOSED[s], ORDER[k], 0.0025, all ? STEPS : FEWER);
        }
}

// A closed loop with redundant constraints.
TEST(long_composition, of_the_four_bar)
{
    run_long("four-bar", HN_SCHEME_GGL_ENERGY_MOMENTUM, 4, 0.001, STEPS);
    run_long("four-bar", HN_SCHEME_RATTLE, 4, 0.001, STEPS);
}
