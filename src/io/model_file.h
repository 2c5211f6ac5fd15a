// SPDX-License-Identifier: MIT
// Limits of the model file reader; its functions, hn_model_load and hn_model_parse, are public.
#ifndef IO_MODEL_FILE_H
#define IO_MODEL_FILE_H

/// Version that stands after `holonom:` in a file.
#define MODEL_FILE_VERSION 1
/// Largest file that is read, bytes.
#define MODEL_FILE_SIZE_MAX (256L * 1024L * 1024L)

#endif
