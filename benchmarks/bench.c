// SPDX-License-Identifier: MIT
// Times named cases; each row gives energy, constraints and Newton iterations beside the time per step.
//
//   bench                    all cases
//   bench --list             their names
//   bench --case NAME        one of them; NAME* takes all that begin so; may be given several times
//   bench --csv              comma-separated values instead of a table
//   bench --repeats N        how often each case is timed (default 5)
//
// A case is warmed up, its state saved, and restored before each repeat: all repeats do the same work. Time is that of
// the processor, so that other programs on the machine disturb little. Nothing here passes or fails by speed.
#define _POSIX_C_SOURCE 200809L

#include "chain.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WARM_UP_STEPS = 10,
    DEFAULT_REPEATS = 5,
    NAME_MAX_LENGTH = 64,
    CASE_MAX = 128,
    PATTERN_MAX = 16
};

typedef struct bench_case {
    char name[NAME_MAX_LENGTH];
    const char *model; // file under models/, or NULL for a generated chain
    hn_joint_kind chain_kind;
    int chain_count;
    hn_scheme scheme;
    hn_reduction reduction;
    double step; // s
    int steps;   // timed in a repeat
} bench_case;

typedef struct bench_options {
    bool list, csv;
    int repeats;
    const char *patterns[PATTERN_MAX];
    int pattern_count;
} bench_options;

typedef struct bench_result {
    int body_count, unknown_count;
    double seconds_min, seconds_max; // per step
    double energy_drift;             // relative, at the end of the measured run
    double energy_error;             // relative, worst
    double residual;                 // constraints, worst
    double iterations;               // per step
} bench_result;

// ---- cases ------------------------------------------------------------------------------------------

#define EM HN_SCHEME_ENERGY_MOMENTUM
#define VI HN_SCHEME_VARIATIONAL

// Step sizes are those of the model files; all reductions make the same steps, so that their rows can be compared.
static const struct {
    const char *name, *model;
    hn_scheme scheme;
    double step;
    int steps;
} FILE_CASES[] = {
    {"unit_circle", "unit-circle.yaml", VI, 0.1, 20000},
    {"pendulum", "pendulum.yaml", EM, 0.01, 10000},
    {"pendulum_variational", "pendulum.yaml", VI, 0.01, 10000},
    {"gyro_top", "gyro-top.yaml", EM, 0.001, 10000},
    {"gyro_top_variational", "gyro-top.yaml", VI, 0.001, 10000},
    {"cylindrical_pair", "cylindrical-pair.yaml", EM, 0.002, 5000},
    {"planar_pair", "planar-pair.yaml", EM, 0.002, 5000},
    {"chain_revolute_file", "chain-revolute.yaml", EM, 0.01, 2500},
    {"chain_revolute_file_variational", "chain-revolute.yaml", VI, 0.01, 2500},
    {"chain_spherical_file", "chain-spherical.yaml", EM, 0.01, 2500},
    {"free_tree", "free-tree.yaml", EM, 0.004, 2000},
    {"planar_spring", "planar-spring.yaml", EM, 0.01, 5000},
};

static const int CHAIN_COUNTS[] = {1, 3, 10, 30, 100, 300, 1000};
static const double CHAIN_STEP = 0.005; // s
static const int CHAIN_WORK = 10000;    // bodies times steps of a repeat
static const int CHAIN_STEPS_MIN = 10;

static const char *reduction_suffix(hn_reduction reduction)
{
    return reduction == HN_REDUCTION_REDUCED     ? ""
           : reduction == HN_REDUCTION_NULLSPACE ? "_nullspace"
                                                 : "_multipliers";
}

static int make_cases(bench_case *cases)
{
    int count = 0;
    for (size_t i = 0; i < sizeof FILE_CASES / sizeof FILE_CASES[0]; ++i)
        for (int r = 0; r < HN_REDUCTION_COUNT; ++r) {
            bench_case *c = &cases[count++];
            *c = (bench_case){.model = FILE_CASES[i].model,
                              .scheme = FILE_CASES[i].scheme,
                              .reduction = (hn_reduction)r,
                              .step = FILE_CASES[i].step,
                              .steps = FILE_CASES[i].steps};
            snprintf(c->name, sizeof c->name, "%s%s", FILE_CASES[i].name,
                     reduction_suffix(c->reduction));
        }
    const hn_joint_kind kinds[] = {HN_JOINT_REVOLUTE, HN_JOINT_SPHERICAL};
    for (int k = 0; k < 2; ++k)
        for (int r = 0; r < HN_REDUCTION_COUNT; ++r)
            for (size_t i = 0; i < sizeof CHAIN_COUNTS / sizeof CHAIN_COUNTS[0]; ++i) {
                bench_case *c = &cases[count++];
                int work = CHAIN_WORK / CHAIN_COUNTS[i];
                *c = (bench_case){.chain_kind = kinds[k],
                                  .chain_count = CHAIN_COUNTS[i],
                                  .scheme = EM,
                                  .reduction = (hn_reduction)r,
                                  .step = CHAIN_STEP,
                                  .steps = work > CHAIN_STEPS_MIN ? work : CHAIN_STEPS_MIN};
                snprintf(c->name, sizeof c->name, "chain_%s_%d%s", hn_joint_kind_name(kinds[k]),
                         c->chain_count, reduction_suffix(c->reduction));
            }
    return count;
}

static bool selected(const bench_options *options, const char *name)
{
    for (int i = 0; i < options->pattern_count; ++i) {
        const char *pattern = options->patterns[i];
        size_t length = strlen(pattern);
        if (length > 0 && pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                                     : strcmp(pattern, name) == 0)
            return true;
    }
    return options->pattern_count == 0;
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

static hn_status open_model(hn_context *context, const bench_case *c, hn_model **model)
{
    if (c->model == NULL) return chain_create(context, c->chain_kind, c->chain_count, model);
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s", HN_SOURCE_DIR, c->model);
    return hn_model_load(context, path, model);
}

// Times without the ledger, which is a measuring instrument; then the same steps once with it for the other columns.
static hn_status measure(hn_context *context, const bench_case *c, int repeats,
                         bench_result *result)
{
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_simulation *timed = NULL, *watched = NULL;
    void *snapshot = NULL;
    *result = (bench_result){.seconds_min = HUGE_VAL};
    TRY(open_model(context, c, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = c->scheme;
    def.reduction = c->reduction;
    def.step_size = c->step;
    def.ledger = false;
    TRY(hn_simulation_create(model, &def, &timed));
    def.ledger = true;
    TRY(hn_simulation_create(model, &def, &watched));
    hn_structure structure = hn_simulation_structure(timed);
    result->body_count = structure.body_count;
    result->unknown_count = structure.unknown_count;

    TRY(hn_simulation_step(timed, WARM_UP_STEPS));
    size_t size = hn_simulation_snapshot_size(timed);
    snapshot = malloc(size);
    if (snapshot == NULL) {
        status = HN_OUT_OF_MEMORY;
        goto done;
    }
    TRY(hn_simulation_save(timed, snapshot, size));
    int64_t iterations = hn_simulation_statistics(timed).newton_iteration_count;
    for (int i = 0; i < repeats; ++i) {
        TRY(hn_simulation_restore(timed, snapshot, size));
        double start = processor_seconds();
        TRY(hn_simulation_step(timed, c->steps));
        double seconds = (processor_seconds() - start) / c->steps;
        result->seconds_min = fmin(result->seconds_min, seconds);
        result->seconds_max = fmax(result->seconds_max, seconds);
    }
    iterations = hn_simulation_statistics(timed).newton_iteration_count - iterations;
    result->iterations = (double)iterations / c->steps; // of the last repeat: all are alike

    TRY(hn_simulation_step(watched, WARM_UP_STEPS + c->steps));
    hn_ledger ledger;
    TRY(hn_simulation_ledger(watched, &ledger));
    result->energy_drift = ledger.entry[HN_PROMISE_ENERGY].drift;
    result->energy_error = ledger.entry[HN_PROMISE_ENERGY].error;
    result->residual = ledger.entry[HN_PROMISE_CONSTRAINTS].error;
done:
    free(snapshot);
    hn_simulation_destroy(timed);
    hn_simulation_destroy(watched);
    hn_model_destroy(model);
    return status;
}

// ---- output -----------------------------------------------------------------------------------------

static void print_processor(void)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        printf("# processor: %s", colon + 2);
        break;
    }
    fclose(file);
}

static void print_header(const bench_options *options)
{
    printf("# holonom %s\n", hn_version());
    printf("# compiler: %s, %s, flags: %s\n", HN_COMPILER, HN_BUILD_TYPE, HN_FLAGS);
    printf("# libraries: %s\n", HN_LIBRARIES);
    print_processor();
    printf("# processor time, minimum of %d repeats after %d steps of warm-up; spread is max/min - "
           "1\n",
           options->repeats, WARM_UP_STEPS);
    printf("# energy and constraints: a run of the same steps with the ledger on, relative as its "
           "definitions say\n");
    if (options->csv)
        printf("case,scheme,reduction,bodies,unknowns,step_s,steps,us_per_step,spread,us_per_body_"
               "step,energy_drift,"
               "energy_error,constraint_residual,newton_per_step\n");
    else
        printf("%-42s %6s %8s %8s %10s %7s %9s %10s %10s %9s %7s\n", "case", "bodies", "unknowns",
               "steps", "us/step", "spread", "us/body", "E drift", "E error", "|g|", "Newton");
}

static void print_result(const bench_options *options, const bench_case *c, const bench_result *r)
{
    double us = 1e6 * r->seconds_min, spread = r->seconds_max / r->seconds_min - 1.0,
           each = us / r->body_count;
    if (options->csv)
        printf("%s,%s,%s,%d,%d,%g,%d,%.6g,%.3f,%.5g,%.2e,%.2e,%.2e,%.3f\n", c->name,
               hn_scheme_name(c->scheme), hn_reduction_name(c->reduction), r->body_count,
               r->unknown_count, c->step, c->steps, us, spread, each, r->energy_drift,
               r->energy_error, r->residual, r->iterations);
    else
        printf("%-42s %6d %8d %8d %10.3f %6.1f%% %9.3f %10.1e %10.1e %9.1e %7.2f\n", c->name,
               r->body_count, r->unknown_count, c->steps, us, 100.0 * spread, each, r->energy_drift,
               r->energy_error, r->residual, r->iterations);
    fflush(stdout);
}

// ---- the program ------------------------------------------------------------------------------------

static bool read_options(int argc, char **argv, bench_options *options)
{
    *options = (bench_options){.repeats = DEFAULT_REPEATS};
    for (int i = 1; i < argc; ++i) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0) options->list = true;
        else if (strcmp(argv[i], "--csv") == 0) options->csv = true;
        else if (strcmp(argv[i], "--case") == 0 && more && options->pattern_count < PATTERN_MAX)
            options->patterns[options->pattern_count++] = argv[++i];
        else if (strcmp(argv[i], "--repeats") == 0 && more && atoi(argv[i + 1]) > 0)
            options->repeats = atoi(argv[++i]);
        else {
            fprintf(stderr, "usage: bench [--list] [--csv] [--repeats N] [--case NAME]...\n");
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static bench_case cases[CASE_MAX];
    bench_options options;
    if (!read_options(argc, argv, &options)) return 2;
    int count = make_cases(cases), taken = 0, failed = 0;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    if (!options.list) print_header(&options);
    for (int i = 0; i < count; ++i) {
        if (!selected(&options, cases[i].name)) continue;
        taken++;
        if (options.list) {
            printf("%s\n", cases[i].name);
            continue;
        }
        bench_result result;
        hn_status status = measure(context, &cases[i], options.repeats, &result);
        if (status == HN_OK) {
            print_result(&options, &cases[i], &result);
        } else {
            failed++;
            fprintf(stderr, "%s: %s: %s\n", cases[i].name, hn_status_name(status),
                    hn_context_message(context));
        }
    }
    hn_context_destroy(context);
    if (taken == 0) fprintf(stderr, "bench: no case of that name; see bench --list\n");
    return taken == 0 || failed > 0 ? 1 : 0;
}
