// SPDX-License-Identifier: MIT
// Shuffle, code the planes that repeat, checksums of zlib (Adler) and of HDF5 (Fletcher).
#include "io/packing.h"

#include "io/packing_deflate.h"

#include <string.h>

enum {
    NUMBER_BYTES = 8,
    CHECKSUM_BYTES = 4,
    HEAD_BYTES = 2,  // of zlib
    LANES = 16,      // bytes in a vector
    SAMPLE_STEP = 4, // one vector in so many is counted to tell whether bytes are noise
};

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint32_t longs4 __attribute__((vector_size(16)));

struct packer {
    hn_context *context;
    unsigned char *shuffled, *packed;
    deflate_plan_result plan;
};

hn_status packer_create(hn_context *context, size_t number_count, packer **out)
{
    packer *p = context_allocate(context, sizeof *p);
    *out = p;
    if (p == NULL) return HN_OUT_OF_MEMORY;
    p->context = context;
    size_t stored_blocks = NUMBER_BYTES * (number_count / DEFLATE_STORED_MAX + 1);
    p->shuffled = context_allocate(context, NUMBER_BYTES * number_count);
    p->packed =
        context_allocate(context, NUMBER_BYTES * number_count + HEAD_BYTES + 2 * CHECKSUM_BYTES +
                                      DEFLATE_STORED_HEAD * stored_blocks + DEFLATE_MARGIN);
    p->plan.tokens = context_allocate(context, (number_count / 4 + 2) * sizeof *p->plan.tokens);
    deflate_prepare(&p->plan);
    if (p->shuffled != NULL && p->packed != NULL && p->plan.tokens != NULL) return HN_OK;
    packer_destroy(p);
    *out = NULL;
    return HN_OUT_OF_MEMORY;
}

void packer_destroy(packer *p)
{
    if (p == NULL) return;
    context_release(p->context, p->plan.tokens);
    context_release(p->context, p->shuffled);
    context_release(p->context, p->packed);
    context_release(p->context, p);
}

// ---- planes -----------------------------------------------------------------------------------------

static inline bytes16 interleave_low(bytes16 a, bytes16 b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline bytes16 interleave_high(bytes16 a, bytes16 b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

// 16 numbers of 8 bytes. A byte's place has seven binary digits, four of the number and three of the byte; dealing out
// the two halves of all 128 bytes in turn moves the first digit to the end. After four times the byte comes first.
static inline void split_numbers(const unsigned char *from, unsigned char *to, size_t plane)
{
    bytes16 v[NUMBER_BYTES], w[NUMBER_BYTES];
    memcpy(v, from, sizeof v);
    for (int turn = 0; turn < 2; ++turn) {
        for (int k = 0; k < 4; ++k)
            w[2 * k] = interleave_low(v[k], v[k + 4]),
                  w[2 * k + 1] = interleave_high(v[k], v[k + 4]);
        for (int k = 0; k < 4; ++k)
            v[2 * k] = interleave_low(w[k], w[k + 4]),
                  v[2 * k + 1] = interleave_high(w[k], w[k + 4]);
    }
    for (int b = 0; b < NUMBER_BYTES; ++b) memcpy(to + (size_t)b * plane, &v[b], LANES);
}

static void shuffle(const unsigned char *from, size_t count, unsigned char *to)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) split_numbers(from + NUMBER_BYTES * i, to + i, count);
    for (; i < count; ++i)
        for (size_t b = 0; b < NUMBER_BYTES; ++b) to[b * count + i] = from[NUMBER_BYTES * i + b];
}

static inline bytes16 load_bytes(const unsigned char *from)
{
    bytes16 v;
    memcpy(&v, from, sizeof v);
    return v;
}

// How many bytes equal those at the distance? The last few are not looked at.
static size_t repeated_count(const unsigned char *plane, size_t count, size_t distance)
{
    size_t equal = 0;
    for (size_t i = distance; i + LANES <= count;) {
        bytes16 sums = {0};
        for (int row = 0; row < UINT8_MAX && i + LANES <= count; ++row, i += LANES)
            sums -= (bytes16)(load_bytes(plane + i) == load_bytes(plane + i - distance));
        for (int k = 0; k < LANES; ++k) equal += sums[k];
    }
    return equal;
}

// Do some bytes occur much more often than others? By the pairs of equal ones in a sample: of noise one in 256.
static bool is_uneven(const unsigned char *plane, size_t count)
{
    const double PAIRS_MIN = 1.0 / 16.0; // some four or five bits a byte
    uint32_t found[UINT8_MAX + 1] = {0};
    double pairs = 0.0, number = 0.0;
    for (size_t i = 0; i + LANES <= count; i += SAMPLE_STEP * LANES)
        for (size_t k = 0; k < LANES; ++k) found[plane[i + k]]++;
    for (int k = 0; k <= UINT8_MAX; ++k) {
        number += found[k];
        pairs += (double)found[k] * ((double)found[k] - 1.0);
    }
    return pairs > PAIRS_MIN * number * number;
}

static void put_plane(packer *p, deflate_stream *stream, const unsigned char *plane, size_t count,
                      size_t distance, bool last)
{
    enum {
        FEW_PART = 16
    }; // bytes that do not repeat, of all: coded as they come, they still take less than stored
    const size_t repeated = repeated_count(plane, count, distance);
    if (FEW_PART * (count - repeated) <= count) {
        deflate_plan_fixed(plane, count, distance, &p->plan);
        deflate_coded(stream, plane, &p->plan, last);
    } else if ((4 * repeated > 3 * count || is_uneven(plane, count)) &&
               deflate_plan(plane, count, distance, &p->plan) < count) {
        deflate_coded(stream, plane, &p->plan, last);
    } else deflate_stored(stream, plane, count, last);
}

// ---- checksums --------------------------------------------------------------------------------------

// Both are a sum of numbers and the sum of its values after every number. Rows of bytes are summed lane by lane: `sum`,
// and the sums before each row, `before`, in which a byte of row j counts as often as rows follow it.
typedef struct lane_sums {
    uint32_t sum[LANES], before[LANES];
} lane_sums;

enum {
    ROWS_MAX = 4096, // 255 ROWS_MAX^2/2 is below 2^32
    ROWS_SHORT = 16, // 255 ROWS_SHORT^2/2 is below 2^16
};

// A few rows in sums of 16 bits, which are then added to those of 32. Byte k of four lies in the lower or upper half of
// a word, and that in one of a long.
static inline void sum_few(const unsigned char *data, uint32_t rows, longs4 sum[4],
                           longs4 before[4])
{
    words8 low = {0}, high = {0}, low_before = {0}, high_before = {0};
    for (uint32_t j = 0; j < rows; ++j) {
        words8 v;
        memcpy(&v, data + LANES * j, sizeof v);
        low_before += low, high_before += high;
        low += v & 0xff, high += v >> 8;
    }
    for (int k = 0; k < 4; ++k) {
        longs4 s = (longs4)(k % 2 == 0 ? low : high),
               b = (longs4)(k % 2 == 0 ? low_before : high_before);
        before[k] += sum[k] * rows + (k < 2 ? b & 0xffff : b >> 16);
        sum[k] += k < 2 ? s & 0xffff : s >> 16;
    }
}

static void sum_lanes(const unsigned char *data, size_t rows, lane_sums *sums)
{
    longs4 sum[4] = {{0}}, before[4] = {{0}};
    for (; rows >= ROWS_SHORT; rows -= ROWS_SHORT, data += LANES * ROWS_SHORT)
        sum_few(data, ROWS_SHORT, sum, before);
    sum_few(data, (uint32_t)rows, sum, before);
    for (int l = 0; l < LANES; ++l) {
        int k = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 - l % 4 : l % 4;
        sums->sum[l] = sum[k][l / 4];
        sums->before[l] = before[k][l / 4];
    }
}

// Adler's, modulo 65521, of bytes.
static uint32_t adler32(const unsigned char *data, size_t size)
{
    const uint64_t PRIME = 65521;
    uint64_t first = 1, second = 0;
    for (size_t rows; size >= LANES; data += LANES * rows, size -= LANES * rows) {
        lane_sums lanes;
        rows = size / LANES < ROWS_MAX ? size / LANES : ROWS_MAX;
        sum_lanes(data, rows, &lanes);
        second += LANES * rows * first;
        for (unsigned l = 0; l < LANES; ++l) {
            first += lanes.sum[l];
            second += (uint64_t)LANES * lanes.before[l] + (uint64_t)(LANES - l) * lanes.sum[l];
        }
        first %= PRIME, second %= PRIME;
    }
    for (; size > 0; --size) first += *data++, second += first;
    return (uint32_t)(second % PRIME << 16 | first % PRIME);
}

// Modulo 65535, and 65535 itself for its multiples.
static uint64_t fold(uint64_t sum)
{
    while (sum > UINT16_MAX) sum = (sum & UINT16_MAX) + (sum >> 16);
    return sum;
}

// Fletcher's, modulo 65535, of words, the byte of high weight first; an odd byte at the end is one of high weight.
static uint32_t fletcher32(const unsigned char *data, size_t size)
{
    enum { WORDS = LANES / 2 };
    uint64_t first = 0, second = 0;
    for (size_t rows; size >= LANES; data += LANES * rows, size -= LANES * rows) {
        lane_sums lanes;
        rows = size / LANES < ROWS_MAX ? size / LANES : ROWS_MAX;
        sum_lanes(data, rows, &lanes);
        second += WORDS * rows * first;
        for (unsigned l = 0; l < LANES; ++l) {
            const uint64_t weight = l % 2 == 0 ? 256 : 1;
            first += weight * lanes.sum[l];
            second += weight * ((uint64_t)WORDS * lanes.before[l] +
                                (uint64_t)(WORDS - l / 2) * lanes.sum[l]);
        }
        first = fold(first), second = fold(second);
    }
    for (; size > 0; data += 2, size -= size > 1 ? 2 : 1) {
        first += (uint64_t)data[0] << 8 | (size > 1 ? data[1] : 0);
        second += first;
    }
    return (uint32_t)(fold(second) << 16 | fold(first));
}

// ---- chunks -----------------------------------------------------------------------------------------

const void *packer_pack(packer *p, const void *numbers, size_t count, size_t record_width,
                        size_t *size)
{
    // a chunk of one record repeats nothing but its neighbours
    size_t distance =
        record_width < count && record_width <= DEFLATE_DISTANCE_MAX ? record_width : 1;
    const unsigned char head[HEAD_BYTES] = {0x78, 0x01}; // deflate, distances up to 32768; fastest
    memcpy(p->packed, head, sizeof head);
    deflate_stream stream = {.next = p->packed + HEAD_BYTES};
    shuffle(numbers, count, p->shuffled);
    for (size_t b = 0; b < NUMBER_BYTES; ++b)
        put_plane(p, &stream, p->shuffled + b * count, count, distance, b == NUMBER_BYTES - 1);
    unsigned char *end = deflate_finish(&stream);
    uint32_t sum = adler32(p->shuffled, NUMBER_BYTES * count);
    for (int k = CHECKSUM_BYTES - 1; k >= 0; --k) *end++ = (unsigned char)(sum >> 8 * k);
    sum = fletcher32(p->packed, (size_t)(end - p->packed));
    for (int k = 0; k < CHECKSUM_BYTES; ++k) *end++ = (unsigned char)(sum >> 8 * k);
    *size = (size_t)(end - p->packed);
    return p->packed;
}
