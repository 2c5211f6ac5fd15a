// SPDX-License-Identifier: MIT
// Angles that count turns: of revolute, cylindrical, planar and universal joints, continued from state to state.
#ifndef SYSTEM_ANGLES_H
#define SYSTEM_ANGLES_H

#include "system/system.h"

/// Does the joint have such an angle? (One to a point mass has none.)
bool system_joint_counts_turns(const hn_system *system, int index);

/// Angle of the user's b relative to a at poses q, within half a turn of `near`.
double system_joint_angle(const hn_system *system, int index, const double *q, double near);

/// Places among the angles of joints: one per joint that counts turns, then two per joint with two angles.
static inline size_t system_joint_angle_count(const hn_system *system)
{
    return (size_t)(system->joint_count + 2 * system->pair_count);
}
/// Two angles of a joint at poses q, each within half a turn of what `angles` has, which takes them.
void system_joint_two_angles(const hn_system *system, int index, const double *q, double *angles);

/// Rate of that angle from the twists of the two bodies (NULL: the ground).
double system_joint_rate(const hn_system *system, int index, const double *q, const double *twist_a,
                         const double *twist_b);

/// Angle at the end of a step from that at its start. Bodies turn by less than half a turn in it, a joint may turn by
/// more; where a body comes close to that, `doubtful` is set.
double system_joint_angle_after(const hn_system *system, int index, const double *q_start, const double *q_end,
                                double angle_start, bool *doubtful);

#endif
