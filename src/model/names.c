// SPDX-License-Identifier: MIT
// Name table: open addressing with linear probing, at most half full; FNV-1a hash.
#include "model/names.h"

#include <string.h>

enum { SMALLEST_CAPACITY = 16 };

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (const unsigned char *c = (const unsigned char *)name; *c != 0; ++c)
        hash = (hash ^ *c) * 1099511628211u;
    return hash ^ (hash >> 32);
}

// The slot that holds `name`, or the free slot where it belongs.
static int slot_of(const name_entry *entries, int capacity, const char *name, uint64_t hash)
{
    uint64_t mask = (uint64_t)capacity - 1;
    uint64_t slot = hash & mask;
    while (entries[slot].name != NULL &&
           (entries[slot].hash != hash || strcmp(entries[slot].name, name) != 0))
        slot = (slot + 1) & mask;
    return (int)slot;
}

int name_table_find(const name_table *table, const char *name)
{
    if (table->count == 0) return -1;
    const name_entry *entry =
        &table->entries[slot_of(table->entries, table->capacity, name, hash_of(name))];
    return entry->name == NULL ? -1 : entry->value;
}

static hn_status enlarge(hn_context *context, name_table *table)
{
    if (table->capacity > INT32_MAX / 2)
        return context_fail(context, HN_OUT_OF_MEMORY, "more than %d names", table->count);
    int larger = table->capacity == 0 ? SMALLEST_CAPACITY : 2 * table->capacity;
    name_entry *entries = context_allocate(context, (size_t)larger * sizeof *entries);
    if (entries == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < table->capacity; ++i) {
        const name_entry *entry = &table->entries[i];
        if (entry->name != NULL)
            entries[slot_of(entries, larger, entry->name, entry->hash)] = *entry;
    }
    context_release(context, table->entries);
    table->entries = entries;
    table->capacity = larger;
    return HN_OK;
}

hn_status name_table_reserve(hn_context *context, name_table *table, int extra)
{
    while (2 * ((int64_t)table->count + extra) > table->capacity) TRY(enlarge(context, table));
    return HN_OK;
}

hn_status name_table_add(hn_context *context, name_table *table, const char *name, int value)
{
    if (2 * table->count >= table->capacity) TRY(enlarge(context, table));
    uint64_t hash = hash_of(name);
    name_entry *entry = &table->entries[slot_of(table->entries, table->capacity, name, hash)];
    *entry = (name_entry){.name = name, .hash = hash, .value = value};
    table->count += 1;
    return HN_OK;
}

void name_table_clear(hn_context *context, name_table *table)
{
    context_release(context, table->entries);
    *table = (name_table){0};
}
