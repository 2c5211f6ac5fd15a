// SPDX-License-Identifier: MIT
// Disk space under an HDF5 file: reserved before it is needed, so that a full disk does no harm.
#ifndef IO_RESULTS_DISK_H
#define IO_RESULTS_DISK_H

#include <hdf5.h>
#include <stddef.h>

/// Have the disk ready for `bytes` more before HDF5 begins to write, so that a full disk is met between two
/// consistent states. Returns 0 or errno; file systems that cannot reserve are trusted.
int disk_reserve(hid_t file, size_t bytes);

/// Write the end of the file, as HDF5 has it in memory, into the file's superblock. A flush does that last, and a
/// process killed before leaves blocks beyond the end that readers refuse. Call it right before a flush.
void disk_announce_end(hid_t file);

/// After a failed write HDF5 would try again when closing, fail, and crash when the process ends. This lets it
/// write the rest to memory instead: the file on disk stays as it is, and the close succeeds.
void disk_detach(hid_t file);

/// Give back what was reserved beyond the end of the closed file.
void disk_release(const char *path);

#endif
