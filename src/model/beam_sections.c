// SPDX-License-Identifier: MIT
// Cross-sections of beams: stiffness and inertia by length from a form and a material.
#include "model/beam_sections.h"

#include "base/vector.h"
#include "linalg/dense.h"

#include <string.h>

static const double PI = 3.14159265358979323846;
static const double MASS_TOLERANCE =
    1e-9; // of a section's mass and radius of gyration: zero in a mass matrix
static const double SYMMETRY_TOLERANCE = 1e-9; // of the larger of two entries that should be equal
static const double DEFINITE_TOLERANCE =
    1e-12; // smallest eigenvalue by the largest, scaled to unit diagonal

hn_beam_material hn_beam_material_default(void)
{
    return (hn_beam_material){.poisson = 0.3};
}

static hn_status check_material(hn_context *context, const hn_beam_material *m)
{
    if (!(isfinite(m->young) && m->young > 0.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam material: Young's modulus is %g; expected a positive number of "
                            "pascals",
                            m->young);
    if (!(m->poisson > -1.0 && m->poisson < 0.5))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam material: Poisson's number is %g; expected one above -1 and "
                            "below 0.5",
                            m->poisson);
    if (!(isfinite(m->density) && m->density > 0.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam material: density is %g; expected a positive number of kg/m^3",
                            m->density);
    if (!(m->shear_factor >= 0.0 && m->shear_factor <= 1.0))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam material: shear factor is %g; expected one between 0 and 1",
                            m->shear_factor);
    return HN_OK;
}

static hn_status check_size(hn_context *context, const char *what, double size)
{
    if (isfinite(size) && size > 0.0) return HN_OK;
    return context_fail(context, HN_INVALID_ARGUMENT,
                        "beam section: %s is %g; expected a positive number", what, size);
}

// second moments: `about1` is the integral of the squared coordinate along d2
static void fill(const hn_beam_material *m, double shear_factor, double area, double about1,
                 double about2, double torsion, hn_beam_section *section)
{
    double shear = 0.5 * m->young / (1.0 + m->poisson);
    double factor = m->shear_factor > 0.0 ? m->shear_factor : shear_factor;
    const double diagonal[6] = {factor * shear * area, factor * shear * area, m->young * area,
                                m->young * about1,     m->young * about2,     shear * torsion};
    memset(section, 0, sizeof *section);
    for (int i = 0; i < 6; ++i) section->stiffness[i][i] = diagonal[i];
    section->mass = m->density * area;
    section->inertia[0] = m->density * about2; // the coordinate along d1, about d2
    section->inertia[1] = m->density * about1;
}

// Saint-Venant's torsion constant of a rectangle with long side a and short side b: the series to round-off.
static double rectangle_torsion(double x, double y)
{
    double a = fmax(x, y), b = fmin(x, y), sum = 0.0;
    for (int n = 1; n < 400; n += 2) sum += tanh(0.5 * n * PI * a / b) / pow(n, 5.0);
    return a * b * b * b / 3.0 * (1.0 - 192.0 * b / (pow(PI, 5.0) * a) * sum);
}

hn_status hn_beam_section_rectangle(hn_context *context, const hn_beam_material *material,
                                    double size1, double size2, hn_beam_section *section)
{
    REQUIRE(context, material != NULL && section != NULL);
    TRY(check_material(context, material));
    TRY(check_size(context, "the size along d1", size1));
    TRY(check_size(context, "the size along d2", size2));
    fill(material, 5.0 / 6.0, size1 * size2, size1 * size2 * size2 * size2 / 12.0,
         size2 * size1 * size1 * size1 / 12.0, rectangle_torsion(size1, size2), section);
    return HN_OK;
}

hn_status hn_beam_section_circle(hn_context *context, const hn_beam_material *material,
                                 double radius, hn_beam_section *section)
{
    REQUIRE(context, material != NULL && section != NULL);
    TRY(check_material(context, material));
    TRY(check_size(context, "radius", radius));
    double moment = 0.25 * PI * radius * radius * radius * radius;
    fill(material, 0.9, PI * radius * radius, moment, moment, 2.0 * moment, section);
    return HN_OK;
}

hn_status hn_beam_section_tube(hn_context *context, const hn_beam_material *material, double radius,
                               double inner_radius, hn_beam_section *section)
{
    REQUIRE(context, material != NULL && section != NULL);
    TRY(check_material(context, material));
    TRY(check_size(context, "radius", radius));
    TRY(check_size(context, "inner radius", inner_radius));
    if (inner_radius >= radius)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "beam section: the inner radius of the tube is %g m; expected less "
                            "than its radius %g m",
                            inner_radius, radius);
    double outside = radius * radius, inside = inner_radius * inner_radius;
    double moment = 0.25 * PI * (outside * outside - inside * inside);
    fill(material, 0.5, PI * (outside - inside), moment, moment, 2.0 * moment, section);
    return HN_OK;
}

hn_status hn_beam_section_moments(hn_context *context, const hn_beam_material *material,
                                  double area, double moment1, double moment2, double torsion,
                                  hn_beam_section *section)
{
    REQUIRE(context, material != NULL && section != NULL);
    TRY(check_material(context, material));
    TRY(check_size(context, "area", area));
    TRY(check_size(context, "the second moment about d1", moment1));
    TRY(check_size(context, "the second moment about d2", moment2));
    TRY(check_size(context, "the torsion constant", torsion));
    fill(material, 1.0, area, moment1, moment2, torsion, section);
    return HN_OK;
}

static hn_status fail_mass(hn_context *context, const char *what)
{
    return context_fail(context, HN_INVALID_ARGUMENT, "beam section: mass matrix: %s", what);
}

// What has no place in a section with a mass and second moments along d1 and d2, after first moments and products of
// inertia, which another axis or frame takes away.
static hn_status check_other_entries(hn_context *context, const double mass[6][6], double length)
{
    const double size = mass[0][0];
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            double unit = size * (i < 3 ? 1.0 : length) * (k < 3 ? 1.0 : length);
            double expected = i != k ? 0.0 : i < 3 ? size : mass[i][i];
            if (i == 5 && k == 5) expected = mass[3][3] + mass[4][4];
            if (fabs(mass[i][k] - expected) <= MASS_TOLERANCE * unit) continue;
            return context_fail(
                context, HN_INVALID_ARGUMENT,
                "beam section: mass matrix: row %d, column %d is %g; expected %g: %s", i + 1, k + 1,
                mass[i][k], expected,
                i == 5 && k == 5
                    ? "a flat section turns about d3 with the sum of both others, d3 has "
                      "no inertia of its own"
                : i == k ? "mass is the same in all directions"
                         : "a section of mass in its plane has no such coupling");
        }
    return HN_OK;
}

hn_status hn_beam_section_mass_matrix(hn_context *context, const double mass[6][6],
                                      hn_beam_section *section)
{
    REQUIRE(context, mass != NULL && section != NULL);
    for (int i = 0; i < 36; ++i)
        if (!isfinite(mass[i / 6][i % 6])) return fail_mass(context, "an entry is not finite");
    for (int i = 0; i < 6; ++i)
        if (!(mass[i][i] > 0.0))
            return context_fail(
                context, HN_INVALID_ARGUMENT,
                "beam section: mass matrix: entry %d of the diagonal is %g; expected "
                "a positive number",
                i + 1, mass[i][i]);
    double length = sqrt((mass[3][3] + mass[4][4]) / mass[0][0]);
    double x1 = mass[1][5] / mass[0][0], x2 = 0.0 - mass[0][5] / mass[0][0];
    if (fabs(x1) + fabs(x2) > MASS_TOLERANCE * length)
        return context_fail(
            context, HN_INVALID_ARGUMENT,
            "beam section: mass matrix: its centre of mass is at (%g, %g) m; put the "
            "axis there, and take the stiffness about it",
            x1, x2);
    double product = -mass[3][4];
    if (fabs(product) > MASS_TOLERANCE * mass[0][0] * length * length)
        return context_fail(
            context, HN_INVALID_ARGUMENT,
            "beam section: mass matrix: d1 and d2 are no principal axes of inertia; "
            "turn the frame by %g rad about d3, and the stiffness with it",
            0.5 * atan2(2.0 * product, mass[4][4] - mass[3][3]));
    TRY(check_other_entries(context, mass, length));
    section->mass = mass[0][0];
    section->inertia[0] = mass[4][4];
    section->inertia[1] = mass[3][3];
    return HN_OK;
}

// Symmetric and positive definite, whatever the units of its rows.
static hn_status check_stiffness(hn_context *context, const char *beam, const hn_beam_section *s)
{
    static const char *const NAMES[6] = {"shear along d1",   "shear along d2",   "stretch",
                                         "bending about d1", "bending about d2", "torsion"};
    double scaled[36], values[6], vectors[36];
    for (int i = 0; i < 6; ++i)
        if (!(isfinite(s->stiffness[i][i]) && s->stiffness[i][i] > 0.0))
            return context_fail(context, HN_INVALID_MODEL,
                                "beam '%s': stiffness against %s is %g; expected a positive number",
                                beam, NAMES[i], s->stiffness[i][i]);
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            double x = s->stiffness[i][k], y = s->stiffness[k][i];
            double size = sqrt(s->stiffness[i][i] * s->stiffness[k][k]);
            if (!(fabs(x - y) <= SYMMETRY_TOLERANCE * size))
                return context_fail(context, HN_INVALID_MODEL,
                                    "beam '%s': the stiffness matrix is not symmetric: %g and %g "
                                    "between %s and %s",
                                    beam, x, y, NAMES[i], NAMES[k]);
            scaled[6 * i + k] = x / size;
        }
    TRY(dense_symmetric_eigen(context, 6, scaled, values, vectors));
    if (values[0] > DEFINITE_TOLERANCE * values[5]) return HN_OK;
    return context_fail(context, HN_INVALID_MODEL,
                        "beam '%s': the stiffness matrix is not positive definite: some strain "
                        "would cost no energy",
                        beam);
}

hn_status beam_section_check(hn_context *context, const char *beam, const hn_beam_section *section)
{
    TRY(check_stiffness(context, beam, section));
    if (!(isfinite(section->mass) && section->mass > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "beam '%s': mass is %g; expected a positive number of kg/m", beam,
                            section->mass);
    for (int i = 0; i < 2; ++i)
        if (!(isfinite(section->inertia[i]) && section->inertia[i] > 0.0))
            return context_fail(context, HN_INVALID_MODEL,
                                "beam '%s': inertia along d%d is %g; expected a positive number of "
                                "kg m",
                                beam, i + 1, section->inertia[i]);
    return HN_OK;
}
