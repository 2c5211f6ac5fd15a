// SPDX-License-Identifier: MIT
// Closed loops for the reduction `reduced`: joint increments of the tree as unknowns, closure multipliers kept.
#ifndef REDUCTIONS_CLOSED_H
#define REDUCTIONS_CLOSED_H

#include "reductions/reduction.h"
#include "reductions/saddle.h"

typedef struct closed closed;

hn_status closed_create(hn_system *system, closed **out);
/// The same for statics; its system of bodies and joints is `closed_system`.
hn_status closed_create_for_statics(hn_system *system, closed **out);
saddle *closed_system(closed *c);
/// What else there is beside bodies and joints: called with the twists of every increment, 6 per body, which it may
/// change. False: they lead nowhere.
typedef bool (*closed_correction)(void *owner, double *twists);
void closed_set_correction(closed *c, closed_correction correct, void *owner);
void closed_destroy(closed *c);
hn_status closed_solve(closed *c, const step_equations *equations, step_data *step, const newton_options *options,
                       newton_report *report);

/// Remove round-off from joints and closures alike: move every body by a first-order correction of all constraints (6
/// per body), then put it exactly on its tree joint. Like the settling of a tree it moves q alone and leaves the
/// increments of the step as they are. At a singular position round-off would be moved about and not removed: a
/// correction that large is not made.
void closed_settle(const hn_system *system, const double *twists, step_data *step);

#endif
