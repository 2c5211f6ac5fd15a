// SPDX-License-Identifier: MIT
// Residual and poses of a step, body by body.
#include "system/step.h"

#include "system/decay.h"
#include "system/mass.h"

#include <string.h>

void step_residual(const hn_system *system, const step_equations *equations, const step_data *step,
                   int body, double *restrict rho)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *inertia = mass_node(system, body);
    const double *delta = step->delta + at, *momentum = equations->momentum + at,
                 *force = step->force + at;
    for (int i = 0; i < 4; ++i)
        for (int k = 3 * i; k < 3 * i + 3; ++k)
            rho[k] = equations->mass_factor * inertia[i] * delta[k] - momentum[k] + force[k];
    double weight = equations->force_factor * inertia[0];
    rho[0] -= weight * system->gravity.x;
    rho[1] -= weight * system->gravity.y;
    rho[2] -= weight * system->gravity.z;
}

static const double STILL[POSE_SIZE] = {0.0};

element_step step_element_view(const hn_system *system, const step_equations *equations,
                               const step_data *step, int index)
{
    const element *e = &system->elements[index];
    return (element_step){
        .a_start = system_pose(step->q_start, e->a),
        .b_start = system_pose(step->q_start, e->b),
        .a_delta = e->a < 0 ? STILL : step->delta + POSE_SIZE * (size_t)e->a,
        .b_delta = e->b < 0 ? STILL : step->delta + POSE_SIZE * (size_t)e->b,
        .a = system_pose(step->q, e->a),
        .b = system_pose(step->q, e->b),
        .third_start = e->points == NULL ? NULL : system_pose(step->q_start, e->third),
        .third = e->points == NULL ? NULL : system_pose(step->q, e->third),
        .angle_start = e->angle >= 0 ? step->angle_start[e->angle] : 0.0,
        .memory = e->law != NULL ? step->angle_start + e->angle : NULL,
        .step_size = equations->step_size,
        .load_begin = equations->load_begin,
        .load_end = equations->load_end,
        .discrete_gradient = equations->discrete_gradient,
        .gradient_weight = equations->gradient_weight,
        .weight = equations->weight,
        .damper_excess = equations->damper_excess,
        .damper_middle = equations->damper_middle,
        .inputs_apart = equations->inputs_apart,
        .owed = step->owed == NULL || e->damped < 0 ? NULL : step->owed + e->damped,
        .at_rest = equations->at_rest,
        .factor = equations->force_factor,
        .decay = equations->decay,
        .change_before = equations->decay > 0.0
                             ? decay_strains_before(step, e->points == NULL ? index : e->group)
                             : NULL,
        .change_stride = DECAY_MEMORY,
    };
}

void step_hold_parked(const hn_system *system, const step_equations *equations, double *momentum)
{
    for (int i = 0; equations->parked != NULL && i < system->body_count; ++i)
        if (equations->parked[i])
            vec3_store(
                vec3_scale(-equations->force_factor * mass_node(system, i)[0], system->gravity),
                momentum + POSE_SIZE * (size_t)i);
}

static void add_element_forces(const hn_system *system, const step_equations *equations,
                               const step_data *step)
{
    memset(step->force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        element_step view = step_element_view(system, equations, step, i);
        element_output out = {
            .residual_a = e->a < 0 ? NULL : step->force + POSE_SIZE * (size_t)e->a,
            .residual_b = e->b < 0 ? NULL : step->force + POSE_SIZE * (size_t)e->b,
        };
        element_type_of(e->kind)->gradient(e, &view, &out);
        element_load(e, &view, &out);
    }
    if (equations->decay > 0.0) decay_add_forces(system, equations, step);
    mass_add_edges(system, equations->mass_factor, step->delta, step->force);
    mass_add_edge_weights(system, -equations->force_factor, step->force);
}

void step_element_forces(const hn_system *system, const step_equations *equations,
                         const step_data *step)
{
    if (system->element_count == 0) return;
    add_element_forces(system, equations, step);
    for (int i = 0; equations->parked != NULL && i < system->body_count; ++i)
        if (equations->parked[i])
            memset(step->force + POSE_SIZE * (size_t)i, 0, POSE_SIZE * sizeof(double));
}

void step_add_mass_block(const mass_edge *edge, double factor, element_block *block)
{
    for (int x = 0; x < POSE_SIZE; ++x) {
        double m = factor * edge->mass[x / 3];
        block->k[x][POSE_SIZE + x] += m;
        block->k[POSE_SIZE + x][x] += m;
    }
}

// u (C v^T) on the eight vectors
static void add_term(const stiffness_term *term, element_block *block)
{
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8 && term->u[i] != 0.0; ++j) {
            double uv = term->u[i] * term->v[j];
            if (uv == 0.0) continue;
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) block->k[3 * i + r][3 * j + c] += uv * term->c[r][c];
        }
}

void step_element_block(const hn_system *system, const step_equations *equations,
                        const step_data *step, int index, bool mass, element_block *block)
{
    const element *e = &system->elements[index];
    if (!step_element_is_dense(system, index)) {
        stiffness_term terms[ELEMENT_TERMS_MAX];
        int count = step_element_terms(system, equations, step, index, terms);
        memset(block, 0, sizeof *block);
        for (int t = 0; t < count; ++t) add_term(&terms[t], block);
        return;
    }
    element_step view = step_element_view(system, equations, step, index);
    double ignored_a[POSE_SIZE] = {0.0}, ignored_b[POSE_SIZE] = {0.0};
    element_output out = {.residual_a = ignored_a, .residual_b = ignored_b, .block = block};
    memset(block, 0, sizeof *block);
    element_type_of(e->kind)->gradient(e, &view, &out);
    element_load(e, &view, &out);
    if (equations->decay > 0.0) decay_add_block(system, equations, step, index, block);
    if (mass && e->mass_edge >= 0)
        step_add_mass_block(mass_edge_of(system, e->mass_edge), equations->mass_factor, block);
}

void step_element_cancelling(const hn_system *system, const step_equations *equations,
                             const step_data *step, int index, double *force, double *moment)
{
    const element *e = &system->elements[index];
    element_step view = step_element_view(system, equations, step, index);
    *force = *moment = 0.0;
    if (element_type_of(e->kind)->cancelling != NULL)
        element_type_of(e->kind)->cancelling(e, &view, force, moment);
}

int step_element_terms(const hn_system *system, const step_equations *equations,
                       const step_data *step, int index, stiffness_term *terms)
{
    const element *e = &system->elements[index];
    element_step view = step_element_view(system, equations, step, index);
    view.want_terms = true;
    double ignored_a[POSE_SIZE] = {0.0}, ignored_b[POSE_SIZE] = {0.0};
    element_output out = {.residual_a = ignored_a, .residual_b = ignored_b, .terms = terms};
    element_type_of(e->kind)->gradient(e, &view, &out);
    element_load(e, &view, &out);
    if (equations->decay > 0.0) decay_add_terms(system, equations, step, index, &out);
    return out.term_count;
}

void step_projection_pose(const step_equations *equations, const step_data *step, int body,
                          double *pose)
{
    if (body < 0) {
        memcpy(pose, GROUND_POSE, sizeof GROUND_POSE);
        return;
    }
    size_t at = POSE_SIZE * (size_t)body;
    const double *start = step->q_start + at, *end = step->q + at;
    double w = equations->weight;
    for (int k = 0; k < POSE_SIZE; ++k) pose[k] = (1.0 - w) * start[k] + w * end[k];
}

void step_delta_from_body(const hn_system *system, const step_data *step, int body)
{
    size_t at = POSE_SIZE * (size_t)body;
    double ignored[POSE_SIZE];
    vec3_store(step->bodies[body].displacement, step->delta + at);
    if (system->bodies[body].has_directors)
        step_turn_directors(step->bodies[body].rotation, step->q_start + at, ignored,
                            step->delta + at);
}

void step_pose_from_body(const hn_system *system, const step_data *step, int body)
{
    size_t at = POSE_SIZE * (size_t)body;
    double ignored[POSE_SIZE];
    vec3_store(vec3_add(vec3_load(step->q_start + at), step->bodies[body].displacement),
               step->q + at);
    if (system->bodies[body].has_directors)
        step_turn_directors(step->bodies[body].rotation, step->q_start + at, step->q + at, ignored);
}

void step_advance_body(const hn_system *system, const step_data *step, int body,
                       const double *twist)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *start = step->q_start + at;
    body_step *b = &step->bodies[body];
    step_move_centre(vec3_add(b->displacement, vec3_load(twist)), start, step->q + at,
                     step->delta + at);
    b->displacement = vec3_load(step->delta + at);
    if (!system->bodies[body].has_directors) return;
    advance_rotation(vec3_load(twist + 3), b);
    step_turn_directors(b->rotation, start, step->q + at, step->delta + at);
}

void step_settle_directors(const hn_system *system, const step_data *step)
{
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].has_directors)
            settle_directors(vec3(0.0, 0.0, 0.0), step->q + POSE_SIZE * (size_t)i);
}

void step_body_from_delta(const hn_system *system, const step_data *step, int body)
{
    size_t at = POSE_SIZE * (size_t)body;
    const double *delta = step->delta + at;
    body_step *b = &step->bodies[body];
    b->displacement = vec3_load(delta);
    b->rotation = vec3(0.0, 0.0, 0.0);
    if (!system->bodies[body].has_directors) return;
    hn_vec3 d[3];
    for (int i = 0; i < 3; ++i)
        d[i] = vec3_mean(vec3_load(step->q_start + at + 3 + 3 * i),
                         vec3_load(step->q + at + 3 + 3 * i));
    double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
    for (int i = 0; i < 3; ++i) {
        hn_vec3 reciprocal = vec3_scale(1.0 / volume, vec3_cross(d[(i + 1) % 3], d[(i + 2) % 3]));
        b->rotation =
            vec3_add_scaled(b->rotation, 0.5, vec3_cross(reciprocal, vec3_load(delta + 3 + 3 * i)));
    }
}

// Moment about the parent's centre of mass of a wrench on the child of a pivot joint, `pose` that of the child.
static inline hn_vec3 pivot_carried_moment(pivot_kind pivot, const joint *j,
                                           const step_equations *equations, const step_data *step,
                                           const double *pose, hn_vec3 force, hn_vec3 moment)
{
    double parent[POSE_SIZE];
    step_projection_pose(equations, step, j->parent, parent);
    return pivot == PIVOT_AXIS
               ? vec3_add(moment,
                          vec3_cross(vec3_subtract(pose_center(pose), pose_center(parent)), force))
               : vec3_cross(pose_direction(parent, j->rho_a), force);
}

void step_wrenches(const hn_system *system, const step_equations *equations, const step_data *step,
                   double *wrench)
{
    memset(wrench, 0, TWIST_SIZE * (size_t)system->body_count * sizeof(double));
    for (int i = system->body_count - 1; i >= 0; --i) {
        double rho[POSE_SIZE], pose[POSE_SIZE];
        double *w = wrench + TWIST_SIZE * (size_t)i;
        step_residual(system, equations, step, i, rho);
        step_projection_pose(equations, step, i, pose);
        hn_vec3 force = vec3_add(vec3_load(w), vec3_load(rho)),
                moment = vec3_add(vec3_load(w + 3), force_moment(pose, rho));
        vec3_store(force, w);
        vec3_store(moment, w + 3);
        const joint *j = &system->joints[i];
        if (j->parent < 0) continue;
        const pivot_kind pivot = joint_pivot(j);
        if (pivot != PIVOT_NONE) {
            moment = pivot_carried_moment(pivot, j, equations, step, pose, force, moment);
        } else {
            motion m;
            double parent[POSE_SIZE];
            step_projection_pose(equations, step, j->parent, parent);
            joint_type_of(j->kind)->motion(j, &step->joints[i], parent, pose, &m);
            if (m.carry == CARRY_NONE) continue;
            moment = carry_moment(&m, force, moment);
        }
        double *to = wrench + TWIST_SIZE * (size_t)j->parent;
        vec3_store(vec3_add(vec3_load(to), force), to);
        vec3_store(vec3_add(vec3_load(to + 3), moment), to + 3);
    }
}
