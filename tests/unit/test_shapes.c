// SPDX-License-Identifier: MIT
// Mass properties of shapes: against numerical integration over their volume, and against published values.
#include <holonom/model.h>

#include "base/rotation.h"
#include "model/inertia.h"

#include "support/check.h"
#include "support/reference.h"

#include <math.h>
#include <stdio.h>

// the macros are floats
static const double NOT_A_NUMBER = (double)NAN, INFINITE = (double)INFINITY;

// ---- quadrature -------------------------------------------------------------------------------------

// Gauss-Legendre points and weights on [0, 1]; exact for polynomials up to degree nine.
enum { GAUSS = 5 };
static const double GAUSS_POINT[GAUSS] = {0.04691007703066800, 0.23076534494715845, 0.5,
                                          0.76923465505284155, 0.95308992296933200};
static const double GAUSS_WEIGHT[GAUSS] = {0.11846344252809454, 0.23931433524968324,
                                           0.28444444444444444, 0.23931433524968324,
                                           0.11846344252809454};
enum { ANGLES = 16 }; // equal angles integrate trigonometric polynomials exactly
static const double TWO_PI = 6.283185307179586477;

typedef struct moments {
    double volume;
    hn_vec3 first;
    hn_mat3 second; // inertia about the origin of the shape's frame, density one
} moments;

static void add(moments *m, double weight, hn_vec3 place)
{
    m->volume += weight;
    m->first = vec3_add_scaled(m->first, weight, place);
    inertia_add_point(&m->second, weight, place);
}

// Parameters in the unit cube to a place in the shape; returns the volume element.
typedef double (*shape_map)(const hn_shape *shape, double u, double v, double w, hn_vec3 *place);

static double map_box(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    *place = vec3(s->size.x * (u - 0.5), s->size.y * (v - 0.5), s->size.z * (w - 0.5));
    return s->size.x * s->size.y * s->size.z;
}

static double map_sphere(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    double r = s->radius * u, z = 2.0 * v - 1.0, ring = sqrt(1.0 - z * z), angle = TWO_PI * w;
    *place = vec3(r * ring * cos(angle), r * ring * sin(angle), r * z);
    return s->radius * r * r * 2.0 * TWO_PI;
}

static double map_tube(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    double r = s->inner_radius + (s->radius - s->inner_radius) * u, angle = TWO_PI * w;
    *place = vec3(r * cos(angle), r * sin(angle), s->height * (v - 0.5));
    return (s->radius - s->inner_radius) * r * TWO_PI * s->height;
}

static double map_cone(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    double r = s->radius * u * v, angle = TWO_PI * w; // v: from the apex to the base
    *place = vec3(r * cos(angle), r * sin(angle), s->height * (v - 0.75));
    return s->radius * v * r * TWO_PI * s->height;
}

static double map_pyramid(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    double narrow = 1.0 - w; // w: from the base to the apex
    *place = vec3(s->size.x * narrow * (u - 0.5), s->size.y * narrow * (v - 0.5),
                  s->size.z * (w - 0.25));
    return s->size.x * narrow * s->size.y * narrow * s->size.z;
}

static double map_tetrahedron(const hn_shape *s, double u, double v, double w, hn_vec3 *place)
{
    // the unit cube folded onto the simplex
    double a = u, b = v * (1.0 - u), c = w * (1.0 - u) * (1.0 - v);
    hn_vec3 e1 = vec3_subtract(s->corners[1], s->corners[0]);
    hn_vec3 e2 = vec3_subtract(s->corners[2], s->corners[0]);
    hn_vec3 e3 = vec3_subtract(s->corners[3], s->corners[0]);
    hn_vec3 sum = vec3_add_scaled(vec3_add_scaled(vec3_scale(a, e1), b, e2), c, e3);
    *place = vec3_add(s->corners[0], sum);
    return fabs(vec3_dot(e1, vec3_cross(e2, e3))) * (1.0 - u) * (1.0 - u) * (1.0 - v);
}

static moments integrate(const hn_shape *shape, shape_map map, bool round)
{
    moments m = {0};
    int count = round ? ANGLES : GAUSS;
    for (int i = 0; i < GAUSS; ++i)
        for (int j = 0; j < GAUSS; ++j)
            for (int k = 0; k < count; ++k) {
                hn_vec3 place;
                double w = round ? (k + 0.5) / ANGLES : GAUSS_POINT[k];
                double weight =
                    GAUSS_WEIGHT[i] * GAUSS_WEIGHT[j] * (round ? 1.0 / ANGLES : GAUSS_WEIGHT[k]);
                double element = map(shape, GAUSS_POINT[i], GAUSS_POINT[j], w, &place);
                add(&m, weight * element, place);
            }
    return m;
}

// ---- comparing ----------------------------------------------------------------------------------------

static hn_mat3 tensor_of(const hn_body_def *def)
{
    hn_vec3 d = def->inertia, p = def->products_of_inertia;
    return (hn_mat3){{{d.x, p.x, p.y}, {p.x, d.y, p.z}, {p.y, p.z, d.z}}};
}

static double largest_difference(const hn_mat3 *a, const hn_mat3 *b)
{
    double worst = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = fmax(worst, fabs(a->m[i][j] - b->m[i][j]));
    return worst;
}

static hn_body_def properties(const hn_shape *shapes, int count)
{
    hn_context *context = hn_context_create(NULL);
    hn_body_def def = hn_body_def_default();
    CHECK_OK(context, hn_body_def_set_shapes(context, &def, shapes, count));
    hn_context_destroy(context);
    return def;
}

static void check_against_quadrature(const hn_shape *shape, shape_map map, bool round)
{
    moments m = integrate(shape, map, round);
    hn_body_def def = properties(shape, 1);
    double density = shape->density;
    CHECK_NEAR(def.mass / (density * m.volume), 1.0, 1e-13);
    hn_vec3 center = vec3_scale(1.0 / m.volume, m.first);
    double size = cbrt(m.volume);
    CHECK_BELOW(vec3_norm(vec3_subtract(def.center_of_mass, center)) / size, 1e-13);
    // about the centre of mass: subtract what its offset contributes
    inertia_add_point(&m.second, -m.volume, center);
    hn_mat3 tensor = tensor_of(&def);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m.second.m[i][j] *= density;
    double scale = tensor.m[0][0] + tensor.m[1][1] + tensor.m[2][2];
    CHECK_BELOW(largest_difference(&tensor, &m.second) / scale, 1e-13); // measured 1e-15
}

TEST(shapes, agree_with_numerical_integration)
{
    hn_shape box = hn_shape_default(HN_SHAPE_BOX);
    box.size = vec3(0.7, 1.9, 0.31);
    check_against_quadrature(&box, map_box, false);

    hn_shape sphere = hn_shape_default(HN_SHAPE_SPHERE);
    sphere.radius = 0.83;
    check_against_quadrature(&sphere, map_sphere, true);

    hn_shape cylinder = hn_shape_default(HN_SHAPE_CYLINDER);
    cylinder.radius = 0.4, cylinder.height = 2.3;
    check_against_quadrature(&cylinder, map_tube, true);

    hn_shape tube = hn_shape_default(HN_SHAPE_HOLLOW_CYLINDER);
    tube.radius = 0.9, tube.inner_radius = 0.6, tube.height = 1.1;
    check_against_quadrature(&tube, map_tube, true);

    hn_shape cone = hn_shape_default(HN_SHAPE_CONE);
    cone.radius = 0.37, cone.height = 1.4;
    check_against_quadrature(&cone, map_cone, true);

    hn_shape pyramid = hn_shape_default(HN_SHAPE_PYRAMID);
    pyramid.size = vec3(1.2, 0.5, 2.2);
    check_against_quadrature(&pyramid, map_pyramid, false);

    hn_shape tetrahedron = hn_shape_default(HN_SHAPE_TETRAHEDRON);
    tetrahedron.corners[0] = vec3(0.3, -0.2, 1.0);
    tetrahedron.corners[1] = vec3(1.7, 0.1, 0.4);
    tetrahedron.corners[2] = vec3(0.2, 1.5, 0.6);
    tetrahedron.corners[3] = vec3(-0.4, 0.3, 2.9);
    check_against_quadrature(&tetrahedron, map_tetrahedron, false);
}

// ---- published values -----------------------------------------------------------------------------------

TEST(shapes, give_the_moments_of_betsch_and_leyendecker_2006)
{
    // section 5.1: the cone, J1 = J2 = 3 M (4 R^2 + H^2) / 80, J3 = 3 M R^2 / 10; with R = H / 2 all are equal
    hn_shape cone = hn_shape_default(HN_SHAPE_CONE);
    cone.radius = 0.05, cone.height = 0.1, cone.density = 2700.0;
    hn_body_def def = properties(&cone, 1);
    CHECK_NEAR(def.mass, 0.7068583470577036, 1e-15);
    CHECK_NEAR(def.inertia.x, 0.0005301437602932777, 1e-18);
    CHECK_NEAR(def.inertia.z, 0.0005301437602932777, 1e-18);

    // section 5.2: cylinder and sleeve
    hn_shape cylinder = hn_shape_default(HN_SHAPE_CYLINDER);
    cylinder.radius = 2.0, cylinder.height = 30.0, cylinder.mass = 4.0;
    def = properties(&cylinder, 1);
    CHECK_NEAR(def.inertia.x, 304.0, 1e-12);
    CHECK_NEAR(def.inertia.z, 8.0, 1e-14);
    hn_shape sleeve = hn_shape_default(HN_SHAPE_HOLLOW_CYLINDER);
    sleeve.radius = 3.0, sleeve.inner_radius = 2.0, sleeve.height = 6.0, sleeve.mass = 3.0;
    def = properties(&sleeve, 1);
    CHECK_NEAR(def.inertia.y, 18.75, 1e-14);
    CHECK_NEAR(def.inertia.z, 19.5, 1e-14);

    // section 5.3: the pyramid
    hn_shape pyramid = hn_shape_default(HN_SHAPE_PYRAMID);
    pyramid.size = vec3(2.0, 2.0, 3.0), pyramid.mass = 2.0;
    def = properties(&pyramid, 1);
    CHECK_NEAR(def.inertia.x, 43.0 / 40.0, 1e-15);
    CHECK_NEAR(def.inertia.y, 43.0 / 40.0, 1e-15);
    CHECK_NEAR(def.inertia.z, 4.0 / 5.0, 1e-15);
}

TEST(shapes, give_the_tetrahedra_of_the_six_body_linkage)
{
    reference *ref = reference_load("six_body_linkage.json");
    double mass = reference_number(ref, "/parameters/mass_each");
    for (int body = 0; body < 6; ++body) {
        char place[80];
        double corners[12], tensor[9];
        snprintf(place, sizeof place, "/tetrahedron_corners_initial/body%d", body);
        CHECK_EQUAL(reference_numbers(ref, place, corners, 12), 12);
        snprintf(place, sizeof place, "/inertia_initial_global_axes/body%d", body);
        CHECK_EQUAL(reference_numbers(ref, place, tensor, 9), 9);
        hn_shape shape = hn_shape_default(HN_SHAPE_TETRAHEDRON);
        shape.density = reference_number(ref, "/parameters/rho");
        for (int k = 0; k < 4; ++k) shape.corners[k] = vec3_load(corners + 3 * k);
        hn_body_def def = properties(&shape, 1);
        CHECK_NEAR(def.mass / mass, 1.0, 1e-13);
        hn_mat3 ours = tensor_of(&def);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) CHECK_NEAR(ours.m[i][j], tensor[3 * i + j], 1e-18);
    }
    reference_destroy(ref);
}

// ---- composites -------------------------------------------------------------------------------------------

TEST(shapes, cut_box_has_the_properties_of_the_whole)
{
    hn_shape whole = hn_shape_default(HN_SHAPE_BOX);
    whole.size = vec3(3.0, 1.0, 0.5);
    whole.position = vec3(0.4, -0.2, 0.9);
    whole.orientation = rotation_exponential(vec3(0.3, -1.1, 0.7));
    hn_shape parts[3];
    for (int i = 0; i < 3; ++i) {
        parts[i] = whole;
        parts[i].size.x = 1.0;
        hn_vec3 along = mat3_column(&whole.orientation, 0);
        parts[i].position = vec3_add_scaled(whole.position, i - 1.0, along);
    }
    hn_body_def one = properties(&whole, 1), three = properties(parts, 3);
    hn_mat3 a = tensor_of(&one), b = tensor_of(&three);
    CHECK_NEAR(three.mass, one.mass, 1e-12 * one.mass);
    CHECK_BELOW(vec3_norm(vec3_subtract(one.center_of_mass, three.center_of_mass)), 1e-14);
    CHECK_BELOW(largest_difference(&a, &b) / a.m[0][0], 1e-14); // measured 5e-16
}

TEST(shapes, hollow_cylinder_is_a_cylinder_with_a_cylinder_taken_out)
{
    hn_shape tube = hn_shape_default(HN_SHAPE_HOLLOW_CYLINDER);
    tube.radius = 2.0, tube.inner_radius = 1.5, tube.height = 3.0;
    hn_shape core = hn_shape_default(HN_SHAPE_CYLINDER), full = core;
    core.radius = 1.5, core.height = 3.0;
    full.radius = 2.0, full.height = 3.0;
    const hn_shape parts[2] = {tube, core};
    hn_body_def sum = properties(parts, 2), whole = properties(&full, 1);
    hn_mat3 a = tensor_of(&sum), b = tensor_of(&whole);
    CHECK_BELOW(largest_difference(&a, &b) / b.m[0][0], 1e-14);
}

TEST(shapes, mass_comes_before_density)
{
    hn_shape box = hn_shape_default(HN_SHAPE_BOX);
    box.size = vec3(1.0, 1.0, 1.0);
    box.mass = 2.5;
    CHECK_NEAR(properties(&box, 1).mass, 2.5, 0.0);
    box.mass = 0.0;
    CHECK_NEAR(properties(&box, 1).mass, 1000.0, 0.0);
}

// ---- what is refused ------------------------------------------------------------------------------------

static void check_refused(hn_shape shape, const char *words)
{
    hn_context *context = hn_context_create(NULL);
    hn_body_def def = hn_body_def_default();
    CHECK_STATUS(context, hn_body_def_set_shapes(context, &def, &shape, 1), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(context), words);
    hn_context_destroy(context);
}

TEST(shapes, without_extent_are_refused_by_name)
{
    hn_shape box = hn_shape_default(HN_SHAPE_BOX);
    box.size = vec3(1.0, 0.0, 1.0);
    check_refused(box, "shape 1: y size of the box is 0; expected a positive number of metres");
    box.size.y = NOT_A_NUMBER;
    check_refused(box, "y size of the box is nan");
    box.size.y = 1.0;
    box.density = -1.0;
    check_refused(box, "density of the box is -1");
    box.density = INFINITE;
    check_refused(box, "density of the box is inf");
    box.density = 1.0;
    box.mass = -2.0;
    check_refused(box, "mass of the box is -2");
    box.mass = 1.0;
    box.orientation.m[0][0] = 1.1;
    check_refused(box, "not a rotation matrix");
    box.orientation.m[0][0] = 1.0;
    box.position.x = NOT_A_NUMBER;
    check_refused(box, "position of the box is not finite");

    hn_shape tube = hn_shape_default(HN_SHAPE_HOLLOW_CYLINDER);
    tube.radius = 1.0, tube.inner_radius = 1.0, tube.height = 1.0;
    check_refused(tube,
                  "inner radius of the hollow_cylinder is 1; expected less than its radius 1");

    hn_shape flat = hn_shape_default(HN_SHAPE_TETRAHEDRON);
    flat.corners[1] = vec3(1.0, 0.0, 0.0), flat.corners[2] = vec3(0.0, 1.0, 0.0),
    flat.corners[3] = vec3(1.0, 1.0, 0.0);
    check_refused(flat, "the tetrahedron is flat");

    hn_shape unknown = hn_shape_default((hn_shape_kind)77);
    check_refused(unknown, "unknown kind of shape 77");
}

TEST(inertia, principal_axes_diagonalise_the_tensor)
{
    for (int trial = 0; trial < 200; ++trial) {
        double t = trial;
        hn_mat3 rotation =
            rotation_exponential(vec3(sin(t), 1.3 * cos(2.0 * t), sin(3.0 * t + 1.0)));
        hn_mat3 diagonal = {{{1.0 + 0.5 * sin(t), 0, 0},
                             {0, trial % 3 == 0 ? 1.0 + 0.5 * sin(t) : 1.2, 0},
                             {0, 0, 0.8}}};
        hn_mat3 tensor = inertia_rotate(&rotation, &diagonal), axes;
        hn_vec3 moments_found;
        inertia_principal(&tensor, &moments_found, &axes);
        CHECK_BELOW(mat3_orthonormality_error(&axes), 3e-15); // measured 1e-15
        CHECK_NEAR(mat3_determinant(&axes), 1.0, 3e-15);
        hn_mat3 found = {
            {{moments_found.x, 0, 0}, {0, moments_found.y, 0}, {0, 0, moments_found.z}}};
        hn_mat3 back = inertia_rotate(&axes, &found);
        CHECK_BELOW(largest_difference(&back, &tensor), 5e-15); // measured 1e-15
    }
    // a diagonal tensor stays as it is
    hn_mat3 given = {{{3.0, 0, 0}, {0, 1.0, 0}, {0, 0, 2.5}}}, axes, identity = mat3_identity();
    hn_vec3 found;
    inertia_principal(&given, &found, &axes);
    CHECK_NEAR(found.x, 3.0, 0.0);
    CHECK_NEAR(found.z, 2.5, 0.0);
    CHECK_BELOW(largest_difference(&axes, &identity), 1e-300);
}
