// SPDX-License-Identifier: MIT
// Newton's method on the sparse saddle-point system: independent rows, iteration, rows whose rank came back.
#ifndef REDUCTIONS_SADDLE_NEWTON_H
#define REDUCTIONS_SADDLE_NEWTON_H

#include "reductions/saddle.h"

/// Move the iterate by the last solution of the system; returns the size of the increment (rad, m over the length).
typedef double (*saddle_move)(void *owner, step_data *step);

/// Solve a step. The factors of the last matrix are left for what follows; multipliers are stored in step->closure.
/// @return HN_OK, HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM
hn_status saddle_newton(saddle *s, const step_equations *equations, step_data *step, const newton_options *options,
                        newton_report *report, saddle_move move, void *owner);

#endif
