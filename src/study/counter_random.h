// SPDX-License-Identifier: MIT
// Random numbers as a function of a counter: number i of a stream can be had without those before it.
#ifndef STUDY_COUNTER_RANDOM_H
#define STUDY_COUNTER_RANDOM_H

#include <stdint.h>

/// Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw 2011): four numbers of 32 bits for a counter under a key.
void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/// 64 random bits: number `index` of a stream under a seed.
uint64_t counter_bits(uint64_t seed, uint32_t stream, uint64_t index);

/// A number between 0 and 1, neither of them, from 64 bits.
double unit_number(uint64_t bits);

/// Value of the standard normal distribution at a probability, 0 < p < 1 (Wichura 1988, AS 241, relative error 1e-16).
double normal_quantile(double p);

/// Entry `index` of point `point` of the Sobol sequence, below 1, as a fraction of 2^32 (direction numbers of Joe and
/// Kuo 2008); `dimension` below SOBOL_DIMENSIONS.
enum { SOBOL_DIMENSIONS = 32 };
uint32_t sobol_fraction(int dimension, uint32_t point);

/// A random order of 0 ... count - 1 into `order`.
void random_order(uint64_t seed, uint32_t stream, uint32_t count, uint32_t *order);

#endif
