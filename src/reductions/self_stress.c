// SPDX-License-Identifier: MIT
// Self-stresses by the normal equations (C7) over the bodies on loops.
#include "reductions/self_stress.h"

#include "base/array.h"
#include "linalg/block_cholesky.h"
#include "linalg/elimination_order.h"
#include "linalg/small_span.h"
#include "reductions/loop_joints.h"

#include <math.h>
#include <string.h>

// What is added to the diagonal grows by this factor while the matrix cannot be factored, up to so many times.
static const double DIAGONAL_GROWTH = 100.0, DIAGONAL_LARGER = 1e5;
static const double SHARED = 1e-7; // part of a row in a self-stress that counts
// Weaker multipliers than this, of the largest row, cannot be told from self-stresses.
static const double NEAR_MIN = 1e-6;
// A random vector shows that a joint has a part in self-stresses; as many as it has rows, and two more, show which.
enum { PROBE_COUNT = 2, SPAN_PROBE_COUNT = JOINT_ROWS_MAX + 2, REPEATS_MAX = 30 };

// where a joint stands in G^T G
typedef struct coupling {
    int node[2]; // -1: the ground
    double *diagonal[2];
    double *between;   // NULL: to the ground
    bool second_lower; // its rows belong to the second body
} coupling;

struct self_stress {
    hn_system *system;
    loop_joint *joints;
    coupling *couplings;
    int joint_count, row_count, node_count;
    double *turn_scale; // per body
    loop_row *rows;
    independent_rows *choice;
    bool *dropped;               // per row
    block_cholesky *normal;      // G^T G
    double *force, *motion;      // 6 per body on a loop
    double *given, *sum, *least; // per row: multipliers
    double *length;              // per row: what it had before it was made one
    double *middle;              // poses between q_start and q_end
    int *joint_place; // per joint of the model: among `joints`, counted from one; 0: not on a loop
    double
        *probes; // SPAN_PROBE_COUNT self-stresses for rows of length one, made when first asked for
    pool memory;
};

void self_stress_destroy(self_stress *s)
{
    if (s == NULL) return;
    independent_rows_destroy(s->choice);
    block_cholesky_destroy(s->normal);
    pool_release(&s->memory);
    context_release(s->system->context, s->probes);
    context_release(s->system->context, s);
}

// ---- analysis ---------------------------------------------------------------------------------------

static bool is_on_loop(const hn_system *system, const system_joint *j)
{
    return j->rows.row_count > 0 &&
           (j->cut >= 0 || (j->tree_body >= 0 && system->in_loop[j->tree_body]));
}

// Joints on loops as they are reported, and their independent rows.
static hn_status create_joints(self_stress *s)
{
    hn_system *system = s->system;
    size_t n = (size_t)system->joint_count;
    s->joints = pool_take(&s->memory, n, sizeof(loop_joint));
    s->joint_place = pool_ints(&s->memory, n);
    joint_place *places = pool_take(&s->memory, n, sizeof(joint_place));
    TRY(pool_status(&s->memory));
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *rows = &system->reports[k].rows;
        if (!is_on_loop(system, &system->reports[k])) continue;
        s->joints[s->joint_count] = (loop_joint){rows, {rows->parent, rows->child}, s->row_count};
        places[s->joint_count] = (joint_place){.rows = rows,
                                               .a = rows->parent,
                                               .b = rows->child,
                                               .node = system->body_count + s->joint_count};
        s->joint_place[k] = ++s->joint_count;
        s->row_count += rows->row_count;
    }
    return independent_rows_create(system, places, s->joint_count, NULL, &s->choice);
}

// Blocks of bodies on loops.
static hn_status create_normal(self_stress *s)
{
    hn_system *system = s->system;
    hn_context *context = system->context;
    size_t bodies = (size_t)system->body_count, joints = (size_t)s->joint_count;
    s->couplings = pool_take(&s->memory, joints, sizeof(coupling));
    TRY(pool_status(&s->memory));
    pool scratch = {.context = context};
    int *node = pool_ints(&scratch, bodies); // counted from one
    int *sizes = pool_ints(&scratch, bodies), *order = pool_ints(&scratch, bodies);
    int(*edges)[2] = pool_take(&scratch, joints, sizeof(int[2]));
    int edge_count = 0;
    hn_status status = pool_status(&scratch);
    if (status != HN_OK) goto done;
    for (int k = 0; k < s->joint_count; ++k) {
        coupling *c = &s->couplings[k];
        for (int side = 0; side < 2; ++side) {
            int body = s->joints[k].body[side];
            if (body >= 0 && node[body] == 0) {
                sizes[s->node_count] = TWIST_SIZE;
                node[body] = ++s->node_count;
            }
            c->node[side] = body < 0 ? -1 : node[body] - 1;
        }
        if (c->node[0] < 0 || c->node[1] < 0) continue;
        edges[edge_count][0] = c->node[0], edges[edge_count][1] = c->node[1];
        edge_count++;
    }
    status =
        order_minimum_degree(context, s->node_count, edge_count, (const int(*)[2])edges, order);
    if (status == HN_OK)
        status = block_cholesky_create(context, s->node_count, sizes, edge_count,
                                       (const int(*)[2])edges, order, &s->normal);
    for (int k = 0; k < s->joint_count && status == HN_OK; ++k) {
        coupling *c = &s->couplings[k];
        for (int side = 0; side < 2; ++side)
            if (c->node[side] >= 0)
                c->diagonal[side] = block_cholesky_block(s->normal, c->node[side], c->node[side]);
        if (c->node[0] < 0 || c->node[1] < 0) continue;
        c->second_lower = block_cholesky_is_lower(s->normal, c->node[1], c->node[0]);
        c->between = c->second_lower ? block_cholesky_block(s->normal, c->node[1], c->node[0])
                                     : block_cholesky_block(s->normal, c->node[0], c->node[1]);
    }
done:
    pool_release(&scratch);
    return status;
}

static hn_status create_parts(self_stress *s)
{
    TRY(create_joints(s));
    TRY(create_normal(s));
    size_t bodies = (size_t)s->system->body_count, rows = (size_t)s->row_count;
    size_t twists = TWIST_SIZE * (size_t)s->node_count;
    s->turn_scale = pool_doubles(&s->memory, bodies);
    s->rows = pool_take(&s->memory, rows, sizeof(loop_row));
    s->dropped = pool_take(&s->memory, rows, sizeof(bool));
    s->force = pool_doubles(&s->memory, twists);
    s->motion = pool_doubles(&s->memory, twists);
    s->given = pool_doubles(&s->memory, rows);
    s->sum = pool_doubles(&s->memory, rows);
    s->least = pool_doubles(&s->memory, rows);
    s->length = pool_doubles(&s->memory, rows);
    s->middle = pool_doubles(&s->memory, POSE_SIZE * bodies);
    TRY(pool_status(&s->memory));
    loop_joints_turn_scales(s->system, s->joints, s->joint_count, s->turn_scale);
    return HN_OK;
}

hn_status self_stress_create(hn_system *system, self_stress **out)
{
    *out = NULL;
    self_stress *s = context_allocate(system->context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->memory.context = system->context;
    hn_status status = create_parts(s);
    if (status == HN_OK) *out = s;
    else self_stress_destroy(s);
    return status;
}

// ---- the normal equations ---------------------------------------------------------------------------

static void add_row(const coupling *c, loop_row row)
{
    for (int side = 0; side < 2; ++side) {
        if (c->node[side] < 0) continue;
        const double *g = row[side];
        for (int i = 0; i < TWIST_SIZE; ++i)
            for (int k = 0; k <= i; ++k) c->diagonal[side][TWIST_SIZE * i + k] += g[i] * g[k];
    }
    if (c->between == NULL) return;
    const double *low = row[c->second_lower ? 1 : 0], *high = row[c->second_lower ? 0 : 1];
    for (int i = 0; i < TWIST_SIZE; ++i)
        for (int k = 0; k < TWIST_SIZE; ++k) c->between[TWIST_SIZE * i + k] += low[i] * high[k];
}

// What is added to the diagonal of G^T G: a part of each element, or the same part of the largest one to all.
typedef struct stabiliser {
    double part;
    bool uniform;
} stabiliser;
static const stabiliser LITTLE = {.part = 1e-13};

static double diagonal_element(self_stress *s, int place)
{
    int node = place / TWIST_SIZE, k = place % TWIST_SIZE;
    return block_cholesky_block(s->normal, node, node)[(TWIST_SIZE + 1) * k];
}

// Factors of G^T G with something added to the diagonal, more if that is too little. Returns the largest element, or
// zero on failure.
static double factor(self_stress *s, stabiliser add)
{
    int size = TWIST_SIZE * s->node_count;
    for (double end = DIAGONAL_LARGER * add.part; add.part <= end; add.part *= DIAGONAL_GROWTH) {
        double largest = 0.0;
        block_cholesky_clear(s->normal);
        for (int k = 0; k < s->joint_count; ++k)
            for (int r = 0; r < s->joints[k].rows->row_count; ++r)
                add_row(&s->couplings[k], s->rows[s->joints[k].first_row + r]);
        for (int k = 0; k < size; ++k) largest = fmax(largest, diagonal_element(s, k));
        for (int k = 0; k < size; ++k) {
            double own = diagonal_element(s, k);
            block_cholesky_block(s->normal, k / TWIST_SIZE,
                                 k / TWIST_SIZE)[(TWIST_SIZE + 1) * (k % TWIST_SIZE)] +=
                add.part * (add.uniform || own == 0.0 ? largest : own);
        }
        if (block_cholesky_factor(s->normal) < 0) return largest;
    }
    return 0.0;
}

// force += factor * G^T of one row
static void add_force(const self_stress *s, int joint_index, int row, double factor)
{
    const coupling *c = &s->couplings[joint_index];
    for (int side = 0; side < 2; ++side) {
        if (c->node[side] < 0) continue;
        double *force = s->force + TWIST_SIZE * (size_t)c->node[side];
        for (int i = 0; i < TWIST_SIZE; ++i) force[i] += factor * s->rows[row][side][i];
    }
}

// s->force = G^T multipliers
static void find_forces(const self_stress *s, const double *multipliers)
{
    memset(s->force, 0, TWIST_SIZE * (size_t)s->node_count * sizeof(double));
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
            int row = s->joints[k].first_row + r;
            add_force(s, k, row, multipliers[row]);
        }
}

// G y of one row
static double row_on_motion(const self_stress *s, int joint_index, int row)
{
    const coupling *c = &s->couplings[joint_index];
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (c->node[side] < 0) continue;
        const double *twist = s->motion + TWIST_SIZE * (size_t)c->node[side];
        for (int i = 0; i < TWIST_SIZE; ++i) sum += s->rows[row][side][i] * twist[i];
    }
    return sum;
}

// multipliers += those of (C7) that exert s->force, which becomes what is left of it: repeated until nothing changes,
// or as often as told
static void add_least_multipliers(self_stress *s, int repeats, double *multipliers)
{
    const double ROUND_OFF = 1e-16;
    double before = HUGE_VAL;
    for (int repeat = 0; repeat < (repeats > 0 ? repeats : REPEATS_MAX); ++repeat) {
        double size = 0.0, largest = 0.0;
        memcpy(s->motion, s->force, TWIST_SIZE * (size_t)s->node_count * sizeof(double));
        block_cholesky_solve(s->normal, s->motion);
        for (int k = 0; k < s->joint_count; ++k)
            for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
                int row = s->joints[k].first_row + r;
                double part = row_on_motion(s, k, row);
                multipliers[row] += part;
                add_force(s, k, row, -part);
                size = fmax(size, fabs(part));
                largest = fmax(largest, fabs(multipliers[row]));
            }
        if (repeats == 0 && (size <= ROUND_OFF * largest || size > 0.5 * before)) return;
        before = size;
    }
}

static double row_length(const self_stress *s, int row)
{
    const double *both = s->rows[row][0];
    return sqrt(array_dot(both, both, 2 * TWIST_SIZE));
}

// Rows at the poses q, as they are or of length one, and the factors.
static double place_rows(self_stress *s, const double *q, bool unit_length, stabiliser add)
{
    loop_joints_rows(s->system, s->joints, s->joint_count, s->turn_scale, q, s->rows);
    for (int row = 0; unit_length && row < s->row_count; ++row) {
        double length = s->length[row] = row_length(s, row), *x = s->rows[row][0]; // both sides
        for (int k = 0; length > 0.0 && k < 2 * TWIST_SIZE; ++k) x[k] /= length;
    }
    return factor(s, add);
}

// (C7) for `given`, with the rows and factors in place
static void find_least(self_stress *s, const double *given, double *least)
{
    memset(least, 0, (size_t)s->row_count * sizeof(double));
    find_forces(s, given);
    add_least_multipliers(s, 0, least);
}

// ---- self-stresses ----------------------------------------------------------------------------------

hn_status self_stress_count(self_stress *s, const double *q, int *count)
{
    row_choice choice;
    TRY(independent_rows_choose(s->choice, q, &choice, s->dropped));
    *count = choice.dropped_count;
    return HN_OK;
}

// Which joints share them does not depend on the size of rows, so they are of length one: the same for models of any
// size.
hn_status self_stress_find(self_stress *s, const double *q, bool *shared)
{
    uint64_t state = 1;
    for (int k = 0; k < s->system->joint_count; ++k) shared[k] = false;
    if (!(place_rows(s, q, true, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
    for (int i = 0; i < PROBE_COUNT; ++i) {
        array_probe(&state, s->given, (size_t)s->row_count);
        find_least(s, s->given, s->least);
        for (int k = 0; k < s->joint_count; ++k)
            for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
                int row = s->joints[k].first_row + r;
                if (fabs(s->given[row] - s->least[row]) > SHARED)
                    shared[s->joints[k].rows->model_joint] = true;
            }
    }
    return HN_OK;
}

hn_status self_stress_probe(self_stress *s, const double *q)
{
    uint64_t state = 1;
    size_t rows = (size_t)s->row_count;
    if (s->probes == NULL)
        s->probes =
            context_allocate(s->system->context, (SPAN_PROBE_COUNT * rows + 1) * sizeof(double));
    if (s->probes == NULL) return HN_OUT_OF_MEMORY;
    if (!(place_rows(s, q, true, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
    for (int i = 0; i < SPAN_PROBE_COUNT; ++i) {
        double *own = s->probes + rows * (size_t)i;
        array_probe(&state, own, rows);
        find_least(s, own, s->least);
        for (size_t row = 0; row < rows; ++row) own[row] -= s->least[row];
    }
    return HN_OK;
}

// The wrench that row `r` of a joint exerts on the model's body b about its joint point, per multiplier of a row of
// length one. Torques are divided by a length of the joint's bodies.
static void row_wrench(const self_stress *s, const loop_joint *j, bool on_a, int r, const double *q,
                       double length, double *wrench)
{
    hn_vec3 gradient[8];
    double own[TWIST_SIZE];
    const double *poses[2] = {system_pose(q, j->body[0]), system_pose(q, j->body[1])};
    const constraint_row row = joint_row(j->rows, r);
    row_gradient(&row, poses[0], poses[1], gradient);
    vectors_to_wrench(poses[on_a ? 0 : 1], gradient + (on_a ? 0 : 4), own);
    double size = s->length[j->first_row + r], factor = size > 0.0 ? -1.0 / size : 0.0;
    hn_vec3 force = vec3_load(own), arm = on_a ? j->rows->rho_a : j->rows->rho_b;
    hn_vec3 torque = vec3_subtract(vec3_load(own + 3),
                                   vec3_cross(pose_direction(poses[on_a ? 0 : 1], arm), force));
    vec3_store(vec3_scale(factor, force), wrench);
    vec3_store(vec3_scale(factor / length, torque), wrench + 3);
}

// Random self-stresses, as many as the joint may show and more, span what all of them do to it. Its force alone is
// unique along what is at right angles to the forces of that space, its torque likewise.
void self_stress_span(const self_stress *s, const double *q, int index, stress_span *span)
{
    double samples[SPAN_PROBE_COUNT][TWIST_SIZE] = {{0.0}}, basis[TWIST_SIZE][TWIST_SIZE];
    double forces[TWIST_SIZE][3], torques[TWIST_SIZE][3], directions[9];
    *span = (stress_span){.length = 1.0};
    int place = s->joint_place[index] - 1;
    if (place >= 0) {
        const loop_joint *j = &s->joints[place];
        double scale = HUGE_VAL;
        for (int side = 0; side < 2; ++side)
            if (j->body[side] >= 0) scale = fmin(scale, s->turn_scale[j->body[side]]);
        span->length = 1.0 / scale;
        for (int r = 0; r < j->rows->row_count; ++r) {
            double wrench[TWIST_SIZE];
            row_wrench(s, j, s->system->reports[index].rows_swapped, r, q, span->length, wrench);
            for (int i = 0; i < SPAN_PROBE_COUNT; ++i)
                for (int k = 0; k < TWIST_SIZE; ++k)
                    samples[i][k] +=
                        s->probes[(size_t)(s->row_count * i + j->first_row + r)] * wrench[k];
        }
        span->count = small_span(TWIST_SIZE, SPAN_PROBE_COUNT, samples[0], SHARED, basis[0], NULL);
    }
    for (int i = 0; i < span->count; ++i)
        for (int k = 0; k < 3; ++k) {
            forces[i][k] = span->force[i][k] = basis[i][k];
            torques[i][k] = span->torque[i][k] = basis[i][k + 3];
        }
    span->force_count = small_span(3, span->count, forces[0], SHARED, directions, NULL);
    small_span_complement(3, span->force_count, directions, span->force_unique);
    span->torque_count = small_span(3, span->count, torques[0], SHARED, directions, NULL);
    small_span_complement(3, span->torque_count, directions, span->torque_unique);
}

// Rows that depend on others on the manifold may be independent by a little where forces act, and (C7) gives their
// multipliers back. Then the smallest ones are found at both ends, and forces that are missing are added in the
// smallest way; multipliers that exert next to no force are left as they are by a diagonal that outweighs them.
static hn_status remove_near_stress(self_stress *s, const force_place *place, double *least)
{
    enum { REPEATS = 8 };
    const stabiliser MUCH = {.part = 1e-5};
    const double *ends[2] = {place->q_start, place->q_end};
    const double weights[2] = {1.0 - place->weight, place->weight};
    memset(s->sum, 0, (size_t)s->row_count * sizeof(double));
    memcpy(s->given, least, (size_t)s->row_count * sizeof(double));
    for (int end = 0; end < 2; ++end) {
        if (!(place_rows(s, ends[end], false, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
        find_least(s, s->given, least);
        for (int row = 0; row < s->row_count; ++row) s->sum[row] += weights[end] * least[row];
    }
    if (!(place_rows(s, s->middle, false, MUCH) > 0.0)) return HN_SINGULAR_SYSTEM;
    for (int row = 0; row < s->row_count; ++row) s->given[row] -= s->sum[row];
    find_forces(s, s->given);
    add_least_multipliers(s, REPEATS, s->sum);
    memcpy(least, s->sum, (size_t)s->row_count * sizeof(double));
    return HN_OK;
}

hn_status self_stress_remove(self_stress *s, const force_place *place, double *multipliers)
{
    bool between = place->weight > 0.0 && place->weight < 1.0;
    for (int k = 0; k < s->joint_count; ++k)
        memcpy(s->given + s->joints[k].first_row, multipliers + s->joints[k].rows->row_offset,
               (size_t)s->joints[k].rows->row_count * sizeof(double));
    for (int k = 0; k < POSE_SIZE * s->system->body_count; ++k)
        s->middle[k] = (1.0 - place->weight) * place->q_start[k] + place->weight * place->q_end[k];
    if (!(place_rows(s, s->middle, false, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
    find_least(s, s->given, s->least);
    if (between && !place->single_freedom) {
        int on_manifold, here;
        TRY(self_stress_count(s, place->q_start, &on_manifold));
        TRY(self_stress_count(s, s->middle, &here));
        if (here < on_manifold) TRY(remove_near_stress(s, place, s->least));
    }
    for (int k = 0; k < s->joint_count; ++k)
        memcpy(multipliers + s->joints[k].rows->row_offset, s->least + s->joints[k].first_row,
               (size_t)s->joints[k].rows->row_count * sizeof(double));
    return HN_OK;
}

// ---- motions that leave the manifold ----------------------------------------------------------------

// d^2 g/dt^2 of a row for constant twists: its own curvature, and the centripetal accelerations of places and directors
static double row_acceleration(const constraint_row *row, const loop_joint *j, const double *q,
                               const double *twists)
{
    hn_vec3 gradient[8], u = vec3(0.0, 0.0, 0.0), w = u;
    const double *poses[2] = {system_pose(q, j->body[0]), system_pose(q, j->body[1])};
    double sum = 0.0;
    row_gradient(row, poses[0], poses[1], gradient);
    for (int side = 0; side < 2; ++side) {
        if (j->body[side] < 0) continue;
        const double *t = twists + TWIST_SIZE * (size_t)j->body[side];
        hn_vec3 omega = vec3_load(t + 3);
        for (int k = 0; k < 4; ++k) {
            hn_vec3 rate =
                k == 0 ? vec3_load(t) : vec3_cross(omega, vec3_load(poses[side] + 3 * k));
            if (k > 0) sum += vec3_dot(gradient[4 * side + k], vec3_cross(omega, rate));
            u = vec3_add_scaled(u, row->alpha[4 * side + k], rate);
            w = vec3_add_scaled(w, row->beta[4 * side + k], rate);
        }
    }
    return row->product ? sum + 2.0 * row->factor * vec3_dot(u, w) : sum;
}

hn_status self_stress_departure(self_stress *s, const double *q, const double *twists,
                                loop_departure *departure)
{
    double scale = 0.0, largest = 0.0;
    *departure = (loop_departure){.joint = -1};
    if (!(place_rows(s, q, false, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
    for (int k = 0; k < s->joint_count; ++k) {
        const loop_joint *j = &s->joints[k];
        for (int r = 0; r < j->rows->row_count; ++r) {
            double length = row_length(s, j->first_row + r);
            const constraint_row row = joint_row(j->rows, r);
            s->given[j->first_row + r] =
                length > 0.0 ? row_acceleration(&row, j, q, twists) / length : 0.0;
        }
    }
    for (int i = 0; i < s->system->body_count; ++i) {
        hn_vec3 v = vec3_load(twists + TWIST_SIZE * (size_t)i),
                omega = vec3_load(twists + TWIST_SIZE * (size_t)i + 3);
        scale = fmax(scale, vec3_dot(v, v) / s->system->length);
        scale = fmax(scale, vec3_dot(omega, omega) * s->system->length);
    }
    if (!(place_rows(s, q, true, LITTLE) > 0.0)) return HN_SINGULAR_SYSTEM;
    find_least(s, s->given, s->least);
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
            int row = s->joints[k].first_row + r;
            double part = fabs(s->given[row] - s->least[row]);
            s->sum[row] = s->given[row] - s->least[row];
            if (part > largest) largest = part, departure->joint = s->joints[k].rows->model_joint;
        }
    departure->size = scale > 0.0 ? largest / scale : 0.0;
    departure->rows = s->sum;
    departure->row_count = s->row_count;
    return HN_OK;
}

int self_stress_joint_of_row(const self_stress *s, int row)
{
    int k = s->joint_count - 1;
    while (k > 0 && s->joints[k].first_row > row) k--;
    return s->joints[k].rows->model_joint;
}

// ---- loops that are not quite exact -----------------------------------------------------------------

// x <- x - G H^-1 G^T x, several times: leaves the parts of x that exert little force. H has a
// diagonal that decides how little.
static void keep_weak(self_stress *s, double *x)
{
    enum { PASSES = 8 };
    for (int pass = 0; pass < PASSES; ++pass) {
        find_forces(s, x);
        memcpy(s->motion, s->force, TWIST_SIZE * (size_t)s->node_count * sizeof(double));
        block_cholesky_solve(s->normal, s->motion);
        for (int k = 0; k < s->joint_count; ++k)
            for (int r = 0; r < s->joints[k].rows->row_count; ++r)
                x[s->joints[k].first_row + r] -= row_on_motion(s, k, s->joints[k].first_row + r);
    }
}

// Multipliers that exert little force are self-stresses and near ones. Their force comes from the near ones alone: it
// is known to round-off, and G times it is the near ones without the others.
hn_status self_stress_misfit(self_stress *s, const double *q, loop_misfit *misfit)
{
    const double EXACT = 1e-13, ROUND_OFF = 1e-15; // of the largest row
    const double NONE_LEFT = 1e-9;                 // of multipliers of size one
    const hn_system *system = s->system;
    // long chains have weak multipliers of their own, as beams bend easily: about 4/n^2 for n bodies
    double near = fmin(1e-3, 0.1 / ((double)s->node_count * s->node_count));
    size_t rows = (size_t)s->row_count, twists = TWIST_SIZE * (size_t)s->node_count;
    uint64_t state = 1;
    double far = 0.0;
    *misfit = (loop_misfit){.joint = -1};
    if (near < NEAR_MIN) return HN_OK;
    const stabiliser weak = {.part = near * near, .uniform = true};
    double scale = sqrt(place_rows(s, q, true, weak));
    if (!(scale > 0.0)) return s->row_count == 0 ? HN_OK : HN_SINGULAR_SYSTEM;
    array_probe(&state, s->given, (size_t)s->row_count);
    keep_weak(s, s->given);
    if (array_largest(s->given, rows) < NONE_LEFT) return HN_OK;
    find_forces(s, s->given);
    for (int i = 0; i < system->body_count; ++i)
        far = fmax(far, vec3_norm(pose_center(system_pose(q, i))));
    double exact = (EXACT + ROUND_OFF * far / system->length) * scale;
    if (!(array_largest(s->force, twists) > exact * array_largest(s->given, rows))) return HN_OK;
    memcpy(s->motion, s->force, twists * sizeof(double));
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r)
            s->given[s->joints[k].first_row + r] = row_on_motion(s, k, s->joints[k].first_row + r);
    keep_weak(s, s->given);
    find_forces(s, s->given);
    double force = 0.0, size = 0.0, largest = 0.0;
    for (size_t k = 0; k < twists; ++k) force += s->force[k] * s->force[k];
    for (int k = 0; k < s->joint_count; ++k)
        for (int r = 0; r < s->joints[k].rows->row_count; ++r) {
            double part = fabs(s->given[s->joints[k].first_row + r]);
            size += part * part;
            if (part > largest) largest = part, misfit->joint = s->joints[k].rows->model_joint;
        }
    misfit->size = sqrt(force / size) / scale;
    if (misfit->size > near) *misfit = (loop_misfit){.joint = -1}; // weak, but by construction
    return HN_OK;
}
