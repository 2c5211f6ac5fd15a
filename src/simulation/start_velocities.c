// SPDX-License-Identifier: MIT
// Least kinetic energy: any motions that the joints allow, made orthonormal in the mass metric, are a basis in which
// the smallest solution of the given rows is the one of least energy. They are projections of random momenta.
#include "simulation/start_velocities.h"

#include "base/array.h"
#include "linalg/dense.h"
#include "system/mass.h"

#include <string.h>

enum {
    FREEDOM_MAX = 64,
    DRAWS = 3
}; // motions of a mechanism; draws that depend on those before until there are no more
static const double RANK_TOLERANCE = 1e-10;
static const double MET = 1e-12, CLOSED = 1e-10, SAME = 1e-8; // of the largest velocity
// A row is round-off when no motion changes it by more than this part of its own size.
static const double ROW_ROUND_OFF = 1e-12;
// Velocities beyond this multiple of those asked for are round-off of a mechanism that cannot move like that.
static const double GAIN_MAX = 1e8;

// What is known of one mechanism; nothing of another one enters.
typedef struct mechanism_motions {
    bool looped;    // and told of
    bool wanted;    // the same, and solved here
    bool growing;   // the motion in work is one of it
    int freedom;    // degrees of freedom
    int told;       // rows
    int count;      // motions found
    int missed;     // draws that gave none
    uint64_t state; // of random numbers
    double norm, first, part;
    double largest; // m/s, asked for
    double worst;   // m/s, missing of it
    double opening; // m/s, of joints
    double speed;   // m/s, of its fastest body
    double apart;   // m/s, from the velocities before
    bool met;
} mechanism_motions;

typedef struct motions {
    int slots;             // motions of the mechanism that has most
    double *twists;        // 6 per body, one motion of every mechanism after the other
    double *momenta;       // M v of them, 12 per body
    double *velocity;      // 12 per body, scratch
    double *candidate;     // 6 per body: the motion in work, and at last the velocities
    double *momentum;      // 12 per body
    mechanism_motions *of; // per mechanism
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

static void draw_velocities(const hn_system *system, motions *m)
{
    for (int i = 0; i < system->body_count; ++i) {
        mechanism_motions *of = &m->of[system->mechanism[i]];
        double *velocity = m->velocity + POSE_SIZE * (size_t)i;
        memset(velocity, 0, POSE_SIZE * sizeof(double));
        if (!of->growing) continue;
        array_probe(&of->state, velocity, POSE_SIZE);
        for (int k = 0; k < 3; ++k) velocity[k] *= system->unit_length[i];
    }
}

// Take away what the candidate has of the motions before.
static void make_orthogonal(const hn_system *system, motions *m)
{
    size_t poses = POSE_SIZE * (size_t)system->body_count,
           size = TWIST_SIZE * (size_t)system->body_count;
    for (int k = 0; k < m->slots; ++k) {
        const double *momenta = m->momenta + (size_t)k * poses,
                     *twists = m->twists + (size_t)k * size;
        for (int n = 0; n < system->mechanism_count; ++n) m->of[n].part = 0.0;
        for (int i = 0; i < system->body_count; ++i) {
            mechanism_motions *of = &m->of[system->mechanism[i]];
            size_t at = POSE_SIZE * (size_t)i;
            for (size_t r = at; of->growing && k < of->count && r < at + POSE_SIZE; ++r)
                of->part += momenta[r] * m->velocity[r];
        }
        for (int i = 0; i < system->body_count; ++i) {
            const mechanism_motions *of = &m->of[system->mechanism[i]];
            size_t at = TWIST_SIZE * (size_t)i;
            for (size_t r = at; of->growing && k < of->count && r < at + TWIST_SIZE; ++r)
                m->candidate[r] -= of->part * twists[r];
        }
    }
}

// Velocities, momenta and norms of the candidate; one that depends on the motions before is none.
static void measure_candidate(const hn_simulation *s, motions *m, bool first)
{
    const hn_system *system = s->system;
    find_velocity(s, m->candidate, m->velocity);
    mass_apply(system, 1.0, m->velocity, m->momentum);
    for (int n = 0; n < system->mechanism_count; ++n) m->of[n].norm = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        double length = system->unit_length[i],
               unit = 1.0 / (system->unit_mass[i] * length * length);
        for (size_t k = at; k < at + POSE_SIZE; ++k) {
            // the unit first, where masses are of bodies alone: a product of three is rounded as mass_apply does
            if (system->mass_edge_count > 0) m->momentum[k] *= unit;
            else m->momentum[k] = unit * mass_node(system, i)[(k - at) / 3] * m->velocity[k];
            m->of[system->mechanism[i]].norm += m->momentum[k] * m->velocity[k];
        }
    }
    for (int n = 0; n < system->mechanism_count; ++n) {
        mechanism_motions *of = &m->of[n];
        if (!of->growing) continue;
        of->norm = sqrt(of->norm);
        if (first) of->first = of->norm;
        if (!(of->norm > 1e-8 * of->first)) of->growing = false, of->missed++;
    }
}

// One more motion of each mechanism, orthonormal to its own before in units of its mass and length: however light it
// is, its motions are found to all digits, with the factors of the mass matrix at hand. False when none grows.
static bool add_motions(hn_simulation *s, motions *m)
{
    const hn_system *system = s->system;
    size_t poses = POSE_SIZE * (size_t)system->body_count,
           size = TWIST_SIZE * (size_t)system->body_count;
    bool any = false;
    for (int n = 0; n < system->mechanism_count; ++n) {
        mechanism_motions *of = &m->of[n];
        of->growing = of->wanted && of->count < of->freedom && of->missed < DRAWS;
        any = any || of->growing;
    }
    if (!any) return false;
    draw_velocities(system, m);
    // twice: the second time round-off of the first, and what orthogonalising has made of it, is projected
    for (int round = 0; round < 2; ++round) {
        mass_apply(system, 1.0, m->velocity, m->momentum);
        saddle_project_again(s->projection, s->state.q, m->momentum, m->candidate);
        for (int pass = 0; pass < 3; ++pass) {
            if (pass > 0) make_orthogonal(system, m);
            measure_candidate(s, m, round == 0 && pass == 0);
        }
        for (size_t i = 0; round == 0 && i < poses; ++i) {
            const mechanism_motions *of = &m->of[system->mechanism[i / POSE_SIZE]];
            m->velocity[i] = of->growing ? m->velocity[i] / of->norm : 0.0;
        }
        for (int n = 0; n < system->mechanism_count; ++n) m->of[n].first = 1.0;
    }
    for (int i = 0; i < system->body_count; ++i) {
        const mechanism_motions *of = &m->of[system->mechanism[i]];
        if (!of->growing) continue;
        size_t at = TWIST_SIZE * (size_t)i, place = POSE_SIZE * (size_t)i;
        double *twists = m->twists + (size_t)of->count * size,
               *momenta = m->momenta + (size_t)of->count * poses;
        for (size_t k = at; k < at + TWIST_SIZE; ++k) twists[k] = m->candidate[k] / of->norm;
        for (size_t k = place; k < place + POSE_SIZE; ++k) momenta[k] = m->momentum[k] / of->norm;
    }
    for (int n = 0; n < system->mechanism_count; ++n) m->of[n].count += m->of[n].growing;
    return true;
}

// Largest rate of a constraint row of any joint of a mechanism with the candidate: rows that nearly depend on others
// are not among those that the motions were projected on. In m/s: turns at the size of the body, links by their length.
static void find_openings(const hn_simulation *s, motions *m)
{
    const hn_system *system = s->system;
    for (int n = 0; n < system->mechanism_count; ++n) m->of[n].opening = 0.0;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const int body[2] = {j->parent, j->child};
        int own = body[1] >= 0 ? body[1] : body[0];
        mechanism_motions *of = &m->of[system->mechanism[own]];
        for (int r = 0; r < j->row_count; ++r) {
            hn_vec3 gradient[8];
            double sum = 0.0;
            const constraint_row row = joint_row(j, r);
            row_gradient(&row, system_pose(s->state.q, body[0]), system_pose(s->state.q, body[1]),
                         gradient);
            for (int side = 0; side < 2; ++side) {
                double velocity[POSE_SIZE];
                if (body[side] < 0) continue;
                twist_to_velocity(system_pose(s->state.q, body[side]),
                                  m->candidate + TWIST_SIZE * (size_t)body[side], velocity);
                int count = system->bodies[body[side]].has_directors ? 4 : 1;
                for (int x = 0; x < count; ++x)
                    sum += vec3_dot(gradient[4 * side + x], vec3_load(velocity + 3 * x));
            }
            double arm = row.rotational ? system->sizes[own] : 1.0;
            if (j->length > 0.0) arm /= j->length;
            of->opening = fmax(of->opening, arm * fabs(sum));
        }
    }
}

static int row_mechanism(const hn_system *system, const velocity_row *row)
{
    return system->mechanism[row->body[1] >= 0 ? row->body[1] : row->body[0]];
}

static double mechanism_length(const hn_system *system, const velocity_row *row)
{
    return system->unit_length[row->body[1] >= 0 ? row->body[1] : row->body[0]];
}

// Metres that a row of velocities is measured by: the length of its mechanism, or one where it says how fast something
// turns.
static double row_length(const hn_system *system, const velocity_row *row)
{
    for (int side = 0; side < 2; ++side)
        for (int k = 0; row->body[side] >= 0 && k < 3; ++k)
            if (row->row[side][k] != 0.0) return mechanism_length(system, row);
    return 1.0;
}

// A row on the motions of its mechanism, over the mechanism's length; zero when it is round-off of its parts.
static void fill_row(const hn_system *system, const motions *m, const velocity_row *row,
                     size_t columns, double *to)
{
    size_t size = TWIST_SIZE * (size_t)system->body_count;
    double length = row_length(system, row), largest = 0.0, parts = 0.0;
    for (size_t c = 0; c < columns; ++c) {
        double sum = 0.0, whole = 0.0;
        for (int side = 0; side < 2; ++side) {
            if (row->body[side] < 0) continue;
            const double *twist = m->twists + c * size + TWIST_SIZE * (size_t)row->body[side];
            double part = array_dot(row->row[side], twist, TWIST_SIZE);
            to[c] += part / length;
            sum += part;
            for (int k = 0; k < TWIST_SIZE; k += 3)
                whole += vec3_norm(vec3_load(row->row[side] + k)) * vec3_norm(vec3_load(twist + k));
        }
        largest = fmax(largest, fabs(sum));
        parts = fmax(parts, whole);
    }
    if (largest <= ROW_ROUND_OFF * parts) memset(to, 0, columns * sizeof(double));
}

// Solve the given rows of one mechanism in its basis, for the candidate.
static hn_status solve_rows(hn_simulation *s, motions *m, int mechanism, const velocity_row *rows,
                            int count)
{
    const hn_system *system = s->system;
    mechanism_motions *of = &m->of[mechanism];
    size_t columns = (size_t)of->count, n = (size_t)count,
           size = TWIST_SIZE * (size_t)system->body_count;
    double length = system->unit_length[system->mechanism_first[mechanism]];
    pool memory = {.context = s->context};
    double *matrix = pool_doubles(&memory, n * columns), *right = pool_doubles(&memory, n),
           *solution = pool_doubles(&memory, columns);
    hn_status status = pool_status(&memory);
    of->largest = of->worst = 0.0;
    for (size_t r = 0; r < n && status == HN_OK; ++r) {
        right[r] = rows[r].value / row_length(system, &rows[r]);
        of->largest = fmax(of->largest, length * fabs(right[r]));
        fill_row(system, m, &rows[r], columns, matrix + r * columns);
    }
    if (status == HN_OK)
        status = dense_least_squares(s->context, count, of->count, matrix, right, RANK_TOLERANCE,
                                     solution);
    for (size_t r = 0; r < n && status == HN_OK; ++r)
        of->worst =
            fmax(of->worst,
                 length * fabs(array_dot(matrix + r * columns, solution, columns) - right[r]));
    for (int k = system->mechanism_start[mechanism];
         status == HN_OK && k < system->mechanism_start[mechanism + 1]; ++k) {
        size_t at = TWIST_SIZE * (size_t)system->mechanism_bodies[k];
        memset(m->candidate + at, 0, TWIST_SIZE * sizeof(double));
        for (size_t c = 0; c < columns; ++c)
            for (size_t i = at; i < at + TWIST_SIZE; ++i)
                m->candidate[i] += solution[c] * m->twists[c * size + i];
    }
    pool_release(&memory);
    return status;
}

// How fast the candidate is, and how far from the velocities before; rotations at the size of the body.
static void measure_speeds(const hn_system *system, motions *m)
{
    for (int n = 0; n < system->mechanism_count; ++n) m->of[n].speed = m->of[n].apart = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        mechanism_motions *of = &m->of[system->mechanism[i]];
        for (int k = 0; k < TWIST_SIZE; k += 3) {
            size_t at = TWIST_SIZE * (size_t)i + (size_t)k;
            double arm = k == 0 ? 1.0 : system->sizes[i];
            hn_vec3 twist = vec3_load(m->candidate + at);
            of->speed = fmax(of->speed, arm * vec3_norm(twist));
            of->apart =
                fmax(of->apart,
                     arm * vec3_norm(vec3_subtract(twist, vec3_load(system->twist_start + at))));
        }
    }
}

// Candidates that meet what is given become the start velocities of their mechanisms.
static void take_candidates(hn_simulation *s, motions *m)
{
    hn_system *system = s->system;
    find_openings(s, m);
    measure_speeds(system, m);
    for (int n = 0; n < system->mechanism_count; ++n) {
        mechanism_motions *of = &m->of[n];
        if (!of->wanted || of->met) continue;
        of->met = of->worst <= s->def.start_tolerance * of->largest &&
                  of->opening <= CLOSED * fmax(of->largest, of->speed) &&
                  of->speed <= GAIN_MAX * of->largest;
        // what the bodies were given one by one is known to more digits, where it is the same
        if (!of->met || (system->velocities[n] == VELOCITIES_GIVEN &&
                         of->apart <= SAME * fmax(of->largest, of->speed)))
            continue;
        for (int k = system->mechanism_start[n]; k < system->mechanism_start[n + 1]; ++k) {
            size_t at = TWIST_SIZE * (size_t)system->mechanism_bodies[k];
            memcpy(system->twist_start + at, m->candidate + at, TWIST_SIZE * sizeof(double));
        }
        if (of->worst > MET * of->largest)
            system->velocity_projection = fmax(system->velocity_projection, of->worst);
        system->velocities[n] = VELOCITIES_LEAST;
    }
}

// Rows mechanism by mechanism, each in the order they were in: `sorted` with `first` per mechanism and the end.
static void sort_rows(const hn_system *system, const velocity_row *rows, int count,
                      velocity_row *sorted, int *first)
{
    memset(first, 0, ((size_t)system->mechanism_count + 1) * sizeof(int));
    for (int r = 0; r < count; ++r) first[row_mechanism(system, &rows[r]) + 1]++;
    for (int n = 0; n < system->mechanism_count; ++n) first[n + 1] += first[n];
    // filling moves the beginnings to the ends
    for (int r = 0; r < count; ++r) sorted[first[row_mechanism(system, &rows[r])]++] = rows[r];
    for (int n = system->mechanism_count; n > 0; --n) first[n] = first[n - 1];
    first[0] = 0;
}

static hn_status solve_given(hn_simulation *s, const hn_model *model, motions *m)
{
    const hn_system *system = s->system;
    hn_status status = HN_OK;
    for (int resting = 1; resting >= 0 && status == HN_OK; --resting) {
        int count = system_given_velocities(system, model, resting == 1, NULL);
        pool memory = {.context = s->context};
        velocity_row *rows = pool_take(&memory, (size_t)count, sizeof *rows),
                     *sorted = pool_take(&memory, (size_t)count, sizeof *rows);
        int *first = pool_ints(&memory, (size_t)system->mechanism_count + 1);
        status = pool_status(&memory);
        if (status == HN_OK) {
            system_given_velocities(system, model, resting == 1, rows);
            sort_rows(system, rows, count, sorted, first);
        }
        for (int n = 0; n < system->mechanism_count && status == HN_OK; ++n)
            if (m->of[n].wanted && !m->of[n].met)
                status = solve_rows(s, m, n, sorted + first[n], first[n + 1] - first[n]);
        if (status == HN_OK) take_candidates(s, m);
        pool_release(&memory);
    }
    return status;
}

// Degrees of freedom of each mechanism with the choice of rows that was made last.
static void count_freedom(const hn_simulation *s, motions *m)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        int *freedom = &m->of[system->mechanism[i]].freedom;
        *freedom += j->dof;
        for (int r = 0; r < j->row_count; ++r)
            *freedom += saddle_row_is_dropped(s->projection, i, r);
    }
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        mechanism_motions *of = &m->of[system->mechanism[j->child >= 0 ? j->child : j->parent]];
        of->freedom -= j->row_count;
        for (int r = 0; r < j->row_count; ++r)
            of->freedom += saddle_row_is_dropped(s->projection, system->body_count + c, r);
    }
}

// Mechanisms in loops of which something is told, but no rates of free joints between bodies, which are no rows.
static hn_status find_wanted(const hn_simulation *s, const hn_model *model, motions *m, bool *any)
{
    const hn_system *system = s->system;
    int count = system_given_velocities(system, model, false, NULL);
    velocity_row *rows = context_allocate(s->context, ((size_t)count + 1) * sizeof *rows);
    if (rows == NULL) return HN_OUT_OF_MEMORY;
    system_given_velocities(system, model, false, rows);
    for (int r = 0; r < count; ++r) m->of[row_mechanism(system, &rows[r])].told++;
    context_release(s->context, rows);
    for (int c = 0; c < system->cut_count; ++c) {
        const joint *j = &system->cuts[c];
        mechanism_motions *of = &m->of[system->mechanism[j->child >= 0 ? j->child : j->parent]];
        of->looped = of->wanted = of->told > 0;
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        int body = j->child >= 0 ? j->child : j->parent;
        if (j->kind == HN_JOINT_FREE && model->joints[k].has_rates &&
            system->reports[k].tree_body < 0)
            m->of[system->mechanism[body]].wanted = false;
    }
    for (int n = 0; n < system->mechanism_count; ++n) {
        mechanism_motions *of = &m->of[n];
        of->state = 1;
        *any = *any || of->looped || system->velocities[n] == VELOCITIES_OPEN;
    }
    return HN_OK;
}

static hn_status find_motions(hn_simulation *s, const hn_model *model, motions *m)
{
    const hn_system *system = s->system;
    size_t bodies = (size_t)system->body_count;
    for (int n = 0; n < system->mechanism_count; ++n) {
        mechanism_motions *of = &m->of[n];
        of->wanted = of->wanted && of->freedom > 0 && of->freedom <= FREEDOM_MAX;
        if (of->wanted && of->freedom > m->slots) m->slots = of->freedom;
    }
    if (m->slots == 0) return HN_OK;
    size_t slots = (size_t)m->slots;
    pool memory = {.context = s->context};
    m->twists = pool_doubles(&memory, slots * TWIST_SIZE * bodies);
    m->momenta = pool_doubles(&memory, slots * POSE_SIZE * bodies);
    m->velocity = pool_doubles(&memory, POSE_SIZE * bodies);
    m->momentum = pool_doubles(&memory, POSE_SIZE * bodies);
    m->candidate = pool_doubles(&memory, TWIST_SIZE * bodies);
    hn_status status = pool_status(&memory);
    if (status == HN_OK && saddle_factor_mass(s->projection, s->state.q) == HN_OK) {
        while (add_motions(s, m)) continue;
        for (int n = 0; n < system->mechanism_count; ++n)
            m->of[n].wanted = m->of[n].wanted && m->of[n].count == m->of[n].freedom;
        status = solve_given(s, model, m);
    }
    pool_release(&memory);
    return status;
}

// Velocities of a mechanism that are not of least energy: these depend on the tree, unless all of it is at rest.
static void note_chosen(hn_simulation *s, int mechanism)
{
    hn_system *system = s->system;
    bool moves = false;
    for (int k = system->mechanism_start[mechanism]; k < system->mechanism_start[mechanism + 1];
         ++k) {
        size_t at = TWIST_SIZE * (size_t)system->mechanism_bodies[k];
        moves = moves || array_largest(system->twist_start + at, TWIST_SIZE) > 0.0;
    }
    if (moves && system->velocities[mechanism] != VELOCITIES_NEAR)
        system->velocities[mechanism] = VELOCITIES_CHOSEN;
}

hn_status start_velocities_complete(hn_simulation *s, const hn_model *model)
{
    const hn_system *system = s->system;
    if (system->cut_count == 0) return HN_OK;
    pool memory = {.context = s->context};
    motions m = {
        .of = pool_take(&memory, (size_t)system->mechanism_count, sizeof(mechanism_motions))};
    hn_status status = pool_status(&memory);
    bool any = false;
    saddle_choice choice;
    if (status == HN_OK) status = find_wanted(s, model, &m, &any);
    if (status == HN_OK && any && s->projection == NULL)
        status = saddle_create(s->system, SADDLE_TWISTS, &s->projection);
    if (status == HN_OK && any && saddle_choose_rows(s->projection, s->state.q, &choice) == HN_OK) {
        count_freedom(s, &m);
        status = find_motions(s, model, &m);
        for (int n = 0; n < system->mechanism_count && status == HN_OK; ++n)
            if (m.of[n].looped && !m.of[n].met && m.of[n].told < m.of[n].freedom &&
                system->velocities[n] != VELOCITIES_OPEN)
                note_chosen(s, n);
            else if (system->velocities[n] == VELOCITIES_OPEN)
                status = context_fail(
                    s->context, HN_INVALID_MODEL,
                    "start: the given velocities do not fit the joints, or are too few for "
                    "%d degrees of freedom; give all of them",
                    m.of[n].freedom);
    }
    pool_release(&memory);
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
    int *group;       // of mechanisms that couplings connect, per row
    int *members;     // rows of the group in work
    double *part;     // its products, what is missing, and its impulses, from which on they are
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

// What a row can measure with the velocities of a body, and with the fastest of its group.
static double row_scale(const hn_simulation *s, const asked_rates *x, int i)
{
    const hn_system *system = s->system;
    const double *row = x->rows + (size_t)i * POSE_SIZE * (size_t)system->body_count;
    double scale = 0.0, entry[2] = {0.0}, speed[2] = {0.0}; // of places, of directors
    for (int b = 0; b < system->body_count; ++b) {
        const double *own = row + POSE_SIZE * (size_t)b, *v = x->velocity + POSE_SIZE * (size_t)b;
        if (system->group[b] != x->group[i]) continue;
        scale = fmax(scale, array_largest(own, POSE_SIZE) * array_largest(v, POSE_SIZE));
        for (int k = 0; k < 2; ++k) {
            size_t at = k == 0 ? 0 : 3, size = k == 0 ? 3 : POSE_SIZE - 3;
            entry[k] = fmax(entry[k], array_largest(own + at, size));
            speed[k] = fmax(speed[k], array_largest(v + at, size));
        }
    }
    // less than MET of the fastest is round-off of what should rest, not a velocity that differs
    return fmax(scale, MET / SAME * (entry[0] * speed[0] + entry[1] * speed[1]));
}

// What the velocities lack; the largest by its own size
static double find_missing(const hn_simulation *s, const velocity_row *told, asked_rates *x)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double worst = 0.0;
    find_velocity(s, s->system->twist_start, x->velocity);
    for (int i = 0; i < x->count; ++i) {
        const double *row = x->rows + (size_t)i * size;
        double rate = array_dot(row, x->velocity, size), wanted = 0.0,
               scale = fmax(fabs(rate), row_scale(s, x, i));
        if (i >= x->hold_count) wanted = told[i - x->hold_count].value;
        else if (s->holds[i].coupling < 0)
            wanted = holds_motion(&s->system->elements[s->holds[i].first], 0.0).rate;
        x->missing[i] = wanted - rate;
        scale = fmax(scale, fabs(wanted));
        if (scale > 0.0) worst = fmax(worst, fabs(x->missing[i]) / scale);
    }
    return worst;
}

// Group by group: round-off of one that moves would set another one, which rests, in motion.
static hn_status solve_groups(hn_context *context, asked_rates *x)
{
    for (int first = 0; first < x->count; ++first) {
        int count = 0;
        for (int i = 0; i < x->count; ++i)
            if (x->group[i] == x->group[first]) x->members[count++] = i;
        if (x->members[0] < first) continue;
        size_t n = (size_t)count;
        double *missing = x->part + n * n, *impulses = missing + n;
        for (size_t i = 0; i < n; ++i) {
            size_t row = (size_t)x->members[i];
            missing[i] = x->missing[row];
            for (size_t k = 0; k < n; ++k)
                x->part[i * n + k] = x->products[row * (size_t)x->count + (size_t)x->members[k]];
        }
        TRY(dense_least_squares(context, count, count, x->part, missing, RANK_TOLERANCE, impulses));
        for (size_t i = 0; i < n; ++i) x->impulses[x->members[i]] = impulses[i];
    }
    return HN_OK;
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
    TRY(solve_groups(s->context, x));
    for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < size; ++i)
            system->twist_start[i] += x->impulses[k] * x->twists[k * size + i];
    return HN_OK;
}

static void fill_rows(const hn_simulation *s, const velocity_row *told, asked_rates *x)
{
    const hn_system *system = s->system;
    size_t size = POSE_SIZE * (size_t)system->body_count;
    for (int i = 0; i < x->count; ++i) {
        double *row = x->rows + (size_t)i * size;
        const velocity_row *said = i < x->hold_count ? NULL : &told[i - x->hold_count];
        const element *e = said != NULL ? NULL : &system->elements[s->holds[i].first];
        int a = said != NULL ? said->body[0] : e->a, b = said != NULL ? said->body[1] : e->b;
        x->group[i] = system->group[b >= 0 ? b : a];
        if (said != NULL) fill_told_row(s, said, row);
        else fill_hold_row(s, &s->holds[i], row);
    }
}

// Twice: the second time for the digits that the first one left. What cannot be met leaves the velocities alone.
static hn_status meet(hn_simulation *s, const velocity_row *told, asked_rates *x, bool *met)
{
    size_t size = TWIST_SIZE * (size_t)s->system->body_count * sizeof(double);
    memcpy(x->before, s->system->twist_start, size);
    for (int pass = 0; pass < 2 && find_missing(s, told, x) > MET; ++pass) TRY(add_impulses(s, x));
    *met = find_missing(s, told, x) <= SAME;
    if (!*met) memcpy(s->system->twist_start, x->before, size);
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
    x.group = pool_ints(&memory, n);
    x.members = pool_ints(&memory, n);
    x.part = pool_doubles(&memory, n * (n + 2));
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

// As many relations as can be met, one after the other: the first that cannot is named later.
static hn_status follow_relations(hn_simulation *s, const hn_model *model, int count)
{
    int told = system_told_velocities(s->system, model, NULL);
    bool met;
    TRY(follow_with(s, model, count, told, false, &met));
    for (int n = 1; !met && n <= count; ++n) {
        TRY(follow_with(s, model, n, told, false, &met));
        if (!met) break;
        met = false;
    }
    return HN_OK;
}

// Bodies that motions and couplings act on, with all that hangs on the same elastic edge by joints
static void mark_moved(const hn_simulation *s, int count, bool *moved)
{
    const hn_system *system = s->system;
    memset(moved, 0, (size_t)system->body_count * sizeof(bool));
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < s->holds[i].term_count; ++k) {
            const element *e = &system->elements[s->holds[i].first + k];
            if (e->a >= 0) moved[e->a] = true;
            if (e->b >= 0) moved[e->b] = true;
        }
    for (int i = system->body_count - 1; i >= 0; --i)
        if (moved[i] && !system->carried[i] && system->parent[i] >= 0)
            moved[system->parent[i]] = true;
}

// What elastic edges carry moves as a whole where the relations still hold then; else all of it but what they act on.
static hn_status carry_along(hn_simulation *s, const hn_model *model, int count,
                             const double *before)
{
    hn_system *system = s->system;
    size_t bodies = (size_t)system->body_count, size = TWIST_SIZE * bodies * sizeof(double);
    int told = system_told_velocities(system, model, NULL);
    pool memory = {.context = s->context};
    double *after = pool_doubles(&memory, TWIST_SIZE * bodies);
    bool *moved = pool_take(&memory, bodies, sizeof(bool)), met = false;
    hn_status status = pool_status(&memory);
    if (status == HN_OK) memcpy(after, system->twist_start, size);
    for (int attempt = 0; attempt < 2 && status == HN_OK && !met; ++attempt) {
        if (attempt == 1) mark_moved(s, count, moved);
        status = system_carry_along(system, model, before, moved);
        if (status == HN_OK) status = follow_with(s, model, count, told, true, &met);
        if (!met) memcpy(system->twist_start, after, size);
    }
    pool_release(&memory);
    return status;
}

hn_status start_velocities_follow(hn_simulation *s, const hn_model *model)
{
    int count = holds_find_firm(s->system, NULL);
    size_t size = TWIST_SIZE * (size_t)s->system->body_count;
    bool met = true;
    saddle_choice choice;
    if (count > 0) TRY(follow_with(s, model, count, 0, true, &met));
    if (met) return HN_OK;
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    if (saddle_choose_rows(s->projection, s->state.q, &choice) != HN_OK ||
        saddle_factor_mass(s->projection, s->state.q) != HN_OK)
        return HN_OK; // a singular start: told later
    pool memory = {.context = s->context};
    double *before = pool_doubles(&memory, size);
    hn_status status = pool_status(&memory);
    if (status == HN_OK) memcpy(before, s->system->twist_start, size * sizeof(double));
    if (status == HN_OK) status = follow_relations(s, model, count);
    if (status == HN_OK) status = carry_along(s, model, count, before);
    pool_release(&memory);
    return status;
}
