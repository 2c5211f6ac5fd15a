// SPDX-License-Identifier: MIT
// Running what a paper asks for: one process for each simulation, its results in a file, its counts through a pipe.
#define _POSIX_C_SOURCE 200809L
#include "paper_run.h"

#include "progress.h"
#include "run_options.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, TIMED_REPEATS = 20 };

static const double TIMED_SECONDS = 0.4; // a timed run is repeated until this much CPU time is used

// ---- one simulation, in a process of its own ----------------------------------------------------------

static void note_counts(hn_simulation *simulation, paper_outcome *outcome)
{
    const hn_structure structure = hn_simulation_structure(simulation);
    const hn_statistics statistics = hn_simulation_statistics(simulation);
    const hn_adaptive_statistics own = hn_simulation_adaptive_statistics(simulation);
    double *numbers = outcome->numbers;
    numbers[NUMBER_STEP] = hn_simulation_step_size(simulation);
    numbers[NUMBER_STEPS] = (double)hn_simulation_step_count(simulation);
    numbers[NUMBER_END] = hn_simulation_time(simulation);
    numbers[NUMBER_UNKNOWNS] = structure.unknown_count;
    numbers[NUMBER_COORDINATES] = structure.coordinate_count;
    numbers[NUMBER_CONSTRAINTS] = structure.constraint_count;
    numbers[NUMBER_RANK] = structure.constraint_rank;
    numbers[NUMBER_FREEDOMS] = structure.degrees_of_freedom;
    numbers[NUMBER_ITERATIONS] = (double)statistics.newton_iteration_count;
    numbers[NUMBER_ITERATIONS_MAX] = statistics.newton_iteration_max;
    numbers[NUMBER_HALVED] = (double)statistics.halved_step_count;
    numbers[NUMBER_ACCEPTED] = (double)own.accepted_step_count;
    numbers[NUMBER_REJECTED] = (double)own.rejected_step_count;
    numbers[NUMBER_PROJECTIONS] = (double)own.projection_count;
    numbers[NUMBER_PROJECTION_ITERATIONS] = (double)own.projection_iteration_count;
    numbers[NUMBER_PROJECTION_ITERATIONS_MAX] = own.projection_iteration_max;
    numbers[NUMBER_ACCELERATIONS] = (double)own.acceleration_count;
    numbers[NUMBER_JACOBIANS] = (double)own.jacobian_count;
    numbers[NUMBER_SECOND_DERIVATIVES] = (double)own.second_derivative_count;
    numbers[NUMBER_THIRD_DERIVATIVES] = (double)own.third_derivative_count;
    numbers[NUMBER_INVARIANTS] = (double)own.invariant_count;
}

static hn_status make_steps(const paper_run *run, hn_simulation *simulation, hn_results *results,
                            int64_t count, paper_outcome *outcome)
{
    hn_status status = results == NULL ? HN_OK : hn_results_append(results);
    const clock_t begin = clock();
    for (int64_t done = 0; status == HN_OK && done < count;) {
        const int64_t next = count - done < run->every ? count - done : run->every;
        status = hn_simulation_step(simulation, next);
        done += next;
        if (status == HN_OK && results != NULL) status = hn_results_append(results);
    }
    const double seconds = (double)(clock() - begin) / (double)CLOCKS_PER_SEC;
    double *best = &outcome->numbers[NUMBER_SECONDS];
    if (*best == 0.0 || seconds < *best) *best = seconds;
    const bool stopped = status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM;
    if (stopped && run->may_fail) {
        outcome->numbers[NUMBER_FAILED] = 1.0;
        outcome->numbers[NUMBER_FAILED_AT] = hn_simulation_time(simulation);
        status = HN_OK;
    }
    return status;
}

static hn_status simulate(const paper_job *job, hn_context *context, const hn_model *model,
                          paper_outcome *outcome)
{
    const paper_run *run = job->run;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_simulation_def def = run->def;
    int64_t count = 0;
    def.step_size = run->steps[job->member];
    if (run->alone || run->condition) def.ledger = false;
    if (!count_steps(run->options.end, def.step_size, &count)) {
        snprintf(outcome->message, sizeof outcome->message, "too many steps");
        return HN_INVALID_ARGUMENT;
    }
    hn_status status = hn_simulation_create(model, &def, &simulation);
    hn_results_def written = hn_results_def_default();
    written.all_series = true;
    if (status == HN_OK && !run->alone)
        status = hn_results_create_for(model, simulation, job->result_path, &written, &results);
    if (status == HN_OK) status = make_steps(run, simulation, results, count, outcome);
    if (status == HN_OK && run->condition)
        status = hn_simulation_condition(simulation, &outcome->numbers[NUMBER_CONDITION]);
    if (status == HN_OK) {
        note_counts(simulation, outcome);
        if (results != NULL) status = hn_results_finish(results);
    }
    if (status != HN_OK)
        snprintf(outcome->message, sizeof outcome->message, "%.300s", hn_context_message(context));
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    return status;
}

static void make_job(const paper_job *job, const char *models, paper_outcome *outcome)
{
    char path[1024];
    hn_model *model = NULL;
    hn_context *context = hn_context_create(NULL);
    *outcome = (paper_outcome){.made = false, .message = "there is no memory"};
    if (context == NULL) return;
    snprintf(path, sizeof path, "%s/%s.yaml", models, job->run->model.text);
    hn_status status = hn_model_load(context, path, &model);
    if (status != HN_OK)
        snprintf(outcome->message, sizeof outcome->message, "%.300s", hn_context_message(context));
    // a timed run counts by its fastest repeat
    for (int i = 0; status == HN_OK && i < TIMED_REPEATS; ++i) {
        status = simulate(job, context, model, outcome);
        if (!job->run->alone || outcome->numbers[NUMBER_SECONDS] * (i + 1) > TIMED_SECONDS) break;
    }
    outcome->made = status == HN_OK;
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// ---- processes --------------------------------------------------------------------------------------

typedef struct worker {
    pid_t process; ///< 0: free
    int pipe;
    paper_job *job;
} worker;

static bool start_worker(worker *w, paper_job *job, const char *models)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fflush(NULL); // nothing is written twice
    const pid_t process = fork();
    if (process == 0) {
        paper_outcome outcome;
        close(ends[0]);
        make_job(job, models, &outcome);
        // shorter than a pipe holds, so it goes at once or not at all
        const bool sent = write(ends[1], &outcome, sizeof outcome) == (ssize_t)sizeof outcome;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    *w = (worker){process, ends[0], job};
    return true;
}

static void finish_worker(worker *w)
{
    paper_outcome *outcome = &w->job->outcome;
    size_t have = 0;
    while (have < sizeof *outcome) {
        const ssize_t more = read(w->pipe, (char *)outcome + have, sizeof *outcome - have);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        have += (size_t)more;
    }
    int how = 0;
    close(w->pipe);
    while (waitpid(w->process, &how, 0) < 0 && errno == EINTR) continue;
    if (have != sizeof *outcome) {
        *outcome = (paper_outcome){.made = false};
        snprintf(outcome->message, sizeof outcome->message, "the process ended early (%s %d)",
                 WIFSIGNALED(how) ? "signal" : "exit code",
                 WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    }
    w->process = 0;
}

/// Wait until one of the workers has something to say; returns its index.
static int wait_for_one(const worker *workers, int count)
{
    struct pollfd polls[PROCESSES_MAX];
    for (int i = 0; i < count; ++i)
        polls[i] =
            (struct pollfd){.fd = workers[i].process > 0 ? workers[i].pipe : -1, .events = POLLIN};
    while (poll(polls, (nfds_t)count, -1) < 0 && errno == EINTR) continue;
    for (int i = 0; i < count; ++i)
        if (polls[i].fd >= 0 && polls[i].revents != 0) return i;
    return -1;
}

static bool make_group(paper_job *jobs, int job_count, bool alone, int process_count,
                       const char *models, progress *shown, int *done)
{
    worker workers[PROCESSES_MAX] = {{0}};
    int next = 0, running = 0;
    bool good = true;
    for (;;) {
        while (next < job_count && jobs[next].run->alone != alone) ++next;
        int place = 0;
        while (place < process_count && workers[place].process != 0) ++place;
        if (good && next < job_count && place < process_count) {
            good = start_worker(&workers[place], &jobs[next++], models);
            running += good ? 1 : 0;
            continue;
        }
        if (running == 0) return good;
        const int finished = wait_for_one(workers, process_count);
        if (finished < 0) return false;
        finish_worker(&workers[finished]);
        --running;
        ++*done;
        progress_update(shown, (double)*done / (double)job_count);
    }
}

bool paper_jobs_make(paper_job *jobs, int job_count, int process_count, const char *models,
                     bool quiet)
{
    int done = 0;
    progress shown = progress_begin("simulations", quiet);
    if (process_count > PROCESSES_MAX) process_count = PROCESSES_MAX;
    bool good = make_group(jobs, job_count, false, process_count, models, &shown, &done) &&
                make_group(jobs, job_count, true, 1, models, &shown, &done);
    progress_end(&shown);
    return good;
}
