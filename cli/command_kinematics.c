// SPDX-License-Identifier: MIT
// `holonom kinematics` and `holonom inverse`: a mechanism follows its prescribed motions, and what that takes.
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "output_file.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "stop_signal.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct follow_words {
    model_source source;
    run_texts texts;
    const char *every, *output, *no_output, *discrete, *quiet;
} follow_words;

/// Largest values of a drive over all records.
typedef struct drive_extent {
    double lowest, highest; ///< coordinate
    double effort, time;    ///< of the largest size, and when
    double power;
} drive_extent;

typedef struct follow_run {
    const char *command;
    bool inverse, discrete, quiet;
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_results *results;
    drive_extent *drives;
    char *output;
    int64_t step_count, every;
} follow_run;

// ---- what is printed ------------------------------------------------------------------------------

static void note_drives(follow_run *r, bool first)
{
    for (int d = 0; d < hn_model_drive_count(r->model); ++d) {
        hn_drive_state state;
        drive_extent *x = &r->drives[d];
        if (hn_simulation_drive(r->simulation, d, &state) != HN_OK) continue;
        x->lowest = first ? state.coordinate : fmin(x->lowest, state.coordinate);
        x->highest = first ? state.coordinate : fmax(x->highest, state.coordinate);
        x->power = fmax(x->power, fabs(state.power));
        if (fabs(state.effort) <= fabs(x->effort)) continue;
        x->effort = state.effort;
        x->time = hn_simulation_time(r->simulation);
    }
}

static void print_extents(const follow_run *r)
{
    table t = table_begin(6);
    table_add_row(&t);
    const char *const header[6] = {"drive", "from m, rad", "to", "largest effort N, N m",
                                   "at s",  "power W"};
    for (int c = 0; c < 6; ++c) table_set(&t, c, "%s", header[c]);
    for (int d = 0; d < hn_model_drive_count(r->model); ++d) {
        const drive_extent *x = &r->drives[d];
        table_add_row(&t);
        table_set(&t, 0, "%s", SHOWN(hn_model_drive_name(r->model, d)));
        table_set(&t, 1, "%.6g", x->lowest);
        table_set(&t, 2, "%.6g", x->highest);
        if (!r->inverse) continue;
        table_set(&t, 3, "%.6g", x->effort);
        table_set(&t, 4, "%.6g", x->time);
        table_set(&t, 5, "%.6g", x->power);
    }
    table_print(&t, 2, 1, stdout);
    table_end(&t);
}

// ---- the records ----------------------------------------------------------------------------------

// Outputs that kinematics does not find; expressions of them neither.
static void warn_of_outputs(const follow_run *r)
{
    for (int i = 0; i < hn_model_output_count(r->model); ++i) {
        hn_output_kind kind = hn_model_output_kind(r->model, i);
        if (kind == HN_OUTPUT_REACTION_FORCE || kind == HN_OUTPUT_REACTION_TORQUE ||
            kind == HN_OUTPUT_EFFORT || kind == HN_OUTPUT_POWER)
            say(stderr,
                "warning: output '%s' is zero, and what is computed from it means nothing: "
                "kinematics finds no efforts and no reactions, `holonom inverse` does\n",
                hn_model_output_name(r->model, i));
    }
}

static int fail(const follow_run *r, hn_status status)
{
    say(stderr, "%s\n", hn_context_message(r->context));
    if (r->results != NULL) say(stderr, "  records until then: %s.part\n", r->output);
    return exit_code_of(status);
}

static int write_failed(const follow_run *r)
{
    say(stderr, "the results could not be written: %s\n", hn_context_message(r->context));
    return EXIT_FILE;
}

static hn_status advance(const follow_run *r, int64_t count)
{
    return r->discrete ? hn_simulation_step(r->simulation, count)
                       : hn_simulation_follow(r->simulation, count, r->inverse);
}

static int follow(follow_run *r)
{
    if (!r->quiet) print_model_line(r->model, r->simulation, stdout);
    hn_status status =
        hn_simulation_follow(r->simulation, 0, r->inverse); // is every freedom driven?
    if (status != HN_OK) return fail(r, status);
    if (r->output != NULL) {
        hn_results_def def = hn_results_def_default();
        def.every = r->every;
        def.step_count = r->step_count;
        def.kind = r->inverse ? HN_RESULT_INVERSE : HN_RESULT_KINEMATICS;
        status = hn_results_create_for(r->model, r->simulation, r->output, &def, &r->results);
        if (status == HN_OK) status = hn_results_append(r->results);
        if (status != HN_OK) return write_failed(r);
        if (!r->inverse) warn_of_outputs(r);
    }
    note_drives(r, true);
    for (int64_t done = 0; done < r->step_count;) {
        int64_t count = r->step_count - done < r->every ? r->step_count - done : r->every;
        status = advance(r, count);
        if (status != HN_OK) return fail(r, status);
        done += count;
        note_drives(r, false);
        if (r->results != NULL && hn_results_append(r->results) != HN_OK) return write_failed(r);
    }
    if (!r->quiet) {
        printf("  %s, h = %g s, %lld steps until %g s\n",
               !r->inverse   ? "positions, velocities, accelerations"
               : r->discrete ? "efforts of the steps of energy-momentum"
                             : "efforts and reactions of the motion",
               hn_simulation_step_size(r->simulation), (long long)r->step_count,
               hn_simulation_time(r->simulation));
        print_extents(r);
    }
    fflush(stdout);
    if (r->results == NULL) return EXIT_FINE;
    if (hn_results_finish(r->results) != HN_OK) return write_failed(r);
    if (!r->quiet)
        say(stdout, "  wrote %s        view it: holonom view %s\n", r->output, r->output);
    return EXIT_FINE;
}

// ---- the commands ---------------------------------------------------------------------------------

static int run_follow(follow_run *r, const follow_words *words)
{
    int code = model_source_load(r->context, r->command, &words->source, &r->model);
    if (code != EXIT_FINE) return code;
    hn_run_options options;
    if (!merge_run_options(r->command, r->model, &words->texts, &options, &r->step_count))
        return EXIT_USAGE;
    r->drives = calloc((size_t)hn_model_drive_count(r->model) + 1, sizeof *r->drives);
    if (r->drives == NULL) return report_no_memory();
    if (words->no_output == NULL) {
        r->output = output_name(words->output, model_source_name(&words->source),
                                r->inverse ? "-inverse.h5" : "-kinematics.h5");
        if (r->output == NULL) return report_no_memory();
    }
    hn_simulation_def run = hn_simulation_def_default();
    run.reduction = options.reduction;
    run.step_size = options.step;
    run.ledger = false;
    code = report_create_simulation(r->model, &run, &r->simulation);
    if (code != EXIT_FINE) return code;
    said_cautions said = {0};
    warn_cautions(r->model, r->simulation, &said);
    return follow(r);
}

static int command_follow(follow_run *r, follow_words *words, const command_usage *usage,
                          int argument_count, char **arguments)
{
    options_result parsed = options_parse(usage, argument_count, arguments, &words->source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    r->every = 1;
    if (words->every != NULL &&
        !option_positive_count(r->command, "--every", words->every, &r->every))
        return EXIT_USAGE;
    if (words->no_output != NULL && words->output != NULL) {
        options_complain(r->command, "--no-output excludes --output");
        return EXIT_USAGE;
    }
    r->discrete = words->discrete != NULL;
    r->quiet = words->quiet != NULL;
    r->context = hn_context_create(NULL);
    if (r->context == NULL) return report_no_memory();
    hn_context_set_log(r->context, report_log_line, NULL);
    stop_signal_watch(r->context);
    int code = run_follow(r, words);
    hn_results_destroy(r->results);
    hn_simulation_destroy(r->simulation);
    hn_model_destroy(r->model);
    stop_signal_forget();
    hn_context_destroy(r->context);
    free(r->output);
    free(r->drives);
    return code;
}

#define FOLLOW_OPTIONS(words)                                                                      \
    {"--step", "SECONDS", "time between positions (default: the model's)", &(words).texts.step},   \
        {"--end", "SECONDS", "time to stop at (default: the model's)", &(words).texts.end},        \
        {"--steps", "N", "number of steps instead of --end", &(words).texts.steps},                \
        {"--every", "N", "write every N-th step only", &(words).every},                            \
        {"--output", "FILE", "result file", &(words).output},                                      \
        {"--no-output", NULL, "write no result file", &(words).no_output},                         \
        MODEL_PARAMETER_OPTION((words).source),                                                    \
    {                                                                                              \
        "--quiet", NULL, "print errors and warnings only", &(words).quiet                          \
    }

int command_kinematics(int argument_count, char **arguments)
{
    follow_words words = {0};
    follow_run r = {.command = "kinematics"};
    const option_spec options[] = {FOLLOW_OPTIONS(words)};
    const command_usage usage = {
        "kinematics",
        "MODEL",
        "Move a mechanism by its prescribed motions: positions, velocities, accelerations.",
        "Drives of the kind motion take all its freedom; masses and forces play no part. A freedom "
        "without a motion and\n"
        "a motion that a loop or another one holds are refused by name. The result file has the "
        "model's name with\n"
        "-kinematics.h5 unless told, and bodies/acceleration and joints/accelerations beside the "
        "series of a run.\n",
        "holonom kinematics models/engine.yaml --every 10",
        options,
        sizeof options / sizeof options[0]};
    return command_follow(&r, &words, &usage, argument_count, arguments);
}

int command_inverse(int argument_count, char **arguments)
{
    follow_words words = {0};
    follow_run r = {.command = "inverse", .inverse = true};
    const option_spec options[] = {
        {"--discrete", NULL,
         "efforts that steps of energy-momentum take, instead of the motion itself",
         &words.discrete},
        FOLLOW_OPTIONS(words)};
    const command_usage usage = {
        "inverse",
        "MODEL",
        "Inverse dynamics: the efforts and reactions that prescribed motions take.",
        "Drives of the kind motion take all its freedom. drives/NAME/effort and reactions in "
        "joints "
        "belong to the time\n"
        "of the record. With --discrete they are those of simulated steps, between their ends: "
        "held "
        "over each step they\n"
        "give the same motion to round-off.\n",
        "holonom inverse models/engine.yaml --output engine-torque.h5",
        options,
        sizeof options / sizeof options[0]};
    return command_follow(&r, &words, &usage, argument_count, arguments);
}
