// SPDX-License-Identifier: MIT
// Mobilities of dampers: what z = h c/m is for a damper between bodies of a mechanism (docs/theory/forces.md).
//
//   (F10)  mobility_i = sum_j |W_ij| r_ij,   W = J (mass of the mechanism)^-1 J^T,   r_ij = (c_j/c_i)^(s^8),
//          s = |W_ij|/sqrt(W_ii W_jj), J the rows of the dampers' rates
//
// r_ij r_ji = 1 makes diag(mobility) - W positive semidefinite: with coefficients by (F9) no motion changes its sign.
// One damper has its own W_11, dampers side by side on one body the sum of their z each.
#include "simulation/composed.h"

#include "system/mass.h"

#include <string.h>

static const double WEAK =
    1e-2; // z below which mobilities of the start will do: they matter by z^2/12 of c
static const double MOVED = 0.01; // rad: after such a turn of a body mobilities are found anew
static const double RATTLE_LIMIT = 0.6931471805599453; // z beyond which (F11) is not e^(-z)
static const double RUNGE_KUTTA_LIMIT = 3.3; // z where a fixed step of Dormand-Prince grows
static const double SHARED_LIMIT =
    1.0; // z of dampers that share bodies beyond which slow motions feel it
enum { SHARING_POWER = 8 };

int dampers_find(const hn_system *system, int *list)
{
    int count = 0;
    // the damping of a beam or a bushing has no single rate
    for (int i = 0; i < system->element_count; ++i)
        if (system->elements[i].damping > 0.0 &&
            element_type_of(system->elements[i].kind)->rate_row != NULL) {
            if (list != NULL) list[count] = i;
            ++count;
        }
    return count;
}

// Rows at the current poses; those of bodies in the tree, in the order a, b
static void find_rows(hn_simulation *s)
{
    for (int i = 0; i < s->damper_count; ++i) {
        const element *e = &s->system->elements[s->dampers[i]];
        element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b),
                         s->damper_rows + 2 * POSE_SIZE * (size_t)i);
    }
    memcpy(s->damper_reference, s->state.q,
           POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
}

// Rate of a damper's length or angle when body number `side` of it has an impulse on its row
static double free_mobility(const hn_simulation *s, int damper, int side)
{
    const hn_system *system = s->system;
    const element *e = &system->elements[s->dampers[damper]];
    int body = side == 0 ? e->a : e->b;
    if (body < 0) return 0.0;
    const double *row = s->damper_rows + POSE_SIZE * (2 * (size_t)damper + (size_t)side),
                 *q = system_pose(s->state.q, body);
    double twist[TWIST_SIZE], v[POSE_SIZE], sum = 0.0;
    mass_twist(system, body, q, row, twist);
    twist_to_velocity(q, twist, v);
    for (int k = 0; k < POSE_SIZE; ++k) sum += row[k] * v[k];
    return mass_is_coupled(system, body) ? 2.0 * sum : sum;
}

// Bounds without joints: joints only make bodies heavier. Of n dampers on a body each takes n times its own part.
static void mobilities_without_joints(hn_simulation *s)
{
    hn_system *system = s->system;
    double *count = s->damper_impulse; // per body
    memset(count, 0, (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < s->damper_count; ++i) {
        const element *e = &system->elements[s->dampers[i]];
        if (e->a >= 0) count[e->a] += 1.0;
        if (e->b >= 0) count[e->b] += 1.0;
    }
    for (int i = 0; i < s->damper_count; ++i) {
        element *e = &system->elements[s->dampers[i]];
        e->mobility = 0.0;
        if (e->a >= 0) e->mobility += count[e->a] * free_mobility(s, i, 0);
        if (e->b >= 0) e->mobility += count[e->b] * free_mobility(s, i, 1);
    }
}

// Largest z
static double strongest(const hn_simulation *s)
{
    double z = 0.0;
    for (int i = 0; i < s->damper_count; ++i) {
        const element *e = &s->system->elements[s->dampers[i]];
        z = fmax(z, s->def.step_size * e->damping * e->mobility);
    }
    return z;
}

// W: column i are the rates of all dampers after a unit impulse of damper i on the mechanism
static hn_status find_responses(hn_simulation *s, double *w)
{
    const hn_system *system = s->system;
    double *p = s->damper_impulse, *twists = p + POSE_SIZE * (size_t)system->body_count;
    size_t n = (size_t)s->damper_count;
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    TRY(saddle_factor_mass(s->projection, s->state.q));
    for (size_t i = 0; i < n; ++i) {
        const element *e = &system->elements[s->dampers[i]];
        const double *row = s->damper_rows + 2 * POSE_SIZE * i;
        memset(p, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
        if (e->a >= 0) memcpy(p + POSE_SIZE * (size_t)e->a, row, POSE_SIZE * sizeof(double));
        if (e->b >= 0)
            memcpy(p + POSE_SIZE * (size_t)e->b, row + POSE_SIZE, POSE_SIZE * sizeof(double));
        saddle_project_again(s->projection, s->state.q, p, twists);
        for (size_t j = 0; j < n; ++j) {
            const element *other = &system->elements[s->dampers[j]];
            const int body[2] = {other->a, other->b};
            double rate = 0.0;
            for (int side = 0; side < 2; ++side) {
                if (body[side] < 0) continue;
                double v[POSE_SIZE];
                twist_to_velocity(system_pose(s->state.q, body[side]),
                                  twists + TWIST_SIZE * (size_t)body[side], v);
                const double *own = s->damper_rows + POSE_SIZE * (2 * j + (size_t)side);
                for (int k = 0; k < POSE_SIZE; ++k) rate += own[k] * v[k];
            }
            w[n * j + i] = rate;
        }
    }
    return HN_OK;
}

// (F10)
static void share_mobilities(hn_simulation *s, const double *w)
{
    size_t n = (size_t)s->damper_count;
    for (size_t i = 0; i < n; ++i) {
        element *e = &s->system->elements[s->dampers[i]];
        double sum = fmax(w[n * i + i], 0.0);
        for (size_t j = 0; j < n; ++j) {
            double size = fabs(w[n * i + j]), both = w[n * i + i] * w[n * j + j];
            if (j == i || !(size > 0.0) || !(both > 0.0)) continue;
            double ratio = s->system->elements[s->dampers[j]].damping / e->damping;
            sum += size * pow(ratio, pow(fmin(1.0, size * size / both), 0.5 * SHARING_POWER));
        }
        e->mobility = sum;
    }
}

static void say_limits(hn_simulation *s, const double *w)
{
    size_t n = (size_t)s->damper_count;
    damper_form form = s->scheme->damper_form;
    for (size_t i = 0; i < n && !s->damper_warned; ++i) {
        const element *e = &s->system->elements[s->dampers[i]];
        double z = s->def.step_size * e->damping * e->mobility;
        bool alone = w != NULL && e->mobility <= 1.001 * w[n * i + i];
        const char *what = NULL;
        if (s->scheme->any_rotation && s->def.projected_rk.fixed_steps && z > RUNGE_KUTTA_LIMIT)
            what = "fixed steps of an explicit rule grow there";
        if (form == DAMPER_EXPLICIT && z > RATTLE_LIMIT)
            what = "it halves speeds at most in a step there, where they should fall by more";
        if (form == DAMPER_MIDPOINT && !alone && z > SHARED_LIMIT)
            what =
                "it shares bodies with other dampers, which are weakened together so that nothing "
                "rings; slow motions are damped less than they should";
        if (s->composition != NULL && z > COMPOSED_DAMPER_MAX)
            what = "substeps back in time lose accuracy there";
        if (what == NULL) continue;
        context_log(
            s->context,
            "damper '%s' is strong for `%s`: h c/m = %.3g at t = %.6g s; %s: a smaller step helps",
            e->name, s->scheme->name, z, hn_simulation_time(s), what);
        s->damper_warned = true;
    }
}

hn_status dampers_update(hn_simulation *s)
{
    bool explicit_steps = s->scheme->any_rotation && s->def.projected_rk.fixed_steps;
    if (s->damper_count == 0 || (s->scheme->damper_form == DAMPER_PLAIN && !explicit_steps))
        return HN_OK;
    find_rows(s);
    mobilities_without_joints(s);
    double *w = s->damper_responses;
    // a motion without inertia has no response: then, and for many dampers, bounds without joints stay
    hn_status status = s->damper_count <= DAMPERS_MAX ? find_responses(s, w) : HN_SINGULAR_SYSTEM;
    if (status == HN_OUT_OF_MEMORY) return status;
    if (status == HN_OK) share_mobilities(s, w);
    else w = NULL;
    s->dampers_strong = strongest(s) > WEAK;
    say_limits(s, w);
    return HN_OK;
}

void dampers_follow(hn_simulation *s)
{
    if (!s->dampers_strong) return;
    bool moved = false;
    for (int i = 0; i < s->system->body_count && !moved; ++i)
        for (int k = 3; k < POSE_SIZE && !moved; ++k) {
            size_t at = POSE_SIZE * (size_t)i + (size_t)k;
            moved = fabs(s->state.q[at] - s->damper_reference[at]) > MOVED;
        }
    for (int i = 0; i < s->damper_count && !moved; ++i) {
        // the direction of a spring
        const element *e = &s->system->elements[s->dampers[i]];
        if (e->kind != ELEMENT_SPRING) continue;
        double row[2 * POSE_SIZE];
        const double *old = s->damper_rows + 2 * POSE_SIZE * (size_t)i;
        element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), row);
        for (int k = 0; k < 3; ++k)
            moved = moved || fabs(row[POSE_SIZE + k] - old[POSE_SIZE + k]) > MOVED;
    }
    if (moved) (void)dampers_update(s);
}
