// SPDX-License-Identifier: MIT
// Mechanisms that nothing connects take a step apart from each other where one of them needs smaller ones; those that
// couplings connect are one.
// Note: docs/theory/energy-momentum.md
//
// Those that wait are parked: without velocity and forces they stand still in the equations of a step, which are then
// those of the others alone. A set of mechanisms whose step fails is divided in two, until each either has its step or
// is alone and makes it in halves. Afterwards the last steps of all are put together for reactions, as if they were as
// long as the longest: b makes rho = sigma G^T lambda of the same lambda.
#include "simulation/apart.h"

#include "simulation/events.h"
#include "simulation/halves.h"
#include "simulation/long_steps.h"
#include "simulation/snapshot.h"
#include "system/angles.h"
#include "system/decay.h"
#include "system/mass.h"

#include <string.h>

static void layout_state(arena *a, const hn_simulation *s, size_t bodies, apart_state *state)
{
    const hn_system *system = s->system;
    bool any = bodies > 0, own = any && s->scheme->solver_step != NULL;
    state->q = arena_doubles(a, POSE_SIZE * bodies);
    state->impetus = arena_doubles(a, POSE_SIZE * bodies);
    state->memory = arena_doubles(a, any ? scheme_memory_size(s->scheme, system) : 0);
    state->angles = arena_doubles(a, any ? (size_t)system->angle_count : 0);
    state->joint_angles = arena_doubles(a, any ? system_joint_angle_count(system) : 0);
    state->joint_slack = arena_doubles(a, any ? (size_t)system->joint_count : 0);
    state->multipliers = arena_doubles(a, own ? (size_t)system->constraint_count : 0);
    bool damped = any && dampers_filter_steps(s);
    state->owed = arena_doubles(a, damped ? (size_t)system->damped_count : 0);
    state->strengths = arena_doubles(a, damped ? (size_t)system->element_count : 0);
    state->held = arena_doubles(a, damped ? (size_t)system->mechanism_count : 0);
}

bool apart_is_possible(const hn_simulation *s)
{
    return s->system->group_count > 1 && s->scheme->may_halve && s->def.halvings_max > 0 &&
           s->composition == NULL && !(s->def.step_tolerance > 0.0);
}

void apart_layout(arena *a, hn_simulation *s)
{
    const hn_system *system = s->system;
    apart_record *x = &s->apart;
    bool possible = apart_is_possible(s);
    size_t n = possible ? (size_t)system->body_count : 0;
    x->parked = arena_bytes(a, n * sizeof(bool));
    layout_state(a, s, n, &x->begin);
    layout_state(a, s, n, &x->end);
    double **const vectors[] = {&x->steps.q_start, &x->steps.delta, &x->steps.pull};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; ++k)
        *vectors[k] = arena_doubles(a, POSE_SIZE * n);
    x->curvatures = arena_doubles(a, s->scheme->both_levels ? CURVATURE_DEPTH * POSE_SIZE * n : 0);
    x->steps.angle_start = arena_doubles(a, possible ? (size_t)system->angle_count : 0);
    x->steps.closure = arena_doubles(a, possible ? (size_t)system->cut_row_count : 0);
    x->holds = arena_bytes(a, possible ? (size_t)s->hold_count * sizeof(hold) : 0);
    x->point = arena_bytes(a, possible ? hn_simulation_snapshot_size(s) : 0);
}

// ---- whose is what ----------------------------------------------------------------------------------------

static bool is_parked(const hn_simulation *s, int a, int b)
{
    return s->apart.parked[b >= 0 ? b : a];
}

// The numbers of those that are not parked.
static void copy_bodies(const hn_simulation *s, const double *from, double *to)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        if (!s->apart.parked[i]) memcpy(to + at, from + at, POSE_SIZE * sizeof(double));
    }
}

static void copy_joints(const hn_simulation *s, const double *from, double *to)
{
    for (int k = 0; k < s->system->joint_count; ++k) {
        const joint *j = &s->system->reports[k].rows;
        if ((j->parent >= 0 || j->child >= 0) && !is_parked(s, j->parent, j->child))
            to[k] = from[k];
    }
}

static void copy_pairs(const hn_simulation *s, const double *from, double *to)
{
    for (int i = s->turning_count; i < s->turning_count + s->pair_count; ++i) {
        const turning_joint *t = &s->turning[i];
        int at = s->system->reports[t->joint].pair;
        if (!is_parked(s, t->a, t->b)) memcpy(to + at, from + at, 2 * sizeof(double));
    }
}

static void copy_angles(const hn_simulation *s, const double *from, double *to)
{
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        if (e->angle < 0 || is_parked(s, e->a, e->b)) continue;
        size_t count = e->law != NULL ? DRIVE_SLOTS : 1;
        memcpy(to + e->angle, from + e->angle, count * sizeof(double));
    }
}

static void copy_memory(const hn_simulation *s, const double *from, double *to)
{
    const hn_system *system = s->system;
    size_t vector = POSE_SIZE * (size_t)system->body_count,
           width = (size_t)s->scheme->element_memory_count;
    for (int k = 0; k < s->scheme->memory_count; ++k, from += vector, to += vector)
        copy_bodies(s, from, to);
    for (int i = 0; i < system->element_count && width > 0; ++i, from += width, to += width)
        if (!is_parked(s, system->elements[i].a, system->elements[i].b))
            memcpy(to, from, width * sizeof(double));
}

static void copy_multipliers(const hn_simulation *s, const double *from, double *to)
{
    const hn_system *system = s->system;
    if (s->scheme->solver_step == NULL) return;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = (size_t)system->bodies[i].internal_offset,
               count = (size_t)system->bodies[i].internal_count;
        if (!s->apart.parked[i]) memcpy(to + at, from + at, count * sizeof(double));
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if ((j->parent < 0 && j->child < 0) || is_parked(s, j->parent, j->child)) continue;
        memcpy(to + j->row_offset, from + j->row_offset, (size_t)j->row_count * sizeof(double));
    }
}

// What dampers owe and hold
static void copy_dampers(const hn_simulation *s, const apart_state *from, const apart_state *to)
{
    const hn_system *system = s->system;
    if (s->dampers.row_count == 0) return;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        size_t count = (size_t)element_damped_count(e);
        if (count == 0 || is_parked(s, e->a, e->b)) continue;
        memcpy(to->owed + e->damped, from->owed + e->damped, count * sizeof(double));
        to->strengths[i] = from->strengths[i];
    }
    for (int i = 0; i < system->body_count; ++i)
        if (!s->apart.parked[i]) to->held[system->mechanism[i]] = from->held[system->mechanism[i]];
}

static apart_state state_of(hn_simulation *s)
{
    return (apart_state){.q = s->state.q,
                         .impetus = s->state.impetus,
                         .memory = s->state.memory,
                         .angles = s->angles,
                         .joint_angles = s->joint_angles,
                         .joint_slack = s->joint_slack,
                         .multipliers = s->multipliers,
                         .owed = s->dampers.owed,
                         .strengths = s->dampers.strengths,
                         .held = s->dampers.held};
}

static void copy_state(const hn_simulation *s, const apart_state *from, const apart_state *to)
{
    copy_bodies(s, from->q, to->q);
    copy_bodies(s, from->impetus, to->impetus);
    copy_memory(s, from->memory, to->memory);
    copy_angles(s, from->angles, to->angles);
    copy_joints(s, from->joint_angles, to->joint_angles);
    copy_pairs(s, from->joint_angles, to->joint_angles);
    copy_joints(s, from->joint_slack, to->joint_slack);
    copy_multipliers(s, from->multipliers, to->multipliers);
    copy_dampers(s, from, to);
}

// ---- steps ------------------------------------------------------------------------------------------------

static void park_none(hn_simulation *s)
{
    memset(s->apart.parked, 0, (size_t)s->system->body_count * sizeof(bool));
}

// What holds coordinates of those that are not parked comes first, and is all there is.
static void park_holds(hn_simulation *s)
{
    const apart_record *x = &s->apart;
    int place = 0;
    for (int parked = 0; parked < 2; ++parked) {
        if (parked > 0) s->hold_count = place;
        for (int i = 0; i < x->hold_count; ++i) {
            const element *e = &s->system->elements[x->holds[i].first];
            if (is_parked(s, e->a, e->b) == (parked > 0)) s->holds[place++] = x->holds[i];
        }
    }
}

// All of them in their order; those that a message is about have their numbers there.
static void unpark_holds(hn_simulation *s)
{
    const apart_record *x = &s->apart;
    int *const told[] = {&s->stuck, &s->rattling, &s->blocked.hold, &s->blocked.motion};
    for (size_t k = 0; k < sizeof told / sizeof told[0]; ++k) {
        int first = *told[k] < 0 ? -1 : s->holds[*told[k]].first;
        for (int i = 0; i < x->hold_count && first >= 0; ++i)
            if (x->holds[i].first == first) *told[k] = i;
    }
    s->hold_count = x->hold_count;
    memcpy(s->holds, x->holds, (size_t)s->hold_count * sizeof(hold));
}

// Groups of mechanisms from `first` to before `last` are at the begin of the step, all others stand still where they
// are.
static void park_others(hn_simulation *s, int first, int last)
{
    const hn_system *system = s->system;
    size_t width = (size_t)s->scheme->element_memory_count;
    double *lagging =
        s->state.memory + POSE_SIZE * (size_t)system->body_count * (size_t)s->scheme->memory_count;
    for (int i = 0; i < system->body_count; ++i) {
        int group = system->group[i];
        s->apart.parked[i] = group < first || group >= last;
        if (s->apart.parked[i])
            memset(s->state.impetus + POSE_SIZE * (size_t)i, 0, POSE_SIZE * sizeof(double));
    }
    // rotors stand still with their bodies
    for (int i = 0; i < system->law_count; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        if (is_parked(s, e->a, e->b)) s->angles[e->angle + DRIVE_ROTOR] = 0.0;
    }
    // without a change of strains in the step before nothing lags
    for (int i = 0; i < system->element_count && width > 0; ++i)
        if (is_parked(s, system->elements[i].a, system->elements[i].b))
            memset(lagging + width * (size_t)i, 0, DECAY_MEMORY * sizeof(double));
    apart_state live = state_of(s);
    copy_state(s, &s->apart.begin, &live);
    park_holds(s);
    s->steps[s->ahead].valid = false;
    simulation_forget_derived(s);
}

// What says that a step is the first, and what it is predicted from.
typedef struct apart_past {
    bool first;
    prediction past;
    int curvature_count;
} apart_past;

static apart_past past_of(const hn_simulation *s)
{
    return (apart_past){s->state.first, s->past, s->levels.history_count};
}

static size_t curvatures_size(const hn_simulation *s)
{
    size_t vector = POSE_SIZE * (size_t)s->system->body_count * sizeof(double);
    return s->scheme->both_levels ? CURVATURE_DEPTH * vector : 0;
}

static void take_past(hn_simulation *s, const apart_past *from)
{
    s->state.first = from->first;
    s->past = from->past;
    s->levels.history_count = from->curvature_count;
    if (s->scheme->both_levels) memcpy(s->levels.history, s->apart.curvatures, curvatures_size(s));
}

// The step that was made last, of those that made it.
static void keep_step(hn_simulation *s)
{
    const hn_system *system = s->system;
    const solved_step *last = &s->steps[1 - s->ahead];
    apart_steps *to = &s->apart.steps;
    const double h = last->equations.step_size;
    copy_bodies(s, last->q_start, to->q_start);
    copy_bodies(s, last->data.delta, to->delta);
    copy_angles(s, last->angle_start, to->angle_start);
    for (int i = 0; i < system->body_count && s->scheme->solver_step == NULL; ++i) {
        double *pull = to->pull + POSE_SIZE * (size_t)i;
        if (s->apart.parked[i]) continue;
        step_residual(system, &last->equations, &last->data, i, pull);
        for (int k = 0; k < POSE_SIZE; ++k) pull[k] /= h;
    }
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *cut = &system->cuts[c];
        for (int r = 0; r < cut->row_count && !is_parked(s, cut->parent, cut->child); ++r)
            to->closure[system->cut_row[c] + r] = last->data.closure[system->cut_row[c] + r] / h;
    }
    if (h <= to->longest) return;
    to->longest = h;
    to->reaction_time = last->equations.reaction_time;
    to->multiplier_time = s->multiplier_time;
}

static hn_status take_set(hn_simulation *s, double h, double time, int first, int last,
                          const apart_past *past)
{
    park_others(s, first, last);
    take_past(s, past);
    hn_status status = simulation_solve_or_stop(s, h, time, false);
    bool solved = status == HN_OK, events = solved && events_reached(s), alone = last - first == 1,
         leaps = solved && s->def.halvings_max > 0 && s->scheme->may_halve &&
                 barriers_leapt(s, &s->steps[s->ahead]) >= 0;
    if (status == HN_CANCELLED) return status;
    if (!alone && (!solved || events || leaps || long_steps_pass_unseen(s, &s->steps[s->ahead]))) {
        int middle = first + (last - first) / 2;
        TRY(take_set(s, h, time, first, middle, past));
        return take_set(s, h, time, middle, last, past);
    }
    if (!solved || leaps) status = halves_fill_from_here(s, h, time);
    else if (events) status = halves_pass_events(s, h, time);
    else if (passage_is_leapt(s, &s->steps[s->ahead])) status = halves_look_before_leap(s, h, time);
    else status = simulation_commit(s, false);
    if (status != HN_OK) return status;
    keep_step(s);
    apart_state live = state_of(s);
    copy_state(s, &live, &s->apart.end);
    return HN_OK;
}

// One step of all mechanisms, the longest, which reactions are found from; where it ends is the state.
static void join_steps(hn_simulation *s)
{
    const hn_system *system = s->system;
    const apart_steps *from = &s->apart.steps;
    solved_step *last = &s->steps[1 - s->ahead];
    double factor = from->longest / last->equations.step_size;
    // alpha and beta of a step of that size
    last->equations.mass_factor /= factor;
    last->equations.force_factor *= factor;
    last->equations.multiplier_factor *= factor;
    last->equations.step_size = from->longest;
    last->equations.reaction_time = from->reaction_time;
    last->equations.parked = NULL;
    s->multiplier_time = from->multiplier_time;
    copy_bodies(s, from->q_start, last->q_start);
    copy_bodies(s, from->delta, last->data.delta);
    copy_angles(s, from->angle_start, last->angle_start);
    size_t poses = POSE_SIZE * (size_t)system->body_count;
    if (s->scheme->solver_step != NULL) return;
    for (int r = 0; r < system->cut_row_count; ++r)
        last->data.closure[r] = from->longest * from->closure[r];
    for (int i = 0; i < system->body_count; ++i) step_body_from_delta(system, &last->data, i);
    step_element_forces(system, &last->equations, &last->data);
    memset(last->momentum, 0, poses * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double rho[POSE_SIZE], *b = last->momentum + POSE_SIZE * (size_t)i;
        step_residual(system, &last->equations, &last->data, i, rho);
        for (int k = 0; k < POSE_SIZE; ++k)
            b[k] = rho[k] - from->longest * from->pull[POSE_SIZE * (size_t)i + (size_t)k];
    }
}

hn_status apart_step(hn_simulation *s, double h, double time)
{
    apart_record *x = &s->apart;
    int64_t halved = s->statistics.halved_step_count;
    snapshot_keep(s, x->point);
    park_none(s);
    apart_state live = state_of(s);
    copy_state(s, &live, &x->begin);
    x->steps.longest = 0.0;
    int middle = s->system->group_count / 2;
    const apart_past past = past_of(s);
    x->hold_count = s->hold_count;
    memcpy(x->holds, s->holds, (size_t)s->hold_count * sizeof(hold));
    if (s->scheme->both_levels) memcpy(x->curvatures, s->levels.history, curvatures_size(s));
    s->parking = true;
    hn_status status = take_set(s, h, time, 0, middle, &past);
    if (status == HN_OK) status = take_set(s, h, time, middle, s->system->group_count, &past);
    s->parking = false;
    unpark_holds(s);
    if (status != HN_OK) {
        newton_report failed = s->newton;
        snapshot_take_back(s, x->point);
        s->newton = failed;
        return status;
    }
    park_none(s);
    live = state_of(s);
    copy_state(s, &x->end, &live);
    join_steps(s);
    s->past.count = s->levels.history_count = 0;
    s->step_was_halved = s->statistics.halved_step_count > halved;
    if (s->step_was_halved) s->statistics.halved_step_count = halved + 1;
    simulation_forget_derived(s);
    return HN_OK;
}
