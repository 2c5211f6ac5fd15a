// SPDX-License-Identifier: MIT
// Articulated-body recursion in its nonsymmetric form.
#include "reductions/tree.h"

#include "base/six.h"
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
    solver->general_count = generals;
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

static inline tree_node *node_above(tree_solver *solver, const tree_body *b)
{
    return b->parent < 0 ? NULL : &solver->nodes[solver->bodies[b->parent].node];
}

// x1 d1 + x2 d2 + x3 d3 at q_w = q - (1 - w) Delta, given the same at q
static inline hn_vec3 projected_direction(hn_vec3 now, double weight, const double *delta,
                                          hn_vec3 local)
{
    return vec3_add_scaled(now, weight - 1.0, pose_direction(delta, local));
}

// ---- pivots (T6) ------------------------------------------------------------------------------------

// above += x
static inline void add_to(six x, double *above)
{
    six_store(six_add(six_load(above), x), above);
}

// wrench above += A^T x, with the moment of x where it is carried
static inline void add_at_lever(hn_vec3 lever, hn_vec3 force, hn_vec3 moment, double *above)
{
    add_to(six_of(force, vec3_add(moment, vec3_cross(lever, force))), above);
}

// a = [I, -c^; 0, I] as it acts on a row from the right: the numbers on v add their product with -c^ to those on omega
typedef struct row_carry {
    pair x[2], y[2], z[2]; // rows of -c^, a zero before each
} row_carry;

static inline row_carry row_carry_of(hn_vec3 c)
{
    return (row_carry){
        {{0.0, 0.0}, {c.z, -c.y}}, {{0.0, -c.z}, {0.0, c.x}}, {{0.0, c.y}, {-c.x, 0.0}}};
}

static inline six row_times_carry(six row, const row_carry *a)
{
    double x = row.p[0][0], y = row.p[0][1], z = row.p[1][0];
    row.p[1] += x * a->x[0] + y * a->y[0] + z * a->z[0];
    row.p[2] += x * a->x[1] + y * a->y[1] + z * a->z[1];
    return row;
}

// S_p += A^T R + X^p for the rows R of forces: they stay, the moments gain c x forces; X^p = w (c F^T - (c . F) 1) for
// rotations
static inline void add_force_rows(const six *r, hn_vec3 c_projected, double weight, hn_vec3 c,
                                  hn_vec3 force, double *above)
{
    hn_vec3 f = vec3_scale(weight, force), x = vec3_scale(c.x, f), y = vec3_scale(c.y, f),
            z = vec3_scale(c.z, f);
    double dot = x.x + y.y + z.z;
    x.x -= dot, y.y -= dot, z.z -= dot;
    for (int i = 0; i < 3; ++i) add_to(r[i], above + 6 * i);
    const hn_vec3 none = {0.0, 0.0, 0.0}, d = c_projected;
    add_to(six_add_scaled(six_add_scaled(six_of(none, x), d.y, r[2]), -d.z, r[1]), above + 18);
    add_to(six_add_scaled(six_add_scaled(six_of(none, y), d.z, r[0]), -d.x, r[2]), above + 24);
    add_to(six_add_scaled(six_add_scaled(six_of(none, z), d.x, r[1]), -d.y, r[0]), above + 30);
}

static inline bool usable(double pivot)
{
    return pivot != 0.0 && isfinite(pivot);
}

// B = [0; n]
static bool eliminate_axis(const tree_body *b, const tree_pivot_state *state,
                           const tree_node *restrict node, tree_node *restrict above,
                           tree_factor *restrict f, tree_memory *restrict memory, double *r)
{
    const double *s = node->stiffness, w = state->weight;
    const six wrench = six_load(node->wrench), load = six_load(node->load);
    hn_vec3 force = six_first(wrench), moment = six_second(wrench);
    hn_vec3 n = pose_direction(state->child_now, b->axis);
    hn_vec3 n_projected = projected_direction(n, w, state->child_delta, b->axis);
    r[0] = vec3_dot(n_projected, moment);

    // (T2): the row B^T S + Y^c
    six row = six_scale(n_projected.x, six_load(s + 18));
    row = six_add_scaled(six_add_scaled(row, n_projected.y, six_load(s + 24)), n_projected.z,
                         six_load(s + 30));
    hn_vec3 on_v = six_first(row),
            on_omega = vec3_add_scaled(six_second(row), w, vec3_cross(n, moment));
    double h = vec3_dot(on_omega, n);
    if (!usable(h)) return false;

    // (T3)
    double inverse = 1.0 / h, step = -inverse * (r[0] + vec3_dot(n_projected, six_second(load)));
    f->axis = n;
    f->on_v = on_v = vec3_scale(inverse, on_v);
    f->on_omega = on_omega = vec3_scale(inverse, on_omega);
    f->step[0] = step;
    memory->axis = n_projected, memory->axis_inverse = inverse;
    if (above == NULL) return true;

    // (T4), row by row: (S - S b L) a, then A^T
    hn_vec3 c = pose_direction(state->parent_now, b->lever);
    hn_vec3 c_projected = projected_direction(c, w, state->parent_delta, b->lever);
    f->lever = c;
    const row_carry carry = row_carry_of(c);
    const six gain = six_of(on_v, on_omega);
    const pair column[2] = {{0.0, n.x}, {n.y, n.z}};
    double lift[6];
    six rest[6];
    for (int i = 0; i < 6; ++i) {
        six old = six_load(s + 6 * i);
        pair product = old.p[1] * column[0] + old.p[2] * column[1];
        lift[i] = product[0] + product[1];
        rest[i] = row_times_carry(six_add_scaled(old, -lift[i], gain), &carry);
    }
    add_force_rows(rest, c_projected, w, c, force, above->stiffness);
    for (int i = 3; i < 6; ++i) add_to(rest[i], above->stiffness + 6 * i);
    const hn_vec3 lift_v = {lift[0], lift[1], lift[2]}, lift_omega = {lift[3], lift[4], lift[5]};
    add_at_lever(c_projected, vec3_add_scaled(six_first(load), step, lift_v),
                 vec3_add_scaled(six_second(load), step, lift_omega), above->load);
    add_at_lever(c_projected, force, moment, above->wrench);
    memory->lever = c_projected;
    memcpy(memory->axis_lift, lift, sizeof lift);
    return true;
}

// B = [0; 1]: the child's rotation is eliminated altogether, what is left is a 3 x 3 matrix at the joint point
static bool eliminate_free(const tree_body *b, const tree_pivot_state *state,
                           const tree_node *restrict node, tree_node *restrict above,
                           tree_factor *restrict f, tree_memory *restrict memory, double *r)
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
        for (int k = 0; k < 3; ++k)
            gain[3 * i + k] = h[0] * s[18 + k] + h[1] * s[24 + k] + h[2] * s[30 + k];
        f->rows[i] = vec3_load(gain + 3 * i);
    }
    memcpy(memory->inverse, inverse, sizeof inverse);
    if (above == NULL) return true;

    // (T4): rows of forces, S_11 - S_12 H^-1 S_21; the moments have no part
    hn_vec3 c = pose_direction(state->parent_now, b->lever), none = {0.0, 0.0, 0.0};
    hn_vec3 c_projected = projected_direction(c, state->weight, state->parent_delta, b->lever);
    f->lever = c;
    const row_carry carry = row_carry_of(c);
    double load[3];
    six rest[3];
    for (int i = 0; i < 3; ++i) {
        const double *row = s + 6 * i, *lift = row + 3;
        double left[3];
        load[i] =
            node->load[i] + lift[0] * f->step[0] + lift[1] * f->step[1] + lift[2] * f->step[2];
        for (int k = 0; k < 3; ++k)
            left[k] = row[k] - lift[0] * gain[k] - lift[1] * gain[3 + k] - lift[2] * gain[6 + k];
        rest[i] = row_times_carry((six){{{left[0], left[1]}, {left[2], 0.0}, {0.0, 0.0}}}, &carry);
    }
    add_force_rows(rest, c_projected, state->weight, c, force, above->stiffness);
    add_at_lever(c_projected, vec3_load(load), none, above->load);
    add_at_lever(c_projected, force, none, above->wrench);
    memory->lever = c_projected;
    for (int i = 0; i < 3; ++i) memcpy(memory->lift + 3 * i, s + 6 * i + 3, 3 * sizeof(double));
    return true;
}

bool tree_eliminate_pivot(tree_solver *solver, int body, const tree_pivot_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = node_above(solver, b);
    tree_factor *f = &solver->factors[body];
    tree_memory *memory = &solver->memories[body];
    if (solver->keep) {
        tree_arm *arm = &solver->arms[body];
        arm->now = pose_direction(state->child_now, b->reference);
        arm->projected =
            projected_direction(arm->now, state->weight, state->child_delta, b->reference);
    }
    return b->pivot == PIVOT_AXIS ? eliminate_axis(b, state, node, above, f, memory, r)
                                  : eliminate_free(b, state, node, above, f, memory, r);
}

// k of a pivot for a load s about its reference point, and its part in the parent's load
static void solve_pivot(const tree_body *b, const tree_memory *memory, const double *residual,
                        const double *s, double *step, double *above)
{
    hn_vec3 force = vec3_load(s), moment = vec3_load(s + 3);
    if (b->pivot == PIVOT_AXIS) {
        double k = step[0] = -memory->axis_inverse * (residual[0] + vec3_dot(memory->axis, moment));
        force = vec3_add_scaled(force, k, vec3_load(memory->axis_lift));
        moment = vec3_add_scaled(moment, k, vec3_load(memory->axis_lift + 3));
    } else {
        hn_vec3 right = vec3_add(vec3_load(residual), moment), k;
        for (int i = 0; i < 3; ++i) step[i] = -vec3_dot(vec3_load(memory->inverse + 3 * i), right);
        k = vec3_load(step);
        force = vec3_add(force, vec3(vec3_dot(vec3_load(memory->lift), k),
                                     vec3_dot(vec3_load(memory->lift + 3), k),
                                     vec3_dot(vec3_load(memory->lift + 6), k)));
        moment = vec3(0.0, 0.0, 0.0);
    }
    if (above != NULL) add_at_lever(memory->lever, force, moment, above);
}

void tree_repeat_pivot(tree_solver *solver, int body, const tree_pivot_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = node_above(solver, b);
    hn_vec3 force = vec3_load(node->wrench), moment = vec3_load(node->wrench + 3);
    if (b->pivot == PIVOT_AXIS) {
        hn_vec3 n = pose_direction(state->child_now, b->axis);
        r[0] = vec3_dot(projected_direction(n, state->weight, state->child_delta, b->axis), moment);
    } else {
        vec3_store(moment, r);
        moment = vec3(0.0, 0.0, 0.0);
    }
    solve_pivot(b, &solver->memories[body], r, node->load, solver->factors[body].step,
                above == NULL ? NULL : above->load);
    if (above == NULL) return;
    hn_vec3 c = pose_direction(state->parent_now, b->lever);
    add_at_lever(projected_direction(c, state->weight, state->parent_delta, b->lever), force,
                 moment, above->wrench);
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

// matrix (6 x 6) rows 3..5, columns `column`..: += s F^
static void add_skew(double *matrix, int column, double s, hn_vec3 f)
{
    matrix[18 + column + 1] -= s * f.z, matrix[18 + column + 2] += s * f.y;
    matrix[24 + column + 0] += s * f.z, matrix[24 + column + 2] -= s * f.x;
    matrix[30 + column + 0] -= s * f.y, matrix[30 + column + 1] += s * f.x;
}

bool tree_eliminate(tree_solver *solver, int body, const joint_step *step,
                    const tree_joint_state *state, const double *r)
{
    const tree_body *b = &solver->bodies[body];
    const joint *j = &solver->system->joints[body];
    const joint_type *type = joint_type_of(j->kind);
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = node_above(solver, b);
    tree_general *f = &solver->generals[b->general];
    tree_general_memory *memory = tree_memory_of(solver, b);
    const motion *outer = &memory->projected, *inner = &f->now;
    int dof = outer->dof;
    const double *edge =
        solver->edge_of[body] < 0 ? NULL : solver->edges + 72 * (size_t)solver->edge_of[body];
    motion_of(solver, body, step, state->parent_now, state->child_now, &f->now);
    hn_vec3 force = vec3_load(node->wrench), moment = vec3_load(node->wrench + 3);

    // rows B^T S + Y^c, and Y^p + B^T U
    double reduced[36], through_parent[36] = {0.0};
    for (int k = 0; k < dof; ++k)
        for (int i = 0; i < 6; ++i) {
            const double *s = node->stiffness + i;
            hn_vec3 upper = vec3(s[0], s[6], s[12]), lower = vec3(s[18], s[24], s[30]);
            reduced[6 * k + i] =
                vec3_dot(outer->linear[k], upper) + vec3_dot(outer->angular[k], lower);
            if (edge == NULL) continue;
            const double *u = edge + i;
            through_parent[6 * k + i] = vec3_dot(outer->linear[k], vec3(u[0], u[6], u[12])) +
                                        vec3_dot(outer->angular[k], vec3(u[18], u[24], u[30]));
        }
    if (state->weight != 0.0) {
        motion_term terms[JOINT_TERMS_MAX];
        int count = type->terms(j, step, state->parent_projected, state->child_projected, force,
                                moment, terms);
        for (int t = 0; t < count; ++t) {
            const motion_term *term = &terms[t];
            if (!term->on_child && above == NULL) continue;
            double *row = (term->on_child ? reduced : through_parent) + 6 * term->row;
            hn_vec3 reference = solver->bodies[term->on_child ? body : b->parent].reference;
            hn_vec3 x =
                pose_direction(term->on_child ? state->child_now : state->parent_now,
                               vec3_add_scaled(term->local, -term->phi_coefficient, reference));
            hn_vec3 turn = vec3_cross(x, term->z);
            vec3_store(
                vec3_add_scaled(vec3_load(row), state->weight * term->phi_coefficient, term->z),
                row);
            vec3_store(vec3_add_scaled(vec3_load(row + 3), state->weight, turn), row + 3);
        }
    }

    // (T2)
    for (int i = 0; i < dof; ++i) {
        hn_vec3 upper = vec3_load(reduced + 6 * i), lower = vec3_load(reduced + 6 * i + 3);
        for (int k = 0; k < dof; ++k)
            memory->pivots[dof * i + k] =
                vec3_dot(upper, inner->linear[k]) + vec3_dot(lower, inner->angular[k]);
    }
    if (!small_lu_factor(dof, dof, memory->pivots, memory->exchange)) return false;

    // (T3)
    double right[6];
    project(outer, node->load, right);
    for (int k = 0; k < dof; ++k) f->step[k] = -(r[k] + right[k]);
    small_lu_solve(dof, dof, memory->pivots, memory->exchange, 1, 1, f->step);
    if (above == NULL) return true;
    times_carry(inner, dof, reduced);
    for (int k = 0; k < 6 * dof; ++k) f->gain[k] = reduced[k] + through_parent[k];
    small_lu_solve(dof, dof, memory->pivots, memory->exchange, 6, 6, f->gain);

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
    tree_node *above = node_above(solver, b);
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
    else solve_pivot(b, &solver->memories[body], residual, s, solver->factors[body].step, above);
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

void tree_solve_some(tree_solver *solver, const int *bodies, int count, double *load)
{
    for (int i = 0; i < count; ++i)
        load_of_reference(solver, bodies[i], load + TWIST_SIZE * (size_t)bodies[i]);
    for (int i = count - 1; i >= 0; --i) solve_body(solver, bodies[i], NO_RESIDUAL, load);
    tree_substitute_some(solver, bodies, count);
}
