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
//
// Motion stays in the plane when the model equals its mirror image in it, or when joints do not let a body leave it. A
// body that the ground does not keep upright must be mirrored into itself: a principal axis is the normal, joints and
// loads act in the plane of its centre of mass. Only a body that the ground keeps level as well may be pushed out.
#include "schemes/jet_space.h"

#include "system/mass.h"

#include <stdio.h>
#include <string.h>

static const double PLANE_TOLERANCE =
    1e-9; // sine of an angle; lengths and speeds: of the model's own

typedef struct plane {
    hn_vec3 axes[3];     // two directions and the normal
    double speed;        // m/s, of the fastest body
    unsigned char *hold; // per body: what the ground does to it through joints
    char reason[200];
} plane;

static bool is_parallel(hn_vec3 unit, hn_vec3 n)
{
    return vec3_norm(vec3_cross(unit, n)) <= PLANE_TOLERANCE;
}

static bool is_across(hn_vec3 x, hn_vec3 n, double scale)
{
    return fabs(vec3_dot(x, n)) <= PLANE_TOLERANCE * scale;
}

// Largest speed at the start, turns included: what is far below it is round-off of start velocities.
static double largest_speed(const hn_system *system)
{
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *twist = system->twist_start + TWIST_SIZE * (size_t)i;
        largest = fmax(largest, vec3_norm(vec3_load(twist)) +
                                    system->length * vec3_norm(vec3_load(twist + 3)));
    }
    return largest;
}

// ---- which normal ---------------------------------------------------------------------------------------

enum { DIRECTIONS_MAX = 8 };

/// A few different directions; more would tell nothing new of a plane.
typedef struct directions {
    int count;
    hn_vec3 unit[DIRECTIONS_MAX];
} directions;

static void add_direction(directions *list, hn_vec3 x, double scale)
{
    double size = vec3_norm(x);
    if (!(size > PLANE_TOLERANCE * scale) || list->count == DIRECTIONS_MAX) return;
    x = vec3_scale(1.0 / size, x);
    for (int k = 0; k < list->count; ++k)
        if (is_parallel(x, list->unit[k])) return;
    list->unit[list->count++] = x;
}

/// Directions of the model at the start by what they are to the plane.
typedef struct clues {
    directions normal; ///< along its normal: hinges, angular velocities, planes of points
    directions inside; ///< in it, most likely: gravity, velocities, forces, rods, springs
    directions
        either; ///< not told: other axes, ways from centres of mass to joints, principal axes
} clues;

static void add_element_clues(const hn_system *system, const element *e, clues *c)
{
    if (element_type_of(e->kind)->in_space) return;
    const double *a = system_pose(system->q_start, e->a), *b = system_pose(system->q_start, e->b);
    hn_vec3 x = e->body_fixed ? pose_direction(b, e->vector) : e->vector;
    if (e->kind == ELEMENT_FORCE) add_direction(&c->inside, x, 0.0);
    else if (e->kind == ELEMENT_TORQUE) add_direction(&c->either, x, 0.0);
    else if (e->kind == ELEMENT_SPRING)
        add_direction(&c->inside, vec3_combination(e->link, a, b), system->length);
    else add_direction(&c->normal, pose_direction(a, vec3_cross(e->a1, e->a2)), 0.0);
}

static void add_joint_clues(const hn_system *system, const joint *j, clues *c)
{
    const double *a = system_pose(system->q_start, j->parent),
                 *b = system_pose(system->q_start, j->child);
    hn_vec3 axis = pose_direction(a, j->a[2]);
    const planar_rule *rule = &joint_type_of(j->kind)->planar;
    if (rule->oblique.form == PLANAR_ROD)
        add_direction(&c->inside, vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a)),
                      j->length);
    if (rule->oblique.form != PLANAR_REFUSED) return; // says nothing about its axis
    add_direction(rule->tells_normal ? &c->normal : &c->either, axis, 0.0);
    if (rule->other_axis) add_direction(&c->either, pose_direction(b, j->b[2]), 0.0);
}

static clues find_clues(const hn_system *system)
{
    clues c = {0};
    double speed = largest_speed(system);
    add_direction(&c.inside, system->gravity, 0.0);
    for (int k = 0; k < system->joint_count; ++k)
        add_joint_clues(system, &system->reports[k].rows, &c);
    for (int i = 0; i < system->element_count; ++i)
        add_element_clues(system, &system->elements[i], &c);
    for (int i = 0; i < system->body_count; ++i) {
        const double *twist = system->twist_start + TWIST_SIZE * (size_t)i;
        hn_vec3 omega = vec3_load(twist + 3);
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS)
            add_direction(&c.normal, system->bodies[i].plane[2], 0.0);
        if (system->bodies[i].has_directors)
            add_direction(&c.normal, omega, speed / system->length);
        add_direction(&c.inside, vec3_load(twist), speed);
    }
    // ways to joints, then principal axes: of use where nothing else tells
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        add_direction(&c.either, pose_direction(system_pose(system->q_start, j->child), j->rho_b),
                      system->length);
        if (j->parent >= 0)
            add_direction(&c.either,
                          pose_direction(system_pose(system->q_start, j->parent), j->rho_a),
                          system->length);
    }
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < 3 && system->bodies[i].has_directors; ++k)
            add_direction(&c.either, vec3_load(system->q_start + POSE_SIZE * (size_t)i + 3 + 3 * k),
                          0.0);
    return c;
}

enum { CANDIDATES_MAX = DIRECTIONS_MAX * DIRECTIONS_MAX + 2 * DIRECTIONS_MAX + 2 };

typedef struct candidates {
    int count;
    hn_vec3 normal[CANDIDATES_MAX];
} candidates;

static void add_candidate(candidates *list, hn_vec3 x)
{
    double size = vec3_norm(x);
    if (size > PLANE_TOLERANCE && list->count < CANDIDATES_MAX)
        list->normal[list->count++] = vec3_scale(1.0 / size, x);
}

// What the normal may be, most likely first: the direction that must be it; the one across two that should be inside;
// all that the other directions suggest.
static candidates list_candidates(const hn_system *system)
{
    candidates list = {0};
    clues c = find_clues(system);
    if (c.normal.count > 0) {
        add_candidate(&list, c.normal.unit[0]);
        return list;
    }
    if (c.inside.count > 1) add_candidate(&list, vec3_cross(c.inside.unit[0], c.inside.unit[1]));
    for (int k = 0; k < c.either.count; ++k) {
        if (c.inside.count > 0)
            add_candidate(&list, vec3_cross(c.inside.unit[0], c.either.unit[k]));
        for (int m = 0; m < k; ++m)
            add_candidate(&list, vec3_cross(c.either.unit[m], c.either.unit[k]));
    }
    for (int k = 0; k < c.either.count; ++k) add_candidate(&list, c.either.unit[k]);
    add_candidate(&list,
                  c.inside.count > 0 ? vec3_perpendicular(c.inside.unit[0]) : vec3(0.0, 0.0, 1.0));
    return list;
}

// ---- the model in the plane -----------------------------------------------------------------------------

// What a joint keeps its bodies from doing against each other, with the normal n
static unsigned char held_by(const hn_system *system, const joint *j, hn_vec3 n)
{
    hn_vec3 axis = pose_direction(system_pose(system->q_start, j->parent), j->a[2]);
    const planar_rule *rule = &joint_type_of(j->kind)->planar;
    return is_parallel(axis, n)      ? rule->normal.held
           : is_across(axis, n, 1.0) ? rule->inside.held
                                     : rule->oblique.held;
}

static unsigned char hold_of(const plane *p, int body)
{
    return body < 0 ? PLANAR_UPRIGHT | PLANAR_LEVEL : p->hold[body];
}

// From the ground on, along joints
static void find_held(const hn_system *system, plane *p)
{
    memset(p->hold, 0, (size_t)system->body_count);
    for (bool again = true; again;) {
        again = false;
        for (int k = 0; k < system->joint_count; ++k) {
            const joint *j = &system->reports[k].rows;
            unsigned char held = held_by(system, j, p->axes[2]), a = hold_of(p, j->parent),
                          b = hold_of(p, j->child);
            if (j->child >= 0 && (a & held & ~b))
                p->hold[j->child] |= (unsigned char)(a & held), again = true;
            if (j->parent >= 0 && (b & held & ~a))
                p->hold[j->parent] |= (unsigned char)(b & held), again = true;
        }
    }
}

// A point of a body, `rho` in its directors, where something may push.
static bool may_act(const hn_system *system, int body, hn_vec3 rho, const plane *p)
{
    if ((hold_of(p, body) & PLANAR_UPRIGHT) != 0 || !system->bodies[body].has_directors)
        return true;
    hn_vec3 arm = pose_direction(system_pose(system->q_start, body), rho);
    return is_across(arm, p->axes[2], system->length);
}

static bool fail_body(const hn_system *system, int body, const char *why, plane *p)
{
    snprintf(p->reason, sizeof p->reason, "body '%s' %s", system->bodies[body].name, why);
    return false;
}

static bool make_body(const hn_system *system, int i, plane *p, jet_body *b)
{
    const double *pose = system->q_start + POSE_SIZE * (size_t)i,
                 *twist = system->twist_start + TWIST_SIZE * (size_t)i;
    const double *inertia = mass_node(system, i);
    hn_vec3 n = p->axes[2];
    *b = (jet_body){.mass = inertia[0]};
    if (!is_across(vec3_load(twist), n, p->speed))
        return fail_body(system, i, "moves out of the plane", p);
    hn_vec3 omega = vec3_load(twist + 3);
    if (vec3_norm(vec3_cross(omega, n)) > PLANE_TOLERANCE * p->speed / system->length)
        return fail_body(system, i, "does not turn about the normal of the plane", p);
    b->inertia[0] = b->inertia[1] = b->mass;
    for (int k = 0; k < 3; ++k) b->axes[k] = p->axes[k];
    b->origin = vec3_scale(vec3_dot(n, vec3_load(pose)), n);
    memcpy(b->reference, pose + 3, sizeof b->reference);
    if (!system->bodies[i].has_directors) {
        b->kind = JET_PLANE_POINT, b->y_count = b->w_count = 2;
        return true;
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
    // an upright body may be out of balance: its joints take the moments
    bool balanced = b->inertia[2] > 0.0;
    for (int k = 0; k < 3 && !balanced && (hold_of(p, i) & PLANAR_UPRIGHT) != 0; ++k) {
        double cosine = vec3_dot(vec3_load(pose + 3 + 3 * k), n);
        b->inertia[2] += cosine * cosine * (inertia[1] + inertia[2] + inertia[3] - inertia[1 + k]);
    }
    if (!(b->inertia[2] > 0.0))
        return fail_body(system, i, "has no principal axis along the normal of the plane", p);
    return true;
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

static bool make_joint(const hn_system *system, int source, plane *p, jet_joint *x)
{
    *x = (jet_joint){0};
    const joint *j = jet_source_joint(system, source, &x->a, &x->b);
    const char *name = system->reports[source].name;
    hn_vec3 n = p->axes[2];
    hn_vec3 axis_a = pose_direction(system_pose(system->q_start, x->a), j->a[2]);
    hn_vec3 axis_b = pose_direction(system_pose(system->q_start, x->b), j->b[2]);
    const planar_rule *rule = &joint_type_of(j->kind)->planar;
    bool about = is_parallel(axis_a, n) || (rule->other_axis && is_parallel(axis_b, n));
    planar_form form = about                       ? rule->normal.form
                       : is_across(axis_a, n, 1.0) ? rule->inside.form
                                                   : rule->oblique.form;
    hn_vec3 side = vec3_cross(n, axis_a), e;
    x->source = source, x->rho_a = j->rho_a, x->rho_b = j->rho_b, x->row_count = 0,
    x->multiplier = -1;
    switch (form) {
    case PLANAR_NOTHING: return true;
    case PLANAR_PIN: add_pin(p, x); return true;
    case PLANAR_SLIDE: add_slide(system, side, axis_a, x); return true;
    case PLANAR_SLIDE_ACROSS: add_slide(system, axis_a, side, x); return true;
    case PLANAR_WELD:
        add_pin(p, x);
        add_angle(system, p->axes[0], p->axes[1], x);
        return true;
    case PLANAR_ROD:
        e = vec3_subtract(pose_point(system_pose(system->q_start, x->b), j->rho_b),
                          pose_point(system_pose(system->q_start, x->a), j->rho_a));
        x->rows[x->row_count++] =
            (basic_row){.kind = BASIC_DISTANCE, .eta = 0.5 * j->length * j->length};
        if (is_across(e, n, j->length) || (hold_of(p, x->a) == (PLANAR_UPRIGHT | PLANAR_LEVEL) &&
                                           hold_of(p, x->b) == (PLANAR_UPRIGHT | PLANAR_LEVEL)))
            return true;
        break;
    case PLANAR_REFUSED: break;
    }
    const char *why = form == PLANAR_ROD ? "leaves the plane"
                      : rule->other_axis ? "is not along the normal of the plane, nor is the other"
                      : rule->inside.form == PLANAR_REFUSED
                          ? "is not along the normal of the plane"
                          : "is neither along nor across the normal of the plane";
    snprintf(p->reason, sizeof p->reason, "the axis of joint '%s' %s", name, why);
    return false;
}

static bool check_arms(const hn_system *system, int source, plane *p)
{
    int body[2];
    const joint *j = jet_source_joint(system, source, &body[0], &body[1]);
    if (j->kind == HN_JOINT_FREE) return true;
    bool a = may_act(system, body[0], j->rho_a, p), b = may_act(system, body[1], j->rho_b, p);
    if (!a || !b)
        snprintf(p->reason, sizeof p->reason,
                 "joint '%s' acts beside the plane of body '%s', which nothing keeps from tilting",
                 system->reports[source].name, system->bodies[a ? body[1] : body[0]].name);
    return a && b;
}

static bool check_load(const hn_system *system, const element *e, plane *p)
{
    hn_vec3 n = p->axes[2], x = e->vector;
    const double *a = system_pose(system->q_start, e->a), *b = system_pose(system->q_start, e->b);
    bool good = true, beside = false;
    unsigned char held = hold_of(p, e->a) & hold_of(p, e->b);
    if (e->body_fixed) x = pose_direction(b, x);
    if (e->kind == ELEMENT_FORCE)
        good = held == (PLANAR_UPRIGHT | PLANAR_LEVEL) || is_across(x, n, vec3_norm(x));
    else if (e->kind == ELEMENT_TORQUE)
        good = (held & PLANAR_UPRIGHT) != 0 ||
               vec3_norm(vec3_cross(x, n)) <= PLANE_TOLERANCE * vec3_norm(x);
    else if (e->kind == ELEMENT_SPRING)
        good = held == (PLANAR_UPRIGHT | PLANAR_LEVEL) ||
               is_across(vec3_combination(e->link, a, b), n, fmax(system->length, e->rest));
    else good = is_parallel(pose_direction(a, vec3_cross(e->a1, e->a2)), n);
    if (e->kind == ELEMENT_FORCE || e->kind == ELEMENT_SPRING)
        for (int side = 0; side < 2; ++side)
            // the link is p_b - p_a, or the point of b alone
            beside = beside || !may_act(system, side == 0 ? e->a : e->b,
                                        vec3_load(e->link + 4 * side + 1), p);
    if (good && !beside && !element_type_of(e->kind)->in_space) return true;
    snprintf(p->reason, sizeof p->reason, "a %s on body '%s' acts %s",
             element_type_of(e->kind)->name, system->bodies[element_body(e)].name,
             good ? "beside the plane of a body that nothing keeps from tilting"
                  : "out of the plane");
    return false;
}

// All bodies and joints in the plane with normal n; false: it is not the plane, and why.
static bool make_all(hn_system *system, jet_space *jet, hn_vec3 n, plane *p)
{
    p->axes[2] = n;
    p->axes[0] = vec3_perpendicular(n);
    p->axes[1] = vec3_cross(n, p->axes[0]);
    jet->joint_count = 0;
    find_held(system, p);
    bool weightless = is_across(system->gravity, n, vec3_norm(system->gravity));
    for (int i = 0; i < system->body_count; ++i) {
        if (!weightless && p->hold[i] != (PLANAR_UPRIGHT | PLANAR_LEVEL) &&
            system->bodies[i].kind != HN_BODY_PLANAR_POINT_MASS)
            return fail_body(system, i, "falls out of the plane: gravity is not in it", p);
        if (!make_body(system, i, p, &jet->bodies[i])) return false;
    }
    for (int k = 0; k < system->joint_count; ++k) {
        if (!make_joint(system, k, p, &jet->joints[jet->joint_count])) return false;
        if (jet->joints[jet->joint_count].row_count > 0) jet->joint_count++;
    }
    for (int k = 0; k < system->joint_count; ++k)
        if (!check_arms(system, k, p)) return false;
    for (int i = 0; i < system->element_count; ++i)
        if (!check_load(system, &system->elements[i], p)) return false;
    return true;
}

hn_status jet_space_create_planar(hn_system *system, jet_space *jet)
{
    plane p = {.reason = "", .speed = largest_speed(system)};
    char first[sizeof p.reason] = "";
    TRY(jet_space_prepare(system, jet));
    jet->planar = true;
    p.hold = context_allocate(system->context, (size_t)system->body_count + 1);
    if (p.hold == NULL) return HN_OUT_OF_MEMORY;
    candidates list = list_candidates(system);
    bool found = false;
    for (int k = 0; k < list.count && !found; ++k) {
        found = make_all(system, jet, list.normal[k], &p);
        if (k == 0) memcpy(first, p.reason, sizeof first);
    }
    context_release(system->context, p.hold);
    if (!found)
        return context_fail(system->context, HN_INVALID_MODEL, "the model is not planar: %s",
                            first);
    return jet_space_finish(jet);
}
