// SPDX-License-Identifier: MIT
// `holonom compare`: one model under several schemes, reductions and steps, in one table.
#include "command.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "run_options.h"
#include "scheme_settings.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>

enum {
    STEPS_MAX = 16,
    VARIANTS_MAX = HN_SCHEME_COUNT * HN_REDUCTION_COUNT * STEPS_MAX,
    PART_SIZE = 64
};

static const double TIMING_SECONDS =
    0.5; // a step is timed over the whole run or this long, without ledger

static const double WANTED_ERROR = 1e-6; // of coordinates, for the cost at a given accuracy

/// One run of the table.
typedef struct variant {
    hn_scheme scheme;
    hn_reduction reduction;
    bool skipped;
    double step;
    int64_t step_count;
    bool done; ///< the run came to its end
    double *q; ///< final coordinates, coordinate_count; owned
    int coordinate_count;
    hn_ledger ledger;
    hn_statistics statistics;
    double step_seconds; ///< time of one step
    double level;        ///< velocity or momentum level of the constraints at the end, G M^-1 p
} variant;

typedef struct comparison {
    hn_simulation_def def; ///< defaults and settings
    hn_scheme schemes[HN_SCHEME_COUNT];
    int scheme_count;
    hn_reduction reductions[HN_REDUCTION_COUNT];
    int reduction_count;
    double steps[STEPS_MAX]; ///< coarse to fine
    int step_count;
    double end;
    variant variants[VARIANTS_MAX]; ///< scheme by scheme, step by step, reduction by reduction
    int variant_count;
} comparison;

// ---- lists ----------------------------------------------------------------------------------------

static bool parse_schemes(const char *text, comparison *c)
{
    char part[PART_SIZE];
    if (text == NULL) {
        for (; c->scheme_count < HN_SCHEME_COUNT; ++c->scheme_count)
            c->schemes[c->scheme_count] = (hn_scheme)c->scheme_count;
        return true;
    }
    while (option_next_part(&text, part, sizeof part)) {
        hn_scheme scheme;
        if (!parse_scheme("compare", part, &scheme)) return false;
        bool known = false;
        for (int i = 0; i < c->scheme_count; ++i) known = known || c->schemes[i] == scheme;
        if (!known) c->schemes[c->scheme_count++] = scheme;
    }
    return true;
}

static bool parse_reductions(const char *text, comparison *c)
{
    char part[PART_SIZE];
    if (text == NULL) {
        for (; c->reduction_count < HN_REDUCTION_COUNT; ++c->reduction_count)
            c->reductions[c->reduction_count] = (hn_reduction)c->reduction_count;
        return true;
    }
    while (option_next_part(&text, part, sizeof part)) {
        hn_reduction reduction;
        if (!parse_reduction("compare", part, &reduction)) return false;
        bool known = false;
        for (int i = 0; i < c->reduction_count; ++i) known = known || c->reductions[i] == reduction;
        if (!known) c->reductions[c->reduction_count++] = reduction;
    }
    return true;
}

static int coarser_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static bool parse_steps(const char *text, double model_step, comparison *c)
{
    char part[PART_SIZE];
    if (text == NULL && !(model_step > 0.0)) {
        options_complain("compare",
                         "the model does not say the step size: give --steps SECONDS,...");
        return false;
    }
    if (text == NULL) c->steps[c->step_count++] = model_step;
    while (option_next_part(&text, part, sizeof part)) {
        if (c->step_count == STEPS_MAX) {
            options_complain("compare", "--steps: %d steps are enough", STEPS_MAX);
            return false;
        }
        if (!option_positive_number("compare", "--steps", part, &c->steps[c->step_count]))
            return false;
        c->step_count += 1;
    }
    qsort(c->steps, (size_t)c->step_count, sizeof c->steps[0], coarser_first);
    return true;
}

static bool parse_end(const char *text, double model_end, comparison *c)
{
    c->end = model_end;
    if (text != NULL && !option_positive_number("compare", "--end", text, &c->end)) return false;
    if (!(c->end > 0.0)) {
        options_complain("compare", "the model does not say how long to run: give --end SECONDS");
        return false;
    }
    for (int i = 0; i < c->step_count; ++i)
        if (!is_multiple(c->end, c->steps[i])) {
            options_complain(
                "compare",
                "the end %.9g s is no multiple of the step %.9g s: final states would differ",
                c->end, c->steps[i]);
            return false;
        }
    return true;
}

/// All combinations, in the order of the table.
static bool list_variants(comparison *c)
{
    for (int s = 0; s < c->scheme_count; ++s)
        for (int h = 0; h < c->step_count; ++h)
            for (int r = 0; r < c->reduction_count; ++r) {
                variant *v = &c->variants[c->variant_count++];
                *v = (variant){
                    .scheme = c->schemes[s], .reduction = c->reductions[r], .step = c->steps[h]};
                // schemes with a solver of their own have one row, whatever the reductions
                v->skipped = r > 0 && hn_scheme_has_own_solver(v->scheme);
                if (count_steps(c->end, v->step, &v->step_count)) continue;
                options_complain("compare", "the step %g s is too small for an end at %g s",
                                 v->step, c->end);
                return false;
            }
    return true;
}

// ---- runs -----------------------------------------------------------------------------------------

static hn_status create(const hn_model *model, const hn_simulation_def *settings, const variant *v,
                        bool ledger, hn_simulation **simulation)
{
    hn_simulation_def def = *settings;
    def.scheme = v->scheme;
    def.reduction = v->reduction;
    def.step_size = v->step;
    def.ledger = ledger;
    return hn_simulation_create(model, &def, simulation);
}

/// Time of a step without the ledger's measurements.
static hn_status time_steps(const hn_model *model, const hn_simulation_def *settings, variant *v)
{
    hn_simulation *simulation = NULL;
    hn_status status = create(model, settings, v, false, &simulation);
    int64_t done = 0, batch = 1;
    double start = clock_seconds(), taken = 0.0;
    while (status == HN_OK && done < v->step_count && taken < TIMING_SECONDS) {
        int64_t ahead = v->step_count - done < batch ? v->step_count - done : batch;
        status = hn_simulation_step(simulation, ahead);
        done += ahead;
        taken = clock_seconds() - start;
        if (taken < 0.2 * TIMING_SECONDS) batch *= 2;
    }
    if (status == HN_OK) v->step_seconds = taken / (double)done;
    hn_simulation_destroy(simulation);
    return status;
}

static hn_status run_to_end(hn_simulation *simulation, variant *v, progress *bar, double before,
                            double share)
{
    hn_status status = HN_OK;
    int64_t batch = v->step_count / 100 + 1;
    while (status == HN_OK && hn_simulation_step_count(simulation) < v->step_count) {
        int64_t ahead = v->step_count - hn_simulation_step_count(simulation);
        status = hn_simulation_step(simulation, ahead < batch ? ahead : batch);
        double part = (double)hn_simulation_step_count(simulation) / (double)v->step_count;
        progress_update(bar, before + share * part);
    }
    if (status != HN_OK) return status;
    hn_structure structure = hn_simulation_structure(simulation);
    v->coordinate_count = structure.coordinate_count;
    v->q = malloc((size_t)v->coordinate_count * sizeof(double) + 1);
    if (v->q == NULL) return HN_OUT_OF_MEMORY;
    v->statistics = hn_simulation_statistics(simulation);
    hn_constraint_state constraints;
    status = hn_simulation_constraints(simulation, &constraints);
    if (status != HN_OK) return status;
    v->level = constraints.hidden_momentum;
    status = hn_simulation_coordinates(simulation, v->q, v->coordinate_count);
    return status == HN_OK ? hn_simulation_ledger(simulation, &v->ledger) : status;
}

/// Run all variants; one that fails is reported and leaves its row empty. Returns an exit code.
static int run_variants(const hn_model *model, comparison *c)
{
    int code = EXIT_FINE;
    progress bar = progress_begin("  comparing", false);
    for (int i = 0; i < c->variant_count; ++i) {
        variant *v = &c->variants[i];
        if (v->skipped) continue;
        hn_simulation *simulation = NULL;
        hn_status status = time_steps(model, &c->def, v);
        if (status == HN_OK) status = create(model, &c->def, v, true, &simulation);
        double share = 1.0 / (double)c->variant_count;
        if (status == HN_OK) status = run_to_end(simulation, v, &bar, (double)i * share, share);
        v->done = status == HN_OK;
        if (!v->done) {
            progress_end(&bar);
            fprintf(stderr, "%s, %s, h = %g: %s\n", hn_scheme_name(v->scheme),
                    hn_reduction_name(v->reduction), v->step,
                    hn_context_message(hn_model_context(model)));
            code = status == HN_INVALID_MODEL ? EXIT_MODEL : EXIT_RUN_FAILED;
        }
        hn_simulation_destroy(simulation);
    }
    progress_end(&bar);
    return code;
}

// ---- differences and orders -----------------------------------------------------------------------

static double largest_difference(const variant *a, const variant *b)
{
    double largest = 0.0;
    for (int i = 0; i < a->coordinate_count && i < b->coordinate_count; ++i)
        largest = fmax(largest, fabs(a->q[i] - b->q[i]));
    return largest;
}

static variant *variant_at(comparison *c, int scheme, int step, int reduction)
{
    return &c->variants[(scheme * c->step_count + step) * c->reduction_count + reduction];
}

/// Order p with (h0^p - h1^p) / (h1^p - h2^p) = ratio, by bisection; for halved steps p = log2(ratio).
/// 0 when there is none between 1/4 and 12.
static double solve_order(double h0, double h1, double h2, double ratio)
{
    double low = 0.25, high = 12.0;
    for (int i = 0; i < 60; ++i) {
        double p = 0.5 * (low + high);
        double value = (pow(h0 / h1, p) - 1.0) / (1.0 - pow(h2 / h1, p));
        if (value < ratio) low = p;
        else high = p;
    }
    return low > 0.2501 && high < 11.999 ? 0.5 * (low + high) : 0.0;
}

/// Observed order at a step, from it and the two coarser ones; 0: not known.
static double observed_order(comparison *c, int scheme, int step, int reduction)
{
    if (step < 2) return 0.0;
    const variant *v0 = variant_at(c, scheme, step - 2, reduction),
                  *v1 = variant_at(c, scheme, step - 1, reduction);
    const variant *v2 = variant_at(c, scheme, step, reduction);
    if (!v0->done || !v1->done || !v2->done || !(v0->step > v1->step && v1->step > v2->step))
        return 0.0;
    double coarse = largest_difference(v0, v1), fine = largest_difference(v1, v2);
    if (!(fine > 0.0)) return 0.0;
    return solve_order(v0->step, v1->step, v2->step, coarse / fine);
}

// ---- table ----------------------------------------------------------------------------------------

enum column {
    COLUMN_SCHEME,
    COLUMN_REDUCTION,
    COLUMN_STEP,
    COLUMN_ENERGY,
    COLUMN_LINEAR,
    COLUMN_ANGULAR,
    COLUMN_JOINTS,
    COLUMN_CONSTRAINTS,
    COLUMN_LEVEL,
    COLUMN_NEWTON,
    COLUMN_TIME,
    COLUMN_FIRST,
    COLUMN_FINEST,
    COLUMN_ORDER,
    COLUMN_COST,
    COLUMN_COUNT
};

static void set_error(table *t, int column, const hn_ledger_entry *entry)
{
    bool measured = entry->conserved || column == COLUMN_ENERGY;
    if (measured) table_set(t, column, "%.1e", entry->error);
    else table_set(t, column, "-");
}

static void add_row(comparison *c, table *t, int scheme, int step, int reduction)
{
    const variant *v = variant_at(c, scheme, step, reduction);
    const variant *first = variant_at(c, scheme, step, 0);
    const variant *finest = variant_at(c, scheme, c->step_count - 1, reduction);
    if (v->skipped) return;
    table_add_row(t);
    table_set(t, COLUMN_SCHEME, "%s", hn_scheme_name(v->scheme));
    table_set(t, COLUMN_REDUCTION, "%s",
              hn_scheme_has_own_solver(v->scheme) ? "own solver" : hn_reduction_name(v->reduction));
    table_set(t, COLUMN_STEP, "%g", v->step);
    if (!v->done) {
        table_set(t, COLUMN_ENERGY, "failed");
        return;
    }
    set_error(t, COLUMN_ENERGY, &v->ledger.entry[HN_PROMISE_ENERGY]);
    set_error(t, COLUMN_LINEAR, &v->ledger.entry[HN_PROMISE_LINEAR_MOMENTUM]);
    set_error(t, COLUMN_ANGULAR, &v->ledger.entry[HN_PROMISE_ANGULAR_MOMENTUM]);
    set_error(t, COLUMN_JOINTS, &v->ledger.entry[HN_PROMISE_JOINTS]);
    set_error(t, COLUMN_CONSTRAINTS, &v->ledger.entry[HN_PROMISE_CONSTRAINTS]);
    table_set(t, COLUMN_LEVEL, "%.1e", v->level);
    double steps = v->statistics.step_count > 0 ? (double)v->statistics.step_count : 1.0;
    table_set(t, COLUMN_NEWTON, "%.2f/%d", (double)v->statistics.newton_iteration_count / steps,
              v->statistics.newton_iteration_max);
    table_set(t, COLUMN_TIME, "%.2f", 1e6 * v->step_seconds);
    if (v != first && first->done) table_set(t, COLUMN_FIRST, "%.1e", largest_difference(v, first));
    if (v != finest && finest->done)
        table_set(t, COLUMN_FINEST, "%.1e", largest_difference(v, finest));
    double order = observed_order(c, scheme, step, reduction);
    if (order > 0.0) table_set(t, COLUMN_ORDER, "%.2f", order);
    if (order > 0.0) {
        // error of this step by extrapolation, step that would bring it to the wanted one, processor time with that
        // step
        const variant *coarser = variant_at(c, scheme, step - 1, reduction);
        double error = largest_difference(coarser, v) / (pow(coarser->step / v->step, order) - 1.0);
        double wanted = v->step * pow(WANTED_ERROR / error, 1.0 / order);
        table_set(t, COLUMN_COST, "%.3g", 1e3 * v->step_seconds / wanted);
    }
}

static void print_comparison(const hn_model *model, comparison *c)
{
    static const char *const HEADER[COLUMN_COUNT] = {
        "scheme",  "reduction", "step",        "energy",  "linear",
        "angular", "joints",    "constraints", "level 2", "newton",
        "us/step", "first",     "finest",      "order",   "ms/s at 1e-6"};
    printf("  %s   until %g s\n\n", hn_model_name(model), c->end);
    table t = table_begin(COLUMN_COUNT);
    table_add_row(&t);
    for (int i = 0; i < COLUMN_COUNT; ++i) table_set(&t, i, "%s", HEADER[i]);
    for (int s = 0; s < c->scheme_count; ++s)
        for (int h = 0; h < c->step_count; ++h)
            for (int r = 0; r < c->reduction_count; ++r) add_row(c, &t, s, h, r);
    table_print(&t, 2, 2, stdout);
    table_end(&t);
    puts("\n  energy, linear, angular: worst relative error over the run; -: not conserved by the "
         "model\n"
         "  joints: worst opening in m; constraints: worst residual; newton: iterations per step, "
         "mean/most\n"
         "  level 2: constraints on velocity or momentum level, G M^-1 p, at the end\n"
         "  us/step: microseconds, without the ledger's measurements\n"
         "  first: largest difference of the final coordinates to the first reduction at the same "
         "step\n"
         "  finest: likewise to the finest step; order: observed from a step and the two coarser "
         "ones\n"
         "  ms/s at 1e-6: processor time per second simulated for an error of 1e-6 in the "
         "coordinates, extrapolated");
}

/// Where `projected-rk` is among the schemes and the model lies in a plane: its planar formulation beside the spatial
/// one.
static void print_planar(const hn_model *model, comparison *c)
{
    for (int i = 0; i < c->variant_count; ++i) {
        const variant *spatial = &c->variants[i];
        if (spatial->scheme != HN_SCHEME_PROJECTED_RK || !spatial->done) continue;
        variant planar = {
            .scheme = spatial->scheme, .step = spatial->step, .step_count = spatial->step_count};
        hn_simulation_def def = c->def;
        def.planar = true;
        hn_simulation *simulation = NULL;
        if (create(model, &def, &planar, true, &simulation) != HN_OK) return; // not a planar model
        progress bar = progress_begin("  planar", false);
        if (time_steps(model, &def, &planar) == HN_OK &&
            run_to_end(simulation, &planar, &bar, 0.0, 1.0) == HN_OK)
            printf("\n  projected-rk, planar formulation at h = %g s: agrees with the spatial one "
                   "to %.1e, takes 1/%.1f of "
                   "its time (--set planar=true)\n",
                   planar.step, largest_difference(spatial, &planar),
                   spatial->step_seconds / planar.step_seconds);
        progress_end(&bar);
        hn_simulation_destroy(simulation);
        free(planar.q);
        return;
    }
}

static int compare(const hn_model *model, comparison *c)
{
    int code = run_variants(model, c);
    print_comparison(model, c);
    print_planar(model, c);
    for (int i = 0; i < c->variant_count; ++i) free(c->variants[i].q);
    return code;
}

int command_compare(int argument_count, char **arguments)
{
    const char *path = NULL, *schemes = NULL, *reductions = NULL, *steps = NULL, *end = NULL;
    const char *settings = NULL;
    const option_spec options[] = {
        {"--schemes", "A,B", "names of schemes as in run (default: all)", &schemes},
        {"--set", "NAME=VALUE,...", "settings that only some schemes read, as in run", &settings},
        {"--reductions", "A,B,C", "reduced, nullspace, multipliers (default: all)", &reductions},
        {"--steps", "SECONDS,...",
         "step sizes; three or more show the order (default: the model's)", &steps},
        {"--end", "SECONDS", "time to stop at, a multiple of every step (default: the model's)",
         &end},
    };
    const command_usage usage = {"compare",
                                 "MODEL",
                                 "Run a model under several schemes, reductions and step sizes; "
                                 "errors, times and differences in one table.",
                                 "",
                                 "holonom compare models/gyro-top.yaml --schemes variational "
                                 "--steps 0.004,0.002,0.001 --end 0.2",
                                 options,
                                 5};
    options_result parsed = options_parse(&usage, argument_count, arguments, &path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;

    hn_context *context = hn_context_create(NULL);
    comparison *c = calloc(1, sizeof *c);
    hn_model *model = NULL;
    int code = context == NULL || c == NULL ? EXIT_RUN_FAILED : EXIT_FINE;
    if (code == EXIT_FINE)
        code = report_load_model(context, path, &model); // no log: notes would repeat with each run
    if (code == EXIT_FINE) {
        hn_run_options run = hn_model_run_options(model);
        c->def = hn_simulation_def_default();
        bool known = apply_scheme_settings("compare", settings, &c->def) &&
                     parse_schemes(schemes, c) && parse_reductions(reductions, c) &&
                     parse_steps(steps, run.step, c) && parse_end(end, run.end, c) &&
                     list_variants(c);
        code = known ? compare(model, c) : EXIT_USAGE;
    }
    free(c);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return code;
}
