// SPDX-License-Identifier: MIT
// Records of a result file chosen for pictures, read whole.
#include "io/result_motion.h"

#include "base/vector.h"

#include <math.h>
#include <string.h>

static const double SMALL_PART =
    0.01; // of the size of everything: how large a body without shape is drawn

// every stride-th record, and the last one
static hn_status read_frames(result_motion *m, const char *name, double **values)
{
    int series = hn_result_file_find_series(m->file, name);
    if (series < 0)
        return context_fail(m->context, HN_FILE_FORMAT, "the result file has no series '%s'", name);
    size_t width = hn_result_file_series(m->file, series)->width;
    *values = context_allocate(m->context, (size_t)m->frame_count * width * sizeof(double));
    if (*values == NULL) return HN_OUT_OF_MEMORY;
    TRY(hn_result_file_read(m->file, series, 0, m->frame_count - 1, m->stride, *values));
    return hn_result_file_read(m->file, series, m->info->record_count - 1, 1, 1,
                               *values + (size_t)(m->frame_count - 1) * width);
}

static double extent(const result_motion *m)
{
    double size = 0.0;
    for (int i = 0; i < m->info->body_count; ++i)
        for (int k = 0; k < 3; ++k)
            size = fmax(size, fabs(m->position[3 * i + k] - m->position[k]));
    return size > 0.0 ? size : 1.0;
}

static hn_status make_meshes(result_motion *m)
{
    m->meshes = context_allocate(m->context, (size_t)m->info->body_count * sizeof *m->meshes);
    if (m->meshes == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < m->info->body_count; ++i) {
        const hn_result_body *body = hn_result_file_body(m->file, i);
        m->meshes[i].context = m->context;
        for (int k = 0; k < body->shape_count; ++k)
            TRY(shape_mesh_add(&m->meshes[i], &body->shapes[k], body->center_of_mass));
        if (body->shape_count > 0 || strcmp(body->kind, "beam_node") == 0) continue;
        hn_shape ball = hn_shape_default(HN_SHAPE_SPHERE);
        ball.radius = SMALL_PART * m->size;
        TRY(shape_mesh_add(&m->meshes[i], &ball, vec3(0.0, 0.0, 0.0)));
    }
    return HN_OK;
}

hn_status result_motion_open(hn_context *context, const char *path, int frames_max,
                             result_motion *m)
{
    *m = (result_motion){.context = context};
    TRY(hn_result_file_open(context, path, &m->file));
    m->info = hn_result_file_info(m->file);
    int64_t count = m->info->record_count;
    if (count < 1)
        return context_fail(context, HN_FILE_FORMAT, "%s: the result has no records yet", path);
    m->stride = 1;
    while ((count - 2) / m->stride + 2 > frames_max) ++m->stride;
    m->frame_count = count == 1 ? 1 : (int)((count - 2) / m->stride) + 2;
    for (int i = 0; i < m->info->beam_count; ++i)
        m->element_count += hn_result_file_beam(m->file, i)->element_count;
    TRY(read_frames(m, "time", &m->time));
    TRY(read_frames(m, "bodies/position", &m->position));
    TRY(read_frames(m, "bodies/orientation", &m->orientation));
    TRY(read_frames(m, "bodies/velocity", &m->velocity));
    TRY(read_frames(m, "bodies/angular_velocity", &m->angular));
    if (m->element_count > 0) TRY(read_frames(m, "beams/resultant", &m->resultant));
    m->size = extent(m);
    return make_meshes(m);
}

void result_motion_close(result_motion *m)
{
    for (int i = 0; m->meshes != NULL && i < m->info->body_count; ++i)
        shape_mesh_clear(&m->meshes[i]);
    double *const arrays[] = {m->time,     m->position, m->orientation,
                              m->velocity, m->angular,  m->resultant};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; ++k)
        context_release(m->context, arrays[k]);
    context_release(m->context, m->meshes);
    hn_result_file_close(m->file);
    *m = (result_motion){0};
}
