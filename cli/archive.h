// SPDX-License-Identifier: MIT
// Archives in the ZIP format: one file after the other, compressed; the same content gives the same bytes.
#ifndef CLI_ARCHIVE_H
#define CLI_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct archive {
    FILE *file;
    uint64_t size;           ///< bytes written
    unsigned char *index;    ///< what goes to the end
    size_t index_size, index_capacity;
    int count;
    bool failed; ///< no memory, or the file is too large for the format
} archive;

/// Begin an archive in a file that is open for writing.
archive archive_begin(FILE *file);
/// Add a file; `program`: with the right to execute it.
void archive_add(archive *a, const char *name, const void *data, size_t size, bool program);
/// Write the list at the end. False: something failed; errno may say what.
bool archive_end(archive *a);

#endif
