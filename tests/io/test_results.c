// SPDX-License-Identifier: MIT
// Result files: what is written can be read, nothing half is named final, mistakes have a message.
#define _POSIX_C_SOURCE 200809L
#include "support/check.h"
#include "support/failing_allocator.h"

#include <holonom/holonom.h>

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RESULT "test_results.h5"
#define PART RESULT ".part"
#define TABLE "test_results.csv"

enum { STEPS = 20 };

/// A pendulum of two links; the simulation belongs to the caller, the model too.
static hn_status make_pendulum(hn_context *context, hn_model **model, hn_simulation **simulation)
{
    hn_model_def def = hn_model_def_default();
    def.name = "two links";
    hn_status status = hn_model_create(context, &def, model);
    hn_body_id previous = hn_ground();
    for (int i = 0; i < 2 && status == HN_OK; ++i) {
        hn_body_def link = hn_body_def_default();
        hn_shape shape = hn_shape_default(HN_SHAPE_BOX);
        shape.size = (hn_vec3){1.0, 0.1, 0.1}; // m
        status = hn_body_def_set_shapes(context, &link, &shape, 1);
        link.name = i == 0 ? "upper" : "lower";
        link.position = (hn_vec3){0.5 + i, 0.0, 0.0}; // m
        hn_body_id body;
        if (status == HN_OK) status = hn_model_add_body(*model, &link, &body);
        hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
        hinge.name = i == 0 ? "shoulder" : "elbow";
        hinge.point_a = (hn_vec3){i, 0.0, 0.0};
        hinge.axis_a = (hn_vec3){0.0, 1.0, 0.0};
        hn_joint_id joint;
        if (status == HN_OK) {
            hinge.body_a = previous;
            hinge.body_b = previous = body;
            status = hn_model_add_joint(*model, &hinge, &joint);
        }
    }
    if (status != HN_OK) return status;
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 0.01; // s
    return hn_simulation_create(*model, &run, simulation);
}

typedef struct fixture {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} fixture;

static fixture set_up(void)
{
    unlink(RESULT);
    unlink(PART);
    unlink(TABLE);
    fixture f = {hn_context_create(NULL), NULL, NULL};
    CHECK(f.context != NULL);
    CHECK_OK(f.context, make_pendulum(f.context, &f.model, &f.simulation));
    return f;
}

static void tear_down(fixture *f)
{
    hn_simulation_destroy(f->simulation);
    hn_model_destroy(f->model);
    hn_context_destroy(f->context);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/// Write the start and `steps` steps.
static void write_steps(const fixture *f, hn_results *results, int steps)
{
    CHECK_OK(f->context, hn_results_append(results));
    for (int i = 0; i < steps; ++i) {
        CHECK_OK(f->context, hn_simulation_step(f->simulation, 1));
        CHECK_OK(f->context, hn_results_append(results));
    }
}

/// Records in a file, read with plain HDF5; -1 when it cannot be read.
static int64_t record_count(const char *path)
{
    hsize_t count = 0;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, 0,
                        1); // as the writer, which may have the file open in this very process
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (file < 0) return -1;
    hid_t dataset = H5Dopen2(file, "time", H5P_DEFAULT);
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    bool read = space >= 0 && H5Sget_simple_extent_dims(space, &count, NULL) == 1;
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    H5Fclose(file);
    return read ? (int64_t)count : -1;
}

/// Read a whole dataset of doubles.
static void read_dataset(const char *place, double *values)
{
    hid_t file = H5Fopen(RESULT, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, place, H5P_DEFAULT);
    CHECK(dataset >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
}

TEST(results, written_states_read_back_bit_for_bit)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, STEPS);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(RESULT), STEPS + 1);

    static double position[STEPS + 1][2][3], orientation[STEPS + 1][2][3][3], angle[STEPS + 1][2],
        energy[STEPS + 1];
    read_dataset("bodies/position", &position[0][0][0]);
    read_dataset("bodies/orientation", &orientation[0][0][0][0]);
    read_dataset("joints/coordinates", &angle[0][0]);
    read_dataset("ledger/energy", energy);
    hn_body_state body;
    hn_joint_state joint;
    hn_energy now;
    CHECK_OK(f.context,
             hn_simulation_body_state(f.simulation, hn_model_find_body(f.model, "lower"), &body));
    CHECK_OK(f.context, hn_simulation_joint_state(f.simulation,
                                                  hn_model_find_joint(f.model, "elbow"), &joint));
    CHECK_OK(f.context, hn_simulation_energy(f.simulation, &now));
    CHECK(memcmp(position[STEPS][1], &body.position, sizeof position[STEPS][1]) == 0);
    CHECK(memcmp(orientation[STEPS][1], &body.orientation, sizeof orientation[STEPS][1]) == 0);
    CHECK(angle[STEPS][1] == joint.coordinates[0]);
    CHECK(energy[STEPS] == now.kinetic + now.potential);
    CHECK_NEAR(position[0][1][0], 1.5, 1e-15); // the first record is the start
    tear_down(&f);
}

TEST(results, final_name_appears_only_at_the_end)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    CHECK_EQUAL(record_count(PART), 0); // readable before the first record
    write_steps(&f, results, STEPS);
    CHECK(exists(PART) && !exists(RESULT));
    CHECK_OK(f.context, hn_results_finish(results));
    CHECK(!exists(PART) && exists(RESULT));
    CHECK_STATUS(f.context, hn_results_append(results), HN_FILE_ACCESS);
    CHECK_STATUS(f.context, hn_results_finish(results), HN_FILE_ACCESS);
    hn_results_destroy(results);
    hn_results_destroy(NULL);
    tear_down(&f);
}

TEST(results, an_abandoned_file_stays_a_readable_part)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, 300); // more than one chunk
    hn_simulation_destroy(f.simulation);
    f.simulation = NULL; // the simulation may go first
    hn_results_destroy(results);
    CHECK(!exists(RESULT));
    CHECK_EQUAL(record_count(PART), 301);
    CHECK_OK(f.context, hn_results_export_csv(f.context, PART, TABLE, NULL, 0));
    tear_down(&f);
}

TEST(results, appending_takes_no_memory_from_the_context)
{
    failing_allocator state = {0};
    hn_allocator allocator = failing_allocator_make(&state);
    fixture f = {hn_context_create(&allocator), NULL, NULL};
    CHECK_OK(f.context, make_pendulum(f.context, &f.model, &f.simulation));
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    // the first question about constraints makes what is kept for the next ones
    hn_constraint_state constraints;
    CHECK_OK(f.context, hn_simulation_constraints(f.simulation, &constraints));
    int64_t before = state.requests;
    write_steps(&f, results, 600);
    CHECK_EQUAL(state.requests - before, 0);
    hn_results_destroy(results);
    tear_down(&f);
    CHECK_EQUAL(state.live, 0);
}

TEST(results, places_that_cannot_be_written_have_a_message)
{
    static const char *const PLACES[] = {"no/such/folder/r.h5", ".", "/dev/full", ""};
    fixture f = set_up();
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; ++i) {
        hn_results *results = NULL;
        CHECK_STATUS(f.context, hn_results_create(f.model, f.simulation, PLACES[i], &results),
                     HN_FILE_ACCESS);
        CHECK(results == NULL);
        CHECK_CONTAINS(hn_context_message(f.context), PLACES[i]);
    }
    tear_down(&f);
}

TEST(results, a_full_disk_is_reported_and_leaves_a_readable_part)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));

    // a limit of the file size stands for the full disk
    struct rlimit normal, small;
    CHECK(getrlimit(RLIMIT_FSIZE, &normal) == 0);
    small = normal;
    small.rlim_cur = 6 << 20; // bytes
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    hn_status status = HN_OK;
    int appended = 0;
    for (; status == HN_OK && appended < 100000; ++appended) {
        CHECK_OK(f.context,
                 hn_simulation_step(f.simulation, 1)); // equal records would take no space
        status = hn_results_append(results);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &normal) == 0);
    signal(SIGXFSZ, handler);

    CHECK_STATUS(f.context, status, HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(f.context), PART);
    CHECK_STATUS(f.context, hn_results_finish(results), HN_FILE_ACCESS);
    hn_results_destroy(results);
    CHECK(!exists(RESULT));
    int64_t records = record_count(PART);
    CHECK(records > 0 && records < appended);
    tear_down(&f);
}

/// Overwrite each place in a snapshot that holds `value`; returns how many there were.
static int poison(unsigned char *snapshot, size_t size, double value)
{
    int count = 0;
    const double none = nan("");
    for (size_t i = 0; i + sizeof value <= size; ++i)
        if (memcmp(snapshot + i, &value, sizeof value) == 0) {
            memcpy(snapshot + i, &none, sizeof none);
            ++count;
        }
    return count;
}

TEST(results, a_number_that_is_none_never_reaches_a_file)
{
    fixture f = set_up();
    hn_results *results = NULL;
    hn_body_state state;
    static unsigned char snapshot[1 << 16];
    size_t size = hn_simulation_snapshot_size(f.simulation);
    CHECK(size <= sizeof snapshot);
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, 3);
    CHECK_OK(f.context,
             hn_simulation_body_state(f.simulation, hn_model_find_body(f.model, "lower"), &state));
    CHECK_OK(f.context, hn_simulation_save(f.simulation, snapshot, size));
    CHECK(poison(snapshot, size, state.position.x) > 0);
    hn_status status = hn_simulation_restore(f.simulation, snapshot, size);
    if (status == HN_OK) { // otherwise the simulation itself refuses such a state
        CHECK_STATUS(f.context, hn_results_append(results), HN_NOT_CONVERGED);
        CHECK_CONTAINS(hn_context_message(f.context),
                       "body 'lower': position is not a finite number");
    }
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(PART), 4);
    tear_down(&f);
}

static herr_t callers_handler(hid_t stack, void *data)
{
    (void)stack;
    (void)data;
    return 0;
}

TEST(results, the_callers_hdf5_error_handler_comes_back)
{
    fixture f = set_up();
    H5E_auto2_t saved = NULL, found = NULL;
    void *saved_data = NULL, *found_data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &saved, &saved_data);
    H5Eset_auto2(H5E_DEFAULT, callers_handler, &f);
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, 2);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, "missing.h5", TABLE, NULL, 0),
                 HN_FILE_ACCESS);
    H5Eget_auto2(H5E_DEFAULT, &found, &found_data);
    CHECK(found == callers_handler && found_data == &f);
    H5Eset_auto2(H5E_DEFAULT, saved, saved_data);
    tear_down(&f);
}

static void read_line(FILE *file, char *line, int size)
{
    CHECK(fgets(line, size, file) != NULL);
    line[strcspn(line, "\n")] = '\0';
}

TEST(results, a_table_has_the_chosen_series_and_reads_back_exactly)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, STEPS);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);

    const char *const series[] = {"kinetic", "bodies/lower/position/z", "joints/elbow/rates"};
    CHECK_OK(f.context, hn_results_export_csv(f.context, RESULT, TABLE, series, 3));
    char line[512];
    FILE *file = fopen(TABLE, "r");
    CHECK(file != NULL);
    read_line(file, line, sizeof line);
    CHECK_TEXT(line, "time,bodies/lower/position/z,joints/elbow/rates/angle,ledger/kinetic");
    for (int i = 0; i <= STEPS; ++i) read_line(file, line, sizeof line);
    double time = 0.0, height = 0.0, rate = 0.0, kinetic = 0.0;
    CHECK_EQUAL(sscanf(line, "%lf,%lf,%lf,%lf", &time, &height, &rate, &kinetic), 4);
    CHECK(fgets(line, sizeof line, file) == NULL);
    fclose(file);

    hn_body_state body;
    hn_joint_state joint;
    hn_energy energy;
    CHECK_OK(f.context,
             hn_simulation_body_state(f.simulation, hn_model_find_body(f.model, "lower"), &body));
    CHECK_OK(f.context, hn_simulation_joint_state(f.simulation,
                                                  hn_model_find_joint(f.model, "elbow"), &joint));
    CHECK_OK(f.context, hn_simulation_energy(f.simulation, &energy));
    CHECK(time == hn_simulation_time(f.simulation));
    CHECK(height == body.position.z && rate == joint.rates[0] && kinetic == energy.kinetic);
    tear_down(&f);
}

// The doubles of a variable in a MAT-file that has one element after the other; how many there are.
static size_t mat_values(const char *path, const char *name, double *values, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 128, SEEK_SET) == 0);
    uint32_t tag[2];
    size_t found = 0;
    while (found == 0 && fread(tag, 4, 2, file) == 2) {
        CHECK_EQUAL(tag[0], 14);
        char *data = malloc(tag[1]);
        CHECK(fread(data, 1, tag[1], file) == tag[1]);
        uint32_t dims_size, name_size, count;
        memcpy(&dims_size, data + 20, 4);
        size_t at = 24 + (dims_size + 7) / 8 * 8; // of the name
        memcpy(&name_size, data + at + 4, 4);
        if (name_size == strlen(name) && memcmp(data + at + 8, name, name_size) == 0) {
            at += 8 + (name_size + 7) / 8 * 8;
            memcpy(&count, data + at + 4, 4);
            found = count / sizeof(double);
            CHECK(found <= capacity);
            memcpy(values, data + at + 8, count);
        }
        free(data);
    }
    fclose(file);
    return found;
}

TEST(results, for_matlab_are_whole_and_exact)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, STEPS);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);
    CHECK_OK(f.context, hn_results_export_mat(f.context, RESULT, "test_results.mat", NULL, 0));
    double times[STEPS + 1];
    CHECK_EQUAL(mat_values("test_results.mat", "time", times, STEPS + 1), STEPS + 1);
    CHECK(times[STEPS] == hn_simulation_time(f.simulation) && times[0] == 0.0);
    const char *wrong = "nothing";
    CHECK_STATUS(f.context, hn_results_export_mat(f.context, RESULT, "none.mat", &wrong, 1),
                 HN_FILE_FORMAT);
    CHECK_STATUS(f.context, hn_results_export_mat(f.context, RESULT, "/nowhere/x.mat", NULL, 0),
                 HN_FILE_ACCESS);
    CHECK(!exists("none.mat"));
    tear_down(&f);
}

TEST(results, mistakes_in_tables_have_a_message)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    write_steps(&f, results, 1);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);

    const char *word = "ledger/kinetik";
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, RESULT, TABLE, &word, 1),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(f.context), "'ledger/kinetic'");
    word = "bodies/lowwer/position";
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, RESULT, TABLE, &word, 1),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(f.context), "'bodies/lower/position'");
    CHECK(!exists(TABLE));
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, ".", TABLE, NULL, 0), HN_FILE_ACCESS);
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, RESULT, "/dev/full", NULL, 0),
                 HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(f.context), "no space");
    FILE *file = fopen("not-a-result.h5", "w");
    CHECK(file != NULL);
    fputs("words\n", file);
    fclose(file);
    CHECK_STATUS(f.context, hn_results_export_csv(f.context, "not-a-result.h5", TABLE, NULL, 0),
                 HN_FILE_FORMAT);
    tear_down(&f);
}

static hn_status write_and_export(hn_context *context, void *user)
{
    (void)user;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_status status = make_pendulum(context, &model, &simulation);
    if (status == HN_OK) status = hn_results_create(model, simulation, RESULT, &results);
    if (status == HN_OK) status = hn_results_append(results);
    if (status == HN_OK) status = hn_results_finish(results);
    const char *const series[] = {"energy", "bodies"};
    if (status == HN_OK) status = hn_results_export_csv(context, RESULT, TABLE, series, 2);
    if (status == HN_OK)
        status = hn_results_export_mat(context, RESULT, "test_fail.mat", series, 2);
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(results, every_allocation_may_fail)
{
    CHECK(check_every_allocation_failing(write_and_export, NULL) > 20);
    CHECK(!exists(PART)); // a writer that could not be created leaves no file behind
}

// ---- stopping and going on --------------------------------------------------------------------------

#define CHECKPOINT RESULT ".checkpoint"
enum { BEFORE = 300, AFTER = 7, ALL = 700 }; // steps: a block is 256 records

/// Steps and records until `until`; the start is recorded by a new writer only.
static void write_until(const fixture *f, hn_results *results, int until)
{
    while (hn_simulation_step_count(f->simulation) < until) {
        CHECK_OK(f->context, hn_simulation_step(f->simulation, 1));
        CHECK_OK(f->context, hn_results_append(results));
    }
}

/// A run that is left alone, as rows of positions.
static double *whole_run(void)
{
    fixture f = set_up();
    hn_results *results = NULL;
    double *rows = calloc((ALL + 1) * 6, sizeof(double));
    CHECK(rows != NULL);
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    CHECK_OK(f.context, hn_results_append(results));
    write_until(&f, results, ALL);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(RESULT), ALL + 1);
    read_dataset("bodies/position", rows);
    tear_down(&f);
    return rows;
}

/// A run abandoned some records after its checkpoint.
static void abandon_run(void)
{
    fixture f = set_up();
    hn_results *results = NULL;
    CHECK_OK(f.context, hn_results_create(f.model, f.simulation, RESULT, &results));
    CHECK_OK(f.context, hn_results_append(results));
    write_until(&f, results, BEFORE);
    CHECK_OK(f.context, hn_results_checkpoint(results));
    write_until(&f, results, BEFORE + AFTER);
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(PART), BEFORE + AFTER + 1);
    tear_down(&f);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in != NULL && out != NULL);
    for (int c = getc(in); c != EOF; c = getc(in)) putc(c, out);
    fclose(in);
    CHECK(fclose(out) == 0);
}

TEST(results, an_abandoned_run_goes_on_bit_for_bit)
{
    double *whole = whole_run(), *rows = calloc((ALL + 1) * 6, sizeof(double));
    CHECK(rows != NULL);
    abandon_run();
    copy_file(PART, "kept.part"); // set_up removes what is there
    copy_file(CHECKPOINT, "kept.checkpoint");
    fixture f = set_up();
    CHECK(rename("kept.part", PART) == 0 && rename("kept.checkpoint", CHECKPOINT) == 0);
    hn_results *results = NULL;
    hn_results_def def = hn_results_def_default();
    CHECK_OK(f.context, hn_results_resume(f.model, f.simulation, RESULT, &def, &results));
    CHECK_EQUAL(hn_simulation_step_count(f.simulation), BEFORE);
    // records written before are still there while those after the checkpoint are written again
    write_until(&f, results, BEFORE + 2);
    CHECK_EQUAL(record_count(PART), BEFORE + AFTER + 1);
    write_until(&f, results, ALL);
    CHECK_OK(f.context, hn_results_finish(results));
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(RESULT), ALL + 1);
    read_dataset("bodies/position", rows);
    CHECK(memcmp(rows, whole, (ALL + 1) * 6 * sizeof(double)) == 0);
    CHECK(!exists(CHECKPOINT) && !exists(PART));
    free(rows);
    free(whole);
    tear_down(&f);
}

TEST(results, only_the_same_simulation_goes_on)
{
    abandon_run();
    fixture f = {hn_context_create(NULL), NULL, NULL};
    CHECK_OK(f.context, make_pendulum(f.context, &f.model, &f.simulation));
    hn_results *results = NULL, *second = NULL;
    hn_simulation *other = NULL;
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 0.01; // s
    run.increment_tolerance = 1e-11;
    CHECK_OK(f.context, hn_simulation_create(f.model, &run, &other));
    CHECK_STATUS(f.context, hn_results_resume(f.model, other, RESULT, NULL, &results),
                 HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(f.context), "increment_tolerance");
    CHECK(results == NULL);
    hn_simulation_destroy(other);

    // one writer at a time, in this process too
    CHECK_OK(f.context, hn_results_resume(f.model, f.simulation, RESULT, NULL, &results));
    CHECK_STATUS(f.context, hn_results_resume(f.model, f.simulation, RESULT, NULL, &second),
                 HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(f.context), "another run is writing");
    CHECK_STATUS(f.context, hn_results_create(f.model, f.simulation, RESULT, &second),
                 HN_FILE_ACCESS);
    hn_results_destroy(results);
    CHECK_EQUAL(record_count(PART), BEFORE + AFTER + 1);

    // no checkpoint, nothing to go on from
    CHECK(unlink(CHECKPOINT) == 0);
    CHECK_STATUS(f.context, hn_results_resume(f.model, f.simulation, RESULT, NULL, &results),
                 HN_FILE_ACCESS);
    CHECK_CONTAINS(hn_context_message(f.context), CHECKPOINT);
    tear_down(&f);
    unlink(PART);
}

// Whatever byte of the restart data is off, it is noticed, and the simulation stays as it is.
TEST(results, damaged_restart_data_are_noticed)
{
    abandon_run();
    fixture f = {hn_context_create(NULL), NULL, NULL};
    CHECK_OK(f.context, make_pendulum(f.context, &f.model, &f.simulation));
    FILE *file = fopen(CHECKPOINT, "rb");
    CHECK(file != NULL);
    static unsigned char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 200 && size < sizeof bytes);
    for (size_t at = 0; at < size + 1; at += 13) {
        if (at < size) bytes[at] ^= 0x40;
        file = fopen(CHECKPOINT, "wb");
        CHECK(file != NULL);
        fwrite(bytes, 1, at < size ? size : size - 1, file); // the last one: a byte is missing
        fclose(file);
        if (at < size) bytes[at] ^= 0x40;
        hn_results *results = NULL;
        CHECK(hn_results_resume(f.model, f.simulation, RESULT, NULL, &results) != HN_OK);
        CHECK(results == NULL);
        CHECK_EQUAL(hn_simulation_step_count(f.simulation), 0);
    }
    tear_down(&f);
    unlink(PART);
    unlink(CHECKPOINT);
}

static hn_status stop_and_go_on(hn_context *context, void *user)
{
    (void)user;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_status status = make_pendulum(context, &model, &simulation);
    if (status == HN_OK) status = hn_results_create(model, simulation, RESULT, &results);
    if (status == HN_OK) status = hn_results_append(results);
    if (status == HN_OK) status = hn_results_checkpoint(results);
    hn_results_destroy(results);
    results = NULL;
    if (status == HN_OK) status = hn_results_resume(model, simulation, RESULT, NULL, &results);
    if (status == HN_OK) status = hn_results_finish(results);
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(results, every_allocation_of_going_on_may_fail)
{
    CHECK(check_every_allocation_failing(stop_and_go_on, NULL) > 20);
    unlink(PART);
    unlink(CHECKPOINT);
    unlink(RESULT);
}
