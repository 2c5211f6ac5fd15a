// SPDX-License-Identifier: MIT
// Symmetric elimination with the pivots of Bunch and Parlett: the largest diagonal element, or a pair of rows whose
// determinant is negative where elements beside the diagonal are larger.
#include "linalg/inertia.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

// A diagonal element serves as a pivot down to this part of the largest element: (1 + sqrt 17)/8.
static const double DIAGONAL_PART = 0.6403882032022076;

typedef struct remaining {
    int n;
    double a[INERTIA_SIZE_MAX][INERTIA_SIZE_MAX];
    bool done[INERTIA_SIZE_MAX];
} remaining;

// the largest element on the diagonal, and beside it
typedef struct largest_elements {
    double diagonal, beside;
    int at, row, column;
} largest_elements;

static largest_elements find_largest(const remaining *r)
{
    largest_elements l = {.at = -1};
    for (int i = 0; i < r->n; ++i)
        for (int k = 0; k <= i; ++k) {
            if (r->done[i] || r->done[k]) continue;
            double size = fabs(r->a[i][k]);
            if (i == k && (l.at < 0 || size > l.diagonal)) l.diagonal = size, l.at = i;
            if (i != k && size > l.beside) l.beside = size, l.row = i, l.column = k;
        }
    return l;
}

static void eliminate_one(remaining *r, int p)
{
    r->done[p] = true;
    for (int i = 0; i < r->n; ++i) {
        double factor = r->a[i][p] / r->a[p][p];
        for (int k = 0; !r->done[i] && k < r->n; ++k) r->a[i][k] -= factor * r->a[p][k];
    }
}

static void eliminate_two(remaining *r, int p, int q)
{
    double d = r->a[p][p] * r->a[q][q] - r->a[p][q] * r->a[p][q];
    r->done[p] = r->done[q] = true;
    for (int i = 0; i < r->n; ++i) {
        if (r->done[i]) continue;
        double x = (r->a[i][p] * r->a[q][q] - r->a[i][q] * r->a[p][q]) / d,
               y = (r->a[i][q] * r->a[p][p] - r->a[i][p] * r->a[p][q]) / d;
        for (int k = 0; k < r->n; ++k) r->a[i][k] -= x * r->a[p][k] + y * r->a[q][k];
    }
}

int inertia_negative(int n, int stride, const double *a)
{
    assert(n <= INERTIA_SIZE_MAX);
    remaining r = {.n = n};
    int negative = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k <= i; ++k) r.a[i][k] = r.a[k][i] = a[i * stride + k];
    for (int left = n; left > 0;) {
        largest_elements l = find_largest(&r);
        if (!(fmax(l.diagonal, l.beside) > 0.0)) break;
        if (l.diagonal >= DIAGONAL_PART * l.beside) {
            if (r.a[l.at][l.at] < 0.0) ++negative;
            eliminate_one(&r, l.at);
            left -= 1;
        } else {
            ++negative; // one of the two
            eliminate_two(&r, l.row, l.column);
            left -= 2;
        }
    }
    return negative;
}
