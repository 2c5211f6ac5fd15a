// SPDX-License-Identifier: MIT
// A torque between two bodies about an axis n of the first, without any angle. Note: docs/theory/prescribed.md
//
//   (O6)  F_I = 1/2 tau n x d^I on b, -1/2 tau n x d^I on a, with the reciprocal directors of each:  F . Delta = tau D,
//         D = n_mid . (theta_b - theta_a),   theta: Delta d = theta x d_mid
//
// theta_a and theta_b are the Cayley vectors of the step: nothing is singular below half a turn in a step.
#include "elements/rotation_effort.h"

// The axis as coefficients
static void axis_of(const element *e, double axis[8])
{
    for (int k = 0; k < 8; ++k) axis[k] = 0.0;
    vec3_store(rotation_axis(e), axis + 1);
}

static void mix_directors(const double *start, const double *end, double weight, hn_vec3 d[3])
{
    for (int i = 0; i < 3; ++i)
        d[i] = vec3_add_scaled(vec3_scale(1.0 - weight, vec3_load(start + 3 + 3 * i)), weight,
                               vec3_load(end + 3 + 3 * i));
}

static void find_reciprocals(const hn_vec3 d[3], hn_vec3 reciprocal[3])
{
    double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
    for (int i = 0; i < 3; ++i)
        reciprocal[i] = vec3_scale(1.0 / volume, vec3_cross(d[(i + 1) % 3], d[(i + 2) % 3]));
}

// size/2 n x d^I on the directors of one side; `axis` is what n is made of
static void add_moment(int side, const hn_vec3 reciprocal[3], hn_vec3 n, const double *axis,
                       double size, double weight, bool want_terms, element_output *out)
{
    double half = 0.5 * size;
    for (int i = 0; i < 3; ++i) {
        double u[8] = {0.0};
        u[4 * side + 1 + i] = 1.0;
        element_add(u, vec3_scale(half, vec3_cross(n, reciprocal[i])), out);
        if (!want_terms || weight == 0.0) continue;
        const double r[3] = {reciprocal[i].x, reciprocal[i].y, reciprocal[i].z};
        // delta d^I = -sum_J d^J (d^I . delta d_J)
        for (int k = 0; k < 3; ++k) {
            double v[8] = {0.0};
            v[4 * side + 1 + k] = weight;
            hn_vec3 x = vec3_cross(n, reciprocal[k]);
            const double across[3] = {x.x, x.y, x.z};
            stiffness_term *term = element_next_term(out, u, v);
            for (int row = 0; row < 3; ++row)
                for (int column = 0; column < 3; ++column)
                    term->c[row][column] = -half * across[row] * r[column];
        }
        // delta n x d^I = -d^I x delta n
        double v[8];
        for (int k = 0; k < 8; ++k) v[k] = weight * axis[k];
        stiffness_term *term = element_next_term(out, u, v);
        term->c[0][1] = half * r[2], term->c[0][2] = -half * r[1];
        term->c[1][0] = -half * r[2], term->c[1][2] = half * r[0];
        term->c[2][0] = half * r[1], term->c[2][1] = -half * r[0];
    }
}

void rotation_effort(const element *e, const element_step *step, double weight, double effort,
                     element_output *out)
{
    double axis[8], size = step->factor * effort;
    axis_of(e, axis);
    hn_vec3 n = vec3_add_scaled(
        vec3_scale(1.0 - weight, vec3_combination(axis, step->a_start, step->b_start)), weight,
        vec3_combination(axis, step->a, step->b));
    for (int side = 0; side < 2; ++side) {
        hn_vec3 d[3], reciprocal[3];
        if ((side == 0 ? e->a : e->b) < 0) continue;
        mix_directors(side == 0 ? step->a_start : step->b_start, side == 0 ? step->a : step->b,
                      weight, d);
        find_reciprocals(d, reciprocal);
        add_moment(side, reciprocal, n, axis, side == 0 ? -size : size, weight, step->want_terms,
                   out);
    }
}

// theta with Delta d = theta x d_mid: 1/2 sum d^I x Delta d_I
static hn_vec3 cayley_vector(const double *start, const double *end)
{
    hn_vec3 d[3], reciprocal[3], theta = vec3(0.0, 0.0, 0.0);
    mix_directors(start, end, 0.5, d);
    find_reciprocals(d, reciprocal);
    for (int i = 0; i < 3; ++i) {
        hn_vec3 change = vec3_subtract(vec3_load(end + 3 + 3 * i), vec3_load(start + 3 + 3 * i));
        theta = vec3_add_scaled(theta, 0.5, vec3_cross(reciprocal[i], change));
    }
    return theta;
}

double rotation_change(const element *e, const element_step *step)
{
    double axis[8];
    axis_of(e, axis);
    hn_vec3 n = vec3_mean(vec3_combination(axis, step->a_start, step->b_start),
                          vec3_combination(axis, step->a, step->b));
    hn_vec3 theta = vec3(0.0, 0.0, 0.0);
    if (e->b >= 0) theta = cayley_vector(step->b_start, step->b);
    if (e->a >= 0) theta = vec3_subtract(theta, cayley_vector(step->a_start, step->a));
    return vec3_dot(n, theta);
}

void rotation_rate_row(const element *e, const double *a, const double *b, double *row)
{
    double axis[8];
    axis_of(e, axis);
    hn_vec3 n = vec3_combination(axis, a, b);
    // omega = 1/2 sum d_I x d_I'
    for (int i = 0; i < 3; ++i) {
        vec3_store(vec3_scale(-0.5, vec3_cross(n, vec3_load(a + 3 + 3 * i))), row + 3 + 3 * i);
        vec3_store(vec3_scale(0.5, vec3_cross(n, vec3_load(b + 3 + 3 * i))), row + 15 + 3 * i);
    }
}
