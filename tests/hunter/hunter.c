// SPDX-License-Identifier: MIT
// Hunts for answers that look right and are wrong: random models under random schemes and reductions, every tenth under
// all of them. What a run says of itself is held against converged runs:
//
//   step   at sampled steps the error against a converged step from the same state is at most 10 times the accuracy
//   line
//   end    end positions differ from a converged run by at most 10 times the summed estimate times the growth: how far
//          a run from the end of a sampled step and one from the end of the converged step get apart until the end,
//          over what they were apart at first, or a neighbouring run where that is more
//   agree  reductions of one scheme end at the same place; runs of a scheme that makes no halves and says that steps
//          were too long to be unique, and runs whose accuracy line says that steps do not follow the motion at all,
//          are counted apart
//   kept   a promise that is broken is named by the ledger, not silent: counted apart as well, and a finding with
//          --strict
//
//   hunter [--models N] [--first I] [--seed S] [--jobs J] [--seconds T] [--promises] [--strict] [--verbose]
//
// Ends after T seconds if that comes first. With --promises nothing is held against converged runs: only broken
// promises are found, many times as fast. Findings are printed as they are found, and all of them again at the end.
// The digest of a hunt is of all places where runs ended, and of their accuracy: two builds with the same one take
// the same steps, to the last bit.
//
// Errors are relative: radians, or metres over the body's own size. Models that are refused, and runs that stop, say
// why.
#define _GNU_SOURCE
#include "hunter/random_model.h"
#include "base/hash.h"
#include "simulation/simulation.h"
#include "system/mass.h"

#include <holonom/holonom.h>

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MAX = 120, SAMPLES = 4, PARTS = 32, FINER = 4, SECONDS_MAX = 60 };
static const double ALLOWED = 10.0; // times what the run says of itself
static const double SURE =
    0.2; // a reference counts when its own error is below this part of what it judges
static const double FLOOR = 3e-12;             // rad, parts of the size: below it all is round-off
static const double PLACE_ROUND_OFF = 0x1p-53; // of a coordinate, in every part of a reference
static const double CHAOTIC = 1e5;             // growth above which end positions mean nothing
static const double NEIGHBOUR_NEAR = 1e-10;    // the same for the growth of round-off
static const double NEIGHBOUR = 1e-6;          // part of its velocities that a neighbour differs by
static const double SAME_MOTION = 1e-8;        // by which reductions may differ, times the growth
static const double TIGHT = 1e-10;             // tolerances of a run that confirms another
static const double NAMED =
    0.1; // rad, parts of the size: steps so wrong by the accuracy line are named

// How a run ended.
typedef enum outcome {
    RUN_FINISHED,
    RUN_REFUSED,  // at creation, with a reason
    RUN_STOPPED,  // in a step, with a reason
    RUN_SINGULAR, // the same, and the reason is a singular position
    RUN_SLOW,     // cancelled after SECONDS_MAX
    OUTCOMES,
} outcome;

typedef enum finding {
    STEP_ERROR,
    END_ERROR,
    DISAGREES,
    NO_REASON,
    NOT_KEPT, // named by the ledger
    FINDINGS,
} finding;
static const char *const FINDING_NAMES[FINDINGS] = {"step error", "end error", "disagree",
                                                    "no reason", "not kept"};

typedef struct tally {
    int64_t models, runs, outcomes[OUTCOMES];
    int64_t steps_judged, steps_unsure;
    int64_t ends_judged, ends_unsure, ends_unknown, ends_chaotic, ends_too_long;
    int64_t pairs_judged, pairs_chaotic, pairs_not_unique, pairs_inaccurate; // of reductions
    double worst_step, worst_end, worst_apart;                               // over what is allowed
    uint64_t digest; // sum over runs, so that their order is free
} tally;

// A finding as jobs tell of it, shorter than what a pipe takes whole.
typedef struct found {
    finding what;
    uint64_t model;
    char text[400];
} found;

// What jobs send: findings as they come, a tally at the end.
typedef struct job_message {
    bool last;
    union {
        found one;
        tally sum;
    };
} job_message;

typedef struct hunt {
    uint64_t seed;
    bool verbose, promises, strict;
    FILE *out;
    int channel;
    tally sum;
} hunt;

static hn_context *alarmed; // for the handler alone

static void ring(int number)
{
    (void)number;
    hn_context_cancel(alarmed);
}

// ---- differences --------------------------------------------------------------------------------------

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
static double relative_difference(const hn_system *system, const double *x, const double *y)
{
    double worst = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *a = x + POSE_SIZE * (size_t)i, *b = y + POSE_SIZE * (size_t)i;
        double move = vec3_norm(vec3_subtract(vec3_load(a), vec3_load(b))) / system->sizes[i];
        double turn = system->bodies[i].kind == HN_BODY_RIGID ? turn_angle(a, b) : 0.0;
        worst = fmax(worst, fmax(move, turn));
        if (!isfinite(move + turn)) return HUGE_VAL;
    }
    return worst;
}

// Round-off of the coordinates of bodies far from the origin, over their sizes, in the finest reference of a step.
static double place_floor(const hn_simulation *s)
{
    double reach = 0.0;
    for (int i = 0; i < s->system->body_count; ++i)
        reach = fmax(reach, vec3_norm(vec3_load(s->state.q + POSE_SIZE * (size_t)i)) /
                                s->system->sizes[i]);
    return FLOOR + 4 * PARTS * PLACE_ROUND_OFF * reach;
}

// ---- one run --------------------------------------------------------------------------------------------

typedef struct run {
    const random_model *model;
    uint64_t index;
    hn_scheme scheme;
    hn_reduction reduction;
    double step;
    int steps;
    outcome outcome;
    bool too_long;     // the ledger warns of steps too long for the motion
    bool not_unique;   // of steps with several solutions, of which the scheme took one
    bool inaccurate;   // its accuracy line says that steps do not follow the motion
    double growth;     // of local errors until the end, at least 1
    bool growth_known; // a sampled step told
    double *q;         // at the end
} run;

static bool send_message(int channel, const job_message *m)
{
    return write(channel, m, sizeof *m) == (ssize_t)sizeof *m;
}

static void report(hunt *h, const run *r, finding what, double value, const char *text)
{
    job_message m = {.one = {.what = what, .model = r->index}};
    snprintf(m.one.text, sizeof m.one.text,
             "%s: seed %llu, model %llu (%s), %s, %s, h = %.3g, %d steps: %.3g %s",
             FINDING_NAMES[what], (unsigned long long)h->seed, (unsigned long long)r->index,
             r->model->family, hn_scheme_name(r->scheme), hn_reduction_name(r->reduction), r->step,
             r->steps, value, text);
    fprintf(h->out, "%s\n", m.one.text);
    if (!send_message(h->channel, &m)) abort();
}

static hn_simulation *create(const random_model *m, hn_scheme scheme, hn_reduction way, double step,
                             bool ledger)
{
    hn_simulation_def def = hn_simulation_def_default();
    hn_simulation *s = NULL;
    def.scheme = scheme;
    def.reduction = way;
    def.step_size = step;
    def.ledger = ledger;
    return hn_simulation_create(m->model, &def, &s) == HN_OK ? s : NULL;
}

// Why a call failed: every failure has a reason.
static outcome classify(hunt *h, const run *r, hn_status status, bool stepping)
{
    const char *message = hn_context_message(hn_model_context(r->model->model));
    if (message[0] == '\0') report(h, r, NO_REASON, (double)status, "");
    if (h->verbose) fprintf(h->out, "model %llu: %s\n", (unsigned long long)r->index, message);
    if (status == HN_CANCELLED) return RUN_SLOW;
    if (status == HN_SINGULAR_SYSTEM || strstr(message, "singular") != NULL) return RUN_SINGULAR;
    return stepping ? RUN_STOPPED : RUN_REFUSED;
}

// A state that a step starts from or ends at.
typedef struct motion_state {
    double *q, *p, *angles;
    double time;
} motion_state;

static motion_state new_state(const hn_system *system)
{
    size_t count = POSE_SIZE * (size_t)system->body_count;
    motion_state x = {.q = malloc((2 * count + (size_t)system->angle_count + 1) * sizeof(double))};
    if (x.q == NULL) abort();
    x.p = x.q + count;
    x.angles = x.p + count;
    return x;
}

static void take_state(hn_simulation *s, double time, motion_state *x)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    simulation_update_momenta(s);
    memcpy(x->q, s->state.q, size);
    memcpy(x->p, s->momenta, size);
    memcpy(x->angles, s->angles, (size_t)s->system->angle_count * sizeof(double));
    x->time = time;
}

static bool go_on(hn_simulation *reference, const motion_state *from, double duration, int parts)
{
    return simulation_run_reference(reference, from->q, from->p, from->angles, from->time, duration,
                                    parts) == HN_OK;
}

typedef struct step_verdict {
    double error; // of the last step against converged ones from the same state; negative: not sure
    double growth; // of it until the end of the run; 0: not known
    double
        inside; // of errors early in the step until its end, at least 1, where a scheme makes many of its own in it
} step_verdict;

// Do three results, of which the first two and the last two differ so much, tell how far another one is off?
static bool is_convergent(const double change[2], double difference)
{
    return change[1] <= FLOOR || (change[1] <= 0.5 * change[0] && change[1] <= SURE * difference);
}

// How far two runs get apart until the end, over what they are apart at first, or after a step when that is more.
static double growth_between(hn_simulation *reference, const motion_state *x, const motion_state *y,
                             double h, int steps, motion_state *work)
{
    const hn_system *system = reference->system;
    double apart = relative_difference(system, x->q, y->q), end = 0.0;
    for (int k = 0; k < 2; ++k) {
        int count = k == 0 ? 1 : steps;
        if (!go_on(reference, x, count * h, 2 * count)) return 0.0;
        take_state(reference, 0.0, work);
        if (!go_on(reference, y, count * h, 2 * count)) return 0.0;
        end = relative_difference(system, reference->state.q, work->q);
        if (k == 0 && apart <= FLOOR) apart = end;
    }
    return apart > 0.0 ? end / apart : 0.0;
}

// How far a neighbour gets apart in a step, over what it would without forces.
static double growth_inside(hn_simulation *reference, const motion_state *from, double h,
                            motion_state *neighbour, motion_state *work)
{
    const hn_system *system = reference->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double apart[2] = {0.0};
    memcpy(neighbour->q, from->q, count * sizeof(double));
    memcpy(neighbour->angles, from->angles, (size_t)system->angle_count * sizeof(double));
    neighbour->time = from->time;
    for (size_t k = 0; k < count; ++k) neighbour->p[k] = from->p[k] * (1.0 + NEIGHBOUR);
    for (int k = 0; k < 2; ++k) {
        int parts = k == 0 ? 1 : 4 * PARTS;
        double time = h * parts / (4 * PARTS);
        if (!go_on(reference, from, time, parts)) return 1.0;
        take_state(reference, 0.0, work);
        if (!go_on(reference, neighbour, time, parts)) return 1.0;
        apart[k] = relative_difference(system, reference->state.q, work->q);
    }
    return apart[0] > 0.0 ? fmax(1.0, apart[1] / (apart[0] * 4 * PARTS)) : 1.0;
}

static step_verdict judge_step(hn_simulation *s, hn_simulation *reference, const motion_state *from,
                               int steps_left)
{
    const hn_system *system = s->system;
    step_verdict verdict = {.error = -1.0, .inside = 1.0};
    double h = s->def.step_size;
    motion_state coarse = new_state(system), fine = new_state(system), own = new_state(system);
    // three references in ever more parts: their differences must shrink as those of a convergent method
    double change[2] = {0.0};
    bool solved = true;
    for (int k = 0; k < 3 && solved; ++k) {
        solved = go_on(reference, from, h, PARTS << k);
        if (!solved) break;
        motion_state *finest = &fine;
        if (k > 0)
            memcpy(coarse.q, fine.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
        take_state(reference, from->time + h, finest);
        if (k > 0) change[k - 1] = relative_difference(system, coarse.q, fine.q);
    }
    take_state(s, from->time + h, &own);
    if (solved) {
        verdict.error = relative_difference(system, own.q, fine.q);
        if (!is_convergent(change, verdict.error)) verdict.error = -1.0;
    }
    if (verdict.error > FLOOR && s->def.scheme == HN_SCHEME_PROJECTED_RK) {
        motion_state neighbour = new_state(system);
        verdict.inside = growth_inside(reference, from, h, &neighbour, &coarse);
        free(neighbour.q);
    }
    if (verdict.error >= 0.0 && verdict.error <= FLOOR) {
        // too small to tell how it grows: a neighbour with other velocities does
        memcpy(own.q, fine.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
        for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
            own.p[k] = fine.p[k] * (1.0 + NEIGHBOUR);
    }
    if (verdict.error >= 0.0 && steps_left > 1)
        verdict.growth = growth_between(reference, &own, &fine, h, steps_left, &coarse);
    free(coarse.q);
    free(fine.q);
    free(own.q);
    return verdict;
}

static void report_not_kept(hunt *h, const run *r, hn_promise promise, const hn_ledger_entry *e)
{
    char text[200];
    snprintf(text, sizeof text, "%s, bound %.2g: %.120s", hn_promise_name(promise), e->bound,
             e->note);
    report(h, r, NOT_KEPT, e->error, text);
}

// What the model is made of, for a look at a finding.
static void describe(const hunt *h, const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const double *t = system->twist_start + TWIST_SIZE * (size_t)i;
        fprintf(
            h->out,
            "  body %d: kind %d on %d by joint kind %d, mass %.3g, size %.3g, at %.3g %.3g %.3g, "
            "v %.3g %.3g %.3g, omega %.3g %.3g %.3g\n",
            i, (int)system->bodies[i].kind, j->parent, (int)j->kind, mass_weight(system, i),
            system->sizes[i], system->q_start[POSE_SIZE * (size_t)i],
            system->q_start[POSE_SIZE * (size_t)i + 1], system->q_start[POSE_SIZE * (size_t)i + 2],
            t[0], t[1], t[2], t[3], t[4], t[5]);
    }
    for (int k = 0; k < system->cut_count; ++k)
        fprintf(h->out, "  loop joint kind %d: %d %d\n", (int)system->cuts[k].kind,
                system->cuts[k].parent, system->cuts[k].child);
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        fprintf(h->out,
                "  element kind %d: %d %d, stiffness %.3g, damping %.3g, vector %.3g %.3g %.3g\n",
                (int)e->kind, e->a, e->b, e->stiffness, e->damping, e->vector.x, e->vector.y,
                e->vector.z);
    }
    fprintf(h->out, "  gravity %.3g\n", vec3_norm(system->gravity));
}

static void judge_ledger(hunt *h, run *r, hn_simulation *s, double worst_step)
{
    hn_ledger ledger;
    if (hn_simulation_ledger(s, &ledger) != HN_OK) return;
    for (int k = 0; k < HN_PROMISE_COUNT; ++k)
        if (!ledger.entry[k].kept) report_not_kept(h, r, (hn_promise)k, &ledger.entry[k]);
    const hn_accuracy *a = &ledger.accuracy;
    r->too_long = a->spin_step_limit > 0.0 && a->spin_step.value > a->spin_step_limit;
    r->not_unique = a->ambiguous_step_count > 0 && !s->scheme->may_halve;
    r->inaccurate = a->relative.value > NAMED;
    double allowed = ALLOWED * a->relative.value + place_floor(s);
    if (worst_step < 0.0) return;
    h->sum.worst_step = fmax(h->sum.worst_step, worst_step / allowed);
    if (worst_step > allowed) {
        char text[160];
        snprintf(text, sizeof text, "of what is allowed: error %.2g, accuracy line %.2g",
                 worst_step, a->relative.value);
        report(h, r, STEP_ERROR, worst_step / allowed, text);
    }
}

static double perform(hunt *h, run *r)
{
    h->sum.runs++;
    hn_context *context = hn_model_context(r->model->model);
    alarmed = context;
    alarm(SECONDS_MAX);
    double sum = 0.0;
    hn_simulation *s = create(r->model, r->scheme, r->reduction, r->step, true);
    if (s == NULL) {
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = r->scheme, def.reduction = r->reduction, def.step_size = r->step;
        hn_status status = hn_simulation_create(r->model->model, &def, &s);
        r->outcome = classify(h, r, status, false);
        hn_simulation_destroy(s);
        alarm(0);
        h->sum.outcomes[r->outcome]++;
        return 0.0;
    }
    hn_simulation *reference = h->promises ? NULL
                                           : create(r->model, HN_SCHEME_ENERGY_MOMENTUM,
                                                    HN_REDUCTION_REDUCED, r->step, false);
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    motion_state before = new_state(s->system);
    hn_status status = HN_OK;
    double worst = -1.0;
    for (int k = 0; k < r->steps && status == HN_OK; ++k) {
        bool sampled = k % (r->steps / SAMPLES) == r->steps / SAMPLES / 2 && reference != NULL;
        if (sampled) take_state(s, hn_simulation_time(s), &before);
        status = hn_simulation_step(s, 1);
        if (!sampled || status != HN_OK) continue;
        step_verdict verdict = judge_step(s, reference, &before, r->steps - k - 1);
        r->growth = fmax(r->growth, verdict.growth);
        r->growth_known = r->growth_known || verdict.growth > 0.0;
        if (verdict.error >= 0.0)
            h->sum.steps_judged++, worst = fmax(worst, verdict.error / verdict.inside);
        else h->sum.steps_unsure++;
    }
    free(before.q);
    r->outcome = status == HN_OK ? RUN_FINISHED : classify(h, r, status, true);
    h->sum.outcomes[r->outcome]++;
    if (r->outcome == RUN_FINISHED) {
        judge_ledger(h, r, s, worst);
        memcpy(r->q, s->state.q, count * sizeof(double));
        hn_ledger ledger;
        if (hn_simulation_ledger(s, &ledger) == HN_OK) sum = ledger.accuracy.relative_sum;
        uint64_t run_digest = hash_integer(HASH_START, (int64_t)r->index);
        run_digest = hash_doubles(run_digest, s->state.q, count);
        h->sum.digest += hash_doubles(run_digest, &sum, 1);
    }
    alarm(0);
    hn_simulation_destroy(reference);
    hn_simulation_destroy(s);
    return sum;
}

// ---- the motion itself, as far as it can be known ------------------------------------------------------------

typedef struct truth {
    bool known;
    double *q;            // at the end
    double change[2];     // from two coarser runs to it
    double sum;           // what the run says of itself: its local errors, summed
    hn_simulation *frame; // gives sizes of bodies
} truth;

static bool end_of_run(const random_model *m, double step, int64_t steps, double *q, double *sum)
{
    hn_simulation *s =
        create(m, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, step, sum != NULL);
    bool finished = s != NULL && hn_simulation_step(s, steps) == HN_OK;
    hn_ledger ledger;
    if (finished && sum != NULL) {
        finished = hn_simulation_ledger(s, &ledger) == HN_OK;
        *sum = ledger.accuracy.relative_sum;
    }
    if (finished) memcpy(q, s->state.q, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    hn_simulation_destroy(s);
    return finished;
}

// With `judged` false only the frame.
static truth find_truth(const random_model *m, double step, int64_t steps, bool judged)
{
    truth t = {.known = false};
    alarmed = hn_model_context(m->model);
    alarm(SECONDS_MAX);
    t.frame = create(m, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, step, false);
    if (t.frame == NULL) return t;
    const hn_system *system = t.frame->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    t.q = malloc(2 * count * sizeof(double));
    if (t.q == NULL) abort();
    t.known = judged;
    for (int k = 0; k < 3 && t.known; ++k) {
        int parts = FINER << k;
        memcpy(t.q + count, t.q, count * sizeof(double));
        t.known = end_of_run(m, step / parts, steps * parts, t.q, k == 2 ? &t.sum : NULL);
        if (k > 0) t.change[k - 1] = relative_difference(system, t.q, t.q + count);
    }
    alarm(0);
    return t;
}

// How far two runs get apart, one with velocities larger by `part` after its first step, over what they are apart after
// the second; 0: one of them stops.
static double neighbour_growth(const run *r, hn_reduction way, double part)
{
    hn_simulation *s[2];
    double growth = 0.0, apart = 0.0;
    bool fine = true;
    for (int k = 0; k < 2; ++k) {
        s[k] = create(r->model, r->scheme, way, r->step, false);
        fine = s[k] != NULL && hn_simulation_step(s[k], 1) == HN_OK && fine;
    }
    for (int i = 0; fine && i < POSE_SIZE * s[1]->system->body_count; ++i)
        s[1]->state.impetus[i] *= 1.0 + part;
    if (fine) s[1]->past.count = 0;
    for (int n = 1; n < r->steps && fine; ++n) {
        for (int k = 0; k < 2; ++k) fine = fine && hn_simulation_step(s[k], 1) == HN_OK;
        double now = relative_difference(s[0]->system, s[0]->state.q, s[1]->state.q);
        if (n == 1) apart = fmax(now, FLOOR * NEIGHBOUR_NEAR);
        growth = fmax(growth, now / apart);
    }
    for (int k = 0; k < 2; ++k) hn_simulation_destroy(s[k]);
    return fine ? growth : 0.0;
}

// Does `projected-rk` with tight tolerances, another kind of method, end there too, where it takes the model? Runs of
// one scheme may jump over the same.
static bool is_confirmed_apart(const run *r, const truth *t, double difference)
{
    hn_simulation_def def = hn_simulation_def_default();
    hn_simulation *s = NULL;
    def.scheme = HN_SCHEME_PROJECTED_RK;
    def.step_size = r->step;
    def.ledger = false;
    def.projected_rk.absolute_tolerance = def.projected_rk.relative_tolerance = TIGHT;
    alarm(SECONDS_MAX);
    bool finished = hn_simulation_create(r->model->model, &def, &s) == HN_OK &&
                    hn_simulation_step(s, r->steps) == HN_OK;
    bool same = !finished || relative_difference(s->system, s->state.q, t->q) <= SURE * difference;
    alarm(0);
    hn_simulation_destroy(s);
    return same;
}

// Is a run four times as fine where the finest one was, as far as `difference` tells, and sure of its steps?
static bool is_confirmed(const run *r, const truth *t, double difference)
{
    int parts = 16 * FINER;
    hn_simulation *s =
        create(r->model, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, r->step / parts, false);
    alarm(SECONDS_MAX);
    bool same = s != NULL && hn_simulation_step(s, (int64_t)r->steps * parts) == HN_OK &&
                hn_simulation_statistics(s).ambiguous_step_count == 0 &&
                relative_difference(s->system, s->state.q, t->q) <= SURE * difference;
    alarm(0);
    hn_simulation_destroy(s);
    return same;
}

static void judge_end(hunt *h, run *r, const truth *t, double sum)
{
    if (r->outcome != RUN_FINISHED) return;
    // where no step had a sure reference, a neighbouring run of the same scheme tells the growth
    if (t->known && !r->growth_known)
        r->growth = fmax(r->growth, neighbour_growth(r, r->reduction, NEIGHBOUR));
    if (!t->known || !(r->growth < CHAOTIC) || r->too_long) {
        (*(r->too_long ? &h->sum.ends_too_long
           : t->known  ? &h->sum.ends_chaotic
                       : &h->sum.ends_unknown))++;
        return;
    }
    double difference = relative_difference(t->frame->system, r->q, t->q);
    // the samples may have missed what makes the motion grow
    if (difference > (ALLOWED * sum + FLOOR) * r->growth)
        r->growth = fmax(r->growth, neighbour_growth(r, r->reduction, NEIGHBOUR_NEAR));
    if (!(r->growth < CHAOTIC)) {
        h->sum.ends_chaotic++;
        return;
    }
    double allowed = (ALLOWED * sum + FLOOR) * r->growth;
    // two runs that jump over the same thing agree, and both say so
    bool sure = is_convergent(t->change, fmax(difference, allowed)) &&
                t->sum <= SURE * fmax(difference, allowed);
    if (sure && difference - t->change[1] / 3.0 > allowed)
        sure = is_confirmed(r, t, difference) && is_confirmed_apart(r, t, difference);
    if (!sure) {
        h->sum.ends_unsure++;
        return;
    }
    h->sum.ends_judged++;
    difference -= t->change[1] / 3.0;
    h->sum.worst_end = fmax(h->sum.worst_end, difference / allowed);
    if (difference > allowed) {
        char text[160];
        snprintf(text, sizeof text, "of what is allowed: %.2g apart, estimate %.2g, growth %.2g",
                 difference, sum, r->growth);
        report(h, r, END_ERROR, difference / allowed, text);
    }
}

// ---- one model --------------------------------------------------------------------------------------------

static void hunt_model(hunt *h, uint64_t index)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) abort();
    draw d = draw_create(h->seed, index);
    random_model m;
    h->sum.models++;
    hn_status status = random_model_create(context, &d, &m);
    run r = {.model = &m, .index = index, .steps = 20 + 4 * draw_below(&d, (STEPS_MAX - 20) / 4)};
    if (status != HN_OK) {
        h->sum.runs++;
        h->sum.outcomes[RUN_REFUSED]++;
        if (hn_context_message(context)[0] == '\0') report(h, &r, NO_REASON, (double)status, "");
        hn_context_destroy(context);
        return;
    }
    r.step = draw_decades(&d, -2.7, -0.6) / m.rate;
    bool all = index % 10 == 0;
    int only_scheme = draw_below(&d, HN_SCHEME_COUNT),
        only_reduction = draw_below(&d, HN_REDUCTION_COUNT);
    truth t = find_truth(&m, r.step, r.steps, !h->promises);
    if (h->verbose && t.frame != NULL) describe(h, t.frame->system);
    size_t count = t.frame == NULL ? 1 : POSE_SIZE * (size_t)t.frame->system->body_count;
    double *ends = malloc(2 * count * sizeof(double));
    if (ends == NULL) abort();
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        bool own = hn_scheme_has_own_solver((hn_scheme)scheme), first = false, unique = true,
             inaccurate = false;
        for (int way = 0; way < (own ? 1 : HN_REDUCTION_COUNT); ++way) {
            if (!all && (scheme != only_scheme || (!own && way != only_reduction))) continue;
            r.scheme = (hn_scheme)scheme;
            r.reduction = (hn_reduction)way;
            r.q = way == 0 ? ends : ends + count;
            r.too_long = r.not_unique = r.growth_known = r.inaccurate = false;
            r.growth = 1.0;
            if (t.frame == NULL) {
                // what no scheme takes need not be tried with all
                (void)perform(h, &r);
                scheme = HN_SCHEME_COUNT;
                break;
            }
            double sum = perform(h, &r);
            judge_end(h, &r, &t, sum);
            if (way == 0) first = r.outcome == RUN_FINISHED;
            if (way == 0) unique = !r.not_unique, inaccurate = r.inaccurate;
            if (h->promises || way == 0 || !first || r.outcome != RUN_FINISHED) continue;
            if (!(r.growth < CHAOTIC)) {
                h->sum.pairs_chaotic++;
                continue;
            }
            double apart =
                relative_difference(t.frame->system, ends, r.q) / (SAME_MOTION * r.growth);
            if (apart > 1.0) {
                // the samples may have missed what makes the motion grow
                double growth = neighbour_growth(&r, HN_REDUCTION_REDUCED, NEIGHBOUR_NEAR);
                if (!(growth < CHAOTIC)) {
                    h->sum.pairs_chaotic++;
                    continue;
                }
                apart *= r.growth / fmax(r.growth, growth);
            }
            if (apart > 1.0 && (r.not_unique || !unique)) {
                h->sum.pairs_not_unique++;
                continue;
            }
            if (apart > 1.0 && (r.inaccurate || inaccurate)) {
                h->sum.pairs_inaccurate++;
                continue;
            }
            h->sum.pairs_judged++;
            h->sum.worst_apart = fmax(h->sum.worst_apart, apart);
            if (apart > 1.0) report(h, &r, DISAGREES, apart, "of what is allowed, from `reduced`");
        }
    }
    free(ends);
    free(t.q);
    hn_simulation_destroy(t.frame);
    hn_model_destroy(m.model);
    hn_context_destroy(context);
}

// ---- all of them ------------------------------------------------------------------------------------------

static void add_tally(tally *to, const tally *from)
{
    // all but the worst figures are counts
    const int64_t *more = (const int64_t *)from;
    for (size_t k = 0; k < offsetof(tally, worst_step) / sizeof(int64_t); ++k)
        ((int64_t *)to)[k] += more[k];
    to->worst_step = fmax(to->worst_step, from->worst_step);
    to->worst_end = fmax(to->worst_end, from->worst_end);
    to->worst_apart = fmax(to->worst_apart, from->worst_apart);
    to->digest += from->digest;
}

// Findings of all jobs, by model.
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
    return a->model != b->model ? (a->model < b->model ? -1 : 1) : (int)a->what - (int)b->what;
}

static size_t count_models(const found_list *list, bool named)
{
    size_t count = 0;
    uint64_t last = UINT64_MAX;
    for (size_t k = 0; k < list->count; ++k) {
        if ((list->all[k].what == NOT_KEPT) != named || list->all[k].model == last) continue;
        last = list->all[k].model;
        count++;
    }
    return count;
}

static void print_found(const found_list *list, bool named)
{
    for (size_t k = 0; k < list->count; ++k)
        if ((list->all[k].what == NOT_KEPT) == named) printf("  %s\n", list->all[k].text);
}

static void print_tally(const tally *t, uint64_t seed)
{
    printf("seed %llu: %lld models, %lld runs: %lld finished, %lld refused, %lld stopped, %lld "
           "singular, %lld slow\n",
           (unsigned long long)seed, (long long)t->models, (long long)t->runs,
           (long long)t->outcomes[RUN_FINISHED], (long long)t->outcomes[RUN_REFUSED],
           (long long)t->outcomes[RUN_STOPPED], (long long)t->outcomes[RUN_SINGULAR],
           (long long)t->outcomes[RUN_SLOW]);
    printf("steps: %lld judged, worst %.2f of what is allowed; %lld without a sure reference\n",
           (long long)t->steps_judged, t->worst_step, (long long)t->steps_unsure);
    printf("ends: %lld judged, worst %.2f of what is allowed; apart: %lld chaotic, %lld with steps "
           "named too long, %lld without a converged run, %lld of which it is not sure\n",
           (long long)t->ends_judged, t->worst_end, (long long)t->ends_chaotic,
           (long long)t->ends_too_long, (long long)t->ends_unknown, (long long)t->ends_unsure);
    printf("reductions: %lld pairs judged, worst %.2f of what is allowed; apart: %lld chaotic, "
           "%lld with steps named not unique, %lld with steps off by more than %g by their own "
           "accuracy line\n",
           (long long)t->pairs_judged, t->worst_apart, (long long)t->pairs_chaotic,
           (long long)t->pairs_not_unique, (long long)t->pairs_inaccurate, NAMED);
    printf("digest of ends: %016llx\n", (unsigned long long)t->digest);
}

static int conclude(const tally *t, const found_list *list, uint64_t seed, bool strict)
{
    size_t counts[FINDINGS] = {0}, silent = 0;
    for (size_t k = 0; k < list->count; ++k) counts[list->all[k].what]++;
    for (int k = 0; k < NOT_KEPT; ++k) silent += counts[k];
    print_tally(t, seed);
    printf("named by the ledger: %zu promises not kept in %zu models\n", counts[NOT_KEPT],
           count_models(list, true));
    print_found(list, true);
    printf("findings: %zu in %zu models", silent, count_models(list, false));
    for (int k = 0; k < NOT_KEPT; ++k)
        if (counts[k] > 0) printf(", %s %zu", FINDING_NAMES[k], counts[k]);
    printf("\n");
    print_found(list, false);
    if (strict) silent += counts[NOT_KEPT];
    printf("%lld passed, %zu failed\n", (long long)t->runs - (long long)silent, silent);
    return silent > 0 ? 1 : 0;
}

int main(int argument_count, char **arguments)
{
    hunt h = {.seed = 1, .out = stdout};
    long long models = 200, first = 0, jobs = 1, seconds = 0;
    for (int i = 1; i < argument_count; ++i) {
        const char *word = arguments[i], *value = i + 1 < argument_count ? arguments[i + 1] : "0";
        if (strcmp(word, "--verbose") == 0) h.verbose = true;
        else if (strcmp(word, "--promises") == 0) h.promises = true;
        else if (strcmp(word, "--strict") == 0) h.strict = true;
        else if (strcmp(word, "--models") == 0) models = atoll(value), ++i;
        else if (strcmp(word, "--first") == 0) first = atoll(value), ++i;
        else if (strcmp(word, "--seed") == 0) h.seed = strtoull(value, NULL, 10), ++i;
        else if (strcmp(word, "--jobs") == 0) jobs = atoll(value), ++i;
        else if (strcmp(word, "--seconds") == 0) seconds = atoll(value), ++i;
        else
            return fprintf(stderr,
                           "hunter [--models N] [--first I] [--seed S] [--jobs J] [--seconds T] "
                           "[--promises] [--strict] [--verbose]\n"),
                   2;
    }
    signal(SIGALRM, ring);
    int channel[2];
    if (jobs < 1 || pipe(channel) != 0) return 2;
    h.channel = channel[1];
    fflush(stdout);
    time_t begin = time(NULL);
    for (long long job = 0; job < jobs; ++job) {
        if (fork() != 0) continue;
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (long long i = first + job; i < first + models; i += jobs)
            if (seconds == 0 || time(NULL) - begin < seconds) hunt_model(&h, (uint64_t)i);
        fflush(stdout);
        job_message end = {.last = true, .sum = h.sum};
        _exit(send_message(h.channel, &end) ? 0 : 1);
    }
    close(channel[1]);
    tally all = {0};
    found_list list = {0};
    long long heard = 0;
    for (job_message m; read(channel[0], &m, sizeof m) == (ssize_t)sizeof m;) {
        if (m.last) add_tally(&all, &m.sum), heard++;
        else add_found(&list, &m.one);
    }
    while (wait(NULL) > 0) {
    }
    if (list.count > 0) qsort(list.all, list.count, sizeof *list.all, compare_found);
    int result = conclude(&all, &list, h.seed, h.strict);
    free(list.all);
    if (heard < jobs) return printf("%lld of %lld jobs died\n", jobs - heard, jobs), 1;
    return result;
}
