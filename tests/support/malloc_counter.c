// SPDX-License-Identifier: MIT
// Definitions of malloc and its relatives that count and hand on to the C library.
#include "support/malloc_counter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic int64_t allocations = 0;
static _Atomic int64_t releases = 0;

int64_t malloc_counter_allocations(void)
{
    return allocations;
}

int64_t malloc_counter_releases(void)
{
    return releases;
}

// Asking is the only way to know: valgrind puts its own malloc in front of ours at run time.
bool malloc_counter_works(void)
{
    int64_t before = allocations;
    // called through a pointer, so that the compiler does not take the definition below
    void *(*volatile take)(size_t) = malloc;
    void *block = take(1);
    bool counted = allocations > before;
    free(block);
    return counted;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MALLOC_IS_TAKEN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define MALLOC_IS_TAKEN 1
#endif

#ifndef MALLOC_IS_TAKEN

// the C library's own entry points
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

// not in C17's stdlib.h
void *memalign(size_t alignment, size_t size);
int posix_memalign(void **pointer, size_t alignment, size_t size);

void *malloc(size_t size)
{
    allocations += 1;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations += 1;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    allocations += 1;
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size)
{
    allocations += 1;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *pointer = block;
    return 0;
}

void free(void *pointer)
{
    if (pointer != NULL) releases += 1;
    __libc_free(pointer);
}

#endif
