// SPDX-License-Identifier: MIT
// Units of numbers in model files: "30 deg", "12 mm", "5 rpm", "2 kN", "7.8 g/cm^3".
#ifndef IO_UNITS_H
#define IO_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/// Exponents of metre, kilogram, second and radian.
typedef struct unit_kind {
    signed char length, mass, time, angle;
} unit_kind;

/// Where the unit begins in the text of a number: after an expression and a blank; the end of the text where there is
/// none. Sets what the unit is in SI units and its kind.
size_t unit_split(const char *text, double *factor, unit_kind *kind);

/// May a number of the field `what` have a unit of this kind? `*expected` completes "expected ..." where it may not.
/// Fields
/// that may be of several kinds take all of these, fields without a unit none; a field that is not known takes any.
bool unit_fits(const char *what, unit_kind kind, const char **expected);

#endif
