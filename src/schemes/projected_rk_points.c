// SPDX-License-Identifier: MIT
// `projected-rk` at a point: the projections (P5), (P6) onto M and the distribution (P2), (P3).
// Note: docs/theory/projected-rk.md
#include "schemes/projected_rk_solver.h"

#include "schemes/euler_parameters.h"

#include <string.h>

static const double SLOW_CONTRACTION = 0.25; // iterations that gain less ask for new factors
static const double POLISHING = 0.1; // near flat positions iterations go on while they gain as much
enum { PROJECTION_ITERATIONS_MAX = 25 };

// ---- projection (P5), (P6) ------------------------------------------------------------------------------

static void count_projection(scheme_solver *s, int iterations)
{
    s->statistics.projections++;
    s->statistics.iterations += iterations;
    if (iterations > s->statistics.iterations_max) s->statistics.iterations_max = iterations;
}

double rk_evaluate_rows(scheme_solver *s)
{
    s->statistics.rows++;
    return jet_evaluate_rows(&s->jet);
}

bool rk_factor(scheme_solver *s, jet_metric metric)
{
    if (s->jet.tree != NULL) return true; // it factors where it has to
    return jet_factor(&s->jet, metric, &s->worst_body);
}

bool rk_factor_both(scheme_solver *s)
{
    if (s->jet.tree != NULL) return true;
    return jet_factor_both(&s->jet, &s->worst_body);
}

// y from a (theta of unit length) by y = a - H^T c, normalised, with c = B(y)^T mu and g(y) = 0. Inexact Newton: any
// approximate B B^T leads to the same y, and the factors of the last point are tried first. Rows are left evaluated
// at y.
bool rk_land_position(scheme_solver *s, const double *a, double tolerance, double *y)
{
    jet_space *jet = &s->jet;
    size_t rows = (size_t)jet->row_count, width = (size_t)jet->w_count * sizeof(double);
    double last = HUGE_VAL;
    int count = 0;
    if (jet->tree != NULL) {
        s->statistics.rows++;
        if (!jet_tree_land_position(jet, a, tolerance, y, &count)) return false;
        count_projection(s, count);
        return true;
    }
    memcpy(y, a, (size_t)jet->y_count * sizeof(double));
    memset(s->mu, 0, rows * sizeof(double));
    memset(s->shift, 0, width);
    for (;; ++count) {
        jet_set_position(jet, y);
        double residual = rk_evaluate_rows(s);
        if (residual <= tolerance && !(s->close && residual > 0.0 && residual < POLISHING * last))
            break;
        if (count >= PROJECTION_ITERATIONS_MAX || !isfinite(residual)) return false;
        if (count > 0 && residual > tolerance && residual > SLOW_CONTRACTION * last &&
            !rk_factor(s, METRIC_EUCLIDEAN))
            return false;
        last = residual;
        // g where the normals of the new point would lead with the same mu: g + B (c_old - c)
        memset(s->scratch, 0, width);
        memcpy(s->rate, jet->g, rows * sizeof(double));
        if (count > 0) {
            jet_add_rows_transposed(jet, METRIC_EUCLIDEAN, 1.0, s->mu, s->scratch);
            for (int k = 0; k < jet->w_count; ++k) s->shift[k] -= s->scratch[k];
            jet_apply_rows(jet, s->shift, s->rate);
            for (size_t k = 0; k < rows; ++k) s->rate[k] += jet->g[k];
        }
        jet_solve(jet, METRIC_EUCLIDEAN, s->rate);
        for (size_t k = 0; k < rows; ++k) s->mu[k] += s->rate[k];
        jet_add_rows_transposed(jet, METRIC_EUCLIDEAN, 1.0, s->rate, s->scratch);
        memcpy(s->shift, s->scratch, width);
        jet_move(jet, a, y, -1.0, s->scratch, y);
    }
    count_projection(s, count);
    return true;
}

// w with B w = 0 at the current position, where both systems are factored
bool rk_land_velocity(scheme_solver *s, double *w)
{
    jet_space *jet = &s->jet;
    if (jet->tree != NULL) {
        jet_tree_land_velocity(jet, w);
        return true;
    }
    if (!rk_factor_both(s)) return false;
    // near flat positions: what errors of accelerations leave is across the motion in the kinetic metric
    jet_metric metric = s->close ? METRIC_KINETIC : METRIC_EUCLIDEAN;
    jet_apply_rows(jet, w, s->rate);
    jet_solve(jet, metric, s->rate);
    jet_add_rows_transposed(jet, metric, -1.0, s->rate, w);
    return true;
}

// theta of s->a on its spheres
void rk_normalise_parameters(scheme_solver *s)
{
    const jet_space *jet = &s->jet;
    for (int i = 0; i < jet->body_count; ++i)
        if (jet->bodies[i].kind == JET_RIGID) euler_normalise(s->a + jet->bodies[i].y + 3);
}

// (P5) or (P6): the point (y, w) of M that belongs to (s->a, s->a1); S is factored there
bool rk_project(scheme_solver *s, double tolerance, double *y, double *w)
{
    jet_space *jet = &s->jet;
    bool good;
    if (jet->tree == NULL) rk_normalise_parameters(s);
    if (s->orthogonal != NULL) {
        const newton_options options = {.residual_tolerance = tolerance,
                                        .iterations_max = PROJECTION_ITERATIONS_MAX};
        newton_report report = {0};
        double *y1 = s->error; // not yet in use when a stage is projected
        good = orthogonal_projection_solve(s->orthogonal, s->a, s->a1, &options, y, y1, &report) ==
               HN_OK;
        int count = report.iterations;
        s->statistics.rows += count + 1;
        int curved, kept = orthogonal_projection_row_count(s->orthogonal, &curved);
        s->statistics.second_derivatives += (int64_t)(count + 1) * kept;
        s->statistics.third_derivatives += (int64_t)(count + 1) * curved;
        count_projection(s, count);
        if (good) {
            jet_set_position(jet, y);
            rk_evaluate_rows(s);
            jet_velocities(jet, y, y1, w);
            good = s->loops ? rk_factor_both(s) : rk_factor(s, METRIC_KINETIC);
        }
    } else {
        good = rk_land_position(s, s->a, tolerance, y);
        if (good) {
            jet_velocities(jet, y, s->a1, w);
            good = rk_land_velocity(s, w);
        }
    }
    return good;
}

bool rk_take_free(scheme_solver *s, bool both, double *y, double *w)
{
    jet_space *jet = &s->jet;
    rk_normalise_parameters(s);
    memcpy(y, s->a, (size_t)jet->y_count * sizeof(double));
    jet_set_position(jet, y);
    jet_find_rows(jet);
    s->statistics.rows++;
    jet_velocities(jet, y, s->a1, w);
    return both ? rk_factor_both(s) : rk_factor(s, METRIC_KINETIC);
}

// ---- distribution (P2), (P3) ----------------------------------------------------------------------------

bool rk_distribution(scheme_solver *s, const double *y, const double *w, jet_moment moment,
                     int stage)
{
    jet_space *jet = &s->jet;
    if (jet->tree == NULL) jet_set_velocity(jet, w); // landing on a tree did that
    jet_forces(jet, moment);
    if (jet->tree == NULL) jet_distribution(jet, w);
    else if (!jet_tree_distribution(jet, w)) return false;
    jet_rates(jet, y, w, s->k[stage]);
    jet_second_rates(jet, y, w, jet->acceleration, s->k[stage] + jet->y_count);
    memcpy(s->power[stage], jet->power, (size_t)jet->mechanism_count * sizeof(double));
    s->statistics.distributions++;
    s->statistics.second_derivatives += jet->row_count;
    return true;
}
