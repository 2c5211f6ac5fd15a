// SPDX-License-Identifier: MIT
// The `start` section of a model file: coordinates of joints, velocities of bodies and joints.
#include "io/model_reader.h"

#include "model/joint_kinds.h"

#include <holonom/assembly.h>

#include <stdio.h>
#include <string.h>

// {axis, rate}: rate times the unit vector along the axis.
static hn_status read_rate_about(const model_reader *r, int index, const char *what, quantity q,
                                 const hn_mat3 *axes, hn_vec3 *value)
{
    static const char *const WORDS[] = {"axis", "rate"};
    int axis, rate;
    hn_vec3 direction;
    double speed;
    TRY(reader_expect_keys(r, index, what, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, index, "axis", what, &axis));
    TRY(reader_require(r, index, "rate", what, &rate));
    TRY(reader_direction(r, axis, "axis", axes, &direction));
    TRY(reader_number(r, rate, "rate", q, &speed));
    *value = vec3_scale(speed / vec3_norm(direction), direction);
    return HN_OK;
}

// A velocity: three numbers, {axis, rate}, or {sum: [{axis, rate}, ...]}.
static hn_status read_velocity(const model_reader *r, int index, const char *what, quantity q,
                               const hn_mat3 *axes, hn_vec3 *value)
{
    static const char *const WORDS[] = {"sum"};
    if (reader_node(r, index)->kind != YAML_MAPPING) return reader_vector(r, index, what, q, value);
    int sum = reader_find(r, index, "sum"), entry;
    if (sum < 0) return read_rate_about(r, index, what, q, axes, value);
    TRY(reader_expect_keys(r, index, what, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_expect_list(r, sum, "sum", -1, &entry));
    *value = vec3(0.0, 0.0, 0.0);
    for (; entry >= 0; entry = r->tree.nodes[entry].next) {
        hn_vec3 part;
        TRY(read_rate_about(r, entry, what, q, axes, &part));
        *value = vec3_add(*value, part);
    }
    return HN_OK;
}

// A whole beam moves as a rigid body.
static hn_status read_beam_start(model_reader *r, int map, hn_beam_id beam)
{
    hn_vec3 v = {0.0, 0.0, 0.0}, omega = v;
    hn_mat3 axes = hn_model_body_orientation(r->model, hn_model_beam_node(r->model, beam, 0));
    int velocity = reader_find(r, map, "velocity"),
        angular = reader_find(r, map, "angular_velocity");
    if (velocity >= 0) TRY(read_velocity(r, velocity, "velocity", QUANTITY_SPEED, &axes, &v));
    if (angular >= 0)
        TRY(read_velocity(r, angular, "angular_velocity", QUANTITY_ANGULAR_SPEED, &axes, &omega));
    return reader_beam_start(r, map, beam, &v, &omega);
}

static hn_status read_body_start(model_reader *r, int key, int map)
{
    hn_body_id body;
    hn_vec3 value;
    hn_beam_id beam = hn_model_find_beam(r->model, reader_text(r, key));
    if (beam.index1 != 0 && hn_model_find_body(r->model, reader_text(r, key)).index1 == 0)
        return read_beam_start(r, map, beam);
    if (hn_model_find_body(r->model, reader_text(r, key)).index1 == 0 &&
        hn_model_find_joint(r->model, reader_text(r, key)).index1 != 0)
        return reader_fail(r, map,
                           "'%.100s' is a joint; expected its coordinates, rate or rates: velocity "
                           "and angular_velocity are of bodies",
                           reader_text(r, key));
    TRY(reader_body(r, key, false, &body));
    hn_mat3 axes = hn_model_body_orientation(r->model, body);
    int velocity = reader_find(r, map, "velocity"),
        angular = reader_find(r, map, "angular_velocity");
    if (velocity >= 0) {
        TRY(read_velocity(r, velocity, "velocity", QUANTITY_SPEED, &axes, &value));
        TRY(reader_place(r, velocity, hn_model_set_velocity(r->model, body, value)));
    }
    if (angular >= 0) {
        TRY(read_velocity(r, angular, "angular_velocity", QUANTITY_ANGULAR_SPEED, &axes, &value));
        TRY(reader_place(r, angular, hn_model_set_angular_velocity(r->model, body, value)));
    }
    return HN_OK;
}

// What the coordinates of a joint are, or their rates.
static void find_quantities(const model_reader *r, hn_joint_id joint, coordinate_part part,
                            quantity *quantities)
{
    const joint_kind_facts *facts = joint_kind_facts_of(hn_model_joint_kind(r->model, joint));
    for (int k = 0; k < HN_JOINT_COORDINATES_MAX; ++k)
        quantities[k] =
            quantity_along(k < facts->coordinate_count ? facts->coordinates[k].unit : NULL, part);
}

static hn_status read_joint_start(model_reader *r, int key, int map)
{
    hn_joint_id joint;
    double rates[HN_JOINT_COORDINATES_MAX];
    TRY(reader_joint(r, key, &joint));
    quantity quantities[HN_JOINT_COORDINATES_MAX];
    find_quantities(r, joint, PART_RATE, quantities);
    int rate = reader_find(r, map, "rate"), list = reader_find(r, map, "rates"), entry;
    if (rate >= 0 && list >= 0)
        return reader_fail(r, list, "both rate and rates are given; expected one of them");
    double lead = r->model->joints[model_joint_index(r->model, joint)].lead;
    if (rate >= 0 && lead != 0.0) {
        // of the angle of a screw; the displacement follows
        TRY(reader_number(r, rate, "rate", QUANTITY_ANGULAR_SPEED, &rates[1]));
        rates[0] = lead * rates[1];
        return reader_place(r, rate, hn_model_set_joint_rates(r->model, joint, rates, 2));
    }
    if (rate >= 0) {
        TRY(reader_number(r, rate, "rate", quantities[0], rates));
        return reader_place(r, rate, hn_model_set_joint_rates(r->model, joint, rates, 1));
    }
    TRY(reader_expect_list(r, list, "rates", -1, &entry));
    int count = reader_node(r, list)->count,
        expected = hn_model_joint_coordinate_count(r->model, joint);
    if (count != expected)
        return reader_fail(r, list, "%d rates for joint '%s'; expected %d (%s)", count,
                           hn_model_joint_name(r->model, joint), expected,
                           hn_joint_kind_name(hn_model_joint_kind(r->model, joint)));
    TRY(reader_numbers_each(r, list, "rates", quantities, count, rates));
    return reader_place(r, list, hn_model_set_joint_rates(r->model, joint, rates, count));
}

// ---- coordinates of joints ---------------------------------------------------------------------------------------

static const char *const BODY_WORDS[] = {"velocity", "angular_velocity"};
static const char *const RATE_WORDS[] = {"rate", "rates"};
static const char *const COORDINATE_WORDS[] = {"angle",          "displacement", "displacement_1",
                                               "displacement_2", "angle_a",      "angle_b",
                                               "rotation",       "place",        "coordinates"};

static bool has_any(const model_reader *r, int map, const char *const *words, int count)
{
    for (int i = 0; i < count; ++i)
        if (reader_find(r, map, words[i]) >= 0) return true;
    return false;
}

static hn_status set_coordinate(model_reader *r, int node, hn_joint_id joint, int coordinate,
                                double value)
{
    return reader_place(r, node, hn_model_set_joint_coordinate(r->model, joint, coordinate, value));
}

// Three numbers that stand for coordinates `first` and the two after it.
static hn_status read_triple(model_reader *r, int node, const char *word, hn_joint_id joint,
                             const quantity *quantities, int first)
{
    double numbers[3];
    TRY(reader_numbers_each(r, node, word, quantities + first, 3, numbers));
    for (int k = 0; k < 3; ++k) TRY(set_coordinate(r, node, joint, first + k, numbers[k]));
    return HN_OK;
}

static hn_status read_coordinate_list(model_reader *r, int node, hn_joint_id joint)
{
    double values[HN_JOINT_COORDINATES_MAX];
    quantity quantities[HN_JOINT_COORDINATES_MAX];
    find_quantities(r, joint, PART_VALUE, quantities);
    int entry, expected = hn_model_joint_coordinate_count(r->model, joint);
    TRY(reader_expect_list(r, node, "coordinates", -1, &entry));
    int count = reader_node(r, node)->count;
    if (count != expected)
        return reader_fail(r, node, "%d coordinates for joint '%s'; expected %d (%s)", count,
                           hn_model_joint_name(r->model, joint), expected,
                           hn_joint_kind_name(hn_model_joint_kind(r->model, joint)));
    TRY(reader_numbers_each(r, node, "coordinates", quantities, count, values));
    for (int k = 0; k < count; ++k) TRY(set_coordinate(r, node, joint, k, values[k]));
    return HN_OK;
}

// The words that a joint has for its coordinates; returns how many.
static int coordinate_words(hn_joint_kind kind, int count, const char **words)
{
    int n = 0;
    for (int k = 0; k < count && kind != HN_JOINT_FREE; ++k)
        if (hn_joint_coordinate_name(kind, k) != NULL)
            words[n++] = hn_joint_coordinate_name(kind, k);
    if (kind == HN_JOINT_FREE) words[n++] = "place";
    int rotation = joint_kind_rotation_place(kind);
    if (rotation >= 0 && count > rotation) words[n++] = "rotation";
    if (count > 0) words[n++] = "coordinates";
    return n;
}

static hn_status read_joint_coordinates(model_reader *r, int key, int map)
{
    const char *words[HN_JOINT_COORDINATES_MAX + 5];
    hn_joint_id joint;
    char owner[128];
    TRY(reader_joint(r, key, &joint));
    hn_joint_kind kind = hn_model_joint_kind(r->model, joint);
    quantity quantities[HN_JOINT_COORDINATES_MAX];
    find_quantities(r, joint, PART_VALUE, quantities);
    int count = hn_model_joint_coordinate_count(r->model, joint),
        known = coordinate_words(kind, count, words);
    words[known] = "rate", words[known + 1] = "rates";
    snprintf(owner, sizeof owner, "start of the %s joint '%.80s'", hn_joint_kind_name(kind),
             reader_text(r, key));
    TRY(reader_expect_keys(r, map, owner, words, known + 2));
    int list = reader_find(r, map, "coordinates");
    for (int i = 0; i < known; ++i) {
        int node = reader_find(r, map, words[i]);
        if (node < 0) continue;
        if (list >= 0 && node != list)
            return reader_fail(r, node, "both coordinates and %s are given; expected one of them",
                               words[i]);
        if (node == list) {
            TRY(read_coordinate_list(r, node, joint));
        } else if (strcmp(words[i], "place") == 0) {
            TRY(read_triple(r, node, words[i], joint, quantities, 0));
        } else if (strcmp(words[i], "rotation") == 0) {
            TRY(read_triple(r, node, words[i], joint, quantities, joint_kind_rotation_place(kind)));
        } else {
            double value;
            TRY(reader_number(r, node, words[i], quantities[i], &value));
            TRY(set_coordinate(r, node, joint, i, value));
        }
    }
    return HN_OK;
}

static const char *const START_PLACES[] = {"equilibrium", "assembled"};

hn_status reader_assembly(model_reader *r, int index)
{
    bool asked = false;
    if (index >= 0 && reader_node(r, index)->kind == YAML_SCALAR)
        asked = strcmp(reader_text(r, index), START_PLACES[1]) == 0;
    else if (index >= 0) {
        TRY(reader_expect_map(r, index, "start"));
        for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
            int map = reader_value(r, k);
            if (reader_node(r, map)->kind == YAML_MAPPING &&
                has_any(r, map, COORDINATE_WORDS, WORD_COUNT(COORDINATE_WORDS)))
                TRY(read_joint_coordinates(r, k, map));
        }
    }
    if (!asked && !hn_model_needs_assembly(r->model)) return HN_OK;
    return hn_model_assemble(r->model, NULL);
}

hn_status reader_start(model_reader *r, int index)
{
    const char
        *words[WORD_COUNT(BODY_WORDS) + WORD_COUNT(RATE_WORDS) + WORD_COUNT(COORDINATE_WORDS)];
    const char *word;
    int count = 0;
    for (int i = 0; i < WORD_COUNT(BODY_WORDS); ++i) words[count++] = BODY_WORDS[i];
    for (int i = 0; i < WORD_COUNT(RATE_WORDS); ++i) words[count++] = RATE_WORDS[i];
    for (int i = 0; i < WORD_COUNT(COORDINATE_WORDS); ++i) words[count++] = COORDINATE_WORDS[i];
    if (reader_node(r, index)->kind == YAML_SCALAR) {
        TRY(reader_word(r, index, "start", &word));
        if (strcmp(word, START_PLACES[1]) == 0) return HN_OK; // it is
        if (strcmp(word, START_PLACES[0]) != 0)
            return reader_fail_word(r, index, "start", NULL, word, START_PLACES,
                                    WORD_COUNT(START_PLACES));
        return hn_model_start_at_equilibrium(r->model, true);
    }
    TRY(reader_expect_map(r, index, "start"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        int map = reader_value(r, k);
        char owner[128];
        snprintf(owner, sizeof owner, "start of '%.100s'", reader_text(r, k));
        TRY(reader_expect_keys(r, map, owner, words, count));
        // the keys tell whether a body or a joint is meant
        bool of_body = has_any(r, map, BODY_WORDS, WORD_COUNT(BODY_WORDS));
        bool of_rates = has_any(r, map, RATE_WORDS, WORD_COUNT(RATE_WORDS));
        bool of_joint = of_rates || has_any(r, map, COORDINATE_WORDS, WORD_COUNT(COORDINATE_WORDS));
        if (of_body == of_joint)
            return reader_fail(r, map,
                               "%s has %s; expected velocity and angular_velocity of a body, or "
                               "coordinates, rate or rates of a joint",
                               owner, of_body ? "keys of a body and of a joint" : "no values");
        if (of_body) TRY(read_body_start(r, k, map));
        else if (of_rates) TRY(read_joint_start(r, k, map));
    }
    return HN_OK;
}
