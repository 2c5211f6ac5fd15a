// SPDX-License-Identifier: MIT
// Fuzz target: numbers and arithmetic of model files. Lines are expressions; "name = expression" defines a parameter.
#include "io/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hn_context *context = hn_context_create(NULL);
    expression_set *set = NULL;
    char *text = malloc(size + 1);
    if (context == NULL || text == NULL || expression_set_create(context, &set) != HN_OK) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n'), *equals;
        if (end != NULL) *end = '\0';
        double value = 0.0;
        expression_error error = {.position = 0};
        if ((equals = strstr(line, " = ")) != NULL) {
            *equals = '\0';
            if (expression_evaluate(set, equals + 3, &value, &error))
                (void)expression_define(set, line, value, &error);
        } else if (expression_evaluate(set, line, &value, &error)) {
            if (!isfinite(value)) abort();
        } else if (error.message[0] == '\0' || error.position < 0 ||
                   (size_t)error.position > strlen(line)) {
            abort(); // a refusal says why and where
        }
        line = end == NULL ? NULL : end + 1;
    }
    expression_set_destroy(set);
    hn_context_destroy(context);
    free(text);
    return 0;
}
