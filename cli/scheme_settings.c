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

static const char *after_part(const char *text)
{
    text += strcspn(text, ",");
    return *text == ',' ? text + 1 : text;
}

/// Whether one of the parts before `here` has this name.
static bool stands_before(const char *const *texts, const char *here, const char *name)
{
    size_t length = strlen(name);
    for (;; ++texts)
        for (const char *part = *texts; *part != '\0'; part = after_part(part)) {
            if (part == here) return false;
            if (strncmp(part, name, length) == 0 && part[length] == '=') return true;
        }
}

static bool apply_part(const char *command, hn_context *context, const char *const *texts,
                       const char *part, hn_simulation_def *def)
{
    size_t length = strcspn(part, ",");
    const char *equals = memchr(part, '=', length);
    char name[TEXT_SIZE] = "", value[TEXT_SIZE] = "";
    if (equals == NULL || equals == part || length >= TEXT_SIZE) {
        options_complain(command, "--set: '%.*s'; expected name=value", (int)length, part);
        return false;
    }
    memcpy(name, part, (size_t)(equals - part));
    memcpy(value, equals + 1, length - (size_t)(equals + 1 - part));
    if (stands_before(texts, part, name)) {
        options_complain(command, "--set: '%s' is given twice", name);
        return false;
    }
    return apply_one(command, context, name, value, def);
}

bool apply_scheme_settings(const char *command, const char *const *texts, hn_simulation_def *def)
{
    if (texts[0] == NULL) return true;
    hn_context *context = hn_context_create(NULL);
    bool fine = context != NULL;
    if (!fine) report_no_memory();
    for (int k = 0; fine && k < OPTION_REPEAT_MAX && texts[k] != NULL; ++k)
        for (const char *part = texts[k]; fine && *part != '\0'; part = after_part(part))
            fine = apply_part(command, context, texts, part, def);
    hn_context_destroy(context);
    return fine;
}

enum { SETTING_SIZE = 64 }; // bytes of a value as text

const char *different_setting(const hn_simulation_def *one, const hn_simulation_def *other)
{
    hn_context *context = hn_context_create(NULL);
    const char *different = NULL;
    for (int i = 0; i < hn_simulation_option_count() && different == NULL; ++i) {
        const char *name = hn_simulation_option_name(i);
        char a[SETTING_SIZE] = "", b[SETTING_SIZE] = "";
        if (hn_simulation_def_get(context, one, name, a, sizeof a) != HN_OK ||
            hn_simulation_def_get(context, other, name, b, sizeof b) != HN_OK || strcmp(a, b) != 0)
            different = name;
    }
    hn_context_destroy(context);
    return different;
}
