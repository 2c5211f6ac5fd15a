// SPDX-License-Identifier: MIT
// What halving may cost: a step far too long for the motion ends the run instead of taking hundreds of times as long as
// one of the right size would. All of it in Newton iterations. Note: docs/theory/energy-momentum.md
#ifndef SIMULATION_STEP_COST_H
#define SIMULATION_STEP_COST_H

#include <stdbool.h>
#include <stdint.h>

/// Ordinary steps that a step may cost in the long run, and what may be spent beyond that at once: a passage that needs
/// fine halves for a moment has them.
enum { STEP_COST_TIMES = 50, STEP_COST_AT_ONCE = 4000 };

/// No part of the state: a run that goes on from a snapshot has all of it again.
typedef struct step_cost {
    int64_t iterations; ///< of all attempts so far
    int64_t begin;      ///< of them, those before the step that is being made
    double owed;        ///< beyond STEP_COST_TIMES ordinary steps each, of the steps so far
} step_cost;

struct hn_simulation;

/// A step begins; it has become the state.
void step_cost_begin(struct hn_simulation *simulation);
void step_cost_end(struct hn_simulation *simulation);
/// Has it cost so much that it is not to be halved any more? Then the report of Newton's method says so.
bool step_cost_is_spent(struct hn_simulation *simulation);
/// Ordinary steps that the last ones took, beyond those that each may take.
double step_cost_owed(const struct hn_simulation *simulation);

#endif
