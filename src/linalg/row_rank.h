// SPDX-License-Identifier: MIT
// Which constraint rows depend on others: decided block by block, while a factorisation eliminates them.
#ifndef LINALG_ROW_RANK_H
#define LINALG_ROW_RANK_H

#include <stdbool.h>

/// A pivot below this part of an independent one (a squared sine; an eigenvalue of G G^T to the largest) belongs to a
/// dependent row.
static const double DEPENDENT_PIVOT = 1e-11;

enum { ROW_RANK_MAX = 6 }; ///< rows of a block

/// What a factorisation says about the rank of rows.
typedef struct row_rank {
    double tolerance; ///< a pivot below this part of its scale belongs to a row that depends on others
    bool *dropped;    ///< per row: set to true for these
    // pivots over their scale: what is there already counts
    double smallest_kept, largest_dropped;
    int smallest_node, largest_dropped_node; ///< blocks where they are
} row_rank;

/// Decide on the `n` rows of a block, the first of which is row `first`: symmetric elimination with the largest
/// relative pivot first; what is left when pivots get small is dependent. `block`: n x n, positive semidefinite, what
/// earlier blocks leave of it; it is lost. `scale`: size of an independent pivot, per row of the block.
void row_rank_decide(row_rank *rank, int node, int first, int n, const double *scale, double *block);

#endif
