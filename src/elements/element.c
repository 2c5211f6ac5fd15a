// SPDX-License-Identifier: MIT
// The table of element kinds and what their files share.
#include "elements/element.h"

#include "elements/rotation_effort.h"

const element_type *element_type_of(element_kind kind)
{
    static const element_type *const types[] = {
        [ELEMENT_FORCE] = &element_force,
        [ELEMENT_TORQUE] = &element_torque,
        [ELEMENT_SPRING] = &element_spring,
        [ELEMENT_TORSION_SPRING] = &element_torsion_spring,
        [ELEMENT_BEAM] = &element_beam,
        [ELEMENT_DRIVE] = &element_drive,
        [ELEMENT_BEAM_QUADRATIC] = &element_beam_quadratic,
        [ELEMENT_BUSHING] = &element_bushing,
        [ELEMENT_BEAM_HELICAL] = &element_beam_helical,
    };
    return types[kind];
}

void element_force_at(const element *e, const double *pose, double size, double *force)
{
    const hn_profile constant = {.kind = HN_PROFILE_CONSTANT};
    element plain = *e;
    plain.profile = &constant;
    element_step view = {.a_start = pose, .b_start = pose, .a = pose, .b = pose, .factor = -size};
    element_output out = {.residual_b = force};
    element_type_of(e->kind)->load(&plain, &view, &out);
}

double element_no_potential(const element *e, const double *a, const double *b, const double *third,
                            double angle)
{
    (void)e, (void)a, (void)b, (void)third, (void)angle;
    return 0.0;
}

void element_no_gradient(const element *e, const element_step *step, element_output *out)
{
    (void)e, (void)step, (void)out;
}

static void add_to_body(const double *coefficients, hn_vec3 f, double *residual)
{
    if (residual == NULL) return;
    for (int k = 0; k < 4; ++k) {
        residual[3 * k + 0] += coefficients[k] * f.x;
        residual[3 * k + 1] += coefficients[k] * f.y;
        residual[3 * k + 2] += coefficients[k] * f.z;
    }
}

void element_add(const double *coefficients, hn_vec3 f, element_output *out)
{
    add_to_body(coefficients, f, out->residual_a);
    add_to_body(coefficients + 4, f, out->residual_b);
}

stiffness_term *element_next_term(element_output *out, const double *u, const double *v)
{
    stiffness_term *term = &out->terms[out->term_count++];
    for (int k = 0; k < 8; ++k) term->u[k] = u[k], term->v[k] = v[k];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) term->c[i][k] = 0.0;
    return term;
}

double element_angle(const element *e, const double *a, const double *b, double near)
{
    const double a1[8] = {0.0, e->a1.x, e->a1.y, e->a1.z}, a2[8] = {0.0, e->a2.x, e->a2.y, e->a2.z};
    if (e->rotation) return near; // a sum over steps
    if (e->displacement)
        return vec3_dot(vec3_combination(a1, a, b), vec3_combination(e->link, a, b));
    const double b1[8] = {0.0, 0.0, 0.0, 0.0, 0.0, e->b1.x, e->b1.y, e->b1.z};
    hn_vec3 x = vec3_combination(b1, a, b);
    double angle =
        atan2(vec3_dot(vec3_combination(a2, a, b), x), vec3_dot(vec3_combination(a1, a, b), x));
    return angle_near(angle, near);
}

// By more than a quarter of a turn: 1 + 2 cos(angle) is the sum of the products of the directors
static bool turned_far(const double *start, const double *end)
{
    double sum = 0.0;
    for (int k = 3; k < 12; ++k) sum += start[k] * end[k];
    return sum < 1.0;
}

double element_angle_after(const element *e, const element_step *step)
{
    if (e->rotation) return step->angle_start + rotation_change(e, step);
    double angle = element_angle(e, step->a, step->b, step->angle_start), margin;
    if (e->displacement) return angle;
    if (!turned_far(step->a_start, step->a) && !turned_far(step->b_start, step->b)) return angle;
    const hn_vec3 n = vec3_cross(e->a1, e->a2);
    const double axis[8] = {0.0, n.x, n.y, n.z};
    return step->angle_start + rotation_turn(vec3_combination(axis, step->a_start, step->b_start),
                                             rotation_between(step->a_start + 3, step->a + 3),
                                             angle - step->angle_start, &margin);
}
