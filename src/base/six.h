// SPDX-License-Identifier: MIT
// Six numbers side by side, as twists, wrenches and rows of matrices over them have: three pairs, which processors add
// and multiply at once. Results are the same, bit for bit, as number by number.
//
// What is stored in pairs and loaded in pairs right after is handed on inside the processor; a pair put together from
// two numbers stored one by one has to wait for memory. So nodes of the tree are written with these functions alone.
#ifndef BASE_SIX_H
#define BASE_SIX_H

#include "base/vector.h"

typedef double pair __attribute__((vector_size(16), aligned(8))); // two numbers, anywhere in memory

typedef struct six {
    pair p[3];
} six;

static inline pair pair_load(const double *x)
{
    return *(const pair *)x;
}

static inline void pair_store(pair a, double *x)
{
    *(pair *)x = a;
}

static inline six six_load(const double *x)
{
    return (six){{pair_load(x), pair_load(x + 2), pair_load(x + 4)}};
}

static inline void six_store(six a, double *x)
{
    for (int k = 0; k < 3; ++k) pair_store(a.p[k], x + 2 * k);
}

static inline six six_of(hn_vec3 a, hn_vec3 b)
{
    return (six){{{a.x, a.y}, {a.z, b.x}, {b.y, b.z}}};
}

static inline hn_vec3 six_first(six a)
{
    return vec3(a.p[0][0], a.p[0][1], a.p[1][0]);
}

static inline hn_vec3 six_second(six a)
{
    return vec3(a.p[1][1], a.p[2][0], a.p[2][1]);
}

static inline six six_add(six a, six b)
{
    return (six){{a.p[0] + b.p[0], a.p[1] + b.p[1], a.p[2] + b.p[2]}};
}

/// a + s b
static inline six six_add_scaled(six a, double s, six b)
{
    return (six){{a.p[0] + s * b.p[0], a.p[1] + s * b.p[1], a.p[2] + s * b.p[2]}};
}

static inline six six_scale(double s, six a)
{
    return (six){{s * a.p[0], s * a.p[1], s * a.p[2]}};
}

#endif
