// SPDX-License-Identifier: MIT
// Torsional spring and damper on the angle theta of b about the axis of a joint, V = k/2 (theta - theta_0)^2.
// Note: docs/theory/energy-decaying.md
//
//   torque   k (theta_mid - theta_0), (d (theta_n+1 - theta_n) - owed)/h     in the forms of joint_effort.c
#include "elements/joint_effort.h"

static double torsion_potential(const element *e, const double *a, const double *b,
                                const double *third, double angle)
{
    (void)third;
    (void)a, (void)b;
    double turn = angle - e->rest;
    return 0.5 * e->stiffness * turn * turn;
}

static void torsion_gradient(const element *e, const element_step *step, element_output *out)
{
    if (e->stiffness == 0.0) return;
    if (step->discrete_gradient) {
        double angle = element_angle_after(e, step);
        double torque = e->stiffness * (0.5 * (angle + step->angle_start) - e->rest);
        if (step->decay > 0.0) // (Z1)
            torque += 0.5 * step->decay * e->stiffness *
                      (angle - step->angle_start - step->change_before[0]);
        joint_effort_secant(e, step, angle, torque, 0.5 * (1.0 + step->decay) * e->stiffness, out);
        return;
    }
    // V'(theta) grad theta at one pose
    double angle = joint_coordinate_at(e, step, step->gradient_weight);
    joint_effort_at(e, step, step->gradient_weight, e->stiffness * (angle - e->rest), e->stiffness,
                    0.0, out);
}

static void torsion_load(const element *e, const element_step *step, element_output *out)
{
    if (e->damping == 0.0) return;
    double angle = element_angle_after(e, step);
    damper_pull pull = element_damper_pull(e, step);
    double rate = pull.by_rate / step->step_size;
    double torque = rate * (angle - step->angle_start) + pull.constant;
    if (step->discrete_gradient) {
        joint_effort_secant(e, step, angle, torque, rate, out);
        return;
    }
    // torque about the axis at the pose where loads act, or in the middle, where its rate belongs
    double weight = step->damper_middle ? 0.5 : step->weight;
    joint_effort_at(e, step, weight, torque, 0.0, rate, out);
}

static void torsion_damped(const element *e, const element_step *step, damped_rates *rates)
{
    element_damped_change(e, step, element_angle_after(e, step) - step->angle_start, rates);
}

static int torsion_strain_changes(const element *e, const element_step *step, double *changes)
{
    if (e->stiffness == 0.0) return 0;
    changes[0] = element_angle_after(e, step) - step->angle_start;
    return 1;
}

static double torsion_strain_product(const element *e, const double *x, const double *y)
{
    return e->stiffness * x[0] * y[0];
}

// Angular velocity of b about the axis less that of a: along director i it is w ddot_j . d_k - (1 - w) ddot_k . d_j,
// whatever w; with the part of j in the inertia, momenta along the row turn the body and do nothing else
static int torsion_rates(const element *e, bool by_place, const double *a, const double *b,
                         double rows[][ELEMENT_COLUMNS])
{
    if (e->stiffness == 0.0) return 0;
    const hn_vec3 a_axis = vec3_cross(e->a1, e->a2);
    const double axes[2][3] = {{-a_axis.x, -a_axis.y, -a_axis.z},
                               {e->b_axis.x, e->b_axis.y, e->b_axis.z}};
    for (int c = 0; c < ELEMENT_COLUMNS; ++c) rows[0][c] = 0.0;
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3; ++i) {
            const double *pose = side == 0 ? a : b;
            double first = e->turning[side][i] * axes[side][i], second = axes[side][i] - first;
            double *to = rows[0] + 12 * side;
            int j = 1 + (i + 1) % 3, k = 1 + (i + 2) % 3;
            for (int c = 0; c < 3; ++c) {
                to[3 * j + c] += by_place ? -second * pose[3 * k + c] : first * pose[3 * k + c];
                to[3 * k + c] += by_place ? first * pose[3 * j + c] : -second * pose[3 * j + c];
            }
        }
    return 1;
}

const element_type element_torsion_spring = {
    .name = "torsion spring",
    .potential = torsion_potential,
    .gradient = torsion_gradient,
    .load = torsion_load,
    .rate_row = joint_coordinate_rate_row,
    .damped_count = element_damped_one,
    .damped = torsion_damped,
    .strain_changes = torsion_strain_changes,
    .strain_product = torsion_strain_product,
    .rates = torsion_rates,
};
