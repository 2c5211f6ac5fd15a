// SPDX-License-Identifier: MIT
// Foundations of the public API: export macro, version, status codes, small vectors, the context.
#ifndef HOLONOM_BASE_H
#define HOLONOM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HN_API __attribute__((visibility("default")))
#define HN_NODISCARD __attribute__((warn_unused_result))
#define HN_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define HN_API
#define HN_NODISCARD
#define HN_PRINTF(format_index, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HN_VERSION_MAJOR 0
#define HN_VERSION_MINOR 2
#define HN_VERSION_PATCH 0

/// Version of the library at run time, as text: "0.2.0".
HN_API const char *hn_version(void);
/// The same as a number, 10000 major + 100 minor + patch: 200 for 0.2.0. Since 0.2.
HN_API int hn_version_number(void);

// Definitions, the structs that a program fills, begin with their size: hn_body_def_default() and its like set it to
// what the program was compiled with, through hn_body_def_init. A later version may add fields at the end of a
// definition, and in place of `reserved`: a program that does not know them gets their defaults, without being compiled
// again. A library that does not know a field which a program sets refuses it. Structs that the library fills are
// closed within a version of two numbers (0.2); what comes beside them has functions of its own, or a name: settings,
// views and result series are found by name.

/// Vector of three numbers; unit and frame stand at each use.
typedef struct hn_vec3 {
    double x, y, z;
} hn_vec3;

/// 3x3 matrix by rows. A rotation matrix maps body components to world components; its columns are the body axes.
typedef struct hn_mat3 {
    double m[3][3];
} hn_mat3;

/// Every status code with the sentence that explains it.
#define HN_STATUS_LIST(X)                                                                          \
    X(HN_OK, "success")                                                                            \
    X(HN_OUT_OF_MEMORY, "the allocator returned no memory")                                        \
    X(HN_INVALID_ARGUMENT, "an argument is outside its documented range")                          \
    X(HN_INVALID_MODEL, "the model is inconsistent")                                               \
    X(HN_NOT_CONVERGED, "the nonlinear iteration did not converge")                                \
    X(HN_SINGULAR_SYSTEM, "the linear system is singular")                                         \
    X(HN_FILE_FORMAT, "the file does not follow the format")                                       \
    X(HN_FILE_ACCESS, "the file cannot be read or written")                                        \
    X(HN_CANCELLED, "the run was cancelled")                                                       \
    X(HN_NOT_FINITE, "a result is not a finite number")

typedef enum hn_status {
#define HN_STATUS_ENTRY(code, sentence) code,
    HN_STATUS_LIST(HN_STATUS_ENTRY)
#undef HN_STATUS_ENTRY
} hn_status;

/// Name of a status code, e.g. "HN_INVALID_MODEL".
HN_API const char *hn_status_name(hn_status status);

/// Inverse of hn_status_name; false for an unknown word. Since 0.2.
HN_API bool hn_status_from_name(const char *name, hn_status *status);

/// Sentence that explains a status code.
HN_API const char *hn_status_sentence(hn_status status);

/// Memory source of a context. `release` is called only with pointers that `allocate` returned.
typedef struct hn_allocator {
    void *(*allocate)(size_t size, void *user); ///< returns memory aligned for any type, or NULL
    void (*release)(void *pointer, void *user); ///< never called with NULL
    void *user;                                 ///< handed to both
} hn_allocator;

/// Receives warnings and progress notes, one line each without a line end.
typedef void (*hn_log_function)(const char *line, void *user);

/// A context carries the allocator, the log callback and the message of the last failure. One context per thread.
/// What was created from it may be destroyed after it: memory and messages stay until the last of them is gone.
typedef struct hn_context hn_context;

/// Create a context. NULL allocator: malloc and free. Returns NULL when there is no memory.
HN_API hn_context *hn_context_create(const hn_allocator *allocator);

/// Give a context back; NULL is fine. Its name must not be used afterwards.
HN_API void hn_context_destroy(hn_context *context);

/// What went wrong in the last call that failed: which thing, where, what would help. Empty before any failure, and
/// for NULL.
HN_API const char *hn_context_message(const hn_context *context);

/// Set the log callback; NULL switches it off (the default).
HN_API void hn_context_set_log(hn_context *context, hn_log_function function, void *user);

/// Ask the long call under way in this context, or the next one, to stop: those that read a model (hn_model_parse,
/// hn_model_load and their like), hn_simulation_create, hn_simulation_step, hn_simulation_follow and
/// hn_simulation_linearise (but for its eigenvalues at the end) return HN_CANCELLED soon, with the state of the last
/// completed step, and may be called again. The one function that another thread or a signal
/// handler may call meanwhile. Since 0.2.
HN_API void hn_context_cancel(hn_context *context);

/// Bytes that a hidden character is shown by, with the end.
#define HN_HIDDEN_SHOWN_MAX 7

/// Bytes of the character that `text` begins with (UTF-8), if no terminal should get it: controls, and what breaks
/// lines or turns their direction, which names from files may hold; 0: it may be shown. `shown`, of
/// HN_HIDDEN_SHOWN_MAX bytes: what stands for it, as \x1B or \u202E; NULL if it is not wanted. Messages show them so.
/// Since 0.2.
HN_API size_t hn_hidden_character(const char *text, char *shown);

#ifdef __cplusplus
}
#endif

#endif
