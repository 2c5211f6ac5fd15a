// SPDX-License-Identifier: MIT
// A scheme states the discrete equations of a step over a system; it sees neither bodies' joints nor how they are
// solved.
// Notes: docs/theory/ggl-energy-momentum.md, docs/theory/forces.md
#ifndef SCHEMES_SCHEME_H
#define SCHEMES_SCHEME_H

#include <holonom/simulation.h>

#include "reductions/joint_blocks.h"
#include "reductions/reduction.h"
#include "system/local_error.h"
#include "system/step.h"

/// State carried from step to step: twelve numbers per body each.
typedef struct scheme_state {
    double *q;       ///< q_n
    double *impetus; ///< what the scheme keeps beside q: v_n (`energy-momentum`), D2 L_d + F_d^+ (`variational`)
    double *memory;  ///< memory_count more vectors of the same size, where the scheme wants them, then
                     ///< element_memory_count numbers per element
    bool first;      ///< no step has been made
} scheme_state;

/// One step of a scheme that brings its own solver, from t_n in `state` to t_n+1.
typedef struct scheme_step {
    const scheme_state *state;
    double step_size;     ///< s
    double time;          ///< s, t_n
    const double *angles; ///< rad, unwrapped angles of torsional springs at t_n
    const bool *parked;   ///< as in step_equations
    const double *owed;   ///< as in step_data
    double *q;            ///< out: q_n+1, 12 per body
    double *delta;        ///< out: q_n+1 - q_n, 12 per body
    double *impetus;      ///< out: 12 per body
    double *memory;       ///< out: what `state->memory` is to hold at t_n+1, apart from it: a step may be discarded
    double *multipliers;  ///< out: lambda of all constraints, in the order of the public API; forces are -G^T lambda
    double multiplier_time; ///< out: s, the time they belong to
    bool multipliers_later; ///< out: they are left to `solver_multipliers`
    double work;          ///< out: J, of loads and dampers
    double *works;        ///< out: J, the same per mechanism, where the scheme keeps energy; zero before
    bool (*stopped)(void *user); ///< asked before every internal step where a step has such; NULL: never stops
    void *stopped_user;
    bool error_known;     ///< out: the solver estimates its own error
    local_error error;    ///< out: of this step, where it does
    const double *joint_angles; ///< rad, angles of joints that count turns at t_n, one number per joint
    double *next_joint_angles;  ///< out where `any_rotation`: those at t_n+1
    int doubtful_joint;   ///< out there: a joint that may have turned more often, or -1
} scheme_step;

/// Workspace of such a solver.
typedef struct scheme_solver scheme_solver;

/// A scheme: one file each. Either its equations have the form (S1), (S2) and a reduction solves them (`equations`,
/// `finish`), or it brings a solver of its own (`solver_create`, `solver_destroy`, `solver_step`); the other set is
/// NULL.
typedef struct scheme_type {
    const char *name;
    bool may_halve;   ///< keeps its promises under a varying step
    bool impetus_is_momentum; ///< the impetus is p (or a part of it), otherwise v
    double reaction_weight; ///< own solver: multipliers belong to (1 - weight) q_n + weight q_n+1
    bool look_ahead;  ///< momenta at t_n need the step to t_n+1
    bool tangent_momenta; ///< what `finish` gives is projected on the motions the joints allow; multipliers belong to
                          ///< t_n, half of them from the projection there
    bool both_levels; ///< velocities are tangent at q_n+1: (B4), (B5) of velocity_level.h are solved with the step
    int memory_count; ///< vectors in scheme_state.memory
    int element_memory_count; ///< numbers per element there
    bool energy_kept; ///< energy is a promise
    bool imposes_invariants; ///< energy and momenta are promises where the definition imposes them
    bool decays;      ///< energy is lost by an identity, whose losses count as negative work (decay.h)
    bool symmetric;   ///< with velocities turned round it goes back the way it came
    bool first_order; ///< local errors are of second order in h, otherwise of third or higher
    bool any_rotation; ///< a body may turn by any angle in a step
    bool ends_steps_at_kinks; ///< internal steps end where the slope of a load jumps
    bool linear_momentum_not_kept;  ///< momenta of translations are no promise
    bool angular_momentum_not_kept; ///< momenta of rotations are no promise
    bool no_equations; ///< explicit: a step solves none but constraints
    bool filters_dampers; ///< after a step velocities are filtered by (DF2), and dampers remember (dampers.c)
    bool dampers_apart; ///< accelerations at the start are without dampers
    bool inputs_apart;  ///< and without inputs
    bool takes_motions; ///< what holds coordinates: motions, couplings, dry friction, latches, rigid stops
    bool takes_drives; ///< efforts along coordinates of joints
    const char *no_holds; ///< why it has none of these: completes "scheme 'x' takes no motions: it ..."
    /// For orders above two (composition.h): the same equations in the form whose steps can be composed. NULL: none
    const struct scheme_type *composed;
    const char *not_composed; ///< why there is none: completes "scheme 'x' "
    const char *no_beams; ///< why it cannot have beams: completes "scheme 'x' "; NULL: it can
    const char *energy_habit; ///< what energy does where it is no promise, for the ledger
    /// impetus at the start from q and velocities v; `acceleration` (12 per body) belongs to q, v and the forces then.
    void (*start)(const hn_system *system, const double *v, const double *acceleration, scheme_state *state);
    /// The equations of the step from t_n; `momentum` (b) is filled.
    void (*equations)(const hn_system *system, const hn_simulation_def *def, const scheme_state *state,
                      const double *angles, double step_size, double time, double *momentum,
                      step_equations *equations);
    /// What the step needs beside its equations, before it is solved: for schemes that decay. May be NULL.
    void (*begin)(const hn_system *system, const scheme_state *state, const step_equations *equations,
                  step_data *step);
    /// Impetus at t_n+1 from the solved step (and memory, in place); returns the work of loads and dampers in the step.
    double (*finish)(const hn_system *system, const hn_simulation_def *def, const step_equations *equations,
                     const step_data *step, const scheme_state *state, double *next_impetus);
    /// Momenta p_n at t_n; `ahead` is the solved step from t_n, or NULL where look_ahead is false.
    void (*momenta)(const hn_system *system, const scheme_state *state, const step_equations *ahead_equations,
                    const step_data *ahead, double *p);
    /// Take all work memory. @return HN_OK, HN_OUT_OF_MEMORY, HN_INVALID_MODEL with a message naming what the scheme
    /// cannot do
    hn_status (*solver_create)(hn_system *system, const hn_simulation_def *def, scheme_solver **out);
    void (*solver_destroy)(scheme_solver *solver); ///< accepts NULL
    /// @return HN_OK, HN_NOT_CONVERGED or HN_SINGULAR_SYSTEM (no message; report->worst_body is set), HN_CANCELLED when
    /// step->stopped said so; outputs only on HN_OK
    hn_status (*solver_step)(scheme_solver *solver, scheme_step *step, const newton_options *options,
                             newton_report *report);
    /// Multipliers at a state that a step ended in and left them for; NULL: every step brings them.
    /// @return HN_OK or HN_SINGULAR_SYSTEM (no message)
    hn_status (*solver_multipliers)(scheme_solver *solver, const scheme_state *state, double time, double *multipliers);
    /// What a solver that chooses its own steps has done; NULL: it does not.
    hn_adaptive_statistics (*solver_statistics)(const scheme_solver *solver);
} scheme_type;

const scheme_type *scheme_type_of(hn_scheme scheme);

/// Largest h |omega| of a body for which the equations of a step have a solution; 0: rotations below half a turn set no
/// limit.
double scheme_rotation_limit(hn_scheme scheme);
/// Angle that a free body goes in a step of h |omega| = `spin` about a principal axis, over `spin`; 0: not known.
double scheme_turn(hn_scheme scheme, double spin);
extern const scheme_type scheme_energy_momentum;
extern const scheme_type scheme_variational;
extern const scheme_type scheme_rattle;
extern const scheme_type scheme_generalized_alpha;
extern const scheme_type scheme_ggl_energy_momentum;
extern const scheme_type scheme_energy_decaying;

/// Work of loads and dampers F . Delta with the loads taken at the given weight; added to step->works by mechanism.
double scheme_load_work(const hn_system *system, const step_equations *equations, const step_data *step, double weight);

/// The equations with loads as they act in the second half of the step, at q_n+1.
step_equations scheme_second_half(const step_equations *equations);
/// Start of schemes that keep momenta: p_0 = M v.
void scheme_start_momenta(const hn_system *system, const double *v, const double *acceleration, scheme_state *state);
/// p_n of schemes that keep momenta in the tangent of the constraints: as it is.
void scheme_kept_momenta(const hn_system *system, const scheme_state *state, const step_equations *ahead_equations,
                         const step_data *ahead, double *p);
/// next_impetus = M Delta/h + h/2 (F - grad V) as they act in the second half of the step, with the gradient at
/// (1 - gradient_weight) q_n + gradient_weight q_n+1.
void scheme_second_impulse(const hn_system *system, const step_equations *equations, const step_data *step,
                           double gradient_weight, double *next_impetus);
/// Work of loads that act half at q_n, over the first half of the step, and half at q_n+1, over the second.
double scheme_work_of_halves(const hn_system *system, const step_equations *equations, const step_data *step);

/// Forces F - grad V at one configuration with velocities v: twelve numbers per body, added times `factor` to `out`.
/// Loads act with their mean from `load_begin` to `load_end`.
void scheme_add_forces(const hn_system *system, const double *q, const double *v, const double *angles,
                       double load_begin, double load_end, double step_size, double factor, double *out);
/// Forces of dampers in a solved step, with its mean rates: twelve numbers per body, added.
void scheme_add_step_dampers(const hn_system *system, const step_equations *equations, const step_data *step,
                             double *out);

/// Numbers in scheme_state.memory.
size_t scheme_memory_size(const scheme_type *scheme, const hn_system *system);

/// Multipliers of a joint from the rows that a solver has, with bodies at poses a and b, to those that are reported,
/// which are other functions of q where bodies a and b have changed places: the same wrench on the child.
void scheme_convert_multipliers(const hn_system *system, const joint_place *place, const double *a, const double *b,
                                double *lambda);

/// Multipliers of a body's internal rows (11, 22, 33, 12, 13, 23): the symmetric part of forces on its directors as
/// combinations of these.
void scheme_internal_multipliers(const double *pose, const hn_vec3 forces[3], double *multipliers);

#endif
