// SPDX-License-Identifier: MIT
// Energy and momenta imposed by `projected-rk` at the ends of steps and on reported states (P7).
// Note: docs/theory/projected-rk.md
#include "schemes/projected_rk_solver.h"

#include <string.h>

static const double INVARIANT_TOLERANCE = 1e-14; // of the size of an invariant's parts
static const double INVARIANT_PIVOT =
    1e-10;                              // an invariant with less is a consequence of the others
static const double HELD_SLOPE = 1e-13; // of what bodies without joints had: no more than round-off
static const double CORRECTION_MAX =
    0.1; // of the velocities: what would need more is work of forces on round-off, and no error of a motion
enum { INVARIANT_ITERATIONS_MAX = 8 };

static hn_vec3 from_point(const scheme_solver *s, const double *pose)
{
    return vec3_subtract(pose_center(pose), s->symmetries.point);
}

// momentum map of symmetry m at the current point; velocities `w` are set
double rk_momentum(const scheme_solver *s, int m, double *scale)
{
    const jet_space *jet = &s->jet;
    const double *symmetry = s->symmetries.motions[m];
    hn_vec3 shift = vec3_load(symmetry),
            turn = vec3_scale(1.0 / s->symmetries.length, vec3_load(symmetry + 3));
    double sum = 0.0;
    *scale = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i,
                     *twist = jet->twist + TWIST_SIZE * (size_t)i;
        hn_vec3 there = vec3_add(shift, vec3_cross(turn, from_point(s, pose))),
                omega = vec3_load(twist + 3);
        hn_vec3 body = pose_components(pose, omega);
        hn_vec3 spin = vec3(b->moments.x * body.x, b->moments.y * body.y, b->moments.z * body.z);
        if (b->kind == JET_PLANAR_RIGID)
            spin = pose_components(pose, vec3_scale(b->inertia[2], omega));
        double linear = b->mass * vec3_dot(there, vec3_load(twist)),
               angular = vec3_dot(turn, pose_direction(pose, spin));
        sum += linear + angular;
        *scale += b->mass * vec3_norm(there) * vec3_norm(vec3_load(twist)) +
                  vec3_norm(turn) * vec3_norm(spin);
    }
    return sum;
}

// the symmetry as velocities of the bodies
static void symmetry_velocities(const scheme_solver *s, int m, double *w)
{
    const jet_space *jet = &s->jet;
    const double *symmetry = s->symmetries.motions[m];
    hn_vec3 shift = vec3_load(symmetry),
            turn = vec3_scale(1.0 / s->symmetries.length, vec3_load(symmetry + 3));
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i;
        hn_vec3 there = vec3_add(shift, vec3_cross(turn, from_point(s, pose)));
        if (b->kind == JET_RIGID || b->kind == JET_POINT) {
            vec3_store(there, w + b->w);
            if (b->kind == JET_RIGID)
                vec3_store(vec3_scale(0.5, pose_components(pose, turn)), w + b->w + 3);
            continue;
        }
        w[b->w] = vec3_dot(b->axes[0], there);
        w[b->w + 1] = vec3_dot(b->axes[1], there);
        if (b->kind == JET_PLANAR_RIGID) w[b->w + 2] = vec3_dot(b->axes[2], turn);
    }
}

// derivative of momentum map m when the point moves by H^T c and w stays: p . (turn x dr) + turn . (dphi x L)
static double momentum_change(const scheme_solver *s, int m, const double *c)
{
    const jet_space *jet = &s->jet;
    hn_vec3 turn = vec3_scale(1.0 / s->symmetries.length, vec3_load(s->symmetries.motions[m] + 3));
    double sum = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i,
                     *twist = jet->twist + TWIST_SIZE * (size_t)i;
        hn_vec3 shift =
            b->w_count == 2 || b->kind == JET_PLANAR_RIGID
                ? vec3_add_scaled(vec3_scale(c[b->w], b->axes[0]), c[b->w + 1], b->axes[1])
                : vec3_load(c + b->w);
        sum += b->mass * vec3_dot(vec3_load(twist), vec3_cross(turn, shift));
        if (b->kind != JET_RIGID) continue; // in the plane the spin keeps its direction
        hn_vec3 body = pose_components(pose, vec3_load(twist + 3));
        hn_vec3 spin = pose_direction(
            pose, vec3(b->moments.x * body.x, b->moments.y * body.y, b->moments.z * body.z));
        hn_vec3 angle = pose_direction(pose, vec3_scale(2.0, vec3_load(c + b->w + 3)));
        sum += vec3_dot(turn, vec3_cross(angle, spin));
    }
    return sum;
}

// Slopes of the energies along c[0], dw[0], per mechanism.
static void energy_slopes(const scheme_solver *s, const double *w, double *slopes)
{
    const jet_space *jet = &s->jet;
    for (int m = 0; m < jet->mechanism_count; ++m) slopes[m] = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        for (int k = b->w, m = 0; m < b->w_count; ++m, ++k)
            slopes[b->mechanism] +=
                b->inertia[m] * w[k] * s->dw[0][k] + jet->gradient[k] * s->c[0][k];
    }
}

// What the slopes would be without constraints: in a mechanism that is held only round-off of it is left.
static void free_slopes(const scheme_solver *s, const double *w, double *slopes)
{
    const jet_space *jet = &s->jet;
    for (int m = 0; m < jet->mechanism_count; ++m) slopes[m] = 0.0;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        double rate = s->rates[b->mechanism], square = rate > 0.0 ? 1.0 / (rate * rate) : 0.0;
        for (int k = b->w, m = 0; m < b->w_count; ++m, ++k)
            slopes[b->mechanism] += b->inertia[m] * w[k] * w[k] +
                                    square * b->inverse[m] * jet->gradient[k] * jet->gradient[k];
    }
}

// Newton's increment on the energies alone: mechanisms do not see each other. scratch: of the point.
static void step_to_energies(scheme_solver *s, double *w)
{
    const jet_space *jet = &s->jet;
    energy_slopes(s, w, s->sums);
    free_slopes(s, w, s->scale);
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        int part = b->mechanism;
        bool moves = s->sums[part] > HELD_SLOPE * s->scale[part];
        double x = moves ? (s->energy[part] - s->found[part]) / s->sums[part] : 0.0;
        if (fabs(x) > CORRECTION_MAX) x = 0.0;
        for (int k = b->w; k < b->w + b->w_count; ++k) {
            s->scratch[k] = x * s->c[0][k];
            w[k] += x * s->dw[0][k];
        }
    }
}

static double weighted_dot(const jet_space *jet, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < jet->body_count; ++i)
        for (int m = 0; m < jet->bodies[i].w_count; ++m)
            sum += jet->bodies[i].inertia[m] * a[jet->bodies[i].w + m] * b[jet->bodies[i].w + m];
    return sum;
}

// x with A x = b, leaving out invariants whose pivot is small: consequences of the others
static void solve_invariants(int n, double a[INVARIANTS_MAX][INVARIANTS_MAX], const double *b,
                             double *x)
{
    double size[INVARIANTS_MAX], right[INVARIANTS_MAX];
    int order[INVARIANTS_MAX], rank = 0;
    bool done[INVARIANTS_MAX] = {false};
    for (int i = 0; i < n; ++i) size[i] = fabs(a[i][i]), right[i] = b[i], x[i] = 0.0;
    while (rank < n) {
        int best = -1;
        double largest = INVARIANT_PIVOT;
        for (int i = 0; i < n; ++i)
            if (!done[i] && size[i] > 0.0 && fabs(a[i][i]) / size[i] > largest)
                largest = fabs(a[i][i]) / size[i], best = i;
        if (best < 0) break;
        done[best] = true;
        order[rank++] = best;
        for (int i = 0; i < n; ++i) {
            if (done[i]) continue;
            double ratio = a[i][best] / a[best][best];
            for (int k = 0; k < n; ++k) a[i][k] -= ratio * a[best][k];
            right[i] -= ratio * right[best];
        }
    }
    for (int r = rank - 1; r >= 0; --r) {
        int i = order[r];
        double sum = right[i];
        for (int t = r + 1; t < rank; ++t) sum -= a[i][order[t]] * x[order[t]];
        x[i] = sum / a[i][i];
    }
}

// E^-1 gradient and its like, made tangent: c <- c - E^-1 B^T S^-1 (B c + extra), the extra being the change of B w
// with a shift of the point
static bool make_tangent(scheme_solver *s, const double *shift, double *c)
{
    jet_space *jet = &s->jet;
    if (shift != NULL) s->statistics.second_derivatives += jet->row_count;
    if (jet->tree != NULL) return jet_tree_make_tangent(jet, shift, c);
    if (shift != NULL) jet_rate_change(jet, shift, s->rate);
    else memset(s->rate, 0, (size_t)jet->row_count * sizeof(double));
    jet_apply_rows(jet, c, s->mu);
    for (int k = 0; k < jet->row_count; ++k) s->rate[k] += s->mu[k];
    jet_solve(jet, METRIC_KINETIC, s->rate);
    jet_add_rows_transposed(jet, METRIC_KINETIC, -1.0, s->rate, c);
    return true;
}

// Newton on the invariants along directions tangent to M, and back to M. The point is on M, S factored there.
bool rk_impose_invariants(scheme_solver *s, double time, double *y, double *w)
{
    jet_space *jet = &s->jet;
    int first = s->def.projected_rk.impose_energy ? 1 : 0,
        count = first + (s->def.projected_rk.impose_momentum ? s->symmetries.count : 0);
    size_t width = (size_t)jet->w_count * sizeof(double);
    if (count == 0) return true;
    double last = HUGE_VAL;
    for (int iteration = 0;; ++iteration) {
        double error[INVARIANTS_MAX], worst = 0.0, scale, matrix[INVARIANTS_MAX][INVARIANTS_MAX],
                                      x[INVARIANTS_MAX];
        jet_set_velocity(jet, w);
        if (first > 0) {
            jet_energies(jet, w, s->found, s->scale);
            for (int m = 0; m < jet->mechanism_count; ++m) {
                double off = fabs(s->found[m] - s->energy[m]);
                if (!isfinite(off)) return false;
                worst = fmax(worst, s->scale[m] > 0.0 ? off / s->scale[m] : 0.0);
            }
            error[0] = s->energy[0] - s->found[0];
        }
        for (int m = first; m < count; ++m) {
            double value = rk_momentum(s, m - first, &scale) - s->momentum[m - first];
            error[m] = -value;
            worst = fmax(worst, scale > 0.0 ? fabs(value) / scale : 0.0);
        }
        if (!isfinite(worst)) return false;
        // at round-off, or no longer getting better
        if (worst <= INVARIANT_TOLERANCE || iteration >= INVARIANT_ITERATIONS_MAX ||
            (iteration > 1 && worst >= 0.5 * last))
            break;
        last = worst;
        s->statistics.invariants++;
        if (first > 0) {
            jet_forces(jet, jet_at(time));
            for (int i = 0; i < jet->body_count; ++i) {
                const jet_body *b = &jet->bodies[i];
                double rate = s->rates[b->mechanism],
                       square = rate > 0.0 ? 1.0 / (rate * rate) : 0.0; // s^2
                for (int k = 0; k < b->w_count; ++k)
                    s->c[0][b->w + k] = square * b->inverse[k] * jet->gradient[b->w + k];
            }
            memcpy(s->dw[0], w, width);
            if (!make_tangent(s, NULL, s->c[0]) || !make_tangent(s, s->c[0], s->dw[0]))
                return false;
        }
        if (count == first) {
            step_to_energies(s, w);
            jet_move(jet, y, y, 1.0, s->scratch, s->a);
            if (!rk_land_position(s, s->a, s->tolerance, y) || !rk_land_velocity(s, w))
                return false;
            continue;
        }
        for (int m = first; m < count; ++m) {
            memset(s->c[m], 0, width);
            symmetry_velocities(s, m - first, s->dw[m]);
            if (!make_tangent(s, NULL, s->dw[m])) return false;
        }
        for (int n = 0; n < count; ++n)
            for (int m = 0; m < count; ++m) {
                double slope;
                if (m < first) {
                    slope = weighted_dot(jet, w, s->dw[n]);
                    for (int k = 0; k < jet->w_count; ++k) slope += jet->gradient[k] * s->c[n][k];
                } else {
                    symmetry_velocities(s, m - first, s->scratch);
                    slope = weighted_dot(jet, s->scratch, s->dw[n]) +
                            momentum_change(s, m - first, s->c[n]);
                }
                matrix[m][n] = slope;
            }
        solve_invariants(count, matrix, error, x);
        memset(s->scratch, 0, width);
        for (int m = 0; m < count; ++m)
            for (int k = 0; k < jet->w_count; ++k) {
                s->scratch[k] += x[m] * s->c[m][k];
                w[k] += x[m] * s->dw[m][k];
            }
        jet_move(jet, y, y, 1.0, s->scratch, s->a);
        if (!rk_land_position(s, s->a, s->tolerance, y) || !rk_land_velocity(s, w)) return false;
    }
    return true;
}
