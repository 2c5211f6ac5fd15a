// SPDX-License-Identifier: MIT
// The planar formulation of `projected-rk` (TAN 4.3): recognises a model in one plane and writes its constraints there.
//
// With the normal n of the plane joints become one of four:
//
//   pin    k . e = 0 in two directions of the plane      spherical, revolute and cylindrical about n, universal with
//           one axis n
//   slide  m_a . e = 0,  m_a . t_b = 0                    prismatic and cylindrical along t in the plane, m = n x t;
//           planar joint
//                                                        whose normal m lies in the plane
//   weld   pin and slide's angle                         fixed, prismatic along n
//   rod    (e . e - L^2)/2 = 0                           distance
//
// and a planar joint with normal n, or a free one, is nothing. Each is made of the basic constraints.
#include "schemes/jet_space.h"

#include <string.h>

static const double PLANE_TOLERANCE =
    1e-9; // sine of an angle; lengths and speeds: of the model's own

typedef struct plane {
    hn_vec3 axes[3]; // two directions and the normal
} plane;

static bool is_parallel(hn_vec3 unit, hn_vec3 n)
{
    return vec3_norm(vec3_cross(unit, n)) <= PLANE_TOLERANCE;
}

static bool is_across(hn_vec3 x, hn_vec3 n, double scale)
{
    return fabs(vec3_dot(x, n)) <= PLANE_TOLERANCE * scale;
}

// The normal by the first thing that tells: an axis of a joint, a planar point mass, an angular velocity.
static bool find_normal(const hn_system *system, hn_vec3 *normal)
{
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->kind == HN_JOINT_REVOLUTE || j->kind == HN_JOINT_PLANAR) {
            *normal = pose_direction(system_pose(system->q_start, j->parent), j->a[2]);
            return true;
        }
    }
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS) {
            *normal = system->bodies[i].plane[2];
            return true;
        }
    for (int i = 0; i < system->body_count; ++i) {
        hn_vec3 omega = vec3_load(system->twist_start + TWIST_SIZE * (size_t)i + 3);
        if (vec3_norm(omega) > 0.0) {
            *normal = vec3_scale(1.0 / vec3_norm(omega), omega);
            return true;
        }
    }
    // cylindrical joints, torques; or gravity and a centre of mass that does not hang below a joint
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->kind == HN_JOINT_CYLINDRICAL) {
            *normal = pose_direction(system_pose(system->q_start, j->parent), j->a[2]);
            return true;
        }
        hn_vec3 side = vec3_cross(system->gravity,
                                  pose_direction(system_pose(system->q_start, j->child), j->rho_b));
        if (j->kind == HN_JOINT_SPHERICAL && vec3_norm(side) > 0.0) {
            *normal = vec3_scale(1.0 / vec3_norm(side), side);
            return true;
        }
    }
    return false;
}

static hn_status fail_body(const hn_system *system, int body, const char *why)
{
    return context_fail(system->context, HN_INVALID_MODEL, "the model is not planar: body '%s' %s",
                        system->bodies[body].name, why);
}

static hn_status make_body(const hn_system *system, int i, const plane *p, jet_body *b)
{
    const double *pose = system->q_start + POSE_SIZE * (size_t)i,
                 *twist = system->twist_start + TWIST_SIZE * (size_t)i;
    const double *inertia = system->inertia + 4 * (size_t)i;
    hn_vec3 n = p->axes[2];
    double speed = vec3_norm(vec3_load(twist)) + system->length * vec3_norm(vec3_load(twist + 3));
    if (!is_across(vec3_load(twist), n, speed))
        return fail_body(system, i, "moves out of the plane");
    hn_vec3 omega = vec3_load(twist + 3);
    if (vec3_norm(vec3_cross(omega, n)) > PLANE_TOLERANCE * vec3_norm(omega))
        return fail_body(system, i, "does not turn about the normal of the plane");
    b->mass = inertia[0];
    b->inertia[0] = b->inertia[1] = b->mass;
    for (int k = 0; k < 3; ++k) b->axes[k] = p->axes[k];
    b->origin = vec3_scale(vec3_dot(n, vec3_load(pose)), n);
    memcpy(b->reference, pose + 3, sizeof b->reference);
    if (system->bodies[i].kind != HN_BODY_RIGID) {
        b->kind = JET_PLANE_POINT, b->y_count = b->w_count = 2;
        return HN_OK;
    }
    b->kind = JET_PLANAR_RIGID, b->y_count = b->w_count = 3;
    for (int k = 0; k < 3; ++k)
        if (is_parallel(vec3_load(pose + 3 + 3 * k), n))
            b->inertia[2] = inertia[1] + inertia[2] + inertia[3] - inertia[1 + k];
    // equal moments: any axis between two directors is principal as well
    for (int k = 0; k < 3 && b->inertia[2] == 0.0; ++k) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        bool equal = fabs(inertia[1 + l] - inertia[1 + m]) <=
                     PLANE_TOLERANCE * (inertia[1 + l] + inertia[1 + m]);
        if (equal && is_across(vec3_load(pose + 3 + 3 * k), n, 1.0))
            b->inertia[2] = inertia[1 + k] + inertia[1 + l];
    }
    if (!(b->inertia[2] > 0.0))
        return fail_body(system, i, "has no principal axis along the normal of the plane");
    return HN_OK;
}

// a world vector at the start in the directors of a body (the ground: world)
static hn_vec3 local_of(const hn_system *system, int body, hn_vec3 x)
{
    return pose_components(system_pose(system->q_start, body), x);
}

static void add_pin(const plane *p, jet_joint *x)
{
    for (int k = 0; k < 2; ++k)
        x->rows[x->row_count++] = (basic_row){.kind = BASIC_COINCIDENCE, .a = p->axes[k]};
}

static void add_angle(const hn_system *system, hn_vec3 across, hn_vec3 along, jet_joint *x)
{
    x->rows[x->row_count++] = (basic_row){.kind = BASIC_SYMMETRIC,
                                          .a = local_of(system, x->a, across),
                                          .b = local_of(system, x->b, along)};
}

static void add_slide(const hn_system *system, hn_vec3 across, hn_vec3 along, jet_joint *x)
{
    x->rows[x->row_count++] =
        (basic_row){.kind = BASIC_NONSYMMETRIC, .a = local_of(system, x->a, across)};
    add_angle(system, across, along, x);
}

static hn_status make_joint(const hn_system *system, int source, const plane *p, jet_joint *x)
{
    const joint *j = jet_source_joint(system, source, &x->a, &x->b);
    hn_vec3 n = p->axes[2];
    hn_vec3 axis_a = pose_direction(system_pose(system->q_start, x->a), j->a[2]);
    hn_vec3 axis_b = pose_direction(system_pose(system->q_start, x->b), j->b[2]);
    bool about = is_parallel(axis_a, n), along = is_across(axis_a, n, 1.0), good = true;
    hn_vec3 side = vec3_cross(n, axis_a);
    x->source = source, x->rho_a = j->rho_a, x->rho_b = j->rho_b, x->row_count = 0,
    x->multiplier = -1;
    switch (j->kind) {
    case HN_JOINT_FREE: break;
    case HN_JOINT_SPHERICAL: add_pin(p, x); break;
    case HN_JOINT_REVOLUTE:
        good = about;
        add_pin(p, x);
        break;
    case HN_JOINT_UNIVERSAL:
        good = about || is_parallel(axis_b, n);
        add_pin(p, x);
        break;
    case HN_JOINT_CYLINDRICAL:
        good = about || along;
        if (about) add_pin(p, x);
        else add_slide(system, side, axis_a, x);
        break;
    case HN_JOINT_PRISMATIC:
        good = about || along;
        if (along) {
            add_slide(system, side, axis_a, x);
        } else {
            add_pin(p, x);
            add_angle(system, p->axes[0], p->axes[1], x);
        }
        break;
    case HN_JOINT_PLANAR:
        good = about || along;
        if (along) add_slide(system, axis_a, side, x);
        break;
    case HN_JOINT_FIXED:
        add_pin(p, x);
        add_angle(system, p->axes[0], p->axes[1], x);
        break;
    case HN_JOINT_DISTANCE: {
        hn_vec3 e = vec3_subtract(pose_point(system_pose(system->q_start, x->b), j->rho_b),
                                  pose_point(system_pose(system->q_start, x->a), j->rho_a));
        good = is_across(e, n, j->length);
        x->rows[x->row_count++] =
            (basic_row){.kind = BASIC_DISTANCE, .eta = 0.5 * j->length * j->length};
        break;
    }
    }
    if (good) return HN_OK;
    return context_fail(system->context, HN_INVALID_MODEL,
                        "the model is not planar: the axis of joint '%s' is neither along nor "
                        "across the normal of the plane",
                        system->reports[source].name);
}

static hn_status check_load(const hn_system *system, const element *e, const plane *p)
{
    static const char *const names[] = {"force", "torque", "spring", "torsional spring"};
    hn_vec3 n = p->axes[2], x = e->vector;
    const double *a = system_pose(system->q_start, e->a), *b = system_pose(system->q_start, e->b);
    bool good = true;
    if (e->body_fixed) x = pose_direction(b, x);
    if (e->kind == ELEMENT_FORCE) good = is_across(x, n, vec3_norm(x));
    else if (e->kind == ELEMENT_TORQUE)
        good = vec3_norm(vec3_cross(x, n)) <= PLANE_TOLERANCE * vec3_norm(x);
    else if (e->kind == ELEMENT_SPRING)
        good = is_across(element_vector(e->link, a, b), n, fmax(system->length, e->rest));
    if (good) return HN_OK;
    return context_fail(system->context, HN_INVALID_MODEL,
                        "the model is not planar: a %s on body '%s' acts out of the plane",
                        names[e->kind], system->bodies[e->b >= 0 ? e->b : e->a].name);
}

hn_status jet_space_create_planar(hn_system *system, jet_space *jet)
{
    plane p;
    TRY(jet_space_prepare(system, jet));
    jet->planar = true;
    if (!find_normal(system, &p.axes[2]))
        return context_fail(system->context, HN_INVALID_MODEL,
                            "the model is not planar: no joint axis, plane or rotation tells the "
                            "normal of a plane");
    p.axes[0] = vec3_perpendicular(p.axes[2]);
    p.axes[1] = vec3_cross(p.axes[2], p.axes[0]);
    if (!is_across(system->gravity, p.axes[2], vec3_norm(system->gravity)))
        return context_fail(system->context, HN_INVALID_MODEL,
                            "the model is not planar: gravity acts out of the plane");
    for (int i = 0; i < system->body_count; ++i) TRY(make_body(system, i, &p, &jet->bodies[i]));
    for (int i = 0; i < system->element_count; ++i)
        TRY(check_load(system, &system->elements[i], &p));
    for (int k = 0; k < system->joint_count; ++k) {
        TRY(make_joint(system, k, &p, &jet->joints[jet->joint_count]));
        if (jet->joints[jet->joint_count].row_count > 0) jet->joint_count++;
        else jet->joints[jet->joint_count] = (jet_joint){0};
    }
    return jet_space_finish(jet);
}
