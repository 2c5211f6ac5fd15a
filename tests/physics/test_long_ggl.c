// SPDX-License-Identifier: MIT
// The energy of the variational GGL scheme oscillates without trend over a hundred thousand steps of the heavy top.
#include "physics/ggl_run.h"

enum { STEPS = 100000, TENTH = STEPS / 10 };

TEST(long_ggl, energy_of_the_top_stays_in_its_band)
{
    ggl_run r = ggl_run_model("gyro-top", &scheme_ggl_variational, 0.002);
    double low = HUGE_VAL, high = -HUGE_VAL, first = 0.0, last = 0.0, outside = 0.0, primary = 0.0;
    double start = ggl_energy(&r), momentum = ggl_angular(&r).z;
    for (int n = 1; n <= STEPS; ++n) {
        ggl_advance(&r, 1);
        double error = ggl_energy(&r) - start;
        primary = fmax(primary, ggl_last_levels(r.solver).primary);
        if (n <= TENTH) {
            low = fmin(low, error);
            high = fmax(high, error);
            first += error / TENTH;
        } else {
            outside = fmax(outside, fmax(error - high, low - error));
        }
        if (n > STEPS - TENTH) last += error / TENTH;
    }
    double band = high - low;
    print_message("top, %d steps: band %.3g J, left by %.2g of it, trend %.2g of it, L3 off by "
                  "%.2g of it, g %.2g\n",
                  STEPS, band, outside / band, fabs(last - first) / band,
                  fabs(ggl_angular(&r).z / momentum - 1.0), primary);
    CHECK_BELOW(band, 1e-3);                                      // J of 5.67; measured 1.8e-4
    CHECK_BELOW(outside / band, 0.03);                            // measured 0: never left
    CHECK_BELOW(fabs(last - first) / band, 0.01);                 // measured 4.0e-3
    CHECK_BELOW(fabs(ggl_angular(&r).z / momentum - 1.0), 1e-11); // measured 4.0e-13
    CHECK_BELOW(primary, 1e-14);                                  // measured 3.3e-16
    ggl_run_end(&r);
}
