// SPDX-License-Identifier: MIT
// A reduction solves the equations of a step; it does not know which scheme stated them.
#ifndef REDUCTIONS_REDUCTION_H
#define REDUCTIONS_REDUCTION_H

#include "reductions/independent_rows.h"
#include "reductions/measures.h"

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
    bool half_turn;        ///< a body would turn by nearly half a turn: not a solution
    bool singular;         ///< it failed near a position where constraints lose rank, found by the scheme's own solver:
    int singular_joint;    ///< one of whose constraints do so, of the model
    double singular_angle; ///< rad, of these to the span of the others
    double singular_time;  ///< s
} newton_report;

typedef struct reduction reduction;

/// A way to solve a step: one file each.
typedef struct reduction_type {
    const char *name;
    /// Take all work memory.
    hn_status (*create)(hn_system *system, reduction **out);
    void (*destroy)(reduction *r);
    /// Solve (S1) from the iterate in `step`. @return HN_OK, HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM (no message is set)
    hn_status (*solve)(reduction *r, const step_equations *equations, step_data *step, const newton_options *options,
                       newton_report *report);
    /// 2-norm condition number of the iteration matrix at the solved step, as the papers form it. Allocates.
    hn_status (*condition)(reduction *r, const step_equations *equations, step_data *step, double *condition);
    /// Number of unknowns as the papers count them.
    int (*unknown_count)(const hn_system *system);
    /// How closed loops are solved, in words; "" in a tree.
    const char *(*loops)(const reduction *r);
    /// Prediction in joint increments (the iterate must lie on the joints) rather than in body increments.
    bool joint_prediction;
} reduction_type;

/// What `loops` says of the system of saddle.h.
#define LOOPS_SPARSE "by the sparse system of bodies and joints"

const reduction_type *reduction_type_of(hn_reduction kind);
extern const reduction_type reduction_reduced;
extern const reduction_type reduction_nullspace;
extern const reduction_type reduction_multipliers;

/// Record the size of an increment.
static inline void newton_note_increment(newton_report *report, double increment)
{
    report->before = report->iterations > 0 ? report->increment : 0.0;
    report->increment = increment;
    if (increment > report->leverage * report->residual) report->leverage = increment / report->residual;
    report->largest = fmax(report->largest, increment);
    report->iterations++;
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
void newton_note_loops(newton_report *report, const row_choice *choice);

/// Record a residual; true when it is small enough.
bool newton_note_residual(newton_report *report, const newton_options *options, double residual);

// Where the tangent is singular at the solution (a mechanism that lands on a singular position) the root is double:
// residuals fall to a quarter in an iteration, increments not below the square root of round-off. The following know
// such roots; they say nothing when `residual_tolerance` is zero, which asks for an iteration that does not stop.

/// Is a relative residual as small as round-off makes it?
bool newton_is_round_off(double residual);

/// Is the residual round-off and falls no faster than linearly? Then the solution is found.
bool newton_is_exhausted(double residual, double before, const newton_options *options);

/// Another iteration: up to iterations_max, or three times that while residuals fall as at a double root.
bool newton_goes_on(double residual, double before, int iterations, const newton_options *options);

/// Does a residual grow so much that the increment before was no step towards the solution? A tangent that is singular
/// at the first iterate throws the next one anywhere, also into the reach of another branch of the mechanism.
bool newton_jumps(double residual, double before, const newton_options *options);

#endif
