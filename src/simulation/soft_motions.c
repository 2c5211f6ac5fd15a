// SPDX-License-Identifier: MIT
// Soft motions beside stiff parts. Note: docs/theory/statics.md
//
//   (Q8)  x^T K x = sum over elements of r^T k r + 2 r . (w x f) + (w x p) . (w x f)
//                   + sum over bodies of f_I . (w x (w x d_I)) + sum over rows of lambda d^2g(x, x)
//
// r: what the motion of an element's nodes has beside that of its first one as a rigid body, which turns with w; k, f:
// its stiffness and forces in coordinates p. Nothing of the size of k x^2 is added up where a stiff element moves along
// with a soft one.
#include "simulation/soft_motions.h"

#include "base/array.h"
#include "base/pool.h"
#include "linalg/dense.h"
#include "reductions/row_vectors.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

static const double FEW = 4.0;         // round-off of a sum, in roundings of its terms
static const double TOLERANCE = 1e-10; // of an eigenpair: its value counts by the square
enum { SIDES = 2, PAIR = SIDES * POSE_SIZE, MANY = 64 };

// ---- one element ------------------------------------------------------------------------------------------

// An element between two bodies, or one of them and the ground
typedef struct stiff_element {
    int body[SIDES], first; // whose rigid motion is taken off; -1: nobody's
    const double *pose[SIDES];
    double force[PAIR];       // of the element on its bodies, in the sense of the residual
    double force_error[PAIR]; // by round-off of poses
    element_block block;
} stiff_element;

// A motion as an element sees it
typedef struct seen_motion {
    double apart[PAIR], error[PAIR]; // beside the rigid shape, and its round-off
    double turned[PAIR];             // w x p
    double pushed[PAIR];             // w x f
    double turn;                     // |w|
} seen_motion;

static const hn_system *system_of(const statics *x)
{
    return x->simulation->system;
}

static const double *pose_of(const statics *x, int body)
{
    return system_pose(x->simulation->state.q, body);
}

static void view_element(const statics *x, int index, stiff_element *to)
{
    const hn_system *system = system_of(x);
    const element *e = &system->elements[index];
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    element_step view = step_element_view(system, &step->equations, &step->data, index);
    to->body[0] = e->a, to->body[1] = e->b;
    // the second pair of a quadratic element begins at its middle node
    to->first = e->a < 0 || e->b < 0 ? -1 : e->points != NULL && e->pair == 1 ? e->third : e->a;
    memset(to->force, 0, sizeof to->force);
    element_output out = {.residual_a = e->a < 0 ? NULL : to->force,
                          .residual_b = e->b < 0 ? NULL : to->force + POSE_SIZE};
    element_type_of(e->kind)->gradient(e, &view, &out);
    element_type_of(e->kind)->load(e, &view, &out);
    step_element_block(system, &step->equations, &step->data, index, false, &to->block);
    double place[PAIR];
    for (int side = 0; side < SIDES; ++side) {
        to->pose[side] = pose_of(x, to->body[side]);
        for (int k = 0; k < POSE_SIZE; ++k)
            place[POSE_SIZE * side + k] = to->body[side] < 0 ? 0.0 : fabs(to->pose[side][k]);
    }
    for (int i = 0; i < PAIR; ++i) {
        double sum = fabs(to->force[i]);
        for (int k = 0; k < PAIR; ++k) sum += fabs(to->block.k[i][k]) * place[k];
        to->force_error[i] = DBL_EPSILON * sum;
    }
}

static void see(const statics *x, const stiff_element *e, const double *shape, seen_motion *to)
{
    const hn_system *system = system_of(x);
    hn_vec3 v = vec3(0.0, 0.0, 0.0), w = v, centre = v;
    if (e->first >= 0) {
        const double *twist = shape + TWIST_SIZE * (size_t)e->first;
        v = vec3_load(twist);
        if (system->bodies[e->first].has_directors) w = vec3_load(twist + 3);
        centre = pose_center(pose_of(x, e->first));
    }
    memset(to, 0, sizeof *to);
    to->turn = vec3_norm(w);
    for (int side = 0; side < SIDES; ++side) {
        int body = e->body[side], at = POSE_SIZE * side;
        if (body < 0) continue;
        const double *twist = shape + TWIST_SIZE * (size_t)body, *q = e->pose[side];
        hn_vec3 own = vec3_load(twist),
                arm = e->first < 0 ? vec3(0.0, 0.0, 0.0) : vec3_subtract(pose_center(q), centre),
                rigid = vec3_add(v, vec3_cross(w, arm));
        vec3_store(vec3_subtract(own, rigid), to->apart + at);
        double error = DBL_EPSILON * (vec3_norm(own) + vec3_norm(v) + to->turn * vec3_norm(arm));
        for (int k = 0; k < 3; ++k) to->error[at + k] = error;
        vec3_store(vec3_cross(w, arm), to->turned + at);
        vec3_store(vec3_cross(w, vec3_load(e->force + at)), to->pushed + at);
        for (int k = 3; k < POSE_SIZE && system->bodies[body].has_directors; k += 3) {
            hn_vec3 d = vec3_load(q + k), spin = vec3_load(twist + 3);
            vec3_store(vec3_cross(vec3_subtract(spin, w), d), to->apart + at + k);
            error = DBL_EPSILON * (vec3_norm(spin) + to->turn);
            for (int c = 0; c < 3; ++c) to->error[at + k + c] = error;
            vec3_store(vec3_cross(w, d), to->turned + at + k);
            vec3_store(vec3_cross(w, vec3_load(e->force + at + k)), to->pushed + at + k);
        }
    }
}

static double element_product(const stiff_element *e, const seen_motion *a, const seen_motion *b)
{
    double sum = 0.0;
    for (int i = 0; i < PAIR; ++i) {
        double row = 0.0;
        for (int k = 0; k < PAIR; ++k) row += e->block.k[i][k] * b->apart[k];
        sum += a->apart[i] * (row + b->pushed[i]) + a->pushed[i] * b->apart[i] +
               a->turned[i] * b->pushed[i];
    }
    return sum;
}

// The turn of the body that coordinate `i` belongs to; zero for its place
static double turn_of(const statics *x, const stiff_element *e, const double *shape, int i)
{
    int body = e->body[i / POSE_SIZE];
    if (body < 0 || i % POSE_SIZE < 3 || !system_of(x)->bodies[body].has_directors) return 0.0;
    return vec3_norm(vec3_load(shape + TWIST_SIZE * (size_t)body + 3));
}

static void add_element(const statics *x, const stiff_element *e, const double *shape,
                        double *sizes, motion_stiffness *sum)
{
    for (int side = 0; side < SIDES; ++side)
        for (int k = 0; e->body[side] >= 0 && k < 3; ++k)
            sizes[e->body[side]] += fabs(e->force[POSE_SIZE * side + k]);
    seen_motion m;
    see(x, e, shape, &m);
    sum->value += element_product(e, &m, &m);
    for (int i = 0; i < PAIR; ++i) {
        double row = 0.0, size = 0.0, error = 0.0, turn = turn_of(x, e, shape, i);
        for (int k = 0; k < PAIR; ++k) {
            row += e->block.k[i][k] * m.apart[k];
            size += fabs(e->block.k[i][k] * m.apart[k]);
            error += fabs(e->block.k[i][k]) * m.error[k];
        }
        double forced = 2.0 * fabs(m.apart[i] * m.pushed[i]) + fabs(m.turned[i] * m.pushed[i]);
        sum->terms += fabs(m.apart[i]) * size + forced;
        sum->round_off += DBL_EPSILON * (fabs(m.apart[i]) * size + forced) +
                          2.0 * fabs(row) * m.error[i] + m.error[i] * error;
        // what poses leave open of the force acts along the way that its place turns
        sum->round_off +=
            e->force_error[i] *
            (m.turn * (2.0 * fabs(m.apart[i]) + fabs(m.turned[i])) + 2.0 * turn * turn);
    }
}

// ---- joints and bodies ------------------------------------------------------------------------------------

// Force of a row's multiplier
static double multiplier_force(const statics *x, const joint_place *p, int row)
{
    return x->multipliers[p->multiplier + row] * x->row_factor *
           system_of(x)->unit_mass[p->b < 0 ? p->a : p->b];
}

// Velocities of a body in twelve coordinates; zero of the ground and of what a point has not
static void velocity_of(const statics *x, const double *shape, int body, double *v)
{
    memset(v, 0, POSE_SIZE * sizeof(double));
    if (body < 0) return;
    twist_to_velocity(pose_of(x, body), shape + TWIST_SIZE * (size_t)body, v);
    if (!system_of(x)->bodies[body].has_directors)
        memset(v + 3, 0, (POSE_SIZE - 3) * sizeof(double));
}

static void row_sums(const constraint_row *row, const double *va, const double *vb, hn_vec3 *u,
                     hn_vec3 *w)
{
    *u = *w = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 8; ++k) {
        hn_vec3 v = vec3_load((k < 4 ? va : vb) + 3 * (k % 4));
        *u = vec3_add_scaled(*u, row->alpha[k], v);
        *w = vec3_add_scaled(*w, row->beta[k], v);
    }
}

// sum of f_I . ((w . d_I) w' - (w . w') d_I), symmetric in w and w'
static double turning_product(const double *force, const double *q, hn_vec3 one, hn_vec3 other)
{
    double sum = 0.0;
    for (int k = 3; k < POSE_SIZE; k += 3) {
        hn_vec3 f = vec3_load(force + k), d = vec3_load(q + k);
        sum +=
            0.5 * (vec3_dot(one, d) * vec3_dot(other, f) + vec3_dot(other, d) * vec3_dot(one, f)) -
            vec3_dot(d, f) * vec3_dot(one, other);
    }
    return sum;
}

// What is done for every row of joints that holds, with its multiplier's force
typedef void row_visit(const statics *x, const joint_place *p, const constraint_row *row,
                       double force, void *owner);

static void visit_rows(const statics *x, row_visit *visit, void *owner)
{
    const saddle *rows = closed_system(x->solver);
    for (int k = 0; k < saddle_joint_count(rows); ++k) {
        const joint_place *p = saddle_place(rows, k);
        for (int r = 0; r < p->rows->row_count; ++r) {
            double force = multiplier_force(x, p, r);
            if (saddle_row_is_dropped(rows, k, r)) continue;
            const constraint_row row = joint_row(p->rows, r);
            visit(x, p, &row, force, owner);
        }
    }
}

// Motions and their products
typedef struct products {
    int count;
    const double *motions;
    size_t size;
    double *sum;       // count x count
    double *force;     // on all bodies, 12 each: elements, then joints
    double *scratch;   // of one motion
    seen_motion *seen; // of each motion, at an element
    hn_vec3 *u, *w;    // likewise, at a row
} products;

static void add_row_force(const statics *x, const joint_place *p, const constraint_row *row,
                          double force, void *owner)
{
    double *to = owner;
    hn_vec3 gradient[8];
    row_gradient(row, pose_of(x, p->a), pose_of(x, p->b), gradient);
    for (int k = 0; k < 8; ++k) {
        int body = k < 4 ? p->a : p->b;
        if (body < 0) continue;
        double *f = to + POSE_SIZE * (size_t)body + 3 * (size_t)(k % 4);
        vec3_store(vec3_add_scaled(vec3_load(f), force, gradient[k]), f);
    }
}

static void add_row_products(const statics *x, const joint_place *p, const constraint_row *row,
                             double force, void *owner)
{
    const products *to = owner;
    if (!row->product) return;
    for (int i = 0; i < to->count; ++i) {
        double va[POSE_SIZE], vb[POSE_SIZE];
        velocity_of(x, to->motions + (size_t)i * to->size, p->a, va);
        velocity_of(x, to->motions + (size_t)i * to->size, p->b, vb);
        row_sums(row, va, vb, &to->u[i], &to->w[i]);
    }
    for (int i = 0; i < to->count; ++i)
        for (int k = 0; k < to->count; ++k)
            to->sum[i * to->count + k] +=
                force * row->factor * (vec3_dot(to->u[i], to->w[k]) + vec3_dot(to->u[k], to->w[i]));
}

static void add_bodies(const statics *x, const products *to)
{
    for (int body = 0; body < system_of(x)->body_count; ++body) {
        size_t at = TWIST_SIZE * (size_t)body + 3;
        if (!system_of(x)->bodies[body].has_directors) continue;
        for (int i = 0; i < to->count; ++i)
            for (int k = 0; k < to->count; ++k)
                to->sum[i * to->count + k] +=
                    turning_product(to->force + POSE_SIZE * (size_t)body, pose_of(x, body),
                                    vec3_load(to->motions + (size_t)i * to->size + at),
                                    vec3_load(to->motions + (size_t)k * to->size + at));
    }
}

// One motion through a row: its part of the sum is made elsewhere
typedef struct row_sizes {
    const double *shape;
    const double *sizes; // N, per body: forces on it, whose round-off the row's may have
    motion_stiffness *sum;
} row_sizes;

static void add_row_size(const statics *x, const joint_place *p, const constraint_row *row,
                         double force, void *owner)
{
    const row_sizes *to = owner;
    const int body[SIDES] = {p->a, p->b};
    double v[SIDES][POSE_SIZE], size = 0.0, forces = 0.0;
    hn_vec3 gradient[8], u, w;
    for (int side = 0; side < SIDES; ++side) velocity_of(x, to->shape, body[side], v[side]);
    row_gradient(row, pose_of(x, p->a), pose_of(x, p->b), gradient);
    row_sums(row, v[0], v[1], &u, &w);
    double sum = row->product ? 2.0 * row->factor * vec3_dot(u, w) : 0.0;
    if (row->product) size += 2.0 * fabs(row->factor) * vec3_norm(u) * vec3_norm(w);
    for (int side = 0; side < SIDES; ++side) {
        if (body[side] < 0) continue;
        double length = row->rotational ? system_of(x)->sizes[body[side]] : 1.0;
        forces = fmax(forces, to->sizes[body[side]] * length);
        if (!system_of(x)->bodies[body[side]].has_directors) continue;
        hn_vec3 turn = vec3_load(to->shape + TWIST_SIZE * (size_t)body[side] + 3);
        double pull[POSE_SIZE];
        for (int k = 0; k < 4; ++k) {
            vec3_store(gradient[4 * side + k], pull + 3 * k);
            if (k > 0) size += 2.0 * vec3_norm(gradient[4 * side + k]) * vec3_dot(turn, turn);
        }
        sum += turning_product(pull, pose_of(x, body[side]), turn, turn);
    }
    double unknown = FEW * DBL_EPSILON + fmin(1.0, x->found.residual) / STATICS_STIFF;
    to->sum->terms += fabs(force * sum);
    to->sum->round_off += (DBL_EPSILON * fabs(force) + unknown * forces) * size;
}

// What acts on each body: weights, elements with their round-off, joints
static void find_sizes(const statics *x, const double *joint_force, double *sizes)
{
    const hn_system *system = system_of(x);
    double gravity = vec3_norm(system->gravity);
    for (int i = 0; i < system->body_count; ++i)
        sizes[i] = gravity * mass_weight(system, i) +
                   vec3_norm(vec3_load(joint_force + POSE_SIZE * (size_t)i));
}

// X^T K X, as (Q8) has it, made symmetric
static void find_products(const statics *x, const products *to)
{
    const hn_system *system = system_of(x);
    memset(to->sum, 0, (size_t)(to->count * to->count) * sizeof(double));
    memset(to->force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int e = 0; e < system->element_count; ++e) {
        stiff_element part;
        view_element(x, e, &part);
        for (int i = 0; i < to->count; ++i)
            see(x, &part, to->motions + (size_t)i * to->size, &to->seen[i]);
        for (int i = 0; i < to->count; ++i)
            for (int k = 0; k < to->count; ++k)
                to->sum[i * to->count + k] += element_product(&part, &to->seen[i], &to->seen[k]);
        for (int side = 0; side < SIDES; ++side)
            for (int k = 0; part.body[side] >= 0 && k < POSE_SIZE; ++k)
                to->force[POSE_SIZE * part.body[side] + k] += part.force[POSE_SIZE * side + k];
    }
    visit_rows(x, add_row_products, (void *)to);
    visit_rows(x, add_row_force, to->force);
    add_bodies(x, to);
    for (int i = 0; i < to->count; ++i)
        for (int k = 0; k < i; ++k) {
            double *one = to->sum + i * to->count + k, *other = to->sum + k * to->count + i;
            *one = *other = 0.5 * (*one + *other);
        }
}

static void take_products(const statics *x, int count, const double *motions, pool *memory,
                          products *to)
{
    size_t n = (size_t)count, bodies = (size_t)system_of(x)->body_count;
    *to = (products){.count = count, .motions = motions, .size = TWIST_SIZE * bodies};
    to->sum = pool_doubles(memory, n * n);
    to->force = pool_doubles(memory, POSE_SIZE * bodies);
    to->scratch = pool_doubles(memory, to->size);
    to->seen = pool_take(memory, n, sizeof *to->seen);
    to->u = pool_take(memory, n, sizeof *to->u);
    to->w = pool_take(memory, n, sizeof *to->w);
}

// ---- motions ----------------------------------------------------------------------------------------------

// Motions are measured by the stiffness that the equations are divided by
static void measure(const statics *x, const double *from, double *to)
{
    const hn_system *system = system_of(x);
    for (int i = 0; i < system->body_count; ++i) {
        double own = x->row_factor * system->unit_mass[i] *
                     saddle_local_stiffness(closed_system(x->solver), i);
        for (int k = 0; k < TWIST_SIZE; ++k) {
            double arm = k < 3 ? 1.0 : system->bodies[i].has_directors ? x->turning_length : 0.0;
            to[TWIST_SIZE * i + k] = own * arm * arm * from[TWIST_SIZE * i + k];
        }
    }
}

// Forces that are round-off of that stiffness move what is soft but not near zero
static double solution_round_off(const statics *x, const double *shape, double *scratch)
{
    size_t size = TWIST_SIZE * (size_t)system_of(x)->body_count;
    double force = FEW * DBL_EPSILON;
    measure(x, shape, scratch);
    return force * force / x->band * array_dot(shape, scratch, size);
}

hn_status soft_motion_stiffness(const statics *x, const double *shape, motion_stiffness *sum)
{
    pool memory = {.context = x->simulation->context};
    products one;
    *sum = (motion_stiffness){0};
    take_products(x, 1, shape, &memory, &one);
    double *sizes = pool_doubles(&memory, (size_t)system_of(x)->body_count);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        find_products(x, &one);
        find_sizes(x, one.force, sizes);
        for (int e = 0; e < system_of(x)->element_count; ++e) {
            stiff_element part;
            view_element(x, e, &part);
            add_element(x, &part, shape, sizes, sum);
        }
        visit_rows(x, add_row_size, &(row_sizes){shape, sizes, sum});
        sum->value = one.sum[0];
        sum->round_off = FEW * sum->round_off + solution_round_off(x, shape, one.scratch);
    }
    pool_release(&memory);
    return status;
}

// X becomes X C with C^T C = 1 and a diagonal X^T K X
static hn_status part(const statics *x, int count, double *motions, double *values)
{
    pool memory = {.context = x->simulation->context};
    products all;
    size_t n = (size_t)count;
    take_products(x, count, motions, &memory, &all);
    double *vectors = pool_doubles(&memory, n * n), *row = pool_doubles(&memory, n);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        find_products(x, &all);
        status = dense_symmetric_eigen(x->simulation->context, count, all.sum, values, vectors);
    }
    for (size_t at = 0; at < all.size && status == HN_OK; ++at) {
        for (size_t c = 0; c < n; ++c) {
            row[c] = 0.0;
            for (size_t k = 0; k < n; ++k)
                row[c] += motions[k * all.size + at] * vectors[k * n + c];
        }
        for (size_t c = 0; c < n; ++c) motions[c * all.size + at] = row[c];
    }
    pool_release(&memory);
    return status;
}

static double product_of(const krylov_operator *a, const double *one, const double *other,
                         double *scratch)
{
    a->metric(a->owner, other, scratch);
    return array_dot(one, scratch, (size_t)a->size);
}

static void scale(double factor, double *x, size_t size)
{
    for (size_t i = 0; i < size; ++i) x[i] *= factor;
}

// Multiply by the operator, which takes away what is stiff in a motion, and make them orthonormal again.
static hn_status polish(const statics *x, const krylov_operator *a, int count, double *motions)
{
    size_t size = (size_t)a->size;
    double *scratch = context_allocate(x->simulation->context, (2 * size + 1) * sizeof(double));
    if (scratch == NULL) return HN_OUT_OF_MEMORY;
    for (int k = 0; k < count; ++k) {
        double *own = motions + (size_t)k * size;
        memcpy(scratch + size, own, size * sizeof(double));
        a->apply(a->owner, scratch + size, own);
        scale(1.0 / sqrt(product_of(a, own, own, scratch)), own, size);
        for (int c = 0; c < 2 * k; ++c) { // twice
            const double *other = motions + (size_t)(c % k) * size;
            double common = product_of(a, other, own, scratch);
            for (size_t i = 0; i < size; ++i) own[i] -= common * other[i];
        }
        scale(1.0 / sqrt(product_of(a, own, own, scratch)), own, size);
    }
    context_release(x->simulation->context, scratch);
    return HN_OK;
}

hn_status soft_motions_part(const statics *x, const krylov_operator *a, int count, double *motions,
                            double *values)
{
    TRY(part(x, count, motions, values));
    TRY(polish(x, a, count, motions));
    return part(x, count, motions, values);
}

// ---- those near zero --------------------------------------------------------------------------------------

// (K + part of the stiffness that motions are measured by)^-1 in that metric
typedef struct near_search {
    statics *x;
    const double *q;  // where it is assembled
    double *momentum; // 12 per body, twice
    krylov_operator inverse;
} near_search;

static void apply_metric(void *owner, const double *from, double *to)
{
    measure(((const near_search *)owner)->x, from, to);
}

static void apply_inverse(void *owner, const double *from, double *to)
{
    near_search *m = owner;
    const hn_system *system = system_of(m->x);
    apply_metric(owner, from, to);
    for (int i = 0; i < system->body_count; ++i) {
        double *p = m->momentum + POSE_SIZE * (size_t)i, *wrench = to + TWIST_SIZE * (size_t)i;
        memset(p, 0, POSE_SIZE * sizeof(double));
        memcpy(p, wrench, 3 * sizeof(double));
        hn_vec3 half = vec3_scale(0.5, vec3_load(wrench + 3)); // sum d x (m/2 x d) = m
        for (int k = 3; k < POSE_SIZE && system->bodies[i].has_directors; k += 3)
            vec3_store(vec3_cross(half, vec3_load(system_pose(m->q, i) + k)), p + k);
    }
    memset(to, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    saddle_project_again(closed_system(m->x->solver), m->q, m->momentum, to);
    for (int k = 0; k < TWIST_SIZE * system->body_count; ++k) to[k] /= m->x->row_factor;
    static_border_project(&m->x->border, m->q, to);
}

// Eigenpairs next to -part of what was assembled last. HN_NOT_CONVERGED, HN_SINGULAR_SYSTEM: not to be had
static hn_status find_near(near_search *m, double part, int wanted, krylov_pairs *pairs)
{
    statics *x = m->x;
    saddle *rows = closed_system(x->solver);
    int worst;
    m->inverse = (krylov_operator){.size = TWIST_SIZE * system_of(x)->body_count,
                                   .dimension = x->freedom,
                                   .symmetric = true,
                                   .apply = apply_inverse,
                                   .metric = apply_metric,
                                   .owner = m};
    saddle_symmetrise(rows);
    saddle_shift(rows, part, x->turning_length);
    if (!saddle_factor(rows, &worst)) return HN_SINGULAR_SYSTEM;
    if (!static_border_factor(&x->border, m->q, x->row_factor, 0.0)) return HN_SINGULAR_SYSTEM;
    return krylov_largest(x->simulation->context, &m->inverse, wanted, wanted > 6 ? wanted : 0,
                          TOLERANCE, pairs);
}

// Frequency of an eigenvalue as large as the round-off of a shape, Hz
static double unknown_frequency(near_search *m, const double *shape, double round_off)
{
    const double TURN = 6.283185307179586;
    const statics *x = m->x;
    const hn_system *system = system_of(x);
    size_t poses = POSE_SIZE * (size_t)system->body_count;
    double *v = m->momentum, *p = v + poses, twice = 0.0;
    for (int i = 0; i < system->body_count; ++i)
        velocity_of(x, shape, i, v + POSE_SIZE * (size_t)i);
    mass_apply(system, 1.0, v, p);
    static_border_add_momenta(&x->border, x->simulation->state.q, v, p);
    for (size_t k = 0; k < poses; ++k) twice += v[k] * p[k];
    return twice > 0.0 ? sqrt(round_off / twice) / TURN : HUGE_VAL;
}

// Ascending values: those that band has, behind the lower ones
static hn_status judge(near_search *m, const krylov_pairs *pairs, const double *values, int near)
{
    statics *x = m->x;
    size_t size = TWIST_SIZE * (size_t)system_of(x)->body_count;
    int first = 0, seen = 0;
    while (first < pairs->count - near && values[first] < -x->band) ++first;
    for (int k = first; k < pairs->count && seen < near; ++k, ++seen) {
        motion_stiffness s;
        const double *shape = pairs->vectors + (size_t)k * size;
        TRY(soft_motion_stiffness(x, shape, &s));
        if (s.value < -s.round_off) x->found.unstable_count++;
        if (fabs(s.value) > s.round_off) continue;
        x->found.neutral_count++;
        if (s.terms <= s.round_off) continue; // nothing holds it
        x->found.unclear_count++;
        x->found.unclear_frequency =
            fmax(x->found.unclear_frequency, unknown_frequency(m, shape, s.round_off));
    }
    x->found.neutral_count += near - seen;
    return HN_OK;
}

// Too many to look at each: those that elimination cannot tell from zero
static hn_status count_many(statics *x)
{
    const double LEAST = 1e-12;
    int under[2];
    for (int side = 0; side < 2; ++side)
        TRY(statics_count_below(x, 0.0, side == 0 ? LEAST : -LEAST, &under[side]));
    x->found.unstable_count = under[0] > 0 ? under[0] : 0;
    x->found.neutral_count = under[1] > under[0] ? under[1] - x->found.unstable_count : 0;
    return HN_OK;
}

hn_status soft_motions_decide(statics *x, int near, int below)
{
    const double BESIDE = 3.0; // of the band: all of it is positive with this part
    if (near + below > MANY) return count_many(x);
    hn_context *context = x->simulation->context;
    size_t poses = POSE_SIZE * (size_t)system_of(x)->body_count;
    int wanted = near + below;
    krylov_pairs pairs = {0};
    pool memory = {.context = context};
    near_search m = {
        .x = x, .q = x->simulation->state.q, .momentum = pool_doubles(&memory, 2 * poses)};
    double *values = pool_doubles(&memory, (size_t)wanted + 2);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) status = statics_assemble(x, 0.0);
    if (status == HN_OK) status = find_near(&m, BESIDE * x->band, wanted, &pairs);
    if (status == HN_OK)
        status = soft_motions_part(x, &m.inverse, pairs.count, pairs.vectors, values);
    if (status == HN_OK) status = judge(&m, &pairs, values, near);
    else if (status == HN_NOT_CONVERGED || status == HN_SINGULAR_SYSTEM)
        x->found.neutral_count += near, status = HN_OK;
    krylov_release(&pairs);
    pool_release(&memory);
    return status;
}

// ---- branchings -------------------------------------------------------------------------------------------

// What loads add to the residual of the step that was solved last, 12 per body
static void find_loads(statics *x, double factor, double *loads)
{
    const hn_system *system = system_of(x);
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    for (int pass = 0; pass < 2; ++pass) {
        statics_set_loads(x, pass == 0 ? 0.0 : factor);
        step_element_forces(system, &step->equations, &step->data);
        for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
            loads[k] = step->data.force[k] - (pass == 0 ? 0.0 : loads[k]);
    }
    for (int i = 0; i < system->body_count; ++i) {
        double *f = loads + POSE_SIZE * (size_t)i;
        vec3_store(vec3_add_scaled(vec3_load(f), -mass_node(system, i)[0], system->gravity), f);
    }
}

// The work of loads on a motion, in parts of what they would do if they all had its direction
static double part_of_work(const near_search *m, const double *loads, const double *shape)
{
    const hn_system *system = system_of(m->x);
    double work = 0.0, most = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *twist = shape + TWIST_SIZE * (size_t)i;
        double wrench[TWIST_SIZE];
        force_to_wrench(system_pose(m->q, i), loads + POSE_SIZE * (size_t)i, wrench);
        for (int k = 0; k < TWIST_SIZE; k += 3) {
            if (k > 0 && !system->bodies[i].has_directors) continue;
            hn_vec3 force = vec3_load(wrench + k), way = vec3_load(twist + k);
            work += vec3_dot(force, way);
            most += vec3_norm(force) * vec3_norm(way);
        }
    }
    return most > 0.0 ? fabs(work) / most : 0.0;
}

bool soft_motions_branch(statics *x, double factor)
{
    const double NO_WORK = 1e-8, FARTHEST = 1e3;
    const solved_step *step = &x->simulation->steps[x->simulation->ahead];
    const step_equations equations = step->equations;
    size_t poses = POSE_SIZE * (size_t)system_of(x)->body_count;
    int below = 0, left = 1;
    double shift = x->band;
    if (statics_count_at(x, &equations, step, 0.0, &below) != HN_OK || below < 1 || below > MANY)
        return false;
    for (; left != 0 && shift < FARTHEST; shift *= 10.0)
        if (statics_count_at(x, &equations, step, shift, &left) != HN_OK) return false;
    pool memory = {.context = x->simulation->context};
    krylov_pairs pairs = {0};
    near_search m = {.x = x, .q = step->data.q, .momentum = pool_doubles(&memory, 2 * poses)};
    double *loads = pool_doubles(&memory, poses);
    bool branch = pool_status(&memory) == HN_OK && left == 0;
    if (branch) {
        find_loads(x, factor, loads);
        saddle_assemble(closed_system(x->solver), &equations, &step->data);
        branch = find_near(&m, shift, below, &pairs) == HN_OK && pairs.count == below;
    }
    for (int k = 0; k < pairs.count && branch; ++k)
        branch =
            part_of_work(&m, loads, pairs.vectors + (size_t)k * TWIST_SIZE * (poses / POSE_SIZE)) <=
            NO_WORK;
    krylov_release(&pairs);
    pool_release(&memory);
    return branch;
}
