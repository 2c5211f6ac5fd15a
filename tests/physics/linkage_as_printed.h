// SPDX-License-Identifier: MIT
// The six-body linkage by the constrained schemes of both papers, rows and geometry as printed, without the engine.
//
// A block is three coordinates: phi or d_I of a body, or a unit vector e_i of space. Every constraint is a sum of
// coefficient x_a . x_b over pairs of blocks, less its value at the start:
//
//   BL (24)     1/2 d_I . d_I,  d_I . d_J                                                 body by body
//   LMO (103)   e_i . phi^0,  e_i . d_i^0                                                 body 0 fixed
//   BL (119)    e_i . (phi^j + rho^j - phi^i - rho^i),  n^i . d_1^j,  n^i . d_2^j         hinges; BL (190) the last
//
// 72 rows for six bodies, 60 for five when body 0 is the ground. One of them follows from the others and is left out of
// the step; LMO Remark 5.4 does not say which one. Here it is a row with the largest share in the dependence at q_n. By
// symmetry six rows have it, one in each hinge; the motion does not depend on the choice, the condition number does.
//
//   (P1)  alpha M (q_n+1 - q_n) - b_n + beta grad V + sigma G(q_w)^T lambda = 0,   g(q_n+1) = 0
//   (P2)  [alpha M + sigma w d(G^T lambda)/dq, sigma G(q_w)^T; G(q_n+1), 0]        its iteration matrix, not scaled
//
//   BL (10)     alpha = 2/h, b_n = 2 M v_n,             beta = h,   sigma = h,  q_w the middle, w = 1/2
//   LMO (22)    alpha = 1/h, b_n = D2 L_d(q_n-1, q_n),  beta = h/2, sigma = h,  q_w = q_n,      w = 0
//               first step, LMO (34): b_0 = p_0, sigma = h/2
#ifndef TESTS_LINKAGE_AS_PRINTED_H
#define TESTS_LINKAGE_AS_PRINTED_H

#include "base/vector.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum {
    PRINTED_BODIES = 6,
    PRINTED_BLOCKS = 4 * PRINTED_BODIES, // body by body phi, d_1, d_2, d_3; then e_1, e_2, e_3
    PRINTED_ROWS = 72,                   // as many as coordinates
    PRINTED_TERMS = 8,                   // of one row, at most
};

typedef struct printed_term {
    double coefficient;
    int a, b; // blocks
} printed_term;

typedef struct printed_row {
    int term_count;
    printed_term terms[PRINTED_TERMS];
    double start; // value of the sum in the cube
} printed_row;

typedef struct printed_linkage {
    int first; // body that moves or is fixed by rows: 0, or 1 with body 0 the ground
    int row_count;
    printed_row rows[PRINTED_ROWS];
    hn_vec3 q[PRINTED_BLOCKS + 3], v[PRINTED_BLOCKS]; // at the start
    double mass[PRINTED_BLOCKS];                      // BL (23)
} printed_linkage;

// ---- constraints ------------------------------------------------------------------------------------

/// First coordinate of a block, or -1 for those that are given.
static inline int printed_column(const printed_linkage *linkage, int block)
{
    return block < 4 * linkage->first || block >= PRINTED_BLOCKS ? -1
                                                                 : 3 * (block - 4 * linkage->first);
}

static inline int printed_coordinate_count(const printed_linkage *linkage)
{
    return 12 * (PRINTED_BODIES - linkage->first);
}

static inline double printed_row_value(const printed_row *row, const hn_vec3 *q)
{
    double value = -row->start;
    for (int k = 0; k < row->term_count; ++k)
        value += row->terms[k].coefficient * vec3_dot(q[row->terms[k].a], q[row->terms[k].b]);
    return value;
}

/// G(q), row-major, one line of coordinates per row.
static inline void printed_jacobian(const printed_linkage *linkage, const hn_vec3 *q, double *g)
{
    int n = printed_coordinate_count(linkage);
    memset(g, 0, (size_t)(linkage->row_count * n) * sizeof(double));
    for (int i = 0; i < linkage->row_count; ++i)
        for (int k = 0; k < linkage->rows[i].term_count; ++k) {
            const printed_term *t = &linkage->rows[i].terms[k];
            for (int side = 0; side < 2; ++side) {
                int column = printed_column(linkage, side == 0 ? t->a : t->b);
                if (column < 0) continue;
                double *entry = g + i * n + column;
                vec3_store(
                    vec3_add_scaled(vec3_load(entry), t->coefficient, q[side == 0 ? t->b : t->a]),
                    entry);
            }
        }
}

/// Adds factor d(G^T lambda)/dq, which does not depend on q, to the first lines and columns of a size x size matrix.
static inline void printed_add_curvature(const printed_linkage *linkage, double factor,
                                         const double *lambda, int size, double *matrix)
{
    for (int i = 0; i < linkage->row_count; ++i)
        for (int k = 0; k < linkage->rows[i].term_count; ++k) {
            const printed_term *t = &linkage->rows[i].terms[k];
            int a = printed_column(linkage, t->a), b = printed_column(linkage, t->b);
            double second = factor * lambda[i] * t->coefficient;
            for (int c = 0; c < 3 && a >= 0 && b >= 0; ++c) {
                matrix[(a + c) * size + b + c] += second;
                matrix[(b + c) * size + a + c] += second;
            }
        }
}

/// Eigenvalues of G G^T, ascending: squares of the singular values of G. `vectors` has them in its columns.
static inline hn_status printed_dependence(hn_context *context, const printed_linkage *linkage,
                                           const double *g, double *squares, double *vectors)
{
    double gram[PRINTED_ROWS * PRINTED_ROWS] = {0};
    int n = printed_coordinate_count(linkage), rows = linkage->row_count;
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < rows; ++k) {
            double sum = 0.0;
            for (int c = 0; c < n; ++c) sum += g[i * n + c] * g[k * n + c];
            gram[i * rows + k] = sum;
        }
    return dense_symmetric_eigen(context, rows, gram, squares, vectors);
}

// ---- geometry ---------------------------------------------------------------------------------------

static inline printed_row *printed_add_row(printed_linkage *linkage)
{
    return &linkage->rows[linkage->row_count++];
}

static inline void printed_add_term(printed_row *row, double coefficient, int a, int b)
{
    row->terms[row->term_count++] = (printed_term){coefficient, a, b};
}

/// The hinge at `point` about `axis`, which is fixed to body i: BL (119), and (190) for the last one.
static inline void printed_add_hinge(printed_linkage *linkage, int i, int j, hn_vec3 point,
                                     hn_vec3 axis)
{
    const int body[2] = {i, j};
    for (int c = 0; c < 3; ++c) {
        printed_row *row = printed_add_row(linkage);
        for (int side = 0; side < 2; ++side) {
            int phi = 4 * body[side];
            double sign = side == 0 ? -1.0 : 1.0;
            hn_vec3 arm = vec3_subtract(point, linkage->q[phi]);
            printed_add_term(row, sign, PRINTED_BLOCKS + c, phi);
            for (int d = phi + 1; d < phi + 4; ++d)
                printed_add_term(row, sign * vec3_dot(arm, linkage->q[d]), PRINTED_BLOCKS + c, d);
        }
    }
    for (int d = 4 * j + 1; d < 4 * j + 3; ++d) {
        printed_row *row = printed_add_row(linkage);
        for (int k = 4 * i + 1; k < 4 * i + 4; ++k)
            printed_add_term(row, vec3_dot(axis, linkage->q[k]), k, d);
    }
}

/// The linkage in the cube, turning at theta' = 30 in every hinge. `first`: 0, or 1 with body 0 the ground.
static inline void printed_linkage_build(int first, printed_linkage *linkage)
{
    const double l = 0.1, density = 1000.0, rate = 30.0; // m, kg/m^3, rad/s
    const double a = tan(0.16 * acos(-1.0)), root = sqrt(a * a * a * a + 1.0);
    const hn_vec3 point[PRINTED_BODIES] = {{0, l, 0},  {l, l, 0},  {l, l, -l},
                                           {l, 0, -l}, {0, 0, -l}, {0, 0, 0}};
    const hn_vec3 axis[PRINTED_BODIES] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0},
                                          {0, 0, 1},  {0, 1, 0},  {1, 0, 0}};
    hn_vec3 *q = linkage->q;
    *linkage = (printed_linkage){.first = first};

    // LMO (97), (102), d_3 turned round: as printed the triad is left-handed
    q[0] = vec3(0.25 * a * l, 0.5 * l, -0.25 * a * l);
    q[1] = vec3(-1.0, 0.0, 1.0);
    q[2] = vec3(1.0, (a * a - 1.0 + root) / a, 1.0);
    q[3] = vec3(-1.0, -(a * a - 1.0 - root) / a, -1.0);
    for (int d = 1; d < 4; ++d) q[d] = vec3_scale(1.0 / vec3_norm(q[d]), q[d]);
    for (int i = 0; i < 3; ++i) q[PRINTED_BLOCKS + i] = vec3(i == 0, i == 1, i == 2);

    // each body is its neighbour seen in the diagonal plane through their hinge; d_3 turned round again
    for (int k = 1; k < PRINTED_BODIES; ++k) {
        hn_vec3 normal = vec3_subtract(point[k], point[(k + 4) % PRINTED_BODIES]);
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        for (int d = 0; d < 4; ++d) {
            hn_vec3 x = d == 0 ? vec3_subtract(q[4 * k - 4], point[k - 1]) : q[4 * k - 4 + d];
            x = vec3_add_scaled(x, -2.0 * vec3_dot(normal, x), normal);
            q[4 * k + d] = d == 0 ? vec3_add(x, point[k - 1]) : d == 3 ? vec3_negate(x) : x;
        }
    }

    // LMO (101), with the density that it leaves out; E = 1/2 tr J - J
    const double principal[3] = {a * a + 1.0, a * a + 0.5 + 0.5 * root, a * a + 0.5 - 0.5 * root};
    const double half_trace = 0.5 * (principal[0] + principal[1] + principal[2]);
    for (int b = 0; b < PRINTED_BLOCKS; ++b)
        linkage->mass[b] =
            b % 4 == 0 ? density * a * a * pow(l, 3) / 6.0
                       : density * a * a * pow(l, 5) / 120.0 * (half_trace - principal[b % 4 - 1]);

    // theta' = 30 in all hinges: LMO (106), (110) with d theta2/d theta1 = 1 in the cube
    hn_vec3 omega = vec3(0, 0, 0), origin = omega; // of a body; velocity of its point at the origin
    for (int k = 1; k < PRINTED_BODIES; ++k) {
        omega = vec3_add_scaled(omega, rate, axis[k - 1]);
        origin = vec3_add_scaled(origin, rate, vec3_cross(point[k - 1], axis[k - 1]));
        linkage->v[4 * k] = vec3_add(origin, vec3_cross(omega, q[4 * k]));
        for (int d = 4 * k + 1; d < 4 * k + 4; ++d) linkage->v[d] = vec3_cross(omega, q[d]);
    }

    // BL (24)
    for (int phi = 4 * first; phi < PRINTED_BLOCKS; phi += 4) {
        for (int i = 1; i < 4; ++i)
            printed_add_term(printed_add_row(linkage), 0.5, phi + i, phi + i);
        for (int i = 1; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                printed_add_term(printed_add_row(linkage), 1.0, phi + i, phi + j);
    }
    // LMO (103)
    for (int i = 0; i < 3 && first == 0; ++i)
        printed_add_term(printed_add_row(linkage), 1.0, PRINTED_BLOCKS + i, 0);
    for (int i = 0; i < 3 && first == 0; ++i)
        printed_add_term(printed_add_row(linkage), 1.0, PRINTED_BLOCKS + i, 1 + i);
    for (int k = 0; k < PRINTED_BODIES; ++k)
        printed_add_hinge(linkage, k, (k + 1) % PRINTED_BODIES, point[k], axis[k]);
    for (int i = 0; i < linkage->row_count; ++i)
        linkage->rows[i].start = printed_row_value(&linkage->rows[i], q);
}

// ---- steps ------------------------------------------------------------------------------------------

enum { PRINTED_UNKNOWNS = 2 * PRINTED_ROWS - 1, PRINTED_ITERATIONS = 20 };
static const double PRINTED_INCREMENT = 1e-13; // of a coordinate, m or 1, that ends the iteration
static const double PRINTED_SHARE = 1e-6; // shares in the dependence that differ by less are equal

typedef struct printed_steps {
    printed_linkage linkage;
    hn_scheme scheme; // energy-momentum or variational
    double h;
    double gravity; // m/s^2, along e_3
    int step_count;
    hn_vec3 q[PRINTED_BLOCKS + 3], b[PRINTED_BLOCKS]; // (P1)
    hn_vec3 q_next[PRINTED_BLOCKS + 3];
    int equal[PRINTED_ROWS], equal_count; // rows with the largest share in the dependence at q
    int unknown_count;
    double matrix[PRINTED_UNKNOWNS * PRINTED_UNKNOWNS], // (P2) of the last iteration
        inverse[PRINTED_UNKNOWNS * PRINTED_UNKNOWNS];
    double g_w[PRINTED_ROWS * PRINTED_ROWS], g_next[PRINTED_ROWS * PRINTED_ROWS];
} printed_steps;

static inline void printed_start(printed_steps *steps, int first, hn_scheme scheme, double gravity,
                                 double h)
{
    printed_linkage_build(first, &steps->linkage);
    steps->scheme = scheme;
    steps->h = h;
    steps->gravity = gravity;
    steps->step_count = 0;
    memcpy(steps->q, steps->linkage.q, sizeof steps->q);
    for (int b = 0; b < PRINTED_BLOCKS; ++b)
        steps->b[b] =
            vec3_scale((scheme == HN_SCHEME_VARIATIONAL ? 1.0 : 2.0) * steps->linkage.mass[b],
                       steps->linkage.v[b]);
}

/// Finds the rows with the largest share in the dependence at q_n.
static inline hn_status printed_compare_rows(hn_context *context, printed_steps *steps)
{
    double squares[PRINTED_ROWS], vectors[PRINTED_ROWS * PRINTED_ROWS], largest = 0.0;
    int rows = steps->linkage.row_count;
    printed_jacobian(&steps->linkage, steps->q, steps->g_w);
    TRY(printed_dependence(context, &steps->linkage, steps->g_w, squares, vectors));
    for (int i = 0; i < rows; ++i) largest = fmax(largest, fabs(vectors[i * rows]));
    steps->equal_count = 0;
    for (int i = 0; i < rows; ++i)
        if (fabs(vectors[i * rows]) > largest - PRINTED_SHARE)
            steps->equal[steps->equal_count++] = i;
    return HN_OK;
}

/// Solves (P1) without the row `dropped` by Newton's method with (P2).
static inline hn_status printed_solve(hn_context *context, printed_steps *steps, int dropped)
{
    const printed_linkage *linkage = &steps->linkage;
    const bool nodal = steps->scheme == HN_SCHEME_VARIATIONAL;
    const double h = steps->h, alpha = nodal ? 1.0 / h : 2.0 / h, beta = nodal ? 0.5 * h : h,
                 w = nodal ? 0.0 : 0.5, sigma = nodal && steps->step_count == 0 ? 0.5 * h : h;
    const int n = printed_coordinate_count(linkage), size = n + linkage->row_count - 1;
    hn_vec3 *q = steps->q_next, q_w[PRINTED_BLOCKS + 3];
    double residual[PRINTED_UNKNOWNS], change[PRINTED_UNKNOWNS], lambda[PRINTED_ROWS] = {0};
    double largest = HUGE_VAL;
    steps->unknown_count = size;
    memcpy(q, steps->q, sizeof steps->q); // (P1) without forces to begin with
    for (int b = 4 * linkage->first; b < PRINTED_BLOCKS; ++b)
        q[b] = vec3_add_scaled(q[b], 1.0 / (alpha * linkage->mass[b]), steps->b[b]);

    for (int iteration = 0; largest > PRINTED_INCREMENT; ++iteration) {
        if (iteration == PRINTED_ITERATIONS)
            return context_fail(context, HN_NOT_CONVERGED, "step %d of the linkage as printed",
                                steps->step_count + 1);
        for (int b = 0; b < PRINTED_BLOCKS + 3; ++b)
            q_w[b] = vec3_add_scaled(steps->q[b], w, vec3_subtract(q[b], steps->q[b]));
        printed_jacobian(linkage, q_w, steps->g_w);
        printed_jacobian(linkage, q, steps->g_next);

        // inertia and gravity
        memset(steps->matrix, 0, sizeof steps->matrix);
        for (int b = 4 * linkage->first; b < PRINTED_BLOCKS; ++b) {
            int column = printed_column(linkage, b);
            double mass = linkage->mass[b];
            hn_vec3 r = vec3_scale(alpha * mass, vec3_subtract(q[b], steps->q[b]));
            r = vec3_subtract(r, steps->b[b]);
            if (b % 4 == 0) r.z -= beta * mass * steps->gravity;
            vec3_store(r, residual + column);
            for (int c = column; c < column + 3; ++c) steps->matrix[c * size + c] = alpha * mass;
        }
        // constraints and their forces
        for (int i = 0, kept = n; i < linkage->row_count; ++i) {
            if (i == dropped) continue;
            residual[kept] = printed_row_value(&linkage->rows[i], q);
            for (int c = 0; c < n; ++c) {
                residual[c] += sigma * lambda[i] * steps->g_w[i * n + c];
                steps->matrix[c * size + kept] = sigma * steps->g_w[i * n + c];
                steps->matrix[kept * size + c] = steps->g_next[i * n + c];
            }
            kept += 1;
        }
        printed_add_curvature(linkage, sigma * w, lambda, size, steps->matrix);

        memcpy(steps->inverse, steps->matrix, sizeof steps->inverse);
        TRY(dense_invert(context, size, steps->inverse));
        for (int i = 0; i < size; ++i) {
            change[i] = 0.0;
            for (int k = 0; k < size; ++k) change[i] -= steps->inverse[i * size + k] * residual[k];
        }
        largest = 0.0;
        for (int c = 0; c < n; ++c) largest = fmax(largest, fabs(change[c]));
        for (int b = 4 * linkage->first; b < PRINTED_BLOCKS; ++b)
            q[b] = vec3_add(q[b], vec3_load(change + printed_column(linkage, b)));
        for (int i = 0, kept = n; i < linkage->row_count; ++i)
            if (i != dropped) lambda[i] += change[kept++];
    }
    return HN_OK;
}

/// To q_n+1, with b_n+1 = 2 M v_n+1 = 4/h M (q_n+1 - q_n) - 2 M v_n, or D2 L_d(q_n, q_n+1).
static inline void printed_advance(printed_steps *steps)
{
    const bool nodal = steps->scheme == HN_SCHEME_VARIATIONAL;
    for (int b = 4 * steps->linkage.first; b < PRINTED_BLOCKS; ++b) {
        double mass = steps->linkage.mass[b];
        hn_vec3 delta = vec3_scale(mass / steps->h, vec3_subtract(steps->q_next[b], steps->q[b]));
        steps->b[b] = nodal ? delta : vec3_subtract(vec3_scale(4.0, delta), steps->b[b]);
        if (nodal && b % 4 == 0) steps->b[b].z += 0.5 * steps->h * mass * steps->gravity;
    }
    memcpy(steps->q, steps->q_next, sizeof steps->q);
    steps->step_count += 1;
}

typedef struct printed_result {
    double condition; // 2-norm, of the last iteration matrix, without the first of the equal rows
    double smallest, largest; // over all choices among them
    int choice_count;
    hn_vec3 centres[PRINTED_BODIES]; // m
    double spread;                   // m, of the centres over the choices
} printed_result;

/// Steps to `time`. `first`: as printed_linkage_build; `gravity`: m/s^2 along e_3.
static inline hn_status printed_run_to(hn_context *context, int first, hn_scheme scheme,
                                       double gravity, double h, double time,
                                       printed_result *result)
{
    *result = (printed_result){.smallest = HUGE_VAL};
    printed_steps *steps = context_allocate(context, sizeof *steps);
    if (steps == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = HN_OK;
    const long long step_count = llround(time / h);
    printed_start(steps, first, scheme, gravity, h);
    for (long long n = 1; n < step_count && status == HN_OK; ++n) {
        status = printed_compare_rows(context, steps);
        if (status == HN_OK) status = printed_solve(context, steps, steps->equal[0]);
        if (status == HN_OK) printed_advance(steps);
    }
    if (status == HN_OK) status = printed_compare_rows(context, steps);
    result->choice_count = steps->equal_count;
    for (int k = 0; k < steps->equal_count && status == HN_OK; ++k) {
        double norm = 0.0, inverse_norm = 0.0;
        status = printed_solve(context, steps, steps->equal[k]);
        const int size = steps->unknown_count;
        if (status == HN_OK) status = dense_norm(context, size, size, steps->matrix, &norm);
        if (status == HN_OK)
            status = dense_norm(context, size, size, steps->inverse, &inverse_norm);
        if (k == 0) result->condition = norm * inverse_norm;
        result->smallest = fmin(result->smallest, norm * inverse_norm);
        result->largest = fmax(result->largest, norm * inverse_norm);
        for (int b = 0; b < PRINTED_BODIES; ++b) {
            if (k == 0) result->centres[b] = steps->q_next[4 * b];
            hn_vec3 other = vec3_subtract(steps->q_next[4 * b], result->centres[b]);
            result->spread = fmax(result->spread, vec3_norm(other));
        }
    }
    context_release(context, steps);
    return status;
}

#endif
