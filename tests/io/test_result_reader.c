// SPDX-License-Identifier: MIT
// Reading result files: every number comes back as the getters gave it, damaged files have a message.
#define _POSIX_C_SOURCE 200809L
#include "support/check.h"
#include "support/failing_allocator.h"

#include <holonom/holonom.h>

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// HDF5 keeps what it allocated for objects that turn out to be damaged; what is ours is not forgiven.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

#define RESULT "test_result_reader.h5"
#define PART RESULT ".part"
#define DAMAGED "test_result_reader_damaged.h5"

enum { STEPS = 40, WIDTH_MAX = 64, RECORD_NUMBERS_MAX = 1024 };

typedef struct run {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_results *results;
} run;

/// Open a model of models/ and begin its result file.
static run begin(const char *model)
{
    run r = {hn_context_create(NULL), NULL, NULL, NULL};
    CHECK(r.context != NULL);
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, model);
    CHECK_OK(r.context, hn_model_load(r.context, path, &r.model));
    hn_run_options options = hn_model_run_options(r.model);
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = options.scheme;
    def.reduction = options.reduction;
    def.step_size = options.step; // s
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
    unlink(RESULT);
    hn_results_def all = hn_results_def_default();
    all.all_series = true;
    CHECK_OK(r.context, hn_results_create_for(r.model, r.simulation, RESULT, &all, &r.results));
    return r;
}

/// Add a force with a table, a torque with a pulse, a spring and a torsional spring to a model of one hinge, and begin
/// its result file.
static run begin_with_loads(void)
{
    run r = {hn_context_create(NULL), NULL, NULL, NULL};
    CHECK(r.context != NULL);
    hn_model_def world = hn_model_def_default();
    CHECK_OK(r.context, hn_model_create(r.context, &world, &r.model));
    hn_body_def link = hn_body_def_default();
    link.mass = 2.0;
    link.inertia = (hn_vec3){0.1, 0.2, 0.2};
    link.position = (hn_vec3){0.5, 0.0, 0.0};
    hn_body_id body;
    CHECK_OK(r.context, hn_model_add_body(r.model, &link, &body));
    hn_joint_def hinge = hn_joint_def_default(HN_JOINT_REVOLUTE);
    hinge.body_a = hn_ground();
    hinge.body_b = body;
    hinge.axis_a = (hn_vec3){0.0, 1.0, 0.0};
    hn_joint_id joint;
    CHECK_OK(r.context, hn_model_add_joint(r.model, &hinge, &joint));

    const double times[4] = {0.0, 0.1, 0.4, 0.7}, factors[4] = {0.0, 1.0, -0.5, 0.25};
    hn_load_id id;
    hn_load_def force = hn_load_def_default();
    force.name = "push";
    force.body = body;
    force.body_fixed = true;
    force.vector = (hn_vec3){1.0, 2.0, 3.0};
    force.point = (hn_vec3){0.25, 0.0, 0.125};
    force.profile =
        (hn_profile){.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 4};
    CHECK_OK(r.context, hn_model_add_load(r.model, &force, &id));
    hn_load_def torque = hn_load_def_default();
    torque.name = "twist";
    torque.body = body;
    torque.torque = true;
    torque.vector = (hn_vec3){0.0, 4.0, 0.0};
    torque.profile = (hn_profile){.kind = HN_PROFILE_PULSE, .start = 0.2, .peak = 0.3, .end = 0.6};
    CHECK_OK(r.context, hn_model_add_load(r.model, &torque, &id));
    hn_spring_def spring = hn_spring_def_default();
    spring.name = "coil";
    spring.body_a = hn_ground();
    spring.body_b = body;
    spring.point_a = (hn_vec3){0.0, 0.0, 1.0};
    spring.point_b = (hn_vec3){0.75, 0.0, 0.0};
    spring.stiffness = 50.0;
    spring.damping = 0.5;
    spring.rest_length = 1.1;
    CHECK_OK(r.context, hn_model_add_spring(r.model, &spring, &id));
    hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
    torsion.joint = joint;
    torsion.stiffness = 7.0;
    torsion.rest_angle = 0.3;
    CHECK_OK(r.context, hn_model_add_torsion_spring(r.model, &torsion, &id));

    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3; // s
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
    unlink(RESULT);
    CHECK_OK(r.context, hn_results_create(r.model, r.simulation, RESULT, &r.results));
    return r;
}

static void end(run *r)
{
    hn_results_destroy(r->results);
    hn_simulation_destroy(r->simulation);
    hn_model_destroy(r->model);
    hn_context_destroy(r->context);
}

static double *put_vector(double *next, hn_vec3 v)
{
    *next++ = v.x;
    *next++ = v.y;
    *next++ = v.z;
    return next;
}

/// The record that a series should have now, from the getters; returns its width.
static size_t expected_record(const run *r, const char *series, double *record)
{
    double *next = record;
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_constraint_state constraints;
    CHECK_OK(r->context, hn_simulation_energy(r->simulation, &energy));
    CHECK_OK(r->context, hn_simulation_momentum(r->simulation, &linear, &angular));
    CHECK_OK(r->context, hn_simulation_constraints(r->simulation, &constraints));
    hn_statistics statistics = hn_simulation_statistics(r->simulation);
    const double step = (double)hn_simulation_step_count(r->simulation);
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"time", hn_simulation_time(r->simulation)},
        {"step", step},
        {"ledger/kinetic", energy.kinetic},
        {"ledger/potential", energy.potential},
        {"ledger/external_work", energy.external_work},
        {"ledger/energy", energy.kinetic + energy.potential},
        {"ledger/discrete_energy", energy.discrete_energy},
        {"ledger/constraint_residual", constraints.residual},
        {"ledger/joint_opening", constraints.joint_opening},
        {"ledger/joint_misalignment", constraints.joint_misalignment},
        {"ledger/orthonormality", constraints.orthonormality},
        {"ledger/hidden_velocity", constraints.hidden_velocity},
        {"ledger/hidden_momentum", constraints.hidden_momentum},
        {"ledger/hidden_projected", constraints.hidden_projected},
        {"newton/iterations", (double)statistics.last_iteration_count},
        {"newton/iterations_total", (double)statistics.newton_iteration_count},
        {"newton/residual", statistics.last_residual},
        {"newton/increment", statistics.last_increment},
        {"newton/halved_steps", (double)statistics.halved_step_count},
        {"newton/step_size", hn_simulation_step_size(r->simulation)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        if (strcmp(numbers[i].name, series) == 0) {
            *record = numbers[i].value;
            return 1;
        }
    if (strcmp(series, "ledger/linear_momentum") == 0) next = put_vector(next, linear);
    if (strcmp(series, "ledger/angular_momentum") == 0) next = put_vector(next, angular);
    for (int i = 0; strncmp(series, "bodies/", 7) == 0 && i < hn_model_body_count(r->model); ++i) {
        hn_body_state state;
        const char *what = series + 7;
        CHECK_OK(r->context,
                 hn_simulation_body_state(r->simulation, hn_model_body(r->model, i), &state));
        if (strcmp(what, "position") == 0) next = put_vector(next, state.position);
        if (strcmp(what, "velocity") == 0) next = put_vector(next, state.velocity);
        if (strcmp(what, "angular_velocity") == 0) next = put_vector(next, state.angular_velocity);
        if (strcmp(what, "linear_momentum") == 0) next = put_vector(next, state.linear_momentum);
        if (strcmp(what, "angular_momentum") == 0) next = put_vector(next, state.angular_momentum);
        if (strcmp(what, "orientation") == 0) {
            memcpy(next, state.orientation.m, sizeof state.orientation.m);
            next += 9;
        }
    }
    for (int i = 0; strncmp(series, "joints/", 7) == 0 && i < hn_model_joint_count(r->model); ++i) {
        hn_joint_state state;
        const char *what = series + 7;
        CHECK_OK(r->context,
                 hn_simulation_joint_state(r->simulation, hn_model_joint(r->model, i), &state));
        if (strcmp(what, "reaction_time") == 0) {
            *record = state.reaction_time;
            return 1;
        }
        if (strcmp(what, "reaction_valid") == 0) {
            *record = state.reaction_valid ? 1.0 : 0.0;
            return 1;
        }
        if (strcmp(what, "reaction_unique") == 0) {
            hn_reaction_verdict verdict;
            CHECK_OK(r->context, hn_simulation_reaction_verdict(
                                     r->simulation, hn_model_joint(r->model, i), &verdict));
            for (int k = 0; k < 3; ++k) *next++ = verdict.force_component[k] ? 1.0 : 0.0;
            for (int k = 0; k < 3; ++k) *next++ = verdict.torque_component[k] ? 1.0 : 0.0;
        }
        for (int k = 0; k < state.coordinate_count; ++k) {
            if (strcmp(what, "coordinates") == 0) *next++ = state.coordinates[k];
            if (strcmp(what, "rates") == 0) *next++ = state.rates[k];
        }
        const hn_vec3 none = {0.0, 0.0, 0.0};
        if (strcmp(what, "reaction_force") == 0)
            next = put_vector(next, state.reaction_valid ? state.reaction_force : none);
        if (strcmp(what, "reaction_torque") == 0)
            next = put_vector(next, state.reaction_valid ? state.reaction_torque : none);
    }
    return (size_t)(next - record);
}

/// Names of all series of a finished run, read once so that the expected records can be gathered while it runs.
static hn_result_file *reopen(const run *r, const char *path)
{
    hn_result_file *file = NULL;
    CHECK_OK(r->context, hn_result_file_open(r->context, path, &file));
    return file;
}

TEST(result_reader, every_series_is_what_the_getters_gave)
{
    static const char *const MODELS[] = {"cylindrical-pair", "six-body-linkage", "unit-circle",
                                         "planar-pair"};
    for (size_t m = 0; m < sizeof MODELS / sizeof MODELS[0]; ++m) {
        run r = begin(MODELS[m]);
        hn_result_file *file = reopen(&r, PART);
        const int series_count = hn_result_file_series_count(file);
        CHECK(series_count > 25);
        double *expected =
            calloc((size_t)series_count * (STEPS + 1) * RECORD_NUMBERS_MAX, sizeof *expected);
        double *found = calloc((STEPS + 1) * RECORD_NUMBERS_MAX, sizeof *found);
        CHECK(expected != NULL && found != NULL);
        for (int n = 0; n <= STEPS; ++n) {
            if (n > 0) CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            CHECK_OK(r.context, hn_results_append(r.results));
            for (int i = 0; i < series_count; ++i) {
                const hn_result_series *about = hn_result_file_series(file, i);
                CHECK(about->width > 0 && about->width <= RECORD_NUMBERS_MAX);
                double *record =
                    expected + ((size_t)i * (STEPS + 1) + (size_t)n) * RECORD_NUMBERS_MAX;
                CHECK_EQUAL(expected_record(&r, about->name, record), about->width);
            }
        }
        hn_result_file_close(file);
        CHECK_OK(r.context, hn_results_finish(r.results));

        file = reopen(&r, RESULT);
        CHECK_EQUAL(hn_result_file_info(file)->record_count, STEPS + 1);
        CHECK_EQUAL(hn_result_file_series_count(file), series_count);
        for (int i = 0; i < series_count; ++i) {
            const hn_result_series *about = hn_result_file_series(file, i);
            const double *all = expected + (size_t)i * (STEPS + 1) * RECORD_NUMBERS_MAX;
            const size_t bytes = about->width * sizeof(double);
            size_t product = 1;
            for (int k = 0; k < about->rank; ++k) product *= (size_t)about->dims[k];
            CHECK_EQUAL(product, about->width);
            CHECK(about->unit[0] != '\0' && about->meaning[0] != '\0');
            CHECK_EQUAL(hn_result_file_find_series(file, about->name), i);

            CHECK_OK(r.context, hn_result_file_read(file, i, 0, STEPS + 1, 1, found));
            for (size_t n = 0; n <= STEPS; ++n)
                CHECK(memcmp(found + n * about->width, all + n * RECORD_NUMBERS_MAX, bytes) == 0);
            // records 3, 10, 17, 24, 31, 38
            CHECK_OK(r.context, hn_result_file_read(file, i, 3, 6, 7, found));
            for (size_t n = 0; n < 6; ++n)
                CHECK(memcmp(found + n * about->width, all + (3 + 7 * n) * RECORD_NUMBERS_MAX,
                             bytes) == 0);
            for (size_t k = 0; k < about->width; ++k) {
                hn_result_column column = {i, k};
                CHECK_OK(r.context, hn_result_file_read_column(file, column, 1, 20, 2, found));
                for (size_t n = 0; n < 20; ++n)
                    CHECK(memcmp(&found[n], &all[(1 + 2 * n) * RECORD_NUMBERS_MAX + k],
                                 sizeof found[n]) == 0);
                // its full name selects it and nothing else
                char name[256];
                size_t count = 0;
                hn_result_column selected = {-1, 0};
                snprintf(name, sizeof name, "%s", hn_result_file_column_name(file, column));
                CHECK_OK(r.context, hn_result_file_select(file, name, &selected, 1, &count));
                CHECK_EQUAL(count, 1);
                CHECK(selected.series == i && selected.component == k);
            }
        }
        hn_result_file_close(file);
        free(found);
        free(expected);
        end(&r);
    }
}

TEST(result_reader, a_file_tells_model_options_ledger_and_statistics)
{
    run r = begin("six-body-linkage");
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_simulation_step(r.simulation, STEPS));
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_results_finish(r.results));
    hn_result_file *file = reopen(&r, RESULT);
    const hn_result_info *info = hn_result_file_info(file);
    size_t length = 0;
    const char *text = hn_model_text(r.model, &length);
    CHECK_EQUAL(info->model_text_length, length);
    CHECK(memcmp(info->model_text, text, length) == 0);
    CHECK_TEXT(info->model_name, hn_model_name(r.model));
    CHECK_TEXT(info->holonom_version, hn_version());
    CHECK_TEXT(info->scheme, hn_scheme_name(hn_simulation_scheme(r.simulation)));
    CHECK_TEXT(info->reduction, hn_reduction_name(hn_simulation_reduction(r.simulation)));
    CHECK(info->step_size == hn_simulation_step_size(r.simulation));
    CHECK(info->complete && info->record_count == 2 && info->format_version == 1);
    hn_vec3 gravity = hn_model_gravity(r.model);
    CHECK(memcmp(&info->gravity, &gravity, sizeof gravity) == 0);

    hn_structure structure = hn_simulation_structure(r.simulation);
    CHECK_EQUAL(info->structure.coordinate_count, structure.coordinate_count);
    CHECK_EQUAL(info->structure.constraint_count, structure.constraint_count);
    CHECK_EQUAL(info->structure.constraint_rank, structure.constraint_rank);
    CHECK_EQUAL(info->structure.degrees_of_freedom, structure.degrees_of_freedom);
    CHECK_EQUAL(info->structure.loop_count, structure.loop_count);
    CHECK_EQUAL(info->structure.unknown_count, structure.unknown_count);

    hn_ledger ledger;
    CHECK_OK(r.context, hn_simulation_ledger(r.simulation, &ledger));
    CHECK(info->has_ledger);
    CHECK(info->ledger.energy_scale == ledger.energy_scale);
    CHECK(info->ledger.energy_min == ledger.energy_min);
    CHECK_EQUAL(info->ledger.step_count, ledger.step_count);
    for (int i = 0; i < HN_PROMISE_COUNT; ++i) {
        CHECK(info->ledger.entry[i].error == ledger.entry[i].error);
        CHECK(info->ledger.entry[i].bound == ledger.entry[i].bound);
        CHECK(info->ledger.entry[i].kept == ledger.entry[i].kept);
        CHECK(info->ledger.entry[i].conserved == ledger.entry[i].conserved);
        CHECK_TEXT(info->ledger.entry[i].note, ledger.entry[i].note);
    }
    hn_statistics statistics = hn_simulation_statistics(r.simulation);
    CHECK_EQUAL(info->statistics.step_count, STEPS);
    CHECK_EQUAL(info->statistics.newton_iteration_count, statistics.newton_iteration_count);
    CHECK_EQUAL(info->statistics.newton_iteration_max, statistics.newton_iteration_max);
    CHECK_EQUAL(info->statistics.last_iteration_count, statistics.last_iteration_count);
    CHECK(info->statistics.last_residual == statistics.last_residual);
    hn_result_file_close(file);
    hn_result_file_close(NULL);
    end(&r);
}

/// World place of a body-frame point in record `n`; the ground's frame is the world frame.
static hn_vec3 world_place(hn_context *context, hn_result_file *file, int body, int64_t n,
                           hn_vec3 point)
{
    if (body < 0) return point;
    static double position[WIDTH_MAX * 3], orientation[WIDTH_MAX * 9];
    CHECK_OK(context, hn_result_file_read(file, hn_result_file_find_series(file, "bodies/position"),
                                          n, 1, 1, position));
    CHECK_OK(context,
             hn_result_file_read(file, hn_result_file_find_series(file, "bodies/orientation"), n, 1,
                                 1, orientation));
    const double *x = position + 3 * body, *turn = orientation + 9 * body;
    hn_vec3 center = hn_result_file_body(file, body)->center_of_mass;
    const double arm[3] = {point.x - center.x, point.y - center.y, point.z - center.z};
    double place[3];
    for (int i = 0; i < 3; ++i)
        place[i] =
            x[i] + turn[3 * i] * arm[0] + turn[3 * i + 1] * arm[1] + turn[3 * i + 2] * arm[2];
    return (hn_vec3){place[0], place[1], place[2]};
}

TEST(result_reader, bodies_shapes_and_joints_are_where_the_model_has_them)
{
    run r = begin("six-body-linkage");
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_simulation_step(r.simulation, STEPS));
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_results_finish(r.results));
    hn_result_file *file = reopen(&r, RESULT);
    const hn_result_info *info = hn_result_file_info(file);
    CHECK_EQUAL(info->body_count, hn_model_body_count(r.model));
    CHECK_EQUAL(info->joint_count, hn_model_joint_count(r.model));
    for (int i = 0; i < info->body_count; ++i) {
        const hn_result_body *body = hn_result_file_body(file, i);
        hn_body_id id = hn_model_body(r.model, i);
        hn_mat3 inertia = hn_model_body_inertia(r.model, id);
        CHECK_TEXT(body->name, hn_model_body_name(r.model, id));
        CHECK_TEXT(body->kind, "rigid");
        CHECK(body->mass == hn_model_body_mass(r.model, id));
        CHECK(memcmp(&body->inertia, &inertia, sizeof inertia) == 0);
        CHECK_EQUAL(body->shape_count, hn_model_body_shape_count(r.model, id));
        for (int k = 0; k < body->shape_count; ++k) {
            hn_shape shape = hn_model_body_shape(r.model, id, k);
            CHECK_EQUAL(body->shapes[k].kind, shape.kind);
            CHECK(memcmp(body->shapes[k].corners, shape.corners, sizeof shape.corners) == 0);
            CHECK(memcmp(&body->shapes[k].orientation, &shape.orientation,
                         sizeof shape.orientation) == 0);
        }
    }
    for (int i = 0; i < info->joint_count; ++i) {
        const hn_result_joint *joint = hn_result_file_joint(file, i);
        hn_joint_id id = hn_model_joint(r.model, i);
        CHECK_TEXT(joint->name, hn_model_joint_name(r.model, id));
        CHECK_TEXT(joint->kind, hn_joint_kind_name(hn_model_joint_kind(r.model, id)));
        CHECK(joint->placed);
        // both sides of a hinge are at one place, in every record
        for (int64_t n = 0; n < 2; ++n) {
            hn_vec3 a = world_place(r.context, file, joint->body_a, n, joint->point_a);
            hn_vec3 b = world_place(r.context, file, joint->body_b, n, joint->point_b);
            CHECK_BELOW(hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z), 5e-15); // m; measured 5e-17
        }
    }
    CHECK(hn_result_file_body(file, -1) == NULL);
    CHECK(hn_result_file_body(file, info->body_count) == NULL);
    CHECK(hn_result_file_joint(file, info->joint_count) == NULL);
    CHECK(hn_result_file_series(file, -1) == NULL);
    CHECK_EQUAL(hn_result_file_find_series(file, "ledger/nothing"), -1);
    hn_result_file_close(file);
    end(&r);
}

TEST(result_reader, loads_are_those_of_the_model)
{
    run r = begin_with_loads();
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_results_finish(r.results));
    hn_result_file *file = reopen(&r, RESULT);
    CHECK_EQUAL(hn_result_file_info(file)->load_count, 4);

    const hn_result_load *force = hn_result_file_load(file, 0);
    CHECK_TEXT(force->name, "push");
    CHECK_TEXT(force->kind, "force");
    CHECK(force->body_a == 0 && force->body_b == -1 && force->joint == -1 && force->body_fixed);
    CHECK(force->vector.x == 1.0 && force->vector.y == 2.0 && force->vector.z == 3.0);
    CHECK(force->point_a.x == 0.25 && force->point_a.z == 0.125);
    CHECK_EQUAL(force->profile_count, 4);
    CHECK(force->profile_times[2] == 0.4 && force->profile_factors[2] == -0.5);

    const hn_result_load *torque = hn_result_file_load(file, 1);
    CHECK_TEXT(torque->kind, "torque");
    CHECK(!torque->body_fixed && torque->vector.y == 4.0);
    CHECK_EQUAL(torque->profile_count, 3); // a pulse is a triangle
    CHECK(torque->profile_times[1] == 0.3 && torque->profile_factors[1] == 1.0);
    CHECK(torque->profile_factors[0] == 0.0 && torque->profile_times[2] == 0.6);

    const hn_result_load *spring = hn_result_file_load(file, 2);
    CHECK_TEXT(spring->kind, "spring");
    CHECK(spring->body_a == -1 && spring->body_b == 0 && spring->profile_count == 0);
    CHECK(spring->point_a.z == 1.0);
    CHECK_NEAR(spring->point_b.x, 0.25, 1e-15); // m, in the body frame
    CHECK(spring->stiffness == 50.0 && spring->damping == 0.5 && spring->rest == 1.1);

    const hn_result_load *torsion = hn_result_file_load(file, 3);
    CHECK_TEXT(torsion->kind, "torsion_spring");
    CHECK(torsion->joint == 0 && torsion->stiffness == 7.0 && torsion->rest == 0.3);
    CHECK(hn_result_file_load(file, 4) == NULL && hn_result_file_load(file, -1) == NULL);
    hn_result_file_close(file);
    end(&r);
}

TEST(result_reader, columns_have_units_and_words_select_them)
{
    run r = begin("cylindrical-pair");
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_results_finish(r.results));
    hn_result_file *file = reopen(&r, RESULT);
    size_t count = 0;
    hn_result_column columns[WIDTH_MAX];
    CHECK_OK(r.context,
             hn_result_file_select(file, "joints/coordinates", columns, WIDTH_MAX, &count));
    CHECK_EQUAL(count, hn_result_file_info(file)->coordinate_count);
    int lengths = 0, angles = 0;
    for (size_t i = 0; i < count; ++i) {
        lengths += strcmp(hn_result_file_column_unit(file, columns[i]), "m") == 0;
        angles += strcmp(hn_result_file_column_unit(file, columns[i]), "rad") == 0;
    }
    CHECK(lengths > 0 && angles > 0 && (size_t)(lengths + angles) == count);
    CHECK_OK(r.context, hn_result_file_select(file, "joints/rates", columns, WIDTH_MAX, &count));
    for (size_t i = 0; i < count; ++i)
        CHECK_CONTAINS(hn_result_file_column_unit(file, columns[i]), "/s");
    CHECK_OK(r.context, hn_result_file_select(file, "angular_momentum", columns, 2, &count));
    CHECK_EQUAL(count, 3); // all are counted, two are stored
    CHECK_TEXT(hn_result_file_column_name(file, columns[1]), "ledger/angular_momentum/y");
    CHECK_TEXT(hn_result_file_column_unit(file, columns[1]), "kg m^2/s");
    CHECK_STATUS(r.context, hn_result_file_select(file, "ledger/enrgy", columns, 2, &count),
                 HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(r.context), "'ledger/energy'");

    double value = 0.0;
    const hn_result_column none = {hn_result_file_series_count(file), 0}, beyond = {0, 1};
    CHECK_TEXT(hn_result_file_column_name(file, none), "");
    CHECK_TEXT(hn_result_file_column_unit(file, beyond), "");
    CHECK_STATUS(r.context, hn_result_file_read_column(file, beyond, 0, 1, 1, &value),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(r.context, hn_result_file_read(file, -1, 0, 1, 1, &value), HN_INVALID_ARGUMENT);
    CHECK_STATUS(r.context, hn_result_file_read(file, 0, 0, 2, 1, &value), HN_INVALID_ARGUMENT);
    CHECK_CONTAINS(hn_context_message(r.context), "'time' has 1 records");
    CHECK_STATUS(r.context, hn_result_file_read(file, 0, 1, 1, 1, &value), HN_INVALID_ARGUMENT);
    CHECK_STATUS(r.context, hn_result_file_read(file, 0, -1, 1, 1, &value), HN_INVALID_ARGUMENT);
    CHECK_STATUS(r.context, hn_result_file_read(file, 0, 0, 1, 0, &value), HN_INVALID_ARGUMENT);
    CHECK_STATUS(r.context, hn_result_file_read(file, 0, 0, INT64_MAX, INT64_MAX, &value),
                 HN_INVALID_ARGUMENT);
    CHECK_OK(r.context, hn_result_file_read(file, 0, 0, 0, 1, NULL));
    hn_result_file_close(file);
    end(&r);
}

TEST(result_reader, columns_have_the_names_that_the_model_gives_them)
{
    const char *const models[] = {"robot-arm", "flexible-slider-crank", "cylindrical-pair",
                                  "chain-spherical"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        run r = begin(models[m]);
        CHECK_OK(r.context, hn_results_append(r.results));
        CHECK_OK(r.context, hn_results_finish(r.results));
        hn_result_file *file = reopen(&r, RESULT);
        char name[256];
        const char *unit;
        for (int i = 0; i < hn_result_file_series_count(file); ++i) {
            hn_result_series series = *hn_result_file_series(file, i);
            CHECK_EQUAL(hn_model_field_width(r.model, series.name), series.width);
            for (size_t k = 0; k < series.width; ++k) {
                const hn_result_column column = {i, k};
                size_t size = hn_model_field_column_size(r.model, series.name, k);
                CHECK(size <= sizeof name);
                CHECK_STATUS(r.context,
                             hn_model_field_column(r.model, series.name, k, name, size - 1, &unit),
                             HN_INVALID_ARGUMENT);
                CHECK_OK(r.context,
                         hn_model_field_column(r.model, series.name, k, name, size, &unit));
                CHECK_TEXT(name, hn_result_file_column_name(file, column));
                if (strncmp(name, "drives/", 7) != 0) // which the file has as "rad or m"
                    CHECK_TEXT(unit, hn_result_file_column_unit(file, column));
            }
            if (series.width > 1)
                CHECK_STATUS(r.context,
                             hn_model_field_column(r.model, series.name, series.width, name,
                                                   sizeof name, &unit),
                             HN_INVALID_ARGUMENT);
        }
        hn_result_file_close(file);
        end(&r);
    }
}

TEST(result_reader, a_part_can_be_read_while_the_run_goes_on)
{
    run r = begin("pendulum");
    for (int i = 0; i < 600; ++i) CHECK_OK(r.context, hn_results_append(r.results));
    hn_result_file *file = reopen(&r, PART);
    CHECK(!hn_result_file_info(file)->complete);
    CHECK(hn_result_file_info(file)->record_count <= 600);
    hn_result_file_close(file);
    hn_results_destroy(r.results);
    r.results = NULL;
    file = reopen(&r, PART);
    CHECK(!hn_result_file_info(file)->complete);
    CHECK_EQUAL(hn_result_file_info(file)->record_count, 600);
    hn_result_file_close(file);
    end(&r);
}

TEST(result_reader, a_run_without_a_ledger_and_a_model_by_calls)
{
    run r = begin("pendulum"); // for its context
    hn_model_def world = hn_model_def_default();
    hn_body_def ball = hn_body_def_default();
    hn_simulation_def def = hn_simulation_def_default();
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_body_id id;
    ball.kind = HN_BODY_POINT_MASS;
    ball.mass = 1.0;      // kg
    def.step_size = 0.01; // s
    def.ledger = false;
    CHECK_OK(r.context, hn_model_create(r.context, &world, &model));
    CHECK_OK(r.context, hn_model_add_body(model, &ball, &id));
    CHECK_OK(r.context, hn_simulation_create(model, &def, &simulation));
    CHECK_OK(r.context, hn_results_create(model, simulation, DAMAGED, &results));
    CHECK_OK(r.context, hn_results_append(results));
    CHECK_OK(r.context, hn_results_finish(results));
    hn_results_destroy(results);
    hn_result_file *file = reopen(&r, DAMAGED);
    const hn_result_info *info = hn_result_file_info(file);
    CHECK(!info->has_ledger && info->model_text == NULL && info->model_text_length == 0);
    CHECK_EQUAL(info->joint_count, 0);
    CHECK_EQUAL(hn_result_file_find_series(file, "joints/coordinates"), -1);
    CHECK_EQUAL(hn_result_file_body(file, 0)->shape_count, 0);
    hn_result_file_close(file);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    end(&r);
}

// ---- damage ---------------------------------------------------------------------------------------

static void write_result(void)
{
    run r = begin("six-body-linkage");
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
    CHECK_OK(r.context, hn_results_append(r.results));
    CHECK_OK(r.context, hn_results_finish(r.results));
    end(&r);
}

static char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    CHECK(bytes != NULL && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(DAMAGED, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

/// Open the damaged file and read all of it; whatever is wrong has a status and a message.
static hn_status read_damaged(hn_context *context)
{
    hn_result_file *file = NULL;
    hn_status status = hn_result_file_open(context, DAMAGED, &file);
    static double values[RECORD_NUMBERS_MAX * 4];
    for (int i = 0; status == HN_OK && i < hn_result_file_series_count(file); ++i) {
        const size_t width = hn_result_file_series(file, i)->width;
        int64_t count = hn_result_file_info(file)->record_count;
        if (count > 4) count = 4;
        if (width <= RECORD_NUMBERS_MAX) status = hn_result_file_read(file, i, 0, count, 1, values);
    }
    hn_result_file_close(file);
    return status;
}

TEST(result_reader, a_file_cut_anywhere_has_a_message)
{
    write_result();
    size_t size = 0;
    char *bytes = read_bytes(RESULT, &size);
    hn_context *context = hn_context_create(NULL);
    for (size_t part = 0; part < 60; ++part) {
        write_bytes(bytes, size * part / 60);
        hn_status status = read_damaged(context);
        CHECK(status == HN_FILE_FORMAT);
        CHECK_CONTAINS(hn_context_message(context), DAMAGED);
    }
    hn_context_destroy(context);
    free(bytes);
}

TEST(result_reader, bytes_overwritten_anywhere_do_no_harm)
{
    write_result();
    size_t size = 0;
    char *bytes = read_bytes(RESULT, &size);
    hn_context *context = hn_context_create(NULL);
    int refused = 0;
    for (size_t place = 0; place + 16 < size; place += size / 300) {
        char kept[16];
        memcpy(kept, bytes + place, sizeof kept);
        memset(bytes + place, (int)(place % 2 == 0 ? 0xff : place % 251), sizeof kept);
        write_bytes(bytes, size);
        hn_status status = read_damaged(context); // numbers of a record may change unseen
        CHECK(status == HN_OK || status == HN_FILE_FORMAT || status == HN_OUT_OF_MEMORY);
        if (status == HN_FILE_FORMAT) CHECK_CONTAINS(hn_context_message(context), DAMAGED);
        refused += status != HN_OK;
        memcpy(bytes + place, kept, sizeof kept);
    }
    CHECK(refused > 5); // measured 12: most bytes are numbers of records
    MEASURED(refused);
    hn_context_destroy(context);
    free(bytes);
}

/// Change an integer attribute of the file.
static void set_attribute(const char *name, int64_t value)
{
    hid_t file = H5Fopen(DAMAGED, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

static void remove_place(const char *place)
{
    hid_t file = H5Fopen(DAMAGED, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, place, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

TEST(result_reader, newer_formats_and_missing_parts_are_named)
{
    write_result();
    size_t size = 0;
    char *bytes = read_bytes(RESULT, &size);
    hn_context *context = hn_context_create(NULL);
    write_bytes(bytes, size);
    set_attribute("format_version", 99);
    CHECK_STATUS(context, read_damaged(context), HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "result format 99");

    static const char *const PLACES[] = {"bodies/mass", "joints/body_a",           "shapes/size",
                                         "newton",      "joints/coordinate_units", "options",
                                         "structure"};
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; ++i) {
        write_bytes(bytes, size);
        remove_place(PLACES[i]);
        CHECK_STATUS(context, read_damaged(context), HN_FILE_FORMAT);
    }
    write_bytes(bytes, size); // series may be missing, but time
    remove_place("ledger/kinetic");
    CHECK_OK(context, read_damaged(context));
    write_bytes(bytes, size);
    remove_place("time");
    CHECK_STATUS(context, read_damaged(context), HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(context), "'time'");

    hn_result_file *file = NULL;
    CHECK_STATUS(context, hn_result_file_open(context, "missing.h5", &file), HN_FILE_ACCESS);
    CHECK_STATUS(context, hn_result_file_open(context, ".", &file), HN_FILE_ACCESS);
    CHECK_STATUS(context, hn_result_file_open(context, "", &file), HN_FILE_ACCESS);
    CHECK_STATUS(context, hn_result_file_open(context, NULL, &file), HN_FILE_ACCESS);
    CHECK_STATUS(context, hn_result_file_open(context, "/dev/null", &file), HN_FILE_ACCESS);
    CHECK(file == NULL);
    hn_context_destroy(context);
    free(bytes);
}

static hn_status open_and_select(hn_context *context, void *user)
{
    (void)user;
    hn_result_file *file = NULL;
    hn_status status = hn_result_file_open(context, RESULT, &file);
    size_t count = 0;
    double time[2];
    if (status == HN_OK) status = hn_result_file_select(file, "energy", NULL, 0, &count);
    if (status == HN_OK) status = hn_result_file_read(file, 0, 0, 2, 1, time);
    if (status == HN_OK) {
        // the search for the nearest name needs memory as well
        status = hn_result_file_select(file, "bodies/lnk1/position", NULL, 0, &count);
        if (status == HN_FILE_FORMAT) status = HN_OK;
    }
    hn_result_file_close(file);
    return status;
}

TEST(result_reader, every_allocation_may_fail)
{
    write_result();
    CHECK(check_every_allocation_failing(open_and_select, NULL) > 20);
}
