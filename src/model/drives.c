// SPDX-License-Identifier: MIT
// Drives and laws on the coordinates of joints: validation and storage.
#include "model/model.h"
#include "model/profiles.h"

#include <math.h>
#include <string.h>

hn_drive_def hn_drive_def_default(hn_drive_kind kind)
{
    return (hn_drive_def){.kind = kind,
                          .scale = 1.0,
                          .limit = HUGE_VAL,
                          .lower = -HUGE_VAL,
                          .upper = HUGE_VAL,
                          .radius = 1.0,
                          .static_ratio = 1.0};
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

static hn_status check_drive(const hn_model *model, const hn_drive_def *def, const char *name)
{
    hn_context *context = model->context;
    int index = model_joint_index(model, def->joint);
    if (index < 0)
        return context_fail(context, HN_INVALID_MODEL, "drive '%s': its joint is not in this model",
                            name);
    const model_joint *joint = &model->joints[index];
    if (hn_joint_coordinate_name(joint->kind, 0) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' is %s; a drive needs a revolute, prismatic, "
                            "cylindrical, planar or universal one",
                            name, joint->name, hn_joint_kind_name(joint->kind));
    if (hn_joint_coordinate_name(joint->kind, def->coordinate) == NULL)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': joint '%s' (%s) has no coordinate %d", name, joint->name,
                            hn_joint_kind_name(joint->kind), def->coordinate);
    if (hn_drive_kind_name(def->kind)[0] == '\0')
        return context_fail(context, HN_INVALID_MODEL, "drive '%s': unknown kind of drive %d", name,
                            (int)def->kind);
    TRY(check_numbers(context, name, def));
    TRY(check_tables(context, name, def));
    if ((def->kind == HN_DRIVE_FRICTION || def->kind == HN_DRIVE_LATCH) && def->armature > 0.0)
        return context_fail(context, HN_INVALID_MODEL,
                            "drive '%s': a %s has no armature; a spring may carry it", name,
                            hn_drive_kind_name(def->kind));
    if (def->kind == HN_DRIVE_MOTION) {
        for (int i = 0; i < model->drive_count; ++i)
            if (model->drives[i].def.kind == HN_DRIVE_MOTION && model->drives[i].joint == index &&
                model->drives[i].def.coordinate == def->coordinate)
                return context_fail(
                    context, HN_INVALID_MODEL,
                    "drive '%s': the %s of joint '%s' is moved by drive '%s' already", name,
                    hn_joint_coordinate_name(joint->kind, def->coordinate), joint->name,
                    model->drives[i].name);
        if (def->function.kind == HN_PROFILE_PULSE)
            return context_fail(context, HN_INVALID_MODEL,
                                "drive '%s': a motion by a pulse has jumps of speed; expected an "
                                "expression, a spline, a step or a table",
                                name);
    }
    return profile_check(context, "drive", name, &def->function);
}

// A joint whose coordinate is moved starts with the rate of the motion, unless rates are set for it.
static void start_joint(hn_model *model, const model_drive *drive)
{
    model_joint *joint = &model->joints[drive->joint];
    if (joint->has_rates && !joint->rates_of_motions) return;
    joint->has_rates = joint->rates_of_motions = true;
    joint->rates_known |= 1u << drive->def.coordinate;
    joint->rates[drive->def.coordinate] =
        drive->def.scale * profile_at(&drive->def.function, 0.0).rate;
    model_follow_couplings(model);
}

hn_status hn_model_add_drive(hn_model *model, const hn_drive_def *def, hn_drive_id *drive)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL && drive != NULL);
    model_drive added = {.def = *def, .joint = model_joint_index(model, def->joint)};
    added.def.name = NULL;
    added.def.function = added.def.spring_table = added.def.damper_table =
        (hn_profile){.kind = HN_PROFILE_CONSTANT};
    TRY(model_new_name(context, &model->drive_names, "drive", def->name, model->drive_count,
                       &added.name));
    void *drives = model->drives;
    hn_status status = check_drive(model, def, added.name);
    if (status == HN_OK) status = profile_copy(context, &def->function, &added.def.function);
    if (status == HN_OK)
        status = profile_copy(context, &def->spring_table, &added.def.spring_table);
    if (status == HN_OK)
        status = profile_copy(context, &def->damper_table, &added.def.damper_table);
    if (status == HN_OK) {
        status = context_grow(context, &drives, &model->drive_capacity, model->drive_count + 1,
                              sizeof *model->drives);
        model->drives = drives;
    }
    if (status == HN_OK)
        status = name_table_add(context, &model->drive_names, added.name, model->drive_count);
    if (status != HN_OK) {
        model_drive_clear(context, &added);
        return status;
    }
    model->drives[model->drive_count++] = added;
    if (def->kind == HN_DRIVE_MOTION) start_joint(model, &added);
    *drive = (hn_drive_id){(uint32_t)model->drive_count, model->tag};
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
