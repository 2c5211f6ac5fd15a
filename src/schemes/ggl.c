// SPDX-License-Identifier: MIT
// Newton's method for (G1) to (G5): a sparse block system over bodies and joints with two multipliers per constraint.
// Note: docs/theory/ggl-variational.md
//
// Derivatives, with B the rows (D^2 g_k W)^T and H_l = sum lambda'_k D^2 g_k:
//
//              x              W            y            lambda'   gamma'
//   (G1)       M' + D                      [H_l]        G_l^T
//   (G2)      -M'             M' + H                              B^T
//   (G3)      -M' - H                      M' [- H]               -G_z^T
//   (G4)                                   G(q_n+1)
//   (G5)       B              G_z          [B]
//
// Entries in brackets are those of the classical form, where H and B stand in the column of y instead of that of x, and
// W is x. D comes from dampers, which act with the velocity x/h. A body's block holds x, W, y and its internal
// multipliers.
#include "schemes/ggl.h"

#include "linalg/small_lu.h"
#include "reductions/coordinates.h"
#include "reductions/joint_blocks.h"
#include "reductions/saddle.h"
#include "schemes/ggl_stress.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

// A body whose smallest Euler moment is below this part of its largest counts as flat.
static const double FLAT_BODY = 1e-12;

struct scheme_solver {
    hn_system *system;
    bool variational;
    saddle *choice; // chooses independent rows
    joint_blocks blocks;
    ggl_stress stress; // variational: what takes the place of rows left out
    ggl_row *rows;
    int row_count;
    double *lambda, *gamma; // lambda', gamma', row_count each
    double *gamma_out;      // gamma
    double *right;          // size of the system
    double *x, *w, *y;      // 12 per body; classical: w is x
    double *bar, *end;      // q_n + x, q_n + y
    double *push;           // h (p_n + h f)/m*, 12 per body
    double *force;          // h f, 12 per body
    double *stress_force;   // X of (G9), 12 per body
    double *excess;         // N mu, row_count
    double *velocity;       // M^-1 p_n, 12 per body
    double *still;          // zero velocities, 12 per body
    double *angles;         // unwrapped angles of torsional springs
    const double *q_start;
    double h;
    body_scale
        *scales;  // per body: its own terms of (G1), divided like these; then what joints transmit
    double *ways; // per body: its way in the step, rad and m over its length
    ggl_levels levels;
};

void ggl_destroy(scheme_solver *s)
{
    if (s == NULL) return;
    hn_context *context = s->system->context;
    saddle_destroy(s->choice);
    ggl_stress_destroy(s->system, &s->stress);
    joint_blocks_destroy(s->system, &s->blocks);
    void *const owned[] = {s->rows,
                           s->lambda,
                           s->gamma,
                           s->gamma_out,
                           s->right,
                           s->x,
                           s->variational ? s->w : NULL,
                           s->y,
                           s->bar,
                           s->end,
                           s->push,
                           s->force,
                           s->stress_force,
                           s->excess,
                           s->velocity,
                           s->angles,
                           s->scales,
                           s->ways,
                           s->still};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k) context_release(context, owned[k]);
    context_release(context, s);
}

// ---- layout -----------------------------------------------------------------------------------------

// Vectors of a body's block in their order; the classical form has no W of its own.
typedef enum ggl_vector { VECTOR_X, VECTOR_W, VECTOR_Y } ggl_vector;

static int vector_count(const scheme_solver *s)
{
    return s->variational ? 3 : 2;
}

// first unknown (or equation) of a vector in the body's block
static int vector_place(const scheme_solver *s, int body, ggl_vector vector)
{
    int which = s->variational ? (int)vector : vector == VECTOR_Y ? 1 : 0;
    return which * s->system->bodies[body].coordinate_count;
}

// the pose of the secondary constraints moves with x or with y
static ggl_vector secondary_vector(const scheme_solver *s)
{
    return s->variational ? VECTOR_X : VECTOR_Y;
}

static const double *secondary_pose(const scheme_solver *s)
{
    return s->variational ? s->bar : s->end;
}

static void place_rows(scheme_solver *s)
{
    const hn_system *system = s->system;
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        int first = vector_count(s) * body->coordinate_count;
        for (int k = 0; k < body->internal_count; ++k) {
            ggl_row *row = &s->rows[count++];
            *row = (ggl_row){.a = i,
                             .b = GROUND,
                             .node = i,
                             .primary = first + k,
                             .secondary = first + body->internal_count + k,
                             .joint = -1,
                             .report = body->internal_offset + k};
            row_internal(k, &row->row);
        }
    }
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *p = &s->blocks.joints[k];
        const joint *rows = p->rows;
        int first = rows->row_count > 0 ? system->reports[rows->model_joint].rows.row_offset : 0;
        for (int r = 0; r < rows->row_count; ++r) {
            ggl_row *row = &s->rows[count++];
            *row = (ggl_row){.a = p->a,
                             .b = p->b,
                             .node = p->node,
                             .primary = p->place + r,
                             .secondary = p->place + rows->row_count + r,
                             .joint = k,
                             .index = r,
                             .report = first + r};
            joint_type_of(rows->kind)->row(rows, r, &row->row);
        }
    }
    s->row_count = count;
}

// M has no inverse for flat bodies and rods.
static hn_status check_bodies(const hn_system *system, const char *scheme)
{
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        const double *e = mass_node(system, i) + 1;
        double largest = fmax(e[0], fmax(e[1], e[2]));
        for (int k = 0; k < 3; ++k)
            if (!(e[k] > FLAT_BODY * largest))
                return context_fail(
                    system->context, HN_INVALID_MODEL,
                    "body '%s': it has no extent along its principal axis %d, and scheme '%s' "
                    "needs the "
                    "inverse of its mass matrix; give it a thickness, or choose 'variational' or "
                    "'energy-momentum'",
                    system->bodies[i].name, k + 1, scheme);
    }
    return HN_OK;
}

static hn_status allocate(scheme_solver *s)
{
    hn_system *system = s->system;
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, vector = (n + 1) * POSE_SIZE * sizeof(double);
    size_t rows = (size_t)system->constraint_count + 1;
    int *sizes = context_allocate(context, (n + 1) * sizeof(int));
    if (sizes == NULL) return HN_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; ++i)
        sizes[i] = vector_count(s) * system->bodies[i].coordinate_count +
                   2 * system->bodies[i].internal_count;
    // rows as the user has the joint, so that the motion does not depend on who is the parent; with the ground as
    // body a rows are linear where those with the ground as b are not
    joint_blocks_options options = {.width = 2, .as_defined = true, .cycles = s->variational};
    hn_status status = joint_blocks_create_with(system, sizes, &options, &s->blocks);
    context_release(context, sizes);
    TRY(status);
    TRY(saddle_create_as_defined(system, SADDLE_TWISTS, &s->choice));
    double **const vectors[] = {&s->x,     &s->y,        &s->bar,   &s->end,         &s->push,
                                &s->force, &s->velocity, &s->still, &s->stress_force};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; ++k)
        if ((*vectors[k] = context_allocate(context, vector)) == NULL) return HN_OUT_OF_MEMORY;
    s->w = s->variational ? context_allocate(context, vector) : s->x;
    s->rows = context_allocate(context, rows * sizeof(ggl_row));
    s->lambda = context_allocate(context, rows * sizeof(double));
    s->gamma = context_allocate(context, rows * sizeof(double));
    s->gamma_out = context_allocate(context, rows * sizeof(double));
    s->excess = context_allocate(context, rows * sizeof(double));
    s->right =
        context_allocate(context, ((size_t)block_lu_size(s->blocks.lu) + 1) * sizeof(double));
    s->angles = context_allocate(context, ((size_t)system->angle_count + 1) * sizeof(double));
    s->scales = context_allocate(context, (2 * n + 1) * sizeof(body_scale));
    s->ways = context_allocate(context, (n + 1) * sizeof(double));
    if (s->w == NULL || s->rows == NULL || s->lambda == NULL || s->gamma == NULL ||
        s->gamma_out == NULL || s->excess == NULL || s->right == NULL || s->angles == NULL ||
        s->scales == NULL || s->ways == NULL)
        return HN_OUT_OF_MEMORY;
    return HN_OK;
}

static hn_status create(hn_system *system, const scheme_type *type, scheme_solver **out)
{
    *out = NULL;
    TRY(check_bodies(system, type->name));
    scheme_solver *s = context_allocate(system->context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->variational = type == &scheme_ggl_variational;
    hn_status status = allocate(s);
    if (status == HN_OK) {
        place_rows(s);
        status = ggl_stress_create(system, &s->blocks, s->rows, s->row_count, &s->stress);
    }
    if (status != HN_OK) {
        ggl_destroy(s);
        return status;
    }
    for (int k = 0; k < system->angle_count; ++k) s->angles[k] = system->angle_start[k];
    *out = s;
    return HN_OK;
}

hn_status ggl_create_variational(hn_system *system, const hn_simulation_def *def,
                                 scheme_solver **out)
{
    (void)def;
    return create(system, &scheme_ggl_variational, out);
}

hn_status ggl_create_classical(hn_system *system, const hn_simulation_def *def, scheme_solver **out)
{
    (void)def;
    return create(system, &scheme_ggl_classical, out);
}

// ---- assembly ---------------------------------------------------------------------------------------

// a covector on the four vectors of a pose, as coordinates of the body
static void contract(const system_body *body, const hn_vec3 vectors[4], double *out)
{
    int width = coordinate_width(body);
    for (int k = 0; k < coordinate_vectors(body); ++k)
        coordinates_of(body, vectors[k], out + width * k);
}

// x_k of the four vectors of a body, zero for the ground
static const double *increment_of(const double *x, int body)
{
    static const double none[POSE_SIZE] = {0.0};
    return body < 0 ? none : x + POSE_SIZE * (size_t)body;
}

// block (equation vector of body i, unknown vector of body k) += size D^2 g
static void add_second_derivative(scheme_solver *s, const ggl_row *r, double size,
                                  ggl_vector equation, ggl_vector unknown)
{
    if (!r->row.product || size == 0.0) return;
    const hn_system *system = s->system;
    const int body[2] = {r->a, r->b};
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            const system_body *rows = &system->bodies[body[from]],
                              *columns = &system->bodies[body[to]];
            int stride = block_lu_node_size(s->blocks.lu, body[to]);
            double *block = block_lu_block(s->blocks.lu, body[from], body[to]);
            block +=
                vector_place(s, body[from], equation) * stride + vector_place(s, body[to], unknown);
            for (int k = 0; k < coordinate_vectors(rows); ++k)
                for (int l = 0; l < coordinate_vectors(columns); ++l) {
                    const double *alpha = r->row.alpha, *beta = r->row.beta;
                    int i = 4 * from + k, j = 4 * to + l;
                    double c = size * r->row.factor * (alpha[i] * beta[j] + beta[i] * alpha[j]);
                    if (c == 0.0) continue;
                    const double unit[3][3] = {{c, 0.0, 0.0}, {0.0, c, 0.0}, {0.0, 0.0, c}};
                    coordinates_add_block(rows, k, columns, l, unit, stride, block);
                }
        }
}

// column `place` of the row's block in the equations of a body, or row `place` in its unknowns
static void add_column(scheme_solver *s, const ggl_row *r, int place, int body, ggl_vector equation,
                       double factor, const double *values)
{
    int stride = block_lu_node_size(s->blocks.lu, r->node);
    double *block = block_lu_block(s->blocks.lu, body, r->node) +
                    vector_place(s, body, equation) * stride + place;
    for (int i = 0; i < s->system->bodies[body].coordinate_count; ++i)
        block[i * stride] += factor * values[i];
}

static void add_line(scheme_solver *s, const ggl_row *r, int place, int body, ggl_vector unknown,
                     const double *values)
{
    int stride = block_lu_node_size(s->blocks.lu, body);
    double *block = block_lu_block(s->blocks.lu, r->node, body) + place * stride +
                    vector_place(s, body, unknown);
    for (int i = 0; i < s->system->bodies[body].coordinate_count; ++i) block[i] += values[i];
}

// (G8): N mu on the secondary level of the loop's rows, N^T gamma' = 0 in the places of the spread rows
static void add_stress(scheme_solver *s, const stress_loop *loop)
{
    block_lu *lu = s->blocks.lu;
    for (int e = 0; e < loop->count; ++e) {
        const ggl_row *front = &s->rows[loop->row[e]];
        int front_size = block_lu_node_size(lu, front->node);
        double *sum = s->right + block_lu_offset(lu, front->node) + front->primary;
        *sum = 0.0;
        for (int k = 0; k < loop->joint_count; ++k) {
            const stress_joint *j = &loop->joints[k];
            const int node = s->rows[j->first].node, size = block_lu_node_size(lu, node);
            double *column = block_lu_block(lu, node, front->node) + front->primary;
            double *line = block_lu_block(lu, front->node, node) + front->primary * size;
            for (int r = 0; r < j->count; ++r) {
                int secondary = s->rows[j->first + r].secondary;
                column[secondary * front_size] -= j->stress[r][e];
                line[secondary] += j->stress[r][e];
                *sum += j->stress[r][e] * s->gamma[j->first + r];
            }
        }
    }
}

static body_scale *transmitted_scale(const scheme_solver *s, int body)
{
    return &s->scales[s->system->body_count + body];
}

static void add_row(scheme_solver *s, int index)
{
    const hn_system *system = s->system;
    const ggl_row *r = &s->rows[index];
    int node = block_lu_offset(s->blocks.lu, r->node);
    double *right = s->right, lambda = s->lambda[index], gamma = s->gamma[index];
    if (r->dropped && !r->spread) {
        // multipliers zero
        int size = block_lu_node_size(s->blocks.lu, r->node);
        double *diagonal = block_lu_block(s->blocks.lu, r->node, r->node);
        diagonal[r->primary * (size + 1)] = diagonal[r->secondary * (size + 1)] = 1.0;
        right[node + r->primary] = lambda;
        right[node + r->secondary] = gamma;
        return;
    }
    const double *place = secondary_pose(s), *first = s->variational ? s->q_start : s->end;
    hn_vec3 at_first[8], at_place[8], at_end[8], bent[8];
    const double *a = increment_of(s->w, r->a), *b = increment_of(s->w, r->b);
    row_gradient(&r->row, system_pose(first, r->a), system_pose(first, r->b), at_first);
    row_gradient(&r->row, system_pose(place, r->a), system_pose(place, r->b), at_place);
    row_gradient(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b), at_end);
    // D^2 g W: the gradient of a product is linear, so it is the gradient at "pose" W
    if (r->row.product) row_gradient(&r->row, a, b, bent);
    else memset(bent, 0, sizeof bent);

    if (!r->spread)
        right[node + r->primary] =
            row_value(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b)); // (G4)
    const int body[2] = {r->a, r->b};
    double secondary = 0.0; // (G5)
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        const system_body *one = &system->bodies[body[side]];
        const double *w = side == 0 ? a : b;
        double g_first[POSE_SIZE], g_place[POSE_SIZE], g_end[POSE_SIZE], g_bent[POSE_SIZE];
        body_scale *joints = transmitted_scale(s, body[side]);
        joints->force += fabs(lambda) * vec3_norm(at_first[4 * side]);
        for (int k = 1; k < coordinate_vectors(one); ++k)
            joints->moment += fabs(lambda) * vec3_norm(at_first[4 * side + k]);
        for (int k = 0; k < coordinate_vectors(one); ++k)
            secondary += vec3_dot(at_place[4 * side + k], vec3_load(w + 3 * k));
        contract(one, at_first + 4 * side, g_first);
        contract(one, at_place + 4 * side, g_place);
        contract(one, at_end + 4 * side, g_end);
        contract(one, bent + 4 * side, g_bent);
        double *own = right + block_lu_offset(s->blocks.lu, body[side]);
        int at_x = vector_place(s, body[side], VECTOR_X),
            at_w = vector_place(s, body[side], VECTOR_W);
        int at_y = vector_place(s, body[side], VECTOR_Y);
        for (int i = 0; i < one->coordinate_count; ++i) {
            own[at_x + i] += lambda * g_first[i];                   // (G1)
            if (s->variational) own[at_w + i] += gamma * g_bent[i]; // (G2)
            own[at_y + i] -= gamma * g_place[i];                    // (G3)
        }
        if (!r->spread) add_column(s, r, r->primary, body[side], VECTOR_X, 1.0, g_first);
        if (s->variational) add_column(s, r, r->secondary, body[side], VECTOR_W, 1.0, g_bent);
        add_column(s, r, r->secondary, body[side], VECTOR_Y, -1.0, g_place);
        if (!r->spread) add_line(s, r, r->primary, body[side], VECTOR_Y, g_end);
        add_line(s, r, r->secondary, body[side], VECTOR_W, g_place);
        if (r->row.product) add_line(s, r, r->secondary, body[side], secondary_vector(s), g_bent);
    }
    right[node + r->secondary] = secondary - s->excess[index];
    if (s->variational) add_second_derivative(s, r, gamma, VECTOR_W, VECTOR_W);
    else add_second_derivative(s, r, lambda, VECTOR_X, VECTOR_Y);
    add_second_derivative(s, r, -gamma, VECTOR_Y, secondary_vector(s));
}

// a tangent term u^T C delta v of an element between x of its two bodies
static void add_element_term(scheme_solver *s, const element *e, const stiffness_term *term,
                             double factor)
{
    const hn_system *system = s->system;
    const int body[2] = {e->a, e->b};
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            const system_body *rows = &system->bodies[body[from]],
                              *columns = &system->bodies[body[to]];
            int stride = block_lu_node_size(s->blocks.lu, body[to]);
            double *block = block_lu_block(s->blocks.lu, body[from], body[to]), c[3][3];
            block += vector_place(s, body[from], VECTOR_X) * stride +
                     vector_place(s, body[to], VECTOR_X);
            for (int k = 0; k < coordinate_vectors(rows); ++k)
                for (int l = 0; l < coordinate_vectors(columns); ++l) {
                    double size = factor * term->u[4 * from + k] * term->v[4 * to + l];
                    if (size == 0.0) continue;
                    for (int i = 0; i < 3; ++i)
                        for (int j = 0; j < 3; ++j) c[i][j] = size * term->c[i][j];
                    coordinates_add_block(rows, k, columns, l, (const double(*)[3])c, stride,
                                          block);
                }
        }
}

// A damper acts at q_n with the velocity v_n: it sees the pair of poses q_n -+ x/2, whose middle is q_n, so that its
// force has no moment there. Its force changes sign when the two poses change places, which gives the derivative by
// the first.
static void add_damper(scheme_solver *s, const element *e)
{
    const hn_system *system = s->system;
    const int body[2] = {e->a, e->b};
    double pose[2][2][POSE_SIZE], force[2][POSE_SIZE] = {{0.0}}; // [before, after][a, b]
    for (int side = 0; side < 2; ++side) {
        const double *q = system_pose(s->q_start, body[side]), *x = increment_of(s->x, body[side]);
        for (int k = 0; k < POSE_SIZE; ++k) {
            pose[0][side][k] = q[k] - 0.5 * x[k];
            pose[1][side][k] = q[k] + 0.5 * x[k];
        }
    }
    stiffness_term terms[ELEMENT_TERMS_MAX];
    for (int turn = 0; turn < 2; ++turn) {
        double ignored[2][POSE_SIZE] = {{0.0}};
        element_step view = {
            .a_start = pose[turn][0],
            .b_start = pose[turn][1],
            .a = pose[1 - turn][0],
            .b = pose[1 - turn][1],
            .angle_start = e->angle >= 0
                               ? element_angle(e, pose[turn][0], pose[turn][1], s->angles[e->angle])
                               : 0.0,
            .step_size = s->h,
            .discrete_gradient = true,
            .weight = 0.5,
            .factor = s->h * s->h / system->unit_mass[e->b < 0 ? e->a : e->b],
            .want_terms = true,
        };
        element_output out = {.residual_a = turn == 0 ? force[0] : ignored[0],
                              .residual_b = turn == 0 ? force[1] : ignored[1],
                              .terms = terms};
        element_type_of(e->kind)->load(e, &view, &out);
        for (int t = 0; t < out.term_count; ++t) add_element_term(s, e, &terms[t], 0.5);
    }
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        double own[POSE_SIZE];
        const system_body *one = &system->bodies[body[side]];
        double *right = s->right + block_lu_offset(s->blocks.lu, body[side]) +
                        vector_place(s, body[side], VECTOR_X);
        coordinates_contract(one, force[side], own);
        for (int i = 0; i < one->coordinate_count; ++i) right[i] += own[i];
    }
}

// matrix and residual at the iterate
static void assemble(scheme_solver *s)
{
    const hn_system *system = s->system;
    block_lu_clear(s->blocks.lu);
    ggl_stress_excess(&s->stress, s->row_count, s->excess);
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        int width = coordinate_width(body), size = block_lu_node_size(s->blocks.lu, i);
        int at_x = vector_place(s, i, VECTOR_X), at_w = vector_place(s, i, VECTOR_W),
            at_y = vector_place(s, i, VECTOR_Y);
        size_t at = POSE_SIZE * (size_t)i;
        double x[POSE_SIZE], w[POSE_SIZE], y[POSE_SIZE], push[POSE_SIZE], forces[POSE_SIZE];
        double *right = s->right + block_lu_offset(s->blocks.lu, i),
               *diagonal = block_lu_block(s->blocks.lu, i, i);
        *transmitted_scale(s, i) = (body_scale){0.0, 0.0};
        for (int k = 0; k < POSE_SIZE; ++k) {
            s->bar[at + (size_t)k] = s->q_start[at + (size_t)k] + s->x[at + (size_t)k];
            s->end[at + (size_t)k] = s->q_start[at + (size_t)k] + s->y[at + (size_t)k];
        }
        coordinates_contract(body, s->x + at, x);
        coordinates_contract(body, s->w + at, w);
        coordinates_contract(body, s->y + at, y);
        for (int k = 0; k < POSE_SIZE; ++k)
            forces[k] = s->push[at + (size_t)k] + s->stress_force[at + (size_t)k];
        coordinates_contract(body, forces, push);
        for (int k = 0; k < coordinate_vectors(body); ++k)
            for (int c = width * k; c < width * (k + 1); ++c) {
                double mass = mass_node(system, i)[k] / system->unit_mass[i];
                right[at_x + c] = mass * x[c] - push[c];
                diagonal[(at_x + c) * size + at_x + c] += mass;
                if (s->variational) {
                    right[at_w + c] = mass * (w[c] - x[c]);
                    diagonal[(at_w + c) * size + at_w + c] += mass;
                    diagonal[(at_w + c) * size + at_x + c] -= mass;
                }
                right[at_y + c] = mass * (y[c] - x[c]);
                diagonal[(at_y + c) * size + at_y + c] += mass;
                diagonal[(at_y + c) * size + at_x + c] -= mass;
            }
    }
    for (int k = 0; k < s->row_count; ++k) add_row(s, k);
    for (int k = 0; k < s->stress.loop_count; ++k) add_stress(s, &s->stress.loops[k]);
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        if (e->damping != 0.0 && e->law == NULL) add_damper(s, e);
    }
}

// ---- Newton -----------------------------------------------------------------------------------------

static const joint *joint_of_row(const scheme_solver *s, const ggl_row *r)
{
    return r->joint < 0 ? NULL : s->blocks.joints[r->joint].rows;
}

// size of the residual: of every body relative to its own terms, of rows relative to their bodies' length, of secondary
// ones to the way of these; in a report that is at least what round-off of places stands out from
static double residual_size(const scheme_solver *s, bool report, int *worst)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *right = s->right + block_lu_offset(s->blocks.lu, i);
        int n = body->coordinate_count, width = coordinate_width(body);
        double place = one_norm(s->q_start + POSE_SIZE * (size_t)i) / system->sizes[i],
               still = report ? MEASURE_STILL * (1.0 + place) : DBL_EPSILON;
        s->ways[i] = still + measure_pose(system->sizes[i], s->x + POSE_SIZE * (size_t)i);
        for (int k = 0; k < vector_count(s) * n; ++k) {
            const body_scale *own = &s->scales[i], *joints = transmitted_scale(s, i);
            double value = measure_part(right[k], k % n < width ? own->force + joints->force
                                                                : own->moment + joints->moment);
            if (!(value <= largest)) largest = value, *worst = i;
        }
    }
    for (int k = 0; k < s->row_count; ++k) {
        const ggl_row *r = &s->rows[k];
        const double *right = s->right + block_lu_offset(s->blocks.lu, r->node);
        double way = fmax(r->a < 0 ? 0.0 : s->ways[r->a], r->b < 0 ? 0.0 : s->ways[r->b]),
               size =
                   measure_row(system, joint_of_row(s, r), &r->row, r->a, r->b, s->q_start, s->y);
        double value = fmax(fabs(right[r->primary]), fabs(right[r->secondary]) / way) / size;
        if (!(value <= largest) || isnan(right[r->primary]) || isnan(right[r->secondary])) {
            largest = isnan(right[r->primary]) || isnan(right[r->secondary]) ? HUGE_VAL : value;
            *worst = r->b >= 0 ? r->b : r->a;
        }
    }
    return largest;
}

// add a solution to the unknowns; returns the size of the increment of q_bar and q_n+1
static double apply(scheme_solver *s, const double *solution)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *own = solution + block_lu_offset(s->blocks.lu, i);
        double *const vectors[3] = {s->x, s->w, s->y};
        for (int v = 0; v < 3; ++v) {
            if (v == VECTOR_W && !s->variational) continue;
            double change[POSE_SIZE], *to = vectors[v] + POSE_SIZE * (size_t)i;
            coordinates_expand(body, own + vector_place(s, i, (ggl_vector)v), change);
            for (int k = 0; k < POSE_SIZE; ++k) to[k] += change[k];
            double size = measure_pose(measure_length(system, i, s->q_start, s->y), change);
            if (!(size <= largest)) largest = size;
        }
    }
    for (int k = 0; k < s->row_count; ++k) {
        const double *own = solution + block_lu_offset(s->blocks.lu, s->rows[k].node);
        if (!s->rows[k].spread) s->lambda[k] += own[s->rows[k].primary];
        s->gamma[k] += own[s->rows[k].secondary];
    }
    for (int l = 0; l < s->stress.loop_count; ++l) {
        stress_loop *loop = &s->stress.loops[l];
        for (int e = 0; e < loop->count; ++e) {
            const ggl_row *front = &s->rows[loop->row[e]];
            loop->mu[e] += solution[block_lu_offset(s->blocks.lu, front->node) + front->primary];
        }
    }
    return largest;
}

static void read_choice(scheme_solver *s)
{
    for (int k = 0; k < s->row_count; ++k) {
        s->rows[k].dropped = s->rows[k].joint >= 0 &&
                             saddle_row_is_dropped(s->choice, s->rows[k].joint, s->rows[k].index);
        s->rows[k].spread = false;
    }
    ggl_stress_find(s->system, &s->stress, s->q_start, s->rows);
}

// first iterate: everything moves as p_n says, no constraint forces
static void predict(scheme_solver *s)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    for (size_t k = 0; k < count; ++k) s->x[k] = s->w[k] = s->y[k] = s->h * s->velocity[k];
    memset(s->lambda, 0, (size_t)s->row_count * sizeof(double));
    memset(s->gamma, 0, (size_t)s->row_count * sizeof(double));
    memset(s->stress_force, 0, count * sizeof(double));
}

static void set_scales(scheme_solver *s, const double *p)
{
    const hn_system *system = s->system;
    step_equations equations = {
        .step_size = s->h, .mass_factor = 1.0 / s->h, .force_factor = s->h, .momentum = p};
    step_data data = {.q_start = s->q_start, .q = s->end, .delta = s->y, .force = s->force};
    measure_bodies(system, &equations, &data, s->scales);
    measure_add_round_off(system, &equations, s->q_start, s->scales);
    for (int i = 0; i < system->body_count; ++i) {
        double scale = s->h / system->unit_mass[i];
        s->scales[i].force *= scale;
        s->scales[i].moment *= scale;
    }
}

hn_status ggl_begin(scheme_solver *s, const scheme_step *step)
{
    const hn_system *system = s->system;
    const double *q = step->state->q, *p = step->state->impetus;
    s->q_start = q;
    s->h = step->step_size;
    saddle_choice choice;
    TRY(saddle_choose_rows(s->choice, q, &choice));
    ggl_stress_begin(&s->stress);
    read_choice(s);

    // velocities M^-1 p_n for the first iterate; forces at q_n without dampers, loads with their mean over the step
    size_t count = POSE_SIZE * (size_t)system->body_count;
    memset(s->velocity, 0, count * sizeof(double));
    memset(s->force, 0, count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < 3 * coordinate_vectors(&system->bodies[i]); ++k)
            s->velocity[POSE_SIZE * i + k] = p[POSE_SIZE * i + k] / mass_node(system, i)[k / 3];
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle >= 0)
            s->angles[e->angle] =
                element_angle(e, system_pose(q, e->a), system_pose(q, e->b),
                              step->angles != NULL ? step->angles[e->angle] : s->angles[e->angle]);
    }
    scheme_add_forces(system, q, s->still, s->angles, step->time, step->time + s->h, s->h,
                      DAMPER_EXPLICIT, s->h, s->force);
    for (size_t k = 0; k < count; ++k)
        s->push[k] = s->h * (p[k] + s->force[k]) / system->unit_mass[k / POSE_SIZE];
    predict(s);
    set_scales(s, p);
    return HN_OK;
}

static hn_status iterate(scheme_solver *s, const newton_options *options, newton_report *report)
{
    block_lu *lu = s->blocks.lu;
    while (report->iterations < options->iterations_max) {
        // X is of the size of mu times gamma, O(h^4): it is taken from the iterate before
        ggl_stress_force(s->system, &s->stress, s->q_start, s->rows, s->gamma, s->stress_force);
        assemble(s);
        double residual = residual_size(s, false, &report->worst_body);
        if (!isfinite(residual)) return HN_NOT_CONVERGED;
        if (newton_note_residual(report, options, residual)) return HN_OK;
        int node = block_lu_factor(lu);
        if (node >= 0) {
            report->worst_body = node;
            for (int k = 0; node >= s->system->body_count && k < s->row_count; ++k)
                if (s->rows[k].node == node)
                    report->worst_body = s->rows[k].b >= 0 ? s->rows[k].b : s->rows[k].a;
            return HN_SINGULAR_SYSTEM;
        }
        for (int k = 0; k < block_lu_size(lu); ++k) s->right[k] = -s->right[k];
        block_lu_solve(lu, s->right);
        newton_note_increment(report, apply(s, s->right));
        if (!isfinite(report->increment)) return HN_NOT_CONVERGED;
        if (newton_bilinear_ends(report, options, residual)) return HN_OK;
    }
    return HN_NOT_CONVERGED;
}

// ---- results ----------------------------------------------------------------------------------------

// G W of a row at given poses
static double row_rate(const ggl_row *r, const double *q, const double *w)
{
    hn_vec3 gradient[8];
    const double *at[2] = {increment_of(w, r->a), increment_of(w, r->b)};
    double sum = 0.0;
    row_gradient(&r->row, system_pose(q, r->a), system_pose(q, r->b), gradient);
    for (int k = 0; k < 8; ++k) sum += vec3_dot(gradient[k], vec3_load(at[k / 4] + 3 * (k % 4)));
    return sum;
}

static void measure_levels(scheme_solver *s)
{
    const hn_system *system = s->system;
    ggl_levels *l = &s->levels;
    *l = (ggl_levels){0};
    ggl_stress_excess(&s->stress, s->row_count, s->excess);
    for (int k = 0; k < s->row_count; ++k) {
        const ggl_row *r = &s->rows[k];
        double rate = row_rate(r, secondary_pose(s), s->w), middle = fabs(rate) / s->h;
        l->primary =
            fmax(l->primary,
                 fabs(row_value(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b))));
        if (!r->dropped || r->spread)
            l->secondary = fmax(l->secondary, fabs(rate - s->excess[k]) / s->h);
        l->secondary_all = fmax(l->secondary_all, middle);
        l->secondary_node = fmax(l->secondary_node, fabs(row_rate(r, s->end, s->w)) / s->h);
        l->redundant_count += r->dropped ? 1 : 0;
        l->spread_count += r->spread ? 1 : 0;
    }
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        l->speed = fmax(l->speed, fabs(s->w[k]) / s->h);
}

// lambda of one joint and of its bodies' internal constraints, from the solver's rows to those of the user, which
// are other functions of q when bodies a and b have changed places: the same wrenches at q, the rest is internal.
static void convert_joint(const scheme_solver *s, const joint_place *p, const double *q,
                          double *multipliers)
{
    const hn_system *system = s->system;
    const joint *tree = p->rows, *user = &system->reports[tree->model_joint].rows;
    const int body[2] = {p->a, p->b};
    int n = tree->row_count, pivot[JOINT_ROWS_MAX];
    double *lambda = multipliers + tree->row_offset;
    double wrench[2][JOINT_ROWS_MAX][2 * TWIST_SIZE] = {{{0.0}}},
                                         flat[2][JOINT_ROWS_MAX][2 * POSE_SIZE] = {{{0.0}}};
    for (int kind = 0; kind < 2; ++kind)
        for (int r = 0; r < n; ++r) {
            constraint_row row;
            hn_vec3 gradient[8];
            const joint *rows = kind == 0 ? tree : user;
            joint_type_of(rows->kind)->row(rows, r, &row);
            row_gradient(&row, system_pose(q, kind == 0 ? p->a : p->b),
                         system_pose(q, kind == 0 ? p->b : p->a), gradient);
            for (int side = 0; side < 2; ++side) {
                if (body[side] < 0) continue;
                double *to = flat[kind][r] + POSE_SIZE * side;
                for (int k = 0; k < 4; ++k)
                    vec3_store(gradient[4 * (kind == 0 ? side : 1 - side) + k], to + 3 * k);
                if (system->bodies[body[side]].has_directors)
                    force_to_wrench(system_pose(q, body[side]), to,
                                    wrench[kind][r] + TWIST_SIZE * side);
                else memcpy(wrench[kind][r] + TWIST_SIZE * side, to, 3 * sizeof(double));
            }
        }
    // least squares: the user's rows span the same wrenches
    double normal[JOINT_ROWS_MAX * JOINT_ROWS_MAX], converted[JOINT_ROWS_MAX];
    for (int i = 0; i < n; ++i) {
        converted[i] = 0.0;
        for (int k = 0; k < n; ++k) {
            double own = 0.0, other = 0.0;
            for (int c = 0; c < 2 * TWIST_SIZE; ++c) {
                own += wrench[1][i][c] * wrench[1][k][c];
                other += wrench[1][i][c] * wrench[0][k][c];
            }
            normal[i * n + k] = own;
            converted[i] += other * lambda[k];
        }
    }
    if (!small_lu_factor(n, n, normal, pivot)) return;
    small_lu_solve(n, n, normal, pivot, 1, 1, converted);
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0 || system->bodies[body[side]].internal_count == 0) continue;
        double *internal = multipliers + system->bodies[body[side]].internal_offset;
        for (int k = 0; k < INTERNAL_ROWS; ++k) {
            constraint_row row;
            hn_vec3 gradient[8];
            const double *pose = system_pose(q, body[side]);
            double along = 0.0, square = 0.0;
            row_internal(k, &row);
            row_gradient(&row, pose, pose,
                         gradient); // on orthonormal directors these are orthogonal to each other
            for (int v = 0; v < 4; ++v) {
                square += vec3_dot(gradient[v], gradient[v]);
                for (int r = 0; r < n; ++r)
                    along +=
                        vec3_dot(gradient[v], vec3_load(flat[0][r] + POSE_SIZE * side + 3 * v)) *
                            lambda[r] -
                        vec3_dot(gradient[v], vec3_load(flat[1][r] + POSE_SIZE * side + 3 * v)) *
                            converted[r];
            }
            internal[k] += along / square;
        }
    }
    memcpy(lambda, converted, (size_t)n * sizeof(double));
}

// m* of the mechanism a row belongs to
static double row_mass(const scheme_solver *s, int row)
{
    const ggl_row *r = &s->rows[row];
    return s->system->unit_mass[r->a >= 0 ? r->a : r->b];
}

static void report_multipliers(scheme_solver *s, double *multipliers)
{
    const hn_system *system = s->system;
    memset(multipliers, 0, (size_t)system->constraint_count * sizeof(double));
    for (int k = 0; k < s->row_count; ++k)
        multipliers[s->rows[k].report] = row_mass(s, k) / (s->h * s->h) * s->lambda[k];
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *p = &s->blocks.joints[k];
        if (p->rows->swapped && p->rows->row_count > 0)
            convert_joint(s, p, s->variational ? s->q_start : s->end, multipliers);
    }
}

hn_status ggl_step(scheme_solver *s, scheme_step *step, const newton_options *options,
                   newton_report *report)
{
    const hn_system *system = s->system;
    TRY(ggl_begin(s, step));
    size_t count = POSE_SIZE * (size_t)system->body_count;
    for (bool again = true; again;) {
        TRY(iterate(s, options, report));
        for (size_t k = 0; k < count; ++k)
            s->end[k] = s->q_start[k] + s->y[k], s->bar[k] = s->q_start[k] + s->x[k];
        again = ggl_stress_lost(system, &s->stress, s->end, s->rows);
        again = saddle_restore_rows(s->choice, s->end) || again;
        if (!again) break;
        // the rank went up within the step: with the violated rows as equations
        read_choice(s);
        predict(s);
        report->iterations = 0;
    }
    if (options->measure_left) {
        assemble(s);
        report->left = residual_size(s, true, &report->left_body);
    }
    memcpy(step->q, s->end, count * sizeof(double));
    memcpy(step->delta, s->y, count * sizeof(double));
    mass_apply(system, 1.0 / s->h, s->w, step->impetus); // p_n+1 = M W/h
    report_multipliers(s, step->multipliers);
    for (int k = 0; k < s->row_count; ++k) s->gamma_out[k] = row_mass(s, k) / s->h * s->gamma[k];
    step->multiplier_time = s->variational ? step->time : step->time + s->h;
    step_equations equations = {
        .step_size = s->h, .load_begin = step->time, .load_end = step->time + s->h};
    step_data data = {.q_start = s->q_start, .angle_start = s->angles, .q = s->end, .delta = s->y};
    step->work = system->element_count > 0 ? scheme_load_work(system, &equations, &data, 0.0) : 0.0;
    measure_levels(s);
    return HN_OK;
}

// ---- for tests --------------------------------------------------------------------------------------

ggl_levels ggl_last_levels(const scheme_solver *s)
{
    return s->levels;
}

const double *ggl_secondary_multipliers(const scheme_solver *s)
{
    return s->gamma_out;
}

int ggl_row_count(const scheme_solver *s)
{
    return s->row_count;
}

int ggl_size(const scheme_solver *s)
{
    return block_lu_size(s->blocks.lu);
}

void ggl_move(scheme_solver *s, const double *change)
{
    apply(s, change);
}

void ggl_evaluate(scheme_solver *s, double *residual, double *matrix)
{
    assemble(s);
    memcpy(residual, s->right, (size_t)ggl_size(s) * sizeof(double));
    if (matrix != NULL) block_lu_dense(s->blocks.lu, matrix);
}
