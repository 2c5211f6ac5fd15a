// SPDX-License-Identifier: MIT
// The scheme `convected`, and its equations laid open for tests.
#ifndef SCHEMES_CONVECTED_H
#define SCHEMES_CONVECTED_H

#include "schemes/scheme.h"

extern const scheme_type scheme_convected;

/// Unknowns of a Newton iteration: 24 per rigid body, 6 or 4 per point mass, and the multipliers of all joints.
int convected_unknown_count(const scheme_solver *solver);

/// How much round-off the last step took out of directors (q) and their momenta (p, kg m^2/s) after its solution.
void convected_settled(const scheme_solver *solver, double *q, double *p);

/// Residual and dense row-major tangent of the step at its first iterate moved by `change`, all of that many unknowns.
/// @return HN_OK, HN_NOT_CONVERGED (the midpoint directors are flat) or HN_SINGULAR_SYSTEM
hn_status convected_linearise(scheme_solver *solver, const scheme_step *step, const double *change, double *residual,
                              double *tangent);

#endif
