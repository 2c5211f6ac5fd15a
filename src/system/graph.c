// SPDX-License-Identifier: MIT
// Search for the spanning tree: breadth first over joints, components tied by elastic edges after each other.
#include "system/graph.h"

enum { NOT_REACHED = -2, FROM_GROUND = -1 };

// What joins two bodies of the model; the ground has the number body_count.
typedef struct graph_edge {
    int a, b;
    int joint; // of the model; -1: elastic
} graph_edge;

// Edges at each body in compressed form.
typedef struct neighbours {
    int *first, *list;
} neighbours;

typedef struct tree_search {
    const hn_model *model;
    graph_edge *edges; // joints, then beam elements, then springs
    int joint_count, beam_count, edge_count;
    neighbours joints, beams, springs;
    int *queue;           // bodies of the search in the order they were reached, by whatever edge
    int tail;             // bodies in it
    int *from;            // per body: body it was reached from, FROM_GROUND or NOT_REACHED
    int *via;             // per body: joint it was reached by, -1: it is a root
    int *component;       // per body: first body of its component
    int *root;            // per first body: the root that the component must have, or -1
    int *child, *sibling; // the tree as lists of children; entry body_count is the ground
} tree_search;

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
            t->edges[t->edge_count++] = (graph_edge){.a = node, .b = node + 1, .joint = -1};
        }
    t->beam_count = t->edge_count - t->joint_count;
    for (int k = 0; k < model->load_count; ++k) {
        const model_load *from = &model->loads[k];
        if (load_kind_facts_of(from->kind)->body_count != 2 || from->body_a < 0 ||
            from->body_b < 0 || from->body_a == from->body_b)
            continue;
        t->edges[t->edge_count++] = (graph_edge){.a = from->body_a, .b = from->body_b, .joint = -1};
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

static int other_end(const graph_edge *edge, int body)
{
    return edge->a == body ? edge->b : edge->a;
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

// Reach a component, breadth first over joints: loops stay short.
static void reach_component(tree_search *t, int root, int from)
{
    int head = t->tail;
    t->from[root] = from;
    t->via[root] = -1;
    t->queue[t->tail++] = root;
    while (head < t->tail) reach_neighbours(t, t->queue[head++]);
}

static void reach_from_ground(tree_search *t)
{
    int head = t->tail;
    reach_neighbours(t, t->model->body_count);
    while (head < t->tail) reach_neighbours(t, t->queue[head++]);
}

static void forget_search(tree_search *t)
{
    t->tail = 0;
    for (int i = 0; i < t->model->body_count; ++i) t->from[i] = NOT_REACHED;
}

static void ask_for_root(tree_search *t, int body, int root)
{
    if (body >= 0 && t->root[t->component[body]] < 0) t->root[t->component[body]] = root;
}

// Components that the ground does not hold, and the roots they must have. Start velocities that are not given follow
// from a component's root: the body of a free joint with rates, or else the first one of the model. Where nothing is
// given any root will do.
static void find_components(tree_search *t)
{
    const hn_model *model = t->model;
    forget_search(t);
    reach_from_ground(t);
    for (int i = 0; i < t->tail; ++i) t->component[t->queue[i]] = t->queue[i];
    for (int i = 0; i < model->body_count; ++i) {
        int before = t->tail;
        t->root[i] = -1;
        if (t->from[i] != NOT_REACHED) continue;
        reach_component(t, i, FROM_GROUND);
        for (int k = before; k < t->tail; ++k) t->component[t->queue[k]] = i;
    }
    for (int j = 0; j < model->joint_count; ++j) {
        const model_joint *from = &model->joints[j];
        if (from->kind != HN_JOINT_FREE || !from->has_rates) continue;
        if (from->body_a >= 0 && from->body_b >= 0) continue;
        int body = from->body_a < 0 ? from->body_b : from->body_a;
        ask_for_root(t, body, body);
    }
    for (int j = 0; j < model->joint_count; ++j) {
        const model_joint *from = &model->joints[j];
        int body = from->body_a < 0 ? from->body_b : from->body_a;
        if (from->has_rates && body >= 0) ask_for_root(t, body, t->component[body]);
    }
    for (int i = 0; i < model->body_count; ++i)
        if (model->bodies[i].has_velocity || model->bodies[i].has_angular_velocity)
            ask_for_root(t, i, t->component[i]);
}

// Components that elastic edges tie to a body, unless they must have another root.
static void reach_elastic(tree_search *t, const neighbours *edges, int body)
{
    for (int p = edges->first[body]; p < edges->first[body + 1]; ++p) {
        int to = other_end(&t->edges[edges->list[p]], body);
        int root = t->from[to] == NOT_REACHED ? t->root[t->component[to]] : -1;
        if (t->from[to] != NOT_REACHED || (root >= 0 && root != to)) continue;
        reach_component(t, to, body);
    }
}

// The ground's component, whatever hangs on it by elastic edges, then the same from every body not yet reached. A
// spring is taken only when no beam leads on: as the edge that closes a ring it costs less.
static void search(tree_search *t)
{
    int n = t->model->body_count, beams = 0, springs = 0;
    forget_search(t);
    reach_from_ground(t);
    for (int next = 0; next <= n; ++next) {
        while (springs < t->tail) {
            if (beams < t->tail) reach_elastic(t, &t->beams, t->queue[beams++]);
            else reach_elastic(t, &t->springs, t->queue[springs++]);
        }
        if (next == n || t->from[next] != NOT_REACHED) continue;
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
        if (t->via[body] >= 0) out->used[t->via[body]] = true;
        count++;
        if (t->sibling[body] >= 0) stack[depth++] = t->sibling[body];
        if (t->child[body] >= 0) stack[depth++] = t->child[body];
    }
}

hn_status tree_find(hn_context *context, const hn_model *model, tree *out)
{
    // a beam has fewer elements than bodies
    size_t n = (size_t)model->body_count + 2,
           m = (size_t)model->joint_count + (size_t)model->load_count + n;
    int *memory = context_allocate(context, (11 * n + 6 * m) * sizeof(int));
    graph_edge *edges = context_allocate(context, m * sizeof(graph_edge));
    hn_status status = memory == NULL || edges == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) {
        tree_search t = {.model = model,
                         .edges = edges,
                         .joints = {memory, memory + 11 * n},
                         .beams = {memory + n, memory + 11 * n + 2 * m},
                         .springs = {memory + 10 * n, memory + 11 * n + 4 * m},
                         .queue = memory + 2 * n,
                         .from = memory + 3 * n,
                         .via = memory + 4 * n,
                         .component = memory + 5 * n,
                         .root = memory + 6 * n,
                         .child = memory + 7 * n,
                         .sibling = memory + 8 * n};
        int *fill = memory + 9 * n;
        list_edges(&t);
        list_neighbours(&t, 0, t.joint_count, &t.joints, fill);
        int beams_end = t.joint_count + t.beam_count;
        list_neighbours(&t, t.joint_count, beams_end, &t.beams, fill);
        list_neighbours(&t, beams_end, t.edge_count, &t.springs, fill);
        find_components(&t);
        search(&t);
        number_depth_first(&t, out);
    }
    context_release(context, memory);
    context_release(context, edges);
    return status;
}
