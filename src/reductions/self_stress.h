// SPDX-License-Identifier: MIT
// Self-stresses: multipliers of joints on loops that press the joints against each other and exert no force. Note:
// docs/theory/closed-loops.md
//
// The smallest multipliers that exert the forces of given ones, lambda, are
//
//   lambda' = G y,   G^T G y = G^T lambda                                                                      (C7)
//
// A body is a block of G^T G and a joint couples two of them, so that the cost grows with the bodies and not with the
// self-stresses. G^T G is singular in the motions that the joints leave free; a little is added to its diagonal, and
// what that changes is taken back by repeating (C7) for the forces that are left.
#ifndef REDUCTIONS_SELF_STRESS_H
#define REDUCTIONS_SELF_STRESS_H

#include "reductions/independent_rows.h"

typedef struct self_stress self_stress;

hn_status self_stress_create(hn_system *system, self_stress **out);
void self_stress_destroy(self_stress *s);

/// How many self-stresses there are at the poses q, a configuration on the manifold. @return HN_OK or
/// HN_SINGULAR_SYSTEM
hn_status self_stress_count(self_stress *s, const double *q, int *count);
/// Which joints of the model have a part in them. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status self_stress_find(self_stress *s, const double *q, bool *shared);

/// How the wrench of a joint, on the model's body b about its joint point, changes with self-stresses.
typedef struct stress_span {
    int count;                   ///< independent ways: 0 to 6
    double force[TWIST_SIZE][3]; ///< of each
    double torque[TWIST_SIZE][3]; ///< in forces times `length`
    double length;               ///< m
    int force_count, torque_count; ///< dimensions of what forces alone and torques alone span
    double force_unique[9], torque_unique[9]; ///< projectors onto what no self-stress changes, row-major, world axes
} stress_span;

/// Probe the self-stresses at the poses q, a configuration on the manifold. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status self_stress_probe(self_stress *s, const double *q);
/// What the probes say of a joint of the model, at the poses they were taken at.
void self_stress_span(const self_stress *s, const double *q, int index, stress_span *span);

/// Forces of constraints act at (1 - weight) q_start + weight q_end, between two configurations on the manifold.
typedef struct force_place {
    const double *q_start, *q_end;
    double weight;       ///< 0, 1/2 or 1
    bool single_freedom; ///< no other motion than from q_start to q_end: what is redundant there is so between them
} force_place;

/// Replace multipliers (as many as the system has constraints; those of joints on loops change) by the smallest ones
/// that exert the same forces. @return HN_OK or HN_SINGULAR_SYSTEM, and nothing is changed
hn_status self_stress_remove(self_stress *s, const force_place *place, double *multipliers);

/// Second time derivatives that rows of joints on loops have in a motion with the given twists (6 per body) and that no
/// acceleration makes up for: where self-stresses do work on them, the motion leaves the manifold.
typedef struct loop_departure {
    double size; ///< relative to the centripetal accelerations of the bodies
    int joint;   ///< where it is largest, index in the model; -1: none
    const double *rows; ///< row by row, valid until the next call
    int row_count;
} loop_departure;
/// Joint of the model that a row of `loop_departure` belongs to.
int self_stress_joint_of_row(const self_stress *s, int row);

/// Find them at the poses q, a configuration on the manifold. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status self_stress_departure(self_stress *s, const double *q, const double *twists, loop_departure *departure);

/// Constraints that nearly follow from the others: a loop whose geometry is not quite exact.
typedef struct loop_misfit {
    double size; ///< relative to the constraints
    int joint;   ///< a joint on the loop, index in the model; -1: none
} loop_misfit;

/// Look for one at the poses q; none are found where more than 300 bodies lie on loops. @return HN_OK or
/// HN_SINGULAR_SYSTEM
hn_status self_stress_misfit(self_stress *s, const double *q, loop_misfit *misfit);

#endif
