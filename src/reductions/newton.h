// SPDX-License-Identifier: MIT
// Newton's method as every solver of steps does it: when it ends, how, and what is told of it. The solver has the loop,
//
//   newton n = newton_begin(options, report, guards);
//   while (newton_goes_on(&n)) {
//       evaluate: if (!newton_takes_residual(&n, residual, reached)) break;
//       solve:    if that is singular, return newton_stuck(&n);
//       move:     if (!newton_takes_increment(&n, size)) break;
//       if the increment was the last one, return HN_OK;
//   }
//   return n.status;
//
// and says by guards what can happen to it. Trees have no singular positions and need none.
#ifndef REDUCTIONS_NEWTON_H
#define REDUCTIONS_NEWTON_H

#include "reductions/independent_rows.h"

#include <math.h>

enum { NEWTON_HISTORY = 64 };

/// What is remembered of the independent rows of loops from step to step: a part of the state (closures.h).
typedef struct row_memory {
    bool lasting;         ///< they are far from losing rank and will be for some steps
    int64_t step;         ///< in which they were chosen
    double angle, before; ///< sine of the smallest angle then, and when they were chosen before that
    row_choice choice;
    bool dropped[]; ///< per row
} row_memory;

typedef struct newton_options {
    double residual_tolerance;  ///< of the scales of every body's own equations (measures.h); 0: never small enough
    double increment_tolerance; ///< rad, m over the body's length
    int iterations_max;
    double freezing; ///< part of q_n in the constraints' tangent, for solutions where it is singular; 0: exact tangent
    bool reuse_factors; ///< for last increments, where that is as good (`reduced`)
    bool go_on; ///< statics: multipliers of the last solution are those of the first iterate, and residuals may jump
    bool continued;     ///< the iterate with its multipliers is what the last call found for nearly the same equations
    bool multipliers_known; ///< those of loops are predicted in step->closure (`reduced`)
    bool keep_rows;     ///< the independent rows of loops are those of the last solution, as they were found for it
    row_memory *rows;   ///< `reduced`: rows that last are not chosen anew; NULL: always
    bool rows_anew;     ///< but in this step,
    int64_t step;       ///< which has this number
    bool settle_places_alone; ///< `reduced` on trees: a later step removes what is collected until then
    bool measure_left;  ///< solvers of schemes: measure the residual of the solution as well
} newton_options;

/// How independent the constraints of loops are where a step starts.
typedef struct loop_state {
    bool known;
    double angle; ///< sine of the smallest angle between a row and the rows before it
    int joint;    ///< model joint that it belongs to, or -1
    int dropped;  ///< rows that follow from others
} loop_state;

/// What ended a step without a solution, where it was not Newton's method itself.
typedef enum newton_gave_up {
    GAVE_UP_NEWTON,
    GAVE_UP_HOLDS,   ///< efforts of drives and couplings that hold coordinates
    GAVE_UP_NORMALS, ///< friction by the reaction of its joint
    GAVE_UP_MODES,   ///< friction that slides or sticks, stops that hold or let go
    GAVE_UP_LEVELS,  ///< sweeps over both constraint levels
    GAVE_UP_CHOICE,  ///< several solutions, and no halves that would decide between them
    GAVE_UP_EVENT,   ///< the time at which a latch or stop is reached
    GAVE_UP_INNER,   ///< inner steps of a step_tolerance: the shortest is too long
} newton_gave_up;

typedef struct newton_report {
    int iterations;
    int lagging;      ///< of them, those that were added since lags are not in the tangent
    double residual;  ///< relative, before the last increment
    double increment; ///< last one
    double before;    ///< the one before that, 0: none
    int small;        ///< last ones in a row that were below the tolerance
    double largest;   ///< of them all: how far the iterate came from, at least
    double leverage;  ///< largest increment over the residual that led to it
    double history[NEWTON_HISTORY]; ///< relative residuals
    int history_count;
    int worst_body;   ///< tree index of the largest residual
    double left;      ///< relative residual of the solution, where it was to be measured
    int left_body;    ///< tree index of the body where it is largest
    loop_state loops;
    newton_gave_up gave_up;
    bool spent;            ///< and no halves were made since they cost too much (simulation/step_cost.h)
    int hold;              ///< of holds, normals and events: which one, as simulation->holds counts,
    double off;            ///< and how far it is off: of its unit; or its reaction, N
    bool not_finite;       ///< a residual or an increment is no finite number
    bool half_turn;        ///< a body would turn by nearly half a turn: not a solution
    bool singular;         ///< it failed near a position where constraints lose rank, found by the scheme's own solver:
    int singular_joint;    ///< one of whose constraints do so, of the model
    double singular_angle; ///< rad, of these to the span of the others
    double singular_time;  ///< s
} newton_report;

/// What can happen to an iteration beside converging.
typedef struct newton_guards {
    bool jumps;        ///< a tangent that is singular at the first iterate throws the next one anywhere, also into the
                       ///< reach of another branch of the mechanism: a residual that grows so much ends it
    bool double_roots; ///< the tangent is singular at the solution (a mechanism lands on a singular position):
                       ///< residuals fall to a quarter in an iteration, increments not below the square root of
                       ///< round-off
    bool moves_first;  ///< a prediction is not taken as it is, however well it does, unless nothing is left at all
    bool solves_last;  ///< the system is solved at the solution too: multipliers and factors are needed afterwards
    bool residual_decides; ///< a point is asked for that meets the tolerance, however far increments go: no leverage
} newton_guards;

typedef struct newton {
    const newton_options *options;
    newton_report *report;
    newton_guards guards;
    hn_status status; ///< if it ends here
    int first;        ///< iterations of the report before this one began
    int count;        ///< iterations done
    bool found;       ///< the residual is small enough
    bool reuse;       ///< the next increment is found with the factors at hand
    double residual, before;        ///< the last two
    double reached, reached_before; ///< the same, in units that tell what round-off reaches
    double contraction;             ///< last increment over the one before
} newton;

static inline newton newton_begin(const newton_options *options, newton_report *report, newton_guards guards)
{
    return (newton){.options = options,
                    .report = report,
                    .guards = guards,
                    .status = HN_NOT_CONVERGED,
                    .first = report->iterations,
                    .residual = HUGE_VAL,
                    .before = HUGE_VAL,
                    .reached = HUGE_VAL};
}

// Guards say nothing when `residual_tolerance` is zero, which asks for an iteration that does not stop.

/// Record a residual; true when it is small enough.
static inline bool newton_note_residual(newton_report *report, const newton_options *options, double residual)
{
    report->residual = residual;
    if (report->history_count < NEWTON_HISTORY) report->history[report->history_count++] = residual;
    // a residual that is small beside what a heavy body does may be all that a light one knows
    const double LEVERAGE = 10.0;
    return residual <= options->residual_tolerance &&
           report->leverage * residual <= LEVERAGE * options->residual_tolerance;
}

static inline bool newton_is_round_off(double residual)
{
    const double ROUND_OFF = 5e-14;
    return residual <= ROUND_OFF;
}

/// Is the residual round-off and falls no faster than linearly? Then the solution is found.
static inline bool newton_is_exhausted(const newton *n)
{
    const double LINEAR = 0.1, LARGEST = 5e-13, FALLING = 0.9;
    if (!n->guards.double_roots || n->options->residual_tolerance == 0.0) return false;
    return (newton_is_round_off(n->reached) && n->reached > LINEAR * n->reached_before) ||
           (n->reached <= LARGEST && n->reached > FALLING * n->reached_before);
}

/// Does it grow so much that the increment before was no step towards the solution?
static inline bool newton_jumps(const newton *n)
{
    const double LARGE = 1e-3, GROWTH = 10.0;
    return n->guards.jumps && n->options->residual_tolerance > 0.0 && n->reached > LARGE &&
           n->reached > GROWTH * n->reached_before;
}

/// Another iteration: up to iterations_max, or three times that while residuals fall as at a double root.
static inline bool newton_goes_on(const newton *n)
{
    if (n->count < n->options->iterations_max) return true;
    bool quarter = n->residual >= 0.2 * n->before && n->residual <= 0.3 * n->before;
    return n->guards.double_roots && quarter && n->options->residual_tolerance > 0.0 &&
           n->count < 3 * n->options->iterations_max;
}

/// The residual of the iterate, relative; negative: its tangent is singular. `reached`: what guards look at, mostly the
/// same. False: it ends with n->status; when it is found it goes on once more with `solves_last`.
static inline bool newton_takes_residual(newton *n, double residual, double reached)
{
    n->before = n->residual;
    n->reached_before = n->reached;
    n->residual = residual;
    n->reached = reached;
    if (residual < 0.0) n->status = HN_SINGULAR_SYSTEM;
    if (!isfinite(residual)) n->report->not_finite = true;
    if (residual < 0.0 || !isfinite(residual)) return false;
    n->found = newton_note_residual(n->report, n->options, residual) || newton_is_exhausted(n);
    if (!n->found && newton_jumps(n)) return false;
    if (n->guards.moves_first && n->count == 0 && residual != 0.0) n->found = false;
    if (n->found) n->status = HN_OK;
    return !n->found || n->guards.solves_last;
}

/// The increment cannot be found: the solution is, where its tangent may be singular and round-off is left.
static inline hn_status newton_stuck(const newton *n)
{
    bool solved = n->guards.double_roots && (n->found || newton_is_round_off(n->reached));
    return solved ? HN_OK : HN_SINGULAR_SYSTEM;
}

/// The size of an increment, rad and m over the body's length. False: it is not finite.
static inline bool newton_takes_increment(newton *n, double increment)
{
    newton_report *report = n->report;
    n->contraction = increment / report->increment;
    report->before = report->iterations > 0 ? report->increment : 0.0;
    report->increment = increment;
    if (!n->guards.residual_decides && increment > report->leverage * report->residual)
        report->leverage = increment / report->residual;
    report->largest = fmax(report->largest, increment);
    report->iterations++;
    n->count = report->iterations - n->first;
    if (!isfinite(increment)) report->not_finite = true;
    return isfinite(increment);
}

/// What is left after an increment with old factors is about its product with the contraction, and so it is with the
/// residual: is the first below `left`, the second below a tenth of the ledger's bound? The first one with them knows
/// the contraction of the one before, with factors of its own: theirs is the way since they were found.
static inline bool newton_is_exact(const newton *n, double left)
{
    const double RESIDUAL_LEFT = 1e-13;
    double contraction = fmax(n->contraction, n->report->before);
    return !n->reuse || (n->contraction * n->report->increment <= left &&
                         contraction * n->residual <= RESIDUAL_LEFT);
}

/// Factors serve again near the solution, from increments below `below` on, while they shorten them by `contraction`.
static inline void newton_choose_reuse(newton *n, double below, double contraction)
{
    n->reuse = n->options->reuse_factors && n->report->increment <= below &&
               (!n->reuse || n->contraction <= contraction);
}

/// Does the last increment end an iteration? Its part of the one before, squared, is what the next is of it, and
/// what is left of the residual: an increment small beside the body may be large beside what a light one between
/// heavy ones moves. Where round-off keeps residuals from falling some small increments are enough.
static inline bool newton_increment_ends(newton_report *report, const newton_options *options, double residual)
{
    enum { SMALL_MAX = 3 };
    const double LEFT_MAX = 1e-13; // of a body's equation: a tenth of the bound of the ledger
    const double LOOSE = 1e-8;     // a tolerance that asks for no such care
    if (!(report->increment <= options->increment_tolerance)) {
        report->small = 0;
        return false;
    }
    report->small++;
    if (options->increment_tolerance > LOOSE || report->small >= SMALL_MAX || report->before == 0.0) return true;
    double fall = report->increment / report->before;
    return residual * fall * fall <= LEFT_MAX;
}

/// The same where the unknowns are multipliers as well, in which equations are bilinear: what is left is at least the
/// increment times that of the multipliers, which is of the size of the residual before. The first does not know
/// the multipliers and does not count: what it leaves, the same in every step of a steady motion, would add up.
static inline bool newton_bilinear_ends(newton_report *report, const newton_options *options, double residual)
{
    const double LEFT_MAX = 1e-15, LOOSE = 1e-8; // of a body's equation; as above
    if (!newton_increment_ends(report, options, residual)) return false;
    if (options->increment_tolerance > LOOSE) return true;
    return report->iterations > 1 && report->increment * residual <= LEFT_MAX;
}

/// Record how independent the constraints of loops are.
static inline void newton_note_loops(newton_report *report, const row_choice *choice)
{
    int nearest = choice->smallest_joint >= 0 ? choice->smallest_joint : choice->dropped_joint;
    report->loops = (loop_state){.known = true,
                                 .angle = sqrt(fmax(0.0, choice->smallest_kept)),
                                 .joint = nearest,
                                 .dropped = choice->dropped_count};
}

#endif
