// SPDX-License-Identifier: MIT
// Rotations: the Cayley map inside a step, the exponential map for start values and reports.
//
//   cay(theta) = I + (theta^ + theta^ theta^/2) / (1 + |theta|^2/4)
//
// has the secant property (docs/decisions/cayley-maps.md): d1 = cay(theta) d0 gives d1 - d0 = theta x (d0 + d1)/2.
#ifndef BASE_ROTATION_H
#define BASE_ROTATION_H

#include "base/vector.h"

/// 1 / (1 + |theta|^2/4)
static inline double cayley_factor(hn_vec3 theta)
{
    return 1.0 / (1.0 + 0.25 * vec3_dot(theta, theta));
}

/// cay(theta) d - d to relative accuracy, with the factor of theta.
static inline hn_vec3 cayley_change(hn_vec3 theta, double factor, hn_vec3 d)
{
    hn_vec3 c = vec3_cross(theta, d);
    hn_vec3 cc = vec3_cross(theta, c);
    return (hn_vec3){factor * (c.x + 0.5 * cc.x), factor * (c.y + 0.5 * cc.y), factor * (c.z + 0.5 * cc.z)};
}

/// cay(theta) d
static inline hn_vec3 cayley_apply(hn_vec3 theta, hn_vec3 d)
{
    return vec3_add(d, cayley_change(theta, cayley_factor(theta), d));
}

/// Half of theta: cay(half) cay(half) = cay(theta), from tan(x/2) = tan x / (1 + sqrt(1 + tan^2 x)).
static inline hn_vec3 cayley_half(hn_vec3 theta)
{
    return vec3_scale(1.0 / (1.0 + sqrt(1.0 + 0.25 * vec3_dot(theta, theta))), theta);
}

/// theta with cay(theta) = cay(second) cay(first). Singular when the total is half a turn.
static inline hn_vec3 cayley_compose(hn_vec3 second, hn_vec3 first)
{
    // times 1/(1 - part), as a small sum: the rounded factor would be off by the same 1e-16 in every step of a steady
    // rotation, and energy would grow with their number
    double part = 0.25 * vec3_dot(second, first), more = part / (1.0 - part);
    hn_vec3 c = vec3_cross(second, first);
    hn_vec3 x = {second.x + first.x + 0.5 * c.x, second.y + first.y + 0.5 * c.y,
                 second.z + first.z + 0.5 * c.z};
    return (hn_vec3){x.x + more * x.x, x.y + more * x.y, x.z + more * x.z};
}

/// The same where the square of the second does not count.
static inline hn_vec3 cayley_compose_little(hn_vec3 second, hn_vec3 first)
{
    double part = 0.25 * vec3_dot(second, first);
    hn_vec3 c = vec3_cross(second, first);
    return (hn_vec3){first.x + (second.x + 0.5 * c.x + part * first.x),
                     first.y + (second.y + 0.5 * c.y + part * first.y),
                     first.z + (second.z + 0.5 * c.z + part * first.z)};
}

/// Rotation matrix exp(rotation_vector^), by Rodrigues' formula (BL 43).
hn_mat3 rotation_exponential(hn_vec3 rotation_vector);

/// Rotation matrix of a unit quaternion, the scalar first.
hn_mat3 rotation_of_quaternion(double w, double x, double y, double z);

/// Rotation vector of a rotation matrix, |angle| <= pi.
hn_vec3 rotation_logarithm(const hn_mat3 *rotation);

/// Rotation vector that takes three directors (nine numbers) to others, |angle| <= pi.
hn_vec3 rotation_between(const double *start, const double *end);

/// How far b turned against a about an axis that is fixed in a and starts as `axis`, when a turned by a rotation vector
/// and b by less than half a turn: `wrapped`, which is known to be that but for a whole turn, or the other one. On the
/// way to the right one q_a q_joint, the quaternion of b, has a positive scalar part, on the other way a negative one.
/// `margin`: its size, 0 when b turned by half a turn.
double rotation_turn(hn_vec3 axis, hn_vec3 a, double wrapped, double *margin);

/// The angle that differs from `angle` by whole turns and is nearest to `near`.
static inline double angle_near(double angle, double near)
{
    const double turn = 6.283185307179586;
    return angle + turn * nearbyint((near - angle) / turn);
}

#endif
