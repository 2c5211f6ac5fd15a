// SPDX-License-Identifier: MIT
// Units of numbers in model files: "30 deg", "12 mm", "5 rpm", "2 kN", "7.8 g/cm^3", and what each quantity takes.
#ifndef IO_UNITS_H
#define IO_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/// Exponents of metre, kilogram, second and radian.
typedef struct unit_kind {
    signed char length, mass, time, angle;
} unit_kind;

/// What is known of the unit of a value.
typedef struct unit_guess {
    unit_kind kind;
    bool known;      ///< false: a bare number, which may be of any kind
    bool derived;    ///< by products: radians in it are not compared
    bool any_time;   ///< the time is a factor, which may stand for a number: seconds are not compared
    bool mixed;      ///< a sum of different kinds, `kind` and `other`, or a function of what is no number
    unit_kind other;
} unit_guess;

/// What a number in a model file means.
typedef enum quantity {
    QUANTITY_ANY, ///< a parameter, or a number whose meaning is judged elsewhere
    QUANTITY_NUMBER,
    QUANTITY_LENGTH,
    QUANTITY_ANGLE,
    QUANTITY_TIME,
    QUANTITY_SPEED,
    QUANTITY_ANGULAR_SPEED,
    QUANTITY_ACCELERATION,
    QUANTITY_MASS,
    QUANTITY_INERTIA,
    QUANTITY_DENSITY,
    QUANTITY_FORCE,
    QUANTITY_TORQUE,
    QUANTITY_PRESSURE,
    QUANTITY_STIFFNESS,
    QUANTITY_TORSIONAL_STIFFNESS,
    QUANTITY_DAMPING,
    QUANTITY_TORSIONAL_DAMPING,
    QUANTITY_INTEGRAL_GAIN,
    QUANTITY_TORSIONAL_INTEGRAL_GAIN,
    QUANTITY_LINE_LOAD,
    QUANTITY_LINE_DENSITY,
    QUANTITY_LINE_INERTIA,
    QUANTITY_AREA,
    QUANTITY_SECOND_MOMENT,
    QUANTITY_BENDING_STIFFNESS,
    QUANTITY_COUNT,
} quantity;

/// What stands beside a coordinate of a joint.
typedef enum coordinate_part {
    PART_VALUE,
    PART_RATE,
    PART_EFFORT,
    PART_STIFFNESS,
    PART_DAMPING,
    PART_INTEGRAL_GAIN,
    PART_INERTIA, ///< a mass along a displacement
} coordinate_part;

/// Where the unit begins in the text of a number: after an expression and a blank; the end of the text where there is
/// none. Sets what the unit is in SI units and its kind.
size_t unit_split(const char *text, double *factor, unit_kind *kind);

/// Of the text of a unit as results have it: "N m"; an empty one is not known.
unit_guess unit_of_text(const char *text);

/// The quantity of a part of a coordinate that is counted in "m" or "rad"; NULL: any.
quantity quantity_along(const char *coordinate_unit, coordinate_part part);

/// The unit of an expression, by those of its words: known where all its factors are. Terms of a sum are of one kind.
unit_guess unit_infer(const char *text, const char *const *names, const unit_guess *guesses, int count);

/// a b^power of units.
unit_guess unit_product(const unit_guess *a, const unit_guess *b, int power);

/// May they be terms of one sum?
bool unit_alike(const unit_guess *a, const unit_guess *b);

/// Of a unit that stands in the file.
unit_guess unit_written(unit_kind kind);
/// Is it no unit at all?
bool unit_is_pure(unit_kind kind);
/// May a value of this unit stand where the quantity is meant? A bare number may everywhere.
bool quantity_takes(quantity q, const unit_guess *guess);
/// "an angle" and "30 deg"; the example of a number without a unit is empty.
const char *quantity_words(quantity q);
const char *quantity_example(quantity q);
/// "a speed"; "in kg m^2 s^-1" and false where no quantity has this kind.
bool unit_describe(unit_kind kind, char *text, size_t size);

#endif
