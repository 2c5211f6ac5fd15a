// SPDX-License-Identifier: MIT
// Scales of bodies and rows.
#include "reductions/measures.h"

#include "system/mass.h"

#include <float.h>

void measure_bodies(const hn_system *system, const step_equations *equations, const step_data *step,
                    body_scale *scales)
{
    // substeps of a composition go back in time
    double gravity = fabs(equations->force_factor) * vec3_norm(system->gravity),
           alpha = fabs(equations->mass_factor);
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *b = equations->momentum + at, *delta = step->delta + at,
                     *inertia = mass_node(system, i);
        double size[4], still = DBL_EPSILON * system->sizes[i];
        for (int k = 0; k < 4; ++k, still = DBL_EPSILON)
            size[k] = one_norm(b + 3 * k) + alpha * inertia[k] * (one_norm(delta + 3 * k) + still);
        if (system->element_count > 0)
            for (int k = 0; k < 4; ++k) size[k] += one_norm(step->force + at + 3 * k);
        scales[i].force = size[0] + inertia[0] * gravity;
        scales[i].moment = size[1] + size[2] + size[3];
    }
    // what stands still by itself has no terms to cancel: multipliers of its joints are round-off. A number, so that no
    // part of it is none.
    const double ANY = 1e150;
    for (int i = 0; equations->parked != NULL && i < system->body_count; ++i)
        if (equations->parked[i]) scales[i] = (body_scale){ANY, ANY};
}

void measure_add_round_off(const hn_system *system, const step_equations *equations,
                           const double *q, body_scale *scales)
{
    double alpha = fabs(equations->mass_factor);
    for (int i = 0; i < system->body_count; ++i) {
        const double *inertia = mass_node(system, i);
        double place = one_norm(q + POSE_SIZE * (size_t)i) + system->sizes[i];
        double force = MEASURE_STILL * alpha * inertia[0] * place;
        scales[i].force += force;
        scales[i].moment += system->sizes[i] * force +
                            MEASURE_STILL * alpha * (inertia[1] + inertia[2] + inertia[3]);
    }
}

// |C| sum |v_k| |x_k| of a tangent term u^T C v: over what round-off of coordinates leaves open of it
static double term_size(const element *e, const stiffness_term *term, const double *q)
{
    const double *pose[2] = {system_pose(q, e->a), system_pose(q, e->b)};
    double way = 0.0, c = 0.0;
    for (int r = 0; r < 3; ++r) c += one_norm(term->c[r]);
    for (int k = 0; k < 8; ++k) way += fabs(term->v[k]) * one_norm(pose[k / 4] + 3 * (k % 4));
    return c * way;
}

// What round-off of coordinates makes of an element's force and moment, times so much that 1e-12 of it is round-off
static body_scale element_round_off(const hn_system *system, const step_equations *equations,
                                    const step_data *step, int index)
{
    stiffness_term terms[ELEMENT_TERMS_MAX];
    body_scale sum = {0.0, 0.0};
    int count = step_element_terms(system, equations, step, index, terms);
    for (int t = 0; t < count; ++t) {
        double size = MEASURE_STILL * term_size(&system->elements[index], &terms[t], step->q),
               moment = 0.0;
        for (int k = 0; k < 8; ++k)
            if (k % 4 != 0) moment += fabs(terms[t].u[k]);
        sum.force += size * fmax(fabs(terms[t].u[0]), fabs(terms[t].u[4]));
        sum.moment += size * moment;
    }
    return sum;
}

double measure_element_work(const hn_system *system, const step_data *step, int index)
{
    // the gradient of its potential in the middle, where the way is across a spring that turns; by q_n+1 it is half
    const step_equations equations = {.force_factor = 1.0, .gradient_weight = 0.5};
    const element *e = &system->elements[index];
    if (step_element_is_dense(system, index)) return 0.0;
    element_step view = step_element_view(system, &equations, step, index);
    view.want_terms = true;
    stiffness_term terms[ELEMENT_TERMS_MAX];
    double ignored_a[POSE_SIZE] = {0.0}, ignored_b[POSE_SIZE] = {0.0}, sum = 0.0;
    element_output out = {.residual_a = ignored_a, .residual_b = ignored_b, .terms = terms};
    element_type_of(e->kind)->gradient(e, &view, &out);
    const int bodies[2] = {e->a, e->b};
    hn_vec3 slope[8] = {{0.0, 0.0, 0.0}}; // K^T Delta
    for (int t = 0; t < out.term_count; ++t) {
        const stiffness_term *term = &terms[t];
        hn_vec3 way = vec3(0.0, 0.0, 0.0);
        for (int k = 0; k < 8; ++k) {
            if (bodies[k / 4] < 0 || term->u[k] == 0.0) continue;
            const double *change =
                step->delta + POSE_SIZE * (size_t)bodies[k / 4] + 3 * (size_t)(k % 4);
            way = vec3_add_scaled(way, term->u[k], vec3_load(change));
        }
        hn_vec3 pull = vec3(0.0, 0.0, 0.0);
        pull = vec3_add_scaled(pull, way.x, vec3_load(term->c[0]));
        pull = vec3_add_scaled(pull, way.y, vec3_load(term->c[1]));
        pull = vec3_add_scaled(pull, way.z, vec3_load(term->c[2]));
        for (int k = 0; k < 8; ++k) slope[k] = vec3_add_scaled(slope[k], term->v[k], pull);
    }
    for (int k = 0; k < 8; ++k) {
        double size[3];
        vec3_store(slope[k], size);
        sum += one_norm(size) * one_norm(system_pose(step->q, bodies[k / 4]) + 3 * (k % 4));
    }
    return 2.0 * DBL_EPSILON * sum;
}

void measure_add_elements(const hn_system *system, const step_equations *equations,
                          const step_data *step, body_scale *scales)
{
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        const int ends[2] = {e->a, e->b};
        body_scale size = {0.0, 0.0};
        if (step_element_is_dense(system, k))
            step_element_cancelling(system, equations, step, k, &size.force, &size.moment);
        else if (!element_type_of(e->kind)->from_outside)
            size = element_round_off(system, equations, step, k);
        for (int side = 0; side < 2; ++side) {
            if (ends[side] < 0) continue;
            scales[ends[side]].force += size.force;
            scales[ends[side]].moment += size.moment;
        }
    }
}

void measure_transmit(const hn_system *system, body_scale *scales)
{
    for (int i = system->body_count - 1; i >= 0; --i) measure_transmit_body(system, i, scales);
}

double measure_residual(const motion *m, int k, double residual, const body_scale *scale)
{
    return measure_part(residual, vec3_norm(m->linear[k]) * scale->force +
                                      vec3_norm(m->angular[k]) * scale->moment);
}

double measure_pose(double length, const double *change)
{
    double largest = 0.0;
    for (int k = 0; k < POSE_SIZE; ++k) {
        double size = fabs(change[k]) / (k < 3 ? length : 1.0);
        if (!(size <= largest)) largest = size;
    }
    return largest;
}

double measure_move(const hn_system *system, const step_data *step, int body, const double *change)
{
    size_t at = POSE_SIZE * (size_t)body;
    for (size_t k = 0; k < POSE_SIZE; ++k) {
        step->delta[at + k] += change[k];
        step->q[at + k] = step->q_start[at + k] + step->delta[at + k];
    }
    return measure_pose(measure_length(system, body, step->q, step->delta), change);
}

double measure_unit(const hn_system *system, int body)
{
    const double NEAR = 50.0; // m, and one over that
    double length = system->unit_length[body];
    return length > NEAR || length * NEAR < 1.0 ? exp2(round(log2(length))) : 1.0;
}

// metres of a gap in the row's own unit
static double in_row_unit(const joint *j, const constraint_row *row, double length, double angle)
{
    return row->rotational ? angle : joint_row_length(j) * length;
}

double measure_row(const hn_system *system, const joint *j, const constraint_row *row, int a, int b,
                   const double *q, const double *delta)
{
    double length = fmax(measure_length(system, a, q, delta), measure_length(system, b, q, delta));
    return in_row_unit(j, row, length, 1.0);
}

double measure_row_tolerance(const hn_system *system, const joint *j, const constraint_row *row,
                             int a, int b, const double *q)
{
    const double TOLERANCE = 1e-12, ROUND_OFF = 64.0 * DBL_EPSILON;
    double size = fmax(a < 0 ? 0.0 : system->sizes[a], b < 0 ? 0.0 : system->sizes[b]);
    double places =
        vec3_norm(pose_center(system_pose(q, a))) + vec3_norm(pose_center(system_pose(q, b)));
    return in_row_unit(j, row, TOLERANCE * size + ROUND_OFF * places, TOLERANCE);
}
