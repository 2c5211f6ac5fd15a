// SPDX-License-Identifier: MIT
// Angles that count turns, followed through every step, nominal or halved.
//
// A look at an angle costs an arc tangent. Between two looks a joint has turned by no more than the sum of the
// differences of its bodies' Cayley vectors; while that stays well below half a turn, the nearest angle is the right
// one.
#include "simulation/simulation.h"

#include "model/model.h"
#include "system/angles.h"

#include <string.h>

static const double SLACK_MAX = 1.0; // rad

int turns_find(const hn_system *system, turning_joint *turning, int *pair_count)
{
    int count = 0, pairs = 0;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (system_joint_counts_turns(system, k))
            turning[count++] = (turning_joint){k, j->parent, j->child};
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (system->reports[k].pair >= 0)
            turning[count + pairs++] = (turning_joint){k, j->parent, j->child};
    }
    *pair_count = pairs;
    return count;
}

void turns_begin(hn_simulation *s, const hn_model *model)
{
    for (int i = s->turning_count; i < s->turning_count + s->pair_count; ++i) {
        int k = s->turning[i].joint;
        double *angles = s->joint_angles + s->system->reports[k].pair;
        for (int c = 0; c < 2; ++c) angles[c] = model_start_turn(&model->joints[k], c);
    }
}

// Two angles each go on by less than half a turn, as drives on them do.
static void follow_pairs(hn_simulation *s, const double *q)
{
    for (int i = s->turning_count; i < s->turning_count + s->pair_count; ++i) {
        int k = s->turning[i].joint;
        system_joint_two_angles(s->system, k, q, s->joint_angles + s->system->reports[k].pair);
    }
}

// Where even the turns of the bodies leave open how often a joint went round.
static void note_doubt(hn_simulation *s, int index, double time)
{
    if (s->statistics.doubtful_turn_count++ > 0) return;
    context_log(
        s->context,
        "joint '%s': it turned so far in the step from t = %.6g s that its angle may be off "
        "by whole turns from there on; a smaller step is sure",
        s->system->reports[index].name, time);
}

static void look_after(hn_simulation *s, const solved_step *step, int index)
{
    bool doubtful = false;
    double start = system_joint_angle(s->system, index, step->data.q_start, s->joint_angles[index]);
    s->joint_angles[index] = system_joint_angle_after(s->system, index, step->data.q_start,
                                                      step->data.q, start, &doubtful);
    s->joint_slack[index] = 0.0;
    if (doubtful) note_doubt(s, index, step->equations.time);
}

static inline double most_turned(const body_step *bodies, const turning_joint *t)
{
    hn_vec3 a = {0.0, 0.0, 0.0}, b = a;
    if (t->a >= 0) a = bodies[t->a].rotation;
    if (t->b >= 0) b = bodies[t->b].rotation;
    return fabs(b.x - a.x) + fabs(b.y - a.y) + fabs(b.z - a.z);
}

// The numbers of a drive, with its load over the whole of the step.
static void follow_drive(hn_simulation *s, const solved_step *step, int index, double angle)
{
    const element *e = &s->system->elements[index];
    element_step view = step_element_view(s->system, &step->equations, &step->data, index);
    view.load_begin = step->equations.time;
    view.load_end = step->equations.time + step->equations.step_size;
    view.damper_excess = 0.0;
    view.angle_start = s->angles[e->angle];
    drive_follow(e, &view, angle, s->angles + e->angle);
}

void turns_follow(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    if (s->scheme->any_rotation) {
        memcpy(s->joint_angles, s->next_joint_angles, (size_t)system->joint_count * sizeof(double));
        if (s->doubtful_joint >= 0) note_doubt(s, s->doubtful_joint, step->equations.time);
    } else if (s->scheme->solver_step != NULL) {
        for (int i = 0; i < s->turning_count; ++i) look_after(s, step, s->turning[i].joint);
    } else {
        for (int i = 0; i < s->turning_count; ++i) {
            double *slack = &s->joint_slack[s->turning[i].joint];
            *slack += most_turned(step->data.bodies, &s->turning[i]);
            if (*slack > SLACK_MAX) look_after(s, step, s->turning[i].joint);
        }
    }
    follow_pairs(s, step->data.q);
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle < 0) continue;
        if (e->turns && s->joint_slack[e->joint] > 0.0) look_after(s, step, e->joint);
        double angle =
            element_angle(e, system_pose(step->data.q, e->a), system_pose(step->data.q, e->b),
                          e->turns ? s->joint_angles[e->joint] : s->angles[e->angle]);
        if (e->rotation) {
            element_step view = step_element_view(system, &step->equations, &step->data, i);
            angle = s->angles[e->angle] + element_angle_after(e, &view) - view.angle_start;
        }
        if (e->law != NULL) follow_drive(s, step, i, angle);
        else s->angles[e->angle] = angle;
    }
}

void simulation_update_angles(hn_simulation *s)
{
    if (s->angles_valid) return;
    s->angles_valid = true;
    for (int i = 0; i < s->turning_count; ++i) {
        int k = s->turning[i].joint;
        s->joint_angles[k] = system_joint_angle(s->system, k, s->state.q, s->joint_angles[k]);
        s->joint_slack[k] = 0.0;
    }
    follow_pairs(s, s->state.q);
}
