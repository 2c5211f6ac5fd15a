// SPDX-License-Identifier: MIT
// `holonom modes`: frequencies and shapes of small free motions about an equilibrium.
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

enum { SWING_RECORDS = 24, COUNT_MAX = 10000 };
static const double SWING_PART = 0.1; // of the model's extent that a swing moves in pictures

typedef struct mode_words {
    model_source source;
    const char *count, *at, *load_steps, *time, *output, *no_output, *relax, *quiet;
} mode_words;

typedef struct mode_run {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_results *results;
    hn_modes_def def;
    hn_mode *modes;
    double *shapes; ///< 6 per body and mode
    hn_modes_report report;
    char *output;
    bool quiet;
} mode_run;

// ---- what is printed ------------------------------------------------------------------------------

static void describe_kind(const hn_mode *mode, char *text, size_t size)
{
    if (mode->held)
        snprintf(text, size, "cannot be told from zero: below %.1e Hz", mode->round_off);
    else if (mode->rigid) snprintf(text, size, "rigid: nothing holds it");
    else if (mode->growth_rate > 0.0)
        snprintf(text, size, "UNSTABLE%s", mode->frequency > 0.0 ? ": grows as it swings" : "");
    else text[0] = '\0';
}

static void print_modes(const mode_run *r)
{
    const hn_equilibrium *e = &r->report.equilibrium;
    if (r->report.count == 0) {
        puts("  0 modes: joints and drives leave no freedom to move");
        return;
    }
    table t = table_begin(5);
    table_add_row(&t);
    const char *const header[5] = {"mode", "frequency Hz", "growth 1/s", "moves most", ""};
    for (int c = 0; c < 5; ++c) table_set(&t, c, "%s", header[c]);
    for (int i = 0; i < r->report.count; ++i) {
        const hn_mode *mode = &r->modes[i];
        char kind[80];
        describe_kind(mode, kind, sizeof kind);
        table_add_row(&t);
        table_set(&t, 0, "%d", i + 1);
        table_set(&t, 1, "%.9g", mode->frequency);
        if (mode->growth_rate > 0.0) table_set(&t, 2, "%.6g", mode->growth_rate);
        table_set(&t, 3, "%s", hn_model_body_name(r->model, mode->body));
        table_set(&t, 4, "%s", kind);
    }
    table_print(&t, 2, 0, stdout);
    table_end(&t);
    printf("  ");
    print_count(e->neutral_count, "rigid mode", "rigid modes", stdout);
    printf(", ");
    print_count(e->unstable_count, "unstable", "unstable", stdout);
    printf("; unbalanced force %.1e of the largest", e->residual);
    puts(e->conservative ? "" : "; loads have no potential");
}

// ---- pictures -------------------------------------------------------------------------------------

/// How far a shape may be shown: its largest displacement becomes a part of the model's extent, its largest turn at
/// most a third of a radian.
static double amount_of(const mode_run *r, const double *shape)
{
    int count = hn_model_body_count(r->model);
    double largest = 0.0, turn = 0.0, extent = 0.0;
    hn_vec3 first = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; ++i) {
        hn_body_state state;
        const double *x = shape + 6 * (size_t)i;
        if (hn_simulation_body_state(r->simulation, hn_model_body(r->model, i), &state) != HN_OK)
            continue;
        if (i == 0) first = state.position;
        extent = fmax(extent, hypot(hypot(state.position.x - first.x, state.position.y - first.y),
                                    state.position.z - first.z));
        largest = fmax(largest, hypot(hypot(x[0], x[1]), x[2]));
        turn = fmax(turn, hypot(hypot(x[3], x[4]), x[5]));
    }
    double by_way = largest > 0.0 && extent > 0.0 ? SWING_PART * extent / largest : HUGE_VAL;
    double by_turn = turn > 0.0 ? 0.3 / turn : HUGE_VAL;
    double amount = fmin(by_way, by_turn);
    return isfinite(amount) ? amount : 0.0;
}

static hn_status write_swings(mode_run *r)
{
    const double TURN = 6.283185307179586;
    size_t size = 6 * (size_t)hn_model_body_count(r->model);
    hn_status status = hn_results_set_modes(r->results, r->modes, r->shapes, r->report.count);
    int64_t record = 0;
    if (r->report.count == 0 && status == HN_OK)
        status = hn_results_append(r->results); // what there is to see
    for (int i = 0; i < r->report.count && status == HN_OK; ++i) {
        const double *shape = r->shapes + (size_t)i * size;
        double amount = amount_of(r, shape);
        bool last = i + 1 == r->report.count;
        for (int k = 0; k < SWING_RECORDS + last && status == HN_OK; ++k) {
            status = hn_simulation_show_shape(r->simulation, shape,
                                              amount * sin(TURN * k / SWING_RECORDS), record++);
            if (status == HN_OK) status = hn_results_append(r->results);
        }
    }
    return status == HN_OK ? hn_results_finish(r->results) : status;
}

static int write_results(mode_run *r)
{
    hn_results_def def = hn_results_def_default();
    def.every = 1;
    def.step_count = (int64_t)r->report.count * SWING_RECORDS;
    def.kind = HN_RESULT_MODES;
    hn_status status = hn_results_create_for(r->model, r->simulation, r->output, &def, &r->results);
    if (status == HN_OK) status = write_swings(r);
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(r->context));
        return status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED : EXIT_FILE;
    }
    if (!r->quiet)
        say(stdout, "  wrote %s        view it: holonom view %s\n", r->output, r->output);
    return EXIT_FINE;
}

// ---- the command ----------------------------------------------------------------------------------

static bool read_words(const mode_words *words, hn_modes_def *def)
{
    int64_t count = def->count;
    if (words->count != NULL && !option_positive_count("modes", "--count", words->count, &count))
        return false;
    if (count > COUNT_MAX) {
        options_complain("modes", "--count %s: at most %d", words->count, COUNT_MAX);
        return false;
    }
    def->count = (int)count;
    if (words->at != NULL) {
        def->at_start = strcmp(words->at, "start") == 0;
        if (!def->at_start && strcmp(words->at, "equilibrium") != 0) {
            options_complain("modes", "--at: '%s' should be equilibrium or start", words->at);
            return false;
        }
    }
    if (words->no_output != NULL && words->output != NULL) {
        options_complain("modes", "--no-output excludes --output");
        return false;
    }
    return read_static_words("modes", words->load_steps, words->time, words->relax, &def->statics);
}

static int find(mode_run *r)
{
    size_t count = (size_t)r->def.count;
    r->modes = calloc(count, sizeof *r->modes);
    r->shapes = calloc(count * 6 * (size_t)hn_model_body_count(r->model) + 1, sizeof(double));
    if (r->modes == NULL || r->shapes == NULL) return report_no_memory();
    if (!r->quiet) print_model_line(r->model, r->simulation, stdout);
    hn_status status = hn_simulation_modes(r->simulation, &r->def, r->modes, r->shapes, &r->report);
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(r->context));
        return stop_signal_number() != 0 ? EXIT_SIGNAL + stop_signal_number()
                                         : exit_code_of(status);
    }
    const double UNBALANCED = 1e-6;
    if (r->report.equilibrium.residual > UNBALANCED)
        say(stderr,
            "warning: forces do not balance here, by %.2g of the largest: the modes are those "
            "of an instant; --at equilibrium has others\n",
            r->report.equilibrium.residual);
    if (!r->quiet) print_modes(r);
    fflush(stdout);
    said_cautions said = {0};
    warn_cautions(r->model, r->simulation, &said);
    return r->output == NULL ? EXIT_FINE : write_results(r);
}

static int run_modes(mode_run *r, const mode_words *words)
{
    int code = model_source_load(r->context, "modes", &words->source, &r->model);
    if (code == EXIT_FINE && words->no_output == NULL) {
        r->output = output_name(words->output, model_source_name(&words->source), "-modes.h5");
        if (r->output == NULL) code = report_no_memory();
    }
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 1.0 / SWING_RECORDS; // a unit of time for each mode
    run.ledger = false;
    if (code == EXIT_FINE) code = report_create_simulation(r->model, &run, &r->simulation);
    return code == EXIT_FINE ? find(r) : code;
}

int command_modes(int argument_count, char **arguments)
{
    mode_words words = {0};
    mode_run r = {.def = hn_modes_def_default()};
    const option_spec options[] = {
        {"--count", "N", "how many, from the lowest frequency on (default: 10)", &words.count},
        {"--at", "WHERE", "equilibrium (default) or start: the configuration of the file",
         &words.at},
        {"--load-steps", "N", "on the way to the equilibrium (default: 10)", &words.load_steps},
        {"--time", "SECONDS", "loads as they are at this time (default: without their profiles)",
         &words.time},
        {"--relax", NULL, "at a limit point, go on to an equilibrium elsewhere", &words.relax},
        {"--output", "FILE",
         "result file (default: the model's name with -modes.h5, in the current folder)",
         &words.output},
        {"--no-output", NULL, "write no result file", &words.no_output},
        MODEL_PARAMETER_OPTION(words.source),
        {"--quiet", NULL, "print errors and warnings only", &words.quiet},
    };
    const command_usage usage = {
        "modes",
        "MODEL",
        "Find frequencies and shapes of small free motions about an equilibrium or the start.",
        "Joints stay closed; prestress and constraint forces count as stiffness, dampers and start "
        "velocities do not: of what turns they are those at rest, with a warning (see: holonom "
        "linearise).\n"
        "Rigid modes have 0 Hz, unstable ones a growth rate. The result file shows every mode as "
        "a swing, one after\n"
        "the other, each for one unit of time; modes/frequency and modes/shape are in it too.\n",
        "holonom modes models/flying-beam.yaml --count 12 --at start",
        options,
        sizeof options / sizeof options[0]};
    options_result parsed = options_parse(&usage, argument_count, arguments, &words.source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (!read_words(&words, &r.def)) return EXIT_USAGE;
    r.quiet = words.quiet != NULL;
    r.context = hn_context_create(NULL);
    if (r.context == NULL) return report_no_memory();
    hn_context_set_log(r.context, report_log_line, NULL);
    stop_signal_watch(r.context);
    int code = run_modes(&r, &words);
    hn_results_destroy(r.results);
    hn_simulation_destroy(r.simulation);
    hn_model_destroy(r.model);
    stop_signal_forget();
    hn_context_destroy(r.context);
    free(r.output);
    free(r.modes);
    free(r.shapes);
    return code;
}
