// SPDX-License-Identifier: MIT
// Gram-Schmidt with the largest vector first. What is left of a vector is known to round-off of its first length.
#include "linalg/small_span.h"

#include "base/array.h"

// x -= its part along the unit vector
static void remove_part(int size, const double *unit, double *x)
{
    double part = array_dot(unit, x, (size_t)size);
    for (int k = 0; k < size; ++k) x[k] -= part * unit[k];
}

int small_span(int size, int count, double *vectors, double tolerance, double *basis, int *chosen)
{
    int dimension = 0;
    while (dimension < size) {
        int longest = -1;
        double length = tolerance;
        for (int i = 0; i < count; ++i) {
            const double *x = vectors + size * i;
            double own = sqrt(array_dot(x, x, (size_t)size));
            if (own > length) length = own, longest = i;
        }
        if (longest < 0) break;
        if (chosen != NULL) chosen[dimension] = longest;
        double *unit = basis + size * dimension;
        for (int k = 0; k < size; ++k) unit[k] = vectors[size * longest + k] / length;
        // again, as what is left of a vector may be short beside what was taken away
        for (int i = 0; i < dimension; ++i) remove_part(size, basis + size * i, unit);
        double again = sqrt(array_dot(unit, unit, (size_t)size));
        for (int k = 0; k < size; ++k) unit[k] /= again;
        for (int i = 0; i < count; ++i) remove_part(size, unit, vectors + size * i);
        dimension++;
    }
    return dimension;
}

void small_span_complement(int size, int dimension, const double *basis, double *projector)
{
    for (int i = 0; i < size; ++i)
        for (int k = 0; k < size; ++k) {
            double sum = i == k ? 1.0 : 0.0;
            for (int n = 0; n < dimension; ++n) sum -= basis[size * n + i] * basis[size * n + k];
            projector[size * i + k] = sum;
        }
}
