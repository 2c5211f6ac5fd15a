// SPDX-License-Identifier: MIT
// Writes model, options, structure, names and shapes into a result file.
#include "io/results_description.h"

#include "io/column_names.h"

#include "base/vector.h"
#include "elements/element.h"
#include "io/results_options.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

/// Gather names into one block; `name` gives the name of element i.
static hn_status gather_names(pool *memory, const hn_model *model, size_t count,
                              const char *(*name)(const hn_model *model, size_t index),
                              name_block *block)
{
    block->width = 1;
    for (size_t i = 0; i < count; ++i) {
        size_t length = strlen(name(model, i));
        if (length > block->width) block->width = length;
    }
    block->text = pool_take(memory, count * block->width, 1);
    TRY(pool_status(memory));
    for (size_t i = 0; i < count; ++i) {
        const char *text = name(model, i);
        memcpy(block->text + i * block->width, text, strlen(text));
    }
    return HN_OK;
}

static const char *body_name(const hn_model *model, size_t index)
{
    return hn_model_body_name(model, hn_model_body(model, (int)index));
}

static const char *joint_name(const hn_model *model, size_t index)
{
    return hn_model_joint_name(model, hn_model_joint(model, (int)index));
}

static const char *joint_kind_name(const hn_model *model, size_t index)
{
    return hn_joint_kind_name(hn_model_joint_kind(model, hn_model_joint(model, (int)index)));
}

static const char *body_kind_name(const hn_model *model, size_t index)
{
    return hn_body_kind_name(hn_model_body_kind(model, hn_model_body(model, (int)index)));
}

hn_status description_gather(results_description *description)
{
    const hn_model *model = description->model;
    const series_extent *extent = &description->extent;
    description->extent = column_names_extent(model);
    description->memory = (pool){.context = description->context};
    TRY(gather_names(&description->memory, model, extent->body_count, body_name,
                     &description->body_names));
    return gather_names(&description->memory, model, extent->joint_count, joint_name,
                        &description->joint_names);
}

/// What is being written: all goes on while `written` holds and there is memory, which is given back at the end.
typedef struct writing {
    const results_description *description;
    const hn_model *model;
    pool memory;
    bool written;
} writing;

/// One text for each of `count` elements as a dataset.
static void write_texts(writing *w, hid_t group, const char *dataset, size_t count,
                        const char *(*text)(const hn_model *model, size_t index))
{
    name_block block = {NULL, 0};
    if (gather_names(&w->memory, w->model, count, text, &block) != HN_OK) return;
    w->written = hdf5_write_strings(group, dataset, count, block.width, block.text) && w->written;
}

static void write_bodies(writing *w, hid_t group)
{
    const results_description *description = w->description;
    const size_t count = description->extent.body_count;
    double *mass = pool_doubles(&w->memory, count), *center = pool_doubles(&w->memory, 3 * count),
           *inertia = pool_doubles(&w->memory, 9 * count);
    if (w->memory.failed) return;
    for (size_t i = 0; i < count; ++i) {
        hn_body_id body = hn_model_body(description->model, (int)i);
        hn_mat3 tensor = hn_model_body_inertia(description->model, body);
        mass[i] = hn_model_body_mass(description->model, body);
        vec3_store(hn_model_body_center_of_mass(description->model, body), center + 3 * i);
        memcpy(inertia + 9 * i, tensor.m, sizeof tensor.m);
    }
    const hsize_t dims[3] = {count, 3, 3};
    w->written = hdf5_write_strings(group, "names", count, description->body_names.width,
                                    description->body_names.text) &&
                 hdf5_write_doubles(group, "mass", "kg", 1, dims, mass) &&
                 hdf5_write_doubles(group, "center_of_mass", "m", 2, dims, center) &&
                 hdf5_write_doubles(group, "inertia", "kg m^2", 3, dims, inertia) && w->written;
    write_texts(w, group, "kind", count, body_kind_name);
}

/// Position of a body in the model, -1 for the ground.
static int body_number(hn_body_id body)
{
    return body.index1 == hn_ground().index1 ? -1 : (int)body.index1 - 1;
}

/// Where joints are on their bodies: what a viewer draws.
static void write_joint_places(writing *w, hid_t group)
{
    const size_t count = w->description->extent.joint_count;
    double *point_a = pool_doubles(&w->memory, 3 * count),
           *point_b = pool_doubles(&w->memory, 3 * count),
           *frame_a = pool_doubles(&w->memory, 9 * count),
           *frame_b = pool_doubles(&w->memory, 9 * count);
    if (w->memory.failed) return;
    for (size_t i = 0; i < count; ++i) {
        const model_joint *joint = &w->model->joints[i];
        vec3_store(joint->point_a, point_a + 3 * i);
        vec3_store(joint->point_b, point_b + 3 * i);
        memcpy(frame_a + 9 * i, joint->frame_a.m, sizeof joint->frame_a.m);
        memcpy(frame_b + 9 * i, joint->frame_b.m, sizeof joint->frame_b.m);
    }
    const hsize_t dims[3] = {count, 3, 3};
    w->written = hdf5_write_doubles(group, "point_a", "m", 2, dims, point_a) &&
                 hdf5_write_doubles(group, "point_b", "m", 2, dims, point_b) &&
                 hdf5_write_doubles(group, "frame_a", "1", 3, dims, frame_a) &&
                 hdf5_write_doubles(group, "frame_b", "1", 3, dims, frame_b) && w->written;
}

static void write_joints(writing *w, hid_t group)
{
    const results_description *description = w->description;
    enum { LABEL_WIDTH = 16 }; // longer than any coordinate's name
    const size_t count = description->extent.joint_count,
                 coordinates = description->extent.coordinate_count;
    if (count == 0) return;
    int *body_a = pool_ints(&w->memory, count), *body_b = pool_ints(&w->memory, count),
        *start = pool_ints(&w->memory, count), *number = pool_ints(&w->memory, count),
        *owner = pool_ints(&w->memory, coordinates);
    char *labels = pool_take(&w->memory, coordinates, LABEL_WIDTH),
         *units = pool_take(&w->memory, coordinates, LABEL_WIDTH);
    if (w->memory.failed) return;
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
        hn_joint_id joint = hn_model_joint(description->model, (int)i);
        hn_joint_kind kind = hn_model_joint_kind(description->model, joint);
        body_a[i] = body_number(hn_model_joint_body_a(description->model, joint));
        body_b[i] = body_number(hn_model_joint_body_b(description->model, joint));
        start[i] = (int)next;
        number[i] = hn_model_joint_coordinate_count(description->model, joint);
        for (int k = 0; k < number[i]; ++k, ++next) {
            owner[next] = (int)i;
            snprintf(labels + next * LABEL_WIDTH, LABEL_WIDTH, "%s",
                     joint_coordinate_label(kind, k));
            snprintf(units + next * LABEL_WIDTH, LABEL_WIDTH, "%s", joint_coordinate_unit(kind, k));
        }
    }
    const hsize_t dims = count, coordinate_dims = coordinates;
    w->written = hdf5_write_strings(group, "names", count, description->joint_names.width,
                                    description->joint_names.text) &&
                 hdf5_write_integers(group, "body_a", 1, &dims, body_a) &&
                 hdf5_write_integers(group, "body_b", 1, &dims, body_b) &&
                 hdf5_write_integers(group, "coordinate_start", 1, &dims, start) &&
                 hdf5_write_integers(group, "coordinate_count", 1, &dims, number) &&
                 hdf5_write_integers(group, "coordinate_joint", 1, &coordinate_dims, owner) &&
                 hdf5_write_strings(group, "coordinate_names", coordinates, LABEL_WIDTH, labels) &&
                 hdf5_write_strings(group, "coordinate_units", coordinates, LABEL_WIDTH, units) &&
                 w->written;
    write_joint_places(w, group);
    write_texts(w, group, "kind", count, joint_kind_name);
}

/// Shapes of all bodies as one table: what a viewer draws.
static void write_shapes(writing *w, hid_t group)
{
    enum { KIND_WIDTH = 24 };
    const size_t bodies = w->description->extent.body_count;
    size_t count = 0, next = 0;
    for (size_t i = 0; i < bodies; ++i)
        count += (size_t)hn_model_body_shape_count(w->model, hn_model_body(w->model, (int)i));
    if (count == 0) return;
    double *size = pool_doubles(&w->memory, 3 * count), *radius = pool_doubles(&w->memory, count),
           *inner = pool_doubles(&w->memory, count), *height = pool_doubles(&w->memory, count),
           *corners = pool_doubles(&w->memory, 12 * count),
           *position = pool_doubles(&w->memory, 3 * count),
           *orientation = pool_doubles(&w->memory, 9 * count);
    int *body = pool_ints(&w->memory, count);
    char *kind = pool_take(&w->memory, count, KIND_WIDTH);
    if (w->memory.failed) return;
    for (size_t i = 0; i < bodies; ++i) {
        hn_body_id id = hn_model_body(w->model, (int)i);
        int shape_count = hn_model_body_shape_count(w->model, id);
        for (int k = 0; k < shape_count; ++k, ++next) {
            hn_shape shape = hn_model_body_shape(w->model, id, k);
            body[next] = (int)i;
            snprintf(kind + next * KIND_WIDTH, KIND_WIDTH, "%s", hn_shape_kind_name(shape.kind));
            vec3_store(shape.size, size + 3 * next);
            radius[next] = shape.radius;
            inner[next] = shape.inner_radius;
            height[next] = shape.height;
            for (int c = 0; c < 4; ++c)
                vec3_store(shape.corners[c], corners + 12 * next + 3 * (size_t)c);
            vec3_store(shape.position, position + 3 * next);
            memcpy(orientation + 9 * next, shape.orientation.m, sizeof shape.orientation.m);
        }
    }
    const hsize_t dims[3] = {count, 3, 3}, corner_dims[3] = {count, 4, 3};
    w->written = hdf5_write_integers(group, "body", 1, dims, body) &&
                 hdf5_write_strings(group, "kind", count, KIND_WIDTH, kind) &&
                 hdf5_write_doubles(group, "size", "m", 2, dims, size) &&
                 hdf5_write_doubles(group, "radius", "m", 1, dims, radius) &&
                 hdf5_write_doubles(group, "inner_radius", "m", 1, dims, inner) &&
                 hdf5_write_doubles(group, "height", "m", 1, dims, height) &&
                 hdf5_write_doubles(group, "corners", "m", 3, corner_dims, corners) &&
                 hdf5_write_doubles(group, "position", "m", 2, dims, position) &&
                 hdf5_write_doubles(group, "orientation", "1", 3, dims, orientation) && w->written;
}

static const char *load_name(const hn_model *model, size_t index)
{
    return model->loads[index].name;
}

static const char *load_kind_name(const hn_model *model, size_t index)
{
    return load_kind_facts_of(model->loads[index].kind)->word;
}

enum { SAMPLES = 257, SAMPLES_OF_PIECE = 16 };

/// How many points the time factor of a load has: none when it is constant.
static size_t profile_length(const hn_profile *profile)
{
    switch (profile->kind) {
    case HN_PROFILE_CONSTANT: return 0;
    case HN_PROFILE_PULSE: return 3;
    case HN_PROFILE_TABLE: return (size_t)profile->count;
    case HN_PROFILE_SPLINE: return (size_t)(profile->count - 1) * SAMPLES_OF_PIECE + 1;
    case HN_PROFILE_STEP: return SAMPLES_OF_PIECE + 1;
    case HN_PROFILE_EXPRESSION: return SAMPLES;
    }
    return 0;
}

/// The time factor as points with straight lines between; a pulse is a triangle, curves are sampled, expressions until
/// the end that the model asks for (1 s where it asks for none).
static void store_profile(const hn_profile *profile, double run_end, double *times, double *factors)
{
    const hn_profile span = {.kind = HN_PROFILE_TABLE,
                             .times = (const double[2]){profile->start, profile->end},
                             .count = 2};
    const hn_profile run = {.kind = HN_PROFILE_TABLE,
                            .times = (const double[2]){0.0, run_end > 0.0 ? run_end : 1.0},
                            .count = 2};
    const hn_profile *points = profile->kind == HN_PROFILE_STEP         ? &span
                               : profile->kind == HN_PROFILE_EXPRESSION ? &run
                                                                        : profile;
    const size_t length = profile_length(profile);
    for (size_t k = 0; k < length; ++k) {
        if (profile->kind == HN_PROFILE_PULSE) {
            times[k] = k == 0 ? profile->start : k == 1 ? profile->peak : profile->end;
        } else if (profile->kind == HN_PROFILE_TABLE || length == 1) {
            times[k] = profile->times[k];
        } else {
            size_t part = (length - 1) / (size_t)(points->count - 1), piece = k / part;
            if (piece + 1 == (size_t)points->count) --piece;
            double x = (double)(k - piece * part) / (double)part;
            times[k] = (1.0 - x) * points->times[piece] + x * points->times[piece + 1];
        }
        factors[k] = profile_at(profile, times[k]).value;
    }
}

/// Forces, torques and springs as one table: what a viewer draws.
static void write_loads(writing *w, hid_t group)
{
    const hn_model *model = w->model;
    const size_t count = (size_t)model->load_count;
    size_t points = 0, next = 0;
    if (count == 0) return;
    for (size_t i = 0; i < count; ++i) points += profile_length(&model->loads[i].profile);
    int *body_a = pool_ints(&w->memory, count), *body_b = pool_ints(&w->memory, count),
        *joint = pool_ints(&w->memory, count), *body_fixed = pool_ints(&w->memory, count),
        *profile_count = pool_ints(&w->memory, count);
    double *vector = pool_doubles(&w->memory, 3 * count),
           *point_a = pool_doubles(&w->memory, 3 * count),
           *point_b = pool_doubles(&w->memory, 3 * count),
           *stiffness = pool_doubles(&w->memory, count), *damping = pool_doubles(&w->memory, count),
           *rest = pool_doubles(&w->memory, count), *times = pool_doubles(&w->memory, points),
           *factors = pool_doubles(&w->memory, points);
    if (w->memory.failed) return;
    write_texts(w, group, "names", count, load_name);
    for (size_t i = 0; i < count; ++i) {
        const model_load *load = &model->loads[i];
        const int bodies = load_kind_facts_of(load->kind)->body_count;
        body_a[i] = bodies == 0 ? -1 : load->body_a;
        body_b[i] = bodies == 2 ? load->body_b : -1;
        joint[i] = bodies == 0 ? load->joint : -1;
        body_fixed[i] = load->body_fixed;
        profile_count[i] = (int)profile_length(&load->profile);
        vec3_store(load->vector, vector + 3 * i);
        vec3_store(load->point_a, point_a + 3 * i);
        vec3_store(load->point_b, point_b + 3 * i);
        stiffness[i] = load->stiffness;
        damping[i] = load->damping;
        rest[i] = load->rest;
        store_profile(&load->profile, model->run.end, times + next, factors + next);
        next += (size_t)profile_count[i];
    }
    const hsize_t dims[2] = {count, 3}, point_dims = points;
    w->written = hdf5_write_integers(group, "body_a", 1, dims, body_a) &&
                 hdf5_write_integers(group, "body_b", 1, dims, body_b) &&
                 hdf5_write_integers(group, "joint", 1, dims, joint) &&
                 hdf5_write_integers(group, "body_fixed", 1, dims, body_fixed) &&
                 hdf5_write_integers(group, "profile_count", 1, dims, profile_count) &&
                 hdf5_write_doubles(group, "vector", "N or N m", 2, dims, vector) &&
                 hdf5_write_doubles(group, "point_a", "m", 2, dims, point_a) &&
                 hdf5_write_doubles(group, "point_b", "m", 2, dims, point_b) &&
                 hdf5_write_doubles(group, "stiffness", "N/m or N m/rad", 1, dims, stiffness) &&
                 hdf5_write_doubles(group, "damping", "N s/m or N m s/rad", 1, dims, damping) &&
                 hdf5_write_doubles(group, "rest", "m or rad", 1, dims, rest) &&
                 hdf5_write_doubles(group, "profile_times", "s", 1, &point_dims, times) &&
                 hdf5_write_doubles(group, "profile_factors", "1", 1, &point_dims, factors) &&
                 w->written;
    write_texts(w, group, "kind", count, load_kind_name);
}

static bool write_structure(hid_t group, const hn_structure *structure)
{
    return hdf5_attribute_integer(group, "body_count", structure->body_count) &&
           hdf5_attribute_integer(group, "joint_count", structure->joint_count) &&
           hdf5_attribute_integer(group, "loop_count", structure->loop_count) &&
           hdf5_attribute_integer(group, "coordinate_count", structure->coordinate_count) &&
           hdf5_attribute_integer(group, "constraint_count", structure->constraint_count) &&
           hdf5_attribute_integer(group, "internal_constraint_count",
                                  structure->internal_constraint_count) &&
           hdf5_attribute_integer(group, "constraint_rank", structure->constraint_rank) &&
           hdf5_attribute_integer(group, "degrees_of_freedom", structure->degrees_of_freedom) &&
           hdf5_attribute_integer(group, "unknown_count", structure->unknown_count) &&
           hdf5_attribute_double(group, "position_projection", structure->position_projection) &&
           hdf5_attribute_double(group, "velocity_projection", structure->velocity_projection) &&
           hdf5_attribute_double(group, "spin_step", structure->spin_step);
}

static bool write_model(hid_t group, const hn_model *model)
{
    size_t length = 0;
    const char *text = hn_model_text(model, &length);
    double gravity[3];
    vec3_store(hn_model_gravity(model), gravity);
    return hdf5_attribute_text(group, "name", hn_model_name(model), 0) &&
           hdf5_attribute_doubles(group, "gravity", gravity, 3) &&
           (text == NULL || hdf5_write_text(group, "text", text, length));
}

static const char *beam_name(const hn_model *model, size_t index)
{
    return model->beams[index].name;
}

/// Beams, and the names and lengths of their elements.
static void write_beams(writing *w, hid_t group)
{
    enum { NAME_WIDTH = 128 };
    const hn_model *model = w->model;
    const size_t count = (size_t)model->beam_count,
                 elements = w->description->extent.beam_element_count;
    size_t next = 0;
    int *first = pool_ints(&w->memory, count), *element_count = pool_ints(&w->memory, count);
    double *lengths = pool_doubles(&w->memory, elements);
    char *text = pool_take(&w->memory, elements, NAME_WIDTH);
    if (w->memory.failed) return;
    for (size_t i = 0; i < count; ++i) {
        const model_beam *beam = &model->beams[i];
        first[i] = beam->first_body;
        element_count[i] = beam->element_count;
        for (int k = 0; k < beam->element_count; ++k, ++next) {
            lengths[next] = beam->lengths[k];
            snprintf(text + next * NAME_WIDTH, NAME_WIDTH, "%s.%d", beam->name, k);
        }
    }
    const hsize_t dims = count, element_dims = elements;
    write_texts(w, group, "names", count, beam_name);
    w->written = hdf5_write_integers(group, "first_node", 1, &dims, first) &&
                 hdf5_write_integers(group, "element_count", 1, &dims, element_count) &&
                 hdf5_write_strings(group, "element_names", elements, NAME_WIDTH, text) &&
                 hdf5_write_doubles(group, "element_length", "m", 1, &element_dims, lengths) &&
                 w->written;
}

static const char *drive_name(const hn_model *model, size_t index)
{
    return model->drives[index].name;
}

static const char *drive_kind_name(const hn_model *model, size_t index)
{
    return hn_drive_kind_name(model->drives[index].def.kind);
}

/// Drives with their kinds, joints and coordinates.
static void write_drives(writing *w, hid_t group)
{
    const hn_model *model = w->model;
    const size_t count = (size_t)model->drive_count;
    int *joint = pool_ints(&w->memory, count), *coordinate = pool_ints(&w->memory, count);
    if (w->memory.failed) return;
    for (size_t i = 0; i < count; ++i) {
        joint[i] = model->drives[i].joint;
        coordinate[i] = model->drives[i].def.coordinate;
    }
    const hsize_t dims = count;
    write_texts(w, group, "names", count, drive_name);
    w->written = hdf5_write_integers(group, "joint", 1, &dims, joint) &&
                 hdf5_write_integers(group, "joint_coordinate", 1, &dims, coordinate) && w->written;
    write_texts(w, group, "kind", count, drive_kind_name);
}

static const char *coupling_name(const hn_model *model, size_t index)
{
    return model->couplings[index].name;
}

static const char *coupling_kind_name(const hn_model *model, size_t index)
{
    return hn_coupling_kind_name(model->couplings[index].kind);
}

static const char *output_name(const hn_model *model, size_t index)
{
    const char *component;
    return model->outputs[model_output_of_column(model, (int)index, &component)].name;
}

static const char *output_component(const hn_model *model, size_t index)
{
    const char *component;
    model_output_of_column(model, (int)index, &component);
    return component == NULL ? "" : component;
}

static const char *output_unit(const hn_model *model, size_t index)
{
    const char *component;
    return model_output_unit(model, model_output_of_column(model, (int)index, &component));
}

/// Names, components and units of the numbers of outputs.
static void write_outputs(writing *w, hid_t group)
{
    const size_t count = (size_t)w->model->output_columns;
    write_texts(w, group, "names", count, output_name);
    write_texts(w, group, "components", count, output_component);
    write_texts(w, group, "units", count, output_unit);
}

/// Couplings with their kinds, and their joints, coordinates and factors: as many numbers each as a coupling may have
/// terms, -1 and 0 where there is none.
static void write_couplings(writing *w, hid_t group)
{
    const hn_model *model = w->model;
    const size_t count = (size_t)model->coupling_count, terms = HN_COUPLING_TERMS_MAX;
    int *joint = pool_ints(&w->memory, terms * count),
        *coordinate = pool_ints(&w->memory, terms * count);
    double *factors = pool_doubles(&w->memory, terms * count);
    if (w->memory.failed) return;
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < terms; ++k) {
            const model_coupling *c = &model->couplings[i];
            bool there = (int)k < c->term_count;
            joint[terms * i + k] = there ? c->joints[k] : -1;
            coordinate[terms * i + k] = there ? c->coordinates[k] : -1;
            factors[terms * i + k] = there ? c->factors[k] : 0.0;
        }
    const hsize_t dims[2] = {count, terms};
    write_texts(w, group, "names", count, coupling_name);
    w->written = hdf5_write_integers(group, "joint", 2, dims, joint) &&
                 hdf5_write_integers(group, "joint_coordinate", 2, dims, coordinate) &&
                 hdf5_write_doubles(group, "factor", "1", 2, dims, factors) && w->written;
    write_texts(w, group, "kind", count, coupling_kind_name);
}

/// Write a part into a group of its own, if there is anything.
static void write_group(writing *w, hid_t file, const char *name, int count,
                        void (*write)(writing *w, hid_t group))
{
    if (count == 0 || !w->written || w->memory.failed) return;
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->written = group >= 0;
    if (group < 0) return;
    write(w, group);
    w->written = H5Gclose(group) >= 0 && w->written;
}

typedef enum group_id {
    GROUP_MODEL,
    GROUP_OPTIONS,
    GROUP_STRUCTURE,
    GROUP_BODIES,
    GROUP_JOINTS,
    GROUP_SHAPES,
    GROUP_LOADS,
    GROUP_LEDGER,
    GROUP_NEWTON,
    GROUP_COUNT
} group_id;

/// Everything that is known before the first record.
hn_status description_write(const results_description *description, hid_t file, bool *written)
{
    static const char *const NAMES[GROUP_COUNT] = {
        "model", "options", "structure", "bodies", "joints", "shapes", "loads", "ledger", "newton"};
    hid_t groups[GROUP_COUNT];
    bool complete = true;
    for (int i = 0; i < GROUP_COUNT; ++i) {
        groups[i] = hdf5_create_group(file, NAMES[i]);
        complete = complete && groups[i] >= 0;
    }
    hn_structure structure = hn_simulation_structure(description->simulation);
    complete = complete && hdf5_attribute_text(file, "format", "holonom results", 0) &&
               hdf5_attribute_integer(file, "format_version", RESULTS_FORMAT_VERSION) &&
               hdf5_attribute_text(file, "holonom_version", hn_version(), 0) &&
               hdf5_attribute_integer(file, "complete", 0) &&
               hdf5_attribute_integer(file, "record_count", 0) &&
               write_model(groups[GROUP_MODEL], description->model) &&
               options_write(groups[GROUP_OPTIONS], &description->settings, &description->run) &&
               write_structure(groups[GROUP_STRUCTURE], &structure);
    const hn_model *model = description->model;
    writing w = {.description = description,
                 .model = model,
                 .memory = {.context = description->context},
                 .written = complete};
    static void (*const WRITE[])(writing * w, hid_t group) = {[GROUP_BODIES] = write_bodies,
                                                              [GROUP_JOINTS] = write_joints,
                                                              [GROUP_SHAPES] = write_shapes,
                                                              [GROUP_LOADS] = write_loads};
    for (int i = GROUP_BODIES; i <= GROUP_LOADS; ++i)
        if (w.written && !w.memory.failed) WRITE[i](&w, groups[i]);
    write_group(&w, file, "beams", model->beam_count, write_beams);
    write_group(&w, file, "drives", model->drive_count, write_drives);
    write_group(&w, file, "couplings", model->coupling_count, write_couplings);
    write_group(&w, file, "outputs", model->output_columns, write_outputs);
    for (int i = 0; i < GROUP_COUNT; ++i)
        if (groups[i] >= 0) w.written = H5Gclose(groups[i]) >= 0 && w.written;
    pool_release(&w.memory);
    *written = w.written;
    return pool_status(&w.memory);
}
