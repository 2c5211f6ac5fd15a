// SPDX-License-Identifier: MIT
// The sparse saddle-point system of a step, for any topology: coordinates of bodies and multipliers of all
// constraints.
// Note: docs/theory/multipliers.md
//
//   [ drho/dq + sigma w d(G(q_w)^T lambda)/dq_w    sigma G(q_w)^T ] [delta q     ]
//   [ G(q)                                          0             ] [delta lambda] = -residual                 (M2)
//
// Solved with rows of the first kind divided by alpha m* and mu = sigma lambda/(alpha m*), m* the largest mass of the
// mechanism: the conditioning then does not depend on the step. The matrix is sparse in blocks. A body with its
// internal multipliers is a node; the multipliers of a joint that lies on no loop belong to the child's node,
// those of a joint on a loop are a node of their own that is eliminated after its two bodies: whatever has been
// eliminated is then a part of the mechanism with its own constraints, which have been chosen to be independent.
#ifndef REDUCTIONS_SADDLE_H
#define REDUCTIONS_SADDLE_H

#include "reductions/independent_rows.h"
#include "reductions/reduction.h"

typedef struct saddle saddle;
typedef row_choice saddle_choice;

/// The system in twelve coordinates per body with internal constraints, or in twists (v, omega) of bodies that stay
/// rigid. With twists the iterate starts on the manifold of the tree and moves on it; constraint rows are then
/// taken as G(q_mid) Delta, which is known to relative accuracy, instead of g(q): constraint forces do no work, not
/// even by round-off.
typedef enum saddle_level { SADDLE_COORDINATES, SADDLE_TWISTS } saddle_level;

hn_status saddle_create(hn_system *system, saddle_level level, saddle **out);
/// The system in twists of bodies that move each for itself.
hn_status saddle_create_apart(hn_system *system, saddle **out);
/// The same with rows as the user has bodies a and b of the joints.
hn_status saddle_create_as_defined(hn_system *system, saddle **out);
/// The system in twists for statics (`row_factor` of the equations): a body without inertia and stiffness of its own
/// cannot be eliminated before what holds it, and joints lend it some (C9).
hn_status saddle_create_for_statics(hn_system *system, saddle **out);
void saddle_destroy(saddle *s);
/// Do bodies move each for itself?
bool saddle_is_apart(const saddle *s);
const hn_system *saddle_system(const saddle *s);

/// Decide which rows of joints on loops are independent at q, a configuration on the manifold. All rows are kept
/// where there are no loops. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status saddle_choose_rows(saddle *s, const double *q, saddle_choice *choice);
/// The choice of last time once more; where there is none it is made.
hn_status saddle_keep_rows(saddle *s, const double *q, saddle_choice *choice);
/// Was row `row` of a joint dropped in the last choice? Joints are counted as tree joints by body, then cut joints.
bool saddle_row_is_dropped(const saddle *s, int joint_index, int row);
/// Do the rows of loops that are equations hold at the iterate, beyond what its last increment promises? Near a
/// singular position they may not, where rows of tree joints are left out of the matrix.
bool saddle_rows_hold(const saddle *s, const step_data *step);
/// Where bodies move each for itself: are the joints themselves closed at the iterate?
bool saddle_joints_hold(const saddle *s, const step_data *step);
/// Put back the dropped rows that q violates by more than round-off explains: the rank went up within the step. False
/// when there are none.
bool saddle_restore_rows(saddle *s, const double *q);
/// Put back the dropped rows that are independent at q, an iterate that nearly closes the loops. False when there are
/// none, as far as fewer than `dropped_count` are found dependent there.
bool saddle_restore_rank(saddle *s, const double *q, int dropped_count);

/// Take the gradients of constraints in the matrix at poses with this part of q_n, the rest of the iterate: 0 is the
/// exact tangent. Near a solution where that is singular a small part keeps the iterate from moving at random.
void saddle_freeze(saddle *s, double part);

/// Multipliers to zero.
void saddle_clear_multipliers(saddle *s);
/// Assemble matrix and residual at the iterate.
void saddle_assemble(saddle *s, const step_equations *equations, const step_data *step);
/// The residual alone, for a solution with the factors of an earlier iterate.
void saddle_assemble_residual(saddle *s, const step_equations *equations, const step_data *step);
/// Size of the assembled residual: of every body relative to its own terms and what its joints transmit, of every row
/// relative to its bodies' length.
typedef struct saddle_residual {
    double largest;
    int worst_body; ///< where that is
    double reached; ///< less where places far out are known to fewer digits: of round-off it is as small everywhere
} saddle_residual;
saddle_residual saddle_residual_size(const saddle *s, const step_data *step);
/// Before that, for a report: what round-off of coordinates leaves counts as a term that cancels (measures.h).
void saddle_allow_round_off(saddle *s, const step_equations *equations, const step_data *step);
/// Factor and solve: increments are ready. False when singular at body `worst_body`.
bool saddle_solve(saddle *s, int *worst_body);
/// Solve with the factors at hand.
void saddle_solve_again(saddle *s);
/// Add the increments of the multipliers.
void saddle_apply_multipliers(saddle *s);
/// Change of a body in the last solution: twelve coordinates or six numbers of a twist.
void saddle_body_increment(const saddle *s, int body, double *change);
/// Move the bodies by the last solution, each for itself: a `saddle_move` of systems in twists.
double saddle_move_bodies(const saddle *s, step_data *step);
/// After a step: put them back on all constraints, from which they are off by round-off.
void saddle_settle_bodies(saddle *s, step_data *step);
/// Smallest change (in the metric of the last matrix) of the coordinates that puts the poses q back on all
/// constraints
/// to first order, with the last factors: ready for saddle_body_increment. False when the last matrix was singular.
bool saddle_solve_constraints(saddle *s, const double *q);
/// sigma lambda of the cut joints into step->closure.
void saddle_store_closure(const saddle *s, const step_equations *equations, const step_data *step);

/// Momenta p (12 per body) projected on the motions all joints allow at q: twists (6 per body) with
/// M t + G^T mu = P_int^T p, G t = 0 (LMO 16). SADDLE_TWISTS only. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status saddle_project(saddle *s, const double *q, const double *p, double *twists);
/// Factor the mass matrix with the independent rows at q, and project with these factors as often as wanted.
hn_status saddle_factor_mass(saddle *s, const double *q);
void saddle_project_again(saddle *s, const double *q, const double *p, double *twists);

/// A rate of up to three bodies by their twists, and what acts on it.
typedef struct rate_row {
    int body[3]; ///< or GROUND
    double on[3][6];
    double strength; ///< h c, kg or kg m^2
    double inertia;  ///< of a rotor that moves with it, likewise
} rate_row;
/// Factor the mass matrix with the rotors of rows, and their dampers if `damped`, with the independent rows of joints
/// at q.
/// @return HN_OK or HN_SINGULAR_SYSTEM
hn_status saddle_factor_rates(saddle *s, const double *q, const rate_row *rows, int count, bool damped);
/// With these factors: twists (6 per body) that wrenches (6 per body) make.
void saddle_solve_wrenches(saddle *s, const double *wrenches, double *twists);

/// Multipliers of joints to and from memory of the caller: `saddle_multiplier_count` numbers.
int saddle_multiplier_count(const saddle *s);
void saddle_keep_multipliers(const saddle *s, double *to);
void saddle_take_multipliers(saddle *s, const double *from);

// ---- statics: of the matrix that was assembled last

/// A number to divide the equations by, 1/s^2: the largest stiffness, or load over length, of any body over the
/// mass of its mechanism. Assembled with row_factor 1. `of_bodies`: the same of each body alone, or zero.
double saddle_stiffness_scale(const saddle *s, double *of_bodies);
/// Joints lend their bodies stiffness of the size that these have, in parts of what the equations are divided by; at
/// first nothing.
void saddle_lend(saddle *s, const double *stiffness);
/// That of a body, as far as elimination keeps its digits beside stiffer ones; where it has none, of its neighbours.
double saddle_local_stiffness(const saddle *s, int body);
/// The largest force on a body, or moment over `length`, that is not balanced, N.
double saddle_unbalanced_force(const saddle *s, const step_equations *equations, double length);
/// Negative eigenvalues of the tangent on the motions that the joints allow, if it is symmetric; -1: it is singular.
/// Leaves no factors.
int saddle_count_negative(saddle *s);
/// How far blocks of bodies are from symmetric, as a force by angle or by part of `length`, N: zero where loads
/// have a potential.
double saddle_asymmetry(const saddle *s, const step_equations *equations, double length);
/// Make them symmetric: what a moment that is not in equilibrium leaves out.
void saddle_symmetrise(saddle *s);
/// Add so much of its local stiffness to every motion of a body, rotations at `length`.
void saddle_shift(saddle *s, double part, double length);
/// Factor; false when singular at body `worst_body`.
bool saddle_factor(saddle *s, int *worst_body);

/// The mass matrix with the rows as they were chosen, forces at the middle of two poses and motions at the second
/// one:
/// M t + G(q_mid)^T mu = P_int(q_mid)^T p, G(q) (P_int t + v) = 0 with velocities v, 12 per body. SADDLE_TWISTS only.
/// @return HN_OK or HN_SINGULAR_SYSTEM
hn_status saddle_project_between(saddle *s, const double *q_start, const double *q, const double *p, const double *v,
                                 double *twists);
/// Joint `index` (tree joints by body, then cut joints) and the multipliers mu of its rows in that solution.
const joint_place *saddle_joint(const saddle *s, int index, double *multipliers);
int saddle_joint_count(const saddle *s);
/// Where its rows and its multipliers stand.
const joint_place *saddle_place(const saddle *s, int index);

// ---- for tests of the tangent: unknowns of bodies, then of joints as joint_blocks.h has them

int saddle_size(const saddle *s);
/// As if that was the last solution.
void saddle_take_solution(saddle *s, const double *solution);
/// What was assembled last: right side and dense row-major matrix.
void saddle_read(const saddle *s, double *residual, double *matrix);

/// Accelerations (12 per body) at q with velocities v under generalised forces: M a + G^T lambda = force,
/// G a + (dG/dt) v = 0. SADDLE_COORDINATES only. @return HN_OK or HN_SINGULAR_SYSTEM
hn_status saddle_accelerations(saddle *s, const double *q, const double *v, const double *force, double *acceleration);

/// A second derivative of the constraints: factor H(x, y) with motions x, y, 12 per body.
typedef struct saddle_pair {
    double factor;
    const double *x, *y;
} saddle_pair;
/// With the factors of saddle_factor_mass: M x + G^T lambda = force (NULL: none), G x = -(sum of the pairs).
/// `multipliers`
/// (or NULL): INTERNAL_ROWS per body, then saddle_multiplier_count. SADDLE_COORDINATES only.
void saddle_solve_motion(saddle *s, const double *force, const saddle_pair *pairs, int pair_count, double *x,
                         double *multipliers);
/// Those of cut joints, in the order of step_data.closure.
void saddle_closure_of(const saddle *s, const double *multipliers, double *closure);
/// to += the change of G^T lambda by the motion x: sum of lambda_r H_r x.
void saddle_add_curved_forces(const saddle *s, const double *multipliers, const double *x, double *to);

/// Unscaled tangent d(rho + sigma G^T lambda)/dq at the solved step with its multipliers: coordinate_count squared,
/// row-major, bodies in tree order. Allocates.
hn_status saddle_stiffness(saddle *s, const step_equations *equations, const step_data *step, double *stiffness);

#endif
