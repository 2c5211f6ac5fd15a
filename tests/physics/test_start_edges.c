// SPDX-License-Identifier: MIT
// Start rates where beams, bushings and springs hold something: what moves, against angular momenta by hand.
#include "driven_run.h"

#include <stdio.h>

#define HEADER "holonom: 1\nname: m\ngravity: [0, 0, 0]\n"
#define DISC "  disc: {mass: 2, inertia: [0.045, 0.045, 0.09]}\n"
#define HOUSING "  housing: {mass: 5, inertia: [0.1, 0.1, 0.001]}\n"
#define PIN "joints:\n  pin: {revolute: {bodies: [housing, disc], at: [0, 0, 0], axis: z}}\n"
#define TURNED "joints:\n  pin: {revolute: {bodies: [disc, housing], at: [0, 0, 0], axis: z}}\n"
#define MOUNT                                                                                      \
    "loads:\n  mount: {bushing: {bodies: [ground, housing], at: [0, 0, 0], "                       \
    "stiffness: [1e5, 1e5, 1e5, 1e3, 1e3, 1e3]}}\n"
#define SPRING                                                                                     \
    "loads:\n  mount: {spring: {bodies: [ground, housing], from: [0, 0, 1], to: [0, 0, 0], "       \
    "stiffness: 9}}\n"
#define SPIN "start: {pin: {rate: 150}}\n"
#define BEAM                                                                                       \
    "elements: 8, section: {rectangle: [0.01, 0.02]}, material: {young: 2e11, poisson: 0.3, "      \
    "density: 7800}"
#define BLADE "beams:\n  blade: {from: [0, 0, 0], to: [1, 0, 0], " BEAM "}\n"

typedef struct start_found {
    double spin;   // kg m^2/s about z
    double energy; // J
    int cautions;
} start_found;

static start_found start_of(const char *text)
{
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-4);
    hn_vec3 linear, angular;
    hn_energy energy;
    CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear, &angular));
    CHECK_OK(r.context, hn_simulation_energy(r.simulation, &energy));
    start_found found = {angular.z, energy.kinetic,
                         hn_simulation_caution(r.simulation, r.model, 0, NULL, 0)};
    end_run(&r);
    return found;
}

TEST(start_rates, turn_what_is_further_from_the_ground_over_elastic_edges)
{
    // the disc alone turns, J = 0.09 kg m^2; the other one, where it is the file's second, would give 0.15 or 6e-9
    static const char *const DISCS[] = {
        HEADER "bodies:\n" HOUSING DISC PIN MOUNT SPIN,
        HEADER "bodies:\n" DISC HOUSING PIN MOUNT SPIN,
        HEADER "bodies:\n" DISC HOUSING PIN SPRING SPIN,
        HEADER
        "beams:\n  shaft: {from: [0, 0, -1], to: [0, 0, 0], " BEAM
        ", clamped: start}\nbodies:\n" DISC
        "joints:\n  pin: {revolute: {bodies: [shaft.end, disc], at: [0, 0, 0], axis: z}}\n" SPIN,
    };
    for (size_t i = 0; i < sizeof DISCS / sizeof DISCS[0]; ++i) {
        start_found found = start_of(DISCS[i]);
        CHECK_NEAR(found.spin, 13.5, 1e-12); // measured 1.8e-15
        CHECK_EQUAL(found.cautions, 0);
    }
    CHECK_NEAR(start_of(HEADER "bodies:\n" DISC HOUSING TURNED MOUNT SPIN).spin, -13.5, 1e-12);
}

TEST(start_rates, of_a_beams_root_turn_all_of_it)
{
    // m (omega l)^2/6 of a rod of 1.56 kg at 12 rad/s, and what its section has
    static const char *const BLADES[] = {
        HEADER BLADE
        "joints:\n  root: {revolute: {bodies: [ground, blade.start], axis: z}}\nstart: {root: "
        "{rate: 12}}\n",
        HEADER BLADE
        "joints:\n  root: {revolute: {bodies: [ground, blade.start], axis: z}}\ndrives:\n  "
        "turn: {motion: {joint: root, value: '12*t'}}\n",
        HEADER BLADE
        "drives:\n  turn: {motion: {body: blade.start, rotation: {axis: z, angle: '12*t'}, "
        "x: 0, y: 0, z: 0}}\n",
        HEADER BLADE
        "bodies:\n  hub: {mass: 1, inertia: [1e-9, 1e-9, 1e-9]}\njoints:\n  root: {revolute: "
        "{bodies: [ground, hub], at: [0, 0, 0], axis: z}}\n  weld: {fixed: {bodies: [hub, "
        "blade.start]}}\nstart: {root: {rate: 12}}\n",
    };
    for (size_t i = 0; i < sizeof BLADES / sizeof BLADES[0]; ++i) {
        start_found found = start_of(BLADES[i]);
        CHECK_NEAR(found.energy, 37.44 + 0.000936, 1e-5); // before: 3.9e-5 J
        CHECK_NEAR(found.spin, 6.24 + 0.000156, 1e-5);
    }
}

TEST(start_rates, carry_what_is_mounted_on_bushings_that_hold_it)
{
    // 1 kg at 1 m with 0.01 kg m^2 on a turret of 0.1 kg m^2, at 5 rad/s; one that turns freely on its axis stays
    static const char *const TURRET =
        HEADER "bodies:\n  sensor: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [1, 0, 0]}\n"
               "  turret: {mass: 5, inertia: [0.1, 0.1, 0.1]}\n"
               "joints:\n  pin: {revolute: {bodies: [ground, turret], at: [0, 0, 0], axis: z}}\n"
               "loads:\n  mount: {bushing: {bodies: [turret, sensor], at: [1, 0, 0], stiffness: "
               "[1e5, 1e5, "
               "1e5, 1e3, 1e3, %s]}}\nstart: {pin: {rate: 5}}\n";
    char text[1024];
    snprintf(text, sizeof text, TURRET, "1e3");
    CHECK_NEAR(start_of(text).spin, 5.0 * 1.11, 1e-13);
    snprintf(text, sizeof text, TURRET, "0");
    CHECK_NEAR(start_of(text).spin, 5.0 * 0.1, 1e-13);
}

TEST(start_rates, of_what_floats_are_of_the_second_body_and_equals_are_named)
{
#define LINK(name) "  " name ": {mass: 2, inertia: [0.045, 0.045, 0.09]}\n"
#define HINGE "joints:\n  pin: {revolute: {bodies: [a, b], at: [0, 0, 0], axis: z}}\n"
    start_found first = start_of(HEADER "bodies:\n" LINK("a") LINK("b") HINGE SPIN),
                second = start_of(HEADER "bodies:\n" LINK("b") LINK("a") HINGE SPIN);
    CHECK_NEAR(first.spin, 13.5, 1e-12);
    CHECK_NEAR(second.spin, 13.5, 1e-12); // before: -13.5
    CHECK_EQUAL(first.cautions + second.cautions, 0);
    // two bodies that a third hangs on: the heavier stays, of equal ones the first, and that is said
#define BOTH                                                                                       \
    "joints:\n  pin: {revolute: {bodies: [a, c], at: [0, 0, 0], axis: z}}\n"                       \
    "  other: {revolute: {bodies: [b, c], at: [1, 0, 0], axis: z}}\n" SPIN
    start_found equal = start_of(HEADER "bodies:\n" LINK("a") LINK("b") LINK("c") BOTH),
                heavy = start_of(HEADER "bodies:\n" LINK("a")
                                     LINK("c") "  b: {mass: 3, inertia: [1, 1, 1]}\n" BOTH);
    CHECK_EQUAL(equal.cautions, 1);
    CHECK_EQUAL(heavy.cautions, 0);
    CHECK_NEAR(heavy.spin, -150.0 * 0.09, 1e-12); // a turns against c and b
}
