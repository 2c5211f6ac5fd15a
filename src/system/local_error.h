// SPDX-License-Identifier: MIT
// The error of a step: the worst body in metres, in radians, and in parts of its own size.
#ifndef SYSTEM_LOCAL_ERROR_H
#define SYSTEM_LOCAL_ERROR_H

#include "system/system.h"

/// What an error is measured in: m, rad, and rad or parts of the body's size, whichever is worse.
typedef enum error_measure { ERROR_POSITION, ERROR_ANGLE, ERROR_RELATIVE, ERROR_MEASURES } error_measure;

/// The worst of all bodies in each measure.
typedef struct local_error {
    double value[ERROR_MEASURES];
    int body[ERROR_MEASURES];
} local_error;

/// What is not a number is worse than any.
static inline void local_error_note(local_error *e, error_measure measure, double value, int body)
{
    if (!(value > e->value[measure]) && value == value) return;
    e->value[measure] = value;
    e->body[measure] = body;
}

/// Errors of one body's centre of mass (m) and axes (rad).
static inline void local_error_note_body(local_error *e, const hn_system *system, int body, double position,
                                         double angle)
{
    local_error_note(e, ERROR_POSITION, position, body);
    local_error_note(e, ERROR_ANGLE, angle, body);
    local_error_note(e, ERROR_RELATIVE, position / system->sizes[body], body);
    local_error_note(e, ERROR_RELATIVE, angle, body);
}

/// Add the errors of a further step, or of a part of one.
static inline void local_error_add(local_error *e, const local_error *other, double factor)
{
    for (int m = 0; m < ERROR_MEASURES; ++m) {
        if (factor * other->value[m] > e->value[m]) e->body[m] = other->body[m];
        e->value[m] += factor * other->value[m];
    }
}

#endif
