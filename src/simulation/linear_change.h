// SPDX-License-Identifier: MIT
// Does a linear system rest along the motion it is about? Note: docs/theory/linearisation.md
#ifndef SIMULATION_LINEAR_CHANGE_H
#define SIMULATION_LINEAR_CHANGE_H

#include "simulation/state_dynamics.h"

#include "base/pool.h"

/// A row-major n x n; the first `free` states are coordinates, then their rates.
typedef struct linear_view {
    int n, free;
    const double *a;
    const double *drift; ///< how rates and accelerations change along the motion
} linear_view;

/// A small advance of a state along its motion, without what only trembles meanwhile, and how A changes on it.
typedef struct linear_watch {
    double time;    ///< s, how long it takes; 0: nothing moves
    double rate;    ///< rad/s, of the state itself
    double growth;  ///< rad/s^2, of its rates
    double wheel;   ///< rad/s; what turns faster against its carrier does not go on; 0: all goes on
    bool from_rest; ///< it goes with the square of the time
    const hn_system *system;
    const double *q;
    double *v, *a;  ///< what lasts: 12 per body
    double *moved;  ///< per body: turn, way, angular velocity and velocity of the advance
    int n, free;
    double *scaled, *schur, *basis; ///< A in units that compare, T and Q of it
    double *change;                 ///< of A, in those units
    double *scales, *right, *real, *imaginary, *scratch;
    pool memory;
} linear_watch;

/// `slowest`: rad/s, the least modulus of an eigenvalue that is not zero, or 0. linear_watch_end in any case.
hn_status linear_watch_begin(const state_dynamics *x, const linear_view *view, double slowest, linear_watch *watch);
/// Lets what turns fast against its carrier stand in the advance, its velocities kept, and the rest go on by as much
/// as before; false: nothing turns that much faster than the rest. What is round leaves A as it is, and its rate would
/// hide how A turns with what carries it.
bool linear_watch_wheels_stand(linear_watch *watch);
/// Positions and velocities then, 12 per body each.
void linear_watch_advance(const linear_watch *watch, double *q, double *v);
/// How much of A has changed then for the small motion that feels it most, while that or the state turns by one radian;
/// 0: nothing but round-off. `time`: s, how long that takes.
double linear_watch_change(linear_watch *watch, const double *then, const double *now, double *time);
void linear_watch_end(linear_watch *watch);

#endif
