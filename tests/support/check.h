// SPDX-License-Identifier: MIT
// Checks with numbers in their messages, and tests that register themselves; cmocka underneath.
//
//   TEST(rotation, cayley_map_is_orthonormal)
//   {
//       CHECK_BELOW(error, 1e-15); // measured 2.2e-16
//   }
//
// The program's argument is a name pattern such as "rotation/*"; HN_TEST_VERBOSE=1 prints every measured value.
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <holonom/base.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

/// Define a test; it runs without being listed anywhere else.
#define TEST(group, name)                                                                          \
    static void test_##group##_##name(void **unused);                                              \
    __attribute__((constructor)) static void register_##group##_##name(void)                       \
    {                                                                                              \
        test_register(#group "/" #name, test_##group##_##name);                                    \
    }                                                                                              \
    static void test_##group##_##name(void **unused __attribute__((unused)))

/// |value| < bound; NaN fails.
#define CHECK_BELOW(value, bound) check_below((value), (bound), #value, #bound, __FILE__, __LINE__)

/// |value - expected| <= tolerance; NaN fails.
#define CHECK_NEAR(value, expected, tolerance)                                                     \
    check_near((value), (expected), (tolerance), #value, __FILE__, __LINE__)

/// The condition holds.
#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)

/// Two integers are equal; both are printed when they are not.
#define CHECK_EQUAL(value, expected)                                                               \
    check_equal((int64_t)(value), (int64_t)(expected), #value, __FILE__, __LINE__)

/// Two strings are equal; both are printed when they are not.
#define CHECK_TEXT(text, expected) check_text((text), (expected), #text, __FILE__, __LINE__)

/// `part` occurs in `text`; both are printed when it does not.
#define CHECK_CONTAINS(text, part) check_contains((text), (part), #text, __FILE__, __LINE__)

/// The call returns HN_OK; otherwise status and message of the context are printed.
#define CHECK_OK(context, call) check_status((context), (call), HN_OK, #call, __FILE__, __LINE__)

/// The call returns the expected status.
#define CHECK_STATUS(context, call, expected)                                                      \
    check_status((context), (call), (expected), #call, __FILE__, __LINE__)

/// Print a measured value with HN_TEST_VERBOSE=1, for the comment beside a bound.
#define MEASURED(value) measured((value), #value, __FILE__, __LINE__)

void test_register(const char *name, CMUnitTestFunction function);
void check_below(double value, double bound, const char *value_text, const char *bound_text, const char *file,
                 int line);
void check_near(double value, double expected, double tolerance, const char *text, const char *file, int line);
void check_true(bool condition, const char *text, const char *file, int line);
void check_equal(int64_t value, int64_t expected, const char *text, const char *file, int line);
void check_text(const char *value, const char *expected, const char *text, const char *file, int line);
void check_contains(const char *value, const char *part, const char *text, const char *file, int line);
void check_status(const hn_context *context, hn_status status, hn_status expected, const char *text,
                  const char *file, int line);
void measured(double value, const char *text, const char *file, int line);

/// Schemes in the order of hn_scheme: energy-momentum and variational, whose promises are tested throughout, stand
/// first, then those that are solved by any reduction as well.
enum { PROMISE_SCHEME_COUNT = 2, REDUCTION_SCHEME_COUNT = 5 };

#endif
