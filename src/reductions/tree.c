// SPDX-License-Identifier: MIT
// Articulated-body recursion in its nonsymmetric form.
#include "reductions/tree.h"

#include "linalg/small_lu.h"

#include <string.h>

void tree_layout(arena *a, const hn_system *system, tree_solver *solver)
{
    size_t n = (size_t)system->body_count;
    solver->system = system;
    solver->nodes = arena_bytes(a, n * sizeof(tree_node));
    solver->twists = arena_doubles(a, TWIST_SIZE * n);
    solver->increments = arena_doubles(a, (size_t)system->dof);
    solver->edge_of = arena_ints(a, n);
    int edges = 0;
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_EDGE) edges++;
    solver->edges = arena_doubles(a, 72 * (size_t)edges);
}

void tree_number_edges(tree_solver *solver)
{
    const hn_system *system = solver->system;
    for (int i = 0; i < system->body_count; ++i) solver->edge_of[i] = -1;
    solver->edge_count = 0;
    for (int i = 0; i < system->element_count; ++i) {
        if (system->places[i] != PLACE_EDGE) continue;
        int child = system->element_edge[i];
        if (solver->edge_of[child] < 0) solver->edge_of[child] = solver->edge_count++;
    }
}

void tree_clear(tree_solver *solver)
{
    for (int i = 0; i < solver->system->body_count; ++i) {
        tree_node *node = &solver->nodes[i];
        memset(node->stiffness, 0, sizeof node->stiffness);
        memset(node->load, 0, sizeof node->load);
        memset(node->wrench, 0, sizeof node->wrench);
    }
    memset(solver->edges, 0, 72 * (size_t)solver->edge_count * sizeof(double));
}

// B^T x for a wrench x
static void project(const motion *m, const double *x, double *r)
{
    hn_vec3 force = vec3_load(x), moment = vec3_load(x + 3);
    for (int k = 0; k < m->dof; ++k)
        r[k] = vec3_dot(m->linear[k], force) + vec3_dot(m->angular[k], moment);
}

// parent += A^T x
static void add_carried(const motion *m, const double *x, double *parent)
{
    if (m->carry == CARRY_NONE) return;
    hn_vec3 force = vec3_load(x), moment = carry_moment(m, force, vec3_load(x + 3));
    vec3_store(vec3_add(vec3_load(parent), force), parent);
    vec3_store(vec3_add(vec3_load(parent + 3), moment), parent + 3);
}

void tree_residual(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state, double *r)
{
    const joint *j = &solver->system->joints[body];
    tree_node *node = &solver->nodes[body];
    joint_type_of(j->kind)->motion(j, step, state->parent_projected, state->child_projected, &node->projected);
    project(&node->projected, node->wrench, r);
}

void tree_pass_wrench(tree_solver *solver, int body)
{
    int parent = solver->system->parent[body];
    if (parent >= 0) add_carried(&solver->nodes[body].projected, solver->nodes[body].wrench, solver->nodes[parent].wrench);
}

// rows x 6 matrix times a: [I, -c^; 0, I or 0]
static void times_carry(const motion *m, int rows, double *matrix)
{
    hn_vec3 c = m->offset;
    for (int i = 0; i < rows; ++i) {
        double *row = matrix + 6 * i;
        hn_vec3 left = vec3_load(row), right = vec3_load(row + 3);
        if (m->carry == CARRY_NONE) left = right = vec3(0.0, 0.0, 0.0);
        if (m->carry == CARRY_POINT) right = vec3(0.0, 0.0, 0.0);
        // left . (omega x c) = (c x left) . omega
        vec3_store(left, row);
        vec3_store(m->carry == CARRY_NONE ? right : vec3_add(right, vec3_cross(c, left)), row + 3);
    }
}

// A^T times a 6 x 6 matrix: moment rows gain c x (force rows)
static void carry_times(const motion *m, double *matrix)
{
    for (int k = 0; k < 6; ++k) {
        hn_vec3 force = vec3(matrix[k], matrix[6 + k], matrix[12 + k]);
        hn_vec3 moment = carry_moment(m, force, vec3(matrix[18 + k], matrix[24 + k], matrix[30 + k]));
        matrix[18 + k] = moment.x;
        matrix[24 + k] = moment.y;
        matrix[30 + k] = moment.z;
    }
    if (m->carry == CARRY_NONE) memset(matrix, 0, 36 * sizeof(double));
}

// matrix (6 x 6) rows 3..5, columns `column`..: += s F^
static void add_skew(double *matrix, int column, double s, hn_vec3 f)
{
    matrix[18 + column + 1] -= s * f.z, matrix[18 + column + 2] += s * f.y;
    matrix[24 + column + 0] += s * f.z, matrix[24 + column + 2] -= s * f.x;
    matrix[30 + column + 0] -= s * f.y, matrix[30 + column + 1] += s * f.x;
}

bool tree_eliminate(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state,
                    const double *r)
{
    const hn_system *system = solver->system;
    const joint *j = &system->joints[body];
    const joint_type *type = joint_type_of(j->kind);
    tree_node *node = &solver->nodes[body];
    const motion *outer = &node->projected;
    int parent = system->parent[body], dof = outer->dof;
    const double *edge = solver->edge_of[body] < 0 ? NULL : solver->edges + 72 * (size_t)solver->edge_of[body];
    type->motion(j, step, state->parent_now, state->child_now, &node->now);
    const motion *inner = &node->now;
    hn_vec3 force = vec3_load(node->wrench), moment = vec3_load(node->wrench + 3);

    // rows B^T S + Y^c, and Y^p + B^T U
    double reduced[36], through_parent[36] = {0.0};
    for (int k = 0; k < dof; ++k)
        for (int i = 0; i < 6; ++i) {
            const double *s = node->stiffness + i;
            hn_vec3 upper = vec3(s[0], s[6], s[12]), lower = vec3(s[18], s[24], s[30]);
            reduced[6 * k + i] = vec3_dot(outer->linear[k], upper) + vec3_dot(outer->angular[k], lower);
            if (edge == NULL) continue;
            const double *u = edge + i;
            through_parent[6 * k + i] = vec3_dot(outer->linear[k], vec3(u[0], u[6], u[12])) +
                                        vec3_dot(outer->angular[k], vec3(u[18], u[24], u[30]));
        }
    if (state->weight != 0.0) {
        motion_term terms[JOINT_TERMS_MAX];
        int count = type->terms(j, step, state->parent_projected, state->child_projected, force, moment, terms);
        for (int t = 0; t < count; ++t) {
            const motion_term *term = &terms[t];
            if (!term->on_child && parent < 0) continue;
            double *row = (term->on_child ? reduced : through_parent) + 6 * term->row;
            hn_vec3 x = pose_direction(term->on_child ? state->child_now : state->parent_now, term->local);
            hn_vec3 turn = vec3_cross(x, term->z);
            vec3_store(vec3_add_scaled(vec3_load(row), state->weight * term->phi_coefficient, term->z), row);
            vec3_store(vec3_add_scaled(vec3_load(row + 3), state->weight, turn), row + 3);
        }
    }

    // (T2)
    for (int i = 0; i < dof; ++i) {
        hn_vec3 upper = vec3_load(reduced + 6 * i), lower = vec3_load(reduced + 6 * i + 3);
        for (int k = 0; k < dof; ++k)
            node->pivots[dof * i + k] = vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    if (!small_lu_factor(dof, dof, node->pivots, node->exchange)) return false;

    // (T3)
    double right[6];
    project(outer, node->load, right);
    for (int k = 0; k < dof; ++k) node->step[k] = -(r[k] + right[k]);
    small_lu_solve(dof, dof, node->pivots, node->exchange, 1, 1, node->step);
    if (parent < 0) return true;
    times_carry(inner, dof, reduced);
    for (int k = 0; k < 6 * dof; ++k) node->gain[k] = reduced[k] + through_parent[k];
    small_lu_solve(dof, dof, node->pivots, node->exchange, 6, 6, node->gain);

    // (T4)
    tree_node *above = &solver->nodes[parent];
    double carried[36];
    memcpy(carried, node->stiffness, sizeof carried);
    carry_times(outer, carried);
    if (state->weight != 0.0 && outer->carry == CARRY_RIGID) {
        // A^T W has the moment M + c x F with c = phi_c - phi_p
        add_skew(carried, 0, -state->weight, force);
        add_skew(above->stiffness, 0, state->weight, force);
    } else if (state->weight != 0.0 && outer->carry == CARRY_POINT) {
        // c = rho_p: delta c x F = rho (F . omega) - (rho . F) omega
        hn_vec3 rho = pose_direction(state->parent_now, joint_parent_arm(j));
        double dot = vec3_dot(rho, force), w = state->weight;
        const double x[3] = {rho.x, rho.y, rho.z}, f[3] = {force.x, force.y, force.z};
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k)
                above->stiffness[6 * (3 + i) + 3 + k] += w * (x[i] * f[k] - (i == k ? dot : 0.0));
    }
    if (edge != NULL) {
        double lifted[36];
        memcpy(lifted, edge, sizeof lifted);
        carry_times(outer, lifted);
        for (int k = 0; k < 36; ++k) carried[k] += edge[36 + k], above->stiffness[k] += lifted[k];
    }
    for (int i = 0; i < 6; ++i) {
        hn_vec3 upper = vec3_load(carried + 6 * i), lower = vec3_load(carried + 6 * i + 3);
        for (int k = 0; k < dof; ++k)
            node->lift[dof * i + k] = vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    times_carry(inner, 6, carried);
    add_carried(outer, node->load, above->load);
    for (int i = 0; i < 6; ++i) {
        double *to = above->stiffness + 6 * i;
        for (int k = 0; k < 6; ++k) to[k] += carried[6 * i + k];
        for (int d = 0; d < dof; ++d) {
            double factor = node->lift[dof * i + d];
            for (int k = 0; k < 6; ++k) to[k] -= factor * node->gain[6 * d + k];
            above->load[i] += factor * node->step[d];
        }
    }
    return true;
}

void tree_substitute(tree_solver *solver)
{
    const hn_system *system = solver->system;
    for (int i = 0; i < system->body_count; ++i) {
        const tree_node *node = &solver->nodes[i];
        const motion *m = &node->now;
        double *u = solver->increments + system->dof_offset[i], *t = solver->twists + TWIST_SIZE * (size_t)i;
        hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = vec3(0.0, 0.0, 0.0);
        for (int d = 0; d < m->dof; ++d) u[d] = node->step[d];
        if (system->parent[i] >= 0) {
            const double *p = solver->twists + TWIST_SIZE * (size_t)system->parent[i];
            for (int d = 0; d < m->dof; ++d)
                for (int k = 0; k < 6; ++k) u[d] -= node->gain[6 * d + k] * p[k];
            hn_vec3 turn = vec3_load(p + 3);
            if (m->carry != CARRY_NONE) v = vec3_add(vec3_load(p), vec3_cross(turn, m->offset));
            if (m->carry == CARRY_RIGID) omega = turn;
        }
        for (int d = 0; d < m->dof; ++d) {
            v = vec3_add_scaled(v, u[d], m->linear[d]);
            omega = vec3_add_scaled(omega, u[d], m->angular[d]);
        }
        vec3_store(v, t);
        vec3_store(omega, t + 3);
    }
}

void tree_solve(tree_solver *solver, const double *residuals, double *load)
{
    const hn_system *system = solver->system;
    for (int i = system->body_count - 1; i >= 0; --i) {
        tree_node *node = &solver->nodes[i];
        double *s = load + TWIST_SIZE * (size_t)i;
        int dof = node->projected.dof, parent = system->parent[i];
        project(&node->projected, s, node->step);
        for (int d = 0; d < dof; ++d)
            node->step[d] = -node->step[d] - (residuals == NULL ? 0.0 : residuals[system->dof_offset[i] + d]);
        small_lu_solve(dof, dof, node->pivots, node->exchange, 1, 1, node->step);
        if (parent < 0) continue;
        double *above = load + TWIST_SIZE * (size_t)parent;
        add_carried(&node->projected, s, above);
        for (int k = 0; k < 6; ++k)
            for (int d = 0; d < dof; ++d) above[k] += node->lift[dof * k + d] * node->step[d];
    }
    tree_substitute(solver);
}
