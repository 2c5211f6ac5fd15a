// SPDX-License-Identifier: MIT
// Files that a command writes: complete under their name, or not at all, and never over what the command reads.
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>

/// Name to write to until the output is complete: a new file beside `path`; `path` itself for devices, pipes and links,
/// which are written through. Owned by the caller; NULL: no memory.
char *output_temporary(const char *path);

/// Give the output its name when it was written completely, otherwise remove it. False: errno says why it has not got
/// its name. Frees `temporary`.
bool output_settle(char *temporary, const char *path, bool complete);

/// Where output goes unless told: the name of the file that is read, without folder and ending, and `ending` behind it.
/// Owned by the caller; NULL: no memory.
char *output_default(const char *input, const char *ending);

/// Do both names lead to one file, through links of any kind? False when one of them leads to none.
bool is_same_file(const char *one, const char *other);

/// Would output to `path` (or to its .part or .checkpoint, where results are written) go over the file `input`? Says
/// so.
bool complain_output_is_input(const char *path, const char *input);

#endif
