// SPDX-License-Identifier: MIT
// Studies: one model run many times with other values of its parameters, and a few numbers kept of each run.
#ifndef HOLONOM_STUDY_H
#define HOLONOM_STUDY_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A study file (YAML, format 1): model, parameters with their grids, lists and distributions, what is kept of a run,
/// what counts as failure. Nothing changes it: threads may run members of one study at the same time. Since 0.2.
typedef struct hn_study hn_study;

/// Read a study and the model it names, beside its file. The model is assembled with its own parameters, so that
/// mistakes show here; members find outputs by their names in models of their own.
/// @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT (message begins with file:line:column), and what assembling a model
/// returns
HN_API HN_NODISCARD hn_status hn_study_load(hn_context *context, const char *path, hn_study **study);
/// The same from text in memory; `name` stands for the path in messages. `model` (or NULL) is the text of a model file
/// instead of the one that the study names.
HN_API HN_NODISCARD hn_status hn_study_parse(hn_context *context, const char *text, size_t length, const char *name,
                                             const char *model, size_t model_length, hn_study **study);
/// NULL is fine.
HN_API void hn_study_destroy(hn_study *study);

HN_API const char *hn_study_name(const hn_study *study);
HN_API int64_t hn_study_member_count(const hn_study *study);
/// Tells studies apart: a hash of its text and its model.
HN_API uint64_t hn_study_identity(const hn_study *study);
/// Texts of the study and its model, and their lengths.
HN_API const char *hn_study_text(const hn_study *study, size_t *length);
HN_API const char *hn_study_model_text(const hn_study *study, size_t *length);
/// Files that a study was read from besides its own: its model, then its table; "" beyond the last.
HN_API const char *hn_study_source(const hn_study *study, int index);

HN_API int hn_study_parameter_count(const hn_study *study);
HN_API const char *hn_study_parameter_name(const hn_study *study, int index); ///< "" beyond the last
/// Numbers kept of each member.
HN_API int hn_study_output_count(const hn_study *study);
HN_API const char *hn_study_output_name(const hn_study *study, int index); ///< "" beyond the last
HN_API const char *hn_study_output_unit(const hn_study *study, int index);

/// Values of a member's parameters, hn_study_parameter_count of them: a function of the study and the number of the
/// member alone, the same in any shard and order.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such member)
HN_API HN_NODISCARD hn_status hn_study_parameters(const hn_study *study, int64_t member, double *values);

/// How a member ended.
typedef struct hn_study_outcome {
    hn_status status;  ///< of assembling and stepping it
    bool failed;       ///< status is not HN_OK, or the study calls its numbers a failure
    char message[480]; ///< then why; otherwise the first warning of its run, "": there was none
} hn_study_outcome;
/// Run a member with memory and messages of `context`, one per thread. `outputs` gets hn_study_output_count numbers;
/// NAN for what was not reached. A member that fails is no failure of this call: `outcome` tells.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such member), HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_study_run(hn_context *context, const hn_study *study, int64_t member, double *outputs,
                                           hn_study_outcome *outcome);

// ---- tables: the results of a study, or of a shard of it --------------------------------------------

typedef struct hn_study_table hn_study_table;

/// A table without rows. @return HN_OK, HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_study_table_create(hn_context *context, const hn_study *study, hn_study_table **table);
/// Read one. @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT, HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_study_table_read(hn_context *context, const char *path, hn_study_table **table);
/// NULL is fine.
HN_API void hn_study_table_destroy(hn_study_table *table);

/// Put a member's row in; a row of the same member is replaced.
/// @return HN_OK, HN_INVALID_ARGUMENT (no such member), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_study_table_put(hn_study_table *table, int64_t member, const double *parameters,
                                                 const double *outputs, const hn_study_outcome *outcome);
/// Put all rows of another table of the same study in. A member that both have must have equal rows.
/// @return HN_OK, HN_INVALID_ARGUMENT (of another study, or rows differ), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_study_table_merge(hn_study_table *table, const hn_study_table *other);
/// Write it as an HDF5 file, rows in the order of their members: equal tables give equal files.
/// @return HN_OK, HN_FILE_ACCESS (disk full, ...: nothing is left under the name)
HN_API HN_NODISCARD hn_status hn_study_table_write(hn_study_table *table, const char *path);

/// What is in a table; lives until it is changed.
typedef struct hn_study_view {
    const char *name;             ///< of the study
    uint64_t identity;
    int64_t member_count;         ///< of the whole study
    int64_t row_count;            ///< members that are here
    int parameter_count, output_count;
    const int64_t *members;       ///< row_count, increasing
    const double *parameters;     ///< row_count x parameter_count
    const double *outputs;        ///< row_count x output_count
    const int *statuses;          ///< row_count: hn_status
    const int *failed;            ///< row_count: 0 or 1
    const char *text, *model_text; ///< of study and model, ended by a zero
} hn_study_view;
HN_API hn_study_view hn_study_table_view(const hn_study_table *table);
HN_API const char *hn_study_table_parameter_name(const hn_study_table *table, int index); ///< "" beyond the last
HN_API const char *hn_study_table_output_name(const hn_study_table *table, int index);
HN_API const char *hn_study_table_output_unit(const hn_study_table *table, int index);
HN_API const char *hn_study_table_message(const hn_study_table *table, int64_t row); ///< why it failed, a warning, ""

#ifdef __cplusplus
}
#endif

#endif
