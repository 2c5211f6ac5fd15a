// SPDX-License-Identifier: MIT
// Symmetric compositions: a step of order 4, 6 or 8 made of several steps of a symmetric scheme of order 2, forwards
// and backwards in time.
// Note: docs/theory/composition.md
#ifndef SCHEMES_COMPOSITION_H
#define SCHEMES_COMPOSITION_H

enum { COMPOSITION_STAGES_MAX = 21 };

/// gamma_1 ... gamma_s with gamma_k = gamma_s+1-k and the sum 1.
typedef struct composition {
    int order;
    int stage_count;      ///< s, odd
    const double *first;  ///< gamma_1 ... gamma_(s+1)/2
} composition;

/// NULL for another order than 4, 6 or 8.
const composition *composition_of_order(int order);
/// Its k-th part of a step, from 0 on; negative: backwards in time.
double composition_part(const composition *c, int stage);
/// The smallest size of a part.
double composition_smallest(const composition *c);
/// And the largest.
double composition_largest(const composition *c);

#endif
