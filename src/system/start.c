// SPDX-License-Identifier: MIT
// Consistent start velocities from what a model gives: twists of bodies, rates of joints, and nothing for the rest.
//
// v = P(q) nu is consistent by construction (LMO 6). Root to leaves, a body takes the rates of its joint; where they
// are not given but the body's own velocity is, they follow from it. If that leaves a given velocity unmet, all rates
// that are not given are solved for together, least squares in the mass metric, smallest change first.
#include "system/system.h"

#include "linalg/dense.h"
#include "system/mass.h"

#include <string.h>

// Given velocities off by less than this part of the largest one are taken as exact.
static const double VELOCITY_ROUND_OFF = 1e-12;
static const double RANK_TOLERANCE = 1e-11;
// Beyond this many unknown rates the joint solution would need a large dense matrix.
enum { JOINT_SOLUTION_MAX = 3000 };
// And with loops, where simulations find them another way when few motions are left.
enum { LOOP_SOLUTION_MAX = 300, LOOP_FREEDOM_MAX = 64 };

// What is given of a body's twist: rows of  C t = d.
typedef struct given_rows {
    int count;
    double row[6][6];
    double value[6];
} given_rows;

static given_rows rows_given(const hn_system *system, const hn_model *model, int body)
{
    given_rows given = {0};
    const system_body *compiled = &system->bodies[body];
    const model_body *from = &model->bodies[compiled->model_index];
    if (from->has_velocity) {
        // velocity of the frame's origin: v - omega x c = v + c x omega with c the centre of mass from the origin
        hn_vec3 c = mat3_apply(&from->orientation, from->center_of_mass);
        const double skew[3][3] = {{0.0, -c.z, c.y}, {c.z, 0.0, -c.x}, {-c.y, c.x, 0.0}};
        const double value[3] = {from->velocity.x, from->velocity.y, from->velocity.z};
        for (int k = 0; k < 3; ++k) {
            given.row[given.count][k] = 1.0;
            if (compiled->has_directors)
                for (int i = 0; i < 3; ++i) given.row[given.count][3 + i] = skew[k][i];
            given.value[given.count++] = value[k];
        }
    }
    if (from->has_angular_velocity && compiled->has_directors) {
        const double value[3] = {from->angular_velocity.x, from->angular_velocity.y,
                                 from->angular_velocity.z};
        for (int k = 0; k < 3; ++k) {
            given.row[given.count][3 + k] = 1.0;
            given.value[given.count++] = value[k];
        }
    }
    return given;
}

// The twist a body gets from its parent when the joint is locked: it moves as one body with it.
static void locked_twist(const hn_system *system, int body, const double *parent, double *twist)
{
    const joint *j = &system->joints[body];
    memset(twist, 0, 6 * sizeof(double));
    if (j->kind == HN_JOINT_FREE || j->parent < 0) return;
    hn_vec3 offset = vec3_subtract(pose_center(system_pose(system->q_start, body)),
                                   pose_center(system_pose(system->q_start, j->parent)));
    vec3_store(vec3_add(vec3_load(parent), vec3_cross(vec3_load(parent + 3), offset)), twist);
    if (!j->point_child) vec3_store(vec3_load(parent + 3), twist + 3);
}

// Columns of B at the start.
static void joint_columns(const hn_system *system, int body, motion *m)
{
    const joint *j = &system->joints[body];
    const joint_type *type = joint_type_of(j->kind);
    const double *parent = system_pose(system->q_start, j->parent),
                 *child = system_pose(system->q_start, body);
    joint_step step = {0};
    type->begin(j, parent, child, &step);
    type->motion(j, &step, parent, child, m);
}

// Rates given for a joint of the model, as those of the child relative to its parent along the columns of B (relative
// to the locked motion). False when none are given.
static bool rates_given(const hn_system *system, const hn_model *model, int body, double *rates)
{
    const joint *j = &system->joints[body];
    int index = j->model_joint;
    if (index < 0) return false;
    const model_joint *from = &model->joints[index];
    if (!from->has_rates) return false;
    // the child is the user's b unless the tree runs the other way
    bool reversed = joint_type_of(j->kind)->keeps_sides
                        ? j->child_is_a != system->reports[index].rows_swapped
                        : j->swapped;
    double sign = reversed ? -1.0 : 1.0;
    for (int k = 0; k < j->dof; ++k)
        rates[k] = sign * from->rates[reversed ? joint_mirrored_coordinate(j->kind, k) : k];
    if (j->kind == HN_JOINT_FREE && j->plane_child)
        // three world components are given, the columns are the axes of the plane
        for (int k = 0; k < j->dof; ++k)
            rates[k] = sign * vec3_dot(j->a[k], vec3_load(from->rates));
    if (j->kind == HN_JOINT_FREE && !j->point_child) {
        // given for the joint's point on the body: v_center = v - omega x rho
        const joint *rows = &system->reports[index].rows;
        hn_vec3 rho = pose_direction(system_pose(system->q_start, body),
                                     j->swapped ? rows->rho_a : rows->rho_b);
        vec3_store(vec3_add(vec3_load(rates), vec3_cross(rho, vec3_load(rates + 3))), rates);
    }
    return true;
}

// twist += B u
static void add_columns(const motion *m, const double *u, double *twist)
{
    for (int k = 0; k < m->dof; ++k) {
        vec3_store(vec3_add_scaled(vec3_load(twist), u[k], m->linear[k]), twist);
        vec3_store(vec3_add_scaled(vec3_load(twist + 3), u[k], m->angular[k]), twist + 3);
    }
}

static double unmet(const given_rows *given, const double *twist, double length)
{
    double worst = 0.0;
    for (int r = 0; r < given->count; ++r) {
        double sum = -given->value[r];
        for (int k = 0; k < 6; ++k) sum += given->row[r][k] * twist[k];
        double scale = given->row[r][0] == 0.0 && given->row[r][1] == 0.0 && given->row[r][2] == 0.0
                           ? length
                           : 1.0;
        worst = fmax(worst, fabs(sum) * scale);
    }
    return worst;
}

// Root to leaves with local solutions. `rates` (dof) receives the rates relative to the locked motion.
static hn_status walk(hn_system *system, const hn_model *model, double *rates)
{
    for (int i = 0; i < system->body_count; ++i) {
        motion m;
        joint_columns(system, i, &m);
        double *twist = system->twist_start + 6 * (size_t)i, *u = rates + system->dof_offset[i];
        static const double at_rest[6] = {0.0};
        const double *parent =
            system->parent[i] < 0 ? at_rest : system->twist_start + 6 * (size_t)system->parent[i];
        locked_twist(system, i, parent, twist);
        given_rows given = rows_given(system, model, i);
        if (!rates_given(system, model, i, u) && given.count > 0 && m.dof > 0) {
            // C (t + B u) = d, smallest u
            double matrix[6 * JOINT_DOF_MAX], right[6];
            for (int r = 0; r < given.count; ++r) {
                right[r] = given.value[r];
                for (int k = 0; k < 6; ++k) right[r] -= given.row[r][k] * twist[k];
                for (int c = 0; c < m.dof; ++c) {
                    double column[6], sum = 0.0;
                    vec3_store(m.linear[c], column);
                    vec3_store(m.angular[c], column + 3);
                    for (int k = 0; k < 6; ++k) sum += given.row[r][k] * column[k];
                    matrix[r * m.dof + c] = sum;
                }
            }
            TRY(dense_least_squares(system->context, given.count, m.dof, matrix, right,
                                    RANK_TOLERANCE, u));
        }
        add_columns(&m, u, twist);
    }
    return HN_OK;
}

// A velocity that is not as given or as joints ask, and what it is measured by.
typedef struct velocity_gap {
    double missing; // m/s
    double scale;   // m/s, of what it belongs to
    int body;
} velocity_gap;

static void note_gap(velocity_gap *worst, double missing, double scale, int body)
{
    if (missing * worst->scale > worst->missing * scale || worst->scale == 0.0)
        *worst = (velocity_gap){.missing = missing, .scale = scale, .body = body};
}

// How fast a body moves, or is told to; rotations at its own size.
static double speed_of(const hn_system *system, const hn_model *model, int body)
{
    if (body < 0) return 0.0;
    const double *twist = system->twist_start + 6 * (size_t)body;
    double size = system->sizes[body];
    double speed = fmax(vec3_norm(vec3_load(twist)), size * vec3_norm(vec3_load(twist + 3)));
    given_rows given = rows_given(system, model, body);
    for (int r = 0; r < given.count; ++r) {
        const double *row = given.row[r];
        bool turning = row[0] == 0.0 && row[1] == 0.0 && row[2] == 0.0;
        speed = fmax(speed, (turning ? size : 1.0) * fabs(given.value[r]));
    }
    return speed;
}

// Unmet given velocities, by the speed of their own bodies and those they hang on.
static void note_unmet(const hn_system *system, const hn_model *model, velocity_gap *worst)
{
    for (int i = 0; i < system->body_count; ++i) {
        given_rows given = rows_given(system, model, i);
        if (given.count == 0) continue;
        double size = unmet(&given, system->twist_start + 6 * (size_t)i, system->sizes[i]);
        double scale = fmax(speed_of(system, model, i), speed_of(system, model, system->parent[i]));
        note_gap(worst, size, scale, i);
    }
}

// The fastest body of each mechanism; returns the fastest of all.
static double velocity_scales(const hn_system *system, const hn_model *model, double *scales)
{
    double largest = 0.0;
    memset(scales, 0, (size_t)system->mechanism_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        double speed = speed_of(system, model, i), *scale = &scales[system->mechanism[i]];
        *scale = fmax(*scale, speed);
        largest = fmax(largest, speed);
    }
    return largest;
}

// twist of every body for given rates, relative to the locked motion
static void twists_from_rates(hn_system *system, const double *rates)
{
    for (int i = 0; i < system->body_count; ++i) {
        motion m;
        joint_columns(system, i, &m);
        static const double at_rest[6] = {0.0};
        double *twist = system->twist_start + 6 * (size_t)i;
        locked_twist(system, i,
                     system->parent[i] < 0 ? at_rest
                                           : system->twist_start + 6 * (size_t)system->parent[i],
                     twist);
        add_columns(&m, rates + system->dof_offset[i], twist);
    }
}

// A row on the twist of one body, carried along its path to the root into columns of joint rates.
static void add_path_row(const hn_system *system, int body, const double *covector,
                         const int *column_of, double *row)
{
    double carried[6];
    memcpy(carried, covector, sizeof carried);
    for (; body >= 0; body = system->parent[body]) {
        motion m;
        joint_columns(system, body, &m);
        hn_vec3 force = vec3_load(carried), moment = vec3_load(carried + 3);
        for (int k = 0; k < m.dof; ++k) {
            int column = column_of[system->dof_offset[body] + k];
            if (column >= 0)
                row[column] += vec3_dot(force, m.linear[k]) + vec3_dot(moment, m.angular[k]);
        }
        const joint *j = &system->joints[body];
        if (j->kind == HN_JOINT_FREE || j->parent < 0) return;
        hn_vec3 offset = vec3_subtract(pose_center(system_pose(system->q_start, body)),
                                       pose_center(system_pose(system->q_start, j->parent)));
        hn_vec3 turned = j->point_child ? vec3(0.0, 0.0, 0.0) : moment;
        vec3_store(vec3_add(turned, vec3_cross(offset, force)), carried + 3);
    }
}

// A row on the twists of the two bodies of a cut joint with the value it must have.
typedef struct closure_row {
    double a[6], b[6];
    double value;
} closure_row;

static int closure_row_count(const hn_system *system, const hn_model *model, int cut)
{
    const joint *j = &system->cuts[cut];
    return j->row_count +
           (model->joints[j->model_joint].has_rates ? joint_type_of(j->kind)->coordinate_count : 0);
}

// A given rate of a joint as a row: d . (omega_b - omega_a) or d . v_relative.
static closure_row rate_row(const hn_system *system, const hn_model *model, const joint *j,
                            int rate)
{
    const double *a = system_pose(system->q_start, j->parent),
                 *b = system_pose(system->q_start, j->child);
    closure_row out = {.value = 0.0};
    bool swapped = system->reports[j->model_joint].rows_swapped;
    out.value = (swapped ? -1.0 : 1.0) * model->joints[j->model_joint].rates[rate];
    hn_vec3 axis = joint_coordinate_axis(j, rate, a, b);
    bool turning = joint_type_of(j->kind)->axes[rate].turning;
    if (turning) {
        vec3_store(axis, out.b + 3);
        vec3_store(vec3_negate(axis), out.a + 3);
        return out;
    }
    hn_vec3 place = pose_point(b, j->rho_b);
    vec3_store(axis, out.b);
    vec3_store(vec3_cross(vec3_subtract(place, pose_center(b)), axis), out.b + 3);
    vec3_store(vec3_negate(axis), out.a);
    vec3_store(vec3_negate(vec3_cross(vec3_subtract(place, pose_center(a)), axis)), out.a + 3);
    return out;
}

// Constraint rows of a cut joint, then its given rates.
static closure_row closure_row_of(const hn_system *system, const hn_model *model, int cut,
                                  int index)
{
    const joint *j = &system->cuts[cut];
    const double *a = system_pose(system->q_start, j->parent),
                 *b = system_pose(system->q_start, j->child);
    closure_row out = {.value = 0.0};
    if (index < j->row_count) {
        constraint_row row;
        hn_vec3 gradient[8];
        double flat[POSE_SIZE];
        joint_type_of(j->kind)->row(j, index, &row);
        row_gradient(&row, a, b, gradient);
        for (int k = 0; k < 4; ++k) vec3_store(gradient[k], flat + 3 * k);
        force_to_wrench(a, flat, out.a);
        for (int k = 0; k < 4; ++k) vec3_store(gradient[4 + k], flat + 3 * k);
        force_to_wrench(b, flat, out.b);
        return out;
    }
    return rate_row(system, model, j, index - j->row_count);
}

// metres that the row is measured by: the length of the mechanism, or one where it is about turning
static double closure_length(const hn_system *system, int cut, const closure_row *row)
{
    const joint *j = &system->cuts[cut];
    const double *linear = j->child >= 0 ? row->b : row->a;
    bool turning = linear[0] == 0.0 && linear[1] == 0.0 && linear[2] == 0.0;
    return turning ? 1.0 : system->unit_length[j->child >= 0 ? j->child : j->parent];
}

static double closure_missing(const hn_system *system, int cut, const closure_row *row)
{
    const joint *j = &system->cuts[cut];
    double sum = row->value;
    for (int k = 0; k < 6; ++k) {
        if (j->parent >= 0)
            sum -= row->a[k] * system->twist_start[6 * (size_t)j->parent + (size_t)k];
        if (j->child >= 0) sum -= row->b[k] * system->twist_start[6 * (size_t)j->child + (size_t)k];
    }
    return sum;
}

// Violations of closure conditions by the start twists, by the fastest body of their mechanism.
static void note_closures(const hn_system *system, const hn_model *model, const double *scales,
                          velocity_gap *worst)
{
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        int body = j->child >= 0 ? j->child : j->parent;
        for (int r = 0; r < closure_row_count(system, model, c); ++r) {
            closure_row row = closure_row_of(system, model, c, r);
            double missing = fabs(closure_missing(system, c, &row));
            double scale = fmax(scales[system->mechanism[body]], fabs(row.value));
            note_gap(worst, missing, scale, body);
        }
    }
}

// Closure conditions are met exactly, given velocities as well as they allow.
static const double CLOSURE_WEIGHT = 1e5;

// All rates that are not given, together. Free roots without a given velocity stay at rest unless `move_roots`.
static hn_status solve_together(hn_system *system, const hn_model *model, bool move_roots,
                                double *rates)
{
    hn_context *context = system->context;
    int columns = 0, rows = 0;
    double known[JOINT_DOF_MAX];
    for (int i = 0; i < system->body_count; ++i) rows += rows_given(system, model, i).count;
    for (int c = 0; c < system->cut_count; ++c) rows += closure_row_count(system, model, c);
    pool memory = {.context = context};
    int *column_of = pool_ints(&memory, (size_t)system->dof);
    hn_status status = pool_status(&memory);
    if (status != HN_OK) return status;
    memset(rates, 0, (size_t)system->dof * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        bool fixed = rates_given(system, model, i, known);
        if (fixed) memcpy(rates + system->dof_offset[i], known, (size_t)j->dof * sizeof(double));
        bool root = j->kind == HN_JOINT_FREE && !fixed && rows_given(system, model, i).count == 0;
        if (root && !move_roots) fixed = true;
        for (int k = 0; k < j->dof; ++k)
            column_of[system->dof_offset[i] + k] = fixed ? -1 : columns++;
    }
    if (columns > JOINT_SOLUTION_MAX || columns == 0) {
        if (columns > 0)
            status = context_fail(context, HN_INVALID_MODEL,
                                  "start: %d joint rates would have to be found together from the "
                                  "given velocities; give more of them",
                                  columns);
        goto done;
    }
    double *matrix = pool_doubles(&memory, (size_t)rows * (size_t)columns);
    double *right = pool_doubles(&memory, (size_t)rows);
    double *solution = pool_doubles(&memory, (size_t)columns);
    status = pool_status(&memory);
    if (status != HN_OK) goto done;
    // right-hand side: what is missing with the known rates alone; rows weighted by the square root of the inertia
    twists_from_rates(system, rates);
    int row = 0;
    for (int i = 0; i < system->body_count; ++i) {
        given_rows given = rows_given(system, model, i);
        const double *inertia = mass_node(system, i);
        for (int r = 0; r < given.count; ++r, ++row) {
            bool linear =
                given.row[r][0] != 0.0 || given.row[r][1] != 0.0 || given.row[r][2] != 0.0;
            // in units of the mechanism, so that one is as good as the other to rank decisions
            double weight =
                sqrt((linear ? inertia[0] : (inertia[1] + inertia[2] + inertia[3]) * 2.0 / 3.0) /
                     system->unit_mass[i]) /
                system->unit_length[i];
            double sum = given.value[r], weighted[6];
            for (int k = 0; k < 6; ++k) {
                sum -= given.row[r][k] * system->twist_start[6 * (size_t)i + (size_t)k];
                weighted[k] = weight * given.row[r][k];
            }
            right[row] = weight * sum;
            add_path_row(system, i, weighted, column_of, matrix + (size_t)row * (size_t)columns);
        }
    }
    for (int c = 0; c < system->cut_count; ++c)
        for (int r = 0; r < closure_row_count(system, model, c); ++r, ++row) {
            closure_row closure = closure_row_of(system, model, c, r);
            double weight = CLOSURE_WEIGHT / closure_length(system, c, &closure);
            right[row] = weight * closure_missing(system, c, &closure);
            for (int k = 0; k < 6; ++k) closure.a[k] *= weight, closure.b[k] *= weight;
            add_path_row(system, system->cuts[c].parent, closure.a, column_of,
                         matrix + (size_t)row * (size_t)columns);
            add_path_row(system, system->cuts[c].child, closure.b, column_of,
                         matrix + (size_t)row * (size_t)columns);
        }
    status = dense_least_squares(context, rows, columns, matrix, right, RANK_TOLERANCE, solution);
    if (status != HN_OK) goto done;
    for (int k = 0; k < system->dof; ++k)
        if (column_of[k] >= 0) rates[k] = solution[column_of[k]];
    twists_from_rates(system, rates);
done:
    pool_release(&memory);
    return status;
}

// The worst gap for its scale; what is round-off of the fastest body is none. `scales`: one per mechanism, filled.
static velocity_gap all_missing(const hn_system *system, const hn_model *model, double *scales)
{
    velocity_gap worst = {0};
    double largest = velocity_scales(system, model, scales);
    note_unmet(system, model, &worst);
    note_closures(system, model, scales, &worst);
    if (!(worst.missing > VELOCITY_ROUND_OFF * largest)) worst.missing = 0.0;
    return worst;
}

// A joint on no loop of which nothing is said does not move.
static bool joint_rests(const hn_system *system, const hn_model *model, const system_joint *report)
{
    return report->cut < 0 && report->tree_body >= 0 && !system->in_loop[report->tree_body] &&
           report->rows.kind != HN_JOINT_FREE &&
           rows_given(system, model, report->tree_body).count == 0;
}

static int given_of_bodies(const hn_system *system, const hn_model *model, velocity_row *rows)
{
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) {
        given_rows given = rows_given(system, model, i);
        for (int r = 0; r < given.count; ++r, ++count) {
            if (rows == NULL) continue;
            rows[count] = (velocity_row){.body = {GROUND, i}, .value = given.value[r]};
            memcpy(rows[count].row[1], given.row[r], sizeof given.row[r]);
        }
    }
    return count;
}

// The rates of a joint, behind `count` rows
static int given_of_joint(const hn_system *system, const hn_model *model, int index, bool told,
                          int count, velocity_row *rows)
{
    const joint *j = &system->reports[index].rows;
    for (int r = 0; r < joint_type_of(j->kind)->dof; ++r, ++count) {
        if (rows == NULL) continue;
        closure_row row = rate_row(system, model, j, r);
        rows[count] =
            (velocity_row){.body = {j->parent, j->child}, .value = told ? row.value : 0.0};
        memcpy(rows[count].row[0], row.a, sizeof row.a);
        memcpy(rows[count].row[1], row.b, sizeof row.b);
    }
    return count;
}

int system_told_velocities(const hn_system *system, const hn_model *model, velocity_row *rows)
{
    int count = given_of_bodies(system, model, rows);
    for (int k = 0; k < system->joint_count; ++k)
        if (model->joints[k].has_rates && !model->joints[k].rates_of_motions)
            count = given_of_joint(system, model, k, true, count, rows);
    return count;
}

int system_given_velocities(const hn_system *system, const hn_model *model, bool resting,
                            velocity_row *rows)
{
    int count = given_of_bodies(system, model, rows);
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        bool told = model->joints[k].has_rates;
        if (!told && !(resting && joint_rests(system, model, &system->reports[k]))) continue;
        if (j->kind == HN_JOINT_FREE) return -1;
        count = given_of_joint(system, model, k, told, count, rows);
    }
    return count;
}

hn_status system_start_velocities(hn_system *system, const hn_model *model, double start_tolerance)
{
    hn_context *context = system->context;
    size_t count = (size_t)system->dof + (size_t)system->mechanism_count + 1;
    double *rates = context_allocate(context, count * sizeof(double));
    if (rates == NULL) return HN_OUT_OF_MEMORY;
    double *scales = rates + system->dof;
    velocity_gap gap = {0};
    hn_status status = walk(system, model, rates);
    if (status == HN_OK) gap = all_missing(system, model, scales);
    if (status == HN_OK && gap.missing > 0.0 && system->cut_count > 0 &&
        system->dof > LOOP_SOLUTION_MAX &&
        system->dof - system->cut_row_count <= LOOP_FREEDOM_MAX) {
        system->velocities = VELOCITIES_OPEN;
        context_release(context, rates);
        return HN_OK;
    }
    if (gap.missing > 0.0) system->velocities = VELOCITIES_TOGETHER;
    for (int attempt = 0; attempt < 2 && status == HN_OK && gap.missing > 0.0; ++attempt) {
        status = solve_together(system, model, attempt == 1, rates);
        if (status == HN_OK) gap = all_missing(system, model, scales);
    }
    context_release(context, rates);
    if (status != HN_OK) return status;
    if (gap.missing > start_tolerance * gap.scale)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': its start velocity violates the joints by %.3g m/s, more "
                            "than the tolerance of %.3g of the velocity %.3g m/s there",
                            system->bodies[gap.body].name, gap.missing, start_tolerance, gap.scale);
    system->velocity_projection = gap.missing;
    return HN_OK;
}
