// SPDX-License-Identifier: MIT
// Round-off has no bias: over many steps of a steady motion it adds up like the square root of their number.
#include "physics/run.h"

static double energy_after(const char *model, hn_reduction way, int64_t steps)
{
    run r = run_model(model, HN_SCHEME_ENERGY_MOMENTUM, way, 0.0, true);
    run_step(&r, steps);
    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
    run_end(&r);
    return ledger.entry[HN_PROMISE_ENERGY].error;
}

// A step of 0.001 s is no power of two: 2/h, products with it and factors of rotations are rounded alike in every step
// of a top in steady precession, and were 2e-16 each.
TEST(round_off, of_a_steady_top_adds_up_like_the_root_of_the_steps)
{
    CHECK_BELOW(energy_after("gyro-top", HN_REDUCTION_REDUCED, 200000),
                2e-12); // measured 2.0e-13; was 8.8e-11
    CHECK_BELOW(energy_after("gyro-top", HN_REDUCTION_NULLSPACE, 20000),
                3e-13); // measured 2.8e-14; was 4.4e-12
    CHECK_BELOW(energy_after("gyro-top", HN_REDUCTION_MULTIPLIERS, 20000),
                3e-13); // measured 2.4e-14; was 4.3e-12
}

TEST(round_off, of_a_linkage_adds_up_like_the_root_of_the_steps)
{
    CHECK_BELOW(energy_after("six-body-linkage", HN_REDUCTION_REDUCED, 50000),
                1e-12); // measured 1e-13; was 7e-12
}
