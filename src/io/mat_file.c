// SPDX-License-Identifier: MIT
// MAT files of level 5.
#include "io/mat_file.h"

#include <holonom/base.h>

#include <string.h>

enum { UINT32 = 6, HEADER_SIZE = 128, COMPLEX = 0x0800 };

void mat_begin(FILE *file)
{
    char header[HEADER_SIZE];
    memset(header, ' ', sizeof header);
    int length = snprintf(header, HEADER_SIZE - 12, "MATLAB 5.0 MAT-file, written by holonom %s",
                          hn_version());
    header[length] = ' ';
    memset(header + 116, 0, 8);
    const uint16_t version = 0x0100, order = 'M' << 8 | 'I';
    memcpy(header + 124, &version, 2);
    memcpy(header + 126, &order, 2);
    fwrite(header, 1, sizeof header, file);
}

uint64_t mat_padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static void put_padding(FILE *file, uint64_t size)
{
    static const char ZEROS[8] = {0};
    fwrite(ZEROS, 1, mat_padded(size) - size, file);
}

void mat_put_tag(FILE *file, uint32_t type, uint64_t size)
{
    const uint32_t tag[2] = {type, (uint32_t)size};
    fwrite(tag, sizeof tag[0], 2, file);
}

void mat_put_element(FILE *file, uint32_t type, const void *data, uint64_t size)
{
    mat_put_tag(file, type, size);
    fwrite(data, 1, size, file);
    put_padding(file, size);
}

uint64_t mat_head_size(int rank, const char *name)
{
    return MAT_TAG_SIZE + 8 + MAT_TAG_SIZE + mat_padded(4 * (uint64_t)rank) + MAT_TAG_SIZE +
           mat_padded(strlen(name));
}

void mat_put_head(FILE *file, uint32_t class, int rank, const int32_t *dims, const char *name)
{
    const uint32_t flags[2] = {class, 0};
    mat_put_element(file, UINT32, flags, sizeof flags);
    mat_put_element(file, MAT_INT32, dims, 4 * (uint64_t)rank);
    mat_put_element(file, MAT_INT8, name, strlen(name));
}

// What stands before the `parts` elements of `bytes` each of a matrix.
static void begin_matrix(FILE *file, uint32_t class, int rows, int columns, const char *name,
                         int parts, uint64_t bytes)
{
    const int32_t dims[2] = {rows, columns};
    mat_put_tag(file, MAT_MATRIX,
                mat_head_size(2, name) + (uint64_t)parts * (MAT_TAG_SIZE + mat_padded(bytes)));
    mat_put_head(file, class, 2, dims, name);
}

void mat_put_matrix(FILE *file, const char *name, int rows, int columns, const double *values)
{
    uint64_t bytes = 8 * (uint64_t)rows * (uint64_t)columns;
    begin_matrix(file, MAT_CLASS_DOUBLE, rows, columns, name, 1, bytes);
    mat_put_tag(file, MAT_DOUBLE, bytes);
    for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r)
            fwrite(&values[(size_t)r * (size_t)columns + (size_t)c], 8, 1, file);
}

void mat_put_complex(FILE *file, const char *name, int count, const double *real,
                     const double *imaginary)
{
    uint64_t bytes = 8 * (uint64_t)count;
    begin_matrix(file, MAT_CLASS_DOUBLE | COMPLEX, count, 1, name, 2, bytes);
    mat_put_element(file, MAT_DOUBLE, real, bytes);
    mat_put_element(file, MAT_DOUBLE, imaginary, bytes);
}

void mat_put_words(FILE *file, const char *name, int count, const char *const *words)
{
    size_t width = 0;
    for (int k = 0; k < count; ++k) width = strlen(words[k]) > width ? strlen(words[k]) : width;
    uint64_t bytes = 2 * (uint64_t)count * width;
    begin_matrix(file, MAT_CLASS_TEXT, count, (int)width, name, 1, bytes);
    mat_put_tag(file, MAT_UINT16, bytes);
    for (size_t c = 0; c < width; ++c)
        for (int k = 0; k < count; ++k) {
            uint16_t letter = c < strlen(words[k]) ? (unsigned char)words[k][c] : ' ';
            fwrite(&letter, 2, 1, file);
        }
    put_padding(file, bytes);
}
