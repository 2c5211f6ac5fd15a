// SPDX-License-Identifier: MIT
// Newton's method: residuals, increments and what they say. Guards say nothing when `residual_tolerance` is zero, which
// asks for an iteration that does not stop.
#include "reductions/newton.h"

void newton_note_loops(newton_report *report, const row_choice *choice)
{
    report->loops = (loop_state){.known = true,
                                 .angle = sqrt(fmax(0.0, choice->smallest_kept)),
                                 .joint = choice->smallest_joint >= 0 ? choice->smallest_joint
                                                                      : choice->dropped_joint,
                                 .dropped = choice->dropped_count};
}

// Record a residual; true when it is small enough.
static bool note_residual(newton_report *report, const newton_options *options, double residual)
{
    report->residual = residual;
    if (report->history_count < NEWTON_HISTORY) report->history[report->history_count++] = residual;
    // a residual that is small beside what a heavy body does may be all that a light one knows
    const double LEVERAGE = 10.0;
    return residual <= options->residual_tolerance &&
           report->leverage * residual <= LEVERAGE * options->residual_tolerance;
}

static bool is_round_off(double residual)
{
    const double ROUND_OFF = 5e-14;
    return residual <= ROUND_OFF;
}

// Is the residual round-off and falls no faster than linearly? Then the solution is found.
static bool is_exhausted(const newton *n)
{
    const double LINEAR = 0.1, LARGEST = 5e-13, FALLING = 0.9;
    if (!n->guards.double_roots || n->options->residual_tolerance == 0.0) return false;
    return (is_round_off(n->reached) && n->reached > LINEAR * n->reached_before) ||
           (n->reached <= LARGEST && n->reached > FALLING * n->reached_before);
}

// Does it grow so much that the increment before was no step towards the solution?
static bool jumps(const newton *n)
{
    const double LARGE = 1e-3, GROWTH = 10.0;
    return n->guards.jumps && n->options->residual_tolerance > 0.0 && n->reached > LARGE &&
           n->reached > GROWTH * n->reached_before;
}

bool newton_goes_on(const newton *n)
{
    if (n->count < n->options->iterations_max) return true;
    bool quarter = n->residual >= 0.2 * n->before && n->residual <= 0.3 * n->before;
    return n->guards.double_roots && quarter && n->options->residual_tolerance > 0.0 &&
           n->count < 3 * n->options->iterations_max;
}

bool newton_takes_residual(newton *n, double residual, double reached)
{
    n->before = n->residual;
    n->reached_before = n->reached;
    n->residual = residual;
    n->reached = reached;
    if (residual < 0.0) n->status = HN_SINGULAR_SYSTEM;
    if (residual < 0.0 || !isfinite(residual)) return false;
    n->found = note_residual(n->report, n->options, residual) || is_exhausted(n);
    if (!n->found && jumps(n)) return false;
    if (n->guards.moves_first && n->count == 0 && residual != 0.0) n->found = false;
    if (n->found) n->status = HN_OK;
    return !n->found || n->guards.solves_last;
}

hn_status newton_stuck(const newton *n)
{
    bool solved = n->guards.double_roots && (n->found || is_round_off(n->reached));
    return solved ? HN_OK : HN_SINGULAR_SYSTEM;
}

bool newton_takes_increment(newton *n, double increment)
{
    newton_report *report = n->report;
    n->contraction = increment / report->increment;
    report->before = report->iterations > 0 ? report->increment : 0.0;
    report->increment = increment;
    if (increment > report->leverage * report->residual)
        report->leverage = increment / report->residual;
    report->largest = fmax(report->largest, increment);
    report->iterations++;
    n->count = report->iterations - n->first;
    return isfinite(increment);
}
