// SPDX-License-Identifier: MIT
// Some eigenvalues of a large operator: Arnoldi's method with several start vectors in a metric, restarted with the
// best vectors found. docs/decisions/krylov.md tells why not ARPACK.
#ifndef LINALG_KRYLOV_H
#define LINALG_KRYLOV_H

#include "base/pool.h"

/// An operator A and a metric M, symmetric and positive or zero. A takes any vector to one with a positive norm or
/// zero.
typedef struct krylov_operator {
    int size;
    int dimension; ///< of what A leads to; a vector beyond that is round-off
    bool symmetric; ///< M A is symmetric: eigenvalues are real
    void (*apply)(void *owner, const double *x, double *y);
    void (*metric)(void *owner, const double *x, double *y);
    void *owner;
} krylov_operator;

typedef struct krylov_pairs {
    int count;                ///< found, at most as many as asked for; fewer: there are no more
    double *real, *imaginary; ///< eigenvalues, largest first; conjugate pairs are neighbours
    double *vectors;          ///< one after the other, of norm 1; of a conjugate pair real and imaginary part
    double residual;          ///< largest |A x - a x| relative to |a|
    pool memory;
} krylov_pairs;

/// The `wanted` eigenvalues of largest absolute value with their vectors, to `tolerance`. `extra` start vectors more
/// than usual find eigenvalues of high multiplicity. Memory of the pairs is the caller's to release (krylov_release).
/// @return HN_OK, HN_NOT_CONVERGED, HN_OUT_OF_MEMORY, HN_CANCELLED
hn_status krylov_largest(hn_context *context, const krylov_operator *a, int wanted, int extra, double tolerance,
                         krylov_pairs *pairs);
void krylov_release(krylov_pairs *pairs);

#endif
