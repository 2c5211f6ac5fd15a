// SPDX-License-Identifier: MIT
// A co-simulation unit as a master meets it, through the functions of FMI 2.0 and 3.0: trajectories, states, faults.
// Archives and other people's masters: tests/interop/test_fmu.py.
#define _POSIX_C_SOURCE 200809L // mkdir
#include <holonom/holonom.h>

#include "support/check.h"

#include "fmi2.h"
#include "fmi3.h"
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// the functions by their names, as a master finds them
fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String,
                              const fmi2CallbackFunctions *, fmi2Boolean, fmi2Boolean);
void fmi2FreeInstance(fmi2Component);
fmi2Status fmi2SetupExperiment(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean,
                               fmi2Real);
fmi2Status fmi2EnterInitializationMode(fmi2Component);
fmi2Status fmi2ExitInitializationMode(fmi2Component);
fmi2Status fmi2Terminate(fmi2Component);
fmi2Status fmi2Reset(fmi2Component);
fmi2Status fmi2GetReal(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
fmi2Status fmi2SetReal(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Real[]);
fmi2Status fmi2GetInteger(fmi2Component, const fmi2ValueReference[], size_t, fmi2Integer[]);
fmi2Status fmi2DoStep(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
fmi2Status fmi2CancelStep(fmi2Component);
fmi2Status fmi2GetRealStatus(fmi2Component, const fmi2StatusKind, fmi2Real *);
fmi2Status fmi2GetFMUstate(fmi2Component, fmi2FMUstate *);
fmi2Status fmi2SetFMUstate(fmi2Component, fmi2FMUstate);
fmi2Status fmi2FreeFMUstate(fmi2Component, fmi2FMUstate *);
fmi2Status fmi2SerializedFMUstateSize(fmi2Component, fmi2FMUstate, size_t *);
fmi2Status fmi2SerializeFMUstate(fmi2Component, fmi2FMUstate, fmi2Byte[], size_t);
fmi2Status fmi2DeSerializeFMUstate(fmi2Component, const fmi2Byte[], size_t, fmi2FMUstate *);
fmi3Instance fmi3InstantiateCoSimulation(fmi3String, fmi3String, fmi3String, fmi3Boolean,
                                         fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                         const fmi3ValueReference[], size_t,
                                         fmi3InstanceEnvironment, fmi3LogMessageCallback,
                                         fmi3IntermediateUpdateCallback);
void fmi3FreeInstance(fmi3Instance);
fmi3Status fmi3EnterInitializationMode(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64,
                                       fmi3Boolean, fmi3Float64);
fmi3Status fmi3ExitInitializationMode(fmi3Instance);
fmi3Status fmi3GetFloat64(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
fmi3Status fmi3DoStep(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *,
                      fmi3Boolean *, fmi3Boolean *, fmi3Float64 *);

static const double STEP = 0.002; // s
static const char TOKEN[] = "{token}";
static const char FOLDER[] = "unit resources"; // with a blank, which locations encode
static const char LOCATION[] = "file:unit%20resources";

static const char MODEL[] =
    "holonom: 1\n"
    "parameters: {length: 0.5, half: length/2}\n"
    "bodies:\n"
    "  upper: {shape: {box: {size: [0.1, 0.1]}}, between: [[0, 0, 0], [length, 0, 0]], mass: 2}\n"
    "  lower: {shape: {box: {size: [0.1, 0.1]}}, between: [[length, 0, 0], [2*length, 0, 0]], "
    "mass: 1}\n"
    "joints:\n"
    "  hip: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}\n"
    "  knee: {revolute: {bodies: [upper, lower], at: [length, 0, 0], axis: y}}\n"
    "drives:\n"
    "  pull: {servo: {joint: hip, target: 'sin(2*t)', proportional: 100, derivative: 9, armature: "
    "0.1}}\n"
    "  hold: {spring: {joint: knee, stiffness: 5, damping: 0.1}}\n";

enum { TIME, RUN_STEP, LENGTH, HALF, TARGET, EFFORT, HIP, KNEE, HIP_RATE, KNEE_RATE, PULL, HOLD };

static void put_line(void *file, const char *text)
{
    fprintf(file, "%s\n", text);
}

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK(fclose(file) == 0);
}

static void write_resources(void)
{
    mkdir(FOLDER, 0777);
    write_file(UNIT_MODEL_FILE, MODEL);
    unit_setup setup = {.def = hn_simulation_def_default()};
    setup.def.step_size = STEP;
    setup.def.inputs = true;
    setup.def.ledger = false;
    strcpy(setup.token, TOKEN);
    CHECK(unit_setup_add_input(&setup, "drives/pull") &&
          unit_setup_add_input(&setup, "joints/knee"));
    CHECK(unit_setup_add_output(&setup, "joints/coordinates") &&
          unit_setup_add_output(&setup, "joints/rates") &&
          unit_setup_add_output(&setup, "drives/effort"));
    hn_context *context = hn_context_create(NULL);
    char path[200];
    snprintf(path, sizeof path, "%s/%s", FOLDER, UNIT_SETUP_FILE);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && unit_setup_write(context, &setup, put_line, file));
    CHECK(fclose(file) == 0);
    unit_setup_clear(&setup);
    hn_context_destroy(context);
}

static char last_message[3000];

static void keep_message2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                          fmi2String category, fmi2String message, ...)
{
    (void)environment, (void)name, (void)status, (void)category;
    snprintf(last_message, sizeof last_message, "%s", message);
}

static const fmi2CallbackFunctions CALLBACKS = {.logger = keep_message2};

static fmi2Component open_unit(void)
{
    fmi2Component c = fmi2Instantiate("one", fmi2CoSimulation, TOKEN, LOCATION, &CALLBACKS, 0, 0);
    CHECK(c != NULL);
    return c;
}

static void initialize(fmi2Component c, double start)
{
    CHECK_EQUAL(fmi2SetupExperiment(c, 0, 0.0, start, 0, 0.0), fmi2OK);
    CHECK_EQUAL(fmi2EnterInitializationMode(c), fmi2OK);
    CHECK_EQUAL(fmi2ExitInitializationMode(c), fmi2OK);
}

static double get(fmi2Component c, fmi2ValueReference reference)
{
    double value = 0.0;
    CHECK_EQUAL(fmi2GetReal(c, &reference, 1, &value), fmi2OK);
    return value;
}

static fmi2Status set(fmi2Component c, fmi2ValueReference reference, double value)
{
    return fmi2SetReal(c, &reference, 1, &value);
}

// The same by the library: coordinates and rates after `count` steps.
static void run_library(const hn_parameter *parameters, int parameter_count, double step,
                        double target, double effort, int count, double values[4])
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_model_parse_with(context, MODEL, strlen(MODEL), "model.yaml", parameters,
                                          parameter_count, &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = step;
    def.inputs = true;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    hn_input commands, efforts;
    CHECK_OK(context, hn_simulation_input(simulation, "drives/command", &commands));
    CHECK_OK(context, hn_simulation_input(simulation, "joints/effort", &efforts));
    commands.data[0] = target;
    efforts.data[1] = effort;
    CHECK_OK(context, hn_simulation_step(simulation, count));
    hn_view q, v;
    CHECK_OK(context, hn_simulation_view(simulation, "joints/coordinates", &q));
    CHECK_OK(context, hn_simulation_view(simulation, "joints/rates", &v));
    memcpy(values, q.data, 2 * sizeof(double));
    memcpy(values + 2, v.data, 2 * sizeof(double));
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

static void check_state(fmi2Component c, const double expected[4])
{
    for (unsigned k = 0; k < 4; ++k) CHECK(get(c, HIP + k) == expected[k]);
}

TEST(unit, follows_the_library_bit_for_bit_with_any_intervals)
{
    write_resources();
    double expected[4];
    fmi2Component c = open_unit();
    initialize(c, 0.0);
    run_library(NULL, 0, STEP, (double)NAN, 0.0, 100, expected);
    double time = 0.0;
    const int steps[] = {1, 7, 2, 40, 50};
    for (int i = 0; i < 5; ++i) {
        CHECK_EQUAL(fmi2DoStep(c, time, steps[i] * STEP, 1), fmi2OK);
        time += steps[i] * STEP;
    }
    check_state(c, expected);
    CHECK(fabs(get(c, TIME) - 100 * STEP) < 1e-15);
    CHECK_EQUAL(fmi2Terminate(c), fmi2OK);
    // again, with inputs and from another start time
    CHECK_EQUAL(fmi2Reset(c), fmi2OK);
    CHECK(get(c, TARGET) == 0.0); // sin(0)
    CHECK_EQUAL(set(c, TARGET, 0.3), fmi2OK);
    CHECK_EQUAL(set(c, EFFORT, -1.0), fmi2OK);
    initialize(c, 5.0);
    run_library(NULL, 0, STEP, 0.3, -1.0, 60, expected);
    time = 5.0;
    for (int i = 0; i < 60; ++i, time += STEP) CHECK_EQUAL(fmi2DoStep(c, time, STEP, 1), fmi2OK);
    check_state(c, expected);
    CHECK(get(c, TARGET) == 0.3);
    fmi2FreeInstance(c);
}

TEST(unit, takes_parameters_and_a_step)
{
    write_resources();
    const hn_parameter longer = {"length", "0.75"};
    double expected[4];
    run_library(&longer, 1, 0.004, (double)NAN, 0.0, 25, expected);
    fmi2Component c = open_unit();
    CHECK(get(c, LENGTH) == 0.5 && get(c, HALF) == 0.25 && get(c, RUN_STEP) == STEP);
    CHECK_EQUAL(set(c, LENGTH, 0.75), fmi2OK);
    CHECK(get(c, HALF) == 0.375); // what follows from it
    CHECK_EQUAL(set(c, RUN_STEP, 0.004), fmi2OK);
    initialize(c, 0.0);
    CHECK_EQUAL(fmi2DoStep(c, 0.0, 0.1, 1), fmi2OK);
    check_state(c, expected);
    CHECK_EQUAL(set(c, LENGTH, 0.5), fmi2Error);
    CHECK_CONTAINS(last_message, "until the initialization ends");
    fmi2FreeInstance(c);
}

TEST(unit, goes_back_to_a_state_also_one_of_another_process)
{
    write_resources();
    fmi2Component c = open_unit();
    CHECK_EQUAL(set(c, LENGTH, 0.6), fmi2OK);
    initialize(c, 1.0);
    CHECK_EQUAL(set(c, TARGET, 0.2), fmi2OK);
    CHECK_EQUAL(fmi2DoStep(c, 1.0, 20 * STEP, 0), fmi2OK);
    fmi2FMUstate state = NULL, copy = NULL;
    CHECK_EQUAL(fmi2GetFMUstate(c, &state), fmi2OK);
    double effort = get(c, PULL), after[4], now = get(c, TIME);
    CHECK_EQUAL(fmi2DoStep(c, now, 30 * STEP, 0), fmi2OK);
    for (unsigned k = 0; k < 4; ++k) after[k] = get(c, HIP + k);
    // back, and on again: the same bits; and the outputs of the last step at once
    CHECK_EQUAL(set(c, TARGET, -2.0), fmi2OK);
    CHECK_EQUAL(fmi2SetFMUstate(c, state), fmi2OK);
    CHECK(get(c, PULL) == effort && get(c, TIME) == now && get(c, TARGET) == 0.2);
    CHECK_EQUAL(fmi2DoStep(c, now, 30 * STEP, 0), fmi2OK);
    check_state(c, after);
    // as bytes, into a fresh instance without the parameter
    size_t size = 0;
    CHECK_EQUAL(fmi2SerializedFMUstateSize(c, state, &size), fmi2OK);
    char *bytes = malloc(size);
    CHECK_EQUAL(fmi2SerializeFMUstate(c, state, bytes, size), fmi2OK);
    fmi2Component other = open_unit();
    CHECK_EQUAL(fmi2DeSerializeFMUstate(other, bytes, size, &copy), fmi2OK);
    CHECK_EQUAL(fmi2SetFMUstate(other, copy), fmi2OK);
    CHECK(get(other, LENGTH) == 0.6 && get(other, PULL) == effort);
    CHECK_EQUAL(fmi2DoStep(other, now, 30 * STEP, 0), fmi2OK);
    check_state(other, after);
    // damage is noticed anywhere
    fmi2FMUstate none = NULL;
    for (size_t at = 0; at < size; at += 37) {
        bytes[at] = (char)(bytes[at] ^ 1);
        CHECK_EQUAL(fmi2DeSerializeFMUstate(other, bytes, size, &none), fmi2Error);
        bytes[at] = (char)(bytes[at] ^ 1);
    }
    CHECK_EQUAL(fmi2DeSerializeFMUstate(other, bytes, size / 2, &none), fmi2Error);
    CHECK(none == NULL);
    CHECK_CONTAINS(last_message, "damaged");
    free(bytes);
    CHECK_EQUAL(fmi2FreeFMUstate(c, &state), fmi2OK);
    CHECK_EQUAL(fmi2FreeFMUstate(other, &copy), fmi2OK);
    CHECK(state == NULL);
    fmi2FreeInstance(c);
    fmi2FreeInstance(other);
}

TEST(unit, refuses_what_cannot_be_with_words)
{
    write_resources();
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, "{other}", LOCATION, &CALLBACKS, 0, 0) == NULL);
    CHECK_CONTAINS(last_message, "of another unit");
    CHECK(fmi2Instantiate("x", fmi2CoSimulation, TOKEN, "file:///no", &CALLBACKS, 0, 0) == NULL);
    CHECK_CONTAINS(last_message, "/no/");
    CHECK(fmi2Instantiate("x", fmi2ModelExchange, TOKEN, LOCATION, &CALLBACKS, 0, 0) == NULL);
    CHECK_CONTAINS(last_message, "co-simulation");
    fmi2Component c = open_unit();
    CHECK_EQUAL(fmi2DoStep(c, 0.0, STEP, 0), fmi2Error);
    CHECK_CONTAINS(last_message, "before its initialization");
    CHECK_EQUAL(set(c, HIP, 1.0), fmi2Error);
    CHECK_CONTAINS(last_message, "is an output");
    CHECK_EQUAL(set(c, 1000, 1.0), fmi2Error);
    CHECK_CONTAINS(last_message, "reference 1000");
    CHECK_EQUAL(set(c, RUN_STEP, -1.0), fmi2Error);
    CHECK_EQUAL(set(c, EFFORT, (double)INFINITY), fmi2Error);
    CHECK_CONTAINS(last_message, "finite");
    fmi2Integer integer;
    const fmi2ValueReference hip = HIP;
    CHECK_EQUAL(fmi2GetInteger(c, &hip, 1, &integer), fmi2Error);
    initialize(c, 0.0);
    // intervals that are no multiples change nothing
    double reached = -1.0, before = get(c, HIP);
    const double intervals[] = {0.5 * STEP, 1.5 * STEP, 0.0, -STEP, (double)NAN, 1e-12};
    for (int i = 0; i < 6; ++i) {
        CHECK_EQUAL(fmi2DoStep(c, 0.0, intervals[i], 0), fmi2Error);
        CHECK_CONTAINS(last_message, "not a whole number of steps");
        CHECK_EQUAL(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &reached), fmi2OK);
        CHECK(reached == 0.0 && get(c, HIP) == before);
    }
    CHECK_EQUAL(fmi2DoStep(c, 0.5, STEP, 0), fmi2Error);
    CHECK_CONTAINS(last_message, "the master is at 0.5 s, the unit at 0 s");
    CHECK_EQUAL(fmi2DoStep(c, 0.0, STEP, 0), fmi2OK);
    // a model that fails: the message is the library's
    CHECK_EQUAL(fmi2Reset(c), fmi2OK);
    CHECK_EQUAL(set(c, LENGTH, -1.0), fmi2OK);
    CHECK_EQUAL(set(c, LENGTH, 0.0), fmi2OK);
    CHECK_EQUAL(fmi2EnterInitializationMode(c), fmi2Error);
    CHECK_CONTAINS(last_message, "model.yaml:");
    fmi2FreeInstance(c);
}

// Start rates were moved without a word.
TEST(unit, warns_of_what_the_tool_warns_of)
{
    char moved[2048];
    write_resources();
    snprintf(moved, sizeof moved,
             "%sstart: {upper: {velocity: [0, 0, 1.0004], angular_velocity: [0, -4, 0]}}\n", MODEL);
    write_file(UNIT_MODEL_FILE, moved);
    fmi2Component c = fmi2Instantiate("one", fmi2CoSimulation, TOKEN, LOCATION, &CALLBACKS, 0, 1);
    CHECK(c != NULL);
    last_message[0] = '\0';
    initialize(c, 0.0);
    CHECK_CONTAINS(last_message, "start velocities were changed by");
    last_message[0] = '\0';
    CHECK_EQUAL(fmi2Terminate(c), fmi2OK);
    CHECK_TEXT(last_message, ""); // once
    fmi2FreeInstance(c);
    write_resources();
}

static void *cancel_soon(void *c)
{
    const struct timespec pause = {0, 20000000}; // s, ns
    nanosleep(&pause, NULL);
    fmi2CancelStep(c);
    return NULL;
}

TEST(unit, stops_when_it_is_cancelled_and_goes_on)
{
    write_resources();
    fmi2Component c = open_unit();
    initialize(c, 0.0);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, cancel_soon, c), 0);
    fmi2Status status = fmi2DoStep(c, 0.0, 1e7 * STEP, 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(status, fmi2Discard);
    double reached = 0.0;
    CHECK_EQUAL(fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &reached), fmi2OK);
    CHECK(reached == get(c, TIME) && reached < 1e7 * STEP);
    CHECK_EQUAL(fmi2DoStep(c, reached, STEP, 0), fmi2OK);
    fmi2FreeInstance(c);
}

/// What a master of FMI 3.0 does between steps.
typedef struct watcher {
    fmi3Instance instance;
    int calls;
    double last_angle;
} watcher;

static void watch(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
                  fmi3Boolean get_allowed, fmi3Boolean finished, fmi3Boolean may_return,
                  fmi3Boolean *return_requested, fmi3Float64 *return_time)
{
    watcher *w = environment;
    const fmi3ValueReference hip = HIP;
    CHECK(!set_requested && get_allowed && finished && may_return);
    CHECK_EQUAL(fmi3GetFloat64(w->instance, &hip, 1, &w->last_angle, 1), fmi3OK);
    w->calls += 1;
    *return_requested = w->calls == 12;
    *return_time = time;
}

TEST(unit, of_version_3_returns_early_when_asked)
{
    write_resources();
    double expected[4];
    run_library(NULL, 0, STEP, (double)NAN, 0.0, 12, expected);
    watcher w = {0};
    w.instance = fmi3InstantiateCoSimulation("three", TOKEN, FOLDER, false, false, false, true,
                                             NULL, 0, &w, NULL, watch);
    CHECK(w.instance != NULL);
    CHECK_EQUAL(fmi3EnterInitializationMode(w.instance, false, 0.0, 0.0, false, 0.0), fmi3OK);
    CHECK_EQUAL(fmi3ExitInitializationMode(w.instance), fmi3OK);
    bool events, ends, early;
    double reached;
    CHECK_EQUAL(fmi3DoStep(w.instance, 0.0, 50 * STEP, true, &events, &ends, &early, &reached),
                fmi3OK);
    CHECK(early && !events && !ends);
    CHECK_EQUAL(w.calls, 12);
    CHECK(fabs(reached - 12 * STEP) < 1e-15);
    CHECK(w.last_angle == expected[0]);
    CHECK_EQUAL(fmi3DoStep(w.instance, reached, 2 * STEP, true, &events, &ends, &early, &reached),
                fmi3OK);
    CHECK(!early);
    fmi3FreeInstance(w.instance);
}
