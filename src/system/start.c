// SPDX-License-Identifier: MIT
// Consistent start velocities from what a model gives: twists of bodies, rates of joints, and nothing for the rest.
//
// v = P(q) nu is consistent by construction (LMO 6). Root to leaves, a body takes the rates of its joint; where they
// are not given but the body's own velocity is, they follow from it. If that leaves a given velocity unmet, all rates
// of the mechanism that are not given are solved for together, least squares in the mass metric, smallest change first.
#include "system/system.h"

#include "linalg/dense.h"
#include "linalg/small_lu.h"
#include "system/mass.h"

#include <assert.h>
#include <string.h>

// Given velocities off by less than this part of the largest one of their mechanism are taken as exact.
static const double VELOCITY_ROUND_OFF = 1e-12;
static const double RANK_TOLERANCE = 1e-11;
// A row is round-off when no rate changes it by more than this part of its own size.
static const double ROW_ROUND_OFF = 1e-12;
// Velocities beyond this multiple of those asked for are round-off of a mechanism that cannot move like that.
static const double GAIN_MAX = 1e8;
// Given velocities of light bodies weigh this much at least beside those of the heaviest of their mechanism.
static const double WEIGHT_MIN = 1e-4;
// Beyond this many unknown rates the joint solution would need a large dense matrix.
enum { JOINT_SOLUTION_MAX = 3000 };
// And with loops, where simulations find them another way when few motions are left.
enum { LOOP_SOLUTION_MAX = 300, LOOP_FREEDOM_MAX = 64 };

// All rates of one mechanism are searched for at a time: nothing of another one enters.
typedef struct start_search {
    hn_system *system;
    const hn_model *model;
    int mechanism;         // in work
    double *rates;         // dof, relative to the locked motion
    double *units;         // per column: its rate is so many m/s or rad/s
    int *column_of;        // dof, or -1
    int *cuts, *cut_first; // cut joints by mechanism
    double *speeds;        // m/s, per mechanism: its fastest body
    double *asked;         // m/s, per mechanism: the fastest that is told
} start_search;

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

// Does it move with its parent where nothing is said? Free bodies do where something stiff carries them.
static bool moves_along(const hn_system *system, int body)
{
    const joint *j = &system->joints[body];
    return j->parent >= 0 && (j->kind != HN_JOINT_FREE || system->carried[body]);
}

// The twist a body gets from its parent when the joint is locked: it moves as one body with it.
static void locked_twist(const hn_system *system, int body, const double *parent, double *twist)
{
    const joint *j = &system->joints[body];
    memset(twist, 0, TWIST_SIZE * sizeof(double));
    if (!moves_along(system, body)) return;
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

// Rates along the columns of B with which a child that is the user's a moves as the user's coordinates say. These are
// seen from a, along its axes, and a is what moves.
static void rates_of_child(const hn_system *system, int body, const double *given, double *rates)
{
    static const double at_rest[6] = {0.0};
    const joint *j = &system->joints[body], *rows = &system->reports[j->model_joint].rows;
    const double *child = system_pose(system->q_start, body),
                 *parent = system_pose(system->q_start, j->parent);
    double matrix[JOINT_DOF_MAX * JOINT_DOF_MAX], column[JOINT_DOF_MAX];
    int exchange[JOINT_DOF_MAX];
    motion m;
    joint_columns(system, body, &m);
    for (int c = 0; c < m.dof; ++c) {
        double twist[6];
        vec3_store(m.linear[c], twist);
        vec3_store(m.angular[c], twist + 3);
        joint_coordinate_rates(rows, child, parent, twist, at_rest, column);
        for (int k = 0; k < m.dof; ++k) matrix[m.dof * k + c] = column[k];
    }
    memcpy(rates, given, (size_t)m.dof * sizeof(double));
    bool independent = small_lu_factor(m.dof, m.dof, matrix, exchange);
    assert(independent); // coordinates of a joint are, wherever it is
    if (independent) small_lu_solve(m.dof, m.dof, matrix, exchange, 1, 1, rates);
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
    const joint_type *type = joint_type_of(j->kind);
    bool reversed =
        type->keeps_sides ? j->child_is_a != system->reports[index].rows_swapped : j->swapped;
    double sign = reversed ? -1.0 : 1.0;
    if (j->swapped && j->dof > 1 && j->dof == type->coordinate_count) {
        rates_of_child(system, body, from->rates, rates);
        return true;
    }
    for (int k = 0; k < j->dof; ++k) rates[k] = sign * from->rates[k];
    if (j->kind == HN_JOINT_FREE && j->plane_child)
        // three world components are given, the columns are the axes of the plane
        for (int k = 0; k < j->dof; ++k)
            rates[k] = sign * vec3_dot(j->a[k], vec3_load(from->rates));
    if (j->kind == HN_JOINT_FREE && !j->point_child) {
        // given for the joint's point on the body: v_center = v - omega x rho
        hn_vec3 rho =
            pose_direction(system_pose(system->q_start, body), system->reports[index].rows.rho_b);
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

static bool is_turning(const double *row)
{
    return row[0] == 0.0 && row[1] == 0.0 && row[2] == 0.0;
}

// The rate of a column in units of the mechanism, by which its child moves about as far as the mechanism is long.
static double column_unit(const motion *m, int column, double length)
{
    double size = fmax(vec3_norm(m->linear[column]) / length, vec3_norm(m->angular[column]));
    return size > 0.0 ? 1.0 / size : 1.0;
}

static void drop_round_off(double *row, int columns, double size)
{
    double largest = 0.0;
    for (int k = 0; k < columns; ++k) largest = fmax(largest, fabs(row[k]));
    if (largest <= ROW_ROUND_OFF * size) memset(row, 0, (size_t)columns * sizeof(double));
}

// Size of a row on a twist, per length of the mechanism.
static double row_size(const double *row, double length)
{
    return fmax(vec3_norm(vec3_load(row)), vec3_norm(vec3_load(row + 3)) / length);
}

// C (t + B u) = d, smallest u, in units of the mechanism
static hn_status meet_given(const hn_system *system, int body, const given_rows *given,
                            const motion *m, const double *twist, double *u)
{
    double matrix[6 * JOINT_DOF_MAX], right[6], unit[JOINT_DOF_MAX];
    double length = system->unit_length[body];
    for (int c = 0; c < m->dof; ++c) unit[c] = column_unit(m, c, length);
    for (int r = 0; r < given->count; ++r) {
        const double *row = given->row[r];
        double scale = is_turning(row) ? 1.0 : length;
        right[r] = given->value[r];
        for (int k = 0; k < 6; ++k) right[r] -= row[k] * twist[k];
        right[r] /= scale;
        for (int c = 0; c < m->dof; ++c) {
            double column[6], sum = 0.0;
            vec3_store(m->linear[c], column);
            vec3_store(m->angular[c], column + 3);
            for (int k = 0; k < 6; ++k) sum += row[k] * column[k];
            matrix[r * m->dof + c] = sum * unit[c] / scale;
        }
        drop_round_off(matrix + r * m->dof, m->dof, row_size(row, length) * length / scale);
    }
    TRY(dense_least_squares(system->context, given->count, m->dof, matrix, right, RANK_TOLERANCE,
                            u));
    for (int c = 0; c < m->dof; ++c) u[c] *= unit[c];
    return HN_OK;
}

static double unmet(const given_rows *given, const double *twist, double length)
{
    double worst = 0.0;
    for (int r = 0; r < given->count; ++r) {
        double sum = -given->value[r];
        for (int k = 0; k < 6; ++k) sum += given->row[r][k] * twist[k];
        worst = fmax(worst, fabs(sum) * (is_turning(given->row[r]) ? length : 1.0));
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
        if (!rates_given(system, model, i, u) && given.count > 0 && m.dof > 0)
            TRY(meet_given(system, i, &given, &m, twist, u));
        add_columns(&m, u, twist);
    }
    return HN_OK;
}

// A velocity that is not as given or as joints ask, and what it is measured by.
typedef struct velocity_gap {
    double missing; // m/s
    double scale;   // m/s, of what it belongs to
    int body;
    const char *joint; // that would open, or NULL
} velocity_gap;

static void note_gap(velocity_gap *worst, const velocity_gap *gap)
{
    if (gap->missing * worst->scale > worst->missing * gap->scale || worst->scale == 0.0)
        *worst = *gap;
}

// How fast a body moves; rotations at its own size.
static double speed_of(const hn_system *system, int body)
{
    if (body < 0) return 0.0;
    const double *twist = system->twist_start + 6 * (size_t)body;
    return fmax(vec3_norm(vec3_load(twist)), system->sizes[body] * vec3_norm(vec3_load(twist + 3)));
}

// How fast it is told to.
static double told_speed(const hn_system *system, const hn_model *model, int body)
{
    double speed = 0.0;
    if (body < 0) return speed;
    given_rows given = rows_given(system, model, body);
    for (int r = 0; r < given.count; ++r)
        speed = fmax(speed,
                     (is_turning(given.row[r]) ? system->sizes[body] : 1.0) * fabs(given.value[r]));
    return speed;
}

static double moving_or_told(const hn_system *system, const hn_model *model, int body)
{
    return fmax(speed_of(system, body), told_speed(system, model, body));
}

// Unmet given velocities, by the speed of their own bodies and those they hang on.
static void note_unmet(const start_search *x, velocity_gap *worst)
{
    const hn_system *system = x->system;
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        given_rows given = rows_given(system, x->model, i);
        if (given.count == 0) continue;
        velocity_gap gap = {.body = i};
        gap.missing = unmet(&given, system->twist_start + 6 * (size_t)i, system->sizes[i]);
        gap.scale = fmax(moving_or_told(system, x->model, i),
                         moving_or_told(system, x->model, system->parent[i]));
        note_gap(worst, &gap);
    }
}

// The fastest body of the mechanism, and the fastest that is told of bodies and of joints of the tree.
static void find_speeds(start_search *x)
{
    const hn_system *system = x->system;
    double *speed = &x->speeds[x->mechanism], *asked = &x->asked[x->mechanism];
    *speed = *asked = 0.0;
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        double rates[JOINT_DOF_MAX];
        motion m;
        *asked = fmax(*asked, told_speed(system, x->model, i));
        *speed = fmax(*speed, speed_of(system, i));
        if (!rates_given(system, x->model, i, rates)) continue;
        joint_columns(system, i, &m);
        for (int k = 0; k < m.dof; ++k)
            *asked =
                fmax(*asked, fabs(rates[k]) * fmax(vec3_norm(m.linear[k]),
                                                   system->sizes[i] * vec3_norm(m.angular[k])));
    }
    *speed = fmax(*speed, *asked);
}

// twist of every body of the mechanism for given rates, relative to the locked motion
static void twists_from_rates(start_search *x)
{
    hn_system *system = x->system;
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        motion m;
        joint_columns(system, i, &m);
        static const double at_rest[6] = {0.0};
        double *twist = system->twist_start + 6 * (size_t)i;
        locked_twist(system, i,
                     system->parent[i] < 0 ? at_rest
                                           : system->twist_start + 6 * (size_t)system->parent[i],
                     twist);
        add_columns(&m, x->rates + system->dof_offset[i], twist);
    }
}

// A row on the twist of one body, carried along its path to the root into columns of joint rates.
static void add_path_row(const start_search *x, int body, const double *covector, double *row)
{
    const hn_system *system = x->system;
    double carried[6];
    memcpy(carried, covector, sizeof carried);
    for (; body >= 0; body = system->parent[body]) {
        motion m;
        joint_columns(system, body, &m);
        hn_vec3 force = vec3_load(carried), moment = vec3_load(carried + 3);
        for (int k = 0; k < m.dof; ++k) {
            int column = x->column_of[system->dof_offset[body] + k];
            if (column >= 0)
                row[column] += x->units[column] *
                               (vec3_dot(force, m.linear[k]) + vec3_dot(moment, m.angular[k]));
        }
        const joint *j = &system->joints[body];
        if (!moves_along(system, body)) return;
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
        hn_vec3 gradient[8];
        const constraint_row row = joint_row(j, index);
        row_gradient(&row, a, b, gradient);
        vectors_to_wrench(a, gradient, out.a);
        vectors_to_wrench(b, gradient + 4, out.b);
        // a link's row is half the square of a length: per its length it is in metres as the others
        for (int k = 0; k < 6 && j->length > 0.0; ++k) out.a[k] /= j->length, out.b[k] /= j->length;
        return out;
    }
    return rate_row(system, model, j, index - j->row_count);
}

static bool closure_turns(const joint *cut, const closure_row *row)
{
    return is_turning(cut->child >= 0 ? row->b : row->a);
}

static int closure_body(const joint *cut)
{
    return cut->child >= 0 ? cut->child : cut->parent;
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

// Violations of closure conditions by the start twists, by the fastest body of their mechanism; turns at the size of
// the body.
static void note_closures(start_search *x, velocity_gap *worst)
{
    const hn_system *system = x->system;
    for (int n = x->cut_first[x->mechanism]; n < x->cut_first[x->mechanism + 1]; ++n) {
        const joint *j = &system->cuts[x->cuts[n]];
        int body = closure_body(j);
        for (int r = 0; r < closure_row_count(system, x->model, x->cuts[n]); ++r) {
            closure_row row = closure_row_of(system, x->model, x->cuts[n], r);
            double arm = closure_turns(j, &row) ? system->sizes[body] : 1.0;
            velocity_gap gap = {.missing = arm * fabs(closure_missing(system, x->cuts[n], &row)),
                                .scale = fmax(x->speeds[x->mechanism], arm * fabs(row.value)),
                                .body = body,
                                .joint = system->reports[j->model_joint].name};
            x->asked[x->mechanism] = fmax(x->asked[x->mechanism], arm * fabs(row.value));
            note_gap(worst, &gap);
        }
    }
}

// Closure conditions are met exactly, given velocities as well as they allow.
static const double CLOSURE_WEIGHT = 1e5;

// Known rates, and a column for each of the others; returns how many. Free roots without a given velocity stay at rest
// unless `move_roots`.
static int number_columns(start_search *x, bool move_roots)
{
    const hn_system *system = x->system;
    int columns = 0;
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        const joint *j = &system->joints[i];
        double *rates = x->rates + system->dof_offset[i];
        motion m;
        joint_columns(system, i, &m);
        memset(rates, 0, (size_t)j->dof * sizeof(double));
        bool fixed = rates_given(system, x->model, i, rates);
        bool root =
            j->kind == HN_JOINT_FREE && !fixed && rows_given(system, x->model, i).count == 0;
        if (root && !move_roots) fixed = true;
        for (int k = 0; k < j->dof; ++k) {
            x->column_of[system->dof_offset[i] + k] = fixed ? -1 : columns;
            if (!fixed) x->units[columns++] = column_unit(&m, k, system->unit_length[i]);
        }
    }
    return columns;
}

static int count_rows(const start_search *x)
{
    const hn_system *system = x->system;
    int rows = 0, m = x->mechanism;
    for (int n = system->mechanism_start[m]; n < system->mechanism_start[m + 1]; ++n)
        rows += rows_given(system, x->model, system->mechanism_bodies[n]).count;
    for (int n = x->cut_first[m]; n < x->cut_first[m + 1]; ++n)
        rows += closure_row_count(system, x->model, x->cuts[n]);
    return rows;
}

// What is given of bodies, weighted by the square root of the inertia; returns the number of rows. Right-hand side:
// what is missing with the known rates alone. In units of the mechanism, so that one is as good as the other to rank
// decisions.
static int fill_given(const start_search *x, int columns, double *matrix, double *right)
{
    const hn_system *system = x->system;
    int row = 0;
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        given_rows given = rows_given(system, x->model, i);
        const double *inertia = mass_node(system, i);
        double length = system->unit_length[i];
        for (int r = 0; r < given.count; ++r, ++row) {
            bool turning = is_turning(given.row[r]);
            double mass = turning ? (inertia[1] + inertia[2] + inertia[3]) * 2.0 / 3.0 : inertia[0];
            double least = WEIGHT_MIN * (turning ? length : 1.0);
            double weight = fmax(sqrt(mass / system->unit_mass[i]), least) / length;
            double sum = given.value[r], weighted[6];
            double *to = matrix + (size_t)row * (size_t)columns;
            for (int k = 0; k < 6; ++k) {
                sum -= given.row[r][k] * system->twist_start[6 * (size_t)i + (size_t)k];
                weighted[k] = weight * given.row[r][k];
            }
            right[row] = weight * sum;
            add_path_row(x, i, weighted, to);
            drop_round_off(to, columns, row_size(weighted, length) * length);
        }
    }
    return row;
}

static void fill_closures(const start_search *x, int row, int columns, double *matrix,
                          double *right)
{
    const hn_system *system = x->system;
    for (int n = x->cut_first[x->mechanism]; n < x->cut_first[x->mechanism + 1]; ++n) {
        int c = x->cuts[n];
        const joint *j = &system->cuts[c];
        double length = system->unit_length[closure_body(j)];
        for (int r = 0; r < closure_row_count(system, x->model, c); ++r, ++row) {
            closure_row closure = closure_row_of(system, x->model, c, r);
            double weight = CLOSURE_WEIGHT / (closure_turns(j, &closure) ? 1.0 : length);
            double *to = matrix + (size_t)row * (size_t)columns;
            right[row] = weight * closure_missing(system, c, &closure);
            for (int k = 0; k < 6; ++k) closure.a[k] *= weight, closure.b[k] *= weight;
            add_path_row(x, j->parent, closure.a, to);
            add_path_row(x, j->child, closure.b, to);
            drop_round_off(to, columns,
                           fmax(row_size(closure.a, length), row_size(closure.b, length)) * length);
        }
    }
}

// All rates of a mechanism that are not given, together.
static hn_status solve_together(start_search *x, bool move_roots)
{
    hn_system *system = x->system;
    hn_context *context = system->context;
    int rows = count_rows(x), columns = number_columns(x, move_roots);
    if (columns > JOINT_SOLUTION_MAX)
        return context_fail(context, HN_INVALID_MODEL,
                            "start: %d joint rates would have to be found together from the "
                            "given velocities; give more of them",
                            columns);
    twists_from_rates(x);
    if (columns == 0) return HN_OK;
    pool memory = {.context = context};
    double *matrix = pool_doubles(&memory, (size_t)rows * (size_t)columns);
    double *right = pool_doubles(&memory, (size_t)rows);
    double *solution = pool_doubles(&memory, (size_t)columns);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        fill_closures(x, fill_given(x, columns, matrix, right), columns, matrix, right);
        status =
            dense_least_squares(context, rows, columns, matrix, right, RANK_TOLERANCE, solution);
    }
    for (int n = system->mechanism_start[x->mechanism];
         status == HN_OK && n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        for (int k = system->dof_offset[i]; k < system->dof_offset[i] + system->joints[i].dof; ++k)
            if (x->column_of[k] >= 0)
                x->rates[k] = x->units[x->column_of[k]] * solution[x->column_of[k]];
    }
    if (status == HN_OK) twists_from_rates(x);
    pool_release(&memory);
    return status;
}

// The worst gap of the mechanism for its scale; what is round-off of its fastest body is none.
static velocity_gap all_missing(start_search *x)
{
    velocity_gap worst = {0};
    find_speeds(x);
    note_unmet(x, &worst);
    note_closures(x, &worst);
    if (!(worst.missing > VELOCITY_ROUND_OFF * x->speeds[x->mechanism])) worst.missing = 0.0;
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
static int rates_of_joint(const hn_system *system, const hn_model *model, int index, int count,
                          velocity_row *rows)
{
    const joint *j = &system->reports[index].rows;
    for (int r = 0; r < joint_type_of(j->kind)->dof; ++r, ++count) {
        if (rows == NULL) continue;
        closure_row row = rate_row(system, model, j, r);
        rows[count] = (velocity_row){.body = {j->parent, j->child}, .value = row.value};
        memcpy(rows[count].row[0], row.a, sizeof row.a);
        memcpy(rows[count].row[1], row.b, sizeof row.b);
    }
    return count;
}

// A body that moves with its parent as if their joint were locked, but for the rates of a free joint, behind `count`
// rows: t - A t_parent = B u
static int locked_to_parent(const hn_system *system, const hn_model *model, int body, int count,
                            velocity_row *rows)
{
    const joint *j = &system->joints[body];
    int size = j->point_child ? 3 : TWIST_SIZE;
    if (rows == NULL) return count + size;
    double rates[JOINT_DOF_MAX], told[TWIST_SIZE] = {0.0};
    motion m;
    joint_columns(system, body, &m);
    if (rates_given(system, model, body, rates)) add_columns(&m, rates, told);
    for (int r = 0; r < size; ++r)
        rows[count + r] = (velocity_row){.body = {j->parent, body}, .value = told[r]};
    for (int k = 0; k < TWIST_SIZE; ++k) {
        double parent[TWIST_SIZE] = {0.0}, child[TWIST_SIZE];
        parent[k] = 1.0;
        locked_twist(system, body, parent, child);
        for (int r = 0; r < size; ++r) {
            rows[count + r].row[0][k] = -child[r];
            rows[count + r].row[1][k] = r == k ? 1.0 : 0.0;
        }
    }
    return count + size;
}

int system_told_velocities(const hn_system *system, const hn_model *model, velocity_row *rows)
{
    int count = given_of_bodies(system, model, rows);
    for (int k = 0; k < system->joint_count; ++k)
        if (model->joints[k].has_rates && !model->joints[k].rates_of_motions)
            count = rates_of_joint(system, model, k, count, rows);
    return count;
}

int system_given_velocities(const hn_system *system, const hn_model *model, bool resting,
                            velocity_row *rows)
{
    int count = given_of_bodies(system, model, rows);
    for (int k = 0; k < system->joint_count; ++k) {
        const system_joint *report = &system->reports[k];
        bool told = model->joints[k].has_rates, free = report->rows.kind == HN_JOINT_FREE;
        if (told && !free) count = rates_of_joint(system, model, k, count, rows);
        else if (free ? told && report->tree_body >= 0
                      : resting && joint_rests(system, model, report))
            count = locked_to_parent(system, model, report->tree_body, count, rows);
    }
    return count;
}

// A joint of the mechanism that has a rate to keep, on a loop; or NULL.
static const char *told_joint(const start_search *x)
{
    const hn_system *system = x->system;
    for (int k = 0; k < system->joint_count; ++k) {
        const system_joint *report = &system->reports[k];
        int body = closure_body(&report->rows);
        bool looped =
            report->cut >= 0 || (report->tree_body >= 0 && system->in_loop[report->tree_body]);
        if (looped && x->model->joints[k].has_rates && system->mechanism[body] == x->mechanism)
            return report->name;
    }
    return NULL;
}

static hn_status refuse(const start_search *x, const velocity_gap *gap, double tolerance)
{
    const hn_system *system = x->system;
    const char *told = gap->joint == NULL ? NULL : told_joint(x);
    return context_fail(system->context, HN_INVALID_MODEL,
                        "body '%s': its start velocity violates the joints by %.3g m/s%s%s%s, more "
                        "than the tolerance of %.3g of the velocity %.3g m/s there%s%s%s",
                        system->bodies[gap->body].name, gap->missing,
                        gap->joint == NULL ? "" : " at joint '",
                        gap->joint == NULL ? "" : gap->joint, gap->joint == NULL ? "" : "'",
                        tolerance, gap->scale, told == NULL ? "" : "; the start rate of joint '",
                        told == NULL ? "" : told, told == NULL ? "" : "' does not fit");
}

// What is found may not be large beside what is told: that is round-off, divided by what should be zero.
static hn_status check_gain(const start_search *x)
{
    const hn_system *system = x->system;
    double asked = x->asked[x->mechanism];
    for (int n = system->mechanism_start[x->mechanism];
         n < system->mechanism_start[x->mechanism + 1]; ++n) {
        int i = system->mechanism_bodies[n];
        double speed = speed_of(system, i);
        if (speed <= GAIN_MAX * asked || !isfinite(speed)) continue; // that is told by others
        const char *told = told_joint(x);
        return context_fail(system->context, HN_INVALID_MODEL,
                            "body '%s': the start values ask for %.3g m/s at most, but it would "
                            "have to move at %.3g m/s%s%s%s; give it a start velocity that the "
                            "joints allow",
                            system->bodies[i].name, asked, speed,
                            told == NULL ? "" : " with the rate of joint '",
                            told == NULL ? "" : told, told == NULL ? "" : "'");
    }
    return HN_OK;
}

// Of a mechanism with many rates in loops, but few motions: simulations find them another way.
static bool is_left_open(const start_search *x)
{
    const hn_system *system = x->system;
    int dof = 0, closed = 0, m = x->mechanism;
    for (int n = system->mechanism_start[m]; n < system->mechanism_start[m + 1]; ++n)
        dof += system->joints[system->mechanism_bodies[n]].dof;
    for (int n = x->cut_first[m]; n < x->cut_first[m + 1]; ++n)
        closed += system->cuts[x->cuts[n]].row_count;
    return closed > 0 && dof > LOOP_SOLUTION_MAX && dof - closed <= LOOP_FREEDOM_MAX;
}

// One mechanism, after the walk
static hn_status start_mechanism(start_search *x, double tolerance)
{
    hn_system *system = x->system;
    start_velocities *way = &system->velocities[x->mechanism];
    bool loops = x->cut_first[x->mechanism + 1] > x->cut_first[x->mechanism];
    velocity_gap gap = all_missing(x);
    *way = VELOCITIES_GIVEN;
    if (!(gap.missing > 0.0)) return check_gain(x);
    *way = VELOCITIES_OPEN;
    if (is_left_open(x)) return HN_OK;
    for (int attempt = 0; attempt < 2 && gap.missing > 0.0; ++attempt) {
        TRY(solve_together(x, attempt == 1));
        gap = all_missing(x);
    }
    if (gap.missing > tolerance * gap.scale) return refuse(x, &gap, tolerance);
    TRY(check_gain(x));
    *way = loops && gap.missing > 0.0 ? VELOCITIES_NEAR : VELOCITIES_TOGETHER;
    if (!loops) system->velocity_projection = fmax(system->velocity_projection, gap.missing);
    return HN_OK;
}

// Does a body go along with a change of its parent's velocity? Not one that is told another.
static bool goes_along(const hn_system *system, const hn_model *model, const bool *moved, int body,
                       const bool *follows)
{
    int parent = system->parent[body];
    if (parent < 0 || !moves_along(system, body)) return false;
    if (!system->carried[body]) return follows[parent];
    return !moved[body] && rows_given(system, model, body).count == 0;
}

hn_status system_carry_along(hn_system *system, const hn_model *model, const double *before,
                             const bool *moved)
{
    pool memory = {.context = system->context};
    bool *follows = pool_take(&memory, (size_t)system->body_count, sizeof(bool)), loops = false;
    TRY(pool_status(&memory));
    for (int i = 0; i < system->body_count; ++i) {
        follows[i] = goes_along(system, model, moved, i, follows);
        loops = loops || (follows[i] && system->in_loop[i]);
    }
    for (int i = 0; !loops && i < system->body_count; ++i) {
        if (!follows[i]) continue;
        size_t at = TWIST_SIZE * (size_t)i, from = TWIST_SIZE * (size_t)system->parent[i];
        double change[TWIST_SIZE], carried[TWIST_SIZE];
        for (size_t k = 0; k < TWIST_SIZE; ++k)
            change[k] = system->twist_start[from + k] - before[from + k];
        locked_twist(system, i, change, carried);
        for (size_t k = 0; k < TWIST_SIZE; ++k)
            system->twist_start[at + k] = before[at + k] + carried[k];
    }
    pool_release(&memory);
    return HN_OK;
}

static void sort_cuts(start_search *x)
{
    const hn_system *system = x->system;
    for (int c = 0; c < system->cut_count; ++c)
        x->cut_first[system->mechanism[closure_body(&system->cuts[c])] + 1]++;
    for (int m = 0; m < system->mechanism_count; ++m) x->cut_first[m + 1] += x->cut_first[m];
    // filling moves the beginnings to the ends
    for (int c = 0; c < system->cut_count; ++c)
        x->cuts[x->cut_first[system->mechanism[closure_body(&system->cuts[c])]]++] = c;
    for (int m = system->mechanism_count; m > 0; --m) x->cut_first[m] = x->cut_first[m - 1];
    x->cut_first[0] = 0;
}

hn_status system_start_velocities(hn_system *system, const hn_model *model, double start_tolerance)
{
    size_t dof = (size_t)system->dof, mechanisms = (size_t)system->mechanism_count;
    pool memory = {.context = system->context};
    start_search x = {.system = system,
                      .model = model,
                      .rates = pool_doubles(&memory, dof),
                      .units = pool_doubles(&memory, dof),
                      .column_of = pool_ints(&memory, dof),
                      .cuts = pool_ints(&memory, (size_t)system->cut_count),
                      .cut_first = pool_ints(&memory, mechanisms + 1),
                      .speeds = pool_doubles(&memory, mechanisms),
                      .asked = pool_doubles(&memory, mechanisms)};
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        sort_cuts(&x);
        status = walk(system, model, x.rates);
    }
    for (; status == HN_OK && x.mechanism < system->mechanism_count; ++x.mechanism)
        status = start_mechanism(&x, start_tolerance);
    pool_release(&memory);
    return status;
}
