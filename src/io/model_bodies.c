// SPDX-License-Identifier: MIT
// The `bodies` section of a model file: shapes, mass properties, placement.
#include "io/model_reader.h"

#include "base/rotation.h"

#include <stdio.h>
#include <string.h>

static const double QUATERNION_TOLERANCE =
    1e-3; // of its length; within it a quaternion is normalised

enum { SHAPE_KIND_COUNT = 7, SHAPE_POINT_COUNT = 8 };

static const char *const SHAPE_WORDS[] = {"box",  "sphere",  "cylinder",    "hollow_cylinder",
                                          "cone", "pyramid", "tetrahedron", "composite"};
static const char *const POINT_WORDS[SHAPE_POINT_COUNT] = {"left",   "right", "front", "back",
                                                           "bottom", "top",   "apex",  "base"};

// ---- orientation -----------------------------------------------------------------------------------------

// One rotation {axis, angle}; d1, d2, d3 are the axes as turned so far.
static hn_status read_rotation(const model_reader *r, int index, hn_mat3 *orientation)
{
    static const char *const WORDS[] = {"axis", "angle"};
    TRY(reader_expect_keys(r, index, "a rotation", WORDS, WORD_COUNT(WORDS)));
    int axis_node, angle_node;
    TRY(reader_require(r, index, "axis", "a rotation", &axis_node));
    TRY(reader_require(r, index, "angle", "a rotation", &angle_node));
    hn_vec3 axis;
    double angle;
    TRY(reader_direction(r, axis_node, "axis", orientation, &axis));
    TRY(reader_number(r, angle_node, "angle", QUANTITY_ANGLE, &angle));
    hn_mat3 turn = rotation_exponential(vec3_scale(angle / vec3_norm(axis), axis));
    *orientation = mat3_multiply(&turn, orientation);
    return HN_OK;
}

static hn_status read_matrix(const model_reader *r, int index, const char *what, quantity q,
                             hn_mat3 *matrix)
{
    int row;
    TRY(reader_expect_list(r, index, what, 3, &row));
    for (int i = 0; i < 3; ++i, row = r->tree.nodes[row].next)
        TRY(reader_numbers(r, row, what, q, 3, matrix->m[i]));
    return HN_OK;
}

static hn_status read_quaternion(const model_reader *r, int index, hn_mat3 *orientation)
{
    double q[4];
    TRY(reader_numbers(r, index, "quaternion", QUANTITY_NUMBER, 4, q));
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabs(length - 1.0) <= QUATERNION_TOLERANCE))
        return reader_fail(r, index, "quaternion has length %g; expected 1 (order: w, x, y, z)",
                           length);
    *orientation =
        rotation_of_quaternion(q[0] / length, q[1] / length, q[2] / length, q[3] / length);
    return HN_OK;
}

hn_status reader_orientation(const model_reader *r, int index, const char *owner,
                             hn_mat3 *orientation)
{
    static const char *const WORDS[] = {"rotate", "matrix", "quaternion"};
    TRY(reader_expect_keys(r, index, "orientation", WORDS, WORD_COUNT(WORDS)));
    const yaml_node *node = reader_node(r, index);
    if (node->count != 1)
        return reader_fail(r, index,
                           "orientation has %d keys; expected one of rotate, matrix, quaternion",
                           node->count);
    int value = reader_value(r, node->first);
    const char *word = reader_text(r, node->first);
    *orientation = mat3_identity();
    if (strcmp(word, "quaternion") == 0) return read_quaternion(r, value, orientation);
    if (strcmp(word, "matrix") == 0) {
        TRY(read_matrix(r, value, "matrix", QUANTITY_NUMBER, orientation));
        return reader_place(r, value, model_check_rotation(r->context, owner, orientation));
    }
    if (reader_node(r, value)->kind == YAML_MAPPING) return read_rotation(r, value, orientation);
    int entry;
    TRY(reader_expect_list(r, value, "rotate", -1, &entry));
    for (; entry >= 0; entry = r->tree.nodes[entry].next) TRY(read_rotation(r, entry, orientation));
    return HN_OK;
}

// ---- shapes ------------------------------------------------------------------------------------------------

// A size of a shape, required and positive.
static hn_status read_size(const model_reader *r, int map, const char *key, const char *what,
                           double *value)
{
    int node;
    TRY(reader_require(r, map, key, what, &node));
    return reader_positive(r, node, key, QUANTITY_LENGTH, "metres", value);
}

// The height of a shape, or the distance between its ends when these were given.
static hn_status read_height(const model_reader *r, int map, const char *what, double between,
                             double *height)
{
    int node = reader_find(r, map, "height");
    if (between > 0.0) {
        if (node >= 0)
            return reader_fail(r, node,
                               "height is given although 'between' tells it; expected one of them");
        *height = between;
        return HN_OK;
    }
    return read_size(r, map, "height", what, height);
}

static hn_status read_positive_list(const model_reader *r, int index, const char *what, int count,
                                    double *values)
{
    TRY(reader_numbers(r, index, what, QUANTITY_LENGTH, count, values));
    int entry = reader_node(r, index)->first;
    for (int i = 0; i < count; ++i, entry = r->tree.nodes[entry].next)
        if (values[i] <= 0.0)
            return reader_fail(r, entry, "%s has %g; expected a positive number of metres", what,
                               values[i]);
    return HN_OK;
}

static hn_status read_box(const model_reader *r, int map, double between, hn_shape *shape)
{
    static const char *const WORDS[] = {"size"};
    TRY(reader_expect_keys(r, map, "box", WORDS, WORD_COUNT(WORDS)));
    int node;
    double size[3] = {0.0, 0.0, between};
    TRY(reader_require(r, map, "size", "box", &node));
    TRY(read_positive_list(r, node, "size", between > 0.0 ? 2 : 3, size));
    shape->size = vec3_load(size);
    return HN_OK;
}

static hn_status read_round(const model_reader *r, int map, double between, hn_shape *shape)
{
    static const char *const WORDS[] = {"radius", "height", "inner_radius"};
    const char *what = hn_shape_kind_name(shape->kind);
    TRY(reader_expect_keys(r, map, what, WORDS, shape->kind == HN_SHAPE_HOLLOW_CYLINDER ? 3 : 2));
    TRY(read_size(r, map, "radius", what, &shape->radius));
    TRY(read_height(r, map, what, between, &shape->height));
    if (shape->kind != HN_SHAPE_HOLLOW_CYLINDER) return HN_OK;
    TRY(read_size(r, map, "inner_radius", what, &shape->inner_radius));
    if (shape->inner_radius < shape->radius) return HN_OK;
    return reader_fail(r, reader_find(r, map, "inner_radius"),
                       "inner_radius is %g; expected less than the radius %g", shape->inner_radius,
                       shape->radius);
}

static hn_status read_pyramid(const model_reader *r, int map, double between, hn_shape *shape)
{
    static const char *const WORDS[] = {"base", "height"};
    TRY(reader_expect_keys(r, map, "pyramid", WORDS, WORD_COUNT(WORDS)));
    int node;
    double base[2];
    TRY(reader_require(r, map, "base", "pyramid", &node));
    TRY(read_positive_list(r, node, "base", 2, base));
    shape->size = vec3(base[0], base[1], 0.0);
    return read_height(r, map, "pyramid", between, &shape->size.z);
}

static hn_status read_tetrahedron(const model_reader *r, int map, const char *owner,
                                  hn_shape *shape)
{
    static const char *const WORDS[] = {"corners"};
    TRY(reader_expect_keys(r, map, "tetrahedron", WORDS, WORD_COUNT(WORDS)));
    int node, corner;
    TRY(reader_require(r, map, "corners", "tetrahedron", &node));
    TRY(reader_expect_list(r, node, "corners", 4, &corner));
    for (int i = 0; i < 4; ++i, corner = r->tree.nodes[corner].next)
        TRY(reader_vector(r, corner, "a corner", QUANTITY_LENGTH, &shape->corners[i]));
    return reader_place(r, node, model_check_shape(r->context, owner, shape));
}

// Sizes of a shape from its map; `between` is the distance of its ends when that was given, else 0.
static hn_status read_shape(const model_reader *r, int map, const char *owner, double between,
                            hn_shape *shape)
{
    static const char *const SPHERE_WORDS[] = {"radius"};
    if (between > 0.0 && (shape->kind == HN_SHAPE_SPHERE || shape->kind == HN_SHAPE_TETRAHEDRON))
        return reader_fail(r, map,
                           "'between' places boxes, cylinders, cones and pyramids, not a %s",
                           hn_shape_kind_name(shape->kind));
    switch (shape->kind) {
    case HN_SHAPE_BOX: return read_box(r, map, between, shape);
    case HN_SHAPE_SPHERE:
        TRY(reader_expect_keys(r, map, "sphere", SPHERE_WORDS, 1));
        return read_size(r, map, "radius", "sphere", &shape->radius);
    case HN_SHAPE_CYLINDER:
    case HN_SHAPE_HOLLOW_CYLINDER:
    case HN_SHAPE_CONE: return read_round(r, map, between, shape);
    case HN_SHAPE_PYRAMID: return read_pyramid(r, map, between, shape);
    case HN_SHAPE_TETRAHEDRON: return read_tetrahedron(r, map, owner, shape);
    }
    return HN_OK;
}

// ---- placement -----------------------------------------------------------------------------------------------

// Place of a named point in the shape's frame; false when the shape has no such point.
static bool shape_point(const hn_shape *shape, const char *word, hn_vec3 *point)
{
    hn_vec3 s = shape->size;
    double bottom = 0.0, top = 0.0;
    switch (shape->kind) {
    case HN_SHAPE_BOX:
        *point = vec3(0.0, 0.0, 0.0);
        if (strcmp(word, "left") == 0) point->x = -0.5 * s.x;
        else if (strcmp(word, "right") == 0) point->x = 0.5 * s.x;
        else if (strcmp(word, "front") == 0) point->y = -0.5 * s.y;
        else if (strcmp(word, "back") == 0) point->y = 0.5 * s.y;
        else if (strcmp(word, "bottom") == 0) point->z = -0.5 * s.z;
        else if (strcmp(word, "top") == 0) point->z = 0.5 * s.z;
        else return false;
        return true;
    case HN_SHAPE_CYLINDER:
    case HN_SHAPE_HOLLOW_CYLINDER:
        bottom = -0.5 * shape->height;
        top = 0.5 * shape->height;
        break;
    case HN_SHAPE_CONE:
    case HN_SHAPE_PYRAMID: {
        // a cone stands on its apex, a pyramid on its base
        double height = shape->kind == HN_SHAPE_CONE ? shape->height : -s.z;
        if (strcmp(word, "apex") == 0) *point = vec3(0.0, 0.0, -0.75 * height);
        else if (strcmp(word, "base") == 0) *point = vec3(0.0, 0.0, 0.25 * height);
        else return false;
        return true;
    }
    default: return false;
    }
    if (strcmp(word, "bottom") != 0 && strcmp(word, "top") != 0) return false;
    *point = vec3(0.0, 0.0, strcmp(word, "top") == 0 ? top : bottom);
    return true;
}

// Height of the shape's lower end (local z) relative to its origin, as a part of its height.
static double lower_end(const hn_shape *shape)
{
    if (shape->kind == HN_SHAPE_CONE) return 0.75;
    if (shape->kind == HN_SHAPE_PYRAMID) return 0.25;
    return 0.5;
}

// The two ends of `between` and the distance of these; 0 when the key is absent.
static hn_status read_between(const model_reader *r, int map, hn_vec3 ends[2], double *distance)
{
    *distance = 0.0;
    int node = reader_find(r, map, "between"), entry;
    if (node < 0) return HN_OK;
    TRY(reader_expect_list(r, node, "between", 2, &entry));
    TRY(reader_vector(r, entry, "between", QUANTITY_LENGTH, &ends[0]));
    TRY(reader_vector(r, r->tree.nodes[entry].next, "between", QUANTITY_LENGTH, &ends[1]));
    *distance = vec3_norm(vec3_subtract(ends[1], ends[0]));
    if (*distance > 0.0) return HN_OK;
    return reader_fail(r, node,
                       "the two places of 'between' are the same; expected different ones");
}

// Frame of a shape whose z axis runs between two places; `direction` tells where its x axis should point.
static hn_status place_between(const model_reader *r, int map, const hn_shape *shape,
                               const hn_vec3 ends[2], double distance, hn_vec3 *position,
                               hn_mat3 *orientation)
{
    hn_vec3 z = vec3_scale(1.0 / distance, vec3_subtract(ends[1], ends[0]));
    hn_vec3 x = vec3_perpendicular(z);
    int node = reader_find(r, map, "direction");
    if (node >= 0) {
        hn_vec3 wish;
        TRY(reader_direction(r, node, "direction", NULL, &wish));
        wish = vec3_scale(1.0 / vec3_norm(wish), wish);
        wish = vec3_add_scaled(wish, -vec3_dot(wish, z), z);
        if (!(vec3_norm(wish) > 1e-6))
            return reader_fail(r, node, "direction is along 'between'; expected one across it");
        x = vec3_scale(1.0 / vec3_norm(wish), wish);
    }
    *orientation = mat3_from_columns(x, vec3_cross(z, x), z);
    *position = vec3_add_scaled(ends[0], lower_end(shape) * distance, z);
    return HN_OK;
}

// Origin and axes of a shape (NULL: of a composite's frame) from position, a named point or `between`, and orientation.
static hn_status read_placement(const model_reader *r, int map, const char *owner,
                                const hn_shape *shape, hn_vec3 *position, hn_mat3 *orientation)
{
    *position = vec3(0.0, 0.0, 0.0);
    *orientation = mat3_identity();
    int orientation_node = reader_find(r, map, "orientation");
    int position_node = reader_find(r, map, "position");
    int between_node = reader_find(r, map, "between");
    int direction_node = reader_find(r, map, "direction");
    if (orientation_node >= 0) TRY(reader_orientation(r, orientation_node, owner, orientation));
    if (direction_node >= 0 && between_node < 0)
        return reader_fail(r, direction_node,
                           "direction goes with 'between'; expected orientation here");

    // one key at most says where
    int given = position_node >= 0 ? position_node : -1;
    if (between_node >= 0) {
        if (given >= 0)
            return reader_fail(r, between_node,
                               "%s is placed twice; expected one of position, between", owner);
        if (orientation_node >= 0)
            return reader_fail(
                r, orientation_node,
                "orientation is given although 'between' tells it; expected 'direction'");
        if (shape == NULL)
            return reader_fail(r, between_node,
                               "'between' places a single shape; expected position");
        given = between_node;
    }
    if (position_node >= 0)
        TRY(reader_vector(r, position_node, "position", QUANTITY_LENGTH, position));
    for (int i = 0; i < SHAPE_POINT_COUNT; ++i) {
        int node = reader_find(r, map, POINT_WORDS[i]);
        if (node < 0) continue;
        hn_vec3 local, world;
        if (shape == NULL || !shape_point(shape, POINT_WORDS[i], &local))
            return reader_fail(r, node,
                               "%s has no point '%s'; expected position, or a point of its shape",
                               owner, POINT_WORDS[i]);
        if (given >= 0)
            return reader_fail(r, node,
                               "%s is placed twice; expected one of position, between or one point",
                               owner);
        given = node;
        TRY(reader_vector(r, node, POINT_WORDS[i], QUANTITY_LENGTH, &world));
        *position = vec3_subtract(world, mat3_apply(orientation, local));
    }
    if (between_node < 0) return HN_OK;
    hn_vec3 ends[2];
    double distance;
    TRY(read_between(r, map, ends, &distance));
    return place_between(r, map, shape, ends, distance, position, orientation);
}

// ---- mass ----------------------------------------------------------------------------------------------------

static hn_status read_inertia(const model_reader *r, int index, const char *name, hn_body_def *def)
{
    const yaml_node *node = reader_node(r, index);
    hn_mat3 tensor = {{{0.0}}};
    if (node->kind == YAML_SEQUENCE && node->count == 3 &&
        reader_node(r, node->first)->kind == YAML_SEQUENCE) {
        TRY(read_matrix(r, index, "inertia", QUANTITY_INERTIA, &tensor));
    } else {
        hn_vec3 diagonal;
        TRY(reader_vector(r, index, "inertia", QUANTITY_INERTIA, &diagonal));
        tensor.m[0][0] = diagonal.x;
        tensor.m[1][1] = diagonal.y;
        tensor.m[2][2] = diagonal.z;
    }
    TRY(reader_place(r, index, model_check_inertia(r->context, name, &tensor)));
    def->inertia = vec3(tensor.m[0][0], tensor.m[1][1], tensor.m[2][2]);
    def->products_of_inertia = vec3(tensor.m[0][1], tensor.m[0][2], tensor.m[1][2]);
    return HN_OK;
}

// Mass or density of one shape; exactly one of the two.
static hn_status read_shape_mass(const model_reader *r, int map, const char *owner,
                                 double default_density, hn_shape *shape)
{
    int mass = reader_find(r, map, "mass"), density = reader_find(r, map, "density");
    if (mass >= 0 && density >= 0)
        return reader_fail(r, density, "%s has both mass and density; expected one of them", owner);
    if (mass >= 0)
        return reader_positive(r, mass, "mass", QUANTITY_MASS, "kilograms", &shape->mass);
    if (density >= 0)
        return reader_positive(r, density, "density", QUANTITY_DENSITY, "kg/m^3", &shape->density);
    if (!(default_density > 0.0))
        return reader_fail(r, map, "%s has no mass; expected 'mass' or 'density'", owner);
    shape->density = default_density;
    return HN_OK;
}

// ---- bodies --------------------------------------------------------------------------------------------------

static const char *const BODY_WORDS[] = {
    "shape",    "mass",        "density", "inertia",   "center_of_mass", "point_mass",
    "position", "orientation", "between", "direction", "left",           "right",
    "front",    "back",        "bottom",  "top",       "apex",           "base"};

// Kind and sizes from a map that holds a shape's name, e.g. {box: {size: ...}}.
static hn_status shape_kind_from_word(const model_reader *r, int key, hn_shape_kind *kind)
{
    const char *word = reader_text(r, key);
    for (int i = 0; i < SHAPE_KIND_COUNT; ++i)
        if (strcmp(word, hn_shape_kind_name((hn_shape_kind)i)) == 0) {
            *kind = (hn_shape_kind)i;
            return HN_OK;
        }
    return reader_fail_word(r, key, "shape", NULL, word, SHAPE_WORDS, WORD_COUNT(SHAPE_WORDS));
}

// One part of a composite: {box: {...}, mass: 1, position: [...]}.
static hn_status read_part(const model_reader *r, int index, double default_density,
                           bool picture_only, hn_shape *shape)
{
    static const char *const WORDS[] = {
        "box",   "sphere",  "cylinder", "hollow_cylinder", "cone",    "pyramid",   "tetrahedron",
        "mass",  "density", "position", "orientation",     "between", "direction", "left",
        "right", "front",   "back",     "bottom",          "top",     "apex",      "base"};
    TRY(reader_expect_keys(r, index, "a part of a composite", WORDS, WORD_COUNT(WORDS)));
    int shape_map = -1;
    for (int i = 0; i < SHAPE_KIND_COUNT; ++i) {
        int node = reader_find(r, index, hn_shape_kind_name((hn_shape_kind)i));
        if (node < 0) continue;
        if (shape_map >= 0)
            return reader_fail(r, node, "a part of a composite has two shapes; expected one");
        shape_map = node;
        *shape = hn_shape_default((hn_shape_kind)i);
    }
    if (shape_map < 0)
        return reader_fail(r, index,
                           "a part of a composite has no shape; expected box, cylinder, ...");
    const char *owner = "a part of a composite";
    hn_vec3 ends[2];
    double between;
    TRY(read_between(r, index, ends, &between));
    TRY(read_shape(r, shape_map, owner, between, shape));
    TRY(read_placement(r, index, owner, shape, &shape->position, &shape->orientation));
    // a placed tetrahedron has its centroid there; one without position keeps its corners as they are
    if (reader_find(r, index, "position") >= 0)
        shape->position =
            vec3_subtract(shape->position, mat3_apply(&shape->orientation, shape_centroid(shape)));
    if (picture_only) return HN_OK;
    return read_shape_mass(r, index, owner, default_density, shape);
}

typedef struct body_reading {
    const char *name;
    char owner[128];
    hn_body_def def;
    hn_shape *shapes;
    int shape_count;
} body_reading;

static hn_status read_composite(const model_reader *r, int map, int list, bool picture_only,
                                body_reading *body)
{
    int entry;
    double density = 0.0;
    TRY(reader_expect_list(r, list, "composite", -1, &entry));
    int density_node = reader_find(r, map, "density"), mass_node = reader_find(r, map, "mass");
    if (density_node >= 0)
        TRY(reader_positive(r, density_node, "density", QUANTITY_DENSITY, "kg/m^3", &density));
    if (mass_node >= 0 && !picture_only)
        return reader_fail(r, mass_node,
                           "the mass of a composite comes from its parts; expected it there");
    int count = reader_node(r, list)->count;
    body->shapes = context_allocate(r->context, (size_t)count * sizeof *body->shapes);
    if (body->shapes == NULL) return HN_OUT_OF_MEMORY;
    body->shape_count = count;
    for (int i = 0; i < count; ++i, entry = r->tree.nodes[entry].next)
        TRY(read_part(r, entry, density, picture_only, &body->shapes[i]));
    return read_placement(r, map, body->owner, NULL, &body->def.position, &body->def.orientation);
}

static hn_status read_single_shape(const model_reader *r, int map, int key, bool picture_only,
                                   body_reading *body)
{
    hn_shape_kind kind = HN_SHAPE_BOX;
    TRY(shape_kind_from_word(r, key, &kind));
    body->shapes = context_allocate(r->context, sizeof *body->shapes);
    if (body->shapes == NULL) return HN_OUT_OF_MEMORY;
    body->shape_count = 1;
    hn_shape *shape = &body->shapes[0];
    *shape = hn_shape_default(kind);
    hn_vec3 ends[2];
    double between;
    TRY(read_between(r, map, ends, &between));
    TRY(read_shape(r, reader_value(r, key), body->owner, between, shape));
    TRY(read_placement(r, map, body->owner, shape, &body->def.position, &body->def.orientation));
    if (kind == HN_SHAPE_TETRAHEDRON) {
        // the body frame's origin is the centroid; without position the corners are world places
        hn_vec3 centroid = shape_centroid(shape);
        shape->position = vec3_negate(centroid);
        int orientation = reader_find(r, map, "orientation");
        if (reader_find(r, map, "position") < 0) {
            if (orientation >= 0)
                return reader_fail(r, orientation,
                                   "a tetrahedron without position has its corners in the world; "
                                   "expected position too");
            body->def.position = centroid;
        }
    }
    return picture_only ? HN_OK : read_shape_mass(r, map, body->owner, 0.0, shape);
}

// The shape of a body: picture alone, or mass and inertia too.
static hn_status read_body_shape(const model_reader *r, int map, int index, bool picture_only,
                                 body_reading *body)
{
    TRY(reader_expect_keys(r, index, "shape", SHAPE_WORDS, WORD_COUNT(SHAPE_WORDS)));
    const yaml_node *node = reader_node(r, index);
    if (node->count != 1)
        return reader_fail(r, index, "shape has %d keys; expected one shape (or composite)",
                           node->count);
    int key = node->first;
    if (strcmp(reader_text(r, key), "composite") == 0)
        TRY(read_composite(r, map, reader_value(r, key), picture_only, body));
    else TRY(read_single_shape(r, map, key, picture_only, body));
    if (picture_only) {
        body->def.shapes = body->shapes;
        body->def.shape_count = body->shape_count;
        return HN_OK;
    }
    TRY(reader_place(
        r, index, hn_body_def_set_shapes(r->context, &body->def, body->shapes, body->shape_count)));
    // a single shape has its centroid at the origin of the body frame, free of round-off
    if (strcmp(reader_text(r, key), "composite") != 0)
        body->def.center_of_mass = vec3(0.0, 0.0, 0.0);
    return HN_OK;
}

static hn_status read_point_mass(const model_reader *r, int map, int index, body_reading *body)
{
    static const char *const WORDS[] = {"mass", "plane_normal"};
    static const char *const REFUSED[] = {"mass", "density", "inertia", "center_of_mass",
                                          "orientation"};
    TRY(reader_expect_keys(r, index, "point_mass", WORDS, WORD_COUNT(WORDS)));
    for (int i = 0; i < WORD_COUNT(REFUSED); ++i) {
        int node = reader_find(r, map, REFUSED[i]);
        if (node >= 0)
            return reader_fail(
                r, node,
                "%s is a point mass and takes no '%s' here; expected only 'mass' in point_mass",
                body->owner, REFUSED[i]);
    }
    int mass, normal = reader_find(r, index, "plane_normal");
    TRY(reader_require(r, index, "mass", "point_mass", &mass));
    TRY(reader_positive(r, mass, "mass", QUANTITY_MASS, "kilograms", &body->def.mass));
    body->def.kind = HN_BODY_POINT_MASS;
    if (normal >= 0) {
        body->def.kind = HN_BODY_PLANAR_POINT_MASS;
        TRY(reader_direction(r, normal, "plane_normal", NULL, &body->def.plane_normal));
    }
    int shape = reader_find(r, map, "shape");
    if (shape < 0)
        return read_placement(r, map, body->owner, NULL, &body->def.position,
                              &body->def.orientation);
    return read_body_shape(r, map, shape, true, body);
}

static hn_status read_rigid_body(const model_reader *r, int map, body_reading *body)
{
    int shape = reader_find(r, map, "shape"), inertia = reader_find(r, map, "inertia");
    int mass = reader_find(r, map, "mass"), density = reader_find(r, map, "density");
    int center = reader_find(r, map, "center_of_mass");
    if (inertia < 0) {
        if (shape < 0)
            return reader_fail(
                r, map,
                "%s has neither shape nor inertia; expected 'shape', 'mass' and 'inertia', or "
                "'point_mass'",
                body->owner);
        if (center >= 0)
            return reader_fail(
                r, center,
                "center_of_mass is given although the shape tells it; expected it only with "
                "'inertia'");
        return read_body_shape(r, map, shape, false, body);
    }
    if (density >= 0)
        return reader_fail(r, density, "%s has both inertia and density; expected 'mass'",
                           body->owner);
    if (mass < 0)
        return reader_fail(r, map, "%s has inertia but no mass; expected 'mass'", body->owner);
    TRY(reader_positive(r, mass, "mass", QUANTITY_MASS, "kilograms", &body->def.mass));
    TRY(read_inertia(r, inertia, body->name, &body->def));
    if (center >= 0)
        TRY(reader_vector(r, center, "center_of_mass", QUANTITY_LENGTH, &body->def.center_of_mass));
    if (shape >= 0) return read_body_shape(r, map, shape, true, body);
    return read_placement(r, map, body->owner, NULL, &body->def.position, &body->def.orientation);
}

// No key says where the body is, and a joint can.
static bool is_placed_by_joints(const model_reader *r, int map, const char *name)
{
    static const char *const WORDS[] = {"position", "orientation", "between"};
    for (int i = 0; i < WORD_COUNT(WORDS); ++i)
        if (reader_find(r, map, WORDS[i]) >= 0) return false;
    for (int i = 0; i < SHAPE_POINT_COUNT; ++i)
        if (reader_find(r, map, POINT_WORDS[i]) >= 0) return false;
    return reader_is_jointed(r, name);
}

static hn_status read_body(model_reader *r, int key)
{
    int map = reader_value(r, key);
    body_reading body = {.name = reader_text(r, key), .def = hn_body_def_default()};
    snprintf(body.owner, sizeof body.owner, "body '%.100s'", body.name);
    TRY(reader_expect_keys(r, map, body.owner, BODY_WORDS, WORD_COUNT(BODY_WORDS)));
    body.def.name = body.name;
    int point_mass = reader_find(r, map, "point_mass");
    hn_status status = point_mass >= 0 ? read_point_mass(r, map, point_mass, &body)
                                       : read_rigid_body(r, map, &body);
    hn_body_id id;
    body.def.through_joints = is_placed_by_joints(r, map, body.name);
    if (status == HN_OK) status = reader_place(r, key, hn_model_add_body(r->model, &body.def, &id));
    if (status == HN_OK) r->model->bodies[r->model->body_count - 1].place = reader_position(r, key);
    context_release(r->context, body.shapes);
    return status;
}

hn_status reader_bodies(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "bodies"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_body(r, k));
    return HN_OK;
}
