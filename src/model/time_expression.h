// SPDX-License-Identifier: MIT
// An expression in t as a short program, with exact derivatives: each value carries its first and second one.
#ifndef MODEL_TIME_EXPRESSION_H
#define MODEL_TIME_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

/// A function's value, rate and acceleration.
typedef struct time_jet {
    double value, rate, acceleration;
} time_jet;

/// One instruction of a stack machine.
typedef struct time_instruction {
    int operation;
    double number; ///< of a constant
} time_instruction;

enum { TIME_CODE_MAX = 500, TIME_DEPTH_MAX = 40 };

typedef struct time_error {
    int position; ///< bytes from the beginning of the text
    char message[120];
} time_error;

/// Translate `text`; returns the number of instructions (at most TIME_CODE_MAX), or -1 with `error` filled. The
/// language is that of numbers in model files, as muParser reads it, without parameters and with `t`.
int time_expression_parse(const char *text, time_instruction *code, time_error *error);

/// The same with more words that stand for numbers, `count` of them.
int time_expression_parse_with(const char *text, const char *const *words, int count, time_instruction *code,
                               time_error *error);
/// Its value at a time with these numbers for the words.
double time_expression_with(const time_instruction *code, int count, double time, const double *numbers);
/// Does it name one of the words?
bool time_expression_uses(const time_instruction *code, int count, int word);

/// The expression at a time, at a corner or a jump as it is to the right. `branches` tells which sides of abs, min, max
/// and comparisons were taken: where it differs between two times there is a corner between them.
time_jet time_expression_at(const time_instruction *code, int count, double time, uint64_t *branches);

/// Bounds of what a function takes.
typedef struct time_range {
    double low, high;
} time_range;

/// Bounds of the expression between two times, infinite where it is not defined somewhere. `smooth`: abs, min, max and
/// comparisons are all on one side in between; false: there may be a corner.
time_range time_expression_over(const time_instruction *code, int count, double begin, double end, bool *smooth);

#endif
