// SPDX-License-Identifier: MIT
// Inputs and controllers that hold their values over intervals: what every scheme makes of them falls with the order of
// the scheme towards one motion.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "schemes/scheme.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INTERVALS = 25, COORDINATES = 3, FINE = 64 };
static const double INTERVAL = 0.02; // s

// A shoulder, an elbow across it and a rail at the end
static const char ARM[] =
    "holonom: 1\n"
    "bodies:\n"
    "  upper: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}\n"
    "  lower: {mass: 1.5, inertia: [0.1, 0.15, 0.15], position: [1.45, 0, 0]}\n"
    "  tool: {mass: 0.5, inertia: [0.01, 0.02, 0.02], position: [2, 0, 0.1]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [upper, lower], at: [1, 0, 0], axis: z}}\n"
    "  rail: {prismatic: {bodies: [lower, tool], at: [2, 0, 0.1], axis: [1, 0, 1]}}\n"
    "start: {shoulder: {rate: 1}, elbow: {rate: -2}, rail: {rate: 0.5}}\n";

typedef enum told { BY_INPUTS, BY_CONTROLLER } told;

// Proportional and by the rate, of what it saw at the begin of the interval
typedef struct sampled {
    int parts, calls;
    double efforts[COORDINATES];
} sampled;

static hn_status control(hn_simulation *simulation, const hn_control *c, void *user)
{
    static const double stiffness[COORDINATES] = {60.0, 25.0, 40.0},
                        damping[COORDINATES] = {6.0, 2.0, 2.0},
                        targets[COORDINATES] = {0.4, -0.3, 0.1};
    sampled *s = user;
    (void)simulation;
    if (s->calls++ % s->parts == 0)
        for (int k = 0; k < COORDINATES; ++k)
            s->efforts[k] =
                stiffness[k] * (targets[k] - c->coordinates[k]) - damping[k] * c->rates[k];
    for (int k = 0; k < COORDINATES; ++k) c->efforts[k] = s->efforts[k];
    return HN_OK;
}

static void set_inputs(driven_run *r, int interval)
{
    hn_input efforts, force, torque;
    CHECK_OK(r->context, hn_simulation_input(r->simulation, "joints/effort", &efforts));
    CHECK_OK(r->context, hn_simulation_input(r->simulation, "bodies/force", &force));
    CHECK_OK(r->context, hn_simulation_input(r->simulation, "bodies/torque", &torque));
    for (int k = 0; k < COORDINATES; ++k) efforts.data[k] = 12.0 * sin(1.7 * interval + k);
    for (int k = 0; k < 9; ++k) {
        force.data[k] = 4.0 * cos(2.3 * interval + 0.7 * k);
        torque.data[k] = 2.0 * cos(1.1 * interval + 1.3 * k);
    }
}

static void run_told(hn_scheme scheme, told how, int parts, double *end)
{
    driven_run r = {.context = hn_context_create(NULL)};
    CHECK_OK(r.context, hn_model_parse(r.context, ARM, strlen(ARM), "model", &r.model));
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = INTERVAL / parts;
    def.ledger = false;
    def.inputs = true;
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
    sampled s = {.parts = parts};
    if (how == BY_CONTROLLER)
        CHECK_OK(r.context, hn_simulation_set_controller(r.simulation, control, &s));
    for (int i = 0; i < INTERVALS; ++i) {
        if (how == BY_INPUTS) set_inputs(&r, i);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, parts));
    }
    hn_view coordinates;
    CHECK_OK(r.context, hn_simulation_view(r.simulation, "joints/coordinates", &coordinates));
    memcpy(end, coordinates.data, COORDINATES * sizeof(double));
    end_run(&r);
}

static double off_by(const double *a, const double *b)
{
    double worst = 0.0;
    for (int k = 0; k < COORDINATES; ++k) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

// Errors at 1/16 and 1/32 of an interval against `energy-momentum` at 1/256, extrapolated from 1/128
TEST(input_orders, are_those_of_the_schemes)
{
    for (int how = 0; how < 2; ++how) {
        double exact[COORDINATES], coarser[COORDINATES];
        run_told(HN_SCHEME_ENERGY_MOMENTUM, (told)how, 4 * FINE, exact);
        run_told(HN_SCHEME_ENERGY_MOMENTUM, (told)how, 2 * FINE, coarser);
        for (int k = 0; k < COORDINATES; ++k) exact[k] += (exact[k] - coarser[k]) / 3.0;
        for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
            double end[COORDINATES], errors[2];
            if (k == HN_SCHEME_PROJECTED_RK) continue; // has no inputs
            for (int fine = 0; fine < 2; ++fine) {
                run_told((hn_scheme)k, (told)how, fine ? 32 : 16, end);
                errors[fine] = off_by(end, exact);
            }
            double ratio = errors[0] / errors[1];
            MEASURED(ratio);
            bool first = scheme_type_of((hn_scheme)k)->first_order;
            CHECK_NEAR(ratio, first ? 2.0 : 4.0,
                       first ? 0.1 : 0.5);               // measured 1.99 to 2.04; 3.97 to 4.32
            CHECK_BELOW(errors[1], first ? 5e-3 : 5e-6); // m, rad; measured 2.1e-3 and 2.1e-6
        }
    }
}

// A state that is set goes on by the inputs that are set, not by those of the steps before.
TEST(input_orders, states_that_are_set_know_the_inputs_that_are)
{
    const double places[COORDINATES] = {0.3, -0.2, 0.05}, rates[COORDINATES] = {0.5, 1.0, -0.3};
    double worst = 0.0;
    for (int k = 0; k < HN_SCHEME_COUNT; ++k) {
        double ends[2][COORDINATES];
        if (k == HN_SCHEME_PROJECTED_RK) continue;
        for (int before = 0; before < 2; ++before) {
            driven_run r = {.context = hn_context_create(NULL)};
            CHECK_OK(r.context, hn_model_parse(r.context, ARM, strlen(ARM), "model", &r.model));
            hn_simulation_def def = hn_simulation_def_default();
            def.scheme = (hn_scheme)k;
            def.step_size = 1e-3;
            def.inputs = true;
            CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
            if (before) {
                set_inputs(&r, 3);
                CHECK_OK(r.context, hn_simulation_step(r.simulation, 7));
            }
            set_inputs(&r, 8);
            CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, places, rates, COORDINATES));
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 10));
            hn_view coordinates;
            CHECK_OK(r.context,
                     hn_simulation_view(r.simulation, "joints/coordinates", &coordinates));
            memcpy(ends[before], coordinates.data, sizeof ends[before]);
            end_run(&r);
        }
        worst = fmax(worst, off_by(ends[0], ends[1]));
    }
    MEASURED(worst);
    CHECK_BELOW(worst, 1e-15); // m, rad; measured 8.3e-17
}

static void count_order(const char *line, void *user)
{
    if (strstr(line, "is of first order: what inputs and controllers do") != NULL) ++*(int *)user;
}

TEST(input_orders, of_one_are_named_with_inputs)
{
    for (int k = 0; k < 2 * HN_SCHEME_COUNT; ++k) {
        int lines = 0;
        hn_scheme scheme = (hn_scheme)(k / 2);
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_simulation *simulation = NULL;
        hn_context_set_log(context, count_order, &lines);
        CHECK_OK(context, hn_model_parse(context, ARM, strlen(ARM), "model", &model));
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = scheme;
        def.step_size = 1e-3;
        def.inputs = k % 2 == 1 && scheme != HN_SCHEME_PROJECTED_RK;
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        CHECK_EQUAL(lines, def.inputs && scheme_type_of(scheme)->first_order);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

// ---- states that cannot be ------------------------------------------------------------------------------------

typedef struct wrong_state {
    const char *drive;
    double place, rate;
    const char *message; // NULL: it can be
} wrong_state;

TEST(states, beyond_stops_latches_and_motions_are_refused_by_name)
{
    static const wrong_state STATES[] = {
        {"{stop: {joint: j, lower: -0.5, upper: 0.5, restitution: 0.5}}", 2.0, 1.0,
         "drive 'd': joint 'j' would be at 2 rad, beyond its stop; expected -0.5 to 0.5"},
        {"{stop: {joint: j, lower: -0.5, upper: 0.5, restitution: 0.5}}", -0.6, 0.0,
         "beyond its stop"},
        {"{stop: {joint: j, lower: -0.5, upper: 0.5, restitution: 0.5}}", 6.0, 0.0,
         "beyond its stop"},
        {"{stop: {joint: j, lower: -0.5, upper: 0.5, restitution: 0.5}}", 0.5, 1.0, NULL},
        {"{stop: {joint: j, lower: -0.5, upper: 0.5, stiffness: 1000}}", 0.6, 1.0, NULL},
        {"{latch: {joint: j, value: 0.5}}", 0.5, 1.0,
         "drive 'd': joint 'j' would be at 0.5 rad, where the latch locks"},
        {"{latch: {joint: j, value: 0.5}}", 0.7, 1.0, NULL},
        {"{motion: {joint: j, value: 'sin(t)'}}", 0.3, 1.0,
         "drive 'd': joint 'j' would be 0.29000016"},
        {"{motion: {joint: j, value: 'sin(t)'}}", 0.0099998333341666645, 1.0, NULL}};
    for (size_t k = 0; k < sizeof STATES / sizeof STATES[0]; ++k) {
        const wrong_state *x = &STATES[k];
        char text[800];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\n"
                 "bodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, -0.2]}}\n"
                 "joints: {j: {revolute: {bodies: [ground, b], at: [0, 0, 0], axis: y}}}\n"
                 "drives: {d: %s}\n",
                 x->drive);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        hn_view place;
        CHECK_OK(r.context, hn_simulation_view(r.simulation, "joints/coordinates", &place));
        double before = place.data[0];
        hn_status status = hn_simulation_set_joints(r.simulation, &x->place, &x->rate, 1);
        CHECK_EQUAL(status, x->message == NULL ? HN_OK : HN_INVALID_ARGUMENT);
        if (x->message != NULL) {
            CHECK_CONTAINS(hn_context_message(r.context), x->message);
            CHECK(place.data[0] == before);
        }
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        end_run(&r);
    }
}

// Locked, it stays so when the state is set again, and holds.
TEST(states, of_locked_latches_stay_locked)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, -0.2]}}\n"
        "joints: {j: {revolute: {bodies: [ground, b], at: [0, 0, 0], axis: y}}}\n"
        "drives: {d: {latch: {joint: j, value: 0.5}}}\nstart: {j: {rate: 9}}\n";
    driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 20));
    const double still = 0.0, moves = 1.0;
    hn_view place;
    CHECK_OK(r.context, hn_simulation_view(r.simulation, "joints/coordinates", &place));
    CHECK_NEAR(place.data[0], 0.5, 1e-12);
    CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, NULL, &still, 1));
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 50));
    CHECK_NEAR(place.data[0], 0.5, 1e-12);
    CHECK_STATUS(r.context, hn_simulation_set_joints(r.simulation, NULL, &moves, 1),
                 HN_INVALID_ARGUMENT);
    end_run(&r);
}
