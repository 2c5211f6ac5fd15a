// SPDX-License-Identifier: MIT
// Blocks of memory with one owner: taken one by one when their sizes are known, given back all at once.
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/context.h"

typedef struct pool {
    hn_context *context;
    void *last;  ///< block taken last, which knows the one before
    bool failed; ///< there was no memory for a block: no other was tried
} pool;

/// `count` things of `size` bytes and room for one more, zeroed, 64-byte aligned. NULL when there is no memory: whoever
/// takes several asks pool_status once.
void *pool_take(pool *p, size_t count, size_t size);

static inline double *pool_doubles(pool *p, size_t count)
{
    return pool_take(p, count, sizeof(double));
}

static inline int *pool_ints(pool *p, size_t count)
{
    return pool_take(p, count, sizeof(int));
}

/// HN_OK, or HN_OUT_OF_MEMORY where a block is missing.
static inline hn_status pool_status(const pool *p)
{
    return p->failed ? HN_OUT_OF_MEMORY : HN_OK;
}

/// Give all blocks back. Whether one was missing can still be asked.
void pool_release(pool *p);

#endif
