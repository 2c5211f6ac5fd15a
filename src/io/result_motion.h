// SPDX-License-Identifier: MIT
// The motion of a result file as pictures need it: some of its records, the bodies' meshes, the beams' elements.
#ifndef IO_RESULT_MOTION_H
#define IO_RESULT_MOTION_H

#include <holonom/results.h>

#include "io/shape_mesh.h"

/// What moves as one: a body, or an element of a beam, which is drawn straight between its nodes.
typedef struct result_motion {
    hn_context *context;
    hn_result_file *file;
    const hn_result_info *info;
    int64_t stride;       ///< records between two frames
    int frame_count;
    double *time;         ///< s, of the frames
    double *position;     ///< m: frames, bodies, 3
    double *orientation;  ///< frames, bodies, 3, 3
    double *velocity;     ///< m/s: frames, bodies, 3
    double *angular;      ///< rad/s: frames, bodies, 3
    double *resultant;    ///< N, N m: frames, elements, 6; NULL: no beams
    int element_count;    ///< of all beams
    shape_mesh *meshes;   ///< one a body, counted from the centre of mass; empty for nodes of beams
    double size;          ///< m: how far apart things are, for what has no size of its own
} result_motion;

/// Read at most `frames_max` records, evenly chosen, the first and the last among them. Close it in any case.
hn_status result_motion_open(hn_context *context, const char *path, int frames_max, result_motion *motion);
void result_motion_close(result_motion *motion);

#endif
