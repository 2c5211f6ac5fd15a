// SPDX-License-Identifier: MIT
// Packed chunks against zlib, which must read them, and against checksums summed word by word.
#include "io/packing.h"
#include "io/packing_deflate.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { NUMBERS_MAX = 150000 };

typedef struct bench {
    hn_context *context;
    packer *packer;
    double *numbers;
    unsigned char *back;
} bench;

static void begin(bench *b)
{
    b->context = hn_context_create(NULL);
    CHECK_OK(b->context, packer_create(b->context, NUMBERS_MAX, &b->packer));
    b->numbers = malloc(NUMBERS_MAX * sizeof(double));
    b->back = malloc(NUMBERS_MAX * sizeof(double));
    CHECK(b->numbers != NULL && b->back != NULL);
}

static void end(bench *b)
{
    free(b->back);
    free(b->numbers);
    packer_destroy(b->packer);
    hn_context_destroy(b->context);
}

// As HDF5 counts it: words of which the first byte has the higher weight, sums folded every 360 words.
static uint32_t fletcher(const unsigned char *data, size_t size)
{
    uint32_t first = 0, second = 0;
    for (size_t i = 0; i < size; i += 2) {
        first += (uint32_t)(data[i] << 8 | (i + 1 < size ? data[i + 1] : 0));
        second += first;
        if (i / 2 % 360 != 359) continue;
        first = (first & 0xffff) + (first >> 16);
        second = (second & 0xffff) + (second >> 16);
    }
    for (int k = 0; k < 2; ++k) {
        first = (first & 0xffff) + (first >> 16);
        second = (second & 0xffff) + (second >> 16);
    }
    return second << 16 | first;
}

// Pack, read back by zlib and compare; returns packed over plain size.
static double round_trip(bench *b, size_t count, size_t width)
{
    size_t size = 0;
    const unsigned char *packed = packer_pack(b->packer, b->numbers, count, width, &size);
    uint32_t sum = 0;
    for (size_t k = 0; k < 4; ++k) sum |= (uint32_t)packed[size - 4 + k] << 8 * k;
    CHECK(sum == fletcher(packed, size - 4));
    uLongf length = NUMBERS_MAX * sizeof(double);
    CHECK_EQUAL(uncompress(b->back, &length, packed, size - 4), Z_OK);
    CHECK_EQUAL(length, count * sizeof(double));
    const unsigned char *bytes = (const unsigned char *)b->numbers;
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < 8; ++k) wrong += b->back[k * count + i] != bytes[8 * i + k];
    CHECK_EQUAL(wrong, 0);
    return (double)size / (double)(count * sizeof(double));
}

static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ *state >> 29;
    return x * 0x9e3779b97f4a7c15u;
}

// Swings of `width` numbers, each with its own frequency, `step` of time between records; every third rests.
static void swing(bench *b, size_t count, size_t width, double step)
{
    for (size_t i = 0; i < count; ++i) {
        double c = (double)(i % width), t = step * (double)(i / width);
        b->numbers[i] = i % width % 3 == 1 ? 0.0 : (1.0 + c) * sin((1.0 + 0.1 * c) * t + c);
    }
}

TEST(packing, every_size_is_read_back_by_zlib)
{
    bench b;
    begin(&b);
    const size_t widths[] = {1, 2, 3, 7, 16, 64, 1000, 40000};
    for (size_t count = 1; count < 140; ++count)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; ++w) {
            swing(&b, count, widths[w], 1e-3);
            round_trip(&b, count, widths[w]);
        }
    const size_t counts[] = {255, 256, 257, 4095, 8192, 65535, 65536, 65537, NUMBERS_MAX};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; ++w) {
            swing(&b, counts[k], widths[w], 1e-3);
            round_trip(&b, counts[k], widths[w]);
        }
    end(&b);
}

TEST(packing, noise_costs_its_own_size_and_rest_nearly_nothing)
{
    bench b;
    begin(&b);
    uint64_t state = 1;
    for (size_t i = 0; i < 8192; ++i) {
        uint64_t bits = random_bits(&state);
        memcpy(&b.numbers[i], &bits, sizeof bits);
    }
    CHECK_BELOW(round_trip(&b, 8192, 64), 1.001); // measured 1.0008: heads of stored blocks
    for (size_t i = 0; i < 8192; ++i) b.numbers[i] = 9.81 + (double)(i % 64);
    CHECK_BELOW(round_trip(&b, 8192, 64), 0.02); // measured 0.0168
    for (size_t i = 0; i < 8192; ++i) b.numbers[i] = 0.0;
    CHECK_BELOW(round_trip(&b, 8192, 64), 0.02); // measured 0.0165
    end(&b);
}

TEST(packing, a_motion_is_packed_about_as_well_as_by_zlib)
{
    bench b;
    begin(&b);
    for (int k = 0; k < 2; ++k) {
        const double step = k == 0 ? 1e-3 : 1e-2;
        swing(&b, 8192, 64, step);
        double ours = round_trip(&b, 8192, 64);
        uLongf length = compressBound(8 * 8192);
        unsigned char *by_zlib = malloc(length);
        CHECK_EQUAL(compress2(by_zlib, &length, b.back, 8 * 8192, 1), Z_OK);
        free(by_zlib);
        MEASURED(ours);
        MEASURED((double)length / (8.0 * 8192.0));
        CHECK_BELOW(ours / ((double)length / (8.0 * 8192.0)), 1.05); // measured 0.98
    }
    end(&b);
}

// Counts like Fibonacci's numbers would have codes of more than the 15 bits that deflate allows.
TEST(packing, codes_stay_short_enough)
{
    bench b;
    begin(&b);
    unsigned char *bytes = (unsigned char *)b.numbers;
    size_t count = 0, before = 1, now = 1;
    for (int symbol = 0; symbol < 24; ++symbol) {
        for (size_t k = 0; k < now && count < NUMBERS_MAX; ++k)
            memset(bytes + 8 * count++, symbol, 8);
        size_t next = before + now;
        before = now, now = next;
    }
    // in an order that repeats little, so that literals are coded
    uint64_t state = 7;
    for (size_t i = count - 1; i > 0; --i) {
        size_t k = (size_t)(random_bits(&state) >> 20) % (i + 1);
        double keep = b.numbers[i];
        b.numbers[i] = b.numbers[k], b.numbers[k] = keep;
    }
    CHECK_BELOW(round_trip(&b, count, 1), 0.4); // measured 0.352
    end(&b);
}

TEST(packing, random_planes_are_read_back)
{
    bench b;
    begin(&b);
    uint64_t state = 42;
    for (int trial = 0; trial < 300; ++trial) {
        size_t count = 1 + (size_t)(random_bits(&state) >> 40) % 3000,
               width = 1 + (size_t)(random_bits(&state) >> 40) % 90;
        unsigned kept = (unsigned)(random_bits(&state) >> 60);
        for (size_t i = 0; i < count; ++i) {
            uint64_t bits = random_bits(&state);
            if (i >= width && random_bits(&state) >> 60 < kept)
                memcpy(&bits, &b.numbers[i - width], sizeof bits);
            else if (random_bits(&state) >> 63) bits &= 0xff00030f00000000u;
            memcpy(&b.numbers[i], &bits, sizeof bits);
        }
        round_trip(&b, count, width);
    }
    end(&b);
}
