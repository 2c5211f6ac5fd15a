// SPDX-License-Identifier: MIT
// ZIP: a head and data for each file, then a directory of all. Dates are those of the format's beginning.
#include "archive.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    VERSION = 20,          // deflated files
    MADE_BY_UNIX = 3 << 8, // so that rights are read
    NAMES_ARE_UTF8 = 1 << 11,
    DATE = (0 << 9) | (1 << 5) | 1, // 1 January 1980
    HEAD_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
};

static unsigned char *put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i) *to++ = (unsigned char)(value >> (8 * i));
    return to;
}

archive archive_begin(FILE *file)
{
    return (archive){.file = file};
}

static void write_bytes(archive *a, const void *data, size_t size)
{
    if (size > 0 && fwrite(data, 1, size, a->file) != size) a->failed = true;
    a->size += size;
}

// Deflated data without a head; NULL: no memory. Owned by the caller.
static unsigned char *compress_data(const void *data, size_t size, size_t *packed_size)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    uLong bound = deflateBound(&stream, (uLong)size);
    unsigned char *packed = malloc(bound);
    if (packed != NULL) {
        stream.next_in = (Bytef *)(uintptr_t)data;
        stream.avail_in = (uInt)size;
        stream.next_out = packed;
        stream.avail_out = (uInt)bound;
        if (deflate(&stream, Z_FINISH) == Z_STREAM_END) {
            *packed_size = stream.total_out;
        } else {
            free(packed);
            packed = NULL;
        }
    }
    deflateEnd(&stream);
    return packed;
}

// Room for an entry at the end of the index.
static unsigned char *extend_index(archive *a, size_t size)
{
    if (a->index_size + size > a->index_capacity) {
        size_t capacity = 2 * a->index_capacity + size + 4096;
        unsigned char *grown = realloc(a->index, capacity);
        if (grown == NULL) {
            a->failed = true;
            return NULL;
        }
        a->index = grown;
        a->index_capacity = capacity;
    }
    unsigned char *place = a->index + a->index_size;
    a->index_size += size;
    return place;
}

void archive_add(archive *a, const char *name, const void *data, size_t size, bool program)
{
    size_t packed_size = 0, name_size = strlen(name);
    unsigned char *packed = size < UINT32_MAX / 2 ? compress_data(data, size, &packed_size) : NULL;
    unsigned char *entry = extend_index(a, ENTRY_SIZE + name_size);
    if (packed == NULL || entry == NULL || a->size > UINT32_MAX / 2 || a->count >= UINT16_MAX) {
        a->failed = true;
        free(packed);
        return;
    }
    // what head and entry share: version, flags, method, time, date, checksum, sizes, length of the name
    unsigned char shared[26], *next = shared;
    next = put(next, VERSION, 2);
    next = put(next, NAMES_ARE_UTF8, 2);
    next = put(next, Z_DEFLATED, 2);
    next = put(next, 0, 2);
    next = put(next, DATE, 2);
    next = put(next, crc32(crc32(0, NULL, 0), data, (uInt)size), 4);
    next = put(next, packed_size, 4);
    next = put(next, size, 4);
    next = put(next, name_size, 2);
    put(next, 0, 2);
    uint64_t rights = program ? 0100755 : 0100644, at = a->size;
    next = put(entry, 0x02014b50, 4);
    next = put(next, MADE_BY_UNIX | VERSION, 2);
    memcpy(next, shared, sizeof shared);
    next = put(next + sizeof shared, 0, 6); // comment, disk, kind
    next = put(next, rights << 16, 4);
    next = put(next, at, 4);
    memcpy(next, name, name_size);
    unsigned char head[4];
    put(head, 0x04034b50, 4);
    write_bytes(a, head, sizeof head);
    write_bytes(a, shared, sizeof shared);
    write_bytes(a, name, name_size);
    write_bytes(a, packed, packed_size);
    a->count += 1;
    free(packed);
}

bool archive_end(archive *a)
{
    uint64_t at = a->size;
    write_bytes(a, a->index, a->index_size);
    unsigned char end[END_SIZE], *next = put(end, 0x06054b50, 4);
    next = put(next, 0, 4); // disks
    next = put(next, (uint64_t)a->count, 2);
    next = put(next, (uint64_t)a->count, 2);
    next = put(next, a->index_size, 4);
    next = put(next, at, 4);
    put(next, 0, 2);
    write_bytes(a, end, sizeof end);
    free(a->index);
    a->index = NULL;
    return !a->failed;
}
