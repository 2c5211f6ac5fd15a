// SPDX-License-Identifier: MIT
// A batch seen from inside: members as states that threads step in simulations of their own, or as simulations.
#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include <holonom/batch.h>

#include "base/thread_pool.h"
#include "simulation/simulation.h"

#include <stdatomic.h>

/// Counts what a context has taken; the memory itself comes from another allocator.
typedef struct counted_memory {
    hn_allocator source;
    atomic_size_t bytes;
} counted_memory;

/// A field that somebody views, or an input that somebody writes.
typedef struct batch_field {
    series_id id;  ///< of a field
    size_t offset; ///< of an input: its first number among all inputs
    int rank;      ///< of one member's record
    size_t dims[3];
    size_t width;  ///< numbers of one member
    double *block; ///< width x member_count, the member counts fastest
} batch_field;

enum { BATCH_INPUTS_MAX = 8 }; ///< more than a simulation has

/// What a worker steps members in, and its scratch.
typedef struct batch_worker {
    hn_context *context;
    hn_simulation *simulation; ///< NULL: members have their own
    double *scratch;           ///< 18 per body, 2 per coordinate
} batch_worker;

typedef struct batch_member {
    hn_status status;
    bool news;       ///< it failed since failures were last told
    char *message;   ///< NULL: none yet
    int64_t owed;    ///< steps it is to take
    int64_t taken;   ///< completed steps
    hn_context *context;       ///< of its own simulation
    hn_simulation *simulation; ///< NULL: a state of the block
} batch_member;

struct hn_batch {
    hn_context *context;
    counted_memory counted;
    hn_simulation_def def;
    size_t member_count;
    size_t state_count; ///< members rounded up, so that every part of the block is aligned
    thread_pool *pool;
    int worker_count;
    batch_worker *workers;
    batch_member *members;
    bool resident;
    void *states;       ///< structure of arrays (snapshot.h); NULL: resident
    size_t state_size;
    int body_count, coordinate_count;
    batch_field fields[SERIES_COUNT];
    int field_count;
    batch_field inputs[BATCH_INPUTS_MAX];
    int input_count;
    atomic_bool any_failed; ///< and is news
};

/// The simulation with the state of a member; hand it back with batch_leave when the state has changed.
hn_simulation *batch_enter(hn_batch *batch, int worker, size_t member);
void batch_leave(hn_batch *batch, int worker, size_t member);

/// Record how a call for a member went; `context` has the message.
void batch_note(hn_batch *batch, size_t member, hn_status status, const hn_context *context);

/// Copy the fields of a member into their blocks, and its inputs out of theirs.
void batch_publish(hn_batch *batch, const hn_simulation *simulation, size_t member);
void batch_feed(const hn_batch *batch, hn_simulation *simulation, size_t member);

/// Do `work` for all members. @return HN_OK or HN_CANCELLED
hn_status batch_run(hn_batch *batch, pool_work work, void *user);
/// Status and message of the first of the members that failed since this was last called; HN_OK: none did.
hn_status batch_failures(hn_batch *batch);

#endif
