// SPDX-License-Identifier: MIT
// Cylindrical joint C (BL 96-118): the child slides along the axis and turns about it.
//
//        a ===>==|== b          g = a1 . e,  a2 . e,  a3 . b1,  a3 . b2
//             n = a3 = b3
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [a1 x a2, arm x n; 0, n],   arm = p_b - phi_c      (BL 107, 113)
//
// The rows a1 . e, a2 . e are not symmetric in the bodies at a midpoint, so body a, which carries them, is chosen
// independently of the tree; it may be the child. Through the arm to p_b both cases are the same rule.
#include "joints/cylindrical.h"
#include "joints/slide.h"

void cylindrical_row(const joint *j, int index, constraint_row *row)
{
    if (index < 2) row_point_in_plane(j, index, row);
    else row_orthogonality(j, 2, index - 2, row);
}

static hn_vec3 arm_to_b(const joint *j, const double *parent, const double *child)
{
    if (!j->child_is_a) return pose_direction(child, j->rho_b);
    return vec3_subtract(pose_point(parent, j->rho_b), pose_center(child));
}

void cylindrical_motion(const joint *j, const joint_step *step, const double *parent,
                        const double *child, motion *m)
{
    (void)step;
    const double *a = j->child_is_a ? child : parent;
    motion_carry_rigid(parent, child, m);
    motion_add_translation(m, vec3_cross(pose_direction(a, j->a[0]), pose_direction(a, j->a[1])));
    motion_add_rotation(m, arm_to_b(j, parent, child), pose_direction(a, j->a[2]));
}

int cylindrical_terms(const joint *j, const joint_step *step, const double *parent,
                      const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step;
    const double *a = j->child_is_a ? child : parent;
    int count = term_translation(0, j->child_is_a, j->a[0], pose_direction(a, j->a[0]), j->a[1],
                                 pose_direction(a, j->a[1]), force, terms);
    return count + term_rotation(j, 1, j->child_is_a, j->a[2], pose_direction(a, j->a[2]),
                                 arm_to_b(j, parent, child), force, moment, terms + count);
}

void cylindrical_begin(const joint *j, const double *parent, const double *child, joint_step *step)
{
    step->offset[0] = step->offset_start[0] = slide_offset(j, 2, parent, child);
}

void cylindrical_advance(const joint *j, const double *u, const double *parent_start,
                         const double *parent, const double *child_start, const double *child,
                         const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)child;
    hn_vec3 axis = pose_direction(parent, joint_parent_frame(j)[2]);
    advance_rotation(cayley_compose(vec3_scale(u[1], axis), parent_step->turn), child_step);
    step->increment[0] += u[0];
    step->offset[0] = step->offset_start[0] + step->increment[0];
    step->increment[1] = advance_compose_angle(u[1], step->increment[1]);
    advance_position(j, parent_start, child_start, parent_step,
                     slide_secant(j, 2, 0, parent_start, parent, parent_step, step), child_step);
}

void cylindrical_settle(const joint *j, const joint_step *step, const double *parent, double *child)
{
    hn_vec3 axis = pose_direction(parent, joint_parent_frame(j)[2]);
    settle_directors(vec3_cross(pose_direction(child, joint_child_frame(j)[2]), axis), child);
    settle_point(j, vec3_add_scaled(pose_point(parent, joint_parent_arm(j)), step->offset[0], axis),
                 child);
}

void cylindrical_coordinates(const joint *j, const double *a, const double *b, double *coordinates)
{
    hn_vec3 link = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    coordinates[0] = vec3_dot(link, pose_direction(a, j->a[2]));
    coordinates[1] = joint_angle(j, a, b);
}

const joint_type joint_cylindrical = {
    .dof = 2,
    .row_count = 4,
    .coordinate_count = 2,
    .axes = {{false, AXIS_OF_A, 2}, {true, AXIS_OF_A, 2}},
    .keeps_sides = true,
    .mark = MARK_LINE,
    .planar = {.normal = {PLANAR_PIN, PLANAR_UPRIGHT}, .inside = {PLANAR_SLIDE, 0}},
    .row = cylindrical_row,
    .motion = cylindrical_motion,
    .terms = cylindrical_terms,
    .begin = cylindrical_begin,
    .guess = guess_same,
    .advance = cylindrical_advance,
    .settle = cylindrical_settle,
    .coordinates = cylindrical_coordinates,
};
