// SPDX-License-Identifier: MIT
// The simulations of a paper, in parallel processes, and the values that formulas take from them.
#ifndef CLI_PAPER_RUN_H
#define CLI_PAPER_RUN_H

#include "formula.h"
#include "paper.h"

/// What a simulation leaves beside its result file; plain bytes, which a process sends to its parent.
typedef struct paper_outcome {
    bool made;         ///< all steps, or as many as went before one failed where it may
    char message[320]; ///< why not
    double numbers[NUMBER_COUNT];
} paper_outcome;

/// One member of a run: its job.
typedef struct paper_job {
    const paper *paper;
    const paper_run *run;
    int member; ///< index of its step
    char *result_path;
    paper_outcome outcome;
} paper_job;

/// Make all jobs, `process_count` at a time; timed ones alone at the end. `quiet` hides the progress.
/// False: processes could not be started.
bool paper_jobs_make(paper_job *jobs, int job_count, int process_count, const char *models,
                     bool quiet);

/// Values of formulas from finished jobs.
typedef struct paper_values {
    hn_context *context;
    const paper *p;
    const paper_job *jobs; ///< those of the paper, in the order of runs and members
    formula_memory memory;
    struct cached_value *cache;
    int depth;
} paper_values;

/// Evaluate a formula of the paper. False: `message` says why there is no value.
bool paper_evaluate(paper_values *values, paper_text formula, formula_value *value,
                    char message[FORMULA_MESSAGE_SIZE]);
void paper_values_clear(paper_values *values);

#endif
