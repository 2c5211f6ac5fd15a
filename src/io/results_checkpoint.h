// SPDX-License-Identifier: MIT
// The restart file beside a result file: what a run needs to go on as if it had never stopped.
#ifndef IO_RESULTS_CHECKPOINT_H
#define IO_RESULTS_CHECKPOINT_H

#include "base/context.h"

typedef struct checkpoint {
    int64_t record_count; ///< records of the result file that come before it
    int64_t step_count;   ///< completed steps
    double interval;      ///< s, how often the run writes one; 0: not by time
    void *snapshot;       ///< of the simulation
    size_t snapshot_size;
} checkpoint;

/// Write it as `path`, at once or not at all: until the new one is complete and on the device, the old one stays.
hn_status checkpoint_write(hn_context *context, const char *path, const char *new_path, const checkpoint *data);

/// Read one; `data->snapshot` then belongs to the caller.
/// @return HN_OK, HN_FILE_ACCESS (none there), HN_FILE_FORMAT (not one of this version, or damaged), HN_OUT_OF_MEMORY
hn_status checkpoint_read(hn_context *context, const char *path, checkpoint *data);

/// Is there something under this name that no run has left?
bool checkpoint_is_foreign(const char *path);

#endif
