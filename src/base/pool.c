// SPDX-License-Identifier: MIT
// Blocks of memory with one owner, each with the one before in front of it.
#include "base/pool.h"

enum { FRONT = 64 }; // bytes: what follows stays aligned

void *pool_take(pool *p, size_t count, size_t size)
{
    void **block = p->failed ? NULL : context_allocate(p->context, FRONT + (count + 1) * size);
    if (block == NULL) {
        p->failed = true;
        return NULL;
    }
    *block = p->last;
    p->last = block;
    return (char *)block + FRONT;
}

void pool_release(pool *p)
{
    for (void *block = p->last, *before; block != NULL; block = before) {
        before = *(void **)block;
        context_release(p->context, block);
    }
    p->last = NULL;
}
