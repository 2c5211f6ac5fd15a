// SPDX-License-Identifier: MIT
// Merging of a model's run options with those of the command line.
#include "run_options.h"

#include "options.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

static const double STEP_COUNT_MAX = 9e15; // whole numbers a double can tell apart
static const double GRID_TOLERANCE = 1e-6; // of a step: how near the end must be to the grid

bool parse_scheme(const char *command, const char *text, hn_scheme *scheme)
{
    if (hn_scheme_from_name(text, scheme)) return true;
    complain_unknown_word(command, "scheme", text, HN_SCHEME_COUNT, scheme_word);
    return false;
}

bool parse_reduction(const char *command, const char *text, hn_reduction *reduction)
{
    if (hn_reduction_from_name(text, reduction)) return true;
    complain_unknown_word(command, "reduction", text, HN_REDUCTION_COUNT, reduction_word);
    return false;
}

bool count_steps(double end, double step, int64_t *count)
{
    double steps = end / step;
    if (!(steps <= STEP_COUNT_MAX)) return false;
    *count = llround(steps);
    if (*count < 1) *count = 1;
    return true;
}

bool is_multiple(double end, double step)
{
    double steps = end / step;
    return fabs(steps - nearbyint(steps)) <= GRID_TOLERANCE && steps > 0.5;
}

bool merge_run_options(const char *command, const hn_model *model, const run_texts *texts,
                       hn_run_options *options, int64_t *step_count)
{
    *options = hn_model_run_options(model);
    return merge_run_texts(command, texts, options, step_count);
}

bool merge_run_texts(const char *command, const run_texts *texts, hn_run_options *options,
                     int64_t *step_count)
{
    if (texts->scheme != NULL && !parse_scheme(command, texts->scheme, &options->scheme))
        return false;
    if (texts->reduction != NULL &&
        !parse_reduction(command, texts->reduction, &options->reduction))
        return false;
    if (texts->step != NULL &&
        !option_positive_number(command, "--step", texts->step, &options->step))
        return false;
    if (texts->end != NULL && !option_positive_number(command, "--end", texts->end, &options->end))
        return false;
    if (texts->end != NULL && texts->steps != NULL) {
        options_complain(command, "--end and --steps both say how long to run: give one of them");
        return false;
    }
    if (!(options->step > 0.0)) {
        options_complain(command, "the model does not say the step size: give --step SECONDS");
        return false;
    }
    if (texts->steps != NULL) {
        if (!option_positive_count(command, "--steps", texts->steps, step_count)) return false;
        options->end = (double)*step_count * options->step;
        return true;
    }
    if (!(options->end > 0.0)) {
        options_complain(command,
                         "the model does not say how long to run: give --end SECONDS or --steps N");
        return false;
    }
    if (count_steps(options->end, options->step, step_count)) return true;
    options_complain(command, "the step %g s is too small for an end at %g s", options->step,
                     options->end);
    return false;
}

bool read_static_words(const char *command, const char *load_steps, const char *time,
                       const char *relax, hn_static_def *def)
{
    enum { LOAD_STEPS_MAX = 1000000 };
    int64_t count = def->load_steps;
    if (load_steps != NULL && !option_positive_count(command, "--load-steps", load_steps, &count))
        return false;
    if (count > LOAD_STEPS_MAX) {
        options_complain(command, "--load-steps %s: at most %d", load_steps, LOAD_STEPS_MAX);
        return false;
    }
    def->load_steps = (int)count;
    def->relax = relax != NULL;
    if (time == NULL) return true;
    char *end;
    def->time = strtod(time, &end);
    def->at_time = true;
    if (end != time && *end == '\0' && isfinite(def->time)) return true;
    options_complain(command, "--time: '%s' is no time in seconds", time);
    return false;
}
