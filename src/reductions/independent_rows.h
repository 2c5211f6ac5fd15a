// SPDX-License-Identifier: MIT
// Which constraint rows of joints on loops are independent at a configuration. Note: docs/theory/closed-loops.md
//
//   G S G^T                                                                                                    (C6)
//
// with the metric S^-1 of loop_joints.h is positive semidefinite and eliminated joint by joint; a pivot is the squared
// sine of the angle between a row and the rows before it, and zero when it follows from them. Joints on no loop are
// independent of all others and play no part.
#ifndef REDUCTIONS_INDEPENDENT_ROWS_H
#define REDUCTIONS_INDEPENDENT_ROWS_H

#include "reductions/joint_blocks.h"

typedef struct independent_rows independent_rows;

/// How the independent rows of a step were found.
typedef struct row_choice {
    int dropped_count;
    double smallest_kept;   ///< squared sine of the angle to the rows before
    double largest_dropped;
    int smallest_joint;     ///< model joint of the smallest kept pivot, -1: none
    int dropped_joint;      ///< model joint of the largest dropped one, -1: none
} row_choice;

/// For the joints that are blocks of their own, in this order. `sequence` says on which of them to decide first: rows
/// that depend on others stand in later ones; NULL: any.
hn_status independent_rows_create(hn_system *system, const joint_place *joints, int joint_count, const int *sequence,
                                  independent_rows **out);
void independent_rows_destroy(independent_rows *r);

/// Decide at the poses q, a configuration on the manifold. `dropped` has a place for every row of these joints.
/// @return HN_OK or HN_SINGULAR_SYSTEM
hn_status independent_rows_choose(independent_rows *r, const double *q, row_choice *choice, bool *dropped);

#endif
