// SPDX-License-Identifier: MIT
// Linear-time elimination on the tree: the articulated-body recursion in its nonsymmetric form.
//
// For body c with parent p (docs/theory/reduced.md, mechanics note section 6):
//
//   (T1)  delta W_c = S_c delta t_c + U_c delta t_p + s_c                    S starts as K_c, s as 0, U is an elastic edge
//   (T2)  H = (B^T S + Y^c) b
//   (T3)  k = -H^-1 (r_c + B^T s),   L = H^-1 ((B^T S + Y^c) a + Y^p + B^T U)
//   (T4)  S_p += (A^T S + X^c + K_pc)(a - b L) + A^T U + X^p
//         s_p += (A^T S + X^c + K_pc) b k + A^T s
//   (T5)  delta u_c = k - L delta t_p,   delta t_c = a delta t_p + b delta u_c
//
// A, B: twist rule where the residual is projected; a, b: at the iterate; X, Y: derivatives of A^T W and B^T W.
#ifndef REDUCTIONS_TREE_H
#define REDUCTIONS_TREE_H

#include "base/arena.h"
#include "system/step.h"

typedef struct tree_node {
    double stiffness[36]; ///< S, row-major; parts of children are added while they are eliminated
    double load[6];       ///< s
    double wrench[6];     ///< W
    motion now;           ///< a, b
    double gain[36];      ///< L, dof x 6
    double step[6];       ///< k
    motion projected;     ///< A, B
    double pivots[36];    ///< LU of H
    int exchange[6];
    double lift[36];      ///< (A^T S + X^c + K_pc) b, 6 x dof
} tree_node;

typedef struct tree_solver {
    const hn_system *system;
    tree_node *nodes; ///< per body
    double *twists;   ///< delta t, 6 per body
    double *increments; ///< delta u, dof
    double *edges;    ///< U and K_pc, 72 per edge
    int *edge_of;     ///< per body: place in `edges`, or -1
    int edge_count;
} tree_solver;

/// Lay the solver out in an arena (count, then place).
void tree_layout(arena *a, const hn_system *system, tree_solver *solver);
/// Number the elastic edges; call once after placing.
void tree_number_edges(tree_solver *solver);

/// Zero all accumulators.
void tree_clear(tree_solver *solver);

/// What a body's elimination needs beside its accumulators.
typedef struct tree_joint_state {
    const double *parent_now, *child_now;             ///< poses of the iterate
    const double *parent_projected, *child_projected; ///< poses q_w
    double weight;                                    ///< w: 0 means no X and Y
} tree_joint_state;

/// Residual r = B^T W of body c; its projected twist rule is stored.
void tree_residual(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state, double *r);
/// Pass the wrench of a body on to its parent.
void tree_pass_wrench(tree_solver *solver, int body);
/// Eliminate body c with residual r. False when H is singular.
bool tree_eliminate(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state,
                    const double *r);
/// Root to leaves: twists and increments (T5).
void tree_substitute(tree_solver *solver);
/// With the factors in place: solve for another residual r (dof, NULL: zero) and load s (6 per body, overwritten);
/// twists and increments are set.
void tree_solve(tree_solver *solver, const double *residuals, double *load);

#endif
