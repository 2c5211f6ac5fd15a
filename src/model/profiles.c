// SPDX-License-Identifier: MIT
// Functions of time: checks and copies; slopes of splines; expressions translated.
#include "model/profiles.h"

#include <math.h>
#include <string.h>

static hn_status check_table(hn_context *context, const char *kind, const char *name,
                             const hn_profile *profile)
{
    if (profile->count < 1 || profile->times == NULL || profile->factors == NULL)
        return context_fail(context, HN_INVALID_MODEL, "%s '%s': its table is empty", kind, name);
    for (int i = 0; i < profile->count; ++i) {
        if (!isfinite(profile->times[i]) || !isfinite(profile->factors[i]))
            return context_fail(context, HN_INVALID_MODEL,
                                "%s '%s': entry %d of its table is not finite", kind, name, i + 1);
        if (i > 0 && profile->times[i] <= profile->times[i - 1])
            return context_fail(
                context, HN_INVALID_MODEL,
                "%s '%s': time %d of its table is %g s, not above the one before; expected "
                "increasing times",
                kind, name, i + 1, profile->times[i]);
    }
    return HN_OK;
}

static hn_status check_expression(hn_context *context, const char *kind, const char *name,
                                  const char *text)
{
    time_instruction code[TIME_CODE_MAX];
    time_error error;
    if (text == NULL)
        return context_fail(context, HN_INVALID_MODEL, "%s '%s': its expression is missing", kind,
                            name);
    int count = time_expression_parse(text, code, &error);
    if (count < 0)
        return context_fail(context, HN_INVALID_MODEL, "%s '%s': expression '%.60s', place %d: %s",
                            kind, name, text, error.position + 1, error.message);
    double start = time_expression_at(code, count, 0.0, NULL).value;
    if (!isfinite(start))
        return context_fail(context, HN_INVALID_MODEL,
                            "%s '%s': expression '%.60s' is %g at t = 0; expected a finite number",
                            kind, name, text, start);
    return HN_OK;
}

hn_status profile_check(hn_context *context, const char *kind, const char *name,
                        const hn_profile *profile)
{
    switch (profile->kind) {
    case HN_PROFILE_CONSTANT: return HN_OK;
    case HN_PROFILE_PULSE:
        if (isfinite(profile->start) && isfinite(profile->peak) && isfinite(profile->end) &&
            profile->start < profile->peak && profile->peak < profile->end)
            return HN_OK;
        return context_fail(
            context, HN_INVALID_MODEL,
            "%s '%s': pulse with start %g, peak %g, end %g s; expected increasing times", kind,
            name, profile->start, profile->peak, profile->end);
    case HN_PROFILE_STEP:
        if (isfinite(profile->start) && isfinite(profile->end) && profile->start < profile->end)
            return HN_OK;
        return context_fail(context, HN_INVALID_MODEL,
                            "%s '%s': step from %g to %g s; expected increasing times", kind, name,
                            profile->start, profile->end);
    case HN_PROFILE_TABLE:
    case HN_PROFILE_SPLINE: return check_table(context, kind, name, profile);
    case HN_PROFILE_EXPRESSION: return check_expression(context, kind, name, profile->expression);
    }
    return context_fail(context, HN_INVALID_MODEL, "%s '%s': unknown kind of profile %d", kind,
                        name, (int)profile->kind);
}

// Slopes of the cubic spline with continuous curvature and level ends: at inner points
//   m_i-1/h_i-1 + 2 (1/h_i-1 + 1/h_i) m_i + m_i+1/h_i = 3 (s_i-1/h_i-1 + s_i/h_i),  s the slopes of the chords,
// diagonally dominant; by Thomas' elimination. `work`: count numbers.
static void spline_slopes(int count, const double *x, const double *y, double *slope, double *work)
{
    slope[0] = slope[count - 1] = 0.0;
    if (count < 3) return;
    work[0] = 0.0;
    for (int i = 1; i < count - 1; ++i) {
        double before = 1.0 / (x[i] - x[i - 1]), after = 1.0 / (x[i + 1] - x[i]);
        double right =
            3.0 * (before * before * (y[i] - y[i - 1]) + after * after * (y[i + 1] - y[i]));
        double pivot = 2.0 * (before + after) - before * work[i - 1];
        work[i] = after / pivot;
        slope[i] = (right - before * slope[i - 1]) / pivot;
    }
    for (int i = count - 2; i > 0; --i) slope[i] -= work[i] * slope[i + 1];
}

hn_status profile_copy(hn_context *context, const hn_profile *from, hn_profile *to)
{
    *to = *from;
    to->times = to->factors = NULL;
    to->expression = NULL;
    to->inner = NULL;
    bool spline = from->kind == HN_PROFILE_SPLINE;
    bool points = spline || from->kind == HN_PROFILE_TABLE;
    if (!points) to->count = 0;
    if (!points && from->kind != HN_PROFILE_EXPRESSION) return HN_OK;

    // one block: what is inside, then numbers or code, then text
    time_instruction code[TIME_CODE_MAX];
    time_error error;
    size_t count = points ? (size_t)from->count : 0, code_count = 0, text = 0;
    if (!points) {
        code_count = (size_t)time_expression_parse(from->expression, code, &error);
        text = strlen(from->expression) + 1;
    }
    struct hn_profile_inner *inner =
        context_allocate(context, sizeof *inner + (spline ? 4 : 2) * count * sizeof(double) +
                                      code_count * sizeof *code + text);
    if (inner == NULL) return HN_OUT_OF_MEMORY;
    double *numbers = (double *)(inner + 1);
    if (points) {
        memcpy(numbers, from->times, count * sizeof *numbers);
        memcpy(numbers + count, from->factors, count * sizeof *numbers);
        to->times = numbers;
        to->factors = numbers + count;
        if (spline) {
            spline_slopes(from->count, to->times, to->factors, numbers + 2 * count,
                          numbers + 3 * count);
            inner->slopes = numbers + 2 * count;
        }
    } else {
        memcpy(numbers, code, code_count * sizeof *code);
        inner->code = (const time_instruction *)numbers;
        inner->code_count = (int)code_count;
        uint64_t sides = 0;
        (void)time_expression_at(code, (int)code_count, 0.0, &sides);
        inner->has_corners = sides != 0;
        to->expression =
            memcpy((char *)numbers + code_count * sizeof *code, from->expression, text);
    }
    to->inner = inner;
    return HN_OK;
}

void profile_release(hn_context *context, hn_profile *copy)
{
    context_release(context, (void *)(uintptr_t)copy->inner);
    *copy = (hn_profile){.kind = HN_PROFILE_CONSTANT};
}
