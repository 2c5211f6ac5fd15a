// SPDX-License-Identifier: MIT
// Condition numbers of the iteration matrices, as the papers form them.
#ifndef REDUCTIONS_CONDITION_H
#define REDUCTIONS_CONDITION_H

#include "system/step.h"

/// With Z the null space of the closure conditions on the tree (LMO 96), all of it without loops, and of rows of loops
/// those that depend on others left out:
typedef enum condition_unknowns {
    CONDITION_JOINTS,      ///< [Z^T P^T K P; G_cut P] in the joint increments (BL Table V)
    CONDITION_COORDINATES, ///< [Z^T P^T K; G] in the coordinates
    CONDITION_MULTIPLIERS, ///< [K, sigma G^T; G, 0] in coordinates and multipliers
} condition_unknowns;

/// 2-norm condition number at a solved step. Dense: for reports. Allocates.
hn_status iteration_condition(hn_system *system, const step_equations *equations, const step_data *step,
                              condition_unknowns unknowns, double *condition);

#endif
