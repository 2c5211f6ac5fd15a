// SPDX-License-Identifier: MIT
// Long steps are solved by one rule, whatever the reduction.
#ifndef SIMULATION_LONG_STEPS_H
#define SIMULATION_LONG_STEPS_H

#include "simulation/simulation.h"

/// Did the iteration begin so far from what it found that it may have found anything?
bool long_steps_seem(const hn_simulation *simulation);
/// Solve such a step from the state alone; sets `ambiguous` where it has several solutions.
hn_status long_steps_solve(hn_simulation *simulation, solved_step *step, const newton_options *options);

#endif
