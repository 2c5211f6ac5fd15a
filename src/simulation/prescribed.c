// SPDX-License-Identifier: MIT
// Mechanisms whose motions take all their freedom: where they are at a time, how they move, and which efforts and
// reactions that takes. Note: docs/theory/prescribed.md
//
//   (O1)  g(q) = 0,  x_d(q) = r_d(t):  q <- q + z + T w,  G z = -g,  w = r_d - x_d - r(q, z)
//   (O2)  v = T r',  a = Gamma(v, v) + T r''
//   (O3)  e_d = T_d^T (M a + J s x'' - F);  M a + G^T lambda = F + sum of e_i S_i
//   (O8)  I <- I + h (mean r - (x_n + x_n+1)/2 + h/12 (x'_n+1 - x'_n)): a servo's integral, unless its limit holds
#include <holonom/prescribed.h>

#include "simulation/composed.h"
#include "simulation/events.h"
#include "simulation/not_finite.h"
#include "simulation/state_dynamics.h"

#include "elements/rotation_effort.h"
#include "system/angles.h"
#include "system/mass.h"

#include <stdio.h>
#include <string.h>

static const double CLOSED = 1e-13; // rad, or m over the length of the model: of the last increment
enum { ITERATIONS_MAX = 20, CUTS_MAX = 12 };

// ---- where it is ----------------------------------------------------------------------------------------------

static hn_status refuse_freedom(const motion_frame *f)
{
    char names[256] = "", one[160];
    size_t used = 0;
    int count = f->count - f->driven_count;
    for (int k = f->driven_count; k < f->count && used < sizeof names - sizeof one - 4; ++k) {
        frame_name(f, f->chosen[k], one, sizeof one);
        int length =
            snprintf(names + used, sizeof names - used, "%s'%.60s'", used == 0 ? "" : ", ", one);
        used += length > 0 ? (size_t)length : 0;
    }
    return context_fail(
        f->context, HN_INVALID_MODEL,
        "%d degree%s of freedom %s without a prescribed motion: %s; give them drives of the "
        "kind motion, or use a run",
        count, count == 1 ? "" : "s", count == 1 ? "is" : "are", names);
}

// Angles of the terms of relations where they were last, one hold after the other: what counts turns.
typedef struct follow_work {
    double *ahead, *change; // 12 per body; twice
    double *angles;         // per element; those of relations
    double *guesses;        // likewise, where they should be ahead
    // angles and memories at the begin of a step: of elements, of joints and their slack
    double *slots;
} follow_work;

static double term_angle(const motion_frame *f, int d, int k, const double *q, double near)
{
    const element *e = &f->system->elements[f->holds[d].first + k];
    return element_angle(e, system_pose(q, e->a), system_pose(q, e->b), near);
}

static double target_of(const motion_frame *f, int d, double time)
{
    const hold *h = &f->holds[d];
    const element *e = &f->system->elements[h->first];
    if (h->coupling >= 0) return f->system->couplings[h->coupling].start;
    if (e->law->kind == HN_DRIVE_LATCH) return e->law->latch;
    if (e->law->rigid) return h->side > 0.0 ? e->law->upper : e->law->lower;
    return holds_motion(e, time).value;
}

// x_d less r_d(t)
static double off_target(const motion_frame *f, int d, const double *q, double time,
                         const follow_work *w)
{
    const hold *h = &f->holds[d];
    const element *e = &f->system->elements[h->first];
    if (e->rotation) return rotation_path_off(e, system_pose(q, e->a), system_pose(q, e->b), time);
    double sum = -target_of(f, d, time);
    for (int k = 0; k < h->term_count; ++k)
        sum += h->factors[k] * f->system->elements[h->first + k].law->sign *
               term_angle(f, d, k, q, w->guesses[h->first + k]);
    return sum;
}

// One increment of (O1); its size
static double improve(const motion_frame *f, double time, double *q, const follow_work *work)
{
    double *change = work->change;
    const hn_system *system = f->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    double largest = 0.0;
    if (!saddle_solve_constraints(f->rows, q)) return HUGE_VAL;
    for (int i = 0; i < system->body_count; ++i)
        saddle_body_increment(f->rows, i, change + POSE_SIZE * (size_t)i);
    for (int d = 0; d < f->driven_count; ++d) {
        double w = -off_target(f, d, q, time, work) - frame_rate(f, f->chosen[d], q, change);
        for (size_t k = 0; k < size; ++k) change[size + k] += w * frame_motion(f, d)[k];
    }
    for (size_t k = 0; k < size; ++k) {
        double step = change[k] + change[size + k];
        change[size + k] = 0.0;
        q[k] += step;
        largest = fmax(largest, fabs(step) / (k % POSE_SIZE < 3 ? system->length : 1.0));
    }
    return largest;
}

// Close loops and meet the motions at `time`, from poses nearby
static hn_status close_at(hn_simulation *s, double time, double *q, const follow_work *work)
{
    double last = HUGE_VAL;
    for (int k = 0; k < ITERATIONS_MAX; ++k) {
        motion_frame frame;
        hn_status status = motion_frame_begin(s, q, NULL, NULL, &frame);
        if (status == HN_OK && frame.count > frame.driven_count) status = refuse_freedom(&frame);
        double size = status == HN_OK ? improve(&frame, time, q, work) : 0.0;
        motion_frame_end(&frame);
        TRY(status);
        if (!isfinite(size) || size > 1.0 + last) return HN_NOT_CONVERGED;
        if (size <= CLOSED) return HN_OK;
        // what round-off leaves does not fall any more
        if (size < 1e3 * CLOSED && size >= 0.5 * last) return HN_OK;
        last = size;
    }
    return HN_NOT_CONVERGED;
}

// Where the motions lead in a straight line from q, and the angles of all relations there; the largest turn
static double guess_ahead(const motion_frame *f, const double *q, double begin, double end,
                          const follow_work *w)
{
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    double reach = 0.0;
    memset(w->change, 0, 2 * size * sizeof(double));
    for (int d = 0; d < f->driven_count; ++d) {
        const element *e = &f->system->elements[f->holds[d].first];
        double way = e->rotation ? rotation_path_way(e, begin, end)
                                 : target_of(f, d, end) - target_of(f, d, begin);
        for (size_t k = 0; k < size; ++k) w->change[k] += way * frame_motion(f, d)[k];
    }
    for (int d = 0; d < f->driven_count; ++d)
        for (int k = 0; k < f->holds[d].term_count; ++k) {
            int at = f->holds[d].first + k, term = f->terms[HN_COUPLING_TERMS_MAX * d + k];
            const element *e = &f->system->elements[at];
            w->guesses[at] = w->angles[at] + e->law->sign * frame_rate(f, term, q, w->change);
        }
    for (size_t k = 0; k < size; ++k) {
        w->ahead[k] = q[k] + w->change[k];
        if (k % POSE_SIZE >= 3) reach = fmax(reach, fabs(w->change[k]));
        w->change[k] = 0.0;
    }
    return reach;
}

// From q at `begin` to `end`, in parts where that is too far
static hn_status move_to(hn_simulation *s, double begin, double end, int cuts, double *q,
                         const follow_work *w)
{
    const double FAR = 0.5; // rad: directors would be led astray
    double reach = 0.0;
    motion_frame frame;
    hn_status status = motion_frame_begin(s, q, NULL, NULL, &frame);
    if (status == HN_OK && frame.count > frame.driven_count) status = refuse_freedom(&frame);
    if (status == HN_OK) reach = guess_ahead(&frame, q, begin, end, w);
    motion_frame_end(&frame);
    TRY(status);
    status = reach > FAR && cuts < CUTS_MAX ? HN_NOT_CONVERGED : close_at(s, end, w->ahead, w);
    if (status == HN_OK) {
        memcpy(q, w->ahead, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
        for (int d = 0; d < s->held_count; ++d) { // as the frame listed them, which has ended
            const hold *h = &s->holds[s->held_list[d]];
            for (int k = 0; k < h->term_count; ++k) {
                int at = h->first + k;
                const element *e = &s->system->elements[at];
                w->angles[at] =
                    element_angle(e, system_pose(q, e->a), system_pose(q, e->b), w->guesses[at]);
            }
        }
        return HN_OK;
    }
    if (status != HN_NOT_CONVERGED && status != HN_SINGULAR_SYSTEM) return status;
    if (context_is_cancelled(s->context)) return HN_CANCELLED;
    if (cuts == CUTS_MAX) return status;
    double middle = 0.5 * (begin + end);
    TRY(move_to(s, begin, middle, cuts + 1, q, w));
    return move_to(s, middle, end, cuts + 1, q, w);
}

// ---- the state ----------------------------------------------------------------------------------------------------

// Angles that count turns, by their rates at both ends; drives and springs follow. True: one of them turned so far that
// its law has been asked at another turn.
static bool follow_angles(const state_dynamics *x, double h, const double *before)
{
    const double FAR = 3.0; // rad: half a turn, where the nearest angle is another one
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    const motion_frame *f = &x->frame;
    bool far = false;
    for (int i = 0; i < s->turning_count; ++i) {
        int k = s->turning[i].joint, place = joint_angle_place(system->reports[k].rows.kind),
            c = s->observed.coordinate_start[k] + place;
        double rate = 0.5 * (before[c] + frame_rate(f, c, f->q, x->v));
        s->joint_angles[k] = system_joint_angle(system, k, f->q, s->joint_angles[k] + h * rate);
        s->joint_slack[k] = 0.0;
    }
    for (int i = s->turning_count; i < s->turning_count + s->pair_count; ++i) {
        int k = s->turning[i].joint, first = s->observed.coordinate_start[k];
        double *angles = s->joint_angles + system->reports[k].pair;
        for (int c = 0; c < 2; ++c)
            angles[c] += 0.5 * h * (before[first + c] + frame_rate(f, first + c, f->q, x->v));
        system_joint_two_angles(system, k, f->q, angles);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle < 0) continue;
        if (e->rotation) { // a sum, by trapezoids
            double *slots = s->angles + e->angle,
                   rate = frame_rate(f, frame_element_candidate(f, i), f->q, x->v);
            slots[DRIVE_COORDINATE] += 0.5 * h * (slots[DRIVE_ROTOR] + rate);
            continue;
        }
        double near =
            e->turns ? s->joint_angles[e->joint]
            : e->law == NULL
                ? s->angles[e->angle]
                : s->angles[e->angle] +
                      e->law->sign * h * frame_rate(f, frame_element_candidate(f, i), f->q, x->v);
        double now = element_angle(e, system_pose(f->q, e->a), system_pose(f->q, e->b), near);
        far = far || fabs(now - s->angles[e->angle]) > FAR;
        s->angles[e->angle] = now;
    }
    return far;
}

// (O8) over the step that ends here. True: there is such a servo
static bool follow_integrals(const state_dynamics *x, double h)
{
    hn_simulation *s = x->simulation;
    const motion_frame *f = &x->frame;
    double end = hn_simulation_time(s);
    bool any = false;
    for (int d = 0; d < s->system->drive_count; ++d) {
        const element *e = &s->system->elements[s->system->drive_first + d];
        const drive_law *law = e->law;
        double *slots = s->angles + e->angle;
        if (law->kind != HN_DRIVE_SERVO || law->integral == 0.0) continue;
        double rate = frame_rate(f, x->candidates[d], f->q, x->v),
               from = law->sign * slots[DRIVE_COORDINATE],
               to = law->sign * element_angle(e, system_pose(f->q, e->a), system_pose(f->q, e->b),
                                              slots[DRIVE_COORDINATE] + law->sign * h * rate),
               target = isnan(law->held) ? law->scale * profile_mean(law->function, end - h, end)
                                         : law->held,
               before = slots[DRIVE_INTEGRAL];
        slots[DRIVE_INTEGRAL] +=
            h * (target - 0.5 * (from + to) + h / 12.0 * (rate - slots[DRIVE_ROTOR]));
        if (fabs(drive_slopes(s, d, to, rate).effort) >= law->limit) slots[DRIVE_INTEGRAL] = before;
        any = true;
    }
    return any;
}

// `stored`: the part of it that is none of the work, but energy of a spring
static void store_effort(double *slots, double effort, double stored, double rate, double h,
                         bool holds)
{
    double power = (effort - stored) * rate;
    slots[DRIVE_ROTOR] = rate;
    slots[DRIVE_HOLD] = holds ? effort : 0.0;
    slots[DRIVE_EFFORT] = effort;
    slots[DRIVE_WORK] += 0.5 * h * (power + slots[DRIVE_POWER]);
    slots[DRIVE_POWER] = power;
}

// Efforts of drives by their laws; of motions and couplings with what rotors on their coordinates need
static void store_efforts(const state_dynamics *x, double h, bool efforts)
{
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    const motion_frame *f = &x->frame;
    double part = efforts ? 1.0 : 0.0;
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        store_effort(s->angles + e->angle, part * x->laws[d].effort, part * x->laws[d].stored,
                     frame_rate(f, x->candidates[d], f->q, x->v), h, false);
    }
    for (int d = 0; d < f->driven_count; ++d)
        for (int k = 0; k < f->holds[d].term_count; ++k) {
            const element *e = &system->elements[f->holds[d].first + k];
            double *slots = s->angles + e->angle,
                   rate = frame_rate(f, f->terms[HN_COUPLING_TERMS_MAX * d + k], f->q, x->v);
            if (f->holds[d].coupling < 0) slots[DRIVE_WORK] -= 0.5 * h * slots[DRIVE_POWER];
            store_effort(slots, part * f->holds[d].factors[k] * x->hold_efforts[d], 0.0, rate, h,
                         true);
        }
}

// The balance of every body as a step that stands still: W of (6), reactions as of any step.
static void store_reactions(const state_dynamics *x)
{
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    solved_step *step = &s->steps[1 - s->ahead];
    double time = hn_simulation_time(s);
    memcpy(step->q_start, x->frame.q, size * sizeof(double));
    memcpy(step->angle_start, s->angles, (size_t)system->angle_count * sizeof(double));
    step->equations = (step_equations){.step_size = s->def.step_size,
                                       .row_factor = 1.0,
                                       .force_factor = 1.0,
                                       .multiplier_factor = 1.0,
                                       .weight = 1.0,
                                       .gradient_weight = 1.0,
                                       .at_rest = true,
                                       .time = time,
                                       .load_begin = time,
                                       .load_end = time,
                                       .reaction_time = time,
                                       .momentum = step->momentum};
    predict_step(s, s->reduction_kind, step, GUESS_REST);
    mass_apply(system, -1.0, x->a, step->momentum); // rho = M a - F
    memset(step->data.force, 0, size * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) // weights of bodies belong to rho itself
        vec3_store(vec3_scale(mass_node(system, i)[0], system->gravity),
                   step->data.force + POSE_SIZE * (size_t)i);
    for (size_t k = 0; k < size; ++k) step->data.force[k] -= x->force[k];
    for (int d = 0; d < system->drive_count; ++d)
        frame_add_effort(&x->frame, x->candidates[d], x->laws[d].effort - x->efforts[d],
                         step->data.force);
    for (int d = 0; d < x->frame.driven_count; ++d) {
        const hold *h = &x->frame.holds[d];
        frame_add_effort(&x->frame, x->frame.chosen[d], -x->hold_efforts[d], step->data.force);
        for (int k = 0; k < h->term_count; ++k)
            step->angle_start[system->elements[h->first + k].angle + DRIVE_HOLD] =
                h->factors[k] * x->hold_efforts[d];
    }
    saddle_closure_of(x->frame.rows, x->multipliers, step->data.closure);
    step->valid = true;
    step->joined = false;
}

// The equations at the state, with dry friction by the reactions that they have themselves
static hn_status find_dynamics(hn_simulation *s, bool efforts, state_dynamics *x)
{
    for (int pass = 0; pass < DRIVE_NORMAL_PASSES; ++pass) {
        bool changed = false;
        hn_status status = state_dynamics_begin(s, NULL, NULL, x);
        if (status == HN_OK && dynamics_free_count(x) > 0) status = refuse_freedom(&x->frame);
        if (status != HN_OK || !efforts) return status;
        store_reactions(x);
        TRY(drive_modes_find_normals(s, &s->steps[1 - s->ahead], s->angles, &changed));
        if (!changed) return HN_OK;
        state_dynamics_end(x);
    }
    return context_fail(s->context, HN_NOT_CONVERGED,
                        "dry friction at t = %.9g s: reactions of joints and the friction that "
                        "follows from them do not settle; a smaller coefficient may help",
                        hn_simulation_time(s));
}

static hn_status settle(hn_simulation *s, double h, bool efforts, const double *rates)
{
    state_dynamics x = {0};
    hn_status status = find_dynamics(s, efforts, &x);
    if (status == HN_OK) {
        bool integrals = h > 0.0 && follow_integrals(&x, h), far = follow_angles(&x, h, rates);
        if (efforts && (integrals || far)) { // laws have others to say now
            state_dynamics_end(&x);
            status = find_dynamics(s, efforts, &x);
        }
    }
    if (status == HN_OK) {
        s->steps[0].valid = s->steps[1].valid = false;
        simulation_forget_derived(s);
        s->angles_valid = true;
        s->scheme->start(s->system, x.v, x.a, &s->state);
        store_efforts(&x, h, efforts);
        if (efforts) store_reactions(&x);
        composed_forget(s);
    }
    state_dynamics_end(&x);
    return status;
}

static void keep_angles(hn_simulation *s, double *kept, bool keep)
{
    double *const of[] = {s->angles, s->joint_angles, s->joint_slack};
    const int joints = s->system->joint_count,
              counts[] = {s->system->angle_count, (int)system_joint_angle_count(s->system), joints};
    for (int k = 0; k < 3; kept += counts[k], ++k)
        memcpy(keep ? kept : of[k], keep ? of[k] : kept, (size_t)counts[k] * sizeof(double));
}

static hn_status follow(hn_simulation *s, int64_t count, bool efforts, const follow_work *work,
                        double *q, double *rates)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double h = s->def.step_size;
    for (int64_t i = 0; i < count || (count == 0 && i == 0); ++i) {
        if (context_is_cancelled(s->context)) return HN_CANCELLED;
        TRY(simulation_observe(s, OBSERVE_JOINTS));
        memcpy(rates, s->observed.data[SERIES_JOINT_RATE],
               s->observed.extent.coordinate_count * sizeof(double));
        double there = hn_simulation_time(s) + (count == 0 ? 0.0 : h);
        TRY(not_finite_motions(s, there));
        if (efforts) TRY(not_finite_now(s, there));
        if (count == 0) {
            TRY(settle(s, 0.0, efforts, rates));
            continue;
        }
        double begin = hn_simulation_time(s);
        memcpy(q, s->state.q, size * sizeof(double));
        for (int d = 0; d < s->hold_count; ++d)
            for (int k = 0; k < s->holds[d].term_count; ++k) {
                int at = s->holds[d].first + k;
                work->angles[at] = s->angles[s->system->elements[at].angle];
            }
        hn_status status = move_to(s, begin, begin + h, 0, q, work);
        if (status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM)
            return context_fail(s->context, HN_NOT_CONVERGED,
                                "the mechanism cannot follow its motions beyond t = %.9g s: its "
                                "joints do not close there, or it passes a singular position",
                                begin);
        TRY(status);
        memcpy(work->ahead, s->state.q, size * sizeof(double));
        keep_angles(s, work->slots, true);
        memcpy(s->state.q, q, size * sizeof(double));
        s->step_count++;
        status = settle(s, h, efforts, rates);
        if (status != HN_OK) { // back to the last step
            memcpy(s->state.q, work->ahead, size * sizeof(double));
            keep_angles(s, work->slots, false);
            s->step_count--;
            s->steps[0].valid = s->steps[1].valid = false;
            simulation_forget_derived(s);
            return status;
        }
        TRY(events_check_bounds(s));
    }
    return observe_subscribed(s);
}

hn_status hn_simulation_follow(hn_simulation *s, int64_t count, bool efforts)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, count >= 0);
    if (s->def.scheme != HN_SCHEME_ENERGY_MOMENTUM)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "motions are followed by a simulation of the scheme "
                            "'energy-momentum', not '%s'",
                            s->scheme->name);
    TRY(simulation_observe(s, OBSERVE_JOINTS));
    size_t size = POSE_SIZE * (size_t)s->system->body_count,
           terms = (size_t)s->system->element_count,
           slots = (size_t)(s->system->angle_count + s->system->joint_count) +
                   system_joint_angle_count(s->system);
    double *memory = context_allocate(
        s->context,
        (4 * size + 2 * terms + slots + s->observed.extent.coordinate_count + 1) * sizeof(double));
    if (memory == NULL) return HN_OUT_OF_MEMORY;
    follow_work work = {.ahead = memory,
                        .change = memory + size,
                        .angles = memory + 4 * size,
                        .guesses = memory + 4 * size + terms,
                        .slots = memory + 4 * size + 2 * terms};
    context_begin_cancellable(s->context);
    hn_status status = follow(s, count, efforts, &work, memory + 3 * size, work.slots + slots);
    context_end_cancellable(s->context);
    if (status == HN_CANCELLED) {
        (void)context_take_cancel(s->context);
        status = context_fail(s->context, status, "cancelled at t = %.9g s", hn_simulation_time(s));
    }
    context_release(s->context, memory);
    return status;
}
