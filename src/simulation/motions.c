// SPDX-License-Identifier: MIT
// Drives that prescribe coordinates: the efforts with which they hold exactly at the end of every step.
// Note: docs/theory/drives.md
//
//   (D7)  x_i(q_n+1; lambda) = r_i(t_n+1),   i over all motions
//
// The efforts lambda enter the equations of a step like any other, so that every reduction and loop takes them, and
// do the
// work lambda_i (x_n+1 - x_n)_i. They are found by Newton's method around that of the step: S_ij = d x_i/d lambda_j by
// differences, each a step solved on from its solution, and lambda <- lambda - S^-1 (x - r).
#include "simulation/simulation.h"

#include "linalg/small_lu.h"
#include "system/mass.h"

#include <string.h>

static const double HOLD_TOLERANCE = 1e-13; // rad, or m over the size of the joint
static const double REACH = 1e-5;           // likewise: how far a difference moves a coordinate
static const double HELD = 1e-7;            // of the response without joints: no effort moves it
static const double SHARED = 1e-4; // of its own response: no effort moves it but with others
static const double START_TOLERANCE = 1e-9; // rad, m over the size; of rates over the largest speed
enum { HOLD_PASSES = 12 };

int motions_find(const hn_system *system, int *list)
{
    int count = 0;
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_MOTION) {
            if (list != NULL) list[count] = system->drive_first + i;
            ++count;
        }
    return count;
}

// 1 rad, or the size of the joint in m
static double unit_of(const hn_system *system, const element *e)
{
    return e->displacement ? system_joint_size(system, &system->reports[e->joint].rows) : 1.0;
}

hn_status motions_check_start(const hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < s->motion_count; ++i) {
        const element *e = &system->elements[s->motions[i]];
        const drive_law *law = e->law;
        time_jet r = profile_at(law->function, 0.0);
        double x = law->sign * s->angles[e->angle], rate = s->angles[e->angle + DRIVE_ROTOR];
        double unit = unit_of(system, e), off = law->scale * r.value - x;
        if (!(fabs(off) <= START_TOLERANCE * fmax(unit, fabs(x))))
            return context_fail(system->context, HN_INVALID_MODEL,
                                "drive '%s': its motion begins at %.9g, joint '%s' at %.9g %s; "
                                "expected a motion that begins where the joint is",
                                e->name, law->scale * r.value, system->reports[e->joint].name, x,
                                e->displacement ? "m" : "rad");
        double speed = law->scale * r.rate;
        if (!(fabs(speed - rate) <= 1e-6 * unit + START_TOLERANCE * fabs(speed)))
            return context_fail(
                system->context, HN_INVALID_MODEL,
                "drive '%s': its motion begins with the rate %.9g, joint '%s' with %.9g %s; "
                "expected the same (the start rate of the joint)",
                e->name, speed, system->reports[e->joint].name, rate,
                e->displacement ? "m/s" : "rad/s");
    }
    return HN_OK;
}

static double *hold_of(const hn_simulation *s, solved_step *step, int index)
{
    return step->angle_start + s->system->elements[s->motions[index]].angle + DRIVE_HOLD;
}

// Coordinates at the end of the step in units of their joints, less the prescribed ones where `target`; the largest.
static double coordinates_at_end(const hn_simulation *s, const solved_step *step, bool target,
                                 double *x)
{
    const hn_system *system = s->system;
    double end = step->equations.time + step->equations.step_size, largest = 0.0;
    for (int i = 0; i < s->motion_count; ++i) {
        const element *e = &system->elements[s->motions[i]];
        element_step view = step_element_view(system, &step->equations, &step->data, s->motions[i]);
        double r = target ? e->law->scale * profile_at(e->law->function, end).value : 0.0;
        x[i] = (e->law->sign * element_angle_after(e, &view) - r) / unit_of(system, e);
        largest = fmax(largest, fabs(x[i]) / fmax(1.0, fabs(r) / unit_of(system, e)));
    }
    return largest;
}

// What one unit of effort does to a coordinate in a step, if no joint made its bodies heavier
static double free_response(const hn_simulation *s, const solved_step *step, const element *e)
{
    const hn_system *system = s->system;
    double row[2 * POSE_SIZE], sum = 0.0, h = step->equations.step_size;
    element_rate_row(e, system_pose(step->q_start, e->a), system_pose(step->q_start, e->b), row);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? e->a : e->b;
        if (body < 0) continue;
        double twist[TWIST_SIZE], v[POSE_SIZE];
        const double *q = system_pose(step->q_start, body);
        mass_twist(system, body, q, row + POSE_SIZE * side, twist);
        twist_to_velocity(q, twist, v);
        for (int k = 0; k < POSE_SIZE; ++k) sum += row[POSE_SIZE * side + k] * v[k];
    }
    return 0.5 * h * h * sum / unit_of(system, e);
}

// S, factored; by columns of differences
static hn_status find_responses(hn_simulation *s, solved_step *step, const newton_options *options,
                                double *responses, double *base, double *moved)
{
    const hn_system *system = s->system;
    int n = s->motion_count;
    coordinates_at_end(s, step, false, base);
    for (int k = 0; k < n; ++k) {
        const element *e = &system->elements[s->motions[k]];
        double free = free_response(s, step, e), *hold = hold_of(s, step, k), before = *hold;
        double effort = REACH / free;
        *hold = before + effort;
        hn_status status = simulation_solve_iterate(s, step, options);
        *hold = before;
        TRY(status);
        coordinates_at_end(s, step, false, moved);
        for (int i = 0; i < n; ++i) responses[n * i + k] = (moved[i] - base[i]) / effort;
        if (!(fabs(responses[n * k + k]) > HELD * free)) {
            s->held_drive = s->motions[k];
            return HN_SINGULAR_SYSTEM;
        }
    }
    double *own = moved; // responses of coordinates to their own efforts
    for (int k = 0; k < n; ++k) own[k] = fabs(responses[n * k + k]);
    if (!small_lu_factor(n, n, responses, s->motion_pivots)) return HN_SINGULAR_SYSTEM;
    // S is symmetric and positive but for small parts: its pivots stay where they are
    for (int k = 0; k < n; ++k)
        if (!(fabs(responses[n * k + k]) > SHARED * own[k])) {
            s->held_drive = s->motions[k];
            return HN_SINGULAR_SYSTEM;
        }
    return HN_OK;
}

hn_status motions_hold(hn_simulation *s, solved_step *step, const newton_options *options)
{
    int n = s->motion_count, iterations = s->newton.iterations;
    double *off = s->motion_space, *scratch = off + n, *responses = scratch + 3 * (size_t)n;
    double before = HUGE_VAL, largest = coordinates_at_end(s, step, true, off);
    s->held_drive = -1;
    for (int pass = 0; largest > HOLD_TOLERANCE; ++pass) {
        // again where the last ones do not lead on
        if (pass == 0 || largest > 0.1 * before) {
            if (pass == HOLD_PASSES || (pass > 0 && !(largest < before))) return HN_NOT_CONVERGED;
            TRY(find_responses(s, step, options, responses, scratch, scratch + n));
        }
        before = largest;
        small_lu_solve(n, n, responses, s->motion_pivots, 1, 1, off);
        for (int k = 0; k < n; ++k) *hold_of(s, step, k) -= off[k];
        TRY(simulation_solve_iterate(s, step, options));
        iterations += s->newton.iterations;
        largest = coordinates_at_end(s, step, true, off);
    }
    s->newton.iterations = iterations;
    return HN_OK;
}
