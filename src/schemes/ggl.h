// SPDX-License-Identifier: MIT
// What the two schemes with two sets of multipliers share: unknowns, Newton's method, reports.
// Note: docs/theory/ggl-variational.md
//
// Per body x = h v, W = h M^-1 p_n+1 and y = q_n+1 - q_n, all lengths; per constraint lambda' = h^2 lambda/m* and
// gamma' = h gamma/m* with m* the largest mass, M' = M/m*. With G_l at the pose of the primary multipliers, G_z at that
// of the secondary ones, H = sum gamma'_k D^2 g_k (a constant matrix: constraints are quadratic) and f the forces at
// q_n, those of dampers with the velocity v:
//
//   (G1)  M' x = h (p_n + h f)/m* - G_l^T lambda'
//   (G2)  M' W + eps H W = M' x                        eps = 1: `ggl-variational`, 0: `ggl-classical` (then W = x)
//   (G3)  M' (y - x) = G_z^T gamma'
//   (G4)  g(q_n + y) = 0
//   (G5)  G_z W = 0
//
//   `ggl-variational`: G_l = G(q_n), G_z = G(q_n + x);   `ggl-classical`: G_l = G_z = G(q_n + y)
//
// Redundant rows are left out of (G4). On the manifold they hold all the same; for (G5) of `ggl-variational`, off the
// manifold, ggl_stress.h says what takes their place.
#ifndef SCHEMES_GGL_H
#define SCHEMES_GGL_H

#include "schemes/scheme.h"

extern const scheme_type scheme_ggl_variational;
extern const scheme_type scheme_ggl_classical;

/// Work memory for the variational (H kept, two poses) or the classical form.
/// @return HN_OK, HN_OUT_OF_MEMORY, HN_INVALID_MODEL (a flat body: its mass matrix has no inverse)
hn_status ggl_create_variational(hn_system *system, const hn_simulation_def *def, scheme_solver **out);
hn_status ggl_create_classical(hn_system *system, const hn_simulation_def *def, scheme_solver **out);
void ggl_destroy(scheme_solver *solver);
hn_status ggl_step(scheme_solver *solver, scheme_step *step, const newton_options *options, newton_report *report);

// ---- for tests --------------------------------------------------------------------------------------

/// How well both levels hold after the last step, over all rows and over the rows that were equations.
typedef struct ggl_levels {
    double primary;        ///< max |g(q_n+1)|, all rows
    double secondary;      ///< max |G_z M^-1 p_n+1| over the rows that were equations: m/s, 1/s
    double secondary_all;  ///< likewise over all rows, redundant ones included
    double secondary_node; ///< max |G(q_n+1) M^-1 p_n+1|, all rows
    double speed;          ///< max |M^-1 p_n+1|, to compare with
    int redundant_count;   ///< rows left out of g(q_n+1) = 0 in the last step
    int spread_count;      ///< those whose secondary level a self-stress has taken over, (G8) of ggl_stress.h
} ggl_levels;
ggl_levels ggl_last_levels(const scheme_solver *solver);

/// gamma of the last step, of a row of a joint in the solver's own order, in which internal ones come first; kg/s times
/// the unit of 1/G^T.
double ggl_secondary_multiplier(const scheme_solver *solver, int row);

// the Newton system at any place

/// Number of unknowns.
int ggl_size(const scheme_solver *solver);
/// Begin a step: row choice, forces, first iterate. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status ggl_begin(scheme_solver *solver, const scheme_step *step);
/// Add `change` (ggl_size numbers) to the unknowns.
void ggl_move(scheme_solver *solver, const double *change);
/// Residual at the iterate and, unless NULL, the dense row-major matrix.
void ggl_evaluate(scheme_solver *solver, double *residual, double *matrix);

#endif
