// SPDX-License-Identifier: MIT
// Reserving and giving back disk space; Linux can do it without changing the file's size.
#define _GNU_SOURCE // fallocate with FALLOC_FL_KEEP_SIZE, memfd_create
#include "io/results_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/// File descriptor under an HDF5 file, or -1.
static int descriptor_of(hid_t file)
{
    void *handle = NULL;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || handle == NULL) return -1;
    return *(const int *)handle;
}

int disk_reserve(hid_t file, size_t bytes)
{
    struct stat information;
    struct rlimit limit;
    int descriptor = descriptor_of(file);
    if (descriptor < 0 || fstat(descriptor, &information) != 0) return 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)information.st_size + bytes > limit.rlim_cur)
        return EFBIG;
#ifdef __linux__
    if (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, information.st_size, (off_t)bytes) == 0)
        return 0;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
#else
    return 0;
#endif
}

// HDF5 file format, superblock version 0: signature in bytes 0-7, version in 8, size of addresses in 13,
// end of file address in 40-47, little-endian; there is no checksum. Other versions are left alone.
void disk_announce_end(hid_t file)
{
    enum { VERSION = 8, ADDRESS_SIZE = 13, END = 40, SIZE = 48 };
    static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char block[SIZE];
    hsize_t end = 0;
    struct stat information;
    int descriptor = descriptor_of(file);
    if (descriptor < 0 || H5Fget_filesize(file, &end) < 0) return;
    if (fstat(descriptor, &information) != 0 || pread(descriptor, block, SIZE, 0) != SIZE) return;
    if (memcmp(block, SIGNATURE, sizeof SIGNATURE) != 0) return;
    if (block[VERSION] != 0 || block[ADDRESS_SIZE] != 8) return;
    // the file must reach as far as it says
    if ((hsize_t)information.st_size < end && ftruncate(descriptor, (off_t)end) != 0) return;
    for (int i = 0; i < 8; ++i) block[END + i] = (unsigned char)(end >> (8 * i));
    if (pwrite(descriptor, block + END, 8, END) != 8) return; // then the flush alone has to do
}

void disk_detach(hid_t file)
{
#ifdef __linux__
    int descriptor = descriptor_of(file);
    int memory = descriptor < 0 ? -1 : memfd_create("holonom results", MFD_CLOEXEC);
    if (memory < 0) return;
    dup2(memory, descriptor);
    close(memory);
#else
    (void)file;
#endif
}

void disk_release(const char *path)
{
    struct stat information;
    if (stat(path, &information) != 0) return;
    if (truncate(path, information.st_size) != 0)
        return; // the reserve then stays until the file goes: harmless
}
