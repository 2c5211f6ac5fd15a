// SPDX-License-Identifier: MIT
// Other values for a model file's parameters: written into its text, so that what is read, kept in results and repeated
// is one and the same file.
#ifndef IO_MODEL_PARAMETERS_H
#define IO_MODEL_PARAMETERS_H

#include <holonom/model.h>

#include "base/context.h"

/// The text of a model file with other values in its `parameters`; owned by the caller (context_release).
hn_status model_text_with_parameters(hn_context *context, const char *text, size_t length, const char *file,
                                     const hn_parameter *parameters, int count, char **changed, size_t *changed_length);

#endif
