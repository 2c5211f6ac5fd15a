// SPDX-License-Identifier: MIT
// What a simulation knows of its current state: momenta, energies, joint coordinates, reactions, multipliers.
#include "simulation/simulation.h"

#include "linalg/small_lu.h"
#include "reductions/coordinates.h"
#include "simulation/composed.h"
#include "simulation/events.h"
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

// Efforts act half at either node, and those that hold in two steps are known by their sum at the node alone: what
// alternates between them is no part of its momentum (D13).
static void share_holding_efforts(hn_simulation *s, const solved_step *ahead)
{
    const hn_system *system = s->system;
    for (int i = 0; i < system->law_count && s->hold_count > 0; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        const double *before = s->angles + e->angle, *after = ahead->angle_start + e->angle;
        if (!drive_is_held(e->law, before[DRIVE_MODE]) || !drive_is_held(e->law, after[DRIVE_MODE]))
            continue;
        double row[2 * POSE_SIZE], impulse = 0.25 * ahead->equations.step_size * e->law->sign *
                                             (after[DRIVE_HOLD] - before[DRIVE_HOLD]);
        element_rate_row(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b), row);
        for (int k = 0; k < POSE_SIZE; ++k) {
            if (e->a >= 0) s->momenta[POSE_SIZE * (size_t)e->a + (size_t)k] += impulse * row[k];
            if (e->b >= 0)
                s->momenta[POSE_SIZE * (size_t)e->b + (size_t)k] += impulse * row[POSE_SIZE + k];
        }
    }
}

// p_n, with the step from here on where the scheme needs it
static void find_momenta(hn_simulation *s)
{
    solved_step *ahead = &s->steps[s->ahead];
    bool looks = s->scheme->look_ahead && !s->state.first, known = true;
    // the step from here on, kept for when it is taken; without it the projected momenta are reported, and where it is
    // taken in parts, as the rate of a motion jumps
    if (looks && !ahead->valid)
        known =
            simulation_solve_ahead(s, composed_next_size(s), hn_simulation_time(s), false) == HN_OK;
    if (!known || (looks && events_turn(s))) {
        if (simulation_project_momenta(s, s->state.impetus, s->momenta, NULL) != HN_OK)
            memcpy(s->momenta, s->state.impetus,
                   POSE_SIZE * (size_t)s->system->body_count * sizeof(double));
        return;
    }
    s->scheme->momenta(s->system, &s->state, &ahead->equations, ahead->valid ? &ahead->data : NULL,
                       s->momenta);
    if (s->scheme->look_ahead && ahead->valid && !s->state.first) share_holding_efforts(s, ahead);
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
        simulation_solve_ahead(s, composed_next_size(s), hn_simulation_time(s), false) != HN_OK)
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

hn_status hn_simulation_legendre(const hn_simulation *simulation, const hn_legendre *out)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
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

// ---- joints -----------------------------------------------------------------------------------------

// a point mass as body b has no orientation to report
static bool joint_to_point(const hn_system *system, const joint *j)
{
    return j->child >= 0 && !system->bodies[j->child].has_directors;
}

int simulation_joint_coordinate_count(const hn_system *system, int index)
{
    const joint *j = &system->reports[index].rows;
    const joint_type *type = joint_type_of(j->kind);
    if (joint_to_point(system, j)) return type->mark == MARK_NONE ? 3 : 0;
    return type->coordinate_count;
}

// coordinates of the user's b relative to a; returns their number
int simulation_joint_coordinates(const hn_simulation *s, int index, double *coordinates)
{
    const system_joint *report = &s->system->reports[index];
    const joint *j = &report->rows;
    const joint_type *type = joint_type_of(j->kind);
    const double *a = system_pose(s->state.q, j->parent), *b = system_pose(s->state.q, j->child);
    type->coordinates(j, a, b, coordinates);
    int count = simulation_joint_coordinate_count(s->system, index);
    if (joint_to_point(s->system, j)) return count;
    if (report->rows_swapped)
        for (int k = 0; k < count; ++k) coordinates[k] = -coordinates[k];
    return count;
}

void simulation_joint_rates(const hn_simulation *s, int index, const double *twist_a,
                            const double *twist_b, double *rates)
{
    const system_joint *report = &s->system->reports[index];
    const joint *j = &report->rows;
    joint_coordinate_rates(j, system_pose(s->state.q, j->parent), system_pose(s->state.q, j->child),
                           twist_a, twist_b, rates);
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
        hn_vec3 gradient[8];
        const constraint_row row = joint_row(j, r);
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
static bool child_multipliers(const hn_simulation *s, const solved_step *step, const joint *rows,
                              int child, double *lambda)
{
    hn_vec3 force, moment;
    child_wrench(s, step, child, &force, &moment);
    double a[POSE_SIZE], b[POSE_SIZE], covector[JOINT_ROWS_MAX][TWIST_SIZE];
    step_projection_pose(&step->equations, &step->data, rows->parent, a);
    step_projection_pose(&step->equations, &step->data, rows->child, b);
    double minus[TWIST_SIZE] = {-force.x, -force.y, -force.z, -moment.x, -moment.y, -moment.z};
    joint_wrenches(rows, a, b, rows->child == child, &s->system->bodies[child], covector);
    return wrench_multipliers(rows->row_count, s->system->sizes[child], covector, minus, lambda);
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
        double *own = lambda + rows->row_offset;
        if (report->cut >= 0) {
            for (int r = 0; r < rows->row_count; ++r)
                own[r] = step->data.closure[system->cut_row[report->cut] + r] /
                         step->equations.multiplier_factor;
            continue;
        }
        if (!child_multipliers(s, step, rows, report->tree_body, own))
            return context_fail(s->context, HN_SINGULAR_SYSTEM,
                                "joint '%s': its constraint rows are dependent", report->name);
    }
    return HN_OK;
}

// Those of a scheme with its own solver, at the current state, are in s->multipliers from now on.
static hn_status own_multipliers(hn_simulation *s)
{
    if (!s->multipliers_later) return HN_OK;
    hn_status status =
        s->scheme->solver_multipliers(s->solver, &s->state, s->multiplier_time, s->multipliers);
    if (status != HN_OK)
        return context_fail(s->context, status,
                            "constraint forces cannot be found: rows of a joint depend on each "
                            "other at t = %.6g s (is a joint's axis that of another?)",
                            s->multiplier_time);
    s->multipliers_later = false;
    return HN_OK;
}

// Multipliers of joints, of minimum norm where there is a choice. They are kept for the other joints of the state.
static hn_status joint_multipliers(hn_simulation *s, const solved_step *placed,
                                   const double **lambda)
{
    if (s->scheme->solver_step != NULL) TRY(own_multipliers(s));
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

double simulation_reaction_time(const hn_simulation *s, const solved_step *step)
{
    if (s->scheme->solver_step != NULL) return s->multiplier_time;
    bool now = s->scheme->look_ahead || s->scheme->tangent_momenta;
    return now ? hn_simulation_time(s) : step->equations.reaction_time;
}

void simulation_reaction_pose(const hn_simulation *s, const solved_step *step, int body,
                              double *pose)
{
    const solved_step placed = placed_step(s, step);
    const double weight = placed.equations.weight;
    step_projection_pose(&placed.equations, &placed.data, body, pose);
    if (body < 0 || weight == 0.0 || weight == 1.0 || !s->system->bodies[body].has_directors)
        return;
    // the mean of directors is none: sum d x Delta d = 2 sin(phi) n and the trace 1 + 2 cos(phi) of the turn give
    // theta = 2 tan(phi/2) n of the Cayley map
    const double *start = step->q_start + POSE_SIZE * (size_t)body,
                 *change = step->data.delta + POSE_SIZE * (size_t)body;
    hn_vec3 sum = vec3(0.0, 0.0, 0.0);
    double trace = 3.0;
    for (int k = 3; k < POSE_SIZE; k += 3) {
        hn_vec3 d = vec3_load(start + k), delta = vec3_load(change + k);
        sum = vec3_add(sum, vec3_cross(d, delta));
        trace += vec3_dot(d, delta);
    }
    hn_vec3 half = cayley_half(vec3_scale(2.0 / (1.0 + trace), sum));
    for (int k = 3; k < POSE_SIZE; k += 3)
        vec3_store(cayley_apply(half, vec3_load(start + k)), pose + k);
}

// Is it of a joint that may share a self-stress? Those of minimum norm are given then; for the others both ways agree.
static bool may_be_shared(const hn_simulation *s, const system_joint *report)
{
    if (s->system->cut_count == 0 || s->dropped_count == 0) return false;
    return report->cut >= 0 || (report->tree_body >= 0 && s->system->in_loop[report->tree_body]);
}

// Force and moment of the rows of a joint
static hn_status rows_reaction(hn_simulation *s, const solved_step *step,
                               const system_joint *report, joint_reaction *reaction)
{
    const hn_system *system = s->system;
    *reaction = (joint_reaction){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (s->scheme->solver_step != NULL || may_be_shared(s, report)) {
        const double *lambda;
        solved_step placed = placed_step(s, step);
        TRY(joint_multipliers(s, &placed, &lambda));
        reaction_of_multipliers(&placed, report, lambda + report->rows.row_offset, &reaction->force,
                                &reaction->moment);
        return HN_OK;
    }
    if (report->cut >= 0) cut_reaction(s, step, report, &reaction->force, &reaction->moment);
    if (report->tree_body < 0 || report->rows.kind == HN_JOINT_FREE) return HN_OK;
    update_wrenches(s, step);
    int child = report->tree_body;
    const joint *tree = &system->joints[child];
    double lambda[JOINT_ROWS_MAX];
    // what holds a point in its plane is none of the joint's
    if (tree->plane_child && child_multipliers(s, step, &report->rows, child, lambda)) {
        reaction_of_multipliers(step, report, lambda, &reaction->force, &reaction->moment);
        return HN_OK;
    }
    hn_vec3 force, moment;
    child_wrench(s, step, child, &force, &moment);
    double pose[POSE_SIZE];
    step_projection_pose(&step->equations, &step->data, child, pose);
    moment = vec3_subtract(moment, vec3_cross(pose_direction(pose, joint_child_arm(tree)), force));
    int user_b = report->rows_swapped ? report->rows.parent : report->rows.child;
    if (user_b != child) {
        // on the parent, about its own joint point
        double parent[POSE_SIZE];
        step_projection_pose(&step->equations, &step->data, tree->parent, parent);
        hn_vec3 shift = vec3_subtract(pose_point(pose, joint_child_arm(tree)),
                                      pose_point(parent, joint_parent_arm(tree)));
        moment = vec3_negate(vec3_add(moment, vec3_cross(shift, force)));
        force = vec3_negate(force);
    }
    *reaction = (joint_reaction){force, moment};
    return HN_OK;
}

// What the thread of a screw exerts on the user's b, about its joint point: along both coordinates (D10)
static void add_thread(const hn_simulation *s, const solved_step *step, const system_joint *report,
                       joint_reaction *reaction)
{
    const system_coupling *c = &s->system->couplings[report->thread];
    for (int k = 0; k < c->term_count; ++k) {
        const element *e = &s->system->elements[c->first + k];
        double ends[2 * POSE_SIZE], poses[2][POSE_SIZE], wrench[TWIST_SIZE],
            effort = e->law->sign * step->angle_start[e->angle + DRIVE_HOLD];
        step_projection_pose(&step->equations, &step->data, e->a, poses[0]);
        step_projection_pose(&step->equations, &step->data, e->b, poses[1]);
        element_rate_row(e, poses[0], poses[1], ends);
        const joint *j = &report->rows;
        int body = report->rows_swapped ? j->parent : j->child, side = body == e->b ? 1 : 0;
        force_to_wrench(poses[side], ends + POSE_SIZE * side, wrench);
        hn_vec3 force = vec3_load(wrench), arm = report->rows_swapped ? j->rho_a : j->rho_b,
                moment = vec3_subtract(vec3_load(wrench + 3),
                                       vec3_cross(pose_direction(poses[side], arm), force));
        reaction->force = vec3_add_scaled(reaction->force, effort, force);
        reaction->moment = vec3_add_scaled(reaction->moment, effort, moment);
    }
}

hn_status simulation_reaction(hn_simulation *s, const solved_step *step, int index,
                              joint_reaction *reaction)
{
    const system_joint *report = &s->system->reports[index];
    TRY(rows_reaction(s, step, report, reaction));
    if (report->thread >= 0) add_thread(s, step, report, reaction);
    return HN_OK;
}

// ---- multipliers ------------------------------------------------------------------------------------

// internal multipliers of a body from what is left of its residual: G_int^T lambda = -rest
static bool internal_multipliers(const double *pose, const double *rest, double *lambda)
{
    double gradients[INTERNAL_ROWS][POSE_SIZE], minus[POSE_SIZE];
    for (int r = 0; r < INTERNAL_ROWS; ++r) {
        constraint_row row;
        hn_vec3 gradient[8];
        row_internal(r, &row);
        row_gradient(&row, pose, pose, gradient);
        for (int k = 0; k < 4; ++k) vec3_store(gradient[k], gradients[r] + 3 * k);
    }
    for (int k = 0; k < POSE_SIZE; ++k) minus[k] = -rest[k];
    return small_combination(INTERNAL_ROWS, POSE_SIZE, gradients[0], minus, lambda);
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
            const constraint_row row = joint_row(rows, r);
            row_add_force(&row, rows->parent, rows->child, a, b, own[r], rest);
        }
    }
}

// rho/sigma + G^T lambda = 0: joints first, what is left is internal. A scheme with its own solver brings multipliers;
// those of minimum norm exert the same wrenches by other forces on directors, and internal ones make up for it.
hn_status hn_simulation_multipliers(const hn_simulation *simulation, double *lambda, int count)
{
    hn_simulation *s = (hn_simulation *)simulation; // what is found is kept, nothing else changes
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
    if (own_solver) {
        TRY(own_multipliers(s));
        memcpy(lambda, s->multipliers, size);
    }
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
