// SPDX-License-Identifier: MIT
// How many eigenvalues of a small symmetric matrix are negative, by its signs of pivots (Sylvester's law).
#ifndef LINALG_INERTIA_H
#define LINALG_INERTIA_H

/// Largest matrix that is taken: a copy of a hub is twice as large as a block of the system (block_chains.h).
enum { INERTIA_SIZE_MAX = 64 };

/// Number of negative eigenvalues of a symmetric row-major matrix, whose lower triangle is read. Eigenvalues that are
/// zero do not count.
int inertia_negative(int n, int stride, const double *a);

#endif
