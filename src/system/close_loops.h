// SPDX-License-Identifier: MIT
// Loops of a system closed at its start poses, with the least change of what is not given.
//
// Unknown are the increments u of the tree's joints; equations are the rows of cut joints and the coordinates of joints
// that are given, as far as these are not held by leaving their columns out. Rows and columns are in units of their
// mechanism (m over its length, rad), so that nothing depends on what a metre is. A step is that of
// Levenberg and Marquardt,
//
//   min |J u + r|^2 + mu^2 |u|^2,   mu = factor |r|                                                               (Y1)
//
// with the least u where rows depend on each other. With mu of the size of r it converges quadratically also where the
// rank drops on the way to the solution, as it does in every overconstrained linkage: off the manifold its redundant
// rows are independent by O(|r|), and what they ask for is damped as much. Note: docs/theory/assembly.md
#ifndef SYSTEM_CLOSE_LOOPS_H
#define SYSTEM_CLOSE_LOOPS_H

#include "system/system.h"

/// Coordinates of a joint of the model that are to have these values.
typedef struct given_joint {
    int joint;     ///< -1 - i: the place and rotation vector of body i in the world, like those of a free joint
    unsigned mask; ///< bit k: coordinate k
    double value[HN_JOINT_COORDINATES_MAX]; ///< m, rad
} given_joint;

typedef struct loop_closure {
    int iterations;
    bool closed;
    double worst;    ///< largest row that is left, m over the length of the mechanism or rad
    int worst_joint; ///< of the model; negative as above
} loop_closure;

/// Move the start poses, which must fulfil the joints of the tree and the coordinates of given joints that are held.
/// @return HN_OK (closed or not), HN_OUT_OF_MEMORY, HN_INVALID_MODEL (too large)
hn_status system_close_loops(hn_system *system, const given_joint *given, int given_count, loop_closure *out);

/// A joint of the model with a and b as the user has them; negative as above.
joint system_user_joint(const hn_system *system, int index);

#endif
