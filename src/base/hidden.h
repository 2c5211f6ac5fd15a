// SPDX-License-Identifier: MIT
// Characters of texts from files that no terminal should get: controls, and those that turn the direction of a line.
#ifndef BASE_HIDDEN_H
#define BASE_HIDDEN_H

#include <stdbool.h>

/// Is there a control character in it, C0, delete or C1?
bool hidden_has_control(const char *text);

#endif
