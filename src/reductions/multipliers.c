// SPDX-License-Identifier: MIT
// Reduction `multipliers`: n + m unknowns, coordinates and Lagrange multipliers.
// Note: docs/theory/multipliers.md
//
//   (M1)  rho(q) + sigma G(q_w)^T lambda = 0,   g(q) = 0                                    (LMO 22, BL 10)
//   (M2)  [ drho/dq + sigma w d(G(q_w)^T lambda)/dq_w    sigma G(q_w)^T ] [delta q     ]
//         [ G(q)                                          0             ] [delta lambda] = -residual
//
// Solved with rows of the first kind divided by alpha m* and mu = sigma lambda/(alpha m*), m* the largest mass: the
// conditioning then does not depend on the step. The matrix is sparse in blocks: a body with its internal multipliers
// and those of its tree joint is one node.
#include "reductions/coordinates.h"
#include "reductions/reduction.h"

#include "linalg/block_lu.h"
#include "linalg/dense.h"

#include <string.h>

struct reduction {
    hn_system *system;
    block_lu *lu;
    double *right;       // size of the system
    double *multipliers; // mu, in node order: per body internal then external, JOINT_ROWS_MAX + INTERNAL_ROWS apart
};

enum { MULTIPLIERS_PER_BODY = INTERNAL_ROWS + JOINT_ROWS_MAX };

static void multipliers_destroy(reduction *r)
{
    if (r == NULL) return;
    hn_context *context = r->system->context;
    block_lu_destroy(r->lu);
    context_release(context, r->right);
    context_release(context, r->multipliers);
    context_release(context, r);
}

static hn_status multipliers_create(hn_system *system, reduction **out)
{
    *out = NULL;
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count;
    reduction *r = context_allocate(context, sizeof *r);
    if (r == NULL) return HN_OUT_OF_MEMORY;
    r->system = system;
    int *sizes = context_allocate(context, (n + 1) * sizeof(int));
    int(*edges)[2] = context_allocate(context, (n + (size_t)system->element_count + 1) * sizeof(int[2]));
    hn_status status = HN_OUT_OF_MEMORY;
    if (sizes != NULL && edges != NULL) {
        int count = 0;
        for (int i = 0; i < system->body_count; ++i) {
            const system_body *body = &system->bodies[i];
            sizes[i] = body->coordinate_count + body->internal_count + system->joints[i].row_count;
            if (system->parent[i] >= 0) edges[count][0] = i, edges[count][1] = system->parent[i], count++;
        }
        for (int e = 0; e < system->element_count; ++e)
            if (system->places[e] == PLACE_ELSEWHERE)
                edges[count][0] = system->elements[e].a, edges[count][1] = system->elements[e].b, count++;
        status = block_lu_create(context, system->body_count, sizes, count, (const int(*)[2])edges, &r->lu);
    }
    if (status == HN_OK) {
        r->right = context_allocate(context, ((size_t)block_lu_size(r->lu) + 1) * sizeof(double));
        r->multipliers = context_allocate(context, n * MULTIPLIERS_PER_BODY * sizeof(double));
        if (r->right == NULL || r->multipliers == NULL) status = HN_OUT_OF_MEMORY;
    }
    context_release(context, sizes);
    context_release(context, edges);
    if (status != HN_OK) {
        multipliers_destroy(r);
        return status;
    }
    *out = r;
    return HN_OK;
}

// ---- assembly ---------------------------------------------------------------------------------------

typedef struct assembly {
    reduction *r;
    const step_equations *equations;
    const step_data *step;
    bool matrix; // add to the matrix, not only to the residual
    double scale; // 1/(alpha m*)
} assembly;

// One constraint row between bodies a and b (tree index or ground; internal rows: a alone): value, gradients, and its
// part of the tangent. `node`, `place`: where the row and its multiplier stand.
static void add_row(const assembly *s, const constraint_row *row, int a, int b, int node, int place, double mu)
{
    const hn_system *system = s->r->system;
    block_lu *lu = s->r->lu;
    const double *qa = system_pose(s->step->q, a), *qb = system_pose(s->step->q, b);
    double wa[POSE_SIZE], wb[POSE_SIZE];
    hn_vec3 force[8], gradient[8];
    step_projection_pose(s->equations, s->step, a, wa);
    step_projection_pose(s->equations, s->step, b, wb);
    row_gradient(row, wa, wb, force);
    const int body[2] = {a, b};
    double *right = s->r->right;
    right[block_lu_offset(lu, node) + place] = row_value(row, qa, qb);
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        const system_body *compiled = &system->bodies[body[side]];
        int offset = block_lu_offset(lu, body[side]), width = coordinate_width(compiled);
        for (int k = 0; k < coordinate_vectors(compiled); ++k) {
            double values[3];
            coordinates_of(compiled, force[4 * side + k], values);
            for (int i = 0; i < width; ++i) right[offset + width * k + i] += mu * values[i];
        }
    }
    if (!s->matrix) return;
    row_gradient(row, qa, qb, gradient);
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        const system_body *compiled = &system->bodies[body[side]];
        int width = coordinate_width(compiled), columns = block_lu_node_size(lu, body[side]);
        double *lower = block_lu_block(lu, node, body[side]), *upper = block_lu_block(lu, body[side], node);
        int node_size = block_lu_node_size(lu, node);
        for (int k = 0; k < coordinate_vectors(compiled); ++k) {
            double values[3], forces[3];
            coordinates_of(compiled, gradient[4 * side + k], values);
            coordinates_of(compiled, force[4 * side + k], forces);
            for (int i = 0; i < width; ++i) {
                lower[place * columns + width * k + i] += values[i];
                upper[(width * k + i) * node_size + place] += forces[i];
            }
        }
    }
    // w mu d^2 g: blocks (alpha_k beta_l + beta_k alpha_l) 1
    double factor = s->equations->weight * mu * row->factor;
    if (!row->product || factor == 0.0) return;
    for (int k = 0; k < 8; ++k)
        for (int l = 0; l < 8; ++l) {
            double size = factor * (row->alpha[k] * row->beta[l] + row->beta[k] * row->alpha[l]);
            int x = body[k / 4], y = body[l / 4];
            if (size == 0.0 || x < 0 || y < 0) continue;
            const double c[3][3] = {{size, 0.0, 0.0}, {0.0, size, 0.0}, {0.0, 0.0, size}};
            coordinates_add_block(&system->bodies[x], k % 4, &system->bodies[y], l % 4, c, block_lu_node_size(lu, y),
                                  block_lu_block(lu, x, y));
        }
}

static void add_element(const assembly *s, int index)
{
    const hn_system *system = s->r->system;
    const element *e = &system->elements[index];
    const int body[2] = {e->a, e->b};
    stiffness_term terms[ELEMENT_TERMS_MAX];
    int count = step_element_terms(system, s->equations, s->step, index, terms);
    for (int t = 0; t < count; ++t)
        for (int k = 0; k < 8; ++k)
            for (int l = 0; l < 8; ++l) {
                double size = s->scale * terms[t].u[k] * terms[t].v[l];
                int x = body[k / 4], y = body[l / 4];
                if (size == 0.0 || x < 0 || y < 0) continue;
                double c[3][3];
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) c[i][j] = size * terms[t].c[i][j];
                if (k % 4 >= coordinate_vectors(&system->bodies[x]) || l % 4 >= coordinate_vectors(&system->bodies[y]))
                    continue;
                coordinates_add_block(&system->bodies[x], k % 4, &system->bodies[y], l % 4, (const double(*)[3])c,
                                      block_lu_node_size(s->r->lu, y), block_lu_block(s->r->lu, x, y));
            }
}

// residual (M1) into `right`, and the matrix (M2)
static void assemble(reduction *r, const step_equations *equations, const step_data *step, bool matrix)
{
    const hn_system *system = r->system;
    assembly s = {r, equations, step, matrix, 1.0 / (equations->mass_factor * system->mass)};
    if (matrix) block_lu_clear(r->lu);
    step_element_forces(system, equations, step);
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        double rho[POSE_SIZE];
        step_residual(system, equations, step, i, rho);
        for (int k = 0; k < POSE_SIZE; ++k) rho[k] *= s.scale;
        coordinates_contract(body, rho, r->right + block_lu_offset(r->lu, i));
        if (!matrix) continue;
        int size = block_lu_node_size(r->lu, i), width = coordinate_width(body);
        double *diagonal = block_lu_block(r->lu, i, i);
        for (int k = 0; k < coordinate_vectors(body); ++k)
            for (int c = width * k; c < width * (k + 1); ++c)
                diagonal[c * size + c] += system->inertia[4 * i + k] / system->mass;
    }
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const joint *j = &system->joints[i];
        const double *mu = r->multipliers + MULTIPLIERS_PER_BODY * (size_t)i;
        constraint_row row;
        for (int k = 0; k < body->internal_count; ++k) {
            row_internal(k, &row);
            add_row(&s, &row, i, GROUND, i, body->coordinate_count + k, mu[k]);
        }
        int a = j->child_is_a ? j->child : j->parent, b = j->child_is_a ? j->parent : j->child;
        for (int k = 0; k < j->row_count; ++k) {
            joint_type_of(j->kind)->row(j, k, &row);
            add_row(&s, &row, a, b, i, body->coordinate_count + body->internal_count + k, mu[INTERNAL_ROWS + k]);
        }
    }
    if (matrix)
        for (int e = 0; e < system->element_count; ++e) add_element(&s, e);
}

// relative size of the residual in `right`, and the body where it is worst
static double residual_size(const reduction *r, double scale, const step_equations *equations, int *worst)
{
    const hn_system *system = r->system;
    double largest = 0.0, momentum = equations->mass_factor * system->mass / (scale > 0.0 ? scale : 1.0);
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *right = r->right + block_lu_offset(r->lu, i);
        int size = block_lu_node_size(r->lu, i), width = coordinate_width(body);
        for (int k = 0; k < size; ++k) {
            double value = fabs(right[k]);
            if (k < width) value *= momentum;
            else if (k < body->coordinate_count) value *= momentum / system->length;
            else if (k >= body->coordinate_count + body->internal_count) value /= fmax(1.0, system->length);
            if (!(value <= largest)) largest = value, *worst = i;
        }
    }
    return largest;
}

// add the multipliers in `right` to the iterate
static void apply_multipliers(reduction *r)
{
    const hn_system *system = r->system;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        double *mu = r->multipliers + MULTIPLIERS_PER_BODY * (size_t)i;
        const double *solution = r->right + block_lu_offset(r->lu, i) + body->coordinate_count;
        for (int k = 0; k < body->internal_count; ++k) mu[k] += solution[k];
        for (int k = 0; k < system->joints[i].row_count; ++k)
            mu[INTERNAL_ROWS + k] += solution[body->internal_count + k];
    }
}

// add the coordinates in `right` to the iterate; returns the size of the increment
static double apply_increment(reduction *r, const step_data *step)
{
    const hn_system *system = r->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *solution = r->right + block_lu_offset(r->lu, i);
        double change[POSE_SIZE], *delta = step->delta + POSE_SIZE * (size_t)i, *q = step->q + POSE_SIZE * (size_t)i;
        const double *start = step->q_start + POSE_SIZE * (size_t)i;
        coordinates_expand(body, solution, change);
        for (int k = 0; k < POSE_SIZE; ++k) {
            delta[k] += change[k];
            q[k] = start[k] + delta[k];
            double size = fabs(change[k]) / (k < 3 ? system->length : 1.0);
            if (!(size <= largest)) largest = size;
        }
    }
    return largest;
}

static bool factor_and_solve(reduction *r, int *worst)
{
    int node = block_lu_factor(r->lu);
    if (node >= 0) {
        *worst = node;
        return false;
    }
    for (int k = 0; k < block_lu_size(r->lu); ++k) r->right[k] = -r->right[k];
    block_lu_solve(r->lu, r->right);
    return true;
}

static hn_status multipliers_solve(reduction *r, const step_equations *equations, step_data *step,
                                   const newton_options *options, newton_report *report)
{
    double scale = newton_momentum_scale(r->system, equations, step);
    memset(r->multipliers, 0, (size_t)r->system->body_count * MULTIPLIERS_PER_BODY * sizeof(double));
    while (report->iterations < options->iterations_max) {
        assemble(r, equations, step, true);
        double residual = residual_size(r, scale, equations, &report->worst_body);
        if (!isfinite(residual)) return HN_NOT_CONVERGED;
        if (newton_note_residual(report, options, residual)) break;
        if (!factor_and_solve(r, &report->worst_body)) return HN_SINGULAR_SYSTEM;
        apply_multipliers(r);
        report->increment = apply_increment(r, step);
        report->iterations++;
        if (!isfinite(report->increment)) return HN_NOT_CONVERGED;
        if (report->increment <= options->increment_tolerance) break;
        if (report->iterations == options->iterations_max) return HN_NOT_CONVERGED;
    }
    for (int i = 0; i < r->system->body_count; ++i) step_body_from_delta(r->system, step, i);
    return HN_OK;
}

// [2M/h + ..., h G^T; G, 0] unscaled: with rows D_r and columns D_c undone, A = D_r^-1 S D_c^-1. The inverse comes from
// the scaled matrix, so that it is accurate although A may be ill-conditioned beyond 1/epsilon.
static hn_status multipliers_condition(reduction *r, const step_equations *equations, step_data *step,
                                       double *condition)
{
    const hn_system *system = r->system;
    hn_context *context = system->context;
    int n = block_lu_size(r->lu), worst = 0;
    size_t count = (size_t)n * (size_t)n;
    double *matrix = context_allocate(context, (count + 1) * sizeof(double));
    double *inverse = context_allocate(context, (count + 1) * sizeof(double));
    double *row_scale = context_allocate(context, ((size_t)n + 1) * sizeof(double));
    double *column_scale = context_allocate(context, ((size_t)n + 1) * sizeof(double));
    double norm = 0.0, inverse_norm = 0.0;
    hn_status status = HN_OUT_OF_MEMORY;
    if (matrix == NULL || inverse == NULL || row_scale == NULL || column_scale == NULL) goto done;

    // multipliers at the solution: one linear solve, the coordinates do not move
    memset(r->multipliers, 0, (size_t)system->body_count * MULTIPLIERS_PER_BODY * sizeof(double));
    assemble(r, equations, step, true);
    if (!factor_and_solve(r, &worst)) {
        status = context_fail(context, HN_SINGULAR_SYSTEM, "body '%s': singular iteration matrix",
                              system->bodies[worst].name);
        goto done;
    }
    apply_multipliers(r);
    assemble(r, equations, step, true);
    block_lu_dense(r->lu, matrix);
    memcpy(inverse, matrix, count * sizeof(double));
    status = dense_invert(context, n, inverse);
    if (status != HN_OK) goto done;
    double force = equations->mass_factor * system->mass;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < block_lu_node_size(r->lu, i); ++k) {
            bool coordinate = k < system->bodies[i].coordinate_count;
            int place = block_lu_offset(r->lu, i) + k;
            row_scale[place] = coordinate ? force : 1.0;
            column_scale[place] = coordinate ? 1.0 : equations->multiplier_factor / force;
        }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            size_t place = (size_t)i * (size_t)n + (size_t)k;
            matrix[place] *= row_scale[i] * column_scale[k];
            inverse[place] /= column_scale[i] * row_scale[k];
        }
    status = dense_norm(context, n, n, matrix, &norm);
    if (status == HN_OK) status = dense_norm(context, n, n, inverse, &inverse_norm);
    *condition = norm * inverse_norm;
done:
    context_release(context, matrix);
    context_release(context, inverse);
    context_release(context, row_scale);
    context_release(context, column_scale);
    return status;
}

static int multipliers_unknown_count(const hn_system *system)
{
    return system->coordinate_count + system->constraint_count;
}

const reduction_type reduction_multipliers = {
    .name = "multipliers",
    .create = multipliers_create,
    .destroy = multipliers_destroy,
    .solve = multipliers_solve,
    .condition = multipliers_condition,
    .unknown_count = multipliers_unknown_count,
    .joint_prediction = false,
};
