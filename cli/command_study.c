// SPDX-License-Identifier: MIT
// `holonom study`: run a model many times with other values of its parameters; merge what shards have found.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "command.h"
#include "options.h"
#include "output_file.h"
#include "progress.h"
#include "say.h"
#include "stop_signal.h"
#include "study_journal.h"
#include "study_workers.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MAX = 1024, SHOWN_MEMBERS = 5, LABEL_SIZE = 160, LABEL_WIDTH_MAX = 40 };

typedef struct study_run {
    hn_context *context;
    hn_study *study;
    hn_study_table *table;
    study_journal journal;
    const char *output;
    int shard, shards; ///< from 1
    bool *done;        ///< of the shard's members
    int64_t count;     ///< members of the shard
    int64_t next;      ///< place in the shard of the next to look at
    int64_t found, failed, begun_with;
    double *parameters;
    int failed_write; ///< errno of a row that could not be kept; 0: none
    progress bar;
    char label[LABEL_SIZE];
} study_run;

static int64_t member_at(const study_run *r, int64_t place)
{
    return place * r->shards + r->shard - 1;
}

// ---- rows -------------------------------------------------------------------------------------------

static bool keep_row(void *user, int64_t member, const double *outputs,
                     const hn_study_outcome *outcome)
{
    study_run *r = user;
    int64_t place = (member - r->shard + 1) / r->shards;
    if (member < 0 || place >= r->count || member_at(r, place) != member) return false;
    if (hn_study_parameters(r->study, member, r->parameters) != HN_OK ||
        hn_study_table_put(r->table, member, r->parameters, outputs, outcome) != HN_OK)
        return false;
    if (!r->done[place]) {
        r->done[place] = true;
        r->found++;
        r->failed += outcome->failed;
    }
    return true;
}

static void show_progress(study_run *r)
{
    double now = clock_seconds(), spent = now - r->bar.start;
    int64_t here = r->found - r->begun_with, left = r->count - r->found;
    char rest[48] = "";
    if (here > 0) {
        double seconds = spent / (double)here * (double)left;
        snprintf(rest, sizeof rest, seconds < 120.0 ? ", %.0f s left" : ", %.0f min left",
                 seconds < 120.0 ? seconds : seconds / 60.0);
    }
    snprintf(r->label, sizeof r->label, "  %.*s: %" PRId64 " of %" PRId64 ", %" PRId64 " failed%s",
             LABEL_WIDTH_MAX, hn_study_name(r->study), r->found, r->count, r->failed, rest);
    progress_update(&r->bar, (double)r->found / (double)r->count);
}

static bool row_done(void *user, int64_t member, const double *outputs,
                     const hn_study_outcome *outcome)
{
    study_run *r = user;
    if (!journal_append(&r->journal, member, outputs, outcome)) {
        r->failed_write = errno;
        return false;
    }
    bool kept = keep_row(r, member, outputs, outcome);
    show_progress(r);
    return kept;
}

static int64_t next_member(void *user)
{
    study_run *r = user;
    while (r->next < r->count && r->done[r->next]) r->next++;
    return r->next < r->count ? member_at(r, r->next++) : -1;
}

static bool is_stopped(void *user)
{
    (void)user;
    return stop_signal_number() != 0;
}

// ---- what is said at the end ------------------------------------------------------------------------

static void print_outputs(const hn_study_table *rows, const hn_study_view *view)
{
    table t = table_begin(6);
    const char *const heads[] = {"output", "unit", "least", "mean", "most", "members"};
    table_add_row(&t);
    for (int k = 0; k < 6; ++k) table_set(&t, k, "%s", heads[k]);
    for (int o = 0; o < view->output_count; ++o) {
        double least = HUGE_VAL, most = -HUGE_VAL, sum = 0.0;
        int64_t count = 0;
        for (int64_t i = 0; i < view->row_count; ++i) {
            double x = view->outputs[i * view->output_count + o];
            if (isnan(x)) continue; // a run that failed has none
            least = fmin(least, x), most = fmax(most, x), sum += x, count++;
        }
        table_add_row(&t);
        table_set(&t, 0, "%s", SHOWN(hn_study_table_output_name(rows, o)));
        table_set(&t, 1, "%s", hn_study_table_output_unit(rows, o));
        if (count > 0) {
            table_set(&t, 2, "%.6g", least);
            table_set(&t, 3, "%.6g", sum / (double)count);
            table_set(&t, 4, "%.6g", most);
        }
        table_set(&t, 5, "%" PRId64, count);
    }
    table_print(&t, 2, 2, stdout);
    table_end(&t);
}

/// Members that failed, or those whose run gave a warning, with their parameters and what was said.
static void print_members(const hn_study_table *rows, const hn_study_view *view, bool failed)
{
    int64_t count = 0, shown = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int64_t i = 0; i < view->row_count && shown < SHOWN_MEMBERS; ++i) {
            const char *message = hn_study_table_message(rows, i);
            if ((view->failed[i] != 0) != failed || (!failed && message[0] == '\0')) continue;
            count += pass == 0;
            if (pass == 0) continue;
            shown++;
            printf("    member %" PRId64 " (", view->members[i]);
            for (int p = 0; p < view->parameter_count; ++p)
                say(stdout, "%s%s = %.6g", p == 0 ? "" : ", ",
                    hn_study_table_parameter_name(rows, p),
                    view->parameters[i * view->parameter_count + p]);
            say(stdout, "): %s\n", message);
        }
        if (count == 0) return;
        if (pass == 0)
            printf("  %" PRId64 " of %" PRId64 " members %s:\n", count, view->row_count,
                   failed ? "failed" : "ran with warnings");
    }
    if (count > shown) printf("    and %" PRId64 " more\n", count - shown);
}

static void print_table(const hn_study_table *rows, const char *output, bool quiet)
{
    hn_study_view view = hn_study_table_view(rows);
    if (!quiet) {
        say(stdout, "  %s   %" PRId64 " of %" PRId64 " members\n", view.name, view.row_count,
            view.member_count);
        print_outputs(rows, &view);
    }
    print_members(rows, &view, true);
    print_members(rows, &view, false);
    if (!quiet) say(stdout, "  wrote %s        view it: holonom view %s\n", output, output);
}

// ---- a run ------------------------------------------------------------------------------------------

static int report_study(hn_context *context, hn_status status)
{
    say(stderr, "%s\n", hn_context_message(context));
    if (status == HN_OUT_OF_MEMORY) return EXIT_RUN_FAILED;
    return EXIT_MODEL;
}

// Is the shard there already, whole?
static bool is_complete(study_run *r)
{
    hn_study_table *there = NULL;
    hn_context *context = hn_context_create(NULL);
    bool complete = false;
    if (context != NULL && hn_study_table_read(context, r->output, &there) == HN_OK) {
        hn_study_view view = hn_study_table_view(there);
        complete = view.identity == hn_study_identity(r->study) && view.row_count == r->count;
        for (int64_t i = 0; i < view.row_count && complete; ++i)
            complete = view.members[i] == member_at(r, i);
        if (complete) {
            say(stdout, "  %s is complete already\n", r->output);
            hn_study_table_destroy(r->table);
            r->table = NULL;
        }
    }
    hn_study_table_destroy(there);
    hn_context_destroy(context);
    return complete;
}

static int work_off(study_run *r, int jobs, bool quiet)
{
    study_work work = {
        .study = r->study, .next = next_member, .done = row_done, .stopped = is_stopped, .user = r};
    r->begun_with = r->found;
    r->bar = progress_begin(r->label, quiet);
    bool complete = study_work_run(&work, jobs);
    progress_end(&r->bar);
    if (complete) return EXIT_FINE;
    if (r->failed_write != 0)
        say(stderr, "%s: cannot be written: %s\n", r->journal.path, strerror(r->failed_write));
    if (stop_signal_number() != 0 || r->failed_write != 0)
        say(stderr,
            "holonom study: stopped after %" PRId64 " of %" PRId64
            " members; go on with --resume\n",
            r->found, r->count);
    if (r->failed_write != 0) return EXIT_FILE;
    return stop_signal_number() != 0 ? EXIT_SIGNAL + stop_signal_number() : EXIT_RUN_FAILED;
}

static int run_shard(study_run *r, int jobs, bool resume, bool quiet)
{
    int64_t total = hn_study_member_count(r->study);
    r->count = (total - r->shard + r->shards) / r->shards;
    r->done = calloc((size_t)r->count + 1, sizeof *r->done);
    r->parameters = calloc((size_t)hn_study_parameter_count(r->study) + 1, sizeof(double));
    if (r->done == NULL || r->parameters == NULL ||
        hn_study_table_create(r->context, r->study, &r->table) != HN_OK)
        return EXIT_RUN_FAILED;
    if (resume && is_complete(r)) return EXIT_FINE;
    int code =
        journal_open(&r->journal, r->output, r->study, r->shard, r->shards, resume, keep_row, r);
    if (code == EXIT_FINE) code = work_off(r, jobs, quiet);
    if (code == EXIT_FINE && hn_study_table_write(r->table, r->output) != HN_OK) {
        say(stderr, "%s\n  what was found stays in %s; go on with --resume\n",
            hn_context_message(r->context), r->journal.path);
        code = EXIT_FILE;
    }
    journal_close(&r->journal, code == EXIT_FINE);
    if (code == EXIT_FINE) print_table(r->table, r->output, quiet);
    return code;
}

static bool parse_shard(const char *text, study_run *r)
{
    char rest;
    if (sscanf(text, "%d/%d%c", &r->shard, &r->shards, &rest) != 2 || r->shards < 1) {
        options_complain("study", "--shard: '%s' should look like 2/8: the second of eight", text);
        return false;
    }
    if (r->shard >= 1 && r->shard <= r->shards) return true;
    options_complain("study", "--shard: there is no shard %d of %d; they count from 1 to %d",
                     r->shard, r->shards, r->shards);
    return false;
}

// The study's name with .h5, of a shard with its number.
static char *default_output(const char *path, const study_run *r)
{
    char ending[48] = ".h5";
    if (r->shards > 1) snprintf(ending, sizeof ending, ".%d-of-%d.h5", r->shard, r->shards);
    return output_name(NULL, path, ending);
}

static int run_study(const char *path, const char *output, const char *shard, int jobs, bool resume,
                     bool quiet)
{
    study_run r = {.shard = 1, .shards = 1, .journal = {.file = -1}};
    if (shard != NULL && !parse_shard(shard, &r)) return EXIT_USAGE;
    char *named = output == NULL ? default_output(path, &r) : NULL;
    r.output = output != NULL ? output : named;
    r.context = hn_context_create(NULL);
    int code = r.output == NULL || r.context == NULL ? EXIT_RUN_FAILED : EXIT_FINE;
    if (code == EXIT_FINE && complain_output_is_input(r.output, path)) code = EXIT_FILE;
    if (code == EXIT_FINE) {
        stop_signal_watch(r.context);
        hn_status status = hn_study_load(r.context, path, &r.study);
        if (status != HN_OK) code = report_study(r.context, status);
    }
    for (int i = 0; code == EXIT_FINE && hn_study_source(r.study, i)[0] != '\0'; ++i)
        if (complain_output_is_input(r.output, hn_study_source(r.study, i))) code = EXIT_FILE;
    if (code == EXIT_FINE && r.shards > hn_study_member_count(r.study)) {
        options_complain("study", "--shard: %d shards of %" PRId64 " members", r.shards,
                         hn_study_member_count(r.study));
        code = EXIT_USAGE;
    }
    if (code == EXIT_FINE) code = run_shard(&r, jobs, resume, quiet);
    stop_signal_forget();
    hn_study_table_destroy(r.table);
    hn_study_destroy(r.study);
    hn_context_destroy(r.context);
    free(r.parameters);
    free(r.done);
    free(named);
    return code;
}

// ---- merging ----------------------------------------------------------------------------------------

static int merge_tables(const char *const *paths, int count, const char *output, bool quiet)
{
    for (int i = 0; i < count; ++i)
        if (complain_output_is_input(output, paths[i])) return EXIT_FILE;
    hn_context *context = hn_context_create(NULL);
    hn_study_table *whole = NULL;
    hn_status status = context == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (int i = 0; i < count && status == HN_OK; ++i) {
        hn_study_table *part = NULL;
        status = hn_study_table_read(context, paths[i], i == 0 ? &whole : &part);
        if (status == HN_OK && i > 0) status = hn_study_table_merge(whole, part);
        if (status == HN_INVALID_ARGUMENT) say(stderr, "%s: ", paths[i]);
        hn_study_table_destroy(part);
    }
    if (status == HN_OK) status = hn_study_table_write(whole, output);
    int code = EXIT_FINE;
    if (status != HN_OK) {
        say(stderr, "%s\n", hn_context_message(context));
        code = status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED : EXIT_FILE;
    } else {
        hn_study_view view = hn_study_table_view(whole);
        print_table(whole, output, quiet);
        if (view.row_count < view.member_count)
            say(stderr, "note: %" PRId64 " of %" PRId64 " members are in none of these files\n",
                view.member_count - view.row_count, view.member_count);
    }
    hn_study_table_destroy(whole);
    hn_context_destroy(context);
    return code;
}

// ---- the command ------------------------------------------------------------------------------------

static int run_words(const char **words, int count, const char *output, const char *jobs_text,
                     const char *shard, bool resume, bool quiet)
{
    int64_t jobs = sysconf(_SC_NPROCESSORS_ONLN);
    if (count == 0) {
        options_complain("study", "needs a STUDY");
        return EXIT_USAGE;
    }
    if (strcmp(words[0], "merge") == 0) {
        if (count < 2 || output == NULL) {
            options_complain("study", "merge needs files of shards and --output");
            return EXIT_USAGE;
        }
        if (shard != NULL || resume || jobs_text != NULL) {
            options_complain("study", "merge takes no --jobs, --shard or --resume");
            return EXIT_USAGE;
        }
        return merge_tables(words + 1, count - 1, output, quiet);
    }
    if (count > 1) {
        options_complain("study", "takes one STUDY; '%s' is one too many", words[1]);
        return EXIT_USAGE;
    }
    if (jobs_text != NULL && !option_positive_count("study", "--jobs", jobs_text, &jobs))
        return EXIT_USAGE;
    if (jobs > JOBS_MAX) {
        options_complain("study", "--jobs: at most %d", JOBS_MAX);
        return EXIT_USAGE;
    }
    return run_study(words[0], output, shard, jobs < 1 ? 1 : (int)jobs, resume, quiet);
}

int command_study(int argument_count, char **arguments)
{
    const char *output = NULL, *jobs = NULL, *shard = NULL, *resume = NULL, *quiet = NULL;
    const option_spec options[] = {
        {"--output", "FILE", "name of the table (default: the study's name with .h5)", &output},
        {"--jobs", "N", "processes that run members (default: one per processor)", &jobs},
        {"--shard", "K/N", "the K-th part of N, for as many machines; merge puts them together",
         &shard},
        {"--resume", NULL, "go on where a study of this name was stopped or killed", &resume},
        {"--quiet", NULL, "say nothing but failures", &quiet},
    };
    const command_usage usage = {
        "study",
        "STUDY",
        "Run a model many times with other values of its parameters, as a study file says; keep a "
        "few numbers of each run.",
        "holonom study merge FILE... -o FILE puts the tables of shards together.\n"
        "A member is the same in any shard and with any number of processes: the merged table is "
        "that of the whole, bit for bit. While it runs, what is found stands in FILE.journal.\n",
        "holonom study tolerances.yaml --jobs 4 --shard 1/2",
        options,
        5};
    const char **words = malloc(((size_t)argument_count + 1) * sizeof *words);
    int count = 0, code;
    if (words == NULL) return EXIT_RUN_FAILED;
    options_result parsed = options_parse_words(&usage, argument_count, arguments, words, &count);
    if (parsed == OPTIONS_FINE)
        code = run_words(words, count, output, jobs, shard, resume != NULL, quiet != NULL);
    else code = parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
    free(words);
    return code;
}
