// SPDX-License-Identifier: MIT
// The equations of motion at a state, in independent coordinates: accelerations, efforts of prescribed motions,
// constraint
// forces. Note: docs/theory/linearisation.md
#ifndef SIMULATION_STATE_DYNAMICS_H
#define SIMULATION_STATE_DYNAMICS_H

#include "simulation/motion_frame.h"
#include "simulation/state_forces.h"

/// What dry friction does at the state; all per drive.
typedef struct state_friction {
    bool *sticks;    ///< it holds its coordinate
    int *ways;       ///< it slides along its coordinate (1), against it (-1); 0: neither
    double *normals; ///< N, reaction force of its joint
    void *memory;
} state_friction;

typedef struct state_dynamics {
    hn_simulation *simulation;
    motion_frame frame;
    double *v, *a;         ///< velocities that fit the joints, accelerations: 12 per body
    double *rates;         ///< of the chosen coordinates
    double *accelerations; ///< of the chosen coordinates
    double *force;         ///< all but what rotors and motions take: 12 per body
    double *turned;        ///< accelerations of constant rates: 12 per body
    double *mass;          ///< count x count, with rotors
    double *inverse;       ///< of its free part
    int *candidates;       ///< per drive: the coordinate it acts on
    double *ways;          ///< per drive: rates of its coordinate by those chosen, count each
    law_slopes *laws;      ///< per drive
    double *bends;         ///< per drive: acceleration of its coordinate at constant rates
    double *efforts;       ///< per drive: along its coordinate, of its law, less its rotor's
    double *hold_efforts;  ///< per relation that holds: what that takes
    double *multipliers;   ///< as saddle_solve_motion
    double *scratch;       ///< 12 per body
    state_friction friction;
    void *memory;
} state_dynamics;

/// Equations at the current state of a simulation with velocities `v` (NULL: its own), with the current inputs.
/// Prescribed coordinates have the rates and accelerations of their motions. state_dynamics_end in any case. With `v`
/// nothing is observed: positions may be others than those of the simulation. `wish`: as motion_frame_begin.
/// @return as motion_frame_begin
hn_status state_dynamics_begin(hn_simulation *simulation, const double *v, const frame_wish *wish, state_dynamics *x);
void state_dynamics_end(state_dynamics *x);

/// Free coordinates: how many, and T of one.
static inline int dynamics_free_count(const state_dynamics *x)
{
    return x->frame.count - x->frame.driven_count;
}

static inline const double *dynamics_free_motion(const state_dynamics *x, int k)
{
    return frame_motion(&x->frame, x->frame.driven_count + k);
}

/// The current velocities, 12 per body, as they are.
void simulation_velocities(hn_simulation *simulation, double *v);

#endif
