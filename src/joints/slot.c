// SPDX-License-Identifier: MIT
// Slot joint: a point of b stays on a line of a and slides along it; b turns freely.
//
//        a ==o===== b           g = a1 . e,  a2 . e
//             line along a3 through p_a, on a whichever body is the child
//
//   A = [I, (phi_p - phi_c)^; 0, I],   B = [a1 x a2, arm^; 0, I],   arm = p_b - phi_c
//
// The rows are two of the cylindrical joint's (BL 107), the turn is that of the spherical joint (BL 90) relative to the
// parent. Its sides differ: the body that the user calls a has the line.
#include "joints/slide.h"

static void slot_row(const joint *j, int index, constraint_row *row)
{
    row_point_in_plane(j, index, row);
}

static hn_vec3 arm_to_b(const joint *j, const double *parent, const double *child)
{
    if (!j->child_is_a) return pose_direction(child, j->rho_b);
    return vec3_subtract(pose_point(parent, j->rho_b), pose_center(child));
}

static void slot_motion(const joint *j, const joint_step *step, const double *parent,
                        const double *child, motion *m)
{
    (void)step;
    const double *a = j->child_is_a ? child : parent;
    hn_vec3 arm = arm_to_b(j, parent, child);
    motion_carry_rigid(parent, child, m);
    motion_add_translation(m, vec3_cross(pose_direction(a, j->a[0]), pose_direction(a, j->a[1])));
    motion_add_rotation(m, arm, vec3(1.0, 0.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 1.0, 0.0));
    motion_add_rotation(m, arm, vec3(0.0, 0.0, 1.0));
}

static int slot_terms(const joint *j, const joint_step *step, const double *parent,
                      const double *child, hn_vec3 force, hn_vec3 moment, motion_term *terms)
{
    (void)step, (void)moment;
    const double *a = j->child_is_a ? child : parent;
    int count = term_translation(0, j->child_is_a, j->a[0], pose_direction(a, j->a[0]), j->a[1],
                                 pose_direction(a, j->a[1]), force, terms);
    // delta r = delta arm . (axis x F) about the three axes of the world
    const hn_vec3 z[3] = {vec3(0.0, -force.z, force.y), vec3(force.z, 0.0, -force.x),
                          vec3(-force.y, force.x, 0.0)};
    for (int k = 0; k < 3; ++k) {
        terms[count++] =
            (motion_term){1 + k, !j->child_is_a, j->child_is_a ? 1.0 : 0.0, j->rho_b, z[k]};
        if (j->child_is_a)
            terms[count++] = (motion_term){1 + k, true, -1.0, vec3(0.0, 0.0, 0.0), z[k]};
    }
    return count;
}

// The axis of the line on the body that has it.
static hn_vec3 line_of(const joint *j, const double *parent, const double *child)
{
    return pose_direction(j->child_is_a ? child : parent, j->a[2]);
}

static void slot_begin(const joint *j, const double *parent, const double *child, joint_step *step)
{
    hn_vec3 link = vec3_subtract(pose_point(child, joint_child_arm(j)),
                                 pose_point(parent, joint_parent_arm(j)));
    step->offset[0] = step->offset_start[0] = vec3_dot(link, line_of(j, parent, child));
}

static void slot_guess(const joint *j, const joint_step *step, const double *increment,
                       const double *child, double *u)
{
    (void)j, (void)step;
    u[0] = increment[0];
    vec3_store(pose_direction(child, vec3_load(increment + 1)), u + 1);
}

// Secant of offset * line over the step where the child carries the line
static hn_vec3 secant_on_child(const joint *j, const double *child_start,
                               const body_step *child_step, const joint_step *step)
{
    hn_vec3 start = pose_direction(child_start, j->a[2]);
    hn_vec3 change =
        cayley_change(child_step->rotation, cayley_factor(child_step->rotation), start);
    double mean = 0.5 * (step->offset[0] + step->offset_start[0]);
    return vec3_add_scaled(vec3_scale(step->increment[0], vec3_add_scaled(start, 0.5, change)),
                           mean, change);
}

static void slot_advance(const joint *j, const double *u, const double *parent_start,
                         const double *parent, const double *child_start, const double *child,
                         const body_step *parent_step, joint_step *step, body_step *child_step)
{
    (void)child;
    advance_rotation(cayley_compose(vec3_load(u + 1), parent_step->turn), child_step);
    // what the child turned beyond its parent, in its own directors
    hn_vec3 beyond = cayley_compose(child_step->rotation, vec3_negate(parent_step->rotation));
    vec3_store(pose_components(child_start, beyond), step->increment + 1);
    step->increment[0] += u[0];
    step->offset[0] = step->offset_start[0] + step->increment[0];
    hn_vec3 slide = j->child_is_a ? secant_on_child(j, child_start, child_step, step)
                                  : slide_secant(j, 2, 0, parent_start, parent, parent_step, step);
    advance_position(j, parent_start, child_start, parent_step, slide, child_step);
}

static void slot_settle(const joint *j, const joint_step *step, const double *parent, double *child)
{
    settle_directors(vec3(0.0, 0.0, 0.0), child);
    settle_point(j,
                 vec3_add_scaled(pose_point(parent, joint_parent_arm(j)), step->offset[0],
                                 line_of(j, parent, child)),
                 child);
}

static void slot_coordinates(const joint *j, const double *a, const double *b, double *coordinates)
{
    hn_vec3 link = vec3_subtract(pose_point(b, j->rho_b), pose_point(a, j->rho_a));
    coordinates[0] = vec3_dot(link, pose_direction(a, j->a[2]));
    vec3_store(joint_rotation_vector(j, a, b), coordinates + 1);
}

const joint_type joint_slot = {
    .dof = 4,
    .row_count = 2,
    .coordinate_count = 4,
    .axes = {{false, AXIS_OF_A, 2},
             {true, AXIS_OF_WORLD, 0},
             {true, AXIS_OF_WORLD, 1},
             {true, AXIS_OF_WORLD, 2}},
    .keeps_sides = true,
    .sides_differ = true,
    .mark = MARK_LINE,
    .mark_b = MARK_POINT,
    .planar = {.normal = {PLANAR_PIN, 0}},
    .row = slot_row,
    .motion = slot_motion,
    .terms = slot_terms,
    .begin = slot_begin,
    .guess = slot_guess,
    .advance = slot_advance,
    .settle = slot_settle,
    .coordinates = slot_coordinates,
};
