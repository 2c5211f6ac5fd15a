// SPDX-License-Identifier: MIT
// Forces at a state (q, v, t) and their derivatives: elements at a pose, laws of drives at a coordinate and its rate.
// Note: docs/theory/linearisation.md
#ifndef SIMULATION_STATE_FORCES_H
#define SIMULATION_STATE_FORCES_H

#include "simulation/simulation.h"

/// to += weights and all elements but drives and efforts on joints, at q with velocities v (NULL: at rest).
void state_forces(const hn_simulation *simulation, const double *q, const double *v, double *to);

/// to += the change of these forces where q, v change by dq, dv. Exact at rest and where no damper acts.
void state_force_change(const hn_simulation *simulation, const double *v, const double *dq, const double *dv,
                        double *to);

/// The effort of a drive along its coordinate x with the rate `rate`, and its derivatives: by its law alone, without
/// rotor and without what a motion needs.
typedef struct law_slopes {
    double effort;
    double by_coordinate, by_rate;
    double by_integral; ///< of a servo that is not at its limit
    double by_command;  ///< by its function of time; 0: it has none
    double stored;      ///< the part of the effort that takes from or adds to the energy of a spring, or of a buffer
} law_slopes;
law_slopes drive_slopes(const hn_simulation *simulation, int drive, double x, double rate);
/// Of dry friction that slides along its coordinate (1) or against it (-1), with the reaction force `normal` of its
/// joint, which counts as constant; 0: it gives nothing by itself.
law_slopes friction_slopes(const drive_law *law, int way, double normal, double rate);

#endif
