// SPDX-License-Identifier: MIT
// Preloaded into the tool: the allocation of the tool or its library with the number HN_FAIL_AT fails. Allocations of
// other libraries are left alone. HN_FAIL_REPORT names a file that gets the number of allocations counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);

static long counted, fail_at = -1;

// Does the tool or its library ask?
static bool is_ours(const void *caller)
{
    Dl_info object;
    if (dladdr(caller, &object) == 0 || object.dli_fname == NULL) return false;
    const char *name = strrchr(object.dli_fname, '/');
    name = name == NULL ? object.dli_fname : name + 1;
    return strncmp(name, "libholonom", 10) == 0 || strcmp(name, "holonom") == 0;
}

static bool fails(const void *caller)
{
    if (fail_at < 0) {
        const char *text = getenv("HN_FAIL_AT");
        fail_at = text == NULL ? 0 : atol(text);
    }
    return is_ours(caller) && ++counted == fail_at;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(pointer, size);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("HN_FAIL_REPORT");
    int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char text[32];
    if (file < 0) return;
    int length = snprintf(text, sizeof text, "%ld", counted);
    if (write(file, text, (size_t)length) != length) (void)unlink(path);
    close(file);
}
