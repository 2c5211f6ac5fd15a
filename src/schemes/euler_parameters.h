// SPDX-License-Identifier: MIT
// Euler parameters theta in S^3 (TAN 2.2): rotation matrix, the map H, and the way back from a rotation matrix.
//
//   R(theta) = H~ H^T / |theta|^2,   Omega = 2 H theta_1 (body axes),   H H^T = 1,  H theta = 0      (TAN 2.1, Lemmas
//           2.1, 3.1)
//
// Dividing by |theta|^2 extends R to all theta != 0 so that it does not depend on |theta|: derivatives along theta
// vanish.
#ifndef SCHEMES_EULER_PARAMETERS_H
#define SCHEMES_EULER_PARAMETERS_H

#include "base/vector.h"

/// The directors (columns of R) of unit parameters, nine numbers d1, d2, d3.
static inline void euler_directors(const double *t, double *d)
{
    double a = t[0], b = t[1], c = t[2], e = t[3];
    d[0] = a * a + b * b - c * c - e * e;
    d[1] = 2.0 * (b * c + a * e);
    d[2] = 2.0 * (b * e - a * c);
    d[3] = 2.0 * (b * c - a * e);
    d[4] = a * a - b * b + c * c - e * e;
    d[5] = 2.0 * (c * e + a * b);
    d[6] = 2.0 * (b * e + a * c);
    d[7] = 2.0 * (c * e - a * b);
    d[8] = a * a - b * b - c * c + e * e;
}

/// H(theta) x
static inline hn_vec3 euler_apply(const double *t, const double *x)
{
    return vec3(-t[1] * x[0] + t[0] * x[1] + t[3] * x[2] - t[2] * x[3],
                -t[2] * x[0] - t[3] * x[1] + t[0] * x[2] + t[1] * x[3],
                -t[3] * x[0] + t[2] * x[1] - t[1] * x[2] + t[0] * x[3]);
}

/// H(theta)^T c
static inline void euler_apply_transposed(const double *t, hn_vec3 c, double *x)
{
    x[0] = -t[1] * c.x - t[2] * c.y - t[3] * c.z;
    x[1] = t[0] * c.x - t[3] * c.y + t[2] * c.z;
    x[2] = t[3] * c.x + t[0] * c.y - t[1] * c.z;
    x[3] = -t[2] * c.x + t[1] * c.y + t[0] * c.z;
}

static inline double euler_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// theta / |theta|
static inline void euler_normalise(double *t)
{
    double factor = 1.0 / sqrt(euler_dot(t, t));
    for (int k = 0; k < 4; ++k) t[k] *= factor;
}

/// Unit parameters of the directors d1, d2, d3. The largest parameter is found first and made positive, so that no
/// digits are lost and the sign depends on the orientation alone.
static inline void euler_from_directors(const double *d, double *t)
{
    double square[4] = {1.0 + d[0] + d[4] + d[8], 1.0 + d[0] - d[4] - d[8], 1.0 - d[0] + d[4] - d[8],
                        1.0 - d[0] - d[4] + d[8]}; // four times the squares
    int best = 0;
    for (int k = 1; k < 4; ++k)
        if (square[k] > square[best]) best = k;
    switch (best) {
    case 0: t[0] = square[0], t[1] = d[5] - d[7], t[2] = d[6] - d[2], t[3] = d[1] - d[3]; break;
    case 1: t[0] = d[5] - d[7], t[1] = square[1], t[2] = d[1] + d[3], t[3] = d[6] + d[2]; break;
    case 2: t[0] = d[6] - d[2], t[1] = d[1] + d[3], t[2] = square[2], t[3] = d[5] + d[7]; break;
    default: t[0] = d[1] - d[3], t[1] = d[6] + d[2], t[2] = d[5] + d[7], t[3] = square[3]; break;
    }
    euler_normalise(t);
}

#endif
