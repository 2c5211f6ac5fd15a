// SPDX-License-Identifier: MIT
// Sparse block LU: a matrix of small dense blocks on a graph, analysed once, factored again and again without
// allocation.
//
// Nodes are unknowns that belong together (a body with its multipliers); partial pivoting works inside the diagonal
// blocks, the elimination order of the nodes is fixed. docs/decisions/block-lu.md tells why not a scalar sparse LU.
#ifndef LINALG_BLOCK_LU_H
#define LINALG_BLOCK_LU_H

#include "base/context.h"
#include "linalg/row_rank.h"

typedef struct block_lu block_lu;

/// Analyse: `sizes` of the nodes, `edge_count` pairs of coupled nodes (either order, no self edges, repeats allowed),
/// `order` of elimination, NULL: a minimum-degree one.
hn_status block_lu_create(hn_context *context, int node_count, const int *sizes, int edge_count, const int (*edges)[2],
                          const int *order, block_lu **lu);
/// The same where nodes that are eliminated before a node are coupled with the first `outer` of its unknowns and
/// equations alone: blocks between them are zero beyond (the multipliers of the joint that leads on to a parent).
hn_status block_lu_create_outer(hn_context *context, int node_count, const int *sizes, const int *outer, int edge_count,
                                const int (*edges)[2], const int *order, block_lu **lu);
void block_lu_destroy(block_lu *lu);

/// Total size, and the place of a node's first unknown in vectors.
int block_lu_size(const block_lu *lu);
int block_lu_offset(const block_lu *lu, int node);
int block_lu_node_size(const block_lu *lu, int node);

/// Numbers of the nodes: each is raised to the largest of the nodes that are eliminated into it, which leave round-off
/// of their size there.
void block_lu_raise(const block_lu *lu, double *numbers);

/// Set all blocks to zero.
void block_lu_clear(block_lu *lu);

/// Block (row node, column node), row-major with stride equal to the column node's size; NULL when not in the pattern.
double *block_lu_block(block_lu *lu, int row, int column);


/// Copy the assembled matrix into a dense row-major one: for reports and tests.
void block_lu_dense(const block_lu *lu, double *dense);

/// Units of equations and unknowns, `size` each, which stay the caller's; NULL: none. Equations are multiplied by
/// theirs, and unknowns are counted in theirs, before pivots are compared: in powers of two they change nothing else.
void block_lu_set_units(block_lu *lu, const double *rows, const double *columns);

/// Factor in place. Returns -1, or the node whose diagonal block is singular.
int block_lu_factor(block_lu *lu);

/// What the factorisation of constraint nodes says about their rank.
typedef struct block_lu_rank {
    int first_node;         ///< nodes from here on are constraint nodes, whose blocks become negative semidefinite
    const double *scale;    ///< per unknown of the constraint nodes (from the first one on): size of an independent
                            ///< pivot
    row_rank *rows;         ///< unknowns and nodes counted from the first constraint node on
    int *negative;          ///< of a symmetric matrix: counts its negative eigenvalues (Sylvester); NULL: not wanted
} block_lu_rank;

/// Factor in place and decide on the way which rows of the constraint nodes depend on rows eliminated before. The
/// factors are not meant for solving: assemble again without the dropped rows. Returns -1, or the singular node.
int block_lu_factor_rank(block_lu *lu, block_lu_rank *rank);

/// Solve in place.
void block_lu_solve(const block_lu *lu, double *b);

/// Number of doubles stored.
size_t block_lu_storage(const block_lu *lu);

#endif
