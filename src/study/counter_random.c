// SPDX-License-Identifier: MIT
// Philox, the normal distribution's inverse, Sobol points, random orders.
#include "study/counter_random.h"

#include <math.h>

// ---- Philox -----------------------------------------------------------------------------------------

static void philox_round(uint32_t x[4], uint32_t key0, uint32_t key1)
{
    uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key0, (uint32_t)b,
                        (uint32_t)(a >> 32) ^ x[3] ^ key1, (uint32_t)a};
    for (int i = 0; i < 4; ++i) x[i] = next[i];
}

void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t key0 = key[0], key1 = key[1];
    for (int i = 0; i < 4; ++i) out[i] = counter[i];
    for (int round = 0; round < 10; ++round) {
        philox_round(out, key0, key1);
        key0 += 0x9E3779B9u; // golden ratio
        key1 += 0xBB67AE85u; // sqrt(3) - 1
    }
}

uint64_t counter_bits(uint64_t seed, uint32_t stream, uint64_t index)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream, 0};
    uint32_t out[4];
    philox(counter, key, out);
    return (uint64_t)out[0] << 32 | out[1];
}

double unit_number(uint64_t bits)
{
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

// ---- normal distribution ----------------------------------------------------------------------------

static double polynomial(const double c[8], double x)
{
    double value = c[7];
    for (int i = 6; i >= 0; --i) value = value * x + c[i];
    return value;
}

double normal_quantile(double p)
{
    // clang-format off
    static const double A[8] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
        13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105,
        2509.0809287301226727};
    static const double B[8] = {1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
        21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610};
    static const double C[8] = {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
        3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833,
        7.74545014278341407640e-4};
    static const double D[8] = {1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
        0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
    static const double E[8] = {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
        0.296560571828504891230, 0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5,
        2.01033439929228813265e-7};
    static const double F[8] = {1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
    // clang-format on
    const double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(A, r) / polynomial(B, r);
    }
    double r = sqrt(-log(q < 0.0 ? p : 1.0 - p));
    double value = r <= 5.0 ? polynomial(C, r - 1.6) / polynomial(D, r - 1.6)
                            : polynomial(E, r - 5.0) / polynomial(F, r - 5.0);
    return q < 0.0 ? -value : value;
}

// ---- points that fill space evenly ------------------------------------------------------------------

// A primitive polynomial of degree s (inner coefficients in the bits of a) and the first s direction numbers of each
// dimension after the first: new-joe-kuo-6.
typedef struct sobol_direction {
    uint8_t degree, polynomial;
    uint16_t numbers[8];
} sobol_direction;
static const sobol_direction DIRECTIONS[SOBOL_DIMENSIONS - 1] = {
    // clang-format off
    {1, 0, {1, 0, 0, 0, 0, 0, 0, 0}}, {2, 1, {1, 3, 0, 0, 0, 0, 0, 0}},
    {3, 1, {1, 3, 1, 0, 0, 0, 0, 0}}, {3, 2, {1, 1, 1, 0, 0, 0, 0, 0}},
    {4, 1, {1, 1, 3, 3, 0, 0, 0, 0}}, {4, 4, {1, 3, 5, 13, 0, 0, 0, 0}},
    {5, 2, {1, 1, 5, 5, 17, 0, 0, 0}}, {5, 4, {1, 1, 5, 5, 5, 0, 0, 0}},
    {5, 7, {1, 1, 7, 11, 19, 0, 0, 0}}, {5, 11, {1, 1, 5, 1, 1, 0, 0, 0}},
    {5, 13, {1, 1, 1, 3, 11, 0, 0, 0}}, {5, 14, {1, 3, 5, 5, 31, 0, 0, 0}},
    {6, 1, {1, 3, 3, 9, 7, 49, 0, 0}}, {6, 13, {1, 1, 1, 15, 21, 21, 0, 0}},
    {6, 16, {1, 3, 1, 13, 27, 49, 0, 0}}, {6, 19, {1, 1, 1, 15, 7, 5, 0, 0}},
    {6, 22, {1, 3, 1, 15, 13, 25, 0, 0}}, {6, 25, {1, 1, 5, 5, 19, 61, 0, 0}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103, 0}}, {7, 4, {1, 3, 7, 13, 13, 15, 69, 0}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63, 0}}, {7, 8, {1, 3, 5, 9, 1, 25, 53, 0}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107, 0}}, {7, 19, {1, 3, 1, 5, 27, 61, 31, 0}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61, 0}}, {7, 28, {1, 3, 5, 3, 3, 13, 69, 0}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1, 0}}, {7, 32, {1, 3, 7, 5, 13, 19, 59, 0}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41, 0}}, {7, 41, {1, 3, 5, 13, 23, 1, 55, 0}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17, 0}},
    // clang-format on
};

// Direction number `bit` (0: the highest) of a dimension.
static uint32_t direction_of(int dimension, int bit)
{
    uint32_t v[32];
    if (dimension == 0) return 0x80000000u >> bit;
    const sobol_direction *d = &DIRECTIONS[dimension - 1];
    int s = d->degree;
    for (int i = 0; i <= bit; ++i) {
        if (i < s) {
            v[i] = (uint32_t)d->numbers[i] << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (int k = 1; k < s; ++k)
            if ((d->polynomial >> (s - 1 - k)) & 1) v[i] ^= v[i - k];
    }
    return v[bit];
}

uint32_t sobol_fraction(int dimension, uint32_t point)
{
    uint32_t fraction = 0;
    for (int bit = 0; bit < 32 && point >> bit != 0; ++bit)
        if ((point >> bit) & 1) fraction ^= direction_of(dimension, bit);
    return fraction;
}

void random_order(uint64_t seed, uint32_t stream, uint32_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; ++i) order[i] = i;
    // Fisher and Yates; the excess of a remainder of 64 bits is below 2^-32
    for (uint32_t i = count; i > 1; --i) {
        uint32_t other = (uint32_t)(counter_bits(seed, stream, i) % i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}
