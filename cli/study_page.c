// SPDX-License-Identifier: MIT
// A study's table as JSON in the viewer's template; read by viewer/src/study/table.ts.
#include "study_page.h"

#include "command.h"
#include "page.h"
#include "page_description.h"
#include "say.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const int64_t NUMBERS_MAX = 600000; // about 6 MB of text before it is packed

bool is_study_table(const char *path)
{
    hn_context *context = hn_context_create(NULL);
    hn_study_table *table = NULL;
    bool is = context != NULL && hn_study_table_read(context, path, &table) == HN_OK;
    hn_study_table_destroy(table);
    hn_context_destroy(context);
    return is;
}

static void append_text(byte_buffer *json, const char *key, const char *text)
{
    json_print(json, "\"%s\":", key);
    json_text(json, text, strlen(text));
    json_print(json, ",");
}

static void append_column(byte_buffer *json, const char *name, const char *unit, const char *role,
                          const double *first, int width, const hn_study_view *view, int64_t stride)
{
    json_print(json, "{");
    append_text(json, "name", name);
    append_text(json, "unit", unit);
    json_print(json, "\"role\":\"%s\",\"values\":[", role);
    for (int64_t i = 0; i < view->row_count; i += stride) {
        double x = first[i * width];
        if (isfinite(x)) json_print(json, "%s%.9g", i == 0 ? "" : ",", x);
        else json_print(json, "%snull", i == 0 ? "" : ",");
    }
    json_print(json, "]}");
}

static void append_columns(byte_buffer *json, const hn_study_table *table,
                           const hn_study_view *view, int64_t stride)
{
    json_print(json, "\"columns\":[");
    for (int k = 0; k < view->parameter_count; ++k) {
        if (k > 0) json_print(json, ",");
        append_column(json, hn_study_table_parameter_name(table, k), "", "parameter",
                      view->parameters + k, view->parameter_count, view, stride);
    }
    for (int k = 0; k < view->output_count; ++k) {
        json_print(json, ",");
        append_column(json, hn_study_table_output_name(table, k),
                      hn_study_table_output_unit(table, k), "output", view->outputs + k,
                      view->output_count, view, stride);
    }
    json_print(json, "],");
}

static void describe_table(byte_buffer *json, const hn_study_table *table)
{
    hn_study_view view = hn_study_table_view(table);
    int64_t width = view.parameter_count + view.output_count + 2;
    int64_t stride = (view.row_count * width + NUMBERS_MAX - 1) / NUMBERS_MAX, row = 0;
    bool first = true;
    if (stride < 1) stride = 1;
    json_print(json, "{\"format\":\"holonom study\",\"version\":1,\"holonom_version\":\"%s\",",
               hn_version());
    append_text(json, "name", view.name);
    append_text(json, "text", view.text);
    json_print(json, "\"study_members\":%" PRId64 ",\"file_members\":%" PRId64 ",\"members\":[",
               view.member_count, view.row_count);
    for (int64_t i = 0; i < view.row_count; i += stride)
        json_print(json, "%s%" PRId64, i == 0 ? "" : ",", view.members[i]);
    json_print(json, "],\"failed\":[");
    for (int64_t i = 0; i < view.row_count; i += stride)
        json_print(json, "%s%d", i == 0 ? "" : ",", view.failed[i]);
    json_print(json, "],");
    append_columns(json, table, &view, stride);
    json_print(json, "\"messages\":[");
    for (int64_t i = 0; i < view.row_count; i += stride, ++row) {
        const char *message = hn_study_table_message(table, i);
        if (message[0] == '\0') continue;
        json_print(json, "%s[%" PRId64 ",", first ? "" : ",", row);
        json_text(json, message, strlen(message));
        json_print(json, "]");
        first = false;
    }
    json_print(json, "]}");
}

int study_page_write(const char *path, const char *output, const char *template_path)
{
    hn_context *context = hn_context_create(NULL);
    hn_study_table *table = NULL;
    byte_buffer json = {NULL, 0, 0, false};
    int code = EXIT_RUN_FAILED;
    if (context != NULL) {
        if (hn_study_table_read(context, path, &table) != HN_OK) {
            say(stderr, "%s\n", hn_context_message(context));
            code = EXIT_FILE;
        } else if (hn_study_table_view(table).row_count == 0) {
            say(stderr, "%s: has no members\n", path);
            code = EXIT_FILE;
        } else {
            describe_table(&json, table);
            code = page_write_json("holonom-study", &json, output, template_path);
        }
    }
    buffer_free(&json);
    hn_study_table_destroy(table);
    hn_context_destroy(context);
    return code;
}
