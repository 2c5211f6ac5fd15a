// SPDX-License-Identifier: MIT
// Counts every allocation of the program, those of libraries included, by standing in for malloc.
//
// A test that includes this header is linked with its own malloc. Under sanitizers and valgrind, which own
// malloc, nothing is counted and malloc_counter_works() is false.
#ifndef TESTS_MALLOC_COUNTER_H
#define TESTS_MALLOC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

bool malloc_counter_works(void);

/// Calls that took memory since the program started: malloc, calloc, realloc, aligned_alloc and its relatives.
int64_t malloc_counter_allocations(void);

/// Calls of free with a pointer other than NULL since the program started.
int64_t malloc_counter_releases(void);

#endif
