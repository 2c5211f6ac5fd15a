// SPDX-License-Identifier: MIT
// Convected base vectors: increments of a Hamiltonian H(q, p) with implicit internal constraints (NK 23-28).
// Notes: docs/theory/convected.md, docs/theory/forces.md
//
// Of a rigid body q = (q_0, q_1, q_2, q_3) are centre of mass and directors, p the conjugate momenta; a bar is the mean
// of the two ends of the step. The columns of A(x) are such that A(x) w = (w_3 x_2 - w_2 x_3, w_1 x_3 - w_3 x_1,
// w_2 x_1 - w_1 x_2) for x = (x_1, x_2, x_3), which is -G(x)^T w of the paper; l(q, p) = A(q)^T p is the angular
// momentum in components of the body; C(x) y holds x_i . y_i and x_i . y_j + x_j . y_i, so that C(q) = de/dq.
//
//   (X1)  H(q, p) = |p_0|^2/(2m) + 1/2 l(q, p)^T J^-1 l(q, p) + V(q)
//   (X2)  w = h J^-1 (l(q_n, p_n) + l(q_n+1, p_n+1))/2
//   (X3)  q_0,n+1 - q_0,n = h p_0_mid/m,     q_n+1 - q_n = A(q_mid) w
//   (X4)  p_n+1 - p_n = A(p_mid) w - h f + h C(q_mid)^T gamma,     f = grad_d V - F + G(q_mid)^T lambda
//   (X5)  C C^T h gamma = C h f - C A(p_mid) w - C(p_mid) A(q_mid) w     at C = C(q_mid)
//   (X6)  0 = g(q_n+1) of the joints
//
// (X5) makes the increment of C(q) p zero; put into (X4) it leaves the projection 1 - C^T (C C^T)^-1 C on f, so that
// joints alone have multipliers among the unknowns. F holds loads with their mean over the step (F7). Solved with p and
// mu = kappa h lambda scaled by kappa = h/m*, m* the largest mass: the conditioning then does not depend on the step.
// The state kept is (q, p).
//
// Keeps: energy plus work of loads, momenta of symmetries, e(q) = 0, C(q) p = 0 and g = 0, all to solver tolerance, for
// any sequence of steps; time-symmetric. Does not keep: the symplectic form; G(q) v = 0 of joints at the nodes.
// Needs: a moment of inertia about every axis of a rigid body.
#include "schemes/convected.h"

#include "linalg/small_lu.h"
#include "reductions/coordinates.h"
#include "reductions/joint_blocks.h"
#include "reductions/saddle.h"
#include "system/mass.h"

#include <string.h>

enum { DIRECTORS = 9 };

// What the projection of one rigid body needs: C(q_mid) and (C C^T)^-1 C.
typedef struct body_projection {
    double c[INTERNAL_ROWS][DIRECTORS];
    double solved[INTERNAL_ROWS][DIRECTORS];
    double gamma[INTERNAL_ROWS]; // kappa h gamma
} body_projection;

struct scheme_solver {
    hn_system *system;
    joint_blocks blocks;
    saddle *rows;        // decides which rows of loops are independent
    double *right;       // residual, then increment
    double *q, *delta;   // iterate and its increment since t_n, 12 per body
    double *p_start;     // kappa p_n
    double *p, *p_delta; // kappa p and its increment
    double *force;       // kappa h (grad V - F) of elements, 12 per body
    double *total;       // kappa h f
    body_scale *scales;  // per body: terms of (X4), times kappa
    double *mu;          // multipliers of joints
    double *angle_start; // unwrapped angles of torsional springs at t_n
    double *angles;      // and at the end of the last step
    body_projection *bodies;
    double kappa;                // s/kg
    double settled_q, settled_p; // largest changes by `settle` in the last step
};

// ---- creation ---------------------------------------------------------------------------------------

static void convected_destroy(scheme_solver *s)
{
    if (s == NULL) return;
    hn_system *system = s->system;
    joint_blocks_destroy(system, &s->blocks);
    saddle_destroy(s->rows);
    void *parts[] = {s->right, s->q, s->p_start, s->mu, s->angle_start, s->bodies, s->scales};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k)
        context_release(system->context, parts[k]);
    context_release(system->context, s);
}

// principal moments of inertia
static void moments_of(const double *inertia, double *moments)
{
    moments[0] = inertia[2] + inertia[3];
    moments[1] = inertia[1] + inertia[3];
    moments[2] = inertia[1] + inertia[2];
}

static hn_status check_bodies(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        double moments[3];
        moments_of(mass_node(system, i), moments);
        for (int k = 0; k < 3; ++k)
            if (!(moments[k] > 0.0))
                return context_fail(
                    system->context, HN_INVALID_MODEL,
                    "body '%s': scheme 'convected' divides by the moments of inertia, and that "
                    "about "
                    "principal axis %d is zero; give it a small one or take another scheme",
                    system->bodies[i].name, k + 1);
    }
    return HN_OK;
}

static hn_status convected_create(hn_system *system, const hn_simulation_def *def,
                                  scheme_solver **out)
{
    (void)def;
    *out = NULL;
    TRY(check_bodies(system));
    hn_context *context = system->context;
    size_t n = (size_t)system->body_count, size = POSE_SIZE * (n + 1);
    scheme_solver *s = context_allocate(context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    int *sizes = context_allocate(context, (n + 1) * sizeof(int));
    hn_status status = sizes == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (size_t i = 0; status == HN_OK && i < n; ++i)
        sizes[i] = 2 * system->bodies[i].coordinate_count;
    if (status == HN_OK) status = joint_blocks_create(system, sizes, &s->blocks);
    if (status == HN_OK) status = saddle_create(system, SADDLE_TWISTS, &s->rows);
    context_release(context, sizes);
    if (status == HN_OK) {
        s->right =
            context_allocate(context, ((size_t)block_lu_size(s->blocks.lu) + 1) * sizeof(double));
        s->q = context_allocate(context, 2 * size * sizeof(double));
        s->p_start = context_allocate(context, 5 * size * sizeof(double));
        s->mu =
            context_allocate(context, ((size_t)s->blocks.multiplier_count + 1) * sizeof(double));
        s->angle_start =
            context_allocate(context, 2 * ((size_t)system->angle_count + 1) * sizeof(double));
        s->bodies = context_allocate(context, (n + 1) * sizeof(body_projection));
        s->scales = context_allocate(context, (n + 1) * sizeof(body_scale));
        if (s->right == NULL || s->q == NULL || s->p_start == NULL || s->mu == NULL ||
            s->angle_start == NULL || s->bodies == NULL || s->scales == NULL)
            status = HN_OUT_OF_MEMORY;
    }
    if (status != HN_OK) {
        convected_destroy(s);
        return status;
    }
    s->delta = s->q + size;
    s->p = s->p_start + size;
    s->p_delta = s->p + size;
    s->force = s->p_delta + size;
    s->total = s->force + size;
    s->angles = s->angle_start + system->angle_count + 1;
    memcpy(s->angles, system->angle_start, (size_t)system->angle_count * sizeof(double));
    *out = s;
    return HN_OK;
}

// ---- one rigid body ---------------------------------------------------------------------------------

// y = A(x) w for three vectors x
static void apply_spin(const double *w, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i) {
        y[i] = w[2] * x[3 + i] - w[1] * x[6 + i];
        y[3 + i] = w[0] * x[6 + i] - w[2] * x[i];
        y[6 + i] = w[1] * x[i] - w[0] * x[3 + i];
    }
}

// columns of A(x) as rows: a[k] = A(x) e_k
static void spin_columns(const double *x, double a[3][DIRECTORS])
{
    for (int k = 0; k < 3; ++k) {
        double axis[3] = {0.0, 0.0, 0.0};
        axis[k] = 1.0;
        apply_spin(axis, x, a[k]);
    }
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += x[k] * y[k];
    return sum;
}

// l(q, p) = A(q)^T p
static void body_momentum(const double *q, const double *p, double *l)
{
    double a[3][DIRECTORS];
    spin_columns(q, a);
    for (int k = 0; k < 3; ++k) l[k] = dot(DIRECTORS, a[k], p);
}

// Rows in the order of the internal constraints: 11, 22, 33, 12, 13, 23.
static const int STRAIN[INTERNAL_ROWS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

// C(x)
static void strain_matrix(const double *x, double c[INTERNAL_ROWS][DIRECTORS])
{
    memset(c, 0, INTERNAL_ROWS * sizeof c[0]);
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        int i = STRAIN[r][0], k = STRAIN[r][1];
        memcpy(c[r] + 3 * i, x + 3 * k, 3 * sizeof(double));
        memcpy(c[r] + 3 * k, x + 3 * i, 3 * sizeof(double));
    }
}

// y = C(x)^T gamma, symmetric in its nine components: the same matrix acts on any x
static void strain_force(const double *gamma, const double *x, double *y)
{
    for (int k = 0; k < DIRECTORS; ++k) y[k] = 0.0;
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        int i = STRAIN[r][0], k = STRAIN[r][1];
        for (int c = 0; c < 3; ++c) {
            y[3 * i + c] += gamma[r] * x[3 * k + c];
            if (i != k) y[3 * k + c] += gamma[r] * x[3 * i + c];
        }
    }
}

// y = (C C^T)^-1 C x
static void strain_part(const body_projection *b, const double *x, double *y)
{
    for (int r = 0; r < INTERNAL_ROWS; ++r) y[r] = dot(DIRECTORS, b->solved[r], x);
}

// x <- (1 - C^T (C C^T)^-1 C) x
static void project_directors(const body_projection *b, double *x)
{
    double part[INTERNAL_ROWS];
    strain_part(b, x, part);
    for (int r = 0; r < INTERNAL_ROWS; ++r)
        for (int k = 0; k < DIRECTORS; ++k) x[k] -= part[r] * b->c[r][k];
}

// Residual of (X3), (X4) in the directors and its tangent without that of f. `scale`: m* J^-1 per axis. Blocks of the
// tangent have row stride `stride`; qq is the corner of the directors' own block, `momenta` the distance to those of p.
typedef struct rigid_step {
    const double *q_start, *p_start, *q, *p, *delta, *p_delta, *force; // nine numbers each
    double scale[3];
} rigid_step;

static bool rigid_body(const rigid_step *x, body_projection *b, double *residual_q,
                       double *residual_p, double *tangent, int stride, int momenta)
{
    double q[DIRECTORS], p[DIRECTORS], w[3], start[3], end[3], turn_q[DIRECTORS], turn_p[DIRECTORS];
    for (int k = 0; k < DIRECTORS; ++k) {
        q[k] = 0.5 * (x->q_start[k] + x->q[k]);
        p[k] = 0.5 * (x->p_start[k] + x->p[k]);
    }
    // (X2), (X3)
    body_momentum(x->q_start, x->p_start, start);
    body_momentum(x->q, x->p, end);
    for (int k = 0; k < 3; ++k) w[k] = 0.5 * x->scale[k] * (start[k] + end[k]);
    apply_spin(w, q, turn_q);
    apply_spin(w, p, turn_p);
    for (int k = 0; k < DIRECTORS; ++k) residual_q[k] = x->delta[k] - turn_q[k];

    // (X5): C C^T gamma = C (f - A(p) w) - C(p) A(q) w
    double normal[INTERNAL_ROWS][INTERNAL_ROWS], cp[INTERNAL_ROWS][DIRECTORS], rest[DIRECTORS],
        strain[DIRECTORS];
    int pivot[INTERNAL_ROWS];
    strain_matrix(q, b->c);
    strain_matrix(p, cp);
    memcpy(b->solved, b->c, sizeof b->c);
    for (int r = 0; r < INTERNAL_ROWS; ++r)
        for (int k = 0; k < INTERNAL_ROWS; ++k) normal[r][k] = dot(DIRECTORS, b->c[r], b->c[k]);
    if (!small_lu_factor(INTERNAL_ROWS, INTERNAL_ROWS, normal[0], pivot)) return false;
    small_lu_solve(INTERNAL_ROWS, INTERNAL_ROWS, normal[0], pivot, DIRECTORS, DIRECTORS,
                   b->solved[0]);
    for (int k = 0; k < DIRECTORS; ++k) rest[k] = x->force[k] - turn_p[k];
    for (int r = 0; r < INTERNAL_ROWS; ++r)
        b->gamma[r] = dot(DIRECTORS, b->c[r], rest) - dot(DIRECTORS, cp[r], turn_q);
    small_lu_solve(INTERNAL_ROWS, INTERNAL_ROWS, normal[0], pivot, 1, 1, b->gamma);
    // (X4)
    strain_force(b->gamma, q, strain);
    for (int k = 0; k < DIRECTORS; ++k) residual_p[k] = x->p_delta[k] + rest[k] - strain[k];

    // delta w = 1/2 scale (A(q)^T delta p - A(p)^T delta q) at t_n+1
    double aq[3][DIRECTORS], ap[3][DIRECTORS], wq[3][DIRECTORS], wp[3][DIRECTORS];
    spin_columns(x->q, wp);
    spin_columns(x->p, wq);
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < DIRECTORS; ++c)
            wp[k][c] *= 0.5 * x->scale[k], wq[k][c] *= -0.5 * x->scale[k];
    spin_columns(q, aq);
    spin_columns(p, ap);

    // delta gamma: through q, through p, and through w for both
    double gq[INTERNAL_ROWS][DIRECTORS], gp[INTERNAL_ROWS][DIRECTORS], load[DIRECTORS];
    double c_load[INTERNAL_ROWS][DIRECTORS], c_turn[INTERNAL_ROWS][DIRECTORS];
    for (int k = 0; k < DIRECTORS; ++k) load[k] = rest[k] - strain[k];
    strain_matrix(load, c_load);
    strain_matrix(turn_q, c_turn);
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        // rows times the skew matrix of w, and times the symmetric one of gamma
        double c_spin[DIRECTORS], cp_spin[DIRECTORS], c_strain[DIRECTORS];
        apply_spin(w, b->c[r], c_spin);
        apply_spin(w, cp[r], cp_spin);
        strain_force(b->gamma, b->c[r], c_strain);
        for (int k = 0; k < DIRECTORS; ++k) {
            gq[r][k] = 0.5 * (c_load[r][k] - c_strain[k] + cp_spin[k]);
            gp[r][k] = 0.5 * (c_spin[k] - c_turn[r][k]);
        }
        for (int a = 0; a < 3; ++a) {
            double through = dot(DIRECTORS, b->c[r], ap[a]) + dot(DIRECTORS, cp[r], aq[a]);
            for (int k = 0; k < DIRECTORS; ++k)
                gq[r][k] -= through * wq[a][k], gp[r][k] -= through * wp[a][k];
        }
    }
    small_lu_solve(INTERNAL_ROWS, INTERNAL_ROWS, normal[0], pivot, DIRECTORS, DIRECTORS, gq[0]);
    small_lu_solve(INTERNAL_ROWS, INTERNAL_ROWS, normal[0], pivot, DIRECTORS, DIRECTORS, gp[0]);

    for (int k = 0; k < DIRECTORS; ++k) {
        // column k of 1/2 A(.) w and 1/2 C(.)^T gamma
        double unit[DIRECTORS] = {0.0}, spin[DIRECTORS], stiff[DIRECTORS];
        unit[k] = 0.5;
        apply_spin(w, unit, spin);
        strain_force(b->gamma, unit, stiff);
        for (int i = 0; i < DIRECTORS; ++i) {
            double *qq = tangent + i * stride + k, *pq = qq + momenta * stride;
            double own = (i == k ? 1.0 : 0.0) - spin[i];
            double sum_qq = own, sum_qp = 0.0, sum_pq = -stiff[i], sum_pp = own;
            for (int a = 0; a < 3; ++a) {
                sum_qq -= aq[a][i] * wq[a][k];
                sum_qp -= aq[a][i] * wp[a][k];
                sum_pq -= ap[a][i] * wq[a][k];
                sum_pp -= ap[a][i] * wp[a][k];
            }
            for (int r = 0; r < INTERNAL_ROWS; ++r) {
                sum_pq -= b->c[r][i] * gq[r][k];
                sum_pp -= b->c[r][i] * gp[r][k];
            }
            qq[0] += sum_qq;
            qq[momenta] += sum_qp;
            pq[0] += sum_pq;
            pq[momenta] += sum_pp;
        }
    }
    return true;
}

// ---- assembly ---------------------------------------------------------------------------------------

static step_equations equations_of(const scheme_solver *s, const scheme_step *step)
{
    return (step_equations){
        .step_size = step->step_size,
        .force_factor = s->kappa * step->step_size,
        .weight = 0.5,
        .discrete_gradient = true,
        .gradient_weight = 0.5,
        .damper_form = DAMPER_MIDPOINT,
        .time = step->time,
        .load_begin = step->time,
        .load_end = step->time + step->step_size,
    };
}

static step_data data_of(const scheme_solver *s, const scheme_step *step)
{
    return (step_data){
        .q_start = step->state->q,
        .angle_start = s->angle_start,
        .q = s->q,
        .delta = s->delta,
        .force = s->force,
    };
}

static void middle_pose(const scheme_solver *s, const scheme_step *step, int body, double *pose)
{
    const double *start = system_pose(step->state->q, body), *end = system_pose(s->q, body);
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = 0.5 * (start[k] + end[k]);
}

// A force on the four vectors of a body, projected, in the body's coordinates.
static void force_in_coordinates(const scheme_solver *s, int body, const double *force, double *out)
{
    const system_body *b = &s->system->bodies[body];
    if (!b->has_directors) {
        coordinates_contract(b, force, out);
        return;
    }
    memcpy(out, force, POSE_SIZE * sizeof(double));
    project_directors(&s->bodies[body], out + 3);
}

// A tangent term u^T C delta v of f between bodies a and b.
static void add_term(scheme_solver *s, const stiffness_term *term, int a, int b)
{
    const hn_system *system = s->system;
    block_lu *lu = s->blocks.lu;
    const int body[2] = {a, b};
    double left[2][3][POSE_SIZE], right[2][3][POSE_SIZE];
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        const system_body *own = &system->bodies[body[side]];
        for (int i = 0; i < 3; ++i) {
            double u[POSE_SIZE] = {0.0}, v[POSE_SIZE] = {0.0};
            for (int k = 0; k < 4; ++k)
                u[3 * k + i] = term->u[4 * side + k], v[3 * k + i] = term->v[4 * side + k];
            force_in_coordinates(s, body[side], u, left[side][i]);
            coordinates_contract(own, v, right[side][i]);
        }
    }
    for (int from = 0; from < 2; ++from)
        for (int to = 0; to < 2; ++to) {
            if (body[from] < 0 || body[to] < 0) continue;
            int rows = system->bodies[body[from]].coordinate_count,
                columns = system->bodies[body[to]].coordinate_count;
            int stride = block_lu_node_size(lu, body[to]);
            double *block = block_lu_block(lu, body[from], body[to]);
            for (int k = 0; k < columns; ++k) {
                double pull[3];
                for (int i = 0; i < 3; ++i)
                    pull[i] = term->c[i][0] * right[to][0][k] + term->c[i][1] * right[to][1][k] +
                              term->c[i][2] * right[to][2][k];
                if (pull[0] == 0.0 && pull[1] == 0.0 && pull[2] == 0.0) continue;
                for (int i = 0; i < rows; ++i)
                    block[(rows + i) * stride + k] += left[from][0][i] * pull[0] +
                                                      left[from][1][i] * pull[1] +
                                                      left[from][2][i] * pull[2];
            }
        }
}

// kappa h f of all bodies: gravity, elements, joints; and the terms of (X4) as scales: these, momenta and their change
static void sum_forces(scheme_solver *s, const scheme_step *step)
{
    const hn_system *system = s->system;
    double weight = s->kappa * step->step_size;
    step_equations equations = {
        .mass_factor = 1.0 / system->mass, .force_factor = weight, .momentum = s->p_start};
    step_data data = data_of(s, step);
    measure_bodies(system, &equations, &data, s->scales);
    measure_add_round_off(system, &equations, data.q_start, s->scales);
    memcpy(s->total, s->force, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double *f = s->total + POSE_SIZE * (size_t)i;
        vec3_store(
            vec3_add_scaled(vec3_load(f), -weight * mass_node(system, i)[0], system->gravity), f);
    }
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *place = &s->blocks.joints[k];
        const int body[2] = {place->a, place->b};
        double middle[2][POSE_SIZE];
        for (int side = 0; side < 2; ++side) middle_pose(s, step, body[side], middle[side]);
        for (int r = 0; r < place->rows->row_count; ++r) {
            double mu = s->mu[place->multiplier + r];
            if (mu == 0.0 || saddle_row_is_dropped(s->rows, k, r)) continue;
            constraint_row row;
            hn_vec3 gradient[8];
            joint_type_of(place->rows->kind)->row(place->rows, r, &row);
            row_gradient(&row, middle[0], middle[1], gradient);
            for (int x = 0; x < 8; ++x) {
                if (body[x / 4] < 0) continue;
                double *f = s->total + POSE_SIZE * (size_t)body[x / 4] + 3 * (x % 4);
                vec3_store(vec3_add_scaled(vec3_load(f), mu, gradient[x]), f);
                body_scale *scale = &s->scales[body[x / 4]];
                *(x % 4 == 0 ? &scale->force : &scale->moment) += fabs(mu) * vec3_norm(gradient[x]);
            }
        }
    }
}

// (X3), (X4) of a body and their tangent without that of f
static bool add_body(scheme_solver *s, const scheme_step *step, int i)
{
    const hn_system *system = s->system;
    const system_body *body = &system->bodies[i];
    block_lu *lu = s->blocks.lu;
    int stride = block_lu_node_size(lu, i), count = body->coordinate_count,
        width = coordinate_width(body);
    double *tangent = block_lu_block(lu, i, i), *right = s->right + block_lu_offset(lu, i);
    const double *inertia = mass_node(system, i);
    size_t at = POSE_SIZE * (size_t)i;
    double residual_q[POSE_SIZE] = {0.0}, residual_p[POSE_SIZE] = {0.0},
           mobility = system->mass / inertia[0];
    for (int k = 0; k < 3; ++k) {
        residual_q[k] = s->delta[at + (size_t)k] -
                        0.5 * mobility * (s->p_start[at + (size_t)k] + s->p[at + (size_t)k]);
        residual_p[k] = s->p_delta[at + (size_t)k] + s->total[at + (size_t)k];
    }
    for (int k = 0; k < width; ++k) {
        tangent[k * stride + k] += 1.0;
        tangent[k * stride + count + k] -= 0.5 * mobility;
        tangent[(count + k) * stride + count + k] += 1.0;
    }
    if (body->has_directors) {
        double moments[3];
        moments_of(inertia, moments);
        rigid_step x = {
            step->state->q + at + 3, s->p_start + at + 3, s->q + at + 3,     s->p + at + 3,
            s->delta + at + 3,       s->p_delta + at + 3, s->total + at + 3, {0.0}};
        for (int k = 0; k < 3; ++k) x.scale[k] = system->mass / moments[k];
        if (!rigid_body(&x, &s->bodies[i], residual_q + 3, residual_p + 3, tangent + 3 * stride + 3,
                        stride, count))
            return false;
    }
    coordinates_contract(body, residual_q, right);
    coordinates_contract(body, residual_p, right + count);
    return true;
}

// (X6) of one row, its projected force as a column of (X4), and the change of that force
static void add_row(scheme_solver *s, const scheme_step *step, const joint_place *place, int r)
{
    const hn_system *system = s->system;
    block_lu *lu = s->blocks.lu;
    const int body[2] = {place->a, place->b};
    double middle[2][POSE_SIZE], mu = s->mu[place->multiplier + r];
    hn_vec3 force[8], gradient[8];
    constraint_row row;
    joint_type_of(place->rows->kind)->row(place->rows, r, &row);
    for (int side = 0; side < 2; ++side) middle_pose(s, step, body[side], middle[side]);
    row_gradient(&row, middle[0], middle[1], force);
    row_gradient(&row, system_pose(s->q, body[0]), system_pose(s->q, body[1]), gradient);
    int own = place->place + r, node_size = block_lu_node_size(lu, place->node);
    s->right[block_lu_offset(lu, place->node) + own] =
        row_value(&row, system_pose(s->q, body[0]), system_pose(s->q, body[1]));
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        int count = system->bodies[body[side]].coordinate_count,
            columns = block_lu_node_size(lu, body[side]);
        double *lower = block_lu_block(lu, place->node, body[side]),
               *upper = block_lu_block(lu, body[side], place->node);
        double flat[POSE_SIZE], values[POSE_SIZE];
        for (int k = 0; k < 4; ++k) vec3_store(gradient[4 * side + k], flat + 3 * k);
        coordinates_contract(&system->bodies[body[side]], flat, values);
        for (int k = 0; k < count; ++k) lower[own * columns + k] += values[k];
        for (int k = 0; k < 4; ++k) vec3_store(force[4 * side + k], flat + 3 * k);
        force_in_coordinates(s, body[side], flat, values);
        for (int k = 0; k < count; ++k) upper[(count + k) * node_size + own] += values[k];
    }
    double factor = 0.5 * mu * row.factor;
    if (!row.product || factor == 0.0) return;
    stiffness_term term = {.c = {{factor, 0.0, 0.0}, {0.0, factor, 0.0}, {0.0, 0.0, factor}}};
    for (int turn = 0; turn < 2; ++turn) {
        memcpy(term.u, turn == 0 ? row.alpha : row.beta, sizeof term.u);
        memcpy(term.v, turn == 0 ? row.beta : row.alpha, sizeof term.v);
        add_term(s, &term, body[0], body[1]);
    }
}

// Residual and tangent at the iterate. False when the midpoint directors of `worst_body` are flat.
static bool assemble(scheme_solver *s, const scheme_step *step, int *worst_body)
{
    const hn_system *system = s->system;
    block_lu *lu = s->blocks.lu;
    step_equations equations = equations_of(s, step);
    step_data data = data_of(s, step);
    block_lu_clear(lu);
    step_element_forces(system, &equations, &data);
    sum_forces(s, step);
    for (int i = 0; i < system->body_count; ++i)
        if (!add_body(s, step, i)) {
            *worst_body = i;
            return false;
        }
    stiffness_term terms[ELEMENT_TERMS_MAX];
    for (int e = 0; e < system->element_count; ++e) {
        int count = step_element_terms(system, &equations, &data, e, terms);
        for (int t = 0; t < count; ++t)
            add_term(s, &terms[t], system->elements[e].a, system->elements[e].b);
    }
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *place = &s->blocks.joints[k];
        for (int r = 0; r < place->rows->row_count; ++r) {
            if (!saddle_row_is_dropped(s->rows, k, r)) {
                add_row(s, step, place, r);
                continue;
            }
            // a dropped row reads "multiplier = 0"
            int size = block_lu_node_size(lu, place->node);
            s->right[block_lu_offset(lu, place->node) + place->place + r] = 0.0;
            block_lu_block(lu, place->node, place->node)[(place->place + r) * (size + 1)] = 1.0;
        }
    }
    return true;
}

// ---- one step ---------------------------------------------------------------------------------------

// The first iterate: every body goes on as if nothing acted on it, Q <- Q cay(w), P <- P cay(w).
static void begin(scheme_solver *s, const scheme_step *step)
{
    const hn_system *system = s->system;
    s->kappa = step->step_size / system->mass;
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        s->p_start[k] = s->kappa * step->state->impetus[k];
    memcpy(s->p, s->p_start, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(s->q, step->state->q, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memset(s->delta, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memset(s->p_delta, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    memset(s->mu, 0, (size_t)s->blocks.multiplier_count * sizeof(double));
    // the slots of drives
    if (step->angles != NULL)
        memcpy(s->angle_start, step->angles, (size_t)system->angle_count * sizeof(double));
    for (int e = 0; e < system->element_count; ++e) {
        const element *own = &system->elements[e];
        if (own->angle >= 0)
            s->angle_start[own->angle] = element_angle(
                own, system_pose(s->q, own->a), system_pose(s->q, own->b),
                step->angles != NULL ? step->angles[own->angle] : s->angles[own->angle]);
    }
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *inertia = mass_node(system, i);
        for (size_t k = at; k < at + 3; ++k)
            s->delta[k] = system->mass / inertia[0] * s->p_start[k];
        if (system->bodies[i].has_directors) {
            double l[3], moments[3];
            moments_of(inertia, moments);
            body_momentum(s->q + at + 3, s->p_start + at + 3, l);
            hn_vec3 turn = vec3(system->mass * l[0] / moments[0], system->mass * l[1] / moments[1],
                                system->mass * l[2] / moments[2]);
            // rotation in the directors: columns of cay(w) - 1 combine the old vectors
            double factor = cayley_factor(turn);
            for (int k = 0; k < 3; ++k) {
                hn_vec3 axis = vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
                hn_vec3 change = cayley_change(turn, factor, axis);
                vec3_store(pose_direction(step->state->q + at, change), s->delta + at + 3 + 3 * k);
                vec3_store(pose_direction(s->p_start + at, change), s->p_delta + at + 3 + 3 * k);
            }
        }
        for (size_t k = at; k < at + POSE_SIZE; ++k) {
            s->q[k] = step->state->q[k] + s->delta[k];
            s->p[k] = s->p_start[k] + s->p_delta[k];
        }
    }
}

// Add a change of all unknowns to the iterate; returns its size in rad, and m over the body's length.
static double apply(scheme_solver *s, const scheme_step *step, const double *change)
{
    const hn_system *system = s->system;
    const block_lu *lu = s->blocks.lu;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        const double *own = change + block_lu_offset(lu, i);
        double dq[POSE_SIZE], dp[POSE_SIZE];
        coordinates_expand(body, own, dq);
        coordinates_expand(body, own + body->coordinate_count, dp);
        for (int k = 0; k < POSE_SIZE; ++k) {
            size_t at = POSE_SIZE * (size_t)i + (size_t)k;
            s->delta[at] += dq[k];
            s->q[at] = step->state->q[at] + s->delta[at];
            s->p_delta[at] += dp[k];
            s->p[at] = s->p_start[at] + s->p_delta[at];
        }
        double size = measure_pose(measure_length(system, i, step->state->q, s->delta), dq);
        if (!(size <= largest)) largest = size;
    }
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *place = &s->blocks.joints[k];
        const double *own = change + block_lu_offset(lu, place->node) + place->place;
        for (int r = 0; r < place->rows->row_count; ++r) s->mu[place->multiplier + r] += own[r];
    }
    return largest;
}

// Residual relative to the scales, and the body where it is worst.
static double residual_size(const scheme_solver *s, const scheme_step *step, int *worst)
{
    const hn_system *system = s->system;
    const block_lu *lu = s->blocks.lu;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        int count = body->coordinate_count, width = coordinate_width(body);
        const double *right = s->right + block_lu_offset(lu, i);
        double length = measure_length(system, i, step->state->q, s->delta);
        for (int k = 0; k < 2 * count; ++k) {
            double value = fabs(right[k]);
            bool place = k % count < width;
            if (k < count) value /= place ? length : 1.0;
            else value = measure_part(value, place ? s->scales[i].force : s->scales[i].moment);
            if (!(value <= largest)) largest = value, *worst = i;
        }
    }
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *place = &s->blocks.joints[k];
        for (int r = 0; r < place->rows->row_count; ++r) {
            constraint_row row;
            joint_type_of(place->rows->kind)->row(place->rows, r, &row);
            double value = fabs(s->right[block_lu_offset(lu, place->node) + place->place + r]) /
                           measure_row(system, place->rows, &row, place->a, place->b,
                                       step->state->q, s->delta);
            if (!(value <= largest)) largest = value, *worst = place->b >= 0 ? place->b : place->a;
        }
    }
    return largest;
}

static int body_of_node(const scheme_solver *s, int node)
{
    if (node < s->system->body_count) return node;
    for (int k = 0; k < s->blocks.joint_count; ++k)
        if (s->blocks.joints[k].node == node)
            return s->blocks.joints[k].b >= 0 ? s->blocks.joints[k].b : s->blocks.joints[k].a;
    return 0;
}

static hn_status iterate(scheme_solver *s, const scheme_step *step, const newton_options *options,
                         newton_report *report)
{
    block_lu *lu = s->blocks.lu;
    double residual = HUGE_VAL, before = HUGE_VAL;
    while (newton_goes_on(residual, before, report->iterations, options)) {
        before = residual;
        if (!assemble(s, step, &report->worst_body)) {
            report->half_turn = true;
            return HN_NOT_CONVERGED;
        }
        residual = residual_size(s, step, &report->worst_body);
        if (!isfinite(residual)) return HN_NOT_CONVERGED;
        if (newton_note_residual(report, options, residual) ||
            newton_is_exhausted(residual, before, options))
            return HN_OK;
        if (s->system->cut_count > 0 && newton_jumps(residual, before, options))
            return HN_NOT_CONVERGED;
        int node = block_lu_factor(lu);
        if (node >= 0) {
            report->worst_body = body_of_node(s, node);
            return newton_is_round_off(residual) ? HN_OK : HN_SINGULAR_SYSTEM;
        }
        for (int k = 0; k < block_lu_size(lu); ++k) s->right[k] = -s->right[k];
        block_lu_solve(lu, s->right);
        newton_note_increment(report, apply(s, step, s->right));
        if (!isfinite(report->increment)) return HN_NOT_CONVERGED;
        if (newton_bilinear_ends(report, options, residual)) return HN_OK;
    }
    return HN_NOT_CONVERGED;
}

// lambda of a joint on the rows that are reported, which may be carried by the other body than those solved with: the
// same wrench on the child.
static void report_joint(const scheme_solver *s, const scheme_step *step, const joint_place *place,
                         const double *mu, double factor, double *lambda)
{
    const joint *rows = place->rows, *reported = &s->system->reports[rows->model_joint].rows;
    int n = rows->row_count, child = rows->child, pivot[JOINT_ROWS_MAX];
    for (int r = 0; r < n; ++r) lambda[r] = factor * mu[r];
    if (!rows->swapped) return;
    double wrench[TWIST_SIZE] = {0.0}, covector[JOINT_ROWS_MAX][TWIST_SIZE],
           normal[JOINT_ROWS_MAX * JOINT_ROWS_MAX];
    for (int side = 0; side < 2; ++side) {
        // first the rows solved with, then the reported ones
        const joint *from = side == 0 ? rows : reported;
        int a = side == 0 ? place->a : from->parent, b = side == 0 ? place->b : from->child;
        double middle[2][POSE_SIZE], flat[POSE_SIZE], own[TWIST_SIZE];
        middle_pose(s, step, a, middle[0]);
        middle_pose(s, step, b, middle[1]);
        for (int r = 0; r < n; ++r) {
            constraint_row row;
            hn_vec3 gradient[8];
            joint_type_of(from->kind)->row(from, r, &row);
            row_gradient(&row, middle[0], middle[1], gradient);
            for (int k = 0; k < 4; ++k) vec3_store(gradient[b == child ? 4 + k : k], flat + 3 * k);
            force_to_wrench(middle[b == child ? 1 : 0], flat, own);
            if (!s->system->bodies[child].has_directors) own[3] = own[4] = own[5] = 0.0;
            for (int k = 0; k < TWIST_SIZE; ++k) {
                if (side == 0) wrench[k] += lambda[r] * own[k];
                else covector[r][k] = own[k];
            }
        }
    }
    for (int r = 0; r < n; ++r) {
        lambda[r] = dot(TWIST_SIZE, covector[r], wrench);
        for (int k = 0; k < n; ++k) normal[n * r + k] = dot(TWIST_SIZE, covector[r], covector[k]);
    }
    if (small_lu_factor(n, n, normal, pivot)) small_lu_solve(n, n, normal, pivot, 1, 1, lambda);
}

// Round-off would wander, since (X3) and (X5) keep increments at zero: one step D (3 - D^T D)/2 for the directors, and
// p_I <- p_I - 1/2 sum_K (q_I . p_K + q_K . p_I) q_K, which leaves the angular momentum alone.
static void settle(double *q, double *p)
{
    hn_vec3 d[3], own[3];
    settle_directors(vec3(0.0, 0.0, 0.0), q);
    for (int i = 0; i < 3; ++i) d[i] = vec3_load(q + 3 + 3 * i), own[i] = vec3_load(p + 3 + 3 * i);
    for (int i = 0; i < 3; ++i) {
        hn_vec3 sum = own[i];
        for (int k = 0; k < 3; ++k)
            sum = vec3_add_scaled(sum, -0.5 * (vec3_dot(d[i], own[k]) + vec3_dot(d[k], own[i])),
                                  d[k]);
        vec3_store(sum, p + 3 + 3 * i);
    }
}

static void deliver(scheme_solver *s, scheme_step *step)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double factor = 1.0 / (s->kappa * step->step_size);
    step_equations equations = equations_of(s, step);
    step_data data = data_of(s, step);
    data.works = step->works;
    step->work = scheme_load_work(system, &equations, &data, equations.weight);
    for (int e = 0; e < system->element_count; ++e) {
        const element *own = &system->elements[e];
        if (own->angle >= 0)
            s->angles[own->angle] =
                element_angle(own, system_pose(s->q, own->a), system_pose(s->q, own->b),
                              s->angle_start[own->angle]);
    }
    memset(step->multipliers, 0, (size_t)system->constraint_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i)
        for (int r = 0; r < system->bodies[i].internal_count; ++r) // + C^T gamma is -C^T lambda
            step->multipliers[system->bodies[i].internal_offset + r] =
                -factor * s->bodies[i].gamma[r];
    for (int k = 0; k < s->blocks.joint_count; ++k) {
        const joint_place *place = &s->blocks.joints[k];
        if (place->rows->row_count > 0)
            report_joint(s, step, place, s->mu + place->multiplier, factor,
                         step->multipliers +
                             system->reports[place->rows->model_joint].rows.row_offset);
    }
    step->multiplier_time = step->time + 0.5 * step->step_size;
    for (size_t k = 0; k < count; ++k)
        step->impetus[k] = step->state->impetus[k] + s->p_delta[k] / s->kappa;
    memcpy(step->delta, s->delta, count * sizeof(double));
    memcpy(step->q, s->q, count * sizeof(double));
    s->settled_q = s->settled_p = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double old[POSE_SIZE];
        if (!system->bodies[i].has_directors) continue;
        memcpy(old, step->impetus + at, sizeof old);
        settle(step->q + at, step->impetus + at);
        for (int k = 0; k < POSE_SIZE; ++k) {
            s->settled_q = fmax(s->settled_q, fabs(step->q[at + (size_t)k] - s->q[at + (size_t)k]));
            s->settled_p = fmax(s->settled_p, fabs(step->impetus[at + (size_t)k] - old[k]));
        }
    }
}

static hn_status convected_step(scheme_solver *s, scheme_step *step, const newton_options *options,
                                newton_report *report)
{
    saddle_choice choice;
    begin(s, step);
    TRY(saddle_choose_rows(s->rows, step->state->q, &choice));
    hn_status status = iterate(s, step, options, report);
    while (status == HN_OK && choice.dropped_count > 0 && saddle_restore_rows(s->rows, s->q)) {
        // the rank went up within the step: with the violated rows as equations
        report->iterations = 0;
        status = iterate(s, step, options, report);
    }
    // before the solution is settled
    if (status == HN_OK && options->measure_left)
        report->left = assemble(s, step, &report->left_body)
                           ? residual_size(s, step, &report->left_body)
                           : HUGE_VAL;
    if (status == HN_OK) deliver(s, step);
    return status;
}

// ---- for tests --------------------------------------------------------------------------------------

int convected_unknown_count(const scheme_solver *s)
{
    return block_lu_size(s->blocks.lu);
}

void convected_settled(const scheme_solver *s, double *q, double *p)
{
    *q = s->settled_q;
    *p = s->settled_p;
}

hn_status convected_linearise(scheme_solver *s, const scheme_step *step, const double *change,
                              double *residual, double *tangent)
{
    saddle_choice choice;
    int worst = 0;
    begin(s, step);
    TRY(saddle_choose_rows(s->rows, step->state->q, &choice));
    apply(s, step, change);
    if (!assemble(s, step, &worst)) return HN_NOT_CONVERGED;
    memcpy(residual, s->right, (size_t)block_lu_size(s->blocks.lu) * sizeof(double));
    block_lu_dense(s->blocks.lu, tangent);
    return HN_OK;
}

// ---- momenta ----------------------------------------------------------------------------------------

// p_0 = m v, p_I = 1/2 L x q_I with L the angular momentum about the centre of mass: C(q) p = 0
static void convected_start(const hn_system *system, const double *v, const double *acceleration,
                            scheme_state *state)
{
    (void)acceleration;
    mass_apply(system, 1.0, v, state->impetus);
    for (int i = 0; i < system->body_count; ++i) {
        double *p = state->impetus + POSE_SIZE * (size_t)i, wrench[TWIST_SIZE];
        const double *q = state->q + POSE_SIZE * (size_t)i;
        if (!system->bodies[i].has_directors) {
            memset(p + 3, 0, DIRECTORS * sizeof(double));
            continue;
        }
        force_to_wrench(q, p, wrench);
        for (int k = 3; k < POSE_SIZE; k += 3)
            vec3_store(vec3_scale(0.5, vec3_cross(vec3_load(wrench + 3), vec3_load(q + k))), p + k);
    }
    state->first = true;
}

// The momenta M v of the constant mass matrix that other schemes have, with the same L: E_I omega x q_I
static void convected_momenta(const hn_system *system, const scheme_state *state,
                              const step_equations *ahead_equations, const step_data *ahead,
                              double *p)
{
    (void)ahead_equations, (void)ahead;
    memcpy(p, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        const double *q = state->q + POSE_SIZE * (size_t)i, *inertia = mass_node(system, i);
        double *own = p + POSE_SIZE * (size_t)i, l[3], moments[3];
        moments_of(inertia, moments);
        body_momentum(q + 3, own + 3, l);
        hn_vec3 omega =
            pose_direction(q, vec3(l[0] / moments[0], l[1] / moments[1], l[2] / moments[2]));
        for (int k = 1; k < 4; ++k)
            vec3_store(vec3_scale(inertia[k], vec3_cross(omega, vec3_load(q + 3 * k))),
                       own + 3 * k);
    }
}

const scheme_type scheme_convected = {
    .name = "convected",
    .no_holds = "solves for itself, with efforts that are known before",
    .not_composed = "turns velocities across the joints round in every step; ggl-energy-momentum "
                    "keeps the same "
                    "and has orders 4, 6 and 8",
    .takes_drives = true,
    .no_beams = "divides each body's momenta by its own moments of inertia, which the nodes of a "
                "beam share",
    .damper_form = DAMPER_MIDPOINT,
    .symmetric = true,
    .impetus_is_momentum = true,
    .reaction_weight = 0.5,
    .may_halve = true,
    .look_ahead = false,
    .energy_kept = true,
    .start = convected_start,
    .momenta = convected_momenta,
    .solver_create = convected_create,
    .solver_destroy = convected_destroy,
    .solver_step = convected_step,
};
