// SPDX-License-Identifier: MIT
// Lines for a person at a terminal.
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdarg.h>
#include <stdio.h>

/// As fprintf; control characters other than the end of a line are shown as \xNN: names of files and words of a command
/// line may hold any, and none reaches the terminal.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void say(FILE *out, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
void say_list(FILE *out, const char *format, va_list arguments);

#endif
