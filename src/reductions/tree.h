// SPDX-License-Identifier: MIT
// Linear-time elimination on the tree: the articulated-body recursion in its nonsymmetric form.
//
// For body c with parent p (docs/theory/reduced.md):
//
//   (T1)  delta W_c = S_c delta t_c + U_c delta t_p + s_c           S starts as K_c, s as 0, U is an elastic edge
//   (T2)  H = (B^T S + Y^c) b, and what belongs to the joint's own freedoms alone
//   (T3)  k = -H^-1 (r_c + B^T s),   L = H^-1 ((B^T S + Y^c) a + Y^p + B^T U)
//   (T4)  S_p += (A^T S + X^c + K_pc)(a - b L) + A^T U + X^p
//         s_p += (A^T S + X^c + K_pc) b k + A^T s
//   (T5)  delta u_c = k - L delta t_p,   delta t_c = a delta t_p + b delta u_c
//
// A, B: twist rule where the residual is projected; a, b: at the iterate; X, Y: derivatives of A^T W and B^T W.
//
// Twists and wrenches of a body belong to its reference point P: the centre of mass in general, the joint point where
// the child only turns about it ("pivot": revolute and spherical joints without an elastic edge). There the rule is
//
//   (T6)  A = [I, -c^; 0, I or 0],  c = P_c - P_p fixed in the parent,   B = [0; n] or [0; 1],   X^c = Y^p = 0
//         X^p = w (c F^T - (c . F) 1) for rotations,   Y^c = w (n x M)^T for rotations and an axis n fixed in the child
//
// so that a revolute joint needs no matrix product and a spherical one only blocks of three.
#ifndef REDUCTIONS_TREE_H
#define REDUCTIONS_TREE_H

#include "base/arena.h"
#include "system/step.h"

/// What the sweep inward collects for a body, from its children and from itself.
typedef struct tree_node {
    double stiffness[36]; ///< S, row-major
    double load[6];       ///< s
    double wrench[6];     ///< W
} tree_node;

/// What the sweeps need of a body and its joint, in one place.
typedef struct tree_body {
    int parent;           ///< or GROUND
    pivot_kind pivot;
    int node;             ///< place in `nodes`; two bodies share one where they do not need it at the same time
    int general;          ///< place in `generals` of a body without pivot
    int dof_offset;
    bool leaf;            ///< no child
    bool first;           ///< first child of its parent to be eliminated
    bool rigid;           ///< not a point mass
    double inertia[4];    ///< m, E1, E2, E3
    hn_vec3 reference;    ///< P - phi in the body's directors
    hn_vec3 axis;         ///< n in the body's directors
    hn_vec3 lever;        ///< c = P - P_p in the parent's directors
} tree_body;

/// Factors of a pivot: what the sweep outward needs.
typedef struct tree_factor {
    hn_vec3 lever; ///< c
    union {
        struct {
            hn_vec3 on_v, on_omega; ///< axis: L = (on_v, on_omega) a
            hn_vec3 axis;           ///< n
        };
        hn_vec3 rows[3];            ///< free pivot: L = (rows, 1) a
    };
    double step[3]; ///< k
    double unused;  ///< fills two cache lines
} tree_factor;

/// What a further right-hand side needs of a pivot.
typedef struct tree_memory {
    hn_vec3 lever; ///< c where the residual is projected
    union {
        struct {
            hn_vec3 axis;                       ///< n where the residual is projected
            double axis_inverse, axis_lift[6];  ///< H^-1, S b
        };
        struct {
            double inverse[9], lift[9];         ///< free pivot: H^-1, S b (forces alone)
        };
    };
} tree_memory;

/// From the centre of mass of a body with a pivot to its reference point.
typedef struct tree_arm {
    hn_vec3 now, projected; ///< P - phi at the iterate and where the residual is projected
} tree_arm;

/// Factors of any other joint: what the sweep outward needs.
typedef struct tree_general {
    motion now;      ///< a, b
    double gain[36]; ///< L, dof x 6
    double step[6];  ///< k
} tree_general;

/// And what a further right-hand side needs.
typedef struct tree_general_memory {
    motion projected;  ///< A, B
    double pivots[36]; ///< LU of H
    double lift[36];   ///< (A^T S + X^c + K_pc) b, 6 x dof
    int exchange[6];
} tree_general_memory;

typedef struct tree_solver {
    const hn_system *system;
    bool pivots;          ///< reference points at pivots and shared nodes; to be set before the layout
    bool keep;            ///< fill `arms`: for loads and twists of centres of mass
    bool inertia_alone;   ///< elements have no part: joints with elastic edges are as others; likewise
    tree_body *bodies;    ///< per body
    tree_node *nodes;
    tree_factor *factors; ///< per body
    tree_memory *memories;///< per body
    tree_arm *arms;       ///< per body; NULL without `keep`
    tree_general *generals;
    tree_general_memory *general_memories; ///< per general
    double *twists;       ///< delta t, 6 per body, of the reference points
    double *increments;   ///< delta u, dof
    const double *own;    ///< JOINT_DOF_MAX times dof: what is added to H of each joint, row by row; NULL: nothing
    double *edges;        ///< U and K_pc, 72 per edge
    int *edge_of;         ///< per body: place in `edges`, or -1
    int edge_count;
} tree_solver;

/// Lay the solver out in an arena (count, then place).
void tree_layout(arena *a, const hn_system *system, tree_solver *solver);
/// Number the elastic edges, choose reference points and nodes; call once after placing.
void tree_number_edges(tree_solver *solver);

/// Zero all that is collected.
void tree_clear(tree_solver *solver);

/// What a body's elimination needs beside its node.
typedef struct tree_joint_state {
    const double *parent_now, *child_now;             ///< poses of the iterate
    const double *parent_projected, *child_projected; ///< poses q_w
    double weight;                                    ///< w: 0 means no X and Y
} tree_joint_state;

/// Residual r = B^T W of body c, without pivot; its projected twist rule is stored.
void tree_residual(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state, double *r);
/// Pass the wrench of such a body on to its parent.
void tree_pass_wrench(tree_solver *solver, int body);
/// Eliminate body c, without pivot, with residual r. False when H is singular.
bool tree_eliminate(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state,
                    const double *r);

/// Poses of a pivot's bodies: iterate q and change Delta since t_n, of the parent and of the child.
typedef struct tree_pivot_state {
    const double *parent_now, *parent_delta;
    const double *child_now, *child_delta;
    double weight; ///< w
} tree_pivot_state;

/// Of a body without pivot, with its residual r: the load passed on.
void tree_repeat(tree_solver *solver, int body, const double *r);

/// Root to leaves (T5): increments, and twists of the centres of mass.
void tree_substitute(tree_solver *solver);
/// With the factors in place: solve for another residual r (dof, NULL: zero) and load s (6 per body about the centres
/// of mass, overwritten); increments and twists of the centres of mass are set. Needs `keep`.
void tree_solve(tree_solver *solver, const double *residuals, double *load);

/// (T5) for some bodies, with each its parent, in ascending order; twists are theirs.
void tree_substitute_some(tree_solver *solver, const int *bodies, int count);
/// The steps k of some bodies for a load that acts on them alone, which is overwritten: a column of `steps`, of which
/// there are `columns` beside each other, JOINT_DOF_MAX rows of them per body.
void tree_load_some(tree_solver *solver, const int *bodies, int count, int columns, double *load, double *steps);
/// (T5) for all of these columns at once: TWIST_SIZE rows of them per body. `place`: of a body among these.
void tree_substitute_columns(tree_solver *solver, const int *bodies, const int *place, int count, int columns,
                             const double *steps, double *twists);

static inline tree_general_memory *tree_memory_of(const tree_solver *solver, const tree_body *b)
{
    return &solver->general_memories[b->general];
}

/// (T5) of one body after its parent; the twist is that of its reference point.
void tree_substitute_general(tree_solver *solver, int body);

static inline void tree_substitute_body(tree_solver *solver, int body)
{
    const tree_body *b = &solver->bodies[body];
    const tree_factor *f = &solver->factors[body];
    double *t = solver->twists + TWIST_SIZE * (size_t)body, *u = solver->increments + b->dof_offset;
    if (b->pivot == PIVOT_NONE) {
        tree_substitute_general(solver, body);
        return;
    }
    hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = v;
    if (b->parent >= 0) {
        const double *p = solver->twists + TWIST_SIZE * (size_t)b->parent;
        omega = vec3_load(p + 3);
        v = vec3_add(vec3_load(p), vec3_cross(omega, f->lever));
    }
    if (b->pivot == PIVOT_AXIS) {
        u[0] = f->step[0] - vec3_dot(f->on_v, v) - vec3_dot(f->on_omega, omega);
        omega = vec3_add_scaled(omega, u[0], f->axis);
    } else {
        for (int k = 0; k < 3; ++k) u[k] = f->step[k] - vec3_dot(f->rows[k], v);
        omega = vec3_load(u);
    }
    vec3_store(v, t);
    vec3_store(omega, t + 3);
}

#endif
