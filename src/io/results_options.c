// SPDX-License-Identifier: MIT
// One table of the settings, walked to write, to read and to compare.
#include "io/results_options.h"

#include <stddef.h>
#include <string.h>

typedef enum option_kind { OPTION_NUMBER, OPTION_COUNT, OPTION_SWITCH, OPTION_WORD } option_kind;

/// A word of an enumeration: its name, and the value of a name.
typedef struct option_words {
    const char *(*name)(int value);
    bool (*find)(const char *name, int *value);
} option_words;

typedef struct option_entry {
    const char *name;
    option_kind kind;
    size_t place; ///< in hn_simulation_def
    const option_words *words;
} option_entry;

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
    return value == (int)HN_PROJECTION_ORTHOGONAL ? "orthogonal" : "quasi-orthogonal";
}

static bool find_projection(const char *name, int *value)
{
    for (int i = 0; i <= (int)HN_PROJECTION_ORTHOGONAL; ++i)
        if (strcmp(name, projection_name(i)) == 0) {
            *value = i;
            return true;
        }
    return false;
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
};
enum { ENTRY_COUNT = sizeof TABLE / sizeof TABLE[0], WORD_SIZE = 64 };

// A setting that is not in the table would not be in result files, and a run could not be repeated from them. So the
// struct is written out once more: when a field is added there, this stops the build until the table has it too.
typedef struct known_settings {
    hn_scheme scheme;
    hn_reduction reduction;
    double numbers[3];
    int counts[2];
    bool ledger;
    double more[8];
    bool switches[2];
    hn_projection projection;
    bool last[3];
} known_settings;
_Static_assert(sizeof(known_settings) == sizeof(hn_simulation_def),
               "a new setting goes into TABLE and known_settings");

bool options_write(hid_t group, const hn_simulation_def *simulation, const hn_results_def *results)
{
    bool written = true;
    for (int i = 0; i < ENTRY_COUNT && written; ++i) {
        const option_entry *entry = &TABLE[i];
        const char *value = (const char *)simulation + entry->place;
        switch (entry->kind) {
        case OPTION_NUMBER:
            written = hdf5_attribute_double(group, entry->name, *(const double *)value);
            break;
        case OPTION_COUNT:
            written = hdf5_attribute_integer(group, entry->name, *(const int *)value);
            break;
        case OPTION_SWITCH:
            written = hdf5_attribute_integer(group, entry->name, *(const bool *)value);
            break;
        case OPTION_WORD:
            written =
                hdf5_attribute_text(group, entry->name, entry->words->name(*(const int *)value), 0);
            break;
        }
    }
    return written && hdf5_attribute_integer(group, "every", results->every) &&
           hdf5_attribute_integer(group, "step_count", results->step_count) &&
           (results->kind == HN_RESULT_RUN ||
            hdf5_attribute_text(group, "kind", hn_result_kind_name(results->kind), 0));
}

// Files of runs do not say so.
static bool read_kind(hid_t group, hn_result_kind *kind)
{
    char word[WORD_SIZE];
    if (H5Aexists(group, "kind") <= 0) return true;
    if (!hdf5_read_text(group, "kind", word, sizeof word)) return false;
    for (int i = 0; i < HN_RESULT_KIND_COUNT; ++i)
        if (strcmp(word, hn_result_kind_name((hn_result_kind)i)) == 0) {
            *kind = (hn_result_kind)i;
            return true;
        }
    return false;
}

static bool read_entry(hid_t group, const option_entry *entry, char *value)
{
    int64_t whole = 0;
    char word[WORD_SIZE];
    switch (entry->kind) {
    case OPTION_NUMBER: return hdf5_read_double(group, entry->name, (double *)value);
    case OPTION_COUNT:
        if (!hdf5_read_integer(group, entry->name, &whole) || whole < 0 || whole > INT32_MAX)
            return false;
        *(int *)value = (int)whole;
        return true;
    case OPTION_SWITCH:
        if (!hdf5_read_integer(group, entry->name, &whole)) return false;
        *(bool *)value = whole != 0;
        return true;
    case OPTION_WORD:
        return hdf5_read_text(group, entry->name, word, sizeof word) &&
               entry->words->find(word, (int *)value);
    }
    return false;
}

bool options_read(hid_t group, hn_simulation_def *simulation, hn_results_def *results)
{
    for (int i = 0; i < ENTRY_COUNT; ++i)
        if (H5Aexists(group, TABLE[i].name) > 0 &&
            !read_entry(group, &TABLE[i], (char *)simulation + TABLE[i].place))
            return false;
    if (H5Aexists(group, "every") > 0 && !hdf5_read_integer(group, "every", &results->every))
        return false;
    if (!read_kind(group, &results->kind)) return false;
    return H5Aexists(group, "step_count") <= 0 ||
           hdf5_read_integer(group, "step_count", &results->step_count);
}

const char *options_difference(const hn_simulation_def *one, const hn_simulation_def *other)
{
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        const char *a = (const char *)one + TABLE[i].place,
                   *b = (const char *)other + TABLE[i].place;
        bool equal = true;
        switch (TABLE[i].kind) {
        case OPTION_NUMBER: equal = *(const double *)a == *(const double *)b; break;
        case OPTION_COUNT:
        case OPTION_WORD: equal = *(const int *)a == *(const int *)b; break;
        case OPTION_SWITCH: equal = *(const bool *)a == *(const bool *)b; break;
        }
        if (!equal) return TABLE[i].name;
    }
    return NULL;
}
