// SPDX-License-Identifier: MIT
// Processes that run members of a study: one that is lost takes no other with it.
#ifndef CLI_STUDY_WORKERS_H
#define CLI_STUDY_WORKERS_H

#include <holonom/holonom.h>

typedef struct study_work {
    const hn_study *study;
    /// The next member to run; -1: none is left.
    int64_t (*next)(void *user);
    /// A member has ended; false stops all.
    bool (*done)(void *user, int64_t member, const double *outputs, const hn_study_outcome *outcome);
    /// Asked a few times a second; true stops all.
    bool (*stopped)(void *user);
    void *user;
} study_work;

/// Run members in `jobs` processes until none is left. A member whose process is lost is tried once more, then fails
/// with a message. False: stopped, or there are no processes to be had (it is said why).
bool study_work_run(const study_work *work, int jobs);

#endif
