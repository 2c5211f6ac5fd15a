// SPDX-License-Identifier: MIT
// Loads: forces, torques, springs and torsional springs with their time profiles; validation and storage.
#include <holonom/model.h>

#include "base/vector.h"
#include "base/sized.h"
#include "model/joint_kinds.h"
#include "model/model.h"
#include "model/profiles.h"

#include <stdio.h>

const load_kind_facts *load_kind_facts_of(model_load_kind kind)
{
    static const load_kind_facts KINDS[LOAD_KIND_COUNT] = {
        [LOAD_FORCE] = {"force", 1},     [LOAD_TORQUE] = {"torque", 1},
        [LOAD_SPRING] = {"spring", 2},   [LOAD_TORSION_SPRING] = {"torsion_spring", 0},
        [LOAD_BUSHING] = {"bushing", 2},
    };
    return &KINDS[kind];
}

void hn_load_def_init(hn_load_def *def, size_t size)
{
    const hn_load_def known = {.size = size, .profile = {.kind = HN_PROFILE_CONSTANT}};
    sized_fill(def, size, &known, sizeof known);
}

void hn_spring_def_init(hn_spring_def *def, size_t size)
{
    const hn_spring_def known = {.size = size, .rest_length = -1.0};
    sized_fill(def, size, &known, sizeof known);
}

void hn_torsion_spring_def_init(hn_torsion_spring_def *def, size_t size)
{
    const hn_torsion_spring_def known = {.size = size, .rest_angle = 0.0};
    sized_fill(def, size, &known, sizeof known);
}

static hn_status check_not_negative(hn_context *context, const char *name, const char *what,
                                    double value)
{
    if (isfinite(value) && value >= 0.0) return HN_OK;
    return context_fail(context, HN_INVALID_MODEL,
                        "load '%s': %s is %g; expected zero or a positive number", name, what,
                        value);
}

// Store a checked load; takes over its name and table on success.
static hn_status store(hn_model *model, const model_load *load, hn_load_id *id)
{
    hn_context *context = model->context;
    void *loads = model->loads;
    hn_status status = context_grow(context, &loads, &model->load_capacity, model->load_count + 1,
                                    sizeof *model->loads);
    model->loads = loads;
    TRY(status);
    TRY(name_table_add(context, &model->load_names, load->name, model->load_count));
    model->loads[model->load_count++] = *load;
    *id = (hn_load_id){(uint32_t)model->load_count, model->tag};
    return HN_OK;
}

// ---- forces and torques -------------------------------------------------------------------------------

static hn_status check_load(const hn_model *model, const hn_load_def *def, model_load *load)
{
    hn_context *context = model->context;
    const char *name = load->name;
    if (load->body_a == -2)
        return context_fail(context, HN_INVALID_MODEL, "load '%s': its body is not in this model",
                            name);
    if (load->body_a == BODY_GROUND)
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': acts on the ground; expected a body that can move", name);
    const model_body *body = &model->bodies[load->body_a];
    if (!model_has_directors(body) && (def->torque || def->body_fixed))
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': '%s' is a point mass, which takes no %s", name, body->name,
                            def->torque ? "torque" : "body-fixed force");
    if (!vec3_is_finite(def->vector))
        return context_fail(context, HN_INVALID_MODEL, "load '%s': vector is not finite", name);
    if (!def->torque) {
        if (!vec3_is_finite(def->point))
            return context_fail(context, HN_INVALID_MODEL, "load '%s': point is not finite", name);
        load->point_a = def->point;
        TRY(model_settle_point_mass(model, "load", name, load->body_a, &load->point_a));
    }
    return profile_check(context, "load", name, &def->profile);
}

hn_status hn_model_add_load(hn_model *model, const hn_load_def *def, hn_load_id *load)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && load != NULL);
    OWN_COPY(context, hn_load_def, def, hn_load_def_default());
    model_load added = {
        .kind = def->torque ? LOAD_TORQUE : LOAD_FORCE,
        .body_a = model_body_index(model, def->body),
        .body_b = BODY_GROUND,
        .joint = -1,
        .body_fixed = def->body_fixed,
        .vector = def->vector,
    };
    TRY(model_new_name(context, &model->load_names, "load", def->name, model->load_count,
                       &added.name));
    hn_status status = check_load(model, def, &added);
    if (status == HN_OK) status = profile_copy(context, &def->profile, &added.profile);
    if (status == HN_OK) status = store(model, &added, load);
    if (status != HN_OK) {
        profile_release(context, &added.profile);
        context_release(context, added.name);
    }
    return status;
}

// ---- springs ------------------------------------------------------------------------------------------

static hn_status check_spring(const hn_model *model, const hn_spring_def *def, model_load *spring)
{
    hn_context *context = model->context;
    const char *name = spring->name;
    int a = spring->body_a, b = spring->body_b;
    if (a == -2 || b == -2)
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': the spring's %s body is not in this model", name,
                            a == -2 ? "first" : "second");
    if (a == b)
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': the spring joins '%s' to itself; expected two bodies", name,
                            model_body_index_name(model, a));
    if (!vec3_is_finite(def->point_a) || !vec3_is_finite(def->point_b))
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': a point of the spring is not finite", name);
    bool unplaced = (a != BODY_GROUND && model->bodies[a].unplaced) ||
                    (b != BODY_GROUND && model->bodies[b].unplaced);
    if (unplaced && (!def->body_coordinates || def->rest_length < 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': a body of the spring has no position and is placed through "
                            "its joints; expected %s",
                            name,
                            def->body_coordinates
                                ? "a rest length"
                                : "places on the bodies (coordinates: body) and a rest length");
    spring->point_a =
        def->body_coordinates ? def->point_a : model_point_to_body(model, a, def->point_a);
    spring->point_b =
        def->body_coordinates ? def->point_b : model_point_to_body(model, b, def->point_b);
    TRY(model_settle_point_mass(model, "load", name, a, &spring->point_a));
    TRY(model_settle_point_mass(model, "load", name, b, &spring->point_b));
    TRY(check_not_negative(context, name, "stiffness", def->stiffness));
    TRY(check_not_negative(context, name, "damping", def->damping));

    if (!isfinite(def->rest_length))
        return context_fail(context, HN_INVALID_MODEL, "load '%s': rest length is not finite",
                            name);
    double length = vec3_norm(vec3_subtract(model_point_to_world(model, b, spring->point_b),
                                            model_point_to_world(model, a, spring->point_a)));
    spring->rest = def->rest_length < 0.0 ? length : def->rest_length;
    if (!unplaced && length == 0.0 && (spring->rest > 0.0 || spring->damping > 0.0))
        return context_fail(
            context, HN_INVALID_MODEL,
            "load '%s': the spring's ends are at the same place, so its force has no direction",
            name);
    return HN_OK;
}

hn_status hn_model_add_spring(hn_model *model, const hn_spring_def *def, hn_load_id *spring)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && spring != NULL);
    OWN_COPY(context, hn_spring_def, def, hn_spring_def_default());
    model_load added = {
        .kind = LOAD_SPRING,
        .body_a = model_body_index(model, def->body_a),
        .body_b = model_body_index(model, def->body_b),
        .joint = -1,
        .stiffness = def->stiffness,
        .damping = def->damping,
    };
    TRY(model_new_name(context, &model->load_names, "spring", def->name, model->load_count,
                       &added.name));
    hn_status status = check_spring(model, def, &added);
    if (status == HN_OK) status = store(model, &added, spring);
    if (status != HN_OK) context_release(context, added.name);
    return status;
}

static hn_status check_torsion_spring(const hn_model *model, const hn_torsion_spring_def *def,
                                      const char *name)
{
    hn_context *context = model->context;
    if (model_joint_index(model, def->joint) < 0)
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': the spring's joint is not in this model", name);
    const model_joint *joint = &model->joints[model_joint_index(model, def->joint)];
    if (!joint_kind_has_angle(joint->kind))
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': joint '%s' is %s; a torsional spring needs a revolute, "
                            "cylindrical or planar one",
                            name, joint->name, hn_joint_kind_name(joint->kind));
    TRY(check_not_negative(context, name, "stiffness", def->stiffness));
    TRY(check_not_negative(context, name, "damping", def->damping));
    if (!isfinite(def->rest_angle))
        return context_fail(context, HN_INVALID_MODEL, "load '%s': rest angle is not finite", name);
    return HN_OK;
}

hn_status hn_model_add_torsion_spring(hn_model *model, const hn_torsion_spring_def *def,
                                      hn_load_id *spring)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && spring != NULL);
    OWN_COPY(context, hn_torsion_spring_def, def, hn_torsion_spring_def_default());
    model_load added = {
        .kind = LOAD_TORSION_SPRING,
        .body_a = BODY_GROUND,
        .body_b = BODY_GROUND,
        .joint = model_joint_index(model, def->joint),
        .stiffness = def->stiffness,
        .damping = def->damping,
        .rest = def->rest_angle,
    };
    TRY(model_new_name(context, &model->load_names, "torsion_spring", def->name, model->load_count,
                       &added.name));
    hn_status status = check_torsion_spring(model, def, added.name);
    if (status == HN_OK) status = store(model, &added, spring);
    if (status != HN_OK) context_release(context, added.name);
    return status;
}

// ---- bushings -----------------------------------------------------------------------------------------

void hn_bushing_def_init(hn_bushing_def *def, size_t size)
{
    const hn_bushing_def known = {
        .size = size, .frame_a = mat3_identity(), .frame_b = mat3_identity()};
    sized_fill(def, size, &known, sizeof known);
}

static hn_status check_bushing_bodies(const hn_model *model, const hn_bushing_def *def,
                                      const model_load *bushing)
{
    hn_context *context = model->context;
    const char *name = bushing->name;
    const int ends[2] = {bushing->body_a, bushing->body_b};
    if (ends[0] == ends[1])
        return context_fail(context, HN_INVALID_MODEL,
                            "load '%s': the bushing joins '%s' to itself; expected two bodies",
                            name, model_body_index_name(model, ends[0]));
    for (int i = 0; i < 2; ++i) {
        if (ends[i] == -2)
            return context_fail(context, HN_INVALID_MODEL,
                                "load '%s': the bushing's %s body is not in this model", name,
                                i == 0 ? "first" : "second");
        if (ends[i] == BODY_GROUND) continue;
        const model_body *body = &model->bodies[ends[i]];
        if (!model_has_directors(body))
            return context_fail(context, HN_INVALID_MODEL,
                                "load '%s': '%s' is a point mass, which cannot turn; a bushing "
                                "needs bodies that can, or the ground",
                                name, body->name);
        if (body->unplaced && !def->body_coordinates)
            return context_fail(context, HN_INVALID_MODEL,
                                "load '%s': body '%s' has no position and is placed through its "
                                "joints; expected places and frames on the bodies (coordinates: "
                                "body)",
                                name, body->name);
    }
    return HN_OK;
}

// The bushing's frame in a body: as it is given there, or the world's at the start.
static hn_mat3 frame_in_body(const hn_model *model, int body, bool given, const hn_mat3 *frame)
{
    if (given || body == BODY_GROUND) return *frame;
    hn_mat3 axes = mat3_transpose(&model->bodies[body].orientation);
    return mat3_multiply(&axes, frame);
}

static hn_status check_bushing(const hn_model *model, const hn_bushing_def *def, model_load *added)
{
    static const char *const AXES[6] = {"along 1", "along 2", "along 3",
                                        "about 1", "about 2", "about 3"};
    hn_context *context = model->context;
    bool given = def->body_coordinates;
    char owner[160];
    TRY(check_bushing_bodies(model, def, added));
    if (!vec3_is_finite(def->point_a) || (given && !vec3_is_finite(def->point_b)))
        return context_fail(context, HN_INVALID_MODEL, "load '%s': its place is not finite",
                            added->name);
    snprintf(owner, sizeof owner, "load '%.100s': frame", added->name);
    TRY(model_check_rotation(context, owner, &def->frame_a));
    if (given) TRY(model_check_rotation(context, owner, &def->frame_b));
    for (int k = 0; k < 6; ++k) {
        snprintf(owner, sizeof owner, "stiffness %s", AXES[k]);
        TRY(check_not_negative(context, added->name, owner, def->stiffness[k]));
        snprintf(owner, sizeof owner, "damping %s", AXES[k]);
        TRY(check_not_negative(context, added->name, owner, def->damping[k]));
        added->stiffnesses[k] = def->stiffness[k];
        added->dampings[k] = def->damping[k];
        added->stiffness = fmax(added->stiffness, def->stiffness[k]);
        added->damping = fmax(added->damping, def->damping[k]);
    }
    int a = added->body_a, b = added->body_b;
    added->point_a = given ? def->point_a : model_point_to_body(model, a, def->point_a);
    added->point_b = given ? def->point_b : model_point_to_body(model, b, def->point_a);
    added->frame_a = frame_in_body(model, a, given, &def->frame_a);
    added->frame_b = frame_in_body(model, b, given, given ? &def->frame_b : &def->frame_a);
    return HN_OK;
}

hn_status hn_model_add_bushing(hn_model *model, const hn_bushing_def *def, hn_load_id *bushing)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && bushing != NULL);
    OWN_COPY(context, hn_bushing_def, def, hn_bushing_def_default());
    model_load added = {
        .kind = LOAD_BUSHING,
        .body_a = model_body_index(model, def->body_a),
        .body_b = model_body_index(model, def->body_b),
        .joint = -1,
    };
    TRY(model_new_name(context, &model->load_names, "bushing", def->name, model->load_count,
                       &added.name));
    hn_status status = check_bushing(model, def, &added);
    if (status == HN_OK) status = store(model, &added, bushing);
    if (status != HN_OK) context_release(context, added.name);
    return status;
}
