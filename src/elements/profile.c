// SPDX-License-Identifier: MIT
// Time profiles of loads: continuous, linear between points, constant before the first and after the last.
//
//   (F7)  mean over [t_0, t_1] = 1/(t_1 - t_0) sum (x_i+1 - x_i) (f_i + f_i+1)/2 over the pieces between t_0, the
//   points
//         inside and t_1; without a point inside it is the value in the middle
//
// Found by bisection, the cost grows with the points inside: all steps of a run together pass every point once.
#include "elements/element.h"

#include "base/sum.h"

typedef struct profile_points {
    int count;
    const double *times, *factors;
} profile_points;

// `pulse`: room for the three times of a pulse. A constant has no points.
static profile_points points_of(const hn_profile *profile, double pulse[3])
{
    static const double triangle[3] = {0.0, 1.0, 0.0};
    if (profile->kind == HN_PROFILE_CONSTANT) return (profile_points){0};
    if (profile->kind == HN_PROFILE_TABLE)
        return (profile_points){profile->count, profile->times, profile->factors};
    pulse[0] = profile->start, pulse[1] = profile->peak, pulse[2] = profile->end;
    return (profile_points){3, pulse, triangle};
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

// The factor at a time with `before` points not later than it
static double value_after(const profile_points *p, int before, double time)
{
    if (p->count == 0) return 1.0;
    if (before == 0) return p->factors[0];
    if (before == p->count) return p->factors[p->count - 1];
    double begin = p->times[before - 1], rise = p->factors[before] - p->factors[before - 1];
    return p->factors[before - 1] + (time - begin) / (p->times[before] - begin) * rise;
}

double profile_mean(const hn_profile *profile, double begin, double end)
{
    double pulse[3];
    profile_points p = points_of(profile, pulse);
    if (p.count == 0) return 1.0;
    double span = end - begin;
    int first = points_until(&p, begin);
    if (!(span > 0.0)) return value_after(&p, first, begin);
    if (first == p.count || p.times[first] >= end) // one piece of a line
        return value_after(&p, first, begin + 0.5 * span);
    exact_sum sum = {0};
    double time = begin, value = value_after(&p, first, begin);
    int next = first;
    for (; next < p.count && p.times[next] < end; ++next) {
        sum_add(&sum, (p.times[next] - time) / span * (0.5 * value + 0.5 * p.factors[next]));
        time = p.times[next], value = p.factors[next];
    }
    double last = value_after(&p, next, end);
    sum_add(&sum, (end - time) / span * (0.5 * value + 0.5 * last));
    return sum_total(&sum);
}

double profile_next_kink(const hn_profile *profile, double time)
{
    double pulse[3];
    profile_points p = points_of(profile, pulse);
    int next = points_until(&p, time);
    return next < p.count ? p.times[next] : HUGE_VAL;
}

double profile_finest(const hn_profile *profile, double *time)
{
    double pulse[3], finest = HUGE_VAL;
    profile_points p = points_of(profile, pulse);
    for (int i = 1; i < p.count; ++i)
        if (p.times[i] - p.times[i - 1] < finest)
            finest = p.times[i] - p.times[i - 1], *time = p.times[i - 1];
    return finest;
}
