// SPDX-License-Identifier: MIT
// The spanning tree of a model: over joints first, then over elastic edges.
//
// Bodies that joints connect form a component, and the tree of a component runs over its joints. Components that an
// element with a potential ties together (a beam element, a spring) hang on each other there: the body at its end is
// the root of its component, with a free joint, but its parent in the tree is the body at the element's other end. The
// elimination of reductions/tree.h then meets the element on an edge of the tree, where it costs nothing beyond its own
// blocks.
#ifndef SYSTEM_GRAPH_H
#define SYSTEM_GRAPH_H

#include "model/model.h"

/// What the search for the tree leaves behind; arrays are the caller's.
typedef struct tree {
    int *order;  ///< model index of the k-th body in tree order
    int *place;  ///< tree index of a body of the model
    int *parent; ///< tree index of the parent, or GROUND
    int *joint;  ///< model joint to the parent, or -1: a free root, on the ground or on an elastic edge
    bool *carried; ///< a free root on a beam or a bushing that is stiff in all directions: where nothing is said of its
                   ///< start velocity it moves with its parent
    bool *used;  ///< per joint: in the tree
    int alike[2]; ///< model bodies of which the first stays at the start for its place in the file alone; or -1
} tree;

/// Find the tree. @return HN_OK or HN_OUT_OF_MEMORY
hn_status tree_find(hn_context *context, const hn_model *model, tree *out);

#endif
