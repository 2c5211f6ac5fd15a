// SPDX-License-Identifier: MIT
// YAML text to tree: libfyaml's events, with limits against hostile files.
#include "io/yaml_tree.h"

#include "model/names.h"

#include <libfyaml.h>

#include <string.h>

enum {
    DEPTH_MAX = 32,               // nested lists and maps
    ALIAS_EXPANSION_MAX = 1000000 // nodes that aliases may stand for in all
};

typedef struct anchor {
    char *name;
    int node;       // -1 while its node is still being read
    int64_t weight; // nodes it stands for, aliases within counted in full
} anchor;

typedef struct open_node {
    int node;
    int last; // last child so far, -1: none
    int anchor;
    int64_t weight;
} open_node;

typedef struct builder {
    yaml_tree *tree;
    hn_context *context;
    const char *file;
    open_node stack[DEPTH_MAX];
    int depth;
    anchor *anchors;
    int anchor_count, anchor_capacity;
    name_table anchor_names;
    int64_t expansion;
    bool document_seen;
} builder;

void yaml_tree_clear(yaml_tree *tree)
{
    if (tree->context == NULL) return;
    context_release(tree->context, tree->nodes);
    context_release(tree->context, tree->text);
    *tree = (yaml_tree){.root = -1};
}

const yaml_node *yaml_node_at(const yaml_tree *tree, int index)
{
    const yaml_node *node = &tree->nodes[index];
    return node->kind == YAML_ALIAS ? &tree->nodes[node->text] : node;
}

int yaml_find(const yaml_tree *tree, const yaml_node *mapping, const char *key)
{
    for (int k = mapping->first; k >= 0;) {
        int value = tree->nodes[k].next;
        if (strcmp(yaml_text(tree, yaml_node_at(tree, k)), key) == 0) return value;
        k = tree->nodes[value].next;
    }
    return -1;
}

// ---- text before it is YAML --------------------------------------------------------------------------

// Length of the UTF-8 sequence at `c`, or 0 when it is not one (overlong, surrogate, out of range, cut off).
static size_t utf8_length(const unsigned char *c, size_t left)
{
    if (c[0] < 0x80) return 1;
    size_t length = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4 || left < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f)) return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f)) return 0;
    return length;
}

static hn_status check_text(hn_context *context, const char *text, size_t length, const char *file)
{
    int line = 1, column = 1;
    bool blank = true;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t step = utf8_length((const unsigned char *)text + i, length - i);
        if (step == 0)
            return context_fail(context, HN_FILE_FORMAT,
                                "%s:%d:%d: byte 0x%02x is not UTF-8 text; expected a YAML file",
                                file, line, column, c);
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            return context_fail(
                context, HN_FILE_FORMAT,
                "%s:%d:%d: found the control character 0x%02x; expected a YAML text file, this one "
                "looks binary",
                file, line, column, c);
        if (c > ' ') blank = false;
        if (c == '\n') {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
        i += step;
    }
    if (blank)
        return context_fail(
            context, HN_FILE_FORMAT,
            "%s:1:1: the file is empty; expected a model beginning with 'holonom: 1'", file);
    return HN_OK;
}

// ---- building ----------------------------------------------------------------------------------------

static hn_status fail_at(const builder *b, const yaml_node *node, const char *what)
{
    return context_fail(b->context, HN_FILE_FORMAT, "%s:%d:%d: %s", b->file, node->line,
                        node->column, what);
}

static hn_status copy_text(yaml_tree *tree, const char *text, size_t length, uint32_t *offset)
{
    if (length > INT32_MAX / 2 || tree->text_count > INT32_MAX / 2)
        return context_fail(tree->context, HN_OUT_OF_MEMORY, "the file is too large");
    void *grown = tree->text;
    hn_status status = context_grow(tree->context, &grown, &tree->text_capacity,
                                    tree->text_count + (int)length + 1, 1);
    tree->text = grown;
    TRY(status);
    *offset = (uint32_t)tree->text_count;
    if (length > 0) memcpy(tree->text + tree->text_count, text, length);
    tree->text[tree->text_count + (int)length] = '\0';
    tree->text_count += (int)length + 1;
    return HN_OK;
}

// A new node at the place of an event; an empty value has none and takes that of the node before it, its key.
static yaml_node node_at_event(const builder *b, struct fy_event *event, yaml_kind kind)
{
    yaml_node node = {.line = 1, .column = 1, .first = -1, .next = -1, .kind = (uint8_t)kind};
    const struct fy_mark *mark = fy_event_start_mark(event);
    if (mark != NULL) {
        node.line = mark->line + 1;
        node.column = mark->column + 1;
    } else if (b->tree->count > 0) {
        node.line = b->tree->nodes[b->tree->count - 1].line;
        node.column = b->tree->nodes[b->tree->count - 1].column;
    }
    return node;
}

// Append a node to the tree and to the open list or map; `weight` is what it stands for.
static hn_status append(builder *b, const yaml_node *node, int64_t weight, int *index)
{
    yaml_tree *tree = b->tree;
    void *grown = tree->nodes;
    hn_status status =
        context_grow(b->context, &grown, &tree->capacity, tree->count + 1, sizeof *node);
    tree->nodes = grown;
    TRY(status);
    *index = tree->count++;
    tree->nodes[*index] = *node;
    if (b->depth == 0) {
        tree->root = *index;
        return HN_OK;
    }
    open_node *parent = &b->stack[b->depth - 1];
    yaml_node *owner = &tree->nodes[parent->node];
    if (owner->kind == YAML_MAPPING && owner->count % 2 == 0 && node->kind != YAML_SCALAR)
        return fail_at(b, node, "a list, map or alias stands as a key; expected a word");
    if (parent->last < 0) owner->first = *index;
    else tree->nodes[parent->last].next = *index;
    parent->last = *index;
    parent->weight += weight;
    owner->count += 1; // a mapping counts keys and values until it is closed
    return HN_OK;
}

// Register the anchor of a node, if it has one; -1: none.
static hn_status open_anchor(builder *b, const yaml_node *node, struct fy_token *token, int *index)
{
    *index = -1;
    if (token == NULL) return HN_OK;
    size_t length = 0;
    const char *text = fy_token_get_text(token, &length);
    if (text == NULL)
        return context_fail(b->context, HN_OUT_OF_MEMORY, "no memory for the text of an anchor");
    void *grown = b->anchors;
    hn_status status = context_grow(b->context, &grown, &b->anchor_capacity, b->anchor_count + 1,
                                    sizeof *b->anchors);
    b->anchors = grown;
    TRY(status);
    char *name = context_allocate(b->context, length + 1);
    if (name == NULL) return HN_OUT_OF_MEMORY;
    memcpy(name, text, length);
    if (name_table_find(&b->anchor_names, name) >= 0) {
        context_release(b->context, name);
        return fail_at(b, node, "an anchor (&) is defined a second time; expected another name");
    }
    status = name_table_add(b->context, &b->anchor_names, name, b->anchor_count);
    if (status != HN_OK) {
        context_release(b->context, name);
        return status;
    }
    *index = b->anchor_count++;
    b->anchors[*index] = (anchor){.name = name, .node = -1};
    return HN_OK;
}

static void close_anchor(builder *b, int index, int node, int64_t weight)
{
    if (index < 0) return;
    b->anchors[index].node = node;
    b->anchors[index].weight = weight;
}

static hn_status add_scalar(builder *b, struct fy_event *event)
{
    yaml_node node = node_at_event(b, event, YAML_SCALAR);
    if (event->scalar.tag != NULL)
        return fail_at(b, &node, "found a tag (!); model files use none");
    struct fy_token *token = event->scalar.value;
    enum fy_scalar_style style = fy_token_scalar_style(token);
    node.quoted = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    node.block = style == FYSS_LITERAL || style == FYSS_FOLDED;
    if (node.quoted && node.column > 1) node.column -= 1; // the mark stands behind the quote
    size_t length = 0;
    const char *text = token == NULL ? "" : fy_token_get_text(token, &length);
    if (text == NULL)
        return context_fail(b->context, HN_OUT_OF_MEMORY, "no memory for the text of a value");
    if (length > 0 && memchr(text, 0, length) != NULL)
        return fail_at(b, &node, "found a zero character in a text");
    node.length = (uint32_t)length;
    TRY(copy_text(b->tree, text, length, &node.text));
    int anchor_index, index;
    TRY(open_anchor(b, &node, event->scalar.anchor, &anchor_index));
    TRY(append(b, &node, 1, &index));
    close_anchor(b, anchor_index, index, 1);
    return HN_OK;
}

static hn_status add_alias(builder *b, struct fy_event *event)
{
    yaml_node node = node_at_event(b, event, YAML_ALIAS);
    if (node.column > 1) node.column -= 1; // the mark stands behind the asterisk
    size_t length = 0;
    const char *text = fy_token_get_text(event->alias.anchor, &length);
    if (text == NULL)
        return context_fail(b->context, HN_OUT_OF_MEMORY, "no memory for the text of an alias");
    char *name = context_allocate(b->context, length + 1);
    if (name == NULL) return HN_OUT_OF_MEMORY;
    memcpy(name, text, length);
    int found = name_table_find(&b->anchor_names, name);
    context_release(b->context, name);
    if (found < 0) return fail_at(b, &node, "an alias (*) has no anchor (&) before it");
    const anchor *target = &b->anchors[found];
    if (target->node < 0) return fail_at(b, &node, "an alias (*) stands inside what it refers to");
    b->expansion += target->weight;
    if (b->expansion > ALIAS_EXPANSION_MAX)
        return fail_at(b, &node, "aliases multiply to more than a million values; expected fewer");
    node.text = (uint32_t)target->node;
    int index;
    return append(b, &node, target->weight, &index);
}

static hn_status open_collection(builder *b, struct fy_event *event, yaml_kind kind,
                                 struct fy_token *tag, struct fy_token *anchor_token)
{
    yaml_node node = node_at_event(b, event, kind);
    if (tag != NULL) return fail_at(b, &node, "found a tag (!); model files use none");
    if (b->depth == DEPTH_MAX)
        return fail_at(b, &node, "lists and maps are nested more than 32 deep");
    int anchor_index, index;
    TRY(open_anchor(b, &node, anchor_token, &anchor_index));
    TRY(append(b, &node, 1, &index));
    b->stack[b->depth++] =
        (open_node){.node = index, .last = -1, .anchor = anchor_index, .weight = 1};
    return HN_OK;
}

static hn_status fail_duplicate(const builder *b, const yaml_node *key)
{
    return context_fail(b->context, HN_FILE_FORMAT,
                        "%s:%d:%d: '%.100s' is given twice; expected once", b->file, key->line,
                        key->column, yaml_text(b->tree, key));
}

// Small maps are compared pairwise, large ones through a table.
static hn_status check_duplicates(builder *b, const yaml_node *mapping)
{
    enum { PAIRWISE_MAX = 16 };
    const yaml_tree *tree = b->tree;
    name_table seen = {0};
    hn_status status = HN_OK;
    for (int k = mapping->first; k >= 0 && status == HN_OK;
         k = tree->nodes[tree->nodes[k].next].next) {
        const yaml_node *key = &tree->nodes[k];
        const char *word = yaml_text(tree, key);
        if (mapping->count > PAIRWISE_MAX) {
            status = name_table_find(&seen, word) >= 0 ? fail_duplicate(b, key) : HN_OK;
            if (status == HN_OK) status = name_table_add(b->context, &seen, word, 0);
            continue;
        }
        for (int j = mapping->first; j != k && status == HN_OK;
             j = tree->nodes[tree->nodes[j].next].next)
            if (strcmp(yaml_text(tree, &tree->nodes[j]), word) == 0)
                status = fail_duplicate(b, key);
    }
    name_table_clear(b->context, &seen);
    return status;
}

static hn_status close_collection(builder *b)
{
    const open_node *open = &b->stack[--b->depth];
    yaml_node *node = &b->tree->nodes[open->node];
    if (node->kind == YAML_MAPPING) {
        node->count /= 2;
        TRY(check_duplicates(b, node));
    }
    close_anchor(b, open->anchor, open->node, open->weight);
    // the parent has counted 1 for it already
    if (b->depth > 0) b->stack[b->depth - 1].weight += open->weight - 1;
    return HN_OK;
}

static hn_status handle_event(builder *b, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START: {
        yaml_node here = node_at_event(b, event, YAML_SCALAR);
        if (b->document_seen)
            return fail_at(b, &here, "a second document begins here; expected one model a file");
        b->document_seen = true;
        return HN_OK;
    }
    case FYET_SCALAR: return add_scalar(b, event);
    case FYET_ALIAS: return add_alias(b, event);
    case FYET_SEQUENCE_START:
        return open_collection(b, event, YAML_SEQUENCE, event->sequence_start.tag,
                               event->sequence_start.anchor);
    case FYET_MAPPING_START:
        return open_collection(b, event, YAML_MAPPING, event->mapping_start.tag,
                               event->mapping_start.anchor);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: return close_collection(b);
    default: return HN_OK;
    }
}

// ---- libfyaml ----------------------------------------------------------------------------------------

static void discard_output(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

static hn_status parser_failure(const builder *b, struct fy_diag *diag)
{
    void *iterator = NULL;
    struct fy_diag_error *error;
    while ((error = fy_diag_errors_iterate(diag, &iterator)) != NULL)
        if (error->type >= FYET_ERROR && error->msg != NULL) {
            size_t length = strcspn(error->msg, "\n");
            return context_fail(b->context, HN_FILE_FORMAT, "%s:%d:%d: not YAML: %.*s", b->file,
                                error->line > 0 ? error->line : 1,
                                error->column > 0 ? error->column : 1,
                                (int)(length < 300 ? length : 300), error->msg);
        }
    return context_fail(b->context, HN_FILE_FORMAT,
                        "%s:1:1: not YAML, or out of memory while reading it", b->file);
}

static hn_status read_events(builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
    for (;;) {
        if (context_is_cancelled(b->context)) return HN_CANCELLED;
        struct fy_event *event = fy_parser_parse(parser);
        if (event == NULL) {
            if (fy_parser_get_stream_error(parser) || fy_diag_got_error(diag))
                return parser_failure(b, diag);
            return HN_OK;
        }
        bool last = event->type == FYET_STREAM_END;
        hn_status status = handle_event(b, event);
        fy_parser_event_free(parser, event);
        TRY(status);
        if (last) return HN_OK;
    }
}

hn_status yaml_tree_read(hn_context *context, const char *text, size_t length, const char *file,
                         yaml_tree *tree)
{
    *tree = (yaml_tree){.context = context, .root = -1};
    TRY(check_text(context, text, length, file));

    // libfyaml collects its complaints; its output function stays silent
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.output_fn = discard_output;
    diag_config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    if (diag == NULL)
        return context_fail(context, HN_OUT_OF_MEMORY, "no memory for the YAML reader");
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg parse_config = {
        .search_path = "",
        .flags = (enum fy_parse_cfg_flags)(FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                           FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE),
        .diag = diag,
    };
    builder b = {.tree = tree, .context = context, .file = file};
    hn_status status = HN_OK;
    struct fy_parser *parser = fy_parser_create(&parse_config);
    if (parser == NULL || fy_parser_set_string(parser, text, length) != 0)
        status = context_fail(context, HN_OUT_OF_MEMORY, "no memory for the YAML reader");
    if (status == HN_OK) status = read_events(&b, parser, diag);
    if (status == HN_OK && tree->root < 0)
        status = context_fail(
            context, HN_FILE_FORMAT,
            "%s:1:1: the file is empty; expected a model beginning with 'holonom: 1'", file);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);

    for (int i = 0; i < b.anchor_count; ++i) context_release(context, b.anchors[i].name);
    context_release(context, b.anchors);
    name_table_clear(context, &b.anchor_names);
    return status;
}
