// SPDX-License-Identifier: MIT
// Redundant constraints in reports: which joints share self-stresses, and reactions of minimum norm.
#ifndef SIMULATION_REDUNDANCY_H
#define SIMULATION_REDUNDANCY_H

#include "simulation/simulation.h"

void redundancy_destroy(hn_simulation *simulation);

/// The state has changed.
void redundancy_invalidate(hn_simulation *simulation);
/// Bring simulation->redundancy.shared up to date.
hn_status redundancy_update(hn_simulation *simulation);
/// Replace multipliers of joints by the smallest ones that exert the same forces in a step.
hn_status redundancy_minimise(hn_simulation *simulation, const solved_step *step, double *multipliers);
/// A loop whose geometry is not quite exact, at the start.
hn_status redundancy_find_misfit(hn_simulation *simulation, loop_misfit *misfit);
/// Refuse start velocities that fit no way on from a singular position.
hn_status redundancy_check_start(hn_simulation *simulation);

/// Name a start from where motions cannot all go on: start_kind and singular_joints. `projected-rk` refuses it, as
/// accelerations are not determined there.
hn_status redundancy_find_singular_start(hn_simulation *simulation);

#endif
