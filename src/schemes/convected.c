// SPDX-License-Identifier: MIT
// Convected base vectors: increments of a Hamiltonian H(q, p) with implicit internal constraints (NK 23-28).
// Notes: docs/theory/convected.md, docs/theory/forces.md, docs/theory/energy-momentum.md
//
// Of a rigid body q = (q_0, q_1, q_2, q_3) are centre of mass and directors, p the conjugate momenta; a bar is the mean
// of the two ends of the step. The columns of A(x) are such that A(x) w = (w_3 x_2 - w_2 x_3, w_1 x_3 - w_3 x_1,
// w_2 x_1 - w_1 x_2) for x = (x_1, x_2, x_3), which is -G(x)^T w of the paper; l(q, p) = A(q)^T p is the angular
// momentum in components of the body; C(x) y holds x_i . y_i and x_i . y_j + x_j . y_i, so that C(q) = de/dq.
//
//   (X1)  H(q, p) = |p_0|^2/(2m) + 1/2 l(q, p)^T J^-1 l(q, p) + V(q)
//   (X2)  w = h J^-1 (l(q_n, p_n) + l(q_n+1, p_n+1))/2
//   (X3)  q_0,n+1 - q_0,n = h p_0_mid/m,     q_n+1 - q_n = A(q_mid) w
//   (X4)  p_n+1 - p_n = A(p_mid) w - h f + h C(q_mid)^T gamma,     f = grad_d V - F + G(q_mid)^T lambda
//   (X5)  C C^T h gamma = C h f - C A(p_mid) w - C(p_mid) A(q_mid) w     at C = C(q_mid)
//   (X6)  0 = g(q_n+1) of the joints
//
// (X3) is Q_n+1 = Q_n cay(w), (X2) gives l_n+1 = 2 J w/h - l_n, and (X5) says that C(q) p = 0 stays, which leaves
// p_I = 1/2 L x q_I with the angular momentum L. So the six numbers of a body's rotation and displacement in the step
// determine the rest, and what is left of (X4) are its resultants,
//
//   (X7)  p_0,n+1 - p_0,n = -h f_0,     L_n+1 - L_n = -h sum_I q_mid,I x f_I
//
// which with (X6) is the system of saddle.h in twists, (S2) with alpha = 2/h and b = 2 p_n in translations, with the
// step's `spin` in rotations. gamma is found afterwards. F holds loads with their mean over the step (F7). The state
// kept is (q, p).
//
// Keeps: energy plus work of loads, momenta of symmetries, e(q) = 0, C(q) p = 0 and g = 0, all to solver tolerance, for
// any sequence of steps; time-symmetric. Does not keep: the symplectic form; G(q) v = 0 of joints at the nodes.
// Needs: a moment of inertia about every axis of a rigid body.
#include "schemes/convected.h"

#include "reductions/saddle_newton.h"
#include "system/mass.h"

#include <string.h>

enum { DIRECTORS = 9 };

struct scheme_solver {
    hn_system *system;
    saddle *saddle;
    double *q, *delta;   // iterate and its increment since t_n, 12 per body
    double *force;       // h (grad V - F) of elements, then h f, 12 per body
    double *momentum;    // 2 p_n, as M v has it, 12 per body
    double *spin;        // l_n, 3 per body
    double *mu;          // multipliers of joints
    double *closure;     // of cut joints
    double *angle_start; // unwrapped angles of torsional springs at t_n
    double *angles;      // and at the end of the last step
    body_step *bodies;
    pool memory;
};

// ---- creation ---------------------------------------------------------------------------------------

static void convected_destroy(scheme_solver *s)
{
    if (s == NULL) return;
    saddle_destroy(s->saddle);
    pool_release(&s->memory);
    context_release(s->system->context, s);
}

// principal moments of inertia
static void moments_of(const double *inertia, double *moments)
{
    moments[0] = inertia[2] + inertia[3];
    moments[1] = inertia[1] + inertia[3];
    moments[2] = inertia[1] + inertia[2];
}

static hn_status check_bodies(const hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        double moments[3];
        moments_of(mass_node(system, i), moments);
        for (int k = 0; k < 3; ++k)
            if (!(moments[k] > 0.0))
                return context_fail(
                    system->context, HN_INVALID_MODEL,
                    "body '%s': scheme 'convected' divides by the moments of inertia, and that "
                    "about "
                    "principal axis %d is zero; give it a small one or take another scheme",
                    system->bodies[i].name, k + 1);
    }
    return HN_OK;
}

static hn_status convected_create(hn_system *system, const hn_simulation_def *def,
                                  scheme_solver **out)
{
    (void)def;
    *out = NULL;
    TRY(check_bodies(system));
    size_t n = (size_t)system->body_count, size = POSE_SIZE * n,
           rows = (size_t)(system->constraint_count - system->internal_count),
           angles = (size_t)system->angle_count;
    scheme_solver *s = context_allocate(system->context, sizeof *s);
    if (s == NULL) return HN_OUT_OF_MEMORY;
    s->system = system;
    s->memory.context = system->context;
    s->q = pool_doubles(&s->memory, size);
    s->delta = pool_doubles(&s->memory, size);
    s->force = pool_doubles(&s->memory, size);
    s->momentum = pool_doubles(&s->memory, size);
    s->spin = pool_doubles(&s->memory, 3 * n);
    s->mu = pool_doubles(&s->memory, rows);
    s->closure = pool_doubles(&s->memory, (size_t)system->cut_row_count);
    s->angle_start = pool_doubles(&s->memory, angles);
    s->angles = pool_doubles(&s->memory, angles);
    s->bodies = pool_take(&s->memory, n, sizeof(body_step));
    hn_status status = pool_status(&s->memory);
    if (status == HN_OK) status = saddle_create_apart(system, &s->saddle);
    if (status != HN_OK) {
        convected_destroy(s);
        return status;
    }
    memcpy(s->angles, system->angle_start, angles * sizeof(double));
    *out = s;
    return HN_OK;
}

// ---- one step ---------------------------------------------------------------------------------------

// y = A(x) w for three vectors x
static void apply_spin(const double *w, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i) {
        y[i] = w[2] * x[3 + i] - w[1] * x[6 + i];
        y[3 + i] = w[0] * x[6 + i] - w[2] * x[i];
        y[6 + i] = w[1] * x[i] - w[0] * x[3 + i];
    }
}

// l(q, p) = A(q)^T p
static void body_momentum(const double *q, const double *p, double *l)
{
    for (int k = 0; k < 3; ++k) {
        double axis[3] = {0.0, 0.0, 0.0}, a[DIRECTORS];
        axis[k] = 1.0;
        apply_spin(axis, q, a);
        l[k] = 0.0;
        for (int i = 0; i < DIRECTORS; ++i) l[k] += a[i] * p[i];
    }
}

static step_equations equations_of(const scheme_solver *s, const scheme_step *step)
{
    return (step_equations){
        .step_size = step->step_size,
        .mass_factor = 2.0 / step->step_size,
        .force_factor = step->step_size,
        .multiplier_factor = step->step_size,
        .weight = 0.5,
        .discrete_gradient = true,
        .gradient_weight = 0.5,
        .time = step->time,
        .load_begin = step->time,
        .load_end = step->time + step->step_size,
        .momentum = s->momentum,
        .spin = s->spin,
        .parked = step->parked,
    };
}

static step_data data_of(const scheme_solver *s, const scheme_step *step)
{
    return (step_data){
        .q_start = step->state->q,
        .angle_start = s->angle_start,
        .q = s->q,
        .delta = s->delta,
        .force = s->force,
        .closure = s->closure,
        .bodies = s->bodies,
        .owed = step->owed,
    };
}

static void middle_pose(const scheme_solver *s, const scheme_step *step, int body, double *pose)
{
    const double *start = system_pose(step->state->q, body), *end = system_pose(s->q, body);
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = 0.5 * (start[k] + end[k]);
}

static void convected_momenta(const hn_system *system, const scheme_state *state,
                              const step_equations *ahead_equations, const step_data *ahead,
                              double *p);

// What the equations need of t_n, and the first iterate: every body goes on as if nothing acted on it.
static void begin(scheme_solver *s, const scheme_step *step)
{
    const hn_system *system = s->system;
    const double *q = step->state->q, *p = step->state->impetus;
    step_data data = data_of(s, step);
    convected_momenta(system, step->state, NULL, NULL, s->momentum);
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k) s->momentum[k] *= 2.0;
    memset(s->force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    // the slots of drives
    if (step->angles != NULL)
        memcpy(s->angle_start, step->angles, (size_t)system->angle_count * sizeof(double));
    for (int e = 0; e < system->element_count; ++e) {
        const element *own = &system->elements[e];
        if (own->angle >= 0)
            s->angle_start[own->angle] = element_angle(
                own, system_pose(q, own->a), system_pose(q, own->b),
                step->angles != NULL ? step->angles[own->angle] : s->angles[own->angle]);
    }
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *inertia = mass_node(system, i);
        double twist[TWIST_SIZE] = {0.0}, *l = s->spin + 3 * i, moments[3];
        for (size_t k = 0; k < 3; ++k) twist[k] = step->step_size / inertia[0] * p[at + k];
        if (system->bodies[i].has_directors) {
            moments_of(inertia, moments);
            body_momentum(q + at + 3, p + at + 3, l);
            hn_vec3 w = vec3(l[0] / moments[0], l[1] / moments[1], l[2] / moments[2]);
            vec3_store(vec3_scale(step->step_size, pose_direction(q + at, w)), twist + 3);
        }
        s->bodies[i] = (body_step){0};
        memcpy(s->q + at, q + at, POSE_SIZE * sizeof(double));
        memset(s->delta + at, 0, POSE_SIZE * sizeof(double));
        step_advance_body(system, &data, i, twist);
    }
}

static double move(void *owner, step_data *step)
{
    return saddle_move_bodies(((scheme_solver *)owner)->saddle, step);
}

// Multipliers of the joints, and h f of all bodies with them.
static void find_multipliers(scheme_solver *s, scheme_step *step)
{
    const hn_system *system = s->system;
    saddle_keep_multipliers(s->saddle, s->mu);
    for (int k = 0; k < saddle_joint_count(s->saddle); ++k) {
        const joint_place *place = saddle_place(s->saddle, k);
        const int body[2] = {place->a, place->b};
        // h lambda = alpha m* mu
        double factor =
                   2.0 / step->step_size * system->unit_mass[place->b < 0 ? place->a : place->b],
               middle[2][POSE_SIZE];
        if (place->rows->row_count == 0) continue;
        for (int side = 0; side < 2; ++side) middle_pose(s, step, body[side], middle[side]);
        for (int r = 0; r < place->rows->row_count; ++r) {
            const constraint_row row = joint_row(place->rows, r);
            row_add_force(&row, place->a, place->b, middle[0], middle[1],
                          factor * s->mu[place->multiplier + r], s->force);
        }
        double *lambda =
            step->multipliers + system->reports[place->rows->model_joint].rows.row_offset;
        for (int r = 0; r < place->rows->row_count; ++r)
            lambda[r] = factor / step->step_size * s->mu[place->multiplier + r];
        scheme_convert_multipliers(system, place, middle[0], middle[1], lambda);
    }
}

// h gamma of a rigid body: what (X4) lacks is a symmetric combination of the directors in the middle,
// p_n+1 - p_n - A(p_mid) w + h f = sum_K gamma_IK q_mid,K
static void internal_multipliers(const scheme_solver *s, const scheme_step *step, int body,
                                 double *lambda)
{
    size_t at = POSE_SIZE * (size_t)body + 3;
    const double *p = step->state->impetus + at, *next = step->impetus + at;
    double pose[POSE_SIZE], middle[DIRECTORS], turn[DIRECTORS];
    hn_vec3 theta = pose_components(s->q + at - 3, s->bodies[body].rotation), rest[3];
    const double w[3] = {theta.x, theta.y, theta.z};
    middle_pose(s, step, body, pose);
    for (int k = 0; k < DIRECTORS; ++k) middle[k] = 0.5 * (p[k] + next[k]);
    apply_spin(w, middle, turn);
    for (int i = 0; i < 3; ++i) {
        hn_vec3 change = vec3_subtract(vec3_load(next + 3 * i), vec3_load(p + 3 * i));
        rest[i] = vec3_add(vec3_subtract(change, vec3_load(turn + 3 * i)),
                           vec3_load(s->force + at + 3 * i));
    }
    // + C^T gamma is -C^T lambda
    scheme_internal_multipliers(pose, rest, lambda);
    for (int r = 0; r < INTERNAL_ROWS; ++r) lambda[r] = -lambda[r] / step->step_size;
}

// p_n+1 of a body: (X3) in translations, p_I = 1/2 L x q_I with l = 2 J w/h - l_n in rotations.
static void find_momenta(const scheme_solver *s, const scheme_step *step, int body)
{
    const hn_system *system = s->system;
    size_t at = POSE_SIZE * (size_t)body;
    const double *inertia = mass_node(system, body), *p = step->state->impetus + at,
                 *q = step->q + at;
    double alpha = 2.0 / step->step_size, *to = step->impetus + at, moments[3];
    for (int k = 0; k < POSE_SIZE; ++k)
        to[k] = k < 3 ? alpha * inertia[0] * s->delta[at + (size_t)k] - p[k] : 0.0;
    if (!system->bodies[body].has_directors) return;
    moments_of(inertia, moments);
    hn_vec3 momentum = vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 3; ++k) {
        hn_vec3 d = vec3_load(s->q + at + 3 + 3 * k);
        double l =
            alpha * moments[k] * vec3_dot(d, s->bodies[body].rotation) - s->spin[3 * body + k];
        momentum = vec3_add_scaled(momentum, l, d);
    }
    for (int k = 3; k < POSE_SIZE; k += 3)
        vec3_store(vec3_scale(0.5, vec3_cross(momentum, vec3_load(q + k))), to + k);
}

static void deliver(scheme_solver *s, scheme_step *step)
{
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    step_equations equations = equations_of(s, step);
    step_data data = data_of(s, step);
    data.works = step->works;
    step->work = scheme_load_work(system, &equations, &data, equations.weight);
    for (int e = 0; e < system->element_count; ++e) {
        const element *own = &system->elements[e];
        if (own->angle >= 0)
            s->angles[own->angle] =
                element_angle(own, system_pose(s->q, own->a), system_pose(s->q, own->b),
                              s->angle_start[own->angle]);
    }
    step_element_forces(system, &equations, &data);
    memcpy(step->delta, s->delta, count * sizeof(double));
    memcpy(step->q, s->q, count * sizeof(double));
    data.q = step->q;
    saddle_settle_bodies(s->saddle, &data);
    memset(step->multipliers, 0, (size_t)system->constraint_count * sizeof(double));
    find_multipliers(s, step);
    for (int i = 0; i < system->body_count; ++i) {
        find_momenta(s, step, i);
        if (system->bodies[i].internal_count > 0)
            internal_multipliers(s, step, i, step->multipliers + system->bodies[i].internal_offset);
    }
    step->multiplier_time = step->time + 0.5 * step->step_size;
}

static hn_status convected_step(scheme_solver *s, scheme_step *step, const newton_options *options,
                                newton_report *report)
{
    begin(s, step);
    step_equations equations = equations_of(s, step);
    step_data data = data_of(s, step);
    step_hold_parked(s->system, &equations, s->momentum);
    TRY(saddle_newton(s->saddle, &equations, &data, options, report, move, s));
    // before the solution is settled
    if (options->measure_left) {
        saddle_assemble_residual(s->saddle, &equations, &data);
        saddle_allow_round_off(s->saddle, &equations, &data);
        saddle_residual left = saddle_residual_size(s->saddle, &data);
        report->left = left.largest;
        report->left_body = left.worst_body;
    }
    deliver(s, step);
    return HN_OK;
}

// ---- for tests --------------------------------------------------------------------------------------

int convected_unknown_count(const scheme_solver *s)
{
    return saddle_size(s->saddle);
}

hn_status convected_linearise(scheme_solver *s, const scheme_step *step, const double *change,
                              const double *more, double *residual, double *tangent)
{
    saddle_choice choice;
    begin(s, step);
    TRY(saddle_choose_rows(s->saddle, step->state->q, &choice));
    step_equations equations = equations_of(s, step);
    step_data data = data_of(s, step);
    saddle_clear_multipliers(s->saddle);
    for (int turn = 0; turn < 2; ++turn) {
        saddle_take_solution(s->saddle, turn == 0 ? change : more);
        saddle_apply_multipliers(s->saddle);
        move(s, &data);
    }
    saddle_assemble(s->saddle, &equations, &data);
    saddle_read(s->saddle, residual, tangent);
    return HN_OK;
}

// ---- momenta ----------------------------------------------------------------------------------------

// p_0 = m v, p_I = 1/2 L x q_I with L the angular momentum about the centre of mass: C(q) p = 0
static void convected_start(const hn_system *system, const double *v, const double *acceleration,
                            scheme_state *state)
{
    (void)acceleration;
    mass_apply(system, 1.0, v, state->impetus);
    for (int i = 0; i < system->body_count; ++i) {
        double *p = state->impetus + POSE_SIZE * (size_t)i, wrench[TWIST_SIZE];
        const double *q = state->q + POSE_SIZE * (size_t)i;
        if (!system->bodies[i].has_directors) {
            memset(p + 3, 0, DIRECTORS * sizeof(double));
            continue;
        }
        force_to_wrench(q, p, wrench);
        for (int k = 3; k < POSE_SIZE; k += 3)
            vec3_store(vec3_scale(0.5, vec3_cross(vec3_load(wrench + 3), vec3_load(q + k))), p + k);
    }
    state->first = true;
}

// The momenta M v of the constant mass matrix that other schemes have, with the same L: E_I omega x q_I
static void convected_momenta(const hn_system *system, const scheme_state *state,
                              const step_equations *ahead_equations, const step_data *ahead,
                              double *p)
{
    (void)ahead_equations, (void)ahead;
    memcpy(p, state->impetus, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->body_count; ++i) {
        if (!system->bodies[i].has_directors) continue;
        const double *q = state->q + POSE_SIZE * (size_t)i, *inertia = mass_node(system, i);
        double *own = p + POSE_SIZE * (size_t)i, l[3], moments[3];
        moments_of(inertia, moments);
        body_momentum(q + 3, own + 3, l);
        hn_vec3 omega =
            pose_direction(q, vec3(l[0] / moments[0], l[1] / moments[1], l[2] / moments[2]));
        for (int k = 1; k < 4; ++k)
            vec3_store(vec3_scale(inertia[k], vec3_cross(omega, vec3_load(q + 3 * k))),
                       own + 3 * k);
    }
}

const scheme_type scheme_convected = {
    .name = "convected",
    .no_holds = "solves for itself, with efforts that are known before",
    .not_composed = "turns velocities across the joints round in every step; ggl-energy-momentum "
                    "keeps the same "
                    "and has orders 4, 6 and 8",
    .takes_drives = true,
    .no_beams = "divides each body's momenta by its own moments of inertia, which the nodes of a "
                "beam share",
    .filters_dampers = true,
    .symmetric = true,
    .impetus_is_momentum = true,
    .reaction_weight = 0.5,
    .may_halve = true,
    .look_ahead = false,
    .energy_kept = true,
    .start = convected_start,
    .momenta = convected_momenta,
    .solver_create = convected_create,
    .solver_destroy = convected_destroy,
    .solver_step = convected_step,
};
