// SPDX-License-Identifier: MIT
// What a stopped or killed run has left under a name, and with which settings it had been started.
#ifndef CLI_STOPPED_RUN_H
#define CLI_STOPPED_RUN_H

#include <holonom/holonom.h>

typedef enum stopped_run_state {
    STOPPED_RUN_NONE,     ///< nothing to go on with
    STOPPED_RUN_THERE,    ///< result so far and a checkpoint
    STOPPED_RUN_COMPLETE, ///< it had come to its end
    STOPPED_RUN_UNREADABLE, ///< reported on the error stream
} stopped_run_state;

typedef struct stopped_run {
    hn_simulation_def settings;
    hn_results_def run;
    char *series;        ///< run.series, released by stopped_run_release
    bool has_ledger;     ///< of a complete run
    hn_ledger ledger;    ///< at its end
    const char *missing; ///< why there is nothing to go on with, in words
} stopped_run;

/// Look for what a run of `model` with results at `output` has left. `settings` and `run` are filled for
/// STOPPED_RUN_THERE and STOPPED_RUN_COMPLETE.
stopped_run_state stopped_run_find(hn_context *context, const hn_model *model, const char *output,
                                   stopped_run *found);

/// Release what stopped_run_find has filled.
void stopped_run_release(stopped_run *found);

/// Are there a .part and a checkpoint under this name?
bool stopped_run_is_there(const char *output);

#endif
