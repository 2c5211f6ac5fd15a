// SPDX-License-Identifier: MIT
// Mechanisms as lists of bodies and joints, built in any order, joints reversed, moved and turned as a whole.
//
// Start velocities may be rates of joints, or twists of all bodies: a mechanism with several degrees of freedom then
// starts alike whichever way it is built.
#ifndef PHYSICS_MECHANISM_H
#define PHYSICS_MECHANISM_H

#include "physics/run.h"

#include <stdlib.h>

enum { MECHANISM_GROUND = -1 };

/// The two schemes whose promises the tests of closed loops are about.
enum { LOOP_SCHEME_COUNT = 2 };
static const hn_scheme LOOP_SCHEMES[LOOP_SCHEME_COUNT] = {HN_SCHEME_ENERGY_MOMENTUM,
                                                          HN_SCHEME_VARIATIONAL};

typedef struct mechanism_body {
    hn_body_kind kind;
    double mass;             ///< kg
    hn_vec3 inertia;         ///< kg m^2, own axes
    hn_vec3 position;        ///< m, centre of mass
    hn_mat3 orientation;     ///< own axes in the world
    hn_vec3 velocity, omega; ///< m/s, rad/s; used when the mechanism says `moving`
} mechanism_body;

typedef struct mechanism_joint {
    hn_joint_kind kind;
    int a, b; ///< bodies or MECHANISM_GROUND
    hn_vec3 point_a, point_b;
    hn_vec3 axis, second; ///< second: universal only
    bool has_rate;        ///< joints with one coordinate
    double rate;          ///< m/s, rad/s
} mechanism_joint;

typedef struct mechanism {
    hn_vec3 gravity; ///< m/s^2
    int body_count, joint_count, capacity;
    mechanism_body *bodies;
    mechanism_joint *joints;
    bool moving; ///< start with the twists of the bodies
} mechanism;

/// How to build it.
typedef struct mechanism_variant {
    const int *body_order;  ///< indices in order of definition, NULL: as they are
    const int *joint_order; ///< likewise
    bool swap;              ///< a and b change places in every joint
    hn_mat3 turn;           ///< the whole model is moved by x -> turn x + shift
    hn_vec3 shift;          ///< m
} mechanism_variant;

static const mechanism_variant AS_IT_IS = {
    .turn = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};

/// A run of a mechanism with the handles of its bodies and joints by their index in the mechanism.
typedef struct mechanism_run {
    run r;
    const mechanism *mechanism;
    hn_body_id *body;
    hn_joint_id *joint;
} mechanism_run;

static inline hn_vec3 unit3(double x, double y, double z)
{
    hn_vec3 v = {x, y, z};
    return vec3_scale(1.0 / vec3_norm(v), v);
}

static inline mechanism mechanism_create(int capacity, hn_vec3 gravity)
{
    mechanism m = {.gravity = gravity, .capacity = capacity};
    m.bodies = calloc((size_t)capacity, sizeof *m.bodies);
    m.joints = calloc((size_t)capacity, sizeof *m.joints);
    CHECK(m.bodies != NULL && m.joints != NULL);
    return m;
}

static inline void mechanism_destroy(mechanism *m)
{
    free(m->bodies);
    free(m->joints);
    *m = (mechanism){0};
}

/// A uniform bar of square section `width` (m) and `mass` (kg) between two points, its own first axis along it.
static inline int mechanism_bar(mechanism *m, hn_vec3 from, hn_vec3 to, double mass, double width)
{
    CHECK(m->body_count < m->capacity);
    hn_vec3 along = vec3_subtract(to, from);
    double length = vec3_norm(along), w2 = width * width;
    along = vec3_scale(1.0 / length, along);
    hn_vec3 side = vec3_perpendicular(along);
    double across = mass * (length * length + w2) / 12.0;
    m->bodies[m->body_count] =
        (mechanism_body){.mass = mass,
                         .inertia = {mass * w2 / 6.0, across, across},
                         .position = vec3_mean(from, to),
                         .orientation = mat3_from_columns(along, side, vec3_cross(along, side))};
    return m->body_count++;
}

static inline int mechanism_joint_between(mechanism *m, hn_joint_kind kind, int a, int b,
                                          hn_vec3 point, hn_vec3 axis)
{
    CHECK(m->joint_count < m->capacity);
    m->joints[m->joint_count] = (mechanism_joint){
        .kind = kind, .a = a, .b = b, .point_a = point, .point_b = point, .axis = axis};
    return m->joint_count++;
}

static inline hn_vec3 mechanism_move(const mechanism_variant *v, hn_vec3 place)
{
    return vec3_add(mat3_apply(&v->turn, place), v->shift);
}

static inline hn_body_id mechanism_body_id(const mechanism_run *x, int body)
{
    return body < 0 ? hn_ground() : x->body[body];
}

static inline void mechanism_add_body(mechanism_run *x, const mechanism *m,
                                      const mechanism_variant *v, int i)
{
    const mechanism_body *from = &m->bodies[i];
    hn_body_def def = hn_body_def_default();
    char name[16];
    snprintf(name, sizeof name, "b%d", i); // the same in every order
    def.name = name;
    def.kind = from->kind;
    def.mass = from->mass;
    def.inertia = from->inertia;
    def.position = mechanism_move(v, from->position);
    if (from->kind == HN_BODY_RIGID) def.orientation = mat3_multiply(&v->turn, &from->orientation);
    CHECK_OK(x->r.context, hn_model_add_body(x->r.model, &def, &x->body[i]));
    if (!m->moving) return;
    CHECK_OK(x->r.context,
             hn_model_set_velocity(x->r.model, x->body[i], mat3_apply(&v->turn, from->velocity)));
    if (from->kind == HN_BODY_RIGID)
        CHECK_OK(x->r.context, hn_model_set_angular_velocity(x->r.model, x->body[i],
                                                             mat3_apply(&v->turn, from->omega)));
}

static inline void mechanism_add_joint(mechanism_run *x, const mechanism *m,
                                       const mechanism_variant *v, int k)
{
    const mechanism_joint *from = &m->joints[k];
    hn_joint_def def = hn_joint_def_default(from->kind);
    char name[16];
    snprintf(name, sizeof name, "j%d", k);
    def.name = name;
    def.body_a = mechanism_body_id(x, v->swap ? from->b : from->a);
    def.body_b = mechanism_body_id(x, v->swap ? from->a : from->b);
    def.separate_points = true;
    def.point_a = mechanism_move(v, v->swap ? from->point_b : from->point_a);
    def.point_b = mechanism_move(v, v->swap ? from->point_a : from->point_b);
    // the universal joint's axes belong to the bodies and change places with them
    bool exchange = v->swap && from->kind == HN_JOINT_UNIVERSAL;
    def.axis_a = mat3_apply(&v->turn, exchange ? from->second : from->axis);
    def.axis_b = mat3_apply(&v->turn, exchange ? from->axis : from->second);
    CHECK_OK(x->r.context, hn_model_add_joint(x->r.model, &def, &x->joint[k]));
    if (!from->has_rate || m->moving) return;
    double rate = v->swap ? -from->rate : from->rate;
    CHECK_OK(x->r.context, hn_model_set_joint_rates(x->r.model, x->joint[k], &rate, 1));
}

/// The model alone; the caller may add to it before mechanism_start.
static inline mechanism_run mechanism_build(const mechanism *m, const mechanism_variant *v)
{
    mechanism_run x = {.r = {.context = hn_context_create(NULL)}, .mechanism = m};
    x.body = calloc((size_t)m->body_count + 1, sizeof *x.body);
    x.joint = calloc((size_t)m->joint_count + 1, sizeof *x.joint);
    CHECK(x.r.context != NULL && x.body != NULL && x.joint != NULL);
    hn_model_def world = hn_model_def_default();
    world.gravity = mat3_apply(&v->turn, m->gravity);
    CHECK_OK(x.r.context, hn_model_create(x.r.context, &world, &x.r.model));
    for (int i = 0; i < m->body_count; ++i)
        mechanism_add_body(&x, m, v, v->body_order == NULL ? i : v->body_order[i]);
    for (int k = 0; k < m->joint_count; ++k)
        mechanism_add_joint(&x, m, v, v->joint_order == NULL ? k : v->joint_order[k]);
    return x;
}

static inline void mechanism_start(mechanism_run *x, const hn_simulation_def *def)
{
    CHECK_OK(x->r.context, hn_simulation_create(x->r.model, def, &x->r.sim));
    x->r.coordinate_count = hn_simulation_structure(x->r.sim).coordinate_count;
}

static inline mechanism_run mechanism_begin(const mechanism *m, const mechanism_variant *v,
                                            hn_scheme scheme, hn_reduction way, double step_size,
                                            bool ledger)
{
    mechanism_run x = mechanism_build(m, v);
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = step_size;
    def.ledger = ledger;
    mechanism_start(&x, &def);
    return x;
}

static inline void mechanism_end(mechanism_run *x)
{
    run_end(&x->r);
    free(x->body);
    free(x->joint);
    *x = (mechanism_run){0};
}

/// Turn rates of joints into twists of all bodies, as the library completes them for the mechanism as it is.
static inline void mechanism_fix_start(mechanism *m)
{
    mechanism_run x =
        mechanism_begin(m, &AS_IT_IS, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3, false);
    for (int i = 0; i < m->body_count; ++i) {
        hn_body_state s = run_body(&x.r, x.body[i]);
        m->bodies[i].velocity = s.velocity;
        m->bodies[i].omega = s.angular_velocity;
    }
    mechanism_end(&x);
    m->moving = true;
}

/// Which joint of the mechanism closes the n-th loop (the tree is breadth-first and depends on the order), or -1.
static inline int mechanism_cut_joint(const mechanism_run *x, int n)
{
    for (int k = 0; k < x->mechanism->joint_count; ++k)
        if (x->r.sim->system->reports[x->joint[k].index1 - 1].cut == n) return k;
    return -1;
}

/// Largest difference in position and directions of any body; `v` is how the second one was built.
static inline double mechanism_difference(const mechanism_run *a, const mechanism_run *b,
                                          const mechanism_variant *v)
{
    double worst = 0.0;
    for (int i = 0; i < a->mechanism->body_count; ++i) {
        hn_body_state x = run_body(&a->r, a->body[i]), y = run_body(&b->r, b->body[i]);
        worst = fmax(worst, vec3_norm(vec3_subtract(mechanism_move(v, x.position), y.position)));
        if (a->mechanism->bodies[i].kind != HN_BODY_RIGID) continue;
        for (int k = 0; k < 3; ++k) {
            hn_vec3 d = mat3_apply(&v->turn, mat3_column(&x.orientation, k));
            worst = fmax(worst, vec3_norm(vec3_subtract(d, mat3_column(&y.orientation, k))));
        }
    }
    return isfinite(worst) ? worst : HUGE_VAL;
}

#endif
