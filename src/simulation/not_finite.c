// SPDX-License-Identifier: MIT
// What a step is told from outside that is no finite number: asked for when the step has failed, since such numbers end
// in all unknowns, and no solver knows where they came from.
#include "simulation/not_finite.h"

#include <math.h>
#include <stdio.h>

enum { PARTS = 64 }; // of a step that are looked at

// When numbers are asked for: in the step that begins then, or at this instant
typedef struct moment {
    bool step;
    double time; // s
} moment;

static moment next_step(const hn_simulation *s)
{
    return (moment){true, hn_simulation_time(s)};
}

static hn_status fail(const hn_simulation *s, moment when, const char *what, const char *kind,
                      const char *name)
{
    char step[40] = "";
    if (when.step) snprintf(step, sizeof step, "step %lld at ", (long long)s->step_count + 1);
    return context_fail(s->context, HN_NOT_FINITE,
                        "%st = %.9g s: %s %s '%s' is not finite; expected a number at all times "
                        "of the run",
                        step, when.time, what, kind, name);
}

// What a drive is told; no number: it follows its function
static double command_of(const hn_simulation *s, int drive)
{
    const simulation_inputs *in = &s->inputs;
    if (in->values == NULL) return (double)NAN;
    return in->values[in->coordinate_count + 6 * in->body_count + (size_t)drive];
}

static hn_status check_inputs(const hn_simulation *s, moment when)
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
                return fail(s, when, "the input joints/effort of", "joint",
                            system->reports[k].name);
    }
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = 3 * (size_t)system->bodies[i].model_index;
        for (size_t k = at; k < at + 3; ++k) {
            if (!isfinite(force[k]))
                return fail(s, when, "the input bodies/force of", "body", system->bodies[i].name);
            if (!isfinite(torque[k]))
                return fail(s, when, "the input bodies/torque of", "body", system->bodies[i].name);
        }
    }
    for (int d = 0; d < system->drive_count; ++d)
        if (isinf(command_of(s, d)))
            return fail(s, when, "the input drives/command of", "drive", system->laws[d].name);
    return HN_OK;
}

// By parts: what has no number for a short time is found as well.
static bool load_is_finite(const element *e, double begin, double end)
{
    double part = (end - begin) / PARTS, sum = element_load_mean(e, end, end);
    for (int k = 0; k < PARTS && end > begin; ++k)
        sum += element_load_mean(e, begin + k * part, begin + (k + 1) * part);
    return isfinite(sum);
}

static bool function_is_finite(const hn_profile *f, double begin, double end)
{
    double part = (end - begin) / PARTS, sum = profile_at(f, end).value;
    for (int k = 0; k < PARTS && end > begin; ++k)
        sum += profile_mean(f, begin + k * part, begin + (k + 1) * part);
    return isfinite(sum);
}

// A law of the user where the coordinate is
static bool gives_number(const hn_simulation *s, const element *e, double begin, double end)
{
    const drive_law *law = e->law;
    double x = law->sign * s->angles[e->angle], slope = 0.0;
    hn_law_step at = {x, x, begin, end};
    return law->law == NULL || isfinite(law->law(&at, &slope, law->law_user));
}

static hn_status check_functions(const hn_simulation *s, moment when, double begin, double end)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (element_type_of(e->kind)->from_outside && e->profile != NULL &&
            !load_is_finite(e, begin, end))
            return fail(s, when, "the function of time of", "load", e->name);
    }
    for (int d = 0; d < system->drive_count; ++d) {
        const drive_law *law = &system->laws[d];
        if (isnan(command_of(s, d)) && law->function != NULL &&
            !function_is_finite(law->function, begin, end))
            return fail(s, when, "the function of time of", "drive", law->name);
    }
    return HN_OK;
}

hn_status not_finite_from_outside(hn_simulation *s)
{
    const hn_system *system = s->system;
    moment when = next_step(s);
    double begin = when.time, end = begin + s->def.step_size;
    // its own steps lead beyond those that are asked for
    bool own_steps = s->scheme->solver_step != NULL && s->scheme->any_rotation;
    TRY(check_inputs(s, when));
    TRY(check_functions(s, when, begin, own_steps ? end + s->def.step_size : end));
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        if (!gives_number(s, e, begin, end))
            return fail(s, when, "the effort of", "drive", e->name);
    }
    return HN_OK;
}

hn_status not_finite_now(hn_simulation *s, double time)
{
    const moment when = {false, time};
    TRY(check_inputs(s, when));
    return check_functions(s, when, time, time);
}

hn_status not_finite_motions(hn_simulation *s, double time)
{
    const hn_system *system = s->system;
    const moment when = {false, time};
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        if (e->law->kind != HN_DRIVE_MOTION) continue;
        motion_jet r = holds_motion(e, time);
        if (!isfinite(r.value + r.rate + r.acceleration))
            return fail(s, when, "value, rate or acceleration of", "drive", e->name);
    }
    return HN_OK;
}

hn_status not_finite_cause(hn_simulation *s, hn_status status)
{
    TRY(not_finite_from_outside(s));
    return status;
}
