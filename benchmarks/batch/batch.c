// SPDX-License-Identifier: MIT
// What a batch costs beside a plain loop over simulations, what threads gain, and how much memory members take.
//
//   bench_batch                     chain of 4 and linkage: 1000 members, calls of 1, 10 and 100 steps
//   bench_batch --members N         another number of members
//   bench_batch --threads N         beside one thread (default 2)
//   bench_batch --repeats N         (default 5; the least time counts)
//   bench_batch --memory FILE N     bytes of a batch of N members of a model file, and ten steps of it
//
// A row: processor time of a member's step in the plain loop and in a batch with one thread, what the batch costs more,
// and how many times faster the threads are by the clock. On a machine that does other work at the same time the clock
// says little: processor time with several threads over that with one is then what can be said.
#define _POSIX_C_SOURCE 200809L

#include "chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 100 };            // of each member and repeat
static const double STEP = 1e-3; // s

typedef struct spent {
    double clock, processor; // s
} spent;

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spent now(void)
{
    return (spent){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void keep_least(spent *least, spent begin, bool first)
{
    spent end = now();
    double clock = end.clock - begin.clock, processor = end.processor - begin.processor;
    if (first || clock < least->clock) least->clock = clock;
    if (first || processor < least->processor) least->processor = processor;
}

static void stop(const hn_context *context, const char *what)
{
    fprintf(stderr, "bench_batch: %s: %s\n", what, hn_context_message(context));
    exit(1);
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != HN_OK) stop(context, #call);                                                 \
    } while (0)

static hn_batch *create_batch(hn_context *context, const hn_model *model, int members, int threads)
{
    hn_batch_def def = hn_batch_def_default();
    def.simulation.step_size = STEP;
    def.simulation.ledger = false;
    def.member_count = members;
    def.thread_count = threads;
    hn_batch *batch = NULL;
    MUST(hn_batch_create(context, model, &def, &batch));
    return batch;
}

// One repeat of each in turn, so that all meet the same machine.
static void compare(hn_context *context, const hn_model *model, const char *name, int members,
                    int threads, int count, int repeats)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = STEP;
    def.ledger = false;
    hn_simulation **plain = calloc((size_t)members, sizeof(hn_simulation *));
    if (plain == NULL) exit(1);
    for (int m = 0; m < members; ++m) MUST(hn_simulation_create(model, &def, &plain[m]));
    hn_batch *one = create_batch(context, model, members, 1),
             *many = create_batch(context, model, members, threads);
    spent loop = {0}, single = {0}, several = {0};
    for (int repeat = -1; repeat < repeats; ++repeat) { // the first warms up
        spent begin = now();
        for (int done = 0; done < STEPS; done += count)
            for (int m = 0; m < members; ++m) MUST(hn_simulation_step(plain[m], count));
        keep_least(&loop, begin, repeat <= 0);
        begin = now();
        for (int done = 0; done < STEPS; done += count) MUST(hn_batch_step(one, count));
        keep_least(&single, begin, repeat <= 0);
        begin = now();
        for (int done = 0; done < STEPS; done += count) MUST(hn_batch_step(many, count));
        keep_least(&several, begin, repeat <= 0);
    }
    double scale = 1e6 / ((double)members * STEPS);
    printf("%-10s %5d %9.3f %9.3f %+8.1f %% %12.2f %16.2f\n", name, count, scale * loop.processor,
           scale * single.processor, 100.0 * (single.processor / loop.processor - 1.0),
           single.clock / several.clock, several.processor / single.processor);
    fflush(stdout);
    hn_batch_destroy(one);
    hn_batch_destroy(many);
    for (int m = 0; m < members; ++m) hn_simulation_destroy(plain[m]);
    free(plain);
}

static void show_memory(hn_context *context, const char *path, int members, int threads)
{
    hn_model *model = NULL;
    MUST(hn_model_load(context, path, &model));
    double begin = seconds(CLOCK_MONOTONIC);
    hn_batch *batch = create_batch(context, model, members, threads);
    double created = seconds(CLOCK_MONOTONIC);
    MUST(hn_batch_step(batch, 10));
    hn_batch_memory use = hn_batch_memory_use(batch);
    printf("%d members: %zu bytes each (state %zu), %zu bytes per thread, %.1f MB in all; "
           "made in %.2f s, ten steps in %.2f s\n",
           members, use.member, use.state, use.thread, 1e-6 * (double)use.total, created - begin,
           seconds(CLOCK_MONOTONIC) - created);
    hn_batch_destroy(batch);
    hn_model_destroy(model);
}

int main(int count, char **words)
{
    int members = 1000, threads = 2, repeats = 5;
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 1;
    for (int i = 1; i < count; ++i) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--members") == 0) members = atoi(value), ++i;
        else if (strcmp(words[i], "--threads") == 0) threads = atoi(value), ++i;
        else if (strcmp(words[i], "--repeats") == 0) repeats = atoi(value), ++i;
        else if (strcmp(words[i], "--memory") == 0 && i + 2 < count) {
            show_memory(context, value, atoi(words[i + 2]), threads);
            hn_context_destroy(context);
            return 0;
        } else {
            fprintf(stderr, "bench_batch: unknown option '%s'; see the head of batch.c\n",
                    words[i]);
            return 2;
        }
    }
    hn_model *chain = NULL, *linkage = NULL;
    MUST(chain_create(context, HN_JOINT_REVOLUTE, 4, &chain));
    MUST(hn_model_load(context, HN_SOURCE_DIR "/models/six-body-linkage.yaml", &linkage));
    printf("%d members, energy-momentum, reduced, without ledger; processor time in us per "
           "member and step\n"
           "model       call     plain     batch     costs %2d threads faster  processor time\n",
           members, threads);
    for (int call = 1; call <= 100; call *= 10) {
        compare(context, chain, "chain of 4", members, threads, call, repeats);
        compare(context, linkage, "linkage", members, threads, call, repeats);
    }
    hn_model_destroy(linkage);
    hn_model_destroy(chain);
    hn_context_destroy(context);
    return 0;
}
