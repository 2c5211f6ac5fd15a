// SPDX-License-Identifier: MIT
// Linear spring and damper between two points, e = p_b - p_a, l = |e|, V = k/2 (l - L)^2.
//
// Discrete gradient (docs/theory/forces.md):  k (1 - 2L/(l_n + l_n+1)) e_mid     with respect to e
// Gradient at a pose, e = e_mid for the midpoint:  k (1 - L/|e|) e
// Damper, all schemes:                            -(c (l_n+1 - l_n) - owed)/h along 2 e_mid/(l_n + l_n+1)   (DF1)
// `energy-decaying` (docs/theory/energy-decaying.md): the strain is l, the rate e . de/dt over a fixed length
#include "elements/element.h"

static double spring_potential(const element *e, const double *a, const double *b,
                               const double *third, double angle)
{
    (void)third;
    (void)angle;
    double stretch = vec3_norm(vec3_combination(e->link, a, b)) - e->rest;
    return 0.5 * e->stiffness * stretch * stretch;
}

typedef struct spring_geometry {
    hn_vec3 end, middle;
    double length_start, length_end;
    double
        change; // of the length: what a damper multiplies by c/h must not be a difference of lengths
} spring_geometry;

static spring_geometry geometry_of(const element *e, const element_step *step)
{
    hn_vec3 start = vec3_combination(e->link, step->a_start, step->b_start);
    hn_vec3 end = vec3_combination(e->link, step->a, step->b);
    double before = vec3_norm(start), after = vec3_norm(end), change = after - before;
    if (step->a_delta != NULL && before + after > 0.0)
        change = vec3_dot(vec3_combination(e->link, step->a_delta, step->b_delta),
                          vec3_add(start, end)) /
                 (before + after);
    return (spring_geometry){end, vec3_mean(start, end), before, after, change};
}

// term with C = s I + x y^T
static void add_term(const element *e, double s, hn_vec3 x, hn_vec3 y, element_output *out)
{
    stiffness_term *term = element_next_term(out, e->link, e->link);
    const double xs[3] = {x.x, x.y, x.z}, ys[3] = {y.x, y.y, y.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) term->c[i][k] = (i == k ? s : 0.0) + xs[i] * ys[k];
}

static void spring_gradient(const element *e, const element_step *step, element_output *out)
{
    if (e->stiffness == 0.0) return;
    spring_geometry g = geometry_of(e, step);
    double k = step->factor * e->stiffness;
    if (step->discrete_gradient) {
        double sum = g.length_start + g.length_end;
        double slack = e->rest == 0.0 ? 0.0 : 2.0 * e->rest / sum;
        // (Z1): less slack by alpha (change of l less that of the step before)/(l_n + l)
        double decay = sum > 0.0 && g.length_end > 0.0 ? step->decay : 0.0;
        if (decay > 0.0)
            slack -= decay * (g.length_end - g.length_start - step->change_before[0]) / sum;
        element_add(e->link, vec3_scale(k * (1.0 - slack), g.middle), out);
        if (!step->want_terms) return;
        // d/de of 1 - 2L/(l_n + l): 2L/(l_n + l)^2 e/l
        double change =
            slack == 0.0 && decay == 0.0 ? 0.0 : k * (slack + decay) / (sum * g.length_end);
        add_term(e, 0.5 * k * (1.0 - slack), g.middle, vec3_scale(change, g.end), out);
        return;
    }
    double w = step->gradient_weight;
    hn_vec3 start = vec3_combination(e->link, step->a_start, step->b_start);
    hn_vec3 here = vec3_add_scaled(vec3_scale(1.0 - w, start), w, g.end);
    double length = vec3_norm(here);
    double slack = e->rest == 0.0 ? 0.0 : e->rest / length;
    element_add(e->link, vec3_scale(k * (1.0 - slack), here), out);
    if (!step->want_terms) return;
    double change = e->rest == 0.0 ? 0.0 : w * k * slack / (length * length);
    add_term(e, w * k * (1.0 - slack), here, vec3_scale(change, here), out);
}

static void spring_load(const element *e, const element_step *step, element_output *out)
{
    if (e->damping == 0.0) return;
    // minus the force: + (c (l - l_n)/h + constant) * 2 e_mid/(l_n + l)
    spring_geometry g = geometry_of(e, step);
    damper_pull pull = element_damper_pull(e, step);
    double sum = g.length_start + g.length_end;
    double c = 2.0 * step->factor * pull.by_rate / step->step_size,
           constant = 2.0 * step->factor * pull.constant;
    double rate = g.change / sum, size = c * rate + constant / sum;
    element_add(e->link, vec3_scale(size, g.middle), out);
    if (!step->want_terms) return;
    // d rate/de = 2 l_n/sum^2 e/l, d(1/sum)/de = -1/sum^2 e/l
    double change = (c * 2.0 * g.length_start - constant) / (sum * sum * g.length_end);
    add_term(e, 0.5 * size, g.middle, vec3_scale(change, g.end), out);
}

static void spring_damped(const element *e, const element_step *step, damped_rates *rates)
{
    spring_geometry g = geometry_of(e, step);
    element_damped_change(e, step, g.change, rates);
}

static bool spring_rate_row(const element *e, const double *a, const double *b, double *row)
{
    hn_vec3 link = vec3_combination(e->link, a, b);
    double length = vec3_norm(link);
    if (length == 0.0) return false;
    element_add_to_row(e->link, vec3_scale(1.0 / length, link), row);
    return true;
}

static int spring_strain_changes(const element *e, const element_step *step, double *changes)
{
    if (e->stiffness == 0.0) return 0;
    spring_geometry g = geometry_of(e, step);
    changes[0] = g.length_end - g.length_start;
    return 1;
}

static double spring_strain_product(const element *e, const double *x, const double *y)
{
    return e->stiffness * x[0] * y[0];
}

// symmetric in q and v
static int spring_rates(const element *e, bool by_place, const double *a, const double *b,
                        double rows[][ELEMENT_COLUMNS])
{
    (void)by_place;
    if (e->stiffness == 0.0 || !(e->rate_length > 0.0)) return 0;
    hn_vec3 direction = vec3_scale(1.0 / e->rate_length, vec3_combination(e->link, a, b));
    for (int k = 0; k < 8; ++k) vec3_store(vec3_scale(e->link[k], direction), rows[0] + 3 * k);
    return 1;
}

const element_type element_spring = {
    .name = "spring",
    .potential = spring_potential,
    .gradient = spring_gradient,
    .load = spring_load,
    .rate_row = spring_rate_row,
    .damped_count = element_damped_one,
    .damped = spring_damped,
    .strain_changes = spring_strain_changes,
    .strain_product = spring_strain_product,
    .rates = spring_rates,
};
