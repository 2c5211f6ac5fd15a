// SPDX-License-Identifier: MIT
// The table of reductions and the convergence test they share.
#include "reductions/reduction.h"

const reduction_type *reduction_type_of(hn_reduction kind)
{
    static const reduction_type *const types[HN_REDUCTION_COUNT] = {
        [HN_REDUCTION_REDUCED] = &reduction_reduced,
        [HN_REDUCTION_NULLSPACE] = &reduction_nullspace,
        [HN_REDUCTION_MULTIPLIERS] = &reduction_multipliers,
    };
    return types[kind];
}

// squared norm of a vector, its own maximum so far
static inline double larger_square(double largest, double factor, const double *x)
{
    double square = factor * factor * vec3_dot(vec3_load(x), vec3_load(x));
    return square > largest ? square : largest;
}

double newton_momentum_scale(const hn_system *system, const step_equations *equations,
                             const step_data *step)
{
    // the largest of each kind of term, forces and moments; roots are taken once
    double momentum[2] = {0.0}, inertial[2] = {0.0}, force[2] = {0.0}, mass = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *inertia = system->inertia + 4 * (size_t)i;
        if (inertia[0] > mass) mass = inertia[0];
        for (int k = 0; k < 4; ++k) {
            int turning = k > 0;
            momentum[turning] =
                larger_square(momentum[turning], 1.0, equations->momentum + at + 3 * k);
            inertial[turning] =
                larger_square(inertial[turning], inertia[k], step->delta + at + 3 * k);
            if (system->element_count > 0)
                force[turning] = larger_square(force[turning], 1.0, step->force + at + 3 * k);
        }
    }
    double linear = sqrt(momentum[0]) + equations->mass_factor * sqrt(inertial[0]) +
                    sqrt(force[0]) + equations->force_factor * mass * vec3_norm(system->gravity);
    double angular =
        sqrt(momentum[1]) + equations->mass_factor * sqrt(inertial[1]) + sqrt(force[1]);
    return fmax(linear, angular / system->length);
}

bool newton_note_residual(newton_report *report, const newton_options *options, double residual)
{
    report->residual = residual;
    if (report->history_count < NEWTON_HISTORY) report->history[report->history_count++] = residual;
    return residual <= options->residual_tolerance;
}
