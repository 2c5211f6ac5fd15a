// SPDX-License-Identifier: MIT
// Settings that only some schemes read, as `--set name=value,...` on the command line.
#ifndef CLI_SCHEME_SETTINGS_H
#define CLI_SCHEME_SETTINGS_H

#include <holonom/holonom.h>

/// Put the settings of the texts, up to a NULL or OPTION_REPEAT_MAX of them, into a definition. A name stands in them
/// once. False after reporting what is wrong.
bool apply_scheme_settings(const char *command, const char *const *texts, hn_simulation_def *def);

/// Name of the first setting in which two runs differ; NULL: none.
const char *different_setting(const hn_simulation_def *one, const hn_simulation_def *other);

#endif
