// SPDX-License-Identifier: MIT
// Numbers as text: short, exact, with a point in every locale.
#define _GNU_SOURCE // newlocale, strtod_l: a decimal point whatever the locale of the program
#include "base/number_text.h"

#include <locale.h>
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

bool number_read(const char *text, double *value)
{
    char *end = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    *value = strtod_l(text, &end, plain);
    freelocale(plain);
    return end != text && *end == '\0' && isfinite(*value);
}
