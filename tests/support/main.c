// SPDX-License-Identifier: MIT
// Runs the tests that registered themselves; linked only into programs that define no main of their own.
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TESTS_MAX = 512 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count = 0;

void test_register(const char *name, CMUnitTestFunction function)
{
    if (test_count == TESTS_MAX) {
        fprintf(stderr, "more than %d tests in one program\n", TESTS_MAX);
        abort();
    }
    tests[test_count++] = (struct CMUnitTest){.name = name, .test_func = function};
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 1) cmocka_set_test_filter(arguments[1]);
    const char *slash = strrchr(arguments[0], '/');
    return _cmocka_run_group_tests(slash == NULL ? arguments[0] : slash + 1, tests, test_count,
                                   NULL, NULL);
}
