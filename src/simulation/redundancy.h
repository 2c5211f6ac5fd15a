// SPDX-License-Identifier: MIT
// Redundant constraints: self-stresses of the joints, and reactions of minimum norm.
#ifndef SIMULATION_REDUNDANCY_H
#define SIMULATION_REDUNDANCY_H

#include "simulation/simulation.h"

/// Self-stresses are multipliers of joints (all joint rows, in model order) that exert no force: orthonormal rows of
/// simulation->stress.basis. Beyond a few hundred joint rows they are not computed.
hn_status redundancy_create(hn_simulation *simulation);
void redundancy_destroy(hn_simulation *simulation);

/// Bring the self-stresses up to date.
hn_status redundancy_update(hn_simulation *simulation);
/// Is the reaction of a joint free of self-stress?
bool redundancy_joint_unique(const hn_simulation *simulation, int joint);
/// Take the self-stress out of multipliers of joints: the smallest ones that exert the same forces.
void redundancy_minimise(const hn_simulation *simulation, double *joint_multipliers);

/// Constraints that nearly follow from the others at the start: a loop whose geometry is not quite exact.
typedef struct redundancy_misfit {
    int count;
    double size; ///< the largest, relative to the constraints
    int joint;    ///< a joint on the loop, model index; -1: none
} redundancy_misfit;
/// None are found in models too large for self-stresses.
hn_status redundancy_find_misfit(hn_simulation *simulation, redundancy_misfit *misfit);

#endif
