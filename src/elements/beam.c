// SPDX-License-Identifier: MIT
// Geometrically exact beam element with two nodes: directors interpolated linearly, one point of quadrature.
// Note: docs/theory/beams.md
//
//   (W1)  Gamma_i = d_i . phi',   K_i = 1/2 e_ijk d_k . d_j'      at the middle, d = (d_a + d_b)/2, x' = (x_b - x_a)/l
//         so that K_1 = (d3_a . d2_b - d3_b . d2_a)/(2 l), and cyclically
//   (W2)  V = l/2 (E - E_0)^T C (E - E_0),   E = (Gamma, K)
//   (W3)  discrete gradient:      l B(q_mid)^T C ((E_n + E_n+1)/2 - E_0),   B = dE/dq
//   (W4)  gradient at one pose:   l B(q)^T C (E(q) - E_0)
//   (W5)  damper, all schemes:    l B(q_mid)^T eta C (E_n+1 - E_n)/h
//   (W8)  stable under tension:   N (1 + strain) l^2 < 4 EI, of a quadratic element < 24 EI
//
// E is quadratic in the coordinates, so B is linear in them and B(q_mid) (q_n+1 - q_n) = E_n+1 - E_n exactly.
#include "elements/element.h"

// B in slots: each of the eight vectors x_k meets three of the six strains
typedef struct strain_rows {
    hn_vec3 slot[8][3]; // d E_r/d x_k for the strains r of STRAINS_OF[k % 4]
} strain_rows;

static const int STRAINS_OF[4][3] = {{0, 1, 2}, {0, 4, 5}, {1, 3, 5}, {2, 3, 4}};

// K_1 = (d3_a . d2_b - d3_b . d2_a)/(2 l) and cyclically: strain 3 + i pairs director PLUS[i] of a with MINUS[i] of b
static const int PLUS[3] = {3, 1, 2}, MINUS[3] = {2, 3, 1};

void beam_strain_measures(double length, const double *a, const double *b, double *measures)
{
    hn_vec3 slope = vec3_scale(1.0 / length, vec3_subtract(vec3_load(b), vec3_load(a)));
    for (int i = 0; i < 3; ++i) {
        hn_vec3 d = vec3_mean(vec3_load(a + 3 + 3 * i), vec3_load(b + 3 + 3 * i));
        measures[i] = vec3_dot(d, slope);
    }
    for (int i = 0; i < 3; ++i)
        measures[3 + i] = 0.5 / length *
                          (vec3_dot(vec3_load(a + 3 * PLUS[i]), vec3_load(b + 3 * MINUS[i])) -
                           vec3_dot(vec3_load(b + 3 * PLUS[i]), vec3_load(a + 3 * MINUS[i])));
}

void beam_measures(const beam_element *beam, const double *a, const double *b, double *measures)
{
    (beam->helical ? beam_helical_measures : beam_strain_measures)(beam->length, a, b, measures);
}

void beam_stress(const beam_element *beam, double factor, const double *strain, double *stress)
{
    for (int i = 0; i < BEAM_STRAINS; ++i) {
        double sum = 0.0;
        for (int k = 0; k < BEAM_STRAINS; ++k) sum += beam->stiffness[i][k] * strain[k];
        stress[i] = factor * sum;
    }
}

// C is positive semidefinite: a pivot that is not beyond round-off is none
void beam_root(const beam_element *beam, double factor, double root[BEAM_STRAINS][BEAM_STRAINS])
{
    const double NO_PIVOT = 1e-14; // of its number on the diagonal
    for (int k = 0; k < BEAM_STRAINS; ++k)
        for (int i = 0; i < BEAM_STRAINS; ++i) {
            double sum = i < k ? 0.0 : factor * beam->stiffness[i][k];
            for (int j = 0; j < k && i >= k; ++j) sum -= root[i][j] * root[k][j];
            if (i == k) sum = sum > NO_PIVOT * factor * beam->stiffness[k][k] ? sqrt(sum) : 0.0;
            else if (i > k) sum = root[k][k] > 0.0 ? sum / root[k][k] : 0.0;
            root[i][k] = sum;
        }
}

void beam_take_owed(double root[BEAM_STRAINS][BEAM_STRAINS], double factor, const double *x,
                    double *stress)
{
    for (int i = 0; i < BEAM_STRAINS; ++i)
        for (int k = 0; k <= i; ++k) stress[i] -= factor * root[i][k] * x[k];
}

void beam_resultants(const beam_element *beam, const double *a, const double *b, double *strain,
                     double *resultant)
{
    if (beam->helical) {
        beam_helical_strain(beam, a, b, strain);
    } else {
        beam_strain_measures(beam->length, a, b, strain);
        for (int i = 0; i < BEAM_STRAINS; ++i) strain[i] -= beam->rest[i];
    }
    beam_stress(beam, 1.0, strain, resultant);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) strain[i] -= beam->bow[i][k] * resultant[k];
}

// K_i l is the angle about d_i for one axis alone, (W1) has its sine; all together: of the whole rotation, about
double beam_bend(const beam_element *beam, const double *a, const double *b)
{
    double measures[BEAM_STRAINS], square = 0.0;
    beam_measures(beam, a, b, measures);
    for (int i = 3; i < BEAM_STRAINS; ++i) {
        double part = beam->length * measures[i] - beam->turn[i - 3];
        square += part * part;
    }
    return beam->helical ? sqrt(square) : asin(fmin(1.0, sqrt(square)));
}

// (W8) with the smaller one of both bending stiffnesses
double beam_tension(const beam_element *beam, bool quadratic, const double *strain,
                    const double *resultant)
{
    double force = resultant[2] * (strain[2] + beam->rest[2]),
           length = quadratic ? 2.0 * beam->weight : beam->weight;
    if (!(force > 0.0) || beam->helical) return 0.0;
    double first = beam->stiffness[3][3], second = beam->stiffness[4][4],
           half = hypot(0.5 * (first - second), beam->stiffness[3][4]),
           bending = 0.5 * (first + second) - half;
    return force * length * length / (beam_tension_limit(quadratic) * bending);
}

// (W2)
static double beam_potential(const element *e, const double *a, const double *b,
                             const double *third, double angle)
{
    (void)third;
    (void)angle;
    double strain[BEAM_STRAINS], stress[BEAM_STRAINS], twice = 0.0;
    beam_resultants(e->beam, a, b, strain, stress);
    for (int i = 0; i < BEAM_STRAINS; ++i) twice += strain[i] * stress[i];
    return 0.5 * e->beam->length * twice;
}

// B at the poses a and b
static void find_rows(double length, const double *a, const double *b, strain_rows *rows)
{
    double half = 0.5 / length;
    hn_vec3 slope = vec3_scale(half, vec3_subtract(vec3_load(b), vec3_load(a)));
    for (int i = 0; i < 3; ++i) {
        hn_vec3 da = vec3_load(a + 3 + 3 * i), db = vec3_load(b + 3 + 3 * i);
        hn_vec3 mean = vec3_scale(half, vec3_add(da, db));
        rows->slot[0][i] = vec3_negate(mean);
        rows->slot[4][i] = mean;
        rows->slot[1 + i][0] = rows->slot[5 + i][0] = slope;
    }
    for (int x = 1; x < 4; ++x)
        for (int r = 1; r < 3; ++r) {
            int i = STRAINS_OF[x][r] - 3;
            // the other director of the pair, and its sign on a; on b it is the opposite one
            int other = PLUS[i] == x ? MINUS[i] : PLUS[i];
            double sign = PLUS[i] == x ? half : -half;
            rows->slot[x][r] = vec3_scale(sign, vec3_load(b + 3 * other));
            rows->slot[4 + x][r] = vec3_scale(-sign, vec3_load(a + 3 * other));
        }
}

// residual += B^T S
static void add_stress(const strain_rows *rows, const double *stress, element_output *out)
{
    for (int x = 0; x < 8; ++x) {
        double *residual = x < 4 ? out->residual_a : out->residual_b;
        if (residual == NULL) continue;
        double *to = residual + 3 * (x % 4);
        hn_vec3 sum = vec3_load(to);
        for (int r = 0; r < 3; ++r)
            sum = vec3_add_scaled(sum, stress[STRAINS_OF[x % 4][r]], rows->slot[x][r]);
        vec3_store(sum, to);
    }
}

// block += factor B_left^T C B_right
static void add_material(const beam_element *beam, double factor, const strain_rows *left,
                         const strain_rows *right, element_block *block)
{
    // C B_right: strains by 24 columns
    double product[BEAM_STRAINS][24];
    for (int y = 0; y < 8; ++y) {
        const int *of = STRAINS_OF[y % 4];
        for (int i = 0; i < BEAM_STRAINS; ++i) {
            const double *c = beam->stiffness[i];
            hn_vec3 sum = vec3_scale(factor * c[of[0]], right->slot[y][0]);
            sum = vec3_add_scaled(sum, factor * c[of[1]], right->slot[y][1]);
            sum = vec3_add_scaled(sum, factor * c[of[2]], right->slot[y][2]);
            vec3_store(sum, &product[i][3 * y]);
        }
    }
    for (int x = 0; x < 8; ++x) {
        const int *of = STRAINS_OF[x % 4];
        const double *p0 = product[of[0]], *p1 = product[of[1]], *p2 = product[of[2]];
        double s[3][3];
        for (int r = 0; r < 3; ++r) vec3_store(left->slot[x][r], s[r]);
        for (int i = 0; i < 3; ++i) {
            double *to = block->k[3 * x + i];
            for (int c = 0; c < 24; ++c)
                to[c] += s[0][i] * p0[c] + s[1][i] * p1[c] + s[2][i] * p2[c];
        }
    }
}

static void add_pair(element_block *block, int x, int y, double value)
{
    for (int i = 0; i < 3; ++i) {
        block->k[3 * x + i][3 * y + i] += value;
        block->k[3 * y + i][3 * x + i] += value;
    }
}

// block += factor d(B^T S)/dq at fixed S: numbers on pairs of vectors, whatever the poses
static void add_geometric(double length, double factor, const double *stress, element_block *block)
{
    double half = 0.5 * factor / length;
    for (int i = 0; i < 3; ++i)
        for (int side = 0; side < 2; ++side) {
            add_pair(block, 0, 4 * side + 1 + i, -half * stress[i]);
            add_pair(block, 4, 4 * side + 1 + i, half * stress[i]);
        }
    for (int i = 0; i < 3; ++i) {
        add_pair(block, PLUS[i], 4 + MINUS[i], half * stress[3 + i]);
        add_pair(block, 4 + PLUS[i], MINUS[i], -half * stress[3 + i]);
    }
}

// poses (1 - w) q_n + w q_n+1 of both nodes
static void poses_between(const element_step *step, double w, double *a, double *b)
{
    for (int k = 0; k < 12; ++k) {
        a[k] = (1.0 - w) * step->a_start[k] + w * step->a[k];
        b[k] = (1.0 - w) * step->b_start[k] + w * step->b[k];
    }
}

static void beam_gradient(const element *e, const element_step *step, element_output *out)
{
    const beam_element *beam = e->beam;
    double factor = step->factor * beam->length, w = step->gradient_weight;
    double a[12], b[12], strain[BEAM_STRAINS], stress[BEAM_STRAINS];
    strain_rows rows, end;
    if (step->discrete_gradient) {
        // (W3), with (Z1)
        double start[BEAM_STRAINS], half = 0.5 * step->decay;
        w = 0.5;
        beam_strain_measures(beam->length, step->a_start, step->b_start, start);
        beam_strain_measures(beam->length, step->a, step->b, strain);
        for (int i = 0; i < BEAM_STRAINS; ++i) {
            double mean = 0.5 * (start[i] + strain[i]) - beam->rest[i];
            if (half > 0.0) mean += half * (strain[i] - start[i] - step->change_before[i]);
            strain[i] = mean;
        }
        poses_between(step, w, a, b);
    } else {
        // (W4)
        poses_between(step, w, a, b);
        beam_strain_measures(beam->length, a, b, strain);
        for (int i = 0; i < BEAM_STRAINS; ++i) strain[i] -= beam->rest[i];
    }
    beam_stress(beam, factor, strain, stress);
    find_rows(beam->length, a, b, &rows);
    add_stress(&rows, stress, out);
    if (out->block == NULL) return;
    if (step->discrete_gradient) find_rows(beam->length, step->a, step->b, &end);
    add_material(beam, (step->discrete_gradient ? w * (1.0 + step->decay) : w) * factor, &rows,
                 step->discrete_gradient ? &end : &rows, out->block);
    add_geometric(beam->length, w, stress, out->block);
}

// (W5)
static void beam_load(const element *e, const element_step *step, element_output *out)
{
    const beam_element *beam = e->beam;
    if (beam->damping == 0.0) return;
    double factor =
        step->factor * (1.0 + step->damper_excess) * beam->length * beam->damping / step->step_size;
    double a[12], b[12], start[BEAM_STRAINS], change[BEAM_STRAINS], stress[BEAM_STRAINS];
    strain_rows rows, end;
    poses_between(step, 0.5, a, b);
    beam_strain_measures(beam->length, step->a_start, step->b_start, start);
    beam_strain_measures(beam->length, step->a, step->b, change);
    for (int i = 0; i < BEAM_STRAINS; ++i) change[i] -= start[i];
    beam_stress(beam, factor, change, stress);
    if (step->owed != NULL) {
        double root[BEAM_STRAINS][BEAM_STRAINS];
        beam_root(beam, beam->length * beam->damping, root);
        beam_take_owed(root, step->factor * (1.0 + step->damper_excess) / step->step_size,
                       step->owed, stress);
    }
    find_rows(beam->length, a, b, &rows);
    add_stress(&rows, stress, out);
    if (out->block == NULL) return;
    find_rows(beam->length, step->a, step->b, &end);
    add_material(beam, factor, &rows, &end, out->block);
    add_geometric(beam->length, 0.5, stress, out->block);
}

static int beam_damped_count(const element *e)
{
    return e->beam->damping > 0.0 ? BEAM_STRAINS : 0;
}

// Rates L^T dE/dt, with eta l C = L L^T: each has the coefficient 1
static void beam_damped(const element *e, const element_step *step, damped_rates *rates)
{
    const beam_element *beam = e->beam;
    double start[BEAM_STRAINS], end[BEAM_STRAINS], root[BEAM_STRAINS][BEAM_STRAINS];
    strain_rows slots;
    beam_root(beam, beam->length * beam->damping, root);
    beam_strain_measures(beam->length, step->a_start, step->b_start, start);
    beam_strain_measures(beam->length, step->a, step->b, end);
    find_rows(beam->length, step->a, step->b, &slots);
    for (int k = 0; k < BEAM_STRAINS; ++k) {
        double change = 0.0;
        for (int i = k; i < BEAM_STRAINS; ++i) change += root[i][k] * (end[i] - start[i]);
        rates->coefficient[k] = 1.0;
        rates->mean[k] = change / step->step_size;
        for (int x = 0; x < 8; ++x)
            for (int r = 0; r < 3; ++r) {
                double *to = rates->row[k] + 3 * x;
                hn_vec3 slot = slots.slot[x][r];
                vec3_store(vec3_add_scaled(vec3_load(to), root[STRAINS_OF[x % 4][r]][k], slot), to);
            }
    }
}

// E and E_0 are of size one, their difference is small: C E and C E_0 are what is subtracted
void beam_sizes(const beam_element *beam, double factor, const double *measures, double *force,
                double *moment)
{
    double size[BEAM_STRAINS] = {0.0};
    for (int i = 0; i < BEAM_STRAINS; ++i)
        for (int k = 0; k < BEAM_STRAINS; ++k)
            size[i] +=
                factor * fabs(beam->stiffness[i][k]) * (fabs(measures[k]) + fabs(beam->rest[k]));
    *force = size[0] + size[1] + size[2];
    *moment = beam->length * *force + size[3] + size[4] + size[5];
}

static void beam_cancelling(const element *e, const element_step *step, double *force,
                            double *moment)
{
    double measures[BEAM_STRAINS];
    beam_strain_measures(e->beam->length, step->a, step->b, measures);
    beam_sizes(e->beam, step->factor, measures, force, moment);
}

static int beam_strain_changes(const element *e, const element_step *step, double *changes)
{
    double start[BEAM_STRAINS];
    beam_strain_measures(e->beam->length, step->a_start, step->b_start, start);
    beam_strain_measures(e->beam->length, step->a, step->b, changes);
    for (int i = 0; i < BEAM_STRAINS; ++i) changes[i] -= start[i];
    return BEAM_STRAINS;
}

double beam_strain_product(const element *e, const double *x, const double *y)
{
    double stress[BEAM_STRAINS], sum = 0.0;
    beam_stress(e->beam, e->beam->length, x, stress);
    for (int i = 0; i < BEAM_STRAINS; ++i) sum += stress[i] * y[i];
    return sum;
}

// symmetric in q and v, as strains are quadratic
int beam_rates(const element *e, bool by_place, const double *a, const double *b,
               double rows[][ELEMENT_COLUMNS])
{
    (void)by_place;
    strain_rows slots;
    find_rows(e->beam->length, a, b, &slots);
    for (int i = 0; i < BEAM_STRAINS; ++i)
        for (int c = 0; c < ELEMENT_COLUMNS; ++c) rows[i][c] = 0.0;
    for (int x = 0; x < 8; ++x)
        for (int r = 0; r < 3; ++r)
            vec3_store(slots.slot[x][r], rows[STRAINS_OF[x % 4][r]] + 3 * x);
    return BEAM_STRAINS;
}

const element_type element_beam = {
    .name = "beam",
    .dense = true,
    .potential = beam_potential,
    .gradient = beam_gradient,
    .load = beam_load,
    .damped_count = beam_damped_count,
    .damped = beam_damped,
    .cancelling = beam_cancelling,
    .strain_changes = beam_strain_changes,
    .strain_product = beam_strain_product,
    .rates = beam_rates,
};
