// SPDX-License-Identifier: MIT
// Chains of copies for nodes with very many later neighbours.
#include "linalg/block_chains.h"

#include <stdlib.h>
#include <string.h>

// A copy serves neighbours with so many times the unknowns of the node, together.
static const int SHARE = 2;
// A node is no hub when more than this part of all pairs of its later neighbours are coupled as it is.
static const double TIED = 0.25;

void block_chains_destroy(hn_context *context, block_chains *chains)
{
    context_release(context, chains->owner);
    context_release(context, chains->attached);
    context_release(context, chains->sizes);
    block_graph_destroy(context, &chains->graph);
    *chains = (block_chains){0};
}

// What is needed while nodes are split.
typedef struct splitting {
    const block_graph *graph;
    const int *sizes, *order;
    int *place;    // per node
    int *copy_of;  // per node: the copy of the present hub that serves it, -1: none
    int *sorted;   // places of later neighbours of the present hub
    int *first_at; // per place: copies to eliminate before it, linked by `next_at`
    int *next_at;  // per copy
} splitting;

static int compare_places(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

// Has a node many later neighbours, few of which are neighbours of each other?
static bool is_hub(const splitting *x, int node)
{
    const block_graph *graph = x->graph;
    int begin = graph->first[node], end = graph->first[node + 1], count = 0;
    double pairs = 0.0; // each counted twice
    if (end - begin < BLOCK_CHAIN_NEIGHBOURS) return false;
    for (int p = begin; p < end; ++p)
        if (x->place[graph->nodes[p]] > x->place[node]) x->copy_of[graph->nodes[p]] = node, count++;
    for (int p = begin; p < end; ++p) {
        int one = graph->nodes[p];
        if (x->copy_of[one] < 0) continue;
        for (int q = graph->first[one]; q < graph->first[one + 1]; ++q)
            pairs += x->copy_of[graph->nodes[q]] >= 0 ? 1.0 : 0.0;
    }
    for (int p = begin; p < end; ++p) x->copy_of[graph->nodes[p]] = -1;
    return count >= BLOCK_CHAIN_NEIGHBOURS && pairs < TIED * (double)count * (double)count;
}

static int add_copy(const splitting *x, block_chains *chains, int node, int before, int place)
{
    int copy = chains->copy_count++;
    chains->owner[copy] = node;
    chains->before[copy] = before;
    x->next_at[copy] = x->first_at[place];
    x->first_at[place] = copy;
    return chains->node_count + copy;
}

// Who serves a neighbour that is eliminated before the hub? The copy that serves the first of that one's own later
// neighbours: what its elimination leaves then stays together.
static int server_of_earlier(const splitting *x, int hub, int node)
{
    int first = -1;
    for (int p = x->graph->first[node]; p < x->graph->first[node + 1]; ++p) {
        int other = x->graph->nodes[p];
        if (other == hub || x->copy_of[other] < 0 || x->place[other] < x->place[hub]) continue;
        if (first < 0 || x->place[other] < x->place[first]) first = other;
    }
    return first < 0 ? hub : x->copy_of[first];
}

static void split_node(const splitting *x, block_chains *chains, int hub)
{
    const block_graph *graph = x->graph;
    int begin = graph->first[hub], end = graph->first[hub + 1], count = 0;
    for (int p = begin; p < end; ++p) {
        int place = x->place[graph->nodes[p]];
        if (place > x->place[hub]) x->sorted[count++] = place;
    }
    qsort(x->sorted, (size_t)count, sizeof(int), compare_places);
    int server = hub, served = 0;
    for (int k = 0; k < count; ++k) {
        int node = x->order[x->sorted[k]];
        if (served >= SHARE * x->sizes[hub]) {
            server = add_copy(x, chains, hub, server, x->sorted[k]);
            served = 0;
        }
        served += x->sizes[node];
        x->copy_of[node] = server;
    }
    for (int p = begin; p < end; ++p) {
        int node = graph->nodes[p];
        chains->attached[p] =
            x->place[node] > x->place[hub] ? x->copy_of[node] : server_of_earlier(x, hub, node);
    }
    for (int p = begin; p < end; ++p) x->copy_of[graph->nodes[p]] = -1;
}

// To whom of node `of` is its neighbour `node` handed?
static int attached_to(const block_graph *graph, const int *attached, int of, int node)
{
    int low = graph->first[of], high = graph->first[of + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (graph->nodes[middle] < node) low = middle + 1;
        else high = middle;
    }
    return attached[low];
}

// Order, sizes and graph of nodes and copies.
static hn_status join(hn_context *context, const splitting *x, block_chains *chains)
{
    const block_graph *graph = x->graph;
    int n = chains->node_count, all = n + chains->copy_count, used = 0, edge_count = 0;
    size_t edges_max = (size_t)graph->first[n] / 2 + (size_t)chains->copy_count + 1;
    chains->sizes = context_allocate(context, 2 * ((size_t)all + 1) * sizeof(int));
    int(*edges)[2] = context_allocate(context, edges_max * sizeof(int[2]));
    if (chains->sizes == NULL || edges == NULL) {
        context_release(context, edges);
        return HN_OUT_OF_MEMORY;
    }
    chains->order = chains->sizes + all + 1;
    memcpy(chains->sizes, x->sizes, (size_t)n * sizeof(int));
    for (int c = 0; c < chains->copy_count; ++c)
        chains->sizes[n + c] = 2 * x->sizes[chains->owner[c]];
    for (int k = 0; k < n; ++k) {
        for (int c = x->first_at[k]; c >= 0; c = x->next_at[c]) chains->order[used++] = n + c;
        chains->order[used++] = x->order[k];
    }
    for (int i = 0; i < n; ++i)
        for (int p = graph->first[i]; p < graph->first[i + 1]; ++p) {
            if (graph->nodes[p] < i) continue;
            edges[edge_count][0] = chains->attached[p];
            edges[edge_count][1] = attached_to(graph, chains->attached, graph->nodes[p], i);
            edge_count++;
        }
    for (int c = 0; c < chains->copy_count; ++c, ++edge_count)
        edges[edge_count][0] = chains->before[c], edges[edge_count][1] = n + c;
    hn_status status =
        block_graph_create(context, all, edge_count, (const int(*)[2])edges, &chains->graph);
    context_release(context, edges);
    return status;
}

hn_status block_chains_create(hn_context *context, const block_graph *graph, const int *sizes,
                              const int *order, block_chains *chains)
{
    int n = graph->node_count;
    size_t count = (size_t)n + 1, ends = (size_t)graph->first[n] + 1;
    *chains = (block_chains){.node_count = n};
    int *memory = context_allocate(context, (4 * count + ends) * sizeof(int));
    if (memory == NULL) return HN_OUT_OF_MEMORY;
    splitting x = {graph,
                   sizes,
                   order,
                   memory,
                   memory + count,
                   memory + 2 * count,
                   memory + 3 * count,
                   memory + 4 * count};
    bool any = false;
    for (int k = 0; k < n; ++k) x.place[order[k]] = k, x.copy_of[k] = x.first_at[k] = -1;
    for (int i = 0; i < n && !any; ++i) any = is_hub(&x, i);
    hn_status status = HN_OK;
    if (any) {
        chains->owner = context_allocate(context, 2 * ends * sizeof(int));
        chains->attached = context_allocate(context, ends * sizeof(int));
        if (chains->owner == NULL || chains->attached == NULL) status = HN_OUT_OF_MEMORY;
    }
    if (any && status == HN_OK) {
        chains->before = chains->owner + ends;
        for (int i = 0; i < n; ++i) {
            for (int p = graph->first[i]; p < graph->first[i + 1]; ++p) chains->attached[p] = i;
            if (is_hub(&x, i)) split_node(&x, chains, i);
        }
        status = join(context, &x, chains);
    }
    context_release(context, memory);
    if (status != HN_OK || chains->copy_count == 0) {
        block_chains_destroy(context, chains);
        chains->node_count = n;
    }
    return status;
}
