// SPDX-License-Identifier: MIT
// What moves a state whose small motions are asked for at rest.
#include "simulation/moving.h"

enum { LATER = 16 }; // doublings of a step that are looked ahead

static const double STANDS = 1e-12; // rad in a step: round-off of start velocities

static const char *joint_of(const hn_simulation *s, const element *e)
{
    return s->system->reports[e->joint].name;
}

// The fastest motion at a time
static const element *fastest_motion(const hn_simulation *s, double time, double *rate)
{
    const hn_system *system = s->system;
    const element *fastest = NULL;
    *rate = 0.0;
    for (int d = 0; d < system->drive_count; ++d) {
        const element *e = &system->elements[system->drive_first + d];
        if (e->law->kind != HN_DRIVE_MOTION) continue;
        double own = holds_motion(e, time).rate;
        if (fabs(own) > fabs(*rate)) *rate = own, fastest = e;
    }
    return fastest;
}

static bool tell_motion(const hn_simulation *s)
{
    double rate, time = hn_simulation_time(s), step = s->def.step_size;
    const element *e = fastest_motion(s, time, &rate);
    if (e != NULL) {
        context_log(s->context,
                    "modes: they are those at rest, but motion '%s' moves joint '%s' with %.6g %s; "
                    "linearise there for those in motion",
                    e->name, joint_of(s, e), rate, e->displacement ? "m/s" : "rad/s");
        return true;
    }
    for (int k = 0; k < LATER; ++k, step *= 2.0) {
        e = fastest_motion(s, time + step, &rate);
        if (e == NULL) continue;
        context_log(s->context,
                    "modes: they are those at rest; motion '%s' moves joint '%s' later, with %.6g "
                    "%s at t = %.6g s; linearise there for those in motion",
                    e->name, joint_of(s, e), rate, e->displacement ? "m/s" : "rad/s", time + step);
        return true;
    }
    return false;
}

void moving_tell(hn_simulation *s, const double *velocities)
{
    const hn_system *system = s->system;
    double fastest = STANDS / s->def.step_size;
    int body = -1;
    if (tell_motion(s)) return;
    for (int i = 0; i < system->body_count; ++i) {
        double twist[TWIST_SIZE];
        velocity_to_twist(system_pose(s->state.q, i), velocities + POSE_SIZE * (size_t)i, twist);
        double turn = vec3_norm(vec3_load(twist + 3));
        if (turn > fastest) fastest = turn, body = i;
    }
    if (body < 0) return;
    context_log(
        s->context,
        "modes: they are those at rest, but body '%s' turns with %.6g rad/s; linearise there "
        "for those in motion",
        system->bodies[body].name, fastest);
}
