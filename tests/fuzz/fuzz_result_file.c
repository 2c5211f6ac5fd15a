// SPDX-License-Identifier: MIT
// Fuzz target: result files of strangers. A finished file of this library with some of its bytes replaced: it is read
// to the last number or refused with a message.
//
// The input is a list of edits, five bytes each: place (three bytes), how many bytes, and with what to replace them.
#define _GNU_SOURCE
#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// HDF5 keeps what it allocated for objects that turn out to be damaged; what is ours is not forgiven.
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

enum { NUMBERS_MAX = 1 << 16, STEPS = 5 };

static const char MODEL[] =
    "holonom: 1\n"
    "bodies:\n"
    "  a: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 1000, position: [0.5, 0, 0]}\n"
    "joints:\n"
    "  h: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n";

// The file as it is written, once.
static unsigned char *make_file(size_t *size)
{
    char folder[] = "/tmp/holonom-fuzz-XXXXXX", path[64];
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-2;
    if (context == NULL || mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/r.h5", folder);
    if (hn_model_parse(context, MODEL, sizeof MODEL - 1, "fuzz", &model) != HN_OK ||
        hn_simulation_create(model, &def, &simulation) != HN_OK ||
        hn_results_create(model, simulation, path, &results) != HN_OK)
        abort();
    for (int k = 0; k < STEPS; ++k)
        if (hn_simulation_step(simulation, 1) != HN_OK || hn_results_append(results) != HN_OK)
            abort();
    if (hn_results_finish(results) != HN_OK) abort();
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) abort();
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size) abort();
    fclose(file);
    unlink(path);
    rmdir(folder);
    return bytes;
}

// How many records could be read; -1: the file was refused
static int64_t read_everything(hn_context *context, const char *path)
{
    static double numbers[NUMBERS_MAX];
    hn_result_file *file = NULL;
    int64_t records = 0;
    if (hn_result_file_open(context, path, &file) != HN_OK) {
        if (hn_context_message(context)[0] == '\0') abort();
        return -1;
    }
    const hn_result_info *info = hn_result_file_info(file);
    bool readable = true;
    for (int k = 0; k < hn_result_file_series_count(file); ++k) {
        const hn_result_series *series = hn_result_file_series(file, k);
        if (info->record_count == 0 || series->width > NUMBERS_MAX) continue;
        hn_status status = hn_result_file_read(file, k, info->record_count - 1, 1, 1, numbers);
        readable = readable && status == HN_OK;
    }
    for (int k = 0; k < info->body_count; ++k) (void)strlen(hn_result_file_body(file, k)->name);
    for (int k = 0; k < info->joint_count; ++k) (void)strlen(hn_result_file_joint(file, k)->name);
    size_t count = 0;
    (void)!hn_result_file_select(file, "bodies", NULL, 0, &count);
    if (readable) records = info->record_count;
    hn_result_file_close(file);
    return records;
}

// In memory, where files may be there. HDF5 follows links to names, so that a file without one cannot be opened.
static int64_t read_bytes(const unsigned char *bytes, size_t size)
{
    char path[] = "/dev/shm/holonom-fuzz-XXXXXX", other[] = "/tmp/holonom-fuzz-XXXXXX",
         *name = path;
    int descriptor = mkstemp(path);
    if (descriptor < 0) descriptor = mkstemp(name = other);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size) abort();
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) abort();
    int64_t records = read_everything(context, name);
    hn_context_destroy(context);
    close(descriptor);
    unlink(name);
    return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char *original;
    static size_t original_size;
    if (original == NULL) {
        original = make_file(&original_size);
        // what nobody touched is read to the last number, or nothing here is tested
        if (read_bytes(original, original_size) != STEPS) abort();
    }
    unsigned char *bytes = malloc(original_size);
    if (bytes == NULL) abort();
    memcpy(bytes, original, original_size);
    for (size_t i = 0; i + 4 < size; i += 5) {
        size_t at =
            (data[i] + 256 * (size_t)data[i + 1] + 65536 * (size_t)data[i + 2]) % original_size;
        for (size_t k = 0; k <= data[i + 3] % 8 && at + k < original_size; ++k)
            bytes[at + k] = data[i + 4];
    }
    (void)read_bytes(bytes, original_size);
    free(bytes);
    return 0;
}
