// SPDX-License-Identifier: MIT
// Articulated-body recursion in its nonsymmetric form.
#include "reductions/tree.h"

#include "linalg/small_lu.h"

#include <string.h>

// ---- layout -----------------------------------------------------------------------------------------

void tree_layout(arena *a, const hn_system *system, tree_solver *solver)
{
    size_t n = (size_t)system->body_count;
    int edges = 0, generals = 0;
    for (int i = 0; i < system->element_count; ++i)
        if (system->places[i] == PLACE_EDGE) edges++;
    for (int i = 0; i < system->body_count; ++i)
        if (!solver->pivots || joint_pivot(&system->joints[i]) == PIVOT_NONE) generals++;
    generals += edges; // a joint with an elastic edge is no pivot
    solver->system = system;
    solver->bodies = arena_bytes(a, n * sizeof(tree_body));
    solver->nodes = arena_bytes(a, n * sizeof(tree_node));
    solver->factors = arena_bytes(a, n * sizeof(tree_factor));
    solver->memories = solver->keep ? arena_bytes(a, n * sizeof(tree_memory)) : NULL;
    solver->generals = arena_bytes(a, (size_t)generals * sizeof(tree_general));
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
    bool shared = solver->pivots && solver->system->element_count == 0;
    int *free_nodes = (int *)(void *)solver->twists; // not in use yet
    for (int i = 0; i < n; ++i) solver->bodies[i].node = shared ? -1 : i;
    for (int i = n - 1; i >= 0 && shared; --i) {
        tree_body *b = &solver->bodies[i], *p = b->parent < 0 ? NULL : &solver->bodies[b->parent];
        b->leaf = b->node < 0;
        if (b->leaf) b->node = free_count > 0 ? free_nodes[--free_count] : used++;
        b->first = p != NULL && p->node < 0;
        if (b->first) p->node = free_count > 0 ? free_nodes[--free_count] : used++;
        free_nodes[free_count++] = b->node;
    }
    memset(solver->twists, 0, TWIST_SIZE * (size_t)n * sizeof(double));
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
                         .rigid = system->bodies[i].kind == HN_BODY_RIGID,
                         .reference = pivot ? joint_child_arm(j) : none,
                         .axis = joint_child_frame(j)[2],
                         .place = joint_parent_arm(j),
                         .lever = vec3_subtract(joint_parent_arm(j), parent_reference)};
        memcpy(b->inertia, system->inertia + 4 * (size_t)i, sizeof b->inertia);
    }
    assign_nodes(solver);
}

void tree_clear(tree_solver *solver)
{
    memset(solver->nodes, 0, (size_t)solver->system->body_count * sizeof(tree_node));
    memset(solver->edges, 0, 72 * (size_t)solver->edge_count * sizeof(double));
}

// The node of a body's parent, ready to be added to; NULL: ground.
static inline tree_node *node_above(tree_solver *solver, const tree_body *b)
{
    if (b->parent < 0) return NULL;
    tree_node *above = &solver->nodes[solver->bodies[b->parent].node];
    if (b->first) memset(above, 0, sizeof *above);
    return above;
}

// ---- pivots (T6) ------------------------------------------------------------------------------------

// wrench above += A^T x, with the moment of x where it is carried
static inline void add_at_lever(hn_vec3 lever, hn_vec3 force, hn_vec3 moment, double *above)
{
    moment = vec3_add(moment, vec3_cross(lever, force));
    vec3_store(vec3_add(vec3_load(above), force), above);
    vec3_store(vec3_add(vec3_load(above + 3), moment), above + 3);
}

// row times a: left . (v + omega x c) + right . omega
static inline void row_times_carry(hn_vec3 c, double *row)
{
    row[3] += c.y * row[2] - c.z * row[1];
    row[4] += c.z * row[0] - c.x * row[2];
    row[5] += c.x * row[1] - c.y * row[0];
}

// S += X^p = w (c F^T - (c . F) 1) for rotations
static inline void add_turned_lever(double weight, hn_vec3 c, hn_vec3 force, double *s)
{
    hn_vec3 f = vec3_scale(weight, force);
    double dot = vec3_dot(c, f);
    s[21] += c.x * f.x - dot, s[22] += c.x * f.y, s[23] += c.x * f.z;
    s[27] += c.y * f.x, s[28] += c.y * f.y - dot, s[29] += c.y * f.z;
    s[33] += c.z * f.x, s[34] += c.z * f.y, s[35] += c.z * f.z - dot;
}

// S_p += A^T R a for the six rows R, of which `rows` are not zero
static inline void add_carried_rows(int rows, hn_vec3 now, hn_vec3 projected, double *r, double *above)
{
    for (int i = 0; i < rows; ++i) row_times_carry(now, r + 6 * i);
    const double *x = r, *y = r + 6, *z = r + 12;
    for (int k = 0; k < 6; ++k) above[k] += x[k];
    for (int k = 0; k < 6; ++k) above[6 + k] += y[k];
    for (int k = 0; k < 6; ++k) above[12 + k] += z[k];
    for (int k = 0; k < 6; ++k) above[18 + k] += projected.y * z[k] - projected.z * y[k] + (rows == 6 ? r[18 + k] : 0.0);
    for (int k = 0; k < 6; ++k) above[24 + k] += projected.z * x[k] - projected.x * z[k] + (rows == 6 ? r[24 + k] : 0.0);
    for (int k = 0; k < 6; ++k) above[30 + k] += projected.x * y[k] - projected.y * x[k] + (rows == 6 ? r[30 + k] : 0.0);
}

static inline bool usable(double pivot)
{
    return pivot != 0.0 && isfinite(pivot);
}

// B = [0; n]
static bool eliminate_axis(const tree_body *b, const tree_pivot_state *state, const tree_node *node, tree_node *above,
                           tree_factor *f, tree_memory *memory, double *r)
{
    const double *s = node->stiffness, w = state->weight;
    hn_vec3 force = vec3_load(node->wrench), moment = vec3_load(node->wrench + 3);
    hn_vec3 n = pose_direction(state->child_now, b->axis), n_projected = pose_direction(state->child_projected, b->axis);
    r[0] = vec3_dot(n_projected, moment);

    // (T2): the row B^T S + Y^c
    double row[6];
    for (int k = 0; k < 6; ++k) row[k] = n_projected.x * s[18 + k] + n_projected.y * s[24 + k] + n_projected.z * s[30 + k];
    hn_vec3 on_omega = vec3_add_scaled(vec3_load(row + 3), w, vec3_cross(n, moment));
    double h = vec3_dot(on_omega, n);
    if (!usable(h)) return false;

    // (T3)
    double inverse = 1.0 / h;
    f->axis = n;
    f->on_v = vec3_scale(inverse, vec3_load(row));
    f->on_omega = vec3_scale(inverse, on_omega);
    f->step[0] = -inverse * (r[0] + vec3_dot(n_projected, vec3_load(node->load + 3)));
    if (memory != NULL) memory->axis = n_projected, memory->inverse[0] = inverse;
    if (above == NULL) return true;

    // (T4)
    const double gain[6] = {f->on_v.x, f->on_v.y, f->on_v.z, f->on_omega.x, f->on_omega.y, f->on_omega.z};
    double lift[6], load[6], rest[36];
    for (int i = 0; i < 6; ++i) {
        lift[i] = s[6 * i + 3] * n.x + s[6 * i + 4] * n.y + s[6 * i + 5] * n.z;
        load[i] = node->load[i] + lift[i] * f->step[0];
        for (int k = 0; k < 6; ++k) rest[6 * i + k] = s[6 * i + k] - lift[i] * gain[k];
    }
    hn_vec3 c = pose_direction(state->parent_now, b->lever);
    hn_vec3 c_projected = vec3_add_scaled(c, w - 1.0, pose_direction(state->parent_delta, b->lever));
    f->lever = c;
    add_carried_rows(6, c, c_projected, rest, above->stiffness);
    add_turned_lever(w, c, force, above->stiffness);
    add_at_lever(c_projected, vec3_load(load), vec3_load(load + 3), above->load);
    add_at_lever(c_projected, force, moment, above->wrench);
    if (memory != NULL) {
        memory->lever = c_projected;
        memcpy(memory->lift, lift, sizeof lift);
    }
    return true;
}

// B = [0; 1]: the child's rotation is eliminated altogether, what is left is a 3 x 3 matrix at the joint point
static bool eliminate_free(const tree_body *b, const tree_pivot_state *state, const tree_node *node, tree_node *above,
                           tree_factor *f, tree_memory *memory, double *r)
{
    const double *s = node->stiffness;
    hn_vec3 force = vec3_load(node->wrench);
    for (int k = 0; k < 3; ++k) r[k] = node->wrench[3 + k];

    // (T2): H is the lower right block; its inverse by cofactors
    hn_vec3 x = vec3_load(s + 21), y = vec3_load(s + 27), z = vec3_load(s + 33);
    hn_vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
    double determinant = vec3_dot(x, yz);
    if (!usable(determinant)) return false;
    double scale = 1.0 / determinant;
    const double inverse[9] = {scale * yz.x, scale * zx.x, scale * xy.x, scale * yz.y, scale * zx.y,
                               scale * xy.y, scale * yz.z, scale * zx.z, scale * xy.z};

    // (T3)
    double gain[9], right[3];
    for (int k = 0; k < 3; ++k) right[k] = r[k] + node->load[3 + k];
    for (int i = 0; i < 3; ++i) {
        const double *h = inverse + 3 * i;
        f->step[i] = -(h[0] * right[0] + h[1] * right[1] + h[2] * right[2]);
        for (int k = 0; k < 3; ++k) gain[3 * i + k] = h[0] * s[18 + k] + h[1] * s[24 + k] + h[2] * s[30 + k];
        f->rows[i] = vec3_load(gain + 3 * i);
    }
    if (memory != NULL) memcpy(memory->inverse, inverse, sizeof inverse);
    if (above == NULL) return true;

    // (T4): rows of forces, S_11 - S_12 H^-1 S_21; the moments have no part
    double rest[18], load[3];
    for (int i = 0; i < 3; ++i) {
        const double *lift = s + 6 * i + 3;
        load[i] = node->load[i] + lift[0] * f->step[0] + lift[1] * f->step[1] + lift[2] * f->step[2];
        for (int k = 0; k < 3; ++k) {
            rest[6 * i + k] = s[6 * i + k] - lift[0] * gain[k] - lift[1] * gain[3 + k] - lift[2] * gain[6 + k];
            rest[6 * i + 3 + k] = 0.0;
        }
    }
    hn_vec3 c = pose_direction(state->parent_now, b->lever), none = {0.0, 0.0, 0.0};
    hn_vec3 c_projected = vec3_add_scaled(c, state->weight - 1.0, pose_direction(state->parent_delta, b->lever));
    f->lever = c;
    add_carried_rows(3, c, c_projected, rest, above->stiffness);
    add_turned_lever(state->weight, c, force, above->stiffness);
    add_at_lever(c_projected, vec3_load(load), none, above->load);
    add_at_lever(c_projected, force, none, above->wrench);
    if (memory != NULL) {
        memory->lever = c_projected;
        for (int i = 0; i < 3; ++i) memcpy(memory->lift + 3 * i, s + 6 * i + 3, 3 * sizeof(double));
    }
    return true;
}

bool tree_eliminate_pivot(tree_solver *solver, int body, const tree_pivot_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = node_above(solver, b);
    tree_factor *f = &solver->factors[body];
    tree_memory *memory = solver->keep ? &solver->memories[body] : NULL;
    if (memory != NULL) {
        memory->arm_now = pose_direction(state->child_now, b->reference);
        memory->arm = pose_direction(state->child_projected, b->reference);
    }
    return b->pivot == PIVOT_AXIS ? eliminate_axis(b, state, node, above, f, memory, r)
                                  : eliminate_free(b, state, node, above, f, memory, r);
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
static void motion_of(const tree_solver *solver, int body, const joint_step *step, const double *parent,
                      const double *child, motion *m)
{
    const joint *j = &solver->system->joints[body];
    joint_type_of(j->kind)->motion(j, step, parent, child, m);
    if (j->parent >= 0 && m->carry != CARRY_NONE)
        m->offset = vec3_subtract(m->offset, pose_direction(parent, solver->bodies[j->parent].reference));
}

void tree_residual(tree_solver *solver, int body, const joint_step *step, const tree_joint_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    tree_general *general = &solver->generals[b->general];
    motion_of(solver, body, step, state->parent_projected, state->child_projected, &general->projected);
    project(&general->projected, solver->nodes[b->node].wrench, r);
}

void tree_pass_wrench(tree_solver *solver, int body)
{
    const tree_body *b = &solver->bodies[body];
    if (b->parent < 0) return;
    add_carried(&solver->generals[b->general].projected, solver->nodes[b->node].wrench,
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
    const tree_body *b = &solver->bodies[body];
    const joint *j = &solver->system->joints[body];
    const joint_type *type = joint_type_of(j->kind);
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = node_above(solver, b);
    tree_general *f = &solver->generals[b->general];
    const motion *outer = &f->projected, *inner = &f->now;
    int dof = outer->dof;
    const double *edge = solver->edge_of[body] < 0 ? NULL : solver->edges + 72 * (size_t)solver->edge_of[body];
    motion_of(solver, body, step, state->parent_now, state->child_now, &f->now);
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
            if (!term->on_child && above == NULL) continue;
            double *row = (term->on_child ? reduced : through_parent) + 6 * term->row;
            hn_vec3 reference = solver->bodies[term->on_child ? body : b->parent].reference;
            hn_vec3 x = pose_direction(term->on_child ? state->child_now : state->parent_now,
                                       vec3_add_scaled(term->local, -term->phi_coefficient, reference));
            hn_vec3 turn = vec3_cross(x, term->z);
            vec3_store(vec3_add_scaled(vec3_load(row), state->weight * term->phi_coefficient, term->z), row);
            vec3_store(vec3_add_scaled(vec3_load(row + 3), state->weight, turn), row + 3);
        }
    }

    // (T2)
    for (int i = 0; i < dof; ++i) {
        hn_vec3 upper = vec3_load(reduced + 6 * i), lower = vec3_load(reduced + 6 * i + 3);
        for (int k = 0; k < dof; ++k)
            f->pivots[dof * i + k] = vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    if (!small_lu_factor(dof, dof, f->pivots, f->exchange)) return false;

    // (T3)
    double right[6];
    project(outer, node->load, right);
    for (int k = 0; k < dof; ++k) f->step[k] = -(r[k] + right[k]);
    small_lu_solve(dof, dof, f->pivots, f->exchange, 1, 1, f->step);
    if (above == NULL) return true;
    times_carry(inner, dof, reduced);
    for (int k = 0; k < 6 * dof; ++k) f->gain[k] = reduced[k] + through_parent[k];
    small_lu_solve(dof, dof, f->pivots, f->exchange, 6, 6, f->gain);

    // (T4)
    double carried[36];
    memcpy(carried, node->stiffness, sizeof carried);
    carry_times(outer, carried);
    if (state->weight != 0.0 && outer->carry == CARRY_RIGID) {
        // A^T W has the moment M + c x F with c = phi_c - phi_p
        add_skew(carried, 0, -state->weight, force);
        add_skew(above->stiffness, 0, state->weight, force);
    } else if (state->weight != 0.0 && outer->carry == CARRY_POINT) {
        // c is fixed in the parent
        add_turned_lever(state->weight, inner->offset, force, above->stiffness);
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
            f->lift[dof * i + k] = vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    times_carry(inner, 6, carried);
    add_carried(outer, node->load, above->load);
    for (int i = 0; i < 6; ++i) {
        double *to = above->stiffness + 6 * i;
        for (int k = 0; k < 6; ++k) to[k] += carried[6 * i + k];
        for (int d = 0; d < dof; ++d) {
            double factor = f->lift[dof * i + d];
            for (int k = 0; k < 6; ++k) to[k] -= factor * f->gain[6 * d + k];
            above->load[i] += factor * f->step[d];
        }
    }
    return true;
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

void tree_substitute(tree_solver *solver)
{
    int n = solver->system->body_count;
    for (int i = 0; i < n; ++i) tree_substitute_body(solver, i);
    // from the reference points to the centres of mass
    for (int i = 0; i < n; ++i) {
        double *t = solver->twists + TWIST_SIZE * (size_t)i;
        if (solver->bodies[i].pivot != PIVOT_NONE)
            vec3_store(vec3_subtract(vec3_load(t), vec3_cross(vec3_load(t + 3), solver->memories[i].arm_now)), t);
    }
}

// k of a pivot for a load s about its reference point, and its part in the parent's load
static void solve_pivot(const tree_body *b, const tree_memory *memory, const double *residual, const double *s,
                        double *step, double *above)
{
    hn_vec3 force = vec3_load(s), moment = vec3_load(s + 3);
    if (b->pivot == PIVOT_AXIS) {
        double k = step[0] = -memory->inverse[0] * (residual[0] + vec3_dot(memory->axis, moment));
        force = vec3_add_scaled(force, k, vec3_load(memory->lift));
        moment = vec3_add_scaled(moment, k, vec3_load(memory->lift + 3));
    } else {
        hn_vec3 right = vec3_add(vec3_load(residual), moment), k;
        for (int i = 0; i < 3; ++i) step[i] = -vec3_dot(vec3_load(memory->inverse + 3 * i), right);
        k = vec3_load(step);
        force = vec3_add(force, vec3(vec3_dot(vec3_load(memory->lift), k), vec3_dot(vec3_load(memory->lift + 3), k),
                                     vec3_dot(vec3_load(memory->lift + 6), k)));
        moment = vec3(0.0, 0.0, 0.0);
    }
    if (above != NULL) add_at_lever(memory->lever, force, moment, above);
}

void tree_solve(tree_solver *solver, const double *residuals, double *load)
{
    static const double no_residual[JOINT_DOF_MAX] = {0.0};
    int n = solver->system->body_count;
    // from the centres of mass to the reference points
    for (int i = 0; i < n; ++i) {
        double *s = load + TWIST_SIZE * (size_t)i;
        if (solver->bodies[i].pivot != PIVOT_NONE)
            vec3_store(vec3_subtract(vec3_load(s + 3), vec3_cross(solver->memories[i].arm, vec3_load(s))), s + 3);
    }
    for (int i = n - 1; i >= 0; --i) {
        const tree_body *b = &solver->bodies[i];
        const double *residual = residuals == NULL ? no_residual : residuals + b->dof_offset;
        double *s = load + TWIST_SIZE * (size_t)i, *above = b->parent < 0 ? NULL : load + TWIST_SIZE * (size_t)b->parent;
        if (b->pivot != PIVOT_NONE) {
            solve_pivot(b, &solver->memories[i], residual, s, solver->factors[i].step, above);
            continue;
        }
        tree_general *f = &solver->generals[b->general];
        int dof = f->projected.dof;
        project(&f->projected, s, f->step);
        for (int d = 0; d < dof; ++d) f->step[d] = -f->step[d] - residual[d];
        small_lu_solve(dof, dof, f->pivots, f->exchange, 1, 1, f->step);
        if (above == NULL) continue;
        add_carried(&f->projected, s, above);
        for (int k = 0; k < 6; ++k)
            for (int d = 0; d < dof; ++d) above[k] += f->lift[dof * k + d] * f->step[d];
    }
    tree_substitute(solver);
}
