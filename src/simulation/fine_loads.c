// SPDX-License-Identifier: MIT
// Functions of time that are finer than the step: what happens within a step is not resolved, and they are named.
// Notes: docs/theory/forces.md, docs/theory/drives.md
//
// Tables and pulses are known by their points when a simulation is made. Expressions are looked at in every step with a
// ledger, or ahead when asked. Of a load: is there more than one corner, and is the mean over the step (F13) that of
// its five points? Of a drive: how far does the function go, within a step, from what the ends of the step show?
//
//   (D14)  max |f - chord|, and where f is smooth max |f - cubic with values and rates at both ends|: parts of the
//          range of f
#include "simulation/simulation.h"

#include <string.h>

// Kinks closer than this part of a step are finer than the step.
static const double FINE_PROFILE = 1.0 - 1e-9;
static const double FINE_MEAN = 1e-3; // of the largest mean so far: means differ by less
// (D14): of sines with fewer than seven steps in a period, and with fewer than five
static const double FINE_CHORD = 0.05, FINE_CURVE = 0.005;
static const double LOW_PEAK = 0.01; // of the range: not looked for
enum { NODES = 5, PIECES_MAX = 256, CORNERS_MAX = 64 };
enum { RANGE_LOOKS = 256 }; // steps from the start: how large an expression is, roughly
static const int64_t LOOKED_AHEAD = 20000;  // steps: about a tenth of a second for a load
static const int64_t POINTS_STEPS = 100000; // steps with points of a table in them

// ---- loads ----------------------------------------------------------------------------------------------

// Two corners within a step, but not at its ends
static bool has_two_corners(const hn_profile *profile, double begin, double end)
{
    double aside = (1.0 - FINE_PROFILE) * (end - begin);
    double first = profile_next_jump(profile, begin + aside, end - aside);
    return isfinite(first) && isfinite(profile_next_jump(profile, first + aside, end - aside));
}

// `name`: or only how large loads are
static void look_at_loads(hn_simulation *s, double begin, double h, bool name)
{
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        if (e->profile == NULL || e->profile->kind != HN_PROFILE_EXPRESSION ||
            s->load_sizes[i] < 0.0)
            continue;
        double sign = e->reversed ? -1.0 : 1.0, from = e->time_shift + sign * begin,
               to = e->time_shift + sign * (begin + h);
        profile_average x = profile_average_over(e->profile, fmin(from, to), fmax(from, to));
        s->load_sizes[i] = fmax(s->load_sizes[i], fmax(fabs(x.mean), fabs(x.by_points)));
        bool within = !x.sure || fabs(x.mean - x.by_points) > FINE_MEAN * s->load_sizes[i];
        if (!name || (!within && !has_two_corners(e->profile, fmin(from, to), fmax(from, to))))
            continue;
        s->load_sizes[i] = -1.0; // said
        if (s->fine_load < 0) s->fine_load = i;
        context_log(
            s->context,
            "load '%s': its expression is finer than the step of %.3g s at t = %.6g s: %s; a "
            "smaller step resolves it",
            e->name, h, begin,
            !x.sure ? "its impulse in the step is not sure, nor when it acts there"
                    : "its impulse is kept, when it acts within a step is not");
    }
}

// ---- drives ---------------------------------------------------------------------------------------------

// A drive that does what a function of time says, which no input stands for
static bool has_function(const drive_law *law)
{
    bool told = law->kind == HN_DRIVE_EFFORT || law->kind == HN_DRIVE_SERVO ||
                law->kind == HN_DRIVE_MOTOR || law->kind == HN_DRIVE_MOTION;
    return told && law->law == NULL && law->function != NULL && isnan(law->held) &&
           law->function->kind != HN_PROFILE_CONSTANT;
}

static void extend(function_range *r, double value)
{
    if (!isfinite(value)) return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

// The line and the cubic that the ends of a span show
typedef struct span_ends {
    double begin, end, from, to; // times, values
    double leaves, comes;        // rates
} span_ends;

static span_ends ends_of(const hn_profile *f, double begin, double end)
{
    const double ASIDE = 1e-9; // of the span: rates inside, should it end at corners
    double aside = ASIDE * (end - begin);
    return (span_ends){begin,
                       end,
                       profile_within(f, begin, end, 0.0),
                       profile_within(f, begin, end, 1.0),
                       profile_at(f, begin + aside).rate,
                       profile_at(f, end - aside).rate};
}

// (D14)
typedef struct departure {
    double chord, curve;
    int pieces; // looked at
} departure;

static void depart(const hn_profile *f, const span_ends *x, double time, departure *d,
                   function_range *range)
{
    double h = x->end - x->begin, part = (time - x->begin) / h, left = 1.0 - part,
           value = profile_at(f, time).value, chord = left * x->from + part * x->to,
           slope = (x->to - x->from) / h,
           bend = h * part * left * (left * (x->leaves - slope) - part * (x->comes - slope));
    extend(range, value);
    if (!isfinite(value)) return;
    d->chord = fmax(d->chord, fabs(value - chord));
    d->curve = fmax(d->curve, fabs(value - chord - bend));
}

// In halves of halves, until points of each see what the function does there
static void depart_within(const hn_profile *f, const span_ends *x, double begin, double end,
                          departure *d, function_range *range)
{
    static const double parts[NODES] = {0.04691007703066800, 0.23076534494715845, 0.5,
                                        0.76923465505284155, 0.95308992296933200};
    double middle = 0.5 * (begin + end);
    for (int k = 0; k < NODES; ++k) depart(f, x, begin + parts[k] * (end - begin), d, range);
    if (++d->pieces > PIECES_MAX || !(begin < middle && middle < end) ||
        profile_is_seen(f, begin, end, parts, NODES, LOW_PEAK * (range->high - range->low)) !=
            PROFILE_HIDDEN)
        return;
    depart_within(f, x, begin, middle, d, range);
    depart_within(f, x, middle, end, d, range);
}

// (D14) over a step. One corner in it is resolved: it ends a mean, or a step of a motion. More are not, and nothing
// between the ends of the step is.
static departure departure_of(const hn_profile *f, double begin, double end, function_range *range)
{
    double aside = (1.0 - FINE_PROFILE) * (end - begin), corners[CORNERS_MAX + 2];
    int count = 1;
    bool sure;
    corners[0] = begin;
    for (double at = begin + aside; count <= CORNERS_MAX; corners[count++] = at) {
        at = profile_next_corner(f, at + aside, end - aside, &sure);
        if (!isfinite(at)) break;
    }
    corners[count] = end;
    departure d = {0};
    span_ends step = ends_of(f, begin, end);
    extend(range, step.from);
    extend(range, step.to);
    for (int k = 0; k < count; ++k) {
        span_ends piece = ends_of(f, corners[k], corners[k + 1]);
        extend(range, piece.from);
        extend(range, piece.to);
        if (count > 2 && k > 0) depart(f, &step, corners[k], &d, range);
        d.pieces = 0;
        depart_within(f, count > 2 ? &step : &piece, corners[k], corners[k + 1], &d, range);
    }
    if (count > 2) d.curve = d.chord;
    return d;
}

static const char *word_of(const drive_law *law)
{
    switch (law->kind) {
    case HN_DRIVE_EFFORT: return "effort";
    case HN_DRIVE_SERVO: return "target";
    case HN_DRIVE_MOTOR: return "command";
    default: return "motion";
    }
}

static void name_drive(hn_simulation *s, const element *e, double begin, double h, double way)
{
    const drive_law *law = e->law;
    bool moves = law->kind == HN_DRIVE_MOTION;
    const char *unit = e->displacement ? "m" : "rad";
    const char *does = moves ? "no body sees it go there"
                       : profile_average_over(law->function, begin, begin + h).sure
                           ? "its mean over the step is right, when it acts within the step is not"
                           : "its mean over the step is not sure, nor when it acts there";
    int index = (int)(e - s->system->elements);
    if (s->fine_load < 0) s->fine_load = index;
    if (!moves) unit = drive_command_unit(law, unit);
    bool pure = strcmp(unit, "1") == 0;
    context_log(
        s->context,
        "drive '%s': its %s is finer than the step of %.3g s at t = %.6g s: within the step "
        "it goes %.3g%s%s beyond what the ends of the step show, and %s; a smaller step "
        "resolves it",
        e->name, word_of(law), h, begin, way, pure ? "" : " ", pure ? "" : unit, does);
}

static void look_at_drive(hn_simulation *s, int index, double begin, double h, bool name)
{
    const element *e = &s->system->elements[s->system->drive_first + index];
    function_range *range = &s->drive_ranges[index];
    if (range->named || !has_function(e->law)) return;
    departure d = departure_of(e->law->function, begin, begin + h, range);
    double span = range->high - range->low;
    if (!name || !(d.chord > FINE_CHORD * span && d.curve > FINE_CURVE * span)) return;
    range->named = true;
    name_drive(s, e, begin, h, fabs(e->law->scale) * d.chord);
}

static bool has_points(const hn_profile *profile)
{
    return profile->kind != HN_PROFILE_EXPRESSION && profile->kind != HN_PROFILE_CONSTANT;
}

// All steps with points of a table in them
static void look_at_points(hn_simulation *s, int index)
{
    const element *e = &s->system->elements[s->system->drive_first + index];
    const double h = s->def.step_size;
    double at = 0.0, finest = profile_finest(e->law->function, &at), last = -HUGE_VAL;
    if (!(finest < FINE_PROFILE * h)) return;
    double time = hn_simulation_time(s) - h;
    for (int64_t k = 0; k < POINTS_STEPS && !s->drive_ranges[index].named; ++k) {
        time = profile_next_kink(e->law->function, fmax(time, last + h));
        if (!isfinite(time)) return;
        last = h * floor(time / h);
        look_at_drive(s, index, last, h, true);
    }
}

static void warn_drives(hn_simulation *s)
{
    for (int i = 0; i < s->system->drive_count; ++i) {
        const drive_law *law = &s->system->laws[i];
        function_range *range = &s->drive_ranges[i];
        *range = (function_range){.low = HUGE_VAL, .high = -HUGE_VAL};
        if (!has_function(law)) continue;
        const hn_profile *f = law->function;
        bool points = has_points(f);
        double time = hn_simulation_time(s);
        for (int k = 0; !points && k <= RANGE_LOOKS; ++k)
            extend(range, profile_at(f, time + k * s->def.step_size).value);
        for (int k = 0; f->factors != NULL && k < f->count; ++k) extend(range, f->factors[k]);
        if (points && f->factors == NULL) range->low = 0.0, range->high = 1.0; // a pulse, a step
        if (points && s->def.step_tolerance == 0.0) look_at_points(s, i);
    }
}

// ---- both -----------------------------------------------------------------------------------------------

static void look_at_step(hn_simulation *s, double begin, double h, bool name)
{
    if (s->load_sizes != NULL) look_at_loads(s, begin, h, name);
    // steps that are controlled are shorter
    double part = s->control.last_step > 0.0 ? fmin(s->control.last_step, h) : h;
    int parts = (int)fmin(ceil(h / part - FINE_PROFILE + 1.0 - 1e-6), PIECES_MAX);
    for (int i = 0; i < s->system->drive_count; ++i) {
        if (has_points(s->system->laws[i].function) && s->def.step_tolerance == 0.0) continue;
        for (int k = 0; k < parts && !s->drive_ranges[i].named; ++k)
            look_at_drive(s, i, begin + k * (h / parts), h / parts, name);
    }
}

void fine_loads_look(hn_simulation *s)
{
    double h = s->def.step_size;
    look_at_step(s, hn_simulation_time(s) - h, h, true);
}

void fine_loads_know_means(hn_simulation *s, double begin, double end)
{
    hn_system *system = s->system;
    for (int i = 0; i < system->element_count; ++i) {
        element *e = &system->elements[i];
        if (e->profile == NULL || e->profile->kind != HN_PROFILE_EXPRESSION) continue;
        double shift = e->time_shift, from = e->reversed ? shift - end : shift + begin,
               to = e->reversed ? shift - begin : shift + end;
        e->mean = (known_mean){true, from, to, profile_kept_mean(e->profile, &e->mean, from, to)};
    }
    for (int i = 0; i < system->drive_count; ++i) {
        drive_law *law = &system->laws[i];
        if (law->kind == HN_DRIVE_MOTION || !has_function(law) || has_points(law->function))
            continue;
        law->mean = (known_mean){true, begin, end,
                                 profile_kept_mean(law->function, &law->mean, begin, end)};
    }
}

void fine_loads_warn(hn_simulation *s)
{
    const double h = s->def.step_size;
    bool expressions = false;
    s->fine_load = -1;
    // schemes with steps of their own end them at kinks
    for (int i = 0; i < s->system->element_count && !s->scheme->ends_steps_at_kinks; ++i) {
        const element *e = &s->system->elements[i];
        expressions =
            expressions || (e->profile != NULL && e->profile->kind == HN_PROFILE_EXPRESSION);
        double at = 0.0, finest = e->profile == NULL ? HUGE_VAL : profile_finest(e->profile, &at);
        if (!(finest < FINE_PROFILE * h)) continue;
        if (s->fine_load < 0) s->fine_load = i;
        context_log(s->context,
                    "load '%s': two points of its profile are %.3g s apart at t = %.6g s, the step "
                    "is %.3g s: its impulse is kept, when it acts within a step is not; a smaller "
                    "step resolves it",
                    e->name, finest, at, h);
    }
    if (!expressions) s->load_sizes = NULL;
    if (s->def.ledger) warn_drives(s);
}

hn_status hn_simulation_check_loads(hn_simulation *s, double end)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, isfinite(end));
    const double h = s->def.step_size, begin = hn_simulation_time(s);
    int64_t count = (int64_t)fmin(ceil((end - begin) / h), (double)LOOKED_AHEAD);
    // how large they are first
    for (int pass = 0; pass < 2 && s->def.ledger; ++pass)
        for (int64_t k = 0; k < count; ++k) {
            if (context_take_cancel(s->context))
                return context_fail(s->context, HN_CANCELLED,
                                    "cancelled while loads were looked at");
            look_at_step(s, begin + (double)k * h, h, pass == 1);
        }
    return HN_OK;
}
