// SPDX-License-Identifier: MIT
// Other values for parameters, put where the old ones stand in the text; everything else, comments too, stays.
#include "io/model_parameters.h"

#include "base/nearest_word.h"
#include "io/expression.h"
#include "io/yaml_tree.h"

#include <stdio.h>
#include <string.h>

/// Bytes of the text that give way to a value.
typedef struct text_span {
    size_t start, end;
    const char *value;
} text_span;

// Byte at a line and column, both from 1; columns count characters.
static size_t find_place(const char *text, size_t length, int line, int column)
{
    size_t k = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) k = 3;
    for (int at = 1; at < line && k < length; ++k)
        if (text[k] == '\n') ++at;
    for (int at = 1; at < column && k < length; ++at) {
        ++k;
        while (k < length && ((unsigned char)text[k] & 0xC0) == 0x80) ++k;
    }
    return k;
}

// The end of a scalar or alias that begins at `start`; 0 when it is not one piece on its line.
static size_t find_end(const char *text, size_t length, size_t start, const yaml_tree *tree,
                       const yaml_node *node)
{
    if (node->kind == YAML_ALIAS) {
        size_t end = start;
        while (end < length && strchr(" \t\r\n,]}#", text[end]) == NULL) ++end;
        return end;
    }
    size_t size = node->length + (node->quoted ? 2U : 0U);
    if (node->kind != YAML_SCALAR || node->block || size > length - start) return 0;
    const char *raw = text + start + (node->quoted ? 1 : 0);
    if (memcmp(raw, yaml_text(tree, node), node->length) != 0) return 0; // folded lines, escapes
    return start + size;
}

static hn_status fail_unknown(hn_context *context, const char *file, const yaml_tree *tree,
                              const yaml_node *map, const char *name)
{
    const char *nearest = NULL;
    const char **words =
        context_allocate(context, (map == NULL ? 1 : (size_t)map->count + 1) * sizeof *words);
    if (words == NULL) return HN_OUT_OF_MEMORY;
    int count = 0;
    for (int k = map == NULL ? -1 : map->first; k >= 0; k = tree->nodes[tree->nodes[k].next].next)
        words[count++] = yaml_text(tree, yaml_node_at(tree, k));
    nearest = nearest_word(name, words, count);
    context_release(context, words);
    if (nearest != NULL)
        return context_fail(context, HN_FILE_FORMAT,
                            "%s: the model has no parameter '%.100s' (did you mean '%s'?)", file,
                            name, nearest);
    return context_fail(context, HN_FILE_FORMAT, "%s: the model has no parameter '%.100s'%s", file,
                        name, map == NULL ? "; it has no parameters" : "");
}

// A value may be anything that expressions are made of, and nothing that YAML would take for something else.
static hn_status check_value(hn_context *context, const char *file, const hn_parameter *p)
{
    static const char LETTERS[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+-*/^()., <>=!&|?:";
    size_t length = strlen(p->value);
    if (length > 0 && length < 400 && strspn(p->value, LETTERS) == length) return HN_OK;
    return context_fail(context, HN_FILE_FORMAT,
                        "%s: parameter '%.100s' is '%.100s'; expected a number or an expression",
                        file, p->name, p->value);
}

static hn_status find_span(hn_context *context, const char *text, size_t length, const char *file,
                           const yaml_tree *tree, const hn_parameter *p, text_span *span)
{
    const yaml_node *root = yaml_node_at(tree, tree->root);
    int index = root->kind == YAML_MAPPING ? yaml_find(tree, root, "parameters") : -1;
    const yaml_node *map = index < 0 ? NULL : yaml_node_at(tree, index);
    if (map != NULL && map->kind != YAML_MAPPING) map = NULL;
    int value = map == NULL ? -1 : yaml_find(tree, map, p->name);
    if (value < 0) return fail_unknown(context, file, tree, map, p->name);
    TRY(check_value(context, file, p));
    const yaml_node *node =
        &tree->nodes[value]; // an alias gives way itself, not what it stands for
    span->value = p->value;
    span->start = find_place(text, length, node->line, node->column);
    span->end = find_end(text, length, span->start, tree, node);
    if (span->end > 0) return HN_OK;
    return context_fail(
        context, HN_FILE_FORMAT,
        "%s:%d:%d: parameter '%.100s' cannot be given another value: it stands on several lines",
        file, node->line, node->column, p->name);
}

// The text with every span replaced; spans are in the order of the text.
static hn_status replace(hn_context *context, const char *text, size_t length,
                         const text_span *spans, int count, char **changed, size_t *changed_length)
{
    size_t size = length + 1;
    for (int k = 0; k < count; ++k) size += strlen(spans[k].value) + 2;
    *changed = context_allocate(context, size);
    if (*changed == NULL) return HN_OUT_OF_MEMORY;
    size_t from = 0, to = 0;
    for (int k = 0; k < count; ++k) {
        memcpy(*changed + to, text + from, spans[k].start - from);
        to += spans[k].start - from;
        to += (size_t)snprintf(*changed + to, size - to, "'%s'", spans[k].value);
        from = spans[k].end;
    }
    memcpy(*changed + to, text + from, length - from);
    *changed_length = to + length - from;
    return HN_OK;
}

static hn_status change(hn_context *context, const char *text, size_t length, const char *file,
                        const yaml_tree *tree, const hn_parameter *parameters, int count,
                        text_span *spans, char **changed, size_t *changed_length)
{
    for (int k = 0; k < count; ++k) {
        text_span span;
        TRY(find_span(context, text, length, file, tree, &parameters[k], &span));
        int place = k;
        for (; place > 0 && spans[place - 1].start > span.start; --place)
            spans[place] = spans[place - 1];
        if (place > 0 && spans[place - 1].start == span.start)
            return context_fail(context, HN_FILE_FORMAT, "%s: parameter '%.100s' is given twice",
                                file, parameters[k].name);
        spans[place] = span;
    }
    return replace(context, text, length, spans, count, changed, changed_length);
}

hn_status model_text_with_parameters(hn_context *context, const char *text, size_t length,
                                     const char *file, const hn_parameter *parameters, int count,
                                     char **changed, size_t *changed_length)
{
    yaml_tree tree = {0};
    text_span *spans = context_allocate(context, (size_t)count * sizeof *spans);
    if (spans == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = yaml_tree_read(context, text, length, file, &tree);
    if (status == HN_OK)
        status = change(context, text, length, file, &tree, parameters, count, spans, changed,
                        changed_length);
    yaml_tree_clear(&tree);
    context_release(context, spans);
    return status;
}
