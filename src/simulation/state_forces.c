// SPDX-License-Identifier: MIT
// Forces at a state and their derivatives.
#include "simulation/state_forces.h"

#include "system/mass.h"

#include <string.h>

static const double SWAY =
    1e-5; // of a body, rad or m over its size: the way by which dampers see rates
static const double REACH = 1e-3; // likewise: differences of dampers' forces by poses
static const double WHOLE =
    0.25; // likewise, of beams: their strains are quadratic in poses, and differences exact at any way

// ---- elements -----------------------------------------------------------------------------------------------

typedef struct element_poses {
    double before[3][POSE_SIZE], after[3][POSE_SIZE];
} element_poses;

// q -+ h v/2, as in scheme_add_forces: their middle is q, and the rate of a damper between them its rate
static element_step view_of(const hn_simulation *s, int index, const double *q, const double *v,
                            double h, element_poses *p)
{
    const element *e = &s->system->elements[index];
    const int body[3] = {e->a, e->b, e->points == NULL ? GROUND : e->third};
    for (int side = 0; side < 3; ++side) {
        const double *pose = system_pose(q, body[side]);
        for (int k = 0; k < POSE_SIZE; ++k) {
            double half =
                body[side] < 0 || v == NULL ? 0.0 : 0.5 * h * v[POSE_SIZE * body[side] + k];
            p->before[side][k] = pose[k] - half;
            p->after[side][k] = pose[k] + half;
        }
    }
    double time = hn_simulation_time(s);
    return (element_step){
        .a_start = p->before[0],
        .b_start = p->before[1],
        .a = p->after[0],
        .b = p->after[1],
        .third_start = p->before[2],
        .third = p->after[2],
        .angle_start =
            e->angle >= 0 ? element_angle(e, p->before[0], p->before[1], s->angles[e->angle]) : 0.0,
        .step_size = h,
        .load_begin = time,
        .load_end = time,
        .gradient_weight = 0.5,
        .weight = 0.5,
        .factor = -1.0,
    };
}

static element_output output_to(const element *e, double *to)
{
    return (element_output){
        .residual_a = e->a < 0 ? NULL : to + POSE_SIZE * (size_t)e->a,
        .residual_b = e->b < 0 ? NULL : to + POSE_SIZE * (size_t)e->b,
    };
}

// h so that no body of the model moves by more than `way`: rates are differences over it
static double short_time(const hn_simulation *s, const double *v, double way)
{
    double fastest = 0.0;
    for (int i = 0; i < s->system->body_count; ++i)
        for (int k = 0; k < POSE_SIZE; ++k)
            fastest =
                fmax(fastest, fabs(v[POSE_SIZE * i + k]) / (k < 3 ? s->system->sizes[i] : 1.0));
    return fastest > 0.0 ? way / fastest : s->def.step_size;
}

static bool is_damper(const element *e)
{
    return e->damping != 0.0 && e->law == NULL;
}

static bool is_beam(const element *e)
{
    return e->beam != NULL || e->points != NULL;
}

static bool has_dampers(const hn_simulation *s, bool of_beams)
{
    for (int i = 0; i < s->system->element_count; ++i)
        if (is_damper(&s->system->elements[i]) && is_beam(&s->system->elements[i]) == of_beams)
            return true;
    return false;
}

// to += factor times the forces of dampers, those of beams or the others
static void add_dampers(const hn_simulation *s, bool of_beams, const double *q, const double *v,
                        double factor, double *to)
{
    double h = short_time(s, v, of_beams ? WHOLE : SWAY);
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        element_poses poses;
        if (!is_damper(e) || is_beam(e) != of_beams) continue;
        element_step view = view_of(s, i, q, v, h, &poses);
        element_output out = output_to(e, to);
        view.factor = -factor;
        element_type_of(e->kind)->load(e, &view, &out);
    }
}

void state_forces(const hn_simulation *s, const double *q, const double *v, double *to)
{
    mass_add_weights(s->system, 1.0, to);
    for (int i = 0; i < s->system->element_count; ++i) {
        const element *e = &s->system->elements[i];
        element_poses poses;
        if (e->law != NULL) continue;
        element_step view = view_of(s, i, q, NULL, s->def.step_size, &poses);
        element_output out = output_to(e, to);
        element_type_of(e->kind)->gradient(e, &view, &out);
        if (!is_damper(e)) element_type_of(e->kind)->load(e, &view, &out);
    }
    for (int beams = 0; v != NULL && beams < 2; ++beams)
        if (has_dampers(s, beams)) add_dampers(s, beams, q, v, 1.0, to);
}

// ---- their changes --------------------------------------------------------------------------------------------

static hn_vec3 vector_at(const element *e, const double *coefficients, const double *x)
{
    hn_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < 8; ++k) {
        int body = k < 4 ? e->a : e->b;
        if (body >= 0)
            sum = vec3_add_scaled(sum, coefficients[k],
                                  vec3_load(x + POSE_SIZE * (size_t)body + 3 * (size_t)(k % 4)));
    }
    return sum;
}

static void add_block(const element *e, const element_block *block, const double *dq, double *to)
{
    const int body[2] = {e->a, e->b};
    for (int r = 0; r < 24; ++r)
        for (int c = 0; c < 24; ++c)
            if (body[r / POSE_SIZE] >= 0 && body[c / POSE_SIZE] >= 0)
                to[POSE_SIZE * body[r / POSE_SIZE] + r % POSE_SIZE] +=
                    block->k[r][c] * dq[POSE_SIZE * body[c / POSE_SIZE] + c % POSE_SIZE];
}

// At rest, by the tangent of the element
static void add_stiffness(const hn_simulation *s, int index, const double *dq, double *to)
{
    const element *e = &s->system->elements[index];
    const element_type *type = element_type_of(e->kind);
    double ignored[2][POSE_SIZE] = {{0.0}};
    element_poses poses;
    stiffness_term terms[ELEMENT_TERMS_MAX];
    element_block block = {{{0.0}}};
    element_step view = view_of(s, index, s->state.q, NULL, s->def.step_size, &poses);
    view.gradient_weight = view.weight = 1.0;
    view.want_terms = true;
    element_output out = {.residual_a = ignored[0],
                          .residual_b = ignored[1],
                          .terms = terms,
                          .block = type->dense ? &block : NULL};
    type->gradient(e, &view, &out);
    if (!is_damper(e)) type->load(e, &view, &out);
    if (type->dense) {
        add_block(e, &block, dq, to);
        return;
    }
    element_output sum = output_to(e, to);
    for (int t = 0; t < out.term_count; ++t) {
        hn_vec3 x = vector_at(e, terms[t].v, dq), y = {0.0, 0.0, 0.0};
        const double xs[3] = {x.x, x.y, x.z};
        double ys[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) ys[i] += terms[t].c[i][k] * xs[k];
        y = vec3_load(ys);
        element_add(terms[t].u, y, &sum);
    }
}

// Forces of dampers are linear in v: those of dv, and differences by dq
static void add_damper_change(const hn_simulation *s, bool of_beams, const double *v,
                              const double *dq, const double *dv, double *to)
{
    static const double STEPS[4] = {-2.0, -1.0, 1.0, 2.0},
                        PARTS[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
    size_t size = POSE_SIZE * (size_t)s->system->body_count;
    add_dampers(s, of_beams, s->state.q, dv, 1.0, to);
    double step = short_time(s, dq, of_beams ? WHOLE : REACH);
    double *q = s->observed.scratch;
    for (int i = 0; i < 4; ++i) {
        for (size_t k = 0; k < size; ++k) q[k] = s->state.q[k] + STEPS[i] * step * dq[k];
        add_dampers(s, of_beams, q, v, PARTS[i] / step, to);
    }
}

void state_force_change(const hn_simulation *s, const double *v, const double *dq, const double *dv,
                        double *to)
{
    for (int i = 0; i < s->system->element_count; ++i)
        if (s->system->elements[i].law == NULL) add_stiffness(s, i, dq, to);
    for (int beams = 0; beams < 2; ++beams)
        if (has_dampers(s, beams)) add_damper_change(s, beams, v, dq, dv, to);
}

// ---- laws of drives ---------------------------------------------------------------------------------------------

// A law of the user knows steps alone: its effort over one of length h about the instant, at x with a rate
static double mean_effort(const hn_simulation *s, const element *e, double x, double rate, double h)
{
    double time = hn_simulation_time(s), slope = (double)NAN;
    hn_law_step seen = {x - 0.5 * h * rate, x + 0.5 * h * rate, time - 0.5 * h, time + 0.5 * h};
    return e->law->law(&seen, &slope, e->law->law_user);
}

// for h to 0: without the parts in h and h^2
static double user_effort(const hn_simulation *s, const element *e, double x, double rate, double h)
{
    return (8.0 * mean_effort(s, e, x, rate, h) - 6.0 * mean_effort(s, e, x, rate, 2.0 * h) +
            mean_effort(s, e, x, rate, 4.0 * h)) /
           3.0;
}

// Its derivatives by differences
static drive_instant user_slopes(const hn_simulation *s, const element *e, double x, double rate)
{
    const double WAY = 1e-3, REACH_X = 1e-5; // rad, or m over the size of the joint
    const double REACH_V = 1e-6;             // likewise, in a step
    double unit = e->law->unit, h = s->def.step_size, dx = REACH_X * fmax(unit, fabs(x)),
           dv = fmax(REACH_V * unit / h, 1e-3 * fabs(rate));
    if (fabs(rate) * h > WAY * unit) h = WAY * unit / fabs(rate);
    return (drive_instant){
        .effort = user_effort(s, e, x, rate, h),
        .by_coordinate =
            (user_effort(s, e, x + dx, rate, h) - user_effort(s, e, x - dx, rate, h)) / (2.0 * dx),
        .by_rate =
            (user_effort(s, e, x, rate + dv, h) - user_effort(s, e, x, rate - dv, h)) / (2.0 * dv),
    };
}

law_slopes friction_slopes(const drive_law *law, int way, double normal, double rate)
{
    double slope, size = drive_friction(law, normal, rate, &slope);
    return (law_slopes){.effort = -way * size, .by_rate = -way * slope};
}

law_slopes drive_slopes(const hn_simulation *s, int drive, double x, double rate)
{
    const element *e = &s->system->elements[s->system->drive_first + drive];
    double time = hn_simulation_time(s);
    element_step now = {.load_begin = time, .load_end = time, .memory = s->angles + e->angle};
    drive_instant v =
        e->law->law != NULL ? user_slopes(s, e, x, rate) : drive_at_instant(e, &now, x, rate);
    bool limited = e->law->kind == HN_DRIVE_SERVO && fabs(v.effort) >= e->law->limit;
    return (law_slopes){.effort = v.effort,
                        .stored = v.stored,
                        .by_coordinate = v.by_coordinate,
                        .by_rate = v.by_rate,
                        .by_integral = v.by_integral,
                        .by_command = limited ? 0.0 : drive_command_gain(e->law)};
}
