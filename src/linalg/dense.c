// SPDX-License-Identifier: MIT
// LAPACK behind our own names; arguments are checked here because the reference error handler would stop the program.
#include "linalg/dense.h"

#include <lapacke.h>

#include <math.h>
#include <string.h>

static double *copy_of(hn_context *context, size_t count, const double *a)
{
    double *copy = context_allocate(context, (count > 0 ? count : 1) * sizeof(double));
    if (copy != NULL && count > 0) memcpy(copy, a, count * sizeof(double));
    return copy;
}

// row-major to column-major, rows x columns into leading dimension `leading`
static double *transposed(hn_context *context, int rows, int columns, const double *a, int leading)
{
    double *t = context_allocate(context, ((size_t)leading * (size_t)columns + 1) * sizeof(double));
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
    double *copy = copy_of(context, count, a);
    double *work = context_allocate(context, (size_t)(4 * n + 4) * sizeof(double));
    hn_status status = HN_OUT_OF_MEMORY;
    if (copy != NULL && work != NULL) {
        char job = 'V', part = 'U';
        lapack_int size = n, length = 4 * n + 4, info = 0;
        LAPACK_dsyev(&job, &part, &size, copy, &size, values, work, &length, &info);
        status = info == 0
                     ? HN_OK
                     : context_fail(context, HN_SINGULAR_SYSTEM, "the eigenvalue iteration failed");
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) vectors[i * n + j] = copy[j * n + i];
    }
    context_release(context, copy);
    context_release(context, work);
    return status;
}

hn_status dense_eigen(hn_context *context, int n, const double *a, double *real, double *imaginary,
                      double *vectors)
{
    size_t count = (size_t)n * (size_t)n, length_wanted = 8 * (size_t)n + 8;
    if (!all_finite(count, a)) return not_finite(context);
    double *matrix = transposed(context, n, n, a, n > 0 ? n : 1);
    double *right = context_allocate(context, (count + 1) * sizeof(double));
    double *work = context_allocate(context, length_wanted * sizeof(double));
    hn_status status = HN_OUT_OF_MEMORY;
    if (matrix != NULL && right != NULL && work != NULL) {
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
    context_release(context, matrix);
    context_release(context, right);
    context_release(context, work);
    return status;
}

hn_status dense_least_squares(hn_context *context, int rows, int columns, const double *a,
                              const double *b, double relative_tolerance, double *x)
{
    if (!all_finite((size_t)rows * (size_t)columns, a) || !all_finite((size_t)rows, b))
        return not_finite(context);
    int larger = rows > columns ? rows : columns;
    double *matrix = transposed(context, rows, columns, a, rows > 0 ? rows : 1);
    double *right = context_allocate(context, ((size_t)larger + 1) * sizeof(double));
    double *singular = context_allocate(context, ((size_t)larger + 1) * sizeof(double));
    double *work = NULL;
    lapack_int *integers = NULL;
    hn_status status = HN_OUT_OF_MEMORY;
    if (matrix == NULL || right == NULL || singular == NULL) goto done;
    memcpy(right, b, (size_t)rows * sizeof(double));
    lapack_int m = rows, n = columns, one = 1, leading = rows > 0 ? rows : 1,
               right_leading = larger > 0 ? larger : 1;
    lapack_int rank = 0, info = 0, length = -1, integer_size = 0;
    double wanted = 0.0, tolerance = relative_tolerance;
    LAPACK_dgelsd(&m, &n, &one, matrix, &leading, right, &right_leading, singular, &tolerance,
                  &rank, &wanted, &length, &integer_size, &info);
    length = (lapack_int)wanted;
    work = context_allocate(context, ((size_t)length + 1) * sizeof(double));
    integers = context_allocate(context, ((size_t)integer_size + 1) * sizeof(lapack_int));
    if (work == NULL || integers == NULL) goto done;
    LAPACK_dgelsd(&m, &n, &one, matrix, &leading, right, &right_leading, singular, &tolerance,
                  &rank, work, &length, integers, &info);
    if (info != 0) {
        status = context_fail(context, HN_SINGULAR_SYSTEM, "the least-squares solution failed");
        goto done;
    }
    memcpy(x, right, (size_t)columns * sizeof(double));
    status = HN_OK;
done:
    context_release(context, matrix);
    context_release(context, right);
    context_release(context, singular);
    context_release(context, work);
    context_release(context, integers);
    return status;
}

// singular values, descending, of a row-major matrix; the caller releases *singular
static hn_status singular_values(hn_context *context, int rows, int columns, const double *a,
                                 double **singular)
{
    *singular = NULL;
    if (!all_finite((size_t)rows * (size_t)columns, a)) return not_finite(context);
    int smaller = rows < columns ? rows : columns;
    double *matrix = transposed(context, rows, columns, a, rows > 0 ? rows : 1);
    double *values = context_allocate(context, ((size_t)smaller + 1) * sizeof(double));
    double *work = NULL;
    hn_status status = HN_OUT_OF_MEMORY;
    if (matrix == NULL || values == NULL) goto done;
    if (smaller == 0) {
        status = HN_OK;
        goto done;
    }
    char none = 'N';
    lapack_int m = rows, n = columns, one = 1, length = -1, info = 0;
    double wanted = 0.0;
    LAPACK_dgesvd(&none, &none, &m, &n, matrix, &m, values, NULL, &one, NULL, &one, &wanted,
                  &length, &info);
    length = (lapack_int)wanted;
    work = context_allocate(context, ((size_t)length + 1) * sizeof(double));
    if (work == NULL) goto done;
    LAPACK_dgesvd(&none, &none, &m, &n, matrix, &m, values, NULL, &one, NULL, &one, work, &length,
                  &info);
    status = info == 0
                 ? HN_OK
                 : context_fail(context, HN_SINGULAR_SYSTEM, "the singular value iteration failed");
done:
    context_release(context, matrix);
    context_release(context, work);
    if (status != HN_OK) context_release(context, values);
    else *singular = values;
    return status;
}

hn_status dense_norm(hn_context *context, int rows, int columns, const double *a, double *norm)
{
    double *values;
    TRY(singular_values(context, rows, columns, a, &values));
    *norm = rows > 0 && columns > 0 ? values[0] : 0.0;
    context_release(context, values);
    return HN_OK;
}

hn_status dense_rank(hn_context *context, int rows, int columns, const double *a,
                     double relative_tolerance, int *rank)
{
    double *values;
    TRY(singular_values(context, rows, columns, a, &values));
    int smaller = rows < columns ? rows : columns;
    *rank = 0;
    for (int i = 0; i < smaller; ++i)
        if (values[i] > relative_tolerance * values[0]) *rank += 1;
    context_release(context, values);
    return HN_OK;
}

hn_status dense_invert(hn_context *context, int n, double *a)
{
    if (!all_finite((size_t)n * (size_t)n, a)) return not_finite(context);
    lapack_int *pivots = context_allocate(context, ((size_t)n + 1) * sizeof(lapack_int));
    size_t length_wanted = (size_t)n * 64 + 1;
    double *work = context_allocate(context, length_wanted * sizeof(double));
    hn_status status = HN_OUT_OF_MEMORY;
    if (pivots != NULL && work != NULL) {
        // the inverse of the transpose is the transpose of the inverse: storage order does not matter
        lapack_int size = n, length = (lapack_int)length_wanted, info = 0;
        LAPACK_dgetrf(&size, &size, a, &size, pivots, &info);
        if (info == 0) LAPACK_dgetri(&size, a, &size, pivots, work, &length, &info);
        status = info == 0 ? HN_OK
                           : context_fail(context, HN_SINGULAR_SYSTEM,
                                          "the iteration matrix is singular");
    }
    context_release(context, pivots);
    context_release(context, work);
    return status;
}
