// SPDX-License-Identifier: MIT
// Reduction `multipliers`: n + m unknowns, coordinates and Lagrange multipliers.
// Note: docs/theory/multipliers.md
//
//   (M1)  rho(q) + sigma G(q_w)^T lambda = 0,   g(q) = 0                                    (LMO 22, BL 10)
//
// solved by Newton's method with the matrix (M2) of saddle.h. Of the constraints of loops an independent set is chosen
// on the manifold at q_n (LMO Remark 5.4); the others are checked after the step.
#include "reductions/saddle.h"

#include <string.h>

struct reduction {
    hn_system *system;
    saddle *saddle;
};

static void multipliers_destroy(reduction *r)
{
    if (r == NULL) return;
    saddle_destroy(r->saddle);
    context_release(r->system->context, r);
}

static hn_status multipliers_create(hn_system *system, reduction **out)
{
    *out = NULL;
    reduction *r = context_allocate(system->context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    r->system = system;
    hn_status status = saddle_create(system, SADDLE_COORDINATES, &r->saddle);
    if (status != HN_OK) {
        multipliers_destroy(r);
        return status;
    }
    *out = r;
    return HN_OK;
}

// add the coordinates of the last solution to the iterate; returns the size of the increment
static double apply_increment(reduction *r, const step_data *step)
{
    const hn_system *system = r->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        double change[POSE_SIZE];
        size_t at = POSE_SIZE * (size_t)i;
        saddle_body_increment(r->saddle, i, change);
        for (int k = 0; k < POSE_SIZE; ++k) {
            step->delta[at + (size_t)k] += change[k];
            step->q[at + (size_t)k] = step->q_start[at + (size_t)k] + step->delta[at + (size_t)k];
            double size = fabs(change[k]) / (k < 3 ? system->length : 1.0);
            if (!(size <= largest)) largest = size;
        }
    }
    return largest;
}

static hn_status iterate(reduction *r, const step_equations *equations, step_data *step,
                         const newton_options *options, newton_report *report, double scale)
{
    saddle_clear_multipliers(r->saddle);
    int first = report->iterations;
    while (report->iterations - first < options->iterations_max) {
        saddle_assemble(r->saddle, equations, step);
        double residual = saddle_residual_size(r->saddle, equations, scale, &report->worst_body);
        if (!isfinite(residual)) return HN_NOT_CONVERGED;
        if (newton_note_residual(report, options, residual)) return HN_OK;
        if (!saddle_solve(r->saddle, &report->worst_body)) return HN_SINGULAR_SYSTEM;
        saddle_apply_multipliers(r->saddle);
        report->increment = apply_increment(r, step);
        report->iterations++;
        if (!isfinite(report->increment)) return HN_NOT_CONVERGED;
        // the first iteration does not know the multipliers, and its tangent lacks their part: it does not count
        bool exact = equations->weight == 0.0 || report->iterations - first > 1;
        if (exact && report->increment <= options->increment_tolerance) return HN_OK;
    }
    return HN_NOT_CONVERGED;
}

static hn_status multipliers_solve(reduction *r, const step_equations *equations, step_data *step,
                                   const newton_options *options, newton_report *report)
{
    double scale = newton_momentum_scale(r->system, equations, step);
    saddle_choice choice;
    TRY(saddle_choose_rows(r->saddle, step->q_start, &choice));
    report->smallest_joint = choice.smallest_joint;
    report->smallest_pivot = choice.smallest_kept;
    TRY(iterate(r, equations, step, options, report, scale));
    while (choice.dropped_count > 0 && saddle_restore_rows(r->saddle, step->q)) {
        // the rank went up within the step: with the violated rows as equations
        TRY(iterate(r, equations, step, options, report, scale));
    }
    saddle_store_closure(r->saddle, equations, step);
    for (int i = 0; i < r->system->body_count; ++i) step_body_from_delta(r->system, step, i);
    return HN_OK;
}

static hn_status multipliers_condition(reduction *r, const step_equations *equations,
                                       step_data *step, double *condition)
{
    return saddle_condition(r->saddle, equations, step, condition);
}

static int multipliers_unknown_count(const hn_system *system)
{
    return system->coordinate_count + system->constraint_count;
}

const reduction_type reduction_multipliers = {
    .name = "multipliers",
    .create = multipliers_create,
    .destroy = multipliers_destroy,
    .solve = multipliers_solve,
    .condition = multipliers_condition,
    .unknown_count = multipliers_unknown_count,
    .joint_prediction = false,
};
