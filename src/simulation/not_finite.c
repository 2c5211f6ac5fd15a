// SPDX-License-Identifier: MIT
// What a step is told from outside that is no finite number: asked for when the step has failed, since such numbers end
// in all unknowns, and no solver knows where they came from.
#include "simulation/not_finite.h"

#include <math.h>

static hn_status fail(const hn_simulation *s, const char *what, const char *kind, const char *name)
{
    return context_fail(s->context, HN_NOT_FINITE,
                        "step %lld at t = %.9g s: %s %s '%s' is not finite; expected a number at "
                        "all times of the run",
                        (long long)s->step_count + 1, hn_simulation_time(s), what, kind, name);
}

static hn_status check_inputs(const hn_simulation *s)
{
    const hn_system *system = s->system;
    const simulation_inputs *in = &s->inputs;
    if (in->values == NULL) return HN_OK;
    const double *effort = in->values, *force = effort + in->coordinate_count,
                 *torque = force + 3 * in->body_count;
    for (int k = 0; k < system->joint_count; ++k) {
        int count = simulation_joint_coordinate_count(system, k);
        for (int c = 0; c < count; ++c, ++effort)
            if (!isfinite(*effort))
                return fail(s, "the input joints/effort of", "joint", system->reports[k].name);
    }
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = 3 * (size_t)system->bodies[i].model_index;
        for (size_t k = at; k < at + 3; ++k) {
            if (!isfinite(force[k]))
                return fail(s, "the input bodies/force of", "body", system->bodies[i].name);
            if (!isfinite(torque[k]))
                return fail(s, "the input bodies/torque of", "body", system->bodies[i].name);
        }
    }
    // not a number: the drive's own function
    for (int d = 0; d < system->drive_count; ++d)
        if (isinf(system->laws[d].held))
            return fail(s, "the input drives/command of", "drive", system->laws[d].name);
    return HN_OK;
}

static bool is_finite_between(const hn_profile *f, double begin, double end)
{
    return isfinite(profile_mean(f, begin, end)) && isfinite(profile_at(f, end).value);
}

// A law of the user where the coordinate is
static bool gives_number(const hn_simulation *s, const element *e, double begin, double end)
{
    const drive_law *law = e->law;
    double x = law->sign * s->angles[e->angle], slope = 0.0;
    hn_law_step at = {x, x, begin, end};
    return law->law == NULL || isfinite(law->law(&at, &slope, law->law_user));
}

hn_status not_finite_from_outside(hn_simulation *s)
{
    const hn_system *system = s->system;
    double begin = hn_simulation_time(s), end = begin + s->def.step_size;
    TRY(check_inputs(s));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (element_type_of(e->kind)->from_outside && e->profile != NULL &&
            !(isfinite(element_load_mean(e, begin, end)) &&
              isfinite(element_load_mean(e, end, end))))
            return fail(s, "the function of time of", "load", e->name);
    }
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        const drive_law *law = e->law;
        if (isnan(law->held) && law->function != NULL &&
            !is_finite_between(law->function, begin, end))
            return fail(s, "the function of time of", "drive", e->name);
        if (!gives_number(s, e, begin, end)) return fail(s, "the effort of", "drive", e->name);
    }
    return HN_OK;
}

hn_status not_finite_cause(hn_simulation *s, hn_status status)
{
    TRY(not_finite_from_outside(s));
    return status;
}
