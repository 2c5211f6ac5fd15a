// SPDX-License-Identifier: MIT
// The checks of check.h: each prints expression, value and bound before it fails.
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measured(double value, const char *text, const char *file, int line)
{
    const char *verbose = getenv("HN_TEST_VERBOSE");
    if (verbose == NULL || verbose[0] == '\0' || verbose[0] == '0') return;
    const char *name = strrchr(file, '/');
    printf("    %s:%d: %s = %.3g\n", name == NULL ? file : name + 1, line, text, value);
    fflush(stdout);
}

void check_below(double value, double bound, const char *value_text, const char *bound_text,
                 const char *file, int line)
{
    measured(value, value_text, file, line);
    if (fabs(value) < bound) return;
    print_error("|%s| = %.17g is not below %s = %.6g\n", value_text, fabs(value), bound_text,
                bound);
    _fail(file, line);
}

void check_near(double value, double expected, double tolerance, const char *text, const char *file,
                int line)
{
    measured(value, text, file, line);
    if (fabs(value - expected) <= tolerance) return;
    print_error("%s = %.17g, expected %.17g within %.3g (off by %.3g)\n", text, value, expected,
                tolerance, value - expected);
    _fail(file, line);
}

void check_true(bool condition, const char *text, const char *file, int line)
{
    if (condition) return;
    print_error("%s does not hold\n", text);
    _fail(file, line);
}

void check_equal(int64_t value, int64_t expected, const char *text, const char *file, int line)
{
    if (value == expected) return;
    print_error("%s = %lld, expected %lld\n", text, (long long)value, (long long)expected);
    _fail(file, line);
}

void check_text(const char *value, const char *expected, const char *text, const char *file,
                int line)
{
    if (value != NULL && expected != NULL && strcmp(value, expected) == 0) return;
    if (value == NULL && expected == NULL) return;
    print_error("%s is \"%s\", expected \"%s\"\n", text, value == NULL ? "(NULL)" : value,
                expected == NULL ? "(NULL)" : expected);
    _fail(file, line);
}

void check_contains(const char *value, const char *part, const char *text, const char *file,
                    int line)
{
    if (value != NULL && strstr(value, part) != NULL) return;
    print_error("%s is \"%s\", expected to contain \"%s\"\n", text,
                value == NULL ? "(NULL)" : value, part);
    _fail(file, line);
}

void check_status(const hn_context *context, hn_status status, hn_status expected, const char *text,
                  const char *file, int line)
{
    if (status == expected) return;
    print_error("%s returned %s, expected %s: %s\n", text, hn_status_name(status),
                hn_status_name(expected), context == NULL ? "" : hn_context_message(context));
    _fail(file, line);
}
