// SPDX-License-Identifier: MIT
// Fuzz target: the model file reader takes any bytes; it may refuse them, with a message, and must not crash or leak.
#include <holonom/model.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hn_context *context = hn_context_create(NULL);
    if (context == NULL) return 0;
    hn_model *model = NULL;
    hn_status status = hn_model_parse(context, (const char *)data, size, "fuzz", &model);
    if ((status == HN_OK) != (model != NULL) ||
        (status != HN_OK && strncmp(hn_context_message(context), "fuzz:", 5) != 0)) {
        fprintf(stderr, "%s: %s\n", hn_status_name(status), hn_context_message(context));
        abort();
    }
    hn_model_destroy(model);
    hn_context_destroy(context);
    return 0;
}
