// SPDX-License-Identifier: MIT
// Distance joint: two points at constant distance, as LMO 48 has it for the pendulum.
//
//        a o--------o b          g = (e . e - L^2)/2,   e = p_b - p_a
//
//   A = [I, -rho_p^; 0, 0],   B = [s1 x e, s2 x e, rho_c^; 0, 0, I]
//
// with s1, s2 constant in a step and at right angles to e_n: s_k x e is at right angles to e whatever e is. In a step
// the link turns by a Cayley map. A point mass has no rotation columns; a planar one has s1 = normal of its plane
// alone.
#include "joints/joint.h"

static void distance_row(const joint *j, int index, constraint_row *row)
{
    (void)index;
    row_coincidence(j, 0, row);
    row->product = true;
    for (int k = 0; k < 8; ++k) row->alpha[k] = row->beta[k];
    row->factor = 0.5;
    row->eta = 0.5 * j->length * j->length;
}

static int spread_count(const joint *j)
{
    return j->plane_child ? 1 : 2;
}

static hn_vec3 link_of(const joint *j, const double *parent, const double *child)
{
    return vec3_subtract(pose_point(child, j->rho_b), pose_point(parent, j->rho_a));
}

static void distance_motion(const joint *j, const joint_step *step, const double *parent,
                            const double *child, motion *m)
{
    hn_vec3 link = link_of(j, parent, child);
    motion_carry_point(j, parent, m);
    for (int k = 0; k < spread_count(j); ++k)
        motion_add_translation(m, vec3_cross(step->spread[k], link));
    if (j->point_child) return;
    hn_vec3 arm = pose_direction(child, j->rho_b);
    motion_add_rotation(m, arm, vec3(1.0, 0.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 1.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 0.0, 1.0));
}

static int distance_terms(const joint *j, const joint_step *step, const double *parent,
                          const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)parent, (void)child, (void)moment;
    int count = 0;
    for (int k = 0; k < spread_count(j); ++k) {
        // r = (s x e) . F, delta r = delta e . (F x s)
        hn_vec3 z = vec3_cross(force, step->spread[k]);
        terms[count++] = (motion_term){k, true, 1.0, j->rho_b, z};
        terms[count++] = (motion_term){k, false, -1.0, vec3_negate(j->rho_a), z};
    }
    if (j->point_child) return count;
    return count + term_free_rotation(j, 2, force, terms + count);
}

static void distance_begin(const joint *j, const double *parent, const double *child,
                           joint_step *step)
{
    step->link = step->link_start = link_of(j, parent, child);
    step->link_rotation = vec3(0.0, 0.0, 0.0);
    hn_vec3 unit = vec3_scale(1.0 / vec3_norm(step->link), step->link);
    step->spread[0] = j->plane_child ? j->a[2] : vec3_perpendicular(unit);
    step->spread[1] = vec3_cross(unit, step->spread[0]);
}

// increment: rotation of the link (world), rotation of the child (its directors)
static void distance_guess(const joint *j, const joint_step *step, const double *increment,
                           const double *child, double *u)
{
    for (int k = 0; k < spread_count(j); ++k)
        u[k] = vec3_dot(step->spread[k], vec3_load(increment));
    if (!j->point_child) vec3_store(pose_direction(child, vec3_load(increment + 3)), u + 2);
}

static void distance_advance(const joint *j, const double *u, const double *parent_start,
                             const double *parent, const double *child_start, const double *child,
                             const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)parent, (void)child;
    // the link moves by sum u_k s_k x e; that is the turn c with c x e of the same size and c at right angles to e, or,
    // where e may be oblique to a plane, about the plane's normal
    hn_vec3 turn = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < spread_count(j); ++k) turn = vec3_add_scaled(turn, u[k], step->spread[k]);
    double along = vec3_dot(turn, step->link) / vec3_dot(step->link, step->link);
    if (!j->plane_child) turn = vec3_add_scaled(turn, -along, step->link);
    step->link_rotation = cayley_compose(turn, step->link_rotation);
    step->link = cayley_apply(step->link_rotation, step->link_start);
    vec3_store(step->link_rotation, step->increment);
    if (!j->point_child) {
        advance_rotation(vec3_load(u + 2), child_step);
        vec3_store(pose_components(child_start, child_step->rotation), step->increment + 3);
    }
    hn_vec3 slide = vec3_cross(step->link_rotation, vec3_mean(step->link_start, step->link));
    advance_position(j, parent_start, child_start, parent_step, slide, child_step);
}

static void distance_settle(const joint *j, const joint_step *step, const double *parent,
                            double *child)
{
    if (!j->point_child) settle_directors(vec3(0.0, 0.0, 0.0), child);
    hn_vec3 link = vec3_scale(j->length / vec3_norm(step->link), step->link);
    settle_point(j, vec3_add(pose_point(parent, j->rho_a), link), child);
}

static void distance_coordinates(const joint *j, const double *a, const double *b,
                                 double *coordinates)
{
    (void)j, (void)a, (void)b, (void)coordinates;
}

const joint_type joint_distance = {
    .dof = 5,
    .row_count = 1,
    .coordinate_count = 0,
    .mark = MARK_POINT,
    .planar = {.normal = {PLANAR_ROD, 0}, .inside = {PLANAR_ROD, 0}, .oblique = {PLANAR_ROD, 0}},
    .row = distance_row,
    .motion = distance_motion,
    .terms = distance_terms,
    .begin = distance_begin,
    .increment_surplus = 1,
    .guess = distance_guess,
    .advance = distance_advance,
    .settle = distance_settle,
    .coordinates = distance_coordinates,
};
