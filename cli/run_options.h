// SPDX-License-Identifier: MIT
// How a model is to be run: what the file says, overridden by the command line.
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include <holonom/holonom.h>

/// Texts of the options that override the model's; NULL where not given.
typedef struct run_texts {
    const char *scheme, *reduction, *step, *end, *steps;
} run_texts;

/// Merge; every number is positive afterwards. False after reporting what is wrong or missing.
/// `*step_count` steps of options->step end at options->end, to the nearest step.
bool merge_run_options(const char *command, const hn_model *model, const run_texts *texts,
                       hn_run_options *options, int64_t *step_count);

/// The same, with `*options` as it comes instead of the model's.
bool merge_run_texts(const char *command, const run_texts *texts, hn_run_options *options,
                     int64_t *step_count);

/// Steps of size `step` until `end`, to the nearest one, at least 1; false when there are too many to count.
bool count_steps(double end, double step, int64_t *count);

/// Does `end` lie on the grid of `step`, up to rounding?
bool is_multiple(double end, double step);

/// How an equilibrium is to be found, from the texts of --load-steps, --time and --relax; NULL where not given. False
/// after reporting what is wrong.
bool read_static_words(const char *command, const char *load_steps, const char *time, const char *relax,
                       hn_static_def *def);

bool parse_scheme(const char *command, const char *text, hn_scheme *scheme);
bool parse_reduction(const char *command, const char *text, hn_reduction *reduction);

#endif
