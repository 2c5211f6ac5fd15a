// SPDX-License-Identifier: MIT
// Joints: from a definition in world or body coordinates to points and frames fixed in the two bodies.
#include "base/rotation.h"
#include "base/sized.h"
#include "model/joint_kinds.h"
#include "model/model.h"

#include <stdio.h>

enum { OWNER_SIZE = 160 };

static const double RIGHT_ANGLE_TOLERANCE = 1e-9; // rad, between the axes of a universal joint
static const double PARALLEL_TOLERANCE = 1e-9;    // rad, between the normals of planar point masses
static const double DIRECTION_TOLERANCE =
    1e-6;                                     // sine of the angle between a direction and the axis
static const double TURN = 6.283185307179586; // rad
static const double DEGREES = 57.29577951308232; // per radian

void hn_joint_def_init(hn_joint_def *def, size_t size, hn_joint_kind kind)
{
    const hn_joint_def known = {
        .size = size,
        .kind = kind,
        .axis_a = {0.0, 0.0, 1.0},
        .axis_b = {joint_kind_facts_of(kind)->axes == AXES_TWO ? 1.0 : 0.0, 0.0, 0.0},
        .separate_points = joint_kind_facts_of(kind)->between_points,
    };
    sized_fill(def, size, &known, sizeof known);
}

static bool is_zero(hn_vec3 a)
{
    return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

// Unit vector along `a`; scaled first, so that very small and very large vectors keep their direction.
static hn_vec3 unit(hn_vec3 a)
{
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    hn_vec3 scaled = {a.x / largest, a.y / largest, a.z / largest};
    return vec3_scale(1.0 / vec3_norm(scaled), scaled);
}

// The part of `v` at right angles to the unit vector n.
static hn_vec3 across(hn_vec3 v, hn_vec3 n)
{
    return vec3_add_scaled(v, -vec3_dot(v, n), n);
}

static hn_mat3 frame_about(hn_vec3 first, hn_vec3 third)
{
    return mat3_from_columns(first, vec3_cross(third, first), third);
}

static hn_mat3 frame_to_body(const hn_model *model, int body, const hn_mat3 *world)
{
    return mat3_from_columns(model_direction_to_body(model, body, mat3_column(world, 0)),
                             model_direction_to_body(model, body, mat3_column(world, 1)),
                             model_direction_to_body(model, body, mat3_column(world, 2)));
}

static hn_status check_axis(hn_context *context, const char *name, const char *what, hn_vec3 axis)
{
    if (!vec3_is_finite(axis))
        return context_fail(context, HN_INVALID_MODEL, "joint '%s': %s is not finite", name, what);
    if (is_zero(axis))
        return context_fail(context, HN_INVALID_MODEL, "joint '%s': %s has zero length", name,
                            what);
    return HN_OK;
}

// ---- which bodies may be joined how -----------------------------------------------------------------

static hn_body_kind kind_of_body(const hn_model *model, int body)
{
    return body == BODY_GROUND ? HN_BODY_RIGID : model->bodies[body].kind;
}

static hn_status check_planar_point_mass(const hn_model *model, const char *name,
                                         const model_joint *joint, int planar, int other)
{
    hn_context *context = model->context;
    const char *planar_name = model->bodies[planar].name;
    if (!joint_kind_facts_of(joint->kind)->takes_planar_points)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': '%s' is a planar point mass, which takes only distance "
                            "and free joints, not %s",
                            name, planar_name, hn_joint_kind_name(joint->kind));
    if (other == BODY_GROUND) return HN_OK;
    if (model->bodies[other].kind != HN_BODY_PLANAR_POINT_MASS)
        return context_fail(
            context, HN_INVALID_MODEL,
            "joint '%s': '%s' is a planar point mass, which can be joined only to the ground or to "
            "another planar point mass, not to '%s'",
            name, planar_name, model->bodies[other].name);
    hn_vec3 n = model->bodies[planar].plane_normal, m = model->bodies[other].plane_normal;
    if (vec3_norm(vec3_cross(n, m)) > PARALLEL_TOLERANCE)
        return context_fail(
            context, HN_INVALID_MODEL,
            "joint '%s': the planes of the point masses '%s' and '%s' are not parallel", name,
            planar_name, model->bodies[other].name);
    return HN_OK;
}

static hn_status check_bodies(const hn_model *model, const char *name, const model_joint *joint)
{
    hn_context *context = model->context;
    if (joint->body_a == -2 || joint->body_b == -2)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': its %s body is not in this model", name,
                            joint->body_a == -2 ? "first" : "second");
    if (joint->body_a == joint->body_b)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': joins '%s' to itself; expected two bodies", name,
                            model_body_index_name(model, joint->body_a));
    const int ends[2] = {joint->body_a, joint->body_b};
    for (int i = 0; i < 2; ++i) {
        hn_body_kind kind = kind_of_body(model, ends[i]);
        if (kind == HN_BODY_PLANAR_POINT_MASS)
            TRY(check_planar_point_mass(model, name, joint, ends[i], ends[1 - i]));
        if (kind == HN_BODY_POINT_MASS && !joint_kind_facts_of(joint->kind)->takes_points)
            return context_fail(
                context, HN_INVALID_MODEL,
                "joint '%s': '%s' is a point mass, which takes only spherical, distance and free "
                "joints, not %s",
                name, model->bodies[ends[i]].name, hn_joint_kind_name(joint->kind));
    }
    return HN_OK;
}

// ---- bodies that are placed through their joints ---------------------------------------------------------

static bool is_unplaced(const hn_model *model, int body)
{
    return body != BODY_GROUND && model->bodies[body].unplaced;
}

static bool joins_unplaced(const hn_model *model, const model_joint *joint)
{
    return is_unplaced(model, joint->body_a) || is_unplaced(model, joint->body_b);
}

// A place or direction of the world means nothing on a body whose own place follows from its joints.
static hn_status check_unplaced(const hn_model *model, const char *name, const hn_joint_def *def,
                                const model_joint *joint)
{
    if (!joins_unplaced(model, joint)) return HN_OK;
    int body = is_unplaced(model, joint->body_a) ? joint->body_a : joint->body_b;
    if (!def->body_coordinates || !def->separate_points)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "joint '%s': body '%s' has no position and is placed through its "
                            "joints; expected the joint's place on both bodies (coordinates: body, "
                            "with a place for a and for b)",
                            name, model->bodies[body].name);
    if (joint->kind == HN_JOINT_DISTANCE && def->length == 0.0)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "joint '%s': body '%s' has no position, which leaves no distance at "
                            "the start; expected a length",
                            name, model->bodies[body].name);
    return HN_OK;
}

// Body axes as a joint sees them when it is drawn; of bodies without a place, parallel to each other.
static hn_vec3 drawn_direction(const hn_model *model, const model_joint *joint, int body,
                               hn_vec3 local)
{
    return joins_unplaced(model, joint) ? local : model_direction_to_world(model, body, local);
}

static hn_mat3 drawn_frame_in_body(const hn_model *model, const model_joint *joint, int body,
                                   const hn_mat3 *frame)
{
    return joins_unplaced(model, joint) ? *frame : frame_to_body(model, body, frame);
}

// The smallest rotation that takes the unit vector `from` to `to`.
static hn_mat3 shortest_turn(hn_vec3 from, hn_vec3 to)
{
    hn_vec3 axis = vec3_cross(from, to);
    double sine = vec3_norm(axis), angle = atan2(sine, vec3_dot(from, to));
    axis = sine > 0.0 ? vec3_scale(1.0 / sine, axis) : vec3_perpendicular(from);
    return rotation_exponential(vec3_scale(angle, axis));
}

// ---- points -----------------------------------------------------------------------------------------

static hn_status place_points(const hn_model *model, const char *name, const hn_joint_def *def,
                              model_joint *joint)
{
    hn_context *context = model->context;
    if (!vec3_is_finite(def->point_a) || (def->separate_points && !vec3_is_finite(def->point_b)))
        return context_fail(context, HN_INVALID_MODEL, "joint '%s': its place is not finite", name);
    int a = joint->body_a, b = joint->body_b;
    if (def->body_coordinates) {
        joint->point_a = def->point_a;
        joint->point_b =
            def->separate_points
                ? def->point_b
                : model_point_to_body(model, b, model_point_to_world(model, a, def->point_a));
    } else {
        joint->point_a = model_point_to_body(model, a, def->point_a);
        joint->point_b =
            model_point_to_body(model, b, def->separate_points ? def->point_b : def->point_a);
    }
    TRY(model_settle_point_mass(model, "joint", name, a, &joint->point_a));
    TRY(model_settle_point_mass(model, "joint", name, b, &joint->point_b));

    if (joint->kind != HN_JOINT_DISTANCE) return HN_OK;
    if (!isfinite(def->length) || def->length < 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': length is %g; expected a positive number of metres", name,
                            def->length);
    hn_vec3 apart = vec3_subtract(model_point_to_world(model, b, joint->point_b),
                                  model_point_to_world(model, a, joint->point_a));
    joint->length = def->length > 0.0 ? def->length : vec3_norm(apart);
    if (!(vec3_norm(apart) > 0.0) && !joins_unplaced(model, joint))
        return context_fail(
            context, HN_INVALID_MODEL,
            "joint '%s': its two points are at the same place; expected a distance above zero",
            name);
    return HN_OK;
}

// ---- frames -----------------------------------------------------------------------------------------

static hn_status universal_frames(const hn_model *model, const char *name, const hn_joint_def *def,
                                  model_joint *joint)
{
    hn_context *context = model->context;
    TRY(check_axis(context, name, "second axis", def->axis_b));
    hn_vec3 n1 = unit(def->axis_a), n2 = unit(def->axis_b);
    if (def->body_coordinates) {
        n1 = drawn_direction(model, joint, joint->body_a, n1);
        n2 = drawn_direction(model, joint, joint->body_b, n2);
    }
    double sine = vec3_norm(vec3_cross(n1, n2)), cosine = vec3_dot(n1, n2);
    if (fabs(cosine) > RIGHT_ANGLE_TOLERANCE)
        return context_fail(
            context, HN_INVALID_MODEL,
            "joint '%s': its axes stand at %.9g degrees to each other; expected a right angle",
            name, DEGREES * atan2(sine, cosine));
    hn_mat3 frame_a = frame_about(unit(across(n2, n1)), n1);
    hn_mat3 frame_b = frame_about(unit(across(n1, n2)), n2);
    joint->frame_a = drawn_frame_in_body(model, joint, joint->body_a, &frame_a);
    joint->frame_b = drawn_frame_in_body(model, joint, joint->body_b, &frame_b);
    return HN_OK;
}

static hn_status axis_frames(const hn_model *model, const char *name, const hn_joint_def *def,
                             model_joint *joint)
{
    hn_context *context = model->context;
    int a = joint->body_a, b = joint->body_b;
    hn_vec3 axis = unit(def->axis_a), first = vec3_perpendicular(axis);
    if (joint_kind_facts_of(joint->kind)->axes == AXES_NORMAL && !is_zero(def->direction)) {
        if (!vec3_is_finite(def->direction))
            return context_fail(context, HN_INVALID_MODEL, "joint '%s': direction is not finite",
                                name);
        hn_vec3 in_plane = across(unit(def->direction), axis);
        if (vec3_norm(in_plane) < DIRECTION_TOLERANCE)
            return context_fail(
                context, HN_INVALID_MODEL,
                "joint '%s': direction is along the normal; expected a direction in the plane",
                name);
        first = unit(in_plane);
    }
    hn_mat3 frame = frame_about(first, axis), world = frame;
    if (def->body_coordinates) {
        joint->frame_a = frame;
        world = mat3_from_columns(model_direction_to_world(model, a, mat3_column(&frame, 0)),
                                  model_direction_to_world(model, a, mat3_column(&frame, 1)),
                                  model_direction_to_world(model, a, mat3_column(&frame, 2)));
    } else {
        joint->frame_a = frame_to_body(model, a, &frame);
    }
    joint->frame_b =
        joins_unplaced(model, joint) ? joint->frame_a : frame_to_body(model, b, &world);
    if (!def->body_coordinates || is_zero(def->axis_b)) return HN_OK;

    // the axis was given in b as well: keep it, and turn the first vector as little as possible
    if (!vec3_is_finite(def->axis_b))
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': axis in the second body is not finite", name);
    hn_vec3 axis_b = unit(def->axis_b);
    if (joins_unplaced(model, joint)) {
        hn_mat3 turn = shortest_turn(axis, axis_b);
        joint->frame_b = frame_about(unit(across(mat3_apply(&turn, first), axis_b)), axis_b);
        return HN_OK;
    }
    hn_vec3 first_b = across(mat3_column(&joint->frame_b, 0), axis_b);
    if (vec3_norm(first_b) < DIRECTION_TOLERANCE) first_b = vec3_perpendicular(axis_b);
    joint->frame_b = frame_about(unit(first_b), axis_b);
    return HN_OK;
}

// Frames as given, free of round-off.
static hn_status given_frames(const hn_model *model, const char *name, const hn_joint_def *def,
                              model_joint *joint)
{
    const hn_mat3 *given[2] = {&def->frame_a, &def->frame_b};
    hn_mat3 *to[2] = {&joint->frame_a, &joint->frame_b};
    char owner[OWNER_SIZE];
    if (!def->body_coordinates)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "joint '%s': frames are given in the bodies; expected "
                            "body coordinates",
                            name);
    for (int i = 0; i < 2; ++i) {
        snprintf(owner, sizeof owner, "joint '%.100s': frame in %s", name, i == 0 ? "a" : "b");
        TRY(model_check_rotation(model->context, owner, given[i]));
        hn_vec3 axis = unit(mat3_column(given[i], 2));
        *to[i] = frame_about(unit(across(mat3_column(given[i], 0), axis)), axis);
    }
    return HN_OK;
}

static hn_status place_frames(const hn_model *model, const char *name, const hn_joint_def *def,
                              model_joint *joint)
{
    if (def->separate_frames) return given_frames(model, name, def, joint);
    joint_axes axes = joint_kind_facts_of(joint->kind)->axes;
    if (axes == AXES_NONE) {
        hn_mat3 world = mat3_identity();
        joint->frame_a = drawn_frame_in_body(model, joint, joint->body_a, &world);
        joint->frame_b = drawn_frame_in_body(model, joint, joint->body_b, &world);
        return HN_OK;
    }
    TRY(check_axis(model->context, name, axes == AXES_NORMAL ? "normal" : "axis", def->axis_a));
    if (axes == AXES_TWO) return universal_frames(model, name, def, joint);
    return axis_frames(model, name, def, joint);
}

hn_status hn_model_add_joint(hn_model *model, const hn_joint_def *def, hn_joint_id *joint)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && joint != NULL);
    OWN_COPY(context, hn_joint_def, def, hn_joint_def_default(def->kind));
    char *name = NULL;
    TRY(model_new_name(context, &model->joint_names, "joint", def->name, model->joint_count,
                       &name));

    model_joint added = {
        .name = name,
        .kind = def->kind,
        .body_a = model_body_index(model, def->body_a),
        .body_b = model_body_index(model, def->body_b),
    };
    hn_status status = HN_OK;
    if ((int)def->kind < 0 || (int)def->kind >= HN_JOINT_KIND_COUNT)
        status = context_fail(context, HN_INVALID_MODEL, "joint '%s': unknown kind %d", name,
                              (int)def->kind);
    if (status == HN_OK) status = check_bodies(model, name, &added);
    if (status == HN_OK) status = check_unplaced(model, name, def, &added);
    bool threaded = status == HN_OK && joint_kind_facts_of(def->kind)->threaded;
    if (threaded) {
        status = model_check_thread(model, name, def->pitch);
        added.lead = def->pitch / TURN;
    }
    if (status == HN_OK) status = place_points(model, name, def, &added);
    if (status == HN_OK) status = place_frames(model, name, def, &added);

    void *joints = model->joints;
    if (status == HN_OK)
        status = context_grow(context, &joints, &model->joint_capacity, model->joint_count + 1,
                              sizeof *model->joints);
    model->joints = joints;
    if (status == HN_OK)
        status = name_table_add(context, &model->joint_names, name, model->joint_count);
    if (status != HN_OK) {
        context_release(context, name);
        return status;
    }
    model->joints[model->joint_count++] = added;
    *joint = hn_model_joint(model, model->joint_count - 1);
    return threaded ? model_add_thread(model, *joint) : HN_OK;
}

int model_joint_index(const hn_model *model, hn_joint_id joint)
{
    if (joint.index1 == 0 || joint.model != model->tag) return -1;
    return joint.index1 > (uint32_t)model->joint_count ? -1 : (int)joint.index1 - 1;
}

// Point masses have no orientation: between them and the ground nothing turns.
static hn_status refuse_turn(const hn_model *model, const model_joint *j, int coordinate,
                             double value)
{
    const int body[2] = {j->body_a, j->body_b}, place = joint_kind_rotation_place(j->kind);
    if (value == 0.0 || place < 0 || coordinate < place) return HN_OK;
    for (int side = 0; side < 2; ++side)
        if (body[side] >= 0 && model_has_directors(&model->bodies[body[side]])) return HN_OK;
    return context_fail(
        model->context, HN_INVALID_MODEL,
        "joint '%s': a turn is given for the start, but neither of its bodies can turn", j->name);
}

// A planar point mass on a free joint moves in its plane.
static hn_status refuse_leaving(const hn_model *model, const model_joint *j, const double *rates)
{
    const int body[2] = {j->body_a, j->body_b};
    for (int side = 0; side < 2 && j->kind == HN_JOINT_FREE; ++side) {
        if (body[side] < 0) continue;
        const model_body *b = &model->bodies[body[side]];
        double off = model_speed_across(b, vec3_load(rates));
        if (off != 0.0)
            return context_fail(
                model->context, HN_INVALID_MODEL,
                "joint '%s': its start rates lead out of the plane of '%s' by %g m/s", j->name,
                b->name, off);
    }
    return HN_OK;
}

hn_status hn_model_set_joint_rates(hn_model *model, hn_joint_id joint, const double *rates,
                                   int count)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    int index = model_joint_index(model, joint);
    if (index < 0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start rates: no such joint in this model");
    model_joint *j = &model->joints[index];
    int expected = hn_model_joint_coordinate_count(model, joint);
    if (count != expected)
        return context_fail(
            context, HN_INVALID_ARGUMENT,
            "joint '%s': %d start rate%s given; a %s joint between these bodies has %d", j->name,
            count, count == 1 ? "" : "s", hn_joint_kind_name(j->kind), expected);
    REQUIRE(context, count == 0 || rates != NULL);
    for (int i = 0; i < count; ++i)
        if (!isfinite(rates[i]))
            return context_fail(context, HN_INVALID_MODEL,
                                "joint '%s': start rate %d is not finite", j->name, i + 1);
    for (int i = 0; i < count; ++i) TRY(refuse_turn(model, j, i, rates[i]));
    TRY(refuse_leaving(model, j, rates));
    for (int i = 0; i < count; ++i) j->rates[i] = rates[i];
    j->has_rates = true;
    j->rates_of_motions = false;
    j->rates_known = j->rates_coupled = 0;
    model_follow_couplings(model);
    return HN_OK;
}

// Displacement and angle of a screw are zero together: the one that is not said follows.
static void follow_thread(model_joint *j, int coordinate)
{
    int other = 1 - coordinate;
    unsigned bit = 1U << (unsigned)other;
    if ((j->given & bit) != 0 && (j->followed & bit) == 0) return;
    double value = j->coordinates[coordinate];
    j->coordinates[other] = coordinate == 0 ? value / j->lead : value * j->lead;
    j->given |= bit;
    j->followed |= bit;
}

hn_status hn_model_set_joint_coordinate(hn_model *model, hn_joint_id joint, int coordinate,
                                        double value)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    int index = model_joint_index(model, joint);
    if (index < 0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start coordinate: no such joint in this model");
    model_joint *j = &model->joints[index];
    int count = hn_model_joint_coordinate_count(model, joint);
    if (coordinate < 0 || coordinate >= count)
        return context_fail(
            context, HN_INVALID_ARGUMENT,
            "joint '%s': start coordinate %d was set; a %s joint between these bodies has %d",
            j->name, coordinate, hn_joint_kind_name(j->kind), count);
    if (!isfinite(value))
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': start coordinate %d is not finite", j->name, coordinate);
    TRY(refuse_turn(model, j, coordinate, value));
    j->coordinates[coordinate] = value;
    j->given |= 1U << (unsigned)coordinate;
    j->followed &= ~(1U << (unsigned)coordinate);
    if (j->lead != 0.0) follow_thread(j, coordinate);
    model->assembly_pending = true;
    return HN_OK;
}

bool hn_model_needs_assembly(const hn_model *model)
{
    return model != NULL && model->assembly_pending;
}

bool hn_model_assembly(const hn_model *model, hn_assembly *report)
{
    if (model == NULL || !model->assembled) return false;
    if (report != NULL) *report = model->assembly;
    return true;
}

int hn_model_joint_start(const hn_model *model, hn_joint_id joint, double *drawn, double *start)
{
    int index = model == NULL ? -1 : model_joint_index(model, joint);
    if (index < 0 || !model->assembled) return 0;
    int count = hn_model_joint_coordinate_count(model, joint);
    for (int k = 0; k < count; ++k) {
        if (drawn != NULL) drawn[k] = model->joints[index].drawn[k];
        if (start != NULL) start[k] = model->joints[index].start[k];
    }
    return count;
}

bool hn_model_joint_geometry(const hn_model *model, hn_joint_id joint, bool on_b, hn_vec3 *point,
                             hn_mat3 *frame)
{
    int index = model == NULL ? -1 : model_joint_index(model, joint);
    if (index < 0) return false;
    const model_joint *j = &model->joints[index];
    if (point != NULL) *point = on_b ? j->point_b : j->point_a;
    if (frame != NULL) *frame = on_b ? j->frame_b : j->frame_a;
    return true;
}
