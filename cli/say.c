// SPDX-License-Identifier: MIT
// Lines for a person at a terminal.
#include "say.h"

#include <stdbool.h>
#include <stdlib.h>

void say_list(FILE *out, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return;
    // what is said when there is no memory is short
    char room[1024], *text = (size_t)length < sizeof room ? room : malloc((size_t)length + 1);
    if (text == NULL) return;
    vsnprintf(text, (size_t)length + 1, format, arguments);
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; ++c) {
        // C1 controls are two bytes in UTF-8: 0xC2, then 0x80 to 0x9F
        bool second = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0;
        if (second || (*c < 0x20 && *c != '\n') || *c == 0x7F)
            fprintf(out, "\\x%02X", second ? *++c : *c);
        else putc(*c, out);
    }
    if (text != room) free(text);
}

void say(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(out, format, arguments);
    va_end(arguments);
}
