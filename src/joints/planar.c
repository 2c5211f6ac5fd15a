// SPDX-License-Identifier: MIT
// Planar joint E (BL 137-154): the child's point stays in a plane of a, the child turns about the plane's normal.
//
//        a  _______/ b          g = a3 . e,  a3 . b1,  a3 . b2
//             n = a3 = b3
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [a2 x n, n x a1, rho_c x n; 0, 0, n]               (BL 143, 149)
#include "joints/slide.h"

static void planar_row(const joint *j, int index, constraint_row *row)
{
    if (index == 0) row_point_in_plane(j, 2, row);
    else row_orthogonality(j, 2, index - 1, row);
}

static void planar_motion(const joint *j, const joint_step *step, const double *parent,
                          const double *child, motion *m)
{
    (void)step;
    hn_vec3 a1 = pose_direction(parent, j->a[0]), a2 = pose_direction(parent, j->a[1]);
    hn_vec3 n = pose_direction(parent, j->a[2]);
    motion_carry_rigid(parent, child, m);
    motion_add_translation(m, vec3_cross(a2, n));
    motion_add_translation(m, vec3_cross(n, a1));
    motion_add_rotation(m, pose_direction(child, j->rho_b), n);
}

static int planar_terms(const joint *j, const joint_step *step, const double *parent,
                        const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step;
    hn_vec3 a1 = pose_direction(parent, j->a[0]), a2 = pose_direction(parent, j->a[1]);
    hn_vec3 n = pose_direction(parent, j->a[2]);
    int count = term_translation(0, false, j->a[1], a2, j->a[2], n, force, terms);
    count += term_translation(1, false, j->a[2], n, j->a[0], a1, force, terms + count);
    return count + term_rotation(j, 2, false, j->a[2], n, pose_direction(child, j->rho_b), force,
                                 moment, terms + count);
}

static void planar_begin(const joint *j, const double *parent, const double *child,
                         joint_step *step)
{
    for (int k = 0; k < 2; ++k)
        step->offset[k] = step->offset_start[k] = slide_offset(j, k, parent, child);
}

static void planar_advance(const joint *j, const double *u, const double *parent_start,
                           const double *parent, const double *child_start, const double *child,
                           const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)child;
    hn_vec3 axis = pose_direction(parent, j->a[2]), slide = vec3(0.0, 0.0, 0.0);
    advance_rotation(cayley_compose(vec3_scale(u[2], axis), parent_step->turn), child_step);
    for (int k = 0; k < 2; ++k) {
        step->increment[k] += u[k];
        step->offset[k] = step->offset_start[k] + step->increment[k];
        slide = vec3_add(slide, slide_secant(j, k, k, parent_start, parent, parent_step, step));
    }
    step->increment[2] = advance_compose_angle(u[2], step->increment[2]);
    advance_position(j, parent_start, child_start, parent_step, slide, child_step);
}

static void planar_settle(const joint *j, const joint_step *step, const double *parent,
                          double *child)
{
    hn_vec3 place = pose_point(parent, j->rho_a);
    for (int k = 0; k < 2; ++k)
        place = vec3_add_scaled(place, step->offset[k], pose_direction(parent, j->a[k]));
    settle_directors(vec3_cross(pose_direction(child, j->b[2]), pose_direction(parent, j->a[2])),
                     child);
    settle_point(j, place, child);
}

static void planar_coordinates(const joint *j, const double *a, const double *b,
                               double *coordinates)
{
    hn_vec3 link = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    coordinates[0] = vec3_dot(link, pose_direction(a, j->a[0]));
    coordinates[1] = vec3_dot(link, pose_direction(a, j->a[1]));
    coordinates[2] = joint_angle(j, a, b);
}

const joint_type joint_planar = {
    .dof = 3,
    .row_count = 3,
    .coordinate_count = 3,
    .axes = {{false, AXIS_OF_A, 0}, {false, AXIS_OF_A, 1}, {true, AXIS_OF_A, 2}},
    .mark = MARK_PLANE,
    .planar = {.normal = {PLANAR_NOTHING, PLANAR_UPRIGHT | PLANAR_LEVEL},
               .inside = {PLANAR_SLIDE_ACROSS, 0}},
    .row = planar_row,
    .motion = planar_motion,
    .terms = planar_terms,
    .begin = planar_begin,
    .guess = guess_same,
    .advance = planar_advance,
    .settle = planar_settle,
    .coordinates = planar_coordinates,
};
