// SPDX-License-Identifier: MIT
// What a drive or a law on a joint's coordinate knows: efforts, servos, motors, springs and dampers by tables, rotors.
#ifndef ELEMENTS_DRIVE_H
#define ELEMENTS_DRIVE_H

#include <holonom/model.h>

#include "model/profiles.h"

/// Numbers of a drive in the state, beside its coordinate (which comes first, at element.angle).
typedef enum drive_slot {
    DRIVE_COORDINATE, ///< rad or m; angles count turns
    DRIVE_INTEGRAL,   ///< rad s or m s, servo: of target less coordinate; latch: 1 from below, -1 from above its value
    DRIVE_ROTOR,      ///< rad/s or m/s: rate of the rotor; friction: of the coordinate at the begin of the step
    DRIVE_HOLD,       ///< N m or N, motion: the effort that holds it in the step
    DRIVE_EFFORT,     ///< N m or N: in the last step, along the coordinate
    DRIVE_POWER,      ///< W: mean over the last step, likewise
    DRIVE_WORK,       ///< J: since the start, without what springs hold
    DRIVE_MODE,       ///< friction: a friction_mode; latch: 1 locked; rigid stop: 1 at its upper, -1 at its lower value
    DRIVE_NORMAL,     ///< N, friction: reaction force of its joint in the step
    DRIVE_SLOTS,
} drive_slot;

/// What dry friction does in a step.
typedef enum friction_mode {
    FRICTION_BACK = -1, ///< slides against the coordinate
    FRICTION_STICK = 0, ///< holds: the rate at the end of the step is zero
    FRICTION_FORTH = 1, ///< slides along it
    FRICTION_REST = 2,  ///< holds the coordinate where it is
    FRICTION_TURN = 3,  ///< slides, and turns round within the step
} friction_mode;

typedef struct drive_law {
    hn_drive_kind kind;
    const char *name;         ///< of a drive; terms of couplings have none
    int coordinate;           ///< of its joint
    int column;               ///< number of that coordinate among those that laws act on
    double sign;              ///< the coordinate is sign times the element's angle
    double unit;              ///< 1 rad, or m: the size of its joint
    int path_row;             ///< rotation path: 0, 1 or 2, the axis of a that it turns about; its three laws are
                              ///< neighbours, each with one of the angles
    hn_vec3 path_axis;        ///< there: what the angle of this law is about
    const hn_profile *function; ///< effort, target, command
    known_mean mean;          ///< of it in the step that is being solved
    double scale;
    bool jumps;               ///< motion: the rate of the function may jump
    double held;              ///< stands for the function while it is a number: an input; otherwise NAN
    double proportional, derivative, integral, limit;
    double stall, no_load;
    const hn_profile *spring; ///< effort over displacement, or NULL
    const hn_profile *damper; ///< effort over rate, or NULL
    double lower, upper;      ///< rad or m, stop
    double contact, contact_damping; ///< stop: of the compression
    bool rigid;               ///< stop with restitution
    double restitution;
    double friction, by_reaction; ///< N m or N; m or 1: times the reaction force
    double static_ratio, stribeck;
    double latch;             ///< rad or m
    double armature;          ///< kg m^2 or kg
    hn_law_function law;      ///< of the user, or NULL
    void *law_user;
} drive_law;

/// How much the effort grows by its function of time, which stays where it is: of a servo without its limit. 0: none.
double drive_command_gain(const drive_law *law);
/// Its unit where the coordinate has `unit`, m or rad.
const char *drive_command_unit(const drive_law *law, const char *unit);
/// What its effort falls by with the rate, N s/m or N m s, at most; 0: not by a damping of its own.
double drive_damping(const drive_law *law);
struct element;
struct element_step;
/// The least coefficient of its dampers in any step, as a secant of their effort over the rate.
double drive_least_damping(const struct element *e);
/// Has it a damper, or may it get one?
bool drive_may_damp(const struct element *e);
/// Largest effort of friction at a rate of its coordinate, with the reaction force `normal`, and its slope by the rate.
double drive_friction(const drive_law *law, double normal, double rate, double *slope);
/// Is its effort one that holds the coordinate, in this mode of the drive? Terms of couplings are motions.
bool drive_is_held(const drive_law *law, double mode);
/// Effort at an instant along the coordinate, which is at x and moves with a rate, and its derivatives: of springs,
/// tables and dampers too, without rotor and without what holds a coordinate. Exact; where a table has a corner, slopes
/// are the means of those on both sides. `now`: load_begin is the time, memory has the integral. Not for laws of the
/// user.
typedef struct drive_instant {
    double effort;
    double by_coordinate, by_rate;
    double by_integral; ///< of a servo that is not at its limit
    double stored;      ///< the part of the effort that takes from or adds to the energy of a spring, or of a buffer
} drive_instant;
drive_instant drive_at_instant(const struct element *e, const struct element_step *now, double x, double rate);
/// Does its coordinate move in a step, on the way from one place to another, beyond round-off?
bool drive_moves(const struct element *e, const struct element_step *step, double from, double to);

#endif
