// SPDX-License-Identifier: MIT
// `holonom linearise`: the linear system about a state, to a file for Python and Matlab.
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

enum { LINES_MAX = 24 }; // states and eigenvalues listed

typedef struct linear_words {
    model_source source;
    const char *time, *at, *step, *output, *no_output, *quiet;
} linear_words;

typedef struct linear_run {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_linear_system *system;
    char *output;
    double time; ///< s; 0: the start
    bool equilibrium, quiet;
} linear_run;

// ---- what is printed ------------------------------------------------------------------------------

static void print_states(const hn_linear_system *s)
{
    table t = table_begin(4);
    table_add_row(&t);
    const char *const header[4] = {"state", "unit", "value", "derivative"};
    for (int c = 0; c < 4; ++c) table_set(&t, c, "%s", header[c]);
    for (int k = 0; k < s->state_count && k < LINES_MAX; ++k) {
        table_add_row(&t);
        table_set(&t, 0, "%s", SHOWN(s->state_names[k]));
        table_set(&t, 1, "%s", s->state_units[k]);
        table_set(&t, 2, "%.9g", s->state[k]);
        table_set(&t, 3, "%.9g", s->derivative[k]);
    }
    table_print(&t, 2, 2, stdout);
    table_end(&t);
    if (s->state_count > LINES_MAX) printf("  ... of %d\n", s->state_count);
}

static void print_eigenvalues(const hn_linear_system *s)
{
    const double TURN = 6.283185307179586;
    table t = table_begin(4);
    table_add_row(&t);
    const char *const header[4] = {"eigenvalue 1/s", "rad/s", "frequency Hz", "damping"};
    for (int c = 0; c < 4; ++c) table_set(&t, c, "%s", header[c]);
    int lines = 0;
    for (int k = 0; k < s->state_count && lines < LINES_MAX; ++k) {
        double real = s->eigenvalue_real[k], imaginary = s->eigenvalue_imaginary[k];
        if (imaginary < 0.0) continue; // the other one of a pair
        table_add_row(&t);
        table_set(&t, 0, "%.9g", real);
        if (imaginary > 0.0) {
            table_set(&t, 1, "%.9g", imaginary);
            table_set(&t, 2, "%.9g", imaginary / TURN);
            table_set(&t, 3, "%.4g", -real / hypot(real, imaginary));
        }
        ++lines;
    }
    table_print(&t, 2, 0, stdout);
    table_end(&t);
}

static void print_system(const linear_run *r)
{
    const hn_linear_system *s = r->system;
    printf("  t = %g s: %d states, %d inputs, %d outputs\n", s->time, s->state_count,
           s->input_count, s->output_count);
    print_states(s);
    print_eigenvalues(s);
}

// ---- the command ----------------------------------------------------------------------------------

static int fail(const linear_run *r, hn_status status)
{
    say(stderr, "%s\n", hn_context_message(r->context));
    return exit_code_of(status);
}

// Go to the state that is asked for
static int reach_state(linear_run *r)
{
    hn_status status = HN_OK;
    if (r->equilibrium) {
        hn_static_def def = hn_static_def_default();
        def.at_time = true;
        status = hn_simulation_find_equilibrium(r->simulation, &def, NULL);
    }
    if (status == HN_OK && r->time > 0.0) {
        int64_t count = 0;
        if (!count_steps(r->time, hn_simulation_step_size(r->simulation), &count)) {
            options_complain("linearise", "--time %g: too many steps", r->time);
            return EXIT_USAGE;
        }
        status = hn_simulation_step(r->simulation, count);
    }
    return status == HN_OK ? EXIT_FINE : fail(r, status);
}

static int find(linear_run *r)
{
    if (!r->quiet) print_model_line(r->model, r->simulation, stdout);
    int code = reach_state(r);
    if (code != EXIT_FINE) return code;
    said_cautions said = {0};
    warn_cautions(r->model, r->simulation, &said);
    stop_signal_insist(true); // LAPACK takes minutes for the eigenvalues of thousands of states
    hn_status status = hn_simulation_linearise(r->simulation, &r->system);
    stop_signal_insist(false);
    if (status != HN_OK) return fail(r, status);
    if (r->system->caution[0] != '\0') say(stderr, "warning: %s\n", r->system->caution);
    if (!r->quiet) print_system(r);
    fflush(stdout);
    if (r->output == NULL) return EXIT_FINE;
    if (hn_linear_system_write(r->system, r->output) != HN_OK) {
        say(stderr, "%s\n", hn_context_message(r->context));
        return EXIT_FILE;
    }
    if (!r->quiet) say(stdout, "  wrote %s\n", r->output);
    return EXIT_FINE;
}

static bool read_words(const linear_words *words, linear_run *r)
{
    if (words->no_output != NULL && words->output != NULL) {
        options_complain("linearise", "--no-output excludes --output");
        return false;
    }
    if (words->time != NULL) {
        char *end;
        r->time = strtod(words->time, &end);
        if (end == words->time || *end != '\0' || !isfinite(r->time) || r->time < 0.0) {
            options_complain("linearise", "--time: '%s' is no time in seconds, 0 or more",
                             words->time);
            return false;
        }
    }
    if (words->at == NULL) return true;
    r->equilibrium = strcmp(words->at, "equilibrium") == 0;
    if (!r->equilibrium && strcmp(words->at, "start") != 0) {
        options_complain("linearise", "--at: '%s' should be start or equilibrium", words->at);
        return false;
    }
    if (r->equilibrium && r->time > 0.0) {
        options_complain("linearise", "--at equilibrium excludes --time");
        return false;
    }
    return true;
}

static int run_linearise(linear_run *r, const linear_words *words)
{
    int code = model_source_load(r->context, "linearise", &words->source, &r->model);
    if (code != EXIT_FINE) return code;
    hn_simulation_def run = hn_simulation_def_default();
    if (hn_simulation_def_from_model(r->model, &run) != HN_OK) return EXIT_MODEL;
    if (run.step_size == 0.0) run.step_size = 1e-3;
    run.ledger = false;
    if (words->step != NULL &&
        !option_positive_number("linearise", "--step", words->step, &run.step_size))
        return EXIT_USAGE;
    if (words->no_output == NULL) {
        r->output = output_name(words->output, model_source_name(&words->source), "-linear.h5");
        if (r->output == NULL) return report_no_memory();
        if (complain_output_is_input(r->output, words->source.path)) return EXIT_FILE;
    }
    code = report_create_simulation(r->model, &run, &r->simulation);
    return code == EXIT_FINE ? find(r) : code;
}

int command_linearise(int argument_count, char **arguments)
{
    linear_words words = {0};
    linear_run r = {0};
    const option_spec options[] = {
        {"--time", "SECONDS", "run until then first, as the model says (default: the start)",
         &words.time},
        {"--at", "WHERE", "start (default), or equilibrium: found first, at rest", &words.at},
        {"--step", "SECONDS", "step size on the way (default: the model's)", &words.step},
        {"--output", "FILE",
         "HDF5, or MAT by its ending .mat (default: the model's name with -linear.h5)",
         &words.output},
        {"--no-output", NULL, "write no file", &words.no_output},
        MODEL_PARAMETER_OPTION(words.source),
        {"--quiet", NULL, "print errors and warnings only", &words.quiet},
    };
    const command_usage usage = {
        "linearise",
        "MODEL",
        "Linearise the motion about a state: A, B, C in coordinates of joints, eigenvalues.",
        "States are independent coordinates of joints and their rates; loops and prescribed "
        "motions "
        "hold.\n"
        "Inputs are efforts on all coordinates of joints and the functions of drives, outputs all "
        "coordinates of\n"
        "joints and their rates. What joints do not tell is along world axes, or along axes that "
        "turn "
        "with the bodies,\n"
        "so that A rests in steady motions; a warning says where it does not. The file has the "
        "names "
        "and units of each.\n"
        "Also: linearize.\n",
        "holonom linearise models/four-bar.yaml --time 0.5 --output four-bar.mat",
        options,
        sizeof options / sizeof options[0]};
    options_result parsed = options_parse(&usage, argument_count, arguments, &words.source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (!read_words(&words, &r)) return EXIT_USAGE;
    r.quiet = words.quiet != NULL;
    r.context = hn_context_create(NULL);
    if (r.context == NULL) return report_no_memory();
    hn_context_set_log(r.context, report_log_line, NULL);
    stop_signal_watch(r.context);
    int code = run_linearise(&r, &words);
    hn_linear_system_destroy(r.system);
    hn_simulation_destroy(r.simulation);
    hn_model_destroy(r.model);
    stop_signal_forget();
    hn_context_destroy(r.context);
    free(r.output);
    return code;
}
