// SPDX-License-Identifier: MIT
// A constraint row between two bodies through its vectors: gradient as wrenches, and its change in a step.
#ifndef REDUCTIONS_ROW_VECTORS_H
#define REDUCTIONS_ROW_VECTORS_H

#include "system/step.h"

/// Pose of a body between q (part 0) and q_n (part 1)
static inline void pose_between(const step_data *step, int body, double part, double *pose)
{
    const double *start = system_pose(step->q_start, body), *end = system_pose(step->q, body);
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = part * start[k] + (1.0 - part) * end[k];
}

/// u and w of a row, and the parts of them that turn with each body. Of a row that is no product u is the direction.
typedef struct row_vectors {
    hn_vec3 u, w, turn_u[2], turn_w[2];
} row_vectors;

/// sum c_k x_k of one body: c0 phi and the part that turns
static inline hn_vec3 add_vector(const double *coefficients, const double *pose, hn_vec3 sum,
                                 hn_vec3 *turning)
{
    *turning = pose_direction(pose, vec3(coefficients[1], coefficients[2], coefficients[3]));
    return vec3_add(vec3_add_scaled(sum, coefficients[0], pose_center(pose)), *turning);
}

static inline void find_row_vectors(const constraint_row *row, const double *a, const double *b,
                                    row_vectors *v)
{
    const hn_vec3 zero = vec3(0.0, 0.0, 0.0);
    v->w = add_vector(row->beta, a, zero, &v->turn_w[0]);
    v->w = add_vector(row->beta + 4, b, v->w, &v->turn_w[1]);
    v->u = row->direction;
    v->turn_u[0] = v->turn_u[1] = zero;
    if (!row->product) return;
    v->u = add_vector(row->alpha, a, zero, &v->turn_u[0]);
    v->u = add_vector(row->alpha + 4, b, v->u, &v->turn_u[1]);
}

/// The gradient of a row as a wrench on one of its bodies: delta x = c0 v + omega x (x - c0 phi).
static inline void row_wrench(const constraint_row *row, const row_vectors *v, int side,
                              double *wrench)
{
    double alpha = row->alpha[4 * side], beta = row->beta[4 * side];
    hn_vec3 force = vec3_scale(beta, v->u), moment = vec3_cross(v->turn_w[side], v->u);
    if (row->product) {
        force = vec3_scale(row->factor, vec3_add_scaled(force, alpha, v->w));
        moment = vec3_scale(row->factor, vec3_add(moment, vec3_cross(v->turn_u[side], v->w)));
    }
    vec3_store(force, wrench);
    vec3_store(moment, wrench + 3);
}

/// G(q_mid) Delta of a row with u and w at q_mid: g(q) - g(q_n) to relative accuracy
static inline double row_secant(const constraint_row *row, const row_vectors *middle, int a, int b,
                         const step_data *step)
{
    static const double AT_REST[POSE_SIZE] = {0.0};
    row_vectors change;
    find_row_vectors(row, a < 0 ? AT_REST : step->delta + POSE_SIZE * (size_t)a,
                     b < 0 ? AT_REST : step->delta + POSE_SIZE * (size_t)b, &change);
    if (!row->product) return vec3_dot(row->direction, change.w);
    return row->factor * (vec3_dot(change.u, middle->w) + vec3_dot(middle->u, change.w));
}

/// Columns of delta x = c0 v + omega x `turning`
static inline void turning_columns(double c0, hn_vec3 turning, double columns[3][TWIST_SIZE])
{
    hn_vec3 x = turning;
    const double turn[3][3] = {{0.0, x.z, -x.y}, {-x.z, 0.0, x.x}, {x.y, -x.x, 0.0}}; // omega x x = -x^ omega
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            columns[i][k] = i == k ? c0 : 0.0;
            columns[i][3 + k] = turn[i][k];
        }
}

/// Twist columns of a vector sum c_k x_k of one body: delta x = c0 v + omega x (x - c0 phi)
static inline void twist_columns(const double *coefficients, const double *pose,
                          double columns[3][TWIST_SIZE])
{
    hn_vec3 x = pose_direction(pose, vec3(coefficients[1], coefficients[2], coefficients[3]));
    turning_columns(coefficients[0], x, columns);
}

/// to += scale left^T C right of a tangent term, in twists: 6 x 6, rows `stride` apart
static inline void add_congruent(double left[3][TWIST_SIZE], const stiffness_term *term, double right[3][TWIST_SIZE],
                                 double scale, int stride, double *to)
{
    double product[3][TWIST_SIZE];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < TWIST_SIZE; ++k)
            product[i][k] = scale * (term->c[i][0] * right[0][k] + term->c[i][1] * right[1][k] +
                                     term->c[i][2] * right[2][k]);
    for (int i = 0; i < TWIST_SIZE; ++i)
        for (int k = 0; k < TWIST_SIZE; ++k)
            to[i * stride + k] += left[0][i] * product[0][k] + left[1][i] * product[1][k] + left[2][i] * product[2][k];
}

#endif
