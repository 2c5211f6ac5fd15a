// SPDX-License-Identifier: MIT
// A generalised effort along one coordinate of a joint: an angle theta of b about an axis of a, or a displacement s.
// Notes: docs/theory/drives.md, docs/theory/forces.md
//
// With c = a1 . b1 = cos theta and s = a2 . b1 = sin theta, both quadratic in q (F4):
//
//   discrete form   tau dtheta/(2 sin(dtheta/2)) ( -sin theta_mid grad c(q_mid) + cos theta_mid grad s(q_mid) )
//   at a pose       tau ( -s grad c + c grad s )/(c^2 + s^2)
//
// A displacement x = u . w, u an axis of a and w = p_b - p_a, is quadratic itself (D9):
//
//   either form     tau ( u on w, w on u )     at q_mid, or at the pose
//
// so that the product with q_n+1 - q_n is tau times the change of the coordinate, exactly.
#include "elements/joint_effort.h"

#include "elements/rotation_effort.h"

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
        vec3_scale(1.0 - weight, vec3_combination(v.a1, step->a_start, step->b_start)), weight,
        vec3_combination(v.a1, step->a, step->b));
    f->x2 = vec3_add_scaled(
        vec3_scale(1.0 - weight, vec3_combination(v.a2, step->a_start, step->b_start)), weight,
        vec3_combination(v.a2, step->a, step->b));
    f->y = vec3_add_scaled(
        vec3_scale(1.0 - weight, vec3_combination(v.b1, step->a_start, step->b_start)), weight,
        vec3_combination(v.b1, step->a, step->b));
}

// gradient of theta at vectors x1, x2, y
static void theta_gradient(hn_vec3 x1, hn_vec3 x2, hn_vec3 y, torsion_form *f)
{
    double c = vec3_dot(x1, y), s = vec3_dot(x2, y), square = c * c + s * s;
    f->gx1 = vec3_scale(-s / square, y);
    f->gx2 = vec3_scale(c / square, y);
    f->gy = vec3_scale(1.0 / square, vec3_add_scaled(vec3_scale(c, x2), -s, x1));
}

// torque(theta_n+1) in the discrete-gradient form; `slope` = d torque/d theta_n+1
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
    theta_gradient(end.x1, end.x2, end.y, &f);
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
        theta_gradient(end.x1, end.x2, end.y, &f);
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

// ---- displacements --------------------------------------------------------------------------------------

static hn_vec3 between(const double *c, const element_step *step, double w)
{
    return vec3_add_scaled(vec3_scale(1.0 - w, vec3_combination(c, step->a_start, step->b_start)),
                           w, vec3_combination(c, step->a, step->b));
}

void product_effort(const double *u, const double *w, const element_step *step, double weight,
                    double effort, double slope_here, double slope_end, element_output *out)
{
    hn_vec3 x = between(u, step, weight), y = between(w, step, weight);
    double k = step->factor * effort;
    element_add(w, vec3_scale(k, x), out);
    element_add(u, vec3_scale(k, y), out);
    if (!step->want_terms) return;
    if (weight != 0.0) {
        set_scaled_identity(element_next_term(out, w, u), weight * k);
        set_scaled_identity(element_next_term(out, u, w), weight * k);
    }
    if (slope_here == 0.0 && slope_end == 0.0) return;
    hn_vec3 by_w = vec3_add_scaled(vec3_scale(weight * slope_here, x), slope_end,
                                   vec3_combination(u, step->a, step->b));
    hn_vec3 by_u = vec3_add_scaled(vec3_scale(weight * slope_here, y), slope_end,
                                   vec3_combination(w, step->a, step->b));
    set_outer(element_next_term(out, w, w), x, by_w, step->factor);
    set_outer(element_next_term(out, w, u), x, by_u, step->factor);
    set_outer(element_next_term(out, u, w), y, by_w, step->factor);
    set_outer(element_next_term(out, u, u), y, by_u, step->factor);
}

// Along the displacement of a joint
static void add_force(const element *e, const element_step *step, double weight, double effort,
                      double slope_here, double slope_end, element_output *out)
{
    double axis[8] = {0.0, e->a1.x, e->a1.y, e->a1.z};
    product_effort(axis, e->link, step, weight, effort, slope_here, slope_end, out);
}

// ---- both -------------------------------------------------------------------------------------------------

void joint_effort_secant(const element *e, const element_step *step, double coordinate,
                         double effort, double slope, element_output *out)
{
    if (e->rotation) rotation_effort(e, step, 0.5, effort, out);
    else if (e->displacement) add_force(e, step, 0.5, effort, 0.0, slope, out);
    else add_secant_torque(e, step, coordinate, effort, slope, out);
}

void joint_effort_at(const element *e, const element_step *step, double weight, double effort,
                     double slope_here, double slope_end, element_output *out)
{
    if (e->rotation) rotation_effort(e, step, weight, effort, out);
    else if (e->displacement) add_force(e, step, weight, effort, slope_here, slope_end, out);
    else
        add_pose_torque(e, step, weight, step->factor * effort, step->factor * slope_here,
                        step->factor * slope_end, out);
}

double joint_coordinate_at(const element *e, const element_step *step, double weight)
{
    if (e->displacement) {
        double axis[8] = {0.0, e->a1.x, e->a1.y, e->a1.z};
        return vec3_dot(between(axis, step, weight), between(e->link, step, weight));
    }
    torsion_form here = {0};
    vectors_at(e, step, weight, &here);
    double end = element_angle_after(e, step);
    return angle_near(atan2(vec3_dot(here.x2, here.y), vec3_dot(here.x1, here.y)),
                      step->angle_start + weight * (end - step->angle_start));
}

bool joint_coordinate_rate_row(const element *e, const double *a, const double *b, double *row)
{
    frame_vectors v = vectors_of(e);
    if (e->rotation) {
        rotation_rate_row(e, a, b, row);
        return true;
    }
    if (e->displacement) {
        element_add_to_row(e->link, vec3_combination(v.a1, a, b), row);
        element_add_to_row(v.a1, vec3_combination(e->link, a, b), row);
        return true;
    }
    // theta = atan2(a2 . b1, a1 . b1) and its gradient on a1, a2, b1
    hn_vec3 x1 = vec3_combination(v.a1, a, b), x2 = vec3_combination(v.a2, a, b),
            y = vec3_combination(v.b1, a, b);
    double c = vec3_dot(x1, y), s = vec3_dot(x2, y);
    if (!(c * c + s * s > 0.0)) return false;
    torsion_form f = {0};
    theta_gradient(x1, x2, y, &f);
    element_add_to_row(v.a1, f.gx1, row);
    element_add_to_row(v.a2, f.gx2, row);
    element_add_to_row(v.b1, f.gy, row);
    return true;
}
