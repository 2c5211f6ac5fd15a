// SPDX-License-Identifier: MIT
// Independent constraint rows of loops, by elimination of G S G^T.
#include "reductions/independent_rows.h"

#include "linalg/block_chains.h"
#include "linalg/block_cholesky.h"
#include "linalg/elimination_order.h"
#include "reductions/loop_joints.h"

#include <string.h>

// Two joints (or one) that meet at a body, each with a side of theirs. At a body with very many joints, a hub, they do
// not meet each other but its twist t: with [1, U^T; U, -D] in place of -D - U U^T the matrix stays sparse, and
// block_chains.h keeps it so when t is eliminated before all of them.
typedef struct meeting {
    int joint[2], side[2];      // the first is -1: the twist of a hub
    double *block, *transposed; // NULL: not stored
} meeting;

struct independent_rows {
    hn_system *system;
    block_lu *lu;             // with hubs: a node for every one, then one for every joint on a loop
    block_cholesky *cholesky; // without: a node for every joint
    int hub_count;
    loop_joint *joints;
    int joint_count, row_count;
    meeting *meetings;
    int meeting_count;
    double *turn_scale; // per body: 1/l
    loop_row *rows;
    double *scale; // per row: its pivot without rows before
    pool memory;
};

void independent_rows_destroy(independent_rows *r)
{
    if (r == NULL) return;
    block_lu_destroy(r->lu);
    block_cholesky_destroy(r->cholesky);
    pool_release(&r->memory);
    context_release(r->system->context, r);
}

static bool is_hub(const int *first, int body)
{
    return first[body + 1] - first[body] >= BLOCK_CHAIN_NEIGHBOURS;
}

// Joints by body, then all pairs that meet at one. With `meetings` NULL they are counted only. `edges`: of the blocks.
static int find_meetings(const independent_rows *r, const int *first, const int (*ends)[2],
                         meeting *meetings, int (*edges)[2])
{
    int count = 0, hub = 0;
    for (int body = 0; body < r->system->body_count; ++body) {
        bool at_hub = is_hub(first, body);
        for (int p = first[body]; p < first[body + 1]; ++p)
            for (int q = at_hub ? p : first[body]; q <= p; ++q, ++count) {
                if (meetings == NULL) continue;
                meetings[count] = (meeting){.joint = {at_hub ? -1 : ends[p][0], ends[q][0]},
                                            .side = {ends[p][1], ends[q][1]}};
                edges[count][0] = at_hub ? hub : r->hub_count + ends[p][0];
                edges[count][1] = r->hub_count + ends[q][0];
            }
        hub += at_hub ? 1 : 0;
    }
    return count;
}

// Hubs first, then joints in the given sequence, or by minimum degree without the hubs, subtree by subtree.
static hn_status order_with_hubs(const independent_rows *r, const int *sequence, int edge_count,
                                 const int (*edges)[2], int *order)
{
    hn_context *context = r->system->context;
    int hubs = r->hub_count, n = r->joint_count, count = 0;
    int(*own)[2] = context_allocate(context, ((size_t)edge_count + 1) * sizeof(int[2]));
    block_graph graph = {0};
    hn_status status = own == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (int e = 0; e < edge_count && status == HN_OK; ++e)
        if (edges[e][0] >= hubs)
            own[count][0] = edges[e][0] - hubs, own[count][1] = edges[e][1] - hubs, count++;
    if (sequence != NULL) memcpy(order + hubs, sequence, (size_t)n * sizeof(int));
    else if (status == HN_OK)
        status = order_minimum_degree(context, n, count, (const int(*)[2])own, order + hubs);
    if (status == HN_OK && sequence == NULL)
        status = block_graph_create(context, n, count, (const int(*)[2])own, &graph);
    if (status == HN_OK && sequence == NULL)
        status = block_graph_order_for_chains(context, &graph, order + hubs);
    for (int k = 0; k < n; ++k) order[hubs + k] += hubs;
    for (int k = 0; k < hubs; ++k) order[k] = k;
    block_graph_destroy(context, &graph);
    context_release(context, own);
    return status;
}

// G S G^T without hubs is eliminated as it is, by Cholesky's method.
static hn_status analyse_joints(independent_rows *r, const int *sequence, const int *sizes,
                                int edge_count, const int (*edges)[2], int *order)
{
    hn_context *context = r->system->context;
    int n = r->joint_count, count = 0;
    int(*pairs)[2] = context_allocate(context, ((size_t)edge_count + 1) * sizeof(int[2]));
    hn_status status = pairs == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (int e = 0; e < edge_count && status == HN_OK; ++e)
        if (edges[e][0] != edges[e][1]) memcpy(pairs[count++], edges[e], sizeof pairs[0]);
    if (sequence != NULL) memcpy(order, sequence, (size_t)n * sizeof(int));
    else if (status == HN_OK)
        status = order_minimum_degree(context, n, count, (const int(*)[2])pairs, order);
    if (status == HN_OK)
        status = block_cholesky_create(context, n, sizes, count, (const int(*)[2])pairs, order,
                                       &r->cholesky);
    context_release(context, pairs);
    return status;
}

// The blocks: a node for every hub and every joint, an edge for every two that meet.
static hn_status analyse_blocks(independent_rows *r, const int *sequence, int edge_count,
                                const int (*edges)[2])
{
    hn_context *context = r->system->context;
    int hubs = r->hub_count, nodes = hubs + r->joint_count;
    int *sizes = context_allocate(context, 2 * ((size_t)nodes + 1) * sizeof(int));
    if (sizes == NULL) return HN_OUT_OF_MEMORY;
    int *order = sizes + nodes + 1;
    for (int k = 0; k < hubs; ++k) sizes[k] = TWIST_SIZE;
    for (int k = 0; k < r->joint_count; ++k) sizes[hubs + k] = r->joints[k].rows->row_count;
    hn_status status = hubs > 0 ? order_with_hubs(r, sequence, edge_count, edges, order)
                                : analyse_joints(r, sequence, sizes, edge_count, edges, order);
    if (status == HN_OK && hubs > 0)
        status = block_lu_create(context, nodes, sizes, edge_count, edges, order, &r->lu);
    context_release(context, sizes);
    return status;
}

static hn_status create_blocks(independent_rows *r, const int *sequence)
{
    size_t bodies = (size_t)r->system->body_count, n = (size_t)r->joint_count;
    pool scratch = {.context = r->system->context};
    int *first = pool_ints(&scratch, bodies + 1);
    int(*ends)[2] = pool_take(&scratch, 2 * n, sizeof(int[2])); // joint, side
    hn_status status = pool_status(&scratch);
    if (status != HN_OK) goto done;
    for (int k = 0; k < r->joint_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (r->joints[k].body[side] >= 0) first[r->joints[k].body[side] + 2]++;
    for (size_t i = 0; i < bodies; ++i) first[i + 2] += first[i + 1];
    for (int k = 0; k < r->joint_count; ++k)
        for (int side = 0; side < 2; ++side) {
            int body = r->joints[k].body[side];
            if (body < 0) continue;
            int *end = ends[first[body + 1]++];
            end[0] = k, end[1] = side;
        }
    for (int body = 0; body < r->system->body_count; ++body)
        r->hub_count += is_hub(first, body) ? 1 : 0;
    r->meeting_count = find_meetings(r, first, (const int(*)[2])ends, NULL, NULL);
    r->meetings = pool_take(&r->memory, (size_t)r->meeting_count, sizeof(meeting));
    int(*edges)[2] = pool_take(&scratch, (size_t)r->meeting_count, sizeof(int[2]));
    status = r->memory.failed ? HN_OUT_OF_MEMORY : pool_status(&scratch);
    if (status != HN_OK) goto done;
    find_meetings(r, first, (const int(*)[2])ends, r->meetings, edges);
    status = analyse_blocks(r, sequence, r->meeting_count, (const int(*)[2])edges);
    for (int i = 0; status == HN_OK && i < r->meeting_count; ++i) {
        meeting *x = &r->meetings[i];
        int a = edges[i][0], b = edges[i][1];
        x->block =
            r->lu != NULL ? block_lu_block(r->lu, a, b) : block_cholesky_block(r->cholesky, a, b);
        x->transposed =
            r->lu != NULL ? block_lu_block(r->lu, b, a) : block_cholesky_block(r->cholesky, b, a);
    }
done:
    pool_release(&scratch);
    return status;
}

static hn_status create_parts(independent_rows *r, const joint_place *joints, int joint_count,
                              const int *sequence)
{
    const hn_system *system = r->system;
    r->joints = pool_take(&r->memory, (size_t)joint_count, sizeof(loop_joint));
    r->turn_scale = pool_doubles(&r->memory, (size_t)system->body_count);
    TRY(pool_status(&r->memory));
    for (int k = 0; k < joint_count; ++k) {
        if (!joint_is_block(system, &joints[k])) continue;
        r->joints[r->joint_count++] =
            (loop_joint){joints[k].rows, {joints[k].a, joints[k].b}, r->row_count};
        r->row_count += joints[k].rows->row_count;
    }
    r->rows = pool_take(&r->memory, (size_t)r->row_count, sizeof *r->rows);
    r->scale = pool_doubles(&r->memory, (size_t)r->row_count);
    TRY(pool_status(&r->memory));
    loop_joints_turn_scales(system, r->joints, r->joint_count, r->turn_scale);
    return create_blocks(r, sequence);
}

hn_status independent_rows_create(hn_system *system, const joint_place *joints, int joint_count,
                                  const int *sequence, independent_rows **out)
{
    *out = NULL;
    independent_rows *r = context_allocate(system->context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    r->system = system;
    r->memory.context = system->context;
    hn_status status = create_parts(r, joints, joint_count, sequence);
    if (status == HN_OK) *out = r;
    else independent_rows_destroy(r);
    return status;
}

// The rows of a joint at a hub.
static void assemble_at_hub(const independent_rows *r, const meeting *x)
{
    const loop_joint *j = &r->joints[x->joint[1]];
    int rows = j->rows->row_count;
    for (int i = 0; i < rows; ++i)
        for (int c = 0; c < TWIST_SIZE; ++c)
            x->block[c * rows + i] = x->transposed[TWIST_SIZE * i + c] =
                r->rows[j->first_row + i][x->side[1]][c];
}

// What two joints at one body add to G S G^T, times a factor
static void assemble_meeting(const independent_rows *r, const meeting *x, double factor)
{
    const loop_joint *a = &r->joints[x->joint[0]], *b = &r->joints[x->joint[1]];
    int rows = a->rows->row_count, columns = b->rows->row_count;
    bool own = x->joint[0] == x->joint[1], both = own && x->side[0] != x->side[1];
    for (int i = 0; i < rows; ++i) {
        const double *left = r->rows[a->first_row + i][x->side[0]];
        for (int k = 0; k < columns; ++k) {
            const double *right = r->rows[b->first_row + k][x->side[1]];
            double product =
                factor * (left[0] * right[0] + left[1] * right[1] + left[2] * right[2] +
                          left[3] * right[3] + left[4] * right[4] + left[5] * right[5]);
            if (x->block != NULL) x->block[i * columns + k] += product;
            if (both) x->block[k * columns + i] += product;
            else if (!own && x->transposed != NULL) x->transposed[k * rows + i] += product;
        }
    }
}

// G S G^T, with hubs -G S G^T
static void assemble(independent_rows *r, const double *q)
{
    loop_joints_rows(r->system, r->joints, r->joint_count, r->turn_scale, q, r->rows);
    if (r->lu == NULL) {
        block_cholesky_clear(r->cholesky);
        for (int m = 0; m < r->meeting_count; ++m) assemble_meeting(r, &r->meetings[m], 1.0);
        return;
    }
    for (int k = 0; k < r->row_count; ++k) {
        double sum = 0.0;
        for (int side = 0; side < 2; ++side)
            for (int c = 0; c < TWIST_SIZE; ++c) sum += r->rows[k][side][c] * r->rows[k][side][c];
        r->scale[k] = sum;
    }
    block_lu_clear(r->lu);
    for (int h = 0; h < r->hub_count; ++h)
        for (int c = 0; c < TWIST_SIZE; ++c)
            block_lu_block(r->lu, h, h)[(TWIST_SIZE + 1) * c] = 1.0;
    for (int m = 0; m < r->meeting_count; ++m) {
        if (r->meetings[m].joint[0] < 0) assemble_at_hub(r, &r->meetings[m]);
        else assemble_meeting(r, &r->meetings[m], -1.0);
    }
}

hn_status independent_rows_choose(independent_rows *r, const double *q, row_choice *choice,
                                  bool *dropped)
{
    *choice = (row_choice){.smallest_kept = 1.0, .smallest_joint = -1, .dropped_joint = -1};
    if (r->row_count == 0) return HN_OK;
    assemble(r, q);
    row_rank rank = {.tolerance = DEPENDENT_PIVOT,
                     .dropped = dropped,
                     .smallest_kept = 1.0,
                     .smallest_node = -1,
                     .largest_dropped_node = -1};
    block_lu_rank beyond_hubs = {.first_node = r->hub_count, .scale = r->scale, .rows = &rank};
    int failed = r->lu != NULL ? block_lu_factor_rank(r->lu, &beyond_hubs)
                               : block_cholesky_factor_rank(r->cholesky, &rank);
    if (failed >= 0) return HN_SINGULAR_SYSTEM;
    choice->smallest_kept = rank.smallest_kept;
    choice->largest_dropped = rank.largest_dropped;
    for (int k = 0; k < r->row_count; ++k) choice->dropped_count += dropped[k] ? 1 : 0;
    if (rank.smallest_node >= 0)
        choice->smallest_joint = r->joints[rank.smallest_node].rows->model_joint;
    if (rank.largest_dropped_node >= 0)
        choice->dropped_joint = r->joints[rank.largest_dropped_node].rows->model_joint;
    return HN_OK;
}
