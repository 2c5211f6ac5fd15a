// SPDX-License-Identifier: MIT
// The twist rule applied: joint rates from twists, twists of the whole tree from joint rates, the tree moved as one.
#ifndef SYSTEM_KINEMATICS_H
#define SYSTEM_KINEMATICS_H

#include "system/step.h"

/// u with B u nearest to t_child - A t_parent.
void motion_rates(const motion *m, const double *parent, const double *child, double *u);

/// t_child = A t_parent + B u.
void motion_apply(const motion *m, const double *parent, const double *u, double *child);

/// Twist rule of the joint above a body at given poses of all bodies.
void tree_motion(const hn_system *system, const joint_step *steps, const double *q, int body, motion *m);

/// Move the iterate of a step by the joint increments `u` (dof), root to leaves.
void tree_advance(const hn_system *system, const double *u, step_data *step);

/// Remove round-off from the iterate: every body exactly on its joint, root to leaves.
void tree_settle(const hn_system *system, step_data *step);

/// Add a wrench (force, moment about the centre of mass) on a body, at the start poses, to `row` (dof): its power by
/// the joint rates of the tree.
void system_wrench_on_tree(const hn_system *system, int body, const double *wrench, double *row);

/// Add a constraint row between two bodies, at the start poses, to `row` (dof): its rates by the joint rates of the
/// tree.
void system_row_on_tree(const hn_system *system, const constraint_row *constraint, int a, int b, double *row);

#endif
