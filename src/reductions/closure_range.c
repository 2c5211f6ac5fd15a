// SPDX-License-Identifier: MIT
// QR decomposition of the closure forces on the joints of the tree.
#include "reductions/closure_range.h"

#include "base/array.h"
#include "reductions/row_vectors.h"

#include <string.h>

struct closure_range {
    hn_system *system;
    const closures *rows;
    int count;     // columns
    double *basis; // Q_1, a column after the other, dof each
    double *upper; // R, count x count
    int *cut_row;  // per column: row among those of all cut joints
    double *part;  // Q_1^T r
};

void closure_range_destroy(closure_range *c)
{
    if (c == NULL) return;
    hn_context *context = c->system->context;
    context_release(context, c->basis);
    context_release(context, c->upper);
    context_release(context, c->cut_row);
    context_release(context, c->part);
    context_release(context, c);
}

hn_status closure_range_create(hn_system *system, const closures *rows, closure_range **out)
{
    *out = NULL;
    hn_context *context = system->context;
    size_t n = (size_t)system->cut_row_count, d = (size_t)system->dof;
    closure_range *c = context_allocate(context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    *c = (closure_range){.system = system, .rows = rows};
    c->basis = context_allocate(context, (n * d + 1) * sizeof(double));
    c->upper = context_allocate(context, (n * n + 1) * sizeof(double));
    c->cut_row = context_allocate(context, (n + 1) * sizeof(int));
    c->part = context_allocate(context, (n + 1) * sizeof(double));
    if (c->basis == NULL || c->upper == NULL || c->cut_row == NULL || c->part == NULL) {
        closure_range_destroy(c);
        return HN_OUT_OF_MEMORY;
    }
    *out = c;
    return HN_OK;
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
    int rows = c->system->cut_row_count;
    size_t n = (size_t)c->system->dof;
    double before = sqrt(array_dot(column, column, n));
    for (int k = 0; k < c->count; ++k) c->upper[k * rows + c->count] = 0.0;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < c->count; ++k) {
            const double *other = c->basis + (size_t)k * n;
            double part = array_dot(other, column, n);
            c->upper[k * rows + c->count] += part;
            for (size_t i = 0; i < n; ++i) column[i] -= part * other[i];
        }
    double size = sqrt(array_dot(column, column, n));
    if (!(size > DEPENDENT * before)) return false;
    c->upper[c->count * rows + c->count] = size;
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
            constraint_row row;
            row_vectors v;
            double *column = c->basis + (size_t)c->count * (size_t)system->dof;
            memset(column, 0, (size_t)system->dof * sizeof(double));
            joint_type_of(j->kind)->row(j, r, &row);
            find_row_vectors(&row, pose[0], pose[1], &v);
            for (int side = 0; side < 2; ++side) {
                double wrench[TWIST_SIZE];
                row_wrench(&row, &v, side, wrench);
                add_to_root(c, equations, step, body[side], wrench, column);
            }
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

void closure_range_eliminate(closure_range *c, const double *residuals, const step_data *step)
{
    int rows = c->system->cut_row_count;
    for (int k = c->count - 1; k >= 0; --k) {
        // R x = -Q_1^T r
        double x = -array_dot(closure_range_column(c, k), residuals, (size_t)c->system->dof);
        for (int i = k + 1; i < c->count; ++i) x -= c->upper[k * rows + i] * c->part[i];
        c->part[k] = x / c->upper[k * rows + k];
        step->closure[c->cut_row[k]] += c->part[k];
    }
}
