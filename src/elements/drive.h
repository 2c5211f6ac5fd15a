// SPDX-License-Identifier: MIT
// What a drive or a law on a joint's coordinate knows: efforts, servos, motors, springs and dampers by tables, rotors.
#ifndef ELEMENTS_DRIVE_H
#define ELEMENTS_DRIVE_H

#include <holonom/model.h>

/// Numbers of a drive in the state, beside its coordinate (which comes first, at element.angle).
typedef enum drive_slot {
    DRIVE_COORDINATE, ///< rad or m; angles count turns
    DRIVE_INTEGRAL,   ///< rad s or m s, servo: of target less coordinate
    DRIVE_ROTOR,      ///< rad/s or m/s: rate of the rotor
    DRIVE_HOLD,       ///< N m or N, motion: the effort that holds it in the step
    DRIVE_EFFORT,     ///< N m or N: in the last step, along the coordinate
    DRIVE_POWER,      ///< W: mean over the last step, likewise
    DRIVE_WORK,       ///< J: since the start, without what springs hold
    DRIVE_SLOTS,
} drive_slot;

typedef struct drive_law {
    hn_drive_kind kind;
    int coordinate;           ///< which one of the joint's
    double sign;              ///< the coordinate is sign times the element's angle
    const hn_profile *function; ///< effort, target, command
    double scale;
    double held;              ///< stands for the function while it is a number: an input; otherwise NAN
    double proportional, derivative, integral, limit;
    double stall, no_load;
    const hn_profile *spring; ///< effort over displacement, or NULL
    const hn_profile *damper; ///< effort over rate, or NULL
    double lower, upper;      ///< rad or m, stop
    double contact, contact_damping; ///< stop: of the compression
    double armature;          ///< kg m^2 or kg
    hn_law_function law;      ///< of the user, or NULL
    void *law_user;
} drive_law;

/// How much the effort grows by its function of time, which stays where it is: of a servo without its limit. 0: none.
double drive_command_gain(const drive_law *law);
/// Its unit where the coordinate has `unit`, m or rad.
const char *drive_command_unit(const drive_law *law, const char *unit);

#endif
