// SPDX-License-Identifier: MIT
// An iterate moved away from where it is, for tests of Newton's method.
#ifndef UNIT_DISTURBED_STEP_H
#define UNIT_DISTURBED_STEP_H

#include "support/generic_models.h"
#include "system/step.h"

/// Move every joint of the tree away from where it is, root to leaves; loops open.
static inline void disturb(const hn_system *system, step_data *step, double size)
{
    static const body_step ground = {0};
    number_source numbers = {81};
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        int p = j->parent;
        double u[JOINT_DOF_MAX];
        for (int k = 0; k < j->dof; ++k) u[k] = size * next_number(&numbers);
        joint_type_of(j->kind)->advance(j, u, system_pose(step->q_start, p),
                                        system_pose(step->q, p), system_pose(step->q_start, i),
                                        system_pose(step->q, i), p < 0 ? &ground : &step->bodies[p],
                                        &step->joints[i], &step->bodies[i]);
        step_pose_from_body(system, step, i);
        step_delta_from_body(system, step, i);
    }
}

#endif
