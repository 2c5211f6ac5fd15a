// SPDX-License-Identifier: MIT
// Dense output of `projected-rk`: the state at any time of the last internal step, by (P9), at order eight by (P14).
// Note: docs/theory/projected-rk.md
#include "schemes/projected_rk_solver.h"

#include <string.h>

// Integrals from 0 to t, once and twice, of the quartic that is 1 at one of the quarters and 0 at the others
static void integral_weights(double t, double *once, double *twice)
{
    // of Newton's polynomials 1, x, x (x - 1)/2, ... with x = 4 t
    static const double differences[QUARTERS][QUARTERS] = {
        {1.0}, {-1.0, 1.0}, {1.0, -2.0, 1.0}, {-1.0, 3.0, -3.0, 1.0}, {1.0, -4.0, 6.0, -4.0, 1.0}};
    const double x = 4.0 * t;
    const double one[QUARTERS] = {
        1.0, x / 2.0, x * (x / 6.0 - 1.0 / 4.0), x * (x * (x / 24.0 - 1.0 / 6.0) + 1.0 / 6.0),
        x * (x * (x * (x / 120.0 - 1.0 / 16.0) + 11.0 / 72.0) - 1.0 / 8.0)};
    const double two[QUARTERS] = {
        1.0 / 2.0, x / 6.0, x * (x / 24.0 - 1.0 / 12.0),
        x * (x * (x / 120.0 - 1.0 / 24.0) + 1.0 / 18.0),
        x * (x * (x * (x / 720.0 - 1.0 / 80.0) + 11.0 / 288.0) - 1.0 / 24.0)};
    for (int k = 0; k < QUARTERS; ++k) {
        once[k] = twice[k] = 0.0;
        for (int j = k; j < QUARTERS; ++j) {
            once[k] += differences[j][k] * one[j] * t;
            twice[k] += differences[j][k] * two[j] * x * t / 4.0;
        }
    }
}

// (P14) what a number has gained at the part t of a step in which it gains `change`, from its slopes times h at the
// ends and four sums of those at the stages
static inline double shape_at(double t, double change, double begin, double end, const double *sums)
{
    double u = 1.0 - t, first = begin - change, second = 2.0 * change - begin - end;
    double rest = sums[0] + t * (sums[1] + u * (sums[2] + t * sums[3]));
    return t * (change + u * (first + t * (second + u * rest)));
}

// work_done: of loads in the last internal step up to the part t of it
static void find_work_until(scheme_solver *s, double t)
{
    const internal_step *last = &s->last;
    double h = last->end - last->begin, once[2][QUARTERS], twice[QUARTERS];
    integral_weights(t, once[0], twice);
    integral_weights(1.0, once[1], twice);
    for (int m = 0; m < s->jet.mechanism_count; ++m) {
        double work[2] = {0.0, 0.0};
        if (s->method->dense != NULL) {
            const double sums[SHAPES] = {last->power[1][m], last->power[2][m], last->power[3][m],
                                         last->power[4][m]};
            s->work_done[m] = shape_at(t, last->work[m], h * last->power[0][m],
                                       h * last->power[POWERS - 1][m], sums);
            continue;
        }
        for (int k = 0; k < QUARTERS; ++k)
            for (int end = 0; end < 2; ++end)
                work[end] += h * once[end][k] * last->power[k < QUARTERS - 1 ? k : POWERS - 1][m];
        s->work_done[m] = work[0] + (last->work[m] - work[1]) * t * t * (3.0 - 2.0 * t);
    }
}

// k[0], k[1]: y_1 and y_2 at the begin and at the end of the last internal step
static void set_ends(scheme_solver *s)
{
    const jet_space *jet = &s->jet;
    const internal_step *last = &s->last;
    int n = jet->y_count;
    jet_rates(jet, last->y, last->w, s->k[0]);
    jet_second_rates(jet, last->y, last->w, last->d, s->k[0] + n);
    jet_rates(jet, s->y, s->w, s->k[1]);
    jet_second_rates(jet, s->y, s->w, last->d_end, s->k[1] + n);
}

// a, a1: the quintic through y, y_1, y_2 at both ends and its derivative, at the part t
static void interpolate_ends(scheme_solver *s, double t)
{
    const internal_step *last = &s->last;
    int n = s->jet.y_count;
    const double *v0 = s->k[0], *a0 = s->k[0] + n, *v1 = s->k[1], *a1 = s->k[1] + n;
    double h = last->end - last->begin;
    for (int i = 0; i < n; ++i) {
        // what the parabola at the begin leaves to be met at the end: y, h y_1, h^2 y_2
        double y = s->y[i] - last->y[i] - h * (v0[i] + 0.5 * h * a0[i]);
        double v = h * (v1[i] - v0[i] - h * a0[i]), a = h * h * (a1[i] - a0[i]);
        double c3 = 10.0 * y - 4.0 * v + 0.5 * a, c4 = -15.0 * y + 7.0 * v - a,
               c5 = 6.0 * y - 3.0 * v + 0.5 * a;
        s->a[i] = last->y[i] + t * h * (v0[i] + 0.5 * t * h * a0[i]) +
                  t * t * t * (c3 + t * (c4 + t * c5));
        s->a1[i] = v0[i] + t * (h * a0[i] + t * (3.0 * c3 + t * (4.0 * c4 + 5.0 * t * c5)) / h);
    }
}

// (P9) a, a1: y_2 integrated twice and once from the begin to the part t; what is then missing at the end is spread
static void interpolate(scheme_solver *s, double t)
{
    const internal_step *last = &s->last;
    int n = s->jet.y_count;
    double h = last->end - last->begin, rise = t * t * (3.0 - 2.0 * t), bend = t * t * (t - 1.0);
    double once[2][QUARTERS], twice[2][QUARTERS];
    integral_weights(t, once[0], twice[0]);
    integral_weights(1.0, once[1], twice[1]);
    for (int i = 0; i < n; ++i) {
        const double a[QUARTERS] = {s->k[0][n + i], last->inside[i], last->inside[n + i],
                                    last->inside[2 * n + i], s->k[1][n + i]};
        double v = s->k[0][i], y[2], y1[2];
        for (int end = 0; end < 2; ++end) {
            double x = end == 1 ? 1.0 : t;
            y[end] = last->y[i] + h * x * v, y1[end] = v;
            for (int k = 0; k < QUARTERS; ++k) {
                y[end] += h * h * twice[end][k] * a[k];
                y1[end] += h * once[end][k] * a[k];
            }
        }
        double missing = s->y[i] - y[1], missing1 = s->k[1][i] - y1[1];
        s->a[i] = y[0] + rise * missing + bend * h * missing1;
        s->a1[i] = y1[0] + rise * missing1;
    }
}

// (P14) a, a1 at the part t
static void interpolate_shapes(scheme_solver *s, double t)
{
    const internal_step *last = &s->last;
    int n = s->jet.y_count;
    double h = last->end - last->begin;
    for (int i = 0; i < n; ++i) {
        double sums[2][SHAPES], v = s->k[0][i], v_end = s->k[1][i];
        for (int r = 0; r < SHAPES; ++r)
            for (int x = 0; x < 2; ++x) sums[x][r] = last->inside[(2 * r + x) * n + i];
        s->a[i] = last->y[i] + shape_at(t, s->y[i] - last->y[i], h * v, h * v_end, sums[0]);
        s->a1[i] = v + shape_at(t, v_end - v, h * s->k[0][n + i], h * s->k[1][n + i], sums[1]);
    }
}

// (P14) The further stages of the last internal step, whose other stages are still there, and the sums.
static bool find_shapes(scheme_solver *s)
{
    const rk_method *method = s->method;
    internal_step *last = &s->last;
    int n = s->jet.y_count, all = method->stages + method->dense_stages;
    size_t size = (size_t)n * sizeof(double);
    double h = last->end - last->begin;
    for (int stage = method->stages; stage < all; ++stage) {
        memcpy(s->a, last->y, size);
        memcpy(s->a1, s->k[0], size);
        rk_add_stages(s, h, method->weights[stage], stage, s->a, s->a1);
        if (!rk_project(s, s->tolerance, s->y_next, s->w_next) ||
            !rk_distribution(s, s->y_next, s->w_next,
                             (jet_moment){last->begin, last->end, method->nodes[stage]}, stage))
            return false;
    }
    memset(last->inside, 0, s->inside_count * sizeof(double));
    for (int r = 0; r < SHAPES; ++r) {
        rk_add_stages(s, h, method->dense[r], all, last->inside + 2 * r * n,
                      last->inside + (2 * r + 1) * n);
        for (int m = 0; m < s->jet.mechanism_count; ++m) {
            last->power[1 + r][m] = 0.0;
            for (int j = 0; j < all; ++j)
                last->power[1 + r][m] += h * method->dense[r][j] * s->power[j][m];
        }
    }
    last->dense = true;
    return true;
}

// The interpolated point (a, a1) on M: (y_next, w_next). The result depends on the last internal step alone: rows are
// those it chose at its begin, and the first factors are those of the interpolated point.
static bool land_interpolated(scheme_solver *s)
{
    jet_space *jet = &s->jet;
    if (jet->tree == NULL && (s->orthogonal == NULL || s->loops)) {
        rk_normalise_parameters(s);
        jet_set_position(jet, s->a);
        rk_evaluate_rows(s);
        if (s->loops ? !rk_drop_flat_rows(s, &s->flat_output) : !rk_factor(s, METRIC_EUCLIDEAN))
            return false;
    }
    return rk_project(s, s->tolerance, s->y_next, s->w_next);
}

// Accelerations and powers inside the last internal step, at points of the quintic as they are: they are off M by no
// more than O(h^6), and so are their accelerations, which are integrated.
static bool look_inside(scheme_solver *s)
{
    jet_space *jet = &s->jet;
    internal_step *last = &s->last;
    int n = jet->y_count;
    for (int quarter = 1; quarter < QUARTERS - 1; ++quarter) {
        double t = 0.25 * quarter;
        const double *y = s->a;
        interpolate_ends(s, t);
        if (jet->tree != NULL) {
            if (!rk_project(s, s->tolerance, s->y_next, s->w_next)) return false;
            y = s->y_next;
        } else {
            rk_normalise_parameters(s);
            jet_set_position(jet, s->a);
            rk_evaluate_rows(s);
            if (!rk_factor(s, METRIC_KINETIC)) return false;
            jet_velocities(jet, s->a, s->a1, s->w_next);
        }
        if (!rk_distribution(s, y, s->w_next, (jet_moment){last->begin, last->end, t}, 2))
            return false;
        memcpy(last->inside + (quarter - 1) * n, s->k[2] + n, (size_t)n * sizeof(double));
        memcpy(last->power[quarter], s->power[2], (size_t)jet->mechanism_count * sizeof(double));
    }
    last->dense = true;
    return true;
}

// The point (y_next, w_next) of M and of the invariants at `time` in the last internal step, and the work until then.
bool rk_find_output(scheme_solver *s, double time)
{
    jet_space *jet = &s->jet;
    internal_step *last = &s->last;
    double t = (time - last->begin) / (last->end - last->begin);
    int dropped;
    s->at_end = false;
    s->flat_output = false;
    if (s->loops) {
        jet_set_position(jet, last->y);
        rk_evaluate_rows(s);
        if (jet_choose_rows(jet, &dropped) != HN_OK || !rk_factor(s, METRIC_EUCLIDEAN))
            return false;
        rk_note_margins(s, 0);
    }
    set_ends(s);
    bool shapes = s->method->dense != NULL;
    if (!last->dense && !(shapes ? find_shapes(s) : look_inside(s))) return false;
    find_work_until(s, t);
    if (shapes) interpolate_shapes(s, t);
    else interpolate(s, t);
    if (!land_interpolated(s)) return false;
    if (s->orthogonal != NULL && !rk_factor(s, METRIC_EUCLIDEAN)) return false;
    for (int m = 0; m < jet->mechanism_count; ++m) s->energy[m] = last->energy[m] + s->work_done[m];
    jet_mechanism_rates(jet, last->w, last->d, s->rates);
    return rk_impose_invariants(s, time, s->y_next, s->w_next);
}
