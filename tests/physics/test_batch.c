// SPDX-License-Identifier: MIT
// Batches: every member is bit for bit a simulation of its own, at any number of threads; failures stay where they are.
#include <holonom/holonom.h>

#include "support/check.h"
#include "support/malloc_counter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 8, CALLS = 3, STEPS = 2 }; // more members than threads, stepped in several calls

static hn_model *load(hn_context *context, const char *name)
{
    char path[256];
    hn_model *model = NULL;
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    CHECK_OK(context, hn_model_load(context, path, &model));
    return model;
}

// Force on a number of a body in a call, different for every member.
static double force_of(size_t number, int member, int call)
{
    return 0.3 * sin(1.0 + 0.7 * (double)number + 1.3 * member + 0.5 * call);
}

// Snapshots of simulations that are stepped one after the other.
static char *plain_snapshots(hn_context *context, const hn_model *model,
                             const hn_simulation_def *def, size_t *size, bool *fine)
{
    char *all = NULL;
    for (int m = 0; m < MEMBERS && *fine; ++m) {
        hn_simulation *s = NULL;
        *fine = hn_simulation_create_in(context, model, def, &s) == HN_OK;
        for (int call = 0; call < CALLS && *fine; ++call) {
            hn_input force;
            if (def->inputs) {
                CHECK_OK(context, hn_simulation_input(s, "bodies/force", &force));
                for (size_t i = 0; i < 3 * force.shape[0]; ++i)
                    force.data[i] = force_of(i, m, call);
            }
            CHECK_OK(context, hn_simulation_step(s, STEPS));
        }
        if (*fine) {
            *size = hn_simulation_snapshot_size(s);
            if (all == NULL) all = malloc(MEMBERS * *size);
            CHECK_OK(context, hn_simulation_save(s, all + (size_t)m * *size, *size));
        }
        hn_simulation_destroy(s);
    }
    return all;
}

static void check_same_bits(hn_context *context, const hn_model *model, const hn_batch_def *def,
                            const char *expected, size_t size)
{
    hn_batch *batch = NULL;
    CHECK_OK(context, hn_batch_create(context, model, def, &batch));
    hn_batch_input force = {0};
    if (def->simulation.inputs) CHECK_OK(context, hn_batch_input_of(batch, "bodies/force", &force));
    for (int call = 0; call < CALLS; ++call) {
        size_t numbers = def->simulation.inputs ? 3 * force.shape[1] : 0;
        for (size_t i = 0; i < numbers; ++i)
            for (int m = 0; m < MEMBERS; ++m) {
                ptrdiff_t at = (ptrdiff_t)(i / 3) * force.strides[1] +
                               (ptrdiff_t)(i % 3) * force.strides[2] + m * force.strides[0];
                force.data[at] = force_of(i, m, call);
            }
        CHECK_OK(context, hn_batch_step(batch, STEPS));
    }
    char *snapshot = malloc(size);
    for (int m = 0; m < MEMBERS; ++m) {
        CHECK_EQUAL(hn_batch_snapshot_size(batch, m), size);
        CHECK_EQUAL(hn_batch_step_count(batch, m), CALLS * STEPS);
        CHECK_OK(context, hn_batch_save(batch, m, snapshot, size));
        CHECK(memcmp(snapshot, expected + (size_t)m * size, size) == 0);
    }
    free(snapshot);
    hn_batch_destroy(batch);
}

// Threads 1, 2 and 7, members as states and as simulations; returns whether the scheme takes the model.
static bool compare_with_plain_loop(const char *name, hn_scheme scheme, hn_reduction reduction,
                                    double step)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = load(context, name);
    hn_batch_def def = hn_batch_def_default();
    def.simulation.scheme = scheme;
    def.simulation.reduction = reduction;
    def.simulation.step_size = step;
    def.simulation.inputs = scheme != HN_SCHEME_PROJECTED_RK;
    def.member_count = MEMBERS;
    bool fine = true;
    size_t size = 0;
    char *expected = plain_snapshots(context, model, &def.simulation, &size, &fine);
    const int threads[] = {1, 2, 7};
    for (int k = 0; k < 3 && fine; ++k) {
        def.thread_count = threads[k];
        def.resident = false;
        check_same_bits(context, model, &def, expected, size);
    }
    def.resident = true;
    if (fine) check_same_bits(context, model, &def, expected, size);
    free(expected);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return fine;
}

static const struct {
    const char *model;
    double step; // s
    int schemes; // that take it
} CASES[] = {
    {"chain-revolute", 1e-3, HN_SCHEME_COUNT},   // tree
    {"four-bar", 1e-3, HN_SCHEME_COUNT},         // loop
    {"six-body-linkage", 1e-3, HN_SCHEME_COUNT}, // loop with a redundant constraint
    {"flying-beam", 1e-6, 6},                    // beams in a loop
    {"robot-arm", 1e-3, 4},                      // servos with rotors
    {"door-with-stop", 1e-3, 6},                 // a stop and a spring on a joint
};

TEST(batch, members_are_bit_for_bit_simulations_of_their_own)
{
    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; ++c) {
        int schemes = 0;
        for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
            schemes += compare_with_plain_loop(CASES[c].model, (hn_scheme)scheme,
                                               HN_REDUCTION_REDUCED, CASES[c].step);
        MEASURED(schemes);
        CHECK_EQUAL(schemes, CASES[c].schemes);
    }
}

TEST(batch, reductions_are_so_too)
{
    CHECK(compare_with_plain_loop("four-bar", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_NULLSPACE,
                                  1e-3));
    CHECK(
        compare_with_plain_loop("four-bar", HN_SCHEME_VARIATIONAL, HN_REDUCTION_MULTIPLIERS, 1e-3));
}

// ---- arrays, parameters, failures -------------------------------------------------------------------

static const char ARM[] =
    "holonom: 1\n"
    "parameters: {length: 1, mass: 2}\n"
    "bodies:\n"
    "  upper: {shape: {box: {size: [0.1, 0.1, length]}}, mass: mass, position: [0, 0, -length/2]}\n"
    "  lower: {shape: {box: {size: [0.1, 0.1, 1]}}, mass: 1, position: [0, 0, -length - 0.5]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [upper, lower], at: [0, 0, -length], axis: x}}\n";

typedef struct arm {
    hn_context *context;
    hn_model *model;
    hn_batch_def def;
    hn_batch *batch;
} arm;

static arm open_arm(int members, int threads)
{
    arm a = {.context = hn_context_create(NULL), .def = hn_batch_def_default()};
    CHECK_OK(a.context, hn_model_parse(a.context, ARM, sizeof ARM - 1, "arm.yaml", &a.model));
    a.def.simulation.step_size = 1e-3;
    a.def.simulation.inputs = true;
    a.def.member_count = members;
    a.def.thread_count = threads;
    return a;
}

static void close_arm(arm *a)
{
    hn_batch_destroy(a->batch);
    hn_model_destroy(a->model);
    hn_context_destroy(a->context);
}

TEST(batch, states_go_in_and_come_out_as_blocks_of_all_members)
{
    arm a = open_arm(MEMBERS, 3);
    CHECK_OK(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch));
    double coordinates[2 * MEMBERS], rates[2 * MEMBERS];
    for (int k = 0; k < 2 * MEMBERS; ++k) coordinates[k] = 0.1 * k, rates[k] = 1.0 - 0.2 * k;
    CHECK_OK(a.context, hn_batch_set_joints(a.batch, coordinates, rates, 2, NULL));
    hn_batch_view angles, positions, reactions;
    CHECK_OK(a.context, hn_batch_view_of(a.batch, "joints/coordinates", &angles));
    CHECK_OK(a.context, hn_batch_view_of(a.batch, "bodies/position", &positions));
    CHECK_OK(a.context, hn_batch_view_of(a.batch, "joints/reaction_force", &reactions));
    CHECK_EQUAL(angles.rank, 2);
    CHECK_EQUAL(angles.shape[0], MEMBERS);
    CHECK_EQUAL(angles.strides[1], MEMBERS);
    for (int k = 0; k < 2 * MEMBERS; ++k) CHECK_NEAR(angles.data[k], coordinates[k], 1e-14);
    CHECK_OK(a.context, hn_batch_step(a.batch, 10));
    for (int m = 0; m < MEMBERS; ++m) {
        hn_simulation *plain = NULL;
        hn_view view, force;
        double own[2] = {coordinates[m], coordinates[MEMBERS + m]},
               own_rates[2] = {rates[m], rates[MEMBERS + m]};
        CHECK_OK(a.context, hn_simulation_create(a.model, &a.def.simulation, &plain));
        CHECK_OK(a.context, hn_simulation_set_joints(plain, own, own_rates, 2));
        CHECK_OK(a.context, hn_simulation_step(plain, 10));
        CHECK_OK(a.context, hn_simulation_view(plain, "bodies/position", &view));
        CHECK_OK(a.context, hn_simulation_view(plain, "joints/reaction_force", &force));
        for (int i = 0; i < 6; ++i) {
            CHECK(positions.data[m + MEMBERS * i] == view.data[i]);
            CHECK(reactions.data[m + MEMBERS * i] == force.data[i]);
        }
        hn_ledger ledger, plain_ledger;
        CHECK_OK(a.context, hn_batch_ledger(a.batch, m, &ledger));
        CHECK_OK(a.context, hn_simulation_ledger(plain, &plain_ledger));
        CHECK(ledger.entry[0].error == plain_ledger.entry[0].error);
        CHECK(ledger.accuracy.relative.value == plain_ledger.accuracy.relative.value);
        hn_simulation_destroy(plain);
    }
    // bodies as they are, of one member alone: its position moves by nothing
    hn_body_values values = {.position = positions.data};
    bool chosen[MEMBERS] = {[2] = true};
    CHECK_OK(a.context, hn_batch_set_bodies(a.batch, &values, 2, chosen));
    close_arm(&a);
}

TEST(batch, members_may_have_parameters_of_their_own)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        arm a = open_arm(4, threads);
        static const char *const NAMES[] = {"mass", "length"};
        const double values[] = {1.0, 2.0, 3.0, -4.0, 0.5, 0.6, 0.7, 0.8}; // kg, then m
        a.def.parameters = NAMES;
        a.def.parameter_count = 2;
        a.def.parameter_values = values;
        CHECK_OK(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch));
        CHECK_EQUAL(hn_batch_failed_count(a.batch), 1);
        CHECK_EQUAL(hn_batch_status(a.batch, 3), HN_FILE_FORMAT);
        CHECK_CONTAINS(hn_batch_message(a.batch, 3), "mass");
        hn_batch_view tips;
        CHECK_OK(a.context, hn_batch_view_of(a.batch, "bodies/position", &tips));
        const double rates[] = {1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0};
        CHECK_OK(a.context, hn_batch_set_joints(a.batch, NULL, rates, 2, NULL));
        CHECK_OK(a.context, hn_batch_step(a.batch, 7));
        for (int m = 0; m < 3; ++m) {
            char mass[32], length[32];
            snprintf(mass, sizeof mass, "%.17g", values[m]);
            snprintf(length, sizeof length, "%.17g", values[4 + m]);
            const hn_parameter parameters[] = {{"length", length}, {"mass", mass}};
            hn_model *model = NULL;
            hn_simulation *plain = NULL;
            hn_view view;
            CHECK_OK(a.context, hn_model_parse_with(a.context, ARM, sizeof ARM - 1, "arm.yaml",
                                                    parameters, 2, &model));
            CHECK_OK(a.context, hn_simulation_create(model, &a.def.simulation, &plain));
            CHECK_OK(a.context, hn_simulation_set_joints(plain, NULL, (double[]){1.0, 2.0}, 2));
            CHECK_OK(a.context, hn_simulation_step(plain, 7));
            CHECK_OK(a.context, hn_simulation_view(plain, "bodies/position", &view));
            for (int i = 0; i < 6; ++i) CHECK(tips.data[m + 4 * i] == view.data[i]);
            hn_simulation_destroy(plain);
            hn_model_destroy(model);
        }
        close_arm(&a);
    }
}

TEST(batch, refuses_parameters_that_the_file_does_not_have)
{
    arm a = open_arm(2, 2);
    static const char *const NAMES[] = {"lenght"};
    const double values[] = {1.0, 2.0};
    a.def.parameters = NAMES;
    a.def.parameter_count = 1;
    a.def.parameter_values = values;
    CHECK_STATUS(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch), HN_FILE_FORMAT);
    CHECK_CONTAINS(hn_context_message(a.context), "length");
    close_arm(&a);
}

TEST(batch, a_member_that_fails_leaves_the_others_alone)
{
    arm a = open_arm(MEMBERS, 3), b = open_arm(MEMBERS, 1);
    a.def.simulation.ledger = b.def.simulation.ledger = false;
    CHECK_OK(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch));
    CHECK_OK(b.context, hn_batch_create(b.context, b.model, &b.def, &b.batch));
    hn_batch_input effort;
    hn_batch_view positions, expected;
    CHECK_OK(a.context, hn_batch_input_of(a.batch, "joints/effort", &effort));
    CHECK_OK(a.context, hn_batch_view_of(a.batch, "bodies/position", &positions));
    CHECK_OK(b.context, hn_batch_view_of(b.batch, "bodies/position", &expected));
    CHECK_OK(a.context, hn_batch_step(a.batch, 2));
    size_t size = hn_batch_snapshot_size(a.batch, 5);
    char *before = malloc(size);
    CHECK_OK(a.context, hn_batch_save(a.batch, 5, before, size));
    effort.data[5] = 1e12; // N m: no step of any length bears this
    CHECK(hn_batch_step(a.batch, 3) != HN_OK);
    CHECK_CONTAINS(hn_context_message(a.context), "member 5 (1 of 8 failed): ");
    CHECK_OK(b.context, hn_batch_step(b.batch, 5));
    CHECK_EQUAL(hn_batch_failed_count(a.batch), 1);
    CHECK(hn_batch_status(a.batch, 5) != HN_OK);
    CHECK_CONTAINS(hn_batch_message(a.batch, 5), "step 3");
    for (int m = 0; m < MEMBERS; ++m) {
        CHECK_EQUAL(hn_batch_step_count(a.batch, m), m == 5 ? 2 : 5);
        for (int i = 0; i < 6 && m != 5; ++i)
            CHECK(positions.data[m + MEMBERS * i] == expected.data[m + MEMBERS * i]);
    }
    // what is known is no news; from a snapshot it takes part again
    CHECK_OK(a.context, hn_batch_step(a.batch, 1));
    CHECK_EQUAL(hn_batch_step_count(a.batch, 5), 2);
    effort.data[5] = 0.0;
    CHECK_OK(a.context, hn_batch_restore(a.batch, 5, before, size));
    CHECK_OK(a.context, hn_batch_step(a.batch, 3));
    CHECK_EQUAL(hn_batch_failed_count(a.batch), 0);
    for (int i = 0; i < 6; ++i)
        CHECK(positions.data[5 + MEMBERS * i] == expected.data[5 + MEMBERS * i]);
    free(before);
    close_arm(&a);
    close_arm(&b);
}

TEST(batch, cancelled_members_catch_up)
{
    arm a = open_arm(MEMBERS, 2);
    CHECK_OK(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch));
    hn_context_cancel(a.context);
    CHECK_STATUS(a.context, hn_batch_step(a.batch, 3), HN_CANCELLED);
    CHECK_OK(a.context, hn_batch_step(a.batch, 0));
    for (int m = 0; m < MEMBERS; ++m) CHECK_EQUAL(hn_batch_step_count(a.batch, m), 3);
    close_arm(&a);
}

TEST(batch, steps_allocate_nothing)
{
    if (!malloc_counter_works()) return;
    arm a = open_arm(100, 3);
    CHECK_OK(a.context, hn_batch_create(a.context, a.model, &a.def, &a.batch));
    hn_batch_view positions;
    hn_batch_input effort;
    CHECK_OK(a.context, hn_batch_view_of(a.batch, "bodies/position", &positions));
    CHECK_OK(a.context, hn_batch_input_of(a.batch, "joints/effort", &effort));
    CHECK_OK(a.context, hn_batch_step(a.batch, 1));
    int64_t allocations = malloc_counter_allocations();
    for (int k = 0; k < 20; ++k) {
        effort.data[k] = 0.1 * k;
        CHECK_OK(a.context, hn_batch_step(a.batch, 2));
    }
    CHECK_EQUAL(malloc_counter_allocations(), allocations);
    close_arm(&a);
}

// Bytes of a state and of all, of a batch that takes a step.
static void check_memory(const char *name, int members, double step, double state, double total)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = load(context, name);
    hn_batch_def def = hn_batch_def_default();
    hn_batch *batch = NULL;
    hn_batch_view place;
    def.simulation.step_size = step;
    def.simulation.ledger = false;
    def.member_count = members;
    CHECK_OK(context, hn_batch_create(context, model, &def, &batch));
    CHECK_OK(context, hn_batch_view_of(batch, "bodies/position", &place));
    double first = place.data[0];
    CHECK_OK(context, hn_batch_step(batch, 1));
    hn_batch_memory use = hn_batch_memory_use(batch);
    CHECK_BELOW((double)use.state, state);
    CHECK_BELOW((double)use.member, 1.2 * state); // with a view
    CHECK_BELOW((double)use.total, total);
    CHECK(place.data[members - 1] == place.data[0] && place.data[0] != first);
    hn_batch_destroy(batch);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(batch, a_hundred_thousand_pendulums_fit)
{
    check_memory("pendulum", 100000, 0.01, 1400.0, 1.5e8); // bytes; measured 1341 and 1.41e8
}

TEST(batch, a_thousand_humanoids_fit)
{
    check_memory("humanoid", 1000, 2e-3, 11000.0, 1.2e7); // bytes; measured 10542 and 1.15e7
}
