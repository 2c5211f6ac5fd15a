// SPDX-License-Identifier: MIT
// The search for the spanning tree: graph.c reaches bodies, roots.c says where components begin.
#ifndef SYSTEM_GRAPH_SEARCH_H
#define SYSTEM_GRAPH_SEARCH_H

#include "system/graph.h"

enum { NOT_REACHED = -2, FROM_GROUND = -1 };

/// How an edge holds what hangs on it when nothing is said of its start velocity.
typedef enum edge_hold {
    HOLD_NOT,  ///< a spring, or a bushing that leaves a direction free
    HOLD_FIRM, ///< beam elements, and bushings stiff in all six directions: as a joint that is locked
} edge_hold;

/// What joins two bodies of the model; the ground has the number body_count.
typedef struct graph_edge {
    int a, b;
    int joint; ///< of the model; -1: elastic
    edge_hold hold; ///< of those that are elastic
} graph_edge;

/// Edges at each body in compressed form.
typedef struct neighbours {
    int *first, *list;
} neighbours;

typedef struct tree_search {
    const hn_model *model;
    graph_edge *edges; ///< joints, then beam elements, then springs and bushings
    int joint_count, beam_count, edge_count;
    neighbours joints, beams, springs;
    int *queue;           ///< bodies of the search in the order they were reached, by whatever edge
    int tail;             ///< bodies in it
    int *from;            ///< per body: body it was reached from, FROM_GROUND or NOT_REACHED
    int *via;             ///< per body: joint it was reached by, -1: it is a root
    bool *carried;        ///< per body: a root that moves with the body it was reached from
    int *component;       ///< per body: first body of its component
    int *root;            ///< per first body: the root that the component must have, or -1
    int *begin;           ///< bodies that the search begins from, `begin_count`, before any other
    int begin_count;
    int alike[2];         ///< bodies of which the first stays since it stands first in the file; or -1
    int *child, *sibling; ///< the tree as lists of children; entry body_count is the ground
} tree_search;

static inline int other_end(const graph_edge *edge, int body)
{
    return edge->a == body ? edge->b : edge->a;
}

/// Begin anew: nothing is reached.
void forget_search(tree_search *search);
/// Reach what joints tie to the ground.
void reach_from_ground(tree_search *search);
/// Reach a component, breadth first over joints: loops stay short.
void reach_component(tree_search *search, int root, int from);
/// How a load between two bodies, or a body and the ground, holds; and that body, or -1.
edge_hold graph_load_hold(const hn_model *model, int load);
int graph_load_on_ground(const hn_model *model, int load);
/// Components, the roots they must have, and where the search begins (roots.c). Start values that are not given follow
/// from a component's root; where nothing is given any will do. @return HN_OK or HN_OUT_OF_MEMORY
hn_status find_roots(tree_search *search, hn_context *context);

#endif
