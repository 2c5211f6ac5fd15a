// SPDX-License-Identifier: MIT
// Reading of `--set name=value,...`: the names and values of hn_simulation_def_set.
#include "scheme_settings.h"

#include "options.h"
#include "report.h"

#include <string.h>

enum { TEXT_SIZE = 64 };

/// Settings that are said in another way.
static const struct {
    const char *name, *instead;
} ELSEWHERE[] = {
    {"scheme", "--scheme"},
    {"reduction", "--reduction"},
    {"step_size", "--step"},
    {"ledger", "nothing: the tool always shows it"},
    {"inputs", "a program: nobody sets them here"},
};

static bool apply_one(const char *command, hn_context *context, const char *name, const char *value,
                      hn_simulation_def *def)
{
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof ELSEWHERE[0]; ++i)
        if (strcmp(name, ELSEWHERE[i].name) == 0) {
            options_complain(command, "--set: '%s' is for %s", name, ELSEWHERE[i].instead);
            return false;
        }
    if (hn_simulation_def_set(context, def, name, value) == HN_OK) return true;
    options_complain(command, "--set: %s", hn_context_message(context));
    return false;
}

bool apply_scheme_settings(const char *command, const char *text, hn_simulation_def *def)
{
    if (text == NULL) return true;
    hn_context *context = hn_context_create(NULL);
    bool fine = context != NULL;
    if (!fine) report_no_memory();
    while (fine && *text != '\0') {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        char name[TEXT_SIZE] = "", value[TEXT_SIZE] = "";
        fine = equals != NULL && equals != text && length < TEXT_SIZE;
        if (!fine) {
            options_complain(command, "--set: '%.*s'; expected name=value", (int)length, text);
            break;
        }
        memcpy(name, text, (size_t)(equals - text));
        memcpy(value, equals + 1, length - (size_t)(equals + 1 - text));
        fine = apply_one(command, context, name, value, def);
        text += length + (text[length] == ',' ? 1 : 0);
    }
    hn_context_destroy(context);
    return fine;
}
