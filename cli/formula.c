// SPDX-License-Identifier: MIT
// A small evaluator: + - * / ^, comparisons, indices, and functions on series. Numbers spread over series.
#include "formula.h"

#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 96, ARGUMENTS_MAX = 4, DEPTH_MAX = 64 };

struct formula_block {
    struct formula_block *next;
    double numbers[];
};

double *formula_numbers(formula_memory *memory, size_t count)
{
    struct formula_block *block = malloc(sizeof *block + (count + 1) * sizeof(double));
    if (block == NULL) return NULL;
    block->next = memory->blocks;
    memory->blocks = block;
    return block->numbers;
}

void formula_memory_clear(formula_memory *memory)
{
    while (memory->blocks != NULL) {
        struct formula_block *next = memory->blocks->next;
        free(memory->blocks);
        memory->blocks = next;
    }
}

typedef struct parser {
    const char *text, *at;
    formula_lookup lookup;
    void *user;
    formula_memory *memory;
    char *message;
    size_t place;
    int depth;
    bool checking; ///< words and names only
} parser;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail_at(parser *p, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->message, FORMULA_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    p->place = (size_t)(at - p->text);
    return false;
}

static bool make(parser *p, size_t count, double **numbers, formula_value *value)
{
    *numbers = formula_numbers(p->memory, count);
    if (*numbers == NULL) return fail_at(p, p->at, "there is no memory");
    *value = (formula_value){*numbers, count};
    return true;
}

static bool make_number(parser *p, double number, formula_value *value)
{
    double *numbers;
    if (!make(p, 1, &numbers, value)) return false;
    numbers[0] = number;
    return true;
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t') ++p->at;
}

static bool take(parser *p, char c)
{
    skip_space(p);
    if (*p->at != c) return false;
    ++p->at;
    return true;
}

// ---- operators --------------------------------------------------------------------------------------

enum { OR_LESS = 'l', OR_GREATER = 'g' }; // <= and >=

static double apply_operator(char operation, double a, double b)
{
    switch (operation) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case '^': return pow(a, b);
    case '<': return a < b ? 1.0 : 0.0;
    case '>': return a > b ? 1.0 : 0.0;
    case OR_LESS: return a <= b ? 1.0 : 0.0;
    case OR_GREATER: return a >= b ? 1.0 : 0.0;
    case '=': return a == b ? 1.0 : 0.0;
    case '!': return a != b ? 1.0 : 0.0;
    default: return (double)NAN;
    }
}

static bool combine(parser *p, const char *at, char operation, formula_value a, formula_value b,
                    formula_value *out)
{
    double *numbers;
    if (p->checking) return make_number(p, 0.0, out);
    if (a.count != b.count && a.count != 1 && b.count != 1)
        return fail_at(p, at, "series of %zu and %zu numbers do not fit together", a.count,
                       b.count);
    const size_t count = a.count == 1 ? b.count : a.count;
    if (!make(p, count, &numbers, out)) return false;
    for (size_t i = 0; i < count; ++i)
        numbers[i] = apply_operator(operation, a.numbers[a.count == 1 ? 0 : i],
                                    b.numbers[b.count == 1 ? 0 : i]);
    return true;
}

// ---- functions --------------------------------------------------------------------------------------

typedef struct function_call {
    formula_value arguments[ARGUMENTS_MAX];
    int count;
} function_call;

typedef bool (*function_code)(parser *p, const char *at, const function_call *call,
                              formula_value *out);

static bool map(parser *p, formula_value x, double (*function)(double), formula_value *out)
{
    double *numbers;
    if (!make(p, x.count, &numbers, out)) return false;
    for (size_t i = 0; i < x.count; ++i) numbers[i] = function(x.numbers[i]);
    return true;
}

#define ELEMENTWISE(name, code)                                                                    \
    static bool call_##name(parser *p, const char *at, const function_call *call,                  \
                            formula_value *out)                                                    \
    {                                                                                              \
        (void)at;                                                                                  \
        return map(p, call->arguments[0], code, out);                                              \
    }
ELEMENTWISE(abs, fabs)
ELEMENTWISE(sqrt, sqrt)
ELEMENTWISE(log10, log10)
ELEMENTWISE(sin, sin)
ELEMENTWISE(cos, cos)
ELEMENTWISE(asin, asin)

static double lowest(formula_value x)
{
    double low = HUGE_VAL;
    for (size_t i = 0; i < x.count; ++i) low = fmin(low, x.numbers[i]);
    return low;
}

static double highest(formula_value x)
{
    double high = -HUGE_VAL;
    for (size_t i = 0; i < x.count; ++i) high = fmax(high, x.numbers[i]);
    return high;
}

static double range_of(formula_value x)
{
    return highest(x) - lowest(x);
}

static double largest(formula_value x)
{
    double size = 0.0;
    for (size_t i = 0; i < x.count; ++i)
        size = isnan(x.numbers[i]) ? (double)NAN : fmax(size, fabs(x.numbers[i]));
    return size;
}

static double mean_between(formula_value x, size_t from, size_t to)
{
    double sum = 0.0;
    for (size_t i = from; i < to; ++i) sum += x.numbers[i];
    return sum / (double)(to - from);
}

static double mean(formula_value x)
{
    return mean_between(x, 0, x.count);
}

/// |mean over the last tenth - mean over the first tenth|
static double trend(formula_value x)
{
    const size_t tenth = x.count / 10 > 0 ? x.count / 10 : 1;
    return fabs(mean_between(x, x.count - tenth, x.count) - mean_between(x, 0, tenth));
}

static double first(formula_value x)
{
    return x.numbers[0];
}

static double last(formula_value x)
{
    return x.numbers[x.count - 1];
}

static double count_of(formula_value x)
{
    return (double)x.count;
}

#define REDUCTION(name, code)                                                                      \
    static bool call_##name(parser *p, const char *at, const function_call *call,                  \
                            formula_value *out)                                                    \
    {                                                                                              \
        if (call->arguments[0].count == 0) return fail_at(p, at, "the series is empty");           \
        return make_number(p, code(call->arguments[0]), out);                                      \
    }
REDUCTION(min, lowest)
REDUCTION(max, highest)
REDUCTION(range, range_of)
REDUCTION(largest, largest)
REDUCTION(mean, mean)
REDUCTION(trend, trend)
REDUCTION(first, first)
REDUCTION(last, last)
REDUCTION(count, count_of)

static bool call_difference(parser *p, const char *at, const function_call *call,
                            formula_value *out)
{
    const formula_value x = call->arguments[0];
    double *numbers;
    if (x.count < 2) return fail_at(p, at, "a difference needs two numbers at least");
    if (!make(p, x.count - 1, &numbers, out)) return false;
    for (size_t i = 0; i + 1 < x.count; ++i) numbers[i] = x.numbers[i + 1] - x.numbers[i];
    return true;
}

static bool call_deviation(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value x = call->arguments[0];
    double *numbers;
    (void)at;
    if (!make(p, x.count, &numbers, out)) return false;
    for (size_t i = 0; i < x.count; ++i) numbers[i] = x.numbers[i] - x.numbers[0];
    return true;
}

static bool call_norm(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const size_t count = call->arguments[0].count;
    double *numbers;
    if (!make(p, count, &numbers, out)) return false;
    memset(numbers, 0, count * sizeof *numbers);
    for (int k = 0; k < call->count; ++k) {
        if (call->arguments[k].count != count)
            return fail_at(p, at, "the components have different lengths");
        for (size_t i = 0; i < count; ++i)
            numbers[i] = hypot(numbers[i], call->arguments[k].numbers[i]);
    }
    return true;
}

/// The part of x where t is between two numbers.
static bool call_during(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value t = call->arguments[0], x = call->arguments[1];
    const double low = call->arguments[2].numbers[0], high = call->arguments[3].numbers[0];
    double *numbers;
    if (t.count != x.count) return fail_at(p, at, "the two series have different lengths");
    if (!make(p, x.count, &numbers, out)) return false;
    out->count = 0;
    for (size_t i = 0; i < x.count; ++i)
        if (t.numbers[i] >= low && t.numbers[i] <= high) numbers[out->count++] = x.numbers[i];
    return out->count > 0 ? true : fail_at(p, at, "there is nothing between these two");
}

/// x at a time, linear between records.
static bool call_at(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value t = call->arguments[0], x = call->arguments[1];
    const double time = call->arguments[2].numbers[0];
    if (t.count != x.count) return fail_at(p, at, "the two series have different lengths");
    const double slack = 1e-9 * fabs(time);
    for (size_t i = 0; i < t.count; ++i) {
        if (fabs(t.numbers[i] - time) <= slack) return make_number(p, x.numbers[i], out);
        if (i + 1 < t.count && t.numbers[i] < time && t.numbers[i + 1] > time) {
            const double part = (time - t.numbers[i]) / (t.numbers[i + 1] - t.numbers[i]);
            if (t.numbers[i + 1] - time <= slack) continue;
            return make_number(p, x.numbers[i] + part * (x.numbers[i + 1] - x.numbers[i]), out);
        }
    }
    return fail_at(p, at, "the series has no record at %g", time);
}

/// Where x first passes a value, linear between records; not a number if it never does.
static bool call_crossing(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value t = call->arguments[0], x = call->arguments[1];
    const double value = call->arguments[2].numbers[0];
    if (t.count != x.count) return fail_at(p, at, "the two series have different lengths");
    for (size_t i = 0; i + 1 < x.count; ++i) {
        const double a = x.numbers[i] - value, b = x.numbers[i + 1] - value;
        if (a != 0.0 && a * b <= 0.0)
            return make_number(p, t.numbers[i] + a / (a - b) * (t.numbers[i + 1] - t.numbers[i]),
                               out);
    }
    return make_number(p, (double)NAN, out);
}

/// Where x first turns: the parabola through the record that is higher or lower than both its neighbours.
static bool call_turning(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value t = call->arguments[0], x = call->arguments[1];
    if (t.count != x.count) return fail_at(p, at, "the two series have different lengths");
    for (size_t i = 1; i + 1 < x.count; ++i) {
        const double before = x.numbers[i] - x.numbers[i - 1],
                     after = x.numbers[i + 1] - x.numbers[i];
        if (before * after < 0.0)
            return make_number(p,
                               t.numbers[i] + 0.25 * (t.numbers[i + 1] - t.numbers[i - 1]) *
                                                  (before + after) / (before - after),
                               out);
    }
    return make_number(p, (double)NAN, out);
}

static bool fit_line(parser *p, const char *at, formula_value x, formula_value y, bool logarithms,
                     double *slope)
{
    double n = 0.0, sum_x = 0.0, sum_y = 0.0, sum_xx = 0.0, sum_xy = 0.0;
    if (x.count != y.count || x.count < 2)
        return fail_at(p, at, "two series of one length, two numbers at least, are needed");
    for (size_t i = 0; i < x.count; ++i) {
        const double u = logarithms ? log(x.numbers[i]) : x.numbers[i];
        const double v = logarithms ? log(y.numbers[i]) : y.numbers[i];
        n += 1.0;
        sum_x += u;
        sum_y += v;
        sum_xx += u * u;
        sum_xy += u * v;
    }
    *slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
    return true;
}

static bool call_order(parser *p, const char *at, const function_call *call, formula_value *out)
{
    double slope = 0.0;
    return fit_line(p, at, call->arguments[0], call->arguments[1], true, &slope) &&
           make_number(p, slope, out);
}

static bool call_slope(parser *p, const char *at, const function_call *call, formula_value *out)
{
    double slope = 0.0;
    return fit_line(p, at, call->arguments[0], call->arguments[1], false, &slope) &&
           make_number(p, slope, out);
}

static bool call_every(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value x = call->arguments[0];
    const double stride = call->arguments[1].numbers[0];
    double *numbers;
    if (!(stride >= 1.0)) return fail_at(p, at, "every: the second number is 1 or more");
    if (!make(p, x.count, &numbers, out)) return false;
    out->count = 0;
    for (double i = 0.0; i < (double)x.count; i += floor(stride))
        numbers[out->count++] = x.numbers[(size_t)i];
    return true;
}

/// Records whose two neighbours are both lower, or both higher.
static bool call_turns(parser *p, const char *at, const function_call *call, formula_value *out)
{
    const formula_value x = call->arguments[0];
    double turns = 0.0;
    (void)at;
    for (size_t i = 1; i + 1 < x.count; ++i)
        if ((x.numbers[i] - x.numbers[i - 1]) * (x.numbers[i + 1] - x.numbers[i]) < 0.0)
            turns += 1.0;
    return make_number(p, turns, out);
}

typedef struct function {
    const char *name;
    int least, most; ///< arguments
    function_code code;
    const char *meaning;
} function;

static const function FUNCTIONS[] = {
    {"abs", 1, 1, call_abs, "absolute values"},
    {"sqrt", 1, 1, call_sqrt, "square roots"},
    {"log10", 1, 1, call_log10, "logarithms"},
    {"sin", 1, 1, call_sin, "sines"},
    {"cos", 1, 1, call_cos, "cosines"},
    {"asin", 1, 1, call_asin, "inverse sines"},
    {"min", 1, 1, call_min, "the lowest number of a series"},
    {"max", 1, 1, call_max, "the highest"},
    {"range", 1, 1, call_range, "highest less lowest"},
    {"largest", 1, 1, call_largest, "the largest absolute value"},
    {"mean", 1, 1, call_mean, "the mean"},
    {"trend", 1, 1, call_trend, "|mean of the last tenth - mean of the first tenth|"},
    {"first", 1, 1, call_first, "the first number"},
    {"last", 1, 1, call_last, "the last number"},
    {"count", 1, 1, call_count, "how many numbers there are"},
    {"difference", 1, 1, call_difference, "from one record to the next"},
    {"deviation", 1, 1, call_deviation, "from the first record"},
    {"norm", 1, 4, call_norm, "length of a vector: norm(x, y, z)"},
    {"during", 4, 4, call_during, "a part of a series: during(t, x, from, to)"},
    {"at", 3, 3, call_at, "value at a time: at(t, x, time)"},
    {"crossing", 3, 3, call_crossing, "time of the first passage: crossing(t, x, value)"},
    {"turning", 2, 2, call_turning, "time of the first extremum: turning(t, x)"},
    {"turns", 1, 1, call_turns, "how many extrema there are"},
    {"order", 2, 2, call_order, "slope of log e over log h: order(h, e)"},
    {"slope", 2, 2, call_slope, "slope of a fitted line: slope(x, y)"},
    {"every", 2, 2, call_every, "every n-th number: every(x, n)"},
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

bool formula_function(int index, const char **name, const char **meaning)
{
    if (index < 0 || index >= FUNCTION_COUNT) return false;
    *name = FUNCTIONS[index].name;
    *meaning = FUNCTIONS[index].meaning;
    return true;
}

static const char *function_name(int index)
{
    return FUNCTIONS[index].name;
}

// ---- grammar ----------------------------------------------------------------------------------------

static bool parse_sum(parser *p, formula_value *value);

static bool parse_comparison(parser *p, formula_value *value)
{
    if (!parse_sum(p, value)) return false;
    skip_space(p);
    const char *at = p->at;
    const bool equal = at[0] != '\0' && at[1] == '=';
    if (*at != '<' && *at != '>' && !(equal && (*at == '=' || *at == '!'))) return true;
    const char operation = (char)(equal && *at == '<'   ? OR_LESS
                                  : equal && *at == '>' ? OR_GREATER
                                                        : *at);
    formula_value right;
    p->at += equal ? 2 : 1;
    return parse_sum(p, &right) && combine(p, at, operation, *value, right, value);
}

static bool parse_call(parser *p, const char *name, const char *at, formula_value *value)
{
    int index = 0;
    while (index < FUNCTION_COUNT && strcmp(FUNCTIONS[index].name, name) != 0) ++index;
    if (index == FUNCTION_COUNT) {
        const char *nearest = nearest_known(name, FUNCTION_COUNT, function_name);
        return nearest != NULL
                   ? fail_at(p, at, "unknown function '%s' (did you mean '%s'?)", name, nearest)
                   : fail_at(p, at, "unknown function '%s'", name);
    }
    function_call call = {.count = 0};
    do {
        if (call.count == FUNCTIONS[index].most)
            return fail_at(p, p->at, "%s takes %d %s", name, FUNCTIONS[index].most,
                           FUNCTIONS[index].most == 1 ? "value" : "values");
        if (!parse_comparison(p, &call.arguments[call.count])) return false;
        if (call.arguments[call.count].count == 0) return fail_at(p, at, "the series is empty");
        ++call.count;
    } while (take(p, ','));
    if (!take(p, ')')) return fail_at(p, p->at, "expected ) or a comma");
    if (call.count < FUNCTIONS[index].least)
        return fail_at(p, at, "%s needs %d values", name, FUNCTIONS[index].least);
    if (p->checking) return make_number(p, 0.0, value);
    return FUNCTIONS[index].code(p, at, &call, value);
}

static bool parse_name(parser *p, formula_value *value)
{
    const char *at = p->at;
    char name[NAME_SIZE];
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.') ++length;
    if (length >= sizeof name) return fail_at(p, at, "the name is too long");
    memcpy(name, at, length);
    name[length] = '\0';
    p->at += length;
    if (take(p, '(')) return parse_call(p, name, at, value);
    if (strcmp(name, "pi") == 0) return make_number(p, acos(-1.0), value);
    return p->lookup(p->user, name, value, p->message) ||
           (p->place = (size_t)(at - p->text), false);
}

static bool parse_primary(parser *p, formula_value *value)
{
    skip_space(p);
    const char *at = p->at;
    if (take(p, '(')) {
        if (!parse_comparison(p, value)) return false;
        return take(p, ')') ? true : fail_at(p, p->at, "expected )");
    }
    if (isdigit((unsigned char)*at) || *at == '.') {
        char *end = NULL;
        const double number = strtod(at, &end);
        p->at = end;
        return make_number(p, number, value);
    }
    if (isalpha((unsigned char)*at)) return parse_name(p, value);
    return *at == '\0' ? fail_at(p, at, "the formula ends too early")
                       : fail_at(p, at, "unexpected '%c'", *at);
}

/// A value with indices behind it: x[2]
static bool parse_indexed(parser *p, formula_value *value)
{
    if (!parse_primary(p, value)) return false;
    while (take(p, '[')) {
        const char *at = p->at;
        formula_value index;
        if (!parse_comparison(p, &index)) return false;
        if (!take(p, ']')) return fail_at(p, p->at, "expected ]");
        if (p->checking) continue;
        if (index.count != 1 || !(index.numbers[0] >= 0.0) ||
            index.numbers[0] >= (double)value->count)
            return fail_at(p, at, "the index must be from 0 to %zu", value->count - 1);
        *value = (formula_value){value->numbers + (size_t)index.numbers[0], 1};
    }
    return true;
}

static bool parse_power(parser *p, formula_value *value)
{
    if (++p->depth > DEPTH_MAX) return fail_at(p, p->at, "the formula is nested too deeply");
    skip_space(p);
    const char *at = p->at;
    bool good = false;
    if (take(p, '-')) {
        formula_value zero;
        good = parse_power(p, value) && make_number(p, 0.0, &zero) &&
               combine(p, at, '-', zero, *value, value);
    } else if (parse_indexed(p, value)) {
        formula_value exponent;
        at = p->at;
        good = !take(p, '^') ||
               (parse_power(p, &exponent) && combine(p, at, '^', *value, exponent, value));
    }
    --p->depth;
    return good;
}

static bool parse_product(parser *p, formula_value *value)
{
    if (!parse_power(p, value)) return false;
    for (skip_space(p); *p->at == '*' || *p->at == '/'; skip_space(p)) {
        const char *at = p->at++;
        formula_value right;
        if (!parse_power(p, &right) || !combine(p, at, *at, *value, right, value)) return false;
    }
    return true;
}

static bool parse_sum(parser *p, formula_value *value)
{
    if (!parse_product(p, value)) return false;
    for (skip_space(p); *p->at == '+' || *p->at == '-'; skip_space(p)) {
        const char *at = p->at++;
        formula_value right;
        if (!parse_product(p, &right) || !combine(p, at, *at, *value, right, value)) return false;
    }
    return true;
}

static bool parse_all(parser *p, formula_value *value)
{
    if (!parse_comparison(p, value)) return false;
    skip_space(p);
    return *p->at == '\0' ? true : fail_at(p, p->at, "unexpected '%c'", *p->at);
}

bool formula_check(const char *text, formula_lookup lookup, void *user, size_t *place,
                   char message[FORMULA_MESSAGE_SIZE])
{
    formula_memory memory = {NULL};
    formula_value value;
    parser p = {.text = text,
                .at = text,
                .lookup = lookup,
                .user = user,
                .memory = &memory,
                .message = message,
                .checking = true};
    bool good = parse_all(&p, &value);
    *place = p.place;
    formula_memory_clear(&memory);
    return good;
}

bool formula_evaluate(const char *text, formula_lookup lookup, void *user, formula_memory *memory,
                      formula_value *value, size_t *place, char message[FORMULA_MESSAGE_SIZE])
{
    parser p = {.text = text,
                .at = text,
                .lookup = lookup,
                .user = user,
                .memory = memory,
                .message = message};
    bool good = parse_all(&p, value);
    *place = p.place;
    return good;
}
