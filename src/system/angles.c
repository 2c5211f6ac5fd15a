// SPDX-License-Identifier: MIT
// Angles that count turns: of revolute, cylindrical, planar and universal joints, continued from state to state.
#include "system/angles.h"

#include "base/rotation.h"
#include "system/close_loops.h"

// A body nearer to half a turn in a step, by half of the angle that is missing, may have gone the other way round.
static const double DOUBTFUL_TURN = 0.05; // rad

bool system_joint_counts_turns(const hn_system *system, int index)
{
    const joint *rows = &system->reports[index].rows;
    bool to_point = rows->child >= 0 && !system->bodies[rows->child].has_directors;
    return joint_angle_place(rows->kind) >= 0 && !to_point;
}

static double signed_angle(const hn_system *system, int index, const double *q)
{
    const system_joint *report = &system->reports[index];
    const joint *j = &report->rows;
    double coordinates[HN_JOINT_COORDINATES_MAX];
    joint_type_of(j->kind)->coordinates(j, system_pose(q, j->parent), system_pose(q, j->child),
                                        coordinates);
    double angle = coordinates[joint_angle_place(j->kind)];
    return report->rows_swapped ? -angle : angle;
}

double system_joint_angle(const hn_system *system, int index, const double *q, double near)
{
    return angle_near(signed_angle(system, index, q), near);
}

void system_joint_two_angles(const hn_system *system, int index, const double *q, double *angles)
{
    const joint j = system_user_joint(system, index);
    double now[HN_JOINT_COORDINATES_MAX];
    joint_type_of(j.kind)->coordinates(&j, system_pose(q, j.parent), system_pose(q, j.child), now);
    for (int k = 0; k < 2; ++k) angles[k] = angle_near(now[k], angles[k]);
}

double system_joint_rate(const hn_system *system, int index, const double *q, const double *twist_a,
                         const double *twist_b)
{
    const system_joint *report = &system->reports[index];
    const joint *j = &report->rows;
    hn_vec3 axis = pose_direction(system_pose(q, j->parent), j->a[2]), still = {0.0, 0.0, 0.0};
    hn_vec3 a = twist_a == NULL ? still : vec3_load(twist_a + 3),
            b = twist_b == NULL ? still : vec3_load(twist_b + 3);
    double rate = vec3_dot(axis, vec3_subtract(b, a));
    return report->rows_swapped ? -rate : rate;
}

double system_joint_angle_after(const hn_system *system, int index, const double *q_start,
                                const double *q_end, double angle_start, bool *doubtful)
{
    const system_joint *report = &system->reports[index];
    const joint *j = &report->rows;
    const double *start = system_pose(q_start, j->parent), *end = system_pose(q_end, j->parent);
    double sign = report->rows_swapped ? -1.0 : 1.0, margin;
    double wrapped = sign * (system_joint_angle(system, index, q_end, angle_start) - angle_start);
    double turn = rotation_turn(pose_direction(start, j->a[2]),
                                rotation_between(start + 3, end + 3), wrapped, &margin);
    if (margin < DOUBTFUL_TURN) *doubtful = true;
    return angle_start + sign * turn;
}
