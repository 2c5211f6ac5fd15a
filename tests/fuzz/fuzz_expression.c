// SPDX-License-Identifier: MIT
// Fuzz target: numbers and arithmetic of model files. Lines are expressions; "name = expression" defines a parameter.
// Each is read as a function of time as well: what it takes lies within its bounds, corners come one after the other.
#include "io/expression.h"
#include "model/profiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sides_at(const time_instruction *code, int count, double time, double *value)
{
    uint64_t sides = 0;
    *value = time_expression_at(code, count, time, &sides).value;
    return sides;
}

static void check_bounds(const time_instruction *code, int count, double begin, double end)
{
    enum { PARTS = 8 };
    bool smooth;
    const time_range range = time_expression_over(code, count, begin, end, &smooth);
    // functions of the C library are monotone but for their last digits
    double room = 1e-3 * (range.high - range.low) + 1e-9 * (fabs(range.low) + fabs(range.high));
    double value;
    uint64_t first = sides_at(code, count, begin + (end - begin) / (2 * PARTS), &value);
    if (isnan(value)) return; // not defined here, which steps say
    for (int k = 0; k < PARTS; ++k) {
        uint64_t sides = sides_at(code, count, begin + (end - begin) * (k + 0.5) / PARTS, &value);
        if (isnan(value)) continue;
        if (smooth && sides != first) abort();
        if (isfinite(range.low) && !(value >= range.low - room)) abort();
        if (isfinite(range.high) && !(value <= range.high + room)) abort();
    }
}

static void check_function(const char *text)
{
    static const double times[] = {-1.0, 0.0, 0.01, 0.011, 0.3, 1.0, 1e3};
    enum { TIMES = sizeof times / sizeof times[0], CORNERS_MAX = 40 };
    time_instruction code[TIME_CODE_MAX];
    time_error error = {.position = 0};
    int count = time_expression_parse(text, code, &error);
    if (count < 0) {
        if (error.message[0] == '\0' || error.position < 0 || (size_t)error.position > strlen(text))
            abort();
        return;
    }
    for (int k = 0; k + 1 < TIMES; ++k) check_bounds(code, count, times[k], times[k + 1]);
    struct hn_profile_inner inner = {.code = code, .code_count = count, .has_corners = true};
    hn_profile profile = {.kind = HN_PROFILE_EXPRESSION, .expression = text, .inner = &inner};
    bool sure;
    double from = 0.0, to = 0.01;
    for (int k = 0; k < CORNERS_MAX && isfinite(from); ++k) {
        double corner = profile_next_corner(&profile, from, to, &sure);
        if (!(corner > from) || (isfinite(corner) && corner > to)) abort();
        from = corner;
    }
    (void)profile_mean(&profile, 0.0, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { UNITS = 5 };
    const unit_guess units[UNITS] = {unit_of_text(""), unit_of_text("m"), unit_of_text("kg m/s^2"),
                                     unit_of_text("deg"), unit_of_text("1")};
    hn_context *context = hn_context_create(NULL);
    expression_set *set = NULL;
    char *text = malloc(size + 1);
    if (context == NULL || text == NULL || expression_set_create(context, &set) != HN_OK) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n'), *equals;
        if (end != NULL) *end = '\0';
        double value = 0.0;
        expression_error error = {.position = 0};
        if ((equals = strstr(line, " = ")) != NULL) {
            *equals = '\0';
            if (expression_evaluate(set, equals + 3, &value, &error))
                (void)expression_define(set, line, value, &units[(unsigned char)line[0] % UNITS],
                                        &error);
        } else if (expression_evaluate(set, line, &value, &error)) {
            if (!isfinite(value)) abort();
        } else if (error.message[0] == '\0' || error.position < 0 ||
                   (size_t)error.position > strlen(line)) {
            abort(); // a refusal says why and where
        }
        if (equals == NULL) check_function(line);
        const unit_guess unit = expression_unit(set, line);
        if (unit.mixed && unit.known) abort(); // terms of two kinds are of neither
        line = end == NULL ? NULL : end + 1;
    }
    expression_set_destroy(set);
    hn_context_destroy(context);
    free(text);
    return 0;
}
