// SPDX-License-Identifier: MIT
// The sparse block system over bodies and joints that saddle-point solvers share: who is a block, and in which order.
//
// A body with its unknowns is a block. The multipliers of a joint that lies on no loop belong to the child's block;
// those of a joint on a loop are a block of their own that is eliminated after its two bodies.
#ifndef REDUCTIONS_JOINT_BLOCKS_H
#define REDUCTIONS_JOINT_BLOCKS_H

#include "linalg/block_lu.h"
#include "system/system.h"

/// Where the rows of a joint stand.
typedef struct joint_place {
    const joint *rows;
    int a, b;       ///< bodies or GROUND
    int node;       ///< block
    int place;      ///< first row in the block
    int multiplier; ///< first of its multipliers
} joint_place;

/// One joint on the way round a cycle.
typedef struct cycle_joint {
    int joint;    ///< index into `joints`
    bool forward; ///< the way leads from its body a to its body b
} cycle_joint;

/// A shortest way round a loop: `count` joints from `first` on, the last of them to be eliminated in front.
typedef struct joint_cycle {
    int first, count;
} joint_cycle;

typedef struct joint_blocks {
    block_lu *lu;
    joint_place *joints;  ///< tree joints by body, then cut joints
    int joint_count;
    int multiplier_count; ///< rows of all joints
    int loop_row_count;   ///< rows of joints on loops
    int width;            ///< unknowns (and equations) in a block per constraint row
    joint *turned;        ///< option `as_defined`: cut joints that the user has with the ground as b
    joint_cycle *cycles;  ///< option `cycles`: one for every joint that closes a loop
    cycle_joint *way;     ///< the joints of all cycles
    int cycle_count;
    int *sequence;        ///< joints on loops, counted alone, as they follow their bodies; with `cycles` the order of
                          ///< their blocks
    pool memory;
} joint_blocks;

/// What a solver asks for beyond one unknown for every row of the tree's joints.
typedef struct joint_blocks_options {
    int width;       ///< unknowns for every constraint row of a joint: row_count of the first kind, then of the second
    bool as_defined; ///< rows with bodies a and b as the user has them, not as parent and child of the tree; the ground
                     ///< is always a
    bool coupled;    ///< bodies of a joint on a loop meet beside its rows, so that a solver may add their square
    bool cycles;     ///< couple each joint that closes a loop of joints eliminated before with those of a shortest such
                     ///< loop; rows that depend on others stand in joints that close one
} joint_blocks_options;

/// Analyse a system with `body_sizes[i]` unknowns for each body, followed in its block by the rows of its tree joint.
/// On failure nothing is left to destroy.
hn_status joint_blocks_create(hn_system *system, const int *body_sizes, const joint_blocks_options *options,
                              joint_blocks *blocks);
void joint_blocks_destroy(joint_blocks *blocks);

/// The joint's rows are a block of their own.
static inline bool joint_is_block(const hn_system *system, const joint_place *place)
{
    return place->node >= system->body_count;
}

/// Such a joint with a body that has no inertia about its own line: the body's block alone is singular, and its bodies
/// are coupled so that a solver may add the square of the rows to it.
bool joint_is_at_rod(const hn_system *system, const joint_place *place);

#endif
