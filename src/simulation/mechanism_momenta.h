// SPDX-License-Identifier: MIT
// Momenta mechanism by mechanism: mechanisms that nothing connects keep each its own, measured by its own bodies, and
// one that is free its angular momentum about its centre of mass (definitions: docs/theory/start-and-reports.md).
#ifndef SIMULATION_MECHANISM_MOMENTA_H
#define SIMULATION_MECHANISM_MOMENTA_H

#include "simulation/ledger_record.h"

#include <holonom/base.h>

struct hn_simulation;

typedef enum momentum_kind {
    MOMENTUM_LINEAR,
    MOMENTUM_ANGULAR, ///< about the axes of symmetries, through a point on the ground or the origin
    MOMENTUM_INNER,   ///< about the centre of mass, of a free mechanism
    MOMENTUM_KINDS
} momentum_kind;

/// Momenta of one mechanism.
typedef struct momentum_account {
    bool free;   ///< neither tied to the ground nor forced
    double mass; ///< kg
    double start[MOMENTUM_MAPS_MAX], inner_start[3]; ///< of its symmetries; of their axes
    double error[MOMENTUM_KINDS], drift[MOMENTUM_KINDS]; ///< kg m/s, kg m^2/s: worst and latest
    double scale[MOMENTUM_KINDS]; ///< largest sums of |p|, |x - point||p| + |J omega|, and about the centre of mass
    double distance, arm, radius; ///< m, of a body: from the origin, the point, the centre of mass; largest
    double speed, inner_speed;    ///< m/s, of a body, and about the centre of mass
    // of the moment
    hn_vec3 linear, angular, first_moment, inner;
    double size[MOMENTUM_KINDS];
} momentum_account;

/// The worst mechanism: its errors, and what they are measured by.
typedef struct momentum_verdict {
    double error, drift; ///< relative
    double scale;        ///< kg m/s or kg m^2/s
    double floor;        ///< relative: round-off of coordinates
    int first;           ///< its first body; -1: nothing moves
    bool inner;          ///< about its centre of mass
} momentum_verdict;

/// Take the first sample, or a further one; momenta of the simulation are up to date.
void mechanism_momenta_note(struct hn_simulation *simulation, bool first);
/// Of linear momentum, or of angular momentum.
void mechanism_momenta_verdict(const struct hn_simulation *simulation, bool angular, double bound,
                               momentum_verdict *verdict);

#endif
