// SPDX-License-Identifier: MIT
// The jet space of a tree: points and velocities brought to M body by body along the joints, accelerations by
// elimination from the leaves (reductions/tree_mass.h). Everything takes time in proportion to the bodies.
// Note: docs/theory/projected-rk.md, "Trees"
//
//   (P12)  pi, from the root on: hinges and balls keep the turn of a, as near as their parent's axis allows, and their
//          place follows; any other body goes to the nearest place by (P5) with the rows of its own joint alone
//   (P13)  d = d_0 + t,   B d_0 = right side of (P2),   P^T (E t - (F_e - 8 K - H grad U - E d_0)) = 0, t = P u
#ifndef SCHEMES_JET_TREE_H
#define SCHEMES_JET_TREE_H

#include "schemes/jet_space.h"

/// Is it a tree, in space, of bodies that the elimination takes?
bool jet_tree_fits(const jet_space *jet);
/// Sets jet->tree. @return HN_OK or HN_OUT_OF_MEMORY
hn_status jet_tree_create(jet_space *jet);
void jet_tree_destroy(jet_tree *tree);
/// The current position is another one.
void jet_tree_forget(jet_space *jet);

/// (P12) y from a (theta of any length): the current position. Iterations of bodies that need some are counted: the
/// most of any. False: no such point was found.
bool jet_tree_land_position(jet_space *jet, const double *a, double tolerance, double *y, int *iterations);
/// (P12) w such as the joints allow at the current position: the current velocity.
void jet_tree_land_velocity(jet_space *jet, double *w);
/// (P13) at the current point, forces are known: acceleration. False: singular.
bool jet_tree_distribution(jet_space *jet, const double *w);
/// c with B c = 0, or with `shift` such that B w stays zero when the point moves by H^T shift and w by c; nearest to
/// the given c in the metric of E. False: singular.
bool jet_tree_make_tangent(jet_space *jet, const double *shift, double *c);
/// Multipliers of all rows from the acceleration, leaves to root; rows are evaluated at the current point. False: rows
/// of a joint depend on each other.
bool jet_tree_find_multipliers(jet_space *jet, const double *w);

#endif
