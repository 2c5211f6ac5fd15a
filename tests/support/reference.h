// SPDX-License-Identifier: MIT
// Reads the reference solutions under tests/reference (JSON).
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <stdbool.h>

typedef struct reference reference;

/// Read a file; a path that does not begin with '/' is under tests/reference of the source tree ("pendulum.json").
/// Fails the test when the file cannot be read.
reference *reference_load(const char *path);
void reference_destroy(reference *ref);

/// Numbers at a place such as "/reference/q/values" or "/bodies/0/q0"; nested arrays are flattened in file order.
/// Returns how many there are; at most `capacity` are stored. Fails the test when the place does not exist.
int reference_numbers(const reference *ref, const char *place, double *out, int capacity);

/// One number. Fails the test when the place does not hold exactly one.
double reference_number(const reference *ref, const char *place);

/// Whether the place exists.
bool reference_has(const reference *ref, const char *place);

#endif
