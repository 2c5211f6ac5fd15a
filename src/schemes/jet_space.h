// SPDX-License-Identifier: MIT
// The computational state space of `projected-rk` (TAN 3, 4): coordinates of bodies, basic constraints, the
// distribution. Note: docs/theory/projected-rk.md
//
// A body has coordinates y and a smaller vector w of velocities, y_1 = H^T w: position and Euler parameters with
// w = (r_1, H theta_1) in space; position and angle, w = y_1, in the plane; position alone for a point mass.
// Joints are lists of basic constraints (TAN 5.3): coincidence, symmetric and nonsymmetric orthogonality; beside them
// the distance between two points.
#ifndef SCHEMES_JET_SPACE_H
#define SCHEMES_JET_SPACE_H

#include "linalg/block_cholesky.h"
#include "system/system.h"

enum { JET_ROWS = 6, JET_VELOCITIES = 6, JET_COORDINATES = 7 };

typedef enum jet_body_kind {
    JET_RIGID,        ///< r, theta: 7 coordinates, 6 velocities
    JET_POINT,        ///< r
    JET_PLANE_POINT,  ///< two coordinates in its plane
    JET_PLANAR_RIGID, ///< two coordinates and an angle (TAN 4.3)
} jet_body_kind;

typedef struct jet_body {
    jet_body_kind kind;
    int y, y_count;                 ///< place and number of coordinates
    int w, w_count;                 ///< place and number of velocities
    double mass;                    ///< kg
    hn_vec3 moments;                ///< kg m^2, principal
    double inertia[JET_VELOCITIES]; ///< E: m, m, m, 4 I1, 4 I2, 4 I3; in the plane m, m, I
    double inverse[JET_VELOCITIES]; ///< 1/E
    double length;                  ///< m, its own size
    int mechanism;                  ///< bodies that joints or springs connect but through the ground
    double weight[JET_VELOCITIES];  ///< of METRIC_EUCLIDEAN: length^2 for places, 1 for turns
    hn_vec3 axes[3];                ///< in-plane directions and normal; world axes otherwise
    hn_vec3 origin;                 ///< m, planar bodies: position at zero coordinates
    double reference[9];            ///< planar bodies: directors at angle zero
} jet_body;

typedef enum basic_kind {
    BASIC_COINCIDENCE,  ///< k . e = 0 with a fixed direction k, e = p_b - p_a (TAN 5.6, one component)
    BASIC_SYMMETRIC,    ///< u_a . u_b = 0 with u fixed in the bodies (TAN 5.7)
    BASIC_NONSYMMETRIC, ///< u_a . e = 0 (TAN 5.8)
    BASIC_DISTANCE,     ///< (e . e - L^2)/2 = 0
} basic_kind;

typedef struct basic_row {
    basic_kind kind;
    hn_vec3 a;  ///< k in the world, or u_a in the directors of a
    hn_vec3 b;  ///< u_b in the directors of b
    double eta; ///< subtracted
} basic_row;

typedef struct jet_joint {
    int a, b;             ///< bodies or GROUND
    int source;           ///< joint of the model
    double length;        ///< m, the larger body's size, or the link's
    hn_vec3 rho_a, rho_b; ///< m, joint points in the directors
    int row_count;
    int first;      ///< of its rows among all
    int multiplier; ///< place of its first multiplier in the public order, -1: not known one by one
    basic_row rows[JET_ROWS];
    bool dropped[JET_ROWS];
} jet_joint;

/// Two joints on one body: where their product goes.
typedef struct jet_coupling {
    int body, k, l; ///< joints; k is l or eliminated after it
    int side_k, side_l;
    double *block[2]; ///< block (k, l) of S and of B W B^T
} jet_coupling;

/// Two systems over the joints: S = B E^-1 B^T of the dynamics, B W B^T of the nearest point in coordinates, where
/// places are measured in lengths of their bodies.
typedef enum jet_metric { METRIC_KINETIC, METRIC_EUCLIDEAN } jet_metric;

/// A moment in an internal step, within which loads are linear in time: the part of it that has passed. Loads are then
/// known to relative accuracy also where a step is as short as the round-off of its time.
typedef struct jet_moment {
    double begin, end; ///< s
    double part;       ///< 0 to 1
} jet_moment;

/// A moment for itself.
static inline jet_moment jet_at(double time)
{
    return (jet_moment){time, time, 0.0};
}

/// What a tree has beside: positions, velocities and accelerations along its joints (jet_tree.h).
typedef struct jet_tree jet_tree;

typedef struct jet_space {
    hn_system *system;
    jet_tree *tree; ///< NULL: constraints are taken all at once
    int body_count, joint_count, y_count, w_count, row_count, coupling_count;
    int mechanism_count;
    bool planar;
    jet_body *bodies;
    jet_joint *joints;
    jet_coupling *couplings;
    int *order; ///< joints in elimination order
    /// Per metric: S = B E^-1 B^T over the graph of joints (TAN 5.1), B W B^T; NULL without constraints.
    block_cholesky *systems[2];
    double *angles;  ///< rad, torsional springs: unwrapped angles near the current state

    // at the current point
    double *pose;                                 ///< 12 per body
    double *twist;                                ///< 6 per body: v, omega (world)
    double *g;                                    ///< row_count
    double (*block)[2][JET_ROWS][JET_VELOCITIES]; ///< per joint: rows of B = dg H^T on either body, else zero
    double *force;                                ///< w_count: F_e - H grad U
    double *gradient;                             ///< w_count: H grad U
    double *multiplier;                           ///< lambda, row_count
    double *acceleration;                         ///< d, w_count
    double *power;                                ///< W, of loads and dampers, per mechanism
    double *director_force;                       ///< 9 per body, for the multipliers of directors
    bool *dependent;                              ///< row_count, for the choice of rows
    int failed_row;                               ///< where the last factorisation that failed did so
    pool memory;
} jet_space;

/// All joints and bodies of the system in space.
hn_status jet_space_create(hn_system *system, jet_space *jet);
/// In the plane (TAN 4.3). @return HN_INVALID_MODEL with a message that names what is not planar
hn_status jet_space_create_planar(hn_system *system, jet_space *jet);
void jet_space_destroy(jet_space *jet);

// for the two creators: body and joint tables are filled, then
hn_status jet_space_prepare(hn_system *system, jet_space *jet);
hn_status jet_space_finish(jet_space *jet);
/// A joint of the model with its rows, and the bodies a and b of the rows.
const joint *jet_source_joint(const hn_system *system, int source, int *a, int *b);

// ---- points -------------------------------------------------------------------------------------------

/// y and w of poses and velocities (12 per body each).
void jet_from_state(const jet_space *jet, const double *q, const double *v, double *y, double *w);
/// Poses and velocities of the current point.
void jet_to_state(const jet_space *jet, double *q, double *v);
/// w = H y_1
void jet_velocities(const jet_space *jet, const double *y, const double *y1, double *w);
/// y_1 = H^T w
void jet_rates(const jet_space *jet, const double *y, const double *w, double *y1);
/// y_2 = H^T d - l y (TAN, Algorithm 3.2)
void jet_second_rates(const jet_space *jet, const double *y, const double *w, const double *d, double *y2);
/// y = a + factor H(at)^T c, then theta on its sphere (TAN, Algorithm 5.3)
void jet_move(const jet_space *jet, const double *a, const double *at, double factor, const double *c, double *y);

/// The twist of a body at a pose from its velocities w, in world axes.
static inline void jet_twist_of(const jet_body *b, const double *pose, const double *w, double *twist)
{
    if (b->kind == JET_RIGID || b->kind == JET_POINT) {
        vec3_store(vec3_load(w), twist);
        vec3_store(b->kind == JET_RIGID ? pose_direction(pose, vec3_scale(2.0, vec3_load(w + 3))) : vec3(0.0, 0.0, 0.0),
                   twist + 3);
        return;
    }
    vec3_store(vec3_add_scaled(vec3_scale(w[0], b->axes[0]), w[1], b->axes[1]), twist);
    vec3_store(vec3_scale(b->kind == JET_PLANAR_RIGID ? w[2] : 0.0, b->axes[2]), twist + 3);
}

/// Make y the current point: poses. Then velocities.
void jet_set_position(jet_space *jet, const double *y);
void jet_set_velocity(jet_space *jet, const double *w);

// ---- constraints at the current point -----------------------------------------------------------------

/// g and B; largest |g| of rows that are kept, translational ones as gaps in the unit of system_gap_unit and without
/// the round-off of places.
double jet_evaluate_rows(jet_space *jet);
/// The same of one joint.
double jet_evaluate_joint(jet_space *jet, int k);
/// g and B alone.
void jet_find_rows(jet_space *jet);
/// What one of g is divided by to be measured: 1, or the joint's length, or its square.
double jet_row_unit(const jet_joint *j, int row);
/// Decide with the current B, at a point of the manifold, which rows are independent (in the metric of lengths: thin
/// bars do not blur it); the others are dropped from now on. The factors of both systems are lost. @return HN_OK or
/// HN_SINGULAR_SYSTEM
hn_status jet_choose_rows(jet_space *jet, int *dropped_count);
/// Factor the system of a metric with the current B. False: singular; `worst` is a body of the joint.
bool jet_factor(jet_space *jet, jet_metric metric, int *worst);
bool jet_factor_both(jet_space *jet, int *worst);
/// How independent the rows are: per row the part of its square that is left by the rows eliminated before, by the last
/// factors of METRIC_EUCLIDEAN and the current B; 1 for dropped rows. A squared sine, zero where constraints lose rank.
void jet_row_margins(const jet_space *jet, double *margins);
/// Joint and row (among all of them) of a row.
const jet_joint *jet_joint_of_row(const jet_space *jet, int row);
/// out = B w
void jet_apply_rows(const jet_space *jet, const double *w, double *out);
/// w <- w + factor E^-1 B^T mu, or with W in place of E^-1
void jet_add_rows_transposed(const jet_space *jet, jet_metric metric, double factor, const double *mu, double *w);
/// Solve S x = x in place, or with B W B^T; dropped rows give zero.
void jet_solve(const jet_space *jet, jet_metric metric, double *x);
/// out = second time derivative of g without accelerations: d^2 g(y_1, y_1) - dg l y
void jet_joint_bias(const jet_space *jet, int k, double *out);
/// out = change of B w when the point moves by H^T c and w stays.
void jet_rate_change(const jet_space *jet, const double *c, double *out);
void jet_joint_rate_change(const jet_space *jet, int k, const double *c, double *out);

// ---- dynamics at the current point --------------------------------------------------------------------

/// force, gradient and power.
void jet_forces(jet_space *jet, jet_moment moment);
/// Algorithm 3.2 through 5.1: acceleration and multiplier. S is factored at the current point, forces are known.
void jet_distribution(jet_space *jet, const double *w);
/// Energy of every mechanism; `scale`: sum of the sizes of its parts.
void jet_energies(const jet_space *jet, const double *w, double *energy, double *scale);
/// The fastest rate (1/s) in every mechanism, by velocities and accelerations.
void jet_mechanism_rates(const jet_space *jet, const double *w, const double *d, double *rate);
/// Take all bodies for one mechanism, whatever connects them.
void jet_join_mechanisms(jet_space *jet);
/// Lagrange multipliers of directors and joints in the public order, forces are -G^T lambda.
void jet_multipliers(const jet_space *jet, jet_moment moment, double *multipliers);

#endif
