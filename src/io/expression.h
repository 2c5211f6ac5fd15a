// SPDX-License-Identifier: MIT
// Numbers in model files: plain ones, and arithmetic with named parameters through muParser.
#ifndef IO_EXPRESSION_H
#define IO_EXPRESSION_H

#include "base/context.h"
#include "io/units.h"

/// An evaluator with its parameters; made on the first expression that is not a plain number.
typedef struct expression_set expression_set;

/// Where and why an expression failed.
typedef struct expression_error {
    int position; ///< bytes from the beginning of the text
    char message[160];
} expression_error;

hn_status expression_set_create(hn_context *context, expression_set **set);
void expression_set_destroy(expression_set *set);

/// Value of an expression such as "pi/3" or "2*length + 0.1". False with `error` filled when it is none, or when its
/// value is not finite. Plain numbers take a short cut.
bool expression_evaluate(expression_set *set, const char *text, double *value, expression_error *error);

/// Is `t` among the words of a text, so that it is a function of time?
bool expression_has_time(const char *text);

/// Check an expression in `t` and write it with parameters replaced by their numbers. False with `error` filled when it
/// is none.
bool expression_in_time(expression_set *set, const char *text, char *plain, size_t size, expression_error *error);

/// What is known of the unit of an expression, by those that its parameters were defined with.
unit_guess expression_unit(const expression_set *set, const char *text);

/// Make a parameter known to later expressions.
/// @return HN_OK, HN_OUT_OF_MEMORY, or HN_INVALID_ARGUMENT with a reason in `error` for a name that cannot be one
hn_status expression_define(expression_set *set, const char *name, double value, const unit_guess *unit,
                            expression_error *error);

#endif
