// SPDX-License-Identifier: MIT
// MAT files of level 5, which Matlab, Octave and scipy read: a row of elements, each a type, a size and data up to a
// multiple of eight bytes. An array is an element with a head (class, dimensions, name) before its data, whose first
// index runs fastest. What a stream does not take its error flag tells.
#ifndef IO_MAT_FILE_H
#define IO_MAT_FILE_H

#include <stdint.h>
#include <stdio.h>

enum {
    MAT_INT8 = 1,
    MAT_UINT16 = 4,
    MAT_INT32 = 5,
    MAT_DOUBLE = 9,
    MAT_MATRIX = 14,
    MAT_CLASS_CELL = 1,
    MAT_CLASS_STRUCTURE = 2,
    MAT_CLASS_TEXT = 4,
    MAT_CLASS_DOUBLE = 6,
    MAT_TAG_SIZE = 8,
    MAT_ELEMENT_MAX = 0x7fffff00, ///< bytes: sizes have 31 bits
};

/// What a file begins with.
void mat_begin(FILE *file);

/// Bytes that data of a size take.
uint64_t mat_padded(uint64_t size);
void mat_put_tag(FILE *file, uint32_t type, uint64_t size);
void mat_put_element(FILE *file, uint32_t type, const void *data, uint64_t size);

/// Bytes of the head of an array.
uint64_t mat_head_size(int rank, const char *name);
void mat_put_head(FILE *file, uint32_t class, int rank, const int32_t *dims, const char *name);

/// A row-major matrix.
void mat_put_matrix(FILE *file, const char *name, int rows, int columns, const double *values);
/// Complex numbers as a column.
void mat_put_complex(FILE *file, const char *name, int count, const double *real, const double *imaginary);
/// A matrix of characters with a word in each row.
void mat_put_words(FILE *file, const char *name, int count, const char *const *words);

#endif
