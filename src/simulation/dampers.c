// SPDX-License-Identifier: MIT
// Dampers of any strength: after a step its velocities are filtered, and what that takes is given back in the next one.
// Note: docs/theory/forces.md
//
//   (DF2)  M y_0 = M v*,   (M + h J^T C J) y_j+1 = M y_j + h J^T C r,   G y = 0
//   (DF3)  v_n+1 = v* - w,   w = fourth difference of y_0 ... y_4,   M w = J^T owed + reactions
//
// With e = J y_0 - r the differences are solutions for impulses on the rates alone,
//
//   (M + h J^T C J) x_1 = h J^T C e,   (M + h J^T C J) x_k+1 = h J^T C J x_k,   w = x_4,   owed = h C J (x_3 - x_4)
//
// so that nothing large cancels, and velocities that do not ring are left as they are. Before that, where friction
// stands beside couplings, relations in which nothing moves in the step come to rest:
//
//   (DF8)  J (y_0 + M_c^-1 J^T mu) = 0,   v* <- v* + M_c^-1 J^T mu
#include "reductions/damped_inertia.h"
#include "simulation/composed.h"

#include "linalg/small_lu.h"
#include "system/mass.h"

#include <stdio.h>
#include <string.h>

enum { SOLUTIONS = 4 };
// h times the sum of c by mobilities without joints: below it the filter changes rates by its fourth power
static const double WEAK = 1e-4;
// Largest h c by the mass of the bodies at a damper that the filter takes for it: what rings is left by a part of four
// times its inverse, and the mass beside it keeps eight digits. The damper itself acts with all of c
static const double STRONGEST = 1e8;
static const double RATE_ROUND_OFF = 1e-12;  // of rates of what stands still
static const double CARRIED = 3.0;           // of (DF7)
static const double RUNGE_KUTTA_LIMIT = 3.3; // z where a fixed step of Dormand-Prince grows

// Friction beside a coupling: what it stops is to rest on the other side too.
static bool has_friction_behind_couplings(const hn_simulation *s)
{
    const hn_system *system = s->system;
    if (!s->scheme->filters_dampers || s->composition != NULL || system->coupling_count == 0)
        return false;
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_FRICTION) return true;
    return false;
}

bool dampers_filter_steps(const hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int i = 0; s->scheme->filters_dampers && i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (element_damped_count(e) > 0 && (e->law == NULL || drive_may_damp(e))) return true;
    }
    return has_friction_behind_couplings(s);
}

void dampers_layout(arena *a, hn_simulation *s)
{
    damper_record *d = &s->dampers;
    bool filters = dampers_filter_steps(s);
    size_t n = filters ? (size_t)s->system->body_count : 0,
           rows = filters ? (size_t)s->system->damped_count : 0,
           elements = filters ? (size_t)s->system->element_count : 0,
           mechanisms = filters ? (size_t)s->system->mechanism_count : 0;
    d->row_count = (int)rows;
    d->owed = arena_doubles(a, rows);
    d->strengths = arena_doubles(a, elements);
    d->held = arena_doubles(a, mechanisms);
    d->owed_before = arena_doubles(a, s->def.ledger ? rows : 0);
    d->strengths_before = arena_doubles(a, s->def.ledger ? elements : 0);
    d->rows = arena_bytes(a, rows * sizeof(rate_row));
    d->element_of = arena_bytes(a, rows * sizeof(int));
    d->means = arena_doubles(a, rows);
    d->off = arena_doubles(a, rows);
    d->impulses = arena_doubles(a, rows);
    d->rates = arena_doubles(a, rows);
    d->rates_before = arena_doubles(a, rows);
    d->rotors = arena_doubles(a, rows);
    d->momenta = arena_doubles(a, POSE_SIZE * n);
    d->change = arena_doubles(a, POSE_SIZE * n);
    d->twists = arena_doubles(a, TWIST_SIZE * n);
    d->strong = arena_doubles(a, mechanisms);
    size_t holds = filters ? (size_t)s->hold_count : 0;
    d->hold_matrix = arena_doubles(a, holds * (holds + 1));
    d->hold_pivots = arena_bytes(a, holds * sizeof(int));
    d->still = arena_bytes(a, rows * sizeof(bool));
}

// The bodies of a rate
static void place_row(const element *e, rate_row *row)
{
    const int body[3] = {e->a, e->b, e->points == NULL ? GROUND : e->third};
    memcpy(row->body, body, sizeof body);
}

hn_status dampers_create(hn_simulation *s)
{
    const hn_system *system = s->system;
    damper_record *d = &s->dampers;
    if (d->row_count == 0) return HN_OK;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        int count = element_damped_count(e);
        for (int k = 0; k < count; ++k) {
            place_row(e, &d->rows[e->damped + k]);
            d->element_of[e->damped + k] = i;
        }
    }
    return damped_inertia_create(s->system, d->rows, d->row_count, &d->matrix);
}

void dampers_forget(hn_simulation *s)
{
    const damper_record *d = &s->dampers;
    if (d->row_count == 0) return;
    memset(d->owed, 0, (size_t)d->row_count * sizeof(double));
    memset(d->held, 0, (size_t)s->system->mechanism_count * sizeof(double));
}

double dampers_held(const hn_simulation *s)
{
    double sum = 0.0;
    for (int m = 0; s->dampers.row_count > 0 && m < s->system->mechanism_count; ++m)
        sum += s->dampers.held[m];
    return sum;
}

// ---- what is given back -----------------------------------------------------------------------------------

// (DF7): all of it, unless the step is much shorter than the one before, or the damper may be much weaker in it
void dampers_begin(hn_simulation *s, solved_step *step, double h)
{
    const damper_record *d = &s->dampers;
    step->data.owed = d->row_count > 0 ? step->owed : NULL;
    for (int r = 0; r < d->row_count; ++r) {
        const element *e = &s->system->elements[d->element_of[r]];
        double before = d->strengths[d->element_of[r]], part = 0.0;
        if (d->owed[r] != 0.0 && before > 0.0)
            part = fmin(1.0, CARRIED * sqrt(h * element_damped_least(e) / before));
        step->owed[r] = part * d->owed[r];
    }
}

void dampers_keep_begin(hn_simulation *s)
{
    damper_record *d = &s->dampers;
    if (d->row_count == 0) return;
    memcpy(d->owed_before, d->owed, (size_t)d->row_count * sizeof(double));
    memcpy(d->strengths_before, d->strengths, (size_t)s->system->element_count * sizeof(double));
}

void dampers_take_begin(hn_simulation *reference, const hn_simulation *from)
{
    damper_record *d = &reference->dampers;
    dampers_forget(reference);
    if (d->row_count == 0 || from->dampers.row_count == 0) return;
    memcpy(d->owed, from->dampers.owed_before, (size_t)d->row_count * sizeof(double));
    memcpy(d->strengths, from->dampers.strengths_before,
           (size_t)reference->system->element_count * sizeof(double));
}

// ---- rows -------------------------------------------------------------------------------------------------

// Rate that an impulse on a row makes of a body that is free, at most about any axis: 1/kg or 1/(kg m^2)
static double free_mobility(const hn_system *system, int body, const double *on)
{
    double force = vec3_dot(vec3_load(on), vec3_load(on)),
           moment = vec3_dot(vec3_load(on + 3), vec3_load(on + 3)),
           sum = force / mass_weight(system, body), least = HUGE_VAL;
    if (!system->bodies[body].has_directors || moment == 0.0) return sum;
    hn_vec3 moments = mass_moments(system, body);
    const double inertia[3] = {moments.x, moments.y, moments.z};
    for (int k = 0; k < 3; ++k)
        if (inertia[k] > 0.0) least = fmin(least, inertia[k]);
    return sum + moment / least;
}

static double row_mobility(const hn_system *system, const rate_row *row)
{
    double sum = 0.0;
    for (int b = 0; b < 3; ++b)
        if (row->body[b] >= 0) sum += free_mobility(system, row->body[b], row->on[b]);
    return sum;
}

static void set_row(const hn_system *system, const double *q, const double *columns, rate_row *row)
{
    for (int b = 0; b < 3; ++b) {
        if (row->body[b] < 0) continue;
        force_to_wrench(system_pose(q, row->body[b]), columns + POSE_SIZE * b, row->on[b]);
        wrench_hold(&system->bodies[row->body[b]], row->on[b]);
    }
}

static bool is_parked(const hn_simulation *s, const element *e)
{
    return s->parking && s->apart.parked[element_body(e)];
}

// All rates of an element at the end of the step; what they add to the strength of its mechanism
static double find_rates(hn_simulation *s, const solved_step *step, int index)
{
    const hn_system *system = s->system;
    const element *e = &system->elements[index];
    damper_record *d = &s->dampers;
    const double h = step->equations.step_size;
    damped_rates rates;
    element_step view = step_element_view(system, &step->equations, &step->data, index);
    view.load_begin = step->equations.time;
    view.load_end = step->equations.time + h;
    view.damper_excess = 0.0;
    element_damped(e, &view, &rates);
    d->strengths[index] = h * rates.strength;
    double sum = 0.0, most = 0.0;
    if (e->law != NULL) {
        double from = e->law->sign * view.angle_start,
               to = e->law->sign * element_angle_after(e, &view);
        d->still[e->damped] = !drive_moves(e, &view, from, to);
    }
    for (int k = 0; k < rates.count; ++k) {
        rate_row *row = &d->rows[e->damped + k];
        set_row(system, step->data.q, rates.row[k], row);
        d->means[e->damped + k] = rates.mean[k];
        row->strength = h * rates.coefficient[k];
        row->inertia = e->law != NULL ? e->law->armature : 0.0;
        if (rates.coefficient[k] == 0.0) continue;
        double z = fabs(row->strength) * row_mobility(system, row);
        sum += z;
        most = fmax(most, z);
    }
    if (most > STRONGEST)
        for (int k = 0; k < rates.count; ++k) d->rows[e->damped + k].strength *= STRONGEST / most;
    return sum;
}

// Rows of all mechanisms; false: no damper is so strong that the filter would change anything.
static bool find_rows(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    const damper_record *d = &s->dampers;
    bool any = false;
    memset(d->strong, 0, (size_t)system->mechanism_count * sizeof(double));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (element_damped_count(e) == 0 || is_parked(s, e)) continue;
        d->strong[system->mechanism[element_body(e)]] += find_rates(s, step, i);
    }
    for (int r = 0; r < d->row_count; ++r) {
        const element *e = &system->elements[d->element_of[r]];
        bool parked = is_parked(s, e);
        if (parked || !(d->strong[system->mechanism[element_body(e)]] > WEAK)) {
            d->rows[r].strength = 0.0;
            if (!parked) d->owed[r] = 0.0;
        } else {
            any = any || d->rows[r].strength != 0.0;
        }
    }
    for (int i = 0; i < system->body_count; ++i)
        if (!s->parking || !s->apart.parked[i]) d->held[system->mechanism[i]] = 0.0;
    return any;
}

// ---- the filter -------------------------------------------------------------------------------------------

// Momenta p* of the step, and those of rotors, by row
static void find_momenta(hn_simulation *s)
{
    const hn_system *system = s->system;
    const damper_record *d = &s->dampers;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    if (s->scheme->impetus_is_momentum) memcpy(d->momenta, s->next_impetus, count * sizeof(double));
    else mass_apply(system, 1.0, s->next_impetus, d->momenta);
    for (int r = 0; r < d->row_count; ++r) {
        const element *e = &system->elements[d->element_of[r]];
        double inertia = d->rows[r].inertia;
        d->rotors[r] =
            inertia == 0.0 ? 0.0 : inertia * e->law->sign * s->angles[e->angle + DRIVE_ROTOR];
    }
}

// += impulse along what a hold keeps from moving
static void add_hold(const hn_simulation *s, const hold *h, double impulse, double *impulses)
{
    for (int t = 0; t < h->term_count; ++t) {
        const element *e = &s->system->elements[h->first + t];
        impulses[e->damped] += h->factors[t] * e->law->sign * impulse;
    }
}

static double hold_rate(const hn_simulation *s, const hold *h, const double *rates)
{
    double sum = 0.0;
    for (int t = 0; t < h->term_count; ++t) {
        const element *e = &s->system->elements[h->first + t];
        sum += h->factors[t] * e->law->sign * rates[e->damped];
    }
    return sum;
}

// Rates of what is held by unit impulses along it. False: something holds nothing.
static bool factor_holds(hn_simulation *s)
{
    const damper_record *d = &s->dampers;
    const int n = s->hold_count == 0 ? 0 : s->held_count;
    for (int k = 0; k < n; ++k) {
        memset(d->impulses, 0, (size_t)d->row_count * sizeof(double));
        add_hold(s, &s->holds[s->held_list[k]], 1.0, d->impulses);
        damped_inertia_respond(d->matrix, d->impulses, d->rates_before);
        for (int i = 0; i < n; ++i)
            d->hold_matrix[i * n + k] = hold_rate(s, &s->holds[s->held_list[i]], d->rates_before);
    }
    return n == 0 || small_lu_factor(n, n, d->hold_matrix, d->hold_pivots);
}

// What stands still in the step by friction, in a latch, at a stop or behind a gear comes to rest, as by a damper
// without end: what its rate is off by, it is to change by. What is held and moves keeps the rates that it has.
static double hold_target(const hn_simulation *s, const hold *h)
{
    const damper_record *d = &s->dampers;
    for (int t = 0; t < h->term_count; ++t) {
        const element *e = &s->system->elements[h->first + t];
        bool moved = h->coupling < 0 && e->law->kind == HN_DRIVE_MOTION;
        if (moved || !d->still[e->damped]) return 0.0;
    }
    return hold_rate(s, h, d->off);
}

// Rates by impulses while what is held does not move: what it takes for that is added to them.
static void respond(hn_simulation *s)
{
    const damper_record *d = &s->dampers;
    const int n = s->hold_count == 0 ? 0 : s->held_count;
    damped_inertia_respond(d->matrix, d->impulses, d->rates);
    if (n == 0) return;
    double *efforts = d->hold_matrix + (size_t)n * (size_t)n;
    for (int i = 0; i < n; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        efforts[i] = hold_target(s, h) - hold_rate(s, h, d->rates);
    }
    small_lu_solve(n, n, d->hold_matrix, d->hold_pivots, 1, 1, efforts);
    for (int i = 0; i < n; ++i) add_hold(s, &s->holds[s->held_list[i]], efforts[i], d->impulses);
    damped_inertia_respond(d->matrix, d->impulses, d->rates);
}

// e, then J x_1 ... J x_4; what is owed in d->impulses. False: a motion has no inertia.
static bool solve(hn_simulation *s, const solved_step *step)
{
    damper_record *d = &s->dampers;
    find_momenta(s);
    if (!damped_inertia_project(d->matrix, step->data.q, d->rows, d->momenta, d->rotors,
                                d->rates) ||
        !damped_inertia_factor(d->matrix) || !factor_holds(s))
        return false;
    for (int r = 0; r < d->row_count; ++r) d->off[r] = d->rates[r] -= d->means[r];
    for (int k = 0; k < SOLUTIONS; ++k) {
        memcpy(d->rates_before, d->rates, (size_t)d->row_count * sizeof(double));
        for (int r = 0; r < d->row_count; ++r) d->impulses[r] = d->rows[r].strength * d->rates[r];
        respond(s);
    }
    // impulses of what is held are on rows without dampers, and stay
    for (int r = 0; r < d->row_count; ++r)
        if (d->rows[r].strength != 0.0)
            d->impulses[r] = d->rows[r].strength * (d->rates_before[r] - d->rates[r]);
    damped_inertia_move(d->matrix, d->impulses, d->twists, d->rates);
    return true;
}

static void book(hn_simulation *s, int mechanism, double lost)
{
    s->work -= lost;
    if (s->part_count > 0) s->works[mechanism] -= lost;
}

// v_n+1 = v* - w, or p_n+1 = p* - M w: T falls by p* . w - w . M w/2
static void take_from_bodies(hn_simulation *s, const double *q)
{
    const hn_system *system = s->system;
    const damper_record *d = &s->dampers;
    double *p = d->momenta, *w = d->change;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(q + at, d->twists + TWIST_SIZE * (size_t)i, w + at);
        if (!system->bodies[i].has_directors)
            memset(w + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
    for (int i = 0; i < system->body_count; ++i) {
        double lost = 0.0;
        for (size_t k = POSE_SIZE * (size_t)i; k < POSE_SIZE * (size_t)(i + 1); ++k)
            lost += p[k] * w[k];
        book(s, system->mechanism[i], lost);
    }
    if (!s->scheme->impetus_is_momentum)
        for (size_t k = 0; k < count; ++k) s->next_impetus[k] -= w[k];
    double *taken = p; // M w
    mass_apply(system, 1.0, w, taken);
    for (int i = 0; i < system->body_count; ++i) {
        double kept = 0.0;
        size_t at = POSE_SIZE * (size_t)i;
        for (size_t k = at; k < at + POSE_SIZE; ++k) kept += taken[k] * w[k];
        book(s, system->mechanism[i], -0.5 * kept);
        if (!s->scheme->impetus_is_momentum) continue;
        double *to = s->next_impetus + at;
        if (s->scheme->solver_step != NULL && system->bodies[i].has_directors) {
            // such a scheme has momenta L x d/2 of directors
            hn_vec3 moment = force_moment(q + at, taken + at);
            for (int k = 3; k < POSE_SIZE; k += 3)
                vec3_store(vec3_scale(0.5, vec3_cross(moment, vec3_load(q + at + k))),
                           taken + at + k);
        }
        for (int k = 0; k < POSE_SIZE; ++k) to[k] -= taken[at + (size_t)k];
    }
}

// What is told of a drive: the impulse that the filter took is its effort and its work too
static void take_from_drive(hn_simulation *s, const solved_step *step, int row)
{
    const damper_record *d = &s->dampers;
    const element *e = &s->system->elements[d->element_of[row]];
    const double h = step->equations.step_size, impulse = d->impulses[row],
                 way = d->off[row] + d->means[row] - 0.5 * d->rates[row];
    double *slots = s->angles + e->angle;
    slots[DRIVE_EFFORT] -= e->law->sign * impulse / h;
    slots[DRIVE_POWER] -= impulse * way / h;
    slots[DRIVE_WORK] -= impulse * way;
}

// The rate of a rotor, and of a coordinate that friction acts on, follow
static void take_from_rotor(hn_simulation *s, int row)
{
    const damper_record *d = &s->dampers;
    const element *e = &s->system->elements[d->element_of[row]];
    double inertia = d->rows[row].inertia, change = d->rates[row];
    if (e->law == NULL || is_parked(s, e)) return;
    s->angles[e->angle + DRIVE_ROTOR] -= e->law->sign * change;
    if (inertia > 0.0)
        book(s, s->system->mechanism[element_body(e)],
             d->rotors[row] * change - 0.5 * inertia * change * change);
}

// The same of all rates, and what is held and owed
static void take_from_rates(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    const damper_record *d = &s->dampers;
    for (int r = 0; r < d->row_count; ++r) {
        const int index = d->element_of[r];
        const element *e = &system->elements[index];
        const int mechanism = system->mechanism[element_body(e)];
        if (is_parked(s, e) || !(d->strong[mechanism] > WEAK)) continue;
        if (e->law != NULL) take_from_drive(s, step, r);
        take_from_rotor(s, r);
        d->owed[r] = d->strengths[index] > 0.0 ? d->impulses[r] : 0.0;
        d->held[mechanism] += 0.5 * d->owed[r] * d->off[r];
    }
}

// ---- what stands still ------------------------------------------------------------------------------------

// What rates of relations that stand still in the step are to change by. False: they are round-off.
static bool find_rates_left(const hn_simulation *s, double *change)
{
    const damper_record *d = &s->dampers;
    bool any = false;
    for (int i = 0; i < s->held_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        bool still = true,
             led = h->coupling < 0 && s->system->elements[h->first].law->kind == HN_DRIVE_MOTION;
        double scale = 0.0;
        for (int t = 0; t < h->term_count; ++t) {
            int row = s->system->elements[h->first + t].damped;
            still = still && d->still[row];
            scale = fmax(scale, fabs(h->factors[t] * d->rates[row]));
        }
        change[i] = still && !led ? -hold_rate(s, h, d->rates) : 0.0;
        any = any || fabs(change[i]) > RATE_ROUND_OFF * scale;
    }
    return any;
}

// (DF8) What friction, a latch or a stop holds comes to rest behind gears too, by impulses along all that is held, on
// the mass with its rotors. The kinetic energy that is left goes with the first friction that holds there.
static void rest_what_stands(hn_simulation *s, const solved_step *step)
{
    damper_record *d = &s->dampers;
    const int n = s->hold_count == 0 ? 0 : s->held_count;
    double *change = d->hold_matrix + (size_t)n * (size_t)n, before = s->work;
    if (n == 0) return;
    for (int r = 0; r < d->row_count; ++r) {
        d->off[r] = d->rows[r].strength; // put back below
        d->rows[r].strength = 0.0;
    }
    find_momenta(s);
    if (damped_inertia_project(d->matrix, step->data.q, d->rows, d->momenta, d->rotors, d->rates) &&
        find_rates_left(s, change) && damped_inertia_factor(d->matrix) && factor_holds(s)) {
        small_lu_solve(n, n, d->hold_matrix, d->hold_pivots, 1, 1, change);
        memset(d->impulses, 0, (size_t)d->row_count * sizeof(double));
        for (int i = 0; i < n; ++i)
            add_hold(s, &s->holds[s->held_list[i]], -change[i], d->impulses);
        damped_inertia_respond(d->matrix, d->impulses, d->rates);
        damped_inertia_move(d->matrix, d->impulses, d->twists, d->rates);
        take_from_bodies(s, step->data.q);
        for (int r = 0; r < d->row_count; ++r) take_from_rotor(s, r);
        for (int i = 0; i < n; ++i) {
            const element *e = &s->system->elements[s->holds[s->held_list[i]].first];
            if (e->law->kind != HN_DRIVE_FRICTION) continue;
            s->angles[e->angle + DRIVE_WORK] += s->work - before;
            break;
        }
    }
    for (int r = 0; r < d->row_count; ++r) d->rows[r].strength = d->off[r];
}

void dampers_filter(hn_simulation *s, const solved_step *step)
{
    if (s->dampers.row_count == 0) return;
    bool strong = find_rows(s, step);
    if (step->equations.discrete_gradient && has_friction_behind_couplings(s))
        rest_what_stands(s, step);
    if (!strong) return;
    if (!solve(s, step)) {
        dampers_forget(s);
        return;
    }
    take_from_bodies(s, step->data.q);
    take_from_rates(s, step);
}

// ---- where there is no filter -----------------------------------------------------------------------------

enum { STRONGEST_PASSES = 40 };
static const double STRONGEST_CHANGE = 1e-3; // of it, in a pass that is the last

// Vectors of one number per row
typedef struct strongest_search {
    damped_inertia *matrix;
    rate_row *rows;
    int *element_of;
    double *impulses, *rates, *momenta;
    pool memory;
} strongest_search;

static hn_status begin_search(hn_simulation *s, strongest_search *x)
{
    const hn_system *system = s->system;
    size_t count = (size_t)system->damped_count;
    x->memory.context = s->context;
    x->rows = pool_take(&x->memory, count, sizeof(rate_row));
    x->element_of = pool_ints(&x->memory, count);
    x->impulses = pool_doubles(&x->memory, count);
    x->rates = pool_doubles(&x->memory, count);
    x->momenta = pool_doubles(&x->memory, POSE_SIZE * (size_t)system->body_count);
    TRY(pool_status(&x->memory));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        const double *a = system_pose(s->state.q, e->a), *b = system_pose(s->state.q, e->b);
        const double *third = e->points == NULL ? NULL : system_pose(s->state.q, e->third);
        damped_rates rates;
        // a step in which nothing moves
        element_step now = {.a_start = a,
                            .b_start = b,
                            .a = a,
                            .b = b,
                            .third_start = third,
                            .third = third,
                            .angle_start = e->angle >= 0 ? s->angles[e->angle] : 0.0,
                            .memory = e->law != NULL ? s->angles + e->angle : NULL,
                            .step_size = s->def.step_size};
        if (element_damped_count(e) == 0) continue;
        element_damped(e, &now, &rates);
        for (int k = 0; k < rates.count; ++k) {
            rate_row *row = &x->rows[e->damped + k];
            place_row(e, row);
            set_row(system, s->state.q, rates.row[k], row);
            row->inertia = e->law != NULL ? e->law->armature : 0.0;
            x->element_of[e->damped + k] = i;
            // the strength is applied by impulses
            x->impulses[e->damped + k] = s->def.step_size * rates.coefficient[k];
        }
    }
    return damped_inertia_create(s->system, x->rows, system->damped_count, &x->matrix);
}

// The largest z of a motion, an eigenvalue of h J M^-1 J^T C on the joints, by iteration; whose damper has most of it
static double search(hn_simulation *s, strongest_search *x, const char **name)
{
    const hn_system *system = s->system;
    const int count = system->damped_count;
    double z = 0.0, *strengths = x->impulses, *next = pool_doubles(&x->memory, (size_t)count),
           *old = pool_doubles(&x->memory, (size_t)count);
    if (next == NULL || old == NULL ||
        !damped_inertia_project(x->matrix, s->state.q, x->rows, x->momenta, old, x->rates) ||
        !damped_inertia_factor(x->matrix))
        return 0.0;
    for (int r = 0; r < count; ++r) old[r] = 1.0 + 0.3 * sin(1.7 * r);
    for (int pass = 0; pass < STRONGEST_PASSES; ++pass) {
        double before = z, up = 0.0, down = 0.0, most = 0.0;
        for (int r = 0; r < count; ++r) next[r] = strengths[r] * old[r];
        damped_inertia_respond(x->matrix, next, x->rates);
        for (int r = 0; r < count; ++r) {
            double part = strengths[r] * x->rates[r] * x->rates[r];
            up += part, down += strengths[r] * old[r] * x->rates[r];
            if (part > most) most = part, *name = system->elements[x->element_of[r]].name;
        }
        if (!(up > 0.0) || !(down > 0.0)) return z;
        z = up / down;
        for (int r = 0; r < count; ++r) old[r] = x->rates[r] / z;
        if (fabs(z - before) <= STRONGEST_CHANGE * z) break;
    }
    return z;
}

double dampers_strongest(hn_simulation *s, const char **name)
{
    strongest_search x = {0};
    *name = "";
    if (s->system->damped_count == 0) return 0.0;
    double z = begin_search(s, &x) == HN_OK ? search(s, &x, name) : 0.0;
    damped_inertia_destroy(x.matrix);
    pool_release(&x.memory);
    return z;
}

void dampers_say_limits(hn_simulation *s)
{
    const char *name;
    if (!s->scheme->any_rotation || !s->def.projected_rk.fixed_steps) return;
    double z = dampers_strongest(s, &name);
    if (z > RUNGE_KUTTA_LIMIT)
        context_log(s->context,
                    "damper '%s' is strong for `%s`: h c/m = %.3g; fixed steps of an explicit rule "
                    "grow beyond %g: a smaller step helps",
                    name, s->scheme->name, z, RUNGE_KUTTA_LIMIT);
}
