// SPDX-License-Identifier: MIT
// Geometrically exact beam element with two nodes and constant strains: its axis is a helix, its ends are exactly where
// such a helix ends.
// Note: docs/theory/beams.md
//
//   (W9)  R_ij = d_i^a . d_j^b,   S = (R + R^T)/2,   c = (tr R - 1)/2 = cos(theta)
//         Gamma_i, k_i: those of (W1), the latter times l
//         E_i = Gamma_i + H(c) (Gamma_i - S_ij Gamma_j),   E_3+i = f(c) k_i / l
//         f = 1 + (1 - c) H,   H = sum w_j (1 - t_j^2)/D_j,   D_j = 1 + t_j^2 + c (1 - t_j^2)
//   (W10) discrete derivatives, Delta E = A Delta w in w = (Gamma, R): products by means, H by
//         [H] = - sum w_j (1 - t_j^2)^2/(D_j(c_n) D_j(c_n+1)),   [f] = - mean H + (1 - mean c) [H]
//
//   (W11) C^-1 = C_section^-1 + l^2/12 e_3^^T F e_3^ on shear forces, F the bending block of C_section^-1: along the
//         element the moment is not constant, M' = - e_3 x Q, which bows it
//   (W12) E_3 += gamma^T W gamma,  W = 3/5 b^T b: the axis is longer for its bow, b gamma is the part of the shear
//         gamma that is the bow's
//
// with t_j, w_j the points of Gauss on (0, 1), f is theta/sin(theta): to 1e-11 at 45 degrees, 1e-6 at 90. w is
// quadratic in the coordinates, so Dw(q_mid) (q_n+1 - q_n) = w_n+1 - w_n, and A Dw(q_mid) is to E what B(q_mid) is in
// (W3) to (W5).
#include "elements/element.h"

#include <string.h>

enum { INVARIANTS = 12, VECTORS = 8, SLOTS = 4, TERMS = 4 };

static const double POINT[TERMS] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                    0.9602898564975363},
                    WEIGHT[TERMS] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                     0.1012285362903763};

// Invariants: Gamma_i is i, R_ij is 3 + 3 i + j. Those that each of the eight vectors meets:
static const int MET[VECTORS][SLOTS] = {{0, 1, 2, -1}, {0, 3, 4, 5}, {1, 6, 7, 8},  {2, 9, 10, 11},
                                        {0, 1, 2, -1}, {0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}};
// k_i = (R[P] - R[M])/2
static const int PLUS[3] = {10, 5, 6}, MINUS[3] = {8, 9, 4};

// What the strains are made of, at one pose
typedef struct helix {
    double gamma[3], k[3], s[3][3];
    double v[3]; // Gamma - S Gamma
    double c;
} helix;

static void split(const double *w, helix *x)
{
    x->c = 0.5 * (w[3] + w[7] + w[11] - 1.0);
    for (int i = 0; i < 3; ++i) {
        x->gamma[i] = x->v[i] = w[i];
        x->k[i] = 0.5 * (w[PLUS[i]] - w[MINUS[i]]);
        for (int j = 0; j < 3; ++j) x->s[i][j] = 0.5 * (w[3 + 3 * i + j] + w[3 + 3 * j + i]);
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) x->v[i] -= x->s[i][j] * x->gamma[j];
}

static void find_invariants(double length, const double *a, const double *b, double *w)
{
    hn_vec3 slope = vec3_scale(1.0 / length, vec3_subtract(vec3_load(b), vec3_load(a)));
    for (int i = 0; i < 3; ++i) {
        hn_vec3 da = vec3_load(a + 3 + 3 * i), db = vec3_load(b + 3 + 3 * i);
        w[i] = vec3_dot(vec3_mean(da, db), slope);
        for (int j = 0; j < 3; ++j) w[3 + 3 * i + j] = vec3_dot(da, vec3_load(b + 3 + 3 * j));
    }
}

static double factor_h(double c)
{
    double sum = 0.0;
    for (int j = 0; j < TERMS; ++j) {
        double square = POINT[j] * POINT[j];
        sum += WEIGHT[j] * (1.0 - square) / (1.0 + square + c * (1.0 - square));
    }
    return sum;
}

static void strains_of(double length, const helix *x, double *measures)
{
    double h = factor_h(x->c), f = 1.0 + (1.0 - x->c) * h;
    for (int i = 0; i < 3; ++i) {
        measures[i] = x->gamma[i] + h * x->v[i];
        measures[3 + i] = f * x->k[i] / length;
    }
}

// (W9)
void beam_helical_measures(double length, const double *a, const double *b, double *measures)
{
    double w[INVARIANTS];
    helix x;
    find_invariants(length, a, b, w);
    split(w, &x);
    strains_of(length, &x, measures);
}

// (W12)
static void take_off_rest(const beam_element *beam, double *strain)
{
    for (int i = 0; i < BEAM_STRAINS; ++i) strain[i] -= beam->rest[i];
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) strain[2] += beam->bow_stretch[i][k] * strain[i] * strain[k];
}

void beam_helical_strain(const beam_element *beam, const double *a, const double *b, double *strain)
{
    beam_helical_measures(beam->length, a, b, strain);
    take_off_rest(beam, strain);
}

void beam_make_helical(beam_element *beam)
{
    static const int REST[4] = {0, 1, 2, 5};
    double a[BEAM_STRAINS][BEAM_STRAINS], part = beam->length * beam->length / 12.0;
    beam->helical = true;
    memcpy(a, beam->stiffness, sizeof a);
    // what is left for bending when all else is eliminated is the inverse of F
    for (int n = 0; n < 4; ++n)
        for (int i = 0; i < BEAM_STRAINS; ++i) {
            double times = i == REST[n] ? 0.0 : a[i][REST[n]] / a[REST[n]][REST[n]];
            for (int k = 0; k < BEAM_STRAINS; ++k) a[i][k] -= times * a[REST[n]][k];
        }
    double scale = part / (a[3][3] * a[4][4] - a[3][4] * a[4][3]);
    // M_1' = Q_2, M_2' = - Q_1; F_11 = a_44/det, F_12 = - a_34/det
    beam->bow[0][0] = scale * a[3][3];
    beam->bow[1][1] = scale * a[4][4];
    beam->bow[0][1] = beam->bow[1][0] = 0.5 * scale * (a[3][4] + a[4][3]);
    // C - C_q (1 + U C_qq)^-1 U C_q^T, U the bow
    double m[2][2], c[2][BEAM_STRAINS];
    memcpy(c, beam->stiffness, sizeof c);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k)
            m[i][k] = (i == k ? 1.0 : 0.0) + beam->bow[i][0] * c[0][k] + beam->bow[i][1] * c[1][k];
    double det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    // b = (1 + U C_qq)^-1 U C_qq = 1 - (1 + U C_qq)^-1
    const double b[2][2] = {{1.0 - m[1][1] / det, m[0][1] / det},
                            {m[1][0] / det, 1.0 - m[0][0] / det}};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k)
            beam->bow_stretch[i][k] = 0.6 * (b[0][i] * b[0][k] + b[1][i] * b[1][k]);
    for (int k = 0; k < BEAM_STRAINS; ++k) {
        double u0 = beam->bow[0][0] * c[0][k] + beam->bow[0][1] * c[1][k],
               u1 = beam->bow[1][0] * c[0][k] + beam->bow[1][1] * c[1][k],
               x0 = (m[1][1] * u0 - m[0][1] * u1) / det, x1 = (m[0][0] * u1 - m[1][0] * u0) / det;
        for (int i = 0; i < BEAM_STRAINS; ++i) beam->stiffness[i][k] -= c[0][i] * x0 + c[1][i] * x1;
    }
    for (int i = 0; i < BEAM_STRAINS; ++i)
        for (int k = 0; k < i; ++k)
            beam->stiffness[i][k] = beam->stiffness[k][i] =
                0.5 * (beam->stiffness[i][k] + beam->stiffness[k][i]);
}

// ---- between two poses ------------------------------------------------------------------------------

// Strains by invariants
typedef double strain_by[BEAM_STRAINS][INVARIANTS];

// The discrete derivative A, and how it changes with the second pose
typedef struct chain {
    strain_by a;
    double length;
    helix mean, end;
    double h, f, dh, df;                 // means of H, f; [H], [f]
    double end_h, end_f, end_dh, end_df; // of the second pose, and their derivatives by c
    double dh_by_c, df_by_c;             // of [H], [f] by its c
} chain;

// A with means and [H], [f]; derivatives with the numbers of one pose
static void find_derivative(double length, const helix *x, double h, double dh, double f, double df,
                            strain_by a)
{
    for (int i = 0; i < 3; ++i) {
        for (int m = 0; m < INVARIANTS; ++m) a[i][m] = a[3 + i][m] = 0.0;
        a[i][i] = 1.0 + h;
        for (int j = 0; j < 3; ++j) {
            a[i][j] -= h * x->s[i][j];
            a[i][3 + 3 * i + j] -= 0.5 * h * x->gamma[j];
            a[i][3 + 3 * j + i] -= 0.5 * h * x->gamma[j];
        }
        a[3 + i][PLUS[i]] = 0.5 * f / length;
        a[3 + i][MINUS[i]] = -0.5 * f / length;
        for (int j = 0; j < 3; ++j) {
            a[i][3 + 4 * j] += 0.5 * dh * x->v[i];
            a[3 + i][3 + 4 * j] += 0.5 * df * x->k[i] / length;
        }
    }
}

static void find_chain(double length, const double *start, const double *end, chain *x)
{
    helix first;
    double second = 0.0;
    x->length = length;
    x->dh = x->end_dh = 0.0;
    split(start, &first);
    split(end, &x->end);
    for (int i = 0; i < 3; ++i) {
        x->mean.gamma[i] = 0.5 * (first.gamma[i] + x->end.gamma[i]);
        x->mean.k[i] = 0.5 * (first.k[i] + x->end.k[i]);
        x->mean.v[i] = 0.5 * (first.v[i] + x->end.v[i]);
        for (int j = 0; j < 3; ++j) x->mean.s[i][j] = 0.5 * (first.s[i][j] + x->end.s[i][j]);
    }
    x->mean.c = 0.5 * (first.c + x->end.c);
    for (int j = 0; j < TERMS; ++j) {
        double square = POINT[j] * POINT[j], rest = 1.0 - square,
               d0 = 1.0 + square + first.c * rest, d1 = 1.0 + square + x->end.c * rest;
        x->dh -= WEIGHT[j] * rest * rest / (d0 * d1);
        x->end_dh -= WEIGHT[j] * rest * rest / (d1 * d1);
        second += WEIGHT[j] * rest * rest * rest / (d0 * d1 * d1);
    }
    double start_h = factor_h(first.c), left = 1.0 - x->end.c;
    x->end_h = factor_h(x->end.c);
    x->end_f = 1.0 + left * x->end_h;
    x->end_df = left * x->end_dh - x->end_h;
    x->h = 0.5 * (start_h + x->end_h);
    x->f = 0.5 * (1.0 + (1.0 - first.c) * start_h + x->end_f);
    x->df = (1.0 - x->mean.c) * x->dh - x->h;
    x->dh_by_c = second;
    x->df_by_c = (1.0 - x->mean.c) * second - 0.5 * (x->dh + x->end_dh);
    find_derivative(length, &x->mean, x->h, x->dh, x->f, x->df, x->a);
}

// g = A^T stress
static void pull(strain_by a, const double *stress, double *g)
{
    for (int m = 0; m < INVARIANTS; ++m) g[m] = 0.0;
    for (int i = 0; i < BEAM_STRAINS; ++i)
        for (int m = 0; m < INVARIANTS; ++m) g[m] += a[i][m] * stress[i];
}

// A point on the way of a step where the element acts, with the invariants at its ends
typedef struct helical_view {
    bool between;  // discrete derivatives from q_n to q_n+1; false: derivatives at one pose
    double weight; // its rows are those at (1 - w) q_n + w q_n+1
    double a[12], b[12];
    chain x;
    double start[BEAM_STRAINS], end[BEAM_STRAINS]; // strains there
} helical_view;

// Row 2 of A with (W12), at the shears gamma
static void add_bow(const beam_element *beam, const double *gamma, strain_by a)
{
    for (int k = 0; k < 2; ++k) {
        double slope =
            2.0 * (beam->bow_stretch[k][0] * gamma[0] + beam->bow_stretch[k][1] * gamma[1]);
        for (int m = 0; m < INVARIANTS; ++m) a[2][m] += slope * a[k][m];
    }
}

// n += factor dg at fixed stress, by the invariants of the second pose
static void add_change(const chain *x, double factor, const double *stress,
                       double n[INVARIANTS][INVARIANTS])
{
    // of c and on c: rows and columns of the diagonal of R
    double by_c[INVARIANTS] = {0.0}, on_c[INVARIANTS] = {0.0}, twice = 0.0;
    for (int i = 0; i < 3; ++i) {
        double bend = stress[3 + i] / x->length;
        by_c[i] += 0.5 * x->end_dh * stress[i];
        on_c[i] += 0.5 * x->dh * stress[i];
        for (int j = 0; j < 3; ++j) {
            by_c[i] -= 0.5 * x->end_dh * x->mean.s[i][j] * stress[j];
            on_c[i] -= 0.5 * x->dh * x->end.s[i][j] * stress[j];
            by_c[3 + 3 * i + j] -=
                0.25 * x->end_dh * (stress[i] * x->mean.gamma[j] + stress[j] * x->mean.gamma[i]);
            on_c[3 + 3 * i + j] -=
                0.25 * x->dh * (stress[i] * x->end.gamma[j] + stress[j] * x->end.gamma[i]);
        }
        by_c[PLUS[i]] += 0.25 * x->end_df * bend;
        by_c[MINUS[i]] -= 0.25 * x->end_df * bend;
        on_c[PLUS[i]] += 0.25 * x->df * bend;
        on_c[MINUS[i]] -= 0.25 * x->df * bend;
        twice += x->df_by_c * bend * x->mean.k[i] + x->dh_by_c * stress[i] * x->mean.v[i];
    }
    for (int i = 0; i < 3; ++i) on_c[3 + 4 * i] += 0.5 * twice;
    for (int i = 0; i < 3; ++i)
        for (int m = 0; m < INVARIANTS; ++m) {
            n[m][3 + 4 * i] += 0.5 * factor * by_c[m];
            n[3 + 4 * i][m] += 0.5 * factor * on_c[m];
        }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            // S Gamma: on Gamma_i by R_ij and R_ji, and the other way round
            double mixed = -0.25 * factor * x->h * stress[j];
            n[i][3 + 3 * i + j] += mixed;
            n[i][3 + 3 * j + i] += mixed;
            n[3 + 3 * i + j][i] += mixed;
            n[3 + 3 * j + i][i] += mixed;
        }
}

// n = A^T (material C) dE + geometric d(A^T S), by the invariants of the second pose
static void find_inner(const helical_view *view, const beam_element *beam, double material,
                       double geometric, const double *stress, double n[INVARIANTS][INVARIANTS])
{
    const chain *x = &view->x;
    double by_shear[BEAM_STRAINS];
    strain_by end;
    find_derivative(x->length, &x->end, x->end_h, x->end_dh, x->end_f, x->end_df, end);
    add_bow(beam, view->end, end);
    for (int i = 0; i < INVARIANTS; ++i)
        for (int m = 0; m < INVARIANTS; ++m) n[i][m] = 0.0;
    for (int r = 0; r < BEAM_STRAINS; ++r) {
        double row[INVARIANTS] = {0.0};
        for (int k = 0; k < BEAM_STRAINS; ++k)
            for (int m = 0; m < INVARIANTS; ++m)
                row[m] += material * beam->stiffness[r][k] * end[k][m];
        for (int i = 0; i < INVARIANTS; ++i)
            for (int m = 0; m < INVARIANTS; ++m) n[i][m] += x->a[r][i] * row[m];
    }
    for (int i = 0; i < BEAM_STRAINS; ++i) by_shear[i] = stress[i];
    for (int k = 0; k < 2; ++k)
        for (int j = 0; j < 2; ++j) {
            double w = beam->bow_stretch[k][j] * stress[2];
            by_shear[k] += w * (view->start[j] + view->end[j]);
            for (int i = 0; i < INVARIANTS; ++i)
                for (int m = 0; m < INVARIANTS; ++m)
                    n[i][m] += geometric * w * x->a[k][i] * end[j][m];
        }
    add_change(x, geometric, by_shear, n);
}

// ---- on the coordinates -----------------------------------------------------------------------------

// Dw in slots, as MET has them
typedef struct invariant_rows {
    hn_vec3 slot[VECTORS][SLOTS];
} invariant_rows;

static void find_rows(double length, const double *a, const double *b, invariant_rows *rows)
{
    double half = 0.5 / length;
    hn_vec3 slope = vec3_scale(half, vec3_subtract(vec3_load(b), vec3_load(a)));
    for (int i = 0; i < 3; ++i) {
        hn_vec3 da = vec3_load(a + 3 + 3 * i), db = vec3_load(b + 3 + 3 * i);
        rows->slot[4][i] = vec3_scale(half, vec3_add(da, db));
        rows->slot[0][i] = vec3_negate(rows->slot[4][i]);
        rows->slot[1 + i][0] = rows->slot[5 + i][0] = slope;
        for (int j = 0; j < 3; ++j) {
            rows->slot[1 + j][1 + i] = db;
            rows->slot[5 + j][1 + i] = da;
        }
    }
    rows->slot[0][3] = rows->slot[4][3] = vec3(0.0, 0.0, 0.0);
}

static int slots_of(int vector)
{
    return vector % 4 == 0 ? 3 : SLOTS;
}

// residual += Dw^T g
static void add_covector(const invariant_rows *rows, const double *g, element_output *out)
{
    for (int x = 0; x < VECTORS; ++x) {
        double *residual = x < 4 ? out->residual_a : out->residual_b;
        if (residual == NULL) continue;
        double *to = residual + 3 * (x % 4);
        hn_vec3 sum = vec3_load(to);
        for (int r = 0; r < slots_of(x); ++r)
            sum = vec3_add_scaled(sum, g[MET[x][r]], rows->slot[x][r]);
        vec3_store(sum, to);
    }
}

// block += left^T n right
static void add_inner(const invariant_rows *left, double n[INVARIANTS][INVARIANTS],
                      const invariant_rows *right, element_block *block)
{
    double product[INVARIANTS][ELEMENT_COLUMNS];
    for (int i = 0; i < INVARIANTS; ++i)
        for (int y = 0; y < VECTORS; ++y) {
            hn_vec3 sum = vec3(0.0, 0.0, 0.0);
            for (int r = 0; r < slots_of(y); ++r)
                sum = vec3_add_scaled(sum, n[i][MET[y][r]], right->slot[y][r]);
            vec3_store(sum, &product[i][3 * y]);
        }
    for (int x = 0; x < VECTORS; ++x)
        for (int r = 0; r < slots_of(x); ++r) {
            const double *row = product[MET[x][r]];
            double s[3];
            vec3_store(left->slot[x][r], s);
            for (int i = 0; i < 3; ++i)
                for (int c = 0; c < ELEMENT_COLUMNS; ++c) block->k[3 * x + i][c] += s[i] * row[c];
        }
}

static void add_pair(element_block *block, int x, int y, double value)
{
    for (int i = 0; i < 3; ++i) {
        block->k[3 * x + i][3 * y + i] += value;
        block->k[3 * y + i][3 * x + i] += value;
    }
}

// block += factor d(Dw^T g)/dq at fixed g: numbers on pairs of vectors, whatever the poses
static void add_geometric(double length, double factor, const double *g, element_block *block)
{
    for (int i = 0; i < 3; ++i) {
        double half = 0.5 * factor * g[i] / length;
        for (int side = 0; side < 2; ++side) {
            add_pair(block, 0, 4 * side + 1 + i, -half);
            add_pair(block, 4, 4 * side + 1 + i, half);
        }
        for (int j = 0; j < 3; ++j) add_pair(block, 1 + i, 5 + j, factor * g[3 + 3 * i + j]);
    }
}

// ---- the element ------------------------------------------------------------------------------------

static double helical_potential(const element *e, const double *a, const double *b,
                                const double *third, double angle)
{
    (void)third, (void)angle;
    double strain[BEAM_STRAINS], stress[BEAM_STRAINS], twice = 0.0;
    beam_helical_strain(e->beam, a, b, strain);
    beam_stress(e->beam, 1.0, strain, stress);
    for (int i = 0; i < BEAM_STRAINS; ++i) twice += strain[i] * stress[i];
    return 0.5 * e->beam->length * twice;
}

static void look(const beam_element *beam, const element_step *step, bool between,
                 helical_view *view)
{
    double w = between ? 0.5 : step->gradient_weight, first[INVARIANTS], last[INVARIANTS];
    helix x;
    view->between = between;
    view->weight = w;
    for (int k = 0; k < 12; ++k) {
        view->a[k] = (1.0 - w) * step->a_start[k] + w * step->a[k];
        view->b[k] = (1.0 - w) * step->b_start[k] + w * step->b[k];
    }
    find_invariants(beam->length, between ? step->a_start : view->a,
                    between ? step->b_start : view->b, first);
    find_invariants(beam->length, between ? step->a : view->a, between ? step->b : view->b, last);
    split(first, &x);
    strains_of(beam->length, &x, view->start);
    split(last, &x);
    strains_of(beam->length, &x, view->end);
    take_off_rest(beam, view->start);
    take_off_rest(beam, view->end);
    find_chain(beam->length, first, last, &view->x);
    const double shear[2] = {0.5 * (view->start[0] + view->end[0]),
                             0.5 * (view->start[1] + view->end[1])};
    add_bow(beam, shear, view->x.a);
}

// Add A^T S on the vectors, and its tangent; S changes by `material` times C dE of the second pose
static void add_forces(const beam_element *beam, const element_step *step, helical_view *view,
                       const double *stress, double material, element_output *out)
{
    double g[INVARIANTS], n[INVARIANTS][INVARIANTS], w = view->weight;
    invariant_rows rows, end;
    find_rows(beam->length, view->a, view->b, &rows);
    pull(view->x.a, stress, g);
    add_covector(&rows, g, out);
    if (out->block == NULL) return;
    if (view->between) find_rows(beam->length, step->a, step->b, &end);
    // at one pose both are the same and change together, by w of it
    find_inner(view, beam, material, view->between ? 1.0 : 2.0 * w, stress, n);
    add_inner(&rows, n, view->between ? &end : &rows, out->block);
    add_geometric(beam->length, w, g, out->block);
}

static void helical_gradient(const element *e, const element_step *step, element_output *out)
{
    const beam_element *beam = e->beam;
    bool discrete = step->discrete_gradient;
    double factor = step->factor * beam->length, strain[BEAM_STRAINS], stress[BEAM_STRAINS],
           half = discrete ? 0.5 * step->decay : 0.0;
    helical_view view;
    look(beam, step, discrete, &view);
    for (int i = 0; i < BEAM_STRAINS; ++i) {
        // (W3) with (Z1), (W4)
        strain[i] = discrete ? 0.5 * (view.start[i] + view.end[i]) : view.end[i];
        if (half > 0.0) strain[i] += half * (view.end[i] - view.start[i] - step->change_before[i]);
    }
    beam_stress(beam, factor, strain, stress);
    add_forces(beam, step, &view, stress, factor * (discrete ? 0.5 + half : view.weight), out);
}

// (W5)
static void helical_load(const element *e, const element_step *step, element_output *out)
{
    const beam_element *beam = e->beam;
    if (beam->damping == 0.0) return;
    double factor =
        step->factor * (1.0 + step->damper_excess) * beam->length * beam->damping / step->step_size;
    double change[BEAM_STRAINS], stress[BEAM_STRAINS];
    helical_view view;
    look(beam, step, true, &view);
    for (int i = 0; i < BEAM_STRAINS; ++i) change[i] = view.end[i] - view.start[i];
    beam_stress(beam, factor, change, stress);
    if (step->owed != NULL) {
        double root[BEAM_STRAINS][BEAM_STRAINS];
        beam_root(beam, beam->length * beam->damping, root);
        beam_take_owed(root, step->factor * (1.0 + step->damper_excess) / step->step_size,
                       step->owed, stress);
    }
    add_forces(beam, step, &view, stress, factor, out);
}

static int helical_damped_count(const element *e)
{
    return e->beam->damping > 0.0 ? BEAM_STRAINS : 0;
}

// Rates L^T dE/dt, with eta l C = L L^T: each has the coefficient 1
static void helical_damped(const element *e, const element_step *step, damped_rates *rates)
{
    const beam_element *beam = e->beam;
    double start[BEAM_STRAINS], end[BEAM_STRAINS], root[BEAM_STRAINS][BEAM_STRAINS];
    element_step there = *step;
    helical_view view;
    there.gradient_weight = 1.0;
    look(beam, &there, false, &view);
    beam_root(beam, beam->length * beam->damping, root);
    beam_helical_strain(beam, step->a_start, step->b_start, start);
    beam_helical_strain(beam, step->a, step->b, end);
    for (int k = 0; k < BEAM_STRAINS; ++k) {
        double change = 0.0, column[BEAM_STRAINS] = {0.0};
        for (int i = k; i < BEAM_STRAINS; ++i) {
            column[i] = root[i][k];
            change += root[i][k] * (end[i] - start[i]);
        }
        rates->coefficient[k] = 1.0;
        rates->mean[k] = change / step->step_size;
        element_output out = {.residual_a = rates->row[k], .residual_b = rates->row[k] + 12};
        add_forces(beam, &there, &view, column, 0.0, &out);
    }
}

static void helical_cancelling(const element *e, const element_step *step, double *force,
                               double *moment)
{
    double measures[BEAM_STRAINS];
    beam_helical_measures(e->beam->length, step->a, step->b, measures);
    beam_sizes(e->beam, step->factor, measures, force, moment);
}

static int helical_strain_changes(const element *e, const element_step *step, double *changes)
{
    double start[BEAM_STRAINS];
    beam_helical_strain(e->beam, step->a_start, step->b_start, start);
    beam_helical_strain(e->beam, step->a, step->b, changes);
    for (int i = 0; i < BEAM_STRAINS; ++i) changes[i] -= start[i];
    return BEAM_STRAINS;
}

const element_type element_beam_helical = {
    .name = "beam",
    .dense = true,
    .potential = helical_potential,
    .gradient = helical_gradient,
    .load = helical_load,
    .damped_count = helical_damped_count,
    .damped = helical_damped,
    .cancelling = helical_cancelling,
    .strain_changes = helical_strain_changes,
    .strain_product = beam_strain_product,
    .rates = beam_rates, // those of (W1), which are linear in the poses
};
