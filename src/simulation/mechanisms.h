// SPDX-License-Identifier: MIT
// Energy mechanism by mechanism: what joints and springs connect is measured by its own energy, and what is not tied to
// the ground by its energy about its centre of mass (definitions: docs/theory/start-and-reports.md).
#ifndef SIMULATION_MECHANISMS_H
#define SIMULATION_MECHANISMS_H

#include "simulation/mechanism_momenta.h"

struct hn_simulation;

/// One mechanism, or all loaded ones where a scheme does not tell their work apart.
typedef struct energy_part {
    bool tied;   ///< to the ground, by a joint or an element, or held in a plane
    bool forced; ///< forces or torques act on it
    bool loaded; ///< all work of loads and dampers is its, where a scheme does not tell it apart
    bool whole;  ///< a scheme imposes its energy as a whole: the two parts of (H7) are no promise
    int first;   ///< its first body
    double mass; ///< kg
    energy_account inner;  ///< tied, or free and forced: in the ground's frame; otherwise about the centre of mass
    energy_account centre; ///< free and not forced: of the centre of mass
    double speed, inner_speed; ///< m/s, fastest centre of mass, and relative to that of the part
    double distance;           ///< m, largest coordinate
    double inner_scale;        ///< J, free and forced: largest energy about the centre of mass
    momentum_account momentum; ///< of one mechanism, also where work is not told apart
    // of the moment
    double linear[3], kinetic, potential, weight_potential, inner_kinetic;
} energy_part;

/// The worst part: its errors, and what they are measured by.
typedef struct energy_verdict {
    double error, drift;    ///< relative
    double scale;           ///< J
    double floor;           ///< relative: round-off of coordinates
    const energy_part *part;
    const energy_band *band; ///< of what the errors are of
    bool centre;            ///< of its centre of mass
} energy_verdict;

/// Number and kinds of parts; `parts` NULL: their number alone. One part that is tied needs none: 0.
int mechanisms_find(const struct hn_simulation *simulation, energy_part *parts, int *part_of);
/// Is its energy split into that of the centre of mass and that about it?
bool mechanisms_have_centre(const energy_part *part);
/// Take the first sample, or a further one.
void mechanisms_note(struct hn_simulation *simulation, bool first);
/// @return false: there are no parts
bool mechanisms_verdict(const struct hn_simulation *simulation, double bound, energy_verdict *verdict);

#endif
