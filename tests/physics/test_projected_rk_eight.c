// SPDX-License-Identifier: MIT
// `projected-rk` of order 8, Dormand and Prince 8(5,3): order, work beside order 5, promises, snapshots.
#include "physics/composed_run.h"

static hn_simulation_def eight(int order, double step)
{
    hn_simulation_def def = composed_def(HN_SCHEME_PROJECTED_RK, order, step, true);
    def.projected_rk.projection_tolerance = 1e-14;
    return def;
}

// Error of the centres of mass and directors against tests/reference.
static double error_of(const char *model, const char *file, int index,
                       const hn_simulation_def *given, int steps)
{
    reference *ref = reference_load(file);
    hn_simulation_def def = *given;
    double times[32], q[POSE_SIZE], worst = 0.0;
    CHECK(reference_numbers(ref, "/times", times, 32) > index);
    def.step_size = times[index] / steps;
    run r = composed_run(model, &def);
    run_step(&r, steps);
    for (int i = 0; i < hn_model_body_count(r.model); ++i) {
        char place[64];
        snprintf(place, sizeof place, "/states/%d/%d/q", index, i);
        CHECK_EQUAL(reference_numbers(ref, place, q, POSE_SIZE), POSE_SIZE);
        hn_body_state s = run_body(&r, hn_model_body(r.model, i));
        worst = fmax(worst, vec3_norm(vec3_subtract(s.position, vec3_load(q))));
        for (int k = 0; k < 3; ++k)
            worst = fmax(worst, vec3_norm(vec3_subtract(mat3_column(&s.orientation, k),
                                                        vec3_load(q + 3 + 3 * k))));
    }
    reference_destroy(ref);
    run_end(&r);
    return worst;
}

TEST(projected_rk_eight, is_of_order_eight)
{
    static const struct {
        const char *model, *file;
        hn_projection projection;
        int index, steps[2];
    } CASES[] = {
        {"gyro-top", "gyro_top_steady.json", HN_PROJECTION_QUASI_ORTHOGONAL, 1, {18, 32}},
        {"chain-revolute", "chain_revolute.json", HN_PROJECTION_QUASI_ORTHOGONAL, 3, {20, 32}},
        {"gyro-top", "gyro_top_steady.json", HN_PROJECTION_ALONG_JOINTS, 1, {18, 32}},
        {"chain-revolute", "chain_revolute.json", HN_PROJECTION_ALONG_JOINTS, 3, {26, 40}}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        hn_simulation_def def = eight(8, 0.0);
        def.projected_rk.projection = CASES[i].projection;
        def.projected_rk.fixed_steps = true;
        def.projected_rk.impose_energy = false;
        double errors[2];
        for (int k = 0; k < 2; ++k)
            errors[k] =
                error_of(CASES[i].model, CASES[i].file, CASES[i].index, &def, CASES[i].steps[k]);
        double order =
            log(errors[0] / errors[1]) / log((double)CASES[i].steps[1] / CASES[i].steps[0]);
        print_message("%s: %.3g, %.3g: order %.2f\n", CASES[i].model, errors[0], errors[1], order);
        CHECK_NEAR(order, 8.0, 0.15); // measured 7.86, 7.97, 7.91, 7.88
    }
}

// Difference of a run in fixed steps from one of narrow tolerances with every stage on the constraints.
static double error_of_free_stages(const char *model, int order, double end, int steps)
{
    hn_simulation_def def = eight(8, end);
    def.projected_rk.impose_energy = false;
    def.projected_rk.projection = HN_PROJECTION_QUASI_ORTHOGONAL;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-13;
    run fine = composed_run(model, &def);
    run_step(&fine, 1);
    def.projected_rk.projection = HN_PROJECTION_ALONG_JOINTS;
    def.order = order;
    def.projected_rk.fixed_steps = true;
    def.step_size = end / steps;
    run r = composed_run(model, &def);
    run_step(&r, steps);
    double difference = run_difference(&r, &fine);
    run_end(&fine);
    run_end(&r);
    return difference;
}

TEST(projected_rk_eight, free_stages_on_loops_have_the_order_of_the_method)
{
    static const struct {
        int order, steps[2];
        double within; // of order eight the errors are small before they fall evenly
    } CASES[] = {{5, {40, 80}, 0.15}, {5, {80, 160}, 0.15}, {8, {6, 24}, 0.75}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        double errors[2];
        for (int k = 0; k < 2; ++k)
            errors[k] =
                error_of_free_stages("six-body-linkage", CASES[i].order, 0.1, CASES[i].steps[k]);
        double order =
            log(errors[0] / errors[1]) / log((double)CASES[i].steps[1] / CASES[i].steps[0]);
        print_message("order %d: %.3g, %.3g: order %.2f\n", CASES[i].order, errors[0], errors[1],
                      order);
        CHECK_NEAR(order, CASES[i].order, CASES[i].within); // measured 4.89, 4.92, 7.44
    }
}

// Every stage of the paper's projection is brought to the constraints; otherwise the ends of steps alone are.
TEST(projected_rk_eight, loops_project_the_ends_of_steps)
{
    static const char *const MODELS[] = {"six-body-linkage", "bricard", "quadrangle"};
    for (int i = 0; i < 3; ++i)
        for (int planar = 0; planar <= (i == 2 ? 1 : 0); ++planar) {
            double parts[2];
            run ends[2];
            for (int k = 0; k < 2; ++k) {
                hn_simulation_def def = eight(8, 0.2);
                def.projected_rk.projection =
                    k == 0 ? HN_PROJECTION_QUASI_ORTHOGONAL : HN_PROJECTION_ALONG_JOINTS;
                def.projected_rk.impose_energy = false;
                def.projected_rk.dense_output = false;
                def.projected_rk.planar = planar == 1;
                def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-11;
                ends[k] = composed_run(MODELS[i], &def);
                run_step(&ends[k], 1);
                hn_adaptive_statistics s = hn_simulation_adaptive_statistics(ends[k].sim);
                parts[k] = (double)s.projection_count /
                           (double)(s.accepted_step_count + s.rejected_step_count);
            }
            print_message("%s: %.2f and %.2f projections a step, %.2g apart\n", MODELS[i], parts[0],
                          parts[1], run_difference(&ends[0], &ends[1]));
            CHECK(parts[0] > 11.9);
            CHECK_BELOW(parts[1], 2.0); // measured 1.64: a step near a flat position has all
            CHECK_BELOW(run_difference(&ends[0], &ends[1]), 1e-9);
            for (int k = 0; k < 2; ++k) run_end(&ends[k]);
        }
}

TEST(projected_rk_eight, takes_fewer_evaluations_than_order_five_at_narrow_tolerances)
{
    static const char *const MODELS[] = {"chain-revolute", "six-body-linkage"};
    for (int i = 0; i < 2; ++i) {
        int64_t counts[2];
        run ends[2];
        for (int k = 0; k < 2; ++k) {
            hn_simulation_def def = eight(k == 0 ? 5 : 8, 0.2);
            def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = 1e-12;
            ends[k] = composed_run(MODELS[i], &def);
            run_step(&ends[k], 2);
            counts[k] = hn_simulation_adaptive_statistics(ends[k].sim).acceleration_count;
        }
        print_message("%s: %lld and %lld evaluations, %.2g apart\n", MODELS[i],
                      (long long)counts[0], (long long)counts[1],
                      run_difference(&ends[0], &ends[1]));
        CHECK(3 * counts[1] < 2 * counts[0]);                   // measured 0.56 and 0.25 of them
        CHECK_BELOW(run_difference(&ends[0], &ends[1]), 2e-11); // measured 6e-13
        for (int k = 0; k < 2; ++k) run_end(&ends[k]);
    }
}

TEST(projected_rk_eight, keeps_constraints_and_energy_and_goes_on_from_snapshots)
{
    static const char *const MODELS[] = {"chain-revolute", "six-body-linkage", "bricard"};
    for (int i = 0; i < 3; ++i) {
        hn_simulation_def def = composed_def(HN_SCHEME_PROJECTED_RK, 8, 0.05, true);
        run one = composed_run(MODELS[i], &def), other = composed_run(MODELS[i], &def);
        size_t size = hn_simulation_snapshot_size(one.sim);
        char *snapshot = calloc(1, size);
        run_step(&one, 5);
        CHECK_OK(one.context, hn_simulation_save(one.sim, snapshot, size));
        CHECK_OK(other.context, hn_simulation_restore(other.sim, snapshot, size));
        run_step(&one, 5);
        run_step(&other, 5);
        CHECK_BELOW(run_difference(&one, &other), 1e-300);
        hn_ledger ledger;
        hn_constraint_state state;
        CHECK_OK(one.context, hn_simulation_ledger(one.sim, &ledger));
        CHECK_OK(one.context, hn_simulation_constraints(one.sim, &state));
        print_message("%s: energy %.1e, joints %.1e m, level %.1e\n", MODELS[i],
                      ledger.entry[HN_PROMISE_ENERGY].error, ledger.entry[HN_PROMISE_JOINTS].error,
                      state.hidden_momentum);
        CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-12); // measured 1.1e-14
        CHECK_BELOW(ledger.entry[HN_PROMISE_JOINTS].error, 1e-11); // m; measured 9e-13
        CHECK_BELOW(state.hidden_momentum, 1e-11);                 // m/s; measured 4e-13
        free(snapshot);
        run_end(&one);
        run_end(&other);
    }
}
