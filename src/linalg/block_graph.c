// SPDX-License-Identifier: MIT
// Neighbours, elimination tree and fill of a sparse block matrix.
#include "linalg/block_graph.h"

#include <stdlib.h>
#include <string.h>

static int compare_ints(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

// Lists are short as a rule.
static void sort_ints(int *list, int count)
{
    enum { SHORT_LIST = 24 };
    if (count > SHORT_LIST) {
        qsort(list, (size_t)count, sizeof(int), compare_ints);
        return;
    }
    for (int i = 1; i < count; ++i) {
        int value = list[i], k = i;
        for (; k > 0 && list[k - 1] > value; --k) list[k] = list[k - 1];
        list[k] = value;
    }
}

void block_graph_destroy(hn_context *context, block_graph *graph)
{
    context_release(context, graph->first);
    context_release(context, graph->nodes);
    *graph = (block_graph){0};
}

hn_status block_graph_create(hn_context *context, int node_count, int edge_count,
                             const int (*edges)[2], block_graph *graph)
{
    int n = node_count;
    int *start = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    int *list = context_allocate(context, ((size_t)edge_count * 2 + 1) * sizeof(int));
    int *fill = context_allocate(context, ((size_t)n + 1) * sizeof(int));
    *graph = (block_graph){n, start, list};
    if (start == NULL || list == NULL || fill == NULL) {
        context_release(context, fill);
        block_graph_destroy(context, graph);
        return HN_OUT_OF_MEMORY;
    }
    for (int e = 0; e < edge_count; ++e) start[edges[e][0] + 1]++, start[edges[e][1] + 1]++;
    for (int i = 0; i < n; ++i) start[i + 1] += start[i];
    for (int i = 0; i < n; ++i) fill[i] = start[i];
    for (int e = 0; e < edge_count; ++e) {
        list[fill[edges[e][0]]++] = edges[e][1];
        list[fill[edges[e][1]]++] = edges[e][0];
    }
    int used = 0;
    for (int i = 0; i < n; ++i) {
        int begin = start[i], end = fill[i];
        sort_ints(list + begin, end - begin);
        start[i] = used;
        for (int k = begin; k < end; ++k)
            if (list[k] != i && (used == start[i] || list[used - 1] != list[k]))
                list[used++] = list[k];
    }
    start[n] = used;
    context_release(context, fill);
    return HN_OK;
}

// The parent of place k is its first later neighbour after elimination: found by climbing from every earlier
// neighbour, with the path shortened on the way.
static void find_parents(const block_graph *graph, const int *order, const int *place,
                         int *shortcut, int *parent)
{
    for (int k = 0; k < graph->node_count; ++k) {
        parent[k] = shortcut[k] = -1;
        for (int p = graph->first[order[k]]; p < graph->first[order[k] + 1]; ++p) {
            int at = place[graph->nodes[p]];
            if (at > k) continue;
            while (shortcut[at] >= 0 && shortcut[at] != k) {
                int next = shortcut[at];
                shortcut[at] = k;
                at = next;
            }
            if (shortcut[at] < 0 && at != k) shortcut[at] = k, parent[at] = k;
        }
    }
}

// The elimination tree of an order, and the way through it.
typedef struct elimination_tree {
    int n;
    int *place, *parent, *shortcut, *child, *sibling, *old, *size, *roots;
} elimination_tree;

// Lists of children, the first one first.
static void link_children(elimination_tree *t)
{
    for (int k = t->n - 1; k >= 0; --k)
        if (t->parent[k] >= 0) t->sibling[k] = t->child[t->parent[k]], t->child[t->parent[k]] = k;
}

// The same with the largest subtree first: places sorted by the sizes of their subtrees, smallest first.
static void link_children_by_size(elimination_tree *t)
{
    int n = t->n, *first = t->shortcut, *sorted = t->place; // both have served
    for (int k = 0; k <= n; ++k) first[k] = 0;
    for (int k = 0; k < n; ++k) t->size[k] = 1;
    for (int k = 0; k < n; ++k)
        if (t->parent[k] >= 0) t->size[t->parent[k]] += t->size[k];
    for (int k = 0; k < n; ++k) first[t->size[k]]++;
    for (int k = 0; k < n; ++k) first[k + 1] += first[k];
    for (int k = n - 1; k >= 0; --k) sorted[--first[t->size[k]]] = k;
    for (int i = 0; i < n; ++i) {
        int k = sorted[i];
        if (t->parent[k] >= 0) t->sibling[k] = t->child[t->parent[k]], t->child[t->parent[k]] = k;
    }
}

// One tree: down to a leaf, then note it and go on with the next child of its parent. Returns places used.
static int walk(elimination_tree *t, int root, int used, int *order)
{
    for (int k = root; k >= 0; k = t->parent[k]) {
        while (t->child[k] >= 0) {
            int next = t->child[k];
            t->child[k] = t->sibling[next];
            k = next;
        }
        order[used++] = t->old[k];
    }
    return used;
}

// Trees far from each other first, then those between: steps of a golden ratio, without common factors.
static int spread_step(int count)
{
    const double GOLDEN = 0.6180339887498949;
    for (int step = (int)(GOLDEN * count); step > 1; --step) {
        int a = count, b = step;
        while (b > 0) {
            int rest = a % b;
            a = b, b = rest;
        }
        if (a == 1) return step;
    }
    return 1;
}

static hn_status walk_trees(hn_context *context, const block_graph *graph, bool for_chains,
                            int *order)
{
    int n = graph->node_count, used = 0, root_count = 0;
    size_t count = (size_t)n + 1;
    int *memory = context_allocate(context, 8 * count * sizeof(int));
    if (memory == NULL) return HN_OUT_OF_MEMORY;
    elimination_tree t = {n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    int **parts[] = {&t.place,   &t.parent, &t.shortcut, &t.child,
                     &t.sibling, &t.old,    &t.size,     &t.roots};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) *parts[i] = memory + i * count;
    for (int k = 0; k < n; ++k) t.place[order[k]] = k, t.old[k] = order[k], t.child[k] = -1;
    find_parents(graph, order, t.place, t.shortcut, t.parent);
    if (for_chains) link_children_by_size(&t);
    else link_children(&t);
    for (int k = 0; k < n; ++k)
        if (t.parent[k] < 0) t.roots[root_count++] = k;
    int step = for_chains ? spread_step(root_count) : 1;
    for (int i = 0, at = 0; i < root_count; ++i, at = (at + step) % root_count)
        used = walk(&t, t.roots[at], used, order);
    context_release(context, memory);
    return HN_OK;
}

hn_status block_graph_postorder(hn_context *context, const block_graph *graph, int *order)
{
    return walk_trees(context, graph, false, order);
}

hn_status block_graph_order_for_chains(hn_context *context, const block_graph *graph, int *order)
{
    return walk_trees(context, graph, true, order);
}

void block_structure_destroy(hn_context *context, block_structure *structure)
{
    context_release(context, structure->first);
    context_release(context, structure->places);
    *structure = (block_structure){0};
}

// The later neighbours of every node after elimination: its own and those inherited from the nodes whose first later
// neighbour it is (elimination tree).
hn_status block_structure_create(hn_context *context, const block_graph *graph, const int *order,
                                 block_structure *out)
{
    int n = graph->node_count;
    size_t count = (size_t)n + 1;
    hn_status status = HN_OUT_OF_MEMORY;
    *out = (block_structure){0};
    int *memory = context_allocate(context, 4 * count * sizeof(int));
    out->first = context_allocate(context, count * sizeof(int));
    int capacity = 0, used = 0;
    if (memory == NULL || out->first == NULL) goto done;
    int *mark = memory, *place = memory + count;
    int *child = memory + 2 * count;   // first child in the elimination tree
    int *sibling = memory + 3 * count; // next child of the same parent
    int *begin = out->first;
    for (int k = 0; k < n; ++k) mark[k] = child[k] = sibling[k] = -1, place[order[k]] = k;
    status = HN_OK;
    for (int k = 0; k < n; ++k) {
        int node = order[k], start = used;
        begin[k] = used;
        mark[k] = k;
        status = context_grow(context, (void **)&out->places, &capacity, used + n - k, sizeof(int));
        if (status != HN_OK) goto done;
        int *places = out->places;
        for (int p = graph->first[node]; p < graph->first[node + 1]; ++p) {
            int at = place[graph->nodes[p]];
            if (at > k && mark[at] != k) mark[at] = k, places[used++] = at;
        }
        for (int c = child[k]; c >= 0; c = sibling[c])
            for (int p = begin[c]; p < begin[c + 1]; ++p) {
                int at = places[p];
                if (at > k && mark[at] != k) mark[at] = k, places[used++] = at;
            }
        sort_ints(places + start, used - start);
        begin[k + 1] = used;
        if (used > start) {
            sibling[k] = child[places[start]];
            child[places[start]] = k;
        }
    }
done:
    context_release(context, memory);
    if (status != HN_OK) block_structure_destroy(context, out);
    return status;
}

double block_structure_cost(const block_structure *structure, int node_count, const int *sizes,
                            const int *order)
{
    double cost = 0.0;
    for (int k = 0; k < node_count; ++k) {
        double own = sizes[order[k]], later = 0.0;
        for (int p = structure->first[k]; p < structure->first[k + 1]; ++p)
            later += sizes[order[structure->places[p]]];
        cost += own * (own * own / 3.0 + own * later + later * later);
    }
    return cost;
}
