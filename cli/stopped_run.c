// SPDX-License-Identifier: MIT
// Looking for the .part and the checkpoint of a run, or for its finished result.
#define _POSIX_C_SOURCE 200809L
#include "stopped_run.h"

#include "report.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// "run.h5" and ".part" to "run.h5.part"; owned by the caller.
static char *name_with(const char *output, const char *ending)
{
    size_t size = strlen(output) + strlen(ending) + 1;
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s%s", output, ending);
    return name;
}

static bool is_there(const char *path)
{
    return path != NULL && access(path, F_OK) == 0;
}

static bool same_text(const hn_result_info *info, const hn_model *model)
{
    size_t length = 0;
    const char *text = hn_model_text(model, &length);
    return text != NULL && info->model_text != NULL && info->model_text_length == length &&
           memcmp(info->model_text, text, length) == 0;
}

/// Settings in a result file; false after reporting why they cannot be read.
static bool read_settings(hn_context *context, const hn_model *model, const char *path,
                          stopped_run *found, bool *complete)
{
    hn_result_file *file = NULL;
    if (hn_result_file_open(context, path, &file) != HN_OK) {
        say(stderr, "%s\n", hn_context_message(context));
        return false;
    }
    const hn_result_info *info = hn_result_file_info(file);
    found->settings = info->settings;
    found->run = info->run;
    found->series = info->run.series == NULL ? NULL : name_with(info->run.series, "");
    bool copied = info->run.series == NULL || found->series != NULL;
    found->run.series = found->series;
    found->has_ledger = info->has_ledger;
    found->ledger = info->ledger;
    *complete = info->complete && same_text(info, model);
    hn_result_file_close(file);
    if (!copied) report_no_memory();
    return copied;
}

void stopped_run_release(stopped_run *found)
{
    free(found->series);
    found->series = NULL;
    found->run.series = NULL;
}

stopped_run_state stopped_run_find(hn_context *context, const hn_model *model, const char *output,
                                   stopped_run *found)
{
    char *part = name_with(output, ".part"), *checkpoint = name_with(output, ".checkpoint");
    stopped_run_state state = STOPPED_RUN_NONE;
    bool complete = false;
    *found = (stopped_run){0};
    found->missing = "there is no result of a stopped run under this name";
    if (is_there(part)) {
        found->missing = "it has no checkpoint";
        if (is_there(checkpoint))
            state = read_settings(context, model, part, found, &complete) ? STOPPED_RUN_THERE
                                                                          : STOPPED_RUN_UNREADABLE;
    } else if (is_there(output)) {
        state = read_settings(context, model, output, found, &complete) ? STOPPED_RUN_COMPLETE
                                                                        : STOPPED_RUN_UNREADABLE;
        if (state == STOPPED_RUN_COMPLETE && !complete) {
            state = STOPPED_RUN_NONE;
            found->missing = "the result under this name is of another model";
        }
    }
    free(checkpoint);
    free(part);
    return state;
}

bool stopped_run_is_there(const char *output)
{
    char *part = name_with(output, ".part"), *checkpoint = name_with(output, ".checkpoint");
    bool there = is_there(part) && is_there(checkpoint);
    free(checkpoint);
    free(part);
    return there;
}
