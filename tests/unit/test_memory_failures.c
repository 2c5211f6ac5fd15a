// SPDX-License-Identifier: MIT
// Every allocation made to fail in turn, from model to results: reported, nothing leaks, the context stays usable.
#include <holonom/holonom.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/generic_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One of each: all joints that a short chain can have, loads of every kind, a table, start values of every kind.
static const char MODEL[] =
    "holonom: 1\n"
    "name: small\n"
    "bodies:\n"
    "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, density: 1000, position: [0.5, 0, 0]}\n"
    "  slider: {shape: {box: {size: [0.2, 0.2, 0.2]}}, density: 500, position: [1, 0, 0]}\n"
    "  ball: {shape: {sphere: {radius: 0.1}}, mass: 2, position: [1.5, 0, 0]}\n"
    "joints:\n"
    "  hinge: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
    "  rail: {cylindrical: {bodies: [slider, arm], at: [1, 0, 0], axis: x}}\n"
    "  knob: {spherical: {bodies: [slider, ball], at: [1.2, 0, 0]}}\n"
    "start:\n"
    "  hinge: {rate: 1}\n"
    "  rail: {rates: [0.2, 0.5]}\n"
    "  ball: {angular_velocity: [0, 1, 2]}\n";

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != HN_OK) goto done;                                                            \
    } while (0)

static hn_status add_loads(hn_model *model)
{
    hn_load_id id;
    const double times[3] = {0.0, 0.1, 0.2}, factors[3] = {0.0, 1.0, 0.5};
    hn_load_def load = hn_load_def_default();
    load.body = hn_model_find_body(model, "ball");
    load.vector = vec3(1.0, 2.0, 3.0);
    load.profile =
        (hn_profile){.kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = 3};
    hn_status status = hn_model_add_load(model, &load, &id);
    hn_spring_def spring = hn_spring_def_default();
    spring.body_a = hn_model_find_body(model, "arm"); // not neighbours in the tree
    spring.body_b = load.body;
    spring.point_a = vec3(0.2, 0.0, 0.3);
    spring.point_b = vec3(1.5, 0.0, 0.1);
    spring.stiffness = 10.0;
    spring.damping = 1.0;
    if (status == HN_OK) status = hn_model_add_spring(model, &spring, &id);
    hn_torsion_spring_def torsion = hn_torsion_spring_def_default();
    torsion.joint = hn_model_find_joint(model, "hinge");
    torsion.stiffness = 5.0;
    if (status == HN_OK) status = hn_model_add_torsion_spring(model, &torsion, &id);
    return status;
}

static hn_status build(hn_context *context, hn_model **model)
{
    hn_status status = hn_model_parse(context, MODEL, sizeof MODEL - 1, "small.yaml", model);
    if (status == HN_OK) status = add_loads(*model);
    return status;
}

static hn_status parse_attempt(hn_context *context, void *user)
{
    (void)user;
    hn_model *model = NULL;
    hn_status status = build(context, &model);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_a_model_text_may_run_out_anywhere)
{
    CHECK(check_every_allocation_failing(parse_attempt, NULL) > 20);
}

static hn_status load_attempt(hn_context *context, void *user)
{
    hn_model *model = NULL;
    hn_status status = hn_model_load(context, user, &model);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_a_model_file_may_run_out_anywhere)
{
    CHECK(check_every_allocation_failing(load_attempt, HN_SOURCE_DIR "/models/free-tree.yaml") >
          20);
}

static hn_status assemble_attempt(hn_context *context, void *user)
{
    static const char text[] = "holonom: 1\n"
                               "bodies:\n"
                               "  a: {mass: 1, inertia: [1, 1, 1]}\n"
                               "  b: {mass: 1, inertia: [1, 1, 1]}\n"
                               "  c: {mass: 1, inertia: [1, 1, 1]}\n"
                               "joints:\n"
                               "  one: {revolute: {bodies: [ground, a], coordinates: body, at: {a: "
                               "[0, 0, 0], b: [-1, 0, 0]}, axis: z}}\n"
                               "  two: {revolute: {bodies: [a, b], coordinates: body, at: {a: [1, "
                               "0, 0], b: [-1, 0, 0]}, axis: z}}\n"
                               "  three: {revolute: {bodies: [b, c], coordinates: body, at: {a: "
                               "[1, 0, 0], b: [-1, 0, 0]}, axis: z}}\n"
                               "  four: {revolute: {bodies: [c, ground], coordinates: body, at: "
                               "{a: [1, 0, 0], b: [2, 0, 0]}, axis: z}}\n"
                               "start: {one: {angle: 1}}\n";
    hn_model *model = NULL;
    (void)user;
    hn_status status = hn_model_parse(context, text, sizeof text - 1, "text", &model);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_an_assembly_may_run_out_anywhere)
{
    CHECK(check_every_allocation_failing(assemble_attempt, NULL) > 60);
}

typedef struct run_choice {
    hn_scheme scheme;
    hn_reduction reduction;
} run_choice;

// Every question a simulation answers.
static hn_status ask_everything(hn_simulation *simulation)
{
    hn_status status = HN_OK;
    hn_structure structure = hn_simulation_structure(simulation);
    double *numbers =
        malloc((size_t)(structure.coordinate_count + structure.constraint_count) * sizeof(double));
    CHECK(numbers != NULL);
    double condition;
    hn_energy energy;
    hn_vec3 linear, angular;
    hn_body_state body;
    hn_joint_state joint;
    hn_reaction_verdict verdict;
    hn_constraint_state constraints;
    hn_ledger ledger;
    hn_legendre legendre = {.projected = numbers};
    TRY(hn_simulation_energy(simulation, &energy));
    TRY(hn_simulation_momentum(simulation, &linear, &angular));
    TRY(hn_simulation_body_state(simulation, hn_simulation_body(simulation, 1), &body));
    for (uint32_t j = 1; j <= 3; ++j)
        TRY(hn_simulation_joint_state(simulation, hn_simulation_joint(simulation, (int)j - 1),
                                      &joint));
    TRY(hn_simulation_reaction_verdict(simulation, hn_simulation_joint(simulation, 0), &verdict));
    TRY(hn_simulation_constraints(simulation, &constraints));
    TRY(hn_simulation_coordinates(simulation, numbers, structure.coordinate_count));
    TRY(hn_simulation_multipliers(simulation, numbers, structure.constraint_count));
    TRY(hn_simulation_legendre(simulation, &legendre));
    TRY(hn_simulation_ledger(simulation, &ledger));
    if (!hn_scheme_has_own_solver(hn_simulation_scheme(simulation)))
        TRY(hn_simulation_condition(simulation, &condition));
done:
    free(numbers);
    return status;
}

static hn_status run_attempt(hn_context *context, void *user)
{
    const run_choice *choice = user;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = choice->scheme;
    def.reduction = choice->reduction;
    def.step_size = 1e-3;
    hn_status status = HN_OK;
    TRY(build(context, &model));
    TRY(hn_simulation_create(model, &def, &simulation));
    hn_model_destroy(model); // the simulation has what it needs
    model = NULL;
    TRY(hn_simulation_step(simulation, 3));
    TRY(ask_everything(simulation));
    TRY(hn_simulation_step(simulation, 1));
done:
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_a_simulation_may_run_out_anywhere)
{
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
            run_choice choice = {(hn_scheme)scheme, (hn_reduction)way};
            CHECK(check_every_allocation_failing(run_attempt, &choice) > 60);
        }
}

// A step takes no memory: with an allocator that has run dry it goes on.
TEST(memory, is_not_needed_by_a_step)
{
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
            failing_allocator state = {0};
            hn_allocator allocator = failing_allocator_make(&state);
            hn_context *context = hn_context_create(&allocator);
            hn_model *model = NULL;
            hn_simulation *simulation = NULL;
            CHECK_OK(context, build(context, &model));
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = (hn_scheme)scheme;
            def.reduction = (hn_reduction)way;
            def.step_size = 1e-3;
            CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
            int64_t before = state.requests;
            CHECK_OK(context, hn_simulation_step(simulation, 50));
            CHECK_EQUAL(state.requests, before);
            hn_simulation_destroy(simulation);
            hn_model_destroy(model);
            hn_context_destroy(context);
            CHECK_EQUAL(state.live, 0);
        }
}

static const char RESULT[] = "memory_failures.h5", PART[] = "memory_failures.h5.part",
                  TABLE[] = "memory_failures.csv";

static hn_status results_attempt(hn_context *context, void *user)
{
    (void)user;
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_results *results = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    hn_status status = HN_OK;
    TRY(build(context, &model));
    TRY(hn_simulation_create(model, &def, &simulation));
    TRY(hn_results_create(model, simulation, RESULT, &results));
    for (int i = 0; i < 3; ++i) {
        TRY(hn_results_append(results));
        TRY(hn_simulation_step(simulation, 1));
    }
    TRY(hn_results_finish(results));
    hn_results_destroy(results);
    results = NULL;
    TRY(hn_results_export_csv(context, RESULT, TABLE, NULL, 0));
done:
    hn_results_destroy(results);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_results_may_run_out_anywhere)
{
    int64_t failed = check_every_allocation_failing(results_attempt, NULL);
    remove(RESULT);
    remove(PART);
    remove(TABLE);
    CHECK(failed > 60);
}

// ---- batches and studies ----------------------------------------------------------------------------

static hn_status batch_attempt(hn_context *context, void *user)
{
    const bool *resident = user;
    hn_status status = HN_OK;
    hn_model *model = NULL;
    hn_batch *batch = NULL;
    hn_batch_def def = hn_batch_def_default();
    hn_batch_view view;
    hn_batch_input input;
    double rates[2] = {0.1, 0.2};
    static const char TEXT[] =
        "holonom: 1\nbodies: {a: {shape: {sphere: {radius: 1}}, mass: 1}, b: {shape: {sphere: "
        "{radius: 1}}, mass: 1}}\njoints: {x: {prismatic: {bodies: [ground, a], at: [0, 0, 0], "
        "axis: x}}, y: {prismatic: {bodies: [a, b], at: [0, 0, 0], axis: y}}}\n";
    def.simulation.step_size = 1e-3;
    def.simulation.inputs = true;
    def.member_count = 1; // of several, one that has no memory is no failure of the whole
    def.thread_count = 1;
    def.resident = *resident;
    TRY(hn_model_parse(context, TEXT, sizeof TEXT - 1, "text", &model));
    TRY(hn_batch_create(context, model, &def, &batch));
    TRY(hn_batch_view_of(batch, "bodies/position", &view));
    TRY(hn_batch_input_of(batch, "joints/effort", &input));
    TRY(hn_batch_set_joints(batch, NULL, rates, 2, NULL));
    TRY(hn_batch_step(batch, 3));
done:
    hn_batch_destroy(batch);
    hn_model_destroy(model);
    return status;
}

TEST(memory, of_a_batch_may_run_out_anywhere)
{
    for (int k = 0; k < 2; ++k) {
        bool resident = k == 1;
        CHECK(check_every_allocation_failing(batch_attempt, &resident) > 60);
    }
}

static hn_status study_attempt(hn_context *context, void *user)
{
    (void)user;
    static const char TEXT[] = "holonom_study: 1\nparameters: {m: {uniform: [1, 2]}}\nsamples: "
                               "{count: 3, method: latin-hypercube}\n"
                               "outputs: {x: {of: bodies/a/position/x, keep: [minimum, "
                               "maximum]}}\nfailure: {x.minimum: {above: 3}}\n";
    static const char OF[] =
        "holonom: 1\nparameters: {m: 1}\nbodies: {a: {shape: {sphere: {radius: 1}}, mass: m}}\n"
        "run: {step: 0.1, end: 0.2}\n";
    hn_status status = HN_OK;
    hn_study *study = NULL;
    hn_study_table *table = NULL, *other = NULL;
    hn_study_outcome outcome;
    double parameters[1], outputs[2];
    TRY(hn_study_parse(context, TEXT, sizeof TEXT - 1, "study", OF, sizeof OF - 1, &study));
    TRY(hn_study_table_create(context, study, &table));
    TRY(hn_study_table_create(context, study, &other));
    TRY(hn_study_parameters(study, 1, parameters));
    TRY(hn_study_run(context, study, 1, outputs, &outcome));
    TRY(outcome.status);
    snprintf(outcome.message, sizeof outcome.message, "a message");
    TRY(hn_study_table_put(table, 1, parameters, outputs, &outcome));
    TRY(hn_study_table_merge(other, table));
done:
    hn_study_table_destroy(other);
    hn_study_table_destroy(table);
    hn_study_destroy(study);
    return status;
}

TEST(memory, of_a_study_may_run_out_anywhere)
{
    CHECK(check_every_allocation_failing(study_attempt, NULL) > 100);
}
