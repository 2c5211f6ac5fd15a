// SPDX-License-Identifier: MIT
// The drives of a model file: efforts, servos, motors, and springs on coordinates of joints.
#include "io/model_reader.h"

#include "model/drive_kinds.h"
#include "model/joint_kinds.h"

#include <stdio.h>
#include <string.h>

// Blocks that the functions and tables of a drive take until it is added.
typedef struct drive_parts {
    time_function function, spring, damper;
} drive_parts;

// joint, and the coordinate by its word; a joint with one coordinate needs none.
static hn_status read_place(const model_reader *r, int map, const char *owner, hn_drive_def *def)
{
    int joint, coordinate = reader_find(r, map, "coordinate"), count = 0;
    const char *words[3], *word;
    TRY(reader_require(r, map, "joint", owner, &joint));
    TRY(reader_joint(r, joint, &def->joint));
    hn_joint_kind kind = hn_model_joint_kind(r->model, def->joint);
    while (count < 3 && (words[count] = hn_joint_coordinate_name(kind, count)) != NULL) ++count;
    if (count == 0) return HN_OK; // the model says why not
    if (coordinate < 0) {
        if (count == 1) return HN_OK;
        return reader_fail(r, map, "%s has no 'coordinate'; joint '%s' has %s, %s%s%s", owner,
                           reader_text(r, joint), words[0], words[1], count > 2 ? ", " : "",
                           count > 2 ? words[2] : "");
    }
    TRY(reader_word(r, coordinate, "coordinate", &word));
    for (def->coordinate = 0; def->coordinate < count; ++def->coordinate)
        if (strcmp(word, words[def->coordinate]) == 0) return HN_OK;
    return reader_fail_word(r, coordinate, "coordinate", owner, word, words, count);
}

// What is counted along the coordinate of a drive, or about it.
static quantity part_of(const model_reader *r, const hn_drive_def *def, coordinate_part part)
{
    const hn_joint_kind kind = hn_model_joint_kind(r->model, def->joint);
    if (hn_joint_coordinate_name(kind, def->coordinate) == NULL) return QUANTITY_ANY;
    return quantity_along(joint_kind_facts_of(kind)->coordinates[def->coordinate].unit, part);
}

static hn_status read_not_negative(const model_reader *r, int map, const char *key, quantity q,
                                   double *value)
{
    int node = reader_find(r, map, key);
    if (node < 0) return HN_OK;
    TRY(reader_number(r, node, key, q, value));
    if (*value >= 0.0) return HN_OK;
    return reader_fail(r, node, "%s is %g; expected zero or a positive number", key, *value);
}

static hn_status read_function(const model_reader *r, int map, const char *key, const char *owner,
                               bool required, quantity q, hn_drive_def *def, time_function *f)
{
    int node = reader_find(r, map, key);
    if (required) TRY(reader_require(r, map, key, owner, &node));
    if (node < 0) return HN_OK;
    TRY(reader_time_function(r, node, key, q, f));
    def->function = f->profile;
    def->scale = f->scale;
    return HN_OK;
}

static hn_status read_servo(const model_reader *r, int map, const char *owner, hn_drive_def *def,
                            drive_parts *parts)
{
    TRY(read_function(r, map, "target", owner, true, part_of(r, def, PART_VALUE), def,
                      &parts->function));
    TRY(read_not_negative(r, map, "proportional", part_of(r, def, PART_STIFFNESS),
                          &def->proportional));
    TRY(read_not_negative(r, map, "derivative", part_of(r, def, PART_DAMPING), &def->derivative));
    TRY(read_not_negative(r, map, "integral", part_of(r, def, PART_INTEGRAL_GAIN), &def->integral));
    int limit = reader_find(r, map, "limit");
    if (limit >= 0)
        TRY(reader_positive(r, limit, "limit", part_of(r, def, PART_EFFORT), "N or N m",
                            &def->limit));
    if (def->proportional + def->derivative + def->integral > 0.0) return HN_OK;
    return reader_fail(
        r, map, "%s has no gain; expected one of proportional, derivative and integral", owner);
}

static hn_status read_motor(const model_reader *r, int map, const char *owner, hn_drive_def *def,
                            drive_parts *parts)
{
    int stall, no_load;
    TRY(reader_require(r, map, "stall", owner, &stall));
    TRY(reader_require(r, map, "no_load", owner, &no_load));
    TRY(reader_positive(r, stall, "stall", part_of(r, def, PART_EFFORT), "N or N m", &def->stall));
    TRY(reader_positive(r, no_load, "no_load", part_of(r, def, PART_RATE), "m/s or rad/s",
                        &def->no_load));
    return read_function(r, map, "command", owner, false, QUANTITY_NUMBER, def, &parts->function);
}

static hn_status read_spring(const model_reader *r, int map, const char *owner, hn_drive_def *def,
                             drive_parts *parts)
{
    const quantity effort = part_of(r, def, PART_EFFORT);
    const table_words SPRING = {
        {"displacements", "efforts", "forces"}, "", part_of(r, def, PART_VALUE), effort};
    const table_words DAMPER = {
        {"rates", "efforts", "forces"}, "", part_of(r, def, PART_RATE), effort};
    int rest = reader_find(r, map, "rest"), table = reader_find(r, map, "table"),
        spline = reader_find(r, map, "spline"), damper = reader_find(r, map, "damper");
    TRY(read_not_negative(r, map, "stiffness", part_of(r, def, PART_STIFFNESS), &def->stiffness));
    TRY(read_not_negative(r, map, "damping", part_of(r, def, PART_DAMPING), &def->damping));
    if (rest >= 0) TRY(reader_number(r, rest, "rest", part_of(r, def, PART_VALUE), &def->rest));
    if (table >= 0 && spline >= 0)
        return reader_fail(r, spline, "%s has both table and spline; expected one of them", owner);
    if (table >= 0) TRY(reader_table(r, table, "table", HN_PROFILE_TABLE, &SPRING, &parts->spring));
    if (spline >= 0)
        TRY(reader_table(r, spline, "spline", HN_PROFILE_SPLINE, &SPRING, &parts->spring));
    if (damper >= 0)
        TRY(reader_table(r, damper, "damper", HN_PROFILE_TABLE, &DAMPER, &parts->damper));
    def->spring_table = parts->spring.profile;
    def->damper_table = parts->damper.profile;
    bool some = table >= 0 || spline >= 0 || damper >= 0 || def->stiffness > 0.0 ||
                def->damping > 0.0 || reader_find(r, map, "armature") >= 0;
    if (some) return HN_OK;
    return reader_fail(
        r, map, "%s does nothing; expected stiffness, damping, table, spline, damper or armature",
        owner);
}

static hn_status read_stop(const model_reader *r, int map, const char *owner, hn_drive_def *def)
{
    int lower = reader_find(r, map, "lower"), upper = reader_find(r, map, "upper"),
        stiffness = reader_find(r, map, "stiffness"),
        restitution = reader_find(r, map, "restitution");
    if ((stiffness >= 0) == (restitution >= 0))
        return reader_fail(r, map, "%s has %s stiffness %s restitution; expected one of them",
                           owner, stiffness >= 0 ? "both" : "neither",
                           stiffness >= 0 ? "and" : "nor");
    if (stiffness >= 0)
        TRY(reader_positive(r, stiffness, "stiffness", part_of(r, def, PART_STIFFNESS),
                            "N/m or N m/rad", &def->stiffness));
    def->rigid = restitution >= 0;
    if (def->rigid)
        TRY(reader_number(r, restitution, "restitution", QUANTITY_NUMBER, &def->restitution));
    if (def->rigid && !(def->restitution >= 0.0 && def->restitution <= 1.0))
        return reader_fail(r, restitution, "restitution is %g; expected 0 to 1", def->restitution);
    TRY(read_not_negative(r, map, "damping", part_of(r, def, PART_DAMPING), &def->damping));
    if (lower >= 0) TRY(reader_number(r, lower, "lower", part_of(r, def, PART_VALUE), &def->lower));
    if (upper >= 0) TRY(reader_number(r, upper, "upper", part_of(r, def, PART_VALUE), &def->upper));
    if (lower >= 0 || upper >= 0) return HN_OK;
    return reader_fail(r, map, "%s has neither lower nor upper; expected at least one", owner);
}

static hn_status read_friction(const model_reader *r, int map, const char *owner, hn_drive_def *def)
{
    int radius = reader_find(r, map, "radius"), more = reader_find(r, map, "static"),
        stribeck = reader_find(r, map, "stribeck");
    TRY(read_not_negative(r, map, "effort", part_of(r, def, PART_EFFORT), &def->friction));
    TRY(read_not_negative(r, map, "coefficient", QUANTITY_NUMBER, &def->coefficient));
    if (radius >= 0)
        TRY(reader_positive(r, radius, "radius", QUANTITY_LENGTH, "metres", &def->radius));
    if (more >= 0) TRY(reader_number(r, more, "static", QUANTITY_NUMBER, &def->static_ratio));
    if (more >= 0 && !(def->static_ratio >= 1.0))
        return reader_fail(r, more,
                           "static is %g; expected 1 or more: friction at rest over that "
                           "of sliding",
                           def->static_ratio);
    if (stribeck >= 0)
        TRY(reader_positive(r, stribeck, "stribeck", part_of(r, def, PART_RATE), "m/s or rad/s",
                            &def->stribeck));
    if (def->static_ratio > 1.0 && stribeck < 0)
        return reader_fail(r, more,
                           "%s has no 'stribeck'; expected the speed over which friction "
                           "falls from that at rest",
                           owner);
    if (def->friction > 0.0 || def->coefficient > 0.0) return HN_OK;
    return reader_fail(r, map, "%s has no friction; expected effort or coefficient", owner);
}

// Friction by the reaction of a joint that turns needs the radius at which it acts.
static hn_status check_radius(const model_reader *r, int map, const char *owner,
                              const hn_drive_def *def)
{
    hn_joint_kind kind = hn_model_joint_kind(r->model, def->joint);
    const char *word = hn_joint_coordinate_name(kind, def->coordinate);
    int radius = reader_find(r, map, "radius");
    if (def->coefficient == 0.0 || word == NULL) return HN_OK;
    bool turning = strncmp(word, "angle", 5) == 0;
    if (turning && radius < 0)
        return reader_fail(r, map, "%s has no 'radius'; expected that of the bearing", owner);
    if (!turning && radius >= 0)
        return reader_fail(r, radius,
                           "%s acts along a displacement and has a radius; expected none", owner);
    return HN_OK;
}

static hn_status read_latch(const model_reader *r, int map, const char *owner, hn_drive_def *def)
{
    int value;
    TRY(reader_require(r, map, "value", owner, &value));
    return reader_number(r, value, "value", part_of(r, def, PART_VALUE), &def->latch);
}

static hn_status read_content(const model_reader *r, int map, const char *owner, hn_drive_def *def,
                              drive_parts *parts)
{
    TRY(reader_expect_keys(r, map, owner, drive_kind_words(def->kind),
                           drive_kind_word_count(def->kind)));
    TRY(read_place(r, map, owner, def));
    const quantity value = part_of(r, def, def->kind == HN_DRIVE_MOTION ? PART_VALUE : PART_EFFORT);
    switch (def->kind) {
    case HN_DRIVE_MOTION:
    case HN_DRIVE_EFFORT:
        TRY(read_function(r, map, "value", owner, true, value, def, &parts->function));
        break;
    case HN_DRIVE_SERVO: TRY(read_servo(r, map, owner, def, parts)); break;
    case HN_DRIVE_MOTOR: TRY(read_motor(r, map, owner, def, parts)); break;
    case HN_DRIVE_STOP: TRY(read_stop(r, map, owner, def)); break;
    case HN_DRIVE_SPRING: TRY(read_spring(r, map, owner, def, parts)); break;
    case HN_DRIVE_FRICTION: TRY(read_friction(r, map, owner, def)); break;
    case HN_DRIVE_LATCH: TRY(read_latch(r, map, owner, def)); break;
    }
    TRY(read_not_negative(r, map, "armature", part_of(r, def, PART_INERTIA), &def->armature));
    return check_radius(r, map, owner, def);
}

static hn_status read_drive(model_reader *r, int key)
{
    const char *words[HN_DRIVE_KIND_COUNT], *name = reader_text(r, key), *word;
    char owner[128];
    int map = -1, kind = 0;
    for (int i = 0; i < HN_DRIVE_KIND_COUNT; ++i) words[i] = hn_drive_kind_name((hn_drive_kind)i);
    snprintf(owner, sizeof owner, "drive '%.100s'", name);
    TRY(reader_kind(r, reader_value(r, key), owner, words, HN_DRIVE_KIND_COUNT, &word, &map));
    while (strcmp(word, words[kind]) != 0) ++kind;
    if (kind == HN_DRIVE_MOTION && reader_is_free_motion(r, map))
        return reader_free_motion(r, key, map, owner);
    hn_drive_def def = hn_drive_def_default((hn_drive_kind)kind);
    def.name = name;
    drive_parts parts = {0};
    hn_drive_id id;
    hn_status status = read_content(r, map, owner, &def, &parts);
    if (status == HN_OK) status = reader_place(r, key, hn_model_add_drive(r->model, &def, &id));
    context_release(r->context, parts.function.block);
    context_release(r->context, parts.spring.block);
    context_release(r->context, parts.damper.block);
    if (status == HN_OK)
        r->model->drives[r->model->drive_count - 1].place = reader_position(r, key);
    return status;
}

hn_status reader_drives(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "drives"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_drive(r, k));
    return HN_OK;
}
