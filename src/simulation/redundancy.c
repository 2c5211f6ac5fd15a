// SPDX-License-Identifier: MIT
// Redundant constraints of the current state, found when first asked for.
#include "simulation/redundancy.h"

#include "base/array.h"
#include "system/mass.h"

#include <stdio.h>
#include <string.h>

void redundancy_destroy(hn_simulation *s)
{
    self_stress_destroy(s->redundancy.solver);
    context_release(s->context, s->redundancy.shared);
    context_release(s->context, s->redundancy.multipliers);
}

void redundancy_invalidate(hn_simulation *s)
{
    s->redundancy.shared_valid = s->redundancy.multipliers_valid = false;
    s->redundancy.probes_valid = false;
}

static hn_status create_solver(hn_simulation *s)
{
    redundancy_record *r = &s->redundancy;
    if (r->solver != NULL) return HN_OK;
    size_t joints = (size_t)s->system->joint_count, rows = (size_t)s->system->constraint_count;
    if (r->shared == NULL) r->shared = context_allocate(s->context, (joints + 1) * sizeof(bool));
    if (r->multipliers == NULL)
        r->multipliers = context_allocate(s->context, (rows + 1) * sizeof(double));
    if (r->shared == NULL || r->multipliers == NULL) return HN_OUT_OF_MEMORY;
    return self_stress_create(s->system, &r->solver);
}

// Factors that failed say nothing themselves.
static hn_status explained(const hn_simulation *s, hn_status status)
{
    return status != HN_SINGULAR_SYSTEM
               ? status
               : context_fail(s->context, status,
                              "the self-stresses of the loops cannot be found at t = %.9g s",
                              hn_simulation_time(s));
}

hn_status redundancy_update(hn_simulation *s)
{
    redundancy_record *r = &s->redundancy;
    if (r->shared_valid) return HN_OK;
    TRY(create_solver(s));
    TRY(explained(s, self_stress_find(r->solver, s->state.q, r->shared)));
    r->shared_valid = true;
    return HN_OK;
}

hn_status redundancy_minimise(hn_simulation *s, const solved_step *step, double *multipliers)
{
    TRY(create_solver(s));
    const hn_system *system = s->system;
    int freedom = system->coordinate_count - system->constraint_count + s->dropped_count;
    const force_place place = {step->data.q_start, step->data.q, step->equations.weight,
                               freedom == 1};
    return explained(s, self_stress_remove(s->redundancy.solver, &place, multipliers));
}

hn_status redundancy_find_misfit(hn_simulation *s, loop_misfit *misfit)
{
    *misfit = (loop_misfit){.joint = -1};
    if (s->system->cut_count == 0) return HN_OK;
    TRY(create_solver(s));
    return explained(s, self_stress_misfit(s->redundancy.solver, s->system->q_start, misfit));
}

hn_status redundancy_check_start(hn_simulation *s)
{
    const double LEAVES = 1e-6; // of the centripetal accelerations
    loop_departure departure;
    if (s->system->cut_count == 0 || s->dropped_count == 0) return HN_OK;
    TRY(create_solver(s));
    TRY(explained(s, self_stress_departure(s->redundancy.solver, s->system->q_start,
                                           s->system->twist_start, &departure)));
    if (departure.size <= LEAVES) return HN_OK;
    return context_fail(
        s->context, HN_INVALID_MODEL,
        "joint '%s': the start is a singular position, from where its loop may go on in several "
        "ways, and the start velocities fit none of them; give the rates of all its joints",
        s->system->reports[departure.joint].name);
}

// A motion that the joints allow for an instant, drawn at random, as twists in s->wrench. False: there is none.
static bool draw_motion(hn_simulation *s, uint64_t *state)
{
    const double STILL = 1e-6; // of what was drawn
    const hn_system *system = s->system;
    double drawn = 0.0, left = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        double twist[TWIST_SIZE];
        array_probe(state, twist, TWIST_SIZE);
        for (int k = 0; k < 3; ++k) twist[k] *= system->unit_length[i];
        for (int k = 0; k < TWIST_SIZE; ++k)
            drawn = fmax(drawn, fabs(twist[k]) / (k < 3 ? system->unit_length[i] : 1.0));
        twist_to_velocity(s->state.q + POSE_SIZE * (size_t)i, twist,
                          s->next_impetus + POSE_SIZE * (size_t)i);
    }
    mass_apply(system, 1.0, s->next_impetus, s->momenta);
    if (saddle_project(s->projection, s->state.q, s->momenta, s->wrench) != HN_OK) return false;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < TWIST_SIZE; ++k)
            left = fmax(left, fabs(s->wrench[TWIST_SIZE * i + k]) /
                                  (k < 3 ? system->unit_length[i] : 1.0));
    return left > STILL * drawn;
}

static void name_joints(hn_simulation *s, const bool *joints)
{
    size_t used = 0, size = sizeof s->singular_joints;
    for (int k = 0; k < s->system->joint_count; ++k) {
        if (!joints[k]) continue;
        const char *name = s->system->reports[k].name;
        if (used + strlen(name) + 6 > size) {
            snprintf(s->singular_joints + used, size - used, " ...");
            return;
        }
        used += (size_t)snprintf(s->singular_joints + used, size - used, "%s%s",
                                 used > 0 ? ", " : "", name);
    }
}

// Second-order analysis: with constant twists v the rows on loops leave their manifold by accelerations that no further
// accelerations can undo when they have a part in the self-stresses. In a regular position, redundant or not, there is
// none for any v. Of both signs, some motions can go on; of one, none can.
hn_status redundancy_find_singular_start(hn_simulation *s)
{
    enum { PROBES = 2, MORE_PROBES = 12 };
    const double LEAVES = 1e-6,
                 SHARE = 1e-2; // of the centripetal accelerations; of the largest row
    const hn_system *system = s->system;
    if (system->cut_count == 0 || s->dropped_count == 0 ||
        system->coordinate_count - system->constraint_count + s->dropped_count == 0)
        return HN_OK;
    TRY(create_solver(s));
    uint64_t state = 5;
    double *first = NULL;
    bool *joints = s->redundancy.shared, both = false;
    int found = 0;
    hn_status status = HN_OK;
    for (int k = 0; k < (found > 0 ? MORE_PROBES : PROBES) && status == HN_OK; ++k) {
        loop_departure departure;
        if (!draw_motion(s, &state)) break;
        if (self_stress_departure(s->redundancy.solver, s->state.q, s->wrench, &departure) != HN_OK)
            break;
        if (departure.size <= LEAVES) continue;
        size_t rows = (size_t)departure.row_count;
        double largest = 0.0, common = 0.0;
        if (first == NULL) {
            first = context_allocate(s->context, (rows + 1) * sizeof(double));
            if (first == NULL) {
                status = HN_OUT_OF_MEMORY;
                break;
            }
            memcpy(first, departure.rows, rows * sizeof(double));
            memset(joints, 0, (size_t)system->joint_count * sizeof(bool));
        }
        for (size_t r = 0; r < rows; ++r) {
            largest = fmax(largest, fabs(departure.rows[r]));
            common += first[r] * departure.rows[r];
        }
        for (size_t r = 0; r < rows; ++r)
            if (fabs(departure.rows[r]) > SHARE * largest)
                joints[self_stress_joint_of_row(s->redundancy.solver, (int)r)] = true;
        both |= common < 0.0;
        found++;
    }
    memset(s->wrench, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    context_release(s->context, first);
    if (status != HN_OK || found == 0) return status;
    s->start_kind = both ? HN_START_BRANCHES : HN_START_IMMOBILE;
    name_joints(s, joints);
    s->redundancy.shared_valid = false;
    if (s->def.scheme != HN_SCHEME_PROJECTED_RK) return HN_OK;
    return context_fail(
        s->context, HN_SINGULAR_SYSTEM,
        "projected-rk cannot start in a singular position: the constraints of joints "
        "%s lose rank there and accelerations are not determined; start from another "
        "position, or take energy-momentum",
        s->singular_joints);
}

hn_status hn_simulation_redundancy(const hn_simulation *simulation, hn_redundancy *redundancy,
                                   bool *joint_unique, int joint_count)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, redundancy != NULL);
    const hn_system *system = s->system;
    *redundancy = (hn_redundancy){.misfit_joint = -1};
    if (joint_unique != NULL && joint_count != system->joint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d joints, not %d",
                            system->joint_count, joint_count);
    for (int k = 0; joint_unique != NULL && k < joint_count; ++k) joint_unique[k] = true;
    if (system->cut_count == 0) return HN_OK;
    loop_misfit misfit;
    TRY(redundancy_find_misfit(s, &misfit));
    redundancy->misfit = misfit.size;
    redundancy->misfit_joint = misfit.joint;
    TRY(redundancy_update(s));
    TRY(explained(
        s, self_stress_count(s->redundancy.solver, s->state.q, &redundancy->redundant_count)));
    for (int k = 0; joint_unique != NULL && k < joint_count; ++k)
        joint_unique[k] = !s->redundancy.shared[k];
    return HN_OK;
}

static hn_vec3 joint_axis(const hn_simulation *s, const system_joint *report, int k)
{
    const joint *j = &report->rows;
    return report->rows_swapped ? pose_direction(system_pose(s->state.q, j->child), j->b[k])
                                : pose_direction(system_pose(s->state.q, j->parent), j->a[k]);
}

// Is the part along a unit vector left as it is by the projector?
static bool is_unique(const hn_mat3 *projector, hn_vec3 unit)
{
    const double SHARED = 1e-7;
    return vec3_norm(vec3_subtract(unit, mat3_apply(projector, unit))) <= SHARED;
}

hn_status hn_simulation_reaction_verdict(const hn_simulation *simulation, hn_joint_id id,
                                         hn_reaction_verdict *verdict)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, verdict != NULL);
    const hn_system *system = s->system;
    if (id.index1 == 0 || id.model != s->model_tag || id.index1 > (uint32_t)system->joint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no joint of this simulation's model has the id %u", id.index1);
    int index = (int)id.index1 - 1;
    const hn_mat3 all = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    *verdict = (hn_reaction_verdict){.force_unique = all, .torque_unique = all};
    if (system->cut_count > 0 && s->dropped_count > 0) {
        stress_span span;
        TRY(create_solver(s));
        if (!s->redundancy.probes_valid)
            TRY(explained(s, self_stress_probe(s->redundancy.solver, s->state.q)));
        s->redundancy.probes_valid = true;
        self_stress_span(s->redundancy.solver, s->state.q, index, &span);
        verdict->shared_count = span.count;
        verdict->shared_force_count = span.force_count;
        verdict->shared_torque_count = span.torque_count;
        for (int i = 0; i < span.count; ++i) {
            verdict->shared_force[i] = vec3_load(span.force[i]);
            verdict->shared_torque[i] = vec3_scale(span.length, vec3_load(span.torque[i]));
        }
        memcpy(verdict->force_unique.m, span.force_unique, sizeof span.force_unique);
        memcpy(verdict->torque_unique.m, span.torque_unique, sizeof span.torque_unique);
    }
    for (int k = 0; k < 3; ++k) {
        verdict->axes[k] = joint_axis(s, &system->reports[index], k);
        verdict->force_component[k] = is_unique(&verdict->force_unique, verdict->axes[k]);
        verdict->torque_component[k] = is_unique(&verdict->torque_unique, verdict->axes[k]);
    }
    return HN_OK;
}
