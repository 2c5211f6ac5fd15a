// SPDX-License-Identifier: MIT
// A model compiled for computation: bodies in tree order, a joint to the parent for each, elements, start state.
//
// Poses are twelve doubles per body, (phi, d1, d2, d3) with the directors along the principal axes of inertia. Point
// masses keep constant directors. Bodies are ordered so that parents come before children.
#ifndef SYSTEM_SYSTEM_H
#define SYSTEM_SYSTEM_H

#include "base/pool.h"
#include "elements/element.h"
#include "joints/joint.h"
#include "model/model.h"

enum { TWIST_SIZE = 6, INTERNAL_ROWS = 6 };

/// What is needed outside the innermost loops.
typedef struct system_body {
    const char *name;
    hn_body_kind kind;
    bool has_directors;    ///< twelve coordinates that turn as one; otherwise a point
    int model_index;
    int coordinate_count;  ///< 12, 3 or 2
    int coordinate_offset; ///< in q as reported: model order
    int internal_count;    ///< 6 or 0
    int internal_offset;   ///< first internal constraint, model order
    hn_vec3 plane[3];      ///< planar point mass: in-plane axes and normal; otherwise world axes
    hn_mat3 user_axes;     ///< the user's body axes in directors: column k is axis k
} system_body;

/// A joint of the model as it is reported: a and b as the user has them (but see `cylindrical.c` for who carries rows).
typedef struct system_joint {
    const char *name;
    joint rows;       ///< constraint rows; body a and b are `rows.parent` and `rows.child`
    bool rows_swapped;///< rows.parent is the user's b
    int tree_body;    ///< child of the tree joint that realises it, or -1
    int cut;          ///< place among the cut joints, or -1
    int thread;       ///< coupling that is a part of it, of a screw; or -1
    int pair;         ///< place of its two angles among those of joints (angles.h), or -1
} system_joint;

/// Where an element sits in the tree.
typedef enum element_place {
    PLACE_ONE_BODY,  ///< the other end is the ground
    PLACE_EDGE,      ///< between a body and its parent
    PLACE_ELSEWHERE, ///< between bodies that are not neighbours
} element_place;

/// A block of the mass matrix between two bodies (mass.h).
typedef struct mass_edge {
    int a, b;       ///< bodies
    double mass[4]; ///< of phi (kg), d1, d2, d3 (kg m^2)
    double factor[4]; ///< the same when the bodies of edges before it are eliminated
} mass_edge;

/// How start velocities of a mechanism follow from what a model gives.
typedef enum start_velocities {
    VELOCITIES_GIVEN,    ///< body by body from the root
    VELOCITIES_TOGETHER, ///< all joint rates that are not given at once
    VELOCITIES_NEAR,     ///< the same, but loops are not quite as they must be
    VELOCITIES_OPEN,     ///< not yet: too many, in a model with loops
    VELOCITIES_LEAST,    ///< in a model with loops: of least kinetic energy
    VELOCITIES_CHOSEN,   ///< in a model with loops: less is told than it can move, and these are not of least energy
} start_velocities;

/// A relation of joint coordinates: sum of factors times them is `start`. Its elements follow those of the drives.
typedef struct system_coupling {
    const char *name;
    int first; ///< its first element, one per term
    int term_count;
    double factors[HN_COUPLING_TERMS_MAX]; ///< the first is 1
    double start;
    bool dependent; ///< it follows from couplings and motions before it
} system_coupling;

typedef struct hn_system {
    hn_context *context;
    char *name;
    int body_count;
    int joint_count;      ///< of the model
    int element_count;
    int damped_count;     ///< rates that elements damp, or may (damper.c)
    int angle_count;      ///< slots of torsional springs and drives in the state
    int loop_count;
    int coordinate_count; ///< n
    int internal_count;   ///< constraints of rigidity
    int constraint_count; ///< m
    int dof;              ///< columns of all tree joints
    hn_vec3 gravity;
    double length;        ///< m, the largest body: scales rotations against translations in reports
    double mass;          ///< kg, the heaviest body
    double *sizes;        ///< m, per body: its own size
    double *unit_length;  ///< m, per body: the largest size in its mechanism
    double *unit_mass;    ///< kg, per body: the heaviest body of its mechanism
    int mechanism_count;  ///< parts that neither joints nor springs connect with each other but through the ground
    int *mechanism;       ///< per body: which of them it belongs to, counted in tree order
    int *mechanism_first; ///< per mechanism: its first body
    int *mechanism_bodies;///< bodies mechanism by mechanism, each in tree order
    int *mechanism_start; ///< per mechanism: where its own begin among them, and the end
    int group_count;      ///< mechanisms that couplings connect are one group
    int *group;           ///< per body: which of them it belongs to, counted in tree order
    double *inertia;      ///< per body: m, E1, E2, E3; read it through mass.h
    int mass_edge_count;
    mass_edge *mass_edges;
    double *edge_inertia; ///< per body: sums of its edges; NULL without edges
    double *mass_pivots;  ///< per body: factors of the mass matrix; NULL without edges
    int *parent;          ///< per body: tree index or GROUND
    int *tree_place;      ///< per body of the model: its tree index
    bool *carried;        ///< per body: a free root that a beam or a stiff bushing carries along at the start (graph.h)
    int alike[2];         ///< as in graph.h
    int *dof_offset;      ///< per body: first reduced coordinate of its tree joint
    joint *joints;        ///< per body: to its parent
    int cut_count;        ///< joints that close loops; `parent` and `child` are their bodies a and b
    int cut_row_count;    ///< constraint rows of all cut joints
    joint *cuts;
    int *cut_row;         ///< per cut joint: first of its rows among those of all cut joints
    bool *in_loop;        ///< per body: its tree joint lies on a loop
    system_body *bodies;
    system_joint *reports;///< joint_count
    element *elements;    ///< loads of the model, the elements of its beams, its drives, and inputs
    int output_columns;   ///< numbers of the model's outputs
    int drive_count;
    int drive_first;      ///< its first element
    drive_law *laws;      ///< per drive, then per term of a coupling
    int law_count;        ///< of them
    int column_count;     ///< of coordinates that they act on
    int coupling_count;
    system_coupling *couplings;
    double *coupling_shares; ///< P of couplings.c, coupling_count squared; NULL: none follows from others
    hn_profile *law_functions; ///< three per drive
    bool has_inputs;
    int *input_first;     ///< per body: elements of its force and torque from outside, with has_inputs
    int beam_count;
    int *beam_first;      ///< per beam: its first element, and the end
    beam_element *beam_elements;
    element_place *places;///< per element
    int *element_edge;    ///< per element: the child body of the edge, or -1
    hn_profile *profiles;
    double *q_start;      ///< 12 per body
    double *twist_start;  ///< 6 per body
    double *angle_start;  ///< angle_count
    int pair_count;       ///< joints with two angles
    double *turn_start;   ///< per joint: rad, the angle given at the start, where joints count turns, or 0
    double position_projection; ///< m, rad: largest change made to start positions
    double velocity_projection; ///< m/s, rad/s
    start_velocities *velocities; ///< per mechanism: how twist_start was found
    pool memory;          ///< everything above
} hn_system;

/// Pose of the ground.
extern const double GROUND_POSE[POSE_SIZE];

static inline const double *system_pose(const double *q, int body)
{
    return body < 0 ? GROUND_POSE : q + (size_t)POSE_SIZE * (size_t)body;
}

/// Pose of the third node of a quadratic beam element, or NULL.
static inline const double *system_third(const element *e, const double *q)
{
    return e->points == NULL ? NULL : system_pose(q, e->third);
}

/// A rigid body without inertia about its own line.
static inline bool system_body_is_rod(const hn_system *system, int body)
{
    const double *e = system->inertia + 4 * (size_t)body + 1;
    double all = e[0] + e[1] + e[2], largest = fmax(e[0], fmax(e[1], e[2]));
    return system->bodies[body].has_directors && all - largest <= 1e-15 * largest;
}

/// A velocity that a model gives, as a row on the twists of two bodies (or GROUND).
typedef struct velocity_row {
    int body[2];
    double row[2][TWIST_SIZE];
    double value; ///< m/s, rad/s
} velocity_row;

/// Start twists have changed from `before`: what beams and bushings carry goes along as a whole, unless it is told
/// otherwise or `moved` (per body) by itself.
hn_status system_carry_along(hn_system *system, const hn_model *model, const double *before, const bool *moved);

/// All of them but rates of free joints between bodies, with `resting` also that joints on no loop do not move unless
/// something is
/// said of them; `rows` NULL: their number alone.
int system_given_velocities(const hn_system *system, const hn_model *model, bool resting, velocity_row *rows);

/// Those of them that a model says itself, rates of free joints included, without what motions and couplings say.
int system_told_velocities(const hn_system *system, const hn_model *model, velocity_row *rows);

/// Compile a model. `start_tolerance`: how far start values may be off before they are refused instead of projected;
/// `inputs`: with a force and a torque on every body, zero at first.
hn_status system_create(hn_context *context, const hn_model *model, double start_tolerance, bool inputs,
                        hn_system **system);
/// The same without a start: poses are those drawn, whether joints hold there or not; there are no velocities.
hn_status system_create_drawn(hn_context *context, const hn_model *model, hn_system **system);
void system_destroy(hn_system *system);

/// Zeroed memory that lives as long as the system, or NULL.
void *system_allocate(hn_system *system, size_t size);

/// Mechanisms, sizes and masses by which bodies are measured (sizes.c).
void system_find_sizes(hn_system *system);

/// Start velocities from what the model gives (start.c).
hn_status system_start_velocities(hn_system *system, const hn_model *model, double start_tolerance);

/// Largest violation of joint rows at q, translational (m) and rotational (rad), and the joint where it is.
typedef struct constraint_check {
    double opening;       ///< m, largest norm of a joint's translational rows
    double misalignment;  ///< rad
    double orthonormality;
    double residual;      ///< scaled as in the definitions: max |g|, in m over the joint's size or 1 % of its place;
                          ///< the way of planar point masses out of their plane likewise
    int worst_joint;      ///< worst for its size, model index; -1: none
    double worst_opening, worst_misalignment; ///< its own, m and rad
    double relative;      ///< its opening over its size, or its misalignment: beyond round-off of coordinates
    double openness;      ///< largest opening over what is allowed (joint_opening_bound),
    int open_joint;       ///< of this joint,
    double open_bound;    ///< m, which is allowed this
} constraint_check;
/// Size of a joint: of the smaller of its bodies, m.
double system_joint_size(const hn_system *system, const joint *j);
/// What a gap at a joint is divided by to be measured, m: its size, or a part of its place where that is more.
double system_gap_unit(const hn_system *system, const joint *j, const double *q);
constraint_check system_check_constraints(const hn_system *system, const double *q);
/// max |G(q) v| over all constraints, v twelve velocities per body (constraint_rates.c); `of_momenta`: without those
/// that momenta say nothing of, since they touch a vector without inertia.
double system_constraint_rates(const hn_system *system, const double *q, const double *v, bool of_momenta);

/// v = P_int(q) t: twelve velocities from a twist.
void twist_to_velocity(const double *q, const double *twist, double *v);
/// Moment of twelve generalised forces.
static inline hn_vec3 force_moment(const double *q, const double *f)
{
    hn_vec3 moment = vec3(0.0, 0.0, 0.0);
    for (int k = 3; k < POSE_SIZE; k += 3)
        moment = vec3_add(moment, vec3_cross(vec3_load(q + k), vec3_load(f + k)));
    return moment;
}
/// Wrench P_int(q)^T f of twelve generalised forces.
void force_to_wrench(const double *q, const double *f, double *wrench);
/// The same of forces on the four vectors of a pose.
void vectors_to_wrench(const double *q, const hn_vec3 f[4], double *wrench);
/// force (12 numbers per body) += factor times the gradient of a row between bodies a and b, taken at their poses or at
/// other vectors in place of these.
void row_add_force(const constraint_row *row, int a, int b, const double *at_a, const double *at_b, double factor,
                   double *force);
/// Take out of a wrench what does not move a body: on a point the moment, on one in a plane the force across it.
void wrench_hold(const system_body *body, double *wrench);
/// Wrenches of the rows of a joint, at poses a and b of its bodies, on that of them which is `body`: held.
void joint_wrenches(const joint *rows, const double *a, const double *b, bool on_b, const system_body *body,
                    double wrenches[][TWIST_SIZE]);
/// lambda with sum lambda_r wrench_r = wrench, by least squares, moments in units of `length`; both become so.
bool wrench_multipliers(int count, double length, double wrenches[][TWIST_SIZE], double *wrench, double *lambda);
/// Gradient of a row between bodies a and b at q times velocities v, 12 numbers per body; the ground is at rest.
double row_rate(const constraint_row *row, int a, int b, const double *q, const double *v);
/// Twist that belongs to twelve velocities, omega = 1/2 sum d_I x v_I.
void velocity_to_twist(const double *q, const double *v, double *twist);

/// Rigid motions of a mechanism, or of the whole model, that leave ground joints, gravity and loads as they are
/// (symmetries.c): momentum maps that are conserved.
typedef struct symmetry_group {
    int count;
    double motions[6][6]; ///< orthonormal rows (v at `point`, `length` omega)
    int translation_count, rotation_count;
    double translations[3][3]; ///< orthonormal directions of the translations among them
    double rotations[6][6];    ///< the rest: (v at `point`, omega), |omega| = 1
    hn_vec3 point;        ///< m, on the ground, where there is a joint or a spring; otherwise the origin
    double length;        ///< m
    bool linear[3];       ///< of the whole model: translation along the world axis k is one
    bool angular[3];      ///< likewise, rotation about the world axis k through `point`
    bool loaded;          ///< likewise, forces or torques act
} symmetry_group;
/// Of the whole model, and of each mechanism (NULL: not asked for).
hn_status system_symmetries(const hn_system *system, symmetry_group *whole, symmetry_group *mechanisms);

#endif
