// SPDX-License-Identifier: MIT
// Orders of elimination for sparse block matrices.
#include "linalg/elimination_order.h"

#include "linalg/block_chains.h"

#include <amd.h>

#include <string.h>

hn_status order_minimum_degree(hn_context *context, int node_count, int edge_count,
                               const int (*edges)[2], int *order)
{
    block_graph graph;
    TRY(block_graph_create(context, node_count, edge_count, edges, &graph));
    hn_status status = HN_OK;
    if (node_count > 0 && amd_order(node_count, graph.first, graph.nodes, order, NULL, NULL) < 0)
        status = context_fail(context, HN_OUT_OF_MEMORY, "no memory to order a system of %d blocks",
                              node_count);
    block_graph_destroy(context, &graph);
    return status;
}

// ---- minimum degree with nodes that wait ------------------------------------------------------------

// A quotient graph (George and Liu): an eliminated node stands for the clique of its later neighbours, and takes in the
// eliminated nodes it was a neighbour of. The lists of a node in `graph` hold its eliminated neighbours first, then
// those others it is still tied to by edges of its own; they never grow. Degrees are upper bounds (Amestoy, Davis,
// Duff).
typedef struct quotient {
    block_graph graph;
    const int *sizes;
    int *eliminated; // per node: eliminated neighbours in its list
    int *own;        // per node: others in its list
    int *waits;      // per node: neighbours that must be eliminated before it
    bool *done;
    bool *taken;      // an eliminated node that another has taken in
    int *clique_size; // per eliminated node: unknowns in its clique
    int *clique, *clique_end;
    int *members; // of all cliques
    int member_count, member_capacity;
    int *outside,
        *outside_mark; // per eliminated node: unknowns of its clique that are not in the newest
    int *mark;
    int *head, *next, *before, *key; // nodes by degree
    int key_count, least;
    int *scratch;
} quotient;

static void queue_remove(quotient *x, int node)
{
    if (x->key[node] < 0) return;
    if (x->before[node] >= 0) x->next[x->before[node]] = x->next[node];
    else x->head[x->key[node]] = x->next[node];
    if (x->next[node] >= 0) x->before[x->next[node]] = x->before[node];
    x->key[node] = -1;
}

static void queue_insert(quotient *x, int node, int degree)
{
    int key = degree < x->key_count ? degree : x->key_count - 1;
    queue_remove(x, node);
    x->key[node] = key;
    x->before[node] = -1;
    x->next[node] = x->head[key];
    if (x->head[key] >= 0) x->before[x->head[key]] = node;
    x->head[key] = node;
    if (key < x->least) x->least = key;
}

static int queue_take(quotient *x)
{
    while (x->least < x->key_count && x->head[x->least] < 0) x->least++;
    if (x->least == x->key_count) return -1;
    int node = x->head[x->least];
    queue_remove(x, node);
    return node;
}

// The clique a node leaves: its own neighbours and those of the eliminated ones, which it takes in.
static hn_status form_clique(hn_context *context, quotient *x, int node)
{
    const int *list = x->graph.nodes + x->graph.first[node];
    int gone = x->eliminated[node], most = x->own[node];
    for (int i = 0; i < gone; ++i) most += x->clique_end[list[i]] - x->clique[list[i]];
    TRY(context_grow(context, (void **)&x->members, &x->member_capacity, x->member_count + most,
                     sizeof(int)));
    x->clique[node] = x->member_count;
    x->mark[node] = node;
    x->done[node] = true;
    int size = 0;
    for (int i = 0; i < gone + x->own[node]; ++i) {
        bool inherited = i < gone;
        int begin = inherited ? x->clique[list[i]] : i,
            end = inherited ? x->clique_end[list[i]] : i + 1;
        for (int p = begin; p < end; ++p) {
            int member = inherited ? x->members[p] : list[p];
            if (x->mark[member] == node || x->done[member]) continue;
            x->mark[member] = node;
            x->members[x->member_count++] = member;
            size += x->sizes[member];
        }
        if (inherited) x->taken[list[i]] = true;
    }
    x->clique_end[node] = x->member_count;
    x->clique_size[node] = size;
    return HN_OK;
}

// Lists and degrees of the members of the newest clique.
static void update_members(quotient *x, int node)
{
    // unknowns of other cliques outside this one
    for (int p = x->clique[node]; p < x->clique_end[node]; ++p) {
        int member = x->members[p], *list = x->graph.nodes + x->graph.first[member];
        for (int i = 0; i < x->eliminated[member]; ++i) {
            int e = list[i];
            if (x->taken[e]) continue;
            if (x->outside_mark[e] != node)
                x->outside_mark[e] = node, x->outside[e] = x->clique_size[e];
            x->outside[e] -= x->sizes[member];
        }
    }
    for (int p = x->clique[node]; p < x->clique_end[node]; ++p) {
        int member = x->members[p], *list = x->graph.nodes + x->graph.first[member];
        int gone = x->eliminated[member], all = gone + x->own[member], used = 0;
        int degree = x->clique_size[node] - x->sizes[member];
        // the new clique takes the place of one that was taken in, or of the node itself
        x->scratch[used++] = node;
        for (int i = 0; i < gone; ++i) {
            int e = list[i];
            // a clique that lies in this one says nothing more
            if (x->taken[e] || x->outside[e] == 0) continue;
            degree += x->outside[e];
            x->scratch[used++] = e;
        }
        x->eliminated[member] = used;
        for (int i = gone; i < all; ++i) {
            int other = list[i];
            if (x->mark[other] == node) continue;
            degree += x->sizes[other];
            x->scratch[used++] = other;
        }
        x->own[member] = used - x->eliminated[member];
        memcpy(list, x->scratch, (size_t)used * sizeof(int));
        if (x->waits[member] == 0) queue_insert(x, member, degree);
    }
}

static void quotient_destroy(hn_context *context, quotient *x)
{
    block_graph_destroy(context, &x->graph);
    context_release(context, x->eliminated);
    context_release(context, x->done);
    context_release(context, x->head);
    context_release(context, x->members);
}

static hn_status quotient_create(hn_context *context, int node_count, const int *sizes,
                                 int first_waiting, int edge_count, const int (*edges)[2],
                                 quotient *x)
{
    enum { INT_ARRAYS = 12 };
    size_t n = (size_t)node_count;
    *x = (quotient){.sizes = sizes, .key_count = 1};
    TRY(block_graph_create(context, node_count, edge_count, edges, &x->graph));
    for (int i = 0; i < node_count; ++i) x->key_count += sizes[i];
    x->eliminated = context_allocate(context, INT_ARRAYS * (n + 1) * sizeof(int));
    x->done = context_allocate(context, 2 * (n + 1) * sizeof(bool));
    x->head = context_allocate(context, (size_t)x->key_count * sizeof(int));
    if (x->eliminated == NULL || x->done == NULL || x->head == NULL) return HN_OUT_OF_MEMORY;
    int **arrays[] = {&x->own,        &x->waits,   &x->clique_size,  &x->clique,
                      &x->clique_end, &x->outside, &x->outside_mark, &x->mark,
                      &x->next,       &x->before,  &x->key,          NULL};
    for (int i = 0; arrays[i] != NULL; ++i) *arrays[i] = x->eliminated + (size_t)(i + 1) * (n + 1);
    x->taken = x->done + (n + 1);
    x->least = x->key_count;
    for (int k = 0; k < x->key_count; ++k) x->head[k] = -1;
    for (int i = 0; i < node_count; ++i) {
        int degree = 0;
        x->key[i] = x->mark[i] = x->outside_mark[i] = -1;
        for (int p = x->graph.first[i]; p < x->graph.first[i + 1]; ++p) {
            degree += sizes[x->graph.nodes[p]];
            if (i >= first_waiting && x->graph.nodes[p] < first_waiting) x->waits[i]++;
        }
        x->own[i] = x->graph.first[i + 1] - x->graph.first[i];
        if (x->waits[i] == 0) queue_insert(x, i, degree);
    }
    return HN_OK;
}

hn_status order_minimum_degree_waiting(hn_context *context, int node_count, const int *sizes,
                                       int first_waiting, int edge_count, const int (*edges)[2],
                                       int *order)
{
    quotient x;
    block_graph neighbours = {0};
    hn_status status =
        quotient_create(context, node_count, sizes, first_waiting, edge_count, edges, &x);
    if (status == HN_OK)
        status = block_graph_create(context, node_count, edge_count, edges, &neighbours);
    x.scratch = context_allocate(context, ((size_t)node_count + 1) * sizeof(int));
    if (status == HN_OK && x.scratch == NULL) status = HN_OUT_OF_MEMORY;
    for (int k = 0; status == HN_OK && k < node_count; ++k) {
        int node = queue_take(&x);
        order[k] = node;
        status = form_clique(context, &x, node);
        if (status != HN_OK) break;
        // those that waited for this node alone become eligible with their next degree
        for (int p = neighbours.first[node]; p < neighbours.first[node + 1]; ++p) {
            int other = neighbours.nodes[p];
            if (node < first_waiting && other >= first_waiting) x.waits[other]--;
        }
        update_members(&x, node);
    }
    context_release(context, x.scratch);
    block_graph_destroy(context, &neighbours);
    quotient_destroy(context, &x);
    return status;
}

hn_status order_cost(hn_context *context, int node_count, const int *sizes, int edge_count,
                     const int (*edges)[2], const int *order, double *cost)
{
    block_graph graph;
    block_structure structure = {0};
    block_chains chains;
    TRY(block_graph_create(context, node_count, edge_count, edges, &graph));
    hn_status status = block_chains_create(context, &graph, sizes, order, &chains);
    bool split = status == HN_OK && chains.copy_count > 0;
    if (split) order = chains.order, sizes = chains.sizes;
    if (status == HN_OK)
        status = block_structure_create(context, split ? &chains.graph : &graph, order, &structure);
    if (status == HN_OK)
        *cost = block_structure_cost(&structure, node_count + chains.copy_count, sizes, order);
    block_structure_destroy(context, &structure);
    block_chains_destroy(context, &chains);
    block_graph_destroy(context, &graph);
    return status;
}
