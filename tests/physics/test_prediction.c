// SPDX-License-Identifier: MIT
// The first iterate of a step from the steps before: its order follows the motion, and a snapshot knows it.
#include "physics/run.h"

static double iterations_per_step(const char *model, hn_reduction way, double step, int64_t steps)
{
    run r = run_model(model, HN_SCHEME_ENERGY_MOMENTUM, way, step, false);
    run_step(&r, steps);
    double count = (double)hn_simulation_statistics(r.sim).newton_iteration_count;
    run_end(&r);
    return count / (double)steps;
}

TEST(prediction, of_a_smooth_motion_leaves_one_iteration)
{
    // measured 1.000, 1.000, 1.012, 1.003; from three steps they were 1.99, 2.00, 2.00, 2.00
    CHECK_BELOW(iterations_per_step("chain-revolute", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.05);
    CHECK_BELOW(iterations_per_step("chain-spherical", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.05);
    CHECK_BELOW(iterations_per_step("robot-arm", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.05);
    CHECK_BELOW(iterations_per_step("free-tree", HN_REDUCTION_REDUCED, 1e-4, 1000), 1.05);
}

TEST(prediction, of_a_coarse_motion_takes_a_lower_order)
{
    // measured 3.44; with all eight steps 4.28
    CHECK_BELOW(iterations_per_step("free-tree", HN_REDUCTION_REDUCED, 1e-2, 400), 3.6);
    // measured 2.55, 2.75
    CHECK_BELOW(iterations_per_step("chain-revolute", HN_REDUCTION_REDUCED, 2e-2, 200), 2.7);
    CHECK_BELOW(iterations_per_step("chain-spherical", HN_REDUCTION_REDUCED, 2e-2, 200), 2.9);
}

TEST(prediction, goes_on_bit_for_bit_from_a_snapshot)
{
    enum { BEFORE = 13, AFTER = 50 }; // within a round of the ring, after a choice of the order
    double there[RUN_COORDINATES_MAX], again[RUN_COORDINATES_MAX];
    run r =
        run_model("chain-spherical", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 5e-3, false);
    run_step(&r, BEFORE);
    size_t size = hn_simulation_snapshot_size(r.sim);
    void *snapshot = malloc(size);
    CHECK(snapshot != NULL);
    CHECK_OK(r.context, hn_simulation_save(r.sim, snapshot, size));
    run_step(&r, AFTER);
    run_coordinates(&r, there);
    CHECK_OK(r.context, hn_simulation_restore(r.sim, snapshot, size));
    run_step(&r, AFTER);
    run_coordinates(&r, again);
    CHECK(memcmp(there, again, (size_t)r.coordinate_count * sizeof(double)) == 0);
    free(snapshot);
    run_end(&r);
}
