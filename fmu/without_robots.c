// SPDX-License-Identifier: MIT
// The unit holds a model file, into which the tool has converted whatever it was made from: this stands for the reader
// of robot descriptions, so that a unit needs no libxml2.
#include "io/urdf.h"

#include <string.h>

bool urdf_is_robot(const char *text, size_t length)
{
    (void)text, (void)length;
    return false;
}

hn_status urdf_to_model(hn_context *context, const char *text, size_t length, const char *file, bool free_base,
                        char **model, size_t *model_length)
{
    (void)text, (void)length, (void)free_base, (void)model, (void)model_length;
    return context_fail(context, HN_FILE_FORMAT, "%s: a co-simulation unit reads model files only", file);
}
