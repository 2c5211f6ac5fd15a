// SPDX-License-Identifier: MIT
// Drives and laws on the coordinates of joints: validation and storage.
#include "model/model.h"

#include "base/sized.h"
#include "base/vector.h"
#include "model/profiles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_NAME_SIZE = 512 }; // a name and what tells the three drives of a rotation apart

void hn_drive_def_init(hn_drive_def *def, size_t size, hn_drive_kind kind)
{
    const hn_drive_def known = {.size = size,
                                .kind = kind,
                                .scale = 1.0,
                                .limit = HUGE_VAL,
                                .lower = -HUGE_VAL,
                                .upper = HUGE_VAL,
                                .radius = 1.0,
                                .static_ratio = 1.0};
    sized_fill(def, size, &known, sizeof known);
}

const char *hn_drive_kind_command(hn_drive_kind kind)
{
    static const char *const WORDS[HN_DRIVE_KIND_COUNT] = {
        [HN_DRIVE_EFFORT] = "value", [HN_DRIVE_SERVO] = "target", [HN_DRIVE_MOTOR] = "command"};
    return (int)kind >= 0 && (int)kind < HN_DRIVE_KIND_COUNT ? WORDS[kind] : NULL;
}

double hn_model_drive_command(const hn_model *model, int index, double time)
{
    if (hn_drive_kind_command(hn_model_drive_kind(model, index)) == NULL || index < 0 ||
        index >= hn_model_drive_count(model))
        return 0.0;
    const hn_drive_def *def = &model->drives[index].def;
    return def->scale * profile_at(&def->function, time).value;
}

void model_drive_clear(hn_context *context, model_drive *drive)
{
    profile_release(context, &drive->def.function);
    profile_release(context, &drive->def.spring_table);
    profile_release(context, &drive->def.damper_table);
    context_release(context, drive->name);
}

static hn_status check_numbers(hn_context *context, const char *name, const hn_drive_def *def)
{
    const struct {
        const char *what;
        double value;
        bool above_zero;
    } numbers[] = {
        {"proportional gain", def->proportional, false},
        {"derivative gain", def->derivative, false},
        {"integral gain", def->integral, false},
        {"stiffness", def->stiffness, false},
        {"damping", def->damping, false},
        {"armature", def->armature, false},
        {"friction", def->friction, false},
        {"coefficient of friction", def->coefficient, false},
        {"radius", def->radius, true},
        {"speed of its Stribeck curve", def->stribeck, false},
        {"stall effort", def->stall, def->kind == HN_DRIVE_MOTOR},
        {"speed without load", def->no_load, def->kind == HN_DRIVE_MOTOR},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        double value = numbers[i].value;
        if (isfinite(value) && (numbers[i].above_zero ? value > 0.0 : value >= 0.0)) continue;
        return context_fail(
            context, HN_INVALID_MODEL, "drive '%s': %s is %g; expected %s", name, numbers[i].what,
            value, numbers[i].above_zero ? "a positive number" : "zero or a positive number");
    }
    if (def->law != NULL && def->kind != HN_DRIVE_EFFORT)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': a function of your own stands for the value of an "
                            "effort; expected the kind effort",
                            name);
    if (!(def->limit > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': limit is %g; expected a positive number", name,
                            def->limit);
    bool bounds = isfinite(def->lower) || isfinite(def->upper);
    if (def->kind == HN_DRIVE_STOP && (!bounds || !(def->lower < def->upper)))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': stops at %g and %g; expected a lower and an upper value, "
                            "or one of them",
                            name, def->lower, def->upper);
    if (def->kind == HN_DRIVE_STOP && def->rigid &&
        !(def->restitution >= 0.0 && def->restitution <= 1.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': restitution is %g; expected 0 to 1", name,
                            def->restitution);
    if (def->kind == HN_DRIVE_STOP && def->rigid && (def->stiffness > 0.0 || def->damping > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': a stop with restitution has no stiffness and no damping",
                            name);
    if (def->kind == HN_DRIVE_STOP && !def->rigid && !(def->stiffness > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': the stiffness of its stops is %g; expected a positive "
                            "number",
                            name, def->stiffness);
    if (!(def->static_ratio >= 1.0) || !isfinite(def->static_ratio))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': friction at rest is %g times that of sliding; expected 1 "
                            "or more",
                            name, def->static_ratio);
    if (def->kind == HN_DRIVE_FRICTION && def->static_ratio > 1.0 && !(def->stribeck > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': friction at rest is larger than that of sliding; expected "
                            "the speed over which it falls",
                            name);
    if (def->kind == HN_DRIVE_FRICTION && !(def->friction > 0.0) && !(def->coefficient > 0.0))
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': it has no friction; expected an effort or a coefficient",
                            name);
    if (!isfinite(def->latch))
        return context_fail(context, HN_INVALID_MODEL, "drive '%s': its value is not finite", name);
    if (!isfinite(def->scale) || !isfinite(def->rest))
        return context_fail(context, HN_INVALID_MODEL, "drive '%s': %s is not finite", name,
                            isfinite(def->scale) ? "rest" : "scale");
    return HN_OK;
}

// A table of resistance takes energy at every rate: zero at rest, with the sign of the rate elsewhere.
static hn_status check_tables(hn_context *context, const char *name, const hn_drive_def *def)
{
    const hn_profile *tables[2] = {&def->spring_table, &def->damper_table};
    for (int i = 0; i < 2; ++i) {
        bool table =
            tables[i]->kind == HN_PROFILE_TABLE || (i == 0 && tables[i]->kind == HN_PROFILE_SPLINE);
        if (!table && tables[i]->kind != HN_PROFILE_CONSTANT)
            return context_fail(context, HN_INVALID_MODEL, "drive '%s': its %s is no table%s", name,
                                i == 0 ? "spring" : "damper", i == 0 ? " or spline" : "");
        TRY(profile_check(context, "drive", name, tables[i]));
    }
    const hn_profile *d = &def->damper_table;
    if (d->kind == HN_PROFILE_CONSTANT) return HN_OK;
    bool rest = false;
    for (int i = 0; i < d->count; ++i) {
        rest = rest || (d->times[i] == 0.0 && d->factors[i] == 0.0);
        if (d->times[i] * d->factors[i] < 0.0)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': its damper pushes with %g at the rate %g; expected an "
                                "effort with the sign of the rate",
                                name, d->factors[i], d->times[i]);
    }
    if (!rest)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': its damper has no entry 0 at the rate 0; expected one",
                            name);
    return HN_OK;
}

hn_status model_check_place(const hn_model *model, const char *kind, const char *name,
                            const model_joint *joint)
{
    if (joint->kind != HN_JOINT_FREE) return HN_OK;
    const hn_mat3 world = mat3_identity();
    bool turned = false;
    for (int i = 0; i < 9; ++i) turned |= joint->frame_a.m[i / 3][i % 3] != world.m[i / 3][i % 3];
    bool plane = joint->body_b != BODY_GROUND &&
                 model->bodies[joint->body_b].kind == HN_BODY_PLANAR_POINT_MASS;
    if (joint->body_a == BODY_GROUND && !plane && !turned) return HN_OK;
    return context_fail(model->context, HN_INVALID_MODEL,
                        "%s '%s': joint '%s' is free; its place counts where it leads from the "
                        "ground to a body or point mass, along the axes of the world (bodies: "
                        "[ground, ...], without frames)",
                        kind, name, joint->name);
}

static hn_status check_motion(const hn_model *model, const hn_drive_def *def, const char *name)
{
    int index = model_joint_index(model, def->joint);
    const model_joint *joint = &model->joints[index];
    for (int i = 0; i < model->drive_count; ++i) {
        const model_drive *other = &model->drives[i];
        if (other->def.kind != HN_DRIVE_MOTION || other->joint != index ||
            other->def.coordinate != def->coordinate)
            continue;
        const char *word = hn_joint_coordinate_name(joint->kind, def->coordinate);
        return context_fail(model->context, HN_INVALID_MODEL,
                            "drive '%s': the %s of joint '%s' is moved by drive '%s' already", name,
                            word == NULL ? "rotation" : word, joint->name, other->name);
    }
    if (def->function.kind == HN_PROFILE_PULSE)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "drive '%s': a motion by a pulse has jumps of speed; expected an "
                            "expression, a spline, a step or a table",
                            name);
    return HN_OK;
}

static hn_status find_joint(const hn_model *model, hn_joint_id id, const char *name,
                            const model_joint **joint)
{
    int index = model_joint_index(model, id);
    if (index < 0)
        return context_fail(model->context, HN_INVALID_MODEL,
                            "drive '%s': its joint is not in this model", name);
    *joint = &model->joints[index];
    return HN_OK;
}

static hn_status check_drive(const hn_model *model, const hn_drive_def *def, const char *name)
{
    hn_context *context = model->context;
    const model_joint *joint = NULL;
    TRY(find_joint(model, def->joint, name, &joint));
    if (hn_joint_coordinate_name(joint->kind, 0) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' is %s; a drive needs a revolute, prismatic, "
                            "cylindrical, slot, planar, universal or free one, a spherical one is "
                            "moved by a rotation",
                            name, joint->name, hn_joint_kind_name(joint->kind));
    if (hn_joint_coordinate_name(joint->kind, def->coordinate) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' (%s) has no coordinate %d", name, joint->name,
                            hn_joint_kind_name(joint->kind), def->coordinate);
    if (hn_drive_kind_name(def->kind)[0] == '\0')
        return context_fail(context, HN_INVALID_MODEL, "drive '%s': unknown kind of drive %d", name,
                            (int)def->kind);
    TRY(model_check_place(model, "drive", name, joint));
    TRY(check_numbers(context, name, def));
    TRY(check_tables(context, name, def));
    if ((def->kind == HN_DRIVE_FRICTION || def->kind == HN_DRIVE_LATCH) && def->armature > 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': a %s has no armature; a spring may carry it", name,
                            hn_drive_kind_name(def->kind));
    if (def->kind == HN_DRIVE_FRICTION && def->coefficient > 0.0 && joint->kind == HN_JOINT_FREE)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' is free and has no reaction that a coefficient "
                            "of friction could multiply; expected an effort",
                            name, joint->name);
    if (def->kind == HN_DRIVE_MOTION) TRY(check_motion(model, def, name));
    return profile_check(context, "drive", name, &def->function);
}

// A joint whose coordinate is moved starts with the rate of the motion, unless rates are set for it. Places and
// rotations come later, with those of a mechanism in loops (simulation/start_velocities.c).
static void start_joint(hn_model *model, const model_drive *drive)
{
    model_joint *joint = &model->joints[drive->joint];
    if (joint->kind == HN_JOINT_FREE || (joint->has_rates && !joint->rates_of_motions)) return;
    joint->has_rates = joint->rates_of_motions = true;
    joint->rates_known |= 1u << drive->def.coordinate;
    joint->rates[drive->def.coordinate] =
        drive->def.scale * profile_at(&drive->def.function, 0.0).rate;
    model_follow_couplings(model);
}

// Own copies of what a definition holds; `copy` has the name and may be cleared.
static hn_status copy_drive(const hn_model *model, const hn_drive_def *def, model_drive *copy)
{
    hn_context *context = model->context;
    char *name = copy->name;
    copy->def = *def;
    copy->name = name;
    copy->joint = model_joint_index(model, def->joint);
    copy->def.name = NULL;
    copy->def.function = copy->def.spring_table = copy->def.damper_table =
        (hn_profile){.kind = HN_PROFILE_CONSTANT};
    TRY(profile_copy(context, &def->function, &copy->def.function));
    TRY(profile_copy(context, &def->spring_table, &copy->def.spring_table));
    return profile_copy(context, &def->damper_table, &copy->def.damper_table);
}

// Room for `count` drives and their names: adding them cannot fail then.
static hn_status reserve_drives(hn_model *model, int count)
{
    void *drives = model->drives;
    hn_status status = context_grow(model->context, &drives, &model->drive_capacity,
                                    model->drive_count + count, sizeof *model->drives);
    model->drives = drives;
    TRY(status);
    return name_table_reserve(model->context, &model->drive_names, count);
}

static hn_status append_drive(hn_model *model, const model_drive *added)
{
    TRY(name_table_add(model->context, &model->drive_names, added->name, model->drive_count));
    model->drives[model->drive_count++] = *added;
    return HN_OK;
}

hn_status hn_model_add_drive(hn_model *model, const hn_drive_def *def, hn_drive_id *drive)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && drive != NULL);
    OWN_COPY(context, hn_drive_def, def, hn_drive_def_default(def->kind));
    model_drive added = {0};
    TRY(model_new_name(context, &model->drive_names, "drive", def->name, model->drive_count,
                       &added.name));
    hn_status status = check_drive(model, def, added.name);
    if (status == HN_OK) status = copy_drive(model, def, &added);
    if (status == HN_OK) status = reserve_drives(model, 1);
    if (status == HN_OK) status = append_drive(model, &added);
    if (status != HN_OK) {
        model_drive_clear(context, &added);
        return status;
    }
    if (def->kind == HN_DRIVE_MOTION) start_joint(model, &added);
    *drive = (hn_drive_id){(uint32_t)model->drive_count, model->tag};
    return HN_OK;
}

// ---- rotation paths -----------------------------------------------------------------------------------------

void hn_rotation_def_init(hn_rotation_def *def, size_t size)
{
    const hn_rotation_def known = {.size = size,
                                   .axes = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                                   .scales = {1.0, 1.0, 1.0}};
    sized_fill(def, size, &known, sizeof known);
}

static hn_status check_rotation(const hn_model *model, const hn_rotation_def *def, const char *name)
{
    hn_context *context = model->context;
    const model_joint *joint = NULL;
    TRY(find_joint(model, def->joint, name, &joint));
    if (joint->kind != HN_JOINT_SPHERICAL && joint->kind != HN_JOINT_FREE)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' is %s; a rotation moves a spherical or free "
                            "one",
                            name, joint->name, hn_joint_kind_name(joint->kind));
    TRY(model_check_place(model, "drive", name, joint));
    const int ends[2] = {joint->body_a, joint->body_b};
    for (int i = 0; i < 2; ++i)
        if (ends[i] != BODY_GROUND && !model_has_directors(&model->bodies[ends[i]]))
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': '%s' is a point mass, which does not turn; expected a "
                                "body",
                                name, model->bodies[ends[i]].name);
    for (int k = 0; k < 3; ++k) {
        if (!vec3_is_finite(def->axes[k]) || !(vec3_norm(def->axes[k]) > 0.0))
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': axis %d of its rotation is no direction; expected a "
                                "finite vector other than zero",
                                name, k + 1);
        if (!isfinite(def->scales[k]))
            return context_fail(context, HN_INVALID_MODEL, "drive '%s': scale is not finite", name);
    }
    return HN_OK;
}

// One of the three: the turn about an axis of the first body, which has one of the angles with it
static hn_status make_row(hn_model *model, const hn_rotation_def *def, int row, const char *whole,
                          model_drive *added)
{
    static const char *const SUFFIXES[3] = {"x", "y", "z"};
    const model_joint *joint = &model->joints[model_joint_index(model, def->joint)];
    char name[PATH_NAME_SIZE];
    hn_drive_def one = hn_drive_def_default(HN_DRIVE_MOTION);
    bool free = joint->kind == HN_JOINT_FREE;
    one.joint = def->joint;
    one.coordinate = row + (free ? 3 : 0);
    one.function = def->angles[row];
    one.scale = def->scales[row];
    snprintf(name, sizeof name, "%s.%s%s", whole, free ? "turn_" : "", SUFFIXES[row]);
    TRY(model_new_name(model->context, &model->drive_names, "drive", name, model->drive_count,
                       &added->name));
    TRY(check_motion(model, &one, added->name));
    TRY(profile_check(model->context, "drive", added->name, &one.function));
    added->of_path = true;
    added->path_row = row;
    added->path_axis = vec3_scale(1.0 / vec3_norm(def->axes[row]), def->axes[row]);
    return copy_drive(model, &one, added);
}

hn_status hn_model_add_rotation(hn_model *model, const hn_rotation_def *def, hn_drive_id *first)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && first != NULL);
    OWN_COPY(context, hn_rotation_def, def, hn_rotation_def_default());
    model_drive rows[3] = {{0}};
    char *whole = NULL;
    TRY(model_new_name(context, &model->drive_names, "drive", def->name, model->drive_count,
                       &whole));
    hn_status status = check_rotation(model, def, whole);
    for (int k = 0; k < 3 && status == HN_OK; ++k)
        status = make_row(model, def, k, whole, &rows[k]);
    context_release(context, whole);
    if (status == HN_OK) status = reserve_drives(model, 3);
    for (int k = 0; k < 3 && status == HN_OK; ++k) status = append_drive(model, &rows[k]);
    if (status != HN_OK) {
        for (int k = 0; k < 3; ++k) model_drive_clear(context, &rows[k]);
        return status;
    }
    *first = (hn_drive_id){(uint32_t)model->drive_count - 2, model->tag};
    return HN_OK;
}

int hn_model_drive_count(const hn_model *model)
{
    return model == NULL ? 0 : model->drive_count;
}

const char *hn_model_drive_name(const hn_model *model, int index)
{
    bool known = model != NULL && index >= 0 && index < model->drive_count;
    return known ? model->drives[index].name : "";
}

hn_drive_kind hn_model_drive_kind(const hn_model *model, int index)
{
    bool known = model != NULL && index >= 0 && index < model->drive_count;
    return known ? model->drives[index].def.kind : HN_DRIVE_EFFORT;
}

bool servo_integrates_a_path(const hn_drive_def *def)
{
    return def->kind == HN_DRIVE_SERVO && def->integral != 0.0 &&
           def->function.kind != HN_PROFILE_CONSTANT;
}

const char *drive_without_way_back(const hn_drive_def *def)
{
    if (def->armature > 0.0) return "rotors are not made for";
    switch (def->kind) {
    case HN_DRIVE_FRICTION: return "dry friction would drive instead of brake";
    case HN_DRIVE_STOP: return "a stop would meet from the other side";
    case HN_DRIVE_LATCH: return "a latch would open";
    case HN_DRIVE_MOTION: return "motions are not made for";
    case HN_DRIVE_MOTOR: return "a motor, whose effort falls with its speed, would speed up";
    case HN_DRIVE_SERVO:
        return def->derivative > 0.0 ? "a servo with a derivative gain would speed up" : NULL;
    default:
        return def->damper_table.kind != HN_PROFILE_CONSTANT ? "a damper by a table would speed up"
                                                             : NULL;
    }
}
