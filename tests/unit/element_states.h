// SPDX-License-Identifier: MIT
// An element between two bodies and generic poses at both ends of a step, for tests of elements by themselves.
#ifndef TESTS_ELEMENT_STATES_H
#define TESTS_ELEMENT_STATES_H

#include "elements/element.h"

#include "support/generic_models.h"

#include <math.h>
#include <string.h>

enum { POSE = 12, PAIR = 2 * POSE, SAMPLES = 20 };

static const hn_profile CONSTANT = {.kind = HN_PROFILE_CONSTANT};

// Two bodies at the start and at the end of a step: phi, d1, d2, d3 of a, then of b.
typedef struct element_states {
    double start[PAIR], end[PAIR];
    double angle_start, angle_end; // torsional spring
    double owed[ELEMENT_DAMPERS_MAX]; // N s, N m s
    bool owes;
} element_states;

static inline void store_pose(hn_vec3 center, const hn_mat3 *d, double *q)
{
    vec3_store(center, q);
    for (int k = 0; k < 3; ++k) vec3_store(mat3_column(d, k), q + 3 + 3 * k);
}

static inline hn_vec3 at(const double *q, int k)
{
    return vec3_load(q + 3 * k);
}

static inline hn_vec3 direction(const double *q, hn_vec3 local)
{
    hn_vec3 x = vec3_scale(local.x, at(q, 1));
    x = vec3_add_scaled(x, local.y, at(q, 2));
    return vec3_add_scaled(x, local.z, at(q, 3));
}

static inline element make_element(element_kind kind, number_source *numbers)
{
    element e = {.kind = kind, .a = 0, .b = 1, .profile = &CONSTANT, .angle = -1};
    hn_vec3 rho_a = next_vector(numbers, 0.5), rho_b = next_vector(numbers, 0.5);
    hn_mat3 frame_a = next_rotation(numbers), frame_b = next_rotation(numbers);
    e.vector = next_vector(numbers, 3.0);
    e.stiffness = 20.0 + 10.0 * next_number(numbers);
    e.damping = 2.0 + next_number(numbers);
    e.rest = kind == ELEMENT_SPRING ? 0.7 : 0.4;
    e.a1 = mat3_column(&frame_a, 0);
    e.a2 = mat3_column(&frame_a, 1);
    e.b1 = mat3_column(&frame_b, 0);
    const double link[8] = {-1.0, -rho_a.x, -rho_a.y, -rho_a.z, 1.0, rho_b.x, rho_b.y, rho_b.z};
    memcpy(e.link, link, sizeof link);
    if (kind == ELEMENT_BUSHING) {
        static bushing own; // of the element made last
        for (int k = 0; k < 3; ++k)
            own.a[k] = mat3_column(&frame_a, k), own.b[k] = mat3_column(&frame_b, k);
        for (int k = 0; k < 6; ++k) {
            own.stiffness[k] = 20.0 + 15.0 * next_number(numbers);
            own.damping[k] = 2.0 + 1.5 * next_number(numbers);
        }
        e.bushing = &own;
    }
    if (kind == ELEMENT_FORCE || kind == ELEMENT_TORQUE)
        memset(e.link, 0, 4 * sizeof(double)), e.a = -1;
    return e;
}

// Poses with b1 in the plane of a1 and a2 at the given angle, everything else generic.
static inline void place(const element *e, number_source *numbers, double angle, double *q)
{
    hn_mat3 d = next_rotation(numbers);
    store_pose(next_vector(numbers, 1.0), &d, q);
    hn_vec3 a1 = direction(q, e->a1), a2 = direction(q, e->a2), a3 = vec3_cross(a1, a2);
    hn_vec3 b1 = vec3_add_scaled(vec3_scale(cos(angle), a1), sin(angle), a2);
    // b's frame: b1 and the common axis
    hn_vec3 local3 = vec3_perpendicular(e->b1), local2 = vec3_cross(local3, e->b1);
    hn_mat3 world = mat3_from_columns(b1, vec3_cross(a3, b1), a3),
            local = mat3_from_columns(e->b1, local2, local3);
    hn_mat3 back = mat3_transpose(&local);
    d = mat3_multiply(&world, &back);
    store_pose(vec3_add(vec3(2.0, 0.0, 0.0), next_vector(numbers, 1.0)), &d, q + POSE);
}

static inline element_states make_states(const element *e, number_source *numbers)
{
    element_states s = {0};
    s.angle_start = 3.0 * next_number(numbers);
    s.angle_end = s.angle_start + 2.0 * next_number(numbers);
    place(e, numbers, s.angle_start, s.start);
    place(e, numbers, s.angle_end, s.end);
    // the bodies turn by any angle up to half a turn, which may lead to the other one of two angles
    element_step way = {
        .a_start = s.start, .b_start = s.start + POSE, .a = s.end, .b = s.end + POSE};
    way.angle_start = s.angle_start;
    if (e->kind == ELEMENT_TORSION_SPRING || e->kind == ELEMENT_DRIVE)
        s.angle_end = element_angle_after(e, &way);
    return s;
}

static inline element_step view_of(const element_states *s, bool discrete, double weight)
{
    return (element_step){.a_start = s->start,
                          .b_start = s->start + POSE,
                          .a = s->end,
                          .b = s->end + POSE,
                          .angle_start = s->angle_start,
                          .step_size = 0.1,
                          .discrete_gradient = discrete,
                          .gradient_weight = weight == 1.0 ? 1.0 : 0.5,
                          .weight = weight,
                          .owed = s->owes ? s->owed : NULL,
                          .factor = 0.7};
}

typedef void (*contribution)(const element *e, const element_step *step, element_output *out);

static inline void residual_of(const element *e, contribution part, const element_step *step,
                        double *residual)
{
    memset(residual, 0, PAIR * sizeof(double));
    element_output out = {.residual_a = residual, .residual_b = residual + POSE};
    part(e, step, &out);
}

#endif
