// SPDX-License-Identifier: MIT
// Writing beside the final name, and comparing files by device and inode.
#define _POSIX_C_SOURCE 200809L
#include "output_file.h"

#include "command.h"
#include "report.h"
#include "say.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What an open file of a process is called: a link there leads to no name that could be given to another file.
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0;
}

/// Where the links of `path` lead, also when nothing is there yet. Owned by the caller; NULL: no memory.
static char *follow_links(const char *path)
{
    enum { LINKS_MAX = 40 }; // as the system has it
    char *name = strdup(path), *link = malloc(PATH_MAX);
    for (int i = 0; i < LINKS_MAX && name != NULL && link != NULL && !is_descriptor(name); ++i) {
        ssize_t length = readlink(name, link, PATH_MAX - 1);
        if (length < 0) break; // no link
        link[length] = '\0';
        const char *slash = link[0] == '/' ? NULL : strrchr(name, '/');
        size_t folder = slash == NULL ? 0 : (size_t)(slash - name) + 1;
        char *next = malloc(folder + (size_t)length + 1);
        if (next != NULL) memcpy(next, name, folder), strcpy(next + folder, link);
        free(name);
        name = next;
    }
    if (link == NULL) free(name), name = NULL;
    free(link);
    return name;
}

/// Behind the temporary name and its zero stands the name that it gets.
static const char *final_name(const char *temporary)
{
    return temporary + strlen(temporary) + 1;
}

char *output_temporary(const char *path)
{
    struct stat information;
    char *target = follow_links(path), ending[32];
    if (target == NULL) return NULL;
    bool direct = is_descriptor(target) ||
                  (lstat(target, &information) == 0 && !S_ISREG(information.st_mode));
    snprintf(ending, sizeof ending, ".%ld.new", (long)getpid());
    const char *final = direct ? path : target;
    size_t length = strlen(final), more = direct ? 0 : strlen(ending);
    char *name = malloc(2 * length + more + 2);
    if (name != NULL)
        snprintf(name, length + more + 1, "%s%s", final, direct ? "" : ending),
            memcpy(name + length + more + 1, final, length + 1);
    free(target);
    return name;
}

bool output_settle(char *temporary, bool complete)
{
    const char *target = final_name(temporary);
    bool settled = complete, direct = strcmp(temporary, target) == 0;
    int error = errno;
    if (complete && !direct && rename(temporary, target) != 0) {
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
    if (output_settle(temporary, written)) return EXIT_FINE;
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
