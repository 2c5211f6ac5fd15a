// SPDX-License-Identifier: MIT
// Closed loops: the iterate moves on the manifold of the tree, the cut joints stay as equations with their multipliers.
// Note: docs/theory/closed-loops.md
//
//   (C1)  P_o(q_w)^T (rho + sigma G_c(q_w)^T lambda_c) = 0,   g_c(q) = 0,   q on the tree's manifold       (LMO 94-96)
//
// The Newton direction of (C1) is that of the sparse saddle-point system with the multipliers of all joints: on the
// tree's manifold its solution satisfies G_tree delta q = 0, so that it is delta q = P_o delta u. One factorisation
// serves few and many loops; redundant closure rows are chosen out at q_n, where that is well posed, and checked after
// the step.
#include "reductions/closed.h"

#include "reductions/coordinates.h"
#include "reductions/saddle_newton.h"
#include "system/kinematics.h"

#include <string.h>

struct closed {
    hn_system *system;
    saddle *saddle;
    double *twists;            // delta t, 6 per body
    double *increments;        // delta u, dof
    closed_correction correct; // or NULL
    void *correct_owner;
    pool memory;
};

void closed_destroy(closed *c)
{
    if (c == NULL) return;
    saddle_destroy(c->saddle);
    pool_release(&c->memory);
    context_release(c->system->context, c);
}

static hn_status create(hn_system *system, bool statics, closed **out)
{
    *out = NULL;
    closed *c = context_allocate(system->context, sizeof *c);
    if (c == NULL) return HN_OUT_OF_MEMORY;
    c->system = system;
    c->memory.context = system->context;
    c->twists = pool_doubles(&c->memory, TWIST_SIZE * (size_t)system->body_count);
    c->increments = pool_doubles(&c->memory, (size_t)system->dof);
    hn_status status = pool_status(&c->memory);
    if (status == HN_OK && statics) status = saddle_create_for_statics(system, &c->saddle);
    else if (status == HN_OK) status = saddle_create(system, SADDLE_TWISTS, &c->saddle);
    if (status == HN_OK) *out = c;
    else closed_destroy(c);
    return status;
}

hn_status closed_create(hn_system *system, closed **out)
{
    return create(system, false, out);
}

hn_status closed_create_for_statics(hn_system *system, closed **out)
{
    return create(system, true, out);
}

saddle *closed_system(closed *c)
{
    return c->saddle;
}

void closed_set_correction(closed *c, closed_correction correct, void *owner)
{
    c->correct = correct;
    c->correct_owner = owner;
}

// joint increments of the last solution; returns its size
static double find_increments(closed *c, const step_data *step)
{
    const hn_system *system = c->system;
    double largest = 0.0;
    for (int i = 0; i < system->body_count; ++i)
        saddle_body_increment(c->saddle, i, c->twists + TWIST_SIZE * (size_t)i);
    if (c->correct != NULL && !c->correct(c->correct_owner, c->twists)) return HUGE_VAL;
    for (int i = 0; i < system->body_count; ++i) {
        double *t = c->twists + TWIST_SIZE * (size_t)i;
        double size = measure_twist(measure_length(system, i, step->q, step->delta), t);
        if (!(size <= largest)) largest = size;
        motion m;
        tree_motion(system, step->joints, step->q, i, &m);
        motion_rates(
            &m, system->parent[i] < 0 ? NULL : c->twists + TWIST_SIZE * (size_t)system->parent[i],
            t, c->increments + system->dof_offset[i]);
    }
    return largest;
}

// the iterate moved by joint increments
static double move(void *owner, step_data *step)
{
    closed *c = owner;
    double size = find_increments(c, step);
    if (isfinite(size)) tree_advance(c->system, c->increments, step);
    return size;
}

void closed_settle(const hn_system *system, const double *twists, step_data *step)
{
    const double LARGEST = 1e-9; // rad, m over the body's length
    for (int i = 0; i < system->body_count; ++i)
        if (!(measure_twist(measure_length(system, i, step->q, step->delta),
                            twists + TWIST_SIZE * (size_t)i) <= LARGEST))
            return;
    for (int i = 0; i < system->body_count; ++i) {
        double change[POSE_SIZE], *q = step->q + POSE_SIZE * (size_t)i;
        twist_to_velocity(q, twists + TWIST_SIZE * (size_t)i, change);
        int count = system->bodies[i].has_directors ? POSE_SIZE : 3;
        for (int k = 0; k < count; ++k) q[k] += change[k];
        const joint *j = &system->joints[i];
        joint_step here = {0};
        joint_type_of(j->kind)->begin(j, system_pose(step->q, j->parent), q, &here);
        joint_type_of(j->kind)->settle(j, &here, system_pose(step->q, j->parent), q);
    }
}

static void settle(closed *c, step_data *step)
{
    if (!saddle_solve_constraints(c->saddle, step->q)) return;
    for (int i = 0; i < c->system->body_count; ++i)
        saddle_body_increment(c->saddle, i, c->twists + TWIST_SIZE * (size_t)i);
    closed_settle(c->system, c->twists, step);
}

hn_status closed_solve(closed *c, const step_equations *equations, step_data *step,
                       const newton_options *options, newton_report *report)
{
    TRY(saddle_newton(c->saddle, equations, step, options, report, move, c));
    settle(c, step);
    return HN_OK;
}
