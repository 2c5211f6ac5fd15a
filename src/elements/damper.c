// SPDX-License-Identifier: MIT
// Dampers of springs and torsional springs: their rates, and rules that act as e^(-z) whatever z = h c/m is.
// Note: docs/theory/forces.md
//
//   (F16)  rules that know the rate r_n at t_n:  c ((1 + w) mean rate - w r_n),  w = coth(z/2) - 2/z
//   (F9)   other midpoint rules:  c tanh(z/2)/(z/2), so that (1 - x)/(1 + x) with x = tanh(z/2) is e^(-z)
//   (F11)  `rattle`:  c x/z with 1 - x + x^2/2 = e^(-z); from z = log 2 on x = 1, the least it can do
#include "elements/element.h"

#include <string.h>

// z below which parts are 1 - z^2/12 and 1 + z^2/6; next terms z^4/120
static const double PART_SERIES = 1e-4;
static const double LAG_SERIES =
    0.05; // z below which w is z/6 - z^3/360 + z^5/15120; next term z^7/604800

// z that a damper has at most in (F16): its pull is a difference of terms that are z times as large where a motion ends
static const double STRONGEST = 30.0;

// w of (F16): how much of the damper's rate is that of t_n+1 rather than the mean
static double lag_of(double z, double acting)
{
    if (z < LAG_SERIES) return z / 6.0 * (1.0 - z * z / 60.0 * (1.0 - z * z / 42.0));
    return 1.0 / tanh(0.5 * z) - 2.0 / acting;
}

// Part of a damper's coefficient that acts (F9, F11)
static double part_of(damper_form form, double z)
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

double damper_steady_part(damper_form form, double z)
{
    return form == DAMPER_NODES ? fmin(1.0, STRONGEST / z) : part_of(form, z);
}

damper_pull element_damper_pull(const element *e, const element_step *step)
{
    double z = step->step_size * e->damping * e->mobility;
    double c = (1.0 + step->damper_excess) * e->damping * damper_steady_part(step->damper_form, z);
    if (step->damper_form != DAMPER_NODES) return (damper_pull){c, 0.0};
    double lag = lag_of(z, fmin(z, STRONGEST));
    return (damper_pull){c * (1.0 + lag), -c * lag * step->damper_rate};
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
