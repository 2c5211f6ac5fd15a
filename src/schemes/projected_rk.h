// SPDX-License-Identifier: MIT
// `projected-rk` seen from inside: what tests and reports may ask its solver.
#ifndef SCHEMES_PROJECTED_RK_H
#define SCHEMES_PROJECTED_RK_H

#include "schemes/jet_space.h"
#include "schemes/scheme.h"

extern const scheme_type scheme_projected_rk;

/// Run characteristics, as the tables of TAN give them.
typedef struct projected_rk_statistics {
    int64_t steps; ///< accepted
    int64_t rejected;
    int64_t projections;       ///< onto the constraints
    int64_t iterations;        ///< Newton iterations in them
    int iterations_max;        ///< in one projection
    int64_t distributions;     ///< evaluations of Algorithm 3.2
    int64_t rows;              ///< evaluations of g and dg
    int64_t second_derivatives; ///< components d^2 g^i evaluated
    int64_t third_derivatives;  ///< components d^3 g^i evaluated, where they are not zero
    int64_t factorizations;    ///< of S, or of the matrix of the orthogonal projection
    int64_t invariants;        ///< evaluations of df_inv
    double step_min, step_max; ///< s, accepted
    // the next four only while points are watched
    double position_worst;     ///< largest |g| at accepted steps and reported states, over the length where it is one
    double velocity_worst;     ///< largest |dg y_1|, likewise, over max(1, |w|)
    double energy_worst;       ///< J, largest |T + U - W_ext - (T + U - W_ext at the start)|
    double energy_last;        ///< J, the same now, with sign
} projected_rk_statistics;

projected_rk_statistics projected_rk_get_statistics(const scheme_solver *solver);
/// Watch constraints and energy at every point; off at the start, because it costs time itself.
void projected_rk_set_watching(scheme_solver *solver, bool on);
/// Residual at which projections stop (m over the length, rad); 1e-12 at the start.
void projected_rk_set_projection_tolerance(scheme_solver *solver, double tolerance);
/// Internal steps of one size (s) instead of controlled ones, whatever the nominal step; 0, at the start: controlled.
void projected_rk_set_internal_step(scheme_solver *solver, double step_size);
/// Called after every accepted internal step, at its end: with dense output the last one may be ahead of the state.
typedef void (*projected_rk_observer)(void *user, double time, double step_size, const double *q, const double *v);
void projected_rk_set_observer(scheme_solver *solver, projected_rk_observer observer, void *user);
/// The state space of a solver.
const jet_space *projected_rk_space(const scheme_solver *solver);

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
