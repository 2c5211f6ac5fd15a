// SPDX-License-Identifier: MIT
// The context seen from inside the library: allocation, failure messages, log lines.
#ifndef BASE_CONTEXT_H
#define BASE_CONTEXT_H

#include <holonom/base.h>

/// Early return inside the library.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        hn_status try_status = (call);                                                             \
        if (try_status != HN_OK) return try_status;                                                \
    } while (0)

/// Record a message on the context and return `status`.
HN_PRINTF(3, 4) hn_status context_fail(hn_context *context, hn_status status, const char *format, ...);

/// Send a line to the log callback, if there is one.
HN_PRINTF(2, 3) void context_log(hn_context *context, const char *format, ...);

/// Zeroed memory from the context's allocator, 64-byte aligned; NULL when there is none (the message is set).
void *context_allocate(hn_context *context, size_t size);

/// Release memory from context_allocate; NULL is fine.
void context_release(hn_context *context, void *pointer);

/// Grow an array to hold at least `needed` elements; contents are kept, new space is zeroed.
hn_status context_grow(hn_context *context, void **array, int *capacity, int needed, size_t element_size);

/// Copy of a string in context memory, or NULL when out of memory or `text` is NULL.
char *context_copy_string(hn_context *context, const char *text);

#endif
