// SPDX-License-Identifier: MIT
// MAT files of level 4: matrices and lists of words one after the other. Matlab, Octave and scipy read them.
#ifndef IO_MAT_FILE_H
#define IO_MAT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/// A row-major matrix; false: it could not be written.
bool mat_write_matrix(FILE *file, const char *name, int rows, int columns, const double *values);
/// Complex numbers as a column.
bool mat_write_complex(FILE *file, const char *name, int count, const double *real, const double *imaginary);
/// A matrix of characters with a word in each row.
bool mat_write_words(FILE *file, const char *name, int count, const char *const *words);

#endif
