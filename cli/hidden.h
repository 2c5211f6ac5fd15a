// SPDX-License-Identifier: MIT
// As src/base/hidden.h, which is not public: characters of texts from files that no terminal should get: controls, and
// those that turn lines.
#ifndef HIDDEN_H
#define HIDDEN_H

#include <stdbool.h>
#include <stddef.h>

enum { HIDDEN_SHOWN_MAX = 7 }; ///< characters that one is shown by, and the end
enum { HIDDEN_CONTROL_MAX = 0x9F }; ///< C0, delete and C1; above are line separators and bidirectional controls

/// Bytes of the hidden character that begins at `text`, UTF-8, and its number; 0: what begins there may be shown.
static inline size_t hidden_character(const char *text, unsigned *number)
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
    bool turns = (c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE))) ||
                 (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9);
    *number = 0x2000U | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU);
    return turns ? 3 : 0;
}

/// How it is shown: \x1B, \u202E.
static inline const char *hidden_format(unsigned number)
{
    return number <= HIDDEN_CONTROL_MAX ? "\\x%02X" : "\\u%04X";
}

#endif
