// SPDX-License-Identifier: MIT
// The beam element by itself: derivatives against complex step, directionality, objectivity; sections and shapes of
// beams.
#include "elements/element.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <complex.h>
#include <math.h>
#include <string.h>

// ---- strains in complex numbers, written from (W1) as the note has it -----------------------------------

// CMPLX is not everywhere
static double complex complex_of(double real, double imaginary)
{
    const double parts[2] = {real, imaginary};
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

static double complex product(const double complex *x, const double complex *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

// q: phi, d1, d2, d3 of a, then of b; derivative and mean at the middle, no use of the closed form of K
static void complex_strain(double length, const double complex *q, double complex *strain)
{
    double complex mean[4][3], slope[4][3];
    for (int x = 0; x < 4; ++x)
        for (int i = 0; i < 3; ++i) {
            mean[x][i] = 0.5 * (q[3 * x + i] + q[12 + 3 * x + i]);
            slope[x][i] = (q[12 + 3 * x + i] - q[3 * x + i]) / length;
        }
    for (int i = 0; i < 3; ++i) strain[i] = product(mean[1 + i], slope[0]);
    static const int J[3] = {2, 3, 1}, K[3] = {3, 1, 2};
    for (int i = 0; i < 3; ++i)
        strain[3 + i] = 0.5 * (product(mean[K[i]], slope[J[i]]) - product(mean[J[i]], slope[K[i]]));
}

// Likewise (W9): of the helix, with H(c) = (theta/sin(theta) - 1)/(1 - c) as a sum over eight points of Gauss on
// (-1, 1); and dH/dc.
static double complex complex_h(double complex c, double complex *slope)
{
    static const double T[8] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290,
                                -0.1834346424956498, 0.1834346424956498,  0.5255324099163290,
                                0.7966664774136267,  0.9602898564975363},
                        W[8] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                0.2223810344533745, 0.1012285362903763};
    double complex sum = 0.0;
    *slope = 0.0;
    for (int i = 0; i < 8; ++i) {
        double rest = 1.0 - T[i] * T[i];
        double complex part = 0.5 * W[i] * rest / (1.0 + c + (1.0 - c) * T[i] * T[i]);
        sum += part;
        *slope -= part * part * 2.0 / W[i];
    }
    return sum;
}

// What its strains are products of, each quadratic in q, or a change of them
typedef struct invariants {
    double complex linear[6], s[3][3], c;
} invariants;

static void find_invariants(double length, const double complex *q, invariants *x)
{
    double complex r[3][3];
    complex_strain(length, q, x->linear);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r[i][j] = product(q + 3 + 3 * i, q + 15 + 3 * j);
    x->c = 0.5 * (r[0][0] + r[1][1] + r[2][2] - 1.0);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) x->s[i][j] = 0.5 * (r[i][j] + r[j][i]);
}

static void complex_helix(double length, const double complex *q, double complex *strain)
{
    invariants x;
    find_invariants(length, q, &x);
    double complex slope, h = complex_h(x.c, &slope);
    for (int i = 0; i < 3; ++i) {
        strain[i] = x.linear[i] * (1.0 + h);
        for (int j = 0; j < 3; ++j) strain[i] -= h * x.s[i][j] * x.linear[j];
        strain[3 + i] = x.linear[3 + i] * (1.0 + (1.0 - x.c) * h);
    }
}

// (W10): what the strains change by along `by`, every product by means, quotients of H as they stand or at one
// pose its derivative
static void discrete_change(const invariants *x, const invariants *y, const invariants *by,
                            double complex *change)
{
    double complex slope, h0 = complex_h(x->c, &slope), h1 = complex_h(y->c, &slope),
                          f0 = 1.0 + (1.0 - x->c) * h0, f1 = 1.0 + (1.0 - y->c) * h1,
                          dh = slope * by->c, df = (1.0 - x->c) * dh - h0 * by->c;
    if (x->c != y->c) {
        dh = (h1 - h0) / (y->c - x->c) * by->c;
        df = (f1 - f0) / (y->c - x->c) * by->c;
    }
    for (int i = 0; i < 3; ++i) {
        double complex v0 = x->linear[i], v1 = y->linear[i], v = by->linear[i];
        for (int j = 0; j < 3; ++j) {
            v0 -= x->s[i][j] * x->linear[j], v1 -= y->s[i][j] * y->linear[j];
            v -= 0.5 * (x->s[i][j] + y->s[i][j]) * by->linear[j] +
                 0.5 * (x->linear[j] + y->linear[j]) * by->s[i][j];
        }
        change[i] = by->linear[i] + 0.5 * (h0 + h1) * v + 0.5 * (v0 + v1) * dh;
        change[3 + i] =
            0.5 * (f0 + f1) * by->linear[3 + i] + 0.5 * (x->linear[3 + i] + y->linear[3 + i]) * df;
    }
}

static void next_pose(number_source *numbers, double *q)
{
    hn_mat3 r = next_rotation(numbers);
    vec3_store(next_vector(numbers, 1.0), q);
    for (int k = 0; k < 3; ++k) vec3_store(mat3_column(&r, k), q + 3 + 3 * k);
}

// An element between generic poses, strained at will, with a full stiffness matrix.
static beam_element next_element(number_source *numbers)
{
    beam_element beam = {.length = 0.7, .damping = 0.03};
    double root[6][6];
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) root[i][k] = next_number(numbers) + (i == k ? 3.0 : 0.0);
    for (int i = 0; i < 6; ++i) {
        beam.rest[i] = next_number(numbers);
        for (int k = 0; k < 6; ++k)
            for (int m = 0; m < 6; ++m) beam.stiffness[i][k] += root[i][m] * root[k][m];
    }
    return beam;
}

// Kinds of two nodes
static const struct {
    element_kind kind;
    const element_type *type;
    void (*strain)(double length, const double complex *q, double complex *strain);
    double bow; // (W12)
} KINDS[] = {{ELEMENT_BEAM, &element_beam, complex_strain, 0.0},
             {ELEMENT_BEAM_HELICAL, &element_beam_helical, complex_helix, 0.3}};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

typedef struct fixture {
    int kind;
    beam_element beam;
    element e;
    double start[24], end[24];
    element_step step;
} fixture;

static void make(fixture *f, int kind, number_source *numbers, bool discrete, double weight)
{
    f->kind = kind;
    f->beam = next_element(numbers);
    f->beam.helical = KINDS[kind].kind == ELEMENT_BEAM_HELICAL;
    for (int i = 0; i < 4; ++i)
        f->beam.bow_stretch[i / 2][i % 2] = KINDS[kind].bow * (i % 3 == 0 ? 1.0 + i : 0.7);
    f->e = (element){.kind = KINDS[kind].kind, .a = 0, .b = 1, .angle = -1, .beam = &f->beam};
    for (int k = 0; k < 24; k += 12) {
        next_pose(numbers, f->start + k);
        next_pose(numbers, f->end + k);
    }
    f->step = (element_step){.a_start = f->start,
                             .b_start = f->start + 12,
                             .a = f->end,
                             .b = f->end + 12,
                             .step_size = 0.2,
                             .discrete_gradient = discrete,
                             .gradient_weight = weight,
                             .weight = weight,
                             .factor = 1.3};
}

// Strains, those of the reference shape taken off
static void strain_of(const fixture *f, const double complex *q, double complex *strain)
{
    KINDS[f->kind].strain(f->beam.length, q, strain);
    for (int i = 0; i < 6; ++i) strain[i] -= f->beam.rest[i];
    for (int i = 0; i < 4; ++i)
        strain[2] += f->beam.bow_stretch[i / 2][i % 2] * strain[i / 2] * strain[i % 2];
}

static void residual_of(const fixture *f, bool damper, double *residual)
{
    memset(residual, 0, 24 * sizeof(double));
    element_output out = {.residual_a = residual, .residual_b = residual + 12};
    if (damper) KINDS[f->kind].type->load(&f->e, &f->step, &out);
    else KINDS[f->kind].type->gradient(&f->e, &f->step, &out);
}

TEST(beam_element, gradient_is_that_of_the_energy)
{
    number_source numbers = {21};
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        fixture f;
        make(&f, kind, &numbers, false, 1.0);
        double residual[24], worst = 0.0, size = 0.0;
        residual_of(&f, false, residual);
        for (int k = 0; k < 24; ++k) {
            const double tiny = 1e-30;
            double complex q[24], strain[6], energy = 0.0;
            for (int i = 0; i < 24; ++i) q[i] = complex_of(f.end[i], i == k ? tiny : 0.0);
            strain_of(&f, q, strain);
            for (int i = 0; i < 6; ++i)
                for (int m = 0; m < 6; ++m)
                    energy += 0.5 * f.beam.length * f.beam.stiffness[i][m] * strain[i] * strain[m];
            double expected = f.step.factor * cimag(energy) / tiny;
            worst = fmax(worst, fabs(residual[k] - expected));
            size = fmax(size, fabs(expected));
        }
        CHECK_BELOW(worst / size, 1e-14); // measured 6e-16
    }
}

// residual in complex numbers: factor l B(q_w)^T S
static void complex_residual(const fixture *f, const double complex *end, bool damper,
                             double complex *residual)
{
    double length = f->beam.length,
           w = damper || f->step.discrete_gradient ? 0.5 : f->step.gradient_weight;
    double complex start[24], at[24], e0[6], e1[6], here[6], strain[6], stress[6];
    for (int k = 0; k < 24; ++k) start[k] = f->start[k], at[k] = (1.0 - w) * start[k] + w * end[k];
    strain_of(f, start, e0);
    strain_of(f, end, e1);
    strain_of(f, at, here);
    for (int i = 0; i < 6; ++i) {
        strain[i] = f->step.discrete_gradient ? 0.5 * (e0[i] + e1[i]) : here[i];
        if (damper) strain[i] = f->beam.damping * (e1[i] - e0[i]) / f->step.step_size;
    }
    for (int i = 0; i < 6; ++i) {
        stress[i] = 0.0;
        for (int k = 0; k < 6; ++k) stress[i] += f->beam.stiffness[i][k] * strain[k];
    }
    // what is quadratic has exact columns from its differences, and products of that are (W10)
    invariants from, to, up, down, by;
    bool between = damper || f->step.discrete_gradient;
    find_invariants(length, between ? start : at, &from);
    find_invariants(length, between ? end : at, &to);
    for (int k = 0; k < 24; ++k) {
        double complex plus[24], minus[24], row[6];
        memcpy(plus, at, sizeof plus);
        memcpy(minus, at, sizeof minus);
        plus[k] += 0.5, minus[k] -= 0.5;
        find_invariants(length, plus, &up);
        find_invariants(length, minus, &down);
        by.c = up.c - down.c;
        for (int i = 0; i < 6; ++i) row[i] = by.linear[i] = up.linear[i] - down.linear[i];
        for (int i = 0; i < 9; ++i) by.s[i / 3][i % 3] = up.s[i / 3][i % 3] - down.s[i / 3][i % 3];
        if (f->beam.helical) discrete_change(&from, &to, &by, row);
        for (int i = 0; i < 4; ++i)
            row[2] += f->beam.bow_stretch[i / 2][i % 2] * row[i / 2] *
                      (between ? e0[i % 2] + e1[i % 2] : 2.0 * here[i % 2]);
        residual[k] = 0.0;
        for (int i = 0; i < 6; ++i) residual[k] += f->step.factor * length * row[i] * stress[i];
    }
}

TEST(beam_element, tangent_is_that_of_the_residual)
{
    number_source numbers = {22};
    const struct {
        bool discrete, damper;
        double weight;
    } cases[] = {{true, false, 0.5}, {false, false, 0.5}, {false, false, 1.0}, {true, true, 0.5}};
    for (size_t c = 0; c < KIND_COUNT * sizeof cases / sizeof cases[0]; ++c) {
        fixture f;
        int kind = c % KIND_COUNT;
        const bool discrete = cases[c / KIND_COUNT].discrete, damper = cases[c / KIND_COUNT].damper;
        make(&f, kind, &numbers, discrete, cases[c / KIND_COUNT].weight);
        element_block block = {{{0.0}}};
        double ignored[24] = {0.0}, residual[24], worst = 0.0, size = 0.0;
        element_output out = {.residual_a = ignored, .residual_b = ignored + 12, .block = &block};
        if (damper) KINDS[kind].type->load(&f.e, &f.step, &out);
        else KINDS[kind].type->gradient(&f.e, &f.step, &out);
        residual_of(&f, damper, residual);
        for (int k = 0; k < 24; ++k) {
            const double tiny = 1e-30;
            double complex q[24], expected[24];
            for (int i = 0; i < 24; ++i) q[i] = complex_of(f.end[i], i == k ? tiny : 0.0);
            complex_residual(&f, q, damper, expected);
            for (int i = 0; i < 24; ++i) {
                worst = fmax(worst, fabs(creal(expected[i]) - residual[i]));
                worst = fmax(worst, fabs(cimag(expected[i]) / tiny - block.k[i][k]));
                size = fmax(size, fabs(block.k[i][k]));
            }
        }
        CHECK_BELOW(worst / size, 1e-14); // measured 9e-16
    }
}

TEST(beam_element, discrete_gradient_gives_the_energy_difference)
{
    number_source numbers = {23};
    double worst = 0.0, sign = 0.0;
    for (int trial = 0; trial < 20 * KIND_COUNT; ++trial) {
        fixture f;
        make(&f, trial % KIND_COUNT, &numbers, true, 0.5);
        const element_type *type = KINDS[f.kind].type;
        double residual[24], work = 0.0, lost = 0.0;
        residual_of(&f, false, residual);
        for (int k = 0; k < 24; ++k) work += residual[k] * (f.end[k] - f.start[k]);
        double before = type->potential(&f.e, f.start, f.start + 12, NULL, 0.0),
               after = type->potential(&f.e, f.end, f.end + 12, NULL, 0.0);
        worst = fmax(worst, fabs(work / f.step.factor - (after - before)) / (before + after));
        residual_of(&f, true, residual);
        for (int k = 0; k < 24; ++k) lost += residual[k] * (f.end[k] - f.start[k]);
        sign = fmin(sign, lost); // the damper takes energy, whatever the step
    }
    CHECK_BELOW(worst, 1e-14); // relative; measured 1.5e-15
    CHECK(sign >= 0.0);
}

TEST(beam_element, strains_do_not_see_rigid_motions)
{
    number_source numbers = {24};
    double worst = 0.0;
    for (int trial = 0; trial < 100; ++trial) {
        double q[24], moved[24], before[6], after[6];
        beam_element beam = {.length = 0.4, .helical = trial % 2 == 1};
        next_pose(&numbers, q);
        next_pose(&numbers, q + 12);
        hn_mat3 turn = next_rotation(&numbers);
        hn_vec3 shift = next_vector(&numbers, 10.0);
        for (int x = 0; x < 24; x += 3) {
            hn_vec3 v = mat3_apply(&turn, vec3_load(q + x));
            vec3_store(x % 12 == 0 ? vec3_add(v, shift) : v, moved + x);
        }
        beam_measures(&beam, q, q + 12, before);
        beam_measures(&beam, moved, moved + 12, after);
        for (int i = 0; i < 6; ++i) worst = fmax(worst, fabs(before[i] - after[i]));
    }
    CHECK_BELOW(worst, 1e-13); // measured 1.6e-14; promised 1e-12
}

// phi' = R Gamma, R' = R K^ with constant Gamma, K: R(s) by Rodrigues, its integral by Simpson's rule in 200 parts
TEST(beam_element, strains_are_those_of_the_helix_between_its_nodes)
{
    number_source numbers = {25};
    const double length = 0.7;
    const struct {
        double angle, bound;
    } cases[] = {{1e-4, 1e-13},
                 {0.1, 1e-13},
                 {0.7853981633974483, 2e-11},
                 {1.5707963267948966, 2e-6},
                 {2.0943951023931953, 1e-3}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        double worst = 0.0;
        for (int trial = 0; trial < 10; ++trial) {
            enum { PARTS = 200 };
            double q[24], measures[6];
            hn_vec3 gamma = next_vector(&numbers, 1.0), axis = next_vector(&numbers, 1.0),
                    end = vec3(0.0, 0.0, 0.0);
            axis = vec3_scale(1.0 / vec3_norm(axis), axis);
            hn_mat3 start = next_rotation(&numbers), last = start;
            for (int k = 0; k <= 2 * PARTS; ++k) {
                double weight = k == 0 || k == 2 * PARTS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
                hn_mat3 turn =
                    rotation_exponential(vec3_scale(cases[n].angle * k / (2.0 * PARTS), axis));
                last = mat3_multiply(&start, &turn);
                end =
                    vec3_add_scaled(end, weight * length / (6.0 * PARTS), mat3_apply(&last, gamma));
            }
            hn_vec3 from = next_vector(&numbers, 1.0);
            vec3_store(from, q);
            vec3_store(vec3_add(from, end), q + 12);
            for (int k = 0; k < 3; ++k) {
                vec3_store(mat3_column(&start, k), q + 3 + 3 * k);
                vec3_store(mat3_column(&last, k), q + 15 + 3 * k);
            }
            beam_helical_measures(length, q, q + 12, measures);
            hn_vec3 shear = vec3_load(measures),
                    bend = vec3_subtract(vec3_load(measures + 3),
                                         vec3_scale(cases[n].angle / length, axis));
            worst = fmax(worst, vec3_norm(vec3_subtract(shear, gamma)));
            worst = fmax(worst, length * vec3_norm(bend));
        }
        print_message("%.3g rad: %.2g\n", cases[n].angle, worst);
        CHECK_BELOW(worst, cases[n].bound);
    }
}

// ---- sections ---------------------------------------------------------------------------------------

TEST(beam_section, forms_have_the_textbook_constants)
{
    hn_context *context = hn_context_create(NULL);
    hn_beam_material steel = hn_beam_material_default();
    hn_beam_section s;
    steel.young = 2.1e11, steel.poisson = 0.25, steel.density = 7800.0;
    double shear = 0.84e11;
    CHECK_OK(context, hn_beam_section_rectangle(context, &steel, 0.02, 0.02, &s));
    // torsion of a square: 2.2492 a^4 with half side a (Timoshenko, Goodier)
    CHECK_NEAR(s.stiffness[5][5] / (shear * 1e-8), 2.2492, 5e-5);
    CHECK_OK(context, hn_beam_section_rectangle(context, &steel, 0.05, 0.015, &s));
    CHECK_NEAR(s.stiffness[3][3] / (2.1e11 * 0.05 * 0.015 * 0.015 * 0.015 / 12.0), 1.0, 1e-14);
    CHECK_NEAR(s.stiffness[4][4] / (2.1e11 * 0.015 * 0.05 * 0.05 * 0.05 / 12.0), 1.0, 1e-14);
    CHECK_NEAR(s.stiffness[0][0] / (5.0 / 6.0 * shear * 0.05 * 0.015), 1.0, 1e-14);
    // d1 is the long side: its inertia is that of bending about d2
    CHECK_NEAR(s.inertia[0] / (7800.0 * 0.015 * 0.05 * 0.05 * 0.05 / 12.0), 1.0, 1e-14);
    CHECK_OK(context, hn_beam_section_tube(context, &steel, 0.03, 0.02, &s));
    double pi = 3.14159265358979323846;
    CHECK_NEAR(s.stiffness[5][5] / (shear * 0.5 * pi * (81e-8 - 16e-8)), 1.0, 1e-14);
    CHECK_NEAR(s.mass / (7800.0 * pi * (9e-4 - 4e-4)), 1.0, 1e-14);
    CHECK_EQUAL(hn_beam_section_tube(context, &steel, 0.02, 0.03, &s), HN_INVALID_ARGUMENT);
    CHECK_EQUAL(hn_beam_section_circle(context, &steel, -1.0, &s), HN_INVALID_ARGUMENT);
    steel.poisson = 0.5;
    CHECK_EQUAL(hn_beam_section_circle(context, &steel, 1.0, &s), HN_INVALID_ARGUMENT);
    hn_context_destroy(context);
}

// ---- shapes -----------------------------------------------------------------------------------------

typedef struct shaped {
    hn_context *context;
    hn_model *model;
    hn_beam_def def;
    hn_beam_id beam;
} shaped;

static void begin(shaped *s)
{
    hn_model_def world = hn_model_def_default();
    s->context = hn_context_create(NULL);
    CHECK_OK(s->context, hn_model_create(s->context, &world, &s->model));
    s->def = hn_beam_def_default();
    for (int i = 0; i < 6; ++i) s->def.section.stiffness[i][i] = 100.0 + i;
    s->def.section.mass = 2.0;
    s->def.section.inertia[0] = s->def.section.inertia[1] = 0.01;
}

static void end(shaped *s)
{
    hn_model_destroy(s->model);
    hn_context_destroy(s->context);
}

// T' = m/2 |v|^2 + J1/2 w1^2 + ... of diag(m, m, m, J1, J2, J1 + J2): J1 is the inertia of d2.
TEST(beam_section, mass_matrices_are_carried_or_refused_with_the_reason)
{
    hn_context *context = hn_context_create(NULL);
    hn_beam_section section = {.mass = 0.0};
    double good[6][6] = {{0.0}};
    const double diagonal[6] = {3.0, 3.0, 3.0, 0.02, 0.05, 0.07};
    for (int i = 0; i < 6; ++i) good[i][i] = diagonal[i];
    CHECK_OK(context, hn_beam_section_mass_matrix(context, (const double(*)[6])good, &section));
    CHECK_NEAR(section.mass, 3.0, 0.0);
    CHECK_NEAR(section.inertia[0], 0.05, 0.0);
    CHECK_NEAR(section.inertia[1], 0.02, 0.0);
    static const struct {
        int row, column;
        double value, mirrored;
        const char *reason;
    } WRONG[] = {{0, 5, -0.3, -0.3, "centre of mass is at (0, 0.1)"},
                 {1, 5, 0.6, 0.6, "centre of mass is at (0.2, 0)"},
                 {3, 4, 0.01, 0.01, "no principal axes"},
                 {5, 5, 0.08, 0.08, "d3 has no inertia"},
                 {2, 2, 4.0, 4.0, "same in all directions"},
                 {0, 1, 0.5, 0.5, "no such coupling"},
                 {0, 3, 0.1, 0.0, "no such coupling"},
                 {4, 4, -0.05, -0.05, "expected a positive number"},
                 {0, 0, (double)NAN, (double)NAN, "not finite"}};
    for (size_t k = 0; k < sizeof WRONG / sizeof WRONG[0]; ++k) {
        double bad[6][6];
        memcpy(bad, good, sizeof bad);
        bad[WRONG[k].column][WRONG[k].row] = WRONG[k].mirrored;
        bad[WRONG[k].row][WRONG[k].column] = WRONG[k].value;
        CHECK_STATUS(context,
                     hn_beam_section_mass_matrix(context, (const double(*)[6])bad, &section),
                     HN_INVALID_ARGUMENT);
        CHECK_CONTAINS(hn_context_message(context), WRONG[k].reason);
    }
    hn_context_destroy(context);
}

TEST(beam_shape, arc_lies_on_its_circle_with_tangents)
{
    shaped s;
    begin(&s);
    const hn_vec3 points[3] = {{2.0, 0.0, 1.0}, {0.0, 2.0, 1.0}, {-2.0, 0.0, 1.0}};
    s.def.shape = HN_BEAM_ARC;
    s.def.points = points;
    s.def.point_count = 3;
    s.def.element_count = 16;
    s.def.direction = (hn_vec3){0.0, 0.0, 1.0};
    CHECK_OK(s.context, hn_model_add_beam(s.model, &s.def, &s.beam));
    double worst = 0.0, pi = 3.14159265358979323846;
    for (int i = 0; i <= 16; ++i) {
        hn_body_id node = hn_model_beam_node(s.model, s.beam, i);
        hn_vec3 p = hn_model_body_position(s.model, node);
        hn_mat3 r = hn_model_body_orientation(s.model, node);
        double a = pi * i / 16;
        worst = fmax(worst, vec3_norm(vec3_subtract(p, vec3(2.0 * cos(a), 2.0 * sin(a), 1.0))));
        hn_vec3 t = mat3_column(&r, 2), d1 = mat3_column(&r, 0);
        worst = fmax(worst, vec3_norm(vec3_subtract(t, vec3(-sin(a), cos(a), 0.0))));
        worst = fmax(worst, vec3_norm(vec3_subtract(d1, vec3(0.0, 0.0, 1.0))));
        worst = fmax(worst, mat3_orthonormality_error(&r));
    }
    CHECK_BELOW(worst, 1e-13); // m, 1; measured 2e-15
    CHECK_NEAR(hn_model_beam_length(s.model, s.beam), 2.0 * pi, 1e-13);
    end(&s);
}

TEST(beam_shape, spline_follows_a_circle_and_keeps_equal_lengths)
{
    shaped s;
    begin(&s);
    enum { POINTS = 41 };
    hn_vec3 points[POINTS];
    double pi = 3.14159265358979323846, worst = 0.0;
    for (int i = 0; i < POINTS; ++i) {
        double a = pi * i / (POINTS - 1);
        points[i] = vec3(cos(a), sin(a), 0.3 * a); // a helix
    }
    s.def.shape = HN_BEAM_SPLINE;
    s.def.points = points;
    s.def.point_count = POINTS;
    s.def.element_count = 30;
    CHECK_OK(s.context, hn_model_add_beam(s.model, &s.def, &s.beam));
    for (int i = 3; i <= 27; ++i) { // natural ends are straight: away from them
        hn_vec3 p = hn_model_body_position(s.model, hn_model_beam_node(s.model, s.beam, i));
        worst = fmax(worst, fabs(sqrt(p.x * p.x + p.y * p.y) - 1.0));
    }
    CHECK_BELOW(worst, 1e-5); // m; measured 1.2e-6
    CHECK_NEAR(hn_model_beam_length(s.model, s.beam), pi * sqrt(1.09), 1e-3);
    end(&s);
}

TEST(beam_shape, polyline_has_its_points_as_nodes_and_twist_turns_the_section)
{
    shaped s;
    begin(&s);
    const hn_vec3 points[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.5, 0.2, 0.0}};
    s.def.points = points;
    s.def.point_count = 3;
    s.def.element_count = 9;
    s.def.direction = (hn_vec3){0.0, 0.0, 1.0};
    s.def.twist = 0.9;
    CHECK_OK(s.context, hn_model_add_beam(s.model, &s.def, &s.beam));
    int corner = hn_model_beam_node_at(s.model, s.beam, 1.0);
    hn_vec3 p = hn_model_body_position(s.model, hn_model_beam_node(s.model, s.beam, corner));
    CHECK_BELOW(vec3_norm(vec3_subtract(p, points[1])), 1e-15); // m; measured 0
    hn_mat3 last = hn_model_body_orientation(s.model, hn_model_find_body(s.model, "beam1.tip"));
    CHECK_NEAR(mat3_column(&last, 0).z, cos(0.9), 1e-14);
    CHECK_EQUAL(hn_model_find_body(s.model, "beam1[3]").index1,
                hn_model_find_body(s.model, "beam1.3").index1);
    CHECK_EQUAL(hn_model_find_body(s.model, "beam1[10]").index1, 0);
    CHECK_EQUAL(hn_model_find_body(s.model, "beam1.middle").index1, 0); // nine elements have none
    end(&s);
}

static void refuse(const hn_beam_def *def, const char *part)
{
    shaped s;
    begin(&s);
    hn_beam_id beam;
    CHECK_EQUAL(hn_model_add_beam(s.model, def, &beam), HN_INVALID_MODEL);
    CHECK(strstr(hn_context_message(s.context), part) != NULL);
    CHECK_EQUAL(hn_model_body_count(s.model), 0);
    end(&s);
}

TEST(beam_shape, what_cannot_be_is_refused)
{
    shaped s;
    begin(&s);
    const hn_vec3 line[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                  point[2] = {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                  corner[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.5, 2.0, 0.0}},
                  straight[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}};
    hn_mat3 skew[2] = {mat3_identity(), mat3_identity()};
    skew[1].m[0][1] = 0.1;
    s.def.points = line;
    s.def.point_count = 2;
    hn_beam_def bad = s.def;
    bad.element_count = 0;
    refuse(&bad, "elements");
    bad = s.def, bad.points = point;
    refuse(&bad, "one place");
    bad = s.def, bad.point_count = 1;
    refuse(&bad, "points");
    bad = s.def, bad.section.stiffness[4][4] = -1.0;
    refuse(&bad, "bending about d2");
    bad = s.def, bad.section.stiffness[0][1] = 1.0;
    refuse(&bad, "not symmetric");
    bad = s.def, bad.section.stiffness[0][1] = bad.section.stiffness[1][0] = 101.0;
    refuse(&bad, "not positive definite");
    bad = s.def, bad.section.mass = 0.0;
    refuse(&bad, "kg/m");
    bad = s.def, bad.section.inertia[1] = 0.0;
    refuse(&bad, "along d2");
    bad = s.def, bad.direction = (hn_vec3){1.0, 0.0, 0.0};
    refuse(&bad, "along its axis");
    bad = s.def, bad.damping = -1.0;
    refuse(&bad, "damping");
    bad = s.def, bad.points = corner, bad.point_count = 3;
    bad.element_count = 20;
    refuse(&bad, "degrees");
    bad = s.def, bad.shape = HN_BEAM_ARC, bad.points = straight, bad.point_count = 3;
    refuse(&bad, "on a line");
    bad = s.def, bad.shape = HN_BEAM_NODES, bad.element_count = 1, bad.frames = skew;
    refuse(&bad, "frame of node 1");
    end(&s);
}
