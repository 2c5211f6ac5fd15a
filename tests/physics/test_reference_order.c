// SPDX-License-Identifier: MIT
// Observed order of both schemes against solutions that share nothing with them (tests/reference).
#include "physics/run.h"
#include "support/reference.h"

enum { HALVINGS = 4, POSES_MAX = 48 };

// reference pose at times[index], and the estimate of its own error
static int pose_of_reference(const reference *ref, int index, double *q, double *own_error)
{
    char place[64];
    if (reference_has(ref, "/states/0/0/q")) {
        int count = 0;
        for (int body = 0;; ++body) {
            snprintf(place, sizeof place, "/states/%d/%d/q", index, body);
            if (!reference_has(ref, place)) break;
            CHECK_EQUAL(reference_numbers(ref, place, q + count, POSE_SIZE), POSE_SIZE);
            count += POSE_SIZE;
        }
        snprintf(place, sizeof place, "/states_abs_error/q/%d", index);
        *own_error = reference_number(ref, place);
        return count;
    }
    *own_error = 1e-14;
    snprintf(place, sizeof place, "/reference/q/values/%d", index);
    return reference_numbers(ref, place, q, POSES_MAX);
}

static double error_at(const char *model, hn_scheme scheme, double h, double time,
                       const double *expected, int count)
{
    run r = run_model(model, scheme, HN_REDUCTION_REDUCED, h, false);
    double q[POSES_MAX + 1];
    run_step(&r, llround(time / h));
    CHECK_NEAR(hn_simulation_time(r.sim), time, 1e-12);
    CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
    CHECK_EQUAL(pose_of_run(&r, 0, q), count);
    run_end(&r);
    return largest_difference(q, expected, count);
}

static void check_order(const char *model, const char *file, int index, int first_steps)
{
    reference *ref = reference_load(file);
    double times[32], expected[POSES_MAX], own_error;
    CHECK(reference_numbers(ref, "/times", times, 32) > index);
    int count = pose_of_reference(ref, index, expected, &own_error);
    reference_destroy(ref);
    for (int s = 0; s < REDUCTION_SCHEME_COUNT; ++s) {
        double last = 0.0;
        for (int k = 0; k <= HALVINGS; ++k) {
            int steps = first_steps << k;
            double error =
                error_at(model, SCHEMES[s], times[index] / steps, times[index], expected, count);
            print_message("%s, %s: t = %g, %d steps: error %.3g, order %.3f\n", model,
                          hn_scheme_name(SCHEMES[s]), times[index], steps, error,
                          k > 0 ? log2(last / error) : 0.0);
            CHECK(error > 1e3 * own_error);
            if (k > 0) CHECK_NEAR(log2(last / error), 2.0, 0.05); // measured 1.997 to 2.006
            last = error;
        }
    }
}

TEST(reference_order, pendulum)
{
    check_order("pendulum", "pendulum.json", 2, 100); // t = 1
}

TEST(reference_order, gyro_top)
{
    check_order("gyro-top", "gyro_top_steady.json", 1, 200); // t = 0.1
}

TEST(reference_order, cylindrical_pair)
{
    check_order("cylindrical-pair", "cylindrical_pair.json", 0, 100); // t = 0.1
}

TEST(reference_order, planar_pair)
{
    check_order("planar-pair", "planar_pair.json", 6, 200); // t = 0.1
}

TEST(reference_order, chain_of_revolute_joints)
{
    check_order("chain-revolute", "chain_revolute.json", 3, 100); // t = 1
}
