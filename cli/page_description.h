// SPDX-License-Identifier: MIT
// The description of a page's results as JSON, as viewer/src/data/format.ts has it.
#ifndef CLI_PAGE_DESCRIPTION_H
#define CLI_PAGE_DESCRIPTION_H

#include "page_data.h"

/// Append the description of one result; `file_name` is what the page calls the file.
void describe_result(byte_buffer *json, hn_result_file *file, const page_data *data,
                     const char *label, const char *file_name);

/// Append a text as a JSON string. Markup in it cannot become markup: < and > are escaped too.
void json_text(byte_buffer *json, const char *text, size_t length);

/// Append like printf.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void json_print(byte_buffer *json, const char *format, ...);

#endif
