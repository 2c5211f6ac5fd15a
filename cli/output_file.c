// SPDX-License-Identifier: MIT
// Writing beside the final name, and comparing files by device and inode.
#define _POSIX_C_SOURCE 200809L
#include "output_file.h"

#include "command.h"
#include "report.h"
#include "say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *output_temporary(const char *path)
{
    struct stat information;
    bool direct = lstat(path, &information) == 0 && !S_ISREG(information.st_mode);
    size_t size = strlen(path) + sizeof ".18446744073709551615.new";
    char *name = malloc(size);
    if (name == NULL) return NULL;
    if (direct) snprintf(name, size, "%s", path);
    else snprintf(name, size, "%s.%ld.new", path, (long)getpid());
    return name;
}

bool output_settle(char *temporary, const char *path, bool complete)
{
    bool settled = complete, direct = strcmp(temporary, path) == 0;
    int error = errno;
    if (complete && !direct && rename(temporary, path) != 0) {
        settled = false;
        error = errno;
    }
    if (!settled && !direct) unlink(temporary);
    free(temporary);
    errno = error;
    return settled;
}

char *output_name(const char *chosen, const char *input, const char *ending)
{
    if (chosen != NULL) {
        char *copy = malloc(strlen(chosen) + 1);
        return copy == NULL ? NULL : strcpy(copy, chosen);
    }
    const char *slash = strrchr(input, '/');
    const char *base = slash == NULL ? input : slash + 1;
    const char *dot = strrchr(base, '.');
    size_t length = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
    size_t size = length + strlen(ending) + 1;
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%.*s%s", (int)length, base, ending);
    return name;
}

int output_write(const char *path, void (*write)(const void *what, FILE *file), const void *what)
{
    char *temporary = output_temporary(path);
    if (temporary == NULL) return report_no_memory();
    FILE *file = fopen(temporary, "w");
    bool written = file != NULL;
    if (written) {
        write(what, file);
        written = fflush(file) == 0 && !ferror(file);
        int error = errno;
        if (fclose(file) == 0) errno = error;
        else written = false;
    }
    if (output_settle(temporary, path, written)) return EXIT_FINE;
    say(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return EXIT_FILE;
}

bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool complain_output_is_input(const char *path, const char *input)
{
    static const char *const ENDINGS[] = {"", ".part", ".checkpoint", ".journal"};
    bool same = false;
    size_t size = strlen(path) + sizeof ".checkpoint";
    char *name = malloc(size);
    for (int i = 0; i < 4 && name != NULL && !same; ++i) {
        snprintf(name, size, "%s%s", path, ENDINGS[i]);
        same = is_same_file(name, input);
    }
    if (same) say(stderr, "%s: cannot be written: it is the file that is read\n", name);
    free(name);
    return same;
}
