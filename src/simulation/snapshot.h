// SPDX-License-Identifier: MIT
// Snapshots inside the library: the state put aside before a step that may be halved.
#ifndef SIMULATION_SNAPSHOT_H
#define SIMULATION_SNAPSHOT_H

#include "simulation/simulation.h"

/// Put the state aside in a buffer of hn_simulation_snapshot_size bytes, and take it back; nothing is checked.
void snapshot_keep(const hn_simulation *simulation, void *buffer);
void snapshot_take_back(hn_simulation *simulation, const void *buffer);

#endif
