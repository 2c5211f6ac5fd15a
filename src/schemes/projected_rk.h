// SPDX-License-Identifier: MIT
// The scheme `projected-rk`, and its full orthogonal projection.
#ifndef SCHEMES_PROJECTED_RK_H
#define SCHEMES_PROJECTED_RK_H

#include "schemes/jet_space.h"
#include "schemes/scheme.h"

extern const scheme_type scheme_projected_rk;

// ---- the full orthogonal projection (orthogonal_projection.c) -------------------------------------------

typedef struct orthogonal_projection orthogonal_projection;
hn_status orthogonal_projection_create(jet_space *jet, orthogonal_projection **out);
void orthogonal_projection_destroy(orthogonal_projection *p);
/// Solve (TAN 5.1, 5.2) for the point (y, y_1) nearest to (a, a_1), until the residual is below its tolerance.
/// @return HN_OK, HN_NOT_CONVERGED or HN_SINGULAR_SYSTEM
hn_status orthogonal_projection_solve(orthogonal_projection *p, const double *a, const double *a1,
                                      const newton_options *options, double *y, double *y1, newton_report *report);
/// Residual and tangent at any point and multipliers, for tests: dense, row-major, `size` unknowns in the solver's
/// order.
int orthogonal_projection_size(const orthogonal_projection *p);
/// Rows that are kept, and those among them whose third derivative is not zero: what an iteration evaluates.
int orthogonal_projection_row_count(const orthogonal_projection *p, int *curved);
void orthogonal_projection_residual(orthogonal_projection *p, const double *a, const double *a1, const double *x,
                                    double *residual, double *tangent);

#endif
