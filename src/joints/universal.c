// SPDX-License-Identifier: MIT
// Universal joint U (TAN): one common point and two axes at right angles, n1 = a3 in a and n2 = b3 in b.
//
//        a ----+---- b          g = p_b - p_a,  a3 . b3
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [rho_c x n1, rho_c x n2; n1, n2]
#include "joints/joint.h"

static void universal_row(const joint *j, int index, constraint_row *row)
{
    if (index < 3) row_coincidence(j, index, row);
    else row_orthogonality(j, 2, 2, row);
}

static void universal_motion(const joint *j, const joint_step *step, const double *parent,
                             const double *child, motion *m)
{
    (void)step;
    hn_vec3 arm = pose_direction(child, j->rho_b);
    motion_carry_rigid(parent, child, m);
    motion_add_rotation(m, arm, pose_direction(parent, j->a[2]));
    motion_add_rotation(m, arm, pose_direction(child, j->b[2]));
}

static int universal_terms(const joint *j, const joint_step *step, const double *parent,
                           const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step;
    hn_vec3 arm = pose_direction(child, j->rho_b);
    int count = term_rotation(j, 0, false, j->a[2], pose_direction(parent, j->a[2]), arm, force,
                              moment, terms);
    return count + term_rotation(j, 1, true, j->b[2], pose_direction(child, j->b[2]), arm, force,
                                 moment, terms + count);
}

// Delta R_c = cay(u1 n1) Delta R_p cay(u2 n2) with n1 after and n2 before the increment keeps n1 . n2 = 0
static void universal_advance(const joint *j, const double *u, const double *parent_start,
                              const double *parent, const double *child_start, const double *child,
                              const body_step *parent_step, joint_step *step, body_step *child_step)
{
    hn_vec3 inner =
        cayley_compose(parent_step->turn, vec3_scale(u[1], pose_direction(child, j->b[2])));
    hn_vec3 turn = cayley_compose(vec3_scale(u[0], pose_direction(parent, j->a[2])), inner);
    advance_rotation(turn, child_step);
    for (int k = 0; k < 2; ++k)
        step->increment[k] = advance_compose_angle(u[k], step->increment[k]);
    advance_position(j, parent_start, child_start, parent_step, vec3(0.0, 0.0, 0.0), child_step);
}

static void universal_settle(const joint *j, const joint_step *step, const double *parent,
                             double *child)
{
    (void)step;
    // n1 . n2 = s is removed by turning n2 about n1 x n2: (c x n2) . n1 = -s for c = -s (n2 x n1)
    hn_vec3 n1 = pose_direction(parent, j->a[2]), n2 = pose_direction(child, j->b[2]);
    settle_directors(vec3_scale(-vec3_dot(n1, n2), vec3_cross(n2, n1)), child);
    settle_point(j, pose_point(parent, j->rho_a), child);
}

// Frames at the start: a = (n2, n1 x n2, n1), b = (n1, n2 x n1, n2). Angles about n1 in a and about n2 in b.
static void universal_coordinates(const joint *j, const double *a, const double *b,
                                  double *coordinates)
{
    hn_vec3 n1 = pose_direction(a, j->a[2]), n2 = pose_direction(b, j->b[2]);
    coordinates[0] =
        atan2(vec3_dot(pose_direction(a, j->a[1]), n2), vec3_dot(pose_direction(a, j->a[0]), n2));
    coordinates[1] =
        -atan2(vec3_dot(pose_direction(b, j->b[1]), n1), vec3_dot(pose_direction(b, j->b[0]), n1));
}

const joint_type joint_universal = {
    .dof = 2,
    .row_count = 4,
    .coordinate_count = 2,
    .axes = {{true, AXIS_OF_A, 2}, {true, AXIS_OF_B, 2}},
    .mark = MARK_AXIS,
    .planar = {.normal = {PLANAR_PIN, 0}, .other_axis = true},
    .row = universal_row,
    .motion = universal_motion,
    .terms = universal_terms,
    .begin = begin_nothing,
    .guess = guess_same,
    .advance = universal_advance,
    .settle = universal_settle,
    .coordinates = universal_coordinates,
};
