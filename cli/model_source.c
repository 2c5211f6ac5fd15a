// SPDX-License-Identifier: MIT
// Where a command's model comes from.
#include "model_source.h"

#include "command.h"
#include "options.h"
#include "report.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

const char *model_source_name(const model_source *source)
{
    return strcmp(source->path, "-") == 0 ? "model" : source->path;
}

/// "l=0.2" becomes name and value in `copies`, which has room for all words one after the other.
static bool cut_parameters(const char *command, const model_source *source, char *copies,
                           hn_parameter *parameters, int *count)
{
    for (*count = 0; *count < OPTION_REPEAT_MAX && source->parameters[*count] != NULL; ++*count) {
        const char *word = source->parameters[*count], *equals = strchr(word, '=');
        if (equals == NULL || equals == word || equals[1] == '\0') {
            options_complain(command, "--parameter is '%s'; expected NAME=VALUE", word);
            return false;
        }
        size_t size = strlen(word) + 1;
        memcpy(copies, word, size);
        copies[equals - word] = '\0';
        parameters[*count] = (hn_parameter){copies, copies + (equals - word) + 1};
        copies += size;
    }
    return true;
}

/// All of the standard input; owned by the caller. NULL: no memory.
static char *read_input(size_t *length)
{
    size_t capacity = 65536;
    char *text = malloc(capacity);
    for (*length = 0; text != NULL;) {
        size_t got = fread(text + *length, 1, capacity - *length, stdin);
        if (got == 0) return text;
        *length += got;
        if (*length < capacity) continue;
        char *grown = realloc(text, capacity *= 2);
        if (grown == NULL) free(text);
        text = grown;
    }
    return text;
}

static hn_status load(hn_context *context, const char *path, const hn_parameter *parameters,
                      int count, hn_model **model)
{
    if (strcmp(path, "-") != 0) return hn_model_load_with(context, path, parameters, count, model);
    size_t length = 0;
    char *text = read_input(&length);
    if (text == NULL) return HN_OUT_OF_MEMORY;
    hn_status status =
        hn_model_parse_with(context, text, length, "standard input", parameters, count, model);
    free(text);
    return status;
}

int model_source_load(hn_context *context, const char *command, const model_source *source,
                      hn_model **model)
{
    size_t size = 1;
    for (int k = 0; k < OPTION_REPEAT_MAX && source->parameters[k] != NULL; ++k)
        size += strlen(source->parameters[k]) + 1;
    char *copies = malloc(size);
    if (copies == NULL) return report_no_memory();
    hn_parameter parameters[OPTION_REPEAT_MAX];
    int count, code = EXIT_USAGE;
    if (cut_parameters(command, source, copies, parameters, &count)) {
        hn_status status = load(context, source->path, parameters, count, model);
        code = status == HN_OK              ? EXIT_FINE
               : status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED
               : status == HN_CANCELLED     ? exit_code_of(status)
                                            : EXIT_MODEL;
        if (status != HN_OK) say(stderr, "%s\n", hn_context_message(context));
    }
    free(copies);
    return code;
}
