// SPDX-License-Identifier: MIT
// Small motions about a state: the matrices of a linear system in the coordinates of joints.
#ifndef HOLONOM_LINEARISATION_H
#define HOLONOM_LINEARISATION_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/// d(dx)/dt = A dx + B du, dy = C dx about a state x and its derivative; matrices by rows. Since 0.2.
///
/// States are independent coordinates of joints (of bodies where joints do not tell), as many as there are degrees of
/// freedom, in the order of the model; then their rates; then the integrals of servos. Loops and prescribed motions
/// hold while it moves. A coordinate about a world axis (spherical, free) is a small turn from where the state is.
/// Ways and turns of bodies, and what spherical and free joints tell, are along world axes if A rests in those while
/// the state moves. Otherwise they are those of bodies along axes that move with the body itself, or with the one that
/// carries it (nodes of a beam on a hub: the hub), and names say so: "blade.1/x (hub axes)". In a steady motion A then
/// rests, and eigenvalues tell its stability. Their rates and accelerations, in `state` and `derivative` too, are
/// components of velocities and accelerations against the ground along these axes.
/// Inputs are efforts on all coordinates of joints, as in hn_simulation_input; then the functions of time of drives:
/// efforts, targets of servos (held), commands of motors.
/// Outputs are all coordinates of joints, then all their rates; coordinates of bodies that are states come after
/// those of joints.
typedef struct hn_linear_system {
    double time;        ///< s
    int freedom_count;  ///< independent coordinates
    int state_count;    ///< twice as many, and servos with an integral gain
    int input_count;
    int output_count;
    const double *a;    ///< state_count x state_count
    const double *b;    ///< state_count x input_count
    const double *c;    ///< output_count x state_count
    const double *state;      ///< x: where it was linearised
    const double *derivative; ///< dx/dt there: zero rates and accelerations at an equilibrium
    const double *eigenvalue_real;      ///< 1/s, of A: the fastest growth first; conjugate pairs are neighbours
    const double *eigenvalue_imaginary; ///< rad/s
    const char *const *state_names; ///< "hinge/angle", "hinge/angle/rate", "servo/integral"
    const char *const *state_units;
    const char *const *input_names; ///< "hinge/angle/effort", and names of drives
    const char *const *input_units;
    const char *const *output_names;
    const char *const *output_units;
    double change;       ///< how much of A changes along the motion in the time in which an eigenmotion, or the state,
                         ///< turns by one radian: 0 at rest and in steady motion
    const char *caution; ///< a sentence where that is above 1 %: eigenvalues are those of an instant; or ""
} hn_linear_system;

/// Linearise at the current state, time and inputs, for the motion itself: whatever scheme and step. The state stays.
/// Exact but for dampers of springs in motion and laws of drives, which are differenced by themselves (1e-9).
/// @return HN_OK, HN_SINGULAR_SYSTEM (a singular position, or a motion without inertia), HN_INVALID_MODEL (a
/// prescribed motion that a loop or another one holds, by name), HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY, HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_simulation_linearise(hn_simulation *simulation, hn_linear_system **system);
/// NULL is fine.
HN_API void hn_linear_system_destroy(hn_linear_system *system);

/// Write matrices, eigenvalues, names and units to a file that Python, Matlab and Octave read: HDF5, or a MAT file
/// where the name ends with ".mat". What had the name before is replaced when the new file is complete.
/// @return HN_OK, HN_FILE_ACCESS, HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_linear_system_write(const hn_linear_system *system, const char *path);

#ifdef __cplusplus
}
#endif

#endif
