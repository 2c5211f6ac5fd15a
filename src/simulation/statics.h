// SPDX-License-Identifier: MIT
// Statics seen from inside: loads by their part, the tangent at a configuration, and what is soft in it.
// Note: docs/theory/statics.md
#ifndef SIMULATION_STATICS_H
#define SIMULATION_STATICS_H

#include <holonom/statics.h>

#include "reductions/closed.h"
#include "simulation/simulation.h"
#include "simulation/static_border.h"

/// The loads of a simulation, set aside while parts of them act.
typedef struct static_loads {
    hn_vec3 gravity;
    hn_vec3 *vectors;            ///< per element: at the time asked for
    hn_vec3 *written;            ///< as they were
    const hn_profile **profiles; ///< likewise
} static_loads;

/// Forces in joints of a configuration that would not stay are found with a resistance of so many times the largest
/// stiffness: nothing moves.
#define STATICS_STIFF 1e9

typedef struct statics {
    hn_simulation *simulation;
    hn_static_def def;
    closed *solver;
    static_border border; ///< what holds beside joints
    static_loads loads;
    double *multipliers; ///< of joints, at the last equilibrium
    double row_factor; ///< 1/s^2
    double extent;     ///< m, of the model
    double turning_length; ///< m, what rotations are measured by where stiffnesses are compared
    double band; ///< of the largest stiffness: nearer to zero eigenvalues are told from it by (Q8)
    int freedom;       ///< degrees of freedom that joints and all else that holds leave, where it was assembled last
    double *start;     ///< where the search began: q, 12 per body, angles of springs and of joints
    bool held;         ///< the start is stable without loads
    bool loose;        ///< there are eigenvalues very near zero, of whatever sign
    double rate;       ///< how far the last load step went, by its load; 0: not known
    bool stable;       ///< and so was the path up to here
    hn_equilibrium found;
} statics;

/// Set up at the current state, with no loads. @return HN_OK or HN_OUT_OF_MEMORY; statics_end in any case
hn_status statics_begin(hn_simulation *simulation, const hn_static_def *def, statics *x);
/// Give the loads back.
void statics_end(statics *x);

/// Let this part of the loads act.
void statics_set_loads(statics *x, double factor);

/// Stability, residual and kind of loads at the current state, into `found` (Q2). @return HN_OK or as statics_assemble
hn_status statics_find_stability(statics *x);

/// Constraint forces of the current configuration, also where it would not stay: those that would accelerate it. With
/// the efforts of what holds beside joints, in simulation->angles.
hn_status statics_find_multipliers(statics *x);

/// Assemble K + shift M at the current state with the multipliers of the last solution. @return as saddle_choose_rows
hn_status statics_assemble(statics *x, double shift);
/// The same made symmetric, with a part of the largest stiffness in every motion: how many eigenvalues are below zero
/// on the motions that joints, couplings and all else that holds allow. -1: it is singular
hn_status statics_count_below(statics *x, double shift, double part, int *count);
/// The same of a step that was solved, with the multipliers at hand.
hn_status statics_count_at(statics *x, const step_equations *equations, const solved_step *step, double part,
                           int *count);

/// Start at the equilibrium of the loads at time zero; start velocities are refused.
hn_status statics_start(hn_simulation *simulation);

/// The largest angle between neighbouring nodes of beams at the current state, rad; its place: -1 without beams.
double statics_largest_bend(const hn_simulation *simulation, int *beam, int *place);
/// The element that is longest for its tension at the current state.
hn_beam_tension statics_largest_tension(const hn_simulation *simulation);

#endif
