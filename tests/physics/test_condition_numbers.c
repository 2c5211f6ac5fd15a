// SPDX-License-Identifier: MIT
// Condition numbers of the iteration matrix against the published ones (Betsch and Leyendecker 2006, Tables II to IV).
#include "physics/run.h"

#include "physics/condition_tables.h"
#include "physics/mechanism.h"

static double condition_at(const condition_table *table, hn_reduction way, double h)
{
    run r = run_model(table->model, HN_SCHEME_ENERGY_MOMENTUM, way, h, false);
    double condition = 0.0;
    run_step(&r, llround(table->time / h));
    CHECK_EQUAL(hn_simulation_statistics(r.sim).halved_step_count, 0);
    CHECK_OK(r.context, hn_simulation_condition(r.sim, &condition));
    run_end(&r);
    return condition;
}

TEST(condition_numbers, constrained_values_are_the_published_ones)
{
    for (int t = 0; t < CONDITION_TABLE_COUNT; ++t)
        for (int row = 0; row < CONDITION_ROWS; ++row) {
            const condition_table *table = &CONDITION_TABLES[t];
            double ratio = condition_at(table, HN_REDUCTION_MULTIPLIERS, table->step_size[row]) /
                           table->constrained[row];
            print_message("%s, h = %g: %.3g of the published value\n", table->model,
                          table->step_size[row], ratio);
            CHECK_NEAR(ratio, 1.0, 0.1); // measured 0.989 to 1.03
        }
}

// They depend on the instant, which the paper does not give.
TEST(condition_numbers, reduced_values_are_small_for_every_step)
{
    static const double LOW[] = {7.5, 350.0, 700.0}, HIGH[] = {9.0, 370.0, 800.0};
    for (int t = 0; t < CONDITION_TABLE_COUNT; ++t)
        for (int row = 0; row < CONDITION_ROWS; ++row) {
            const condition_table *table = &CONDITION_TABLES[t];
            double condition = condition_at(table, HN_REDUCTION_REDUCED, table->step_size[row]);
            print_message("%s, h = %g: %.4g, published %.3g\n", table->model, table->step_size[row],
                          condition, table->reduced[row]);
            // measured 8.5 to 8.6, 357.7 to 360.3, 712 to 744
            CHECK(condition > LOW[t] && condition < HIGH[t]);
        }
}

// Two bobs that hang at rest on rods of one metre: rows 2 m/h along each circle, one across it.
TEST(condition_numbers, null_space_of_two_resting_pendulums)
{
    static const double MASS[2] = {2.0, 3.0}; // kg
    const double h = 1e-3;
    mechanism m = mechanism_create(2, vec3(0.0, 0.0, 0.0));
    for (int i = 0; i < 2; ++i) {
        hn_vec3 top = {2.0 * i, 0.0, 0.0}, low = {2.0 * i, 0.0, -1.0};
        m.bodies[m.body_count++] = (mechanism_body){.kind = HN_BODY_POINT_MASS,
                                                    .mass = MASS[i],
                                                    .position = low,
                                                    .orientation = AS_IT_IS.turn};
        int rod = mechanism_joint_between(&m, HN_JOINT_DISTANCE, MECHANISM_GROUND, i, top,
                                          vec3(0.0, 0.0, 1.0));
        m.joints[rod].point_b = low;
    }
    mechanism_run x =
        mechanism_begin(&m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_NULLSPACE, h, false);
    double condition = 0.0;
    run_step(&x.r, 1);
    CHECK_OK(x.r.context, hn_simulation_condition(x.r.sim, &condition));
    print_message("%.17g\n", condition);
    CHECK_NEAR(condition / (2.0 * MASS[1] / h), 1.0, 1e-12);
    mechanism_end(&x);
    mechanism_destroy(&m);
}

// A door on two hinges about one oblique axis, after some steps: all rows of the second follow from those of the first
// but for round-off, and the matrices are those of the door on one.
TEST(condition_numbers, rows_that_follow_from_others_do_not_count)
{
    static const char ONE[] =
        "holonom: 1\n"
        "name: Door\n"
        "bodies: {door: {shape: {box: {size: [0.9, 0.04, 2]}}, mass: 30, position: [0.45, 0, 1]}}\n"
        "joints:\n"
        "  low: {revolute: {bodies: [ground, door], at: [0, 0, 0.3], axis: [0.3, 0.5, 0.7]}}\n";
    static const char SECOND[] =
        "  high: {revolute: {bodies: [ground, door], at: [0.6, 1, 1.7], axis: [0.3, 0.5, 0.7]}}\n";
    for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
        double conditions[2];
        for (int hinges = 1; hinges <= 2; ++hinges) {
            char text[1000];
            hn_model *model;
            hn_context *context = hn_context_create(NULL);
            snprintf(text, sizeof text, "%s%s", ONE, hinges == 2 ? SECOND : "");
            CHECK_OK(context, hn_model_parse(context, text, strlen(text), "door", &model));
            run r = run_start(context, model, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)way, 1e-3,
                              false);
            run_step(&r, 100);
            CHECK_OK(context, hn_simulation_condition(r.sim, &conditions[hinges - 1]));
            run_end(&r);
        }
        print_message("%s: %.6g with one hinge, %.3g apart with two\n",
                      hn_reduction_name((hn_reduction)way), conditions[0],
                      conditions[1] / conditions[0] - 1.0);
        CHECK_NEAR(conditions[1] / conditions[0], 1.0, 5e-14); // measured 1.1e-15
    }
}
