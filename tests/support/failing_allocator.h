// SPDX-License-Identifier: MIT
// An allocator for hn_context_create that counts, and fails the k-th request.
#ifndef TESTS_FAILING_ALLOCATOR_H
#define TESTS_FAILING_ALLOCATOR_H

#include <holonom/base.h>

typedef struct failing_allocator {
    int64_t requests; ///< calls of allocate so far
    int64_t fail_at;  ///< this request and no other gets NULL, the first is 1; 0: none fails
    int64_t live;     ///< blocks not yet released
    int64_t failures; ///< requests that got NULL
} failing_allocator;

/// The allocator to hand to hn_context_create; `state` must outlive the context.
hn_allocator failing_allocator_make(failing_allocator *state);

/// One attempt: do the work with this context, release what it made, and return its status.
typedef hn_status (*failing_attempt)(hn_context *context, void *user);

/// Run `attempt` with each allocation failing in turn until it succeeds without a failure. Checks after every attempt
/// that a failure was reported as HN_OUT_OF_MEMORY with a message, that nothing leaked, and that the same context then
/// succeeds. Returns the number of allocations that were made to fail.
int64_t check_every_allocation_failing(failing_attempt attempt, void *user);

#endif
