// SPDX-License-Identifier: MIT
// Small bodies far from the origin, whose places have fewer digits than their size: drives hold there as at the origin.
#include "driven_run.h"

#include <stdio.h>

static hn_vec3 momentum_of(const driven_run *r)
{
    hn_vec3 linear, angular;
    CHECK_OK(r->context, hn_simulation_momentum(r->simulation, &linear, &angular));
    return linear;
}

// A body of 1 mm on a rail along x, driven, with one more drive; its coordinate and rate after a second
static void run_at(double far, const char *start, const char *drive, double found[2])
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "holonom: 1\nbodies: {z: {shape: {box: {size: [1e-3, 1e-3, 1e-3]}}, mass: 1, position: "
        "[%g, 0, 1]}}\njoints: {zz: {prismatic: {bodies: [ground, z], at: [%g, 0, 1], axis: x}}}\n"
        "start: {zz: {rate: %s}}\ndrives: {e: {effort: {joint: zz, value: 'sin(9*t)'}}, m: {%s}}\n",
        far, far, start, drive);
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.005);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 200));
    found[0] = drive_of(&r, 1).coordinate;
    found[1] = momentum_of(&r).x; // of 1 kg
    end_run(&r);
}

TEST(far_places, drives_on_a_rail_hold_as_they_do_at_the_origin)
{
    static const char *const DRIVES[][2] = {
        {"0", "stop: {joint: zz, upper: 0.1, restitution: 0.5}"},
        {"0", "latch: {joint: zz, value: 0.1}"},
        {"0.9", "motion: {joint: zz, value: '0.1*sin(9*t)'}"},
        {"0", "friction: {joint: zz, effort: 0.3}"},
        {"0", "friction: {joint: zz, coefficient: 0.05}"},
    };
    for (size_t i = 0; i < sizeof DRIVES / sizeof DRIVES[0]; ++i) {
        double here[2], there[2];
        run_at(0.0, DRIVES[i][0], DRIVES[i][1], here);
        run_at(3.0, DRIVES[i][0], DRIVES[i][1], there);
        CHECK_BELOW(fabs(there[0] - here[0]), 1e-12); // m, measured 0; failed before
        CHECK_BELOW(fabs(there[1] - here[1]), 1e-10); // m/s, measured 0
    }
}

TEST(far_places, friction_by_a_reaction_that_vanishes_goes_on)
{
    // a lift: its force and its weight are along the rail, which carries nothing
    static const char *const LIFT =
        "holonom: 1\ngravity: [0, 0, -9.81]\nbodies: {z: {shape: {box: {size: [1, 1, 1]}}, mass: "
        "1}}\n"
        "joints: {zz: {prismatic: {bodies: [ground, z], at: [0.2, 0.1, 0], axis: z}}}\n"
        "drives: {f: {friction: {joint: zz, coefficient: 0.3}}, s: {effort: {joint: zz, value: "
        "'12*cos(3*t)'}}}\n";
    driven_run r = begin_run(LIFT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.005);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 200));
    // x'' = 12 cos 3t - g
    CHECK_NEAR(momentum_of(&r).z, 4.0 * sin(3.0) - 9.81, 1e-3);
    end_run(&r);
}

TEST(far_places, a_coefficient_of_friction_needs_a_reaction)
{
    static const char *const FLOOR =
        "holonom: 1\nbodies: {z: {shape: {box: {size: [1, 1, 1]}}, mass: 1}}\n"
        "joints: {f: {free: {bodies: [ground, z]}}}\n"
        "drives: {rub: {friction: {joint: f, coordinate: x, coefficient: 0.3}}}\n";
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_STATUS(context, hn_model_parse(context, FLOOR, strlen(FLOOR), "model", &model),
                 HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context),
                   "model:4:10: drive 'rub': joint 'f' is free and has no reaction");
    hn_context_destroy(context);
}
