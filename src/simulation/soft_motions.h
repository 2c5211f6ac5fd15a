// SPDX-License-Identifier: MIT
// The stiffness of motions summed over elements and joints, with its own round-off: what tells soft motions from none
// beside parts that are stiffer by any factor. Note: docs/theory/statics.md
#ifndef SIMULATION_SOFT_MOTIONS_H
#define SIMULATION_SOFT_MOTIONS_H

#include "linalg/krylov.h"
#include "simulation/statics.h"

/// x^T K x of one motion.
typedef struct motion_stiffness {
    double value;     ///< J
    double terms;     ///< the same with the moduli of what it is the sum of
    double round_off; ///< of the value: beyond this it is known
} motion_stiffness;

/// Of the configuration that was assembled last: of one shape, six numbers per body. @return HN_OK or HN_OUT_OF_MEMORY
hn_status soft_motion_stiffness(const statics *x, const double *shape, motion_stiffness *sum);

/// Part `count` motions, one after the other, that are eigenvectors of an operator with an inverse of K and orthonormal
/// in its metric: X becomes X C with C^T C = 1 and a diagonal X^T K X, whose elements ascend. @return HN_OK or
/// HN_OUT_OF_MEMORY
hn_status soft_motions_part(const statics *x, const krylov_operator *inverse, int count, double *motions,
                            double *values);

/// Of `near` eigenvalues within x->band of zero, beside `below` lower ones: those that are negative, and those that
/// cannot be told from zero, are added to x->found. @return HN_OK, HN_OUT_OF_MEMORY, HN_CANCELLED
hn_status soft_motions_decide(statics *x, int near, int below);

/// Does the path branch between the last equilibrium and the step that was solved last, at this part of the loads? Then
/// these do no work on its motions of negative stiffness, which a smaller step would not meet otherwise.
bool soft_motions_branch(statics *x, double factor);

#endif
