// SPDX-License-Identifier: MIT
// Energy-momentum scheme on the tangent bundle: the discrete gradient of the Hamiltonian with both constraint levels,
// H + gamma^T G(q) v (after Gear, Gupta and Leimkuhler), for constant M and quadratic constraints.
// Notes: docs/theory/ggl-energy-momentum.md, docs/theory/energy-momentum.md, docs/theory/composition.md
//
//   (B1)  q_n+1 - q_n = h v_mid + h M^-1 G(q_mid)^T gamma,   v_mid = (v_n + v_n+1)/2
//   (B2)  M (v_n+1 - v_n) = -h grad_d V(q_n, q_n+1) + h F - h G(q_mid)^T lambda - h [d(G(q) v_mid)/dq]^T gamma
//   (B3)  0 = g(q_n+1),   0 = G(q_n+1) v_n+1
//
// With (B1) in (B2) the step has the form (S1), (S2) with alpha = 2/h, b = 2 M v_n - h c, beta = sigma = h, w = 1/2:
// any reduction solves it for given c. Velocities and c of that solution are (B4), (B5) of reductions/velocity_level.h;
// c is small, of second order in h, and found in turn with the step. The multipliers of (S1) are lambda - 2 gamma/h.
//
// Keeps: energy plus work of loads, momenta of symmetries, g = 0 and G v = 0 at the nodes, all to solver tolerance, for
// any sequence of steps; time-symmetric. Does not keep: the symplectic form.
#include "schemes/scheme.h"

#include "system/mass.h"

#include <string.h>

static void ggl_energy_momentum_start(const hn_system *system, const double *v,
                                      const double *acceleration, scheme_state *state)
{
    (void)acceleration;
    memcpy(state->impetus, v, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    state->first = true;
}

// those of `energy-momentum`; c is taken from b with the step
static void ggl_energy_momentum_equations(const hn_system *system, const hn_simulation_def *def,
                                          const scheme_state *state, const double *angles, double h,
                                          double time, double *momentum, step_equations *equations)
{
    scheme_energy_momentum.equations(system, def, state, angles, h, time, momentum, equations);
}

static double ggl_energy_momentum_finish(const hn_system *system, const hn_simulation_def *def,
                                         const step_equations *equations, const step_data *step,
                                         const scheme_state *state, double *next_impetus)
{
    (void)def, (void)state;
    memcpy(next_impetus, step->velocity, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    return scheme_load_work(system, equations, step, equations->weight);
}

static void ggl_energy_momentum_momenta(const hn_system *system, const scheme_state *state,
                                        const step_equations *ahead_equations,
                                        const step_data *ahead, double *p)
{
    (void)ahead_equations, (void)ahead;
    mass_apply(system, 1.0, state->impetus, p);
}

// composed (KO2): the same with dampers whose coefficients do not depend on the size of a substep
static void ggl_composed_equations(const hn_system *system, const hn_simulation_def *def,
                                   const scheme_state *state, const double *angles, double h,
                                   double time, double *momentum, step_equations *equations)
{
    scheme_energy_momentum.equations(system, def, state, angles, h, time, momentum, equations);
}

static const scheme_type scheme_ggl_composed = {
    .name = "ggl-energy-momentum",
    .takes_drives = true,
    .symmetric = true,
    .may_halve = true,
    .both_levels = true,
    .energy_kept = true,
    .start = ggl_energy_momentum_start,
    .equations = ggl_composed_equations,
    .finish = ggl_energy_momentum_finish,
    .momenta = ggl_energy_momentum_momenta,
};

const scheme_type scheme_ggl_energy_momentum = {
    .name = "ggl-energy-momentum",
    .takes_drives = true,
    .takes_motions = true,
    .filters_dampers = true,
    .symmetric = true,
    .may_halve = true,
    .both_levels = true,
    .energy_kept = true,
    .composed = &scheme_ggl_composed,
    .start = ggl_energy_momentum_start,
    .equations = ggl_energy_momentum_equations,
    .finish = ggl_energy_momentum_finish,
    .momenta = ggl_energy_momentum_momenta,
};
