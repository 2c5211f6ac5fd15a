// SPDX-License-Identifier: MIT
// Where components begin: the body of each that is nearest to the ground, over joints and whatever ties elastically.
//
// A joint's start values are relative: they move what lies beyond it, and what is not told follows. In a component
// that is tied to the ground through beams or stiff bushings the body at the fewest of them stays; else the body that
// hangs on no other (second body of no joint, first node of its beam), of several one with a start velocity of its own,
// one with fewer springs to the ground, the heaviest. The order in a file decides between equals alone, and is said.
#include "system/graph_search.h"

#include "base/pool.h"

#include <math.h>

static const double SAME_MASS = 1e-12; // relative: bodies that no choice can rest on

// What is known while components are settled; arrays per body, or per first body of a component.
typedef struct root_search {
    tree_search *t;
    int *member; // bodies, one component after the other
    int *begin;  // per component: where its bodies begin in `member`
    int *
        rank; // per body: how firmly it is tied to what is nearer to the ground, edge_hold + 1, or 0
    int *line;   // bodies of settled components, in the order of their distance
    int settled; // of them
    int *whole;  // bodies of a mechanism that nothing ties to the ground
    bool
        *second; // per body: it hangs on another, as second body of a joint or later node of a beam
    bool *done;  // per component: settled
    bool *seen;  // per component: in `whole`
    bool *relative; // per component: joints have start values
    bool *thrown;   // per component: bodies have start velocities
} root_search;

static int size_of(const root_search *x, int component)
{
    const tree_search *t = x->t;
    int k = x->begin[component];
    while (k < t->model->body_count && t->component[x->member[k]] == component) ++k;
    return k - x->begin[component];
}

static bool is_thrown(const model_body *body)
{
    return body->has_velocity || body->has_angular_velocity;
}

// Is `body` a better one to stay than `than`? `alike`: nothing tells them apart but their order.
static bool stays_rather(const root_search *x, int body, int than, bool *alike)
{
    const model_body *bodies = x->t->model->bodies;
    *alike = false;
    bool firm = x->rank[body] > HOLD_FIRM, other_firm = x->rank[than] > HOLD_FIRM;
    if (firm != other_firm) return firm;
    if (x->second[body] != x->second[than]) return x->second[than];
    if (is_thrown(&bodies[body]) != is_thrown(&bodies[than])) return is_thrown(&bodies[body]);
    if (x->rank[body] != x->rank[than]) return x->rank[body] > x->rank[than];
    double mass = bodies[body].mass, other = bodies[than].mass;
    *alike = fabs(mass - other) <= SAME_MASS * (mass + other);
    return !*alike && mass > other;
}

// The first of the best, and another that is as good: `other`, best first.
static int best_of(const root_search *x, const int *list, int count, int other[2])
{
    int best = list[0];
    for (int k = 1; k < count; ++k) {
        bool alike, rather = stays_rather(x, list[k], best, &alike);
        if (alike) {
            other[0] = list[k] < best ? best : list[k];
            other[1] = best = list[k] < best ? list[k] : best;
        } else if (rather) {
            best = list[k];
            other[0] = -1;
        }
    }
    return best;
}

// The body that stays, of several; it is said when only their order told it.
static int choose(root_search *x, const int *list, int count)
{
    tree_search *t = x->t;
    int other[2] = {-1, -1}, best = best_of(x, list, count, other);
    if (other[0] >= 0) t->alike[0] = other[1], t->alike[1] = other[0];
    return best;
}

// Is all of its motion told?
static bool is_thrown_wholly(const model_body *body)
{
    return body->has_velocity && (body->has_angular_velocity || body->kind != HN_BODY_RIGID);
}

// Does it matter which of these bodies stays? Not where nothing is told, or all motions of all of them.
static bool matters(const root_search *x, const int *list, int count)
{
    const tree_search *t = x->t;
    int thrown = 0, wholly = 0;
    for (int k = 0; k < count; ++k) {
        const model_body *body = &t->model->bodies[list[k]];
        if (x->relative[t->component[list[k]]]) return true;
        thrown += is_thrown(body);
        wholly += is_thrown_wholly(body);
    }
    return thrown > 0 && wholly < count;
}

// Its root, where start values ask for one and no free joint with rates has; others may hang on its bodies next.
static void settle(root_search *x, int component)
{
    tree_search *t = x->t;
    int count = size_of(x, component), *bodies = x->member + x->begin[component];
    if (t->root[component] < 0 && count > 1 && matters(x, bodies, count))
        t->root[component] = choose(x, bodies, count);
    if (t->root[component] < 0 && x->thrown[component]) t->root[component] = component;
    x->done[component] = true;
    for (int k = 0; k < count; ++k) x->line[x->settled++] = bodies[k];
}

static void rank_neighbours(root_search *x, const neighbours *edges, int body)
{
    tree_search *t = x->t;
    for (int p = edges->first[body]; p < edges->first[body + 1]; ++p) {
        const graph_edge *edge = &t->edges[edges->list[p]];
        int to = other_end(edge, body), rank = (int)edge->hold + 1;
        if (!x->done[t->component[to]] && rank > x->rank[to]) x->rank[to] = rank;
    }
}

static void settle_neighbours(root_search *x, const neighbours *edges, int body)
{
    const tree_search *t = x->t;
    for (int p = edges->first[body]; p < edges->first[body + 1]; ++p) {
        int component = t->component[other_end(&t->edges[edges->list[p]], body)];
        if (!x->done[component]) settle(x, component);
    }
}

// All components that hang on those settled from `head` on, layer by layer.
static void settle_layers(root_search *x, int head)
{
    const tree_search *t = x->t;
    while (head < x->settled) {
        int end = x->settled;
        for (int k = head; k < end; ++k) {
            rank_neighbours(x, &t->beams, x->line[k]);
            rank_neighbours(x, &t->springs, x->line[k]);
        }
        for (int k = head; k < end; ++k) {
            settle_neighbours(x, &t->beams, x->line[k]);
            settle_neighbours(x, &t->springs, x->line[k]);
        }
        head = end;
    }
}

// Components that the ground does not hold.
static void find_components(root_search *x)
{
    tree_search *t = x->t;
    int n = t->model->body_count;
    forget_search(t);
    reach_from_ground(t);
    for (int k = 0; k < t->tail; ++k) t->component[t->queue[k]] = t->queue[k];
    for (int i = 0; i < n; ++i) {
        int before = t->tail;
        t->root[i] = -1;
        if (t->from[i] != NOT_REACHED) continue;
        reach_component(t, i, FROM_GROUND);
        for (int k = before; k < t->tail; ++k) t->component[t->queue[k]] = i;
    }
    for (int k = 0; k < n; ++k) {
        x->member[k] = t->queue[k];
        if (k == 0 || t->component[t->queue[k]] != t->component[t->queue[k - 1]])
            x->begin[t->component[t->queue[k]]] = k;
    }
}

// What the model tells of starts, and of who hangs on whom.
static void note_told(root_search *x)
{
    tree_search *t = x->t;
    const hn_model *model = t->model;
    for (int j = 0; j < model->joint_count; ++j) {
        const model_joint *from = &model->joints[j];
        int body = from->body_a < 0 ? from->body_b : from->body_a;
        if (body < 0) continue;
        if (from->has_rates || from->given != 0) x->relative[t->component[body]] = true;
        if (from->kind != HN_JOINT_FREE && from->body_a >= 0 && from->body_b >= 0)
            x->second[from->body_b] = true;
        if (from->kind == HN_JOINT_FREE && from->has_rates &&
            (from->body_a < 0 || from->body_b < 0) && t->root[t->component[body]] < 0)
            t->root[t->component[body]] = body;
    }
    for (int i = 0; i < model->body_count; ++i)
        if (is_thrown(&model->bodies[i])) x->thrown[t->component[i]] = true;
    for (int i = 0; i < model->beam_count; ++i)
        for (int k = 1; k <= model->beams[i].element_count; ++k)
            x->second[model->beams[i].first_body + k] = true;
}

// Those that the ground holds by joints or ties elastically, and what hangs on them.
static void settle_grounded(root_search *x)
{
    tree_search *t = x->t;
    const hn_model *model = t->model;
    int joined;
    forget_search(t);
    reach_from_ground(t);
    joined = t->tail;
    for (int k = 0; k < joined; ++k) settle(x, t->queue[k]);
    for (int k = 0; k < model->load_count; ++k) {
        int body = graph_load_on_ground(model, k), rank = (int)graph_load_hold(model, k) + 1;
        if (body < 0 || x->done[t->component[body]]) continue;
        if (rank > x->rank[body]) x->rank[body] = rank;
    }
    // those beside the ground, be it by an edge of a body that it holds, before any is settled
    for (int k = 0; k < joined; ++k) {
        rank_neighbours(x, &t->beams, x->line[k]);
        rank_neighbours(x, &t->springs, x->line[k]);
    }
    for (int k = 0; k < model->load_count; ++k) {
        int body = graph_load_on_ground(model, k);
        if (body < 0 || x->done[t->component[body]]) continue;
        settle(x, t->component[body]);
        if (t->root[t->component[body]] >= 0)
            t->begin[t->begin_count++] = t->root[t->component[body]];
    }
    settle_layers(x, 0);
}

static void see(root_search *x, int component, int *count)
{
    int size = size_of(x, component);
    x->seen[component] = true;
    for (int k = 0; k < size; ++k) x->whole[(*count)++] = x->member[x->begin[component] + k];
}

static void see_neighbours(root_search *x, const neighbours *edges, int body, int *count)
{
    const tree_search *t = x->t;
    for (int p = edges->first[body]; p < edges->first[body + 1]; ++p) {
        int component = t->component[other_end(&t->edges[edges->list[p]], body)];
        if (!x->seen[component]) see(x, component, count);
    }
}

// A mechanism that nothing ties to the ground begins from one of its bodies, the first one where nothing is told.
static void settle_floating(root_search *x, int first)
{
    tree_search *t = x->t;
    int count = 0, base = -1, head = x->settled;
    see(x, first, &count);
    for (int k = 0; k < count; ++k) {
        see_neighbours(x, &t->beams, x->whole[k], &count);
        see_neighbours(x, &t->springs, x->whole[k], &count);
    }
    for (int k = 0; k < count; ++k) {
        int component = t->component[x->whole[k]];
        if (base < 0) base = t->root[component];
    }
    bool chosen = matters(x, x->whole, count);
    if (base < 0) base = chosen ? choose(x, x->whole, count) : first;
    if (chosen) t->root[t->component[base]] = t->begin[t->begin_count++] = base;
    settle(x, t->component[base]);
    settle_layers(x, head);
}

hn_status find_roots(tree_search *t, hn_context *context)
{
    size_t n = (size_t)t->model->body_count;
    pool memory = {.context = context};
    root_search x = {.t = t,
                     .member = pool_ints(&memory, n),
                     .begin = pool_ints(&memory, n),
                     .rank = pool_ints(&memory, n),
                     .line = pool_ints(&memory, n),
                     .whole = pool_ints(&memory, n),
                     .second = pool_take(&memory, n, sizeof(bool)),
                     .done = pool_take(&memory, n, sizeof(bool)),
                     .seen = pool_take(&memory, n, sizeof(bool)),
                     .relative = pool_take(&memory, n, sizeof(bool)),
                     .thrown = pool_take(&memory, n, sizeof(bool))};
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        find_components(&x);
        note_told(&x);
        settle_grounded(&x);
        for (int i = 0; i < (int)n; ++i)
            if (!x.done[t->component[i]]) settle_floating(&x, t->component[i]);
    }
    pool_release(&memory);
    return status;
}
