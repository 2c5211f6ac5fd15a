// SPDX-License-Identifier: MIT
// Result files: HDF5, one file per run, written beside its final name and renamed at the end.
#ifndef HOLONOM_RESULTS_H
#define HOLONOM_RESULTS_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hn_results hn_results;

/// Start a result file for a simulation of `model`. Data go to `path`.part until hn_results_finish renames it to
/// `path`.
/// @return HN_OK, HN_FILE_ACCESS, HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_results_create(const hn_model *model, hn_simulation *simulation, const char *path,
                                                hn_results **results);

/// Append the current state of the simulation as one record. Records are flushed in chunks.
/// @return HN_OK, HN_FILE_ACCESS (disk full, ...)
HN_API HN_NODISCARD hn_status hn_results_append(hn_results *results);

/// Write ledger and statistics, close, and rename to the final name.
HN_API HN_NODISCARD hn_status hn_results_finish(hn_results *results);

/// Close without renaming: the readable `.part` file stays. NULL is fine. Also frees after hn_results_finish.
HN_API void hn_results_destroy(hn_results *results);

/// Read a result file (final or .part) and write its series as comma separated values: one header line, one row a
/// record. NULL or empty `series` means all. @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT (unknown series: nearest
/// named)
HN_API HN_NODISCARD hn_status hn_results_export_csv(hn_context *context, const char *result_path, const char *csv_path,
                                                    const char *const *series, int series_count);

#ifdef __cplusplus
}
#endif

#endif
