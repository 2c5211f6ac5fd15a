// SPDX-License-Identifier: MIT
// Snapshots: everything that stepping on needs, behind a head that says whom they belong to.
#include "simulation/snapshot.h"

#include "base/hash.h"

#include "system/angles.h"

#include <string.h>

// One list of what a snapshot holds, walked to count, to save and to restore.
typedef enum snapshot_action { SNAPSHOT_COUNT, SNAPSHOT_SAVE, SNAPSHOT_RESTORE } snapshot_action;

// The same part of `count` states stands side by side in a block: those of a batch. A snapshot has one state.
typedef struct state_block {
    char *bytes;
    size_t count, index;
} state_block;

static void snapshot_part(snapshot_action action, void *part, size_t size, state_block block,
                          size_t *used)
{
    if (size == 0) return; // and there may be no part
    size_t place = *used * block.count + block.index * size;
    if (action == SNAPSHOT_SAVE) memcpy(block.bytes + place, part, size);
    if (action == SNAPSHOT_RESTORE) memcpy(part, block.bytes + place, size);
    *used += size;
}

static size_t snapshot_walk(hn_simulation *s, snapshot_action action, state_block buffer)
{
    const hn_system *system = s->system;
    size_t n = (size_t)system->body_count, used = 0;
    snapshot_part(action, &s->step_count, sizeof s->step_count, buffer, &used);
    snapshot_part(action, &s->work, sizeof s->work, buffer, &used);
    snapshot_part(action, s->losses, sizeof s->losses, buffer, &used);
    snapshot_part(action, &s->load_times, sizeof s->load_times, buffer, &used);
    snapshot_part(action, &s->past, sizeof s->past, buffer, &used);
    snapshot_part(action, &s->state.first, sizeof s->state.first, buffer, &used);
    snapshot_part(action, &s->record, sizeof s->record, buffer, &used);
    snapshot_part(action, &s->accuracy, sizeof s->accuracy, buffer, &used);
    snapshot_part(action, &s->passage, sizeof s->passage, buffer, &used);
    snapshot_part(action, &s->statistics, sizeof s->statistics, buffer, &used);
    if (s->def.step_tolerance > 0.0) {
        snapshot_part(action, &s->control, sizeof s->control, buffer, &used);
        snapshot_part(action, s->increments, 2 * POSE_SIZE * n * sizeof(double), buffer, &used);
    }
    snapshot_part(action, s->state.q, POSE_SIZE * n * sizeof(double), buffer, &used);
    snapshot_part(action, s->state.impetus, POSE_SIZE * n * sizeof(double), buffer, &used);
    snapshot_part(action, s->state.memory, scheme_memory_size(s->scheme, system) * sizeof(double),
                  buffer, &used);
    if (s->scheme->tangent_momenta)
        snapshot_part(action, s->loose, POSE_SIZE * n * sizeof(double), buffer, &used);
    snapshot_part(action, s->angles, (size_t)system->angle_count * sizeof(double), buffer, &used);
    snapshot_part(action, s->joint_angles, system_joint_angle_count(system) * sizeof(double),
                  buffer, &used);
    snapshot_part(action, s->joint_slack, (size_t)system->joint_count * sizeof(double), buffer,
                  &used);
    if (s->dampers.row_count > 0) {
        size_t rows = (size_t)s->dampers.row_count, elements = (size_t)system->element_count,
               mechanisms = (size_t)system->mechanism_count;
        snapshot_part(action, s->dampers.owed, rows * sizeof(double), buffer, &used);
        snapshot_part(action, s->dampers.strengths, elements * sizeof(double), buffer, &used);
        snapshot_part(action, s->dampers.held, mechanisms * sizeof(double), buffer, &used);
    }
    snapshot_part(action, s->rows, s->rows_size, buffer, &used);
    // of all substeps; between steps the first one is selected
    size_t stages = s->composition == NULL ? 1 : (size_t)s->composition->stage_count;
    snapshot_part(action, s->histories, stages * s->history_size * sizeof(double), buffer, &used);
    if (s->composition != NULL) {
        snapshot_part(action, s->stage_pasts, sizeof s->stage_pasts, buffer, &used);
        snapshot_part(action, s->stage_counts, sizeof s->stage_counts, buffer, &used);
    }
    if (s->scheme->both_levels) {
        size_t curvatures = stages * CURVATURE_DEPTH * POSE_SIZE * n * sizeof(double);
        snapshot_part(action, &s->levels.history_count, sizeof(int), buffer, &used);
        snapshot_part(action, s->levels.histories, curvatures, buffer, &used);
    }
    snapshot_part(action, s->parts, (size_t)s->part_count * sizeof(energy_part), buffer, &used);
    snapshot_part(action, s->works, (size_t)system->mechanism_count * sizeof(double), buffer,
                  &used);
    snapshot_part(action, s->work_round_off, s->round_off_count * sizeof(double), buffer, &used);
    snapshot_part(action, s->stiff_round_off, s->round_off_count * sizeof(double), buffer, &used);
    snapshot_part(action, s->inputs.values, inputs_count(s) * sizeof(double), buffer, &used);
    snapshot_part(action, s->differences, s->difference_count * sizeof(double), buffer, &used);
    return used;
}

// What stands before the state. Numbers of one machine: a snapshot is no exchange format.
typedef struct snapshot_head {
    char magic[8];
    uint64_t size;     // bytes, with the head
    uint64_t model;    // identity of the model
    uint64_t method;   // scheme, reduction and their settings
    double step_size;  // s
    uint64_t checksum; // of what follows
} snapshot_head;

static const char MAGIC[8] = "hnsnap9";

// Settings that give the state its meaning; how precisely steps are solved and controlled is not among them.
static uint64_t method_identity(const hn_simulation *s)
{
    const hn_simulation_def *def = &s->def;
    const int choices[] = {def->order,
                           def->inputs,
                           def->ledger,
                           def->projected_rk.fixed_steps,
                           def->projected_rk.dense_output,
                           def->projected_rk.impose_energy,
                           def->projected_rk.impose_momentum,
                           def->projected_rk.planar,
                           (int)def->projected_rk.projection,
                           def->step_tolerance > 0.0};
    uint64_t hash = hash_string(HASH_START, hn_scheme_name(def->scheme));
    if (s->scheme->solver_step == NULL) hash = hash_string(hash, hn_reduction_name(def->reduction));
    hash = hash_doubles(hash, &def->generalized_alpha.spectral_radius, 1);
    hash = hash_doubles(hash, &def->energy_decaying.rho, 1);
    return hash_bytes(hash, choices, sizeof choices);
}

static snapshot_head head_of(const hn_simulation *s)
{
    snapshot_head head = {.size = hn_simulation_snapshot_size(s),
                          .model = s->model_identity,
                          .method = method_identity(s),
                          .step_size = s->def.step_size};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    return head;
}

static uint64_t checksum_of(const char *snapshot, size_t size)
{
    return hash_bytes(HASH_START, snapshot + sizeof(snapshot_head), size - sizeof(snapshot_head));
}

void snapshot_keep(const hn_simulation *s, void *buffer)
{
    snapshot_keep_in(s, (char *)buffer + sizeof(snapshot_head), 1, 0);
}

void snapshot_take_back(hn_simulation *s, const void *buffer)
{
    snapshot_take_from(s, (const char *)buffer + sizeof(snapshot_head), 1, 0);
}

size_t snapshot_state_size(const hn_simulation *s)
{
    return snapshot_walk((hn_simulation *)s, SNAPSHOT_COUNT, (state_block){0});
}

void snapshot_keep_in(const hn_simulation *s, void *block, size_t count, size_t index)
{
    snapshot_walk((hn_simulation *)s, SNAPSHOT_SAVE, (state_block){block, count, index});
}

void snapshot_take_from(hn_simulation *s, const void *block, size_t count, size_t index)
{
    snapshot_walk(s, SNAPSHOT_RESTORE, (state_block){(char *)block, count, index});
    s->steps[0].valid = s->steps[1].valid = false;
    s->observed.verdicts_known = false;
    simulation_set_load_times(s);
    s->ambiguous = false;
    simulation_forget_derived(s);
}

size_t hn_simulation_snapshot_size(const hn_simulation *s)
{
    if (s == NULL) return 0;
    return sizeof(snapshot_head) + snapshot_state_size(s);
}

hn_status hn_simulation_save(const hn_simulation *s, void *snapshot, size_t size)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, snapshot != NULL);
    size_t expected = hn_simulation_snapshot_size(s);
    if (size != expected)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "a snapshot has %zu bytes, not %zu",
                            expected, size);
    snapshot_head head = head_of(s);
    snapshot_keep(s, snapshot);
    head.checksum = checksum_of(snapshot, size);
    memcpy(snapshot, &head, sizeof head);
    return HN_OK;
}

// Why these bytes are not a snapshot of this simulation, or NULL.
static const char *find_mismatch(const hn_simulation *s, const char *snapshot, size_t size)
{
    snapshot_head own = head_of(s), head;
    if (size < sizeof head) return "it is too short to be a snapshot";
    memcpy(&head, snapshot, sizeof head);
    if (memcmp(head.magic, own.magic, sizeof own.magic) != 0)
        return "it is no snapshot, or one of another version of the library";
    if (head.model != own.model) return "it belongs to another model";
    if (head.method != own.method)
        return "it belongs to another scheme, another reduction or other settings";
    if (head.step_size != own.step_size) return "it belongs to another step size";
    if (head.size != own.size || size != own.size) return "its size is not that of the state";
    if (head.checksum != checksum_of(snapshot, size)) return "it is damaged: its checksum is wrong";
    return NULL;
}

hn_status hn_simulation_restore(hn_simulation *s, const void *snapshot, size_t size)
{
    REQUIRE(NULL, s != NULL);
    REQUIRE(s->context, snapshot != NULL);
    const char *mismatch = find_mismatch(s, snapshot, size);
    if (mismatch != NULL)
        return context_fail(s->context, HN_INVALID_ARGUMENT, "snapshot of %zu bytes: %s", size,
                            mismatch);
    void *before = context_allocate(s->context, size);
    if (before == NULL) return HN_OUT_OF_MEMORY;
    snapshot_keep(s, before);
    snapshot_take_back(s, snapshot);
    hn_status status = HN_OK;
    if (!observe_finite(s)) {
        snapshot_take_back(s, before);
        status = context_fail(s->context, HN_INVALID_ARGUMENT,
                              "snapshot of %zu bytes: its state is not finite", size);
    }
    context_release(s->context, before);
    hn_status observed = observe_subscribed(s);
    return status != HN_OK ? status : observed;
}
