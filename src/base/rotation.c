// SPDX-License-Identifier: MIT
// Exponential map of rotations and its inverse.
#include "base/rotation.h"

// Below this angle the quotients switch to their Taylor series; the first dropped term is angle^6/5040 < 2e-18.
static const double SERIES_ANGLE = 1e-2;

static double sine_quotient(double angle) // sin(a)/a
{
    double a2 = angle * angle;
    if (fabs(angle) < SERIES_ANGLE) return 1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0));
    return sin(angle) / angle;
}

hn_mat3 rotation_exponential(hn_vec3 r)
{
    double angle = vec3_norm(r);
    double s = sine_quotient(angle);
    double half = sine_quotient(0.5 * angle);
    double c = 0.5 * half * half; // (1 - cos a)/a^2
    hn_mat3 e;
    const double v[3] = {r.x, r.y, r.z};
    const double skew[3][3] = {{0.0, -r.z, r.y}, {r.z, 0.0, -r.x}, {-r.y, r.x, 0.0}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double square = v[i] * v[j] - (i == j ? angle * angle : 0.0);
            e.m[i][j] = (i == j ? 1.0 : 0.0) + s * skew[i][j] + c * square;
        }
    return e;
}

hn_mat3 rotation_of_quaternion(double w, double x, double y, double z)
{
    // clang-format off
    return (hn_mat3){{
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z),       2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z),       1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y),       2.0 * (y * z + w * x),       1.0 - 2.0 * (x * x + y * y)}}};
    // clang-format on
}

hn_vec3 rotation_logarithm(const hn_mat3 *a)
{
    // unit quaternion by its largest component, then twice the angle of its vector part
    const double(*m)[3] = a->m;
    double w, x, y, z;
    double trace = m[0][0] + m[1][1] + m[2][2];
    if (trace > m[0][0] && trace > m[1][1] && trace > m[2][2]) {
        w = 1.0 + trace, x = m[2][1] - m[1][2], y = m[0][2] - m[2][0], z = m[1][0] - m[0][1];
    } else if (m[0][0] >= m[1][1] && m[0][0] >= m[2][2]) {
        x = 1.0 + m[0][0] - m[1][1] - m[2][2];
        w = m[2][1] - m[1][2], y = m[0][1] + m[1][0], z = m[0][2] + m[2][0];
    } else if (m[1][1] >= m[2][2]) {
        y = 1.0 - m[0][0] + m[1][1] - m[2][2];
        w = m[0][2] - m[2][0], x = m[0][1] + m[1][0], z = m[1][2] + m[2][1];
    } else {
        z = 1.0 - m[0][0] - m[1][1] + m[2][2];
        w = m[1][0] - m[0][1], x = m[0][2] + m[2][0], y = m[1][2] + m[2][1];
    }
    double sign = w < 0.0 ? -1.0 : 1.0;
    double length = sqrt(x * x + y * y + z * z);
    if (length == 0.0) return vec3(0.0, 0.0, 0.0);
    double angle = 2.0 * atan2(length, sign * w);
    return vec3_scale(sign * angle / length, vec3(x, y, z));
}

hn_vec3 rotation_between(const double *start, const double *end)
{
    hn_mat3 rotation = {{{0.0}}};
    for (int d = 0; d < 9; d += 3)
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) rotation.m[i][k] += end[d + i] * start[d + k];
    return rotation_logarithm(&rotation);
}

double rotation_turn(hn_vec3 axis, hn_vec3 a, double wrapped, double *margin)
{
    const double turn = 6.283185307179586;
    double half = 0.5 * vec3_norm(a);
    double scalar = cos(half) * cos(0.5 * wrapped) -
                    0.5 * sine_quotient(half) * vec3_dot(axis, a) * sin(0.5 * wrapped);
    *margin = fabs(scalar);
    return scalar >= 0.0 ? wrapped : wrapped - copysign(turn, wrapped);
}
