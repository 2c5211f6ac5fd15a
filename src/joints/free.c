// SPDX-License-Identifier: MIT
// Free joint: no constraint; every body that is not held by another joint hangs on one of these.
//
//   A = 0,   B = I;  a point mass has the three translations, a planar one the two of its plane
#include "joints/joint.h"

static void free_row(const joint *j, int index, constraint_row *row)
{
    (void)index;
    row_coincidence(j, 0, row); // never asked for: row_count is 0
}

static int translation_count(const joint *j)
{
    return j->plane_child ? 2 : 3;
}

// translations along world axes, or along the two axes of the plane
static hn_vec3 translation(const joint *j, int k)
{
    if (j->plane_child) return j->a[k];
    return vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
}

static void free_motion(const joint *j, const joint_step *step, const double *parent,
                        const double *child, motion *m)
{
    (void)step, (void)parent, (void)child;
    m->carry = CARRY_NONE;
    m->dof = 0;
    m->offset = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < translation_count(j); ++k) motion_add_translation(m, translation(j, k));
    if (j->point_child) return;
    for (int k = 0; k < 3; ++k) motion_add_rotation(m, vec3(0.0, 0.0, 0.0), translation(j, k));
}

static int free_terms(const joint *j, const joint_step *step, const double *parent,
                      const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)j, (void)step, (void)parent, (void)child, (void)force, (void)moment, (void)terms;
    return 0;
}

static void free_guess(const joint *j, const joint_step *step, const double *increment,
                       const double *child, double *u)
{
    (void)step;
    int count = translation_count(j);
    for (int k = 0; k < count; ++k) u[k] = increment[k];
    if (!j->point_child) vec3_store(pose_direction(child, vec3_load(increment + 3)), u + 3);
}

static void free_advance(const joint *j, const double *u, const double *parent_start,
                         const double *parent, const double *child_start, const double *child,
                         const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)parent_start, (void)parent, (void)child, (void)parent_step;
    for (int k = 0; k < translation_count(j); ++k) {
        child_step->displacement =
            vec3_add_scaled(child_step->displacement, u[k], translation(j, k));
        step->increment[k] += u[k];
    }
    if (j->point_child) return;
    advance_rotation(vec3_load(u + 3), child_step);
    vec3_store(pose_components(child_start, child_step->rotation), step->increment + 3);
}

static void free_settle(const joint *j, const joint_step *step, const double *parent, double *child)
{
    (void)step, (void)parent;
    if (!j->point_child) settle_directors(vec3(0.0, 0.0, 0.0), child);
}

static void free_coordinates(const joint *j, const double *a, const double *b, double *coordinates)
{
    hn_vec3 link = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    for (int k = 0; k < 3; ++k) coordinates[k] = vec3_dot(link, pose_direction(a, j->a[k]));
    vec3_store(joint_rotation_vector(j, a, b), coordinates + 3);
}

const joint_type joint_free = {
    .dof = 6,
    .row_count = 0,
    .coordinate_count = 6,
    .axes = {{false, AXIS_OF_WORLD, 0},
             {false, AXIS_OF_WORLD, 1},
             {false, AXIS_OF_WORLD, 2},
             {true, AXIS_OF_WORLD, 0},
             {true, AXIS_OF_WORLD, 1},
             {true, AXIS_OF_WORLD, 2}},
    .mark = MARK_NONE,
    .planar = {.normal = {PLANAR_NOTHING, 0},
               .inside = {PLANAR_NOTHING, 0},
               .oblique = {PLANAR_NOTHING, 0}},
    .row = free_row,
    .motion = free_motion,
    .terms = free_terms,
    .begin = begin_nothing,
    .guess = free_guess,
    .advance = free_advance,
    .settle = free_settle,
    .coordinates = free_coordinates,
};
