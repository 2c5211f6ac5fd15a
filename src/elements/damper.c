// SPDX-License-Identifier: MIT
// Dampers of springs and torsional springs: their rates, and coefficients that act as e^(-z) whatever z = h c/m is.
// Note: docs/theory/forces.md
//
//   (F9)   midpoint rules:  c tanh(z/2)/(z/2), so that (1 - x)/(1 + x) with x = tanh(z/2) is e^(-z)
//   (F11)  `rattle`:        c x/z with 1 - x + x^2/2 = e^(-z); from z = log 2 on x = 1, the least it can do
#include "elements/element.h"

#include <string.h>

static const double PART_SERIES =
    1e-4; // z below which parts are 1 - z^2/12 and 1 + z^2/6; next terms z^4/120

double damper_part(damper_form form, double z)
{
    if (form == DAMPER_PLAIN || !(z > 0.0)) return 1.0;
    if (form == DAMPER_MIDPOINT) {
        if (z < PART_SERIES) return 1.0 - z * z / 12.0;
        return isfinite(z) ? tanh(0.5 * z) / (0.5 * z) : 0.0;
    }
    if (z < PART_SERIES) return 1.0 + z * z / 6.0;
    double lost = -2.0 * expm1(-z); // 2 (1 - e^(-z))
    return lost < 1.0 ? lost / (1.0 + sqrt(1.0 - lost)) / z : 1.0 / z;
}

double element_damping(const element *e, const element_step *step)
{
    return e->damping * damper_part(step->damper_form, step->step_size * e->damping * e->mobility);
}

static void add_to_row(const double *coefficients, hn_vec3 x, double *row)
{
    for (int k = 0; k < 8; ++k)
        vec3_store(vec3_add_scaled(vec3_load(row + 3 * k), coefficients[k], x), row + 3 * k);
}

bool element_rate_row(const element *e, const double *a, const double *b, double *row)
{
    memset(row, 0, 24 * sizeof(double));
    if (e->kind == ELEMENT_SPRING) {
        hn_vec3 link = element_vector(e->link, a, b);
        double length = vec3_norm(link);
        if (length == 0.0) return false;
        add_to_row(e->link, vec3_scale(1.0 / length, link), row);
        return true;
    }
    if (e->kind != ELEMENT_TORSION_SPRING && e->kind != ELEMENT_DRIVE) return false;
    // theta = atan2(a2 . b1, a1 . b1) and its gradient on a1, a2, b1
    const double a1[8] = {0.0, e->a1.x, e->a1.y, e->a1.z}, a2[8] = {0.0, e->a2.x, e->a2.y, e->a2.z};
    const double b1[8] = {0.0, 0.0, 0.0, 0.0, 0.0, e->b1.x, e->b1.y, e->b1.z};
    if (e->displacement) {
        add_to_row(e->link, element_vector(a1, a, b), row);
        add_to_row(a1, element_vector(e->link, a, b), row);
        return true;
    }
    hn_vec3 x1 = element_vector(a1, a, b), x2 = element_vector(a2, a, b),
            y = element_vector(b1, a, b);
    double c = vec3_dot(x1, y), s = vec3_dot(x2, y), square = c * c + s * s;
    if (!(square > 0.0)) return false;
    add_to_row(a1, vec3_scale(-s / square, y), row);
    add_to_row(a2, vec3_scale(c / square, y), row);
    add_to_row(b1, vec3_scale(1.0 / square, vec3_add_scaled(vec3_scale(c, x2), -s, x1)), row);
    return true;
}
