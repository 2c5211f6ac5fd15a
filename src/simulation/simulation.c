// SPDX-License-Identifier: MIT
// Creation, the step loop with its way out of failures.
#include "simulation/simulation.h"

#include "reductions/closures.h"
#include "base/sized.h"
#include "simulation/ownership.h"
#include "simulation/both_levels.h"
#include "simulation/composed.h"
#include "simulation/equations.h"
#include "simulation/events.h"
#include "simulation/halves.h"
#include "simulation/long_steps.h"
#include "simulation/not_finite.h"
#include "simulation/redundancy.h"
#include "simulation/snapshot.h"
#include "simulation/start_velocities.h"
#include "simulation/statics.h"
#include "system/angles.h"
#include "system/decay.h"
#include "system/mass.h"

#include <stdio.h>
#include <string.h>

static const double DEFAULT_RESIDUAL_TOLERANCE = 1e-16;
static const double DEFAULT_INCREMENT_TOLERANCE =
    1e-10; // quadratic convergence makes the next one round-off
enum { DEFAULT_ITERATIONS_MAX = 20, DEFAULT_HALVINGS_MAX = 10 };
enum { REFERENCE_HALVINGS = 2 }; // of a part of a reference that fails
static const double DEFAULT_RHO = 1.0 / 3.0;
static const double RHO_MIN =
    1.0 / 3.0 - 1e-3; // of `energy-decaying`, as far as three digits say it
static const double DEFAULT_START_TOLERANCE = 1e-3;

void hn_simulation_def_init(hn_simulation_def *def, size_t size)
{
    const hn_simulation_def known = {
        .size = size,
        .scheme = HN_SCHEME_ENERGY_MOMENTUM,
        .reduction = HN_REDUCTION_REDUCED,
        .residual_tolerance = DEFAULT_RESIDUAL_TOLERANCE,
        .increment_tolerance = DEFAULT_INCREMENT_TOLERANCE,
        .iterations_max = DEFAULT_ITERATIONS_MAX,
        .halvings_max = DEFAULT_HALVINGS_MAX,
        .ledger = true,
        .start_tolerance = DEFAULT_START_TOLERANCE,
        .generalized_alpha = {.spectral_radius = 0.6},
        .projected_rk = {.absolute_tolerance = 1e-8,
                         .relative_tolerance = 1e-8,
                         .projection_tolerance = 1e-12,
                         .projection = HN_PROJECTION_ALONG_JOINTS,
                         .step_growth_max = 5.0,
                         .dense_output = true,
                         .impose_energy = true},
    };
    sized_fill(def, size, &known, sizeof known);
}

// ---- creation ---------------------------------------------------------------------------------------

static void layout_step(arena *a, const hn_system *system, const scheme_type *scheme,
                        solved_step *step)
{
    size_t n = (size_t)system->body_count;
    step->q_start = arena_doubles(a, POSE_SIZE * n);
    step->momentum = arena_doubles(a, POSE_SIZE * n);
    step->angle_start = arena_doubles(a, (size_t)system->angle_count);
    step->data.q = arena_doubles(a, POSE_SIZE * n);
    step->data.delta = arena_doubles(a, POSE_SIZE * n);
    step->data.force = arena_doubles(a, POSE_SIZE * n);
    step->data.closure = arena_doubles(a, (size_t)system->cut_row_count);
    step->data.bodies = arena_bytes(a, n * sizeof(body_step));
    step->data.joints = arena_bytes(a, n * sizeof(joint_step));
    size_t lagging = scheme->decays ? n : 0,
           elements = scheme->decays ? (size_t)system->element_count : 0;
    size_t tangent = scheme->both_levels ? n : 0;
    step->data.velocity_start = arena_doubles(a, POSE_SIZE * lagging);
    step->data.velocity = arena_doubles(a, POSE_SIZE * (lagging + tangent));
    step->data.impulse = arena_doubles(a, 2 * POSE_SIZE * lagging);
    step->data.history = arena_doubles(a, DECAY_MEMORY * elements);
    step->curvature = arena_doubles(a, POSE_SIZE * tangent);
    step->owed = arena_doubles(a, scheme->filters_dampers ? (size_t)system->damped_count : 0);
    step->data.q_start = step->q_start;
    step->data.angle_start = step->angle_start;
}

static void layout(arena *a, hn_simulation *s)
{
    const hn_system *system = s->system;
    size_t n = (size_t)system->body_count;
    s->state.q = arena_doubles(a, POSE_SIZE * n);
    s->state.impetus = arena_doubles(a, POSE_SIZE * n);
    s->state.memory = arena_doubles(a, scheme_memory_size(s->scheme, system));
    bool own = s->scheme->solver_step != NULL;
    s->next_memory = arena_doubles(a, own ? scheme_memory_size(s->scheme, system) : 0);
    size_t multipliers = s->scheme->solver_step == NULL ? 0 : (size_t)system->constraint_count;
    s->multipliers = arena_doubles(a, multipliers);
    s->next_multipliers = arena_doubles(a, multipliers);
    s->taken = arena_doubles(a, s->scheme->tangent_momenta ? (size_t)system->cut_row_count : 0);
    s->loose = arena_doubles(a, s->scheme->tangent_momenta ? POSE_SIZE * n : 0);
    s->angles = arena_doubles(a, (size_t)system->angle_count);
    s->next_joint_angles = arena_doubles(a, (size_t)system->joint_count);
    s->joint_angles = arena_doubles(a, system_joint_angle_count(system));
    s->joint_slack = arena_doubles(a, (size_t)system->joint_count);
    s->turning = arena_bytes(a, (size_t)system->joint_count * sizeof(turning_joint));
    s->load_sizes = arena_doubles(a, s->def.ledger ? (size_t)system->element_count : 0);
    barriers_layout(a, s);
    size_t ranges = s->def.ledger ? (size_t)system->drive_count : 0;
    s->drive_ranges = arena_bytes(a, ranges * sizeof(function_range));
    size_t holds = (size_t)holds_find(system, NULL);
    s->hold_count = (int)holds;
    dampers_layout(a, s);
    s->holds = arena_bytes(a, holds * sizeof(hold));
    s->held_list = arena_bytes(a, holds * sizeof(int));
    s->rank_rows = arena_doubles(a, holds * (size_t)system->column_count);
    s->rank_pivots = arena_bytes(a, holds * sizeof(int));
    s->hold_pivots = arena_bytes(a, holds * sizeof(int));
    s->hold_space = arena_doubles(a, holds * (holds + 4));
    events_layout(a, s);
    composed_layout(a, s);
    bool lasting = s->scheme->solver_step == NULL && s->composition == NULL &&
                   s->reduction_kind == &reduction_reduced && system->cut_count > 0;
    s->rows_size = lasting ? closures_memory_size(system) : 0;
    s->rows = lasting ? arena_bytes(a, s->rows_size) : NULL;
    s->next_impetus = arena_doubles(a, POSE_SIZE * n);
    s->other_q = arena_doubles(a, s->scheme->solver_step == NULL ? POSE_SIZE * n : 0);
    s->other_impetus = arena_doubles(a, POSE_SIZE * n);
    s->momenta = arena_doubles(a, POSE_SIZE * n);
    s->own_momenta = system->mass_edge_count > 0 ? arena_doubles(a, POSE_SIZE * n) : s->momenta;
    s->wrench = arena_doubles(a, TWIST_SIZE * n);
    s->equation_wrenches = arena_doubles(a, s->def.ledger ? TWIST_SIZE * n : 0);
    s->equation_scales = arena_bytes(a, s->def.ledger ? n * sizeof(body_scale) : 0);
    for (int i = 0; i < 2; ++i) layout_step(a, system, s->scheme, &s->steps[i]);
    both_levels_layout(a, s);
    size_t measured = s->def.ledger ? n : 0, mechanisms = (size_t)system->mechanism_count;
    s->part_count = mechanisms_find(s, NULL, NULL);
    s->parts = arena_bytes(a, (size_t)s->part_count * sizeof(energy_part));
    s->part_of = arena_bytes(a, (size_t)s->part_count * sizeof(int));
    s->part_symmetries = arena_bytes(a, (size_t)s->part_count * sizeof(symmetry_group));
    s->works = arena_doubles(a, mechanisms);
    s->next_works = arena_doubles(a, mechanisms);
    s->round_off_count = s->def.ledger ? mechanisms : 0;
    s->work_round_off = arena_doubles(a, s->round_off_count);
    s->stiff_round_off = arena_doubles(a, s->round_off_count);
    s->terms = arena_doubles(a, mechanisms);
    s->difference_count = 2 * POSE_SIZE * measured;
    s->differences = arena_doubles(a, s->difference_count);
    s->q_before = arena_doubles(a, POSE_SIZE * measured);
    s->p_before = arena_doubles(a, POSE_SIZE * measured);
    s->angles_before = arena_doubles(a, s->def.ledger ? (size_t)system->angle_count : 0);
    s->offsets = arena_doubles(a, 5 * TWIST_SIZE * measured);
    inputs_layout(a, s);
    bool keeps = s->scheme->may_halve || s->has_events || s->composition != NULL;
    s->backup = arena_bytes(a, keeps ? hn_simulation_snapshot_size(s) : 0);
    apart_layout(a, s);
    step_control_layout(a, s);
    bool taken_back = s->def.ledger || s->def.step_tolerance > 0.0;
    s->before = arena_bytes(a, taken_back ? hn_simulation_snapshot_size(s) : 0);
}

static hn_status check_step_control(hn_context *context, const hn_simulation_def *def)
{
    const scheme_type *scheme = scheme_type_of(def->scheme);
    if (!(def->step_tolerance >= 0.0 && def->step_tolerance < 1.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "step_tolerance is %g; expected 0 (steps of one size) or less than 1: "
                            "rad, and m over the body's size",
                            def->step_tolerance);
    if (def->step_tolerance == 0.0 || (scheme->may_halve && scheme->solver_step == NULL))
        return HN_OK;
    return context_fail(context, HN_INVALID_ARGUMENT,
                        "scheme '%s' takes no step_tolerance: %s; energy-momentum, "
                        "ggl-energy-momentum and energy-decaying take one",
                        scheme->name,
                        def->scheme == HN_SCHEME_PROJECTED_RK
                            ? "it controls its steps by relative_tolerance and absolute_tolerance"
                            : "what it promises needs steps of one size");
}

// room for settings to come, which another library may know
static bool is_unused(const double *reserved, int count)
{
    for (int i = 0; i < count; ++i)
        if (reserved[i] != 0.0) return false;
    return true;
}

static hn_status check_def(hn_context *context, const hn_simulation_def *def)
{
    if (!(def->step_size > 0.0) || !isfinite(def->step_size))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "step size is %g s; expected a positive number", def->step_size);
    if ((int)def->scheme < 0 || (int)def->scheme >= HN_SCHEME_COUNT)
        return context_fail(context, HN_INVALID_ARGUMENT, "unknown scheme number %d",
                            (int)def->scheme);
    if ((int)def->reduction < 0 || (int)def->reduction >= HN_REDUCTION_COUNT)
        return context_fail(context, HN_INVALID_ARGUMENT, "unknown reduction number %d",
                            (int)def->reduction);
    if (!(def->increment_tolerance > 0.0) || !(def->residual_tolerance >= 0.0) ||
        def->iterations_max < 1 || def->halvings_max < 0 || !(def->start_tolerance >= 0.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "Newton tolerances and counts must be positive");
    if (def->inputs && def->scheme == HN_SCHEME_PROJECTED_RK)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "scheme 'projected-rk' takes steps of its own and has no inputs that "
                            "are held over a step; the other schemes have");
    TRY(check_step_control(context, def));
    if (!is_unused(def->generalized_alpha.reserved, 3) ||
        !is_unused(def->energy_decaying.reserved, 3) || !is_unused(def->projected_rk.reserved, 6))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "a reserved setting is not zero: version %s of the library does not "
                            "know it; begin with hn_simulation_def_default",
                            hn_version());
    if (!(def->generalized_alpha.spectral_radius >= 0.0 &&
          def->generalized_alpha.spectral_radius <= 1.0))
        return context_fail(context, HN_INVALID_ARGUMENT, "spectral radius is %g; expected 0 to 1",
                            def->generalized_alpha.spectral_radius);
    if (!(def->energy_decaying.rho >= RHO_MIN && def->energy_decaying.rho <= 1.0))
        return context_fail(context, HN_INVALID_ARGUMENT, "rho is %g; expected 1/3 to 1",
                            def->energy_decaying.rho);
    return HN_OK;
}

#define SINGULAR_START                                                                             \
    "singular equations of motion at the start: masses and joints leave a motion without inertia"

hn_status simulation_accelerations(hn_simulation *s, const double *v, bool dampers, double h,
                                   double *acceleration)
{
    saddle *rows;
    const double time = hn_simulation_time(s);
    size_t count = POSE_SIZE * (size_t)s->system->body_count;
    double *force = context_allocate(s->context, 2 * count * sizeof(double));
    if (force == NULL) return HN_OUT_OF_MEMORY;
    scheme_add_forces(s->system, s->state.q, dampers ? v : force + count, s->angles, time, time, h,
                      1.0, force);
    hn_status status = saddle_create(s->system, SADDLE_COORDINATES, &rows);
    if (status == HN_OK) {
        status = saddle_accelerations(rows, s->state.q, v, force, acceleration);
        if (status == HN_SINGULAR_SYSTEM) status = context_fail(s->context, status, SINGULAR_START);
        saddle_destroy(rows);
    }
    context_release(s->context, force);
    return status;
}

// How many constraints of loops follow from the others at the start.
static hn_status count_redundant(hn_simulation *s)
{
    if (s->system->cut_count == 0) return HN_OK;
    saddle_choice choice;
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    hn_status status = saddle_choose_rows(s->projection, s->state.q, &choice);
    if (status != HN_OK)
        return context_fail(s->context, status,
                            "the constraints cannot be separated at the start configuration");
    s->dropped_count = choice.dropped_count;
    s->smallest_pivot = choice.smallest_kept;
    return HN_OK;
}

// Of the fastest velocity: less is round-off and not told.
static const double START_ROUND_OFF = 1e-12;

static bool starts_near(const hn_system *system)
{
    for (int m = 0; m < system->mechanism_count; ++m)
        if (system->velocities[m] == VELOCITIES_NEAR) return true;
    return false;
}

// Start velocities of mechanisms that do not quite fit their loops, projected with the mass metric. What the joints
// take away must be small: a mechanism that cannot move as it is told is refused, however little its joints would open
// in an instant.
static hn_status project_start_velocities(hn_simulation *s)
{
    hn_system *system = s->system;
    double change = 0.0, worst_scale = 0.0;
    int body = 0;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(s->state.q + at, system->twist_start + TWIST_SIZE * (size_t)i,
                          s->next_impetus + at);
    }
    mass_apply(system, 1.0, s->next_impetus, s->momenta);
    if (s->projection == NULL) TRY(saddle_create(system, SADDLE_TWISTS, &s->projection));
    hn_status status = saddle_project(s->projection, s->state.q, s->momenta, s->wrench);
    if (status == HN_SINGULAR_SYSTEM) return context_fail(s->context, status, SINGULAR_START);
    if (status != HN_OK) return status;
    // by the fastest body of each mechanism; the velocities in next_impetus are not needed any more
    double *largest = s->next_impetus;
    memset(largest, 0, (size_t)system->mechanism_count * sizeof(double));
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < system->body_count; ++i) {
            double *told = system->twist_start + TWIST_SIZE * (size_t)i,
                   *allowed = s->wrench + TWIST_SIZE * (size_t)i,
                   *scale = &largest[system->mechanism[i]];
            for (int k = 0;
                 system->velocities[system->mechanism[i]] == VELOCITIES_NEAR && k < TWIST_SIZE;
                 k += 3) {
                double arm = k == 0 ? 1.0 : system->sizes[i];
                double off =
                    arm * vec3_norm(vec3_subtract(vec3_load(told + k), vec3_load(allowed + k)));
                if (pass == 0) *scale = fmax(*scale, arm * vec3_norm(vec3_load(told + k)));
                else if (off * worst_scale > change * *scale || worst_scale == 0.0)
                    change = off, worst_scale = *scale, body = i;
            }
        }
    if (change > s->def.start_tolerance * worst_scale) {
        saddle_choice choice;
        TRY(saddle_choose_rows(s->projection, s->state.q, &choice));
        return context_fail(
            s->context, HN_INVALID_MODEL,
            "body '%s': the joints leave %d degrees of freedom, which take %.3g m/s of its start "
            "velocity, more than the tolerance of %.3g of the largest velocity %.3g m/s",
            system->bodies[body].name,
            system->coordinate_count - system->constraint_count + choice.dropped_count, change,
            s->def.start_tolerance, worst_scale);
    }
    memset(s->next_impetus, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = TWIST_SIZE * (size_t)i;
        if (system->velocities[system->mechanism[i]] == VELOCITIES_NEAR)
            memcpy(system->twist_start + at, s->wrench + at, TWIST_SIZE * sizeof(double));
    }
    memset(s->wrench, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    if (change > START_ROUND_OFF * worst_scale)
        system->velocity_projection = fmax(system->velocity_projection, change);
    return HN_OK;
}

double simulation_rate(const element *e, const double *q, const double *v)
{
    double row[2 * POSE_SIZE], rate = 0.0;
    element_rate_row(e, system_pose(q, e->a), system_pose(q, e->b), row);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? e->a : e->b;
        for (int k = 0; body >= 0 && k < POSE_SIZE; ++k)
            rate += row[POSE_SIZE * side + k] * v[POSE_SIZE * (size_t)body + (size_t)k];
    }
    return rate;
}

// Rotors, and the terms of couplings, move with their joints at the start, and latches know their side; `v`: velocities
// of all bodies.
void simulation_start_rotors(hn_simulation *s, const double *v)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->law_count; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        s->angles[e->angle + DRIVE_ROTOR] = e->law->sign * simulation_rate(e, s->state.q, v);
        if (e->law->kind == HN_DRIVE_LATCH)
            s->angles[e->angle + DRIVE_INTEGRAL] =
                e->law->sign * s->angles[e->angle] < e->law->latch ? 1.0 : -1.0;
    }
}

// Between the parts of an assembly, each of which is short or looks itself.
static hn_status unless_cancelled(const hn_simulation *s)
{
    return context_is_cancelled(s->context) ? HN_CANCELLED : HN_OK;
}

static hn_status create_reductions(hn_simulation *s)
{
    predict_prepare(s);
    TRY(s->reduction_kind->create(s->system, &s->reduction));
    return long_steps_create(s);
}

static bool has_links(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i)
        if (system->joints[i].length > 0.0) return true;
    for (int k = 0; k < system->cut_count; ++k)
        if (system->cuts[k].length > 0.0) return true;
    return false;
}

static hn_status initialise(hn_simulation *s, const hn_model *model)
{
    const hn_system *system = s->system;
    memcpy(s->state.q, system->q_start, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->angle_count; ++i) s->angles[i] = system->angle_start[i];
    for (int k = 0; k < system->joint_count; ++k) s->joint_angles[k] = system->turn_start[k];
    TRY(unless_cancelled(s));
    TRY(start_velocities_complete(s, model));
    if (starts_near(system)) TRY(project_start_velocities(s));
    holds_find(system, s->holds);
    TRY(start_velocities_follow(s, model));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(system->q_start + at, system->twist_start + TWIST_SIZE * (size_t)i,
                          s->momenta + at);
        if (!system->bodies[i].has_directors)
            memset(s->momenta + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
    simulation_start_rotors(s, s->momenta);
    inputs_start(s);
    s->stuck = s->rattling = s->blocked.hold = s->blocked.motion = -1;
    TRY(holds_check_start(s));
    // accelerations at the start, for schemes that keep them; steps[0].data.force serves as scratch
    double *acceleration = s->steps[0].data.force;
    TRY(unless_cancelled(s));
    if (s->scheme->memory_count > 0)
        TRY(simulation_accelerations(s, s->momenta, !s->scheme->dampers_apart, s->def.step_size,
                                     acceleration));
    s->scheme->start(system, s->momenta, acceleration, &s->state);
    memset(acceleration, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    if (s->scheme->decays) TRY(decay_prepare(s->system));
    s->turning_count = turns_find(system, s->turning, &s->pair_count);
    turns_begin(s, model);
    s->has_links = has_links(system);
    TRY(dampers_create(s));
    dampers_say_limits(s);
    TRY(composed_check_dampers(s));
    simulation_update_angles(s);
    TRY(unless_cancelled(s));
    if (s->scheme->solver_step != NULL)
        TRY(s->scheme->solver_create(s->system, &s->def, &s->solver));
    else TRY(create_reductions(s));
    TRY(unless_cancelled(s));
    TRY(simulation_find_symmetries(s));
    TRY(unless_cancelled(s));
    TRY(count_redundant(s));
    TRY(unless_cancelled(s));
    TRY(redundancy_check_start(s));
    TRY(redundancy_find_singular_start(s));
    TRY(unless_cancelled(s));
    if ((s->scheme->tangent_momenta || s->scheme->both_levels || s->has_events ||
         s->barriers.momentum != NULL) &&
        s->projection == NULL)
        TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    return ledger_start(s);
}

// The same system under `energy-momentum`, or the same composition, to compare steps with.
static hn_status create_reference(hn_simulation *s)
{
    hn_simulation *r = context_allocate(s->context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    s->reference = r;
    r->context = context_retain(s->context);
    r->owner_count = 1;
    r->system = s->system;
    r->borrowed = true;
    r->def = s->def;
    r->def.ledger = false;
    r->def.step_tolerance = 0.0;
    // a composed step in finer ones of its own order: `energy-momentum` would not see its error
    r->composition = s->composition;
    if (r->composition == NULL) r->def.scheme = HN_SCHEME_ENERGY_MOMENTUM;
    r->other_scheme = s->def.scheme != r->def.scheme;
    if (s->scheme->solver_step != NULL) r->def.reduction = HN_REDUCTION_REDUCED;
    r->scheme = r->composition == NULL ? scheme_type_of(r->def.scheme) : s->scheme;
    r->reduction_kind = reduction_type_of(r->def.reduction);
    arena a = {0};
    layout(&a, r);
    r->memory = context_allocate(s->context, a.used);
    if (r->memory == NULL) return HN_OUT_OF_MEMORY;
    a = (arena){.block = r->memory};
    layout(&a, r);
    r->turning_count = turns_find(r->system, r->turning, &r->pair_count);
    r->has_links = s->has_links;
    holds_find(r->system, r->holds);
    TRY(dampers_create(r));
    r->stuck = r->rattling = r->blocked.hold = r->blocked.motion = -1;
    if (r->composition != NULL || r->barriers.momentum != NULL)
        TRY(saddle_create(r->system, SADDLE_TWISTS, &r->projection));
    return create_reductions(r);
}

// Friction by the reaction of a joint that redundant constraints leave open: minimum norm is one choice of many.
static hn_status warn_shared_friction(hn_simulation *s)
{
    for (int i = 0; i < s->system->drive_count && s->dropped_count > 0; ++i) {
        const element *e = &s->system->elements[s->system->drive_first + i];
        hn_reaction_verdict verdict;
        if (e->law->by_reaction == 0.0) continue;
        TRY(hn_simulation_reaction_verdict(s, hn_simulation_joint(s, e->joint), &verdict));
        if (verdict.shared_force_count == 0) continue;
        context_log(s->context,
                    "drive '%s': its friction follows from the reaction force of joint '%s', which "
                    "redundant constraints leave open in %d direction%s; the smallest one is "
                    "taken; joints without redundancy, or `effort` in place of `coefficient`, are "
                    "sure",
                    e->name, s->system->reports[e->joint].name, verdict.shared_force_count,
                    verdict.shared_force_count == 1 ? "" : "s");
    }
    return HN_OK;
}

// Friction by the reaction of a joint along another coordinate of which a drive bears a force: that is no reaction.
static void warn_friction_beside(hn_simulation *s)
{
    const element *drives = s->system->elements + s->system->drive_first;
    for (int i = 0; i < s->system->drive_count; ++i) {
        if (drives[i].law->by_reaction == 0.0) continue;
        for (int k = 0; k < s->system->drive_count; ++k) {
            const drive_law *other = drives[k].law;
            bool bears = drives[k].joint == drives[i].joint && drives[k].displacement &&
                         other->coordinate != drives[i].law->coordinate &&
                         other->kind != HN_DRIVE_FRICTION;
            if (!bears) continue;
            context_log(s->context,
                        "drive '%s': its friction follows from the reaction force of joint '%s' "
                        "alone; what drive '%s' bears along another coordinate of it is not in "
                        "that; `effort` in place of `coefficient` is sure",
                        drives[i].name, s->system->reports[drives[i].joint].name, drives[k].name);
            break;
        }
    }
}

// Not all schemes take bodies whose inertia is coupled.
static hn_status check_beams(hn_context *context, const scheme_type *scheme, const hn_model *model)
{
    if (model->beam_count == 0 || scheme->no_beams == NULL) return HN_OK;
    return context_fail(
        context, HN_INVALID_MODEL,
        "beam '%s': scheme '%s' %s; energy-momentum, energy-decaying, variational, rattle, "
        "generalized-alpha and ggl-energy-momentum take beams",
        model->beams[0].name, scheme->name, scheme->no_beams);
}

// Nor do all take drives, or their rotors.
#define TAKE_DRIVES "energy-momentum, energy-decaying, ggl-energy-momentum"
static hn_status check_drives(hn_context *context, const scheme_type *scheme, const hn_model *model)
{
    for (int i = 0; i < model->drive_count; ++i) {
        const model_drive *d = &model->drives[i];
        if (!scheme->takes_drives)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': scheme '%s' takes no drives: it %s; " TAKE_DRIVES
                                ", convected, variational and rattle do",
                                d->name, scheme->name, scheme->no_holds);
        bool held = d->def.kind == HN_DRIVE_MOTION || d->def.kind == HN_DRIVE_FRICTION ||
                    d->def.kind == HN_DRIVE_LATCH;
        if (!scheme->takes_motions && held)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': scheme '%s' takes no %s: it %s; " TAKE_DRIVES
                                " and variational do",
                                d->name, scheme->name,
                                d->def.kind == HN_DRIVE_MOTION     ? "motions"
                                : d->def.kind == HN_DRIVE_FRICTION ? "dry friction"
                                                                   : "latches",
                                scheme->no_holds);
        if (scheme->decays && d->def.kind == HN_DRIVE_FRICTION)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': scheme '%s' takes no dry friction: its velocities "
                                "lag, so that what sticks would creep; energy-momentum, "
                                "ggl-energy-momentum and variational do",
                                d->name, scheme->name);
        if (d->def.rigid && !scheme->takes_motions)
            return context_fail(
                context, HN_INVALID_MODEL,
                "drive '%s': scheme '%s' takes no stops with restitution: it %s; " TAKE_DRIVES
                " and variational do, and all that take drives "
                "stops with a stiffness",
                d->name, scheme->name, scheme->no_holds);
        if (!scheme->energy_kept && d->def.armature > 0.0)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': scheme '%s' takes no armature, whose speed it does "
                                "not know; " TAKE_DRIVES " and convected do",
                                d->name, scheme->name);
    }
    if (!scheme->takes_motions && model->coupling_count > 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "coupling '%s': scheme '%s' takes no couplings: it %s; " TAKE_DRIVES
                            " and variational do",
                            model->couplings[0].name, scheme->name, scheme->no_holds);
    return HN_OK;
}

hn_status hn_simulation_create(const hn_model *model, const hn_simulation_def *given,
                               hn_simulation **out)
{
    return hn_simulation_create_in(hn_model_context(model), model, given, out);
}

hn_status hn_simulation_create_in(hn_context *context, const hn_model *model,
                                  const hn_simulation_def *given, hn_simulation **out)
{
    REQUIRE(context, out != NULL);
    *out = NULL;
    REQUIRE(context, context != NULL && model != NULL && given != NULL);
    OWN_COPY(context, hn_simulation_def, given, hn_simulation_def_default());
    hn_simulation_def settled = *given, *def = &settled;
    if (def->energy_decaying.rho == 0.0)
        def->energy_decaying.rho = model->run.rho > 0.0 ? model->run.rho : DEFAULT_RHO;
    TRY(check_def(context, def));
    hn_simulation *s = context_allocate(context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->context = context_retain(context);
    s->owner_count = 1;
    s->model_tag = model->tag;
    s->model_identity = model_identity(model);
    s->def = *def;
    s->scheme = scheme_type_of(def->scheme);
    s->reduction_kind = reduction_type_of(def->reduction);
    context_begin_cancellable(context);
    hn_status status = composed_choose(s, model);
    if (status == HN_OK) status = check_beams(context, s->scheme, model);
    if (status == HN_OK) status = check_drives(context, s->scheme, model);
    if (status == HN_OK)
        status = system_create(context, model, def->start_tolerance, def->inputs, &s->system);
    if (status == HN_OK) {
        arena a = {0};
        layout(&a, s);
        s->memory = context_allocate(context, a.used);
        if (s->memory == NULL) status = HN_OUT_OF_MEMORY;
    }
    if (status == HN_OK) {
        arena a = {.block = s->memory};
        layout(&a, s);
        status = initialise(s, model);
    }
    if (status == HN_OK) status = outputs_create(s, model, &s->outputs);
    if (status == HN_OK) status = unless_cancelled(s);
    if (status == HN_OK && s->def.ledger) status = create_reference(s);
    if (status == HN_OK && model->starts_at_equilibrium) status = statics_start(s);
    if (status == HN_OK) status = warn_shared_friction(s);
    context_end_cancellable(context);
    // what was left out because of it may have gone unnoticed: nothing of it is handed on
    if (context_take_cancel(context))
        status = context_fail(context, HN_CANCELLED, "cancelled while the model was assembled");
    if (status != HN_OK) {
        hn_simulation_destroy(s);
        bool of_model = status != HN_OUT_OF_MEMORY && status != HN_CANCELLED;
        return of_model ? model_place_message(context, model, status) : status;
    }
    fine_loads_warn(s);
    warn_friction_beside(s);
    if (s->def.inputs && s->scheme->first_order)
        context_log(context,
                    "scheme '%s' is of first order: what inputs and controllers do is off by a "
                    "part of the step, as all that it does; all other schemes with inputs are of "
                    "second order",
                    s->scheme->name);
    *out = s;
    return HN_OK;
}

void hn_simulation_destroy(hn_simulation *s)
{
    if (s == NULL || --s->owner_count > 0) return;
    hn_context *context = s->context;
    outputs_destroy(context, s->outputs);
    long_steps_destroy(s);
    s->reduction_kind->destroy(s->reduction);
    if (s->scheme->solver_destroy != NULL) s->scheme->solver_destroy(s->solver);
    saddle_destroy(s->projection);
    damped_inertia_destroy(s->dampers.matrix);
    observation_destroy(s);
    redundancy_destroy(s);
    hn_simulation_destroy(s->reference);
    if (!s->borrowed) system_destroy(s->system);
    context_release(context, s->memory);
    context_release(context, s);
    context_drop(context);
}

hn_simulation *simulation_retain(hn_simulation *s)
{
    s->owner_count++;
    return s;
}

uint64_t simulation_model_identity(const hn_simulation *s)
{
    return s->model_identity;
}

bool simulation_has_ledger(const hn_simulation *s)
{
    return s->def.ledger;
}

// ---- steps ------------------------------------------------------------------------------------------

// A solution counts when it is finite and no body has turned by nearly half a turn: there the midpoint directors become
// flat, the null space matrix loses rank and the equations hold emptily. det(D_mid) is the squared cosine of half the
// turn, and negative for a mirrored triad.
static const double FLAT_MIDPOINT = 0.02; // a turn of 164 degrees
// Joints between bodies that turn differently are flat before that, and iterations from afar find that: one
// on a universal joint that swung by 158 degrees had its energy wrong by 0.3 per cent. Where a balance tells it
// (long_steps.c), this is not asked.
static const double FLAT_FROM_AFAR = 0.05; // 154 degrees

// The same of a link between two points: its mean over the step vanishes where it turns by half a turn.
static bool link_is_flat(const solved_step *step, const joint *j, double flat)
{
    const double *q[2] = {step->data.q_start, step->data.q};
    hn_vec3 sum = vec3(0.0, 0.0, 0.0);
    if (!(j->length > 0.0)) return false;
    for (int k = 0; k < 2; ++k) {
        hn_vec3 a = pose_point(system_pose(q[k], j->parent), j->rho_a);
        sum = vec3_add(sum, vec3_subtract(pose_point(system_pose(q[k], j->child), j->rho_b), a));
    }
    return !(0.25 * vec3_dot(sum, sum) > flat * j->length * j->length);
}

static bool links_are_sound(hn_simulation *s, const solved_step *step, double flat)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count + system->cut_count; ++i) {
        bool cut = i >= system->body_count;
        const joint *j = cut ? &system->cuts[i - system->body_count] : &system->joints[i];
        if (!link_is_flat(step, j, flat)) continue;
        s->newton.worst_body = j->child >= 0 ? j->child : j->parent;
        s->newton.half_turn = true;
        return false;
    }
    return true;
}

bool simulation_step_is_sound(hn_simulation *s, const solved_step *step, bool from_afar)
{
    const double flat = from_afar ? FLAT_FROM_AFAR : FLAT_MIDPOINT, SHORT_CHORD = 1.6;
    const hn_system *system = s->system;
    if (!isfinite(s->newton.residual) || !isfinite(s->newton.increment)) return false;
    for (int i = 0; i < system->body_count; ++i) {
        const double *start = step->data.q_start + POSE_SIZE * (size_t)i,
                     *end = step->data.q + POSE_SIZE * (size_t)i,
                     *delta = step->data.delta + POSE_SIZE * (size_t)i;
        // of turns below 80 degrees increments of directors tell: det(D_mid) is one less an eighth of their squares
        double chord = 0.0;
        for (int k = 3; k < POSE_SIZE; ++k) chord += delta[k] * delta[k];
        if (chord <= SHORT_CHORD && isfinite(delta[0] + delta[1] + delta[2])) continue;
        hn_vec3 d[3];
        for (int k = 0; k < 3; ++k)
            d[k] = vec3_mean(vec3_load(start + 3 + 3 * k), vec3_load(end + 3 + 3 * k));
        double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
        bool finite = isfinite(end[0] + end[1] + end[2] + volume);
        if (finite && (s->scheme->any_rotation || volume > flat)) continue;
        s->newton.worst_body = i;
        s->newton.half_turn = finite;
        return false;
    }
    return !s->has_links || s->scheme->any_rotation || links_are_sound(s, step, flat);
}

// Keep what a solved step has cost until it becomes the state.
static void note_iterations(hn_simulation *s, solved_step *step)
{
    step->iterations = s->newton.iterations;
    step->residual = s->newton.residual;
    step->increment = s->newton.increment;
    step->loops = s->newton.loops;
}

// Steps count when they become the state: one that was solved ahead for a report, and is solved again after a restore,
// counts once.
static void count_iterations(hn_simulation *s, const solved_step *step)
{
    s->statistics.newton_iteration_count += step->iterations;
    s->statistics.last_iteration_count = step->iterations;
    if (step->iterations > s->statistics.newton_iteration_max)
        s->statistics.newton_iteration_max = step->iterations;
    s->statistics.last_residual = step->residual;
    s->statistics.last_increment = step->increment;
}

// Lags are not in the tangent whole: what is left after an increment is a part of it, not its square.
static bool has_lags(const hn_simulation *s)
{
    return s->scheme->decays && s->system->element_count > 0;
}

static newton_options newton_options_of(const hn_simulation *s)
{
    const double LAGGING = 1e-3;
    bool lags = has_lags(s);
    return (newton_options){.residual_tolerance = s->def.residual_tolerance,
                            .increment_tolerance =
                                s->def.increment_tolerance * (lags ? LAGGING : 1.0),
                            .iterations_max = s->def.iterations_max,
                            .reuse_factors = true,
                            // (KO6): one set of independent rows in all substeps
                            .keep_rows = s->stage > 0,
                            .rows = s->rows,
                            .rows_anew = !predict_is_under_way(s),
                            .step = s->step_count,
                            .settle_places_alone = predict_is_under_way(s),
                            .measure_left = equations_are_due(s)};
}

static bool stop_asked(void *context)
{
    return context_is_cancelled(context);
}

// A step of a scheme that brings its own solver; what it delivers waits for commit.
static hn_status solve_with_own_solver(hn_simulation *s, solved_step *step, double step_size,
                                       double time)
{
    const hn_system *system = s->system;
    memcpy(step->q_start, s->state.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(step->angle_start, s->angles, (size_t)system->angle_count * sizeof(double));
    step->equations = (step_equations){.step_size = step_size,
                                       .time = time,
                                       .load_begin = time,
                                       .load_end = time + step_size,
                                       .reaction_time = time + 0.5 * step_size};
    dampers_begin(s, step, step_size);
    scheme_step own = {.state = &s->state,
                       .step_size = step_size,
                       .time = time,
                       .angles = s->angles,
                       .parked = s->parking ? s->apart.parked : NULL,
                       .owed = step->data.owed,
                       .q = step->data.q,
                       .delta = step->data.delta,
                       .impetus = s->next_impetus,
                       .memory = s->next_memory,
                       .multipliers = s->next_multipliers,
                       .joint_angles = s->joint_angles,
                       .next_joint_angles = s->next_joint_angles,
                       .doubtful_joint = -1,
                       .works = s->next_works,
                       .stopped = stop_asked,
                       .stopped_user = s->context};
    memset(s->next_works, 0, (size_t)system->mechanism_count * sizeof(double));
    newton_options options = newton_options_of(s);
    s->newton = (newton_report){0};
    TRY(s->scheme->solver_step(s->solver, &own, &options, &s->newton));
    if (!simulation_step_is_sound(s, step, false)) return HN_NOT_CONVERGED;
    s->next_work = own.work;
    s->error_known = own.error_known;
    s->error = own.error;
    s->doubtful_joint = own.doubtful_joint;
    s->next_multiplier_time = own.multiplier_time;
    s->next_multipliers_later = own.multipliers_later;
    step->valid = true;
    note_iterations(s, step);
    return HN_OK;
}

// Part of q_n in the tangent of constraints when a step lands on a singular position: below it, an angle to that
// position is left as it is, with a residual of its square.
static const double SINGULAR_FREEZING = 1e-5;

// Where increments are small beside the body and large beside what it moves in a step, the residual before the last one
// tells that more is left than its square: iterate on.
hn_status simulation_solve_lags(hn_simulation *s, solved_step *step, const newton_options *options)
{
    enum { TIMES_MAX = 6 };
    newton_options again = *options;
    again.continued = true;
    int first = s->newton.iterations;
    for (int k = 0; has_lags(s) && k < TIMES_MAX; ++k) {
        int last = s->newton.history_count - 1, iterations = s->newton.iterations;
        // parts of a body's equation by the same number as parts of its length, unless more may be left
        double enough = fmax(options->increment_tolerance, options->residual_tolerance);
        if (last < 0 || s->newton.history[last] <= enough) return HN_OK;
        s->newton = (newton_report){.loops = s->newton.loops, .largest = s->newton.largest};
        hn_status status = s->reduction_kind->solve(s->reduction, &step->equations, &step->data,
                                                    &again, &s->newton);
        s->cost.iterations += s->newton.iterations;
        TRY(status);
        s->newton.iterations += iterations;
        s->newton.lagging = s->newton.iterations - first;
    }
    return HN_OK;
}

hn_status simulation_solve_plain(hn_simulation *s, solved_step *step, const newton_options *options)
{
    step_element_forces(s->system, &step->equations, &step->data);
    s->newton = (newton_report){0};
    hn_status status =
        s->reduction_kind->solve(s->reduction, &step->equations, &step->data, options, &s->newton);
    s->cost.iterations += s->newton.iterations;
    return status;
}

hn_status simulation_solve_iterate(hn_simulation *s, solved_step *step,
                                   const newton_options *options)
{
    TRY(simulation_solve_plain(s, step, options));
    TRY(simulation_solve_lags(s, step, options));
    return simulation_step_is_sound(s, step, false) ? HN_OK : HN_NOT_CONVERGED;
}

hn_status simulation_solve_reduction(hn_simulation *s, solved_step *step,
                                     const newton_options *options, step_guess guess)
{
    if (guess != GUESS_SOLVED) predict_step(s, s->reduction_kind, step, guess);
    newton_options from = *options;
    from.multipliers_known = guess == GUESS_HISTORY && predict_knows_multipliers(s);
    TRY(simulation_solve_iterate(s, step, &from));
    return s->hold_count == 0 ? HN_OK : drive_modes_solve(s, step, options);
}

static hn_status solve_from(hn_simulation *s, solved_step *step, const newton_options *options,
                            step_guess guess)
{
    return s->scheme->both_levels ? both_levels_solve(s, step, options, guess)
                                  : simulation_solve_reduction(s, step, options, guess);
}

hn_status simulation_solve_ahead(hn_simulation *s, double step_size, double time,
                                 bool from_velocities)
{
    const hn_system *system = s->system;
    solved_step *step = &s->steps[s->ahead];
    step->valid = step->joined = step->foreign = false;
    inputs_apply(s, step_size);
    if (s->scheme->solver_step != NULL) return solve_with_own_solver(s, step, step_size, time);
    s->scheme->equations(system, &s->def, &s->state, s->angles, step_size, time, step->momentum,
                         &step->equations);
    fine_loads_know_means(s, step->equations.load_begin, step->equations.load_end);
    if (s->parking) step->equations.parked = s->apart.parked;
    step_hold_parked(system, &step->equations, step->momentum);
    memcpy(step->q_start, s->state.q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(step->angle_start, s->angles, (size_t)system->angle_count * sizeof(double));
    dampers_begin(s, step, step_size);
    if (s->scheme->begin != NULL)
        s->scheme->begin(system, &s->state, &step->equations, &step->data);
    newton_options options = newton_options_of(s);
    const step_guess guess = from_velocities ? GUESS_VELOCITIES : GUESS_HISTORY;
    hn_status status = solve_from(s, step, &options, guess);
    if (status != HN_OK && system->cut_count > 0) {
        // a mechanism that lands on a singular position: the tangent is singular at the solution
        options.freezing = SINGULAR_FREEZING;
        status = solve_from(s, step, &options, guess);
    }
    bool plain = s->hold_count == 0;
    if (plain && (status != HN_OK || long_steps_seem(s, step))) {
        newton_options straight = newton_options_of(s);
        straight.keep_rows = false; // of other solvers
        straight.rows_anew = true;
        bool found = status == HN_OK;
        status = long_steps_solve(s, step, &straight);
        // a scheme that needs all steps alike stays with what its reduction found; others may find another
        if (status != HN_OK && found && !s->scheme->may_halve) {
            status = solve_from(s, step, &options, guess);
            s->ambiguous = true;
        }
    } else if (status != HN_OK && system->cut_count == 0 && s->scheme->may_halve) {
        status = solve_from(s, step, &options, GUESS_REST);
    }
    if (status != HN_OK) return status;
    step_element_forces(system, &step->equations, &step->data);
    step->valid = true;
    note_iterations(s, step);
    return HN_OK;
}

// The state has changed: what was found from it for reports is out of date.
void simulation_forget_derived(hn_simulation *s)
{
    s->momenta_valid = s->wrench_valid = s->angles_valid = false;
    redundancy_invalidate(s);
    observation_forget(s);
}

// What a scheme keeps beside q, and the work, are finite; q itself is looked at in step_is_sound.
static hn_status check_impetus(hn_simulation *s)
{
    const hn_system *system = s->system;
    const double *x = s->next_impetus;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double sums[4] = {0.0, 0.0, 0.0, 0.0}; // side by side: they do not wait for each other
    for (size_t k = 0; k < count; k += 4)
        for (size_t l = 0; l < 4; ++l) sums[l] += x[k + l];
    if (isfinite(sums[0] + sums[1] + sums[2] + sums[3] + s->next_work)) return HN_OK;
    double largest = 0.0;
    int worst = -1, fastest = 0;
    for (int i = 0; i < system->body_count && worst < 0; ++i, x += POSE_SIZE) {
        double sum = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) sum += x[k];
        if (fabs(sum) > largest) largest = fabs(sum), fastest = i;
        if (!isfinite(sum)) worst = i;
    }
    if (worst < 0 && isfinite(s->next_work)) return HN_OK;
    return context_fail(
        s->context, HN_NOT_FINITE,
        "step %lld at t = %.9g s: the %s is not finite, worst at body '%s'; masses, "
        "velocities, loads or the step are out of any range",
        (long long)s->step_count + 1, hn_simulation_time(s),
        worst < 0 ? "work of loads" : "velocity", system->bodies[worst < 0 ? fastest : worst].name);
}

hn_status simulation_commit(hn_simulation *s, bool keep_history)
{
    const hn_system *system = s->system;
    solved_step *step = &s->steps[s->ahead];
    double losses[2] = {0.0, 0.0};
    count_iterations(s, step);
    passage_note(s, step);
    if (equations_are_due(s)) equations_note(s, step);
    if (s->scheme->solver_step == NULL) {
        memset(s->next_works, 0, (size_t)system->mechanism_count * sizeof(double));
        step->data.works = s->next_works;
        step->data.losses = losses;
        step->data.work_round_off = s->def.ledger ? s->work_round_off : NULL;
        s->next_work = s->scheme->finish(system, &s->def, &step->equations, &step->data, &s->state,
                                         s->next_impetus);
    } else {
        s->multiplier_time = s->next_multiplier_time;
        s->multipliers_later = s->next_multipliers_later;
        if (!s->multipliers_later)
            memcpy(s->multipliers, s->next_multipliers,
                   (size_t)system->constraint_count * sizeof(double));
    }
    TRY(check_impetus(s));
    s->work += s->next_work;
    for (int k = 0; k < 2; ++k) s->losses[k] += losses[k];
    step->data.losses = step->data.work_round_off = NULL;
    for (int m = 0; m < s->part_count; ++m) s->works[m] += s->next_works[m];
    turns_follow(s, step);
    dampers_filter(s, step);
    double *impetus = s->state.impetus;
    s->state.impetus = s->next_impetus;
    s->next_impetus = impetus;
    if (s->scheme->solver_step != NULL) {
        double *memory = s->state.memory;
        s->state.memory = s->next_memory;
        s->next_memory = memory;
    }
    s->state.q = step->data.q; // the next step is solved in other memory
    s->state.first = false;
    if (s->scheme->tangent_momenta) {
        // a projection that fails leaves the momenta as they are; the next step will tell
        size_t size = POSE_SIZE * (size_t)system->body_count * sizeof(double);
        memcpy(s->loose, s->state.impetus, size);
        if (simulation_project_momenta(s, s->loose, s->state.impetus, NULL) != HN_OK)
            memcpy(s->state.impetus, s->loose, size);
    }
    if (s->scheme->both_levels) both_levels_record(s, step, keep_history);
    if (s->scheme->solver_step != NULL) s->past.count = 0;
    else if (keep_history && !step->foreign) predict_record(s, step);
    else s->past.count = 0;
    s->ahead = 1 - s->ahead;
    s->steps[s->ahead].valid = false;
    simulation_forget_derived(s);
    return HN_OK;
}

hn_status simulation_solve_or_stop(hn_simulation *s, double h, double t, bool from_velocities)
{
    context_begin_cancellable(s->context);
    hn_status status = simulation_solve_ahead(s, h, t, from_velocities);
    bool cancelled = context_is_cancelled(s->context);
    context_end_cancellable(s->context);
    if (!cancelled) return status;
    s->steps[s->ahead].valid = false;
    return HN_CANCELLED;
}

// Largest h |omega| of any body by the last increments, and which body.
static double largest_spin(const hn_simulation *s, int *body)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    *body = 0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = s->state.q + POSE_SIZE * (size_t)i,
                     *x = s->state.impetus + POSE_SIZE * (size_t)i;
        double spin;
        if (!system->bodies[i].has_directors) {
            // a point on a link of length L: h |v|/L
            const joint *j = &system->joints[i];
            double speed = vec3_norm(vec3_load(x)) /
                           (s->scheme->impetus_is_momentum ? mass_weight(system, i) : 1.0);
            spin = j->length > 0.0 ? speed / j->length : 0.0;
        } else {
            // angular momentum (or velocity) to angular velocity along the directors
            double twist[TWIST_SIZE];
            if (s->scheme->impetus_is_momentum) {
                double wrench[TWIST_SIZE];
                force_to_wrench(q, x, wrench);
                hn_vec3 l = pose_components(q, vec3_load(wrench + 3));
                hn_vec3 j = mass_moments(system, i);
                vec3_store(vec3(j.x > 0.0 ? l.x / j.x : 0.0, j.y > 0.0 ? l.y / j.y : 0.0,
                                j.z > 0.0 ? l.z / j.z : 0.0),
                           twist + 3);
            } else {
                velocity_to_twist(q, x, twist);
            }
            spin = vec3_norm(vec3_load(twist + 3));
        }
        if (spin * s->def.step_size > largest) largest = spin * s->def.step_size, *body = i;
    }
    return largest;
}

// A configuration where constraints that are independent at the start follow from the others.
typedef struct singular_place {
    bool landing; // of the step that failed rather than the last good one
    int joint;    // whose constraints they are, model index
    double angle; // rad, to the span of the others, roughly
} singular_place;

// Is the last good state, or the end of the failed step as far as it was solved, near a singular position?
static bool find_singular_place(hn_simulation *s, singular_place *place)
{
    const double NEAR = 1e-3; // of the pivot at the start
    const double *at[2] = {s->state.q, s->steps[s->ahead].data.q};
    for (int k = 0; s->system->cut_count > 0 && k < 2; ++k) {
        saddle_choice choice;
        if (saddle_choose_rows(s->projection, at[k], &choice) != HN_OK) continue;
        bool dropped = choice.dropped_count > s->dropped_count;
        if (!dropped && !(choice.smallest_kept < NEAR * s->smallest_pivot)) continue;
        place->landing = k == 1;
        place->joint = dropped ? choice.dropped_joint : choice.smallest_joint;
        place->angle = sqrt(dropped ? choice.largest_dropped : choice.smallest_kept);
        if (place->joint >= 0) return true;
    }
    return false;
}

static const char *held_name(const hn_simulation *s)
{
    int index = s->newton.hold;
    return index < s->hold_count ? s->system->elements[s->holds[index].first].name : "";
}

// What was iterated around Newton's method did not settle. False: that itself did not.
static bool describe_outer_loop(const hn_simulation *s, char *text, size_t size)
{
    const newton_report *n = &s->newton;
    switch (n->gave_up) {
    case GAVE_UP_NEWTON: return false;
    case GAVE_UP_HOLDS:
        snprintf(text, size,
                 "the effort with which %s '%s' holds its coordinate was not found: it stays off "
                 "by %.2g of its unit",
                 n->hold < s->hold_count && s->holds[n->hold].coupling >= 0 ? "coupling" : "drive",
                 held_name(s), n->off);
        break;
    case GAVE_UP_NORMALS:
        snprintf(text, size,
                 "friction '%s' and the reaction of its joint, which it depends on, did not settle "
                 "in %d passes (reaction %.3g N)",
                 held_name(s), DRIVE_NORMAL_PASSES, n->off);
        break;
    case GAVE_UP_MODES:
        snprintf(text, size,
                 "which of its frictions slide and which stick, and which stops hold, "
                 "was not decided");
        break;
    case GAVE_UP_LEVELS:
        snprintf(text, size, "sweeps over places and velocities did not settle");
        break;
    case GAVE_UP_CHOICE:
        snprintf(text, size, "the step has several solutions, and its shortest parts too");
        break;
    case GAVE_UP_EVENT:
        snprintf(text, size, "when drive '%s' is reached within the step was not found",
                 held_name(s));
        break;
    case GAVE_UP_INNER:
        snprintf(
            text, size,
            "inner steps became as short as %.2g s, and none of them has a solution that meets the "
            "step_tolerance of %.2g",
            s->control.step, s->def.step_tolerance);
        break;
    }
    return true;
}

// Which of Newton's criteria was not met, or what around it.
static void describe_criterion(const hn_simulation *s, char *text, size_t size)
{
    const newton_report *n = &s->newton;
    if (describe_outer_loop(s, text, size)) return;
    int last = n->history_count - 1;
    if (n->half_turn)
        snprintf(text, size, "its solution turns body '%s' by nearly half a turn",
                 s->system->bodies[n->worst_body].name);
    else if (n->iterations < s->def.iterations_max && last > 0 &&
             n->history[last] > n->history[last - 1])
        snprintf(text, size, "the relative residual jumped from %.2g to %.2g in iteration %d",
                 n->history[last - 1], n->history[last], n->iterations);
    else if (n->not_finite)
        snprintf(text, size, "iteration %d left the finite numbers", n->iterations + 1);
    else if (n->iterations < s->def.iterations_max)
        snprintf(text, size,
                 "what %d iterations found is no solution (relative residual %.2g, increment %.2g)",
                 n->iterations, n->residual, n->increment);
    else if (n->increment > s->def.increment_tolerance)
        snprintf(text, size,
                 "after %d iterations the increment %.2g is above its tolerance %.2g (relative "
                 "residual %.2g)",
                 n->iterations, n->increment, s->def.increment_tolerance, n->residual);
    else
        snprintf(text, size,
                 "after %d iterations joints are still open, though the increment %.2g is within "
                 "its tolerance %.2g (relative residual %.2g)",
                 n->iterations, n->increment, s->def.increment_tolerance, n->residual);
}

static const char *usual_cause(const hn_simulation *s, hn_status status)
{
    if (status == HN_SINGULAR_SYSTEM)
        return "the mechanism may pass a position where its joints lose rank; a smaller or "
               "slightly "
               "different step, or another reduction, may pass it";
    bool beyond = s->newton.not_finite && s->newton.gave_up == GAVE_UP_NEWTON;
    return beyond ? "a smaller step may help, or start values and loads are not what they should be"
                  : "a smaller step may help";
}

// Halves have cost too much: because the motion is too fast for the step, or for what fails in all of them.
static hn_status fail_at_cost(hn_simulation *s, hn_status status, const char *criterion,
                              const system_body *fastest, double spin)
{
    newton_gave_up by = s->newton.gave_up;
    bool fast = by == GAVE_UP_NEWTON || by == GAVE_UP_CHOICE;
    return context_fail(
        s->context, status,
        "step %lld at t = %.9g s: the step of %.3g s is %s: its parts, down to %.2g s, cost %.0f "
        "ordinary steps beyond the %d that each step of a run may cost, and more than %d end it "
        "(%s%s%s: h|omega| = %.3g); take a smaller one",
        (long long)s->step_count + 1, hn_simulation_time(s), s->def.step_size,
        fast ? "far too long for the motion" : "halved too often", s->record.step_min,
        step_cost_owed(s), STEP_COST_TIMES, STEP_COST_AT_ONCE, fast ? "" : criterion,
        fast ? "body " : "; body ", fastest->name, spin);
}

static hn_status explain_failure(hn_simulation *s, hn_status status)
{
    const hn_system *system = s->system;
    if (status == HN_CANCELLED) {
        (void)context_take_cancel(s->context);
        return context_fail(s->context, status, "step %lld at t = %.9g s: cancelled",
                            (long long)s->step_count + 1, hn_simulation_time(s));
    }
    TRY(not_finite_from_outside(s));
    if (s->rattling >= 0)
        return context_fail(s->context, status,
                            "step %lld at t = %.9g s: drive '%s' is hit more than %d times in one "
                            "step; expected a smaller one",
                            (long long)s->step_count + 1, hn_simulation_time(s),
                            system->elements[s->holds[s->rattling].first].name, EVENTS_MAX);
    if (s->blocked.hold >= 0) return holds_fail_blocked(s);
    if (s->stuck >= 0) {
        const element *e = &system->elements[s->holds[s->stuck].first];
        bool couples = s->holds[s->stuck].coupling >= 0;
        return context_fail(
            s->context, HN_SINGULAR_SYSTEM,
            "step %lld at t = %.9g s: %s '%s' cannot move its joint '%s': no effort of it "
            "changes "
            "the %s, since the loop of the joint%s or another motion or coupling holds it%s",
            (long long)s->step_count + 1, hn_simulation_time(s), couples ? "coupling" : "drive",
            e->name, system->reports[e->joint].name, couples ? "relation" : "coordinate",
            couples ? "s" : "",
            system->reports[e->joint].rows.kind == HN_JOINT_FREE
                ? ", or the mechanism reaches no further"
                : "");
    }
    int worst = s->newton.worst_body, spinning = 0;
    const joint *j = &system->joints[worst];
    const char *joint_name = j->model_joint >= 0 ? system->reports[j->model_joint].name : "free";
    double spin = largest_spin(s, &spinning);
    char cause[320];
    snprintf(cause, sizeof cause, "%s", usual_cause(s, status));
    double limit = simulation_rotation_limit(s);
    if (limit > 0.0 && spin > 0.5 * limit)
        snprintf(cause, sizeof cause,
                 "`%s` has no solution for h|omega| > %g and body '%s' has h|omega| = %.4g: take a "
                 "smaller step",
                 s->scheme->name, limit, system->bodies[spinning].name, spin);
    else if (s->newton.half_turn)
        snprintf(cause, sizeof cause,
                 "body '%s' would turn by nearly half a turn in one step: take a smaller one",
                 system->bodies[worst].name);
    else if (spin > 1.0)
        snprintf(cause, sizeof cause,
                 "body '%s' turns by h|omega| = %.3g in a step: take a smaller one",
                 system->bodies[spinning].name, spin);
    singular_place place;
    loop_misfit misfit;
    if (redundancy_find_misfit(s, &misfit) == HN_OK && misfit.joint >= 0)
        snprintf(cause, sizeof cause,
                 "the loop of joint '%s' is not exact: its constraints follow from the others but "
                 "for %.2g, so that rigid joints bind; give places and axes to all digits",
                 system->reports[misfit.joint].name, misfit.size);
    else if (find_singular_place(s, &place))
        snprintf(
            cause, sizeof cause,
            "the mechanism %s a singular position: the constraints of joint '%s' almost follow "
            "from the others there (angle %.2g rad)",
            place.landing ? "would land at" : "is at", system->reports[place.joint].name,
            place.angle);
    if (s->newton.singular)
        return context_fail(
            s->context, status,
            "step %lld at t = %.9g s: the mechanism is at a singular position at t = %.9g s: the "
            "constraints of joint '%s' almost follow from the others there (angle %.2g rad), so "
            "that it may go on in several ways or turns sharply; other tolerances or exact lengths "
            "may help",
            (long long)s->step_count + 1, hn_simulation_time(s), s->newton.singular_time,
            system->reports[s->newton.singular_joint].name, s->newton.singular_angle);
    if (status == HN_SINGULAR_SYSTEM)
        return context_fail(
            s->context, status,
            "step %lld at t = %.9g s: the linear system is singular at body '%s', joint '%s'; %s",
            (long long)s->step_count + 1, hn_simulation_time(s), system->bodies[worst].name,
            joint_name, cause);
    if (s->def.scheme == HN_SCHEME_PROJECTED_RK)
        return context_fail(
            s->context, status, "step %lld at t = %.9g s: %s (worst at body '%s', joint '%s'); %s",
            (long long)s->step_count + 1, hn_simulation_time(s),
            s->def.projected_rk.fixed_steps ? "the projection on the constraints did not converge"
                                            : "no internal step meets the tolerances",
            system->bodies[worst].name, joint_name,
            s->def.projected_rk.fixed_steps ? "a smaller step may help"
                                            : "wider tolerances may help");
    char criterion[240];
    describe_criterion(s, criterion, sizeof criterion);
    if (s->newton.spent) return fail_at_cost(s, status, criterion, &system->bodies[spinning], spin);
    return context_fail(
        s->context, status,
        "step %lld at t = %.9g s: Newton did not converge: %s (worst at body '%s', joint '%s'%s); "
        "%s",
        (long long)s->step_count + 1, hn_simulation_time(s), criterion, system->bodies[worst].name,
        joint_name, s->scheme->may_halve && s->def.halvings_max > 0 ? ", also in halved steps" : "",
        cause);
}

hn_status simulation_run_reference(hn_simulation *r, const double *q, const double *p,
                                   const double *angles, double time, double h, int parts)
{
    const hn_system *system = r->system;
    memcpy(r->state.q, q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(r->angles, angles, (size_t)system->angle_count * sizeof(double));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->turns) r->joint_angles[e->joint] = angles[e->angle];
    }
    // v = M^-1 p; of directors without inertia by the rigid motion
    double *v = r->composition == NULL ? r->state.impetus : r->next_impetus, *own = r->momenta;
    mass_solve(system, p, v);
    mass_own_momenta(system, p, own);
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double twist[TWIST_SIZE], rigid[POSE_SIZE];
        mass_twist(system, i, q + at, own + at, twist);
        twist_to_velocity(q + at, twist, rigid);
        for (int k = 3; k < POSE_SIZE; ++k)
            if (!(mass_node(system, i)[k / 3] > 0.0)) v[at + (size_t)k] = rigid[k];
    }
    if (r->other_scheme) simulation_start_rotors(r, v);
    r->steps[0].valid = r->steps[1].valid = false;
    composed_forget(r);
    r->state.first = true;
    simulation_forget_derived(r);
    if (r->composition != NULL) {
        r->scheme->start(system, v, NULL, &r->state);
        TRY(composed_run_parts(r, h, time, parts));
        simulation_update_momenta(r);
        return HN_OK;
    }
    double part = h / parts;
    for (int k = 0; k < parts; ++k)
        TRY(halves_step(r, part, time + k * part, r->def.halvings_max - REFERENCE_HALVINGS));
    return HN_OK;
}

// The state is that of the next nominal step.
static hn_status count_step(hn_simulation *s)
{
    s->step_count++;
    s->statistics.step_count++;
    if (s->ambiguous) s->statistics.ambiguous_step_count++;
    s->ambiguous = false;
    step_cost_end(s);
    return HN_OK;
}

static hn_status one_step(hn_simulation *s)
{
    double h = s->def.step_size, time = hn_simulation_time(s);
    s->step_was_halved = s->step_had_event = false;
    s->rattling = -1;
    step_cost_begin(s);
    if (inputs_changed(s)) s->steps[s->ahead].valid = false;
    bool may_halve = s->scheme->may_halve && s->def.halvings_max > 0;
    hn_status status = HN_OK;
    if (s->def.step_tolerance > 0.0 || s->composition != NULL) {
        status = s->composition != NULL ? composed_nominal_step(s, h, time)
                                        : step_control_fill(s, h, time);
        if (status == HN_NOT_FINITE) return status;
        if (status != HN_OK) return explain_failure(s, status);
        return count_step(s);
    }
    status = s->steps[s->ahead].valid ? HN_OK : simulation_solve_or_stop(s, h, time, false);
    bool solved = status == HN_OK, events = solved && events_reached(s);
    int barrier = solved ? barriers_leapt(s, &s->steps[s->ahead]) : -1;
    if (barrier >= 0 && !may_halve) barriers_name(s, &s->steps[s->ahead], barrier);
    bool leaps = barrier >= 0 && may_halve;
    if (status == HN_CANCELLED || (!solved && !may_halve)) return explain_failure(s, status);
    bool whole = solved && !events && !leaps;
    if (apart_is_possible(s) && (!whole || long_steps_pass_unseen(s, &s->steps[s->ahead])))
        status = apart_step(s, h, time);
    else if (!solved || leaps) status = halves_fill_from_here(s, h, time);
    else if (events) status = halves_pass_events(s, h, time);
    else if (may_halve && passage_is_leapt(s, &s->steps[s->ahead]))
        status = halves_look_before_leap(s, h, time);
    else TRY(simulation_commit(s, true));
    if (status != HN_OK) return explain_failure(s, status);
    return count_step(s);
}

// A step and its entry in the ledger. Cancelled while it is measured, or not finite, it is taken back: who goes on
// measures it whole.
static hn_status noted_step(hn_simulation *s)
{
    snapshot_keep(s, s->before);
    accuracy_begin(s);
    hn_status status = one_step(s);
    if (status == HN_OK) status = ledger_note(s);
    if (status == HN_NOT_FINITE) snapshot_take_back(s, s->before);
    TRY(status);
    fine_loads_look(s);
    // finer steps without the event are no reference
    if (s->step_had_event) accuracy_note_event(s);
    else status = accuracy_note(s);
    if (status != HN_OK) {
        snapshot_take_back(s, s->before);
        return explain_failure(s, status);
    }
    accuracy_note_beams(s);
    return HN_OK;
}

hn_status hn_simulation_step(hn_simulation *s, int64_t count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, count >= 0);
    hn_status status = HN_OK;
    for (int64_t i = 0; i < count && status == HN_OK; ++i) {
        if (i > 0 && s->progress != NULL && !s->progress(s, i, count, s->progress_user))
            hn_context_cancel(s->context);
        if (s->controller != NULL) status = inputs_control(s);
        if (status != HN_OK) break;
        if (context_take_cancel(s->context)) status = explain_failure(s, HN_CANCELLED);
        else status = s->def.ledger ? noted_step(s) : one_step(s);
    }
    // the message says what it came from, if that is known
    if (status == HN_NOT_FINITE) status = not_finite_cause(s, status);
    // views show the last completed step, also after a failure
    hn_status observed = observe_subscribed(s);
    return status != HN_OK ? status : observed;
}

void hn_simulation_set_progress(hn_simulation *s, hn_progress_function function, void *user)
{
    if (s == NULL) return;
    s->progress = function;
    s->progress_user = user;
}

double hn_simulation_time(const hn_simulation *s)
{
    return s == NULL ? 0.0 : (double)s->step_count * s->def.step_size + s->time_shift;
}

int64_t hn_simulation_step_count(const hn_simulation *s)
{
    return s == NULL ? 0 : s->step_count;
}

double hn_simulation_step_size(const hn_simulation *s)
{
    return s == NULL ? 0.0 : s->def.step_size;
}

hn_scheme hn_simulation_scheme(const hn_simulation *s)
{
    return s == NULL ? HN_SCHEME_ENERGY_MOMENTUM : s->def.scheme;
}

hn_body_id hn_simulation_body(const hn_simulation *s, int index)
{
    bool known = s != NULL && index >= 0 && index < s->system->body_count;
    return known ? (hn_body_id){(uint32_t)index + 1, s->model_tag} : (hn_body_id){0};
}

hn_joint_id hn_simulation_joint(const hn_simulation *s, int index)
{
    bool known = s != NULL && index >= 0 && index < s->system->joint_count;
    return known ? (hn_joint_id){(uint32_t)index + 1, s->model_tag} : (hn_joint_id){0};
}

hn_reduction hn_simulation_reduction(const hn_simulation *s)
{
    return s == NULL ? HN_REDUCTION_REDUCED : s->def.reduction;
}

hn_statistics hn_simulation_statistics(const hn_simulation *s)
{
    return s == NULL ? (hn_statistics){0} : s->statistics;
}

hn_adaptive_statistics hn_simulation_adaptive_statistics(const hn_simulation *s)
{
    if (s != NULL && s->def.step_tolerance > 0.0)
        return (hn_adaptive_statistics){.accepted_step_count = s->control.accepted_count,
                                        .rejected_step_count = s->control.rejected_count,
                                        .last_step = s->control.last_step,
                                        .smallest_step = s->control.smallest,
                                        .largest_step = s->control.largest};
    if (s == NULL || s->solver == NULL || s->scheme->solver_statistics == NULL)
        return (hn_adaptive_statistics){0};
    return s->scheme->solver_statistics(s->solver);
}

int hn_simulation_newton_history_count(const hn_simulation *s)
{
    return s == NULL ? 0 : s->newton.history_count;
}

int hn_simulation_newton_history(const hn_simulation *s, double *norms, int capacity)
{
    if (s == NULL || norms == NULL || capacity <= 0) return 0;
    int count = s->newton.history_count < capacity ? s->newton.history_count : capacity;
    memcpy(norms, s->newton.history, (size_t)count * sizeof(double));
    return count;
}

hn_structure hn_simulation_structure(const hn_simulation *s)
{
    if (s == NULL) return (hn_structure){.loop_solution = ""};
    const hn_system *system = s->system;
    int body;
    double spin = 0.0;
    for (int i = 0; i < system->body_count; ++i)
        spin = fmax(spin, vec3_norm(vec3_load(system->twist_start + TWIST_SIZE * (size_t)i + 3)) *
                              s->def.step_size);
    if (s->step_count == 0) spin = fmax(spin, largest_spin(s, &body));
    int couplings = 0; // that do not follow from others
    for (int i = 0; i < s->hold_count; ++i) couplings += s->holds[i].coupling >= 0;
    hn_structure structure = {
        .body_count = system->body_count,
        .joint_count = system->joint_count,
        .loop_count = system->loop_count,
        .coordinate_count = system->coordinate_count,
        .constraint_count = system->constraint_count,
        .internal_constraint_count = system->internal_count,
        .constraint_rank = system->constraint_count - s->dropped_count,
        .degrees_of_freedom =
            system->coordinate_count - system->constraint_count + s->dropped_count - couplings,
        .tree_degrees_of_freedom = system->dof,
        .unknown_count = s->reduction_kind->unknown_count(system),
        .position_projection = system->position_projection,
        .velocity_projection = system->velocity_projection,
        .loop_solution = s->reduction != NULL ? s->reduction_kind->loops(s->reduction) : "",
        .spin_step = spin,
        .spin_step_limit = simulation_rotation_limit(s),
        .start_kind = s->start_kind,
    };
    memcpy(structure.singular_joints, s->singular_joints, sizeof structure.singular_joints);
    return structure;
}

hn_status hn_simulation_condition(const hn_simulation *simulation, double *condition)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, condition != NULL);
    const solved_step *step = simulation_reaction_step(s);
    *condition = 0.0;
    if (step == NULL)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "the condition number belongs to a solved step: take a step first");
    // an ordinary copy: the condition functions leave the solution where it is up to round-off
    if (s->scheme->solver_step != NULL)
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "scheme '%s' has a solver of its own: condition numbers are those of reductions",
            s->scheme->name);
    step_data data = step->data;
    step_equations equations = step->equations;
    if (step->joined) equations.multiplier_factor *= 0.5;
    return s->reduction_kind->condition(s->reduction, &equations, &data, condition);
}
