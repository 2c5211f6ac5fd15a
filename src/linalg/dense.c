// SPDX-License-Identifier: MIT
// LAPACK behind our own names; arguments are checked here because the reference error handler would stop the program.
#include "linalg/dense.h"

#include "base/pool.h"

#include <lapacke.h>

#include <math.h>
#include <string.h>

// row-major to column-major, rows x columns into leading dimension `leading`
static double *transposed(pool *memory, int rows, int columns, const double *a, int leading)
{
    double *t = pool_doubles(memory, (size_t)leading * (size_t)columns);
    if (t == NULL) return NULL;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            t[(size_t)j * (size_t)leading + (size_t)i] = a[(size_t)i * (size_t)columns + (size_t)j];
    return t;
}

static bool all_finite(size_t count, const double *a)
{
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(a[i])) return false;
    return true;
}

static hn_status not_finite(hn_context *context)
{
    return context_fail(context, HN_SINGULAR_SYSTEM, "a matrix has entries that are not finite");
}

hn_status dense_symmetric_eigen(hn_context *context, int n, const double *a, double *values,
                                double *vectors)
{
    size_t count = (size_t)n * (size_t)n;
    if (!all_finite(count, a)) return not_finite(context);
    pool memory = {.context = context};
    double *copy = pool_doubles(&memory, count), *work = pool_doubles(&memory, (size_t)(4 * n + 4));
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        memcpy(copy, a, count * sizeof(double));
        char job = 'V', part = 'U';
        lapack_int size = n, length = 4 * n + 4, info = 0;
        LAPACK_dsyev(&job, &part, &size, copy, &size, values, work, &length, &info);
        status = info == 0
                     ? HN_OK
                     : context_fail(context, HN_SINGULAR_SYSTEM, "the eigenvalue iteration failed");
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) vectors[i * n + j] = copy[j * n + i];
    }
    pool_release(&memory);
    return status;
}

hn_status dense_eigen(hn_context *context, int n, const double *a, double *real, double *imaginary,
                      double *vectors)
{
    size_t count = (size_t)n * (size_t)n, length_wanted = 8 * (size_t)n + 8;
    if (!all_finite(count, a)) return not_finite(context);
    pool memory = {.context = context};
    double *matrix = transposed(&memory, n, n, a, n > 0 ? n : 1);
    double *right = pool_doubles(&memory, count), *work = pool_doubles(&memory, length_wanted);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        char none = 'N', all = 'V';
        double unused = 0.0;
        lapack_int size = n, one = 1, length = (lapack_int)length_wanted, info = 0;
        LAPACK_dgeev(&none, &all, &size, matrix, &size, real, imaginary, &unused, &one, right,
                     &size, work, &length, &info);
        status = info == 0
                     ? HN_OK
                     : context_fail(context, HN_SINGULAR_SYSTEM, "the eigenvalue iteration failed");
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k) vectors[i * n + k] = right[k * n + i];
    }
    pool_release(&memory);
    return status;
}

// Modulus of the eigenvalue whose block begins at k; `t` by columns
static double modulus_at(int n, const double *t, int k, bool pair)
{
    const double *own = t + (size_t)k * ((size_t)n + 1);
    if (!pair) return fabs(own[0]);
    return sqrt(fabs(own[0] * own[n + 1] - own[1] * own[n]));
}

static bool is_pair(int n, const double *t, int k)
{
    return k + 1 < n && t[(size_t)k * (size_t)n + (size_t)k + 1] != 0.0;
}

// The least of what is left to each place; what is too close to be exchanged stays.
static void sort_schur(int n, double *t, double *q, double *work)
{
    char update = 'V';
    lapack_int size = n, from, to, info;
    for (int place = 0; place < n; place += is_pair(n, t, place) ? 2 : 1) {
        int least = place;
        double smallest = HUGE_VAL;
        for (int k = place; k < n; k += is_pair(n, t, k) ? 2 : 1) {
            double own = modulus_at(n, t, k, is_pair(n, t, k));
            if (own < (1.0 - 1e-9) * smallest) smallest = own, least = k;
        }
        from = least + 1, to = place + 1;
        if (from > to) LAPACK_dtrexc(&update, &size, t, &size, q, &size, &from, &to, work, &info);
    }
}

hn_status dense_schur(hn_context *context, int n, const double *a, double *t, double *q)
{
    size_t count = (size_t)n * (size_t)n, length_wanted = 8 * (size_t)n + 8;
    if (!all_finite(count, a)) return not_finite(context);
    pool memory = {.context = context};
    double *matrix = transposed(&memory, n, n, a, n > 0 ? n : 1);
    double *vectors = pool_doubles(&memory, count), *work = pool_doubles(&memory, length_wanted);
    double *values = pool_doubles(&memory, 2 * (size_t)n);
    hn_status status = pool_status(&memory);
    if (status == HN_OK && n > 0) {
        char wanted = 'V', none = 'N';
        lapack_int size = n, length = (lapack_int)length_wanted, selected = 0, info = 0;
        lapack_logical unused = 0;
        LAPACK_dgees(&wanted, &none, NULL, &size, matrix, &size, &selected, values, values + n,
                     vectors, &size, work, &length, &unused, &info);
        status = info == 0
                     ? HN_OK
                     : context_fail(context, HN_SINGULAR_SYSTEM, "the eigenvalue iteration failed");
        if (status == HN_OK) sort_schur(n, matrix, vectors, work);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k) {
                t[(size_t)i * (size_t)n + (size_t)k] = matrix[(size_t)k * (size_t)n + (size_t)i];
                q[(size_t)i * (size_t)n + (size_t)k] = vectors[(size_t)k * (size_t)n + (size_t)i];
            }
    }
    pool_release(&memory);
    return status;
}

hn_status dense_least_squares(hn_context *context, int rows, int columns, const double *a,
                              const double *b, double relative_tolerance, double *x)
{
    if (!all_finite((size_t)rows * (size_t)columns, a) || !all_finite((size_t)rows, b))
        return not_finite(context);
    int larger = rows > columns ? rows : columns;
    pool memory = {.context = context};
    double *matrix = transposed(&memory, rows, columns, a, rows > 0 ? rows : 1);
    double *right = pool_doubles(&memory, (size_t)larger);
    double *singular = pool_doubles(&memory, (size_t)larger);
    hn_status status = pool_status(&memory);
    if (status != HN_OK) goto done;
    memcpy(right, b, (size_t)rows * sizeof(double));
    lapack_int m = rows, n = columns, one = 1, leading = rows > 0 ? rows : 1,
               right_leading = larger > 0 ? larger : 1;
    lapack_int rank = 0, info = 0, length = -1, integer_size = 0;
    double wanted = 0.0, tolerance = relative_tolerance;
    LAPACK_dgelsd(&m, &n, &one, matrix, &leading, right, &right_leading, singular, &tolerance,
                  &rank, &wanted, &length, &integer_size, &info);
    length = (lapack_int)wanted;
    double *work = pool_doubles(&memory, (size_t)length);
    lapack_int *integers = pool_take(&memory, (size_t)integer_size, sizeof(lapack_int));
    status = pool_status(&memory);
    if (status != HN_OK) goto done;
    LAPACK_dgelsd(&m, &n, &one, matrix, &leading, right, &right_leading, singular, &tolerance,
                  &rank, work, &length, integers, &info);
    if (info == 0) memcpy(x, right, (size_t)columns * sizeof(double));
    else status = context_fail(context, HN_SINGULAR_SYSTEM, "the least-squares solution failed");
done:
    pool_release(&memory);
    return status;
}

static hn_status find_norm(pool *memory, int rows, int columns, const double *a, double *norm)
{
    hn_context *context = memory->context;
    if (!all_finite((size_t)rows * (size_t)columns, a)) return not_finite(context);
    int smaller = rows < columns ? rows : columns;
    double *matrix = transposed(memory, rows, columns, a, rows > 0 ? rows : 1);
    double *values = pool_doubles(memory, (size_t)smaller); // descending
    TRY(pool_status(memory));
    *norm = 0.0;
    if (smaller == 0) return HN_OK;
    char none = 'N';
    lapack_int m = rows, n = columns, one = 1, length = -1, info = 0;
    double wanted = 0.0;
    LAPACK_dgesvd(&none, &none, &m, &n, matrix, &m, values, NULL, &one, NULL, &one, &wanted,
                  &length, &info);
    length = (lapack_int)wanted;
    double *work = pool_doubles(memory, (size_t)length);
    TRY(pool_status(memory));
    LAPACK_dgesvd(&none, &none, &m, &n, matrix, &m, values, NULL, &one, NULL, &one, work, &length,
                  &info);
    if (info != 0)
        return context_fail(context, HN_SINGULAR_SYSTEM, "the singular value iteration failed");
    *norm = values[0];
    return HN_OK;
}

hn_status dense_norm(hn_context *context, int rows, int columns, const double *a, double *norm)
{
    pool memory = {.context = context};
    hn_status status = find_norm(&memory, rows, columns, a, norm);
    pool_release(&memory);
    return status;
}

hn_status dense_invert(hn_context *context, int n, double *a)
{
    if (!all_finite((size_t)n * (size_t)n, a)) return not_finite(context);
    pool memory = {.context = context};
    lapack_int *pivots = pool_take(&memory, (size_t)n, sizeof(lapack_int));
    size_t length_wanted = (size_t)n * 64 + 1;
    double *work = pool_doubles(&memory, length_wanted);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        // the inverse of the transpose is the transpose of the inverse: storage order does not matter
        lapack_int size = n, length = (lapack_int)length_wanted, info = 0;
        LAPACK_dgetrf(&size, &size, a, &size, pivots, &info);
        if (info == 0) LAPACK_dgetri(&size, a, &size, pivots, work, &length, &info);
        status = info == 0 ? HN_OK
                           : context_fail(context, HN_SINGULAR_SYSTEM,
                                          "the iteration matrix is singular");
    }
    pool_release(&memory);
    return status;
}

hn_status dense_condition(hn_context *context, int n, double *a, double *condition)
{
    double norm = 0.0, inverse_norm = 0.0;
    TRY(dense_norm(context, n, n, a, &norm));
    TRY(dense_invert(context, n, a));
    TRY(dense_norm(context, n, n, a, &inverse_norm));
    *condition = norm * inverse_norm;
    return HN_OK;
}
