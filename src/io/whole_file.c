// SPDX-License-Identifier: MIT
// Files that are there whole or not at all.
#define _POSIX_C_SOURCE 200809L // lstat, getpid
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

hn_status whole_file_begin(hn_context *context, const char *path, const char *input,
                           char **temporary)
{
    *temporary = NULL;
    if (disk_same_file(path, input))
        return context_fail(
            context, HN_FILE_ACCESS,
            "%s: cannot be written there: it is the result file; choose another name", path);
    struct stat information;
    bool direct = descriptor_of(path) >= 0 ||
                  (lstat(path, &information) == 0 && !S_ISREG(information.st_mode));
    size_t size = strlen(path) + sizeof ".18446744073709551615.new";
    *temporary = context_allocate(context, size);
    if (*temporary == NULL) return HN_OUT_OF_MEMORY;
    if (direct) snprintf(*temporary, size, "%s", path);
    else snprintf(*temporary, size, "%s.%ld.new", path, (long)getpid());
    return HN_OK;
}

hn_status whole_file_end(hn_context *context, char *temporary, const char *path, hn_status status)
{
    if (temporary == NULL) return status;
    bool direct = strcmp(temporary, path) == 0;
    if (status == HN_OK && !direct && rename(temporary, path) != 0)
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
    TRY(whole_file_begin(context, path, input, &temporary));
    errno = 0;
    FILE *file = open_stream(temporary);
    hn_status status = file == NULL ? HN_OK : put(file, user);
    bool written = file != NULL && fflush(file) == 0 && !ferror(file);
    int error = errno;
    if (file != NULL && fclose(file) != 0 && written) written = false, error = errno;
    if (status == HN_OK && !written)
        status = context_fail(context, HN_FILE_ACCESS, "%s: cannot be written: %s", path,
                              system_error_sentence(error));
    return whole_file_end(context, temporary, path, status);
}
