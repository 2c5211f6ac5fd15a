// SPDX-License-Identifier: MIT
// A state set from outside: poses that fit the joints, velocities that fit them nearly; and accelerations at a state.
#include "simulation/composed.h"
#include "simulation/not_finite.h"
#include "simulation/simulation.h"
#include "simulation/snapshot.h"
#include "simulation/state_dynamics.h"

#include "system/angles.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

static const double MISFIT_MAX =
    1e-9; // of a joint, over its size, or rad: a state that was copied fits to round-off
static const double REST_ROUND_OFF =
    64.0 * DBL_EPSILON; // of places, over a step: velocities below say nothing

static hn_status check_poses(hn_simulation *s, const double *q)
{
    constraint_check check = system_check_constraints(s->system, q);
    if (check.orthonormality > MISFIT_MAX)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "the orientation of a body is no rotation: off by %.3g",
                            check.orthonormality);
    if (!isfinite(check.orthonormality + check.relative + check.opening))
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "these poses are out of range: how far joint '%s' is open cannot be "
                            "told",
                            s->system->reports[check.worst_joint < 0 ? 0 : check.worst_joint].name);
    if (check.worst_joint < 0 || check.relative <= MISFIT_MAX) return HN_OK;
    return context_fail(s->context, HN_INVALID_ARGUMENT,
                        "joint '%s' does not hold at these poses: it is open by %.3g m, %.3g rad",
                        s->system->reports[check.worst_joint].name, check.worst_opening,
                        check.worst_misalignment);
}

// What the joints take of the velocities of a mechanism must be small beside them: bodies that nothing connects with it
// may be as fast as they like.
static hn_status check_mechanism(hn_simulation *s, int mechanism, const double *q,
                                 const double *allowed, const double *twists)
{
    const hn_system *system = s->system;
    double largest = 0.0, change = 0.0, place = 0.0;
    int worst = 0;
    for (int m = system->mechanism_start[mechanism]; m < system->mechanism_start[mechanism + 1];
         ++m) {
        int i = system->mechanism_bodies[m];
        place =
            fmax(place, system->unit_length[i] + vec3_norm(vec3_load(q + POSE_SIZE * (size_t)i)));
        for (int k = 0; k < TWIST_SIZE; ++k) {
            size_t at = TWIST_SIZE * (size_t)i + (size_t)k;
            if (!isfinite(allowed[at]) || !isfinite(twists[at]))
                return context_fail(s->context, HN_NOT_FINITE,
                                    "body '%s': its velocity is out of range, %.3g m/s and %.3g "
                                    "rad/s are asked for",
                                    system->bodies[i].name,
                                    vec3_norm(vec3_load(twists + TWIST_SIZE * (size_t)i)),
                                    vec3_norm(vec3_load(twists + TWIST_SIZE * (size_t)i + 3)));
            double arm = k < 3 ? 1.0 : system->sizes[i], off = arm * fabs(allowed[at] - twists[at]);
            if (k >= 3 && !system->bodies[i].has_directors) continue;
            largest = fmax(largest, arm * fabs(twists[at]));
            if (off > change) change = off, worst = i;
        }
    }
    // what a mechanism at rest has left of its steps is round-off
    if (change <= fmax(s->def.start_tolerance * largest, REST_ROUND_OFF * place / s->def.step_size))
        return HN_OK;
    return context_fail(s->context, HN_INVALID_ARGUMENT,
                        "body '%s': the joints take %.3g m/s of its velocity, more than the "
                        "tolerance of %.3g of the largest velocity %.3g m/s in its mechanism",
                        system->bodies[worst].name, change, s->def.start_tolerance, largest);
}

// Velocities of all bodies that the joints allow, nearest to the given twists; what they change must be small.
static hn_status allowed_velocities(hn_simulation *s, const double *q, const double *twists,
                                    double *v, double *scratch)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i)
        twist_to_velocity(q + POSE_SIZE * (size_t)i, twists + TWIST_SIZE * (size_t)i,
                          v + POSE_SIZE * (size_t)i);
    mass_apply(system, 1.0, v, scratch);
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    hn_status status = saddle_project(s->projection, q, scratch, v);
    if (status != HN_OK)
        return context_fail(s->context, status, "the velocities cannot be made to fit the joints");
    memcpy(scratch, v, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    for (int m = 0; m < system->mechanism_count; ++m)
        TRY(check_mechanism(s, m, q, scratch, twists));
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(q + at, scratch + TWIST_SIZE * (size_t)i, v + at);
        if (!system->bodies[i].has_directors)
            memset(v + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
        memcpy(s->system->twist_start + TWIST_SIZE * (size_t)i, scratch + TWIST_SIZE * (size_t)i,
               TWIST_SIZE * sizeof(double));
    }
    return HN_OK;
}

// The state is q, v from now on; time and steps go on, the ledger begins anew.
static hn_status take_state(hn_simulation *s, const double *q, const double *v,
                            double *acceleration)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    hn_status status = HN_OK;
    memcpy(s->state.q, q, count * sizeof(double));
    s->steps[0].valid = s->steps[1].valid = false;
    simulation_forget_derived(s);
    s->observed.verdicts_known = false;
    simulation_update_angles(s);
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle >= 0)
            s->angles[e->angle] = element_angle(e, system_pose(q, e->a), system_pose(q, e->b),
                                                simulation_angle_near(s, e));
        // friction decides anew, stops are open, and latches but where they were locked
        if (e->law == NULL) continue;
        double sign = e->law->sign;
        if (!holds_stay_locked(s, e, sign * s->angles[e->angle], sign * simulation_rate(e, q, v)))
            s->angles[e->angle + DRIVE_MODE] = 0.0;
        s->angles[e->angle + DRIVE_HOLD] = 0.0;
    }
    simulation_start_rotors(s, v);
    inputs_apply(s, 0.0);
    if (s->scheme->inputs_apart) inputs_lift(s);
    if (s->scheme->memory_count > 0)
        status = simulation_accelerations(s, v, !s->scheme->dampers_apart, s->def.step_size,
                                          acceleration);
    if (status == HN_OK) s->scheme->start(system, v, acceleration, &s->state);
    TRY(status);
    composed_forget(s);
    s->work = 0.0;
    s->accuracy = (accuracy_record){0};
    step_control_forget(s);
    memset(s->works, 0, (size_t)system->mechanism_count * sizeof(double));
    memset(s->differences, 0, s->difference_count * sizeof(double));
    dampers_forget(s);
    simulation_forget_derived(s);
    TRY(ledger_start(s));
    if (!observe_finite(s))
        return context_fail(s->context, HN_NOT_FINITE,
                            "this state is out of range: its energy or momentum is not finite");
    return observe_subscribed(s);
}

// Whole turns: angles are those that were asked for.
static void take_turns(hn_simulation *s, const double *coordinates)
{
    const hn_system *system = s->system;
    for (int k = 0; k < system->joint_count; ++k) {
        int place = joint_angle_place(system->reports[k].rows.kind),
            start = s->observed.coordinate_start[k];
        if (place >= 0 && s->observed.coordinate_start[k + 1] > start)
            s->joint_angles[k] = coordinates[start + place];
        if (system->reports[k].pair >= 0)
            memcpy(s->joint_angles + system->reports[k].pair, coordinates + start,
                   2 * sizeof(double));
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->law == NULL || e->turns || e->rotation) continue;
        int at = s->observed.coordinate_start[e->joint] + e->law->coordinate;
        s->angles[e->angle] = e->law->sign * coordinates[at];
    }
}

// What a state is made of that may be refused: as before then.
typedef struct kept_state {
    void *snapshot;
    double *twist_start, *joint_angles, *angles;
} kept_state;

static void keep_state(const hn_simulation *s, kept_state *kept)
{
    const hn_system *system = s->system;
    snapshot_keep(s, kept->snapshot);
    memcpy(kept->twist_start, system->twist_start,
           TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(kept->joint_angles, s->joint_angles, system_joint_angle_count(system) * sizeof(double));
    memcpy(kept->angles, s->angles, (size_t)system->angle_count * sizeof(double));
}

// `begun`: more than angles has changed
static void return_state(hn_simulation *s, const kept_state *kept, bool begun)
{
    const hn_system *system = s->system;
    memcpy(system->twist_start, kept->twist_start,
           TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    memcpy(s->joint_angles, kept->joint_angles, system_joint_angle_count(system) * sizeof(double));
    memcpy(s->angles, kept->angles, (size_t)system->angle_count * sizeof(double));
    if (!begun) return;
    snapshot_take_back(s, kept->snapshot);
    (void)observe_subscribed(s); // it was possible before
}

// `coordinates` of joints: angles are those that were asked for; NULL: those near the ones before.
static hn_status settle_state(hn_simulation *s, const double *q, const double *twists,
                              const double *coordinates)
{
    const hn_system *system = s->system;
    size_t n = (size_t)system->body_count, count = POSE_SIZE * n,
           joints = system_joint_angle_count(system), angles = (size_t)system->angle_count,
           numbers = 3 * count + TWIST_SIZE * n + joints + angles;
    TRY(check_poses(s, q));
    double *v =
        context_allocate(s->context, numbers * sizeof(double) + hn_simulation_snapshot_size(s));
    if (v == NULL) return HN_OUT_OF_MEMORY;
    kept_state kept = {.snapshot = v + numbers, .twist_start = v + 3 * count};
    kept.joint_angles = kept.twist_start + TWIST_SIZE * n;
    kept.angles = kept.joint_angles + joints;
    keep_state(s, &kept);
    if (coordinates != NULL) take_turns(s, coordinates);
    bool begun = false;
    hn_status status = allowed_velocities(s, q, twists, v, v + count);
    if (status == HN_OK) status = holds_check_state(s, q, v);
    if (status == HN_OK) begun = true, status = take_state(s, q, v, v + 2 * count);
    if (status != HN_OK) return_state(s, &kept, begun);
    context_release(s->context, v);
    return status;
}

// Schemes with steps of their own look back further than a state.
static hn_status check_settable(const hn_simulation *s)
{
    if (s->scheme->solver_step == NULL || !s->scheme->any_rotation ||
        s->def.projected_rk.fixed_steps)
        return HN_OK;
    return context_fail(s->context, HN_INVALID_ARGUMENT,
                        "scheme '%s' takes steps of its own: its state cannot be set",
                        s->scheme->name);
}

hn_status hn_simulation_set_bodies(hn_simulation *s, const hn_body_values *values, int body_count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, values != NULL);
    const hn_system *system = s->system;
    if (body_count != system->body_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d bodies, not %d",
                            system->body_count, body_count);
    TRY(check_settable(s));
    TRY(simulation_observe(s, OBSERVE_BODIES));
    size_t n = (size_t)system->body_count;
    double *q = context_allocate(s->context, (POSE_SIZE + TWIST_SIZE) * n * sizeof(double));
    if (q == NULL) return HN_OUT_OF_MEMORY;
    double *twists = q + POSE_SIZE * n, *const *now = s->observed.data;
    memcpy(q, s->state.q, POSE_SIZE * n * sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        const system_body *body = &system->bodies[i];
        size_t at = (size_t)body->model_index;
        double *pose = q + POSE_SIZE * i, *twist = twists + TWIST_SIZE * i;
        if (values->position != NULL) memcpy(pose, values->position + 3 * at, 3 * sizeof(double));
        if (values->orientation != NULL && body->has_directors) {
            const double *r = values->orientation + 9 * at;
            for (int k = 0; k < 3; ++k) {
                // d_k = R (row k of the user's axes in directors)
                const double *u = body->user_axes.m[k];
                for (int x = 0; x < 3; ++x)
                    pose[3 + 3 * k + x] =
                        r[3 * x] * u[0] + r[3 * x + 1] * u[1] + r[3 * x + 2] * u[2];
            }
        }
        const double *v = values->velocity != NULL ? values->velocity : now[SERIES_BODY_VELOCITY],
                     *omega = values->angular_velocity != NULL ? values->angular_velocity
                                                               : now[SERIES_BODY_ANGULAR_VELOCITY];
        memcpy(twist, v + 3 * at, 3 * sizeof(double));
        memcpy(twist + 3, omega + 3 * at, 3 * sizeof(double));
    }
    bool finite = true;
    for (size_t k = 0; k < (POSE_SIZE + TWIST_SIZE) * n; ++k) finite &= (bool)isfinite(q[k]);
    hn_status status = finite ? settle_state(s, q, twists, NULL)
                              : context_fail(s->context, HN_INVALID_ARGUMENT,
                                             "a position or velocity is not a finite number");
    context_release(s->context, q);
    return status;
}

// ---- joint coordinates ------------------------------------------------------------------------------

// Turn and move a body until the coordinates of its joint are the wanted ones: one coordinate after the other, about
// its axis.
static void move_child(int body, const joint *j, int index, double change, double *q)
{
    const joint_type *type = joint_type_of(j->kind);
    const double *a = system_pose(q, j->parent), *b = system_pose(q, j->child);
    bool child_is_b = body == j->child;
    hn_vec3 axis = vec3_scale(child_is_b ? change : -change, joint_coordinate_axis(j, index, a, b));
    double *pose = q + POSE_SIZE * (size_t)body;
    if (!type->axes[index].turning) {
        vec3_store(vec3_add(vec3_load(pose), axis), pose);
        return;
    }
    hn_vec3 point = child_is_b ? pose_point(b, j->rho_b) : pose_point(a, j->rho_a);
    hn_mat3 rotation = rotation_exponential(axis);
    vec3_store(vec3_add(point, mat3_apply(&rotation, vec3_subtract(vec3_load(pose), point))), pose);
    for (int k = 1; k < 4; ++k)
        vec3_store(mat3_apply(&rotation, vec3_load(pose + 3 * k)), pose + 3 * k);
}

// A joint whose coordinates can be set one after the other: axes that are fixed in one of its bodies.
static bool is_settable(const joint *j)
{
    const joint_type *type = joint_type_of(j->kind);
    for (int k = 0; k < type->coordinate_count; ++k)
        if (type->axes[k].home == AXIS_OF_WORLD) return false;
    return true;
}

// Rigid motion of a body that carries its old pose into its parent's new place.
static void follow_parent(const double *old, const double *now, double *pose)
{
    double moved[POSE_SIZE];
    for (int k = 0; k < 4; ++k) {
        hn_vec3 x = vec3_load(pose + 3 * k);
        if (k == 0) x = vec3_subtract(x, vec3_load(old));
        hn_vec3 y = k == 0 ? vec3_load(now) : vec3(0.0, 0.0, 0.0);
        for (int d = 1; d < 4; ++d)
            y = vec3_add_scaled(y, vec3_dot(x, vec3_load(old + 3 * d)), vec3_load(now + 3 * d));
        vec3_store(y, moved + 3 * k);
    }
    memcpy(pose, moved, sizeof moved);
}

static hn_status refuse_joint(const hn_simulation *s, int index, const char *why)
{
    return context_fail(s->context, HN_INVALID_ARGUMENT,
                        "joint '%s': its coordinates cannot be set, %s; set the bodies instead",
                        s->system->reports[index].name, why);
}

// Turns first, since they move places; each by what is missing at the poses reached.
static void set_joint(int body, const system_joint *report, const double *wanted, int count,
                      double *q)
{
    const joint *j = &report->rows;
    const joint_type *type = joint_type_of(j->kind);
    double sign = report->rows_swapped ? -1.0 : 1.0;
    for (int turning = 1; turning >= 0; --turning)
        for (int k = 0; k < count; ++k) {
            double now[HN_JOINT_COORDINATES_MAX];
            if (type->axes[k].turning != (turning == 1)) continue;
            type->coordinates(j, system_pose(q, j->parent), system_pose(q, j->child), now);
            move_child(body, j, k, sign * wanted[k] - now[k], q);
        }
}

// From the start, not from where the bodies are: round-off of poses that follow poses would grow with every state.
// Bodies without a joint stay, or follow the body before them.
static void set_poses(const hn_simulation *s, const double *coordinates, double *q)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *tree = &system->joints[i];
        const double *from = tree->model_joint >= 0 ? system->q_start : s->state.q;
        double *pose = q + POSE_SIZE * (size_t)i;
        memcpy(pose, from + POSE_SIZE * (size_t)i, POSE_SIZE * sizeof(double));
        if (tree->parent >= 0)
            follow_parent(system_pose(from, tree->parent), system_pose(q, tree->parent), pose);
        if (tree->model_joint < 0) continue;
        const system_joint *report = &system->reports[tree->model_joint];
        int start = s->observed.coordinate_start[tree->model_joint],
            count = s->observed.coordinate_start[tree->model_joint + 1] - start;
        set_joint(i, report, coordinates + start, count, q);
    }
}

static void set_twists(const hn_simulation *s, const double *rates, const double *q, double *twists)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *tree = &system->joints[i];
        const double *pose = system_pose(q, i), *parent = system_pose(q, tree->parent);
        double *twist = twists + TWIST_SIZE * (size_t)i;
        if (tree->parent >= 0) {
            const double *t = twists + TWIST_SIZE * (size_t)tree->parent;
            hn_vec3 omega = vec3_load(t + 3),
                    arm = vec3_subtract(pose_center(pose), pose_center(parent));
            vec3_store(vec3_add(vec3_load(t), vec3_cross(omega, arm)), twist);
            vec3_store(omega, twist + 3);
        }
        if (tree->model_joint < 0) continue;
        const system_joint *report = &system->reports[tree->model_joint];
        const joint *j = &report->rows;
        const double *a = system_pose(q, j->parent), *b = system_pose(q, j->child);
        bool child_is_b = i == j->child;
        hn_vec3 point = pose_point(b, j->rho_b); // whose way is measured
        int start = s->observed.coordinate_start[tree->model_joint],
            count = s->observed.coordinate_start[tree->model_joint + 1] - start;
        double sign = report->rows_swapped == child_is_b ? -1.0 : 1.0;
        for (int k = 0; k < count; ++k) {
            hn_vec3 x = vec3_scale(sign * rates[start + k], joint_coordinate_axis(j, k, a, b));
            bool turning = joint_type_of(j->kind)->axes[k].turning;
            if (turning) vec3_store(vec3_add(vec3_load(twist + 3), x), twist + 3);
            hn_vec3 v = turning ? vec3_cross(x, vec3_subtract(pose_center(pose), point)) : x;
            vec3_store(vec3_add(vec3_load(twist), v), twist);
        }
    }
}

// Coordinates that are finite may lead where nothing is.
static hn_status check_range(const hn_simulation *s, const double *coordinates, const double *q)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count && coordinates != NULL; ++i)
        for (int k = 0; k < POSE_SIZE; ++k)
            if (!isfinite(system_pose(q, i)[k]))
                return context_fail(s->context, HN_INVALID_ARGUMENT,
                                    "body '%s': with these coordinates its place is out of range",
                                    system->bodies[i].name);
    return HN_OK;
}

hn_status hn_simulation_set_joints(hn_simulation *s, const double *coordinates, const double *rates,
                                   int count)
{
    REQUIRE(NULL, s != NULL);
    const hn_system *system = s->system;
    TRY(check_settable(s));
    TRY(simulation_observe(s, OBSERVE_BODIES));
    TRY(simulation_observe(s, OBSERVE_JOINTS));
    if (count < 0 || (size_t)count != s->observed.extent.coordinate_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "there are %zu joint coordinates, not %d",
                            s->observed.extent.coordinate_count, count);
    for (int k = 0; k < system->joint_count; ++k) {
        if (s->observed.coordinate_start[k + 1] == s->observed.coordinate_start[k]) continue;
        if (system->reports[k].cut >= 0) return refuse_joint(s, k, "it closes a loop");
        if (!is_settable(&system->reports[k].rows))
            return refuse_joint(s, k, "they are a rotation vector");
    }
    for (int k = 0; k < count; ++k)
        if ((coordinates != NULL && !isfinite(coordinates[k])) ||
            (rates != NULL && !isfinite(rates[k])))
            return context_fail(s->context, HN_INVALID_ARGUMENT,
                                "coordinate or rate %d is not a finite number", k);
    size_t n = (size_t)system->body_count;
    double *q = context_allocate(s->context, (POSE_SIZE + TWIST_SIZE) * n * sizeof(double));
    if (q == NULL) return HN_OUT_OF_MEMORY;
    double *twists = q + POSE_SIZE * n;
    memcpy(q, s->state.q, POSE_SIZE * n * sizeof(double));
    // bodies without a joint keep their velocities, the others follow from the rates
    for (size_t i = 0; i < n; ++i)
        if (system->joints[i].model_joint < 0 && system->joints[i].parent < 0) {
            size_t at = 3 * (size_t)system->bodies[i].model_index;
            memcpy(twists + TWIST_SIZE * i, s->observed.data[SERIES_BODY_VELOCITY] + at,
                   3 * sizeof(double));
            memcpy(twists + TWIST_SIZE * i + 3, s->observed.data[SERIES_BODY_ANGULAR_VELOCITY] + at,
                   3 * sizeof(double));
        }
    if (coordinates != NULL) set_poses(s, coordinates, q);
    set_twists(s, rates != NULL ? rates : s->observed.data[SERIES_JOINT_RATE], q, twists);
    hn_status status = check_range(s, coordinates, q);
    if (status == HN_OK) status = settle_state(s, q, twists, coordinates);
    context_release(s->context, q);
    return status;
}

// ---- accelerations ----------------------------------------------------------------------------------

// Rotors have inertia that no body has, and prescribed coordinates accelerations of their own.
static bool has_held_or_heavy_drives(const hn_simulation *s)
{
    bool any = s->hold_count > 0;
    for (int d = 0; d < s->system->drive_count; ++d) any |= s->system->laws[d].armature != 0.0;
    return any;
}

static hn_status dynamic_accelerations(hn_simulation *s, double *acceleration)
{
    state_dynamics x;
    hn_status status = state_dynamics_begin(s, NULL, NULL, &x);
    if (status == HN_OK)
        memcpy(acceleration, x.a, POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
    state_dynamics_end(&x);
    return status;
}

hn_status hn_simulation_accelerations(hn_simulation *s, double *linear, double *angular,
                                      int body_count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, linear != NULL && angular != NULL);
    const hn_system *system = s->system;
    if (body_count != system->body_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d bodies, not %d",
                            system->body_count, body_count);
    TRY(not_finite_motions(s, hn_simulation_time(s)));
    TRY(not_finite_now(s, hn_simulation_time(s)));
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double *v = context_allocate(s->context, 2 * count * sizeof(double));
    if (v == NULL) return HN_OUT_OF_MEMORY;
    double *acceleration = v + count;
    simulation_velocities(s, v);
    inputs_apply(s, 0.0);
    if (s->inputs.values != NULL) s->steps[s->ahead].valid = false;
    const double SHORT = 0.01; // of the step: dampers act by differences of second order
    hn_status status =
        has_held_or_heavy_drives(s)
            ? dynamic_accelerations(s, acceleration)
            : simulation_accelerations(s, v, true, SHORT * s->def.step_size, acceleration);
    for (int i = 0; i < system->body_count && status == HN_OK; ++i) {
        // d_I'' = alpha x d_I + omega x (omega x d_I): the second part cancels in sum d_I x d_I''/2
        double twist[TWIST_SIZE];
        size_t at = POSE_SIZE * (size_t)i, to = 3 * (size_t)system->bodies[i].model_index;
        velocity_to_twist(s->state.q + at, acceleration + at, twist);
        memcpy(linear + to, twist, 3 * sizeof(double));
        memcpy(angular + to, twist + 3, 3 * sizeof(double));
        if (!system->bodies[i].has_directors) memset(angular + to, 0, 3 * sizeof(double));
    }
    context_release(s->context, v);
    return status;
}
