// SPDX-License-Identifier: MIT
// The equations of motion in independent coordinates y, q' = T y'. Note: docs/theory/linearisation.md
//
//   (I3)  a = Gamma + T y'',  Gamma: accelerations of constant rates (frame_turn)
//   (I4)  T_f^T (M a + J s x'' - F) = 0 for the free coordinates, x'' of drives with rotors
//   (I5)  e_d = T_d^T (M a + J s x'' - F): efforts of prescribed ones
#include "simulation/state_dynamics.h"

#include "base/array.h"
#include "linalg/dense.h"
#include "system/mass.h"

#include <string.h>

void simulation_velocities(hn_simulation *s, double *v)
{
    const hn_system *system = s->system;
    simulation_update_momenta(s);
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double twist[TWIST_SIZE];
        mass_twist(system, i, s->state.q + at, s->own_momenta + at, twist);
        twist_to_velocity(s->state.q + at, twist, v + at);
        if (!system->bodies[i].has_directors)
            memset(v + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
}

// d/dt r(q, v) = d_q r(v; v) + r(q, a)
hn_status simulation_joint_accelerations(hn_simulation *s, const double *linear,
                                         const double *angular, double *accelerations)
{
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    motion_frame f;
    TRY(motion_frame_list(s, s->state.q, &f));
    double *v = context_allocate(s->context, 2 * size * sizeof(double)), *a = v + size;
    hn_status status = v == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) simulation_velocities(s, v);
    for (int i = 0; i < system->body_count && status == HN_OK; ++i) {
        const double *q = system_pose(s->state.q, i);
        size_t at = 3 * (size_t)system->bodies[i].model_index;
        double twist[TWIST_SIZE], own[TWIST_SIZE], *to = a + POSE_SIZE * (size_t)i;
        memcpy(twist, linear + at, 3 * sizeof(double));
        memcpy(twist + 3, angular + at, 3 * sizeof(double));
        twist_to_velocity(q, twist, to);
        if (!system->bodies[i].has_directors) {
            memset(to + 3, 0, (POSE_SIZE - 3) * sizeof(double));
            continue;
        }
        velocity_to_twist(q, v + POSE_SIZE * (size_t)i, own);
        hn_vec3 omega = vec3_load(own + 3);
        for (int k = 3; k < POSE_SIZE; k += 3)
            vec3_store(
                vec3_add(vec3_load(to + k), vec3_cross(omega, vec3_cross(omega, vec3_load(q + k)))),
                to + k);
    }
    for (int k = 0; k < f.joint_count && status == HN_OK; ++k)
        accelerations[k] = frame_rate_change(&f, k, v, v) + frame_rate(&f, k, f.q, a);
    context_release(s->context, v);
    motion_frame_end(&f);
    return status;
}

static void layout(state_dynamics *x, arena *a)
{
    const hn_system *system = x->frame.system;
    size_t size = POSE_SIZE * (size_t)system->body_count, n = (size_t)x->frame.count,
           drives = (size_t)system->drive_count;
    x->v = arena_doubles(a, size);
    x->a = arena_doubles(a, size);
    x->force = arena_doubles(a, size);
    x->turned = arena_doubles(a, size);
    x->scratch = arena_doubles(a, 2 * size);
    x->rates = arena_doubles(a, n);
    x->accelerations = arena_doubles(a, n);
    x->mass = arena_doubles(a, n * n);
    x->inverse = arena_doubles(a, n * n);
    x->candidates = arena_ints(a, drives);
    x->ways = arena_doubles(a, drives * n);
    x->laws = arena_bytes(a, drives * sizeof(law_slopes));
    x->bends = arena_doubles(a, drives);
    x->efforts = arena_doubles(a, drives);
    x->hold_efforts = arena_doubles(a, (size_t)x->frame.driven_count);
    x->multipliers = arena_doubles(a, INTERNAL_ROWS * (size_t)system->body_count +
                                          (size_t)saddle_multiplier_count(x->frame.rows));
}

// Wrenches from outside as they are; efforts on joints turn with them and are added along their coordinates.
static void add_inputs(state_dynamics *x)
{
    hn_simulation *s = x->simulation;
    const simulation_inputs *in = &s->inputs;
    if (in->values == NULL) return;
    for (size_t k = 0; k < in->coordinate_count; ++k)
        if (in->values[k] != 0.0) frame_add_effort(&x->frame, (int)k, in->values[k], x->force);
}

// Elements of inputs with the wrenches on bodies alone
static void apply_wrenches(hn_simulation *s, double *keep)
{
    size_t count = s->inputs.values == NULL ? 0 : s->inputs.coordinate_count;
    for (size_t k = 0; k < count; ++k) keep[k] = s->inputs.values[k], s->inputs.values[k] = 0.0;
    inputs_apply(s, 0.0);
    for (size_t k = 0; k < count; ++k) s->inputs.values[k] = keep[k];
    if (s->inputs.values != NULL) s->steps[s->ahead].valid = false;
}

static void find_rates(state_dynamics *x, const double *v)
{
    hn_simulation *s = x->simulation;
    double time = hn_simulation_time(s);
    if (v == NULL) simulation_velocities(s, x->v);
    else memcpy(x->v, v, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    frame_rates(&x->frame, x->v, x->rates);
    for (int d = 0; d < x->frame.driven_count; ++d) {
        const hold *h = &x->frame.holds[d];
        const element *e = &s->system->elements[h->first];
        motion_jet r = {0.0, 0.0, 0.0}; // of couplings, latches and stops
        if (h->coupling < 0 && e->law->kind == HN_DRIVE_MOTION) r = holds_motion(e, time);
        x->rates[d] = r.rate;
        x->accelerations[d] = r.acceleration;
    }
    frame_velocity(&x->frame, x->rates, x->v);
    frame_turn(&x->frame, x->v, x->v, x->turned);
}

static void find_laws(state_dynamics *x)
{
    hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    const motion_frame *f = &x->frame;
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        int c = frame_element_candidate(f, system->drive_first + d);
        double value = e->law->sign * element_angle(e, system_pose(f->q, e->a),
                                                    system_pose(f->q, e->b), s->angles[e->angle]);
        x->candidates[d] = c;
        double rate = frame_rate(f, c, f->q, x->v);
        x->laws[d] =
            e->law->kind == HN_DRIVE_FRICTION
                ? friction_slopes(e->law, x->friction.ways[d], x->friction.normals[d], rate)
                : drive_slopes(s, d, value, rate);
        x->efforts[d] = x->laws[d].effort;
        x->bends[d] = frame_rate_change(f, c, x->v, x->v) + frame_rate(f, c, f->q, x->turned);
        for (int k = 0; k < f->count; ++k)
            x->ways[(size_t)d * (size_t)f->count + (size_t)k] =
                frame_rate(f, c, f->q, frame_motion(f, k));
        frame_add_effort(f, c, x->efforts[d], x->force);
    }
}

static double armature_of(const state_dynamics *x, int drive)
{
    return x->frame.system->laws[drive].armature;
}

static hn_status find_mass(state_dynamics *x)
{
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count, n = (size_t)f->count;
    for (size_t i = 0; i < n; ++i) {
        if (context_is_cancelled(f->context)) return HN_CANCELLED;
        mass_apply(f->system, 1.0, frame_motion(f, (int)i), x->scratch);
        for (size_t k = 0; k < n; ++k)
            x->mass[i * n + k] = array_dot(x->scratch, frame_motion(f, (int)k), size);
    }
    for (int d = 0; d < f->system->drive_count; ++d) {
        const double *way = x->ways + (size_t)d * n;
        for (size_t i = 0; armature_of(x, d) != 0.0 && i < n; ++i)
            for (size_t k = 0; k < n; ++k)
                x->mass[i * n + k] += armature_of(x, d) * way[i] * way[k];
    }
    return HN_OK;
}

static hn_status invert_free(state_dynamics *x)
{
    size_t n = (size_t)x->frame.count, free = (size_t)dynamics_free_count(x), first = n - free;
    for (size_t i = 0; i < free; ++i)
        for (size_t k = 0; k < free; ++k)
            x->inverse[i * free + k] = x->mass[(first + i) * n + first + k];
    return free == 0 ? HN_OK : dense_invert(x->simulation->context, (int)free, x->inverse);
}

// T_k^T (M Gamma + J s x'' - F) without T y''
static double balance_of(const state_dynamics *x, const double *momenta, int k)
{
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    double sum = array_dot(frame_motion(f, k), momenta, size) -
                 array_dot(frame_motion(f, k), x->force, size);
    for (int d = 0; d < f->system->drive_count; ++d)
        sum += armature_of(x, d) * x->ways[(size_t)d * (size_t)f->count + (size_t)k] * x->bends[d];
    return sum;
}

// (I3) to (I5)
static void find_accelerations(state_dynamics *x)
{
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count, n = (size_t)f->count;
    size_t free = (size_t)dynamics_free_count(x), first = n - free;
    mass_apply(f->system, 1.0, x->turned, x->scratch);
    double *right = x->scratch + size;
    for (size_t k = 0; k < free; ++k) {
        right[k] = -balance_of(x, x->scratch, (int)(first + k));
        for (size_t d = 0; d < first; ++d)
            right[k] -= x->mass[(first + k) * n + d] * x->accelerations[d];
    }
    for (size_t i = 0; i < free; ++i)
        x->accelerations[first + i] = array_dot(x->inverse + i * free, right, free);
    memcpy(x->a, x->turned, size * sizeof(double));
    for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < size; ++i)
            x->a[i] += x->accelerations[k] * frame_motion(f, (int)k)[i];
    for (int d = 0; d < f->system->drive_count; ++d) {
        double rotor = x->bends[d];
        for (size_t k = 0; k < n; ++k) rotor += x->ways[(size_t)d * n + k] * x->accelerations[k];
        x->efforts[d] -= armature_of(x, d) * rotor;
    }
    // of motions and couplings: what the coordinate needs from outside, its own rotor included
    for (int d = 0; d < f->driven_count; ++d) {
        double effort = balance_of(x, x->scratch, d);
        for (size_t k = 0; k < n; ++k) effort += x->mass[(size_t)d * n + k] * x->accelerations[k];
        x->hold_efforts[d] = effort;
    }
}

static void find_multipliers(state_dynamics *x)
{
    const motion_frame *f = &x->frame;
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    const saddle_pair velocities = {1.0, x->v, x->v};
    double *total = x->scratch, *ignored = x->scratch + size;
    memcpy(total, x->force, size * sizeof(double));
    for (int d = 0; d < f->system->drive_count; ++d)
        frame_add_effort(f, x->candidates[d], x->efforts[d] - x->laws[d].effort, total);
    for (int d = 0; d < f->driven_count; ++d)
        frame_add_effort(f, f->chosen[d], x->hold_efforts[d], total);
    saddle_solve_motion(f->rows, total, &velocities, 1, ignored, x->multipliers);
}

// ---- dry friction -------------------------------------------------------------------------------------------------

static const double RESTS = 1e-9; // rad, or m over the size of the joint, in a nominal step
static const double SLACK = 1e-9; // of the largest effort: round-off of the effort that holds
static const double NORMAL_TOLERANCE = 1e-9; // of a reaction, between two iterations
enum { NORMAL_PASSES = 60 };

static bool is_friction(const state_dynamics *x, int drive)
{
    return x->simulation->system->laws[drive].kind == HN_DRIVE_FRICTION;
}

static hn_status allocate_friction(state_dynamics *x)
{
    size_t drives = (size_t)x->simulation->system->drive_count;
    for (int pass = 0; pass < 2; ++pass) {
        arena a = {.block = x->friction.memory};
        x->friction.normals = arena_doubles(&a, drives);
        x->friction.ways = arena_ints(&a, drives);
        x->friction.sticks = arena_bytes(&a, drives * sizeof(bool));
        if (pass == 0) x->friction.memory = context_allocate(x->simulation->context, a.used + 1);
        if (x->friction.memory == NULL) return HN_OUT_OF_MEMORY;
    }
    return HN_OK;
}

// What rests sticks, at first; what moves slides. True: something sticks.
static bool begin_friction(state_dynamics *x)
{
    const hn_simulation *s = x->simulation;
    const hn_system *system = s->system;
    const motion_frame *f = &x->frame;
    bool any = false;
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        if (!is_friction(x, d)) continue;
        double mode = s->angles[e->angle + DRIVE_MODE],
               rate =
                   frame_rate(f, frame_element_candidate(f, system->drive_first + d), f->q, x->v),
               unit = e->law->unit;
        bool slid = mode == FRICTION_BACK || mode == FRICTION_FORTH;
        x->friction.normals[d] = s->angles[e->angle + DRIVE_NORMAL];
        x->friction.sticks[d] = !slid && fabs(rate) * s->def.step_size <= RESTS * unit;
        any |= x->friction.sticks[d];
        if (x->friction.sticks[d]) continue;
        x->friction.ways[d] = rate > 0.0 ? 1 : rate < 0.0 ? -1 : (int)mode;
    }
    return any;
}

// Force of a joint on its body by the multipliers of its rows
static double reaction_size(const state_dynamics *x, int index)
{
    const motion_frame *f = &x->frame;
    const hn_system *system = f->system;
    const system_joint *report = &system->reports[index];
    const joint_place *p = saddle_place(f->rows, report->cut >= 0 ? system->body_count + report->cut
                                                                  : report->tree_body);
    const double *multipliers =
        x->multipliers + INTERNAL_ROWS * (size_t)system->body_count + p->multiplier;
    hn_vec3 force = {0.0, 0.0, 0.0};
    for (int r = 0; r < p->rows->row_count; ++r) {
        hn_vec3 gradient[8];
        const constraint_row row = joint_row(p->rows, r);
        row_gradient(&row, system_pose(f->q, p->a), system_pose(f->q, p->b), gradient);
        force = vec3_add_scaled(force, multipliers[r], gradient[4]);
    }
    return vec3_norm(force);
}

// True: reactions are others than those that friction slid by.
static bool find_normals(state_dynamics *x)
{
    bool changed = false;
    for (int d = 0; d < x->frame.system->drive_count; ++d) {
        const element *e = &x->frame.system->elements[x->frame.system->drive_first + d];
        if (!is_friction(x, d) || e->law->by_reaction == 0.0) continue;
        double size = reaction_size(x, e->joint), *normal = &x->friction.normals[d];
        bool settled = fabs(size - *normal) <= NORMAL_TOLERANCE * (size + *normal);
        changed |= !settled && x->friction.ways[d] != 0;
        if (!settled) *normal = size;
    }
    return changed;
}

static hn_status solve(state_dynamics *x)
{
    hn_simulation *s = x->simulation;
    for (int pass = 0; pass < NORMAL_PASSES; ++pass) {
        memset(x->force, 0, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
        state_forces(s, x->frame.q, x->v, x->force);
        add_inputs(x);
        find_laws(x);
        TRY(find_mass(x));
        TRY(invert_free(x));
        if (context_is_cancelled(s->context)) return HN_CANCELLED;
        find_accelerations(x);
        find_multipliers(x);
        if (!find_normals(x)) return HN_OK;
    }
    return context_fail(
        s->context, HN_NOT_CONVERGED,
        "friction by reactions of joints has no effort at this state: the reactions "
        "grow with the friction");
}

static hn_status begin_frame(state_dynamics *x, const double *v, const frame_wish *wish)
{
    hn_simulation *s = x->simulation;
    TRY(motion_frame_begin(s, s->state.q, x->friction.sticks, wish, &x->frame));
    for (int pass = 0; pass < 2; ++pass) {
        arena a = {.block = x->memory};
        layout(x, &a);
        if (pass == 0 && (x->memory = context_allocate(s->context, a.used)) == NULL)
            return HN_OUT_OF_MEMORY;
    }
    double *keep = context_allocate(s->context, (s->inputs.coordinate_count + 1) * sizeof(double));
    if (keep == NULL) return HN_OUT_OF_MEMORY;
    apply_wrenches(s, keep);
    context_release(s->context, keep);
    find_rates(x, v);
    return HN_OK;
}

// The friction that is asked for most beyond what it can gives that, and slides; what it was tied to may hold instead.
static bool give_way(state_dynamics *x)
{
    const hn_system *system = x->frame.system;
    int worst = -1, way = 0;
    double most = 1.0 + SLACK, slope;
    for (int k = 0; k < x->frame.driven_count; ++k) {
        int d = x->frame.holds[k].first - system->drive_first;
        if (x->frame.holds[k].coupling >= 0 || !is_friction(x, d)) continue;
        double effort = x->hold_efforts[k],
               limit = drive_friction(&system->laws[d], x->friction.normals[d], 0.0, &slope);
        if (!(fabs(effort) > most * limit)) continue;
        most = limit > 0.0 ? fabs(effort) / limit : HUGE_VAL;
        worst = d, way = effort > 0.0 ? -1 : 1;
    }
    if (worst < 0) return false;
    x->friction.sticks[worst] = false;
    x->friction.ways[worst] = way;
    for (int d = 0; d < system->drive_count; ++d)
        if (is_friction(x, d) && x->friction.ways[d] == 0) x->friction.sticks[d] = true;
    return true;
}

static void end_frame(state_dynamics *x)
{
    motion_frame_end(&x->frame);
    context_release(x->simulation->context, x->memory);
    x->memory = NULL;
}

hn_status state_dynamics_begin(hn_simulation *s, const double *v, const frame_wish *wish,
                               state_dynamics *x)
{
    *x = (state_dynamics){.simulation = s};
    if (v == NULL) TRY(simulation_observe(s, OBSERVE_JOINTS));
    TRY(allocate_friction(x));
    TRY(begin_frame(x, v, wish));
    for (bool again = begin_friction(x);; again = true) {
        hn_status status = HN_OK;
        if (again) {
            end_frame(x);
            status = begin_frame(x, v, wish);
        }
        // friction that others hold already carries nothing
        int tied = status == HN_SINGULAR_SYSTEM ? x->frame.tied_hold : -1;
        if (tied >= 0) {
            x->friction.sticks[x->frame.holds[tied].first - s->system->drive_first] = false;
            continue;
        }
        if (status == HN_OK) status = solve(x);
        if (status != HN_OK || !give_way(x)) return status;
    }
}

void state_dynamics_end(state_dynamics *x)
{
    end_frame(x);
    context_release(x->simulation->context, x->friction.memory);
    x->friction.memory = NULL;
}
