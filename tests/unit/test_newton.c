// SPDX-License-Identifier: MIT
// Newton's iteration converges quadratically for every joint, scheme and reduction, and is short where motion is
// smooth.
#include "simulation/simulation.h"

#include "support/check.h"
#include "support/generic_models.h"
#include "unit/disturbed_step.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 9 };
// residuals below this are round-off, relative to the momenta in the step
static const double FLOOR = 1e3 * DBL_EPSILON;
static const double CONSTANT_MAX = 20.0;
static const double CONSTANT_AT_END_MAX =
    100.0; // generalized-alpha; linear convergence would show 1e8

typedef struct convergence {
    double constant; // largest r_k+1/r_k^2 above the floor
    int iterations;  // until the residual is below the floor
    double last;     // what remains in the end
} convergence;

// Residuals of an iteration that starts away from the solution of the first step and is never told to stop.
static convergence converge(hn_context *context, const hn_model *model, hn_scheme scheme,
                            hn_reduction way, double away)
{
    const double h = 0.05;
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = h;
    hn_simulation *s = NULL;
    CHECK_OK(context, hn_simulation_create(model, &def, &s));
    CHECK_OK(context, simulation_solve_ahead(s, h, 0.0, true));
    solved_step *step = &s->steps[s->ahead];
    disturb(s->system, &step->data, away);
    step_element_forces(s->system, &step->equations, &step->data);
    const newton_options options = {.increment_tolerance = 1e-300, .iterations_max = ITERATIONS};
    newton_report report = {0};
    (void)s->reduction_kind->solve(s->reduction, &step->equations, &step->data, &options, &report);
    const double *norms = report.history;
    CHECK_EQUAL(report.history_count, ITERATIONS);
    convergence found = {.last = norms[ITERATIONS - 1]};
    while (found.iterations < ITERATIONS && norms[found.iterations] > FLOOR) found.iterations++;
    for (int k = 0; k + 1 < found.iterations; ++k)
        found.constant = fmax(found.constant, norms[k + 1] / (norms[k] * norms[k]));
    const char *verbose = getenv("HN_TEST_VERBOSE");
    if (verbose != NULL && verbose[0] == '2') {
        printf("      %-16s %-11s:", hn_scheme_name(scheme), hn_reduction_name(way));
        for (int k = 0; k < ITERATIONS; ++k) printf(" %.1e", norms[k]);
        printf("\n");
    }
    hn_simulation_destroy(s);
    return found;
}

// r_k+1 <= C r_k^2 with one C for all; HN_TEST_VERBOSE=2 shows all residuals.
TEST(newton, converges_quadratically_for_every_joint_scheme_and_reduction)
{
    hn_context *context = hn_context_create(NULL);
    double constant = 0.0, last = 0.0;
    int fewest = ITERATIONS;
    for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind)
        for (int variant = 0; variant < 3; ++variant) {
            generic_chain chain = {.kind = (hn_joint_kind)kind,
                                   .grounded = variant == 1,
                                   .springs = variant == 2,
                                   .speed = 1.0,
                                   .seed = 300 + (uint64_t)kind};
            hn_model *model = generic_chain_model(context, &chain);
            // a single free body is so nearly linear that it needs a longer way to show four iterations
            double far = kind == HN_JOINT_FREE || kind == HN_JOINT_FIXED ? 0.7 : 0.1;
            for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme)
                for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
                    // where forces act at the end of the step far starts are out of reach of Newton's method:
                    // a near one, with fewer iterations to see
                    bool at_end = scheme == HN_SCHEME_GENERALIZED_ALPHA;
                    double away = at_end ? fmin(far, 0.03) : far;
                    convergence found =
                        converge(context, model, (hn_scheme)scheme, (hn_reduction)way, away);
                    bool good = found.constant <= (at_end ? CONSTANT_AT_END_MAX : CONSTANT_MAX) &&
                                found.last <= FLOOR && found.iterations >= (at_end ? 3 : 4);
                    if (!good)
                        print_error("%s, variant %d, %s, %s: C = %.3g, %d iterations, left %.2g\n",
                                    hn_joint_kind_name((hn_joint_kind)kind), variant,
                                    hn_scheme_name((hn_scheme)scheme),
                                    hn_reduction_name((hn_reduction)way), found.constant,
                                    found.iterations, found.last);
                    CHECK(good);
                    if (!at_end) constant = fmax(constant, found.constant);
                    last = fmax(last, found.last);
                    if (!at_end && found.iterations < fewest) fewest = found.iterations;
                }
            hn_model_destroy(model);
        }
    CHECK_BELOW(constant, CONSTANT_MAX); // measured 8.7
    CHECK_BELOW(last, FLOOR);            // measured 3.6e-16
    CHECK(fewest >= 4);
    hn_context_destroy(context);
}

static double iterations_per_step(hn_context *context, const char *path, hn_scheme scheme,
                                  hn_reduction way, double h, int steps)
{
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_model_load(context, path, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = h;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    CHECK_OK(context, hn_simulation_step(simulation, steps));
    hn_statistics statistics = hn_simulation_statistics(simulation);
    CHECK_EQUAL(statistics.step_count, steps);
    CHECK(statistics.newton_iteration_max >= statistics.last_iteration_count);
    CHECK_EQUAL(statistics.halved_step_count, 0);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return (double)statistics.newton_iteration_count / steps;
}

TEST(newton, needs_two_iterations_where_motion_is_smooth)
{
    hn_context *context = hn_context_create(NULL);
    const char *path = HN_SOURCE_DIR "/models/free-tree.yaml";
    for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way)
            // measured 1.98 to 2.09; with velocities in turn 3.2 to 5.0
            CHECK_BELOW(
                iterations_per_step(context, path, (hn_scheme)scheme, (hn_reduction)way, 1e-3, 500),
                scheme == HN_SCHEME_GGL_ENERGY_MOMENTUM ? 5.4 : 2.2);
    hn_context_destroy(context);
}

// Solutions of the first step from iterates at a distance of 1e-7 to 1e-4, with factors used again for the last
// increment and without: the same to round-off, and in as many iterations.
TEST(newton, is_as_good_with_factors_used_again)
{
    const double h = 0.05;
    hn_context *context = hn_context_create(NULL);
    double difference = 0.0, left = 0.0;
    for (int kind = 0; kind < ROW_JOINT_KIND_COUNT; ++kind)
        for (int variant = 0; variant < 3; ++variant)
            for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme)
                for (double away = 1e-7; away < 2e-4; away *= 10.0) {
                    generic_chain chain = {.kind = (hn_joint_kind)kind,
                                           .grounded = variant == 1,
                                           .springs = variant == 2,
                                           .speed = 1.0,
                                           .seed = 500 + (uint64_t)kind};
                    hn_model *model = generic_chain_model(context, &chain);
                    hn_simulation_def def = hn_simulation_def_default();
                    def.scheme = (hn_scheme)scheme;
                    def.step_size = h;
                    double q[2][3 * POSE_SIZE] = {{0.0}};
                    int iterations[2];
                    for (int reuse = 0; reuse < 2; ++reuse) {
                        hn_simulation *s = NULL;
                        CHECK_OK(context, hn_simulation_create(model, &def, &s));
                        CHECK_OK(context, simulation_solve_ahead(s, h, 0.0, true));
                        solved_step *step = &s->steps[s->ahead];
                        disturb(s->system, &step->data, away);
                        step_element_forces(s->system, &step->equations, &step->data);
                        newton_options options = {.residual_tolerance = 1e-16,
                                                  .increment_tolerance = 1e-10,
                                                  .iterations_max = 20,
                                                  .reuse_factors = reuse == 1};
                        newton_report report = {0};
                        CHECK_OK(context, s->reduction_kind->solve(s->reduction, &step->equations,
                                                                   &step->data, &options, &report));
                        iterations[reuse] = report.iterations;
                        CHECK_EQUAL(s->system->body_count, 3);
                        for (int k = 0; k < 3 * POSE_SIZE; ++k) q[reuse][k] = step->data.q[k];
                        // what is left of the residual
                        options.iterations_max = 1;
                        report = (newton_report){0};
                        (void)s->reduction_kind->solve(s->reduction, &step->equations, &step->data,
                                                       &options, &report);
                        left = fmax(left, report.history[0]);
                        hn_simulation_destroy(s);
                    }
                    CHECK(iterations[1] <= iterations[0] + 1);
                    for (int k = 0; k < 3 * POSE_SIZE; ++k)
                        difference = fmax(difference, fabs(q[1][k] - q[0][k]));
                    hn_model_destroy(model);
                }
    CHECK_BELOW(difference, 1e-14); // m, directors; measured 2.5e-16
    CHECK_BELOW(left, FLOOR);       // measured 6.7e-16
    hn_context_destroy(context);
}

// After an increment a thousand times the residual that led to it the next residual is small enough for a step only
// where what it may still move is small as well; a projection asks for the residual alone.
TEST(newton, leverage_counts_unless_the_residual_decides)
{
    const newton_options options = {.residual_tolerance = 1e-10, .iterations_max = 5};
    for (int decides = 0; decides < 2; ++decides)
        for (int small = 0; small < 2; ++small) {
            newton_report report = {0};
            newton n =
                newton_begin(&options, &report, (newton_guards){.residual_decides = decides == 1});
            CHECK(newton_takes_residual(&n, 1e-6, 1e-6));
            CHECK(newton_takes_increment(&n, 1e-3));
            double residual = small == 1 ? 0.9e-12 : 0.9e-10;
            bool ends = !newton_takes_residual(&n, residual, residual);
            CHECK_EQUAL(ends, decides == 1 || small == 1);
            CHECK_EQUAL(n.status, ends ? HN_OK : HN_NOT_CONVERGED);
        }
}
