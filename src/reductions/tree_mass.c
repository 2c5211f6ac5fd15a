// SPDX-License-Identifier: MIT
// The mass matrix on the motions of a tree.
#include "reductions/tree_mass.h"

#include "base/six.h"
#include "linalg/small_lu.h"
#include "reductions/measures.h"
#include "reductions/tree_pivots.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

static void layout(arena *a, const hn_system *system, tree_mass *x)
{
    size_t n = (size_t)system->body_count;
    x->tree.pivots = x->tree.keep = x->tree.inertia_alone = true;
    tree_layout(a, system, &x->tree);
    x->steps = arena_bytes(a, n * sizeof(joint_step));
    x->loads = arena_doubles(a, TWIST_SIZE * n);
    x->given = arena_doubles(a, TWIST_SIZE * n);
    x->delta = arena_doubles(a, POSE_SIZE * n);
    x->middle = arena_doubles(a, POSE_SIZE * n);
}

bool tree_mass_fits(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i)
        if (system_body_is_rod(system, i)) return false;
    return system->cut_count == 0 && system->mass_edge_count == 0;
}

void tree_mass_destroy(tree_mass *x)
{
    if (x == NULL) return;
    context_release(x->system->context, x->memory);
    context_release(x->system->context, x);
}

hn_status tree_mass_create(const hn_system *system, tree_mass **out)
{
    *out = NULL;
    tree_mass *x = context_allocate(system->context, sizeof *x);
    if (x == NULL) return HN_OUT_OF_MEMORY;
    x->system = system;
    arena a = {0};
    layout(&a, system, x);
    x->memory = context_allocate(system->context, a.used);
    if (x->memory == NULL) {
        tree_mass_destroy(x);
        return HN_OUT_OF_MEMORY;
    }
    a = (arena){.block = x->memory};
    layout(&a, system, x);
    tree_number_edges(&x->tree);
    *out = x;
    return HN_OK;
}

static const double STILL[POSE_SIZE] = {0.0};

static inline const double *delta_of(const tree_place *place, int body)
{
    return body < 0 || place->delta == NULL ? STILL : place->delta + POSE_SIZE * (size_t)body;
}

// a vector of a pose at q_w, given the same at q
static inline hn_vec3 at_forces(const tree_place *place, hn_vec3 now, hn_vec3 change)
{
    return place->delta == NULL ? now : vec3_add_scaled(now, place->weight - 1.0, change);
}

// (T8) with alpha = 1 and no forces: M of one body about its reference point; its load
static inline void start_body(tree_mass *x, const tree_place *place, const double *wrenches,
                              int body)
{
    const tree_body *b = &x->tree.bodies[body];
    tree_node *node = &x->tree.nodes[b->node];
    const double *q = place->q + POSE_SIZE * (size_t)body, *delta = delta_of(place, body);
    const hn_vec3 none = {0.0, 0.0, 0.0};
    double mass = b->inertia[0];
    hn_vec3 d = vec3_negate(pose_direction(q, b->reference));
    hn_vec3 e = at_forces(place, d, vec3_negate(pose_direction(delta, b->reference)));
    hn_vec3 md = vec3_scale(mass, d), me = vec3_scale(mass, e);
    six load = six_of(none, none);
    if (wrenches != NULL) {
        hn_vec3 force = vec3_load(wrenches + TWIST_SIZE * (size_t)body),
                moment = vec3_load(wrenches + TWIST_SIZE * (size_t)body + 3);
        load = six_of(vec3_negate(force), vec3_negate(vec3_add(moment, vec3_cross(e, force))));
    }
    hn_vec3 k = vec3_scale(-d.x, me), l = vec3_scale(-d.y, me), m = vec3_scale(-d.z, me);
    for (int i = 3; i < POSE_SIZE && b->rigid; i += 3) {
        d = vec3_load(q + i);
        e = vec3_scale(-b->inertia[i / 3], at_forces(place, d, vec3_load(delta + i)));
        k = vec3_add_scaled(k, d.x, e), l = vec3_add_scaled(l, d.y, e),
        m = vec3_add_scaled(m, d.z, e);
    }
    six_store(load, node->load);
    six_store(six_of(none, none), node->wrench);
    tree_store_mass(mass, me, md, k, l, m, node->stiffness);
}

// The same where forces and motions belong to one pose: M is symmetric. The arm of a pivot is kept.
static inline void start_symmetric(tree_mass *x, const double *q, const double *wrenches, int body)
{
    const tree_body *b = &x->tree.bodies[body];
    tree_node *node = &x->tree.nodes[b->node];
    const double *pose = q + POSE_SIZE * (size_t)body, *e = b->inertia;
    const hn_vec3 none = {0.0, 0.0, 0.0};
    hn_vec3 arm = pose_direction(pose, b->reference), m = vec3_scale(e[0], arm);
    x->tree.arms[body] = (tree_arm){arm, arm};
    double xx = m.y * arm.y + m.z * arm.z, yy = m.x * arm.x + m.z * arm.z,
           zz = m.x * arm.x + m.y * arm.y, xy = -m.x * arm.y, xz = -m.x * arm.z, yz = -m.y * arm.z;
    if (b->rigid) {
        const double moments[3] = {e[2] + e[3], e[1] + e[3], e[1] + e[2]};
        for (int i = 0; i < 3; ++i) {
            hn_vec3 d = vec3_load(pose + 3 + 3 * i), s = vec3_scale(moments[i], d);
            xx += s.x * d.x, yy += s.y * d.y, zz += s.z * d.z;
            xy += s.x * d.y, xz += s.x * d.z, yz += s.y * d.z;
        }
    }
    six load = six_of(none, none);
    if (wrenches != NULL) {
        hn_vec3 force = vec3_load(wrenches + TWIST_SIZE * (size_t)body),
                moment = vec3_load(wrenches + TWIST_SIZE * (size_t)body + 3);
        load = six_of(vec3_negate(force), vec3_subtract(vec3_cross(arm, force), moment));
    }
    double *to = node->stiffness;
    six_store(load, node->load);
    six_store(six_of(none, none), node->wrench);
    six_store(six_of(vec3(e[0], 0.0, 0.0), vec3(0.0, -m.z, m.y)), to);
    six_store(six_of(vec3(0.0, e[0], 0.0), vec3(m.z, 0.0, -m.x)), to + 6);
    six_store(six_of(vec3(0.0, 0.0, e[0]), vec3(-m.y, m.x, 0.0)), to + 12);
    six_store(six_of(vec3(0.0, m.z, -m.y), vec3(xx, xy, xz)), to + 18);
    six_store(six_of(vec3(-m.z, 0.0, m.x), vec3(xy, yy, yz)), to + 24);
    six_store(six_of(vec3(m.y, -m.x, 0.0), vec3(xz, yz, zz)), to + 30);
}

static inline void add_row(hn_vec3 left, hn_vec3 right, double *above)
{
    six_store(six_add(six_load(above), six_of(left, right)), above);
}

// (T2) to (T4) of a hinge where S = [F, C; C^T, J] is symmetric: half of what `tree_eliminate_pivot` has to do
static inline bool eliminate_symmetric(tree_mass *x, const double *q, int body)
{
    tree_solver *tree = &x->tree;
    const tree_body *b = &tree->bodies[body];
    const tree_node *node = &tree->nodes[b->node];
    tree_factor *f = &tree->factors[body];
    tree_memory *memory = &tree->memories[body];
    const double *s = node->stiffness;
    hn_vec3 n = pose_direction(q + POSE_SIZE * (size_t)body, b->axis);
    hn_vec3 c0 = vec3_load(s + 3), c1 = vec3_load(s + 9), c2 = vec3_load(s + 15);
    hn_vec3 j0 = vec3_load(s + 21), j1 = vec3_load(s + 27), j2 = vec3_load(s + 33);
    hn_vec3 on_v = vec3(vec3_dot(c0, n), vec3_dot(c1, n), vec3_dot(c2, n));
    hn_vec3 on_omega = vec3(vec3_dot(j0, n), vec3_dot(j1, n), vec3_dot(j2, n));
    double h = vec3_dot(n, on_omega);
    if (tree->own != NULL) h += tree->own[JOINT_DOF_MAX * (size_t)b->dof_offset];
    if (h == 0.0 || !isfinite(h)) return false;
    double inverse = 1.0 / h, step = -inverse * vec3_dot(n, vec3_load(node->load + 3));
    hn_vec3 v = vec3_scale(inverse, on_v), omega = vec3_scale(inverse, on_omega);
    f->on_v = v, f->on_omega = omega, f->axis = n, f->step[0] = step;
    memory->axis = n, memory->axis_inverse = inverse;
    vec3_store(on_v, memory->axis_lift);
    vec3_store(on_omega, memory->axis_lift + 3);
    if (b->parent < 0) return true;
    tree_node *above = &tree->nodes[tree->bodies[b->parent].node];
    hn_vec3 c = pose_direction(q + POSE_SIZE * (size_t)b->parent, b->lever);
    f->lever = memory->lever = c;

    // S - S b L
    hn_vec3 f0 = vec3_add_scaled(vec3_load(s), -on_v.x, v),
            f1 = vec3_add_scaled(vec3_load(s + 6), -on_v.y, v),
            f2 = vec3_add_scaled(vec3_load(s + 12), -on_v.z, v);
    c0 = vec3_add_scaled(c0, -on_v.x, omega), c1 = vec3_add_scaled(c1, -on_v.y, omega),
    c2 = vec3_add_scaled(c2, -on_v.z, omega);
    j0 = vec3_add_scaled(j0, -on_omega.x, omega), j1 = vec3_add_scaled(j1, -on_omega.y, omega),
    j2 = vec3_add_scaled(j2, -on_omega.z, omega);
    // carried to the parent: C + c x F by rows, J + c x C^T by rows + c x (C + c x F) by columns
    hn_vec3 k0 = vec3_cross(c, vec3(c0.x, c1.x, c2.x)), k1 = vec3_cross(c, vec3(c0.y, c1.y, c2.y)),
            k2 = vec3_cross(c, vec3(c0.z, c1.z, c2.z));
    c0 = vec3_add(c0, vec3_cross(c, f0)), c1 = vec3_add(c1, vec3_cross(c, f1)),
    c2 = vec3_add(c2, vec3_cross(c, f2));
    double xx = j0.x + k0.x + c.y * c2.x - c.z * c1.x, xy = j0.y + k0.y + c.y * c2.y - c.z * c1.y,
           xz = j0.z + k0.z + c.y * c2.z - c.z * c1.z, yy = j1.y + k1.y + c.z * c0.y - c.x * c2.y,
           yz = j1.z + k1.z + c.z * c0.z - c.x * c2.z, zz = j2.z + k2.z + c.x * c1.z - c.y * c0.z;
    double *to = above->stiffness;
    add_row(f0, c0, to), add_row(f1, c1, to + 6), add_row(f2, c2, to + 12);
    add_row(vec3(c0.x, c1.x, c2.x), vec3(xx, xy, xz), to + 18);
    add_row(vec3(c0.y, c1.y, c2.y), vec3(xy, yy, yz), to + 24);
    add_row(vec3(c0.z, c1.z, c2.z), vec3(xz, yz, zz), to + 30);
    hn_vec3 force = vec3_add_scaled(vec3_load(node->load), step, on_v),
            moment = vec3_add_scaled(vec3_load(node->load + 3), step, on_omega);
    add_row(force, vec3_add(moment, vec3_cross(c, force)), above->load);
    return true;
}

static void pose_at_forces(const tree_place *place, int body, double *pose)
{
    const double *q = system_pose(place->q, body), *delta = delta_of(place, body);
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = q[k] + (place->weight - 1.0) * delta[k];
}

// elimination of a body whose joint is no pivot
static bool eliminate_general(tree_mass *x, const tree_place *place, int body)
{
    const joint *j = &x->system->joints[body];
    double parent[POSE_SIZE], child[POSE_SIZE], residual[JOINT_DOF_MAX];
    const double *q = place->q + POSE_SIZE * (size_t)body,
                 *above = system_pose(place->q, j->parent);
    pose_at_forces(place, j->parent, parent);
    pose_at_forces(place, body, child);
    joint_type_of(j->kind)->begin(j, above, q, &x->steps[body]);
    const tree_joint_state state = {.parent_now = above,
                                    .child_now = q,
                                    .parent_projected = parent,
                                    .child_projected = child,
                                    .weight = 0.0};
    tree_residual(&x->tree, body, &x->steps[body], &state, residual); // zero: the wrench is
    return tree_eliminate(&x->tree, body, &x->steps[body], &state, residual);
}

bool tree_mass_factor(tree_mass *x, const tree_place *place, const double *wrenches)
{
    tree_solver *tree = &x->tree;
    const bool symmetric = place->delta == NULL;
    for (int i = x->system->body_count - 1; i >= 0; --i) {
        const tree_body *b = &tree->bodies[i];
        double residual[3];
        // a parent starts right before something is added to it
        if (symmetric) {
            if (b->leaf) start_symmetric(x, place->q, wrenches, i);
            if (b->first) start_symmetric(x, place->q, wrenches, b->parent);
        } else {
            if (b->leaf) start_body(x, place, wrenches, i);
            if (b->first) start_body(x, place, wrenches, b->parent);
        }
        if (symmetric && b->pivot == PIVOT_AXIS) {
            if (!eliminate_symmetric(x, place->q, i)) return false;
            continue;
        }
        if (b->pivot == PIVOT_NONE) {
            if (!eliminate_general(x, place, i)) return false;
            continue;
        }
        const tree_pivot_state state = {.parent_now = system_pose(place->q, b->parent),
                                        .parent_delta = delta_of(place, b->parent),
                                        .child_now = place->q + POSE_SIZE * (size_t)i,
                                        .child_delta = delta_of(place, i),
                                        .weight = place->weight};
        if (!tree_eliminate_pivot(tree, i, &state, residual)) return false;
    }
    if (wrenches != NULL) tree_substitute(tree);
    return true;
}

void tree_mass_solve(tree_mass *x, const double *wrenches)
{
    for (int k = 0; k < TWIST_SIZE * x->system->body_count; ++k) x->loads[k] = -wrenches[k];
    tree_solve(&x->tree, NULL, x->loads);
}

int tree_mass_freedoms(tree_mass *x, const double *q, int body,
                       double freedoms[JOINT_DOF_MAX][TWIST_SIZE])
{
    const tree_body *b = &x->tree.bodies[body];
    const joint *j = &x->system->joints[body];
    const double *pose = q + POSE_SIZE * (size_t)body;
    motion m;
    if (b->pivot == PIVOT_AXIS) {
        hn_vec3 n = pose_direction(pose, b->axis);
        vec3_store(vec3_cross(pose_direction(pose, b->reference), n), freedoms[0]);
        vec3_store(n, freedoms[0] + 3);
        return 1;
    }
    joint_type_of(j->kind)->begin(j, system_pose(q, j->parent), pose, &x->steps[body]);
    tree_motion(x->system, x->steps, q, body, &m);
    for (int k = 0; k < m.dof; ++k) {
        vec3_store(m.linear[k], freedoms[k]);
        vec3_store(m.angular[k], freedoms[k] + 3);
    }
    return m.dof;
}

// The same for a body whose joint is no pivot
static void make_general_tangent(tree_mass *x, const double *q, int body, double *twists)
{
    const joint *j = &x->system->joints[body];
    const double *above = j->parent < 0 ? NULL : twists + TWIST_SIZE * (size_t)j->parent;
    double *t = twists + TWIST_SIZE * (size_t)body, u[JOINT_DOF_MAX];
    motion m;
    joint_type_of(j->kind)->begin(j, system_pose(q, j->parent), system_pose(q, body),
                                  &x->steps[body]);
    tree_motion(x->system, x->steps, q, body, &m);
    motion_rates(&m, above, t, u);
    motion_apply(&m, above, u, t);
    if (!x->tree.bodies[body].rigid) vec3_store(vec3(0.0, 0.0, 0.0), t + 3);
}

// Twists of the centres of mass (6 per body) at q made such as the joints allow, root to leaves: each body's rates at
// its joint stay, as far as it has any.
static void make_tangent(tree_mass *x, const double *q, double *twists)
{
    for (int i = 0; i < x->system->body_count; ++i) {
        const tree_body *b = &x->tree.bodies[i];
        const joint *j = &x->system->joints[i];
        double *t = twists + TWIST_SIZE * (size_t)i;
        if (b->pivot == PIVOT_NONE) {
            make_general_tangent(x, q, i, twists);
            continue;
        }
        const double *pose = q + POSE_SIZE * (size_t)i;
        hn_vec3 omega = vec3_load(t + 3), above = {0.0, 0.0, 0.0}, v = above;
        if (b->parent >= 0) {
            const double *p = twists + TWIST_SIZE * (size_t)b->parent;
            above = vec3_load(p + 3);
            v = vec3_add(vec3_load(p), vec3_cross(above, pose_direction(system_pose(q, b->parent),
                                                                        joint_parent_arm(j))));
        }
        if (b->pivot == PIVOT_AXIS) {
            hn_vec3 n = pose_direction(pose, b->axis);
            omega = vec3_add_scaled(above, vec3_dot(n, vec3_subtract(omega, above)), n);
        }
        vec3_store(vec3_subtract(v, vec3_cross(omega, pose_direction(pose, b->reference))), t);
        vec3_store(omega, t + 3);
    }
}

// What momenta p have beside those of twists at q, as wrenches at poses where forces belong, into x->loads
static void find_rest(tree_mass *x, const double *q, const double *poses, const double *p,
                      const double *twists)
{
    for (int i = 0; i < x->system->body_count; ++i) {
        const double *inertia = x->tree.bodies[i].inertia;
        size_t at = POSE_SIZE * (size_t)i;
        double rest[POSE_SIZE], *wrench = x->loads + TWIST_SIZE * (size_t)i;
        twist_to_velocity(q + at, twists + TWIST_SIZE * (size_t)i, rest);
        for (size_t k = 0; k < POSE_SIZE; ++k) rest[k] = p[at + k] - inertia[k / 3] * rest[k];
        force_to_wrench(poses + at, rest, wrench);
        if (!x->tree.bodies[i].rigid) vec3_store(vec3(0.0, 0.0, 0.0), wrench + 3);
    }
}

// twists += the last solution; point masses do not turn. Returns the largest change of a body's velocity, m/s, with
// that of its turning at its size; `speed` becomes the same of the sums.
static double add_solution(const tree_mass *x, double *twists, double *speed)
{
    double largest = 0.0;
    *speed = 0.0;
    for (int i = 0; i < x->system->body_count; ++i) {
        const double *change = x->tree.twists + TWIST_SIZE * (size_t)i;
        double *t = twists + TWIST_SIZE * (size_t)i, size = x->system->sizes[i];
        int count = x->tree.bodies[i].rigid ? TWIST_SIZE : 3;
        for (int k = 0; k < count; ++k) t[k] += change[k];
        for (int k = count; k < TWIST_SIZE; ++k) t[k] = 0.0;
        largest = fmax(largest, one_norm(change) + (count > 3 ? size * one_norm(change + 3) : 0.0));
        *speed = fmax(*speed, one_norm(t) + size * one_norm(t + 3));
    }
    return largest;
}

// (T10) for what p has beside the momenta of `twists`, and again with the same factors for what that leaves: where a
// heavy body slides far out on a light one, elimination knows the inertia of the light one as a difference of the heavy
// one's at that distance. Each solution is a part of the one before, and so is the next: it is left when it would be
// round-off of the motion.
static bool solve_rest(tree_mass *x, const tree_place *place, const double *poses, const double *p,
                       double *twists)
{
    enum { IMPROVEMENTS_MAX = 4 };
    const double ROUND_OFF = 4.0 * DBL_EPSILON;
    double speed, before, now;
    find_rest(x, place->q, poses, p, twists);
    if (!tree_mass_factor(x, place, x->loads)) return false;
    before = add_solution(x, twists, &speed);
    for (int k = 0; k < IMPROVEMENTS_MAX; ++k, before = now) {
        find_rest(x, place->q, poses, p, twists);
        tree_mass_solve(x, x->loads);
        now = add_solution(x, twists, &speed);
        if (!(now < before) || now * (now / before) <= ROUND_OFF * speed) break;
    }
    return true;
}

bool tree_mass_project_between(tree_mass *x, const double *q_start, const double *q,
                               const double *p, const double *v, double *twists)
{
    const hn_system *system = x->system;
    size_t n = (size_t)system->body_count;
    for (size_t k = 0; k < POSE_SIZE * n; ++k) {
        x->delta[k] = q[k] - q_start[k];
        x->middle[k] = q[k] - 0.5 * x->delta[k];
    }
    for (size_t i = 0; i < n; ++i)
        velocity_to_twist(q + POSE_SIZE * i, v + POSE_SIZE * i, x->given + TWIST_SIZE * i);
    memcpy(twists, x->given, TWIST_SIZE * n * sizeof(double));
    make_tangent(x, q, twists);
    for (size_t k = 0; k < TWIST_SIZE * n; ++k) twists[k] -= x->given[k];
    const tree_place place = {.q = q, .delta = x->delta, .weight = 0.5};
    return solve_rest(x, &place, x->middle, p, twists);
}

// Wrenches of the rows of a joint on its two bodies, in the middle of the last two poses
static void row_wrenches(const tree_mass *x, const joint_place *j,
                         double wrenches[2][JOINT_ROWS_MAX][TWIST_SIZE])
{
    const int body[2] = {j->a, j->b};
    for (int r = 0; r < j->rows->row_count; ++r) {
        hn_vec3 gradient[8];
        const constraint_row row = joint_row(j->rows, r);
        row_gradient(&row, system_pose(x->middle, j->a), system_pose(x->middle, j->b), gradient);
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            vectors_to_wrench(system_pose(x->middle, body[side]), gradient + 4 * side,
                              wrenches[side][r]);
            wrench_hold(&x->system->bodies[body[side]], wrenches[side][r]);
        }
    }
}

bool tree_mass_multipliers(tree_mass *x, const joint_place *joints, const double *q,
                           const double *p, const double *twists, double *mu)
{
    const hn_system *system = x->system;
    double *rest = x->loads;
    find_rest(x, q, x->middle, p, twists);
    for (int i = system->body_count - 1; i >= 0; --i) {
        const joint_place *j = &joints[i];
        int count = j->rows->row_count, side = j->b == i ? 1 : 0, above = side == 1 ? j->a : j->b;
        double wrenches[2][JOINT_ROWS_MAX][TWIST_SIZE], matrix[JOINT_ROWS_MAX * JOINT_ROWS_MAX],
            length = system->sizes[i], *lambda = mu + j->multiplier;
        const double weight[2] = {1.0, 1.0 / (length * length)};
        const double *own = rest + TWIST_SIZE * (size_t)i;
        int exchange[JOINT_ROWS_MAX];
        if (count == 0) continue;
        row_wrenches(x, j, wrenches);
        for (int r = 0; r < count; ++r) {
            const double *w = wrenches[side][r];
            lambda[r] = 0.0;
            for (int k = 0; k < TWIST_SIZE; ++k) lambda[r] += weight[k / 3] * w[k] * own[k];
            for (int s = 0; s < count; ++s) {
                double sum = 0.0;
                for (int k = 0; k < TWIST_SIZE; ++k)
                    sum += weight[k / 3] * w[k] * wrenches[side][s][k];
                matrix[count * r + s] = sum;
            }
        }
        if (!small_lu_factor(count, count, matrix, exchange)) return false;
        small_lu_solve(count, count, matrix, exchange, 1, 1, lambda);
        for (int r = 0; r < count && above >= 0; ++r)
            for (int k = 0; k < TWIST_SIZE; ++k)
                rest[TWIST_SIZE * above + k] -= lambda[r] * wrenches[1 - side][r][k];
    }
    return true;
}

bool tree_mass_project(tree_mass *x, const double *q, const double *p, double *twists)
{
    const hn_system *system = x->system;
    for (int i = 0; i < system->body_count; ++i)
        mass_twist(system, i, q + POSE_SIZE * (size_t)i, p + POSE_SIZE * (size_t)i,
                   twists + TWIST_SIZE * (size_t)i);
    make_tangent(x, q, twists);
    const tree_place place = {.q = q, .weight = 1.0};
    return solve_rest(x, &place, q, p, twists);
}
