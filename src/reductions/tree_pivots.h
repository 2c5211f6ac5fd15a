// SPDX-License-Identifier: MIT
// The recursion of tree.h at pivots, (T6), inline: innermost loops.
// Note: docs/theory/reduced.md
#ifndef REDUCTIONS_TREE_PIVOTS_H
#define REDUCTIONS_TREE_PIVOTS_H

#include "base/processor.h"
#include "base/six.h"
#include "reductions/tree.h"

#include <string.h>

static ALWAYS_INLINE tree_node *tree_node_above(tree_solver *solver, const tree_body *b)
{
    return b->parent < 0 ? NULL : &solver->nodes[solver->bodies[b->parent].node];
}

// x1 d1 + x2 d2 + x3 d3 at q_w = q - (1 - w) Delta, given the same at q
static ALWAYS_INLINE hn_vec3 tree_projected_direction(hn_vec3 now, double weight, const double *delta,
                                          hn_vec3 local)
{
    return vec3_add_scaled(now, weight - 1.0, pose_direction(delta, local));
}

// above += x
static ALWAYS_INLINE void add_to(six x, double *above)
{
    six_store(six_add(six_load(above), x), above);
}

// wrench above += A^T x, with the moment of x where it is carried
static ALWAYS_INLINE void add_at_lever(hn_vec3 lever, hn_vec3 force, hn_vec3 moment, double *above)
{
    add_to(six_of(force, vec3_add(moment, vec3_cross(lever, force))), above);
}

// a = [I, -c^; 0, I] as it acts on a row from the right: the numbers on v add their product with -c^ to those on omega
typedef struct row_carry {
    pair x[2], y[2], z[2]; // rows of -c^, a zero before each
} row_carry;

static ALWAYS_INLINE row_carry row_carry_of(hn_vec3 c)
{
    return (row_carry){
        {{0.0, 0.0}, {c.z, -c.y}}, {{0.0, -c.z}, {0.0, c.x}}, {{0.0, c.y}, {-c.x, 0.0}}};
}

static ALWAYS_INLINE six row_times_carry(six row, const row_carry *a)
{
    double x = row.p[0][0], y = row.p[0][1], z = row.p[1][0];
    row.p[1] += x * a->x[0] + y * a->y[0] + z * a->z[0];
    row.p[2] += x * a->x[1] + y * a->y[1] + z * a->z[1];
    return row;
}

// S_p += A^T R + X^p for the rows R of forces: they stay, the moments gain c x forces; X^p = w (c F^T - (c . F) 1) for
// rotations
static ALWAYS_INLINE void add_force_rows(const six *r, hn_vec3 c_projected, double weight, hn_vec3 c,
                                  hn_vec3 force, double *above)
{
    hn_vec3 f = vec3_scale(weight, force), x = vec3_scale(c.x, f), y = vec3_scale(c.y, f),
            z = vec3_scale(c.z, f);
    double dot = x.x + y.y + z.z;
    x.x -= dot, y.y -= dot, z.z -= dot;
    for (int i = 0; i < 3; ++i) add_to(r[i], above + 6 * i);
    const hn_vec3 none = {0.0, 0.0, 0.0}, d = c_projected;
    add_to(six_add_scaled(six_add_scaled(six_of(none, x), d.y, r[2]), -d.z, r[1]), above + 18);
    add_to(six_add_scaled(six_add_scaled(six_of(none, y), d.z, r[0]), -d.x, r[2]), above + 24);
    add_to(six_add_scaled(six_add_scaled(six_of(none, z), d.x, r[1]), -d.y, r[0]), above + 30);
}

static ALWAYS_INLINE bool usable(double pivot)
{
    return pivot != 0.0 && isfinite(pivot);
}

// B = [0; n]
static ALWAYS_INLINE bool tree_eliminate_axis(const tree_body *b, const tree_pivot_state *state,
                           const tree_node *restrict node, tree_node *restrict above,
                           tree_factor *restrict f, tree_memory *restrict memory, double *r)
{
    const double *s = node->stiffness, w = state->weight;
    const six wrench = six_load(node->wrench), load = six_load(node->load);
    hn_vec3 force = six_first(wrench), moment = six_second(wrench);
    hn_vec3 n = pose_direction(state->child_now, b->axis);
    hn_vec3 n_projected = tree_projected_direction(n, w, state->child_delta, b->axis);
    r[0] = vec3_dot(n_projected, moment);

    // (T2): the row B^T S + Y^c
    six row = six_scale(n_projected.x, six_load(s + 18));
    row = six_add_scaled(six_add_scaled(row, n_projected.y, six_load(s + 24)), n_projected.z,
                         six_load(s + 30));
    hn_vec3 on_v = six_first(row),
            on_omega = vec3_add_scaled(six_second(row), w, vec3_cross(n, moment));
    double h = vec3_dot(on_omega, n);
    if (!usable(h)) return false;

    // (T3)
    double inverse = 1.0 / h, step = -inverse * (r[0] + vec3_dot(n_projected, six_second(load)));
    f->axis = n;
    f->on_v = on_v = vec3_scale(inverse, on_v);
    f->on_omega = on_omega = vec3_scale(inverse, on_omega);
    f->step[0] = step;
    memory->axis = n_projected, memory->axis_inverse = inverse;
    if (above == NULL) return true;

    // (T4), row by row: (S - S b L) a, then A^T
    hn_vec3 c = pose_direction(state->parent_now, b->lever);
    hn_vec3 c_projected = tree_projected_direction(c, w, state->parent_delta, b->lever);
    f->lever = c;
    const row_carry carry = row_carry_of(c);
    const six gain = six_of(on_v, on_omega);
    const pair column[2] = {{0.0, n.x}, {n.y, n.z}};
    double lift[6];
    six rest[6];
    for (int i = 0; i < 6; ++i) {
        six old = six_load(s + 6 * i);
        pair product = old.p[1] * column[0] + old.p[2] * column[1];
        lift[i] = product[0] + product[1];
        rest[i] = row_times_carry(six_add_scaled(old, -lift[i], gain), &carry);
    }
    add_force_rows(rest, c_projected, w, c, force, above->stiffness);
    for (int i = 3; i < 6; ++i) add_to(rest[i], above->stiffness + 6 * i);
    const hn_vec3 lift_v = {lift[0], lift[1], lift[2]}, lift_omega = {lift[3], lift[4], lift[5]};
    add_at_lever(c_projected, vec3_add_scaled(six_first(load), step, lift_v),
                 vec3_add_scaled(six_second(load), step, lift_omega), above->load);
    add_at_lever(c_projected, force, moment, above->wrench);
    memory->lever = c_projected;
    memcpy(memory->axis_lift, lift, sizeof lift);
    return true;
}

// B = [0; 1]: the child's rotation is eliminated altogether, what is left is a 3 x 3 matrix at the joint point
static ALWAYS_INLINE bool tree_eliminate_free(const tree_body *b, const tree_pivot_state *state,
                           const tree_node *restrict node, tree_node *restrict above,
                           tree_factor *restrict f, tree_memory *restrict memory, double *r)
{
    const double *s = node->stiffness;
    hn_vec3 force = vec3_load(node->wrench);
    for (int k = 0; k < 3; ++k) r[k] = node->wrench[3 + k];

    // (T2): H is the lower right block; its inverse by cofactors
    hn_vec3 x = vec3_load(s + 21), y = vec3_load(s + 27), z = vec3_load(s + 33);
    hn_vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
    double determinant = vec3_dot(x, yz);
    if (!usable(determinant)) return false;
    double scale = 1.0 / determinant;
    const double inverse[9] = {scale * yz.x, scale * zx.x, scale * xy.x, scale * yz.y, scale * zx.y,
                               scale * xy.y, scale * yz.z, scale * zx.z, scale * xy.z};

    // (T3)
    double gain[9], right[3];
    for (int k = 0; k < 3; ++k) right[k] = r[k] + node->load[3 + k];
    for (int i = 0; i < 3; ++i) {
        const double *h = inverse + 3 * i;
        f->step[i] = -(h[0] * right[0] + h[1] * right[1] + h[2] * right[2]);
        for (int k = 0; k < 3; ++k)
            gain[3 * i + k] = h[0] * s[18 + k] + h[1] * s[24 + k] + h[2] * s[30 + k];
        f->rows[i] = vec3_load(gain + 3 * i);
    }
    memcpy(memory->inverse, inverse, sizeof inverse);
    if (above == NULL) return true;

    // (T4): rows of forces, S_11 - S_12 H^-1 S_21; the moments have no part
    hn_vec3 c = pose_direction(state->parent_now, b->lever), none = {0.0, 0.0, 0.0};
    hn_vec3 c_projected = tree_projected_direction(c, state->weight, state->parent_delta, b->lever);
    f->lever = c;
    const row_carry carry = row_carry_of(c);
    double load[3];
    six rest[3];
    for (int i = 0; i < 3; ++i) {
        const double *row = s + 6 * i, *lift = row + 3;
        double left[3];
        load[i] =
            node->load[i] + lift[0] * f->step[0] + lift[1] * f->step[1] + lift[2] * f->step[2];
        for (int k = 0; k < 3; ++k)
            left[k] = row[k] - lift[0] * gain[k] - lift[1] * gain[3 + k] - lift[2] * gain[6 + k];
        rest[i] = row_times_carry((six){{{left[0], left[1]}, {left[2], 0.0}, {0.0, 0.0}}}, &carry);
    }
    add_force_rows(rest, c_projected, state->weight, c, force, above->stiffness);
    add_at_lever(c_projected, vec3_load(load), none, above->load);
    add_at_lever(c_projected, force, none, above->wrench);
    memory->lever = c_projected;
    for (int i = 0; i < 3; ++i) memcpy(memory->lift + 3 * i, s + 6 * i + 3, 3 * sizeof(double));
    return true;
}

/// Residual r, elimination and passing on of a body with a pivot. False when H is singular.
static ALWAYS_INLINE bool tree_eliminate_pivot(tree_solver *solver, int body, const tree_pivot_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = tree_node_above(solver, b);
    tree_factor *f = &solver->factors[body];
    tree_memory *memory = &solver->memories[body];
    if (solver->keep) {
        tree_arm *arm = &solver->arms[body];
        arm->now = pose_direction(state->child_now, b->reference);
        arm->projected =
            tree_projected_direction(arm->now, state->weight, state->child_delta, b->reference);
    }
    return b->pivot == PIVOT_AXIS ? tree_eliminate_axis(b, state, node, above, f, memory, r)
                                  : tree_eliminate_free(b, state, node, above, f, memory, r);
}

// k of a pivot for a load s about its reference point, and its part in the parent's load
static ALWAYS_INLINE void tree_solve_pivot(const tree_body *b, const tree_memory *memory, const double *residual,
                        const double *s, double *step, double *above)
{
    hn_vec3 force = vec3_load(s), moment = vec3_load(s + 3);
    if (b->pivot == PIVOT_AXIS) {
        double k = step[0] = -memory->axis_inverse * (residual[0] + vec3_dot(memory->axis, moment));
        force = vec3_add_scaled(force, k, vec3_load(memory->axis_lift));
        moment = vec3_add_scaled(moment, k, vec3_load(memory->axis_lift + 3));
    } else {
        hn_vec3 right = vec3_add(vec3_load(residual), moment), k;
        for (int i = 0; i < 3; ++i) step[i] = -vec3_dot(vec3_load(memory->inverse + 3 * i), right);
        k = vec3_load(step);
        force = vec3_add(force, vec3(vec3_dot(vec3_load(memory->lift), k),
                                     vec3_dot(vec3_load(memory->lift + 3), k),
                                     vec3_dot(vec3_load(memory->lift + 6), k)));
        moment = vec3(0.0, 0.0, 0.0);
    }
    if (above != NULL) add_at_lever(memory->lever, force, moment, above);
}

/// The same sweep at another iterate with the factors as they are: residual r, wrench and load passed on.
static ALWAYS_INLINE void tree_repeat_pivot(tree_solver *solver, int body, const tree_pivot_state *state, double *r)
{
    const tree_body *b = &solver->bodies[body];
    const tree_node *node = &solver->nodes[b->node];
    tree_node *above = tree_node_above(solver, b);
    hn_vec3 force = vec3_load(node->wrench), moment = vec3_load(node->wrench + 3);
    if (b->pivot == PIVOT_AXIS) {
        hn_vec3 n = pose_direction(state->child_now, b->axis);
        r[0] = vec3_dot(tree_projected_direction(n, state->weight, state->child_delta, b->axis), moment);
    } else {
        vec3_store(moment, r);
        moment = vec3(0.0, 0.0, 0.0);
    }
    tree_solve_pivot(b, &solver->memories[body], r, node->load, solver->factors[body].step,
                above == NULL ? NULL : above->load);
    if (above == NULL) return;
    hn_vec3 c = pose_direction(state->parent_now, b->lever);
    add_at_lever(tree_projected_direction(c, state->weight, state->parent_delta, b->lever), force,
                 moment, above->wrench);
}

/// The stiffness of a node by its own mass (T8): rows of forces, then of moments. `e`, `d`: the arm where forces act
/// and where the body moves, times the mass; x, y, z: rows of the part of rotations before the trace is taken off.
static ALWAYS_INLINE void tree_store_mass(double mass, hn_vec3 e, hn_vec3 d, hn_vec3 x, hn_vec3 y, hn_vec3 z,
                                          double *to)
{
    double trace = x.x + y.y + z.z;
    six_store(six_of(vec3(mass, 0.0, 0.0), vec3(0.0, d.z, -d.y)), to);
    six_store(six_of(vec3(0.0, mass, 0.0), vec3(-d.z, 0.0, d.x)), to + 6);
    six_store(six_of(vec3(0.0, 0.0, mass), vec3(d.y, -d.x, 0.0)), to + 12);
    six_store(six_of(vec3(0.0, -e.z, e.y), vec3(x.x - trace, x.y, x.z)), to + 18);
    six_store(six_of(vec3(e.z, 0.0, -e.x), vec3(y.x, y.y - trace, y.z)), to + 24);
    six_store(six_of(vec3(-e.y, e.x, 0.0), vec3(z.x, z.y, z.z - trace)), to + 30);
}

#endif
