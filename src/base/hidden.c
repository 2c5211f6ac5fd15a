// SPDX-License-Identifier: MIT
// Characters of texts from files that no terminal should get: controls, and those that turn the direction of a line.
#include "base/hidden.h"

#include <holonom/base.h>

#include <stdio.h>

enum {
    CONTROL_MAX = 0x9F
}; // C0, delete and C1; above are line separators and bidirectional controls

// Bytes and number of the hidden character that begins at `text`; 0: what begins there may be shown.
static size_t find_hidden(const char *text, unsigned *number)
{
    const unsigned char *c = (const unsigned char *)text;
    *number = c[0];
    if (c[0] != 0 && (c[0] < 0x20 || c[0] == 0x7F)) return 1;
    if (c[0] < 0xC2 || c[1] == 0) return 0;
    *number = (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU);
    if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) return 2; // C1
    if (c[0] == 0xD8 && c[1] == 0x9C) return 2;                // U+061C
    if (c[0] != 0xE2) return 0;
    // U+200E, U+200F, U+2028 to U+202E; U+2066 to U+2069
    bool turns =
        (c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE))) ||
        (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9);
    *number = 0x2000U | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU);
    return turns ? 3 : 0;
}

size_t hn_hidden_character(const char *text, char *shown)
{
    unsigned number = 0;
    size_t length = text == NULL ? 0 : find_hidden(text, &number);
    if (length == 0) {
        if (shown != NULL) shown[0] = '\0';
    } else if (shown != NULL) {
        snprintf(shown, HN_HIDDEN_SHOWN_MAX, number <= CONTROL_MAX ? "\\x%02X" : "\\u%04X", number);
    }
    return length;
}

bool hidden_has_control(const char *text)
{
    unsigned number;
    for (; *text != '\0'; ++text)
        if (find_hidden(text, &number) > 0 && number <= CONTROL_MAX) return true;
    return false;
}
