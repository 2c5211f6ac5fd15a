// SPDX-License-Identifier: MIT
// Motions that all joints allow, told apart by coordinates. Note: docs/theory/linearisation.md
//
//   (I1)  W: motions of the tree with unit joint rates, projected on those that loops allow; r_c(W) rows by candidate
//   (I2)  rows picked one after the other, the first with nearly the largest rest, until there are as many as
// freedoms:
//         X = L Q with Q Q^T = 1, T = W Q^T L^-1, so that r(T) = 1
#include "simulation/motion_frame.h"

#include "simulation/motion_axes.h"

#include "base/array.h"
#include "base/pool.h"
#include "elements/rotation_effort.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double INDEPENDENT =
    1e-7;                         // of a row: what is left of it beside those that were picked
static const double NEARLY = 0.2; // of the largest rest: as good, and first in the model
static const double MOVES = 1e-9; // of its rate without loops: less is none

// ---- rates ------------------------------------------------------------------------------------------------

typedef struct pose_pair {
    int body[2];
    double q[2][POSE_SIZE], v[2][POSE_SIZE];
} pose_pair;

static void bodies_of(const motion_frame *f, int candidate, int body[2])
{
    const frame_coordinate *c = &f->candidates[candidate];
    const joint *j = c->joint < 0 ? NULL : &f->system->reports[c->joint].rows;
    body[0] = j == NULL ? GROUND : j->parent;
    body[1] = j == NULL ? c->body : j->child;
}

hn_vec3 frame_body_axis(const motion_frame *f, int candidate)
{
    const frame_coordinate *c = &f->candidates[candidate];
    return axis_of_body(f->system, f->q, c->carrier, c->index % 3);
}

// About an axis of the body a of the model; joints may be compiled the other way round.
static double turn_rate(const element *e, const pose_pair *x, double twist[2][TWIST_SIZE])
{
    int a = e->a == x->body[0] ? 0 : 1;
    hn_vec3 omega = vec3_subtract(vec3_load(twist[1 - a] + 3), vec3_load(twist[a] + 3));
    return vec3_dot(pose_direction(x->q[a], rotation_axis(e)), omega);
}

static double rate_of(const motion_frame *f, int candidate, const pose_pair *x)
{
    const frame_coordinate *c = &f->candidates[candidate];
    double twist[2][TWIST_SIZE] = {{0.0}}, rates[JOINT_DOF_MAX];
    for (int side = 0; side < 2; ++side)
        if (x->body[side] >= 0) velocity_to_twist(x->q[side], x->v[side], twist[side]);
    if (c->joint < 0)
        return vec3_dot(frame_body_axis(f, candidate),
                        vec3_load(twist[1] + (c->index < 3 ? 0 : 3)));
    if (c->element >= 0) return turn_rate(&f->system->elements[c->element], x, twist);
    const system_joint *report = &f->system->reports[c->joint];
    joint_coordinate_rates(&report->rows, x->q[0], x->q[1], twist[0], twist[1], rates);
    return report->rows_swapped ? -rates[c->index] : rates[c->index];
}

// sum += factor x, of one body; NULL: zero
static void shift(double *sum, double factor, const double *x, int body)
{
    if (x == NULL || body < 0) return;
    for (int k = 0; k < POSE_SIZE; ++k) sum[k] += factor * x[POSE_SIZE * (size_t)body + (size_t)k];
}

static void base_poses(const motion_frame *f, int candidate, const double *q, pose_pair *x)
{
    bodies_of(f, candidate, x->body);
    for (int side = 0; side < 2; ++side) {
        memcpy(x->q[side], system_pose(q, x->body[side]), sizeof x->q[side]);
        memset(x->v[side], 0, sizeof x->v[side]);
    }
}

// The hold that a candidate is the relation of, or NULL
static const hold *relation_of(const motion_frame *f, int candidate)
{
    const frame_coordinate *c = &f->candidates[candidate];
    return c->joint < 0 && c->body < 0 ? &f->holds[c->index] : NULL;
}

static int term_of(const motion_frame *f, int candidate, int k)
{
    return f->terms[HN_COUPLING_TERMS_MAX * f->candidates[candidate].index + k];
}

double frame_rate(const motion_frame *f, int candidate, const double *q, const double *v)
{
    const hold *h = relation_of(f, candidate);
    if (h != NULL) {
        double sum = 0.0;
        for (int k = 0; k < h->term_count; ++k)
            sum += h->factors[k] * frame_rate(f, term_of(f, candidate, k), q, v);
        return sum;
    }
    pose_pair x;
    base_poses(f, candidate, q, &x);
    for (int side = 0; side < 2; ++side) shift(x.v[side], 1.0, v, x.body[side]);
    return rate_of(f, candidate, &x);
}

// Derivatives of polynomials of at most the fourth degree, exact with steps of any size
static const double FIVE[5] = {1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0};

// How far a motion moves the bodies of a candidate: turns, or m over the length of the model
static double extent_of(const motion_frame *f, const int body[2], const double *x)
{
    double largest = 0.0;
    for (int side = 0; x != NULL && side < 2; ++side)
        for (int k = 0; body[side] >= 0 && k < POSE_SIZE; ++k)
            largest = fmax(largest, fabs(x[POSE_SIZE * (size_t)body[side] + (size_t)k]) /
                                        (k < 3 ? f->system->length : 1.0));
    return largest;
}

double frame_rate_change(const motion_frame *f, int candidate, const double *x, const double *y)
{
    const hold *h = relation_of(f, candidate);
    double of_terms = 0.0;
    for (int k = 0; h != NULL && k < h->term_count; ++k)
        of_terms += h->factors[k] * frame_rate_change(f, term_of(f, candidate, k), x, y);
    if (h != NULL) return of_terms;
    int body[2];
    bodies_of(f, candidate, body);
    double extent = extent_of(f, body, x), sum = 0.0;
    if (extent == 0.0) return 0.0;
    for (int i = 0; i < 5; ++i) {
        pose_pair at;
        if (FIVE[i] == 0.0) continue;
        base_poses(f, candidate, f->q, &at);
        for (int side = 0; side < 2; ++side) {
            shift(at.q[side], (i - 2) / extent, x, body[side]);
            shift(at.v[side], 1.0, y, body[side]);
        }
        sum += FIVE[i] * rate_of(f, candidate, &at);
    }
    return extent * sum;
}

double frame_acceleration_change(const motion_frame *f, int candidate, const frame_jet *jet)
{
    const hold *h = relation_of(f, candidate);
    double of_terms = 0.0;
    for (int k = 0; h != NULL && k < h->term_count; ++k)
        of_terms += h->factors[k] * frame_acceleration_change(f, term_of(f, candidate, k), jet);
    if (h != NULL) return of_terms;
    int body[2];
    bodies_of(f, candidate, body);
    double speed = extent_of(f, body, jet->v), eta = speed > 0.0 ? 1.0 / speed : 1.0;
    double extent = fmax(extent_of(f, body, jet->dq), eta * extent_of(f, body, jet->dv));
    double eps = extent > 0.0 ? 1.0 / extent : 1.0, sum = 0.0;
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < 5; ++k) {
            double e = (i - 2) * eps, t = (k - 2) * eta;
            pose_pair at;
            if (FIVE[i] == 0.0 || FIVE[k] == 0.0) continue;
            base_poses(f, candidate, f->q, &at);
            for (int side = 0; side < 2; ++side) {
                double *q = at.q[side], *v = at.v[side];
                shift(q, e, jet->dq, body[side]);
                shift(q, t, jet->v, body[side]);
                shift(q, e * t, jet->dv, body[side]);
                shift(v, 1.0, jet->v, body[side]);
                shift(v, e, jet->dv, body[side]);
                shift(v, t, jet->a, body[side]);
                shift(v, e * t, jet->da, body[side]);
            }
            sum += FIVE[i] * FIVE[k] * rate_of(f, candidate, &at);
        }
    return sum / (eps * eta);
}

// Twelve forces of a wrench at an orthonormal pose
static void add_wrench(const double *q, hn_vec3 force, hn_vec3 torque, int body, double *to)
{
    if (body < 0) return;
    double *f = to + POSE_SIZE * (size_t)body;
    vec3_store(vec3_add(vec3_load(f), force), f);
    for (int k = 3; k < POSE_SIZE; k += 3)
        vec3_store(vec3_add_scaled(vec3_load(f + k), 0.5, vec3_cross(torque, vec3_load(q + k))),
                   f + k);
}

void frame_add_effort(const motion_frame *f, int candidate, double effort, double *to)
{
    const frame_coordinate *c = &f->candidates[candidate];
    const hold *h = relation_of(f, candidate);
    const hn_vec3 none = {0.0, 0.0, 0.0};
    for (int k = 0; h != NULL && k < h->term_count; ++k)
        frame_add_effort(f, term_of(f, candidate, k), h->factors[k] * effort, to);
    if (h != NULL) return;
    if (c->joint < 0) {
        hn_vec3 x = vec3_scale(effort, frame_body_axis(f, candidate));
        add_wrench(system_pose(f->q, c->body), c->index < 3 ? x : none, c->index < 3 ? none : x,
                   c->body, to);
        return;
    }
    if (c->element >= 0) {
        const element *e = &f->system->elements[c->element];
        const double *a = system_pose(f->q, e->a), *b = system_pose(f->q, e->b);
        hn_vec3 torque = vec3_scale(effort, pose_direction(a, rotation_axis(e)));
        add_wrench(b, none, torque, e->b, to);
        add_wrench(a, none, vec3_negate(torque), e->a, to);
        return;
    }
    const system_joint *report = &f->system->reports[c->joint];
    const joint *j = &report->rows;
    const double *a = system_pose(f->q, j->parent), *b = system_pose(f->q, j->child);
    hn_vec3 x = vec3_scale(report->rows_swapped ? -effort : effort,
                           joint_coordinate_axis(j, c->index, a, b));
    if (joint_type_of(j->kind)->axes[c->index].turning) {
        add_wrench(b, none, x, j->child, to);
        add_wrench(a, none, vec3_negate(x), j->parent, to);
        return;
    }
    hn_vec3 arm_b = pose_direction(b, j->rho_b),
            arm_a = vec3_subtract(vec3_add(pose_center(b), arm_b), pose_center(a));
    bool turns = j->child < 0 || f->system->bodies[j->child].has_directors;
    add_wrench(b, x, turns ? vec3_cross(arm_b, x) : none, j->child, to);
    add_wrench(a, vec3_negate(x), vec3_negate(vec3_cross(arm_a, x)), j->parent, to);
}

void frame_rates(const motion_frame *f, const double *v, double *rates)
{
    for (int k = 0; k < f->count; ++k) rates[k] = frame_rate(f, f->chosen[k], f->q, v);
}

void frame_velocity(const motion_frame *f, const double *rates, double *v)
{
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    memset(v, 0, size * sizeof(double));
    for (int k = 0; k < f->count; ++k)
        for (size_t i = 0; i < size; ++i) v[i] += rates[k] * frame_motion(f, k)[i];
}

void frame_turn(const motion_frame *f, const double *x, const double *y, double *z)
{
    const saddle_pair pair = {1.0, x, y};
    size_t size = POSE_SIZE * (size_t)f->system->body_count;
    saddle_solve_motion(f->rows, NULL, &pair, 1, z, NULL);
    // rates of z first: T changes them one at a time
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < f->count; ++k) {
            double left =
                -frame_rate_change(f, f->chosen[k], x, y) - frame_rate(f, f->chosen[k], f->q, z);
            for (size_t i = 0; i < size; ++i) z[i] += left * frame_motion(f, k)[i];
        }
}

// ---- names ------------------------------------------------------------------------------------------------

// A joint with coordinates x, y, z may have the name of a body: they are told apart from the body's.
static bool is_taken_by_joint(const hn_system *system, const char *name)
{
    for (int k = 0; k < system->joint_count; ++k)
        if (strcmp(system->reports[k].name, name) == 0 &&
            joint_type_of(system->reports[k].rows.kind)->coordinate_count > 0 &&
            strcmp(joint_coordinate_label(system->reports[k].rows.kind, 0), "x") == 0)
            return true;
    return false;
}

void frame_name(const motion_frame *f, int candidate, char *name, size_t size)
{
    static const char *const WORDS[6] = {"x", "y", "z", "turn_x", "turn_y", "turn_z"};
    const frame_coordinate *c = &f->candidates[candidate];
    if (c->joint < 0) {
        const char *body = f->system->bodies[c->body].name;
        snprintf(name, size, "%s%s/%s", is_taken_by_joint(f->system, body) ? "body " : "", body,
                 WORDS[c->index]);
    } else
        snprintf(name, size, "%s/%s", f->system->reports[c->joint].name,
                 joint_coordinate_label(f->system->reports[c->joint].rows.kind, c->index));
}

bool frame_is_of_axes(const motion_frame *f, int candidate)
{
    const frame_coordinate *c = &f->candidates[candidate];
    return c->joint < 0 ||
           joint_type_of(f->system->reports[c->joint].rows.kind)->axes[c->index].home ==
               AXIS_OF_WORLD;
}

static bool is_turning(const motion_frame *f, int candidate)
{
    if (relation_of(f, candidate) != NULL) candidate = term_of(f, candidate, 0);
    const frame_coordinate *c = &f->candidates[candidate];
    if (c->joint < 0) return c->index >= 3;
    return joint_type_of(f->system->reports[c->joint].rows.kind)->axes[c->index].turning;
}

const char *frame_unit(const motion_frame *f, int candidate)
{
    return is_turning(f, candidate) ? "rad" : "m";
}

int frame_element_candidate(const motion_frame *f, int index)
{
    const element *e = &f->system->elements[index];
    if (e->rotation) {
        int first = f->candidate_count + f->driven_count;
        for (int k = first; k < first + f->path_count; ++k)
            if (f->candidates[k].element == index) return k;
    }
    for (int k = 0; k < f->joint_count; ++k)
        if (f->candidates[k].joint == e->joint && f->candidates[k].index == e->law->coordinate)
            return k;
    return -1;
}

// ---- which coordinates are independent ----------------------------------------------------------------------

// Work of the choice: rows of all candidates by motions W, and an orthonormal basis of those picked.
typedef struct frame_choice {
    int width;      // motions W: freedoms of the tree
    double *motion; // W, 12 per body each
    double *rows;   // r(W), a row per candidate in units of the length of the model
    double *left;   // of every candidate: what the rows picked leave of it; 0: nothing
    double *size;   // of it, before loops
    double *basis;  // Q
    double *lower;  // L, count x count
    int picked;
} frame_choice;

static double *row_of(const frame_choice *c, int candidate)
{
    return c->rows + (size_t)candidate * (size_t)c->width;
}

// The rest of a row beside the basis, twice for all digits; coefficients go to `lower` (or NULL). Its norm.
static double orthogonal(const frame_choice *c, const double *row, double *rest, double *lower)
{
    size_t n = (size_t)c->width;
    memcpy(rest, row, n * sizeof(double));
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < c->picked; ++k) {
            const double *q = c->basis + (size_t)k * n;
            double part = array_dot(q, rest, n);
            if (lower != NULL) lower[k] += part;
            for (size_t i = 0; i < n; ++i) rest[i] -= part * q[i];
        }
    return sqrt(array_dot(rest, rest, n));
}

// Pick a candidate: false when it depends on those before.
static bool pick(frame_choice *c, int candidate, int count, double *rest)
{
    size_t n = (size_t)c->width;
    double *lower = c->lower + (size_t)c->picked * (size_t)count;
    memset(lower, 0, (size_t)count * sizeof(double));
    double norm = orthogonal(c, row_of(c, candidate), rest, lower);
    double own = sqrt(array_dot(row_of(c, candidate), row_of(c, candidate), n));
    if (!(norm > INDEPENDENT * own) || !(own > MOVES * c->size[candidate])) return false;
    lower[c->picked] = norm;
    for (size_t i = 0; i < n; ++i) c->basis[(size_t)c->picked * n + i] = rest[i] / norm;
    c->picked++;
    return true;
}

// The first candidate of a stage of which nearly most is left; -1: none.
static int next_candidate(const motion_frame *f, frame_choice *c, int stage, double *rest)
{
    double largest = 0.0;
    for (int k = 0; k < f->candidate_count; ++k) {
        if (f->candidates[k].stage != stage || c->left[k] == 0.0) continue;
        if (context_is_cancelled(f->context)) return -1;
        double own = sqrt(array_dot(row_of(c, k), row_of(c, k), (size_t)c->width));
        c->left[k] = orthogonal(c, row_of(c, k), rest, NULL);
        if (!(c->left[k] > INDEPENDENT * own) || !(own > MOVES * c->size[k])) c->left[k] = 0.0;
        largest = fmax(largest, c->left[k]);
    }
    for (int k = 0; k < f->candidate_count; ++k)
        if (f->candidates[k].stage == stage && c->left[k] > 0.0 && c->left[k] >= NEARLY * largest)
            return k;
    return -1;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool is_friction(const hn_system *system, const hold *h)
{
    return h->coupling < 0 && system->elements[h->first].law->kind == HN_DRIVE_FRICTION;
}

static hn_status refuse_hold(const motion_frame *f, const hold *h)
{
    const element *e = &f->system->elements[h->first];
    return context_fail(f->context, HN_INVALID_MODEL,
                        "%s '%s' cannot move joint '%s': a loop or another drive or coupling holds "
                        "its coordinate; remove one of them, or give the mechanism the freedom",
                        h->coupling < 0 ? "drive" : "coupling", e->name,
                        f->system->reports[e->joint].name);
}

// Free coordinates, as they tell best
static int choose_free(motion_frame *f, frame_choice *c, double *rest)
{
    int order = f->driven_count;
    for (int stage = 0; stage < FRAME_STAGE_COUNT; ++stage)
        while (order < f->count) {
            int next = next_candidate(f, c, stage, rest);
            if (next < 0 || !pick(c, next, f->count, rest)) break;
            c->left[next] = 0.0;
            f->chosen[order++] = next;
        }
    return order;
}

static hn_status choose(motion_frame *f, const frame_wish *wish, frame_choice *c, double *rest)
{
    for (int d = 0; d < f->driven_count; ++d) {
        // as many as there are freedoms are independent at most
        if (d < f->count && pick(c, f->chosen[d], f->count, rest)) continue;
        if (!is_friction(f->system, &f->holds[d])) return refuse_hold(f, &f->holds[d]);
        f->tied_hold = d;
        return HN_SINGULAR_SYSTEM;
    }
    int order = f->count;
    if (wish->chosen == NULL) order = choose_free(f, c, rest);
    else if (wish->count != f->count - f->driven_count) order = 0;
    else memcpy(f->chosen + f->driven_count, wish->chosen, (size_t)wish->count * sizeof(int));
    if (context_is_cancelled(f->context)) return HN_CANCELLED;
    if (order < f->count)
        return context_fail(f->context, HN_SINGULAR_SYSTEM,
                            "no coordinates tell all %d motions of the mechanism apart here: a "
                            "singular position",
                            f->count);
    qsort(f->chosen + f->driven_count, (size_t)(f->count - f->driven_count), sizeof(int), by_value);
    // once more in their order
    c->picked = 0;
    for (int k = 0; k < f->count; ++k)
        if (!pick(c, f->chosen[k], f->count, rest))
            return context_fail(f->context, HN_SINGULAR_SYSTEM, "a singular position");
    return HN_OK;
}

// (I2)
static hn_status find_motions(motion_frame *f, const frame_choice *c)
{
    size_t size = POSE_SIZE * (size_t)f->system->body_count, n = (size_t)c->width;
    for (int k = f->count - 1; k >= 0; --k) {
        if (context_is_cancelled(f->context)) return HN_CANCELLED;
        double *t = frame_motion(f, k);
        for (size_t w = 0; w < n; ++w) {
            double part = c->basis[(size_t)k * n + w];
            for (size_t i = 0; part != 0.0 && i < size; ++i) t[i] += part * c->motion[w * size + i];
        }
        for (int j = k + 1; j < f->count; ++j) {
            double part = c->lower[(size_t)j * (size_t)f->count + (size_t)k];
            for (size_t i = 0; part != 0.0 && i < size; ++i) t[i] -= part * frame_motion(f, j)[i];
        }
        double diagonal = c->lower[(size_t)k * (size_t)f->count + (size_t)k];
        for (size_t i = 0; i < size; ++i) t[i] /= diagonal;
    }
    // rows were measured in units of the model's length
    for (int k = 0; k < f->count; ++k)
        for (size_t i = 0; !is_turning(f, f->chosen[k]) && i < size; ++i)
            frame_motion(f, k)[i] /= f->system->length;
    return HN_OK;
}

// ---- motions of the tree ------------------------------------------------------------------------------------

static void tree_column(const motion_frame *f, int column, double *twists, double *velocity)
{
    const hn_system *system = f->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        double u[JOINT_DOF_MAX] = {0.0}, *twist = twists + TWIST_SIZE * (size_t)i;
        joint_step step = {0};
        motion m;
        int place = column - system->dof_offset[i];
        if (place >= 0 && place < j->dof) u[place] = 1.0;
        joint_type_of(j->kind)->begin(j, system_pose(f->q, j->parent), system_pose(f->q, i), &step);
        joint_type_of(j->kind)->motion(j, &step, system_pose(f->q, j->parent), system_pose(f->q, i),
                                       &m);
        motion_apply(&m, j->parent < 0 ? NULL : twists + TWIST_SIZE * (size_t)j->parent, u, twist);
        double *v = velocity + POSE_SIZE * (size_t)i;
        twist_to_velocity(system_pose(f->q, i), twist, v);
        if (!system->bodies[i].has_directors) memset(v + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
}

// (I1): W and its rows
static hn_status fill_rows(const motion_frame *f, frame_choice *c, double *twists)
{
    const hn_system *system = f->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    for (int w = 0; w < c->width; ++w) {
        if (context_is_cancelled(f->context)) return HN_CANCELLED;
        double *velocity = c->motion + (size_t)w * size;
        tree_column(f, w, twists, velocity);
        for (int k = 0; k < f->candidate_count + f->driven_count; ++k) {
            double unit = is_turning(f, k) ? 1.0 : 1.0 / system->length;
            double rate = unit * frame_rate(f, k, f->q, velocity);
            c->size[k] = hypot(c->size[k], rate);
            row_of(c, k)[w] = rate;
        }
        if (system->cut_count == 0) continue;
        mass_apply(system, 1.0, velocity, twists);
        saddle_solve_motion(f->rows, twists, NULL, 0, velocity, NULL);
        for (int k = 0; k < f->candidate_count + f->driven_count; ++k)
            row_of(c, k)[w] =
                (is_turning(f, k) ? 1.0 : 1.0 / system->length) * frame_rate(f, k, f->q, velocity);
    }
    for (int k = 0; k < f->candidate_count; ++k)
        c->left[k] = sqrt(array_dot(row_of(c, k), row_of(c, k), (size_t)c->width));
    return HN_OK;
}

// ---- begin and end --------------------------------------------------------------------------------------------

static void list_candidates(motion_frame *f, frame_axes axes, const int *carriers)
{
    const hn_system *system = f->system;
    int count = 0;
    for (int k = 0; k < system->joint_count; ++k)
        for (int i = 0; i < simulation_joint_coordinate_count(system, k); ++i)
            f->candidates[count++] =
                (frame_coordinate){k, i, -1, -1, GROUND, axes_stage_of_joint(system, axes, k, i)};
    f->joint_count = count;
    for (int b = 0; b < system->body_count; ++b) {
        int body = system->tree_place[b];
        for (int i = 0; i < (system->bodies[body].has_directors ? 6 : 3); ++i)
            f->candidates[count++] = (frame_coordinate){
                -1, i, body, -1, carriers == NULL ? GROUND : carriers[body], FRAME_STAGE_BODIES};
    }
    f->candidate_count = count;
    for (int k = 0; k < system->joint_count; ++k) axes_prefer_body(f, axes, k);
}

// Relations that hold, behind the candidates, and behind them the turns of rotation paths
static void list_relations(motion_frame *f)
{
    for (int d = 0; d < f->driven_count; ++d) {
        int first = f->holds[d].first;
        const element *e = &f->system->elements[first];
        if (e->rotation)
            f->candidates[f->candidate_count + f->driven_count + f->path_count++] =
                (frame_coordinate){e->joint, e->law->coordinate, -1, first, GROUND, 0};
        f->candidates[f->candidate_count + d] = (frame_coordinate){-1, d, -1, -1, GROUND, 0};
        f->chosen[d] = f->candidate_count + d;
        for (int k = 0; k < f->holds[d].term_count; ++k)
            f->terms[HN_COUPLING_TERMS_MAX * d + k] =
                frame_element_candidate(f, f->holds[d].first + k);
    }
}

// What holds at the state: motions, couplings, latches that have locked, stops in contact, and the friction that the
// caller says: how long it does depends on what is asked of it.
static int list_holds(hn_simulation *s, const bool *sticks)
{
    drive_modes_begin(s, s->angles);
    for (int i = 0; i < s->hold_count; ++i) {
        hold *h = &s->holds[i];
        if (is_friction(s->system, h))
            h->held = sticks != NULL && sticks[h->first - s->system->drive_first];
    }
    return holds_list(s, false);
}

// Friction last: it is what gives way to the others.
static void copy_holds(const hn_simulation *s, motion_frame *f)
{
    int count = 0;
    for (int last = 0; last < 2; ++last)
        for (int d = 0; d < f->driven_count; ++d) {
            const hold *h = &s->holds[s->held_list[d]];
            if (is_friction(s->system, h) == (last == 1)) f->holds[count++] = *h;
        }
}

static void layout(motion_frame *f, arena *a, int candidates, int count, int driven)
{
    f->holds = arena_bytes(a, (size_t)driven * sizeof(hold));
    f->candidates = arena_bytes(a, (size_t)(candidates + 2 * driven) * sizeof(frame_coordinate));
    f->chosen = arena_ints(a, (size_t)count + 1);
    f->carriers = arena_ints(a, (size_t)f->system->body_count + 1);
    f->terms = arena_ints(a, HN_COUPLING_TERMS_MAX * (size_t)driven + 1);
    f->motions = arena_doubles(a, (size_t)count * POSE_SIZE * (size_t)f->system->body_count + 1);
}

static hn_status find_choice(motion_frame *f, const frame_wish *wish)
{
    const hn_system *system = f->system;
    frame_choice c = {.width = system->dof};
    size_t size = POSE_SIZE * (size_t)system->body_count, n = (size_t)c.width,
           candidates = (size_t)(f->candidate_count + f->driven_count), count = (size_t)f->count;
    // piece by piece: pages of a large one take a while
    pool memory = {.context = f->context};
    c.motion = pool_doubles(&memory, n * size);
    if (!context_is_cancelled(f->context)) c.rows = pool_doubles(&memory, candidates * n);
    c.left = pool_doubles(&memory, candidates);
    c.size = pool_doubles(&memory, candidates);
    c.basis = pool_doubles(&memory, count * n);
    c.lower = pool_doubles(&memory, count * count);
    double *rest = pool_doubles(&memory, n + 1), *scratch = pool_doubles(&memory, size + 1);
    hn_status status = pool_status(&memory);
    if (status == HN_OK && context_is_cancelled(f->context)) status = HN_CANCELLED;
    if (status == HN_OK) status = fill_rows(f, &c, scratch);
    if (status == HN_OK) status = choose(f, wish, &c, rest);
    if (status == HN_OK) status = find_motions(f, &c);
    pool_release(&memory);
    return status;
}

hn_status motion_frame_begin(hn_simulation *s, const double *q, const bool *sticks,
                             const frame_wish *wish, motion_frame *f)
{
    const frame_wish none = {0};
    const hn_system *system = s->system;
    saddle_choice choice;
    *f = (motion_frame){.context = s->context, .system = system, .q = q, .tied_hold = -1};
    series_extent extent;
    observation_measure(system, &extent);
    int candidates = (int)extent.coordinate_count + TWIST_SIZE * system->body_count;
    TRY(saddle_create(s->system, SADDLE_COORDINATES, &f->rows));
    TRY(saddle_choose_rows(f->rows, q, &choice));
    hn_status status = saddle_factor_mass(f->rows, q);
    if (context_is_cancelled(s->context)) return HN_CANCELLED;
    if (status == HN_SINGULAR_SYSTEM)
        return context_fail(s->context, status, "masses and joints leave a motion without inertia");
    TRY(status);
    f->count = system->coordinate_count - system->constraint_count + choice.dropped_count;
    f->driven_count = list_holds(s, sticks);
    if (f->driven_count > f->count) f->count = f->driven_count; // one of them is refused below
    for (int pass = 0; pass < 2; ++pass) {
        arena a = {.block = f->memory};
        layout(f, &a, candidates, f->count, f->driven_count);
        if (pass == 0 && (f->memory = context_allocate(s->context, a.used)) == NULL)
            return HN_OUT_OF_MEMORY;
    }
    copy_holds(s, f);
    if (wish == NULL) wish = &none;
    f->axes = wish->axes;
    axes_find_carriers(s->system, wish->axes, f->carriers);
    list_candidates(f, wish->axes, f->carriers);
    list_relations(f);
    return find_choice(f, wish);
}

hn_status motion_frame_list(hn_simulation *s, const double *q, motion_frame *f)
{
    *f = (motion_frame){.context = s->context, .system = s->system, .q = q};
    series_extent extent;
    observation_measure(s->system, &extent);
    size_t candidates = extent.coordinate_count + TWIST_SIZE * (size_t)s->system->body_count;
    f->memory = context_allocate(s->context, (candidates + 1) * sizeof(frame_coordinate));
    if (f->memory == NULL) return HN_OUT_OF_MEMORY;
    f->candidates = f->memory;
    list_candidates(f, FRAME_AXES_WORLD, NULL);
    return HN_OK;
}

void motion_frame_end(motion_frame *f)
{
    saddle_destroy(f->rows);
    context_release(f->context, f->memory);
    f->rows = NULL;
    f->memory = NULL;
}
