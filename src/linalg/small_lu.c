// SPDX-License-Identifier: MIT
// Dense LU with partial pivoting for small matrices.
#include "linalg/small_lu.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

// Two doubles that are added and multiplied together; gcc and clang know such types on every processor.
typedef double pair __attribute__((vector_size(16)));

// to -= factor from
static inline void subtract_scaled(int count, double factor, const double *from, double *to)
{
    int j = 0;
    for (; j + 2 <= count; j += 2) {
        pair x, y;
        memcpy(&x, from + j, sizeof x);
        memcpy(&y, to + j, sizeof y);
        y -= factor * x;
        memcpy(to + j, &y, sizeof y);
    }
    if (j < count) to[j] -= factor * from[j];
}

bool small_lu_factor(int n, int stride, double *a, int *pivot)
{
    for (int k = 0; k < n; ++k) {
        int best = k;
        double size = fabs(a[k * stride + k]);
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i * stride + k]) > size) size = fabs(a[i * stride + k]), best = i;
        pivot[k] = best;
        if (!(size > 0.0) || !isfinite(size)) return false;
        if (best != k)
            for (int j = 0; j < n; ++j) {
                double swap = a[k * stride + j];
                a[k * stride + j] = a[best * stride + j];
                a[best * stride + j] = swap;
            }
        double inverse = 1.0 / a[k * stride + k];
        for (int i = k + 1; i < n; ++i) {
            double factor = a[i * stride + k];
            if (factor == 0.0) continue;
            factor *= inverse;
            a[i * stride + k] = factor;
            subtract_scaled(n - k - 1, factor, a + k * (stride + 1) + 1, a + i * stride + k + 1);
        }
    }
    return true;
}

void small_lu_solve(int n, int stride, const double *a, const int *pivot, int columns, int b_stride,
                    double *b)
{
    for (int k = 0; k < n; ++k)
        if (pivot[k] != k)
            for (int c = 0; c < columns; ++c) {
                double swap = b[k * b_stride + c];
                b[k * b_stride + c] = b[pivot[k] * b_stride + c];
                b[pivot[k] * b_stride + c] = swap;
            }
    for (int i = 1; i < n; ++i)
        for (int k = 0; k < i; ++k) {
            double factor = a[i * stride + k];
            if (factor == 0.0) continue;
            subtract_scaled(columns, factor, b + k * b_stride, b + i * b_stride);
        }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            double factor = a[i * stride + k];
            if (factor == 0.0) continue;
            subtract_scaled(columns, factor, b + k * b_stride, b + i * b_stride);
        }
        double inverse = 1.0 / a[i * stride + i];
        for (int c = 0; c < columns; ++c) b[i * b_stride + c] *= inverse;
    }
}

bool small_combination(int count, int size, const double *rows, const double *sum,
                       double *coefficients)
{
    enum { COUNT_MAX = 6 };
    double normal[COUNT_MAX * COUNT_MAX];
    int pivot[COUNT_MAX];
    for (int r = 0; r < count; ++r) {
        coefficients[r] = array_dot(rows + size * r, sum, (size_t)size);
        for (int k = 0; k < count; ++k)
            normal[count * r + k] = array_dot(rows + size * r, rows + size * k, (size_t)size);
    }
    if (!small_lu_factor(count, count, normal, pivot)) return false;
    small_lu_solve(count, count, normal, pivot, 1, 1, coefficients);
    return true;
}
