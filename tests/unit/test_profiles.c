// SPDX-License-Identifier: MIT
// Functions of time: values against muParser, derivatives against differences, means against fine sums.
#include "base/sum.h"
#include "elements/element.h"
#include "io/expression.h"
#include "model/profiles.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const EXPRESSIONS[] = {
    "t",
    "-t^2 + 3*t - 1",
    "2^-t^2",
    "(1 + t)^(t/3)",
    "0.3*sin(2*pi*t)*exp(-t/2)",
    "cos(t)/(2 + sin(3*t)) - tan(t/4)",
    "asin(t/5) + acos(t/6)*atan(t)",
    "sqrt(1 + t*t) * log(2 + t)",
    "atan2(sin(t), 2 + t)",
    "1.5e-2*t - 7.25E1/(t + 2)",
    "max(0.2, 0.7 - t/9, t/8)*min(t, 1)",
    "abs(t - 1.3)*abs(t - 0.6)",
    "t < 0.9 ? t : 0.9 + sin(t - 0.9)",
    "(t > 0.4 && t < 1.1) || t > 1.9 ? t^3 : 2 - t",
    "-t^2*2-(-3)/-(1 + t)",
    "t >= 0.4 && t <= 1.1 ? t^3 : 2 - t",
    "(min(t, 1) == 1) - 2*(max(t, 0.7) != 0.7) + (t == 5)",
};
enum { EXPRESSION_COUNT = sizeof EXPRESSIONS / sizeof EXPRESSIONS[0] };

static hn_profile made(hn_context *context, hn_profile definition)
{
    hn_profile copy;
    CHECK_OK(context, profile_check(context, "load", "f", &definition));
    CHECK_OK(context, profile_copy(context, &definition, &copy));
    return copy;
}

// Three kinds with points of their own, and all expressions.
enum { OTHERS = 4, ALL = OTHERS + EXPRESSION_COUNT };
static const double TIMES[5] = {0.1, 0.4, 1.0, 1.1, 2.3}, VALUES[5] = {1.0, -2.0, 0.5, 0.7, 3.0};

static hn_profile function(hn_context *context, int index)
{
    const hn_profile others[OTHERS] = {
        {.kind = HN_PROFILE_TABLE, .times = TIMES, .factors = VALUES, .count = 5},
        {.kind = HN_PROFILE_SPLINE, .times = TIMES, .factors = VALUES, .count = 5},
        {.kind = HN_PROFILE_STEP, .start = 0.3, .end = 1.7},
        {.kind = HN_PROFILE_PULSE, .start = 0.3, .peak = 0.5, .end = 1.7},
    };
    if (index < OTHERS) return made(context, others[index]);
    return made(context, (hn_profile){.kind = HN_PROFILE_EXPRESSION,
                                      .expression = EXPRESSIONS[index - OTHERS]});
}

TEST(time_functions, have_the_values_that_muparser_gives)
{
    hn_context *context = hn_context_create(NULL);
    double worst = 0.0;
    for (int i = 0; i < EXPRESSION_COUNT; ++i) {
        hn_profile f = function(context, OTHERS + i);
        for (int k = 0; k < 40; ++k) {
            double time = 0.013 + 0.0731 * k, expected;
            expression_set *set;
            expression_error error;
            const unit_guess bare = {.known = false};
            CHECK_OK(context, expression_set_create(context, &set));
            CHECK_OK(context, expression_define(set, "t", time, &bare, &error));
            CHECK(expression_evaluate(set, EXPRESSIONS[i], &expected, &error));
            double off = fabs(profile_at(&f, time).value - expected) / fmax(1.0, fabs(expected));
            worst = fmax(worst, off);
            expression_set_destroy(set);
        }
        profile_release(context, &f);
    }
    CHECK_BELOW(worst, 1e-15); // relative; measured 2.2e-16
    hn_context_destroy(context);
}

TEST(time_functions, have_the_derivatives_that_differences_show)
{
    hn_context *context = hn_context_create(NULL);
    const double d = 1e-4; // s
    double worst_rate = 0.0, worst_acceleration = 0.0;
    for (int i = 0; i < ALL; ++i) {
        hn_profile f = function(context, i);
        for (int k = 0; k < 40; ++k) {
            double time = 0.0137 + 0.0731 * k; // no corner within 2 d
            double y[5];
            for (int m = 0; m < 5; ++m) y[m] = profile_at(&f, time + (m - 2) * d).value;
            double rate = (y[0] - 8.0 * y[1] + 8.0 * y[3] - y[4]) / (12.0 * d);
            double curve =
                (-y[0] + 16.0 * y[1] - 30.0 * y[2] + 16.0 * y[3] - y[4]) / (12.0 * d * d);
            time_jet here = profile_at(&f, time);
            CHECK(here.value == y[2]);
            worst_rate = fmax(worst_rate, fabs(here.rate - rate) / fmax(1.0, fabs(rate)));
            worst_acceleration =
                fmax(worst_acceleration, fabs(here.acceleration - curve) / fmax(1.0, fabs(curve)));
        }
        profile_release(context, &f);
    }
    CHECK_BELOW(worst_rate, 1e-10);        // measured 2e-11: of the differences
    CHECK_BELOW(worst_acceleration, 2e-6); // measured 5e-7: of the differences
    hn_context_destroy(context);
}

// Fine sums, compensated, of cells that end at the corners of all functions above.
static double fine_mean(const hn_profile *f, double begin, double end)
{
    static const double CORNERS[] = {
        0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0, 1.1, 1.3, 1.6, 1.7, 1.9, 2.3, 2.6470588235294117,
        3.3};
    enum { CELLS = 400, COUNT = sizeof CORNERS / sizeof CORNERS[0] };
    exact_sum sum = {0.0, 0.0};
    double from = begin;
    for (int c = 0; c <= COUNT; ++c) {
        double to = c < COUNT ? fmin(fmax(CORNERS[c], begin), end) : end;
        for (int k = 0; k < CELLS && to > from; ++k) // Simpson's rule
            for (int m = 0; m < 3; ++m) {
                double x = from + (to - from) * ((k + 0.5 * m) / CELLS);
                // corners belong to the cells on either side
                x = fmin(fmax(x, from + 1e-13), to - 1e-13);
                sum_add(&sum, profile_at(f, x).value * (m == 1 ? 4.0 : 1.0) * (to - from));
            }
        from = to;
    }
    return sum_total(&sum) / (6.0 * CELLS * (end - begin));
}

TEST(time_functions, have_means_that_fine_sums_give)
{
    hn_context *context = hn_context_create(NULL);
    double worst[3] = {0.0};
    for (int i = 0; i < ALL; ++i) {
        hn_profile f = function(context, i);
        const double steps[] = {0.01, 0.05, 0.51};
        for (int s = 0; s < 3; ++s)
            for (double begin = 0.0137; begin < 2.4; begin += 0.1931) {
                double mean = profile_mean(&f, begin, begin + steps[s]);
                double expected = fine_mean(&f, begin, begin + steps[s]);
                double off = fabs(mean - expected) / fmax(1.0, fabs(expected));
                worst[s] = fmax(worst[s], off);
            }
        CHECK(profile_mean(&f, 0.7, 0.7) == profile_at(&f, 0.7).value);
        profile_release(context, &f);
    }
    CHECK_BELOW(worst[0], 3e-15); // measured 4.4e-16
    CHECK_BELOW(worst[1], 3e-15); // measured 4.2e-16
    CHECK_BELOW(worst[2], 1e-10); // measured 1.1e-11
    hn_context_destroy(context);
}

// Corners, where the rate jumps: all of them, in order, and no others.
TEST(time_functions, have_jumps_of_their_rate_where_they_have_corners)
{
    static const struct {
        int index;
        double jumps[5];
    } CASES[] = {
        {0, {0.1, 0.4, 1.0, 1.1, 2.3}},
        {1, {0.0}},
        {2, {0.0}},
        {3, {0.3, 0.5, 1.7}},
        {OTHERS + 4, {0.0}},
        {OTHERS + 11, {0.6, 1.3}},
        {OTHERS + 12, {0.0}}, // smooth in value and rate
        {OTHERS + 13, {0.4, 1.1, 1.9}},
        {OTHERS + 15, {0.4, 1.1}},
        {OTHERS + 16, {0.7, 1.0}},
    };
    hn_context *context = hn_context_create(NULL);
    double worst = 0.0;
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; ++k)
        for (int pieces = 1; pieces <= 300;
             pieces *= 10) { // in windows that join, edges at corners too
            hn_profile f = function(context, CASES[k].index);
            int count = 0;
            for (int i = 0; i < 3 * pieces; ++i)
                for (double at = i / (double)pieces, end = (i + 1) / (double)pieces; at < end;) {
                    at = profile_next_jump(&f, at + 1e-13, end + 1e-13);
                    if (!isfinite(at)) break;
                    CHECK(count < 5);
                    worst = fmax(worst, fabs(at - CASES[k].jumps[count++]));
                }
            CHECK(count == 5 || CASES[k].jumps[count] == 0.0);
            profile_release(context, &f);
        }
    CHECK_BELOW(worst, 1e-14); // s; measured 0
    hn_context_destroy(context);
}

// At the corner itself: what is to the right, however it is written.
TEST(time_functions, have_at_a_corner_the_rate_to_the_right)
{
    static const char *const CORNERS[] = {
        "max(0, t)",
        "max(t, 0)",
        "abs(-t)",
        "abs(t)",
        "-min(0, -t)",
        "-min(-t, 0)",
        "t > 0 ? t : 0",
        "t < 0 ? 0 : t",
        "0 < t ? t : 0",
        "0 > t ? 0 : t",
        "max(-t^2, t) + max(t^2, 0) - t^2",
        "(t > 0)*t",
        "t >= 0 ? t : 0",
        "t <= 0 ? 0 : t",
        "0 <= t ? t : 0",
        "(t >= 0)*t",
        "max(t, 0) == 0 ? 0 : t",
        "max(t, 0) != 0 ? t : 0",
    };
    hn_context *context = hn_context_create(NULL);
    for (size_t k = 0; k < sizeof CORNERS / sizeof CORNERS[0]; ++k) {
        hn_profile f =
            made(context, (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = CORNERS[k]});
        CHECK_EQUAL(profile_at(&f, 0.0).rate, 1.0);
        CHECK_EQUAL(profile_at(&f, 0.0).acceleration, 0.0);
        profile_release(context, &f);
    }
    hn_context_destroy(context);
}

TEST(time_functions, of_splines_are_smooth_and_level_at_their_ends)
{
    hn_context *context = hn_context_create(NULL);
    hn_profile f = function(context, 1);
    for (int i = 0; i < 5; ++i) {
        double before = nextafter(TIMES[i], 0.0);
        time_jet left = profile_at(&f, before), right = profile_at(&f, TIMES[i]);
        CHECK_NEAR(right.value, VALUES[i], 1e-15);
        CHECK_NEAR(left.value, right.value, 1e-14);
        CHECK_NEAR(left.rate, right.rate, 1e-12);
        if (i > 0 && i < 4) CHECK_NEAR(left.acceleration, right.acceleration, 1e-11);
        else CHECK_NEAR(right.rate, 0.0, 1e-13);
    }
    CHECK(profile_at(&f, -5.0).value == 1.0 && profile_at(&f, 9.0).value == 3.0);
    profile_release(context, &f);
    hn_context_destroy(context);
}

TEST(time_functions, that_cannot_be_read_are_refused_with_the_place)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "load 'f': expression '', place 1: the expression ends too early"},
        {"2*", "place 3: the expression ends too early"},
        {"sin t", "the function 'sin' needs its argument in parentheses"},
        {"sine(t)", "unknown word 'sine'; expected t, pi, a number or a function"},
        {"sin(t, 2)", "'sin' has 2 arguments; expected 1"},
        {"atan2(t)", "'atan2' has 1 arguments; expected 2"},
        {"(t", "expected ')'"},
        {"t ? 1", "expected ':' after '?'"},
        {"t $ 2", "place 3: '$' cannot stand here in the expression"},
        {"1/t", "is inf at t = 0; expected a finite number"},
        {NULL, "its expression is missing"},
    };
    hn_context *context = hn_context_create(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        hn_profile f = {.kind = HN_PROFILE_EXPRESSION, .expression = bad[i].text};
        CHECK_STATUS(context, profile_check(context, "load", "f", &f), HN_INVALID_MODEL);
        CHECK_CONTAINS(hn_context_message(context), bad[i].message);
    }
    // deeper and longer than there is room for
    char deep[3000];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    hn_profile f = {.kind = HN_PROFILE_EXPRESSION, .expression = deep};
    CHECK_STATUS(context, profile_check(context, "load", "f", &f), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context), "nested too deeply");
    for (size_t k = 0; k + 1 < sizeof deep; ++k) deep[k] = k % 2 == 0 ? 't' : '+';
    deep[sizeof deep - 2] = '\0';
    CHECK_STATUS(context, profile_check(context, "load", "f", &f), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context), "too long");
    f = (hn_profile){.kind = HN_PROFILE_STEP, .start = 2.0, .end = 2.0};
    CHECK_STATUS(context, profile_check(context, "load", "f", &f), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context), "step from 2 to 2 s; expected increasing times");
    hn_context_destroy(context);
}

// What decides by a number that is none has none either. Before, max(t, 0/0) was t and a comparison with it false, so
// that bounds of such expressions (which do not know where they are defined) were wrong.
TEST(time_functions, decide_nothing_by_what_is_not_defined)
{
    static const struct {
        const char *text;
        double value; // at t = -1
    } cases[] = {{"max(t, sqrt(t), 10*t)", (double)NAN},
                 {"min(sqrt(t), t)", (double)NAN},
                 {"abs(log(t)) > -3 ? 1 : 0", (double)NAN},
                 {"t < 0 && log(t) < 5", (double)NAN},
                 {"t > 0 || log(t) < 5", (double)NAN},
                 {"t > 0 && log(t) < 5", 0.0},
                 {"log(t) < 5 || t < 0", 1.0},
                 {"t < 0 ? 7 : sqrt(t)", 7.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        time_instruction code[TIME_CODE_MAX];
        time_error error;
        int count = time_expression_parse(cases[i].text, code, &error);
        CHECK(count > 0);
        double value = time_expression_at(code, count, -1.0, NULL).value;
        CHECK(isnan(cases[i].value) ? isnan(value) : value == cases[i].value);
    }
}

// Bounds over a span hold every value in it, and close in on them; where sides are told to be kept no corner is found.
TEST(time_functions, lie_within_their_bounds_over_a_span)
{
    enum { SPANS = 40, VALUES_EACH = 50 };
    static const char *const MORE[] = {
        "(t + 0.1)^-2 + 1/(t - 5)", "atan2(t - 1, sin(t))",
        "cos(7*t)^3 + sin(t)^4",    "(t - 1)^2 < 0.3 ? exp(t) : log(t + 1)",
        "min(abs(t - 1), 0.3*t)",   "tan(t) + asin(t/9)"};
    enum { MORE_COUNT = sizeof MORE / sizeof MORE[0] };
    hn_context *context = hn_context_create(NULL);
    double loosest = 0.0;
    for (int k = 0; k < EXPRESSION_COUNT + MORE_COUNT; ++k) {
        const char *text = k < EXPRESSION_COUNT ? EXPRESSIONS[k] : MORE[k - EXPRESSION_COUNT];
        hn_profile f =
            made(context, (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = text});
        const struct hn_profile_inner *inner = f.inner;
        for (int i = 0; i < SPANS; ++i)
            for (double width = 1.0; width > 1e-5; width *= 0.1) {
                double begin = 3.0 * i / SPANS, low = HUGE_VAL, high = -HUGE_VAL;
                bool smooth;
                uint64_t first = 0, sides;
                time_range r = time_expression_over(inner->code, inner->code_count, begin,
                                                    begin + width, &smooth);
                for (int j = 0; j < VALUES_EACH; ++j) { // the end belongs to the right
                    double time = begin + width * j / VALUES_EACH;
                    double value =
                        time_expression_at(inner->code, inner->code_count, time, &sides).value;
                    double round_off = 1e-14 * fmax(1.0, fabs(value));
                    if (isnan(value)) continue;
                    CHECK(value >= r.low - round_off && value <= r.high + round_off);
                    low = fmin(low, value), high = fmax(high, value);
                    if (j == 0) first = sides;
                    CHECK(!smooth || sides == first);
                }
                if (width < 1.1e-5 && smooth && isfinite(r.low) && isfinite(r.high))
                    loosest = fmax(loosest, (r.high - r.low) - (high - low));
            }
        profile_release(context, &f);
    }
    CHECK_BELOW(loosest, 2e-2); // of slopes up to two thousand; measured 1.2e-2
    hn_context_destroy(context);
}
