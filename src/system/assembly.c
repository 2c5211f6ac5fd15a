// SPDX-License-Identifier: MIT
// A model put together: bodies placed through joints, root to leaves, then loops closed (close_loops.h).
#include <holonom/assembly.h>

#include "model/joint_kinds.h"
#include "system/close_loops.h"

#include <stdio.h>
#include <string.h>

// Coordinates that are given far from the drawing are approached in steps no longer than this.
static const double STAGE = 0.1; // rad, m over the length of the mechanism
enum { STAGES_MAX = 400, NAMES_MAX = 8, NAMES_SIZE = 400, SETTLE_SWEEPS = 4 };
static const double FITS =
    1e-13; // m over the size, rad: a joint that holds as drawn stays as it is

typedef struct assembly {
    const hn_model *model;
    hn_system *system;
    joint *joints;  // per joint of the model, as the user has it
    bool *known;    // per body: it has a place
    bool *moved;    // per body: another one than drawn
    double *drawn;  // 12 per body
    double *stage;  // 12 per body: poses of the last stage
    double *wanted; // HN_JOINT_COORDINATES_MAX per joint: drawn, as far as it can be, or zero
    given_joint *given;
    int given_count;
} assembly;

// ---- one joint --------------------------------------------------------------------------------------

static const double *pose_of(const assembly *x, int body)
{
    return system_pose(x->system->q_start, body);
}

// Body b where its joint has these coordinates from a; or a from b.
static void place_end(const assembly *x, const joint *j, bool end_is_b, const double *coordinates)
{
    const hn_system *system = x->system;
    hn_vec3 offset, apart;
    hn_mat3 turn;
    joint_relative(j->kind, coordinates, &offset, &turn);
    int from = end_is_b ? j->parent : j->child, to = end_is_b ? j->child : j->parent;
    const double *fixed = pose_of(x, from);
    const hn_vec3 *frame_from = end_is_b ? j->a : j->b, *frame_to = end_is_b ? j->b : j->a;
    double *pose = system->q_start + POSE_SIZE * (size_t)to;
    hn_vec3 world[3];
    for (int k = 0; k < 3; ++k) {
        // b_k = sum a_i R_ik, and a_k = sum b_i R_ki
        world[k] = vec3(0.0, 0.0, 0.0);
        for (int i = 0; i < 3; ++i)
            world[k] = vec3_add_scaled(world[k], end_is_b ? turn.m[i][k] : turn.m[k][i],
                                       pose_direction(fixed, frame_from[i]));
    }
    if (system->bodies[to].has_directors)
        for (int d = 0; d < 3; ++d) {
            hn_vec3 director = vec3(0.0, 0.0, 0.0);
            for (int k = 0; k < 3; ++k) {
                const double local[3] = {frame_to[k].x, frame_to[k].y, frame_to[k].z};
                director = vec3_add_scaled(director, local[d], world[k]);
            }
            vec3_store(director, pose + 3 + 3 * d);
        }
    const double along[3] = {offset.x, offset.y, offset.z};
    apart = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 3; ++k)
        apart =
            vec3_add_scaled(apart, along[k], end_is_b ? pose_direction(fixed, j->a[k]) : world[k]);
    hn_vec3 place = pose_point(fixed, end_is_b ? j->rho_a : j->rho_b);
    place = end_is_b ? vec3_add(place, apart) : vec3_subtract(place, apart);
    if (system->bodies[to].has_directors) settle_directors(vec3(0.0, 0.0, 0.0), pose);
    vec3_store(vec3_subtract(place, pose_direction(pose, end_is_b ? j->rho_b : j->rho_a)), pose);
}

static bool tells_place(const joint *j)
{
    hn_vec3 offset;
    hn_mat3 turn;
    const double zero[HN_JOINT_COORDINATES_MAX] = {0.0};
    return joint_relative(j->kind, zero, &offset, &turn);
}

static bool is_drawn(const assembly *x, int body)
{
    return body < 0 || !x->model->bodies[x->system->bodies[body].model_index].unplaced;
}

// Does a joint hold at the poses, to round-off?
static bool holds(const assembly *x, const joint *j)
{
    double size = system_joint_size(x->system, j);
    for (int r = 0; r < joint_type_of(j->kind)->row_count; ++r) {
        const constraint_row row = joint_row(j, r);
        double unit = row.rotational ? 1.0 : size * joint_row_length(j);
        if (!(fabs(row_value(&row, pose_of(x, j->parent), pose_of(x, j->child))) <= FITS * unit))
            return false;
    }
    return true;
}

static const given_joint *given_of(const assembly *x, int index)
{
    // in the order of joints
    int low = 0, high = x->given_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (x->given[middle].joint < index) low = middle + 1;
        else high = middle;
    }
    return low < x->given_count && x->given[low].joint == index ? &x->given[low] : NULL;
}

// Coordinates as they are at the poses, and given ones as given.
static void coordinates_now(const assembly *x, int index, bool measured, double *coordinates)
{
    const joint *j = &x->joints[index];
    const given_joint *given = given_of(x, index);
    memcpy(coordinates, x->wanted + HN_JOINT_COORDINATES_MAX * (size_t)index,
           HN_JOINT_COORDINATES_MAX * sizeof(double));
    if (measured)
        joint_type_of(j->kind)->coordinates(j, system_pose(x->stage, j->parent),
                                            system_pose(x->stage, j->child), coordinates);
    for (int k = 0; given != NULL && k < HN_JOINT_COORDINATES_MAX; ++k)
        if ((given->mask >> k & 1U) != 0U) coordinates[k] = given->value[k];
}

// ---- all bodies -------------------------------------------------------------------------------------

// Rigid motion that carries a body with another one, from where both were.
static void follow(const double *old, const double *now, double *pose)
{
    double moved[POSE_SIZE];
    for (int k = 0; k < 4; ++k) {
        hn_vec3 x = vec3_load(pose + 3 * k), y = vec3(0.0, 0.0, 0.0);
        if (k == 0) x = vec3_subtract(x, vec3_load(old)), y = vec3_load(now);
        for (int d = 1; d < 4; ++d)
            y = vec3_add_scaled(y, vec3_dot(x, vec3_load(old + 3 * d)), vec3_load(now + 3 * d));
        vec3_store(y, moved + 3 * k);
    }
    memcpy(pose, moved, sizeof moved);
}

// A body that its tree joint does not place: with its neighbour as drawn, or by any other joint. False: not yet.
static bool place_otherwise(assembly *x, int body)
{
    hn_system *system = x->system;
    const joint *tree = &system->joints[body];
    double *pose = system->q_start + POSE_SIZE * (size_t)body;
    bool drawn = is_drawn(x, body), free_root = tree->kind == HN_JOINT_FREE;
    // a joint with given coordinates, or for a body without a place any joint
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &x->joints[k];
        bool is_b = j->child == body;
        int other = is_b ? j->parent : j->child;
        if ((!is_b && j->parent != body) || !tells_place(j) || (other >= 0 && !x->known[other]))
            continue;
        if (drawn && given_of(x, k) == NULL) continue;
        double coordinates[HN_JOINT_COORDINATES_MAX];
        coordinates_now(x, k, false, coordinates);
        place_end(x, j, is_b, coordinates);
        x->moved[body] = true;
        return true;
    }
    if (!drawn) return false;
    if (!free_root && tree->parent >= 0 && x->moved[tree->parent]) {
        follow(system_pose(x->stage, tree->parent), pose_of(x, tree->parent), pose);
        x->moved[body] = true;
    }
    return true;
}

static void settle_body(assembly *x, int body)
{
    hn_system *system = x->system;
    const joint *j = &system->joints[body];
    double *pose = system->q_start + POSE_SIZE * (size_t)body;
    for (int sweep = 0; sweep < SETTLE_SWEEPS; ++sweep) {
        joint_step step = {0};
        joint_type_of(j->kind)->begin(j, pose_of(x, j->parent), pose, &step);
        joint_type_of(j->kind)->settle(j, &step, pose_of(x, j->parent), pose);
    }
}

static bool place_body(assembly *x, int body)
{
    const joint *tree = &x->system->joints[body];
    int parent = tree->parent, index = tree->model_joint;
    // what its parent has not yet it may have itself, and give to it
    if (parent >= 0 && !x->known[parent]) return is_drawn(x, body) || place_otherwise(x, body);
    if (index < 0 || !tells_place(&x->joints[index])) {
        if (!place_otherwise(x, body)) return false;
        if (tree->length > 0.0 && !holds(x, &x->joints[index])) {
            x->moved[body] = true;
            settle_body(x, body);
        }
        return true;
    }
    const joint *j = &x->joints[index];
    bool both = is_drawn(x, body) && is_drawn(x, parent), still = parent < 0 || !x->moved[parent];
    if (both && still && given_of(x, index) == NULL && holds(x, j)) return true;
    double coordinates[HN_JOINT_COORDINATES_MAX];
    coordinates_now(x, index, both, coordinates);
    place_end(x, j, j->child == body, coordinates);
    x->moved[body] = true;
    return true;
}

static hn_status fail_unplaced(const assembly *x, int body)
{
    return context_fail(
        x->system->context, HN_INVALID_MODEL,
        "body '%s': it has no position, and no joint places it: expected a chain of "
        "joints other than distance to the ground or to a body with a position",
        x->system->bodies[body].name);
}

// Root to leaves, again while more bodies find a place.
static hn_status place_all(assembly *x)
{
    int n = x->system->body_count, before = -1, count = 0;
    memset(x->known, 0, (size_t)n * sizeof(bool));
    memset(x->moved, 0, (size_t)n * sizeof(bool));
    while (count < n) {
        if (count == before)
            for (int i = 0; i < n; ++i)
                if (!x->known[i]) return fail_unplaced(x, i);
        before = count;
        for (int i = 0; i < n; ++i) {
            if (x->known[i] || !place_body(x, i)) continue;
            x->known[i] = true;
            ++count;
        }
    }
    // bodies that were there before their parents follow these
    for (int i = 0; i < n; ++i) {
        int index = x->system->joints[i].model_joint;
        if (index < 0 || !tells_place(&x->joints[index]) || holds(x, &x->joints[index])) continue;
        double coordinates[HN_JOINT_COORDINATES_MAX];
        coordinates_now(x, index, false, coordinates);
        place_end(x, &x->joints[index], x->joints[index].child == i, coordinates);
    }
    return HN_OK;
}

// ---- stages -----------------------------------------------------------------------------------------

static void keep_stage(assembly *x)
{
    memcpy(x->stage, x->system->q_start,
           POSE_SIZE * (size_t)x->system->body_count * sizeof(double));
}

// Given coordinates at a part of their way.
static void set_stage(assembly *x, double part)
{
    for (int g = 0; g < x->given_count; ++g) {
        given_joint *given = &x->given[g];
        if (given->joint < 0) continue; // it is where it is to be
        const double *wanted = x->wanted + HN_JOINT_COORDINATES_MAX * (size_t)given->joint,
                     *goal = x->model->joints[given->joint].coordinates;
        for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k)
            if ((given->mask >> k & 1U) != 0U)
                given->value[k] = part == 1.0 ? goal[k] : wanted[k] + part * (goal[k] - wanted[k]);
    }
}

static int stage_count(const assembly *x)
{
    double furthest = 0.0;
    for (int g = 0; g < x->given_count; ++g) {
        if (x->given[g].joint < 0) continue;
        const joint *j = &x->joints[x->given[g].joint];
        const double *wanted = x->wanted + HN_JOINT_COORDINATES_MAX * (size_t)x->given[g].joint,
                     *goal = x->model->joints[x->given[g].joint].coordinates;
        if (!is_drawn(x, j->parent) || !is_drawn(x, j->child)) continue;
        for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k) {
            if ((x->given[g].mask >> k & 1U) == 0U) continue;
            bool turning = joint_type_of(j->kind)->axes[k].turning;
            double unit =
                turning ? 1.0 : x->system->unit_length[j->child < 0 ? j->parent : j->child];
            furthest = fmax(furthest, fabs(goal[k] - wanted[k]) / unit);
        }
    }
    double count = ceil(furthest / STAGE);
    return count < 1.0 ? 1 : count > STAGES_MAX ? STAGES_MAX : (int)count;
}

// From the drawing to what is given in `stages`; `reached`: the last part that closed.
static hn_status go(assembly *x, int stages, loop_closure *closure, double *reached)
{
    hn_system *system = x->system;
    int iterations = closure->iterations;
    memcpy(system->q_start, x->drawn, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    *reached = 0.0;
    for (int s = 1; s <= stages; ++s) {
        keep_stage(x);
        set_stage(x, s == stages ? 1.0 : (double)s / (double)stages);
        TRY(place_all(x));
        TRY(system_close_loops(system, x->given, x->given_count, closure));
        closure->iterations = iterations += closure->iterations;
        if (!closure->closed) return HN_OK;
        *reached = (double)s / (double)stages;
    }
    return HN_OK;
}

// ---- what cannot be closed ----------------------------------------------------------------------------

typedef struct name_list {
    char text[NAMES_SIZE];
    size_t used;
    int count;
} name_list;

static void add_name(name_list *list, const char *name)
{
    if (list->count++ >= NAMES_MAX) return;
    int written = snprintf(list->text + list->used, sizeof list->text - list->used, "%s'%.60s'",
                           list->count == 1 ? "" : ", ", name);
    if (written > 0 && list->used + (size_t)written < sizeof list->text)
        list->used += (size_t)written;
}

// Joints of the loop that a joint closes; or, `given_only`, those of them whose coordinates were given.
static void name_loop(const assembly *x, int index, bool given_only, name_list *list)
{
    const hn_system *system = x->system;
    int a = x->joints[index].parent, b = x->joints[index].child;
    while (a != b) {
        int *deeper = a > b ? &a : &b;
        int via = system->joints[*deeper].model_joint;
        if (via >= 0 && via != index && (!given_only || given_of(x, via) != NULL))
            add_name(list, system->reports[via].name);
        *deeper = system->parent[*deeper];
    }
    if (!given_only || given_of(x, index) != NULL) add_name(list, system->reports[index].name);
    if (list->count > NAMES_MAX && list->used + 24 < sizeof list->text)
        list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                       " and %d more", list->count - NAMES_MAX);
}

// How far a joint is open at the poses.
static void find_gap(const assembly *x, int index, double *opening, double *misalignment)
{
    const joint *j = &x->system->reports[index].rows;
    *opening = *misalignment = 0.0;
    for (int r = 0; r < j->row_count; ++r) {
        const constraint_row row = joint_row(j, r);
        double g = row_value(&row, pose_of(x, j->parent), pose_of(x, j->child));
        if (row.rotational) *misalignment = hypot(*misalignment, g);
        else *opening = hypot(*opening, g / joint_row_length(j));
    }
}

static hn_status fail_open(assembly *x, const loop_closure *closure, double reached)
{
    hn_system *system = x->system;
    hn_context *context = system->context;
    int worst = closure->worst_joint;
    if (worst < 0)
        return context_fail(
            context, HN_INVALID_MODEL,
            "body '%s': it cannot be held at the place and orientation that it was given: "
            "%.3g of the size of the mechanism, or rad, are left",
            system->bodies[-1 - worst].name, closure->worst);
    const char *name = system->reports[worst].name;
    double opening, misalignment;
    name_list loop = {0}, given = {0};
    find_gap(x, worst, &opening, &misalignment);
    name_loop(x, worst, false, &loop);
    name_loop(x, worst, true, &given);
    bool holds_itself = hypot(opening / system->length, misalignment) < 1e-3 * closure->worst;
    if (holds_itself && given.count > 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': the coordinates given of %s cannot be had together: %.3g "
                            "%s left; give fewer of them",
                            name, given.text, closure->worst,
                            "rad, or of the size of the mechanism, are");
    if (given.count == 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': the loop does not close, %.3g m and %.3g rad are left "
                            "whichever way its joints (%s) move; give places and axes that fit",
                            name, opening, misalignment, loop.text);
    // is it what was given, or do the parts not reach?
    loop_closure free_closure = {0};
    double ignored;
    x->given_count = 0;
    TRY(go(x, 1, &free_closure, &ignored));
    if (!free_closure.closed)
        return context_fail(context, HN_INVALID_MODEL,
                            "joint '%s': the loop of joints %s does not close, %.3g m and %.3g rad "
                            "are left even with the given coordinates of %s set free; give places "
                            "and axes that fit",
                            name, loop.text, opening, misalignment, given.text);
    return context_fail(context, HN_INVALID_MODEL,
                        "joint '%s': the loop of joints %s does not close with the given "
                        "coordinates of %s, %.3g m and %.3g rad are left; without them it does. "
                        "From the drawing they can go %.3g %% of their way",
                        name, loop.text, given.text, opening, misalignment, 100.0 * reached);
}

// ---- into the model -------------------------------------------------------------------------------------

static void note_changes(const assembly *x, hn_assembly *report)
{
    const hn_system *system = x->system;
    for (int i = 0; i < system->body_count; ++i) {
        const double *old = system_pose(x->drawn, i), *now = pose_of(x, i);
        if (!is_drawn(x, i)) continue;
        report->moved =
            fmax(report->moved, vec3_norm(vec3_subtract(vec3_load(now), vec3_load(old))));
        if (system->bodies[i].has_directors)
            report->turned = fmax(report->turned, vec3_norm(rotation_between(old + 3, now + 3)));
    }
    constraint_check check = system_check_constraints(system, system->q_start);
    report->left_opening = check.opening;
    report->left_misalignment = check.misalignment;
    report->worst = hn_model_joint(x->model, check.worst_joint);
}

static void store_poses(const assembly *x, hn_model *model)
{
    const hn_system *system = x->system;
    for (int i = 0; i < system->body_count; ++i) {
        const system_body *body = &system->bodies[i];
        model_body *to = &model->bodies[body->model_index];
        const double *pose = pose_of(x, i);
        bool same = memcmp(pose, system_pose(x->drawn, i), POSE_SIZE * sizeof(double)) == 0;
        if (same && !to->unplaced) continue; // to the last bit
        hn_vec3 axes[3];
        for (int k = 0; k < 3; ++k)
            axes[k] = pose_direction(pose, mat3_column(&body->user_axes, k));
        if (body->has_directors) to->orientation = mat3_from_columns(axes[0], axes[1], axes[2]);
        to->position =
            vec3_subtract(vec3_load(pose), mat3_apply(&to->orientation, to->center_of_mass));
        to->unplaced = false;
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &x->joints[k];
        model_joint *to = &model->joints[k];
        memcpy(to->drawn, x->wanted + HN_JOINT_COORDINATES_MAX * (size_t)k, sizeof to->drawn);
        joint_type_of(j->kind)->coordinates(j, pose_of(x, j->parent), pose_of(x, j->child),
                                            to->start);
        int place = joint_angle_place(j->kind);
        if (place >= 0)
            to->start[place] = angle_near(to->start[place], model_start_turn(to, place));
    }
    model->assembly_pending = false;
    model->assembled = true;
}

static hn_status check_rotations(const hn_model *model)
{
    for (int k = 0; k < model->joint_count; ++k) {
        const model_joint *j = &model->joints[k];
        int first = joint_kind_rotation_place(j->kind);
        unsigned rotation = first < 0 ? 0U : 7U << (unsigned)first, set = j->given & rotation;
        if (set != 0U && set != rotation)
            return context_fail(model->context, HN_INVALID_MODEL,
                                "joint '%s': a part of its rotation vector is given at the start; "
                                "expected all three components",
                                j->name);
    }
    return HN_OK;
}

// A body that was given a place but hangs in the tree on one without keeps it. In the order of given_of.
static void hold_bodies(assembly *x)
{
    const hn_system *system = x->system;
    for (int i = system->body_count - 1; i >= 0; --i) {
        int parent = system->joints[i].parent;
        if (!is_drawn(x, i) || parent < 0 || is_drawn(x, parent) ||
            system->joints[i].model_joint < 0)
            continue;
        given_joint *given = &x->given[x->given_count++];
        *given = (given_joint){.joint = -1 - i, .mask = system->bodies[i].has_directors ? 63U : 7U};
        joint pose = system_user_joint(system, given->joint);
        joint_type_of(pose.kind)->coordinates(&pose, GROUND_POSE, pose_of(x, i), given->value);
    }
}

static void begin(assembly *x)
{
    const hn_system *system = x->system;
    memcpy(x->drawn, system->q_start, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    hold_bodies(x);
    for (int k = 0; k < system->joint_count; ++k) {
        x->joints[k] = system_user_joint(system, k);
        const joint *j = &x->joints[k];
        if (is_drawn(x, j->parent) && is_drawn(x, j->child))
            joint_type_of(j->kind)->coordinates(j, pose_of(x, j->parent), pose_of(x, j->child),
                                                x->wanted + HN_JOINT_COORDINATES_MAX * (size_t)k);
        if (x->model->joints[k].given != 0U)
            x->given[x->given_count++] =
                (given_joint){.joint = k, .mask = x->model->joints[k].given};
    }
}

static hn_status assemble(assembly *x, hn_assembly *report)
{
    hn_system *system = x->system;
    loop_closure closure = {0};
    double reached = 0.0, directly;
    begin(x);
    constraint_check check = system_check_constraints(system, system->q_start);
    bool all_drawn = true;
    for (int i = 0; i < system->body_count; ++i) all_drawn = all_drawn && is_drawn(x, i);
    if (all_drawn) report->opening = check.opening, report->misalignment = check.misalignment;
    int stages = system->cut_count > 0 ? stage_count(x) : 1;
    TRY(go(x, stages, &closure, &reached));
    if (!closure.closed && stages > 1) TRY(go(x, 1, &closure, &directly));
    if (!closure.closed) return fail_open(x, &closure, reached);
    report->iterations = closure.iterations;
    note_changes(x, report);
    return HN_OK;
}

hn_status hn_model_assemble(hn_model *model, hn_assembly *report)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    hn_assembly ignored;
    if (report == NULL) report = &ignored;
    *report = (hn_assembly){0};
    TRY(check_rotations(model));
    assembly x = {.model = model};
    TRY(system_create_drawn(context, model, &x.system));
    size_t n = (size_t)model->body_count, m = (size_t)model->joint_count;
    pool memory = {.context = context};
    x.joints = pool_take(&memory, m, sizeof(joint));
    x.known = pool_take(&memory, n, sizeof(bool));
    x.moved = pool_take(&memory, n, sizeof(bool));
    x.drawn = pool_doubles(&memory, POSE_SIZE * n);
    x.stage = pool_doubles(&memory, POSE_SIZE * n);
    x.wanted = pool_doubles(&memory, HN_JOINT_COORDINATES_MAX * m);
    x.given = pool_take(&memory, m + n, sizeof(given_joint));
    hn_status status = pool_status(&memory);
    if (status == HN_OK) status = assemble(&x, report);
    if (status == HN_OK) {
        store_poses(&x, model);
        model->assembly = *report;
    }
    pool_release(&memory);
    system_destroy(x.system);
    return status == HN_INVALID_MODEL ? model_place_message(context, model, status) : status;
}
