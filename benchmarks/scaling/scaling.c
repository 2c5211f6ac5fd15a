// SPDX-License-Identifier: MIT
// How the cost of a step grows with the model: chains, trees, ladders, nets and beams from one body or
// element to a hundred thousand.
//
//   scaling                     all cases at all sizes
//   scaling --list              names of the cases
//   scaling --case NAME         one of them; may be given several times
//   scaling --sizes A,B,...     bodies, about, or elements of a beam (default 1,10,100,1000,10000,100000)
//   scaling --reduction NAME    reduced (default), nullspace or multipliers
//   scaling --scheme NAME       energy-momentum (default) or another
//   scaling --set NAME=VALUE    a setting of hn_simulation_def by name; may be given several times
//   scaling --limit SECONDS     for one case at one size; larger sizes are left out once it is passed (default 60)
//   scaling --repeats N         how often the steps are timed (default 3; 0: once and fewer, for valgrind to count)
//   scaling --csv               comma separated values instead of a table
//
// Models are those of `holonom generate`, and cantilevers of soft rubber. A case runs in a process of its own. Its
// state is saved after a few steps and restored before each repeat: all do the same work. Time is processor time, the
// least of the repeats, without the ledger; energy and joint opening come from the same steps once more with the ledger
// on.
#define _POSIX_C_SOURCE 200809L

#include "scaling/instruction_counter.h"
#include "../cli/generated_model.h"

#include <holonom/holonom.h>

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WARM_UP_STEPS = 5,
    SIZES_MAX = 32,
    CASES_MAX = 16,
    SETTINGS_MAX = 16,
    STEPS_MIN = 5,
    STEPS_MAX = 5000,
    BEAM_STEPS_MAX = 500, // short beams fold later on
    COUNTED_STEPS_MAX = 100,
};

static const double STEP = 1e-3;           // s
static const int64_t WORK = 100000;        // bodies times steps in a repeat, about
static const int64_t COUNTED_WORK = 10000; // the same for an outer counter
static const double ZIGZAG = 10.0;         // degrees, so that ball-jointed chains move in space
static const double TREE_ANGLE = 30.0;     // degrees below the horizontal
static const double ELEMENT = 0.1;         // m, length of a beam's elements

typedef struct scaling_case {
    const char *name;
    generated_kind kind;
    generated_joints joints;
    int rows;       // net: a strip of so many rows, 0: a square
    int beam_order; // 1, 2: a beam of linear or quadratic elements instead of what is generated
} scaling_case;

static const scaling_case CASES[] = {
    {"chain_revolute", GENERATED_CHAIN, GENERATED_REVOLUTE, 0, 0},
    {"chain_spherical", GENERATED_CHAIN, GENERATED_SPHERICAL, 0, 0},
    {"chain_mixed", GENERATED_CHAIN, GENERATED_MIXED, 0, 0},
    {"tree_revolute", GENERATED_TREE, GENERATED_REVOLUTE, 0, 0},
    {"tree_spherical", GENERATED_TREE, GENERATED_SPHERICAL, 0, 0},
    {"tree_mixed", GENERATED_TREE, GENERATED_MIXED, 0, 0},
    {"ladder", GENERATED_LADDER, GENERATED_REVOLUTE, 0, 0},
    {"net", GENERATED_NET, GENERATED_SPHERICAL, 3, 0},
    {"net_square", GENERATED_NET, GENERATED_SPHERICAL, 0, 0},
    {.name = "beam_linear", .beam_order = 1},
    {.name = "beam_quadratic", .beam_order = 2},
};
enum { CASE_COUNT = sizeof CASES / sizeof CASES[0] };

typedef struct scaling_options {
    bool csv, list;
    int repeats;
    unsigned limit; // s
    hn_reduction reduction;
    hn_scheme scheme;
    int64_t sizes[SIZES_MAX];
    int size_count;
    const char *cases[CASES_MAX];
    int case_count;
    const char *settings[SETTINGS_MAX]; // NAME=VALUE
    int setting_count;
} scaling_options;

typedef struct scaling_result {
    hn_structure structure;
    int size;                          // bodies, or elements of a beam
    double setup;                      // s, reading and assembling the model
    int steps;                         // in a repeat
    double seconds, seconds_max;       // per step
    double instructions;               // per step; negative: no counter
    double iterations;                 // per step: of Newton, or evaluations of an explicit scheme
    double energy_drift, energy_error; // relative
    double joint_opening;              // m, worst over the run
} scaling_result;

// ---- models -----------------------------------------------------------------------------------------

/// The generated model of a case with about `bodies` bodies.
static generated_model model_of_size(const scaling_case *what, int64_t bodies)
{
    generated_model model = generated_model_default(what->kind);
    model.joints = what->joints;
    model.count = bodies;
    if (model.kind == GENERATED_CHAIN && model.joints != GENERATED_REVOLUTE) model.zigzag = ZIGZAG;
    if (model.kind == GENERATED_TREE) model.angle = TREE_ANGLE;
    if (model.kind == GENERATED_LADDER) model.count = bodies / 2;
    // a net of N by M bars has M (2 N + 1) bodies
    int rows = what->rows;
    if (model.kind == GENERATED_NET)
        model.count =
            rows > 0 ? (bodies / rows - 1) / 2 : llround(sqrt(0.5 * (double)bodies) - 0.25);
    if (model.count < 1) model.count = 1;
    model.rows = rows > 0 ? rows : model.count;
    return model;
}

/// A cantilever, level at the start and let go from rest. So soft that `rattle`, which is explicit, takes the step.
static void write_beam(int order, int64_t elements, FILE *out)
{
    fprintf(
        out,
        "{holonom: 1, gravity: [0, 0, -9.81], beams: {rod: {from: [0, 0, 0], to: [%.17g, 0, 0], "
        "elements: %lld, order: %d, clamped: start, section: {circle: {radius: 0.04}}, "
        "material: {young: 1e6, poisson: 0.3, density: 1200}}}}\n",
        ELEMENT * (double)elements, (long long)elements, order);
}

/// The model of a case with about so many bodies, or elements.
static hn_status read_model(hn_context *context, const scaling_case *what, int64_t size,
                            hn_model **model)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) return HN_OUT_OF_MEMORY;
    if (what->beam_order > 0) write_beam(what->beam_order, size, stream);
    else {
        generated_model generated = model_of_size(what, size);
        generated_model_write(&generated, stream);
    }
    bool written = fclose(stream) == 0;
    hn_status status = written ? hn_model_parse(context, text, length, "generated model", model)
                               : HN_OUT_OF_MEMORY;
    free(text);
    return status;
}

// ---- measuring --------------------------------------------------------------------------------------

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Valgrind's callgrind counts from here to there when it is told not to from the start; otherwise nothing happens.
#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define COUNTING_BEGIN CALLGRIND_START_INSTRUMENTATION
#define COUNTING_END CALLGRIND_STOP_INSTRUMENTATION
#endif
#endif
#if !defined(COUNTING_BEGIN)
#define COUNTING_BEGIN (void)0
#define COUNTING_END (void)0
#endif

/// The timed steps under a name of their own, for profilers that begin and end counting at a function.
hn_status scaling_timed_steps(hn_simulation *simulation, int steps);
#if defined(__GNUC__)
__attribute__((noinline))
#endif
hn_status
scaling_timed_steps(hn_simulation *simulation, int steps)
{
    COUNTING_BEGIN;
    hn_status status = hn_simulation_step(simulation, steps);
    COUNTING_END;
    return status;
}

/// Newton iterations so far, or where a scheme has stages its evaluations of accelerations.
static int64_t iterations_of(const hn_simulation *simulation)
{
    int64_t stages = hn_simulation_adaptive_statistics(simulation).acceleration_count;
    return stages > 0 ? stages : hn_simulation_statistics(simulation).newton_iteration_count;
}

/// The settings of the command line, NAME=VALUE.
static hn_status apply_settings(hn_context *context, const scaling_options *options,
                                hn_simulation_def *def)
{
    hn_status status = HN_OK;
    for (int i = 0; i < options->setting_count && status == HN_OK; ++i) {
        char name[64] = "";
        const char *value = strchr(options->settings[i], '=');
        size_t length = value == NULL ? 0 : (size_t)(value - options->settings[i]);
        if (length == 0 || length >= sizeof name) return HN_INVALID_ARGUMENT;
        memcpy(name, options->settings[i], length);
        status = hn_simulation_def_set(context, def, name, value + 1);
    }
    return status;
}

static int steps_of(const scaling_case *what, int size)
{
    int64_t steps = WORK / size, most = what->beam_order > 0 ? BEAM_STEPS_MAX : STEPS_MAX;
    return (int)(steps < STEPS_MIN ? STEPS_MIN : steps > most ? most : steps);
}

/// Repeat the same steps from one saved state.
static hn_status time_steps(hn_simulation *simulation, int repeats, void *snapshot, size_t size,
                            scaling_result *result)
{
    hn_status status = HN_OK;
    int counter = instruction_counter_open();
    int64_t before = 0;
    result->seconds = HUGE_VAL;
    result->instructions = HUGE_VAL;
    TRY(hn_simulation_save(simulation, snapshot, size));
    for (int i = 0; i < repeats; ++i) {
        TRY(hn_simulation_restore(simulation, snapshot, size));
        before = iterations_of(simulation);
        double start = processor_seconds();
        instruction_counter_start(counter);
        TRY(scaling_timed_steps(simulation, result->steps));
        double instructions = (double)instruction_counter_stop(counter) / result->steps;
        double seconds = (processor_seconds() - start) / result->steps;
        result->seconds = fmin(result->seconds, seconds);
        result->seconds_max = fmax(result->seconds_max, seconds);
        result->instructions = fmin(result->instructions, instructions);
    }
    // of the last repeat: all are alike
    result->iterations = (double)(iterations_of(simulation) - before) / result->steps;
done:
    instruction_counter_close(counter);
    return status;
}

/// The same steps with the ledger on.
static hn_status watch_steps(const hn_model *model, hn_simulation_def def, scaling_result *result)
{
    hn_status status = HN_OK;
    hn_simulation *simulation = NULL;
    hn_ledger ledger;
    def.ledger = true;
    TRY(hn_simulation_create(model, &def, &simulation));
    TRY(hn_simulation_step(simulation, WARM_UP_STEPS + result->steps));
    TRY(hn_simulation_ledger(simulation, &ledger));
    result->energy_drift = ledger.entry[HN_PROMISE_ENERGY].drift;
    result->energy_error = ledger.entry[HN_PROMISE_ENERGY].error;
    result->joint_opening = ledger.entry[HN_PROMISE_JOINTS].error;
done:
    hn_simulation_destroy(simulation);
    return status;
}

static hn_status measure(hn_context *context, const scaling_options *options,
                         const scaling_case *what, int64_t size, scaling_result *result)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    void *snapshot = NULL;
    *result = (scaling_result){0};
    double start = processor_seconds();
    TRY(read_model(context, what, size, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = options->scheme;
    def.reduction = options->reduction;
    def.step_size = STEP;
    def.ledger = false;
    TRY(apply_settings(context, options, &def));
    TRY(hn_simulation_create(model, &def, &simulation));
    result->setup = processor_seconds() - start;
    result->structure = hn_simulation_structure(simulation);
    result->size = what->beam_order > 0 ? (int)size : result->structure.body_count;
    result->steps = steps_of(what, result->size);

    TRY(hn_simulation_step(simulation, WARM_UP_STEPS));
    if (options->repeats == 0) {
        int64_t counted = COUNTED_WORK / result->size;
        int64_t before = iterations_of(simulation);
        result->steps = counted < 1                   ? 1
                        : counted > COUNTED_STEPS_MAX ? COUNTED_STEPS_MAX
                                                      : (int)counted;
        TRY(scaling_timed_steps(simulation, result->steps));
        result->iterations = (double)(iterations_of(simulation) - before);
        goto done;
    }
    size_t bytes = hn_simulation_snapshot_size(simulation);
    snapshot = malloc(bytes);
    if (snapshot == NULL) {
        status = HN_OUT_OF_MEMORY;
        goto done;
    }
    TRY(time_steps(simulation, options->repeats, snapshot, bytes, result));
    hn_simulation_destroy(simulation); // two large models need not be in memory at once
    simulation = NULL;
    TRY(watch_steps(model, def, result));
done:
    free(snapshot);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

// ---- output -----------------------------------------------------------------------------------------

static void print_header(const scaling_options *options)
{
    printf("# holonom %s, %s, %s, step %g s; compiler: %s, flags: %s\n", hn_version(),
           hn_scheme_name(options->scheme), hn_reduction_name(options->reduction), STEP,
           HN_COMPILER, HN_FLAGS);
    printf("# processor time, least of %d repeats after %d steps; setup: reading and assembling\n",
           options->repeats, WARM_UP_STEPS);
    if (options->csv)
        puts(
            "case,bodies,loops,degrees_of_freedom,unknowns,setup_s,steps,us_per_step,spread,us_per_"
            "body_step,instructions_per_body_step,newton_per_step,energy_drift,energy_error,joint_"
            "opening_m");
    else
        printf("%-16s %7s %6s %7s %8s %8s %6s %12s %7s %9s %9s %7s %9s %9s %9s\n", "case", "bodies",
               "loops", "dof", "unknowns", "setup s", "steps", "us/step", "spread", "us/body",
               "instr/bd", "Newton", "E drift", "E error", "opening");
}

static void print_result(const scaling_options *options, const char *name, const scaling_result *r)
{
    const hn_structure *s = &r->structure;
    double us = 1e6 * r->seconds, spread = r->seconds_max / r->seconds - 1.0;
    char instructions[24] = "-";
    if (r->instructions >= 0.0)
        snprintf(instructions, sizeof instructions, "%.0f", r->instructions / r->size);
    printf(options->csv
               ? "%s,%d,%d,%d,%d,%.3f,%d,%.5g,%.3f,%.5g,%s,%.3f,%.2e,%.2e,%.2e\n"
               : "%-16s %7d %6d %7d %8d %8.3f %6d %12.3f %7.3f %9.4f %9s %7.2f %9.1e %9.1e "
                 "%9.1e\n",
           name, r->size, s->loop_count, s->degrees_of_freedom, s->unknown_count, r->setup,
           r->steps, us, spread, us / r->size, instructions, r->iterations, r->energy_drift,
           r->energy_error, r->joint_opening);
}

/// Measure and print one row in this process. Returns its exit code.
static int run_case(const scaling_options *options, const scaling_case *what, int64_t size)
{
    scaling_result result;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    hn_status status = measure(context, options, what, size, &result);
    if (status != HN_OK)
        fprintf(stderr, "%s, about %lld bodies: %s: %s\n", what->name, (long long)size,
                hn_status_name(status), hn_context_message(context));
    else if (options->repeats > 0) print_result(options, what->name, &result);
    else
        printf("%s %d bodies %d steps %.0f iterations\n", what->name, result.size, result.steps,
               result.iterations);
    hn_context_destroy(context);
    return status == HN_OK ? 0 : 1;
}

/// Run a case in a process of its own that the alarm ends at the limit. Returns false when it did not finish.
static bool run_within_limit(const scaling_options *options, const scaling_case *what, int64_t size)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        alarm(options->limit);
        int code = run_case(options, what, size);
        fflush(stdout);
        _exit(code);
    }
    int state = 0;
    if (waitpid(child, &state, 0) != child) return false;
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
        fprintf(stderr, "%s, about %lld bodies: more than %u s\n", what->name, (long long)size,
                options->limit);
    else if (WIFSIGNALED(state))
        fprintf(stderr, "%s, about %lld bodies: ended by signal %d\n", what->name, (long long)size,
                WTERMSIG(state));
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

// ---- the program ------------------------------------------------------------------------------------

static bool read_sizes(const char *text, scaling_options *options)
{
    options->size_count = 0;
    while (*text != '\0' && options->size_count < SIZES_MAX) {
        char *end = NULL;
        long long size = strtoll(text, &end, 10);
        if (end == text || size < 1 || size > 1000000) return false;
        options->sizes[options->size_count++] = size;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0') return false;
    }
    return options->size_count > 0;
}

static bool read_value(const char *option, const char *value, scaling_options *options)
{
    if (strcmp(option, "--sizes") == 0) return read_sizes(value, options);
    if (strcmp(option, "--reduction") == 0)
        return hn_reduction_from_name(value, &options->reduction);
    if (strcmp(option, "--scheme") == 0) return hn_scheme_from_name(value, &options->scheme);
    if (strcmp(option, "--limit") == 0) {
        options->limit = (unsigned)strtoul(value, NULL, 10);
        return options->limit > 0;
    }
    if (strcmp(option, "--repeats") == 0) {
        options->repeats = (int)strtol(value, NULL, 10);
        return options->repeats >= 0;
    }
    if (strcmp(option, "--set") == 0 && options->setting_count < SETTINGS_MAX) {
        options->settings[options->setting_count++] = value;
        return true;
    }
    if (strcmp(option, "--case") != 0 || options->case_count == CASES_MAX) return false;
    options->cases[options->case_count++] = value;
    return true;
}

static bool read_options(int argc, char **argv, scaling_options *options)
{
    *options = (scaling_options){.repeats = 3, .limit = 60};
    read_sizes("1,10,100,1000,10000,100000", options);
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--csv") == 0) options->csv = true;
        else if (strcmp(argv[i], "--list") == 0) options->list = true;
        else if (i + 1 < argc && read_value(argv[i], argv[i + 1], options)) ++i;
        else {
            fprintf(stderr,
                    "scaling: cannot use '%s'; the options are at the top of "
                    "benchmarks/scaling/scaling.c and in its README\n",
                    argv[i]);
            return false;
        }
    }
    return true;
}

static bool selected(const scaling_options *options, const char *name)
{
    for (int i = 0; i < options->case_count; ++i)
        if (strcmp(options->cases[i], name) == 0) return true;
    return options->case_count == 0;
}

int main(int argc, char **argv)
{
    scaling_options options;
    if (!read_options(argc, argv, &options)) return 2;
    int taken = 0;
    bool complete = true;
    if (!options.list && options.repeats > 0) print_header(&options);
    for (int i = 0; i < CASE_COUNT; ++i) {
        if (!selected(&options, CASES[i].name)) continue;
        taken++;
        if (options.list) puts(CASES[i].name);
        // a size that fails or takes too long ends its case
        for (int k = 0; !options.list && k < options.size_count; ++k)
            if (!run_within_limit(&options, &CASES[i], options.sizes[k])) {
                complete = false;
                break;
            }
    }
    if (taken == 0) fputs("scaling: no case of that name; see scaling --list\n", stderr);
    return taken > 0 && complete ? 0 : 1;
}
