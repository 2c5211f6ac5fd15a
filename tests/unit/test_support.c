// SPDX-License-Identifier: MIT
// The tests' own tools: the malloc counter and the reader of reference files.
#include "support/check.h"
#include "support/malloc_counter.h"
#include "support/reference.h"

#include <stdlib.h>

TEST(malloc_counter, sees_each_way_to_take_memory)
{
    if (!malloc_counter_works()) return;
    int64_t before = malloc_counter_allocations();
    int64_t released = malloc_counter_releases();
    void *volatile a = malloc(10);
    void *volatile b = calloc(3, 7);
    void *volatile c = realloc(a, 100);
    void *volatile d = aligned_alloc(64, 128);
    CHECK_EQUAL(malloc_counter_allocations() - before, 4);
    CHECK_EQUAL((uintptr_t)d % 64, 0);
    free(b);
    free(c);
    free(d);
    free(NULL);
    CHECK_EQUAL(malloc_counter_releases() - released, 3);
}

TEST(malloc_counter, sees_the_allocations_of_libraries)
{
    if (!malloc_counter_works()) return;
    int64_t before = malloc_counter_allocations();
    reference *ref = reference_load("pendulum.json");
    CHECK(malloc_counter_allocations() - before > 10);
    reference_destroy(ref);
}

TEST(reference, numbers_are_found_by_place_and_flattened)
{
    reference *ref = reference_load("pendulum.json");
    CHECK_NEAR(reference_number(ref, "/period"), 2.3678419475762373, 1e-15);
    double times[6];
    CHECK_EQUAL(reference_numbers(ref, "/times", times, 6), 6);
    CHECK_NEAR(times[5], 10.0, 0.0);
    double q[12];
    CHECK_EQUAL(reference_numbers(ref, "/reference/q/values", q, 12), 12);
    CHECK_NEAR(q[3], -0.920369948785192, 0.0);
    CHECK_EQUAL(reference_numbers(ref, "/reference/q/values/1", q, 1),
                2); // counts all, stores what fits
    CHECK_NEAR(q[0], 0.39104879155054645, 0.0);
    CHECK(reference_has(ref, "/parameters/g"));
    CHECK(!reference_has(ref, "/parameters/nothing"));
    reference_destroy(ref);
}
