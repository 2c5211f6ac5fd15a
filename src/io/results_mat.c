// SPDX-License-Identifier: MIT
// Series of a result file for Matlab and Octave: a MAT-file of level 5.
//
// Groups of the result file are structures, series are arrays whose first index is the record.
#include <holonom/results.h>

#include "base/context.h"
#include "io/mat_file.h"
#include "io/whole_file.h"
#include "simulation/series.h"

#include <stdio.h>
#include <string.h>

enum {
    FIELD_NAME_SIZE = 32, // with the zero at the end
    DIMENSIONS_MAX = 4,
    GROUPS_MAX = 16,
    BLOCK_RECORDS = 256, // read at once
};

typedef struct mat_file {
    hn_context *context;
    hn_result_file *result;
    FILE *file;
    int64_t records;
    int series_count;
    bool selected[SERIES_COUNT];
} mat_file;

// ---- texts ---------------------------------------------------------------------------------------------------

// A text as 16-bit units; what lies beyond them is a question mark. Returns how many there are; `to` may be NULL.
static size_t wide_text(const char *text, size_t length, uint16_t *to)
{
    size_t count = 0;
    for (size_t i = 0; i < length;) {
        unsigned char first = (unsigned char)text[i++];
        uint32_t code = first < 0x80 ? first : first < 0xe0 ? first & 0x1fU : first & 0x0fU;
        int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        for (; more > 0 && i < length; --more)
            code = code << 6 | ((unsigned char)text[i++] & 0x3fU);
        if (to != NULL) to[count] = code < 0x10000 && first < 0xf0 ? (uint16_t)code : (uint16_t)'?';
        ++count;
    }
    return count;
}

static uint64_t text_size(const char *text, size_t length, const char *name)
{
    return mat_head_size(2, name) + MAT_TAG_SIZE + mat_padded(2 * wide_text(text, length, NULL));
}

static hn_status put_text(mat_file *m, const char *text, size_t length, const char *name)
{
    size_t count = wide_text(text, length, NULL);
    uint16_t *wide = context_allocate(m->context, 2 * count + 2);
    if (wide == NULL) return HN_OUT_OF_MEMORY;
    wide_text(text, length, wide);
    const int32_t dims[2] = {1, (int32_t)count};
    mat_put_tag(m->file, MAT_MATRIX, text_size(text, length, name));
    mat_put_head(m->file, MAT_CLASS_TEXT, 2, dims, name);
    mat_put_element(m->file, MAT_UINT16, wide, 2 * count);
    context_release(m->context, wide);
    return HN_OK;
}

// ---- names of what a series is of ----------------------------------------------------------------------------

// Of column "group/element/series/component" the element; coordinates of joints with their component. Where it begins.
static const char *element_part(mat_file *m, int series, size_t column, size_t *length, char *text,
                                size_t size)
{
    const hn_result_series *s = hn_result_file_series(m->result, series);
    const char *full = hn_result_file_column_name(m->result, (hn_result_column){series, column});
    const char *quantity = strchr(s->name, '/'); // "/position"
    const char *first = strchr(full, '/');
    if (quantity == NULL || first == NULL) return "";
    const char *end = NULL;
    for (const char *at = strstr(first, quantity); at != NULL; at = strstr(at + 1, quantity)) {
        size_t after = strlen(quantity);
        if (at[after] == '\0' || at[after] == '/') end = at;
    }
    if (end == NULL) end = first + strlen(first); // the quantity has no name of its own: outputs
    bool coordinate = s->rank == 1 && strcmp(s->name, "joints/coordinates") == 0;
    int written = snprintf(text, size, "%.*s%s", (int)(end - first - 1), first + 1,
                           coordinate && *end != '\0' ? end + strlen(quantity) : "");
    *length = written < 0 ? 0 : (size_t)written < size ? (size_t)written : size - 1;
    return text;
}

static size_t element_count(const mat_file *m, int series)
{
    return (size_t)hn_result_file_series(m->result, series)->dims[0];
}

enum { NAME_SIZE = 600 };

static uint64_t names_size(mat_file *m, int series)
{
    size_t count = element_count(m, series),
           per = hn_result_file_series(m->result, series)->width / count;
    uint64_t size = mat_head_size(2, "");
    for (size_t i = 0; i < count; ++i) {
        char text[NAME_SIZE];
        size_t length = 0;
        const char *name = element_part(m, series, i * per, &length, text, sizeof text);
        size += MAT_TAG_SIZE + text_size(name, length, "");
    }
    return size;
}

static hn_status put_names(mat_file *m, int series)
{
    size_t count = element_count(m, series),
           per = hn_result_file_series(m->result, series)->width / count;
    const int32_t dims[2] = {(int32_t)count, 1};
    mat_put_tag(m->file, MAT_MATRIX, names_size(m, series));
    mat_put_head(m->file, MAT_CLASS_CELL, 2, dims, "");
    for (size_t i = 0; i < count; ++i) {
        char text[NAME_SIZE];
        size_t length = 0;
        const char *name = element_part(m, series, i * per, &length, text, sizeof text);
        TRY(put_text(m, name, length, ""));
    }
    return HN_OK;
}

// ---- series --------------------------------------------------------------------------------------------------

static int series_dims(const mat_file *m, int series, int32_t dims[DIMENSIONS_MAX])
{
    const hn_result_series *s = hn_result_file_series(m->result, series);
    dims[0] = (int32_t)m->records;
    for (int k = 0; k < s->rank; ++k) dims[1 + k] = (int32_t)s->dims[k];
    if (s->rank == 0) dims[1] = 1;
    return s->rank == 0 ? 2 : 1 + s->rank;
}

static uint64_t array_size(const mat_file *m, int series, const char *name)
{
    int32_t dims[DIMENSIONS_MAX];
    int rank = series_dims(m, series, dims);
    uint64_t width = hn_result_file_series(m->result, series)->width;
    return mat_head_size(rank, name) + MAT_TAG_SIZE + 8 * (uint64_t)m->records * width;
}

// Place of a number of a record, in the order of the file, when the first of its indices runs fastest.
static size_t turned_place(const hn_result_series *s, size_t index)
{
    size_t place = 0, below = s->width, stride = 1;
    for (int k = 0; k < s->rank; ++k) {
        below /= (size_t)s->dims[k];
        place += index / below % (size_t)s->dims[k] * stride;
        stride *= (size_t)s->dims[k];
    }
    return place;
}

static hn_status put_array(mat_file *m, int series, const char *name)
{
    const hn_result_series *s = hn_result_file_series(m->result, series);
    size_t records = (size_t)m->records, count = records * s->width;
    double *rows = context_allocate(m->context, (BLOCK_RECORDS * s->width + 1) * sizeof *rows);
    double *turned = context_allocate(m->context, (count + 1) * sizeof *turned);
    hn_status status = rows == NULL || turned == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    for (size_t first = 0; status == HN_OK && first < records; first += BLOCK_RECORDS) {
        size_t block = records - first < BLOCK_RECORDS ? records - first : BLOCK_RECORDS;
        status = hn_result_file_read(m->result, series, (int64_t)first, (int64_t)block, 1, rows);
        for (size_t k = 0; status == HN_OK && k < s->width; ++k) {
            double *to = turned + turned_place(s, k) * records + first;
            for (size_t i = 0; i < block; ++i) to[i] = rows[i * s->width + k];
        }
    }
    if (status == HN_OK) {
        int32_t dims[DIMENSIONS_MAX];
        int rank = series_dims(m, series, dims);
        mat_put_tag(m->file, MAT_MATRIX, array_size(m, series, name));
        mat_put_head(m->file, MAT_CLASS_DOUBLE, rank, dims, name);
        mat_put_element(m->file, MAT_DOUBLE, turned, 8 * (uint64_t)count);
    }
    context_release(m->context, rows);
    context_release(m->context, turned);
    return status;
}

// ---- groups --------------------------------------------------------------------------------------------------

/// A structure: series of one group, and names of what they are of.
typedef struct mat_group {
    char name[FIELD_NAME_SIZE];
    int fields[SERIES_COUNT + 2]; ///< series
    int count;
    int named, coordinates; ///< series that `names` and `coordinate_names` come from; -1: none
} mat_group;

static void add_to_group(const mat_file *m, int series, mat_group *groups, int *group_count)
{
    const hn_result_series *s = hn_result_file_series(m->result, series);
    size_t length = strcspn(s->name, "/");
    int g = 0;
    while (g < *group_count && strncmp(groups[g].name, s->name, length) != 0) ++g;
    if (g == GROUPS_MAX || length >= FIELD_NAME_SIZE) return;
    if (g == *group_count) {
        groups[g] = (mat_group){.named = -1, .coordinates = -1};
        memcpy(groups[g].name, s->name, length);
        *group_count += 1;
    }
    mat_group *group = &groups[g];
    group->fields[group->count++] = series;
    if (s->width == 0) return;
    if (strcmp(s->name, "joints/coordinates") == 0) group->coordinates = series;
    bool of_elements = strcmp(group->name, "ledger") != 0 && s->rank >= 1 &&
                       strncmp(s->name, "joints/coord", 12) != 0 &&
                       strcmp(s->name, "joints/rates") != 0;
    if (of_elements && group->named < 0) group->named = series;
}

static int extra_fields(const mat_group *g)
{
    return (g->named >= 0) + (g->coordinates >= 0);
}

static uint64_t group_size(mat_file *m, const mat_group *g)
{
    int count = g->count + extra_fields(g);
    uint64_t size = mat_head_size(2, g->name) + MAT_TAG_SIZE + 8 + MAT_TAG_SIZE +
                    (uint64_t)count * FIELD_NAME_SIZE;
    for (int i = 0; i < g->count; ++i) size += MAT_TAG_SIZE + array_size(m, g->fields[i], "");
    if (g->named >= 0) size += MAT_TAG_SIZE + names_size(m, g->named);
    if (g->coordinates >= 0) size += MAT_TAG_SIZE + names_size(m, g->coordinates);
    return size;
}

static void put_field_name(FILE *file, const char *name)
{
    char field[FIELD_NAME_SIZE] = "";
    snprintf(field, sizeof field, "%s", name);
    fwrite(field, 1, sizeof field, file);
}

static hn_status put_group(mat_file *m, const mat_group *g)
{
    const int32_t one[2] = {1, 1}, name_length = FIELD_NAME_SIZE;
    uint64_t size = group_size(m, g);
    if (size > MAT_ELEMENT_MAX)
        return context_fail(m->context, HN_INVALID_ARGUMENT,
                            "the group '%s' takes %llu bytes, more than a MAT-file of level 5 can "
                            "hold; choose series",
                            g->name, (unsigned long long)size);
    mat_put_tag(m->file, MAT_MATRIX, size);
    mat_put_head(m->file, MAT_CLASS_STRUCTURE, 2, one, g->name);
    mat_put_element(m->file, MAT_INT32, &name_length, 4);
    mat_put_tag(m->file, MAT_INT8, (uint64_t)(g->count + extra_fields(g)) * FIELD_NAME_SIZE);
    for (int i = 0; i < g->count; ++i)
        put_field_name(m->file,
                       strchr(hn_result_file_series(m->result, g->fields[i])->name, '/') + 1);
    if (g->named >= 0) put_field_name(m->file, "names");
    if (g->coordinates >= 0) put_field_name(m->file, "coordinate_names");
    for (int i = 0; i < g->count; ++i) TRY(put_array(m, g->fields[i], ""));
    if (g->named >= 0) TRY(put_names(m, g->named));
    if (g->coordinates >= 0) TRY(put_names(m, g->coordinates));
    return HN_OK;
}

// ---- the whole -----------------------------------------------------------------------------------------------

static hn_status select_series(mat_file *m, const char *const *words, int word_count)
{
    for (int i = 0; i < m->series_count; ++i) m->selected[i] = word_count == 0;
    int time = hn_result_file_find_series(m->result, "time");
    if (time >= 0) m->selected[time] = true;
    for (int i = 0; i < word_count; ++i) {
        size_t count = 0, found = 0;
        TRY(hn_result_file_select(m->result, words[i], NULL, 0, &count));
        hn_result_column *columns = context_allocate(m->context, count * sizeof *columns + 1);
        if (columns == NULL) return HN_OUT_OF_MEMORY;
        hn_status status = hn_result_file_select(m->result, words[i], columns, count, &found);
        for (size_t k = 0; status == HN_OK && k < found; ++k) m->selected[columns[k].series] = true;
        context_release(m->context, columns);
        TRY(status);
    }
    return HN_OK;
}

static hn_status put_all(FILE *file, void *user)
{
    mat_file *m = user;
    m->file = file;
    const hn_result_info *info = hn_result_file_info(m->result);
    mat_begin(file);
    TRY(put_text(m, info->model_name, strlen(info->model_name), "model_name"));
    TRY(put_text(m, info->scheme, strlen(info->scheme), "scheme"));
    mat_group groups[GROUPS_MAX];
    int group_count = 0;
    for (int i = 0; i < m->series_count; ++i) {
        const hn_result_series *s = hn_result_file_series(m->result, i);
        if (!m->selected[i]) continue;
        if (strchr(s->name, '/') != NULL) add_to_group(m, i, groups, &group_count);
        else if (array_size(m, i, s->name) <= MAT_ELEMENT_MAX) TRY(put_array(m, i, s->name));
    }
    for (int g = 0; g < group_count; ++g) TRY(put_group(m, &groups[g]));
    return HN_OK;
}

hn_status hn_results_export_mat(hn_context *context, const char *result_path, const char *mat_path,
                                const char *const *series, int series_count)
{
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, result_path != NULL && mat_path != NULL && mat_path[0] != '\0' &&
                         series_count >= 0 && (series != NULL || series_count == 0));
    for (int i = 0; i < series_count; ++i) REQUIRE(context, series[i] != NULL);
    mat_file m = {.context = context};
    TRY(hn_result_file_open(context, result_path, &m.result));
    m.records = hn_result_file_info(m.result)->record_count;
    m.series_count = hn_result_file_series_count(m.result);
    hn_status status = select_series(&m, series, series_count);
    if (status == HN_OK) status = whole_file_write(context, mat_path, result_path, put_all, &m);
    hn_result_file_close(m.result);
    return status;
}
