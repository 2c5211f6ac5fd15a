// SPDX-License-Identifier: MIT
// One table of the settings, walked to write, to read and to compare.
#include "io/results_options.h"

#include "base/context.h"
#include "simulation/options.h"

#include <stddef.h>

enum { WORD_SIZE = 64 };

bool options_write(hid_t group, const hn_simulation_def *simulation, const hn_results_def *results)
{
    int count;
    const option_entry *table = options_table(&count);
    bool written = true;
    for (int i = 0; i < count && written; ++i) {
        const option_entry *entry = &table[i];
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
            hdf5_attribute_text(group, "kind", hn_result_kind_name(results->kind), 0)) &&
           (results->series == NULL || results->series[0] == '\0' ||
            hdf5_attribute_text(group, "series", results->series, 0));
}

hn_status options_read_series(hid_t group, hn_context *context, char **words)
{
    *words = NULL;
    if (H5Aexists(group, "series") <= 0) return HN_OK;
    hid_t attribute = H5Aopen(group, "series", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    size_t size = type >= 0 ? H5Tget_size(type) + 1 : 0;
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    if (size == 0) return HN_FILE_FORMAT;
    *words = context_allocate(context, size);
    if (*words == NULL) return HN_OUT_OF_MEMORY;
    if (hdf5_read_text(group, "series", *words, size)) return HN_OK;
    context_release(context, *words);
    *words = NULL;
    return HN_FILE_FORMAT;
}

// Files of runs do not say so.
static bool read_kind(hid_t group, hn_result_kind *kind)
{
    char word[WORD_SIZE];
    if (H5Aexists(group, "kind") <= 0) return true;
    if (!hdf5_read_text(group, "kind", word, sizeof word)) return false;
    return hn_result_kind_from_name(word, kind);
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
    int count;
    const option_entry *table = options_table(&count);
    for (int i = 0; i < count; ++i)
        if (H5Aexists(group, table[i].name) > 0 &&
            !read_entry(group, &table[i], (char *)simulation + table[i].place))
            return false;
    if (H5Aexists(group, "every") > 0 && !hdf5_read_integer(group, "every", &results->every))
        return false;
    if (!read_kind(group, &results->kind)) return false;
    return H5Aexists(group, "step_count") <= 0 ||
           hdf5_read_integer(group, "step_count", &results->step_count);
}

const char *options_difference(const hn_simulation_def *one, const hn_simulation_def *other)
{
    int count;
    const option_entry *table = options_table(&count);
    for (int i = 0; i < count; ++i) {
        const char *a = (const char *)one + table[i].place,
                   *b = (const char *)other + table[i].place;
        bool equal = true;
        switch (table[i].kind) {
        case OPTION_NUMBER: equal = *(const double *)a == *(const double *)b; break;
        case OPTION_COUNT:
        case OPTION_WORD: equal = *(const int *)a == *(const int *)b; break;
        case OPTION_SWITCH: equal = *(const bool *)a == *(const bool *)b; break;
        }
        if (!equal) return table[i].name;
    }
    return NULL;
}
