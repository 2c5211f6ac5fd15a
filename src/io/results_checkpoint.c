// SPDX-License-Identifier: MIT
// Restart files: a fixed head, the snapshot, a checksum. They belong to one version of the library and one machine.
#define _POSIX_C_SOURCE 200809L
#include "io/results_checkpoint.h"

#include "io/results_disk.h"
#include "io/results_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MARK[16] = "holonom restart";
enum { CHECKPOINT_VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };

typedef struct checkpoint_head {
    char mark[16];
    char library[32]; ///< hn_version()
    uint32_t version, byte_order;
    int64_t record_count, step_count;
    double interval;
    uint64_t snapshot_size;
} checkpoint_head;

/// FNV-1a, continued from `hash`.
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; ++i) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t checksum_of(const checkpoint_head *head, const void *snapshot)
{
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, head, sizeof *head);
    return hash_bytes(hash, snapshot, (size_t)head->snapshot_size);
}

static bool write_all(int descriptor, const void *bytes, size_t count)
{
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = write(descriptor, next, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        next += written;
        count -= (size_t)written;
    }
    return true;
}

static bool read_all(int descriptor, void *bytes, size_t count)
{
    char *next = bytes;
    while (count > 0) {
        ssize_t got = read(descriptor, next, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        count -= (size_t)got;
    }
    return true;
}

static hn_status fail(hn_context *context, const char *path, const char *doing, int error)
{
    return context_fail(context, HN_FILE_ACCESS, "%s: cannot %s the restart data: %s", path, doing,
                        system_error_sentence(error));
}

hn_status checkpoint_write(hn_context *context, const char *path, const char *new_path,
                           const checkpoint *data)
{
    checkpoint_head head;
    memset(&head, 0, sizeof head); // padding too
    memcpy(head.mark, MARK, sizeof head.mark);
    snprintf(head.library, sizeof head.library, "%s", hn_version());
    head.version = CHECKPOINT_VERSION;
    head.byte_order = BYTE_ORDER_MARK;
    head.record_count = data->record_count;
    head.step_count = data->step_count;
    head.interval = data->interval;
    head.snapshot_size = data->snapshot_size;
    uint64_t checksum = checksum_of(&head, data->snapshot);

    int descriptor = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool opened = descriptor >= 0;
    bool written = opened && write_all(descriptor, &head, sizeof head) &&
                   write_all(descriptor, data->snapshot, data->snapshot_size) &&
                   write_all(descriptor, &checksum, sizeof checksum);
    if (written && fsync(descriptor) != 0) written = errno == EINVAL || errno == ENOSYS;
    int error = written ? 0 : errno;
    if (opened && close(descriptor) != 0 && written) {
        written = false;
        error = errno;
    }
    if (written && rename(new_path, path) != 0) {
        written = false;
        error = errno;
    }
    if (!written && opened) unlink(new_path);
    return written ? HN_OK : fail(context, path, "write", error);
}

hn_status checkpoint_read(hn_context *context, const char *path, checkpoint *data)
{
    *data = (checkpoint){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(context, path, "read", errno);
    checkpoint_head head;
    struct stat information;
    uint64_t checksum = 0;
    hn_status status = HN_OK;
    if (!read_all(descriptor, &head, sizeof head) || memcmp(head.mark, MARK, sizeof MARK) != 0)
        status = context_fail(context, HN_FILE_FORMAT, "%s: is no restart file of holonom", path);
    else if (head.version != CHECKPOINT_VERSION || head.byte_order != BYTE_ORDER_MARK ||
             strncmp(head.library, hn_version(), sizeof head.library) != 0)
        status = context_fail(context, HN_FILE_FORMAT,
                              "%s: is of another version of holonom (%.*s, this is %s): a run goes "
                              "on bit for bit with its own only",
                              path, (int)sizeof head.library, head.library, hn_version());
    else if (fstat(descriptor, &information) != 0 ||
             (uint64_t)information.st_size != sizeof head + head.snapshot_size + sizeof checksum)
        status = context_fail(context, HN_FILE_FORMAT, "%s: is damaged: its size is wrong", path);
    if (status == HN_OK) {
        data->snapshot = context_allocate(context, (size_t)head.snapshot_size + 1);
        if (data->snapshot == NULL) status = HN_OUT_OF_MEMORY;
    }
    if (status == HN_OK &&
        (!read_all(descriptor, data->snapshot, (size_t)head.snapshot_size) ||
         !read_all(descriptor, &checksum, sizeof checksum) ||
         checksum != checksum_of(&head, data->snapshot) || head.record_count < 0))
        status =
            context_fail(context, HN_FILE_FORMAT, "%s: is damaged: its checksum is wrong", path);
    close(descriptor);
    if (status != HN_OK) {
        context_release(context, data->snapshot);
        data->snapshot = NULL;
        return status;
    }
    data->record_count = head.record_count;
    data->step_count = head.step_count;
    data->interval = head.interval;
    data->snapshot_size = (size_t)head.snapshot_size;
    return HN_OK;
}

bool checkpoint_is_foreign(const char *path)
{
    return disk_begins_otherwise(path, MARK, sizeof MARK);
}
