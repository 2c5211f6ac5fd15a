// SPDX-License-Identifier: MIT
// Steps that go over a part of a table of a spring or damper and see its ends alone. Note: docs/theory/drives.md
#ifndef SIMULATION_BARRIERS_H
#define SIMULATION_BARRIERS_H

#include "base/arena.h"

#include <stdbool.h>

struct hn_simulation;
struct solved_step;

typedef struct barrier_space {
    double *momentum, *twists; ///< 12 and 6 per body; NULL: no drive has a table
    bool *named;               ///< per drive
} barrier_space;

void barriers_layout(arena *a, struct hn_simulation *simulation);
/// The drive over whose table the solved step leaps (D15), (D16), or -1.
int barriers_leapt(struct hn_simulation *simulation, const struct solved_step *step);
/// Name it, once: the step is taken all the same.
void barriers_name(struct hn_simulation *simulation, const struct solved_step *step, int drive);

#endif
