// SPDX-License-Identifier: MIT
// Start velocities of models with loops from fewer rates than degrees of freedom.
#ifndef SIMULATION_START_VELOCITIES_H
#define SIMULATION_START_VELOCITIES_H

#include "simulation/simulation.h"

/// Of all velocities that the joints allow and that meet what the model gives, those of least kinetic energy: they do
/// not depend on how the model is written. For models with few degrees of freedom; others keep what they have.
hn_status start_velocities_complete(hn_simulation *simulation, const hn_model *model);

/// Velocities that motions and couplings ask for: the smallest change, in the metric of masses, with which they have
/// their rates and what the model says of velocities stays. Where there is none the check of the start tells.
hn_status start_velocities_follow(hn_simulation *simulation, const hn_model *model);

#endif
