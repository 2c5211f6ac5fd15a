// SPDX-License-Identifier: MIT
// Relations of joint coordinates and rotors beside the sparse system of statics, by its responses to them.
// Note: docs/theory/statics.md
//
//   (Q6)  [ A    -C ] [ dq ]   [ -R ]
//         [ C^T   D ] [ dn ] = [ -g ],   A dq0 = -R,  A Y = C,  W = C^T Y,  (W + D) dn = -g - C^T dq0,  dq = dq0 + Y dn
//   (Q7)  eigenvalues of A below zero on C^T dq = 0:  those of A, and those of W above zero, less the number of
//   relations
//
// A: tangent of bodies and joints, C: gradients of relations, n: their efforts, g: how far they are off, D = 0. A rotor
// of inertia J adds s J c c^T to a matrix with the mass times s: a row with D = 1/(s J), and its (Q7) counts it as a
// relation where s > 0.
#include "simulation/static_border.h"

#include "linalg/dense.h"
#include "linalg/small_lu.h"

#include <string.h>

static const double GRADED = 1e-3;        // of each other: responses of different size
static const double HELD_ALREADY = 1e-11; // of its own response: it moves with others only

static size_t pose_count(const static_border *b)
{
    return POSE_SIZE * (size_t)b->simulation->system->body_count;
}

static double *row_of(const static_border *b, int index)
{
    return b->row + pose_count(b) * (size_t)index;
}

static double *response_of(const static_border *b, int index)
{
    return b->response + TWIST_SIZE * (size_t)b->simulation->system->body_count * (size_t)index;
}

static int find_rotors(const hn_system *system, int *list)
{
    int count = 0;
    for (int i = 0; i < system->drive_count; ++i) {
        if (!(system->laws[i].armature > 0.0)) continue;
        if (list != NULL) list[count] = system->drive_first + i;
        ++count;
    }
    return count;
}

static void layout(static_border *b, arena *a)
{
    size_t n = (size_t)(b->hold_count + b->rotor_count), poses = pose_count(b);
    b->rotors = arena_ints(a, (size_t)b->rotor_count + 1);
    b->pivots = arena_ints(a, n + 1);
    b->row = arena_doubles(a, n * poses + 1);
    b->response = arena_doubles(a, n * poses / 2 + 1);
    b->matrix = arena_doubles(a, n * n + 1);
    b->small = arena_doubles(a, 2 * n + 1);
    b->velocity = arena_doubles(a, poses + poses / 2 + 1);
}

hn_status static_border_begin(hn_simulation *s, saddle *rows, static_border *b)
{
    *b = (static_border){.simulation = s, .rows = rows, .stuck = -1};
    drive_modes_begin(s, s->angles);
    b->hold_count = holds_list(s, false);
    b->rotor_count = find_rotors(s->system, NULL);
    for (int pass = 0; pass < 2; ++pass) {
        arena a = {.block = b->memory};
        layout(b, &a);
        if (pass == 0 && (b->memory = context_allocate(s->context, a.used)) == NULL)
            return HN_OUT_OF_MEMORY;
    }
    find_rotors(s->system, b->rotors);
    return HN_OK;
}

void static_border_end(static_border *b)
{
    if (b->simulation != NULL) context_release(b->simulation->context, b->memory);
    b->memory = NULL;
}

// ---- rows -------------------------------------------------------------------------------------------------

static void add_gradient(const element *e, const double *q, double factor, double *row)
{
    double ends[2 * POSE_SIZE];
    element_rate_row(e, system_pose(q, e->a), system_pose(q, e->b), ends);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? e->a : e->b;
        for (int k = 0; body >= 0 && k < POSE_SIZE; ++k)
            row[POSE_SIZE * (size_t)body + (size_t)k] +=
                factor * e->law->sign * ends[POSE_SIZE * side + k];
    }
}

static void gather(static_border *b, const double *q, double shift)
{
    const hn_simulation *s = b->simulation;
    b->count = b->hold_count + (shift != 0.0 ? b->rotor_count : 0);
    b->hard = b->hold_count + (shift > 0.0 ? b->rotor_count : 0);
    memset(b->row, 0, pose_count(b) * (size_t)b->count * sizeof(double));
    for (int i = 0; i < b->hold_count; ++i) {
        const hold *h = &s->holds[s->held_list[i]];
        for (int k = 0; k < h->term_count; ++k)
            add_gradient(&s->system->elements[h->first + k], q, h->factors[k], row_of(b, i));
    }
    for (int i = b->hold_count; i < b->count; ++i)
        add_gradient(&s->system->elements[b->rotors[i - b->hold_count]], q, 1.0, row_of(b, i));
}

// Velocities of all bodies, in b->velocity
static const double *velocities_of(const static_border *b, const double *q, const double *twists)
{
    const hn_system *system = b->simulation->system;
    for (int i = 0; i < system->body_count; ++i) {
        double *to = b->velocity + POSE_SIZE * (size_t)i;
        twist_to_velocity(system_pose(q, i), twists + TWIST_SIZE * (size_t)i, to);
        if (!system->bodies[i].has_directors) memset(to + 3, 0, 9 * sizeof(double));
    }
    return b->velocity;
}

static double product(const static_border *b, int row, const double *v)
{
    const double *c = row_of(b, row);
    double sum = 0.0;
    for (size_t k = 0; k < pose_count(b); ++k) sum += c[k] * v[k];
    return sum;
}

// ---- the border -------------------------------------------------------------------------------------------

// D + W, not factored
static void find_matrix(static_border *b, const double *q, double row_factor, double shift)
{
    gather(b, q, shift);
    for (int i = 0; i < b->count; ++i) {
        double *y = response_of(b, i);
        saddle_project_again(b->rows, q, row_of(b, i), y);
        for (int k = 0; k < TWIST_SIZE * b->simulation->system->body_count; ++k) y[k] /= row_factor;
        const double *v = velocities_of(b, q, y);
        for (int k = 0; k < b->count; ++k) b->matrix[b->count * k + i] = product(b, k, v);
    }
    for (int i = b->hold_count; i < b->count; ++i) {
        const element *e = &b->simulation->system->elements[b->rotors[i - b->hold_count]];
        b->matrix[b->count * i + i] += 1.0 / (shift * e->law->armature);
    }
}

bool static_border_factor(static_border *b, const double *q, double row_factor, double shift)
{
    b->stuck = -1;
    find_matrix(b, q, row_factor, shift);
    int n = b->count;
    if (n == 0) return true;
    double *diagonal = b->small;
    for (int i = 0; i < n; ++i) diagonal[i] = fabs(b->matrix[n * i + i]);
    bool regular = small_lu_factor(n, n, b->matrix, b->pivots);
    for (int i = 0; i < b->hold_count; ++i) {
        if (fabs(b->matrix[n * i + i]) > HELD_ALREADY * diagonal[i]) continue;
        b->stuck = i;
        return false;
    }
    return regular;
}

hn_status static_border_count_at(static_border *b, const double *q, double row_factor, double shift,
                                 int *negative)
{
    find_matrix(b, q, row_factor, shift);
    int n = b->count;
    hn_context *context = b->simulation->context;
    double *work = context_allocate(context, (size_t)(n * n + n) * sizeof(double));
    if (work == NULL) return HN_OUT_OF_MEMORY;
    // Of two that should be the same that has less round-off in which the larger motion is the response
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k) {
            double *one = b->matrix + n * i + k, *other = b->matrix + n * k + i,
                   own = fabs(b->matrix[n * i + i]), its = fabs(b->matrix[n * k + k]);
            if (own < GRADED * its) *other = *one;
            else if (its < GRADED * own) *one = *other;
            else *one = *other = 0.5 * (*one + *other);
        }
    hn_status status = dense_symmetric_eigen(context, n, b->matrix, work + n * n, work);
    for (int i = 0; i < n && status == HN_OK; ++i) *negative += work[n * n + i] > 0.0;
    *negative -= b->hard;
    context_release(context, work);
    return status;
}

void static_border_project(static_border *b, const double *q, double *twists)
{
    int n = b->count;
    if (n == 0) return;
    const double *v = velocities_of(b, q, twists);
    for (int i = 0; i < n; ++i) b->small[i] = product(b, i, v);
    small_lu_solve(n, n, b->matrix, b->pivots, 1, 1, b->small);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < TWIST_SIZE * b->simulation->system->body_count; ++k)
            twists[k] -= b->small[i] * response_of(b, i)[k];
}

void static_border_add_momenta(const static_border *b, const double *q, const double *v, double *p)
{
    for (int i = 0; i < b->rotor_count; ++i) {
        const element *e = &b->simulation->system->elements[b->rotors[i]];
        add_gradient(e, q, e->law->armature * e->law->sign * simulation_rate(e, q, v), p);
    }
}

void static_border_add_rotors(const static_border *b, const double *q, const double *v, double *y)
{
    const hn_system *system = b->simulation->system;
    double *p = b->velocity;
    if (b->rotor_count == 0) return;
    memset(p, 0, pose_count(b) * sizeof(double));
    static_border_add_momenta(b, q, v, p);
    for (int i = 0; i < system->body_count; ++i) {
        double wrench[TWIST_SIZE];
        force_to_wrench(system_pose(q, i), p + POSE_SIZE * (size_t)i, wrench);
        for (int k = 0; k < (system->bodies[i].has_directors ? TWIST_SIZE : 3); ++k)
            y[TWIST_SIZE * (size_t)i + (size_t)k] += wrench[k];
    }
}

// (Q6)
bool static_border_correct(static_border *b, solved_step *step, double row_factor, double *twists)
{
    hn_simulation *s = b->simulation;
    size_t poses = pose_count(b);
    const double *q = step->data.q;
    if (b->hold_count == 0) return true;
    if (!static_border_factor(b, q, row_factor, 0.0)) return false;
    double *efforts = b->small, *gaps = efforts + b->count;
    (void)holds_relations(s, step, true, gaps);
    if (b->still) memset(gaps, 0, (size_t)b->count * sizeof(double));
    const double *v = velocities_of(b, q, twists);
    for (int i = 0; i < b->count; ++i) efforts[i] = -gaps[i] - product(b, i, v);
    small_lu_solve(b->count, b->count, b->matrix, b->pivots, 1, 1, efforts);
    double *force = b->velocity, *change = force + poses;
    memset(force, 0, poses * sizeof(double));
    for (int i = 0; i < b->count; ++i) {
        holds_add_effort(s, step, i, efforts[i]);
        for (size_t k = 0; k < poses; ++k) force[k] += efforts[i] / row_factor * row_of(b, i)[k];
    }
    // all together once more, for the multipliers of joints
    saddle_project_again(b->rows, q, force, change);
    saddle_apply_multipliers(b->rows);
    for (size_t k = 0; k < poses / 2; ++k) twists[k] += change[k];
    return true;
}
