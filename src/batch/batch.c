// SPDX-License-Identifier: MIT
// Batches: making members, stepping them on threads, what went wrong in which.
#include "batch/batch.h"

#include "base/number_text.h"
#include "base/sized.h"
#include "simulation/snapshot.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNED_MEMBERS = 64, MESSAGE_SIZE = 1024 };
// a worker takes so many members at a time, or fewer where there are few: neighbours share lines of the cache
enum { PIECE_MAX = 64, PIECES_PER_WORKER = 8 };
// numbers of scratch: poses and velocities of a body as callers give them, value and rate of a coordinate
enum { SCRATCH_PER_BODY = 18, SCRATCH_PER_COORDINATE = 2 };

void hn_batch_def_init(hn_batch_def *def, size_t size)
{
    const hn_batch_def known = {.size = size, .simulation = hn_simulation_def_default()};
    sized_fill(def, size, &known, sizeof known);
}

// ---- memory that is counted -------------------------------------------------------------------------

// the size is kept before the block, which stays aligned for any type
enum { COUNT_SIZE = 16 };

static void *counted_allocate(size_t size, void *user)
{
    counted_memory *counted = user;
    char *block = counted->source.allocate(size + COUNT_SIZE, counted->source.user);
    if (block == NULL) return NULL;
    memcpy(block, &size, sizeof size);
    atomic_fetch_add_explicit(&counted->bytes, size + COUNT_SIZE, memory_order_relaxed);
    return block + COUNT_SIZE;
}

static void counted_release(void *pointer, void *user)
{
    counted_memory *counted = user;
    char *block = (char *)pointer - COUNT_SIZE;
    size_t size;
    memcpy(&size, block, sizeof size);
    atomic_fetch_sub_explicit(&counted->bytes, size + COUNT_SIZE, memory_order_relaxed);
    counted->source.release(block, counted->source.user);
}

static hn_status create_context(hn_batch *b, hn_context **context)
{
    hn_allocator allocator = {counted_allocate, counted_release, &b->counted};
    *context = hn_context_create(&allocator);
    if (*context == NULL)
        return context_fail(b->context, HN_OUT_OF_MEMORY, "no memory for a batch of %zu members",
                            b->member_count);
    return HN_OK;
}

// ---- members ----------------------------------------------------------------------------------------

hn_simulation *batch_enter(hn_batch *b, int worker, size_t member)
{
    if (b->resident) return b->members[member].simulation;
    hn_simulation *s = b->workers[worker].simulation;
    snapshot_take_from(s, b->states, b->state_count, member);
    return s;
}

void batch_leave(hn_batch *b, int worker, size_t member)
{
    if (!b->resident)
        snapshot_keep_in(b->workers[worker].simulation, b->states, b->state_count, member);
}

void batch_note(hn_batch *b, size_t member, hn_status status, const hn_context *context)
{
    batch_member *m = &b->members[member];
    m->status = status;
    if (status == HN_OK) return;
    m->owed = 0;
    m->news = true;
    atomic_store_explicit(&b->any_failed, true, memory_order_relaxed);
    // the allocator that counts may be called by all workers
    if (m->message == NULL) m->message = counted_allocate(MESSAGE_SIZE, &b->counted);
    const char *message = hn_context_message(context);
    if (message[0] == '\0') message = hn_status_sentence(status);
    if (m->message != NULL) snprintf(m->message, MESSAGE_SIZE, "%s", message);
}

static size_t piece_of(const hn_batch *b)
{
    size_t piece = b->member_count / (size_t)(b->worker_count * PIECES_PER_WORKER);
    return piece < 1 ? 1 : piece > PIECE_MAX ? PIECE_MAX : piece;
}

// The message of the first that failed in this call, and how many did.
hn_status batch_failures(hn_batch *b)
{
    if (!atomic_load_explicit(&b->any_failed, memory_order_relaxed)) return HN_OK;
    size_t first = b->member_count, count = 0;
    for (size_t i = 0; i < b->member_count; ++i) {
        if (!b->members[i].news) continue;
        b->members[i].news = false;
        if (count++ == 0) first = i;
    }
    if (count == 0) return HN_OK;
    atomic_store_explicit(&b->any_failed, false, memory_order_relaxed);
    const batch_member *m = &b->members[first];
    const char *message = m->message != NULL ? m->message : hn_status_sentence(m->status);
    if (b->member_count == 1) return context_fail(b->context, m->status, "%s", message);
    return context_fail(b->context, m->status, "member %zu (%zu of %zu failed): %s", first, count,
                        b->member_count, message);
}

hn_status batch_run(hn_batch *b, pool_work work, void *user)
{
    context_begin_cancellable(b->context);
    thread_pool_run(b->pool, b->member_count, piece_of(b), work, user);
    context_end_cancellable(b->context);
    if (context_take_cancel(b->context))
        return context_fail(b->context, HN_CANCELLED, "cancelled between two members of a batch");
    return HN_OK;
}

// ---- creation ---------------------------------------------------------------------------------------

static hn_status check_def(hn_context *context, const hn_model *model, const hn_batch_def *def)
{
    if (def->member_count < 1)
        return context_fail(context, HN_INVALID_ARGUMENT, "a batch has at least one member, not %d",
                            def->member_count);
    if (def->thread_count < 0)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "thread_count is %d; expected 0 (one per processor) or more",
                            def->thread_count);
    if (def->parameter_count < 0 ||
        (def->parameter_count > 0 && (def->parameters == NULL || def->parameter_values == NULL)))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "%d parameters need their names and values", def->parameter_count);
    for (int k = 0; k < def->parameter_count; ++k)
        if (def->parameters[k] == NULL)
            return context_fail(context, HN_INVALID_ARGUMENT, "parameter %d has no name", k);
    if (def->parameter_count > 0 && hn_model_text(model, NULL) == NULL)
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "the model was built by calls: parameters are those of a model file");
    return HN_OK;
}

typedef struct creation {
    hn_batch *batch;
    const hn_model *model;
    const hn_batch_def *def;
} creation;

// The model of a member: the file with its values.
static hn_status member_model(const creation *c, hn_context *context, size_t member,
                              hn_model **model)
{
    int count = c->def->parameter_count;
    size_t length, n = c->batch->member_count;
    const char *text = hn_model_text(c->model, &length);
    hn_parameter *parameters =
        context_allocate(context, (size_t)count * (sizeof *parameters + NUMBER_TEXT_SIZE));
    if (parameters == NULL) return HN_OUT_OF_MEMORY;
    char *numbers = (char *)(parameters + count);
    for (int k = 0; k < count; ++k) {
        char *number = numbers + NUMBER_TEXT_SIZE * k;
        double value = c->def->parameter_values[(size_t)k * n + member];
        parameters[k] = (hn_parameter){c->def->parameters[k], number_text(value, number)};
    }
    hn_status status = hn_model_parse_with(context, text, length, hn_model_name(c->model),
                                           parameters, count, model);
    context_release(context, parameters);
    return status;
}

static hn_status create_member(const creation *c, size_t member)
{
    batch_member *m = &c->batch->members[member];
    hn_status status = create_context(c->batch, &m->context);
    if (status != HN_OK) return status;
    if (c->def->parameter_count == 0)
        return hn_simulation_create_in(m->context, c->model, &c->def->simulation, &m->simulation);
    hn_model *model = NULL;
    status = member_model(c, m->context, member, &model);
    if (status == HN_OK)
        status = hn_simulation_create_in(m->context, model, &c->def->simulation, &m->simulation);
    hn_model_destroy(model);
    return status;
}

static bool create_members(void *user, int worker, size_t first, size_t end)
{
    const creation *c = user;
    (void)worker;
    for (size_t i = first; i < end; ++i) {
        if (context_is_cancelled(c->batch->context)) return false;
        hn_status status = create_member(c, i);
        batch_note(c->batch, i, status, c->batch->members[i].context);
    }
    return true;
}

static hn_status create_resident(hn_batch *b, const hn_model *model, const hn_batch_def *def)
{
    creation c = {b, model, def};
    TRY(batch_run(b, create_members, &c));
    bool any = false;
    for (size_t i = 0; i < b->member_count; ++i) any |= b->members[i].status == HN_OK;
    hn_status status = batch_failures(b);
    return any ? HN_OK : status;
}

// The first simulation makes the start state of all members.
static hn_status create_states(hn_batch *b, const hn_model *model, const hn_batch_def *def)
{
    for (int w = 0; w < b->worker_count; ++w) {
        batch_worker *worker = &b->workers[w];
        hn_status status =
            hn_simulation_create_in(worker->context, model, &def->simulation, &worker->simulation);
        if (status != HN_OK)
            return context_fail(b->context, status, "%s", hn_context_message(worker->context));
    }
    const hn_simulation *s = b->workers[0].simulation;
    b->state_size = snapshot_state_size(s);
    b->state_count = (b->member_count + ALIGNED_MEMBERS - 1) / ALIGNED_MEMBERS * ALIGNED_MEMBERS;
    if (b->state_count > SIZE_MAX / b->state_size)
        return context_fail(b->context, HN_OUT_OF_MEMORY, "%zu members are too many",
                            b->member_count);
    b->states = context_allocate(b->workers[0].context, b->state_count * b->state_size);
    if (b->states == NULL)
        return context_fail(b->context, HN_OUT_OF_MEMORY,
                            "no memory for %zu members of %zu bytes each", b->member_count,
                            b->state_size);
    for (size_t i = 0; i < b->member_count; ++i) snapshot_keep_in(s, b->states, b->state_count, i);
    return HN_OK;
}

static hn_status create_parts(hn_batch *b, const hn_model *model, const hn_batch_def *def)
{
    b->members = context_allocate(b->context, b->member_count * sizeof *b->members);
    b->workers = context_allocate(b->context, (size_t)b->worker_count * sizeof *b->workers);
    if (b->members == NULL || b->workers == NULL) return HN_OUT_OF_MEMORY;
    TRY(thread_pool_create(b->context, b->worker_count, &b->pool));
    for (int w = 0; w < b->worker_count; ++w) TRY(create_context(b, &b->workers[w].context));
    if (b->resident) TRY(create_resident(b, model, def));
    else TRY(create_states(b, model, def));
    const hn_simulation *s = b->workers[0].simulation;
    for (size_t i = 0; s == NULL; ++i) s = b->members[i].simulation;
    series_extent extent;
    observation_measure(s->system, &extent);
    b->body_count = (int)extent.body_count;
    b->coordinate_count = (int)extent.coordinate_count;
    b->state_size = snapshot_state_size(s);
    size_t scratch =
        SCRATCH_PER_BODY * extent.body_count + SCRATCH_PER_COORDINATE * extent.coordinate_count;
    for (int w = 0; w < b->worker_count; ++w) {
        batch_worker *worker = &b->workers[w];
        worker->scratch = context_allocate(worker->context, scratch * sizeof(double));
        if (worker->scratch == NULL)
            return context_fail(b->context, HN_OUT_OF_MEMORY, "no memory for a batch");
    }
    return HN_OK;
}

hn_status hn_batch_create(hn_context *context, const hn_model *model, const hn_batch_def *def,
                          hn_batch **batch)
{
    REQUIRE(context, batch != NULL);
    *batch = NULL;
    REQUIRE(context, context != NULL && model != NULL && def != NULL);
    OWN_COPY(context, hn_batch_def, def, hn_batch_def_default());
    TRY(check_def(context, model, def));
    hn_batch *b = context_allocate(context, sizeof *b);
    if (b == NULL) return HN_OUT_OF_MEMORY;
    b->context = context_retain(context);
    b->counted.source = context_allocator(context);
    b->def = def->simulation;
    b->member_count = (size_t)def->member_count;
    int threads = def->thread_count > 0 ? def->thread_count : thread_pool_processors();
    b->worker_count = threads < def->member_count ? threads : def->member_count;
    b->resident = def->resident || def->parameter_count > 0;
    hn_status status = create_parts(b, model, def);
    if (status != HN_OK) {
        hn_batch_destroy(b);
        return status;
    }
    *batch = b;
    return HN_OK;
}

void hn_batch_destroy(hn_batch *b)
{
    if (b == NULL) return;
    hn_context *context = b->context;
    thread_pool_destroy(b->pool);
    for (size_t i = 0; b->members != NULL && i < b->member_count; ++i) {
        hn_simulation_destroy(b->members[i].simulation);
        hn_context_destroy(b->members[i].context);
        if (b->members[i].message != NULL) counted_release(b->members[i].message, &b->counted);
    }
    for (int k = 0; k < b->field_count; ++k) context_release(context, b->fields[k].block);
    for (int k = 0; k < b->input_count; ++k) context_release(context, b->inputs[k].block);
    if (b->states != NULL) context_release(b->workers[0].context, b->states);
    for (int w = 0; b->workers != NULL && w < b->worker_count; ++w) {
        batch_worker *worker = &b->workers[w];
        if (worker->context == NULL) continue;
        hn_simulation_destroy(worker->simulation);
        context_release(worker->context, worker->scratch);
        hn_context_destroy(worker->context);
    }
    context_release(context, b->workers);
    context_release(context, b->members);
    context_release(context, b);
    context_drop(context);
}

// ---- steps ------------------------------------------------------------------------------------------

static bool step_members(void *user, int worker, size_t first, size_t end)
{
    hn_batch *b = user;
    for (size_t i = first; i < end; ++i) {
        batch_member *m = &b->members[i];
        if (m->status != HN_OK || m->owed == 0) continue;
        if (context_is_cancelled(b->context)) return false;
        hn_simulation *s = batch_enter(b, worker, i);
        batch_feed(b, s, i);
        hn_status status = hn_simulation_step(s, m->owed);
        m->owed = 0;
        m->taken = s->step_count;
        batch_publish(b, s, i);
        batch_leave(b, worker, i);
        if (status != HN_OK) batch_note(b, i, status, s->context);
    }
    return true;
}

hn_status hn_batch_step(hn_batch *b, int64_t count)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, count >= 0);
    for (size_t i = 0; i < b->member_count; ++i)
        if (b->members[i].status == HN_OK) b->members[i].owed += count;
    TRY(batch_run(b, step_members, b));
    return batch_failures(b);
}

// ---- looking at members -----------------------------------------------------------------------------

static const batch_member *member_at(const hn_batch *b, int member)
{
    bool known = b != NULL && member >= 0 && (size_t)member < b->member_count;
    return known ? &b->members[member] : NULL;
}

int hn_batch_member_count(const hn_batch *b)
{
    return b == NULL ? 0 : (int)b->member_count;
}

int hn_batch_thread_count(const hn_batch *b)
{
    return b == NULL ? 0 : b->worker_count;
}

hn_status hn_batch_status(const hn_batch *b, int member)
{
    const batch_member *m = member_at(b, member);
    return m == NULL ? HN_INVALID_ARGUMENT : m->status;
}

const char *hn_batch_message(const hn_batch *b, int member)
{
    const batch_member *m = member_at(b, member);
    if (m == NULL || m->status == HN_OK) return "";
    return m->message != NULL ? m->message : hn_status_sentence(m->status);
}

int hn_batch_failed_count(const hn_batch *b)
{
    int count = 0;
    for (size_t i = 0; b != NULL && i < b->member_count; ++i)
        count += b->members[i].status != HN_OK;
    return count;
}

int64_t hn_batch_step_count(const hn_batch *b, int member)
{
    const batch_member *m = member_at(b, member);
    return m == NULL ? 0 : m->taken;
}

hn_batch_memory hn_batch_memory_use(const hn_batch *b)
{
    if (b == NULL) return (hn_batch_memory){0};
    size_t blocks = 0;
    for (int k = 0; k < b->field_count; ++k) blocks += b->fields[k].width * sizeof(double);
    for (int k = 0; k < b->input_count; ++k) blocks += b->inputs[k].width * sizeof(double);
    size_t held = atomic_load(&((hn_batch *)b)->counted.bytes), n = b->member_count;
    size_t states = b->resident ? 0 : b->state_count * b->state_size;
    hn_batch_memory use = {.state = b->state_size};
    use.total = sizeof *b + held + n * (sizeof(batch_member) + blocks);
    use.thread = b->resident ? 0 : (held - states) / (size_t)b->worker_count;
    use.member = sizeof(batch_member) + blocks + (b->resident ? held / n : b->state_size);
    return use;
}

hn_status hn_batch_simulation(hn_batch *b, int member, const hn_simulation **simulation)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, simulation != NULL);
    *simulation = NULL;
    REQUIRE(b->context, member_at(b, member) != NULL);
    hn_simulation *s = batch_enter(b, 0, (size_t)member);
    if (s == NULL)
        return context_fail(b->context, b->members[member].status, "member %d: %s", member,
                            hn_batch_message(b, member));
    hn_status status = b->resident ? HN_OK : observe_subscribed(s);
    *simulation = s;
    return status == HN_OK ? HN_OK
                           : context_fail(b->context, status, "member %d: %s", member,
                                          hn_context_message(s->context));
}

hn_status hn_batch_ledger(hn_batch *b, int member, hn_ledger *ledger)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, ledger != NULL);
    const hn_simulation *s;
    TRY(hn_batch_simulation(b, member, &s));
    hn_status status = hn_simulation_ledger(s, ledger);
    if (status == HN_OK) return HN_OK;
    return context_fail(b->context, status, "%s", hn_context_message(s->context));
}

// ---- snapshots --------------------------------------------------------------------------------------

size_t hn_batch_snapshot_size(const hn_batch *b, int member)
{
    if (member_at(b, member) == NULL) return 0;
    return hn_simulation_snapshot_size(b->resident ? b->members[member].simulation
                                                   : b->workers[0].simulation);
}

hn_status hn_batch_save(hn_batch *b, int member, void *snapshot, size_t size)
{
    REQUIRE(NULL, b != NULL);
    const hn_simulation *s;
    TRY(hn_batch_simulation(b, member, &s));
    REQUIRE(b->context, snapshot != NULL);
    hn_status status = hn_simulation_save(s, snapshot, size);
    if (status == HN_OK) return HN_OK;
    return context_fail(b->context, status, "%s", hn_context_message(s->context));
}

hn_status hn_batch_restore(hn_batch *b, int member, const void *snapshot, size_t size)
{
    REQUIRE(NULL, b != NULL);
    REQUIRE(b->context, snapshot != NULL);
    REQUIRE(b->context, member_at(b, member) != NULL);
    size_t index = (size_t)member;
    hn_simulation *s = batch_enter(b, 0, index);
    if (s == NULL)
        return context_fail(b->context, b->members[member].status, "member %d: %s", member,
                            hn_batch_message(b, member));
    hn_status status = hn_simulation_restore(s, snapshot, size);
    if (status != HN_OK)
        return context_fail(b->context, status, "member %d: %s", member,
                            hn_context_message(s->context));
    b->members[index].status = HN_OK;
    b->members[index].owed = 0;
    b->members[index].taken = s->step_count;
    batch_publish(b, s, index);
    batch_leave(b, 0, index);
    return HN_OK;
}
