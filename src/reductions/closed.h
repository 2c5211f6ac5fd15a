// SPDX-License-Identifier: MIT
// Closed loops for the reduction `reduced`: joint increments of the tree as unknowns, closure multipliers kept.
#ifndef REDUCTIONS_CLOSED_H
#define REDUCTIONS_CLOSED_H

#include "reductions/reduction.h"

typedef struct closed closed;

hn_status closed_create(hn_system *system, closed **out);
void closed_destroy(closed *c);
hn_status closed_solve(closed *c, const step_equations *equations, step_data *step, const newton_options *options,
                       newton_report *report);

/// Condition number of [Z^T P^T K P; G_cut P] in the joint increments (coordinates false; BL Table V), or of
/// [Z^T P^T K; G] in the coordinates (coordinates true), with Z the null space of the closure conditions on the tree
/// (LMO 96). Dense: for reports.
hn_status closed_condition(closed *c, const step_equations *equations, const step_data *step, bool coordinates,
                           double *condition);

#endif
