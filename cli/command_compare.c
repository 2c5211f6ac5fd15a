// SPDX-License-Identifier: MIT
// `holonom compare`: one model under several schemes, reductions and steps, in one table and one page.
#define _POSIX_C_SOURCE 200809L
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "output_file.h"
#include "page.h"
#include "progress.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "scheme_settings.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_MAX = 16,
    VARIANTS_MAX = HN_SCHEME_COUNT * HN_REDUCTION_COUNT * STEPS_MAX,
    PLACES_MAX = 6,     // the end, half of it, a quarter, ...
    PLACE_STEPS_MIN = 8 // coarsest steps before the first of them
};
enum { PART_SIZE = 64 };
enum { PAGE_RESULTS_MAX = 12, PAGE_RECORDS_MAX = 20000, PAGE_PATH_SIZE = 256 };

static const double TIMING_SECONDS =
    0.5; // a step is timed over the whole run or this long, without ledger

static const double PROBE_SECONDS =
    1.0; // longest run that only serves the order; it ends earlier instead

static const double WANTED_ERROR = 1e-6; // of coordinates, for the cost at a given accuracy
static const double NEAR_ERROR =
    0.05; // of coordinates, m or directions: a step is then fine enough to speak of its order
static const double ORDER_MIN =
    0.8; // an observed order below this is not one: nothing is extrapolated with it

static const double RUNGE_KUTTA_ORDER = 5.0; // halved internal steps: tolerances over 32
static const double TOLERANCE_MIN = 1e-13;   // of `projected-rk`, beside round-off
static const double PLANE_TOLERANCE = 1e-11; // to compare its two formulations

/// One run of the table.
typedef struct variant {
    hn_scheme scheme;
    hn_reduction reduction;
    bool skipped;
    bool hidden; ///< no row of its own, run for the order of another
    double step;
    double
        tolerance_factor; ///< on the tolerances of `projected-rk`, whose internal steps follow these alone
    int64_t step_count;
    bool done;    ///< the run came to its end
    bool refused; ///< the scheme cannot run the model
    double *q;    ///< coordinates at every place, coordinate_count each; owned
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
    int row_step_count; ///< steps with rows; the others, finer, serve the order
    double end;
    double places[PLACES_MAX]; ///< times at which coordinates are compared, late to early
    int place_count;
    int first_place;                ///< where runs without rows end
    int place;                      ///< the one that errors and orders are taken at
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
    if (text == NULL) {
        // the model's step has rows; half and a quarter of it show the order
        for (int k = 0; k < 3; ++k) c->steps[c->step_count++] = ldexp(model_step, -k);
        c->row_step_count = 1;
        return true;
    }
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
    c->row_step_count = c->step_count;
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

/// The end, and halves of it that all steps meet.
static void list_places(comparison *c)
{
    int64_t steps = llround(c->end / c->steps[0]);
    c->places[c->place_count++] = c->end;
    for (int k = 1; k < PLACES_MAX && steps >> k >= PLACE_STEPS_MIN; ++k) {
        double time = (double)(steps >> k) * c->steps[0];
        for (int i = 0; i < c->step_count; ++i)
            if (!is_multiple(time, c->steps[i])) return;
        c->places[c->place_count++] = time;
    }
}

/// All combinations, in the order of the table.
static bool list_variants(comparison *c)
{
    for (int s = 0; s < c->scheme_count; ++s)
        for (int h = 0; h < c->step_count; ++h)
            for (int r = 0; r < c->reduction_count; ++r) {
                variant *v = &c->variants[c->variant_count++];
                *v = (variant){.scheme = c->schemes[s],
                               .reduction = c->reductions[r],
                               .step = c->steps[h],
                               .tolerance_factor =
                                   pow(c->steps[h] / c->steps[0], RUNGE_KUTTA_ORDER)};
                // schemes with a solver of their own have one row, whatever the reductions
                v->hidden = h >= c->row_step_count;
                v->skipped = r > 0 && (v->hidden || hn_scheme_has_own_solver(v->scheme));
                if (count_steps(c->end, v->step, &v->step_count)) continue;
                options_complain("compare", "the step %g s is too small for an end at %g s",
                                 v->step, c->end);
                return false;
            }
    return true;
}

// ---- runs -----------------------------------------------------------------------------------------

/// Do internal steps depend on tolerances instead of the step? Finer runs then have narrower ones.
static bool follows_tolerances(hn_scheme scheme, const hn_simulation_def *def)
{
    return scheme == HN_SCHEME_PROJECTED_RK && def->projected_rk.dense_output &&
           !def->projected_rk.fixed_steps;
}

static hn_status create(const hn_model *model, const hn_simulation_def *settings, const variant *v,
                        bool ledger, hn_simulation **simulation)
{
    hn_simulation_def def = *settings;
    def.scheme = v->scheme;
    def.reduction = v->reduction;
    def.step_size = v->step;
    def.ledger = ledger;
    if (follows_tolerances(v->scheme, &def)) {
        def.projected_rk.absolute_tolerance =
            fmax(def.projected_rk.absolute_tolerance * v->tolerance_factor, TOLERANCE_MIN);
        def.projected_rk.relative_tolerance =
            fmax(def.projected_rk.relative_tolerance * v->tolerance_factor, TOLERANCE_MIN);
    }
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

/// To the end, with the coordinates at every place on the way.
static hn_status run_to_end(const comparison *c, hn_simulation *simulation, variant *v,
                            progress *bar, double before, double share)
{
    hn_status status = HN_OK;
    int64_t batch = v->step_count / 100 + 1;
    v->coordinate_count = hn_simulation_structure(simulation).coordinate_count;
    size_t count = (size_t)v->coordinate_count;
    v->q = malloc(count * (size_t)c->place_count * sizeof(double) + 1);
    if (v->q == NULL) return HN_OUT_OF_MEMORY;
    int end = v->hidden ? c->first_place : 0;
    for (int place = c->place_count - 1; status == HN_OK && place >= end; --place) {
        int64_t stop = place == 0 ? v->step_count : llround(c->places[place] / v->step);
        while (status == HN_OK && hn_simulation_step_count(simulation) < stop) {
            int64_t ahead = stop - hn_simulation_step_count(simulation);
            status = hn_simulation_step(simulation, ahead < batch ? ahead : batch);
            double part = (double)hn_simulation_step_count(simulation) / (double)v->step_count;
            progress_update(bar, before + share * part);
        }
        if (status == HN_OK)
            status = hn_simulation_coordinates(simulation, v->q + count * (size_t)place,
                                               v->coordinate_count);
    }
    if (status != HN_OK || v->hidden) return status;
    v->statistics = hn_simulation_statistics(simulation);
    hn_constraint_state constraints;
    status = hn_simulation_constraints(simulation, &constraints);
    if (status != HN_OK) return status;
    v->level = constraints.hidden_momentum;
    return hn_simulation_ledger(simulation, &v->ledger);
}

/// Run one variant; false: it failed, with a message in the context.
static bool run_variant(const hn_model *model, comparison *c, variant *v, progress *bar,
                        double before, double share)
{
    hn_simulation *simulation = NULL;
    hn_status status = v->hidden ? HN_OK : time_steps(model, &c->def, v);
    if (status == HN_OK) status = create(model, &c->def, v, !v->hidden, &simulation);
    if (status == HN_OK) status = run_to_end(c, simulation, v, bar, before, share);
    hn_simulation_destroy(simulation);
    v->done = status == HN_OK;
    v->refused = status == HN_INVALID_MODEL;
    return v->done;
}

/// The latest place that runs with the finest step reach in time.
static void limit_probes(comparison *c)
{
    double slowest = 0.0; // s per step
    for (int i = 0; i < c->variant_count; ++i)
        if (c->variants[i].done && c->variants[i].reduction == c->reductions[0])
            slowest = fmax(slowest, c->variants[i].step_seconds);
    double finest = c->steps[c->step_count - 1];
    while (c->first_place + 1 < c->place_count &&
           slowest * c->places[c->first_place] / finest > PROBE_SECONDS)
        c->first_place += 1;
}

/// Run all variants, those with rows first; one that fails is reported and leaves its row empty. Returns an exit code.
static int run_variants(const hn_model *model, comparison *c)
{
    int code = EXIT_FINE;
    progress bar = progress_begin("  comparing", false);
    double share = 1.0 / (double)c->variant_count, before = 0.0;
    for (int hidden = 0; hidden < 2; ++hidden) {
        if (hidden > 0 && c->row_step_count < c->step_count) limit_probes(c);
        for (int i = 0; i < c->variant_count; ++i) {
            variant *v = &c->variants[i];
            if (v->hidden != (hidden > 0)) continue;
            before += share;
            // without its row a scheme needs no order
            const variant *row = &c->variants[i - i % (c->step_count * c->reduction_count)];
            if (v->skipped || (v->hidden && !row->done)) continue;
            if (run_variant(model, c, v, &bar, before - share, share) || v->hidden) continue;
            progress_end(&bar);
            bool own = hn_scheme_has_own_solver(v->scheme);
            say(stderr, "%s%s%s, h = %g: %s\n", hn_scheme_name(v->scheme), own ? "" : ", ",
                own ? "" : hn_reduction_name(v->reduction), v->step,
                hn_context_message(hn_model_context(model)));
            code = v->refused ? EXIT_MODEL : EXIT_RUN_FAILED;
        }
    }
    progress_end(&bar);
    return code;
}

// ---- differences and orders -----------------------------------------------------------------------

static double largest_difference(const variant *a, const variant *b, int place)
{
    double largest = 0.0;
    const double *x = a->q + (size_t)a->coordinate_count * (size_t)place,
                 *y = b->q + (size_t)b->coordinate_count * (size_t)place;
    for (int i = 0; i < a->coordinate_count && i < b->coordinate_count; ++i)
        largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

static double largest_coordinate(const variant *v, int place)
{
    double largest = 0.0;
    const double *x = v->q + (size_t)v->coordinate_count * (size_t)place;
    for (int i = 0; i < v->coordinate_count; ++i) largest = fmax(largest, fabs(x[i]));
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

/// The latest place at which the coarsest step is fine enough for most schemes: motions that are sensitive to their
/// start lose all digits in the end, whatever the scheme.
static void choose_place(comparison *c)
{
    for (c->place = c->first_place; c->place + 1 < c->place_count; ++c->place) {
        int near = 0, count = 0;
        for (int s = 0; s < c->scheme_count && c->step_count > 1; ++s) {
            const variant *coarse = variant_at(c, s, 0, 0), *fine = variant_at(c, s, 1, 0);
            if (!coarse->done || !fine->done) continue;
            double bound = NEAR_ERROR * fmin(1.0, largest_coordinate(fine, c->place));
            near += largest_difference(coarse, fine, c->place) <= bound ? 1 : 0;
            count += 1;
        }
        if (2 * near > count || count == 0) return;
    }
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
    double coarse = largest_difference(v0, v1, c->place),
           fine = largest_difference(v1, v2, c->place);
    if (!(fine > 0.0)) return 0.0;
    return solve_order(v0->step, v1->step, v2->step, coarse / fine);
}

/// Estimated error of the coordinates at a step of the given order, from the next finer step or else the next coarser;
/// -1: not known.
static double estimated_error(comparison *c, int scheme, int step, int reduction, double order)
{
    const variant *v = variant_at(c, scheme, step, reduction);
    if (step + 1 < c->step_count) {
        const variant *finer = variant_at(c, scheme, step + 1, reduction);
        if (finer->done && finer->step < v->step)
            return largest_difference(v, finer, c->place) /
                   (1.0 - pow(finer->step / v->step, order));
    }
    if (step > 0) {
        const variant *coarser = variant_at(c, scheme, step - 1, reduction);
        if (coarser->done && coarser->step > v->step)
            return largest_difference(coarser, v, c->place) /
                   (pow(coarser->step / v->step, order) - 1.0);
    }
    return -1.0;
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
    COLUMN_ERROR,
    COLUMN_ORDER,
    COLUMN_COST,
    COLUMN_COUNT
};

static void set_error(table *t, int column, const hn_ledger_entry *entry)
{
    // momenta that the model conserves are measured whether the scheme promises them or not
    bool measured = entry->conserved || column == COLUMN_ENERGY || entry->error > 0.0;
    if (measured) table_set(t, column, "%.1e", entry->error);
    else table_set(t, column, "-");
}

static void add_row(comparison *c, table *t, int scheme, int step, int reduction)
{
    const variant *v = variant_at(c, scheme, step, reduction);
    const variant *first = variant_at(c, scheme, step, 0);
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
    if (v != first && first->done)
        table_set(t, COLUMN_FIRST, "%.1e", largest_difference(v, first, 0));
    // where finer steps have no rows, the first reduction's tell of all: they solve the same equations
    bool probed = c->row_step_count < c->step_count;
    int from = probed ? 0 : reduction, last = probed ? c->step_count - 1 : step;
    double order = observed_order(c, scheme, last, from);
    if (order > 0.0) table_set(t, COLUMN_ORDER, "%.2f", order);
    if (c->step_count < 3) return;
    // a step coarser than the first with an order takes that one's
    double exponent = last < 2 ? observed_order(c, scheme, 2, from) : order;
    double error = estimated_error(c, scheme, step, from, exponent > ORDER_MIN ? exponent : 1.0);
    if (error >= 0.0) table_set(t, COLUMN_ERROR, "%.1e", error);
    // the step that would bring the error to the wanted one, and the processor time with it
    double rate = 1e3 * v->step_seconds / v->step;
    if (error >= 0.0 && error <= WANTED_ERROR) table_set(t, COLUMN_COST, "<%.3g", rate);
    else if (error > 0.0 && exponent > ORDER_MIN)
        table_set(t, COLUMN_COST, "%.3g", rate * pow(error / WANTED_ERROR, 1.0 / exponent));
    else table_set(t, COLUMN_COST, "-");
}

static void print_comparison(const hn_model *model, comparison *c)
{
    static const char *const HEADER[COLUMN_COUNT] = {
        "scheme",  "reduction", "step",        "energy", "linear",
        "angular", "joints",    "constraints", "G v",    "newton",
        "us/step", "first",     "error",       "order",  "ms/s at 1e-6"};
    printf("  %s   until %g s\n\n", SHOWN(hn_model_name(model)), c->end);
    table t = table_begin(COLUMN_COUNT);
    table_add_row(&t);
    for (int i = 0; i < COLUMN_COUNT; ++i) table_set(&t, i, "%s", HEADER[i]);
    for (int s = 0; s < c->scheme_count; ++s)
        for (int h = 0; h < c->row_step_count; ++h)
            for (int r = 0; r < c->reduction_count; ++r) add_row(c, &t, s, h, r);
    table_print(&t, 2, 2, stdout);
    table_end(&t);
    puts("\n  energy, linear, angular: worst relative error over the run; -: the model does not "
         "conserve it\n"
         "  joints: worst opening in m; constraints: worst residual, relative\n"
         "  G v: velocity level of the constraints at the end, m/s and rad/s\n"
         "  newton: iterations per step, mean/most; us/step: microseconds, without the ledger");
    if (c->reduction_count > 1)
        puts("  first: largest difference of the final coordinates to the first reduction at the "
             "same step");
    if (c->step_count > 2)
        printf("  error: of the coordinates at t = %g s, estimated from steps of different size; "
               "order: observed likewise\n"
               "  ms/s at 1e-6: processor time per second simulated with the step that has this "
               "error; <: it is below; "
               "-: the steps are too long to say\n",
               c->places[c->place]);
    if (c->row_step_count < c->step_count)
        printf("  steps of %g and %g s were run for error and order; choose with --steps\n",
               c->steps[1], c->steps[2]);
    bool tolerances = false;
    for (int s = 0; s < c->scheme_count; ++s)
        tolerances = tolerances || follows_tolerances(c->schemes[s], &c->def);
    if (tolerances && c->step_count > 1)
        puts("  projected-rk: with half the step its tolerances are divided by 32, as internal "
             "steps "
             "follow these");
    if (c->row_step_count == c->step_count && c->step_count < 3)
        puts("  three or more --steps show the error of the coordinates and the order");
}

/// Difference of the formulations in the plane and in space at the end, both with narrow tolerances; -1: not known.
static double plane_and_space_apart(const hn_model *model, comparison *c, const variant *row)
{
    variant runs[2] = {{0}};
    double apart = -1.0;
    hn_status status = HN_OK;
    progress bar = progress_begin("  planar", false);
    for (int k = 0; k < 2 && status == HN_OK; ++k) {
        hn_simulation *simulation = NULL;
        hn_simulation_def def = c->def;
        def.projected_rk.planar = k == 1;
        def.projected_rk.absolute_tolerance =
            fmin(def.projected_rk.absolute_tolerance, PLANE_TOLERANCE);
        def.projected_rk.relative_tolerance =
            fmin(def.projected_rk.relative_tolerance, PLANE_TOLERANCE);
        runs[k] = (variant){.scheme = row->scheme,
                            .step = row->step,
                            .step_count = row->step_count,
                            .tolerance_factor = 1.0};
        status = create(model, &def, &runs[k], true, &simulation);
        if (status == HN_OK) status = run_to_end(c, simulation, &runs[k], &bar, 0.5 * k, 0.5);
        hn_simulation_destroy(simulation);
    }
    if (status == HN_OK) apart = largest_difference(&runs[0], &runs[1], 0);
    progress_end(&bar);
    for (int k = 0; k < 2; ++k) free(runs[k].q);
    return apart;
}

/// Where `projected-rk` is among the schemes and the model lies in a plane: its planar formulation beside the spatial
/// one.
static void print_planar(const hn_model *model, comparison *c)
{
    for (int i = 0; i < c->variant_count; ++i) {
        const variant *spatial = &c->variants[i];
        if (spatial->scheme != HN_SCHEME_PROJECTED_RK || !spatial->done || spatial->hidden)
            continue;
        variant planar = {.scheme = spatial->scheme,
                          .step = spatial->step,
                          .step_count = spatial->step_count,
                          .tolerance_factor = 1.0};
        hn_simulation_def def = c->def;
        def.projected_rk.planar = true;
        if (time_steps(model, &def, &planar) != HN_OK) return; // not a planar model
        double apart = plane_and_space_apart(model, c, spatial);
        printf("\n  projected-rk, planar formulation at h = %g s: takes 1/%.1f of the time of the "
               "spatial one (--set planar=true)",
               planar.step, spatial->step_seconds / planar.step_seconds);
        if (apart >= 0.0)
            printf(";\n  both agree at the end to %.1e with tolerances of %.0e", apart,
                   fmin(c->def.projected_rk.relative_tolerance, PLANE_TOLERANCE));
        putchar('\n');
        return;
    }
}

// ---- page -----------------------------------------------------------------------------------------

/// The run of a variant as a result file.
static hn_status write_result(const hn_model *model, const comparison *c, const variant *v,
                              const char *path)
{
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_status status = create(model, &c->def, v, true, &simulation);
    if (status == HN_OK) status = hn_results_create(model, simulation, path, &results);
    if (status == HN_OK) status = hn_results_append(results);
    const int64_t every = (v->step_count + PAGE_RECORDS_MAX - 1) / PAGE_RECORDS_MAX;
    for (int64_t done = 0; done < v->step_count && status == HN_OK;) {
        int64_t ahead = v->step_count - done < every ? v->step_count - done : every;
        status = hn_simulation_step(simulation, ahead);
        if (status == HN_OK) status = hn_results_append(results);
        done += ahead;
    }
    if (status == HN_OK) status = hn_results_finish(results);
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    return status;
}

/// The page of all rows that came to their end; reductions solve the same equations, so each scheme and step is shown
/// once.
static int write_page(const hn_model *model, const comparison *c, const char *output,
                      const char *template_path)
{
    const char *parent = getenv("TMPDIR");
    char folder[PAGE_PATH_SIZE], paths[PAGE_RESULTS_MAX][PAGE_PATH_SIZE + 16],
        labels[PAGE_RESULTS_MAX][PART_SIZE];
    page_result results[PAGE_RESULTS_MAX];
    snprintf(folder, sizeof folder, "%.200s/holonom-compare-XXXXXX",
             parent == NULL || parent[0] == '\0' ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL) {
        say(stderr, "%s: no folder can be made there for the page's results\n", folder);
        return EXIT_FILE;
    }
    int count = 0, code = EXIT_FINE, left_out = 0;
    for (int i = 0; i < c->variant_count && code == EXIT_FINE; ++i) {
        const variant *v = &c->variants[i];
        if (!v->done || v->hidden || i % c->reduction_count != 0) continue;
        if (count == PAGE_RESULTS_MAX) {
            left_out += 1;
            continue;
        }
        snprintf(paths[count], sizeof paths[count], "%s/%d.h5", folder, count);
        if (c->row_step_count > 1)
            snprintf(labels[count], PART_SIZE, "%s, h = %g s", hn_scheme_name(v->scheme), v->step);
        else snprintf(labels[count], PART_SIZE, "%s", hn_scheme_name(v->scheme));
        results[count] = (page_result){paths[count], labels[count]};
        count += 1;
        hn_status status = write_result(model, c, v, paths[count - 1]);
        if (status == HN_OK) continue;
        say(stderr, "%s\n", hn_context_message(hn_model_context(model)));
        code = exit_code_of(status);
    }
    if (code == EXIT_FINE && count == 0) {
        fputs("holonom compare: no run came to its end, so there is no page\n", stderr);
        code = EXIT_RUN_FAILED;
    }
    if (code == EXIT_FINE) {
        putchar('\n');
        code = page_write(results, count, output, template_path);
    }
    if (code == EXIT_FINE && left_out > 0)
        printf("  a page takes %d results: the last %d are in the table only\n", PAGE_RESULTS_MAX,
               left_out);
    for (int i = 0; i < count; ++i) {
        remove(paths[i]);
        strcat(paths[i], ".part"); // of a run that failed
        remove(paths[i]);
    }
    remove(folder);
    return code;
}

static int compare(const hn_model *model, comparison *c, const char *page,
                   const char *template_path)
{
    int code = run_variants(model, c);
    choose_place(c);
    print_comparison(model, c);
    print_planar(model, c);
    if (page != NULL) {
        int page_code = write_page(model, c, page, template_path);
        if (code == EXIT_FINE) code = page_code;
    }
    for (int i = 0; i < c->variant_count; ++i) free(c->variants[i].q);
    return code;
}

int command_compare(int argument_count, char **arguments)
{
    const char *schemes = NULL, *reductions = NULL, *steps = NULL, *end = NULL;
    const char *settings[OPTION_REPEAT_MAX] = {NULL}, *page = NULL, *template_path = NULL;
    model_source source = {0};
    const option_spec options[] = {
        {"--schemes", "A,B", "names of schemes as in run (default: all)", &schemes},
        {"--set", "NAME=VALUE,...", "settings that only some schemes read, as in run", settings},
        {"--reductions", "A,B,C", "reduced, nullspace, multipliers (default: all)", &reductions},
        {"--steps", "SECONDS,...",
         "step sizes; three or more show error and order (default: the model's)", &steps},
        {"--end", "SECONDS", "time to stop at, a multiple of every step (default: the model's)",
         &end},
        {"--output", "FILE",
         "also write a page that shows all of them in one picture, as view does", &page},
        {"--template", "FILE", "viewer to put them into (default: the one installed)",
         &template_path},
        MODEL_PARAMETER_OPTION(source),
    };
    const command_usage usage = {"compare",
                                 "MODEL",
                                 "Run a model under several schemes, reductions and step sizes; "
                                 "errors, times and differences in one table.",
                                 "",
                                 "holonom compare models/gyro-top.yaml --schemes variational "
                                 "--steps 0.004,0.002,0.001 --end 0.2",
                                 options,
                                 sizeof options / sizeof options[0]};
    options_result parsed = options_parse(&usage, argument_count, arguments, &source.path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (page != NULL && complain_output_is_input(page, source.path)) return EXIT_FILE;

    hn_context *context = hn_context_create(NULL);
    comparison *c = calloc(1, sizeof *c);
    hn_model *model = NULL;
    int code = context == NULL || c == NULL ? report_no_memory() : EXIT_FINE;
    if (code == EXIT_FINE)
        code = model_source_load(context, "compare", &source,
                                 &model); // no log: notes would repeat with each run
    if (code == EXIT_FINE) {
        hn_run_options run = hn_model_run_options(model);
        c->def = hn_simulation_def_default();
        bool known = hn_simulation_def_from_model(model, &c->def) == HN_OK &&
                     apply_scheme_settings("compare", settings, &c->def) &&
                     parse_schemes(schemes, c) && parse_reductions(reductions, c) &&
                     parse_steps(steps, run.step, c) && parse_end(end, run.end, c) &&
                     list_variants(c);
        if (known) list_places(c);
        code = known ? compare(model, c, page, template_path) : EXIT_USAGE;
    }
    free(c);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return code;
}
