// SPDX-License-Identifier: MIT
// What a joint is to the engine: constraint rows, the twist rule with its derivatives, and the motion on its manifold.
//
// Notation (docs/theory/joints.md): body a carries the joint frame (a1, a2, a3), body b the frame (b1, b2, b3); both
// are fixed in the bodies. p = phi + rho is the joint's place on a body, e = p_b - p_a. Twists are t = (v, omega).
//
//   t_child = A t_parent + B u          (twist rule, docs/theory/joints.md)
//
// A is one of three kinds of carry; B is a list of columns (linear; angular), one per relative degree of freedom.
#ifndef JOINTS_JOINT_H
#define JOINTS_JOINT_H

#include <holonom/model.h>

#include "base/rotation.h"
#include "base/sum.h"

enum { JOINT_DOF_MAX = 6, JOINT_ROWS_MAX = 6, JOINT_TERMS_MAX = 16, POSE_SIZE = 12 };
enum { GROUND = -1 };

/// A joint of the compiled system. Local vectors are in the directors of the body that carries them.
typedef struct joint {
    hn_joint_kind kind;
    int parent;        ///< tree index or GROUND; for a cut joint: body a
    int child;         ///< tree index; for a cut joint: body b
    bool child_is_a;   ///< joints that keep their sides only: the body that carries the frame is the child
    bool point_child;  ///< the child is a point mass: no rotation columns
    bool plane_child;  ///< the child is a planar point mass: a[0], a[1], a[2] are its plane's world axes and normal
    int dof;           ///< columns of B
    int row_count;     ///< constraint rows
    int row_offset;    ///< place of the first row among all constraints of the system
    hn_vec3 rho_a, rho_b; ///< m
    hn_vec3 a[3], b[3];
    double length;     ///< m, of a link between two points at a constant distance; 0: it is none
    int model_joint;   ///< index in the model, or -1 for the free joint the engine gives a root
    bool swapped;      ///< a is the model's body b
} joint;

/// Place of a body in a step: increments since t_n and the rotation of the current Newton iteration, all secant
/// (Cayley).
typedef struct body_step {
    hn_vec3 displacement; ///< phi - phi_n
    hn_vec3 rotation;     ///< theta with D = cay(theta) D_n
    hn_vec3 turn;         ///< theta of the last increment alone
} body_step;

/// What a tree joint remembers during a step.
typedef struct joint_step {
    double offset_start[2]; ///< displacements of the child along the parent's frame at t_n
    double offset[2];       ///< and now
    double increment[6];    ///< total joint increment since t_n, composed over the Newton iterations, in components
                            ///< that vary slowly from step to step (a free rotation: in the child's directors)
    hn_vec3 spread[2];      ///< distance joint: s_k, at right angles to e_n
    hn_vec3 link_start;     ///< distance joint: e_n, from parent to child
    hn_vec3 link;           ///< and now
    hn_vec3 link_rotation;  ///< distance joint: theta with e = cay(theta) e_n
} joint_step;

/// How the parent's twist is carried to the child.
typedef enum carry_kind {
    CARRY_NONE,  ///< A = 0
    CARRY_POINT, ///< A = [I, -c^; 0, 0], c = rho of the parent
    CARRY_RIGID, ///< A = [I, -c^; 0, I], c = phi_child - phi_parent
} carry_kind;

/// The twist rule at one configuration (continuous: a configuration; discrete: the midpoint).
typedef struct motion {
    carry_kind carry;
    int dof;
    hn_vec3 offset;                 ///< c
    hn_vec3 linear[JOINT_DOF_MAX];  ///< columns of B
    hn_vec3 angular[JOINT_DOF_MAX];
} motion;

/// One derivative of the reduced residual r_row = B_row . W through a vector x = c0 phi + x1 d1 + x2 d2 + x3 d3 of one
/// body: delta r_row = z . delta x.
typedef struct motion_term {
    int row;
    bool on_child;
    double phi_coefficient; ///< c0
    hn_vec3 local;          ///< x1, x2, x3
    hn_vec3 z;
} motion_term;

/// A constraint row g = u . w (times `factor`) - eta with u, w linear in the eight vectors
/// x_0..x_3 = phi, d1, d2, d3 of body a and x_4..x_7 of body b; or one component of w when u is a constant direction.
typedef struct constraint_row {
    bool product;      ///< false: g = direction . w
    bool rotational;   ///< radians rather than metres
    hn_vec3 direction; ///< unit vector
    double alpha[8];   ///< u = sum alpha_k x_k
    double beta[8];    ///< w = sum beta_k x_k
    double factor;
    double eta;
} constraint_row;

/// Whether the child only turns about its own joint point, and about what: its axis b3, or any.
typedef enum pivot_kind {
    PIVOT_NONE,
    PIVOT_AXIS, ///< A = [I, -c^; 0, I], B = [0; n] about the joint point
    PIVOT_FREE, ///< A = [I, -c^; 0, 0], B = [0; 1]
} pivot_kind;

/// What one coordinate of a joint measures: the way of b's joint point along an axis, or the turn of b about it.
typedef enum axis_home { AXIS_OF_WORLD, AXIS_OF_A, AXIS_OF_B } axis_home;
typedef struct coordinate_axis {
    bool turning; ///< radians rather than metres
    axis_home home;
    int axis;     ///< which of the three of its home: world axes, (a1, a2, a3), (b1, b2, b3)
} coordinate_axis;

/// What the rows see of the body that carries the frame: rigid motions that leave this mark alone are symmetries where
/// that body is the ground.
typedef enum mark_kind {
    MARK_NONE,
    MARK_POINT,
    MARK_AXIS,  ///< a point and a direction through it
    MARK_LINE,  ///< may be turned about and moved along itself
    MARK_SLOT,  ///< a direction with a frame: may be moved along itself
    MARK_PLANE, ///< may be turned about its normal and moved along itself
    MARK_FRAME, ///< a point and three directions
} mark_kind;

/// What a joint is in a plane (schemes/jet_planar.c), by how its axis a3 lies to the plane's normal.
typedef enum planar_form {
    PLANAR_REFUSED, ///< its axis may not lie so
    PLANAR_NOTHING,
    PLANAR_PIN,
    PLANAR_SLIDE,        ///< along a3
    PLANAR_SLIDE_ACROSS, ///< at right angles to a3
    PLANAR_WELD,
    PLANAR_ROD,
} planar_form;
enum { PLANAR_UPRIGHT = 1, PLANAR_LEVEL = 2 }; ///< keeps its bodies from tilting; from leaving along the normal

typedef struct planar_rule {
    struct {
        planar_form form;
        unsigned char held;
    } normal, inside, oblique; ///< a3 is along the normal; lies in the plane; neither
    bool tells_normal;         ///< a model with it can only be planar about a3
    bool other_axis;           ///< b3 may be along the normal instead of a3
} planar_rule;

/// A joint kind: one file each.
typedef struct joint_type {
    int dof;        ///< between rigid bodies
    int row_count;  ///< between rigid bodies
    pivot_kind pivot; ///< between rigid bodies
    int coordinate_count;
    coordinate_axis axes[JOINT_DOF_MAX]; ///< of the coordinates
    bool keeps_sides; ///< rows not symmetric in the bodies at a midpoint: who carries them does not follow the tree
    bool sides_differ; ///< and a and b are not alike at all: the rows are always on the body that the user calls a
    mark_kind mark, mark_b; ///< mark_b: on body b, where the sides differ
    planar_rule planar;
    /// Row `index` of the constraints.
    void (*row)(const joint *j, int index, constraint_row *row);
    /// The twist rule at poses of parent and child. `step` gives the distance joint its spread vectors.
    void (*motion)(const joint *j, const joint_step *step, const double *parent, const double *child, motion *m);
    /// Terms of d(B^T W) through the poses; returns how many.
    int (*terms)(const joint *j, const joint_step *step, const double *parent, const double *child, hn_vec3 force,
                 hn_vec3 moment, motion_term *terms);
    /// Remember displacements at t_n.
    void (*begin)(const joint *j, const double *parent, const double *child, joint_step *step);
    /// Components of `increment` beyond the degrees of freedom.
    int increment_surplus;
    /// The increment `u` that would repeat `increment` from t_n on.
    void (*guess)(const joint *j, const joint_step *step, const double *increment, const double *child, double *u);
    /// Move the child by the increment `u` after its parent has moved: sets turn, rotation, displacement of the child.
    void (*advance)(const joint *j, const double *u, const double *parent_start, const double *parent,
                    const double *child_start, const double *child, const body_step *parent_step, joint_step *step,
                    body_step *child_step);
    /// Remove round-off: put the child exactly on the joint's manifold at the given parent pose.
    void (*settle)(const joint *j, const joint_step *step, const double *parent, double *child);
    /// Coordinates of b relative to a; angles in (-pi, pi].
    void (*coordinates)(const joint *j, const double *a, const double *b, double *coordinates);
} joint_type;

/// The table of joint kinds, indexed by hn_joint_kind.
const joint_type *joint_type_of(hn_joint_kind kind);

/// Constraint row r of a joint.
static inline constraint_row joint_row(const joint *j, int r)
{
    constraint_row row;
    joint_type_of(j->kind)->row(j, r, &row);
    return row;
}

/// Body a becomes body b. The rows are then other functions of q with the same zeros.
void joint_swap_sides(joint *j);

#define JOINT_TYPE(NAME, word, sentence) extern const joint_type joint_##word;
HN_JOINT_KIND_LIST(JOINT_TYPE)
#undef JOINT_TYPE

/// What translational rows are over to be metres: that of a link is half a difference of squares.
static inline double joint_row_length(const joint *j)
{
    return j->length > 0.0 ? j->length : 1.0;
}

/// Pivot of a tree joint.
static inline pivot_kind joint_pivot(const joint *j)
{
    return j->point_child ? PIVOT_NONE : joint_type_of(j->kind)->pivot;
}

// ---- poses ------------------------------------------------------------------------------------------

/// x1 d1 + x2 d2 + x3 d3 of a pose (phi, d1, d2, d3).
static inline hn_vec3 pose_direction(const double *q, hn_vec3 x)
{
    return (hn_vec3){x.x * q[3] + x.y * q[6] + x.z * q[9], x.x * q[4] + x.y * q[7] + x.z * q[10],
                     x.x * q[5] + x.y * q[8] + x.z * q[11]};
}

static inline hn_vec3 pose_center(const double *q)
{
    return vec3_load(q);
}

static inline hn_vec3 pose_point(const double *q, hn_vec3 x)
{
    return vec3_add(pose_center(q), pose_direction(q, x));
}

// ---- shared by the joint files ------------------------------------------------------------------------

/// The parent's and the child's place and frame of a tree joint.
static inline hn_vec3 joint_parent_arm(const joint *j)
{
    return j->child_is_a ? j->rho_b : j->rho_a;
}

static inline hn_vec3 joint_child_arm(const joint *j)
{
    return j->child_is_a ? j->rho_a : j->rho_b;
}

static inline const hn_vec3 *joint_parent_frame(const joint *j)
{
    return j->child_is_a ? j->b : j->a;
}

static inline const hn_vec3 *joint_child_frame(const joint *j)
{
    return j->child_is_a ? j->a : j->b;
}

/// Rows: component k of e; frame vector a_i . e; a_i . b_k.
void row_coincidence(const joint *j, int k, constraint_row *row);
void row_point_in_plane(const joint *j, int i, constraint_row *row);
void row_orthogonality(const joint *j, int i, int k, constraint_row *row);

/// Carry rules.
void motion_carry_rigid(const double *parent, const double *child, motion *m);
void motion_carry_point(const joint *j, const double *parent, motion *m);
/// Append a rotation column about `axis` with `arm` from the child's centre of mass to the axis: (arm x axis; axis).
void motion_add_rotation(motion *m, hn_vec3 arm, hn_vec3 axis);
/// Append a translation column (direction; 0).
void motion_add_translation(motion *m, hn_vec3 direction);

/// Terms of a rotation column about an axis of one body with the arm of the child: r = axis . (M - arm x F).
int term_rotation(const joint *j, int row, bool axis_on_child, hn_vec3 axis_local, hn_vec3 axis, hn_vec3 arm,
                  hn_vec3 force, hn_vec3 moment, motion_term *terms);
/// Terms of a translation column x1 x x2 with both vectors fixed in one body: r = (x1 x x2) . F.
int term_translation(int row, bool on_child, hn_vec3 local1, hn_vec3 x1, hn_vec3 local2, hn_vec3 x2, hn_vec3 force,
                     motion_term *terms);
/// Terms of the three rows r = M - arm x F of a freely turning child.
int term_free_rotation(const joint *j, int row, hn_vec3 force, motion_term *terms);

/// Displacement of a child held at its joint point: Delta phi_c = Delta p_p + `slide` - Delta rho_c, all as secants.
void advance_position(const joint *j, const double *parent_start, const double *child_start,
                      const body_step *parent_step, hn_vec3 slide, body_step *child_step);
/// Components of a world vector in the directors of a pose.
static inline hn_vec3 pose_components(const double *q, hn_vec3 x)
{
    return vec3(vec3_dot(vec3_load(q + 3), x), vec3_dot(vec3_load(q + 6), x), vec3_dot(vec3_load(q + 9), x));
}
/// guess for joints whose increment is u itself.
void guess_same(const joint *j, const joint_step *step, const double *increment, const double *child, double *u);
/// begin for joints that remember nothing.
void begin_nothing(const joint *j, const double *parent, const double *child, joint_step *step);
/// Set turn and rotation of the child.
static inline void advance_rotation(hn_vec3 turn, body_step *child_step)
{
    child_step->turn = turn;
    child_step->rotation = cayley_compose(turn, child_step->rotation);
}

/// Compose two tangents-of-half-angle increments about one axis.
static inline double advance_compose_angle(double second, double first)
{
    return (second + first) / (1.0 - 0.25 * second * first);
}

/// Turn the child's directors by the small rotation `correction` and make them orthonormal to round-off.
static inline void settle_directors(hn_vec3 correction, double *child)
{
    hn_vec3 d[3];
    for (int i = 0; i < 3; ++i) {
        hn_vec3 old = vec3_load(child + 3 + 3 * i);
        d[i] = vec3_add(old, vec3_cross(correction, old));
    }
    // one step of D (3 I - D^T D)/2
    double xy = -0.5 * vec3_dot(d[0], d[1]), yz = -0.5 * vec3_dot(d[1], d[2]), zx = -0.5 * vec3_dot(d[2], d[0]);
    double x = 1.5 - 0.5 * vec3_dot(d[0], d[0]);
    double y = 1.5 - 0.5 * vec3_dot(d[1], d[1]);
    double z = 1.5 - 0.5 * vec3_dot(d[2], d[2]);
    vec3_store(vec3_add_scaled(vec3_add_scaled(vec3_scale(x, d[0]), xy, d[1]), zx, d[2]), child + 3);
    vec3_store(vec3_add_scaled(vec3_add_scaled(vec3_scale(y, d[1]), xy, d[0]), yz, d[2]), child + 6);
    vec3_store(vec3_add_scaled(vec3_add_scaled(vec3_scale(z, d[2]), zx, d[0]), yz, d[1]), child + 9);
}

/// Turn the child so that its frame is the parent's.
void settle_frame(const joint *j, const double *parent, double *child);
/// Put the child's joint point at `place`.
static inline void settle_point(const joint *j, hn_vec3 place, double *child)
{
    vec3_store(vec3_subtract(place, pose_direction(child, joint_child_arm(j))), child);
}

/// Angle of b about a3 relative to a.
double joint_angle(const joint *j, const double *a, const double *b);

/// Unit vector of coordinate `index` in the world, at poses of a and b.
hn_vec3 joint_coordinate_axis(const joint *j, int index, const double *a, const double *b);
/// Rates of the coordinates from the twists of a and b.
void joint_coordinate_rates(const joint *j, const double *a, const double *b, const double *twist_a,
                            const double *twist_b, double *rates);

/// Place and turn of b's frame seen from a's frame when the joint has these coordinates: the inverse of `coordinates`.
/// False where they do not tell it (distance).
bool joint_relative(hn_joint_kind kind, const double *coordinates, hn_vec3 *offset, hn_mat3 *turn);

/// Place of the angle that counts turns among the coordinates of a joint, or -1: a turn about a3, the only one.
int joint_angle_place(hn_joint_kind kind);
/// Are its coordinates two angles, about an axis of a and one of b? Each goes on from the last one, near to it.
bool joint_has_two_angles(hn_joint_kind kind);
/// Rotation vector of b's frame relative to a's, components in a's frame.
hn_vec3 joint_rotation_vector(const joint *j, const double *a, const double *b);

// rows evaluated, shared by joints and the internal constraints of bodies

/// Value of a row at two poses.
double row_value(const constraint_row *row, const double *a, const double *b);
/// Gradient of a row: eight vectors of three components.
void row_gradient(const constraint_row *row, const double *a, const double *b, hn_vec3 gradient[8]);
/// Internal constraint `index` (BL 24: d1.d1, d2.d2, d3.d3, d1.d2, d1.d3, d2.d3) as a row on body a alone.
void row_internal(int index, constraint_row *row);

/// Largest value of these rows at a pose; a NaN stays.
static inline double pose_orthonormality(const double *q)
{
    double worst = 0.0, sum = 0.0;
    for (int i = 3; i < POSE_SIZE; i += 3)
        for (int k = i; k < POSE_SIZE; k += 3) {
            double dot = vec3_dot(vec3_load(q + i), vec3_load(q + k));
            double size = fabs(i == k ? 0.5 * dot - 0.5 : dot);
            sum += size;
            worst = size > worst ? size : worst;
        }
    return sum == sum ? worst : sum; // one that is no number
}

#endif
