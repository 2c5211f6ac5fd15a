// SPDX-License-Identifier: MIT
// Lines for a person at a terminal.
#include "say.h"

#include <holonom/holonom.h>

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
    for (const char *c = text; *c != '\0';) {
        char shown[HN_HIDDEN_SHOWN_MAX];
        size_t hidden = *c == '\n' ? 0 : hn_hidden_character(c, shown);
        if (hidden > 0) fputs(shown, out);
        else putc(*c, out);
        c += hidden > 0 ? hidden : 1;
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
