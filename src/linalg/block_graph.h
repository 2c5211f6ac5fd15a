// SPDX-License-Identifier: MIT
// The graph of a sparse block matrix: neighbours, elimination tree, and what elimination in a given order fills in.
#ifndef LINALG_BLOCK_GRAPH_H
#define LINALG_BLOCK_GRAPH_H

#include "base/context.h"

/// Neighbours of every node in compressed form, sorted, without repeats and self edges.
typedef struct block_graph {
    int node_count;
    int *first; ///< node_count + 1
    int *nodes;
} block_graph;

hn_status block_graph_create(hn_context *context, int node_count, int edge_count, const int (*edges)[2],
                             block_graph *graph);
void block_graph_destroy(hn_context *context, block_graph *graph);

/// Change an elimination order into an equivalent one in which every subtree of the elimination tree is contiguous.
hn_status block_graph_postorder(hn_context *context, const block_graph *graph, int *order);
/// The same for nodes whose common neighbours, hubs, are left out of the graph (block_chains.h): the largest subtree
/// first, so that at any time few nodes wait for others; and separate trees in an order in which neighbours are far
/// apart, so that the first few hold a hub well and rows of later ones are seen to depend on theirs.
hn_status block_graph_order_for_chains(hn_context *context, const block_graph *graph, int *order);

/// Places (in the order) of the later neighbours of every place after elimination, sorted.
typedef struct block_structure {
    int *first; ///< node_count + 1
    int *places;
} block_structure;

hn_status block_structure_create(hn_context *context, const block_graph *graph, const int *order,
                                 block_structure *structure);
void block_structure_destroy(hn_context *context, block_structure *structure);

/// Multiplications of a factorisation with nodes of the given sizes, about.
double block_structure_cost(const block_structure *structure, int node_count, const int *sizes, const int *order);

#endif
