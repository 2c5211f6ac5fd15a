// SPDX-License-Identifier: MIT
// One block of memory laid out by one function that runs twice: first to count, then to place.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/context.h"

typedef struct arena {
    char *block; ///< NULL while counting
    size_t used; ///< bytes
} arena;

/// Next part of the arena, 64-byte aligned; NULL while counting.
static inline void *arena_bytes(arena *a, size_t size)
{
    void *place = a->block == NULL ? NULL : a->block + a->used;
    a->used += (size + 63) / 64 * 64;
    return place;
}

static inline double *arena_doubles(arena *a, size_t count)
{
    return arena_bytes(a, count * sizeof(double));
}

static inline int *arena_ints(arena *a, size_t count)
{
    return arena_bytes(a, count * sizeof(int));
}

#endif
