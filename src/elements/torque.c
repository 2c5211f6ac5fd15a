// SPDX-License-Identifier: MIT
// Torque on a body, fixed in space or in the body: F_I = 1/2 tau x d^I with the reciprocal directors d^I . d_J =
// delta_IJ.
//
// With these P_int^T F = (0, tau) exactly also at a midpoint, where the directors are not orthonormal.
#include "elements/element.h"

static void torque_load(const element *e, const element_step *step, element_output *out)
{
    double size = element_load_mean(e, step->load_begin, step->load_end);
    hn_vec3 d[3], reciprocal[3];
    for (int i = 0; i < 3; ++i) {
        hn_vec3 start = vec3_load(step->b_start + 3 + 3 * i), end = vec3_load(step->b + 3 + 3 * i);
        d[i] = vec3_add_scaled(vec3_scale(1.0 - step->weight, start), step->weight, end);
    }
    double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
    for (int i = 0; i < 3; ++i)
        reciprocal[i] = vec3_scale(1.0 / volume, vec3_cross(d[(i + 1) % 3], d[(i + 2) % 3]));

    hn_vec3 torque = e->vector;
    if (e->body_fixed) {
        torque = vec3_scale(e->vector.x, d[0]);
        torque = vec3_add_scaled(torque, e->vector.y, d[1]);
        torque = vec3_add_scaled(torque, e->vector.z, d[2]);
    }
    double scale = -0.5 * step->factor * size;
    for (int i = 0; i < 3; ++i) {
        double u[8] = {0.0};
        u[5 + i] = 1.0;
        element_add(u, vec3_scale(scale, vec3_cross(torque, reciprocal[i])), out);
    }
    if (!step->want_terms || step->weight == 0.0) return;

    // delta d^I = -sum_J d^J (d^I . delta d_J); body-fixed: delta tau = sum_J tau_J delta d_J
    const double local[3] = {e->vector.x, e->vector.y, e->vector.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            double u[8] = {0.0}, v[8] = {0.0};
            u[5 + i] = 1.0;
            v[5 + k] = step->weight;
            stiffness_term *term = element_next_term(out, u, v);
            hn_vec3 side = vec3_cross(torque, reciprocal[k]);
            const double s[3] = {side.x, side.y, side.z};
            const double r[3] = {reciprocal[i].x, reciprocal[i].y, reciprocal[i].z};
            for (int row = 0; row < 3; ++row)
                for (int column = 0; column < 3; ++column)
                    term->c[row][column] = -scale * s[row] * r[column];
            if (!e->body_fixed) continue;
            // delta tau x d^I = -d^I x delta tau
            double t = -scale * local[k];
            term->c[0][1] -= t * r[2], term->c[0][2] += t * r[1];
            term->c[1][0] += t * r[2], term->c[1][2] -= t * r[0];
            term->c[2][0] -= t * r[1], term->c[2][1] += t * r[0];
        }
}

const element_type element_torque = {
    .name = "torque",
    .from_outside = true,
    .potential = element_no_potential,
    .gradient = element_no_gradient,
    .load = torque_load,
};
