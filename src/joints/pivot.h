// SPDX-License-Identifier: MIT
// Joints whose child only turns about its own joint point: what the innermost loops need of them, inline.
#ifndef JOINTS_PIVOT_H
#define JOINTS_PIVOT_H

#include "joints/joint.h"

// The child is body b in these joints.

/// Turn the child of a revolute joint by u about the axis after its parent has turned. With n as it was before the
/// increment, Delta R_c = Delta R_p cay(u n): the parent's new pose is not waited for.
static inline void revolute_turn(const joint *j, const double *u, const double *child, const body_step *parent_step,
                                 joint_step *step, body_step *child_step)
{
    hn_vec3 axis = pose_direction(child, j->b[2]);
    advance_rotation(cayley_compose(parent_step->turn, vec3_scale(u[0], axis)), child_step);
    step->increment[0] = advance_compose_angle(u[0], step->increment[0]);
}

/// Turn the child of a spherical joint by u; the total is remembered in the child's directors.
static inline void spherical_turn(const double *u, const double *child_start, joint_step *step, body_step *child_step)
{
    advance_rotation(vec3_load(u), child_step);
    vec3_store(pose_components(child_start, child_step->rotation), step->increment);
}

/// The same from the start of the step on, by an increment as it is remembered.
static inline void pivot_start(pivot_kind pivot, const joint *j, const double *increment, const double *child_start,
                               const body_step *parent_step, joint_step *step, body_step *child_step)
{
    hn_vec3 turn = pivot == PIVOT_AXIS
                       ? cayley_compose(parent_step->turn,
                                        vec3_scale(increment[0], pose_direction(child_start, j->b[2])))
                       : pose_direction(child_start, vec3_load(increment));
    child_step->turn = child_step->rotation = turn;
    for (int k = 0; k < (pivot == PIVOT_AXIS ? 1 : 3); ++k) step->increment[k] = increment[k];
}

static inline void pivot_turn(pivot_kind pivot, const joint *j, const double *u, const double *child_start,
                              const double *child, const body_step *parent_step, joint_step *step,
                              body_step *child_step)
{
    if (pivot == PIVOT_AXIS) revolute_turn(j, u, child, parent_step, step, child_step);
    else spherical_turn(u, child_start, step, child_step);
}

/// The same for an increment whose square does not count; `turn` is what it turns the child by altogether.
static inline void pivot_turn_little(pivot_kind pivot, const double *u, hn_vec3 turn, const double *child_start,
                                     joint_step *step, body_step *child_step)
{
    child_step->turn = turn;
    child_step->rotation = cayley_compose_little(turn, child_step->rotation);
    double angle = step->increment[0];
    if (pivot == PIVOT_AXIS) step->increment[0] = angle + u[0] * (1.0 + 0.25 * angle * angle);
    else vec3_store(pose_components(child_start, child_step->rotation), step->increment);
}

/// Displacement of the child from the changes of both poses in the step: Delta phi_c = Delta p_p - Delta rho_c, linear
/// in the changes of the directors.
static inline hn_vec3 pivot_displacement(const joint *j, const double *parent_delta, const double *child_delta)
{
    return vec3_subtract(pose_point(parent_delta, j->rho_a), pose_direction(child_delta, j->rho_b));
}

/// All rows of the joint at once: how far its points are apart, and the cosines of a revolute joint's axis with what it
/// is upright on.
static inline void pivot_rows(pivot_kind pivot, const joint *j, const double *a, const double *b, hn_vec3 *opening,
                              double cosines[2])
{
    *opening = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    cosines[0] = cosines[1] = 0.0;
    if (pivot != PIVOT_AXIS) return;
    hn_vec3 axis = pose_components(b, pose_direction(a, j->a[2])); // as body b sees it
    for (int k = 0; k < 2; ++k) cosines[k] = vec3_dot(axis, j->b[k]);
}

/// Their rates at velocities of all vectors of the poses.
static inline void pivot_row_rates(pivot_kind pivot, const joint *j, const double *a, const double *b, const double *va,
                                   const double *vb, hn_vec3 *opening, double cosines[2])
{
    *opening = vec3_subtract(pose_point(vb, j->rho_b), pose_point(va, j->rho_a));
    cosines[0] = cosines[1] = 0.0;
    if (pivot != PIVOT_AXIS) return;
    hn_vec3 axis = pose_direction(a, j->a[2]), moving = pose_direction(va, j->a[2]);
    hn_vec3 seen = vec3_add(pose_components(b, moving), pose_components(vb, axis)); // how it moves for body b
    for (int k = 0; k < 2; ++k) cosines[k] = vec3_dot(seen, j->b[k]);
}

static inline void revolute_settle(const joint *j, const double *parent, double *child)
{
    settle_directors(vec3_cross(pose_direction(child, j->b[2]), pose_direction(parent, j->a[2])), child);
    settle_point(j, pose_point(parent, j->rho_a), child);
}

static inline void spherical_settle(const joint *j, const double *parent, double *child)
{
    settle_directors(vec3(0.0, 0.0, 0.0), child);
    settle_point(j, pose_point(parent, j->rho_a), child);
}

static inline void pivot_settle(pivot_kind pivot, const joint *j, const double *parent, double *child)
{
    if (pivot == PIVOT_AXIS) revolute_settle(j, parent, child);
    else spherical_settle(j, parent, child);
}

#endif
