// SPDX-License-Identifier: MIT
// `energy-decaying` on the swing of stiff material through event X, which its right link passes at 1.47 s.
#include "physics/run.h"

typedef struct swing {
    double early, late; // of the energy, lost before 1.3 s and in all
    double energy, constraints, turned;
} swing;

static swing run_swing(const char *model, double h)
{
    run r = run_model(model, HN_SCHEME_ENERGY_DECAYING, HN_REDUCTION_REDUCED, h, true);
    hn_ledger ledger;
    swing s;
    run_step(&r, llround(1.3 / h));
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    s.early = ledger.energy_lost / ledger.energy_scale;
    run_step(&r, llround(0.7 / h));
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    s.late = ledger.energy_lost / ledger.energy_scale;
    s.energy = ledger.entry[HN_PROMISE_ENERGY].error;
    s.constraints = ledger.entry[HN_PROMISE_CONSTRAINTS].error;
    run_end(&r);
    print_message(
        "%s, h = %g: lost %.3g before 1.3 s, %.3g in all; identity %.2g, constraints %.2g\n", model,
        h, s.early, s.late, s.energy, s.constraints);
    return s;
}

TEST(long_energy_decaying, the_stiff_swing_passes_event_x)
{
    static const double STEPS[] = {1e-2, 4e-3, 2e-3, 1e-3};
    double before = 1.0;
    for (int k = 0; k < 4; ++k) {
        swing s = run_swing("three-bar-swing-stiff", STEPS[k]);
        CHECK_BELOW(s.energy, 2e-12);      // measured 4e-14
        CHECK_BELOW(s.constraints, 1e-13); // measured 1.5e-15
        CHECK(s.early < before);
        if (k == 3) CHECK_BELOW(s.early, 0.01);
        before = s.early;
    }
}
