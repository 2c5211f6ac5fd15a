// SPDX-License-Identifier: MIT
// First iterate of a step: increments of the last steps, extrapolated, in components that vary slowly.
//
// A polynomial through the last p increments leaves the p-th backward difference of the next one. Which p leaves least
// is a matter of the motion: it is looked up in every step while the history grows, then in one of eight.
#include "simulation/simulation.h"

#include "joints/pivot.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

_Static_assert(HISTORY_DEPTH == 8, "one row of WEIGHTS per order");
// weights of the newest, the one before, ...: those of order p in row p - 1
static const double WEIGHTS[HISTORY_DEPTH][HISTORY_DEPTH] = {
    {1.0},
    {2.0, -1.0},
    {3.0, -3.0, 1.0},
    {4.0, -6.0, 4.0, -1.0},
    {5.0, -10.0, 10.0, -5.0, 1.0},
    {6.0, -15.0, 20.0, -15.0, 6.0, -1.0},
    {7.0, -21.0, 35.0, -35.0, 21.0, -7.0, 1.0},
    {8.0, -28.0, 56.0, -70.0, 56.0, -28.0, 8.0, -1.0},
};

// Values of a component are a ring of HISTORY_DEPTH; slot of the one `age` steps before the newest.
static inline int slot_of(const prediction *past, int age)
{
    return (past->newest + age) % HISTORY_DEPTH;
}

// Weights by slot in the first iterate of a step of size h.
static void find_weights(const hn_simulation *simulation, double h, double *weights)
{
    const prediction *past = &simulation->past;
    double varied[CONTROL_DEPTH];
    const double *by_age = WEIGHTS[past->order - 1];
    int count = past->order;
    if (simulation->def.step_tolerance > 0.0) {
        count = step_control_weights(simulation, h, varied);
        by_age = varied;
    }
    for (int age = 0; age < HISTORY_DEPTH; ++age)
        weights[slot_of(past, age)] = age < count ? by_age[age] : 0.0;
}

static inline void extrapolate(const double *values, int count, const double *restrict weights,
                               double *increment)
{
    for (int k = 0; k < count; ++k, values += HISTORY_DEPTH) {
        double sums[2] = {0.0, 0.0};
        for (int i = 0; i < HISTORY_DEPTH; i += 2) {
            sums[0] += weights[i] * values[i];
            sums[1] += weights[i + 1] * values[i + 1];
        }
        increment[k] = sums[0] + sums[1];
    }
}

// components of a body's increment that are predicted
static inline int component_count(const joint *j, bool joints)
{
    if (!joints) return TWIST_SIZE;
    if (joint_pivot(j) == PIVOT_AXIS) return 1;
    // a link that stays in a plane has its turn in space all the same
    int surplus = joint_type_of(j->kind)->increment_surplus;
    return surplus > 0 && j->plane_child ? 3 : j->dof + surplus;
}

size_t predict_size(const hn_system *system, const reduction_type *kind)
{
    size_t count = 0;
    for (int i = 0; i < system->body_count; ++i)
        count += (size_t)component_count(&system->joints[i], kind->joint_prediction);
    return HISTORY_DEPTH * count;
}

void predict_prepare(hn_simulation *simulation)
{
    bool joints = simulation->reduction_kind->joint_prediction;
    for (int i = 0; i < simulation->system->body_count; ++i) {
        const joint *j = &simulation->system->joints[i];
        simulation->predicted[i] =
            (predicted_body){.count = (unsigned char)component_count(j, joints),
                             .pivot = (unsigned char)(joints ? joint_pivot(j) : PIVOT_NONE)};
    }
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
static inline void predict_pivot(const double *increment, step_data *step, int body, const joint *j,
                                 pivot_kind pivot, const body_step *parent_step,
                                 const double *parent_delta)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *start = step->q_start + at;
    double *delta = step->delta + at, *q = step->q + at;
    body_step *b = &step->bodies[body];
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
    bool velocities = guess != GUESS_HISTORY || simulation->past.count == 0;
    // momenta serve where the twist of the start does not
    bool momenta =
        velocities && !simulation->state.first && simulation->scheme->impetus_is_momentum;
    if (momenta) mass_own_momenta(system, simulation->state.impetus, simulation->other_impetus);
    double weights[HISTORY_DEPTH];
    const double *values = simulation->history;
    if (!velocities) find_weights(simulation, h, weights);
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        double increment[TWIST_SIZE];
        int p = j->parent;
        const body_step *parent_step = p < 0 ? &ground : &step->bodies[p];
        if (!velocities) {
            const predicted_body of = simulation->predicted[i];
            extrapolate(values, of.count, weights, increment);
            values += HISTORY_DEPTH * of.count;
            if (joints && of.pivot != PIVOT_NONE) {
                predict_pivot(increment, step, i, j, (pivot_kind)of.pivot, parent_step,
                              p < 0 ? still : step->delta + POSE_SIZE * (size_t)p);
                continue;
            }
        }
        const joint_type *type = joint_type_of(j->kind);
        double *q = step->q + POSE_SIZE * (size_t)i;
        const double *start = step->q_start + POSE_SIZE * (size_t)i;
        memcpy(q, start, POSE_SIZE * sizeof(double));
        step->bodies[i] = ground;
        step->joints[i] = (joint_step){0};
        type->begin(j, system_pose(step->q_start, p), start, &step->joints[i]);
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

// Weights of all orders by slot.
static void find_all_weights(const prediction *past, double weights[HISTORY_DEPTH][HISTORY_DEPTH])
{
    for (int age = 0; age < HISTORY_DEPTH; ++age)
        for (int order = 0; order < HISTORY_DEPTH; ++order)
            weights[slot_of(past, age)][order] = WEIGHTS[order][age];
}

// What each order would have left of a component, at most so far; orders beyond what is known say nothing.
static inline void note_left(const double *values, double weights[HISTORY_DEPTH][HISTORY_DEPTH],
                             double increment, double *restrict largest)
{
    double left[HISTORY_DEPTH];
    for (int order = 0; order < HISTORY_DEPTH; ++order) left[order] = increment;
    for (int slot = 0; slot < HISTORY_DEPTH; ++slot)
        for (int order = 0; order < HISTORY_DEPTH; ++order)
            left[order] -= weights[slot][order] * values[slot];
    for (int order = 0; order < HISTORY_DEPTH; ++order) {
        double size = fabs(left[order]);
        largest[order] = size > largest[order] ? size : largest[order];
    }
}

// Where an extrapolation leaves more than this, a long one may lead to another solution of a step that has several.
static const double SMOOTH = 1e-5; // rad, m
enum { ORDER_ROUGH = 3 };

static int best_order(const double *largest, int count)
{
    int best = 0;
    for (int k = 1; k < count; ++k)
        if (largest[k] < largest[best]) best = k;
    if (largest[best] < SMOOTH) return best + 1;
    return count < ORDER_ROUGH ? count + 1 : ORDER_ROUGH; // the step that tells is known as well
}

void predict_record(hn_simulation *simulation, const solved_step *solved)
{
    const hn_system *system = simulation->system;
    prediction *past = &simulation->past;
    const bool joints = simulation->reduction_kind->joint_prediction;
    // one step in eight tells the order for the next ones; not by its iterations, which hang on the frame
    const bool choose = past->count > 0 && (past->newest == 0 || past->count < HISTORY_DEPTH);
    double *values = simulation->history, largest[HISTORY_DEPTH] = {0.0};
    const int slot = slot_of(past, HISTORY_DEPTH - 1);
    double weights[HISTORY_DEPTH][HISTORY_DEPTH];
    if (choose) find_all_weights(past, weights);
    for (int i = 0; i < system->body_count; ++i) {
        int count = simulation->predicted[i].count;
        double own[TWIST_SIZE];
        const double *increment = solved->data.joints[i].increment;
        if (!joints) {
            const double *start = solved->data.q_start + POSE_SIZE * (size_t)i;
            vec3_store(solved->data.bodies[i].displacement, own);
            vec3_store(pose_components(start, solved->data.bodies[i].rotation), own + 3);
            increment = own;
        }
        for (int k = 0; k < count; ++k, values += HISTORY_DEPTH) {
            if (choose) note_left(values, weights, increment[k], largest);
            values[slot] = increment[k];
        }
    }
    past->newest = slot;
    int known = past->count;
    if (past->count < HISTORY_DEPTH) past->count++;
    if (choose) past->order = best_order(largest, known);
    else if (known == 0) past->order = 1;
}
