// SPDX-License-Identifier: MIT
// Between the twelve numbers of a pose and the coordinates a body really has: 12 (rigid), 3 (point), 2 (in a plane).
#ifndef REDUCTIONS_COORDINATES_H
#define REDUCTIONS_COORDINATES_H

#include "system/system.h"

/// How many 3-vectors of the pose count, and how many coordinates the k-th has.
static inline int coordinate_vectors(const system_body *body)
{
    return body->has_directors ? 4 : 1;
}

static inline int coordinate_width(const system_body *body)
{
    return body->kind == HN_BODY_PLANAR_POINT_MASS ? 2 : 3;
}

/// Direction of coordinate i of a 3-vector.
static inline hn_vec3 coordinate_direction(const system_body *body, int i)
{
    return body->plane[i]; // world axes unless the body is planar
}

/// Coordinates of one 3-vector.
static inline void coordinates_of(const system_body *body, hn_vec3 x, double *to)
{
    for (int i = 0; i < coordinate_width(body); ++i) to[i] = vec3_dot(coordinate_direction(body, i), x);
}

/// Twelve numbers from coordinates (of a change; the fixed part of a planar point is left out).
static inline void coordinates_expand(const system_body *body, const double *from, double *pose)
{
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = 0.0;
    int width = coordinate_width(body);
    for (int k = 0; k < coordinate_vectors(body); ++k) {
        hn_vec3 x = vec3(0.0, 0.0, 0.0);
        for (int i = 0; i < width; ++i) x = vec3_add_scaled(x, from[width * k + i], coordinate_direction(body, i));
        vec3_store(x, pose + 3 * k);
    }
}

/// Coordinates from twelve numbers.
static inline void coordinates_contract(const system_body *body, const double *pose, double *to)
{
    int width = coordinate_width(body);
    for (int k = 0; k < coordinate_vectors(body); ++k) coordinates_of(body, vec3_load(pose + 3 * k), to + width * k);
}

/// Add a 3x3 block between vector k of one body and vector l of another to a matrix with the given row stride.
static inline void coordinates_add_block(const system_body *row_body, int k, const system_body *column_body, int l,
                                         const double c[3][3], int stride, double *matrix)
{
    int rows = coordinate_width(row_body), columns = coordinate_width(column_body);
    double *corner = matrix + (size_t)(rows * k) * (size_t)stride + (size_t)(columns * l);
    if (rows == 3 && columns == 3) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) corner[i * stride + j] += c[i][j];
        return;
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            hn_vec3 x = coordinate_direction(row_body, i), y = coordinate_direction(column_body, j);
            hn_vec3 cy = vec3(c[0][0] * y.x + c[0][1] * y.y + c[0][2] * y.z,
                              c[1][0] * y.x + c[1][1] * y.y + c[1][2] * y.z,
                              c[2][0] * y.x + c[2][1] * y.y + c[2][2] * y.z);
            corner[i * stride + j] += vec3_dot(x, cy);
        }
}

#endif
