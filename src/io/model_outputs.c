// SPDX-License-Identifier: MIT
// The outputs of a model file: quantities by name.
#include "io/model_reader.h"

#include "base/number_text.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 2000 };

// point in the body's frame, or at in the world as drawn; else the origin of the frame.
static hn_status read_point(const model_reader *r, int map, const char *owner, hn_body_id body,
                            hn_vec3 *point)
{
    int at = reader_find(r, map, "at"), local = reader_find(r, map, "point");
    if (at >= 0 && local >= 0)
        return reader_fail(r, local, "%s has both at and point; expected one of them", owner);
    if (local >= 0) return reader_vector(r, local, "point", QUANTITY_LENGTH, point);
    if (at < 0) return HN_OK;
    hn_vec3 world;
    int index = model_body_index(r->model, body);
    TRY(reader_vector(r, at, "at", QUANTITY_LENGTH, &world));
    if (r->model->bodies[index].unplaced)
        return reader_fail(
            r, at,
            "%s has a place in the world, but body '%s' is placed through its joints; "
            "expected 'point', in its frame",
            owner, hn_model_body_name(r->model, body));
    *point = model_point_to_body(r->model, index, world);
    return HN_OK;
}

static hn_status read_moving_point(const model_reader *r, int map, const char *owner,
                                   hn_output_def *def)
{
    static const char *const WORDS[] = {"body", "point", "at", "relative_to"};
    int body, other = reader_find(r, map, "relative_to");
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "body", owner, &body));
    TRY(reader_body(r, body, false, &def->body_a));
    if (other >= 0) TRY(reader_body(r, other, true, &def->body_b));
    return read_point(r, map, owner, def->body_a, &def->point_a);
}

// A place of the world, or a direction, in the frame of a body.
static hn_vec3 to_body(const model_reader *r, hn_body_id body, bool direction, hn_vec3 x)
{
    int index = model_body_index(r->model, body);
    return direction ? model_direction_to_body(r->model, index, x)
                     : model_point_to_body(r->model, index, x);
}

static hn_status read_pair(const model_reader *r, int map, const char *owner, hn_output_def *def)
{
    static const char *const WORDS[] = {"bodies", "coordinates", "from", "to", "about"};
    bool angle = def->kind == HN_OUTPUT_ANGLE;
    int list, entry, from, to, about = reader_find(r, map, "about");
    int coordinates = reader_find(r, map, "coordinates");
    const char *word = "world";
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS) - (angle ? 0 : 1)));
    TRY(reader_require(r, map, "bodies", owner, &list));
    TRY(reader_expect_list(r, list, "bodies", 2, &entry));
    TRY(reader_body(r, entry, true, &def->body_a));
    TRY(reader_body(r, r->tree.nodes[entry].next, true, &def->body_b));
    TRY(reader_require(r, map, "from", owner, &from));
    TRY(reader_require(r, map, "to", owner, &to));
    if (coordinates >= 0) TRY(reader_word(r, coordinates, "coordinates", &word));
    bool local = strcmp(word, "body") == 0;
    if (!local && strcmp(word, "world") != 0) {
        static const char *const FRAMES[] = {"world", "body"};
        return reader_fail_word(r, coordinates, "coordinates", owner, word, FRAMES, 2);
    }
    const hn_body_id bodies[2] = {def->body_a, def->body_b};
    for (int i = 0; !local && i < 2; ++i) {
        int index = model_body_index(r->model, bodies[i]);
        if (index >= 0 && r->model->bodies[index].unplaced)
            return reader_fail(r, map,
                               "%s has places in the world, but body '%s' is placed through its "
                               "joints; expected 'coordinates: body'",
                               owner, hn_model_body_name(r->model, bodies[i]));
    }
    if (!angle) {
        TRY(reader_vector(r, from, "from", QUANTITY_LENGTH, &def->point_a));
        TRY(reader_vector(r, to, "to", QUANTITY_LENGTH, &def->point_b));
    } else {
        TRY(reader_direction(r, from, "from", NULL, &def->point_a));
        TRY(reader_direction(r, to, "to", NULL, &def->point_b));
        if (about >= 0) TRY(reader_direction(r, about, "about", NULL, &def->axis));
    }
    if (local) return HN_OK;
    def->point_a = to_body(r, def->body_a, angle, def->point_a);
    def->point_b = to_body(r, def->body_b, angle, def->point_b);
    if (about >= 0) def->axis = to_body(r, def->body_a, true, def->axis);
    return HN_OK;
}

static hn_status read_reaction(const model_reader *r, int map, const char *owner,
                               hn_output_def *def)
{
    static const char *const WORDS[] = {"joint", "frame"}, *const FRAMES[] = {"world", "a", "b"};
    int joint, frame = reader_find(r, map, "frame");
    const char *word;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "joint", owner, &joint));
    TRY(reader_joint(r, joint, &def->joint));
    if (frame < 0) return HN_OK;
    TRY(reader_word(r, frame, "frame", &word));
    if (hn_output_frame_from_name(word, &def->frame)) return HN_OK;
    return reader_fail_word(r, frame, "frame", owner, word, FRAMES, 3);
}

static hn_status read_coordinate(const model_reader *r, int map, const char *owner,
                                 hn_output_def *def)
{
    static const char *const WORDS[] = {"joint", "coordinate"};
    const char *words[3], *word;
    int joint, node = reader_find(r, map, "coordinate"), count = 0;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "joint", owner, &joint));
    TRY(reader_joint(r, joint, &def->joint));
    hn_joint_kind kind = hn_model_joint_kind(r->model, def->joint);
    while (count < 3 && (words[count] = hn_joint_coordinate_name(kind, count)) != NULL) ++count;
    if (count == 0)
        return reader_fail(r, joint,
                           "joint '%s' (%s) has no coordinate with a word; expected a revolute, "
                           "prismatic, cylindrical, planar or universal one",
                           reader_text(r, joint), hn_joint_kind_name(kind));
    if (node < 0 && count > 1)
        return reader_fail(r, map, "%s has no 'coordinate'; joint '%s' has %s, %s%s%s", owner,
                           reader_text(r, joint), words[0], words[1], count > 2 ? ", " : "",
                           count > 2 ? words[2] : "");
    if (node < 0) return HN_OK;
    TRY(reader_word(r, node, "coordinate", &word));
    for (def->coordinate = 0; def->coordinate < count; ++def->coordinate)
        if (strcmp(word, words[def->coordinate]) == 0) return HN_OK;
    return reader_fail_word(r, node, "coordinate", owner, word, words, count);
}

static hn_status read_drive(const model_reader *r, int map, const char *owner, hn_output_def *def)
{
    static const char *const WORDS[] = {"drive"};
    int drive;
    const char *name;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "drive", owner, &drive));
    TRY(reader_word(r, drive, "drive", &name));
    def->drive = name_table_find(&r->model->drive_names, name);
    if (def->drive >= 0) return HN_OK;
    const char **names =
        context_allocate(r->context, ((size_t)r->model->drive_count + 1) * sizeof *names);
    if (names == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < r->model->drive_count; ++i) names[i] = r->model->drives[i].name;
    hn_status status =
        reader_fail_word(r, drive, "drive", owner, name, names, r->model->drive_count);
    context_release(r->context, (void *)names);
    return status;
}

// A word of an expression must mean one thing: t or pi, a parameter, or a number of an output above.
static hn_status check_word(const model_reader *r, int node, const char *word, bool parameter)
{
    bool own = strcmp(word, "t") == 0 || strcmp(word, "pi") == 0;
    int meanings = (own ? 1 : 0) + (parameter ? 1 : 0);
    for (int i = 0; i < hn_model_output_count(r->model); ++i) {
        static const char *const ENDINGS[] = {"_x", "_y", "_z"};
        const char *name = hn_model_output_name(r->model, i);
        size_t length = strlen(name);
        int components = 0;
        (void)hn_model_output_place(r->model, i, &components);
        if (strncmp(word, name, length) != 0) continue;
        const char *rest = word + length;
        if (rest[0] == '\0' && components == 3 && meanings == 0)
            return reader_fail(r, node,
                               "output '%.60s' has three numbers; expected %.60s_x, %.60s_y or "
                               "%.60s_z",
                               name, name, name, name);
        meanings += components == 1 && rest[0] == '\0' ? 1 : 0;
        for (int k = 0; k < 3 && components == 3; ++k)
            meanings += strcmp(rest, ENDINGS[k]) == 0 ? 1 : 0;
    }
    if (meanings < 2) return HN_OK;
    return reader_fail(r, node,
                       "'%.60s' has two meanings here: an output, and %s; expected another name "
                       "for one of them",
                       word,
                       own         ? "a word of expressions"
                       : parameter ? "a parameter"
                                   : "a component of another");
}

// Parameters become numbers; the words of outputs, t, pi and functions stay.
static hn_status read_expression(const model_reader *r, int node, char *text)
{
    const char *from;
    size_t used = 0;
    TRY(reader_word(r, node, "expression", &from));
    for (size_t i = 0; from[i] != '\0';) {
        size_t length = 0;
        bool inside = i > 0 && ((from[i - 1] >= '0' && from[i - 1] <= '9') || from[i - 1] == '.');
        while ((from[i + length] >= 'a' && from[i + length] <= 'z') ||
               (from[i + length] >= 'A' && from[i + length] <= 'Z') || from[i + length] == '_' ||
               (length > 0 && from[i + length] >= '0' && from[i + length] <= '9'))
            ++length;
        char word[128] = "";
        double value;
        expression_error error;
        if (length > 0 && length < sizeof word && !inside)
            memcpy(word, from + i, length), word[length] = '\0';
        bool parameter = word[0] != '\0' && strcmp(word, "pi") != 0 && strcmp(word, "t") != 0 &&
                         from[i + length] != '(' &&
                         expression_evaluate(r->expressions, word, &value, &error);
        if (word[0] != '\0' && from[i + length] != '(') TRY(check_word(r, node, word, parameter));
        if (length == 0) length = 1;
        if (used + length + 32 > TEXT_MAX)
            return reader_fail(r, node, "the expression is too long; expected less than %d bytes",
                               TEXT_MAX);
        if (parameter) {
            char number[NUMBER_TEXT_SIZE];
            used +=
                (size_t)snprintf(text + used, TEXT_MAX - used, "(%s)", number_text(value, number));
        } else {
            memcpy(text + used, from + i, length);
            used += length;
        }
        i += length;
    }
    text[used] = '\0';
    return HN_OK;
}

static hn_status read_energy(const model_reader *r, int node, const char *owner, hn_output_def *def)
{
    static const char *const WORDS[] = {"kinetic", "potential", "total"};
    static const hn_output_kind KINDS[] = {HN_OUTPUT_KINETIC_ENERGY, HN_OUTPUT_POTENTIAL_ENERGY,
                                           HN_OUTPUT_ENERGY};
    const char *word;
    TRY(reader_word(r, node, "energy", &word));
    for (int i = 0; i < 3; ++i)
        if (strcmp(word, WORDS[i]) == 0) {
            def->kind = KINDS[i];
            return HN_OK;
        }
    return reader_fail_word(r, node, "energy", owner, word, WORDS, 3);
}

static hn_status read_output(model_reader *r, int key)
{
    static const char *const WORDS[] = {
        "position",       "velocity",        "acceleration", "distance", "angle",
        "reaction_force", "reaction_torque", "coordinate",   "rate",     "effort",
        "power",          "energy",          "expression"};
    const char *name = reader_text(r, key), *word;
    char owner[128], text[TEXT_MAX];
    int map = -1;
    hn_output_kind kind = HN_OUTPUT_ENERGY;
    snprintf(owner, sizeof owner, "output '%.100s'", name);
    TRY(reader_kind(r, reader_value(r, key), owner, WORDS, WORD_COUNT(WORDS), &word, &map));
    hn_output_kind_from_name(word, &kind);
    hn_output_def def = hn_output_def_default(kind);
    def.name = name;
    switch (kind) {
    case HN_OUTPUT_POSITION:
    case HN_OUTPUT_VELOCITY:
    case HN_OUTPUT_ACCELERATION: TRY(read_moving_point(r, map, owner, &def)); break;
    case HN_OUTPUT_DISTANCE:
    case HN_OUTPUT_ANGLE: TRY(read_pair(r, map, owner, &def)); break;
    case HN_OUTPUT_REACTION_FORCE:
    case HN_OUTPUT_REACTION_TORQUE: TRY(read_reaction(r, map, owner, &def)); break;
    case HN_OUTPUT_COORDINATE:
    case HN_OUTPUT_RATE: TRY(read_coordinate(r, map, owner, &def)); break;
    case HN_OUTPUT_EFFORT:
    case HN_OUTPUT_POWER: TRY(read_drive(r, map, owner, &def)); break;
    case HN_OUTPUT_KINETIC_ENERGY:
    case HN_OUTPUT_POTENTIAL_ENERGY:
    case HN_OUTPUT_ENERGY: TRY(read_energy(r, map, owner, &def)); break;
    case HN_OUTPUT_EXPRESSION:
        TRY(read_expression(r, map, text));
        def.expression = text;
        break;
    }
    TRY(reader_place(r, key, hn_model_add_output(r->model, &def)));
    r->model->outputs[r->model->output_count - 1].place = reader_position(r, key);
    return HN_OK;
}

hn_status reader_outputs(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "outputs"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_output(r, k));
    return HN_OK;
}
