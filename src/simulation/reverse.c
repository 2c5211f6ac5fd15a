// SPDX-License-Identifier: MIT
// The way back: velocities turned round.
#include "simulation/composed.h"
#include "simulation/simulation.h"
#include "system/mass.h"

#include <string.h>

static hn_status check_reversible(const hn_simulation *s)
{
    const hn_system *system = s->system;
    if (!s->scheme->symmetric)
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "scheme '%s' is not time-symmetric: it has no way back; energy-momentum, "
            "variational, rattle, ggl-energy-momentum and convected have",
            s->scheme->name);
    if (s->def.step_tolerance > 0.0)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "with a step_tolerance the way back takes other steps; without one the "
                            "scheme is time-symmetric");
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        const char *body = system->bodies[element_body(e)].name;
        if (e->damping != 0.0)
            return context_fail(s->context, HN_INVALID_ARGUMENT,
                                "a damper acts on body '%s': what it takes does not come back",
                                body);
        if (e->law != NULL &&
            ((e->law->kind != HN_DRIVE_SPRING && e->law->kind != HN_DRIVE_STOP) ||
             e->law->contact_damping > 0.0 || e->law->damper != NULL || e->law->armature > 0.0 ||
             (e->law->rigid && e->law->restitution < 1.0)))
            return context_fail(s->context, HN_INVALID_ARGUMENT,
                                "drive '%s' acts on body '%s': it has no way back", e->name, body);
        bool load = element_type_of(e->kind)->from_outside;
        if (!load && e->profile != NULL && e->profile->kind != HN_PROFILE_CONSTANT)
            return context_fail(s->context, HN_INVALID_ARGUMENT,
                                "element '%s' on body '%s' changes in time: it has no way back",
                                e->name, body);
    }
    return HN_OK;
}

void simulation_set_load_times(hn_simulation *s)
{
    for (int i = 0; i < s->system->element_count; ++i) {
        s->system->elements[i].reversed = s->load_times.reversed;
        s->system->elements[i].time_shift = s->load_times.shift;
    }
}

// A load that acts at t_0 + t has acted at t_0 - t: f(shift + t) becomes f(shift + 2 t_0 - t).
static void reverse_loads(hn_simulation *s)
{
    double twice = 2.0 * hn_simulation_time(s);
    s->load_times.shift += s->load_times.reversed ? -twice : twice;
    s->load_times.reversed = !s->load_times.reversed;
    simulation_set_load_times(s);
}

hn_status hn_simulation_reverse(hn_simulation *s)
{
    REQUIRE(NULL, s != NULL);
    TRY(check_reversible(s));
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    simulation_update_momenta(s);
    double *v = context_allocate(s->context, 2 * count * sizeof(double));
    if (v == NULL) return HN_OUT_OF_MEMORY;
    double *none = v + count; // accelerations: no symmetric scheme keeps them
    // where momenta hold a part of the constraint forces, directors without inertia may have some: what a velocity can
    // carry is their projection, and the first multipliers of the way back make up for the rest
    hn_status status = HN_OK;
    if (s->scheme->look_ahead) status = simulation_project_momenta(s, s->momenta, v, NULL);
    if (status != HN_OK) {
        context_release(s->context, v);
        return status;
    }
    mass_solve(system, s->scheme->look_ahead ? v : s->momenta, v);
    for (size_t k = 0; k < count; ++k) v[k] = -v[k];
    // the first iterate of the way back
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double *twist = s->system->twist_start + TWIST_SIZE * (size_t)i;
        mass_twist(system, i, s->state.q + at, s->own_momenta + at, twist);
        for (int k = 0; k < TWIST_SIZE; ++k) twist[k] = -twist[k];
    }
    reverse_loads(s);
    s->scheme->start(system, v, none, &s->state);
    context_release(s->context, v);
    s->steps[0].valid = s->steps[1].valid = false;
    composed_forget(s);
    dampers_forget(s);
    s->work = 0.0;
    s->accuracy = (accuracy_record){0};
    memset(s->works, 0, (size_t)system->mechanism_count * sizeof(double));
    memset(s->differences, 0, s->difference_count * sizeof(double));
    simulation_forget_derived(s);
    TRY(ledger_start(s));
    return observe_subscribed(s);
}
