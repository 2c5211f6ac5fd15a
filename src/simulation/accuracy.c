// SPDX-License-Identifier: MIT
// Estimates of the local error. Note: docs/theory/accuracy.md
//
//   (U1)  x_k = q_n+1 - q_n+1^(k): the scheme's step less that of `energy-momentum` from the same q_n, p_n in 2^k parts
//   (U2)  e_1 = x_1 + (x_1 - x_0)/3,  e_k = r_k + (r_k - r_k-1)/15 with r_k = x_k + (x_k - x_k-1)/3
//         composed steps of order p have references of their own kind, and 2^p - 1, 2^(p+2) - 1 for 3 and 15; parts of
//         theirs end at corners of loads and drives, where the step itself loses its order
//   (U3)  d = q_n+1 - 3 q_n + 3 q_n-1 - q_n-2: an error where none was measured is the third difference times the ratio
//         of both where one was, of the largest ratio lately; no less than the difference where a step was made in
//         halves. Schemes of first order: the second difference
//   (U4)  ratios hold among differences like those they were found with: a step with one far beyond is measured, and
//         where no reference follows counts the difference itself
//   (U5)  e = h/2 |v_n+1 - r'(t_n+1)| of coordinates that a motion r(t) leads
//
// Steps are measured at intervals, and where (U3) says that they are worse than all before.
#include "simulation/composed.h"
#include "simulation/simulation.h"

#include "base/six.h"
#include "base/sum.h"
#include "simulation/statics.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

enum { SETTLING = 3 };   // steps until third differences are those after an impact
enum { LEVELS_MAX = 5 }; // of the reference: at most 32 parts
static const double FRESH =
    2.0; // steps that a part of the reference costs: it starts from velocities alone
static const double COST_PART =
    0.03; // of all steps may be steps of the reference, in the long run, and as many
static const double CREDIT_START =
    100.0; // more where steps seem worse; at the start so many at once
static const double SPREADING =
    0.4; // of the steps so far is the longest pause between two measured ones
static const double WORSE = 1.5; // a step so much worse than all before is measured
static const double ROUGHER =
    2.5; // one with a difference so many times beyond those of measured steps is, whatever it costs
// and so are the next ones with differences of that size: the error of a body that whips round may grow once more while
// they fall. Each such step is beyond all before, so that there are few of them.
enum { FOLLOWING = 3 };
static const double AS_ROUGH = 0.3;
static const double FORGETTING = 0.7;  // of ratios found before
static const double RESOLVED = 0.1;    // rad, parts of the size: coarse references agree to this,
static const double NOT_SMALLER = 0.1; // and the error is no smaller part of their difference
static const double SETTLED = 0.3; // finer ones change the error by no more than this part of it
static const double LAGGING =
    4.0; // h |dv| of the error in velocity, over the error: an oscillation slips by
static const double ROUND_OFF = 4.0 * DBL_EPSILON;
static const double NOISE =
    32.0; // times round-off of coordinates: differences of references say nothing below

// Of six numbers per body: displacement, rotation vector.
static local_error error_of(const hn_system *system, const double *x)
{
    local_error e = {0};
    for (int i = 0; i < system->body_count; ++i)
        local_error_note_body(&e, system, i, vec3_norm(vec3_load(x + TWIST_SIZE * (size_t)i)),
                              vec3_norm(vec3_load(x + TWIST_SIZE * (size_t)i + 3)));
    return e;
}

static void error_at_least(local_error *e, const local_error *other, double factor)
{
    for (int m = 0; m < ERROR_MEASURES; ++m)
        local_error_note(e, (error_measure)m, factor * other->value[m], other->body[m]);
}

// The line of a rod, about which its turn means nothing.
static hn_vec3 rod_line(const hn_system *system, const double *q, int body)
{
    const double *e = mass_node(system, body) + 1;
    int k = e[0] >= e[1] && e[0] >= e[2] ? 0 : e[1] >= e[2] ? 1 : 2;
    return vec3_load(q + 3 + 3 * k);
}

// Rotation vector from pose `from` to pose `to`.
static hn_vec3 turn_between(const double *from, const double *to)
{
    hn_vec3 s = vec3(0.0, 0.0, 0.0);
    double c = -1.0;
    for (int k = 3; k < POSE_SIZE; k += 3) {
        s = vec3_add_scaled(s, 0.5, vec3_cross(vec3_load(from + k), vec3_load(to + k)));
        c += vec3_dot(vec3_load(from + k), vec3_load(to + k));
    }
    double sine = vec3_norm(s);
    return sine > 0.0 ? vec3_scale(atan2(sine, 0.5 * c) / sine, s) : s;
}

// (U1) with `parts` = 2^k, and the difference of velocities. Not HN_OK: the reference fails.
static hn_status compare(hn_simulation *s, int parts, double *x, local_error *velocity)
{
    const hn_system *system = s->system;
    hn_simulation *r = s->reference;
    *velocity = (local_error){0};
    double h = s->def.step_size;
    dampers_take_begin(r, s);
    TRY(simulation_run_reference(r, s->q_before, s->p_before, s->angles_before,
                                 hn_simulation_time(s) - h, h, parts));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *q = s->state.q + at, *reference = r->state.q + at;
        double p[POSE_SIZE], twist[2][TWIST_SIZE];
        for (int k = 0; k < POSE_SIZE; ++k)
            p[k] = r->composition != NULL
                       ? r->own_momenta[at + (size_t)k]
                       : mass_node(system, i)[k / 3] * r->state.impetus[at + (size_t)k];
        mass_twist(system, i, q, s->own_momenta + at, twist[0]);
        mass_twist(system, i, reference, p, twist[1]);
        hn_vec3 move = vec3_subtract(vec3_load(q), vec3_load(reference)),
                turn = vec3(0.0, 0.0, 0.0);
        hn_vec3 spin = vec3_subtract(vec3_load(twist[0] + 3), vec3_load(twist[1] + 3));
        if (system->bodies[i].has_directors) turn = turn_between(reference, q);
        if (system_body_is_rod(system, i)) {
            hn_vec3 line = rod_line(system, q, i);
            turn = vec3_add_scaled(turn, -vec3_dot(turn, line), line);
            spin = vec3_add_scaled(spin, -vec3_dot(spin, line), line);
        }
        vec3_store(move, x + TWIST_SIZE * (size_t)i);
        vec3_store(turn, x + TWIST_SIZE * (size_t)i + 3);
        local_error_note_body(
            velocity, system, i,
            h * vec3_norm(vec3_subtract(vec3_load(twist[0]), vec3_load(twist[1]))),
            h * vec3_norm(spin));
    }
    return HN_OK;
}

// Round-off of coordinates.
static local_error round_off(const hn_simulation *s)
{
    local_error e = {0};
    for (int i = 0; i < s->system->body_count; ++i) {
        const double *q = system_pose(s->state.q, i);
        double place = fmax(fabs(q[0]), fmax(fabs(q[1]), fabs(q[2]))) + s->system->sizes[i];
        local_error_note_body(&e, s->system, i, ROUND_OFF * place,
                              s->system->bodies[i].has_directors ? ROUND_OFF : 0.0);
    }
    return e;
}

// Extrapolation (U2) from references in ever more parts.
typedef struct extrapolation {
    double *x, *x_before; // of this level and the one before
    double *r_before;     // first column
    double *error;        // the best so far
    double *change;       // of it, and of x
    int columns;
    double gains[2]; // 2^p - 1 and 2^(p + 2) - 1 of a reference of order p
} extrapolation;

// Take in x. What changed from the level before goes to `coarse`, what changed in the extrapolated error to `change`.
static void extrapolate(extrapolation *e, const hn_system *system, local_error *coarse,
                        local_error *change)
{
    size_t count = TWIST_SIZE * (size_t)system->body_count;
    for (size_t k = 0; k < count; ++k) e->change[k] = e->x[k] - e->x_before[k];
    *coarse = error_of(system, e->change);
    for (size_t k = 0; k < count; ++k) {
        double r = e->x[k] + e->change[k] / e->gains[0];
        double better = e->columns > 1 ? r + (r - e->r_before[k]) / e->gains[1] : r;
        e->change[k] = better - e->error[k];
        e->error[k] = better;
        e->r_before[k] = r;
    }
    *change = error_of(system, e->change);
}

// Is there a corner of a load or of a drive in the last step?
static bool has_corner(const hn_simulation *s)
{
    double end = hn_simulation_time(s);
    return isfinite(composed_next_corner(s, end - s->def.step_size, end));
}

// Does friction slide otherwise at the end of the last step than at its begin, or has a stop or latch let go or locked?
static bool has_turned(const hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->law_count; ++i) {
        int at = system->elements[system->drive_first + i].angle + DRIVE_MODE;
        if (s->angles[at] != s->angles_before[at]) return true;
    }
    return false;
}

// The error of the last step, `known` where a reference could be had.
static hn_status measure(hn_simulation *s, bool bent, local_error *floor, local_error *out,
                         bool *known)
{
    const hn_system *system = s->system;
    size_t count = TWIST_SIZE * (size_t)system->body_count;
    accuracy_record *a = &s->accuracy;
    *floor = round_off(s);
    double least = NOISE * floor->value[ERROR_RELATIVE];
    double *work = s->offsets;
    extrapolation e = {.x = work,
                       .x_before = work + count,
                       .r_before = work + 2 * count,
                       .error = work + 3 * count,
                       .change = work + 4 * count};
    int order = s->composition == NULL ? 2 : s->composition->order;
    e.gains[0] = (double)((1 << order) - 1);
    e.gains[1] = (double)((4 << order) - 1);
    bool resolved = false;
    int level = 0;
    *known = false;
    a->cost = 0.0;
    bool alike = s->def.scheme == HN_SCHEME_ENERGY_MOMENTUM || s->composition != NULL;
    if (alike && !s->step_was_halved && !bent) {
        // the step is its own reference in one part
        memset(e.x_before, 0, count * sizeof(double));
        memset(e.error, 0, count * sizeof(double));
        e.columns = level = 1;
    }
    for (; level <= LEVELS_MAX && !resolved; ++level) {
        local_error velocity, coarse, change;
        double parts = (double)(1 << level);
        a->cost += FRESH * parts;
        hn_status status = compare(s, 1 << level, e.x, &velocity);
        if (status == HN_CANCELLED) return status;
        if (status != HN_OK) {
            e.columns = 0;
            continue;
        }
        if (e.columns == 0) {
            memcpy(e.error, e.x, count * sizeof(double));
        } else {
            extrapolate(&e, system, &coarse, &change);
            *out = error_of(system, e.error);
            *known = true;
            double error = out->value[ERROR_RELATIVE], apart = coarse.value[ERROR_RELATIVE];
            if (e.columns == 1)
                resolved = !bent && apart <= RESOLVED && error >= NOT_SMALLER * apart;
            else resolved = change.value[ERROR_RELATIVE] <= SETTLED * error;
            resolved =
                resolved && velocity.value[ERROR_RELATIVE] <= LAGGING * parts * fmax(error, apart);
            resolved = resolved || apart <= least;
            if (!resolved && level == LEVELS_MAX) {
                error_at_least(out, &change, 1.0);
                error_at_least(out, &velocity, 0.5 / parts);
            }
        }
        double *x = e.x;
        e.x = e.x_before, e.x_before = x;
        e.columns++;
    }
    if (!*known) return HN_OK;
    if (!resolved) a->unresolved_count++;
    error_at_least(out, floor, 1.0);
    return HN_OK;
}

static inline double square(double x)
{
    return x * x;
}

// Third differences (U3) of all bodies, and the first and second ones for the next step. A body that is no worse than
// those before, as nearly all are, costs neither roots nor quotients.
static local_error differences_of(hn_simulation *s)
{
    const hn_system *system = s->system;
    double last = s->scheme->first_order ? 0.0 : 1.0;
    local_error e = {0};
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = s->state.q + POSE_SIZE * (size_t)i,
                     *before = s->q_before + POSE_SIZE * (size_t)i;
        double *first = s->differences + 2 * POSE_SIZE * (size_t)i, *second = first + POSE_SIZE;
        pair sums[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}; // of squares
        for (int k = 0; k < POSE_SIZE; k += 2) {
            pair change = pair_load(q + k) - pair_load(before + k),
                 twice = change - pair_load(first + k),
                 third = twice - last * pair_load(second + k);
            pair_store(change, first + k);
            pair_store(twice, second + k);
            sums[k < 4 ? k / 2 : 2] += third * third;
        }
        double move = sums[0][0] + sums[0][1] + sums[1][0],
               turn = 0.5 * (sums[1][1] + sums[2][0] + sums[2][1]), size = system->sizes[i];
        if (move <= square(e.value[ERROR_POSITION]) && turn <= square(e.value[ERROR_ANGLE]) &&
            move <= square(e.value[ERROR_RELATIVE] * size))
            continue; // the relative error is no less than the angle
        local_error_note_body(&e, system, i, sqrt(move), sqrt(turn));
    }
    return e;
}

// What a motion leads is where it should be at nodes, and has the mean rate of the motion in between: how far it goes
// in half a step by the difference of its rate at the node to that of the motion (U5).
static local_error error_of_led_rates(const hn_simulation *s)
{
    const hn_system *system = s->system;
    local_error e = {0};
    for (int i = 0; i < s->hold_count; ++i) {
        const element *led = &system->elements[s->holds[i].first];
        if (s->holds[i].coupling >= 0 || led->law->kind != HN_DRIVE_MOTION) continue;
        double row[2 * POSE_SIZE], rate = 0.0;
        element_rate_row(led, system_pose(s->state.q, led->a), system_pose(s->state.q, led->b),
                         row);
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? led->a : led->b;
            double twist[TWIST_SIZE], v[POSE_SIZE];
            if (body < 0) continue;
            const double *q = system_pose(s->state.q, body);
            mass_twist(system, body, q, s->own_momenta + POSE_SIZE * (size_t)body, twist);
            twist_to_velocity(q, twist, v);
            for (int k = 0; k < POSE_SIZE; ++k) rate += row[POSE_SIZE * side + k] * v[k];
        }
        double end = hn_simulation_time(s),
               off = 0.5 * s->def.step_size *
                     fabs(led->law->sign * rate - holds_motion(led, end).rate);
        bool slides = led->displacement;
        local_error_note_body(&e, system, element_body(led), slides ? off : 0.0,
                              slides ? 0.0 : off);
    }
    return e;
}

static double ratio(double x, double y)
{
    return y > 0.0 ? x / y : 0.0;
}

static void worst_note(accuracy_record *a, const local_error *e, double time)
{
    for (int m = 0; m < ERROR_MEASURES; ++m)
        if (e->value[m] > a->worst.value[m]) {
            a->worst.value[m] = e->value[m];
            a->worst.body[m] = e->body[m];
            a->time[m] = time;
        }
}

void accuracy_begin(hn_simulation *s)
{
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count * sizeof(double);
    simulation_update_momenta(s);
    memcpy(s->q_before, s->state.q, size);
    // those at the end of the step are found in other memory
    double *momenta = s->momenta;
    if (s->own_momenta == s->momenta) s->own_momenta = s->p_before;
    s->momenta = s->p_before;
    s->p_before = momenta;
    s->momenta_valid = false;
    memcpy(s->angles_before, s->angles, (size_t)system->angle_count * sizeof(double));
    dampers_keep_begin(s);
}

static bool is_beyond(const accuracy_record *a, const local_error *third, double factor)
{
    for (int m = 0; m < ERROR_MEASURES; ++m)
        if (third->value[m] > factor * a->known[m]) return true;
    return false;
}

// (U4) Does a ratio of gentle steps say nothing about this one?
static bool is_rougher(accuracy_record *a, const local_error *third)
{
    if (a->step_count <= 3 || a->settling > 0) return false;
    bool far = is_beyond(a, third, ROUGHER),
         rough = a->following > 0 && is_beyond(a, third, AS_ROUGH);
    a->following = far ? FOLLOWING : a->following > 0 ? a->following - 1 : 0;
    return far || rough;
}

// Measure the last step where its turn has come, or where it seems worse than all before. The first three steps are
// measured, then ever fewer, until the reference costs COST_PART of the run.
static hn_status measure_in_turn(hn_simulation *s, const local_error *third, bool worse, bool bent,
                                 local_error *error)
{
    accuracy_record *a = &s->accuracy;
    local_error floor;
    bool known, in_turn = a->step_count >= a->next_step, rougher = is_rougher(a, third);
    a->credit += COST_PART;
    bool paid = worse && a->credit > 0.0;
    if (!in_turn && !paid && !rougher) return HN_OK;
    local_error guessed = *error;
    int64_t unresolved = a->unresolved_count;
    TRY(measure(s, bent, &floor, error, &known));
    if (!in_turn && paid) a->credit -= a->cost;
    double pause = fmin(SPREADING * (double)a->step_count, a->cost / COST_PART);
    if (in_turn)
        a->next_step = a->step_count + (pause < 1.0 || a->step_count < 3 ? 1 : (int64_t)pause);
    if (rougher && !in_turn && !paid) {
        error_at_least(error, &guessed, 1.0); // references may all jump over the same
        if (!known || a->unresolved_count > unresolved) error_at_least(error, third, 1.0);
    }
    if (!known) return HN_OK;
    a->sample_count++;
    for (int m = 0; m < ERROR_MEASURES && a->step_count >= 3 && a->settling == 0; ++m) {
        // of an oscillation a single difference may be next to nothing
        double lately = fmax(third->value[m], fmax(a->recent[0][m], a->recent[1][m])),
               now = ratio(error->value[m], fmax(lately, floor.value[m]));
        a->ratio[m] = fmax(now, (in_turn || paid ? FORGETTING : 1.0) * a->ratio[m]);
        a->known[m] = fmax(a->known[m], third->value[m]);
    }
    return HN_OK;
}

hn_status accuracy_note(hn_simulation *s)
{
    accuracy_record *a = &s->accuracy;
    local_error third = differences_of(s), error = third;
    if (a->step_count == 0) a->credit = CREDIT_START;
    a->step_count++;
    // right after an impact differences say nothing, and steps are measured as long as there is credit
    bool settling = a->settling > 0, bent = has_turned(s) || has_corner(s),
         worse = settling || bent;
    for (int m = 0; m < ERROR_MEASURES; ++m) {
        // a step in halves may have ended at another of several solutions: ratios of whole steps say nothing of that
        double least = s->step_was_halved ? 1.0 : 0.0;
        error.value[m] *= settling ? 0.0 : fmax(least, a->ratio[m]);
        worse = worse || error.value[m] > WORSE * a->worst.value[m];
    }
    if (s->error_known) {
        // a scheme that controls its error knows it
        error = s->error;
        a->sample_count++;
    } else {
        TRY(measure_in_turn(s, &third, worse, bent, &error));
    }
    if (settling) a->settling--;
    memcpy(a->recent[1], a->recent[0], sizeof a->recent[0]);
    memcpy(a->recent[0], third.value, sizeof third.value);
    for (int m = 0; m < ERROR_MEASURES; ++m) a->sum[m] += error.value[m];
    // rates of what is led are no start of the next step's places: these do not add up
    local_error led = error_of_led_rates(s);
    error_at_least(&error, &led, 1.0);
    worst_note(a, &error, hn_simulation_time(s));
    return HN_OK;
}

void accuracy_note_event(hn_simulation *s)
{
    (void)differences_of(s);
    s->accuracy.settling = SETTLING;
}

void accuracy_note_spin(hn_simulation *s, double spin, int body)
{
    accuracy_record *a = &s->accuracy;
    double h = s->def.step_tolerance > 0.0 ? s->control.last_step : s->def.step_size;
    if (!(spin * h > a->spin_step)) return;
    a->spin_step = spin * h;
    a->spin_time = hn_simulation_time(s);
    a->spin_body = body;
}

void accuracy_note_beams(hn_simulation *s)
{
    accuracy_record *a = &s->accuracy;
    int beam, place;
    if (s->system->beam_count == 0) return;
    hn_beam_tension tension = statics_largest_tension(s);
    if (tension.ratio > a->tension.ratio) {
        a->tension = tension;
        a->tension_time = hn_simulation_time(s);
    }
    double bend = statics_largest_bend(s, &beam, &place);
    if (beam < 0) return;
    double part =
        bend / beam_bend_large(s->system->elements[s->system->beam_first[beam] + place].beam);
    if (!(part > a->bend_part)) return;
    a->bend_part = part;
    a->bend = bend;
    a->bend_time = hn_simulation_time(s);
    a->bend_beam = beam;
    a->bend_element = place;
}
