// SPDX-License-Identifier: MIT
// Search for the spanning tree: breadth first over joints, components tied by elastic edges after each other.
#include "system/graph_search.h"

#include "base/pool.h"

static bool ties_bodies(const model_load *load)
{
    return load_kind_facts_of(load->kind)->body_count == 2 && load->body_a != load->body_b;
}

edge_hold graph_load_hold(const hn_model *model, int load)
{
    const model_load *from = &model->loads[load];
    if (from->kind != LOAD_BUSHING) return HOLD_NOT;
    for (int k = 0; k < 6; ++k)
        if (!(from->stiffnesses[k] > 0.0)) return HOLD_NOT;
    return HOLD_FIRM;
}

int graph_load_on_ground(const hn_model *model, int load)
{
    const model_load *from = &model->loads[load];
    if (!ties_bodies(from) || (from->body_a >= 0 && from->body_b >= 0)) return -1;
    return from->body_a >= 0 ? from->body_a : from->body_b;
}

// Edges that count: joints with constraints, beam elements, and springs between two bodies.
static void list_edges(tree_search *t)
{
    const hn_model *model = t->model;
    int n = model->body_count;
    for (int j = 0; j < model->joint_count; ++j) {
        const model_joint *from = &model->joints[j];
        if (from->kind == HN_JOINT_FREE) continue;
        t->edges[t->edge_count++] = (graph_edge){.a = from->body_a < 0 ? n : from->body_a,
                                                 .b = from->body_b < 0 ? n : from->body_b,
                                                 .joint = j};
    }
    t->joint_count = t->edge_count;
    for (int i = 0; i < model->beam_count; ++i)
        for (int k = 0; k < model->beams[i].element_count; ++k) {
            int node = model->beams[i].first_body + k;
            t->edges[t->edge_count++] =
                (graph_edge){.a = node, .b = node + 1, .joint = -1, .hold = HOLD_FIRM};
        }
    t->beam_count = t->edge_count - t->joint_count;
    for (int k = 0; k < model->load_count; ++k) {
        const model_load *from = &model->loads[k];
        if (!ties_bodies(from) || from->body_a < 0 || from->body_b < 0) continue;
        t->edges[t->edge_count++] = (graph_edge){
            .a = from->body_a, .b = from->body_b, .joint = -1, .hold = graph_load_hold(model, k)};
    }
}

// Edges `begin` to `end` at each of the bodies and the ground; `fill` is room for as many numbers.
static void list_neighbours(const tree_search *t, int begin, int end, neighbours *out, int *fill)
{
    int n = t->model->body_count;
    for (int e = begin; e < end; ++e)
        out->first[t->edges[e].a + 1]++, out->first[t->edges[e].b + 1]++;
    for (int i = 0; i <= n; ++i) out->first[i + 1] += out->first[i], fill[i] = out->first[i];
    for (int e = begin; e < end; ++e) {
        out->list[fill[t->edges[e].a]++] = e;
        out->list[fill[t->edges[e].b]++] = e;
    }
}

// Reach the bodies that joints tie to one body, or to the ground.
static void reach_neighbours(tree_search *t, int body)
{
    int n = t->model->body_count;
    for (int p = t->joints.first[body]; p < t->joints.first[body + 1]; ++p) {
        const graph_edge *edge = &t->edges[t->joints.list[p]];
        int to = other_end(edge, body);
        if (to == n || t->from[to] != NOT_REACHED) continue;
        t->from[to] = body == n ? FROM_GROUND : body;
        t->via[to] = edge->joint;
        t->queue[t->tail++] = to;
    }
}

void reach_component(tree_search *t, int root, int from)
{
    int head = t->tail;
    t->from[root] = from;
    t->via[root] = -1;
    t->queue[t->tail++] = root;
    while (head < t->tail) reach_neighbours(t, t->queue[head++]);
}

void reach_from_ground(tree_search *t)
{
    int head = t->tail;
    reach_neighbours(t, t->model->body_count);
    while (head < t->tail) reach_neighbours(t, t->queue[head++]);
}

void forget_search(tree_search *t)
{
    t->tail = 0;
    for (int i = 0; i < t->model->body_count; ++i) t->from[i] = NOT_REACHED;
}

// Components that elastic edges tie to a body, unless they must have another root.
static void reach_elastic(tree_search *t, const neighbours *edges, int body)
{
    for (int p = edges->first[body]; p < edges->first[body + 1]; ++p) {
        const graph_edge *edge = &t->edges[edges->list[p]];
        int to = other_end(edge, body);
        int root = t->from[to] == NOT_REACHED ? t->root[t->component[to]] : -1;
        if (t->from[to] != NOT_REACHED || (root >= 0 && root != to)) continue;
        reach_component(t, to, body);
        t->carried[to] = edge->hold == HOLD_FIRM;
    }
}

// The ground's component, whatever hangs on it by elastic edges, then the same from every body not yet reached. A
// spring is taken only when no beam leads on: as the edge that closes a ring it costs less.
static void search(tree_search *t)
{
    int n = t->model->body_count, beams = 0, springs = 0;
    forget_search(t);
    reach_from_ground(t);
    for (int at = 0; at <= t->begin_count + n; ++at) {
        while (springs < t->tail) {
            if (beams < t->tail) reach_elastic(t, &t->beams, t->queue[beams++]);
            else reach_elastic(t, &t->springs, t->queue[springs++]);
        }
        if (at == t->begin_count + n) continue;
        int next = at < t->begin_count ? t->begin[at] : at - t->begin_count;
        if (t->from[next] != NOT_REACHED) continue;
        int root = t->root[t->component[next]];
        reach_component(t, root >= 0 ? root : next, FROM_GROUND);
    }
}

// Parents before children, and a chain in one piece of memory: depth first over the tree found.
static void number_depth_first(tree_search *t, tree *out)
{
    int n = t->model->body_count, count = 0, depth = 0;
    for (int i = 0; i <= n; ++i) t->child[i] = -1;
    for (int i = n - 1; i >= 0; --i) {
        int parent = t->from[i] < 0 ? n : t->from[i];
        t->sibling[i] = t->child[parent];
        t->child[parent] = i;
    }
    int *stack = t->queue;
    if (t->child[n] >= 0) stack[depth++] = t->child[n];
    while (depth > 0) {
        int body = stack[--depth];
        out->place[body] = count;
        out->order[count] = body;
        out->parent[count] = t->from[body] < 0 ? -1 : out->place[t->from[body]];
        out->joint[count] = t->via[body];
        out->carried[count] = t->carried[body];
        if (t->via[body] >= 0) out->used[t->via[body]] = true;
        count++;
        if (t->sibling[body] >= 0) stack[depth++] = t->sibling[body];
        if (t->child[body] >= 0) stack[depth++] = t->child[body];
    }
}

hn_status tree_find(hn_context *context, const hn_model *model, tree *out)
{
    // a beam has fewer elements than bodies; the ground is one more body
    size_t n = (size_t)model->body_count + 1,
           m = (size_t)model->joint_count + (size_t)model->load_count + n;
    pool memory = {.context = context};
    tree_search t = {.model = model,
                     .edges = pool_take(&memory, m, sizeof(graph_edge)),
                     .queue = pool_ints(&memory, n),
                     .from = pool_ints(&memory, n),
                     .via = pool_ints(&memory, n),
                     .carried = pool_take(&memory, n, sizeof(bool)),
                     .component = pool_ints(&memory, n),
                     .root = pool_ints(&memory, n),
                     .begin = pool_ints(&memory, n),
                     .alike = {-1, -1},
                     .child = pool_ints(&memory, n),
                     .sibling = pool_ints(&memory, n)};
    neighbours *const all[] = {&t.joints, &t.beams, &t.springs};
    for (int k = 0; k < 3; ++k)
        *all[k] = (neighbours){pool_ints(&memory, n + 1), pool_ints(&memory, 2 * m)};
    int *fill = pool_ints(&memory, n);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        list_edges(&t);
        int beams_end = t.joint_count + t.beam_count;
        list_neighbours(&t, 0, t.joint_count, &t.joints, fill);
        list_neighbours(&t, t.joint_count, beams_end, &t.beams, fill);
        list_neighbours(&t, beams_end, t.edge_count, &t.springs, fill);
        status = find_roots(&t, context);
    }
    if (status == HN_OK) {
        search(&t);
        number_depth_first(&t, out);
        out->alike[0] = t.alike[0];
        out->alike[1] = t.alike[1];
    }
    pool_release(&memory);
    return status;
}
