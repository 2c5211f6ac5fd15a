// SPDX-License-Identifier: MIT
// Files that a command writes: complete under their name, or not at all, and never over what the command reads.
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/// Name to write to until the output is complete: a new file beside `path`, or beside what it leads to where it is a
/// link; `path` itself for devices and pipes. Owned by the caller; NULL: no memory.
char *output_temporary(const char *path);

/// Give the output its name when it was written completely, otherwise remove it. False: errno says why it has not got
/// its name. Frees `temporary`.
bool output_settle(char *temporary, bool complete);

/// Where results go: to `chosen`, or unless told to the name of the file that is read, without folder and ending, and
/// `ending` behind it. Owned by the caller; NULL: no memory.
char *output_name(const char *chosen, const char *input, const char *ending);

/// Write a file by `write(what, file)`, complete or not at all; reports a failure and returns the exit code.
int output_write(const char *path, void (*write)(const void *what, FILE *file), const void *what);

/// Do both names lead to one file, through links of any kind? False when one of them leads to none.
bool is_same_file(const char *one, const char *other);

/// Would output to `path` (or to its .part, .checkpoint or .journal, where results are written) go over the file
/// `input`? Says so; the exit code is EXIT_FILE.
bool complain_output_is_input(const char *path, const char *input);

#endif
