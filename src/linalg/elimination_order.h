// SPDX-License-Identifier: MIT
// Orders of elimination for sparse block matrices, given by their nodes and `edge_count` pairs of coupled ones.
#ifndef LINALG_ELIMINATION_ORDER_H
#define LINALG_ELIMINATION_ORDER_H

#include "base/context.h"

/// Minimum degree (SuiteSparse AMD); all nodes count alike.
hn_status order_minimum_degree(hn_context *context, int node_count, int edge_count, const int (*edges)[2], int *order);

/// Minimum degree in unknowns, where nodes from `first_waiting` on wait until all their neighbours before
/// `first_waiting` have been eliminated.
hn_status order_minimum_degree_waiting(hn_context *context, int node_count, const int *sizes, int first_waiting,
                                       int edge_count, const int (*edges)[2], int *order);

/// Multiplications of a factorisation in this order, about, with hubs in chains (block_chains.h).
hn_status order_cost(hn_context *context, int node_count, const int *sizes, int edge_count, const int (*edges)[2],
                     const int *order, double *cost);

#endif
