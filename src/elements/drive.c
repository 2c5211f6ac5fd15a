// SPDX-License-Identifier: MIT
// Drives and laws on a joint's coordinate x, with bars for means over the step, D x = x_n+1 - x_n.
// Notes: docs/theory/drives.md, docs/theory/forces.md
//
//   (D1)  effort   tau = mean of u(t)
//   (D2)  servo    tau = clamp( k_p e + k_d (dr - D x/h) + k_i (I_n + h e/2) ),  e = mean r(t) - x_mid,
//                  I_n+1 = I_n + h e unless the limit holds
//   (D3)  motor    tau = tau_0 (mean u(t) - (D x/h)/v_0)
//   (D7)  motion   tau = lambda, such that x_n+1 = r(t_n+1): found by holds.c
//   (D4)  spring   tau = -(V(x_n+1) - V(x_n))/D x = -(mean of f over [x_n, x_n+1]), of a table too
//   (D8)  stop     tau = -k <x - u> in the mean over the way, and -c D<x - u>/h, which never pulls; likewise below
//   (D11) friction tau = -+ F(D x/h) while it slides, lambda while it holds: found by holds.c
//   (D5)  damper   tau = -c D x/h, or -f(D x/h) of a table; it, (D2) and (D3) with what they are owed (DF1)
//   (D6)  rotor    tau = -J (w_n+1 - w_n)/h,  w_n+1 = 2 D x/h - w_n: what it takes is J/2 (w_n+1^2 - w_n^2)
//
// All but (D4) and (D6) are loads, whose work tau D x is booked.
#include "elements/drive.h"

#include "elements/joint_effort.h"

#include <float.h>

typedef struct effort_value {
    double effort, slope; // along the coordinate, and its derivative by x_n+1
} effort_value;

// ---- tables over a coordinate -----------------------------------------------------------------------------

// Mean of f between two places, in any order (D4)
static double mean_between(const hn_profile *f, double from, double to)
{
    return from <= to ? profile_mean(f, from, to) : profile_mean(f, to, from);
}

// Mean compression of a buffer over a way on which it goes from p to q, and what of the way is in contact (D8)
typedef struct contact_way {
    double mean, slope; // and its derivative by the end of the way
    double change;      // q - p
} contact_way;

static contact_way compress(double from, double to, double begin)
{
    double p = fmax(from - begin, 0.0), q = fmax(to - begin, 0.0), way = to - from;
    if ((p > 0.0 && q > 0.0) || way == 0.0)
        return (contact_way){0.5 * (p + q), p > 0.0 || q > 0.0 ? 0.5 : 0.0, q - p};
    double part = (q - p) / way; // of the way, in contact
    return (contact_way){0.5 * (p + q) * part,
                         q > 0.0 ? part - 0.5 * part * part : 0.5 * part * part, q - p};
}

// Effort of the buffers against the coordinate: what they hold, and with `damping` what they take
static effort_value stop_effort(const drive_law *law, double from, double to, double h,
                                bool damping)
{
    effort_value v = {0.0, 0.0};
    for (int side = 0; side < 2; ++side) {
        double sign = side == 0 ? 1.0 : -1.0;
        contact_way way = compress(sign * from, sign * to, side == 0 ? law->upper : -law->lower);
        if (way.mean == 0.0) continue;
        double held = law->contact * way.mean, held_slope = law->contact * way.slope;
        double taken = law->contact_damping * way.change / h,
               taken_slope = sign * to > (side == 0 ? law->upper : -law->lower)
                                 ? law->contact_damping / h
                                 : 0.0;
        if (taken < -held) taken = -held, taken_slope = -held_slope; // a buffer does not pull
        v.effort += sign * (damping ? taken : held);
        v.slope += damping ? taken_slope : held_slope;
    }
    return v;
}

// Ways below this part of the table's span have the slope in their middle for that of the mean
static const double SHORT_WAY = 1e-6;

static effort_value spring_mean(const element *e, double from, double to)
{
    const drive_law *law = e->law;
    effort_value v = {e->stiffness * (0.5 * (from + to) - e->rest), 0.5 * e->stiffness};
    if (law->contact > 0.0) {
        effort_value stop = stop_effort(law, from, to, 1.0, false);
        v.effort += stop.effort;
        v.slope += stop.slope;
    }
    if (law->spring == NULL) return v;
    const hn_profile *f = law->spring;
    double mean = mean_between(f, from, to), way = to - from;
    double span = f->count > 1 ? f->times[f->count - 1] - f->times[0] : 1.0;
    v.effort += mean;
    v.slope += fabs(way) > SHORT_WAY * span ? (profile_at(f, to).value - mean) / way
                                            : 0.5 * profile_at(f, 0.5 * (from + to)).rate;
    return v;
}

static double drive_potential(const element *e, const double *a, const double *b,
                              const double *third, double angle)
{
    (void)a, (void)b, (void)third;
    const drive_law *law = e->law;
    double x = law->sign * angle, stretch = x - e->rest;
    double energy = 0.5 * e->stiffness * stretch * stretch;
    if (law->contact > 0.0) {
        double above = fmax(x - law->upper, 0.0), below = fmax(law->lower - x, 0.0);
        energy += 0.5 * law->contact * (above * above + below * below);
    }
    // from the rest, so that it is no difference of large numbers near it
    if (law->spring != NULL) energy += stretch * mean_between(law->spring, e->rest, x);
    return energy;
}

// ---- loads ------------------------------------------------------------------------------------------------

// What the drive is told, in the mean over the step: its function of time, or the input that is held in its place
static double mean_command(const drive_law *law, const element_step *step)
{
    if (!isnan(law->held)) return law->held;
    return law->scale *
           profile_kept_mean(law->function, &law->mean, step->load_begin, step->load_end);
}

static double command_rate(const drive_law *law, const element_step *step)
{
    if (!isnan(law->held)) return 0.0;
    double span = step->load_end - step->load_begin;
    double rate = span != 0.0 ? (profile_at(law->function, step->load_end).value -
                                 profile_at(law->function, step->load_begin).value) /
                                    span
                              : profile_at(law->function, step->load_begin).rate;
    return law->scale * rate;
}

static double command_at_begin(const drive_law *law, const element_step *step)
{
    if (!isnan(law->held)) return law->held;
    if (law->function == NULL) return 0.0;
    return law->scale * profile_at(law->function, step->load_begin).value;
}

// A law of the user, with its derivative by differences where it gives none
static effort_value user_effort(const drive_law *law, const element_step *step, double from,
                                double to)
{
    const double REACH = 1e-6; // of the coordinate, or of its unit
    hn_law_step seen = {from, to, step->load_begin, step->load_end};
    double slope = (double)NAN, unused;
    double effort = law->law(&seen, &slope, law->law_user);
    if (isnan(slope)) {
        double way = REACH * fmax(law->unit, fabs(to)), ends[2];
        for (int k = 0; k < 2; ++k) {
            seen.to = k == 0 ? to - way : to + way;
            ends[k] = law->law(&seen, &unused, law->law_user);
        }
        slope = (ends[1] - ends[0]) / (2.0 * way);
    }
    return (effort_value){effort, slope};
}

static effort_value servo_effort(const drive_law *law, const element_step *step, double from,
                                 double to, double *error, bool *limited)
{
    double h = step->step_size;
    double sum = step->memory == NULL ? 0.0 : step->memory[DRIVE_INTEGRAL];
    *error = mean_command(law, step) - 0.5 * (from + to);
    effort_value v = {
        law->proportional * *error + law->derivative * (command_rate(law, step) - (to - from) / h) +
            law->integral * (sum + 0.5 * h * *error) + law->sign * element_owed(step, 0),
        -0.5 * law->proportional - law->derivative / h - 0.25 * h * law->integral};
    *limited = fabs(v.effort) > law->limit;
    return *limited ? (effort_value){copysign(law->limit, v.effort), 0.0} : v;
}

// What holds a coordinate that stays at x: a servo is a spring, a motor gives what it can at no speed.
static effort_value rest_effort(const drive_law *law, const element_step *step, double x)
{
    double command = command_at_begin(law, step);
    switch (law->kind) {
    case HN_DRIVE_EFFORT: return (effort_value){command, 0.0};
    case HN_DRIVE_MOTOR: return (effort_value){law->stall * command, 0.0};
    case HN_DRIVE_SERVO: {
        double effort = law->proportional * (command - x);
        bool limited = fabs(effort) > law->limit;
        return limited ? (effort_value){copysign(law->limit, effort), 0.0}
                       : (effort_value){effort, -law->proportional};
    }
    case HN_DRIVE_MOTION:
    case HN_DRIVE_LATCH:
        return (effort_value){step->memory == NULL ? 0.0 : step->memory[DRIVE_HOLD], 0.0};
    default: return (effort_value){0.0, 0.0};
    }
}

double drive_friction(const drive_law *law, double normal, double rate, double *slope)
{
    double sliding = law->friction + law->by_reaction * normal, more = law->static_ratio - 1.0;
    *slope = 0.0;
    if (!(more > 0.0)) return sliding;
    double x = rate / law->stribeck, part = more * exp(-x * x);
    *slope = -2.0 * sliding * part * x / law->stribeck;
    return sliding * (1.0 + part);
}

bool drive_is_held(const drive_law *law, double mode)
{
    switch (law->kind) {
    case HN_DRIVE_MOTION: return true;
    case HN_DRIVE_FRICTION: return mode == FRICTION_STICK || mode == FRICTION_REST;
    case HN_DRIVE_LATCH: return mode != 0.0;
    case HN_DRIVE_STOP: return law->rigid && mode != 0.0;
    default: return false;
    }
}

bool drive_moves(const element *e, const element_step *step, double from, double to)
{
    const double NO_WAY = 2e-13;                 // of its unit, or of where it is: while it holds
    const double ROUND_OFF = 16.0 * DBL_EPSILON; // of the places whose difference it is
    double way = NO_WAY * fmax(e->law->unit, fabs(from));
    if (e->displacement)
        way +=
            ROUND_OFF * (vec3_norm(vec3_load(step->a_start)) + vec3_norm(vec3_load(step->b_start)));
    return fabs(to - from) > way;
}

double drive_damping(const drive_law *law)
{
    double steepest = 0.0;
    if (law->kind == HN_DRIVE_SERVO) return law->derivative;
    if (law->kind == HN_DRIVE_MOTOR) return law->stall / law->no_load;
    const hn_profile *f = law->damper;
    for (int i = 1; f != NULL && f->times != NULL && i < f->count; ++i)
        steepest =
            fmax(steepest, (f->factors[i] - f->factors[i - 1]) / (f->times[i] - f->times[i - 1]));
    return steepest;
}

// (D11)
static effort_value friction_effort(const drive_law *law, const element_step *step, double rate)
{
    if (step->memory == NULL) return (effort_value){0.0, 0.0};
    int mode = (int)step->memory[DRIVE_MODE];
    double slope;
    if (mode == FRICTION_STICK || mode == FRICTION_REST)
        return (effort_value){step->memory[DRIVE_HOLD], 0.0};
    double size = drive_friction(law, step->memory[DRIVE_NORMAL], rate, &slope);
    if (mode == FRICTION_TURN) {
        // mean of the sign of a rate that goes straight from that at t_n to that at t_n+1
        double begin = step->memory[DRIVE_ROTOR], end = 2.0 * rate - begin,
               sum = fabs(begin) + fabs(end);
        if (!(sum > 0.0)) return (effort_value){0.0, 0.0};
        double part = 2.0 * rate / sum, part_slope = 2.0 / sum * (1.0 - part * copysign(1.0, end));
        return (effort_value){-size * part, -(slope * part + size * part_slope) / step->step_size};
    }
    return (effort_value){-mode * size, -mode * slope / step->step_size};
}

static effort_value load_effort(const element *e, const element_step *step, double from, double to)
{
    const drive_law *law = e->law;
    if (law->law != NULL) return user_effort(law, step, step->at_rest ? to : from, to);
    if (step->at_rest) return rest_effort(law, step, to);
    double h = step->step_size, rate = (to - from) / h, error;
    bool limited;
    switch (law->kind) {
    case HN_DRIVE_SERVO: return servo_effort(law, step, from, to, &error, &limited);
    case HN_DRIVE_FRICTION: return friction_effort(law, step, rate);
    case HN_DRIVE_LATCH:
    case HN_DRIVE_MOTION:
        return (effort_value){step->memory == NULL ? 0.0 : step->memory[DRIVE_HOLD], 0.0};
    case HN_DRIVE_EFFORT: return (effort_value){mean_command(law, step), 0.0};
    case HN_DRIVE_MOTOR: {
        double command = mean_command(law, step);
        return (effort_value){law->stall * (command - rate / law->no_load) +
                                  law->sign * element_owed(step, 0),
                              -law->stall / (law->no_load * h)};
    }
    default: break;
    }
    if (law->kind == HN_DRIVE_STOP && law->rigid)
        return (effort_value){step->memory == NULL ? 0.0 : step->memory[DRIVE_HOLD], 0.0};
    if (law->kind == HN_DRIVE_STOP) {
        effort_value v = stop_effort(law, from, to, h, true);
        return (effort_value){-v.effort, -v.slope};
    }
    damper_pull pull = element_damper_pull(e, step);
    effort_value v = {-pull.by_rate * rate - law->sign * pull.constant, -pull.by_rate / h};
    if (law->damper != NULL) {
        time_jet f = profile_at(law->damper, rate);
        v.effort -= f.value;
        v.slope -= f.rate / h;
    }
    return v;
}

// ---- what is damped ---------------------------------------------------------------------------------------

double drive_least_damping(const element *e)
{
    const drive_law *law = e->law;
    if (law->kind == HN_DRIVE_SERVO) return law->derivative;
    if (law->kind == HN_DRIVE_MOTOR) return law->stall / law->no_load;
    if (law->kind != HN_DRIVE_SPRING) return 0.0;
    const hn_profile *f = law->damper;
    if (f == NULL) return e->damping;
    double least = f->times != NULL ? fmax(profile_at(f, 0.0).rate, 0.0) : 0.0;
    for (int i = 0; f->times != NULL && i < f->count; ++i)
        if (f->times[i] != 0.0) least = fmin(least, fmax(f->factors[i] / f->times[i], 0.0));
    return e->damping + least;
}

bool drive_may_damp(const element *e)
{
    const drive_law *law = e->law;
    return e->damping > 0.0 || law->damper != NULL || law->kind == HN_DRIVE_SERVO ||
           law->kind == HN_DRIVE_MOTOR || (law->kind == HN_DRIVE_STOP && !law->rigid);
}

// What may hold its coordinate has a row, without a coefficient
static int drive_damped_count(const element *e)
{
    switch (e->law->kind) {
    case HN_DRIVE_SERVO:
    case HN_DRIVE_MOTOR:
    case HN_DRIVE_STOP:
    case HN_DRIVE_MOTION:
    case HN_DRIVE_LATCH:
    case HN_DRIVE_FRICTION: return 1;
    default: return e->damping > 0.0 || e->law->damper != NULL || e->law->armature > 0.0 ? 1 : 0;
    }
}

// An effort over its rate; at rest the slope
static double secant(double effort, double rate, double slope)
{
    return fmax(rate != 0.0 ? effort / rate : slope, 0.0);
}

// Coefficient and mean rate along the coordinate; where a target moves, what that makes of the rate at the end
static void drive_damped(const element *e, const element_step *step, damped_rates *rates)
{
    const drive_law *law = e->law;
    double h = step->step_size, from = law->sign * step->angle_start,
           to = law->sign * element_angle_after(e, step), rate = (to - from) / h, c = 0.0, error;
    bool limited, moves = isnan(law->held) && law->function != NULL;
    rates->strength = 0.0;
    switch (law->kind) {
    case HN_DRIVE_SERVO:
        (void)servo_effort(law, step, from, to, &error, &limited);
        rates->strength = c = limited ? 0.0 : law->derivative;
        if (moves)
            rate += law->scale * profile_at(law->function, step->load_end).rate -
                    command_rate(law, step);
        break;
    case HN_DRIVE_MOTOR:
        rates->strength = c = law->stall / law->no_load;
        if (moves)
            rate += law->no_load * (law->scale * profile_at(law->function, step->load_end).value -
                                    mean_command(law, step));
        break;
    case HN_DRIVE_STOP: {
        if (law->rigid) break;
        effort_value taken = stop_effort(law, from, to, h, true);
        c = secant(taken.effort, rate, 0.0);
        break;
    }
    case HN_DRIVE_SPRING:
        c = e->damping;
        if (law->damper != NULL) {
            time_jet f = profile_at(law->damper, rate);
            c += secant(f.value, rate, f.rate);
        }
        rates->strength = c;
        break;
    default: break;
    }
    rates->coefficient[0] = c;
    rates->mean[0] = law->sign * rate;
    if (!joint_coordinate_rate_row(e, step->a, step->b, rates->row[0])) rates->coefficient[0] = 0.0;
}

// ---- at an instant --------------------------------------------------------------------------------------------

// A table with its slope, on both sides of a corner in the mean
static time_jet table_at(const hn_profile *f, double x)
{
    time_jet jet = profile_at(f, x);
    jet.rate = 0.5 * (profile_at(f, nextafter(x, -HUGE_VAL)).rate +
                      profile_at(f, nextafter(x, HUGE_VAL)).rate);
    return jet;
}

// (D8) for h to 0
static void add_buffers(const drive_law *law, double x, double rate, drive_instant *v)
{
    for (int side = 0; side < 2 && law->contact > 0.0; ++side) {
        double sign = side == 0 ? 1.0 : -1.0,
               pressed = sign * (x - (side == 0 ? law->upper : law->lower)),
               push = law->contact * pressed + law->contact_damping * sign * rate;
        if (!(pressed > 0.0)) continue;
        v->stored -= sign * law->contact * pressed;
        if (!(push > 0.0)) continue; // a buffer does not pull
        v->effort -= sign * push;
        v->by_coordinate -= law->contact;
        v->by_rate -= law->contact_damping;
    }
}

static void add_spring(const element *e, double x, drive_instant *v)
{
    v->effort -= e->stiffness * (x - e->rest);
    v->stored -= e->stiffness * (x - e->rest);
    v->by_coordinate -= e->stiffness;
    if (e->law->spring == NULL) return;
    time_jet f = table_at(e->law->spring, x);
    v->effort -= f.value;
    v->stored -= f.value;
    v->by_coordinate -= f.rate;
}

static void add_damper(const element *e, double rate, drive_instant *v)
{
    v->effort -= e->damping * rate;
    v->by_rate -= e->damping;
    if (e->law->damper == NULL) return;
    time_jet f = table_at(e->law->damper, rate);
    v->effort -= f.value;
    v->by_rate -= f.rate;
}

static drive_instant servo_at(const drive_law *law, const element_step *now, double x, double rate)
{
    double effort = law->proportional * (command_at_begin(law, now) - x) +
                    law->derivative * (command_rate(law, now) - rate) +
                    law->integral * now->memory[DRIVE_INTEGRAL];
    if (fabs(effort) > law->limit) return (drive_instant){.effort = copysign(law->limit, effort)};
    return (drive_instant){effort, -law->proportional, -law->derivative, law->integral, 0.0};
}

drive_instant drive_at_instant(const element *e, const element_step *now, double x, double rate)
{
    const drive_law *law = e->law;
    drive_instant v = {0};
    switch (law->kind) {
    case HN_DRIVE_EFFORT: v.effort = command_at_begin(law, now); break;
    case HN_DRIVE_MOTOR:
        v.effort = law->stall * (command_at_begin(law, now) - rate / law->no_load);
        v.by_rate = -law->stall / law->no_load;
        break;
    case HN_DRIVE_SERVO: v = servo_at(law, now, x, rate); break;
    case HN_DRIVE_STOP: add_buffers(law, x, rate, &v); break;
    case HN_DRIVE_SPRING: add_damper(e, rate, &v); break;
    default: break; // what holds
    }
    add_spring(e, x, &v);
    return v;
}

static void drive_load(const element *e, const element_step *step, element_output *out)
{
    double sign = e->law->sign, angle = element_angle_after(e, step);
    effort_value v = load_effort(e, step, sign * step->angle_start, sign * angle);
    if (v.effort == 0.0 && v.slope == 0.0) return;
    if (step->discrete_gradient)
        joint_effort_secant(e, step, angle, -sign * v.effort, -v.slope, out);
    else joint_effort_at(e, step, step->weight, -sign * v.effort, 0.0, -v.slope, out);
}

// ---- what stores energy ---------------------------------------------------------------------------------------

static void drive_gradient(const element *e, const element_step *step, element_output *out)
{
    const drive_law *law = e->law;
    bool springs = e->stiffness != 0.0 || law->spring != NULL || law->contact > 0.0;
    if (!springs && law->armature == 0.0) return;
    double sign = law->sign, h = step->step_size;
    if (step->discrete_gradient) {
        double angle = element_angle_after(e, step), from = sign * step->angle_start,
               to = sign * angle;
        effort_value v = springs ? spring_mean(e, from, to) : (effort_value){0.0, 0.0};
        double rotor = step->memory == NULL ? 0.0 : step->memory[DRIVE_ROTOR];
        v.effort += 2.0 * law->armature / h * ((to - from) / h - rotor);
        v.slope += 2.0 * law->armature / (h * h);
        joint_effort_secant(e, step, angle, sign * v.effort, v.slope, out);
        return;
    }
    if (!springs) return;
    double x = sign * joint_coordinate_at(e, step, step->gradient_weight);
    effort_value v = {e->stiffness * (x - e->rest), e->stiffness};
    if (law->contact > 0.0) {
        effort_value stop = stop_effort(law, x, x, 1.0, false);
        v.effort += stop.effort;
        v.slope += 2.0 * stop.slope; // both ends of a way are x
    }
    if (law->spring != NULL) {
        time_jet f = profile_at(law->spring, x);
        v.effort += f.value;
        v.slope += f.rate;
    }
    joint_effort_at(e, step, step->gradient_weight, sign * v.effort, v.slope, 0.0, out);
}

const element_type element_drive = {
    .name = "drive",
    .marks_frame = true,
    .potential = drive_potential,
    .gradient = drive_gradient,
    .load = drive_load,
    .rate_row = joint_coordinate_rate_row,
    .damped_count = drive_damped_count,
    .damped = drive_damped,
};

double element_energy(const element *e, const double *a, const double *b, const double *third,
                      const double *slots)
{
    double angle = e->angle >= 0 ? slots[e->angle] : 0.0;
    double energy = element_type_of(e->kind)->potential(e, a, b, third, angle);
    if (e->law == NULL) return energy;
    double rotor = slots[e->angle + DRIVE_ROTOR];
    return energy + 0.5 * e->law->armature * rotor * rotor;
}

double drive_command_gain(const drive_law *law)
{
    switch (law->kind) {
    case HN_DRIVE_EFFORT: return law->law == NULL ? 1.0 : 0.0;
    case HN_DRIVE_SERVO: return law->proportional;
    case HN_DRIVE_MOTOR: return law->stall;
    default: return 0.0;
    }
}

const char *drive_command_unit(const drive_law *law, const char *unit)
{
    if (law->kind == HN_DRIVE_SERVO) return unit;
    if (law->kind == HN_DRIVE_MOTOR) return "1";
    return unit[0] == 'm' ? "N" : "N m";
}

// What the next step begins with; `rate`: at the end of this one. Friction that gave all it can while others held
// sticks.
static double drive_next_mode(const drive_law *law, const element_step *step, bool moved,
                              double rate)
{
    double mode = step->memory[DRIVE_MODE];
    if (law->kind != HN_DRIVE_FRICTION) return mode;
    if (mode == FRICTION_REST || !moved) return FRICTION_STICK;
    if (mode == FRICTION_TURN) return rate < 0.0 ? FRICTION_BACK : FRICTION_FORTH;
    return mode;
}

void drive_follow(const element *e, const element_step *step, double angle, double *slots)
{
    const drive_law *law = e->law;
    double from = law->sign * step->angle_start, to = law->sign * angle, h = step->step_size, error;
    bool limited;
    effort_value load = load_effort(e, step, from, to);
    bool springs = e->stiffness != 0.0 || law->spring != NULL || law->contact > 0.0;
    // at rest it is that of the place, not of the way there
    double spring = springs ? spring_mean(e, step->at_rest ? to : from, to).effort : 0.0;
    if (law->kind == HN_DRIVE_SERVO) {
        (void)servo_effort(law, step, from, to, &error, &limited);
        if (!limited) slots[DRIVE_INTEGRAL] += h * error;
    }
    slots[DRIVE_COORDINATE] = angle;
    slots[DRIVE_ROTOR] = 2.0 * (to - from) / h - slots[DRIVE_ROTOR];
    slots[DRIVE_HOLD] = load.effort;
    slots[DRIVE_MODE] =
        drive_next_mode(law, step, drive_moves(e, step, from, to), slots[DRIVE_ROTOR]);
    slots[DRIVE_NORMAL] = step->memory[DRIVE_NORMAL];
    slots[DRIVE_EFFORT] = load.effort - spring;
    slots[DRIVE_POWER] = load.effort * (to - from) / h;
    slots[DRIVE_WORK] += load.effort * (to - from);
}
