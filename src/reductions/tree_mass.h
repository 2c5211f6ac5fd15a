// SPDX-License-Identifier: MIT
// The mass matrix on the motions of a tree, eliminated in linear time: momenta projected, accelerations from forces.
// Note: docs/theory/reduced.md
//
//   (T10)  P(q_w)^T (M t - W) = 0,   t = P(q) u
//
// with P from the twist rules of all joints, M = P_int(q_w)^T M P_int(q) and wrenches W. It is the elimination of
// tree.h without what a step adds: no residual of its own, no stiffness of elements.
#ifndef REDUCTIONS_TREE_MASS_H
#define REDUCTIONS_TREE_MASS_H

#include "reductions/joint_blocks.h"
#include "reductions/tree.h"

typedef struct tree_mass {
    const hn_system *system;
    tree_solver tree;
    joint_step *steps; ///< per body: directions of links
    double *loads;     ///< 6 per body
    double *given;     ///< 6 per body
    double *delta, *middle; ///< 12 per body: q - q_start, and half way
    void *memory;
} tree_mass;

/// Is the system a tree whose bodies have each an inertia of their own, about every axis?
bool tree_mass_fits(const hn_system *system);
/// @return HN_OK or HN_OUT_OF_MEMORY
hn_status tree_mass_create(const hn_system *system, tree_mass **out);
void tree_mass_destroy(tree_mass *x);

/// Where the matrix is taken: motions at q, forces at q_w = q - (1 - weight) delta.
typedef struct tree_place {
    const double *q, *delta; ///< 12 per body; delta may be NULL where weight is 1
    double weight;
} tree_place;

/// Factor (T10) and solve it for wrenches (force, moment about the centre of mass: 6 per body; NULL: factor alone).
/// Twists of the centres of mass are then in x->tree.twists. False when the matrix is singular.
bool tree_mass_factor(tree_mass *x, const tree_place *place, const double *wrenches);
/// Twists of the centre of mass that unit rates of the freedoms of a body's joint make at q: their number. Not of a
/// free pivot.
int tree_mass_freedoms(tree_mass *x, const double *q, int body, double freedoms[JOINT_DOF_MAX][TWIST_SIZE]);
/// Once more with the same factors.
void tree_mass_solve(tree_mass *x, const double *wrenches);

/// (T10) at q for momenta p, 12 per body: twists (6 per body), zero turns of point masses. What is tangent already
/// stays as it is, and the matrix is solved for the rest alone: its error, the same in every step, does not change the
/// speed of all bodies by its part. False when the matrix is singular.
bool tree_mass_project(tree_mass *x, const double *q, const double *p, double *twists);
/// (T10) with forces in the middle between two poses and motions at the second one, beside velocities v (12 per body):
/// M t + G(q_mid)^T mu = P_int(q_mid)^T p,  G(q) (P_int t + v) = 0. False when the matrix is singular.
bool tree_mass_project_between(tree_mass *x, const double *q_start, const double *q, const double *p, const double *v,
                               double *twists);
/// mu of that solution, row by row of the joints (by body, with their places in `mu`): what is left of p is passed on
/// from the leaves. `twists` are as that found them. False: rows of a joint depend on each other.
bool tree_mass_multipliers(tree_mass *x, const joint_place *joints, const double *q, const double *p,
                           const double *twists, double *mu);

#endif
