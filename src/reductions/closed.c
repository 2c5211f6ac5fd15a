// SPDX-License-Identifier: MIT
// Closed loops: the iterate moves on the manifold of the tree, the cut joints stay as equations with their multipliers.
// Note: docs/theory/closed-loops.md
//
//   (C1)  P_o(q_w)^T (rho + sigma G_c(q_w)^T lambda_c) = 0,   g_c(q) = 0,   q on the tree's manifold       (LMO 94-96)
//
// The Newton direction of (C1) is that of the sparse saddle-point system with the multipliers of all joints: on the
// tree's manifold its solution satisfies G_tree delta q = 0, so that it is delta q = P_o delta u. One factorisation
// serves few and many loops; redundant closure rows are chosen out at q_n, where that is well posed, and checked after
// the step.
#include "reductions/closed.h"

#include "linalg/dense.h"
#include "reductions/coordinates.h"
#include "reductions/saddle_newton.h"
#include "system/kinematics.h"

#include <string.h>

struct closed {
    hn_system *system;
    saddle *saddle;
    double *twists;            // delta t, 6 per body
    double *increments;        // delta u, dof
    closed_correction correct; // or NULL
    void *correct_owner;
};

void closed_destroy(closed *c)
{
    if (c == NULL) return;
    hn_context *context = c->system->context;
    saddle_destroy(c->saddle);
    context_release(context, c->twists);
    context_release(context, c->increments);
    context_release(context, c);
}

static hn_status create(hn_system *system, bool statics, closed **out)
{
    *out = NULL;
    hn_context *context = system->context;
    closed *c = context_allocate(context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    c->system = system;
    c->twists = context_allocate(context, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    c->increments = context_allocate(context, ((size_t)system->dof + 1) * sizeof(double));
    hn_status status = c->twists == NULL || c->increments == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK && statics) status = saddle_create_for_statics(system, &c->saddle);
    else if (status == HN_OK) status = saddle_create(system, SADDLE_TWISTS, &c->saddle);
    if (status != HN_OK) {
        closed_destroy(c);
        return status;
    }
    *out = c;
    return HN_OK;
}

hn_status closed_create(hn_system *system, closed **out)
{
    return create(system, false, out);
}

hn_status closed_create_for_statics(hn_system *system, closed **out)
{
    return create(system, true, out);
}

saddle *closed_system(closed *c)
{
    return c->saddle;
}

void closed_set_correction(closed *c, closed_correction correct, void *owner)
{
    c->correct = correct;
    c->correct_owner = owner;
}

// joint increments of the last solution; returns its size
static double find_increments(closed *c, const step_data *step)
{
    const hn_system *system = c->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i)
        saddle_body_increment(c->saddle, i, c->twists + TWIST_SIZE * (size_t)i);
    if (c->correct != NULL && !c->correct(c->correct_owner, c->twists)) return HUGE_VAL;
    for (int i = 0; i < system->body_count; ++i) {
        double *t = c->twists + TWIST_SIZE * (size_t)i;
        double size = measure_twist(measure_length(system, i, step->q, step->delta), t);
        if (!(size <= largest)) largest = size;
        motion m;
        tree_motion(system, step->joints, step->q, i, &m);
        motion_rates(
            &m, system->parent[i] < 0 ? NULL : c->twists + TWIST_SIZE * (size_t)system->parent[i],
            t, c->increments + system->dof_offset[i]);
    }
    return largest;
}

// the iterate moved by joint increments
static double move(void *owner, step_data *step)
{
    closed *c = owner;
    double size = find_increments(c, step);
    if (isfinite(size)) tree_advance(c->system, c->increments, step);
    return size;
}

void closed_settle(const hn_system *system, const double *twists, step_data *step)
{
    const double LARGEST = 1e-9; // rad, m over the body's length
    for (int i = 0; i < system->body_count; ++i)
        if (!(measure_twist(measure_length(system, i, step->q, step->delta),
                            twists + TWIST_SIZE * (size_t)i) <= LARGEST))
            return;
    for (int i = 0; i < system->body_count; ++i) {
        double change[POSE_SIZE], *q = step->q + POSE_SIZE * (size_t)i;
        twist_to_velocity(q, twists + TWIST_SIZE * (size_t)i, change);
        int count = system->bodies[i].has_directors ? POSE_SIZE : 3;
        for (int k = 0; k < count; ++k) q[k] += change[k];
        const joint *j = &system->joints[i];
        joint_step here = {0};
        joint_type_of(j->kind)->begin(j, system_pose(step->q, j->parent), q, &here);
        joint_type_of(j->kind)->settle(j, &here, system_pose(step->q, j->parent), q);
    }
}

static void settle(closed *c, step_data *step)
{
    if (!saddle_solve_constraints(c->saddle, step->q)) return;
    for (int i = 0; i < c->system->body_count; ++i)
        saddle_body_increment(c->saddle, i, c->twists + TWIST_SIZE * (size_t)i);
    closed_settle(c->system, c->twists, step);
}

hn_status closed_solve(closed *c, const step_equations *equations, step_data *step,
                       const newton_options *options, newton_report *report)
{
    TRY(saddle_newton(c->saddle, equations, step, options, report, move, c));
    settle(c, step);
    return HN_OK;
}

// ---- condition number -------------------------------------------------------------------------------

// Dense null space matrix of the tree at the poses q: coordinate_count x dof, row-major, bodies in tree order.
static void tree_null_space(const closed *c, const step_data *step, const double *q,
                            const int *offset, double *p)
{
    const hn_system *system = c->system;
    for (int column = 0; column < system->dof; ++column) {
        for (int i = 0; i < system->body_count; ++i) {
            double u[JOINT_DOF_MAX] = {0.0}, *t = c->twists + TWIST_SIZE * (size_t)i, v[POSE_SIZE],
                   x[POSE_SIZE];
            motion m;
            tree_motion(system, step->joints, q, i, &m);
            int own = column - system->dof_offset[i];
            if (own >= 0 && own < m.dof) u[own] = 1.0;
            motion_apply(&m,
                         system->parent[i] < 0 ? NULL
                                               : c->twists + TWIST_SIZE * (size_t)system->parent[i],
                         u, t);
            twist_to_velocity(system_pose(q, i), t, v);
            coordinates_contract(&system->bodies[i], v, x);
            for (int k = 0; k < system->bodies[i].coordinate_count; ++k)
                p[(size_t)(offset[i] + k) * (size_t)system->dof + (size_t)column] = x[k];
        }
    }
}

// c = a^T b or a b, row-major; a is rows x inner after the optional transposition
static void product(bool transpose, int rows, int inner, int columns, const double *a,
                    const double *b, double *c)
{
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            double sum = 0.0;
            for (int k = 0; k < inner; ++k)
                sum += (transpose ? a[(size_t)k * (size_t)rows + (size_t)i]
                                  : a[(size_t)i * (size_t)inner + (size_t)k]) *
                       b[(size_t)k * (size_t)columns + (size_t)j];
            c[(size_t)i * (size_t)columns + (size_t)j] = sum;
        }
}

// rows of all constraints at poses q (internal, tree joints, cut joints) as a dense matrix; returns their number. The
// first `*fixed` of them belong to the tree.
static int constraint_matrix(const hn_system *system, const double *q, const int *offset, int n,
                             double *g, int *fixed)
{
    int rows = 0;
    constraint_row row;
    hn_vec3 gradient[8];
    memset(g, 0, (size_t)system->constraint_count * (size_t)n * sizeof(double));
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < system->bodies[i].internal_count; ++k, ++rows) {
            row_internal(k, &row);
            row_gradient(&row, system_pose(q, i), system_pose(q, i), gradient);
            for (int x = 0; x < 4; ++x)
                vec3_store(gradient[x], g + (size_t)rows * (size_t)n + (size_t)(offset[i] + 3 * x));
        }
    for (int k = 0; k < system->body_count + system->cut_count; ++k) {
        bool cut = k >= system->body_count;
        const joint *j = cut ? &system->cuts[k - system->body_count] : &system->joints[k];
        if (k == system->body_count) *fixed = rows;
        int a = !cut && j->child_is_a ? j->child : j->parent,
            b = !cut && j->child_is_a ? j->parent : j->child;
        for (int r = 0; r < j->row_count; ++r, ++rows) {
            joint_type_of(j->kind)->row(j, r, &row);
            row_gradient(&row, system_pose(q, a), system_pose(q, b), gradient);
            for (int x = 0; x < 8; ++x) {
                int body = x < 4 ? a : b;
                if (body < 0 || x % 4 >= coordinate_vectors(&system->bodies[body])) continue;
                int width = coordinate_width(&system->bodies[body]);
                coordinates_of(&system->bodies[body], gradient[x],
                               g + (size_t)rows * (size_t)n +
                                   (size_t)(offset[body] + width * (x % 4)));
            }
        }
    }
    if (system->cut_count == 0) *fixed = rows;
    return rows;
}

hn_status closed_condition(closed *c, const step_equations *equations, const step_data *step,
                           bool coordinates, double *condition)
{
    const hn_system *system = c->system;
    hn_context *context = system->context;
    size_t n = (size_t)system->coordinate_count, d = (size_t)system->dof,
           m = (size_t)system->constraint_count;
    size_t total = n * n * 4 + 4 * n * d + 4 * m * n + d * d * 4 +
                   POSE_SIZE * (size_t)system->body_count + n + d + 64;
    double *memory = context_allocate(context, total * sizeof(double));
    int *offset = context_allocate(context, ((size_t)system->body_count + 1) * sizeof(int));
    hn_status status = HN_OUT_OF_MEMORY;
    if (memory == NULL || offset == NULL) goto done;
    double *next = memory;
    double *stiffness = next, *null_w = stiffness + n * n, *null_q = null_w + n * d,
           *kp = null_q + n * d;
    double *rows_w = kp + n * n, *rows_q = rows_w + m * n, *rows_n = rows_q + m * n,
           *jacobian = rows_n + m * n;
    double *gram = jacobian + m * n, *vectors = gram + d * d, *values = vectors + d * d,
           *matrix = values + d;
    double *pose = matrix + n * n;
    int used = 0, fixed = 0;
    for (int i = 0; i < system->body_count; ++i)
        offset[i] = used, used += system->bodies[i].coordinate_count;

    // K = d(rho + sigma G^T lambda)/dq at the solution
    saddle *dense_saddle = NULL;
    status = saddle_create(c->system, SADDLE_COORDINATES, &dense_saddle);
    if (status == HN_OK) status = saddle_stiffness(dense_saddle, equations, step, stiffness);
    saddle_destroy(dense_saddle);
    if (status != HN_OK) goto done;
    for (int i = 0; i < system->body_count; ++i)
        step_projection_pose(equations, step, i, pose + POSE_SIZE * (size_t)i);
    tree_null_space(c, step, pose, offset, null_w);
    tree_null_space(c, step, step->q, offset, null_q);
    constraint_matrix(system, pose, offset, (int)n, rows_w, &fixed);
    constraint_matrix(system, step->q, offset, (int)n, rows_q, &fixed);
    constraint_matrix(system, step->q_start, offset, (int)n, rows_n, &fixed);

    // independent closure rows on the tree at q_n: at each stage the one farthest from those before (pivoted
    // Gram-Schmidt)
    int cut_rows = system->cut_row_count, kept = 0;
    int *chosen = (int *)(void *)(pose + POSE_SIZE * (size_t)system->body_count);
    tree_null_space(c, step, step->q_start, offset, kp);
    product(false, cut_rows, (int)n, (int)d, rows_n + (size_t)fixed * n, kp, jacobian);
    double largest = 0.0;
    while (kept < cut_rows && kept < (int)d) {
        int best = 0;
        double size = -1.0;
        for (int r = 0; r < cut_rows; ++r) {
            double sum = 0.0, *row = jacobian + (size_t)r * d;
            for (size_t k = 0; k < d; ++k) sum += row[k] * row[k];
            if (sum > size) size = sum, best = r;
        }
        largest = fmax(largest, size);
        if (size <= 1e-16 * largest) break;
        double *unit = gram + (size_t)kept * d;
        for (size_t k = 0; k < d; ++k) unit[k] = jacobian[(size_t)best * d + k] / sqrt(size);
        for (int r = 0; r < cut_rows; ++r) {
            double dot = 0.0, *row = jacobian + (size_t)r * d;
            for (size_t k = 0; k < d; ++k) dot += unit[k] * row[k];
            for (size_t k = 0; k < d; ++k) row[k] = r == best ? 0.0 : row[k] - dot * unit[k];
        }
        chosen[kept++] = best;
    }

    // Z: null space of the chosen rows on the tree where forces act
    for (int r = 0; r < kept; ++r)
        product(false, 1, (int)n, (int)d, rows_w + ((size_t)fixed + (size_t)chosen[r]) * n, null_w,
                jacobian + (size_t)r * d);
    product(true, (int)d, kept, (int)d, jacobian, jacobian, gram);
    status = dense_symmetric_eigen(context, (int)d, gram, values, vectors);
    if (status != HN_OK) goto done;
    int free_count = (int)d - kept, size = coordinates ? (int)n : (int)d;
    // P^T K (P), then Z^T of it, then the constraint rows
    if (coordinates) product(true, (int)d, (int)n, (int)n, null_w, stiffness, kp);
    else {
        product(false, (int)n, (int)n, (int)d, stiffness, null_q, matrix);
        product(true, (int)d, (int)n, (int)d, null_w, matrix, kp);
    }
    memset(matrix, 0, (size_t)size * (size_t)size * sizeof(double));
    for (int z = 0; z < free_count; ++z)
        for (int k = 0; k < size; ++k)
            for (size_t i = 0; i < d; ++i)
                matrix[(size_t)z * (size_t)size + (size_t)k] +=
                    vectors[i * d + (size_t)z] * kp[i * (size_t)size + (size_t)k];
    int row = free_count;
    if (coordinates)
        for (int r = 0; r < fixed; ++r, ++row)
            memcpy(matrix + (size_t)row * n, rows_q + (size_t)r * n, n * sizeof(double));
    for (int r = 0; r < kept; ++r, ++row) {
        const double *from = rows_q + ((size_t)fixed + (size_t)chosen[r]) * n;
        if (coordinates) memcpy(matrix + (size_t)row * n, from, n * sizeof(double));
        else product(false, 1, (int)n, (int)d, from, null_q, matrix + (size_t)row * d);
    }
    double norm = 0.0, inverse_norm = 0.0;
    status = dense_norm(context, size, size, matrix, &norm);
    if (status == HN_OK) status = dense_invert(context, size, matrix);
    if (status == HN_OK) status = dense_norm(context, size, size, matrix, &inverse_norm);
    *condition = norm * inverse_norm;
done:
    context_release(context, memory);
    context_release(context, offset);
    return status;
}
