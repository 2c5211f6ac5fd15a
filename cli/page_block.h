// SPDX-License-Identifier: MIT
// Numbers of a page in packed form: rows of equal length, quantised, as byte planes. Read by viewer/src/data/unpack.ts.
#ifndef CLI_PAGE_BLOCK_H
#define CLI_PAGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes that grow. After a failed allocation `failed` is set and nothing more is added.
typedef struct byte_buffer {
    unsigned char *bytes;
    size_t length, capacity;
    bool failed;
} byte_buffer;

/// Room for `count` more bytes, which are the caller's to fill; NULL when there is no memory.
unsigned char *buffer_extend(byte_buffer *buffer, size_t count);
void buffer_append(byte_buffer *buffer, const void *bytes, size_t count);
void buffer_free(byte_buffer *buffer);

typedef enum block_encoding {
    BLOCK_Q16, ///< first differences of 16-bit integers: 1.5e-5 of a row's range
    BLOCK_Q32, ///< first differences of 32-bit integers: 1.5e-8 of a row's range
    BLOCK_F32, ///< 32-bit floats; a row that hardly changes, as differences to its first number
    BLOCK_F64, ///< as they are
} block_encoding;
const char *block_encoding_name(block_encoding encoding);

/// Append a block of `rows` times `columns` numbers (row by row) at a multiple of 8 bytes; returns where it begins.
size_t block_append(byte_buffer *buffer, block_encoding encoding, size_t rows, size_t columns,
                    const double *values);

/// Compress with gzip; false when there is no memory.
bool buffer_gzip(const byte_buffer *plain, byte_buffer *packed);

/// Append as base64.
void buffer_append_base64(byte_buffer *buffer, const byte_buffer *bytes);

#endif
