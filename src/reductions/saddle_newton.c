// SPDX-License-Identifier: MIT
// Newton's method on the sparse saddle-point system. Note: docs/theory/closed-loops.md
#include "reductions/saddle_newton.h"

// Of factors that serve again: the tangent they stand for is that of an earlier iterate, and the first one lacks the
// part of the multipliers.
static const double REUSE_BELOW = 1e-6, REUSE_CONTRACTION = 1e-2; // rad, m over the body's length
static const double LEFT_MAX = 1e-16;
// Where bodies move each for itself the first increment puts them on the joints as well, and says little of the
// contraction.
static const double LEFT_MAX_APART = 1e-18;

static hn_status iterate(saddle *s, const step_equations *equations, step_data *step,
                         const newton_options *options, newton_report *report, double freezing,
                         saddle_move move, void *owner)
{
    const bool known = options->go_on || options->continued;
    if (!known) saddle_clear_multipliers(s);
    newton n = newton_begin(options, report,
                            (newton_guards){.jumps = freezing == 0.0 && !options->go_on,
                                            .double_roots = true,
                                            .solves_last = true});
    while (newton_goes_on(&n)) {
        // at a singular solution: multipliers first, then positions
        saddle_freeze(s, n.count == 0 && freezing > 0.0 ? 1.0 : freezing);
        if (n.reuse) saddle_assemble_residual(s, equations, step);
        else saddle_assemble(s, equations, step);
        saddle_residual size = saddle_residual_size(s, step);
        report->worst_body = size.worst_body;
        if (!newton_takes_residual(&n, size.largest, size.reached)) return n.status;
        bool solved = true;
        if (n.reuse) saddle_solve_again(s);
        else solved = saddle_solve(s, &report->worst_body);
        // Multipliers that belong to where the increment would lead leave what it would move in the equations. At a
        // singular solution, and where none were known, they are all that is asked for.
        if (solved && (!n.found || n.count == 0 || freezing > 0.0 || options->go_on))
            saddle_apply_multipliers(s);
        if (!solved || n.found) return solved ? HN_OK : newton_stuck(&n);
        if (!newton_takes_increment(&n, move(owner, step))) return n.status;
        // the first iteration does not know the multipliers, and its tangent lacks their part: it does not count
        bool exact = n.reuse ? newton_is_exact(&n, saddle_is_apart(s) ? LEFT_MAX_APART : LEFT_MAX)
                             : equations->weight == 0.0 || n.count > 1 || known;
        bool small = saddle_is_apart(s) ? newton_bilinear_ends(report, options, size.largest)
                                        : report->increment <= options->increment_tolerance;
        // multipliers all at once: between heavy and light bodies their round-off opens joints by more than it moves
        bool closed = n.count > 1 || saddle_joints_hold(s, step);
        if (exact && small && closed && saddle_rows_hold(s, step)) return HN_OK;
        if (freezing == 0.0) newton_choose_reuse(&n, REUSE_BELOW, REUSE_CONTRACTION);
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
