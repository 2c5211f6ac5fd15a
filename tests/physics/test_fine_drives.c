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
    CHECK_BELOW(worst, 1e-6); // measured 1.7e-7: a servo feels its own way
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

// ---- barriers of tables ---------------------------------------------------------------------------------------

#define DETENT                                                                                     \
    "{displacements: [0, 0.1, 0.105, 0.11, 0.115, 0.12, 1], efforts: [0, 0, 1000, 0, -1000, 0, "   \
    "0]}"

typedef struct went {
    double place, rate;
    int64_t halved;
    int named;
} went;

static void listen_for_tables(const char *line, void *user)
{
    if (strstr(line, "table between which") != NULL) ++*(int *)user;
}

static went go(const char *text, hn_scheme scheme, double step, double tolerance, double end)
{
    went w = {0};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_context_set_log(context, listen_for_tables, &w.named);
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = step;
    def.step_tolerance = tolerance;
    CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
    CHECK_OK(context, hn_simulation_step(simulation, (int64_t)(end / step + 0.5)));
    hn_drive_state state;
    CHECK_OK(context, hn_simulation_drive(simulation, 0, &state));
    hn_view rates;
    CHECK_OK(context, hn_simulation_view(simulation, "joints/rates", &rates));
    w.place = state.coordinate;
    w.rate = rates.data[rates.shape[0] - 1];
    w.halved = hn_simulation_statistics(simulation).halved_step_count;
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return w;
}

static void detent_text(char *text, bool turns, double rate)
{
    snprintf(text, TEXT_SIZE,
             "holonom: 1\ngravity: [0, 0, 0]\n"
             "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
             "joints: {j: {%s: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
             "drives: {k: {spring: {joint: j, table: " DETENT "}}}\n"
             "start: {j: {rate: %g}}\n",
             turns ? "revolute" : "prismatic", rate);
}

// 5 J high and 20 mm wide. A body with 0.5 J turns back in half a period on its slope of 2e5 N/m, at every step.
TEST(barriers, of_tables_turn_back_what_cannot_pass)
{
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_ENERGY_DECAYING, HN_SCHEME_CONVECTED};
    static const double STEPS_LONG[] = {0.05, 0.02, 0.01, 0.004};
    const double back = 0.1 - (0.1 - PI / sqrt(2e5));
    double worst_place = 0.0, worst_rate = 0.0;
    for (int turns = 0; turns < 2; ++turns)
        for (size_t scheme = 0; scheme < 4; ++scheme)
            for (size_t k = 0; k < 8; ++k) {
                char text[TEXT_SIZE];
                bool controlled = k >= 4;
                if (controlled && SCHEMES[scheme] == HN_SCHEME_CONVECTED) continue; // takes none
                detent_text(text, turns == 1, 1.0);
                went w = go(text, SCHEMES[scheme], STEPS_LONG[k % 4], controlled ? 1e-4 : 0.0, 0.2);
                worst_place = fmax(worst_place, fabs(w.place - back));
                worst_rate = fmax(worst_rate, fabs(w.rate + 1.0));
                CHECK_EQUAL(w.named, 0);
            }
    MEASURED(worst_place);
    CHECK_BELOW(worst_place, 0.01); // m, rad of a way of 0.2; measured 7.1e-3, at 50 ms
    CHECK_BELOW(worst_rate, 1e-6);  // measured 2.2e-7, of `energy-decaying`
}

// With 8 J it passes, and goes on as fast.
TEST(barriers, of_tables_let_pass_what_can)
{
    char text[TEXT_SIZE];
    detent_text(text, false, 4.0);
    went fine = go(text, HN_SCHEME_ENERGY_MOMENTUM, 1e-5, 0.0, 0.1);
    for (int k = 0; k < 3; ++k) {
        went w = go(text, HN_SCHEME_ENERGY_MOMENTUM,
                    k == 0   ? 0.02
                    : k == 1 ? 0.01
                             : 0.005,
                    0.0, 0.1);
        CHECK_NEAR(w.rate, 4.0, 1e-9);
        double off = fabs(w.place - fine.place);
        MEASURED(off);
        CHECK_BELOW(off, 2e-3); // m; measured 1.6e-4
        CHECK(w.halved > 0);
        CHECK_EQUAL(w.named, 0);
    }
}

// Between two cars of 1 and 3 kg it is the reduced mass that counts: 0.75 kg at 1 m/s turn back, at 4 m/s they pass.
TEST(barriers, of_tables_know_what_moves_with_the_coordinate)
{
    for (int fast = 0; fast < 2; ++fast) {
        char text[TEXT_SIZE];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  a: {mass: 3, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
                 "  b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"
                 "joints:\n"
                 "  rail: {prismatic: {bodies: [ground, a], at: [0, 0, 0], axis: x}}\n"
                 "  j: {prismatic: {bodies: [a, b], at: [1, 0, 0], axis: x}}\n"
                 "drives: {k: {spring: {joint: j, table: " DETENT "}}}\n"
                 "start: {j: {rate: %g}}\n",
                 fast ? 4.0 : 1.0);
        went w = go(text, HN_SCHEME_ENERGY_MOMENTUM, 0.02, 0.0, 0.2);
        CHECK_NEAR(w.rate, fast ? 4.0 : -1.0, 1e-9);
    }
}

// Schemes whose steps are all alike say it, once; a fine table of a soft spring is none, and what a motion leads goes
// on.
TEST(barriers, that_no_halves_resolve_are_named)
{
    char text[TEXT_SIZE];
    detent_text(text, false, 1.0);
    CHECK_EQUAL(go(text, HN_SCHEME_VARIATIONAL, 0.02, 0.0, 0.2).named, 1);
    CHECK_EQUAL(go(text, HN_SCHEME_RATTLE, 0.02, 0.0, 0.2).named, 1);
    CHECK_EQUAL(go(text, HN_SCHEME_VARIATIONAL, 1e-4, 0.0, 0.2).named, 0);

    char table[TEXT_SIZE], soft[2 * TEXT_SIZE];
    int places = 0, efforts = 0;
    char x[400], f[400];
    for (int k = -20; k <= 20; ++k) {
        places +=
            snprintf(x + places, sizeof x - (size_t)places, "%s%g", k > -20 ? ", " : "", 0.05 * k);
        efforts +=
            snprintf(f + efforts, sizeof f - (size_t)efforts, "%s%g", k > -20 ? ", " : "", 0.2 * k);
    }
    snprintf(table, sizeof table, "{displacements: [%s], efforts: [%s]}", x, f);
    snprintf(soft, sizeof soft,
             "holonom: 1\ngravity: [0, 0, 0]\n"
             "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
             "joints: {j: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
             "drives: {k: {spring: {joint: j, table: %s}}}\nstart: {j: {rate: 1.8}}\n",
             table);
    for (int k = 0; k < 2;
         ++k) { // 2 rad/s, in steps of h omega = 0.2: two points of the table in each
        went w = go(soft, k ? HN_SCHEME_VARIATIONAL : HN_SCHEME_ENERGY_MOMENTUM, 0.1, 0.0, 5.0);
        CHECK_EQUAL(w.named, 0);
        CHECK_EQUAL(w.halved, 0);
        CHECK_NEAR(w.place, 0.9 * sin(10.0), 0.05); // m; the period is 0.3 % longer
    }

    char led[TEXT_SIZE];
    snprintf(led, sizeof led,
             "holonom: 1\ngravity: [0, 0, 0]\n"
             "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
             "joints: {j: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
             "drives: {k: {spring: {joint: j, table: " DETENT
             "}}, m: {motion: {joint: j, value: t}}}\n");
    went w = go(led, HN_SCHEME_ENERGY_MOMENTUM, 0.02, 0.0, 0.2);
    CHECK_NEAR(w.place, 0.2, 1e-12);
    CHECK_EQUAL(w.named, 0);
    CHECK_EQUAL(w.halved, 0);
}

// A drag of 1000 N at 1.02 m/s, nothing at 1 and 1.04, and 10 N that drive: the body stays on its slope at 1.0002 m/s.
TEST(barriers, of_dampers_hold_back_what_cannot_pass)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "joints: {j: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
        "drives:\n"
        "  k: {spring: {joint: j, damper: {rates: [0, 1, 1.02, 1.04, 5], efforts: [0, 0, 1000, 0, "
        "0]}}}\n"
        "  e: {effort: {joint: j, value: 10}}\n";
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_ENERGY_DECAYING, HN_SCHEME_CONVECTED};
    static const double LENGTHS[] = {0.04, 0.02, 0.01};
    const double place = 0.05 + 0.3 * 1.0002; // until 0.1 s, and then
    double worst_place = 0.0, worst_rate = 0.0;
    for (size_t scheme = 0; scheme < 4; ++scheme)
        for (size_t k = 0; k < 6; ++k) {
            bool controlled = k >= 3;
            if (controlled && SCHEMES[scheme] == HN_SCHEME_CONVECTED) continue; // takes none
            went w = go(TEXT, SCHEMES[scheme], LENGTHS[k % 3], controlled ? 1e-4 : 0.0, 0.4);
            worst_place = fmax(worst_place, fabs(w.place - place));
            worst_rate = fmax(worst_rate, fabs(w.rate - 1.0002));
            CHECK_EQUAL(w.named, 0);
        }
    MEASURED(worst_place);
    MEASURED(worst_rate);
    CHECK_BELOW(worst_place, 1e-7); // m of 0.35; measured 7.2e-9
    CHECK_BELOW(worst_rate, 1e-3);  // m/s; measured 2.0e-4: it rings about 1.0002
    CHECK_EQUAL(go(TEXT, HN_SCHEME_VARIATIONAL, 0.02, 0.0, 0.4).named, 1);
}
