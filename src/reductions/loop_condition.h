// SPDX-License-Identifier: MIT
// Condition numbers of closed loops, for reports.
#ifndef REDUCTIONS_LOOP_CONDITION_H
#define REDUCTIONS_LOOP_CONDITION_H

#include "system/step.h"

/// Condition number of [Z^T P^T K P; G_cut P] in the joint increments (coordinates false; BL Table V), or of
/// [Z^T P^T K; G] in the coordinates (coordinates true), with Z the null space of the closure conditions on the tree
/// (LMO 96). Dense: for reports. Allocates.
hn_status loop_condition(hn_system *system, const step_equations *equations, const step_data *step, bool coordinates,
                         double *condition);

#endif
