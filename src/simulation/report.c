// SPDX-License-Identifier: MIT
// What a simulation tells about its current state: bodies, joints, energies, momenta, constraints.
#include "simulation/simulation.h"

#include "base/sum.h"
#include "linalg/small_lu.h"
#include "reductions/coordinates.h"
#include "simulation/redundancy.h"
#include "system/mass.h"

#include <string.h>

int simulation_body_index(const hn_simulation *s, hn_body_id body)
{
    // ids count bodies in model order
    if (body.index1 == 0 || body.model != s->model_tag) return -1;
    if (body.index1 > (uint32_t)s->system->body_count) return -1;
    return s->system->tree_place[body.index1 - 1];
}

// ---- momenta ----------------------------------------------------------------------------------------

// p_n, with the step from here on where the scheme needs it
static void find_momenta(hn_simulation *s)
{
    solved_step *ahead = &s->steps[s->ahead];
    if (s->scheme->look_ahead && !ahead->valid && !s->state.first) {
        // the step from here on, kept for when it is taken; without it the projected momenta are reported
        if (simulation_solve_ahead(s, s->def.step_size, hn_simulation_time(s), false) != HN_OK) {
            if (simulation_project_momenta(s, s->state.impetus, s->momenta, NULL) != HN_OK)
                memcpy(s->momenta, s->state.impetus,
                       POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
            return;
        }
    }
    s->scheme->momenta(s->system, &s->state, &ahead->equations, ahead->valid ? &ahead->data : NULL,
                       s->momenta);
}

void simulation_update_momenta(hn_simulation *s)
{
    if (s->momenta_valid) return;
    find_momenta(s);
    if (s->own_momenta != s->momenta) mass_own_momenta(s->system, s->momenta, s->own_momenta);
    s->momenta_valid = true;
}

// The constraint force that the projection of momenta took away at t_n and that of the step from t_n, in one: with the
// momenta before the projection for those after it, rho = -2 sigma G^T (lambda + mu)/2. Each has an error of first
// order, their mean of second.
static bool join_projection(hn_simulation *s, solved_step *ahead)
{
    const hn_system *system = s->system;
    if (system->cut_count > 0) {
        // the twists are not wanted; wrenches are found after this
        if (saddle_project(s->projection, s->state.q, s->loose, s->wrench) != HN_OK) return false;
        step_equations unit = {.mass_factor = 1.0};
        step_data taken = {.closure = s->taken};
        saddle_apply_multipliers(s->projection);
        saddle_store_closure(s->projection, &unit, &taken);
        for (int k = 0; k < system->cut_row_count; ++k) ahead->data.closure[k] += s->taken[k];
    }
    for (int k = 0; k < POSE_SIZE * system->body_count; ++k)
        ahead->momentum[k] += s->loose[k] - s->state.impetus[k];
    ahead->equations.multiplier_factor *= 2.0;
    ahead->joined = true;
    return true;
}

const solved_step *simulation_reaction_step(hn_simulation *s)
{
    if (!s->scheme->look_ahead && !s->scheme->tangent_momenta) {
        const solved_step *last = &s->steps[1 - s->ahead];
        return last->valid ? last : NULL;
    }
    solved_step *ahead = &s->steps[s->ahead];
    if (!ahead->valid &&
        simulation_solve_ahead(s, s->def.step_size, hn_simulation_time(s), false) != HN_OK)
        return NULL;
    // at the start there was no projection
    if (s->scheme->tangent_momenta && !s->state.first && !ahead->joined &&
        !join_projection(s, ahead))
        return NULL;
    return ahead;
}

// P^T p: wrenches carried inward, r_c = B_c^T W_c
static hn_status reduced_momenta(hn_simulation *s, const double *p, double *reduced)
{
    const hn_system *system = s->system;
    double *wrench =
        context_allocate(s->context, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    if (wrench == NULL) return HN_OUT_OF_MEMORY;
    for (int i = system->body_count - 1; i >= 0; --i) {
        const joint *j = &system->joints[i];
        const double *q = system_pose(s->state.q, i), *parent = system_pose(s->state.q, j->parent);
        double own[TWIST_SIZE], *w = wrench + TWIST_SIZE * (size_t)i;
        force_to_wrench(q, p + POSE_SIZE * (size_t)i, own);
        for (int k = 0; k < TWIST_SIZE; ++k) w[k] += own[k];
        joint_step step = {0};
        motion m;
        joint_type_of(j->kind)->begin(j, parent, q, &step);
        joint_type_of(j->kind)->motion(j, &step, parent, q, &m);
        hn_vec3 force = vec3_load(w), moment = vec3_load(w + 3);
        for (int k = 0; k < m.dof; ++k)
            reduced[system->dof_offset[i] + k] =
                vec3_dot(m.linear[k], force) + vec3_dot(m.angular[k], moment);
        if (j->parent < 0 || m.carry == CARRY_NONE) continue;
        double *to = wrench + TWIST_SIZE * (size_t)j->parent;
        vec3_store(vec3_add(vec3_load(to), force), to);
        vec3_store(vec3_add(vec3_load(to + 3), carry_moment(&m, force, moment)), to + 3);
    }
    context_release(s->context, wrench);
    return HN_OK;
}

hn_status simulation_project_momenta(hn_simulation *s, const double *p, double *projected,
                                     double *reduced)
{
    const hn_system *system = s->system;
    if (reduced != NULL) TRY(reduced_momenta(s, p, reduced));
    if (projected == NULL) return HN_OK;
    if (s->projection == NULL) TRY(saddle_create(s->system, SADDLE_TWISTS, &s->projection));
    // twists go where the velocities will stand: six of twelve numbers, spread from the last body on
    hn_status status = saddle_project(s->projection, s->state.q, p, projected);
    if (status != HN_OK)
        return context_fail(s->context, status,
                            "the momenta cannot be projected: singular reduced mass matrix");
    for (int i = system->body_count - 1; i >= 0; --i) {
        size_t at = POSE_SIZE * (size_t)i;
        double twist[TWIST_SIZE], v[POSE_SIZE];
        memcpy(twist, projected + TWIST_SIZE * (size_t)i, sizeof twist);
        twist_to_velocity(s->state.q + at, twist, v);
        memcpy(projected + at, v, sizeof v);
    }
    mass_apply(system, 1.0, projected, projected);
    return HN_OK;
}

// twist of a body from its momenta: v = p/m, omega from the angular momentum, which needs no E_I > 0
static void twist_of_body(const hn_simulation *s, int body, double *twist)
{
    size_t at = POSE_SIZE * (size_t)body;
    if (body < 0) memset(twist, 0, TWIST_SIZE * sizeof(double));
    else mass_twist(s->system, body, s->state.q + at, s->own_momenta + at, twist);
}

double simulation_kinetic_energy(const hn_simulation *s)
{
    const hn_system *system = s->system;
    exact_sum sum = {0};
    for (int i = 0; i < system->body_count; ++i) {
        const double *m = mass_node(system, i), *p = s->momenta + POSE_SIZE * (size_t)i,
                     *own = s->own_momenta + POSE_SIZE * (size_t)i;
        double twice = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k)
            if (m[k / 3] > 0.0) twice += p[k] * own[k] / m[k / 3];
        sum_add(&sum, 0.5 * twice);
    }
    return sum_total(&sum);
}

static double potential_at(const hn_simulation *s, const double *q, const double *angles)
{
    const hn_system *system = s->system;
    exact_sum sum = {0};
    for (int i = 0; i < system->body_count; ++i)
        sum_add(&sum, -mass_weight(system, i) *
                          vec3_dot(system->gravity, pose_center(system_pose(q, i))));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        sum_add(&sum,
                element_type_of(e->kind)->potential(e, system_pose(q, e->a), system_pose(q, e->b),
                                                    e->angle >= 0 ? angles[e->angle] : 0.0));
    }
    return sum_total(&sum);
}

double simulation_potential_energy(const hn_simulation *s)
{
    return potential_at(s, s->state.q, s->angles);
}

hn_status hn_simulation_energy(hn_simulation *s, hn_energy *energy)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, energy != NULL);
    simulation_update_momenta(s);
    energy->kinetic = simulation_kinetic_energy(s);
    energy->potential = simulation_potential_energy(s);
    energy->external_work = s->work;
    energy->discrete_energy = energy->kinetic + energy->potential;
    if (!isfinite(energy->discrete_energy - s->work))
        return context_fail(
            s->context, HN_NOT_FINITE,
            "step %lld at t = %.9g s: the energy is not finite (kinetic %g J, potential "
            "%g J, work %g J)",
            (long long)s->step_count, hn_simulation_time(s), energy->kinetic, energy->potential,
            s->work);
    const solved_step *last = &s->steps[1 - s->ahead];
    if (!s->scheme->look_ahead || !last->valid) return HN_OK;
    // E_d (LMO 52): difference quotients and the potential at the midpoint
    const hn_system *system = s->system;
    double h = last->equations.step_size,
           sum = mass_kinetic_energy(system, last->data.delta) / (h * h);
    for (int i = 0; i < system->body_count; ++i) {
        hn_vec3 middle = vec3_mean(pose_center(system_pose(last->data.q_start, i)),
                                   pose_center(system_pose(last->data.q, i)));
        sum -= mass_weight(system, i) * vec3_dot(system->gravity, middle);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        double a[POSE_SIZE], b[POSE_SIZE];
        for (int k = 0; k < POSE_SIZE; ++k) {
            a[k] = 0.5 *
                   (system_pose(last->data.q_start, e->a)[k] + system_pose(last->data.q, e->a)[k]);
            b[k] = 0.5 *
                   (system_pose(last->data.q_start, e->b)[k] + system_pose(last->data.q, e->b)[k]);
        }
        double angle = e->angle >= 0 ? element_angle(e, a, b, last->angle_start[e->angle]) : 0.0;
        sum += element_type_of(e->kind)->potential(e, a, b, angle);
    }
    energy->discrete_energy = sum;
    return HN_OK;
}

// linear momentum and angular momentum about the origin of one body
static void body_momentum(const hn_simulation *s, int body, hn_vec3 *linear, hn_vec3 *angular)
{
    size_t at = POSE_SIZE * (size_t)body;
    double wrench[TWIST_SIZE];
    force_to_wrench(s->state.q + at, s->momenta + at, wrench);
    *linear = vec3_load(wrench);
    *angular = vec3_cross(pose_center(s->state.q + at), *linear);
    if (s->system->bodies[body].has_directors) *angular = vec3_add(*angular, vec3_load(wrench + 3));
}

hn_status hn_simulation_momentum(hn_simulation *s, hn_vec3 *linear, hn_vec3 *angular)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, linear != NULL && angular != NULL);
    simulation_update_momenta(s);
    *linear = *angular = vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < s->system->body_count; ++i) {
        hn_vec3 p, l;
        body_momentum(s, i, &p, &l);
        *linear = vec3_add(*linear, p);
        *angular = vec3_add(*angular, l);
    }
    return HN_OK;
}

hn_status hn_simulation_body_state(hn_simulation *s, hn_body_id body, hn_body_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    int index = simulation_body_index(s, body);
    if (index < 0)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no body of this simulation's model has the id %u", body.index1);
    simulation_update_momenta(s);
    const double *q = s->state.q + POSE_SIZE * (size_t)index;
    double twist[TWIST_SIZE];
    twist_of_body(s, index, twist);
    state->position = pose_center(q);
    hn_vec3 axes[3];
    for (int k = 0; k < 3; ++k)
        axes[k] = pose_direction(q, mat3_column(&s->system->bodies[index].user_axes, k));
    state->orientation = mat3_from_columns(axes[0], axes[1], axes[2]);
    state->velocity = vec3_load(twist);
    state->angular_velocity = vec3_load(twist + 3);
    body_momentum(s, index, &state->linear_momentum, &state->angular_momentum);
    return HN_OK;
}

hn_beam_id hn_simulation_beam(const hn_simulation *s, int index)
{
    bool known = s != NULL && index >= 0 && index < s->system->beam_count;
    return known ? (hn_beam_id){(uint32_t)index + 1, s->model_tag} : (hn_beam_id){0};
}

int hn_simulation_beam_element_count(const hn_simulation *s, int index)
{
    if (s == NULL || index < 0 || index >= s->system->beam_count) return 0;
    return s->system->beam_first[index + 1] - s->system->beam_first[index];
}

hn_status hn_simulation_beam_element(hn_simulation *s, hn_beam_id beam, int index,
                                     hn_beam_element_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    if (beam.index1 == 0 || beam.model != s->model_tag ||
        beam.index1 > (uint32_t)system->beam_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no beam of this simulation has the id %u", beam.index1);
    int first = system->beam_first[beam.index1 - 1],
        count = system->beam_first[beam.index1] - first;
    if (index < 0 || index >= count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "the beam has no element %d; expected one of 0 to %d", index,
                            count - 1);
    const element *e = &system->elements[first + index];
    const double *a = system_pose(s->state.q, e->a), *b = system_pose(s->state.q, e->b);
    beam_resultants(e->beam, a, b, state->strain, state->resultant);
    state->angle = beam_bend(e->beam, a, b);
    return HN_OK;
}

hn_status hn_simulation_coordinates(const hn_simulation *s, double *q, int count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, q != NULL);
    const hn_system *system = s->system;
    if (count != system->coordinate_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d coordinates, not %d",
                            system->coordinate_count, count);
    for (int i = 0; i < system->body_count; ++i)
        coordinates_contract(&system->bodies[i], system_pose(s->state.q, i),
                             q + system->bodies[i].coordinate_offset);
    return HN_OK;
}

hn_status hn_simulation_legendre(hn_simulation *s, const hn_legendre *out)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, out != NULL);
    const hn_system *system = s->system;
    simulation_update_momenta(s);
    size_t size = POSE_SIZE * (size_t)system->body_count * sizeof(double);
    double *projected = context_allocate(s->context, size);
    if (projected == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = simulation_project_momenta(s, s->momenta, projected, out->reduced);
    for (int i = 0; i < system->body_count && status == HN_OK; ++i) {
        const system_body *body = &system->bodies[i];
        size_t at = POSE_SIZE * (size_t)i;
        if (out->constrained != NULL)
            coordinates_contract(body, s->momenta + at, out->constrained + body->coordinate_offset);
        if (out->projected != NULL)
            coordinates_contract(body, projected + at, out->projected + body->coordinate_offset);
    }
    context_release(s->context, projected);
    return status;
}

// ---- constraints ------------------------------------------------------------------------------------

// gradient of a row times twelve velocities per body
static double row_rate(const constraint_row *row, const double *qa, const double *qb,
                       const double *va, const double *vb)
{
    hn_vec3 gradient[8];
    double sum = 0.0;
    row_gradient(row, qa, qb, gradient);
    for (int k = 0; k < 4; ++k) {
        if (va != NULL) sum += vec3_dot(gradient[k], vec3_load(va + 3 * k));
        if (vb != NULL) sum += vec3_dot(gradient[4 + k], vec3_load(vb + 3 * k));
    }
    return sum;
}

// Does a row touch a vector without inertia? Momenta say nothing of its velocity (LMO 115).
static bool touches_massless(const hn_system *system, const constraint_row *row, int a, int b)
{
    for (int k = 0; k < 8; ++k) {
        int body = k < 4 ? a : b;
        if (body < 0 || (row->alpha[k] == 0.0 && row->beta[k] == 0.0)) continue;
        if (mass_node(system, body)[k % 4] == 0.0) return true;
    }
    return false;
}

// max |G(q) v| over all constraints; `of_momenta`: without those that momenta say nothing of
static double hidden_residual(const hn_system *system, const double *q, const double *v,
                              bool of_momenta)
{
    double worst = 0.0;
    constraint_row row;
    for (int i = 0; i < system->body_count; ++i)
        for (int r = 0; r < system->bodies[i].internal_count; ++r) {
            size_t at = POSE_SIZE * (size_t)i;
            row_internal(r, &row);
            if (of_momenta && touches_massless(system, &row, i, GROUND)) continue;
            worst = fmax(worst, fabs(row_rate(&row, q + at, q + at, v + at, NULL)));
        }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const double *va = j->parent < 0 ? NULL : v + POSE_SIZE * (size_t)j->parent;
        const double *vb = j->child < 0 ? NULL : v + POSE_SIZE * (size_t)j->child;
        for (int r = 0; r < j->row_count; ++r) {
            joint_type_of(j->kind)->row(j, r, &row);
            if (of_momenta && touches_massless(system, &row, j->parent, j->child)) continue;
            worst = fmax(worst, fabs(row_rate(&row, system_pose(q, j->parent),
                                              system_pose(q, j->child), va, vb)));
        }
    }
    return worst;
}

hn_status hn_simulation_constraints(hn_simulation *s, hn_constraint_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    size_t count = POSE_SIZE * (size_t)system->body_count;
    constraint_check check = system_check_constraints(system, s->state.q);
    *state = (hn_constraint_state){
        .residual = check.residual,
        .joint_opening = check.opening,
        .joint_misalignment = check.misalignment,
        .orthonormality = check.orthonormality,
    };
    if (s->scratch == NULL) s->scratch = context_allocate(s->context, 2 * count * sizeof(double));
    if (s->scratch == NULL) return HN_OUT_OF_MEMORY;
    double *middle = s->scratch, *velocity = s->scratch + count;
    const solved_step *last = &s->steps[1 - s->ahead];
    if (last->valid) {
        // f_d (LMO 45)
        for (size_t k = 0; k < count; ++k) {
            middle[k] = 0.5 * (last->data.q_start[k] + last->data.q[k]);
            velocity[k] = last->data.delta[k] / last->equations.step_size;
        }
        state->hidden_velocity = hidden_residual(system, middle, velocity, false);
    }
    // h_d (LMO 46)
    simulation_update_momenta(s);
    mass_solve(system, s->momenta, velocity);
    state->hidden_momentum = hidden_residual(system, s->state.q, velocity, true);
    hn_status status = simulation_project_momenta(s, s->momenta, middle, NULL);
    mass_solve(system, middle, velocity);
    if (status == HN_OK)
        state->hidden_projected = hidden_residual(system, s->state.q, velocity, true);
    return status;
}

// ---- joints -----------------------------------------------------------------------------------------

// a point mass as body b has no orientation to report
static bool joint_to_point(const hn_system *system, const joint *j)
{
    return j->child >= 0 && !system->bodies[j->child].has_directors;
}

// coordinates of the user's b relative to a; returns their number
static int joint_coordinates(const hn_simulation *s, int index, double *coordinates)
{
    const system_joint *report = &s->system->reports[index];
    const joint *j = &report->rows;
    const joint_type *type = joint_type_of(j->kind);
    const double *a = system_pose(s->state.q, j->parent), *b = system_pose(s->state.q, j->child);
    type->coordinates(j, a, b, coordinates);
    int count = type->coordinate_count;
    if (joint_to_point(s->system, j)) return type->mark == MARK_NONE ? 3 : 0;
    if (report->rows_swapped)
        for (int k = 0; k < count; ++k) coordinates[k] = -coordinates[k];
    return count;
}

static void joint_rates(const hn_simulation *s, int index, double *rates)
{
    const system_joint *report = &s->system->reports[index];
    const joint *j = &report->rows;
    double ta[TWIST_SIZE], tb[TWIST_SIZE];
    twist_of_body(s, j->parent, ta);
    twist_of_body(s, j->child, tb);
    joint_coordinate_rates(j, system_pose(s->state.q, j->parent), system_pose(s->state.q, j->child),
                           ta, tb, rates);
    if (report->rows_swapped)
        for (int k = 0; k < joint_type_of(j->kind)->coordinate_count; ++k) rates[k] = -rates[k];
}

static const double *update_wrenches(hn_simulation *s, const solved_step *step)
{
    const hn_system *system = s->system;
    if (!s->wrench_valid) {
        // the forces of cut joints belong to the balance of the tree; afterwards `force` holds the elements alone again
        step_add_closure_forces(system, &step->equations, &step->data);
        step_wrenches(system, &step->equations, &step->data, s->wrench);
        if (system->cut_count > 0)
            memset(step->data.force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
        step_element_forces(system, &step->equations, &step->data);
    }
    s->wrench_valid = true;
    return s->wrench;
}

// force and moment that the joint of tree body `body` exerts on it, about its centre of mass
static void child_wrench(const hn_simulation *s, const solved_step *step, int body, hn_vec3 *force,
                         hn_vec3 *moment)
{
    double factor = 1.0 / step->equations.multiplier_factor;
    *force = vec3_scale(factor, vec3_load(s->wrench + TWIST_SIZE * (size_t)body));
    *moment = vec3_scale(factor, vec3_load(s->wrench + TWIST_SIZE * (size_t)body + 3));
}

// force and moment of a joint on the user's body b about its joint point: -G_b^T lambda
static void reaction_of_multipliers(const solved_step *step, const system_joint *report,
                                    const double *lambda, hn_vec3 *force, hn_vec3 *moment)
{
    const joint *j = &report->rows;
    double a[POSE_SIZE], b[POSE_SIZE], sum[POSE_SIZE] = {0.0}, wrench[TWIST_SIZE];
    bool on_a = report->rows_swapped; // the user's b is the rows' a
    step_projection_pose(&step->equations, &step->data, j->parent, a);
    step_projection_pose(&step->equations, &step->data, j->child, b);
    for (int r = 0; r < j->row_count; ++r) {
        constraint_row row;
        hn_vec3 gradient[8];
        joint_type_of(j->kind)->row(j, r, &row);
        row_gradient(&row, a, b, gradient);
        for (int x = 0; x < 4; ++x)
            vec3_store(
                vec3_add_scaled(vec3_load(sum + 3 * x), -lambda[r], gradient[on_a ? x : 4 + x]),
                sum + 3 * x);
    }
    const double *pose = on_a ? a : b;
    force_to_wrench(pose, sum, wrench);
    *force = vec3_load(wrench);
    *moment = vec3_subtract(vec3_load(wrench + 3),
                            vec3_cross(pose_direction(pose, on_a ? j->rho_a : j->rho_b), *force));
}

static void cut_reaction(const hn_simulation *s, const solved_step *step,
                         const system_joint *report, hn_vec3 *force, hn_vec3 *moment)
{
    double lambda[JOINT_ROWS_MAX];
    for (int r = 0; r < report->rows.row_count; ++r)
        lambda[r] = step->data.closure[s->system->cut_row[report->cut] + r] /
                    step->equations.multiplier_factor;
    reaction_of_multipliers(step, report, lambda, force, moment);
}

// lambda of a joint from the wrench on the child: -G~^T lambda = wrench, G~ the rows on the child's twist
static bool child_multipliers(const solved_step *step, const joint *rows, int child, hn_vec3 force,
                              hn_vec3 moment, bool point, double *lambda)
{
    double a[POSE_SIZE], b[POSE_SIZE], covector[JOINT_ROWS_MAX][TWIST_SIZE], normal[36];
    int pivot[JOINT_ROWS_MAX], n = rows->row_count;
    step_projection_pose(&step->equations, &step->data, rows->parent, a);
    step_projection_pose(&step->equations, &step->data, rows->child, b);
    const double wrench[TWIST_SIZE] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int r = 0; r < n; ++r) {
        constraint_row row;
        hn_vec3 gradient[8];
        double flat[POSE_SIZE];
        joint_type_of(rows->kind)->row(rows, r, &row);
        row_gradient(&row, a, b, gradient);
        for (int k = 0; k < 4; ++k)
            vec3_store(gradient[rows->child == child ? 4 + k : k], flat + 3 * k);
        force_to_wrench(rows->child == child ? b : a, flat, covector[r]);
        if (point) covector[r][3] = covector[r][4] = covector[r][5] = 0.0;
    }
    for (int r = 0; r < n; ++r) {
        lambda[r] = 0.0;
        for (int k = 0; k < TWIST_SIZE; ++k) lambda[r] -= covector[r][k] * wrench[k];
        for (int c = 0; c < n; ++c) {
            normal[n * r + c] = 0.0;
            for (int k = 0; k < TWIST_SIZE; ++k)
                normal[n * r + c] += covector[r][k] * covector[c][k];
        }
    }
    if (!small_lu_factor(n, n, normal, pivot)) return false;
    small_lu_solve(n, n, normal, pivot, 1, 1, lambda);
    return true;
}

// The step with the weight of the pose that multipliers belong to.
static solved_step placed_step(const hn_simulation *s, const solved_step *step)
{
    solved_step placed = *step;
    if (s->scheme->solver_step != NULL) placed.equations.weight = s->scheme->reaction_weight;
    return placed;
}

// Multipliers of joints as the step was solved: rows that follow from others have none.
static hn_status find_joint_multipliers(hn_simulation *s, const solved_step *step, double *lambda)
{
    const hn_system *system = s->system;
    update_wrenches(s, step);
    for (int k = 0; k < system->joint_count; ++k) {
        const system_joint *report = &system->reports[k];
        const joint *rows = &report->rows;
        if ((report->tree_body < 0 && report->cut < 0) || rows->row_count == 0) continue;
        hn_vec3 force, moment;
        double *own = lambda + rows->row_offset;
        if (report->cut >= 0) {
            for (int r = 0; r < rows->row_count; ++r)
                own[r] = step->data.closure[system->cut_row[report->cut] + r] /
                         step->equations.multiplier_factor;
            continue;
        }
        child_wrench(s, step, report->tree_body, &force, &moment);
        bool point = !system->bodies[report->tree_body].has_directors;
        if (!child_multipliers(step, rows, report->tree_body, force, moment, point, own))
            return context_fail(s->context, HN_SINGULAR_SYSTEM,
                                "joint '%s': its constraint rows are dependent", report->name);
    }
    return HN_OK;
}

// Multipliers of joints, of minimum norm where there is a choice. They are kept for the other joints of the state.
static hn_status joint_multipliers(hn_simulation *s, const solved_step *placed,
                                   const double **lambda)
{
    if (s->scheme->solver_step != NULL && s->dropped_count == 0) {
        *lambda = s->multipliers;
        return HN_OK;
    }
    if (!s->redundancy.multipliers_valid) {
        size_t size = (size_t)s->system->constraint_count * sizeof(double);
        if (s->redundancy.multipliers == NULL)
            s->redundancy.multipliers = context_allocate(s->context, size + sizeof(double));
        double *kept = s->redundancy.multipliers;
        if (kept == NULL) return HN_OUT_OF_MEMORY;
        if (s->scheme->solver_step != NULL) memcpy(kept, s->multipliers, size);
        else {
            memset(kept, 0, size);
            TRY(find_joint_multipliers(s, placed, kept));
        }
        if (s->dropped_count > 0) TRY(redundancy_minimise(s, placed, kept));
        s->redundancy.multipliers_valid = true;
    }
    *lambda = s->redundancy.multipliers;
    return HN_OK;
}

hn_status hn_simulation_joint_state(hn_simulation *s, hn_joint_id id, hn_joint_state *state)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, state != NULL);
    const hn_system *system = s->system;
    if (id.index1 == 0 || id.model != s->model_tag || id.index1 > (uint32_t)system->joint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT,
                            "no joint of this simulation's model has the id %u", id.index1);
    int index = (int)id.index1 - 1;
    *state = (hn_joint_state){.reaction_time = hn_simulation_time(s)};
    simulation_update_momenta(s);
    simulation_update_angles(s);
    state->coordinate_count = joint_coordinates(s, index, state->coordinates);
    int place = joint_angle_place(system->reports[index].rows.kind);
    if (place >= 0) state->coordinates[place] = s->joint_angles[index];
    joint_rates(s, index, state->rates);
    const system_joint *report = &system->reports[index];
    const solved_step *step = simulation_reaction_step(s);
    if (step == NULL) return HN_OK;
    bool own_solver = s->scheme->solver_step != NULL;
    state->reaction_valid = true;
    state->reaction_unique = true;
    if (own_solver) state->reaction_time = s->multiplier_time;
    else if (!s->scheme->look_ahead && !s->scheme->tangent_momenta)
        state->reaction_time = step->equations.reaction_time;
    if (system->cut_count > 0 && s->dropped_count > 0) {
        TRY(redundancy_update(s));
        state->reaction_unique = !s->redundancy.shared[index];
    }
    if (own_solver || !state->reaction_unique) {
        const double *lambda;
        solved_step placed = placed_step(s, step);
        TRY(joint_multipliers(s, &placed, &lambda));
        reaction_of_multipliers(&placed, report, lambda + report->rows.row_offset,
                                &state->reaction_force, &state->reaction_torque);
        return HN_OK;
    }
    if (report->cut >= 0)
        cut_reaction(s, step, report, &state->reaction_force, &state->reaction_torque);
    if (report->tree_body < 0 || report->rows.kind == HN_JOINT_FREE) return HN_OK;
    update_wrenches(s, step);
    int child = report->tree_body;
    const joint *tree = &system->joints[child];
    hn_vec3 force, moment;
    child_wrench(s, step, child, &force, &moment);
    double pose[POSE_SIZE], parent[POSE_SIZE];
    step_projection_pose(&step->equations, &step->data, child, pose);
    step_projection_pose(&step->equations, &step->data, tree->parent, parent);
    moment = vec3_subtract(moment, vec3_cross(pose_direction(pose, joint_child_arm(tree)), force));
    int user_b = report->rows_swapped ? report->rows.parent : report->rows.child;
    if (user_b != child) {
        // on the parent, about its own joint point
        hn_vec3 shift = vec3_subtract(pose_point(pose, joint_child_arm(tree)),
                                      pose_point(parent, joint_parent_arm(tree)));
        moment = vec3_negate(vec3_add(moment, vec3_cross(shift, force)));
        force = vec3_negate(force);
    }
    state->reaction_force = force;
    state->reaction_torque = moment;
    return HN_OK;
}

// ---- multipliers ------------------------------------------------------------------------------------

// internal multipliers of a body from what is left of its residual: G_int^T lambda = -rest
static bool internal_multipliers(const double *pose, const double *rest, double *lambda)
{
    double gradients[INTERNAL_ROWS][POSE_SIZE], normal[INTERNAL_ROWS * INTERNAL_ROWS];
    int pivot[INTERNAL_ROWS];
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        constraint_row row;
        hn_vec3 gradient[8];
        row_internal(r, &row);
        row_gradient(&row, pose, pose, gradient);
        for (int k = 0; k < 4; ++k) vec3_store(gradient[k], gradients[r] + 3 * k);
    }
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        lambda[r] = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) lambda[r] -= gradients[r][k] * rest[k];
        for (int c = 0; c < INTERNAL_ROWS; ++c) {
            normal[INTERNAL_ROWS * r + c] = 0.0;
            for (int k = 0; k < POSE_SIZE; ++k)
                normal[INTERNAL_ROWS * r + c] += gradients[r][k] * gradients[c][k];
        }
    }
    if (!small_lu_factor(INTERNAL_ROWS, INTERNAL_ROWS, normal, pivot)) return false;
    small_lu_solve(INTERNAL_ROWS, INTERNAL_ROWS, normal, pivot, 1, 1, lambda);
    return true;
}

// rest += G^T lambda of all joints
static void add_joint_forces(const hn_simulation *s, const solved_step *placed,
                             const double *lambda, double *rest)
{
    for (int k = 0; k < s->system->joint_count; ++k) {
        const joint *rows = &s->system->reports[k].rows;
        const double *own = lambda + rows->row_offset;
        double a[POSE_SIZE], b[POSE_SIZE];
        step_projection_pose(&placed->equations, &placed->data, rows->parent, a);
        step_projection_pose(&placed->equations, &placed->data, rows->child, b);
        for (int r = 0; r < rows->row_count; ++r) {
            constraint_row row;
            hn_vec3 gradient[8];
            joint_type_of(rows->kind)->row(rows, r, &row);
            row_gradient(&row, a, b, gradient);
            for (int x = 0; x < 8; ++x) {
                int body = x < 4 ? rows->parent : rows->child;
                if (body < 0) continue;
                double *to = rest + POSE_SIZE * (size_t)body + 3 * (x % 4);
                vec3_store(vec3_add_scaled(vec3_load(to), own[r], gradient[x]), to);
            }
        }
    }
}

// rho/sigma + G^T lambda = 0: joints first, what is left is internal. A scheme with its own solver brings multipliers;
// those of minimum norm exert the same wrenches by other forces on directors, and internal ones make up for it.
hn_status hn_simulation_multipliers(hn_simulation *s, double *lambda, int count)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, lambda != NULL);
    const hn_system *system = s->system;
    bool own_solver = s->scheme->solver_step != NULL;
    if (count != system->constraint_count)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "there are %d multipliers, not %d",
                            system->constraint_count, count);
    size_t size = (size_t)count * sizeof(double), poses = POSE_SIZE * (size_t)system->body_count;
    memset(lambda, 0, size);
    const solved_step *step = simulation_reaction_step(s);
    if (step == NULL) return HN_OK;
    if (own_solver) memcpy(lambda, s->multipliers, size);
    if (own_solver && s->dropped_count == 0) return HN_OK;
    const double *joints;
    solved_step placed = placed_step(s, step);
    TRY(joint_multipliers(s, &placed, &joints));
    double *rest = context_allocate(s->context, poses * sizeof(double));
    if (rest == NULL) return HN_OUT_OF_MEMORY;
    if (own_solver) {
        for (int k = system->internal_count; k < count; ++k) lambda[k] = -lambda[k];
        add_joint_forces(s, &placed, lambda, rest);
    }
    for (int i = 0; i < system->body_count && !own_solver; ++i) {
        double *r = rest + POSE_SIZE * (size_t)i;
        step_residual(system, &step->equations, &step->data, i, r);
        for (int k = 0; k < POSE_SIZE; ++k) r[k] /= step->equations.multiplier_factor;
    }
    add_joint_forces(s, &placed, joints, rest);
    for (int k = system->internal_count; k < count; ++k) lambda[k] = joints[k];
    hn_status status = HN_OK;
    for (int i = 0; i < system->body_count && status == HN_OK; ++i) {
        if (system->bodies[i].internal_count == 0) continue;
        double pose[POSE_SIZE], internal[INTERNAL_ROWS];
        step_projection_pose(&placed.equations, &placed.data, i, pose);
        if (!internal_multipliers(pose, rest + POSE_SIZE * (size_t)i, internal))
            status = context_fail(s->context, HN_SINGULAR_SYSTEM,
                                  "body '%s': its directors are dependent", system->bodies[i].name);
        for (int r = 0; r < INTERNAL_ROWS && status == HN_OK; ++r)
            lambda[system->bodies[i].internal_offset + r] += internal[r];
    }
    context_release(s->context, rest);
    return status;
}
