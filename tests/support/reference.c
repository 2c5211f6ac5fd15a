// SPDX-License-Identifier: MIT
// Reference files by libfyaml, which reads JSON as the YAML it is.
#include "support/reference.h"

#include "support/check.h"

#include <libfyaml.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference {
    struct fy_document *document;
    char path[1024];
};

reference *reference_load(const char *path)
{
    reference *ref = calloc(1, sizeof *ref);
    if (ref == NULL) fail_msg("no memory for a reference");
    snprintf(ref->path, sizeof ref->path, "%s%s",
             path[0] == '/' ? "" : HN_SOURCE_DIR "/tests/reference/", path);
    struct fy_parse_cfg configuration = {.flags = FYPCF_QUIET | FYPCF_JSON_FORCE};
    ref->document = fy_document_build_from_file(&configuration, ref->path);
    if (ref->document == NULL) fail_msg("%s: cannot be read", ref->path);
    return ref;
}

void reference_destroy(reference *ref)
{
    if (ref == NULL) return;
    fy_document_destroy(ref->document);
    free(ref);
}

// Walk "/a/0/b": a key in a mapping, an index in a sequence; NULL when there is no such place.
static struct fy_node *find(const reference *ref, const char *place)
{
    struct fy_node *node = fy_document_root(ref->document);
    while (node != NULL && *place == '/') {
        const char *word = ++place;
        while (*place != '/' && *place != '\0') ++place;
        size_t length = (size_t)(place - word);
        if (fy_node_is_sequence(node)) node = fy_node_sequence_get_by_index(node, atoi(word));
        else if (fy_node_is_mapping(node))
            node = fy_node_mapping_lookup_by_string(node, word, length);
        else node = NULL;
    }
    return node;
}

static int collect(const reference *ref, const char *place, struct fy_node *node, double *out,
                   int count, int capacity)
{
    if (fy_node_is_sequence(node)) {
        void *position = NULL;
        struct fy_node *item;
        while ((item = fy_node_sequence_iterate(node, &position)) != NULL)
            count = collect(ref, place, item, out, count, capacity);
        return count;
    }
    size_t length = 0;
    const char *text = fy_node_get_scalar(node, &length);
    char number[64];
    char *end = number;
    if (text != NULL && length > 0 && length < sizeof number) {
        memcpy(number, text, length);
        number[length] = '\0';
        double value = strtod(number, &end);
        if (*end == '\0' && count < capacity) out[count] = value;
    }
    if (end == number || *end != '\0') fail_msg("%s: %s is not numbers alone", ref->path, place);
    return count + 1;
}

int reference_numbers(const reference *ref, const char *place, double *out, int capacity)
{
    struct fy_node *node = find(ref, place);
    if (node == NULL) fail_msg("%s: nothing at %s", ref->path, place);
    return collect(ref, place, node, out, 0, capacity);
}

double reference_number(const reference *ref, const char *place)
{
    double value = 0.0;
    int count = reference_numbers(ref, place, &value, 1);
    if (count != 1) fail_msg("%s: %s holds %d numbers, not one", ref->path, place, count);
    return value;
}

bool reference_has(const reference *ref, const char *place)
{
    return find(ref, place) != NULL;
}
