// SPDX-License-Identifier: MIT
// Dampers of springs and torsional springs: their rates, and what of them acts in `rattle`.
// Note: docs/theory/forces.md
//
//   (F11)  `rattle`:  c x/z with 1 - x + x^2/2 = e^(-z); from z = log 2 on x = 1, the least it can do
#include "elements/element.h"

#include <string.h>

// z below which the part is 1 + z^2/6; next term z^4/120
static const double PART_SERIES = 1e-4;

// Part of a damper's coefficient that acts (F9, F11)
static double part_of(damper_form form, double z)
{
    if (form != DAMPER_EXPLICIT || !(z > 0.0)) return 1.0;
    if (z < PART_SERIES) return 1.0 + z * z / 6.0;
    double lost = -2.0 * expm1(-z); // 2 (1 - e^(-z))
    return lost < 1.0 ? lost / (1.0 + sqrt(1.0 - lost)) / z : 1.0 / z;
}

double damper_steady_part(damper_form form, double z)
{
    return part_of(form, z);
}

damper_pull element_damper_pull(const element *e, const element_step *step)
{
    double z = step->step_size * e->damping * e->mobility;
    return (damper_pull){(1.0 + step->damper_excess) * e->damping * part_of(step->damper_form, z),
                         0.0};
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
