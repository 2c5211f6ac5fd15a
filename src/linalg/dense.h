// SPDX-License-Identifier: MIT
// Dense linear algebra through LAPACK: eigenvalues of small symmetric matrices, least squares, condition numbers.
// Used when a system is set up and in reports, never in a step.
#ifndef LINALG_DENSE_H
#define LINALG_DENSE_H

#include "base/context.h"

/// Eigenvalues (ascending) and eigenvectors (columns of `vectors`, row-major n x n) of a symmetric row-major matrix.
hn_status dense_symmetric_eigen(hn_context *context, int n, const double *a, double *values, double *vectors);

/// Eigenvalues and eigenvectors (columns of `vectors`, row-major) of any real row-major matrix. Conjugate pairs are
/// neighbours, the one with positive imaginary part first; their columns are real and imaginary part.
hn_status dense_eigen(hn_context *context, int n, const double *a, double *real, double *imaginary, double *vectors);

/// A = Q T Q^T, all row-major: T is triangular but for 2 x 2 blocks of conjugate pairs, those of small modulus first.
hn_status dense_schur(hn_context *context, int n, const double *a, double *t, double *q);

/// Minimum-norm least-squares solution of the row-major rows x columns system; x has `columns` entries.
/// Singular values below `relative_tolerance` of the largest count as zero.
hn_status dense_least_squares(hn_context *context, int rows, int columns, const double *a, const double *b,
                              double relative_tolerance, double *x);

/// Largest singular value of a row-major matrix.
hn_status dense_norm(hn_context *context, int rows, int columns, const double *a, double *norm);

/// Inverse of a row-major n x n matrix. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status dense_invert(hn_context *context, int n, double *a);

/// 2-norm condition number of a matrix, or of its inverse; the matrix is lost.
hn_status dense_condition(hn_context *context, int n, double *a, double *condition);

#endif
