// SPDX-License-Identifier: MIT
// What joints whose child slides along an axis and turns about it share: see cylindrical.c.
#ifndef JOINTS_CYLINDRICAL_H
#define JOINTS_CYLINDRICAL_H

#include "joints/joint.h"

void cylindrical_row(const joint *j, int index, constraint_row *row);
void cylindrical_motion(const joint *j, const joint_step *step, const double *parent, const double *child, motion *m);
int cylindrical_terms(const joint *j, const joint_step *step, const double *parent, const double *child, hn_vec3 force,
                      hn_vec3 moment, motion_term *terms);
void cylindrical_begin(const joint *j, const double *parent, const double *child, joint_step *step);
void cylindrical_advance(const joint *j, const double *u, const double *parent_start, const double *parent,
                         const double *child_start, const double *child, const body_step *parent_step,
                         joint_step *step, body_step *child_step);
void cylindrical_settle(const joint *j, const joint_step *step, const double *parent, double *child);
void cylindrical_coordinates(const joint *j, const double *a, const double *b, double *coordinates);

#endif
