// SPDX-License-Identifier: MIT
// A simulation: one model under one scheme and one reduction, advanced in steps.
#ifndef HOLONOM_SIMULATION_H
#define HOLONOM_SIMULATION_H

#include <holonom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hn_simulation hn_simulation;

/// How `projected-rk` goes back to the constraint manifold (TAN, sections 5.2 and 5.3).
typedef enum hn_projection {
    HN_PROJECTION_QUASI_ORTHOGONAL, ///< Algorithms 5.3 to 5.5
    HN_PROJECTION_ORTHOGONAL,       ///< Algorithm 5.2
    HN_PROJECTION_ALONG_JOINTS,     ///< trees: body by body along their joints; otherwise quasi-orthogonal at the ends
                                    ///< of steps, and at stages near flat positions alone. Since 0.2
} hn_projection;
/// "quasi-orthogonal", "orthogonal", "along-joints"; since 0.2.
HN_API const char *hn_projection_name(hn_projection projection);
HN_API bool hn_projection_from_name(const char *name, hn_projection *projection);

/// Settings of `generalized-alpha`. Since 0.2 a struct of its own, as those of the other schemes.
typedef struct hn_generalized_alpha_options {
    double spectral_radius; ///< at infinite frequency, 0 to 1
    double reserved[3];     ///< zero: room for settings to come
} hn_generalized_alpha_options;

/// Settings of `energy-decaying`.
typedef struct hn_energy_decaying_options {
    double rho;         ///< spectral radius at infinite frequency, 1/3 (most is lost) to 1 (nothing is); 0: what the
                        ///< model says, or 1/3
    double reserved[3]; ///< zero
} hn_energy_decaying_options;

/// Settings of `projected-rk`.
typedef struct hn_projected_rk_options {
    double absolute_tolerance;   ///< Atol of the step control, in sizes of the body for places, rad for turns, and for
                                 ///< rates these times the fastest rate in its mechanism
    double relative_tolerance;   ///< Rtol, of each coordinate and its rate
    double first_step;           ///< s; 0 means chosen
    double step_growth_max;      ///< fac_max
    double projection_tolerance; ///< residual at which projections stop: gaps over a joint's size, rad
    hn_projection projection;
    bool fixed_steps;     ///< one Runge-Kutta step per step, no control
    bool dense_output;    ///< internal steps run free of the step size, states in between are interpolated and
                          ///< projected; false: internal steps end on every step
    bool impose_energy;   ///< energy (with the work of loads) as an invariant
    bool impose_momentum; ///< conserved momentum maps as invariants
    bool planar;          ///< the planar formulation (TAN 4.3); refused for spatial models
    double reserved[6];   ///< zero
} hn_projected_rk_options;

typedef struct hn_simulation_def {
    size_t size; ///< bytes of this struct: set by hn_simulation_def_default
    hn_scheme scheme;
    hn_reduction reduction;
    double step_size;           ///< s, positive
    double residual_tolerance;  ///< Newton stops when the residual of every body is below this part of the terms that
                                ///< cancel in it: its own momentum and forces, and what its joints transmit
    double increment_tolerance; ///< or when the last increment was below this (rad, and m over the body's size)
    int iterations_max;         ///< Newton iterations before a step fails
    int halvings_max;           ///< how often a failing step may be halved: `energy-momentum`, `convected`,
                                ///< `ggl-energy-momentum`, `ggl-classical`, `energy-decaying`; the others end the run
                                ///< there
    bool ledger;                ///< measure invariants at every step (needed by hn_simulation_ledger)
    bool inputs;                ///< efforts on joints and wrenches on bodies can be set between steps, see
                                ///< hn_simulation_input; all schemes but `projected-rk`. Since 0.2
    double start_tolerance;     ///< start values off by more than this (relative) are refused, less is projected
    int order;                  ///< `ggl-energy-momentum`, `rattle`, `variational`: 2, 4, 6 or 8, above 2 by symmetric
                                ///< compositions (docs/theory/composition.md); `projected-rk`: 5 or 8; 0: what the
                                ///< model says, or the scheme's own, which is all that others have. Since 0.2
    double step_tolerance;      ///< `energy-momentum`, `ggl-energy-momentum`, `energy-decaying`: largest error of an
                                ///< inner step (rad, and m over the body's size); they fill the step, in sizes that
                                ///< vary. 0: one step. Since 0.2
    hn_generalized_alpha_options generalized_alpha;
    hn_energy_decaying_options energy_decaying;
    hn_projected_rk_options projected_rk;
} hn_simulation_def;

/// Defaults: energy-momentum, reduced, step_size 0 (to be set), ledger on.
HN_API void hn_simulation_def_init(hn_simulation_def *def, size_t size);
static inline hn_simulation_def hn_simulation_def_default(void)
{
    hn_simulation_def def;
    hn_simulation_def_init(&def, sizeof def);
    return def;
}

/// The settings above by name, as result files and `--set` have them: "spectral_radius", "scheme", ... Since 0.2.
HN_API int hn_simulation_option_count(void);
HN_API const char *hn_simulation_option_name(int index); ///< "" beyond the last
/// Set one from text: "0.8", "true", "orthogonal". The context gets the message. @return HN_OK or HN_INVALID_ARGUMENT
/// (no such name: the message has the nearest; a value that cannot be)
HN_API HN_NODISCARD hn_status hn_simulation_def_set(hn_context *context, hn_simulation_def *def, const char *name,
                                                    const char *value);
/// Its value as text; numbers read back exactly. 32 bytes are enough.
HN_API HN_NODISCARD hn_status hn_simulation_def_get(hn_context *context, const hn_simulation_def *def,
                                                    const char *name, char *value, size_t size);

/// A setting that the model asks for beside hn_run_options, as `run: {scheme: projected-rk, relative_tolerance: 1e-9}`
/// of its file does; a name that is said again gets the new value. hn_simulation_def_from_model knows them. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (as hn_simulation_def_set; scheme, reduction and step_size are said in
/// hn_run_options), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_set_run_setting(hn_model *model, const char *name, const char *value);
/// Put what the `run:` of a model asks for into a definition begun by hn_simulation_def_default: scheme, reduction,
/// step and settings; what it does not say stays. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (NULL)
HN_API HN_NODISCARD hn_status hn_simulation_def_from_model(const hn_model *model, hn_simulation_def *def);

/// Compile the model, make the start values consistent, take all work memory.
/// The simulation copies what it needs: the model may be destroyed.
/// @return HN_OK, HN_INVALID_ARGUMENT, HN_INVALID_MODEL, HN_SINGULAR_SYSTEM, HN_NOT_FINITE, HN_OUT_OF_MEMORY,
/// HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_simulation_create(const hn_model *model, const hn_simulation_def *def,
                                                   hn_simulation **simulation);
/// As hn_simulation_create, with memory and messages of a context that need not be the model's: threads simulate one
/// model at the same time, each with a context of its own, while nobody changes the model. Since 0.2.
HN_API HN_NODISCARD hn_status hn_simulation_create_in(hn_context *context, const hn_model *model,
                                                      const hn_simulation_def *def, hn_simulation **simulation);
/// NULL is fine. Before or after the result files it writes, in any order.
HN_API void hn_simulation_destroy(hn_simulation *simulation);

/// Advance by `count` steps of the step size given at creation.
/// On failure the state is that of the last completed step, and the call may be repeated.
/// @return HN_OK, HN_NOT_CONVERGED or HN_SINGULAR_SYSTEM (the message names body and joint with the worst residual),
/// HN_NOT_FINITE (a velocity or, with a ledger, anything it measures overflowed; in the latter case the step counts)
HN_API HN_NODISCARD hn_status hn_simulation_step(hn_simulation *simulation, int64_t count);

/// Called by hn_simulation_step between two of its steps: `done` of `count` are completed. It may look at the
/// simulation; false asks to stop, and the call returns HN_CANCELLED. Since 0.2.
typedef bool (*hn_progress_function)(const hn_simulation *simulation, int64_t done, int64_t count, void *user);
/// Set it; NULL: none (the default).
HN_API void hn_simulation_set_progress(hn_simulation *simulation, hn_progress_function function, void *user);

/// What a controller sees at the begin of a step, and sets for it.
typedef struct hn_control {
    double time;                ///< s
    double step_size;           ///< s
    int coordinate_count;       ///< of all joints
    const double *coordinates;  ///< as "joints/coordinates"
    const double *rates;        ///< as "joints/rates"
    double *efforts;            ///< "joints/effort": held over the step, kept until changed
} hn_control;
/// Called by hn_simulation_step before every step: state in, efforts out. It may look at the simulation, write its
/// inputs and change its drives. Another status than HN_OK ends the call, which returns it. Since 0.2.
typedef hn_status (*hn_controller_function)(hn_simulation *simulation, const hn_control *control, void *user);
/// Set it; NULL: none (the default). @return HN_OK, HN_INVALID_ARGUMENT (created without inputs)
HN_API HN_NODISCARD hn_status hn_simulation_set_controller(hn_simulation *simulation, hn_controller_function function,
                                                           void *user);
/// Change a drive between steps: "proportional", "derivative", "integral", "limit", "stall", "no_load", "stiffness",
/// "damping" or "rest", as in hn_drive_def. What a spring then holds more or less is work of loads. Not part of
/// snapshots: set it again after hn_simulation_restore. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such drive or word, or a value that the drive cannot have)
HN_API HN_NODISCARD hn_status hn_simulation_set_drive(hn_simulation *simulation, int index, const char *word,
                                                      double value);

/// Turn all velocities round: a time-symmetric scheme then goes back the way it came, to round-off. Loads that change
/// in time do so backwards from here on. Time and steps go on counting; ledger and accuracy start anew.
/// @return HN_OK, HN_INVALID_ARGUMENT with a message that names what has no way back: a scheme that is not symmetric
/// (all but `energy-momentum`, `variational`, `rattle` and `convected`), dampers, impacts that take energy
HN_API HN_NODISCARD hn_status hn_simulation_reverse(hn_simulation *simulation);

HN_API double hn_simulation_time(const hn_simulation *simulation);        ///< s
HN_API int64_t hn_simulation_step_count(const hn_simulation *simulation); ///< completed steps
HN_API double hn_simulation_step_size(const hn_simulation *simulation);   ///< s
HN_API hn_scheme hn_simulation_scheme(const hn_simulation *simulation);
HN_API hn_reduction hn_simulation_reduction(const hn_simulation *simulation);
/// Ids by position in the model, for callers who have no model at hand; none outside 0 <= index < count. Since 0.2.
HN_API hn_body_id hn_simulation_body(const hn_simulation *simulation, int index);
HN_API hn_joint_id hn_simulation_joint(const hn_simulation *simulation, int index);

/// Can every motion that the joints allow for an instant at the start go on?
typedef enum hn_start_kind {
    HN_START_REGULAR,  ///< yes
    HN_START_BRANCHES, ///< no, but some can: a parallelogram that lies flat may go on in several ways
    HN_START_IMMOBILE, ///< no, none on the loop: a hub on straight rods gives way for an instant and cannot move
} hn_start_kind;
/// "regular", "branches", "immobile"; since 0.2.
HN_API const char *hn_start_kind_name(hn_start_kind kind);
HN_API bool hn_start_kind_from_name(const char *name, hn_start_kind *kind);

/// What the compiled model looks like.
typedef struct hn_structure {
    int body_count;
    int joint_count;
    int loop_count;               ///< independent kinematic loops (cut joints)
    int coordinate_count;         ///< n
    int constraint_count;         ///< m: internal (six per rigid body) and joint constraints
    int internal_constraint_count;
    int constraint_rank;          ///< rank of the constraint Jacobian at the start
    int degrees_of_freedom;       ///< n - rank
    int tree_degrees_of_freedom;  ///< of the tree that loops leave when their cut joints are open. Since 0.2
    int unknown_count;            ///< size of the system solved in a Newton iteration, as the reduction counts it
    const char *loop_solution;    ///< how closed loops are solved, in words; "" in a tree. Few loops have ways of their
                                  ///< own in each reduction, many and those near singular positions a sparse one
    double position_projection;   ///< m or rad: how far start positions were moved onto the constraints; 0: not at all
    double velocity_projection;   ///< m/s or rad/s: likewise for start velocities
    double spin_step;             ///< largest h |omega| of any body at the start
    double spin_step_limit;       ///< h |omega| above which a step of this scheme has no solution; 0: none
    hn_start_kind start_kind;     ///< is the start a singular position?
    char singular_joints[160];    ///< then the joints it is one of, by name: "a, b, c"
} hn_structure;
HN_API hn_structure hn_simulation_structure(const hn_simulation *simulation);

/// Redundant constraints at the current configuration.
typedef struct hn_redundancy {
    int redundant_count; ///< constraints that follow from the others
    int misfit_joint;    ///< index of a joint with constraints that nearly follow from the others at the start, so that
                         ///< rigid joints bind; -1: none
    double misfit;       ///< how nearly, relative to their size: some part of what places and axes are off by
} hn_redundancy;
/// `joint_unique` (joint_count entries, or NULL): is the reaction of the joint determined, or only up to a self-stress?
HN_API HN_NODISCARD hn_status hn_simulation_redundancy(const hn_simulation *simulation, hn_redundancy *redundancy,
                                                       bool *joint_unique, int joint_count);

// ---- bulk views and inputs ------------------------------------------------------------------------

/// What can be viewed: the names, units and meanings of the series of result files. Since 0.2.
typedef struct hn_field {
    const char *name;    ///< "bodies/position"
    const char *unit;    ///< "m"
    const char *meaning; ///< in words
} hn_field;
HN_API int hn_field_count(void);
HN_API hn_field hn_field_at(int index); ///< 0 <= index < count; empty words beyond

/// Numbers of a field in this model: entries of its view in all. 0: it has none, or there is no such field. Since 0.2.
HN_API size_t hn_model_field_width(const hn_model *model, const char *field);
/// Bytes that the name of number `index` of a field takes with its end, for hn_model_field_column. 0: there is no such
/// number. Since 0.2.
HN_API size_t hn_model_field_column_size(const hn_model *model, const char *field, size_t index);
/// Name and unit of number `index` of a field, as columns of result files have them:
/// "joints/hinge/coordinates/angle" in "rad". Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such field or number, or the name does not fit)
HN_API HN_NODISCARD hn_status hn_model_field_column(const hn_model *model, const char *field, size_t index, char *name,
                                                    size_t size, const char **unit);

/// Numbers of the simulation's own memory.
typedef struct hn_view {
    const double *data;
    int rank;             ///< dimensions; 0: one number
    size_t shape[3];      ///< `rank` sizes, such as {bodies, 3}
    ptrdiff_t strides[3]; ///< numbers from one entry to the next along each dimension
} hn_view;
/// A view of a field by its name, "joints/coordinates", in the order of the model. Its address stays as long as the
/// simulation; its content is the last completed step: from now on its group is found at the end of every call that
/// changes the state. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such field: the message has the nearest), HN_OUT_OF_MEMORY, HN_NOT_FINITE,
/// HN_SINGULAR_SYSTEM
HN_API HN_NODISCARD hn_status hn_simulation_view(hn_simulation *simulation, const char *name, hn_view *view);

/// Numbers that the caller may write.
typedef struct hn_input {
    double *data;
    int rank;
    size_t shape[3];
    ptrdiff_t strides[3]; ///< numbers
} hn_input;
/// "joints/effort": N or N m on every joint coordinate, along and about the axes whose rates "joints/rates" has;
/// "bodies/force", "bodies/torque": N at the centre of mass and N m, world axes. Zero at first, held over a step, kept
/// until changed, part of snapshots; their work is work of loads. "drives/command": a number per drive that stands for
/// its function of time: the value of an effort (N or N m), the target of a servo (rad or m), the command of a motor; a
/// target that is held has no rate. NAN, as at first: the drive follows its function; motions, springs and stops always
/// do. The address stays. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such input, or created without inputs)
HN_API HN_NODISCARD hn_status hn_simulation_input(hn_simulation *simulation, const char *name, hn_input *input);

/// Values of all bodies in the order of the model; what is NULL stays.
typedef struct hn_body_values {
    const double *position;         ///< m, 3 each: centre of mass
    const double *orientation;      ///< 9 each, by rows: columns are the body axes; point masses ignore it
    const double *velocity;         ///< m/s, 3 each: centre of mass
    const double *angular_velocity; ///< rad/s, 3 each, world
} hn_body_values;
/// Set the state. Poses must fit the joints to 1e-9, velocities within `start_tolerance` of the largest one in their
/// mechanism: they are then projected.
/// Time and steps go on counting; ledger and accuracy begin anew. Since 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (they do not fit: the message names the joint; or `projected-rk`), HN_NOT_FINITE
/// (energies or momenta would not be finite); the state is as before then
HN_API HN_NODISCARD hn_status hn_simulation_set_bodies(hn_simulation *simulation, const hn_body_values *values,
                                                       int body_count);
/// Set joint coordinates and rates (NULL: they stay), all of them, as in "joints/coordinates" and "joints/rates".
/// Possible for trees of joints whose coordinates are angles and displacements. Since 0.2.
HN_API HN_NODISCARD hn_status hn_simulation_set_joints(hn_simulation *simulation, const double *coordinates,
                                                       const double *rates, int count);

/// Accelerations at the current state and with the current inputs, 3 per body in the order of the model: m/s^2 of the
/// centre of mass, rad/s^2, world axes. Since 0.2.
HN_API HN_NODISCARD hn_status hn_simulation_accelerations(hn_simulation *simulation, double *linear, double *angular,
                                                          int body_count);

// ---- state at the current time --------------------------------------------------------------------
// For `variational` velocities are M^-1 p with the momenta of the constrained discrete Legendre transform (LMO 34, 35);
// they need the next step, which is solved ahead and kept. If that fails, the projected transform (LMO 40) is taken.

typedef struct hn_body_state {
    hn_vec3 position;         ///< m, centre of mass
    hn_mat3 orientation;      ///< columns: the body axes as the user gave them; identity for point masses
    hn_vec3 velocity;         ///< m/s, centre of mass
    hn_vec3 angular_velocity; ///< rad/s, world
    hn_vec3 linear_momentum;  ///< kg m/s
    hn_vec3 angular_momentum; ///< kg m^2/s, about the world origin
} hn_body_state;
HN_API HN_NODISCARD hn_status hn_simulation_body_state(const hn_simulation *simulation, hn_body_id body,
                                                       hn_body_state *state);

/// An element of a beam at the current state, components along d1, d2, d3 of its section.
typedef struct hn_beam_element_state {
    double strain[6];    ///< shear along d1 and d2, stretch (1); bending about d1 and d2, torsion (1/m)
    double resultant[6]; ///< shear forces, axial force (N); bending moments, torsional moment (N m)
    double angle;        ///< rad, by which its two nodes are turned against each other, beyond the reference shape
} hn_beam_element_state;
/// The element of a beam that is longest for its tension. Directors of nodes turned to and fro have a shorter mean,
/// which lets the element stretch: above N l^2 = `limit` EI (docs/theory/beams.md) that gains more energy than the
/// bending costs, and elements are unstable where the beam is not. Since 0.2.
typedef struct hn_beam_tension {
    double ratio;      ///< N l^2 over limit times the smaller EI; above 1 the element is too long; 0: no tension
    double limit;      ///< 4, of quadratic elements 24
    int beam, element; ///< in the model; -1: none
    int element_count; ///< elements that this beam has, and
    int least_count;   ///< needs for it
} hn_beam_tension;

/// A drive or law on the coordinate of a joint.
typedef struct hn_drive_state {
    double coordinate; ///< rad or m; angles count turns
    double effort;     ///< N m or N, in the last step, along the coordinate; springs with their restoring force
    double power;      ///< W, mean over the last step, without what springs hold
    double work;       ///< J, since the start, likewise
} hn_drive_state;
/// @return HN_OK, HN_INVALID_ARGUMENT (no such drive)
HN_API HN_NODISCARD hn_status hn_simulation_drive(const hn_simulation *simulation, int index, hn_drive_state *state);

/// A coupling of joint coordinates.
typedef struct hn_coupling_state {
    double effort; ///< N m or N, in the last step, on its first coordinate; on another: times the ratio of their
                   ///< factors. Where couplings follow from others: the least that add up (a third each of three)
    double gap;    ///< rad or m, by which its first coordinate is off
} hn_coupling_state;
/// @return HN_OK, HN_INVALID_ARGUMENT (no such coupling)
HN_API HN_NODISCARD hn_status hn_simulation_coupling(const hn_simulation *simulation, int index,
                                                     hn_coupling_state *state);

HN_API hn_beam_id hn_simulation_beam(const hn_simulation *simulation, int index); ///< 0 <= index < beams of the model
HN_API int hn_simulation_beam_element_count(const hn_simulation *simulation, int index); ///< 0: no such beam
/// @return HN_OK or HN_INVALID_ARGUMENT (no such beam or element)
HN_API HN_NODISCARD hn_status hn_simulation_beam_element(const hn_simulation *simulation, hn_beam_id beam, int element,
                                                         hn_beam_element_state *state);
/// Names through the log which loads and drives by expressions are finer than the step in the next ones until `end`
/// (s), 20000 at most. A simulation with a ledger does so in every step it makes; without one this does nothing. Since
/// 0.2.
/// @return HN_OK, HN_INVALID_ARGUMENT (NULL, not finite), HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_simulation_check_loads(hn_simulation *simulation, double end);
/// Of all beams, at the current state. @return HN_OK or HN_INVALID_ARGUMENT (NULL)
HN_API HN_NODISCARD hn_status hn_simulation_beam_tension(const hn_simulation *simulation, hn_beam_tension *tension);

typedef struct hn_joint_state {
    int coordinate_count;
    double coordinates[HN_JOINT_COORDINATES_MAX]; ///< m, rad; angles of revolute, cylindrical, planar are unwrapped
    double rates[HN_JOINT_COORDINATES_MAX];       ///< m/s, rad/s
    hn_vec3 reaction_force;                       ///< N, on body b at its joint point, world axes; of one step of
                                                  ///< `energy-momentum` or `convected` it may alternate by O(h) about
                                                  ///< the true one: the mean of two neighbouring steps is second order
    hn_vec3 reaction_torque;                      ///< N m
    double reaction_time;                         ///< s, the time the reaction belongs to; NaN-free: equals time before
                                                  ///< the first step; outputs in the frame of a body turn reactions as
                                                  ///< that body stands then
    bool reaction_valid;                          ///< false before the first step, but for `variational`
                                                  ///< and `rattle`
    bool reaction_unique;                         ///< false: redundant constraints; the reaction of minimum norm is
                                                  ///< given; hn_simulation_reaction_verdict tells which components
                                                  ///< are unique nevertheless
} hn_joint_state;
HN_API HN_NODISCARD hn_status hn_simulation_joint_state(const hn_simulation *simulation, hn_joint_id joint,
                                                        hn_joint_state *state);

/// What of a joint's reaction is unique at the current configuration. Self-stresses, joints that press against each
/// other and move nothing, may change the rest. A component is unique if no self-stress has a part in it: the bearing
/// forces of a planar mechanism in its plane, though its hinges are redundant in space.
typedef struct hn_reaction_verdict {
    int shared_count;         ///< independent ways in which self-stresses change force and torque together; 0: unique
    int shared_force_count;   ///< directions in which they change the force, 0 to 3
    int shared_torque_count;  ///< and the torque
    hn_mat3 force_unique;     ///< projector, world axes: times reaction_force it gives the part that is unique
    hn_mat3 torque_unique;    ///< and times reaction_torque
    hn_vec3 axes[3];          ///< the joint's own frame in world axes, as body a carries it; axes[2] is its axis
    bool force_component[3];  ///< is the component of the force along axes[k] unique?
    bool torque_component[3]; ///< and that of the torque?
    hn_vec3 shared_force[6];  ///< N, the ways: independent, and of some size
    hn_vec3 shared_torque[6]; ///< N m, that come with them; w = (force, torque) is such that any f . force + t . torque
                              ///< of the reaction is unique that vanishes for all of them
} hn_reaction_verdict;
/// @return HN_OK, HN_INVALID_ARGUMENT (no such joint), HN_SINGULAR_SYSTEM
HN_API HN_NODISCARD hn_status hn_simulation_reaction_verdict(const hn_simulation *simulation, hn_joint_id joint,
                                                             hn_reaction_verdict *verdict);

typedef struct hn_energy {
    double kinetic;         ///< J, 1/2 v^T M v; `variational`: from the momenta (H_d, LMO 53)
    double potential;       ///< J, zero at the world origin for gravity and at rest for springs
    double external_work;   ///< J, done by loads and dampers since the start
    double discrete_energy; ///< J, `variational`: E_d of the last interval (LMO 52); otherwise kinetic + potential
} hn_energy;
/// @return HN_OK or HN_NOT_FINITE
HN_API HN_NODISCARD hn_status hn_simulation_energy(const hn_simulation *simulation, hn_energy *energy);

/// Total linear (kg m/s) and angular momentum (kg m^2/s, about the world origin).
HN_API HN_NODISCARD hn_status hn_simulation_momentum(const hn_simulation *simulation, hn_vec3 *linear,
                                                     hn_vec3 *angular);

/// Redundant coordinates q of the formulation: per body, in model order, phi, d1, d2, d3 along its principal axes
/// (a point mass: phi; a planar one: two in-plane coordinates). `count` must be structure.coordinate_count.
HN_API HN_NODISCARD hn_status hn_simulation_coordinates(const hn_simulation *simulation, double *q, int count);

/// Lagrange multipliers, structure.constraint_count of them: per body, in model order, six internal ones
/// (d1.d1, d2.d2, d3.d3, d1.d2, d1.d3, d2.d3), then per joint its own. They belong to the
/// time that hn_joint_state gives as reaction_time: t_n (`variational`, `rattle`, `generalized-alpha`,
/// `ggl-classical`, `projected-rk`), the middle of the last step (`energy-momentum`, `ggl-energy-momentum`,
/// `convected`) or its start (`ggl-variational`). Zero before the first step, but for `variational` and `rattle`.
/// Constraint forces are -G^T lambda; under `convected` the six internal ones of a body hold no centripetal forces,
/// which are no constraint forces in its convected momenta (docs/theory/convected.md), so that they differ from those
/// of the other schemes.
HN_API HN_NODISCARD hn_status hn_simulation_multipliers(const hn_simulation *simulation, double *lambda, int count);

/// Momenta by the discrete Legendre transforms at t_n; for `energy-momentum` all follow from p = M v.
typedef struct hn_legendre {
    double *constrained; ///< coordinate_count: p_n (LMO 34, 35)
    double *projected;   ///< coordinate_count: Q p_n (LMO 39, 40)
    double *reduced;     ///< hn_structure.tree_degrees_of_freedom: P^T p_n (LMO 41, 42)
} hn_legendre;
/// Fill the arrays that are not NULL; sizes as stated.
HN_API HN_NODISCARD hn_status hn_simulation_legendre(const hn_simulation *simulation, const hn_legendre *out);

/// How well constraints hold now.
typedef struct hn_constraint_state {
    double residual;           ///< max |g|; rows in m over the joint's own size, or 1 % of its distance from the
                               ///< origin where that is more
    double joint_opening;      ///< m, worst norm of the translational rows of a joint
    double joint_misalignment; ///< rad, worst norm of the rotational rows of a joint
    double orthonormality;     ///< worst internal constraint
    double hidden_velocity;    ///< max |f_d| = |G(q_mid) (q_n+1 - q_n)/h| over the last step (LMO 45)
    double hidden_momentum;    ///< max |h_d| = |G M^-1 p_n| (LMO 46)
    double hidden_projected;   ///< the same with the projected momenta
} hn_constraint_state;
HN_API HN_NODISCARD hn_status hn_simulation_constraints(const hn_simulation *simulation, hn_constraint_state *state);

// ---- ledger ---------------------------------------------------------------------------------------

typedef enum hn_promise {
    HN_PROMISE_ENERGY,
    HN_PROMISE_LINEAR_MOMENTUM,
    HN_PROMISE_ANGULAR_MOMENTUM,
    HN_PROMISE_JOINTS,
    HN_PROMISE_CONSTRAINTS,
    HN_PROMISE_EQUATIONS,
} hn_promise;
#define HN_PROMISE_COUNT 6
/// "energy", "linear_momentum", "angular_momentum", "joints", "constraints", "equations".
HN_API const char *hn_promise_name(hn_promise promise);
HN_API bool hn_promise_from_name(const char *name, hn_promise *promise);

/// One line of the ledger.
typedef struct hn_ledger_entry {
    bool conserved;       ///< the quantity (or a component of it) is a promise of this scheme on this model
    double error;         ///< worst error over the run: relative for energy and momenta, m for joints, relative for
                          ///< constraints; for equations the worst residual of a body relative to its own terms and to
                          ///< what its joints transmit, in the first 16 steps and one of every 32
    double drift;         ///< error at the current time, with sign for energy
    double drift_per_step;///< drift divided by completed steps
    double bound;         ///< the default bound for "kept"; joints: of the joint that is worst for its size, m
    double allowance;     ///< part of the bound that stands for round-off; grows with the number of steps
    bool kept;            ///< error <= bound, or the promise does not apply
    char note[160];       ///< which components, why not conserved, what the band is
} hn_ledger_entry;

/// The worst of a run in one measure: how large, which body, when.
typedef struct hn_worst {
    double value;
    int body;    ///< index in the model; -1: none yet
    double time; ///< s, end of the step
} hn_worst;

/// What is approximate: estimates of the local error, the difference after one step between the scheme and the motion
/// from the same state. Steps are measured where they seem worse than all before and at intervals, by comparison with
/// finer steps; others are interpolated with third differences. Definitions: docs/theory/accuracy.md.
typedef struct hn_accuracy {
    hn_worst position;   ///< m, of a centre of mass
    hn_worst angle;      ///< rad, of a body's axes (a rod: of its line)
    hn_worst relative;   ///< the angle, or the position over the body's own size: whichever is worse
    double position_sum, angle_sum, relative_sum; ///< m, rad, 1: summed over all steps
    hn_worst spin_step;  ///< h |omega| of a body, or h |v| over the length of a point mass's link
    double spin_step_limit; ///< above it steps are too long for rotations: 0.5, or half of what the scheme can solve
                            ///< where that is less; 0: the scheme takes as many steps as it needs
    int64_t sample_count;     ///< steps that were measured; 0: nothing is known
    int64_t unresolved_count; ///< of them: even 32 parts did not follow the motion, the estimate is rough
    int64_t halved_step_count;///< steps that could not be solved in one, or not uniquely
    int64_t ambiguous_step_count; ///< steps too long to be unique: more than one solution was found
    int64_t leap_count; ///< singular positions of loops that were leapt over: the motion may have gone on elsewhere
    double leap_time;   ///< s, of the last one
    int leap_joint;     ///< index in the model: its constraints almost follow from the others there; -1: none
    double beam_angle;        ///< rad, largest angle between neighbouring nodes of a beam beyond its reference shape:
                              ///< above 30 degrees its elements are too long; result files do not keep it
    double beam_angle_time;   ///< s, end of the step where it was,
    int beam, beam_element;   ///< and whose it was; meaningless where the angle is 0
    hn_beam_tension beam_tension; ///< the worst; result files do not keep it. Since 0.2
    double beam_tension_time;     ///< s, end of the step where it was
} hn_accuracy;

typedef struct hn_ledger {
    hn_ledger_entry entry[HN_PROMISE_COUNT];
    hn_accuracy accuracy;
    double energy_scale;   ///< J, max T + max |V - V0|
    double momentum_scale; ///< kg m^2/s, max sum (|phi||p| + |J omega|), of the worst of several mechanisms; phi from
                           ///< its point on the ground, or from the origin
    double energy_min, energy_max; ///< J, extremes of E - W, under `energy-decaying` of E - W and what was lost
    bool energy_decays;       ///< the scheme is one that takes energy: `energy-decaying`
    double energy_lost;       ///< J, `energy-decaying`: taken from T + V so far
    double energy_dissipated; ///< J, there: the part of it that never returns; does not fall
    bool linear_component[3];  ///< world components of linear momentum that are conserved
    bool angular_component[3]; ///< likewise, angular, about `angular_point`
    hn_vec3 angular_point;     ///< m
    int64_t step_count;
} hn_ledger;
/// @return HN_OK or HN_INVALID_ARGUMENT when the simulation was created without a ledger
HN_API HN_NODISCARD hn_status hn_simulation_ledger(const hn_simulation *simulation, hn_ledger *ledger);
/// What makes numbers doubtful though no promise is broken, a sentence each: start values that were moved, or that are
/// a choice, singular starts, steps too long for the motion or to be unique, beams drawn out or bent too far. Without a
/// ledger only what the start and beams as they are tell.
/// Writes sentence `index`, cut to `size` bytes with its end ("" beyond the last; `text` may be NULL). `model`: the
/// simulation's, for the names. Returns how many there are so far; 0: none, or NULL, or another model. Since 0.2.
HN_API int hn_simulation_caution(const hn_simulation *simulation, const hn_model *model, int index, char *text,
                                 size_t size);

// ---- statistics -----------------------------------------------------------------------------------

typedef struct hn_statistics {
    int64_t step_count;
    int64_t newton_iteration_count;
    int newton_iteration_max;      ///< in one step
    int last_iteration_count;
    int64_t halved_step_count;     ///< nominal steps that needed substeps
    int64_t ambiguous_step_count;  ///< steps too long to be unique: more than one solution was found
    int64_t doubtful_turn_count;   ///< steps in which a joint turned so far that its angle may be off by whole turns
    double last_residual;          ///< relative residual norm before the last increment
    double last_increment;         ///< norm of the last Newton increment
} hn_statistics;
HN_API hn_statistics hn_simulation_statistics(const hn_simulation *simulation);

/// What a scheme that chooses its own steps (`projected-rk`, or any with a step_tolerance, which has inner steps only)
/// has done so far, counted as the tables of TAN do.
typedef struct hn_adaptive_statistics {
    int64_t accepted_step_count;   ///< internal steps
    int64_t rejected_step_count;
    int64_t projection_count;      ///< onto the constraints
    int64_t projection_iteration_count; ///< Newton iterations in them
    int projection_iteration_max;  ///< in one projection
    int64_t acceleration_count;    ///< evaluations of the accelerations (Algorithm 3.2)
    int64_t jacobian_count;        ///< evaluations of the constraints and their derivative
    int64_t second_derivative_count; ///< second derivatives of single constraints
    int64_t third_derivative_count;
    int64_t invariant_count;       ///< evaluations of the imposed invariants' derivative
    double last_step;              ///< s, size of the last accepted internal step
    double smallest_step, largest_step; ///< s, of all accepted ones; with a step_tolerance only
} hn_adaptive_statistics;
/// All zero for schemes whose steps have the size given at creation.
HN_API hn_adaptive_statistics hn_simulation_adaptive_statistics(const hn_simulation *simulation);

/// Residual norms of the Newton iterations of the last step, for convergence studies: how many there are. Since 0.2.
HN_API int hn_simulation_newton_history_count(const hn_simulation *simulation);
/// Returns how many were stored into `norms`, at most `capacity`.
HN_API int hn_simulation_newton_history(const hn_simulation *simulation, double *norms, int capacity);

/// Condition number (2-norm) of the iteration matrix at the last completed step, formed densely: for reports only.
/// Unscaled as the papers have it: multipliers [2M/h + ..., h G^T; G, 0], `variational` [M/h + ..., h G^T; G, 0].
HN_API HN_NODISCARD hn_status hn_simulation_condition(const hn_simulation *simulation, double *condition);

// ---- snapshots --------------------------------------------------------------------------------------

/// Size of a snapshot in bytes. A snapshot holds state and predictor history: stepping on from it is bit for bit the
/// same. It knows whom it belongs to and has a checksum; it is made for one kind of machine and one version.
HN_API size_t hn_simulation_snapshot_size(const hn_simulation *simulation);
HN_API HN_NODISCARD hn_status hn_simulation_save(const hn_simulation *simulation, void *snapshot, size_t size);
/// Into a simulation of the same model, scheme, reduction, settings and step size, also one of another process;
/// tolerances may differ. What belongs to the last interval (reactions of `energy-momentum`, discrete_energy,
/// hidden_velocity) is known again after the next step.
/// @return HN_OK, or HN_INVALID_ARGUMENT with a message that says whose it is not; the state is then as before
HN_API HN_NODISCARD hn_status hn_simulation_restore(hn_simulation *simulation, const void *snapshot, size_t size);

#ifdef __cplusplus
}
#endif

#endif
