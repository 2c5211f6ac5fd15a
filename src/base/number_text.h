// SPDX-License-Identifier: MIT
// Numbers as text, the same in every locale.
#ifndef BASE_NUMBER_TEXT_H
#define BASE_NUMBER_TEXT_H

#include <stdbool.h>

enum { NUMBER_TEXT_SIZE = 40 }; ///< a double with 17 digits in any locale

/// Shortest decimal that reads back as the same double; "nan", "inf" and "-inf" for what is none.
const char *number_text(double value, char text[NUMBER_TEXT_SIZE]);

/// A whole text as a finite number with a decimal point. False: it is none.
bool number_read(const char *text, double *value);

#endif
