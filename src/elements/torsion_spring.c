// SPDX-License-Identifier: MIT
// Torsional spring and damper on the angle theta of b about the axis of a joint, V = k/2 (theta - theta_0)^2.
//
// With c = a1 . b1 = cos theta and s = a2 . b1 = sin theta, both quadratic in q:
//
//   discrete gradient   (dV/dtheta) dtheta/(2 sin(dtheta/2)) ( -sin theta_mid grad c(q_mid) + cos theta_mid grad
//           s(q_mid) )
//   at a pose           V'(theta) ( -s grad c + c grad s )/(c^2 + s^2)
//
// The damper's torque is -d (theta_n+1 - theta_n)/h in the same forms.
#include "elements/element.h"

static double torsion_potential(const element *e, const double *a, const double *b, double angle)
{
    (void)a, (void)b;
    double turn = angle - e->rest;
    return 0.5 * e->stiffness * turn * turn;
}

typedef struct frame_vectors {
    double a1[8], a2[8], b1[8]; // coefficients
} frame_vectors;

static frame_vectors vectors_of(const element *e)
{
    return (frame_vectors){{0.0, e->a1.x, e->a1.y, e->a1.z},
                           {0.0, e->a2.x, e->a2.y, e->a2.z},
                           {0.0, 0.0, 0.0, 0.0, 0.0, e->b1.x, e->b1.y, e->b1.z}};
}

// x/(2 sin(x/2)) and its derivative; series below the switch, next terms 31 x^6/967680 and 31 x^5/161280
static const double TURN_SERIES = 0.02;
static void turn_quotient(double x, double *value, double *slope)
{
    if (fabs(x) < TURN_SERIES) {
        double x2 = x * x;
        *value = 1.0 + x2 / 24.0 * (1.0 + 7.0 * x2 / 240.0);
        *slope = x / 12.0 * (1.0 + 7.0 * x2 / 120.0);
        return;
    }
    double s = 2.0 * sin(0.5 * x);
    *value = x / s;
    *slope = (1.0 - *value * cos(0.5 * x)) / s;
}

static void set_scaled_identity(stiffness_term *term, double s)
{
    for (int i = 0; i < 3; ++i) term->c[i][i] = s;
}

static void set_outer(stiffness_term *term, hn_vec3 x, hn_vec3 y, double s)
{
    const double xs[3] = {x.x, x.y, x.z}, ys[3] = {y.x, y.y, y.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) term->c[i][k] = s * xs[i] * ys[k];
}

// Add kc grad c + ks grad s at vectors x1, x2 (of a) and y (of b): grad c is y on a1 and x1 on b1.
// `weight`: how much of the change at t_n+1 reaches x1, x2, y. (dc, ds): derivatives of kc, ks with respect to theta,
// whose own gradient is given by the vectors gx1, gx2 (on a1, a2) and gy (on b1).
typedef struct torsion_form {
    double kc, ks;
    double dc, ds;
    double weight;
    hn_vec3 x1, x2, y;
    hn_vec3 gx1, gx2, gy;
} torsion_form;

static void add_form(const element *e, const torsion_form *f, bool want_terms, element_output *out)
{
    frame_vectors v = vectors_of(e);
    hn_vec3 mixed = vec3_add_scaled(vec3_scale(f->kc, f->x1), f->ks, f->x2);
    element_add(v.a1, vec3_scale(f->kc, f->y), out);
    element_add(v.a2, vec3_scale(f->ks, f->y), out);
    element_add(v.b1, mixed, out);
    if (!want_terms) return;
    // through the vectors: symmetric pairs (a1, b1) and (a2, b1)
    if (f->weight != 0.0) {
        set_scaled_identity(element_next_term(out, v.a1, v.b1), f->weight * f->kc);
        set_scaled_identity(element_next_term(out, v.a2, v.b1), f->weight * f->ks);
        double combined[8];
        for (int k = 0; k < 8; ++k) combined[k] = f->kc * v.a1[k] + f->ks * v.a2[k];
        set_scaled_identity(element_next_term(out, v.b1, combined), f->weight);
    }
    if (f->dc == 0.0 && f->ds == 0.0) return;
    // through theta: delta theta = gx1 . delta a1 + gx2 . delta a2 + gy . delta b1. The gradient's vectors are
    // parallel: a1 and a2 receive multiples of y, and gx1, gx2 are multiples of one vector as well
    double onto_a[8];
    for (int k = 0; k < 8; ++k) onto_a[k] = f->dc * v.a1[k] + f->ds * v.a2[k];
    hn_vec3 onto_b = vec3_add_scaled(vec3_scale(f->dc, f->x1), f->ds, f->x2);
    set_outer(element_next_term(out, onto_a, v.a1), f->y, f->gx1, 1.0);
    set_outer(element_next_term(out, onto_a, v.a2), f->y, f->gx2, 1.0);
    set_outer(element_next_term(out, onto_a, v.b1), f->y, f->gy, 1.0);
    set_outer(element_next_term(out, v.b1, v.a1), onto_b, f->gx1, 1.0);
    set_outer(element_next_term(out, v.b1, v.a2), onto_b, f->gx2, 1.0);
    set_outer(element_next_term(out, v.b1, v.b1), onto_b, f->gy, 1.0);
}

// vectors of the pose (1 - weight) q_n + weight q_n+1
static void vectors_at(const element *e, const element_step *step, double weight, torsion_form *f)
{
    frame_vectors v = vectors_of(e);
    f->x1 = vec3_add_scaled(
        vec3_scale(1.0 - weight, element_vector(v.a1, step->a_start, step->b_start)), weight,
        element_vector(v.a1, step->a, step->b));
    f->x2 = vec3_add_scaled(
        vec3_scale(1.0 - weight, element_vector(v.a2, step->a_start, step->b_start)), weight,
        element_vector(v.a2, step->a, step->b));
    f->y = vec3_add_scaled(
        vec3_scale(1.0 - weight, element_vector(v.b1, step->a_start, step->b_start)), weight,
        element_vector(v.b1, step->a, step->b));
}

// gradient of theta at vectors x1, x2, y, times `scale`
static void theta_gradient(hn_vec3 x1, hn_vec3 x2, hn_vec3 y, double scale, torsion_form *f)
{
    double c = vec3_dot(x1, y), s = vec3_dot(x2, y), square = c * c + s * s;
    f->gx1 = vec3_scale(-scale * s / square, y);
    f->gx2 = vec3_scale(scale * c / square, y);
    f->gy = vec3_scale(scale / square, vec3_add_scaled(vec3_scale(c, x2), -s, x1));
}

// torque(theta_n+1) applied in the discrete-gradient form; `slope` = d torque/d theta_n+1
static void add_secant_torque(const element *e, const element_step *step, double angle,
                              double torque, double slope, element_output *out)
{
    torsion_form f = {.weight = 0.5};
    double middle = 0.5 * (angle + step->angle_start), quotient, quotient_slope;
    turn_quotient(angle - step->angle_start, &quotient, &quotient_slope);
    double size = step->factor * torque * quotient;
    double change = step->factor * (slope * quotient + torque * quotient_slope);
    f.kc = -size * sin(middle);
    f.ks = size * cos(middle);
    f.dc = -change * sin(middle) - 0.5 * size * cos(middle);
    f.ds = change * cos(middle) - 0.5 * size * sin(middle);
    vectors_at(e, step, 0.5, &f);
    torsion_form end = {0};
    vectors_at(e, step, 1.0, &end);
    theta_gradient(end.x1, end.x2, end.y, 1.0, &f);
    add_form(e, &f, step->want_terms, out);
}

// A torque about the axis at the pose (1 - w) q_n + w q_n+1: k_c = -torque s/(c^2+s^2), k_s = torque c/(c^2+s^2).
// `slope_here`: d torque/d theta at that pose; `slope_end`: d torque/d theta_n+1. All three carry the step's factor.
static void add_pose_torque(const element *e, const element_step *step, double w, double torque,
                            double slope_here, double slope_end, element_output *out)
{
    torsion_form f = {.weight = w};
    vectors_at(e, step, w, &f);
    double c = vec3_dot(f.x1, f.y), s = vec3_dot(f.x2, f.y), square = c * c + s * s;
    f.kc = -torque * s / square;
    f.ks = torque * c / square;
    if (slope_end != 0.0) {
        f.dc = -slope_end * s / square;
        f.ds = slope_end * c / square;
        torsion_form end = {0};
        vectors_at(e, step, 1.0, &end);
        theta_gradient(end.x1, end.x2, end.y, 1.0, &f);
    }
    add_form(e, &f, step->want_terms, out);
    if (!step->want_terms || w == 0.0) return;

    // derivatives of k_c and k_s through c and s:
    // d k_c = -slope s/square dtheta - torque d(s/square);  d(s/square) = ((c^2 - s^2) ds - 2 c s dc)/square^2
    // d k_s =  slope c/square dtheta + torque d(c/square);  d(c/square) = ((s^2 - c^2) dc - 2 c s ds)/square^2
    // and dtheta = (c ds - s dc)/square
    double fourth = square * square;
    double kc_dc = slope_here * s * s / fourth + torque * 2.0 * c * s / fourth;
    double kc_ds = -slope_here * s * c / fourth - torque * (c * c - s * s) / fourth;
    double ks_dc = -slope_here * c * s / fourth + torque * (s * s - c * c) / fourth;
    double ks_ds = slope_here * c * c / fourth - torque * 2.0 * c * s / fourth;
    // delta c = w (y . delta a1 + x1 . delta b1), delta s = w (y . delta a2 + x2 . delta b1)
    frame_vectors v = vectors_of(e);
    double from_c[8], from_s[8];
    for (int i = 0; i < 8; ++i) {
        from_c[i] = kc_dc * v.a1[i] + ks_dc * v.a2[i];
        from_s[i] = kc_ds * v.a1[i] + ks_ds * v.a2[i];
    }
    // rows on a (they receive multiples of y): columns a1 (by c), a2 (by s), b1 (by both)
    set_outer(element_next_term(out, from_c, v.a1), f.y, f.y, w);
    set_outer(element_next_term(out, from_s, v.a2), f.y, f.y, w);
    set_outer(element_next_term(out, from_c, v.b1), f.y, f.x1, w);
    set_outer(element_next_term(out, from_s, v.b1), f.y, f.x2, w);
    // rows on b1
    hn_vec3 b_from_c = vec3_add_scaled(vec3_scale(kc_dc, f.x1), ks_dc, f.x2);
    hn_vec3 b_from_s = vec3_add_scaled(vec3_scale(kc_ds, f.x1), ks_ds, f.x2);
    set_outer(element_next_term(out, v.b1, v.a1), b_from_c, f.y, w);
    set_outer(element_next_term(out, v.b1, v.a2), b_from_s, f.y, w);
    set_outer(element_next_term(out, v.b1, v.b1), b_from_c, f.x1, w);
    set_outer(element_next_term(out, v.b1, v.b1), b_from_s, f.x2, w);
}

static void torsion_gradient(const element *e, const element_step *step, element_output *out)
{
    if (e->stiffness == 0.0) return;
    if (step->discrete_gradient) {
        double angle = element_angle_after(e, step);
        double torque = e->stiffness * (0.5 * (angle + step->angle_start) - e->rest);
        if (step->decay > 0.0) // (Z1)
            torque += 0.5 * step->decay * e->stiffness *
                      (angle - step->angle_start - step->change_before[0]);
        add_secant_torque(e, step, angle, torque, 0.5 * (1.0 + step->decay) * e->stiffness, out);
        return;
    }
    // V'(theta) grad theta at one pose, theta = atan2(s, c) continued from the angle at t_n
    torsion_form here = {0};
    vectors_at(e, step, step->gradient_weight, &here);
    double end = element_angle_after(e, step);
    double angle =
        angle_near(atan2(vec3_dot(here.x2, here.y), vec3_dot(here.x1, here.y)),
                   step->angle_start + step->gradient_weight * (end - step->angle_start));
    double slope = step->factor * e->stiffness;
    add_pose_torque(e, step, step->gradient_weight, slope * (angle - e->rest), slope, 0.0, out);
}

static void torsion_load(const element *e, const element_step *step, element_output *out)
{
    if (e->damping == 0.0) return;
    double angle = element_angle_after(e, step);
    double rate = (1.0 + step->damper_excess) * element_damping(e, step) / step->step_size;
    double torque = rate * (angle - step->angle_start);
    if (step->discrete_gradient) {
        add_secant_torque(e, step, angle, torque, rate, out);
        return;
    }
    // torque about the axis at the pose where loads act, or in the middle, where its rate belongs
    double weight = step->damper_middle ? 0.5 : step->weight;
    add_pose_torque(e, step, weight, step->factor * torque, 0.0, step->factor * rate, out);
}

static int torsion_strain_changes(const element *e, const element_step *step, double *changes)
{
    if (e->stiffness == 0.0) return 0;
    changes[0] = element_angle_after(e, step) - step->angle_start;
    return 1;
}

static double torsion_strain_product(const element *e, const double *x, const double *y)
{
    return e->stiffness * x[0] * y[0];
}

// Angular velocity of b about the axis less that of a: along director i it is w ddot_j . d_k - (1 - w) ddot_k . d_j,
// whatever w; with the part of j in the inertia, momenta along the row turn the body and do nothing else
static int torsion_rates(const element *e, bool by_place, const double *a, const double *b,
                         double rows[][ELEMENT_COLUMNS])
{
    if (e->stiffness == 0.0) return 0;
    const hn_vec3 a_axis = vec3_cross(e->a1, e->a2);
    const double axes[2][3] = {{-a_axis.x, -a_axis.y, -a_axis.z},
                               {e->b_axis.x, e->b_axis.y, e->b_axis.z}};
    for (int c = 0; c < ELEMENT_COLUMNS; ++c) rows[0][c] = 0.0;
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3; ++i) {
            const double *pose = side == 0 ? a : b;
            double first = e->turning[side][i] * axes[side][i], second = axes[side][i] - first;
            double *to = rows[0] + 12 * side;
            int j = 1 + (i + 1) % 3, k = 1 + (i + 2) % 3;
            for (int c = 0; c < 3; ++c) {
                to[3 * j + c] += by_place ? -second * pose[3 * k + c] : first * pose[3 * k + c];
                to[3 * k + c] += by_place ? first * pose[3 * j + c] : -second * pose[3 * j + c];
            }
        }
    return 1;
}

const element_type element_torsion_spring = {
    .name = "torsion spring",
    .potential = torsion_potential,
    .gradient = torsion_gradient,
    .load = torsion_load,
    .strain_changes = torsion_strain_changes,
    .strain_product = torsion_strain_product,
    .rates = torsion_rates,
};
