// SPDX-License-Identifier: MIT
// The page of a study's table.
#ifndef CLI_STUDY_PAGE_H
#define CLI_STUDY_PAGE_H

#include <stdbool.h>

/// Is there a table of a study under this name?
bool is_study_table(const char *path);

/// Write its page to `output`, - for the standard output; `template_path` may be NULL. Returns an exit code.
int study_page_write(const char *path, const char *output, const char *template_path);

#endif
