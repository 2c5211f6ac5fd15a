// SPDX-License-Identifier: MIT
// Long steps are solved by one rule, whatever the reduction.
#ifndef SIMULATION_LONG_STEPS_H
#define SIMULATION_LONG_STEPS_H

#include "simulation/simulation.h"

/// The reductions that solve them, that of the run among them or not.
hn_status long_steps_create(hn_simulation *simulation);
void long_steps_destroy(hn_simulation *simulation);

/// Is the solution so far from where the velocities lead that the iteration may have found anything?
bool long_steps_seem(hn_simulation *simulation, const solved_step *step);
/// The rule is not for steps in which drives or couplings hold coordinates: may mechanisms without them need it?
bool long_steps_pass_unseen(hn_simulation *simulation, const solved_step *step);
/// Solve such a step from the state alone; sets `ambiguous` where it has several solutions.
hn_status long_steps_solve(hn_simulation *simulation, solved_step *step, const newton_options *options);

#endif
