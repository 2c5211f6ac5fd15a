// SPDX-License-Identifier: MIT
// A tumbling parent, a child on any kind of joint, a grandchild on a hinge: nothing aligned, nothing symmetric.
//
// Frames are off the centres of mass, inertias have products, axes are tilted, the joint's two points differ where the
// kind allows it. Velocities are given as twists of all bodies, found here from the geometry and not by the library.
#ifndef PHYSICS_GENERIC_PAIR_H
#define PHYSICS_GENERIC_PAIR_H

#include "physics/run.h"

enum { PARENT, CHILD, GRANDCHILD, GENERIC_BODIES };
enum { SUPPORT_JOINT, PAIR_JOINT, HINGE, GENERIC_JOINTS };

typedef struct generic_options {
    hn_joint_kind kind; ///< between parent and child
    bool grounded;      ///< the parent hangs on a ball joint; otherwise it flies
    bool swap;          ///< body_a and body_b change places in every joint
    bool spring;        ///< from the parent to the grandchild
    int order
        [GENERIC_BODIES]; ///< bodies in order of definition; the first one is the root of a free tree
    hn_vec3 gravity;      ///< m/s^2, before the turn
    hn_mat3 turn;         ///< the whole model is moved by x -> turn x + shift
    hn_vec3 shift;        ///< m
} generic_options;

typedef struct generic_pair {
    hn_context *context;
    hn_model *model;
    hn_body_id body[GENERIC_BODIES];
    hn_joint_id joint[GENERIC_JOINTS]; ///< SUPPORT_JOINT only when grounded
    hn_vec3 point_b[GENERIC_JOINTS]; ///< m, world at the start: the joint's place on the outer body
} generic_pair;

static inline generic_options generic_defaults(hn_joint_kind kind)
{
    return (generic_options){
        .kind = kind,
        .order = {PARENT, CHILD, GRANDCHILD},
        .gravity = {0.7, -1.1, -9.4},
        .turn = mat3_identity(),
    };
}

static inline hn_vec3 unit_vector(double x, double y, double z)
{
    hn_vec3 v = {x, y, z};
    return vec3_scale(1.0 / vec3_norm(v), v);
}

typedef struct generic_twist {
    hn_vec3 place;    ///< m, a point of the body
    hn_vec3 velocity; ///< m/s, of that point
    hn_vec3 omega;    ///< rad/s
} generic_twist;

static inline hn_vec3 generic_velocity_at(const generic_twist *t, hn_vec3 place)
{
    return vec3_add(t->velocity, vec3_cross(t->omega, vec3_subtract(place, t->place)));
}

// the child's motion at its joint point `place` from the parent's and the kind of joint
static inline generic_twist generic_relative(hn_joint_kind kind, const generic_twist *parent,
                                             hn_vec3 place, hn_vec3 link, hn_vec3 n, hn_vec3 n2)
{
    generic_twist t = {place, generic_velocity_at(parent, place), parent->omega};
    hn_vec3 across = vec3_perpendicular(n);
    switch (kind) {
    case HN_JOINT_SPHERICAL: t.omega = vec3_add(t.omega, vec3(0.8, -1.1, 0.6)); break;
    case HN_JOINT_REVOLUTE: t.omega = vec3_add_scaled(t.omega, -1.4, n); break;
    case HN_JOINT_PRISMATIC: t.velocity = vec3_add_scaled(t.velocity, 0.5, n); break;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_SCREW:
        t.velocity = vec3_add_scaled(t.velocity, -0.4, n);
        t.omega = vec3_add_scaled(t.omega, 1.9, n);
        break;
    case HN_JOINT_SLOT:
        t.velocity = vec3_add_scaled(t.velocity, 0.45, n);
        t.omega = vec3_add(t.omega, vec3(0.7, -0.9, 0.8));
        break;
    case HN_JOINT_PLANAR:
        t.velocity = vec3_add_scaled(t.velocity, 0.3, across);
        t.velocity = vec3_add_scaled(t.velocity, -0.2, vec3_cross(n, across));
        t.omega = vec3_add_scaled(t.omega, 1.6, n);
        break;
    case HN_JOINT_UNIVERSAL:
        t.omega = vec3_add_scaled(vec3_add_scaled(t.omega, 1.2, n), -0.9, n2);
        break;
    case HN_JOINT_FIXED: break;
    case HN_JOINT_FREE:
        t.velocity = vec3_add(t.velocity, vec3(0.2, 0.5, -0.3));
        t.omega = vec3_add(t.omega, vec3(-0.7, 0.4, 1.3));
        break;
    case HN_JOINT_DISTANCE: {
        // the distance stays: relative velocity at right angles to the link, seen from the parent's point
        hn_vec3 end = vec3_subtract(place, link);
        t.velocity =
            vec3_add(generic_velocity_at(parent, end), vec3_cross(link, vec3(0.9, -0.4, 1.1)));
        t.omega = vec3(0.5, 1.2, -0.6);
        break;
    }
    }
    return t;
}

static inline hn_vec3 generic_move(const generic_options *o, hn_vec3 place)
{
    return vec3_add(mat3_apply(&o->turn, place), o->shift);
}

static inline hn_joint_id generic_add_joint(const generic_options *o, generic_pair *g,
                                            hn_joint_kind kind, hn_body_id a, hn_body_id b,
                                            hn_vec3 point_a, hn_vec3 point_b, hn_vec3 n, hn_vec3 n2)
{
    hn_joint_def def = hn_joint_def_default(kind);
    bool swap = o->swap && kind != HN_JOINT_SLOT; // whose line belongs to a
    def.body_a = swap ? b : a;
    def.body_b = swap ? a : b;
    def.separate_points = true;
    def.point_a = generic_move(o, swap ? point_b : point_a);
    def.point_b = generic_move(o, swap ? point_a : point_b);
    // the universal joint's axes belong to the bodies and change places with them
    bool exchange = swap && kind == HN_JOINT_UNIVERSAL;
    def.axis_a = mat3_apply(&o->turn, exchange ? n2 : n);
    def.axis_b = mat3_apply(&o->turn, exchange ? n : n2);
    hn_joint_id id;
    CHECK_OK(g->context, hn_model_add_joint(g->model, &def, &id));
    return id;
}

static inline generic_pair generic_build(const generic_options *o)
{
    static const struct {
        const char *name;
        double mass;
        hn_vec3 inertia, products, center, position, rotation;
    } BODIES[GENERIC_BODIES] = {
        {"parent",
         2.0,
         {0.30, 0.42, 0.51},
         {0.03, -0.02, 0.04},
         {0.05, -0.03, 0.04},
         {0.1, -0.2, 0.3},
         {0.3, -0.5, 0.2}},
        {"child",
         1.3,
         {0.12, 0.20, 0.17},
         {-0.01, 0.02, 0.015},
         {-0.04, 0.02, 0.06},
         {0.9, 0.3, -0.2},
         {-0.4, 0.2, 0.7}},
        {"grandchild",
         0.8,
         {0.09, 0.07, 0.11},
         {0.01, -0.005, 0.008},
         {0.02, 0.05, -0.03},
         {1.6, -0.1, 0.4},
         {0.9, 0.1, -0.3}},
    };
    const hn_vec3 none = {0.0, 0.0, 0.0}, support = {-0.2, -0.3, 0.5};
    const hn_vec3 n = unit_vector(0.4, -0.3, 0.85),
                  n2 = unit_vector(0.3, 0.4, 0.0); // at right angles
    const hn_vec3 point_a = {0.5, 0.1, 0.05}, hinge = {1.25, 0.15, 0.1},
                  hinge_axis = unit_vector(-0.2, 0.9, 0.4);
    hn_vec3 offset = none;
    if (o->kind == HN_JOINT_CYLINDRICAL || o->kind == HN_JOINT_PRISMATIC ||
        o->kind == HN_JOINT_SLOT)
        offset = vec3_scale(0.2, n);
    if (o->kind == HN_JOINT_PLANAR) offset = vec3_cross(n, vec3(0.2, 0.1, -0.1));
    if (o->kind == HN_JOINT_DISTANCE || o->kind == HN_JOINT_FREE) offset = vec3(0.25, 0.2, -0.15);
    const hn_vec3 point_b = vec3_add(point_a, offset);

    // motion: the parent's is chosen, the others follow
    generic_twist twist[GENERIC_BODIES];
    twist[PARENT] =
        (generic_twist){support, o->grounded ? none : vec3(0.3, -0.2, 0.1), vec3(1.5, -2.0, 2.5)};
    twist[CHILD] = generic_relative(o->kind, &twist[PARENT], point_b, offset, n, n2);
    twist[GRANDCHILD] = (generic_twist){hinge, generic_velocity_at(&twist[CHILD], hinge),
                                        vec3_add_scaled(twist[CHILD].omega, 1.7, hinge_axis)};

    generic_pair g = {.context = hn_context_create(NULL)};
    CHECK(g.context != NULL);
    hn_model_def world = hn_model_def_default();
    world.gravity = mat3_apply(&o->turn, o->gravity);
    CHECK_OK(g.context, hn_model_create(g.context, &world, &g.model));
    for (int k = 0; k < GENERIC_BODIES; ++k) {
        int i = o->order[k];
        hn_body_def def = hn_body_def_default();
        def.name = BODIES[i].name;
        def.mass = BODIES[i].mass;
        def.inertia = BODIES[i].inertia;
        def.products_of_inertia = BODIES[i].products;
        def.center_of_mass = BODIES[i].center;
        def.position = generic_move(o, BODIES[i].position);
        hn_mat3 own = rotation_exponential(BODIES[i].rotation);
        def.orientation = mat3_multiply(&o->turn, &own);
        CHECK_OK(g.context, hn_model_add_body(g.model, &def, &g.body[i]));
        hn_vec3 v = generic_velocity_at(&twist[i], BODIES[i].position);
        CHECK_OK(g.context, hn_model_set_velocity(g.model, g.body[i], mat3_apply(&o->turn, v)));
        CHECK_OK(g.context, hn_model_set_angular_velocity(g.model, g.body[i],
                                                          mat3_apply(&o->turn, twist[i].omega)));
    }
    if (o->grounded)
        g.joint[SUPPORT_JOINT] = generic_add_joint(o, &g, HN_JOINT_SPHERICAL, hn_ground(),
                                                   g.body[PARENT], support, support, none, none);
    g.joint[PAIR_JOINT] =
        generic_add_joint(o, &g, o->kind, g.body[PARENT], g.body[CHILD], point_a, point_b, n, n2);
    g.joint[HINGE] = generic_add_joint(o, &g, HN_JOINT_REVOLUTE, g.body[CHILD], g.body[GRANDCHILD],
                                       hinge, hinge, hinge_axis, none);
    g.point_b[SUPPORT_JOINT] = generic_move(o, support);
    g.point_b[PAIR_JOINT] = generic_move(o, point_b);
    g.point_b[HINGE] = generic_move(o, hinge);
    if (o->spring) {
        hn_spring_def def = hn_spring_def_default();
        def.body_a = g.body[PARENT];
        def.body_b = g.body[GRANDCHILD];
        def.point_a = generic_move(o, vec3(0.0, 0.1, 0.6));
        def.point_b = generic_move(o, vec3(1.7, 0.2, 0.3));
        def.stiffness = 20.0;
        def.damping = 0.3;
        def.rest_length = 1.5;
        hn_load_id id;
        CHECK_OK(g.context, hn_model_add_spring(g.model, &def, &id));
    }
    return g;
}

/// A run of a generic pair; it then owns context and model.
static inline run generic_run(const generic_pair *g, hn_scheme scheme, hn_reduction way,
                              double step_size)
{
    run r = run_start(g->context, g->model, scheme, way, step_size, false);
    // the library agrees with the velocities found here
    hn_structure structure = hn_simulation_structure(r.sim);
    CHECK(structure.velocity_projection < 1e-12 && structure.position_projection < 1e-12);
    return r;
}

#endif
