// SPDX-License-Identifier: MIT
// Energy-momentum scheme for q in R^n, constant mass matrix M, quadratic constraints g(q) = 0 (BL 10).
// Notes: docs/theory/energy-momentum.md, docs/theory/forces.md
//
//   (E1)  q_n+1 - q_n = h (v_n + v_n+1)/2
//   (E2)  M (v_n+1 - v_n) = -h grad_d V(q_n, q_n+1) + h F - h G(q_mid)^T lambda
//   (E3)  0 = g(q_n+1)
//
// F holds loads with their mean over the step (F7).
// With (E1) eliminated, v_n+1 = 2 (q_n+1 - q_n)/h - v_n, (E2) has the form (S1), (S2) with alpha = 2/h, b = 2 M v_n,
// beta = sigma = h, w = 1/2.
//
// Keeps: energy plus work of loads, momenta of symmetries, g = 0, all to solver tolerance, for any sequence of steps.
// Does not keep: the symplectic form; G v = 0 at the nodes (G(q_mid) v_mid = 0 holds).
#include "schemes/scheme.h"

#include "base/processor.h"
#include "system/mass.h"

static void energy_momentum_start(const hn_system *system, const double *v,
                                  const double *acceleration, scheme_state *state)
{
    (void)acceleration;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) state->impetus[k] = v[k];
    state->first = true;
}

static void divide_plain(const double *x, double by, size_t count, double *restrict quotient)
{
    for (size_t k = 0; k < count; ++k) quotient[k] = x[k] / by;
}

// The same but for one number in many: 1/by as a sum of two numbers, rounded once at the end, so that there is no bias.
FUSED_FORM static void divide_fused(const double *x, double by, size_t count,
                                    double *restrict quotient)
{
    double inverse = 1.0 / by, rest = __builtin_fma(-inverse, by, 1.0) / by;
    for (size_t k = 0; k < count; ++k) quotient[k] = __builtin_fma(x[k], inverse, x[k] * rest);
}

static void energy_momentum_equations(const hn_system *system, const hn_simulation_def *def,
                                      const scheme_state *state, const double *angles, double h,
                                      double time, double *momentum, step_equations *equations)
{
    (void)def, (void)angles;
    // b = 2 M v as alpha M (2 v/alpha), with the rounded product alpha M that multiplies Delta: a difference between
    // the two, however small, is the same in every step, and energy would grow with their number
    double alpha = 2.0 / h, half = 0.5 * alpha;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    if (processor_fuses()) divide_fused(state->impetus, half, count, momentum);
    else divide_plain(state->impetus, half, count, momentum);
    mass_apply(system, alpha, momentum, momentum);
    *equations = (step_equations){
        .step_size = h,
        .mass_factor = alpha,
        .force_factor = h,
        .multiplier_factor = h,
        .weight = 0.5,
        .discrete_gradient = true,
        .time = time,
        .load_begin = time,
        .load_end = time + h,
        .reaction_time = time + 0.5 * h,
        .momentum = momentum,
    };
}

static double energy_momentum_finish(const hn_system *system, const hn_simulation_def *def,
                                     const step_equations *equations, const step_data *step,
                                     const scheme_state *state, double *next_impetus)
{
    (void)def;
    double factor = 2.0 / equations->step_size;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        next_impetus[k] = factor * step->delta[k] - state->impetus[k]; // (E1)
    return scheme_load_work(system, equations, step, equations->weight);
}

static void energy_momentum_momenta(const hn_system *system, const scheme_state *state,
                                    const step_equations *ahead_equations, const step_data *ahead,
                                    double *p)
{
    (void)ahead_equations, (void)ahead;
    mass_apply(system, 1.0, state->impetus, p);
}

const scheme_type scheme_energy_momentum = {
    .name = "energy-momentum",
    .not_composed = "turns velocities across the joints round in every step, so that orders above "
                    "four cannot be had; "
                    "ggl-energy-momentum keeps the same on both constraint levels and has them",
    .takes_drives = true,
    .takes_motions = true,
    .filters_dampers = true,
    .symmetric = true,
    .may_halve = true,
    .look_ahead = false,
    .energy_kept = true,
    .start = energy_momentum_start,
    .equations = energy_momentum_equations,
    .finish = energy_momentum_finish,
    .momenta = energy_momentum_momenta,
};
