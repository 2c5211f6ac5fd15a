// SPDX-License-Identifier: MIT
// Shapes as triangles, for the formats of viewers.
#ifndef IO_SHAPE_MESH_H
#define IO_SHAPE_MESH_H

#include <holonom/model.h>

#include "base/context.h"

/// Triangles with corners of their own: three corners each, every corner with its normal.
typedef struct shape_mesh {
    hn_context *context;
    hn_vec3 *corners, *normals;
    int count; ///< corners, three a triangle
    int corner_capacity, normal_capacity;
} shape_mesh;

/// Append a shape, moved by -`origin`: the place in the body frame that the mesh counts from.
hn_status shape_mesh_add(shape_mesh *mesh, const hn_shape *shape, hn_vec3 origin);

void shape_mesh_clear(shape_mesh *mesh);

#endif
