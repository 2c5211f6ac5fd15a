// SPDX-License-Identifier: MIT
// Programs in the loop: a controller once per step, a law inside Newton's iteration, drives that are changed.
#include "support/check.h"

#include <holonom/holonom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CUBIC = 40.0; // N m/rad^3

typedef struct world {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} world;

static const char ARM[] =
    "holonom: 1\nbodies:\n"
    "  one: {mass: 1, inertia: [0.1, 0.1, 0.001], position: [0, 0, -0.5]}\n"
    "  two: {mass: 1, inertia: [0.1, 0.1, 0.001], position: [0, 0, -1.5]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, one], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [one, two], at: [0, 0, -1], axis: y}}\n"
    "start: {shoulder: {rate: 3}, elbow: {rate: -5}}\n";

// The arm, with a drive on each joint as `edit` likes it
static world open_arm(void (*edit)(hn_drive_def *def, int place), hn_reduction reduction,
                      bool inputs)
{
    world w = {.context = hn_context_create(NULL)};
    CHECK_OK(w.context, hn_model_parse(w.context, ARM, strlen(ARM), "arm", &w.model));
    for (int k = 0; k < 2 && edit != NULL; ++k) {
        hn_drive_id drive;
        hn_drive_def def = hn_drive_def_default(HN_DRIVE_EFFORT);
        def.joint = hn_model_joint(w.model, k);
        edit(&def, k);
        CHECK_OK(w.context, hn_model_add_drive(w.model, &def, &drive));
    }
    hn_simulation_def run = hn_simulation_def_default();
    run.step_size = 5e-3;
    run.reduction = reduction;
    run.inputs = inputs;
    CHECK_OK(w.context, hn_simulation_create(w.model, &run, &w.simulation));
    return w;
}

static void close_arm(world *w)
{
    hn_simulation_destroy(w->simulation);
    hn_model_destroy(w->model);
    hn_context_destroy(w->context);
}

// ---- a law ----------------------------------------------------------------------------------------------------

// a spring with the energy c x^4/4: its mean force over the way, and the derivative of that
static double cubic(const hn_law_step *step, double *slope, void *user)
{
    double a = step->from, b = step->to, c = CUBIC;
    int *calls = user;
    ++*calls;
    *slope = -0.25 * c * (a * a + 2.0 * a * b + 3.0 * b * b);
    return -0.25 * c * (a + b) * (a * a + b * b);
}

static double cubic_alone(const hn_law_step *step, double *slope, void *user)
{
    double unused;
    (void)slope; // left as it comes
    return cubic(step, &unused, user);
}

static int calls;

static void with_law(hn_drive_def *def, int place)
{
    (void)place;
    def->law = cubic;
    def->law_user = &calls;
}

static void with_law_alone(hn_drive_def *def, int place)
{
    (void)place;
    def->law = cubic_alone;
    def->law_user = &calls;
}

static double energy_of(const world *w)
{
    hn_energy energy;
    double sum = 0.0;
    CHECK_OK(w->context, hn_simulation_energy(w->simulation, &energy));
    for (int d = 0; d < 2; ++d) {
        hn_drive_state state;
        CHECK_OK(w->context, hn_simulation_drive(w->simulation, d, &state));
        sum += 0.25 * CUBIC * pow(state.coordinate, 4);
    }
    return energy.kinetic + energy.potential + sum;
}

TEST(laws, of_the_user_keep_the_energy_they_should_under_every_reduction)
{
    double worst = 0.0, apart = 0.0, first[2] = {0.0, 0.0};
    for (int reduction = 0; reduction < HN_REDUCTION_COUNT; ++reduction)
        for (int alone = 0; alone < 2; ++alone) {
            calls = 0;
            world w = open_arm(alone ? with_law_alone : with_law, (hn_reduction)reduction, false);
            hn_view x;
            CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/coordinates", &x));
            double start = energy_of(&w);
            for (int i = 0; i < 200; ++i) {
                CHECK_OK(w.context, hn_simulation_step(w.simulation, 1));
                worst = fmax(worst, fabs(energy_of(&w) - start) / 25.0);
            }
            CHECK(calls > 400);
            for (int k = 0; k < 2; ++k) {
                if (reduction == 0 && alone == 0) first[k] = x.data[k];
                apart = fmax(apart, fabs(x.data[k] - first[k]));
            }
            close_arm(&w);
        }
    CHECK_BELOW(worst, 3e-13); // relative; measured 3.9e-15
    CHECK_BELOW(apart, 5e-12); // rad: slopes that are given or not, reductions; measured 5e-14
}

static void wrong(hn_drive_def *def, int place)
{
    (void)place;
    def->kind = HN_DRIVE_MOTOR;
    def->stall = def->no_load = 1.0;
    def->law = cubic;
}

TEST(laws, belong_to_efforts)
{
    world w = open_arm(NULL, HN_REDUCTION_REDUCED, false);
    hn_drive_id drive;
    hn_drive_def def = hn_drive_def_default(HN_DRIVE_MOTOR);
    def.joint = hn_model_joint(w.model, 0);
    wrong(&def, 0);
    CHECK_STATUS(w.context, hn_model_add_drive(w.model, &def, &drive), HN_INVALID_MODEL);
    CHECK(strstr(hn_context_message(w.context), "expected the kind effort") != NULL);
    close_arm(&w);
}

// ---- a law that cancels -----------------------------------------------------------------------------------------

typedef struct canceller {
    hn_context *context;
    int calls, moment; // it cancels at its call number `moment`
} canceller;

static canceller stop;

static double cancelling(const hn_law_step *step, double *slope, void *user)
{
    canceller *c = user;
    if (++c->calls == c->moment) hn_context_cancel(c->context);
    return cubic(step, slope, &calls);
}

static void with_canceller(hn_drive_def *def, int place)
{
    (void)place;
    def->law = cancelling;
    def->law_user = &stop;
}

enum { CANCELLED_STEPS = 12, ANY_SNAPSHOT = 1 << 16 };

// Steps with a cancel at a call of the law, gone on from; the bytes of the last state. How often it was stopped.
static int cancelled_run(hn_scheme scheme, double step_tolerance, int moment, unsigned char *bytes,
                         size_t *size)
{
    world w = open_arm(with_canceller, HN_REDUCTION_REDUCED, false);
    hn_simulation_def run = hn_simulation_def_default();
    hn_simulation_destroy(w.simulation);
    w.simulation = NULL;
    run.step_size = 5e-3;
    run.scheme = scheme;
    run.step_tolerance = step_tolerance;
    stop = (canceller){.context = w.context};
    hn_status status = hn_simulation_create(w.model, &run, &w.simulation);
    int stops = 0;
    *size = 0;
    if (status != HN_OK) CHECK(status == HN_INVALID_MODEL || status == HN_INVALID_ARGUMENT);
    stop.calls = 0;
    stop.moment = moment;
    while (status == HN_OK && hn_simulation_step_count(w.simulation) < CANCELLED_STEPS) {
        hn_status one = hn_simulation_step(w.simulation, 1);
        if (one == HN_CANCELLED) stops++;
        else CHECK_OK(w.context, one);
    }
    if (status == HN_OK) {
        *size = hn_simulation_snapshot_size(w.simulation);
        CHECK(*size <= ANY_SNAPSHOT);
        CHECK_OK(w.context, hn_simulation_save(w.simulation, bytes, *size));
    }
    close_arm(&w);
    return stops;
}

// One cancel at each of up to `moments_max` calls of the law. Does the scheme take drives, and the tolerance?
static bool check_cancels(hn_scheme scheme, double step_tolerance, int moments_max)
{
    static unsigned char whole[ANY_SNAPSHOT], stopped[ANY_SNAPSHOT];
    size_t size, other;
    CHECK_EQUAL(cancelled_run(scheme, step_tolerance, 0, whole, &size), 0);
    if (size == 0) return false;
    int count = stop.calls, differing = 0, moments = 0, stops = 0;
    for (int moment = 1; moment <= count; moment += 1 + count / moments_max) {
        stops += cancelled_run(scheme, step_tolerance, moment, stopped, &other);
        moments++;
        CHECK_EQUAL((int)other, (int)size);
        differing += memcmp(whole, stopped, size) != 0;
    }
    if (getenv("HN_TEST_VERBOSE") != NULL)
        printf("%s, step tolerance %g: %d calls of the law, %d moments, %d stops, %d differ\n",
               hn_scheme_name(scheme), step_tolerance, count, moments, stops, differing);
    CHECK_EQUAL(differing, 0);
    CHECK(stops <= moments && stops >= 0.9 * moments); // after the last step no one asks
    return true;
}

TEST(cancels, at_any_call_of_a_law_leave_the_state_that_the_run_would_have_had)
{
    int schemes = 0, controlled = 0;
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        schemes += check_cancels((hn_scheme)scheme, 0.0, 400);
        controlled += check_cancels((hn_scheme)scheme, 1e-7, 60);
    }
    CHECK(schemes >= 3);
    CHECK(controlled >= 2);
}

// ---- a controller ---------------------------------------------------------------------------------------------

typedef struct record {
    int calls;
    double last_time;
    hn_status answer;
} record;

static hn_status hold_arm(hn_simulation *simulation, const hn_control *control, void *user)
{
    record *r = user;
    CHECK(control->time == hn_simulation_time(simulation));
    CHECK_EQUAL(control->coordinate_count, 2);
    r->calls++;
    r->last_time = control->time;
    for (int k = 0; k < 2; ++k)
        control->efforts[k] = -30.0 * control->coordinates[k] - 2.0 * control->rates[k];
    return r->answer;
}

TEST(controllers, are_called_before_every_step)
{
    world one = open_arm(NULL, HN_REDUCTION_REDUCED, true),
          two = open_arm(NULL, HN_REDUCTION_REDUCED, true);
    record r = {.answer = HN_OK};
    hn_view x[2], v;
    hn_input effort;
    CHECK_OK(one.context, hn_simulation_set_controller(one.simulation, hold_arm, &r));
    CHECK_OK(one.context, hn_simulation_view(one.simulation, "joints/coordinates", &x[0]));
    CHECK_OK(two.context, hn_simulation_view(two.simulation, "joints/coordinates", &x[1]));
    CHECK_OK(two.context, hn_simulation_view(two.simulation, "joints/rates", &v));
    CHECK_OK(two.context, hn_simulation_input(two.simulation, "joints/effort", &effort));
    CHECK_OK(one.context, hn_simulation_step(one.simulation, 100));
    for (int i = 0; i < 100; ++i) {
        for (int k = 0; k < 2; ++k) effort.data[k] = -30.0 * x[1].data[k] - 2.0 * v.data[k];
        CHECK_OK(two.context, hn_simulation_step(two.simulation, 1));
    }
    CHECK_EQUAL(r.calls, 100);
    CHECK(fabs(r.last_time - 99 * 5e-3) < 1e-12);
    for (int k = 0; k < 2; ++k) CHECK(x[0].data[k] == x[1].data[k]); // bit for bit
    // what it says is handed on, before the step
    r.answer = HN_NOT_FINITE;
    CHECK_STATUS(one.context, hn_simulation_step(one.simulation, 5), HN_NOT_FINITE);
    CHECK_EQUAL(hn_simulation_step_count(one.simulation), 100);
    CHECK_EQUAL(r.calls, 101);
    close_arm(&one);
    close_arm(&two);
}

// ---- drives that are changed ------------------------------------------------------------------------------------

static void soft_servo(hn_drive_def *def, int place)
{
    *def = hn_drive_def_default(place == 0 ? HN_DRIVE_SERVO : HN_DRIVE_SPRING);
    def->proportional = place == 0 ? 20.0 : 0.0;
    def->derivative = place == 0 ? 1.0 : 0.0;
    def->stiffness = place == 0 ? 0.0 : 5.0;
    def->function.kind = HN_PROFILE_CONSTANT;
    def->scale = 0.3;
}

TEST(drives, can_be_changed_between_steps)
{
    world w = {.context = hn_context_create(NULL)}, other = {.context = hn_context_create(NULL)};
    world *both[2] = {&w, &other};
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(both[i]->context,
                 hn_model_parse(both[i]->context, ARM, strlen(ARM), "arm", &both[i]->model));
        for (int k = 0; k < 2; ++k) {
            hn_drive_id drive;
            hn_drive_def def;
            soft_servo(&def, k);
            def.joint = hn_model_joint(both[i]->model, k);
            if (i == 1 && k == 0) def.proportional = 60.0, def.derivative = 3.0;
            if (i == 1 && k == 1) def.stiffness = 9.0, def.rest = 0.2;
            CHECK_OK(both[i]->context, hn_model_add_drive(both[i]->model, &def, &drive));
        }
        hn_simulation_def run = hn_simulation_def_default();
        run.step_size = 2e-3;
        CHECK_OK(both[i]->context,
                 hn_simulation_create(both[i]->model, &run, &both[i]->simulation));
    }
    hn_view x[2];
    CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/coordinates", &x[0]));
    CHECK_OK(other.context, hn_simulation_view(other.simulation, "joints/coordinates", &x[1]));
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 0, "proportional", 60.0));
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 0, "derivative", 3.0));
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 1, "stiffness", 9.0));
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 1, "rest", 0.2));
    CHECK_OK(w.context, hn_simulation_step(w.simulation, 200));
    CHECK_OK(other.context, hn_simulation_step(other.simulation, 200));
    double apart = fmax(fabs(x[0].data[0] - x[1].data[0]), fabs(x[0].data[1] - x[1].data[1]));
    CHECK(apart == 0.0); // as if they had been made so
    // later on: what the spring then holds more or less is work, and the balance closes
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 1, "stiffness", 30.0));
    CHECK_OK(w.context, hn_simulation_set_drive(w.simulation, 0, "proportional", 10.0));
    CHECK_OK(w.context, hn_simulation_step(w.simulation, 200));
    CHECK_OK(other.context, hn_simulation_step(other.simulation, 200));
    CHECK(fabs(x[0].data[1] - x[1].data[1]) > 1e-3);
    // what the springs hold_arm more is work, so that the balance closes
    hn_ledger ledger;
    CHECK_OK(w.context, hn_simulation_ledger(w.simulation, &ledger));
    CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 3e-13); // relative; measured 3.7e-15
    CHECK_STATUS(w.context, hn_simulation_set_drive(w.simulation, 0, "speed", 1.0),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(w.context, hn_simulation_set_drive(w.simulation, 0, "limit", -1.0),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(w.context, hn_simulation_set_drive(w.simulation, 0, "stiffness", HUGE_VAL),
                 HN_INVALID_ARGUMENT);
    CHECK_STATUS(w.context, hn_simulation_set_drive(w.simulation, 2, "limit", 1.0),
                 HN_INVALID_ARGUMENT);
    close_arm(&w);
    close_arm(&other);
}

// ---- words of drives --------------------------------------------------------------------------------

static const char *const DRIVE_WORDS[] = {"proportional", "derivative", "integral",
                                          "limit",        "stall",      "no_load",
                                          "stiffness",    "damping",    "rest"};
enum { DRIVE_WORD_COUNT = sizeof DRIVE_WORDS / sizeof DRIVE_WORDS[0] };

typedef struct drive_case {
    const char *text;
    const char *words; ///< that it has, each between spaces
    const char *list;  ///< as a message says it
} drive_case;

static const drive_case DRIVE_CASES[] = {
    {"effort: {joint: joint1, value: 1}", " ", "there is none"},
    {"servo: {joint: joint1, target: 0.3, proportional: 3, derivative: 1, integral: 1}",
     " proportional derivative integral limit ",
     "there are proportional, derivative, integral and limit"},
    {"motor: {joint: joint1, stall: 2, no_load: 5}", " stall no_load ",
     "there are stall and no_load"},
    {"spring: {joint: joint1, stiffness: 2, damping: 0.1}", " stiffness damping rest ",
     "there are stiffness, damping and rest"},
    {"stop: {joint: joint1, lower: -1, upper: 1, stiffness: 100}", " stiffness damping ",
     "there are stiffness and damping"},
    {"stop: {joint: joint1, lower: -1, upper: 1, restitution: 0.5}", " ", "(rigid stop)"},
    {"motion: {joint: joint1, value: 0.1*t^2}", " ", "there is none"},
    {"friction: {joint: joint1, effort: 0.1}", " ", "there is none"},
    {"latch: {joint: joint1, value: 1}", " ", "there is none"},
};

TEST(drives, take_only_the_words_that_they_have)
{
    for (size_t i = 0; i < sizeof DRIVE_CASES / sizeof DRIVE_CASES[0]; ++i) {
        const drive_case *c = &DRIVE_CASES[i];
        char text[1000];
        snprintf(text, sizeof text,
                 "holonom: 1\nbodies: {a: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, left: [0, "
                 "0, 0]}}\njoints: {joint1: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: "
                 "y}}}\ndrives: {it: {%s}}\n",
                 c->text);
        world w = {.context = hn_context_create(NULL)};
        CHECK_OK(w.context, hn_model_parse(w.context, text, strlen(text), "drive", &w.model));
        hn_simulation_def run = hn_simulation_def_default();
        run.step_size = 1e-2;
        CHECK_OK(w.context, hn_simulation_create(w.model, &run, &w.simulation));
        for (int k = 0; k < DRIVE_WORD_COUNT; ++k) {
            char word[40];
            snprintf(word, sizeof word, " %s ", DRIVE_WORDS[k]);
            hn_status status = hn_simulation_set_drive(w.simulation, 0, DRIVE_WORDS[k], 7.0);
            if (strstr(c->words, word) != NULL) {
                CHECK_OK(w.context, status);
                continue;
            }
            CHECK_STATUS(w.context, status, HN_INVALID_ARGUMENT);
            CHECK_CONTAINS(hn_context_message(w.context), "drive 'it' (");
            CHECK_CONTAINS(hn_context_message(w.context), c->list);
        }
        close_arm(&w);
    }
}
