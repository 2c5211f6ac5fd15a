// SPDX-License-Identifier: MIT
// The `joints` and `loads` sections of a model file.
#include "io/model_reader.h"

#include "model/joint_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The single key of {KIND: {...}} and its map.
hn_status reader_kind(const model_reader *r, int index, const char *owner, const char *const *words,
                      int count, const char **kind, int *map)
{
    TRY(reader_expect_map(r, index, owner));
    const yaml_node *node = reader_node(r, index);
    if (node->count == 0)
        return reader_fail(r, index, "%s is empty; expected its kind, e.g. {%s: {...}}", owner,
                           words[0]);
    *kind = reader_text(r, node->first);
    bool known = false;
    for (int i = 0; i < count; ++i) known = known || strcmp(*kind, words[i]) == 0;
    if (!known) return reader_fail_word(r, node->first, "kind", owner, *kind, words, count);
    if (node->count != 1)
        return reader_fail(r, reader_next_key(r, node->first),
                           "%s has more than its kind; expected everything inside '%s'", owner,
                           *kind);
    *map = reader_value(r, node->first);
    return HN_OK;
}

static hn_status read_two_bodies(const model_reader *r, int map, const char *owner, hn_body_id *a,
                                 hn_body_id *b)
{
    int list, entry;
    TRY(reader_require(r, map, "bodies", owner, &list));
    TRY(reader_expect_list(r, list, "bodies", 2, &entry));
    TRY(reader_body(r, entry, true, a));
    TRY(reader_body(r, r->tree.nodes[entry].next, true, b));
    if (a->index1 != b->index1) return HN_OK;
    return reader_fail(r, list, "%s joins '%s' to itself; expected two bodies", owner,
                       hn_model_body_name(r->model, *a));
}

// coordinates: world (the default) or body.
static hn_status read_coordinates(const model_reader *r, int map, bool *body_coordinates)
{
    static const char *const WORDS[] = {"world", "body"};
    const char *word = NULL;
    *body_coordinates = false;
    int node = reader_find(r, map, "coordinates");
    if (node < 0) return HN_OK;
    TRY(reader_word(r, node, "coordinates", &word));
    *body_coordinates = strcmp(word, "body") == 0;
    if (*body_coordinates || strcmp(word, "world") == 0) return HN_OK;
    return reader_fail_word(r, node, "coordinates", NULL, word, WORDS, WORD_COUNT(WORDS));
}

// ---- joints --------------------------------------------------------------------------------------------------

// at: one place, or {a: place, b: place}.
static hn_status read_joint_place(const model_reader *r, int index, hn_joint_def *def)
{
    static const char *const WORDS[] = {"a", "b"};
    if (reader_node(r, index)->kind != YAML_MAPPING)
        return reader_vector(r, index, "at", QUANTITY_LENGTH, &def->point_a);
    int a, b;
    TRY(reader_expect_keys(r, index, "at", WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "a", "at", &a));
    TRY(reader_require(r, index, "b", "at", &b));
    TRY(reader_vector(r, a, "at", QUANTITY_LENGTH, &def->point_a));
    def->separate_points = true;
    return reader_vector(r, b, "at", QUANTITY_LENGTH, &def->point_b);
}

// What d1, d2, d3 mean in directions on body `own`: its axes, in the frame its directions are read in. The ground has
// no axes but the world's, which are x, y, z: there they are those of the other body.
static hn_mat3 axes_by_name(const model_reader *r, const hn_joint_def *def, hn_body_id own,
                            hn_body_id other)
{
    bool ground = own.index1 == hn_ground().index1;
    if (!ground && def->body_coordinates) return mat3_identity();
    return hn_model_body_orientation(r->model, ground ? other : own);
}

// axis: one direction, or {a: direction, b: direction} in body coordinates.
static hn_status read_joint_axis(const model_reader *r, int index, const char *what,
                                 hn_joint_def *def)
{
    static const char *const WORDS[] = {"a", "b"};
    hn_mat3 axes_a = axes_by_name(r, def, def->body_a, def->body_b),
            axes_b = axes_by_name(r, def, def->body_b, def->body_a);
    if (reader_node(r, index)->kind != YAML_MAPPING)
        return reader_direction(r, index, what, &axes_a, &def->axis_a);
    if (!def->body_coordinates)
        return reader_fail(
            r, index, "%s is a map, which needs 'coordinates: body'; expected one direction", what);
    int a, b;
    TRY(reader_expect_keys(r, index, what, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "a", what, &a));
    TRY(reader_require(r, index, "b", what, &b));
    TRY(reader_direction(r, a, what, &axes_a, &def->axis_a));
    return reader_direction(r, b, what, &axes_b, &def->axis_b);
}

// frame: {a: orientation, b: orientation}, which stands for all directions of the joint.
static hn_status read_joint_frames(const model_reader *r, int map, int index, const char *owner,
                                   hn_joint_def *def)
{
    static const char *const WORDS[] = {"a", "b"}, *const INSTEAD[] = {"axis", "axes", "normal",
                                                                       "direction"};
    char what[160];
    int a, b;
    if (!def->body_coordinates)
        return reader_fail(r, index, "frame is given in the bodies; expected 'coordinates: body'");
    for (int i = 0; i < WORD_COUNT(INSTEAD); ++i)
        if (reader_find(r, map, INSTEAD[i]) >= 0)
            return reader_fail(r, reader_find(r, map, INSTEAD[i]),
                               "%s has both frame and %s; expected one of them", owner, INSTEAD[i]);
    TRY(reader_expect_keys(r, index, "frame", WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "a", "frame", &a));
    TRY(reader_require(r, index, "b", "frame", &b));
    snprintf(what, sizeof what, "%s: frame", owner);
    TRY(reader_orientation(r, a, what, &def->frame_a));
    TRY(reader_orientation(r, b, what, &def->frame_b));
    def->separate_frames = true;
    return HN_OK;
}

static hn_status read_universal_axes(const model_reader *r, int map, const char *owner,
                                     hn_joint_def *def)
{
    int list, entry;
    TRY(reader_require(r, map, "axes", owner, &list));
    TRY(reader_expect_list(r, list, "axes", 2, &entry));
    hn_mat3 axes_a = axes_by_name(r, def, def->body_a, def->body_b),
            axes_b = axes_by_name(r, def, def->body_b, def->body_a);
    TRY(reader_direction(r, entry, "first axis", &axes_a, &def->axis_a));
    return reader_direction(r, r->tree.nodes[entry].next, "second axis", &axes_b, &def->axis_b);
}

static hn_status read_distance(const model_reader *r, int map, const char *owner, hn_joint_def *def)
{
    int from, to, length = reader_find(r, map, "length");
    TRY(reader_require(r, map, "from", owner, &from));
    TRY(reader_require(r, map, "to", owner, &to));
    TRY(reader_vector(r, from, "from", QUANTITY_LENGTH, &def->point_a));
    TRY(reader_vector(r, to, "to", QUANTITY_LENGTH, &def->point_b));
    def->separate_points = true;
    return length < 0
               ? HN_OK
               : reader_positive(r, length, "length", QUANTITY_LENGTH, "metres", &def->length);
}

// Free and fixed joints may leave out their place: the origins of the two body frames, or that of one of them.
static void default_place(const model_reader *r, hn_joint_def *def)
{
    bool second_moves = def->body_b.index1 != hn_ground().index1;
    hn_vec3 origin_a = hn_model_body_position(r->model, def->body_a);
    hn_vec3 origin_b = hn_model_body_position(r->model, def->body_b);
    def->body_coordinates = false;
    def->separate_points = def->kind == HN_JOINT_FREE;
    def->point_b = origin_b;
    def->point_a = def->kind == HN_JOINT_FREE || !second_moves ? origin_a : origin_b;
}

// A joint at a node of a beam is there unless it says otherwise; b's node comes before a's.
static bool place_at_node(const model_reader *r, hn_joint_def *def)
{
    const hn_body_id bodies[2] = {def->body_b, def->body_a};
    for (int i = 0; i < 2; ++i)
        if (hn_model_body_kind(r->model, bodies[i]) == HN_BODY_BEAM_NODE) {
            def->point_a = hn_model_body_position(r->model, bodies[i]);
            if (def->body_coordinates)
                def->point_a = model_point_to_body(
                    r->model, model_body_index(r->model, def->body_a), def->point_a);
            return true;
        }
    return false;
}

// The words that a kind of joint takes.
static int joint_words(const joint_kind_facts *facts, const char **words)
{
    static const char *const AXES[][3] = {[AXES_NONE] = {NULL},
                                          [AXES_ONE] = {"axis"},
                                          [AXES_NORMAL] = {"normal", "axis", "direction"},
                                          [AXES_TWO] = {"axes"}};
    static const char *const POINTS[] = {"from", "to", "length"};
    int count = 0;
    words[count++] = "bodies";
    words[count++] = "coordinates";
    if (!facts->between_points) words[count++] = "at";
    for (int i = 0; i < 3; ++i) {
        const char *word = facts->between_points ? POINTS[i] : AXES[facts->axes][i];
        if (word != NULL) words[count++] = word;
    }
    if (!facts->between_points) words[count++] = "frame";
    if (facts->threaded) words[count++] = "pitch";
    return count;
}

// The normal of a plane, and a direction in it.
static hn_status read_plane(const model_reader *r, int map, const char *owner, hn_joint_def *def)
{
    int axis = reader_find(r, map, "normal");
    if (axis >= 0 && reader_find(r, map, "axis") >= 0)
        return reader_fail(r, axis,
                           "%s has both normal and axis, which mean the same; expected one", owner);
    if (axis < 0) TRY(reader_require(r, map, "axis", owner, &axis));
    TRY(read_joint_axis(r, axis, "normal", def));
    int direction = reader_find(r, map, "direction");
    if (direction < 0) return HN_OK;
    hn_mat3 axes = axes_by_name(r, def, def->body_a, def->body_b);
    return reader_direction(r, direction, "direction", &axes, &def->direction);
}

static hn_status read_joint_geometry(const model_reader *r, int map, const char *owner,
                                     hn_joint_def *def)
{
    enum { JOINT_WORDS_MAX = 8 };
    const joint_kind_facts *facts = joint_kind_facts_of(def->kind);
    const char *words[JOINT_WORDS_MAX];
    TRY(reader_expect_keys(r, map, owner, words, joint_words(facts, words)));
    TRY(read_two_bodies(r, map, owner, &def->body_a, &def->body_b));
    TRY(read_coordinates(r, map, &def->body_coordinates));
    if (facts->between_points) return read_distance(r, map, owner, def);

    int at = reader_find(r, map, "at"), frame = reader_find(r, map, "frame"), axis;
    if (at >= 0) TRY(read_joint_place(r, at, def));
    if (frame >= 0) TRY(read_joint_frames(r, map, frame, owner, def));
    if (at < 0 && facts->anywhere) default_place(r, def);
    else if (at < 0 && !place_at_node(r, def))
        return reader_fail(r, map, "%s has no 'at'; expected its place", owner);
    if (frame >= 0) return HN_OK;
    switch (facts->axes) {
    case AXES_NONE: return HN_OK;
    case AXES_TWO: return read_universal_axes(r, map, owner, def);
    case AXES_NORMAL: return read_plane(r, map, owner, def);
    case AXES_ONE: break;
    }
    TRY(reader_require(r, map, "axis", owner, &axis));
    return read_joint_axis(r, axis, "axis", def);
}

// ---- bodies that joints place ----------------------------------------------------------------------------------

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Does a joint give its places in both bodies? What is not understood is found later.
static bool places_bodies(const model_reader *r, int map)
{
    int coordinates = reader_find(r, map, "coordinates"), at = reader_find(r, map, "at");
    if (coordinates < 0 || strcmp(reader_text(r, coordinates), "body") != 0) return false;
    return at < 0 ? reader_find(r, map, "from") >= 0 : reader_node(r, at)->kind == YAML_MAPPING;
}

static void sort_texts(const char **texts, int count)
{
    if (count > 0) qsort((void *)texts, (size_t)count, sizeof *texts, compare_texts);
}

static bool has_text(const char *const *texts, int count, const char *text)
{
    return count > 0 &&
           bsearch(&text, (const void *)texts, (size_t)count, sizeof *texts, compare_texts) != NULL;
}

hn_status reader_scan_joints(model_reader *r, int index)
{
    const yaml_node *section = reader_node(r, index);
    if (section->kind != YAML_MAPPING) return HN_OK;
    size_t count = 2 * (size_t)section->count;
    r->jointed = context_allocate(r->context, (2 * count + 1) * sizeof *r->jointed);
    if (r->jointed == NULL) return HN_OUT_OF_MEMORY;
    r->drawn = r->jointed + count;
    for (int k = section->first; k >= 0; k = reader_next_key(r, k)) {
        const yaml_node *kind = reader_node(r, reader_value(r, k));
        if (kind->kind != YAML_MAPPING || kind->count != 1) continue;
        int map = reader_value(r, kind->first);
        int list = reader_node(r, map)->kind == YAML_MAPPING ? reader_find(r, map, "bodies") : -1;
        if (list < 0 || reader_node(r, list)->kind != YAML_SEQUENCE) continue;
        int entry = reader_node(r, list)->first;
        bool places = places_bodies(r, map);
        for (int i = 0; i < 2 && entry >= 0; ++i, entry = r->tree.nodes[entry].next) {
            if (reader_node(r, entry)->kind != YAML_SCALAR) continue;
            if (places) r->jointed[r->jointed_count++] = reader_text(r, entry);
            else r->drawn[r->drawn_count++] = reader_text(r, entry);
        }
    }
    sort_texts(r->jointed, r->jointed_count);
    sort_texts(r->drawn, r->drawn_count);
    return HN_OK;
}

bool reader_is_jointed(const model_reader *r, const char *body)
{
    return has_text(r->jointed, r->jointed_count, body) &&
           !has_text(r->drawn, r->drawn_count, body);
}

static hn_status read_joint(model_reader *r, int key)
{
    const char *words[HN_JOINT_KIND_COUNT];
    for (int i = 0; i < HN_JOINT_KIND_COUNT; ++i) words[i] = hn_joint_kind_name((hn_joint_kind)i);
    const char *name = reader_text(r, key), *word;
    char owner[128];
    int map = -1, place = key;
    snprintf(owner, sizeof owner, "joint '%.100s'", name);
    TRY(reader_kind(r, reader_value(r, key), owner, words, HN_JOINT_KIND_COUNT, &word, &map));
    hn_joint_kind kind = HN_JOINT_REVOLUTE;
    hn_joint_kind_from_name(word, &kind);
    hn_joint_def def = hn_joint_def_default(kind);
    def.name = name;
    def.axis_b = vec3(0.0, 0.0, 0.0);
    TRY(read_joint_geometry(r, map, owner, &def));
    if (joint_kind_facts_of(kind)->threaded) {
        TRY(reader_require(r, map, "pitch", owner, &place));
        TRY(reader_number(r, place, "pitch", QUANTITY_LENGTH, &def.pitch));
    }
    hn_joint_id id;
    int couplings = r->model->coupling_count;
    TRY(reader_place(r, place, hn_model_add_joint(r->model, &def, &id)));
    r->model->joints[r->model->joint_count - 1].place = reader_position(r, key);
    if (r->model->coupling_count > couplings) // of its thread
        r->model->couplings[couplings].place = reader_position(r, key);
    return HN_OK;
}

hn_status reader_joints(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "joints"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_joint(r, k));
    return HN_OK;
}

// ---- loads ---------------------------------------------------------------------------------------------------

// Factor of a load in time: table, pulse, or factor for any function of time, whose scale multiplies the vector. A
// vector without a unit is a direction, whose factor may have it.
static hn_status read_factor(const model_reader *r, int map, const char *owner, quantity q,
                             hn_vec3 *vector, time_function *factor)
{
    int node = reader_find(r, map, "factor"), table = reader_find(r, map, "table"),
        pulse = reader_find(r, map, "pulse");
    if ((table >= 0) + (pulse >= 0) + (node >= 0) > 1)
        return reader_fail(r, node >= 0 ? node : pulse,
                           "%s has more than one of table, pulse and factor; expected one of them",
                           owner);
    if (reader_unit(r, reader_find(r, map, "vector")).known) q = QUANTITY_NUMBER;
    if (node < 0) return reader_time_kind(r, map, q, factor);
    TRY(reader_time_function(r, node, "factor", q, factor));
    *vector = vec3_scale(factor->scale, *vector);
    return HN_OK;
}

// Force by length on a beam: beam, vector, body_fixed, a factor in time.
static hn_status read_line_load(const model_reader *r, int map, const char *owner,
                                hn_beam_load_def *def, time_function *factor)
{
    static const char *const WORDS[] = {"beam", "vector", "body_fixed", "table", "pulse", "factor"};
    int beam, vector, fixed = reader_find(r, map, "body_fixed");
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "beam", owner, &beam));
    TRY(reader_require(r, map, "vector", owner, &vector));
    TRY(reader_beam(r, beam, &def->beam));
    TRY(reader_vector(r, vector, "vector", QUANTITY_LINE_LOAD, &def->vector));
    if (fixed >= 0) TRY(reader_boolean(r, fixed, "body_fixed", &def->body_fixed));
    TRY(read_factor(r, map, owner, QUANTITY_LINE_LOAD, &def->vector, factor));
    def->profile = factor->profile;
    return HN_OK;
}

static hn_status read_force(const model_reader *r, int map, const char *owner, hn_load_def *def,
                            time_function *factor)
{
    static const char *const WORDS[] = {"body",  "vector", "body_fixed", "table",
                                        "pulse", "factor", "at",         "point"};
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS) - (def->torque ? 2 : 0)));
    const quantity q = def->torque ? QUANTITY_TORQUE : QUANTITY_FORCE;
    int body, vector, fixed = reader_find(r, map, "body_fixed");
    TRY(reader_require(r, map, "body", owner, &body));
    TRY(reader_require(r, map, "vector", owner, &vector));
    TRY(reader_body(r, body, false, &def->body));
    TRY(reader_vector(r, vector, "vector", q, &def->vector));
    if (fixed >= 0) TRY(reader_boolean(r, fixed, "body_fixed", &def->body_fixed));

    // the centre of mass, unless a place is given in the world or in the body
    int at = reader_find(r, map, "at"), point = reader_find(r, map, "point");
    if (at >= 0 && point >= 0)
        return reader_fail(r, point, "%s has both at and point; expected one of them", owner);
    def->point = hn_model_body_center_of_mass(r->model, def->body);
    if (point >= 0) TRY(reader_vector(r, point, "point", QUANTITY_LENGTH, &def->point));
    if (at >= 0) {
        hn_vec3 world;
        TRY(reader_vector(r, at, "at", QUANTITY_LENGTH, &world));
        if (r->model->bodies[model_body_index(r->model, def->body)].unplaced)
            return reader_fail(r, at,
                               "%s has a place in the world, but body '%s' is placed through its "
                               "joints; expected 'point', in its frame",
                               owner, hn_model_body_name(r->model, def->body));
        def->point = model_point_to_body(r->model, model_body_index(r->model, def->body), world);
    }

    TRY(read_factor(r, map, owner, q, &def->vector, factor));
    def->profile = factor->profile;
    return HN_OK;
}

// A number that is zero when its key is absent and never negative.
static hn_status read_not_negative(const model_reader *r, int map, const char *key, quantity q,
                                   double *value)
{
    int node = reader_find(r, map, key);
    if (node < 0) return HN_OK;
    TRY(reader_number(r, node, key, q, value));
    if (*value >= 0.0) return HN_OK;
    return reader_fail(r, node, "%s is %g; expected zero or a positive number", key, *value);
}

static hn_status read_stiffness(const model_reader *r, int map, const char *owner, const char *unit,
                                double *stiffness, double *damping)
{
    TRY(read_not_negative(r, map, "stiffness", quantity_along(unit, PART_STIFFNESS), stiffness));
    TRY(read_not_negative(r, map, "damping", quantity_along(unit, PART_DAMPING), damping));
    if (reader_find(r, map, "stiffness") >= 0 || reader_find(r, map, "damping") >= 0) return HN_OK;
    return reader_fail(r, map, "%s has neither stiffness nor damping; expected at least one",
                       owner);
}

static hn_status read_spring(const model_reader *r, int map, const char *owner, hn_spring_def *def)
{
    static const char *const WORDS[] = {"bodies",    "coordinates", "from",       "to",
                                        "stiffness", "damping",     "rest_length"};
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    int from, to;
    TRY(read_two_bodies(r, map, owner, &def->body_a, &def->body_b));
    TRY(read_coordinates(r, map, &def->body_coordinates));
    TRY(reader_require(r, map, "from", owner, &from));
    TRY(reader_require(r, map, "to", owner, &to));
    TRY(reader_vector(r, from, "from", QUANTITY_LENGTH, &def->point_a));
    TRY(reader_vector(r, to, "to", QUANTITY_LENGTH, &def->point_b));
    TRY(read_stiffness(r, map, owner, "m", &def->stiffness, &def->damping));
    return read_not_negative(r, map, "rest_length", QUANTITY_LENGTH, &def->rest_length);
}

static hn_status read_torsion_spring(const model_reader *r, int map, const char *owner,
                                     hn_torsion_spring_def *def)
{
    static const char *const WORDS[] = {"joint", "stiffness", "damping", "rest_angle"};
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    int joint, rest = reader_find(r, map, "rest_angle");
    TRY(reader_require(r, map, "joint", owner, &joint));
    TRY(reader_joint(r, joint, &def->joint));
    TRY(read_stiffness(r, map, owner, "rad", &def->stiffness, &def->damping));
    return rest < 0 ? HN_OK
                    : reader_number(r, rest, "rest_angle", QUANTITY_ANGLE, &def->rest_angle);
}

// Six numbers that are not negative: along three axes, and about them.
static hn_status read_six(const model_reader *r, int map, const char *key, coordinate_part part,
                          double *values)
{
    quantity q[6];
    for (int k = 0; k < 6; ++k) q[k] = quantity_along(k < 3 ? "m" : "rad", part);
    int node = reader_find(r, map, key), entry;
    if (node < 0) return HN_OK;
    TRY(reader_expect_list(r, node, key, 6, &entry));
    TRY(reader_numbers_each(r, node, key, q, 6, values));
    for (int k = 0; k < 6; ++k)
        if (!(values[k] >= 0.0))
            return reader_fail(r, node, "%s has %g; expected zero or positive numbers", key,
                               values[k]);
    return HN_OK;
}

// Place and frames are said as those of a joint; the frame at the start is an orientation.
static hn_status read_bushing(const model_reader *r, int map, const char *owner,
                              hn_bushing_def *def)
{
    static const char *const WORDS[] = {"bodies", "coordinates", "at",     "orientation",
                                        "frame",  "stiffness",   "damping"};
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    hn_joint_def place = {.frame_a = mat3_identity(), .frame_b = mat3_identity()};
    int at, frame = reader_find(r, map, "frame"), turn = reader_find(r, map, "orientation");
    TRY(read_two_bodies(r, map, owner, &place.body_a, &place.body_b));
    TRY(read_coordinates(r, map, &place.body_coordinates));
    TRY(reader_require(r, map, "at", owner, &at));
    TRY(read_joint_place(r, at, &place));
    if (place.body_coordinates != place.separate_points)
        return reader_fail(
            r, at, "%s: at is {a, b} with 'coordinates: body', and one place without", owner);
    if (frame >= 0) TRY(read_joint_frames(r, map, frame, owner, &place));
    if (turn >= 0 && place.body_coordinates)
        return reader_fail(r, turn,
                           "orientation is that at the start; expected frame: {a, b} with "
                           "'coordinates: body'");
    if (turn >= 0) TRY(reader_orientation(r, turn, owner, &place.frame_a));
    TRY(read_six(r, map, "stiffness", PART_STIFFNESS, def->stiffness));
    TRY(read_six(r, map, "damping", PART_DAMPING, def->damping));
    if (reader_find(r, map, "stiffness") < 0 && reader_find(r, map, "damping") < 0)
        return reader_fail(r, map, "%s has neither stiffness nor damping; expected at least one",
                           owner);
    def->body_a = place.body_a, def->body_b = place.body_b;
    def->body_coordinates = place.body_coordinates;
    def->point_a = place.point_a, def->point_b = place.point_b;
    def->frame_a = place.frame_a, def->frame_b = place.frame_b;
    return HN_OK;
}

static hn_status read_load(model_reader *r, int key)
{
    static const char *const WORDS[] = {"force",          "torque",    "spring",
                                        "torsion_spring", "line_load", "bushing"};
    const char *name = reader_text(r, key), *word;
    char owner[128];
    int map = -1;
    hn_load_id id;
    snprintf(owner, sizeof owner, "load '%.100s'", name);
    TRY(reader_kind(r, reader_value(r, key), owner, WORDS, WORD_COUNT(WORDS), &word, &map));
    if (strcmp(word, "spring") == 0) {
        hn_spring_def def = hn_spring_def_default();
        def.name = name;
        TRY(read_spring(r, map, owner, &def));
        return reader_place(r, key, hn_model_add_spring(r->model, &def, &id));
    }
    if (strcmp(word, "torsion_spring") == 0) {
        hn_torsion_spring_def def = hn_torsion_spring_def_default();
        def.name = name;
        TRY(read_torsion_spring(r, map, owner, &def));
        return reader_place(r, key, hn_model_add_torsion_spring(r->model, &def, &id));
    }
    if (strcmp(word, "bushing") == 0) {
        hn_bushing_def def = hn_bushing_def_default();
        def.name = name;
        TRY(read_bushing(r, map, owner, &def));
        return reader_place(r, key, hn_model_add_bushing(r->model, &def, &id));
    }
    time_function factor = {0};
    if (strcmp(word, "line_load") == 0) {
        hn_beam_load_def def = hn_beam_load_def_default();
        def.name = name;
        hn_status read = read_line_load(r, map, owner, &def, &factor);
        if (read == HN_OK) read = reader_place(r, key, hn_model_add_beam_load(r->model, &def));
        context_release(r->context, factor.block);
        return read;
    }
    hn_load_def def = hn_load_def_default();
    def.name = name;
    def.torque = strcmp(word, "torque") == 0;
    hn_status status = read_force(r, map, owner, &def, &factor);
    if (status == HN_OK) status = reader_place(r, key, hn_model_add_load(r->model, &def, &id));
    context_release(r->context, factor.block);
    return status;
}

hn_status reader_loads(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "loads"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        TRY(read_load(r, k));
        r->model->loads[r->model->load_count - 1].place = reader_position(r, k);
    }
    return HN_OK;
}
