// SPDX-License-Identifier: MIT
// Along which axes displacements and turns are counted that joints do not tell, so that a steady motion has a linear
// system that rests. Note: docs/theory/linearisation.md
#ifndef SIMULATION_MOTION_AXES_H
#define SIMULATION_MOTION_AXES_H

#include "simulation/motion_frame.h"

/// What coordinates are taken from first: coordinates whose axis a body carries and ways, then turns about world axes
/// and what takes their place, then bodies, then what is left aside.
enum { FRAME_STAGE_AXES, FRAME_STAGE_TURNS, FRAME_STAGE_BODIES, FRAME_STAGE_LAST, FRAME_STAGE_COUNT };

int axes_stage_of_joint(const hn_system *system, frame_axes axes, int index, int k);
/// Where axes are not the world's, the body of a joint with coordinates along or about world axes has its own in their
/// place.
void axes_prefer_body(motion_frame *frame, frame_axes axes, int index);

/// Per body (zero before): the body along whose axes its coordinates are counted, or GROUND.
void axes_find_carriers(const hn_system *system, frame_axes axes, int *carriers);
/// Axis k of the body as the model has it; of the ground: of the world.
hn_vec3 axis_of_body(const hn_system *system, const double *q, int body, int k);

#endif
