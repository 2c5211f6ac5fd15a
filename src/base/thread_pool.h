// SPDX-License-Identifier: MIT
// A few threads that share out independent pieces of work; the calling thread is one of them.
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include "base/context.h"

typedef struct thread_pool thread_pool;

/// One piece: entries [first, end), done by worker 0 (the caller) to thread_count - 1. False: nothing more shall begin.
typedef bool (*pool_work)(void *user, int worker, size_t first, size_t end);

/// @return HN_OK, HN_OUT_OF_MEMORY (also where the system gives no more threads)
hn_status thread_pool_create(hn_context *context, int thread_count, thread_pool **pool);
/// NULL is fine.
void thread_pool_destroy(thread_pool *pool);

/// Do `count` entries in pieces of at most `piece`, in any order and at the same time; returns when all are done.
/// Which worker does which piece is left to chance: the outcome of an entry must not depend on it.
void thread_pool_run(thread_pool *pool, size_t count, size_t piece, pool_work work, void *user);

/// Processors of this machine that the process may use, at least 1.
int thread_pool_processors(void);

#endif
