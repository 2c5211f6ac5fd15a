// SPDX-License-Identifier: MIT
// Latches that lock, rigid stops that are hit and motions whose rate jumps, located within the step.
#ifndef SIMULATION_EVENTS_H
#define SIMULATION_EVENTS_H

#include "simulation/simulation.h"

/// Impacts in one step, or one half of it, beyond which it fails and simulation->rattling says why.
enum { EVENTS_MAX = 200 };

/// Memory for impacts; nothing where the model has no latches, rigid stops or motions whose rate may jump.
void events_layout(arena *a, hn_simulation *simulation);
/// Does the step that was solved reach one?
bool events_reached(hn_simulation *simulation);
/// Does the rate of a motion jump in it, or at its end?
bool events_turn(const hn_simulation *simulation);
/// Fill a nominal step of size h from `time`, which was solved as a whole and reaches some, with parts that end at
/// them; on failure the state is that before it.
hn_status events_pass(hn_simulation *simulation, double h, double time);
/// The same without a way back, for a part of a nominal step.
hn_status events_fill(hn_simulation *simulation, double h, double time);

/// Is a coordinate beyond the value of its latch or stop at the state? Fails with a message that names it.
hn_status events_check_bounds(hn_simulation *simulation);

#endif
