// SPDX-License-Identifier: MIT
// Context: allocator, message of the last failure, log callback; names and sentences of the status codes.
#include "base/context.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024, ALIGNMENT = 64 };

struct hn_context {
    hn_allocator allocator;
    hn_log_function log;
    void *log_user;
    int owner_count;       // the caller, models, simulations, result files
    uint32_t tag_count;    // tags given out
    int cancellable_depth; // calls under way that may stop in the middle
    atomic_bool cancelled;
    char message[MESSAGE_SIZE];
};

static void *default_allocate(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void default_release(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

#define STRINGIFY(x) #x
#define VERSION_TEXT(major, minor, patch) STRINGIFY(major) "." STRINGIFY(minor) "." STRINGIFY(patch)

const char *hn_version(void)
{
    return VERSION_TEXT(HN_VERSION_MAJOR, HN_VERSION_MINOR, HN_VERSION_PATCH);
}

int hn_version_number(void)
{
    return 10000 * HN_VERSION_MAJOR + 100 * HN_VERSION_MINOR + HN_VERSION_PATCH;
}

bool hn_status_from_name(const char *name, hn_status *status)
{
    static const char *const names[] = {
#define STATUS_WORD(code, sentence) #code,
        HN_STATUS_LIST(STATUS_WORD)
#undef STATUS_WORD
    };
    for (size_t i = 0; name != NULL && status != NULL && i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(name, names[i]) != 0) continue;
        *status = (hn_status)i;
        return true;
    }
    return false;
}

const char *hn_status_name(hn_status status)
{
    switch (status) {
#define STATUS_NAME(code, sentence)                                                                \
    case code: return #code;
        HN_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "unknown status";
}

const char *hn_status_sentence(hn_status status)
{
    switch (status) {
#define STATUS_SENTENCE(code, sentence)                                                            \
    case code: return sentence;
        HN_STATUS_LIST(STATUS_SENTENCE)
#undef STATUS_SENTENCE
    }
    return "unknown status";
}

hn_context *hn_context_create(const hn_allocator *allocator)
{
    hn_allocator chosen = {default_allocate, default_release, NULL};
    if (allocator != NULL) chosen = *allocator;
    if (chosen.allocate == NULL || chosen.release == NULL) return NULL;
    hn_context *context = chosen.allocate(sizeof *context, chosen.user);
    if (context == NULL) return NULL;
    memset(context, 0, sizeof *context);
    context->allocator = chosen;
    context->owner_count = 1;
    atomic_init(&context->cancelled, false);
    return context;
}

void hn_context_destroy(hn_context *context)
{
    if (context != NULL) context_drop(context);
}

hn_context *context_retain(hn_context *context)
{
    context->owner_count++;
    return context;
}

void context_drop(hn_context *context)
{
    if (--context->owner_count > 0) return;
    hn_allocator allocator = context->allocator;
    allocator.release(context, allocator.user);
}

hn_allocator context_allocator(const hn_context *context)
{
    return context->allocator;
}

uint32_t context_new_tag(hn_context *context)
{
    // contexts lie at different places, models of one context have different numbers
    uint32_t tag = (uint32_t)((uintptr_t)context >> 4) * 2654435761u + ++context->tag_count;
    return tag == 0 ? 1 : tag;
}

const char *hn_context_message(const hn_context *context)
{
    return context == NULL ? "" : context->message;
}

void hn_context_set_log(hn_context *context, hn_log_function function, void *user)
{
    if (context == NULL) return;
    context->log = function;
    context->log_user = user;
}

void hn_context_cancel(hn_context *context)
{
    if (context != NULL) atomic_store_explicit(&context->cancelled, true, memory_order_relaxed);
}

void context_begin_cancellable(hn_context *context)
{
    context->cancellable_depth++;
}

void context_end_cancellable(hn_context *context)
{
    context->cancellable_depth--;
}

bool context_is_cancelled(const hn_context *context)
{
    return context->cancellable_depth > 0 &&
           atomic_load_explicit(&context->cancelled, memory_order_relaxed);
}

bool context_take_cancel(hn_context *context)
{
    if (!atomic_load_explicit(&context->cancelled, memory_order_relaxed)) return false;
    return atomic_exchange(&context->cancelled, false);
}

hn_status context_refuse(hn_context *context, const char *function, const char *condition)
{
    if (context == NULL) return HN_INVALID_ARGUMENT;
    return context_fail(context, HN_INVALID_ARGUMENT, "%s: expected %s", function, condition);
}

// Names and files may hold control characters; a message shows them as \xNN or \uNNNN, so that they reach no terminal.
static void show_controls(const char *text, char *shown, size_t size)
{
    size_t used = 0;
    while (*text != '\0' && used + HN_HIDDEN_SHOWN_MAX < size) {
        size_t length = hn_hidden_character(text, shown + used);
        if (length > 0) used += strlen(shown + used);
        else shown[used++] = *text;
        text += length > 0 ? length : 1;
    }
    shown[used] = '\0';
}

hn_status context_fail(hn_context *context, hn_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char line[MESSAGE_SIZE];
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    show_controls(line, context->message, sizeof context->message);
    return status;
}

hn_log_function context_log_function(const hn_context *context, void **user)
{
    *user = context->log_user;
    return context->log;
}

void context_log(hn_context *context, const char *format, ...)
{
    if (context->log == NULL) return;
    char line[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    char shown[MESSAGE_SIZE];
    show_controls(line, shown, sizeof shown);
    context->log(shown, context->log_user);
}

// The allocator's own pointer is kept just below the aligned block.
void *context_allocate(hn_context *context, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT - sizeof(void *)) {
        context_fail(context, HN_OUT_OF_MEMORY, "a block of %zu bytes is too large", size);
        return NULL;
    }
    char *raw =
        context->allocator.allocate(size + ALIGNMENT + sizeof(void *), context->allocator.user);
    if (raw == NULL) {
        context_fail(context, HN_OUT_OF_MEMORY, "no memory for a block of %zu bytes", size);
        return NULL;
    }
    uintptr_t address = (uintptr_t)raw + sizeof(void *);
    char *aligned = raw + sizeof(void *) + (ALIGNMENT - address % ALIGNMENT) % ALIGNMENT;
    memcpy(aligned - sizeof(void *), &raw, sizeof raw);
    memset(aligned, 0, size);
    return aligned;
}

void context_release(hn_context *context, void *pointer)
{
    if (pointer == NULL) return;
    void *raw;
    memcpy(&raw, (char *)pointer - sizeof(void *), sizeof raw);
    context->allocator.release(raw, context->allocator.user);
}

hn_status context_grow(hn_context *context, void **array, int *capacity, int needed,
                       size_t element_size)
{
    if (needed <= *capacity) return HN_OK;
    int larger = *capacity < 8 ? 8 : *capacity;
    while (larger < needed) {
        if (larger > INT32_MAX / 2)
            return context_fail(context, HN_OUT_OF_MEMORY, "more than %d elements", larger);
        larger *= 2;
    }
    void *moved = context_allocate(context, (size_t)larger * element_size);
    if (moved == NULL) return HN_OUT_OF_MEMORY;
    if (*array != NULL) memcpy(moved, *array, (size_t)*capacity * element_size);
    context_release(context, *array);
    *array = moved;
    *capacity = larger;
    return HN_OK;
}

char *context_copy_string(hn_context *context, const char *text)
{
    if (text == NULL) return NULL;
    size_t size = strlen(text) + 1;
    char *copy = context_allocate(context, size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}
