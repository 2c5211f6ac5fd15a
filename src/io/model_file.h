// SPDX-License-Identifier: MIT
// The model file reader: its limits, and texts of files; hn_model_load and hn_model_parse are public.
#ifndef IO_MODEL_FILE_H
#define IO_MODEL_FILE_H

#include "base/context.h"

/// Version that stands after `holonom:` in a file.
#define MODEL_FILE_VERSION 1
/// Largest file that is read, bytes.
#define MODEL_FILE_SIZE_MAX (256L * 1024L * 1024L)

/// The whole text of a file; owned by the caller (context_release), also on failure.
hn_status model_file_text(hn_context *context, const char *path, char **text, size_t *length);

#endif
