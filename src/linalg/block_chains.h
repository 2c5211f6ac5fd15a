// SPDX-License-Identifier: MIT
// Nodes of a sparse block matrix with very many later neighbours, split into chains of copies.
// Note: docs/theory/closed-loops.md
//
// Eliminated as it is, such a hub leaves a dense block over all its neighbours, and cost grows with the cube of their
// number. But whatever it leaves has no more rank than the hub has unknowns. So its neighbours, in their order, are
// handed to copies t_0, t_1, ... of it, a few to each, which are made equal by multipliers e_i:
//
//   e_i:  t_i - t_i+1 = 0,    t_i:  ... + e_i - e_i-1                                                         (C15)
//
// t_0 is the hub itself, with its diagonal block and right-hand side. The pair (e_i, t_i+1) is a node and eliminated
// right before the first neighbour of t_i+1. What is then known of the hub is passed on in as many numbers as it has
// unknowns, squared, and cost grows with the number of neighbours. Pivots of neighbours are those of the whole matrix,
// as far as it has been eliminated: the same decisions on rank are made from them.
#ifndef LINALG_BLOCK_CHAINS_H
#define LINALG_BLOCK_CHAINS_H

#include "linalg/block_graph.h"

/// A graph of nodes and, counted after them, copies.
typedef struct block_chains {
    int node_count;    ///< without copies
    int copy_count;    ///< 0: all else is NULL
    int *owner;        ///< per copy: the node it is one of
    int *before;       ///< per copy: the one before it in the chain, or the node itself
    int *attached;     ///< beside every neighbour of every node in the graph: the copy, or the node, it is handed to
    int *sizes;        ///< of nodes and copies: (e, t), twice that of the node
    int *order;        ///< of nodes and copies
    block_graph graph; ///< of nodes and copies
} block_chains;

/// Split what is worth it in an elimination order.
hn_status block_chains_create(hn_context *context, const block_graph *graph, const int *sizes, const int *order,
                              block_chains *chains);
void block_chains_destroy(hn_context *context, block_chains *chains);

/// From so many neighbours on that are eliminated after it a node is split.
enum { BLOCK_CHAIN_NEIGHBOURS = 24 };

#endif
