// SPDX-License-Identifier: MIT
// Impacts: a latch locks, or a rigid stop is hit. The step is split where the coordinate reaches its value, and
// velocities change there in the metric of the mass.
// Note: docs/theory/drives.md
//
//   (D12)  (W + D) mu = target,   W_ij = r_i M_c^-1 r_j^T,   v+ = v- + sum_i M_c^-1 r_i^T mu_i
//
// with M_c the mass of the mechanism, r the rates of the coordinate that is hit, of everything that holds, and of
// rotors. The target is -(1 + e) times the rate for what is hit and zero for the rest; D is 1/J for a rotor of inertia
// J, whose own momentum changes by -mu. What the kinetic energy loses is work of the drive.
#include "simulation/events.h"

#include "linalg/small_lu.h"
#include "simulation/snapshot.h"
#include "system/mass.h"

#include <string.h>

static const double REACHED = 1e-12;   // rad, m over the joint's size: beyond its value
static const double LOCATED = 1e-13;   // likewise: at its value
static const double LEFT_OVER = 1e-12; // of a step: what is left of it is none
enum { LOCATE_PASSES = 60, EVENTS_MAX = 200, HITS_MAX = 3 };

static bool has_events(const hn_system *system)
{
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_LATCH || system->laws[i].rigid) return true;
    return false;
}

void events_layout(arena *a, hn_simulation *s)
{
    s->has_events = s->scheme->takes_motions && has_events(s->system);
    size_t n = s->has_events ? (size_t)(s->hold_count + s->system->drive_count) : 0,
           bodies = (size_t)s->system->body_count;
    s->impact_rows = arena_doubles(a, n * POSE_SIZE * bodies);
    s->impact_twists = arena_doubles(a, n * TWIST_SIZE * bodies);
    s->impact_matrix = arena_doubles(a, n * n + n);
    s->impact_pivots = arena_bytes(a, n * sizeof(int));
    s->impact_change = arena_doubles(a, n > 0 ? 3 * POSE_SIZE * bodies : 0);
}

// ---- where -----------------------------------------------------------------------------------------------------

// How far a coordinate is beyond the value of its latch or stop, m or rad over its size; far below zero: it has none
static double excess(const hn_simulation *s, const hold_way *way, double x, double *side)
{
    const drive_law *law = way->e->law;
    double unit = way->e->displacement
                      ? system_joint_size(s->system, &s->system->reports[way->e->joint].rows)
                      : 1.0;
    if (way->slots[DRIVE_MODE] != 0.0) return -HUGE_VAL;
    if (law->kind == HN_DRIVE_LATCH) {
        *side = way->slots[DRIVE_INTEGRAL];
        return *side * (x - law->latch) / unit;
    }
    if (!law->rigid) return -HUGE_VAL;
    *side = x - law->upper > law->lower - x ? 1.0 : -1.0;
    return fmax(x - law->upper, law->lower - x) / unit;
}

// The hold that the solved step carries farthest beyond its value, or -1
static int find_reached(hn_simulation *s, double *side, double *begin, double *end)
{
    solved_step *step = &s->steps[s->ahead];
    int found = -1;
    *end = REACHED;
    for (int i = 0; i < s->hold_count; ++i) {
        if (s->holds[i].coupling >= 0) continue;
        double toward = 0.0;
        hold_way way = hold_way_of(s, step, &s->holds[i]);
        double after = excess(s, &way, way.to, &toward),
               before = excess(s, &way, way.from, &toward);
        // sides by the end of the way
        after = excess(s, &way, way.to, &toward);
        if (!(after > *end) || !(toward * (way.to - way.from) > 0.0)) continue;
        found = i, *end = after, *side = toward, *begin = before;
    }
    return found;
}

bool events_reached(hn_simulation *s)
{
    double side, begin, end;
    return s->has_events && find_reached(s, &side, &begin, &end) >= 0;
}

// ---- impacts -------------------------------------------------------------------------------------------------

static void add_row(const hn_simulation *s, const element *e, double factor, double *row)
{
    double ends[2 * POSE_SIZE];
    element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), ends);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? e->a : e->b;
        for (int k = 0; body >= 0 && k < POSE_SIZE; ++k)
            row[POSE_SIZE * (size_t)body + (size_t)k] +=
                factor * e->law->sign * ends[POSE_SIZE * side + k];
    }
}

static double product(const hn_simulation *s, const double *row, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < POSE_SIZE * (size_t)s->system->body_count; ++k) sum += row[k] * v[k];
    return sum;
}

// Rows of what holds and of what is hit, and rotors; 1/J of these in `softness`. Their number.
static int gather_rows(hn_simulation *s, int hit, double *softness)
{
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    int n = holds_list(s, hit);
    for (int i = 0; i < n; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        double *row = s->impact_rows + size * (size_t)i;
        memset(row, 0, size * sizeof(double));
        for (int k = 0; k < h->term_count; ++k)
            add_row(s, &system->elements[h->first + k], h->factors[k], row);
        softness[i] = 0.0;
    }
    for (int i = 0; i < system->drive_count; ++i) {
        if (!(system->laws[i].armature > 0.0)) continue;
        double *row = s->impact_rows + size * (size_t)n;
        memset(row, 0, size * sizeof(double));
        add_row(s, &system->elements[system->drive_first + i], 1.0, row);
        softness[n++] = 1.0 / system->laws[i].armature;
    }
    return n;
}

// The velocities of an impulse along row i, in s->impact_change
static void velocities_of(hn_simulation *s, int index, double *v)
{
    const double *twists =
        s->impact_twists + TWIST_SIZE * (size_t)s->system->body_count * (size_t)index;
    for (int i = 0; i < s->system->body_count; ++i) {
        double *to = v + POSE_SIZE * (size_t)i;
        twist_to_velocity(system_pose(s->state.q, i), twists + TWIST_SIZE * (size_t)i, to);
        if (!s->system->bodies[i].has_directors) memset(to + 3, 0, 9 * sizeof(double));
    }
}

// Velocities become v + change; what that does to the energies of mechanisms and rotors is their work, and the sum
static double change_velocities(hn_simulation *s, const double *v, const double *change,
                                double *momentum)
{
    const hn_system *system = s->system;
    double *impetus = s->state.impetus, sum = 0.0;
    const double *added = s->scheme->impetus_is_momentum ? momentum : change;
    mass_apply(system, 1.0, change, momentum);
    for (int i = 0; i < system->body_count; ++i) {
        double work = 0.0;
        for (size_t k = POSE_SIZE * (size_t)i; k < POSE_SIZE * (size_t)(i + 1); ++k) {
            work += (v[k] + 0.5 * change[k]) * momentum[k];
            impetus[k] += added[k];
        }
        sum += work;
        if (s->part_count > 0) s->works[system->mechanism[i]] += work;
    }
    double *row = momentum; // not needed any more
    for (int i = 0; i < system->law_count; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        memset(row, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
        add_row(s, e, 1.0, row);
        double rate = product(s, row, change), *rotor = &s->angles[e->angle + DRIVE_ROTOR],
               work = e->law->armature * rate * (*rotor + 0.5 * rate);
        *rotor += rate;
        sum += work;
        if (s->part_count > 0) s->works[system->mechanism[e->b >= 0 ? e->b : e->a]] += work;
    }
    return sum;
}

// (D12)
static hn_status strike(hn_simulation *s, int hit, double restitution)
{
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    double *change = s->impact_change, *v = change + size, *before = v + size;
    double *softness = s->impact_matrix, *w;
    int n = gather_rows(s, hit, softness);
    w = softness + n;
    TRY(saddle_factor_mass(s->projection, s->state.q));
    for (int i = 0; i < n; ++i) {
        saddle_project_again(s->projection, s->state.q, s->impact_rows + size * (size_t)i,
                             s->impact_twists +
                                 TWIST_SIZE * (size_t)system->body_count * (size_t)i);
        velocities_of(s, i, v);
        for (int k = 0; k < n; ++k) w[n * k + i] = product(s, s->impact_rows + size * (size_t)k, v);
    }
    for (int i = 0; i < n; ++i) w[n * i + i] += softness[i];
    double *mu = softness; // their place: they are in w
    if (s->scheme->impetus_is_momentum) mass_solve(system, s->state.impetus, before);
    else memcpy(before, s->state.impetus, size * sizeof(double));
    for (int i = 0; i < n; ++i)
        mu[i] = i < s->held_count && s->held_list[i] == hit
                    ? -(1.0 + restitution) * product(s, s->impact_rows + size * (size_t)i, before)
                    : 0.0;
    s->stuck = hit; // unless it can be solved
    if (!small_lu_factor(n, n, w, s->impact_pivots)) return HN_SINGULAR_SYSTEM;
    s->stuck = -1;
    small_lu_solve(n, n, w, s->impact_pivots, 1, 1, mu);
    memset(change, 0, size * sizeof(double));
    for (int i = 0; i < n; ++i) {
        velocities_of(s, i, v);
        for (size_t k = 0; k < size; ++k) change[k] += mu[i] * v[k];
    }
    const element *e = &system->elements[s->holds[hit].first];
    double work = change_velocities(s, before, change, v);
    s->work += work;
    s->angles[e->angle + DRIVE_WORK] += work;
    return HN_OK;
}

// What is hit now, with `side` of it: lock, stay in contact, or bounce.
static hn_status hit_now(hn_simulation *s, int index, double side)
{
    hold *h = &s->holds[index];
    const element *e = &s->system->elements[h->first];
    const drive_law *law = e->law;
    bool stays = law->kind == HN_DRIVE_LATCH || law->restitution == 0.0 || ++h->hits >= HITS_MAX;
    drive_modes_begin(s, s->angles);
    TRY(strike(s, index, stays ? 0.0 : law->restitution));
    if (stays) {
        s->angles[e->angle + DRIVE_MODE] = law->kind == HN_DRIVE_LATCH ? 1.0 : side;
        s->angles[e->angle + DRIVE_HOLD] = 0.0;
    }
    s->steps[s->ahead].valid = false;
    s->history_count = 0;
    simulation_forget_derived(s);
    return HN_OK;
}

// ---- steps in parts ---------------------------------------------------------------------------------------------

// Solve parts of the step until the first value is reached at the end of one: secants that keep both sides (Illinois).
static hn_status locate(hn_simulation *s, double whole, double time, double *part, int *hit,
                        double *side)
{
    double begin, end, low = 0.0, high = whole;
    *hit = find_reached(s, side, &begin, &end);
    *part = whole;
    if (*hit < 0) return HN_OK;
    if (begin >= -LOCATED) {
        *part = 0.0;
        return HN_OK;
    }
    double at_low = begin, at_high = end;
    int last = 0;
    for (int pass = 0; pass < LOCATE_PASSES; ++pass) {
        *part = low + (high - low) * at_low / (at_low - at_high);
        TRY(simulation_solve_or_stop(s, *part, time, true));
        double other_side, other_begin, other_end;
        int other = find_reached(s, &other_side, &other_begin, &other_end);
        if (other >= 0 && other != *hit) {
            // another one comes first
            *hit = other, *side = other_side, high = *part;
            at_low = low > 0.0 ? at_low : other_begin, at_high = other_end, last = 0;
            continue;
        }
        hold_way way = hold_way_of(s, &s->steps[s->ahead], &s->holds[*hit]);
        double toward, here = excess(s, &way, way.to, &toward);
        if (fabs(here) <= LOCATED) return HN_OK;
        if (here > 0.0) {
            high = *part, at_high = here;
            if (last > 0) at_low *= 0.5;
            last = 1;
        } else {
            low = *part, at_low = here;
            if (last < 0) at_high *= 0.5;
            last = -1;
        }
        if (!(high - low > LEFT_OVER * LEFT_OVER * whole)) return HN_OK;
    }
    return HN_NOT_CONVERGED;
}

// A part of a step becomes the state. Schemes that need all steps alike begin anew there: with tangent momenta.
static hn_status commit_part(hn_simulation *s)
{
    TRY(simulation_commit(s, false));
    if (s->scheme->may_halve) return HN_OK;
    size_t size = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    memcpy(s->impact_change, s->state.impetus, size);
    TRY(simulation_project_momenta(s, s->impact_change, s->state.impetus, NULL));
    s->state.first = true;
    return HN_OK;
}

static hn_status pass_all(hn_simulation *s, double h, double time)
{
    double done = 0.0;
    for (int i = 0; i < s->hold_count; ++i) s->holds[i].hits = 0;
    for (int count = 0; count < EVENTS_MAX; ++count) {
        double part, side;
        int hit;
        TRY(locate(s, h - done, time + done, &part, &hit, &side));
        if (part > 0.0) TRY(commit_part(s));
        if (hit < 0) return HN_OK;
        TRY(hit_now(s, hit, side));
        done += part;
        if (!(h - done > LEFT_OVER * h)) return HN_OK;
        TRY(simulation_solve_or_stop(s, h - done, time + done, true));
    }
    return HN_NOT_CONVERGED;
}

hn_status events_pass(hn_simulation *s, double h, double time)
{
    snapshot_keep(s, s->backup);
    hn_status status = pass_all(s, h, time);
    if (status == HN_OK) {
        s->step_had_event = true;
        return HN_OK;
    }
    newton_report failed = s->newton;
    snapshot_take_back(s, s->backup);
    s->newton = failed;
    return status;
}
