// SPDX-License-Identifier: MIT
// Expressions in t over a span of times: bounds of all values they take, by interval arithmetic.
// Note: docs/theory/forces.md
//
//   [a, b] + [c, d] = [a + c, b + d],  [a, b] [c, d] = [min, max] of the products of ends,  monotone u: [u(a), u(b)]
//
// Bounds are exact where t stands once, otherwise too wide by a part of the span that goes to zero with it. What is not
// defined somewhere in the span has no bounds.
#include "model/time_operations.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const time_range EVERYTHING = {-HUGE_VAL, HUGE_VAL};

static bool is_point(time_range f)
{
    return f.low == f.high;
}

static bool holds(time_range f, double x)
{
    return f.low <= x && x <= f.high;
}

static time_range hull(time_range f, time_range g)
{
    return (time_range){fmin(f.low, g.low), fmax(f.high, g.high)};
}

static double product(double x, double y)
{
    return x == 0.0 || y == 0.0 ? 0.0 : x * y; // of zero and an infinite bound too
}

static time_range multiply(time_range f, time_range g)
{
    double a = product(f.low, g.low), b = product(f.low, g.high), c = product(f.high, g.low),
           d = product(f.high, g.high);
    return (time_range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static time_range divide(time_range f, time_range g)
{
    if (holds(g, 0.0)) return EVERYTHING;
    return multiply(f, (time_range){1.0 / g.high, 1.0 / g.low});
}

static time_range power(time_range f, time_range g)
{
    double p = g.low;
    if (!is_point(g) || p != rint(p)) { // f^g = exp(g log f)
        if (f.low < 0.0 || (f.low == 0.0 && g.low <= 0.0)) return EVERYTHING;
        time_range from = {pow(f.low, g.low), pow(f.low, g.high)},
                   to = {pow(f.high, g.low), pow(f.high, g.high)};
        return (time_range){fmin(fmin(from.low, from.high), fmin(to.low, to.high)),
                            fmax(fmax(from.low, from.high), fmax(to.low, to.high))};
    }
    if (p < 0.0 && holds(f, 0.0)) return EVERYTHING;
    double low = pow(f.low, p), high = pow(f.high, p);
    time_range ends = {fmin(low, high), fmax(low, high)};
    if (fmod(p, 2.0) == 0.0 && p > 0.0 && holds(f, 0.0)) ends.low = 0.0;
    return ends;
}

// u(f) of a sine: `peak` is where it is 1
static time_range wave(time_range f, double low, double high, double peak)
{
    time_range ends = {fmin(low, high), fmax(low, high)};
    if (!(f.high - f.low < 2.0 * PI)) return (time_range){-1.0, 1.0};
    double next = peak + 2.0 * PI * ceil((f.low - peak) / (2.0 * PI)),
           deep = peak + PI + 2.0 * PI * ceil((f.low - peak - PI) / (2.0 * PI));
    if (next <= f.high) ends.high = 1.0;
    if (deep <= f.high) ends.low = -1.0;
    return ends;
}

static time_range tangent(time_range f)
{
    double pole = 0.5 * PI + PI * ceil((f.low - 0.5 * PI) / PI);
    return pole <= f.high ? EVERYTHING : (time_range){tan(f.low), tan(f.high)};
}

static time_range angle(time_range f, time_range g)
{
    if (f.low <= 0.0 && f.high >= 0.0 && g.low <= 0.0) return (time_range){-PI, PI};
    double a = atan2(f.low, g.low), b = atan2(f.low, g.high), c = atan2(f.high, g.low),
           d = atan2(f.high, g.high);
    return (time_range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static time_range one_argument(operation op, time_range f)
{
    const time_range unit = {-1.0, 1.0};
    double a = f.low, b = f.high;
    switch (op) {
    case OP_NEGATE: return (time_range){-b, -a};
    case OP_SIN: return isfinite(b - a) ? wave(f, sin(a), sin(b), 0.5 * PI) : unit;
    case OP_COS: return isfinite(b - a) ? wave(f, cos(a), cos(b), 0.0) : unit;
    case OP_TAN: return isfinite(b - a) ? tangent(f) : EVERYTHING;
    case OP_ASIN: return a < -1.0 || b > 1.0 ? EVERYTHING : (time_range){asin(a), asin(b)};
    case OP_ACOS: return a < -1.0 || b > 1.0 ? EVERYTHING : (time_range){acos(b), acos(a)};
    case OP_ATAN: return (time_range){atan(a), atan(b)};
    case OP_SQRT: return a < 0.0 ? EVERYTHING : (time_range){sqrt(a), sqrt(b)};
    case OP_EXP: return (time_range){exp(a), exp(b)};
    case OP_LOG: return a <= 0.0 ? EVERYTHING : (time_range){log(a), log(b)};
    default: // abs
        return (time_range){holds(f, 0.0) ? 0.0 : fmin(fabs(a), fabs(b)), fmax(fabs(a), fabs(b))};
    }
}

// Is it true (1), false (0), or one here and the other there (-1)?
static int truth(time_range f)
{
    return is_point(f) ? f.low != 0.0 : holds(f, 0.0) ? -1 : 1;
}

static time_range told(int truth)
{
    return (time_range){truth > 0 ? 1.0 : 0.0, truth == 0 ? 0.0 : 1.0};
}

static time_range two_arguments(operation op, time_range f, time_range g)
{
    int a, b;
    switch (op) {
    case OP_ADD: return (time_range){f.low + g.low, f.high + g.high};
    case OP_SUBTRACT: return (time_range){f.low - g.high, f.high - g.low};
    case OP_MULTIPLY: return multiply(f, g);
    case OP_DIVIDE: return divide(f, g);
    case OP_POWER: return power(f, g);
    case OP_ATAN2: return angle(f, g);
    case OP_MINIMUM: return (time_range){fmin(f.low, g.low), fmin(f.high, g.high)};
    case OP_MAXIMUM: return (time_range){fmax(f.low, g.low), fmax(f.high, g.high)};
    case OP_LESS: return told(f.high < g.low ? 1 : f.low >= g.high ? 0 : -1);
    case OP_GREATER: return told(f.low > g.high ? 1 : f.high <= g.low ? 0 : -1);
    case OP_LESS_EQUAL: return told(f.high <= g.low ? 1 : f.low > g.high ? 0 : -1);
    case OP_GREATER_EQUAL: return told(f.low >= g.high ? 1 : f.high < g.low ? 0 : -1);
    case OP_EQUAL:
    case OP_NOT_EQUAL:
        a = f.low > g.high || f.high < g.low ? 0 : is_point(f) && is_point(g) ? 1 : -1;
        return told(a < 0 ? -1 : op == OP_EQUAL ? a : !a);
    case OP_AND:
        a = truth(f), b = truth(g);
        return told(a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : -1);
    default: // or
        a = truth(f), b = truth(g);
        return told(a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : -1);
    }
}

// Is an operation on one side of its corner in the whole span? Sides are those of time_expression_at.
static bool keeps_side(operation op, time_range f, time_range g)
{
    switch (op) {
    case OP_ABS: return f.high < 0.0 || f.low >= 0.0;
    case OP_MINIMUM:
    case OP_MAXIMUM:
    case OP_LESS:
    case OP_GREATER:
    case OP_LESS_EQUAL:
    case OP_GREATER_EQUAL: return f.high < g.low || f.low >= g.high;
    default: return true;
    }
}

time_range time_expression_over(const time_instruction *code, int count, double begin, double end,
                                bool *smooth)
{
    time_range stack[TIME_DEPTH_MAX + 1];
    int top = 0;
    bool keeps = true;
    for (int i = 0; i < count; ++i) {
        operation op = (operation)code[i].operation;
        time_range *f = &stack[top > 0 ? top - 1 : 0];
        if (op == OP_NUMBER) {
            stack[top++] = (time_range){code[i].number, code[i].number};
        } else if (op == OP_TIME) {
            stack[top++] = (time_range){begin, end};
        } else if (op == OP_WORD) {
            stack[top++] = EVERYTHING;
        } else if (op == OP_CHOOSE) {
            top -= 2;
            int chosen = truth(stack[top - 1]);
            stack[top - 1] = chosen < 0 ? hull(stack[top], stack[top + 1]) : stack[top + !chosen];
        } else if (op == OP_NEGATE || op >= OP_SIN) {
            keeps = keeps && keeps_side(op, *f, *f);
            *f = one_argument(op, *f);
        } else {
            f = &stack[--top - 1];
            keeps = keeps && keeps_side(op, f[0], f[1]);
            *f = two_arguments(op, f[0], f[1]);
        }
        if (!(stack[top - 1].low <= stack[top - 1].high)) stack[top - 1] = EVERYTHING; // no numbers
    }
    *smooth = keeps;
    return stack[0];
}
