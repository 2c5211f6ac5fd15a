// SPDX-License-Identifier: MIT
// Levenberg-Marquardt in the joint increments of the tree. Note: docs/theory/assembly.md
#include "system/close_loops.h"

#include "linalg/dense.h"
#include "model/joint_kinds.h"
#include "system/kinematics.h"

#include <string.h>

enum { SWEEPS_MAX = 200, SLOW_MAX = 12, COLUMNS_MAX = 3000 };
static const double CLOSED =
    1e-15; // rad, m over the length of the mechanism: nothing is left to close
static const double LEFT_AT_MOST = 1e-10;   // the same, where round-off lets no more be reached
static const double RANK_TOLERANCE = 1e-12; // of singular values, to the largest
static const double STEP_MAX = 0.5;         // rad, m over the length: of any joint in one sweep
static const double DAMPING_START = 0.1, DAMPING_MIN = 1e-4, DAMPING_MAX = 1e8;
static const double SLOW =
    0.99; // a sweep that leaves more of the rows than this has come to a halt

typedef struct closing {
    hn_system *system;
    const given_joint *given;
    int given_count;
    int row_count, column_count;
    int *column_of;             // dof: column, or -1
    double *scale;              // dof: u in units
    double *row;                // dof
    double *matrix;             // (rows + columns) x columns
    double *right;              // rows + columns
    double *values;             // rows
    int *row_joint;             // rows: of the model
    double *u;                  // columns
    double *change;             // dof
    double *q, *delta, *before; // 12 per body
    body_step *bodies;
    joint_step *joints;
    pool memory;
} closing;

joint system_user_joint(const hn_system *system, int index)
{
    if (index < 0) {
        joint pose = {.kind = HN_JOINT_FREE, .parent = GROUND, .child = -1 - index};
        for (int k = 0; k < 3; ++k)
            pose.a[k] = pose.b[k] =
                vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
        return pose;
    }
    joint j = system->reports[index].rows;
    if (system->reports[index].rows_swapped) joint_swap_sides(&j);
    return j;
}

static unsigned all_coordinates(const hn_system *system, int index)
{
    const joint *j = &system->reports[index].rows;
    int count = joint_type_of(j->kind)->coordinate_count;
    bool turns = j->child < 0 || system->bodies[j->child].has_directors;
    if (!turns) count = count > 3 ? 3 : 0; // a point has its place alone
    return (1U << (unsigned)count) - 1U;
}

// Rates that are relative to the parent are held when they are zero; those of a ball are the child's own.
static bool carries_rigidly(const joint *j)
{
    const joint_type *type = joint_type_of(j->kind);
    for (int k = 0; k < type->coordinate_count; ++k)
        if (type->axes[k].home == AXIS_OF_WORLD) return false;
    return true;
}

// Are all coordinates of a given joint held by its columns in the tree? Then it moves as one body.
static bool is_held(const hn_system *system, const given_joint *given)
{
    if (given->joint < 0) return false;
    const system_joint *report = &system->reports[given->joint];
    if (report->tree_body < 0) return false;
    const joint *tree = &system->joints[report->tree_body];
    unsigned all = all_coordinates(system, given->joint);
    if (all == 0 || (given->mask & all) != all) return false;
    return carries_rigidly(tree) || (tree->kind == HN_JOINT_FREE && tree->parent < 0);
}

static double unit_of(const hn_system *system, const joint *j)
{
    return system->unit_length[j->child < 0 ? j->parent : j->child];
}

// ---- rows -------------------------------------------------------------------------------------------

// Turn of b that is missing until its frame stands as the given rotation vector says, world axes.
static hn_vec3 turn_left(const joint *j, const double *a, const double *b, const double *value)
{
    double coordinates[HN_JOINT_COORDINATES_MAX] = {0.0};
    int first = joint_kind_rotation_place(j->kind);
    memcpy(coordinates + first, value + first, 3 * sizeof(double));
    hn_vec3 offset;
    hn_mat3 turn;
    double wanted[9], now[9];
    joint_relative(j->kind, coordinates, &offset, &turn);
    for (int k = 0; k < 3; ++k) {
        hn_vec3 column = mat3_column(&turn, k), x = vec3(0.0, 0.0, 0.0);
        const double part[3] = {column.x, column.y, column.z};
        for (int i = 0; i < 3; ++i) x = vec3_add_scaled(x, part[i], pose_direction(a, j->a[i]));
        vec3_store(x, wanted + 3 * k);
        vec3_store(pose_direction(b, j->b[k]), now + 3 * k);
    }
    return rotation_between(wanted, now);
}

// Value of coordinate k of a given joint, and wrenches on a and b whose power is its rate.
static double given_row(const joint *j, int k, const double *a, const double *b,
                        const given_joint *given, double *on_a, double *on_b)
{
    const joint_type *type = joint_type_of(j->kind);
    coordinate_axis of = type->axes[k];
    double now[HN_JOINT_COORDINATES_MAX] = {0.0};
    memset(on_a, 0, TWIST_SIZE * sizeof(double));
    memset(on_b, 0, TWIST_SIZE * sizeof(double));
    if (of.turning && of.home == AXIS_OF_WORLD) {
        on_b[3 + of.axis] = 1.0, on_a[3 + of.axis] = -1.0;
        hn_vec3 left = turn_left(j, a, b, given->value);
        return of.axis == 0 ? left.x : of.axis == 1 ? left.y : left.z;
    }
    type->coordinates(j, a, b, now);
    hn_vec3 axis =
        of.turning ? joint_coordinate_axis(j, k, a, b) : pose_direction(a, j->a[of.axis]);
    if (of.turning) {
        vec3_store(axis, on_b + 3);
        vec3_store(vec3_negate(axis), on_a + 3);
        return angle_near(now[k] - given->value[k], 0.0);
    }
    hn_vec3 place = pose_point(b, j->rho_b);
    vec3_store(axis, on_b);
    vec3_store(vec3_cross(vec3_subtract(place, pose_center(b)), axis), on_b + 3);
    vec3_store(vec3_negate(axis), on_a);
    vec3_store(vec3_cross(axis, vec3_subtract(place, pose_center(a))), on_a + 3);
    return now[k] - given->value[k];
}

// Where rows go: their values alone, or with their derivatives.
static void keep_row(closing *c, int place, int joint_index, double value, double weight,
                     bool slopes)
{
    c->values[place] = weight * value;
    c->row_joint[place] = joint_index;
    if (!slopes) return;
    double *to = c->matrix + (size_t)place * (size_t)c->column_count;
    for (int k = 0; k < c->system->dof; ++k)
        if (c->column_of[k] >= 0) to[c->column_of[k]] = weight * c->scale[k] * c->row[k];
}

static void clear_row(closing *c)
{
    memset(c->row, 0, (size_t)c->system->dof * sizeof(double));
}

static int cut_rows(closing *c, bool slopes)
{
    const hn_system *system = c->system;
    int place = 0;
    for (int k = 0; k < system->cut_count; ++k) {
        const joint *j = &system->cuts[k];
        const double *a = system_pose(system->q_start, j->parent),
                     *b = system_pose(system->q_start, j->child);
        for (int r = 0; r < j->row_count; ++r) {
            const constraint_row row = joint_row(j, r);
            double unit = row.rotational ? 1.0 : unit_of(system, j) * joint_row_length(j);
            if (slopes) {
                clear_row(c);
                system_row_on_tree(system, &row, j->parent, j->child, c->row);
            }
            keep_row(c, place++, j->model_joint, row_value(&row, a, b), 1.0 / unit, slopes);
        }
    }
    return place;
}

static int given_rows_from(closing *c, int place, bool slopes)
{
    const hn_system *system = c->system;
    for (int g = 0; g < c->given_count; ++g) {
        const given_joint *given = &c->given[g];
        if (is_held(system, given)) continue;
        joint j = system_user_joint(system, given->joint);
        const double *a = system_pose(system->q_start, j.parent),
                     *b = system_pose(system->q_start, j.child);
        for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k) {
            if ((given->mask >> k & 1U) == 0U) continue;
            double on_a[TWIST_SIZE], on_b[TWIST_SIZE];
            double value = given_row(&j, k, a, b, given, on_a, on_b);
            double unit = joint_type_of(j.kind)->axes[k].turning ? 1.0 : unit_of(system, &j);
            if (slopes) {
                clear_row(c);
                system_wrench_on_tree(system, j.parent, on_a, c->row);
                system_wrench_on_tree(system, j.child, on_b, c->row);
            }
            keep_row(c, place++, given->joint, value, 1.0 / unit, slopes);
        }
    }
    return place;
}

// Values of all rows; returns their norm.
static double find_rows(closing *c, bool slopes, loop_closure *out)
{
    if (slopes)
        memset(c->matrix, 0,
               ((size_t)c->row_count + (size_t)c->column_count) * (size_t)c->column_count *
                   sizeof(double));
    int count = given_rows_from(c, cut_rows(c, slopes), slopes);
    double sum = 0.0;
    out->worst = 0.0;
    for (int r = 0; r < count; ++r) {
        sum += c->values[r] * c->values[r];
        if (!(fabs(c->values[r]) <= out->worst))
            out->worst = fabs(c->values[r]), out->worst_joint = c->row_joint[r];
    }
    return sqrt(sum);
}

// ---- columns ----------------------------------------------------------------------------------------

static void find_columns(closing *c)
{
    hn_system *system = c->system;
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < system->joints[i].dof; ++k) c->column_of[system->dof_offset[i] + k] = 0;
    for (int g = 0; g < c->given_count; ++g) {
        if (!is_held(system, &c->given[g])) continue;
        int body = system->reports[c->given[g].joint].tree_body;
        for (int k = 0; k < system->joints[body].dof; ++k)
            c->column_of[system->dof_offset[body] + k] = -1;
    }
    // joints that no row depends on stay as they are
    double *used = c->change;
    memset(used, 0, (size_t)system->dof * sizeof(double));
    for (int k = 0; k < system->dof; ++k) c->scale[k] = 1.0;
    for (int g = 0; g < c->given_count; ++g) {
        joint j = system_user_joint(system, c->given[g].joint);
        for (int side = 0; side < 2; ++side)
            for (int body = side == 0 ? j.parent : j.child; body >= 0; body = system->parent[body])
                for (int k = 0; k < system->joints[body].dof; ++k)
                    used[system->dof_offset[body] + k] = 1.0;
    }
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; system->in_loop[i] && k < system->joints[i].dof; ++k)
            used[system->dof_offset[i] + k] = 1.0;
    for (int k = 0; k < system->dof; ++k)
        c->column_of[k] = c->column_of[k] < 0 || used[k] == 0.0 ? -1 : c->column_count++;
}

// An increment of one is a turn by one, or a way of the mechanism's length.
static void find_scales(closing *c)
{
    const hn_system *system = c->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        joint_step step = {0};
        motion m;
        if (j->dof == 0 || c->column_of[system->dof_offset[i]] < 0) continue;
        const double *a = system_pose(system->q_start, j->parent),
                     *b = system_pose(system->q_start, i);
        joint_type_of(j->kind)->begin(j, a, b, &step);
        joint_type_of(j->kind)->motion(j, &step, a, b, &m);
        double unit = system->unit_length[i];
        for (int k = 0; k < m.dof; ++k)
            c->scale[system->dof_offset[i] + k] =
                unit / fmax(vec3_norm(m.linear[k]), unit * vec3_norm(m.angular[k]));
    }
}

// The tree moved by c->change.
static void move_tree(closing *c)
{
    hn_system *system = c->system;
    size_t n = (size_t)system->body_count;
    step_data step = {.q_start = system->q_start,
                      .q = c->q,
                      .delta = c->delta,
                      .bodies = c->bodies,
                      .joints = c->joints};
    memcpy(c->q, system->q_start, POSE_SIZE * n * sizeof(double));
    memset(c->bodies, 0, n * sizeof(body_step));
    memset(c->joints, 0, n * sizeof(joint_step));
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        joint_type_of(j->kind)->begin(j, system_pose(system->q_start, j->parent),
                                      system_pose(system->q_start, i), &c->joints[i]);
    }
    tree_advance(system, c->change, &step);
    tree_settle(system, &step);
    memcpy(system->q_start, c->q, POSE_SIZE * n * sizeof(double));
}

// (Y1), no joint further than STEP_MAX.
static hn_status find_change(closing *c, double damping)
{
    size_t rows = (size_t)c->row_count, columns = (size_t)c->column_count;
    for (size_t r = 0; r < rows; ++r) c->right[r] = -c->values[r];
    for (size_t k = 0; k < columns; ++k) {
        c->right[rows + k] = 0.0;
        c->matrix[(rows + k) * columns + k] = damping;
    }
    TRY(dense_least_squares(c->system->context, (int)(rows + columns), (int)columns, c->matrix,
                            c->right, RANK_TOLERANCE, c->u));
    double largest = 0.0;
    for (size_t k = 0; k < columns; ++k) largest = fmax(largest, fabs(c->u[k]));
    double part = largest > STEP_MAX ? STEP_MAX / largest : 1.0;
    for (int k = 0; k < c->system->dof; ++k)
        c->change[k] = c->column_of[k] < 0 ? 0.0 : part * c->scale[k] * c->u[c->column_of[k]];
    return HN_OK;
}

// ---- sweeps -----------------------------------------------------------------------------------------

static hn_status sweep(closing *c, loop_closure *out)
{
    hn_system *system = c->system;
    size_t size = POSE_SIZE * (size_t)system->body_count * sizeof(double);
    double factor = DAMPING_START, norm = find_rows(c, true, out);
    int slow = 0;
    while (out->worst > CLOSED && out->iterations < SWEEPS_MAX && slow < SLOW_MAX &&
           factor < DAMPING_MAX && c->column_count > 0) {
        loop_closure tried = *out;
        out->iterations += 1;
        memcpy(c->before, system->q_start, size);
        TRY(find_change(c, factor * norm));
        move_tree(c);
        double now = find_rows(c, false, &tried);
        if (!(now < norm)) {
            memcpy(system->q_start, c->before, size);
            find_scales(c);
            find_rows(c, true, out);
            factor *= 8.0;
            if (out->worst <= LEFT_AT_MOST) break; // round-off
            continue;
        }
        slow = now > SLOW * norm ? slow + 1 : 0;
        factor = fmax(0.25 * factor, DAMPING_MIN);
        find_scales(c);
        norm = find_rows(c, true, out);
    }
    out->closed = out->worst <= LEFT_AT_MOST;
    return HN_OK;
}

static hn_status allocate(closing *c)
{
    const hn_system *system = c->system;
    size_t n = (size_t)system->body_count, d = (size_t)system->dof, rows = (size_t)c->row_count,
           columns = (size_t)c->column_count;
    c->matrix = pool_doubles(&c->memory, (rows + columns) * columns);
    c->right = pool_doubles(&c->memory, rows + columns);
    c->values = pool_doubles(&c->memory, rows);
    c->u = pool_doubles(&c->memory, columns);
    c->row = pool_doubles(&c->memory, d);
    c->row_joint = pool_ints(&c->memory, rows);
    c->q = pool_doubles(&c->memory, POSE_SIZE * n);
    c->delta = pool_doubles(&c->memory, POSE_SIZE * n);
    c->before = pool_doubles(&c->memory, POSE_SIZE * n);
    c->bodies = pool_take(&c->memory, n, sizeof(body_step));
    c->joints = pool_take(&c->memory, n, sizeof(joint_step));
    return pool_status(&c->memory);
}

hn_status system_close_loops(hn_system *system, const given_joint *given, int given_count,
                             loop_closure *out)
{
    hn_context *context = system->context;
    closing c = {.system = system,
                 .given = given,
                 .given_count = given_count,
                 .memory = {.context = context}};
    *out = (loop_closure){.closed = true};
    c.row_count = system->cut_row_count;
    for (int g = 0; g < given_count; ++g)
        for (unsigned m = is_held(system, &given[g]) ? 0U : given[g].mask; m > 0; m >>= 1)
            c.row_count += (int)(m & 1U);
    if (c.row_count == 0) return HN_OK;
    c.column_of = pool_ints(&c.memory, (size_t)system->dof);
    c.scale = pool_doubles(&c.memory, (size_t)system->dof);
    c.change = pool_doubles(&c.memory, (size_t)system->dof);
    hn_status status = pool_status(&c.memory);
    if (status == HN_OK) {
        find_columns(&c);
        find_scales(&c);
    }
    if (status == HN_OK && c.column_count > COLUMNS_MAX)
        status = context_fail(context, HN_INVALID_MODEL,
                              "the loops of a model with %d joint coordinates are open at the "
                              "start; give joint places so that they are closed",
                              c.column_count);
    if (status == HN_OK) status = allocate(&c);
    if (status == HN_OK) status = sweep(&c, out);
    pool_release(&c.memory);
    return status;
}
