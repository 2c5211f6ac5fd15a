// SPDX-License-Identifier: MIT
// Blocks of bodies and joints, and the order in which they are eliminated.
#include "reductions/joint_blocks.h"

#include "linalg/elimination_order.h"

#include <string.h>

// Give every joint its rows: in the child's block, or in a block of its own when it lies on a loop. Returns blocks
// used.
static int place_joints(hn_system *system, joint_blocks *blocks, int *sizes)
{
    int nodes = system->body_count;
    for (int k = 0; k < blocks->joint_count; ++k) {
        bool cut = k >= system->body_count;
        const joint *rows = cut ? &system->cuts[k - system->body_count] : &system->joints[k];
        joint_place *p = &blocks->joints[k];
        bool turned = !cut && rows->child_is_a;
        *p = (joint_place){.rows = rows,
                           .a = turned ? rows->child : rows->parent,
                           .b = turned ? rows->parent : rows->child,
                           .multiplier = blocks->multiplier_count};
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

// Do the bodies of a joint meet in the tangent beside its rows? When the rows stand in the child's block they do. Rows
// of their own block couple them by second derivatives alone, and rows that are linear in the coordinates have none:
// bodies at a ball joint then meet through its multipliers only, which keeps the fill of nets small.
static bool joint_couples_bodies(const hn_system *system, const joint_place *p)
{
    if (p->a < 0 || p->b < 0) return false;
    if (!joint_is_block(system, p)) return true;
    for (int r = 0; r < p->rows->row_count; ++r) {
        constraint_row row;
        joint_type_of(p->rows->kind)->row(p->rows, r, &row);
        if (row.product) return true;
    }
    return false;
}

// Bodies in a given order; the block of a joint on a loop follows the later of its bodies.
static hn_status insert_joints(const hn_system *system, const joint_blocks *blocks,
                               const int *bodies, int *order)
{
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count;
    int *place = context_allocate(context, (n + 1) * sizeof(int));
    int *first = context_allocate(context, (n + 2) * sizeof(int));
    hn_status status = place == NULL || first == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) {
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
    context_release(context, place);
    context_release(context, first);
    return status;
}

// Two ways, and the cheaper one taken: bodies by minimum degree on the graph of joints, which is good where joints
// couple their bodies; all blocks by minimum degree with joints waiting for their bodies, good where they do not.
static hn_status order_blocks(const hn_system *system, const joint_blocks *blocks, int node_count,
                              const int *sizes, int edge_count, const int (*edges)[2], int *order)
{
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, joints = (size_t)blocks->joint_count;
    size_t link_max = joints + (size_t)system->element_count + 1;
    int *bodies = context_allocate(context, (n + 1) * sizeof(int));
    int *other = context_allocate(context, ((size_t)node_count + 1) * sizeof(int));
    int(*links)[2] = context_allocate(context, link_max * sizeof(int[2]));
    double cost = 0.0, other_cost = 0.0;
    int link_count = 0;
    hn_status status = HN_OUT_OF_MEMORY;
    if (bodies == NULL || other == NULL || links == NULL) goto done;
    for (int k = 0; k < blocks->joint_count; ++k) {
        const joint_place *p = &blocks->joints[k];
        if (p->a < 0 || p->b < 0) continue;
        links[link_count][0] = p->a, links[link_count][1] = p->b, link_count++;
    }
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] == PLACE_ELSEWHERE)
            links[link_count][0] = system->elements[e].a,
            links[link_count][1] = system->elements[e].b, link_count++;
    status = order_minimum_degree(context, system->body_count, link_count, (const int(*)[2])links,
                                  bodies);
    if (status == HN_OK) status = insert_joints(system, blocks, bodies, order);
    if (status != HN_OK || blocks->loop_row_count == 0) goto done;
    status = order_cost(context, node_count, sizes, edge_count, edges, order, &cost);
    if (status == HN_OK)
        status = order_minimum_degree_waiting(context, node_count, sizes, system->body_count,
                                              edge_count, edges, other);
    if (status == HN_OK)
        status = order_cost(context, node_count, sizes, edge_count, edges, other, &other_cost);
    if (status == HN_OK && other_cost < cost)
        memcpy(order, other, (size_t)node_count * sizeof(int));
done:
    context_release(context, bodies);
    context_release(context, other);
    context_release(context, links);
    return status;
}

void joint_blocks_destroy(hn_system *system, joint_blocks *blocks)
{
    block_lu_destroy(blocks->lu);
    context_release(system->context, blocks->joints);
    *blocks = (joint_blocks){0};
}

hn_status joint_blocks_create(hn_system *system, const int *body_sizes, joint_blocks *blocks)
{
    return joint_blocks_create_wide(system, body_sizes, 1, blocks);
}

hn_status joint_blocks_create_wide(hn_system *system, const int *body_sizes, int width,
                                   joint_blocks *blocks)
{
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, joints = n + (size_t)system->cut_count;
    size_t edges_max = 3 * joints + (size_t)system->element_count + 1;
    *blocks = (joint_blocks){.joint_count = (int)joints, .width = width};
    int *sizes = context_allocate(context, (n + joints + 1) * sizeof(int));
    int *order = context_allocate(context, (n + joints + 1) * sizeof(int));
    int(*edges)[2] = context_allocate(context, edges_max * sizeof(int[2]));
    blocks->joints = context_allocate(context, (joints + 1) * sizeof(joint_place));
    hn_status status = HN_OUT_OF_MEMORY;
    if (sizes == NULL || order == NULL || edges == NULL || blocks->joints == NULL) goto done;
    for (size_t i = 0; i < n; ++i) sizes[i] = body_sizes[i];
    int nodes = place_joints(system, blocks, sizes), count = 0;
    for (int k = 0; k < blocks->joint_count; ++k)
        if (joint_couples_bodies(system, &blocks->joints[k]))
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
    status = order_blocks(system, blocks, nodes, sizes, count, (const int(*)[2])edges, order);
    if (status != HN_OK) goto done;
    status =
        block_lu_create(context, nodes, sizes, count, (const int(*)[2])edges, order, &blocks->lu);
done:
    context_release(context, sizes);
    context_release(context, order);
    context_release(context, edges);
    if (status != HN_OK) joint_blocks_destroy(system, blocks);
    return status;
}
