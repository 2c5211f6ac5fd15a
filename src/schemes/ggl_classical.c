// SPDX-License-Identifier: MIT
// Classical stabilisation of Gear, Gupta and Leimkuhler (KBS 21) in backward differences of first order, to compare.
// Notes: docs/theory/ggl-classical.md, docs/theory/ggl-variational.md
//
//   (K1)  q_n+1 - q_n = h M^-1 p_n+1 + h M^-1 G(q_n+1)^T gamma
//   (K2)  p_n+1 - p_n = h (F - grad V)(q_n) - h G(q_n+1)^T lambda
//   (K3)  0 = g(q_n+1)
//   (K4)  0 = G(q_n+1) M^-1 p_n+1
//
// In ggl.h: (K2) is (G1) with x = W = h M^-1 p_n+1, (K1) is (G3), (K3) and (K4) are (G4) and (G5).
//
// Keeps: g = 0 and G M^-1 p = 0 at the nodes and linear momentum, to solver tolerance.
// Does not keep: the symplectic form, angular momentum, energy (rotations lose it at the rate h omega^2). First order.
// Needs: no flat bodies.
#include "schemes/ggl.h"

const scheme_type scheme_ggl_classical = {
    .name = "ggl-classical",
    .no_holds = "solves both levels of the joints by equations of its own, without efforts along "
                "coordinates",
    .not_composed = "is of first order and not symmetric",
    .no_beams = "divides by the inertia of every director, and the third director of a beam's node "
                "has none",
    .first_order = true,
    .impetus_is_momentum = true,
    .reaction_weight = 1.0,
    .energy_habit = "drifts",
    .angular_momentum_not_kept = true,
    .may_halve = true,
    .start = scheme_start_momenta,
    .momenta = scheme_kept_momenta,
    .solver_create = ggl_create_classical,
    .solver_destroy = ggl_destroy,
    .solver_step = ggl_step,
};
