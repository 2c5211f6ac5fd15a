// SPDX-License-Identifier: MIT
// Settings that only some schemes read, as `--set name=value,...` on the command line.
#ifndef CLI_SCHEME_SETTINGS_H
#define CLI_SCHEME_SETTINGS_H

#include <holonom/holonom.h>

/// Put the settings of `text` (NULL: none) into a definition. False after reporting what is wrong.
bool apply_scheme_settings(const char *command, const char *text, hn_simulation_def *def);

#endif
