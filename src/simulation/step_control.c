// SPDX-License-Identifier: MIT
// Step control of schemes that keep energy and momenta in steps of any size. Note: docs/theory/step-control.md
//
//   (SC1)  q''' = 6 q[t_n+1, t_n, t_n-1, t_n-2], a divided difference
//   (SC2)  e = h^3 |q'''|/12: rad, and m over the body's size, the worst body
//   (SC3)  h' = h safety (tol/e)^(k_I/3) (e_before/tol)^(k_P/3)
//   (SC4)  u = h sum_i L_i(h/2) u_i/h_i: increments are extrapolated as mean rates at the middles of their steps
#include "simulation/step_control.h"

#include "simulation/events.h"
#include "simulation/passages.h"
#include "simulation/simulation.h"
#include "simulation/snapshot.h"

#include <math.h>
#include <string.h>

static const double SAFETY = 0.9, INTEGRAL = 0.7, PROPORTIONAL = 0.4; // (SC3)
static const double SHRINK_MIN = 0.1, GROWTH_MAX = 2.0;
static const double FIRST_PART = 1.0 / 64.0; // of the nominal step, where nothing is known
static const double FIRST_GROWTH_MAX = 5.0;  // where the first steps were a guess
static const double LEAST_PART = 1e-9;       // of the nominal step: below it a run ends
static const double ERROR_MIN =
    1e-6; // parts of the tolerance: round-off is no reason to grow faster

void step_control_layout(arena *a, hn_simulation *s)
{
    bool controlled = s->def.step_tolerance > 0.0;
    size_t n = controlled ? (size_t)s->system->body_count : 0;
    s->increments = arena_doubles(a, 2 * POSE_SIZE * n);
    s->control_point = arena_bytes(a, controlled ? hn_simulation_snapshot_size(s) : 0);
}

void step_control_forget(hn_simulation *s)
{
    s->control.known = 0;
    s->control.step = 0.0;
    s->past.count = 0;
}

void step_control_weights(const hn_simulation *s, double h, double *weights)
{
    const step_control *c = &s->control;
    int count = s->past.count < CONTROL_DEPTH ? s->past.count : CONTROL_DEPTH;
    double middle[CONTROL_DEPTH], at = 0.0;
    for (int i = 0; i < count; ++i) {
        middle[i] = at - 0.5 * c->sizes[i];
        at -= c->sizes[i];
    }
    for (int i = 0; i < count; ++i) {
        weights[i] = h / c->sizes[i];
        for (int j = 0; j < count; ++j)
            if (j != i) weights[i] *= (0.5 * h - middle[j]) / (middle[i] - middle[j]);
    }
}

// (SC1), (SC2) of the solved step
static local_error estimate(const hn_simulation *s, double h)
{
    const hn_system *system = s->system;
    const step_control *c = &s->control;
    const solved_step *step = &s->steps[s->ahead];
    double one = c->sizes[0], two = c->sizes[1];
    double factor = 0.5 * h * h * h / (h + one + two);
    local_error e = {0};
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *last = s->increments + 2 * at, *before = last + POSE_SIZE;
        double move = 0.0, turn = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) {
            double rate = step->data.delta[at + (size_t)k] / h, rate_one = last[k] / one;
            double third = factor * ((rate - rate_one) / (h + one) -
                                     (rate_one - before[k] / two) / (one + two));
            if (k < 3) move += third * third;
            else turn += third * third;
        }
        local_error_note_body(&e, system, i, sqrt(move), sqrt(0.5 * turn));
    }
    return e;
}

// Increments of the step just committed, for (SC1) and (SC4).
static void remember(hn_simulation *s, double h)
{
    step_control *c = &s->control;
    const double *delta = s->steps[1 - s->ahead].data.delta;
    for (int i = 0; i < s->system->body_count; ++i) {
        double *last = s->increments + 2 * POSE_SIZE * (size_t)i;
        memcpy(last + POSE_SIZE, last, POSE_SIZE * sizeof(double));
        memcpy(last, delta + POSE_SIZE * (size_t)i, POSE_SIZE * sizeof(double));
    }
    for (int k = CONTROL_DEPTH - 1; k > 0; --k) c->sizes[k] = c->sizes[k - 1];
    c->sizes[0] = c->last_step = h;
    if (c->known < 2) c->known++;
    c->smallest = c->accepted_count == 0 ? h : fmin(c->smallest, h);
    c->largest = fmax(c->largest, h);
    c->accepted_count++;
    double *least = &s->record.step_min;
    if (!(*least > 0.0 && *least < h)) *least = h;
}

// (SC3); `ratio` is the error over the tolerance.
static double next_size(const step_control *c, double h, double ratio)
{
    double growth_max = c->error > 0.0 ? GROWTH_MAX : c->error < 0.0 ? 1.0 : FIRST_GROWTH_MAX;
    double before = c->error > 0.0 ? c->error : ratio;
    double factor = SAFETY * pow(ratio, -INTEGRAL / 3.0) * pow(before, PROPORTIONAL / 3.0);
    return h * fmin(growth_max, fmax(SHRINK_MIN, factor));
}

typedef enum verdict { STEP_TAKEN, STEP_HIT, STEP_TOO_LONG, STEP_FAILED } verdict;

// One inner step. STEP_TOO_LONG: not taken, `control.step` has a better size.
static verdict attempt(hn_simulation *s, double h, double time, local_error *error,
                       hn_status *status)
{
    step_control *c = &s->control;
    double tolerance = s->def.step_tolerance;
    *error = (local_error){0};
    *status = simulation_solve_or_stop(s, h, time, c->known == 0);
    bool solved = *status == HN_OK;
    const solved_step *ahead = &s->steps[s->ahead];
    int barrier = solved ? barriers_leapt(s, ahead) : -1;
    if (solved && (barrier >= 0 || passage_is_leapt(s, ahead)) &&
        0.5 * h > s->def.step_size * ldexp(1.0, -s->def.halvings_max)) {
        c->step = 0.5 * h;
        return STEP_TOO_LONG;
    }
    if (barrier >= 0) barriers_name(s, ahead, barrier);
    bool hits = solved && events_reached(s);
    if (hits) *status = events_pass(s, h, time);
    if (*status == HN_CANCELLED || *status == HN_NOT_FINITE) return STEP_FAILED;
    if (*status != HN_OK) {
        c->step = 0.5 * h;
        return STEP_TOO_LONG;
    }
    if (hits) return STEP_HIT;
    bool known = c->known == 2;
    double ratio = 0.0;
    if (known) {
        *error = estimate(s, h);
        ratio = fmax(error->value[ERROR_RELATIVE] / tolerance, ERROR_MIN);
    }
    if (!(ratio <= 1.0)) {
        c->step = h * fmax(SHRINK_MIN, SAFETY * pow(ratio, -1.0 / 3.0));
        return STEP_TOO_LONG;
    }
    *status = simulation_commit(s, true);
    if (*status != HN_OK) return STEP_FAILED;
    if (known) {
        c->step = next_size(c, h, ratio);
        c->error = ratio;
    }
    remember(s, h);
    return STEP_TAKEN;
}

// To the state before, for other steps from there; what was counted stays counted.
static void take_back(hn_simulation *s, const void *snapshot)
{
    int64_t accepted = s->control.accepted_count, rejected = s->control.rejected_count;
    newton_report report = s->newton;
    hn_statistics statistics = s->statistics;
    snapshot_take_back(s, snapshot);
    s->newton = report;
    s->statistics = statistics;
    s->control.accepted_count = accepted;
    s->control.rejected_count = rejected;
}

hn_status step_control_fill(hn_simulation *s, double whole, double time)
{
    step_control *c = &s->control;
    local_error errors = {0}, sure_errors = {0};
    double done = 0.0,
           sure = 0.0; // up to there no step was a guess, or the one that followed agreed
    hn_status status = HN_OK;
    if (!s->def.ledger) snapshot_keep(s, s->before);
    if (c->known < 2) snapshot_keep(s, s->control_point);
    while (done < whole) {
        double left = whole - done, wanted = c->step > 0.0 ? c->step : FIRST_PART * whole;
        double h = wanted < left ? left / ceil(left / wanted) : left;
        bool guessed = c->known < 2;
        local_error error;
        verdict v = attempt(s, h, time + done, &error, &status);
        // one that failed is tried again, shorter
        bool least = v == STEP_TOO_LONG && !(c->step > LEAST_PART * whole);
        if (least && status == HN_OK) {
            s->newton.gave_up = GAVE_UP_INNER;
            status = HN_NOT_CONVERGED;
        }
        if (v == STEP_FAILED || least) {
            // cancelled, it is made again: nothing of it counts
            if (status == HN_CANCELLED) snapshot_take_back(s, s->before);
            else take_back(s, s->before);
            return status;
        }
        if (v == STEP_TOO_LONG) {
            double step = c->step;
            if (sure < done) take_back(s, s->control_point);
            errors = sure_errors;
            done = sure;
            c->step = step;
            c->error = -1.0;
            c->rejected_count++;
            continue;
        }
        done = h == left ? whole : done + h;
        local_error_add(&errors, &error, 1.0);
        if (v == STEP_HIT) {
            step_control_forget(s);
            snapshot_keep(s, s->control_point);
        }
        if (v == STEP_HIT || !guessed) sure = done, sure_errors = errors;
    }
    s->error_known = true;
    s->error = errors;
    return HN_OK;
}
