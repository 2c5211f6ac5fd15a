// SPDX-License-Identifier: MIT
// Steps that go over a part of a table of a spring or damper and see its ends alone. Note: docs/theory/drives.md
//
//   (D15)  max |V(x) - V_n - (x - x_n)/(x_n+1 - x_n) (V_n+1 - V_n)| > 1/20 m/2 (D x/h)^2
//
// over the points of the table on the way and the middles between them, m what moves with the coordinate: 1/m is the
// rate that a unit impulse along it makes, with the joints of its mechanism, and m more by the rotor. A way of less
// than an eighth of the pieces that it touches sees them. Likewise a damper's table over rates v from v_n to v_n+1:
//
//   (D16)  max |f(v) - f_n - (v - v_n)/(v_n+1 - v_n) (f_n+1 - f_n)| > 1/20 m |v_n+1 - v_n|/h
#include "simulation/barriers.h"

#include "simulation/simulation.h"
#include "system/mass.h"

#include <string.h>

static const double BARRIER = 0.05; // of the kinetic energy along the coordinate
static const double SEEN = 0.125;   // of the shortest piece on the way
enum { POINTS_MAX = 4096 };         // on the way

void barriers_layout(arena *a, hn_simulation *s)
{
    const hn_system *system = s->system;
    bool any = false;
    for (int i = 0; i < system->drive_count; ++i)
        any |= system->laws[i].spring != NULL || system->laws[i].damper != NULL;
    size_t n = any ? (size_t)system->body_count : 0;
    s->barriers.momentum = arena_doubles(a, POSE_SIZE * n);
    s->barriers.twists = arena_doubles(a, TWIST_SIZE * n);
    s->barriers.named = arena_bytes(a, n > 0 ? (size_t)system->drive_count * sizeof(bool) : 0);
}

// What a motion leads goes its way whatever stands there.
static bool is_led(const hn_system *system, const drive_law *law)
{
    for (int i = 0; i < system->drive_count; ++i)
        if (system->laws[i].kind == HN_DRIVE_MOTION && system->laws[i].column == law->column)
            return true;
    return false;
}

// Energy between two places, against the coordinate
static double energy_between(const hn_profile *f, double from, double to)
{
    double low = fmin(from, to), high = fmax(from, to);
    return (to - from) * profile_mean(f, low, high);
}

// The largest part of the energy of a way that its ends do not show, 0 where it sees the pieces of the table, J
static double hidden_energy(const hn_profile *f, double from, double to)
{
    double low = fmin(from, to), high = fmax(from, to), at = low,
           whole = energy_between(f, low, high), so_far = 0.0, worst = 0.0, shortest = HUGE_VAL,
           before = -HUGE_VAL;
    for (int i = 0; i < f->count && f->times[i] <= low; ++i) before = f->times[i];
    for (int i = 0; i < POINTS_MAX && at < high; ++i) {
        double point = profile_next_kink(f, at), next = fmin(point, high),
               middle = 0.5 * (at + next);
        shortest = fmin(shortest, point - before);
        before = point;
        double half = so_far + energy_between(f, at, middle);
        so_far += energy_between(f, at, next);
        worst = fmax(worst, fabs(half - (middle - low) / (high - low) * whole));
        worst = fmax(worst, fabs(so_far - (next - low) / (high - low) * whole));
        at = next;
    }
    return high - low > SEEN * shortest ? worst : 0.0;
}

// The largest effort of a way over rates that its ends do not show, 0 where it sees the pieces of the table, N or N m
static double hidden_effort(const hn_profile *f, double from, double to)
{
    double low = fmin(from, to), high = fmax(from, to), at = low, shortest = HUGE_VAL, worst = 0.0,
           before = -HUGE_VAL, first = profile_at(f, low).value, last = profile_at(f, high).value;
    for (int i = 0; i < f->count && f->times[i] <= low; ++i) before = f->times[i];
    for (int i = 0; i < POINTS_MAX; ++i) {
        double point = profile_next_kink(f, at), part = (point - low) / (high - low);
        shortest = fmin(shortest, point - before);
        if (!(point < high)) break;
        worst = fmax(worst, fabs(profile_at(f, point).value - first - part * (last - first)));
        before = at = point;
    }
    return high - low > SEEN * shortest ? worst : 0.0;
}

// Rate of the coordinate after a unit impulse along it, of the mechanism, or 0
static double mobility_of(hn_simulation *s, const element *e)
{
    const int bodies[2] = {e->a, e->b};
    double row[2 * POSE_SIZE] = {0.0}, rate = 0.0, *p = s->barriers.momentum;
    if (s->projection == NULL || saddle_factor_mass(s->projection, s->state.q) != HN_OK ||
        !element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), row))
        return 0.0;
    memset(p, 0, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    for (int k = 0; k < 2; ++k)
        if (bodies[k] >= 0)
            memcpy(p + POSE_SIZE * (size_t)bodies[k], row + POSE_SIZE * k,
                   POSE_SIZE * sizeof(double));
    saddle_project_again(s->projection, s->state.q, p, s->barriers.twists);
    for (int k = 0; k < 2; ++k) {
        double v[POSE_SIZE];
        if (bodies[k] < 0) continue;
        twist_to_velocity(system_pose(s->state.q, bodies[k]),
                          s->barriers.twists + TWIST_SIZE * (size_t)bodies[k], v);
        if (!s->system->bodies[bodies[k]].has_directors) memset(v + 3, 0, 9 * sizeof(double));
        for (int l = 0; l < POSE_SIZE; ++l) rate += row[POSE_SIZE * k + l] * v[l];
    }
    return rate;
}

// Of a drive in a solved step: over places, or over rates
typedef struct table_way {
    bool over_rates;
    double from, to;
    double hidden,
        moved; // J: of the table, and kinetic; or N, N m: of the table, and what changes the rate
} table_way;

static bool leaps(const table_way *w)
{
    return w->hidden > BARRIER * w->moved;
}

// What moves with a coordinate, kg or kg m^2
static double mass_of(hn_simulation *s, const element *e)
{
    double mobility = mobility_of(s, e);
    return e->law->armature + (mobility > 0.0 ? 1.0 / mobility : 0.0);
}

static table_way rates_of(hn_simulation *s, const element *e, double begin, double mean, double h)
{
    table_way w = {.over_rates = true, .from = begin, .to = 2.0 * mean - begin};
    double low = fmin(w.from, w.to), high = fmax(w.from, w.to);
    if (!(profile_next_kink(e->law->damper, low) < high)) return w;
    w.hidden = hidden_effort(e->law->damper, w.from, w.to);
    if (w.hidden > 0.0) w.moved = mass_of(s, e) * (high - low) / fabs(h);
    return w;
}

static table_way way_of(hn_simulation *s, const solved_step *step, int index)
{
    const hn_system *system = s->system;
    const element *e = &system->elements[system->drive_first + index];
    const drive_law *law = e->law;
    const step_equations *equations = &step->equations;
    element_step view =
        step_element_view(system, equations, &step->data, system->drive_first + index);
    table_way w = {.from = law->sign * step->angle_start[e->angle],
                   .to = law->sign * element_angle_after(e, &view)};
    double low = fmin(w.from, w.to), high = fmax(w.from, w.to), h = equations->step_size,
           rate = (w.to - w.from) / h;
    if (is_led(system, law)) return w;
    if (law->spring != NULL && profile_next_kink(law->spring, low) < high)
        w.hidden = hidden_energy(law->spring, w.from, w.to);
    if (w.hidden > 0.0) w.moved = 0.5 * mass_of(s, e) * rate * rate;
    if (leaps(&w) || law->damper == NULL) return w;
    return rates_of(s, e, step->angle_start[e->angle + DRIVE_ROTOR], rate, h);
}

int barriers_leapt(hn_simulation *s, const solved_step *step)
{
    if (s->barriers.momentum == NULL) return -1;
    for (int i = 0; i < s->system->drive_count; ++i) {
        if (s->system->laws[i].spring == NULL && s->system->laws[i].damper == NULL) continue;
        table_way w = way_of(s, step, i);
        if (leaps(&w)) return i;
    }
    return -1;
}

void barriers_name(hn_simulation *s, const solved_step *step, int drive)
{
    const element *e = &s->system->elements[s->system->drive_first + drive];
    if (s->barriers.named[drive]) return;
    s->barriers.named[drive] = true;
    table_way w = way_of(s, step, drive);
    const char *unit = e->displacement ? "m" : "rad", *effort = e->displacement ? "N" : "N m";
    const double h = step->equations.step_size, time = step->equations.time;
    if (w.over_rates)
        context_log(s->context,
                    "drive '%s': the step of %.3g s at t = %.6g s goes from %.6g to %.6g %s/s, "
                    "over points of its damper's table between which the effort is up to %.3g %s "
                    "off what their ends show, beside %.3g %s that change the rate: whether it "
                    "passes there is not sure; a smaller step resolves it",
                    e->name, h, time, w.from, w.to, unit, w.hidden, effort, w.moved, effort);
    else
        context_log(s->context,
                    "drive '%s': the step of %.3g s at t = %.6g s goes from %.6g to %.6g %s, over "
                    "points of its table between which the energy is up to %.3g J off what their "
                    "ends show, beside a kinetic energy of %.3g J: whether it passes there, and "
                    "when, is not sure; a smaller step resolves it",
                    e->name, h, time, w.from, w.to, unit, w.hidden, w.moved);
}
