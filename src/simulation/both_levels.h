// SPDX-License-Identifier: MIT
// A step whose velocities are tangent at its end: the equations of a reduction and those of velocities in turn.
#ifndef SIMULATION_BOTH_LEVELS_H
#define SIMULATION_BOTH_LEVELS_H

#include "simulation/simulation.h"

void both_levels_layout(arena *a, hn_simulation *simulation);

/// Solve the step whose equations stand in `step`. On success its velocities are those at t_n+1, and its momentum b and
/// closure multipliers are those of lambda, for reactions. @return as a reduction's solve
hn_status both_levels_solve(hn_simulation *simulation, solved_step *step, const newton_options *options,
                            step_guess guess);
/// The same once more for the step that was solved, or not, before: another reduction or first iterate.
hn_status both_levels_solve_again(hn_simulation *simulation, solved_step *step, const newton_options *options,
                                  step_guess guess);
/// The step has become the state: what the next one is predicted from.
void both_levels_record(hn_simulation *simulation, const solved_step *step, bool keep_history);

#endif
