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

void element_add_to_row(const double *coefficients, hn_vec3 x, double *row)
{
    for (int k = 0; k < 8; ++k)
        vec3_store(vec3_add_scaled(vec3_load(row + 3 * k), coefficients[k], x), row + 3 * k);
}

bool element_rate_row(const element *e, const double *a, const double *b, double *row)
{
    memset(row, 0, ELEMENT_COLUMNS * sizeof(double));
    const element_type *type = element_type_of(e->kind);
    return type->rate_row != NULL && type->rate_row(e, a, b, row);
}

int element_dampers(const element *e, const double *a, const double *b,
                    double rows[][ELEMENT_COLUMNS], double *coefficients)
{
    const element_type *type = element_type_of(e->kind);
    if (e->damping == 0.0) return 0;
    if (type->dampers != NULL) return type->dampers(e, a, b, rows, coefficients);
    coefficients[0] = e->damping;
    return element_rate_row(e, a, b, rows[0]) ? 1 : 0;
}
