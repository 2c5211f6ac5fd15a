// SPDX-License-Identifier: MIT
// The full orthogonal projection of `projected-rk` (TAN 5.1, 5.2): Newton's method with exact tangents on all of M at
// once.
//
//   L = 1/2 |y - a|_W^2 + 1/2 |y_1 - a_1|_W^2 + beta . g(y) + alpha . (dg y_1) + nu (|theta|^2 - 1)/2 + kappa theta .
//           theta_1
//
// is made stationary, places measured in lengths of their bodies (W^-1 = length^2, and 1 s). Constraints are functions
// of the twelve numbers x of a pose, quadratic, and x of theta is quadratic as well (R = H~ H^T, not divided by
// |theta|^2 here): with x_1 = T y_1, T = dx/dy,
//
//   dL/dy = W (y - a) + T^T f + T_1^T f_1,   dL/dy_1 = W (y_1 - a_1) + T^T f_1,   f = dL/dx,  f_1 = dL/dx_1,  T_1 = d(T
//   y_1)/dy
//
// and second derivatives need no more than the constant second derivatives of g and x (in the plane: the third of x
// too). A body with its sphere multipliers is a block, a joint with alpha and beta is a block; bodies are eliminated
// first.
#include "schemes/projected_rk.h"

#include "linalg/block_lu.h"
#include "linalg/elimination_order.h"
#include "schemes/euler_parameters.h"

#include <string.h>

enum { BLOCK_MAX = 2 * JET_COORDINATES };

struct orthogonal_projection {
    jet_space *jet;
    block_lu *lu;
    double *x; // unknowns: per body y, y_1, nu, kappa; per joint beta, alpha
    double *right;
    double *pose, *pose1;       // 12 per body
    double *tangent, *tangent1; // T, T_1: 12 x 7 per body
    double *force, *force1;     // f, f_1: 12 per body
    pool memory;
};

void orthogonal_projection_destroy(orthogonal_projection *p)
{
    if (p == NULL) return;
    hn_context *context = p->jet->system->context;
    block_lu_destroy(p->lu);
    pool_release(&p->memory);
    context_release(context, p);
}

static int body_size(const jet_body *b)
{
    return 2 * b->y_count + (b->kind == JET_RIGID ? 2 : 0);
}

hn_status orthogonal_projection_create(jet_space *jet, orthogonal_projection **out)
{
    *out = NULL;
    hn_context *context = jet->system->context;
    orthogonal_projection *p = context_allocate(context, sizeof *p);
    if (p == NULL) return HN_OUT_OF_MEMORY;
    p->jet = jet;
    p->memory.context = context;
    size_t n = (size_t)jet->body_count, joints = (size_t)jet->joint_count, edges_max = 3 * joints;
    pool scratch = {.context = context};
    int *sizes = pool_ints(&scratch, n + joints), *order = pool_ints(&scratch, n + joints);
    int(*edges)[2] = pool_take(&scratch, edges_max, sizeof(int[2]));
    hn_status status = pool_status(&scratch);
    if (status != HN_OK) goto done;
    int count = 0, bodies = jet->body_count;
    for (int i = 0; i < bodies; ++i) sizes[i] = body_size(&jet->bodies[i]);
    for (int k = 0; k < jet->joint_count; ++k) {
        const jet_joint *j = &jet->joints[k];
        sizes[bodies + k] = 2 * j->row_count;
        if (j->a >= 0) edges[count][0] = bodies + k, edges[count][1] = j->a, count++;
        if (j->b >= 0) edges[count][0] = bodies + k, edges[count][1] = j->b, count++;
        if (j->a >= 0 && j->b >= 0) edges[count][0] = j->a, edges[count][1] = j->b, count++;
    }
    // bodies by minimum degree among themselves (rows couple their coordinates), then joints
    int body_edges = 0;
    for (int e = 0; e < count; ++e)
        if (edges[e][0] < bodies && edges[e][1] < bodies) {
            int t[2] = {edges[e][0], edges[e][1]};
            edges[e][0] = edges[body_edges][0], edges[e][1] = edges[body_edges][1];
            edges[body_edges][0] = t[0], edges[body_edges][1] = t[1];
            body_edges++;
        }
    status = order_minimum_degree(context, bodies, body_edges, (const int(*)[2])edges, order);
    if (status != HN_OK) goto done;
    for (int k = 0; k < jet->joint_count; ++k) order[bodies + k] = bodies + jet->order[k];
    status = block_lu_create(context, bodies + jet->joint_count, sizes, count,
                             (const int(*)[2])edges, order, &p->lu);
    if (status != HN_OK) goto done;
    p->x = pool_doubles(&p->memory, (size_t)block_lu_size(p->lu));
    p->right = pool_doubles(&p->memory, (size_t)block_lu_size(p->lu));
    p->pose = pool_doubles(&p->memory, n * POSE_SIZE),
    p->pose1 = pool_doubles(&p->memory, n * POSE_SIZE);
    p->tangent = pool_doubles(&p->memory, n * POSE_SIZE * JET_COORDINATES),
    p->tangent1 = pool_doubles(&p->memory, n * POSE_SIZE * JET_COORDINATES);
    p->force = pool_doubles(&p->memory, n * POSE_SIZE),
    p->force1 = pool_doubles(&p->memory, n * POSE_SIZE);
    status = pool_status(&p->memory);
done:
    pool_release(&scratch);
    if (status != HN_OK) {
        orthogonal_projection_destroy(p);
        return status;
    }
    *out = p;
    return HN_OK;
}

// ---- poses as functions of coordinates ------------------------------------------------------------------

// columns d(d1, d2, d3)/d theta_k: bilinear, half of it is d_k(theta) polarised
static void director_columns(const double *t, double columns[4][9])
{
    double a = 2.0 * t[0], b = 2.0 * t[1], c = 2.0 * t[2], e = 2.0 * t[3];
    const double rows[4][9] = {{a, e, -c, -e, a, b, c, -b, a},
                               {b, c, e, c, -b, a, e, -a, -b},
                               {-c, b, -a, b, c, e, a, e, -c},
                               {-e, a, b, -a, -e, c, b, c, e}};
    memcpy(columns, rows, sizeof rows);
}

// x, x_1, T and T_1 of a body
static void pose_of(const jet_body *body, const double *y, const double *y1, double *x, double *x1,
                    double *t, double *t1)
{
    memset(t, 0, POSE_SIZE * JET_COORDINATES * sizeof(double));
    memset(t1, 0, POSE_SIZE * JET_COORDINATES * sizeof(double));
    bool plane = body->kind == JET_PLANAR_RIGID || body->kind == JET_PLANE_POINT;
    for (int k = 0; k < (plane ? 2 : 3); ++k) {
        const double axis[3] = {body->axes[k].x, body->axes[k].y, body->axes[k].z};
        for (int i = 0; i < 3; ++i)
            t[i * JET_COORDINATES + k] = plane ? axis[i] : (i == k ? 1.0 : 0.0);
    }
    if (plane) {
        vec3_store(vec3_add_scaled(vec3_add_scaled(body->origin, y[0], body->axes[0]), y[1],
                                   body->axes[1]),
                   x);
    } else {
        memcpy(x, y, 3 * sizeof(double));
    }
    if (body->kind == JET_RIGID) {
        double columns[4][9], columns1[4][9];
        euler_directors(y + 3, x + 3);
        director_columns(y + 3, columns);
        director_columns(y1 + 3, columns1);
        for (int k = 0; k < 4; ++k)
            for (int i = 0; i < 9; ++i) {
                t[(3 + i) * JET_COORDINATES + 3 + k] = columns[k][i];
                t1[(3 + i) * JET_COORDINATES + 3 + k] = columns1[k][i];
            }
    } else {
        memcpy(x + 3, body->reference, sizeof body->reference);
    }
    if (body->kind == JET_PLANAR_RIGID) {
        double c = cos(y[2]), s = sin(y[2]);
        for (int k = 0; k < 3; ++k) {
            hn_vec3 d = vec3_load(body->reference + 3 * k), n = body->axes[2];
            hn_vec3 along = vec3_scale(vec3_dot(n, d), n), in = vec3_subtract(d, along),
                    turned = vec3_cross(n, d);
            hn_vec3 now = vec3_add_scaled(vec3_scale(c, in), s, turned),
                    rate = vec3_add_scaled(vec3_scale(c, turned), -s, in);
            vec3_store(vec3_add(along, now), x + 3 + 3 * k);
            const double r[3] = {rate.x, rate.y, rate.z}, z[3] = {now.x, now.y, now.z};
            for (int i = 0; i < 3; ++i) {
                t[(3 + 3 * k + i) * JET_COORDINATES + 2] = r[i];
                t1[(3 + 3 * k + i) * JET_COORDINATES + 2] = -z[i] * y1[2];
            }
        }
    }
    for (int i = 0; i < POSE_SIZE; ++i) {
        x1[i] = 0.0;
        for (int k = 0; k < body->y_count; ++k) x1[i] += t[i * JET_COORDINATES + k] * y1[k];
    }
}

// Second derivatives of x contracted with f, and in the plane the third with f_1 and y_1: symmetric, added to `matrix`.
static void add_curvature(const jet_body *body, const double *x, const double *y1, const double *f,
                          const double *f1, int stride, double *matrix)
{
    if (body->kind == JET_RIGID) {
        // sum f_k . d_k(theta) = theta^T K theta
        const double *a = f + 3, *b = f + 6, *c = f + 9;
        double k[4][4];
        k[0][0] = a[0] + b[1] + c[2];
        k[1][1] = a[0] - b[1] - c[2];
        k[2][2] = b[1] - a[0] - c[2];
        k[3][3] = c[2] - a[0] - b[1];
        k[0][1] = k[1][0] = b[2] - c[1];
        k[0][2] = k[2][0] = c[0] - a[2];
        k[0][3] = k[3][0] = a[1] - b[0];
        k[1][2] = k[2][1] = b[0] + a[1];
        k[1][3] = k[3][1] = c[0] + a[2];
        k[2][3] = k[3][2] = c[1] + b[2];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) matrix[(3 + i) * stride + 3 + j] += 2.0 * k[i][j];
    } else if (body->kind == JET_PLANAR_RIGID) {
        // d'' = -(d in the plane), d''' = -(n x d)
        for (int k = 0; k < 3; ++k) {
            hn_vec3 d = vec3_load(x + 3 + 3 * k), n = body->axes[2];
            hn_vec3 in = vec3_add_scaled(d, -vec3_dot(n, d), n);
            double value = -vec3_dot(vec3_load(f + 3 + 3 * k), in);
            if (f1 != NULL) value -= y1[2] * vec3_dot(vec3_load(f1 + 3 + 3 * k), vec3_cross(n, d));
            matrix[2 * stride + 2] += value;
        }
    }
}

// ---- residual and tangent -------------------------------------------------------------------------------

// a basic row as u . z with u, z linear in the eight vectors of two poses, or k . z
static constraint_row form_of(const jet_joint *j, const basic_row *row)
{
    constraint_row f = {.product = row->kind != BASIC_COINCIDENCE,
                        .factor = 1.0,
                        .eta = row->eta,
                        .direction = row->a};
    const double link[8] = {-1.0, -j->rho_a.x, -j->rho_a.y, -j->rho_a.z,
                            1.0,  j->rho_b.x,  j->rho_b.y,  j->rho_b.z};
    if (row->kind == BASIC_SYMMETRIC)
        f.beta[5] = row->b.x, f.beta[6] = row->b.y, f.beta[7] = row->b.z;
    else memcpy(f.beta, link, sizeof link);
    if (row->kind == BASIC_DISTANCE) memcpy(f.alpha, link, sizeof link), f.factor = 0.5;
    else if (f.product) f.alpha[1] = row->a.x, f.alpha[2] = row->a.y, f.alpha[3] = row->a.z;
    return f;
}

static const double NO_POSE[POSE_SIZE] = {0.0};

// gradient of a row at two poses: 24 numbers
static void gradient_of(const constraint_row *row, const double *const pose[2], double *gradient)
{
    hn_vec3 vectors[8];
    row_gradient(row, pose[0], pose[1], vectors);
    for (int k = 0; k < 8; ++k) vec3_store(vectors[k], gradient + 3 * k);
}

// out (y_count) += T^T f
static void pull_back(int count, const double *t, const double *f, double *out)
{
    for (int i = 0; i < POSE_SIZE; ++i) {
        if (f[i] == 0.0) continue;
        for (int k = 0; k < count; ++k) out[k] += f[i] * t[i * JET_COORDINATES + k];
    }
}

// The vectors u and z of a row as linear maps of the coordinates of one body: 3 x y_count each, through T and T_1.
typedef struct row_maps {
    double u[3][JET_COORDINATES], z[3][JET_COORDINATES], u1[3][JET_COORDINATES],
        z1[3][JET_COORDINATES];
} row_maps;

static void maps_of(const constraint_row *f, int side, const double *t, const double *t1, int count,
                    row_maps *maps)
{
    memset(maps, 0, sizeof *maps);
    for (int k = 0; k < 4; ++k) {
        double alpha = f->alpha[4 * side + k], beta = f->beta[4 * side + k];
        for (int i = 0; i < 3 && (alpha != 0.0 || beta != 0.0); ++i)
            for (int c = k == 0 ? 0 : 2; c < count;
                 ++c) { // directors do not depend on the position
                double x = t[(3 * k + i) * JET_COORDINATES + c],
                       x1 = t1[(3 * k + i) * JET_COORDINATES + c];
                maps->u[i][c] += alpha * x, maps->z[i][c] += beta * x;
                maps->u1[i][c] += alpha * x1, maps->z1[i][c] += beta * x1;
            }
    }
}

// Second derivatives of beta g + alpha dg y_1 between two bodies: blocks (y, y), (y, y_1) and (y_1, y).
static void add_products(const row_maps *l, int n, const row_maps *r, int m, double beta,
                         double alpha, int stride, double *block)
{
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < m; ++b) {
            double both = 0.0, mixed = 0.0;
            for (int i = 0; i < 3; ++i) {
                both += l->u[i][a] * r->z[i][b] + l->z[i][a] * r->u[i][b];
                mixed += l->u[i][a] * r->z1[i][b] + l->z[i][a] * r->u1[i][b] +
                         l->u1[i][a] * r->z[i][b] + l->z1[i][a] * r->u[i][b];
            }
            block[a * stride + b] += beta * both + alpha * mixed;
            block[a * stride + m + b] += alpha * both;
            block[(n + a) * stride + b] += alpha * both;
        }
}

// W of a coordinate: 1/length^2 for places, 1 for turns
static double coordinate_weight(const jet_body *b, int k)
{
    return k < b->w_count ? 1.0 / b->weight[k] : 1.0;
}

// A constraint at the iterate: its gradient and that of its rate with respect to the two poses, and its multipliers.
typedef struct row_at {
    constraint_row form;
    double gradient[24], gradient1[24];
    double value, rate;
    double beta, alpha; // multipliers of the row and of its rate
} row_at;

static void evaluate_row(const jet_joint *j, int row, const double *const pose[2],
                         const double *const pose1[2], row_at *at)
{
    at->form = form_of(j, &j->rows[row]);
    const constraint_row *f = &at->form;
    hn_vec3 z = vec3_combination(f->beta, pose[0], pose[1]),
            z1 = vec3_combination(f->beta, pose1[0], pose1[1]);
    gradient_of(f, pose, at->gradient);
    if (f->product) {
        hn_vec3 u = vec3_combination(f->alpha, pose[0], pose[1]),
                u1 = vec3_combination(f->alpha, pose1[0], pose1[1]);
        gradient_of(f, pose1, at->gradient1);
        at->value = f->factor * vec3_dot(u, z) - f->eta;
        at->rate = f->factor * (vec3_dot(u1, z) + vec3_dot(u, z1));
    } else {
        memset(at->gradient1, 0, sizeof at->gradient1);
        at->value = vec3_dot(f->direction, z) - f->eta;
        at->rate = vec3_dot(f->direction, z1);
    }
}

// Distance from (a, a_1) and the unit sphere of a body. Returns the largest constraint residual.
static double add_body(orthogonal_projection *p, int i, const double *a, const double *a1)
{
    const jet_body *b = &p->jet->bodies[i];
    size_t at = POSE_SIZE * (size_t)i;
    int offset = block_lu_offset(p->lu, i), n = b->y_count, size = block_lu_node_size(p->lu, i);
    const double *y = p->x + offset, *y1 = y + n;
    double *right = p->right + offset, *diagonal = block_lu_block(p->lu, i, i);
    pose_of(b, y, y1, p->pose + at, p->pose1 + at, p->tangent + at * JET_COORDINATES,
            p->tangent1 + at * JET_COORDINATES);
    for (int k = 0; k < n; ++k) {
        double weight = coordinate_weight(b, k);
        right[k] = weight * (y[k] - a[b->y + k]);
        right[n + k] = weight * (y1[k] - a1[b->y + k]);
        diagonal[k * (size + 1)] = diagonal[(n + k) * (size + 1)] = weight;
    }
    if (b->kind != JET_RIGID) return 0.0;
    // sphere: nu (|theta|^2 - 1)/2 + kappa theta . theta_1
    double nu = y[2 * n], kappa = y[2 * n + 1];
    for (int k = 3; k < 7; ++k) {
        right[k] += nu * y[k] + kappa * y1[k];
        right[n + k] += kappa * y[k];
        diagonal[k * (size + 1)] += nu;
        diagonal[k * size + n + k] += kappa;
        diagonal[(n + k) * size + k] += kappa;
        diagonal[k * size + 2 * n] = diagonal[2 * n * size + k] = y[k];
        diagonal[k * size + 2 * n + 1] = diagonal[(2 * n + 1) * size + k] = y1[k];
        diagonal[(n + k) * size + 2 * n + 1] = diagonal[(2 * n + 1) * size + n + k] = y[k];
    }
    right[2 * n] = 0.5 * (euler_dot(y + 3, y + 3) - 1.0);
    right[2 * n + 1] = euler_dot(y + 3, y1 + 3);
    return fmax(fabs(right[2 * n]), fabs(right[2 * n + 1]));
}

// Gradients of row `r` of node `node` into the blocks between it and the body on one side; forces on the body.
static void add_row_gradients(orthogonal_projection *p, int node, int r, int rows, int body,
                              int side, const row_at *x)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *t = p->tangent + at * JET_COORDINATES, *t1 = p->tangent1 + at * JET_COORDINATES,
                 *gradient = x->gradient + 12 * side, *gradient1 = x->gradient1 + 12 * side;
    int n = p->jet->bodies[body].y_count, columns = block_lu_node_size(p->lu, body),
        size = 2 * rows;
    double dg[JET_COORDINATES] = {0.0}, drate[JET_COORDINATES] = {0.0};
    pull_back(n, t, gradient, dg);
    pull_back(n, t1, gradient, drate);
    pull_back(n, t, gradient1, drate);
    double *lower = block_lu_block(p->lu, node, body), *upper = block_lu_block(p->lu, body, node);
    double *right = p->right + block_lu_offset(p->lu, body);
    for (int k = 0; k < n; ++k) {
        lower[r * columns + k] += dg[k];
        lower[(rows + r) * columns + k] += drate[k];
        lower[(rows + r) * columns + n + k] += dg[k];
        upper[k * size + r] += dg[k];
        upper[k * size + rows + r] += drate[k];
        upper[(n + k) * size + rows + r] += dg[k];
        right[k] += x->beta * dg[k] + x->alpha * drate[k];
        right[n + k] += x->alpha * dg[k];
    }
    for (int k = 0; k < 12; ++k) {
        p->force[at + (size_t)k] += x->beta * gradient[k] + x->alpha * gradient1[k];
        p->force1[at + (size_t)k] += x->alpha * gradient[k];
    }
}

// Second derivatives of a row that is a product, between its two bodies.
static void add_row_products(orthogonal_projection *p, const int body[2], const row_at *x)
{
    const jet_body *bodies = p->jet->bodies;
    double factor = x->form.factor;
    row_maps maps[2];
    for (int s = 0; s < 2; ++s) {
        if (body[s] < 0) continue;
        size_t at = POSE_SIZE * JET_COORDINATES * (size_t)body[s];
        maps_of(&x->form, s, p->tangent + at, p->tangent1 + at, bodies[body[s]].y_count, &maps[s]);
    }
    for (int s = 0; s < 2; ++s)
        for (int e = 0; e < 2; ++e) {
            if (body[s] < 0 || body[e] < 0) continue;
            add_products(&maps[s], bodies[body[s]].y_count, &maps[e], bodies[body[e]].y_count,
                         x->beta * factor, x->alpha * factor, block_lu_node_size(p->lu, body[e]),
                         block_lu_block(p->lu, body[s], body[e]));
        }
}

// Rows of a joint, with those of their rates. Returns the largest residual, in the rows' units.
static double add_joint(orthogonal_projection *p, int index)
{
    const jet_joint *j = &p->jet->joints[index];
    const int body[2] = {j->a, j->b};
    int node = p->jet->body_count + index, rows = j->row_count, size = 2 * rows,
        offset = block_lu_offset(p->lu, node);
    double worst = 0.0;
    const double *pose[2], *pose1[2];
    for (int s = 0; s < 2; ++s) {
        pose[s] = system_pose(p->pose, body[s]);
        pose1[s] = body[s] < 0 ? NO_POSE : p->pose1 + POSE_SIZE * (size_t)body[s];
    }
    for (int r = 0; r < rows; ++r) {
        if (j->dropped[r]) {
            double *diagonal = block_lu_block(p->lu, node, node);
            diagonal[r * (size + 1)] = diagonal[(rows + r) * (size + 1)] = 1.0;
            p->right[offset + r] = p->right[offset + rows + r] = 0.0;
            continue;
        }
        row_at x = {.beta = p->x[offset + r], .alpha = p->x[offset + rows + r]};
        evaluate_row(j, r, pose, pose1, &x);
        p->right[offset + r] = x.value;
        p->right[offset + rows + r] = x.rate;
        double residual = isfinite(x.value + x.rate) ? fmax(fabs(x.value), fabs(x.rate)) : HUGE_VAL;
        worst = fmax(worst, 1.0 / jet_row_unit(j, r) * residual);
        for (int s = 0; s < 2; ++s)
            if (body[s] >= 0) add_row_gradients(p, node, r, rows, body[s], s, &x);
        if (x.form.product) add_row_products(p, body, &x);
    }
    return worst;
}

// Residual of the stationarity conditions at p->x, and the tangent in p->lu. Returns the largest constraint residual.
static double assemble(orthogonal_projection *p, const double *a, const double *a1)
{
    const jet_space *jet = p->jet;
    int bodies = jet->body_count;
    double worst = 0.0;
    block_lu_clear(p->lu);
    memset(p->force, 0, (size_t)bodies * POSE_SIZE * sizeof(double));
    memset(p->force1, 0, (size_t)bodies * POSE_SIZE * sizeof(double));
    for (int i = 0; i < bodies; ++i) worst = fmax(worst, add_body(p, i, a, a1));
    for (int j = 0; j < jet->joint_count; ++j) worst = fmax(worst, add_joint(p, j));
    for (int i = 0; i < bodies; ++i) {
        const jet_body *b = &jet->bodies[i];
        size_t at = POSE_SIZE * (size_t)i;
        int size = block_lu_node_size(p->lu, i), n = b->y_count;
        double *diagonal = block_lu_block(p->lu, i, i);
        const double *y1 = p->x + block_lu_offset(p->lu, i) + n, *f = p->force + at,
                     *f1 = p->force1 + at;
        add_curvature(b, p->pose + at, y1, f, f1, size, diagonal);
        add_curvature(b, p->pose + at, y1, f1, NULL, size, diagonal + n);
        add_curvature(b, p->pose + at, y1, f1, NULL, size, diagonal + n * size);
    }
    return worst;
}

// The largest of numbers that belong to y and y_1 of bodies, places over lengths of these: of increments, or of
// `forces` along them. HUGE_VAL: some are not finite.
static double largest_of(const orthogonal_projection *p, const double *numbers, bool forces)
{
    const jet_space *jet = p->jet;
    double largest = 0.0;
    for (int i = 0; i < jet->body_count; ++i)
        for (int k = 0, n = jet->bodies[i].y_count; k < 2 * n; ++k) {
            double unit = sqrt(coordinate_weight(&jet->bodies[i], k % n)),
                   size = fabs(numbers[block_lu_offset(p->lu, i) + k]);
            size = forces ? size / unit : size * unit;
            largest = isfinite(size) ? fmax(largest, size) : HUGE_VAL;
        }
    return largest;
}

static hn_status iterate(orthogonal_projection *p, const double *a, const double *a1,
                         const newton_options *options, newton_report *report)
{
    newton n = newton_begin(options, report, (newton_guards){.residual_decides = true});
    for (;;) {
        // stationarity counts as well: the point is to be the nearest one
        double residual = assemble(p, a, a1);
        residual = fmax(residual, largest_of(p, p->right, true));
        // where the last increment led is looked at before the limit
        if (!newton_takes_residual(&n, residual, residual) || !newton_goes_on(&n)) return n.status;
        if (block_lu_factor(p->lu) >= 0) return newton_stuck(&n);
        block_lu_solve(p->lu, p->right);
        for (int k = 0; k < block_lu_size(p->lu); ++k) p->x[k] -= p->right[k];
        if (!newton_takes_increment(&n, largest_of(p, p->right, false))) return n.status;
    }
}

hn_status orthogonal_projection_solve(orthogonal_projection *p, const double *a, const double *a1,
                                      const newton_options *options, double *y, double *y1,
                                      newton_report *report)
{
    const jet_space *jet = p->jet;
    memset(p->x, 0, (size_t)block_lu_size(p->lu) * sizeof(double));
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        double *x = p->x + block_lu_offset(p->lu, i);
        memcpy(x, a + b->y, (size_t)b->y_count * sizeof(double));
        memcpy(x + b->y_count, a1 + b->y, (size_t)b->y_count * sizeof(double));
    }
    TRY(iterate(p, a, a1, options, report));
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *x = p->x + block_lu_offset(p->lu, i);
        memcpy(y + b->y, x, (size_t)b->y_count * sizeof(double));
        memcpy(y1 + b->y, x + b->y_count, (size_t)b->y_count * sizeof(double));
        if (b->kind == JET_RIGID) euler_normalise(y + b->y + 3);
    }
    return HN_OK;
}

int orthogonal_projection_row_count(const orthogonal_projection *p, int *curved)
{
    const jet_space *jet = p->jet;
    int count = 0;
    *curved = 0;
    for (int j = 0; j < jet->joint_count; ++j)
        for (int r = 0; r < jet->joints[j].row_count; ++r) {
            if (jet->joints[j].dropped[r]) continue;
            count++;
            // coincidence is quadratic in theta; in the plane it holds sines
            if (jet->planar || jet->joints[j].rows[r].kind != BASIC_COINCIDENCE) ++*curved;
        }
    return count;
}

int orthogonal_projection_size(const orthogonal_projection *p)
{
    return block_lu_size(p->lu);
}

void orthogonal_projection_residual(orthogonal_projection *p, const double *a, const double *a1,
                                    const double *x, double *residual, double *tangent)
{
    size_t size = (size_t)block_lu_size(p->lu);
    memcpy(p->x, x, size * sizeof(double));
    assemble(p, a, a1);
    memcpy(residual, p->right, size * sizeof(double));
    if (tangent != NULL) block_lu_dense(p->lu, tangent);
}
