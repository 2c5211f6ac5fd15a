// SPDX-License-Identifier: MIT
// The null space of a closed chain from that of the open one (LMO 94-96): closure forces on the joints of the tree are
// the range of
// Note: docs/theory/energy-decaying.md
//
//   (G_c(q_w) P_o(q_w))^T = Q_1 R,                                                                             (Z1)
//
// by its QR decomposition; the rest of an orthonormal basis, Z with Z^T Q_1 = 0, is P_ext^c. Z is not formed: Z^T r = 0
// for the residuals r of the joints says that r = Q_1 s.
#ifndef REDUCTIONS_CLOSURE_RANGE_H
#define REDUCTIONS_CLOSURE_RANGE_H

#include "reductions/closures.h"

enum { CLOSURE_RANGE_MAX = 24 }; ///< rows: from there on other ways to solve loops are cheaper

typedef struct closure_range closure_range;

hn_status closure_range_create(hn_system *system, const closures *rows, closure_range **out);
void closure_range_destroy(closure_range *c);

/// (Z1) for the rows that are kept, at the poses q_w. False when they are dependent there.
bool closure_range_find(closure_range *c, const step_equations *equations, const step_data *step);
/// Number of columns of Q_1, and one of them: a number for every degree of freedom of the tree.
int closure_range_count(const closure_range *c);
const double *closure_range_column(const closure_range *c, int k);

/// Residuals of the joints of the tree (LMO 28), r = B^T W, for the wrenches W of all bodies (6 each).
void closure_range_residuals(const closure_range *c, const step_equations *equations, const step_data *step,
                             const double *wrench, double *residuals);
/// Change the multipliers in step->closure such that r vanishes in as many rows as there are multipliers, those where
/// it weighs most for the sizes of the terms that cancel in them (Gauss with complete pivoting). With Z^T r = 0 it then
/// vanishes in all; what round-off leaves of that stays in the rows of the heaviest bodies of the loop, where it is
/// round-off, while the least squares of Q_1^T r = 0 would share it among all.
void closure_range_eliminate(closure_range *c, const double *residuals, const double *sizes, const step_data *step);

#endif
