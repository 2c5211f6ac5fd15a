// SPDX-License-Identifier: MIT
// Aligned text tables.
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct table {
    int column_count;
    int row_count; ///< the first row is the header
    int row_capacity;
    char **cells; ///< row_count * column_count, owned
    bool failed;  ///< no memory: the table prints what it has
} table;

/// An empty table whose first row will be the header.
table table_begin(int column_count);

/// Start a row; cells not set stay empty.
void table_add_row(table *t);

/// Set a cell of the last row, like printf.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void table_set(table *t, int column, const char *format, ...);

/// Print with `indent` spaces before each line. The first `left_count` columns are flush left, others right. Columns
/// with nothing below their header are left out.
void table_print(const table *t, int indent, int left_count, FILE *out);

void table_end(table *t);

/// Places a text takes on the screen: bytes of UTF-8 that continue a character take none.
int text_width(const char *text);

/// Print `text` and fill up with spaces to `width` places.
void print_padded(const char *text, int width, FILE *out);

/// Room for a text as it may be shown.
typedef struct shown_text {
    char text[512];
} shown_text;

/// Names come from files: control characters are shown as \xNN and never reach the terminal.
const char *show_text(shown_text *room, const char *text);
#define SHOWN(name) show_text(&(shown_text){{0}}, name)

#endif
