// SPDX-License-Identifier: MIT
// The `repeat` section of a model file: parts that stand there several times, written out before they are read.
//
//   repeat:
//     - for: {i: [1, 6]}
//       with: {angle: pi/3*i}
//       bodies: {leg$i: {position: [cos(angle), sin(angle), 0], ...}}
//
// Nodes are copied for every value of the indices and joined to the sections of the file. In a copy `$i` and `$(i - 1)`
// become digits, in names too, and the words i and angle in values become numbers. Copies keep line and column.
#include "io/model_reader.h"

#include "base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    VARIABLES_MAX = 16,
    COPIES_MAX = 1000000, // nodes that repetitions may write
    TEXT_MAX = 2000,      // longest value after numbers have been put in
    WORD_MAX = 60
};

enum { SECTION_COUNT = 8 };
static const char *const SECTIONS[SECTION_COUNT] = {"bodies", "beams",     "joints", "loads",
                                                    "drives", "couplings", "start",  "outputs"};

typedef struct variable {
    char name[WORD_MAX];
    double value;
} variable;

typedef struct repetition {
    model_reader *r;
    variable variables[VARIABLES_MAX]; // indices, then what `with` names
    int index_count, count;
    double first[VARIABLES_MAX], last[VARIABLES_MAX], step[VARIABLES_MAX];
    int ends[SECTION_COUNT]; // per section: its last node so far, -1: not looked for
} repetition;

// ---- text -------------------------------------------------------------------------------------------

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_word(char c)
{
    return begins_word(c) || (c >= '0' && c <= '9');
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    if (!begins_word(text[0])) return 0;
    while (in_word(text[length])) ++length;
    return length;
}

static const variable *find_variable(const repetition *p, const char *word, size_t length)
{
    for (int i = 0; i < p->count; ++i)
        if (strlen(p->variables[i].name) == length &&
            strncmp(p->variables[i].name, word, length) == 0)
            return &p->variables[i];
    return NULL;
}

typedef struct writer {
    char text[TEXT_MAX];
    size_t used;
    bool full;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    if (w->used + length + 1 > sizeof w->text) {
        w->full = true;
        return;
    }
    memcpy(w->text + w->used, text, length);
    w->used += length;
    w->text[w->used] = '\0';
}

static void put_number(writer *w, double value)
{
    char number[NUMBER_TEXT_SIZE], text[NUMBER_TEXT_SIZE + 2];
    int length =
        snprintf(text, sizeof text, value < 0.0 ? "(%s)" : "%s", number_text(value, number));
    put(w, text, (size_t)length);
}

static hn_status replace_words(const repetition *p, int node, const char *text, size_t length,
                               writer *w);

// $i or $(i - 1): digits. `*used`: bytes of it.
static hn_status replace_index(const repetition *p, int node, const char *text, size_t *used,
                               writer *w)
{
    const model_reader *r = p->r;
    size_t length = word_length(text + 1);
    const variable *found = find_variable(p, text + 1, length);
    double value = 0.0;
    if (length > 0 && found == NULL)
        return reader_fail(r, node, "'$%.*s' is no index here; expected '$%s'", (int)length,
                           text + 1, p->variables[0].name);
    if (found != NULL) {
        value = found->value;
        *used = 1 + length;
    } else {
        const char *end = text[1] == '(' ? strchr(text, ')') : NULL;
        expression_error error;
        writer inner = {.used = 0};
        if (end == NULL)
            return reader_fail(r, node, "'$' stands alone; expected an index, '$%s' or '$(%s - 1)'",
                               p->variables[0].name, p->variables[0].name);
        if (memchr(text + 2, '$', (size_t)(end - text) - 2) != NULL)
            return reader_fail(r, node,
                               "'$' stands inside '$(...)'; expected the index alone there");
        TRY(replace_words(p, node, text + 2, (size_t)(end - text) - 2, &inner));
        if (!expression_evaluate(r->expressions, inner.text, &value, &error))
            return reader_fail(r, node, "'%.*s': %s", (int)(end - text) + 1, text, error.message);
        *used = (size_t)(end - text) + 1;
    }
    if (value != floor(value) || fabs(value) > 1e15)
        return reader_fail(r, node, "'%.*s' is %g; expected a whole number", (int)*used, text,
                           value);
    char digits[40];
    int count = snprintf(digits, sizeof digits, "%.0f", value);
    put(w, digits, (size_t)count);
    return HN_OK;
}

// Words that are variables become numbers.
static hn_status replace_words(const repetition *p, int node, const char *text, size_t length,
                               writer *w)
{
    for (size_t i = 0; i < length;) {
        size_t word =
            i > 0 && (in_word(text[i - 1]) || text[i - 1] == '.') ? 0 : word_length(text + i);
        if (word > length - i) word = length - i;
        const variable *found = word > 0 ? find_variable(p, text + i, word) : NULL;
        if (text[i] == '$') {
            size_t used;
            TRY(replace_index(p, node, text + i, &used, w));
            i += used;
        } else if (found != NULL) {
            put_number(w, found->value);
            i += word;
        } else {
            put(w, text + i, word > 0 ? word : 1);
            i += word > 0 ? word : 1;
        }
    }
    if (!w->full) return HN_OK;
    return reader_fail(p->r, node, "this text is longer than %d bytes with its numbers", TEXT_MAX);
}

// Only what a dollar sign asks for.
static hn_status replace_dollars(const repetition *p, int node, const char *text, writer *w)
{
    for (size_t i = 0; text[i] != '\0';) {
        size_t used = 1;
        if (text[i] == '$') TRY(replace_index(p, node, text + i, &used, w));
        else put(w, text + i, 1);
        i += used;
    }
    return HN_OK;
}

// ---- nodes ------------------------------------------------------------------------------------------

static hn_status add_node(const repetition *p, const yaml_node *node, int *index)
{
    yaml_tree *tree = &p->r->tree;
    void *grown = tree->nodes;
    if (tree->count > COPIES_MAX * 4)
        return context_fail(p->r->context, HN_FILE_FORMAT,
                            "%s:%d:%d: repetitions write more than %d values; expected fewer",
                            p->r->file, node->line, node->column, COPIES_MAX * 4);
    hn_status status =
        context_grow(p->r->context, &grown, &tree->capacity, tree->count + 1, sizeof *node);
    tree->nodes = grown;
    TRY(status);
    *index = tree->count++;
    tree->nodes[*index] = *node;
    tree->nodes[*index].next = -1;
    return HN_OK;
}

static hn_status add_text(const repetition *p, const char *text, size_t length, yaml_node *node)
{
    yaml_tree *tree = &p->r->tree;
    void *grown = tree->text;
    hn_status status = context_grow(p->r->context, &grown, &tree->text_capacity,
                                    tree->text_count + (int)length + 1, 1);
    tree->text = grown;
    TRY(status);
    node->text = (uint32_t)tree->text_count;
    node->length = (uint32_t)length;
    memcpy(tree->text + tree->text_count, text, length + 1);
    tree->text_count += (int)length + 1;
    return HN_OK;
}

static hn_status copy_scalar(const repetition *p, int from, bool is_key, int *to)
{
    yaml_node copy = *reader_node(p->r, from);
    // the text moves when more is added
    char text[TEXT_MAX];
    writer w = {.used = 0};
    if (copy.length >= sizeof text)
        return reader_fail(p->r, from,
                           "this text is longer than %d bytes; expected less in a "
                           "repetition",
                           TEXT_MAX);
    memcpy(text, reader_text(p->r, from), copy.length + 1);
    if (is_key) TRY(replace_dollars(p, from, text, &w));
    else TRY(replace_words(p, from, text, copy.length, &w));
    TRY(add_text(p, w.text, w.used, &copy));
    copy.line = p->r->tree.nodes[from].line, copy.column = p->r->tree.nodes[from].column;
    return add_node(p, &copy, to);
}

static hn_status copy_node(const repetition *p, int from, bool is_key, int *to)
{
    yaml_node copy = *reader_node(p->r, from);
    if (copy.kind == YAML_SCALAR) return copy_scalar(p, from, is_key, to);
    int last = -1, place = 0;
    int child = copy.first;
    copy.first = -1;
    TRY(add_node(p, &copy, to));
    for (; child >= 0; child = p->r->tree.nodes[child].next, ++place) {
        int added;
        TRY(copy_node(p, child, copy.kind == YAML_MAPPING && place % 2 == 0, &added));
        if (last < 0) p->r->tree.nodes[*to].first = added;
        else p->r->tree.nodes[last].next = added;
        last = added;
    }
    return HN_OK;
}

static void join(yaml_tree *tree, int owner, int key, int value)
{
    yaml_node *map = &tree->nodes[owner];
    int last = map->first;
    while (last >= 0 && tree->nodes[last].next >= 0) last = tree->nodes[last].next;
    if (last < 0) map->first = key;
    else tree->nodes[last].next = key;
    tree->nodes[key].next = value;
    map->count += 1;
}

// The section of the file that parts go to, made where the file has none.
static hn_status find_section(const repetition *p, int root, int key, int *section)
{
    model_reader *r = p->r;
    *section = reader_find(r, root, reader_text(r, key));
    if (*section >= 0) {
        TRY(reader_expect_map(r, *section, reader_text(r, key)));
        if (r->tree.nodes[*section].kind == YAML_ALIAS)
            *section = (int)r->tree.nodes[*section].text;
        return HN_OK;
    }
    yaml_node map = r->tree.nodes[key], name = map;
    int word;
    map.kind = YAML_MAPPING, map.first = -1, map.count = 0, map.length = 0;
    TRY(add_node(p, &name, &word));
    TRY(add_node(p, &map, section));
    join(&r->tree, root, word, *section);
    return HN_OK;
}

// All entries of one section of a repetition, with the values that the variables have now.
static hn_status copy_section(repetition *p, int root, int key)
{
    model_reader *r = p->r;
    int section, map = reader_value(r, key);
    TRY(reader_expect_map(r, map, reader_text(r, key)));
    TRY(find_section(p, root, key, &section));
    // entries are joined one after the other, and the last one is remembered
    int place = 0;
    while (strcmp(SECTIONS[place], reader_text(r, key)) != 0) ++place;
    int last = p->ends[place] >= 0 ? p->ends[place] : r->tree.nodes[section].first;
    while (last >= 0 && r->tree.nodes[last].next >= 0) last = r->tree.nodes[last].next;
    for (int k = reader_node(r, map)->first; k >= 0; k = reader_next_key(r, k)) {
        int name, value;
        if (strchr(reader_text(r, k), '$') == NULL)
            return reader_fail(r, k,
                               "'%.60s' is repeated under one name; expected an index in it, such "
                               "as '%.60s$%s'",
                               reader_text(r, k), reader_text(r, k), p->variables[0].name);
        TRY(copy_node(p, k, true, &name));
        TRY(copy_node(p, reader_value(r, k), false, &value));
        if (last < 0) r->tree.nodes[section].first = name;
        else r->tree.nodes[last].next = name;
        r->tree.nodes[name].next = value;
        r->tree.nodes[section].count += 1;
        last = value;
    }
    p->ends[place] = last;
    return HN_OK;
}

// ---- variables --------------------------------------------------------------------------------------

static hn_status add_variable(repetition *p, int key)
{
    static const char *const WORDS[] = {"a", "b", "d1", "d2",    "d3",   "e",      "t",
                                        "x", "y", "z",  "world", "body", "ground", "pi"};
    const model_reader *r = p->r;
    const char *name = reader_text(r, key);
    size_t length = word_length(name);
    double value;
    expression_error error;
    if (length == 0 || name[length] != '\0' || length >= WORD_MAX)
        return reader_fail(r, key, "'%.60s' is no name for an index; expected a word such as i",
                           name);
    for (int i = 0; i < WORD_COUNT(WORDS); ++i)
        if (strcmp(name, WORDS[i]) == 0)
            return reader_fail(
                r, key, "'%s' is a word of the format; expected another one, such as i", name);
    if (find_variable(p, name, length) != NULL ||
        expression_evaluate(r->expressions, name, &value, &error))
        return reader_fail(r, key, "'%s' is the name of a number already; expected another one",
                           name);
    if (p->count == VARIABLES_MAX)
        return reader_fail(r, key, "a repetition has more than %d names; expected fewer",
                           VARIABLES_MAX);
    memcpy(p->variables[p->count].name, name, length + 1);
    p->variables[p->count++].value = 0.0;
    return HN_OK;
}

// i: n for 1 to n, [first, last] or [first, last, step].
static hn_status read_range(repetition *p, int key)
{
    const model_reader *r = p->r;
    int at = p->count, node = reader_value(r, key);
    double range[3] = {1.0, 1.0, 1.0};
    TRY(add_variable(p, key));
    int count = reader_node(r, node)->kind == YAML_SEQUENCE ? reader_node(r, node)->count : 1;
    if (reader_node(r, node)->kind != YAML_SEQUENCE)
        TRY(reader_number(r, node, p->variables[at].name, QUANTITY_NUMBER, &range[1]));
    else if (count < 2 || count > 3)
        return reader_fail(r, node, "%s has %d numbers; expected first and last, perhaps a step",
                           p->variables[at].name, count);
    else TRY(reader_numbers(r, node, p->variables[at].name, QUANTITY_NUMBER, count, range));
    for (int i = 0; i < 3; ++i)
        if (range[i] != floor(range[i]) || fabs(range[i]) > 1e9)
            return reader_fail(r, node, "%s goes from %g to %g by %g; expected whole numbers",
                               p->variables[at].name, range[0], range[1], range[2]);
    if (range[2] == 0.0 || (range[1] - range[0]) * range[2] < 0.0)
        return reader_fail(r, node,
                           "%s goes from %g to %g by %g, which is nowhere; expected at "
                           "least one value",
                           p->variables[at].name, range[0], range[1], range[2]);
    p->first[at] = range[0], p->last[at] = range[1], p->step[at] = range[2];
    p->variables[at].value = range[0];
    return HN_OK;
}

// Values of `with` at the indices.
static hn_status find_values(repetition *p, int with)
{
    const model_reader *r = p->r;
    int at = p->index_count, all = p->count;
    for (int k = with < 0 ? -1 : reader_node(r, with)->first; k >= 0;
         k = reader_next_key(r, k), ++at) {
        int node = reader_value(r, k);
        writer w = {.used = 0};
        expression_error error;
        p->count = at; // those before it
        const yaml_node *value = reader_node(r, node);
        hn_status status =
            value->kind != YAML_SCALAR || value->length == 0
                ? reader_fail(r, node, "%s is no number; expected one", reader_text(r, k))
                : replace_words(p, node, yaml_text(&r->tree, value), value->length, &w);
        p->count = all;
        TRY(status);
        if (!expression_evaluate(r->expressions, w.text, &p->variables[at].value, &error))
            return reader_fail(r, node, "%s: %s", reader_text(r, k), error.message);
    }
    return HN_OK;
}

// The next values of the indices, the last one fastest; false after the last.
static bool advance(repetition *p)
{
    for (int i = p->index_count - 1; i >= 0; --i) {
        double next = p->variables[i].value + p->step[i];
        if ((p->last[i] - next) * p->step[i] >= 0.0) {
            p->variables[i].value = next;
            return true;
        }
        p->variables[i].value = p->first[i];
    }
    return false;
}

static hn_status write_out(model_reader *r, int root, int map)
{
    const char *words[SECTION_COUNT + 2];
    repetition p = {.r = r};
    int ranges, with = reader_find(r, map, "with"), parts = 0;
    for (int i = 0; i < SECTION_COUNT; ++i) words[i] = SECTIONS[i], p.ends[i] = -1;
    words[SECTION_COUNT] = "for", words[SECTION_COUNT + 1] = "with";
    TRY(reader_expect_keys(r, map, "a repetition", words, WORD_COUNT(words)));
    TRY(reader_require(r, map, "for", "a repetition", &ranges));
    TRY(reader_expect_map(r, ranges, "for"));
    for (int k = reader_node(r, ranges)->first; k >= 0; k = reader_next_key(r, k))
        TRY(read_range(&p, k));
    p.index_count = p.count;
    if (p.count == 0)
        return reader_fail(r, ranges, "for has no index; expected one such as {i: [1, 6]}");
    if (with >= 0) TRY(reader_expect_map(r, with, "with"));
    for (int k = with < 0 ? -1 : reader_node(r, with)->first; k >= 0; k = reader_next_key(r, k))
        TRY(add_variable(&p, k));
    do {
        if (context_is_cancelled(r->context)) return HN_CANCELLED;
        TRY(find_values(&p, with));
        parts = 0;
        for (int k = reader_node(r, map)->first; k >= 0; k = reader_next_key(r, k)) {
            const char *word = reader_text(r, k);
            if (strcmp(word, "for") == 0 || strcmp(word, "with") == 0) continue;
            TRY(copy_section(&p, root, k));
            ++parts;
        }
    } while (parts > 0 && advance(&p));
    if (parts > 0) return HN_OK;
    return reader_fail(r, map, "a repetition has no parts; expected bodies, joints, ...");
}

hn_status reader_repeat(model_reader *r, int root)
{
    int list = reader_find(r, root, "repeat"), entry;
    if (list < 0) return HN_OK;
    if (reader_node(r, list)->kind == YAML_MAPPING) return write_out(r, root, list);
    TRY(reader_expect_list(r, list, "repeat", -1, &entry));
    for (; entry >= 0; entry = r->tree.nodes[entry].next) {
        TRY(reader_expect_map(r, entry, "a repetition"));
        TRY(write_out(r, root, entry));
    }
    return HN_OK;
}
