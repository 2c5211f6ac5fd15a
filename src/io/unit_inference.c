// SPDX-License-Identifier: MIT
// The unit of an expression by those of its words: the program of the expression, run on kinds instead of numbers.
//
// A bare number may stand for anything, and so may its products. Terms of a sum, and what min, max and comparisons
// take, are of one kind; functions take and give numbers, never metres or kilograms; the time may stand
// for a number of seconds or for a number.
#include "io/units.h"

#include "model/time_operations.h"

#include <math.h>
#include <stdlib.h>

static const int EXPONENT_MAX = 20;

static bool is_some(const unit_guess *g)
{
    return g->known && !unit_is_pure(g->kind);
}

static unit_guess number(void)
{
    return (unit_guess){.known = true, .derived = true};
}

static unit_guess mixture(const unit_guess *a, const unit_guess *b)
{
    return (unit_guess){.kind = a->kind, .mixed = true, .other = b->kind};
}

bool unit_alike(const unit_guess *a, const unit_guess *b)
{
    return a->kind.length == b->kind.length && a->kind.mass == b->kind.mass &&
           (a->kind.time == b->kind.time || a->any_time || b->any_time) &&
           (a->kind.angle == b->kind.angle || a->derived || b->derived);
}

// a + b, or one of the two: numbers take the kind of what they stand beside.
static unit_guess sum(const unit_guess *a, const unit_guess *b)
{
    if (a->mixed || b->mixed) return a->mixed ? *a : *b;
    if (!is_some(a) || !is_some(b)) return is_some(a) ? *a : is_some(b) ? *b : a->known ? *b : *a;
    if (!unit_alike(a, b)) return mixture(a, b);
    unit_guess both = *a;
    both.derived = a->derived || b->derived;
    both.any_time = a->any_time || b->any_time;
    return both;
}

static signed char exponent(int value)
{
    return (signed char)(value > EXPONENT_MAX    ? EXPONENT_MAX
                         : value < -EXPONENT_MAX ? -EXPONENT_MAX
                                                 : value);
}

unit_guess unit_product(const unit_guess *a, const unit_guess *b, int power)
{
    if (a->mixed || b->mixed) return a->mixed ? *a : *b;
    if (!a->known || !b->known) return (unit_guess){.known = false};
    unit_guess g = {.known = true, .derived = true, .any_time = a->any_time || b->any_time};
    g.kind.length = exponent(a->kind.length + power * b->kind.length);
    g.kind.mass = exponent(a->kind.mass + power * b->kind.mass);
    g.kind.time = exponent(a->kind.time + power * b->kind.time);
    g.kind.angle = exponent(a->kind.angle + power * b->kind.angle);
    return g;
}

static unit_guess power(const unit_guess *a, const unit_guess *b, const time_instruction *last)
{
    const unit_guess one = number();
    if (a->mixed || b->mixed) return a->mixed ? *a : *b;
    if (a->known && !is_some(a)) return *a;
    bool whole = last->operation == (int)OP_NUMBER && last->number == rint(last->number) &&
                 fabs(last->number) <= EXPONENT_MAX;
    return whole ? unit_product(&one, a, (int)last->number) : (unit_guess){.known = false};
}

static unit_guess of_function(operation op, const unit_guess *a)
{
    if (op == OP_NEGATE || op == OP_ABS || a->mixed) return *a;
    const unit_guess one = number();
    // seconds and radians may meet a bare frequency, metres and kilograms meet nothing in a sine
    if (op != OP_SQRT && a->known && (a->kind.length != 0 || a->kind.mass != 0))
        return mixture(a, &one);
    if (op != OP_SQRT || (a->known && !is_some(a))) return one;
    unit_guess root = *a;
    root.derived = true;
    root.kind.length /= 2, root.kind.mass /= 2, root.kind.time /= 2, root.kind.angle /= 2;
    unit_guess square = unit_product(&root, &root, 1);
    return a->known && unit_alike(&square, a) ? root : (unit_guess){.known = false};
}

static unit_guess of_pair(operation op, const unit_guess *a, const unit_guess *b,
                          const time_instruction *last)
{
    unit_guess both;
    switch (op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MINIMUM:
    case OP_MAXIMUM: return sum(a, b);
    case OP_MULTIPLY: return unit_product(a, b, 1);
    case OP_DIVIDE: return unit_product(a, b, -1);
    case OP_POWER: return power(a, b, last);
    case OP_AND:
    case OP_OR: return a->mixed ? *a : b->mixed ? *b : number();
    default: // comparisons, atan2
        both = sum(a, b);
        return both.mixed ? both : number();
    }
}

unit_guess unit_infer(const char *text, const char *const *names, const unit_guess *guesses,
                      int count)
{
    time_instruction code[TIME_CODE_MAX];
    unit_guess stack[TIME_DEPTH_MAX + 1];
    time_error error;
    int length = time_expression_parse_with(text, names, count, code, &error), top = 0;
    for (int i = 0; i < length; ++i) {
        operation op = (operation)code[i].operation;
        if (op == OP_NUMBER) {
            stack[top++] = (unit_guess){.known = false};
        } else if (op == OP_TIME) {
            stack[top] = number();
            stack[top++].any_time = true;
        } else if (op == OP_WORD) {
            stack[top++] = guesses[(int)code[i].number];
        } else if (op == OP_CHOOSE) {
            top -= 2;
            stack[top - 1] =
                stack[top - 1].mixed ? stack[top - 1] : sum(&stack[top], &stack[top + 1]);
        } else if (op == OP_NEGATE || op >= OP_SIN) {
            stack[top - 1] = of_function(op, &stack[top - 1]);
        } else {
            --top;
            stack[top - 1] = of_pair(op, &stack[top - 1], &stack[top], &code[i - 1]);
        }
    }
    return length > 0 ? stack[0] : (unit_guess){.known = false};
}
