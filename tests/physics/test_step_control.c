// SPDX-License-Identifier: MIT
// Steps that vary by accuracy, under schemes that keep energy and momenta in steps of any size.
#include "support/check.h"

#include <holonom/holonom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct world {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} world;

static world open_world(const char *text, const hn_simulation_def *def)
{
    world w = {.context = hn_context_create(NULL)};
    CHECK_OK(w.context, hn_model_parse(w.context, text, strlen(text), "model", &w.model));
    CHECK_OK(w.context, hn_simulation_create(w.model, def, &w.simulation));
    return w;
}

static void close_world(world *w)
{
    hn_simulation_destroy(w->simulation);
    hn_model_destroy(w->model);
    hn_context_destroy(w->context);
}

static hn_simulation_def settings(hn_scheme scheme, double step, double tolerance)
{
    hn_simulation_def def = hn_simulation_def_default();
    def.scheme = scheme;
    def.step_size = step;
    def.step_tolerance = tolerance;
    return def;
}

// ---- a stiff spring that is hit ---------------------------------------------------------------------------------

static const double GRAVITY = 9.81, STIFFNESS = 1e6, FALL = 1.0;

static const char BALL[] =
    "holonom: 1\ngravity: [0, 0, -9.81]\n"
    "bodies: {ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0]}}\n"
    "joints: {rail: {prismatic: {bodies: [ground, ball], at: [0, 0, 0], axis: z}}}\n"
    "drives: {floor: {stop: {joint: rail, lower: -1, stiffness: 1e6}}}\n";

// Height at a time: parabolas, and arcs of an oscillation about where the spring carries the weight.
static double height_of_ball(double time)
{
    double omega = sqrt(STIFFNESS), sag = GRAVITY / STIFFNESS, speed = sqrt(2.0 * GRAVITY * FALL);
    double fall = sqrt(2.0 * FALL / GRAVITY);
    // below the floor y = sag + ..., entered at y = 0 with the speed: the phase where it is left again
    double contact = 2.0 * (PI - atan2(speed / omega, sag)) / omega;
    double period = 2.0 * fall + contact, t = fmod(time, period);
    if (t > fall + contact) t = period - t;
    if (t < fall) return -0.5 * GRAVITY * t * t;
    double s = t - fall;
    return -FALL - (sag * (1.0 - cos(omega * s)) + speed / omega * sin(omega * s));
}

typedef struct outcome {
    double error, energy, ratio;
    int64_t steps, rejected, iterations;
} outcome;

static outcome outcome_of(const world *w, double error)
{
    hn_ledger ledger;
    CHECK_OK(w->context, hn_simulation_ledger(w->simulation, &ledger));
    hn_adaptive_statistics a = hn_simulation_adaptive_statistics(w->simulation);
    return (outcome){.error = error,
                     .energy = ledger.entry[HN_PROMISE_ENERGY].error,
                     .ratio = a.largest_step / a.smallest_step,
                     .steps = a.accepted_step_count,
                     .rejected = a.rejected_step_count,
                     .iterations = hn_simulation_statistics(w->simulation).newton_iteration_count};
}

// The ball for 4.5 s, five bounces: how far it is from where it should be at the worst.
static outcome bounce(double step, double tolerance)
{
    hn_simulation_def def = settings(HN_SCHEME_ENERGY_MOMENTUM, step, tolerance);
    world w = open_world(BALL, &def);
    hn_view z;
    double error = 0.0;
    CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/coordinates", &z));
    for (int i = 0; i < (int)lround(4.5 / step); ++i) {
        CHECK_OK(w.context, hn_simulation_step(w.simulation, 1));
        error = fmax(error, fabs(z.data[0] - height_of_ball(hn_simulation_time(w.simulation))));
    }
    outcome o = outcome_of(&w, error);
    close_world(&w);
    return o;
}

TEST(step_control, a_stiff_spring_that_is_hit)
{
    outcome coarse = bounce(0.02, 1e-5), fine = bounce(0.02, 1e-7), fixed = bounce(2e-4, 0.0);
    CHECK_BELOW(coarse.error, 3e-4);                      // m; measured 1.2e-4
    CHECK_BELOW(fine.error, 1e-5);                        // m; measured 4.4e-6
    CHECK_BELOW(fmax(coarse.energy, fine.energy), 1e-11); // relative; measured 2.6e-13
    CHECK(coarse.ratio > 100.0 && fine.ratio > 1000.0);   // measured 490, 2800
    // less than half the error of steps of one size at a twentieth of the work; measured 1/25
    CHECK(coarse.error < fixed.error && 20 * coarse.iterations < fixed.iterations);
    MEASURED(coarse.error);
    MEASURED(fixed.error);
    MEASURED((double)coarse.iterations);
    MEASURED((double)fixed.iterations);
}

// Falls of 0.1 m on an elastic floor, whose contacts take (2 pi - 2 atan(v w/g))/w: inner steps that fail are made
// shorter, however stiff it is.
TEST(step_control, floors_of_any_stiffness)
{
    static const double FLOORS[] = {1e5, 1e7, 1e8, 1e9, 1e11};
    const double g = 10.0, drop = 0.1, speed = sqrt(2.0 * g * drop);
    double worst = 0.0;
    for (int k = 0; k < 30; ++k) {
        double stiffness = FLOORS[k % 5], tolerance = k % 15 < 5 ? 1e-3 : k % 15 < 10 ? 1e-4 : 1e-6;
        char text[600];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [-10, 0, 0]\n"
                 "bodies: {b: {mass: 1, inertia: [0.0017, 0.0017, 0.0017], position: [0, 0, 0]}}\n"
                 "joints: {j: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
                 "drives: {s: {stop: {joint: j, lower: -0.1, stiffness: %g}}}\n",
                 stiffness);
        hn_simulation_def def = hn_simulation_def_default();
        def.step_size = k < 15 ? 0.01 : 0.05;
        def.step_tolerance = tolerance;
        world w = open_world(text, &def);
        CHECK_OK(w.context, hn_simulation_step(w.simulation, k < 15 ? 100 : 20));
        double omega = sqrt(stiffness),
               contact = (2.0 * PI - 2.0 * atan(speed * omega / g)) / omega, fall = speed / g,
               left = 1.0 - fall;
        while (left > contact + 2.0 * fall) left -= contact + 2.0 * fall;
        left -= contact; // in flight
        hn_view place;
        CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/coordinates", &place));
        double off = fabs(place.data[0] + drop - speed * left + 0.5 * g * left * left);
        if (tolerance == 1e-6) worst = fmax(worst, off);
        CHECK_BELOW(off, 0.02); // m of 0.1; measured 0.013 at 1e-3
        close_world(&w);
    }
    MEASURED(worst);
    CHECK_BELOW(worst, 1e-3); // m, of a tolerance of 1e-6; measured 3.1e-4
}

// ---- the whip of a chain ----------------------------------------------------------------------------------------

enum { LINKS = 8 };

// Links that become lighter, standing on each other and a little bent: slow at first, a whip in the end.
static const char *whip(void)
{
    static char text[4096];
    int length = snprintf(text, sizeof text, "holonom: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
    double ends[LINKS + 1][2] = {{0.0, 0.0}};
    for (int k = 0; k < LINKS; ++k) {
        double angle = 1e-3 * (k + 1), mass = 0.1 * pow(0.5, k), x = 0.1 * sin(angle),
               z = 0.1 * cos(angle);
        ends[k + 1][0] = ends[k][0] + x, ends[k + 1][1] = ends[k][1] + z;
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "  l%d: {mass: %.17g, inertia: [%.17g, %.17g, %.17g], "
                           "position: [%.17g, 0, %.17g]}\n",
                           k, mass, mass * 8e-4, mass * 8e-4, mass * 8e-4, ends[k][0] + 0.5 * x,
                           ends[k][1] + 0.5 * z);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "joints:\n");
    for (int k = 0; k < LINKS; ++k) {
        char before[8] = "ground";
        if (k > 0) snprintf(before, sizeof before, "l%d", k - 1);
        length +=
            snprintf(text + length, sizeof text - (size_t)length,
                     "  j%d: {revolute: {bodies: [%s, l%d], at: [%.17g, 0, %.17g], axis: y}}\n", k,
                     before, k, ends[k][0], ends[k][1]);
    }
    return text;
}

static outcome crack(const hn_simulation_def *def)
{
    world w = open_world(whip(), def);
    CHECK_OK(w.context, hn_simulation_step(w.simulation, 18));
    outcome o = outcome_of(&w, 0.0);
    close_world(&w);
    return o;
}

TEST(step_control, the_whip_of_a_chain)
{
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM};
    for (int k = 0; k < 2; ++k)
        for (int reduction = 0; reduction < HN_REDUCTION_COUNT; ++reduction) {
            hn_simulation_def def = settings(SCHEMES[k], 0.05, 1e-5);
            def.reduction = (hn_reduction)reduction;
            outcome o = crack(&def);
            CHECK_BELOW(o.energy, 1e-12); // relative; measured 2.2e-14
            CHECK(o.ratio > 100.0);       // measured 118
            MEASURED(o.ratio);
            MEASURED((double)o.steps);
            MEASURED((double)o.rejected);
        }
}

// ---- how errors fall --------------------------------------------------------------------------------------------

static const char ARM[] =
    "holonom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  one: {mass: 1, inertia: [0.1, 0.1, 0.001], position: [0, 0, -0.5]}\n"
    "  two: {mass: 1, inertia: [0.1, 0.1, 0.001], position: [0, 0, -1.5]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, one], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {revolute: {bodies: [one, two], at: [0, 0, -1], axis: y}}\n"
    "start: {shoulder: {rate: 3}, elbow: {rate: -9}}\n";

static void swing(const hn_simulation_def *def, double *angles)
{
    world w = open_world(ARM, def);
    hn_view x;
    CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/coordinates", &x));
    CHECK_OK(w.context, hn_simulation_step(w.simulation, 10));
    angles[0] = x.data[0], angles[1] = x.data[1];
    close_world(&w);
}

// `projected-rk`, of another family and order, at tight tolerances, is the truth.
TEST(step_control, errors_fall_with_the_tolerance)
{
    double truth[2], angles[2], errors[3] = {0.0, 0.0, 0.0};
    hn_simulation_def exact = settings(HN_SCHEME_PROJECTED_RK, 0.2, 0.0);
    exact.projected_rk.relative_tolerance = exact.projected_rk.absolute_tolerance = 1e-13;
    swing(&exact, truth);
    for (int k = 0; k < 3; ++k) {
        hn_simulation_def def = settings(HN_SCHEME_ENERGY_MOMENTUM, 0.2, pow(10.0, -7 - k));
        swing(&def, angles);
        errors[k] = fmax(fabs(angles[0] - truth[0]), fabs(angles[1] - truth[1]));
    }
    MEASURED(errors[0]);
    for (int k = 0; k < 2; ++k) {
        double order = log10(errors[k] / errors[k + 1]); // steps of second order: 2/3
        MEASURED(order);
        CHECK(order > 0.6 && order < 0.75);
    }
}

// ---- the estimate, and what it costs ------------------------------------------------------------------------------

// One inner step a nominal one: what control says of its error, against what the ledger of a run without control
// measures by finer steps.
TEST(step_control, the_estimate_is_near_what_finer_steps_say)
{
    hn_simulation_def plain = settings(HN_SCHEME_ENERGY_MOMENTUM, 2e-3, 0.0),
                      controlled = settings(HN_SCHEME_ENERGY_MOMENTUM, 2e-3, 0.5);
    world one = open_world(whip(), &plain), two = open_world(whip(), &controlled);
    double low = HUGE_VAL, high = 0.0;
    CHECK_OK(one.context, hn_simulation_step(one.simulation, 100));
    CHECK_OK(two.context, hn_simulation_step(two.simulation, 100));
    for (int i = 0; i < 30; ++i) {
        hn_ledger before[2], after[2];
        CHECK_OK(one.context, hn_simulation_ledger(one.simulation, &before[0]));
        CHECK_OK(two.context, hn_simulation_ledger(two.simulation, &before[1]));
        CHECK_OK(one.context, hn_simulation_step(one.simulation, 5));
        CHECK_OK(two.context, hn_simulation_step(two.simulation, 5));
        CHECK_OK(one.context, hn_simulation_ledger(one.simulation, &after[0]));
        CHECK_OK(two.context, hn_simulation_ledger(two.simulation, &after[1]));
        double ratio = (after[1].accuracy.relative_sum - before[1].accuracy.relative_sum) /
                       (after[0].accuracy.relative_sum - before[0].accuracy.relative_sum);
        low = fmin(low, ratio);
        high = fmax(high, ratio);
    }
    MEASURED(low);
    MEASURED(high);
    CHECK(low > 0.2 && high < 5.0);
    close_world(&one);
    close_world(&two);
}

// ---- stopped runs, refusals ---------------------------------------------------------------------------------------

TEST(step_control, goes_on_from_a_snapshot_bit_for_bit)
{
    hn_simulation_def def = settings(HN_SCHEME_ENERGY_MOMENTUM, 0.05, 1e-5);
    world one = open_world(whip(), &def), two = open_world(whip(), &def);
    size_t size = hn_simulation_snapshot_size(one.simulation);
    unsigned char *a = malloc(size), *b = malloc(size);
    CHECK(a != NULL && b != NULL);
    CHECK_OK(one.context, hn_simulation_step(one.simulation, 9));
    CHECK_OK(one.context, hn_simulation_save(one.simulation, a, size));
    CHECK_OK(two.context, hn_simulation_restore(two.simulation, a, size));
    CHECK_OK(one.context, hn_simulation_step(one.simulation, 7));
    CHECK_OK(two.context, hn_simulation_step(two.simulation, 7));
    CHECK_OK(one.context, hn_simulation_save(one.simulation, a, size));
    CHECK_OK(two.context, hn_simulation_save(two.simulation, b, size));
    CHECK(memcmp(a, b, size) == 0);
    free(a);
    free(b);
    close_world(&one);
    close_world(&two);
}

// ---- stresses that lag ------------------------------------------------------------------------------------------

// x'' = -x from x = 1 at rest; and beside it a vibration that no step resolves, 3 s^-1 and 1e3 s^-1
static const char SLOW[] = "holonom: 1\ngravity: [0, 0, 0]\n"
                           "bodies: {m: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}}\n"
                           "joints: {rail: {prismatic: {bodies: [ground, m], at: {a: [0, 0, 0], b: "
                           "[1, 0, 0]}, axis: x}}}\n"
                           "loads: {s: {spring: {bodies: [ground, m], from: [-10, 0, 0], to: [1, "
                           "0, 0], stiffness: 1, rest_length: 10}}}\n";
static const char SLOW_AND_FAST[] =
    "holonom: 1\ngravity: [0, 0, 0]\n"
    "bodies:\n"
    "  m: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
    "  f: {mass: 1, inertia: [1, 1, 1], position: [0, 1, 0]}\n"
    "joints:\n"
    "  rail: {prismatic: {bodies: [ground, m], at: [0, 0, 0], axis: x}}\n"
    "  fast: {prismatic: {bodies: [ground, f], at: [0, 1, 0], axis: x}}\n"
    "loads:\n"
    "  s: {spring: {bodies: [ground, m], from: [-10, 0, 0], to: [0, 0, 0], stiffness: 9}}\n"
    "  t: {spring: {bodies: [ground, f], from: [-0.1, 1, 0], to: [0, 1, 0], stiffness: 1e6}}\n"
    "start: {rail: {rate: 1}, fast: {rate: 1e-2}}\n";

static outcome swing_for_ten_seconds(hn_scheme scheme, double tolerance)
{
    hn_simulation_def def = settings(scheme, 0.5, tolerance);
    def.increment_tolerance = 1e-13; // the identity is to be seen to round-off
    world w = open_world(SLOW, &def);
    hn_body_state state;
    CHECK_OK(w.context, hn_simulation_step(w.simulation, 20));
    CHECK_OK(w.context,
             hn_simulation_body_state(w.simulation, hn_simulation_body(w.simulation, 0), &state));
    outcome o = outcome_of(&w, fabs(state.position.x - cos(10.0)));
    close_world(&w);
    return o;
}

// What `energy-decaying` remembers of the step before is scaled when steps grow as well (Z9): order two, and as many
// steps as `energy-momentum` takes. Errors were 4.4e-4, 2.5e-4, 3.1e-5 in 320, 1617 and 12 215 steps.
TEST(step_control, stresses_that_lag_keep_the_order)
{
    const double tolerances[] = {1e-6, 1e-8, 1e-10};
    outcome o[3], kept[3];
    for (int k = 0; k < 3; ++k) {
        o[k] = swing_for_ten_seconds(HN_SCHEME_ENERGY_DECAYING, tolerances[k]);
        kept[k] = swing_for_ten_seconds(HN_SCHEME_ENERGY_MOMENTUM, tolerances[k]);
        MEASURED(o[k].error);
        MEASURED((double)o[k].steps / (double)kept[k].steps);
        CHECK_BELOW(o[k].error, 2.0 * kept[k].error);             // measured 1.4, 1.4, 0.5
        CHECK((double)o[k].steps < 1.05 * (double)kept[k].steps); // measured 1.001
        CHECK_BELOW(o[k].energy, 2e-14);                          // relative; measured 5.4e-15
    }
    // by the power 2/3 of the tolerance or more: 21 in two decades; measured 15 and 43
    CHECK(o[1].error < o[0].error / 12.0 && o[2].error < o[1].error / 18.0);
}

// A vibration that no step resolves is damped all the same once steps have grown, and energy is lost in every step.
TEST(step_control, stresses_that_lag_damp_and_never_feed)
{
    hn_simulation_def def = settings(HN_SCHEME_ENERGY_DECAYING, 0.02, 1e-5);
    def.increment_tolerance = 1e-12;
    world w = open_world(SLOW_AND_FAST, &def);
    double gone = 0.0, least = HUGE_VAL;
    hn_ledger ledger;
    hn_view rates;
    CHECK_OK(w.context, hn_simulation_view(w.simulation, "joints/rates", &rates));
    for (int n = 0; n < 400; ++n) {
        CHECK_OK(w.context, hn_simulation_step(w.simulation, 1));
        CHECK_OK(w.context, hn_simulation_ledger(w.simulation, &ledger));
        least = fmin(least, ledger.energy_dissipated - gone);
        gone = ledger.energy_dissipated;
    }
    MEASURED(least);
    MEASURED(fabs(rates.data[1]));
    CHECK(least > 0.0);                      // J; measured 2e-8
    CHECK_BELOW(fabs(rates.data[1]), 1e-13); // m/s, of 1e-2; measured 4.6e-15
    CHECK_BELOW(ledger.entry[HN_PROMISE_ENERGY].error, 1e-11);
    outcome o = outcome_of(&w, 0.0);
    MEASURED(o.ratio);
    CHECK(o.ratio > 4.0); // steps did grow
    close_world(&w);
}

TEST(step_control, is_refused_where_promises_need_steps_of_one_size)
{
    static const hn_scheme REFUSE[] = {HN_SCHEME_VARIATIONAL, HN_SCHEME_RATTLE,
                                       HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_PROJECTED_RK,
                                       HN_SCHEME_CONVECTED};
    for (size_t k = 0; k < sizeof REFUSE / sizeof REFUSE[0]; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model = NULL;
        hn_simulation *simulation = NULL;
        hn_simulation_def def = settings(REFUSE[k], 0.01, 1e-4);
        CHECK_OK(context, hn_model_parse(context, whip(), strlen(whip()), "whip", &model));
        CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_ARGUMENT);
        CHECK(strstr(hn_context_message(context), "step_tolerance") != NULL);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
    hn_simulation_def def = settings(HN_SCHEME_ENERGY_MOMENTUM, 0.01, 1e-4);
    world w = open_world(whip(), &def);
    CHECK_STATUS(w.context, hn_simulation_reverse(w.simulation), HN_INVALID_ARGUMENT);
    close_world(&w);
}
