// SPDX-License-Identifier: MIT
// Files that are there whole or not at all.
#define _POSIX_C_SOURCE 200809L // lstat, readlink, getpid
#include "io/whole_file.h"

#include "io/results_disk.h"
#include "io/results_hdf5.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The open file that a path stands for, or -1. Where it is a socket such a path cannot be opened, and where it is a
// file it would be written from its beginning.
static int descriptor_of(const char *path)
{
    static const char FOLDER[] = "/dev/fd/";
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    if (strncmp(path, FOLDER, sizeof FOLDER - 1) != 0) return -1;
    char *end = NULL;
    long number = strtol(path + sizeof FOLDER - 1, &end, 10);
    return end != path + sizeof FOLDER - 1 && *end == '\0' && number >= 0 && number < INT_MAX
               ? (int)number
               : -1;
}

static FILE *open_stream(const char *path)
{
    int descriptor = descriptor_of(path);
    if (descriptor < 0) return fopen(path, "wb");
    int own = dup(descriptor);
    FILE *out = own >= 0 ? fdopen(own, "w") : NULL;
    if (out == NULL && own >= 0) close(own);
    return out;
}

// Where the links of `path` lead, also when nothing is there yet; up to an open file of a process, which has no name
// that could be given to another file. NULL: no memory.
static char *follow_links(hn_context *context, const char *path)
{
    enum { LINKS_MAX = 40 }; // as the system has it
    char link[PATH_MAX];
    char *name = context_copy_string(context, path);
    for (int i = 0; i < LINKS_MAX && name != NULL; ++i) {
        if (descriptor_of(name) >= 0 || strncmp(name, "/proc/", 6) == 0) break;
        ssize_t length = readlink(name, link, sizeof link - 1);
        if (length < 0) break; // no link
        link[length] = '\0';
        const char *slash = link[0] == '/' ? NULL : strrchr(name, '/');
        size_t folder = slash == NULL ? 0 : (size_t)(slash - name) + 1;
        char *next = context_allocate(context, folder + (size_t)length + 1);
        if (next != NULL) memcpy(next, name, folder), memcpy(next + folder, link, (size_t)length);
        context_release(context, name);
        name = next;
    }
    return name;
}

// Behind the temporary name and its zero stands the name that it gets.
static const char *final_name(const char *temporary)
{
    return temporary + strlen(temporary) + 1;
}

// Name to write to for a file that shall be `path`, or what that leads to where it is a link; devices, pipes and open
// files are written through. Refuses `path` when it leads to `input`, the file that is read.
static hn_status begin(hn_context *context, const char *path, const char *input, char **temporary)
{
    *temporary = NULL;
    if (disk_same_file(path, input))
        return context_fail(
            context, HN_FILE_ACCESS,
            "%s: cannot be written there: it is the result file; choose another name", path);
    struct stat information;
    char *target = follow_links(context, path), ending[32];
    if (target == NULL) return HN_OUT_OF_MEMORY;
    bool direct = descriptor_of(target) >= 0 || strncmp(target, "/proc/", 6) == 0 ||
                  (lstat(target, &information) == 0 && !S_ISREG(information.st_mode));
    snprintf(ending, sizeof ending, ".%ld.new", (long)getpid());
    const char *final = direct ? path : target;
    size_t length = strlen(final), more = direct ? 0 : strlen(ending);
    *temporary = context_allocate(context, 2 * length + more + 2);
    if (*temporary != NULL) {
        snprintf(*temporary, length + more + 1, "%s%s", final, direct ? "" : ending);
        memcpy(*temporary + length + more + 1, final, length);
    }
    context_release(context, target);
    return *temporary != NULL ? HN_OK : HN_OUT_OF_MEMORY;
}

// Give it its name when `status` is HN_OK, otherwise remove it; releases `temporary` and returns how it went.
static hn_status end(hn_context *context, char *temporary, const char *path, hn_status status)
{
    if (temporary == NULL) return status;
    const char *target = final_name(temporary);
    bool direct = strcmp(temporary, target) == 0;
    if (status == HN_OK && !direct && rename(temporary, target) != 0)
        status = context_fail(context, HN_FILE_ACCESS, "%s: cannot be written: %s", path,
                              system_error_sentence(errno));
    if (status != HN_OK && !direct) unlink(temporary);
    context_release(context, temporary);
    return status;
}

hn_status whole_file_write(hn_context *context, const char *path, const char *input,
                           whole_file_put put, void *user)
{
    char *temporary;
    TRY(begin(context, path, input, &temporary));
    errno = 0;
    FILE *file = open_stream(temporary);
    hn_status status = file == NULL ? HN_OK : put(file, user);
    bool written = file != NULL && fflush(file) == 0 && !ferror(file);
    int error = errno;
    if (file != NULL && fclose(file) != 0 && written) written = false, error = errno;
    if (status == HN_OK && !written)
        status = context_fail(context, HN_FILE_ACCESS, "%s: cannot be written: %s", path,
                              system_error_sentence(error));
    return end(context, temporary, path, status);
}

// ---- files of HDF5 ------------------------------------------------------------------------------------

typedef struct file_image {
    char *bytes;
    size_t size;
} file_image;

static hn_status put_image(FILE *file, void *user)
{
    const file_image *image = user;
    fwrite(image->bytes, 1, image->size, file);
    return HN_OK;
}

// What `fill` makes of a file, as bytes.
static hn_status make_image(hn_context *context, whole_file_fill fill, void *user,
                            file_image *image)
{
    enum { INCREMENT = 1 << 20 }; // bytes
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (access >= 0 && H5Pset_fapl_core(access, INCREMENT, false) >= 0)
        file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hn_status status = file < 0 ? HN_OUT_OF_MEMORY : fill(file, user);
    ssize_t length = -1;
    if (status == HN_OK && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0)
        length = H5Fget_file_image(file, NULL, 0);
    if (length > 0) image->bytes = context_allocate(context, (size_t)length);
    if (image->bytes != NULL && H5Fget_file_image(file, image->bytes, (size_t)length) == length)
        image->size = (size_t)length;
    if (file >= 0) H5Fclose(file);
    if (access >= 0) H5Pclose(access);
    return status == HN_OK && image->size == 0 ? HN_OUT_OF_MEMORY : status;
}

hn_status whole_file_write_hdf5(hn_context *context, const char *path, const char *input,
                                whole_file_fill fill, void *user)
{
    file_image image = {0};
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hn_status status = make_image(context, fill, user, &image);
    hdf5_silence_end(&silence);
    if (status == HN_OUT_OF_MEMORY)
        status = context_fail(context, status, "%s: no memory for its contents", path);
    if (status == HN_OK) status = whole_file_write(context, path, input, put_image, &image);
    context_release(context, image.bytes);
    return status;
}
