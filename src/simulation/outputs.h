// SPDX-License-Identifier: MIT
// Outputs of a model, found for a state when they are asked for.
#ifndef SIMULATION_OUTPUTS_H
#define SIMULATION_OUTPUTS_H

#include <holonom/simulation.h>

typedef struct output_set output_set;

/// The outputs of a model for a simulation of it; `*out` stays NULL where there are none.
hn_status outputs_create(hn_simulation *simulation, const hn_model *model, output_set **out);
void outputs_destroy(hn_context *context, output_set *outputs);

/// Numbers of all outputs at the current state.
hn_status outputs_find(hn_simulation *simulation, double *values);

/// The first output that was no finite number when it was looked at, by its place in the model, and when (s); -1: none.
int outputs_not_finite(const output_set *outputs, double *time);

#endif
