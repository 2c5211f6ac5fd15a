// SPDX-License-Identifier: MIT
// A generalised effort along one coordinate of a joint, whatever law gives its size.
//
// Signs are those of a gradient: a positive effort is added to the residual and acts against the coordinate.
#ifndef ELEMENTS_JOINT_EFFORT_H
#define ELEMENTS_JOINT_EFFORT_H

#include "elements/element.h"

/// In the form whose work is `effort` times the change of the coordinate, exactly (F4), (D9). `coordinate`: at t_n+1;
/// `slope`: d effort/d coordinate there.
void joint_effort_secant(const element *e, const element_step *step, double coordinate, double effort, double slope,
                         element_output *out);

/// At the pose (1 - weight) q_n + weight q_n+1. `slope_here`: d effort/d coordinate at that pose; `slope_end`: at
/// t_n+1.
void joint_effort_at(const element *e, const element_step *step, double weight, double effort, double slope_here,
                     double slope_end, element_output *out);

/// The coordinate at that pose, continued from the one at t_n.
double joint_coordinate_at(const element *e, const element_step *step, double weight);

/// Its rate as a row on the velocities of the two bodies; false where an angle is not told.
bool joint_coordinate_rate_row(const element *e, const double *a, const double *b, double *row);

/// `effort` along the product of two vectors U = sum u_k x_k and W at the pose (1 - weight) q_n + weight q_n+1; slopes
/// by U . W there and at t_n+1.
void product_effort(const double *u, const double *w, const element_step *step, double weight, double effort,
                    double slope_here, double slope_end, element_output *out);

#endif
