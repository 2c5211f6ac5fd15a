// SPDX-License-Identifier: MIT
// First iterate of a step: increments of the last three steps, extrapolated, in components that vary slowly.
#include "simulation/simulation.h"

#include "joints/pivot.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

// weights of the newest, the one before, ...: constant, linear, quadratic
static const double WEIGHTS[HISTORY_DEPTH][HISTORY_DEPTH] = {
    {1.0, 0.0, 0.0}, {2.0, -1.0, 0.0}, {3.0, -3.0, 1.0}};

// The last values of component k of a body, newest first.
static inline double *history_of(const hn_simulation *simulation, int body, int k)
{
    return simulation->history + HISTORY_DEPTH * (TWIST_SIZE * (size_t)body + (size_t)k);
}

static inline void extrapolate(const hn_simulation *simulation, int body, int count,
                               double *increment)
{
    const double *weights = simulation->weights;
    for (int k = 0; k < count; ++k) {
        const double *x = history_of(simulation, body, k);
        increment[k] = weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2];
    }
}

static inline void record(hn_simulation *simulation, int body, int count, const double *increment)
{
    for (int k = 0; k < count; ++k) {
        double *x = history_of(simulation, body, k);
        x[2] = x[1], x[1] = x[0], x[0] = increment[k];
    }
}

// components of the increment that a pivot has
static inline int pivot_size(pivot_kind pivot)
{
    return pivot == PIVOT_AXIS ? 1 : 3;
}

// twist of a body at t_n from what the scheme keeps (v, or p through the inertia)
static void start_twist(const hn_simulation *simulation, int body, bool from_momenta, double *twist)
{
    const hn_system *system = simulation->system;
    if (body < 0) {
        memset(twist, 0, TWIST_SIZE * sizeof(double));
        return;
    }
    size_t at = POSE_SIZE * (size_t)body;
    const double *q = simulation->state.q + at;
    if (!simulation->scheme->impetus_is_momentum)
        velocity_to_twist(q, simulation->state.impetus + at, twist);
    else if (from_momenta) mass_twist(system, body, q, simulation->other_impetus + at, twist);
    else // known better than from momenta, also about an axis without inertia
        memcpy(twist, system->twist_start + TWIST_SIZE * (size_t)body, TWIST_SIZE * sizeof(double));
}

double predict_distance(hn_simulation *simulation, const solved_step *solved)
{
    const hn_system *system = simulation->system;
    bool momenta = simulation->scheme->impetus_is_momentum && !simulation->state.first;
    double h = solved->equations.step_size, largest = 0.0;
    if (momenta) mass_own_momenta(system, simulation->state.impetus, simulation->other_impetus);
    for (int i = 0; i < system->body_count; ++i) {
        const body_step *b = &solved->data.bodies[i];
        double twist[TWIST_SIZE], length = measure_length(system, i, solved->q_start, NULL);
        start_twist(simulation, i, momenta, twist);
        hn_vec3 move = vec3_add_scaled(b->displacement, -h, vec3_load(twist)),
                turn = vec3_add_scaled(b->rotation, -h, vec3_load(twist + 3));
        largest = fmax(largest, fmax(vec3_norm(move) / length, vec3_norm(turn)));
    }
    return largest;
}

// A pivot from history: its turn follows from the extrapolated increment, the rest from the poses.
static inline void predict_pivot(const hn_simulation *simulation, step_data *step, int body,
                                 const joint *j, pivot_kind pivot, const body_step *parent_step,
                                 const double *parent_delta)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *start = step->q_start + at;
    double *delta = step->delta + at, *q = step->q + at, increment[3];
    body_step *b = &step->bodies[body];
    extrapolate(simulation, body, pivot_size(pivot), increment);
    pivot_start(pivot, j, increment, start, parent_step, &step->joints[body], b);
    step_turn_directors(b->rotation, start, q, delta);
    b->displacement = pivot_displacement(j, parent_delta, delta);
    step_move_centre(b->displacement, start, q, delta);
}

void predict_step(hn_simulation *simulation, const reduction_type *kind, solved_step *solved,
                  step_guess guess)
{
    static const body_step ground = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    static const double still[POSE_SIZE] = {0.0};
    const hn_system *system = simulation->system;
    step_data *step = &solved->data;
    double h = guess == GUESS_REST ? 0.0 : solved->equations.step_size;
    bool joints = kind->joint_prediction;
    bool velocities = guess != GUESS_HISTORY || simulation->history_count == 0;
    // momenta serve where the twist of the start does not
    bool momenta =
        velocities && !simulation->state.first && simulation->scheme->impetus_is_momentum;
    if (momenta) mass_own_momenta(system, simulation->state.impetus, simulation->other_impetus);
    if (!velocities && simulation->def.step_tolerance > 0.0)
        step_control_weights(simulation, h, simulation->weights);
    else if (!velocities)
        memcpy(simulation->weights, WEIGHTS[simulation->history_count - 1],
               sizeof simulation->weights);
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const joint_type *type = joint_type_of(j->kind);
        pivot_kind pivot = joint_pivot(j);
        int p = j->parent;
        const body_step *parent_step = p < 0 ? &ground : &step->bodies[p];
        if (joints && !velocities && pivot != PIVOT_NONE) {
            predict_pivot(simulation, step, i, j, pivot, parent_step,
                          p < 0 ? still : step->delta + POSE_SIZE * (size_t)p);
            continue;
        }
        double *q = step->q + POSE_SIZE * (size_t)i;
        const double *start = step->q_start + POSE_SIZE * (size_t)i;
        memcpy(q, start, POSE_SIZE * sizeof(double));
        step->bodies[i] = ground;
        step->joints[i] = (joint_step){0};
        type->begin(j, system_pose(step->q_start, p), start, &step->joints[i]);
        double increment[TWIST_SIZE];
        if (!velocities) extrapolate(simulation, i, TWIST_SIZE, increment);
        if (joints) {
            double u[JOINT_DOF_MAX];
            if (velocities) {
                double parent_twist[TWIST_SIZE], twist[TWIST_SIZE];
                motion m;
                start_twist(simulation, p, momenta, parent_twist);
                start_twist(simulation, i, momenta, twist);
                type->motion(j, &step->joints[i], system_pose(step->q_start, p), start, &m);
                motion_rates(&m, parent_twist, twist, u);
                for (int k = 0; k < j->dof; ++k) u[k] *= h;
            } else {
                type->guess(j, &step->joints[i], increment, start, u);
            }
            type->advance(j, u, system_pose(step->q_start, p), system_pose(step->q, p), start, q,
                          parent_step, &step->joints[i], &step->bodies[i]);
        } else if (velocities) {
            double twist[TWIST_SIZE];
            start_twist(simulation, i, momenta, twist);
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
    for (int i = 0; i < system->body_count; ++i) {
        if (simulation->reduction_kind->joint_prediction) {
            pivot_kind pivot = joint_pivot(&system->joints[i]);
            record(simulation, i, pivot == PIVOT_NONE ? TWIST_SIZE : pivot_size(pivot),
                   solved->data.joints[i].increment);
        } else {
            const double *start = solved->data.q_start + POSE_SIZE * (size_t)i;
            double increment[TWIST_SIZE];
            vec3_store(solved->data.bodies[i].displacement, increment);
            vec3_store(pose_components(start, solved->data.bodies[i].rotation), increment + 3);
            record(simulation, i, TWIST_SIZE, increment);
        }
    }
    if (simulation->history_count < HISTORY_DEPTH) simulation->history_count++;
}
