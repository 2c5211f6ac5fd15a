// SPDX-License-Identifier: MIT
// Writer of result files: records are gathered in memory, written a chunk at a time, renamed when complete.
//
// A process may be killed at any moment, and what it had committed must stay readable. So the file is written in HDF5's
// mode for one writer and many readers: blocks that point to others are written after these, nothing is written over a
// chunk that an index on disk still points to, and each block of the index is one write. The rest is here:
//   - a chunk that is not full yet is written plain, each time at the same place, with the same bytes before the new
//   ones;
//     compressed, it gets a place of its own when it is full;
//   - `record_count` is raised after the records and their index are on disk;
//   - a run that goes on from a checkpoint writes the records after it again, which are the same bit for bit.
#define _POSIX_C_SOURCE 200809L
#include <holonom/results.h>

#include "base/context.h"
#include "base/nearest_word.h"
#include "base/sized.h"
#include "base/vector.h"
#include "io/results_checkpoint.h"
#include "io/results_description.h"
#include "io/results_disk.h"
#include "io/results_hdf5.h"
#include "io/results_options.h"
#include "simulation/series.h"
#include "model/model.h"
#include "simulation/ownership.h"
#include "simulation/simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK_RECORDS_MAX = 512,    // records gathered at most; a power of two
    BLOCK_BYTES_MAX = 32 << 20, // and bytes, but at least one record
    CHUNK_BYTES = 64 << 10, // of one series, about: shorter ones pack worse, longer ones not better
    COMMIT_BLOCKS_MAX = 512,    // blocks written at most before HDF5's own follow
    METADATA_RESERVE = 2 << 20, // bytes of disk kept ready for these and for closing
    WASTE_BYTES_MIN = 1 << 20,  // less is not worth a copy of the finished file
    NOTE_SIZE = sizeof(((hn_ledger_entry *)0)->note),
};

/// What was gathered is written, and becomes visible to readers, at least this often. A killed run loses no more.
static const double COMMIT_INTERVAL = 1.0; // s

typedef struct series_writer {
    hid_t dataset;        ///< negative: the model has no such element
    size_t width;         ///< numbers in a record
    size_t element_count; ///< of whose components each has its own chunks
    size_t component_count;
    size_t chunk_records; ///< a power of two, at most that of the block
    double *buffer;       ///< block_records * width
} series_writer;

struct hn_results {
    hn_context *context;
    hn_simulation *simulation;
    char *path;
    char *part_path;                 ///< path with ".part"
    char *checkpoint_path;           ///< path with ".checkpoint"
    char *checkpoint_new_path;       ///< the next one, until it takes its place
    results_description description; ///< its model is not looked at after creation
    int lock;   ///< descriptor that holds the lock of the .part; negative: none
    hid_t file; ///< negative: closed
    series_writer series[SERIES_COUNT];
    bool left_out[SERIES_COUNT]; ///< not wanted in this file
    double *buffer;              ///< block of all series
    double *chunk;               ///< scratch for one chunk
    packer *packer;              ///< NULL: HDF5 has no filter for packed chunks
    size_t block_records;        ///< a power of two
    size_t record_bytes;
    hsize_t block_start;    ///< first record of the block: a multiple of block_records
    size_t buffered_count;  ///< records in the block
    size_t written_count;   ///< of these, in the file
    hsize_t counted;        ///< value of record_count in the file
    int uncommitted_blocks; ///< writes since the last commit
    double commit_time;     ///< s, clock at the last commit
    void *snapshot;         ///< for checkpoints; NULL before the first
    size_t snapshot_size;
    bool has_ledger;
    bool failed; ///< a write failed: nothing more is written
    bool finished;
};

void hn_results_def_init(hn_results_def *def, size_t size)
{
    const hn_results_def known = {.size = size};
    sized_fill(def, size, &known, sizeof known);
}

static hn_status fail_access(hn_results *results, const char *doing, int error)
{
    return context_fail(results->context, HN_FILE_ACCESS, "%s: cannot %s: %s", results->part_path,
                        doing, system_error_sentence(error));
}

// ---- ledger and statistics ------------------------------------------------------------------------

static bool write_ledger_entry(hid_t ledger_group, hn_promise promise, const hn_ledger_entry *entry)
{
    const char *name = hn_promise_name(promise);
    hid_t group = -1;
    if (H5Lexists(ledger_group, name, H5P_DEFAULT) > 0)
        group = H5Gopen2(ledger_group, name, H5P_DEFAULT);
    else group = hdf5_create_group(ledger_group, name);
    if (group < 0) return false;
    bool written = hdf5_attribute_integer(group, "conserved", entry->conserved) &&
                   hdf5_attribute_double(group, "error", entry->error) &&
                   hdf5_attribute_double(group, "drift", entry->drift) &&
                   hdf5_attribute_double(group, "drift_per_step", entry->drift_per_step) &&
                   hdf5_attribute_double(group, "bound", entry->bound) &&
                   hdf5_attribute_double(group, "allowance", entry->allowance) &&
                   hdf5_attribute_integer(group, "kept", entry->kept) &&
                   hdf5_attribute_text(group, "note", entry->note, NOTE_SIZE);
    return H5Gclose(group) >= 0 && written;
}

/// NAME: value and time; NAME_body: index of the body.
static bool write_worst(hid_t group, const char *name, const hn_worst *worst)
{
    char body[64];
    const double numbers[2] = {worst->value, worst->time};
    snprintf(body, sizeof body, "%s_body", name);
    return hdf5_attribute_doubles(group, name, numbers, 2) &&
           hdf5_attribute_integer(group, body, worst->body);
}

static bool write_accuracy(hid_t file, const hn_accuracy *a)
{
    hid_t group = -1;
    if (H5Lexists(file, "ledger/accuracy", H5P_DEFAULT) > 0)
        group = H5Gopen2(file, "ledger/accuracy", H5P_DEFAULT);
    else group = H5Gcreate2(file, "ledger/accuracy", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool written = write_worst(group, "position", &a->position) &&
                   write_worst(group, "angle", &a->angle) &&
                   write_worst(group, "relative", &a->relative) &&
                   write_worst(group, "spin_step", &a->spin_step) &&
                   hdf5_attribute_double(group, "position_sum", a->position_sum) &&
                   hdf5_attribute_double(group, "angle_sum", a->angle_sum) &&
                   hdf5_attribute_double(group, "relative_sum", a->relative_sum) &&
                   hdf5_attribute_double(group, "spin_step_limit", a->spin_step_limit) &&
                   hdf5_attribute_integer(group, "sample_count", a->sample_count) &&
                   hdf5_attribute_integer(group, "unresolved_count", a->unresolved_count) &&
                   hdf5_attribute_integer(group, "halved_step_count", a->halved_step_count) &&
                   hdf5_attribute_integer(group, "ambiguous_step_count", a->ambiguous_step_count) &&
                   hdf5_attribute_integer(group, "leap_count", a->leap_count) &&
                   hdf5_attribute_double(group, "leap_time", a->leap_time) &&
                   hdf5_attribute_integer(group, "leap_joint", a->leap_joint);
    return H5Gclose(group) >= 0 && written;
}

/// The series `ledger/energy` is a dataset, so the final entries live in a group of their own.
static bool write_ledger(hid_t file, const hn_ledger *ledger)
{
    hid_t group = -1;
    if (H5Lexists(file, "ledger/promises", H5P_DEFAULT) > 0)
        group = H5Gopen2(file, "ledger/promises", H5P_DEFAULT);
    else group = hdf5_create_group(file, "ledger/promises");
    if (group < 0) return false;
    double linear[3], angular[3], point[3];
    for (int i = 0; i < 3; ++i) {
        linear[i] = ledger->linear_component[i] ? 1.0 : 0.0;
        angular[i] = ledger->angular_component[i] ? 1.0 : 0.0;
    }
    vec3_store(ledger->angular_point, point);
    bool written = hdf5_attribute_double(group, "energy_scale", ledger->energy_scale) &&
                   hdf5_attribute_double(group, "momentum_scale", ledger->momentum_scale) &&
                   hdf5_attribute_double(group, "energy_min", ledger->energy_min) &&
                   hdf5_attribute_double(group, "energy_max", ledger->energy_max) &&
                   hdf5_attribute_doubles(group, "linear_component", linear, 3) &&
                   hdf5_attribute_doubles(group, "angular_component", angular, 3) &&
                   hdf5_attribute_doubles(group, "angular_point", point, 3) &&
                   hdf5_attribute_integer(group, "step_count", ledger->step_count);
    for (int i = 0; i < HN_PROMISE_COUNT && written; ++i)
        written = write_ledger_entry(group, (hn_promise)i, &ledger->entry[i]);
    return H5Gclose(group) >= 0 && written;
}

static bool write_statistics(hid_t file, const hn_statistics *statistics)
{
    hid_t group = H5Gopen2(file, "newton", H5P_DEFAULT);
    if (group < 0) return false;
    bool written =
        hdf5_attribute_integer(group, "step_count", statistics->step_count) &&
        hdf5_attribute_integer(group, "newton_iteration_count",
                               statistics->newton_iteration_count) &&
        hdf5_attribute_integer(group, "newton_iteration_max", statistics->newton_iteration_max) &&
        hdf5_attribute_integer(group, "halved_step_count", statistics->halved_step_count);
    return H5Gclose(group) >= 0 && written;
}

static bool ledger_is_finite(const hn_ledger *ledger, hn_promise *bad)
{
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        const hn_ledger_entry *entry = &ledger->entry[i];
        *bad = (hn_promise)i;
        if (!isfinite(entry->error) || !isfinite(entry->drift) ||
            !isfinite(entry->drift_per_step) || !isfinite(entry->bound))
            return false;
    }
    *bad = HN_PROMISE_ENERGY;
    const hn_accuracy *a = &ledger->accuracy;
    return isfinite(a->position_sum + a->angle_sum + a->relative_sum + a->spin_step.value) &&
           isfinite(ledger->energy_scale) && isfinite(ledger->momentum_scale) &&
           isfinite(ledger->energy_min) && isfinite(ledger->energy_max);
}

/// Ledger and statistics as they stand now; called at every commit, so that a .part has them too.
static hn_status write_account(hn_results *results, bool *written)
{
    hn_statistics statistics = hn_simulation_statistics(results->simulation);
    *written = write_statistics(results->file, &statistics);
    if (!results->has_ledger) return HN_OK;
    hn_ledger ledger;
    hn_promise bad;
    TRY(hn_simulation_ledger(results->simulation, &ledger));
    if (!ledger_is_finite(&ledger, &bad))
        return context_fail(results->context, HN_NOT_FINITE,
                            "the ledger's %s is not a finite number", hn_promise_name(bad));
    *written = write_ledger(results->file, &ledger) && *written;
    *written = write_accuracy(results->file, &ledger.accuracy) && *written;
    return HN_OK;
}

// ---- chunks ---------------------------------------------------------------------------------------

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Name of a series in the file.
static void series_place(series_id id, char *place, size_t size)
{
    const series_info *info = series_get(id);
    snprintf(place, size, "%s/%s", info->group, info->name);
}

static hid_t open_series(const hn_results *results, series_id id)
{
    char place[64];
    series_place(id, place, sizeof place);
    return H5Dopen2(results->file, place, H5P_DEFAULT);
}

/// The chunk of a component that begins at record `from` of the block, in the scratch; records to come are zero.
static hdf5_chunk fill_chunk(hn_results *results, series_id id, size_t from, size_t component)
{
    const series_writer *series = &results->series[id];
    const size_t elements = series->element_count, components = series->component_count;
    const size_t left = results->buffered_count - from;
    const size_t records = left < series->chunk_records ? left : series->chunk_records;
    hdf5_chunk chunk = {.offset = {results->block_start + from, 0, component, 0},
                        .numbers = results->chunk,
                        .number_count = series->chunk_records * elements,
                        .record_width = elements};
    if (series_get(id)->shape == SERIES_BODY_MATRIX)
        chunk.offset[2] = component / 3, chunk.offset[3] = component % 3;
    const double *numbers = series->buffer + from * series->width + component;
    const size_t known = records * elements;
    if (components == 1) memcpy(results->chunk, numbers, known * sizeof(double));
    else
        for (size_t k = 0; k < known; ++k) results->chunk[k] = numbers[components * k];
    memset(results->chunk + known, 0, (chunk.number_count - known) * sizeof(double));
    return chunk;
}

/// Chunks of a series from record `from` of the block up to `until`.
static bool write_chunks(hn_results *results, series_id id, size_t from, size_t until, bool packed)
{
    const series_writer *series = &results->series[id];
    for (; from < until; from += series->chunk_records)
        for (size_t c = 0; c < series->component_count; ++c) {
            hdf5_chunk chunk = fill_chunk(results, id, from, c);
            bool written = packed
                               ? hdf5_write_packed_chunk(series->dataset, &chunk, results->packer)
                               : hdf5_write_plain_chunk(series->dataset, &chunk);
            if (!written) return false;
        }
    return true;
}

/// Write a series from the last whole chunk on. `last`: no record follows, so what is left is packed too.
static bool write_series(hn_results *results, series_id id, bool last)
{
    series_writer *series = &results->series[id];
    const size_t chunk = series->chunk_records;
    size_t from = results->written_count - results->written_count % chunk;
    size_t whole = results->buffered_count - results->buffered_count % chunk;
    size_t until = last ? results->buffered_count : whole;
    if (!hdf5_grow_series(series->dataset, results->block_start + results->buffered_count))
        return false;
    if (results->packer != NULL) {
        if (!write_chunks(results, id, from, until, true)) return false;
    } else if (until > from &&
               !hdf5_write_records(series->dataset, results->block_start + from, until - from,
                                   series->buffer + from * series->width))
        return false;
    if (until == results->buffered_count) return true;
    if (!write_chunks(results, id, whole, results->buffered_count, false)) return false;
    // HDF5 1.10 remembers the last chunk it looked up, and not that it is plain now
    H5Dclose(series->dataset);
    series->dataset = open_series(results, id);
    return series->dataset >= 0;
}

/// Write the buffered records; they count only after a commit.
static hn_status write_records(hn_results *results, bool last)
{
    if (results->buffered_count == results->written_count && !last) return HN_OK;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    // chunks that are not full are written whole
    size_t bytes = results->block_records * results->record_bytes + METADATA_RESERVE;
    int refused = disk_reserve(results->file, bytes);
    bool written = refused == 0;
    for (int i = 0; i < SERIES_COUNT && written; ++i)
        if (results->series[i].dataset >= 0) written = write_series(results, (series_id)i, last);
    hdf5_silence_end(&silence);
    if (!written) {
        results->failed = true;
        if (refused == 0) disk_detach(results->file);
        return fail_access(results, "write records", refused != 0 ? refused : silence.system_error);
    }
    results->written_count = results->buffered_count;
    results->uncommitted_blocks += 1;
    return HN_OK;
}

/// Make what was written readable for others. With `account`, ledger and statistics too.
static hn_status commit(hn_results *results, bool account)
{
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hn_status status = HN_OK;
    bool written = true;
    if (account) status = write_account(results, &written);
    if (written) {
        disk_settle_header(results->file);
        written = H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
    }
    // records count once they and their index are on disk
    hsize_t count = results->block_start + results->written_count;
    if (written && count > results->counted) {
        written = hdf5_attribute_integer(results->file, "record_count", (int64_t)count) &&
                  H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
        if (written) results->counted = count;
    }
    if (written) disk_settle_header(results->file);
    hdf5_silence_end(&silence);
    results->uncommitted_blocks = 0;
    results->commit_time = clock_seconds();
    if (written) return status;
    results->failed = true;
    disk_detach(results->file);
    return fail_access(results, "write records", silence.system_error);
}

/// A block that is full makes room for the next.
static void next_block(hn_results *results)
{
    if (results->written_count < results->block_records) return;
    results->block_start += results->block_records;
    results->buffered_count = results->written_count = 0;
}

static bool close_file(hn_results *results)
{
    bool closed = true;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        if (results->series[i].dataset >= 0)
            closed = H5Dclose(results->series[i].dataset) >= 0 && closed;
        results->series[i].dataset = -1;
    }
    if (results->file >= 0) {
        closed = H5Fclose(results->file) >= 0 && closed;
        results->file = -1;
        disk_release(results->part_path);
    }
    return closed;
}

// ---- records --------------------------------------------------------------------------------------

/// Place of the next record of a series.
static double *record_of(hn_results *results, series_id id)
{
    series_writer *series = &results->series[id];
    return series->buffer + results->buffered_count * series->width;
}

/// Copy what is observed of the current state into series first to last of the next record.
static hn_status gather(hn_results *results, series_id first, series_id last)
{
    const hn_simulation *simulation = results->simulation;
    for (int i = (int)first; i <= (int)last; ++i) {
        const series_writer *series = &results->series[i];
        if (series->dataset < 0) continue;
        TRY(simulation_observe(simulation, series_get((series_id)i)->observed));
        memcpy(record_of(results, (series_id)i), simulation->observed.data[i],
               series->width * sizeof(double));
    }
    return HN_OK;
}

/// Name of the body or joint that number `index` of a record belongs to; NULL for totals. Sets its length.
static const char *owner_name(const hn_results *results, series_shape shape, size_t index,
                              int *length)
{
    const name_block *names = NULL;
    size_t number = 0;
    if (shape == SERIES_BODY_VECTOR || shape == SERIES_BODY_MATRIX) {
        names = &results->description.body_names;
        number = index / (shape == SERIES_BODY_VECTOR ? 3 : 9);
    } else if (shape == SERIES_JOINT_VECTOR) {
        names = &results->description.joint_names;
        number = index / 3;
    }
    if (names == NULL) return NULL;
    *length = (int)names->width; // as a precision: a shorter name ends at its first zero byte
    return names->text + number * names->width;
}

static bool all_finite(const double *numbers, size_t count)
{
    double sums[4] = {0.0, 0.0, 0.0, 0.0}; // side by side: they do not wait for each other
    size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (size_t l = 0; l < 4; ++l) sums[l] += 0.0 * numbers[k + l];
    for (; k < count; ++k) sums[0] += 0.0 * numbers[k];
    return sums[0] + sums[1] + sums[2] + sums[3] == 0.0;
}

/// Refuse a record with a number that is none in series first to last, naming its owner.
static hn_status check_record(hn_results *results, series_id first, series_id last)
{
    for (int i = (int)first; i <= (int)last; ++i) {
        const series_writer *series = &results->series[i];
        const series_info *info = series_get((series_id)i);
        const double *record = record_of(results, (series_id)i);
        if (info->shape == SERIES_OUTPUTS) continue; // an expression may be what it likes
        if (all_finite(record, series->width)) continue;
        for (size_t k = 0; k < series->width; ++k) {
            if (isfinite(record[k])) continue;
            int length = 0;
            double time = hn_simulation_time(results->simulation);
            const char *owner = owner_name(results, info->shape, k, &length);
            if (owner == NULL)
                return context_fail(
                    results->context, HN_NOT_CONVERGED,
                    "%s is not a finite number at t = %.9g s: the record is not written",
                    info->name, time);
            return context_fail(
                results->context, HN_NOT_CONVERGED,
                "%s '%.*s': %s is not a finite number at t = %.9g s: the record is not written",
                strcmp(info->group, "bodies") == 0 ? "body" : "joint", length, owner, info->name,
                time);
        }
    }
    return HN_OK;
}

// ---- public functions -----------------------------------------------------------------------------

static hn_status fail_input(hn_results *results, const char *path)
{
    return context_fail(results->context, HN_FILE_ACCESS,
                        "%s: results cannot be written there: it is the model file; choose another "
                        "name",
                        path);
}

/// A folder, a device or a missing folder is found before a simulation has run for an hour, and so is the model's own
/// file, or another run under the same name.
static hn_status claim_path(hn_results *results, const hn_model *model, bool create)
{
    struct stat information;
    if (lstat(results->path, &information) == 0 && !S_ISREG(information.st_mode))
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: results cannot be written there: it is %s", results->path,
                            S_ISDIR(information.st_mode) ? "a folder" : "not a regular file");
    if (lstat(results->part_path, &information) == 0 && !S_ISREG(information.st_mode))
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: results cannot be written there: it is %s", results->part_path,
                            S_ISDIR(information.st_mode) ? "a folder" : "not a regular file");
    const char *const names[3] = {results->path, results->part_path, results->checkpoint_path};
    for (int i = 0; i < 3 && model->source != NULL; ++i)
        if (disk_same_file(model->source, names[i])) return fail_input(results, names[i]);
    const char *foreign = !create                               ? NULL
                          : disk_is_foreign(results->part_path) ? results->part_path
                          : checkpoint_is_foreign(results->checkpoint_path)
                              ? results->checkpoint_path
                              : NULL;
    if (foreign != NULL)
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: results cannot be written there: no run has left this file; move "
                            "it, or choose another name",
                            foreign);
    int error = 0;
    results->lock = disk_lock(results->part_path, create, &error);
    if (results->lock >= 0) return HN_OK;
    if (error == EWOULDBLOCK)
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: another run is writing it: wait for its end, or choose another "
                            "name",
                            results->part_path);
    return fail_access(results, create ? "create the file" : "open the file", error);
}

static void release_path(hn_results *results)
{
    if (results->lock >= 0) close(results->lock);
    results->lock = -1;
}

/// How the file is opened: without HDF5's own lock, so that others may read meanwhile; without a chunk cache, since
/// whole chunks are written; in the format that one writer and many readers need.
static hid_t access_properties(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return access;
    if (H5Pset_file_locking(access, 0, 1) >= 0 && H5Pset_cache(access, 0, 0, 0, 0.0) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0)
        return access;
    H5Pclose(access);
    return -1;
}

// ---- which series -----------------------------------------------------------------------------------

static bool is_word(const char *name, const char *word, size_t length)
{
    return name[0] != '\0' && strlen(name) == length && strncmp(name, word, length) == 0;
}

/// May the name stand without its group, as in tables? Those of the ledger and of Newton's method may.
static bool is_short(const series_info *info)
{
    return strcmp(info->group, "ledger") == 0 || strcmp(info->group, "newton") == 0;
}

/// Does a word of `length` bytes mean a series: by its name or by its group?
static bool word_means(const char *word, size_t length, const series_info *info)
{
    return is_word(info->full, word, length) || is_word(info->group, word, length) ||
           (is_short(info) && is_word(info->name, word, length));
}

static hn_status fail_unknown_word(const hn_results *results, const char *word, size_t length)
{
    const char *words[3 * SERIES_COUNT];
    char asked[64];
    snprintf(asked, sizeof asked, "%.*s", (int)length, word);
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const series_info *info = series_get((series_id)i);
        words[3 * i] = info->full;
        words[3 * i + 1] = info->group;
        words[3 * i + 2] = is_short(info) ? info->name : info->full;
    }
    const char *nearest = nearest_word(asked, words, 3 * SERIES_COUNT);
    if (nearest != NULL && nearest[0] != '\0')
        return context_fail(results->context, HN_INVALID_ARGUMENT,
                            "unknown series '%s' to write (did you mean '%s'?)", asked, nearest);
    return context_fail(
        results->context, HN_INVALID_ARGUMENT,
        "unknown series '%s' to write; expected a series such as bodies/position or a "
        "group: bodies, joints, beams, drives, couplings, outputs, ledger, newton",
        asked);
}

/// Leave out all series but those that `words` mean, time and step.
static hn_status choose_series(hn_results *results, const char *words)
{
    if (words == NULL) return HN_OK;
    for (int i = SERIES_STEP + 1; i < SERIES_COUNT; ++i) results->left_out[i] = true;
    for (const char *word = words; *word != '\0';) {
        size_t length = strcspn(word, ",");
        bool known = false;
        for (int i = 0; i < SERIES_COUNT; ++i)
            if (word_means(word, length, series_get((series_id)i))) {
                results->left_out[i] = false;
                known = true;
                // by its own name what is dear is wanted too
                if (strlen(series_get((series_id)i)->group) != length)
                    results->description.run.all_series |=
                        series_get((series_id)i)->observed == OBSERVE_PROJECTED;
            }
        if (!known) return fail_unknown_word(results, word, length);
        word += length;
        if (*word == ',') ++word;
    }
    return HN_OK;
}

/// Has this file such a series?
static bool has_accelerations(const hn_results *results)
{
    hn_result_kind kind = results->description.run.kind;
    return kind == HN_RESULT_KINEMATICS || kind == HN_RESULT_INVERSE;
}

static bool has_series(const hn_results *results, series_id id)
{
    if (results->series[id].width == 0 || results->left_out[id]) return false;
    if (series_get(id)->observed == OBSERVE_PROJECTED && !results->description.run.all_series)
        return false;
    if (series_get(id)->observed == OBSERVE_ACCELERATIONS && !has_accelerations(results))
        return false;
    return strcmp(series_get(id)->group, "joints") != 0 ||
           results->description.extent.joint_count > 0;
}

static hn_status create_series(hn_results *results)
{
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const series_info *info = series_get((series_id)i);
        if (!has_series(results, (series_id)i)) continue;
        size_t dims[3];
        int rank = series_record_dims(info->shape, &results->description.extent, dims);
        char place[64];
        series_place((series_id)i, place, sizeof place);
        hid_t dataset = hdf5_create_series(results->file, place, info->integer, rank, dims,
                                           results->series[i].chunk_records);
        bool created = dataset >= 0 && hdf5_attribute_text(dataset, "unit", info->unit, 0) &&
                       hdf5_attribute_text(dataset, "meaning", info->meaning, 0);
        if (dataset >= 0) created = H5Dclose(dataset) >= 0 && created;
        if (!created) return HN_FILE_ACCESS;
    }
    return HN_OK;
}

/// Open the file for appending; its chunks must be those that this writer would make.
static hn_status open_for_appending(hn_results *results, hid_t access)
{
    results->file = H5Fopen(results->part_path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
    if (results->file < 0) return HN_FILE_ACCESS;
    disk_settle_header(results->file);
    // a file that is taken up again has the series it was started with
    results->description.run.all_series =
        H5Lexists(results->file, "ledger/hidden_projected", H5P_DEFAULT) > 0;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        series_writer *series = &results->series[i];
        results->left_out[i] = false;
        if (!has_series(results, (series_id)i)) continue;
        char place[64];
        series_place((series_id)i, place, sizeof place);
        results->left_out[i] = H5Lexists(results->file, place, H5P_DEFAULT) <= 0;
        if (results->left_out[i]) continue;
        series->dataset = open_series(results, (series_id)i);
        if (series->dataset < 0 || !hdf5_has_chunks(series->dataset, series->chunk_records,
                                                    series->chunk_records * series->element_count))
            return HN_FILE_ACCESS;
    }
    return HN_OK;
}

/// Everything that is known before the first record.
static hn_status describe(hn_results *results, hid_t access, hdf5_silence *silence)
{
    silence->system_error = disk_make_room(results->part_path, METADATA_RESERVE);
    if (silence->system_error != 0) return HN_FILE_ACCESS;
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    if (creation < 0) return HN_FILE_ACCESS;
    results->file = H5Fcreate(results->part_path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    if (results->file < 0) return HN_FILE_ACCESS;
    silence->system_error = disk_reserve(results->file, METADATA_RESERVE);
    if (silence->system_error != 0) return HN_FILE_ACCESS;

    bool written = false;
    TRY(description_write(&results->description, results->file, &written));
    if (!written) return HN_FILE_ACCESS;
    TRY(create_series(results));
    TRY(write_account(results, &written));
    return written && H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0 ? HN_OK : HN_FILE_ACCESS;
}

static hn_status create_file(hn_results *results, hdf5_silence *silence)
{
    hid_t access = access_properties();
    if (access < 0) return HN_FILE_ACCESS;
    hn_status status = describe(results, access, silence);
    // groups and series can only be made before the file is opened for appending
    if (status == HN_OK) {
        status = H5Fclose(results->file) >= 0 ? HN_OK : HN_FILE_ACCESS;
        results->file = -1;
    }
    if (status == HN_OK) status = open_for_appending(results, access);
    H5Pclose(access);
    return status;
}

/// The largest power of two that is at most `most` and at least 1.
static size_t power_of_two(size_t most)
{
    size_t power = 1;
    while (2 * power <= most) power *= 2;
    return power;
}

static char *path_with(hn_context *context, const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char *name = context_allocate(context, size);
    if (name != NULL) snprintf(name, size, "%s%s", path, ending);
    return name;
}

/// Sizes and buffers: all memory the writer needs until it is destroyed, but for checkpoints.
static hn_status take_memory(hn_results *results, const hn_model *model, const char *path)
{
    hn_context *context = results->context;
    results->path = context_copy_string(context, path);
    results->part_path = path_with(context, path, ".part");
    results->checkpoint_path = path_with(context, path, ".checkpoint");
    results->checkpoint_new_path = path_with(context, path, ".checkpoint.new");
    if (results->path == NULL || results->part_path == NULL || results->checkpoint_path == NULL ||
        results->checkpoint_new_path == NULL)
        return HN_OUT_OF_MEMORY;

    results->description.context = context;
    results->description.model = model;
    results->description.simulation = results->simulation;
    results->description.settings = results->simulation->def;
    TRY(description_gather(&results->description));

    hn_structure structure = hn_simulation_structure(results->simulation);
    bool redundant = structure.constraint_rank < structure.constraint_count;
    size_t record_width = 0;
    for (int g = 0; g < OBSERVATION_GROUP_COUNT; ++g)
        TRY(observation_prepare(results->simulation, (observation_group)g));
    for (int i = 0; i < SERIES_COUNT; ++i) {
        results->series[i].width =
            series_width(series_get((series_id)i)->shape, &results->description.extent);
        if (i == SERIES_JOINT_REACTION_UNIQUE && !redundant) results->series[i].width = 0;
        record_width += results->series[i].width;
    }
    results->record_bytes = record_width * sizeof(double);
    size_t most = BLOCK_BYTES_MAX / results->record_bytes;
    results->block_records = power_of_two(most < BLOCK_RECORDS_MAX ? most : BLOCK_RECORDS_MAX);
    results->buffer = context_allocate(context, results->block_records * results->record_bytes);
    if (results->buffer == NULL) return HN_OUT_OF_MEMORY;
    double *next = results->buffer;
    size_t chunk_bytes_max = 0;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        series_writer *series = &results->series[i];
        series->buffer = next;
        next += results->block_records * series->width;
        if (series->width == 0) continue;
        bool total = series_get((series_id)i)->shape == SERIES_VECTOR;
        series->component_count = total ? 1 : series_components(series_get((series_id)i)->shape);
        series->element_count = series->width / series->component_count;
        size_t fitting = power_of_two(CHUNK_BYTES / (series->element_count * sizeof(double)));
        series->chunk_records = fitting < results->block_records ? fitting : results->block_records;
        size_t chunk_bytes = series->chunk_records * series->element_count * sizeof(double);
        if (chunk_bytes > chunk_bytes_max) chunk_bytes_max = chunk_bytes;
    }
    results->chunk = context_allocate(context, chunk_bytes_max);
    if (results->chunk == NULL) return HN_OUT_OF_MEMORY;
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0) return HN_OK;
    return packer_create(context, chunk_bytes_max / sizeof(double), &results->packer);
}

static void release_memory(hn_results *results)
{
    hn_context *context = results->context;
    context_release(context, results->snapshot);
    packer_destroy(results->packer);
    context_release(context, results->chunk);
    context_release(context, results->buffer);
    pool_release(&results->description.memory);
    context_release(context, results->checkpoint_path);
    context_release(context, results->checkpoint_new_path);
    context_release(context, results->part_path);
    context_release(context, results->path);
    hn_simulation_destroy(results->simulation);
    context_release(context, results);
    context_drop(context);
}

/// A writer with its memory and its claim on the name, without a file.
static hn_status make_writer(const hn_model *model, hn_simulation *simulation, const char *path,
                             const hn_results_def *def, bool create, hn_results **results)
{
    hn_context *context = simulation != NULL ? simulation->context : hn_model_context(model);
    REQUIRE(context, results != NULL);
    *results = NULL;
    REQUIRE(NULL, model != NULL);
    REQUIRE(context, simulation != NULL);
    hn_results_def own = hn_results_def_default();
    if (def != NULL) TRY(sized_read(context, "hn_results_def", def, &own, sizeof own));
    if (model_identity(model) != simulation_model_identity(simulation))
        return context_fail(context, HN_INVALID_ARGUMENT,
                            "%s: the simulation was not made from model '%s', or the model was "
                            "changed afterwards",
                            path == NULL ? "result file" : path, hn_model_name(model));
    if (path == NULL || path[0] == '\0')
        return context_fail(context, HN_FILE_ACCESS, "the result file has no name");
    hn_results *created = context_allocate(context, sizeof *created);
    if (created == NULL) return HN_OUT_OF_MEMORY;
    created->context = context_retain(context);
    created->simulation = simulation_retain(simulation);
    created->lock = -1;
    created->file = -1;
    for (int i = 0; i < SERIES_COUNT; ++i) created->series[i].dataset = -1;
    created->description.run = own;
    created->has_ledger = simulation_has_ledger(simulation);

    hn_status status = choose_series(created, own.series);
    if (status == HN_OK) status = take_memory(created, model, path);
    if (status == HN_OK) status = claim_path(created, model, create);
    if (status != HN_OK) {
        release_memory(created);
        return status;
    }
    *results = created;
    return HN_OK;
}

// With what a run that was killed while it wrote one has left.
static void remove_checkpoint(const hn_results *results)
{
    unlink(results->checkpoint_path);
    unlink(results->checkpoint_new_path);
}

hn_status hn_results_create_for(const hn_model *model, hn_simulation *simulation, const char *path,
                                const hn_results_def *def, hn_results **results)
{
    hn_results *created = NULL;
    REQUIRE(hn_model_context(model), results != NULL);
    *results = NULL;
    TRY(make_writer(model, simulation, path, def, true, &created));
    // from here on what an earlier run left is gone, its checkpoint first: it must never be taken for one of this run
    remove_checkpoint(created);
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hn_status status = create_file(created, &silence);
    if (status != HN_OK) {
        if (status == HN_FILE_ACCESS && created->file >= 0) disk_detach(created->file);
        close_file(created);
        unlink(created->part_path);
    }
    hdf5_silence_end(&silence);
    if (status == HN_FILE_ACCESS) fail_access(created, "create the file", silence.system_error);
    if (status != HN_OK) {
        release_path(created);
        release_memory(created);
        return status;
    }
    created->description.model =
        NULL; // it may be destroyed from now on, and the words are the caller's
    created->description.run.series = NULL;
    created->commit_time = clock_seconds();
    *results = created;
    return HN_OK;
}

hn_status hn_results_create(const hn_model *model, hn_simulation *simulation, const char *path,
                            hn_results **results)
{
    return hn_results_create_for(model, simulation, path, NULL, results);
}

hn_status hn_results_append(hn_results *results)
{
    REQUIRE(NULL, results != NULL);
    if (results->finished || results->failed)
        return context_fail(
            results->context, HN_FILE_ACCESS, "%s: the result file %s", results->path,
            results->finished ? "is finished: no record can follow"
                              : "could not be written before: no record can follow");
    // bodies come first: what else would be asked of a broken state has no better answer than their names
    TRY(gather(results, SERIES_BODY_POSITION, SERIES_BODY_ANGULAR_MOMENTUM));
    TRY(check_record(results, SERIES_BODY_POSITION, SERIES_BODY_ANGULAR_MOMENTUM));
    TRY(gather(results, SERIES_TIME, SERIES_STEP));
    TRY(gather(results, SERIES_JOINT_COORDINATE, SERIES_STEP_SIZE));
    TRY(check_record(results, SERIES_TIME, SERIES_STEP));
    TRY(check_record(results, SERIES_JOINT_COORDINATE, SERIES_STEP_SIZE));
    results->buffered_count += 1;
    bool due = clock_seconds() - results->commit_time > COMMIT_INTERVAL;
    if (due || results->buffered_count == results->block_records)
        TRY(write_records(results, false));
    if (due || results->uncommitted_blocks == COMMIT_BLOCKS_MAX) TRY(commit(results, true));
    next_block(results);
    return HN_OK;
}

/// Bytes of the file that belong to nothing: places of chunks before they were packed.
static hsize_t wasted_bytes(const hn_results *results)
{
    hsize_t size = 0, used = 0;
    if (H5Fget_filesize(results->file, &size) < 0) return 0;
    for (int i = 0; i < SERIES_COUNT; ++i)
        if (results->series[i].dataset >= 0)
            used += H5Dget_storage_size(results->series[i].dataset);
    return size > used ? size - used : 0;
}

static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *target)
{
    (void)info;
    hid_t to = *(hid_t *)target, attribute = H5Aopen(from, name, H5P_DEFAULT);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    hid_t copy =
        type < 0 || space < 0 ? -1 : H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    char value[NOTE_SIZE]; // attributes of the file itself are single numbers and short texts
    bool copied = copy >= 0 && H5Aget_storage_size(attribute) <= sizeof value &&
                  H5Aread(attribute, type, value) >= 0 && H5Awrite(copy, type, value) >= 0;
    if (copy >= 0) H5Aclose(copy);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    return copied ? 0 : -1;
}

static herr_t copy_link(hid_t from, const char *name, const H5L_info_t *info, void *target)
{
    (void)info;
    return H5Ocopy(from, name, *(hid_t *)target, name, H5P_DEFAULT, H5P_DEFAULT);
}

/// Copy the finished file without its waste. False: there is no copy, and nothing has changed.
static bool pack(const hn_results *results, const char *packed_path)
{
    hid_t access = access_properties();
    hid_t from = access < 0 ? -1 : H5Fopen(results->part_path, H5F_ACC_RDONLY, access);
    hsize_t size = 0;
    // a full disk is met before HDF5 writes: it would not get over it
    bool room =
        from >= 0 && H5Fget_filesize(from, &size) >= 0 && disk_make_room(packed_path, size) == 0;
    hid_t to = room ? H5Fcreate(packed_path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
    bool packed =
        to >= 0 && disk_reserve(to, size) == 0 &&
        H5Literate(from, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_link, &to) >= 0 &&
        H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, copy_attribute, &to) >= 0 &&
        H5Fflush(to, H5F_SCOPE_GLOBAL) >= 0;
    if (to >= 0 && !packed) disk_detach(to);
    if (to >= 0) packed = H5Fclose(to) >= 0 && packed;
    if (from >= 0) H5Fclose(from);
    if (access >= 0) H5Pclose(access);
    if (to >= 0) disk_release(packed_path);
    if (from >= 0 && !packed) unlink(packed_path);
    return packed;
}

/// Give the closed file its final name; a file with much waste is copied without it first, if there is room.
static bool rename_finished(hn_results *results, bool wasteful)
{
    char *packed_path =
        wasteful ? path_with(results->context, results->part_path, ".packed") : NULL;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    bool packed = packed_path != NULL && pack(results, packed_path);
    hdf5_silence_end(&silence);
    bool renamed = rename(packed ? packed_path : results->part_path, results->path) == 0;
    int error = errno;
    if (packed) unlink(renamed ? results->part_path : packed_path);
    context_release(results->context, packed_path);
    errno = error;
    return renamed;
}

hn_status hn_results_set_modes(hn_results *results, const hn_mode *modes, const double *shapes,
                               int count)
{
    REQUIRE(NULL, results != NULL);
    REQUIRE(results->context, count >= 0 && (count == 0 || (modes != NULL && shapes != NULL)));
    if (results->finished || results->failed)
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: the result file cannot be written any more", results->path);
    int bodies = hn_simulation_structure(results->simulation).body_count;
    const hsize_t dims[3] = {(hsize_t)count, (hsize_t)bodies, 6};
    double *numbers = context_allocate(results->context, (2 * (size_t)count + 1) * sizeof(double));
    if (numbers == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < count; ++i)
        numbers[i] = modes[i].frequency, numbers[count + i] = modes[i].growth_rate;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    int refused =
        disk_reserve(results->file,
                     METADATA_RESERVE + (size_t)count * (6 * (size_t)bodies + 2) * sizeof(double));
    hid_t group = refused == 0 ? hdf5_create_group(results->file, "modes") : -1;
    bool written = group >= 0 && hdf5_write_doubles(group, "frequency", "Hz", 1, dims, numbers) &&
                   hdf5_write_doubles(group, "growth_rate", "1/s", 1, dims, numbers + count) &&
                   hdf5_write_doubles(group, "shape", "m, rad", 3, dims, shapes);
    if (refused == 0 && !written) disk_detach(results->file);
    if (group >= 0) H5Gclose(group);
    hdf5_silence_end(&silence);
    context_release(results->context, numbers);
    return written
               ? HN_OK
               : fail_access(results, "write modes", refused != 0 ? refused : silence.system_error);
}

hn_status hn_results_finish(hn_results *results)
{
    REQUIRE(NULL, results != NULL);
    if (results->finished || results->failed)
        return context_fail(
            results->context, HN_FILE_ACCESS, "%s: the result file %s", results->path,
            results->finished ? "is finished already" : "could not be written before");
    TRY(write_records(results, true));
    TRY(commit(results, true));

    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    bool marked = hdf5_attribute_integer(results->file, "complete", 1) &&
                  H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
    if (!marked) disk_detach(results->file);
    hsize_t size = 0, waste = wasted_bytes(results);
    bool wasteful =
        H5Fget_filesize(results->file, &size) >= 0 && waste > WASTE_BYTES_MIN && waste > size / 4;
    bool closed = close_file(results) && marked;
    hdf5_silence_end(&silence);
    if (!closed) {
        results->failed = true;
        return fail_access(results, "close the file", silence.system_error);
    }
    if (!rename_finished(results, wasteful)) {
        results->failed = true;
        return context_fail(results->context, HN_FILE_ACCESS, "%s: cannot rename it to %s: %s",
                            results->part_path, results->path, system_error_sentence(errno));
    }
    remove_checkpoint(results);
    release_path(results);
    results->finished = true;
    return HN_OK;
}

void hn_results_destroy(hn_results *results)
{
    if (results == NULL) return;
    if (results->file >= 0) {
        // Only what is buffered is written. After a full disk what was written before still counts. Failures are on the
        // context; there is nobody to return them to.
        hn_status written = results->failed ? HN_OK : write_records(results, false);
        hn_status committed = commit(results, false);
        (void)written;
        (void)committed;
        hdf5_silence silence;
        hdf5_silence_begin(&silence);
        close_file(results);
        hdf5_silence_end(&silence);
    }
    release_path(results);
    release_memory(results);
}

// ---- stopping and going on ------------------------------------------------------------------------

hn_status hn_results_checkpoint(hn_results *results)
{
    REQUIRE(NULL, results != NULL);
    if (results->finished || results->failed)
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: the result file %s: no checkpoint can be written", results->path,
                            results->finished ? "is finished" : "could not be written before");
    if (results->snapshot == NULL) {
        results->snapshot_size = hn_simulation_snapshot_size(results->simulation);
        results->snapshot = context_allocate(results->context, results->snapshot_size);
        if (results->snapshot == NULL) return HN_OUT_OF_MEMORY;
    }
    TRY(hn_simulation_save(results->simulation, results->snapshot, results->snapshot_size));
    // first the records, then what counts on them
    TRY(write_records(results, false));
    TRY(commit(results, true));
    int error = disk_synchronise(results->file);
    if (error != 0) return fail_access(results, "write records", error);
    checkpoint data = {
        .record_count = (int64_t)(results->block_start + results->written_count),
        .step_count = hn_simulation_step_count(results->simulation),
        .interval = results->description.run.checkpoint_interval,
        .snapshot = results->snapshot,
        .snapshot_size = results->snapshot_size,
    };
    return checkpoint_write(results->context, results->checkpoint_path,
                            results->checkpoint_new_path, &data);
}

static hn_status fail_other(hn_results *results, const char *what)
{
    return context_fail(results->context, HN_INVALID_ARGUMENT,
                        "%s: cannot go on: %s; start the run anew, or choose another name",
                        results->part_path, what);
}

static hn_status fail_damaged(hn_results *results, const char *what)
{
    return context_fail(results->context, HN_FILE_FORMAT,
                        "%s: cannot go on: %s; start the run anew, or choose another name",
                        results->part_path, what);
}

/// Is the text in the file the one that the model was read from?
static hn_status check_text(hn_results *results, const hn_model *model)
{
    size_t length = 0;
    const char *text = hn_model_text(model, &length);
    bool stored = H5Lexists(results->file, "model/text", H5P_DEFAULT) > 0;
    if (!stored)
        return text == NULL || length == 0 ? HN_OK
                                           : fail_other(results, "its model was built by calls");
    hid_t dataset = H5Dopen2(results->file, "model/text", H5P_DEFAULT);
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    bool same = type >= 0 && text != NULL && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Tget_size(type) == length;
    hn_status status = HN_OK;
    if (same) {
        char *found = context_allocate(results->context, length);
        if (found == NULL) status = HN_OUT_OF_MEMORY;
        else
            same = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0 &&
                   memcmp(found, text, length) == 0;
        context_release(results->context, found);
    }
    if (type >= 0) H5Tclose(type);
    if (dataset >= 0) H5Dclose(dataset);
    if (status == HN_OK && !same)
        status = fail_other(results, "the model has changed since it was started");
    return status;
}

static hn_status check_settings(hn_results *results, hn_results_def *before)
{
    hn_simulation_def settings = hn_simulation_def_default();
    hid_t group = H5Gopen2(results->file, "options", H5P_DEFAULT);
    bool read = group >= 0 && options_read(group, &settings, before);
    char *words = NULL;
    hn_status status = read ? options_read_series(group, results->context, &words) : HN_FILE_FORMAT;
    if (group >= 0) H5Gclose(group);
    if (status == HN_OUT_OF_MEMORY) return status;
    if (status != HN_OK) return fail_damaged(results, "its settings cannot be read");
    const char *asked = results->description.run.series;
    bool same = asked == NULL || strcmp(asked, words == NULL ? "" : words) == 0;
    context_release(results->context, words);
    if (!same) return fail_other(results, "it was started with other series");
    const char *different = options_difference(&settings, &results->simulation->def);
    if (different == NULL) return HN_OK;
    char text[80];
    snprintf(text, sizeof text, "it was started with another %s", different);
    return fail_other(results, text);
}

/// Records of the block that the checkpoint stands in come back into memory.
static hn_status read_block(hn_results *results, hsize_t record_count)
{
    results->block_start = record_count - record_count % results->block_records;
    results->buffered_count = results->written_count =
        (size_t)(record_count - results->block_start);
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const series_writer *series = &results->series[i];
        if (series->dataset < 0 || results->buffered_count == 0) continue;
        if (!hdf5_read_records(series->dataset, results->block_start, results->buffered_count,
                               series->buffer))
            return fail_damaged(results, "its records cannot be read");
    }
    return HN_OK;
}

/// Open the .part and make sure that it is the one the checkpoint and the simulation belong to.
static hn_status reopen(hn_results *results, const hn_model *model, const checkpoint *data,
                        hn_results_def *before)
{
    char format[32];
    int64_t version = 0, counted = 0;
    const bool all_series =
        results->description.run.all_series; // asked for; the file says what it has
    if (disk_settle_killed(results->part_path) != 0)
        return fail_damaged(results, "it is not a result file");
    hid_t access = access_properties();
    hn_status status = access < 0 ? HN_FILE_ACCESS : open_for_appending(results, access);
    if (access >= 0) H5Pclose(access);
    if (status != HN_OK)
        return fail_damaged(results, "it is damaged, or a result of another model");
    if (!hdf5_read_text(results->file, "format", format, sizeof format) ||
        strcmp(format, "holonom results") != 0 ||
        !hdf5_read_integer(results->file, "format_version", &version) ||
        version != RESULTS_FORMAT_VERSION ||
        !hdf5_read_integer(results->file, "record_count", &counted))
        return fail_damaged(results, "it is not a result file of this version");
    TRY(check_text(results, model));
    TRY(check_settings(results, before));
    if (all_series && !results->description.run.all_series)
        return fail_other(results, "it was started without --all-series");
    if (counted < data->record_count)
        return fail_damaged(results, "it has fewer records than its checkpoint says");
    results->counted = (hsize_t)counted;
    return read_block(results, (hsize_t)data->record_count);
}

/// A run may be made longer when it goes on.
static hn_status change_step_count(hn_results *results, int64_t step_count)
{
    hid_t group = H5Gopen2(results->file, "options", H5P_DEFAULT);
    bool written = group >= 0 && hdf5_attribute_integer(group, "step_count", step_count);
    if (group >= 0) H5Gclose(group);
    return written ? HN_OK : fail_access(results, "write the number of steps", 0);
}

hn_status hn_results_resume(const hn_model *model, hn_simulation *simulation, const char *path,
                            hn_results_def *def, hn_results **results)
{
    hn_results *created = NULL;
    hn_results_def before = hn_results_def_default();
    checkpoint data = {0};
    REQUIRE(hn_model_context(model), results != NULL);
    *results = NULL;
    TRY(make_writer(model, simulation, path, def, false, &created));
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    hn_status status = checkpoint_read(created->context, created->checkpoint_path, &data);
    if (status == HN_OK) status = reopen(created, model, &data, &before);
    if (status == HN_OK)
        status = hn_simulation_restore(simulation, data.snapshot, data.snapshot_size);
    if (status == HN_OK && hn_simulation_step_count(simulation) != data.step_count)
        status = fail_damaged(created, "its checkpoint contradicts itself");
    before.checkpoint_interval = data.interval;
    before.all_series = created->description.run.all_series;
    if (def != NULL && def->step_count != 0) before.step_count = def->step_count;
    if (status == HN_OK && before.step_count != 0)
        status = change_step_count(created, before.step_count);
    if (status != HN_OK && created->file >= 0) close_file(created);
    hdf5_silence_end(&silence);
    context_release(created->context, data.snapshot);
    if (status != HN_OK) {
        release_path(created);
        release_memory(created);
        return status;
    }
    created->description.run = before;
    if (def != NULL) {
        before.size = def->size;
        sized_fill(def, def->size, &before, sizeof before);
    }
    created->description.model = NULL; // it may be destroyed from now on
    created->commit_time = clock_seconds();
    *results = created;
    return HN_OK;
}
