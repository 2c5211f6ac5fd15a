// SPDX-License-Identifier: MIT
// Joint rates, twists and motion of the tree.
#include "system/kinematics.h"

#include "linalg/small_lu.h"

static const double AT_REST[TWIST_SIZE] = {0.0};

void motion_rates(const motion *m, const double *parent, const double *child, double *u)
{
    if (parent == NULL) parent = AT_REST;
    hn_vec3 v = vec3_load(child), omega = vec3_load(child + 3);
    if (m->carry != CARRY_NONE)
        v = vec3_subtract(
            v, vec3_add(vec3_load(parent), vec3_cross(vec3_load(parent + 3), m->offset)));
    if (m->carry == CARRY_RIGID) omega = vec3_subtract(omega, vec3_load(parent + 3));
    double normal[JOINT_DOF_MAX * JOINT_DOF_MAX];
    int pivot[JOINT_DOF_MAX];
    for (int i = 0; i < m->dof; ++i) {
        u[i] = vec3_dot(m->linear[i], v) + vec3_dot(m->angular[i], omega);
        for (int k = 0; k < m->dof; ++k)
            normal[m->dof * i + k] =
                vec3_dot(m->linear[i], m->linear[k]) + vec3_dot(m->angular[i], m->angular[k]);
    }
    if (small_lu_factor(m->dof, m->dof, normal, pivot))
        small_lu_solve(m->dof, m->dof, normal, pivot, 1, 1, u);
}

void motion_apply(const motion *m, const double *parent, const double *u, double *child)
{
    if (parent == NULL) parent = AT_REST;
    hn_vec3 v = vec3(0.0, 0.0, 0.0), omega = vec3(0.0, 0.0, 0.0), turn = vec3_load(parent + 3);
    if (m->carry != CARRY_NONE) v = vec3_add(vec3_load(parent), vec3_cross(turn, m->offset));
    if (m->carry == CARRY_RIGID) omega = turn;
    for (int k = 0; k < m->dof; ++k) {
        v = vec3_add_scaled(v, u[k], m->linear[k]);
        omega = vec3_add_scaled(omega, u[k], m->angular[k]);
    }
    vec3_store(v, child);
    vec3_store(omega, child + 3);
}

void tree_motion(const hn_system *system, const joint_step *steps, const double *q, int body,
                 motion *m)
{
    const joint *j = &system->joints[body];
    joint_type_of(j->kind)->motion(j, &steps[body], system_pose(q, j->parent), system_pose(q, body),
                                   m);
}

void tree_advance(const hn_system *system, const double *u, step_data *step)
{
    static const body_step ground = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        int p = j->parent;
        joint_type_of(j->kind)->advance(j, u + system->dof_offset[i], system_pose(step->q_start, p),
                                        system_pose(step->q, p), system_pose(step->q_start, i),
                                        system_pose(step->q, i), p < 0 ? &ground : &step->bodies[p],
                                        &step->joints[i], &step->bodies[i]);
        step_pose_from_body(system, step, i);
        step_delta_from_body(system, step, i);
    }
}

void tree_settle(const hn_system *system, step_data *step)
{
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        joint_type_of(j->kind)->settle(j, &step->joints[i], system_pose(step->q, j->parent),
                                       step->q + POSE_SIZE * (size_t)i);
    }
}

void step_add_closure_forces(const hn_system *system, const step_equations *equations,
                             const step_data *step)
{
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        double a[POSE_SIZE], b[POSE_SIZE];
        step_projection_pose(equations, step, j->parent, a);
        step_projection_pose(equations, step, j->child, b);
        for (int r = 0; r < j->row_count; ++r) {
            const constraint_row row = joint_row(j, r);
            row_add_force(&row, j->parent, j->child, a, b, step->closure[system->cut_row[c] + r],
                          step->force);
        }
    }
}

void system_wrench_on_tree(const hn_system *system, int body, const double *wrench, double *row)
{
    const double *q = system->q_start;
    hn_vec3 force = vec3_load(wrench), moment = vec3_load(wrench + 3);
    for (; body >= 0; body = system->parent[body]) {
        const joint *j = &system->joints[body];
        joint_step step = {0};
        motion m;
        joint_type_of(j->kind)->begin(j, system_pose(q, j->parent), system_pose(q, body), &step);
        joint_type_of(j->kind)->motion(j, &step, system_pose(q, j->parent), system_pose(q, body),
                                       &m);
        for (int k = 0; k < m.dof; ++k)
            row[system->dof_offset[body] + k] +=
                vec3_dot(force, m.linear[k]) + vec3_dot(moment, m.angular[k]);
        if (m.carry == CARRY_NONE) break;
        moment = carry_moment(&m, force, moment);
    }
}

void system_row_on_tree(const hn_system *system, const constraint_row *constraint, int a, int b,
                        double *row)
{
    const double *q = system->q_start;
    hn_vec3 gradient[8];
    row_gradient(constraint, system_pose(q, a), system_pose(q, b), gradient);
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? a : b;
        double wrench[TWIST_SIZE];
        vectors_to_wrench(system_pose(q, body), gradient + 4 * side, wrench);
        system_wrench_on_tree(system, body, wrench, row);
    }
}
