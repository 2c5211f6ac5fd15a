// SPDX-License-Identifier: MIT
// Self-stresses as the left null space of the joint rows on twists, found densely for models of moderate size.
#include "simulation/redundancy.h"

#include "linalg/dense.h"

#include <string.h>

enum { ROWS_MAX = 400 };
static const double NULL_TOLERANCE = 1e-13; // of the largest eigenvalue of G G^T
static const double UNIQUE_TOLERANCE = 1e-7;

hn_status redundancy_create(hn_simulation *s)
{
    const hn_system *system = s->system;
    self_stress *x = &s->stress;
    x->step = -1;
    x->row_count = system->constraint_count - system->internal_count;
    if (system->cut_count == 0 || x->row_count > ROWS_MAX) return HN_OK;
    size_t n = (size_t)x->row_count;
    x->basis = context_allocate(s->context, (n * n + 1) * sizeof(double));
    x->work = context_allocate(
        s->context, (n * n + n + n * TWIST_SIZE * (size_t)system->body_count + 1) * sizeof(double));
    return x->basis == NULL || x->work == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

void redundancy_destroy(hn_simulation *s)
{
    context_release(s->context, s->stress.basis);
    context_release(s->context, s->stress.work);
}

// Rows of all joints on the twists of the bodies: where the constraint forces of `step` act, or at the poses q.
static void fill_rows(const hn_simulation *s, const solved_step *step, const double *q,
                      double *rows)
{
    const hn_system *system = s->system;
    size_t n = (size_t)s->stress.row_count, columns = TWIST_SIZE * (size_t)system->body_count;
    memset(rows, 0, n * columns * sizeof(double));
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        double a[POSE_SIZE], b[POSE_SIZE];
        if (step != NULL) {
            step_projection_pose(&step->equations, &step->data, j->parent, a);
            step_projection_pose(&step->equations, &step->data, j->child, b);
        } else {
            memcpy(a, system_pose(q, j->parent), sizeof a);
            memcpy(b, system_pose(q, j->child), sizeof b);
        }
        for (int r = 0; r < j->row_count; ++r) {
            constraint_row row;
            hn_vec3 gradient[8];
            double flat[POSE_SIZE];
            double *to = rows + (size_t)(j->row_offset - system->internal_count + r) * columns;
            joint_type_of(j->kind)->row(j, r, &row);
            row_gradient(&row, a, b, gradient);
            for (int side = 0; side < 2; ++side) {
                int body = side == 0 ? j->parent : j->child;
                if (body < 0) continue;
                double *twist = to + TWIST_SIZE * (size_t)body;
                for (int v = 0; v < 4; ++v) vec3_store(gradient[4 * side + v], flat + 3 * v);
                force_to_wrench(side == 0 ? a : b, flat, twist);
                if (system->bodies[body].kind != HN_BODY_RIGID)
                    twist[3] = twist[4] = twist[5] = 0.0;
            }
        }
    }
}

// Eigenvalues of G G^T, ascending, into work, and its eigenvectors as columns of the basis.
static hn_status find_eigenvectors(hn_simulation *s, const solved_step *step, const double *q)
{
    self_stress *x = &s->stress;
    size_t n = (size_t)x->row_count, columns = TWIST_SIZE * (size_t)s->system->body_count;
    double *gram = x->work, *values = gram + n * n, *rows = values + n;
    fill_rows(s, step, q, rows);
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k <= i; ++k) {
            double sum = 0.0;
            for (size_t c = 0; c < columns; ++c)
                sum += rows[i * columns + c] * rows[k * columns + c];
            gram[i * n + k] = gram[k * n + i] = sum;
        }
    return dense_symmetric_eigen(s->context, x->row_count, gram, values, x->basis);
}

hn_status redundancy_update(hn_simulation *s)
{
    self_stress *x = &s->stress;
    if (x->basis == NULL || x->step == s->step_count) return HN_OK;
    // where constraint forces act: at the pose of the last step they belong to, with as many self-stresses as were
    // found redundant on the manifold; before the first step at q itself
    const solved_step *step = simulation_reaction_step(s);
    size_t n = (size_t)x->row_count;
    double *gram = x->work, *values = gram + n * n;
    TRY(find_eigenvectors(s, step, s->state.q));
    x->count = 0;
    while (x->count < x->row_count && values[x->count] <= NULL_TOLERANCE * values[n - 1])
        x->count++;
    if (step != NULL && x->count < s->dropped_count) x->count = s->dropped_count;
    // null vectors are the first columns; keep them as rows
    memcpy(gram, x->basis, n * n * sizeof(double));
    for (int v = 0; v < x->count; ++v)
        for (size_t i = 0; i < n; ++i) x->basis[(size_t)v * n + i] = gram[i * n + (size_t)v];
    x->computed = true;
    x->step = s->step_count;
    return HN_OK;
}

// The size of G^T s tells a self-stress from a near one: it is known to round-off, where the eigenvalue is its square.
hn_status redundancy_find_misfit(hn_simulation *s, redundancy_misfit *misfit)
{
    const double EXACT = 1e-13, ROUND_OFF = 1e-15, NEAR = 1e-4; // of the largest row
    double far = 0.0;
    self_stress *x = &s->stress;
    size_t n = (size_t)x->row_count, columns = TWIST_SIZE * (size_t)s->system->body_count;
    *misfit = (redundancy_misfit){.joint = -1};
    if (x->basis == NULL) return HN_OK;
    x->step = -1; // the basis is about to be overwritten
    TRY(find_eigenvectors(s, NULL, s->system->q_start));
    const double *values = x->work + n * n, *rows = values + n;
    double largest = sqrt(values[n - 1]);
    for (int i = 0; i < s->system->body_count; ++i)
        far = fmax(far, vec3_norm(pose_center(system_pose(s->system->q_start, i))));
    double exact = EXACT + ROUND_OFF * far / s->system->length;
    for (size_t v = 0; v < n && values[v] <= NEAR * NEAR * values[n - 1]; ++v) {
        double square = 0.0, weight = 0.0;
        for (size_t c = 0; c < columns; ++c) {
            double sum = 0.0;
            for (size_t i = 0; i < n; ++i) sum += x->basis[i * n + v] * rows[i * columns + c];
            square += sum * sum;
        }
        double size = sqrt(square) / largest;
        if (!(size > exact)) continue;
        misfit->count++;
        if (size <= misfit->size) continue;
        misfit->size = size;
        for (int k = 0; k < s->system->joint_count; ++k) {
            const joint *j = &s->system->reports[k].rows;
            for (int r = 0; r < j->row_count; ++r) {
                size_t row = (size_t)(j->row_offset - s->system->internal_count + r);
                double part = fabs(x->basis[row * n + v]);
                if (part > weight) weight = part, misfit->joint = k;
            }
        }
    }
    return HN_OK;
}

bool redundancy_joint_unique(const hn_simulation *s, int index)
{
    const joint *j = &s->system->reports[index].rows;
    int first = j->row_offset - s->system->internal_count;
    for (int v = 0; v < s->stress.count; ++v)
        for (int r = 0; r < j->row_count; ++r)
            if (fabs(s->stress.basis[(size_t)v * (size_t)s->stress.row_count +
                                     (size_t)(first + r)]) > UNIQUE_TOLERANCE)
                return false;
    return true;
}

void redundancy_minimise(const hn_simulation *s, double *multipliers)
{
    size_t n = (size_t)s->stress.row_count;
    for (int v = 0; v < s->stress.count; ++v) {
        const double *stress = s->stress.basis + (size_t)v * n;
        double dot = 0.0;
        for (size_t i = 0; i < n; ++i) dot += stress[i] * multipliers[i];
        for (size_t i = 0; i < n; ++i) multipliers[i] -= dot * stress[i];
    }
}

hn_status hn_simulation_redundancy(hn_simulation *s, hn_redundancy *redundancy, bool *joint_unique,
                                   int joint_count)
{
    const hn_system *system = s->system;
    *redundancy = (hn_redundancy){
        .redundant_count = s->dropped_count, .self_stress_known = true, .misfit_joint = -1};
    if (joint_unique != NULL && joint_count != system->joint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d joints, not %d",
                            system->joint_count, joint_count);
    for (int k = 0; joint_unique != NULL && k < joint_count; ++k) joint_unique[k] = true;
    if (system->cut_count == 0) return HN_OK;
    redundancy_misfit misfit;
    TRY(redundancy_find_misfit(s, &misfit));
    redundancy->misfit_count = misfit.count;
    redundancy->misfit = misfit.size;
    redundancy->misfit_joint = misfit.joint;
    TRY(redundancy_update(s));
    redundancy->self_stress_known = s->stress.computed;
    if (s->stress.computed) redundancy->redundant_count = s->stress.count;
    for (int k = 0; joint_unique != NULL && k < joint_count; ++k)
        joint_unique[k] =
            s->stress.computed ? redundancy_joint_unique(s, k) : s->dropped_count == 0;
    return HN_OK;
}
