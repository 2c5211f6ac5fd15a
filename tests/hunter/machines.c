// SPDX-License-Identifier: MIT
// Hunts for machines that do otherwise when they are said otherwise: random machines of everything that a model may
// have, each held against itself turned, mirrored, in other units, renamed, alone, resumed, reversed, at half the step
// (relations.c). Two runs agree within round-off times what the machine makes of small differences, or one of them says
// that its numbers are doubtful; all else is a finding.
//
//   machines [--models N] [--first I] [--seed S] [--jobs J] [--seconds T] [--strict] [--verbose]
//            [--scheme NAME] [--reduction NAME] [--steps N]
//
// Ends after T seconds if that comes first. With --steps 0 starts are compared alone, a thousand in some seconds.
// Findings are printed as they are found, and all again at the end. Those of
// machines with drives that hold (motions, friction, latches, stops) stand apart, as do small ones of machines with
// dampers, whose mobilities are found anew at steps that depend on the axes of the world: they fail the hunt with
// --strict only.
#define _GNU_SOURCE
#include "hunter/features.h"
#include "hunter/random_machine.h"
#include "hunter/relations.h"

#include "base/context.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_LEAST = 16, STEPS_MORE = 16 };

typedef enum ending { E_FINISHED, E_REFUSED, E_STOPPED, E_SLOW, ENDINGS } ending;
static const double DAMPERS = 1e-3; // differences that dampers make, over the growth of small ones
static const char *const ENDING_NAMES[ENDINGS] = {"finished", "refused", "stopped", "slow"};

typedef struct tally {
    int64_t models, no_reason, endings[ENDINGS], not_kept;
    int64_t features[FEATURES];
    relation_tally relations[RELATIONS];
} tally;

typedef enum found_kind { SILENT, HOLDS, DAMPED, NAMED_BY_LEDGER } found_kind;

typedef struct found {
    found_kind kind;
    uint64_t model;
    char text[600];
} found;

// What jobs send, shorter than what a pipe takes whole.
typedef struct job_message {
    bool last;
    union {
        found one;
        tally sum;
    };
} job_message;
_Static_assert(sizeof(job_message) <= PIPE_BUF, "a message goes through a pipe whole");

typedef struct hunt {
    uint64_t seed, model;
    bool verbose;
    int scheme, reduction, steps; // -1: drawn
    int channel;
    const plan *p;
    const witness_run *run;
    tally sum;
} hunt;

static void ring(int number)
{
    (void)number;
    witness_cancel();
}

static void send_message(const hunt *h, const job_message *m)
{
    if (write(h->channel, m, sizeof *m) != (ssize_t)sizeof *m) abort();
}

static void tell(hunt *h, found_kind kind, const char *what, double value, const char *text)
{
    job_message m = {.one = {.kind = kind, .model = h->model}};
    snprintf(m.one.text, sizeof m.one.text,
             "seed %llu, model %llu%s%s%s, %s, %s, h = %.3g, %d steps: %s%.3g %s",
             (unsigned long long)h->seed, (unsigned long long)h->model,
             plan_has_beams(h->p) ? ", beams" : "", plan_has_dampers(h->p) ? ", dampers" : "",
             h->p->coupling_count > 0 ? ", couplings" : "", hn_scheme_name(h->run->scheme),
             hn_reduction_name(h->run->reduction), h->run->step, h->run->steps, what, value, text);
    printf("%s%s\n", kind == HOLDS ? "(holds) " : kind == DAMPED ? "(dampers) " : "", m.one.text);
    fflush(stdout);
    send_message(h, &m);
}

static void report(void *user, relation r, quantity q, double value, bool holds, const char *text)
{
    char what[64];
    snprintf(what, sizeof what, "%s, %s: ", RELATION_NAMES[r], QUANTITY_NAMES[q]);
    const hunt *h = user;
    bool damped = plan_has_dampers(h->p) && value < DAMPERS;
    tell(user, holds ? HOLDS : damped ? DAMPED : SILENT, what, value, text);
}

// ---- one machine ----------------------------------------------------------------------------------------------

// What every scheme takes is refused by none; energy-momentum takes all.
static hn_scheme draw_scheme(draw *d, const plan *p)
{
    static const hn_scheme FEW[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                    HN_SCHEME_VARIATIONAL, HN_SCHEME_ENERGY_DECAYING};
    bool all = draw_chance(d, 0.05), few = p->coupling_count > 0 || p->drive_count > 0 ||
                                           p->rotation_count > 0 || plan_has_beams(p);
    if (draw_chance(d, 0.3)) return HN_SCHEME_ENERGY_MOMENTUM;
    return few && !all ? FEW[draw_below(d, 4)] : (hn_scheme)draw_below(d, HN_SCHEME_COUNT);
}

static void hunt_machine(hunt *h, uint64_t index)
{
    static plan p;
    draw d = draw_create(h->seed ^ 0x5851f42d4c957f2du, index);
    double rate = random_machine(&d, &p);
    witness_run run = {.scheme = draw_scheme(&d, &p),
                       .reduction = (hn_reduction)draw_below(&d, HN_REDUCTION_COUNT),
                       .steps = WITNESS_SAMPLES * (STEPS_LEAST / 4 + draw_below(&d, STEPS_MORE)),
                       .parts = 1};
    run.step = draw_decades(&d, -2.5, -0.8) / rate;
    if (h->scheme >= 0) run.scheme = (hn_scheme)h->scheme;
    if (h->reduction >= 0) run.reduction = (hn_reduction)h->reduction;
    if (h->steps >= 0) run.steps = h->steps;
    witness base;
    h->model = index, h->p = &p, h->run = &run;
    h->sum.models++;
    features_count(&p, h->sum.features);
    if (h->verbose) features_describe(&p, stdout);
    relations_try(&p, &run, &d, h->sum.relations, report, h, &base);
    ending end = base.status == HN_OK          ? E_FINISHED
                 : base.status == HN_CANCELLED ? E_SLOW
                 : base.created                ? E_STOPPED
                                               : E_REFUSED;
    h->sum.endings[end]++;
    if (h->verbose || (end != E_FINISHED && base.message[0] == '\0'))
        printf("model %llu: %s, %s, %lld steps %s\n", (unsigned long long)index,
               hn_scheme_name(run.scheme), ENDING_NAMES[end], (long long)base.done, base.message);
    if (end != E_FINISHED && base.message[0] == '\0')
        tell(h, SILENT, "no reason: ", base.status, "");
    if (base.not_kept) {
        h->sum.not_kept++;
        tell(h, NAMED_BY_LEDGER,
             plan_has_holds(&p) ? "NOT KEPT (holds): " : "NOT KEPT: ", base.relative, base.promise);
    }
    witness_free(&base);
}

// ---- all of them ----------------------------------------------------------------------------------------------

static void add_tally(tally *to, const tally *from)
{
    to->models += from->models;
    to->no_reason += from->no_reason;
    to->not_kept += from->not_kept;
    for (int k = 0; k < ENDINGS; ++k) to->endings[k] += from->endings[k];
    for (int k = 0; k < FEATURES; ++k) to->features[k] += from->features[k];
    for (int r = 0; r < RELATIONS; ++r) {
        relation_tally *a = &to->relations[r];
        const relation_tally *b = &from->relations[r];
        for (int k = 0; k < VERDICTS; ++k) a->verdicts[k] += b->verdicts[k];
        for (int q = 0; q < QUANTITIES; ++q)
            a->worst[q] = a->worst[q] > b->worst[q] ? a->worst[q] : b->worst[q];
        a->share = a->share > b->share ? a->share : b->share;
    }
}

static void print_tally(const tally *t, uint64_t seed)
{
    printf("seed %llu: %lld machines", (unsigned long long)seed, (long long)t->models);
    for (int k = 0; k < ENDINGS; ++k)
        printf("%s %lld %s", k == 0 ? ":" : ",", (long long)t->endings[k], ENDING_NAMES[k]);
    printf("\n\nmachines with\n");
    features_print(t->features, stdout);
    printf("\n%-14s %8s %8s %8s %8s %8s   worst difference over the growth of small ones\n%-14s "
           "%8s %8s %8s %8s "
           "%8s  ",
           "relation", "agree", "named", "chaotic", "stopped", "finding", "", "", "", "", "", "");
    for (int q = 0; q < QUANTITIES; ++q) printf(" %8s", QUANTITY_NAMES[q]);
    printf("\n");
    for (int r = 0; r < RELATIONS; ++r) {
        const relation_tally *x = &t->relations[r];
        printf("%-14s", RELATION_NAMES[r]);
        for (int k = 0; k < VERDICTS; ++k) printf(" %8lld", (long long)x->verdicts[k]);
        if (r == R_HALF) printf("    at most %.2g of what is allowed", x->share);
        for (int q = 0; q < QUANTITIES && r != R_HALF; ++q)
            printf("%s %8.1e", q == 0 ? "  " : "", x->worst[q]);
        printf("\n");
    }
}

typedef struct found_list {
    found *all;
    size_t count, capacity;
} found_list;

static void add_found(found_list *list, const found *one)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 16;
        list->all = realloc(list->all, list->capacity * sizeof *list->all);
        if (list->all == NULL) abort();
    }
    list->all[list->count++] = *one;
}

static int compare_found(const void *x, const void *y)
{
    const found *a = x, *b = y;
    if (a->model != b->model) return a->model < b->model ? -1 : 1;
    return strcmp(a->text, b->text);
}

static size_t print_found(const found_list *list, found_kind kind, const char *title)
{
    size_t count = 0, models = 0;
    uint64_t last = UINT64_MAX;
    for (size_t k = 0; k < list->count; ++k) {
        if (list->all[k].kind != kind) continue;
        count++;
        models += list->all[k].model != last;
        last = list->all[k].model;
    }
    printf("\n%s: %zu in %zu machines\n", title, count, models);
    for (size_t k = 0; k < list->count; ++k)
        if (list->all[k].kind == kind) printf("  %s\n", list->all[k].text);
    return count;
}

static int conclude(const tally *t, found_list *list, uint64_t seed, bool strict)
{
    if (list->count > 0) qsort(list->all, list->count, sizeof *list->all, compare_found);
    print_tally(t, seed);
    (void)print_found(list, NAMED_BY_LEDGER, "promises not kept, by the ledger");
    size_t apart = print_found(list, DAMPED, "small findings with dampers");
    apart += print_found(list, HOLDS, "findings with drives that hold");
    size_t silent = print_found(list, SILENT, "findings");
    if (strict) silent += apart;
    printf("%lld passed, %zu failed\n", (long long)t->models, silent);
    return silent > 0 ? 1 : 0;
}

typedef struct order {
    long long models, first, jobs, seconds;
    bool strict;
} order;

static bool read_arguments(int count, char **words, order *o, hunt *h)
{
    hn_scheme scheme;
    hn_reduction reduction;
    for (int i = 1; i < count; ++i) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "0";
        if (strcmp(word, "--verbose") == 0) h->verbose = true;
        else if (strcmp(word, "--strict") == 0) o->strict = true;
        else if (strcmp(word, "--models") == 0) o->models = atoll(value), ++i;
        else if (strcmp(word, "--first") == 0) o->first = atoll(value), ++i;
        else if (strcmp(word, "--seed") == 0) h->seed = strtoull(value, NULL, 10), ++i;
        else if (strcmp(word, "--jobs") == 0) o->jobs = atoll(value), ++i;
        else if (strcmp(word, "--seconds") == 0) o->seconds = atoll(value), ++i;
        else if (strcmp(word, "--steps") == 0) h->steps = atoi(value), ++i;
        else if (strcmp(word, "--scheme") == 0 && hn_scheme_from_name(value, &scheme))
            h->scheme = (int)scheme, ++i;
        else if (strcmp(word, "--reduction") == 0 && hn_reduction_from_name(value, &reduction))
            h->reduction = (int)reduction, ++i;
        else return false;
    }
    return o->jobs >= 1;
}

static void do_job(hunt *h, const order *o, long long job, time_t begin)
{
    for (long long i = o->first + job; i < o->first + o->models; i += o->jobs) {
        if (o->seconds > 0 && time(NULL) - begin >= o->seconds) break;
        hunt_machine(h, (uint64_t)i);
    }
    fflush(stdout);
    job_message end = {.last = true};
    end.sum = h->sum;
    send_message(h, &end);
}

int main(int argument_count, char **arguments)
{
    static hunt h = {.seed = 1, .scheme = -1, .reduction = -1, .steps = -1};
    static tally all;
    order o = {.models = 100, .jobs = 1};
    int channel[2];
    if (!read_arguments(argument_count, arguments, &o, &h))
        return fprintf(stderr,
                       "machines [--models N] [--first I] [--seed S] [--jobs J] [--seconds T] "
                       "[--strict] [--verbose] [--scheme NAME] [--reduction NAME] [--steps N]\n"),
               2;
    signal(SIGALRM, ring);
    if (pipe(channel) != 0) return 2;
    h.channel = channel[1];
    fflush(stdout);
    time_t begin = time(NULL);
    for (long long job = 0; job < o.jobs; ++job) {
        if (fork() != 0) continue;
        do_job(&h, &o, job, begin);
        _exit(0);
    }
    close(channel[1]);
    found_list list = {0};
    long long heard = 0;
    for (job_message m; read(channel[0], &m, sizeof m) == (ssize_t)sizeof m;) {
        if (m.last) add_tally(&all, &m.sum), heard++;
        else add_found(&list, &m.one);
    }
    while (wait(NULL) > 0) {
    }
    int result = conclude(&all, &list, h.seed, o.strict);
    free(list.all);
    if (heard < o.jobs) return printf("%lld of %lld jobs died\n", o.jobs - heard, o.jobs), 1;
    return result;
}
