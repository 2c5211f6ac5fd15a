// SPDX-License-Identifier: MIT
// Writer of result files: records are gathered in memory, written a chunk at a time, renamed when complete.
#define _POSIX_C_SOURCE 200809L
#include <holonom/results.h>

#include "base/context.h"
#include "base/vector.h"
#include "io/results_description.h"
#include "io/results_disk.h"
#include "io/results_hdf5.h"
#include "io/results_series.h"
#include "model/model.h"
#include "simulation/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK_RECORDS_MAX = 256,    // records written at once for small models
    CHUNK_BYTES_MAX = 32 << 20, // bytes written at once for large ones, but at least one record
    COMMIT_CHUNKS_MAX = 512,    // chunks written at most before HDF5's own blocks follow
    METADATA_RESERVE = 2 << 20, // bytes of disk kept ready for these blocks and for closing
    NOTE_SIZE = sizeof(((hn_ledger_entry *)0)->note),
};

/// HDF5 writes its own blocks one by one in about 0.1 ms, and a run killed within that time may leave a damaged file.
/// So they are written seldom; in between the file is as it was at the last commit.
static const double COMMIT_INTERVAL = 1.0; // s

typedef struct series_writer {
    hid_t dataset;  ///< negative: the model has no such element
    size_t width;   ///< numbers in a record
    double *buffer; ///< chunk_records * width
} series_writer;

struct hn_results {
    hn_context *context;
    hn_simulation *simulation;
    char *path;
    char *part_path;                 ///< path with ".part"
    results_description description; ///< its model is not looked at after creation
    hid_t file;                      ///< negative: closed
    series_writer series[SERIES_COUNT];
    double *buffer; ///< block of all series
    size_t chunk_records;
    size_t record_bytes;
    size_t buffered_count;  ///< records in the buffers
    hsize_t written_count;  ///< records in the file
    int uncommitted_chunks; ///< writes since the last commit
    double commit_time;     ///< s, clock at the last commit
    bool has_ledger;
    bool failed; ///< a write failed: nothing more is written
    bool finished;
};

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
    else group = H5Gcreate2(ledger_group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool written = hdf5_attribute_integer(group, "conserved", entry->conserved) &&
                   hdf5_attribute_double(group, "error", entry->error) &&
                   hdf5_attribute_double(group, "drift", entry->drift) &&
                   hdf5_attribute_double(group, "drift_per_step", entry->drift_per_step) &&
                   hdf5_attribute_double(group, "bound", entry->bound) &&
                   hdf5_attribute_integer(group, "kept", entry->kept) &&
                   hdf5_attribute_text(group, "note", entry->note, NOTE_SIZE);
    return H5Gclose(group) >= 0 && written;
}

/// The series `ledger/energy` is a dataset, so the final entries live in a group of their own.
static bool write_ledger(hid_t file, const hn_ledger *ledger)
{
    hid_t group = -1;
    if (H5Lexists(file, "ledger/promises", H5P_DEFAULT) > 0)
        group = H5Gopen2(file, "ledger/promises", H5P_DEFAULT);
    else group = H5Gcreate2(file, "ledger/promises", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
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
    return isfinite(ledger->energy_scale) && isfinite(ledger->momentum_scale) &&
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
        return context_fail(results->context, HN_NOT_CONVERGED,
                            "the ledger's %s is not a finite number", hn_promise_name(bad));
    *written = write_ledger(results->file, &ledger) && *written;
    return HN_OK;
}

// ---- chunks ---------------------------------------------------------------------------------------

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Write the buffered records; they count only after a commit.
static hn_status write_records(hn_results *results)
{
    if (results->buffered_count == 0) return HN_OK;
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    size_t bytes = results->buffered_count * results->record_bytes + METADATA_RESERVE;
    int refused = disk_reserve(results->file, bytes);
    bool written = refused == 0;
    for (int i = 0; i < SERIES_COUNT && written; ++i) {
        series_writer *series = &results->series[i];
        if (series->dataset < 0) continue;
        written = hdf5_append_records(series->dataset, results->written_count,
                                      results->buffered_count, series->buffer);
    }
    hdf5_silence_end(&silence);
    if (!written) {
        results->failed = true;
        if (refused == 0) disk_detach(results->file);
        return fail_access(results, "write records", refused != 0 ? refused : silence.system_error);
    }
    results->written_count += results->buffered_count;
    results->buffered_count = 0;
    results->uncommitted_chunks += 1;
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
        disk_announce_end(results->file);
        written = H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
    }
    // records count once they and their index are on disk
    if (written)
        written = hdf5_attribute_integer(results->file, "record_count",
                                         (int64_t)results->written_count) &&
                  H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
    hdf5_silence_end(&silence);
    results->uncommitted_chunks = 0;
    results->commit_time = clock_seconds();
    if (written) return status;
    results->failed = true;
    disk_detach(results->file);
    return fail_access(results, "write records", silence.system_error);
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

static hn_status gather_bodies(hn_results *results)
{
    double *position = record_of(results, SERIES_BODY_POSITION);
    double *orientation = record_of(results, SERIES_BODY_ORIENTATION);
    double *velocity = record_of(results, SERIES_BODY_VELOCITY);
    double *angular_velocity = record_of(results, SERIES_BODY_ANGULAR_VELOCITY);
    double *linear_momentum = record_of(results, SERIES_BODY_LINEAR_MOMENTUM);
    double *angular_momentum = record_of(results, SERIES_BODY_ANGULAR_MOMENTUM);
    for (size_t i = 0; i < results->description.extent.body_count; ++i) {
        hn_body_state state;
        TRY(hn_simulation_body_state(results->simulation,
                                     hn_simulation_body(results->simulation, (int)i), &state));
        vec3_store(state.position, position + 3 * i);
        memcpy(orientation + 9 * i, state.orientation.m, sizeof state.orientation.m);
        vec3_store(state.velocity, velocity + 3 * i);
        vec3_store(state.angular_velocity, angular_velocity + 3 * i);
        vec3_store(state.linear_momentum, linear_momentum + 3 * i);
        vec3_store(state.angular_momentum, angular_momentum + 3 * i);
    }
    return HN_OK;
}

static hn_status gather_joints(hn_results *results)
{
    double *coordinates = record_of(results, SERIES_JOINT_COORDINATE);
    double *rates = record_of(results, SERIES_JOINT_RATE);
    double *force = record_of(results, SERIES_JOINT_REACTION_FORCE);
    double *torque = record_of(results, SERIES_JOINT_REACTION_TORQUE);
    double *time = record_of(results, SERIES_JOINT_REACTION_TIME);
    double *valid = record_of(results, SERIES_JOINT_REACTION_VALID);
    *time = hn_simulation_time(results->simulation);
    *valid = 0.0;
    size_t next = 0;
    for (size_t i = 0; i < results->description.extent.joint_count; ++i) {
        hn_joint_state state;
        TRY(hn_simulation_joint_state(results->simulation,
                                      hn_simulation_joint(results->simulation, (int)i), &state));
        for (int k = 0;
             k < state.coordinate_count && next < results->description.extent.coordinate_count;
             ++k, ++next) {
            coordinates[next] = state.coordinates[k];
            rates[next] = state.rates[k];
        }
        vec3_store(state.reaction_valid ? state.reaction_force : (hn_vec3){0.0, 0.0, 0.0},
                   force + 3 * i);
        vec3_store(state.reaction_valid ? state.reaction_torque : (hn_vec3){0.0, 0.0, 0.0},
                   torque + 3 * i);
        if (state.reaction_valid) {
            *time = state.reaction_time; // one step gives all reactions: they share their time
            *valid = 1.0;
        }
    }
    return HN_OK;
}

static hn_status gather_totals(hn_results *results)
{
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_constraint_state constraints;
    TRY(hn_simulation_energy(results->simulation, &energy));
    TRY(hn_simulation_momentum(results->simulation, &linear, &angular));
    TRY(hn_simulation_constraints(results->simulation, &constraints));
    hn_statistics statistics = hn_simulation_statistics(results->simulation);

    *record_of(results, SERIES_TIME) = hn_simulation_time(results->simulation);
    *record_of(results, SERIES_STEP) = (double)hn_simulation_step_count(results->simulation);
    *record_of(results, SERIES_KINETIC) = energy.kinetic;
    *record_of(results, SERIES_POTENTIAL) = energy.potential;
    *record_of(results, SERIES_EXTERNAL_WORK) = energy.external_work;
    *record_of(results, SERIES_ENERGY) = energy.kinetic + energy.potential;
    *record_of(results, SERIES_DISCRETE_ENERGY) = energy.discrete_energy;
    vec3_store(linear, record_of(results, SERIES_LINEAR_MOMENTUM));
    vec3_store(angular, record_of(results, SERIES_ANGULAR_MOMENTUM));
    *record_of(results, SERIES_CONSTRAINT_RESIDUAL) = constraints.residual;
    *record_of(results, SERIES_JOINT_OPENING) = constraints.joint_opening;
    *record_of(results, SERIES_JOINT_MISALIGNMENT) = constraints.joint_misalignment;
    *record_of(results, SERIES_ORTHONORMALITY) = constraints.orthonormality;
    *record_of(results, SERIES_HIDDEN_VELOCITY) = constraints.hidden_velocity;
    *record_of(results, SERIES_HIDDEN_MOMENTUM) = constraints.hidden_momentum;
    *record_of(results, SERIES_HIDDEN_PROJECTED) = constraints.hidden_projected;
    *record_of(results, SERIES_NEWTON_ITERATIONS) = (double)statistics.last_iteration_count;
    *record_of(results, SERIES_NEWTON_ITERATIONS_TOTAL) = (double)statistics.newton_iteration_count;
    *record_of(results, SERIES_NEWTON_RESIDUAL) = statistics.last_residual;
    *record_of(results, SERIES_NEWTON_INCREMENT) = statistics.last_increment;
    *record_of(results, SERIES_HALVED_STEPS) = (double)statistics.halved_step_count;
    return HN_OK;
}

/// Name of the body or joint that number `index` of a record belongs to; NULL for totals. Sets its length.
static const char *owner_name(const hn_results *results, series_shape shape, size_t index,
                              int *length)
{
    const name_block *names = NULL;
    size_t element = 0;
    if (shape == SERIES_BODY_VECTOR || shape == SERIES_BODY_MATRIX) {
        names = &results->description.body_names;
        element = index / (shape == SERIES_BODY_VECTOR ? 3 : 9);
    } else if (shape == SERIES_JOINT_VECTOR) {
        names = &results->description.joint_names;
        element = index / 3;
    }
    if (names == NULL) return NULL;
    *length = (int)names->width; // as a precision: a shorter name ends at its first zero byte
    return names->text + element * names->width;
}

/// Refuse a record with a number that is none in series first to last, naming its owner.
static hn_status check_record(hn_results *results, series_id first, series_id last)
{
    for (int i = (int)first; i <= (int)last; ++i) {
        const series_writer *series = &results->series[i];
        const series_info *info = series_get((series_id)i);
        const double *record = record_of(results, (series_id)i);
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

/// A folder, a device or a missing folder is found before a simulation has run for an hour.
static hn_status check_path(hn_results *results)
{
    struct stat information;
    if (lstat(results->path, &information) == 0 && !S_ISREG(information.st_mode))
        return context_fail(results->context, HN_FILE_ACCESS,
                            "%s: results cannot be written there: it is %s", results->path,
                            S_ISDIR(information.st_mode) ? "a folder" : "not a regular file");
    int descriptor = open(results->part_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail_access(results, "create the file", errno);
    close(descriptor);
    return HN_OK;
}

static hn_status create_file(hn_results *results, hdf5_silence *silence)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return HN_FILE_ACCESS;
    // no lock, so that others may read meanwhile; no chunk cache, since whole chunks are written
    H5Pset_file_locking(access, 0, 1);
    H5Pset_cache(access, 0, 0, 0, 0.0);
    results->file = H5Fcreate(results->part_path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (results->file < 0) return HN_FILE_ACCESS;
    silence->system_error = disk_reserve(results->file, METADATA_RESERVE);
    if (silence->system_error != 0) return HN_FILE_ACCESS;

    bool written = false;
    TRY(description_write(&results->description, results->file, &written));
    if (!written) return HN_FILE_ACCESS;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        const series_info *info = series_get((series_id)i);
        series_writer *series = &results->series[i];
        if (series->width == 0) continue;
        if (strcmp(info->group, "joints") == 0 && results->description.extent.joint_count == 0)
            continue;
        size_t dims[3];
        int rank = series_record_dims(info->shape, &results->description.extent, dims);
        char place[64];
        snprintf(place, sizeof place, "%s/%s", info->group, info->name);
        series->dataset = hdf5_create_series(results->file, place, info->integer, rank, dims,
                                             results->chunk_records);
        if (series->dataset < 0 || !hdf5_attribute_text(series->dataset, "unit", info->unit, 0) ||
            !hdf5_attribute_text(series->dataset, "meaning", info->meaning, 0))
            return HN_FILE_ACCESS;
    }
    TRY(write_account(results, &written));
    return written && H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0 ? HN_OK : HN_FILE_ACCESS;
}

/// Sizes and buffers: all memory the writer needs until it is destroyed.
static hn_status take_memory(hn_results *results, const hn_model *model, const char *path)
{
    hn_context *context = results->context;
    size_t size = strlen(path) + sizeof ".part";
    results->path = context_copy_string(context, path);
    results->part_path = context_allocate(context, size);
    if (results->path == NULL || results->part_path == NULL) return HN_OUT_OF_MEMORY;
    snprintf(results->part_path, size, "%s.part", path);

    results->description.context = context;
    results->description.model = model;
    results->description.simulation = results->simulation;
    TRY(description_gather(&results->description));

    size_t record_width = 0;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        results->series[i].width =
            series_width(series_get((series_id)i)->shape, &results->description.extent);
        record_width += results->series[i].width;
    }
    results->record_bytes = record_width * sizeof(double);
    results->chunk_records = CHUNK_BYTES_MAX / results->record_bytes;
    if (results->chunk_records > CHUNK_RECORDS_MAX) results->chunk_records = CHUNK_RECORDS_MAX;
    if (results->chunk_records < 1) results->chunk_records = 1;
    results->buffer = context_allocate(context, results->chunk_records * results->record_bytes);
    if (results->buffer == NULL) return HN_OUT_OF_MEMORY;
    double *next = results->buffer;
    for (int i = 0; i < SERIES_COUNT; ++i) {
        results->series[i].buffer = next;
        next += results->chunk_records * results->series[i].width;
    }
    return HN_OK;
}

static void release_memory(hn_results *results)
{
    hn_context *context = results->context;
    context_release(context, results->buffer);
    context_release(context, results->description.joint_names.text);
    context_release(context, results->description.body_names.text);
    context_release(context, results->part_path);
    context_release(context, results->path);
    hn_simulation_destroy(results->simulation);
    context_release(context, results);
    context_drop(context);
}

hn_status hn_results_create(const hn_model *model, hn_simulation *simulation, const char *path,
                            hn_results **results)
{
    hn_context *context = hn_model_context(model);
    REQUIRE(context, results != NULL);
    *results = NULL;
    REQUIRE(NULL, model != NULL);
    REQUIRE(context, simulation != NULL);
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
    created->file = -1;
    for (int i = 0; i < SERIES_COUNT; ++i) created->series[i].dataset = -1;
    created->has_ledger = simulation_has_ledger(simulation);

    hn_status status = take_memory(created, model, path);
    if (status == HN_OK) status = check_path(created);
    if (status != HN_OK) {
        release_memory(created);
        return status;
    }
    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    status = create_file(created, &silence);
    if (status != HN_OK) {
        if (status == HN_FILE_ACCESS && created->file >= 0) disk_detach(created->file);
        close_file(created);
        unlink(created->part_path);
    }
    hdf5_silence_end(&silence);
    if (status == HN_FILE_ACCESS) fail_access(created, "create the file", silence.system_error);
    if (status != HN_OK) {
        release_memory(created);
        return status;
    }
    created->description.model = NULL; // it may be destroyed from now on
    created->commit_time = clock_seconds();
    *results = created;
    return HN_OK;
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
    TRY(gather_bodies(results));
    TRY(check_record(results, SERIES_BODY_POSITION, SERIES_BODY_ANGULAR_MOMENTUM));
    TRY(gather_joints(results));
    TRY(gather_totals(results));
    TRY(check_record(results, SERIES_TIME, SERIES_STEP));
    TRY(check_record(results, SERIES_JOINT_COORDINATE, SERIES_HALVED_STEPS));
    results->buffered_count += 1;
    bool due = clock_seconds() - results->commit_time > COMMIT_INTERVAL;
    if (due || results->buffered_count == results->chunk_records) TRY(write_records(results));
    if (due || results->uncommitted_chunks == COMMIT_CHUNKS_MAX) TRY(commit(results, true));
    return HN_OK;
}

hn_status hn_results_finish(hn_results *results)
{
    REQUIRE(NULL, results != NULL);
    if (results->finished || results->failed)
        return context_fail(
            results->context, HN_FILE_ACCESS, "%s: the result file %s", results->path,
            results->finished ? "is finished already" : "could not be written before");
    TRY(write_records(results));
    TRY(commit(results, true));

    hdf5_silence silence;
    hdf5_silence_begin(&silence);
    bool marked = hdf5_attribute_integer(results->file, "complete", 1) &&
                  H5Fflush(results->file, H5F_SCOPE_GLOBAL) >= 0;
    if (!marked) disk_detach(results->file);
    bool closed = close_file(results) && marked;
    hdf5_silence_end(&silence);
    if (!closed) {
        results->failed = true;
        return fail_access(results, "close the file", silence.system_error);
    }
    if (rename(results->part_path, results->path) != 0) {
        results->failed = true;
        return context_fail(results->context, HN_FILE_ACCESS, "%s: cannot rename it to %s: %s",
                            results->part_path, results->path, system_error_sentence(errno));
    }
    results->finished = true;
    return HN_OK;
}

void hn_results_destroy(hn_results *results)
{
    if (results == NULL) return;
    if (results->file >= 0) {
        // Only what is buffered is written. After a full disk what was written before still counts. Failures are on the context; there is nobody to return them to.
        hn_status written = results->failed ? HN_OK : write_records(results);
        hn_status committed = commit(results, false);
        (void)written;
        (void)committed;
        hdf5_silence silence;
        hdf5_silence_begin(&silence);
        close_file(results);
        hdf5_silence_end(&silence);
    }
    release_memory(results);
}
