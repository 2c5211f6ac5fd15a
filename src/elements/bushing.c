// SPDX-License-Identifier: MIT
// Bushing: springs and dampers along and about the three axes of a frame on body a, which meets one on body b.
// Note: docs/theory/forces.md
//
//   (F14)  V = sum_i k_i/2 (a_i . e)^2 + sum_j w_j/2 |a_j - b_j|^2,   w_j = (sum of those about)/2 - that about j
//
// The a_i . e are products, the a_j - b_j linear in q: midpoint gradients with the means of a_i . e are the discrete
// gradient. Turned by phi about axis i, the second sum is k_i (1 - cos phi). Dampers, with s_jk = a_j . b_k and the
// weights w of the turning dampings:
//
//   (F15)  along: c_i d(a_i . e)/h grad(a_i . e)      about: sum_jk w_j ds_jk/h grad s_jk,   both at q_mid
//
// They take c_i (d(a_i . e))^2/h and w_j ds_jk^2/h; the latter together as a turn from one relative orientation to
// the other, and not negative.
#include "elements/bushing.h"
#include "elements/joint_effort.h"

#include <string.h>

static void set_vector(hn_vec3 local, double sign, double *coefficients)
{
    coefficients[1] = sign * local.x;
    coefficients[2] = sign * local.y;
    coefficients[3] = sign * local.z;
}

// Weights of the three axes from what acts about them (F14)
static void find_weights(const double about[3], double weights[3])
{
    double half = 0.5 * (about[0] + about[1] + about[2]);
    for (int j = 0; j < 3; ++j) weights[j] = half - about[j];
}

static double bushing_potential(const element *e, const double *a, const double *b,
                                const double *third, double angle)
{
    (void)third, (void)angle;
    const bushing *own = e->bushing;
    double weights[3], sum = 0.0;
    hn_vec3 link = vec3_combination(e->link, a, b);
    find_weights(own->stiffness + 3, weights);
    for (int i = 0; i < 3; ++i) {
        double axis[8] = {0.0}, apart[8] = {0.0};
        set_vector(own->a[i], 1.0, axis);
        set_vector(own->a[i], 1.0, apart);
        set_vector(own->b[i], -1.0, apart + 4);
        double along = vec3_dot(vec3_combination(axis, a, b), link);
        hn_vec3 open = vec3_combination(apart, a, b);
        sum += 0.5 * (own->stiffness[i] * along * along + weights[i] * vec3_dot(open, open));
    }
    return sum;
}

// U . W of two vectors of the bodies at t_n, at t_n+1, and at the pose between them
typedef struct product_values {
    double start, end, here;
    double
        change; // from start to end, which is not to be a difference where a damper multiplies it by c/h
} product_values;

static product_values values_of(const double *u, const double *w, const element_step *step)
{
    hn_vec3 u0 = vec3_combination(u, step->a_start, step->b_start),
            u1 = vec3_combination(u, step->a, step->b),
            w0 = vec3_combination(w, step->a_start, step->b_start),
            w1 = vec3_combination(w, step->a, step->b);
    double x = step->gradient_weight, change = vec3_dot(u1, w1) - vec3_dot(u0, w0);
    if (step->a_delta != NULL)
        change = vec3_dot(vec3_combination(u, step->a_delta, step->b_delta), vec3_mean(w0, w1)) +
                 vec3_dot(vec3_mean(u0, u1), vec3_combination(w, step->a_delta, step->b_delta));
    return (product_values){vec3_dot(u0, w0), vec3_dot(u1, w1),
                            vec3_dot(vec3_add_scaled(vec3_scale(1.0 - x, u0), x, u1),
                                     vec3_add_scaled(vec3_scale(1.0 - x, w0), x, w1)),
                            change};
}

static void bushing_gradient(const element *e, const element_step *step, element_output *out)
{
    const bushing *own = e->bushing;
    double weights[3], w = step->discrete_gradient ? 0.5 : step->gradient_weight;
    find_weights(own->stiffness + 3, weights);
    for (int i = 0; i < 3; ++i) {
        double axis[8] = {0.0}, apart[8] = {0.0}, k = own->stiffness[i];
        set_vector(own->a[i], 1.0, axis);
        if (k != 0.0) {
            product_values x = values_of(axis, e->link, step);
            if (step->discrete_gradient)
                product_effort(axis, e->link, step, w, 0.5 * k * (x.start + x.end), 0.0, 0.5 * k,
                               out);
            else product_effort(axis, e->link, step, w, k * x.here, k, 0.0, out);
        }
        if (weights[i] == 0.0) continue;
        set_vector(own->a[i], 1.0, apart);
        set_vector(own->b[i], -1.0, apart + 4);
        hn_vec3 open = vec3_add_scaled(
            vec3_scale(1.0 - w, vec3_combination(apart, step->a_start, step->b_start)), w,
            vec3_combination(apart, step->a, step->b));
        double size = step->factor * weights[i];
        element_add(apart, vec3_scale(size, open), out);
        if (!step->want_terms) continue;
        stiffness_term *term = element_next_term(out, apart, apart);
        for (int r = 0; r < 3; ++r) term->c[r][r] = w * size;
    }
}

// c times the rate of U . W over the step, in its middle, less what is owed
static void add_damper(const double *u, const double *w, double c, double owed,
                       const element_step *step, element_output *out)
{
    if (c == 0.0) return;
    product_values x = values_of(u, w, step);
    double by_time = (1.0 + step->damper_excess) * c / step->step_size;
    product_effort(u, w, step, 0.5, by_time * x.change - owed, 0.0, by_time, out);
}

static void bushing_load(const element *e, const element_step *step, element_output *out)
{
    if (e->damping == 0.0) return;
    const bushing *own = e->bushing;
    double weights[3];
    find_weights(own->damping + 3, weights);
    for (int i = 0; i < 3; ++i) {
        double axis[8] = {0.0};
        set_vector(own->a[i], 1.0, axis);
        add_damper(axis, e->link, own->damping[i], element_owed(step, 4 * i), step, out);
        for (int k = 0; k < 3; ++k) {
            double other[8] = {0.0};
            set_vector(own->b[k], 1.0, other + 4);
            add_damper(axis, other, weights[i], element_owed(step, 4 * i + 1 + k), step, out);
        }
    }
}

// At an instant: the gradients of the same products
static int bushing_dampers(const element *e, const double *a, const double *b,
                           double rows[][ELEMENT_COLUMNS], double *coefficients)
{
    const bushing *own = e->bushing;
    double weights[3];
    int count = 0;
    find_weights(own->damping + 3, weights);
    for (int i = 0; i < 3; ++i)
        for (int k = -1; k < 3; ++k) {
            double axis[8] = {0.0}, other[8] = {0.0};
            set_vector(own->a[i], 1.0, axis);
            if (k >= 0) set_vector(own->b[k], 1.0, other + 4);
            const double *w = k < 0 ? e->link : other;
            memset(rows[count], 0, ELEMENT_COLUMNS * sizeof(double));
            element_add_to_row(axis, vec3_combination(w, a, b), rows[count]);
            element_add_to_row(w, vec3_combination(axis, a, b), rows[count]);
            coefficients[count++] = k < 0 ? own->damping[i] : weights[i];
        }
    return count;
}

static int bushing_damped_count(const element *e)
{
    return e->damping > 0.0 ? ELEMENT_DAMPERS_MAX : 0;
}

static void bushing_damped(const element *e, const element_step *step, damped_rates *rates)
{
    double rows[ELEMENT_DAMPERS_MAX][ELEMENT_COLUMNS];
    bushing_dampers(e, step->a, step->b, rows, rates->coefficient);
    for (int r = 0; r < ELEMENT_DAMPERS_MAX; ++r) {
        double axis[8] = {0.0}, other[8] = {0.0};
        set_vector(e->bushing->a[r / 4], 1.0, axis);
        if (r % 4 > 0) set_vector(e->bushing->b[r % 4 - 1], 1.0, other + 4);
        product_values x = values_of(axis, r % 4 == 0 ? e->link : other, step);
        rates->mean[r] = x.change / step->step_size;
        memcpy(rates->row[r], rows[r], sizeof rows[r]);
    }
}

const element_type element_bushing = {
    .name = "bushing",
    .many_terms = true,
    .marks_frame = true,
    .in_space = true,
    .potential = bushing_potential,
    .gradient = bushing_gradient,
    .load = bushing_load,
    .dampers = bushing_dampers,
    .damped_count = bushing_damped_count,
    .damped = bushing_damped,
};
