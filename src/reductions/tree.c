// SPDX-License-Identifier: MIT
// Articulated-body recursion in its nonsymmetric form.
#include "reductions/tree_pivots.h"

#include "linalg/small_lu.h"
#include "system/mass.h"

#include <string.h>

// ---- layout -----------------------------------------------------------------------------------------

void tree_layout(arena *a, const hn_system *system, tree_solver *solver)
{
    size_t n = (size_t)system->body_count;
    int edges = 0, generals = 0;
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_EDGE && !solver->inertia_alone) edges++;
    for (int i = 0; i < system->body_count; ++i)
        if (!solver->pivots || joint_pivot(&system->joints[i]) == PIVOT_NONE) generals++;
    generals += edges; // a joint with an elastic edge is no pivot
    solver->system = system;
    solver->bodies = arena_bytes(a, n * sizeof(tree_body));
    solver->nodes = arena_bytes(a, n * sizeof(tree_node));
    solver->factors = arena_bytes(a, n * sizeof(tree_factor));
    solver->memories = arena_bytes(a, n * sizeof(tree_memory));
    solver->arms = solver->keep ? arena_bytes(a, n * sizeof(tree_arm)) : NULL;
    solver->generals = arena_bytes(a, (size_t)generals * sizeof(tree_general));
    solver->general_memories = arena_bytes(a, (size_t)generals * sizeof(tree_general_memory));
    solver->twists = arena_doubles(a, TWIST_SIZE * n);
    solver->increments = arena_doubles(a, (size_t)system->dof);
    solver->edge_of = arena_ints(a, n);
    solver->edges = arena_doubles(a, 72 * (size_t)edges);
}

// A node is needed from the elimination of the first child to that of the body itself. The one returned last is taken
// next, so that a chain makes do with two that stay in the cache. Where elements add to nodes, each body has its own.
static void assign_nodes(tree_solver *solver)
{
    int n = solver->system->body_count, used = 0, free_count = 0;
    bool shared = solver->pivots && (solver->inertia_alone || solver->system->element_count == 0);
    int *free_nodes = (int *)(void *)solver->twists; // not in use yet
    for (int i = 0; i < n; ++i) solver->bodies[i].node = -1;
    for (int i = n - 1; i >= 0; --i) {
        tree_body *b = &solver->bodies[i], *p = b->parent < 0 ? NULL : &solver->bodies[b->parent];
        b->leaf = b->node < 0;
        if (b->leaf) b->node = !shared ? i : free_count > 0 ? free_nodes[--free_count] : used++;
        b->first = p != NULL && p->node < 0;
        if (b->first)
            p->node = !shared ? b->parent : free_count > 0 ? free_nodes[--free_count] : used++;
        if (shared) free_nodes[free_count++] = b->node;
    }
    memset(solver->twists, 0, TWIST_SIZE * (size_t)n * sizeof(double));
}

void tree_number_edges(tree_solver *solver)
{
    const hn_system *system = solver->system;
    for (int i = 0; i < system->body_count; ++i) solver->edge_of[i] = -1;
    solver->edge_count = 0;
    for (int i = 0; i < system->element_count; ++i) {
        if (system->places[i] != PLACE_EDGE || solver->inertia_alone) continue;
        int child = system->element_edge[i];
        if (solver->edge_of[child] < 0) solver->edge_of[child] = solver->edge_count++;
    }
    int general = 0;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const hn_vec3 none = {0.0, 0.0, 0.0};
        bool pivot = solver->pivots && solver->edge_of[i] < 0 && joint_pivot(j) != PIVOT_NONE;
        hn_vec3 parent_reference = j->parent < 0 ? none : solver->bodies[j->parent].reference;
        tree_body *b = &solver->bodies[i];
        *b = (tree_body){.parent = j->parent,
                         .pivot = pivot ? joint_pivot(j) : PIVOT_NONE,
                         .general = pivot ? -1 : general++,
                         .dof_offset = system->dof_offset[i],
                         .rigid = system->bodies[i].has_directors,
                         .reference = pivot ? joint_child_arm(j) : none,
                         .axis = joint_child_frame(j)[2],
                         .lever = vec3_subtract(joint_parent_arm(j), parent_reference)};
        memcpy(b->inertia, mass_node(system, i), sizeof b->inertia);
    }
    assign_nodes(solver);
}

void tree_clear(tree_solver *solver)
{
    memset(solver->nodes, 0, (size_t)solver->system->body_count * sizeof(tree_node));
    memset(solver->edges, 0, 72 * (size_t)solver->edge_count * sizeof(double));
}

// ---- any joint --------------------------------------------------------------------------------------

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

// The twist rule from the parent's reference point.
static void motion_of(const tree_solver *solver, int body, const joint_step *step,
                      const double *parent, const double *child, motion *m)
{
    const joint *j = &solver->system->joints[body];
    joint_type_of(j->kind)->motion(j, step, parent, child, m);
    if (j->parent >= 0 && m->carry != CARRY_NONE)
        m->offset =
            vec3_subtract(m->offset, pose_direction(parent, solver->bodies[j->parent].reference));
}

void tree_residual(tree_solver *solver, int body, const joint_step *step,
                   const tree_joint_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    motion *projected = &tree_memory_of(solver, b)->projected;
    motion_of(solver, body, step, state->parent_projected, state->child_projected, projected);
    project(projected, solver->nodes[b->node].wrench, r);
}

void tree_pass_wrench(tree_solver *solver, int body)
{
    const tree_body *b = &solver->bodies[body];
    if (b->parent < 0) return;
    add_carried(&tree_memory_of(solver, b)->projected, solver->nodes[b->node].wrench,
                solver->nodes[solver->bodies[b->parent].node].wrench);
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
        hn_vec3 moment =
            carry_moment(m, force, vec3(matrix[18 + k], matrix[24 + k], matrix[30 + k]));
        matrix[18 + k] = moment.x;
        matrix[24 + k] = moment.y;
        matrix[30 + k] = moment.z;
    }
    if (m->carry == CARRY_NONE) memset(matrix, 0, 36 * sizeof(double));
}

// matrix (6 x 6) rows 3..5, columns 0..2: += s F^
static void add_skew(double *matrix, double s, hn_vec3 f)
{
    matrix[18 + 1] -= s * f.z, matrix[18 + 2] += s * f.y;
    matrix[24 + 0] += s * f.z, matrix[24 + 2] -= s * f.x;
    matrix[30 + 0] -= s * f.y, matrix[30 + 1] += s * f.x;
}

// U and K_pc of a body's edge, or NULL
static const double *edge_of(const tree_solver *solver, int body)
{
    return solver->edge_of[body] < 0 ? NULL : solver->edges + 72 * (size_t)solver->edge_of[body];
}

// Rows B^T S + Y^c of body c, and Y^p + B^T U.
static void projected_rows(const tree_solver *solver, int body, const joint_step *step,
                           const tree_joint_state *state, double *own, double *through_parent)
{
    const tree_body *b = &solver->bodies[body];
    const joint *j = &solver->system->joints[body];
    const tree_node *node = &solver->nodes[b->node];
    const motion *outer = &tree_memory_of(solver, b)->projected;
    const double *edge = edge_of(solver, body);
    for (int k = 0; k < outer->dof; ++k)
        for (int i = 0; i < 6; ++i) {
            const double *s = node->stiffness + i;
            hn_vec3 upper = vec3(s[0], s[6], s[12]), lower = vec3(s[18], s[24], s[30]);
            own[6 * k + i] = vec3_dot(outer->linear[k], upper) + vec3_dot(outer->angular[k], lower);
            if (edge == NULL) continue;
            const double *u = edge + i;
            through_parent[6 * k + i] = vec3_dot(outer->linear[k], vec3(u[0], u[6], u[12])) +
                                        vec3_dot(outer->angular[k], vec3(u[18], u[24], u[30]));
        }
    if (state->weight == 0.0) return;
    motion_term terms[JOINT_TERMS_MAX];
    int count =
        joint_type_of(j->kind)->terms(j, step, state->parent_projected, state->child_projected,
                                      vec3_load(node->wrench), vec3_load(node->wrench + 3), terms);
    for (int t = 0; t < count; ++t) {
        const motion_term *term = &terms[t];
        if (!term->on_child && b->parent < 0) continue;
        double *row = (term->on_child ? own : through_parent) + 6 * term->row;
        hn_vec3 reference = solver->bodies[term->on_child ? body : b->parent].reference;
        hn_vec3 x = pose_direction(term->on_child ? state->child_now : state->parent_now,
                                   vec3_add_scaled(term->local, -term->phi_coefficient, reference));
        hn_vec3 turn = vec3_cross(x, term->z);
        vec3_store(vec3_add_scaled(vec3_load(row), state->weight * term->phi_coefficient, term->z),
                   row);
        vec3_store(vec3_add_scaled(vec3_load(row + 3), state->weight, turn), row + 3);
    }
}

// (T4): what body c, with k and L found, adds to its parent
static void pass_stiffness(tree_solver *solver, int body, const tree_joint_state *state,
                           tree_node *above)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    const tree_general *f = &solver->generals[b->general];
    tree_general_memory *memory = tree_memory_of(solver, b);
    const motion *outer = &memory->projected, *inner = &f->now;
    const double *edge = edge_of(solver, body);
    int dof = outer->dof;
    hn_vec3 force = vec3_load(node->wrench);
    double carried[36];
    memcpy(carried, node->stiffness, sizeof carried);
    carry_times(outer, carried);
    if (state->weight != 0.0 && outer->carry == CARRY_RIGID) {
        // A^T W has the moment M + c x F with c = phi_c - phi_p
        add_skew(carried, -state->weight, force);
        add_skew(above->stiffness, state->weight, force);
    } else if (state->weight != 0.0 && outer->carry == CARRY_POINT) {
        // c is fixed in the parent
        const six none[3] = {{{{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}}};
        add_force_rows(none, outer->offset, state->weight, inner->offset, force, above->stiffness);
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
            memory->lift[dof * i + k] =
                vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    times_carry(inner, 6, carried);
    add_carried(outer, node->load, above->load);
    for (int i = 0; i < 6; ++i) {
        double *to = above->stiffness + 6 * i;
        for (int k = 0; k < 6; ++k) to[k] += carried[6 * i + k];
        for (int d = 0; d < dof; ++d) {
            double factor = memory->lift[dof * i + d];
            for (int k = 0; k < 6; ++k) to[k] -= factor * f->gain[6 * d + k];
            above->load[i] += factor * f->step[d];
        }
    }
}

bool tree_eliminate(tree_solver *solver, int body, const joint_step *step,
                    const tree_joint_state *state, const double *r)
{
    const tree_body *b = &solver->bodies[body];
    tree_node *above = tree_node_above(solver, b);
    tree_general *f = &solver->generals[b->general];
    tree_general_memory *memory = tree_memory_of(solver, b);
    const motion *inner = &f->now;
    int dof = memory->projected.dof;
    motion_of(solver, body, step, state->parent_now, state->child_now, &f->now);
    double reduced[36], through_parent[36] = {0.0};
    projected_rows(solver, body, step, state, reduced, through_parent);

    // (T2)
    for (int i = 0; i < dof; ++i) {
        hn_vec3 upper = vec3_load(reduced + 6 * i), lower = vec3_load(reduced + 6 * i + 3);
        for (int k = 0; k < dof; ++k)
            memory->pivots[dof * i + k] =
                vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    for (int k = 0; solver->own != NULL && k < dof * dof; ++k)
        memory->pivots[k] +=
            solver->own[JOINT_DOF_MAX * (size_t)(b->dof_offset + k / dof) + (size_t)(k % dof)];
    if (!small_lu_factor(dof, dof, memory->pivots, memory->exchange)) return false;

    // (T3)
    double right[6];
    project(&memory->projected, solver->nodes[b->node].load, right);
    for (int k = 0; k < dof; ++k) f->step[k] = -(r[k] + right[k]);
    small_lu_solve(dof, dof, memory->pivots, memory->exchange, 1, 1, f->step);
    if (above == NULL) return true;
    times_carry(inner, dof, reduced);
    for (int k = 0; k < 6 * dof; ++k) f->gain[k] = reduced[k] + through_parent[k];
    small_lu_solve(dof, dof, memory->pivots, memory->exchange, 6, 6, f->gain);
    pass_stiffness(solver, body, state, above);
    return true;
}

// k of a body without pivot for a load s, and its part in the parent's load
static void solve_general(tree_solver *solver, const tree_body *b, const double *residual,
                          const double *s, double *above)
{
    tree_general *f = &solver->generals[b->general];
    const tree_general_memory *memory = tree_memory_of(solver, b);
    int dof = memory->projected.dof;
    project(&memory->projected, s, f->step);
    for (int d = 0; d < dof; ++d) f->step[d] = -f->step[d] - residual[d];
    small_lu_solve(dof, dof, memory->pivots, memory->exchange, 1, 1, f->step);
    if (above == NULL) return;
    add_carried(&memory->projected, s, above);
    for (int k = 0; k < 6; ++k)
        for (int d = 0; d < dof; ++d) above[k] += memory->lift[dof * k + d] * f->step[d];
}

void tree_repeat(tree_solver *solver, int body, const double *r)
{
    const tree_body *b = &solver->bodies[body];
    tree_node *above = tree_node_above(solver, b);
    solve_general(solver, b, r, solver->nodes[b->node].load, above == NULL ? NULL : above->load);
}

void tree_substitute_general(tree_solver *solver, int body)
{
    const tree_body *b = &solver->bodies[body];
    const tree_general *f = &solver->generals[b->general];
    const motion *m = &f->now;
    double *u = solver->increments + b->dof_offset, *t = solver->twists + TWIST_SIZE * (size_t)body;
    hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = vec3(0.0, 0.0, 0.0);
    for (int d = 0; d < m->dof; ++d) u[d] = f->step[d];
    if (b->parent >= 0) {
        const double *p = solver->twists + TWIST_SIZE * (size_t)b->parent;
        for (int d = 0; d < m->dof; ++d)
            for (int k = 0; k < 6; ++k) u[d] -= f->gain[6 * d + k] * p[k];
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

// ---- all bodies -------------------------------------------------------------------------------------

// from the reference point of a body to its centre of mass
static void twist_of_centre(tree_solver *solver, int body)
{
    double *t = solver->twists + TWIST_SIZE * (size_t)body;
    if (solver->bodies[body].pivot != PIVOT_NONE)
        vec3_store(
            vec3_subtract(vec3_load(t), vec3_cross(vec3_load(t + 3), solver->arms[body].now)), t);
}

// and of a wrench the other way
static void load_of_reference(const tree_solver *solver, int body, double *s)
{
    if (solver->bodies[body].pivot != PIVOT_NONE)
        vec3_store(
            vec3_subtract(vec3_load(s + 3), vec3_cross(solver->arms[body].projected, vec3_load(s))),
            s + 3);
}

// (T3), (T4) of one body for another right-hand side
static void solve_body(tree_solver *solver, int body, const double *residual, double *load)
{
    const tree_body *b = &solver->bodies[body];
    double *s = load + TWIST_SIZE * (size_t)body,
           *above = b->parent < 0 ? NULL : load + TWIST_SIZE * (size_t)b->parent;
    if (b->pivot == PIVOT_NONE) solve_general(solver, b, residual, s, above);
    else
        tree_solve_pivot(b, &solver->memories[body], residual, s, solver->factors[body].step,
                         above);
}

static const double NO_RESIDUAL[JOINT_DOF_MAX] = {0.0};

void tree_substitute(tree_solver *solver)
{
    int n = solver->system->body_count;
    for (int i = 0; i < n; ++i) tree_substitute_body(solver, i);
    for (int i = 0; i < n; ++i) twist_of_centre(solver, i);
}

void tree_substitute_some(tree_solver *solver, const int *bodies, int count)
{
    for (int i = 0; i < count; ++i) tree_substitute_body(solver, bodies[i]);
    for (int i = 0; i < count; ++i) twist_of_centre(solver, bodies[i]);
}

void tree_solve(tree_solver *solver, const double *residuals, double *load)
{
    int n = solver->system->body_count;
    for (int i = 0; i < n; ++i) load_of_reference(solver, i, load + TWIST_SIZE * (size_t)i);
    for (int i = n - 1; i >= 0; --i)
        solve_body(solver, i,
                   residuals == NULL ? NO_RESIDUAL : residuals + solver->bodies[i].dof_offset,
                   load);
    tree_substitute(solver);
}

// Without a load a body adds nothing to its parent's.
static bool is_loaded(const double *s)
{
    for (int k = 0; k < TWIST_SIZE; ++k)
        if (s[k] != 0.0) return true;
    return false;
}

void tree_load_some(tree_solver *solver, const int *bodies, int count, int columns, double *load,
                    double *steps)
{
    for (int i = 0; i < count; ++i)
        if (is_loaded(load + TWIST_SIZE * (size_t)bodies[i]))
            load_of_reference(solver, bodies[i], load + TWIST_SIZE * (size_t)bodies[i]);
    for (int i = count - 1; i >= 0; --i) {
        const tree_body *b = &solver->bodies[bodies[i]];
        const double *step = b->pivot == PIVOT_NONE ? solver->generals[b->general].step
                                                    : solver->factors[bodies[i]].step;
        double *to = steps + JOINT_DOF_MAX * (size_t)(i * columns);
        bool loaded = is_loaded(load + TWIST_SIZE * (size_t)bodies[i]);
        if (loaded) solve_body(solver, bodies[i], NO_RESIDUAL, load);
        for (int k = 0; k < solver->system->joints[bodies[i]].dof; ++k)
            to[k * columns] = loaded ? step[k] : 0.0;
    }
}

// Columns of one body: v, omega
typedef struct twist_set {
    double *x[TWIST_SIZE];
} twist_set;

static twist_set columns_of(double *twists, int place, int columns)
{
    twist_set t;
    for (int k = 0; k < TWIST_SIZE; ++k)
        t.x[k] = twists + (size_t)(TWIST_SIZE * place + k) * (size_t)columns;
    return t;
}

// (T5) of a pivot, all columns beside each other
static void substitute_columns(const tree_body *b, const tree_factor *f, int columns,
                               const double *steps, const twist_set *above, const twist_set *own)
{
    const hn_vec3 l = f->lever;
    for (int c = 0; c < columns; ++c) {
        hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = v;
        if (above != NULL) {
            omega = vec3(above->x[3][c], above->x[4][c], above->x[5][c]);
            v = vec3_add(vec3(above->x[0][c], above->x[1][c], above->x[2][c]),
                         vec3_cross(omega, l));
        }
        if (b->pivot == PIVOT_AXIS) {
            double u = steps[c] - vec3_dot(f->on_v, v) - vec3_dot(f->on_omega, omega);
            omega = vec3_add_scaled(omega, u, f->axis);
        } else {
            omega = vec3(steps[c] - vec3_dot(f->rows[0], v),
                         steps[columns + c] - vec3_dot(f->rows[1], v),
                         steps[2 * columns + c] - vec3_dot(f->rows[2], v));
        }
        own->x[0][c] = v.x, own->x[1][c] = v.y, own->x[2][c] = v.z;
        own->x[3][c] = omega.x, own->x[4][c] = omega.y, own->x[5][c] = omega.z;
    }
}

// and of any other joint, one after the other
static void substitute_general_columns(tree_solver *solver, int body, int columns,
                                       const double *steps, const twist_set *above,
                                       const twist_set *own)
{
    const tree_body *b = &solver->bodies[body];
    for (int c = 0; c < columns; ++c) {
        for (int k = 0; k < TWIST_SIZE && above != NULL; ++k)
            solver->twists[TWIST_SIZE * b->parent + k] = above->x[k][c];
        for (int k = 0; k < solver->generals[b->general].now.dof; ++k)
            solver->generals[b->general].step[k] = steps[k * columns + c];
        tree_substitute_general(solver, body);
        for (int k = 0; k < TWIST_SIZE; ++k) own->x[k][c] = solver->twists[TWIST_SIZE * body + k];
    }
}

void tree_substitute_columns(tree_solver *solver, const int *bodies, const int *place, int count,
                             int columns, const double *steps, double *twists)
{
    for (int i = 0; i < count; ++i) {
        const tree_body *b = &solver->bodies[bodies[i]];
        twist_set own = columns_of(twists, i, columns), above;
        if (b->parent >= 0) above = columns_of(twists, place[b->parent], columns);
        const double *from = steps + JOINT_DOF_MAX * (size_t)(i * columns);
        const twist_set *parent = b->parent >= 0 ? &above : NULL;
        if (b->pivot != PIVOT_NONE)
            substitute_columns(b, &solver->factors[bodies[i]], columns, from, parent, &own);
        else substitute_general_columns(solver, bodies[i], columns, from, parent, &own);
    }
    for (int i = 0; i < count; ++i) {
        if (solver->bodies[bodies[i]].pivot == PIVOT_NONE) continue;
        twist_set own = columns_of(twists, i, columns);
        const hn_vec3 arm = solver->arms[bodies[i]].now;
        for (int c = 0; c < columns; ++c) {
            hn_vec3 v = vec3(own.x[0][c], own.x[1][c], own.x[2][c]),
                    omega = vec3(own.x[3][c], own.x[4][c], own.x[5][c]);
            v = vec3_subtract(v, vec3_cross(omega, arm));
            own.x[0][c] = v.x, own.x[1][c] = v.y, own.x[2][c] = v.z;
        }
    }
}
