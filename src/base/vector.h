// SPDX-License-Identifier: MIT
// Small vectors and matrices by value: three components, 3x3 by rows.
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <holonom/base.h>
#include <math.h>

static inline hn_vec3 vec3(double x, double y, double z)
{
    return (hn_vec3){x, y, z};
}

static inline hn_vec3 vec3_load(const double *p)
{
    return (hn_vec3){p[0], p[1], p[2]};
}

static inline void vec3_store(hn_vec3 a, double *p)
{
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

static inline hn_vec3 vec3_add(hn_vec3 a, hn_vec3 b)
{
    return (hn_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline hn_vec3 vec3_subtract(hn_vec3 a, hn_vec3 b)
{
    return (hn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline hn_vec3 vec3_scale(double s, hn_vec3 a)
{
    return (hn_vec3){s * a.x, s * a.y, s * a.z};
}

/// a + s b
static inline hn_vec3 vec3_add_scaled(hn_vec3 a, double s, hn_vec3 b)
{
    return (hn_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline hn_vec3 vec3_negate(hn_vec3 a)
{
    return (hn_vec3){-a.x, -a.y, -a.z};
}

static inline double vec3_dot(hn_vec3 a, hn_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline hn_vec3 vec3_cross(hn_vec3 a, hn_vec3 b)
{
    return (hn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vec3_norm(hn_vec3 a)
{
    return sqrt(vec3_dot(a, a));
}

static inline bool vec3_is_finite(hn_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/// Midpoint of two vectors.
static inline hn_vec3 vec3_mean(hn_vec3 a, hn_vec3 b)
{
    return (hn_vec3){0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)};
}

/// A unit vector at right angles to the unit vector n, depending on n alone: for n = e3 it is e1.
static inline hn_vec3 vec3_perpendicular(hn_vec3 n)
{
    // project the coordinate axis least aligned with n; e1 is preferred, then e2
    hn_vec3 axis = vec3(1.0, 0.0, 0.0);
    if (fabs(n.x) > 0.8) axis = fabs(n.y) <= fabs(n.z) ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
    hn_vec3 p = vec3_add_scaled(axis, -vec3_dot(axis, n), n);
    return vec3_scale(1.0 / vec3_norm(p), p);
}

static inline hn_mat3 mat3_identity(void)
{
    return (hn_mat3){{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

static inline hn_vec3 mat3_apply(const hn_mat3 *a, hn_vec3 b)
{
    return (hn_vec3){a->m[0][0] * b.x + a->m[0][1] * b.y + a->m[0][2] * b.z,
                     a->m[1][0] * b.x + a->m[1][1] * b.y + a->m[1][2] * b.z,
                     a->m[2][0] * b.x + a->m[2][1] * b.y + a->m[2][2] * b.z};
}

static inline hn_vec3 mat3_apply_transposed(const hn_mat3 *a, hn_vec3 b)
{
    return (hn_vec3){a->m[0][0] * b.x + a->m[1][0] * b.y + a->m[2][0] * b.z,
                     a->m[0][1] * b.x + a->m[1][1] * b.y + a->m[2][1] * b.z,
                     a->m[0][2] * b.x + a->m[1][2] * b.y + a->m[2][2] * b.z};
}

static inline hn_mat3 mat3_multiply(const hn_mat3 *a, const hn_mat3 *b)
{
    hn_mat3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return c;
}

static inline hn_mat3 mat3_transpose(const hn_mat3 *a)
{
    hn_mat3 c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a->m[j][i];
    return c;
}

static inline hn_mat3 mat3_from_columns(hn_vec3 a, hn_vec3 b, hn_vec3 c)
{
    return (hn_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline hn_vec3 mat3_column(const hn_mat3 *a, int j)
{
    return (hn_vec3){a->m[0][j], a->m[1][j], a->m[2][j]};
}

static inline double mat3_determinant(const hn_mat3 *a)
{
    return vec3_dot(mat3_column(a, 0), vec3_cross(mat3_column(a, 1), mat3_column(a, 2)));
}

/// max |A^T A - I|
static inline double mat3_orthonormality_error(const hn_mat3 *a)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double product = vec3_dot(mat3_column(a, i), mat3_column(a, j));
            worst = fmax(worst, fabs(product - (i == j ? 1.0 : 0.0)));
        }
    return worst;
}

/// Sum of coefficients times four vectors of a and four of b, which stand one after the other.
static inline hn_vec3 vec3_combination(const double *coefficients, const double *a, const double *b)
{
    hn_vec3 sum = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 4; ++k) {
        if (coefficients[k] != 0.0) sum = vec3_add_scaled(sum, coefficients[k], vec3_load(a + 3 * k));
        if (coefficients[4 + k] != 0.0) sum = vec3_add_scaled(sum, coefficients[4 + k], vec3_load(b + 3 * k));
    }
    return sum;
}

#endif
