// SPDX-License-Identifier: MIT
// Functions of time: their values with derivatives, their means over a step, their corners.
// Note: docs/theory/forces.md
//
//   (F7)   linear between points, constant outside: mean over [t_0, t_1] = 1/(t_1 - t_0) sum (x_i+1 - x_i)
//          (f_i + f_i+1)/2 over the pieces between t_0, the points inside and t_1; without a point inside it is the
//          value in the middle
//   (F12)  splines and steps: Gauss quadrature with three points on every piece, exact for polynomials of degree five
//   (F13)  expressions: with five points on every piece without a corner, in halves of halves until these agree and
//          bounds of the expression have no peak that its points do not see; corners are found by bisection of what
//          abs, min, max and comparisons decide
//   (F21)  corners lie where bounds of both sides of abs, min, max or a comparison meet over spans however short
//
// Found by bisection, the cost grows with the points inside: all steps of a run together pass every point once.
#include "model/profiles.h"

#include "base/sum.h"

#include <float.h>
#include <math.h>

typedef struct profile_points {
    int count;
    const double *times, *factors;
} profile_points;

// Points between which the function is smooth. `own`: room for the times of a pulse or step. A constant has none, and
// an expression has corners nobody knows before.
static profile_points points_of(const hn_profile *profile, double own[3])
{
    static const double triangle[3] = {0.0, 1.0, 0.0}, rise[2] = {0.0, 1.0};
    switch (profile->kind) {
    case HN_PROFILE_TABLE:
    case HN_PROFILE_SPLINE:
        return (profile_points){profile->count, profile->times, profile->factors};
    case HN_PROFILE_PULSE:
        own[0] = profile->start, own[1] = profile->peak, own[2] = profile->end;
        return (profile_points){3, own, triangle};
    case HN_PROFILE_STEP:
        own[0] = profile->start, own[1] = profile->end;
        return (profile_points){2, own, rise};
    case HN_PROFILE_CONSTANT:
    case HN_PROFILE_EXPRESSION: break;
    }
    return (profile_points){0};
}

// How many points are not later than `time`
static int points_until(const profile_points *p, double time)
{
    int low = 0, high = p->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->times[middle] <= time) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The factor at a time with `before` points not later than it, straight between points
static double value_after(const profile_points *p, int before, double time)
{
    if (p->count == 0) return 1.0;
    if (before == 0) return p->factors[0];
    if (before == p->count) return p->factors[p->count - 1];
    double begin = p->times[before - 1], rise = p->factors[before] - p->factors[before - 1];
    return p->factors[before - 1] + (time - begin) / (p->times[before] - begin) * rise;
}

// 10 x^3 - 15 x^4 + 6 x^5
static time_jet smooth_rise(double x, double span)
{
    double y = 1.0 - x;
    return (time_jet){x * x * x * (10.0 + x * (6.0 * x - 15.0)), 30.0 * x * x * y * y / span,
                      60.0 * x * y * (y - x) / (span * span)};
}

// Cubic with values and slopes at both ends of a piece
static time_jet cubic(const hn_profile *profile, int before, double time)
{
    const double *t = profile->times + before - 1, *f = profile->factors + before - 1,
                 *m = profile->inner->slopes + before - 1;
    double h = t[1] - t[0], x = (time - t[0]) / h, chord = (f[1] - f[0]) / h;
    // f = f_0 + h x (m_0 + x (c + x d)) with c = 3 chord - 2 m_0 - m_1, d = m_0 + m_1 - 2 chord
    double c = 3.0 * chord - 2.0 * m[0] - m[1], d = m[0] + m[1] - 2.0 * chord;
    return (time_jet){f[0] + h * x * (m[0] + x * (c + x * d)), m[0] + x * (2.0 * c + 3.0 * x * d),
                      (2.0 * c + 6.0 * x * d) / h};
}

// The function at a time, whose place among the points is known
static time_jet jet_after(const hn_profile *profile, const profile_points *p, int before,
                          double time)
{
    bool inside = before > 0 && before < p->count;
    if (profile->kind == HN_PROFILE_EXPRESSION)
        return time_expression_at(profile->inner->code, profile->inner->code_count, time, NULL);
    if (inside && profile->kind == HN_PROFILE_SPLINE) return cubic(profile, before, time);
    if (inside && profile->kind == HN_PROFILE_STEP) {
        double span = p->times[1] - p->times[0];
        return smooth_rise((time - p->times[0]) / span, span);
    }
    double rate = !inside ? 0.0
                          : (p->factors[before] - p->factors[before - 1]) /
                                (p->times[before] - p->times[before - 1]);
    return (time_jet){value_after(p, before, time), rate, 0.0};
}

time_jet profile_at(const hn_profile *profile, double time)
{
    double own[3];
    profile_points p = points_of(profile, own);
    return jet_after(profile, &p, points_until(&p, time), time);
}

static bool is_curved(const hn_profile *profile)
{
    return profile->kind == HN_PROFILE_SPLINE || profile->kind == HN_PROFILE_STEP ||
           profile->kind == HN_PROFILE_EXPRESSION;
}

static uint64_t sides_at(const struct hn_profile_inner *f, double time)
{
    uint64_t sides;
    (void)time_expression_at(f->code, f->code_count, time, &sides);
    return sides;
}

// An expression within a piece: at its ends it is what it is inside, should they be corners
static double expression_within(const struct hn_profile_inner *f, double begin, double end,
                                double part)
{
    double time = part < 1.0 ? begin + part * (end - begin) : end, aside = time;
    if (!f->has_corners) return time_expression_at(f->code, f->code_count, time, NULL).value;
    if (time <= begin + PROFILE_SAME_TIME * fabs(begin))
        aside = begin + PROFILE_SAME_TIME * fabs(begin);
    else if (time >= end - PROFILE_SAME_TIME * fabs(end))
        aside = end - PROFILE_SAME_TIME * fabs(end);
    if (aside != time && sides_at(f, aside) != sides_at(f, time)) time = aside;
    return time_expression_at(f->code, f->code_count, time, NULL).value;
}

double profile_within(const hn_profile *profile, double begin, double end, double part)
{
    if (profile->kind == HN_PROFILE_EXPRESSION)
        return expression_within(profile->inner, begin, end, part);
    if (is_curved(profile)) return profile_at(profile, begin + part * (end - begin)).value;
    return (1.0 - part) * profile_at(profile, begin).value + part * profile_at(profile, end).value;
}

// ---- corners of expressions -----------------------------------------------------------------------------

enum { BISECTIONS = 60, LOOKS_MAX = 2000, SAMPLES = 64 };
static const double NARROW = 1e-12; // of a span: it holds one corner at most

// Times before and after a corner, closer together than any others; `first`: the sides before it
static void bisect_corner(const struct hn_profile_inner *f, uint64_t first, double *same,
                          double *other)
{
    for (int i = 0; i < BISECTIONS && *same < *other; ++i) {
        double middle = *same + 0.5 * (*other - *same);
        if (middle <= *same || middle >= *other) break;
        *(sides_at(f, middle) == first ? same : other) = middle;
    }
}

// Where there are too many places that bounds cannot tell from corners
static double sample_corner(const struct hn_profile_inner *f, uint64_t first, double begin,
                            double end, double *same)
{
    *same = begin;
    for (int k = 1; k <= SAMPLES; ++k) {
        double time = k < SAMPLES ? begin + (end - begin) / SAMPLES * k : end;
        if (sides_at(f, time) != first) {
            bisect_corner(f, first, same, &time);
            return time;
        }
        *same = time;
    }
    return HUGE_VAL;
}

// (F21) First time after `begin`, until `end`, at which abs, min, max or a comparison takes its other side, and the
// last time before it; HUGE_VAL: none. Spans over which all of them keep theirs are passed, others are cut until they
// are narrow. `*sure` false: some may have been passed.
static double find_corner(const struct hn_profile_inner *f, double begin, double end, double *same,
                          bool *sure)
{
    uint64_t first = sides_at(f, begin);
    double span = end - begin, time = begin, width = span;
    *sure = true;
    for (int looks = 0; time < end; ++looks) {
        double until = width < end - time ? time + width : end;
        double narrow = NARROW * span + 4.0 * DBL_EPSILON * fabs(time);
        bool smooth;
        (void)time_expression_over(f->code, f->code_count, time, until, &smooth);
        if (!smooth && until - time > narrow) {
            if (looks > LOOKS_MAX) {
                *sure = false;
                return sample_corner(f, first, time, end, same);
            }
            width = 0.25 * (until - time);
            continue;
        }
        if (!smooth && sides_at(f, until) != first) {
            *same = time;
            bisect_corner(f, first, same, &until);
            return until;
        }
        width = 2.0 * (until - time);
        time = until;
    }
    return HUGE_VAL;
}

double profile_next_corner(const hn_profile *profile, double begin, double end, bool *sure)
{
    double same, kink;
    *sure = true;
    if (profile->kind == HN_PROFILE_EXPRESSION)
        return profile->inner->has_corners && begin < end
                   ? find_corner(profile->inner, begin, end, &same, sure)
                   : HUGE_VAL;
    kink = profile_next_kink(profile, begin);
    return kink <= end ? kink : HUGE_VAL;
}

bool profile_has_corner_at(const hn_profile *profile, double time)
{
    double aside = PROFILE_SAME_TIME * fabs(time);
    return profile->kind == HN_PROFILE_EXPRESSION && profile->inner->has_corners &&
           sides_at(profile->inner, time - aside) != sides_at(profile->inner, time + aside);
}

profile_sight profile_is_seen(const hn_profile *profile, double begin, double end,
                              const double *nodes, int count, double small)
{
    const double ASIDE = 1e-9, PEAK = 0.1, POINT = 1e-6; // of the span; of the largest; of the span
    const struct hn_profile_inner *f = profile->inner;
    if (profile->kind != HN_PROFILE_EXPRESSION || !(end > begin)) return PROFILE_SEEN;
    time_range seen = {HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < count; ++k) {
        double value = expression_within(f, begin, end, nodes[k]);
        seen = (time_range){fmin(seen.low, value), fmax(seen.high, value)};
    }
    double peak = fmax(small, PEAK * fmax(fabs(seen.low), fabs(seen.high))), span = end - begin;
    double time = begin + ASIDE * span, last = end - ASIDE * span, width = span;
    profile_sight sight = PROFILE_SEEN;
    for (int looks = 0; time < last; ++looks) {
        double until = width < last - time ? time + width : last;
        bool smooth;
        time_range r = time_expression_over(f->code, f->code_count, time, until, &smooth);
        if (!(r.low >= seen.low - peak && r.high <= seen.high + peak)) {
            double value =
                time_expression_at(f->code, f->code_count, 0.5 * (time + until), NULL).value;
            if (value < seen.low - peak || value > seen.high + peak || looks > LOOKS_MAX)
                return looks > LOOKS_MAX ? PROFILE_UNSURE : PROFILE_HIDDEN;
            if (until - time > POINT * span) {
                width = 0.5 * (until - time);
                continue;
            }
            sight = PROFILE_UNSURE;
        }
        width = 2.0 * (until - time);
        time = until;
    }
    return sight;
}

// ---- means --------------------------------------------------------------------------------------------

enum { GAUSS_MAX = 5, CORNERS_MAX = 64 };
static const double GAUSS_THREE[2][3] = {{-0.77459666924148337704, 0.0, 0.77459666924148337704},
                                         {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0}};
static const double GAUSS_FIVE[2][5] = {{-0.90617984593866399280, -0.53846931010568309104, 0.0,
                                         0.53846931010568309104, 0.90617984593866399280},
                                        {0.11846344252809454376, 0.23931433524968323402,
                                         0.28444444444444444444, 0.23931433524968323402,
                                         0.11846344252809454376}};

// (F12) of one piece
static double mean_of_piece(const hn_profile *profile, const profile_points *p, int before,
                            double begin, double end)
{
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        double time = 0.5 * (begin + end) + 0.5 * (end - begin) * GAUSS_THREE[0][k];
        sum += GAUSS_THREE[1][k] * jet_after(profile, p, before, time).value;
    }
    return sum;
}

static double mean_by_pieces(const hn_profile *profile, const profile_points *p, double begin,
                             double end)
{
    int next = points_until(p, begin);
    if (next == p->count || p->times[next] >= end)
        return mean_of_piece(profile, p, next, begin, end);
    exact_sum sum = {0};
    double time = begin, span = end - begin;
    for (; time < end; ++next) {
        double until = next < p->count ? fmin(p->times[next], end) : end;
        sum_add(&sum, (until - time) / span * mean_of_piece(profile, p, next, time, until));
        time = until;
    }
    return sum_total(&sum);
}

// ---- of expressions

enum { PIECES_MAX = 1024 };
static const double SAME_MEAN = 1e-11; // of the largest value seen in the span
static const double LOW_PEAK = 1e-3;   // likewise: not looked for

// A mean that is being found in pieces: how many are left, and were they enough?
typedef struct mean_pieces {
    const hn_profile *profile;
    double largest;
    int left;
    bool sure;
} mean_pieces;

static double gauss_five(mean_pieces *m, double begin, double end)
{
    const struct hn_profile_inner *f = m->profile->inner;
    double sum = 0.0;
    for (int k = 0; k < GAUSS_MAX; ++k) {
        double x = 0.5 + 0.5 * GAUSS_FIVE[0][k], time = begin + x * (end - begin);
        double value = time_expression_at(f->code, f->code_count, time, NULL).value;
        m->largest = fmax(m->largest, fabs(value));
        sum += GAUSS_FIVE[1][k] * value;
    }
    return sum;
}

// Do the points of a piece see what the expression does there?
static bool is_hidden(const mean_pieces *m, double begin, double end)
{
    double parts[GAUSS_MAX];
    for (int k = 0; k < GAUSS_MAX; ++k) parts[k] = 0.5 + 0.5 * GAUSS_FIVE[0][k];
    return profile_is_seen(m->profile, begin, end, parts, GAUSS_MAX, LOW_PEAK * m->largest) ==
           PROFILE_HIDDEN;
}

// (F13) of a smooth piece, whose mean by five points is `whole`. The larger half comes first: beside a peak its slopes
// are small.
static double mean_of_halves(mean_pieces *m, double begin, double end, double whole)
{
    double middle = begin + 0.5 * (end - begin);
    bool hidden = is_hidden(m, begin, end);
    double first = gauss_five(m, begin, middle), last = gauss_five(m, middle, end);
    if (!hidden && !(fabs(0.5 * (first + last) - whole) > SAME_MEAN * m->largest)) return whole;
    if (m->left <= 0 || !(begin < middle && middle < end)) {
        m->sure = false;
        return 0.5 * (first + last);
    }
    m->left -= 2;
    bool rising = fabs(last) > fabs(first);
    if (rising) last = mean_of_halves(m, middle, end, last);
    first = mean_of_halves(m, begin, middle, first);
    if (!rising) last = mean_of_halves(m, middle, end, last);
    return 0.5 * (first + last);
}

// (F13): the mean over [begin, *end], where *end comes back as the first corner after `begin`
static double mean_until_corner(mean_pieces *m, double begin, double *end, bool split,
                                double *by_points)
{
    const struct hn_profile_inner *f = m->profile->inner;
    double same = *end;
    // a little inside, so that a corner at `begin` itself is behind
    double inside = begin + 1e-12 * (*end - begin);
    if (split && f->has_corners) {
        bool sure;
        double corner = find_corner(f, inside, *end, &same, &sure);
        m->sure = m->sure && sure;
        if (corner < *end) *end = corner;
        else same = *end;
    }
    *by_points = gauss_five(m, begin, same);
    return mean_of_halves(m, begin, same, *by_points);
}

static profile_average mean_of_expression(const hn_profile *profile, double begin, double end)
{
    exact_sum sum = {0}, points_sum = {0};
    mean_pieces m = {profile, 0.0, PIECES_MAX, true};
    double time = begin, span = end - begin, mean = 0.0, by_points = 0.0;
    int corners = 0;
    for (; time < end; ++corners) {
        double until = end;
        mean = mean_until_corner(&m, time, &until, corners < CORNERS_MAX, &by_points);
        sum_add(&sum, (until - time) / span * mean);
        sum_add(&points_sum, (until - time) / span * by_points);
        time = until;
    }
    bool one = corners == 1;
    return (profile_average){.mean = one ? mean : sum_total(&sum),
                             .by_points = one ? by_points : sum_total(&points_sum),
                             .sure = m.sure && corners <= CORNERS_MAX};
}

// (F7)
static double mean_of_lines(const profile_points *p, double begin, double end)
{
    double span = end - begin;
    int first = points_until(p, begin);
    if (first == p->count || p->times[first] >= end) // one piece of a line
        return value_after(p, first, begin + 0.5 * span);
    exact_sum sum = {0};
    double time = begin, value = value_after(p, first, begin);
    int next = first;
    for (; next < p->count && p->times[next] < end; ++next) {
        sum_add(&sum, (p->times[next] - time) / span * (0.5 * value + 0.5 * p->factors[next]));
        time = p->times[next], value = p->factors[next];
    }
    double last = value_after(p, next, end);
    sum_add(&sum, (end - time) / span * (0.5 * value + 0.5 * last));
    return sum_total(&sum);
}

profile_average profile_average_over(const hn_profile *profile, double begin, double end)
{
    double own[3], mean;
    if (end < begin) return profile_average_over(profile, end, begin); // a way back in time
    if (profile->kind == HN_PROFILE_EXPRESSION && begin < end)
        return mean_of_expression(profile, begin, end);
    profile_points p = points_of(profile, own);
    if (profile->kind == HN_PROFILE_CONSTANT) mean = 1.0;
    else if (!(end > begin)) mean = profile_at(profile, begin).value;
    else if (is_curved(profile)) mean = mean_by_pieces(profile, &p, begin, end);
    else mean = mean_of_lines(&p, begin, end);
    return (profile_average){.mean = mean, .by_points = mean, .sure = true};
}

double profile_mean(const hn_profile *profile, double begin, double end)
{
    return profile_average_over(profile, begin, end).mean;
}

// ---- corners ------------------------------------------------------------------------------------------

double profile_next_kink(const hn_profile *profile, double time)
{
    double own[3];
    profile_points p = points_of(profile, own);
    int next = points_until(&p, time);
    return next < p.count ? p.times[next] : HUGE_VAL;
}

static const double JUMP = 1e-9;   // of the larger rate: less is none
static const double ASIDE = 1e-12; // of the time in which a corner was looked for

static bool jumps(double before, double after)
{
    return fabs(after - before) > JUMP * fmax(fabs(before), fabs(after));
}

bool profile_may_jump(const hn_profile *profile)
{
    return profile->kind == HN_PROFILE_TABLE || profile->kind == HN_PROFILE_PULSE ||
           (profile->kind == HN_PROFILE_EXPRESSION && profile->inner->has_corners);
}

static double next_jump_of_expression(const struct hn_profile_inner *f, double begin, double end)
{
    for (int corners = 0; corners < CORNERS_MAX && begin < end; ++corners) {
        double same;
        bool sure;
        double other = find_corner(f, begin, end, &same, &sure);
        if (!isfinite(other)) return HUGE_VAL;
        // a little aside, as the corner itself belongs to either side
        double aside = ASIDE * (end - begin) + 4.0 * DBL_EPSILON * fabs(other);
        time_jet before = time_expression_at(f->code, f->code_count, same - aside, NULL),
                 after = time_expression_at(f->code, f->code_count, other + aside, NULL);
        double span = 2.0 * aside + (other - same),
               bends = span * fmax(fabs(before.acceleration), fabs(after.acceleration)),
               leads = span * fmax(fabs(before.rate), fabs(after.rate));
        bool leaps =
            fabs(after.value - before.value) > 2.0 * leads && jumps(before.value, after.value);
        if (leaps ||
            (fabs(after.rate - before.rate) > 2.0 * bends && jumps(before.rate, after.rate)))
            return other;
        begin = other;
    }
    return HUGE_VAL;
}

double profile_next_jump(const hn_profile *profile, double begin, double end)
{
    double own[3];
    if (!(end > begin) || !profile_may_jump(profile)) return HUGE_VAL;
    if (profile->kind == HN_PROFILE_EXPRESSION)
        return next_jump_of_expression(profile->inner, begin, end);
    profile_points p = points_of(profile, own);
    for (int next = points_until(&p, begin); next < p.count && p.times[next] <= end; ++next)
        if (jumps(jet_after(profile, &p, next, p.times[next]).rate,
                  jet_after(profile, &p, next + 1, p.times[next]).rate))
            return p.times[next];
    return HUGE_VAL;
}

double profile_finest(const hn_profile *profile, double *time)
{
    double own[3], finest = HUGE_VAL;
    profile_points p = points_of(profile, own);
    for (int i = 1; i < p.count; ++i)
        if (p.times[i] - p.times[i - 1] < finest)
            finest = p.times[i] - p.times[i - 1], *time = p.times[i - 1];
    return finest;
}
