// SPDX-License-Identifier: MIT
// The space that a few short vectors span.
#ifndef LINALG_SMALL_SPAN_H
#define LINALG_SMALL_SPAN_H

/// Orthonormal basis, at most `size` vectors one after the other, of what `count` vectors of `size` numbers span
/// (row-major, changed): the largest first, while what is left of one is longer than `tolerance`.
/// Returns the dimension. `chosen`: which vectors these were; or NULL.
int small_span(int size, int count, double *vectors, double tolerance, double *basis, int *chosen);

/// The row-major size x size projector onto what is at right angles to all of the basis.
void small_span_complement(int size, int dimension, const double *basis, double *projector);

#endif
