// SPDX-License-Identifier: MIT
// Steps of varying size that fill the nominal one. Note: docs/theory/step-control.md
#ifndef SIMULATION_STEP_CONTROL_H
#define SIMULATION_STEP_CONTROL_H

#include "base/arena.h"
#include "base/context.h"

#include <stdint.h>

enum { CONTROL_DEPTH = 3 }; // steps that the predictor looks back where they vary

struct hn_simulation;

/// Part of the state.
typedef struct step_control {
    double step;                 ///< s, the next inner step as accuracy would have it; 0: not known yet
    double error;                ///< of the last one, over the tolerance; 0: not known, -1: it was made shorter
    double sizes[CONTROL_DEPTH]; ///< s, of the last inner steps, newest first
    int known;                   ///< so many of the last increments are known, at most two
    double last_step;            ///< s, the last one taken
    double smallest, largest;    ///< s, of all that were taken
    int64_t accepted_count, rejected_count;
} step_control;

void step_control_layout(arena *a, struct hn_simulation *simulation);
/// After a change of the state from outside: the past says nothing.
void step_control_forget(struct hn_simulation *simulation);
/// Fill a nominal step of size h from `time`; on failure the state is that before it.
hn_status step_control_fill(struct hn_simulation *simulation, double h, double time);
/// Weights of the last increments, newest first, in the first iterate of a step of size h: what their mean rates
/// extrapolate to (SC4)
void step_control_weights(const struct hn_simulation *simulation, double h, double *weights);

#endif
