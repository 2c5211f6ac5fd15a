// SPDX-License-Identifier: MIT
// Fuzz target: the reader of studies takes any bytes; it may refuse them, with a message, and must not crash or leak.
// What it takes has values for its first and last member.
#include <holonom/holonom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// libfyaml keeps a buffer of some texts that it refuses; what is ours is not forgiven.
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

static const char MODEL[] =
    "holonom: 1\n"
    "parameters: {length: 1, mass: 1}\n"
    "bodies: {bob: {point_mass: {mass: mass, plane_normal: y}, position: [length, 0, 0]}}\n"
    "joints: {rod: {distance: {bodies: [ground, bob], from: [0, 0, 0], to: [length, 0, 0]}}}\n"
    "run: {step: 0.01, end: 0.02}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 0;
    hn_study *study = NULL;
    hn_status status =
        hn_study_parse(context, (const char *)data, size, "fuzz", MODEL, sizeof MODEL - 1, &study);
    const char *message = hn_context_message(context);
    // of the table, by its own name
    bool of_table = (status == HN_FILE_ACCESS || status == HN_FILE_FORMAT) && message[0] != '\0';
    bool told = strncmp(message, "fuzz:", 5) == 0 || status == HN_OUT_OF_MEMORY || of_table;
    if ((status == HN_OK) != (study != NULL) || (status != HN_OK && !told)) {
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
        abort();
    }
    double values[8];
    int64_t last = hn_study_member_count(study) - 1;
    if (study != NULL &&
        (hn_study_parameter_count(study) > 8 || hn_study_parameters(study, 0, values) != HN_OK ||
         hn_study_parameters(study, last, values) != HN_OK))
        abort();
    hn_study_destroy(study);
    hn_context_destroy(context);
    return 0;
}
