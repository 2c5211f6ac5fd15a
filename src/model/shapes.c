// SPDX-License-Identifier: MIT
// Solid shapes: volume, centroid and inertia by exact formulas, composites by the parallel axis theorem.
//
// Moments per unit mass about the centroid, shape axes:
//   box x, y, z          (y^2+z^2)/12, (x^2+z^2)/12, (x^2+y^2)/12
//   sphere r             2/5 r^2 three times
//   cylinder r, h        (3r^2+h^2)/12 twice, r^2/2
//   hollow r, i, h       (3(r^2+i^2)+h^2)/12 twice, (r^2+i^2)/2
//   cone r, h            3(4r^2+h^2)/80 twice, 3r^2/10
//   pyramid x, y, h      y^2/20+3h^2/80, x^2/20+3h^2/80, (x^2+y^2)/20
//   tetrahedron          tr(C) I - C with C = 1/20 sum c_i c_i^T over the corners relative to the centroid
#include <holonom/model.h>

#include "base/vector.h"
#include "model/inertia.h"
#include "model/model.h"

#include <stdio.h>

// A tetrahedron is flat when its volume is below this part of the cube of its longest edge.
static const double FLAT_TETRAHEDRON = 1e-12;
static const double PI = 3.14159265358979323846;

hn_shape hn_shape_default(hn_shape_kind kind)
{
    return (hn_shape){.kind = kind, .orientation = mat3_identity(), .density = 1000.0};
}

static double tetrahedron_volume(const hn_shape *shape)
{
    hn_vec3 a = vec3_subtract(shape->corners[1], shape->corners[0]);
    hn_vec3 b = vec3_subtract(shape->corners[2], shape->corners[0]);
    hn_vec3 c = vec3_subtract(shape->corners[3], shape->corners[0]);
    return fabs(vec3_dot(a, vec3_cross(b, c))) / 6.0;
}

static double shape_volume(const hn_shape *shape)
{
    double r = shape->radius, i = shape->inner_radius, h = shape->height;
    hn_vec3 s = shape->size;
    switch (shape->kind) {
    case HN_SHAPE_BOX: return s.x * s.y * s.z;
    case HN_SHAPE_SPHERE: return 4.0 / 3.0 * PI * r * r * r;
    case HN_SHAPE_CYLINDER: return PI * r * r * h;
    case HN_SHAPE_HOLLOW_CYLINDER: return PI * (r - i) * (r + i) * h;
    case HN_SHAPE_CONE: return PI * r * r * h / 3.0;
    case HN_SHAPE_PYRAMID: return s.x * s.y * s.z / 3.0;
    case HN_SHAPE_TETRAHEDRON: return tetrahedron_volume(shape);
    }
    return 0.0;
}

hn_vec3 shape_centroid(const hn_shape *shape)
{
    hn_vec3 sum = {0.0, 0.0, 0.0};
    if (shape->kind != HN_SHAPE_TETRAHEDRON) return sum;
    for (int k = 0; k < 4; ++k) sum = vec3_add(sum, shape->corners[k]);
    return vec3_scale(0.25, sum);
}

static hn_mat3 diagonal(double x, double y, double z)
{
    return (hn_mat3){{{x, 0.0, 0.0}, {0.0, y, 0.0}, {0.0, 0.0, z}}};
}

// Inertia tensor of unit mass about the centroid, shape axes.
static hn_mat3 shape_unit_inertia(const hn_shape *shape)
{
    double rr = shape->radius * shape->radius, ii = shape->inner_radius * shape->inner_radius;
    double hh = shape->height * shape->height;
    double xx = shape->size.x * shape->size.x, yy = shape->size.y * shape->size.y;
    double zz = shape->size.z * shape->size.z;
    hn_mat3 tensor = diagonal(0.0, 0.0, 0.0);
    switch (shape->kind) {
    case HN_SHAPE_BOX: return diagonal((yy + zz) / 12.0, (xx + zz) / 12.0, (xx + yy) / 12.0);
    case HN_SHAPE_SPHERE: return diagonal(0.4 * rr, 0.4 * rr, 0.4 * rr);
    case HN_SHAPE_CYLINDER:
        return diagonal((3.0 * rr + hh) / 12.0, (3.0 * rr + hh) / 12.0, 0.5 * rr);
    case HN_SHAPE_HOLLOW_CYLINDER:
        return diagonal((3.0 * (rr + ii) + hh) / 12.0, (3.0 * (rr + ii) + hh) / 12.0,
                        0.5 * (rr + ii));
    case HN_SHAPE_CONE:
        return diagonal(3.0 * (4.0 * rr + hh) / 80.0, 3.0 * (4.0 * rr + hh) / 80.0, 0.3 * rr);
    case HN_SHAPE_PYRAMID:
        return diagonal(yy / 20.0 + 3.0 * zz / 80.0, xx / 20.0 + 3.0 * zz / 80.0, (xx + yy) / 20.0);
    case HN_SHAPE_TETRAHEDRON: {
        hn_vec3 center = shape_centroid(shape);
        for (int k = 0; k < 4; ++k)
            inertia_add_point(&tensor, 1.0 / 20.0, vec3_subtract(shape->corners[k], center));
        return tensor;
    }
    }
    return tensor;
}

static hn_status check_size(hn_context *context, const char *owner, const hn_shape *shape,
                            const char *what, double value)
{
    if (isfinite(value) && value > 0.0) return HN_OK;
    return context_fail(context, HN_INVALID_ARGUMENT,
                        "%s: %s of the %s is %g; expected a positive number of metres", owner, what,
                        hn_shape_kind_name(shape->kind), value);
}

static hn_status check_tetrahedron(hn_context *context, const char *owner, const hn_shape *shape)
{
    double longest = 0.0;
    for (int i = 0; i < 4; ++i) {
        if (!vec3_is_finite(shape->corners[i]))
            return context_fail(context, HN_INVALID_ARGUMENT,
                                "%s: corner %d of the tetrahedron is not finite", owner, i + 1);
        for (int j = 0; j < i; ++j)
            longest = fmax(longest, vec3_norm(vec3_subtract(shape->corners[i], shape->corners[j])));
    }
    if (tetrahedron_volume(shape) > FLAT_TETRAHEDRON * longest * longest * longest) return HN_OK;
    return context_fail(context, HN_INVALID_ARGUMENT,
                        "%s: the tetrahedron is flat; expected corners not in one plane", owner);
}

hn_status model_check_shape(hn_context *context, const char *owner, const hn_shape *shape)
{
    switch (shape->kind) {
    case HN_SHAPE_BOX:
        TRY(check_size(context, owner, shape, "x size", shape->size.x));
        TRY(check_size(context, owner, shape, "y size", shape->size.y));
        TRY(check_size(context, owner, shape, "z size", shape->size.z));
        break;
    case HN_SHAPE_SPHERE: TRY(check_size(context, owner, shape, "radius", shape->radius)); break;
    case HN_SHAPE_CYLINDER:
    case HN_SHAPE_CONE:
        TRY(check_size(context, owner, shape, "radius", shape->radius));
        TRY(check_size(context, owner, shape, "height", shape->height));
        break;
    case HN_SHAPE_HOLLOW_CYLINDER:
        TRY(check_size(context, owner, shape, "radius", shape->radius));
        TRY(check_size(context, owner, shape, "inner radius", shape->inner_radius));
        TRY(check_size(context, owner, shape, "height", shape->height));
        if (shape->inner_radius >= shape->radius)
            return context_fail(
                context, HN_INVALID_ARGUMENT,
                "%s: inner radius of the hollow_cylinder is %g; expected less than its radius %g",
                owner, shape->inner_radius, shape->radius);
        break;
    case HN_SHAPE_PYRAMID:
        TRY(check_size(context, owner, shape, "x base edge", shape->size.x));
        TRY(check_size(context, owner, shape, "y base edge", shape->size.y));
        TRY(check_size(context, owner, shape, "height", shape->size.z));
        break;
    case HN_SHAPE_TETRAHEDRON: TRY(check_tetrahedron(context, owner, shape)); break;
    default:
        return context_fail(context, HN_INVALID_ARGUMENT, "%s: unknown kind of shape %d", owner,
                            (int)shape->kind);
    }
    if (!vec3_is_finite(shape->position))
        return context_fail(context, HN_INVALID_ARGUMENT, "%s: position of the %s is not finite",
                            owner, hn_shape_kind_name(shape->kind));
    hn_status status = model_check_rotation(context, owner, &shape->orientation);
    return status == HN_OK ? HN_OK : HN_INVALID_ARGUMENT;
}

// Mass of one shape: as given, or from the density.
static hn_status shape_mass(hn_context *context, const char *owner, const hn_shape *shape,
                            double *mass)
{
    const char *kind = hn_shape_kind_name(shape->kind);
    if (!isfinite(shape->mass) || shape->mass < 0.0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "%s: mass of the %s is %g; expected a positive number of kilograms",
                            owner, kind, shape->mass);
    if (shape->mass > 0.0) {
        *mass = shape->mass;
        return HN_OK;
    }
    if (!isfinite(shape->density) || shape->density <= 0.0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "%s: density of the %s is %g; expected a positive number of kg/m^3",
                            owner, kind, shape->density);
    *mass = shape->density * shape_volume(shape);
    if (isfinite(*mass) && *mass > 0.0) return HN_OK;
    return context_fail(
        context, HN_INVALID_ARGUMENT,
        "%s: density and size give the %s a mass of %g; expected a positive number of kilograms",
        owner, kind, *mass);
}

hn_status hn_body_def_set_shapes(hn_context *context, hn_body_def *def, const hn_shape *shapes,
                                 int shape_count)
{
    REQUIRE(context, context != NULL && def != NULL);
    if (shapes == NULL || shape_count < 1)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "hn_body_def_set_shapes needs at least one shape");

    // total mass and its centre
    double total = 0.0;
    hn_vec3 moment = {0.0, 0.0, 0.0};
    for (int i = 0; i < shape_count; ++i) {
        char owner[32];
        snprintf(owner, sizeof owner, "shape %d", i + 1);
        double mass;
        TRY(model_check_shape(context, owner, &shapes[i]));
        TRY(shape_mass(context, owner, &shapes[i], &mass));
        hn_vec3 center = vec3_add(shapes[i].position,
                                  mat3_apply(&shapes[i].orientation, shape_centroid(&shapes[i])));
        total += mass;
        moment = vec3_add_scaled(moment, mass, center);
    }
    hn_vec3 center_of_mass = vec3_scale(1.0 / total, moment);
    if (!isfinite(total) || !vec3_is_finite(center_of_mass))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "the shapes' masses or places are too large to add up");

    // tensors about that centre
    hn_mat3 tensor = diagonal(0.0, 0.0, 0.0);
    for (int i = 0; i < shape_count; ++i) {
        double mass;
        TRY(shape_mass(context, "shape", &shapes[i], &mass));
        hn_mat3 unit = shape_unit_inertia(&shapes[i]);
        hn_mat3 turned = inertia_rotate(&shapes[i].orientation, &unit);
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) tensor.m[j][k] += mass * turned.m[j][k];
        hn_vec3 center = vec3_add(shapes[i].position,
                                  mat3_apply(&shapes[i].orientation, shape_centroid(&shapes[i])));
        // a single shape is its own centre: keep its formula free of round-off
        if (shape_count > 1)
            inertia_add_point(&tensor, mass, vec3_subtract(center, center_of_mass));
    }

    def->mass = total;
    def->center_of_mass = center_of_mass;
    def->inertia = vec3(tensor.m[0][0], tensor.m[1][1], tensor.m[2][2]);
    def->products_of_inertia = vec3(tensor.m[0][1], tensor.m[0][2], tensor.m[1][2]);
    def->shapes = shapes;
    def->shape_count = shape_count;
    return HN_OK;
}
