// SPDX-License-Identifier: MIT
// First iterate of a step: increments of the last steps, extrapolated, in components that vary slowly.
// Note: docs/theory/reduced.md
//
// A polynomial through the last p increments leaves the p-th backward difference of the next one, (1 - z)^p with z the
// step before. Schemes that are exact at the middle of a step carry a part that changes its sign from step to step, as
// multipliers do: differences double it, and the long ones are the worst. (1 + z)^a in the rule takes it out, also
// where its size is a polynomial of degree a - 1:
//
//     (1 - z)^p (1 + z)^a x = 0     for x of degree p - 1 plus (-1)^n times degree a - 1                      (T11)
//
// Which rule leaves least is a matter of the motion: it is looked up in every step while the history grows, then in one
// of twelve. Multipliers of loops follow by the same rule.
#include "simulation/simulation.h"

#include "joints/pivot.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

// (T11) by p and a
typedef struct rule {
    int smooth, alternating;
} rule;
enum { RULES = 20 };
static const rule RULE[RULES] = {
    {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {4, 1}, {6, 1},
    {8, 1}, {4, 2}, {6, 2}, {8, 2}, {4, 3}, {6, 3}, {8, 3}, {4, 4}, {6, 4}, {8, 4},
};
_Static_assert(HISTORY_DEPTH == 8 + 4, "the longest rule takes the whole history");
// the coefficients of (T11) as weights: of the newest increment by every rule, of the one before, ...
static const double WEIGHTS[HISTORY_DEPTH][RULES] = {
    {1., 2., 3., 4., 5., 6., 7., 8., 3., 5., 7., 2., 4., 6., 1., 3., 5., 0., 2., 4.},
    {0.,   -1., -3., -6.,  -10., -15., -21., -28., -2., -9.,
     -20., 1.,  -4., -13., 3.,   0.,   -7.,  4.,   3.,  -2.},
    {0., 0., 1., 4., 10., 20., 35., 56., -2., 5., 28., -4., -4., 8., -3., -8., -5., 0., -8., -12.},
    {0.,   0., 0.,  -1., -5., -15., -35., -70., 3.,  5.,
     -14., 1., 10., 14., -3., 6.,   22.,  -6.,  -2., 17.},
    {0., 0., 0., 0., 1., 6., 21., 56., -1., -9., -14., 2., -4., -28., 3., 6., -14., 0., 12., 8.},
    {0., 0., 0., 0., 0., -1., -7., -28., 0., 5., 28., -1., -4., 14., 1., -8., -14., 4., -2., -28.},
    {0., 0., 0., 0., 0., 0., 1., 8., 0., -1., -20., 0., 4., 8., -1., 0., 22., 0., -8., 8.},
    {0., 0., 0., 0., 0., 0., 0., -1., 0., 0., 7., 0., -1., -13., 0., 3., -5., -1., 3., 17.},
    {0., 0., 0., 0., 0., 0., 0., 0., 0., 0., -1., 0., 0., 6., 0., -1., -7., 0., 2., -12.},
    {0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., -1., 0., 0., 5., 0., -1., -2.},
    {0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., -1., 0., 0., 4.},
    {0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., -1.},
};

// increments that a rule takes
static inline int rule_length(int k)
{
    return RULE[k].smooth + RULE[k].alternating;
}

// Values of a component are a ring of HISTORY_DEPTH; slot of the one `age` steps before the newest.
static inline int slot_of(const prediction *past, int age)
{
    return (past->newest + age) % HISTORY_DEPTH;
}

// Weights by slot in the first iterate of a step of size h.
static void find_weights(const hn_simulation *simulation, double h, double *weights)
{
    const prediction *past = &simulation->past;
    double varied[HISTORY_DEPTH] = {0.0};
    const bool controlled = simulation->def.step_tolerance > 0.0;
    if (controlled) step_control_weights(simulation, h, varied);
    for (int age = 0; age < HISTORY_DEPTH; ++age)
        weights[slot_of(past, age)] = controlled ? varied[age] : WEIGHTS[age][past->rule];
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

// of these, how many are metres: they come first
static int length_count(const joint *j, bool joints)
{
    if (!joints) return 3;
    const joint_type *type = joint_type_of(j->kind);
    int count = 0;
    while (count < type->coordinate_count && !type->axes[count].turning) ++count;
    return count;
}

size_t predict_size(const hn_system *system, const reduction_type *kind)
{
    size_t count = 0;
    for (int i = 0; i < system->body_count; ++i)
        count += (size_t)component_count(&system->joints[i], kind->joint_prediction);
    return HISTORY_DEPTH * (count + (kind->joint_prediction ? (size_t)system->cut_row_count : 0));
}

void predict_prepare(hn_simulation *simulation)
{
    bool joints = simulation->reduction_kind->joint_prediction;
    for (int i = 0; i < simulation->system->body_count; ++i) {
        const joint *j = &simulation->system->joints[i];
        simulation->predicted[i] =
            (predicted_body){.count = (unsigned char)component_count(j, joints),
                             .lengths = (unsigned char)length_count(j, joints),
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

// Iterations move a planar point mass in its plane alone: what an extrapolation leaves beside it would stay and grow.
static inline void keep_in_plane(const system_body *body, hn_vec3 *displacement)
{
    if (body->kind != HN_BODY_PLANAR_POINT_MASS) return;
    hn_vec3 normal = body->plane[2];
    *displacement = vec3_add_scaled(*displacement, -vec3_dot(normal, *displacement), normal);
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
    const bool *parked = solved->equations.parked;
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
            if (parked != NULL && parked[i]) memset(increment, 0, sizeof increment);
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
        if (!joints) keep_in_plane(&system->bodies[i], &step->bodies[i].displacement);
        step_pose_from_body(system, step, i);
        step_delta_from_body(system, step, i);
    }
    if (!joints || velocities) return;
    extrapolate(values, system->cut_row_count, weights, step->closure);
    for (int c = 0; c < system->cut_count && parked != NULL; ++c) {
        const joint *cut = &system->cuts[c];
        if (parked[cut->child >= 0 ? cut->child : cut->parent])
            memset(step->closure + system->cut_row[c], 0, (size_t)cut->row_count * sizeof(double));
    }
}

// What each rule would have left of a component, at most so far; rules longer than what is known say nothing.
static inline void note_left(const prediction *past, const double *values, double increment,
                             double unit, double *restrict largest)
{
    double left[RULES];
    for (int k = 0; k < RULES; ++k) left[k] = increment;
    for (int age = 0; age < HISTORY_DEPTH; ++age) {
        const double value = values[slot_of(past, age)];
        for (int k = 0; k < RULES; ++k) left[k] -= WEIGHTS[age][k] * value;
    }
    for (int k = 0; k < RULES; ++k) {
        double size = fabs(left[k]) / unit;
        largest[k] = size > largest[k] ? size : largest[k];
    }
}

// Where an extrapolation leaves more than this, a long one may lead to another solution of a step that has several.
static const double SMOOTH = 1e-5; // rad, m over the body's size
enum { LENGTH_ROUGH = 3 };

static int best_rule(const double *largest, int count)
{
    int best = 0;
    for (int k = 1; k < RULES; ++k)
        if (rule_length(k) <= count && largest[k] < largest[best]) best = k;
    if (largest[best] < SMOOTH) return best;
    return count < LENGTH_ROUGH ? count : LENGTH_ROUGH - 1; // the step that tells is known as well
}

void predict_record(hn_simulation *simulation, const solved_step *solved)
{
    const hn_system *system = simulation->system;
    prediction *past = &simulation->past;
    const bool joints = simulation->reduction_kind->joint_prediction;
    // one step in twelve tells the rule for the next ones; not by its iterations, which hang on the frame
    const bool choose = past->count > 0 && (past->newest == 0 || past->count < HISTORY_DEPTH);
    double *values = simulation->history, largest[RULES] = {0.0};
    const int slot = slot_of(past, HISTORY_DEPTH - 1);
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
            double unit = k < simulation->predicted[i].lengths ? system->unit_length[i] : 1.0;
            if (choose) note_left(past, values, increment[k], unit, largest);
            values[slot] = increment[k];
        }
    }
    for (int k = 0; joints && k < system->cut_row_count; ++k, values += HISTORY_DEPTH)
        values[slot] = solved->equations.weight == 0.0 ? 0.0 : solved->data.closure[k];
    past->newest = slot;
    int known = past->count;
    if (past->count < HISTORY_DEPTH) past->count++;
    if (choose) past->rule = best_rule(largest, known);
    else if (known == 0) past->rule = 0;
}
