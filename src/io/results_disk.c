// SPDX-License-Identifier: MIT
// Reserving and giving back disk space; Linux can do it without changing the file's size.
#define _GNU_SOURCE // fallocate with FALLOC_FL_KEEP_SIZE, memfd_create
#include "io/results_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

static int reserve(int descriptor, size_t bytes)
{
    struct stat information;
    struct rlimit limit;
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

int disk_reserve(hid_t file, size_t bytes)
{
    return reserve(descriptor_of(file), bytes);
}

int disk_make_room(const char *path, size_t bytes)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return errno;
    int error = reserve(descriptor, bytes);
    close(descriptor);
    return error;
}

// HDF5 file format, superblock version 3: signature in bytes 0-7, version in 8, size of addresses in 9, marks of
// writers in 11, end of file address in 28-35, checksum of what stands before in 44-47; all little-endian.
enum {
    SUPERBLOCK_VERSION = 8,
    SUPERBLOCK_ADDRESS_SIZE = 9,
    SUPERBLOCK_MARKS = 11,
    SUPERBLOCK_END = 28,
    SUPERBLOCK_CHECKSUM = 44,
    SUPERBLOCK_SIZE = 48
};

static uint32_t rotate(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

/// Jenkins' lookup3 hash, as the file format asks for.
static uint32_t lookup3(const unsigned char *bytes, size_t length)
{
    uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
    for (; length > 12; bytes += 12, length -= 12) {
        uint32_t word[3] = {0};
        for (int i = 0; i < 12; ++i) word[i / 4] |= (uint32_t)bytes[i] << (8 * (i % 4));
        a += word[0], b += word[1], c += word[2];
        a -= c, a ^= rotate(c, 4), c += b;
        b -= a, b ^= rotate(a, 6), a += c;
        c -= b, c ^= rotate(b, 8), b += a;
        a -= c, a ^= rotate(c, 16), c += b;
        b -= a, b ^= rotate(a, 19), a += c;
        c -= b, c ^= rotate(b, 4), b += a;
    }
    if (length == 0) return c;
    uint32_t word[3] = {0};
    for (size_t i = 0; i < length; ++i) word[i / 4] |= (uint32_t)bytes[i] << (8 * (i % 4));
    a += word[0], b += word[1], c += word[2];
    c ^= b, c -= rotate(b, 14);
    a ^= c, a -= rotate(c, 11);
    b ^= a, b -= rotate(a, 25);
    c ^= b, c -= rotate(b, 16);
    a ^= c, a -= rotate(c, 4);
    b ^= a, b -= rotate(a, 14);
    c ^= b, c -= rotate(b, 24);
    return c;
}

static void store_little_endian(uint64_t value, int count, unsigned char *bytes)
{
    for (int i = 0; i < count; ++i) bytes[i] = (unsigned char)(value >> (8 * i));
}

static const unsigned char SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool disk_begins_otherwise(const char *path, const void *mark, size_t size)
{
    char begin[64];
    struct stat information;
    if (lstat(path, &information) != 0) return false;
    if (!S_ISREG(information.st_mode)) return true;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return true;
    ssize_t length = pread(descriptor, begin, size < sizeof begin ? size : sizeof begin, 0);
    close(descriptor);
    // killed before its beginning was written
    ssize_t nothing = 0;
    while (nothing < length && begin[nothing] == '\0') ++nothing;
    return length < 0 || (nothing < length && memcmp(begin, mark, (size_t)length) != 0);
}

bool disk_is_foreign(const char *path)
{
    return disk_begins_otherwise(path, SIGNATURE, sizeof SIGNATURE);
}

/// Read the superblock. False: not a file of this form, or errno.
static bool read_superblock(int descriptor, unsigned char block[SUPERBLOCK_SIZE])
{
    errno = 0;
    return pread(descriptor, block, SUPERBLOCK_SIZE, 0) == SUPERBLOCK_SIZE &&
           memcmp(block, SIGNATURE, sizeof SIGNATURE) == 0 && block[SUPERBLOCK_VERSION] == 3 &&
           block[SUPERBLOCK_ADDRESS_SIZE] == 8;
}

/// Put the end into the superblock and take the marks away. False: not a file of this form, or errno.
static bool settle_header(int descriptor, uint64_t end)
{
    unsigned char block[SUPERBLOCK_SIZE];
    struct stat information;
    if (!read_superblock(descriptor, block) || fstat(descriptor, &information) != 0) return false;
    // the file must reach as far as it says
    if ((uint64_t)information.st_size < end && ftruncate(descriptor, (off_t)end) != 0) return false;
    block[SUPERBLOCK_MARKS] = 0;
    store_little_endian(end, 8, block + SUPERBLOCK_END);
    store_little_endian(lookup3(block, SUPERBLOCK_CHECKSUM), 4, block + SUPERBLOCK_CHECKSUM);
    return pwrite(descriptor, block, sizeof block, 0) == SUPERBLOCK_SIZE;
}

void disk_settle_header(hid_t file)
{
    hsize_t end = 0;
    int descriptor = descriptor_of(file);
    if (descriptor < 0 || H5Fget_filesize(file, &end) < 0) return;
    if (!settle_header(descriptor, end)) return; // then the flush alone has to do
}

bool disk_has_mark(const char *path)
{
    unsigned char block[SUPERBLOCK_SIZE];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    bool marked = read_superblock(descriptor, block) && block[SUPERBLOCK_MARKS] != 0;
    close(descriptor);
    return marked;
}

int disk_settle_killed(const char *path)
{
    struct stat information;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return errno;
    bool settled = fstat(descriptor, &information) == 0 &&
                   settle_header(descriptor, (uint64_t)information.st_size);
    int error = settled ? 0 : errno != 0 ? errno : EINVAL;
    close(descriptor);
    return error;
}

int disk_synchronise(hid_t file)
{
    int descriptor = descriptor_of(file);
    // files that cannot be synchronised, pipes and some network ones, are trusted
    if (descriptor < 0 || fsync(descriptor) == 0) return 0;
    return errno == EINVAL || errno == ENOSYS || errno == EROFS ? 0 : errno;
}

/// Take the lock for this descriptor, without waiting. It is not of the kind (flock) that HDF5's readers take: they may
/// look at a file that is being written.
static bool take_lock(int descriptor)
{
#ifndef F_OFD_SETLK
#define F_OFD_SETLK F_SETLK // older systems: locks of a process, not of a descriptor
#endif
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return true;
    if (errno == EACCES) errno = EWOULDBLOCK;
    // some network file systems have no locks: their users are trusted
    return errno == ENOLCK || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

int disk_lock(const char *path, bool create, int *error)
{
    enum { ATTEMPTS = 100 }; // each one lost means that somebody renamed the file in between
    for (int i = 0; i < ATTEMPTS; ++i) {
        struct stat locked, named;
        int descriptor = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
        if (descriptor < 0) {
            *error = errno;
            return -1;
        }
        if (!take_lock(descriptor)) {
            *error = errno;
            close(descriptor);
            return -1;
        }
        if (fstat(descriptor, &locked) == 0 && stat(path, &named) == 0 &&
            locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
            return descriptor;
        close(descriptor); // finished and renamed by another process just now
    }
    *error = EWOULDBLOCK;
    return -1;
}

bool disk_same_file(const char *one, const char *other)
{
    struct stat a, b;
    if (one == NULL || other == NULL) return false;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
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
    unsigned char block[SUPERBLOCK_SIZE];
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fstat(descriptor, &information) == 0) {
        // what lies behind the end that the file itself knows belongs to nobody
        uint64_t size = (uint64_t)information.st_size, end = 0;
        if (read_superblock(descriptor, block))
            for (int i = 0; i < 8; ++i) end |= (uint64_t)block[SUPERBLOCK_END + i] << (8 * i);
        if (end > 0 && end < size) size = end;
        if (ftruncate(descriptor, (off_t)size) != 0) size = 0; // the reserve then stays: harmless
    }
    close(descriptor);
}
