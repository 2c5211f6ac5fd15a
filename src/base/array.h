// SPDX-License-Identifier: MIT
// Long vectors as plain arrays.
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline double array_dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

/// Largest absolute value.
static inline double array_largest(const double *x, size_t count)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; ++k) largest = fmax(largest, fabs(x[k]));
    return largest;
}

/// Repeatable numbers in [-1, 1) without any pattern (Knuth's linear congruential generator): a vector of them has a
/// part in every direction. Start the state with any value.
static inline void array_probe(uint64_t *state, double *x, size_t count)
{
    for (size_t k = 0; k < count; ++k) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        x[k] = (double)(*state >> 33) / 1073741824.0 - 1.0;
    }
}

#endif
