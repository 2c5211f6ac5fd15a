// SPDX-License-Identifier: MIT
// Inputs: efforts on joint coordinates, forces and torques on bodies, what drives are told; set between steps and held
// over them. Note:
// docs/theory/forces.md
#ifndef SIMULATION_INPUTS_H
#define SIMULATION_INPUTS_H

#include <holonom/simulation.h>

#include "base/arena.h"

typedef struct simulation_inputs {
    size_t coordinate_count, body_count, drive_count;
    double *values; ///< efforts (coordinate_count), forces, torques (3 per body), and for every drive a number or NAN,
                    ///< in the order of the model
    double *solved; ///< those of the step that was solved last
} simulation_inputs;

/// Numbers in `values`; 0 in a simulation without inputs.
size_t inputs_count(const hn_simulation *simulation);

/// Lay out their memory.
void inputs_layout(arena *a, hn_simulation *simulation);

/// The values before anyone has set one.
void inputs_start(hn_simulation *simulation);

/// Let the elements of inputs act with the current values in a step of size h from the current state.
void inputs_apply(hn_simulation *simulation, double h);
/// No wrenches on bodies, until they are applied again.
void inputs_lift(hn_simulation *simulation);

/// Ask the controller for the inputs of the next step. @return what it says, or as simulation_observe
hn_status inputs_control(hn_simulation *simulation);

/// Were values changed since a step was solved with them?
bool inputs_changed(const hn_simulation *simulation);

#endif
