// SPDX-License-Identifier: MIT
// Slots: a point of one body on a line of another, against a slider with next to no mass and against geometry.
#include "physics/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A rail on a hinge; a body that slides in it; a rod with a line of its own on a point of that body, so that the tree
// meets a line on the parent and one on the child.
static const char TREE[] =
    "holonom: 1\n"
    "bodies:\n"
    "  rail: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
    "  bob: {shape: {box: {size: [0.1, 0.2, 0.3]}}, mass: 1, position: [0.4, 0.1, -0.2]}\n"
    "  arm: {shape: {box: {size: [0.3, 0.05, 0.05]}}, mass: 0.5, position: [0.6, 0.1, -0.35]}\n"
    "joints:\n"
    "  hinge: {revolute: {bodies: [ground, rail], at: [0, 0, 0], axis: y}}\n"
    "  groove: {slot: {bodies: [rail, bob], at: {a: [0.3, 0, 0], b: [0.4, 0, 0]}, axis: x}}\n"
    "  ball: {slot: {bodies: [arm, bob], at: [0.45, 0.1, -0.3], axis: [0.6, 0, -0.8]}}\n"
    "start: {groove: {rates: [0.4, 1, -0.5, 2]}, hinge: {rate: 0.5}, ball: {rates: [0.1, 1, 2, "
    "-1]}}\n";

// A crank whose pin slides in a lever: one loop, planar, with one redundant constraint.
static const char LEVER[] =
    "holonom: 1\n"
    "bodies:\n"
    "  crank: {shape: {box: {size: [0.3, 0.05, 0.05]}}, mass: 1, position: [0.15, 0, 0.5]}\n"
    "  lever: {shape: {box: {size: [0.05, 0.05, 1.2]}}, mass: 2, position: [0, 0, 0]}\n"
    "joints:\n"
    "  shaft: {revolute: {bodies: [ground, crank], at: [0, 0, 0.5], axis: y}}\n"
    "  pivot: {revolute: {bodies: [ground, lever], at: [0, 0, -0.5], axis: y}}\n"
    "  pin: {slot: {bodies: [lever, crank], coordinates: body, at: {a: [0, 0, 0], b: [0.15, 0, 0]},"
    " axis: {a: z, b: z}}}\n"
    "start: {shaft: {angle: 0.7, rate: 5}}\n";

static run begin(const char *text, hn_scheme scheme, hn_reduction way, double h)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "slot.yaml", &model));
    return run_start(context, model, scheme, way, h, true);
}

TEST(slots, keep_what_the_schemes_promise_on_trees_and_loops)
{
    static const char *const TEXTS[2] = {TREE, LEVER};
    for (int text = 0; text < 2; ++text)
        for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme)
            for (int way = 0; way < HN_REDUCTION_COUNT; ++way) {
                if (way > 0 && hn_scheme_has_own_solver((hn_scheme)scheme)) continue;
                run r = begin(TEXTS[text], (hn_scheme)scheme, (hn_reduction)way, 5e-4);
                run_step(&r, 200);
                hn_ledger ledger;
                CHECK_OK(r.context, hn_simulation_ledger(r.sim, &ledger));
                for (int k = 0; k < HN_PROMISE_COUNT; ++k) {
                    if (!ledger.entry[k].kept)
                        print_error("%s, %s: %s off by %.3g\n", hn_scheme_name((hn_scheme)scheme),
                                    hn_reduction_name((hn_reduction)way),
                                    hn_promise_name((hn_promise)k), ledger.entry[k].error);
                    CHECK(ledger.entry[k].kept);
                }
                run_end(&r);
            }
}

// The lever points from its pivot to the pin of the crank, and the pin is as far along it as the two are apart.
TEST(slots, lead_a_lever_as_geometry_says)
{
    run r = begin(LEVER, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    double worst = 0.0, least = 0.0, most = 0.0;
    for (int i = 0; i < 1000; ++i) {
        run_step(&r, 1);
        hn_joint_state shaft, pivot, pin;
        CHECK_OK(r.context,
                 hn_simulation_joint_state(r.sim, hn_simulation_joint(r.sim, 0), &shaft));
        CHECK_OK(r.context,
                 hn_simulation_joint_state(r.sim, hn_simulation_joint(r.sim, 1), &pivot));
        CHECK_OK(r.context, hn_simulation_joint_state(r.sim, hn_simulation_joint(r.sim, 2), &pin));
        double angle = shaft.coordinates[0]; // about y, from x to -z
        double x = 0.3 * cos(angle), z = 1.0 - 0.3 * sin(angle);
        worst = fmax(worst, fabs(pivot.coordinates[0] - atan2(x, z)));
        worst = fmax(worst, fabs(pin.coordinates[0] - (hypot(x, z) - 0.5)));
        least = fmin(least, pin.coordinates[0]), most = fmax(most, pin.coordinates[0]);
    }
    CHECK(most - least > 0.3); // it does slide
    CHECK_BELOW(worst, 2e-14); // rad, m; measured 2.2e-16
    run_end(&r);
}

// A slider on a prismatic joint and a ball joint between it and the body: the slot is its limit without mass.
static void end_of(double mass, double position[3])
{
    static const char BODY[] =
        "holonom: 1\nstart: {body: {angular_velocity: [2, -3, 1]}}\nbodies:\n"
        "  body: {shape: {box: {size: [0.1, 0.2, 0.3]}}, mass: 1, "
        "position: [0.1, 0.05, -0.3]}\n";
    char text[900];
    if (mass > 0.0)
        snprintf(
            text, sizeof text,
            "%s  slider: {mass: %g, inertia: [1e-9, 1e-9, 1e-9], position: [0, 0, 0]}\n"
            "joints:\n"
            "  rail: {prismatic: {bodies: [ground, slider], at: [0, 0, 0], axis: [3, 0, -1]}}\n"
            "  ball: {spherical: {bodies: [slider, body], at: [0, 0, 0]}}\n",
            BODY, mass);
    else
        snprintf(text, sizeof text,
                 "%sjoints:\n"
                 "  groove: {slot: {bodies: [ground, body], at: [0, 0, 0], axis: [3, 0, -1]}}\n",
                 BODY);
    run r = begin(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    run_step(&r, 300);
    hn_body_state state;
    CHECK_OK(r.context, hn_simulation_body_state(r.sim, hn_simulation_body(r.sim, 0), &state));
    vec3_store(state.position, position);
    run_end(&r);
}

TEST(slots, are_sliders_without_mass)
{
    double exact[3], heavy[3], light[3], apart[2] = {0.0, 0.0};
    end_of(0.0, exact);
    end_of(1e-3, heavy);
    end_of(1e-5, light);
    for (int k = 0; k < 3; ++k) {
        apart[0] = fmax(apart[0], fabs(heavy[k] - exact[k]));
        apart[1] = fmax(apart[1], fabs(light[k] - exact[k]));
    }
    CHECK_NEAR(apart[0] / apart[1], 100.0, 2.0); // first order in the mass; measured 99.8
    CHECK_BELOW(apart[1], 5e-5);                 // m; measured 6.2e-6
}
