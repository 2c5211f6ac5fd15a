// SPDX-License-Identifier: MIT
// A reduction solves the equations of a step; it does not know which scheme stated them.
#ifndef REDUCTIONS_REDUCTION_H
#define REDUCTIONS_REDUCTION_H

#include "reductions/measures.h"
#include "reductions/newton.h"

typedef struct reduction reduction;

/// A way to solve a step: one file each.
typedef struct reduction_type {
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

#endif
