// SPDX-License-Identifier: MIT
// What `energy-decaying` adds to a step: stresses and momenta that lag behind the changes of strains and of their
// rates. Note: docs/theory/energy-decaying.md
//
//   (Z1)  S = C ( (E_n + E_n+1)/2 - E_0 + alpha/2 (dE_n - dE_n-1) ),   dE_n = E_n+1 - E_n
//   (Z2)  M Delta/h = M (v_n + v_n+1)/2 + D,   D = B(q_mid)^T sigma
//   (Z3)  M (v_n+1 - v_n) = ... - h [d(B(q) v_mid)/dq]^T sigma
//   (Z4)  sigma = alpha/2 kappa (dr_n - dr_n-1),   r = B(q) v,   kappa = (B M_e^-1 B^T)^-1 at the start
//
// (Z1) is in the elements' gradients. Vectors without inertia have no part in r.
#ifndef SYSTEM_DECAY_H
#define SYSTEM_DECAY_H

#include "system/step.h"

/// Numbers per element that a step remembers of the one before: changes of strains, changes of rates.
enum { DECAY_MEMORY = 2 * ELEMENT_STRAINS_MAX };

/// Changes of the strains of element `index` in the step before.
static inline const double *decay_strains_before(const step_data *step, int index)
{
    return step->history + DECAY_MEMORY * (size_t)index;
}

/// Masses of rates (Z4), once per system. @return HN_OK or HN_OUT_OF_MEMORY
hn_status decay_prepare(hn_system *system);

/// Find v_n+1 and D that belong to the iterate, and add what they are in the residual to step->force.
void decay_add_forces(const hn_system *system, const step_equations *equations, const step_data *step);

/// The tangent of that, but for D in other elements and what is small with h |omega|.
void decay_add_block(const hn_system *system, const step_equations *equations, const step_data *step, int index,
                     element_block *block);
void decay_add_terms(const hn_system *system, const step_equations *equations, const step_data *step, int index,
                     element_output *out);

/// After a step, with v_n+1 in `velocity` and `memory` as it was at its start (DECAY_MEMORY per element, `stride`
/// apart), with the alpha of the step before: what is lost goes to step->losses and step->works, and the memory becomes
/// that of this step.
void decay_finish(const hn_system *system, const step_equations *equations, const step_data *step,
                  double strength_before, const double *velocity, size_t stride, double *memory);

#endif
