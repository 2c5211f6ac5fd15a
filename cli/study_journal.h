// SPDX-License-Identifier: MIT
// What a study has done so far, row by row on disk: a process may be killed at any moment and go on from here.
#ifndef CLI_STUDY_JOURNAL_H
#define CLI_STUDY_JOURNAL_H

#include <holonom/holonom.h>

typedef struct study_journal {
    int file; ///< -1: none
    char *path;
    int64_t length; ///< bytes of complete records
    int output_count;
} study_journal;

/// A row that was found: put it where it belongs.
typedef bool (*journal_row)(void *user, int64_t member, const double *outputs, const hn_study_outcome *outcome);

/// Open the journal beside `output`, alone; `resume`: hand on the rows that it has, and forget a row that was being
/// written. One with rows is not replaced, nor a file that is none. Reports what is wrong and returns an exit code.
int journal_open(study_journal *journal, const char *output, const hn_study *study, int shard, int shards, bool resume,
                 journal_row row, void *user);

/// Append a row; false with errno when it cannot be written: the rows before it stay.
bool journal_append(study_journal *journal, int64_t member, const double *outputs, const hn_study_outcome *outcome);

/// Close; `remove` when the results stand elsewhere.
void journal_close(study_journal *journal, bool remove);

#endif
