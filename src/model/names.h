// SPDX-License-Identifier: MIT
// A table from names to numbers by hashing, so that models with very many elements stay quick to build.
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include "base/context.h"

typedef struct name_entry {
    const char *name; ///< not owned; NULL: free slot
    uint64_t hash;
    int value;
} name_entry;

/// Zero-initialised is an empty table.
typedef struct name_table {
    name_entry *entries; ///< capacity, a power of two
    int capacity;
    int count;
} name_table;

/// Value stored under `name`, or -1.
int name_table_find(const name_table *table, const char *name);

/// Store a value >= 0 under a name that is not in the table yet. The name must live as long as the table.
hn_status name_table_add(hn_context *context, name_table *table, const char *name, int value);

/// Make room for `extra` more names, so that adding them cannot fail.
hn_status name_table_reserve(hn_context *context, name_table *table, int extra);

/// Release the memory of a table; it is empty afterwards.
void name_table_clear(hn_context *context, name_table *table);

#endif
