// SPDX-License-Identifier: MIT
// Every law on a joint's coordinate against the formulas of docs/theory/drives.md in complex numbers: residuals, and
// tangents by complex steps. That laws do not see a rigid motion, and that friction and stops give no energy.
#include "unit/element_states.h"

#include "support/check.h"

#include <complex.h>

// ---- laws -------------------------------------------------------------------------------------------------

typedef enum law_case {
    LAW_EFFORT,
    LAW_SERVO,
    LAW_SERVO_AT_LIMIT,
    LAW_MOTOR,
    LAW_SPRING,
    LAW_TABLES,
    LAW_ROTOR,
    LAW_MOTION,
    LAW_LATCH,
    LAW_BUFFER,
    LAW_SOFT_BUFFER,
    LAW_RIGID_STOP,
    LAW_SLIDES_FORTH,
    LAW_SLIDES_BACK,
    LAW_TURNS,
    LAW_STICKS,
    LAW_RESTS,
    LAW_OF_USER,
    LAW_SPLINE,
    LAW_COUNT,
} law_case;

static const double PLACES[4] = {-9.0, 0.1, 0.9, 9.0}, EFFORTS[4] = {-7.0, 0.3, 2.0, 40.0};
static const double RATES[3] = {-900.0, 0.0, 900.0}, RESISTANCE[3] = {-400.0, 0.0, 700.0};
static const hn_profile SPRING_TABLE = {
    .kind = HN_PROFILE_TABLE, .times = PLACES, .factors = EFFORTS, .count = 4};
// its slopes are those of (0.1, 0.3) and (0.9, 2), with level ends and a continuous second derivative
static double spline_slopes[4];
static const struct hn_profile_inner SPLINE_INNER = {.slopes = spline_slopes};
static const hn_profile SPRING_SPLINE = {.kind = HN_PROFILE_SPLINE,
                                         .times = PLACES,
                                         .factors = EFFORTS,
                                         .count = 4,
                                         .inner = &SPLINE_INNER};
static const hn_profile DAMPER_TABLE = {
    .kind = HN_PROFILE_TABLE, .times = RATES, .factors = RESISTANCE, .count = 3};
static const double COMMAND_TIMES[2] = {-1.0, 1.0}, COMMANDS[2] = {-0.4, 1.6};
static const hn_profile COMMAND = {
    .kind = HN_PROFILE_TABLE, .times = COMMAND_TIMES, .factors = COMMANDS, .count = 2};

static double user_law(const hn_law_step *step, double *slope, void *user)
{
    (void)user;
    *slope = 1.5 * step->to * step->to + step->from;
    return 0.5 * step->to * step->to * step->to + step->from * step->to;
}

static void spline_bends(double *bend);

// Slopes at the inner points from second derivatives
static void fill_spline(void)
{
    double bend[4];
    spline_bends(bend);
    for (int k = 1; k < 3; ++k) {
        double h = PLACES[k + 1] - PLACES[k];
        spline_slopes[k] =
            (EFFORTS[k + 1] - EFFORTS[k]) / h - h * (2.0 * bend[k] + bend[k + 1]) / 6.0;
    }
}

static drive_law make_law(law_case which, number_source *numbers)
{
    static const hn_drive_kind kinds[LAW_COUNT] = {
        HN_DRIVE_EFFORT,   HN_DRIVE_SERVO,    HN_DRIVE_SERVO,    HN_DRIVE_MOTOR,
        HN_DRIVE_SPRING,   HN_DRIVE_SPRING,   HN_DRIVE_EFFORT,   HN_DRIVE_MOTION,
        HN_DRIVE_LATCH,    HN_DRIVE_STOP,     HN_DRIVE_STOP,     HN_DRIVE_STOP,
        HN_DRIVE_FRICTION, HN_DRIVE_FRICTION, HN_DRIVE_FRICTION, HN_DRIVE_FRICTION,
        HN_DRIVE_FRICTION, HN_DRIVE_EFFORT,   HN_DRIVE_SPRING};
    double x[6];
    for (int k = 0; k < 6; ++k) x[k] = 1.0 + 0.9 * next_number(numbers); // 0.1 to 1.9
    bool buffer = which == LAW_BUFFER || which == LAW_SOFT_BUFFER;
    if (which == LAW_SPLINE) fill_spline();
    return (drive_law){.kind = kinds[which],
                       .sign = next_number(numbers) > 0.0 ? 1.0 : -1.0,
                       .function = &COMMAND,
                       .scale = 1.3,
                       .held = (double)NAN,
                       .proportional = 12.0 * x[0],
                       .derivative = 0.8 * x[1],
                       .integral = 5.0 * x[2],
                       .limit = which == LAW_SERVO_AT_LIMIT ? 1e-3 : 1e9,
                       .stall = 4.0 * x[0],
                       .no_load = 7.0 * x[1],
                       .spring = which == LAW_TABLES   ? &SPRING_TABLE
                                 : which == LAW_SPLINE ? &SPRING_SPLINE
                                                       : NULL,
                       .damper = which == LAW_TABLES ? &DAMPER_TABLE : NULL,
                       .lower = -0.5 * x[0],
                       .upper = 0.4 * x[1],
                       .contact = buffer ? 30.0 * x[2] : 0.0,
                       .contact_damping = which == LAW_SOFT_BUFFER ? 50.0 * x[3] : 0.02 * x[3],
                       .rigid = which == LAW_RIGID_STOP,
                       .friction = 2.0 * x[0],
                       .by_reaction = 0.3 * x[1],
                       .static_ratio = which == LAW_SLIDES_BACK ? 1.0 : 1.0 + x[2],
                       .stribeck = 9.0 * x[3],
                       .latch = 0.2,
                       .armature = which == LAW_ROTOR ? 0.4 * x[4] : 0.0,
                       .law = which == LAW_OF_USER ? user_law : NULL};
}

static element make_drive(law_case which, const drive_law *law, bool displacement,
                          number_source *numbers)
{
    element e = make_element(ELEMENT_DRIVE, numbers);
    e.law = law;
    e.angle = 0;
    e.displacement = displacement;
    if (which != LAW_SPRING && which != LAW_TABLES && which != LAW_SPLINE)
        e.stiffness = e.damping = 0.0;
    return e;
}

static void make_slots(law_case which, number_source *numbers, double *slots)
{
    memset(slots, 0, DRIVE_SLOTS * sizeof(double));
    slots[DRIVE_INTEGRAL] = next_number(numbers);
    slots[DRIVE_ROTOR] = 9.0 * next_number(numbers);
    slots[DRIVE_HOLD] = 3.0 * next_number(numbers);
    slots[DRIVE_NORMAL] = 5.0 + 4.0 * next_number(numbers);
    static const friction_mode modes[LAW_COUNT] = {
        [LAW_SLIDES_FORTH] = FRICTION_FORTH, [LAW_SLIDES_BACK] = FRICTION_BACK,
        [LAW_TURNS] = FRICTION_TURN,         [LAW_STICKS] = FRICTION_STICK,
        [LAW_RESTS] = FRICTION_REST,
    };
    slots[DRIVE_MODE] = (double)modes[which];
}

static element_step drive_view(const element *e, element_states *s, const double *slots,
                               bool discrete, double weight)
{
    if (e->displacement) s->angle_start = element_angle(e, s->start, s->start + POSE, 0.0);
    element_step view = view_of(s, discrete, weight);
    view.memory = slots;
    view.load_begin = 0.05;
    view.load_end = 0.15;
    return view;
}

// ---- the same in complex numbers ----------------------------------------------------------------------------

// A law at x_n and x_n+1: what acts as a load, and what stores energy.
typedef struct complex_law {
    double complex load, stored;
} complex_law;

static double complex positive(double complex x)
{
    return creal(x) > 0.0 ? x : 0.0;
}

// Second derivatives M_k of the cubic spline, the other way round than by slopes: level ends say
// 2 M_0 + M_1 = 6 (y_1 - y_0)/h^2 at one end and likewise at the other; inside
// h_k-1 M_k-1 + 2 (h_k-1 + h_k) M_k + h_k M_k+1 = 6 ((y_k+1 - y_k)/h_k - (y_k - y_k-1)/h_k-1). Four points: by Gauss.
static void spline_bends(double *bend)
{
    const double *x = PLACES, *y = EFFORTS;
    double a[4][5] = {{0.0}}, h[3], chord[3];
    for (int k = 0; k < 3; ++k) h[k] = x[k + 1] - x[k], chord[k] = (y[k + 1] - y[k]) / h[k];
    a[0][0] = 2.0 * h[0], a[0][1] = h[0], a[0][4] = 6.0 * chord[0];
    a[3][2] = h[2], a[3][3] = 2.0 * h[2], a[3][4] = -6.0 * chord[2];
    for (int k = 1; k < 3; ++k) {
        a[k][k - 1] = h[k - 1], a[k][k] = 2.0 * (h[k - 1] + h[k]), a[k][k + 1] = h[k];
        a[k][4] = 6.0 * (chord[k] - chord[k - 1]);
    }
    for (int c = 0; c < 4; ++c)
        for (int r = 0; r < 4; ++r) {
            double factor = r == c ? 0.0 : a[r][c] / a[c][c];
            for (int k = 0; k < 5; ++k) a[r][k] -= factor * a[c][k];
        }
    for (int k = 0; k < 4; ++k) bend[k] = a[k][4] / a[k][k];
}

// Of the piece k of the spline at x: its value, or its integral from the piece's begin on
static double complex spline_piece(int k, double complex x, bool integral)
{
    double bend[4], h = PLACES[k + 1] - PLACES[k];
    spline_bends(bend);
    double complex t = x - PLACES[k];
    double slope = (EFFORTS[k + 1] - EFFORTS[k]) / h - h * (2.0 * bend[k] + bend[k + 1]) / 6.0;
    double c[4] = {EFFORTS[k], slope, 0.5 * bend[k], (bend[k + 1] - bend[k]) / (6.0 * h)};
    double complex sum = 0.0;
    for (int n = 3; n >= 0; --n) sum = sum * t + (integral ? c[n] / (n + 1) : c[n]);
    return integral ? sum * t : sum;
}

static double complex table_at(const hn_profile *f, double complex x)
{
    int k = 0;
    while (k + 2 < f->count && creal(x) > f->times[k + 1]) ++k;
    if (f->kind == HN_PROFILE_SPLINE) return spline_piece(k, x, false);
    double slope = (f->factors[k + 1] - f->factors[k]) / (f->times[k + 1] - f->times[k]);
    return f->factors[k] + slope * (x - f->times[k]);
}

// Integral of a table from its first entry on
static double complex table_integral(const hn_profile *f, double complex x)
{
    double complex sum = 0.0;
    for (int k = 0; k + 1 < f->count; ++k) {
        bool last = k + 2 == f->count || creal(x) <= f->times[k + 1];
        double complex end = last ? x : f->times[k + 1];
        sum += f->kind == HN_PROFILE_SPLINE
                   ? spline_piece(k, end, true)
                   : 0.5 * (f->factors[k] + table_at(f, end)) * (end - f->times[k]);
        if (last) break;
    }
    return sum;
}

// (D8): the mean of the force of one buffer over the way, and what its damping takes
static complex_law complex_buffer(const drive_law *law, double complex from, double complex to,
                                  double begin, double h)
{
    double complex p = positive(from - begin), q = positive(to - begin);
    double complex held = 0.5 * law->contact * (q * q - p * p) / (to - from),
                   taken = law->contact_damping * (q - p) / h;
    if (creal(taken) < -creal(held)) taken = -held;
    return (complex_law){-taken, held};
}

static double complex complex_friction(const drive_law *law, const double *slots,
                                       double complex rate)
{
    double complex x = rate / law->stribeck;
    return (law->friction + law->by_reaction * slots[DRIVE_NORMAL]) *
           (1.0 + (law->static_ratio - 1.0) * cexp(-x * x));
}

static complex_law law_between(const element *e, const element_step *view, double complex from,
                               double complex to)
{
    const drive_law *law = e->law;
    const double *slots = view->memory;
    double h = view->step_size, middle = 0.5 * (view->load_begin + view->load_end),
           command = law->scale * creal(table_at(&COMMAND, middle)),
           command_rate = law->scale * (COMMANDS[1] - COMMANDS[0]) / 2.0;
    double complex way = to - from, rate = way / h;
    complex_law v = {0.0, e->stiffness * (0.5 * (from + to) - e->rest)};
    if (law->spring != NULL)
        v.stored += (table_integral(law->spring, to) - table_integral(law->spring, from)) / way;
    v.load -= e->damping * rate;
    if (law->damper != NULL) v.load -= table_at(law->damper, rate);
    v.stored += law->armature * (2.0 * rate - 2.0 * slots[DRIVE_ROTOR]) / h;
    if (law->law != NULL) {
        v.load = 0.5 * to * to * to + from * to;
    } else if (law->kind == HN_DRIVE_EFFORT) {
        v.load = command;
    } else if (law->kind == HN_DRIVE_SERVO) {
        double complex error = command - 0.5 * (from + to);
        v.load = law->proportional * error + law->derivative * (command_rate - rate) +
                 law->integral * (slots[DRIVE_INTEGRAL] + 0.5 * h * error);
        if (fabs(creal(v.load)) > law->limit) v.load = copysign(law->limit, creal(v.load));
    } else if (law->kind == HN_DRIVE_MOTOR) {
        v.load = law->stall * (command - rate / law->no_load);
    } else if (law->kind == HN_DRIVE_STOP && !law->rigid) {
        complex_law above = complex_buffer(law, from, to, law->upper, h),
                    below = complex_buffer(law, -from, -to, -law->lower, h);
        v = (complex_law){above.load - below.load, above.stored - below.stored};
    } else if (law->kind == HN_DRIVE_FRICTION && slots[DRIVE_MODE] == FRICTION_TURN) {
        double begin = slots[DRIVE_ROTOR];
        double complex end = 2.0 * rate - begin,
                       size = fabs(begin) + (creal(end) < 0.0 ? -end : end);
        v.load = -complex_friction(law, slots, rate) * (begin + end) / size;
    } else if (law->kind == HN_DRIVE_FRICTION && fabs(slots[DRIVE_MODE]) == 1.0) {
        v.load = -slots[DRIVE_MODE] * complex_friction(law, slots, rate);
    } else if (law->kind != HN_DRIVE_SPRING) {
        v.load = slots[DRIVE_HOLD]; // motion, latch, rigid stop, friction that holds
    }
    return v;
}

// The force that is stored at one place
static double complex law_at(const element *e, double complex x)
{
    const drive_law *law = e->law;
    double complex f = e->stiffness * (x - e->rest);
    if (law->spring != NULL) f += table_at(law->spring, x);
    return f + law->contact * (positive(x - law->upper) - positive(law->lower - x));
}

typedef struct complex_vector {
    double complex x[3];
} complex_vector;

// sum of coefficients times phi, d1, d2, d3 of a and b, at the pose (1 - w) q_n + w q_n+1
static complex_vector combined(const double *c, const element_states *s, const double complex *end,
                               double w)
{
    complex_vector v = {{0.0}};
    for (int k = 0; k < PAIR; ++k) v.x[k % 3] += c[k / 3] * ((1.0 - w) * s->start[k] + w * end[k]);
    return v;
}

static double complex inner(complex_vector x, complex_vector y)
{
    return x.x[0] * y.x[0] + x.x[1] * y.x[1] + x.x[2] * y.x[2];
}

typedef struct complex_pose {
    double u1[8], u2[8], w[8];  // coefficients: axes of a, and what they are multiplied with
    complex_vector x1, x2, y;   // at the pose
    double complex c, s, angle; // and the coordinate
} complex_pose;

static complex_pose pose_at(const element *e, const element_states *s, const double complex *end,
                            double w, double near)
{
    complex_pose p = {.u1 = {0.0, e->a1.x, e->a1.y, e->a1.z},
                      .u2 = {0.0, e->a2.x, e->a2.y, e->a2.z}};
    const double b1[8] = {0.0, 0.0, 0.0, 0.0, 0.0, e->b1.x, e->b1.y, e->b1.z};
    memcpy(p.w, e->displacement ? e->link : b1, sizeof p.w);
    p.x1 = combined(p.u1, s, end, w);
    p.x2 = combined(p.u2, s, end, w);
    p.y = combined(p.w, s, end, w);
    p.c = inner(p.x1, p.y);
    p.s = inner(p.x2, p.y);
    // from `near` on, by less than half a turn
    double complex c = cos(near) * p.c + sin(near) * p.s, sine = cos(near) * p.s - sin(near) * p.c;
    double turn = atan2(creal(sine), creal(c));
    double complex left = cos(turn) * sine - sin(turn) * c, on = cos(turn) * c + sin(turn) * sine;
    p.angle = e->displacement ? p.c : near + turn + catan(left / on);
    return p;
}

// residual += on_c grad c + on_s grad s
static void add_gradients(const complex_pose *p, double complex on_c, double complex on_s,
                          double complex *residual)
{
    for (int k = 0; k < PAIR; ++k)
        residual[k] += (on_c * p->u1[k / 3] + on_s * p->u2[k / 3]) * p->y.x[k % 3] +
                       p->w[k / 3] * (on_c * p->x1.x[k % 3] + on_s * p->x2.x[k % 3]);
}

// residual += effort times the gradient of the coordinate at a pose
static void add_at_pose(const element *e, const complex_pose *p, double complex effort,
                        double complex *residual)
{
    double complex square = p->c * p->c + p->s * p->s;
    if (e->displacement) add_gradients(p, effort, 0.0, residual);
    else add_gradients(p, -effort * p->s / square, effort * p->c / square, residual);
}

static void complex_residual(const element *e, const element_states *s, const element_step *view,
                             const double complex *end, double complex *residual)
{
    double sign = e->law->sign, near = creal(element_angle_after(e, view));
    complex_pose last = pose_at(e, s, end, 1.0, near);
    double complex from = view->angle_start, to = last.angle;
    complex_law v = law_between(e, view, sign * from, sign * to);
    memset(residual, 0, PAIR * sizeof *residual);
    if (view->discrete_gradient) {
        // (D9) or (F4) at the middle
        complex_pose p = pose_at(e, s, end, 0.5, 0.0);
        double complex effort = view->factor * sign * (v.stored - v.load), half = 0.5 * (to - from),
                       middle = 0.5 * (from + to), size = effort * half / csin(half);
        if (e->displacement) add_gradients(&p, effort, 0.0, residual);
        else add_gradients(&p, -size * csin(middle), size * ccos(middle), residual);
        return;
    }
    complex_pose load = pose_at(e, s, end, view->weight, 0.0);
    add_at_pose(e, &load, -view->factor * sign * v.load, residual);
    double weight = view->gradient_weight;
    complex_pose spring =
        pose_at(e, s, end, weight, creal(from) + weight * (creal(to) - creal(from)));
    add_at_pose(e, &spring, view->factor * sign * law_at(e, sign * spring.angle), residual);
}

// ---- tangents ------------------------------------------------------------------------------------------------

typedef struct law_errors {
    double value, tangent; // of their largest entries, or of 1 N, N m where forces cancel
} law_errors;

static law_errors compare(const element *e, element_states *s, const element_step *given)
{
    const double STEP = 1e-30;
    element_step view = *given;
    double residual[PAIR] = {0.0}, size = 1.0, largest = 1.0;
    stiffness_term terms[2 * ELEMENT_TERMS_MAX];
    element_output out = {.residual_a = residual, .residual_b = residual + POSE, .terms = terms};
    view.want_terms = true;
    element_type_of(ELEMENT_DRIVE)->gradient(e, &view, &out);
    element_type_of(ELEMENT_DRIVE)->load(e, &view, &out);
    law_errors worst = {0.0, 0.0};
    for (int c = 0; c < PAIR; ++c) {
        double complex end[PAIR], expected[PAIR];
        for (int k = 0; k < PAIR; ++k)
            end[k] = s->end[k] + (k == c ? STEP : 0.0) * (double complex)I;
        complex_residual(e, s, &view, end, expected);
        for (int r = 0; r < PAIR; ++r) {
            double claimed = 0.0, slope = cimag(expected[r]) / STEP;
            for (int t = 0; t < out.term_count; ++t)
                claimed += terms[t].u[r / 3] * terms[t].c[r % 3][c % 3] * terms[t].v[c / 3];
            worst.tangent = fmax(worst.tangent, fabs(slope - claimed));
            worst.value = fmax(worst.value, fabs(creal(expected[r]) - residual[r]));
            largest = fmax(largest, fabs(slope));
            size = fmax(size, fabs(residual[r]));
        }
    }
    return (law_errors){worst.value / size, worst.tangent / largest};
}

TEST(laws, are_their_formulas_with_the_tangents_of_complex_steps)
{
    const double weights[4] = {0.5, 0.0, 0.5, 1.0}; // the first in the discrete form
    law_errors worst = {0.0, 0.0};
    for (int which = 0; which < LAW_COUNT; ++which)
        for (int form = 0; form < 8; ++form) {
            number_source numbers = {(uint64_t)(41 + which)};
            for (int i = 0; i < SAMPLES; ++i) {
                drive_law law = make_law((law_case)which, &numbers);
                double slots[DRIVE_SLOTS];
                make_slots((law_case)which, &numbers, slots);
                element e = make_drive((law_case)which, &law, form % 2 == 1, &numbers);
                element_states s = make_states(&e, &numbers);
                for (int k = 0; k < PAIR; ++k) s.end[k] = 0.5 * (s.end[k] + s.start[k]);
                element_step view = drive_view(&e, &s, slots, form < 2, weights[form / 2]);
                law_errors errors = compare(&e, &s, &view);
                worst.value = fmax(worst.value, errors.value);
                worst.tangent = fmax(worst.tangent, errors.tangent);
            }
        }
    CHECK_BELOW(worst.value, 3e-13);   // measured 4.6e-14
    CHECK_BELOW(worst.tangent, 5e-12); // measured 9.5e-13
}

// ---- rigid motions -----------------------------------------------------------------------------------------

// Everything turned and shifted together: the residual turns with it.
TEST(laws, do_not_see_a_rigid_motion_of_everything)
{
    double worst = 0.0;
    for (int which = 0; which < LAW_COUNT; ++which)
        for (int form = 0; form < 4; ++form) {
            number_source numbers = {(uint64_t)(71 + which)};
            for (int i = 0; i < SAMPLES; ++i) {
                drive_law law = make_law((law_case)which, &numbers);
                double slots[DRIVE_SLOTS], residual[2][PAIR], size = 1.0;
                make_slots((law_case)which, &numbers, slots);
                element e = make_drive((law_case)which, &law, form % 2 == 1, &numbers);
                element_states s[2];
                s[0] = s[1] = make_states(&e, &numbers);
                hn_mat3 turn = next_rotation(&numbers);
                hn_vec3 shift = next_vector(&numbers, 2.0);
                for (int x = 0; x < 8; ++x) {
                    hn_vec3 add = x % 4 == 0 ? shift : vec3(0.0, 0.0, 0.0);
                    vec3_store(vec3_add(add, mat3_apply(&turn, at(s[0].start, x))),
                               s[1].start + 3 * x);
                    vec3_store(vec3_add(add, mat3_apply(&turn, at(s[0].end, x))), s[1].end + 3 * x);
                }
                for (int k = 0; k < 2; ++k) {
                    double load[PAIR];
                    element_step view =
                        drive_view(&e, &s[k], slots, form < 2, form < 2 ? 0.5 : 0.0);
                    residual_of(&e, element_type_of(ELEMENT_DRIVE)->gradient, &view, residual[k]);
                    residual_of(&e, element_type_of(ELEMENT_DRIVE)->load, &view, load);
                    for (int c = 0; c < PAIR; ++c) residual[k][c] += load[c];
                }
                for (int c = 0; c < PAIR; ++c) size = fmax(size, fabs(residual[0][c]));
                for (int x = 0; x < 8; ++x)
                    worst =
                        fmax(worst, vec3_norm(vec3_subtract(mat3_apply(&turn, at(residual[0], x)),
                                                            at(residual[1], x))) /
                                        size);
            }
        }
    CHECK_BELOW(worst, 2e-13); // measured 2.8e-14
}

// ---- energy ---------------------------------------------------------------------------------------------------

// Ten thousand steps of each law that may only take, by any way: friction while it moves, buffers, dampers. What a
// buffer or spring holds at the end is no more than it held before and what was put in: grad_d V . Delta = V1 - V0.
TEST(laws, of_friction_stops_and_dampers_give_no_energy)
{
    static const law_case cases[7] = {LAW_SLIDES_FORTH, LAW_SLIDES_BACK, LAW_TURNS, LAW_BUFFER,
                                      LAW_SOFT_BUFFER,  LAW_SPRING,      LAW_TABLES};
    double gain = 0.0, balance = 0.0;
    int taking = 0;
    for (int c = 0; c < 7; ++c) {
        number_source numbers = {(uint64_t)(101 + c)};
        for (int i = 0; i < 10000; ++i) {
            drive_law law = make_law(cases[c], &numbers);
            double slots[DRIVE_SLOTS], before[DRIVE_SLOTS], residual[PAIR], load[PAIR], work = 0.0;
            make_slots(cases[c], &numbers, slots);
            element e = make_drive(cases[c], &law, i % 2 == 1, &numbers);
            element_states s = make_states(&e, &numbers);
            double part = pow(10.0, -2.0 - 2.0 * next_number(&numbers)); // of the step: to 1e-4
            if (i % 3 > 0 && !e.displacement)
                place(&e, &numbers, s.angle_start + part * next_number(&numbers), s.end);
            for (int k = 0; k < PAIR && i % 3 > 0 && e.displacement; ++k)
                s.end[k] = s.start[k] + part * (s.end[k] - s.start[k]);
            element_step view = drive_view(&e, &s, slots, true, 0.5);
            view.factor = 1.0;
            memcpy(before, slots, sizeof before);
            before[DRIVE_COORDINATE] = view.angle_start;
            double end = element_angle_after(&e, &view), way = law.sign * (end - view.angle_start);
            // sliding is a way of its own
            if (fabs(slots[DRIVE_MODE]) == 1.0 && way * slots[DRIVE_MODE] < 0.0) continue;
            residual_of(&e, element_type_of(ELEMENT_DRIVE)->gradient, &view, residual);
            residual_of(&e, element_type_of(ELEMENT_DRIVE)->load, &view, load);
            drive_follow(&e, &view, end, slots);
            double stored = 0.0;
            for (int k = 0; k < PAIR; ++k) {
                stored += residual[k] * (s.end[k] - s.start[k]);
                work -= load[k] * (s.end[k] - s.start[k]);
            }
            double v0 = element_energy(&e, s.start, s.start + POSE, NULL, before), v1 = v0;
            before[DRIVE_COORDINATE] = end;
            v1 = element_energy(&e, s.end, s.end + POSE, NULL, before);
            double scale = fabs(v0) + fabs(v1) + fabs(work) + 1.0;
            gain = fmax(gain, work / scale);
            balance = fmax(balance, fabs(v1 - v0 - stored) / scale);
            balance = fmax(balance, fabs(work - slots[DRIVE_WORK]) / scale);
            taking += work < -1e-6;
        }
    }
    CHECK(taking > 30000);
    CHECK_BELOW(gain, 1e-15);    // relative; measured 0
    CHECK_BELOW(balance, 1e-12); // measured 1.2e-13
}
