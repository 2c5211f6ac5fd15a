// SPDX-License-Identifier: MIT
// The pass over a state that finds what is observed of it, group by group, and the getters that read it.
//
// Getters and views take a const simulation or leave it as it is: what they find is kept beside the state until that
// changes, and nothing of it can be seen by a later step.
#include "simulation/simulation.h"

#include "simulation/redundancy.h"
#include "simulation/statics.h"
#include "system/angles.h"
#include "system/mass.h"

#include <string.h>

// ---- arrays -----------------------------------------------------------------------------------------

void observation_measure(const hn_system *system, series_extent *extent)
{
    *extent = (series_extent){.body_count = (size_t)system->body_count,
                              .joint_count = (size_t)system->joint_count,
                              .drive_count = (size_t)system->drive_count,
                              .output_count = (size_t)system->output_columns,
                              .coupling_count = (size_t)system->coupling_count};
    for (int k = 0; k < system->joint_count; ++k)
        extent->coordinate_count += (size_t)simulation_joint_coordinate_count(system, k);
    if (system->beam_count > 0)
        extent->beam_element_count =
            (size_t)(system->beam_first[system->beam_count] - system->beam_first[0]);
}

static hn_status prepare(hn_simulation *s)
{
    observation *o = &s->observed;
    size_t bodies = (size_t)s->system->body_count, joints = (size_t)s->system->joint_count;
    if (o->coordinate_start != NULL) return HN_OK;
    observation_measure(s->system, &o->extent);
    if (o->scratch == NULL)
        o->scratch = context_allocate(s->context, 2 * POSE_SIZE * bodies * sizeof(double));
    int *start = context_allocate(s->context, (joints + 1) * sizeof(int));
    if (start == NULL || o->scratch == NULL) {
        context_release(s->context, start);
        return HN_OUT_OF_MEMORY;
    }
    for (int k = 0; k < s->system->joint_count; ++k)
        start[k + 1] = start[k] + simulation_joint_coordinate_count(s->system, k);
    o->coordinate_start = start;
    return HN_OK;
}

// Its series one after the other.
hn_status observation_prepare(hn_simulation *s, observation_group group)
{
    observation *o = &s->observed;
    if (o->memory[group] != NULL) return HN_OK;
    TRY(prepare(s));
    arena a = {0};
    for (int pass = 0; pass < 2; ++pass) {
        for (int id = 0; id < SERIES_COUNT; ++id) {
            const series_info *info = series_get((series_id)id);
            if (info->observed != group) continue;
            // a view of nothing has an address all the same
            size_t width = series_width(info->shape, &o->extent);
            o->data[id] = arena_doubles(&a, width > 0 ? width : 1);
        }
        if (pass == 1) break;
        o->memory[group] = context_allocate(s->context, a.used);
        if (o->memory[group] == NULL) return HN_OUT_OF_MEMORY;
        a = (arena){.block = o->memory[group]};
    }
    return HN_OK;
}

void observation_forget(hn_simulation *s)
{
    memset(s->observed.known, 0, sizeof s->observed.known);
    s->observed.check_known = s->observed.totals_known = false;
}

void observation_destroy(hn_simulation *s)
{
    for (int g = 0; g < OBSERVATION_GROUP_COUNT; ++g)
        context_release(s->context, s->observed.memory[g]);
    context_release(s->context, s->observed.coordinate_start);
    context_release(s->context, s->observed.scratch);
}

// ---- bodies and beams -------------------------------------------------------------------------------

static double *numbers(const hn_simulation *s, series_id id, size_t width, int index)
{
    return s->observed.data[id] + width * (size_t)index;
}

static hn_status observe_bodies(hn_simulation *s)
{
    const hn_system *system = s->system;
    simulation_update_momenta(s);
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *q = s->state.q + POSE_SIZE * (size_t)i;
        double twist[TWIST_SIZE], wrench[TWIST_SIZE];
        int to = body->model_index;
        mass_twist(system, i, q, s->own_momenta + POSE_SIZE * (size_t)i, twist);
        memcpy(numbers(s, SERIES_BODY_POSITION, 3, to), q, 3 * sizeof(double));
        memcpy(numbers(s, SERIES_BODY_VELOCITY, 3, to), twist, 3 * sizeof(double));
        memcpy(numbers(s, SERIES_BODY_ANGULAR_VELOCITY, 3, to), twist + 3, 3 * sizeof(double));
        double *orientation = numbers(s, SERIES_BODY_ORIENTATION, 9, to);
        for (int k = 0; k < 3; ++k) {
            hn_vec3 axis = pose_direction(q, mat3_column(&body->user_axes, k));
            orientation[k] = axis.x, orientation[3 + k] = axis.y, orientation[6 + k] = axis.z;
        }
        force_to_wrench(q, s->momenta + POSE_SIZE * (size_t)i, wrench);
        hn_vec3 linear = vec3_load(wrench), angular = vec3_cross(pose_center(q), linear);
        if (body->has_directors) angular = vec3_add(angular, vec3_load(wrench + 3));
        vec3_store(linear, numbers(s, SERIES_BODY_LINEAR_MOMENTUM, 3, to));
        vec3_store(angular, numbers(s, SERIES_BODY_ANGULAR_MOMENTUM, 3, to));
    }
    return HN_OK;
}

hn_status hn_simulation_body_state(const hn_simulation *s, hn_body_id id, hn_body_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    int index = simulation_body_index(s, id);
    if (index < 0)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no body of this simulation's model has the id %u", id.index1);
    TRY(simulation_observe(s, OBSERVE_BODIES));
    int at = s->system->bodies[index].model_index;
    state->position = vec3_load(numbers(s, SERIES_BODY_POSITION, 3, at));
    memcpy(state->orientation.m, numbers(s, SERIES_BODY_ORIENTATION, 9, at),
           sizeof state->orientation.m);
    state->velocity = vec3_load(numbers(s, SERIES_BODY_VELOCITY, 3, at));
    state->angular_velocity = vec3_load(numbers(s, SERIES_BODY_ANGULAR_VELOCITY, 3, at));
    state->linear_momentum = vec3_load(numbers(s, SERIES_BODY_LINEAR_MOMENTUM, 3, at));
    state->angular_momentum = vec3_load(numbers(s, SERIES_BODY_ANGULAR_MOMENTUM, 3, at));
    return HN_OK;
}

static hn_status observe_beams(hn_simulation *s)
{
    const hn_system *system = s->system;
    if (system->beam_count == 0) return HN_OK;
    int first = system->beam_first[0], count = system->beam_first[system->beam_count] - first;
    for (int i = 0; i < count; ++i) {
        const element *e = &system->elements[first + i];
        const double *a = system_pose(s->state.q, e->a), *b = system_pose(s->state.q, e->b);
        double *strain = numbers(s, SERIES_BEAM_STRAIN, 6, i),
               *resultant = numbers(s, SERIES_BEAM_RESULTANT, 6, i);
        if (e->points == NULL) beam_resultants(e->beam, a, b, strain, resultant);
        else beam_quadratic_resultants(e, a, b, system_third(e, s->state.q), strain, resultant);
    }
    return HN_OK;
}

static hn_status observe_drives(hn_simulation *s)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        hn_drive_state state;
        TRY(hn_simulation_drive(s, i, &state));
        *numbers(s, SERIES_DRIVE_COORDINATE, 1, i) = state.coordinate;
        *numbers(s, SERIES_DRIVE_EFFORT, 1, i) = state.effort;
        *numbers(s, SERIES_DRIVE_POWER, 1, i) = state.power;
        *numbers(s, SERIES_DRIVE_WORK, 1, i) = state.work;
    }
    return HN_OK;
}

hn_status hn_simulation_drive(const hn_simulation *s, int index, hn_drive_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    if (index < 0 || index >= system->drive_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "drive %d of %d; expected 0 to %d",
                            index, system->drive_count, system->drive_count - 1);
    const element *e = &system->elements[system->drive_first + index];
    const double *slots = s->angles + e->angle;
    *state = (hn_drive_state){.coordinate = e->law->sign * slots[DRIVE_COORDINATE],
                              .effort = slots[DRIVE_EFFORT],
                              .power = slots[DRIVE_POWER],
                              .work = slots[DRIVE_WORK]};
    return HN_OK;
}

// By how much a coupling is off, along its first coordinate; `relative`: against its largest term and the joint's size.
static double coupling_gap(const hn_simulation *s, int index, bool relative)
{
    const system_coupling *c = &s->system->couplings[index];
    const element *e = &s->system->elements[c->first];
    double gap = -c->start, scale = e->law->unit;
    for (int k = 0; k < c->term_count; ++k) {
        double term = c->factors[k] * e[k].law->sign * s->angles[e[k].angle];
        gap += term;
        scale = fmax(scale, fabs(term));
    }
    return relative ? fabs(gap) / scale : gap;
}

static hn_status observe_couplings(hn_simulation *s)
{
    for (int i = 0; i < s->system->coupling_count; ++i) {
        hn_coupling_state state;
        TRY(hn_simulation_coupling(s, i, &state));
        *numbers(s, SERIES_COUPLING_EFFORT, 1, i) = state.effort;
        *numbers(s, SERIES_COUPLING_GAP, 1, i) = state.gap;
    }
    return HN_OK;
}

hn_status hn_simulation_coupling(const hn_simulation *s, int index, hn_coupling_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    if (index < 0 || index >= system->coupling_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "coupling %d of %d; expected 0 to %d",
                            index, system->coupling_count, system->coupling_count - 1);
    const element *e = &system->elements[system->couplings[index].first];
    *state = (hn_coupling_state){.effort = s->angles[e->angle + DRIVE_EFFORT],
                                 .gap = coupling_gap(s, index, false)};
    return HN_OK;
}

hn_beam_id hn_simulation_beam(const hn_simulation *s, int index)
{
    bool known = s != NULL && index >= 0 && index < s->system->beam_count;
    return known ? (hn_beam_id){(uint32_t)index + 1, s->model_tag} : (hn_beam_id){0};
}

int hn_simulation_beam_element_count(const hn_simulation *s, int index)
{
    if (s == NULL || index < 0 || index >= s->system->beam_count) return 0;
    return s->system->beam_first[index + 1] - s->system->beam_first[index];
}

hn_status hn_simulation_beam_element(const hn_simulation *s, hn_beam_id beam, int index,
                                     hn_beam_element_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    if (beam.index1 == 0 || beam.model != s->model_tag ||
        beam.index1 > (uint32_t)system->beam_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no beam of this simulation has the id %u", beam.index1);
    int first = system->beam_first[beam.index1 - 1],
        count = system->beam_first[beam.index1] - first;
    if (index < 0 || index >= count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "the beam has no element %d; expected one of 0 to %d", index,
                            count - 1);
    TRY(simulation_observe(s, OBSERVE_BEAMS));
    int at = first - system->beam_first[0] + index;
    const element *e = &system->elements[first + index];
    memcpy(state->strain, numbers(s, SERIES_BEAM_STRAIN, 6, at), sizeof state->strain);
    memcpy(state->resultant, numbers(s, SERIES_BEAM_RESULTANT, 6, at), sizeof state->resultant);
    state->angle = beam_bend(e->beam, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b));
    return HN_OK;
}

hn_status hn_simulation_beam_tension(const hn_simulation *s, hn_beam_tension *tension)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, tension != NULL);
    *tension = statics_largest_tension(s);
    return HN_OK;
}

// ---- joints -----------------------------------------------------------------------------------------

// Of a body that was observed; the ground rests.
static void observed_twist(const hn_simulation *s, int body, double *twist)
{
    memset(twist, 0, TWIST_SIZE * sizeof(double));
    if (body < 0) return;
    int at = s->system->bodies[body].model_index;
    memcpy(twist, numbers(s, SERIES_BODY_VELOCITY, 3, at), 3 * sizeof(double));
    memcpy(twist + 3, numbers(s, SERIES_BODY_ANGULAR_VELOCITY, 3, at), 3 * sizeof(double));
}

static hn_status observe_joints(hn_simulation *s)
{
    const hn_system *system = s->system;
    TRY(simulation_observe(s, OBSERVE_BODIES));
    simulation_update_angles(s);
    for (int k = 0; k < system->joint_count; ++k) {
        double coordinates[HN_JOINT_COORDINATES_MAX], rates[HN_JOINT_COORDINATES_MAX];
        double twist_a[TWIST_SIZE], twist_b[TWIST_SIZE];
        const joint *rows = &system->reports[k].rows;
        int start = s->observed.coordinate_start[k],
            count = s->observed.coordinate_start[k + 1] - start;
        if (count == 0) continue;
        int place = joint_angle_place(rows->kind);
        // an angle that counts turns is known
        if (count > 1 || place != 0) simulation_joint_coordinates(s, k, coordinates);
        if (place >= 0) coordinates[place] = s->joint_angles[k];
        if (system->reports[k].pair >= 0)
            memcpy(coordinates, s->joint_angles + system->reports[k].pair, 2 * sizeof(double));
        observed_twist(s, rows->parent, twist_a);
        observed_twist(s, rows->child, twist_b);
        simulation_joint_rates(s, k, twist_a, twist_b, rates);
        memcpy(numbers(s, SERIES_JOINT_COORDINATE, 1, start), coordinates,
               (size_t)count * sizeof(double));
        memcpy(numbers(s, SERIES_JOINT_RATE, 1, start), rates, (size_t)count * sizeof(double));
    }
    return HN_OK;
}

static hn_status observe_accelerations(hn_simulation *s)
{
    double *const *to = s->observed.data;
    if (s->standing) {
        size_t bodies = (size_t)s->system->body_count;
        memset(to[SERIES_BODY_ACCELERATION], 0, 3 * bodies * sizeof(double));
        memset(to[SERIES_BODY_ANGULAR_ACCELERATION], 0, 3 * bodies * sizeof(double));
        memset(to[SERIES_JOINT_ACCELERATION], 0,
               s->observed.extent.coordinate_count * sizeof(double));
        return HN_OK;
    }
    TRY(hn_simulation_accelerations(s, to[SERIES_BODY_ACCELERATION],
                                    to[SERIES_BODY_ANGULAR_ACCELERATION], s->system->body_count));
    return simulation_joint_accelerations(s, to[SERIES_BODY_ACCELERATION],
                                          to[SERIES_BODY_ANGULAR_ACCELERATION],
                                          to[SERIES_JOINT_ACCELERATION]);
}

static hn_status observe_reactions(hn_simulation *s)
{
    const solved_step *step = simulation_reaction_step(s);
    double *valid = s->observed.data[SERIES_JOINT_REACTION_VALID];
    *valid = step != NULL && s->system->joint_count > 0 ? 1.0 : 0.0;
    *s->observed.data[SERIES_JOINT_REACTION_TIME] =
        *valid > 0.0 ? simulation_reaction_time(s, step) : hn_simulation_time(s);
    for (int k = 0; k < s->system->joint_count; ++k) {
        joint_reaction r = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (step != NULL) TRY(simulation_reaction(s, step, k, &r));
        vec3_store(r.force, numbers(s, SERIES_JOINT_REACTION_FORCE, 3, k));
        vec3_store(r.moment, numbers(s, SERIES_JOINT_REACTION_TORQUE, 3, k));
    }
    return HN_OK;
}

// Which components are unique hardly ever changes, and costs half a step to find: it is looked at in the first steps
// and in every so many after them.
static bool verdicts_are_due(const hn_simulation *s)
{
    enum { FIRST_STEPS = 16, INTERVAL = 256 };
    const observation *o = &s->observed;
    if (!o->verdicts_known || s->step_count < FIRST_STEPS) return true;
    return s->step_count / INTERVAL != o->verdicts_step / INTERVAL;
}

static hn_status observe_verdicts(hn_simulation *s)
{
    if (!verdicts_are_due(s)) return HN_OK;
    for (int k = 0; k < s->system->joint_count; ++k) {
        hn_reaction_verdict verdict;
        TRY(hn_simulation_reaction_verdict(s, hn_simulation_joint(s, k), &verdict));
        double *unique = numbers(s, SERIES_JOINT_REACTION_UNIQUE, 6, k);
        for (int c = 0; c < 3; ++c) {
            unique[c] = verdict.force_component[c] ? 1.0 : 0.0;
            unique[3 + c] = verdict.torque_component[c] ? 1.0 : 0.0;
        }
    }
    s->observed.verdicts_known = true;
    s->observed.verdicts_step = s->step_count;
    return HN_OK;
}

hn_status hn_simulation_joint_state(const hn_simulation *s, hn_joint_id id, hn_joint_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    if (id.index1 == 0 || id.model != s->model_tag || id.index1 > (uint32_t)s->system->joint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no joint of this simulation's model has the id %u", id.index1);
    int index = (int)id.index1 - 1;
    *state = (hn_joint_state){.reaction_time = hn_simulation_time(s)};
    TRY(simulation_observe(s, OBSERVE_JOINTS));
    int start = s->observed.coordinate_start[index];
    state->coordinate_count = s->observed.coordinate_start[index + 1] - start;
    size_t size = (size_t)state->coordinate_count * sizeof(double);
    memcpy(state->coordinates, numbers(s, SERIES_JOINT_COORDINATE, 1, start), size);
    memcpy(state->rates, numbers(s, SERIES_JOINT_RATE, 1, start), size);
    TRY(simulation_observe(s, OBSERVE_REACTIONS));
    state->reaction_time = *s->observed.data[SERIES_JOINT_REACTION_TIME];
    state->reaction_valid = *s->observed.data[SERIES_JOINT_REACTION_VALID] > 0.0;
    state->reaction_unique = state->reaction_valid;
    state->reaction_force = vec3_load(numbers(s, SERIES_JOINT_REACTION_FORCE, 3, index));
    state->reaction_torque = vec3_load(numbers(s, SERIES_JOINT_REACTION_TORQUE, 3, index));
    if (state->reaction_valid && s->system->cut_count > 0 && s->dropped_count > 0) {
        TRY(redundancy_update((hn_simulation *)s));
        state->reaction_unique = !s->redundancy.shared[index];
    }
    return HN_OK;
}

// ---- energies and momenta ---------------------------------------------------------------------------

// E_d (LMO 52): difference quotients and the potential at the midpoint
static double discrete_energy(const hn_system *system, const solved_step *last)
{
    double h = last->equations.step_size,
           sum = mass_kinetic_energy(system, last->data.delta) / (h * h);
    for (int i = 0; i < system->body_count; ++i) {
        hn_vec3 middle = vec3_mean(pose_center(system_pose(last->data.q_start, i)),
                                   pose_center(system_pose(last->data.q, i)));
        sum -= mass_weight(system, i) * vec3_dot(system->gravity, middle);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        double a[POSE_SIZE], b[POSE_SIZE], third[POSE_SIZE];
        int other = e->points == NULL ? GROUND : e->third;
        for (int k = 0; k < POSE_SIZE; ++k) {
            third[k] = 0.5 * (system_pose(last->data.q_start, other)[k] +
                              system_pose(last->data.q, other)[k]);
            a[k] = 0.5 *
                   (system_pose(last->data.q_start, e->a)[k] + system_pose(last->data.q, e->a)[k]);
            b[k] = 0.5 *
                   (system_pose(last->data.q_start, e->b)[k] + system_pose(last->data.q, e->b)[k]);
        }
        double angle = e->angle >= 0 ? element_angle(e, a, b, last->angle_start[e->angle]) : 0.0;
        sum += element_type_of(e->kind)->potential(e, a, b, third, angle);
    }
    return sum;
}

const state_totals *observe_state_totals(const hn_simulation *simulation)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
    if (s->observed.totals_known) return &s->observed.totals;
    simulation_update_momenta(s);
    totals_find(s, &s->observed.totals);
    s->observed.totals_known = true;
    return &s->observed.totals;
}

bool observe_finite(const hn_simulation *s)
{
    const state_totals *t = observe_state_totals(s);
    bool finite = isfinite(t->kinetic + t->potential) && isfinite(t->linear_size) &&
                  isfinite(t->angular_size) && isfinite(t->distance);
    for (int k = 0; k < s->system->angle_count; ++k) finite &= (bool)isfinite(s->angles[k]);
    return finite;
}

static hn_status observe_totals(hn_simulation *s)
{
    double **to = s->observed.data;
    const state_totals *t = observe_state_totals(s);
    double kinetic = t->kinetic, potential = t->potential;
    *to[SERIES_KINETIC] = kinetic;
    *to[SERIES_POTENTIAL] = potential;
    *to[SERIES_EXTERNAL_WORK] = s->work;
    *to[SERIES_ENERGY] = *to[SERIES_DISCRETE_ENERGY] = kinetic + potential;
    vec3_store(t->linear, to[SERIES_LINEAR_MOMENTUM]);
    vec3_store(t->angular, to[SERIES_ANGULAR_MOMENTUM]);
    if (!isfinite(kinetic + potential - s->work))
        return context_fail(
            s->context, HN_NOT_FINITE,
            "step %lld at t = %.9g s: the energy is not finite (kinetic %g J, potential "
            "%g J, work %g J)",
            (long long)s->step_count, hn_simulation_time(s), kinetic, potential, s->work);
    const solved_step *last = &s->steps[1 - s->ahead];
    if (s->scheme->look_ahead && last->valid)
        *to[SERIES_DISCRETE_ENERGY] = discrete_energy(s->system, last);
    return HN_OK;
}

hn_status hn_simulation_energy(const hn_simulation *s, hn_energy *energy)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, energy != NULL);
    TRY(simulation_observe(s, OBSERVE_TOTALS));
    energy->kinetic = *s->observed.data[SERIES_KINETIC];
    energy->potential = *s->observed.data[SERIES_POTENTIAL];
    energy->external_work = *s->observed.data[SERIES_EXTERNAL_WORK];
    energy->discrete_energy = *s->observed.data[SERIES_DISCRETE_ENERGY];
    return HN_OK;
}

hn_status hn_simulation_momentum(const hn_simulation *s, hn_vec3 *linear, hn_vec3 *angular)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, linear != NULL && angular != NULL);
    // momenta are there also where the energy has overflowed
    hn_status status = simulation_observe(s, OBSERVE_TOTALS);
    if (status != HN_OK && status != HN_NOT_FINITE) return status;
    *linear = vec3_load(s->observed.data[SERIES_LINEAR_MOMENTUM]);
    *angular = vec3_load(s->observed.data[SERIES_ANGULAR_MOMENTUM]);
    return HN_OK;
}

// ---- constraints ------------------------------------------------------------------------------------

const constraint_check *observe_check(const hn_simulation *s)
{
    observation *o = &((hn_simulation *)s)->observed;
    if (o->check_known) return &o->check;
    o->check = system_check_constraints(s->system, s->state.q);
    for (int i = 0; i < s->system->coupling_count; ++i)
        o->check.residual = fmax(o->check.residual, coupling_gap(s, i, true));
    o->check_known = true;
    return &o->check;
}

static hn_status observe_constraints(hn_simulation *s)
{
    const constraint_check *check = observe_check(s);
    *s->observed.data[SERIES_CONSTRAINT_RESIDUAL] = check->residual;
    *s->observed.data[SERIES_JOINT_OPENING] = check->opening;
    *s->observed.data[SERIES_JOINT_MISALIGNMENT] = check->misalignment;
    *s->observed.data[SERIES_ORTHONORMALITY] = check->orthonormality;
    return HN_OK;
}

static hn_status observe_hidden(hn_simulation *s)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double *middle = s->observed.scratch, *velocity = middle + count;
    const solved_step *last = &s->steps[1 - s->ahead];
    *s->observed.data[SERIES_HIDDEN_VELOCITY] = 0.0;
    if (last->valid) {
        // f_d (LMO 45), of changes in the step: rates are linear in them
        const double *start = last->data.q_start, *end = last->data.q;
        for (size_t k = 0; k < count; ++k) middle[k] = 0.5 * (start[k] + end[k]);
        *s->observed.data[SERIES_HIDDEN_VELOCITY] =
            system_constraint_rates(system, middle, last->data.delta, false) /
            last->equations.step_size;
    }
    // h_d (LMO 46)
    simulation_update_momenta(s);
    mass_solve(system, s->momenta, velocity);
    *s->observed.data[SERIES_HIDDEN_MOMENTUM] =
        system_constraint_rates(system, s->state.q, velocity, true);
    return HN_OK;
}

static hn_status observe_projected(hn_simulation *s)
{
    const hn_system *system = s->system;
    double *projected = s->observed.scratch,
           *velocity = projected + POSE_SIZE * (size_t)system->body_count;
    simulation_update_momenta(s);
    TRY(simulation_project_momenta(s, s->momenta, projected, NULL));
    mass_solve(system, projected, velocity);
    *s->observed.data[SERIES_HIDDEN_PROJECTED] =
        system_constraint_rates(system, s->state.q, velocity, true);
    return HN_OK;
}

hn_status hn_simulation_constraints(const hn_simulation *s, hn_constraint_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    TRY(simulation_observe(s, OBSERVE_CONSTRAINTS));
    TRY(simulation_observe(s, OBSERVE_HIDDEN));
    double *const *from = s->observed.data;
    *state = (hn_constraint_state){
        .residual = *from[SERIES_CONSTRAINT_RESIDUAL],
        .joint_opening = *from[SERIES_JOINT_OPENING],
        .joint_misalignment = *from[SERIES_JOINT_MISALIGNMENT],
        .orthonormality = *from[SERIES_ORTHONORMALITY],
        .hidden_velocity = *from[SERIES_HIDDEN_VELOCITY],
        .hidden_momentum = *from[SERIES_HIDDEN_MOMENTUM],
    };
    TRY(simulation_observe(s, OBSERVE_PROJECTED));
    state->hidden_projected = *from[SERIES_HIDDEN_PROJECTED];
    return HN_OK;
}

// ---- the run ----------------------------------------------------------------------------------------

static hn_status observe_run(hn_simulation *s)
{
    double **to = s->observed.data;
    const hn_statistics *statistics = &s->statistics;
    const double chosen = hn_simulation_adaptive_statistics(s).last_step;
    *to[SERIES_TIME] = hn_simulation_time(s);
    *to[SERIES_STEP] = (double)s->step_count;
    *to[SERIES_NEWTON_ITERATIONS] = (double)statistics->last_iteration_count;
    *to[SERIES_NEWTON_ITERATIONS_TOTAL] = (double)statistics->newton_iteration_count;
    *to[SERIES_NEWTON_RESIDUAL] = statistics->last_residual;
    *to[SERIES_NEWTON_INCREMENT] = statistics->last_increment;
    *to[SERIES_HALVED_STEPS] = (double)statistics->halved_step_count;
    *to[SERIES_STEP_SIZE] = chosen > 0.0 ? chosen : s->def.step_size;
    return HN_OK;
}

static hn_status observe_outputs(hn_simulation *s)
{
    return outputs_find(s, s->observed.data[SERIES_OUTPUT_VALUE]);
}

// ---- the pass ---------------------------------------------------------------------------------------

hn_status simulation_observe(const hn_simulation *simulation, observation_group group)
{
    static hn_status (*const passes[OBSERVATION_GROUP_COUNT])(hn_simulation *) = {
        [OBSERVE_RUN] = observe_run,
        [OBSERVE_BODIES] = observe_bodies,
        [OBSERVE_JOINTS] = observe_joints,
        [OBSERVE_REACTIONS] = observe_reactions,
        [OBSERVE_VERDICTS] = observe_verdicts,
        [OBSERVE_BEAMS] = observe_beams,
        [OBSERVE_DRIVES] = observe_drives,
        [OBSERVE_COUPLINGS] = observe_couplings,
        [OBSERVE_OUTPUTS] = observe_outputs,
        [OBSERVE_TOTALS] = observe_totals,
        [OBSERVE_CONSTRAINTS] = observe_constraints,
        [OBSERVE_HIDDEN] = observe_hidden,
        [OBSERVE_PROJECTED] = observe_projected,
        [OBSERVE_ACCELERATIONS] = observe_accelerations,
    };
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
    if (s->observed.known[group]) return HN_OK;
    TRY(observation_prepare(s, group));
    TRY(passes[group](s));
    s->observed.known[group] = true;
    return HN_OK;
}

hn_status observe_subscribed(const hn_simulation *s)
{
    hn_status status = HN_OK;
    for (int g = 0; g < OBSERVATION_GROUP_COUNT; ++g) {
        if (!s->observed.subscribed[g]) continue;
        hn_status one = simulation_observe(s, (observation_group)g);
        if (status == HN_OK) status = one;
    }
    return status;
}
