// SPDX-License-Identifier: MIT
// A torque between two bodies about one axis of the first, and the turn that it does work on.
// Note: docs/theory/prescribed.md (O6)
//
// Signs are those of joint_effort.h: a positive effort acts against the coordinate.
#ifndef ELEMENTS_ROTATION_EFFORT_H
#define ELEMENTS_ROTATION_EFFORT_H

#include "elements/element.h"

/// `effort` about the axis, with the directors of the pose (1 - weight) q_n + weight q_n+1.
void rotation_effort(const element *e, const element_step *step, double weight, double effort, element_output *out);
/// How far b turns against a about the axis in a step: what the effort at weight 1/2 does work on, exactly.
double rotation_change(const element *e, const element_step *step);
/// The rate of that turn as a row on the velocities of both bodies, 24 numbers that are zero before.
void rotation_rate_row(const element *e, const double *a, const double *b, double *row);

/// A rotation path at a time: the frame of b seen from that of a, its angular velocity and acceleration in a's frame.
typedef struct rotation_jet {
    hn_mat3 turn;
    hn_vec3 velocity, acceleration; ///< rad/s, rad/s^2
} rotation_jet;
/// (O4) of an element of a path: the product of the turns about its three axes.
rotation_jet rotation_path_at(const element *e, double time);
/// (O5): the rotation vector, in a's frame, that takes where the path says b is to where it is; of this element's row.
double rotation_path_off(const element *e, const double *a, const double *b, double time);
/// Likewise from one time of the path to another.
double rotation_path_way(const element *e, double begin, double end);

/// The axis in the directors of a: one of (a1, a2, a1 x a2).
static inline hn_vec3 rotation_axis(const element *e)
{
    return e->law->path_row == 0 ? e->a1 : e->law->path_row == 1 ? e->a2 : vec3_cross(e->a1, e->a2);
}

/// Component of a vector in a's frame that belongs to the element.
static inline double rotation_component(const element *e, hn_vec3 x)
{
    return e->law->path_row == 0 ? x.x : e->law->path_row == 1 ? x.y : x.z;
}

#endif
