// SPDX-License-Identifier: MIT
// The first iterate of a step from the steps before: its order follows the motion, and a snapshot knows it.
#include "physics/ladder.h"
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

// Increments carry a part that changes its sign from step to step, and loops have multipliers.
TEST(prediction, knows_what_alternates_and_multipliers_of_loops)
{
    // measured 1.08, 1.43, 1.00, 1.14, 1.57; polynomials alone: 2.00, 1.98, 1.48, 2.03, 2.01
    CHECK_BELOW(iterations_per_step("humanoid", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.15);
    CHECK_BELOW(iterations_per_step("free-tree", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.5);
    CHECK_BELOW(iterations_per_step("bricard", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.05);
    CHECK_BELOW(iterations_per_step("four-bar", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.2);
    CHECK_BELOW(iterations_per_step("six-body-linkage", HN_REDUCTION_REDUCED, 1e-3, 1000), 1.65);
}

TEST(prediction, of_a_coarse_motion_takes_a_lower_order)
{
    // measured 3.44; with all of eight steps 4.28
    CHECK_BELOW(iterations_per_step("free-tree", HN_REDUCTION_REDUCED, 1e-2, 400), 3.6);
    // measured 2.55, 2.75
    CHECK_BELOW(iterations_per_step("chain-revolute", HN_REDUCTION_REDUCED, 2e-2, 200), 2.7);
    CHECK_BELOW(iterations_per_step("chain-spherical", HN_REDUCTION_REDUCED, 2e-2, 200), 2.9);
}

TEST(prediction, goes_on_bit_for_bit_from_a_snapshot)
{
    enum { BEFORE = 17, AFTER = 50 }; // within a round of the ring, after a choice of the order
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

// A parallelogram that turns evenly, through two flat positions in a round: its rows are chosen once in twelve steps
// away from these, and in every step near them.
TEST(prediction, rows_of_loops_last_but_near_flat_positions)
{
    enum { STEPS = 4000 };
    const double speed = 1.0, h = 2e-3;
    mechanism m = ladder_mechanism(1, speed, false);
    m.gravity = vec3(0.0, 0.0, 0.0);
    mechanism_run x = mechanism_build(&m, &AS_IT_IS);
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = h;
    mechanism_start(&x, &def);
    const hn_simulation *s = x.r.sim;
    double nearest = 1.0, worst = 0.0;
    int lasting = 0;
    for (int i = 1; i <= STEPS; ++i) {
        CHECK_OK(x.r.context, hn_simulation_step(x.r.sim, 1));
        hn_joint_state foot;
        CHECK_OK(x.r.context, hn_simulation_joint_state(x.r.sim, x.joint[0], &foot));
        double angle = i * h * speed;
        worst = fmax(worst, fabs(foot.coordinates[0] + angle));
        if (!s->rows->lasting) continue;
        lasting++;
        nearest = fmin(nearest, fabs(cos(angle)));
        CHECK(s->step_count - s->rows->step <= HISTORY_DEPTH);
    }
    MEASURED(nearest);
    MEASURED((double)lasting);
    CHECK(lasting > STEPS / 2);
    CHECK(nearest > 0.15);    // cosine of the angle to the base; measured 0.189
    CHECK_BELOW(worst, 1e-5); // rad; measured 2.7e-6
    mechanism_end(&x);
    mechanism_destroy(&m);
}
