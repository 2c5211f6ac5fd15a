// SPDX-License-Identifier: MIT
// What others who hold a simulation need of it: a share in its life, and whom it belongs to.
#ifndef SIMULATION_OWNERSHIP_H
#define SIMULATION_OWNERSHIP_H

#include <holonom/simulation.h>

/// One more owner: hn_simulation_destroy frees when the last one calls it.
hn_simulation *simulation_retain(hn_simulation *simulation);

/// model_identity of the model it was made from, as the model was then.
uint64_t simulation_model_identity(const hn_simulation *simulation);

/// Was it created with a ledger?
bool simulation_has_ledger(const hn_simulation *simulation);

#endif
