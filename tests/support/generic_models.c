// SPDX-License-Identifier: MIT
// Generic numbers and chains of three bodies.
#include "support/generic_models.h"

#include "support/check.h"

double next_number(number_source *numbers)
{
    numbers->state += 0x9e3779b97f4a7c15u;
    uint64_t z = numbers->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

hn_vec3 next_vector(number_source *numbers, double size)
{
    double x = next_number(numbers), y = next_number(numbers), z = next_number(numbers);
    return vec3(size * x, size * y, size * z);
}

hn_vec3 next_direction(number_source *numbers)
{
    for (;;) {
        hn_vec3 x = next_vector(numbers, 1.0);
        double norm = vec3_norm(x);
        if (norm > 0.2) return vec3_scale(1.0 / norm, x);
    }
}

hn_mat3 next_rotation(number_source *numbers)
{
    return rotation_exponential(vec3_scale(3.0 * next_number(numbers), next_direction(numbers)));
}

static hn_body_id add_body(hn_context *context, hn_model *model, number_source *numbers,
                           hn_body_kind kind, const char *name, hn_vec3 near)
{
    hn_body_def def = hn_body_def_default();
    def.name = name;
    def.kind = kind;
    def.mass = 1.5 + next_number(numbers);
    def.position = vec3_add(near, next_vector(numbers, 0.2));
    hn_vec3 normal = next_direction(numbers);
    if (kind == HN_BODY_PLANAR_POINT_MASS) def.plane_normal = normal;
    if (kind == HN_BODY_RIGID) {
        // moments of a body with mass on three axes: the triangle inequality holds
        hn_vec3 x = next_vector(numbers, 0.08);
        double x1 = 0.1 + x.x, x2 = 0.1 + x.y, x3 = 0.1 + x.z;
        def.inertia = vec3(x2 + x3, x1 + x3, x1 + x2);
        def.products_of_inertia = next_vector(numbers, 0.01);
        def.center_of_mass = next_vector(numbers, 0.1);
        def.orientation = next_rotation(numbers);
    }
    hn_body_id id;
    CHECK_OK(context, hn_model_add_body(model, &def, &id));
    return id;
}

static hn_joint_id add_joint(hn_context *context, hn_model *model, number_source *numbers,
                             hn_joint_kind kind, const char *name, hn_body_id a, hn_body_id b,
                             bool at_b)
{
    hn_joint_def def = hn_joint_def_default(kind);
    def.name = name;
    def.body_a = a;
    def.body_b = b;
    hn_vec3 place_a = hn_model_body_position(model, a), place_b = hn_model_body_position(model, b);
    def.point_a = vec3_add(vec3_mean(place_a, place_b), next_vector(numbers, 0.2));
    if (at_b) def.point_a = place_b; // a point mass is held where it is
    if (kind == HN_JOINT_DISTANCE) {
        def.separate_points = true;
        def.point_a = vec3_add(place_a, next_vector(numbers, 0.2));
        def.point_b = at_b ? place_b : vec3_add(place_b, next_vector(numbers, 0.2));
    }
    def.axis_a = next_direction(numbers);
    if (kind == HN_JOINT_UNIVERSAL)
        def.axis_b = vec3_cross(def.axis_a, vec3_perpendicular(def.axis_a));
    hn_joint_id id;
    CHECK_OK(context, hn_model_add_joint(model, &def, &id));
    return id;
}

static void add_torsion_spring(hn_context *context, hn_model *model, number_source *numbers,
                               hn_joint_id joint)
{
    hn_torsion_spring_def def = hn_torsion_spring_def_default();
    def.joint = joint;
    def.stiffness = 5.0 + 2.0 * next_number(numbers);
    def.damping = 0.1;
    def.rest_angle = 0.3;
    hn_load_id id;
    CHECK_OK(context, hn_model_add_torsion_spring(model, &def, &id));
}

static void add_springs(hn_context *context, hn_model *model, number_source *numbers,
                        const hn_body_id *bodies)
{
    const int pairs[4][2] = {{0, 1}, {2, 1}, {0, 2}, {-1, 2}};
    for (int i = 0; i < 4; ++i) {
        hn_spring_def def = hn_spring_def_default();
        def.body_a = pairs[i][0] < 0 ? hn_ground() : bodies[pairs[i][0]];
        def.body_b = bodies[pairs[i][1]];
        def.point_a = vec3_add(pairs[i][0] < 0 ? vec3(0.0, 0.0, 0.0)
                                               : hn_model_body_position(model, def.body_a),
                               next_vector(numbers, 0.3));
        bool point = hn_model_body_kind(model, def.body_b) != HN_BODY_RIGID;
        def.point_b = hn_model_body_position(model, def.body_b);
        if (!point) def.point_b = vec3_add(def.point_b, next_vector(numbers, 0.3));
        if (hn_model_body_kind(model, def.body_a) != HN_BODY_RIGID && pairs[i][0] >= 0)
            def.point_a = hn_model_body_position(model, def.body_a);
        def.stiffness = 20.0 + 10.0 * next_number(numbers);
        def.damping = 0.3 + 0.2 * next_number(numbers);
        def.rest_length = 0.8;
        hn_load_id id;
        CHECK_OK(context, hn_model_add_spring(model, &def, &id));
    }
    for (int i = 0; i < 4; ++i) {
        hn_load_def def = hn_load_def_default();
        def.body = bodies[i % 2];
        def.torque = i >= 2;
        def.body_fixed = i == 1 || i == 2;
        def.vector = next_vector(numbers, 2.0);
        if (!def.torque) def.point = next_vector(numbers, 0.2);
        hn_load_id id;
        CHECK_OK(context, hn_model_add_load(model, &def, &id));
    }
}

static void set_rates(hn_context *context, hn_model *model, number_source *numbers, double speed,
                      hn_joint_id joint)
{
    int count = hn_model_joint_coordinate_count(model, joint);
    double rates[HN_JOINT_COORDINATES_MAX];
    for (int k = 0; k < count; ++k) rates[k] = 2.0 * speed * next_number(numbers);
    if (count > 0) CHECK_OK(context, hn_model_set_joint_rates(model, joint, rates, count));
}

hn_model *generic_chain_model(hn_context *context, const generic_chain *chain)
{
    number_source numbers = {chain->seed};
    hn_model_def def = hn_model_def_default();
    def.gravity = next_vector(&numbers, 9.0);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_create(context, &def, &model));
    // in alphabetical order, so that a cylindrical joint has its rows on the parent once and on the child once
    const hn_body_id bodies[3] = {
        add_body(context, model, &numbers, HN_BODY_RIGID, "b first", vec3(0.0, 0.0, 0.0)),
        add_body(context, model, &numbers, HN_BODY_RIGID, "c second", vec3(0.7, 0.5, -0.3)),
        add_body(context, model, &numbers, chain->tip, "a third", vec3(1.5, 0.3, 0.4)),
    };
    bool point_tip = chain->tip != HN_BODY_RIGID;
    hn_vec3 v = next_vector(&numbers, chain->speed),
            omega = next_vector(&numbers, 2.0 * chain->speed);
    if (chain->grounded) {
        hn_joint_id ground = add_joint(context, model, &numbers, HN_JOINT_SPHERICAL, "support",
                                       hn_ground(), bodies[0], false);
        set_rates(context, model, &numbers, chain->speed, ground);
    } else {
        CHECK_OK(context, hn_model_set_velocity(model, bodies[0], v));
        CHECK_OK(context, hn_model_set_angular_velocity(model, bodies[0], omega));
    }
    if (chain->kind == HN_JOINT_FREE) {
        for (int i = 1; i < 3; ++i) {
            hn_vec3 velocity = next_vector(&numbers, chain->speed),
                    turn = next_vector(&numbers, 2.0 * chain->speed);
            if (hn_model_body_kind(model, bodies[i]) == HN_BODY_PLANAR_POINT_MASS)
                continue; // at rest in its plane
            CHECK_OK(context, hn_model_set_velocity(model, bodies[i], velocity));
            if (i == 1 || !point_tip)
                CHECK_OK(context, hn_model_set_angular_velocity(model, bodies[i], turn));
        }
    } else {
        hn_joint_id inner =
            add_joint(context, model, &numbers, chain->kind, "inner", bodies[0], bodies[1], false);
        // a point mass comes second, a rigid tip first
        hn_joint_id outer = point_tip ? add_joint(context, model, &numbers, chain->kind, "outer",
                                                  bodies[1], bodies[2], true)
                                      : add_joint(context, model, &numbers, chain->kind, "outer",
                                                  bodies[2], bodies[1], false);
        set_rates(context, model, &numbers, chain->speed, inner);
        set_rates(context, model, &numbers, chain->speed, outer);
        if (chain->kind == HN_JOINT_DISTANCE) {
            // no rates to give: the bodies turn
            for (int i = 1; i < 3; ++i) {
                hn_vec3 turn = next_vector(&numbers, 2.0 * chain->speed);
                if (i == 2 && point_tip) continue;
                CHECK_OK(context, hn_model_set_angular_velocity(model, bodies[i], turn));
            }
        }
    }
    if (!chain->springs) return model;
    add_springs(context, model, &numbers, bodies);
    if (chain->kind == HN_JOINT_REVOLUTE || chain->kind == HN_JOINT_CYLINDRICAL ||
        chain->kind == HN_JOINT_PLANAR)
        for (int i = 0; i < 2; ++i)
            add_torsion_spring(context, model, &numbers,
                               hn_model_joint(model, hn_model_joint_count(model) - 1 - i));
    return model;
}
