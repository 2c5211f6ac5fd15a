// SPDX-License-Identifier: MIT
// Relations of joint coordinates that hold exactly at the end of every step, and the efforts that it takes.
// Note: docs/theory/drives.md
//
//   (D7), (D10)  sum_k f_ik x_k(q_n+1; lambda) = r_i(t_n+1),   i over all that hold in the step
//
// A motion has one coordinate and a function of time, a coupling several and the value of the start; friction that
// sticks, latches and stops have one coordinate and a place. The efforts
// f_ik lambda_i enter the equations of a step like any other, so that every reduction and loop takes them, and do the
// work lambda_i f_ik (x_n+1 - x_n)_k: in all lambda_i (r_n+1 - r_n)_i, nothing for a coupling. They are found by
// Newton's method around that of the step: S_ij = d (f x)_i/d lambda_j by differences, each a step solved on from its
// solution, and lambda <- lambda - S^-1 (f x - r).
#include "simulation/simulation.h"

#include "elements/rotation_effort.h"
#include "linalg/small_lu.h"
#include "system/couplings.h"
#include "system/mass.h"

#include <string.h>

static const double HOLD_TOLERANCE =
    1e-13; // rad, or m over the size of the joint; less in parts of a step,
static const double HOLD_ROUND_OFF = 2e-16; // but not below this
static const double REACH = 1e-5;           // likewise: how far a difference moves a coordinate
static const double HELD = 1e-7;            // of the response without joints: no effort moves it
static const double SHARED = 1e-4; // of its own response: no effort moves it but with others
static const double START_TOLERANCE =
    1e-9; // rad, m over the size; of rates over the largest of them
static const double RATE_TOLERANCE = 1e-6;   // of rates, given with as many digits
static const double SPEED_ROUND_OFF = 1e-12; // of speeds of the bodies, whose differences rates are
enum { HOLD_PASSES = 12 };

// Friction, latches and rigid stops hold at times.
static bool holds_at_times(const drive_law *law)
{
    return law->kind == HN_DRIVE_FRICTION || law->kind == HN_DRIVE_LATCH || law->rigid;
}

static int list_drives(const hn_system *system, bool at_times, hold *list, int count)
{
    for (int i = 0; i < system->drive_count; ++i) {
        const drive_law *law = &system->laws[i];
        if (!(at_times ? holds_at_times(law) : law->kind == HN_DRIVE_MOTION)) continue;
        if (list != NULL)
            list[count] = (hold){.term_count = 1,
                                 .first = system->drive_first + i,
                                 .coupling = -1,
                                 .factors = {1.0}};
        ++count;
    }
    return count;
}

int holds_find_firm(const hn_system *system, hold *list)
{
    int count = list_drives(system, false, list, 0);
    for (int i = 0; i < system->coupling_count; ++i) {
        const system_coupling *c = &system->couplings[i];
        if (c->dependent) continue;
        if (list != NULL) {
            list[count] = (hold){.term_count = c->term_count, .first = c->first, .coupling = i};
            memcpy(list[count].factors, c->factors, sizeof c->factors);
        }
        ++count;
    }
    return count;
}

int holds_find(const hn_system *system, hold *list)
{
    return list_drives(system, true, list, holds_find_firm(system, list));
}

// ---- start ------------------------------------------------------------------------------------------------

motion_jet holds_motion(const element *e, double time)
{
    const drive_law *law = e->law;
    if (e->rotation) {
        rotation_jet path = rotation_path_at(e, time);
        return (motion_jet){.rate = rotation_component(e, path.velocity),
                            .acceleration = rotation_component(e, path.acceleration)};
    }
    time_jet r = profile_at(law->function, time);
    return (motion_jet){law->scale * r.value, law->scale * r.rate, law->scale * r.acceleration};
}

// What velocities of a joint's bodies, at the start or of a state that is set, leave open of its rate, m/s or rad/s
static double rate_round_off(const hn_system *system, const element *e)
{
    const int bodies[2] = {e->a, e->b};
    double apart = 0.0, speed = 0.0;
    if (e->a >= 0 && e->b >= 0)
        apart = vec3_norm(vec3_subtract(pose_center(system_pose(system->q_start, e->b)),
                                        pose_center(system_pose(system->q_start, e->a))));
    for (int k = 0; k < 2; ++k) {
        if (bodies[k] < 0) continue;
        const double *twist = system->twist_start + TWIST_SIZE * (size_t)bodies[k];
        double turn = vec3_norm(vec3_load(twist + 3));
        speed += e->displacement
                     ? vec3_norm(vec3_load(twist)) + turn * (apart + system->sizes[bodies[k]])
                     : turn;
    }
    return SPEED_ROUND_OFF * speed;
}

// The same, and what the fastest bodies that it starts together with leave open: at rest among them is not quite zero.
static double start_round_off(const hn_system *system, const element *e)
{
    int own = e->b >= 0 ? e->b : e->a;
    double fastest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        if (system->group[i] != system->group[own]) continue;
        const double *twist = system->twist_start + TWIST_SIZE * (size_t)i;
        fastest = fmax(fastest, vec3_norm(vec3_load(twist)) +
                                    vec3_norm(vec3_load(twist + 3)) * system->sizes[i]);
    }
    if (!e->displacement) fastest /= system->sizes[own];
    return fmax(rate_round_off(system, e), SPEED_ROUND_OFF * fastest);
}

static hn_status check_motion(const hn_simulation *s, const element *e)
{
    const hn_system *system = s->system;
    const drive_law *law = e->law;
    double x = law->sign * s->angles[e->angle], rate = s->angles[e->angle + DRIVE_ROTOR];
    double unit = law->unit;
    motion_jet r = holds_motion(e, 0.0);
    double off = r.value - x, speed = r.rate;
    if (e->rotation)
        off = -rotation_path_off(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b),
                                 0.0);
    if (e->rotation && !(fabs(off) <= START_TOLERANCE))
        return context_fail(system->context, HN_INVALID_MODEL,
                            "drive '%s': its rotation begins %.9g rad away from that of joint "
                            "'%s', about this axis; expected a rotation that begins where the "
                            "joint is",
                            e->name, off, system->reports[e->joint].name);
    if (!(fabs(off) <= START_TOLERANCE * fmax(unit, fabs(x))))
        return context_fail(system->context, HN_INVALID_MODEL,
                            "drive '%s': its motion begins at %.9g, joint '%s' at %.9g %s; "
                            "expected a motion that begins where the joint is",
                            e->name, r.value, system->reports[e->joint].name, x,
                            e->displacement ? "m" : "rad");
    double known = start_round_off(system, e) + HOLD_TOLERANCE * unit / s->def.step_size;
    if (!(fabs(speed - rate) <= RATE_TOLERANCE * fmax(fabs(speed), fabs(rate)) + known))
        return context_fail(
            system->context, HN_INVALID_MODEL,
            "drive '%s': its motion begins with the rate %.9g, joint '%s' with %.9g %s; "
            "expected the same (the start rate of the joint)",
            e->name, speed, system->reports[e->joint].name, rate,
            e->displacement ? "m/s" : "rad/s");
    return HN_OK;
}

// A latch and a rigid stop begin on the side where they are open.
static hn_status check_bounds(const hn_simulation *s, const element *e)
{
    const drive_law *law = e->law;
    double x = law->sign * s->angles[e->angle], off = START_TOLERANCE * law->unit;
    if (law->kind == HN_DRIVE_LATCH && fabs(x - law->latch) <= off)
        return context_fail(s->context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' starts at %.9g, where the latch would lock; "
                            "expected another place, or a fixed joint",
                            e->name, s->system->reports[e->joint].name, x);
    if (law->rigid && !(x >= law->lower - off && x <= law->upper + off))
        return context_fail(s->context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' starts at %.9g, beyond its stop; expected %.9g "
                            "to %.9g",
                            e->name, s->system->reports[e->joint].name, x, law->lower, law->upper);
    return HN_OK;
}

static hn_status check_coupling(const hn_simulation *s, const system_coupling *c)
{
    const hn_system *system = s->system;
    double sum = 0.0, largest = 0.0, known = 0.0;
    for (int k = 0; k < c->term_count; ++k) {
        const element *e = &system->elements[c->first + k];
        double rate = c->factors[k] * s->angles[e->angle + DRIVE_ROTOR];
        sum += rate;
        largest = fmax(largest, fabs(rate));
        known += fabs(c->factors[k]) * start_round_off(system, e);
    }
    const element *e = &system->elements[c->first];
    if (fabs(sum) <= START_TOLERANCE * largest + known) return HN_OK;
    return context_fail(
        system->context, HN_INVALID_MODEL,
        "coupling '%s': joint '%s' starts with the rate %.9g %s; with the rates of the others "
        "expected %.9g (a start rate that is left out follows from couplings)",
        c->name, system->reports[e->joint].name, s->angles[e->angle + DRIVE_ROTOR],
        e->displacement ? "m/s" : "rad/s", s->angles[e->angle + DRIVE_ROTOR] - sum);
}

hn_status holds_check_start(const hn_simulation *s)
{
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        const element *e = &s->system->elements[h->first];
        if (h->coupling < 0 && e->law->kind == HN_DRIVE_MOTION) TRY(check_motion(s, e));
        else if (h->coupling < 0) TRY(check_bounds(s, e));
        else TRY(check_coupling(s, &s->system->couplings[h->coupling]));
    }
    return HN_OK;
}

bool holds_stay_locked(const hn_simulation *s, const element *e, double place, double rate)
{
    const drive_law *law = e->law;
    double still = RATE_TOLERANCE / SPEED_ROUND_OFF * rate_round_off(s->system, e) +
                   HOLD_TOLERANCE * law->unit / s->def.step_size;
    return law->kind == HN_DRIVE_LATCH && s->angles[e->angle + DRIVE_MODE] != 0.0 &&
           fabs(place - law->latch) <= START_TOLERANCE * law->unit && fabs(rate) <= still;
}

// A state that is set: where its motion is, within its stop, beside its latch or locked by it
static hn_status check_place(const hn_simulation *s, const element *e, const double *q,
                             const double *v)
{
    const drive_law *law = e->law;
    const double *a = system_pose(q, e->a), *b = system_pose(q, e->b);
    const char *name = s->system->reports[e->joint].name, *unit = e->displacement ? "m" : "rad";
    double x = law->sign * element_angle(e, a, b, simulation_angle_near(s, e)),
           tolerance = START_TOLERANCE * fmax(law->unit, fabs(x)), time = hn_simulation_time(s);
    if (law->kind == HN_DRIVE_MOTION) {
        double off =
            e->rotation ? rotation_path_off(e, a, b, time) : x - holds_motion(e, time).value;
        if (fabs(off) <= tolerance) return HN_OK;
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "drive '%s': joint '%s' would be %.9g %s away from its motion at t = "
                            "%.9g s; expected a state in which it holds",
                            e->name, name, off, unit, time);
    }
    tolerance = START_TOLERANCE * law->unit;
    if (law->kind == HN_DRIVE_LATCH && fabs(x - law->latch) <= tolerance &&
        !holds_stay_locked(s, e, x, law->sign * simulation_rate(e, q, v)))
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "drive '%s': joint '%s' would be at %.9g %s, where the latch locks; "
            "expected another place, or a snapshot of a state in which it is locked",
            e->name, name, x, unit);
    if (law->rigid && !(x >= law->lower - tolerance && x <= law->upper + tolerance))
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "drive '%s': joint '%s' would be at %.9g %s, beyond its stop; expected "
                            "%.9g to %.9g",
                            e->name, name, x, unit, law->lower, law->upper);
    return HN_OK;
}

hn_status holds_check_state(const hn_simulation *s, const double *q, const double *v)
{
    const hn_system *system = s->system;
    for (int i = 0; i < s->hold_count; ++i)
        if (s->holds[i].coupling < 0)
            TRY(check_place(s, &system->elements[s->holds[i].first], q, v));
    for (int i = 0; i < system->coupling_count; ++i) {
        const system_coupling *c = &system->couplings[i];
        double gap = -c->start, rate = 0.0, scale = system->elements[c->first].law->unit,
               fastest = 0.0, known = 0.0;
        for (int k = 0; k < c->term_count; ++k) {
            const element *e = &system->elements[c->first + k];
            double factor = c->factors[k] * e->law->sign, own = simulation_rate(e, q, v),
                   x = factor * element_angle(e, system_pose(q, e->a), system_pose(q, e->b),
                                              simulation_angle_near(s, e));
            gap += x;
            scale = fmax(scale, fabs(x));
            rate += factor * own;
            fastest = fmax(fastest, fabs(factor * own));
            known += fabs(factor) * rate_round_off(system, e);
        }
        if (fabs(gap) <= START_TOLERANCE * scale &&
            fabs(rate) <= s->def.start_tolerance * fastest + known)
            continue;
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "coupling '%s': coordinates are off by %.3g and rates by %.3g, along "
                            "its first joint '%s'; expected a state in which it holds",
                            c->name, gap, rate,
                            system->reports[system->elements[c->first].joint].name);
    }
    return HN_OK;
}

hn_status holds_fail_blocked(const hn_simulation *s)
{
    const hn_system *system = s->system;
    const element *e = &system->elements[s->holds[s->blocked.hold].first];
    bool latch = e->law->kind == HN_DRIVE_LATCH, named = s->blocked.motion >= 0;
    double x = e->law->sign * s->angles[e->angle],
           value = latch ? e->law->latch
                         : (x - e->law->upper > e->law->lower - x ? e->law->upper : e->law->lower);
    return context_fail(
        s->context, HN_SINGULAR_SYSTEM,
        "t = %.9g s: joint '%s' is at %.9g %s, where drive '%s' (%s) %s it, and %s%s%s "
        "leads it on: nothing can follow both; expected a motion that keeps to one side of it",
        s->blocked.time, system->reports[e->joint].name, value, e->displacement ? "m" : "rad",
        e->name, latch ? "a latch" : "a rigid stop", latch ? "locks" : "stops",
        named ? "motion '" : "a motion",
        named ? system->elements[s->holds[s->blocked.motion].first].name : "", named ? "'" : "");
}

// ---- relations in a step ------------------------------------------------------------------------------------

// Couplings that follow from others take their share.
void holds_add_effort(const hn_simulation *s, solved_step *step, int index, double effort)
{
    const hn_system *system = s->system;
    const hold *h = &s->holds[s->held_list[index]];
    if (h->coupling < 0) {
        step->angle_start[system->elements[h->first].angle + DRIVE_HOLD] += effort;
        return;
    }
    for (int i = 0; i < system->coupling_count; ++i) {
        const system_coupling *c = &system->couplings[i];
        const element *e = &system->elements[c->first];
        double share = i == h->coupling ? 1.0 : 0.0;
        if (system->coupling_shares != NULL)
            share = system->coupling_shares[system->coupling_count * i + h->coupling];
        if (share == 0.0) continue;
        double lambda = step->angle_start[e->angle + DRIVE_HOLD] + share * effort;
        for (int k = 0; k < c->term_count; ++k)
            step->angle_start[e[k].angle + DRIVE_HOLD] = c->factors[k] * lambda;
    }
}

// What a relation is at the end of the step
static double target_of(const hn_simulation *s, const solved_step *step, const hold *h)
{
    const element *e = &s->system->elements[h->first];
    const drive_law *law = e->law;
    const double *slots = step->angle_start + e->angle;
    double span = step->equations.at_rest ? 0.0 : step->equations.step_size,
           end = step->equations.time + span;
    if (h->coupling >= 0) return s->system->couplings[h->coupling].start;
    if (law->kind == HN_DRIVE_MOTION) return law->scale * profile_at(law->function, end).value;
    if (law->kind == HN_DRIVE_LATCH) return law->latch;
    if (law->rigid) return slots[DRIVE_MODE] > 0.0 ? law->upper : law->lower;
    // friction: with means over the step the rate at its end is 2 D x/h less that at its begin
    bool stops = slots[DRIVE_MODE] == FRICTION_STICK && step->equations.discrete_gradient;
    return law->sign * slots[DRIVE_COORDINATE] + (stops ? 0.5 * span * slots[DRIVE_ROTOR] : 0.0);
}

hold_way hold_way_of(const hn_simulation *s, solved_step *step, const hold *h)
{
    const element *e = &s->system->elements[h->first];
    element_step view = step_element_view(s->system, &step->equations, &step->data, h->first);
    double from = e->law->sign * step->angle_start[e->angle],
           to = e->law->sign * element_angle_after(e, &view);
    return (hold_way){.e = e,
                      .slots = step->angle_start + e->angle,
                      .from = from,
                      .to = to,
                      .moves = drive_moves(e, &view, from, to)};
}

// No number is the worst of all.
static double worst_of(double largest, double x)
{
    return isnan(largest) || x <= largest ? largest : x;
}

double holds_relations(const hn_simulation *s, const solved_step *step, bool target, double *x)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int i = 0; i < s->held_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        const element *first = &system->elements[h->first];
        double scale = first->law->unit;
        if (first->rotation) {
            const double *q = step->data.q;
            x[i] = rotation_path_off(first, system_pose(q, first->a), system_pose(q, first->b),
                                     step->equations.time + step->equations.step_size);
            largest = worst_of(largest, fabs(x[i]));
            continue;
        }
        x[i] = 0.0;
        for (int k = 0; k < h->term_count; ++k) {
            const element *e = first + k;
            element_step view =
                step_element_view(system, &step->equations, &step->data, h->first + k);
            double term = h->factors[k] * e->law->sign * element_angle_after(e, &view);
            x[i] += term;
            scale = fmax(scale, fabs(term));
        }
        if (target) x[i] -= target_of(s, step, h);
        largest = worst_of(largest, fabs(x[i]) / scale);
    }
    return largest;
}

// What one unit of effort does to a coordinate in a step, if no joint made its bodies heavier
static double free_response(const hn_simulation *s, const solved_step *step, const element *e)
{
    const hn_system *system = s->system;
    double row[2 * POSE_SIZE], sum = 0.0, h = step->equations.step_size;
    element_rate_row(e, system_pose(step->q_start, e->a), system_pose(step->q_start, e->b), row);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? e->a : e->b;
        if (body < 0) continue;
        double twist[TWIST_SIZE], v[POSE_SIZE];
        const double *q = system_pose(step->q_start, body);
        mass_twist(system, body, q, row + POSE_SIZE * side, twist);
        twist_to_velocity(q, twist, v);
        for (int k = 0; k < POSE_SIZE; ++k) sum += row[POSE_SIZE * side + k] * v[k];
    }
    return 0.5 * h * h * sum;
}

static double free_response_of(const hn_simulation *s, const solved_step *step, const hold *h)
{
    double sum = 0.0;
    for (int k = 0; k < h->term_count; ++k) {
        const element *e = &s->system->elements[h->first + k];
        sum += h->factors[k] * h->factors[k] * free_response(s, step, e);
    }
    return sum;
}

// ---- efforts --------------------------------------------------------------------------------------------------

static hn_status fail_held(hn_simulation *s, int index)
{
    s->stuck = s->held_list[index];
    return HN_SINGULAR_SYSTEM;
}

// The passes run out: the one that is farthest off is named.
static hn_status fail_to_settle(hn_simulation *s, const double *off, double largest)
{
    int worst = 0;
    for (int k = 1; k < s->held_count; ++k)
        if (fabs(off[k]) > fabs(off[worst])) worst = k;
    s->newton.gave_up = GAVE_UP_HOLDS;
    s->newton.hold = s->held_list[worst];
    s->newton.off = largest;
    return HN_NOT_CONVERGED;
}

// S, factored: by columns of differences, in units in which relations respond to their own efforts by one (`units`)
static hn_status find_responses(hn_simulation *s, solved_step *step, const newton_options *options,
                                double *responses, double *base, double *moved, double *units)
{
    int n = s->held_count;
    holds_relations(s, step, false, base);
    for (int k = 0; k < n; ++k) {
        const hold *h = &s->holds[s->held_list[k]];
        double free = free_response_of(s, step, h),
               effort = REACH * s->system->elements[h->first].law->unit / free;
        holds_add_effort(s, step, k, effort);
        hn_status status = simulation_solve_iterate(s, step, options);
        holds_add_effort(s, step, k, -effort);
        TRY(status);
        holds_relations(s, step, false, moved);
        for (int i = 0; i < n; ++i) responses[n * i + k] = (moved[i] - base[i]) / effort;
        if (!(fabs(responses[n * k + k]) > HELD * free)) return fail_held(s, k);
        units[k] = 1.0 / sqrt(fabs(responses[n * k + k]));
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) responses[n * i + k] *= units[i] * units[k];
    bool regular = small_lu_factor(n, n, responses, s->hold_pivots);
    // symmetric and positive but for small parts: a small pivot says that others hold a relation already
    for (int k = 0; k < n; ++k)
        if (!(fabs(responses[n * k + k]) > SHARED)) return fail_held(s, k);
    return regular ? HN_OK : HN_SINGULAR_SYSTEM;
}

// What comes first where relations follow from each other: motions and couplings, latches and stops, friction
static int rank_of(const hn_simulation *s, const hold *h)
{
    if (h->coupling >= 0) return 0;
    const drive_law *law = s->system->elements[h->first].law;
    return law->kind == HN_DRIVE_FRICTION ? 2 : holds_at_times(law) ? 1 : 0;
}

int holds_list(hn_simulation *s, bool impact)
{
    int n = 0, width = s->system->column_count;
    for (int rank = 0; rank < (impact ? 2 : 3); ++rank)
        for (int i = 0; i < s->hold_count; ++i) {
            hold *h = &s->holds[i];
            if (!(h->held || (impact && h->struck)) || rank_of(s, h) != rank) continue;
            double *row = s->rank_rows + (size_t)n * (size_t)width;
            memset(row, 0, (size_t)width * sizeof(double));
            for (int t = 0; t < h->term_count; ++t)
                row[s->system->elements[h->first + t].law->column] += h->factors[t];
            // motions that follow from others are told by the step that cannot be solved
            bool own = relation_is_new(s->rank_rows, s->rank_pivots, n, width) && !h->follows;
            h->idle = rank > 0 && !own;
            if (!h->idle) s->held_list[n++] = i;
        }
    s->held_count = n;
    return n;
}

// What follows from others carries nothing. True: it did.
static bool let_idle_go(hn_simulation *s, solved_step *step)
{
    bool changed = false;
    for (int i = 0; i < s->hold_count; ++i) {
        double *effort =
            &step->angle_start[s->system->elements[s->holds[i].first].angle + DRIVE_HOLD];
        if (!s->holds[i].idle || *effort == 0.0) continue;
        *effort = 0.0;
        changed = true;
    }
    return changed;
}

static hn_status solve_listed(hn_simulation *s, solved_step *step, const newton_options *options)
{
    int n = holds_list(s, false), iterations = s->newton.iterations;
    s->stuck = -1;
    if (let_idle_go(s, step)) {
        TRY(simulation_solve_iterate(s, step, options));
        iterations += s->newton.iterations;
    }
    double *off = s->hold_space, *base = off + n, *moved = base + n, *units = moved + n,
           *responses = units + n;
    double before = HUGE_VAL, largest = holds_relations(s, step, true, off);
    double part = fmin(1.0, step->equations.step_size / s->def.step_size),
           tolerance = fmax(HOLD_ROUND_OFF, HOLD_TOLERANCE * part);
    for (int pass = 0; !(largest <= tolerance); ++pass) {
        if (!isfinite(largest)) return HN_NOT_FINITE;
        // again where the last ones do not lead on
        if (pass == 0 || largest > 0.1 * before) {
            if (pass > 0 && largest <= HOLD_TOLERANCE) break; // round-off
            if (pass == HOLD_PASSES || (pass > 0 && !(largest < before)))
                return fail_to_settle(s, off, largest);
            TRY(find_responses(s, step, options, responses, base, moved, units));
        }
        before = largest;
        for (int k = 0; k < n; ++k) off[k] *= units[k];
        small_lu_solve(n, n, responses, s->hold_pivots, 1, 1, off);
        for (int k = 0; k < n; ++k) holds_add_effort(s, step, k, -units[k] * off[k]);
        TRY(simulation_solve_iterate(s, step, options));
        iterations += s->newton.iterations;
        largest = holds_relations(s, step, true, off);
    }
    s->newton.iterations = iterations;
    return HN_OK;
}

// A friction, latch or stop that a loop of the mechanism holds together with others carries nothing.
hn_status holds_solve(hn_simulation *s, solved_step *step, const newton_options *options)
{
    for (int pass = 0;; ++pass) {
        hn_status status = solve_listed(s, step, options);
        hold *h = s->stuck < 0 ? NULL : &s->holds[s->stuck];
        bool again = status == HN_SINGULAR_SYSTEM && h != NULL && rank_of(s, h) > 0 && !h->follows;
        if (!again || pass == s->hold_count) return status;
        h->follows = true;
        TRY(simulation_solve_iterate(s, step, options));
    }
}
