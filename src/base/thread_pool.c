// SPDX-License-Identifier: MIT
// Threads that sleep between jobs, after a short look whether the next one follows at once: to be woken takes longer
// than a small job. A job is a range of entries; workers take the next piece from a counter.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "base/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct pool_thread {
    thread_pool *pool;
    int worker;
    pthread_t handle;
} pool_thread;

struct thread_pool {
    hn_context *context;
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    int thread_count; // beside the caller
    pool_thread *threads;
    // written under the mutex, looked at without
    atomic_uint_least64_t job; // counts the jobs
    atomic_int busy;           // threads that have not finished it
    atomic_bool closing;
    // of the job; written before it begins
    size_t count, piece;
    pool_work work;
    void *user;
    atomic_size_t next;
};

static void take_pieces(thread_pool *pool, int worker)
{
    for (;;) {
        size_t first = atomic_fetch_add_explicit(&pool->next, pool->piece, memory_order_relaxed);
        if (first >= pool->count) return;
        size_t left = pool->count - first, size = left < pool->piece ? left : pool->piece;
        if (!pool->work(pool->user, worker, first, first + size))
            atomic_store_explicit(&pool->next, pool->count, memory_order_relaxed);
    }
}

enum { LOOKS = 4000 }; // some 10 microseconds

static void *thread_main(void *user)
{
    const pool_thread *thread = user;
    thread_pool *pool = thread->pool;
    uint64_t done = 0;
    for (;;) {
        for (int k = 0; k < LOOKS && pool->job == done && !pool->closing; ++k) continue;
        pthread_mutex_lock(&pool->mutex);
        while (pool->job == done && !pool->closing) pthread_cond_wait(&pool->begin, &pool->mutex);
        bool closing = pool->closing;
        done = pool->job;
        pthread_mutex_unlock(&pool->mutex);
        if (closing) return NULL;
        take_pieces(pool, thread->worker);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) pthread_cond_signal(&pool->end);
        pthread_mutex_unlock(&pool->mutex);
    }
}

hn_status thread_pool_create(hn_context *context, int thread_count, thread_pool **out)
{
    *out = NULL;
    thread_pool *pool = context_allocate(context, sizeof *pool);
    if (pool == NULL) return HN_OUT_OF_MEMORY;
    pool->context = context;
    size_t others = thread_count > 1 ? (size_t)thread_count - 1 : 0;
    pool->threads = context_allocate(context, others * sizeof *pool->threads);
    if (pool->threads == NULL) {
        context_release(context, pool);
        return HN_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    atomic_init(&pool->next, 0);
    atomic_init(&pool->job, 0);
    atomic_init(&pool->busy, 0);
    atomic_init(&pool->closing, false);
    for (size_t i = 0; i < others; ++i) {
        pool_thread *thread = &pool->threads[i];
        *thread = (pool_thread){.pool = pool, .worker = (int)i + 1};
        if (pthread_create(&thread->handle, NULL, thread_main, thread) != 0) {
            thread_pool_destroy(pool);
            return context_fail(context, HN_OUT_OF_MEMORY,
                                "the system gives no more than %zu threads", i + 1);
        }
        pool->thread_count++;
    }
    *out = pool;
    return HN_OK;
}

void thread_pool_destroy(thread_pool *pool)
{
    if (pool == NULL) return;
    hn_context *context = pool->context;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->thread_count; ++i) pthread_join(pool->threads[i].handle, NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->mutex);
    context_release(context, pool->threads);
    context_release(context, pool);
}

void thread_pool_run(thread_pool *pool, size_t count, size_t piece, pool_work work, void *user)
{
    pthread_mutex_lock(&pool->mutex);
    pool->count = count;
    pool->piece = piece > 0 ? piece : 1;
    pool->work = work;
    pool->user = user;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->thread_count;
    pool->job++;
    if (pool->thread_count > 0) pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    take_pieces(pool, 0);
    for (int k = 0; k < LOOKS && pool->busy > 0; ++k) continue;
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) pthread_cond_wait(&pool->end, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

int thread_pool_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (int)count : 1;
}
