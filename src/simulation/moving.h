// SPDX-License-Identifier: MIT
// What moves a state whose small motions are asked for at rest.
#ifndef SIMULATION_MOVING_H
#define SIMULATION_MOVING_H

#include "simulation/simulation.h"

/// Logs by name what moves or turns: a prescribed motion, now or later, or velocities of the state.
void moving_tell(hn_simulation *simulation, const double *velocities);

#endif
