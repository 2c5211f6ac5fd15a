// SPDX-License-Identifier: MIT
// Sums over all bodies at a state: energies, momenta, and the sizes that their errors are measured by.
#ifndef SIMULATION_TOTALS_H
#define SIMULATION_TOTALS_H

#include <holonom/base.h>

struct hn_simulation;

typedef struct state_totals {
    double kinetic, potential;         ///< J
    hn_vec3 linear, angular;           ///< kg m/s, kg m^2/s about the world origin
    double linear_size, angular_size;  ///< sum |p|, sum (|phi||p| + |J omega|), phi from the point of the symmetries
    double distance;                   ///< m, largest coordinate of a centre of mass
    double arm;                        ///< m, its largest distance from that point
    double fastest;                    ///< rad/s, largest |omega|
    int fastest_body;
} state_totals;

/// At the current state, momenta up to date.
void totals_find(const struct hn_simulation *simulation, state_totals *totals);

#endif
