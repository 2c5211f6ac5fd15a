// SPDX-License-Identifier: MIT
// Sparse block Cholesky: symmetric positive definite matrices of small dense blocks on a graph, such as the constraints
// of joints in the metric of the bodies between them. Analysed once, factored again and again without allocation.
#ifndef LINALG_BLOCK_CHOLESKY_H
#define LINALG_BLOCK_CHOLESKY_H

#include "base/context.h"
#include "linalg/row_rank.h"

typedef struct block_cholesky block_cholesky;

/// Analyse: `sizes` of the nodes, at most BLOCK_CHOLESKY_ROWS_MAX each, pairs of coupled nodes (either order, no self
/// edges, repeats allowed), `order` of elimination.
enum { BLOCK_CHOLESKY_ROWS_MAX = ROW_RANK_MAX };
hn_status block_cholesky_create(hn_context *context, int node_count, const int *sizes, int edge_count,
                                const int (*edges)[2], const int *order, block_cholesky **out);
void block_cholesky_destroy(block_cholesky *c);


/// Set all blocks to zero.
void block_cholesky_clear(block_cholesky *c);

/// Is `row` eliminated after `column`? Only such blocks are stored, and diagonal ones, of which the lower triangle is
/// read.
bool block_cholesky_is_lower(const block_cholesky *c, int row, int column);
/// Block (row node, column node), row-major with stride equal to the column node's size; NULL when it is not stored.
double *block_cholesky_block(block_cholesky *c, int row, int column);

/// Factor in place. Returns -1, or the node at which the matrix proves not to be positive definite.
int block_cholesky_factor(block_cholesky *c);
/// The unknown of that node.
int block_cholesky_failed_row(const block_cholesky *c);
/// Pivot of an unknown of a node in the last factorisation: what its diagonal element had left.
double block_cholesky_pivot(const block_cholesky *c, int node, int row);
/// Solve in place.
void block_cholesky_solve(const block_cholesky *c, double *b);

/// Factor in place and decide on the way which rows depend on those eliminated before; a pivot is measured by its
/// diagonal element. The factors are not meant for solving: assemble again without the dropped rows. Returns -1, or the
/// node at which that fails.
int block_cholesky_factor_rank(block_cholesky *c, row_rank *rank);

#endif
