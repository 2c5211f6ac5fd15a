// SPDX-License-Identifier: MIT
// What the instructions of an expression in t do: for time_expression.c, which evaluates them at a time, and
// time_expression_range.c, which does over a span of times.
#ifndef MODEL_TIME_OPERATIONS_H
#define MODEL_TIME_OPERATIONS_H

#include "model/time_expression.h"

typedef enum operation {
    OP_NUMBER,
    OP_TIME,
    OP_WORD, // one of the numbers given
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_LESS,
    OP_GREATER,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_AND,
    OP_OR,
    OP_CHOOSE, // condition, then, else
    OP_ATAN2,
    OP_MINIMUM,
    OP_MAXIMUM,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_ASIN,
    OP_ACOS,
    OP_ATAN,
    OP_SQRT,
    OP_EXP,
    OP_LOG,
    OP_ABS,
} operation;

#endif
