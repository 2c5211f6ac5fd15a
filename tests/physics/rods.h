// SPDX-License-Identifier: MIT
// Loops of bars of any width: with none they are rods, which have no inertia about their own line.
#ifndef PHYSICS_RODS_H
#define PHYSICS_RODS_H

#include "physics/ladder.h"

/// A ladder of two four-bars that hangs, and swings by more than a right angle.
static inline mechanism rod_ladder(double width)
{
    mechanism m = ladder_mechanism(2, 4.0, true);
    for (int k = 0; k < m.body_count; ++k) {
        double w2 = width * width;
        m.bodies[k].inertia = vec3(w2 / 6.0, (1.0 + w2) / 12.0, (1.0 + w2) / 12.0);
    }
    return m;
}

/// Bricard's hexagon along the edges of a cube.
static inline mechanism rod_hexagon(double width)
{
    static const hn_vec3 CORNERS[6] = {{1, 0, 0},  {1, -1, 0}, {1, -1, 1},
                                       {0, -1, 1}, {0, 0, 1},  {0, 0, 0}};
    static const hn_vec3 AXES[6] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    mechanism m = mechanism_create(6, vec3(0.0, -9.81, 0.0));
    for (int k = 0; k < 5; ++k) mechanism_bar(&m, CORNERS[k], CORNERS[k + 1], 1.0, width);
    for (int k = 0; k < 6; ++k)
        mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k == 0 ? MECHANISM_GROUND : k - 1,
                                k == 5 ? MECHANISM_GROUND : k, CORNERS[k], AXES[k]);
    return m;
}

/// Crank, rod and rocker in space: a ball joint at one end of the rod, a universal joint at the other holds its spin.
static inline mechanism rod_coupler(double width)
{
    const hn_vec3 crank = {0.0, 0.0, 0.0}, pin = {0.3, 0.0, 0.0}, ball = {0.2, 1.1, 0.9},
                  rocker = {0.2, 1.5, 0.1};
    mechanism m = mechanism_create(4, vec3(0.0, 0.0, -9.81));
    mechanism_bar(&m, crank, pin, 1.0, width);
    mechanism_bar(&m, pin, ball, 1.0, width);
    mechanism_bar(&m, ball, rocker, 1.0, width);
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, MECHANISM_GROUND, 0, crank, unit3(0, 0.1, 1));
    int universal = mechanism_joint_between(&m, HN_JOINT_UNIVERSAL, 0, 1, pin, unit3(0, 0, 1));
    m.joints[universal].second = unit3(1, 0, 0);
    mechanism_joint_between(&m, HN_JOINT_SPHERICAL, 1, 2, ball, vec3(0.0, 0.0, 0.0));
    mechanism_joint_between(&m, HN_JOINT_REVOLUTE, 2, MECHANISM_GROUND, rocker, unit3(1, 0.2, 0));
    m.joints[0].has_rate = true;
    m.joints[0].rate = 5.0;
    return m;
}

typedef struct rod_mechanism {
    const char *name;
    mechanism (*create)(double width);
} rod_mechanism;

enum { ROD_MECHANISM_COUNT = 3 };
static const rod_mechanism ROD_MECHANISMS[ROD_MECHANISM_COUNT] = {
    {"ladder", rod_ladder}, {"hexagon", rod_hexagon}, {"coupler", rod_coupler}};

#endif
