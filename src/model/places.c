// SPDX-License-Identifier: MIT
// Where in its file the things stand that a message names.
#include "model/model.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024, KIND_SIZE = 16 };

/// Place of the element `name`; `kind` is the word before it in the message.
static const model_place *place_of(const hn_model *model, const char *kind, const char *name)
{
    int index = -1;
    if (strcmp(kind, "body") == 0) {
        index = name_table_find(&model->body_names, name);
        return index < 0 ? NULL : &model->bodies[index].place;
    }
    if (strcmp(kind, "joint") == 0) {
        index = name_table_find(&model->joint_names, name);
        return index < 0 ? NULL : &model->joints[index].place;
    }
    if (strcmp(kind, "output") == 0) {
        index = name_table_find(&model->output_names, name);
        return index < 0 ? NULL : &model->outputs[index].place;
    }
    if (strcmp(kind, "drive") == 0) {
        index = name_table_find(&model->drive_names, name);
        return index < 0 ? NULL : &model->drives[index].place;
    }
    if (strcmp(kind, "coupling") == 0) {
        index = name_table_find(&model->coupling_names, name);
        return index < 0 ? NULL : &model->couplings[index].place;
    }
    index = name_table_find(&model->load_names, name);
    return index < 0 ? NULL : &model->loads[index].place;
}

/// The word that ends at `end`, or "" when it is longer than any kind.
static void word_before(const char *text, const char *end, char word[KIND_SIZE])
{
    const char *start = end;
    while (start > text && start[-1] >= 'a' && start[-1] <= 'z') --start;
    size_t length = (size_t)(end - start) < KIND_SIZE ? (size_t)(end - start) : 0;
    memcpy(word, start, length);
    word[length] = '\0';
}

/// The first element that a message names in quotes: "joint 'hinge'". Cuts `text` while it looks.
static const model_place *find_place(const hn_model *model, char *text)
{
    for (char *quote = strchr(text, '\''); quote != NULL; quote = strchr(quote + 1, '\'')) {
        if (quote == text || quote[-1] != ' ') continue;
        char kind[KIND_SIZE];
        word_before(text, quote - 1, kind);
        // a name may hold quotes itself: each one may be the last
        for (char *end = strchr(quote + 1, '\''); end != NULL; end = strchr(end + 1, '\'')) {
            *end = '\0';
            const model_place *place = place_of(model, kind, quote + 1);
            *end = '\'';
            if (place != NULL && place->line > 0) return place;
        }
    }
    return NULL;
}

hn_status model_place_message(hn_context *context, const hn_model *model, hn_status status)
{
    if (model->source == NULL) return status;
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", hn_context_message(context));
    const model_place *place = find_place(model, message);
    if (place == NULL) return context_fail(context, status, "%s: %s", model->source, message);
    return context_fail(context, status, "%s:%d:%d: %s", model->source, place->line, place->column,
                        message);
}
