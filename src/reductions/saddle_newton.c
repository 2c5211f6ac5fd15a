// SPDX-License-Identifier: MIT
// Newton's method on the sparse saddle-point system. Note: docs/theory/closed-loops.md
#include "reductions/saddle_newton.h"

// Factors serve again near the solution, while they shorten the increment by so much each time: the tangent they stand
// for is that of an earlier iterate, and the first one lacks the part of the multipliers. What is left after the last
// increment is then about its product with the contraction.
static const double REUSE_BELOW = 1e-6, REUSE_CONTRACTION = 1e-2; // rad, m over the body's length
static const double LEFT_MAX = 1e-16;
// Where bodies move each for itself the first increment puts them on the joints as well, and says little of the
// contraction.
static const double LEFT_MAX_APART = 1e-18;

static hn_status iterate(saddle *s, const step_equations *equations, step_data *step,
                         const newton_options *options, newton_report *report, double freezing,
                         saddle_move move, void *owner)
{
    if (!(options->go_on || options->continued)) saddle_clear_multipliers(s);
    int first = report->iterations, count = 0;
    double residual = HUGE_VAL, before = HUGE_VAL, contraction = 0.0, reached = HUGE_VAL;
    bool reuse = false;
    for (; newton_goes_on(residual, before, count, options); count = report->iterations - first) {
        double reached_before = reached;
        before = residual;
        // at a singular solution: multipliers first, then positions
        saddle_freeze(s, count == 0 && freezing > 0.0 ? 1.0 : freezing);
        if (reuse) saddle_assemble_residual(s, equations, step);
        else saddle_assemble(s, equations, step);
        saddle_residual size = saddle_residual_size(s, step);
        residual = size.largest, reached = size.reached;
        report->worst_body = size.worst_body;
        if (!isfinite(residual)) return HN_NOT_CONVERGED;
        bool converged = newton_note_residual(report, options, residual) ||
                         newton_is_exhausted(reached, reached_before, options);
        if (!converged && freezing == 0.0 && !options->go_on &&
            newton_jumps(reached, reached_before, options))
            return HN_NOT_CONVERGED;
        // also then: multipliers and factors are needed afterwards
        bool solved = true;
        if (reuse) saddle_solve_again(s);
        else solved = saddle_solve(s, &report->worst_body);
        if (solved) saddle_apply_multipliers(s);
        if (converged) return HN_OK;
        if (!solved) return newton_is_round_off(reached) ? HN_OK : HN_SINGULAR_SYSTEM;
        double last = report->increment;
        newton_note_increment(report, move(owner, step));
        if (!isfinite(report->increment)) return HN_NOT_CONVERGED;
        // the first iteration does not know the multipliers, and its tangent lacks their part: it does not count
        bool exact = equations->weight == 0.0 || count > 0 || options->go_on || options->continued;
        bool small = saddle_is_apart(s) ? newton_bilinear_ends(report, options, residual)
                                        : report->increment <= options->increment_tolerance;
        if (reuse) {
            contraction = report->increment / last;
            exact =
                contraction * report->increment <= (saddle_is_apart(s) ? LEFT_MAX_APART : LEFT_MAX);
        }
        // multipliers all at once: between heavy and light bodies their round-off opens joints by more than it moves
        bool closed = count > 0 || saddle_joints_hold(s, step);
        if (exact && small && closed && saddle_rows_hold(s, step)) return HN_OK;
        reuse = options->reuse_factors && freezing == 0.0 && report->increment <= REUSE_BELOW &&
                (!reuse || contraction <= REUSE_CONTRACTION);
    }
    return HN_NOT_CONVERGED;
}

hn_status saddle_newton(saddle *s, const step_equations *equations, step_data *step,
                        const newton_options *options, newton_report *report, saddle_move move,
                        void *owner)
{
    saddle_choice choice;
    newton_options afresh = *options;
    afresh.continued = false;
    TRY(options->keep_rows ? saddle_keep_rows(s, step->q_start, &choice)
                           : saddle_choose_rows(s, step->q_start, &choice));
    newton_note_loops(report, &choice);
    hn_status status = iterate(s, equations, step, options, report, options->freezing, move, owner);
    while (status == HN_OK && choice.dropped_count > 0 && saddle_restore_rows(s, step->q)) {
        // the rank went up within the step: with the violated rows as equations
        status = iterate(s, equations, step, &afresh, report, 0.0, move, owner);
    }
    if (status == HN_NOT_CONVERGED && isfinite(report->increment) &&
        saddle_restore_rank(s, step->q, choice.dropped_count)) {
        // likewise, where rows left out at q_n keep the iterate from closing the others
        status = iterate(s, equations, step, &afresh, report, 0.0, move, owner);
    }
    if (status == HN_OK) saddle_store_closure(s, equations, step);
    return status;
}
