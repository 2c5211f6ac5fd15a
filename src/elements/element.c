// SPDX-License-Identifier: MIT
// The table of element kinds and what their files share.
#include "elements/element.h"

const element_type *element_type_of(element_kind kind)
{
    static const element_type *const types[] = {
        [ELEMENT_FORCE] = &element_force,
        [ELEMENT_TORQUE] = &element_torque,
        [ELEMENT_SPRING] = &element_spring,
        [ELEMENT_TORSION_SPRING] = &element_torsion_spring,
    };
    return types[kind];
}

double profile_factor(const hn_profile *profile, double time)
{
    switch (profile->kind) {
    case HN_PROFILE_CONSTANT: return 1.0;
    case HN_PROFILE_PULSE:
        if (time <= profile->start || time >= profile->end) return 0.0;
        if (time <= profile->peak)
            return (time - profile->start) / (profile->peak - profile->start);
        return (profile->end - time) / (profile->end - profile->peak);
    case HN_PROFILE_TABLE: break;
    }
    if (time <= profile->times[0]) return profile->factors[0];
    if (time >= profile->times[profile->count - 1]) return profile->factors[profile->count - 1];
    // bisection for the interval that holds `time`
    int low = 0, high = profile->count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (profile->times[middle] <= time) low = middle;
        else high = middle;
    }
    double part = (time - profile->times[low]) / (profile->times[high] - profile->times[low]);
    return profile->factors[low] + part * (profile->factors[high] - profile->factors[low]);
}

double profile_next_kink(const hn_profile *profile, double time)
{
    const double pulse[3] = {profile->start, profile->peak, profile->end};
    const double *times = profile->kind == HN_PROFILE_PULSE ? pulse : profile->times;
    int count = profile->kind == HN_PROFILE_PULSE ? 3 : profile->count;
    if (profile->kind == HN_PROFILE_CONSTANT) return HUGE_VAL;
    // bisection for the first of `times` that is later
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (times[middle] > time) high = middle;
        else low = middle + 1;
    }
    return low < count ? times[low] : HUGE_VAL;
}

hn_vec3 element_vector(const double *coefficients, const double *a, const double *b)
{
    hn_vec3 sum = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 4; ++k) {
        if (coefficients[k] != 0.0)
            sum = vec3_add_scaled(sum, coefficients[k], vec3_load(a + 3 * k));
        if (coefficients[4 + k] != 0.0)
            sum = vec3_add_scaled(sum, coefficients[4 + k], vec3_load(b + 3 * k));
    }
    return sum;
}

static void add_to_body(const double *coefficients, hn_vec3 f, double *residual)
{
    if (residual == NULL) return;
    for (int k = 0; k < 4; ++k) {
        residual[3 * k + 0] += coefficients[k] * f.x;
        residual[3 * k + 1] += coefficients[k] * f.y;
        residual[3 * k + 2] += coefficients[k] * f.z;
    }
}

void element_add(const double *coefficients, hn_vec3 f, element_output *out)
{
    add_to_body(coefficients, f, out->residual_a);
    add_to_body(coefficients + 4, f, out->residual_b);
}

stiffness_term *element_next_term(element_output *out, const double *u, const double *v)
{
    stiffness_term *term = &out->terms[out->term_count++];
    for (int k = 0; k < 8; ++k) term->u[k] = u[k], term->v[k] = v[k];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) term->c[i][k] = 0.0;
    return term;
}

double element_angle(const element *e, const double *a, const double *b, double near)
{
    const double a1[8] = {0.0, e->a1.x, e->a1.y, e->a1.z}, a2[8] = {0.0, e->a2.x, e->a2.y, e->a2.z};
    const double b1[8] = {0.0, 0.0, 0.0, 0.0, 0.0, e->b1.x, e->b1.y, e->b1.z};
    hn_vec3 x = element_vector(b1, a, b);
    double angle =
        atan2(vec3_dot(element_vector(a2, a, b), x), vec3_dot(element_vector(a1, a, b), x));
    const double turn = 6.283185307179586;
    return angle + turn * nearbyint((near - angle) / turn);
}
