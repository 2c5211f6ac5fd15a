// SPDX-License-Identifier: MIT
// Tables whose columns are as wide as their widest cell.
#include "table.h"

#include <holonom/holonom.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 1024 };

const char *show_text(shown_text *room, const char *text)
{
    size_t used = 0;
    while (*text != '\0' && used + HN_HIDDEN_SHOWN_MAX < sizeof room->text) {
        size_t length = hn_hidden_character(text, room->text + used);
        if (length > 0) used += strlen(room->text + used);
        else room->text[used++] = *text;
        text += length > 0 ? length : 1;
    }
    room->text[used] = '\0';
    return room->text;
}

table table_begin(int column_count)
{
    return (table){.column_count = column_count};
}

void table_add_row(table *t)
{
    if (t->failed) return;
    if (t->row_count == t->row_capacity) {
        int larger = t->row_capacity == 0 ? 16 : 2 * t->row_capacity;
        char **moved = realloc(t->cells, (size_t)larger * (size_t)t->column_count * sizeof *moved);
        if (moved == NULL) {
            t->failed = true;
            return;
        }
        t->cells = moved;
        t->row_capacity = larger;
    }
    char **row = t->cells + (size_t)t->row_count * (size_t)t->column_count;
    for (int i = 0; i < t->column_count; ++i) row[i] = NULL;
    t->row_count += 1;
}

void table_set(table *t, int column, const char *format, ...)
{
    if (t->failed || t->row_count == 0 || column >= t->column_count) return;
    char text[CELL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *shown = SHOWN(text);
    size_t size = strlen(shown) + 1;
    char *copy = malloc(size);
    if (copy == NULL) {
        t->failed = true;
        return;
    }
    memcpy(copy, shown, size);
    char **cell = t->cells + (size_t)(t->row_count - 1) * (size_t)t->column_count + column;
    free(*cell);
    *cell = copy;
}

int text_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; ++text)
        if (((unsigned char)*text & 0xC0) != 0x80) ++width;
    return width;
}

void print_padded(const char *text, int width, FILE *out)
{
    fprintf(out, "%s", text);
    for (int i = text_width(text); i < width; ++i) putc(' ', out);
}

static const char *cell_text(const table *t, int row, int column)
{
    const char *text = t->cells[(size_t)row * (size_t)t->column_count + (size_t)column];
    return text == NULL ? "" : text;
}

/// -1: nothing stands below the header, the column is left out.
static int column_width(const table *t, int column)
{
    int width = 0, below = 0;
    for (int row = 0; row < t->row_count; ++row) {
        int cell = text_width(cell_text(t, row, column));
        if (cell > width) width = cell;
        if (row > 0 && cell > below) below = cell;
    }
    return below == 0 && t->row_count > 1 ? -1 : width;
}

static void print_row(const table *t, int row, const int *widths, int indent, int left_count,
                      FILE *out)
{
    fprintf(out, "%*s", indent, "");
    int pending = 0; // spaces owed before the next text, so that no line ends with spaces
    for (int column = 0; column < t->column_count; ++column) {
        if (widths[column] < 0) continue;
        const char *text = cell_text(t, row, column);
        int missing = widths[column] - text_width(text);
        if (column >= left_count) pending += missing;
        if (text[0] != '\0') {
            fprintf(out, "%*s%s", pending, "", text);
            pending = 0;
        } else if (column >= left_count) {
            missing = 0;
        }
        pending += 2 + (column < left_count ? missing : 0);
    }
    putc('\n', out);
}

void table_print(const table *t, int indent, int left_count, FILE *out)
{
    int *widths = calloc((size_t)t->column_count + 1, sizeof *widths);
    if (widths != NULL) {
        for (int column = 0; column < t->column_count; ++column)
            widths[column] = column_width(t, column);
        for (int row = 0; row < t->row_count; ++row)
            print_row(t, row, widths, indent, left_count, out);
    }
    if (widths == NULL || t->failed)
        fprintf(out, "%*s(no memory for the whole table)\n", indent, "");
    free(widths);
}

void table_end(table *t)
{
    for (size_t i = 0; i < (size_t)t->row_count * (size_t)t->column_count; ++i) free(t->cells[i]);
    free(t->cells);
    *t = (table){0};
}
