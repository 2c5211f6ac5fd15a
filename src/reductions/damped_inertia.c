// SPDX-License-Identifier: MIT
// Solutions with the mass matrix and dampers, on trees and elsewhere.
#include "reductions/damped_inertia.h"

#include "reductions/tree_mass.h"

#include <string.h>

// A row of a tree by the freedoms of a joint: what its parent does moves both bodies alike.
typedef struct joint_rate {
    int body; // the child
    int dof, offset;
    double on[JOINT_DOF_MAX];
} joint_rate;

struct damped_inertia {
    hn_system *system;
    const rate_row *rows; // those of the last projection
    const double *q;      // likewise
    int count;
    tree_mass *tree;        // NULL: by the sparse system
    joint_rate *joints;     // per row
    double *own, *residual; // JOINT_DOF_MAX and one per freedom of the tree
    saddle *bare, *damped;
    double *wrenches, *twists; // 6 per body
    pool memory;
};

void damped_inertia_destroy(damped_inertia *x)
{
    if (x == NULL) return;
    tree_mass_destroy(x->tree);
    saddle_destroy(x->bare);
    saddle_destroy(x->damped);
    pool_release(&x->memory);
    context_release(x->system->context, x);
}

// The body whose joint a row lies along, or GROUND: it is a rate of two neighbours, and the joint carries the child
// with its parent as a rigid body, or with the ground.
static int joint_of(const hn_system *system, const rate_row *row)
{
    if (row->body[2] >= 0) return GROUND;
    for (int side = 0; side < 2; ++side) {
        int child = row->body[side], parent = row->body[1 - side];
        if (child < 0 || system->joints[child].parent != parent) continue;
        const joint *j = &system->joints[child];
        if (joint_pivot(j) == PIVOT_AXIS) return child;
        if (joint_pivot(j) != PIVOT_NONE) return GROUND;
        motion m;
        joint_step step = {0};
        const double *above = system_pose(system->q_start, parent),
                     *own = system_pose(system->q_start, child);
        joint_type_of(j->kind)->begin(j, above, own, &step);
        joint_type_of(j->kind)->motion(j, &step, above, own, &m);
        return parent < 0 || m.carry == CARRY_RIGID ? child : GROUND;
    }
    return GROUND;
}

static bool lies_along_tree(const damped_inertia *x, const rate_row *rows)
{
    if (!tree_mass_fits(x->system)) return false;
    for (int r = 0; r < x->count; ++r)
        if (joint_of(x->system, &rows[r]) < 0) return false;
    return true;
}

static hn_status create_tree(damped_inertia *x, const rate_row *rows)
{
    size_t dof = (size_t)x->system->dof;
    x->joints = pool_take(&x->memory, (size_t)x->count, sizeof(joint_rate));
    x->own = pool_doubles(&x->memory, JOINT_DOF_MAX * dof);
    x->residual = pool_doubles(&x->memory, dof);
    TRY(pool_status(&x->memory));
    for (int r = 0; r < x->count; ++r) {
        int body = joint_of(x->system, &rows[r]);
        x->joints[r].body = body;
        x->joints[r].offset = x->system->dof_offset[body];
    }
    return tree_mass_create(x->system, &x->tree);
}

static hn_status create_parts(damped_inertia *x, const rate_row *rows)
{
    size_t n = (size_t)x->system->body_count;
    x->wrenches = pool_doubles(&x->memory, TWIST_SIZE * n);
    x->twists = pool_doubles(&x->memory, TWIST_SIZE * n);
    TRY(pool_status(&x->memory));
    if (lies_along_tree(x, rows)) return create_tree(x, rows);
    TRY(saddle_create(x->system, SADDLE_TWISTS, &x->bare));
    return saddle_create(x->system, SADDLE_TWISTS, &x->damped);
}

hn_status damped_inertia_create(hn_system *system, const rate_row *rows, int count,
                                damped_inertia **out)
{
    *out = NULL;
    damped_inertia *x = context_allocate(system->context, sizeof *x);
    if (x == NULL) return HN_OUT_OF_MEMORY;
    x->system = system;
    x->memory.context = system->context;
    x->count = count;
    hn_status status = create_parts(x, rows);
    if (status == HN_OK) *out = x;
    else damped_inertia_destroy(x);
    return status;
}

static double product_of(const double *wrench, const double *twist)
{
    double sum = 0.0;
    for (int k = 0; k < TWIST_SIZE; ++k) sum += wrench[k] * twist[k];
    return sum;
}

// ---- on a tree --------------------------------------------------------------------------------------------

static void find_joint_rates(damped_inertia *x)
{
    double freedoms[JOINT_DOF_MAX][TWIST_SIZE];
    for (int r = 0; r < x->count; ++r) {
        const rate_row *row = &x->rows[r];
        joint_rate *to = &x->joints[r];
        const double *on = row->on[row->body[0] == to->body ? 0 : 1];
        if (r == 0 || x->joints[r - 1].body != to->body)
            to->dof = tree_mass_freedoms(x->tree, x->q, to->body, freedoms);
        else to->dof = x->joints[r - 1].dof;
        for (int k = 0; k < to->dof; ++k) to->on[k] = product_of(on, freedoms[k]);
    }
}

// What rotors, and dampers if wanted, add to the freedoms of joints
static bool factor_tree(damped_inertia *x, bool damped, const double *wrenches)
{
    const tree_place place = {.q = x->q, .weight = 1.0};
    bool any = false;
    memset(x->own, 0, JOINT_DOF_MAX * (size_t)x->system->dof * sizeof(double));
    for (int r = 0; r < x->count; ++r) {
        const joint_rate *j = &x->joints[r];
        double strength = x->rows[r].inertia + (damped ? x->rows[r].strength : 0.0);
        if (strength == 0.0) continue;
        any = true;
        for (int i = 0; i < j->dof; ++i)
            for (int k = 0; k < j->dof; ++k)
                x->own[JOINT_DOF_MAX * (size_t)(j->offset + i) + (size_t)k] +=
                    strength * j->on[i] * j->on[k];
    }
    x->tree->tree.own = any ? x->own : NULL;
    return tree_mass_factor(x->tree, &place, wrenches);
}

static void rates_of_tree(const damped_inertia *x, double *rates)
{
    for (int r = 0; r < x->count; ++r) {
        const joint_rate *j = &x->joints[r];
        rates[r] = 0.0;
        for (int k = 0; k < j->dof; ++k)
            rates[r] += j->on[k] * x->tree->tree.increments[j->offset + k];
    }
}

// ---- elsewhere --------------------------------------------------------------------------------------------

static void add_impulses(const damped_inertia *x, const double *impulses, double *wrenches)
{
    for (int r = 0; r < x->count; ++r)
        for (int b = 0; impulses[r] != 0.0 && b < 3; ++b) {
            const rate_row *row = &x->rows[r];
            for (int k = 0; row->body[b] >= 0 && k < TWIST_SIZE; ++k)
                wrenches[TWIST_SIZE * (size_t)row->body[b] + (size_t)k] +=
                    impulses[r] * row->on[b][k];
        }
}

static void rates_of_twists(const damped_inertia *x, const double *twists, double *rates)
{
    for (int r = 0; r < x->count; ++r) {
        const rate_row *row = &x->rows[r];
        rates[r] = 0.0;
        for (int b = 0; b < 3; ++b)
            if (row->body[b] >= 0)
                rates[r] += product_of(row->on[b], twists + TWIST_SIZE * (size_t)row->body[b]);
    }
}

static void solve_sparse(damped_inertia *x, saddle *matrix, const double *impulses, double *twists,
                         double *rates)
{
    memset(x->wrenches, 0, TWIST_SIZE * (size_t)x->system->body_count * sizeof(double));
    add_impulses(x, impulses, x->wrenches);
    saddle_solve_wrenches(matrix, x->wrenches, twists);
    rates_of_twists(x, twists, rates);
}

// ---- both -------------------------------------------------------------------------------------------------

bool damped_inertia_project(damped_inertia *x, const double *q, const rate_row *rows,
                            const double *p, const double *rotors, double *rates)
{
    x->q = q;
    x->rows = rows;
    for (int i = 0; i < x->system->body_count; ++i) {
        double *wrench = x->wrenches + TWIST_SIZE * (size_t)i;
        force_to_wrench(system_pose(q, i), p + POSE_SIZE * (size_t)i, wrench);
        wrench_hold(&x->system->bodies[i], wrench);
    }
    add_impulses(x, rotors, x->wrenches);
    if (x->tree != NULL) {
        find_joint_rates(x);
        if (!factor_tree(x, false, x->wrenches)) return false;
        rates_of_tree(x, rates);
        return true;
    }
    if (saddle_factor_rates(x->bare, q, rows, x->count, false) != HN_OK) return false;
    saddle_solve_wrenches(x->bare, x->wrenches, x->twists);
    rates_of_twists(x, x->twists, rates);
    return true;
}

bool damped_inertia_factor(damped_inertia *x)
{
    return x->tree != NULL ? factor_tree(x, true, NULL)
                           : saddle_factor_rates(x->damped, x->q, x->rows, x->count, true) == HN_OK;
}

void damped_inertia_respond(damped_inertia *x, const double *impulses, double *rates)
{
    if (x->tree == NULL) {
        solve_sparse(x, x->damped, impulses, x->twists, rates);
        return;
    }
    memset(x->residual, 0, (size_t)x->system->dof * sizeof(double));
    memset(x->wrenches, 0, TWIST_SIZE * (size_t)x->system->body_count * sizeof(double));
    for (int r = 0; r < x->count; ++r) {
        const joint_rate *j = &x->joints[r];
        for (int k = 0; k < j->dof; ++k) x->residual[j->offset + k] -= impulses[r] * j->on[k];
    }
    tree_solve(&x->tree->tree, x->residual, x->wrenches);
    rates_of_tree(x, rates);
}

void damped_inertia_move(damped_inertia *x, const double *impulses, double *twists, double *rates)
{
    if (x->tree == NULL) {
        solve_sparse(x, x->bare, impulses, twists, rates);
        return;
    }
    memcpy(twists, x->tree->tree.twists,
           TWIST_SIZE * (size_t)x->system->body_count * sizeof(double));
    for (int i = 0; i < x->system->body_count; ++i)
        if (!x->tree->tree.bodies[i].rigid)
            memset(twists + TWIST_SIZE * (size_t)i + 3, 0, 3 * sizeof(double));
    rates_of_tree(x, rates);
}
