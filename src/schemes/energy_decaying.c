// SPDX-License-Identifier: MIT
// Energy-decaying scheme: energy-momentum with stresses and momenta that lag, for motions the step does not resolve.
// Notes: docs/theory/energy-decaying.md, docs/theory/energy-momentum.md
//
//   (Z1)  S = C ( (E_n + E_n+1)/2 - E_0 + alpha/2 (dE_n - dE_n-1) ),   dE_n = E_n+1 - E_n
//   (Z2)  M (q_n+1 - q_n)/h = M (v_n + v_n+1)/2 + B(q_mid)^T sigma
//   (Z3)  M (v_n+1 - v_n) = -h B(q_mid)^T S - h [d(B(q) v_mid)/dq]^T sigma + h F - h G(q_mid)^T lambda,   0 = g(q_n+1)
//   (Z4)  sigma = alpha/2 kappa (dr_n - dr_n-1),   r = B(q) v,   kappa = (B M_e^-1 B^T)^-1 at the start
//   (Z5)  alpha = rho (1 - rho)/(1 + rho)^2,   1/3 <= rho <= 1
//   (Z6)  E* = T + V + alpha/4 ( |dE|_C^2 + |dr|_kappa^2 ),
//         E*_n+1 = E*_n + work - alpha/4 ( |ddE|_C^2 + |ddr|_kappa^2 )
//   (Z9)  alpha_n = min(alpha, alpha_n-1/beta^2 + alpha/128),  dE_n-1 min(beta, sqrt(alpha_n-1/alpha_n)) in (Z1), (Z4),
//         beta = h_n/h_n-1
//
// In the form (S1), (S2) as `energy-momentum`, with -2 D and the middle of (Z3) among the forces (decay.h). What is
// remembered of the step before is scaled with h, and alpha falls where h grows (Z9); the first step has alpha = 0.
//
// Keeps: momenta of symmetries, g = 0, and the balance (Z6), all to solver tolerance. Loses energy where steps do not
// resolve vibrations, O(h^4) a step where they do. Not symmetric in time.
#include "schemes/scheme.h"

#include "system/decay.h"
#include "system/mass.h"

#include <math.h>
#include <string.h>

// beside the changes: h and alpha of the step before
enum { STEP_SIZE_PLACE = DECAY_MEMORY, STRENGTH_PLACE, MEMORY };
static const double REGAINED = 1.0 / 128.0; // of alpha, in a controlled step (Z9)

static void energy_decaying_start(const hn_system *system, const double *v,
                                  const double *acceleration, scheme_state *state)
{
    (void)acceleration;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) state->impetus[k] = v[k];
    memset(state->memory, 0, MEMORY * (size_t)system->element_count * sizeof(double));
    state->first = true;
}

// alpha for a spectral radius at infinite frequency (Z5)
static double strength(double rho)
{
    return rho * (1.0 - rho) / ((1.0 + rho) * (1.0 + rho));
}

// (Z9) alpha of the next step. Steps in halves, without control, are few: all of it is there again at once.
static double next_strength(const hn_system *system, const hn_simulation_def *def,
                            const scheme_state *state, double h)
{
    double whole = strength(def->energy_decaying.rho);
    if (def->step_tolerance == 0.0 || system->element_count == 0) return whole;
    double growth = h / state->memory[STEP_SIZE_PLACE];
    return fmin(whole, state->memory[STRENGTH_PLACE] / (growth * growth) + REGAINED * whole);
}

static void energy_decaying_equations(const hn_system *system, const hn_simulation_def *def,
                                      const scheme_state *state, const double *angles, double h,
                                      double time, double *momentum, step_equations *equations)
{
    scheme_energy_momentum.equations(system, def, state, angles, h, time, momentum, equations);
    equations->decay = state->first ? 0.0 : next_strength(system, def, state, h);
}

// v_n and what is remembered, which the step keeps for itself
static void energy_decaying_begin(const hn_system *system, const scheme_state *state,
                                  const step_equations *equations, step_data *step)
{
    size_t n = POSE_SIZE * (size_t)system->body_count;
    memcpy(step->velocity_start, state->impetus, n * sizeof(double));
    memset(step->impulse, 0, n * sizeof(double));
    for (int i = 0; i < system->element_count; ++i) {
        const double *memory = state->memory + MEMORY * (size_t)i;
        // (Z9); alpha = 0 has no memory
        double scale = equations->decay > 0.0
                           ? fmin(equations->step_size / memory[STEP_SIZE_PLACE],
                                  sqrt(memory[STRENGTH_PLACE] / equations->decay))
                           : 1.0;
        for (int k = 0; k < DECAY_MEMORY; ++k)
            step->history[DECAY_MEMORY * (size_t)i + (size_t)k] = scale * memory[k];
    }
}

static double energy_decaying_finish(const hn_system *system, const hn_simulation_def *def,
                                     const step_equations *equations, const step_data *step,
                                     const scheme_state *state, double *next_impetus)
{
    if (equations->decay > 0.0 && system->element_count > 0)
        memcpy(next_impetus, step->velocity,
               POSE_SIZE * (size_t)system->body_count * sizeof(double));
    else
        for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
            next_impetus[k] = 2.0 / equations->step_size * step->delta[k] - state->impetus[k];
    double before = system->element_count > 0 ? state->memory[STRENGTH_PLACE] : 0.0;
    decay_finish(system, equations, step, before, next_impetus, MEMORY, state->memory);
    for (int i = 0; i < system->element_count; ++i) {
        double *memory = state->memory + MEMORY * (size_t)i;
        memory[STEP_SIZE_PLACE] = equations->step_size;
        memory[STRENGTH_PLACE] =
            state->first ? strength(def->energy_decaying.rho) : equations->decay;
    }
    return scheme_load_work(system, equations, step, equations->weight);
}

static void energy_decaying_momenta(const hn_system *system, const scheme_state *state,
                                    const step_equations *ahead_equations, const step_data *ahead,
                                    double *p)
{
    (void)ahead_equations, (void)ahead;
    mass_apply(system, 1.0, state->impetus, p);
}

const scheme_type scheme_energy_decaying = {
    .name = "energy-decaying",
    .takes_drives = true,
    .takes_motions = true,
    .not_composed =
        "loses energy by its identity in every step and would gain it in substeps that go back in "
        "time",
    .filters_dampers = true,
    .may_halve = true,
    .energy_kept = true,
    .decays = true,
    .element_memory_count = MEMORY,
    .start = energy_decaying_start,
    .equations = energy_decaying_equations,
    .begin = energy_decaying_begin,
    .finish = energy_decaying_finish,
    .momenta = energy_decaying_momenta,
};
