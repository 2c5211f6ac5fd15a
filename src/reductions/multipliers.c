// SPDX-License-Identifier: MIT
// Reduction `multipliers`: n + m unknowns, coordinates and Lagrange multipliers.
// Note: docs/theory/multipliers.md
//
//   (M1)  rho(q) + sigma G(q_w)^T lambda = 0,   g(q) = 0                                    (LMO 22, BL 10)
//
// solved by Newton's method with the matrix (M2) of saddle.h. Of the constraints of loops an independent set is chosen
// on the manifold at q_n (LMO Remark 5.4); the others are checked after the step.
#include "reductions/condition.h"
#include "reductions/saddle_newton.h"

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
    if (status == HN_OK) *out = r;
    else multipliers_destroy(r);
    return status;
}

// add the coordinates of the last solution to the iterate; returns the size of the increment
static double move(void *owner, step_data *step)
{
    reduction *r = owner;
    const hn_system *system = r->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        double change[POSE_SIZE];
        saddle_body_increment(r->saddle, i, change);
        double size = measure_move(system, step, i, change);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

static hn_status multipliers_solve(reduction *r, const step_equations *equations, step_data *step,
                                   const newton_options *options, newton_report *report)
{
    newton_options exact = *options;
    exact.reuse_factors = false; // the plain way to solve a step, to compare others with
    TRY(saddle_newton(r->saddle, equations, step, &exact, report, move, r));
    for (int i = 0; i < r->system->body_count; ++i) step_body_from_delta(r->system, step, i);
    return HN_OK;
}

static hn_status multipliers_condition(reduction *r, const step_equations *equations,
                                       step_data *step, double *condition)
{
    return iteration_condition(r->system, equations, step, CONDITION_MULTIPLIERS, condition);
}

static int multipliers_unknown_count(const hn_system *system)
{
    return system->coordinate_count + system->constraint_count;
}

static const char *multipliers_loops(const reduction *r)
{
    return r->system->cut_count > 0 ? LOOPS_SPARSE : "";
}

const reduction_type reduction_multipliers = {
    .create = multipliers_create,
    .destroy = multipliers_destroy,
    .solve = multipliers_solve,
    .condition = multipliers_condition,
    .unknown_count = multipliers_unknown_count,
    .loops = multipliers_loops,
    .joint_prediction = false,
};
