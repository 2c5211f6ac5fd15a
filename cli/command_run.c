// SPDX-License-Identifier: MIT
// `holonom run`: simulate a model, write results, show the ledger.
#include "command.h"
#include "model_source.h"
#include "options.h"
#include "output_file.h"
#include "progress.h"
#include "report.h"
#include "run_options.h"
#include "say.h"
#include "scheme_settings.h"
#include "stop_signal.h"
#include "stopped_run.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SIZE = 160, LABEL_WIDTH = 50 };

static const double BATCH_SECONDS = 0.05; // steps are taken in batches of about this long
static const int CONDITION_UNKNOWNS_CHEAP =
    400; // the other reductions' condition numbers are shown up to this size
static const double CONDITION_SECONDS_CHEAP = 2.0; // and when the run took no longer

// ---- requirements ---------------------------------------------------------------------------------

/// What can be required: the promises, then the accuracy line.
enum { REQUIRE_ACCURACY = HN_PROMISE_COUNT, REQUIRE_COUNT };

typedef struct requirements {
    bool given[REQUIRE_COUNT];
    double bound[REQUIRE_COUNT];
} requirements;

static const char *requirement_word(int index)
{
    return index == REQUIRE_ACCURACY ? "accuracy" : promise_word(index);
}

/// REQUIRE_COUNT: there is none of that name.
static int requirement_of(const char *word)
{
    int index = 0;
    while (index < REQUIRE_COUNT && strcmp(word, requirement_word(index)) != 0) ++index;
    return index;
}

static bool parse_requirements(const char *text, requirements *required)
{
    char part[128];
    *required = (requirements){{false}, {0.0}};
    while (option_next_part(&text, part, sizeof part)) {
        char *equals = strchr(part, '=');
        if (equals == NULL) {
            options_complain("run", "--require: '%s' should look like energy=1e-10", part);
            return false;
        }
        *equals = '\0';
        int what = requirement_of(part);
        if (what == REQUIRE_COUNT) {
            complain_unknown_word("run", "requirement", part, REQUIRE_COUNT, requirement_word);
            return false;
        }
        if (required->given[what]) {
            options_complain("run", "--require: '%s' is given twice", part);
            return false;
        }
        if (!option_positive_number("run", "--require", equals + 1, &required->bound[what]))
            return false;
        required->given[what] = true;
    }
    return true;
}

/// Likewise of the accuracy line: the worst error of a step.
static bool check_accuracy(const requirements *required, const hn_accuracy *a)
{
    double bound = required->bound[REQUIRE_ACCURACY];
    if (!required->given[REQUIRE_ACCURACY]) return true;
    if (a->sample_count == 0) {
        say(stderr, "require: accuracy cannot be met: no step could be compared with finer ones\n");
        return false;
    }
    if (a->relative.value <= bound) return true;
    say(stderr, "require: accuracy NOT MET: %.2e is above %.2e\n", a->relative.value, bound);
    return false;
}

/// Report each requirement that is not met; true when all are.
static bool check_requirements(const requirements *required, const hn_ledger *ledger)
{
    bool met = true;
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        if (!required->given[i]) continue;
        const hn_ledger_entry *entry = &ledger->entry[i];
        bool momentum = i == HN_PROMISE_LINEAR_MOMENTUM || i == HN_PROMISE_ANGULAR_MOMENTUM;
        if (momentum && !entry->conserved) {
            say(stderr, "require: %s cannot be met: no component is conserved in this model\n",
                promise_word(i));
            met = false;
        } else if (!(entry->error <= required->bound[i])) {
            say(stderr, "require: %s NOT MET: %.2e is above %.2e\n", promise_word(i), entry->error,
                required->bound[i]);
            met = false;
        }
    }
    return check_accuracy(required, &ledger->accuracy) && met;
}

// ---- one run --------------------------------------------------------------------------------------

typedef struct run {
    hn_simulation_def def; ///< defaults and settings
    const hn_model *model;
    hn_context *context;
    hn_simulation *simulation;
    hn_results *results; ///< NULL: no output
    char *output;        ///< final name of the results
    hn_run_options options;
    int64_t step_count; ///< steps to take
    int64_t every;      ///< steps between records
    bool all_series;    ///< also those that cost more than a step
    const char *series; ///< those to write; NULL: all
    double checkpoint;  ///< s between checkpoints; 0: none but after a signal
    bool resumed;       ///< goes on from a checkpoint
    requirements required;
    bool condition, quiet, reverse_check, half_step_check;
    hn_body_state *start; ///< of all bodies, for the way back
    double seconds;       ///< time the steps took
} run;

/// Which call of the step loop failed.
typedef enum loop_failure { FAILED_STEP, FAILED_RECORD, FAILED_CHECKPOINT } loop_failure;

/// Write the record that is due at step `done`, if one is.
static hn_status write_record(run *r, int64_t done, int64_t *recorded)
{
    bool due = done % r->every == 0 || done == r->step_count;
    if (r->results == NULL || !due || done == *recorded) return HN_OK;
    *recorded = done;
    return hn_results_append(r->results);
}

/// Step until the end, a failure or a signal. Returns the status of the call that failed.
static hn_status take_steps(run *r, const char *label, loop_failure *failed)
{
    int64_t batch = 1, done = hn_simulation_step_count(r->simulation), first = done,
            recorded = r->resumed ? done : -1;
    progress bar = progress_begin(label, r->quiet);
    bool checkpoints = r->results != NULL && r->checkpoint > 0.0;
    *failed = FAILED_RECORD;
    hn_status status = write_record(r, done, &recorded);
    if (status == HN_OK && checkpoints && !r->resumed) {
        // a run killed before its first checkpoint can still be told to go on
        status = hn_results_checkpoint(r->results);
        *failed = FAILED_CHECKPOINT;
    }
    double last_checkpoint = clock_seconds();
    while (status == HN_OK && done < r->step_count && stop_signal_number() == 0) {
        // up to the next record, and not so long that bar and checkpoint would wait
        int64_t ahead = r->every - done % r->every;
        if (ahead > batch) ahead = batch;
        if (ahead > r->step_count - done) ahead = r->step_count - done;
        double before = clock_seconds();
        *failed = FAILED_STEP;
        status = hn_simulation_step(r->simulation, ahead);
        double now = clock_seconds(), taken = now - before;
        done = hn_simulation_step_count(r->simulation);
        // stopped by a signal: what is completed counts
        if (status == HN_CANCELLED && stop_signal_number() != 0) status = HN_OK;
        if (status != HN_OK) break;
        if (taken < 0.5 * BATCH_SECONDS && batch < INT64_MAX / 4) batch *= 2;
        if (taken > 2.0 * BATCH_SECONDS && batch > 1) batch /= 2;
        *failed = FAILED_RECORD;
        if (done > first) status = write_record(r, done, &recorded);
        if (status == HN_OK && checkpoints && now - last_checkpoint >= r->checkpoint) {
            *failed = FAILED_CHECKPOINT;
            status = hn_results_checkpoint(r->results);
            last_checkpoint = clock_seconds();
        }
        progress_update(&bar, (double)done / (double)r->step_count);
    }
    if (status == HN_OK && stop_signal_number() != 0 && done < r->step_count &&
        r->results != NULL) {
        *failed = FAILED_CHECKPOINT;
        status = hn_results_checkpoint(r->results);
    }
    r->seconds = clock_seconds() - bar.start;
    progress_end(&bar);
    return status;
}

/// The line of scheme, reduction and step, with a full bar on a terminal.
static void print_scheme_line(const run *r, const char *label)
{
    double fraction = (double)hn_simulation_step_count(r->simulation) / (double)r->step_count;
    print_padded(label, LABEL_WIDTH, stdout);
    fputs("  ", stdout);
    if (stream_is_terminal(stdout)) {
        print_bar(fraction, stdout);
        fputs("   ", stdout);
    }
    print_duration(r->seconds, stdout);
    if (hn_simulation_step_count(r->simulation) < r->step_count)
        printf("   incomplete: %" PRId64 " steps taken", hn_simulation_step_count(r->simulation));
    putchar('\n');
    hn_adaptive_statistics a = hn_simulation_adaptive_statistics(r->simulation);
    if (!(a.smallest_step > 0.0)) return;
    printf("  inner steps        %" PRId64 " of %.2g to %.2g s, %" PRId64 " made again\n",
           a.accepted_step_count, a.smallest_step, a.largest_step, a.rejected_step_count);
}

/// Close the result file unfinished and say where it is.
static void keep_part(run *r)
{
    if (r->results == NULL) return;
    hn_results_destroy(r->results);
    r->results = NULL;
    say(stderr, "  results until then: %s.part\n", r->output);
}

static int report_failure(run *r, hn_status status, loop_failure failed)
{
    bool file_failed = failed != FAILED_STEP && status == HN_FILE_ACCESS;
    const char *what = !file_failed              ? "the run failed"
                       : failed == FAILED_RECORD ? "the results could not be written"
                                                 : "the checkpoint could not be written";
    say(stderr, "%s at t = %.9g s (step %" PRId64 " of %" PRId64 "): %s\n", what,
        hn_simulation_time(r->simulation), hn_simulation_step_count(r->simulation), r->step_count,
        hn_context_message(r->context));
    if (file_failed) fputs("  free some space, or choose another place with --output\n", stderr);
    keep_part(r);
    return file_failed ? EXIT_FILE : EXIT_RUN_FAILED;
}

static int report_interruption(run *r)
{
    say(stderr, "stopped by signal %d at t = %.9g s (step %" PRId64 " of %" PRId64 ")\n",
        stop_signal_number(), hn_simulation_time(r->simulation),
        hn_simulation_step_count(r->simulation), r->step_count);
    bool goes_on = r->results != NULL;
    keep_part(r);
    if (goes_on) fputs("  to go on from there: the same command with --resume\n", stderr);
    return EXIT_SIGNAL + stop_signal_number();
}

// ---- condition numbers ----------------------------------------------------------------------------

static void print_condition(hn_simulation *simulation, hn_context *context)
{
    double condition = 0.0;
    hn_structure structure = hn_simulation_structure(simulation);
    hn_status status = hn_simulation_condition(simulation, &condition);
    fputs("  condition         ", stdout);
    if (status != HN_OK) say(stdout, "not known: %s\n", hn_context_message(context));
    else
        printf("%8.1e of the %d x %d iteration matrix, %s\n", condition, structure.unknown_count,
               structure.unknown_count, hn_reduction_name(hn_simulation_reduction(simulation)));
}

/// The other reductions solve other systems: run them too when that is quick.
static void print_other_conditions(const run *r)
{
    hn_structure structure = hn_simulation_structure(r->simulation);
    if (r->seconds > CONDITION_SECONDS_CHEAP) return;
    if (structure.coordinate_count + structure.constraint_count > CONDITION_UNKNOWNS_CHEAP) return;
    hn_context_set_log(r->context, NULL, NULL); // it was all said of the first
    for (int i = 0; i < HN_REDUCTION_COUNT; ++i) {
        if ((hn_reduction)i == r->options.reduction) continue;
        hn_simulation_def def = r->def;
        def.scheme = r->options.scheme;
        def.reduction = (hn_reduction)i;
        def.step_size = r->options.step;
        def.ledger = false;
        hn_simulation *other = NULL;
        hn_status status = hn_simulation_create(r->model, &def, &other);
        if (status == HN_OK) status = hn_simulation_step(other, r->step_count);
        if (status == HN_OK) print_condition(other, r->context);
        hn_simulation_destroy(other);
    }
}

// ---- the command ----------------------------------------------------------------------------------

/// Start the result file, or take up the one of the stopped run, and the simulation with it.
static int open_results(run *r)
{
    hn_results_def def = hn_results_def_default();
    def.every = r->every;
    def.all_series = r->all_series;
    def.series = r->series;
    def.step_count = r->step_count;
    def.checkpoint_interval = r->checkpoint;
    bool replaced = !r->resumed && stopped_run_is_there(r->output);
    hn_status status =
        r->resumed ? hn_results_resume(r->model, r->simulation, r->output, &def, &r->results)
                   : hn_results_create_for(r->model, r->simulation, r->output, &def, &r->results);
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(r->context));
        return status == HN_OUT_OF_MEMORY      ? EXIT_RUN_FAILED
               : status == HN_INVALID_ARGUMENT ? EXIT_USAGE
                                               : EXIT_FILE;
    }
    if (replaced)
        say(stderr,
            "warning: %s.part of a stopped run was replaced; --resume would have gone on with it\n",
            r->output);
    if (!r->resumed) return EXIT_FINE;
    if (!(r->checkpoint > 0.0)) r->checkpoint = def.checkpoint_interval;
    int64_t done = hn_simulation_step_count(r->simulation);
    if (done > r->step_count) {
        say(stderr,
            "%s.part: cannot go on: it has %" PRId64 " steps already, more than %" PRId64 "\n",
            r->output, done, r->step_count);
        return EXIT_USAGE;
    }
    if (!r->quiet)
        say(stderr, "note: goes on at t = %.9g s (step %" PRId64 " of %" PRId64 ")\n",
            hn_simulation_time(r->simulation), done, r->step_count);
    return EXIT_FINE;
}

// ---- the way back ---------------------------------------------------------------------------------

/// Positions and orientations of all bodies; the caller frees. NULL: no memory.
static hn_body_state *body_states(hn_simulation *simulation, const hn_model *model)
{
    int count = hn_model_body_count(model);
    hn_body_state *states = calloc((size_t)count + 1, sizeof *states);
    for (int i = 0; states != NULL && i < count; ++i)
        if (hn_simulation_body_state(simulation, hn_model_body(model, i), &states[i]) != HN_OK) {
            free(states);
            return NULL;
        }
    return states;
}

/// Angle of the rotation between two orientations, rad.
static double angle_between(const hn_mat3 *a, const hn_mat3 *b)
{
    double sum = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) sum += pow(a->m[i][k] - b->m[i][k], 2.0);
    return 2.0 * asin(fmin(1.0, sqrt(sum / 8.0)));
}

/// How far bodies of two states are apart at most, and which one most.
typedef struct states_apart {
    double distance, angle; ///< m, rad
    int body;
} states_apart;

static states_apart compare_states(const hn_model *model, const hn_body_state *one,
                                   const hn_body_state *other)
{
    states_apart a = {0};
    double worst = -1.0;
    for (int i = 0; i < hn_model_body_count(model); ++i) {
        double x = one[i].position.x - other[i].position.x,
               y = one[i].position.y - other[i].position.y,
               z = one[i].position.z - other[i].position.z;
        double distance = sqrt(x * x + y * y + z * z),
               angle = angle_between(&one[i].orientation, &other[i].orientation);
        a.distance = fmax(a.distance, distance);
        a.angle = fmax(a.angle, angle);
        if (fmax(distance, angle) > worst) worst = fmax(distance, angle), a.body = i;
    }
    return a;
}

/// Is there a way back at all? Asked of a simulation that is thrown away, before the run.
static int check_way_back(const run *r, const hn_simulation_def *def)
{
    hn_simulation *trial = NULL;
    hn_status status = hn_simulation_create(r->model, def, &trial);
    if (status == HN_OK) status = hn_simulation_reverse(trial);
    hn_simulation_destroy(trial);
    if (status == HN_OK) return EXIT_FINE;
    options_complain("run", "--reverse-check: %s", hn_context_message(r->context));
    return exit_code_of(status);
}

/// Turn round, go back as many steps, and tell how far from the start that ends.
static int reverse_check(run *r)
{
    const hn_body_state *start = r->start;
    hn_status status = hn_simulation_reverse(r->simulation);
    if (status == HN_OK) status = hn_simulation_step(r->simulation, r->step_count);
    hn_body_state *end = status == HN_OK ? body_states(r->simulation, r->model) : NULL;
    if (end == NULL) {
        say(stderr, "the way back failed: %s\n", hn_context_message(r->context));
        return EXIT_RUN_FAILED;
    }
    states_apart a = compare_states(r->model, start, end);
    free(end);
    printf("  reverse check      %.1e m, %.1e rad from the start after the way back, worst at body "
           "%s\n",
           a.distance, a.angle,
           SHOWN(hn_model_body_name(r->model, hn_model_body(r->model, a.body))));
    return EXIT_FINE;
}

// ---- the same in half steps -----------------------------------------------------------------------

/// Settings that make steps twice as fine: half of them, or tolerances of those that a scheme chooses itself.
static void refine(hn_simulation_def *def)
{
    const double INNER = 1.0 / 8.0, // error of an inner step of half the size
        OWN = 1e-2;
    bool chooses = def->scheme == HN_SCHEME_PROJECTED_RK && !def->projected_rk.fixed_steps;
    if (def->step_tolerance > 0.0) def->step_tolerance *= INNER;
    if (chooses) {
        def->projected_rk.absolute_tolerance *= OWN;
        def->projected_rk.relative_tolerance *= OWN;
    }
    if (!(def->step_tolerance > 0.0) && !chooses) def->step_size *= 0.5;
}

/// How far apart the run ends from one in half steps, and how that is more than what errors of steps sum up to.
static int half_step_check(run *r, const hn_ledger *ledger)
{
    hn_simulation_def def = r->def;
    hn_simulation *finer = NULL;
    hn_body_state *end = NULL, *other = NULL;
    def.scheme = r->options.scheme;
    def.reduction = r->options.reduction;
    def.step_size = r->options.step;
    refine(&def);
    def.ledger = false;
    int64_t parts = def.step_size < r->options.step ? 2 : 1;
    hn_status status = hn_simulation_create(r->model, &def, &finer);
    if (status == HN_OK) status = hn_simulation_step(finer, parts * r->step_count);
    if (status == HN_OK) end = body_states(r->simulation, r->model);
    if (status == HN_OK) other = body_states(finer, r->model);
    hn_simulation_destroy(finer);
    if (end == NULL || other == NULL) {
        say(stderr, "the run in half steps failed: %s\n", hn_context_message(r->context));
        free(end), free(other);
        return EXIT_RUN_FAILED;
    }
    states_apart a = compare_states(r->model, end, other);
    free(end), free(other);
    const hn_accuracy *line = &ledger->accuracy;
    double growth = fmax(line->position_sum > 0.0 ? a.distance / line->position_sum : 0.0,
                         line->angle_sum > 0.0 ? a.angle / line->angle_sum : 0.0);
    printf("  half-step check    %.1e m, %.1e rad from the end in half steps, worst at body %s; "
           "errors "
           "of steps grew %.2g times\n",
           a.distance, a.angle,
           SHOWN(hn_model_body_name(r->model, hn_model_body(r->model, a.body))), growth);
    return EXIT_FINE;
}

/// With --quiet the error stream says why the exit code is what it is.
static void print_broken_promises(const hn_ledger *ledger)
{
    for (int i = 0; i < HN_PROMISE_COUNT; ++i)
        if (!ledger->entry[i].kept)
            say(stderr, "%s NOT KEPT: %.2e is above %.2e\n", promise_word(i),
                ledger->entry[i].error, ledger->entry[i].bound);
}

/// The exit code that a ledger means; promises that are not kept are said unless it is `shown`.
static int judge(const run *r, const hn_ledger *ledger, bool shown)
{
    if (!check_requirements(&r->required, ledger)) return EXIT_REQUIRE_FAILED;
    if (ledger_is_kept(ledger)) return EXIT_FINE;
    if (!shown) print_broken_promises(ledger);
    return EXIT_NOT_KEPT;
}

/// What the run begins with: the simulation, what is to be said about it, the result file.
static int prepare(run *r, said_cautions *said)
{
    hn_simulation_def def = r->def;
    def.scheme = r->options.scheme;
    def.reduction = r->options.reduction;
    def.step_size = r->options.step;
    int code = report_create_simulation(r->model, &def, &r->simulation);
    if (code != EXIT_FINE)
        return stop_signal_number() != 0 ? EXIT_SIGNAL + stop_signal_number() : code;

    if (r->reverse_check) {
        code = check_way_back(r, &def);
        if (code != EXIT_FINE) return code;
        r->start = body_states(r->simulation, r->model);
        if (r->start == NULL) return report_no_memory();
    }
    warn_cautions(r->model, r->simulation, said);
    if (!is_multiple(r->options.end, r->options.step))
        say(stderr,
            "note: the end %.9g s is no multiple of the step %.9g s; the run ends at %.9g s\n",
            r->options.end, r->options.step, (double)r->step_count * r->options.step);
    if (!r->quiet) {
        print_model_line(r->model, r->simulation, stdout);
        print_misfit(r->model, r->simulation, stdout);
        fflush(stdout);
    }
    return r->output != NULL ? open_results(r) : EXIT_FINE;
}

/// What is asked for after the last step of a run that did not fail.
static int finish(run *r, const hn_ledger *ledger)
{
    if (r->condition) {
        print_condition(r->simulation, r->context);
        print_other_conditions(r);
    }
    if (r->results != NULL) {
        if (hn_results_finish(r->results) != HN_OK) {
            say(stderr, "%s\n", hn_context_message(r->context));
            return EXIT_FILE;
        }
        if (!r->quiet)
            say(stdout, "  wrote %s        view it: holonom view %s\n", r->output, r->output);
    }
    // first: the way back leads from the end
    int code = r->half_step_check ? half_step_check(r, ledger) : EXIT_FINE;
    return code == EXIT_FINE && r->reverse_check ? reverse_check(r) : code;
}

/// Everything after the model is loaded and the options are known.
static int perform(run *r)
{
    said_cautions said = {0};
    int code = prepare(r, &said);
    if (code != EXIT_FINE) return code;

    char label[LABEL_SIZE];
    bool own = hn_scheme_has_own_solver(r->options.scheme);
    snprintf(label, sizeof label, "  %s%s%s, h = %g, %" PRId64 " step%s",
             hn_scheme_name(r->options.scheme), own ? "" : ", ",
             own ? "" : hn_reduction_name(r->options.reduction), r->options.step, r->step_count,
             r->step_count == 1 ? "" : "s");
    loop_failure failed = FAILED_STEP;
    hn_status status = take_steps(r, label, &failed);
    // what went wrong is said before anything else is asked of the library
    if (status != HN_OK) code = report_failure(r, status, failed);
    else if (stop_signal_number() != 0 && hn_simulation_step_count(r->simulation) < r->step_count)
        code = report_interruption(r);

    hn_ledger ledger;
    bool have_ledger = hn_simulation_ledger(r->simulation, &ledger) == HN_OK;
    if (!have_ledger && code == EXIT_FINE) {
        say(stderr, "no ledger: %s\n", hn_context_message(r->context));
        code = EXIT_RUN_FAILED;
    }
    if (have_ledger) warn_cautions(r->model, r->simulation, &said);
    if (!r->quiet) print_scheme_line(r, label);
    if (!r->quiet && have_ledger) {
        print_ledger(r->model, &ledger, code == EXIT_FINE, stdout);
        print_drives(r->model, r->simulation, stdout);
        print_couplings(r->model, r->simulation, stdout);
    }
    if (code == EXIT_FINE) code = finish(r, &ledger);
    if (code != EXIT_FINE) return code;
    return judge(r, &ledger, !r->quiet);
}

/// The words that say how to run; NULL where not given.
typedef struct run_words {
    model_source source;
    const char *output, *no_output, *every, *require, *condition, *quiet, *checkpoint, *resume,
        *reverse, *half_steps, *all_series, *series;
    const char *settings[OPTION_REPEAT_MAX]; ///< NAME=VALUE,...
    run_texts texts;
} run_words;

/// In what a complete result is not the one that is asked for; NULL: it is.
static const char *difference_of_complete(const run *r, const run_words *words,
                                          const stopped_run *found, const hn_simulation_def *def,
                                          int64_t step_count)
{
    const char *setting = different_setting(def, &found->settings);
    if (setting != NULL) return setting;
    if (step_count != found->run.step_count) return "number of steps";
    if (words->every != NULL && r->every != found->run.every) return "--every";
    if (words->series != NULL &&
        strcmp(words->series, found->series == NULL ? "" : found->series) != 0)
        return "choice of series";
    if (words->all_series != NULL && !found->run.all_series) return "choice of series";
    return NULL;
}

/// The result is there already: it is taken if it is the one that is asked for, and judged as when it was made.
static int take_complete(const run *r, const run_words *words, const stopped_run *found,
                         const hn_simulation_def *def, int64_t step_count, bool *complete)
{
    const char *different = difference_of_complete(r, words, found, def, step_count);
    *complete = different == NULL;
    if (different != NULL)
        say(stderr, "note: %s is complete with another %s: the run starts from the beginning\n",
            r->output, different);
    else if (!r->quiet) say(stderr, "note: %s is complete: nothing is left to do\n", r->output);
    return *complete && found->has_ledger ? judge(r, &found->ledger, false) : EXIT_FINE;
}

/// A run that goes on keeps the settings it was started with; words given now must agree with them, but for the end.
/// Returns an exit code after reporting what is wrong. `*complete`: there is nothing left to do.
static int take_up_found(run *r, const run_words *words, stopped_run_state state,
                         const stopped_run *found, bool *complete)
{
    hn_run_options options = {.scheme = found->settings.scheme,
                              .reduction = found->settings.reduction,
                              .step = found->settings.step_size,
                              .end = (double)found->run.step_count * found->settings.step_size};
    hn_simulation_def def = found->settings;
    int64_t step_count = 0, every = found->run.every > 0 ? found->run.every : 1;
    if (!apply_scheme_settings("run", words->settings, &def) ||
        !merge_run_texts("run", &words->texts, &options, &step_count))
        return EXIT_USAGE;
    def.scheme = options.scheme;
    def.reduction = options.reduction;
    def.step_size = options.step;
    if (state == STOPPED_RUN_COMPLETE)
        return take_complete(r, words, found, &def, step_count, complete);
    if (words->every != NULL && r->every != every) {
        options_complain("run",
                         "%s was started with --every %" PRId64 "; it goes on with that only",
                         r->output, every);
        return EXIT_USAGE;
    }
    r->def = def;
    r->options = options;
    r->step_count = step_count;
    r->every = every;
    r->resumed = true;
    return EXIT_FINE;
}

static int take_up(run *r, const run_words *words, bool *complete)
{
    stopped_run found;
    *complete = false;
    stopped_run_state state = stopped_run_find(r->context, r->model, r->output, &found);
    int code = state == STOPPED_RUN_UNREADABLE ? EXIT_FILE : EXIT_FINE;
    if (state == STOPPED_RUN_NONE)
        say(stderr, "note: %s: %s: the run starts from the beginning\n", r->output, found.missing);
    else if (code == EXIT_FINE) code = take_up_found(r, words, state, &found, complete);
    stopped_run_release(&found);
    return code;
}

static int run_model(run *r, const run_words *words)
{
    if (words->no_output == NULL) {
        r->output = output_name(words->output, model_source_name(&words->source), ".h5");
        if (r->output == NULL) return report_no_memory();
    }
    bool complete = false;
    int code = words->resume == NULL ? EXIT_FINE : take_up(r, words, &complete);
    if (code != EXIT_FINE || complete) return code;
    if (!r->resumed) {
        r->def = hn_simulation_def_default();
        if (hn_simulation_def_from_model(r->model, &r->def) != HN_OK ||
            !apply_scheme_settings("run", words->settings, &r->def) ||
            !merge_run_options("run", r->model, &words->texts, &r->options, &r->step_count))
            return EXIT_USAGE;
    }
    return perform(r);
}

static const char DETAILS[] =
    "Requirements: energy, linear_momentum, angular_momentum, joints (m), constraints, "
    "equations.\n"
    "Results go to FILE.part and get their final name at the end; a stopped or failed run "
    "keeps the .part.\n"
    "A run that was stopped by a signal has a checkpoint too. --resume takes all settings from "
    "the stopped run;\n"
    "with --end or --steps it may go on for longer. The result is the one of a run that was "
    "never stopped, bit for bit.\n"
    "The ledger goes to the standard output, progress, notes and warnings to the error "
    "stream.\n"
    "Settings of --set: residual_tolerance, increment_tolerance (Newton's method); "
    "spectral_radius\n"
    "(generalized-alpha, 0 to 1); rho (energy-decaying, 1/3 to 1); step_tolerance "
    "(energy-momentum,\n"
    "ggl-energy-momentum, energy-decaying: inner steps by accuracy); order (2, 4, 6 or 8 of\n"
    "ggl-energy-momentum, rattle and variational, 5 or 8 of projected-rk); of projected-rk: "
    "absolute_tolerance,\n"
    "relative_tolerance, first_step (s), step_growth_max, fixed_steps, dense_output, "
    "projection\n"
    "(along-joints, quasi-orthogonal or orthogonal), impose_energy, impose_momentum, planar (true "
    "or "
    "false).\n";

static options_result read_words(int argument_count, char **arguments, run_words *words)
{
    const option_spec options[] = {
        {"--scheme", "NAME",
         "energy-momentum, variational, rattle, generalized-alpha, ggl-energy-momentum, convected, "
         "ggl-variational, ggl-classical, projected-rk or energy-decaying (default: the model's)",
         &words->texts.scheme},
        {"--set", "NAME=VALUE,...",
         "settings that only some schemes read, see below; may be repeated", words->settings},
        {"--reduction", "NAME", "reduced, nullspace or multipliers (default: the model's)",
         &words->texts.reduction},
        {"--step", "SECONDS", "step size (default: the model's)", &words->texts.step},
        {"--end", "SECONDS", "time to stop at (default: the model's)", &words->texts.end},
        {"--steps", "N", "number of steps instead of --end", &words->texts.steps},
        {"--output", "FILE",
         "result file (default: the model's name with .h5, in the current folder)", &words->output},
        {"--no-output", NULL, "write no result file", &words->no_output},
        {"--every", "N", "write every N-th step only", &words->every},
        {"--series", "LIST",
         "series or groups to write, such as outputs,bodies/position (default: all)",
         &words->series},
        {"--all-series", NULL, "also write what costs more than a step: ledger/hidden_projected",
         &words->all_series},
        {"--checkpoint", "SECONDS", "write restart data every so often, in FILE.checkpoint",
         &words->checkpoint},
        {"--resume", NULL, "go on with a stopped or killed run from its last checkpoint",
         &words->resume},
        {"--require", "WHAT=BOUND,...",
         "exit with 4 when an error of the ledger is above its bound", &words->require},
        {"--condition", NULL, "show the condition number of the iteration matrix at the end",
         &words->condition},
        {"--reverse-check", NULL,
         "then go all the way back, and tell how far from the start that ends", &words->reverse},
        {"--half-step-check", NULL,
         "then run once more in half steps, and tell how far apart both end", &words->half_steps},
        MODEL_PARAMETER_OPTION(words->source),
        {"--quiet", NULL, "print errors and warnings only", &words->quiet},
    };
    const command_usage usage = {
        "run",
        "MODEL",
        "Simulate a model file; write its results and show the ledger: what is promised, what was "
        "measured.",
        DETAILS,
        "holonom run models/six-body-linkage.yaml --scheme variational --step 0.005 --require "
        "joints=1e-12",
        options,
        sizeof options / sizeof options[0]};
    return options_parse(&usage, argument_count, arguments, &words->source.path);
}

/// What the words say of a run before its model is known. False after reporting what is wrong.
static bool begin_run(const run_words *words, run *r)
{
    *r = (run){.def = hn_simulation_def_default(),
               .every = 1,
               .all_series = words->all_series != NULL,
               .series = words->series,
               .condition = words->condition != NULL,
               .quiet = words->quiet != NULL,
               .reverse_check = words->reverse != NULL,
               .half_step_check = words->half_steps != NULL};
    const char *with_output = words->output != NULL       ? "--output"
                              : words->checkpoint != NULL ? "--checkpoint"
                              : words->resume != NULL     ? "--resume"
                              : words->series != NULL     ? "--series"
                              : words->all_series != NULL ? "--all-series"
                              : words->every != NULL      ? "--every"
                                                          : NULL;
    if (!apply_scheme_settings("run", words->settings, &r->def)) return false;
    if (words->no_output != NULL && with_output != NULL) {
        options_complain("run", "--no-output excludes %s", with_output);
        return false;
    }
    return (words->every == NULL ||
            option_positive_count("run", "--every", words->every, &r->every)) &&
           (words->checkpoint == NULL ||
            option_positive_number("run", "--checkpoint", words->checkpoint, &r->checkpoint)) &&
           (words->require == NULL || parse_requirements(words->require, &r->required));
}

int command_run(int argument_count, char **arguments)
{
    run_words words = {0};
    options_result parsed = read_words(argument_count, arguments, &words);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    run r;
    if (!begin_run(&words, &r)) return EXIT_USAGE;

    r.context = hn_context_create(NULL);
    if (r.context == NULL) return report_no_memory();
    hn_context_set_log(r.context, report_log_line, NULL);
    stop_signal_watch(r.context);
    hn_model *model = NULL;
    int code = model_source_load(r.context, "run", &words.source, &model);
    r.model = model;
    if (code == EXIT_FINE) code = run_model(&r, &words);
    else if (stop_signal_number() != 0) code = EXIT_SIGNAL + stop_signal_number();
    hn_results_destroy(r.results);
    hn_simulation_destroy(r.simulation);
    hn_model_destroy(model);
    stop_signal_forget();
    hn_context_destroy(r.context);
    free(r.output);
    free(r.start);
    return code;
}
