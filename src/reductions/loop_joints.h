// SPDX-License-Identifier: MIT
// Joints on loops and their constraint rows on the twists of bodies, in a metric of lengths:
//
//   G S^1/2,   S^-1 = diag(1, l^2) for every body, l the largest arm of its joints
//
// Dependence of rows does not depend on the metric, so it is taken from lengths and not from masses: thin and light
// bodies do not spoil the angles between rows.
#ifndef REDUCTIONS_LOOP_JOINTS_H
#define REDUCTIONS_LOOP_JOINTS_H

#include "system/system.h"

typedef struct loop_joint {
    const joint *rows;
    int body[2];   ///< or GROUND
    int first_row; ///< among the rows of these joints
} loop_joint;

/// One row: G S^1/2 for each of the two bodies, zero for the ground.
typedef double loop_row[2][TWIST_SIZE];

/// 1/l for every body.
void loop_joints_turn_scales(const hn_system *system, const loop_joint *joints, int joint_count, double *turn_scale);

/// The rows of all joints at the poses q.
void loop_joints_rows(const hn_system *system, const loop_joint *joints, int joint_count, const double *turn_scale,
                      const double *q, loop_row *rows);

#endif
