// SPDX-License-Identifier: MIT
// The table of settings, and setting them by name.
#include "simulation/options.h"

#include "base/context.h"
#include "base/nearest_word.h"
#include "base/number_text.h"
#include "base/sized.h"
#include "model/model.h"

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

#define SETTING(field, kind, words)                                                                \
    {                                                                                              \
#field, kind, offsetof(hn_simulation_def, field), words                                    \
    }
#define OF_SCHEME(options, field, kind, words)                                                     \
    {                                                                                              \
#field, kind, offsetof(hn_simulation_def, options.field), words                            \
    }

static const option_entry TABLE[] = {
    SETTING(scheme, OPTION_WORD, &SCHEMES),
    SETTING(reduction, OPTION_WORD, &REDUCTIONS),
    SETTING(step_size, OPTION_NUMBER, NULL),
    SETTING(residual_tolerance, OPTION_NUMBER, NULL),
    SETTING(increment_tolerance, OPTION_NUMBER, NULL),
    SETTING(iterations_max, OPTION_COUNT, NULL),
    SETTING(halvings_max, OPTION_COUNT, NULL),
    SETTING(ledger, OPTION_SWITCH, NULL),
    SETTING(start_tolerance, OPTION_NUMBER, NULL),
    OF_SCHEME(energy_decaying, rho, OPTION_NUMBER, NULL),
    SETTING(order, OPTION_COUNT, NULL),
    OF_SCHEME(generalized_alpha, spectral_radius, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, absolute_tolerance, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, relative_tolerance, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, first_step, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, step_growth_max, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, projection_tolerance, OPTION_NUMBER, NULL),
    OF_SCHEME(projected_rk, fixed_steps, OPTION_SWITCH, NULL),
    OF_SCHEME(projected_rk, dense_output, OPTION_SWITCH, NULL),
    OF_SCHEME(projected_rk, projection, OPTION_WORD, &PROJECTIONS),
    OF_SCHEME(projected_rk, impose_energy, OPTION_SWITCH, NULL),
    OF_SCHEME(projected_rk, impose_momentum, OPTION_SWITCH, NULL),
    OF_SCHEME(projected_rk, planar, OPTION_SWITCH, NULL),
    SETTING(inputs, OPTION_SWITCH, NULL),
    SETTING(step_tolerance, OPTION_NUMBER, NULL),
};
enum { ENTRY_COUNT = sizeof TABLE / sizeof TABLE[0] };

// A setting that is not in the table would not be in result files, and a run could not be repeated from them. So the
// struct is written out once more: when a field is added there, this stops the build until the table has it too.
typedef struct known_settings {
    size_t size;
    hn_scheme scheme;
    hn_reduction reduction;
    double numbers[3];
    int counts[2];
    bool switches[2];
    double start_tolerance;
    int order;
    double step_tolerance;
    struct {
        double numbers[1], reserved[3];
    } generalized_alpha, energy_decaying;
    struct {
        double numbers[5];
        hn_projection projection;
        bool switches[5];
        double reserved[6];
    } projected_rk;
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

static size_t size_of(option_kind kind)
{
    return kind == OPTION_NUMBER   ? sizeof(double)
           : kind == OPTION_SWITCH ? sizeof(bool)
                                   : sizeof(int);
}

// A setting that the caller's definition has; one of an older program ends before those that came later.
static const option_entry *find_entry(const hn_simulation_def *def, const char *name)
{
    for (int i = 0; i < ENTRY_COUNT; ++i)
        if (strcmp(name, TABLE[i].name) == 0)
            return TABLE[i].place + size_of(TABLE[i].kind) <= def->size ? &TABLE[i] : NULL;
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

// The words of an enumeration: "reduced, nullspace or multipliers".
static const char *list_words(const option_words *words, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; words->name(i)[0] != '\0' && used < size; ++i) {
        const char *between = i == 0 ? "" : words->name(i + 1)[0] == '\0' ? " or " : ", ";
        used += (size_t)snprintf(list + used, size - used, "%s%s", between, words->name(i));
    }
    return list;
}

hn_status hn_simulation_def_set(hn_context *context, hn_simulation_def *def, const char *name,
                                const char *value)
{
    REQUIRE(context, context != NULL && def != NULL && name != NULL && value != NULL);
    const option_entry *entry = find_entry(def, name);
    if (entry == NULL) return fail_unknown(context, name);
    char *place = (char *)def + entry->place;
    double number = 0.0;
    switch (entry->kind) {
    case OPTION_NUMBER:
        if (!number_read(value, &number) || number < 0.0) break;
        *(double *)place = number;
        return HN_OK;
    case OPTION_COUNT:
        if (!number_read(value, &number) || number < 0.0 || number > INT_MAX ||
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
    char words[256];
    static const char *const EXPECTED[] = {"a number of zero or more", "a whole number",
                                           "true or false"};
    return context_fail(context, HN_INVALID_ARGUMENT, "setting '%s': '%s'; expected %s", name,
                        value,
                        entry->kind == OPTION_WORD ? list_words(entry->words, words, sizeof words)
                                                   : EXPECTED[entry->kind]);
}

hn_status hn_simulation_def_get(hn_context *context, const hn_simulation_def *def, const char *name,
                                char *value, size_t size)
{
    REQUIRE(context, context != NULL && def != NULL && name != NULL && value != NULL && size > 0);
    const option_entry *entry = find_entry(def, name);
    if (entry == NULL) return fail_unknown(context, name);
    const char *place = (const char *)def + entry->place;
    char digits[NUMBER_TEXT_SIZE];
    int used = 0;
    switch (entry->kind) {
    case OPTION_NUMBER:
        used = snprintf(value, size, "%s", number_text(*(const double *)place, digits));
        break;
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

// ---- what a model asks for --------------------------------------------------------------------------

hn_status hn_model_set_run_setting(hn_model *model, const char *name, const char *value)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, name != NULL && value != NULL);
    hn_simulation_def tried = hn_simulation_def_default();
    const option_entry *entry = find_entry(&tried, name);
    if (entry == NULL) return fail_unknown(context, name);
    if (entry->place < offsetof(hn_simulation_def, residual_tolerance))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "setting '%s' is one of hn_run_options; set it there", name);
    TRY(hn_simulation_def_set(context, &tried, name, value));
    int place = 0;
    while (place < model->run_setting_count && model->run_settings[place].name != entry->name)
        ++place;
    void *settings = model->run_settings;
    TRY(context_grow(context, &settings, &model->run_setting_capacity, place + 1,
                     sizeof *model->run_settings));
    model->run_settings = settings;
    char *copy = context_copy_string(context, value);
    if (copy == NULL) return HN_OUT_OF_MEMORY;
    model_setting *setting = &model->run_settings[place];
    context_release(context, setting->value);
    *setting = (model_setting){.name = entry->name, .value = copy};
    if (place == model->run_setting_count) ++model->run_setting_count;
    return HN_OK;
}

hn_status hn_simulation_def_from_model(const hn_model *model, hn_simulation_def *def)
{
    REQUIRE(NULL, model != NULL);
    hn_context *context = model->context;
    REQUIRE(context, def != NULL);
    const hn_simulation_def *asked = def;
    OWN_COPY(context, hn_simulation_def, asked, hn_simulation_def_default());
    own_asked.scheme = model->run.scheme;
    own_asked.reduction = model->run.reduction;
    if (model->run.step > 0.0) own_asked.step_size = model->run.step;
    for (int i = 0; i < model->run_setting_count; ++i)
        TRY(hn_simulation_def_set(context, &own_asked, model->run_settings[i].name,
                                  model->run_settings[i].value));
    own_asked.size = def->size;
    sized_fill(def, def->size, asked, sizeof own_asked);
    return HN_OK;
}
