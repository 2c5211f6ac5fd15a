// SPDX-License-Identifier: MIT
// Structs of callers that begin with their size.
#include "base/sized.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void sized_fill(void *to, size_t size, const void *known, size_t known_size)
{
    if (to == NULL) return;
    memset(to, 0, size);
    memcpy(to, known, smaller(size, known_size));
}

hn_status sized_read(hn_context *context, const char *name, const void *given, void *own,
                     size_t own_size)
{
    size_t size = 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "%s: its size is %zu; begin with what %s_default returns", name, size,
                            name);
    const unsigned char *bytes = given;
    for (size_t i = own_size; i < size; ++i)
        if (bytes[i] != 0)
            return context_fail(context, HN_INVALID_ARGUMENT,
                                "%s: byte %zu of %zu is set, but version %s of the library knows "
                                "the first %zu only; leave later fields as %s_default has them",
                                name, i, size, hn_version(), own_size, name);
    memcpy(own, given, smaller(size, own_size));
    memcpy(own, &own_size, sizeof own_size);
    return HN_OK;
}
