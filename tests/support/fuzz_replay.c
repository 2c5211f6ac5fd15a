// SPDX-License-Identifier: MIT
// Runs a fuzz target once over each file of a folder, so that its corpus is an ordinary test.
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 1;
    uint8_t *data = NULL;
    size_t size = 0, capacity = 0;
    for (;;) {
        if (size == capacity) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            uint8_t *larger = realloc(data, capacity);
            if (larger == NULL) break;
            data = larger;
        }
        size_t count = fread(data + size, 1, capacity - size, file);
        if (count == 0) break;
        size += count;
    }
    fclose(file);
    if (data == NULL) return 1;
    uint8_t *exact =
        malloc(size > 0 ? size : 1); // no slack, so that a sanitizer sees reading past the end
    if (exact != NULL) {
        for (size_t i = 0; i < size; ++i) exact[i] = data[i];
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(data);
    free(exact);
    return exact == NULL ? 1 : 0;
}

int main(int argument_count, char **arguments)
{
    int files = 0;
    for (int i = 1; i < argument_count; ++i) {
        DIR *folder = opendir(arguments[i]);
        if (folder == NULL) {
            fprintf(stderr, "%s: cannot be opened\n", arguments[i]);
            return 1;
        }
        struct dirent *entry;
        while ((entry = readdir(folder)) != NULL) {
            if (entry->d_name[0] == '.') continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", arguments[i], entry->d_name);
            printf("%s\n", path);
            fflush(stdout);
            if (replay(path) != 0) {
                fprintf(stderr, "%s: cannot be read\n", path);
                return 1;
            }
            files += 1;
        }
        closedir(folder);
    }
    printf("%d files replayed\n", files);
    return files > 0 ? 0 : 1;
}
