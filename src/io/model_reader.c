// SPDX-License-Identifier: MIT
// Typed values out of YAML nodes: words, numbers, vectors, directions, names of elements.
#include "io/model_reader.h"

#include "base/nearest_word.h"
#include "io/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PIECE_SIZE = 800,        // longest message after its place
    LISTED_NAMES_MAX = 2000, // names compared for "did you mean"
    UNIT_TEXT_MAX = 400      // longest number that may have a unit
};

static const double TURN = 6.283185307179586; // rad

hn_status reader_fail(const model_reader *r, int index, const char *format, ...)
{
    const yaml_node *node = &r->tree.nodes[index]; // of an alias, its own place
    char piece[PIECE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    return context_fail(r->context, HN_FILE_FORMAT, "%s:%d:%d: %s", r->file, node->line,
                        node->column, piece);
}

hn_status reader_place(const model_reader *r, int index, hn_status status)
{
    if (status == HN_OK || status == HN_OUT_OF_MEMORY) return status;
    const yaml_node *node = &r->tree.nodes[index];
    char piece[PIECE_SIZE];
    snprintf(piece, sizeof piece, "%s", hn_context_message(r->context));
    return context_fail(r->context, status == HN_INVALID_ARGUMENT ? HN_INVALID_MODEL : status,
                        "%s:%d:%d: %s", r->file, node->line, node->column, piece);
}

model_place reader_position(const model_reader *r, int index)
{
    return (model_place){r->tree.nodes[index].line, r->tree.nodes[index].column};
}

int reader_find(const model_reader *r, int map, const char *key)
{
    return yaml_find(&r->tree, reader_node(r, map), key);
}

hn_status reader_require(const model_reader *r, int map, const char *key, const char *what,
                         int *value)
{
    *value = reader_find(r, map, key);
    if (*value >= 0) return HN_OK;
    return reader_fail(r, map, "%s has no '%s'; expected one", what, key);
}

// What a node is, for "found ..., expected ...".
static const char *describe(const model_reader *r, int index, char *buffer, size_t size)
{
    const yaml_node *node = reader_node(r, index);
    switch (node->kind) {
    case YAML_MAPPING: return "a map";
    case YAML_SEQUENCE: snprintf(buffer, size, "a list of %d", node->count); return buffer;
    default: break;
    }
    if (node->length == 0 && !node->quoted) return "nothing";
    snprintf(buffer, size, "'%.60s'", yaml_text(&r->tree, node));
    for (char *c = buffer; *c != '\0'; ++c)
        if (*c == '\n' || *c == '\r') *c = ' ';
    return buffer;
}

static hn_status fail_expected(const model_reader *r, int index, const char *what,
                               const char *expected)
{
    char found[80];
    return reader_fail(r, index, "%s is %s; expected %s", what,
                       describe(r, index, found, sizeof found), expected);
}

hn_status reader_expect_map(const model_reader *r, int index, const char *what)
{
    if (reader_node(r, index)->kind == YAML_MAPPING) return HN_OK;
    return fail_expected(r, index, what, "a map of 'key: value' pairs");
}

hn_status reader_fail_word(const model_reader *r, int index, const char *what, const char *where,
                           const char *word, const char *const *words, int count)
{
    const char *in = where == NULL ? "" : " in ";
    if (where == NULL) where = "";
    const char *nearest = nearest_word(word, words, count);
    if (nearest != NULL)
        return reader_fail(r, index, "unknown %s '%.60s'%s%s (did you mean '%s'?)", what, word, in,
                           where, nearest);
    char list[400];
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < count && used + 1 < sizeof list; ++i) {
        int written =
            snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
        if (written > 0) used += (size_t)written;
    }
    return reader_fail(r, index, "unknown %s '%.60s'%s%s; expected one of %s", what, word, in,
                       where, list);
}

hn_status reader_expect_keys(const model_reader *r, int index, const char *what,
                             const char *const *words, int count)
{
    TRY(reader_expect_map(r, index, what));
    for (int k = reader_node(r, index)->first; k >= 0; k = reader_next_key(r, k)) {
        bool known = false;
        for (int i = 0; i < count && !known; ++i) known = strcmp(reader_text(r, k), words[i]) == 0;
        if (known) continue;
        return reader_fail_word(r, k, "key", what, reader_text(r, k), words, count);
    }
    return HN_OK;
}

hn_status reader_expect_list(const model_reader *r, int index, const char *what, int count,
                             int *first)
{
    const yaml_node *node = reader_node(r, index);
    char expected[60] = "a list";
    if (count > 0) snprintf(expected, sizeof expected, "a list of %d", count);
    if (node->kind != YAML_SEQUENCE || node->count == 0 || (count > 0 && node->count != count))
        return fail_expected(r, index, what, expected);
    *first = node->first;
    return HN_OK;
}

hn_status reader_word(const model_reader *r, int index, const char *what, const char **word)
{
    const yaml_node *node = reader_node(r, index);
    if (node->kind != YAML_SCALAR || node->length == 0)
        return fail_expected(r, index, what, "a word");
    *word = yaml_text(&r->tree, node);
    return HN_OK;
}

hn_status reader_boolean(const model_reader *r, int index, const char *what, bool *value)
{
    const char *word = NULL;
    TRY(reader_word(r, index, what, &word));
    *value = strcmp(word, "true") == 0;
    if (*value || strcmp(word, "false") == 0) return HN_OK;
    return fail_expected(r, index, what, "true or false");
}

// The text of a number without its unit, which begins at `split`.
static void take_number(const char *text, size_t split, char *number)
{
    memcpy(number, text, split);
    number[split] = '\0';
    while (split > 0 && number[split - 1] == ' ') number[--split] = '\0';
}

// "; expected an angle, such as 30 deg"
static void write_expected(quantity q, char *text, size_t size)
{
    const char *example = quantity_example(q);
    snprintf(text, size, "; expected %s%s%s", quantity_words(q),
             example[0] == '\0' ? "" : ", such as ", example);
}

hn_status reader_check_unit(const model_reader *r, int index, const char *what, quantity q,
                            const unit_guess *unit, size_t split)
{
    const yaml_node *node = reader_node(r, index);
    char found[80], other[80], expected[160] = "";
    const char *text = yaml_text(&r->tree, node);
    int offset = node->block ? 0 : node->quoted ? 1 : 0;
    bool named = unit_describe(unit->kind, found, sizeof found);
    if (unit->mixed) {
        bool of_one = unit_is_pure(unit->other);
        (void)unit_describe(unit->other, other, sizeof other);
        return context_fail(r->context, HN_FILE_FORMAT,
                            "%s:%d:%d: %s: '%.60s' %s what is %s%s%s; expected %s", r->file,
                            node->line, node->column + offset, what, text,
                            of_one ? "takes a function of" : "adds or compares", found,
                            of_one ? "" : " with what is ", of_one ? "" : other,
                            of_one ? "a number or an angle there" : "terms of one kind");
    }
    if (quantity_takes(q, unit)) return HN_OK;
    write_expected(q, expected, sizeof expected);
    if (split < node->length && !unit->derived)
        return context_fail(r->context, HN_FILE_FORMAT, "%s:%d:%d: %s is in '%s'%s%s%s", r->file,
                            node->line, node->column + offset + (int)split, what, text + split,
                            named ? ", " : "", named ? found : "", expected);
    return context_fail(r->context, HN_FILE_FORMAT, "%s:%d:%d: %s: '%.60s' is %s%s", r->file,
                        node->line, node->column + offset, what, text, found, expected);
}

// The unit of a number: that behind it, times that of the parameters in it.
static unit_guess find_unit(const model_reader *r, const char *number, bool written, unit_kind kind)
{
    unit_guess inside = expression_unit(r->expressions, number), unit = unit_written(kind);
    if (!written || inside.mixed) return inside;
    return inside.known ? unit_product(&inside, &unit, 1) : unit;
}

static hn_status read_united(const model_reader *r, int index, const char *what, double *value,
                             unit_guess *unit, size_t *split)
{
    const yaml_node *node = reader_node(r, index);
    *unit = (unit_guess){.known = false};
    if (context_is_cancelled(r->context)) return HN_CANCELLED; // all that is long has numbers
    if (node->kind != YAML_SCALAR || node->length == 0)
        return fail_expected(r, index, what, "a number");
    const char *text = yaml_text(&r->tree, node);
    double factor = 1.0;
    unit_kind kind = {0, 0, 0, 0};
    char number[UNIT_TEXT_MAX];
    expression_error error;
    *split = node->length < UNIT_TEXT_MAX ? unit_split(text, &factor, &kind) : node->length;
    bool written = *split < node->length;
    if (written) take_number(text, *split, number);
    if (expression_evaluate(r->expressions, written ? number : text, value, &error)) {
        *value *= factor;
        *unit = find_unit(r, written ? number : text, written, kind);
        return HN_OK;
    }
    // the place inside the expression, when its text stands in the file as it is
    int offset = node->block ? 0 : error.position + (node->quoted ? 1 : 0);
    return context_fail(r->context, HN_FILE_FORMAT, "%s:%d:%d: %s: %s", r->file, node->line,
                        node->column + offset, what, error.message);
}

hn_status reader_united(const model_reader *r, int index, const char *what, double *value,
                        unit_guess *unit)
{
    size_t split = 0;
    TRY(read_united(r, index, what, value, unit, &split));
    return reader_check_unit(r, index, what, QUANTITY_ANY, unit, split);
}

static hn_status read_number(const model_reader *r, int index, const char *what, quantity q,
                             double *value, bool *bare)
{
    unit_guess unit;
    size_t split = 0;
    TRY(read_united(r, index, what, value, &unit, &split));
    *bare = !unit.known;
    return reader_check_unit(r, index, what, q, &unit, split);
}

unit_guess reader_unit(const model_reader *r, int index)
{
    const yaml_node *node = reader_node(r, index);
    unit_guess unit = {.known = false};
    if (node->kind == YAML_SEQUENCE)
        for (int k = node->first; k >= 0 && !unit.known; k = r->tree.nodes[k].next)
            unit = reader_unit(r, k);
    if (node->kind != YAML_SCALAR || node->length == 0 || node->length >= UNIT_TEXT_MAX)
        return unit;
    const char *text = yaml_text(&r->tree, node);
    double factor;
    unit_kind kind;
    char number[UNIT_TEXT_MAX];
    size_t split = unit_split(text, &factor, &kind);
    take_number(text, split, number);
    unit = find_unit(r, number, split < node->length, kind);
    unit.known = unit.known && !unit_is_pure(unit.kind);
    return unit;
}

// "90" where an angle is meant, of which degrees may have been.
static void note_wide_angle(const model_reader *r, int index, const char *what, double value)
{
    const yaml_node *node = reader_node(r, index);
    const char *text = yaml_text(&r->tree, node);
    if (r->wide_angles == NULL || !(fabs(value) > TURN) ||
        text[strspn(text, "+-.0123456789eE")] != '\0')
        return;
    if ((*r->wide_angles)++ > 0) return;
    context_log(r->context,
                "%s:%d:%d: %s is %g rad, which is %.3g turns; %g degrees are written '%s deg', and "
                "radians that are meant '%s rad'",
                r->file, r->tree.nodes[index].line, r->tree.nodes[index].column, what, value,
                value / TURN, value, text, text);
}

hn_status reader_number(const model_reader *r, int index, const char *what, quantity q,
                        double *value)
{
    bool bare;
    TRY(read_number(r, index, what, q, value, &bare));
    if (q == QUANTITY_ANGLE && bare) note_wide_angle(r, index, what, *value);
    return HN_OK;
}

hn_status reader_positive(const model_reader *r, int index, const char *what, quantity q,
                          const char *unit, double *value)
{
    TRY(reader_number(r, index, what, q, value));
    if (*value > 0.0) return HN_OK;
    return reader_fail(r, index, "%s is %g; expected a positive number of %s", what, *value, unit);
}

hn_status reader_numbers_each(const model_reader *r, int index, const char *what, const quantity *q,
                              int count, double *values)
{
    int entry = -1;
    TRY(reader_expect_list(r, index, what, count, &entry));
    for (int i = 0; i < count; ++i, entry = r->tree.nodes[entry].next)
        TRY(reader_number(r, entry, what, q[i], &values[i]));
    return HN_OK;
}

hn_status reader_numbers(const model_reader *r, int index, const char *what, quantity q, int count,
                         double *values)
{
    int entry = -1;
    bool bare;
    TRY(reader_expect_list(r, index, what, count, &entry));
    for (int i = 0; i < count; ++i, entry = r->tree.nodes[entry].next)
        TRY(read_number(r, entry, what, q, &values[i], &bare));
    return HN_OK;
}

hn_status reader_vector(const model_reader *r, int index, const char *what, quantity q,
                        hn_vec3 *value)
{
    double numbers[3];
    const yaml_node *node = reader_node(r, index);
    if (node->kind != YAML_SEQUENCE || node->count != 3)
        return fail_expected(r, index, what, "a list of three numbers");
    TRY(reader_numbers(r, index, what, q, 3, numbers));
    *value = vec3_load(numbers);
    return HN_OK;
}

hn_status reader_direction(const model_reader *r, int index, const char *what, const hn_mat3 *frame,
                           hn_vec3 *value)
{
    const yaml_node *node = reader_node(r, index);
    if (node->kind == YAML_SEQUENCE) {
        TRY(reader_vector(r, index, what, QUANTITY_NUMBER, value));
        if (value->x != 0.0 || value->y != 0.0 || value->z != 0.0) return HN_OK;
        return reader_fail(r, index, "%s has zero length; expected a direction", what);
    }
    const char *expected =
        frame == NULL ? "x, y, z, -x, -y, -z or three numbers"
                      : "x, y, z, d1, d2, d3, one of these with a minus sign, or three numbers";
    if (node->kind != YAML_SCALAR || node->length == 0)
        return fail_expected(r, index, what, expected);

    const char *word = yaml_text(&r->tree, node);
    double sign = word[0] == '-' ? -1.0 : 1.0;
    if (word[0] == '-' || word[0] == '+') word += 1;
    hn_mat3 axes = mat3_identity();
    int column = -1;
    if (strlen(word) == 1 && word[0] >= 'x' && word[0] <= 'z') column = word[0] - 'x';
    if (frame != NULL && strlen(word) == 2 && word[0] == 'd' && word[1] >= '1' && word[1] <= '3') {
        column = word[1] - '1';
        axes = *frame;
    }
    if (column < 0) return fail_expected(r, index, what, expected);
    *value = vec3_scale(sign, mat3_column(&axes, column));
    return HN_OK;
}

// "unknown body 'x' (did you mean 'y'?)"; very large models are not searched to the end. `own`: a name that every model
// has there, or NULL.
static hn_status fail_name(const model_reader *r, int index, const char *kind, const char *own,
                           const char *name, int count,
                           const char *(*name_at)(const hn_model *model, int index))
{
    const char *nearest = own == NULL ? NULL : nearest_word(name, &own, 1);
    for (int i = 0; i < count && i < LISTED_NAMES_MAX; ++i) {
        const char *pair[2] = {name_at(r->model, i), nearest};
        nearest = nearest_word(name, pair, nearest == NULL ? 1 : 2);
        if (nearest == NULL) nearest = pair[1];
    }
    if (nearest != NULL)
        return reader_fail(r, index, "unknown %s '%.60s' (did you mean '%s'?)", kind, name,
                           nearest);
    return reader_fail(r, index, "unknown %s '%.60s'; expected the name of a %s of this model%s%s",
                       kind, name, kind, own == NULL ? "" : ", or ", own == NULL ? "" : own);
}

static const char *body_name_at(const hn_model *model, int index)
{
    return hn_model_body_name(model, hn_model_body(model, index));
}

static const char *joint_name_at(const hn_model *model, int index)
{
    return hn_model_joint_name(model, hn_model_joint(model, index));
}

hn_status reader_body(const model_reader *r, int index, bool ground_allowed, hn_body_id *body)
{
    const char *name = NULL;
    if (reader_node(r, index)->kind == YAML_MAPPING) return reader_beam_node(r, index, body);
    TRY(reader_word(r, index, "a body's name", &name));
    *body = hn_model_find_body(r->model, name);
    if (!ground_allowed && body->index1 == hn_ground().index1)
        return reader_fail(r, index, "the ground cannot stand here; expected a body that can move");
    if (body->index1 != 0) return HN_OK;
    return fail_name(r, index, "body", ground_allowed ? "ground" : NULL, name,
                     hn_model_body_count(r->model), body_name_at);
}

hn_status reader_joint(const model_reader *r, int index, hn_joint_id *joint)
{
    const char *name = NULL;
    TRY(reader_word(r, index, "a joint's name", &name));
    *joint = hn_model_find_joint(r->model, name);
    if (joint->index1 != 0) return HN_OK;
    return fail_name(r, index, "joint", NULL, name, hn_model_joint_count(r->model), joint_name_at);
}
