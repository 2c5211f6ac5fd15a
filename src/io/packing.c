// SPDX-License-Identifier: MIT
// Shuffle, deflate what repeats, checksum.
#include "io/packing.h"

#include <string.h>
#include <zlib.h>

enum {
    NUMBER_BYTES = 8,
    CHECKSUM_BYTES = 4,
    DEFLATE_LEVEL = 1, // level 6 takes 2 to 4 times the time for 2 to 18 % of the size
    REPEATS_PART =
        4, // a plane is deflated when more than one in so many bytes equals the one before
    WINDOW_BITS = 12, // 4 kB: what repeats in a plane does so within a few numbers,
    MEMORY_LEVEL = 6, // and small tables are cleared fast for small chunks
    MARGIN_BYTES =
        256, // of the stream, beyond deflateBound: a block ends with each change of level
};

struct packer {
    hn_context *context;
    z_stream stream;
    unsigned char *shuffled, *packed;
    size_t packed_size;
};

// zlib's memory comes from the context too.
static void *stream_allocate(void *context, unsigned count, unsigned size)
{
    return context_allocate(context, (size_t)count * size);
}

static void stream_release(void *context, void *memory)
{
    context_release(context, memory);
}

hn_status packer_create(hn_context *context, size_t number_count, packer **out)
{
    packer *p = context_allocate(context, sizeof *p);
    *out = p;
    if (p == NULL) return HN_OUT_OF_MEMORY;
    p->context = context;
    p->stream.zalloc = stream_allocate;
    p->stream.zfree = stream_release;
    p->stream.opaque = context;
    size_t size = NUMBER_BYTES * number_count;
    bool ready = deflateInit2(&p->stream, DEFLATE_LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    if (ready) {
        p->packed_size = deflateBound(&p->stream, size) + MARGIN_BYTES + CHECKSUM_BYTES;
        p->shuffled = context_allocate(context, size);
        p->packed = context_allocate(context, p->packed_size);
    }
    if (p->shuffled != NULL && p->packed != NULL) return HN_OK;
    packer_destroy(p);
    *out = NULL;
    return context_fail(context, HN_OUT_OF_MEMORY, "no memory to pack results");
}

void packer_destroy(packer *p)
{
    if (p == NULL) return;
    deflateEnd(&p->stream);
    context_release(p->context, p->shuffled);
    context_release(p->context, p->packed);
    context_release(p->context, p);
}

static bool plane_repeats(const unsigned char *plane, size_t count)
{
    size_t equal = 0;
    for (size_t i = 1; i < count; ++i) equal += plane[i] == plane[i - 1];
    return equal > count / REPEATS_PART;
}

// As HDF5 counts it: big-endian words, sums folded every 360 words.
static uint32_t fletcher32(const unsigned char *data, size_t size)
{
    uint32_t first = 0, second = 0;
    size_t words = size / 2;
    while (words > 0) {
        size_t some = words > 360 ? 360 : words;
        words -= some;
        for (; some > 0; --some, data += 2) {
            first += (uint32_t)data[0] << 8 | data[1];
            second += first;
        }
        first = (first & 0xffff) + (first >> 16);
        second = (second & 0xffff) + (second >> 16);
    }
    if (size % 2 != 0) {
        first += (uint32_t)*data << 8;
        second += first;
        first = (first & 0xffff) + (first >> 16);
        second = (second & 0xffff) + (second >> 16);
    }
    first = (first & 0xffff) + (first >> 16);
    second = (second & 0xffff) + (second >> 16);
    return second << 16 | first;
}

const void *packer_pack(packer *p, const void *numbers, size_t count, size_t *size)
{
    const unsigned char *from = numbers;
    z_stream *z = &p->stream;
    if (deflateReset(z) != Z_OK) return NULL;
    z->next_out = p->packed;
    z->avail_out = (unsigned)(p->packed_size - CHECKSUM_BYTES);
    for (int b = 0; b < NUMBER_BYTES; ++b) {
        unsigned char *plane = p->shuffled + (size_t)b * count;
        for (size_t i = 0; i < count; ++i) plane[i] = from[NUMBER_BYTES * i + (size_t)b];
        int level = plane_repeats(plane, count) ? DEFLATE_LEVEL : Z_NO_COMPRESSION;
        if (deflateParams(z, level, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
        z->next_in = plane;
        z->avail_in = (unsigned)count;
        int done = deflate(z, b == NUMBER_BYTES - 1 ? Z_FINISH : Z_NO_FLUSH);
        if (done != (b == NUMBER_BYTES - 1 ? Z_STREAM_END : Z_OK) || z->avail_in > 0) return NULL;
    }
    size_t packed = p->packed_size - CHECKSUM_BYTES - z->avail_out;
    uint32_t sum = fletcher32(p->packed, packed);
    for (int k = 0; k < CHECKSUM_BYTES; ++k)
        p->packed[packed + (size_t)k] = (unsigned char)(sum >> 8 * k);
    *size = packed + CHECKSUM_BYTES;
    return p->packed;
}
