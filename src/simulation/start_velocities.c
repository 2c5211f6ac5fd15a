// SPDX-License-Identifier: MIT
// Least kinetic energy: any motions that the joints allow, made orthonormal in the mass metric, are a basis in which
// the smallest solution of the given rows is the one of least energy. They are projections of random momenta.
#include "simulation/start_velocities.h"

#include "base/array.h"
#include "linalg/dense.h"
#include "system/kinematics.h"
#include "system/mass.h"

#include <string.h>

enum {
    FREEDOM_MAX = 64,
    DRAWS = 3
}; // motions; draws that depend on those before until there are no more
static const double RANK_TOLERANCE = 1e-10;
static const double MET = 1e-12, CLOSED = 1e-10, SAME = 1e-8; // of the largest velocity

typedef struct motions {
    int count;
    double *twists;   // 6 per body, one motion after the other
    double *momenta;  // M v of them, 12 per body
    double *velocity; // 12 per body, scratch
} motions;

static void find_velocity(const hn_simulation *s, const double *twists, double *velocity)
{
    for (int i = 0; i < s->system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        twist_to_velocity(s->state.q + at, twists + TWIST_SIZE * (size_t)i, velocity + at);
        if (!s->system->bodies[i].has_directors)
            memset(velocity + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
}

// One more motion of one mechanism, orthonormal to those before in units of its mass and length: however light it is,
// its motions are found to all digits, with the factors of the mass matrix at hand. False when it depends on them.
static bool add_motion(hn_simulation *s, motions *m, int mechanism, uint64_t *state)
{
    const hn_system *system = s->system;
    size_t poses = POSE_SIZE * (size_t)system->body_count,
           size = TWIST_SIZE * (size_t)system->body_count;
    double *twists = m->twists + (size_t)m->count * size,
           *momentum = m->momenta + (size_t)m->count * poses;
    int body = system->mechanism_first[mechanism];
    double length = system->unit_length[body],
           unit = 1.0 / (system->unit_mass[body] * length * length);
    array_probe(state, m->velocity, poses);
    for (int i = 0; i < system->body_count; ++i)
        for (int k = 0; k < POSE_SIZE; ++k)
            m->velocity[POSE_SIZE * i + k] *= system->mechanism[i] != mechanism ? 0.0
                                              : k < 3                           ? length
                                                                                : 1.0;
    // twice: the second time round-off of the first, and what orthogonalising has made of it, is projected
    double norm = 0.0, first = 0.0;
    for (int round = 0; round < 2; ++round) {
        mass_apply(system, 1.0, m->velocity, momentum);
        saddle_project_again(s->projection, s->state.q, momentum, twists);
        for (int pass = 0; pass < 3; ++pass) {
            for (int k = 0; pass > 0 && k < m->count; ++k) {
                double part = array_dot(m->momenta + (size_t)k * poses, m->velocity, poses);
                for (size_t i = 0; i < size; ++i)
                    twists[i] -= part * m->twists[(size_t)k * size + i];
            }
            find_velocity(s, twists, m->velocity);
            mass_apply(system, unit, m->velocity, momentum);
            norm = sqrt(array_dot(momentum, m->velocity, poses));
            if (round == 0 && pass == 0) first = norm;
            if (!(norm > 1e-8 * first)) return false;
        }
        for (size_t i = 0; round == 0 && i < poses; ++i) m->velocity[i] /= norm;
        if (round == 0) first = 1.0;
    }
    for (size_t i = 0; i < size; ++i) twists[i] /= norm;
    for (size_t i = 0; i < poses; ++i) momentum[i] /= norm;
    m->count++;
    return true;
}

// Largest rate of a constraint row of any joint with these twists: rows that nearly depend on others are not among
// those that the motions were projected on.
static double largest_opening(const hn_simulation *s, const double *twists)
{
    const hn_system *system = s->system;
    double largest = 0.0;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const int body[2] = {j->parent, j->child};
        for (int r = 0; r < j->row_count; ++r) {
            constraint_row row;
            hn_vec3 gradient[8];
            double sum = 0.0;
            joint_type_of(j->kind)->row(j, r, &row);
            row_gradient(&row, system_pose(s->state.q, body[0]), system_pose(s->state.q, body[1]),
                         gradient);
            for (int side = 0; side < 2; ++side) {
                double velocity[POSE_SIZE];
                if (body[side] < 0) continue;
                twist_to_velocity(system_pose(s->state.q, body[side]),
                                  twists + TWIST_SIZE * (size_t)body[side], velocity);
                int count = system->bodies[body[side]].has_directors ? 4 : 1;
                for (int x = 0; x < count; ++x)
                    sum += vec3_dot(gradient[4 * side + x], vec3_load(velocity + 3 * x));
            }
            largest = fmax(largest, fabs(sum));
        }
    }
    return largest;
}

// Metres that a row of velocities is measured by: the length of its mechanism, or one where it says how fast something
// turns.
static double row_length(const hn_system *system, const velocity_row *row)
{
    for (int side = 0; side < 2; ++side)
        for (int k = 0; row->body[side] >= 0 && k < 3; ++k)
            if (row->row[side][k] != 0.0) return system->unit_length[row->body[side]];
    return 1.0;
}

// Solve the given rows in the basis; true when they are met, and then the start velocities are set.
static hn_status solve_rows(hn_simulation *s, const motions *m, const velocity_row *rows, int count,
                            bool *met)
{
    hn_system *system = s->system;
    hn_context *context = s->context;
    size_t columns = (size_t)m->count, n = (size_t)count,
           size = TWIST_SIZE * (size_t)system->body_count;
    pool memory = {.context = context};
    double *matrix = pool_doubles(&memory, n * columns), *right = pool_doubles(&memory, n),
           *solution = pool_doubles(&memory, columns), *twists = pool_doubles(&memory, size);
    hn_status status = pool_status(&memory);
    double worst = 0.0, largest = 0.0;
    *met = false;
    for (size_t r = 0; r < n && status == HN_OK; ++r) {
        double length = row_length(system, &rows[r]);
        right[r] = rows[r].value / length;
        largest = fmax(largest, fabs(rows[r].value));
        for (size_t c = 0; c < columns; ++c)
            for (int side = 0; side < 2; ++side)
                if (rows[r].body[side] >= 0)
                    matrix[r * columns + c] +=
                        array_dot(rows[r].row[side],
                                  m->twists + c * size + TWIST_SIZE * (size_t)rows[r].body[side],
                                  TWIST_SIZE) /
                        length;
    }
    if (status == HN_OK)
        status =
            dense_least_squares(context, count, m->count, matrix, right, RANK_TOLERANCE, solution);
    if (status == HN_OK) {
        for (size_t c = 0; c < columns; ++c)
            for (size_t i = 0; i < size; ++i) twists[i] += solution[c] * m->twists[c * size + i];
        for (size_t r = 0; r < n; ++r)
            worst = fmax(worst,
                         row_length(system, &rows[r]) *
                             fabs(array_dot(matrix + r * columns, solution, columns) - right[r]));
        *met = worst <= s->def.start_tolerance * largest &&
               largest_opening(s, twists) <= CLOSED * fmax(largest, array_largest(twists, size));
    }
    // what the bodies were given one by one is known to more digits, where it is the same
    double apart = 0.0;
    for (size_t i = 0; *met && i < size; ++i)
        apart = fmax(apart, fabs(twists[i] - system->twist_start[i]));
    if (*met && !(system->velocities == VELOCITIES_GIVEN && apart <= SAME * largest)) {
        memcpy(system->twist_start, twists, size * sizeof(double));
        system->velocity_projection = worst > MET * largest ? worst : 0.0;
        system->velocities = VELOCITIES_LEAST;
    }
    pool_release(&memory);
    return status;
}

static hn_status solve_given(hn_simulation *s, const hn_model *model, const motions *m, bool *met)
{
    *met = false;
    for (int resting = 1; resting >= 0; --resting) {
        int count = system_given_velocities(s->system, model, resting == 1, NULL);
        if (count < 0) return HN_OK;
        velocity_row *rows = context_allocate(s->context, ((size_t)count + 1) * sizeof *rows);
        if (rows == NULL) return HN_OUT_OF_MEMORY;
        system_given_velocities(s->system, model, resting == 1, rows);
        hn_status status = solve_rows(s, m, rows, count, met);
        context_release(s->context, rows);
        if (status != HN_OK || *met) return status;
    }
    return HN_OK;
}

hn_status start_velocities_complete(hn_simulation *s, const hn_model *model)
{
    hn_system *system = s->system;
    hn_context *context = s->context;
    if (system->cut_count == 0 || system_given_velocities(system, model, false, NULL) <= 0)
        return HN_OK;
    bool met = false;
    saddle_choice choice;
    if (s->projection == NULL) TRY(saddle_create(system, SADDLE_TWISTS, &s->projection));
    if (saddle_choose_rows(s->projection, s->state.q, &choice) != HN_OK) return HN_OK;
    int freedom = system->coordinate_count - system->constraint_count + choice.dropped_count;
    hn_status status = HN_OK;
    if (freedom <= FREEDOM_MAX && freedom > 0) {
        size_t n = (size_t)system->body_count, f = (size_t)freedom;
        uint64_t state = 1;
        pool memory = {.context = context};
        motions m = {.twists = pool_doubles(&memory, f * TWIST_SIZE * n),
                     .momenta = pool_doubles(&memory, f * POSE_SIZE * n),
                     .velocity = pool_doubles(&memory, POSE_SIZE * n)};
        status = pool_status(&memory);
        bool factored = status == HN_OK && saddle_factor_mass(s->projection, s->state.q) == HN_OK;
        for (int k = 0; factored && k < system->mechanism_count; ++k)
            for (int missed = 0; m.count < freedom && missed < DRAWS;)
                if (!add_motion(s, &m, k, &state)) ++missed; // drawn again
        if (status == HN_OK && m.count == freedom) status = solve_given(s, model, &m, &met);
        pool_release(&memory);
    }
    if (status == HN_OK && !met && system->velocities == VELOCITIES_OPEN)
        return context_fail(context, HN_INVALID_MODEL,
                            "start: the given velocities do not fit the joints, or are too few for "
                            "%d degrees of freedom; give all of them",
                            freedom);
    return status;
}

// ---- motions -----------------------------------------------------------------------------------------------------

// (O7) of docs/theory/prescribed.md. Rates that velocities must have: rows (12 per body each), what they make of the
// mechanism, and their products.
typedef struct asked_rates {
    int count, hold_count; // those of holds come first
    double *rows;          // forces with the power of the rate
    double *twists;        // velocities by impulses along them, 6 per body each
    double *products;      // row i on velocities k
    double *missing, *impulses;
    double *before;   // start twists, 6 per body
    double *velocity; // 12 per body, scratch
} asked_rates;

static void fill_hold_row(const hn_simulation *s, const hold *h, double *row)
{
    for (int k = 0; k < h->term_count; ++k) {
        const element *e = &s->system->elements[h->first + k];
        double ends[2 * POSE_SIZE];
        element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), ends);
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? e->a : e->b;
            for (int i = 0; body >= 0 && i < POSE_SIZE; ++i)
                row[POSE_SIZE * body + i] +=
                    h->factors[k] * e->law->sign * ends[POSE_SIZE * side + i];
        }
    }
}

static void fill_told_row(const hn_simulation *s, const velocity_row *told, double *row)
{
    for (int side = 0; side < 2; ++side) {
        if (told->body[side] < 0) continue;
        const double *q = system_pose(s->state.q, told->body[side]);
        double *to = row + POSE_SIZE * (size_t)told->body[side];
        hn_vec3 torque = vec3_load(told->row[side] + 3);
        for (int k = 0; k < 3; ++k) to[k] += told->row[side][k];
        for (int k = 3; s->system->bodies[told->body[side]].has_directors && k < POSE_SIZE; k += 3)
            vec3_store(
                vec3_add_scaled(vec3_load(to + k), 0.5, vec3_cross(torque, vec3_load(q + k))),
                to + k);
    }
}

// What the velocities lack; the largest by its own size
static double find_missing(const hn_simulation *s, const velocity_row *told, asked_rates *x)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double worst = 0.0;
    find_velocity(s, s->system->twist_start, x->velocity);
    for (int i = 0; i < x->count; ++i) {
        const double *row = x->rows + (size_t)i * size;
        double rate = array_dot(row, x->velocity, size), wanted = 0.0, scale = fabs(rate);
        for (int b = 0; b < s->system->body_count; ++b) {
            size_t at = POSE_SIZE * (size_t)b;
            scale = fmax(scale, array_largest(row + at, POSE_SIZE) *
                                    array_largest(x->velocity + at, POSE_SIZE));
        }
        if (i >= x->hold_count) wanted = told[i - x->hold_count].value;
        else if (s->holds[i].coupling < 0)
            wanted = holds_motion(&s->system->elements[s->holds[i].first], 0.0).rate;
        x->missing[i] = wanted - rate;
        scale = fmax(scale, fabs(wanted));
        if (scale > 0.0) worst = fmax(worst, fabs(x->missing[i]) / scale);
    }
    return worst;
}

static hn_status add_impulses(hn_simulation *s, asked_rates *x)
{
    hn_system *system = s->system;
    size_t poses = POSE_SIZE * (size_t)system->body_count,
           size = TWIST_SIZE * (size_t)system->body_count, n = (size_t)x->count;
    for (size_t k = 0; k < n; ++k) {
        saddle_project_again(s->projection, s->state.q, x->rows + k * poses, x->twists + k * size);
        find_velocity(s, x->twists + k * size, x->velocity);
        for (size_t i = 0; i < n; ++i)
            x->products[i * n + k] = array_dot(x->rows + i * poses, x->velocity, poses);
    }
    // in units in which each responds to itself by one
    for (size_t i = 0; i < n; ++i) x->impulses[i] = sqrt(fmax(x->products[i * n + i], 0.0));
    for (size_t i = 0; i < n; ++i) {
        double unit = x->impulses[i] > 0.0 ? 1.0 / x->impulses[i] : 0.0;
        for (size_t k = 0; k < n; ++k)
            x->products[i * n + k] *= unit, x->products[k * n + i] *= unit;
        for (size_t k = 0; k < size; ++k) x->twists[i * size + k] *= unit;
        x->missing[i] *= unit;
    }
    TRY(dense_least_squares(s->context, x->count, x->count, x->products, x->missing, RANK_TOLERANCE,
                            x->impulses));
    for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < size; ++i)
            system->twist_start[i] += x->impulses[k] * x->twists[k * size + i];
    return HN_OK;
}

static void fill_rows(const hn_simulation *s, const velocity_row *told, asked_rates *x)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    for (int i = 0; i < x->count; ++i) {
        double *row = x->rows + (size_t)i * size;
        if (i < x->hold_count) fill_hold_row(s, &s->holds[i], row);
        else fill_told_row(s, &told[i - x->hold_count], row);
    }
}

// Twice: the second time for the digits that the first one left. What cannot be met leaves the velocities alone.
static hn_status meet(hn_simulation *s, const velocity_row *told, asked_rates *x, bool *met)
{
    size_t size = TWIST_SIZE * (size_t)s->system->body_count * sizeof(double);
    memcpy(x->before, s->system->twist_start, size);
    for (int pass = 0; pass < 2 && find_missing(s, told, x) > MET; ++pass) TRY(add_impulses(s, x));
    *met = find_missing(s, told, x) <= SAME;
    if (*met) s->system->velocities = VELOCITIES_LEAST;
    else memcpy(s->system->twist_start, x->before, size);
    return HN_OK;
}

// The first `hold_count` relations, and `told_count` rows of what the model says. `look`: are they met already?
static hn_status follow_with(hn_simulation *s, const hn_model *model, int hold_count,
                             int told_count, bool look, bool *met)
{
    asked_rates x = {.hold_count = hold_count, .count = hold_count + told_count};
    size_t bodies = (size_t)s->system->body_count, n = (size_t)x.count;
    pool memory = {.context = s->context};
    velocity_row *told = pool_take(&memory, (size_t)told_count, sizeof(velocity_row));
    x.rows = pool_doubles(&memory, n * POSE_SIZE * bodies);
    x.twists = pool_doubles(&memory, n * TWIST_SIZE * bodies);
    x.products = pool_doubles(&memory, n * n);
    x.missing = pool_doubles(&memory, n);
    x.impulses = pool_doubles(&memory, n);
    x.before = pool_doubles(&memory, TWIST_SIZE * bodies);
    x.velocity = pool_doubles(&memory, POSE_SIZE * bodies);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) {
        if (told_count > 0) system_told_velocities(s->system, model, told);
        fill_rows(s, told, &x);
        if (look) *met = find_missing(s, told, &x) <= MET;
        else status = meet(s, told, &x, met);
    }
    pool_release(&memory);
    return status;
}

hn_status start_velocities_follow(hn_simulation *s, const hn_model *model)
{
    int count = holds_find_firm(s->system, NULL);
    bool met = true;
    saddle_choice choice;
    if (count > 0) TRY(follow_with(s, model, count, 0, true, &met));
    if (met) return HN_OK;
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    if (saddle_choose_rows(s->projection, s->state.q, &choice) != HN_OK ||
        saddle_factor_mass(s->projection, s->state.q) != HN_OK)
        return HN_OK; // a singular start: told later
    int told = system_told_velocities(s->system, model, NULL);
    TRY(follow_with(s, model, count, told, false, &met));
    // as many as can be, one after the other: the first that cannot is named
    for (int n = 1; !met && n <= count; ++n) {
        TRY(follow_with(s, model, n, told, false, &met));
        if (!met) break;
        met = false;
    }
    return HN_OK;
}
