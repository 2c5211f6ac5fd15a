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

/// Early return for arguments that no caller can mean; the message names the function. `context` may be NULL.
#define REQUIRE(context, condition)                                                                \
    do {                                                                                           \
        if (!(condition)) return context_refuse(context, __func__, #condition);                    \
    } while (0)

/// HN_INVALID_ARGUMENT with the condition that `function` expected; no message when `context` is NULL.
hn_status context_refuse(hn_context *context, const char *function, const char *condition);

/// One more owner of the context, and one fewer: the last one frees it.
hn_context *context_retain(hn_context *context);
void context_drop(hn_context *context);

/// Where its memory comes from.
hn_allocator context_allocator(const hn_context *context);

/// A number other than zero that no other model of this context has, and hardly one of another context.
uint32_t context_new_tag(hn_context *context);

/// Record a message on the context and return `status`.
HN_PRINTF(3, 4) hn_status context_fail(hn_context *context, hn_status status, const char *format, ...);

/// Long calls stop in the middle only where they say so: between these two, context_is_cancelled tells whether to.
void context_begin_cancellable(hn_context *context);
void context_end_cancellable(hn_context *context);
bool context_is_cancelled(const hn_context *context);
/// Was a stop asked for? Forget it then.
bool context_take_cancel(hn_context *context);

/// Send a line to the log callback, if there is one.
HN_PRINTF(2, 3) void context_log(hn_context *context, const char *format, ...);

/// The log callback, to be set again by hn_context_set_log.
hn_log_function context_log_function(const hn_context *context, void **user);

/// Zeroed memory from the context's allocator, 64-byte aligned; NULL when there is none (the message is set).
void *context_allocate(hn_context *context, size_t size);

/// Release memory from context_allocate; NULL is fine.
void context_release(hn_context *context, void *pointer);

/// Grow an array to hold at least `needed` elements; contents are kept, new space is zeroed.
hn_status context_grow(hn_context *context, void **array, int *capacity, int needed, size_t element_size);

/// Copy of a string in context memory, or NULL when out of memory or `text` is NULL.
char *context_copy_string(hn_context *context, const char *text);

#endif
