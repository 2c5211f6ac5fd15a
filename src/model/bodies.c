// SPDX-License-Identifier: MIT
// Bodies: defaults, validation and storage.
#include <holonom/model.h>

#include "base/vector.h"
#include "base/sized.h"
#include "model/inertia.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const double TRIANGLE_TOLERANCE = 1e-10;      // relative, of principal moments
static const double ORTHONORMALITY_TOLERANCE = 1e-9; // of orientation matrices
static const double POINT_MASS_TOLERANCE =
    1e-9; // of its distance from the origin, between a point mass and what is attached to it
enum { OWNER_SIZE = 128 };

void hn_body_def_init(hn_body_def *def, size_t size)
{
    const hn_body_def known = {.size = size, .kind = HN_BODY_RIGID, .orientation = mat3_identity()};
    sized_fill(def, size, &known, sizeof known);
}

static bool mat3_is_finite(const hn_mat3 *a)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (!isfinite(a->m[i][j])) return false;
    return true;
}

hn_status model_check_rotation(hn_context *context, const char *owner, const hn_mat3 *rotation)
{
    if (!mat3_is_finite(rotation))
        return context_fail(context, HN_INVALID_MODEL,
                            "%s: orientation is not finite; expected a rotation matrix", owner);
    double error = mat3_orthonormality_error(rotation);
    if (error > ORTHONORMALITY_TOLERANCE)
        return context_fail(context, HN_INVALID_MODEL,
                            "%s: orientation is not a rotation matrix (its axes miss "
                            "orthonormality by %.3g; at most "
                            "%g is accepted)",
                            owner, error, ORTHONORMALITY_TOLERANCE);
    if (mat3_determinant(rotation) < 0.0)
        return context_fail(
            context, HN_INVALID_MODEL,
            "%s: orientation is left-handed; expected a rotation matrix with determinant 1", owner);
    return HN_OK;
}

hn_status model_check_inertia(hn_context *context, const char *body_name, const hn_mat3 *inertia)
{
    if (!mat3_is_finite(inertia))
        return context_fail(context, HN_INVALID_MODEL, "body '%s': inertia is not finite",
                            body_name);
    double size = 0.0, skew = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            size = fmax(size, fabs(inertia->m[i][j]));
            skew = fmax(skew, fabs(inertia->m[i][j] - inertia->m[j][i]));
        }
    if (size == 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': inertia is zero; expected at least two positive principal "
                            "moments (or make it a "
                            "point mass)",
                            body_name);
    if (skew > TRIANGLE_TOLERANCE * size)
        return context_fail(
            context, HN_INVALID_MODEL,
            "body '%s': inertia tensor is not symmetric (entries differ by %g kg m^2)", body_name,
            skew);

    // sorted principal moments
    hn_vec3 moments;
    hn_mat3 axes;
    inertia_principal(inertia, &moments, &axes);
    double p[3] = {moments.x, moments.y, moments.z};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (p[j] > p[j + 1]) {
                double larger = p[j];
                p[j] = p[j + 1];
                p[j + 1] = larger;
            }
    double tolerance = TRIANGLE_TOLERANCE * fmax(fabs(p[0]), fabs(p[2]));
    if (p[0] < -tolerance)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': inertia has the negative principal moment %g kg m^2; "
                            "expected none below zero",
                            body_name, p[0]);
    if (p[2] > p[0] + p[1] + tolerance)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': inertia violates the triangle inequality: principal moment "
                            "%g is larger than "
                            "%g + %g kg m^2",
                            body_name, p[2], p[0], p[1]);
    return HN_OK;
}

static hn_mat3 inertia_tensor(const hn_body_def *def)
{
    hn_vec3 d = def->inertia, p = def->products_of_inertia;
    return (hn_mat3){{{d.x, p.x, p.y}, {p.x, d.y, p.z}, {p.y, p.z, d.z}}};
}

static hn_status check_point_mass(hn_context *context, const char *name, const hn_body_def *def)
{
    hn_vec3 d = def->inertia, p = def->products_of_inertia, c = def->center_of_mass;
    if (d.x != 0.0 || d.y != 0.0 || d.z != 0.0 || p.x != 0.0 || p.y != 0.0 || p.z != 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': a point mass has no inertia; expected zeros", name);
    if (c.x != 0.0 || c.y != 0.0 || c.z != 0.0)
        return context_fail(
            context, HN_INVALID_MODEL,
            "body '%s': a point mass has its centre of mass at its position; expected zeros", name);
    hn_mat3 identity = mat3_identity();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (def->orientation.m[i][j] != identity.m[i][j])
                return context_fail(
                    context, HN_INVALID_MODEL,
                    "body '%s': a point mass has no orientation; expected the identity", name);
    if (def->kind == HN_BODY_PLANAR_POINT_MASS &&
        (!vec3_is_finite(def->plane_normal) || !(vec3_norm(def->plane_normal) > 0.0)))
        return context_fail(
            context, HN_INVALID_MODEL,
            "body '%s': plane normal has zero length or is not finite; expected a direction", name);
    return HN_OK;
}

static hn_status check_body(hn_context *context, const char *name, const hn_body_def *def,
                            const hn_mat3 *inertia)
{
    char owner[OWNER_SIZE];
    snprintf(owner, sizeof owner, "body '%.100s'", name);
    if (!isfinite(def->mass) || def->mass <= 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': mass is %g; expected a positive number of kilograms", name,
                            def->mass);
    if (!vec3_is_finite(def->position))
        return context_fail(context, HN_INVALID_MODEL, "body '%s': position is not finite", name);
    if (!vec3_is_finite(def->center_of_mass))
        return context_fail(context, HN_INVALID_MODEL, "body '%s': centre of mass is not finite",
                            name);
    switch (def->kind) {
    case HN_BODY_RIGID:
        TRY(model_check_rotation(context, owner, &def->orientation));
        TRY(model_check_inertia(context, name, inertia));
        break;
    case HN_BODY_POINT_MASS:
    case HN_BODY_PLANAR_POINT_MASS: TRY(check_point_mass(context, name, def)); break;
    case HN_BODY_BEAM_NODE:
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': nodes of beams come with their beam; use hn_model_add_beam",
                            name);
    default:
        return context_fail(context, HN_INVALID_MODEL, "body '%s': unknown kind %d", name,
                            (int)def->kind);
    }
    if (def->shape_count < 0 || (def->shape_count > 0 && def->shapes == NULL))
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': %d shapes announced but none given", name,
                            def->shape_count);
    for (int i = 0; i < def->shape_count; ++i)
        if (model_check_shape(context, owner, &def->shapes[i]) != HN_OK) return HN_INVALID_MODEL;
    return HN_OK;
}

hn_status hn_model_add_body(hn_model *model, const hn_body_def *def, hn_body_id *body)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && body != NULL);
    OWN_COPY(context, hn_body_def, def, hn_body_def_default());
    char *name = NULL;
    hn_shape *shapes = NULL;
    hn_mat3 inertia = inertia_tensor(def);

    TRY(model_new_name(context, &model->body_names, "body", def->name, model->body_count, &name));
    hn_status status = check_body(context, name, def, &inertia);
    if (status != HN_OK) goto failed;

    // room for everything first, so that a failure leaves the model as it was
    void *bodies = model->bodies;
    status = context_grow(context, &bodies, &model->body_capacity, model->body_count + 1,
                          sizeof *model->bodies);
    model->bodies = bodies;
    if (status != HN_OK) goto failed;
    if (def->shape_count > 0) {
        shapes = context_allocate(context, (size_t)def->shape_count * sizeof *shapes);
        status = HN_OUT_OF_MEMORY;
        if (shapes == NULL) goto failed;
        memcpy(shapes, def->shapes, (size_t)def->shape_count * sizeof *shapes);
    }
    status = name_table_add(context, &model->body_names, name, model->body_count);
    if (status != HN_OK) goto failed;

    hn_vec3 normal = {0.0, 0.0, 0.0};
    if (def->kind == HN_BODY_PLANAR_POINT_MASS)
        normal = vec3_scale(1.0 / vec3_norm(def->plane_normal), def->plane_normal);
    model->bodies[model->body_count] = (model_body){
        .name = name,
        .kind = def->kind,
        .mass = def->mass,
        .inertia = inertia,
        .center_of_mass = def->center_of_mass,
        .position = def->position,
        .orientation = def->orientation,
        .plane_normal = normal,
        .unplaced = def->through_joints,
        .shapes = shapes,
        .shape_count = def->shape_count,
    };
    if (def->through_joints) {
        model->bodies[model->body_count].position = vec3(0.0, 0.0, 0.0);
        model->bodies[model->body_count].orientation = mat3_identity();
        model->assembly_pending = true;
    }
    model->body_count += 1;
    *body = hn_model_body(model, model->body_count - 1);
    return HN_OK;

failed:
    context_release(context, shapes);
    context_release(context, name);
    return status;
}

int model_body_index(const hn_model *model, hn_body_id body)
{
    if (body.index1 == UINT32_MAX) return BODY_GROUND;
    if (body.index1 == 0 || body.model != model->tag) return -2;
    return body.index1 > (uint32_t)model->body_count ? -2 : (int)body.index1 - 1;
}

const char *model_body_index_name(const hn_model *model, int index)
{
    if (index == BODY_GROUND) return "ground";
    return index >= 0 && index < model->body_count ? model->bodies[index].name : "";
}

hn_vec3 model_direction_to_body(const hn_model *model, int body, hn_vec3 world)
{
    return body == BODY_GROUND ? world
                               : mat3_apply_transposed(&model->bodies[body].orientation, world);
}

hn_vec3 model_direction_to_world(const hn_model *model, int body, hn_vec3 local)
{
    return body == BODY_GROUND ? local : mat3_apply(&model->bodies[body].orientation, local);
}

hn_vec3 model_point_to_body(const hn_model *model, int body, hn_vec3 world)
{
    if (body == BODY_GROUND) return world;
    return model_direction_to_body(model, body, vec3_subtract(world, model->bodies[body].position));
}

hn_vec3 model_point_to_world(const hn_model *model, int body, hn_vec3 local)
{
    if (body == BODY_GROUND) return local;
    return vec3_add(model->bodies[body].position, model_direction_to_world(model, body, local));
}

hn_status model_settle_point_mass(const hn_model *model, const char *kind, const char *name,
                                  int body, hn_vec3 *point)
{
    if (body == BODY_GROUND || model_has_directors(&model->bodies[body])) return HN_OK;
    double distance = vec3_norm(*point);
    if (distance > POINT_MASS_TOLERANCE * vec3_norm(model->bodies[body].position))
        return context_fail(
            model->context, HN_INVALID_MODEL,
            "%s '%s': its place is %g m away from the point mass '%s'; expected its position", kind,
            name, distance, model->bodies[body].name);
    *point = vec3(0.0, 0.0, 0.0);
    return HN_OK;
}

double model_speed_across(const model_body *body, hn_vec3 velocity)
{
    static const double NORMAL_TOLERANCE = 1e-9; // relative
    if (body->kind != HN_BODY_PLANAR_POINT_MASS) return 0.0;
    double off = vec3_dot(velocity, body->plane_normal);
    return fabs(off) > NORMAL_TOLERANCE * vec3_norm(velocity) ? off : 0.0;
}

hn_status hn_model_set_velocity(hn_model *model, hn_body_id body, hn_vec3 velocity)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    int index = model_body_index(model, body);
    if (index == -2)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start velocity: no such body in this model");
    if (index == BODY_GROUND)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start velocity: the ground does not move");
    model_body *b = &model->bodies[index];
    if (!vec3_is_finite(velocity))
        return context_fail(context, HN_INVALID_MODEL, "body '%s': start velocity is not finite",
                            b->name);
    if (model_speed_across(b, velocity) != 0.0)
        return context_fail(
            context, HN_INVALID_MODEL,
            "body '%s': start velocity leaves the plane of the planar point mass by %g m/s",
            b->name, vec3_dot(velocity, b->plane_normal));
    b->velocity = velocity;
    b->has_velocity = true;
    return HN_OK;
}

hn_status hn_model_set_angular_velocity(hn_model *model, hn_body_id body, hn_vec3 angular_velocity)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    int index = model_body_index(model, body);
    if (index == -2)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start angular velocity: no such body in this model");
    if (index == BODY_GROUND)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "start angular velocity: the ground does not move");
    model_body *b = &model->bodies[index];
    if (!model_has_directors(b))
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': a point mass has no angular velocity", b->name);
    if (!vec3_is_finite(angular_velocity))
        return context_fail(context, HN_INVALID_MODEL,
                            "body '%s': start angular velocity is not finite", b->name);
    b->angular_velocity = angular_velocity;
    b->has_angular_velocity = true;
    return HN_OK;
}
