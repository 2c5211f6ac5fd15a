// SPDX-License-Identifier: MIT
// The table of settings, and setting them by name.
#include "simulation/options.h"

#include "base/context.h"
#include "base/nearest_word.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *scheme_name(int value)
{
    return hn_scheme_name((hn_scheme)value);
}

static bool find_scheme(const char *name, int *value)
{
    hn_scheme scheme;
    if (!hn_scheme_from_name(name, &scheme)) return false;
    *value = (int)scheme;
    return true;
}

static const char *reduction_name(int value)
{
    return hn_reduction_name((hn_reduction)value);
}

static bool find_reduction(const char *name, int *value)
{
    hn_reduction reduction;
    if (!hn_reduction_from_name(name, &reduction)) return false;
    *value = (int)reduction;
    return true;
}

static const char *projection_name(int value)
{
    return hn_projection_name((hn_projection)value);
}

static bool find_projection(const char *name, int *value)
{
    hn_projection projection;
    if (!hn_projection_from_name(name, &projection)) return false;
    *value = (int)projection;
    return true;
}

static const option_words SCHEMES = {scheme_name, find_scheme},
                          REDUCTIONS = {reduction_name, find_reduction},
                          PROJECTIONS = {projection_name, find_projection};

#define NUMBER(field)                                                                              \
    {                                                                                              \
#field, OPTION_NUMBER, offsetof(hn_simulation_def, field), NULL                            \
    }
#define COUNT(field)                                                                               \
    {                                                                                              \
#field, OPTION_COUNT, offsetof(hn_simulation_def, field), NULL                             \
    }
#define SWITCH(field)                                                                              \
    {                                                                                              \
#field, OPTION_SWITCH, offsetof(hn_simulation_def, field), NULL                            \
    }
#define WORD(field, words)                                                                         \
    {                                                                                              \
#field, OPTION_WORD, offsetof(hn_simulation_def, field), &(words)                          \
    }

static const option_entry TABLE[] = {
    WORD(scheme, SCHEMES),
    WORD(reduction, REDUCTIONS),
    NUMBER(step_size),
    NUMBER(residual_tolerance),
    NUMBER(increment_tolerance),
    COUNT(iterations_max),
    COUNT(halvings_max),
    SWITCH(ledger),
    NUMBER(start_tolerance),
    NUMBER(rho),
    COUNT(order),
    NUMBER(spectral_radius),
    NUMBER(absolute_tolerance),
    NUMBER(relative_tolerance),
    NUMBER(first_step),
    NUMBER(step_growth_max),
    NUMBER(projection_tolerance),
    SWITCH(fixed_steps),
    SWITCH(dense_output),
    WORD(projection, PROJECTIONS),
    SWITCH(impose_energy),
    SWITCH(impose_momentum),
    SWITCH(planar),
    SWITCH(inputs),
    NUMBER(step_tolerance),
};
enum { ENTRY_COUNT = sizeof TABLE / sizeof TABLE[0] };

// A setting that is not in the table would not be in result files, and a run could not be repeated from them. So the
// struct is written out once more: when a field is added there, this stops the build until the table has it too.
typedef struct known_settings {
    hn_scheme scheme;
    hn_reduction reduction;
    double numbers[3];
    int counts[2];
    bool ledger;
    double start[2];
    int order;
    double more[6];
    bool switches[2];
    hn_projection projection;
    bool last[4];
    double step_tolerance;
} known_settings;
_Static_assert(sizeof(known_settings) == sizeof(hn_simulation_def),
               "a new setting goes into TABLE and known_settings");

const option_entry *options_table(int *count)
{
    *count = ENTRY_COUNT;
    return TABLE;
}

int hn_simulation_option_count(void)
{
    return ENTRY_COUNT;
}

const char *hn_simulation_option_name(int index)
{
    return index >= 0 && index < ENTRY_COUNT ? TABLE[index].name : "";
}

static const option_entry *find_entry(const char *name)
{
    for (int i = 0; i < ENTRY_COUNT; ++i)
        if (strcmp(name, TABLE[i].name) == 0) return &TABLE[i];
    return NULL;
}

static hn_status fail_unknown(hn_context *context, const char *name)
{
    const char *words[ENTRY_COUNT];
    for (int i = 0; i < ENTRY_COUNT; ++i) words[i] = TABLE[i].name;
    const char *nearest = nearest_word(name, words, ENTRY_COUNT);
    if (nearest == NULL)
        return context_fail(context, HN_INVALID_ARGUMENT, "unknown setting '%s'", name);
    return context_fail(context, HN_INVALID_ARGUMENT, "unknown setting '%s' (did you mean '%s'?)",
                        name, nearest);
}

// A whole text as a number.
static bool read_number(const char *text, double *number)
{
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

hn_status hn_simulation_def_set(hn_context *context, hn_simulation_def *def, const char *name,
                                const char *value)
{
    REQUIRE(context, context != NULL && def != NULL && name != NULL && value != NULL);
    const option_entry *entry = find_entry(name);
    if (entry == NULL) return fail_unknown(context, name);
    char *place = (char *)def + entry->place;
    double number = 0.0;
    switch (entry->kind) {
    case OPTION_NUMBER:
        if (!read_number(value, &number) || number < 0.0) break;
        *(double *)place = number;
        return HN_OK;
    case OPTION_COUNT:
        if (!read_number(value, &number) || number < 0.0 || number > INT_MAX ||
            number != floor(number))
            break;
        *(int *)place = (int)number;
        return HN_OK;
    case OPTION_SWITCH:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) break;
        *(bool *)place = value[0] == 't';
        return HN_OK;
    case OPTION_WORD:
        if (!entry->words->find(value, (int *)place)) break;
        return HN_OK;
    }
    static const char *const EXPECTED[] = {"a number of zero or more", "a whole number",
                                           "true or false", "one of its words"};
    return context_fail(context, HN_INVALID_ARGUMENT, "setting '%s': '%s'; expected %s", name,
                        value, EXPECTED[entry->kind]);
}

hn_status hn_simulation_def_get(hn_context *context, const hn_simulation_def *def, const char *name,
                                char *value, size_t size)
{
    REQUIRE(context, context != NULL && def != NULL && name != NULL && value != NULL && size > 0);
    const option_entry *entry = find_entry(name);
    if (entry == NULL) return fail_unknown(context, name);
    const char *place = (const char *)def + entry->place;
    int used = 0;
    switch (entry->kind) {
    case OPTION_NUMBER: used = snprintf(value, size, "%.17g", *(const double *)place); break;
    case OPTION_COUNT: used = snprintf(value, size, "%d", *(const int *)place); break;
    case OPTION_SWITCH:
        used = snprintf(value, size, "%s", *(const bool *)place ? "true" : "false");
        break;
    case OPTION_WORD:
        used = snprintf(value, size, "%s", entry->words->name(*(const int *)place));
        break;
    }
    if (used >= 0 && (size_t)used < size) return HN_OK;
    return context_fail(context, HN_INVALID_ARGUMENT, "setting '%s' has %d bytes, not below %zu",
                        name, used + 1, size);
}
