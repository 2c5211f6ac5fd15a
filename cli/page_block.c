// SPDX-License-Identifier: MIT
// Packing of a page's numbers: quantising, differences, byte planes, gzip, base64.
#include "page_block.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, GZIP_LEVEL = 6, GZIP_CHUNK = 1 << 20 };

static const double Q16_STEPS = 65000.0; // of a row's range
static const double Q32_STEPS =
    67108864.0; // 2^26: what a 32-bit float would keep, and its differences pack better
static const double NEARLY_CONSTANT =
    0.01; // a row whose changes are below this share of its size is stored as differences to its first number

unsigned char *buffer_extend(byte_buffer *buffer, size_t count)
{
    if (buffer->failed) return NULL;
    if (buffer->capacity - buffer->length < count) {
        size_t capacity = buffer->capacity < 4096 ? 4096 : buffer->capacity;
        while (capacity - buffer->length < count && capacity <= SIZE_MAX / 2) capacity *= 2;
        unsigned char *bytes =
            capacity - buffer->length < count ? NULL : realloc(buffer->bytes, capacity);
        if (bytes == NULL) {
            buffer->failed = true;
            return NULL;
        }
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    unsigned char *room = buffer->bytes + buffer->length;
    buffer->length += count;
    return room;
}

void buffer_append(byte_buffer *buffer, const void *bytes, size_t count)
{
    unsigned char *room = buffer_extend(buffer, count);
    if (room != NULL && count > 0) memcpy(room, bytes, count);
}

void buffer_free(byte_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (byte_buffer){NULL, 0, 0, false};
}

const char *block_encoding_name(block_encoding encoding)
{
    switch (encoding) {
    case BLOCK_Q16: return "q16";
    case BLOCK_Q32: return "q32";
    case BLOCK_F32: return "f32";
    case BLOCK_F64: return "f64";
    }
    return "";
}

static size_t encoding_width(block_encoding encoding)
{
    return encoding == BLOCK_Q16 ? 2 : encoding == BLOCK_F64 ? 8 : 4;
}

typedef struct row_range {
    double low, high;
} row_range;

static row_range range_of(const double *values, size_t count)
{
    row_range range = {values[0], values[0]};
    for (size_t i = 1; i < count; ++i) {
        range.low = fmin(range.low, values[i]);
        range.high = fmax(range.high, values[i]);
    }
    return range;
}

/// Write the lowest `width` bytes of a word into their planes.
static void store_planes(unsigned char *planes, size_t count, size_t index, size_t width,
                         uint64_t word)
{
    for (size_t k = 0; k < width; ++k) planes[k * count + index] = (unsigned char)(word >> (8 * k));
}

/// A double that a float can hold.
static float to_float(double value)
{
    if (value > (double)FLT_MAX) return FLT_MAX;
    if (value < -(double)FLT_MAX) return -FLT_MAX;
    return (float)value;
}

static void quantise_row(block_encoding encoding, const double *values, size_t columns,
                         double *offset, double *scale, unsigned char *planes, size_t count,
                         size_t first)
{
    const row_range range = range_of(values, columns);
    const double steps = encoding == BLOCK_Q16 ? Q16_STEPS : Q32_STEPS;
    *offset = 0.5 * range.low + 0.5 * range.high;
    *scale = (range.high / steps - range.low / steps);
    uint32_t before = 0;
    for (size_t i = 0; i < columns; ++i) {
        double step = *scale > 0.0 ? (values[i] - *offset) / *scale : 0.0;
        uint32_t number = (uint32_t)(int32_t)lround(step);
        store_planes(planes, count, first + i, encoding_width(encoding), number - before);
        before = number;
    }
}

static void float_row(const double *values, size_t columns, double *offset, unsigned char *planes,
                      size_t count, size_t first)
{
    const row_range range = range_of(values, columns);
    const double size = fmax(fabs(range.low), fabs(range.high));
    *offset = range.high - range.low < NEARLY_CONSTANT * size ? values[0] : 0.0;
    for (size_t i = 0; i < columns; ++i) {
        float number = to_float(values[i] - *offset);
        uint32_t word;
        memcpy(&word, &number, sizeof word);
        store_planes(planes, count, first + i, sizeof word, word);
    }
}

size_t block_append(byte_buffer *buffer, block_encoding encoding, size_t rows, size_t columns,
                    const double *values)
{
    const size_t width = encoding_width(encoding), count = rows * columns;
    const size_t padding = (8 - buffer->length % 8) % 8;
    unsigned char *zeros = buffer_extend(buffer, padding);
    if (zeros != NULL) memset(zeros, 0, padding);
    const size_t start = buffer->length;
    unsigned char *offsets = buffer_extend(buffer, 16 * rows + width * count);
    if (offsets == NULL) return start;
    unsigned char *scales = offsets + 8 * rows, *planes = scales + 8 * rows;
    for (size_t row = 0; row < rows; ++row) {
        const double *numbers = values + row * columns;
        double offset = 0.0, scale = 1.0;
        if (columns > 0 && encoding == BLOCK_F32)
            float_row(numbers, columns, &offset, planes, count, row * columns);
        else if (columns > 0 && encoding != BLOCK_F64)
            quantise_row(encoding, numbers, columns, &offset, &scale, planes, count, row * columns);
        for (size_t i = 0; encoding == BLOCK_F64 && i < columns; ++i) {
            uint64_t word;
            memcpy(&word, &numbers[i], sizeof word);
            store_planes(planes, count, row * columns + i, sizeof word, word);
        }
        memcpy(offsets + 8 * row, &offset, 8);
        memcpy(scales + 8 * row, &scale, 8);
    }
    return start;
}

bool buffer_gzip(const byte_buffer *plain, byte_buffer *packed)
{
    z_stream stream = {0};
    if (plain->failed ||
        deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    static unsigned char none;
    size_t taken = 0;
    int state = Z_OK;
    while (state == Z_OK) {
        size_t left = plain->length - taken;
        uInt piece = (uInt)(left < GZIP_CHUNK ? left : GZIP_CHUNK);
        stream.next_in = plain->length == 0 ? &none : plain->bytes + taken;
        stream.avail_in = piece;
        const int flush = piece == left ? Z_FINISH : Z_NO_FLUSH;
        do {
            unsigned char *room = buffer_extend(packed, GZIP_CHUNK);
            if (room == NULL) break;
            stream.next_out = room;
            stream.avail_out = GZIP_CHUNK;
            state = deflate(&stream, flush);
            packed->length -= stream.avail_out;
        } while (state == Z_OK && stream.avail_out == 0);
        taken += piece;
        if (packed->failed) break;
    }
    deflateEnd(&stream);
    return state == Z_STREAM_END && !packed->failed;
}

void buffer_append_base64(byte_buffer *buffer, const byte_buffer *bytes)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *out = buffer_extend(buffer, (bytes->length + 2) / 3 * 4);
    if (out == NULL) return;
    for (size_t i = 0; i < bytes->length; i += 3) {
        const size_t left = bytes->length - i;
        uint32_t word = (uint32_t)bytes->bytes[i] << 16;
        if (left > 1) word |= (uint32_t)bytes->bytes[i + 1] << 8;
        if (left > 2) word |= (uint32_t)bytes->bytes[i + 2];
        *out++ = (unsigned char)LETTERS[word >> 18];
        *out++ = (unsigned char)LETTERS[word >> 12 & 63];
        *out++ = (unsigned char)(left > 1 ? LETTERS[word >> 6 & 63] : '=');
        *out++ = (unsigned char)(left > 2 ? LETTERS[word & 63] : '=');
    }
}
