// SPDX-License-Identifier: MIT
// Newton's method for (G1) to (G5): a sparse block system over bodies and joints with two multipliers per joint row.
// Note: docs/theory/ggl-variational.md
//
// The multipliers of internal constraints are eliminated. At q_n+1 bodies are rigid; with the directors d of the pose
// of the secondary constraints, q_n + x or q_n+1, (G5) of the internal rows says that W is a twist (v, omega) there,
// W_0 = v, W_I = omega x d_I. Primary multipliers leave (G1) when it is taken as a wrench at its pose. (G3) on the
// directors is F_I = sum_K gamma_IK d_K with a symmetric gamma, where F = M' (y - x) - J_z^T gamma' has the joints J
// alone: as a wrench at d it is free of gamma, and put into (G2), sum_K gamma_IK W_K = omega x F_I. There x and y
// nearly cancel:
//
//   (G10)  P_l^T (M' x - h (p_n + h f)/m* + J_l^T lambda') = 0
//   (G11)  E'_I (omega x q_n+1,I - x_I) - omega x (J_z^T gamma')_I + (J(W)^T gamma')_I = 0,  I = 1, 2, 3
//          m' (v - x_0) + (J(W)^T gamma')_0 = 0                                       `ggl-classical`: W = x instead
//   (G12)  P_z^T (M' (y - x) - J_z^T gamma') = 0
//
// with P^T f = (f_0, sum d_I x f_I) at the pose of each, and (G4), (G5) of the joints. J(W) are their gradients with W
// in place of the pose: D^2 g W. Unknowns of a body are x, the twist and the turn of q_n+1; the classical form has no x
// of its own.
#include "schemes/ggl.h"

#include "reductions/coordinates.h"
#include "reductions/joint_blocks.h"
#include "reductions/row_vectors.h"
#include "reductions/saddle.h"
#include "schemes/ggl_stress.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

// A body whose smallest Euler moment is below this part of its largest counts as flat.
static const double FLAT_BODY = 1e-12;
// Factors serve again while they shorten the increment by so much each time.
static const double REUSE_BELOW = 1e-3, REUSE_CONTRACTION = 2e-2; // rad, m over the body's length
static const double REUSE_LEFT = 1e-16;
// of a body's equation, that a solution may leave: a tenth of the bound of the ledger
static const double RESIDUAL_LEFT = 1e-13;

struct scheme_solver {
    hn_system *system;
    bool variational;
    saddle *choice; // chooses independent rows
    joint_blocks blocks;
    ggl_stress stress; // variational: what takes the place of rows left out
    ggl_row *rows;     // internal ones, whose multipliers are for reports, then those of joints
    int row_count, internal_count;
    double *lambda, *gamma; // lambda', gamma', row_count each
    double *right;          // size of the system
    double *x, *w, *y;      // 12 per body; classical: w is x
    double *twists;         // of W, 6 per body
    body_step *bodies;      // of q_n+1
    double *bar, *end;      // q_n + x, q_n + y
    double *push;           // h (p_n + h f)/m*, 12 per body
    double *force;          // h f, 12 per body
    double *stress_force;   // X of (G9), 12 per body
    double *pulls;          // J_l^T lambda' and dampers, then J_z^T gamma', 12 per body each
    double *excess;         // N mu, row_count
    double *velocity;       // M^-1 p_n, 12 per body
    double *still;          // zero velocities, 12 per body
    double *angles;         // unwrapped angles of torsional springs
    const double *q_start;
    double h;
    bool tangent; // matrix and residual, or the residual alone
    body_scale
        *scales;  // per body: its own terms of (G1), divided like these; then what joints transmit
    double *ways; // per body: its way in the step, rad and m over its length
    pool memory;
};

void ggl_destroy(scheme_solver *s)
{
    if (s == NULL) return;
    saddle_destroy(s->choice);
    joint_blocks_destroy(&s->blocks);
    pool_release(&s->memory);
    context_release(s->system->context, s);
}

// ---- layout -----------------------------------------------------------------------------------------

// Unknowns of a body's block in their order, and its equations: (G10), (G11) of the variational form, (G12).
typedef enum ggl_unknowns { UNKNOWN_X, UNKNOWN_TWIST, UNKNOWN_TURN } ggl_unknowns;
typedef enum ggl_equations { EQUATION_FIRST, EQUATION_MIDDLE, EQUATION_LAST } ggl_equations;

// numbers of a twist or wrench
static int twist_size(const system_body *body)
{
    return body->has_directors ? TWIST_SIZE : coordinate_width(body);
}

static int x_size(const scheme_solver *s, const system_body *body)
{
    return s->variational ? body->coordinate_count : 0;
}

static int body_size(const scheme_solver *s, const system_body *body)
{
    return x_size(s, body) + 2 * twist_size(body);
}

static int column_of(const scheme_solver *s, const system_body *body, ggl_unknowns unknowns)
{
    if (unknowns == UNKNOWN_X) return 0;
    return x_size(s, body) + (unknowns == UNKNOWN_TURN ? twist_size(body) : 0);
}

static int line_of(const scheme_solver *s, const system_body *body, ggl_equations equations)
{
    if (equations == EQUATION_FIRST) return 0;
    return twist_size(body) + (equations == EQUATION_LAST ? x_size(s, body) : 0);
}

static const double *secondary_pose(const scheme_solver *s)
{
    return s->variational ? s->bar : s->end;
}

static const double *primary_pose(const scheme_solver *s)
{
    return s->variational ? s->q_start : s->end;
}

static void place_rows(scheme_solver *s)
{
    const hn_system *system = s->system;
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        for (int k = 0; k < body->internal_count; ++k) {
            ggl_row *row = &s->rows[count++];
            *row = (ggl_row){
                .a = i, .b = GROUND, .node = i, .joint = -1, .report = body->internal_offset + k};
            row_internal(k, &row->row);
        }
    }
    s->internal_count = count;
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
            row->row = joint_row(rows, r);
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
    size_t n = (size_t)system->body_count, vector = n * POSE_SIZE;
    size_t rows = (size_t)system->constraint_count;
    s->memory.context = system->context;
    int *sizes = pool_ints(&s->memory, n);
    TRY(pool_status(&s->memory));
    for (size_t i = 0; i < n; ++i) sizes[i] = body_size(s, &system->bodies[i]);
    // rows as the user has the joint, so that the motion does not depend on who is the parent; with the ground as
    // body a rows are linear where those with the ground as b are not
    joint_blocks_options options = {.width = 2, .as_defined = true, .cycles = s->variational};
    TRY(joint_blocks_create(system, sizes, &options, &s->blocks));
    TRY(saddle_create_as_defined(system, &s->choice));
    double **const vectors[] = {&s->x,     &s->y,        &s->bar,   &s->end,         &s->push,
                                &s->force, &s->velocity, &s->still, &s->stress_force};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; ++k)
        *vectors[k] = pool_doubles(&s->memory, vector);
    s->w = s->variational ? pool_doubles(&s->memory, vector) : s->x;
    s->pulls = pool_doubles(&s->memory, 2 * vector);
    s->twists = pool_doubles(&s->memory, vector);
    s->bodies = pool_take(&s->memory, n, sizeof(body_step));
    s->rows = pool_take(&s->memory, rows, sizeof(ggl_row));
    s->lambda = pool_doubles(&s->memory, rows);
    s->gamma = pool_doubles(&s->memory, rows);
    s->excess = pool_doubles(&s->memory, rows);
    s->right = pool_doubles(&s->memory, (size_t)block_lu_size(s->blocks.lu));
    s->angles = pool_doubles(&s->memory, (size_t)system->angle_count);
    s->scales = pool_take(&s->memory, 2 * n, sizeof(body_scale));
    s->ways = pool_doubles(&s->memory, n);
    return pool_status(&s->memory);
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
        status =
            ggl_stress_create(&s->memory, system, &s->blocks, s->rows, s->row_count, &s->stress);
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

// numbers of a body, zero for the ground
static const double *numbers_of(const double *x, int body)
{
    static const double none[POSE_SIZE] = {0.0};
    return body < 0 ? none : x + POSE_SIZE * (size_t)body;
}

static hn_vec3 turning_of(const scheme_solver *s, int body)
{
    return body < 0 ? vec3(0.0, 0.0, 0.0) : vec3_load(s->twists + TWIST_SIZE * (size_t)body + 3);
}

// The part of the matrix between two bodies.
typedef struct ggl_part {
    const system_body *rows, *columns;
    double *block;
    int stride;
} ggl_part;

static ggl_part part_of(scheme_solver *s, int from, int to)
{
    const hn_system *system = s->system;
    return (ggl_part){&system->bodies[from], &system->bodies[to],
                      block_lu_block(s->blocks.lu, from, to), block_lu_node_size(s->blocks.lu, to)};
}

// += a 3x3 block at vector k of equations, l of unknowns
static void add_part(const scheme_solver *s, const ggl_part *p, ggl_equations equations, int k,
                     ggl_unknowns unknowns, int l, const double c[3][3])
{
    double *corner =
        p->block + line_of(s, p->rows, equations) * p->stride + column_of(s, p->columns, unknowns);
    coordinates_add_block(p->rows, k, p->columns, l, c, p->stride, corner);
}

static void add_unit(const scheme_solver *s, const ggl_part *p, ggl_equations equations, int k,
                     ggl_unknowns unknowns, int l, double size)
{
    const double c[3][3] = {{size, 0.0, 0.0}, {0.0, size, 0.0}, {0.0, 0.0, size}};
    add_part(s, p, equations, k, unknowns, l, c);
}

// += size x^
static void add_cross(const scheme_solver *s, const ggl_part *p, ggl_equations equations, int k,
                      ggl_unknowns unknowns, int l, double size, hn_vec3 x)
{
    const double c[3][3] = {{0.0, -size * x.z, size * x.y},
                            {size * x.z, 0.0, -size * x.x},
                            {-size * x.y, size * x.x, 0.0}};
    add_part(s, p, equations, k, unknowns, l, c);
}

// c += size x y^T - size (x . y) 1, which is size y^ x^
static void add_turned(double size, hn_vec3 x, hn_vec3 y, double c[3][3])
{
    const double a[3] = {size * x.x, size * x.y, size * x.z}, b[3] = {y.x, y.y, y.z};
    double along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) c[i][k] += a[i] * b[k];
        c[i][i] -= along;
    }
}

// a wrench on a body in its own coordinates
static void wrench_on(const system_body *body, const double *wrench, double *out)
{
    coordinates_of(body, vec3_load(wrench), out);
    if (body->has_directors) memcpy(out + 3, wrench + 3, 3 * sizeof(double));
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
                if (s->tangent) {
                    column[secondary * front_size] -= j->stress[r][e];
                    line[secondary] += j->stress[r][e];
                }
                *sum += j->stress[r][e] * s->gamma[j->first + r];
            }
        }
    }
}

static body_scale *transmitted_scale(const scheme_solver *s, int body)
{
    return &s->scales[s->system->body_count + body];
}

// A row of a joint in one iterate: wrenches at the three poses, gradients at that of the secondary constraints, and
// with W in place of it.
typedef struct row_view {
    row_vectors first, second, end;
    double wrench_first[2][TWIST_SIZE], wrench[2][TWIST_SIZE], wrench_end[2][TWIST_SIZE];
    hn_vec3 gradient[8], bent[8];
} row_view;

static void find_row_view(const scheme_solver *s, const ggl_row *r, row_view *v)
{
    const double *place = secondary_pose(s), *first = primary_pose(s);
    const int body[2] = {r->a, r->b};
    find_row_vectors(&r->row, system_pose(place, r->a), system_pose(place, r->b), &v->second);
    row_gradient(&r->row, system_pose(place, r->a), system_pose(place, r->b), v->gradient);
    if (r->row.product)
        row_gradient(&r->row, numbers_of(s->w, r->a), numbers_of(s->w, r->b), v->bent);
    else memset(v->bent, 0, sizeof v->bent);
    if (s->variational) {
        find_row_vectors(&r->row, system_pose(first, r->a), system_pose(first, r->b), &v->first);
        find_row_vectors(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b), &v->end);
    }
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        row_wrench(&r->row, &v->second, side, v->wrench[side]);
        if (s->variational) {
            row_wrench(&r->row, &v->first, side, v->wrench_first[side]);
            row_wrench(&r->row, &v->end, side, v->wrench_end[side]);
        } else {
            memcpy(v->wrench_first[side], v->wrench[side], sizeof v->wrench[side]);
            memcpy(v->wrench_end[side], v->wrench[side], sizeof v->wrench[side]);
        }
    }
}

// (G11) of a row on a body: per unit of gamma', on its four vectors
static void middle_forces(const scheme_solver *s, const row_view *v, int side, int body,
                          hn_vec3 force[4])
{
    hn_vec3 omega = turning_of(s, body);
    force[0] = v->bent[4 * side];
    for (int k = 1; k < coordinate_vectors(&s->system->bodies[body]); ++k)
        force[k] =
            vec3_subtract(v->bent[4 * side + k], vec3_cross(omega, v->gradient[4 * side + k]));
}

// Products of second derivatives: how the forces of a row change with the poses of its bodies.
static void add_row_changes(scheme_solver *s, const ggl_row *r, const row_view *v, double lambda,
                            double gamma)
{
    const int body[2] = {r->a, r->b};
    const double *alpha = r->row.alpha, *beta = r->row.beta, factor = r->row.factor;
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            ggl_part p = part_of(s, body[from], body[to]);
            hn_vec3 turn_u = v->second.turn_u[from], turn_w = v->second.turn_w[from];
            hn_vec3 own = turning_of(s, body[from]), other = turning_of(s, body[to]);
            if (!s->variational) {
                // as twists on both sides
                double u[2][3][TWIST_SIZE], w[2][3][TWIST_SIZE];
                for (int side = 0; side < 2; ++side) {
                    int at = side == 0 ? from : to;
                    twist_columns(alpha + 4 * at, system_pose(s->end, body[at]), u[side]);
                    twist_columns(beta + 4 * at, system_pose(s->end, body[at]), w[side]);
                }
                for (int k = 0; k < 4; ++k) {
                    int row = k / 2, column = k % 2;
                    if ((row == 1 && !p.rows->has_directors) ||
                        (column == 1 && !p.columns->has_directors))
                        continue;
                    double c[2][3][3];
                    for (int i = 0; i < 3; ++i)
                        for (int j = 0; j < 3; ++j) {
                            double sum = 0.0;
                            for (int x = 0; x < 3; ++x)
                                sum += u[0][x][3 * row + i] * w[1][x][3 * column + j] +
                                       w[0][x][3 * row + i] * u[1][x][3 * column + j];
                            c[0][i][j] = factor * lambda * sum;
                            c[1][i][j] = -factor * gamma * sum;
                        }
                    add_part(s, &p, EQUATION_FIRST, row, UNKNOWN_TURN, column,
                             (const double(*)[3])c[0]);
                    add_part(s, &p, EQUATION_LAST, row, UNKNOWN_TURN, column,
                             (const double(*)[3])c[1]);
                }
                continue;
            }
            double size = factor * gamma;
            for (int l = 0; l < coordinate_vectors(p.columns); ++l) {
                double a = alpha[4 * to + l], b = beta[4 * to + l];
                if (a == 0.0 && b == 0.0) continue;
                // (G12)
                double direct = alpha[4 * from] * b + beta[4 * from] * a;
                if (direct != 0.0) add_unit(s, &p, EQUATION_LAST, 0, UNKNOWN_X, l, -size * direct);
                if (p.rows->has_directors)
                    add_cross(s, &p, EQUATION_LAST, 1, UNKNOWN_X, l, -size,
                              vec3_add_scaled(vec3_scale(b, turn_u), a, turn_w));
                // (G11)
                for (int k = 0; k < coordinate_vectors(p.rows); ++k) {
                    double c = size * (alpha[4 * from + k] * b + beta[4 * from + k] * a);
                    if (c == 0.0) continue;
                    if (k > 0) add_cross(s, &p, EQUATION_MIDDLE, k, UNKNOWN_X, l, -c, own);
                    if (l > 0) add_cross(s, &p, EQUATION_MIDDLE, k, UNKNOWN_X, l, c, other);
                    else add_unit(s, &p, EQUATION_MIDDLE, k, UNKNOWN_TWIST, 0, c);
                }
            }
            for (int k = 0; p.columns->has_directors && k < coordinate_vectors(p.rows); ++k) {
                hn_vec3 x = vec3_add_scaled(vec3_scale(alpha[4 * from + k], v->second.turn_w[to]),
                                            beta[4 * from + k], v->second.turn_u[to]);
                add_cross(s, &p, EQUATION_MIDDLE, k, UNKNOWN_TWIST, 1, -size, x);
            }
        }
}

// (G5) by the pose of the secondary constraints: x of the body, or the turn of q_n+1
static void add_rate_by_pose(scheme_solver *s, const row_view *v, int side, int body, double *line)
{
    const system_body *one = &s->system->bodies[body];
    const double *pose = system_pose(secondary_pose(s), body);
    int width = coordinate_width(one);
    hn_vec3 turn = vec3(0.0, 0.0, 0.0);
    double *to = line + column_of(s, one, s->variational ? UNKNOWN_X : UNKNOWN_TURN), values[3];
    for (int k = 0; k < coordinate_vectors(one); ++k) {
        hn_vec3 z = v->bent[4 * side + k];
        if (k > 0) z = vec3_add(z, vec3_cross(v->gradient[4 * side + k], turning_of(s, body)));
        if (k > 0 && !s->variational) {
            turn = vec3_add(turn, vec3_cross(vec3_load(pose + 3 * k), z));
            continue;
        }
        coordinates_of(one, z, values);
        for (int i = 0; i < width; ++i) to[width * k + i] += values[i];
    }
    if (one->has_directors && !s->variational)
        vec3_store(vec3_add(vec3_load(to + 3), turn), to + 3);
}

// Columns of the two multipliers of a row in the equations of a body, and its two lines.
static void add_row_blocks(scheme_solver *s, const ggl_row *r, const row_view *v, int side)
{
    int body = side == 0 ? r->a : r->b;
    const system_body *one = &s->system->bodies[body];
    block_lu *lu = s->blocks.lu;
    int width = block_lu_node_size(lu, r->node), columns = block_lu_node_size(lu, body);
    double *upper = block_lu_block(lu, body, r->node), *lower = block_lu_block(lu, r->node, body);
    double first[TWIST_SIZE], second[TWIST_SIZE], end[TWIST_SIZE];
    wrench_on(one, v->wrench_first[side], first);
    wrench_on(one, v->wrench[side], second);
    wrench_on(one, v->wrench_end[side], end);
    int last = line_of(s, one, EQUATION_LAST), at_twist = column_of(s, one, UNKNOWN_TWIST),
        at_turn = column_of(s, one, UNKNOWN_TURN);
    double *primary = lower + r->primary * columns, *secondary = lower + r->secondary * columns;
    for (int i = 0; i < twist_size(one); ++i) {
        if (!r->spread) {
            upper[i * width + r->primary] += first[i];
            primary[at_turn + i] += end[i];
        }
        upper[(last + i) * width + r->secondary] -= second[i];
        secondary[at_twist + i] += second[i];
    }
    add_rate_by_pose(s, v, side, body, secondary);
    if (!s->variational) return;
    hn_vec3 force[4];
    double values[3];
    middle_forces(s, v, side, body, force);
    for (int k = 0; k < coordinate_vectors(one); ++k) {
        coordinates_of(one, force[k], values);
        int at = line_of(s, one, EQUATION_MIDDLE) + coordinate_width(one) * k;
        for (int i = 0; i < coordinate_width(one); ++i)
            upper[(at + i) * width + r->secondary] += values[i];
    }
}

// (G4), (G5) of a row and its forces in the equations of its bodies
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
        if (s->tangent)
            diagonal[r->primary * (size + 1)] = diagonal[r->secondary * (size + 1)] = 1.0;
        right[node + r->primary] = lambda;
        right[node + r->secondary] = gamma;
        return;
    }
    row_view v;
    find_row_view(s, r, &v);
    if (!r->spread)
        right[node + r->primary] =
            row_value(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b)); // (G4)
    const int body[2] = {r->a, r->b};
    double rate = 0.0; // (G5)
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        const system_body *one = &system->bodies[body[side]];
        const double *twist = s->twists + TWIST_SIZE * (size_t)body[side];
        double *own = right + block_lu_offset(s->blocks.lu, body[side]), first[TWIST_SIZE],
               second[TWIST_SIZE], *pulls = s->pulls + 2 * POSE_SIZE * (size_t)body[side];
        body_scale *joints = transmitted_scale(s, body[side]);
        joints->force += fabs(lambda) * vec3_norm(vec3_load(v.wrench_first[side]));
        wrench_on(one, v.wrench_first[side], first);
        wrench_on(one, v.wrench[side], second);
        for (int k = 0; k < 3; ++k) rate += v.wrench[side][k] * twist[k];
        for (int i = 0; i < twist_size(one); ++i) {
            own[i] += lambda * first[i];
            own[line_of(s, one, EQUATION_LAST) + i] -= gamma * second[i];
        }
        hn_vec3 force[4];
        if (s->variational) middle_forces(s, &v, side, body[side], force);
        for (int k = 0; s->variational && k < coordinate_vectors(one); ++k) {
            double values[3];
            int width = coordinate_width(one);
            coordinates_of(one, force[k], values);
            for (int i = 0; i < width; ++i)
                own[line_of(s, one, EQUATION_MIDDLE) + width * k + i] += gamma * values[i];
        }
        if (one->has_directors) {
            for (int k = 3; k < TWIST_SIZE; ++k) rate += v.wrench[side][k] * twist[k];
            for (int k = 1; k < 4; ++k) {
                // of the primary constraints forces are needed at their own pose
                hn_vec3 primary =
                    vec3_scale(r->row.beta[4 * side + k], s->variational ? v.first.u : v.second.u);
                if (r->row.product)
                    primary = vec3_scale(r->row.factor,
                                         vec3_add_scaled(primary, r->row.alpha[4 * side + k],
                                                         s->variational ? v.first.w : v.second.w));
                joints->moment += fabs(lambda) * vec3_norm(primary);
                double *to = pulls + 3 * k;
                vec3_store(vec3_add_scaled(vec3_load(to), lambda, primary), to);
                to += POSE_SIZE;
                vec3_store(vec3_add_scaled(vec3_load(to), gamma, v.gradient[4 * side + k]), to);
            }
        }
        if (s->tangent) add_row_blocks(s, r, &v, side);
    }
    right[node + r->secondary] = rate - s->excess[index];
    if (s->tangent && r->row.product) add_row_changes(s, r, &v, lambda, gamma);
}

// a tangent term u^T C delta v of an element in (G10), by x of its two bodies
static void add_element_term(scheme_solver *s, const element *e, const stiffness_term *term,
                             double factor)
{
    const int body[2] = {e->a, e->b};
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            ggl_part p = part_of(s, body[from], body[to]);
            const double *u = term->u + 4 * from, *v = term->v + 4 * to,
                         *place = system_pose(primary_pose(s), body[from]),
                         *end = system_pose(s->end, body[to]);
            hn_vec3 lever = pose_direction(place, vec3(u[1], u[2], u[3])),
                    omega = turning_of(s, body[to]);
            for (int k = 0; k < (p.rows->has_directors ? 2 : 1); ++k) {
                double c[3][3], by[2][3][3] = {{{0.0}}};
                for (int j = 0; j < 3; ++j) {
                    hn_vec3 column = vec3(term->c[0][j], term->c[1][j], term->c[2][j]);
                    column = k == 0 ? vec3_scale(factor * u[0], column)
                                    : vec3_scale(factor, vec3_cross(lever, column));
                    c[0][j] = column.x, c[1][j] = column.y, c[2][j] = column.z;
                }
                for (int l = 0; l < coordinate_vectors(p.columns); ++l) {
                    double part[3][3];
                    for (int i = 0; i < 9; ++i) part[i / 3][i % 3] = v[l] * c[i / 3][i % 3];
                    if (s->variational) {
                        add_part(s, &p, EQUATION_FIRST, k, UNKNOWN_X, l, (const double(*)[3])part);
                        continue;
                    }
                    if (l == 0) {
                        add_part(s, &p, EQUATION_FIRST, k, UNKNOWN_TWIST, 0,
                                 (const double(*)[3])part);
                        continue;
                    }
                    // x_l = omega x d: by omega, and by the turn of d
                    hn_vec3 d = vec3_load(end + 3 * l);
                    for (int i = 0; i < 3; ++i) {
                        hn_vec3 row = vec3_load(part[i]);
                        hn_vec3 twist = vec3_cross(d, row),
                                turn = vec3_cross(d, vec3_cross(row, omega));
                        vec3_store(vec3_add(vec3_load(by[0][i]), twist), by[0][i]);
                        vec3_store(vec3_add(vec3_load(by[1][i]), turn), by[1][i]);
                    }
                }
                if (s->variational || !p.columns->has_directors) continue;
                add_part(s, &p, EQUATION_FIRST, k, UNKNOWN_TWIST, 1, (const double(*)[3])by[0]);
                add_part(s, &p, EQUATION_FIRST, k, UNKNOWN_TURN, 1, (const double(*)[3])by[1]);
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
        const double *q = system_pose(s->q_start, body[side]), *x = numbers_of(s->x, body[side]);
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
        for (int t = 0; s->tangent && t < out.term_count; ++t)
            add_element_term(s, e, &terms[t], 0.5);
    }
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        double wrench[TWIST_SIZE], own[TWIST_SIZE];
        const system_body *one = &system->bodies[body[side]];
        double *right = s->right + block_lu_offset(s->blocks.lu, body[side]),
               *pulls = s->pulls + 2 * POSE_SIZE * (size_t)body[side];
        force_to_wrench(system_pose(primary_pose(s), body[side]), force[side], wrench);
        wrench_on(one, wrench, own);
        for (int i = 0; i < twist_size(one); ++i) right[i] += own[i];
        for (int k = 3; k < POSE_SIZE; ++k) pulls[k] += force[side][k];
    }
}

// Translations of a body: the same in both forms but for x, which is v in the classical one.
static void add_translation(scheme_solver *s, int i)
{
    const system_body *body = &s->system->bodies[i];
    size_t at = POSE_SIZE * (size_t)i;
    double mass = mass_node(s->system, i)[0] / s->system->unit_mass[i], values[3][3];
    double *right = s->right + block_lu_offset(s->blocks.lu, i);
    hn_vec3 x = vec3_load(s->x + at), y = vec3_load(s->y + at),
            push = vec3_add(vec3_load(s->push + at), vec3_load(s->stress_force + at)),
            v = vec3_load(s->twists + TWIST_SIZE * (size_t)i);
    coordinates_of(body, vec3_subtract(vec3_scale(mass, x), push), values[EQUATION_FIRST]);
    coordinates_of(body, vec3_scale(mass, vec3_subtract(v, x)), values[EQUATION_MIDDLE]);
    coordinates_of(body, vec3_scale(mass, vec3_subtract(y, x)), values[EQUATION_LAST]);
    for (int e = EQUATION_FIRST; e <= EQUATION_LAST; ++e)
        for (int k = 0; (e != EQUATION_MIDDLE || s->variational) && k < coordinate_width(body); ++k)
            right[line_of(s, body, (ggl_equations)e) + k] += values[e][k];
    if (!s->tangent) return;
    ggl_part p = part_of(s, i, i);
    ggl_unknowns by = s->variational ? UNKNOWN_X : UNKNOWN_TWIST;
    add_unit(s, &p, EQUATION_FIRST, 0, by, 0, mass);
    add_unit(s, &p, EQUATION_LAST, 0, by, 0, -mass);
    add_unit(s, &p, EQUATION_LAST, 0, UNKNOWN_TURN, 0, mass);
    if (!s->variational) return;
    add_unit(s, &p, EQUATION_MIDDLE, 0, UNKNOWN_X, 0, -mass);
    add_unit(s, &p, EQUATION_MIDDLE, 0, UNKNOWN_TWIST, 0, mass);
}

// (G10) to (G12) of one director.
static void add_director(scheme_solver *s, int i, int k)
{
    const system_body *body = &s->system->bodies[i];
    size_t at = POSE_SIZE * (size_t)i + 3 * (size_t)k;
    double inertia = mass_node(s->system, i)[k] / s->system->unit_mass[i];
    const double *pulls = s->pulls + 2 * POSE_SIZE * (size_t)i + 3 * k;
    double *right = s->right + block_lu_offset(s->blocks.lu, i), *first = right + 3,
           *last = right + line_of(s, body, EQUATION_LAST) + 3,
           *middle = right + line_of(s, body, EQUATION_MIDDLE) + 3 * k;
    hn_vec3 x = vec3_load(s->x + at), y = vec3_load(s->y + at), end = vec3_load(s->end + at),
            place = vec3_load(secondary_pose(s) + at), start = vec3_load(primary_pose(s) + at),
            omega = turning_of(s, i), turned = vec3_cross(omega, end),
            push = vec3_add(vec3_load(s->push + at), vec3_load(s->stress_force + at));
    hn_vec3 own = vec3_subtract(vec3_scale(inertia, x), push),
            gap = vec3_scale(inertia, vec3_subtract(y, x));
    vec3_store(vec3_add(vec3_load(first), vec3_cross(start, own)), first);
    vec3_store(vec3_add(vec3_load(last), vec3_cross(place, gap)), last);
    if (s->variational)
        vec3_store(vec3_add_scaled(vec3_load(middle), inertia, vec3_subtract(turned, x)), middle);
    if (!s->tangent) return;
    ggl_part p = part_of(s, i, i);
    hn_vec3 all = vec3_add(own, vec3_load(pulls)),
            rest = vec3_subtract(gap, vec3_load(pulls + POSE_SIZE));
    double by_twist[3][3] = {{0.0}}, by_turn[3][3] = {{0.0}};
    if (s->variational) {
        add_cross(s, &p, EQUATION_FIRST, 1, UNKNOWN_X, k, inertia, start);
        add_unit(s, &p, EQUATION_MIDDLE, k, UNKNOWN_X, k, -inertia);
        add_cross(s, &p, EQUATION_MIDDLE, k, UNKNOWN_TWIST, 1, 1.0,
                  vec3_add_scaled(vec3_load(pulls + POSE_SIZE), -inertia, end));
        add_turned(-inertia, end, omega, by_turn); // -omega^ end^
        add_part(s, &p, EQUATION_MIDDLE, k, UNKNOWN_TURN, 1, (const double(*)[3])by_turn);
        add_cross(s, &p, EQUATION_LAST, 1, UNKNOWN_X, k, -1.0,
                  vec3_add_scaled(rest, inertia, place));
        add_turned(-inertia, end, place, by_twist); // -place^ end^
        add_part(s, &p, EQUATION_LAST, 1, UNKNOWN_TURN, 1, (const double(*)[3])by_twist);
        return;
    }
    // d x (omega x (phi x d)) = -(d^ omega^ d^) phi, and (phi x d) x f
    double spun[3][3];
    for (int c = 0; c < 3; ++c) {
        hn_vec3 phi = vec3(c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0);
        hn_vec3 z = vec3_scale(inertia, vec3_cross(end, vec3_cross(omega, vec3_cross(phi, end))));
        spun[0][c] = z.x, spun[1][c] = z.y, spun[2][c] = z.z;
    }
    add_turned(-inertia, end, end, by_twist);
    for (int c = 0; c < 9; ++c) by_turn[c / 3][c % 3] = spun[c / 3][c % 3];
    add_turned(1.0, end, all, by_turn);
    add_part(s, &p, EQUATION_FIRST, 1, UNKNOWN_TWIST, 1, (const double(*)[3])by_twist);
    add_part(s, &p, EQUATION_FIRST, 1, UNKNOWN_TURN, 1, (const double(*)[3])by_turn);
    for (int c = 0; c < 9; ++c) by_turn[c / 3][c % 3] = by_twist[c / 3][c % 3] - spun[c / 3][c % 3];
    add_turned(1.0, end, rest, by_turn);
    for (int c = 0; c < 9; ++c) by_twist[c / 3][c % 3] *= -1.0;
    add_part(s, &p, EQUATION_LAST, 1, UNKNOWN_TWIST, 1, (const double(*)[3])by_twist);
    add_part(s, &p, EQUATION_LAST, 1, UNKNOWN_TURN, 1, (const double(*)[3])by_turn);
}

// poses and W of the unknowns
static void place_bodies(scheme_solver *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        for (size_t k = at; s->variational && k < at + POSE_SIZE; ++k)
            s->bar[k] = s->q_start[k] + s->x[k];
        twist_to_velocity(secondary_pose(s) + at, s->twists + TWIST_SIZE * (size_t)i, s->w + at);
        if (!system->bodies[i].has_directors)
            memset(s->w + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
        for (size_t k = at; !s->variational && k < at + POSE_SIZE; ++k)
            s->bar[k] = s->q_start[k] + s->x[k];
    }
}

// residual at the iterate and, if wanted, the matrix
static void assemble(scheme_solver *s, bool tangent)
{
    const hn_system *system = s->system;
    s->tangent = tangent;
    if (tangent) block_lu_clear(s->blocks.lu);
    memset(s->right, 0, (size_t)block_lu_size(s->blocks.lu) * sizeof(double));
    memset(s->pulls, 0, 2 * POSE_SIZE * (size_t)system->body_count * sizeof(double));
    ggl_stress_excess(&s->stress, s->row_count, s->excess);
    place_bodies(s);
    for (int i = 0; i < system->body_count; ++i) *transmitted_scale(s, i) = (body_scale){0.0, 0.0};
    for (int k = s->internal_count; k < s->row_count; ++k) add_row(s, k);
    for (int k = 0; k < s->stress.loop_count; ++k) add_stress(s, &s->stress.loops[k]);
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        if (e->damping != 0.0 && e->law == NULL) add_damper(s, e);
    }
    for (int i = 0; i < system->body_count; ++i) {
        add_translation(s, i);
        for (int k = 1; k < coordinate_vectors(&system->bodies[i]); ++k) add_director(s, i, k);
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
        int width = coordinate_width(body);
        double place = one_norm(s->q_start + POSE_SIZE * (size_t)i) / system->sizes[i],
               still = report ? MEASURE_STILL * (1.0 + place) : DBL_EPSILON;
        const body_scale *own = &s->scales[i], *joints = transmitted_scale(s, i);
        s->ways[i] = still + measure_pose(system->sizes[i], s->x + POSE_SIZE * (size_t)i);
        for (int e = EQUATION_FIRST; e <= EQUATION_LAST; ++e) {
            int count = e == EQUATION_MIDDLE ? x_size(s, body) : twist_size(body);
            const double *values = right + line_of(s, body, (ggl_equations)e);
            for (int k = 0; k < count; ++k) {
                double value = measure_part(values[k], k < width ? own->force + joints->force
                                                                 : own->moment + joints->moment);
                if (!(value <= largest)) largest = value, *worst = i;
            }
        }
    }
    for (int k = s->internal_count; k < s->row_count; ++k) {
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

// add a solution to the unknowns; returns the size of the increment of q_bar, W and q_n+1
static double apply(scheme_solver *s, const double *solution)
{
    const hn_system *system = s->system;
    step_data data = {.q_start = s->q_start, .q = s->end, .delta = s->y, .bodies = s->bodies};
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *own = solution + block_lu_offset(s->blocks.lu, i);
        double change[POSE_SIZE], length = measure_length(system, i, s->q_start, s->y);
        for (int u = UNKNOWN_X; u <= UNKNOWN_TURN; ++u) {
            const double *from = own + column_of(s, body, (ggl_unknowns)u);
            if (u == UNKNOWN_X && !s->variational) continue;
            memset(change, 0, sizeof change);
            if (u == UNKNOWN_X || !body->has_directors) coordinates_expand(body, from, change);
            else memcpy(change, from, TWIST_SIZE * sizeof(double));
            double *to =
                u == UNKNOWN_X ? s->x + POSE_SIZE * (size_t)i : s->twists + TWIST_SIZE * (size_t)i;
            if (u == UNKNOWN_TURN) step_advance_body(system, &data, i, change);
            for (int k = 0; u != UNKNOWN_TURN && k < (u == UNKNOWN_X ? POSE_SIZE : TWIST_SIZE); ++k)
                to[k] += change[k];
            double size =
                u == UNKNOWN_X ? measure_pose(length, change) : measure_twist(length, change);
            if (!(size <= largest)) largest = size;
        }
    }
    for (int k = s->internal_count; k < s->row_count; ++k) {
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
    step_data data = {.q_start = s->q_start, .q = s->end, .delta = s->y, .bodies = s->bodies};
    memset(s->y, 0, count * sizeof(double));
    memcpy(s->end, s->q_start, count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double *twist = s->twists + TWIST_SIZE * (size_t)i;
        for (size_t k = at; k < at + POSE_SIZE; ++k) s->x[k] = s->h * s->velocity[k];
        velocity_to_twist(s->q_start + at, s->x + at, twist);
        if (!system->bodies[i].has_directors) memset(twist + 3, 0, 3 * sizeof(double));
        s->bodies[i] = (body_step){0};
        step_advance_body(system, &data, i, twist);
    }
    memset(s->lambda, 0, (size_t)s->row_count * sizeof(double));
    memset(s->gamma, 0, (size_t)s->row_count * sizeof(double));
    memset(s->stress_force, 0, count * sizeof(double));
}

static void set_scales(scheme_solver *s, const double *p)
{
    const hn_system *system = s->system;
    step_equations equations = {
        .step_size = s->h, .mass_factor = 1.0 / s->h, .force_factor = s->h, .momentum = p};
    step_data data = {.q_start = s->q_start,
                      .q = s->end,
                      .delta = s->y,
                      .force = s->force,
                      .angle_start = s->angles};
    measure_bodies(system, &equations, &data, s->scales);
    measure_add_round_off(system, &equations, s->q_start, s->scales);
    measure_add_elements(system, &equations, &data, s->scales);
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
    scheme_add_forces(system, q, s->still, s->angles, step->time, step->time + s->h, s->h, s->h,
                      s->force);
    for (int i = 0; step->parked != NULL && i < system->body_count; ++i)
        if (step->parked[i])
            memset(s->force + POSE_SIZE * (size_t)i, 0, POSE_SIZE * sizeof(double));
    for (size_t k = 0; k < count; ++k)
        s->push[k] = s->h * (p[k] + s->force[k]) / system->unit_mass[k / POSE_SIZE];
    predict(s);
    set_scales(s, p);
    return HN_OK;
}

static int body_of_node(const scheme_solver *s, int node)
{
    for (int k = s->internal_count; node >= s->system->body_count && k < s->row_count; ++k)
        if (s->rows[k].node == node) return s->rows[k].b >= 0 ? s->rows[k].b : s->rows[k].a;
    return node;
}

// Does the last increment leave as little of every equation as its size tells? Old factors may shorten increments and
// leave equations of a light body as they were, and those of a mechanism of very different masses near a dead point
// have few digits: what is left is measured then. Where round-off keeps it up, some small increments are enough.
static bool is_solved(scheme_solver *s, const newton *n)
{
    enum { SMALL_MAX = 3 };
    const double FALLING = 0.3, LOOSE = 1e-8; // a tolerance that asks for no such care
    int worst;
    if (n->options->increment_tolerance > LOOSE) return true;
    if (!n->reuse && n->contraction * n->residual <= RESIDUAL_LEFT) return true;
    assemble(s, false);
    double left = residual_size(s, true, &worst);
    return left <= RESIDUAL_LEFT ||
           (n->report->small >= SMALL_MAX && left >= FALLING * n->residual);
}

static hn_status iterate(scheme_solver *s, const newton_options *options, newton_report *report)
{
    block_lu *lu = s->blocks.lu;
    // rows near a singular position are dropped or spread before it starts (ggl_stress): no guards
    newton n = newton_begin(options, report, (newton_guards){0});
    while (newton_goes_on(&n)) {
        // X is of the size of mu times gamma, O(h^4): it is taken from the iterate before
        ggl_stress_force(s->system, &s->stress, s->q_start, s->rows, s->gamma, s->stress_force);
        assemble(s, !n.reuse);
        double residual = residual_size(s, false, &report->worst_body);
        if (!newton_takes_residual(&n, residual, residual)) return n.status;
        int node = n.reuse ? -1 : block_lu_factor(lu);
        if (node >= 0) {
            report->worst_body = body_of_node(s, node);
            return newton_stuck(&n);
        }
        for (int k = 0; k < block_lu_size(lu); ++k) s->right[k] = -s->right[k];
        block_lu_solve(lu, s->right);
        if (!newton_takes_increment(&n, apply(s, s->right))) return n.status;
        if (newton_is_exact(&n, REUSE_LEFT) && newton_bilinear_ends(report, options, residual)) {
            if (is_solved(s, &n)) return HN_OK;
            n.reuse = false;
            continue;
        }
        newton_choose_reuse(&n, REUSE_BELOW, REUSE_CONTRACTION);
    }
    return n.status;
}

// What joints do by lambda', and dampers, on directors at the solution, as an assembly leaves it.
static void find_pulls(scheme_solver *s)
{
    const hn_system *system = s->system;
    const double *pose = primary_pose(s);
    memset(s->pulls, 0, 2 * POSE_SIZE * (size_t)system->body_count * sizeof(double));
    place_bodies(s);
    for (int k = s->internal_count; k < s->row_count; ++k) {
        const ggl_row *r = &s->rows[k];
        const int body[2] = {r->a, r->b};
        hn_vec3 gradient[8];
        row_gradient(&r->row, system_pose(pose, r->a), system_pose(pose, r->b), gradient);
        for (int v = 0; v < 8; ++v) {
            if (body[v / 4] < 0 || v % 4 == 0) continue;
            double *to = s->pulls + 2 * POSE_SIZE * (size_t)body[v / 4] + 3 * (v % 4);
            vec3_store(vec3_add_scaled(vec3_load(to), s->lambda[k], gradient[v]), to);
        }
    }
    s->tangent = false;
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        if (e->damping != 0.0 && e->law == NULL) add_damper(s, e);
    }
}

// lambda' of internal rows: what (G1) lacks on the directors.
static void find_internal(scheme_solver *s)
{
    const hn_system *system = s->system;
    find_pulls(s);
    for (int k = 0; k < s->internal_count; k += INTERNAL_ROWS) {
        int i = s->rows[k].a;
        hn_vec3 lacking[3];
        for (int d = 0; d < 3; ++d) {
            size_t at = POSE_SIZE * (size_t)i + 3 * (size_t)(d + 1);
            const double *pulls = s->pulls + 2 * POSE_SIZE * (size_t)i + 3 * (d + 1);
            double inertia = mass_node(system, i)[d + 1] / system->unit_mass[i];
            hn_vec3 push = vec3_add(vec3_load(s->push + at), vec3_load(s->stress_force + at));
            lacking[d] = vec3_subtract(
                vec3_subtract(push, vec3_scale(inertia, vec3_load(s->x + at))), vec3_load(pulls));
        }
        scheme_internal_multipliers(system_pose(primary_pose(s), i), lacking, s->lambda + k);
    }
}

// ---- results ----------------------------------------------------------------------------------------

// lambda of one joint and of its bodies' internal constraints, from the solver's rows to those of the user, which
// are other functions of q when bodies a and b have changed places: the same wrenches at q, the rest is internal.
static void convert_joint(const scheme_solver *s, const joint_place *p, const double *q,
                          double *multipliers)
{
    const hn_system *system = s->system;
    const joint *user = &system->reports[p->rows->model_joint].rows;
    const int body[2] = {p->a, p->b}, place[2] = {p->a < 0 ? GROUND : 0, p->b < 0 ? GROUND : 1};
    const double *a = system_pose(q, p->a), *b = system_pose(q, p->b);
    double *lambda = multipliers + p->rows->row_offset, rest[2 * POSE_SIZE] = {0.0};
    for (int r = 0; r < p->rows->row_count; ++r) {
        const constraint_row row = joint_row(p->rows, r);
        row_add_force(&row, place[0], place[1], a, b, lambda[r], rest);
    }
    scheme_convert_multipliers(system, p, a, b, lambda);
    for (int r = 0; r < user->row_count; ++r) {
        const constraint_row row = joint_row(user, r);
        row_add_force(&row, place[1], place[0], b, a, -lambda[r], rest);
    }
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0 || system->bodies[body[side]].internal_count == 0) continue;
        double *internal = multipliers + system->bodies[body[side]].internal_offset,
               more[INTERNAL_ROWS];
        hn_vec3 forces[3];
        for (int d = 0; d < 3; ++d) forces[d] = vec3_load(rest + POSE_SIZE * side + 3 * (d + 1));
        scheme_internal_multipliers(system_pose(q, body[side]), forces, more);
        for (int k = 0; k < INTERNAL_ROWS; ++k) internal[k] += more[k];
    }
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
        again = ggl_stress_lost(system, &s->stress, s->end, s->rows);
        again = saddle_restore_rows(s->choice, s->end) || again;
        if (!again) break;
        // the rank went up within the step: with the violated rows as equations
        read_choice(s);
        predict(s);
        report->iterations = 0;
    }
    if (options->measure_left) {
        assemble(s, false);
        report->left = residual_size(s, true, &report->left_body);
    }
    find_internal(s);
    memcpy(step->q, s->end, count * sizeof(double));
    step_data settled = {.q = step->q};
    step_settle_directors(system, &settled);
    memcpy(step->delta, s->y, count * sizeof(double));
    mass_apply(system, 1.0 / s->h, s->w, step->impetus); // p_n+1 = M W/h
    report_multipliers(s, step->multipliers);
    step->multiplier_time = s->variational ? step->time : step->time + s->h;
    step_equations equations = {
        .step_size = s->h, .load_begin = step->time, .load_end = step->time + s->h};
    step_data data = {.q_start = s->q_start, .angle_start = s->angles, .q = s->end, .delta = s->y};
    step->work = system->element_count > 0 ? scheme_load_work(system, &equations, &data, 0.0) : 0.0;
    return HN_OK;
}

// ---- for tests --------------------------------------------------------------------------------------

ggl_levels ggl_last_levels(const scheme_solver *s)
{
    const hn_system *system = s->system;
    ggl_levels l = {0};
    ggl_stress_excess(&s->stress, s->row_count, s->excess);
    for (int k = 0; k < s->row_count; ++k) {
        const ggl_row *r = &s->rows[k];
        double rate = row_rate(&r->row, r->a, r->b, secondary_pose(s), s->w),
               middle = fabs(rate) / s->h;
        l.primary =
            fmax(l.primary,
                 fabs(row_value(&r->row, system_pose(s->end, r->a), system_pose(s->end, r->b))));
        if (!r->dropped || r->spread)
            l.secondary = fmax(l.secondary, fabs(rate - s->excess[k]) / s->h);
        l.secondary_all = fmax(l.secondary_all, middle);
        l.secondary_node =
            fmax(l.secondary_node, fabs(row_rate(&r->row, r->a, r->b, s->end, s->w)) / s->h);
        l.redundant_count += r->dropped ? 1 : 0;
        l.spread_count += r->spread ? 1 : 0;
    }
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        l.speed = fmax(l.speed, fabs(s->w[k]) / s->h);
    return l;
}

double ggl_secondary_multiplier(const scheme_solver *s, int row)
{
    return row_mass(s, row) / s->h * s->gamma[row];
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
    assemble(s, matrix != NULL);
    memcpy(residual, s->right, (size_t)ggl_size(s) * sizeof(double));
    if (matrix != NULL) block_lu_dense(s->blocks.lu, matrix);
}
