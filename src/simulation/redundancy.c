// SPDX-License-Identifier: MIT
// Redundant constraints of the current state, found when first asked for.
#include "simulation/redundancy.h"

void redundancy_destroy(hn_simulation *s)
{
    self_stress_destroy(s->redundancy.solver);
    context_release(s->context, s->redundancy.shared);
    context_release(s->context, s->redundancy.multipliers);
}

void redundancy_invalidate(hn_simulation *s)
{
    s->redundancy.shared_valid = s->redundancy.multipliers_valid = false;
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

hn_status hn_simulation_redundancy(hn_simulation *s, hn_redundancy *redundancy, bool *joint_unique,
                                   int joint_count)
{
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
