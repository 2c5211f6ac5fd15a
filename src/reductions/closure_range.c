// SPDX-License-Identifier: MIT
// QR decomposition of the closure forces on the joints of the tree.
#include "reductions/closure_range.h"

#include "base/array.h"
#include "reductions/row_vectors.h"

#include <string.h>

struct closure_range {
    hn_system *system;
    const closures *rows;
    int count;      // columns
    double *basis;  // Q_1, a column after the other, dof each
    double *forces; // Q_1 R likewise
    double
        *rows_of_joints; // of the elimination: per degree of freedom the columns and the right side
    int *cut_row;        // per column: row among those of all cut joints
    int *order;          // of columns in the elimination
    pool memory;
};

void closure_range_destroy(closure_range *c)
{
    if (c == NULL) return;
    pool_release(&c->memory);
    context_release(c->system->context, c);
}

hn_status closure_range_create(hn_system *system, const closures *rows, closure_range **out)
{
    *out = NULL;
    hn_context *context = system->context;
    size_t n = (size_t)system->cut_row_count, d = (size_t)system->dof;
    closure_range *c = context_allocate(context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    *c = (closure_range){.system = system, .rows = rows, .memory = {.context = context}};
    c->basis = pool_doubles(&c->memory, n * d);
    c->forces = pool_doubles(&c->memory, n * d);
    c->rows_of_joints = pool_doubles(&c->memory, (n + 1) * d);
    c->cut_row = pool_ints(&c->memory, n);
    c->order = pool_ints(&c->memory, n);
    hn_status status = pool_status(&c->memory);
    if (status == HN_OK) *out = c;
    else closure_range_destroy(c);
    return status;
}

// The twist rule of a body's joint where the residual is projected.
static void projected_motion(const closure_range *c, const step_equations *equations,
                             const step_data *step, int body, motion *m)
{
    const joint *j = &c->system->joints[body];
    double parent[POSE_SIZE], child[POSE_SIZE];
    step_projection_pose(equations, step, j->parent, parent);
    step_projection_pose(equations, step, body, child);
    joint_type_of(j->kind)->motion(j, &step->joints[body], parent, child, m);
}

static void project(const motion *m, hn_vec3 force, hn_vec3 moment, double *r)
{
    for (int k = 0; k < m->dof; ++k)
        r[k] += vec3_dot(m->linear[k], force) + vec3_dot(m->angular[k], moment);
}

// P_o^T of a wrench on one body: its part in the joints between the body and the root
static void add_to_root(const closure_range *c, const step_equations *equations,
                        const step_data *step, int body, const double *wrench, double *column)
{
    hn_vec3 force = vec3_load(wrench), moment = vec3_load(wrench + 3);
    for (int i = body; i >= 0; i = c->system->parent[i]) {
        motion m;
        projected_motion(c, equations, step, i, &m);
        project(&m, force, moment, column + c->system->dof_offset[i]);
        if (m.carry == CARRY_NONE) return;
        moment = carry_moment(&m, force, moment);
    }
}

// One more column of the decomposition: Gram-Schmidt, twice.
static bool orthonormalise(closure_range *c, double *column)
{
    const double DEPENDENT = 1e-10;
    size_t n = (size_t)c->system->dof;
    double before = sqrt(array_dot(column, column, n));
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < c->count; ++k) {
            const double *other = c->basis + (size_t)k * n;
            double part = array_dot(other, column, n);
            for (size_t i = 0; i < n; ++i) column[i] -= part * other[i];
        }
    double size = sqrt(array_dot(column, column, n));
    if (!(size > DEPENDENT * before)) return false;
    for (size_t i = 0; i < n; ++i) column[i] /= size;
    return true;
}

bool closure_range_find(closure_range *c, const step_equations *equations, const step_data *step)
{
    const hn_system *system = c->system;
    c->count = 0;
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        double pose[2][POSE_SIZE];
        const int body[2] = {j->parent, j->child};
        for (int side = 0; side < 2; ++side)
            step_projection_pose(equations, step, body[side], pose[side]);
        for (int r = 0; r < j->row_count; ++r) {
            if (!closures_is_kept(c->rows, k, r)) continue;
            row_vectors v;
            double *column = c->basis + (size_t)c->count * (size_t)system->dof;
            memset(column, 0, (size_t)system->dof * sizeof(double));
            const constraint_row row = joint_row(j, r);
            find_row_vectors(&row, pose[0], pose[1], &v);
            for (int side = 0; side < 2; ++side) {
                double wrench[TWIST_SIZE];
                row_wrench(&row, &v, side, wrench);
                add_to_root(c, equations, step, body[side], wrench, column);
            }
            memcpy(c->forces + (size_t)c->count * (size_t)system->dof, column,
                   (size_t)system->dof * sizeof(double));
            if (!orthonormalise(c, column)) return false;
            c->cut_row[c->count++] = system->cut_row[k] + r;
        }
    }
    return true;
}

int closure_range_count(const closure_range *c)
{
    return c->count;
}

const double *closure_range_column(const closure_range *c, int k)
{
    return c->basis + (size_t)k * (size_t)c->system->dof;
}

void closure_range_residuals(const closure_range *c, const step_equations *equations,
                             const step_data *step, const double *wrench, double *residuals)
{
    memset(residuals, 0, (size_t)c->system->dof * sizeof(double));
    for (int i = 0; i < c->system->body_count; ++i) {
        motion m;
        const double *w = wrench + TWIST_SIZE * (size_t)i;
        projected_motion(c, equations, step, i, &m);
        project(&m, vec3_load(w), vec3_load(w + 3), residuals + c->system->dof_offset[i]);
    }
}

// Rows of joints, each over the size of its terms, and the columns over their largest number.
static void scale_rows(closure_range *c, const double *residuals, const double *sizes)
{
    int n = c->system->dof, m = c->count;
    for (int i = 0; i < n; ++i) {
        double over = sizes[i] > 0.0 ? 1.0 / sizes[i] : 1.0, *row = c->rows_of_joints + i * (m + 1);
        for (int k = 0; k < m; ++k) row[k] = over * c->forces[k * n + i];
        row[m] = -over * residuals[i];
    }
}

// Bring the largest number from (k, k) on to that place; false when there is none.
static bool find_pivot(closure_range *c, int k, const double *largest)
{
    int n = c->system->dof, m = c->count, row = k, column = k;
    double best = 0.0, *rows = c->rows_of_joints;
    for (int i = k; i < n; ++i)
        for (int j = k; j < m; ++j) {
            double size = fabs(rows[i * (m + 1) + j]) / largest[c->order[j]];
            if (size > best) best = size, row = i, column = j;
        }
    for (int j = 0; j <= m && row != k; ++j) {
        double other = rows[k * (m + 1) + j];
        rows[k * (m + 1) + j] = rows[row * (m + 1) + j];
        rows[row * (m + 1) + j] = other;
    }
    for (int i = 0; i < n && column != k; ++i) {
        double other = rows[i * (m + 1) + k];
        rows[i * (m + 1) + k] = rows[i * (m + 1) + column];
        rows[i * (m + 1) + column] = other;
    }
    int other = c->order[k];
    c->order[k] = c->order[column], c->order[column] = other;
    return best > 0.0;
}

void closure_range_eliminate(closure_range *c, const double *residuals, const double *sizes,
                             const step_data *step)
{
    int n = c->system->dof, m = c->count;
    double *rows = c->rows_of_joints, largest[CLOSURE_RANGE_MAX], x[CLOSURE_RANGE_MAX];
    scale_rows(c, residuals, sizes);
    for (int k = 0; k < m; ++k) {
        c->order[k] = k, largest[k] = 0.0;
        for (int i = 0; i < n; ++i) largest[k] = fmax(largest[k], fabs(rows[i * (m + 1) + k]));
        if (!(largest[k] > 0.0)) return;
    }
    for (int k = 0; k < m; ++k) {
        if (!find_pivot(c, k, largest)) return;
        const double *pivot = rows + k * (m + 1);
        for (int i = k + 1; i < n; ++i) {
            double *row = rows + i * (m + 1), part = row[k] / pivot[k];
            for (int j = k + 1; j <= m && part != 0.0; ++j) row[j] -= part * pivot[j];
        }
    }
    for (int k = m - 1; k >= 0; --k) {
        const double *row = rows + k * (m + 1);
        x[k] = row[m];
        for (int j = k + 1; j < m; ++j) x[k] -= row[j] * x[j];
        x[k] /= row[k];
        step->closure[c->cut_row[c->order[k]]] += x[k];
    }
}
