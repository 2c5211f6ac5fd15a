// SPDX-License-Identifier: MIT
// Puts results into the viewer's template and writes the page.
#define _POSIX_C_SOURCE 200809L
#include "page.h"

#include "command.h"
#include "output_file.h"
#include "page_description.h"
#include "report.h"
#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HOLONOM_DATA_FOLDER
#define HOLONOM_DATA_FOLDER "/usr/local/share/holonom"
#endif

static const size_t PAGE_SIZE_MAX = 14500000; // bytes; mail and phones still take it
static const size_t RESULT_SIZE_MIN =
    200000; // bytes for the numbers of a result, however many there are
static const char MARK[] = "<!--holonom:data-->";
enum { LABEL_SIZE = 160, PATH_SIZE = 4096 };

// ---- names ------------------------------------------------------------------------------------------

char *name_with_ending(const char *result, const char *ending)
{
    size_t length = strlen(result);
    if (length > 5 && strcmp(result + length - 5, ".part") == 0) length -= 5;
    if (length > 3 && strncmp(result + length - 3, ".h5", 3) == 0) length -= 3;
    size_t size = length + strlen(ending) + 1;
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%.*s%s", (int)length, result, ending);
    return name;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/// What the label of a result says, from short to long; the shortest that tells all results apart is taken.
static void make_label(const hn_result_info *info, const char *path, int detail, char *label)
{
    switch (detail) {
    case 0: snprintf(label, LABEL_SIZE, "%s", info->scheme); break;
    case 1: snprintf(label, LABEL_SIZE, "%s, h = %g s", info->scheme, info->step_size); break;
    case 2:
        snprintf(label, LABEL_SIZE, "%s, %s, h = %g s", info->scheme, info->reduction,
                 info->step_size);
        break;
    case 3: snprintf(label, LABEL_SIZE, "%s", base_name(path)); break;
    default: snprintf(label, LABEL_SIZE, "%s", path); break;
    }
}

static bool all_differ(char (*labels)[LABEL_SIZE], int count)
{
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < i; ++j)
            if (strcmp(labels[i], labels[j]) == 0) return false;
    return true;
}

/// Labels of results: of different models by their names, otherwise by how they were run.
static void make_labels(hn_result_file **files, const page_result *results, int count,
                        char (*labels)[LABEL_SIZE])
{
    for (int i = 0; i < count; ++i)
        snprintf(labels[i], LABEL_SIZE, "%s", hn_result_file_info(files[i])->model_name);
    for (int detail = 0; detail < 5 && !all_differ(labels, count); ++detail)
        for (int i = 0; i < count; ++i)
            make_label(hn_result_file_info(files[i]), results[i].path, detail, labels[i]);
    for (int i = 0; i < count; ++i)
        if (results[i].label != NULL) snprintf(labels[i], LABEL_SIZE, "%s", results[i].label);
}

// ---- template ---------------------------------------------------------------------------------------

/// Read a whole file; false when it cannot be read, with errno.
static bool read_text(const char *path, byte_buffer *text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    enum { PIECE = 1 << 16 };
    size_t taken = PIECE;
    while (taken == PIECE) {
        unsigned char *room = buffer_extend(text, PIECE);
        if (room == NULL) break;
        taken = fread(room, 1, PIECE, file);
        text->length -= PIECE - taken;
    }
    bool fine = !ferror(file) && !text->failed;
    fclose(file);
    return fine;
}

/// The template in share/holonom beside the folder of this program, as in the build folder and after installation.
static bool read_template_beside_tool(byte_buffer *text, char *path)
{
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        for (int i = 0; i < 2; ++i) { // from .../bin/holonom to ...
            char *slash = strrchr(program, '/');
            if (slash != NULL) *slash = '\0';
        }
        snprintf(path, PATH_SIZE, "%.4000s/share/holonom/viewer.html", program);
        if (read_text(path, text)) return true;
    }
    buffer_free(text);
    char installed[PATH_SIZE];
    snprintf(installed, sizeof installed, "%s/viewer.html", HOLONOM_DATA_FOLDER);
    return read_text(installed, text);
}

/// The template, or NULL after a report; `mark` is where the data go.
static unsigned char *find_template(const char *asked, byte_buffer *text)
{
    char path[PATH_SIZE] = "";
    bool read = asked != NULL ? read_text(asked, text) : read_template_beside_tool(text, path);
    if (!read && asked != NULL) {
        say(stderr, "%s: cannot be read: %s\n", asked, strerror(errno));
        return NULL;
    }
    if (!read) {
        say(stderr,
            "holonom view: the page's template has not been built: there is no %s\n"
            "  It needs Node 18 or newer with npm (Debian: apt-get install nodejs npm), then "
            "in the source folder: make viewer\n"
            "  Everything else works without; 'holonom plot' draws figures, 'holonom export' "
            "writes tables.\n",
            path);
        return NULL;
    }
    buffer_append(text, "", 1); // to search in
    unsigned char *mark = text->failed ? NULL : (unsigned char *)strstr((char *)text->bytes, MARK);
    if (mark == NULL)
        say(stderr, "%s: is not a template of a page\n", asked != NULL ? asked : path);
    else text->length -= 1;
    return mark;
}

// ---- page -------------------------------------------------------------------------------------------

static int report_failure(hn_context *context, hn_status status)
{
    say(stderr, "%s\n",
        status == HN_OUT_OF_MEMORY ? "holonom view: there is no memory"
                                   : hn_context_message(context));
    return status == HN_OUT_OF_MEMORY ? EXIT_RUN_FAILED : EXIT_FILE;
}

static void append_script(byte_buffer *page, const char *id, int index, const byte_buffer *packed)
{
    char tag[96];
    char number[16] = "";
    if (index >= 0) snprintf(number, sizeof number, "-%d", index);
    int length = snprintf(tag, sizeof tag, "<script type=\"text/plain\" id=\"%s%s\">", id, number);
    buffer_append(page, tag, (size_t)length);
    buffer_append_base64(page, packed);
    buffer_append(page, "</script>\n", 10);
}

static void write_bytes(const void *what, FILE *file)
{
    const byte_buffer *page = what;
    fwrite(page->bytes, 1, page->length, file);
}

/// Describe and pack all results into the page behind the template's first part.
static hn_status append_results(hn_context *context, hn_result_file **files,
                                const page_result *results, int count, size_t size_max,
                                byte_buffer *page, page_data *data)
{
    char(*labels)[LABEL_SIZE] = malloc((size_t)count * sizeof *labels);
    if (labels == NULL) return HN_OUT_OF_MEMORY;
    make_labels(files, results, count, labels);
    byte_buffer json = {NULL, 0, 0, false}, packed = {NULL, 0, 0, false};
    hn_status status = HN_OK;
    // what the texts take is known before the numbers are packed
    for (int pass = 0; pass < 2 && status == HN_OK; ++pass) {
        buffer_free(&json);
        buffer_free(&packed);
        json_print(
            &json,
            "{\"format\":\"holonom page\",\"version\":1,\"holonom_version\":\"%s\",\"results\":[",
            hn_version());
        for (int i = 0; i < count; ++i)
            describe_result(&json, files[i], &data[i], labels[i],
                            results[i].label == NULL ? base_name(results[i].path) : "");
        if (!json.failed && json.bytes[json.length - 1] == ',') json.length -= 1;
        json_print(&json, "]}");
        if (!buffer_gzip(&json, &packed)) status = HN_OUT_OF_MEMORY;
        if (pass == 1 || status != HN_OK) break;
        const size_t texts = page->length + packed.length / 3 * 4 + 4096;
        size_t each = texts < size_max ? (size_max - texts) / 4 * 3 / (size_t)count : 0;
        if (each < RESULT_SIZE_MIN) each = RESULT_SIZE_MIN;
        for (int i = 0; i < count && status == HN_OK; ++i)
            status = page_data_gather(context, files[i], each, &data[i]);
    }
    if (status == HN_OK) append_script(page, "holonom-description", -1, &packed);
    for (int i = 0; i < count && status == HN_OK; ++i)
        append_script(page, "holonom-data", i, &data[i].packed);
    buffer_free(&packed);
    buffer_free(&json);
    free(labels);
    return status;
}

static hn_status open_results(hn_context *context, const page_result *results, int count,
                              hn_result_file **files)
{
    for (int i = 0; i < count; ++i) {
        hn_status status = hn_result_file_open(context, results[i].path, &files[i]);
        if (status != HN_OK) return status;
    }
    return HN_OK;
}

/// A file without a record has nothing to show.
static bool all_have_records(hn_result_file **files, const page_result *results, int count)
{
    for (int i = 0; i < count; ++i)
        if (hn_result_file_info(files[i])->record_count < 1) {
            say(stderr, "%s: has no records yet; try again when the run has gone on\n",
                results[i].path);
            return false;
        }
    return true;
}

static void tell_size(const char *output, const byte_buffer *page, const page_data *data, int count)
{
    say(stdout, "  wrote %s   %.1f MB, opens in any browser\n", output, (double)page->length / 1e6);
    for (int i = 0; i < count; ++i)
        if (data[i].frame_count < data[i].record_count) {
            printf("  thinned for the page: %lld frames of %lld records, plots of %lld points\n",
                   (long long)data[i].frame_count, (long long)data[i].record_count,
                   (long long)data[i].sample_count);
            break;
        }
}

// main finds out whether the standard output took it
static int hand_out(const char *output, const byte_buffer *page)
{
    if (page->failed) return report_no_memory();
    if (strcmp(output, "-") != 0) return output_write(output, write_bytes, page);
    fwrite(page->bytes, 1, page->length, stdout);
    return EXIT_FINE;
}

int page_write_json(const char *id, const byte_buffer *json, const char *output,
                    const char *template_path)
{
    byte_buffer text = {NULL, 0, 0, false}, page = {NULL, 0, 0, false},
                packed = {NULL, 0, 0, false};
    const unsigned char *mark = find_template(template_path, &text);
    int code = mark == NULL ? EXIT_FILE : EXIT_FINE;
    if (code == EXIT_FINE && (json->failed || !buffer_gzip(json, &packed))) code = EXIT_RUN_FAILED;
    if (code == EXIT_FINE) {
        const size_t before = (size_t)(mark - text.bytes), after = before + sizeof MARK - 1;
        buffer_append(&page, text.bytes, before);
        append_script(&page, id, -1, &packed);
        buffer_append(&page, text.bytes + after, text.length - after);
        code = hand_out(output, &page);
    }
    if (code == EXIT_FINE && strcmp(output, "-") != 0) tell_size(output, &page, NULL, 0);
    buffer_free(&packed);
    buffer_free(&page);
    buffer_free(&text);
    return code;
}

int page_write(const page_result *results, int count, const char *output, const char *template_path)
{
    byte_buffer text = {NULL, 0, 0, false}, page = {NULL, 0, 0, false};
    const unsigned char *mark = find_template(template_path, &text);
    hn_context *context = hn_context_create(NULL);
    hn_result_file **files = calloc((size_t)count, sizeof(hn_result_file *));
    page_data *data = calloc((size_t)count, sizeof *data);
    int code = mark == NULL ? EXIT_FILE : EXIT_FINE;
    if (code == EXIT_FINE && (context == NULL || files == NULL || data == NULL))
        code = EXIT_RUN_FAILED;
    if (code == EXIT_FINE) {
        hn_context_set_log(context, report_log_line, NULL);
        hn_status status = open_results(context, results, count, files);
        if (status != HN_OK) code = report_failure(context, status);
    }
    if (code == EXIT_FINE && !all_have_records(files, results, count)) code = EXIT_FILE;
    if (code == EXIT_FINE) {
        const size_t before = (size_t)(mark - text.bytes), after = before + sizeof MARK - 1;
        buffer_append(&page, text.bytes, before);
        hn_status status = append_results(context, files, results, count,
                                          PAGE_SIZE_MAX - (text.length - after), &page, data);
        buffer_append(&page, text.bytes + after, text.length - after);
        if (status != HN_OK) code = report_failure(context, status);
    }
    if (code == EXIT_FINE) code = hand_out(output, &page);
    if (code == EXIT_FINE && strcmp(output, "-") != 0) tell_size(output, &page, data, count);
    for (int i = 0; i < count && files != NULL && data != NULL; ++i) {
        hn_result_file_close(files[i]);
        buffer_free(&data[i].packed);
    }
    free(data);
    free(files);
    hn_context_destroy(context);
    buffer_free(&page);
    buffer_free(&text);
    return code;
}
