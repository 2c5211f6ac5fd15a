// SPDX-License-Identifier: MIT
// Outputs: places, velocities and accelerations of points, distances, angles, reactions, drives, energies, expressions.
#include "simulation/outputs.h"

#include "simulation/simulation.h"

#include <math.h>
#include <string.h>

/// An output with bodies as the system counts them. Points are from the centre of mass, in directors.
typedef struct output {
    hn_output_kind kind;
    int a, b; ///< tree index or GROUND
    hn_vec3 point_a, point_b, axis;
    int joint; ///< of the model
    int index; ///< where its number stands in a series: of a coordinate, of a drive
    hn_output_frame frame;
    int column;
    const time_instruction *code;
    int code_count;
} output;

struct output_set {
    int count;
    output *list;
    time_instruction *code; ///< of all expressions
    bool accelerations;     ///< some are asked for
    int not_finite1;        ///< the first output that was no finite number, from 1; 0: none was
    double not_finite_time; ///< s
};

void outputs_destroy(hn_context *context, output_set *outputs)
{
    if (outputs == NULL) return;
    context_release(context, outputs->list);
    context_release(context, outputs->code);
    context_release(context, outputs);
}

// ---- from the model -------------------------------------------------------------------------------------

static hn_vec3 direction_of(const hn_system *system, int body, hn_vec3 x)
{
    return body < 0 ? x : mat3_apply(&system->bodies[body].user_axes, x);
}

static hn_vec3 point_of(const hn_system *system, const hn_model *model, int body, hn_vec3 x)
{
    if (body < 0) return x;
    hn_vec3 center = model->bodies[system->bodies[body].model_index].center_of_mass;
    return direction_of(system, body, vec3_subtract(x, center));
}

static int place_of(const hn_system *system, int body)
{
    return body < 0 ? GROUND : system->tree_place[body];
}

static output compile_output(const hn_simulation *s, const hn_model *model,
                             const model_output *from)
{
    const hn_system *system = s->system;
    const hn_output_def *def = &from->def;
    output o = {.kind = def->kind,
                .a = place_of(system, from->body_a),
                .b = place_of(system, from->body_b),
                .joint = from->joint,
                .index = def->drive,
                .frame = def->frame,
                .column = from->column,
                .code_count = from->code_count};
    bool directions = def->kind == HN_OUTPUT_ANGLE;
    o.point_a = directions ? direction_of(system, o.a, def->point_a)
                           : point_of(system, model, o.a, def->point_a);
    o.point_b = directions ? direction_of(system, o.b, def->point_b)
                           : point_of(system, model, o.b, def->point_b);
    o.axis = direction_of(system, o.a, def->axis);
    if (from->joint < 0) return o;
    o.a = place_of(system, model->joints[from->joint].body_a);
    o.b = place_of(system, model->joints[from->joint].body_b);
    o.index = def->coordinate;
    for (int k = 0; k < from->joint; ++k) o.index += simulation_joint_coordinate_count(system, k);
    return o;
}

hn_status outputs_create(hn_simulation *s, const hn_model *model, output_set **out)
{
    *out = NULL;
    if (model->output_count == 0) return HN_OK;
    size_t count = (size_t)model->output_count, code = 0;
    bool accelerations = false;
    for (size_t i = 0; i < count; ++i) {
        code += (size_t)model->outputs[i].code_count;
        accelerations = accelerations || model->outputs[i].def.kind == HN_OUTPUT_ACCELERATION;
    }
    output_set *set = context_allocate(s->context, sizeof *set);
    if (set == NULL) return HN_OUT_OF_MEMORY;
    set->list = context_allocate(s->context, count * sizeof *set->list);
    set->code = context_allocate(s->context, (code + 1) * sizeof *set->code);
    set->accelerations = accelerations;
    if (set->list == NULL || set->code == NULL) {
        outputs_destroy(s->context, set);
        return HN_OUT_OF_MEMORY;
    }
    set->count = (int)count;
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        const model_output *from = &model->outputs[i];
        set->list[i] = compile_output(s, model, from);
        if (from->code_count == 0) continue;
        set->list[i].code = set->code + used;
        memcpy(set->code + used, from->code, (size_t)from->code_count * sizeof *set->code);
        used += (size_t)from->code_count;
    }
    *out = set;
    return HN_OK;
}

// ---- at a state -------------------------------------------------------------------------------------------

/// Place, velocity and acceleration of what moves with a body.
typedef struct moving_point {
    hn_vec3 x, v, a;
} moving_point;

// What a body carries: velocities of its centre and its turning.
typedef struct body_motion {
    hn_vec3 center, v, omega, a, alpha;
} body_motion;

static body_motion motion_of(const hn_simulation *s, int body)
{
    body_motion m = {0};
    if (body < 0) return m;
    size_t at = 3 * (size_t)s->system->bodies[body].model_index;
    m.center = pose_center(system_pose(s->state.q, body));
    m.v = vec3_load(s->observed.data[SERIES_BODY_VELOCITY] + at);
    m.omega = vec3_load(s->observed.data[SERIES_BODY_ANGULAR_VELOCITY] + at);
    if (s->outputs->accelerations) {
        m.a = vec3_load(s->observed.data[SERIES_BODY_ACCELERATION] + at);
        m.alpha = vec3_load(s->observed.data[SERIES_BODY_ANGULAR_ACCELERATION] + at);
    }
    return m;
}

static moving_point carried(const body_motion *m, hn_vec3 x)
{
    hn_vec3 arm = vec3_subtract(x, m->center), turning = vec3_cross(m->omega, arm);
    return (moving_point){
        .x = x,
        .v = vec3_add(m->v, turning),
        .a = vec3_add(vec3_add(m->a, vec3_cross(m->alpha, arm)), vec3_cross(m->omega, turning))};
}

// Components along the user's axes of a body at a pose.
static hn_vec3 along_axes(const hn_simulation *s, int body, const double *q, hn_vec3 x)
{
    const hn_mat3 *axes = &s->system->bodies[body].user_axes;
    return vec3(vec3_dot(x, pose_direction(q, mat3_column(axes, 0))),
                vec3_dot(x, pose_direction(q, mat3_column(axes, 1))),
                vec3_dot(x, pose_direction(q, mat3_column(axes, 2))));
}

static hn_vec3 seen_by(const hn_simulation *s, int body, hn_vec3 x)
{
    return body < 0 ? x : along_axes(s, body, system_pose(s->state.q, body), x);
}

static void find_point(const hn_simulation *s, const output *o, double *values)
{
    const double *q = s->state.q;
    body_motion own = motion_of(s, o->a), other = motion_of(s, o->b);
    moving_point p = carried(&own, pose_point(system_pose(q, o->a), o->point_a)),
                 c = carried(&other, p.x);
    hn_vec3 v = vec3_subtract(p.v, c.v), result = v;
    if (o->kind == HN_OUTPUT_POSITION)
        result = o->b < 0 ? p.x : vec3_subtract(p.x, pose_point(system_pose(q, o->b), o->point_b));
    if (o->kind == HN_OUTPUT_ACCELERATION)
        result = vec3_add_scaled(vec3_subtract(p.a, c.a), -2.0, vec3_cross(other.omega, v));
    vec3_store(seen_by(s, o->b, result), values);
}

static double find_angle(const hn_simulation *s, const output *o)
{
    const double *a = system_pose(s->state.q, o->a), *b = system_pose(s->state.q, o->b);
    hn_vec3 first = pose_direction(a, o->point_a), second = pose_direction(b, o->point_b),
            across = vec3_cross(first, second), axis = pose_direction(a, o->axis);
    double size = vec3_norm(axis), cosine = vec3_dot(first, second);
    if (!(size > 0.0)) return atan2(vec3_norm(across), cosine);
    // about an axis: between what the directions have at right angles to it
    axis = vec3_scale(1.0 / size, axis);
    return atan2(vec3_dot(across, axis), cosine - vec3_dot(first, axis) * vec3_dot(second, axis));
}

static double find_distance(const hn_simulation *s, const output *o)
{
    return vec3_norm(vec3_subtract(pose_point(system_pose(s->state.q, o->b), o->point_b),
                                   pose_point(system_pose(s->state.q, o->a), o->point_a)));
}

static void find_reaction(const hn_simulation *s, const output *o, double *values)
{
    const double *from =
        s->observed.data[o->kind == HN_OUTPUT_REACTION_FORCE ? SERIES_JOINT_REACTION_FORCE
                                                             : SERIES_JOINT_REACTION_TORQUE] +
        3 * (size_t)o->joint;
    int body = o->frame == HN_FRAME_WORLD ? GROUND : o->frame == HN_FRAME_A ? o->a : o->b;
    hn_vec3 reaction = vec3_load(from);
    const solved_step *step = body < 0 ? NULL : simulation_reaction_step((hn_simulation *)s);
    if (step != NULL) { // found with the reaction: nothing is solved here
        double pose[POSE_SIZE];
        simulation_reaction_pose(s, step, body, pose);
        reaction = along_axes(s, body, pose, reaction);
    }
    vec3_store(reaction, values);
}

static void store_angle(const hn_simulation *s, const output *o, double *to)
{
    *to = find_angle(s, o);
}

static void store_distance(const hn_simulation *s, const output *o, double *to)
{
    *to = find_distance(s, o);
}

/// How the outputs of a kind are found: by a function, or read off a series; of neither: an expression.
typedef struct output_type {
    bool observes;
    observation_group group; ///< what must be known of the state
    void (*find)(const hn_simulation *s, const output *o, double *to);
    series_id series;
} output_type;

static const output_type TYPES[HN_OUTPUT_KIND_COUNT] = {
    [HN_OUTPUT_POSITION] = {true, OBSERVE_BODIES, find_point, SERIES_COUNT},
    [HN_OUTPUT_VELOCITY] = {true, OBSERVE_BODIES, find_point, SERIES_COUNT},
    [HN_OUTPUT_ACCELERATION] = {true, OBSERVE_BODIES, find_point, SERIES_COUNT},
    [HN_OUTPUT_DISTANCE] = {false, OBSERVE_RUN, store_distance, SERIES_COUNT},
    [HN_OUTPUT_ANGLE] = {false, OBSERVE_RUN, store_angle, SERIES_COUNT},
    [HN_OUTPUT_REACTION_FORCE] = {true, OBSERVE_REACTIONS, find_reaction, SERIES_COUNT},
    [HN_OUTPUT_REACTION_TORQUE] = {true, OBSERVE_REACTIONS, find_reaction, SERIES_COUNT},
    [HN_OUTPUT_COORDINATE] = {true, OBSERVE_JOINTS, NULL, SERIES_JOINT_COORDINATE},
    [HN_OUTPUT_RATE] = {true, OBSERVE_JOINTS, NULL, SERIES_JOINT_RATE},
    [HN_OUTPUT_EFFORT] = {true, OBSERVE_DRIVES, NULL, SERIES_DRIVE_EFFORT},
    [HN_OUTPUT_POWER] = {true, OBSERVE_DRIVES, NULL, SERIES_DRIVE_POWER},
    [HN_OUTPUT_KINETIC_ENERGY] = {true, OBSERVE_TOTALS, NULL, SERIES_KINETIC},
    [HN_OUTPUT_POTENTIAL_ENERGY] = {true, OBSERVE_TOTALS, NULL, SERIES_POTENTIAL},
    [HN_OUTPUT_ENERGY] = {true, OBSERVE_TOTALS, NULL, SERIES_ENERGY},
    [HN_OUTPUT_EXPRESSION] = {false, OBSERVE_RUN, NULL, SERIES_COUNT},
};

static void find_output(const hn_simulation *s, const output *o, double *values)
{
    const output_type *type = &TYPES[o->kind];
    double *to = values + o->column;
    if (type->find != NULL) type->find(s, o, to);
    else if (type->series != SERIES_COUNT) *to = s->observed.data[type->series][o->index];
    else *to = time_expression_with(o->code, o->code_count, hn_simulation_time(s), values);
}

// Roots of what is negative, quotients by zero: the numbers stand as they are, and are told of.
static void note_not_finite(hn_simulation *s, output_set *set, const double *values)
{
    const int width = (int)s->observed.extent.output_count;
    for (int i = 0; i < set->count && set->not_finite1 == 0; ++i) {
        int end = i + 1 < set->count ? set->list[i + 1].column : width;
        for (int k = set->list[i].column; k < end; ++k)
            if (!isfinite(values[k])) set->not_finite1 = i + 1;
    }
    set->not_finite_time = hn_simulation_time(s);
}

int outputs_not_finite(const output_set *set, double *time)
{
    if (set == NULL) return -1;
    *time = set->not_finite_time;
    return set->not_finite1 - 1;
}

hn_status outputs_find(hn_simulation *s, double *values)
{
    output_set *set = s->outputs;
    if (set == NULL) return HN_OK;
    for (int i = 0; i < set->count; ++i) {
        const output_type *type = &TYPES[set->list[i].kind];
        if (type->observes) TRY(simulation_observe(s, type->group));
    }
    if (set->accelerations) TRY(simulation_observe(s, OBSERVE_ACCELERATIONS));
    for (int i = 0; i < set->count; ++i) find_output(s, &set->list[i], values);
    if (set->not_finite1 == 0) note_not_finite(s, set, values);
    return HN_OK;
}
