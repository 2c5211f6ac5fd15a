// SPDX-License-Identifier: MIT
// The failing allocator and the loop that makes each allocation fail in turn.
#include "support/failing_allocator.h"

#include "support/check.h"

#include <stdlib.h>

static void *allocate(size_t size, void *user)
{
    failing_allocator *state = user;
    state->requests += 1;
    if (state->requests == state->fail_at) {
        state->failures += 1;
        return NULL;
    }
    void *block = malloc(size);
    if (block != NULL) state->live += 1;
    return block;
}

static void release(void *pointer, void *user)
{
    failing_allocator *state = user;
    state->live -= 1;
    free(pointer);
}

hn_allocator failing_allocator_make(failing_allocator *state)
{
    return (hn_allocator){allocate, release, state};
}

int64_t check_every_allocation_failing(failing_attempt attempt, void *user)
{
    // request 1 is the context itself
    failing_allocator first = {.fail_at = 1};
    hn_allocator first_allocator = failing_allocator_make(&first);
    CHECK(hn_context_create(&first_allocator) == NULL);

    for (int64_t k = 2;; ++k) {
        failing_allocator state = {.fail_at = k};
        hn_allocator allocator = failing_allocator_make(&state);
        hn_context *context = hn_context_create(&allocator);
        CHECK(context != NULL);
        hn_status status = attempt(context, user);
        CHECK_EQUAL(state.live, 1); // the context alone is left
        if (state.failures == 0) {
            CHECK_OK(context, status);
            hn_context_destroy(context);
            CHECK_EQUAL(state.live, 0);
            return k - 2;
        }
        CHECK_STATUS(context, status, HN_OUT_OF_MEMORY);
        CHECK(hn_context_message(context)[0] != '\0');

        // the context stays usable
        CHECK_OK(context, attempt(context, user));
        CHECK_EQUAL(state.live, 1);
        hn_context_destroy(context);
        CHECK_EQUAL(state.live, 0);
    }
}
