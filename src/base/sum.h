// SPDX-License-Identifier: MIT
// Compensated summation (Neumaier): sums over many bodies keep their last digits.
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <math.h>

typedef struct exact_sum {
    double value;
    double lost; ///< what rounding took from `value`
} exact_sum;

static inline void sum_add(exact_sum *s, double x)
{
    double next = s->value + x;
    s->lost += fabs(s->value) >= fabs(x) ? (s->value - next) + x : (x - next) + s->value;
    s->value = next;
}

static inline double sum_total(const exact_sum *s)
{
    return s->value + s->lost;
}

/// The larger of two, or the one that is not a number: fmax would drop it.
static inline double worse_of(double a, double b)
{
    return a > b || a != a ? a : b;
}

#endif
