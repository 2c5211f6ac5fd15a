// SPDX-License-Identifier: MIT
// How well the equations of a step were solved: the ledger's line "equations".
#ifndef SIMULATION_EQUATIONS_H
#define SIMULATION_EQUATIONS_H

#include "simulation/simulation.h"

/// Is the step after the current one among those whose residual is measured? The first ones, then one of several.
bool equations_are_due(const hn_simulation *simulation);

/// Note the residual of the step just solved: every body's relative to the terms that cancel in it, its own and what
/// its joints transmit.
void equations_note(hn_simulation *simulation, const solved_step *step);

/// J, of a mechanism: what round-off of places leaves open of the work of its springs so far, three times its deviation
/// as a random walk.
double equations_stiff_round_off(const hn_simulation *simulation, int mechanism);

#endif
