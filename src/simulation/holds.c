// SPDX-License-Identifier: MIT
// Relations of joint coordinates that hold exactly at the end of every step, and the efforts that it takes.
// Note: docs/theory/drives.md
//
//   (D7), (D10)  sum_k f_ik x_k(q_n+1; lambda) = r_i(t_n+1),   i over all motions and couplings
//
// A motion has one coordinate and a function of time, a coupling several and the value of the start. The efforts
// f_ik lambda_i enter the equations of a step like any other, so that every reduction and loop takes them, and do the
// work lambda_i f_ik (x_n+1 - x_n)_k: in all lambda_i (r_n+1 - r_n)_i, nothing for a coupling. They are found by
// Newton's method around that of the step: S_ij = d (f x)_i/d lambda_j by differences, each a step solved on from its
// solution, and lambda <- lambda - S^-1 (f x - r).
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

int holds_find(const hn_system *system, hold *list)
{
    int count = 0;
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_MOTION) {
            if (list != NULL)
                list[count] = (hold){.term_count = 1,
                                     .first = system->drive_first + i,
                                     .coupling = -1,
                                     .factors = {1.0}};
            ++count;
        }
    for (int i = 0; i < system->coupling_count; ++i) {
        const system_coupling *c = &system->couplings[i];
        if (c->dependent) continue;
        if (list != NULL) {
            list[count] = (hold){.term_count = c->term_count, .first = c->first, .coupling = i};
            memcpy(list[count].factors, c->factors, sizeof c->factors);
        }
        ++count;
    }
    return count;
}

// 1 rad, or the size of the joint in m: of the first coordinate, whose factor is 1
static double unit_of(const hn_system *system, const element *e)
{
    return e->displacement ? system_joint_size(system, &system->reports[e->joint].rows) : 1.0;
}

// ---- start ------------------------------------------------------------------------------------------------

static hn_status check_motion(const hn_simulation *s, const element *e)
{
    const hn_system *system = s->system;
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
    return HN_OK;
}

static hn_status check_coupling(const hn_simulation *s, const system_coupling *c)
{
    const hn_system *system = s->system;
    double sum = 0.0, largest = 0.0;
    for (int k = 0; k < c->term_count; ++k) {
        const element *e = &system->elements[c->first + k];
        double rate = c->factors[k] * s->angles[e->angle + DRIVE_ROTOR];
        sum += rate;
        largest = fmax(largest, fabs(rate));
    }
    const element *e = &system->elements[c->first];
    if (fabs(sum) <= START_TOLERANCE * largest) return HN_OK;
    return context_fail(
        system->context, HN_INVALID_MODEL,
        "coupling '%s': joint '%s' starts with the rate %.9g %s; with the rates of the others "
        "expected %.9g (a start rate that is left out follows from couplings)",
        c->name, system->reports[e->joint].name, s->angles[e->angle + DRIVE_ROTOR],
        e->displacement ? "m/s" : "rad/s", s->angles[e->angle + DRIVE_ROTOR] - sum);
}

hn_status holds_check_start(const hn_simulation *s)
{
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        if (h->coupling < 0) TRY(check_motion(s, &s->system->elements[h->first]));
        else TRY(check_coupling(s, &s->system->couplings[h->coupling]));
    }
    return HN_OK;
}

// ---- relations in a step ------------------------------------------------------------------------------------

// Couplings that follow from others take their share.
static void add_effort(const hn_simulation *s, solved_step *step, int index, double effort)
{
    const hn_system *system = s->system;
    const hold *h = &s->holds[index];
    if (h->coupling < 0) {
        step->angle_start[system->elements[h->first].angle + DRIVE_HOLD] += effort;
        return;
    }
    for (int i = 0; i < system->coupling_count; ++i) {
        const system_coupling *c = &system->couplings[i];
        const element *e = &system->elements[c->first];
        double share = i == h->coupling ? 1.0 : 0.0;
        if (system->coupling_shares != NULL)
            share = system->coupling_shares[system->coupling_count * i + h->coupling];
        if (share == 0.0) continue;
        double lambda = step->angle_start[e->angle + DRIVE_HOLD] + share * effort;
        for (int k = 0; k < c->term_count; ++k)
            step->angle_start[e[k].angle + DRIVE_HOLD] = c->factors[k] * lambda;
    }
}

// Relations at the end of the step, less what they should be where `target`; the largest against its unit, or against
// what it is a difference of.
static double relations_at_end(const hn_simulation *s, const solved_step *step, bool target,
                               double *x)
{
    const hn_system *system = s->system;
    double end = step->equations.time + step->equations.step_size, largest = 0.0;
    for (int i = 0; i < s->hold_count; ++i) {
        const hold *h = &s->holds[i];
        const element *first = &system->elements[h->first];
        double scale = unit_of(system, first);
        x[i] = 0.0;
        for (int k = 0; k < h->term_count; ++k) {
            const element *e = first + k;
            element_step view =
                step_element_view(system, &step->equations, &step->data, h->first + k);
            double term = h->factors[k] * e->law->sign * element_angle_after(e, &view);
            x[i] += term;
            scale = fmax(scale, fabs(term));
        }
        if (target)
            x[i] -= h->coupling >= 0
                        ? system->couplings[h->coupling].start
                        : first->law->scale * profile_at(first->law->function, end).value;
        largest = fmax(largest, fabs(x[i]) / scale);
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
    return 0.5 * h * h * sum;
}

static double free_response_of(const hn_simulation *s, const solved_step *step, const hold *h)
{
    double sum = 0.0;
    for (int k = 0; k < h->term_count; ++k) {
        const element *e = &s->system->elements[h->first + k];
        sum += h->factors[k] * h->factors[k] * free_response(s, step, e);
    }
    return sum;
}

// ---- efforts --------------------------------------------------------------------------------------------------

static hn_status fail_held(hn_simulation *s, int index)
{
    s->held = index;
    return HN_SINGULAR_SYSTEM;
}

// S, factored: by columns of differences, in units in which relations respond to their own efforts by one (`units`)
static hn_status find_responses(hn_simulation *s, solved_step *step, const newton_options *options,
                                double *responses, double *base, double *moved, double *units)
{
    int n = s->hold_count;
    relations_at_end(s, step, false, base);
    for (int k = 0; k < n; ++k) {
        const hold *h = &s->holds[k];
        double free = free_response_of(s, step, h),
               effort = REACH * unit_of(s->system, &s->system->elements[h->first]) / free;
        add_effort(s, step, k, effort);
        hn_status status = simulation_solve_iterate(s, step, options);
        add_effort(s, step, k, -effort);
        TRY(status);
        relations_at_end(s, step, false, moved);
        for (int i = 0; i < n; ++i) responses[n * i + k] = (moved[i] - base[i]) / effort;
        if (!(fabs(responses[n * k + k]) > HELD * free)) return fail_held(s, k);
        units[k] = 1.0 / sqrt(fabs(responses[n * k + k]));
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) responses[n * i + k] *= units[i] * units[k];
    if (!small_lu_factor(n, n, responses, s->hold_pivots)) return HN_SINGULAR_SYSTEM;
    // symmetric and positive but for small parts: a small pivot says that others hold a relation already
    for (int k = 0; k < n; ++k)
        if (!(fabs(responses[n * k + k]) > SHARED)) return fail_held(s, k);
    return HN_OK;
}

hn_status holds_solve(hn_simulation *s, solved_step *step, const newton_options *options)
{
    int n = s->hold_count, iterations = s->newton.iterations;
    double *off = s->hold_space, *base = off + n, *moved = base + n, *units = moved + n,
           *responses = units + n;
    double before = HUGE_VAL, largest = relations_at_end(s, step, true, off);
    s->held = -1;
    for (int pass = 0; largest > HOLD_TOLERANCE; ++pass) {
        // again where the last ones do not lead on
        if (pass == 0 || largest > 0.1 * before) {
            if (pass == HOLD_PASSES || (pass > 0 && !(largest < before))) return HN_NOT_CONVERGED;
            TRY(find_responses(s, step, options, responses, base, moved, units));
        }
        before = largest;
        for (int k = 0; k < n; ++k) off[k] *= units[k];
        small_lu_solve(n, n, responses, s->hold_pivots, 1, 1, off);
        for (int k = 0; k < n; ++k) add_effort(s, step, k, -units[k] * off[k]);
        TRY(simulation_solve_iterate(s, step, options));
        iterations += s->newton.iterations;
        largest = relations_at_end(s, step, true, off);
    }
    s->newton.iterations = iterations;
    return HN_OK;
}
