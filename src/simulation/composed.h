// SPDX-License-Identifier: MIT
// Orders 4, 6 and 8: a step as a symmetric composition of substeps of the scheme (docs/theory/composition.md).
#ifndef SIMULATION_COMPOSED_H
#define SIMULATION_COMPOSED_H

#include "simulation/simulation.h"

/// Choose scheme and composition for the order in the definition; 0 there becomes the order of the model's run, and the
/// scheme's own becomes 0. @return HN_OK, HN_INVALID_ARGUMENT (the scheme has no such order), HN_INVALID_MODEL
/// (something in the model has no way back in time)
hn_status composed_choose(hn_simulation *simulation, const hn_model *model);
/// Dampers are weak enough for substeps back in time. @return HN_OK or HN_INVALID_MODEL
hn_status composed_check_dampers(hn_simulation *simulation);
/// h c/m above which they are not.
extern const double COMPOSED_DAMPER_MAX;

/// Predictions of every substep from the same one in past steps: memory, forgetting all.
void composed_layout(arena *a, hn_simulation *simulation);
void composed_forget(hn_simulation *simulation);

/// Size of the next substep, s.
double composed_next_size(const hn_simulation *simulation);
/// One composed step from `time`; from velocities alone where history is not to be kept. On failure the state is
/// somewhere within it.
hn_status composed_step(hn_simulation *simulation, double step_size, double time, bool keep_history, bool may_leap);
/// The nominal step, in more and more parts where it fails and the scheme allows it; on failure the state before it.
hn_status composed_nominal_step(hn_simulation *simulation, double step_size, double time);

/// First corner of a load or of a function of a drive between two times, HUGE_VAL: none. There a step loses its order.
double composed_next_corner(const hn_simulation *simulation, double begin, double end);
/// A step in composed parts, so many before the first corner, between corners and after the last.
hn_status composed_run_parts(hn_simulation *simulation, double h, double time, int parts);

#endif
