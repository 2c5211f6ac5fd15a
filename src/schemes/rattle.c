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
// (R1)-(R3) have the form (S1), (S2) with alpha = 1/h, b = p_n + h/2 f(q_n), beta = 0, sigma = h/2, w = 0: any
// reduction solves them. (R4), (R5) are a projection of momenta on the motions the joints allow.
//
// f holds loads with their mean over the first half of the step in (R1), over the second in (R4) (F7).
//
// Keeps: symplectic form, momenta of symmetries, g = 0 and G M^-1 p = 0 to solver tolerance; time-symmetric.
// Does not keep: energy exactly; its error stays O(h^2) over long times when h is fixed. Dampers are taken at the
// nodes, with v_n = M^-1 p_n in (R1) and 2 (q_n+1 - q_n)/h - v_n, which is v_n+1 + O(h^2), in (R4), with coefficients
// by
// (F11).
#include "schemes/scheme.h"

#include "system/mass.h"

static void rattle_start(const hn_system *system, const double *v, const double *acceleration,
                         scheme_state *state)
{
    (void)acceleration;
    mass_apply(system, 1.0, v, state->impetus);
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) state->memory[k] = v[k];
    state->first = true;
}

// (S1) and (S2) of a step whose multipliers act in its first half
static step_equations half_equations(double h, double time, double *momentum)
{
    return (step_equations){
        .step_size = h,
        .mass_factor = 1.0 / h,
        .multiplier_factor = 0.5 * h,
        .time = time,
        .load_begin = time,
        .load_end = time + 0.5 * h,
        .momentum = momentum,
    };
}

static void rattle_equations(const hn_system *system, const hn_simulation_def *def,
                             const scheme_state *state, const double *angles, double h, double time,
                             double *momentum, step_equations *equations)
{
    (void)def;
    // (R1) without its multiplier
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) momentum[k] = state->impetus[k];
    scheme_add_forces(system, state->q, state->memory, angles, time, time + 0.5 * h, h,
                      DAMPER_EXPLICIT, 0.5 * h, momentum);
    *equations = half_equations(h, time, momentum);
    equations->gradient_weight = 0.5;
    equations->damper_form = DAMPER_EXPLICIT;
}

// (R2): p_h = M Delta/h, and (R4) without its multiplier
static double rattle_finish(const hn_system *system, const hn_simulation_def *def,
                            const step_equations *equations, const step_data *step,
                            const scheme_state *state, double *next_impetus)
{
    (void)def;
    double h = equations->step_size;
    mass_apply(system, 1.0 / h, step->delta, next_impetus);
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        state->memory[k] = 2.0 / h * step->delta[k] - state->memory[k];
    step_equations second = scheme_second_half(equations);
    scheme_add_forces(system, step->q, state->memory, step->angle_start, second.load_begin,
                      second.load_end, h, DAMPER_EXPLICIT, 0.5 * h, next_impetus);
    return scheme_work_of_halves(system, equations, step);
}

// v = M^-1 p of momenta that are tangent, p = M v with v of a rigid motion. About an axis without inertia p says
// nothing, and what `finish` left there stays.
static void rattle_settle(const hn_system *system, const scheme_state *state)
{
    mass_solve_coupled(system, state->impetus, state->memory);
    for (int i = 0; i < system->body_count; ++i) {
        const double *q = state->q + POSE_SIZE * (size_t)i,
                     *p = state->impetus + POSE_SIZE * (size_t)i, *m = mass_node(system, i);
        double *v = state->memory + POSE_SIZE * (size_t)i, own[POSE_SIZE];
        if (mass_is_coupled(system, i)) {
            for (int k = 0; k < POSE_SIZE; ++k) own[k] = m[k / 3] * v[k];
            p = own;
        }
        if (!system->bodies[i].has_directors) {
            for (int k = 0; k < 3; ++k) v[k] = p[k] / m[0];
            continue;
        }
        double wrench[TWIST_SIZE], twist[TWIST_SIZE];
        force_to_wrench(q, p, wrench);
        velocity_to_twist(q, v, twist);
        hn_vec3 momentum = pose_components(q, vec3_load(wrench + 3)),
                spin = pose_components(q, vec3_load(twist + 3));
        if (m[2] + m[3] > 0.0) spin.x = momentum.x / (m[2] + m[3]);
        if (m[1] + m[3] > 0.0) spin.y = momentum.y / (m[1] + m[3]);
        if (m[1] + m[2] > 0.0) spin.z = momentum.z / (m[1] + m[2]);
        vec3_store(vec3_scale(1.0 / m[0], vec3_load(wrench)), twist);
        vec3_store(pose_direction(q, spin), twist + 3);
        twist_to_velocity(q, twist, v);
    }
}

// ---- composed (KO4) ------------------------------------------------------------------------------------

// (R1) with f at q_n as a part of (S1): rates of dampers are Delta/h in both halves, as symmetry needs
static void rattle_composed_equations(const hn_system *system, const hn_simulation_def *def,
                                      const scheme_state *state, const double *angles, double h,
                                      double time, double *momentum, step_equations *equations)
{
    (void)def, (void)angles;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) momentum[k] = state->impetus[k];
    *equations = half_equations(h, time, momentum);
    equations->force_factor = 0.5 * h;
    equations->damper_form = DAMPER_PLAIN;
}

static double rattle_composed_finish(const hn_system *system, const hn_simulation_def *def,
                                     const step_equations *equations, const step_data *step,
                                     const scheme_state *state, double *next_impetus)
{
    (void)def, (void)state;
    scheme_second_impulse(system, equations, step, 1.0, next_impetus); // (R2), (R4)
    return scheme_work_of_halves(system, equations, step);
}

static const scheme_type scheme_rattle_composed = {
    .name = "rattle",
    .takes_drives = true,
    .damper_form = DAMPER_MIDPOINT,
    .symmetric = true,
    .impetus_is_momentum = true,
    .tangent_momenta = true,
    .energy_habit = "oscillates without drift",
    .start = scheme_start_momenta,
    .equations = rattle_composed_equations,
    .finish = rattle_composed_finish,
    .momenta = scheme_kept_momenta,
};

const scheme_type scheme_rattle = {
    .name = "rattle",
    .no_holds =
        "knows its forces before the step, and efforts that hold would have to be found with it",
    .takes_drives = true,
    .damper_form = DAMPER_EXPLICIT,
    .symmetric = true,
    .impetus_is_momentum = true,
    .tangent_momenta = true,
    .memory_count = 1,
    .energy_habit = "oscillates without drift",
    .composed = &scheme_rattle_composed,
    .start = rattle_start,
    .equations = rattle_equations,
    .finish = rattle_finish,
    .settle = rattle_settle,
    .momenta = scheme_kept_momenta,
};
