// SPDX-License-Identifier: MIT
// Reduction `nullspace`: n unknowns, the coordinates; constraint forces are projected away, constraints are appended.
// Notes: docs/theory/nullspace.md, docs/theory/closed-loops.md
//
//   (N1)  P(q_w)^T rho(q) = 0,   g(q) = 0                                                       (LMO 25, BL 11)
//
// P is never formed: P^T rho is evaluated body by body as in `reduced`,
//
//   (N2)  W_i = P_int(q_w)^T rho_i + sum_c A_c^T W_c,     r_c = B_c^T W_c = 0
//
// and the Newton matrix in the coordinates is solved through the sparse system in which the partial sums delta W stand
// beside delta q. W itself is always recomputed from q: the iteration is Newton's in q alone.
//
// With closed loops P = P_o Z, Z the null space of the closure conditions on the tree (LMO 94-96). For a few loops it
// comes from the QR decomposition of closure_range.h,
//
//   (C14)  Z^T r = 0,   g_c(q) = 0   in place of   r = 0
//
// with Q_1 s added to the linear system's rows of r and s found from the closure rows. What derivatives of Z need of r
// are multipliers, which are eliminated in every iteration. For many loops the Newton direction of (N1) is
// found by the sparse saddle-point system; its multipliers are then only passed through (saddle.h).
#include "reductions/coordinates.h"
#include "reductions/reduction.h"

#include "linalg/block_lu.h"
#include "linalg/small_lu.h"
#include "reductions/closure_range.h"
#include "reductions/dense_block.h"
#include "reductions/condition.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

struct reduction {
    hn_system *system;
    reduction *with_multipliers; // closed loops: the solver of the saddle-point system
    closures *closures;          // a few loops: (C14)
    closure_range *range;
    block_lu *lu;
    double *right;         // size of the sparse system
    double *wrench;        // W, 6 per body, not scaled
    body_scale *scales;    // per body
    double *q_begun;       // with `closures`: the iterate a step starts from, and Delta
    double *residuals;     // r, dof, and the sizes of the terms in it
    double *answers;       // per column of Q_1: solution of the sparse system
    double *matrix, *part; // s: cut_row_count squared, cut_row_count
    int *exchange;
    pool memory;
};

// Rows of a node: sums (N2), r_c, internal constraints, joint constraints. Columns: coordinates, delta W.
typedef struct node_layout {
    int sum_count; // 6 rigid, 3 point, 2 planar point
    int first_residual, first_internal, first_joint;
    int first_wrench; // column
    int size;
} node_layout;

static node_layout layout_of(const hn_system *system, int body)
{
    const system_body *b = &system->bodies[body];
    const joint *j = &system->joints[body];
    node_layout l;
    l.sum_count = b->has_directors ? 6 : coordinate_width(b);
    l.first_residual = l.sum_count;
    l.first_internal = l.first_residual + j->dof;
    l.first_joint = l.first_internal + b->internal_count;
    l.first_wrench = b->coordinate_count;
    l.size = b->coordinate_count + l.sum_count;
    return l;
}

static void nullspace_destroy(reduction *r)
{
    if (r == NULL) return;
    reduction_multipliers.destroy(r->with_multipliers);
    closure_range_destroy(r->range);
    closures_destroy(r->closures);
    block_lu_destroy(r->lu);
    pool_release(&r->memory);
    context_release(r->system->context, r);
}

// Rods may be held by closures alone, which (N2) of the tree does not know.
static bool has_rods(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i)
        if (system_body_is_rod(system, i)) return true;
    return false;
}

static hn_status create_closures(reduction *r)
{
    hn_system *system = r->system;
    TRY(closures_create(system, &r->closures));
    TRY(closure_range_create(system, r->closures, &r->range));
    size_t rows = (size_t)system->cut_row_count;
    r->q_begun = pool_doubles(&r->memory, 2 * POSE_SIZE * (size_t)system->body_count);
    r->residuals = pool_doubles(&r->memory, 2 * (size_t)system->dof);
    r->answers = pool_doubles(&r->memory, rows * (size_t)block_lu_size(r->lu));
    r->matrix = pool_doubles(&r->memory, rows * rows);
    r->part = pool_doubles(&r->memory, rows);
    r->exchange = pool_ints(&r->memory, rows);
    return pool_status(&r->memory);
}

// The sparse system of a tree, and of a few loops.
static hn_status create_system(reduction *r)
{
    hn_system *system = r->system;
    size_t n = (size_t)system->body_count;
    size_t edges_max = n + (size_t)(system->element_count + system->cut_count);
    int *sizes = pool_ints(&r->memory, n);
    int(*edges)[2] = pool_take(&r->memory, edges_max, sizeof(int[2]));
    TRY(pool_status(&r->memory));
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) {
        sizes[i] = layout_of(system, i).size;
        if (system->parent[i] >= 0)
            edges[count][0] = i, edges[count][1] = system->parent[i], count++;
    }
    for (int e = 0; e < system->element_count; ++e)
        if (system->places[e] == PLACE_ELSEWHERE)
            edges[count][0] = system->elements[e].a, edges[count][1] = system->elements[e].b,
            count++;
    for (int c = 0; c < system->cut_count; ++c) {
        if (system->cuts[c].parent < 0 || system->cuts[c].child < 0) continue;
        edges[count][0] = system->cuts[c].parent, edges[count][1] = system->cuts[c].child;
        count++;
    }
    TRY(block_lu_create(system->context, system->body_count, sizes, count, (const int(*)[2])edges,
                        NULL, &r->lu));
    r->right = pool_doubles(&r->memory, (size_t)block_lu_size(r->lu));
    r->wrench = pool_doubles(&r->memory, n * TWIST_SIZE);
    r->scales = pool_take(&r->memory, n, sizeof(body_scale));
    TRY(pool_status(&r->memory));
    return system->cut_count > 0 ? create_closures(r) : HN_OK;
}

static hn_status nullspace_create(hn_system *system, reduction **out)
{
    *out = NULL;
    reduction *r = context_allocate(system->context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    r->system = system;
    r->memory.context = system->context;
    bool few = system->cut_row_count <= CLOSURE_RANGE_MAX && !has_rods(system);
    hn_status status =
        system->cut_count > 0 ? reduction_multipliers.create(system, &r->with_multipliers) : HN_OK;
    if (status == HN_OK && (few || system->cut_count == 0)) status = create_system(r);
    if (status == HN_OK) *out = r;
    else nullspace_destroy(r);
    return status;
}

// ---- assembly ---------------------------------------------------------------------------------------

// forces and moments are divided by alpha m*, with the largest mass of the mechanism
static double scale_of(const hn_system *system, const step_equations *equations, int body)
{
    return 1.0 / (equations->mass_factor * system->unit_mass[body]);
}

// Write a 3x3 block from vector l of `column_body` into sum rows (0: force, 1: moment) of node `row_body`.
static void add_sum_block(reduction *r, int row_body, int part, int column_body, int l,
                          const double c[3][3])
{
    const system_body *rows = &r->system->bodies[row_body],
                      *columns = &r->system->bodies[column_body];
    if (part == 1 && !rows->has_directors) return;
    int stride = block_lu_node_size(r->lu, column_body);
    coordinates_add_block(rows, part, columns, l, c, stride,
                          block_lu_block(r->lu, row_body, column_body));
}

static void skew(hn_vec3 x, double s, double c[3][3])
{
    c[0][0] = c[1][1] = c[2][2] = 0.0;
    c[0][1] = -s * x.z, c[0][2] = s * x.y;
    c[1][0] = s * x.z, c[1][2] = -s * x.x;
    c[2][0] = -s * x.y, c[2][1] = s * x.x;
}

// direction of component k of a node's W: force axes, then moment axes
static void wrench_direction(const system_body *body, int k, hn_vec3 *force, hn_vec3 *moment)
{
    *force = *moment = vec3(0.0, 0.0, 0.0);
    if (k < coordinate_width(body)) *force = coordinate_direction(body, k);
    else *moment = vec3(k == 3 ? 1.0 : 0.0, k == 4 ? 1.0 : 0.0, k == 5 ? 1.0 : 0.0);
}

// d/dq of the body's own part of (N2), and -delta W_i
static void add_own_sum(reduction *r, const step_equations *equations, const step_data *step,
                        double scale, int body)
{
    const hn_system *system = r->system;
    const system_body *b = &system->bodies[body];
    const double *inertia = mass_node(system, body);
    node_layout l = layout_of(system, body);
    double rho[POSE_SIZE], pose[POSE_SIZE], c[3][3];
    step_residual(system, equations, step, body, rho);
    step_projection_pose(equations, step, body, pose);
    double mass = inertia[0] / system->unit_mass[body];
    const double unit[3][3] = {{mass, 0.0, 0.0}, {0.0, mass, 0.0}, {0.0, 0.0, mass}};
    add_sum_block(r, body, 0, body, 0, unit);
    for (int i = 1; i < coordinate_vectors(b); ++i) {
        // e_I x (alpha E_I delta d_I) - w rho_I x delta d_I
        hn_vec3 x = vec3_scale(inertia[i] / system->unit_mass[body], vec3_load(pose + 3 * i));
        x = vec3_add_scaled(x, -equations->weight * scale, vec3_load(rho + 3 * i));
        skew(x, 1.0, c);
        add_sum_block(r, body, 1, body, i, (const double(*)[3])c);
    }
    double *diagonal = block_lu_block(r->lu, body, body);
    for (int k = 0; k < l.sum_count; ++k) diagonal[k * l.size + l.first_wrench + k] -= 1.0;
}

// The joint above a body in one iterate: where its rows are, the poses that project, the motion it allows and the
// wrench that goes through it.
typedef struct joint_rows {
    const joint *joint;
    const joint_type *type;
    node_layout layout;
    int body, parent, parent_size;
    double parent_pose[POSE_SIZE], child_pose[POSE_SIZE];
    motion motion;
    hn_vec3 force, moment;
    double size; // of tangent terms: the rows' scale times the weight of the iterate
    double *right, *own,
        *across; // right-hand side; blocks of the body's rows on itself and on its parent
} joint_rows;

static void place_joint_rows(reduction *r, const step_equations *equations, const step_data *step,
                             double scale, int body, joint_rows *rows)
{
    const joint *j = &r->system->joints[body];
    int parent = j->parent;
    const double *w = r->wrench + TWIST_SIZE * (size_t)body;
    rows->joint = j;
    rows->type = joint_type_of(j->kind);
    rows->layout = layout_of(r->system, body);
    rows->body = body;
    rows->parent = parent;
    rows->parent_size = parent < 0 ? 0 : block_lu_node_size(r->lu, parent);
    step_projection_pose(equations, step, parent, rows->parent_pose);
    step_projection_pose(equations, step, body, rows->child_pose);
    rows->type->motion(j, &step->joints[body], rows->parent_pose, rows->child_pose, &rows->motion);
    rows->force = vec3_load(w);
    rows->moment = vec3_load(w + 3);
    rows->size = scale * equations->weight;
    rows->right = r->right + block_lu_offset(r->lu, body);
    rows->own = block_lu_block(r->lu, body, body);
    rows->across = parent < 0 ? NULL : block_lu_block(r->lu, body, parent);
}

// Row `place` of the body, as it depends on the vectors of the body itself or of its parent.
static double *row_on(const joint_rows *rows, int place, bool child)
{
    return child ? rows->own + place * rows->layout.size : rows->across + place * rows->parent_size;
}

// to (one row of a body's coordinates) += vector k of its pose times `z`
static void add_vector(const system_body *b, int k, hn_vec3 z, double *to)
{
    double values[3];
    int width = coordinate_width(b);
    coordinates_of(b, z, values);
    for (int i = 0; i < width; ++i) to[width * k + i] += values[i];
}

// r = B^T W: its value, the wrench in it, and what changes with B
static void add_joint_residual(reduction *r, const step_data *step, double scale,
                               const joint_rows *rows)
{
    const node_layout *l = &rows->layout;
    const motion *m = &rows->motion;
    for (int k = 0; k < m->dof; ++k) {
        int row = l->first_residual + k;
        rows->right[row] =
            scale * (vec3_dot(m->linear[k], rows->force) + vec3_dot(m->angular[k], rows->moment));
        for (int c = 0; c < l->sum_count; ++c) {
            hn_vec3 f, t;
            wrench_direction(&r->system->bodies[rows->body], c, &f, &t);
            rows->own[row * l->size + l->first_wrench + c] +=
                vec3_dot(m->linear[k], f) + vec3_dot(m->angular[k], t);
        }
    }
    if (rows->size == 0.0) return;
    motion_term terms[JOINT_TERMS_MAX];
    int count = rows->type->terms(rows->joint, &step->joints[rows->body], rows->parent_pose,
                                  rows->child_pose, rows->force, rows->moment, terms);
    for (int t = 0; t < count; ++t) {
        int on = terms[t].on_child ? rows->body : rows->parent;
        if (on < 0) continue;
        const system_body *b = &r->system->bodies[on];
        double *row = row_on(rows, l->first_residual + terms[t].row, terms[t].on_child);
        const double coefficient[4] = {terms[t].phi_coefficient, terms[t].local.x, terms[t].local.y,
                                       terms[t].local.z};
        for (int k = 0; k < coordinate_vectors(b); ++k)
            add_vector(b, k, vec3_scale(rows->size * coefficient[k], terms[t].z), row);
    }
}

// constraints of the body and of its joint at the iterate
static void add_joint_constraints(reduction *r, const step_data *step, const joint_rows *rows)
{
    const hn_system *system = r->system;
    const joint *j = rows->joint;
    int body = rows->body, internal_count = system->bodies[body].internal_count;
    for (int k = 0; k < internal_count + j->row_count; ++k) {
        constraint_row row;
        hn_vec3 gradient[8];
        bool internal = k < internal_count;
        const int sides[2] = {internal || j->child_is_a ? body : rows->parent, internal ? GROUND
                                                                               : j->child_is_a
                                                                                   ? rows->parent
                                                                                   : body};
        if (internal) row_internal(k, &row);
        else rows->type->row(j, k - internal_count, &row);
        const double *qa = system_pose(step->q, sides[0]), *qb = system_pose(step->q, sides[1]);
        int place = rows->layout.first_internal + k;
        rows->right[place] = row_value(&row, qa, qb);
        row_gradient(&row, qa, qb, gradient);
        for (int side = 0; side < 2; ++side) {
            if (sides[side] < 0) continue;
            const system_body *b = &system->bodies[sides[side]];
            double *to = row_on(rows, place, sides[side] == body);
            for (int x = 0; x < coordinate_vectors(b); ++x)
                add_vector(b, x, gradient[4 * side + x], to);
        }
    }
}

// the parent's sums gain A^T W
static void add_joint_to_parent(reduction *r, const joint_rows *rows)
{
    const motion *m = &rows->motion;
    int body = rows->body, parent = rows->parent;
    if (parent < 0 || m->carry == CARRY_NONE) return;
    const node_layout *l = &rows->layout;
    const system_body *parent_body = &r->system->bodies[parent];
    double *into = block_lu_block(r->lu, parent, body);
    for (int c = 0; c < l->sum_count; ++c) {
        hn_vec3 f, t;
        wrench_direction(&r->system->bodies[body], c, &f, &t);
        hn_vec3 carried = carry_moment(m, f, t);
        for (int i = 0; i < coordinate_width(parent_body); ++i)
            into[i * l->size + l->first_wrench + c] +=
                vec3_dot(coordinate_direction(parent_body, i), f);
        if (!parent_body->has_directors) continue;
        into[3 * l->size + l->first_wrench + c] += carried.x;
        into[4 * l->size + l->first_wrench + c] += carried.y;
        into[5 * l->size + l->first_wrench + c] += carried.z;
    }
    if (rows->size == 0.0) return;
    double block[3][3];
    if (m->carry == CARRY_RIGID) {
        // w (delta phi_c - delta phi_p) x F
        skew(rows->force, -rows->size, block);
        add_sum_block(r, parent, 1, body, 0, (const double(*)[3])block);
        skew(rows->force, rows->size, block);
        add_sum_block(r, parent, 1, parent, 0, (const double(*)[3])block);
    } else {
        hn_vec3 arm = joint_parent_arm(rows->joint);
        const double local[3] = {arm.x, arm.y, arm.z};
        for (int i = 1; i < coordinate_vectors(parent_body); ++i) {
            skew(rows->force, -rows->size * local[i - 1], block);
            add_sum_block(r, parent, 1, parent, i, (const double(*)[3])block);
        }
    }
}

// rows of the joint: r_c = B^T W, constraints; and the part A^T W of the parent's sums
static void add_joint(reduction *r, const step_equations *equations, const step_data *step,
                      double scale, int body)
{
    joint_rows rows;
    place_joint_rows(r, equations, step, scale, body, &rows);
    add_joint_residual(r, step, scale, &rows);
    add_joint_constraints(r, step, &rows);
    add_joint_to_parent(r, &rows);
}

// tangent terms between bodies a and b in the rows of the sums
static void add_terms(reduction *r, const step_equations *equations, const step_data *step, int a,
                      int b, const stiffness_term *terms, int count)
{
    const hn_system *system = r->system;
    double scale = scale_of(system, equations, a < 0 ? b : a);
    const int body[2] = {a, b};
    for (int t = 0; t < count; ++t)
        for (int side = 0; side < 2; ++side) {
            int x = body[side];
            if (x < 0) continue;
            // force rows: u_0 C; moment rows: (sum u_I e_I) x C
            double pose[POSE_SIZE];
            step_projection_pose(equations, step, x, pose);
            const double *u = terms[t].u + 4 * side;
            hn_vec3 lever = pose_direction(pose, vec3(u[1], u[2], u[3]));
            for (int k = 0; k < 8; ++k) {
                int y = body[k / 4];
                if (y < 0 || terms[t].v[k] == 0.0 ||
                    k % 4 >= coordinate_vectors(&system->bodies[y]))
                    continue;
                double force[3][3], moment[3][3], size = scale * terms[t].v[k];
                for (int c = 0; c < 3; ++c) {
                    hn_vec3 column = vec3(terms[t].c[0][c], terms[t].c[1][c], terms[t].c[2][c]);
                    hn_vec3 turned = vec3_cross(lever, column);
                    force[0][c] = size * u[0] * column.x, moment[0][c] = size * turned.x;
                    force[1][c] = size * u[0] * column.y, moment[1][c] = size * turned.y;
                    force[2][c] = size * u[0] * column.z, moment[2][c] = size * turned.z;
                }
                add_sum_block(r, x, 0, y, k % 4, (const double(*)[3])force);
                add_sum_block(r, x, 1, y, k % 4, (const double(*)[3])moment);
            }
        }
}

// the tangent of a dense element in the rows of the sums
static void add_dense(reduction *r, const step_equations *equations, const step_data *step,
                      int index)
{
    const hn_system *system = r->system;
    double scale = scale_of(system, equations, system->elements[index].a);
    const int body[2] = {system->elements[index].a, system->elements[index].b};
    const hn_vec3 centre = {0.0, 0.0, 0.0};
    element_block block;
    step_element_block(system, equations, step, index, true, &block);
    for (int x = 0; x < 2; ++x) {
        double pose[POSE_SIZE], wrenches[6][24];
        step_projection_pose(equations, step, body[x], pose);
        turning_vectors left = turning_vectors_of(pose, centre);
        block_to_wrenches(&block, POSE_SIZE * x, &left, wrenches);
        for (int y = 0; y < 2; ++y) {
            double *to = block_lu_block(r->lu, body[x], body[y]);
            int stride = block_lu_node_size(r->lu, body[y]);
            for (int i = 0; i < TWIST_SIZE; ++i)
                for (int k = 0; k < POSE_SIZE; ++k)
                    to[i * stride + k] += scale * wrenches[i][POSE_SIZE * y + k];
        }
    }
}

// (N2) with the forces of elements and of closures
static void find_wrenches(reduction *r, const step_equations *equations, const step_data *step)
{
    step_element_forces(r->system, equations, step);
    if (r->closures != NULL) closures_add_forces(r->closures, equations, step);
    step_wrenches(r->system, equations, step, r->wrench);
}

static void assemble(reduction *r, const step_equations *equations, const step_data *step)
{
    const hn_system *system = r->system;
    block_lu_clear(r->lu);
    memset(r->right, 0, (size_t)block_lu_size(r->lu) * sizeof(double));
    find_wrenches(r, equations, step);
    for (int i = 0; i < system->body_count; ++i) {
        double scale = scale_of(system, equations, i);
        add_own_sum(r, equations, step, scale, i);
        add_joint(r, equations, step, scale, i);
    }
    stiffness_term terms[ELEMENT_TERMS_MAX];
    for (int e = 0; e < system->element_count; ++e) {
        if (step_element_is_dense(system, e)) {
            add_dense(r, equations, step, e);
            continue;
        }
        int count = step_element_terms(system, equations, step, e, terms);
        add_terms(r, equations, step, system->elements[e].a, system->elements[e].b, terms, count);
    }
    for (int c = 0; r->closures != NULL && c < system->cut_count; ++c) {
        int count = closures_terms(r->closures, equations, step, c, terms);
        add_terms(r, equations, step, system->cuts[c].parent, system->cuts[c].child, terms, count);
    }
}

// largest residual, each relative to what cancels in it
static double residual_size(const reduction *r, const step_equations *equations,
                            const step_data *step, int *worst)
{
    const hn_system *system = r->system;
    double largest = 0.0;
    measure_bodies(system, equations, step, r->scales);
    measure_transmit(system, r->scales);
    for (int i = 0; i < system->body_count; ++i) {
        node_layout l = layout_of(system, i);
        const joint *j = &system->joints[i];
        const double *right = r->right + block_lu_offset(r->lu, i);
        double momentum = equations->mass_factor * system->unit_mass[i];
        motion m;
        tree_motion(system, step->joints, step->q, i, &m);
        for (int k = l.first_residual; k < l.size; ++k) {
            double value = fabs(right[k]);
            if (k < l.first_internal) {
                value = measure_residual(&m, k - l.first_residual, momentum * value, &r->scales[i]);
            } else if (k >= l.first_joint) {
                const constraint_row row = joint_row(j, k - l.first_joint);
                value /= measure_row(system, j, &row, j->parent, i, step->q, step->delta);
            }
            if (!(value <= largest)) largest = value, *worst = i;
        }
    }
    return largest;
}

static double apply_increment(reduction *r, const step_data *step)
{
    const hn_system *system = r->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        double change[POSE_SIZE];
        coordinates_expand(&system->bodies[i], r->right + block_lu_offset(r->lu, i), change);
        double size = measure_move(system, step, i, change);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

// ---- closed chains ----------------------------------------------------------------------------------

// closure rows on an increment of the coordinates: G_c delta q
static void closure_products(const reduction *r, const step_data *step, const double *solution,
                             double *products)
{
    const hn_system *system = r->system;
    int place = 0;
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        const int body[2] = {j->parent, j->child};
        for (int k = 0; k < j->row_count; ++k) {
            if (!closures_is_kept(r->closures, c, k)) continue;
            hn_vec3 gradient[8];
            double sum = 0.0;
            const constraint_row row = joint_row(j, k);
            row_gradient(&row, system_pose(step->q, body[0]), system_pose(step->q, body[1]),
                         gradient);
            for (int side = 0; side < 2; ++side) {
                double change[POSE_SIZE];
                if (body[side] < 0) continue;
                coordinates_expand(&system->bodies[body[side]],
                                   solution + block_lu_offset(r->lu, body[side]), change);
                for (int x = 0; x < 4; ++x)
                    sum += vec3_dot(gradient[4 * side + x], vec3_load(change + 3 * x));
            }
            products[place++] = sum;
        }
    }
}

// g_c of the rows that are kept; returns the largest, relative
static double closure_gaps(const reduction *r, const step_data *step, double *gaps)
{
    const hn_system *system = r->system;
    double largest = 0.0;
    int place = 0;
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        for (int k = 0; k < j->row_count; ++k) {
            if (!closures_is_kept(r->closures, c, k)) continue;
            const constraint_row row = joint_row(j, k);
            gaps[place] =
                row_value(&row, system_pose(step->q, j->parent), system_pose(step->q, j->child));
            double size = fabs(gaps[place]) /
                          measure_row(system, j, &row, j->parent, j->child, step->q, step->delta);
            if (!(size <= largest)) largest = size;
            place++;
        }
    }
    return largest;
}

// The increment of (N1); of (C14): rows of r gain Q_1 s, and G_c delta q = -g_c gives s. False when that is singular.
static bool solve_increment(reduction *r, const step_data *step, const double *gaps)
{
    const hn_system *system = r->system;
    int count = r->closures == NULL ? 0 : closure_range_count(r->range),
        size = block_lu_size(r->lu);
    for (int k = 0; k < size; ++k) r->right[k] = -r->right[k];
    block_lu_solve(r->lu, r->right);
    if (count == 0) return true;
    for (int c = 0; c < count; ++c) {
        const double *column = closure_range_column(r->range, c);
        double *answer = r->answers + (size_t)c * (size_t)size;
        memset(answer, 0, (size_t)size * sizeof(double));
        for (int i = 0; i < system->body_count; ++i)
            for (int k = 0; k < system->joints[i].dof; ++k)
                answer[block_lu_offset(r->lu, i) + layout_of(system, i).first_residual + k] =
                    column[system->dof_offset[i] + k];
        block_lu_solve(r->lu, answer);
        closure_products(r, step, answer, r->part);
        for (int k = 0; k < count; ++k) r->matrix[k * count + c] = r->part[k];
    }
    if (!small_lu_factor(count, count, r->matrix, r->exchange)) return false;
    closure_products(r, step, r->right, r->part);
    for (int k = 0; k < count; ++k) r->part[k] += gaps[k];
    small_lu_solve(count, count, r->matrix, r->exchange, 1, 1, r->part);
    for (int c = 0; c < count; ++c)
        for (int k = 0; k < size; ++k)
            r->right[k] -= r->part[c] * r->answers[(size_t)c * (size_t)size + (size_t)k];
    return true;
}

// (Z1), and the multipliers of Q_1^T r that belong to the iterate. False: singular.
static bool find_multipliers(reduction *r, const step_equations *equations, const step_data *step)
{
    const hn_system *system = r->system;
    double *sizes = r->residuals + system->dof;
    if (!closure_range_find(r->range, equations, step)) return false;
    find_wrenches(r, equations, step);
    closure_range_residuals(r->range, equations, step, r->wrench, r->residuals);
    measure_bodies(system, equations, step, r->scales);
    measure_transmit(system, r->scales);
    for (int i = 0; i < system->body_count; ++i) {
        motion m;
        tree_motion(system, step->joints, step->q, i, &m);
        for (int k = 0; k < m.dof; ++k)
            sizes[system->dof_offset[i] + k] = vec3_norm(m.linear[k]) * r->scales[i].force +
                                               vec3_norm(m.angular[k]) * r->scales[i].moment;
    }
    closure_range_eliminate(r->range, r->residuals, sizes, step);
    return true;
}

// Newton's method for (N1), with `closures` for (C14).
static hn_status iterate(reduction *r, const step_equations *equations, step_data *step,
                         const newton_options *options, newton_report *report)
{
    const bool closed = r->closures != NULL;
    double gaps[CLOSURE_RANGE_MAX];
    newton n = newton_begin(options, report, (newton_guards){.jumps = closed});
    if (closed && !options->continued)
        memset(step->closure, 0, (size_t)r->system->cut_row_count * sizeof(double));
    while (newton_goes_on(&n)) {
        if (closed && !find_multipliers(r, equations, step)) return HN_SINGULAR_SYSTEM;
        assemble(r, equations, step);
        double residual = residual_size(r, equations, step, &report->worst_body);
        if (closed) residual = fmax(residual, closure_gaps(r, step, gaps));
        if (!newton_takes_residual(&n, residual, residual)) return n.status;
        int node = block_lu_factor(r->lu);
        if (node >= 0) report->worst_body = node;
        if (node >= 0 || !solve_increment(r, step, gaps)) return newton_stuck(&n);
        if (!newton_takes_increment(&n, apply_increment(r, step))) return n.status;
        if (report->increment > options->increment_tolerance) continue;
        // the multipliers of the solution
        return !closed || find_multipliers(r, equations, step) ? HN_OK : HN_SINGULAR_SYSTEM;
    }
    return n.status;
}

// By the QR decomposition, or by the saddle-point system where rank is about to change.
static hn_status solve_loops(reduction *r, const step_equations *equations, step_data *step,
                             const newton_options *options, newton_report *report)
{
    const hn_system *system = r->system;
    size_t poses = POSE_SIZE * (size_t)system->body_count;
    row_choice choice;
    newton_options afresh = *options;
    afresh.continued = afresh.keep_rows = false;
    if (options->freezing > 0.0 ||
        !closures_choose(r->closures, step->q_start, options->keep_rows, &choice))
        return reduction_multipliers.solve(r->with_multipliers, equations, step, &afresh, report);
    newton_note_loops(report, &choice);
    newton_report begun = *report;
    memcpy(r->q_begun, step->q, poses * sizeof(double));
    memcpy(r->q_begun + poses, step->delta, poses * sizeof(double));
    hn_status status = iterate(r, equations, step, options, report);
    if (system->element_count == 0) closures_clear_forces(r->closures, step);
    if (status == HN_OK && closures_all_hold(r->closures, step->q)) {
        for (int i = 0; i < system->body_count; ++i) step_body_from_delta(system, step, i);
        return HN_OK;
    }
    if (options->residual_tolerance == 0.0) return status; // an iteration that is not to stop
    memcpy(step->q, r->q_begun, poses * sizeof(double));
    memcpy(step->delta, r->q_begun + poses, poses * sizeof(double));
    *report = begun;
    return reduction_multipliers.solve(r->with_multipliers, equations, step, &afresh, report);
}

static hn_status nullspace_solve(reduction *r, const step_equations *equations, step_data *step,
                                 const newton_options *options, newton_report *report)
{
    if (r->closures != NULL) return solve_loops(r, equations, step, options, report);
    if (r->with_multipliers != NULL)
        return reduction_multipliers.solve(r->with_multipliers, equations, step, options, report);
    TRY(iterate(r, equations, step, options, report));
    for (int i = 0; i < r->system->body_count; ++i) step_body_from_delta(r->system, step, i);
    return HN_OK;
}

static hn_status nullspace_condition(reduction *r, const step_equations *equations, step_data *step,
                                     double *condition)
{
    return iteration_condition(r->system, equations, step, CONDITION_COORDINATES, condition);
}

static int nullspace_unknown_count(const hn_system *system)
{
    return system->coordinate_count;
}

static const char *nullspace_loops(const reduction *r)
{
    if (r->closures != NULL) return "by the null space of their closure rows";
    return r->with_multipliers != NULL ? LOOPS_SPARSE : "";
}

const reduction_type reduction_nullspace = {
    .create = nullspace_create,
    .destroy = nullspace_destroy,
    .solve = nullspace_solve,
    .condition = nullspace_condition,
    .unknown_count = nullspace_unknown_count,
    .loops = nullspace_loops,
    .joint_prediction = false,
};
