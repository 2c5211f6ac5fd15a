// SPDX-License-Identifier: MIT
// Verdicts on the rows of a paper, and the pages that show them.
#ifndef CLI_PAPER_REPORT_H
#define CLI_PAPER_REPORT_H

#include "paper_run.h"

typedef enum paper_verdict {
    VERDICT_CONFIRMED,
    VERDICT_NOT_CONFIRMED,
    VERDICT_OPEN,     ///< something is missing
    VERDICT_COMPARED, ///< shown beside each other without a judgement
} paper_verdict;
enum { VERDICT_COUNT = 4 };

const char *paper_verdict_word(paper_verdict verdict);

typedef struct paper_judgement {
    paper_verdict verdict;
    bool has_value;
    double value;
    char message[FORMULA_MESSAGE_SIZE]; ///< why there is no value
} paper_judgement;

/// Judge a row.
paper_judgement paper_judge(paper_values *values, const paper_row *row);

typedef struct paper_summary {
    int counts[VERDICT_COUNT];
    int figures; ///< panels drawn
    int broken;  ///< panels that could not be drawn
} paper_summary;

/// Write the report page of a paper and its lines of the table of rows; the summary is filled.
/// False: a reason is given.
bool paper_write_page(paper_values *values, const char *path, FILE *rows, paper_summary *summary,
                      const char **reason);

/// One line of the index.
typedef struct paper_index_entry {
    const paper *p;
    const char *page; ///< file name
    paper_summary summary;
} paper_index_entry;
bool paper_write_index(const paper_index_entry *entries, int count, double seconds,
                       const char *path, const char **reason);

#endif
