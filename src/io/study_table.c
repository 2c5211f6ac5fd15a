// SPDX-License-Identifier: MIT
// Tables of studies: rows of members in memory, and as HDF5 files that are equal when the tables are.
#include "base/hash.h"
#include "io/results_hdf5.h"
#include "io/whole_file.h"

#include <holonom/study.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { TABLE_VERSION = 1, TEXT_SIZE = 256, MESSAGE_SIZE = 480 };
static const char FORMAT[] = "holonom study";

/// Strings side by side, as HDF5 has them: `width` bytes and a zero each.
typedef struct text_block {
    char *text;
    size_t count, width;
} text_block;

typedef struct table_row {
    int64_t member;
    size_t place; ///< of its numbers; also tells which came later
    int status, failed;
    char *message; ///< NULL: none
} table_row;

struct hn_study_table {
    hn_context *context;
    char *name, *study_text, *model_text;
    uint64_t identity;
    int64_t member_count;
    int parameter_count, output_count;
    text_block parameter_names, output_names, output_units;
    table_row *rows;
    int row_count, row_capacity;
    double *numbers; ///< parameters, then outputs, of each row by its place
    int number_capacity;
    // in order, for views
    bool settled;
    int64_t *members;
    double *parameters, *outputs;
    int *statuses, *failed;
};

// ---- making ----------------------------------------------------------------------------------------

static hn_status copy_names(hn_context *context, int count, const void *of,
                            const char *(*name_at)(const void *of, int index), text_block *block)
{
    size_t width = 1;
    for (int i = 0; i < count; ++i)
        if (strlen(name_at(of, i)) > width) width = strlen(name_at(of, i));
    *block = (text_block){context_allocate(context, (size_t)count * (width + 1) + 1), (size_t)count,
                          width};
    if (block->text == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < count; ++i) {
        const char *name = name_at(of, i);
        memcpy(block->text + (size_t)i * (width + 1), name, strlen(name));
    }
    return HN_OK;
}

static const char *block_at(const text_block *block, int index)
{
    bool known = block->text != NULL && index >= 0 && (size_t)index < block->count;
    return known ? block->text + (size_t)index * (block->width + 1) : "";
}

static const char *study_parameter_at(const void *study, int index)
{
    return hn_study_parameter_name(study, index);
}
static const char *study_output_at(const void *study, int index)
{
    return hn_study_output_name(study, index);
}
static const char *study_unit_at(const void *study, int index)
{
    return hn_study_output_unit(study, index);
}

static hn_status create_empty(hn_context *context, hn_study_table **table)
{
    *table = context_allocate(context, sizeof **table);
    if (*table == NULL) return HN_OUT_OF_MEMORY;
    (*table)->context = context_retain(context);
    return HN_OK;
}

static hn_status fill_from_study(hn_study_table *t, const hn_study *study)
{
    hn_context *context = t->context;
    t->identity = hn_study_identity(study);
    t->member_count = hn_study_member_count(study);
    t->parameter_count = hn_study_parameter_count(study);
    t->output_count = hn_study_output_count(study);
    t->name = context_copy_string(context, hn_study_name(study));
    t->study_text = context_copy_string(context, hn_study_text(study, NULL));
    t->model_text = context_copy_string(context, hn_study_model_text(study, NULL));
    if (t->name == NULL || t->study_text == NULL || t->model_text == NULL) return HN_OUT_OF_MEMORY;
    TRY(copy_names(context, t->parameter_count, study, study_parameter_at, &t->parameter_names));
    TRY(copy_names(context, t->output_count, study, study_output_at, &t->output_names));
    return copy_names(context, t->output_count, study, study_unit_at, &t->output_units);
}

hn_status hn_study_table_create(hn_context *context, const hn_study *study, hn_study_table **table)
{
    REQUIRE(context, table != NULL);
    *table = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, study != NULL);
    hn_status status = create_empty(context, table);
    if (status == HN_OK) status = fill_from_study(*table, study);
    if (status == HN_OK) return HN_OK;
    hn_study_table_destroy(*table);
    *table = NULL;
    return status;
}

static void forget_order(hn_study_table *t)
{
    context_release(t->context, t->members);
    context_release(t->context, t->parameters);
    context_release(t->context, t->outputs);
    context_release(t->context, t->statuses);
    context_release(t->context, t->failed);
    t->members = NULL;
    t->parameters = t->outputs = NULL;
    t->statuses = t->failed = NULL;
    t->settled = false;
}

void hn_study_table_destroy(hn_study_table *t)
{
    if (t == NULL) return;
    hn_context *context = t->context;
    forget_order(t);
    for (int i = 0; i < t->row_count; ++i) context_release(context, t->rows[i].message);
    context_release(context, t->rows);
    context_release(context, t->numbers);
    context_release(context, t->parameter_names.text);
    context_release(context, t->output_names.text);
    context_release(context, t->output_units.text);
    context_release(context, t->name);
    context_release(context, t->study_text);
    context_release(context, t->model_text);
    context_release(context, t);
    context_drop(context);
}

// ---- rows -------------------------------------------------------------------------------------------

hn_status hn_study_table_put(hn_study_table *t, int64_t member, const double *parameters,
                             const double *outputs, const hn_study_outcome *outcome)
{
    REQUIRE(NULL, t != NULL);
    REQUIRE(t->context, parameters != NULL && outputs != NULL && outcome != NULL);
    REQUIRE(t->context, member >= 0 && member < t->member_count);
    size_t width = (size_t)t->parameter_count + (size_t)t->output_count;
    if (((size_t)t->row_count + 1) * width > INT32_MAX / 2)
        return context_fail(t->context, HN_OUT_OF_MEMORY,
                            "a table of %zu numbers a row and more "
                            "than %d rows is too large: use shards",
                            width, t->row_count);
    void *rows = t->rows, *numbers = t->numbers;
    hn_status status =
        context_grow(t->context, &rows, &t->row_capacity, t->row_count + 1, sizeof *t->rows);
    t->rows = rows;
    TRY(status);
    status = context_grow(t->context, &numbers, &t->number_capacity,
                          (t->row_count + 1) * (int)width, sizeof(double));
    t->numbers = numbers;
    TRY(status);
    table_row row = {.member = member,
                     .place = (size_t)t->row_count,
                     .status = (int)outcome->status,
                     .failed = outcome->failed};
    if (outcome->message[0] != '\0') {
        row.message = context_copy_string(t->context, outcome->message);
        if (row.message == NULL) return HN_OUT_OF_MEMORY;
    }
    double *place = t->numbers + row.place * width;
    memcpy(place, parameters, (size_t)t->parameter_count * sizeof(double));
    memcpy(place + t->parameter_count, outputs, (size_t)t->output_count * sizeof(double));
    t->rows[t->row_count++] = row;
    forget_order(t);
    return HN_OK;
}

static int compare_rows(const void *one, const void *other)
{
    const table_row *a = one, *b = other;
    if (a->member != b->member) return a->member < b->member ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

// Sort by members; of several rows of one the last stays. Numbers are in the order of their rows then, and later ones
// stand behind them.
static hn_status settle(hn_study_table *t)
{
    if (t->settled) return HN_OK;
    size_t n = (size_t)t->row_count, p = (size_t)t->parameter_count, o = (size_t)t->output_count;
    t->members = context_allocate(t->context, n * sizeof(int64_t));
    t->parameters = context_allocate(t->context, n * p * sizeof(double));
    t->outputs = context_allocate(t->context, n * o * sizeof(double));
    t->statuses = context_allocate(t->context, n * sizeof(int));
    t->failed = context_allocate(t->context, n * sizeof(int));
    if (t->members == NULL || t->parameters == NULL || t->outputs == NULL || t->statuses == NULL ||
        t->failed == NULL) {
        forget_order(t);
        return HN_OUT_OF_MEMORY;
    }
    if (n > 0) qsort(t->rows, n, sizeof *t->rows, compare_rows);
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i) {
        if (i + 1 < n && t->rows[i + 1].member == t->rows[i].member)
            context_release(t->context, t->rows[i].message);
        else t->rows[kept++] = t->rows[i];
    }
    t->row_count = (int)kept;
    for (size_t i = 0; i < kept; ++i) {
        const table_row *row = &t->rows[i];
        const double *numbers = t->numbers + row->place * (p + o);
        t->members[i] = row->member;
        memcpy(t->parameters + i * p, numbers, p * sizeof(double));
        memcpy(t->outputs + i * o, numbers + p, o * sizeof(double));
        t->statuses[i] = row->status;
        t->failed[i] = row->failed;
    }
    for (size_t i = 0; i < kept; ++i) {
        double *numbers = t->numbers + i * (p + o);
        memcpy(numbers, t->parameters + i * p, p * sizeof(double));
        memcpy(numbers + p, t->outputs + i * o, o * sizeof(double));
        t->rows[i].place = i;
    }
    t->settled = true;
    return HN_OK;
}

static const table_row *find_row(const hn_study_table *t, int64_t member)
{
    int low = 0, high = t->row_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t->rows[middle].member < member) low = middle + 1;
        else high = middle;
    }
    return low < t->row_count && t->rows[low].member == member ? &t->rows[low] : NULL;
}

hn_status hn_study_table_merge(hn_study_table *t, const hn_study_table *given)
{
    hn_study_table *other = (hn_study_table *)given; // sorted, nothing else changes
    REQUIRE(NULL, t != NULL);
    REQUIRE(t->context, other != NULL);
    if (t->identity != other->identity || t->parameter_count != other->parameter_count ||
        t->output_count != other->output_count)
        return context_fail(t->context, HN_INVALID_ARGUMENT,
                            "the tables are not of one study: '%s' and '%s'", t->name, other->name);
    TRY(settle(t));
    if (t == other) return HN_OK; // it has all of them
    if (settle(other) != HN_OK) return HN_OUT_OF_MEMORY;
    size_t width = (size_t)t->parameter_count + (size_t)t->output_count;
    for (int i = 0; i < other->row_count; ++i) {
        const table_row *row = &other->rows[i];
        const double *numbers = other->numbers + row->place * width;
        const table_row *own = find_row(t, row->member);
        if (own == NULL) continue;
        if (memcmp(t->numbers + own->place * width, numbers, width * sizeof(double)) != 0 ||
            own->status != row->status)
            return context_fail(t->context, HN_INVALID_ARGUMENT,
                                "member %" PRId64 " is in both tables, with different numbers",
                                row->member);
    }
    for (int i = 0; i < other->row_count; ++i) {
        const table_row *row = &other->rows[i];
        const double *numbers = other->numbers + row->place * width;
        hn_study_outcome outcome = {.status = (hn_status)row->status, .failed = row->failed != 0};
        if (row->message != NULL)
            snprintf(outcome.message, sizeof outcome.message, "%s", row->message);
        TRY(hn_study_table_put(t, row->member, numbers, numbers + t->parameter_count, &outcome));
    }
    return settle(t);
}

hn_study_view hn_study_table_view(const hn_study_table *given)
{
    hn_study_table *t = (hn_study_table *)given; // what is found is kept, nothing else changes
    if (t == NULL || settle(t) != HN_OK)
        return (hn_study_view){.name = "", .text = "", .model_text = ""};
    return (hn_study_view){.name = t->name,
                           .identity = t->identity,
                           .member_count = t->member_count,
                           .row_count = t->row_count,
                           .parameter_count = t->parameter_count,
                           .output_count = t->output_count,
                           .members = t->members,
                           .parameters = t->parameters,
                           .outputs = t->outputs,
                           .statuses = t->statuses,
                           .failed = t->failed,
                           .text = t->study_text,
                           .model_text = t->model_text};
}

const char *hn_study_table_parameter_name(const hn_study_table *t, int index)
{
    return t == NULL ? "" : block_at(&t->parameter_names, index);
}

const char *hn_study_table_output_name(const hn_study_table *t, int index)
{
    return t == NULL ? "" : block_at(&t->output_names, index);
}

const char *hn_study_table_output_unit(const hn_study_table *t, int index)
{
    return t == NULL ? "" : block_at(&t->output_units, index);
}

const char *hn_study_table_message(const hn_study_table *given, int64_t row)
{
    hn_study_table *t = (hn_study_table *)given;
    if (t == NULL || settle(t) != HN_OK || row < 0 || row >= t->row_count) return "";
    return t->rows[row].message == NULL ? "" : t->rows[row].message;
}

// ---- writing ----------------------------------------------------------------------------------------

static bool write_names(hid_t group, const char *name, const text_block *block)
{
    return block->count == 0 ||
           hdf5_write_strings(group, name, block->count, block->width + 1, block->text);
}

static bool write_messages(hid_t file, hn_study_table *t)
{
    size_t width = 1, n = (size_t)t->row_count; // with a zero behind each
    for (int i = 0; i < t->row_count; ++i)
        if (t->rows[i].message != NULL && strlen(t->rows[i].message) >= width)
            width = strlen(t->rows[i].message) + 1;
    char *block = context_allocate(t->context, n * width + 1);
    if (block == NULL) return false;
    for (size_t i = 0; i < n; ++i)
        if (t->rows[i].message != NULL)
            memcpy(block + i * width, t->rows[i].message, strlen(t->rows[i].message));
    bool written = n == 0 || hdf5_write_strings(file, "messages", n, width, block);
    context_release(t->context, block);
    return written;
}

static bool write_rows(hid_t file, hn_study_table *t)
{
    hsize_t rows = (hsize_t)t->row_count;
    hsize_t parameters[2] = {rows, (hsize_t)t->parameter_count},
            outputs[2] = {rows, (hsize_t)t->output_count};
    int *numbers = context_allocate(t->context, (size_t)t->row_count * sizeof(int));
    if (numbers == NULL) return false;
    for (int i = 0; i < t->row_count; ++i) numbers[i] = (int)t->members[i];
    bool written = hdf5_write_integers(file, "members", 1, &rows, numbers) &&
                   hdf5_write_integers(file, "status", 1, &rows, t->statuses) &&
                   hdf5_write_integers(file, "failed", 1, &rows, t->failed) &&
                   hdf5_write_doubles(file, "parameters", NULL, 2, parameters, t->parameters) &&
                   hdf5_write_doubles(file, "outputs", NULL, 2, outputs, t->outputs);
    context_release(t->context, numbers);
    return written;
}

static bool write_head(hid_t file, const hn_study_table *t)
{
    char identity[32];
    snprintf(identity, sizeof identity, "%016" PRIx64, t->identity);
    return hdf5_attribute_text(file, "format", FORMAT, 0) &&
           hdf5_attribute_integer(file, "format_version", TABLE_VERSION) &&
           hdf5_attribute_text(file, "holonom_version", hn_version(), 0) &&
           hdf5_attribute_text(file, "name", t->name[0] == '\0' ? " " : t->name, 0) &&
           hdf5_attribute_text(file, "identity", identity, 0) &&
           hdf5_attribute_integer(file, "member_count", t->member_count) &&
           hdf5_write_text(file, "study", t->study_text, strlen(t->study_text)) &&
           hdf5_write_text(file, "model", t->model_text, strlen(t->model_text)) &&
           write_names(file, "parameter_names", &t->parameter_names) &&
           write_names(file, "output_names", &t->output_names) &&
           write_names(file, "output_units", &t->output_units);
}

static hn_status fill(hid_t file, void *user)
{
    hn_study_table *t = user;
    return write_head(file, t) && write_rows(file, t) && write_messages(file, t) ? HN_OK
                                                                                 : HN_OUT_OF_MEMORY;
}

hn_status hn_study_table_write(hn_study_table *t, const char *path)
{
    REQUIRE(NULL, t != NULL);
    REQUIRE(t->context, path != NULL);
    TRY(settle(t));
    return whole_file_write_hdf5(t->context, path, NULL, fill, t);
}

// ---- reading ----------------------------------------------------------------------------------------

// A dataset whose first two dimensions are given back; its element size too. Negative: there is none.
static hid_t open_dataset(hid_t file, const char *name, hsize_t dims[2], size_t *size)
{
    dims[0] = dims[1] = 1;
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return -1;
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0) return -1;
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool fine = type >= 0 && rank >= 0 && rank <= 2 &&
                (rank == 0 || H5Sget_simple_extent_dims(space, dims, NULL) >= 0);
    *size = type >= 0 ? H5Tget_size(type) : 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (fine) return dataset;
    H5Dclose(dataset);
    return -1;
}

static bool read_strings(hn_study_table *t, hid_t file, const char *name, size_t count,
                         text_block *block)
{
    hsize_t dims[2];
    size_t size;
    *block = (text_block){NULL, count, 1};
    hid_t dataset = open_dataset(file, name, dims, &size);
    if (dataset < 0) return count == 0;
    hid_t type = H5Dget_type(dataset);
    bool fine = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                dims[0] == count && size < 1 << 20;
    if (fine) {
        *block = (text_block){context_allocate(t->context, count * size + 1), count, size - 1};
        fine = block->text != NULL &&
               H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block->text) >= 0;
        for (size_t i = 0; fine && i < count; ++i) block->text[(i + 1) * size - 1] = '\0';
    }
    if (type >= 0) H5Tclose(type);
    H5Dclose(dataset);
    return fine;
}

static char *read_text(hn_study_table *t, hid_t file, const char *name)
{
    hsize_t dims[2];
    size_t size;
    hid_t dataset = open_dataset(file, name, dims, &size);
    if (dataset < 0) return context_copy_string(t->context, "");
    hid_t type = H5Dget_type(dataset);
    char *text = dims[0] == 1 ? context_allocate(t->context, size + 1) : NULL;
    bool fine = text != NULL && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    H5Tclose(type);
    H5Dclose(dataset);
    if (fine) return text;
    context_release(t->context, text);
    return NULL;
}

static bool read_numbers(hid_t file, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                         void *values)
{
    hsize_t dims[2];
    size_t size;
    if (rows == 0 || columns == 0) return true;
    hid_t dataset = open_dataset(file, name, dims, &size);
    if (dataset < 0) return false;
    bool fine = dims[0] == rows && dims[1] == columns &&
                H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Dclose(dataset);
    return fine;
}

static bool read_head(hn_study_table *t, hid_t file, hsize_t *rows)
{
    char format[TEXT_SIZE], name[TEXT_SIZE] = "", identity[TEXT_SIZE];
    int64_t version;
    hsize_t dims[2];
    size_t size;
    if (!hdf5_read_text(file, "format", format, sizeof format) || strcmp(format, FORMAT) != 0 ||
        !hdf5_read_integer(file, "format_version", &version) || version != TABLE_VERSION ||
        !hdf5_read_text(file, "identity", identity, sizeof identity) ||
        !hdf5_read_integer(file, "member_count", &t->member_count))
        return false;
    (void)hdf5_read_text(file, "name", name, sizeof name);
    t->identity = strtoull(identity, NULL, 16);
    t->name = context_copy_string(t->context, name);
    t->study_text = read_text(t, file, "study");
    t->model_text = read_text(t, file, "model");
    *rows = 0;
    hid_t dataset = open_dataset(file, "members", dims, &size);
    if (dataset >= 0) {
        *rows = dims[0];
        H5Dclose(dataset);
    }
    const char *lists[] = {"parameter_names", "output_names"};
    int *counts[] = {&t->parameter_count, &t->output_count};
    for (int k = 0; k < 2; ++k) {
        dataset = open_dataset(file, lists[k], dims, &size);
        if (dataset < 0 || dims[0] > 100000) return false;
        *counts[k] = (int)dims[0];
        H5Dclose(dataset);
    }
    return t->name != NULL && t->study_text != NULL && t->model_text != NULL &&
           *rows <= (hsize_t)t->member_count && *rows < INT32_MAX &&
           read_strings(t, file, "parameter_names", (size_t)t->parameter_count,
                        &t->parameter_names) &&
           read_strings(t, file, "output_names", (size_t)t->output_count, &t->output_names) &&
           read_strings(t, file, "output_units", (size_t)t->output_count, &t->output_units);
}

static bool read_rows(hn_study_table *t, hid_t file, hsize_t rows)
{
    size_t n = (size_t)rows, p = (size_t)t->parameter_count, o = (size_t)t->output_count;
    text_block messages = {0};
    int *integers = context_allocate(t->context, 3 * n * sizeof(int));
    double *values = context_allocate(t->context, n * (p + o) * sizeof(double));
    bool fine = integers != NULL && values != NULL &&
                read_numbers(file, "members", H5T_NATIVE_INT, rows, 1, integers) &&
                read_numbers(file, "status", H5T_NATIVE_INT, rows, 1, integers + n) &&
                read_numbers(file, "failed", H5T_NATIVE_INT, rows, 1, integers + 2 * n) &&
                read_numbers(file, "parameters", H5T_NATIVE_DOUBLE, rows, p, values) &&
                read_numbers(file, "outputs", H5T_NATIVE_DOUBLE, rows, o, values + n * p) &&
                read_strings(t, file, "messages", n, &messages);
    for (size_t i = 0; fine && i < n; ++i) {
        hn_study_outcome outcome = {.status = (hn_status)integers[n + i],
                                    .failed = integers[2 * n + i] != 0};
        snprintf(outcome.message, sizeof outcome.message, "%.*s", MESSAGE_SIZE - 1,
                 block_at(&messages, (int)i));
        fine = hn_study_table_put(t, integers[i], values + i * p, values + n * p + i * o,
                                  &outcome) == HN_OK;
    }
    context_release(t->context, messages.text);
    context_release(t->context, values);
    context_release(t->context, integers);
    return fine;
}

hn_status hn_study_table_read(hn_context *context, const char *path, hn_study_table **table)
{
    REQUIRE(context, table != NULL);
    *table = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, path != NULL);
    FILE *there = fopen(path, "rb");
    if (there == NULL)
        return context_fail(context, HN_FILE_ACCESS, "%s: cannot be opened: %s", path,
                            system_error_sentence(errno));
    fclose(there);
    TRY(create_empty(context, table));
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hsize_t rows;
    hid_t file = H5Fis_hdf5(path) > 0 ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    bool fine = file >= 0 && read_head(*table, file, &rows) && read_rows(*table, file, rows);
    if (file >= 0) H5Fclose(file);
    hdf5_silence_end(&silence);
    if (fine) return HN_OK;
    hn_study_table_destroy(*table);
    *table = NULL;
    return context_fail(context, HN_FILE_FORMAT, "%s: is no table of a study, or damaged", path);
}
