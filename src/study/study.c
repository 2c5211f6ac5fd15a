// SPDX-License-Identifier: MIT
// Studies: made from a file or text, and what they tell about themselves.
#include "study/study.h"

#include "base/hash.h"
#include "io/model_file.h"

hn_status hn_study_parse(hn_context *context, const char *text, size_t length, const char *name,
                         const char *model, size_t model_length, hn_study **out)
{
    REQUIRE(context, out != NULL);
    *out = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, (text != NULL || length == 0) && name != NULL);
    hn_study *study = context_allocate(context, sizeof *study);
    if (study == NULL) return HN_OUT_OF_MEMORY;
    study->context = context_retain(context);
    study->text = context_allocate(context, length + 1);
    study->text_length = length;
    if (study->text != NULL && length > 0) memcpy(study->text, text, length);
    hn_status status =
        study->text == NULL ? HN_OUT_OF_MEMORY : study_read(study, name, model, model_length);
    if (status != HN_OK) {
        hn_study_destroy(study);
        return status;
    }
    uint64_t hash = hash_bytes(HASH_START, study->text, length);
    hash = hash_bytes(hash, study->model_text, study->model_length);
    // a table stands in another file
    for (int i = 0; i < study->parameter_count; ++i)
        hash = hash_doubles(hash, study->parameters[i].values, (size_t)study->parameters[i].count);
    study->identity = hash;
    *out = study;
    return HN_OK;
}

hn_status hn_study_load(hn_context *context, const char *path, hn_study **study)
{
    REQUIRE(context, study != NULL);
    *study = NULL;
    REQUIRE(NULL, context != NULL);
    REQUIRE(context, path != NULL);
    char *text = NULL;
    size_t length = 0;
    hn_status status = model_file_text(context, path, &text, &length);
    if (status == HN_OK) status = hn_study_parse(context, text, length, path, NULL, 0, study);
    context_release(context, text);
    return status;
}

void hn_study_destroy(hn_study *study)
{
    if (study == NULL) return;
    hn_context *context = study->context;
    for (int i = 0; i < study->parameter_count; ++i) {
        context_release(context, study->parameters[i].name);
        context_release(context, study->parameters[i].values);
        context_release(context, study->parameters[i].cumulative);
    }
    for (int i = 0; i < study->output_count; ++i) context_release(context, study->outputs[i].name);
    for (int i = 0; i < study->setting_count; ++i) {
        context_release(context, study->settings[i].name);
        context_release(context, study->settings[i].value);
    }
    context_release(context, study->settings);
    context_release(context, study->parameters);
    context_release(context, study->outputs);
    context_release(context, study->limits);
    context_release(context, study->orders);
    context_release(context, study->name);
    context_release(context, study->text);
    context_release(context, study->model_text);
    context_release(context, study->model_name);
    for (int i = 0; i < study->source_count; ++i) context_release(context, study->sources[i]);
    context_release(context, study);
    context_drop(context);
}

const char *hn_study_name(const hn_study *study)
{
    return study == NULL ? "" : study->name;
}

int64_t hn_study_member_count(const hn_study *study)
{
    return study == NULL ? 0 : study->member_count;
}

uint64_t hn_study_identity(const hn_study *study)
{
    return study == NULL ? 0 : study->identity;
}

const char *hn_study_text(const hn_study *study, size_t *length)
{
    if (length != NULL) *length = study == NULL ? 0 : study->text_length;
    return study == NULL ? NULL : study->text;
}

const char *hn_study_model_text(const hn_study *study, size_t *length)
{
    if (length != NULL) *length = study == NULL ? 0 : study->model_length;
    return study == NULL ? NULL : study->model_text;
}

const char *hn_study_source(const hn_study *study, int index)
{
    return study == NULL || index < 0 || index >= study->source_count ? "" : study->sources[index];
}

int hn_study_parameter_count(const hn_study *study)
{
    return study == NULL ? 0 : study->parameter_count;
}

const char *hn_study_parameter_name(const hn_study *study, int index)
{
    bool known = study != NULL && index >= 0 && index < study->parameter_count;
    return known ? study->parameters[index].name : "";
}

int hn_study_output_count(const hn_study *study)
{
    return study == NULL ? 0 : study->output_count;
}

const char *hn_study_output_name(const hn_study *study, int index)
{
    bool known = study != NULL && index >= 0 && index < study->output_count;
    return known ? study->outputs[index].name : "";
}

const char *hn_study_output_unit(const hn_study *study, int index)
{
    bool known = study != NULL && index >= 0 && index < study->output_count;
    return known ? study->outputs[index].unit : "";
}
