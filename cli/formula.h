// SPDX-License-Identifier: MIT
// Formulas over numbers and series of numbers: what the rows of a paper measure.
#ifndef CLI_FORMULA_H
#define CLI_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/// A number (count 1) or a series.
typedef struct formula_value {
    const double *numbers;
    size_t count;
} formula_value;

/// Memory of values: freed all at once.
typedef struct formula_memory {
    struct formula_block *blocks;
} formula_memory;

double *formula_numbers(formula_memory *memory, size_t count); ///< NULL: no memory
void formula_memory_clear(formula_memory *memory);

enum { FORMULA_MESSAGE_SIZE = 256 };

/// What a name such as "top.z" stands for; false: the message says why not.
typedef bool (*formula_lookup)(void *user, const char *name, formula_value *value,
                               char message[FORMULA_MESSAGE_SIZE]);

/// Evaluate. False: `message` says what is wrong and `*place` where in the text, from 0. Values live in `memory`.
bool formula_evaluate(const char *text, formula_lookup lookup, void *user, formula_memory *memory,
                      formula_value *value, size_t *place, char message[FORMULA_MESSAGE_SIZE]);

/// Check grammar, functions and names without values: `lookup` may leave the value a number.
bool formula_check(const char *text, formula_lookup lookup, void *user, size_t *place,
                   char message[FORMULA_MESSAGE_SIZE]);

/// Names of the functions and what they do, for messages and the manual: false when there are no more.
bool formula_function(int index, const char **name, const char **meaning);

#endif
