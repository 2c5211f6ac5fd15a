// SPDX-License-Identifier: MIT
// The scheme `convected`, and its equations laid open for tests.
#ifndef SCHEMES_CONVECTED_H
#define SCHEMES_CONVECTED_H

#include "schemes/scheme.h"

extern const scheme_type scheme_convected;

/// Unknowns of a Newton iteration: 6 per rigid body, 3 or 2 per point mass, and the multipliers of all joints.
int convected_unknown_count(const scheme_solver *solver);

/// Residual and dense row-major tangent of the step at its first iterate moved by `change` and then by `more`, all of
/// that many unknowns. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status convected_linearise(scheme_solver *solver, const scheme_step *step, const double *change, const double *more,
                              double *residual, double *tangent);

#endif
