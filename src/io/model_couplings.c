// SPDX-License-Identifier: MIT
// The couplings of a model file: gears, belts, racks, and relations of joint coordinates in general.
#include "io/model_reader.h"

#include "model/joint_kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The coordinate of a joint that a coupling of this kind means when none is named: its only one, or the only one whose
// word begins like `like`.
static hn_status usual_coordinate(const model_reader *r, int node, const char *owner,
                                  hn_joint_id joint, const char *like, int *coordinate)
{
    hn_joint_kind kind = hn_model_joint_kind(r->model, joint);
    const char *words[3];
    int count = 0, fitting = 0;
    while (count < 3 && (words[count] = hn_joint_coordinate_name(kind, count)) != NULL) ++count;
    for (int k = 0; k < count; ++k)
        if (strncmp(words[k], like, strlen(like)) == 0) *coordinate = k, ++fitting;
    if (fitting == 1 || count == 0) return HN_OK; // the model says why a joint without will not do
    if (fitting == 0)
        return reader_fail(r, node, "%s: joint '%s' (%s) has no %s", owner, reader_text(r, node),
                           hn_joint_kind_name(kind), like);
    return reader_fail(r, node, "%s has no 'coordinates'; joint '%s' has %s, %s%s%s", owner,
                       reader_text(r, node), words[0], words[1], count > 2 ? ", " : "",
                       count > 2 ? words[2] : "");
}

static hn_status named_coordinate(const model_reader *r, int node, const char *owner,
                                  hn_joint_id joint, int *coordinate)
{
    hn_joint_kind kind = hn_model_joint_kind(r->model, joint);
    const char *words[3], *word;
    int count = 0;
    while (count < 3 && (words[count] = hn_joint_coordinate_name(kind, count)) != NULL) ++count;
    TRY(reader_word(r, node, "coordinate", &word));
    for (*coordinate = 0; *coordinate < count; ++*coordinate)
        if (strcmp(word, words[*coordinate]) == 0) return HN_OK;
    *coordinate = 0;
    return count == 0 ? HN_OK : reader_fail_word(r, node, "coordinate", owner, word, words, count);
}

// joints, and coordinates where they are given; `likes`: words of the usual ones
static hn_status read_places(const model_reader *r, int map, const char *owner,
                             const char *const *likes, hn_coupling_def *def)
{
    int joints, coordinates = reader_find(r, map, "coordinates"), item, word = -1;
    TRY(reader_require(r, map, "joints", owner, &joints));
    TRY(reader_expect_list(r, joints, "joints", def->term_count, &item));
    if (coordinates >= 0)
        TRY(reader_expect_list(r, coordinates, "coordinates", def->term_count, &word));
    for (int i = 0; i < def->term_count; ++i, item = reader_node(r, item)->next) {
        TRY(reader_joint(r, item, &def->joints[i]));
        if (coordinates >= 0) {
            TRY(named_coordinate(r, word, owner, def->joints[i], &def->coordinates[i]));
            word = reader_node(r, word)->next;
        } else {
            TRY(usual_coordinate(r, item, owner, def->joints[i], likes[i], &def->coordinates[i]));
        }
    }
    return HN_OK;
}

static hn_status read_positive_pair(const model_reader *r, int node, const char *key, quantity q,
                                    double *pair)
{
    TRY(reader_numbers(r, node, key, q, 2, pair));
    for (int i = 0; i < 2; ++i)
        if (!(pair[i] > 0.0))
            return reader_fail(r, node, "%s has %g; expected positive numbers", key, pair[i]);
    return HN_OK;
}

// factors of two angles from exactly one of teeth, radii and ratio; `same`: both turn the same way
static hn_status read_ratio(const model_reader *r, int map, const char *owner, bool teeth,
                            bool same, hn_coupling_def *def)
{
    int nodes[3] = {teeth ? reader_find(r, map, "teeth") : -1, reader_find(r, map, "radii"),
                    reader_find(r, map, "ratio")};
    int given = (nodes[0] >= 0) + (nodes[1] >= 0) + (nodes[2] >= 0);
    if (given != 1)
        return reader_fail(r, map, "%s has %s; expected one of %sradii and ratio", owner,
                           given == 0 ? "nothing that says how its angles are related"
                                      : "more than one ratio",
                           teeth ? "teeth, " : "");
    if (nodes[2] >= 0) {
        double ratio;
        TRY(reader_number(r, nodes[2], "ratio", QUANTITY_NUMBER, &ratio));
        if (!isfinite(ratio) || ratio == 0.0)
            return reader_fail(r, nodes[2], "ratio is %g; expected a number other than zero",
                               ratio);
        def->factors[0] = 1.0;
        def->factors[1] = -ratio;
        return HN_OK;
    }
    TRY(read_positive_pair(r, nodes[0] >= 0 ? nodes[0] : nodes[1],
                           nodes[0] >= 0 ? "teeth" : "radii",
                           nodes[0] >= 0 ? QUANTITY_NUMBER : QUANTITY_LENGTH, def->factors));
    if (same) def->factors[1] = -def->factors[1];
    return HN_OK;
}

static hn_status read_flag(const model_reader *r, int map, const char *key, bool *flag)
{
    int node = reader_find(r, map, key);
    return node < 0 ? HN_OK : reader_boolean(r, node, key, flag);
}

static hn_status read_gear(const model_reader *r, int map, const char *owner, hn_coupling_def *def)
{
    static const char *const WORDS[] = {"joints", "coordinates", "teeth",  "radii",
                                        "ratio",  "internal",    "carrier"};
    static const char *const LIKES[2] = {"angle", "angle"};
    bool internal = false;
    int carrier = reader_find(r, map, "carrier"), ratio = reader_find(r, map, "ratio");
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(read_places(r, map, owner, LIKES, def));
    TRY(read_flag(r, map, "internal", &internal));
    if (ratio >= 0 && reader_find(r, map, "internal") >= 0)
        return reader_fail(r, ratio, "%s has both ratio and internal; the sign of a ratio says it",
                           owner);
    TRY(read_ratio(r, map, owner, true, internal, def));
    if (carrier < 0) return HN_OK;
    def->term_count = 3;
    def->factors[2] = -def->factors[0];
    TRY(reader_joint(r, carrier, &def->joints[2]));
    return usual_coordinate(r, carrier, owner, def->joints[2], "angle", &def->coordinates[2]);
}

static hn_status read_belt(const model_reader *r, int map, const char *owner, hn_coupling_def *def)
{
    static const char *const WORDS[] = {"joints", "coordinates", "radii", "ratio", "crossed"};
    static const char *const LIKES[2] = {"angle", "angle"};
    bool crossed = false;
    int ratio = reader_find(r, map, "ratio");
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(read_places(r, map, owner, LIKES, def));
    TRY(read_flag(r, map, "crossed", &crossed));
    if (ratio >= 0 && reader_find(r, map, "crossed") >= 0)
        return reader_fail(r, ratio, "%s has both ratio and crossed; the sign of a ratio says it",
                           owner);
    return read_ratio(r, map, owner, false, !crossed, def);
}

static hn_status read_rack(const model_reader *r, int map, const char *owner, hn_coupling_def *def)
{
    static const char *const WORDS[] = {"joints", "coordinates", "radius"};
    static const char *const LIKES[2] = {"angle", "displacement"};
    int radius;
    double value;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "radius", owner, &radius));
    TRY(reader_number(r, radius, "radius", QUANTITY_LENGTH, &value));
    if (!isfinite(value) || value == 0.0)
        return reader_fail(r, radius, "radius is %g; expected a number of metres other than zero",
                           value);
    def->factors[0] = value;
    def->factors[1] = -1.0;
    return read_places(r, map, owner, LIKES, def);
}

// Units of factors times those of their coordinates are all one; radians are numbers here.
static hn_status read_factors(const model_reader *r, int node, hn_coupling_def *def)
{
    int entry;
    unit_guess first = {.known = false};
    TRY(reader_expect_list(r, node, "factors", def->term_count, &entry));
    for (int i = 0; i < def->term_count; ++i, entry = r->tree.nodes[entry].next) {
        unit_guess unit;
        const hn_joint_kind kind = hn_model_joint_kind(r->model, def->joints[i]);
        const char *of = joint_kind_facts_of(kind)->coordinates[def->coordinates[i]].unit;
        const unit_guess coordinate =
            unit_written((unit_kind){.length = of != NULL && of[0] == 'm'});
        TRY(reader_united(r, entry, "factors", &def->factors[i], &unit));
        unit_guess term = unit_product(&unit, &coordinate, 1);
        if (!unit.known) continue;
        if (first.known && !unit_alike(&first, &term))
            return reader_fail(
                r, entry,
                "factors: '%.60s' is of another kind than the factors before it; "
                "expected factors that make all terms one kind, such as [10 mm, -1] of an "
                "angle and a displacement",
                reader_text(r, entry));
        first = term;
    }
    return HN_OK;
}

static hn_status read_relation(const model_reader *r, int map, const char *owner,
                               hn_coupling_def *def)
{
    static const char *const WORDS[] = {"joints", "coordinates", "factors"};
    static const char *const LIKES[HN_COUPLING_TERMS_MAX] = {"", "", "", ""};
    int factors, joints, first;
    TRY(reader_expect_keys(r, map, owner, WORDS, WORD_COUNT(WORDS)));
    TRY(reader_require(r, map, "joints", owner, &joints));
    TRY(reader_require(r, map, "factors", owner, &factors));
    TRY(reader_expect_list(r, joints, "joints", -1, &first));
    def->term_count = reader_node(r, joints)->count;
    if (def->term_count < 2 || def->term_count > HN_COUPLING_TERMS_MAX)
        return reader_fail(r, joints, "%s has %d joints; expected a list of 2 to %d", owner,
                           def->term_count, HN_COUPLING_TERMS_MAX);
    TRY(read_places(r, map, owner, LIKES, def));
    return read_factors(r, factors, def);
}

static hn_status read_coupling(model_reader *r, int key)
{
    // a screw is a joint: its coupling comes with it
    enum { KINDS = HN_COUPLING_SCREW };
    static hn_status (*const READERS[KINDS])(const model_reader *, int, const char *,
                                             hn_coupling_def *) = {
        [HN_COUPLING_GEAR] = read_gear,
        [HN_COUPLING_BELT] = read_belt,
        [HN_COUPLING_RACK] = read_rack,
        [HN_COUPLING_RELATION] = read_relation,
    };
    const char *words[KINDS], *name = reader_text(r, key), *word;
    char owner[128];
    int map = -1, kind = 0;
    for (int i = 0; i < KINDS; ++i) words[i] = hn_coupling_kind_name((hn_coupling_kind)i);
    snprintf(owner, sizeof owner, "coupling '%.100s'", name);
    TRY(reader_kind(r, reader_value(r, key), owner, words, KINDS, &word, &map));
    while (strcmp(word, words[kind]) != 0) ++kind;
    hn_coupling_def def = hn_coupling_def_default((hn_coupling_kind)kind);
    hn_coupling_id id;
    def.name = name;
    TRY(READERS[kind](r, map, owner, &def));
    TRY(reader_place(r, key, hn_model_add_coupling(r->model, &def, &id)));
    r->model->couplings[r->model->coupling_count - 1].place = reader_position(r, key);
    return HN_OK;
}

hn_status reader_couplings(model_reader *r, int index)
{
    TRY(reader_expect_map(r, index, "couplings"));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_coupling(r, k));
    return HN_OK;
}
