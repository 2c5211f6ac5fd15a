// SPDX-License-Identifier: MIT
// Numbers as text: short, exact, with a point in every locale.
#include "io/number_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

const char *number_text(double value, char text[NUMBER_TEXT_SIZE])
{
    if (!isfinite(value)) return isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf";
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    // the locale's decimal separator, whatever its length, becomes a point
    bool separator = false;
    char *to = text;
    for (const char *c = text; *c != '\0'; ++c) {
        bool ordinary = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (ordinary) *to++ = *c;
        else if (!separator) *to++ = '.';
        separator = !ordinary;
    }
    *to = '\0';
    return text;
}
