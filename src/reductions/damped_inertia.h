// SPDX-License-Identifier: MIT
// The mass matrix with dampers on the motions that all joints allow: what the filter of velocities solves with (DF2).
// Note: docs/theory/forces.md
//
//   (M + J^T D J) x + G^T mu = J^T i,   G x = 0
//
// with J the rows of rates and D their strengths h c. On a tree whose dampers lie along joints, D adds numbers to the
// freedoms of each joint, and the matrix is eliminated in linear time; elsewhere by the sparse system of bodies.
#ifndef REDUCTIONS_DAMPED_INERTIA_H
#define REDUCTIONS_DAMPED_INERTIA_H

#include "reductions/saddle.h"

typedef struct damped_inertia damped_inertia;

/// `rows`: the bodies of all rates that there will ever be. @return HN_OK or HN_OUT_OF_MEMORY
hn_status damped_inertia_create(hn_system *system, const rate_row *rows, int count, damped_inertia **out);
void damped_inertia_destroy(damped_inertia *x);

/// Momenta p (12 per body), and those of rotors by row, projected at q on the motions that are allowed, by the mass
/// with its rotors alone: rates by row. The rows are kept. False: singular.
bool damped_inertia_project(damped_inertia *x, const double *q, const rate_row *rows, const double *p,
                            const double *rotors, double *rates);
/// Factor with dampers. False: singular.
bool damped_inertia_factor(damped_inertia *x);
/// Impulses by row on the damped mass: the rates they make.
void damped_inertia_respond(damped_inertia *x, const double *impulses, double *rates);
/// Twists (6 per body) and rates of the last response, for which the dampers left these impulses by row on the mass.
void damped_inertia_move(damped_inertia *x, const double *impulses, double *twists, double *rates);

#endif
