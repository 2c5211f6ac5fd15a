// SPDX-License-Identifier: MIT
// Impacts: a latch locks, or a rigid stop is hit, or the rate of a motion jumps. The step is split where the coordinate
// reaches its value, or at the corner of the motion, and velocities change there in the metric of the mass.
// Note: docs/theory/drives.md
//
//   (D12)  (W + D) mu = target,   W_ij = r_i M_c^-1 r_j^T,   v+ = P v- + sum_i M_c^-1 r_i^T mu_i
//
// with M_c the mass of the mechanism, P the projection on its motions, r the rates of the coordinates that are hit, of
// everything that holds, and of rotors; D is 1/J for a rotor of inertia J, whose own momentum changes by -mu. It is
// solved twice: with targets that make v- a motion in which all that holds does (velocities at nodes are not quite),
// then with -(1 + e) times its rate for everything that is hit at this instant, and zero for the rest. Both take
// energy, which is work of the drives. Friction has no part in it: its efforts are finite, and have no impulse.
#include "simulation/events.h"

#include "linalg/small_lu.h"
#include "simulation/composed.h"
#include "simulation/snapshot.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

static const double REACHED = 1e-12;   // rad, m over the joint's size: beyond its value
static const double LOCATED = 1e-13;   // likewise: at its value
static const double TOGETHER = 1e-11;  // likewise: near its value, and hit with others at once
static const double DEPENDENT = 1e-9;  // of its own response: it moves with others only
static const double LEFT_OVER = 1e-12; // of a step: what is left of it is none
enum { LOCATE_PASSES = 60 };
// in a row, before contact is asked for, and with loss at most
enum { HITS_MIN = 3, HITS_FOLLOWED = EVENTS_MAX / 2 };

static bool has_events(const hn_system *system)
{
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_LATCH || system->laws[i].rigid ||
            system->laws[i].jumps)
            return true;
    return false;
}

void events_layout(arena *a, hn_simulation *s)
{
    s->has_events = s->scheme->takes_motions && has_events(s->system);
    size_t n = s->has_events ? (size_t)(s->hold_count + s->system->drive_count) : 0,
           bodies = (size_t)s->system->body_count;
    s->impact_rows = arena_doubles(a, n * POSE_SIZE * bodies);
    s->impact_twists = arena_doubles(a, n > 0 ? (n + 1) * TWIST_SIZE * bodies : 0);
    s->impact_matrix = arena_doubles(a, 2 * n * n + 6 * n);
    s->impact_pivots = arena_bytes(a, n * sizeof(int));
    s->impact_change = arena_doubles(a, n > 0 ? 4 * POSE_SIZE * bodies : 0);
    s->impact_means = arena_doubles(a, n > 0 ? 2 * (size_t)s->system->drive_count : 0);
}

// ---- where -----------------------------------------------------------------------------------------------------

// How far a coordinate is beyond the value of its latch or of its stop on that side, m or rad over its size; far below
// zero: it has none
static double excess_on(const element *e, const double *slots, double x, double side)
{
    const drive_law *law = e->law;
    bool latch = law->kind == HN_DRIVE_LATCH;
    if (slots[DRIVE_MODE] != 0.0 || !(latch || law->rigid)) return -HUGE_VAL;
    return side * (x - (latch ? law->latch : side > 0.0 ? law->upper : law->lower)) / law->unit;
}

// The same on the side it is nearer to, or comes from
static double excess(const element *e, const double *slots, double x, double *side)
{
    const drive_law *law = e->law;
    if (law->kind == HN_DRIVE_LATCH) *side = slots[DRIVE_INTEGRAL];
    else *side = x - law->upper > law->lower - x ? 1.0 : -1.0;
    return excess_on(e, slots, x, *side);
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
        double after = excess(way.e, way.slots, way.to, &toward),
               before = excess_on(way.e, way.slots, way.from, toward);
        if (!(after > *end) || !(toward * (way.to - way.from) > 0.0)) continue;
        found = i, *end = after, *side = toward, *begin = before;
    }
    return found;
}

// Velocities at the state, in the last quarter of impact_change
static double *velocities_before(hn_simulation *s)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double *v = s->impact_change + 3 * size;
    if (s->scheme->impetus_is_momentum) mass_solve(s->system, s->state.impetus, v);
    else memcpy(v, s->state.impetus, size * sizeof(double));
    return v;
}

// Is a motion in its mechanism? What it leads has its own way between nodes, and rates at nodes are only near it.
static bool is_led(const hn_simulation *s, const element *e)
{
    const hn_system *system = s->system;
    int group = system->group[element_body(e)];
    for (int i = 0; i < system->drive_count; ++i) {
        const element *other = &system->elements[system->drive_first + i];
        if (other->law->kind == HN_DRIVE_MOTION && system->group[element_body(other)] == group)
            return true;
    }
    return false;
}

// How far a coordinate is beyond its value on a side where it turns back within the step, by the parabola through both
// ends with the rate at the begin, and after which part of the step; none: far below zero
static double peak_on(const hold_way *way, double side, double rate, double h, double *part)
{
    double ahead = side * rate * h, bend = side * (way->to - way->from) - ahead;
    if (!(ahead > 0.0) || !(2.0 * bend < -ahead)) return -HUGE_VAL;
    *part = -0.5 * h * ahead / bend;
    return excess_on(way->e, way->slots, way->from + side * 0.5 * ahead * *part / h, side);
}

// The hold that goes farthest beyond its value within the solved step, though it ends before it: the part of the step
// after which it turns back; 0: none
static double find_peak(hn_simulation *s)
{
    solved_step *step = &s->steps[s->ahead];
    double h = step->equations.step_size, found = 0.0, farthest = REACHED, part = 0.0;
    const double *v = NULL;
    for (int i = 0; i < s->hold_count; ++i) {
        const element *e = &s->system->elements[s->holds[i].first];
        bool latch = e->law->kind == HN_DRIVE_LATCH;
        if (s->holds[i].coupling >= 0 || !(latch || e->law->rigid) || is_led(s, e)) continue;
        if (v == NULL) v = velocities_before(s);
        hold_way way = hold_way_of(s, step, &s->holds[i]);
        double rate = e->law->sign * simulation_rate(e, s->state.q, v);
        for (double side = -1.0; side < 2.0; side += 2.0) {
            if (latch && side != way.slots[DRIVE_INTEGRAL]) continue;
            double peak = peak_on(&way, side, rate, h, &part);
            if (peak > farthest) farthest = peak, found = part;
        }
    }
    return found;
}

// s: within it of each other, times of corners and of the begin and end of steps are the same
static double same_time(const hn_simulation *s, double time)
{
    return LEFT_OVER * s->def.step_size + 4.0 * DBL_EPSILON * fabs(time);
}

// Is a jump one of several that follow each other within a step? These are samples of a smooth motion, such as a
// table of measured places: steps from sample to sample go along with it, without impulses.
static bool is_sample(const hn_simulation *s, const hn_profile *f, double jump)
{
    const double ONE = 1.001; // step
    double near = ONE * s->def.step_size, same = same_time(s, jump);
    return isfinite(profile_next_jump(f, jump + same, jump + near)) ||
           isfinite(profile_next_jump(f, jump - near, jump - same));
}

// The first time after `after`, until `end`, at which the rate of a motion jumps, and which hold it is; HUGE_VAL: none
static double first_jump(const hn_simulation *s, double after, double end, int *turned)
{
    double first = HUGE_VAL;
    for (int i = 0; i < s->hold_count; ++i) {
        const drive_law *law = s->system->elements[s->holds[i].first].law;
        if (s->holds[i].coupling >= 0 || !law->jumps) continue;
        double jump = profile_next_jump(law->function, after, end);
        while (isfinite(jump) && is_sample(s, law->function, jump))
            jump = profile_next_jump(law->function, jump, end);
        if (jump < first) first = jump, *turned = i;
    }
    return first;
}

// Likewise, with jumps at the same time for one, at the last of their times
static double next_turn(const hn_simulation *s, double after, double end, int *turned)
{
    double first = first_jump(s, after, end, turned), last = first;
    int other;
    for (double next = first; isfinite(next) && last < first + same_time(s, first);
         next = first_jump(s, last, first + same_time(s, first), &other))
        last = next;
    return last;
}

bool events_turn(const hn_simulation *s)
{
    const step_equations *step = &s->steps[s->ahead].equations;
    double begin = step->time + same_time(s, step->time);
    int turned;
    return s->has_events && isfinite(next_turn(s, begin, begin + step->step_size, &turned));
}

bool events_reached(hn_simulation *s)
{
    double side, begin, end;
    if (!s->has_events) return false;
    return find_reached(s, &side, &begin, &end) >= 0 || find_peak(s) > 0.0 || events_turn(s);
}

hn_status events_check_bounds(hn_simulation *s)
{
    for (int i = 0; i < s->hold_count && s->has_events; ++i) {
        const element *e = &s->system->elements[s->holds[i].first];
        const double *slots = s->angles + e->angle;
        double side;
        if (s->holds[i].coupling >= 0 ||
            !(excess(e, slots, e->law->sign * slots[DRIVE_COORDINATE], &side) > REACHED))
            continue;
        s->blocked.hold = i;
        s->blocked.motion = -1;
        s->blocked.time = hn_simulation_time(s);
        return holds_fail_blocked(s);
    }
    return HN_OK;
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

// Numbers of an impact, one per row
typedef struct impact {
    int count, hold_count;
    double *softness; // D
    double *units;    // of impulses, in which a row responds to its own by one
    double *given;    // W + D in them, and `matrix` its factors
    double *matrix;
    double *first, *mu; // impulses of the first solution, and of the second
    double *rates;      // between them
} impact;

static void clear_row(const hn_simulation *s, int index)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    memset(s->impact_rows + size * (size_t)index, 0, size * sizeof(double));
}

static double *row_of(const hn_simulation *s, int index)
{
    return s->impact_rows + POSE_SIZE * (size_t)s->system->body_count * (size_t)index;
}

// Rows of what holds and of what is hit, then of rotors
static void gather_rows(hn_simulation *s, impact *x)
{
    const hn_system *system = s->system;
    int n = holds_list(s, true);
    x->hold_count = n;
    x->softness = s->impact_matrix;
    for (int i = 0; i < n; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        clear_row(s, i);
        for (int k = 0; k < h->term_count; ++k)
            add_row(s, &system->elements[h->first + k], h->factors[k], row_of(s, i));
        x->softness[i] = 0.0;
    }
    for (int i = 0; i < system->drive_count; ++i) {
        if (!(system->laws[i].armature > 0.0)) continue;
        clear_row(s, n);
        add_row(s, &system->elements[system->drive_first + i], 1.0, row_of(s, n));
        x->softness[n++] = 1.0 / system->laws[i].armature;
    }
    x->count = n;
    x->first = x->softness + n;
    x->mu = x->first + n;
    x->rates = x->mu + n;
    x->units = x->rates + n;
    x->given = x->units + n;
    x->matrix = x->given + n * n;
}

static void velocities_of_twists(const hn_simulation *s, const double *twists, double *v)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        double *to = v + POSE_SIZE * (size_t)i;
        twist_to_velocity(system_pose(s->state.q, i), twists + TWIST_SIZE * (size_t)i, to);
        if (!s->system->bodies[i].has_directors) memset(to + 3, 0, 9 * sizeof(double));
    }
}

static double *twists_of(const hn_simulation *s, int index)
{
    return s->impact_twists + TWIST_SIZE * (size_t)s->system->body_count * (size_t)index;
}

// v += sum mu_i M_c^-1 r_i^T; `scratch`: 12 per body
static void add_impulses(const hn_simulation *s, const impact *x, const double *mu, double *v,
                         double *scratch)
{
    for (int i = 0; i < x->count; ++i) {
        velocities_of_twists(s, twists_of(s, i), scratch);
        for (size_t k = 0; k < POSE_SIZE * (size_t)s->system->body_count; ++k)
            v[k] += mu[i] * scratch[k];
    }
}

static hn_status find_masses(hn_simulation *s, impact *x, double *scratch)
{
    int n = x->count;
    TRY(saddle_factor_mass(s->projection, s->state.q));
    for (int i = 0; i < n; ++i) {
        saddle_project_again(s->projection, s->state.q, row_of(s, i), twists_of(s, i));
        velocities_of_twists(s, twists_of(s, i), scratch);
        for (int k = 0; k < n; ++k) x->given[n * k + i] = product(s, row_of(s, k), scratch);
    }
    for (int i = 0; i < n; ++i) {
        double own = x->given[n * i + i] += x->softness[i];
        x->units[i] = own > 0.0 ? 1.0 / sqrt(own) : 0.0;
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) x->given[n * i + k] *= x->units[i] * x->units[k];
    return HN_OK;
}

static bool is_struck(const hn_simulation *s, const impact *x, int row)
{
    return row < x->hold_count && s->holds[s->held_list[row]].struck;
}

// Solve for mu, which holds the targets; rows of what is hit only `with_hits`. The row that follows from others, or -1
static int solve_impulses(hn_simulation *s, impact *x, bool with_hits, double *mu)
{
    int n = x->count;
    memcpy(x->matrix, x->given, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        mu[i] *= x->units[i];
        if (with_hits || !is_struck(s, x, i)) continue;
        for (int k = 0; k < n; ++k) x->matrix[n * i + k] = x->matrix[n * k + i] = 0.0;
        x->matrix[n * i + i] = 1.0;
        mu[i] = 0.0;
    }
    if (n == 0) return -1;
    bool regular = small_lu_factor(n, n, x->matrix, s->impact_pivots);
    for (int i = 0; i < n; ++i)
        if (!(fabs(x->matrix[n * i + i]) > DEPENDENT)) return i;
    if (!regular) return 0;
    small_lu_solve(n, n, x->matrix, s->impact_pivots, 1, 1, mu);
    for (int i = 0; i < n; ++i) mu[i] *= x->units[i];
    return -1;
}

// The motion before: v- as far as joints, rotors and all that holds let it be one; motions have their rates.
static int begin_motion(hn_simulation *s, impact *x, const double *before, double time, double *v,
                        double *scratch)
{
    const hn_system *system = s->system;
    mass_apply(system, 1.0, before, scratch);
    double *twists = twists_of(s, x->count);
    saddle_project_again(s->projection, s->state.q, scratch, twists);
    velocities_of_twists(s, twists, v);
    for (int i = 0; i < x->hold_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        const drive_law *law = system->elements[h->first].law;
        bool moves = h->coupling < 0 && law->kind == HN_DRIVE_MOTION;
        x->first[i] = (moves ? holds_motion(&system->elements[h->first], time).rate : 0.0) -
                      product(s, row_of(s, i), v);
    }
    for (int i = 0, k = x->hold_count; i < system->drive_count; ++i) {
        if (!(system->laws[i].armature > 0.0)) continue;
        const element *e = &system->elements[system->drive_first + i];
        x->first[k] = s->angles[e->angle + DRIVE_ROTOR] - product(s, row_of(s, k), v);
        ++k;
    }
    int dependent = solve_impulses(s, x, false, x->first);
    if (dependent >= 0) return dependent;
    add_impulses(s, x, x->first, v, scratch);
    for (int i = 0; i < x->count; ++i) x->rates[i] = product(s, row_of(s, i), v);
    return -1;
}

// A stop that its coordinate leaves already is not hit, but ends bounces that are shorter than a step.
static double restitution_of(const hn_simulation *s, const impact *x, int row, double most)
{
    const hold *h = &s->holds[s->held_list[row]];
    bool left = h->restitution > 0.0 && h->side * x->rates[row] <= 0.0;
    return left ? -1.0 : fmin(most, h->restitution);
}

// -(1 + e) times the rates of what is hit, with e no more than `most`: impulses, and what they do to the energy
static int bounce(hn_simulation *s, impact *x, double most, double *work)
{
    *work = 0.0;
    for (int i = 0; i < x->count; ++i)
        x->mu[i] = is_struck(s, x, i) ? -(1.0 + restitution_of(s, x, i, most)) * x->rates[i] : 0.0;
    int dependent = solve_impulses(s, x, true, x->mu);
    for (int i = 0; i < x->hold_count && dependent < 0; ++i)
        if (is_struck(s, x, i))
            *work += 0.5 * x->mu[i] * (1.0 - restitution_of(s, x, i, most)) * x->rates[i];
    return dependent;
}

// Hits of different restitution may together give energy, which no stops do: then all have the least.
static int bounce_all(hn_simulation *s, impact *x)
{
    double least = 1.0, work;
    for (int i = 0; i < x->hold_count; ++i)
        if (is_struck(s, x, i)) least = fmin(least, s->holds[s->held_list[i]].restitution);
    int dependent = bounce(s, x, 1.0, &work);
    return dependent < 0 && work > 0.0 ? bounce(s, x, least, &work) : dependent;
}

// A stop does not pull: the first that would is left out of the impact, or lets go. True: there was one.
static bool release_pulled(hn_simulation *s, const impact *x)
{
    for (int i = 0; i < x->hold_count; ++i) {
        hold *h = &s->holds[s->held_list[i]];
        const element *e = &s->system->elements[h->first];
        if (h->coupling >= 0 || !e->law->rigid || (h->struck && h->restitution == 0.0)) continue;
        double *slots = s->angles + e->angle, side = h->struck ? h->side : slots[DRIVE_MODE];
        if (!(x->mu[i] * side > 0.0)) continue;
        if (!h->struck) slots[DRIVE_MODE] = slots[DRIVE_HOLD] = 0.0;
        h->struck = h->held = false;
        return true;
    }
    return false;
}

// Velocities become v; what that does to the energies of mechanisms and rotors is their work, and the sum
static double change_velocities(hn_simulation *s, const double *before, const double *v,
                                double *change, double *momentum)
{
    const hn_system *system = s->system;
    double *impetus = s->state.impetus, sum = 0.0;
    const double *added = s->scheme->impetus_is_momentum ? momentum : change;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    for (size_t k = 0; k < size; ++k) change[k] = v[k] - before[k];
    mass_apply(system, 1.0, change, momentum);
    for (int i = 0; i < system->body_count; ++i) {
        double work = 0.0;
        for (size_t k = POSE_SIZE * (size_t)i; k < POSE_SIZE * (size_t)(i + 1); ++k) {
            work += (before[k] + 0.5 * change[k]) * momentum[k];
            impetus[k] += added[k];
        }
        sum += work;
        if (s->part_count > 0) s->works[system->mechanism[i]] += work;
    }
    double *row = momentum; // not needed any more
    for (int i = 0; i < system->law_count; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        memset(row, 0, size * sizeof(double));
        add_row(s, e, 1.0, row);
        double rate = product(s, row, v), *rotor = &s->angles[e->angle + DRIVE_ROTOR],
               work = 0.5 * e->law->armature * (rate - *rotor) * (rate + *rotor);
        *rotor = rate;
        sum += work;
        if (s->part_count > 0) s->works[system->mechanism[element_body(e)]] += work;
    }
    return sum;
}

// Efforts and powers of drives are means over the step, impulses included.
static void begin_means(hn_simulation *s)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        const element *e = &s->system->elements[s->system->drive_first + i];
        s->impact_means[2 * i] = 0.0;
        s->impact_means[2 * i + 1] = s->angles[e->angle + DRIVE_WORK];
    }
}

static void add_part_to_means(hn_simulation *s, double part)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        const element *e = &s->system->elements[s->system->drive_first + i];
        s->impact_means[2 * i] += part * s->angles[e->angle + DRIVE_EFFORT];
    }
}

static void add_impulses_to_means(hn_simulation *s, const impact *x)
{
    for (int i = 0; i < x->hold_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        if (h->coupling < 0)
            s->impact_means[2 * (h->first - s->system->drive_first)] += x->first[i] + x->mu[i];
    }
}

static void end_means(hn_simulation *s, double h)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        double *slots = s->angles + s->system->elements[s->system->drive_first + i].angle;
        slots[DRIVE_EFFORT] = s->impact_means[2 * i] / h;
        slots[DRIVE_POWER] = (slots[DRIVE_WORK] - s->impact_means[2 * i + 1]) / h;
    }
}

// Work of the impact by drives: what the impulses of motions and of other hits do, and the rest of what was located
static void book_work(hn_simulation *s, const impact *x, int located, const double *v, double work)
{
    for (int i = 0; i < x->hold_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        if (h->coupling >= 0 || s->held_list[i] == located) continue;
        double *slot = &s->angles[s->system->elements[h->first].angle + DRIVE_WORK],
               own = (x->first[i] + x->mu[i]) * 0.5 * (x->rates[i] + product(s, row_of(s, i), v));
        *slot += own;
        work -= own;
    }
    s->angles[s->system->elements[s->holds[located].first].angle + DRIVE_WORK] += work;
}

// A latch, stop or the located one itself that others hold already takes no part; motions and couplings must. True: it
// can go on without
static bool leave_out(hn_simulation *s, const impact *x, int row, int located)
{
    s->stuck = located;
    if (row >= x->hold_count) return false;
    hold *h = &s->holds[s->held_list[row]];
    bool at_times = h->coupling < 0 && s->system->elements[h->first].law->kind != HN_DRIVE_MOTION;
    h->follows = true;
    if (at_times) s->stuck = -1;
    return at_times;
}

// Which motion a coordinate follows most: by what its rate alone does to it; or -1. `v`, `scratch`: 12 per body
static int leading_motion(hn_simulation *s, const impact *x, const element *e, double time,
                          double *v, double *scratch)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double largest = 0.0, *mu = x->mu;
    int leading = -1;
    for (int m = 0; m < x->hold_count; ++m) {
        const hold *h = &s->holds[s->held_list[m]];
        const element *own = &s->system->elements[h->first];
        if (h->coupling >= 0 || own->law->kind != HN_DRIVE_MOTION) continue;
        for (int i = 0; i < x->count; ++i)
            mu[i] = i == m ? x->units[i] * holds_motion(own, time).rate : 0.0;
        small_lu_solve(x->count, x->count, x->matrix, s->impact_pivots, 1, 1, mu);
        for (int i = 0; i < x->count; ++i) mu[i] *= x->units[i];
        memset(v, 0, size * sizeof(double));
        add_impulses(s, x, mu, v, scratch);
        double rate = fabs(simulation_rate(e, s->state.q, v));
        if (rate > largest) largest = rate, leading = s->held_list[m];
    }
    return leading;
}

// What was hit, takes no part and goes on all the same is led by a motion: nothing can follow both. `v`: velocities
// after the impact; `space`: 24 per body
static bool is_blocked(hn_simulation *s, const impact *x, const double *before, const double *v,
                       double time, double *space)
{
    const double GOES_ON = 1e-6; // of its rate before
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        if (!h->struck || !(h->idle || h->follows)) continue;
        const element *e = &s->system->elements[h->first];
        double came = h->side * e->law->sign * simulation_rate(e, s->state.q, before),
               goes = h->side * e->law->sign * simulation_rate(e, s->state.q, v);
        if (!(goes > GOES_ON * fabs(came))) continue;
        s->blocked.hold = i;
        s->blocked.time = time;
        s->blocked.motion = leading_motion(s, x, e, time, space, space + size);
        return true;
    }
    return false;
}

// (D12), of everything that is struck; `before`: velocities
static hn_status strike(hn_simulation *s, int located, const double *before, double time)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double *v = s->impact_change, *scratch = v + size, *change = scratch + size;
    impact x = {0};
    for (bool again = true; again;) {
        gather_rows(s, &x);
        TRY(find_masses(s, &x, scratch));
        int dependent = begin_motion(s, &x, before, time, v, scratch);
        if (dependent < 0) dependent = bounce_all(s, &x);
        if (dependent < 0) again = release_pulled(s, &x);
        else if (!leave_out(s, &x, dependent, located)) return HN_SINGULAR_SYSTEM;
    }
    add_impulses(s, &x, x.mu, v, scratch);
    if (is_blocked(s, &x, before, v, time, scratch)) return HN_SINGULAR_SYSTEM;
    double work = change_velocities(s, before, v, change, scratch);
    s->work += work;
    book_work(s, &x, located, v, work);
    add_impulses_to_means(s, &x);
    return HN_OK;
}

// Mark what is at its value and moves on, beside what was located; `v`: velocities
static void find_struck(hn_simulation *s, int located, double located_side, const double *v)
{
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        const element *e = &s->system->elements[h->first];
        const double *slots = s->angles + e->angle;
        h->struck = i == located;
        h->side = located_side;
        if (h->struck || h->coupling >= 0) continue;
        double x = e->law->sign * slots[DRIVE_COORDINATE];
        if (!(excess(e, slots, x, &h->side) >= -TOGETHER)) continue;
        h->struck = h->side * e->law->sign * simulation_rate(e, s->state.q, v) > 0.0;
    }
}

// Flights that shorten by a ratio rho end tau rho/(1 - rho) after the last one, tau: within this step? Between
// two stops or without loss they do not. With loss, those that are too short to follow count as ended.
static bool comes_to_rest(hold *h, double restitution, double at, double left)
{
    double flight = at - h->hit_at, before = h->flight;
    h->hits = h->hits > 0 && h->side == h->hit_side ? h->hits + 1 : 1;
    h->hit_at = at;
    h->hit_side = h->side;
    h->flight = flight;
    if (h->hits > HITS_FOLLOWED && restitution < 1.0) return true;
    return h->hits >= HITS_MIN && flight * flight <= left * (before - flight);
}

static void forget_step(hn_simulation *s)
{
    s->steps[s->ahead].valid = false;
    composed_forget(s);
    simulation_forget_derived(s);
}

// What is hit now, `at` s of the step with `left` s to go: lock, stay in contact, or bounce.
static hn_status hit_now(hn_simulation *s, int located, double side, double time, double at,
                         double left)
{
    double *before = velocities_before(s);
    drive_modes_begin(s, s->angles);
    find_struck(s, located, side, before);
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        if (!h->struck) continue;
        const drive_law *law = s->system->elements[h->first].law;
        bool stays = law->kind == HN_DRIVE_LATCH || law->restitution == 0.0 ||
                     comes_to_rest(h, law->restitution, at, left);
        h->restitution = stays ? 0.0 : law->restitution;
    }
    TRY(strike(s, located, before, time));
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        const element *e = &s->system->elements[h->first];
        if (!h->struck || h->restitution > 0.0) continue;
        s->angles[e->angle + DRIVE_MODE] = e->law->kind == HN_DRIVE_LATCH ? 1.0 : h->side;
        s->angles[e->angle + DRIVE_HOLD] = 0.0;
    }
    forget_step(s);
    return HN_OK;
}

// Targets of a jump: motions go on with their rates at the time `after` it. The row that follows from others, or -1
static int turn_rates(hn_simulation *s, impact *x, double after)
{
    for (int i = 0; i < x->count; ++i) {
        const hold *h = i < x->hold_count ? &s->holds[s->held_list[i]] : NULL;
        const element *e = h == NULL ? NULL : &s->system->elements[h->first];
        bool moves = h != NULL && h->coupling < 0 && e->law->kind == HN_DRIVE_MOTION;
        x->mu[i] = moves ? holds_motion(e, after).rate - x->rates[i] : 0.0;
    }
    return solve_impulses(s, x, true, x->mu);
}

// A motion that jumps itself is none that anything can follow.
static void say_leaps(const hn_simulation *s, double time, double aside)
{
    const double LEAP = 1e-9; // rad, or m over the size of the joint
    for (int i = 0; i < s->hold_count; ++i) {
        const element *e = &s->system->elements[s->holds[i].first];
        if (s->holds[i].coupling >= 0 || !e->law->jumps || e->rotation) continue;
        motion_jet before = holds_motion(e, time - aside), after = holds_motion(e, time + aside);
        double leap = after.value - before.value,
               way = 2.0 * aside * fmax(fabs(before.rate), fabs(after.rate));
        if (!(fabs(leap) > LEAP * e->law->unit + 2.0 * way)) continue;
        context_log(s->context,
                    "drive '%s': its motion jumps by %.6g %s at t = %.6g s, which nothing can "
                    "follow: velocities and efforts mean nothing from there on",
                    e->name, leap, e->displacement ? "m" : "rad", time);
    }
}

// The rate of a motion jumps, which takes an impulse of it (D12): velocities change with the targets of all motions.
static hn_status turn_now(hn_simulation *s, int turned, double time)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double *v = s->impact_change, *scratch = v + size, *change = scratch + size,
           *before = velocities_before(s), aside = same_time(s, time);
    impact x = {0};
    say_leaps(s, time, aside);
    drive_modes_begin(s, s->angles);
    for (bool again = true; again;) {
        gather_rows(s, &x);
        TRY(find_masses(s, &x, scratch));
        int dependent = begin_motion(s, &x, before, time - 2.0 * aside, v, scratch);
        if (dependent < 0) dependent = turn_rates(s, &x, time + aside);
        if (dependent < 0) again = release_pulled(s, &x);
        else if (!leave_out(s, &x, dependent, turned)) return HN_SINGULAR_SYSTEM;
    }
    add_impulses(s, &x, x.mu, v, scratch);
    double work = change_velocities(s, before, v, change, scratch);
    s->work += work;
    book_work(s, &x, turned, v, work);
    add_impulses_to_means(s, &x);
    forget_step(s);
    return HN_OK;
}

// ---- steps in parts ---------------------------------------------------------------------------------------------

// What a part of the step reaches, and where: over the joint's size, beyond its value on that side
typedef struct reached {
    int hit; // hold, or -1
    double side;
    double low, high;       // s: parts of the step after which it is not reached, and is
    double at_low, at_high; // where it is then
} reached;

// Rate of a coordinate at the begin of the step, over its size
static double rate_now(hn_simulation *s, const element *e)
{
    return e->law->sign * simulation_rate(e, s->state.q, velocities_before(s)) / e->law->unit;
}

// A coordinate that begins at its value goes on there, or leaves it and comes back within the step: then a part after
// which it is in flight. Under a steady force the place over time is a parabola, through both ends with the rate at the
// begin: half of its flight.
static hn_status find_flight(hn_simulation *s, double time, reached *r)
{
    for (int pass = 0; pass < LOCATE_PASSES && r->at_low >= -LOCATED; ++pass) {
        const hold *h = &s->holds[r->hit];
        double side, begin, end,
            way = r->side * rate_now(s, &s->system->elements[h->first]) * r->high;
        if (!(way < 0.0)) return HN_OK;
        double middle = 0.5 * r->high * way / (way - r->at_high);
        TRY(simulation_solve_or_stop(s, middle, time, true));
        int first = find_reached(s, &side, &begin, &end);
        if (first >= 0) { // it, or another one, comes sooner
            *r = (reached){first, side, 0.0, middle, begin, end};
            continue;
        }
        hold_way flown = hold_way_of(s, &s->steps[s->ahead], h);
        double here = excess_on(flown.e, flown.slots, flown.to, r->side);
        if (here < -LOCATED) r->low = middle, r->at_low = here;
        return HN_OK;
    }
    return HN_OK;
}

// What the solved step of size r->high reaches, at its end or where a coordinate turns back before it
static hn_status find_first(hn_simulation *s, double time, reached *r)
{
    double whole = r->high, peak;
    r->hit = find_reached(s, &r->side, &r->at_low, &r->at_high);
    if (r->hit >= 0 || !((peak = find_peak(s)) > 0.0)) return HN_OK;
    TRY(simulation_solve_or_stop(s, peak, time, true));
    r->hit = find_reached(s, &r->side, &r->at_low, &r->at_high);
    if (r->hit < 0) return simulation_solve_or_stop(s, whole, time, true);
    r->high = peak;
    return HN_OK;
}

// Solve parts of the step until the first value is reached at the end of one: secants that keep both sides (Illinois).
static hn_status locate(hn_simulation *s, double whole, double time, double *part, int *hit,
                        double *side)
{
    reached r = {.side = 0.0, .low = 0.0, .high = whole};
    TRY(find_first(s, time, &r));
    *part = whole;
    *hit = r.hit, *side = r.side;
    if (*hit < 0) return HN_OK;
    TRY(find_flight(s, time, &r));
    *hit = r.hit, *side = r.side;
    *part = 0.0;
    if (r.at_low >= -LOCATED) return HN_OK;
    int last = 0;
    for (int pass = 0; pass < LOCATE_PASSES; ++pass) {
        *part = r.low + (r.high - r.low) * r.at_low / (r.at_low - r.at_high);
        TRY(simulation_solve_or_stop(s, *part, time, true));
        double other_side, other_begin, other_end;
        int other = find_reached(s, &other_side, &other_begin, &other_end);
        if (other >= 0 && other != *hit) {
            // another one comes first
            *hit = other, *side = other_side, r.high = *part;
            r.at_low = r.low > 0.0 ? r.at_low : other_begin, r.at_high = other_end, last = 0;
            continue;
        }
        hold_way way = hold_way_of(s, &s->steps[s->ahead], &s->holds[*hit]);
        double here = excess_on(way.e, way.slots, way.to, *side);
        if (fabs(here) <= LOCATED) return HN_OK;
        if (here > 0.0) {
            r.high = *part, r.at_high = here;
            if (last > 0) r.at_low *= 0.5;
            last = 1;
        } else {
            r.low = *part, r.at_low = here;
            if (last < 0) r.at_high *= 0.5;
            last = -1;
        }
        if (!(r.high - r.low > LEFT_OVER * LEFT_OVER * whole)) return HN_OK;
    }
    s->newton.gave_up = GAVE_UP_EVENT;
    s->newton.hold = *hit;
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

// A step of size h from `time` in parts, of which `done` s are behind
typedef struct filled_step {
    double h, time, done;
    double after; // s: until then jumps of motions are behind
    // what ended the last part: a hold that was hit, a motion whose rate jumped; -1: nothing
    int hit, turned;
} filled_step;

// The next part: until something is hit or the rate of a motion jumps
static hn_status fill_part(hn_simulation *s, filled_step *f)
{
    double now = f->time + f->done, left = f->h - f->done, same = same_time(s, f->time), part = 0.0,
           side = 0.0;
    f->hit = f->turned = -1;
    double turn = next_turn(s, f->after, f->time + f->h + same, &f->turned),
           whole = f->turned < 0 ? left : fmin(left, turn - now);
    if (whole > same) {
        if (whole < left) TRY(simulation_solve_or_stop(s, whole, now, true));
        TRY(locate(s, whole, now, &part, &f->hit, &side));
        bool alone = f->done == 0.0 && part == f->h && f->hit < 0 && f->turned < 0;
        if (part > 0.0) TRY(alone ? simulation_commit(s, false) : commit_part(s));
        add_part_to_means(s, part);
        f->done += part;
    }
    if (f->hit >= 0) return hit_now(s, f->hit, side, f->time + f->done, f->done, f->h - f->done);
    if (f->turned < 0) return HN_OK;
    f->after = turn;
    return turn_now(s, f->turned, turn);
}

hn_status events_fill(hn_simulation *s, double h, double time)
{
    double same = same_time(s, time);
    filled_step f = {.h = h, .time = time, .after = time + same};
    for (int i = 0; i < s->hold_count; ++i) s->holds[i].hits = 0;
    begin_means(s);
    for (int count = 0; count < EVENTS_MAX; ++count) {
        TRY(fill_part(s, &f));
        if (f.hit < 0 && f.turned < 0) {
            end_means(s, h);
            return HN_OK;
        }
        s->step_had_event = true;
        // at the end of the step motions may turn still
        if (h - f.done > same) TRY(simulation_solve_or_stop(s, h - f.done, time + f.done, true));
    }
    s->rattling = f.hit;
    return HN_NOT_CONVERGED;
}

hn_status events_pass(hn_simulation *s, double h, double time)
{
    snapshot_keep(s, s->backup);
    hn_status status = events_fill(s, h, time);
    if (status == HN_OK) return HN_OK;
    s->step_had_event = false;
    newton_report failed = s->newton;
    snapshot_take_back(s, s->backup);
    s->newton = failed;
    return status;
}
