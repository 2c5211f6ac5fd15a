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

void newton_note_loops(newton_report *report, const row_choice *choice)
{
    report->loops = (loop_state){.known = true,
                                 .angle = sqrt(fmax(0.0, choice->smallest_kept)),
                                 .joint = choice->smallest_joint >= 0 ? choice->smallest_joint
                                                                      : choice->dropped_joint,
                                 .dropped = choice->dropped_count};
}

bool newton_note_residual(newton_report *report, const newton_options *options, double residual)
{
    report->residual = residual;
    if (report->history_count < NEWTON_HISTORY) report->history[report->history_count++] = residual;
    // a residual that is small beside what a heavy body does may be all that a light one knows
    const double LEVERAGE = 10.0;
    return residual <= options->residual_tolerance &&
           report->leverage * residual <= LEVERAGE * options->residual_tolerance;
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
