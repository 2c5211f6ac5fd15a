// SPDX-License-Identifier: MIT
// Reader of result files that writes their series as comma separated values.
#define _POSIX_C_SOURCE 200809L
#include <holonom/results.h>

#include "base/context.h"
#include "base/nearest_word.h"
#include "io/results_hdf5.h"
#include "io/results_series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ELEMENT_COUNT_MAX = INT32_MAX, // more bodies or joints than this no writer makes
    BLOCK_RECORDS_MAX = 256,       // records read at once
    BLOCK_BYTES_MAX = 32 << 20,    // likewise in bytes, but at least one record
    RANK_MAX = 4,
    NUMBER_SIZE = 40,     // a double with 17 digits in any locale
    FIXED_NAME_SIZE = 96, // a column's name without the name of its body or joint
};

/// Strings of one length, each ended by a zero byte.
typedef struct string_list {
    char *text;
    size_t count;
    size_t stride; ///< bytes from one string to the next
} string_list;

typedef struct csv_series {
    hid_t dataset;  ///< negative: not in this file
    size_t width;   ///< numbers in a record
    bool *selected; ///< width
    bool used;      ///< at least one number is selected
    double *rows;   ///< block_records * width
} csv_series;

typedef struct csv_reader {
    hn_context *context;
    const char *path;
    hid_t file;
    series_extent extent;
    string_list body_names, joint_names, coordinate_names;
    int *coordinate_joint; ///< extent.coordinate_count
    csv_series series[SERIES_COUNT];
    char *name; ///< scratch for one column's name
    size_t name_size;
    hsize_t record_count;
    size_t block_records;
} csv_reader;

static hn_status fail_format(const csv_reader *reader, const char *what, const char *why)
{
    return context_fail(reader->context, HN_FILE_FORMAT, "%s: %s %s", reader->path, what, why);
}

static const char *string_at(const string_list *list, size_t index)
{
    return list->text + index * list->stride;
}

// ---- names and shapes of the file -----------------------------------------------------------------

static hn_status read_strings(csv_reader *reader, hid_t dataset, const char *place,
                              string_list *list)
{
    hid_t stored = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hid_t type = stored >= 0 ? H5Tcopy(stored) : -1; // the stored one cannot be changed
    hsize_t count = 0;
    size_t width = 0;
    bool plain = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                 H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                 H5Sget_simple_extent_dims(space, &count, NULL) == 1;
    if (plain) width = H5Tget_size(type);
    hn_status status = HN_OK;
    if (!plain || width == 0 || count > ELEMENT_COUNT_MAX)
        status = fail_format(reader, place, "is not a list of names");
    if (status == HN_OK) {
        // one byte more than in the file, so that every string ends
        list->count = (size_t)count;
        list->stride = width + 1;
        list->text = context_allocate(reader->context, list->count * list->stride + 1);
        if (list->text == NULL) status = HN_OUT_OF_MEMORY;
    }
    if (status == HN_OK && H5Tset_size(type, list->stride) < 0)
        status = fail_format(reader, place, "cannot be read");
    if (status == HN_OK && count > 0 &&
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, list->text) < 0)
        status = fail_format(reader, place, "cannot be read");
    for (size_t i = 0; status == HN_OK && i < list->count; ++i)
        list->text[(i + 1) * list->stride - 1] = '\0';
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (stored >= 0) H5Tclose(stored);
    return status;
}

/// A list that is missing is an empty one: a model without joints has none.
static hn_status open_strings(csv_reader *reader, const char *place, string_list *list)
{
    if (H5Lexists(reader->file, place, H5P_DEFAULT) <= 0) return HN_OK;
    hid_t dataset = H5Dopen2(reader->file, place, H5P_DEFAULT);
    if (dataset < 0) return fail_format(reader, place, "cannot be read");
    hn_status status = read_strings(reader, dataset, place, list);
    H5Dclose(dataset);
    return status;
}

static hn_status read_coordinate_joints(csv_reader *reader)
{
    const size_t count = reader->extent.coordinate_count;
    const char *place = "joints/coordinate_joint";
    if (count == 0) return HN_OK;
    reader->coordinate_joint = context_allocate(reader->context, count * sizeof(int));
    if (reader->coordinate_joint == NULL) return HN_OUT_OF_MEMORY;
    hid_t dataset = H5Dopen2(reader->file, place, H5P_DEFAULT);
    if (dataset < 0) return fail_format(reader, place, "is missing");
    hid_t space = H5Dget_space(dataset);
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        reader->coordinate_joint) >= 0;
    if (space >= 0) H5Sclose(space);
    H5Dclose(dataset);
    for (size_t i = 0; read && i < count; ++i)
        read = reader->coordinate_joint[i] >= 0 &&
               (size_t)reader->coordinate_joint[i] < reader->extent.joint_count;
    return read ? HN_OK : fail_format(reader, place, "does not fit the joints");
}

static hn_status open_series(csv_reader *reader, series_id id, bool *first)
{
    const series_info *info = series_get(id);
    csv_series *series = &reader->series[id];
    char place[64];
    snprintf(place, sizeof place, "%s%s%s", info->group, info->group[0] == '\0' ? "" : "/",
             info->name);
    if (info->group[0] != '\0' && H5Lexists(reader->file, info->group, H5P_DEFAULT) <= 0)
        return HN_OK;
    if (H5Lexists(reader->file, place, H5P_DEFAULT) <= 0) return HN_OK;
    series->dataset = H5Dopen2(reader->file, place, H5P_DEFAULT);
    if (series->dataset < 0) return fail_format(reader, place, "is not a series");

    hid_t space = H5Dget_space(series->dataset);
    hsize_t found[RANK_MAX] = {0};
    size_t dims[3];
    int rank = series_record_dims(info->shape, &reader->extent, dims);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank + 1 &&
                H5Sget_simple_extent_dims(space, found, NULL) >= 0;
    for (int i = 0; fits && i < rank; ++i) fits = found[i + 1] == dims[i];
    if (space >= 0) H5Sclose(space);
    if (!fits) return fail_format(reader, place, "has not the shape its model needs");

    // a run that was killed while writing may have left more records in some series
    if (*first || found[0] < reader->record_count) reader->record_count = found[0];
    *first = false;
    series->width = series_width(info->shape, &reader->extent);
    series->selected = context_allocate(reader->context, series->width + 1);
    return series->selected == NULL ? HN_OUT_OF_MEMORY : HN_OK;
}

static bool is_result_file(hid_t file)
{
    char text[32] = {0};
    if (H5Aexists(file, "format") <= 0) return false;
    hid_t attribute = H5Aopen(file, "format", H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute);
    bool read = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                H5Tget_size(type) < sizeof text && H5Aread(attribute, type, text) >= 0;
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return read && strcmp(text, "holonom results") == 0;
}

/// What a killed run left beyond the records that it had counted may have holes.
static void limit_records(csv_reader *reader)
{
    int64_t counted = 0;
    if (H5Aexists(reader->file, "record_count") <= 0) return;
    hid_t attribute = H5Aopen(reader->file, "record_count", H5P_DEFAULT);
    if (attribute < 0) return;
    hid_t space = H5Aget_space(attribute);
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_INT64, &counted) >= 0;
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    if (read && counted >= 0 && (hsize_t)counted < reader->record_count)
        reader->record_count = (hsize_t)counted;
}

static hn_status read_layout(csv_reader *reader)
{
    if (!is_result_file(reader->file))
        return fail_format(reader, "this HDF5 file", "is not a result file of holonom");
    TRY(open_strings(reader, "bodies/names", &reader->body_names));
    TRY(open_strings(reader, "joints/names", &reader->joint_names));
    TRY(open_strings(reader, "joints/coordinate_names", &reader->coordinate_names));
    reader->extent.body_count = reader->body_names.count;
    reader->extent.joint_count = reader->joint_names.count;
    reader->extent.coordinate_count = reader->coordinate_names.count;
    TRY(read_coordinate_joints(reader));

    size_t longest = reader->body_names.stride;
    if (reader->joint_names.stride > longest) longest = reader->joint_names.stride;
    reader->name_size = longest + reader->coordinate_names.stride + FIXED_NAME_SIZE;
    reader->name = context_allocate(reader->context, reader->name_size);
    if (reader->name == NULL) return HN_OUT_OF_MEMORY;

    bool first = true;
    for (int i = 0; i < SERIES_COUNT; ++i) TRY(open_series(reader, (series_id)i, &first));
    limit_records(reader);
    if (reader->series[SERIES_TIME].dataset < 0)
        return fail_format(reader, "the series 'time'", "is missing");
    return HN_OK;
}

// ---- columns --------------------------------------------------------------------------------------

/// Parts of a column's name: group / element / quantity / component; missing ones are NULL.
typedef struct column_parts {
    const char *group, *element, *quantity, *component;
} column_parts;

static column_parts parts_of(const csv_reader *reader, series_id id, size_t index)
{
    static const char *const AXES[3] = {"x", "y", "z"};
    static const char *const ENTRIES[9] = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
    const series_info *info = series_get(id);
    column_parts parts = {info->group[0] == '\0' ? NULL : info->group, NULL, info->name, NULL};
    switch (info->shape) {
    case SERIES_SCALAR: break;
    case SERIES_VECTOR: parts.component = AXES[index % 3]; break;
    case SERIES_BODY_VECTOR:
        parts.element = string_at(&reader->body_names, index / 3);
        parts.component = AXES[index % 3];
        break;
    case SERIES_BODY_MATRIX:
        parts.element = string_at(&reader->body_names, index / 9);
        parts.component = ENTRIES[index % 9];
        break;
    case SERIES_JOINT_VECTOR:
        parts.element = string_at(&reader->joint_names, index / 3);
        parts.component = AXES[index % 3];
        break;
    case SERIES_JOINT_COORDINATES:
        parts.element = string_at(&reader->joint_names, (size_t)reader->coordinate_joint[index]);
        parts.component = string_at(&reader->coordinate_names, index);
        break;
    }
    return parts;
}

static void join_parts(csv_reader *reader, const column_parts *parts)
{
    const char *list[4] = {parts->group, parts->element, parts->quantity, parts->component};
    size_t used = 0;
    reader->name[0] = '\0';
    for (int i = 0; i < 4; ++i) {
        if (list[i] == NULL) continue;
        int added = snprintf(reader->name + used, reader->name_size - used, "%s%s",
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

/// A word selects a column by its full name, by the name without body or joint, or, for totals, without the group.
static bool word_selects(csv_reader *reader, const char *word, column_parts parts)
{
    join_parts(reader, &parts);
    if (begins(reader->name, word)) return true;
    if (parts.element != NULL) {
        parts.element = NULL;
    } else if (parts.group != NULL && strcmp(parts.group, "joints") != 0) {
        parts.group = NULL;
    } else {
        return false;
    }
    join_parts(reader, &parts);
    return begins(reader->name, word);
}

static hn_status fail_with_suggestion(csv_reader *reader, const char *word, const char *suggestion)
{
    if (suggestion == NULL)
        return context_fail(reader->context, HN_FILE_FORMAT,
                            "%s: unknown series '%s' (series are time, bodies, joints, ledger, "
                            "newton and their parts, "
                            "such as ledger/energy or bodies/NAME/position)",
                            reader->path, word);
    return context_fail(reader->context, HN_FILE_FORMAT,
                        "%s: unknown series '%s' (did you mean '%s'?)", reader->path, word,
                        suggestion);
}

/// The word may name a body or joint that is not there: `*nearest` is then the nearest name in the reader's scratch.
static hn_status suggest_element(csv_reader *reader, const char *word, const char *group,
                                 const string_list *names, const char **nearest)
{
    size_t skip = strlen(group) + 1;
    *nearest = NULL;
    if (strlen(word) <= skip || strncmp(word, group, skip - 1) != 0 || word[skip - 1] != '/')
        return HN_OK;
    const char **list = context_allocate(reader->context, names->count * sizeof *list + 1);
    char *asked = context_copy_string(reader->context, word + skip);
    hn_status status = list == NULL || asked == NULL ? HN_OUT_OF_MEMORY : HN_OK;
    if (status == HN_OK) {
        for (size_t i = 0; i < names->count; ++i) list[i] = string_at(names, i);
        char *slash = strchr(asked, '/');
        if (slash != NULL) *slash = '\0';
        const char *found = nearest_word(asked, list, (int)names->count);
        if (found != NULL) {
            const char *rest = slash == NULL ? "" : word + skip + (slash - asked);
            snprintf(reader->name, reader->name_size, "%s/%s%s", group, found, rest);
            *nearest = reader->name;
        }
    }
    context_release(reader->context, asked);
    context_release(reader->context, list);
    return status;
}

static hn_status fail_unknown_series(csv_reader *reader, const char *word)
{
    // quantities with their group, and totals without it
    char text[2 * SERIES_COUNT][FIXED_NAME_SIZE / 2];
    const char *words[2 * SERIES_COUNT + 4] = {"bodies", "joints", "ledger", "newton"};
    int count = 4;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const series_info *info = series_get((series_id)i);
        snprintf(text[2 * i], sizeof text[0], "%s%s%s", info->group,
                 info->group[0] == '\0' ? "" : "/", info->name);
        words[count++] = text[2 * i];
        bool total = info->shape == SERIES_SCALAR || info->shape == SERIES_VECTOR;
        if (!total || strcmp(info->group, "joints") == 0) continue;
        snprintf(text[2 * i + 1], sizeof text[0], "%s", info->name);
        words[count++] = text[2 * i + 1];
    }
    const char *nearest = NULL;
    TRY(suggest_element(reader, word, "bodies", &reader->body_names, &nearest));
    if (nearest == NULL)
        TRY(suggest_element(reader, word, "joints", &reader->joint_names, &nearest));
    if (nearest == NULL) nearest = nearest_word(word, words, count);
    return fail_with_suggestion(reader, word, nearest);
}

static hn_status select_columns(csv_reader *reader, const char *const *words, int word_count)
{
    for (int w = 0; w < word_count; ++w) {
        bool known = false;
        for (int i = 0; i < SERIES_COUNT; ++i) {
            csv_series *series = &reader->series[i];
            for (size_t k = 0; series->dataset >= 0 && k < series->width; ++k) {
                if (!word_selects(reader, words[w], parts_of(reader, (series_id)i, k))) continue;
                series->selected[k] = known = true;
            }
        }
        if (!known) return fail_unknown_series(reader, words[w]);
    }
    for (int i = 0; i < SERIES_COUNT; ++i) {
        csv_series *series = &reader->series[i];
        for (size_t k = 0; series->dataset >= 0 && k < series->width; ++k) {
            if (word_count == 0 || i == SERIES_TIME) series->selected[k] = true;
            series->used = series->used || series->selected[k];
        }
    }
    return HN_OK;
}

// ---- text -----------------------------------------------------------------------------------------

/// Shortest decimal that reads back as the same double, with a point in every locale.
static void print_number(double value, FILE *out)
{
    char text[NUMBER_SIZE];
    if (!isfinite(value)) { // not from our writer, but a file may come from anywhere
        fputs(isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf", out);
        return;
    }
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    // the locale's decimal separator, whatever its length, becomes a point
    bool separator = false;
    for (const char *c = text; *c != '\0'; ++c) {
        bool ordinary = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (ordinary) putc(*c, out);
        else if (!separator) putc('.', out);
        separator = !ordinary;
    }
}

static void print_name(const char *name, FILE *out)
{
    if (strpbrk(name, ",\"\r\n") == NULL) {
        fputs(name, out);
        return;
    }
    putc('"', out);
    for (const char *c = name; *c != '\0'; ++c) {
        if (*c == '"') putc('"', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void print_header(csv_reader *reader, FILE *out)
{
    bool first = true;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const csv_series *series = &reader->series[i];
        for (size_t k = 0; series->used && k < series->width; ++k) {
            if (!series->selected[k]) continue;
            column_parts parts = parts_of(reader, (series_id)i, k);
            join_parts(reader, &parts);
            if (!first) putc(',', out);
            print_name(reader->name, out);
            first = false;
        }
    }
    putc('\n', out);
}

static void print_row(const csv_reader *reader, size_t row, FILE *out)
{
    bool first = true;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const csv_series *series = &reader->series[i];
        for (size_t k = 0; series->used && k < series->width; ++k) {
            if (!series->selected[k]) continue;
            if (!first) putc(',', out);
            print_number(series->rows[row * series->width + k], out);
            first = false;
        }
    }
    putc('\n', out);
}

static bool read_rows(const csv_series *series, hsize_t start, hsize_t count)
{
    hid_t space = H5Dget_space(series->dataset);
    if (space < 0) return false;
    hsize_t dims[RANK_MAX] = {0}, offset[RANK_MAX] = {start};
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    dims[0] = count;
    hid_t memory = rank > 0 ? H5Screate_simple(rank, dims, NULL) : -1;
    bool read =
        memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, NULL, dims, NULL) >= 0 &&
        H5Dread(series->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, series->rows) >= 0;
    if (memory >= 0) H5Sclose(memory);
    H5Sclose(space);
    return read;
}

static hn_status take_blocks(csv_reader *reader)
{
    size_t width = 0;
    for (int i = 0; i < SERIES_COUNT; ++i)
        if (reader->series[i].used) width += reader->series[i].width;
    reader->block_records = BLOCK_BYTES_MAX / (width * sizeof(double));
    if (reader->block_records > BLOCK_RECORDS_MAX) reader->block_records = BLOCK_RECORDS_MAX;
    if (reader->block_records < 1) reader->block_records = 1;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        csv_series *series = &reader->series[i];
        if (!series->used) continue;
        series->rows = context_allocate(reader->context,
                                        reader->block_records * series->width * sizeof(double));
        if (series->rows == NULL) return HN_OUT_OF_MEMORY;
    }
    return HN_OK;
}

static hn_status print_records(csv_reader *reader, FILE *out)
{
    print_header(reader, out);
    for (hsize_t start = 0; start < reader->record_count && !ferror(out);
         start += reader->block_records) {
        hsize_t count = reader->record_count - start;
        if (count > reader->block_records) count = reader->block_records;
        for (int i = 0; i < SERIES_COUNT; ++i)
            if (reader->series[i].used && !read_rows(&reader->series[i], start, count))
                return fail_format(reader, series_get((series_id)i)->name,
                                   "cannot be read: the file is damaged");
        for (size_t row = 0; row < count; ++row) print_row(reader, row, out);
    }
    return HN_OK;
}

// ---- files ----------------------------------------------------------------------------------------

static hn_status open_result(csv_reader *reader)
{
    struct stat information;
    int descriptor = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return context_fail(reader->context, HN_FILE_ACCESS, "%s: cannot be read: %s", reader->path,
                            system_error_sentence(errno));
    bool folder = fstat(descriptor, &information) == 0 && S_ISDIR(information.st_mode);
    close(descriptor);
    if (folder)
        return context_fail(reader->context, HN_FILE_ACCESS, "%s: is a folder", reader->path);

    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return fail_format(reader, "the file", "cannot be opened");
    H5Pset_file_locking(access, 0, 1); // a run may be writing it
    reader->file = H5Fopen(reader->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return reader->file >= 0
               ? HN_OK
               : fail_format(reader, "the file", "is not a result file (HDF5), or it is damaged");
}

static void close_result(csv_reader *reader)
{
    for (int i = 0; i < SERIES_COUNT; ++i) {
        csv_series *series = &reader->series[i];
        if (series->dataset >= 0) H5Dclose(series->dataset);
        context_release(reader->context, series->rows);
        context_release(reader->context, series->selected);
    }
    if (reader->file >= 0) H5Fclose(reader->file);
    context_release(reader->context, reader->name);
    context_release(reader->context, reader->coordinate_joint);
    context_release(reader->context, reader->coordinate_names.text);
    context_release(reader->context, reader->joint_names.text);
    context_release(reader->context, reader->body_names.text);
}

static hn_status fail_csv(csv_reader *reader, const char *csv_path, int error)
{
    return context_fail(reader->context, HN_FILE_ACCESS, "%s: cannot be written: %s", csv_path,
                        system_error_sentence(error));
}

/// Write beside the final name and rename; a device, a pipe or a link (/dev/stdout) is written directly.
static hn_status write_csv(csv_reader *reader, const char *csv_path)
{
    struct stat information;
    bool direct = lstat(csv_path, &information) == 0 && !S_ISREG(information.st_mode);
    size_t size = strlen(csv_path) + sizeof ".part";
    char *part_path = context_allocate(reader->context, size);
    if (part_path == NULL) return HN_OUT_OF_MEMORY;
    snprintf(part_path, size, "%s%s", csv_path, direct ? "" : ".part");

    hn_status status = HN_OK;
    FILE *out = fopen(part_path, "w");
    if (out == NULL) {
        status = fail_csv(reader, csv_path, errno);
    } else {
        errno = 0;
        status = print_records(reader, out);
        bool complete = fflush(out) == 0 && !ferror(out);
        int error = errno;
        complete = fclose(out) == 0 && complete;
        if (status == HN_OK && !complete) status = fail_csv(reader, csv_path, error);
        if (status == HN_OK && !direct && rename(part_path, csv_path) != 0)
            status = fail_csv(reader, csv_path, errno);
        if (status != HN_OK && !direct) unlink(part_path);
    }
    context_release(reader->context, part_path);
    return status;
}

hn_status hn_results_export_csv(hn_context *context, const char *result_path, const char *csv_path,
                                const char *const *series, int series_count)
{
    if (result_path == NULL || csv_path == NULL || csv_path[0] == '\0')
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "a result file and a name for the table are needed");
    csv_reader reader = {.context = context, .path = result_path, .file = -1};
    for (int i = 0; i < SERIES_COUNT; ++i) reader.series[i].dataset = -1;

    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hn_status status = open_result(&reader);
    if (status == HN_OK) status = read_layout(&reader);
    if (status == HN_OK)
        status = select_columns(&reader, series, series == NULL ? 0 : series_count);
    if (status == HN_OK) status = take_blocks(&reader);
    if (status == HN_OK) status = write_csv(&reader, csv_path);
    close_result(&reader);
    hdf5_silence_end(&silence);
    return status;
}
