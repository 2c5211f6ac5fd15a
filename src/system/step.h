// SPDX-License-Identifier: MIT
// One step as schemes state it and reductions solve it.
// Notes: docs/theory/energy-momentum.md, docs/theory/energy-decaying.md, docs/theory/convected.md,
// docs/theory/forces.md
//
// Both schemes have the form, with Delta = q_n+1 - q_n,
//
//   rho(q_n+1) + sigma G(q_w)^T lambda = 0,   g(q_n+1) = 0                                     (S1)
//   rho = alpha M Delta - b + beta (grad V - F)                                                (S2)
//
// where q_w = (1 - w) q_n + w q_n+1 is where constraint forces and null space matrices are taken.
#ifndef SYSTEM_STEP_H
#define SYSTEM_STEP_H

#include "system/system.h"

typedef struct step_equations {
    double step_size;         ///< h, s
    double mass_factor;       ///< alpha; 0 in statics
    double row_factor;        ///< 1/s^2, what statics divide their equations by instead of alpha; 0: alpha
    double force_factor;      ///< beta
    double multiplier_factor; ///< sigma
    double weight;            ///< w: 1/2 midpoint, 0 node n
    bool discrete_gradient;   ///< grad V is the discrete derivative, otherwise the gradient at one pose
    double gradient_weight;   ///< that pose: (1 - weight) q_n + weight q_n+1
    double damper_excess;     ///< dampers act with 1 + this times their force in the middle of the step
    bool damper_middle;       ///< torsional dampers act in the middle of the step, wherever loads do
    bool inputs_apart;        ///< efforts and wrenches from outside are in `momentum`, not among the forces
    bool at_rest;             ///< statics: drives see no rates, and the iterate alone
    double time;              ///< s, t_n
    double load_begin, load_end; ///< s: loads act with their mean between these times
    double reaction_time;     ///< s, when the multipliers act
    double decay;             ///< `energy-decaying`: alpha of (Z1), (Z2); 0: none (decay.h)
    const double *momentum;   ///< b, 12 per body
    const double *spin;       ///< `convected`: l_n of rigid bodies in their directors, 3 per body. Rotations then have
                              ///< L_n+1 - L_n = Q_n+1 (alpha J w - l_n) - Q_n l_n in place of M's part of rho, w the
                              ///< rotation in the step (X2); NULL: as (S2)
    const bool *parked;       ///< per body: it stands still, no element acts on it and b holds its weight; NULL: none
} step_equations;

typedef struct step_data {
    const double *q_start;     ///< q_n, 12 per body
    const double *angle_start; ///< unwrapped angles of torsional springs at t_n
    double *q;                 ///< iterate of q_n+1, 12 per body
    double *delta;             ///< Delta, 12 per body, known to relative accuracy
    double *force;             ///< beta (grad V - F) of elements and the edges' part of alpha M Delta - beta M g, 12
                               ///< per body; zero without elements
    double *works;             ///< J, per mechanism: scheme_load_work adds to them; NULL: not wanted
    double *work_round_off;    ///< J, per mechanism: what their places leave open of that work; NULL: not wanted
    double *losses;            ///< J: what the scheme takes from T + V, and what of it never returns; NULL: not wanted
    const double *owed;        ///< per damped rate: impulse that its damper gives back in the step (DF1); NULL: none
    double *velocity_start;    ///< `energy-decaying`, as what follows: v_n, 12 per body
    double *history;           ///< per element, changes of strains and of rates in the step before (decay.h)
    double *impulse;           ///< D of (Z2), 12 per body
    double *velocity;          ///< v_n+1 that belongs to the iterate, 12 per body: also of `ggl-energy-momentum`
    double *closure;           ///< sigma lambda of the cut joints, cut_row_count
    body_step *bodies;         ///< per body
    joint_step *joints;        ///< per body
} step_data;

/// rho of one body (S2).
void step_residual(const hn_system *system, const step_equations *equations, const step_data *step, int body,
                   double *rho);

/// What element `index` sees of a step.
element_step step_element_view(const hn_system *system, const step_equations *equations, const step_data *step,
                               int index);

/// Fill step->force with the elements' part of rho: their forces, and what edges of the mass matrix add to alpha M
/// Delta and to the weights; nothing of parked bodies.
void step_element_forces(const hn_system *system, const step_equations *equations, const step_data *step);

/// b of parked bodies, which have no momentum: what holds their weight.
void step_hold_parked(const hn_system *system, const step_equations *equations, double *momentum);

/// The tangent terms of element `index`; returns their number.
int step_element_terms(const hn_system *system, const step_equations *equations, const step_data *step, int index,
                       stiffness_term *terms);

/// Is the tangent of element `index` a block? Then `step_element_block` gives it, otherwise `step_element_terms`.
static inline bool step_element_is_dense(const hn_system *system, int index)
{
    return element_type_of(system->elements[index].kind)->dense;
}

/// The tangent of an element as a block; of a dense one with `mass` also alpha times the block of the mass matrix that
/// it brings.
void step_element_block(const hn_system *system, const step_equations *equations, const step_data *step, int index,
                        bool mass, element_block *block);

/// Sizes of what cancels inside element `index`, as a force and a moment on each of its bodies; zero for most.
void step_element_cancelling(const hn_system *system, const step_equations *equations, const step_data *step,
                             int index, double *force, double *moment);

/// Add factor times a block of the mass matrix.
void step_add_mass_block(const mass_edge *edge, double factor, element_block *block);

/// Pose q_w of a body.
void step_projection_pose(const step_equations *equations, const step_data *step, int body, double *pose);

/// Directors of a rigid body's pose from its rotation theta in the step: Delta d = cay(theta) d_n - d_n (which is
/// theta x d_mid, to relative accuracy) and d = d_n + Delta d.
static inline void step_turn_directors(hn_vec3 rotation, const double *start, double *q, double *delta)
{
    double factor = cayley_factor(rotation);
    for (int k = 3; k < POSE_SIZE; k += 3) {
        hn_vec3 d = vec3_load(start + k), change = cayley_change(rotation, factor, d);
        vec3_store(change, delta + k);
        vec3_store(vec3_add(d, change), q + k);
    }
}

/// The same after a further turn that is so small that its square does not count.
static inline void step_turn_directors_little(hn_vec3 turn, const double *start, double *q, double *delta)
{
    for (int k = 3; k < POSE_SIZE; k += 3) {
        hn_vec3 change = vec3_add(vec3_load(delta + k), vec3_cross(turn, vec3_load(q + k)));
        vec3_store(change, delta + k);
        vec3_store(vec3_add(vec3_load(start + k), change), q + k);
    }
}

/// Centre of mass of a pose from its displacement in the step.
static inline void step_move_centre(hn_vec3 displacement, const double *start, double *q, double *delta)
{
    vec3_store(displacement, delta);
    vec3_store(vec3_add(vec3_load(start), displacement), q);
}

/// Delta of a body from its displacement and rotation in the step: (Delta phi, theta x d_mid).
void step_delta_from_body(const hn_system *system, const step_data *step, int body);

/// q_n+1 = q_n + Delta phi, cay(theta) d_n.
void step_pose_from_body(const hn_system *system, const step_data *step, int body);

/// Move a rigid body or point mass on by a twist (v, omega) of the iterate, with its pose and Delta.
void step_advance_body(const hn_system *system, const step_data *step, int body, const double *twist);

/// Take round-off out of the directors of all bodies.
void step_settle_directors(const hn_system *system, const step_data *step);

/// Displacement and rotation of a body from Delta: theta = 1/2 sum d_mid^I x Delta d_I with reciprocal directors.
void step_body_from_delta(const hn_system *system, const step_data *step, int body);

/// Reaction wrenches: W of every body (6 each, about its centre of mass), W_i = P_int(q_w)^T rho_i + sum A_c^T W_c.
void step_wrenches(const hn_system *system, const step_equations *equations, const step_data *step, double *wrench);

/// Add the forces of the cut joints, G_cut(q_w)^T closure, to step->force.
void step_add_closure_forces(const hn_system *system, const step_equations *equations, const step_data *step);

/// Moment of A^T W about the parent's centre of mass.
static inline hn_vec3 carry_moment(const motion *m, hn_vec3 force, hn_vec3 moment)
{
    hn_vec3 lever = vec3_cross(m->offset, force);
    return m->carry == CARRY_RIGID ? vec3_add(moment, lever) : lever;
}

#endif
