// SPDX-License-Identifier: MIT
// Files that are there whole or not at all: written beside their place, then given their name.
#ifndef IO_WHOLE_FILE_H
#define IO_WHOLE_FILE_H

#include "base/context.h"

#include <hdf5.h>
#include <stdio.h>

/// All of it for a stream that `put` writes to. A link stays one: the file that it leads to is replaced. Devices and
/// pipes are written through, and what stands for an open file (/dev/stdout) goes on where that file is. What it did
/// not take is a failure with its reason, whatever `put` made of it. Refuses `path` when it leads to `input`, the file
/// that is read; NULL: none is.
typedef hn_status (*whole_file_put)(FILE *file, void *user);
hn_status whole_file_write(hn_context *context, const char *path, const char *input, whole_file_put put, void *user);

/// The same for a file of HDF5 that `fill` puts groups and datasets into: HN_OUT_OF_MEMORY where that fails. It is made
/// in memory: HDF5 prints when the program ends, or crashes, after a file that it could not write out.
typedef hn_status (*whole_file_fill)(hid_t file, void *user);
hn_status whole_file_write_hdf5(hn_context *context, const char *path, const char *input, whole_file_fill fill,
                                void *user);

#endif
