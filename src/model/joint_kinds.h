// SPDX-License-Identifier: MIT
// What files and programs say of each kind of joint: places, axes, coordinates, the bodies that it takes.
#ifndef MODEL_JOINT_KINDS_H
#define MODEL_JOINT_KINDS_H

#include <holonom/model.h>

/// Axes that the definition of a joint gives.
typedef enum joint_axes {
    AXES_NONE,
    AXES_ONE,
    AXES_NORMAL, ///< of a plane, with a direction in it
    AXES_TWO,    ///< at right angles
} joint_axes;

typedef struct joint_coordinate_facts {
    const char *word;
    const char *unit;
} joint_coordinate_facts;

/// A kind of joint between bodies. Its word is in HN_JOINT_KIND_LIST, its mechanics in joints/ (`joint_type`).
typedef struct joint_kind_facts {
    joint_axes axes;
    bool anywhere;            ///< its place need not be said
    bool between_points;      ///< it has two places, one on each body
    bool takes_points;        ///< point masses
    bool takes_planar_points; ///< point masses in a plane
    int scalar_count;         ///< so many, the first ones, are each one by itself: drives and couplings take them
    bool threaded;            ///< its displacement follows its angle by a pitch: a coupling comes with the joint
    int coordinate_count;
    joint_coordinate_facts coordinates[HN_JOINT_COORDINATES_MAX];
} joint_kind_facts;

/// Of a kind, or of no joint at all where the number is none.
const joint_kind_facts *joint_kind_facts_of(hn_joint_kind kind);
/// Place of the first component of a rotation vector among its coordinates, or -1: three that belong together.
int joint_kind_rotation_place(hn_joint_kind kind);
/// Has it one angle about its axis, which counts turns?
bool joint_kind_has_angle(hn_joint_kind kind);

#endif
