// SPDX-License-Identifier: MIT
// Prismatic joint P (BL 127-136): the child slides along the axis without turning.
//
//        a ===>===== b          g = a1 . e,  a2 . e,  a1 . b2,  a2 . b3,  a3 . b1
//             n = a3
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [a1 x a2; 0]                                   (BL 132, 133)
#include "joints/slide.h"

static void prismatic_row(const joint *j, int index, constraint_row *row)
{
    if (index < 2) row_point_in_plane(j, index, row);
    else row_orthogonality(j, index - 2, (index - 1) % 3, row);
}

static void prismatic_motion(const joint *j, const joint_step *step, const double *parent,
                             const double *child, motion *m)
{
    (void)step;
    motion_carry_rigid(parent, child, m);
    motion_add_translation(
        m, vec3_cross(pose_direction(parent, j->a[0]), pose_direction(parent, j->a[1])));
}

static int prismatic_terms(const joint *j, const joint_step *step, const double *parent,
                           const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step, (void)child, (void)moment;
    return term_translation(0, false, j->a[0], pose_direction(parent, j->a[0]), j->a[1],
                            pose_direction(parent, j->a[1]), force, terms);
}

static void prismatic_begin(const joint *j, const double *parent, const double *child,
                            joint_step *step)
{
    step->offset[0] = step->offset_start[0] = slide_offset(j, 2, parent, child);
}

static void prismatic_advance(const joint *j, const double *u, const double *parent_start,
                              const double *parent, const double *child_start, const double *child,
                              const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)child;
    advance_rotation(parent_step->turn, child_step);
    step->increment[0] += u[0];
    step->offset[0] = step->offset_start[0] + step->increment[0];
    advance_position(j, parent_start, child_start, parent_step,
                     slide_secant(j, 2, 0, parent_start, parent, parent_step, step), child_step);
}

static void prismatic_settle(const joint *j, const joint_step *step, const double *parent,
                             double *child)
{
    settle_frame(j, parent, child);
    settle_point(j,
                 vec3_add_scaled(pose_point(parent, j->rho_a), step->offset[0],
                                 pose_direction(parent, j->a[2])),
                 child);
}

static void prismatic_coordinates(const joint *j, const double *a, const double *b,
                                  double *coordinates)
{
    hn_vec3 link = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    coordinates[0] = vec3_dot(link, pose_direction(a, j->a[2]));
}

const joint_type joint_prismatic = {
    .dof = 1,
    .row_count = 5,
    .coordinate_count = 1,
    .axes = {{false, AXIS_OF_A, 2}},
    .mark = MARK_SLOT,
    .planar = {.normal = {PLANAR_WELD, PLANAR_UPRIGHT},
               .inside = {PLANAR_SLIDE, PLANAR_UPRIGHT | PLANAR_LEVEL},
               .oblique = {PLANAR_REFUSED, PLANAR_UPRIGHT}},
    .row = prismatic_row,
    .motion = prismatic_motion,
    .terms = prismatic_terms,
    .begin = prismatic_begin,
    .guess = guess_same,
    .advance = prismatic_advance,
    .settle = prismatic_settle,
    .coordinates = prismatic_coordinates,
};
