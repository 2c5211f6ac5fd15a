// SPDX-License-Identifier: MIT
// Self-stresses of closed loops for `ggl-variational`: the combinations of rows that (L5) leaves out at q_bar.
// Note: docs/theory/ggl-variational.md
//
// Round a loop of bodies without loads every joint transmits the same wrench F. F is a self-stress when each joint can
// transmit it: with R_j the rows of joint j as wrenches on its body b, about one point, and S_j what R_j leaves free,
//
//   (G6)  sum_j P_j F = 0,  P_j = 1 - R_j^+ R_j the projector on S_j;     (G7)  N_j = +-(R_j^+)^T F,  R_j^T N_j = +-F
//
// signs by the way round. N = (N_j) is a left null vector of the joint rows at q_n. With one column N for every
// self-stress the step is
//
//   (G8)  G(q_bar) W = N mu,  N^T gamma' = 0   and in (G1) the force  X = d(mu . N(q)^T gamma')/dq  at q_n,
//
// what the discrete action gives when N depends on q_n. With twists t of the bodies on the loop for which
// R_j (t_b - t_a) = gamma'_j, which exist because of N^T gamma' = 0,
//
//   (G9)  X = -d((N mu)^T G(q) P_int(q) t)/dq   with N, mu and t fixed.
#ifndef SCHEMES_GGL_STRESS_H
#define SCHEMES_GGL_STRESS_H

#include "reductions/joint_blocks.h"

/// One constraint row of the solver and where it stands.
typedef struct ggl_row {
    constraint_row row;
    int a, b;      ///< bodies or GROUND
    int node;      ///< block
    int primary;   ///< place of lambda' and (G4) in the block; of a spread row: mu and N^T gamma'
    int secondary; ///< place of gamma' and (G5)
    int joint;     ///< joint in the order of joint_blocks, -1: internal
    int index;     ///< row of the joint
    int report;    ///< place among all constraints in the order of the public API
    bool dropped;  ///< not an equation of the primary level, lambda' = 0
    bool spread;   ///< dropped there, and on the secondary level N takes its place
} ggl_row;

/// One joint of a loop: R_j, R_j^+ and N_j.
typedef struct stress_joint {
    int first, count; ///< rows
    int from, to;     ///< bodies on the way round, or GROUND
    double sign;      ///< 1: from a to b
    double rows[JOINT_ROWS_MAX][TWIST_SIZE];
    double inverse[TWIST_SIZE][JOINT_ROWS_MAX];
    double unit[JOINT_ROWS_MAX]; ///< rows about angles are multiplied by a length in (G6) to (G9): all are in metres
    double stress[JOINT_ROWS_MAX][TWIST_SIZE]; ///< columns: one for each self-stress; for rows in their own unit
} stress_joint;

/// One loop.
typedef struct stress_loop {
    stress_joint *joints; ///< the one in front carries mu
    int joint_count;
    int count;            ///< self-stresses that replace rows of the joint in front; 0: none, rows are dropped
    bool lost;            ///< in this step
    int row[TWIST_SIZE];  ///< rows of that joint that are spread, one for each
    double mu[TWIST_SIZE];
    double freedom[TWIST_SIZE][TWIST_SIZE]; ///< generalised inverse of sum P_j
    hn_vec3 point;        ///< m, about which wrenches and twists are taken
} stress_loop;

typedef struct ggl_stress {
    stress_loop *loops;
    int loop_count;
    stress_joint *joints; ///< of all loops
    double *twists;       ///< 6 per body, of one loop at a time
} ggl_stress;

/// With memory of the pool.
hn_status ggl_stress_create(pool *memory, const hn_system *system, const joint_blocks *blocks, const ggl_row *rows,
                            int row_count, ggl_stress *stress);

/// A step begins: no self-stress has been lost.
void ggl_stress_begin(ggl_stress *stress);

/// (G6), (G7) at q, a configuration on the manifold. `rows` come with the rows dropped that a rank decision over the
/// whole system names. Where a loop has self-stresses of its own, at least as many, they choose the rows of its joint
/// in front and these become spread; elsewhere the rows stay dropped.
void ggl_stress_find(const hn_system *system, ggl_stress *stress, const double *q, ggl_row *rows);

/// Are spread rows violated at q by more than round-off explains? The loops they belong to have then lost their
/// self-stress within the step, and ggl_stress_find leaves them alone.
bool ggl_stress_lost(const hn_system *system, ggl_stress *stress, const double *q, const ggl_row *rows);

/// N mu by row, zero where there is none.
void ggl_stress_excess(const ggl_stress *stress, int row_count, double *excess);

/// The force X of (G9), 12 per body.
void ggl_stress_force(const hn_system *system, ggl_stress *stress, const double *q, const ggl_row *rows,
                      const double *gamma, double *force);

#endif
