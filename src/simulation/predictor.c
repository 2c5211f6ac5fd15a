// SPDX-License-Identifier: MIT
// First iterate of a step: increments of the last three steps, extrapolated, in components that vary slowly.
#include "simulation/simulation.h"

#include "linalg/small_lu.h"

#include <string.h>

// weights of the newest, the one before, ...: constant, linear, quadratic
static const double WEIGHTS[HISTORY_DEPTH][HISTORY_DEPTH] = {{1.0, 0.0, 0.0}, {2.0, -1.0, 0.0}, {3.0, -3.0, 1.0}};

static void extrapolate(const hn_simulation *simulation, int body, double *increment)
{
    size_t set = TWIST_SIZE * (size_t)simulation->system->body_count;
    const double *weights = WEIGHTS[simulation->history_count - 1];
    memset(increment, 0, TWIST_SIZE * sizeof(double));
    for (int h = 0; h < simulation->history_count; ++h)
        for (int k = 0; k < TWIST_SIZE; ++k)
            increment[k] += weights[h] * simulation->history[(size_t)h * set + TWIST_SIZE * (size_t)body + (size_t)k];
}

// u with B u nearest to t_c - A t_p
static void rates_of_joint(const motion *m, const double *parent, const double *child, double *u)
{
    hn_vec3 v = vec3_load(child), omega = vec3_load(child + 3);
    if (m->carry != CARRY_NONE)
        v = vec3_subtract(v, vec3_add(vec3_load(parent), vec3_cross(vec3_load(parent + 3), m->offset)));
    if (m->carry == CARRY_RIGID) omega = vec3_subtract(omega, vec3_load(parent + 3));
    double normal[36];
    int pivot[6];
    for (int i = 0; i < m->dof; ++i) {
        u[i] = vec3_dot(m->linear[i], v) + vec3_dot(m->angular[i], omega);
        for (int k = 0; k < m->dof; ++k)
            normal[m->dof * i + k] =
                vec3_dot(m->linear[i], m->linear[k]) + vec3_dot(m->angular[i], m->angular[k]);
    }
    if (small_lu_factor(m->dof, m->dof, normal, pivot)) small_lu_solve(m->dof, m->dof, normal, pivot, 1, 1, u);
}

// twist of a body at t_n from what the scheme keeps (v, or p through the inertia)
static void start_twist(const hn_simulation *simulation, int body, double *twist)
{
    const hn_system *system = simulation->system;
    if (body < 0) {
        memset(twist, 0, TWIST_SIZE * sizeof(double));
        return;
    }
    size_t at = POSE_SIZE * (size_t)body;
    double v[POSE_SIZE];
    memcpy(v, simulation->state.impetus + at, sizeof v);
    if (simulation->scheme->look_ahead) {
        // momenta: only the first step comes here, where the start twist is known
        memcpy(twist, system->twist_start + TWIST_SIZE * (size_t)body, TWIST_SIZE * sizeof(double));
        return;
    }
    velocity_to_twist(simulation->state.q + at, v, twist);
}

void predict_step(hn_simulation *simulation, solved_step *solved, bool from_velocities)
{
    static const body_step ground = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const hn_system *system = simulation->system;
    step_data *step = &solved->data;
    double h = solved->equations.step_size;
    bool joints = simulation->reduction_kind->joint_prediction;
    bool velocities = from_velocities || simulation->history_count == 0;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const joint_type *type = joint_type_of(j->kind);
        int p = j->parent;
        double *q = step->q + POSE_SIZE * (size_t)i;
        const double *start = step->q_start + POSE_SIZE * (size_t)i;
        memcpy(q, start, POSE_SIZE * sizeof(double));
        step->bodies[i] = ground;
        step->joints[i] = (joint_step){0};
        type->begin(j, system_pose(step->q_start, p), start, &step->joints[i]);
        double increment[TWIST_SIZE];
        if (!velocities) extrapolate(simulation, i, increment);
        if (joints) {
            double u[JOINT_DOF_MAX];
            if (velocities) {
                double parent_twist[TWIST_SIZE], twist[TWIST_SIZE];
                motion m;
                start_twist(simulation, p, parent_twist);
                start_twist(simulation, i, twist);
                type->motion(j, &step->joints[i], system_pose(step->q_start, p), start, &m);
                rates_of_joint(&m, parent_twist, twist, u);
                for (int k = 0; k < j->dof; ++k) u[k] *= h;
            } else {
                type->guess(j, &step->joints[i], increment, start, u);
            }
            type->advance(j, u, system_pose(step->q_start, p), system_pose(step->q, p), start, q,
                          p < 0 ? &ground : &step->bodies[p], &step->joints[i], &step->bodies[i]);
        } else if (velocities) {
            double twist[TWIST_SIZE];
            start_twist(simulation, i, twist);
            step->bodies[i].displacement = vec3_scale(h, vec3_load(twist));
            step->bodies[i].rotation = vec3_scale(h, vec3_load(twist + 3));
        } else {
            step->bodies[i].displacement = vec3_load(increment);
            step->bodies[i].rotation = pose_direction(start, vec3_load(increment + 3));
        }
        step_pose_from_body(system, step, i);
        step_delta_from_body(system, step, i);
    }
}

void predict_record(hn_simulation *simulation, const solved_step *solved)
{
    const hn_system *system = simulation->system;
    size_t set = TWIST_SIZE * (size_t)system->body_count;
    memmove(simulation->history + set, simulation->history, (HISTORY_DEPTH - 1) * set * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double *to = simulation->history + TWIST_SIZE * (size_t)i;
        if (simulation->reduction_kind->joint_prediction) {
            memcpy(to, solved->data.joints[i].increment, TWIST_SIZE * sizeof(double));
        } else {
            const double *start = solved->data.q_start + POSE_SIZE * (size_t)i;
            vec3_store(solved->data.bodies[i].displacement, to);
            vec3_store(pose_components(start, solved->data.bodies[i].rotation), to + 3);
        }
    }
    if (simulation->history_count < HISTORY_DEPTH) simulation->history_count++;
}
