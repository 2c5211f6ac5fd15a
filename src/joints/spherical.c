// SPDX-License-Identifier: MIT
// Spherical joint S (BL 80-95): one common point, the child turns freely.
//
//        a ----o---- b          g = p_b - p_a
//
//   A = [I, -rho_p^; 0, 0],   B = [rho_c^; I],   u = omega_c                              (BL 84, 90)
//
// With a point mass as child only the common point remains: no column.
#include "joints/pivot.h"

static void spherical_row(const joint *j, int index, constraint_row *row)
{
    row_coincidence(j, index, row);
}

static void spherical_motion(const joint *j, const joint_step *step, const double *parent,
                             const double *child, motion *m)
{
    (void)step;
    motion_carry_point(j, parent, m);
    if (j->point_child) return;
    hn_vec3 arm = pose_direction(child, joint_child_arm(j));
    motion_add_rotation(m, arm, vec3(1.0, 0.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 1.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 0.0, 1.0));
}

static int spherical_terms(const joint *j, const joint_step *step, const double *parent,
                           const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step, (void)parent, (void)child, (void)moment;
    return j->point_child ? 0 : term_free_rotation(j, 0, force, terms);
}

static void spherical_guess(const joint *j, const joint_step *step, const double *increment,
                            const double *child, double *u)
{
    (void)step;
    if (!j->point_child) vec3_store(pose_direction(child, vec3_load(increment)), u);
}

static void spherical_advance(const joint *j, const double *u, const double *parent_start,
                              const double *parent, const double *child_start, const double *child,
                              const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)parent, (void)child;
    if (!j->point_child) spherical_turn(u, child_start, step, child_step);
    advance_position(j, parent_start, child_start, parent_step, vec3(0.0, 0.0, 0.0), child_step);
}

static void settle_spherical(const joint *j, const joint_step *step, const double *parent,
                             double *child)
{
    (void)step;
    if (j->point_child) settle_point(j, pose_point(parent, joint_parent_arm(j)), child);
    else spherical_settle(j, parent, child);
}

static void spherical_coordinates(const joint *j, const double *a, const double *b,
                                  double *coordinates)
{
    vec3_store(joint_rotation_vector(j, a, b), coordinates);
}

const joint_type joint_spherical = {
    .dof = 3,
    .row_count = 3,
    .pivot = PIVOT_FREE,
    .coordinate_count = 3,
    .axes = {{true, AXIS_OF_WORLD, 0}, {true, AXIS_OF_WORLD, 1}, {true, AXIS_OF_WORLD, 2}},
    .mark = MARK_POINT,
    .planar = {.normal = {PLANAR_PIN, 0}, .inside = {PLANAR_PIN, 0}, .oblique = {PLANAR_PIN, 0}},
    .row = spherical_row,
    .motion = spherical_motion,
    .terms = spherical_terms,
    .begin = begin_nothing,
    .guess = spherical_guess,
    .advance = spherical_advance,
    .settle = settle_spherical,
    .coordinates = spherical_coordinates,
};
