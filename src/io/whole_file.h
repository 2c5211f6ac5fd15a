// SPDX-License-Identifier: MIT
// Files that are there whole or not at all: written beside their place, then given their name.
#ifndef IO_WHOLE_FILE_H
#define IO_WHOLE_FILE_H

#include "base/context.h"

#include <stdio.h>

/// Name to write to for a file that shall be `path`; devices, pipes and links are written through. NULL: no memory.
/// Refuses `path` when it leads to `input`, the file that is read.
hn_status whole_file_begin(hn_context *context, const char *path, const char *input, char **temporary);

/// Give it its name when `status` is HN_OK, otherwise remove it; releases `temporary` and returns how it went.
hn_status whole_file_end(hn_context *context, char *temporary, const char *path, hn_status status);

/// All of it for a stream that `put` writes to. A stream that stands for an open file (/dev/stdout) goes on where that
/// file is. What it did not take is a failure with its reason, whatever `put` made of it.
typedef hn_status (*whole_file_put)(FILE *file, void *user);
hn_status whole_file_write(hn_context *context, const char *path, const char *input, whole_file_put put, void *user);

#endif
