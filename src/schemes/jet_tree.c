// SPDX-License-Identifier: MIT
// The jet space of a tree, along its joints.
#include "schemes/jet_tree.h"

#include "linalg/small_lu.h"
#include "reductions/tree_mass.h"
#include "schemes/euler_parameters.h"

#include <string.h>

enum { LANDING_ITERATIONS_MAX = 25 };

// At the current position: from the centres of mass of both bodies to the joint point of a pivot.
typedef struct jet_arms {
    hn_vec3 of_parent, of_child;
} jet_arms;

struct jet_tree {
    tree_mass *mass;
    int *joint_of;      // per body: its rows to the parent, or -1: it is free
    jet_arms *arms;     // per body
    double *particular; // 6 per body: twists of d_0
    double *wrenches;   // 6 per body
    double *rest;       // w_count
    bool armed;         // the arms belong to the current position
    bool factored;      // and the factors
    void *memory;
};

bool jet_tree_fits(const jet_space *jet)
{
    for (int i = 0; i < jet->body_count; ++i)
        if (jet->bodies[i].kind != JET_RIGID && jet->bodies[i].kind != JET_POINT) return false;
    return !jet->planar && tree_mass_fits(jet->system);
}

static void layout(arena *a, const jet_space *jet, jet_tree *tree)
{
    size_t n = (size_t)jet->body_count;
    tree->joint_of = arena_ints(a, n);
    tree->arms = arena_bytes(a, n * sizeof(jet_arms));
    tree->particular = arena_doubles(a, TWIST_SIZE * n);
    tree->wrenches = arena_doubles(a, TWIST_SIZE * n);
    tree->rest = arena_doubles(a, (size_t)jet->w_count);
}

void jet_tree_destroy(jet_tree *tree)
{
    if (tree == NULL) return;
    hn_context *context = tree->mass == NULL ? NULL : tree->mass->system->context;
    if (context == NULL) return;
    context_release(context, tree->memory);
    tree_mass_destroy(tree->mass);
    context_release(context, tree);
}

hn_status jet_tree_create(jet_space *jet)
{
    hn_context *context = jet->system->context;
    tree_mass *mass = NULL;
    TRY(tree_mass_create(jet->system, &mass));
    jet_tree *tree = context_allocate(context, sizeof *tree);
    arena a = {0};
    if (tree != NULL) {
        layout(&a, jet, tree);
        tree->memory = context_allocate(context, a.used + 1);
    }
    if (tree == NULL || tree->memory == NULL) {
        tree_mass_destroy(mass);
        context_release(context, tree);
        return HN_OUT_OF_MEMORY;
    }
    a = (arena){.block = tree->memory};
    layout(&a, jet, tree);
    tree->mass = mass;
    for (int i = 0; i < jet->body_count; ++i) tree->joint_of[i] = -1;
    for (int k = 0; k < jet->joint_count; ++k)
        tree->joint_of[jet->system->reports[jet->joints[k].source].tree_body] = k;
    jet->tree = tree;
    return HN_OK;
}

void jet_tree_forget(jet_space *jet)
{
    jet->tree->armed = jet->tree->factored = false;
}

static inline const tree_body *tree_body_of(const jet_space *jet, int body)
{
    return &jet->tree->mass->tree.bodies[body];
}

// of the parent's centre of mass and of the child's to the joint point
static inline jet_arms arms_at(const jet_space *jet, int body)
{
    const joint *j = &jet->system->joints[body];
    return (jet_arms){pose_direction(system_pose(jet->pose, j->parent), joint_parent_arm(j)),
                      pose_direction(jet->pose + POSE_SIZE * (size_t)body, joint_child_arm(j))};
}

static void find_arms(jet_space *jet)
{
    for (int i = 0; i < jet->body_count && !jet->tree->armed; ++i)
        if (tree_body_of(jet, i)->pivot != PIVOT_NONE) jet->tree->arms[i] = arms_at(jet, i);
    jet->tree->armed = true;
}

// ---- one joint's rows on its child alone ---------------------------------------------------------------

// Rows of the joint above a body, on that body and on its parent.
typedef struct own_rows {
    int count, first;
    const double (*child)[JET_VELOCITIES], (*parent)[JET_VELOCITIES];
    const jet_body *body, *above; // above: NULL at the ground
    double matrix[JET_ROWS * JET_ROWS];
    int exchange[JET_ROWS];
} own_rows;

// B_c W B_c^T, factored. The rows have been evaluated. False: they depend on each other.
static bool factor_own_rows(const jet_space *jet, int body, own_rows *rows)
{
    int k = jet->tree->joint_of[body];
    const jet_joint *j = &jet->joints[k];
    int side = j->b == body ? 1 : 0, parent = side == 1 ? j->a : j->b;
    rows->count = j->row_count, rows->first = j->first;
    rows->child = (const double(*)[JET_VELOCITIES])jet->block[k][side];
    rows->parent = (const double(*)[JET_VELOCITIES])jet->block[k][1 - side];
    rows->body = &jet->bodies[body];
    rows->above = parent < 0 ? NULL : &jet->bodies[parent];
    for (int r = 0; r < rows->count; ++r)
        for (int s = 0; s < rows->count; ++s) {
            double sum = 0.0;
            for (int m = 0; m < rows->body->w_count; ++m)
                sum += rows->child[r][m] * rows->body->weight[m] * rows->child[s][m];
            rows->matrix[rows->count * r + s] = sum;
        }
    return small_lu_factor(rows->count, rows->count, rows->matrix, rows->exchange);
}

// c = -W B_c^T (B_c W B_c^T)^-1 x for the right side x, which is lost
static void answer_of_own_rows(const own_rows *rows, double *x, double *c)
{
    small_lu_solve(rows->count, rows->count, rows->matrix, rows->exchange, 1, 1, x);
    for (int m = 0; m < rows->body->w_count; ++m) {
        double sum = 0.0;
        for (int r = 0; r < rows->count; ++r) sum += rows->child[r][m] * x[r];
        c[m] = -rows->body->weight[m] * sum;
    }
}

// x += B_p w_p, with the velocities of the parent alone
static void add_parent_rows(const own_rows *rows, const double *above, double *x)
{
    for (int r = 0; r < rows->count; ++r)
        for (int m = 0; m < rows->above->w_count; ++m) x[r] += rows->parent[r][m] * above[m];
}

// ---- positions (P12) -----------------------------------------------------------------------------------

// The child of a pivot: theta as a has it, or turned by the shortest way to where its axis is that of the parent. False
// when it is turned round, or not a number.
static inline bool land_turn(const jet_space *jet, const tree_body *b, const joint *j,
                             const double *a, double *y)
{
    double s = a[0];
    hn_vec3 x = vec3_load(a + 1);
    if (b->pivot == PIVOT_AXIS) {
        // |theta|^2 R b_3 and the rotation (1 + cos, sin) to a_3, of any length
        double squares = vec3_dot(x, x), size = s * s + squares;
        hn_vec3 own = vec3_scale(s * s - squares, b->axis);
        own = vec3_add_scaled(own, 2.0 * vec3_dot(x, b->axis), x);
        own = vec3_add_scaled(own, 2.0 * s, vec3_cross(x, b->axis));
        hn_vec3 n = pose_direction(system_pose(jet->pose, b->parent), joint_parent_frame(j)[2]);
        hn_vec3 turn = vec3_cross(own, n);
        double t = size + vec3_dot(own, n);
        if (!(t > 0.0)) return false;
        hn_vec3 product = vec3_add(vec3_scale(t, x), vec3_add_scaled(vec3_cross(turn, x), s, turn));
        s = t * s - vec3_dot(turn, x);
        x = product;
    }
    double factor = 1.0 / sqrt(s * s + vec3_dot(x, x));
    y[0] = factor * s;
    vec3_store(vec3_scale(factor, x), y + 1);
    return isfinite(factor);
}

// Any other child: the nearest place in lengths of the body, with its own rows alone
static bool land_general(jet_space *jet, int body, double tolerance, double *y, int *iterations)
{
    const jet_body *b = &jet->bodies[body];
    double *pose = jet->pose + POSE_SIZE * (size_t)body;
    int k = jet->tree->joint_of[body];
    for (int count = 0;; ++count) {
        if (b->kind == JET_RIGID) {
            euler_normalise(y + b->y + 3);
            euler_directors(y + b->y + 3, pose + 3);
        }
        memcpy(pose, y + b->y, 3 * sizeof(double));
        if (k < 0) return isfinite(y[b->y] + y[b->y + 1] + y[b->y + 2] + pose[3]);
        double residual = jet_evaluate_joint(jet, k), x[JET_ROWS], c[JET_VELOCITIES];
        if (count > *iterations) *iterations = count;
        if (residual <= tolerance) return true;
        own_rows rows;
        if (count >= LANDING_ITERATIONS_MAX || !isfinite(residual) ||
            !factor_own_rows(jet, body, &rows))
            return false;
        memcpy(x, jet->g + rows.first, (size_t)rows.count * sizeof(double));
        answer_of_own_rows(&rows, x, c);
        for (int m = 0; m < 3; ++m) y[b->y + m] += c[m];
        if (b->kind != JET_RIGID) continue;
        double turn[4];
        euler_apply_transposed(y + b->y + 3, vec3_load(c + 3), turn);
        for (int m = 0; m < 4; ++m) y[b->y + 3 + m] += turn[m];
    }
}

bool jet_tree_land_position(jet_space *jet, const double *a, double tolerance, double *y,
                            int *iterations)
{
    jet_tree *tree = jet->tree;
    tree->factored = false;
    tree->armed = true;
    *iterations = 0;
    for (int i = 0; i < jet->body_count; ++i) {
        const tree_body *b = tree_body_of(jet, i);
        const joint *j = &jet->system->joints[i];
        int at = jet->bodies[i].y;
        double *pose = jet->pose + POSE_SIZE * (size_t)i;
        if (b->pivot == PIVOT_NONE) {
            memmove(y + at, a + at, (size_t)jet->bodies[i].y_count * sizeof(double));
            if (!land_general(jet, i, tolerance, y, iterations)) return false;
            continue;
        }
        if (!land_turn(jet, b, j, a + at + 3, y + at + 3)) return false;
        euler_directors(y + at + 3, pose + 3);
        jet_arms arms = tree->arms[i] = arms_at(jet, i);
        hn_vec3 place = vec3_add(pose_center(system_pose(jet->pose, b->parent)), arms.of_parent);
        place = vec3_subtract(place, arms.of_child);
        vec3_store(place, y + at);
        vec3_store(place, pose);
    }
    return true;
}

// ---- velocities (P12) ----------------------------------------------------------------------------------

static const double AT_REST[TWIST_SIZE] = {0.0};

static inline const double *twist_above(const double *twists, int parent)
{
    return parent < 0 ? AT_REST : twists + TWIST_SIZE * (size_t)parent;
}

// w of a body from a twist in the world
static inline void velocities_of(const jet_body *b, const double *pose, const double *twist,
                                 double *w)
{
    memcpy(w, twist, 3 * sizeof(double));
    if (b->kind == JET_RIGID)
        vec3_store(vec3_scale(0.5, pose_components(pose, vec3_load(twist + 3))), w + 3);
}

static void land_general_velocity(jet_space *jet, int body, double *w)
{
    const jet_body *b = &jet->bodies[body];
    own_rows rows;
    double x[JET_ROWS] = {0.0}, c[JET_VELOCITIES];
    if (jet->tree->joint_of[body] >= 0) {
        jet_evaluate_joint(jet, jet->tree->joint_of[body]);
        if (factor_own_rows(jet, body, &rows)) { // it was so at the position
            if (rows.above != NULL) add_parent_rows(&rows, w + rows.above->w, x);
            for (int r = 0; r < rows.count; ++r)
                for (int m = 0; m < b->w_count; ++m) x[r] += rows.child[r][m] * w[b->w + m];
            answer_of_own_rows(&rows, x, c);
            for (int m = 0; m < b->w_count; ++m) w[b->w + m] += c[m];
        }
    }
    jet_twist_of(b, jet->pose + POSE_SIZE * (size_t)body, w + b->w,
                 jet->twist + TWIST_SIZE * (size_t)body);
}

void jet_tree_land_velocity(jet_space *jet, double *w)
{
    find_arms(jet);
    for (int i = 0; i < jet->body_count; ++i) {
        const tree_body *b = tree_body_of(jet, i);
        if (b->pivot == PIVOT_NONE) {
            land_general_velocity(jet, i, w);
            continue;
        }
        double *own = w + jet->bodies[i].w, *twist = jet->twist + TWIST_SIZE * (size_t)i;
        const double *pose = jet->pose + POSE_SIZE * (size_t)i,
                     *above = twist_above(jet->twist, b->parent);
        const jet_arms *arms = &jet->tree->arms[i];
        hn_vec3 omega, turn = vec3_load(above + 3), half = vec3_load(own + 3);
        if (b->pivot == PIVOT_AXIS) {
            hn_vec3 n = pose_direction(pose, b->axis);
            omega = vec3_add_scaled(turn, 2.0 * vec3_dot(b->axis, half) - vec3_dot(n, turn), n);
        } else {
            omega = pose_direction(pose, vec3_scale(2.0, half));
        }
        hn_vec3 v = vec3_add(vec3_load(above), vec3_cross(turn, arms->of_parent));
        v = vec3_subtract(v, vec3_cross(omega, arms->of_child));
        vec3_store(v, twist), vec3_store(omega, twist + 3);
        vec3_store(v, own);
        if (b->pivot == PIVOT_AXIS)
            vec3_store(vec3_scale(0.5, pose_components(pose, omega)), own + 3);
    }
}

// ---- second derivatives (P13) --------------------------------------------------------------------------

// tau of a child whose joint is no pivot: the smallest that its rows allow
static bool particular_general(jet_space *jet, int body, const double *shift)
{
    const jet_body *b = &jet->bodies[body];
    double *tau = jet->tree->particular + TWIST_SIZE * (size_t)body, x[JET_ROWS],
           c[JET_VELOCITIES] = {0.0}, own[JET_VELOCITIES];
    int k = jet->tree->joint_of[body];
    if (k >= 0) {
        own_rows rows;
        jet_evaluate_joint(jet, k);
        if (!factor_own_rows(jet, body, &rows)) return false;
        if (shift != NULL) jet_joint_rate_change(jet, k, shift, x);
        else jet_joint_bias(jet, k, x);
        if (rows.above != NULL) {
            int parent = (int)(rows.above - jet->bodies);
            velocities_of(rows.above, jet->pose + POSE_SIZE * (size_t)parent,
                          jet->tree->particular + TWIST_SIZE * (size_t)parent, own);
            add_parent_rows(&rows, own, x);
        }
        answer_of_own_rows(&rows, x, c);
    }
    jet_twist_of(b, jet->pose + POSE_SIZE * (size_t)body, c, tau);
    return true;
}

// Changes tau of all twists, beyond what bodies turn them by, with which joint rates stay when the bodies move by
// `shift` (w_count; NULL: by their velocities, and tau are accelerations): d_0.
static inline bool find_particular(jet_space *jet, const double *shift)
{
    jet_tree *tree = jet->tree;
    find_arms(jet);
    for (int i = 0; i < jet->body_count; ++i) {
        const tree_body *b = tree_body_of(jet, i);
        if (b->pivot == PIVOT_NONE) {
            if (!particular_general(jet, i, shift)) return false;
            continue;
        }
        const double *above = twist_above(jet->twist, b->parent),
                     *before = twist_above(tree->particular, b->parent);
        const jet_arms *arms = &tree->arms[i];
        double *tau = tree->particular + TWIST_SIZE * (size_t)i;
        hn_vec3 omega = vec3_load(jet->twist + TWIST_SIZE * (size_t)i + 3);
        hn_vec3 omega_p = vec3_load(above + 3), sigma = omega, sigma_p = omega_p;
        hn_vec3 change_p = vec3_load(before + 3), change = vec3(0.0, 0.0, 0.0), turned = change;
        if (shift != NULL) {
            double moved[TWIST_SIZE];
            jet_twist_of(&jet->bodies[i], jet->pose + POSE_SIZE * (size_t)i,
                         shift + jet->bodies[i].w, moved);
            sigma = vec3_load(moved + 3);
            sigma_p = change;
            if (b->parent >= 0) {
                jet_twist_of(&jet->bodies[b->parent], jet->pose + POSE_SIZE * (size_t)b->parent,
                             shift + jet->bodies[b->parent].w, moved);
                sigma_p = vec3_load(moved + 3);
            }
            change_p = vec3_add(change_p, vec3_cross(sigma_p, omega_p));
            turned = vec3_cross(sigma, omega);
        }
        if (b->pivot == PIVOT_AXIS) // n is fixed in the child
            change = vec3_add(change_p, vec3_cross(sigma, vec3_subtract(omega, omega_p)));
        else change = turned;
        hn_vec3 v = vec3_add(vec3_load(before), vec3_cross(change_p, arms->of_parent));
        v = vec3_add(v, vec3_cross(omega_p, vec3_cross(sigma_p, arms->of_parent)));
        v = vec3_subtract(v, vec3_cross(change, arms->of_child));
        v = vec3_subtract(v, vec3_cross(omega, vec3_cross(sigma, arms->of_child)));
        vec3_store(v, tau);
        vec3_store(vec3_subtract(change, turned), tau + 3);
    }
    return true;
}

// d (or c) = tau + t with the twists of the last solution
static void take_solution(jet_space *jet, bool with_particular, double *d)
{
    const double *solution = jet->tree->mass->tree.twists;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        size_t at = TWIST_SIZE * (size_t)i;
        double sum[TWIST_SIZE];
        for (int k = 0; k < TWIST_SIZE; ++k)
            sum[k] = solution[at + (size_t)k] +
                     (with_particular ? jet->tree->particular[at + (size_t)k] : 0.0);
        velocities_of(b, jet->pose + POSE_SIZE * (size_t)i, sum, d + b->w);
    }
}

bool jet_tree_distribution(jet_space *jet, const double *w)
{
    jet_tree *tree = jet->tree;
    if (!find_particular(jet, NULL)) return false;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i, *force = jet->force + b->w,
                     *tau = tree->particular + TWIST_SIZE * (size_t)i;
        double *wrench = tree->wrenches + TWIST_SIZE * (size_t)i;
        vec3_store(vec3_add_scaled(vec3_load(force), -b->mass, vec3_load(tau)), wrench);
        if (b->kind != JET_RIGID) {
            vec3_store(vec3(0.0, 0.0, 0.0), wrench + 3);
            continue;
        }
        // in the body's axes: moment - Omega x I Omega - I Omega_1
        hn_vec3 half = vec3_load(w + b->w + 3), first = pose_components(pose, vec3_load(tau + 3));
        hn_vec3 spin = vec3(b->moments.x * half.x, b->moments.y * half.y, b->moments.z * half.z);
        hn_vec3 moment =
            vec3_add_scaled(vec3_scale(0.5, vec3_load(force + 3)), -4.0, vec3_cross(half, spin));
        moment = vec3_subtract(
            moment, vec3(b->moments.x * first.x, b->moments.y * first.y, b->moments.z * first.z));
        vec3_store(pose_direction(pose, moment), wrench + 3);
    }
    const tree_place place = {.q = jet->pose, .weight = 1.0};
    tree->factored = tree_mass_factor(tree->mass, &place, tree->wrenches);
    if (tree->factored) take_solution(jet, true, jet->acceleration);
    return tree->factored;
}

bool jet_tree_make_tangent(jet_space *jet, const double *shift, double *c)
{
    jet_tree *tree = jet->tree;
    const tree_place place = {.q = jet->pose, .weight = 1.0};
    if (shift != NULL && !find_particular(jet, shift)) return false;
    if (!tree->factored) tree->factored = tree_mass_factor(tree->mass, &place, NULL);
    if (!tree->factored) return false;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        const double *pose = jet->pose + POSE_SIZE * (size_t)i;
        double rest[JET_VELOCITIES] = {0.0}, *wrench = tree->wrenches + TWIST_SIZE * (size_t)i;
        if (shift != NULL) velocities_of(b, pose, tree->particular + TWIST_SIZE * (size_t)i, rest);
        for (int m = 0; m < b->w_count; ++m) rest[m] = b->inertia[m] * (c[b->w + m] - rest[m]);
        memcpy(wrench, rest, 3 * sizeof(double));
        // E has 4 I on half the angular velocity
        vec3_store(pose_direction(pose, vec3_scale(0.5, vec3_load(rest + 3))), wrench + 3);
    }
    tree_mass_solve(tree->mass, tree->wrenches);
    take_solution(jet, shift != NULL, c);
    return true;
}

// ---- multipliers ---------------------------------------------------------------------------------------

bool jet_tree_find_multipliers(jet_space *jet, const double *w)
{
    double *rest = jet->tree->rest;
    for (int i = 0; i < jet->body_count; ++i) {
        const jet_body *b = &jet->bodies[i];
        for (int k = b->w; k < b->w + b->w_count; ++k)
            rest[k] = jet->force[k] - b->inertia[k - b->w] * jet->acceleration[k];
        if (b->kind != JET_RIGID) continue;
        hn_vec3 half = vec3_load(w + b->w + 3);
        hn_vec3 spin = vec3(b->moments.x * half.x, b->moments.y * half.y, b->moments.z * half.z);
        vec3_store(vec3_add_scaled(vec3_load(rest + b->w + 3), -8.0, vec3_cross(half, spin)),
                   rest + b->w + 3);
    }
    for (int i = jet->body_count - 1; i >= 0; --i) {
        const jet_body *b = &jet->bodies[i];
        own_rows rows;
        if (jet->tree->joint_of[i] < 0) continue;
        if (!factor_own_rows(jet, i, &rows)) return false;
        double *lambda = jet->multiplier + rows.first;
        for (int r = 0; r < rows.count; ++r) {
            lambda[r] = 0.0;
            for (int m = 0; m < b->w_count; ++m)
                lambda[r] += rows.child[r][m] * b->weight[m] * rest[b->w + m];
        }
        small_lu_solve(rows.count, rows.count, rows.matrix, rows.exchange, 1, 1, lambda);
        for (int r = 0; r < rows.count && rows.above != NULL; ++r)
            for (int m = 0; m < rows.above->w_count; ++m)
                rest[rows.above->w + m] -= rows.parent[r][m] * lambda[r];
    }
    return true;
}
