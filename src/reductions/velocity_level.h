// SPDX-License-Identifier: MIT
// Velocities that are tangent at the end of a step, and what keeps energy and momenta exact with them.
// Note: docs/theory/ggl-energy-momentum.md
//
//   (B4)  M v_n+1 + 2 G(q_mid)^T gamma = M (2 Delta/h - v_n),   G(q_n+1) v_n+1 = 0
//   (B5)  c = [d(G(q) v_mid)/dq]^T gamma,   v_mid = (v_n + v_n+1)/2
//
// Rows of constraints are at most quadratic, so that G(q) v is bilinear and the gradient of a row at v is its change.
#ifndef REDUCTIONS_VELOCITY_LEVEL_H
#define REDUCTIONS_VELOCITY_LEVEL_H

#include "reductions/saddle.h"

/// Work memory.
typedef struct velocity_work {
    double *momentum, *middle; ///< 12 per body
    double *start, *change;    ///< 6 per body: twists
} velocity_work;

/// Solve (B4) and evaluate (B5) at the poses of a solved step from velocities `v_start`, with the rows that were chosen
/// in `rows` (SADDLE_TWISTS): velocities v_n+1 and forces c, 12 per body. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status velocity_level_solve(saddle *rows, const step_data *step, double step_size, const double *v_start,
                               const velocity_work *work, double *v, double *c);

/// 2 gamma of the cut joints in that solution, added to `closure`.
void velocity_level_add_closure(const saddle *rows, double *closure);

#endif
