// SPDX-License-Identifier: MIT
// Rigid stops and latches: against closed forms and minimal coordinates (tests/reference/dry_machines.py).
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "support/check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hn_joint_state joint_of(const driven_run *r, const char *name)
{
    hn_joint_state state;
    CHECK_OK(r->context,
             hn_simulation_joint_state(r->simulation, hn_model_find_joint(r->model, name), &state));
    return state;
}

// ---- a ball that bounces ----------------------------------------------------------------------------------------

static const double RESTITUTION = 0.7, FALL = 1.0, GRAVITY = 9.81;

// Height over the floor at a time: parabolas, each bounce e times as fast as the last
static double height_at(double t, double *speed)
{
    double impact = sqrt(2.0 * FALL / GRAVITY), v = GRAVITY * impact;
    if (t < impact) {
        *speed = -GRAVITY * t;
        return FALL - 0.5 * GRAVITY * t * t;
    }
    for (t -= impact;;) {
        v *= RESTITUTION;
        double flight = 2.0 * v / GRAVITY;
        if (v < 1e-9 || t < flight) break;
        t -= flight;
    }
    if (v < 1e-9) return *speed = 0.0;
    *speed = v - GRAVITY * t;
    return v * t - 0.5 * GRAVITY * t * t;
}

static const char BALL[] = "holonom: 1\n"
                           "bodies:\n"
                           "  ball: {mass: 0.3, inertia: [1, 1, 1], position: [0, 0, 1]}\n"
                           "joints:\n"
                           "  rail: {prismatic: {bodies: [ground, ball], at: [0, 0, 1], axis: z}}\n"
                           "drives:\n"
                           "  floor: {stop: {joint: rail, lower: -1, restitution: 0.7}}\n";

TEST(stops, with_restitution_bounce_as_they_should_and_come_to_rest)
{
    for (int k = 0; k < 2 * HN_REDUCTION_COUNT; ++k) {
        hn_scheme scheme = k % 2 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        driven_run r = begin_run(BALL, scheme, (hn_reduction)(k / 2), 7e-3);
        double worst = 0.0, deepest = 0.0;
        for (int i = 1; i <= 300; ++i) {
            double speed, height = height_at(7e-3 * i, &speed);
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            double x = 1.0 + joint_of(&r, "rail").coordinates[0];
            worst = fmax(worst, fabs(x - height));
            deepest = fmin(deepest, x);
        }
        // parabolas are exact and impacts located: round-off, until bounces are shorter than a step
        CHECK_BELOW(worst, 1e-12); // m; measured 2.3e-14
        CHECK(deepest > -1e-11);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 700));
        hn_energy e;
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        CHECK_NEAR(joint_of(&r, "rail").coordinates[0], -1.0, 1e-12);
        CHECK_NEAR(drive_of(&r, 0).work, -0.3 * GRAVITY * FALL, 1e-9);
        CHECK_NEAR(e.kinetic, 0.0, 1e-15);
        // it carries the weight; without restitution it would be the same
        CHECK_NEAR(drive_of(&r, 0).effort, 0.3 * GRAVITY, 1e-6);
        end_run(&r);
    }
}

// Between two stops without loss, thrown up with v: up to the upper one with u, up and down in turns of one length, the
// energy always the same. Many hits fall into a step: a tenth of a second has four at 0.5 m, 40 at 0.05 m.
TEST(stops, without_loss_keep_the_energy_however_often_they_are_hit_in_a_step)
{
    static const double GAPS[] = {0.5, 0.05};
    for (int k = 0; k < 6; ++k) {
        const double gap = GAPS[k % 2], v = 20.0, u = sqrt(v * v - 2.0 * GRAVITY * gap),
                     turn = (v - u) / GRAVITY, h = k / 2 == 1 ? 0.037 : 0.1;
        hn_scheme scheme = k / 2 == 2 ? HN_SCHEME_VARIATIONAL : HN_SCHEME_ENERGY_MOMENTUM;
        char text[500];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                 "joints: {r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {s: {stop: {joint: r, lower: 0, upper: %g, restitution: 1}}}\n"
                 "start: {r: {rate: %g}}\n",
                 gap, v);
        driven_run r = begin_run(text, scheme, HN_REDUCTION_REDUCED, h);
        double worst = 0.0;
        for (int i = 1; i <= 30; ++i) {
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            double t = fmod(h * i, 2.0 * turn);
            if (t > turn) t = 2.0 * turn - t; // down is up backwards
            worst =
                fmax(worst, fabs(joint_of(&r, "r").coordinates[0] - (v - 0.5 * GRAVITY * t) * t));
        }
        CHECK_BELOW(worst, 1e-10); // m, after up to 1200 hits; measured 1.1e-11
        CHECK_NEAR(drive_of(&r, 0).work, 0.0, 1e-9);
        end_run(&r);
    }
}

// Dropped from `fall`, after t: the height, with all bounces however short
static double bounced_height(double fall, double restitution, double t)
{
    double v = sqrt(2.0 * GRAVITY * fall), before = v / GRAVITY;
    if (t < before) return fall - 0.5 * GRAVITY * t * t;
    for (t -= before;;) {
        v *= restitution;
        if (t < 2.0 * v / GRAVITY) return (v - 0.5 * GRAVITY * t) * t;
        if (v < 1e-9) return 0.0;
        t -= 2.0 * v / GRAVITY;
    }
}

// Flights that are shorter than a step are followed too: without loss they never end, with little loss long after it.
TEST(stops, have_bounces_that_are_shorter_than_a_step)
{
    static const struct {
        double fall, restitution;
    } CASES[] = {{4e-4, 1.0}, {2e-5, 1.0}, {1e-3, 0.99}, {1e-4, 0.999}};
    for (int k = 0; k < 8; ++k) {
        double fall = CASES[k % 4].fall, restitution = CASES[k % 4].restitution;
        hn_scheme scheme = k < 4 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        char text[500];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {b: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                 "joints: {r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {s: {stop: {joint: r, lower: %.17g, restitution: %.17g}}}\n",
                 -fall, restitution);
        driven_run r = begin_run(text, scheme, HN_REDUCTION_REDUCED, 0.02);
        double worst = 0.0;
        for (int i = 1; i <= 100; ++i) {
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            double x = fall + joint_of(&r, "r").coordinates[0];
            worst = fmax(worst, fabs(x - bounced_height(fall, restitution, 0.02 * i)) / fall);
        }
        CHECK_BELOW(worst, 2e-6); // of the fall, after up to 500 hits; measured 3.0e-7
        if (restitution == 1.0) CHECK_NEAR(drive_of(&r, 0).work, 0.0, 1e-15); // J; 2.3e-16
        end_run(&r);
    }
}

TEST(stops, that_are_hit_more_often_than_a_step_can_tell_are_named)
{
    driven_run r =
        begin_run("holonom: 1\n"
                  "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                  "joints: {r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: z}}}\n"
                  "drives: {s: {stop: {joint: r, lower: 0, upper: 1e-3, restitution: 1}}}\n"
                  "start: {r: {rate: 20}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.1);
    CHECK(hn_simulation_step(r.simulation, 1) == HN_NOT_CONVERGED);
    CHECK(strstr(hn_context_message(r.context),
                 "drive 's' is hit more than 200 times in one step") != NULL);
    end_run(&r);
}

// ---- latches ------------------------------------------------------------------------------------------------------

// Two free wheels on one axle turn together after the latch has caught, with the angular momentum of both.
TEST(latches, lock_with_the_momentum_and_the_loss_of_a_plastic_impact)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.2, 0.2, 0.3], position: [0, 0, 0]}\n"
        "  b: {mass: 0.5, inertia: [0.05, 0.05, 0.1], position: [0, 0, 0.1]}\n"
        "joints:\n"
        "  axle: {revolute: {bodies: [a, b], at: [0, 0, 0.1], axis: z}}\n"
        "drives:\n"
        "  catch: {latch: {joint: axle, value: 1}}\n"
        "start: {b: {angular_velocity: [0, 0, 4]}}\n";
    for (int k = 0; k < 2 * HN_REDUCTION_COUNT; ++k) {
        hn_scheme scheme = k % 2 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        driven_run r = begin_run(TEXT, scheme, (hn_reduction)(k / 2), 3e-3);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 200));
        hn_vec3 linear, angular;
        hn_body_state a;
        hn_energy e;
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear, &angular));
        CHECK_OK(r.context,
                 hn_simulation_body_state(r.simulation, hn_model_find_body(r.model, "a"), &a));
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        CHECK_NEAR(joint_of(&r, "axle").coordinates[0], 1.0, 1e-12);
        CHECK_NEAR(angular.z, 0.4, 1e-12);
        CHECK_NEAR(a.angular_velocity.z, 0.4 / 0.4, 1e-3); // of `variational`: sin(h w) for h w
        CHECK_NEAR(drive_of(&r, 0).work, -0.5 * 0.3 * 0.1 / 0.4 * 16.0, 1e-3);
        CHECK_NEAR(e.kinetic - e.external_work, 0.8,
                   scheme == HN_SCHEME_VARIATIONAL ? 1e-4 : 1e-12);
        end_run(&r);
    }
}

// ---- a double pendulum with both ------------------------------------------------------------------------------------

static const char ARMS[] =
    "holonom: 1\n"
    "bodies:\n"
    "  arm: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0, 0]}\n"
    "  tip: {mass: 0.5, inertia: [0.01, 0.05, 0.05], position: [1.3, 0, 0]}\n"
    "joints:\n"
    "  j: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
    "  k: {revolute: {bodies: [arm, tip], at: [1, 0, 0], axis: y}}\n"
    "drives:\n"
    "  stop: {stop: {joint: j, upper: 0.9, restitution: 0.5}}\n"
    "  lock: {latch: {joint: k, value: 0.3}}\n%s";

typedef struct arms_error {
    double angle, lost, balance, held;
} arms_error;

static arms_error arms_run(hn_scheme scheme, hn_reduction reduction, double step)
{
    char text[2000];
    snprintf(text, sizeof text, ARMS, "");
    driven_run r = begin_run(text, scheme, reduction, step);
    arms_error error = {.balance = balance_error(&r, (int)(0.7 / step + 0.5), 1)};
    error.angle = fabs(joint_of(&r, "j").coordinates[0] - 0.884667243187);
    error.held = fabs(joint_of(&r, "k").coordinates[0] - 0.3);
    error.lost = fabs(drive_of(&r, 0).work + drive_of(&r, 1).work + 8.640607811447);
    end_run(&r);
    return error;
}

TEST(impacts, of_a_double_pendulum_are_those_of_minimal_coordinates_to_second_order)
{
    arms_error coarse = arms_run(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 4e-3);
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        arms_error fine = arms_run(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 1e-3);
        CHECK_BELOW(fine.angle, 1e-6);               // rad; measured 1.5e-7
        CHECK_BELOW(fine.angle / coarse.angle, 0.1); // second order: 1/16; measured 0.087
        CHECK_BELOW(fine.lost, 1e-6);                // J; measured 2.0e-7
        CHECK_BELOW(fine.lost / coarse.lost, 0.1);   // measured 0.088
        CHECK_BELOW(fine.balance, 1e-12);            // measured 5.1e-14
        CHECK_BELOW(fine.held, 1e-12);
    }
    const hn_scheme others[2] = {HN_SCHEME_ENERGY_DECAYING, HN_SCHEME_GGL_ENERGY_MOMENTUM};
    for (int k = 0; k < 2; ++k) {
        arms_error four = arms_run(others[k], HN_REDUCTION_REDUCED, 4e-3),
                   one = arms_run(others[k], HN_REDUCTION_REDUCED, 1e-3);
        CHECK_BELOW(one.angle, 1e-6);
        CHECK_BELOW(one.angle / four.angle, 0.1);
        CHECK_BELOW(one.balance, 1e-12);
        CHECK_BELOW(one.held, 1e-12);
    }
    arms_error v4 = arms_run(HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 4e-3),
               v1 = arms_run(HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(v1.angle, 1e-6);            // measured 9.9e-8
    CHECK_BELOW(v1.angle / v4.angle, 0.08); // measured 0.059
    CHECK_BELOW(v1.held, 1e-12);
}

// Equal wings on both sides of a free hub lock at the same instant, and the hub does not turn.
TEST(latches, that_lock_at_the_same_time_all_lock)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  hub: {mass: 20, inertia: [3, 3, 3], position: [0, 0, 0]}\n"
        "  a: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0.5]}\n"
        "  b: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [-0.5, 0, 0.5]}\n"
        "joints:\n"
        "  ha: {revolute: {bodies: [hub, a], at: [0.5, 0, 0], axis: y}}\n"
        "  hb: {revolute: {bodies: [hub, b], at: [-0.5, 0, 0], axis: -y}}\n"
        "drives:\n"
        "  sa: {spring: {joint: ha, stiffness: 3, rest: 2}}\n"
        "  sb: {spring: {joint: hb, stiffness: 3, rest: 2}}\n"
        "  la: {latch: {joint: ha, value: 90 deg}}\n"
        "  lb: {latch: {joint: hb, value: 90 deg}}\n";
    for (int k = 0; k < 2; ++k) {
        driven_run r = begin_run(TEXT, k == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL,
                                 HN_REDUCTION_REDUCED, 1e-2);
        CHECK_BELOW(balance_error(&r, 300, 1), k == 0 ? 1e-13 : 1e-3);
        CHECK_NEAR(joint_of(&r, "ha").coordinates[0], 1.5707963267948966, 1e-12);
        CHECK_NEAR(joint_of(&r, "hb").coordinates[0], 1.5707963267948966, 1e-12);
        // in one impact: each takes what its own wing had
        CHECK(drive_of(&r, 2).work < -1.0 && drive_of(&r, 3).work < -1.0);
        CHECK_NEAR(drive_of(&r, 2).work / drive_of(&r, 3).work, 1.0, k == 0 ? 1e-4 : 1e-10);
        hn_body_state hub;
        CHECK_OK(r.context,
                 hn_simulation_body_state(r.simulation, hn_model_find_body(r.model, "hub"), &hub));
        CHECK_NEAR(hub.angular_velocity.y, 0.0, 1e-10);
        end_run(&r);
    }
}

// Two masses on one rail, the second seen from the first, reach their stops at the same instant: each rate becomes -e
// times what it was.
TEST(stops, that_are_hit_at_the_same_time_bounce_together)
{
    static const char TEXT[] = "holonom: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "bodies:\n"
                               "  a: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
                               "  b: {mass: 3, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}\n"
                               "joints:\n"
                               "  ja: {prismatic: {bodies: [ground, a], at: [0, 0, 0], axis: x}}\n"
                               "  jb: {prismatic: {bodies: [a, b], at: [1, 0, 0], axis: x}}\n"
                               "drives:\n"
                               "  sa: {stop: {joint: ja, upper: 0.35, restitution: %g}}\n"
                               "  sb: {stop: {joint: jb, upper: 0.7, restitution: %g}}\n"
                               "start: {ja: {rate: 0.5}, jb: {rate: 1}}\n";
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        double e[2] = {0.8, k == 0 ? 0.8 : 0.3};
        snprintf(text, sizeof text, TEXT, e[0], e[1]);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
        CHECK_BELOW(balance_error(&r, 71, 1), 1e-13);
        CHECK_NEAR(joint_of(&r, "ja").rates[0], -e[0] * 0.5, 1e-12);
        CHECK_NEAR(joint_of(&r, "jb").rates[0], -e[1] * 1.0, 1e-12);
        double before = 0.5 * 2 * 0.25 + 0.5 * 3 * 2.25, left = -e[0] * 0.5 - e[1],
               after = 0.5 * 2 * e[0] * e[0] * 0.25 + 0.5 * 3 * left * left;
        CHECK_NEAR(drive_of(&r, 0).work + drive_of(&r, 1).work, after - before, 1e-12);
        end_run(&r);
    }
}

// A wheel turns by 20 rad in a step, which is halved for it, beside a ball that bounces: the floor is there in halves.
TEST(stops, are_hit_in_steps_that_are_halved)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  wheel: {mass: 2, inertia: [0.1, 0.1, 0.2], position: [5, 0, 0]}\n"
        "  ball: {mass: 0.3, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
        "joints:\n"
        "  axle: {revolute: {bodies: [ground, wheel], at: [5, 0, 0], axis: z}}\n"
        "  rail: {prismatic: {bodies: [ground, ball], at: [0, 0, 0], axis: z}}\n"
        "drives:\n"
        "  floor: {stop: {joint: rail, lower: -1, restitution: 0.7}}\n"
        "start: {axle: {rate: 2000}}\n";
    driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-2);
    CHECK_BELOW(balance_error(&r, 60, 1), 1e-13);
    CHECK(hn_simulation_statistics(r.simulation).halved_step_count > 50);
    double g = 9.81, fall = sqrt(2.0 / g), up = 0.7 * g * fall, left = 0.6 - fall;
    CHECK_NEAR(joint_of(&r, "rail").coordinates[0], -1.0 + up * left - 0.5 * g * left * left,
               1e-11);
    CHECK_NEAR(drive_of(&r, 0).work, -0.3 * g * (1.0 - 0.49), 1e-8); // of 4e5 J
    end_run(&r);
}

// Impacts and sticking are no errors of steps: none is said to be too long.
TEST(impacts, are_no_errors_of_steps)
{
    const char *names[2] = {"solar-panels", "stick-slip"};
    for (int k = 0; k < 4; ++k) {
        char path[512];
        hn_context *context = hn_context_create(NULL);
        hn_model *model;
        hn_simulation *simulation;
        hn_ledger ledger;
        snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, names[k / 2]);
        CHECK_OK(context, hn_model_load(context, path, &model));
        hn_simulation_def def = hn_simulation_def_default();
        def.scheme = k % 2 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        def.step_size = k < 2 ? 1e-2 : 5e-4;
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        CHECK_OK(context, hn_simulation_step(simulation, k < 2 ? 500 : 3000));
        CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
        CHECK_BELOW(ledger.accuracy.relative.value, 1e-2);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

// What a motion does in an impact is its own work: a block on a cart that is kept at its speed hits a stop of the cart.
TEST(stops, on_what_a_motion_moves_take_what_is_lost_and_the_motion_does_the_rest)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  cart: {mass: 5, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
        "  block: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, 0, 1]}\n"
        "joints:\n"
        "  roll: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
        "  slide: {prismatic: {bodies: [cart, block], at: [0, 0, 1], axis: x}}\n"
        "drives:\n"
        "  pull: {motion: {joint: roll, value: 3*t}}\n"
        "  stop: {stop: {joint: slide, upper: 0.1, restitution: 0.5}}\n"
        "start: {slide: {rate: 0.4}}\n";
    driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
    CHECK_BELOW(balance_error(&r, 60, 1), 1e-13);
    CHECK_NEAR(joint_of(&r, "slide").rates[0], -0.2, 1e-12);
    CHECK_NEAR(drive_of(&r, 1).work, -0.5 * 2.0 * (1.0 - 0.25) * 0.16, 1e-12);
    CHECK_NEAR(drive_of(&r, 0).work, -2.0 * 1.5 * 0.4 * 3.0, 1e-12); // impulse times speed
    end_run(&r);
}

// Friction that sticks has no impulse: the joint beyond the one that hits a stop moves on.
TEST(stops, shake_friction_loose)
{
    double rate[2], step = 1e-4;
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  arm: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0, 0]}\n"
                 "  tip: {mass: 0.5, inertia: [0.01, 0.05, 0.05], position: [1.3, 0, 0]}\n"
                 "joints:\n"
                 "  j: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                 "  k: {revolute: {bodies: [arm, tip], at: [1, 0, 0], axis: y}}\n"
                 "drives:\n"
                 "  stop: {stop: {joint: j, upper: 1e-3, restitution: 0.5}}\n"
                 "%s"
                 "start: {j: {rate: 2}}\n",
                 k == 0 ? "" : "  dry: {friction: {joint: k, effort: 2}}\n");
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, step);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 6));
        rate[k] = joint_of(&r, "k").rates[0];
        end_run(&r);
    }
    CHECK(rate[0] > 3.0);
    CHECK_NEAR(rate[1], rate[0], 2.0 / 0.05 * 2.0 * step); // rad/s; measured 0.0061
}

// With rotors, springs, friction and a motor besides, over many impacts.
TEST(impacts, close_the_balance_over_ten_thousand_steps)
{
    char text[2000];
    snprintf(text, sizeof text, ARMS,
             "  other: {stop: {joint: j, lower: -0.4, restitution: 0.9}}\n"
             "  motor: {motor: {joint: j, stall: 40, no_load: 8, command: 'sin(3*t)', armature: "
             "0.2}}\n"
             "  rotor: {spring: {joint: k, stiffness: 5, armature: 0.05}}\n"
             "  dry: {friction: {joint: j, effort: 0.5}}\n");
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(balance_error(&r, 10000, 10), 5e-12); // measured 2.4e-13
    CHECK(drive_of(&r, 0).work < -1.0);
    CHECK(drive_of(&r, 2).work < -0.1);
    end_run(&r);
}

// ---- where it is drawn ------------------------------------------------------------------------------------------

// x turned by the quaternion and shifted (`place` 1) or turned alone, as text
static const char *turned(const double *quaternion, double place, double x, double y, double z)
{
    static char texts[32][100];
    static int next = 0;
    const double shift[3] = {0.7, -1.3, 2.1}, *q = quaternion, v[3] = {x, y, z};
    double t[3], out[3];
    for (int k = 0; k < 3; ++k) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        t[k] = 2.0 * (q[1 + l] * v[m] - q[1 + m] * v[l]);
    }
    for (int k = 0; k < 3; ++k) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        out[k] = v[k] + q[0] * t[k] + q[1 + l] * t[m] - q[1 + m] * t[l];
        if (q[0] != 1.0) out[k] += place * shift[k];
    }
    char *text = texts[next++ % 32];
    snprintf(text, 100, "[%.17g, %.17g, %.17g]", out[0], out[1], out[2]);
    return text;
}

// Friction by the reaction, buffers, rigid stops, a latch, a gear, a servo and a table on moving axes.
static driven_run begin_drawn(const double *q)
{
    char text[4000], turn[200];
    snprintf(turn, sizeof turn, "orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}", q[0],
             q[1], q[2], q[3]);
    int used = snprintf(text, sizeof text, "holonom: 1\ngravity: %s\nbodies:\n",
                        turned(q, 0.0, 0.3, 0.2, -9.81));
    static const double at[4][3] = {{0.5, 0, 0}, {1.3, 0, 0}, {0.2, 0.1, 0}, {0.6, 0, 0.2}};
    for (int k = 0; k < 4; ++k)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  b%d: {mass: %g, inertia: [0.02, 0.07, 0.08], position: %s, %s}\n", k,
                         1.0 - 0.2 * k, turned(q, 1.0, at[k][0], at[k][1], at[k][2]), turn);
    snprintf(
        text + used, sizeof text - (size_t)used,
        "joints:\n"
        "  j: {revolute: {bodies: [ground, b0], at: %s, axis: %s}}\n"
        "  k: {revolute: {bodies: [b0, b1], at: %s, axis: %s}}\n"
        "  w: {revolute: {bodies: [b0, b2], at: %s, axis: %s}}\n"
        "  p: {prismatic: {bodies: [b0, b3], at: %s, axis: %s}}\n"
        "couplings:\n"
        "  mesh: {gear: {joints: [k, w], teeth: [20, 30]}}\n"
        "drives:\n"
        "  rub: {friction: {joint: j, coefficient: 0.3, radius: 0.05, static: 1.4, stribeck: 1}}\n"
        "  dry: {friction: {joint: p, effort: 0.4}}\n"
        "  stop: {stop: {joint: k, lower: -0.5, upper: 0.4, restitution: 0.6}}\n"
        "  lock: {latch: {joint: p, value: 0.2}}\n"
        "  end: {stop: {joint: j, lower: -0.2, upper: 1.1, stiffness: 3000, damping: 20}}\n"
        "  hold: {servo: {joint: w, target: 'sin(9*t)', proportional: 5, derivative: 0.3}}\n"
        "  pad: {spring: {joint: p, table: {displacements: [-1, 0, 0.1, 1], efforts: [-8, 0, 0.2, "
        "9]}}}\n",
        turned(q, 1.0, 0, 0, 0), turned(q, 0.0, 0, 1, 0), turned(q, 1.0, 1, 0, 0),
        turned(q, 0.0, 0.2, 1, 0), turned(q, 1.0, 0.2, 0.1, 0), turned(q, 0.0, 0, 0.1, 1),
        turned(q, 1.0, 0.6, 0, 0.2), turned(q, 0.0, 1, 0.1, 0));
    return begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
}

TEST(laws, of_all_kinds_do_not_depend_on_where_the_model_is_drawn)
{
    const double turns[2][4] = {{1.0, 0.0, 0.0, 0.0}, {0.1, -0.7, 0.1, 0.7}};
    hn_drive_state states[2][7];
    for (int k = 0; k < 2; ++k) {
        driven_run r = begin_drawn(turns[k]);
        CHECK_BELOW(balance_error(&r, 600, 1), 1e-12);
        for (int d = 0; d < 7; ++d) states[k][d] = drive_of(&r, d);
        end_run(&r);
    }
    double worst = 0.0;
    for (int d = 0; d < 7; ++d) {
        worst = fmax(worst, fabs(states[1][d].coordinate - states[0][d].coordinate));
        worst = fmax(worst, fabs(states[1][d].work - states[0][d].work));
    }
    CHECK_BELOW(worst, 1e-8); // rad, m, J
    // all of them had something to do: friction rubbed, the stop was hit, the latch has locked, the buffer took
    for (int d = 0; d < 5; ++d) CHECK(states[0][d].work < -1e-3);
    CHECK_NEAR(states[0][3].coordinate, 0.2, 1e-12);
}

// ---- never a gain -----------------------------------------------------------------------------------------------

static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

TEST(impacts, never_give_energy)
{
    uint64_t random = 77;
    double worst = 0.0;
    int impacts = 0;
    for (int model = 0; model < 100; ++model) {
        char text[2000], more[500];
        snprintf(more, sizeof more,
                 "  other: {stop: {joint: k, lower: %.6g, upper: 0.8, restitution: %.6g}}\n"
                 "  rotor: {spring: {joint: k, stiffness: 1, armature: %.6g}}\n",
                 -0.3 + 0.2 * next_random(&random), 0.5 + 0.5 * next_random(&random),
                 0.1 * (1.0 + next_random(&random)));
        snprintf(text, sizeof text, ARMS, more);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-2);
        for (int i = 0; i < 100; ++i) {
            double coordinates[2] = {0.5 * next_random(&random), 0.1 * next_random(&random)},
                   rates[2] = {8.0 * next_random(&random), 8.0 * next_random(&random)}, before[3];
            // a latch that has locked stays so: begin with one that has not
            CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, coordinates, rates, 2));
            for (int d = 0; d < 3; ++d) before[d] = drive_of(&r, d).work;
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 5));
            for (int d = 0; d < 3; ++d) {
                double work = drive_of(&r, d).work - before[d];
                worst = fmax(worst, work);
                impacts += work < -1e-9;
            }
        }
        end_run(&r);
    }
    CHECK(impacts > 2500);     // of 10000 cases
    CHECK_BELOW(worst, 1e-12); // J; measured 0
}

TEST(impacts, go_on_from_a_snapshot_bit_for_bit)
{
    char text[2000];
    snprintf(text, sizeof text, ARMS, "  dry: {friction: {joint: j, effort: 0.5}}\n");
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    snapshot kept = save_after(&r, 350);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 350));
    double straight = joint_of(&r, "j").coordinates[0], work = drive_of(&r, 1).work;
    restore_and_step(&r, kept, 350);
    CHECK(joint_of(&r, "j").coordinates[0] == straight);
    CHECK(drive_of(&r, 1).work == work);
    end_run(&r);
}

// ---- against motions ------------------------------------------------------------------------------------------

#define WHEELS                                                                                     \
    "holonom: 1\n"                                                                                 \
    "gravity: [0, 0, 0]\n"                                                                         \
    "bodies:\n"                                                                                    \
    "  w1: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"                                   \
    "  w2: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"                                   \
    "joints:\n"                                                                                    \
    "  a: {revolute: {bodies: [ground, w1], at: [0, 0, 0], axis: z}}\n"                            \
    "  b: {revolute: {bodies: [ground, w2], at: [1, 0, 0], axis: z}}\n"                            \
    "couplings:\n"                                                                                 \
    "  g: {gear: {joints: [a, b], ratio: -2}}\n"                                                   \
    "drives:\n"                                                                                    \
    "  still: {effort: {joint: a, value: 0}}\n"

// The run stops at the instant at which a motion leads through a latch or a rigid stop, and names both.
TEST(impacts, a_motion_does_not_pass_a_latch_or_a_rigid_stop)
{
    static const struct {
        const char *text;
        int whole; // steps of 0.01 s before
    } CASES[] = {
        {WHEELS "  m: {motion: {joint: a, value: sin(t)}}\n  n: {latch: {joint: a, value: 0.6}}\n",
         64},
        {WHEELS "  m: {motion: {joint: a, value: sin(t)}}\n"
                "  n: {stop: {joint: a, upper: 0.6, restitution: 0.5}}\n",
         64},
        {WHEELS "  m: {motion: {joint: a, value: sin(t)}}\n"
                "  n: {stop: {joint: b, lower: -0.3, restitution: 0}}\n",
         64},
        {WHEELS "  m: {motion: {joint: a, value: sin(t)}}\n  n: {latch: {joint: b, value: -0.3}}\n",
         64},
        {"holonom: 1\ngravity: [0, 0, 0]\nbodies:\n" FOUR_BAR_BODIES "joints:\n" FOUR_BAR_JOINTS
         "drives:\n  m: {motion: {joint: j1, value: sin(t)}}\n"
         "  n: {latch: {joint: j4, value: 0.1}}\n",
         -1},
    };
    static const hn_scheme SCHEMES[4] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                         HN_SCHEME_VARIATIONAL, HN_SCHEME_ENERGY_DECAYING};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; ++k)
        for (int i = 0; i < 5; ++i) {
            driven_run r = begin_run(CASES[k].text, SCHEMES[i % 4], HN_REDUCTION_REDUCED, 0.01);
            hn_status status = i < 4 ? hn_simulation_step(r.simulation, 100)
                                     : hn_simulation_follow(r.simulation, 100, true);
            CHECK_EQUAL(status, HN_SINGULAR_SYSTEM); // HN_OK before
            const char *message = hn_context_message(r.context);
            CHECK(strstr(message, "drive 'n'") != NULL);
            if (i < 4) CHECK(strstr(message, "motion 'm'") != NULL);
            if (i < 4 && CASES[k].whole >= 0) {
                CHECK(strstr(message, "t = 0.6435011") != NULL); // asin 0.6
                CHECK_EQUAL(hn_simulation_step_count(r.simulation), CASES[k].whole);
            }
            end_run(&r);
        }
}

// A motion that comes near a stop and goes back, or that begins at one and leaves, is free to do so.
TEST(impacts, a_motion_may_leave_a_rigid_stop)
{
    static const char *const TEXTS[] = {
        WHEELS "  m: {motion: {joint: a, value: 0.59*sin(2*t)}}\n"
               "  n: {stop: {joint: a, upper: 0.6, restitution: 0.5}}\n",
        WHEELS "  m: {motion: {joint: a, value: -0.59*sin(t)^2}}\n"
               "  n: {stop: {joint: a, upper: 0, restitution: 0}}\n",
    };
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 2; ++i) {
            driven_run r =
                begin_run(TEXTS[k], i == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL,
                          HN_REDUCTION_REDUCED, 0.01);
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 200));
            CHECK_NEAR(drive_of(&r, 1).coordinate,
                       k == 0 ? 0.59 * sin(4.0) : -0.59 * sin(2.0) * sin(2.0), 1e-12);
            CHECK_NEAR(drive_of(&r, 2).work, 0.0, 1e-15);
            end_run(&r);
        }
}

// Two latches lock a differential, whose motion rests; when it goes on, one of them cannot hold.
TEST(impacts, a_motion_that_begins_again_does_not_tear_latches)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  sun: {mass: 1, inertia: [1, 1, 1]}\n"
        "  arm: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"
        "  out: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}\n"
        "joints:\n"
        "  a: {revolute: {bodies: [ground, sun], at: [0, 0, 0], axis: z}}\n"
        "  b: {revolute: {bodies: [ground, arm], at: [1, 0, 0], axis: z}}\n"
        "  c: {revolute: {bodies: [ground, out], at: [2, 0, 0], axis: z}}\n"
        "couplings:\n"
        "  sum: {relation: {joints: [a, b, c], factors: [1, 1, 1]}}\n"
        "drives:\n"
        "  m: {motion: {joint: a, value: {table: {times: [0, 1, 2], values: [0, 0, 1]}}}}\n"
        "  n: {latch: {joint: b, value: 0.3}}\n"
        "  o: {latch: {joint: c, value: -0.3}}\n"
        "start: {b: {rate: 1}}\n";
    driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 99));
    CHECK_NEAR(drive_of(&r, 1).coordinate, 0.3, 1e-12);
    CHECK(hn_simulation_step(r.simulation, 50) == HN_SINGULAR_SYSTEM);
    CHECK(strstr(hn_context_message(r.context), "a motion leads it on") != NULL);
    end_run(&r);
}

// Thrown up to a ceiling, or a latch, that is a little below the top of the flight: it is there for a part of a step.
TEST(impacts, within_a_step_that_ends_before_them_are_found)
{
    const double v = 1.03, top = 0.5 * v * v / GRAVITY;
    double worst = 0.0;
    for (int k = 0; k < 12; ++k) {
        const double place = top * (1.0 - pow(10.0, -2.0 - k % 3)),
                     left = sqrt(v * v - 2.0 * GRAVITY * place), hit = (v - left) / GRAVITY;
        bool latch = k / 3 % 2 == 1;
        hn_scheme scheme = k / 6 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        char text[512];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                 "joints: {r: {prismatic: {bodies: [b, ground], at: [0, 0, 0], axis: -z}}}\n"
                 "drives: {s: {%s: {joint: r, %s: %.17g%s}}}\n"
                 "start: {r: {rate: %g}}\n",
                 latch ? "latch" : "stop", latch ? "value" : "upper", place,
                 latch ? "" : ", restitution: 0.5", v);
        driven_run r = begin_run(text, scheme, HN_REDUCTION_REDUCED, 0.02);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 10));
        double t = 0.2 - hit, x = latch ? place : place - 0.5 * left * t - 0.5 * GRAVITY * t * t;
        worst = fmax(worst, fabs(joint_of(&r, "r").coordinates[0] - x));
        end_run(&r);
    }
    CHECK_BELOW(worst, 2e-11); // m; measured 1.2e-12
}

// A mass on a spring swings to a latch that the step passes by: it locks in the first swing.
TEST(latches, lock_at_the_top_of_a_swing)
{
    driven_run r =
        begin_run("holonom: 1\ngravity: [0, 0, 0]\n"
                  "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
                  "joints: {r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
                  "drives:\n"
                  "  k: {spring: {joint: r, stiffness: 109.66}}\n"
                  "  l: {latch: {joint: r, value: 0.0953}}\n" // of 0.0955
                  "start: {r: {rate: 1}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.02);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 10)); // a third of a swing
    CHECK_NEAR(joint_of(&r, "r").coordinates[0], 0.0953, 1e-12);
    CHECK_NEAR(drive_of(&r, 1).work, -0.5 * (1.0 - 109.66 * 0.0953 * 0.0953), 1e-12); // J
    end_run(&r);
}

// ---- motions whose rate jumps -----------------------------------------------------------------------------------

// A cart that is led along a rail, with a pendulum that hangs on it (mass 1, 0.1 about its centre, 0.5 below the pin):
// when the cart's speed jumps by w, the pendulum begins to turn with w l/(J + l^2) and all moves on, at nodes or
// between them.
static const char *const CORNERS[] = {
    "{table: {times: [0, 0.5, 1], values: [0, 0, 0.5]}}",
    "'t < 0.5 ? 0 : t - 0.5'",
    "'max(0, t - 0.5)'",
    "'0.5*abs(t - 0.5) + 0.5*t - 0.25'",
};

TEST(motions, whose_rate_jumps_give_an_impulse)
{
    static const hn_scheme SCHEMES[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_GGL_ENERGY_MOMENTUM,
                                        HN_SCHEME_ENERGY_DECAYING, HN_SCHEME_VARIATIONAL};
    const double inertia = 0.1 + 0.25, turn = 0.5 / inertia,
                 energy = 0.5 * 2.0 + 0.5 * (1.0 - 0.25 / inertia); // after the jump by 1 m/s
    double worst_energy = 0.0, worst_rate = 0.0, worst_work = 0.0, worst_effort = 0.0,
           worst_mean = 0.0;
    for (int k = 0; k < 32; ++k) {
        double h = k / 16 == 0 ? 1e-3 : 7e-4; // the jump at a node, and within a step
        char text[1024];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  cart: {mass: 2, inertia: [1, 1, 1]}\n"
                 "  bob: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, -0.5]}\n"
                 "joints:\n"
                 "  rail: {prismatic: {bodies: [cart, ground], at: [0, 0, 0], axis: -x}}\n"
                 "  pin: {revolute: {bodies: [cart, bob], at: [0, 0, 0], axis: y}}\n"
                 "drives: {lead: {motion: {joint: rail, value: %s}}}\n",
                 CORNERS[k % 4]);
        driven_run r = begin_run(text, SCHEMES[k / 4 % 4], HN_REDUCTION_REDUCED, h);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, (int)ceil(0.5 / h - 1e-6)));
        // means over the step with the jump: the impulse is twice the energy over the speed
        worst_mean = fmax(worst_mean, fabs(drive_of(&r, 0).effort * h - 2.0 * energy));
        worst_mean = fmax(worst_mean, fabs(drive_of(&r, 0).power * h - drive_of(&r, 0).work));
        for (int i = 0; i < 4; ++i) {
            hn_energy e;
            CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
            worst_energy = fmax(worst_energy, fabs(e.kinetic - energy));
            worst_rate = fmax(worst_rate, fabs(joint_of(&r, "pin").rates[0] - turn));
            worst_work = fmax(worst_work, fabs(drive_of(&r, 0).work - energy));
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            worst_effort = fmax(worst_effort, fabs(drive_of(&r, 0).effort));
        }
        end_run(&r);
    }
    // the pendulum swings on, by 0.005 rad in these steps: all is of second order. Before, energy and rate alternated
    // between none and two and four times as much, and the effort between 4600 N and -4600 N
    CHECK_BELOW(worst_energy, 5e-5); // J of 1.14; measured 6.6e-6
    CHECK_BELOW(worst_rate, 1e-6);   // rad/s of 1.43; measured 1.1e-7
    CHECK_BELOW(worst_work, 5e-5);   // measured 6.6e-6
    CHECK_BELOW(worst_effort, 0.05); // N; measured 5.8e-3
    CHECK_BELOW(worst_mean, 5e-6);   // N s of 2.3, J of 1.14; measured 1.8e-7
}

// Measured places, one in every step: the force is that of the smooth motion, not one of impulses.
TEST(motions, by_a_table_with_a_sample_in_every_step_are_smooth)
{
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "holonom: 1\ngravity: [0, 0, 0]\n"
                     "bodies: {b: {mass: 2, inertia: [1, 1, 1]}}\n"
                     "joints: {r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: x}}}\n"
                     "drives: {m: {motion: {joint: r, value: {table: {times: [");
    for (int k = 0; k <= 100; ++k)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.17g", k > 0 ? ", " : "", 0.01 * k);
    n += snprintf(text + n, sizeof text - (size_t)n, "], values: [");
    for (int k = 0; k <= 100; ++k)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.17g", k > 0 ? ", " : "",
                      0.3 * (1.0 - cos(0.03 * k)));
    snprintf(text + n, sizeof text - (size_t)n, "]}}}}}\n");
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.01);
    double worst = 0.0, before = 0.0;
    for (int k = 1; k <= 100; ++k) {
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        double effort = drive_of(&r, 0).effort;
        if (k > 1)
            worst = fmax(worst, fabs(0.5 * (effort + before) - 2.0 * 2.7 * cos(0.03 * (k - 1))));
        before = effort;
    }
    CHECK_BELOW(worst, 5e-3); // N of 5.4; measured 4.1e-4
    end_run(&r);
}

// A cart pushes a block before it through a stop, and leaves it when it turns back: the block flies on.
TEST(motions, that_turn_back_let_stops_go)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {cart: {mass: 1, inertia: [1, 1, 1]}, block: {mass: 2, inertia: [1, 1, 1]}}\n"
        "joints:\n"
        "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
        "  gap: {prismatic: {bodies: [cart, block], at: [0, 0, 0], axis: x}}\n"
        "drives:\n"
        "  lead: {motion: {joint: rail, value: {table: {times: [0, 0.31, 0.5, 0.9],"
        " values: [0, 0, 0.3, -0.1]}}}}\n"
        "  bumper: {stop: {joint: gap, lower: -0.05, restitution: 0}}\n";
    const double speed = 0.3 / 0.19;
    for (int k = 0; k < 2 * HN_REDUCTION_COUNT; ++k) {
        hn_scheme scheme = k % 2 == 0 ? HN_SCHEME_ENERGY_MOMENTUM : HN_SCHEME_VARIATIONAL;
        driven_run r = begin_run(TEXT, scheme, (hn_reduction)(k / 2), 0.01);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 100));
        double x = joint_of(&r, "rail").coordinates[0] + joint_of(&r, "gap").coordinates[0];
        CHECK_NEAR(x, 0.25 + 0.5 * speed, 1e-12);                            // m; measured 2e-15
        CHECK_NEAR(drive_of(&r, 1).work, -0.5 * 2.0 * speed * speed, 1e-11); // J
        CHECK_NEAR(drive_of(&r, 0).work, 2.0 * speed * speed, 1e-11);
        end_run(&r);
    }
}
