// SPDX-License-Identifier: MIT
// What files and programs say of each kind of drive: its words.
#ifndef MODEL_DRIVE_KINDS_H
#define MODEL_DRIVE_KINDS_H

#include <holonom/model.h>

enum { DRIVE_WORDS_MAX = 9 };

/// Words that a definition of this kind takes, NULL after the last; those of numbers are their names in hn_drive_def.
const char *const *drive_kind_words(hn_drive_kind kind);
int drive_kind_word_count(hn_drive_kind kind);
bool drive_kind_has_word(hn_drive_kind kind, const char *word);

#endif
