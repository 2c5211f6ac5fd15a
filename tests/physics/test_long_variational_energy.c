// SPDX-License-Identifier: MIT
// The energy of the variational scheme oscillates in a band and does not drift, over a million steps.
#include "physics/run.h"

enum { STEPS = 1000000, TENTH = STEPS / 10 };

typedef struct energy_record {
    double band;   // J, max - min over the first tenth
    double beyond; // part of the band by which it is left later
    double trend;  // part of the band: |mean over the last tenth - mean over the first tenth|
} energy_record;

static energy_record record(const char *model)
{
    run r = run_model(model, HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 0.0, false);
    double low = HUGE_VAL, high = -HUGE_VAL, first = 0.0, last = 0.0, outside = 0.0;
    hn_energy energy;
    CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
    double start = energy.kinetic + energy.potential;
    for (int n = 1; n <= STEPS; ++n) {
        run_step(&r, 1);
        CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
        double error = energy.kinetic + energy.potential - start;
        if (n <= TENTH) {
            low = fmin(low, error);
            high = fmax(high, error);
            first += error / TENTH;
        } else {
            outside = fmax(outside, fmax(error - high, low - error));
        }
        if (n > STEPS - TENTH) last += error / TENTH;
    }
    run_end(&r);
    double band = high - low;
    print_message("%s: band %.3g J, left by %.2g of it, trend %.2g of it\n", model, band,
                  outside / band, fabs(last - first) / band);
    return (energy_record){band, outside / band, fabs(last - first) / band};
}

TEST(long_variational_energy, of_the_pendulum_stays_in_its_band)
{
    energy_record e = record("pendulum");
    CHECK(e.band > 0.0);
    CHECK_BELOW(e.beyond, 0.03); // measured 9.4e-8
    CHECK_BELOW(e.trend, 1e-3);  // measured 2.0e-5
}

TEST(long_variational_energy, of_the_nutating_top_stays_in_its_band)
{
    energy_record e = record("nutating-top");
    CHECK(e.band > 0.0);
    CHECK_BELOW(e.beyond, 0.03); // measured 3.9e-6
    CHECK_BELOW(e.trend, 1e-3);  // measured 8.7e-4
}
