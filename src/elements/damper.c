// SPDX-License-Identifier: MIT
// Dampers: what they pull with in a step, and the rates that are filtered after it.
// Note: docs/theory/forces.md
//
//   (DF1)  force = -(c change - owed)/h,   `owed` the impulse that the filter of the step before took
#include "elements/element.h"

#include <string.h>

damper_pull element_damper_pull(const element *e, const element_step *step)
{
    return (damper_pull){(1.0 + step->damper_excess) * e->damping, -element_owed(step, 0)};
}

int element_damped_one(const element *e)
{
    return e->damping > 0.0 ? 1 : 0;
}

int element_damped_count(const element *e)
{
    const element_type *type = element_type_of(e->kind);
    return type->damped_count == NULL ? 0 : type->damped_count(e);
}

void element_damped(const element *e, const element_step *step, damped_rates *rates)
{
    rates->count = element_damped_count(e);
    rates->strength = 1.0;
    memset(rates->row, 0, (size_t)rates->count * sizeof rates->row[0]);
    if (rates->count > 0) element_type_of(e->kind)->damped(e, step, rates);
}

double element_damped_least(const element *e)
{
    return e->law == NULL ? 1.0 : drive_least_damping(e);
}

void element_damped_change(const element *e, const element_step *step, double change,
                           damped_rates *rates)
{
    rates->coefficient[0] = e->damping;
    rates->mean[0] = change / step->step_size;
    // without a direction there is nothing to damp
    if (!element_type_of(e->kind)->rate_row(e, step->a, step->b, rates->row[0]))
        rates->coefficient[0] = 0.0;
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
