// SPDX-License-Identifier: MIT
// A parent that hands out numbers of members through pipes and collects rows; children that know nothing of each other.
#define _POSIX_C_SOURCE 200809L
#include "study_workers.h"

#include "say.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MILLISECONDS = 200, TRIES = 2 };
enum { FILES_MAX = 4096 }; // more than the parent has open

typedef struct worker {
    pid_t process;    ///< 0: none
    int orders, rows; ///< pipes to and from it
    int64_t member;   ///< it works on; -1: none
    int tries;        ///< of this member, this one too
} worker;

static bool write_all(int file, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(file, (const char *)bytes + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += (size_t)written;
    }
    return true;
}

static bool read_all(int file, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, (char *)bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

// ---- the child --------------------------------------------------------------------------------------

// Runs what it is told until the parent is gone.
static void child_main(const hn_study *study, int orders, int rows)
{
    int count = hn_study_output_count(study);
    hn_context *context = hn_context_create(NULL);
    double *outputs = calloc((size_t)count + 1, sizeof(double));
    hn_study_outcome outcome;
    int64_t member;
    if (context == NULL || outputs == NULL) _exit(1);
    while (read_all(orders, &member, sizeof member)) {
        if (hn_study_run(context, study, member, outputs, &outcome) != HN_OK) _exit(1);
        if (!write_all(rows, outputs, (size_t)count * sizeof(double)) ||
            !write_all(rows, &outcome, sizeof outcome))
            break;
    }
    _exit(0);
}

static bool start_worker(const study_work *work, worker *w)
{
    int orders[2], rows[2];
    if (pipe(orders) != 0) return false;
    if (pipe(rows) != 0) {
        close(orders[0]), close(orders[1]);
        return false;
    }
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        // a terminal's Ctrl-C goes to the parent, which decides
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_DFL);
        // else a brother's pipe would never end, and the journal stay locked when the parent is killed
        for (int file = STDERR_FILENO + 1; file < FILES_MAX; ++file)
            if (file != orders[0] && file != rows[1]) close(file);
        child_main(work->study, orders[0], rows[1]);
    }
    close(orders[0]), close(rows[1]);
    if (process < 0) {
        close(orders[1]), close(rows[0]);
        return false;
    }
    w->process = process;
    w->orders = orders[1];
    w->rows = rows[0];
    return true;
}

// ---- the parent -------------------------------------------------------------------------------------

static void end_worker(worker *w, int *how)
{
    if (w->process <= 0) return;
    close(w->orders);
    close(w->rows);
    while (waitpid(w->process, how, 0) < 0 && errno == EINTR) {
    }
    w->process = 0;
}

static void describe_loss(int how, hn_study_outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->status = HN_CANCELLED;
    outcome->failed = true;
    if (WIFSIGNALED(how))
        snprintf(outcome->message, sizeof outcome->message,
                 "the process that ran it was lost, also when tried again (signal %d)",
                 WTERMSIG(how));
    else
        snprintf(outcome->message, sizeof outcome->message,
                 "the process that ran it ended, also when tried again (code %d)",
                 WEXITSTATUS(how));
}

typedef struct crew {
    const study_work *work;
    worker *workers;
    int count;
    double *outputs;
    int output_count;
} crew;

// Give a worker something to do; false: nobody can be found to do it.
static bool employ(crew *c, worker *w)
{
    if (w->member < 0) {
        w->member = c->work->next(c->work->user);
        w->tries = 0;
    }
    if (w->member < 0) return true;
    if (w->process == 0 && !start_worker(c->work, w)) {
        say(stderr, "holonom study: no process can be started: %s\n", strerror(errno));
        return false;
    }
    w->tries++;
    // a worker that is gone is noticed where its row is read
    (void)!write_all(w->orders, &w->member, sizeof w->member);
    return true;
}

// A row has come, or its worker is gone. False stops all.
static bool collect(crew *c, worker *w)
{
    hn_study_outcome outcome;
    bool there = read_all(w->rows, c->outputs, (size_t)c->output_count * sizeof(double)) &&
                 read_all(w->rows, &outcome, sizeof outcome);
    if (!there) {
        int how = 0;
        end_worker(w, &how);
        if (w->tries < TRIES) return employ(c, w);
        describe_loss(how, &outcome);
        for (int i = 0; i < c->output_count; ++i) c->outputs[i] = (double)NAN;
    }
    bool go_on = c->work->done(c->work->user, w->member, c->outputs, &outcome);
    w->member = -1;
    return go_on && employ(c, w);
}

static bool work_through(crew *c, struct pollfd *polls)
{
    for (int i = 0; i < c->count; ++i)
        if (!employ(c, &c->workers[i])) return false;
    for (;;) {
        int busy = 0;
        for (int i = 0; i < c->count; ++i) {
            bool works = c->workers[i].member >= 0;
            polls[i] = (struct pollfd){.fd = works ? c->workers[i].rows : -1, .events = POLLIN};
            busy += works;
        }
        if (busy == 0) return true;
        if (poll(polls, (nfds_t)c->count, POLL_MILLISECONDS) < 0 && errno != EINTR) return false;
        if (c->work->stopped(c->work->user)) return false;
        for (int i = 0; i < c->count; ++i)
            if (polls[i].fd >= 0 && polls[i].revents != 0 && !collect(c, &c->workers[i]))
                return false;
    }
}

bool study_work_run(const study_work *work, int jobs)
{
    crew c = {.work = work, .count = jobs, .output_count = hn_study_output_count(work->study)};
    c.workers = calloc((size_t)jobs, sizeof *c.workers);
    c.outputs = calloc((size_t)c.output_count + 1, sizeof(double));
    struct pollfd *polls = calloc((size_t)jobs, sizeof *polls);
    bool complete = c.workers != NULL && c.outputs != NULL && polls != NULL;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    for (int i = 0; complete && i < jobs; ++i) c.workers[i].member = -1;
    if (complete) complete = work_through(&c, polls);
    for (int i = 0; c.workers != NULL && i < jobs; ++i) {
        int how;
        if (!complete && c.workers[i].process > 0) kill(c.workers[i].process, SIGKILL);
        end_worker(&c.workers[i], &how);
    }
    signal(SIGPIPE, before);
    free(polls);
    free(c.outputs);
    free(c.workers);
    return complete;
}
