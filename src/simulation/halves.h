// SPDX-License-Identifier: MIT
// Steps that are made in halves, and halves of these.
#ifndef SIMULATION_HALVES_H
#define SIMULATION_HALVES_H

#include "simulation/simulation.h"

/// A step of size h from time t, in halves when it fails; `depth` halvings have been made already.
hn_status halves_step(hn_simulation *simulation, double h, double t, int depth);
/// The nominal step of size h from `time` in halves, from the state as it is; on failure that state again.
hn_status halves_fill_from_here(hn_simulation *simulation, double h, double time);
/// A solved step that meets events (events.h), part by part; in halves where a part is too long.
hn_status halves_pass_events(hn_simulation *simulation, double h, double time);
/// A solved step that leaps (passages.h): does it end where smaller steps do? Then it stays; otherwise theirs do.
hn_status halves_look_before_leap(hn_simulation *simulation, double h, double time);

#endif
