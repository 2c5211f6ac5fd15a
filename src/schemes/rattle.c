// SPDX-License-Identifier: MIT
// RATTLE for q in R^n, constant mass matrix M, holonomic constraints g(q) = 0 with G = dg/dq.
// Notes: docs/theory/rattle.md, docs/theory/forces.md, docs/theory/energy-momentum.md, docs/theory/composition.md
//
//   (R1)  p_h = p_n + h/2 f(q_n) - h/2 G(q_n)^T lambda
//   (R2)  q_n+1 = q_n + h M^-1 p_h
//   (R3)    0 = g(q_n+1)
//   (R4)  p_n+1 = p_h + h/2 f(q_n+1) - h/2 G(q_n+1)^T mu
//   (R5)    0 = G(q_n+1) M^-1 p_n+1
//
// (R1)-(R3) have the form (S1), (S2) with alpha = 1/h, b = p_n, beta = sigma = h/2, w = 0: any
// reduction solves them. (R4), (R5) are a projection of momenta on the motions the joints allow.
//
// f holds loads with their mean over the first half of the step in (R1), over the second in (R4) (F7).
//
// Keeps: symplectic form, momenta of symmetries, g = 0 and G M^-1 p = 0 to solver tolerance; time-symmetric.
// Does not keep: energy exactly; its error stays O(h^2) over long times when h is fixed. Dampers act in both halves
// with the mean rate of the step (KO4), so that f of (R1) and (R4) has a part that is found with the step.
#include "schemes/scheme.h"

#include <string.h>

// (R1) with f at q_n as a part of (S1)
static void rattle_equations(const hn_system *system, const hn_simulation_def *def,
                             const scheme_state *state, const double *angles, double h, double time,
                             double *momentum, step_equations *equations)
{
    (void)def, (void)angles;
    memcpy(momentum, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    *equations = (step_equations){
        .step_size = h,
        .mass_factor = 1.0 / h,
        .force_factor = 0.5 * h,
        .multiplier_factor = 0.5 * h,
        .time = time,
        .load_begin = time,
        .load_end = time + 0.5 * h,
        .momentum = momentum,
    };
}

// (R2): p_h = M Delta/h, and (R4) without its multiplier
static double rattle_finish(const hn_system *system, const hn_simulation_def *def,
                            const step_equations *equations, const step_data *step,
                            const scheme_state *state, double *next_impetus)
{
    (void)def, (void)state;
    scheme_second_impulse(system, equations, step, 1.0, next_impetus);
    return scheme_work_of_halves(system, equations, step);
}

// for orders above two (KO4)
static const scheme_type scheme_rattle_composed = {
    .name = "rattle",
    .takes_drives = true,
    .symmetric = true,
    .impetus_is_momentum = true,
    .tangent_momenta = true,
    .energy_habit = "oscillates without drift",
    .start = scheme_start_momenta,
    .equations = rattle_equations,
    .finish = rattle_finish,
    .momenta = scheme_kept_momenta,
};

const scheme_type scheme_rattle = {
    .name = "rattle",
    .no_holds =
        "knows its forces before the step, and efforts that hold would have to be found with it",
    .takes_drives = true,
    .filters_dampers = true,
    .symmetric = true,
    .impetus_is_momentum = true,
    .tangent_momenta = true,
    .energy_habit = "oscillates without drift",
    .composed = &scheme_rattle_composed,
    .start = scheme_start_momenta,
    .equations = rattle_equations,
    .finish = rattle_finish,
    .momenta = scheme_kept_momenta,
};
