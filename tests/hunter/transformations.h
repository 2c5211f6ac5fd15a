// SPDX-License-Identifier: MIT
// The same machine said differently: turned, moved, mirrored, in other units, its parts renamed, reordered, the bodies
// of its joints swapped. What is measured of it is said back in the words of the first.
#ifndef TESTS_HUNTER_TRANSFORMATIONS_H
#define TESTS_HUNTER_TRANSFORMATIONS_H

#include "hunter/plan.h"
#include "hunter/random_model.h"

/// x' = length (turn S x + move), with S = diag(-1, 1, 1) where it is mirrored.
typedef struct transformation {
    hn_mat3 turn;
    bool mirror;
    hn_vec3 move;              ///< m, of before
    double length, mass, time; ///< numbers of the new units over those of the old ones
    bool reversed, swapped;    ///< order of parts; bodies of joints where coordinates stay what they are
    char prefix;               ///< of names; 'a': as drawn
} transformation;

transformation no_transformation(void);
/// Can the world be turned and moved? Not where drives lead bodies along its axes.
bool can_turn(const plan *p);
/// `to` must be another plan than `from`.
void plan_transform(const plan *from, const transformation *t, plan *to);
/// The same machine with all that may be a little different, by about `part`: masses, loads, springs, rates, places of
/// bodies at their joints.
void plan_disturb(plan *p, draw *d, double part);

/// Sign that a coordinate of a joint has after the transformation.
double coordinate_sign(const transformation *t, hn_joint_kind kind, int coordinate);

/// Back in the words of before: vectors of the world, polar and axial ones, and directions of a body's frame.
hn_vec3 back_polar(const transformation *t, hn_vec3 v);
hn_vec3 back_axial(const transformation *t, hn_vec3 v);
hn_vec3 back_place(const transformation *t, hn_vec3 x);
hn_mat3 back_orientation(const transformation *t, bool beam, const hn_mat3 *r);

/// Units of the new description over those of the old one.
static inline double force_unit(const transformation *t)
{
    return t->mass * t->length / (t->time * t->time);
}
static inline double energy_unit(const transformation *t)
{
    return force_unit(t) * t->length;
}

#endif
