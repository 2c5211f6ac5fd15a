// SPDX-License-Identifier: MIT
// Inertia tensors: cyclic Jacobi rotations for the principal axes, the parallel axis theorem.
#include "model/inertia.h"

#include "base/vector.h"

enum { JACOBI_SWEEPS_MAX = 40 }; // quadratic convergence: six sweeps are usual

// Annihilate entry (p, q) of the symmetric matrix a, a <- J^T a J, and collect v <- v J.
static void jacobi_rotate(hn_mat3 *a, hn_mat3 *v, int p, int q)
{
    if (a->m[p][q] == 0.0) return;
    double theta = (a->m[q][q] - a->m[p][p]) / (2.0 * a->m[p][q]);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / hypot(t, 1.0), s = t * c;
    for (int k = 0; k < 3; ++k) {
        double kp = a->m[k][p], kq = a->m[k][q];
        a->m[k][p] = c * kp - s * kq;
        a->m[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; ++k) {
        double pk = a->m[p][k], qk = a->m[q][k];
        a->m[p][k] = c * pk - s * qk;
        a->m[q][k] = s * pk + c * qk;
    }
    a->m[p][q] = a->m[q][p] = 0.0;
    for (int k = 0; k < 3; ++k) {
        double kp = v->m[k][p], kq = v->m[k][q];
        v->m[k][p] = c * kp - s * kq;
        v->m[k][q] = s * kp + c * kq;
    }
}

void inertia_principal(const hn_mat3 *tensor, hn_vec3 *moments, hn_mat3 *axes)
{
    hn_mat3 a = *tensor;
    *axes = mat3_identity();
    for (int sweep = 0; sweep < JACOBI_SWEEPS_MAX; ++sweep) {
        double off = fabs(a.m[0][1]) + fabs(a.m[0][2]) + fabs(a.m[1][2]);
        if (off == 0.0) break;
        // entries too small to change the diagonal any more are round-off
        double size = fabs(a.m[0][0]) + fabs(a.m[1][1]) + fabs(a.m[2][2]);
        if (size + off == size) break;
        jacobi_rotate(&a, axes, 0, 1);
        jacobi_rotate(&a, axes, 0, 2);
        jacobi_rotate(&a, axes, 1, 2);
    }
    *moments = vec3(a.m[0][0], a.m[1][1], a.m[2][2]);
}

void inertia_add_point(hn_mat3 *tensor, double mass, hn_vec3 offset)
{
    const double d[3] = {offset.x, offset.y, offset.z};
    double square = vec3_dot(offset, offset);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            tensor->m[i][j] += mass * ((i == j ? square : 0.0) - d[i] * d[j]);
}

hn_mat3 inertia_rotate(const hn_mat3 *rotation, const hn_mat3 *tensor)
{
    hn_mat3 transposed = mat3_transpose(rotation);
    hn_mat3 right = mat3_multiply(tensor, &transposed);
    hn_mat3 rotated = mat3_multiply(rotation, &right);
    // round-off leaves it slightly unsymmetric
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j) {
            double mean = 0.5 * (rotated.m[i][j] + rotated.m[j][i]);
            rotated.m[i][j] = rotated.m[j][i] = mean;
        }
    return rotated;
}
