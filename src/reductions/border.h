// SPDX-License-Identifier: MIT
// What couples bodies that are not neighbours in the tree, as columns beside the tree's own elimination T:
// Note: docs/theory/closed-loops.md
//
//   T delta + sum_c L_c y_c = -r,    e_c y_c - V_c delta = g_c                                                  (C11)
//
// A tangent term of a spring (three columns) has e = 1, g = 0: y = V delta is the change of its elongation, L the
// forces that go with it. A closure row of a cut joint has e = 0: -V delta = g closes it, y is the change of its
// multiplier.
//
//   (C12)  delta_0 = -T^-1 r,   z_c = -T^-1 L_c,   (e - V z) y = V delta_0 + g,   delta = delta_0 + sum_c z_c y_c
//
// Only the columns' bodies and those between them and the root take part in the solutions z.
#ifndef REDUCTIONS_BORDER_H
#define REDUCTIONS_BORDER_H

#include "reductions/tree.h"

typedef struct border_column {
    int body[2];     ///< or GROUND
    double row[12];  ///< V on the twists of both bodies
    double load[12]; ///< L, wrenches on both
    double unit;     ///< e
    double gap;      ///< g
} border_column;

typedef struct border {
    int capacity, count;
    border_column *columns;
    int *bodies;     ///< that take part, from the root
    int *place;      ///< per body: place among them, or -1
    int body_count;
    double *answers; ///< z: per body that takes part and component of its twist, of all columns
    double *steps;   ///< per body that takes part and rate of its joint, likewise
    double *matrix;  ///< capacity squared, then its factors
    double *right;   ///< capacity; y afterwards
    int *exchange;
    double *load;    ///< 6 per body of the system
} border;

/// Set `place` of the bodies that springs elsewhere and cut joints act on and of all between them and the root to zero,
/// of the others to -1; returns their number.
int border_mark_bodies(const hn_system *system, int *place);
/// Lay it out in an arena (count, then place) for `capacity` columns and `body_count` bodies that take part.
void border_layout(arena *a, const hn_system *system, int capacity, int body_count, border *b);
/// List the bodies; call once after placing.
void border_number_bodies(border *b, const hn_system *system);

/// A column; NULL beyond the capacity.
border_column *border_add(border *b, int body_a, int body_b);
/// The three columns of a tangent term u^T C delta v between bodies a and b: forces act at q_w, changes are those of
/// the iterate.
void border_add_term(border *b, const step_equations *equations, const step_data *step, int body_a, int body_b,
                     const stiffness_term *term);

/// Columns of what couples two bodies: blocks (6 x 6, about the centres of mass) with rows of a and columns of b, and
/// the other way round. y is then the change of both twists.
void border_add_blocks(border *b, int body_a, int body_b, const double *on_a, const double *on_b);

/// (C12) with the factors of the tree in place, the residuals r and the steps of (T3) to them: increments, and twists
/// of the centres of mass. False when the matrix is singular.
bool border_solve(border *b, tree_solver *tree, const double *residuals);
/// With the factors of the last solution: close the gaps `gaps` of the columns (zero for e = 1) alone.
void border_close(border *b, tree_solver *tree, const double *gaps);

#endif
