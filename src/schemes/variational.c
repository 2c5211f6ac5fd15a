// SPDX-License-Identifier: MIT
// Variational scheme with the midpoint discrete Lagrangian and constraints at the nodes (LMO 22).
// Notes: docs/theory/variational.md, docs/theory/forces.md, docs/theory/energy-momentum.md, docs/theory/composition.md
//
//   (V1)  L_d(q_n, q_n+1) = 1/(2h) (q_n+1 - q_n)^T M (q_n+1 - q_n) - h V(q_mid)
//   (V2)  D2 L_d(q_n-1, q_n) + F_d^+ + D1 L_d(q_n, q_n+1) + F_d^- - h G(q_n)^T lambda_n = 0,   g(q_n+1) = 0
//   (V3)  start: p_0 + D1 L_d(q_0, q_1) + F_d^- - h/2 G(q_0)^T lambda_0 = 0                    (LMO 34, 47)
//   (V4)  p_n = D2 L_d(q_n-1, q_n) + F_d^+ - h/2 G^T lambda_n = -D1 L_d(q_n, q_n+1) - F_d^- + h/2 G^T lambda_n
//         (LMO 34, 35)
//
// F_d^- and F_d^+ are h/2 times the forces at the directors of t_n and t_n+1, loads with their means over the first and
// the second half of the step (F7).
//
// In the form (S1), (S2): alpha = 1/h, b = D2 L_d + F_d^+ of the last step (p_0 at the start), beta = h/2, sigma = h
// (h/2 at the start), w = 0. The impetus kept is b.
//
// Keeps: symplectic form, momenta of symmetries, g = 0, to solver tolerance. Energy oscillates without drift.
// Needs: h |omega| < 1 for every body.
#include "schemes/scheme.h"

#include <string.h>

static void variational_equations(const hn_system *system, const hn_simulation_def *def,
                                  const scheme_state *state, const double *angles, double h,
                                  double time, double *momentum, step_equations *equations)
{
    (void)def, (void)angles;
    memcpy(momentum, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    *equations = (step_equations){
        .step_size = h,
        .mass_factor = 1.0 / h,
        .force_factor = 0.5 * h,
        .multiplier_factor = state->first ? 0.5 * h : h,
        .weight = 0.0,
        .discrete_gradient = false,
        .gradient_weight = 0.5,
        .time = time,
        .load_begin = time,
        .load_end = time + 0.5 * h,
        .momentum = momentum,
    };
}

// D2 L_d + F_d^+ = M Delta/h - h/2 grad V(q_mid) + h/2 F at the directors of t_n+1
static double variational_finish(const hn_system *system, const hn_simulation_def *def,
                                 const step_equations *equations, const step_data *step,
                                 const scheme_state *state, double *next_impetus)
{
    (void)def;
    (void)state;
    scheme_second_impulse(system, equations, step, equations->gradient_weight, next_impetus);
    return scheme_work_of_halves(system, equations, step);
}

// (V4) as the mean of its two sides: b + rho/2; at the start p_0 = b itself
static void variational_momenta(const hn_system *system, const scheme_state *state,
                                const step_equations *ahead_equations, const step_data *ahead,
                                double *p)
{
    memcpy(p, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    if (state->first || ahead == NULL) return;
    for (int i = 0; i < system->body_count; ++i) {
        double rho[POSE_SIZE];
        step_residual(system, ahead_equations, ahead, i, rho);
        for (int k = 0; k < POSE_SIZE; ++k) p[POSE_SIZE * (size_t)i + (size_t)k] += 0.5 * rho[k];
    }
}

// ---- composed (KO5) ------------------------------------------------------------------------------------

// (V3) in every step: p_n is tangent, so that a half of the multipliers is all there is
static void variational_composed_equations(const hn_system *system, const hn_simulation_def *def,
                                           const scheme_state *state, const double *angles,
                                           double h, double time, double *momentum,
                                           step_equations *equations)
{
    variational_equations(system, def, state, angles, h, time, momentum, equations);
    equations->multiplier_factor = 0.5 * h;
}

static const scheme_type scheme_variational_composed = {
    .name = "variational",
    .takes_drives = true,
    .symmetric = true,
    .impetus_is_momentum = true,
    .tangent_momenta = true,
    .energy_habit = "oscillates without drift",
    .start = scheme_start_momenta,
    .equations = variational_composed_equations,
    .finish = variational_finish,
    .momenta = scheme_kept_momenta,
};

const scheme_type scheme_variational = {
    .name = "variational",
    .takes_drives = true,
    .takes_motions = true,
    .filters_dampers = true,
    .symmetric = true,
    .impetus_is_momentum = true,
    .may_halve = false,
    .look_ahead = true,
    .energy_kept = false,
    .energy_habit = "oscillates without drift",
    .composed = &scheme_variational_composed,
    .start = scheme_start_momenta,
    .equations = variational_equations,
    .finish = variational_finish,
    .momenta = variational_momenta,
};
