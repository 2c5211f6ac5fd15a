// SPDX-License-Identifier: MIT
// Mechanisms that nothing connects take a step apart from each other where one of them needs smaller ones: the others
// go on as they would alone. Note: docs/theory/energy-momentum.md
#ifndef SIMULATION_APART_H
#define SIMULATION_APART_H

#include "base/arena.h"
#include "base/context.h"

#include <stdbool.h>

struct hn_simulation;
typedef struct hold hold;

/// What a step changes of bodies, joints and elements.
typedef struct apart_state {
    double *q, *impetus;                ///< 12 per body
    double *memory;                     ///< of the scheme
    double *angles;                     ///< torsional springs and drives
    double *joint_angles, *joint_slack; ///< per joint of the model
    double *multipliers;                ///< of a scheme with its own solver
    double *owed, *strengths, *held;    ///< of dampers: per rate, per element, per mechanism
} apart_state;

/// The last steps of all mechanisms, for reactions.
typedef struct apart_steps {
    double *q_start, *delta; ///< 12 per body
    double *angle_start;
    double *pull;    ///< N, 12 per body: rho over h
    double *closure; ///< N, per row of cut joints
    double longest;  ///< s, of all these steps
    double reaction_time, multiplier_time; ///< s, of that one
} apart_steps;

typedef struct apart_record {
    bool *parked; ///< per body: it stands still while others take their step
    apart_state begin, end;
    double *curvatures; ///< `both_levels`: history before the step
    apart_steps steps;
    hold *holds; ///< what holds coordinates, in its order
    int hold_count;
    void *point; ///< snapshot before the step
} apart_record;

void apart_layout(arena *a, struct hn_simulation *simulation);
/// May a step that fails, or in which a stop is hit, be taken by mechanisms apart?
bool apart_is_possible(const struct hn_simulation *simulation);
/// Take the nominal step of size h from `time`, which has failed as a whole or meets events: mechanisms whose steps are
/// solved as they are, and each of the others in halves or by its events. On failure the state is that before it. No
/// message is set.
hn_status apart_step(struct hn_simulation *simulation, double h, double time);

#endif
