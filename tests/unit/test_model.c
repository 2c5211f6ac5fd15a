// SPDX-License-Identifier: MIT
// The model layer: what is stored, what is refused and with which words, names, memory.
#include "model/model.h"

#include "base/rotation.h"

#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// the macros are floats
static const double NOT_A_NUMBER = (double)NAN, INFINITE = (double)INFINITY;

typedef struct fixture {
    hn_context *context;
    hn_model *model;
} fixture;

static fixture empty_model(void)
{
    fixture f = {.context = hn_context_create(NULL)};
    hn_model_def def = hn_model_def_default();
    CHECK_OK(f.context, hn_model_create(f.context, &def, &f.model));
    return f;
}

static void destroy(fixture *f)
{
    hn_model_destroy(f->model);
    hn_context_destroy(f->context);
}

static hn_body_def brick(const char *name, hn_vec3 position)
{
    hn_body_def def = hn_body_def_default();
    def.name = name;
    def.mass = 2.0;
    def.inertia = vec3(1.0, 1.5, 2.0);
    def.position = position;
    return def;
}

static hn_body_id add_brick(fixture *f, const char *name, hn_vec3 position, hn_vec3 turn)
{
    hn_body_def def = brick(name, position);
    def.orientation = rotation_exponential(turn);
    hn_body_id id;
    CHECK_OK(f->context, hn_model_add_body(f->model, &def, &id));
    return id;
}

static hn_body_id add_point_mass(fixture *f, const char *name, hn_vec3 position, hn_vec3 normal)
{
    hn_body_def def = hn_body_def_default();
    def.name = name;
    def.kind = vec3_norm(normal) > 0.0 ? HN_BODY_PLANAR_POINT_MASS : HN_BODY_POINT_MASS;
    def.mass = 1.0;
    def.position = position;
    def.plane_normal = normal;
    hn_body_id id;
    CHECK_OK(f->context, hn_model_add_body(f->model, &def, &id));
    return id;
}

static double frame_distance(const hn_mat3 *a, const hn_mat3 *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = fmax(worst, fabs(a->m[i][j] - b->m[i][j]));
    return worst;
}

// World axes of a joint frame at the start.
static hn_mat3 frame_in_world(const hn_model *model, int body, const hn_mat3 *frame)
{
    if (body == BODY_GROUND) return *frame;
    return mat3_multiply(&model->bodies[body].orientation, frame);
}

// ---- bodies -------------------------------------------------------------------------------------------

static void refuse_body(const hn_body_def *def, const char *words)
{
    fixture f = empty_model();
    hn_body_id id;
    CHECK_STATUS(f.context, hn_model_add_body(f.model, def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), words);
    CHECK_EQUAL(hn_model_body_count(f.model), 0);
    destroy(&f);
}

TEST(bodies, are_stored_as_given)
{
    fixture f = empty_model();
    hn_body_def def = brick("brick", vec3(1.0, 2.0, 3.0));
    def.products_of_inertia = vec3(0.1, -0.05, 0.02);
    def.center_of_mass = vec3(0.1, 0.0, -0.2);
    def.orientation = rotation_exponential(vec3(0.2, 0.3, -0.4));
    hn_body_id id;
    CHECK_OK(f.context, hn_model_add_body(f.model, &def, &id));
    CHECK_EQUAL(id.index1, 1);
    CHECK_TEXT(hn_model_body_name(f.model, id), "brick");
    CHECK_NEAR(hn_model_body_mass(f.model, id), 2.0, 0.0);
    hn_mat3 inertia = hn_model_body_inertia(f.model, id);
    CHECK_NEAR(inertia.m[0][1], 0.1, 0.0);
    CHECK_NEAR(inertia.m[2][0], -0.05, 0.0);
    CHECK_NEAR(inertia.m[1][2], 0.02, 0.0);
    CHECK_NEAR(hn_model_body_center_of_mass(f.model, id).z, -0.2, 0.0);
    CHECK_NEAR(hn_model_body_position(f.model, id).y, 2.0, 0.0);
    hn_mat3 orientation = hn_model_body_orientation(f.model, id);
    CHECK_BELOW(frame_distance(&orientation, &def.orientation), 1e-300);
    destroy(&f);
}

TEST(bodies, without_a_positive_mass_are_refused)
{
    hn_body_def def = brick("link", vec3(0, 0, 0));
    def.mass = 0.0;
    refuse_body(&def, "body 'link': mass is 0; expected a positive number of kilograms");
    def.mass = -1.0;
    refuse_body(&def, "mass is -1");
    def.mass = NOT_A_NUMBER;
    refuse_body(&def, "mass is nan");
    def.mass = INFINITE;
    refuse_body(&def, "mass is inf");
}

TEST(bodies, need_an_inertia_that_matter_can_have)
{
    hn_body_def def = brick("link", vec3(0, 0, 0));
    def.inertia = vec3(1.0, 1.0, 2.0 + 1e-8);
    refuse_body(&def, "violates the triangle inequality");
    def.inertia = vec3(-0.1, 1.0, 1.0);
    refuse_body(&def, "negative principal moment");
    def.inertia = vec3(0.0, 0.0, 0.0);
    refuse_body(&def, "inertia is zero");
    def.inertia = vec3(1.0, NOT_A_NUMBER, 1.0);
    refuse_body(&def, "inertia is not finite");
    // diagonal entries fulfil the inequality, principal moments (0.1, 1, 1.9) do not
    def.inertia = vec3(1.0, 1.0, 1.0);
    def.products_of_inertia = vec3(0.9, 0.0, 0.0);
    refuse_body(&def, "violates the triangle inequality");
}

TEST(bodies, may_be_flat_plates_and_thin_rods)
{
    fixture f = empty_model();
    hn_body_id id;
    hn_body_def plate = brick("plate", vec3(0, 0, 0));
    plate.inertia = vec3(1.0, 2.0, 3.0);
    CHECK_OK(f.context, hn_model_add_body(f.model, &plate, &id));
    hn_body_def rod = brick("rod", vec3(0, 0, 0));
    rod.inertia = vec3(1.0, 1.0, 0.0);
    CHECK_OK(f.context, hn_model_add_body(f.model, &rod, &id));
    destroy(&f);
}

TEST(bodies, need_a_right_handed_rotation)
{
    hn_body_def def = brick("link", vec3(0, 0, 0));
    def.orientation.m[0][1] = 1e-8;
    refuse_body(&def, "not a rotation matrix");
    def.orientation = mat3_identity();
    def.orientation.m[2][2] = -1.0;
    refuse_body(&def, "left-handed");
    def.orientation.m[2][2] = NOT_A_NUMBER;
    refuse_body(&def, "orientation is not finite");
    def = brick("link", vec3(INFINITE, 0, 0));
    refuse_body(&def, "position is not finite");
    def = brick("link", vec3(0, 0, 0));
    def.center_of_mass.y = NOT_A_NUMBER;
    refuse_body(&def, "centre of mass is not finite");
}

TEST(bodies, point_masses_have_neither_inertia_nor_orientation)
{
    hn_body_def def = hn_body_def_default();
    def.name = "bob";
    def.kind = HN_BODY_POINT_MASS;
    def.mass = 1.0;
    def.inertia.x = 1.0;
    refuse_body(&def, "body 'bob': a point mass has no inertia");
    def.inertia.x = 0.0;
    def.center_of_mass.x = 1.0;
    refuse_body(&def, "centre of mass at its position");
    def.center_of_mass.x = 0.0;
    def.orientation = rotation_exponential(vec3(1.0, 0.0, 0.0));
    refuse_body(&def, "no orientation");
    def.orientation = mat3_identity();
    def.kind = HN_BODY_PLANAR_POINT_MASS;
    refuse_body(&def, "plane normal has zero length");
}

TEST(names, are_unique_and_numbered_when_missing)
{
    fixture f = empty_model();
    hn_body_def def = brick("body2", vec3(0, 0, 0));
    hn_body_id id;
    CHECK_OK(f.context, hn_model_add_body(f.model, &def, &id));
    CHECK_STATUS(f.context, hn_model_add_body(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "body 'body2': this name is already taken");
    def.name = NULL;
    CHECK_OK(f.context, hn_model_add_body(f.model, &def, &id));
    CHECK_TEXT(hn_model_body_name(f.model, id), "body3"); // body2 is taken
    CHECK_EQUAL(hn_model_find_body(f.model, "body3").index1, id.index1);
    CHECK_EQUAL(hn_model_find_body(f.model, "body9").index1, 0);
    CHECK_EQUAL(hn_model_find_body(f.model, "ground").index1, hn_ground().index1);
    CHECK_TEXT(hn_model_body_name(f.model, hn_ground()), "ground");
    CHECK_TEXT(hn_model_body_name(f.model, (hn_body_id){0}), "");
    destroy(&f);

    def.name = "ground";
    refuse_body(&def, "reserved");
    def.name = "";
    refuse_body(&def, "empty name");
    def.name = "a/b";
    refuse_body(&def, "may not contain '/'");
    def.name = "a\nb";
    refuse_body(&def, "control character");
    def.name = "a\xC2\x80";
    refuse_body(&def, "control character"); // U+0080
    def.name = "\xC2\x9F";
    refuse_body(&def, "control character"); // U+009F
    def.name = "a\xE2\x80\xAE/b";
    refuse_body(&def, "'a\\u202E/b'"); // the line would run backwards from there
    char endless[200];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    def.name = endless;
    refuse_body(&def, "longer than 100 bytes");
}

TEST(names, are_found_among_many)
{
    fixture f = empty_model();
    hn_body_def def = brick(NULL, vec3(0, 0, 0));
    hn_body_id id;
    enum { MANY = 50000 }; // quadratic search would take minutes
    for (int i = 0; i < MANY; ++i) CHECK_OK(f.context, hn_model_add_body(f.model, &def, &id));
    for (int i = 0; i < MANY; ++i) {
        char name[32];
        snprintf(name, sizeof name, "body%d", i + 1);
        CHECK_EQUAL(hn_model_find_body(f.model, name).index1, i + 1);
    }
    destroy(&f);
}

// ---- joints -------------------------------------------------------------------------------------------

static void refuse_joint(fixture *f, const hn_joint_def *def, const char *words)
{
    hn_joint_id id;
    int before = hn_model_joint_count(f->model);
    CHECK_STATUS(f->context, hn_model_add_joint(f->model, def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f->context), words);
    CHECK_EQUAL(hn_model_joint_count(f->model), before);
}

TEST(joints, have_frames_that_are_aligned_at_the_start)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0.1, 0.2, 0.3), vec3(0.4, -0.2, 0.9));
    hn_body_id b = add_brick(&f, "b", vec3(1.0, -0.5, 0.2), vec3(-1.0, 0.7, 0.1));
    for (int kind = 0; kind < HN_JOINT_KIND_COUNT; ++kind) {
        hn_joint_def def = hn_joint_def_default((hn_joint_kind)kind);
        def.body_a = a;
        def.body_b = b;
        def.point_a = vec3(0.5, 0.5, 0.5);
        def.axis_a = vec3(1.0, 2.0, -2.0); // not normalised
        if (kind == HN_JOINT_UNIVERSAL) def.axis_b = vec3(0.0, 5.0, 5.0);
        if (kind == HN_JOINT_SCREW) def.pitch = 0.1;
        if (kind == HN_JOINT_DISTANCE) def.point_b = vec3(0.5, 0.5, 2.0);
        hn_joint_id id;
        CHECK_OK(f.context, hn_model_add_joint(f.model, &def, &id));
        const model_joint *joint = &f.model->joints[id.index1 - 1];
        hn_mat3 fa = frame_in_world(f.model, joint->body_a, &joint->frame_a);
        hn_mat3 fb = frame_in_world(f.model, joint->body_b, &joint->frame_b);
        CHECK_BELOW(mat3_orthonormality_error(&fa), 1e-15);
        CHECK_BELOW(mat3_orthonormality_error(&fb), 1e-15);
        CHECK_NEAR(mat3_determinant(&fa), 1.0, 1e-15);
        CHECK_NEAR(mat3_determinant(&fb), 1.0, 1e-15);
        hn_vec3 pa = model_point_to_world(f.model, joint->body_a, joint->point_a);
        hn_vec3 pb = model_point_to_world(f.model, joint->body_b, joint->point_b);
        if (kind == HN_JOINT_DISTANCE) CHECK_NEAR(joint->length, 1.5, 1e-15);
        else CHECK_BELOW(vec3_norm(vec3_subtract(pa, pb)), 1e-15);
        if (kind == HN_JOINT_UNIVERSAL) {
            // third vectors are the axes, first vectors the other axis
            CHECK_BELOW(vec3_dot(mat3_column(&fa, 2), mat3_column(&fb, 2)), 1e-15);
            CHECK_BELOW(vec3_norm(vec3_subtract(mat3_column(&fa, 0), mat3_column(&fb, 2))), 1e-15);
            CHECK_BELOW(vec3_norm(vec3_subtract(mat3_column(&fb, 0), mat3_column(&fa, 2))), 1e-15);
        } else {
            CHECK_BELOW(frame_distance(&fa, &fb), 1e-15);
        }
        if (kind == HN_JOINT_REVOLUTE)
            CHECK_BELOW(
                vec3_norm(vec3_subtract(mat3_column(&fa, 2), vec3(1.0 / 3, 2.0 / 3, -2.0 / 3))),
                1e-15);
        if (kind == HN_JOINT_SPHERICAL) {
            hn_mat3 identity = mat3_identity();
            CHECK_BELOW(frame_distance(&fa, &identity), 1e-15);
        }
    }
    destroy(&f);
}

TEST(joints, in_body_coordinates_equal_those_in_world_coordinates)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0.1, 0.2, 0.3), vec3(0.4, -0.2, 0.9));
    hn_body_id b = add_brick(&f, "b", vec3(1.0, -0.5, 0.2), vec3(-1.0, 0.7, 0.1));
    hn_joint_def world = hn_joint_def_default(HN_JOINT_PLANAR);
    world.body_a = a, world.body_b = b;
    world.point_a = vec3(0.5, 0.5, 0.5);
    world.axis_a = vec3(1.0, 2.0, -2.0);
    world.direction = vec3(1.0, 0.0, 0.0);
    hn_joint_def body = world;
    body.body_coordinates = true;
    body.point_a = model_point_to_body(f.model, 0, world.point_a);
    body.axis_a = model_direction_to_body(f.model, 0, world.axis_a);
    body.axis_b = model_direction_to_body(f.model, 1, world.axis_a);
    body.direction = model_direction_to_body(f.model, 0, world.direction);
    hn_joint_id id;
    CHECK_OK(f.context, hn_model_add_joint(f.model, &world, &id));
    CHECK_OK(f.context, hn_model_add_joint(f.model, &body, &id));
    const model_joint *j = f.model->joints;
    CHECK_BELOW(vec3_norm(vec3_subtract(j[0].point_a, j[1].point_a)), 1e-15);
    CHECK_BELOW(vec3_norm(vec3_subtract(j[0].point_b, j[1].point_b)), 1e-15);
    CHECK_BELOW(frame_distance(&j[0].frame_a, &j[1].frame_a), 1e-15);
    CHECK_BELOW(frame_distance(&j[0].frame_b, &j[1].frame_b), 1e-15);
    destroy(&f);
}

TEST(joints, keep_an_axis_that_was_given_apart_in_the_second_body)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_body_id b = add_brick(&f, "b", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_REVOLUTE);
    def.body_a = a, def.body_b = b;
    def.body_coordinates = true;
    def.axis_b = vec3(0.0, 0.02, 2.0); // a hundredth off: the engine decides about it
    hn_joint_id id;
    CHECK_OK(f.context, hn_model_add_joint(f.model, &def, &id));
    const model_joint *joint = f.model->joints;
    hn_vec3 axis = mat3_column(&joint->frame_b, 2);
    CHECK_NEAR(axis.y / axis.z, 0.01, 1e-15);
    CHECK_BELOW(mat3_orthonormality_error(&joint->frame_b), 1e-15);
    destroy(&f);
}

TEST(joints, that_make_no_sense_are_refused)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_body_id b = add_brick(&f, "b", vec3(1, 0, 0), vec3(0, 0, 0));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_REVOLUTE);
    def.name = "hinge";
    refuse_joint(&f, &def, "joint 'hinge': its first body is not in this model");
    def.body_a = a, def.body_b = a;
    refuse_joint(&f, &def, "joins 'a' to itself");
    def.body_b = (hn_body_id){.index1 = 17};
    refuse_joint(&f, &def, "its second body is not in this model");
    def.body_b = b;
    def.axis_a = vec3(0, 0, 0);
    refuse_joint(&f, &def, "joint 'hinge': axis has zero length");
    def.axis_a = vec3(NOT_A_NUMBER, 0, 0);
    refuse_joint(&f, &def, "axis is not finite");
    def.axis_a = vec3(0, 0, 1);
    def.point_a = vec3(0, INFINITE, 0);
    refuse_joint(&f, &def, "its place is not finite");
    def.point_a = vec3(0, 0, 0);
    def.kind = (hn_joint_kind)99;
    refuse_joint(&f, &def, "unknown kind 99");

    def = hn_joint_def_default(HN_JOINT_UNIVERSAL);
    def.name = "cross";
    def.body_a = a, def.body_b = b;
    def.axis_a = vec3(1, 0, 0);
    def.axis_b = vec3(1, 1, 0);
    refuse_joint(
        &f, &def,
        "joint 'cross': its axes stand at 45 degrees to each other; expected a right angle");
    def.axis_b = vec3(1e-8, 1, 0);
    refuse_joint(&f, &def, "degrees to each other");

    def = hn_joint_def_default(HN_JOINT_DISTANCE);
    def.name = "rod";
    def.body_a = a, def.body_b = b;
    refuse_joint(&f, &def, "at the same place");
    def.point_b = vec3(1, 0, 0);
    def.length = -1.0;
    refuse_joint(&f, &def, "length is -1");
    def.length = NOT_A_NUMBER;
    refuse_joint(&f, &def, "length is nan");

    def = hn_joint_def_default(HN_JOINT_PLANAR);
    def.name = "table";
    def.body_a = a, def.body_b = b;
    def.direction = vec3(0, 0, -3);
    refuse_joint(&f, &def, "direction is along the normal");
    destroy(&f);
}

TEST(joints, on_point_masses_are_few)
{
    fixture f = empty_model();
    hn_vec3 none = vec3(0, 0, 0);
    hn_body_id rigid = add_brick(&f, "brick", vec3(0, 0, 0), none);
    hn_body_id bob = add_point_mass(&f, "bob", vec3(1, 0, 0), none);
    hn_body_id bead = add_point_mass(&f, "bead", vec3(2, 0, 0), vec3(0, 0, 2));
    hn_body_id tilted = add_point_mass(&f, "tilted", vec3(3, 0, 0), vec3(0, 1, 1));
    hn_body_id parallel = add_point_mass(&f, "parallel", vec3(4, 0, 1), vec3(0, 0, -1));
    const hn_joint_kind refused[] = {HN_JOINT_REVOLUTE, HN_JOINT_PRISMATIC, HN_JOINT_CYLINDRICAL,
                                     HN_JOINT_SCREW,    HN_JOINT_PLANAR,    HN_JOINT_UNIVERSAL,
                                     HN_JOINT_FIXED};
    for (int i = 0; i < 6; ++i) {
        hn_joint_def def = hn_joint_def_default(refused[i]);
        def.body_a = rigid, def.body_b = bob;
        def.point_a = vec3(1, 0, 0);
        refuse_joint(&f, &def,
                     "'bob' is a point mass, which takes only spherical, distance and free joints");
    }
    hn_joint_id id;
    hn_joint_def ball = hn_joint_def_default(HN_JOINT_SPHERICAL);
    ball.body_a = rigid, ball.body_b = bob;
    refuse_joint(&f, &ball, "its place is 1 m away from the point mass 'bob'");
    ball.point_a = vec3(1, 0, 0);
    CHECK_OK(f.context, hn_model_add_joint(f.model, &ball, &id));
    CHECK_EQUAL(hn_model_joint_coordinate_count(f.model, id), 0);

    ball.body_a = hn_ground(), ball.body_b = bead;
    ball.point_a = vec3(2, 0, 0);
    refuse_joint(
        &f, &ball,
        "'bead' is a planar point mass, which takes only distance and free joints, not spherical");
    hn_joint_def rod = hn_joint_def_default(HN_JOINT_DISTANCE);
    rod.body_a = bead, rod.body_b = rigid;
    rod.point_a = vec3(2, 0, 0);
    refuse_joint(&f, &rod, "only to the ground or to another planar point mass, not to 'brick'");
    rod.body_b = tilted, rod.point_b = vec3(3, 0, 0);
    refuse_joint(&f, &rod, "are not parallel");
    rod.body_b = parallel, rod.point_b = vec3(4, 0, 1);
    CHECK_OK(f.context, hn_model_add_joint(f.model, &rod, &id));
    rod.body_b = hn_ground(), rod.point_b = vec3(0, 0, 0);
    CHECK_OK(f.context, hn_model_add_joint(f.model, &rod, &id));
    CHECK_EQUAL(hn_model_joint_coordinate_count(f.model, id), 0);
    destroy(&f);
}

// ---- loads and start values ---------------------------------------------------------------------------

TEST(loads, are_checked_and_their_tables_copied)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_body_id bob = add_point_mass(&f, "bob", vec3(1, 0, 0), vec3(0, 0, 0));
    hn_load_id id;
    double times[3] = {0.0, 1.0, 2.0}, factors[3] = {0.0, 1.0, 0.5};
    hn_load_def def = hn_load_def_default();
    def.name = "push";
    def.body = a;
    def.vector = vec3(1, 0, 0);
    def.profile =
        (hn_profile){.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 3};
    CHECK_OK(f.context, hn_model_add_load(f.model, &def, &id));
    times[1] = -5.0;
    CHECK_NEAR(f.model->loads[0].profile.times[1], 1.0, 0.0);
    CHECK_NEAR(f.model->loads[0].profile.factors[2], 0.5, 0.0);

    def.name = "pull";
    CHECK_STATUS(f.context, hn_model_add_load(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "load 'pull': time 2 of its table is -5 s");
    def.profile = (hn_profile){.kind = HN_PROFILE_PULSE, .start = 0.0, .peak = 1.0, .end = 1.0};
    CHECK_STATUS(f.context, hn_model_add_load(f.model, &def, &id), HN_INVALID_MODEL);
    def.profile = (hn_profile){.kind = HN_PROFILE_CONSTANT};
    def.vector.y = NOT_A_NUMBER;
    CHECK_STATUS(f.context, hn_model_add_load(f.model, &def, &id), HN_INVALID_MODEL);
    def.vector.y = 0.0;
    def.body = hn_ground();
    CHECK_STATUS(f.context, hn_model_add_load(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "acts on the ground");
    def.body = bob;
    def.torque = true;
    CHECK_STATUS(f.context, hn_model_add_load(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "'bob' is a point mass, which takes no torque");
    CHECK_EQUAL(hn_model_load_count(f.model), 1);
    CHECK_TEXT(hn_model_load_name(f.model, 0), "push");
    destroy(&f);
}

// Ids of loads lead to their place and name, whatever kind of load gave them out.
TEST(loads, are_found_by_their_ids)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_load_id ids[3];
    hn_load_def push = hn_load_def_default();
    push.name = "push";
    push.body = a;
    push.vector = vec3(1, 0, 0);
    CHECK_OK(f.context, hn_model_add_load(f.model, &push, &ids[0]));
    hn_spring_def tie = hn_spring_def_default();
    tie.name = "tie";
    tie.body_a = hn_ground(), tie.body_b = a;
    tie.point_a = vec3(0, 0, 2);
    CHECK_OK(f.context, hn_model_add_spring(f.model, &tie, &ids[1]));
    hn_bushing_def bush = hn_bushing_def_default();
    bush.name = "bush";
    bush.body_a = hn_ground(), bush.body_b = a;
    bush.stiffness[0] = 1.0;
    CHECK_OK(f.context, hn_model_add_bushing(f.model, &bush, &ids[2]));
    static const char *const NAMES[3] = {"push", "tie", "bush"};
    CHECK_EQUAL(hn_model_load_count(f.model), 3);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(hn_model_load_index(f.model, ids[i]), i);
        CHECK_TEXT(hn_model_load_name(f.model, hn_model_load_index(f.model, ids[i])), NAMES[i]);
        CHECK_EQUAL(hn_model_load_at(f.model, i).index1, ids[i].index1);
        CHECK_EQUAL(hn_model_load_at(f.model, i).model, ids[i].model);
        CHECK_EQUAL(hn_model_find_load(f.model, NAMES[i]).index1, ids[i].index1);
    }
    fixture other = empty_model();
    CHECK_EQUAL(hn_model_load_index(other.model, ids[0]), -1);
    CHECK_EQUAL(hn_model_find_load(f.model, "nothing").index1, 0);
    CHECK_EQUAL(hn_model_load_at(f.model, 3).index1, 0);
    CHECK_EQUAL(hn_model_load_at(f.model, -1).index1, 0);
    destroy(&other);
    destroy(&f);
}

TEST(springs, are_checked)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_load_id id;
    hn_spring_def def = hn_spring_def_default();
    def.name = "tie";
    def.body_a = hn_ground(), def.body_b = a;
    def.point_a = vec3(0, 0, 2);
    def.stiffness = 10.0;
    CHECK_OK(f.context, hn_model_add_spring(f.model, &def, &id));
    CHECK_NEAR(f.model->loads[0].rest, 2.0, 0.0); // the length at the start
    def.name = "other";
    def.stiffness = -1.0;
    CHECK_STATUS(f.context, hn_model_add_spring(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "load 'other': stiffness is -1");
    def.stiffness = 1.0;
    def.damping = NOT_A_NUMBER;
    CHECK_STATUS(f.context, hn_model_add_spring(f.model, &def, &id), HN_INVALID_MODEL);
    def.damping = 0.0;
    def.point_a = vec3(0, 0, 0);
    def.rest_length = 1.0;
    CHECK_STATUS(f.context, hn_model_add_spring(f.model, &def, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "has no direction");
    def.body_a = a;
    CHECK_STATUS(f.context, hn_model_add_spring(f.model, &def, &id), HN_INVALID_MODEL);

    hn_joint_def rail = hn_joint_def_default(HN_JOINT_PRISMATIC);
    rail.name = "rail";
    rail.body_a = hn_ground(), rail.body_b = a;
    hn_torsion_spring_def twist = hn_torsion_spring_def_default();
    CHECK_OK(f.context, hn_model_add_joint(f.model, &rail, &twist.joint));
    CHECK_STATUS(f.context, hn_model_add_torsion_spring(f.model, &twist, &id), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(f.context), "joint 'rail' is prismatic");
    twist.joint.index1 = 0;
    CHECK_STATUS(f.context, hn_model_add_torsion_spring(f.model, &twist, &id), HN_INVALID_MODEL);
    destroy(&f);
}

TEST(start, values_are_checked)
{
    fixture f = empty_model();
    hn_body_id a = add_brick(&f, "a", vec3(0, 0, 0), vec3(0, 0, 0));
    hn_body_id bead = add_point_mass(&f, "bead", vec3(2, 0, 0), vec3(0, 0, 1));
    CHECK_OK(f.context, hn_model_set_velocity(f.model, a, vec3(1, 2, 3)));
    CHECK_STATUS(f.context, hn_model_set_velocity(f.model, a, vec3(1, NOT_A_NUMBER, 3)),
                 HN_INVALID_MODEL);
    CHECK_STATUS(f.context, hn_model_set_velocity(f.model, hn_ground(), vec3(1, 0, 0)),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(f.context, hn_model_set_velocity(f.model, (hn_body_id){0}, vec3(1, 0, 0)),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(f.context, hn_model_set_velocity(f.model, bead, vec3(1, 0, 0.1)),
                 HN_INVALID_MODEL);
    CHECK_STATUS(f.context, hn_model_set_angular_velocity(f.model, bead, vec3(1, 0, 0)),
                 HN_INVALID_MODEL);

    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.name = "hinge";
    hinge.body_a = hn_ground(), hinge.body_b = a;
    hn_joint_id id;
    CHECK_OK(f.context, hn_model_add_joint(f.model, &hinge, &id));
    const double rates[2] = {1.0, 2.0}, broken[1] = {NOT_A_NUMBER};
    CHECK_OK(f.context, hn_model_set_joint_rates(f.model, id, rates, 1));
    CHECK_STATUS(f.context, hn_model_set_joint_rates(f.model, id, rates, 2), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(f.context),
                   "joint 'hinge': 2 start rates given; a revolute joint");
    CHECK_STATUS(f.context, hn_model_set_joint_rates(f.model, id, broken, 1), HN_INVALID_MODEL);
    CHECK_STATUS(f.context, hn_model_set_joint_rates(f.model, (hn_joint_id){0}, rates, 1),
                 HN_INVALID_ARGUMENT);
    destroy(&f);
}

// ---- words and memory -----------------------------------------------------------------------------------

TEST(words, go_back_and_forth)
{
    for (int i = 0; i < HN_JOINT_KIND_COUNT; ++i) {
        hn_joint_kind kind;
        CHECK(hn_joint_kind_from_name(hn_joint_kind_name((hn_joint_kind)i), &kind));
        CHECK_EQUAL(kind, i);
    }
    for (int i = 0; i < HN_SCHEME_COUNT; ++i) {
        hn_scheme scheme;
        CHECK(hn_scheme_from_name(hn_scheme_name((hn_scheme)i), &scheme));
        CHECK_EQUAL(scheme, i);
    }
    for (int i = 0; i < HN_REDUCTION_COUNT; ++i) {
        hn_reduction reduction;
        CHECK(hn_reduction_from_name(hn_reduction_name((hn_reduction)i), &reduction));
        CHECK_EQUAL(reduction, i);
    }
    hn_joint_kind kind;
    CHECK(!hn_joint_kind_from_name("revolut", &kind));
    CHECK_TEXT(hn_joint_kind_name((hn_joint_kind)99), "");
}

// One of everything.
static hn_status build_everything(hn_context *context, void *user)
{
    (void)user;
    hn_model *model = NULL;
    hn_model_def def = hn_model_def_default();
    hn_status status = hn_model_create(context, &def, &model);
    hn_shape box = hn_shape_default(HN_SHAPE_BOX);
    box.size = vec3(1, 1, 1);
    for (int i = 0; i < 20 && status == HN_OK; ++i) {
        hn_body_def body = hn_body_def_default();
        hn_body_id id;
        status = hn_body_def_set_shapes(context, &body, &box, 1);
        if (status == HN_OK) status = hn_model_add_body(model, &body, &id);
        hn_joint_def joint = hn_joint_def_default(HN_JOINT_REVOLUTE);
        joint.body_a = i == 0 ? hn_ground() : hn_model_body(model, i - 1);
        joint.body_b = hn_model_body(model, i);
        hn_joint_id joint_id;
        if (status == HN_OK) status = hn_model_add_joint(model, &joint, &joint_id);
        const double times[2] = {0.0, 1.0};
        hn_load_def load = hn_load_def_default();
        load.body = hn_model_body(model, i);
        load.profile =
            (hn_profile){.kind = HN_PROFILE_TABLE, .times = times, .factors = times, .count = 2};
        hn_load_id load_id;
        if (status == HN_OK) status = hn_model_add_load(model, &load, &load_id);
        hn_torsion_spring_def spring = hn_torsion_spring_def_default();
        spring.joint = hn_model_joint(model, i);
        if (status == HN_OK) status = hn_model_add_torsion_spring(model, &spring, &load_id);
    }
    hn_model_destroy(model);
    return status;
}

TEST(memory, every_failing_allocation_is_reported_and_nothing_leaks)
{
    CHECK(check_every_allocation_failing(build_everything, NULL) > 100);
}

TEST(memory, destroying_nothing_is_fine)
{
    hn_model_destroy(NULL);
    hn_context_destroy(NULL);
}
