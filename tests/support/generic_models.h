// SPDX-License-Identifier: MIT
// Numbers, poses and small models without any symmetry, the same in every run: for tests at generic states.
#ifndef TESTS_GENERIC_MODELS_H
#define TESTS_GENERIC_MODELS_H

#include <holonom/holonom.h>

#include "base/rotation.h"

/// Kinds of joints that are rows alone, which every scheme takes: a screw is the rows of a cylindrical joint and a
/// coupling (physics/test_couplings.c).
enum { ROW_JOINT_KIND_COUNT = HN_JOINT_SCREW };

/// Repeatable numbers (splitmix64); start it with any value.
typedef struct number_source {
    uint64_t state;
} number_source;

/// In [-1, 1).
double next_number(number_source *numbers);
/// Components in [-size, size).
hn_vec3 next_vector(number_source *numbers, double size);
/// A unit vector.
hn_vec3 next_direction(number_source *numbers);
/// A rotation by up to half a turn about a generic axis.
hn_mat3 next_rotation(number_source *numbers);

/// Three bodies of generic inertia, the first free, joined by two joints of one kind at generic places and moving in a
/// generic way under gravity; the second joint has its bodies in the other order, so that both orders occur.
/// A free kind means three free bodies.
typedef struct generic_chain {
    hn_joint_kind kind;
    hn_body_kind
        tip; ///< what the third body is: point masses go with free, distance and spherical joints
    bool grounded; ///< a spherical joint holds the first body
    bool
        springs; ///< springs and dampers between neighbours, between the ends and to the ground; loads
    double speed; ///< scales all start velocities; 1: about 1 rad/s, 1 m/s
    uint64_t seed;
} generic_chain;

/// Build it with `context`, whose messages are shown when a call fails. The caller destroys the model.
hn_model *generic_chain_model(hn_context *context, const generic_chain *chain);

#endif
