// SPDX-License-Identifier: MIT
// Tangents of dense elements in twists: P_int(q_w)^T K P_int(q) of the twelve by twelve parts of a block.
#ifndef REDUCTIONS_DENSE_BLOCK_H
#define REDUCTIONS_DENSE_BLOCK_H

#include "system/step.h"

/// The four vectors of a pose that turn with the body, phi relative to the reference point of its twist.
typedef struct turning_vectors {
    hn_vec3 x[4];
} turning_vectors;

/// `reference`: P - phi in the directors of the pose; zero for twists of the centre of mass.
static inline turning_vectors turning_vectors_of(const double *pose, hn_vec3 reference)
{
    turning_vectors t = {{vec3_negate(pose_direction(pose, reference))}};
    for (int i = 1; i < 4; ++i) t.x[i] = vec3_load(pose + 3 * i);
    return t;
}

/// Rows `row` to `row + 11` of a block as wrenches: 6 x 24.
static inline void block_to_wrenches(const element_block *block, int row, const turning_vectors *left,
                                     double wrenches[6][24])
{
    for (int c = 0; c < 24; ++c) {
        hn_vec3 moment = {0.0, 0.0, 0.0};
        for (int i = 0; i < 4; ++i) {
            hn_vec3 f = vec3(block->k[row + 3 * i][c], block->k[row + 3 * i + 1][c], block->k[row + 3 * i + 2][c]);
            moment = vec3_add(moment, vec3_cross(left->x[i], f));
        }
        for (int k = 0; k < 3; ++k) wrenches[k][c] = block->k[row + k][c];
        wrenches[3][c] = moment.x, wrenches[4][c] = moment.y, wrenches[5][c] = moment.z;
    }
}

/// to += such wrenches by the twist of one body, whose columns begin at `column`: 6 x 6, rows `stride` apart.
static inline void add_wrenches_by_twist(double wrenches[6][24], int column, const turning_vectors *right,
                                         double factor, int stride, double *to)
{
    for (int r = 0; r < 6; ++r) {
        const double *w = wrenches[r] + column;
        // w . (omega x x) = omega . (x x w)
        hn_vec3 turn = {0.0, 0.0, 0.0};
        for (int i = 0; i < 4; ++i) turn = vec3_add(turn, vec3_cross(right->x[i], vec3_load(w + 3 * i)));
        double *row = to + r * stride;
        for (int k = 0; k < 3; ++k) row[k] += factor * w[k];
        row[3] += factor * turn.x, row[4] += factor * turn.y, row[5] += factor * turn.z;
    }
}

#endif
