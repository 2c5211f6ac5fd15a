// SPDX-License-Identifier: MIT
// The mass matrix as an operator: a block per body, and blocks between bodies that one element's inertia couples.
// Note: docs/theory/beams.md
//
//   M = sum_i diag(m, E1, E2, E3)_i x 1  +  sum_edges (m, E1, E2, E3)_ab x 1 between a and b                    (W7)
//
// each entry on the vectors phi, d1, d2, d3 of a pose. Rigid bodies and point masses have no edges; beam elements have
// (consistent mass). Where an entry is zero a vector carries no inertia: its momentum is zero and its velocity follows
// from the other vectors alone (LMO 114-116).
#ifndef SYSTEM_MASS_H
#define SYSTEM_MASS_H

#include "system/system.h"

/// m, E1, E2, E3 of a body alone.
static inline const double *mass_node(const hn_system *system, int body)
{
    return system->inertia + 4 * (size_t)body;
}

/// What gravity pulls at: the body's mass and its part of the edges, kg.
static inline double mass_weight(const hn_system *system, int body)
{
    return system->edge_inertia == NULL ? mass_node(system, body)[0]
                                        : mass_node(system, body)[0] + system->edge_inertia[4 * (size_t)body];
}

/// Principal moments about the centre of mass along the directors, edges included, kg m^2.
static inline hn_vec3 mass_moments(const hn_system *system, int body)
{
    const double *e = mass_node(system, body) + 1;
    hn_vec3 moments = vec3(e[1] + e[2], e[0] + e[2], e[0] + e[1]);
    if (system->edge_inertia == NULL) return moments;
    e = system->edge_inertia + 4 * (size_t)body + 1;
    return vec3_add(moments, vec3(e[1] + e[2], e[0] + e[2], e[0] + e[1]));
}

/// The edge number `index`, 0 <= index < system->mass_edge_count.
static inline const mass_edge *mass_edge_of(const hn_system *system, int index)
{
    return &system->mass_edges[index];
}

/// y = factor M x, twelve numbers per body. y may be x.
void mass_apply(const hn_system *system, double factor, const double *x, double *y);

/// y += factor times the edges' part of M x.
void mass_add_edges(const hn_system *system, double factor, const double *x, double *y);

/// y += factor M g: weights of all bodies times the acceleration of gravity.
void mass_add_weights(const hn_system *system, double factor, double *y);

/// Has a body edges?
static inline bool mass_is_coupled(const hn_system *system, int body)
{
    return system->edge_inertia != NULL && system->edge_inertia[4 * (size_t)body] > 0.0;
}

/// The edges' part of that.
void mass_add_edge_weights(const hn_system *system, double factor, double *y);

/// v with M v = p, twelve numbers per body; zero for vectors without inertia. v may be p.
void mass_solve(const hn_system *system, const double *p, double *v);
/// The same for bodies with edges alone; v of the others stays.
void mass_solve_coupled(const hn_system *system, const double *p, double *v);

/// diag(m, E1, E2, E3) v of p = M v: what each body carries by itself. Without edges that is p. `own` may be p.
void mass_own_momenta(const hn_system *system, const double *p, double *own);

/// Twist of a body with these momenta of its own at the pose q; no rotation about an axis without inertia.
void mass_twist(const hn_system *system, int body, const double *q, const double *own, double *twist);

/// 1/2 v^T M v, J.
double mass_kinetic_energy(const hn_system *system, const double *v);

/// The edges from what elements bring: sums for `edge_inertia` and factors for `mass_solve`. The bodies of an edge are
/// such that its first one occurs in no later edge, but for middle nodes: their two edges come in a row, then the one
/// between the ends. @return HN_OK or HN_OUT_OF_MEMORY
hn_status mass_prepare_edges(hn_system *system);

#endif
