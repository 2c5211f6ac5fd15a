// SPDX-License-Identifier: MIT
// Generalized-alpha on the director equations, index 3 (Chung and Hulbert 1993; Arnold and Bruels 2007).
// Notes: docs/theory/generalized-alpha.md, docs/theory/forces.md, docs/theory/energy-momentum.md
//
//   (A1)  M a_n+1 + grad V(q_n+1) - F_n+1 + G(q_n+1)^T lambda = 0,   g(q_n+1) = 0
//   (A2)  q_n+1 = q_n + h v_n + h^2 ((1/2 - beta) w_n + beta w_n+1) + h^2/2 d
//   (A3)  v_n+1 = v_n + h ((1 - gamma) w_n + gamma w_n+1) + h d
//   (A4)  (1 - alpha_m) w_n+1 + alpha_m w_n = (1 - alpha_f) a_n+1 + alpha_f a_n
//   (A5)  alpha_m = (2 r - 1)/(r + 1), alpha_f = r/(r + 1), gamma = 1/2 + alpha_f - alpha_m,
//         beta = (1 + alpha_f - alpha_m)^2/4, r the spectral radius at infinite frequency
//   (A6)  dampers are no part of F: they add M^-1 F_n+1/2 to d, the force (DF1) of the mean rate
//
//   (A7)  loads: F_n+1 with the mean factor f_n+1 from t_n+1/2 to t_n+3/2, and what (A4) makes of it is completed to
//   the
//         mean factor of the step: d = M^-1 F(q_n) (f_mean - (1 - gamma) s_n - gamma s_n+1), s from f as w from a
//   (A8)  inputs, held over the step, are no part of F either: f = s = 0, so that d has all of them,
//   M^-1 F(q_n + h/2 v_n)
//
// h times (A1), with (A2) and (A4) inserted, has the form (S1), (S2) with alpha = (1 - alpha_m)/((1 - alpha_f) beta h),
// beta = sigma = h, w = 1. The impetus is v; the memory holds w and a, and s and f of every load.
//
// The dissipative baseline engineers know: second order, damps high frequencies as r says.
// Keeps: g = 0. Does not keep: energy, momenta, symplectic form.
#include "schemes/scheme.h"

#include "system/mass.h"

#include <string.h>

typedef struct alpha_parameters {
    double alpha_m, alpha_f, beta, gamma;
} alpha_parameters;

static alpha_parameters parameters_of(const hn_simulation_def *def)
{
    double r = def->generalized_alpha.spectral_radius;
    alpha_parameters p = {.alpha_m = (2.0 * r - 1.0) / (r + 1.0), .alpha_f = r / (r + 1.0)};
    p.gamma = 0.5 + p.alpha_f - p.alpha_m;
    p.beta = 0.25 * (1.0 + p.alpha_f - p.alpha_m) * (1.0 + p.alpha_f - p.alpha_m);
    return p;
}

// The load factors s and f of element `index` at t_n
static double *load_memory(const hn_system *system, const scheme_state *state, int index)
{
    return state->memory + 2 * POSE_SIZE * (size_t)system->body_count + 2 * (size_t)index;
}

// s_n+1, f_n+1 (A7), (A8)
static void next_factors(const alpha_parameters *p, const element *e, double h, double time,
                         const double *now, double *next)
{
    if (e->input) {
        next[0] = next[1] = 0.0;
        return;
    }
    next[1] = profile_mean(e->profile, time + 0.5 * h, time + 1.5 * h);
    next[0] = ((1.0 - p->alpha_f) * next[1] + p->alpha_f * now[1] - p->alpha_m * now[0]) /
              (1.0 - p->alpha_m);
}

// Add `factor` M d of the loads (A7) at the poses q = q_n, and of inputs (A8)
static void add_load_completions(const hn_system *system, const alpha_parameters *p,
                                 const scheme_state *state, const double *q, double h, double time,
                                 double factor, double *out)
{
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->profile == NULL) continue;
        const double *now = load_memory(system, state, i);
        double next[2];
        next_factors(p, e, h, time, now, next);
        double missing = profile_mean(e->profile, time, time + h) - (1.0 - p->gamma) * now[0] -
                         p->gamma * next[0];
        size_t at = POSE_SIZE * (size_t)e->b;
        double pose[POSE_SIZE], ahead = e->input ? 0.5 * h : 0.0;
        for (int k = 0; k < POSE_SIZE; ++k)
            pose[k] = q[at + (size_t)k] + ahead * state->impetus[at + (size_t)k];
        element_force_at(e, pose, factor * missing, out + at);
    }
}

static void generalized_alpha_start(const hn_system *system, const double *v,
                                    const double *acceleration, scheme_state *state)
{
    int n = POSE_SIZE * system->body_count;
    for (int k = 0; k < n; ++k) {
        state->impetus[k] = v[k];
        state->memory[k] = state->memory[n + k] = acceleration[k];
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        double *own = load_memory(system, state, i);
        own[0] = own[1] = e->profile == NULL || e->input ? 0.0 : profile_mean(e->profile, 0.0, 0.0);
    }
    state->first = true;
}

static void generalized_alpha_equations(const hn_system *system, const hn_simulation_def *def,
                                        const scheme_state *state, const double *angles, double h,
                                        double time, double *momentum, step_equations *equations)
{
    (void)angles;
    alpha_parameters p = parameters_of(def);
    int n = POSE_SIZE * system->body_count;
    const double *v = state->impetus, *w = state->memory, *a = state->memory + n;
    // b = -h M a_n+1 at Delta = 0, from (A4) and (A2): a_n+1 = on_v v + on_w w + on_a a
    double on_v = -(1.0 - p.alpha_m) / ((1.0 - p.alpha_f) * h * p.beta);
    double on_w = on_v * h * (0.5 - p.beta) + p.alpha_m / (1.0 - p.alpha_f);
    double on_a = -p.alpha_f / (1.0 - p.alpha_f);
    for (int k = 0; k < n; ++k)
        momentum[k] = -h * system->inertia[k / 3] * (on_v * v[k] + on_w * w[k] + on_a * a[k]);
    mass_add_edges(system, -h * on_v, v, momentum);
    mass_add_edges(system, -h * on_w, w, momentum);
    mass_add_edges(system, -h * on_a, a, momentum);
    double apart = (1.0 - p.alpha_m) / (1.0 - p.alpha_f) / (2.0 * p.beta); // of d in a_n+1
    add_load_completions(system, &p, state, state->q, h, time, h * apart, momentum);
    *equations = (step_equations){
        .step_size = h,
        .mass_factor = (1.0 - p.alpha_m) / ((1.0 - p.alpha_f) * p.beta * h),
        .force_factor = h,
        .multiplier_factor = h,
        .weight = 1.0,
        .discrete_gradient = false,
        .gradient_weight = 1.0,
        .damper_excess = apart - 1.0,
        .damper_middle = true,
        .inputs_apart = true,
        .time = time,
        .load_begin = time + 0.5 * h,
        .load_end = time + 1.5 * h,
        .reaction_time = time + h,
        .momentum = momentum,
    };
}

// M^-1 of forces. Where a director of a body carries no inertia, the body as a whole answers: what pulls at that
// director turns it, which M by itself would lose.
static void solve_forces(const hn_system *system, const double *q, double *d)
{
    for (int i = 0; i < system->body_count; ++i) {
        const double *m = mass_node(system, i);
        double *own = d + POSE_SIZE * (size_t)i, twist[TWIST_SIZE];
        if (mass_is_coupled(system, i)) continue;
        if (system->bodies[i].has_directors && (m[1] == 0.0 || m[2] == 0.0 || m[3] == 0.0)) {
            mass_twist(system, i, system_pose(q, i), own, twist);
            twist_to_velocity(system_pose(q, i), twist, own);
        } else {
            for (int k = 0; k < POSE_SIZE; ++k) own[k] = m[k / 3] > 0.0 ? own[k] / m[k / 3] : 0.0;
        }
    }
    mass_solve_coupled(system, d, d);
}

static double generalized_alpha_finish(const hn_system *system, const hn_simulation_def *def,
                                       const step_equations *equations, const step_data *step,
                                       const scheme_state *state, double *next_impetus)
{
    alpha_parameters p = parameters_of(def);
    double h = equations->step_size;
    int n = POSE_SIZE * system->body_count;
    double *w = state->memory, *a = state->memory + n, *d = next_impetus;
    // d: what loads and dampers do outside of (A4)
    memset(d, 0, (size_t)n * sizeof(double));
    add_load_completions(system, &p, state, step->q_start, h, equations->time, 1.0, d);
    scheme_add_step_dampers(system, equations, step, d);
    solve_forces(system, step->q, d);
    for (int k = 0; k < n; ++k) {
        double v = state->impetus[k];
        double next_w = (step->delta[k] - h * v - h * h * ((0.5 - p.beta) * w[k] + 0.5 * d[k])) /
                        (h * h * p.beta); // (A2)
        double next_a = ((1.0 - p.alpha_m) * next_w + p.alpha_m * w[k] - p.alpha_f * a[k]) /
                        (1.0 - p.alpha_f);                                            // (A4)
        next_impetus[k] = v + h * ((1.0 - p.gamma) * w[k] + p.gamma * next_w + d[k]); // (A3)
        w[k] = next_w;
        a[k] = next_a;
    }
    for (int i = 0; i < system->element_count; ++i) {
        if (system->elements[i].profile == NULL) continue;
        double next[2], *now = load_memory(system, state, i);
        next_factors(&p, &system->elements[i], h, equations->time, now, next);
        memcpy(now, next, sizeof next);
    }
    step_equations whole = *equations;
    whole.load_begin = equations->time;
    whole.load_end = equations->time + h;
    return 0.5 * (scheme_load_work(system, &whole, step, 0.0) +
                  scheme_load_work(system, &whole, step, 1.0));
}

static void generalized_alpha_momenta(const hn_system *system, const scheme_state *state,
                                      const step_equations *ahead_equations, const step_data *ahead,
                                      double *p)
{
    (void)ahead_equations, (void)ahead;
    mass_apply(system, 1.0, state->impetus, p);
}

const scheme_type scheme_generalized_alpha = {
    .name = "generalized-alpha",
    .no_holds =
        "has forces at the end of the step alone, where efforts by rates are of first order",
    .not_composed = "damps in every step and would grow in substeps that go back in time",
    .filters_dampers = true,
    .memory_count = 2,
    .element_memory_count = 2,
    .dampers_apart = true,
    .inputs_apart = true,
    .energy_habit = "high frequencies are damped, the rest may rise or fall",
    .linear_momentum_not_kept = true,
    .angular_momentum_not_kept = true,
    .start = generalized_alpha_start,
    .equations = generalized_alpha_equations,
    .finish = generalized_alpha_finish,
    .momenta = generalized_alpha_momenta,
};
