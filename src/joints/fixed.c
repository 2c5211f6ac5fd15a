// SPDX-License-Identifier: MIT
// Fixed joint: the child moves with its parent.
//
//        a ====#==== b          g = p_b - p_a,  a1 . b2,  a2 . b3,  a3 . b1
//
//   A = [I, (phi_p - phi_c)^; 0, I],   no column
//
// Rows with joint frames that are aligned at the start never degenerate (docs/theory/joints.md).
#include "joints/joint.h"

static void fixed_row(const joint *j, int index, constraint_row *row)
{
    if (index < 3) row_coincidence(j, index, row);
    else row_orthogonality(j, index - 3, (index - 2) % 3, row);
}

static void fixed_motion(const joint *j, const joint_step *step, const double *parent,
                         const double *child, motion *m)
{
    (void)j, (void)step;
    motion_carry_rigid(parent, child, m);
}

static int fixed_terms(const joint *j, const joint_step *step, const double *parent,
                       const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)j, (void)step, (void)parent, (void)child, (void)force, (void)moment, (void)terms;
    return 0;
}

static void fixed_advance(const joint *j, const double *u, const double *parent_start,
                          const double *parent, const double *child_start, const double *child,
                          const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)u, (void)parent, (void)child, (void)step;
    advance_rotation(parent_step->turn, child_step);
    advance_position(j, parent_start, child_start, parent_step, vec3(0.0, 0.0, 0.0), child_step);
}

static void fixed_settle(const joint *j, const joint_step *step, const double *parent,
                         double *child)
{
    (void)step;
    settle_frame(j, parent, child);
    settle_point(j, pose_point(parent, j->rho_a), child);
}

static void fixed_coordinates(const joint *j, const double *a, const double *b, double *coordinates)
{
    (void)j, (void)a, (void)b, (void)coordinates;
}

const joint_type joint_fixed = {
    .dof = 0,
    .row_count = 6,
    .coordinate_count = 0,
    .mark = MARK_FRAME,
    .planar = {.normal = {PLANAR_WELD, PLANAR_UPRIGHT | PLANAR_LEVEL},
               .inside = {PLANAR_WELD, PLANAR_UPRIGHT | PLANAR_LEVEL},
               .oblique = {PLANAR_WELD, PLANAR_UPRIGHT | PLANAR_LEVEL}},
    .row = fixed_row,
    .motion = fixed_motion,
    .terms = fixed_terms,
    .begin = begin_nothing,
    .guess = guess_same,
    .advance = fixed_advance,
    .settle = fixed_settle,
    .coordinates = fixed_coordinates,
};
