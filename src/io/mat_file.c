// SPDX-License-Identifier: MIT
// MAT files of level 4. A variable is five 32-bit numbers (type, rows, columns, imaginary part, length of its
// name), the
// name with its zero, and its entries column by column.
#include "io/mat_file.h"

#include <stdint.h>
#include <string.h>

enum { MAT_DOUBLE = 0, MAT_CHARACTERS = 51 }; // little endian; 8-byte numbers; bytes that are text

static bool write_little(FILE *file, uint64_t bits, int bytes)
{
    unsigned char out[8];
    for (int k = 0; k < bytes; ++k) out[k] = (unsigned char)(bits >> (8 * k));
    return fwrite(out, 1, (size_t)bytes, file) == (size_t)bytes;
}

static bool write_number(FILE *file, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return write_little(file, bits, 8);
}

static bool write_head(FILE *file, int type, int rows, int columns, bool imaginary,
                       const char *name)
{
    size_t length = strlen(name) + 1;
    return write_little(file, (uint64_t)type, 4) && write_little(file, (uint64_t)rows, 4) &&
           write_little(file, (uint64_t)columns, 4) && write_little(file, imaginary ? 1 : 0, 4) &&
           write_little(file, length, 4) && fwrite(name, 1, length, file) == length;
}

bool mat_write_matrix(FILE *file, const char *name, int rows, int columns, const double *values)
{
    bool good = write_head(file, MAT_DOUBLE, rows, columns, false, name);
    for (int c = 0; c < columns; ++c)
        for (int r = 0; good && r < rows; ++r)
            good = write_number(file, values[(size_t)r * (size_t)columns + (size_t)c]);
    return good;
}

bool mat_write_complex(FILE *file, const char *name, int count, const double *real,
                       const double *imaginary)
{
    bool good = write_head(file, MAT_DOUBLE, count, 1, true, name);
    for (int k = 0; good && k < count; ++k) good = write_number(file, real[k]);
    for (int k = 0; good && k < count; ++k) good = write_number(file, imaginary[k]);
    return good;
}

bool mat_write_words(FILE *file, const char *name, int count, const char *const *words)
{
    size_t width = 0;
    for (int k = 0; k < count; ++k) {
        size_t length = strlen(words[k]);
        width = length > width ? length : width;
    }
    bool good = write_head(file, MAT_CHARACTERS, count, (int)width, false, name);
    for (size_t c = 0; c < width; ++c)
        for (int k = 0; good && k < count; ++k) {
            unsigned char letter = c < strlen(words[k]) ? (unsigned char)words[k][c] : ' ';
            good = write_little(file, letter, 1);
        }
    return good;
}
