// SPDX-License-Identifier: MIT
// `holonom rerun`: repeat a run from its result file, and compare every number.
#define _POSIX_C_SOURCE 200809L // getpid
#include "command.h"
#include "options.h"
#include "output_file.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "stop_signal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_NUMBERS = 1 << 16, // numbers of a series compared at once, about
    BATCH_STEPS = 1 << 20,   // steps at once between records
    NAME_SIZE = 240,
};

/// What was found so far.
typedef struct comparison {
    int64_t number_count;    ///< compared
    int64_t different_count; ///< in a bit or more
    double largest;          ///< difference, relative to the largest number of its series
    char place[NAME_SIZE];   ///< whose it is
    double time;             ///< s
} comparison;

typedef struct rerun {
    hn_context *context;
    hn_result_file *before, *after;
    hn_model *model;
    hn_simulation *simulation;
    hn_results *results;
    const char *output; ///< name of the new result
    bool quiet;
} rerun;

static int complain(const rerun *r, hn_status status)
{
    say(stderr, "%s\n", hn_context_message(r->context));
    if (status == HN_CANCELLED) return exit_code_of(status);
    if (status == HN_FILE_ACCESS || status == HN_FILE_FORMAT) return EXIT_FILE;
    return EXIT_RUN_FAILED;
}

// ---- the run again --------------------------------------------------------------------------------

/// Steps of the records, as the file has them; owned by the caller.
static hn_status read_steps(rerun *r, int64_t count, double **steps)
{
    int series = hn_result_file_find_series(r->before, "step");
    *steps = malloc((size_t)(count > 0 ? count : 1) * sizeof **steps);
    if (*steps == NULL) return HN_OUT_OF_MEMORY;
    return series < 0 ? HN_FILE_FORMAT
                      : hn_result_file_read(r->before, series, 0, count, 1, *steps);
}

/// Step to each recorded step and record it again.
static hn_status repeat_records(rerun *r, const double *steps, int64_t count)
{
    hn_status status = HN_OK;
    progress bar = progress_begin("  rerun", r->quiet);
    for (int64_t i = 0; i < count && status == HN_OK; ++i) {
        int64_t left = (int64_t)steps[i] - hn_simulation_step_count(r->simulation);
        while (left > 0 && status == HN_OK) {
            int64_t batch = left < BATCH_STEPS ? left : BATCH_STEPS;
            status = hn_simulation_step(r->simulation, batch);
            left -= batch;
        }
        if (status == HN_OK) status = hn_results_append(r->results);
        progress_update(&bar, (double)(i + 1) / (double)count);
    }
    progress_end(&bar);
    return status;
}

static int repeat(rerun *r)
{
    const hn_result_info *info = hn_result_file_info(r->before);
    hn_status status = hn_model_parse(r->context, info->model_text, info->model_text_length,
                                      info->model_name, &r->model);
    if (status == HN_CANCELLED) return complain(r, status);
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(r->context));
        return EXIT_MODEL;
    }
    int code = report_create_simulation(r->model, &info->settings, &r->simulation);
    if (code != EXIT_FINE) return code;
    status = hn_results_create_for(r->model, r->simulation, r->output, &info->run, &r->results);
    double *steps = NULL;
    if (status == HN_OK) status = read_steps(r, info->record_count, &steps);
    if (status == HN_OK) status = repeat_records(r, steps, info->record_count);
    if (status == HN_OK) status = hn_results_finish(r->results);
    free(steps);
    return status == HN_OK ? EXIT_FINE : complain(r, status);
}

// ---- comparing ------------------------------------------------------------------------------------

/// Compare two numbers bit for bit; keep the largest difference of the series, `*worst`, and its place.
static bool differ(double one, double other, double *worst, bool *worse)
{
    *worse = false;
    if (memcmp(&one, &other, sizeof one) == 0) return false;
    double size = fabs(one - other);
    *worse = !(size <= *worst);
    if (*worse) *worst = isnan(size) ? HUGE_VAL : size;
    return true;
}

static int compare_series(rerun *r, int index, double *numbers, comparison *result)
{
    const hn_result_series *series = hn_result_file_series(r->before, index);
    int other = hn_result_file_find_series(r->after, series->name);
    if (other < 0 || hn_result_file_series(r->after, other)->width != series->width) {
        say(stderr, "%s: %s is not what this version writes: it cannot be compared\n", r->output,
            series->name);
        return EXIT_FILE;
    }
    int64_t count = hn_result_file_info(r->before)->record_count;
    int64_t block = BLOCK_NUMBERS / (int64_t)series->width;
    if (block < 1) block = 1;
    double scale = 0.0, worst = -1.0, *again = numbers + (size_t)block * series->width;
    int64_t record = 0;
    hn_result_column column = {.series = index};
    for (int64_t first = 0; first < count; first += block) {
        if (stop_signal_number() != 0) {
            fputs("stopped while results were compared\n", stderr);
            return EXIT_SIGNAL + stop_signal_number();
        }
        int64_t part = count - first < block ? count - first : block;
        hn_status status = hn_result_file_read(r->before, index, first, part, 1, numbers);
        if (status == HN_OK) status = hn_result_file_read(r->after, other, first, part, 1, again);
        if (status != HN_OK) return complain(r, status);
        for (size_t i = 0; i < (size_t)part * series->width; ++i) {
            bool worse;
            result->number_count += 1;
            scale = fmax(scale, fabs(numbers[i]));
            if (!differ(numbers[i], again[i], &worst, &worse)) continue;
            result->different_count += 1;
            if (!worse) continue;
            column.component = i % series->width;
            record = first + (int64_t)(i / series->width);
        }
    }
    double relative = scale > 0.0 ? worst / scale : worst;
    if (worst < 0.0 || relative < result->largest) return EXIT_FINE;
    result->largest = relative;
    snprintf(result->place, sizeof result->place, "%s",
             hn_result_file_column_name(r->before, column));
    int time = hn_result_file_find_series(r->before, "time");
    hn_status status = hn_result_file_read(r->before, time, record, 1, 1, &result->time);
    return status == HN_OK ? EXIT_FINE : complain(r, status);
}

/// The ledger at the end, of files that have one and are complete.
static void compare_ledgers(const hn_result_info *before, const hn_result_info *after,
                            comparison *result)
{
    if (!before->complete || !before->has_ledger || !after->has_ledger) return;
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        const hn_ledger_entry *one = &before->ledger.entry[i], *other = &after->ledger.entry[i];
        double worst = -1.0;
        bool worse;
        result->number_count += 2;
        bool error = differ(one->error, other->error, &worst, &worse);
        bool drift = differ(one->drift, other->drift, &worst, &worse);
        result->different_count += (int64_t)error + (int64_t)drift;
        if (worst < 0.0 || worst < result->largest) continue;
        result->largest = worst;
        result->time = 0.0;
        snprintf(result->place, sizeof result->place, "ledger line %s",
                 hn_promise_name((hn_promise)i));
    }
}

static int compare(rerun *r, comparison *result)
{
    hn_status status = hn_result_file_open(r->context, r->output, &r->after);
    if (status != HN_OK) return complain(r, status);
    size_t widest = 1;
    int count = hn_result_file_series_count(r->before), code = EXIT_FINE;
    for (int i = 0; i < count; ++i) {
        size_t width = hn_result_file_series(r->before, i)->width;
        if (width > widest) widest = width;
    }
    if (widest < BLOCK_NUMBERS) widest = BLOCK_NUMBERS;
    double *numbers = malloc(2 * widest * sizeof *numbers);
    if (numbers == NULL) return EXIT_RUN_FAILED;
    for (int i = 0; i < count && code == EXIT_FINE; ++i)
        code = compare_series(r, i, numbers, result);
    compare_ledgers(hn_result_file_info(r->before), hn_result_file_info(r->after), result);
    free(numbers);
    return code;
}

static int report(const rerun *r, const comparison *result, const char *require, double bound)
{
    const hn_result_info *info = hn_result_file_info(r->before);
    bool identical = result->different_count == 0, met = identical || result->largest <= bound;
    if (!r->quiet || !met) {
        FILE *out = met ? stdout : stderr;
        say(out, "  %s: %" PRId64 " records, %" PRId64 " numbers compared   ", info->model_name,
            info->record_count, result->number_count);
        if (identical) fputs("identical bit for bit\n", out);
        else
            say(out,
                "%" PRId64 " differ\n  largest difference %.2g of its series, %s at t = %.9g s\n",
                result->different_count, result->largest, result->place, result->time);
    }
    if (!identical && strcmp(info->holonom_version, hn_version()) != 0)
        say(stderr, "note: the result is of holonom %s, this is %s\n", info->holonom_version,
            hn_version());
    if (!met && require != NULL)
        say(stderr, "require: NOT MET: %.2e is above %.2e\n", result->largest, bound);
    return met ? EXIT_FINE : EXIT_REQUIRE_FAILED;
}

// ---- the command ----------------------------------------------------------------------------------

static int rerun_file(rerun *r, const char *path, const char *require, double bound)
{
    comparison result = {0};
    hn_status status = hn_result_file_open(r->context, path, &r->before);
    if (status != HN_OK) return complain(r, status);
    if (hn_result_file_info(r->before)->model_text == NULL) {
        fprintf(
            stderr,
            "%s: its model was built by calls, not read from a file: it cannot be repeated from "
            "here\n",
            path);
        return EXIT_FILE;
    }
    hn_result_kind kind = hn_result_file_info(r->before)->run.kind;
    if (kind != HN_RESULT_RUN) {
        say(stderr, "%s: it is no run: 'holonom %s' of its model repeats it\n", path,
            hn_result_kind_name(kind));
        return EXIT_FILE;
    }
    if (complain_output_is_input(r->output, path)) return EXIT_FILE;
    int code = repeat(r);
    if (code == EXIT_FINE) code = compare(r, &result);
    return code == EXIT_FINE ? report(r, &result, require, bound) : code;
}

/// "folder/run.h5" to a name of its own in the current folder; owned by the caller.
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    size_t size = strlen(base) + sizeof ".18446744073709551615.new";
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s.%ld.new", base, (long)getpid());
    return name;
}

int command_rerun(int argument_count, char **arguments)
{
    const char *path = NULL, *output = NULL, *require = NULL, *quiet = NULL;
    const option_spec options[] = {
        {"--output", "FILE", "keep the new result under this name (default: it is removed)",
         &output},
        {"--require", "BOUND", "exit with 4 only when a difference is above it (default: 0)",
         &require},
        {"--quiet", NULL, "print errors and warnings only", &quiet},
    };
    const command_usage usage = {
        "rerun",
        "RESULT",
        "Repeat a run from its result file, which holds the model and every setting, and compare "
        "all numbers.",
        "The same version on the same machine repeats a run bit for bit. Otherwise the largest "
        "difference is shown,\n"
        "relative to the largest number of its series. The file may be the .part of a stopped "
        "run.\n",
        "holonom rerun six-body-linkage.h5",
        options,
        (int)(sizeof options / sizeof options[0])};
    options_result parsed = options_parse(&usage, argument_count, arguments, &path);
    if (parsed != OPTIONS_FINE) return parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    double bound = 0.0;
    if (require != NULL && !option_positive_number("rerun", "--require", require, &bound))
        return EXIT_USAGE;

    rerun r = {.context = hn_context_create(NULL), .quiet = quiet != NULL};
    char *temporary = temporary_name(path);
    r.output = output != NULL ? output : temporary;
    int code = EXIT_RUN_FAILED;
    if (r.context != NULL && temporary != NULL) {
        stop_signal_watch(r.context);
        if (!r.quiet) hn_context_set_log(r.context, report_log_line, NULL);
        code = rerun_file(&r, path, require, bound);
    }
    bool written = r.results != NULL;
    hn_result_file_close(r.after);
    hn_result_file_close(r.before);
    hn_results_destroy(r.results);
    hn_simulation_destroy(r.simulation);
    hn_model_destroy(r.model);
    stop_signal_forget();
    hn_context_destroy(r.context);
    if (output == NULL && written) {
        // under its own name when it is complete, otherwise as .part
        size_t size = strlen(temporary) + sizeof ".part";
        char *part = malloc(size);
        if (part != NULL) snprintf(part, size, "%s.part", temporary);
        if (part != NULL) remove(part);
        free(part);
        remove(temporary);
    }
    free(temporary);
    return code;
}
