// SPDX-License-Identifier: MIT
// Result files for ParaView: one VTKHDF file (format 2.0) of moving polygons, and of lines along beams.
//
// The topology stands in the file once; each step has points and velocities of its own, found by offsets. Cells are the
// elements of beams, as lines, then the triangles of all bodies; every cell has the index of its body, or of its beam's
// first node, and elements have their stress resultants.
#include "io/result_motion.h"
#include "io/whole_file.h"

#include "base/vector.h"
#include "io/results_hdf5.h"

#include <string.h>

enum { TOPOLOGIES = 4, LINES = 1, POLYGONS = 2 };

typedef struct vtk_file {
    hn_context *context;
    const result_motion *motion;
    hid_t root, steps;
    int points; ///< in a step: nodes of beams first, then corners of triangles
    int nodes;  ///< of beams
    int lines, triangles;
} vtk_file;

static bool write_large(hid_t group, const char *name, int rank, const hsize_t *dims, hid_t type,
                        const void *values)
{
    hid_t space = H5Screate_simple(rank, dims, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
    bool good = space >= 0 && plan >= 0;
    hsize_t chunk[3] = {dims[0] < 4096 ? dims[0] : 4096, rank > 1 ? dims[1] : 0,
                        rank > 2 ? dims[2] : 0};
    if (good && dims[0] > 0)
        good = H5Pset_chunk(plan, rank, chunk) >= 0 && H5Pset_shuffle(plan) >= 0 &&
               H5Pset_deflate(plan, 1) >= 0;
    hid_t data = good ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT) : -1;
    good = data >= 0 &&
           (dims[0] == 0 || H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (data >= 0) H5Dclose(data);
    if (plan >= 0) H5Pclose(plan);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool write_indices(hid_t group, const char *name, int count, const int64_t *values)
{
    return write_large(group, name, 1, (hsize_t[1]){(hsize_t)count}, H5T_NATIVE_INT64, values);
}

// count, or count x TOPOLOGIES, numbers start, start + stride, ...
static hn_status write_progression(vtk_file *v, hid_t group, const char *name, int count, int width,
                                   int64_t stride)
{
    int64_t *values =
        context_allocate(v->context, (size_t)count * (size_t)width * sizeof *values + 1);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < count * width; ++i) values[i] = (i / width) * stride;
    bool good = write_large(group, name, width == 1 ? 1 : 2,
                            (hsize_t[2]){(hsize_t)count, (hsize_t)width}, H5T_NATIVE_INT64, values);
    context_release(v->context, values);
    return good ? HN_OK : HN_OUT_OF_MEMORY;
}

// ---- topology ---------------------------------------------------------------------------------------------------

// One of the four kinds of cells; `corners` points each, `count` of them, connected as `points` says.
static hn_status write_topology(vtk_file *v, const char *name, int count, int corners,
                                const int64_t *points)
{
    hid_t group = H5Gcreate2(v->root, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return HN_OUT_OF_MEMORY;
    int64_t connectivity = (int64_t)count * corners, cells = count;
    hn_status status = write_progression(v, group, "Offsets", count + 1, 1, corners);
    if (status == HN_OK && !(write_indices(group, "Connectivity", count * corners, points) &&
                             write_indices(group, "NumberOfConnectivityIds", 1, &connectivity) &&
                             write_indices(group, "NumberOfCells", 1, &cells)))
        status = HN_OUT_OF_MEMORY;
    H5Gclose(group);
    return status;
}

static hn_status write_cells(vtk_file *v)
{
    const result_motion *m = v->motion;
    size_t longest = (size_t)(2 * v->lines > 3 * v->triangles ? 2 * v->lines : 3 * v->triangles);
    int64_t *points = context_allocate(v->context, (longest + 1) * sizeof *points);
    if (points == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = write_topology(v, "Vertices", 0, 1, points);
    int line = 0, node = 0;
    for (int b = 0; b < m->info->beam_count; ++b) {
        int count = hn_result_file_beam(m->file, b)->element_count;
        for (int e = 0; e < count; ++e, ++line)
            points[2 * line] = node + e, points[2 * line + 1] = node + e + 1;
        node += count + 1;
    }
    if (status == HN_OK) status = write_topology(v, "Lines", v->lines, 2, points);
    for (int k = 0; k < 3 * v->triangles; ++k) points[k] = v->nodes + k;
    if (status == HN_OK) status = write_topology(v, "Polygons", v->triangles, 3, points);
    if (status == HN_OK) status = write_topology(v, "Strips", 0, 1, points);
    context_release(v->context, points);
    return status;
}

// ---- numbers ----------------------------------------------------------------------------------------------------

// Points (or their velocities) of one frame
static void place_points(const vtk_file *v, int frame, bool velocity, double *out)
{
    const result_motion *m = v->motion;
    size_t base = (size_t)frame * (size_t)m->info->body_count;
    for (int b = 0; b < m->info->beam_count; ++b) {
        const hn_result_beam *beam = hn_result_file_beam(m->file, b);
        size_t first = 3 * (base + (size_t)beam->first_node),
               count = 3 * ((size_t)beam->element_count + 1);
        memcpy(out, (velocity ? m->velocity : m->position) + first, count * sizeof(double));
        out += count;
    }
    for (int i = 0; i < m->info->body_count; ++i) {
        size_t body = base + (size_t)i;
        hn_mat3 turn;
        memcpy(&turn, m->orientation + 9 * body, sizeof turn);
        hn_vec3 x = vec3_load(m->position + 3 * body), speed = vec3_load(m->velocity + 3 * body),
                omega = vec3_load(m->angular + 3 * body);
        for (int k = 0; k < m->meshes[i].count; ++k, out += 3) {
            hn_vec3 arm = mat3_apply(&turn, m->meshes[i].corners[k]);
            vec3_store(velocity ? vec3_add(speed, vec3_cross(omega, arm)) : vec3_add(x, arm), out);
        }
    }
}

static hn_status write_points(vtk_file *v, hid_t group, const char *name, bool velocity)
{
    const result_motion *m = v->motion;
    size_t width = 3 * (size_t)v->points;
    double *values = context_allocate(v->context, (width + 1) * sizeof *values);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    hid_t series = hdf5_create_series(group, name, false, 1, (size_t[1]){3}, 4096);
    bool good = series >= 0;
    for (int f = 0; good && f < m->frame_count; ++f) {
        hsize_t start = (hsize_t)f * (hsize_t)v->points;
        place_points(v, f, velocity, values);
        good = hdf5_grow_series(series, start + (hsize_t)v->points) &&
               hdf5_write_records(series, start, (hsize_t)v->points, values);
    }
    if (series >= 0) H5Dclose(series);
    context_release(v->context, values);
    return good ? HN_OK : HN_OUT_OF_MEMORY;
}

static hn_status write_cell_bodies(vtk_file *v, hid_t group)
{
    const result_motion *m = v->motion;
    int cells = v->lines + v->triangles, cell = 0;
    int64_t *values = context_allocate(v->context, ((size_t)cells + 1) * sizeof *values);
    if (values == NULL) return HN_OUT_OF_MEMORY;
    for (int b = 0; b < m->info->beam_count; ++b) {
        const hn_result_beam *beam = hn_result_file_beam(m->file, b);
        for (int e = 0; e < beam->element_count; ++e) values[cell++] = beam->first_node;
    }
    for (int i = 0; i < m->info->body_count; ++i)
        for (int k = 0; k < m->meshes[i].count; k += 3) values[cell++] = i;
    bool good = write_indices(group, "body", cells, values);
    context_release(v->context, values);
    return good ? HN_OK : HN_OUT_OF_MEMORY;
}

// Force and moment of every element in every step; triangles have none.
static hn_status write_resultants(vtk_file *v, hid_t group)
{
    const result_motion *m = v->motion;
    size_t cells = (size_t)(v->lines + v->triangles);
    static const char *const NAMES[2] = {"force", "moment"};
    for (int what = 0; what < 2; ++what) {
        double *values = context_allocate(v->context, 3 * cells * sizeof *values);
        if (values == NULL) return HN_OUT_OF_MEMORY;
        hid_t series = hdf5_create_series(group, NAMES[what], false, 1, (size_t[1]){3}, 4096);
        bool good = series >= 0;
        for (int f = 0; good && f < m->frame_count; ++f) {
            const double *from =
                m->resultant + 6 * (size_t)f * (size_t)m->element_count + 3 * (size_t)what;
            for (int e = 0; e < v->lines; ++e)
                memcpy(values + 3 * e, from + 6 * (size_t)e, 3 * sizeof *values);
            good = hdf5_grow_series(series, (hsize_t)(f + 1) * cells) &&
                   hdf5_write_records(series, (hsize_t)f * cells, cells, values);
        }
        if (series >= 0) H5Dclose(series);
        context_release(v->context, values);
        if (!good) return HN_OUT_OF_MEMORY;
    }
    return HN_OK;
}

static hn_status write_data(vtk_file *v)
{
    int frames = v->motion->frame_count;
    hid_t points = H5Gcreate2(v->root, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t cells = H5Gcreate2(v->root, "CellData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t point_offsets =
        H5Gcreate2(v->steps, "PointDataOffsets", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t cell_offsets =
        H5Gcreate2(v->steps, "CellDataOffsets", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hn_status status = points >= 0 && cells >= 0 && point_offsets >= 0 && cell_offsets >= 0
                           ? HN_OK
                           : HN_OUT_OF_MEMORY;
    int64_t cell_count = v->lines + v->triangles;
    if (status == HN_OK) status = write_points(v, points, "velocity", true);
    if (status == HN_OK)
        status = write_progression(v, point_offsets, "velocity", frames, 1, v->points);
    if (status == HN_OK) status = write_cell_bodies(v, cells);
    if (status == HN_OK) status = write_progression(v, cell_offsets, "body", frames, 1, 0);
    if (status == HN_OK && v->lines > 0) {
        status = write_resultants(v, cells);
        if (status == HN_OK)
            status = write_progression(v, cell_offsets, "force", frames, 1, cell_count);
        if (status == HN_OK)
            status = write_progression(v, cell_offsets, "moment", frames, 1, cell_count);
    }
    hid_t const groups[] = {points, cells, point_offsets, cell_offsets};
    for (int k = 0; k < 4; ++k)
        if (groups[k] >= 0) H5Gclose(groups[k]);
    return status;
}

// ---- the file ---------------------------------------------------------------------------------------------------

static bool write_type(hid_t root)
{
    hid_t space = H5Screate_simple(1, (hsize_t[1]){2}, NULL), scalar = H5Screate(H5S_SCALAR),
          text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 8);
    H5Tset_strpad(text, H5T_STR_NULLPAD);
    hid_t version = H5Acreate2(root, "Version", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Acreate2(root, "Type", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    bool good = version >= 0 && type >= 0 &&
                H5Awrite(version, H5T_NATIVE_INT64, (int64_t[2]){2, 0}) >= 0 &&
                H5Awrite(type, text, "PolyData") >= 0;
    if (version >= 0) H5Aclose(version);
    if (type >= 0) H5Aclose(type);
    H5Tclose(text), H5Sclose(space), H5Sclose(scalar);
    return good;
}

static hn_status write_steps(vtk_file *v)
{
    const result_motion *m = v->motion;
    int frames = m->frame_count;
    bool good = hdf5_attribute_integer(v->steps, "NSteps", frames) &&
                write_large(v->steps, "Values", 1, (hsize_t[1]){(hsize_t)frames}, H5T_NATIVE_DOUBLE,
                            m->time);
    if (!good) return HN_OUT_OF_MEMORY;
    TRY(write_progression(v, v->steps, "PartOffsets", frames, 1, 0));
    TRY(write_progression(v, v->steps, "PointOffsets", frames, 1, v->points));
    TRY(write_progression(v, v->steps, "CellOffsets", frames, TOPOLOGIES, 0));
    TRY(write_progression(v, v->steps, "ConnectivityIdOffsets", frames, TOPOLOGIES, 0));
    int64_t *one = context_allocate(v->context, (size_t)frames * sizeof *one);
    if (one == NULL) return HN_OUT_OF_MEMORY;
    for (int f = 0; f < frames; ++f) one[f] = 1;
    good = write_indices(v->steps, "NumberOfParts", frames, one);
    context_release(v->context, one);
    return good ? HN_OK : HN_OUT_OF_MEMORY;
}

static hn_status write_all(vtk_file *v)
{
    int64_t points = v->points;
    if (!write_type(v->root) || !write_indices(v->root, "NumberOfPoints", 1, &points))
        return HN_OUT_OF_MEMORY;
    TRY(write_cells(v));
    TRY(write_points(v, v->root, "Points", false));
    TRY(write_steps(v));
    return write_data(v);
}

static hn_status fill(hid_t file, void *user)
{
    const result_motion *m = user;
    vtk_file v = {.context = m->context, .motion = m, .lines = m->element_count};
    v.nodes = m->element_count + m->info->beam_count;
    for (int i = 0; i < m->info->body_count; ++i) v.triangles += m->meshes[i].count / 3;
    v.points = v.nodes + 3 * v.triangles;
    v.root = H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    v.steps = v.root < 0 ? -1 : H5Gcreate2(v.root, "Steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hn_status status = v.steps < 0 ? HN_OUT_OF_MEMORY : write_all(&v);
    if (v.steps >= 0) H5Gclose(v.steps);
    if (v.root >= 0) H5Gclose(v.root);
    return status;
}

hn_status hn_results_export_vtk(hn_context *context, const char *result_path, const char *vtk_path,
                                int frames_max)
{
    REQUIRE(NULL, context != NULL);
    REQUIRE(context,
            result_path != NULL && vtk_path != NULL && vtk_path[0] != '\0' && frames_max >= 2);
    result_motion m;
    hn_status status = result_motion_open(context, result_path, frames_max, &m);
    if (status == HN_OK) status = whole_file_write_hdf5(context, vtk_path, result_path, fill, &m);
    result_motion_close(&m);
    return status;
}
