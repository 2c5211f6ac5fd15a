// SPDX-License-Identifier: MIT
// Condition numbers as the papers form them. Note: docs/theory/closed-loops.md
//
//   (C8)  [Z^T P^T K P; G_cut P] in joint increments,  [Z^T P^T K; G] in coordinates,  [K, sigma G^T; G, 0] with
//         multipliers
//
// with K = d(rho + sigma G^T lambda)/dq, P the null space of the tree's constraints and Z that of the closure
// conditions on the tree.
#include "reductions/condition.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/pool.h"
#include "linalg/dense.h"
#include "linalg/small_span.h"
#include "reductions/coordinates.h"
#include "reductions/saddle.h"
#include "system/kinematics.h"

#include <string.h>

// Rows shorter than this times the longest follow from those of the tree and those chosen before.
static const double DEPENDENT = 1e-8;

// Dense matrices, row-major. `w`: where forces act, `q`: at the end of the step, `n`: at its start.
typedef struct workspace {
    size_t n, d;                      // coordinates, joint increments of the tree
    double *stiffness;                // K, n x n
    double *null_w, *null_q, *null_n; // P, n x d
    double *rows_w, *rows_q, *rows_n; // G, m x n
    double *closure;                  // rows of cut joints in joint increments, at most m x d
    double *square, *vectors,
        *values; // d x d: chosen directions, then the square of their rows; its eigenvectors; d
    double *half, *projected; // K P, n x d; P^T K (P), d x n
    double *matrix;           // at most n x n
    double *pose, *twists;    // 12 and 6 per body
    int *offset, *chosen;     // first coordinate of each body; chosen rows of the cut joints
    int *owner;               // of constraints: a body of each
} workspace;

static void layout(arena *a, const hn_system *system, workspace *w)
{
    size_t n = w->n = (size_t)system->coordinate_count, d = w->d = (size_t)system->dof,
           m = (size_t)system->constraint_count, bodies = (size_t)system->body_count;
    double **const null_spaces[] = {&w->null_w, &w->null_q, &w->null_n, &w->half};
    double **const rows[] = {&w->rows_w, &w->rows_q, &w->rows_n};
    for (int k = 0; k < 4; ++k) *null_spaces[k] = arena_doubles(a, n * d);
    for (int k = 0; k < 3; ++k) *rows[k] = arena_doubles(a, m * n);
    w->stiffness = arena_doubles(a, n * n);
    w->closure = arena_doubles(a, m * d);
    w->square = arena_doubles(a, d * d);
    w->vectors = arena_doubles(a, d * d);
    w->values = arena_doubles(a, d);
    w->projected = arena_doubles(a, d * n);
    w->matrix = arena_doubles(a, n * n);
    w->pose = arena_doubles(a, POSE_SIZE * bodies);
    w->twists = arena_doubles(a, TWIST_SIZE * bodies);
    w->offset = arena_ints(a, bodies + 1);
    w->chosen = arena_ints(a, m + 1);
    w->owner = arena_ints(a, m + 1);
}

// Dense null space matrix of the tree at the poses q: coordinate_count x dof, row-major, bodies in tree order.
static void tree_null_space(const hn_system *system, const step_data *step, const double *q,
                            const workspace *w, double *p)
{
    for (int column = 0; column < system->dof; ++column) {
        for (int i = 0; i < system->body_count; ++i) {
            double u[JOINT_DOF_MAX] = {0.0}, *t = w->twists + TWIST_SIZE * (size_t)i, v[POSE_SIZE],
                   x[POSE_SIZE];
            motion m;
            tree_motion(system, step->joints, q, i, &m);
            int own = column - system->dof_offset[i];
            if (own >= 0 && own < m.dof) u[own] = 1.0;
            motion_apply(&m,
                         system->parent[i] < 0 ? NULL
                                               : w->twists + TWIST_SIZE * (size_t)system->parent[i],
                         u, t);
            twist_to_velocity(system_pose(q, i), t, v);
            coordinates_contract(&system->bodies[i], v, x);
            for (int k = 0; k < system->bodies[i].coordinate_count; ++k)
                p[(size_t)(w->offset[i] + k) * (size_t)system->dof + (size_t)column] = x[k];
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

// rows of all constraints at poses q (internal, tree joints, cut joints) as a dense matrix; returns how many of them,
// the first ones, belong to the tree
static int constraint_matrix(const hn_system *system, const double *q, const workspace *w,
                             double *g)
{
    int rows = 0;
    size_t n = w->n;
    const int *offset = w->offset;
    constraint_row row;
    hn_vec3 gradient[8];
    memset(g, 0, (size_t)system->constraint_count * n * sizeof(double));
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < system->bodies[i].internal_count; ++k, ++rows) {
            row_internal(k, &row);
            w->owner[rows] = i;
            row_gradient(&row, system_pose(q, i), system_pose(q, i), gradient);
            for (int x = 0; x < 4; ++x)
                vec3_store(gradient[x], g + (size_t)rows * n + (size_t)(offset[i] + 3 * x));
        }
    for (int k = 0; k < system->body_count + system->cut_count; ++k) {
        bool cut = k >= system->body_count;
        const joint *j = cut ? &system->cuts[k - system->body_count] : &system->joints[k];
        int a = !cut && j->child_is_a ? j->child : j->parent,
            b = !cut && j->child_is_a ? j->parent : j->child;
        for (int r = 0; r < j->row_count; ++r, ++rows) {
            row = joint_row(j, r);
            w->owner[rows] = b < 0 ? a : b;
            row_gradient(&row, system_pose(q, a), system_pose(q, b), gradient);
            for (int x = 0; x < 8; ++x) {
                int body = x < 4 ? a : b;
                if (body < 0 || x % 4 >= coordinate_vectors(&system->bodies[body])) continue;
                int width = coordinate_width(&system->bodies[body]);
                coordinates_of(&system->bodies[body], gradient[x],
                               g + (size_t)rows * n + (size_t)(offset[body] + width * (x % 4)));
            }
        }
    }
    return rows - system->cut_row_count;
}

// K at the solution; null spaces and rows at the three positions
static hn_status find_matrices(hn_system *system, const step_equations *equations,
                               const step_data *step, workspace *w, int *fixed)
{
    saddle *coordinates = NULL;
    hn_status status = saddle_create(system, SADDLE_COORDINATES, &coordinates);
    if (status == HN_OK) status = saddle_stiffness(coordinates, equations, step, w->stiffness);
    saddle_destroy(coordinates);
    if (status != HN_OK) return status;
    for (int i = 0, used = 0; i < system->body_count; ++i) {
        w->offset[i] = used;
        used += system->bodies[i].coordinate_count;
        step_projection_pose(equations, step, i, w->pose + POSE_SIZE * (size_t)i);
    }
    tree_null_space(system, step, w->pose, w, w->null_w);
    tree_null_space(system, step, step->q, w, w->null_q);
    tree_null_space(system, step, step->q_start, w, w->null_n);
    constraint_matrix(system, w->pose, w, w->rows_w);
    constraint_matrix(system, step->q, w, w->rows_q);
    *fixed = constraint_matrix(system, step->q_start, w, w->rows_n);
    return HN_OK;
}

// The length that closure rows of q_n may have on the tree: longest row times the fastest coordinate at unit
// rates of all joints. Rows that follow from the tree's are round-off of it.
static double longest_closure(int cut_rows, const double *rows, const workspace *w)
{
    double longest = 0.0, fastest = 0.0;
    for (int r = 0; r < cut_rows; ++r) {
        const double *row = rows + (size_t)r * w->n;
        longest = fmax(longest, array_dot(row, row, w->n));
    }
    for (size_t k = 0; k < w->n; ++k) {
        const double *rates = w->null_n + k * w->d;
        fastest = fmax(fastest, array_dot(rates, rates, w->d));
    }
    return sqrt(longest * fastest);
}

// Independent closure rows on the tree at q_n: at each stage the one farthest from those before. Returns their number.
static int choose_closure_rows(int cut_rows, int fixed, workspace *w)
{
    const double *rows = w->rows_n + (size_t)fixed * w->n;
    double length = longest_closure(cut_rows, rows, w);
    product(false, cut_rows, (int)w->n, (int)w->d, rows, w->null_n, w->closure);
    return small_span((int)w->d, cut_rows, w->closure, DEPENDENT * length, w->square, w->chosen);
}

// Z: null space of the chosen rows on the tree where forces act, in the first columns of w->vectors
static hn_status find_closure_null_space(hn_context *context, int fixed, int kept, workspace *w)
{
    int n = (int)w->n, d = (int)w->d;
    for (int r = 0; r < kept; ++r)
        product(false, 1, n, d, w->rows_w + (size_t)(fixed + w->chosen[r]) * w->n, w->null_w,
                w->closure + (size_t)r * w->d);
    product(true, d, kept, d, w->closure, w->closure, w->square);
    return dense_symmetric_eigen(context, d, w->square, w->values, w->vectors);
}

// (C8) into w->matrix; returns its size
static int fill_matrix(bool coordinates, int fixed, int kept, workspace *w)
{
    int n = (int)w->n, d = (int)w->d, size = coordinates ? n : d, free_count = d - kept;
    size_t wide = (size_t)size;
    if (!coordinates) product(false, n, n, d, w->stiffness, w->null_q, w->half);
    product(true, d, n, size, w->null_w, coordinates ? w->stiffness : w->half, w->projected);
    memset(w->matrix, 0, wide * wide * sizeof(double));
    for (int z = 0; z < free_count; ++z)
        for (size_t k = 0; k < wide; ++k)
            for (size_t i = 0; i < w->d; ++i)
                w->matrix[(size_t)z * wide + k] +=
                    w->vectors[i * w->d + (size_t)z] * w->projected[i * wide + k];
    int row = free_count;
    for (int r = coordinates ? 0 : fixed; r < fixed + kept; ++r, ++row) {
        int from = r < fixed ? r : fixed + w->chosen[r - fixed];
        const double *g = w->rows_q + (size_t)from * w->n;
        if (coordinates) memcpy(w->matrix + (size_t)row * wide, g, wide * sizeof(double));
        else product(false, 1, n, d, g, w->null_q, w->matrix + (size_t)row * wide);
    }
    return size;
}

// [K, sigma G_w^T; G, 0]. Its inverse comes from the matrix with rows over D_r and columns over D_c, so that it is
// accurate although the matrix may be ill-conditioned beyond 1/epsilon.
static hn_status whole_condition(const hn_system *system, const step_equations *equations,
                                 int fixed, int kept, const workspace *w, double *condition)
{
    size_t n = w->n, size = n + (size_t)fixed + (size_t)kept;
    pool memory = {.context = system->context};
    double *matrix = pool_doubles(&memory, size * size),
           *inverse = pool_doubles(&memory, size * size), norm = 0.0, inverse_norm = 0.0,
           *row_factor = pool_doubles(&memory, size), *column_factor = pool_doubles(&memory, size);
    hn_status status = pool_status(&memory);
    if (status != HN_OK) goto done;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < system->bodies[i].coordinate_count; ++k) {
            row_factor[w->offset[i] + k] = equations->mass_factor * system->unit_mass[i];
            column_factor[w->offset[i] + k] = 1.0;
        }
    for (size_t i = 0; i < n; ++i)
        memcpy(matrix + i * size, w->stiffness + i * n, n * sizeof(double));
    for (size_t row = n; row < size; ++row) {
        int r = (int)(row - n), from = r < fixed ? r : fixed + w->chosen[r - fixed];
        const double *g = w->rows_q + (size_t)from * n, *g_w = w->rows_w + (size_t)from * n;
        memcpy(matrix + row * size, g, n * sizeof(double));
        for (size_t k = 0; k < n; ++k)
            matrix[k * size + row] = equations->multiplier_factor * g_w[k];
        row_factor[row] = 1.0;
        column_factor[row] = equations->multiplier_factor /
                             (equations->mass_factor * system->unit_mass[w->owner[from]]);
    }
    for (size_t k = 0; k < size * size; ++k)
        inverse[k] = matrix[k] / (row_factor[k / size] * column_factor[k % size]);
    status = dense_invert(system->context, (int)size, inverse);
    for (size_t k = 0; k < size * size; ++k)
        inverse[k] /= column_factor[k / size] * row_factor[k % size];
    if (status == HN_OK) status = dense_norm(system->context, (int)size, (int)size, matrix, &norm);
    if (status == HN_OK)
        status = dense_norm(system->context, (int)size, (int)size, inverse, &inverse_norm);
    *condition = norm * inverse_norm;
done:
    pool_release(&memory);
    return status;
}

hn_status iteration_condition(hn_system *system, const step_equations *equations,
                              const step_data *step, condition_unknowns unknowns, double *condition)
{
    hn_context *context = system->context;
    workspace w;
    arena memory = {0};
    layout(&memory, system, &w);
    char *block = context_allocate(context, memory.used);
    if (block == NULL) return HN_OUT_OF_MEMORY;
    memory = (arena){.block = block};
    layout(&memory, system, &w);
    int fixed = 0;
    hn_status status = find_matrices(system, equations, step, &w, &fixed);
    if (status == HN_OK) {
        int kept = choose_closure_rows(system->cut_row_count, fixed, &w);
        if (unknowns == CONDITION_MULTIPLIERS)
            status = whole_condition(system, equations, fixed, kept, &w, condition);
        else status = find_closure_null_space(context, fixed, kept, &w);
        if (status == HN_OK && unknowns != CONDITION_MULTIPLIERS)
            status = dense_condition(
                context, fill_matrix(unknowns == CONDITION_COORDINATES, fixed, kept, &w), w.matrix,
                condition);
    }
    context_release(context, block);
    return status;
}
