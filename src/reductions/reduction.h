// SPDX-License-Identifier: MIT
// A reduction solves the equations of a step; it does not know which scheme stated them.
#ifndef REDUCTIONS_REDUCTION_H
#define REDUCTIONS_REDUCTION_H

#include "system/step.h"

enum { NEWTON_HISTORY = 64 };

typedef struct newton_options {
    double residual_tolerance;  ///< of the momentum scale
    double increment_tolerance; ///< rad, m over the system's length
    int iterations_max;
} newton_options;

typedef struct newton_report {
    int iterations;
    double residual;  ///< relative, before the last increment
    double increment; ///< last one
    double history[NEWTON_HISTORY]; ///< relative residuals
    int history_count;
    int worst_body;   ///< tree index of the largest residual
    bool half_turn;        ///< a body would turn by nearly half a turn: not a solution
    int smallest_joint;    ///< joint whose constraints are nearest to dependent, model index; -1: none
    double smallest_pivot; ///< how near: squared sine, roughly
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
    /// Prediction in joint increments (the iterate must lie on the joints) rather than in body increments.
    bool joint_prediction;
} reduction_type;

const reduction_type *reduction_type_of(hn_reduction kind);
extern const reduction_type reduction_reduced;
extern const reduction_type reduction_nullspace;
extern const reduction_type reduction_multipliers;

/// Largest momentum-like quantity of a step, against which residuals are measured: kg m/s.
double newton_momentum_scale(const hn_system *system, const step_equations *equations, const step_data *step);

/// Record a residual; true when it is small enough.
bool newton_note_residual(newton_report *report, const newton_options *options, double residual);

#endif
