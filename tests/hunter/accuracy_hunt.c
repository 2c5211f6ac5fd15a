// SPDX-License-Identifier: MIT
// The accuracy line of the ledger against the errors of steps, on random models with drives: every step of a run is
// made again in PARTS from the same state, and the worst difference may be at most ALLOWED times what the line says.
// A difference counts when it is far more than what twice as many parts change.
//
//   accuracy_hunt [--models N] [--first I] [--seed S] [--allowed X] [--verbose] [--file MODEL]
#include "hunter/driven_model.h"
#include "simulation/simulation.h"

#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 80, STEPS_LONG = 500, PARTS = 64, VALUES_MAX = 4096 };
static const double SURE = 0.2;    // of a difference: the reference is off by no more
static const double FLOOR = 1e-11; // rad, parts of the size: round-off below it
static const double ALLOWED = 10.0;

typedef struct hunt {
    uint64_t seed;
    double allowed;
    bool verbose;
    int64_t models, runs, refused, stopped, steps, unsure, failed;
    double worst, least; // true error over what the line says
} hunt;

typedef struct motion_state {
    double q[VALUES_MAX], p[VALUES_MAX], angles[VALUES_MAX];
    double time;
} motion_state;

static double turn_angle(const double *a, const double *b)
{
    hn_vec3 s = vec3(0.0, 0.0, 0.0);
    double c = -1.0;
    for (int k = 3; k < POSE_SIZE; k += 3) {
        s = vec3_add_scaled(s, 0.5, vec3_cross(vec3_load(a + k), vec3_load(b + k)));
        c += vec3_dot(vec3_load(a + k), vec3_load(b + k));
    }
    return atan2(vec3_norm(s), 0.5 * c);
}

// The larger of angle and place over size, of the worst body.
static double difference(const hn_system *system, const double *x, const double *y)
{
    double worst = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *a = x + POSE_SIZE * (size_t)i, *b = y + POSE_SIZE * (size_t)i;
        double move = vec3_norm(vec3_subtract(vec3_load(a), vec3_load(b))) / system->sizes[i];
        double turn = system->bodies[i].kind == HN_BODY_RIGID ? turn_angle(a, b) : 0.0;
        worst = fmax(worst, fmax(move, turn));
    }
    return worst;
}

static void take_state(hn_simulation *s, motion_state *x)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    simulation_update_momenta(s);
    memcpy(x->q, s->state.q, size);
    memcpy(x->p, s->momenta, size);
    memcpy(x->angles, s->angles, (size_t)s->system->angle_count * sizeof(double));
    x->time = hn_simulation_time(s);
}

static bool refer(hn_simulation *reference, const motion_state *from, double h, int parts)
{
    return simulation_run_reference(reference, from->q, from->p, from->angles, from->time, h,
                                    parts) == HN_OK;
}

static hn_simulation *create(const hn_model *model, double step, bool ledger)
{
    hn_simulation_def def = hn_simulation_def_default();
    hn_simulation *s = NULL;
    def.step_size = step;
    def.ledger = ledger;
    return hn_simulation_create(model, &def, &s) == HN_OK ? s : NULL;
}

// A run of `steps`, and the worst error of a step in it.
static void judge(hunt *h, const hn_model *model, double step, int steps, uint64_t index,
                  const char *family)
{
    static motion_state before;
    static double end[VALUES_MAX];
    hn_simulation *s = create(model, step, true), *reference = create(model, step, false);
    h->models++;
    if (s == NULL || reference == NULL) {
        h->refused++;
        if (h->verbose)
            printf("model %llu: %s\n", (unsigned long long)index,
                   hn_context_message(hn_model_context(model)));
        hn_simulation_destroy(s), hn_simulation_destroy(reference);
        return;
    }
    double worst = 0.0, when = 0.0, sum = 0.0;
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    if (size > sizeof end) abort();
    h->runs++;
    for (int n = 0; n < steps; ++n) {
        take_state(s, &before);
        if (hn_simulation_step(s, 1) != HN_OK) {
            h->stopped++;
            if (h->verbose)
                printf("model %llu: %s\n", (unsigned long long)index,
                       hn_context_message(hn_model_context(model)));
            break;
        }
        h->steps++;
        if (!refer(reference, &before, step, PARTS)) {
            h->unsure++;
            continue;
        }
        double error = difference(s->system, s->state.q, reference->state.q);
        sum += error;
        if (!(error > worst)) continue;
        memcpy(end, reference->state.q, size);
        double change = refer(reference, &before, step, 2 * PARTS)
                            ? difference(s->system, end, reference->state.q)
                            : HUGE_VAL;
        if (!(change <= SURE * error)) h->unsure++;
        else if (error - change > worst) worst = error - change, when = before.time;
    }
    hn_ledger ledger;
    if (s->step_count > 0 && hn_simulation_ledger(s, &ledger) == HN_OK) {
        const hn_accuracy *a = &ledger.accuracy;
        double ratio = worst / (a->relative.value + FLOOR);
        bool failed = ratio > h->allowed;
        h->worst = fmax(h->worst, ratio);
        if (worst > FLOOR) h->least = fmin(h->least, ratio);
        h->failed += failed;
        if (failed || h->verbose)
            printf("model %llu, h = %.3g: error %.2e at t = %.6g, line %.2e at %.6g: %.3g times; "
                   "sums %.2e, line %.2e; %s\n",
                   (unsigned long long)index, step, worst, when, a->relative.value,
                   a->relative.time - step, ratio, sum, a->relative_sum, family);
    }
    hn_simulation_destroy(s);
    hn_simulation_destroy(reference);
}

static void judge_drawn(hunt *h, uint64_t index)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) abort();
    draw d = draw_create(h->seed, index);
    driven_model m;
    double step = draw_decades(&d, -3.3, -1.9);
    if (driven_model_create(context, &d, &m) == HN_OK)
        judge(h, m.model, step, index % 8 == 7 ? STEPS_LONG : STEPS, index, m.family);
    else {
        h->models++, h->refused++;
        if (h->verbose)
            printf("model %llu: %s\n", (unsigned long long)index, hn_context_message(context));
    }
    hn_model_destroy(m.model);
    hn_context_destroy(context);
}

static int judge_file(hunt *h, const char *path, double step, double duration)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    if (context == NULL || hn_model_load(context, path, &model) != HN_OK) return 2;
    judge(h, model, step, (int)(duration / step + 0.5), 0, path);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return 0;
}

int main(int argument_count, char **arguments)
{
    hunt h = {.seed = 1, .allowed = ALLOWED, .least = HUGE_VAL};
    long long models = 60, first = 0;
    double step = 1e-3, duration = 0.5;
    const char *file = NULL;
    for (int i = 1; i < argument_count; ++i) {
        const char *word = arguments[i], *value = i + 1 < argument_count ? arguments[i + 1] : "0";
        if (strcmp(word, "--verbose") == 0) h.verbose = true;
        else if (strcmp(word, "--models") == 0) models = atoll(value), ++i;
        else if (strcmp(word, "--first") == 0) first = atoll(value), ++i;
        else if (strcmp(word, "--seed") == 0) h.seed = strtoull(value, NULL, 10), ++i;
        else if (strcmp(word, "--allowed") == 0) h.allowed = atof(value), ++i;
        else if (strcmp(word, "--file") == 0) file = value, ++i;
        else if (strcmp(word, "--step") == 0) step = atof(value), ++i;
        else if (strcmp(word, "--duration") == 0) duration = atof(value), ++i;
        else return fprintf(stderr, "accuracy_hunt: unknown option %s\n", word), 2;
    }
    if (file != NULL) {
        h.verbose = true;
        return judge_file(&h, file, step, duration);
    }
    for (long long i = first; i < first + models; ++i) judge_drawn(&h, (uint64_t)i);
    printf(
        "seed %llu: %lld models, %lld refused, %lld runs, %lld stopped; %lld steps, %lld without "
        "a sure reference\n",
        (unsigned long long)h.seed, (long long)h.models, (long long)h.refused, (long long)h.runs,
        (long long)h.stopped, (long long)h.steps, (long long)h.unsure);
    printf("worst error of a step over the line: %.3g at most (allowed %.3g), %.3g at least; %lld "
           "models above\n",
           h.worst, h.allowed, h.least, (long long)h.failed);
    return h.failed > 0 || h.runs == 0 ? 1 : 0;
}
