// SPDX-License-Identifier: MIT
// The table of schemes and what they share.
#include "schemes/scheme.h"

#include "schemes/convected.h"
#include "schemes/ggl.h"
#include "schemes/projected_rk.h"
#include "system/mass.h"

#include <float.h>
#include <math.h>
#include <string.h>

const scheme_type *scheme_type_of(hn_scheme scheme)
{
    static const scheme_type *const types[HN_SCHEME_COUNT] = {
        [HN_SCHEME_ENERGY_MOMENTUM] = &scheme_energy_momentum,
        [HN_SCHEME_VARIATIONAL] = &scheme_variational,
        [HN_SCHEME_RATTLE] = &scheme_rattle,
        [HN_SCHEME_GENERALIZED_ALPHA] = &scheme_generalized_alpha,
        [HN_SCHEME_GGL_ENERGY_MOMENTUM] = &scheme_ggl_energy_momentum,
        [HN_SCHEME_CONVECTED] = &scheme_convected,
        [HN_SCHEME_GGL_VARIATIONAL] = &scheme_ggl_variational,
        [HN_SCHEME_GGL_CLASSICAL] = &scheme_ggl_classical,
        [HN_SCHEME_PROJECTED_RK] = &scheme_projected_rk,
        [HN_SCHEME_ENERGY_DECAYING] = &scheme_energy_decaying,
    };
    return types[scheme];
}

bool hn_scheme_has_own_solver(hn_scheme scheme)
{
    if ((int)scheme < 0 || scheme >= HN_SCHEME_COUNT) return false;
    return scheme_type_of(scheme)->solver_create != NULL;
}

// sin(u) = h omega for `variational` and `rattle`, sin(2 u) = 2 h omega for `ggl-variational`, u the angle of a step;
// the others have tan(u) or tan(u/2) in their place, or go through a step in as many as it takes.
double scheme_rotation_limit(hn_scheme scheme)
{
    static const double limits[HN_SCHEME_COUNT] = {
        [HN_SCHEME_VARIATIONAL] = 1.0,
        [HN_SCHEME_RATTLE] = 1.0,
        [HN_SCHEME_GGL_VARIATIONAL] = 0.5,
    };
    return limits[scheme];
}

double scheme_turn(hn_scheme scheme, double spin)
{
    double limit = scheme_rotation_limit(scheme);
    switch (scheme) {
    case HN_SCHEME_ENERGY_MOMENTUM:
    case HN_SCHEME_GGL_ENERGY_MOMENTUM:
    case HN_SCHEME_CONVECTED:
    case HN_SCHEME_ENERGY_DECAYING: return atan(0.5 * spin) / (0.5 * spin);
    case HN_SCHEME_VARIATIONAL:
    case HN_SCHEME_RATTLE:
    case HN_SCHEME_GGL_VARIATIONAL: return spin < limit ? asin(spin / limit) * limit / spin : 0.0;
    default: return 0.0; // damped, or in steps of its own
    }
}

// J, of places that are known to half a unit in the last place: of the work of a force on them, which is as much as
// that of a force which comes from their difference, c Delta/h. In a regular motion it does not cancel from step to
// step.
static double work_round_off(const element *e, const step_data *step, const double *force_a,
                             const double *force_b)
{
    const int body[2] = {e->a, e->b};
    const double *force[2] = {force_a, force_b};
    double length = vec3_norm(
        vec3_combination(e->link, system_pose(step->q, e->a), system_pose(step->q, e->b)));
    double sum = 0.0;
    for (int side = 0; side < 2; ++side)
        for (int k = 0; body[side] >= 0 && k < POSE_SIZE; ++k) {
            double x = force[side][k] * (fabs(system_pose(step->q, body[side])[k]) + length);
            sum += x * x;
        }
    return 0.5 * DBL_EPSILON * sqrt(sum);
}

double scheme_load_work(const hn_system *system, const step_equations *equations,
                        const step_data *step, double weight)
{
    double work = 0.0;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        double own = 0.0, minus_a[POSE_SIZE] = {0.0}, minus_b[POSE_SIZE] = {0.0};
        element_step view = step_element_view(system, equations, step, i);
        view.weight = weight;
        view.factor = 1.0;
        view.damper_excess = 0.0;
        element_output out = {.residual_a = minus_a, .residual_b = minus_b};
        element_type_of(e->kind)->load(e, &view, &out);
        for (int k = 0; k < POSE_SIZE; ++k) {
            if (e->a >= 0) own -= minus_a[k] * step->delta[POSE_SIZE * (size_t)e->a + (size_t)k];
            if (e->b >= 0) own -= minus_b[k] * step->delta[POSE_SIZE * (size_t)e->b + (size_t)k];
        }
        work += own;
        int mechanism = system->mechanism[element_body(e)];
        if (step->works != NULL) step->works[mechanism] += own;
        if (step->work_round_off != NULL)
            step->work_round_off[mechanism] += work_round_off(e, step, minus_a, minus_b);
    }
    return work;
}

step_equations scheme_second_half(const step_equations *equations)
{
    step_equations second = *equations;
    second.weight = 1.0;
    second.load_begin = equations->time + 0.5 * equations->step_size;
    second.load_end = equations->time + equations->step_size;
    return second;
}

void scheme_start_momenta(const hn_system *system, const double *v, const double *acceleration,
                          scheme_state *state)
{
    (void)acceleration;
    mass_apply(system, 1.0, v, state->impetus);
    state->first = true;
}

void scheme_kept_momenta(const hn_system *system, const scheme_state *state,
                         const step_equations *ahead_equations, const step_data *ahead, double *p)
{
    (void)ahead_equations, (void)ahead;
    memcpy(p, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
}

void scheme_second_impulse(const hn_system *system, const step_equations *equations,
                           const step_data *step, double gradient_weight, double *next_impetus)
{
    double beta = equations->force_factor;
    step_equations second = scheme_second_half(equations);
    second.force_factor = -beta; // gradient adds -beta grad V, load adds +beta F
    second.gradient_weight = gradient_weight;
    mass_apply(system, equations->mass_factor, step->delta, next_impetus);
    mass_add_weights(system, beta, next_impetus);
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        element_step view = step_element_view(system, &second, step, i);
        element_output out = {
            .residual_a = e->a < 0 ? NULL : next_impetus + POSE_SIZE * (size_t)e->a,
            .residual_b = e->b < 0 ? NULL : next_impetus + POSE_SIZE * (size_t)e->b,
        };
        element_type_of(e->kind)->gradient(e, &view, &out);
        element_type_of(e->kind)->load(e, &view, &out);
    }
}

double scheme_work_of_halves(const hn_system *system, const step_equations *equations,
                             const step_data *step)
{
    step_equations second = scheme_second_half(equations);
    return 0.5 * (scheme_load_work(system, equations, step, 0.0) +
                  scheme_load_work(system, &second, step, 1.0));
}

// Springs and loads see the pair of poses q -+ h v/2: their midpoint is q, and the secant rate of a damper its rate.
static void add_element_forces(const hn_system *system, int index, const double *q, const double *v,
                               const double *angles, double load_begin, double load_end,
                               double step_size, double factor, double *out)
{
    const element *e = &system->elements[index];
    const int body[3] = {e->a, e->b, e->points == NULL ? GROUND : e->third};
    double before[3][POSE_SIZE], after[3][POSE_SIZE];
    for (int side = 0; side < (e->points == NULL ? 2 : 3); ++side) {
        const double *pose = system_pose(q, body[side]);
        for (int k = 0; k < POSE_SIZE; ++k) {
            double half = body[side] < 0 ? 0.0 : 0.5 * step_size * v[POSE_SIZE * body[side] + k];
            before[side][k] = pose[k] - half;
            after[side][k] = pose[k] + half;
        }
    }
    double angle = 0.0;
    if (e->angle >= 0) angle = element_angle(e, before[0], before[1], angles[e->angle]);
    element_step view = {
        .a_start = before[0],
        .b_start = before[1],
        .a = after[0],
        .b = after[1],
        .third_start = before[2],
        .third = after[2],
        .angle_start = angle,
        .memory = e->law != NULL ? angles + e->angle : NULL,
        .step_size = step_size,
        .load_begin = load_begin,
        .load_end = load_end,
        .gradient_weight = 0.5,
        .weight = 0.5,
        .factor = -factor,
    };
    element_output to = {
        .residual_a = e->a < 0 ? NULL : out + POSE_SIZE * (size_t)e->a,
        .residual_b = e->b < 0 ? NULL : out + POSE_SIZE * (size_t)e->b,
    };
    element_type_of(e->kind)->gradient(e, &view, &to);
    element_type_of(e->kind)->load(e, &view, &to);
}

void scheme_add_forces(const hn_system *system, const double *q, const double *v,
                       const double *angles, double load_begin, double load_end, double step_size,
                       double factor, double *out)
{
    mass_add_weights(system, factor, out);
    for (int i = 0; i < system->element_count; ++i)
        add_element_forces(system, i, q, v, angles, load_begin, load_end, step_size, factor, out);
}

void scheme_add_step_dampers(const hn_system *system, const step_equations *equations,
                             const step_data *step, double *out)
{
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->damping == 0.0) continue;
        element_step view = step_element_view(system, equations, step, i);
        view.factor = -1.0;
        view.damper_excess = 0.0;
        element_output to = {
            .residual_a = e->a < 0 ? NULL : out + POSE_SIZE * (size_t)e->a,
            .residual_b = e->b < 0 ? NULL : out + POSE_SIZE * (size_t)e->b,
        };
        element_type_of(e->kind)->load(e, &view, &to);
    }
}

size_t scheme_memory_size(const scheme_type *scheme, const hn_system *system)
{
    return POSE_SIZE * (size_t)system->body_count * (size_t)scheme->memory_count +
           (size_t)system->element_count * (size_t)scheme->element_memory_count;
}

void scheme_convert_multipliers(const hn_system *system, const joint_place *place, const double *a,
                                const double *b, double *lambda)
{
    const joint *rows = place->rows, *reported = &system->reports[rows->model_joint].rows;
    double solved[JOINT_ROWS_MAX][TWIST_SIZE], wanted[JOINT_ROWS_MAX][TWIST_SIZE],
        wrench[TWIST_SIZE] = {0.0};
    const system_body *child = &system->bodies[rows->child];
    bool on_b = place->b == rows->child;
    if (!rows->swapped) return;
    joint_wrenches(rows, a, b, on_b, child, solved);
    joint_wrenches(reported, b, a, !on_b, child, wanted);
    for (int r = 0; r < rows->row_count; ++r)
        for (int k = 0; k < TWIST_SIZE; ++k) wrench[k] += lambda[r] * solved[r][k];
    wrench_multipliers(rows->row_count, system->sizes[rows->child], wanted, wrench, lambda);
}

void scheme_internal_multipliers(const double *pose, const hn_vec3 forces[3], double *multipliers)
{
    static const int PAIRS[INTERNAL_ROWS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    hn_vec3 d[3];
    double parts[3][3];
    for (int k = 0; k < 3; ++k) d[k] = vec3_load(pose + 3 + 3 * k);
    double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
    for (int k = 0; k < 3; ++k) {
        hn_vec3 reciprocal = vec3_scale(1.0 / volume, vec3_cross(d[(k + 1) % 3], d[(k + 2) % 3]));
        for (int i = 0; i < 3; ++i) parts[i][k] = vec3_dot(forces[i], reciprocal);
    }
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        int i = PAIRS[r][0], k = PAIRS[r][1];
        multipliers[r] = 0.5 * (parts[i][k] + parts[k][i]);
    }
}
