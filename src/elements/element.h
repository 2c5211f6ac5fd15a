// SPDX-License-Identifier: MIT
// Force elements: springs, dampers, forces and torques, seen as contributions to the residual of two bodies.
// Notes: docs/theory/forces.md, docs/theory/energy-decaying.md
//
// An element acts through vectors x = sum_k c_k x_k that are linear in the coordinates of its two bodies
// (x_0..x_3 = phi, d1, d2, d3 of body a, x_4..x_7 of body b). What it adds to the residual is a list of 3-vectors with
// such coefficients, and its tangent is a list of terms u^T C v with u, v of this form, or a dense block.
#ifndef ELEMENTS_ELEMENT_H
#define ELEMENTS_ELEMENT_H

#include "base/rotation.h"
#include "elements/beam.h"
#include "elements/bushing.h"
#include "elements/drive.h"
#include "model/model.h"
#include "model/profiles.h"

enum { ELEMENT_DAMPERS_MAX = 12 };
enum { ELEMENT_TERMS_MAX = 96, ELEMENT_STRAINS_MAX = 6, ELEMENT_COLUMNS = 24 };

typedef enum element_kind {
    ELEMENT_FORCE,
    ELEMENT_TORQUE,
    ELEMENT_SPRING,
    ELEMENT_TORSION_SPRING,
    ELEMENT_BEAM,
    ELEMENT_DRIVE,
    ELEMENT_BEAM_QUADRATIC,
    ELEMENT_BUSHING,
    ELEMENT_BEAM_HELICAL,
} element_kind;

typedef struct element {
    element_kind kind;
    const char *name;       ///< the load's
    int a, b;               ///< tree index of the bodies or -1 for the ground; force, torque: b alone, a is -1
    double link[8];         ///< force: point of b; spring, displacement: p_b - p_a, coefficients
    hn_vec3 a1, a2, b1;     ///< torsional spring, drive: frame vectors in the directors of a and b
    hn_vec3 vector;         ///< force, torque: N, N m; world, or directors of b when body_fixed
    bool body_fixed;
    double stiffness, damping, rest;
    const hn_profile *profile; ///< force, torque
    known_mean mean;        ///< of it in the step that is being solved, in its own time
    bool input;             ///< force, torque: from outside, held over a step
    bool reversed;          ///< its time runs backwards: time_shift - t in place of time_shift + t
    double time_shift;      ///< s
    int angle;              ///< torsional spring, drive: slot of its unwrapped angle in the state, otherwise -1
    int joint;              ///< torsional spring, drive: its joint in the model
    bool turns;             ///< the angle is the one of the joint that counts turns
    bool displacement;      ///< drive: its coordinate is a1 . link, not an angle
    bool rotation;          ///< drive: its coordinate is the turn about one axis of a, summed up (rotation_effort.h)
    const drive_law *law;   ///< drive
    const bushing *bushing; ///< bushing; its damping is then the largest of them
    const beam_element *beam; ///< beam: what is reported of it; NULL: nothing
    const beam_element *points; ///< quadratic beam: its two points of quadrature; NULL elsewhere
    int pair;               ///< there: nodes first and middle, middle and last, first and last
    int third;              ///< there: tree index of the node that is not in the pair
    int group;              ///< there: its first pair among the elements
    double rate_length;     ///< spring: m, its rate is e . de/dt over this
    hn_vec3 b_axis;         ///< torsional spring: the axis in the directors of b; rotation: third vector of b's frame
    double turning[2][3];   ///< torsional spring: of directors j, k the part of j in the angular velocity along i
    const double *rate_mass; ///< of its rates (Z4), strains by strains; NULL: none, or not wanted
    int mass_edge;          ///< block of the mass matrix that it brings, or -1
    int damped;             ///< place of the first of its rates among all that are damped, or -1 (`damped_rates`)
} element;

/// The element's view of a step.
typedef struct element_step {
    const double *a_start, *b_start; ///< poses at t_n
    const double *a, *b;             ///< poses at t_n+1
    const double *a_delta, *b_delta; ///< their changes, known to relative accuracy; NULL: differences of these poses
    const double *third_start, *third; ///< quadratic beam: the same of its third node
    double angle_start;              ///< rad, torsional spring: unwrapped angle at t_n (displacement: m)
    const double *memory;            ///< drive: its slots at t_n; NULL: none
    double step_size;                ///< s
    double load_begin, load_end;     ///< s: loads act with their mean between these times
    bool discrete_gradient;          ///< true: discrete derivative (BL 10); false: gradient at one pose
    double gradient_weight;          ///< that pose is (1 - weight) q_n + weight q_n+1: 1/2 for the midpoint (LMO 18)
    double weight;                   ///< loads act at (1 - weight) q_n + weight q_n+1: 0, 1/2 or 1
    double damper_excess;            ///< dampers act with 1 + this times their force in the middle of the step
    bool damper_middle;              ///< torsional dampers act in the middle of the step, wherever loads do
    bool inputs_apart;               ///< inputs are no part of the forces here
    const double *owed;              ///< impulses that its dampers give back (DF1), one per rate; NULL: none
    bool at_rest;                    ///< statics: nothing moves, and coordinates are those at t_n+1
    double factor;                   ///< multiplies everything that is added
    double decay;                    ///< `energy-decaying`: alpha of (Z1); discrete gradients alone
    const double *change_before;     ///< there: changes of strains in the step before,
    int change_stride;               ///< those of another point of quadrature this much further
    bool want_terms;
} element_step;

/// delta rho = sum u_k (C delta v), v = sum v_k x_k at t_n+1
typedef struct stiffness_term {
    double u[8], v[8];
    double c[3][3];
} stiffness_term;

/// delta rho = K delta x, x the eight vectors at t_n+1: rows and columns phi, d1, d2, d3 of a, then of b.
typedef struct element_block {
    double k[24][24];
} element_block;

typedef struct element_output {
    double *residual_a, *residual_b; ///< twelve each, added to; NULL for the ground
    stiffness_term *terms;           ///< ELEMENT_TERMS_MAX
    int term_count;
    element_block *block;            ///< of a dense element, added to; NULL: not wanted
} element_output;

enum { DAMPED_COLUMNS = 36 };
/// The rates that an element damps, at the end of a step that has been solved: what the filter needs (DF2).
typedef struct damped_rates {
    int count;
    double row[ELEMENT_DAMPERS_MAX][DAMPED_COLUMNS]; ///< by the velocities of a, of b, and of the third node
    double coefficient[ELEMENT_DAMPERS_MAX]; ///< c of the step, N s/m or N m s
    double mean[ELEMENT_DAMPERS_MAX];        ///< r: mean in the step, or what a moving target makes of it
    double strength; ///< c of (DF7): 1 where it is the same in all steps; 0: nothing is given back
} damped_rates;

/// An element kind: one file each.
typedef struct element_type {
    const char *name;
    bool dense; ///< its tangent is a block; both ends are bodies with directors
    bool many_terms; ///< its tangent has more terms than a spring with a damper
    bool from_outside; ///< a load: it acts on body b alone
    bool marks_frame; ///< an end on the ground sees a place and directions there: no rigid motion leaves it alone
    bool in_space;    ///< no plane holds what it does (jet_planar.c)
    /// Potential energy at poses a, b, with the unwrapped angle; `third` is that of a quadratic beam, or NULL.
    double (*potential)(const element *e, const double *a, const double *b, const double *third, double angle);
    /// Add factor times the (discrete) gradient of the potential.
    void (*gradient)(const element *e, const element_step *step, element_output *out);
    /// Add minus factor times the generalised force of loads and dampers.
    void (*load)(const element *e, const element_step *step, element_output *out);
    /// The rate that its damper has, as a row on the velocities of its two bodies; false: none here. NULL: it has none,
    /// or several.
    bool (*rate_row)(const element *e, const double *a, const double *b, double *row);
    /// Several rates, each with its own damper: rows and coefficients; their number. NULL: as `rate_row` says.
    int (*dampers)(const element *e, const double *a, const double *b, double rows[][ELEMENT_COLUMNS],
                   double *coefficients);
    /// How many rates it damps, or may; NULL: none. And these (rows are zero before).
    int (*damped_count)(const element *e);
    void (*damped)(const element *e, const element_step *step, damped_rates *rates);
    /// Sizes of what cancels inside the gradient, as a force and a moment on each of its bodies; NULL: nothing does.
    void (*cancelling)(const element *e, const element_step *step, double *force, double *moment);
    /// For `energy-decaying`; NULL in a kind without a potential. The changes of its strains in a step; their number.
    int (*strain_changes)(const element *e, const element_step *step, double *changes);
    /// x^T C y, J: the potential is half of it for strains x = y.
    double (*strain_product)(const element *e, const double *x, const double *y);
    /// Its rates r(q, v) are linear in the poses q and in the velocities v of its bodies. Rows dr/dv at the poses a, b,
    /// or `by_place` dr/dq at the velocities a, b: by the vectors of a, then of b. Returns their number.
    int (*rates)(const element *e, bool by_place, const double *a, const double *b, double rows[][ELEMENT_COLUMNS]);
} element_type;

const element_type *element_type_of(element_kind kind);
extern const element_type element_force;
extern const element_type element_torque;
extern const element_type element_spring;
extern const element_type element_torsion_spring;
extern const element_type element_beam;
extern const element_type element_drive;
extern const element_type element_bushing;

/// Potential energy of an element, and the kinetic energy of a drive's rotor; `slots`: those of all elements.
double element_energy(const element *e, const double *a, const double *b, const double *third,
                      const double *slots);
/// Follow a drive through a step: `slots` are its own, at t_n and then at t_n+1, where it has the given angle.
void drive_follow(const element *e, const element_step *step, double angle, double *slots);
extern const element_type element_beam_helical;
extern const element_type element_beam_quadratic;

/// What elements of two nodes share: C, and the rates of (W1).
double beam_strain_product(const element *e, const double *x, const double *y);
int beam_rates(const element *e, bool by_place, const double *a, const double *b, double rows[][ELEMENT_COLUMNS]);

/// Strains of a quadratic beam's own point of quadrature, and stress resultants (N, N m).
void beam_quadratic_resultants(const element *e, const double *a, const double *b, const double *third, double *strain,
                               double *resultant);

/// Force of a load (twelve numbers on its body b, added) at a pose, with a time factor of its own.
void element_force_at(const element *e, const double *pose, double size, double *force);

/// A body that it acts on, never the ground.
static inline int element_body(const element *e)
{
    return e->b >= 0 ? e->b : e->a;
}

/// Its load in a step, unless that is one of the inputs and these are elsewhere.
static inline void element_load(const element *e, const element_step *step, element_output *out)
{
    if (!(e->input && step->inputs_apart)) element_type_of(e->kind)->load(e, step, out);
}

/// Mean of a load's factor between two times of the simulation.
static inline double element_load_mean(const element *e, double begin, double end)
{
    double shift = e->time_shift;
    return e->reversed ? profile_kept_mean(e->profile, &e->mean, shift - end, shift - begin)
                       : profile_kept_mean(e->profile, &e->mean, shift + begin, shift + end);
}

/// What a damper pulls with in a step (DF1): so much by its mean rate there, and a constant.
typedef struct damper_pull {
    double by_rate;  ///< N s/m, N m s
    double constant; ///< N, N m
} damper_pull;
damper_pull element_damper_pull(const element *e, const element_step *step);
/// N, N m: what its rate number `index` is owed, over the step.
static inline double element_owed(const element_step *step, int index)
{
    return step->owed == NULL ? 0.0 : (1.0 + step->damper_excess) * step->owed[index] / step->step_size;
}
int element_damped_count(const element *e);
/// The rates that it damps, with their rows at the end of the step.
void element_damped(const element *e, const element_step *step, damped_rates *rates);
/// The least `strength` that it can have in a step.
double element_damped_least(const element *e);
/// Of a spring or an angle: 1 where there is a damper; its rate with the mean of a change over the step.
int element_damped_one(const element *e);
void element_damped_change(const element *e, const element_step *step, double change, damped_rates *rates);
/// The rate of a damper's length or angle as a row on the velocities of its two bodies, 24 numbers; false: it has none.
bool element_rate_row(const element *e, const double *a, const double *b, double *row);
/// All rates that are damped, and by what; their number.
int element_dampers(const element *e, const double *a, const double *b, double rows[][ELEMENT_COLUMNS],
                    double *coefficients);
/// row += x on each of eight vectors, times its coefficient.
void element_add_to_row(const double *coefficients, hn_vec3 x, double *row);

/// Of elements that have none.
double element_no_potential(const element *e, const double *a, const double *b, const double *third, double angle);
void element_no_gradient(const element *e, const element_step *step, element_output *out);
/// residual += c_k f on x_k
void element_add(const double *coefficients, hn_vec3 f, element_output *out);
/// Next term with the given vectors; its matrix is zero.
stiffness_term *element_next_term(element_output *out, const double *u, const double *v);
/// Angle of b1 about a1 x a2, continued from `near`; or the displacement.
double element_angle(const element *e, const double *a, const double *b, double near);
/// That angle at the end of a step, in which each of its bodies turns by less than half a turn.
double element_angle_after(const element *e, const element_step *step);

#endif
