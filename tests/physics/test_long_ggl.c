// SPDX-License-Identifier: MIT
// The energy of the variational GGL scheme oscillates without trend: a hundred thousand steps of the heavy top, and ten
// times round with a linkage that has a redundant row.
#include "physics/ggl_run.h"
#include "physics/run.h"

typedef struct band_record {
    double band;    // J, in the first part of the run
    double outside; // by how much of it the energy leaves the band later
    double trend;   // difference of means of the last and the first part, of the band
    double primary; // largest |g|
} band_record;

static band_record run_band(ggl_run *r, int steps, int part)
{
    double low = HUGE_VAL, high = -HUGE_VAL, first = 0.0, last = 0.0, start = ggl_energy(r);
    band_record b = {0};
    for (int n = 1; n <= steps; ++n) {
        ggl_advance(r, 1);
        double error = ggl_energy(r) - start;
        b.primary = fmax(b.primary, ggl_last_levels(r->solver).primary);
        if (n <= part) {
            low = fmin(low, error);
            high = fmax(high, error);
            first += error / part;
        } else {
            b.outside = fmax(b.outside, fmax(error - high, low - error));
        }
        if (n > steps - part) last += error / part;
    }
    b.band = high - low;
    b.outside /= b.band;
    b.trend = fabs(last - first) / b.band;
    print_message("%s, %d steps: band %.3g J, left by %.2g of it, trend %.2g of it, g %.2g\n",
                  r->system->name, steps, b.band, b.outside, b.trend, b.primary);
    return b;
}

TEST(long_ggl, energy_of_the_top_stays_in_its_band)
{
    ggl_run r = ggl_run_model("gyro-top", &scheme_ggl_variational, 0.002);
    double momentum = ggl_angular(&r).z;
    band_record b = run_band(&r, 100000, 10000);
    CHECK_BELOW(b.band, 1e-3);                                    // J of 5.67; measured 1.8e-4
    CHECK_BELOW(b.outside, 0.03);                                 // measured 0: never left
    CHECK_BELOW(b.trend, 0.01);                                   // measured 4.0e-3
    CHECK_BELOW(fabs(ggl_angular(&r).z / momentum - 1.0), 1e-11); // measured 4.0e-13
    CHECK_BELOW(b.primary, 1e-14);                                // measured 3.3e-16
    ggl_run_end(&r);
}

// Every constraint row of the linkage, the redundant one as well, with the step of its file.
TEST(long_ggl, energy_of_the_linkage_stays_in_its_band)
{
    ggl_run r = ggl_run_model("six-body-linkage", &scheme_ggl_variational, 0.0);
    band_record b = run_band(&r, 5000, 1000); // 0.4 s once round
    CHECK_BELOW(b.band, 0.02);                // J of 0.68; measured 6.6e-3
    CHECK_BELOW(b.outside, 0.1);              // measured 1.6e-3
    CHECK_BELOW(b.trend, 0.1);                // measured 0.043
    CHECK_BELOW(b.primary, 1e-14);            // measured 4.4e-16
    ggl_run_end(&r);
}

// With the steps of their files, to the end: what `holonom compare` runs unless told otherwise.
TEST(long_ggl, free_tree_and_spatial_four_bar_run_to_their_end)
{
    static const char *const NAMES[] = {"free-tree", "rssr"};
    for (int i = 0; i < 2; ++i) {
        run r = run_model(NAMES[i], HN_SCHEME_GGL_VARIATIONAL, HN_REDUCTION_REDUCED, 0.0, true);
        hn_run_options options = hn_model_run_options(r.model);
        run_step(&r, llround(options.end / options.step));
        hn_ledger ledger;
        CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
        CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-12);
        CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-10); // m
        run_end(&r);
    }
}
