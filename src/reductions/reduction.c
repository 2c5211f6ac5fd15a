// SPDX-License-Identifier: MIT
// The table of reductions and the convergence test they share.
#include "reductions/reduction.h"

#include "system/mass.h"

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
        const double *inertia = mass_node(system, i);
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

bool newton_is_round_off(double residual)
{
    const double ROUND_OFF = 5e-14;
    return residual <= ROUND_OFF;
}

bool newton_is_exhausted(double residual, double before, const newton_options *options)
{
    const double LINEAR = 0.1, LARGEST = 5e-13, FALLING = 0.9;
    if (options->residual_tolerance == 0.0) return false;
    return (newton_is_round_off(residual) && residual > LINEAR * before) ||
           (residual <= LARGEST && residual > FALLING * before);
}

bool newton_goes_on(double residual, double before, int iterations, const newton_options *options)
{
    if (iterations < options->iterations_max) return true;
    bool quarter = residual >= 0.2 * before && residual <= 0.3 * before;
    return quarter && options->residual_tolerance > 0.0 && iterations < 3 * options->iterations_max;
}

bool newton_jumps(double residual, double before, const newton_options *options)
{
    const double LARGE = 1e-3, GROWTH = 10.0;
    return options->residual_tolerance > 0.0 && residual > LARGE && residual > GROWTH * before;
}
