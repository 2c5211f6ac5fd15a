// SPDX-License-Identifier: MIT
// Closed loops over long times and in large numbers: 1e5 steps of the linkage, ladders of 100 and 1000, Bricard.
#include "physics/ladder.h"
#include "support/generic_models.h"

#include <time.h>

static hn_ledger ledger_of(const run *r)
{
    hn_ledger ledger;
    CHECK_OK(r->context, hn_simulation_ledger(r->sim, &ledger));
    return ledger;
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

// Opposite corners of the ring keep the distances of the cube's diagonals (LMO Fig. 13).
TEST(long_linkage, a_hundred_thousand_steps)
{
    enum { LOOKS = 1000, STEPS_EACH = 100 };
    const hn_vec3 points[6] = {{0, 0.1, 0},    {0.1, 0.1, 0}, {0.1, 0.1, -0.1},
                               {0.1, 0, -0.1}, {0, 0, -0.1},  {0, 0, 0}};
    hn_vec3 local[6], corner[6];
    run r =
        run_model("six-body-linkage", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, true);
    double diagonals = 0.0, low = 0.0, high = 0.0, start = seconds();
    for (int n = 0; n <= LOOKS; ++n) {
        if (n > 0) run_step(&r, STEPS_EACH);
        for (int k = 0; k < 6; ++k) {
            hn_body_state b = run_body(&r, hn_model_body(r.model, (k + 1) % 6));
            if (n == 0)
                local[k] =
                    mat3_apply_transposed(&b.orientation, vec3_subtract(points[k], b.position));
            corner[k] = vec3_add(b.position, mat3_apply(&b.orientation, local[k]));
        }
        for (int k = 0; k < 3; ++k)
            diagonals = fmax(diagonals, fabs(vec3_norm(vec3_subtract(corner[k], corner[k + 3])) -
                                             0.1 * sqrt(3.0)));
        hn_joint_state state;
        CHECK_OK(r.context,
                 hn_simulation_joint_state(r.sim, hn_model_find_joint(r.model, "r1"), &state));
        low = fmin(low, state.coordinates[0]);
        high = fmax(high, state.coordinates[0]);
    }
    print_message("%.1f s\n", seconds() - start);
    // revolutions: theta1 takes its whole range from -7 pi/6 to pi/6 (LMO 107)
    CHECK_NEAR(low, -7.0 * acos(-1.0) / 6.0, 1e-2);
    CHECK_NEAR(high, acos(-1.0) / 6.0, 1e-2);
    hn_ledger ledger = ledger_of(&r);
    CHECK_BELOW(diagonals, 1e-14);                                  // m; measured 1.7e-16
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-10);      // measured 1.4e-11
    CHECK_BELOW(ledger.entry[HN_PROMISE_CONSTRAINTS].error, 1e-13); // all 72; measured 1.9e-15
    CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 2e-14);      // m; measured 2.2e-16
    CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
    run_end(&r);
}

// A run either ends, or stops within 1e-3 rad of the flat position and names a joint.
static void check_ladder(int n, bool hanging, double h, double time)
{
    mechanism m = ladder_mechanism(n, 1.0, hanging);
    double start = seconds();
    mechanism_run x =
        mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, h, true);
    hn_structure structure = hn_simulation_structure(x.r.sim);
    CHECK_EQUAL(structure.loop_count, n);
    CHECK_EQUAL(structure.degrees_of_freedom, 1);
    CHECK_EQUAL(structure.constraint_count - structure.constraint_rank, 3 * n);
    hn_status status = hn_simulation_step(x.r.sim, llround(time / h));
    double reached = hn_simulation_time(x.r.sim);
    if (hanging) CHECK_OK(x.r.context, status);
    if (status != HN_OK) {
        CHECK_BELOW(ladder_from_flat(&x), 1e-3);
        CHECK_CONTAINS(hn_context_message(x.r.context), "joint 'j");
    }
    hn_ledger ledger = ledger_of(&x.r);
    print_message("%d four-bars, h = %g: %.1f s of motion in %.1f s, %d steps halved\n", n, h,
                  reached, seconds() - start,
                  (int)hn_simulation_statistics(x.r.sim).halved_step_count);
    CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-11); // m; measured 1.7e-13
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 2e-11); // measured 4.0e-13
    CHECK_BELOW(ladder_spread(&x, n), 1e-12);                  // rad; measured 1.2e-14
    // a second order error of a motion of 5 turns
    CHECK_NEAR(ladder_angle_of(&x, hanging), ladder_angle(n, 1.0, hanging, reached),
               20.0 * h * h * fmax(1.0, reached));
    mechanism_end(&x);
    mechanism_destroy(&m);
}

TEST(long_ladder, hundred_four_bars_for_ten_seconds)
{
    check_ladder(100, false, 4e-3, 10.0);
}

TEST(long_ladder, hundred_four_bars_below_their_singular_position)
{
    check_ladder(100, true, 1e-2, 10.0);
}

TEST(long_ladder, thousand_four_bars)
{
    check_ladder(1000, false, 1e-2, 3.0);
}

TEST(long_bricard, ten_seconds)
{
    run r = run_model("bricard", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3, true);
    run_step(&r, 5000);
    hn_ledger ledger = ledger_of(&r);
    CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 5e-14); // m; measured 7.1e-16
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 5e-11); // measured 7.3e-13
    run_end(&r);
}

// Ladders that land near their flat position, with steps of 1.4 to 18 degrees that miss it by 1e-16 to 1e-3 of their
// size.
TEST(long_ladder, lands_near_the_singular_position_and_goes_on)
{
    static const hn_scheme FOUR[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                     HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED};
    enum { RUN_COUNT = 160 };
    int stopped = 0;
    double spread = 0.0;
    number_source numbers = {20};
    for (int k = 0; k < RUN_COUNT; ++k) {
        int n = 1 + k % 9, quarter = 5 + 60 * k / RUN_COUNT;
        double past = pow(10.0, -9.5 + 6.5 * next_number(&numbers));
        if (k % 2 == 1) past = -past;
        stopped += !ladder_lands_flat(n, quarter, past, FOUR[k % 4], REDUCTIONS[k % 3], &spread);
    }
    CHECK_BELOW(spread, 2e-14);       // rad; measured 3e-16
    CHECK(stopped <= RUN_COUNT / 50); // measured 0
}
