// SPDX-License-Identifier: MIT
// Series of a result file as comma separated values.
#define _POSIX_C_SOURCE 200809L
#include <holonom/results.h>

#include "base/context.h"
#include "base/number_text.h"
#include "io/whole_file.h"
#include "simulation/series.h"

#include <stdio.h>
#include <string.h>

enum {
    BLOCK_RECORDS_MAX = 256,    // records read at once
    BLOCK_BYTES_MAX = 32 << 20, // likewise in bytes, but at least one record
};

typedef struct csv_series {
    size_t width;   ///< numbers in a record
    bool *selected; ///< width
    bool used;      ///< at least one number is selected
    double *rows;   ///< block_records * width
} csv_series;

typedef struct csv_table {
    hn_context *context;
    hn_result_file *file;
    int series_count;
    csv_series series[SERIES_COUNT];
    int64_t block_records;
} csv_table;

// ---- columns --------------------------------------------------------------------------------------

static hn_status select_word(csv_table *table, const char *word)
{
    size_t count = 0, found = 0;
    TRY(hn_result_file_select(table->file, word, NULL, 0, &count));
    hn_result_column *columns = context_allocate(table->context, count * sizeof *columns);
    if (columns == NULL) return HN_OUT_OF_MEMORY;
    hn_status status = hn_result_file_select(table->file, word, columns, count, &found);
    for (size_t i = 0; status == HN_OK && i < found; ++i)
        table->series[columns[i].series].selected[columns[i].component] = true;
    context_release(table->context, columns);
    return status;
}

static hn_status select_columns(csv_table *table, const char *const *words, int word_count)
{
    for (int i = 0; i < table->series_count; ++i) {
        csv_series *series = &table->series[i];
        series->width = hn_result_file_series(table->file, i)->width;
        series->selected = context_allocate(table->context, series->width);
        if (series->selected == NULL) return HN_OUT_OF_MEMORY;
    }
    for (int i = 0; i < word_count; ++i) TRY(select_word(table, words[i]));
    const int time = hn_result_file_find_series(table->file, "time");
    for (int i = 0; i < table->series_count; ++i) {
        csv_series *series = &table->series[i];
        for (size_t k = 0; k < series->width; ++k) {
            if (word_count == 0 || i == time) series->selected[k] = true;
            series->used = series->used || series->selected[k];
        }
    }
    return HN_OK;
}

// ---- text -----------------------------------------------------------------------------------------

static void print_number(double value, FILE *out)
{
    char text[NUMBER_TEXT_SIZE];
    fputs(number_text(value, text), out);
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

// A line of the table: the names of its columns where `row` is negative.
static void print_line(csv_table *table, int64_t row, FILE *out)
{
    bool first = true;
    for (int i = 0; i < table->series_count; ++i) {
        const csv_series *series = &table->series[i];
        for (size_t k = 0; series->used && k < series->width; ++k) {
            if (!series->selected[k]) continue;
            if (!first) putc(',', out);
            if (row >= 0) print_number(series->rows[(size_t)row * series->width + k], out);
            else print_name(hn_result_file_column_name(table->file, (hn_result_column){i, k}), out);
            first = false;
        }
    }
    putc('\n', out);
}

static hn_status take_blocks(csv_table *table)
{
    size_t width = 0;
    for (int i = 0; i < table->series_count; ++i)
        if (table->series[i].used) width += table->series[i].width;
    table->block_records = (int64_t)(BLOCK_BYTES_MAX / (width * sizeof(double)));
    if (table->block_records > BLOCK_RECORDS_MAX) table->block_records = BLOCK_RECORDS_MAX;
    if (table->block_records < 1) table->block_records = 1;
    for (int i = 0; i < table->series_count; ++i) {
        csv_series *series = &table->series[i];
        if (!series->used) continue;
        series->rows = context_allocate(table->context, (size_t)table->block_records *
                                                            series->width * sizeof(double));
        if (series->rows == NULL) return HN_OUT_OF_MEMORY;
    }
    return HN_OK;
}

static hn_status print_records(FILE *out, void *user)
{
    csv_table *table = user;
    print_line(table, -1, out);
    const int64_t records = hn_result_file_info(table->file)->record_count;
    for (int64_t start = 0; start < records && !ferror(out); start += table->block_records) {
        int64_t count = records - start;
        if (count > table->block_records) count = table->block_records;
        for (int i = 0; i < table->series_count; ++i)
            if (table->series[i].used)
                TRY(hn_result_file_read(table->file, i, start, count, 1, table->series[i].rows));
        for (int64_t row = 0; row < count; ++row) print_line(table, row, out);
    }
    return HN_OK;
}

// ---- files ----------------------------------------------------------------------------------------

hn_status hn_results_export_csv(hn_context *context, const char *result_path, const char *csv_path,
                                const char *const *series, int series_count)
{
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, series_count >= 0 && (series != NULL || series_count == 0));
    if (result_path == NULL || csv_path == NULL || csv_path[0] == '\0')
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "a result file and a name for the table are needed");
    csv_table table = {.context = context};
    TRY(hn_result_file_open(context, result_path, &table.file));
    table.series_count = hn_result_file_series_count(table.file);
    hn_status status = select_columns(&table, series, series == NULL ? 0 : series_count);
    if (status == HN_OK) status = take_blocks(&table);
    if (status == HN_OK)
        status = whole_file_write(context, csv_path, result_path, print_records, &table);
    for (int i = 0; i < table.series_count; ++i) {
        context_release(context, table.series[i].rows);
        context_release(context, table.series[i].selected);
    }
    hn_result_file_close(table.file);
    return status;
}
