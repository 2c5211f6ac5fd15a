// SPDX-License-Identifier: MIT
// Expressions in t: a descent parser to a stack machine, and the machine on jets (f, f', f'').
//
//   (f g)'' = f'' g + 2 f' g' + f g''      u(f)'' = u''(f) f'^2 + u'(f) f''
#include "model/time_operations.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct time_function_word {
    const char *name;
    operation op;
    int least, most; // arguments
} time_function_word;

enum { ANY_NUMBER = 100 };

static const time_function_word FUNCTIONS[] = {
    {"sin", OP_SIN, 1, 1},
    {"cos", OP_COS, 1, 1},
    {"tan", OP_TAN, 1, 1},
    {"asin", OP_ASIN, 1, 1},
    {"acos", OP_ACOS, 1, 1},
    {"atan", OP_ATAN, 1, 1},
    {"atan2", OP_ATAN2, 2, 2},
    {"sqrt", OP_SQRT, 1, 1},
    {"exp", OP_EXP, 1, 1},
    {"log", OP_LOG, 1, 1},
    {"abs", OP_ABS, 1, 1},
    {"min", OP_MINIMUM, 1, ANY_NUMBER},
    {"max", OP_MAXIMUM, 1, ANY_NUMBER},
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

// ---- reading ------------------------------------------------------------------------------------------

typedef struct reader {
    const char *text, *at;
    time_instruction *code;
    int count;
    int depth; // of parentheses and of the stack, whichever is asked for
    int stack, stack_max;
    const char *const *words; // beside t and pi
    int word_count;
    time_error *error;
    bool failed;
} reader;

__attribute__((format(printf, 2, 3))) static void fail(reader *r, const char *format, ...)
{
    if (r->failed) return; // the first reason counts
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error->message, sizeof r->error->message, format, arguments);
    va_end(arguments);
    r->error->position = (int)(r->at - r->text);
    r->failed = true;
}

static void emit(reader *r, operation op, double number, int takes)
{
    if (r->failed) return;
    r->stack += 1 - takes;
    if (r->stack > r->stack_max) r->stack_max = r->stack;
    if (r->count == TIME_CODE_MAX || r->stack_max > TIME_DEPTH_MAX) {
        fail(r, "the expression is too long");
        return;
    }
    r->code[r->count++] = (time_instruction){(int)op, number};
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n') ++r->at;
}

static bool take(reader *r, const char *word)
{
    skip_blanks(r);
    if (strncmp(r->at, word, strlen(word)) != 0) return false;
    r->at += strlen(word);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Decimal number without the locale: digits exactly, then scaled by the nearest power of ten in extended precision.
static double read_number(reader *r)
{
    long double value = 0.0L;
    int exponent = 0;
    while (is_digit(*r->at)) value = 10.0L * value + (*r->at++ - '0');
    if (*r->at == '.')
        for (++r->at; is_digit(*r->at); --exponent) value = 10.0L * value + (*r->at++ - '0');
    const char *e = r->at;
    if (*e == 'e' || *e == 'E') {
        bool negative = e[1] == '-';
        e += e[1] == '-' || e[1] == '+' ? 2 : 1;
        if (is_digit(*e)) {
            int given = 0;
            for (; is_digit(*e); ++e) given = given < 10000 ? 10 * given + (*e - '0') : given;
            exponent += negative ? -given : given;
            r->at = e;
        }
    }
    long double scale = powl(10.0L, (long double)abs(exponent));
    return (double)(exponent < 0 ? value / scale : value * scale);
}

static void read_choice(reader *r);

static void read_call(reader *r, const time_function_word *f)
{
    int given = 0;
    if (!take(r, "(")) {
        fail(r, "the function '%s' needs its argument in parentheses", f->name);
        return;
    }
    do {
        read_choice(r);
        ++given;
        // min and max fold from the left
        if (f->most == ANY_NUMBER && given > 1) emit(r, f->op, 0.0, 2);
    } while (!r->failed && take(r, ","));
    if (!take(r, ")")) fail(r, "expected ')' after the argument of '%s'", f->name);
    if (given < f->least || given > f->most)
        fail(r, "'%s' has %d arguments; expected %d", f->name, given, f->least);
    if (f->most != ANY_NUMBER) emit(r, f->op, 0.0, given);
}

static void read_word(reader *r)
{
    char word[24];
    size_t length = 0;
    while (is_letter(r->at[length]) || is_digit(r->at[length])) ++length;
    for (int i = 0; i < r->word_count; ++i)
        if (strlen(r->words[i]) == length && strncmp(r->words[i], r->at, length) == 0) {
            r->at += length;
            emit(r, OP_WORD, (double)i, 0);
            return;
        }
    if (length < sizeof word) {
        memcpy(word, r->at, length);
        word[length] = '\0';
        if (strcmp(word, "t") == 0 || strcmp(word, "pi") == 0) {
            r->at += length;
            emit(r, word[0] == 't' ? OP_TIME : OP_NUMBER, 3.14159265358979323846, 0);
            return;
        }
        for (int i = 0; i < FUNCTION_COUNT; ++i)
            if (strcmp(word, FUNCTIONS[i].name) == 0) {
                r->at += length;
                read_call(r, &FUNCTIONS[i]);
                return;
            }
    }
    fail(r, "unknown word '%.*s'; expected t, pi, a number or a function", (int)length, r->at);
}

static void read_primary(reader *r)
{
    skip_blanks(r);
    if (++r->depth > TIME_DEPTH_MAX) fail(r, "the expression is nested too deeply");
    if (r->failed) return;
    if (take(r, "(")) {
        read_choice(r);
        if (!take(r, ")")) fail(r, "expected ')'");
    } else if (is_digit(*r->at) || (*r->at == '.' && is_digit(r->at[1]))) {
        double number = read_number(r);
        emit(r, OP_NUMBER, number, 0);
    } else if (is_letter(*r->at)) {
        read_word(r);
    } else if (*r->at == '\0') {
        fail(r, "the expression ends too early");
    } else {
        fail(r, "'%.1s' cannot stand here in the expression", r->at);
    }
    --r->depth;
}

static void read_signed(reader *r);

// a^b^c is a^(b^c), and a sign before a power belongs to the whole of it
static void read_power(reader *r)
{
    read_primary(r);
    if (r->failed || !take(r, "^")) return;
    read_signed(r);
    emit(r, OP_POWER, 0.0, 2);
}

static void read_signed(reader *r)
{
    bool negative = false;
    for (;;) {
        if (take(r, "-")) negative = !negative;
        else if (!take(r, "+")) break;
    }
    read_power(r);
    if (negative) emit(r, OP_NEGATE, 0.0, 1);
}

static void read_product(reader *r)
{
    read_signed(r);
    while (!r->failed) {
        operation op = take(r, "*") ? OP_MULTIPLY : take(r, "/") ? OP_DIVIDE : OP_NUMBER;
        if (op == OP_NUMBER) return;
        read_signed(r);
        emit(r, op, 0.0, 2);
    }
}

static void read_sum(reader *r)
{
    read_product(r);
    while (!r->failed) {
        operation op = take(r, "+") ? OP_ADD : take(r, "-") ? OP_SUBTRACT : OP_NUMBER;
        if (op == OP_NUMBER) return;
        read_product(r);
        emit(r, op, 0.0, 2);
    }
}

static operation take_comparison(reader *r)
{
    static const struct {
        const char *word;
        operation op;
    } WORDS[] = {{"<=", OP_LESS_EQUAL}, {">=", OP_GREATER_EQUAL}, {"==", OP_EQUAL},
                 {"!=", OP_NOT_EQUAL},  {"<", OP_LESS},           {">", OP_GREATER}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; ++i)
        if (take(r, WORDS[i].word)) return WORDS[i].op;
    return OP_NUMBER;
}

static void read_comparison(reader *r)
{
    read_sum(r);
    while (!r->failed) {
        operation op = take_comparison(r);
        if (op == OP_NUMBER) return;
        read_sum(r);
        emit(r, op, 0.0, 2);
    }
}

static void read_and(reader *r)
{
    read_comparison(r);
    while (!r->failed && take(r, "&&")) {
        read_comparison(r);
        emit(r, OP_AND, 0.0, 2);
    }
}

static void read_or(reader *r)
{
    read_and(r);
    while (!r->failed && take(r, "||")) {
        read_and(r);
        emit(r, OP_OR, 0.0, 2);
    }
}

static void read_choice(reader *r)
{
    if (++r->depth > TIME_DEPTH_MAX) fail(r, "the expression is nested too deeply");
    if (r->failed) return;
    read_or(r);
    if (!r->failed && take(r, "?")) {
        read_choice(r);
        if (!take(r, ":")) fail(r, "expected ':' after '?'");
        read_choice(r);
        emit(r, OP_CHOOSE, 0.0, 3);
    }
    --r->depth;
}

int time_expression_parse(const char *text, time_instruction *code, time_error *error)
{
    return time_expression_parse_with(text, NULL, 0, code, error);
}

int time_expression_parse_with(const char *text, const char *const *words, int count,
                               time_instruction *code, time_error *error)
{
    reader r = {.text = text,
                .at = text,
                .code = code,
                .words = words,
                .word_count = count,
                .error = error};
    read_choice(&r);
    skip_blanks(&r);
    if (*r.at != '\0') fail(&r, "'%.1s' cannot stand here in the expression", r.at);
    return r.failed ? -1 : r.count;
}

// ---- evaluation ---------------------------------------------------------------------------------------

// u(f) with u, u' and u'' at f
static time_jet chain(time_jet f, double u, double u1, double u2)
{
    // where f does not change, infinite slopes of u do not either
    return (time_jet){u, f.rate == 0.0 ? 0.0 : u1 * f.rate,
                      (f.rate == 0.0 ? 0.0 : u2 * f.rate * f.rate) +
                          (f.acceleration == 0.0 ? 0.0 : u1 * f.acceleration)};
}

static time_jet multiply(time_jet f, time_jet g)
{
    return (time_jet){f.value * g.value, f.rate * g.value + f.value * g.rate,
                      f.acceleration * g.value + 2.0 * f.rate * g.rate + f.value * g.acceleration};
}

static time_jet power(time_jet f, time_jet g)
{
    double p = g.value, value = pow(f.value, p);
    if (g.rate == 0.0 && g.acceleration == 0.0) {
        double u1 = p == 0.0 ? 0.0 : p * pow(f.value, p - 1.0);
        double u2 = p == 0.0 || p == 1.0 ? 0.0 : p * (p - 1.0) * pow(f.value, p - 2.0);
        return chain(f, value, u1, u2);
    }
    // f^g = exp(g log f)
    double x = f.value;
    time_jet exponent = multiply(g, chain(f, log(x), 1.0 / x, -1.0 / (x * x)));
    return chain(exponent, value, value, value);
}

// atan2(f, g): rate (g f' - f g')/r^2
static time_jet angle(time_jet f, time_jet g)
{
    double square = f.value * f.value + g.value * g.value;
    double cross = g.value * f.rate - f.value * g.rate;
    double square_rate = 2.0 * (f.value * f.rate + g.value * g.rate);
    double cross_rate = g.value * f.acceleration - f.value * g.acceleration;
    return (time_jet){atan2(f.value, g.value), cross / square,
                      (cross_rate - cross * square_rate / square) / square};
}

// Is f below (-1) or above (1) g just after this time? Where they meet their rates tell, and then their accelerations.
static int order_after(time_jet f, time_jet g)
{
    const double pairs[3][2] = {
        {f.value, g.value}, {f.rate, g.rate}, {f.acceleration, g.acceleration}};
    for (int k = 0; k < 3; ++k) {
        if (pairs[k][0] < pairs[k][1]) return -1;
        if (pairs[k][0] > pairs[k][1]) return 1;
        if (!(pairs[k][0] == pairs[k][1])) return 0; // no numbers
    }
    return 0;
}

static time_jet one_argument(operation op, time_jet f)
{
    const time_jet zero = {0.0, 0.0, 0.0};
    double x = f.value, y, z;
    switch (op) {
    case OP_NEGATE: return (time_jet){-x, -f.rate, -f.acceleration};
    case OP_SIN: return chain(f, sin(x), cos(x), -sin(x));
    case OP_COS: return chain(f, cos(x), -sin(x), -cos(x));
    case OP_TAN: y = tan(x), z = 1.0 + y * y; return chain(f, y, z, 2.0 * y * z);
    case OP_ASIN: y = 1.0 / sqrt(1.0 - x * x); return chain(f, asin(x), y, x * y * y * y);
    case OP_ACOS: y = 1.0 / sqrt(1.0 - x * x); return chain(f, acos(x), -y, -x * y * y * y);
    case OP_ATAN: y = 1.0 / (1.0 + x * x); return chain(f, atan(x), y, -2.0 * x * y * y);
    case OP_SQRT: y = sqrt(x); return chain(f, y, 0.5 / y, -0.25 / (x * y));
    case OP_EXP: y = exp(x); return chain(f, y, y, y);
    case OP_LOG: return chain(f, log(x), 1.0 / x, -1.0 / (x * x));
    default: return chain(f, fabs(x), order_after(f, zero) < 0 ? -1.0 : 1.0, 0.0); // abs
    }
}

// What compares numbers and takes one of them: not defined where one of them is not, as sums are
static time_jet compare(operation op, time_jet f, time_jet g)
{
    if (isnan(f.value) || isnan(g.value)) return (time_jet){.value = (double)NAN};
    int order = order_after(f, g);
    switch (op) {
    case OP_MINIMUM: return order > 0 ? g : f;
    case OP_MAXIMUM: return order < 0 ? g : f;
    case OP_LESS: return (time_jet){.value = order < 0};
    case OP_GREATER: return (time_jet){.value = order > 0};
    case OP_LESS_EQUAL: return (time_jet){.value = order <= 0};
    case OP_GREATER_EQUAL: return (time_jet){.value = order >= 0};
    case OP_EQUAL: return (time_jet){.value = order == 0};
    default: return (time_jet){.value = order != 0};
    }
}

// Where one side decides, the other one need not be defined.
static time_jet both_or_either(bool both, double f, double g)
{
    double decides = both ? 0.0 : 1.0;
    bool first = !isnan(f) && (f != 0.0) == !both, second = !isnan(g) && (g != 0.0) == !both;
    if (first || second) return (time_jet){.value = decides};
    return (time_jet){.value = isnan(f) || isnan(g) ? (double)NAN : 1.0 - decides};
}

static time_jet two_arguments(operation op, time_jet f, time_jet g)
{
    switch (op) {
    case OP_ADD:
        return (time_jet){f.value + g.value, f.rate + g.rate, f.acceleration + g.acceleration};
    case OP_SUBTRACT:
        return (time_jet){f.value - g.value, f.rate - g.rate, f.acceleration - g.acceleration};
    case OP_MULTIPLY: return multiply(f, g);
    case OP_DIVIDE: {
        double y = 1.0 / g.value;
        time_jet quotient = multiply(f, chain(g, y, -y * y, 2.0 * y * y * y));
        quotient.value = f.value / g.value;
        return quotient;
    }
    case OP_POWER: return power(f, g);
    case OP_ATAN2: return angle(f, g);
    case OP_AND:
    case OP_OR: return both_or_either(op == OP_AND, f.value, g.value);
    default: return compare(op, f, g);
    }
}

// Which side of its corner an operation is on; 0 for those without corners. What is equal over a while parts at a
// corner of one side, so == and != have none of their own.
static unsigned side_of(operation op, time_jet f, time_jet g)
{
    switch (op) {
    case OP_ABS: return order_after(f, (time_jet){0.0, 0.0, 0.0}) < 0 ? 1 : 2;
    case OP_MINIMUM:
    case OP_MAXIMUM:
    case OP_LESS:
    case OP_GREATER:
    case OP_LESS_EQUAL:
    case OP_GREATER_EQUAL: return order_after(f, g) < 0 ? 1 : 2;
    default: return 0;
    }
}

static time_jet evaluate(const time_instruction *code, int count, double time,
                         const double *numbers, uint64_t *branches)
{
    time_jet stack[TIME_DEPTH_MAX + 1];
    int top = 0;
    uint64_t taken = 0;
    for (int i = 0; i < count; ++i) {
        operation op = (operation)code[i].operation;
        unsigned side = 0;
        if (op == OP_NUMBER) {
            stack[top++] = (time_jet){.value = code[i].number};
        } else if (op == OP_TIME) {
            stack[top++] = (time_jet){time, 1.0, 0.0};
        } else if (op == OP_WORD) {
            stack[top++] = (time_jet){.value = numbers[(int)code[i].number]};
        } else if (op == OP_CHOOSE) {
            top -= 2;
            if (!isnan(stack[top - 1].value))
                stack[top - 1] = stack[top - 1].value != 0.0 ? stack[top] : stack[top + 1];
        } else if (op == OP_NEGATE || op >= OP_SIN) {
            side = side_of(op, stack[top - 1], stack[top - 1]);
            stack[top - 1] = one_argument(op, stack[top - 1]);
        } else {
            --top;
            side = side_of(op, stack[top - 1], stack[top]);
            stack[top - 1] = two_arguments(op, stack[top - 1], stack[top]);
        }
        if (side != 0) taken = 3 * taken + side;
    }
    if (branches != NULL) *branches = taken;
    return stack[0];
}

time_jet time_expression_at(const time_instruction *code, int count, double time,
                            uint64_t *branches)
{
    return evaluate(code, count, time, NULL, branches);
}

bool time_expression_uses(const time_instruction *code, int count, int word)
{
    for (int i = 0; i < count; ++i)
        if (code[i].operation == (int)OP_WORD && (int)code[i].number == word) return true;
    return false;
}

double time_expression_with(const time_instruction *code, int count, double time,
                            const double *numbers)
{
    return evaluate(code, count, time, numbers, NULL).value;
}
