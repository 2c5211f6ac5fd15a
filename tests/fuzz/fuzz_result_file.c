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
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// HDF5 keeps what it allocated for objects that turn out to be damaged; what is ours is not forgiven.
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

enum { NUMBERS_MAX = 1 << 16 };

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
    for (int k = 0; k < 5; ++k)
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

static void read_everything(hn_context *context, const char *path)
{
    static double numbers[NUMBERS_MAX];
    hn_result_file *file = NULL;
    if (hn_result_file_open(context, path, &file) != HN_OK) {
        if (hn_context_message(context)[0] == '\0') abort();
        return;
    }
    const hn_result_info *info = hn_result_file_info(file);
    for (int k = 0; k < hn_result_file_series_count(file); ++k) {
        const hn_result_series *series = hn_result_file_series(file, k);
        if (info->record_count > 0 && series->width <= NUMBERS_MAX)
            (void)!hn_result_file_read(file, k, info->record_count - 1, 1, 1, numbers);
    }
    for (int k = 0; k < info->body_count; ++k) (void)strlen(hn_result_file_body(file, k)->name);
    for (int k = 0; k < info->joint_count; ++k) (void)strlen(hn_result_file_joint(file, k)->name);
    size_t count = 0;
    (void)!hn_result_file_select(file, "bodies", NULL, 0, &count);
    hn_result_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char *original;
    static size_t original_size;
    if (original == NULL) original = make_file(&original_size);
    unsigned char *bytes = malloc(original_size);
    if (bytes == NULL) abort();
    memcpy(bytes, original, original_size);
    for (size_t i = 0; i + 4 < size; i += 5) {
        size_t at =
            (data[i] + 256 * (size_t)data[i + 1] + 65536 * (size_t)data[i + 2]) % original_size;
        for (size_t k = 0; k <= data[i + 3] % 8 && at + k < original_size; ++k)
            bytes[at + k] = data[i + 4];
    }
    char path[64];
    int descriptor = memfd_create("result", 0);
    if (descriptor < 0 || write(descriptor, bytes, original_size) != (ssize_t)original_size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) abort();
    read_everything(context, path);
    hn_context_destroy(context);
    close(descriptor);
    free(bytes);
    return 0;
}
