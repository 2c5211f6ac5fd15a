// SPDX-License-Identifier: MIT
// Rates of elements and what they do in a step that decays.
#include "system/decay.h"

#include "system/mass.h"

#include <string.h>

enum { RATES_MAX = ELEMENT_STRAINS_MAX, SWEEPS_MAX = 100 };
static const double SINGULAR_RATE = 1e-12; // of a rate's own mobility: it depends on the others
// Sweeps for D end when it changes by less than these parts of itself and of the momentum
static const double SWEEP_TOLERANCE = 1e-14, SWEEP_ROUND_OFF = 1e-17;
static const double SWEEP_ENOUGH =
    1e-3; // of the first change of an evaluation: Newton's method goes on from there
static const double SWEEP_SLOW = 0.7; // part of the last change: less of the next one is taken

typedef double rate_rows[RATES_MAX][ELEMENT_COLUMNS];

// ---- masses of rates --------------------------------------------------------------------------------

// y = M_e^-1 x: an element's own mass, or its bodies' shares
static void apply_mobility(const hn_system *system, const element *e, const int *shares,
                           const double *x, double *y)
{
    const int body[2] = {e->a, e->b};
    for (int i = 0; i < 4; ++i)
        for (int c = 3 * i; c < 3 * i + 3; ++c) {
            y[c] = y[12 + c] = 0.0;
            double between = e->mass_edge < 0 ? 0.0 : mass_edge_of(system, e->mass_edge)->mass[i];
            if (between > 0.0) {
                // consistent: 2 m on the nodes, m between them
                y[c] = (2.0 * x[c] - x[12 + c]) / (3.0 * between);
                y[12 + c] = (2.0 * x[12 + c] - x[c]) / (3.0 * between);
                continue;
            }
            for (int side = 0; side < 2; ++side) {
                double m = body[side] < 0 ? 0.0 : mass_node(system, body[side])[i];
                if (m > 0.0) y[12 * side + c] = shares[body[side]] * x[12 * side + c] / m;
            }
        }
}

// kappa = s^-1 by Gauss and Jordan; rates that others imply, or that nothing with inertia has, are left out
static void invert(int count, const double s[RATES_MAX][RATES_MAX], double *kappa)
{
    double a[RATES_MAX][2 * RATES_MAX] = {{0.0}};
    bool used[RATES_MAX] = {false};
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < count; ++k) a[i][k] = s[i][k];
        a[i][RATES_MAX + i] = 1.0;
    }
    for (int i = 0; i < count; ++i) {
        used[i] = a[i][i] > SINGULAR_RATE * s[i][i];
        if (!used[i]) continue;
        double pivot = a[i][i];
        for (int c = 0; c < 2 * RATES_MAX; ++c) a[i][c] /= pivot;
        for (int r = 0; r < count; ++r) {
            double part = a[r][i];
            if (r == i) continue;
            for (int c = 0; c < 2 * RATES_MAX; ++c) a[r][c] -= part * a[i][c];
        }
    }
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < count; ++k)
            kappa[RATES_MAX * i + k] =
                used[i] && used[k] ? 0.5 * (a[i][RATES_MAX + k] + a[k][RATES_MAX + i]) : 0.0;
}

static void find_rate_mass(const hn_system *system, const element *e, const int *shares,
                           double *kappa)
{
    rate_rows rows = {{0.0}};
    double s[RATES_MAX][RATES_MAX] = {{0.0}};
    int count = element_type_of(e->kind)->rates(e, false, system_pose(system->q_start, e->a),
                                                system_pose(system->q_start, e->b), rows);
    for (int i = 0; i < count; ++i) {
        double y[ELEMENT_COLUMNS];
        apply_mobility(system, e, shares, rows[i], y);
        for (int k = 0; k < count; ++k)
            for (int c = 0; c < ELEMENT_COLUMNS; ++c) s[k][i] += rows[k][c] * y[c];
    }
    invert(count, (const double(*)[RATES_MAX])s, kappa);
}

// Parts of a torsional spring's directors in the inertia about each other's normal
static void set_turning(const hn_system *system, element *e)
{
    const int body[2] = {e->a, e->b};
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3; ++i) {
            double first = 0.0, sum = 0.0;
            if (body[side] >= 0) {
                const double *inertia = mass_node(system, body[side]) + 1;
                first = inertia[(i + 1) % 3], sum = first + inertia[(i + 2) % 3];
            }
            e->turning[side][i] = sum > 0.0 ? first / sum : 0.5;
        }
}

hn_status decay_prepare(hn_system *system)
{
    size_t count = (size_t)system->element_count;
    double *kappa = system_allocate(system, count * RATES_MAX * RATES_MAX * sizeof(double));
    int *shares = context_allocate(system->context, ((size_t)system->body_count + 1) * sizeof(int));
    if (kappa == NULL || shares == NULL) {
        context_release(system->context, shares);
        return HN_OUT_OF_MEMORY;
    }
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < system->element_count; ++i) {
            element *e = &system->elements[i];
            if (element_type_of(e->kind)->rates == NULL) continue;
            if (pass == 0) {
                if (e->a >= 0) shares[e->a]++;
                if (e->b >= 0) shares[e->b]++;
                continue;
            }
            const double *a = system_pose(system->q_start, e->a),
                         *b = system_pose(system->q_start, e->b);
            const hn_vec3 axis = vec3_cross(e->a1, e->a2);
            e->rate_length = fmax(e->rest, vec3_norm(vec3_combination(e->link, a, b)));
            e->b_axis = pose_components(b, pose_direction(a, axis));
            double *own = kappa + RATES_MAX * RATES_MAX * (size_t)i;
            set_turning(system, e);
            find_rate_mass(system, e, shares, own);
            e->rate_mass = own;
        }
    context_release(system->context, shares);
    return HN_OK;
}

// ---- a step -----------------------------------------------------------------------------------------

// Velocities of an element's bodies, zero where there is no inertia
static void velocities_of(const hn_system *system, const element *e, const double *v, double *out)
{
    const int body[2] = {e->a, e->b};
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < POSE_SIZE; ++k) {
            bool moves = body[side] >= 0 && mass_node(system, body[side])[k / 3] > 0.0;
            out[POSE_SIZE * side + k] = moves ? v[POSE_SIZE * (size_t)body[side] + (size_t)k] : 0.0;
        }
}

static void multiply(int count, rate_rows rows, const double *x, double *y)
{
    for (int i = 0; i < count; ++i) {
        y[i] = 0.0;
        for (int c = 0; c < ELEMENT_COLUMNS; ++c) y[i] += rows[i][c] * x[c];
    }
}

// An element's rates in a step
typedef struct rate_step {
    int count;
    rate_rows middle, end; // B(q_mid), B(q_n+1)
    double start_v[ELEMENT_COLUMNS], end_v[ELEMENT_COLUMNS];
    double change[RATES_MAX]; // dr_n
    double sigma[RATES_MAX];  // (Z4)
} rate_step;

// dr_n with the velocity v_n+1, and with `before` sigma
static void find_rates(const hn_system *system, const step_data *step, int index, double strength,
                       const double *velocity, const double *before, rate_step *r)
{
    const element *e = &system->elements[index];
    const element_type *type = element_type_of(e->kind);
    double start_rate[RATES_MAX], end_rate[RATES_MAX];
    rate_rows start;
    r->count = type->rates(e, false, system_pose(step->q_start, e->a),
                           system_pose(step->q_start, e->b), start);
    type->rates(e, false, system_pose(step->q, e->a), system_pose(step->q, e->b), r->end);
    velocities_of(system, e, step->velocity_start, r->start_v);
    velocities_of(system, e, velocity, r->end_v);
    multiply(r->count, start, r->start_v, start_rate);
    multiply(r->count, r->end, r->end_v, end_rate);
    for (int i = 0; i < r->count; ++i) {
        r->change[i] = end_rate[i] - start_rate[i];
        for (int c = 0; c < ELEMENT_COLUMNS; ++c)
            r->middle[i][c] = 0.5 * (start[i][c] + r->end[i][c]);
    }
    for (int i = 0; i < r->count; ++i) {
        r->sigma[i] = 0.0;
        for (int k = 0; before != NULL && k < r->count; ++k)
            r->sigma[i] +=
                0.5 * strength * e->rate_mass[RATES_MAX * i + k] * (r->change[k] - before[k]);
    }
}

static const double *rates_before(const step_data *step, int index)
{
    return decay_strains_before(step, index) + ELEMENT_STRAINS_MAX;
}

static bool has_rates(const element *e)
{
    return e->rate_mass != NULL;
}

// Add rows^T sigma to the bodies; `masked`: to vectors with inertia alone
static void add_to_bodies(const hn_system *system, const element *e, const rate_step *r,
                          const double rows[][ELEMENT_COLUMNS], bool masked, double *to)
{
    const int body[2] = {e->a, e->b};
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        double *own = to + POSE_SIZE * (size_t)body[side];
        for (int k = 0; k < POSE_SIZE; ++k) {
            double sum = 0.0;
            if (masked && !(mass_node(system, body[side])[k / 3] > 0.0)) continue;
            for (int i = 0; i < r->count; ++i) sum += r->sigma[i] * rows[i][POSE_SIZE * side + k];
            own[k] += sum;
        }
    }
}

// v_n+1 of (Z2) for D as it is
static void find_velocity(const hn_system *system, const step_equations *equations,
                          const step_data *step)
{
    double factor = 2.0 / equations->step_size;
    mass_solve(system, step->impulse, step->velocity);
    for (size_t k = 0; k < POSE_SIZE * (size_t)system->body_count; ++k)
        step->velocity[k] =
            factor * step->delta[k] - step->velocity_start[k] - 2.0 * step->velocity[k];
}

// (Z2) with (Z4): D depends on v_n+1 by alpha times the ratio of the masses of rates at the start and now. Where
// that is one, sweeps converge by alpha/2; in elements that are stretched far, by less of each. false: they did not
// converge.
static bool find_impulse(const hn_system *system, const step_equations *equations,
                         const step_data *step)
{
    size_t n = POSE_SIZE * (size_t)system->body_count;
    double *next = step->impulse + n, relaxed = 1.0 / (1.0 + 0.5 * equations->decay),
           last = HUGE_VAL, first = 0.0;
    bool settled = false;
    for (int sweep = 0; sweep < SWEEPS_MAX && !settled; ++sweep) {
        double total = 0.0;
        settled = true;
        find_velocity(system, equations, step);
        memset(next, 0, n * sizeof(double));
        for (int i = 0; i < system->element_count; ++i) {
            const element *e = &system->elements[i];
            rate_step r;
            if (!has_rates(e)) continue;
            find_rates(system, step, i, equations->decay, step->velocity, rates_before(step, i),
                       &r);
            add_to_bodies(system, e, &r, (const double(*)[ELEMENT_COLUMNS])r.middle, true, next);
        }
        for (size_t at = 0; at < n; at += 3) {
            double change = 0.0, size = 0.0, momentum = 0.0;
            for (size_t k = at; k < at + 3; ++k) {
                double d = relaxed * (next[k] - step->impulse[k]);
                step->impulse[k] += d;
                change += fabs(d), size += fabs(step->impulse[k]);
                total += d * d;
                momentum += fabs(equations->momentum[k]);
            }
            if (!(change <= SWEEP_TOLERANCE * size + SWEEP_ROUND_OFF * momentum)) settled = false;
        }
        total = sqrt(total) / relaxed;
        if (sweep == 0) first = total;
        if (total <= SWEEP_ENOUGH * first) settled = true;
        if (total > SWEEP_SLOW * last) relaxed *= SWEEP_SLOW;
        last = total;
    }
    find_velocity(system, equations, step);
    return settled;
}

// -2 B(q_mid) + h d(B(q) v_mid)/dq, the first without vectors that have no inertia where `masked`
static void find_left_rows(const hn_system *system, const step_equations *equations,
                           const element *e, rate_step *r, rate_rows left)
{
    const element_type *type = element_type_of(e->kind);
    const int body[2] = {e->a, e->b};
    double v[ELEMENT_COLUMNS], factor = equations->step_size;
    for (int c = 0; c < ELEMENT_COLUMNS; ++c) v[c] = 0.5 * (r->start_v[c] + r->end_v[c]);
    type->rates(e, true, v, v + POSE_SIZE, left);
    for (int c = 0; c < ELEMENT_COLUMNS; ++c) {
        int side = c / POSE_SIZE;
        bool moves = body[side] >= 0 && mass_node(system, body[side])[c % POSE_SIZE / 3] > 0.0;
        for (int i = 0; i < r->count; ++i)
            left[i][c] = factor * left[i][c] - (moves ? 2.0 * r->middle[i][c] : 0.0);
    }
}

void decay_add_forces(const hn_system *system, const step_equations *equations,
                      const step_data *step)
{
    if (!find_impulse(system, equations, step)) {
        // no v_n+1 belongs to this iterate: Newton's method ends here
        step->force[0] = (double)NAN;
        return;
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        rate_step r;
        rate_rows left;
        if (!has_rates(e)) continue;
        find_rates(system, step, i, equations->decay, step->velocity, rates_before(step, i), &r);
        find_left_rows(system, equations, e, &r, left);
        add_to_bodies(system, e, &r, (const double(*)[ELEMENT_COLUMNS])left, false, step->force);
    }
}

// How much of what q does to r_n+1 is left when v_n+1 follows (Z8): 1/(1 + alpha mu), mu = kappa B_n+1 M^-1 B_mid^T
// of an element for itself, which is 1 at the start and grows as a spring is stretched. Of several rates it stays 1.
static double part_followed(const hn_system *system, const step_equations *equations,
                            const element *e, const rate_step *r)
{
    const int body[2] = {e->a, e->b};
    double mobility = 0.0;
    if (r->count != 1 || e->mass_edge >= 0) return 1.0 / (1.0 + equations->decay);
    for (int c = 0; c < ELEMENT_COLUMNS; ++c) {
        int side = c / POSE_SIZE;
        double m = body[side] < 0 ? 0.0 : mass_node(system, body[side])[c % POSE_SIZE / 3];
        if (m > 0.0) mobility += r->end[0][c] * r->middle[0][c] / m;
    }
    return 1.0 / (1.0 + equations->decay * e->rate_mass[0] * mobility);
}

// d r_n+1 by q: through v_n+1, 2/h of it, and B(q) itself
static void find_right_rows(const hn_system *system, const step_equations *equations,
                            const element *e, const rate_step *r, rate_rows right)
{
    const element_type *type = element_type_of(e->kind);
    double part = part_followed(system, equations, e, r);
    type->rates(e, true, r->end_v, r->end_v + POSE_SIZE, right);
    for (int i = 0; i < r->count; ++i)
        for (int c = 0; c < ELEMENT_COLUMNS; ++c)
            right[i][c] = part * (right[i][c] + 2.0 / equations->step_size * r->end[i][c]);
}

void decay_add_block(const hn_system *system, const step_equations *equations,
                     const step_data *step, int index, element_block *block)
{
    const element *e = &system->elements[index];
    rate_step r;
    rate_rows left, right;
    if (!has_rates(e)) return;
    find_rates(system, step, index, equations->decay, step->velocity, rates_before(step, index),
               &r);
    find_left_rows(system, equations, e, &r, left);
    find_right_rows(system, equations, e, &r, right);
    // without inertia nothing follows
    const int body[2] = {e->a, e->b};
    for (int c = 0; c < ELEMENT_COLUMNS; ++c)
        if (!(mass_node(system, body[c / POSE_SIZE])[c % POSE_SIZE / 3] > 0.0))
            for (int i = 0; i < r.count; ++i) right[i][c] = 0.0;
    for (int i = 0; i < r.count; ++i) {
        double row[ELEMENT_COLUMNS] = {0.0};
        for (int k = 0; k < r.count; ++k) {
            double kappa = 0.5 * equations->decay * e->rate_mass[RATES_MAX * i + k];
            for (int c = 0; c < ELEMENT_COLUMNS; ++c) row[c] += kappa * right[k][c];
        }
        for (int x = 0; x < ELEMENT_COLUMNS; ++x)
            for (int c = 0; c < ELEMENT_COLUMNS; ++c) block->k[x][c] += left[i][x] * row[c];
    }
}

// left^T kappa/2 alpha right for a single rate, as terms between the vectors it meets
static void add_outer_terms(const double *left, const double *right, double factor,
                            element_output *out)
{
    for (int x = 0; x < 8; ++x)
        for (int y = 0; y < 8; ++y) {
            const double *l = left + 3 * x, *r = right + 3 * y;
            if ((l[0] == 0.0 && l[1] == 0.0 && l[2] == 0.0) ||
                (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0))
                continue;
            double u[8] = {0.0}, v[8] = {0.0};
            u[x] = v[y] = 1.0;
            stiffness_term *term = element_next_term(out, u, v);
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 3; ++k) term->c[i][k] = factor * l[i] * r[k];
        }
}

// Springs: both rows are multiples of `link`. A torsional spring on a cut joint goes without: too many terms for a
// border, and iterations make up for it.
void decay_add_terms(const hn_system *system, const step_equations *equations,
                     const step_data *step, int index, element_output *out)
{
    const element *e = &system->elements[index];
    rate_step r;
    rate_rows left_rows, right_rows;
    if (!has_rates(e)) return;
    double kappa = 0.5 * equations->decay * e->rate_mass[0];
    find_rates(system, step, index, equations->decay, step->velocity, rates_before(step, index),
               &r);
    if (r.count == 0) return;
    find_left_rows(system, equations, e, &r, left_rows);
    find_right_rows(system, equations, e, &r, right_rows);
    if (e->angle >= 0) {
        if (system->places[index] != PLACE_ELSEWHERE)
            add_outer_terms(left_rows[0], right_rows[0], kappa, out);
        return;
    }
    // rows are link_k times a vector: that of a slot with a coefficient, where it has inertia
    const int body[2] = {e->a, e->b};
    int slot = -1;
    for (int k = 0; k < 8; ++k)
        if (body[k / 4] >= 0 && mass_node(system, body[k / 4])[k % 4] > 0.0 &&
            (slot < 0 || fabs(e->link[k]) > fabs(e->link[slot])))
            slot = k;
    if (slot < 0 || e->link[slot] == 0.0) return;
    double factor = kappa / (e->link[slot] * e->link[slot]);
    stiffness_term *term = element_next_term(out, e->link, e->link);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            term->c[i][k] = factor * left_rows[0][3 * slot + i] * right_rows[0][3 * slot + k];
}

// ---- after a step -----------------------------------------------------------------------------------

static double rate_product(const element *e, int count, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < count; ++k) sum += e->rate_mass[RATES_MAX * i + k] * x[i] * y[k];
    return sum;
}

static void subtract(int count, const double *x, const double *y, double *difference)
{
    for (int i = 0; i < count; ++i) difference[i] = x[i] - y[i];
}

void decay_finish(const hn_system *system, const step_equations *equations, const step_data *step,
                  double strength_before, const double *velocity, size_t stride, double *memory)
{
    const double strength = equations->decay;
    for (int i = 0; i < system->element_count; ++i, memory += stride) {
        const element *e = &system->elements[i];
        const element_type *type = element_type_of(e->kind);
        if (type->strain_changes == NULL) continue;
        element_step view = step_element_view(system, equations, step, i);
        double changes[DECAY_MEMORY] = {0.0}, difference[RATES_MAX] = {0.0};
        rate_step r = {.count = 0};
        int count = type->strain_changes(e, &view, changes);
        if (has_rates(e)) find_rates(system, step, i, 0.0, velocity, NULL, &r);
        memcpy(changes + ELEMENT_STRAINS_MAX, r.change, (size_t)r.count * sizeof(double));
        if (equations->decay > 0.0) {
            const double *before = decay_strains_before(step, i);
            double *kept = memory;
            subtract(count, changes, before, difference);
            double lost = 0.5 * strength * type->strain_product(e, changes, difference);
            double gone = type->strain_product(e, difference, difference) -
                          type->strain_product(e, before, before);
            double stored = type->strain_product(e, kept, kept);
            before += ELEMENT_STRAINS_MAX, kept += ELEMENT_STRAINS_MAX;
            subtract(r.count, r.change, before, difference);
            lost += 0.5 * strength * rate_product(e, r.count, r.change, difference);
            gone += rate_product(e, r.count, difference, difference) -
                    rate_product(e, r.count, before, before);
            stored += rate_product(e, r.count, kept, kept);
            if (step->losses != NULL) {
                step->losses[0] += lost;
                step->losses[1] += 0.25 * (strength * gone + strength_before * stored);
            }
            if (step->works != NULL) step->works[system->mechanism[element_body(e)]] -= lost;
        }
        memcpy(memory, changes, sizeof changes);
    }
}
