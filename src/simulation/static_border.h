// SPDX-License-Identifier: MIT
// Relations of joint coordinates in statics and modes: couplings, motions and locked latches as constraints beside the
// sparse system, rotors as a mass beside it. Note: docs/theory/statics.md
#ifndef SIMULATION_STATIC_BORDER_H
#define SIMULATION_STATIC_BORDER_H

#include "simulation/simulation.h"

typedef struct static_border {
    hn_simulation *simulation;
    saddle *rows;     ///< the sparse system, whose factors are used
    int hold_count;   ///< relations that hold, in simulation->held_list
    int rotor_count;
    int *rotors;      ///< elements of drives with an armature
    int count;        ///< rows at present: relations, and rotors where they have a part
    bool still;       ///< nothing is to move: how far relations are off is left as it is
    int hard;         ///< of them those that take an eigenvalue (Q7)
    int stuck;        ///< a relation that a loop or another one holds already, index in held_list; or -1
    double *row;      ///< c, 12 per body, one after the other
    double *response; ///< Y, 6 per body
    double *matrix;   ///< D + W, symmetric, then its factors
    double *small;    ///< count numbers
    double *velocity; ///< scratch: 12 per body
    int *pivots;
    void *memory;
} static_border;

/// Find what holds at the state. @return HN_OK or HN_OUT_OF_MEMORY; static_border_end in any case
hn_status static_border_begin(hn_simulation *simulation, saddle *rows, static_border *border);
void static_border_end(static_border *border);

/// With the factors of the sparse system at poses q, whose equations are divided by `row_factor`: responses to rows.
/// `shift`, 1/s^2: of the mass in that system, which rotors have a part of; 0: none. False: `stuck` says which relation
/// nothing moves.
bool static_border_factor(static_border *border, const double *q, double row_factor, double shift);
/// Eigenvalues below zero on the motions in which all holds, from those without (Q7). @return HN_OK, HN_OUT_OF_MEMORY
hn_status static_border_count_at(static_border *border, const double *q, double row_factor, double shift,
                                 int *negative);
/// Twists y = (sparse system)^-1 f, 6 per body, to those of the system with its border.
void static_border_project(static_border *border, const double *q, double *twists);
/// p += J c (c . v) of rotors, 12 per body, with velocities v.
void static_border_add_momenta(const static_border *border, const double *q, const double *v, double *p);
/// The same as wrenches, 6 per body.
void static_border_add_rotors(const static_border *border, const double *q, const double *v, double *y);

/// One increment of Newton's method: correct the twists of the sparse system at the iterate, its multipliers, and the
/// efforts in the step. False: as static_border_factor.
bool static_border_correct(static_border *border, solved_step *step, double row_factor, double *twists);

#endif
