// SPDX-License-Identifier: MIT
// The table of schemes and what they share.
#include "schemes/scheme.h"

const scheme_type *scheme_type_of(hn_scheme scheme)
{
    static const scheme_type *const types[HN_SCHEME_COUNT] = {
        [HN_SCHEME_ENERGY_MOMENTUM] = &scheme_energy_momentum,
        [HN_SCHEME_VARIATIONAL] = &scheme_variational,
    };
    return types[scheme];
}

double scheme_load_work(const hn_system *system, const step_equations *equations, const step_data *step, double weight)
{
    double work = 0.0;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        double minus_a[POSE_SIZE] = {0.0}, minus_b[POSE_SIZE] = {0.0};
        element_step view = {
            .a_start = system_pose(step->q_start, e->a),
            .b_start = system_pose(step->q_start, e->b),
            .a = system_pose(step->q, e->a),
            .b = system_pose(step->q, e->b),
            .angle_start = e->angle >= 0 ? step->angle_start[e->angle] : 0.0,
            .step_size = equations->step_size,
            .time_middle = equations->time_middle,
            .discrete_gradient = equations->discrete_gradient,
            .weight = weight,
            .factor = 1.0,
        };
        element_output out = {.residual_a = minus_a, .residual_b = minus_b};
        element_type_of(e->kind)->load(e, &view, &out);
        for (int k = 0; k < POSE_SIZE; ++k) {
            if (e->a >= 0) work -= minus_a[k] * step->delta[POSE_SIZE * (size_t)e->a + (size_t)k];
            if (e->b >= 0) work -= minus_b[k] * step->delta[POSE_SIZE * (size_t)e->b + (size_t)k];
        }
    }
    return work;
}

void scheme_apply_mass(const hn_system *system, double factor, const double *x, double *y)
{
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < POSE_SIZE; ++k) {
            size_t place = POSE_SIZE * (size_t)i + (size_t)k;
            y[place] = factor * system->inertia[4 * i + k / 3] * x[place];
        }
}
