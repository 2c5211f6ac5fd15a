// SPDX-License-Identifier: MIT
// The form delta1 q . delta2 p - delta2 q . delta1 p at both ends of a map, from central differences of its ends.
//
// It does not depend on which p + G^T mu stands for the momentum, since delta q is tangent.
#ifndef PHYSICS_SYMPLECTIC_FORM_H
#define PHYSICS_SYMPLECTIC_FORM_H

#include "support/check.h"

#include <math.h>

enum { PHASE_MAX = 256 };
static const double FORM_EPSILON = 1e-5; // difference step, of whatever the start depends on

typedef struct phase {
    double q[PHASE_MAX], p[PHASE_MAX];
} phase;

/// Start and end of the map from `start`, `count` numbers.
typedef void phase_map(void *user, const double *start, phase ends[2]);

enum { FORM_PARAMETERS_MAX = 128 };

/// Change of the form between start and end, relative to its scale, for two directions of the start; `n` coordinates.
static inline double form_change(phase_map *map, void *user, int n, int count, const double *start,
                                 const double *const directions[2])
{
    phase delta[2][2], plus[2], minus[2]; // [direction][end]
    double moved[FORM_PARAMETERS_MAX], form[2] = {0.0, 0.0}, scale = 0.0;
    CHECK(count <= FORM_PARAMETERS_MAX && n <= PHASE_MAX);
    for (int d = 0; d < 2; ++d) {
        for (int k = 0; k < count; ++k) moved[k] = start[k] + FORM_EPSILON * directions[d][k];
        map(user, moved, plus);
        for (int k = 0; k < count; ++k) moved[k] = start[k] - FORM_EPSILON * directions[d][k];
        map(user, moved, minus);
        for (int end = 0; end < 2; ++end)
            for (int k = 0; k < n; ++k) {
                delta[d][end].q[k] = (plus[end].q[k] - minus[end].q[k]) / (2.0 * FORM_EPSILON);
                delta[d][end].p[k] = (plus[end].p[k] - minus[end].p[k]) / (2.0 * FORM_EPSILON);
            }
    }
    for (int end = 0; end < 2; ++end) {
        double size = 0.0;
        for (int k = 0; k < n; ++k) {
            double one = delta[0][end].q[k] * delta[1][end].p[k],
                   two = delta[1][end].q[k] * delta[0][end].p[k];
            form[end] += one - two;
            size += fabs(one) + fabs(two);
        }
        scale = fmax(scale, size);
    }
    CHECK(fabs(form[0]) > 1e-3 * scale); // a form near zero would say nothing
    return fabs(form[1] - form[0]) / scale;
}

#endif
