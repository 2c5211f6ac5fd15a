// SPDX-License-Identifier: MIT
// Hash of bytes (64-bit FNV-1a), to tell files and snapshots apart; not against forgers.
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t HASH_START = 14695981039346656037u;

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

static inline uint64_t hash_doubles(uint64_t hash, const double *x, size_t count)
{
    return hash_bytes(hash, x, count * sizeof *x);
}

static inline uint64_t hash_integer(uint64_t hash, int64_t x)
{
    return hash_bytes(hash, &x, sizeof x);
}

/// With the end of the string, so that neighbours do not run together; NULL is another string than "".
static inline uint64_t hash_string(uint64_t hash, const char *text)
{
    return text == NULL ? hash_integer(hash, -1) : hash_bytes(hash, text, strlen(text) + 1);
}

#endif
