// SPDX-License-Identifier: MIT
// Disk space under an HDF5 file: reserved before it is needed, so that a full disk does no harm.
#ifndef IO_RESULTS_DISK_H
#define IO_RESULTS_DISK_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

/// Have the disk ready for `bytes` more before HDF5 begins to write, so that a full disk is met between two
/// consistent states. Returns 0 or errno; file systems that cannot reserve are trusted.
int disk_reserve(hid_t file, size_t bytes);

/// An empty file `path` on a disk that has room for `bytes`: where HDF5 cannot write the first of them, it prints when
/// the program ends. Returns 0 or errno.
int disk_make_room(const char *path, size_t bytes);

/// Make the superblock on disk say what readers need: the end of the file as HDF5 has it in memory, and no mark of a
/// writer, which HDF5 puts there while the file is open and which a killed process leaves behind: readers would refuse
/// the file. Call it right before a flush, so that nothing written lies beyond the end, and right after.
void disk_settle_header(hid_t file);

/// The same for a file that nobody has open, as a killed process left it: the end becomes the file's size if that is
/// larger. Returns 0 or errno.
int disk_settle_killed(const char *path);

/// Is `path` there and not one of ours: no regular file, or one that does not begin as a file of HDF5 does? An empty
/// file is nobody's.
bool disk_is_foreign(const char *path);

/// The same for a file that should begin with `size` bytes `mark`, as far as it goes.
bool disk_begins_otherwise(const char *path, const void *mark, size_t size);

/// Does the file have the mark of a writer? Then it is being written, or was when its writer was killed.
bool disk_has_mark(const char *path);

/// What was written goes to the device. Returns 0 or errno.
int disk_synchronise(hid_t file);

/// After a failed write HDF5 would try again when closing, fail, and crash when the process ends. This lets it
/// write the rest to memory instead: the file on disk stays as it is, and the close succeeds.
void disk_detach(hid_t file);

/// Give back what was reserved beyond the end of the closed file.
void disk_release(const char *path);

/// Open `path`, create it if need be, and lock it for this process: nobody else can lock it until the descriptor is
/// closed, also by the end of the process, however it comes. The lock is of the file that has this name now, not of one
/// that had it before. Returns the descriptor; or -1 with `*error`: EWOULDBLOCK, somebody else has the lock; errno.
int disk_lock(const char *path, bool create, int *error);

/// Do both names lead to one file, through links of any kind? False when one of them leads to none.
bool disk_same_file(const char *one, const char *other);

#endif
