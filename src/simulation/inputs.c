// SPDX-License-Identifier: MIT
// Inputs as forces and torques on bodies (F20). An effort e on a coordinate with the axis n is, for a way, the force
// e n on b at its joint point and -e n on a at the same place; for a turn the torques e n and -e n. Axes and places are
// those half a step ahead, by the velocities at its start: second order. What they do is work of loads. A drive is told
// a number in place of its function of time.
#include "simulation/simulation.h"

#include "system/mass.h"

#include <math.h>
#include <string.h>

size_t inputs_count(const hn_simulation *s)
{
    return s->inputs.coordinate_count + 6 * s->inputs.body_count + s->inputs.drive_count;
}

void inputs_layout(arena *a, hn_simulation *s)
{
    if (!s->system->has_inputs || s->borrowed) return;
    series_extent extent;
    observation_measure(s->system, &extent);
    s->inputs.coordinate_count = extent.coordinate_count;
    s->inputs.body_count = extent.body_count;
    s->inputs.drive_count = extent.drive_count;
    s->inputs.values = arena_doubles(a, inputs_count(s));
    s->inputs.solved = arena_doubles(a, inputs_count(s));
}

static double *drive_values(const simulation_inputs *in)
{
    return in->values + in->coordinate_count + 6 * in->body_count;
}

void inputs_start(hn_simulation *s)
{
    if (s->inputs.values == NULL) return;
    double *told = drive_values(&s->inputs);
    for (size_t i = 0; i < s->inputs.drive_count; ++i) told[i] = (double)NAN;
}

bool inputs_changed(const hn_simulation *s)
{
    return inputs_count(s) > 0 &&
           memcmp(s->inputs.values, s->inputs.solved, inputs_count(s) * sizeof(double)) != 0;
}

// Pose of a body half a step ahead.
static void pose_ahead(const hn_simulation *s, int body, double half, double *pose)
{
    memcpy(pose, system_pose(s->state.q, body), POSE_SIZE * sizeof(double));
    if (body < 0) return;
    size_t at = POSE_SIZE * (size_t)body;
    const double *x = s->state.impetus + at;
    double twist[TWIST_SIZE];
    if (s->scheme->impetus_is_momentum) mass_twist(s->system, body, s->state.q + at, x, twist);
    else velocity_to_twist(s->state.q + at, x, twist);
    for (int k = 0; k < 3; ++k) pose[k] += half * twist[k];
    if (!s->system->bodies[body].has_directors) return;
    hn_vec3 turn = vec3_scale(half, vec3_load(twist + 3));
    hn_mat3 rotation = rotation_exponential(turn);
    for (int k = 1; k < 4; ++k)
        vec3_store(mat3_apply(&rotation, vec3_load(pose + 3 * k)), pose + 3 * k);
}

// Place of a body's force and torque among the elements.
static void add_wrench(hn_simulation *s, int body, hn_vec3 force, hn_vec3 torque)
{
    if (body < 0) return;
    element *e = &s->system->elements[s->system->input_first[body]];
    e[0].vector = vec3_add(e[0].vector, force);
    if (s->system->bodies[body].has_directors) e[1].vector = vec3_add(e[1].vector, torque);
}

static void add_effort(hn_simulation *s, int index, const double *efforts, int count, double half)
{
    const system_joint *report = &s->system->reports[index];
    const joint *j = &report->rows;
    double a[POSE_SIZE], b[POSE_SIZE], sign = report->rows_swapped ? -1.0 : 1.0;
    pose_ahead(s, j->parent, half, a);
    pose_ahead(s, j->child, half, b);
    hn_vec3 zero = vec3(0.0, 0.0, 0.0), arm_b = pose_direction(b, j->rho_b);
    hn_vec3 arm_a = vec3_subtract(vec3_add(pose_center(b), arm_b), pose_center(a));
    for (int k = 0; k < count; ++k) {
        hn_vec3 x = vec3_scale(sign * efforts[k], joint_coordinate_axis(j, k, a, b));
        bool turning = joint_type_of(j->kind)->axes[k].turning;
        hn_vec3 force = turning ? zero : x;
        add_wrench(s, j->child, force, turning ? x : vec3_cross(arm_b, x));
        add_wrench(s, j->parent, vec3_negate(force),
                   vec3_negate(turning ? x : vec3_cross(arm_a, x)));
    }
}

void inputs_apply(hn_simulation *s, double h)
{
    const hn_system *system = s->system;
    const simulation_inputs *in = &s->inputs;
    if (in->values == NULL) return;
    const double *force = in->values + in->coordinate_count, *torque = force + 3 * in->body_count;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = 3 * (size_t)system->bodies[i].model_index;
        element *e = &system->elements[system->input_first[i]];
        e[0].vector = vec3_load(force + at);
        if (system->bodies[i].has_directors) e[1].vector = vec3_load(torque + at);
    }
    for (size_t i = 0; i < in->drive_count; ++i) system->laws[i].held = drive_values(in)[i];
    int start = 0;
    for (int k = 0; k < system->joint_count; ++k) {
        int count = simulation_joint_coordinate_count(system, k);
        bool any = false;
        for (int c = 0; c < count; ++c) any |= in->values[start + c] != 0.0;
        if (any) add_effort(s, k, in->values + start, count, 0.5 * h);
        start += count;
    }
    memcpy(in->solved, in->values, inputs_count(s) * sizeof(double));
}

void inputs_lift(hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int i = 0; s->inputs.values != NULL && i < system->body_count; ++i) {
        element *e = &system->elements[system->input_first[i]];
        e[0].vector = vec3(0.0, 0.0, 0.0);
        if (system->bodies[i].has_directors) e[1].vector = e[0].vector;
    }
}

hn_status inputs_control(hn_simulation *s)
{
    TRY(simulation_observe(s, OBSERVE_JOINTS));
    const hn_control control = {.time = hn_simulation_time(s),
                                .step_size = s->def.step_size,
                                .coordinate_count = (int)s->inputs.coordinate_count,
                                .coordinates = s->observed.data[SERIES_JOINT_COORDINATE],
                                .rates = s->observed.data[SERIES_JOINT_RATE],
                                .efforts = s->inputs.values};
    return s->controller(s, &control, s->controller_user);
}

hn_status hn_simulation_set_controller(hn_simulation *s, hn_controller_function function,
                                       void *user)
{
    REQUIRE(NULL, s != NULL);
    if (function != NULL && s->inputs.values == NULL)
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "this simulation was created without inputs: set hn_simulation_def.inputs");
    s->controller = function;
    s->controller_user = user;
    return HN_OK;
}

hn_status hn_simulation_input(hn_simulation *s, const char *name, hn_input *input)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, name != NULL && input != NULL);
    *input = (hn_input){0};
    if (s->inputs.values == NULL)
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "this simulation was created without inputs: set hn_simulation_def.inputs");
    const simulation_inputs *in = &s->inputs;
    double *force = in->values + in->coordinate_count;
    if (strcmp(name, "joints/effort") == 0)
        *input = (hn_input){
            .data = in->values, .rank = 1, .shape = {in->coordinate_count}, .strides = {1}};
    else if (strcmp(name, "bodies/force") == 0)
        *input =
            (hn_input){.data = force, .rank = 2, .shape = {in->body_count, 3}, .strides = {3, 1}};
    else if (strcmp(name, "bodies/torque") == 0)
        *input = (hn_input){.data = force + 3 * in->body_count,
                            .rank = 2,
                            .shape = {in->body_count, 3},
                            .strides = {3, 1}};
    else if (strcmp(name, "drives/command") == 0)
        *input = (hn_input){
            .data = drive_values(in), .rank = 1, .shape = {in->drive_count}, .strides = {1}};
    else
        return context_fail(
            s->context, HN_INVALID_ARGUMENT,
            "no input '%s'; there are joints/effort, bodies/force, bodies/torque and "
            "drives/command",
            name);
    return HN_OK;
}
