// SPDX-License-Identifier: MIT
// Motions of a model file that are no function of one coordinate: rotations of spherical joints, places of bodies.
#include "io/model_reader.h"

#include "base/vector.h"

#include <stdio.h>
#include <string.h>

enum { TURNS_MAX = 3 };

// Blocks that functions take until the drive is added
typedef struct motion_parts {
    time_function functions[TURNS_MAX];
} motion_parts;

static void release_parts(const model_reader *r, motion_parts *parts)
{
    for (int k = 0; k < TURNS_MAX; ++k) context_release(r->context, parts->functions[k].block);
}

static hn_status read_angle(const model_reader *r, int node, const char *what, int turn,
                            hn_rotation_def *def, motion_parts *parts)
{
    time_function *f = &parts->functions[turn];
    TRY(reader_time_function(r, node, what, QUANTITY_ANGLE, f));
    def->angles[turn] = f->profile;
    def->scales[turn] = f->scale;
    return HN_OK;
}

// sequence: letters of axes, each carried along by the turns before it; angles: as many functions
static hn_status read_sequence(const model_reader *r, int map, hn_rotation_def *def,
                               motion_parts *parts)
{
    static const char LETTERS[] = "xyz";
    const char *word = LETTERS;
    int sequence = reader_find(r, map, "sequence"), angles, entry;
    TRY(reader_require(r, map, "angles", "rotation", &angles));
    if (sequence >= 0) TRY(reader_word(r, sequence, "sequence", &word));
    size_t count = strlen(word);
    bool known = count >= 1 && count <= TURNS_MAX && strspn(word, LETTERS) == count;
    for (size_t k = 1; known && k < count; ++k) known = word[k] != word[k - 1];
    if (!known)
        return reader_fail(
            r, sequence,
            "sequence is '%.40s'; expected one to three of x, y and z, none twice in "
            "a row, as in xyz or zxz",
            word);
    TRY(reader_expect_list(r, angles, "angles", (int)count, &entry));
    for (size_t k = 0; k < count; ++k, entry = r->tree.nodes[entry].next) {
        def->axes[k] = vec3(word[k] == 'x', word[k] == 'y', word[k] == 'z');
        TRY(read_angle(r, entry, "angles", (int)k, def, parts));
    }
    return HN_OK;
}

static hn_status read_rotation(const model_reader *r, int map, hn_rotation_def *def,
                               motion_parts *parts)
{
    static const char *const WORDS[] = {"sequence", "angles", "axis", "angle"};
    int axis, angle;
    TRY(reader_expect_keys(r, map, "rotation", WORDS, WORD_COUNT(WORDS)));
    for (int k = 0; k < TURNS_MAX; ++k) def->scales[k] = 0.0; // turns that are not there
    bool about = reader_find(r, map, "axis") >= 0 || reader_find(r, map, "angle") >= 0;
    if (!about) return read_sequence(r, map, def, parts);
    if (reader_find(r, map, "angles") >= 0 || reader_find(r, map, "sequence") >= 0)
        return reader_fail(r, map,
                           "rotation has both an axis and a sequence; expected axis and angle, or "
                           "sequence and angles");
    TRY(reader_require(r, map, "axis", "rotation", &axis));
    TRY(reader_require(r, map, "angle", "rotation", &angle));
    TRY(reader_direction(r, axis, "axis", NULL, &def->axes[0]));
    return read_angle(r, angle, "angle", 0, def, parts);
}

static hn_status add_rotation(const model_reader *r, int key, int map, hn_joint_id joint)
{
    hn_rotation_def def = hn_rotation_def_default();
    motion_parts parts = {0};
    hn_drive_id first;
    def.name = reader_text(r, key);
    def.joint = joint;
    hn_status status = read_rotation(r, map, &def, &parts);
    if (status == HN_OK)
        status = reader_place(r, map, hn_model_add_rotation(r->model, &def, &first));
    release_parts(r, &parts);
    return status;
}

// x, y and z, as far as they are given; how many
static hn_status add_places(const model_reader *r, int key, int map, hn_joint_id joint, int *count)
{
    for (int k = 0; k < 3; ++k) {
        const char *word = hn_joint_coordinate_name(HN_JOINT_FREE, k);
        int node = reader_find(r, map, word);
        if (node < 0) continue;
        char name[160];
        hn_drive_def def = hn_drive_def_default(HN_DRIVE_MOTION);
        time_function f = {0};
        hn_drive_id id;
        snprintf(name, sizeof name, "%.120s.%s", reader_text(r, key), word);
        def.name = name;
        def.joint = joint;
        def.coordinate = k;
        hn_status status = reader_time_function(r, node, word, QUANTITY_LENGTH, &f);
        def.function = f.profile;
        def.scale = f.scale;
        if (status == HN_OK)
            status = reader_place(r, node, hn_model_add_drive(r->model, &def, &id));
        context_release(r->context, f.block);
        TRY(status);
        ++*count;
    }
    return HN_OK;
}

// The place of a body is measured by a free joint of the motion's name.
static hn_status read_place(const model_reader *r, int key, int map, const char *owner)
{
    static const char *const WORDS[] = {"body", "point", "x", "y", "z", "rotation"};
    int body, point = reader_find(r, map, "point"), rotation = reader_find(r, map, "rotation"),
              count = 0;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "body", owner, &body));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_FREE);
    hn_joint_id joint;
    def.name = reader_text(r, key);
    def.body_a = hn_ground();
    TRY(reader_body(r, body, false, &def.body_b));
    def.body_coordinates = def.separate_points = true;
    if (point >= 0) TRY(reader_vector(r, point, "point", QUANTITY_LENGTH, &def.point_b));
    TRY(reader_place(r, key, hn_model_add_joint(r->model, &def, &joint)));
    r->model->joints[r->model->joint_count - 1].place = reader_position(r, key);
    TRY(add_places(r, key, map, joint, &count));
    if (rotation >= 0) return add_rotation(r, key, rotation, joint);
    if (count > 0) return HN_OK;
    return reader_fail(r, map, "%s moves nothing; expected x, y, z or rotation", owner);
}

bool reader_is_free_motion(const model_reader *r, int map)
{
    return reader_find(r, map, "body") >= 0 || reader_find(r, map, "rotation") >= 0;
}

hn_status reader_free_motion(const model_reader *r, int key, int map, const char *owner)
{
    static const char *const WORDS[] = {"joint", "rotation"};
    int joint, rotation, first = r->model->drive_count;
    if (reader_find(r, map, "body") >= 0) {
        if (reader_find(r, map, "joint") >= 0)
            return reader_fail(r, reader_find(r, map, "joint"),
                               "%s has both a body and a joint; expected one of them", owner);
        TRY(read_place(r, key, map, owner));
    } else {
        hn_joint_id id;
        TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
        TRY(reader_require(r, map, "joint", owner, &joint));
        TRY(reader_require(r, map, "rotation", owner, &rotation));
        TRY(reader_joint(r, joint, &id));
        TRY(add_rotation(r, key, rotation, id));
    }
    for (int i = first; i < r->model->drive_count; ++i)
        r->model->drives[i].place = reader_position(r, key);
    return HN_OK;
}
