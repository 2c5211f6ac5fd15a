// SPDX-License-Identifier: MIT
// The page of one or several results: description and numbers put into the viewer's template.
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <holonom/holonom.h>

/// A result of a page.
typedef struct page_result {
    const char *path;
    const char
        *label; ///< tells it from the others; NULL: made from scheme, reduction, step and file name
} page_result;

/// Write a page of `count` results to `output`, - for the standard output. `template_path` may be NULL: the template
/// installed beside the tool. Mistakes are reported on the error stream; returns an exit code.
int page_write(const page_result *results, int count, const char *output,
               const char *template_path);

/// Write a page of one text, JSON, which its script finds packed under `id`; otherwise as page_write.
struct byte_buffer;
int page_write_json(const char *id, const struct byte_buffer *json, const char *output,
                    const char *template_path);

/// "run.h5" and "run.h5.part" become "run" with another ending, other names get it added. The caller frees it.
char *name_with_ending(const char *result, const char *ending);

#endif
