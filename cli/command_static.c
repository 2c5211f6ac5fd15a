// SPDX-License-Identifier: MIT
// `holonom static`: where a model rests under its loads, in load steps.
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "output_file.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "stop_signal.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 12 }; // load steps, beams and joints listed

typedef struct search {
    const hn_model *model;
    hn_results *results; ///< NULL: no output
    table steps;
    int line_every; ///< load steps between lines
    bool quiet, relax;
    bool write_failed;
} search;

// ---- what is printed ------------------------------------------------------------------------------

static void describe_stability(const hn_equilibrium *e, char *text, size_t size)
{
    if (!e->conservative) // signs of its stiffness tell nothing
        snprintf(text, size, "loads have no potential: modes tell whether it is stable");
    else if (e->unstable_count > 0)
        snprintf(text, size, "UNSTABLE in %d direction%s", e->unstable_count,
                 e->unstable_count == 1 ? "" : "s");
    else if (e->neutral_count > e->unclear_count)
        snprintf(text, size, "neutral in %d direction%s", e->neutral_count,
                 e->neutral_count == 1 ? "" : "s");
    else if (e->unclear_count > 0)
        snprintf(text, size, "cannot be told from neutral in %d direction%s: below %.1e Hz",
                 e->unclear_count, e->unclear_count == 1 ? "" : "s", e->unclear_frequency);
    else snprintf(text, size, "stable");
}

static void add_line(search *x, const hn_equilibrium *e)
{
    const double DEGREES = 57.29577951308232;
    char stability[96];
    describe_stability(e, stability, sizeof stability);
    table_add_row(&x->steps);
    table_set(&x->steps, 0, "%.6g", e->load_factor);
    table_set(&x->steps, 1, "%d", e->iteration_count);
    table_set(&x->steps, 2, "%.1e", e->residual);
    if (e->beam >= 0) table_set(&x->steps, 3, "%.1f", DEGREES * e->beam_angle);
    table_set(&x->steps, 4, "%s%s", e->relaxed ? "relaxed; " : "", stability);
}

static hn_status note_step(hn_simulation *simulation, const hn_equilibrium *e, void *user)
{
    (void)simulation;
    search *x = user;
    if (e->load_step % x->line_every == 0) add_line(x, e);
    if (x->results == NULL) return HN_OK;
    hn_status status = hn_results_append(x->results);
    x->write_failed = status != HN_OK;
    return status;
}

static void print_beams(const hn_model *model, hn_simulation *simulation)
{
    int count = hn_model_beam_count(model);
    if (count == 0) return;
    table t = table_begin(4);
    table_add_row(&t);
    const char *const header[4] = {"node", "x m", "y", "z"};
    for (int c = 0; c < 4; ++c) table_set(&t, c, "%s", header[c]);
    for (int i = 0; i < count && i < LINES_MAX; ++i) {
        hn_beam_id beam = hn_model_beam(model, i);
        hn_body_id node = hn_model_beam_node(model, beam, hn_model_beam_element_count(model, beam));
        hn_body_state state;
        if (hn_simulation_body_state(simulation, node, &state) != HN_OK) break;
        table_add_row(&t);
        table_set(&t, 0, "%s.end", hn_model_beam_name(model, beam));
        table_set(&t, 1, "%.9g", state.position.x);
        table_set(&t, 2, "%.9g", state.position.y);
        table_set(&t, 3, "%.9g", state.position.z);
    }
    table_print(&t, 2, 1, stdout);
    table_end(&t);
}

/// Coordinates of joints that have some: where the mechanism rests.
static void print_joints(const hn_model *model, hn_simulation *simulation)
{
    table t = table_begin(3);
    int shown = 0;
    table_add_row(&t);
    table_set(&t, 0, "joint");
    table_set(&t, 1, "kind");
    table_set(&t, 2, "coordinates m, rad");
    for (int i = 0; i < hn_model_joint_count(model) && shown < LINES_MAX; ++i) {
        hn_joint_id joint = hn_model_joint(model, i);
        hn_joint_state state;
        if (hn_simulation_joint_state(simulation, joint, &state) != HN_OK) break;
        if (state.coordinate_count == 0) continue;
        char text[160];
        int used = 0;
        for (int k = 0; k < state.coordinate_count && used < (int)sizeof text - 24; ++k)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%.9g", k == 0 ? "" : ", ",
                             state.coordinates[k]);
        table_add_row(&t);
        table_set(&t, 0, "%s", hn_model_joint_name(model, joint));
        table_set(&t, 1, "%s", hn_joint_kind_name(hn_model_joint_kind(model, joint)));
        table_set(&t, 2, "%s", text);
        ++shown;
    }
    if (shown > 0) table_print(&t, 2, 3, stdout);
    table_end(&t);
}

// ---- the command ----------------------------------------------------------------------------------

static int finish(search *x, hn_context *context, const char *output)
{
    if (x->results == NULL) return EXIT_FINE;
    if (hn_results_finish(x->results) != HN_OK) {
        say(stderr, "%s\n", hn_context_message(context));
        return EXIT_FILE;
    }
    if (!x->quiet) say(stdout, "  wrote %s        view it: holonom view %s\n", output, output);
    return EXIT_FINE;
}

static int report_failure(const search *x, hn_context *context, hn_status status,
                          const char *output)
{
    say(stderr, "%s%s\n", x->write_failed ? "the results could not be written: " : "",
        hn_context_message(context));
    if (!x->write_failed && status == HN_NOT_CONVERGED && !x->relax)
        fputs("  --relax looks for one farther away\n", stderr);
    if (x->results != NULL) say(stderr, "  load steps until then: %s.part\n", output);
    if (stop_signal_number() != 0) return EXIT_SIGNAL + stop_signal_number();
    return x->write_failed ? EXIT_FILE : exit_code_of(status);
}

static int find(search *x, hn_simulation *simulation, const hn_static_def *wanted,
                const char *output)
{
    hn_context *context = hn_model_context(x->model);
    hn_static_def def = *wanted;
    def.on_step = note_step;
    def.user = x;
    def.as_steps = true;
    x->line_every = (def.load_steps + LINES_MAX - 1) / LINES_MAX;
    while (def.load_steps % x->line_every != 0) ++x->line_every; // the last one is a line
    if (!x->quiet) print_model_line(x->model, simulation, stdout);
    if (output != NULL) {
        hn_results_def run = hn_results_def_default();
        run.every = 1;
        run.kind = HN_RESULT_STATIC;
        run.step_count = def.load_steps;
        if (hn_results_create_for(x->model, simulation, output, &run, &x->results) != HN_OK) {
            say(stderr, "%s\n", hn_context_message(context));
            return EXIT_FILE;
        }
    }
    x->steps = table_begin(5);
    table_add_row(&x->steps);
    const char *const header[5] = {"load", "iterations", "residual", "bend deg", "equilibrium"};
    for (int c = 0; c < 5; ++c) table_set(&x->steps, c, "%s", header[c]);
    hn_equilibrium found;
    hn_status status = hn_simulation_find_equilibrium(simulation, &def, &found);
    if (!x->quiet) table_print(&x->steps, 2, 0, stdout);
    table_end(&x->steps);
    fflush(stdout);
    if (status != HN_OK) return report_failure(x, context, status, output);
    if (!x->quiet) {
        print_beams(x->model, simulation);
        print_joints(x->model, simulation);
    }
    said_cautions said = {0};
    warn_cautions(x->model, simulation, &said);
    if (found.conservative && found.unstable_count > 0)
        say(stderr,
            "warning: the equilibrium is unstable: its stiffness has %d negative "
            "eigenvalue%s; the model will not stay there\n",
            found.unstable_count, found.unstable_count == 1 ? "" : "s");
    return finish(x, context, output);
}

typedef struct static_words {
    model_source source;
    const char *load_steps, *time, *output, *no_output, *relax, *quiet;
} static_words;

static bool read_words(const static_words *words, hn_static_def *def)
{
    if (words->no_output != NULL && words->output != NULL) {
        options_complain("static", "--no-output excludes --output");
        return false;
    }
    return read_static_words("static", words->load_steps, words->time, words->relax, def);
}

static int run_search(hn_context *context, const static_words *words, const hn_static_def *def)
{
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    char *output = NULL;
    search x = {.quiet = words->quiet != NULL, .relax = words->relax != NULL};
    int code = model_source_load(context, "static", &words->source, &model);
    if (code == EXIT_FINE && words->no_output == NULL) {
        output = output_name(words->output, model_source_name(&words->source), "-static.h5");
        if (output == NULL) code = report_no_memory();
    }
    x.model = model;
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 1.0 / def->load_steps; // the time is the load factor
    run.ledger = false;
    if (code == EXIT_FINE) code = report_create_simulation(model, &run, &simulation);
    if (code == EXIT_FINE) code = find(&x, simulation, def, output);
    hn_results_destroy(x.results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    free(output);
    return code;
}

int command_static(int argument_count, char **arguments)
{
    static_words words = {0};
    hn_static_def def = hn_static_def_default();
    const option_spec options[] = {
        {"--load-steps", "N", "from no load to all of it (default: 10); cut where needed",
         &words.load_steps},
        {"--time", "SECONDS", "loads as they are at this time (default: without their profiles)",
         &words.time},
        {"--relax", NULL, "at a limit point, go on to an equilibrium elsewhere", &words.relax},
        {"--output", "FILE",
         "result file (default: the model's name with -static.h5, in the current folder)",
         &words.output},
        {"--no-output", NULL, "write no result file", &words.no_output},
        MODEL_PARAMETER_OPTION(words.source),
        {"--quiet", NULL, "print errors and warnings only", &words.quiet},
    };
    const command_usage usage = {
        "static",
        "MODEL",
        "Find where a model rests: an equilibrium of beams, springs, loads and gravity.",
        "Gravity, forces and torques grow from nothing to their full size; every load step is a "
        "record of the result\n"
        "file, whose time is the load factor. Dampers and start velocities play no part. The "
        "stiffness at the\n"
        "equilibrium says whether it is stable. A mechanism that only its loads hold is relaxed "
        "to a stable one.\n"
        "`start: equilibrium` in a model file begins a run there.\n",
        "holonom static models/bend-45.yaml --load-steps 6",
        options,
        sizeof options / sizeof options[0]};
    options_result parsed = options_parse(&usage, argument_count, arguments, &words.source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (!read_words(&words, &def)) return EXIT_USAGE;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return report_no_memory();
    hn_context_set_log(context, report_log_line, NULL);
    stop_signal_watch(context);
    int code = run_search(context, &words, &def);
    stop_signal_forget();
    hn_context_destroy(context);
    return code;
}
