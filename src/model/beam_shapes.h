// SPDX-License-Identifier: MIT
// Reference shapes of beams: where the nodes stand and how their sections are turned.
#ifndef MODEL_BEAM_SHAPES_H
#define MODEL_BEAM_SHAPES_H

#include "model/model.h"

/// Places and frames of `element_count + 1` nodes and the lengths of the elements between them.
typedef struct beam_nodes {
    hn_vec3 *places;  ///< m
    hn_mat3 *frames;  ///< columns d1, d2, d3
    double *lengths;  ///< m, per element
} beam_nodes;

/// Place the nodes of a definition. `name` stands in messages. @return HN_OK, HN_INVALID_MODEL, HN_OUT_OF_MEMORY
hn_status beam_shape_nodes(hn_context *context, const char *name, const hn_beam_def *def, beam_nodes *nodes);

#endif
