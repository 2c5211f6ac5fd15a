// SPDX-License-Identifier: MIT
// What a step is told from outside that is no finite number.
#ifndef SIMULATION_NOT_FINITE_H
#define SIMULATION_NOT_FINITE_H

#include "simulation/simulation.h"

/// Fails with its name where an input, or the function of a load or drive, is not finite in the next step.
/// @return HN_OK or HN_NOT_FINITE
hn_status not_finite_from_outside(hn_simulation *simulation);
/// The same with the status of a step that has failed, where nothing from outside is the cause.
hn_status not_finite_cause(hn_simulation *simulation, hn_status status);
/// Likewise where forces at a time are asked for,
hn_status not_finite_now(hn_simulation *simulation, double time);
/// or value, rate and acceleration of motions.
hn_status not_finite_motions(hn_simulation *simulation, double time);

#endif
