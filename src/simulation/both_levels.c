// SPDX-License-Identifier: MIT
// Both constraint levels in one step (B1)-(B5): c of (B5) is of second order in h, so that a reduction's solution for
// the c of the last sweep changes it by little; each sweep gains about as many digits as h^2 has.
// Note: docs/theory/ggl-energy-momentum.md
#include "simulation/both_levels.h"

#include "reductions/velocity_level.h"
#include "system/mass.h"

#include <string.h>

// h c of two sweeps differ by this part of a body's equation: the step is solved
static const double CHANGE_TOLERANCE = 2e-17;
// or by so much, and no sweep makes it less: round-off
static const double ROUND_OFF_CHANGE = 1e-13, FALLING = 0.5;
static const double ROUND_OFF = 16.0 * DBL_EPSILON; // of a place, in the velocity (B4) starts from
// Between very different masses increments of sweeps that gain nothing any more are round-off as well: up to this,
// where h c of two sweeps differ by so little
static const double ROUND_OFF_INCREMENT = 1e-11; // rad, m over the body's length
static const double ROUND_OFF_PART = 3e-8;       // of a body's equation
enum { STALLED_SWEEPS = 5 };
// or by no more than round-off of heavy bodies makes it in light ones of a mechanism, while sweeps move none any more
static const double STILL_PART = 64.0 * DBL_EPSILON; // of its equation, times the ratio of masses
static const double STILL_INCREMENT = 1e-13;         // rad, m over the body's length
// which a body that turns by radians in a step makes more of from sweep to sweep
static const double ROUND_OFF_GROWTH = 100.0;
// sweeps that do not lead to a solution
static const double GROWTH = 2.0;
// Sweeps that gain too little: of Newton's iterations_max so many parts have to bring h c to this part of a body's
// equation, far above round-off, which therefore does not decide whether a step is made in halves; then they may end.
static const double DECIDED_PART = 0.6, DECIDED_CHANGE = 1e-9, SWEEPS_PART = 2.0;
// Newton's method in a sweep: the next one goes on from there (rad, m over the body's length); and no residual is small
// enough to be left, which it would be in every step alike
static const double SWEEP_INCREMENT = 1e-6, SWEEP_RESIDUAL = 1e-30;

void both_levels_layout(arena *a, hn_simulation *s)
{
    size_t n = s->scheme->both_levels ? (size_t)s->system->body_count : 0;
    both_levels *l = &s->levels;
    l->base = arena_doubles(a, POSE_SIZE * n);
    l->next = arena_doubles(a, POSE_SIZE * n);
    l->work.momentum = arena_doubles(a, POSE_SIZE * n);
    l->work.middle = arena_doubles(a, POSE_SIZE * n);
    l->work.start = arena_doubles(a, TWIST_SIZE * n);
    l->work.change = arena_doubles(a, TWIST_SIZE * n);
    l->scales = arena_bytes(a, n * sizeof(body_scale));
    l->round_off = arena_bytes(a, (n > 0 ? (size_t)s->system->mechanism_count : 0) *
                                      sizeof(mechanism_round_off));
}

// c as it changes from step to step, linearly
static void predict(const hn_simulation *s, solved_step *step, bool from_history)
{
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    const double *last = s->levels.history, *before = last + count;
    double now = from_history && s->levels.history_count > 0 ? 1.0 : 0.0,
           change = from_history && s->levels.history_count > 1 ? 1.0 : 0.0;
    for (size_t k = 0; k < count; ++k)
        step->curvature[k] = now * last[k] + change * (last[k] - before[k]);
    for (int i = 0; step->equations.parked != NULL && i < s->system->body_count; ++i)
        if (step->equations.parked[i])
            memset(step->curvature + POSE_SIZE * (size_t)i, 0, POSE_SIZE * sizeof(double));
}

void both_levels_record(hn_simulation *s, const solved_step *step, bool keep_history)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    both_levels *l = &s->levels;
    memcpy((char *)l->history + size, l->history, size);
    memcpy(l->history, step->curvature, size);
    if (!keep_history) l->history_count = 0;
    else if (l->history_count < CURVATURE_DEPTH) l->history_count++;
}

// How far h c of two sweeps are apart.
typedef struct sweep_change {
    double part;    // of the body's equation where it is largest
    double more;    // kg m/s, than round-off may make it, at most; negative: no more than that
    double rounded; // over what round-off between masses explains, where it is largest
} sweep_change;

// Round-off of places, eps m |q|/h in gamma, reaches all bodies of a mechanism through their joints: h c of a light one
// may be known no better than to that times its rate.
static void find_round_off(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    const both_levels *l = &s->levels;
    const double left = fmin(l->left, ROUND_OFF_INCREMENT);
    memset(l->round_off, 0, (size_t)system->mechanism_count * sizeof(mechanism_round_off));
    for (int i = 0; i < system->body_count; ++i) {
        mechanism_round_off *x = &l->round_off[system->mechanism[i]];
        const double *v = step->data.velocity + POSE_SIZE * (size_t)i;
        double place = one_norm(step->q_start + POSE_SIZE * (size_t)i) + system->sizes[i];
        double rate = system->bodies[i].has_directors
                          ? one_norm(v + 3) + one_norm(v + 6) + one_norm(v + 9)
                          : one_norm(v) / system->sizes[i];
        double mass = mass_weight(system, i),
               length = measure_length(system, i, step->q_start, step->data.delta);
        x->impulse = fmax(x->impulse, ROUND_OFF * mass * place);
        x->left = fmax(x->left, left * mass * length);
        x->rate = fmax(x->rate, rate);
        x->heaviest = fmax(x->heaviest, mass);
        x->lightest = x->lightest > 0.0 ? fmin(x->lightest, mass) : mass;
    }
}

static sweep_change change_of(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    const both_levels *l = &s->levels;
    double h = step->equations.step_size;
    sweep_change largest = {0.0, -HUGE_VAL, 0.0};
    measure_bodies(system, &step->equations, &step->data, l->scales);
    measure_transmit(system, l->scales);
    find_round_off(s, step);
    for (int i = 0; i < system->body_count; ++i) {
        double difference[POSE_SIZE];
        for (int k = 0; k < POSE_SIZE; ++k) {
            size_t at = POSE_SIZE * (size_t)i + (size_t)k;
            difference[k] = h * (l->next[at] - step->curvature[at]);
        }
        double force = one_norm(difference),
               moment =
                   one_norm(difference + 3) + one_norm(difference + 6) + one_norm(difference + 9);
        const mechanism_round_off *x = &l->round_off[system->mechanism[i]];
        double size = fmax(measure_part(force, l->scales[i].force),
                           measure_part(moment, l->scales[i].moment)),
               impulse = size <= ROUND_OFF_PART ? fmax(x->impulse, x->left) : x->impulse,
               known = impulse * x->rate;
        if (!(size <= largest.part)) largest.part = size;
        largest.rounded = fmax(largest.rounded, size * x->lightest / (STILL_PART * x->heaviest));
        largest.more = fmax(largest.more, fmax(force, moment / system->sizes[i]) -
                                              (known + ROUND_OFF_CHANGE * l->scales[i].force));
    }
    return largest;
}

// b and the multipliers of cut joints as lambda has them: M (2 Delta/h - v_n - v_n+1) = 2 G(q_mid)^T gamma goes to b
static void take_velocity_forces(hn_simulation *s, solved_step *step)
{
    const both_levels *l = &s->levels;
    double h = step->equations.step_size, *taken = l->work.middle;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    for (size_t k = 0; k < count; ++k)
        taken[k] = 2.0 / h * step->data.delta[k] - s->state.impetus[k] - step->data.velocity[k];
    mass_apply(s->system, 1.0, taken, taken);
    for (size_t k = 0; k < count; ++k)
        step->momentum[k] = l->base[k] - h * step->curvature[k] + taken[k];
    velocity_level_add_closure(s->projection, step->data.closure);
}

static hn_status fail_to_settle(hn_simulation *s)
{
    s->newton.gave_up = GAVE_UP_LEVELS;
    return HN_NOT_CONVERGED;
}

// Sweeps from an iterate as `guess` says.
static hn_status sweep(hn_simulation *s, solved_step *step, const newton_options *options,
                       step_guess guess)
{
    both_levels *l = &s->levels;
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    double h = step->equations.step_size, before = HUGE_VAL, halved = HUGE_VAL, moved = HUGE_VAL;
    int iterations = 0, stalled = 0;
    l->left = 0.0;
    newton_options one = *options;
    // motions are held by differences of whole solutions
    if (s->hold_count == 0)
        one.increment_tolerance = fmax(options->increment_tolerance, SWEEP_INCREMENT);
    if (options->residual_tolerance > 0.0) one.residual_tolerance = SWEEP_RESIDUAL;
    const int decided = (int)(DECIDED_PART * options->iterations_max),
              sweeps_max = (int)(SWEEPS_PART * options->iterations_max);
    for (int k = 0; k < sweeps_max; ++k) {
        for (size_t i = 0; i < count; ++i) step->momentum[i] = l->base[i] - h * step->curvature[i];
        TRY(simulation_solve_reduction(s, step, &one, k == 0 ? guess : GUESS_SOLVED));
        one.continued = true;
        iterations += s->newton.iterations;
        s->newton.iterations = iterations;
        TRY(velocity_level_solve(s->projection, &step->data, h, s->state.impetus, &l->work,
                                 step->data.velocity, l->next));
        l->left = fmax(s->newton.increment, FALLING * l->left);
        sweep_change changes = change_of(s, step);
        double change = changes.part;
        // as small as round-off of heavy bodies' places makes it, and for so long no smaller
        bool still = fmax(moved, s->newton.increment) <= STILL_INCREMENT && changes.rounded <= 1.0;
        bool lost = changes.more <= 0.0 || still;
        moved = s->newton.increment;
        // sweeps that gain less than half each time halve the difference in some: it is held against what it was then
        stalled = change <= FALLING * halved ? 0 : stalled + 1;
        if (stalled == 0) halved = change;
        bool small = change <= ROUND_OFF_CHANGE ||
                     (before <= ROUND_OFF_CHANGE && change <= ROUND_OFF_GROWTH * ROUND_OFF_CHANGE);
        bool settled = (small && change > FALLING * before) || (lost && stalled >= STALLED_SWEEPS);
        if (!isfinite(change) || (!small && !lost && change > GROWTH * before))
            return fail_to_settle(s);
        if (k >= decided && change > DECIDED_CHANGE && !lost) return fail_to_settle(s);
        bool solved = s->newton.increment <= options->increment_tolerance;
        if (solved && (change <= CHANGE_TOLERANCE || settled)) return HN_OK;
        double *next = l->next;
        l->next = step->curvature;
        step->curvature = next;
        before = change;
    }
    return fail_to_settle(s);
}

hn_status both_levels_solve(hn_simulation *s, solved_step *step, const newton_options *options,
                            step_guess guess)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    saddle_choice choice;
    TRY(options->keep_rows ? saddle_keep_rows(s->projection, step->q_start, &choice)
                           : saddle_choose_rows(s->projection, step->q_start, &choice));
    memcpy(s->levels.base, step->momentum, size);
    predict(s, step, guess == GUESS_HISTORY);
    hn_status status = sweep(s, step, options, guess);
    if (status == HN_OK) take_velocity_forces(s, step);
    else memcpy(step->momentum, s->levels.base, size);
    return status;
}

hn_status both_levels_solve_again(hn_simulation *s, solved_step *step,
                                  const newton_options *options, step_guess guess)
{
    memcpy(step->momentum, s->levels.base,
           POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    return both_levels_solve(s, step, options, guess);
}
