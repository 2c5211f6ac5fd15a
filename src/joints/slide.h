// SPDX-License-Identifier: MIT
// Sliding parts of the prismatic, cylindrical and planar joints: the child's point moves along vectors of the parent.
#ifndef JOINTS_SLIDE_H
#define JOINTS_SLIDE_H

#include "joints/joint.h"

/// Offset of the child's joint point from the parent's along vector `axis` of the parent's frame.
static inline double slide_offset(const joint *j, int axis, const double *parent, const double *child)
{
    hn_vec3 link = vec3_subtract(pose_point(child, joint_child_arm(j)), pose_point(parent, joint_parent_arm(j)));
    return vec3_dot(link, pose_direction(parent, joint_parent_frame(j)[axis]));
}

/// Secant of offset * vector over the step: (offset - offset_n) x_mid + offset_mid theta_p x x_mid. The change of the
/// offset is the accumulated increment itself: a difference of offsets would lose its last digits.
static inline hn_vec3 slide_secant(const joint *j, int axis, int slot, const double *parent_start,
                                   const double *parent, const body_step *parent_step, const joint_step *step)
{
    hn_vec3 local = joint_parent_frame(j)[axis];
    hn_vec3 middle = vec3_mean(pose_direction(parent_start, local), pose_direction(parent, local));
    double change = step->increment[slot];
    double mean = 0.5 * (step->offset[slot] + step->offset_start[slot]);
    return vec3_add_scaled(vec3_scale(change, middle), mean, vec3_cross(parent_step->rotation, middle));
}

#endif
