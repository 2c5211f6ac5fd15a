// SPDX-License-Identifier: MIT
// Dry friction at a state: accelerations and linear systems of what sticks and of what slides, against equations by
// hand.
#include "driven_run.h"

#include <stdio.h>

static const double G = 9.81;

static driven_run begin_block(const char *axis, const char *drives, const char *start)
{
    char text[900];
    snprintf(text, sizeof text,
             "holonom: 1\nname: block\ngravity: [0, 0, -9.81]\n"
             "bodies:\n  b: {mass: 2, inertia: [1, 1, 1]}\n"
             "joints:\n  r: {prismatic: {bodies: [ground, b], at: [0, 0, 0], axis: %s}}\n"
             "drives:\n%s%s",
             axis, drives, start);
    return begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.001);
}

static hn_vec3 acceleration_of(const driven_run *r)
{
    double linear[3], angular[3];
    CHECK_OK(r->context, hn_simulation_accelerations(r->simulation, linear, angular, 1));
    return (hn_vec3){linear[0], linear[1], linear[2]};
}

typedef struct block_case {
    const char *axis, *drives, *start;
    hn_vec3 expected;
} block_case;

TEST(state_friction, accelerations_are_those_of_what_sticks_and_of_what_slides)
{
    // mu g across the rail, and a part of that by a spring
    static const block_case CASES[] = {
        {"z", "  f: {friction: {joint: r, effort: 30}}\n", "", {0.0, 0.0, 0.0}},
        {"z", "  f: {friction: {joint: r, effort: 10}}\n", "", {0.0, 0.0, -9.81 + 5.0}},
        {"z",
         "  f: {friction: {joint: r, effort: 10, static: 2, stribeck: 0.1}}\n",
         "",
         {0.0, 0.0, 0.0}},
        {"-z", "  f: {friction: {joint: r, effort: 10}}\n", "", {0.0, 0.0, -9.81 + 5.0}},
        {"z",
         "  f: {friction: {joint: r, effort: 30}}\n",
         "start: {r: {rate: 1}}\n",
         {0.0, 0.0, -9.81 - 15.0}},
        {"z",
         "  f: {friction: {joint: r, effort: 30}}\n",
         "start: {r: {rate: -1}}\n",
         {0.0, 0.0, -9.81 + 15.0}},
        {"x",
         "  f: {friction: {joint: r, coefficient: 0.2}}\n",
         "start: {r: {rate: 1}}\n",
         {-0.2 * 9.81, 0.0, 0.0}},
        {"x",
         "  f: {friction: {joint: r, coefficient: 0.2}}\n  e: {effort: {joint: r, value: 3}}\n",
         "",
         {0.0, 0.0, 0.0}},
        {"x",
         "  f: {friction: {joint: r, coefficient: 0.2}}\n  e: {effort: {joint: r, value: 5}}\n",
         "",
         {2.5 - 0.2 * 9.81, 0.0, 0.0}},
        // two on one coordinate: neither holds it alone, both together do, or not
        {"z",
         "  f: {friction: {joint: r, effort: 12}}\n  g: {friction: {joint: r, effort: 9}}\n",
         "",
         {0.0, 0.0, 0.0}},
        {"z",
         "  f: {friction: {joint: r, effort: 8}}\n  g: {friction: {joint: r, effort: 9}}\n",
         "",
         {0.0, 0.0, -9.81 + 8.5}},
    };
    double worst = 0.0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        driven_run r = begin_block(CASES[i].axis, CASES[i].drives, CASES[i].start);
        hn_vec3 a = acceleration_of(&r), b = CASES[i].expected;
        worst = fmax(worst, fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z));
        // and as it goes on, where that is rest
        if (b.x == 0.0 && b.z == 0.0) {
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 20));
            a = acceleration_of(&r);
            worst = fmax(worst, fabs(a.x) + fabs(a.z));
        }
        end_run(&r);
    }
    CHECK_BELOW(worst, 2e-15); // m/s^2; measured 9e-16, and 9.81 before
}

TEST(state_friction, by_the_reaction_of_a_bearing_is_found_with_it)
{
    // a pendulum at its lowest place: J x'' = -mu r N, N^2 = m^2 ((g + l w^2)^2 + (l x'')^2), J about the hinge
    driven_run r =
        begin_run("holonom: 1\nname: bearing\ngravity: [0, 0, -9.81]\n"
                  "bodies:\n  b: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, 0, -0.5]}\n"
                  "joints:\n  h: {revolute: {bodies: [ground, b], at: [0, 0, 0], axis: y}}\n"
                  "drives:\n  f: {friction: {joint: h, coefficient: 0.3, radius: 0.1}}\n"
                  "start: {h: {rate: 2}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.001);
    const double M = 2.0, L = 0.5, J = 0.1 + M * L * L, MU = 0.03;
    double slowing = 0.0; // rad/s^2
    for (int k = 0; k < 100; ++k) slowing = MU * M * hypot(G + L * 4.0, L * slowing) / J;
    CHECK_NEAR(acceleration_of(&r).x, L * slowing, 1e-9); // z = -l: x'' = -l alpha, alpha < 0
    end_run(&r);
}

TEST(state_friction, a_linear_system_has_the_slope_of_what_slides_and_no_freedom_where_it_sticks)
{
    static const char *const DRIVES = "  f: {friction: {joint: r, effort: 3, static: 2, "
                                      "stribeck: 0.5}}\n  k: {spring: {joint: r, stiffness: 10}}\n";
    const double V = 0.4, PART = exp(-V * V / 0.25), SLOPE = -3.0 * PART * 2.0 * V / 0.25;
    for (int way = 1; way >= -1; way -= 2) {
        driven_run r = begin_block(
            "x", DRIVES, way > 0 ? "start: {r: {rate: 0.4}}\n" : "start: {r: {rate: -0.4}}\n");
        hn_linear_system *l = NULL;
        CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &l));
        CHECK_EQUAL(l->state_count, 2);
        CHECK_NEAR(l->derivative[1], -way * 1.5 * (1.0 + PART), 1e-12);
        CHECK_NEAR(l->a[2], -5.0, 1e-8);         // differences of the spring's law
        CHECK_NEAR(l->a[3], -0.5 * SLOPE, 1e-8); // it grows: lambda^2 - 2.531 lambda + 5 = 0
        CHECK_NEAR(l->eigenvalue_real[0], -0.25 * SLOPE, 1e-8);
        hn_linear_system_destroy(l);
        end_run(&r);
    }
    driven_run r = begin_block("x", DRIVES, "");
    hn_linear_system *l = NULL;
    CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &l));
    CHECK_EQUAL(l->state_count, 0);
    hn_linear_system_destroy(l);
    end_run(&r);
}
