// SPDX-License-Identifier: MIT
// What a bushing knows beside its bodies and places: its frames on them and its twelve numbers.
#ifndef ELEMENTS_BUSHING_H
#define ELEMENTS_BUSHING_H

#include "base/vector.h"

typedef struct bushing {
    hn_vec3 a[3], b[3];  ///< its axes, in the directors of the two bodies
    double stiffness[6]; ///< along a1, a2, a3 (N/m); about them (N m/rad)
    double damping[6];   ///< N s/m; N m s/rad
} bushing;

#endif
