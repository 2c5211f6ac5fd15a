// SPDX-License-Identifier: MIT
// GGL variational integrator of Kinon, Betsch and Schneider 2021 (41): symplectic Euler with both constraint levels.
// Note: docs/theory/ggl-variational.md
//
//   (L1)  q_n+1 - q_n = h v_n + h M^-1 G(q_bar)^T gamma,                 q_bar = q_n + h v_n
//   (L2)  p_n+1 - p_n = h (F - grad V)(q_n) - h G(q_n)^T lambda_n - h sum gamma_k D^2 g_k M^-1 p_n+1
//   (L3)  M v_n = (1 + h sum gamma_k D^2 g_k M^-1) p_n+1
//   (L4)  0 = g(q_n+1)
//   (L5)  0 = G(q_bar) M^-1 p_n+1        with redundant rows: (G8), (G9) of ggl_stress.h
//
// The last term of (L2) carries p_n+1, as in (40b) and (42b) of the paper; (41b) as printed has p_n there. (L3) turns
// (L2) into M v_n = p_n + h (F - grad V) - h G(q_n)^T lambda_n, which is (G1) of ggl.h; (L3), (L1), (L4), (L5) are
// (G2) to (G5).
//
// Keeps: symplectic form, momenta of symmetries, g = 0 (all rows) and (L5) to solver tolerance. Energy oscillates
// without drift.
// Does not keep: energy exactly; G(q_n) M^-1 p_n = 0 at the nodes (it is O(h^2)); time reversal. First order.
// Needs: h |omega| < 1/2 for every body, less where bodies are jointed or slender; no flat bodies.
#include "schemes/ggl.h"

const scheme_type scheme_ggl_variational = {
    .name = "ggl-variational",
    .no_holds = "solves both levels of the joints by equations of its own, without efforts along "
                "coordinates",
    .not_composed = "is of first order and not symmetric",
    .no_beams = "divides by the inertia of every director, and the third director of a beam's node "
                "has none",
    .first_order = true,
    .impetus_is_momentum = true,
    .energy_habit = "oscillates without drift",
    .start = scheme_start_momenta,
    .momenta = scheme_kept_momenta,
    .solver_create = ggl_create_variational,
    .solver_destroy = ggl_destroy,
    .solver_step = ggl_step,
};
