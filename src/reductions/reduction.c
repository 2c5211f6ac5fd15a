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

double newton_momentum_scale(const hn_system *system, const step_equations *equations, const step_data *step)
{
    double scale = 0.0, g = vec3_norm(system->gravity);
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *inertia = system->inertia + 4 * (size_t)i;
        double linear = vec3_norm(vec3_load(equations->momentum + at)) +
                        equations->mass_factor * inertia[0] * vec3_norm(vec3_load(step->delta + at)) +
                        equations->force_factor * inertia[0] * g + vec3_norm(vec3_load(step->force + at));
        double angular = 0.0;
        for (int k = 1; k < 4; ++k)
            angular += vec3_norm(vec3_load(equations->momentum + at + 3 * k)) +
                       equations->mass_factor * inertia[k] * vec3_norm(vec3_load(step->delta + at + 3 * k)) +
                       vec3_norm(vec3_load(step->force + at + 3 * k));
        scale = fmax(scale, fmax(linear, angular / system->length));
    }
    return scale;
}

bool newton_note_residual(newton_report *report, const newton_options *options, double residual)
{
    report->residual = residual;
    if (report->history_count < NEWTON_HISTORY) report->history[report->history_count++] = residual;
    return residual <= options->residual_tolerance;
}
