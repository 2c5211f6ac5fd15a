// SPDX-License-Identifier: MIT
// Blocks of bodies and joints, and the order in which they are eliminated.
#include "reductions/joint_blocks.h"

#include "linalg/block_chains.h"
#include "linalg/elimination_order.h"

#include <string.h>

// Give every joint its rows: in the child's block, or in a block of its own when it lies on a loop. Returns blocks
// used.
static int place_joints(hn_system *system, bool as_defined, joint_blocks *blocks, int *sizes)
{
    int nodes = system->body_count;
    for (int k = 0; k < blocks->joint_count; ++k) {
        bool cut = k >= system->body_count;
        const joint *rows = cut ? &system->cuts[k - system->body_count] : &system->joints[k];
        joint_place *p = &blocks->joints[k];
        bool child_is_a = !cut && rows->child_is_a;
        *p = (joint_place){.rows = rows,
                           .a = child_is_a ? rows->child : rows->parent,
                           .b = child_is_a ? rows->parent : rows->child,
                           .multiplier = blocks->multiplier_count};
        if (as_defined && rows->swapped && rows->row_count > 0 && rows->parent >= 0) {
            p->rows = &system->reports[rows->model_joint].rows;
            p->a = p->rows->parent;
            p->b = p->rows->child;
        } else if (as_defined && cut && rows->child < 0) {
            joint *turned = &blocks->turned[k - system->body_count];
            *turned = *rows;
            joint_swap_sides(turned);
            turned->swapped = true;
            p->rows = turned;
            p->a = turned->parent;
            p->b = turned->child;
        }
        blocks->multiplier_count += rows->row_count;
        if (rows->row_count > 0 && (cut || system->in_loop[k])) {
            p->node = nodes++;
            sizes[p->node] = blocks->width * rows->row_count;
            blocks->loop_row_count += rows->row_count;
        } else {
            p->node = cut ? 0 : k;
            p->place = cut ? 0 : sizes[k];
            if (!cut) sizes[k] += blocks->width * rows->row_count;
        }
    }
    return nodes;
}

bool joint_is_at_rod(const hn_system *system, const joint_place *place)
{
    return joint_is_block(system, place) &&
           ((place->a >= 0 && system_body_is_rod(system, place->a)) ||
            (place->b >= 0 && system_body_is_rod(system, place->b)));
}

// Do the bodies of a joint meet in the tangent beside its rows? When the rows stand in the child's block they do. Rows
// of their own block couple them by second derivatives alone, and rows that are linear in the coordinates have none:
// bodies at a ball joint then meet through its multipliers only, which keeps the fill of nets small.
static bool joint_couples_bodies(const hn_system *system, const joint_place *p, bool coupled)
{
    if (p->a < 0 || p->b < 0) return false;
    if (coupled || !joint_is_block(system, p) || joint_is_at_rod(system, p)) return true;
    for (int r = 0; r < p->rows->row_count; ++r) {
        const constraint_row row = joint_row(p->rows, r);
        if (row.product) return true;
    }
    return false;
}

// Bodies in a given order; the block of a joint on a loop follows the later of its bodies.
static hn_status insert_joints(const hn_system *system, const joint_blocks *blocks,
                               const int *bodies, int *order)
{
    size_t n = (size_t)system->body_count;
    pool scratch = {.context = system->context};
    int *place = pool_ints(&scratch, n), *first = pool_ints(&scratch, n + 1);
    if (!scratch.failed) {
        for (int i = 0; i < system->body_count; ++i) place[bodies[i]] = i;
        // how many joint blocks follow each place, then fill
        for (int k = 0; k < blocks->joint_count; ++k) {
            const joint_place *p = &blocks->joints[k];
            if (!joint_is_block(system, p)) continue;
            int pa = p->a < 0 ? -1 : place[p->a], pb = p->b < 0 ? -1 : place[p->b];
            first[(pa > pb ? pa : pb) + 1]++;
        }
        for (int i = 0; i < system->body_count; ++i) first[i + 1] += first[i];
        for (int i = 0; i < system->body_count; ++i) order[i + first[i]] = bodies[i];
        for (int k = 0; k < blocks->joint_count; ++k) {
            const joint_place *p = &blocks->joints[k];
            if (!joint_is_block(system, p)) continue;
            int pa = p->a < 0 ? -1 : place[p->a], pb = p->b < 0 ? -1 : place[p->b];
            int later = pa > pb ? pa : pb;
            order[later + 1 + first[later]++] = p->node;
        }
    }
    pool_release(&scratch);
    return pool_status(&scratch);
}

// Bodies with very many joints on loops.
static int mark_hubs(const hn_system *system, const joint_blocks *blocks, int *joints_at)
{
    int hubs = 0;
    memset(joints_at, 0, (size_t)system->body_count * sizeof(int));
    for (int k = 0; k < blocks->joint_count; ++k) {
        const joint_place *p = &blocks->joints[k];
        if (!joint_is_block(system, p)) continue;
        if (p->a >= 0) joints_at[p->a]++;
        if (p->b >= 0) joints_at[p->b]++;
    }
    for (int i = 0; i < system->body_count; ++i)
        hubs += joints_at[i] >= BLOCK_CHAIN_NEIGHBOURS ? 1 : 0;
    return hubs;
}

// Bodies by minimum degree on the graph `links`; `hubs_first`: hubs before all others, which are ordered as if there
// were none, subtree by subtree.
static hn_status order_bodies(const hn_system *system, bool hubs_first, const int *joints_at,
                              int link_count, const int (*links)[2], int *bodies)
{
    hn_context *context = system->context;
    int n = system->body_count, count = 0, used = 0;
    if (!hubs_first) return order_minimum_degree(context, n, link_count, links, bodies);
    block_graph graph = {0};
    pool scratch = {.context = context};
    int(*own)[2] = pool_take(&scratch, (size_t)link_count, sizeof(int[2]));
    int *found = pool_ints(&scratch, (size_t)n);
    hn_status status = pool_status(&scratch);
    for (int k = 0; k < link_count && status == HN_OK; ++k)
        if (joints_at[links[k][0]] < BLOCK_CHAIN_NEIGHBOURS &&
            joints_at[links[k][1]] < BLOCK_CHAIN_NEIGHBOURS)
            own[count][0] = links[k][0], own[count][1] = links[k][1], count++;
    if (status == HN_OK)
        status = order_minimum_degree(context, n, count, (const int(*)[2])own, found);
    if (status == HN_OK)
        status = block_graph_create(context, n, count, (const int(*)[2])own, &graph);
    if (status == HN_OK) status = block_graph_order_for_chains(context, &graph, found);
    for (int pass = 0; pass < 2 && status == HN_OK; ++pass)
        for (int k = 0; k < n; ++k)
            if ((joints_at[found[k]] >= BLOCK_CHAIN_NEIGHBOURS) == (pass == 0))
                bodies[used++] = found[k];
    block_graph_destroy(context, &graph);
    pool_release(&scratch);
    return status;
}

// Take the order `other` in place of the best so far where it is cheaper.
static hn_status take_cheaper(const hn_system *system, int node_count, const int *sizes,
                              int edge_count, const int (*edges)[2], const int *other, int *order,
                              double *cost)
{
    double other_cost = 0.0;
    TRY(order_cost(system->context, node_count, sizes, edge_count, edges, other, &other_cost));
    if (other_cost >= *cost) return HN_OK;
    memcpy(order, other, (size_t)node_count * sizeof(int));
    *cost = other_cost;
    return HN_OK;
}

// Which bodies are neighbours: links of joints and of elements between bodies that are none in the tree.
static int find_links(const hn_system *system, const joint_blocks *blocks, int (*links)[2])
{
    int count = 0;
    for (int k = 0; k < blocks->joint_count; ++k) {
        const joint_place *p = &blocks->joints[k];
        if (p->a < 0 || p->b < 0) continue;
        links[count][0] = p->a, links[count][1] = p->b, count++;
    }
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] == PLACE_ELSEWHERE)
            links[count][0] = system->elements[e].a, links[count][1] = system->elements[e].b,
            count++;
    return count;
}

// Do bodies meet at joints of the tree alone? Blocks are then eliminated from the leaves inward.
static bool is_forest(const hn_system *system)
{
    if (system->cut_count > 0) return false;
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] == PLACE_ELSEWHERE) return false;
    return true;
}

// Of a body's block the rows of its tree joint have to do with the body and its parent alone: where that is eliminated
// later, blocks that come before see the body's own unknowns only.
static void find_outer(const hn_system *system, const int *body_sizes, int nodes, const int *sizes,
                       const int *order, int *place, int *outer)
{
    for (int k = 0; k < nodes; ++k) place[order[k]] = k;
    for (int k = 0; k < nodes; ++k) {
        bool inward = k < system->body_count &&
                      (system->parent[k] < 0 || place[system->parent[k]] > place[k]);
        outer[k] = inward ? body_sizes[k] : sizes[k];
    }
}

// Three ways, and the cheapest one taken: bodies by minimum degree on the graph of joints, which is good where joints
// couple their bodies; all blocks by minimum degree with joints waiting for their bodies, good where they do not; and
// bodies with very many joints before all others, in chains (block_chains.h).
// `with_bodies`: the first way. Its sequence of joints is remembered.
static hn_status order_blocks(const hn_system *system, bool with_bodies, joint_blocks *blocks,
                              int node_count, const int *sizes, int edge_count,
                              const int (*edges)[2], int *order)
{
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, joints = (size_t)blocks->joint_count;
    size_t link_max = joints + (size_t)system->element_count;
    pool scratch = {.context = context};
    int *bodies = pool_ints(&scratch, n), *joints_at = pool_ints(&scratch, n);
    int *other = pool_ints(&scratch, (size_t)node_count);
    int(*links)[2] = pool_take(&scratch, link_max, sizeof(int[2]));
    double cost = 0.0;
    hn_status status = pool_status(&scratch);
    if (status != HN_OK) goto done;
    int link_count = find_links(system, blocks, links);
    int hubs = mark_hubs(system, blocks, joints_at);
    if (is_forest(system)) {
        // from the leaves inward, so that the multipliers of a joint meet nothing that came before
        for (int i = 0; i < system->body_count; ++i) bodies[i] = system->body_count - 1 - i;
    } else {
        status = order_bodies(system, false, joints_at, link_count, (const int(*)[2])links, bodies);
    }
    if (status == HN_OK) status = insert_joints(system, blocks, bodies, order);
    if (status != HN_OK) goto done;
    for (int k = 0, count = 0; k < node_count; ++k)
        if (order[k] >= system->body_count)
            blocks->sequence[count++] = order[k] - system->body_count;
    if (with_bodies || blocks->loop_row_count == 0) goto done;
    status = order_cost(context, node_count, sizes, edge_count, edges, order, &cost);
    if (status == HN_OK)
        status = order_minimum_degree_waiting(context, node_count, sizes, system->body_count,
                                              edge_count, edges, other);
    if (status == HN_OK)
        status = take_cheaper(system, node_count, sizes, edge_count, edges, other, order, &cost);
    if (hubs == 0 || status != HN_OK) goto done;
    status = order_bodies(system, true, joints_at, link_count, (const int(*)[2])links, bodies);
    if (status == HN_OK) status = insert_joints(system, blocks, bodies, other);
    if (status == HN_OK)
        status = take_cheaper(system, node_count, sizes, edge_count, edges, other, order, &cost);
done:
    pool_release(&scratch);
    return status;
}

// ---- cycles -----------------------------------------------------------------------------------------

// The graph of bodies (the ground comes last) and joints on loops, and what a search in it needs.
typedef struct joint_graph {
    const joint_blocks *blocks;
    int body_count;
    int *sequence; // joints on loops as they are eliminated
    int sequence_count;
    int *rank;    // per joint: place in the sequence
    int *first;   // per body: into `at`
    int *at;      // joints at a body
    int *group;   // bodies connected by the joints eliminated so far, a forest
    int *reached; // per body: number of the search that found it
    int search;   // number of the last search
    int *through; // per body: joint through which it was found
    int *queue;
    void *memory;
} joint_graph;

static int graph_body(const joint_graph *g, int body)
{
    return body < 0 ? g->body_count : body;
}

static hn_status graph_create(const hn_system *system, const joint_blocks *blocks, int node_count,
                              joint_graph *g)
{
    size_t n = (size_t)system->body_count + 1, joints = (size_t)blocks->joint_count;
    *g = (joint_graph){.blocks = blocks, .body_count = system->body_count};
    int *memory = context_allocate(system->context, (5 * n + 1 + 5 * joints) * sizeof(int));
    if (memory == NULL) return HN_OUT_OF_MEMORY;
    g->memory = memory;
    int **const parts[] = {&g->first, &g->group, &g->reached, &g->through, &g->queue};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k)
        *parts[k] = memory, memory += n + (k == 0 ? 1 : 0);
    g->sequence = memory, memory += joints;
    g->rank = memory, memory += joints;
    int *owner = memory; // joint of a block, by block
    memory += joints;
    g->at = memory;
    for (int k = 0; k < blocks->joint_count; ++k) {
        const joint_place *p = &blocks->joints[k];
        if (!joint_is_block(system, p)) continue;
        owner[p->node - system->body_count] = k;
        g->first[graph_body(g, p->a) + 1]++, g->first[graph_body(g, p->b) + 1]++;
    }
    for (size_t i = 0; i < n; ++i) g->first[i + 1] += g->first[i];
    for (size_t i = 0; i < n; ++i) g->group[i] = (int)i, g->queue[i] = g->first[i];
    for (int k = 0; k < node_count - system->body_count; ++k) {
        int one = owner[blocks->sequence[k]];
        const joint_place *p = &blocks->joints[one];
        g->at[g->queue[graph_body(g, p->a)]++] = g->at[g->queue[graph_body(g, p->b)]++] = one;
        g->rank[one] = g->sequence_count;
        g->sequence[g->sequence_count++] = one;
    }
    return HN_OK;
}

static int graph_group(joint_graph *g, int body)
{
    while (g->group[body] != body) body = g->group[body] = g->group[g->group[body]];
    return body;
}

// Number of joints on a shortest way through joints eliminated before `closing` from its body b to its body a, found
// backwards: g->through leads from b to a.
static int graph_search(joint_graph *g, int closing)
{
    const joint_place *joints = g->blocks->joints;
    int from = graph_body(g, joints[closing].a), to = graph_body(g, joints[closing].b);
    int head = 0, tail = 0, search = ++g->search, length = 0;
    g->reached[from] = search;
    g->queue[tail++] = from;
    while (head < tail && g->reached[to] != search) {
        int body = g->queue[head++];
        for (int k = g->first[body]; k < g->first[body + 1]; ++k) {
            const joint_place *p = &joints[g->at[k]];
            int a = graph_body(g, p->a), next = a == body ? graph_body(g, p->b) : a;
            if (g->rank[g->at[k]] >= g->rank[closing] || g->reached[next] == search) continue;
            g->reached[next] = search;
            g->through[next] = g->at[k];
            g->queue[tail++] = next;
        }
    }
    for (int body = to; body != from; ++length) {
        const joint_place *p = &joints[g->through[body]];
        int a = graph_body(g, p->a);
        body = a == body ? graph_body(g, p->b) : a;
    }
    return length;
}

static hn_status find_cycles(const hn_system *system, joint_blocks *blocks, int node_count)
{
    joint_graph g;
    TRY(graph_create(system, blocks, node_count, &g));
    size_t capacity = 0;
    int used = 0;
    blocks->cycles = pool_take(&blocks->memory, (size_t)g.sequence_count, sizeof(joint_cycle));
    if (blocks->memory.failed) goto done;
    // which joints close a loop, and how long it is
    for (int k = 0; k < g.sequence_count; ++k) {
        const joint_place *p = &blocks->joints[g.sequence[k]];
        int a = graph_group(&g, graph_body(&g, p->a)), b = graph_group(&g, graph_body(&g, p->b));
        if (a != b) {
            g.group[a] = b;
            continue;
        }
        int count = 1 + graph_search(&g, g.sequence[k]);
        blocks->cycles[blocks->cycle_count++] =
            (joint_cycle){.first = g.sequence[k], .count = count};
        capacity += (size_t)count;
    }
    blocks->way = pool_take(&blocks->memory, capacity, sizeof(cycle_joint));
    if (blocks->memory.failed) goto done;
    for (int c = 0; c < blocks->cycle_count; ++c) {
        int closing = blocks->cycles[c].first;
        const joint_place *p = &blocks->joints[closing];
        graph_search(&g, closing);
        blocks->cycles[c].first = used;
        blocks->way[used++] = (cycle_joint){closing, true};
        for (int body = graph_body(&g, p->b); body != graph_body(&g, p->a);) {
            const joint_place *next = &blocks->joints[g.through[body]];
            bool forward = graph_body(&g, next->a) == body;
            blocks->way[used++] = (cycle_joint){g.through[body], forward};
            body = graph_body(&g, forward ? next->b : next->a);
        }
    }
done:
    context_release(system->context, g.memory);
    return pool_status(&blocks->memory);
}

void joint_blocks_destroy(joint_blocks *blocks)
{
    block_lu_destroy(blocks->lu);
    pool_release(&blocks->memory);
    *blocks = (joint_blocks){0};
}

hn_status joint_blocks_create(hn_system *system, const int *body_sizes,
                              const joint_blocks_options *options, joint_blocks *blocks)
{
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, joints = n + (size_t)system->cut_count;
    size_t edges_max = 3 * joints + (size_t)system->element_count;
    *blocks = (joint_blocks){
        .joint_count = (int)joints, .width = options->width, .memory = {.context = context}};
    pool scratch = {.context = context};
    int *sizes = pool_ints(&scratch, n + joints), *place = pool_ints(&scratch, n + joints);
    int *outer = pool_ints(&scratch, n + joints), *order = pool_ints(&scratch, n + joints);
    int(*edges)[2] = pool_take(&scratch, edges_max, sizeof(int[2]));
    blocks->joints = pool_take(&blocks->memory, joints, sizeof(joint_place));
    size_t turned = options->as_defined ? (size_t)system->cut_count : 0;
    blocks->turned = pool_take(&blocks->memory, turned, sizeof(joint));
    blocks->sequence = pool_ints(&blocks->memory, joints);
    hn_status status = scratch.failed ? HN_OUT_OF_MEMORY : pool_status(&blocks->memory);
    if (status != HN_OK) goto done;
    for (size_t i = 0; i < n; ++i) sizes[i] = body_sizes[i];
    int nodes = place_joints(system, options->as_defined, blocks, sizes), count = 0;
    for (int k = 0; k < blocks->joint_count; ++k)
        if (joint_couples_bodies(system, &blocks->joints[k], options->coupled))
            edges[count][0] = blocks->joints[k].a, edges[count][1] = blocks->joints[k].b, count++;
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] != PLACE_ONE_BODY)
            edges[count][0] = system->elements[e].a, edges[count][1] = system->elements[e].b,
            count++;
    for (int k = 0; k < blocks->joint_count; ++k) {
        const joint_place *p = &blocks->joints[k];
        if (!joint_is_block(system, p)) continue;
        if (p->a >= 0) edges[count][0] = p->node, edges[count][1] = p->a, count++;
        if (p->b >= 0) edges[count][0] = p->node, edges[count][1] = p->b, count++;
    }
    status = order_blocks(system, options->cycles, blocks, nodes, sizes, count,
                          (const int(*)[2])edges, order);
    if (status == HN_OK && options->cycles) status = find_cycles(system, blocks, nodes);
    if (status != HN_OK) goto done;
    if (blocks->cycle_count > 0) {
        size_t couplings = 0;
        for (int c = 0; c < blocks->cycle_count; ++c) couplings += (size_t)blocks->cycles[c].count;
        int(*wider)[2] = pool_take(&scratch, edges_max + couplings, sizeof(int[2]));
        status = pool_status(&scratch);
        if (status != HN_OK) goto done;
        edges = memcpy(wider, edges, (size_t)count * sizeof(int[2]));
        for (int c = 0; c < blocks->cycle_count; ++c) {
            const cycle_joint *way = blocks->way + blocks->cycles[c].first;
            for (int k = 1; k < blocks->cycles[c].count; ++k, ++count) {
                edges[count][0] = blocks->joints[way[0].joint].node;
                edges[count][1] = blocks->joints[way[k].joint].node;
            }
        }
    }
    find_outer(system, body_sizes, nodes, sizes, order, place, outer);
    status = block_lu_create_outer(context, nodes, sizes, outer, count, (const int(*)[2])edges,
                                   order, &blocks->lu);
done:
    pool_release(&scratch);
    if (status != HN_OK) joint_blocks_destroy(blocks);
    return status;
}
