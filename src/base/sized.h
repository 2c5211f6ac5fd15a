// SPDX-License-Identifier: MIT
// Structs of callers that begin with their size, so that later versions can add fields at their end.
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/context.h"

/// Fill a caller's struct of `size` bytes from one this library knows, which begins with the caller's size: fields
/// beyond the caller's are left out, those that only the caller knows are zero. NULL is fine.
void sized_fill(void *to, size_t size, const void *known, size_t known_size);

/// Copy a caller's struct over `own`, which holds defaults and its own size: fields that the caller does not know keep
/// their defaults; those that this library does not know must be zero. `name` is for messages.
hn_status sized_read(hn_context *context, const char *name, const void *given, void *own, size_t own_size);

/// Let `def`, a parameter, point to a copy that has all fields this library knows; `defaults` has those of its kind.
#define OWN_COPY(context, type, def, defaults)                                                     \
    type own_##def = defaults;                                                                     \
    TRY(sized_read(context, #type, def, &own_##def, sizeof own_##def));                            \
    def = &own_##def

#endif
