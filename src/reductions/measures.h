// SPDX-License-Identifier: MIT
// What residuals, gaps and increments of Newton's method are measured by: numbers of the body and the joint they belong
// to, never of the model. A light mechanism beside a heavy one, or a small one beside a large one, is then solved as if
// it were alone.
#ifndef REDUCTIONS_MEASURES_H
#define REDUCTIONS_MEASURES_H

#include "system/step.h"

#include <float.h>

/// Sizes of the terms that cancel in the equations of a body.
typedef struct body_scale {
    double force;  ///< kg m/s
    double moment; ///< kg m^2/s
} body_scale;

/// Of the body alone: its momentum b, alpha M Delta, forces of elements, gravity. Never zero where there is inertia: a
/// body counts as at rest when it moves by no more than round-off of its size. Those of parked ones are beyond all
/// numbers of the model.
void measure_bodies(const hn_system *system, const step_equations *equations, const step_data *step,
                    body_scale *scales);
/// Round-off of coordinates over the bound of the ledger's equations line: of a way that is shorter, as a part of a
/// body's place and size, more than 1e-12 is round-off.
static const double MEASURE_STILL = 16.0 * DBL_EPSILON / 1e-12;
/// Add what round-off of coordinates leaves in any residual, times so much that 1e-12 of the whole is round-off: for
/// reports, and no more than a thousandth of it for Newton's method.
void measure_add_round_off(const hn_system *system, const step_equations *equations, const double *q,
                           body_scale *scales);
/// Likewise what cancels inside elements, and what round-off of coordinates leaves in them: stiff ones and strong
/// dampers make more of it than inertia does.
void measure_add_elements(const hn_system *system, const step_equations *equations, const step_data *step,
                          body_scale *scales);
/// J, of the force of an element with a potential that round-off of coordinates leaves open, on its way in a step:
/// eps sum |K^T Delta| |x| with its tangent K in the middle. A way across a spring, or with it, leaves nothing open.
double measure_element_work(const hn_system *system, const step_data *step, int index);
/// Of W, about the centre of mass, from these: the largest of what the joint between a body and its parent transmits.
void measure_transmit(const hn_system *system, body_scale *scales);

static inline double measure_at_least(double scale, double other)
{
    return other > scale ? other : scale;
}

/// The part of one body in this; those further out come first.
static inline void measure_transmit_body(const hn_system *system, int body, body_scale *scales)
{
    int p = system->parent[body];
    // a joint without rows transmits nothing
    if (p < 0 || system->joints[body].row_count == 0) return;
    const body_scale own = scales[body];
    body_scale above = scales[p];
    above.moment = measure_at_least(above.moment, own.moment);
    above.moment = measure_at_least(above.moment, system->sizes[p] * own.force);
    above.force = measure_at_least(above.force, own.force);
    scales[p] = above;
}

/// |x| relative to a scale.
static inline double measure_part(double x, double scale)
{
    return scale > 0.0 ? fabs(x) / scale : fabs(x);
}

/// Component k of a residual B^T W relative to what is transmitted.
double measure_residual(const motion *m, int k, double residual, const body_scale *scale);

static inline double one_norm(const double *x)
{
    return fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
}

/// Metres that changes of a body's place are compared with: its size, its way in the step (`delta`, may be NULL), and
/// as much of its distance from the origin as leaves some digits of a small change.
static inline double measure_length(const hn_system *system, int body, const double *q, const double *delta)
{
    const double FAR = 1e-5;
    if (body < 0) return 0.0;
    size_t at = POSE_SIZE * (size_t)body;
    return system->sizes[body] + FAR * one_norm(q + at) + (delta == NULL ? 0.0 : one_norm(delta + at));
}

/// Size of a change of place by v and omega: rad, m over the body's length.
static inline double measure_twist(double length, const double *twist)
{
    return fmax(vec3_norm(vec3_load(twist)) / length, vec3_norm(vec3_load(twist + 3)));
}

/// The same in twelve coordinates; NaN stays.
double measure_pose(double length, const double *change);
/// Add a change of twelve coordinates of a body to the iterate; returns its size so measured.
double measure_move(const hn_system *system, const step_data *step, int body, const double *change);

/// The length of a mechanism as a unit for linear systems: a power of two, one where it is within some decades of a
/// metre.
double measure_unit(const hn_system *system, int body);

/// What a row between bodies a and b is compared with; its unit is that of the row.
double measure_row(const hn_system *system, const joint *j, const constraint_row *row, int a, int b, const double *q,
                   const double *delta);

/// How far a row of a joint on a loop may be off at the poses q after a step: by a part of its bodies' size, and by
/// round-off of places far from the origin. A dropped row that is off by more is put back and the step solved again.
double measure_row_tolerance(const hn_system *system, const joint *j, const constraint_row *row, int a, int b,
                             const double *q);

#endif
