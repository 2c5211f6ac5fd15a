// SPDX-License-Identifier: MIT
// A batch: many simulations of one model, stepped together on several threads.
#ifndef HOLONOM_BATCH_H
#define HOLONOM_BATCH_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Members count from 0. Each has its own state, inputs, status and ledger; what a member does is bit for bit what a
/// simulation of its own would do, whatever the number of threads. Since 0.2.
typedef struct hn_batch hn_batch;

typedef struct hn_batch_def {
    size_t size;                  ///< bytes of this struct: set by hn_batch_def_default
    int member_count;             ///< at least 1
    int thread_count;             ///< 0: one per processor
    bool resident;                ///< every member has a simulation of its own: more memory, nothing is copied between
                                  ///< steps; false: members are states, and each thread has one simulation to step them
    const char *const *parameters;  ///< names of parameters of the model file; members are then resident
    int parameter_count;
    const double *parameter_values; ///< by parameter, then member: parameter_count x member_count
    hn_simulation_def simulation;   ///< scheme, step size, ... of all members
} hn_batch_def;

/// Defaults: those of hn_simulation_def_default, no members, all processors, no parameters.
HN_API void hn_batch_def_init(hn_batch_def *def, size_t size);
static inline hn_batch_def hn_batch_def_default(void)
{
    hn_batch_def def;
    hn_batch_def_init(&def, sizeof def);
    return def;
}

/// Make all members, at the start of the model, with memory and messages of `context`. Where several threads make
/// members with parameters, the context's allocator is called by all of them: it must allow that, as malloc does. A
/// member that cannot be made has its status and message, and the rest are there; if none can, the call fails with the
/// message of the first. The batch copies what it needs: the model may be destroyed.
/// @return HN_OK, HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY, and what hn_simulation_create and hn_model_parse_with return
HN_API HN_NODISCARD hn_status hn_batch_create(hn_context *context, const hn_model *model, const hn_batch_def *def,
                                              hn_batch **batch);
/// NULL is fine.
HN_API void hn_batch_destroy(hn_batch *batch);

HN_API int hn_batch_member_count(const hn_batch *batch);
HN_API int hn_batch_thread_count(const hn_batch *batch);

/// Bytes a batch holds.
typedef struct hn_batch_memory {
    size_t state;  ///< of one member: what stepping on from it needs, no pointers
    size_t member; ///< of one member all told: state, views, inputs, status, and its own simulation where it has one
    size_t thread; ///< of one thread: the simulation that members are stepped in; 0: members have their own
    size_t total;  ///< of all members and threads
} hn_batch_memory;
HN_API hn_batch_memory hn_batch_memory_use(const hn_batch *batch);

/// Advance every member by `count` steps. A member that fails keeps the state of its last completed step and is left
/// out from then on, until its state is set or restored; the others go on. hn_context_cancel stops the call between two
/// members; a call with count 0 then lets the others catch up. Nothing is allocated, but for the message of a member
/// that fails.
/// @return HN_OK, HN_CANCELLED, or the status of the first member (by number) that failed in this call
HN_API HN_NODISCARD hn_status hn_batch_step(hn_batch *batch, int64_t count);

/// HN_OK, or why the member is left out; HN_INVALID_ARGUMENT where there is none of this number.
HN_API hn_status hn_batch_status(const hn_batch *batch, int member);
/// What went wrong in it; "" when nothing did.
HN_API const char *hn_batch_message(const hn_batch *batch, int member);
/// Members that are left out.
HN_API int hn_batch_failed_count(const hn_batch *batch);
HN_API int64_t hn_batch_step_count(const hn_batch *batch, int member); ///< completed steps of a member

/// The simulation of one member, for everything that simulation.h can tell: time, states, reactions, statistics. It is
/// the member's until the next call with this batch. Where members are states, what belongs to the last interval is not
/// known, as after hn_simulation_restore.
HN_API HN_NODISCARD hn_status hn_batch_simulation(hn_batch *batch, int member, const hn_simulation **simulation);
/// Its ledger. @return HN_OK, HN_INVALID_ARGUMENT (no such member, no ledger)
HN_API HN_NODISCARD hn_status hn_batch_ledger(hn_batch *batch, int member, hn_ledger *ledger);

/// Numbers of all members, one block: the member counts fastest. Entry (m, i, j) stands at
/// data[m strides[0] + i strides[1] + j strides[2]].
typedef struct hn_batch_view {
    const double *data;
    int rank;             ///< dimensions, the first is the member
    size_t shape[4];      ///< {members, bodies, 3}
    ptrdiff_t strides[4]; ///< numbers; the first is 1
} hn_batch_view;
/// A view of a field of all members, by the names of hn_simulation_view. Its address stays as long as the batch, its
/// content is the last completed step of each member.
/// @return as hn_simulation_view
HN_API HN_NODISCARD hn_status hn_batch_view_of(hn_batch *batch, const char *name, hn_batch_view *view);

/// Numbers that the caller may write.
typedef struct hn_batch_input {
    double *data;
    int rank;
    size_t shape[4];
    ptrdiff_t strides[4];
} hn_batch_input;
/// Inputs of all members, by the names of hn_simulation_input and laid out as views. From now on this block holds:
/// efforts that a restored snapshot had are those written here.
HN_API HN_NODISCARD hn_status hn_batch_input_of(hn_batch *batch, const char *name, hn_batch_input *input);

/// As hn_simulation_set_joints for every member that is `chosen` (member_count entries; NULL: all). Arrays hold a block
/// of member_count numbers for each coordinate, as views do. Members that were left out take part again. A member whose
/// values do not fit gets status and message, its state stays.
/// @return HN_OK, HN_INVALID_ARGUMENT (`count`), or the status of the first member that refuses its values
HN_API HN_NODISCARD hn_status hn_batch_set_joints(hn_batch *batch, const double *coordinates, const double *rates,
                                                  int count, const bool *chosen);
/// Likewise hn_simulation_set_bodies: for each number of each body a block of member_count.
HN_API HN_NODISCARD hn_status hn_batch_set_bodies(hn_batch *batch, const hn_body_values *values, int body_count,
                                                  const bool *chosen);

/// Snapshots of single members, as hn_simulation_save makes and hn_simulation_restore takes them. A member that was
/// left out takes part again.
HN_API size_t hn_batch_snapshot_size(const hn_batch *batch, int member);
HN_API HN_NODISCARD hn_status hn_batch_save(hn_batch *batch, int member, void *snapshot, size_t size);
HN_API HN_NODISCARD hn_status hn_batch_restore(hn_batch *batch, int member, const void *snapshot, size_t size);

#ifdef __cplusplus
}
#endif

#endif
