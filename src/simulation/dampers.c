// SPDX-License-Identifier: MIT
// Mobilities of dampers: what z = h c/m is for a damper between bodies of a mechanism (docs/theory/forces.md).
//
//   (F10)  mobility_i = W_ii sum_j s_ij r_ij,   W = J (mass of the mechanism)^-1 J^T,
//          s_ij = |W_ij|/sqrt(W_ii W_jj),   r_ij = (c_j W_jj/(c_i W_ii))^(s_ij^8), J the rows of the dampers' rates
//
// r_ij r_ji = 1 makes diag(mobility) - W positive semidefinite: with (F9) or (F16) no motion changes its sign.
// One damper has its own W_11, dampers side by side on one body the sum of their z each.
#include "simulation/composed.h"

#include "system/mass.h"

#include <stdio.h>
#include <string.h>

static const double WEAK =
    1e-2; // z below which mobilities of the start will do: they matter by z^2/12 of c
static const double MOVED = 0.01; // rad: after such a turn of a body mobilities are found anew
static const double RATTLE_LIMIT = 0.6931471805599453; // z beyond which (F11) is not e^(-z)
static const double RINGING = 2.0; // z beyond which a rule with the mean rate changes its sign
static const double RUNGE_KUTTA_LIMIT = 3.3; // z where a fixed step of Dormand-Prince grows
static const double STEADY_PART = 0.98; // of its coefficient that a steady load meets: named below
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

// Is its mechanism one that has moved?
static bool is_due(const hn_simulation *s, int damper)
{
    const element *e = &s->system->elements[s->dampers[damper]];
    return s->damper_moved[s->system->mechanism[element_body(e)]];
}

// Rows at the current poses; those of bodies in the tree, in the order a, b
static void find_rows(hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int i = 0; i < s->damper_count; ++i) {
        const element *e = &system->elements[s->dampers[i]];
        if (is_due(s, i))
            element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b),
                             s->damper_rows + 2 * POSE_SIZE * (size_t)i);
    }
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        if (s->damper_moved[system->mechanism[i]])
            memcpy(s->damper_reference + at, s->state.q + at, POSE_SIZE * sizeof(double));
    }
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
        if (!is_due(s, i)) continue;
        e->mobility = 0.0;
        if (e->a >= 0) e->mobility += count[e->a] * free_mobility(s, i, 0);
        if (e->b >= 0) e->mobility += count[e->b] * free_mobility(s, i, 1);
    }
}

// Which mechanisms have dampers that are not weak; is there one?
static bool find_strong(const hn_simulation *s)
{
    const hn_system *system = s->system;
    bool *strong = s->damper_moved + system->mechanism_count, any = false;
    memset(strong, 0, (size_t)system->mechanism_count * sizeof(bool));
    for (int i = 0; i < s->damper_count; ++i) {
        const element *e = &system->elements[s->dampers[i]];
        if (!(s->def.step_size * e->damping * e->mobility > WEAK)) continue;
        strong[system->mechanism[element_body(e)]] = any = true;
    }
    return any;
}

// Twists of all bodies after a unit impulse on a row of an element
static void respond(const hn_simulation *s, const element *e, const double *row, double *twists)
{
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    double *p = s->damper_impulse;
    memset(p, 0, size * sizeof(double));
    if (e->a >= 0) memcpy(p + POSE_SIZE * (size_t)e->a, row, POSE_SIZE * sizeof(double));
    if (e->b >= 0)
        memcpy(p + POSE_SIZE * (size_t)e->b, row + POSE_SIZE, POSE_SIZE * sizeof(double));
    saddle_project_again(s->projection, s->state.q, p, twists);
}

// The rate of a row by these twists
static double rate_by(const hn_simulation *s, const element *e, const double *row,
                      const double *twists)
{
    const int body[2] = {e->a, e->b};
    double rate = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        double v[POSE_SIZE];
        twist_to_velocity(system_pose(s->state.q, body[side]),
                          twists + TWIST_SIZE * (size_t)body[side], v);
        for (int k = 0; k < POSE_SIZE; ++k) rate += row[POSE_SIZE * side + k] * v[k];
    }
    return rate;
}

static hn_status begin_responses(hn_simulation *s)
{
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    return saddle_factor_mass(s->projection, s->state.q);
}

// W: column i are the rates of all dampers after a unit impulse of damper i on the mechanism
static hn_status find_responses(hn_simulation *s, double *w)
{
    const hn_system *system = s->system;
    double *twists = s->damper_impulse + POSE_SIZE * (size_t)system->body_count;
    size_t n = (size_t)s->damper_count;
    TRY(begin_responses(s));
    for (size_t i = 0; i < n; ++i) {
        respond(s, &system->elements[s->dampers[i]], s->damper_rows + 2 * POSE_SIZE * i, twists);
        for (size_t j = 0; j < n; ++j)
            w[n * j + i] = rate_by(s, &system->elements[s->dampers[j]],
                                   s->damper_rows + 2 * POSE_SIZE * j, twists);
    }
    return HN_OK;
}

// (F10)
static void share_mobilities(hn_simulation *s, const double *w)
{
    size_t n = (size_t)s->damper_count;
    for (size_t i = 0; i < n; ++i) {
        element *e = &s->system->elements[s->dampers[i]];
        if (!is_due(s, (int)i)) continue;
        double own = fmax(w[n * i + i], 0.0), sum = 1.0;
        for (size_t j = 0; j < n; ++j) {
            double other = w[n * j + j], both = own * other;
            if (j == i || !(both > 0.0)) continue;
            double shared = fmin(1.0, fabs(w[n * i + j]) / sqrt(both)),
                   ratio = s->system->elements[s->dampers[j]].damping * other / (e->damping * own);
            sum += shared * pow(ratio, pow(shared, SHARING_POWER));
        }
        e->mobility = own * sum;
    }
}

static void say_limits(hn_simulation *s)
{
    size_t n = (size_t)s->damper_count;
    damper_form form = s->scheme->damper_form;
    for (size_t i = 0; i < n && !s->damper_warned; ++i) {
        const element *e = &s->system->elements[s->dampers[i]];
        double z = s->def.step_size * e->damping * e->mobility;
        double part = damper_steady_part(form, z);
        char what_part[160] = "";
        const char *what = NULL;
        if (s->scheme->any_rotation && s->def.projected_rk.fixed_steps && z > RUNGE_KUTTA_LIMIT)
            what = "fixed steps of an explicit rule grow there";
        if (form == DAMPER_EXPLICIT && z > RATTLE_LIMIT)
            what = "it halves speeds at most in a step there, where they should fall by more";
        if ((form == DAMPER_MIDPOINT || form == DAMPER_NODES) && part < STEADY_PART) {
            snprintf(
                what_part, sizeof what_part,
                "motions end as they should, but loads and springs that move it meet %.3g of its "
                "coefficient",
                part);
            what = what_part;
        }
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

// Rates of an element that its plain coefficients damp in a step, with the mean rate alone; their number
static int plain_dampers(const hn_simulation *s, const element *e, double rows[][ELEMENT_COLUMNS],
                         double *coefficients)
{
    const double *a = system_pose(s->state.q, e->a), *b = system_pose(s->state.q, e->b);
    if (e->kind == ELEMENT_BUSHING) return element_dampers(e, a, b, rows, coefficients);
    coefficients[0] = e->law == NULL ? 0.0 : drive_damping(e->law);
    return coefficients[0] > 0.0 && element_rate_row(e, a, b, rows[0]) ? 1 : 0;
}

// Those that ring: bushings, and tables, servos and motors of drives.
static hn_status say_ringing(hn_simulation *s)
{
    const hn_system *system = s->system;
    double *twists = s->damper_impulse + POSE_SIZE * (size_t)system->body_count;
    bool begun = false;
    for (int i = 0, count = 0; i < system->element_count && count < DAMPERS_MAX; ++i) {
        const element *e = &system->elements[i];
        double rows[ELEMENT_DAMPERS_MAX][ELEMENT_COLUMNS], c[ELEMENT_DAMPERS_MAX], z = 0.0;
        int n = plain_dampers(s, e, rows, c);
        if (n == 0) continue;
        hn_status status = begun ? HN_OK : begin_responses(s);
        if (status != HN_OK) return status == HN_OUT_OF_MEMORY ? status : HN_OK;
        begun = true;
        ++count;
        for (int k = 0; k < n; ++k) {
            respond(s, e, rows[k], twists);
            double own = rate_by(s, e, rows[k], twists),
                   rotor = e->law == NULL ? 0.0 : e->law->armature;
            z = fmax(z, s->def.step_size * c[k] * own / (1.0 + rotor * own));
        }
        if (!(z > RINGING)) continue;
        context_log(
            s->context,
            "the damping of '%s' is strong for `%s`: h c/m = %.3g at t = %.6g s; beyond 2 its rate "
            "changes sign in every step: a smaller step helps",
            e->name, s->scheme->name, z, hn_simulation_time(s));
        return HN_OK;
    }
    return HN_OK;
}

// Of the mechanisms that have moved.
static hn_status update(hn_simulation *s)
{
    find_rows(s);
    mobilities_without_joints(s);
    double *w = s->damper_responses;
    // a motion without inertia has no response: then, and for many dampers, bounds without joints stay
    hn_status status = s->damper_count <= DAMPERS_MAX ? find_responses(s, w) : HN_SINGULAR_SYSTEM;
    if (status == HN_OUT_OF_MEMORY) return status;
    if (status == HN_OK) share_mobilities(s, w);
    s->dampers_strong = find_strong(s);
    say_limits(s);
    return HN_OK;
}

hn_status dampers_update(hn_simulation *s)
{
    bool explicit_steps = s->scheme->any_rotation && s->def.projected_rk.fixed_steps;
    damper_form form = s->scheme->damper_form;
    if (form == DAMPER_NODES || form == DAMPER_MIDPOINT) TRY(say_ringing(s));
    if (s->damper_count == 0 || (s->scheme->damper_form == DAMPER_PLAIN && !explicit_steps))
        return HN_OK;
    for (int m = 0; m < s->system->mechanism_count; ++m) s->damper_moved[m] = true;
    return update(s);
}

// Mechanism by mechanism: what others do changes no digit.
void dampers_follow(hn_simulation *s)
{
    if (!s->dampers_strong) return;
    const hn_system *system = s->system;
    const bool *strong = s->damper_moved + system->mechanism_count;
    bool any = false;
    memset(s->damper_moved, 0, (size_t)system->mechanism_count * sizeof(bool));
    (void)find_strong(s);
    for (int i = 0; i < system->body_count; ++i) {
        bool *moved = &s->damper_moved[system->mechanism[i]];
        if (!strong[system->mechanism[i]]) continue;
        for (int k = 3; k < POSE_SIZE && !*moved; ++k) {
            size_t at = POSE_SIZE * (size_t)i + (size_t)k;
            *moved = fabs(s->state.q[at] - s->damper_reference[at]) > MOVED;
        }
        any = any || *moved;
    }
    for (int i = 0; i < s->damper_count; ++i) {
        // the direction of a spring
        const element *e = &system->elements[s->dampers[i]];
        bool *moved = &s->damper_moved[system->mechanism[element_body(e)]];
        bool weak = !strong[system->mechanism[element_body(e)]];
        if (e->kind != ELEMENT_SPRING || *moved || weak) continue;
        double row[2 * POSE_SIZE];
        const double *old = s->damper_rows + 2 * POSE_SIZE * (size_t)i;
        element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), row);
        for (int k = 0; k < 3; ++k)
            *moved = *moved || fabs(row[POSE_SIZE + k] - old[POSE_SIZE + k]) > MOVED;
        any = any || *moved;
    }
    if (any) (void)update(s);
}

void dampers_begin(hn_simulation *s, solved_step *step)
{
    bool needed = s->damper_count > 0 && step->equations.damper_form == DAMPER_NODES;
    step->data.damper_rates = needed ? step->rates : NULL;
    for (int i = 0; needed && i < s->damper_count; ++i) {
        const element *e = &s->system->elements[s->dampers[i]];
        step->rates[s->dampers[i]] = simulation_rate(e, s->state.q, s->state.impetus);
    }
}
