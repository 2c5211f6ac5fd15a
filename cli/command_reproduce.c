// SPDX-License-Identifier: MIT
// `holonom reproduce`: what five papers print, computed anew, and a report page for each.
#define _POSIX_C_SOURCE 200809L
#include "command.h"
#include "options.h"
#include "paper_report.h"
#include "paper_run.h"
#include "progress.h"
#include "say.h"
#include "table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAPERS_MAX = 32, PATH_SIZE = 1024, PARENTS = 4 };

typedef struct reproduction {
    paper papers[PAPERS_MAX];
    char pages[PAPERS_MAX][80]; ///< file names
    int count;
    char papers_folder[PATH_SIZE], models_folder[PATH_SIZE], data_folder[PATH_SIZE + 8];
    const char *output;
    paper_job *jobs;
    int job_count;
} reproduction;

static bool is_folder(const char *path)
{
    struct stat information;
    return stat(path, &information) == 0 && S_ISDIR(information.st_mode);
}

// ---- where the papers are -----------------------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/// Names of the folders with a rows.yaml, in order; the caller frees each of them.
static int list_papers(const char *folder, char *names[PAPERS_MAX])
{
    int count = 0;
    DIR *list = opendir(folder);
    for (struct dirent *item; list != NULL && (item = readdir(list)) != NULL;) {
        char path[PATH_SIZE + 300];
        snprintf(path, sizeof path, "%s/%s/rows.yaml", folder, item->d_name);
        if (item->d_name[0] == '.' || access(path, R_OK) != 0 || count == PAPERS_MAX) continue;
        names[count] = strdup(item->d_name);
        if (names[count] != NULL) ++count;
    }
    if (list != NULL) closedir(list);
    qsort(names, (size_t)count, sizeof *names, compare_names);
    return count;
}

/// Is there a paper in this folder?
static bool has_papers(const char *folder)
{
    char *names[PAPERS_MAX];
    const int count = list_papers(folder, names);
    for (int i = 0; i < count; ++i) free(names[i]);
    return count > 0;
}

/// "papers" here, above the tool (in a source tree) or in its share folder (installed).
static bool find_papers(char folder[PATH_SIZE])
{
    char tool[PATH_SIZE / 2];
    snprintf(folder, PATH_SIZE, "papers");
    if (has_papers(folder)) return true;
    const ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
    if (length <= 0) return false;
    tool[length] = '\0';
    for (int i = 0; i < PARENTS; ++i) {
        char *slash = strrchr(tool, '/');
        if (slash == NULL) return false;
        *slash = '\0';
        static const char *const PLACES[] = {"papers", "share/holonom/papers"};
        for (int k = 0; k < 2; ++k) {
            snprintf(folder, PATH_SIZE, "%s/%s", tool, PLACES[k]);
            if (has_papers(folder)) return true;
        }
    }
    return false;
}

static bool read_one(reproduction *r, const char *path)
{
    if (r->count == PAPERS_MAX) {
        options_complain("reproduce", "at most %d papers at a time", PAPERS_MAX);
        return false;
    }
    paper *p = &r->papers[r->count];
    r->count += 1; // cleared in any case
    if (!paper_read(path, p)) return false;
    char *page = r->pages[r->count - 1];
    snprintf(page, sizeof r->pages[0], "%s.html", p->short_name);
    for (char *c = page; *c != '\0'; ++c) *c = (char)tolower((unsigned char)*c);
    for (int i = 0; i + 1 < r->count; ++i)
        if (strcmp(r->pages[i], page) == 0) {
            say(stderr, "%s: there are two papers '%s'\n", path, p->short_name);
            return false;
        }
    return true;
}

static int read_papers(reproduction *r, const char **words, int word_count)
{
    char *names[PAPERS_MAX];
    char path[PATH_SIZE + 300];
    const int listed = list_papers(r->papers_folder, names);
    int code = EXIT_FINE;
    bool used[PAPERS_MAX] = {false};
    for (int w = 0; code == EXIT_FINE && w < word_count; ++w) {
        const size_t length = strlen(words[w]);
        if (length > 5 && strcmp(words[w] + length - 5, ".yaml") == 0) {
            if (!read_one(r, words[w])) code = EXIT_FILE;
            continue;
        }
        // by short name or by the name of its folder
        bool found = false;
        for (int i = 0; !found && i < listed; ++i) {
            paper peek = {0};
            snprintf(path, sizeof path, "%s/%s/rows.yaml", r->papers_folder, names[i]);
            found = strcmp(words[w], names[i]) == 0;
            if (!found && paper_read(path, &peek))
                found = strcasecmp(words[w], peek.short_name) == 0;
            paper_clear(&peek);
            if (found && !used[i]) {
                used[i] = true;
                if (!read_one(r, path)) code = EXIT_FILE;
            }
        }
        if (!found) {
            options_complain("reproduce", "there is no paper '%s' in %s", words[w],
                             r->papers_folder);
            code = EXIT_USAGE;
        }
    }
    for (int i = 0; code == EXIT_FINE && word_count == 0 && i < listed; ++i) {
        snprintf(path, sizeof path, "%s/%s/rows.yaml", r->papers_folder, names[i]);
        if (!read_one(r, path)) code = EXIT_FILE;
    }
    if (code == EXIT_FINE && r->count == 0) {
        say(stderr, "holonom reproduce: no rows.yaml below %s\n", r->papers_folder);
        code = EXIT_FILE;
    }
    for (int i = 0; i < listed; ++i) free(names[i]);
    return code;
}

// ---- jobs ---------------------------------------------------------------------------------------------

static bool list_jobs(reproduction *r)
{
    for (int i = 0; i < r->count; ++i)
        for (int k = 0; k < r->papers[i].run_count; ++k)
            r->job_count += r->papers[i].runs[k].step_count;
    r->jobs = calloc((size_t)r->job_count + 1, sizeof *r->jobs);
    if (r->jobs == NULL) return false;
    int next = 0;
    for (int i = 0; i < r->count; ++i)
        for (int k = 0; k < r->papers[i].run_count; ++k)
            for (int m = 0; m < r->papers[i].runs[k].step_count; ++m) {
                paper_job *job = &r->jobs[next++];
                const size_t size = PATH_SIZE + 200;
                *job = (paper_job){.paper = &r->papers[i],
                                   .run = &r->papers[i].runs[k],
                                   .member = m,
                                   .result_path = malloc(size)};
                if (job->result_path == NULL) return false;
                snprintf(job->result_path, size, "%s/%s-%s-%d.h5", r->data_folder,
                         r->papers[i].short_name, job->run->name.text, m);
            }
    return true;
}

static bool make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path))) return true;
    say(stderr, "%s: the folder cannot be made: %s\n", path, strerror(errno));
    return false;
}

static void remove_data(reproduction *r)
{
    for (int i = 0; i < r->job_count; ++i)
        if (r->jobs[i].result_path != NULL) unlink(r->jobs[i].result_path);
    rmdir(r->data_folder);
}

// ---- pages --------------------------------------------------------------------------------------------

static bool write_pages(reproduction *r, FILE *rows, paper_index_entry *index, const char **reason)
{
    int first = 0;
    for (int i = 0; i < r->count; ++i) {
        char path[PATH_SIZE + 100];
        paper_values values = {
            .context = hn_context_create(NULL), .p = &r->papers[i], .jobs = r->jobs + first};
        *reason = "there is no memory";
        if (values.context == NULL) return false;
        for (int k = 0; k < r->papers[i].run_count; ++k) first += r->papers[i].runs[k].step_count;
        index[i] = (paper_index_entry){.p = &r->papers[i], .page = r->pages[i]};
        snprintf(path, sizeof path, "%s/%s", r->output, r->pages[i]);
        bool good = paper_write_page(&values, path, rows, &index[i].summary, reason);
        paper_values_clear(&values);
        hn_context_destroy(values.context);
        if (!good) return false;
    }
    return true;
}

static void print_summary(const reproduction *r, const paper_index_entry *index, double seconds)
{
    table t = table_begin(VERDICT_COUNT + 2);
    table_add_row(&t);
    table_set(&t, 0, "paper");
    for (int k = 0; k < VERDICT_COUNT; ++k)
        table_set(&t, k + 1, "%s", paper_verdict_word((paper_verdict)k));
    table_set(&t, VERDICT_COUNT + 1, "figures");
    for (int i = 0; i < r->count; ++i) {
        table_add_row(&t);
        table_set(&t, 0, "%s", r->papers[i].short_name);
        for (int k = 0; k < VERDICT_COUNT; ++k)
            table_set(&t, k + 1, "%d", index[i].summary.counts[k]);
        table_set(&t, VERDICT_COUNT + 1, "%d", index[i].summary.figures);
    }
    table_print(&t, 2, 1, stdout);
    table_end(&t);
    printf("  %d simulations   ", r->job_count);
    print_duration(seconds, stdout);
    say(stdout, "\n  wrote %s/index.html\n", r->output);
}

/// Whatever failed is said; open rows are listed, with their reason, but are no failure.
static int judge_all(const reproduction *r, const paper_index_entry *index)
{
    int failed = 0;
    for (int i = 0; i < r->count; ++i) {
        failed += index[i].summary.counts[VERDICT_NOT_CONFIRMED] + index[i].summary.broken;
        for (int e = 0; e < r->papers[i].entry_count; ++e)
            for (int k = 0; k < r->papers[i].entries[e].row_count; ++k) {
                const paper_row *row = &r->papers[i].entries[e].rows[k];
                if (row->criterion == PAPER_OPEN)
                    say(stdout, "  open: %s, %s: %s (%s)\n", r->papers[i].short_name,
                        r->papers[i].entries[e].name.text, row->says, row->reason);
            }
        if (index[i].summary.broken > 0)
            say(stderr, "  %s: %d figures could not be drawn\n", r->papers[i].short_name,
                index[i].summary.broken);
    }
    return failed == 0 ? EXIT_FINE : EXIT_REQUIRE_FAILED;
}

static int reproduce(reproduction *r, int64_t processes, bool keep)
{
    char path[PATH_SIZE + 100];
    const double start = clock_seconds();
    const char *reason = "";
    snprintf(r->data_folder, sizeof r->data_folder, "%.1000s/data", r->output);
    if (!make_folder(r->output) || !make_folder(r->data_folder)) return EXIT_FILE;
    if (!list_jobs(r)) return EXIT_RUN_FAILED;
    if (!paper_jobs_make(r->jobs, r->job_count, (int)processes, r->models_folder, false)) {
        fputs("holonom reproduce: the processes could not be started\n", stderr);
        return EXIT_RUN_FAILED;
    }
    paper_index_entry index[PAPERS_MAX];
    snprintf(path, sizeof path, "%s/rows.csv", r->output);
    FILE *rows = fopen(path, "w");
    if (rows == NULL) {
        say(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
        return EXIT_FILE;
    }
    fputs("paper,entry,says,printed,here,ratio,unit,verdict,reason\n", rows);
    bool good = write_pages(r, rows, index, &reason);
    good = fclose(rows) == 0 && good;
    const double seconds = clock_seconds() - start;
    snprintf(path, sizeof path, "%s/index.html", r->output);
    good = good && paper_write_index(index, r->count, seconds, path, &reason);
    if (!keep) remove_data(r);
    if (!good) {
        say(stderr, "%s: cannot be written: %s\n", r->output, reason);
        return EXIT_FILE;
    }
    print_summary(r, index, seconds);
    return judge_all(r, index);
}

static int reproduce_words(reproduction *r, const char **words, int word_count, const char *papers,
                           int64_t processes, bool keep)
{
    if (papers != NULL) {
        snprintf(r->papers_folder, sizeof r->papers_folder, "%s", papers);
        if (!is_folder(papers)) {
            say(stderr, "%s: is not a folder\n", papers);
            return EXIT_FILE;
        }
    } else if (!find_papers(r->papers_folder)) {
        options_complain("reproduce", "the folder 'papers' was not found; say --papers FOLDER");
        return EXIT_FILE;
    }
    snprintf(r->models_folder, sizeof r->models_folder, "%.1000s/../models", r->papers_folder);
    int code = read_papers(r, words, word_count);
    if (code == EXIT_FINE) code = reproduce(r, processes, keep);
    for (int i = 0; i < r->job_count && r->jobs != NULL; ++i) free(r->jobs[i].result_path);
    free(r->jobs);
    for (int i = 0; i < r->count; ++i) paper_clear(&r->papers[i]);
    return code;
}

int command_reproduce(int argument_count, char **arguments)
{
    const char *output = NULL, *papers = NULL, *processes_text = NULL, *keep = NULL;
    const option_spec options[] = {
        {"--output", "FOLDER", "where the report goes (default: reproduction)", &output},
        {"--papers", "FOLDER", "where the papers' rows are; models are beside it", &papers},
        {"--processes", "N", "simulations at a time (default: as many as processors)",
         &processes_text},
        {"--keep", NULL, "keep the result files of the simulations", &keep},
    };
    const command_usage usage = {
        "reproduce",
        "[PAPER...]",
        "Run the examples of the papers; set what they print and say beside what is found.",
        "Papers are LMO, BL, NK, KBS, TAN, all of them without a word, or a file of rows "
        "(rows.yaml).\n"
        "The exit code is 4 when a row is not confirmed; rows that are open are listed.\n",
        "holonom reproduce KBS -o report",
        options,
        4};
    int64_t processes =
        sysconf(_SC_NPROCESSORS_ONLN) > 0 ? (int64_t)sysconf(_SC_NPROCESSORS_ONLN) : 1;
    const char **words = malloc(((size_t)argument_count + 1) * sizeof *words);
    reproduction *r = calloc(1, sizeof *r);
    int word_count = 0, code = EXIT_RUN_FAILED;
    if (words != NULL && r != NULL) {
        options_result parsed =
            options_parse_words(&usage, argument_count, arguments, words, &word_count);
        code = parsed == OPTIONS_HELP ? EXIT_FINE : EXIT_USAGE;
        r->output = output == NULL ? "reproduction" : output;
        if (parsed == OPTIONS_FINE &&
            (processes_text == NULL ||
             option_positive_count("reproduce", "--processes", processes_text, &processes)))
            code = reproduce_words(r, words, word_count, papers, processes, keep != NULL);
    }
    free(r);
    free(words);
    return code;
}
