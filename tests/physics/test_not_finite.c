// SPDX-License-Identifier: MIT
// Numbers from outside that are not finite: they are named, the state stays, and the step works once they are mended.
#include "support/check.h"

#include <holonom/holonom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    void *before, *after; // snapshots
    size_t size;
} world;

static const double STEP = 1e-2;       // s
static const double LATE = 2.5 * STEP; // s: the fourth step is the first that begins later

static const char ARM[] = "holonom: 1\nbodies:\n"
                          "  one: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, left: [0, 0, 0]}\n"
                          "  two: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, left: [1, 0, 0]}\n"
                          "joints:\n"
                          "  shoulder: {%s: {bodies: [ground, one], at: [0, 0, 0]%s}}\n"
                          "  elbow: {revolute: {bodies: [one, two], at: [1, 0, 0], axis: y}}\n%s";
static const char SERVO[] = "drives: {servo: {servo: {joint: elbow, target: 'sin(t)', "
                            "proportional: 3, derivative: 0.2}}}\n";

static hn_status open_scheme(world *w, hn_scheme scheme, bool inputs, double tolerance)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = STEP;
    def.inputs = inputs;
    def.step_tolerance = tolerance;
    hn_status status = hn_simulation_create(w->model, &def, &w->simulation);
    if (status != HN_OK) return status;
    w->size = hn_simulation_snapshot_size(w->simulation);
    w->before = malloc(w->size);
    w->after = malloc(w->size);
    CHECK(w->before != NULL && w->after != NULL);
    return HN_OK;
}

static world open_world(const char *more)
{
    world w = {.context = hn_context_create(NULL)};
    char text[2000];
    bool ball = strstr(more, "rotation") != NULL;
    snprintf(text, sizeof text, ARM, ball ? "spherical" : "revolute", ball ? "" : ", axis: y",
             more);
    CHECK_OK(w.context, hn_model_parse(w.context, text, strlen(text), "arm", &w.model));
    return w;
}

static void close_simulation(world *w)
{
    hn_simulation_destroy(w->simulation);
    free(w->before);
    free(w->after);
    w->simulation = NULL;
    w->before = w->after = NULL;
}

static void close_world(world *w)
{
    close_simulation(w);
    hn_model_destroy(w->model);
    hn_context_destroy(w->context);
}

// The fourth step fails and says why; the state is that of the third.
static void check_fourth_step(world *w, const char *named)
{
    CHECK_STATUS(w->context, hn_simulation_step(w->simulation, 1), HN_NOT_FINITE);
    CHECK_CONTAINS(hn_context_message(w->context), named);
    CHECK_CONTAINS(hn_context_message(w->context), "step 4 at t = 0.03 s");
    CHECK_EQUAL(hn_simulation_step_count(w->simulation), 3);
}

static void check_state_stayed(world *w)
{
    CHECK_OK(w->context, hn_simulation_save(w->simulation, w->after, w->size));
    // inner steps that failed are counted
    if (hn_simulation_adaptive_statistics(w->simulation).accepted_step_count > 0) return;
    CHECK(memcmp(w->before, w->after, w->size) == 0);
}

// ---- inputs ---------------------------------------------------------------------------------------------------

static const char *const INPUTS[] = {"joints/effort", "bodies/force", "bodies/torque",
                                     "drives/command"};
static const double BAD[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
enum { INPUT_COUNT = 4, BAD_COUNT = 3 };

static void check_input(world *w, int input, double bad)
{
    hn_input x;
    char named[40];
    CHECK_OK(w->context, hn_simulation_step(w->simulation, 3));
    CHECK_OK(w->context, hn_simulation_input(w->simulation, INPUTS[input], &x));
    CHECK_OK(w->context, hn_simulation_save(w->simulation, w->before, w->size));
    double good = x.data[0];
    x.data[0] = bad;
    snprintf(named, sizeof named, "the input %s of ", INPUTS[input]);
    check_fourth_step(w, named);
    CHECK_STATUS(w->context, hn_simulation_step(w->simulation, 1), HN_NOT_FINITE); // and again
    x.data[0] = good;
    check_state_stayed(w);
    CHECK_OK(w->context, hn_simulation_step(w->simulation, 5));
}

TEST(not_finite, inputs_are_named_and_the_step_works_after_repair)
{
    // schemes without drives take efforts, forces and torques
    static const char *const DRIVES[] = {"", SERVO};
    static const int INPUTS_OF[] = {3, 4}, TAKEN_MIN[] = {9 * 9, 6 * 11};
    for (int drives = 0; drives < 2; ++drives) {
        world w = open_world(DRIVES[drives]);
        int taken = 0;
        for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
            for (int input = 0; input < INPUTS_OF[drives]; ++input)
                for (int k = 0; k < BAD_COUNT; ++k) {
                    // a command that is no number leaves the drive to its function
                    if (input == 3 && isnan(BAD[k])) continue;
                    if (open_scheme(&w, (hn_scheme)scheme, true, 0.0) == HN_OK) {
                        check_input(&w, input, BAD[k]);
                        ++taken;
                    }
                    close_simulation(&w);
                }
        CHECK(taken >= TAKEN_MIN[drives]);
        close_world(&w);
    }
}

TEST(not_finite, inputs_are_named_in_inner_steps_too)
{
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_ENERGY_DECAYING};
    world w = open_world(SERVO);
    for (int i = 0; i < 3; ++i)
        for (int input = 0; input < INPUT_COUNT; ++input) {
            CHECK_OK(w.context, open_scheme(&w, SCHEMES[i], true, 1e-6));
            check_input(&w, input, HUGE_VAL);
            close_simulation(&w);
        }
    close_world(&w);
}

static hn_status control(hn_simulation *simulation, const hn_control *c, void *user)
{
    (void)simulation;
    c->efforts[1] = c->time > LATE ? *(double *)user : 0.1;
    return HN_OK;
}

TEST(not_finite, efforts_of_a_controller_are_named)
{
    world w = open_world(SERVO);
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int k = 0; k < BAD_COUNT; ++k) {
            double value = BAD[k];
            if (open_scheme(&w, (hn_scheme)scheme, true, 0.0) == HN_OK) {
                CHECK_OK(w.context, hn_simulation_set_controller(w.simulation, control, &value));
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 3));
                check_fourth_step(&w, "the input joints/effort of joint 'elbow'");
                value = 0.2;
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 5));
            }
            close_simulation(&w);
        }
    close_world(&w);
}

// ---- laws of the user -----------------------------------------------------------------------------------------

typedef struct late_law {
    double effort, slope; // where it is late
} late_law;

static double law(const hn_law_step *step, double *slope, void *user)
{
    const late_law *late = user;
    bool is_late = step->begin > LATE;
    *slope = is_late ? late->slope : -0.1;
    return is_late ? late->effort : -0.1 * step->to;
}

TEST(not_finite, laws_of_the_user_are_named)
{
    late_law late = {0};
    world w = open_world("");
    hn_drive_id id;
    hn_drive_def def = hn_drive_def_default(HN_DRIVE_EFFORT);
    def.name = "mine";
    def.joint = hn_model_joint(w.model, 1);
    def.law = law;
    def.law_user = &late;
    CHECK_OK(w.context, hn_model_add_drive(w.model, &def, &id));
    int taken = 0;
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
        for (int k = 0; k < BAD_COUNT; ++k) {
            late = (late_law){BAD[k], 0.0};
            if (open_scheme(&w, (hn_scheme)scheme, false, 0.0) == HN_OK) {
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 3));
                CHECK_OK(w.context, hn_simulation_save(w.simulation, w.before, w.size));
                check_fourth_step(&w, "the effort of drive 'mine'");
                check_state_stayed(&w);
                late = (late_law){0.1, 0.0};
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 5));
                ++taken;
            }
            close_simulation(&w);
        }
    CHECK(taken >= 3 * BAD_COUNT);
    close_world(&w);
}

// ---- functions of time ----------------------------------------------------------------------------------------

typedef struct function_case {
    const char *text; ///< without a number after 0.035 s
    const char *named;
} function_case;

static const function_case FUNCTIONS[] = {
    {"loads: {push: {force: {body: two, vector: [0, 0, 1], factor: 'sqrt(0.035-t)'}}}\n",
     "the function of time of load 'push'"},
    {"loads: {turn: {torque: {body: two, vector: [0, 1, 0], factor: 'sqrt(0.035-t)'}}}\n",
     "the function of time of load 'turn'"},
    {"drives: {it: {effort: {joint: elbow, value: 'sqrt(0.035-t)'}}}\n",
     "the function of time of drive 'it'"},
    {"drives: {it: {servo: {joint: elbow, target: 'sqrt(0.035-t)', proportional: 3}}}\n",
     "the function of time of drive 'it'"},
    {"drives: {it: {servo: {joint: elbow, target: 'sqrt(0.035-t)', proportional: 3, integral: "
     "1}}}\n",
     "the function of time of drive 'it'"},
    {"drives: {it: {motor: {joint: elbow, stall: 1, no_load: 5, command: 'sqrt(0.035-t)'}}}\n",
     "the function of time of drive 'it'"},
    {"drives: {it: {motion: {joint: elbow, value: '0.1*t^2+0*sqrt(0.035-t)'}}}\n",
     "the function of time of drive 'it'"},
    {"drives: {it: {motion: {joint: shoulder, rotation: {axis: [0, 1, 0], angle: "
     "'0.1*t^2+0*sqrt(0.035-t)'}}}}\n",
     "the function of time of drive 'it"},
};

TEST(not_finite, functions_of_time_are_named)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; ++i) {
        const function_case *f = &FUNCTIONS[i];
        world w = open_world(f->text);
        int taken = 0;
        for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
            if (open_scheme(&w, (hn_scheme)scheme, false, 0.0) == HN_OK) {
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 3));
                CHECK_OK(w.context, hn_simulation_save(w.simulation, w.before, w.size));
                check_fourth_step(&w, f->named);
                check_state_stayed(&w);
                ++taken;
            }
            close_simulation(&w);
        }
        CHECK(taken >= 3);
        close_world(&w);
    }
}

TEST(not_finite, functions_that_end_between_internal_steps_are_named)
{
    // a root has no finite slope at its end: internal steps shrink before it
    static const char *const TEXTS[] = {
        "loads: {push: {force: {body: two, vector: [0, 0, 1], factor: 'sqrt(0.04-t)'}}}\n",
        "loads: {push: {force: {body: two, vector: [0, 0, 1], factor: 'sqrt(0.037-t)'}}}\n"};
    for (int i = 0; i < 2; ++i) {
        world w = open_world(TEXTS[i]);
        CHECK_OK(w.context, open_scheme(&w, HN_SCHEME_PROJECTED_RK, false, 0.0));
        CHECK_STATUS(w.context, hn_simulation_step(w.simulation, 10), HN_NOT_FINITE);
        CHECK_CONTAINS(hn_context_message(w.context), "the function of time of load 'push'");
        close_world(&w);
    }
}

TEST(not_finite, motions_that_are_followed_are_named)
{
    // a value, a rate, a load
    static const function_case CASES[] = {
        {"drives: {it: {motion: {joint: elbow, value: '0.1*t^2+0*sqrt(0.035-t)'}}, other: "
         "{motion: {joint: shoulder, value: t}}}\n",
         "value, rate or acceleration of drive 'it'"},
        {"drives: {it: {motion: {joint: elbow, value: '0.1*t^2+0*sqrt(0.04-t)'}}, other: "
         "{motion: {joint: shoulder, value: t}}}\n",
         "value, rate or acceleration of drive 'it'"},
        {"loads: {push: {force: {body: two, vector: [0, 0, 1], factor: 'sqrt(0.035-t)'}}}\n"
         "drives: {it: {motion: {joint: elbow, value: 0}}, other: {motion: {joint: shoulder, "
         "value: t}}}\n",
         "the function of time of load 'push'"}};
    for (int i = 0; i < 3; ++i)
        for (int efforts = i == 2 ? 1 : 0; efforts < 2; ++efforts) {
            world w = open_world(CASES[i].text);
            CHECK_OK(w.context, open_scheme(&w, HN_SCHEME_ENERGY_MOMENTUM, false, 0.0));
            CHECK_OK(w.context, hn_simulation_follow(w.simulation, 3, efforts == 1));
            CHECK_OK(w.context, hn_simulation_save(w.simulation, w.before, w.size));
            CHECK_STATUS(w.context, hn_simulation_follow(w.simulation, 1, efforts == 1),
                         HN_NOT_FINITE);
            CHECK_CONTAINS(hn_context_message(w.context), CASES[i].named);
            CHECK_CONTAINS(hn_context_message(w.context), "t = 0.04 s: ");
            check_state_stayed(&w);
            close_world(&w);
        }
}

TEST(not_finite, inputs_are_named_by_analyses)
{
    world w = open_world(SERVO);
    for (int input = 0; input < INPUT_COUNT; ++input) {
        hn_input x;
        hn_linear_system *linear = NULL;
        double a[6], b[6];
        hn_static_def still = hn_static_def_default();
        hn_modes_def modes = hn_modes_def_default();
        hn_mode mode[1];
        hn_modes_report found;
        modes.count = 1;
        CHECK_OK(w.context, open_scheme(&w, HN_SCHEME_ENERGY_MOMENTUM, true, 0.0));
        CHECK_OK(w.context, hn_simulation_input(w.simulation, INPUTS[input], &x));
        x.data[0] = HUGE_VAL;
        for (int way = 0; way < 4; ++way) {
            hn_status status = way == 0   ? hn_simulation_linearise(w.simulation, &linear)
                               : way == 1 ? hn_simulation_accelerations(w.simulation, a, b, 2)
                               : way == 2
                                   ? hn_simulation_find_equilibrium(w.simulation, &still, NULL)
                                   : hn_simulation_modes(w.simulation, &modes, mode, NULL, &found);
            CHECK_STATUS(w.context, status, HN_NOT_FINITE);
            CHECK_CONTAINS(hn_context_message(w.context), INPUTS[input]);
        }
        close_simulation(&w);
    }
    close_world(&w);
}
