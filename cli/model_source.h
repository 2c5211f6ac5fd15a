// SPDX-License-Identifier: MIT
// Where a command's model comes from: a file or the standard input, with other values for its parameters.
#ifndef CLI_MODEL_SOURCE_H
#define CLI_MODEL_SOURCE_H

#include "options.h"

#include <holonom/holonom.h>

/// Words of a command line; the option is MODEL_PARAMETER_OPTION.
typedef struct model_source {
    const char *path; ///< "-": the standard input
    const char *parameters[OPTION_REPEAT_MAX]; ///< NAME=VALUE
} model_source;

#define MODEL_PARAMETER_OPTION(source)                                                             \
    {"--parameter", "NAME=VALUE", "another value for a parameter of the model; may be repeated",   \
     (source).parameters}

/// Load the model; on failure report it and return the exit code, otherwise 0 and the model.
int model_source_load(hn_context *context, const char *command, const model_source *source,
                      hn_model **model);

/// What the model's files are named after: its path, "model" for the standard input.
const char *model_source_name(const model_source *source);

#endif
