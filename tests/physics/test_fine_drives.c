// SPDX-License-Identifier: MIT
// Drives whose functions of time, or whose tables over the way, change within a step: their means are integrals in
// closed form, and what no step sees is named.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "schemes/scheme.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846, STEP = 0.01;
enum { STEPS = 100, TEXT_SIZE = 1200 };

// A car of 1 kg on a rail
static void car_text(char *text, const char *drive)
{
    snprintf(
        text, TEXT_SIZE,
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {car: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "joints: {rail: {prismatic: {bodies: [ground, car], at: [0, 0, 0], axis: [1, 2, 2]}}}\n"
        "drives: {d: %s}\n",
        drive);
}

typedef struct fine_function {
    const char *text;
    double integral; // over one second
} fine_function;

// Phase 2000 of a rectangle that is 1 for the first half of each period
static double of_rectangle(void)
{
    double periods = floor(2000.0 / (2.0 * PI));
    return (periods * PI + (2000.0 - periods * 2.0 * PI)) / 2000.0;
}

TEST(fine_drives, have_their_integrals_under_every_scheme)
{
    const fine_function functions[] = {
        {"'sin(2*pi*100*t)^2'", 0.5},
        {"'1000*exp(-((t-0.5031)/1e-5)^2)'", 0.01 * sqrt(PI)},
        {"'1000*exp(-((t-0.5031)/1e-6)^2)'", 0.001 * sqrt(PI)},
        {"'sin(2000*t) > 0 ? 1 : 0'", of_rectangle()},
        {"{pulse: {start: 0.5012, peak: 0.50121, end: 0.50122}, scale: 1000}", 0.01},
        {"{table: {times: [0.5012, 0.5013, 0.5015], values: [0, 100, 0]}}", 0.015},
        {"{spline: {times: [0.5012, 0.5013, 0.5014], values: [0, 100, 0]}}", 0.01},
        {"{step: {start: 0.5012, end: 0.5014}}", 0.4987}};
    const char *const drives[] = {"{effort: {joint: rail, value: %s}}",
                                  "{motor: {joint: rail, stall: 1, no_load: 1e9, command: %s}}",
                                  "{servo: {joint: rail, proportional: 1e-6, target: %s}}"};
    const double gains[] = {1.0, 1.0, 1e-6};
    double worst = 0.0;
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        if (!scheme_type_of((hn_scheme)scheme)->takes_drives) continue;
        for (size_t k = 0; k < sizeof functions / sizeof functions[0]; ++k)
            for (int d = 0; d < 3; ++d) {
                char drive[300], text[TEXT_SIZE];
                snprintf(drive, sizeof drive, drives[d], functions[k].text);
                car_text(text, drive);
                driven_run r = begin_run(text, (hn_scheme)scheme, HN_REDUCTION_REDUCED, STEP);
                CHECK_OK(r.context, hn_simulation_step(r.simulation, STEPS));
                hn_joint_state state;
                CHECK_OK(r.context,
                         hn_simulation_joint_state(r.simulation,
                                                   hn_simulation_joint(r.simulation, 0), &state));
                double expected = gains[d] * functions[k].integral;
                worst = fmax(worst, fabs(state.rates[0] / expected - 1.0));
                end_run(&r);
            }
    }
    MEASURED(worst);
    CHECK_BELOW(worst, 1e-6); // a servo feels its own way, 1e-6 of it
}

// ---- what is named --------------------------------------------------------------------------------------------

typedef struct said {
    const char *word;
    int count;
} said;

static void listen(const char *line, void *user)
{
    said *s = user;
    char begin[64];
    snprintf(begin, sizeof begin, "drive 'd': its %s is finer than the step", s->word);
    if (strstr(line, begin) != NULL) s->count++;
}

static int times_named(const char *text, const char *word, hn_scheme scheme, double tolerance,
                       char *note)
{
    said heard = {word, 0};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context_set_log(context, listen, &heard);
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = STEP;
    def.step_tolerance = tolerance;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    CHECK_OK(context, hn_simulation_step(simulation, STEPS));
    hn_ledger ledger;
    CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
    snprintf(note, 300, "%s", ledger.entry[HN_PROMISE_ENERGY].note);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return heard.count;
}

// Once each, with the word of what it is; smooth ones and those with corners far apart are not.
TEST(fine_drives, are_named_once_by_what_they_are)
{
    static const struct {
        const char *text;
        bool fine;
    } FUNCTIONS[] = {{"'0.1*sin(200*pi*t)'", true}, // a period a step: at rest for the nodes
                     {"'0.1*sin(100*pi*t)'", true}, // half of one
                     {"'0.1*sin(1e5*t)*t^2'", true},
                     {"'0.1*abs(sin(100*pi*t))-0.1*sin(100*pi*t)'", true}, // corners at the nodes
                     {"'0.1*exp(-((t-0.5031)/1e-4)^2)'", true},
                     {"{pulse: {start: 0.5012, peak: 0.5022, end: 0.5032}, scale: 0.1}", true},
                     {"{table: {times: [0, 0.503, 0.504, 0.505], values: [0, 0, 0.1, 0]}}", true},
                     {"{spline: {times: [0, 0.503, 0.504, 0.505], values: [0, 0, 0.1, 0]}}", true},
                     {"{step: {start: 0.501, end: 0.506}, scale: 0.1}", true},
                     {"'0.1*sin(10*t)^2'", false},
                     {"'t^4'", false},
                     {"'0.1*exp(-((t-0.5)/0.1)^2)-0.1*exp(-25)'", false},
                     {"'0.1*max(0, t-0.503)'", false},
                     {"{pulse: {start: 0.3, peak: 0.52, end: 0.7}, scale: 0.1}", false},
                     {"{table: {times: [0, 0.503, 0.603, 0.7], values: [0, 0, 0.1, 0]}}", false},
                     {"{spline: {times: [0, 0.1, 0.2, 0.3], values: [0, 0.05, 0.1, 0]}}", false},
                     {"{step: {start: 0.1, end: 0.6}, scale: 0.1}", false}};
    static const struct {
        const char *drive, *word;
        bool starts_at_rest;
    } DRIVES[] = {
        {"{effort: {joint: rail, value: %s}}", "effort", false},
        {"{motor: {joint: rail, stall: 1, no_load: 5, command: %s}}", "command", false},
        {"{servo: {joint: rail, proportional: 4, derivative: 1, target: %s}}", "target", false},
        {"{motion: {joint: rail, value: %s}}", "motion", true}};
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; ++k)
        for (size_t d = 0; d < sizeof DRIVES / sizeof DRIVES[0]; ++d) {
            char drive[300], text[TEXT_SIZE], note[300];
            snprintf(drive, sizeof drive, DRIVES[d].drive, FUNCTIONS[k].text);
            car_text(text, drive);
            if (k < 2 && d == 3) { // begins with a rate
                size_t length = strlen(text);
                snprintf(text + length, TEXT_SIZE - length, "start: {rail: {rate: %.17g}}\n",
                         0.1 * PI * (k == 0 ? 200.0 : 100.0));
            }
            // pulses are no motions, and the rate of this one jumps at the start
            if (d == 3 && (k == 3 || strstr(drive, "pulse") != NULL)) continue;
            int named = times_named(text, DRIVES[d].word, HN_SCHEME_ENERGY_MOMENTUM, 0.0, note);
            if (named != FUNCTIONS[k].fine) printf("%s\n", drive);
            CHECK_EQUAL(named, FUNCTIONS[k].fine ? 1 : 0);
            CHECK((strstr(note, "drive 'd' is finer than the step") != NULL) == FUNCTIONS[k].fine);
        }
}

// Inner steps that follow a motion see it.
TEST(fine_drives, that_inner_steps_follow_are_not_named)
{
    char text[TEXT_SIZE], note[300];
    car_text(text, "{effort: {joint: rail, value: '1e4*sin(200*t)'}}");
    CHECK_EQUAL(times_named(text, "effort", HN_SCHEME_ENERGY_MOMENTUM, 0.0, note), 1);
    CHECK_EQUAL(times_named(text, "effort", HN_SCHEME_ENERGY_MOMENTUM, 1e-5, note), 0);
}
