// SPDX-License-Identifier: MIT
// Columns of a result file: their names and units, and which of them a word selects.
#include "base/nearest_word.h"
#include "io/results_reader.h"

#include <stdio.h>
#include <string.h>

/// Parts of a column's name: group / element / quantity / component; missing ones are NULL.
typedef struct column_parts {
    const char *group, *element, *quantity, *component;
} column_parts;

static column_parts parts_of(const hn_result_file *file, const reader_series *series, size_t index)
{
    const series_info *info = series_get(series->id);
    size_t element = index / series_components(info->shape);
    column_parts parts = {info->group[0] == '\0' ? NULL : info->group, NULL, info->name,
                          series_component_name(info->shape, index)};
    switch (info->shape) {
    case SERIES_SCALAR:
    case SERIES_VECTOR: break;
    case SERIES_BODY_VECTOR:
    case SERIES_BODY_MATRIX: parts.element = string_at(&file->body_names, element); break;
    case SERIES_JOINT_VECTOR:
    case SERIES_JOINT_SIX: parts.element = string_at(&file->joint_names, element); break;
    case SERIES_JOINT_COORDINATES:
        parts.element = string_at(&file->joint_names, (size_t)file->coordinate_joint[index]);
        parts.component = string_at(&file->coordinate_names, index);
        break;
    case SERIES_OUTPUTS:
        parts.element = string_at(&file->output_names, index);
        parts.quantity = NULL; // an output is one
        parts.component = string_at(&file->output_components, index);
        if (parts.component[0] == '\0') parts.component = NULL;
        break;
    case SERIES_DRIVE: parts.element = string_at(&file->drive_names, index); break;
    case SERIES_COUPLING: parts.element = string_at(&file->coupling_names, index); break;
    case SERIES_BEAM_SIX: parts.element = string_at(&file->beam_element_names, element); break;
    }
    return parts;
}

static void join_parts(hn_result_file *file, const column_parts *parts)
{
    const char *list[4] = {parts->group, parts->element, parts->quantity, parts->component};
    size_t used = 0;
    file->name[0] = '\0';
    for (int i = 0; i < 4; ++i) {
        if (list[i] == NULL) continue;
        int added = snprintf(file->name + used, file->name_size - used, "%s%s",
                             used == 0 ? "" : "/", list[i]);
        used += (size_t)added;
    }
}

/// Is `word` the name or the beginning of it up to a slash?
static bool begins(const char *name, const char *word)
{
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == '\0' || name[length] == '/');
}

/// A word selects a column by its full name, by the name without body or joint, or, for totals, without the group; a
/// coordinate of a joint also without the word `coordinates`.
static bool word_selects(hn_result_file *file, const char *word, column_parts parts)
{
    join_parts(file, &parts);
    if (begins(file->name, word)) return true;
    if (parts.quantity == NULL) return false;
    if (parts.element != NULL && strcmp(parts.quantity, "coordinates") == 0) {
        // "joints/hinge/angle" for "joints/hinge/coordinates/angle"
        column_parts shorter = parts;
        shorter.quantity = NULL;
        join_parts(file, &shorter);
        if (strcmp(file->name, word) == 0) return true;
    }
    if (parts.element != NULL) {
        parts.element = NULL;
    } else if (parts.group != NULL && strcmp(parts.group, "joints") != 0) {
        parts.group = NULL;
    } else {
        return false;
    }
    join_parts(file, &parts);
    return begins(file->name, word);
}

// ---- unknown words ----------------------------------------------------------------------------------

static hn_status fail_with_suggestion(hn_result_file *file, const char *word,
                                      const char *suggestion)
{
    if (suggestion != NULL && strcmp(suggestion, word) == 0)
        return context_fail(file->context, HN_FILE_FORMAT,
                            "%s: has no series '%s': the model has none, or the run has not "
                            "written it",
                            file->path, word);
    if (suggestion == NULL)
        return context_fail(
            file->context, HN_FILE_FORMAT,
            "%s: unknown series '%s' (series are time, bodies, joints, beams, drives, "
            "couplings, outputs, ledger, newton and their parts, "
            "such as ledger/energy or bodies/NAME/position)",
            file->path, word);
    return context_fail(file->context, HN_FILE_FORMAT,
                        "%s: unknown series '%s' (did you mean '%s'?)", file->path, word,
                        suggestion);
}

/// The word may name a body or joint that is not there: `*nearest` is then the nearest name in the file's scratch.
static hn_status suggest_element(hn_result_file *file, const char *word, const char *group,
                                 const string_list *names, const char **nearest)
{
    size_t skip = strlen(group) + 1;
    *nearest = NULL;
    if (strlen(word) <= skip || strncmp(word, group, skip - 1) != 0 || word[skip - 1] != '/')
        return HN_OK;
    const char **list = context_allocate(file->context, names->count * sizeof *list + 1);
    char *asked = context_copy_string(file->context, word + skip);
    hn_status status = list == NULL || asked == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) {
        for (size_t i = 0; i < names->count; ++i) list[i] = string_at(names, i);
        char *slash = strchr(asked, '/');
        if (slash != NULL) *slash = '\0';
        const char *found = nearest_word(asked, list, (int)names->count);
        if (found != NULL) {
            const char *rest = slash == NULL ? "" : word + skip + (slash - asked);
            snprintf(file->name, file->name_size, "%s/%s%s", group, found, rest);
            *nearest = file->name;
        }
    }
    context_release(file->context, asked);
    context_release(file->context, list);
    return status;
}

static hn_status fail_unknown_series(hn_result_file *file, const char *word)
{
    // groups, series with their group, and totals without it
    const char *words[8 + 2 * SERIES_COUNT] = {"bodies",    "joints", "beams",  "drives",
                                               "couplings", "ledger", "newton", "outputs"};
    int count = 8;
    for (int i = 0; i < file->series_count; ++i) {
        const series_info *info = series_get(file->series[i].id);
        words[count++] = file->series[i].name;
        bool total = info->shape == SERIES_SCALAR || info->shape == SERIES_VECTOR;
        if (total && strcmp(info->group, "joints") != 0) words[count++] = info->name;
    }
    const char *nearest = NULL;
    TRY(suggest_element(file, word, "bodies", &file->body_names, &nearest));
    if (nearest == NULL) TRY(suggest_element(file, word, "joints", &file->joint_names, &nearest));
    if (nearest == NULL)
        TRY(suggest_element(file, word, "beams", &file->beam_element_names, &nearest));
    if (nearest == NULL) TRY(suggest_element(file, word, "drives", &file->drive_names, &nearest));
    if (nearest == NULL)
        TRY(suggest_element(file, word, "couplings", &file->coupling_names, &nearest));
    if (nearest == NULL) TRY(suggest_element(file, word, "outputs", &file->output_names, &nearest));
    if (nearest == NULL) nearest = nearest_word(word, words, count);
    return fail_with_suggestion(file, word, nearest);
}

// ---- public functions -------------------------------------------------------------------------------

hn_status hn_result_file_select(hn_result_file *file, const char *word, hn_result_column *columns,
                                size_t capacity, size_t *count)
{
    REQUIRE(NULL, file != NULL);
    REQUIRE(file->context, word != NULL && count != NULL && (columns != NULL || capacity == 0));
    *count = 0;
    for (int i = 0; i < file->series_count; ++i) {
        const reader_series *series = &file->series[i];
        for (size_t k = 0; k < series->about.width; ++k) {
            if (!word_selects(file, word, parts_of(file, series, k))) continue;
            if (*count < capacity) columns[*count] = (hn_result_column){i, k};
            *count += 1;
        }
    }
    // outputs go by names of their own; the series of all of them has its name too, unless an output is called so
    int whole = *count == 0 ? hn_result_file_find_series(file, word) : -1;
    for (size_t k = 0; whole >= 0 && k < file->series[whole].about.width; ++k) {
        if (*count < capacity) columns[*count] = (hn_result_column){whole, k};
        *count += 1;
    }
    return *count > 0 ? HN_OK : fail_unknown_series(file, word);
}

static bool is_column(const hn_result_file *file, hn_result_column column)
{
    return column.series >= 0 && column.series < file->series_count &&
           column.component < file->series[column.series].about.width;
}

const char *hn_result_file_column_name(hn_result_file *file, hn_result_column column)
{
    if (file == NULL || !is_column(file, column)) return "";
    column_parts parts = parts_of(file, &file->series[column.series], column.component);
    join_parts(file, &parts);
    return file->name;
}

const char *hn_result_file_column_unit(const hn_result_file *file, hn_result_column column)
{
    if (file == NULL || !is_column(file, column)) return "";
    const reader_series *series = &file->series[column.series];
    switch (series->id) {
    case SERIES_OUTPUT_VALUE: return string_at(&file->output_units, column.component);
    case SERIES_JOINT_COORDINATE: return string_at(&file->coordinate_units, column.component);
    case SERIES_JOINT_RATE: return string_at(&file->coordinate_rate_units, column.component);
    case SERIES_BEAM_STRAIN:
    case SERIES_BEAM_RESULTANT:
        return beam_component_unit(series->id == SERIES_BEAM_RESULTANT,
                                   (int)(column.component % 6));
    default: return series->about.unit;
    }
}
