// SPDX-License-Identifier: MIT
// Snapshots inside the library: the state put aside before a step that may be halved, and states of a batch.
#ifndef SIMULATION_SNAPSHOT_H
#define SIMULATION_SNAPSHOT_H

#include "simulation/simulation.h"

/// Put the state aside in a buffer of hn_simulation_snapshot_size bytes, and take it back; nothing is checked.
void snapshot_keep(const hn_simulation *simulation, void *buffer);
void snapshot_take_back(hn_simulation *simulation, const void *buffer);

/// Bytes of a state; no part of it is a pointer.
size_t snapshot_state_size(const hn_simulation *simulation);
/// The same with a block of `count` states, as structure of arrays: each part of all states side by side. Of one
/// simulation's model, scheme and settings.
void snapshot_keep_in(const hn_simulation *simulation, void *block, size_t count, size_t index);
void snapshot_take_from(hn_simulation *simulation, const void *block, size_t count, size_t index);

#endif
