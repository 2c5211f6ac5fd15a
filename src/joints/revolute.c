// SPDX-License-Identifier: MIT
// Revolute joint R (BL 119-126): one common point and one common axis.
//
//        a ----|---- b          g = p_b - p_a,  a3 . b1,  a3 . b2
//             axis a3 = b3
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [rho_c x n; n],   n = a3                       (BL 122, 125)
#include "joints/pivot.h"

static void revolute_row(const joint *j, int index, constraint_row *row)
{
    if (index < 3) row_coincidence(j, index, row);
    else row_orthogonality(j, 2, index - 3, row);
}

static void revolute_motion(const joint *j, const joint_step *step, const double *parent,
                            const double *child, motion *m)
{
    (void)step;
    motion_carry_rigid(parent, child, m);
    motion_add_rotation(m, pose_direction(child, j->rho_b), pose_direction(parent, j->a[2]));
}

static int revolute_terms(const joint *j, const joint_step *step, const double *parent,
                          const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step;
    return term_rotation(j, 0, false, j->a[2], pose_direction(parent, j->a[2]),
                         pose_direction(child, j->rho_b), force, moment, terms);
}

static void revolute_advance(const joint *j, const double *u, const double *parent_start,
                             const double *parent, const double *child_start, const double *child,
                             const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)parent;
    revolute_turn(j, u, child, parent_step, step, child_step);
    advance_position(j, parent_start, child_start, parent_step, vec3(0.0, 0.0, 0.0), child_step);
}

static void settle_revolute(const joint *j, const joint_step *step, const double *parent,
                            double *child)
{
    (void)step;
    revolute_settle(j, parent, child);
}

static void revolute_coordinates(const joint *j, const double *a, const double *b,
                                 double *coordinates)
{
    coordinates[0] = joint_angle(j, a, b);
}

const joint_type joint_revolute = {
    .dof = 1,
    .row_count = 5,
    .pivot = PIVOT_AXIS,
    .coordinate_count = 1,
    .axes = {{true, AXIS_OF_A, 2}},
    .mark = MARK_AXIS,
    .planar = {.normal = {PLANAR_PIN, PLANAR_UPRIGHT | PLANAR_LEVEL}, .tells_normal = true},
    .row = revolute_row,
    .motion = revolute_motion,
    .terms = revolute_terms,
    .begin = begin_nothing,
    .guess = guess_same,
    .advance = revolute_advance,
    .settle = settle_revolute,
    .coordinates = revolute_coordinates,
};
