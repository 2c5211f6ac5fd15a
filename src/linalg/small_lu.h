// SPDX-License-Identifier: MIT
// Dense LU with partial pivoting for small matrices, row-major.
#ifndef LINALG_SMALL_LU_H
#define LINALG_SMALL_LU_H

#include <stdbool.h>

/// Factor the n x n matrix `a` (row stride `stride`) in place; `pivot[k]` is the row exchanged with row k.
/// False when a pivot is zero or not finite.
bool small_lu_factor(int n, int stride, double *a, int *pivot);

/// Solve in place for `columns` right-hand sides stored row-major with stride `b_stride`.
void small_lu_solve(int n, int stride, const double *a, const int *pivot, int columns, int b_stride, double *b);

/// Coefficients of `sum` in terms of up to six rows of `size` numbers each, by least squares. False: the rows are
/// dependent.
bool small_combination(int count, int size, const double *rows, const double *sum, double *coefficients);

#endif
