// SPDX-License-Identifier: MIT
// Start angles beyond half a turn: springs, drives, couplings, results and snapshots see the turns that were given.
#include "driven_run.h"

#include <stdio.h>

static const double PI = 3.141592653589793;

#define WHEEL                                                                                      \
    "holonom: 1\nname: wheel\ngravity: [0, 0, 0]\n"                                                \
    "bodies:\n  w: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}\n"                           \
    "joints:\n  h: {revolute: {bodies: [ground, w], at: [0, 0, 0], axis: z}}\n"

static double first_coordinate(const driven_run *r, int index, int coordinate)
{
    hn_joint_state state;
    CHECK_OK(r->context, hn_simulation_joint_state(
                             r->simulation, hn_simulation_joint(r->simulation, index), &state));
    return state.coordinates[coordinate];
}

#define WOUND "loads:\n  k: {torsion_spring: {joint: h, stiffness: 1, rest_angle: 10}}\n"
#define BEGIN "start: {h: {angle: 13, rate: 3}}\n"

// Largest distance from  J x'' = -k (x - rest), J = 2 kg m^2, from 13 rad at 3 rad/s
static double distance_from(const char *text, hn_scheme scheme, double stiffness, double rest)
{
    const double H = 0.002, OMEGA = sqrt(0.5 * stiffness);
    driven_run r = begin_run(text, scheme, HN_REDUCTION_REDUCED, H);
    double worst = fabs(first_coordinate(&r, 0, 0) - 13.0);
    for (int n = 1; n <= 1000; ++n) {
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        double t = n * H;
        double exact = rest + (13.0 - rest) * cos(OMEGA * t) + 3.0 / OMEGA * sin(OMEGA * t);
        worst = fmax(worst, fabs(first_coordinate(&r, 0, 0) - exact));
    }
    end_run(&r);
    return worst;
}

TEST(turns, given_at_the_start_are_those_that_springs_and_drives_see)
{
    static const hn_scheme DRIVEN[] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                       HN_SCHEME_RATTLE, HN_SCHEME_CONVECTED,
                                       HN_SCHEME_GGL_ENERGY_MOMENTUM};
    static const hn_scheme OTHERS[] = {HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_PROJECTED_RK};
    // measured 1.2e-5 at most; whole turns before
    for (size_t i = 0; i < sizeof DRIVEN / sizeof DRIVEN[0]; ++i)
        CHECK_BELOW(distance_from(WHEEL "drives:\n  s: {spring: {joint: h, stiffness: 3, "
                                        "rest: 14}}\n" WOUND BEGIN,
                                  DRIVEN[i], 4.0, 13.0),
                    2e-5);
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; ++i)
        CHECK_BELOW(distance_from(WHEEL WOUND BEGIN, OTHERS[i], 1.0, 10.0),
                    6e-5); // 4.0e-5 of generalized-alpha
}

TEST(turns, given_at_the_start_are_those_that_stops_motions_and_screws_see)
{
    driven_run r = begin_run(WHEEL "drives:\n  b: {stop: {joint: h, lower: 0 deg, upper: 270 deg, "
                                   "stiffness: 100}}\nstart: {h: {angle: 200 deg}}\n",
                             HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 100));
    CHECK_NEAR(first_coordinate(&r, 0, 0), 200.0 * PI / 180.0, 1e-15); // it rests
    end_run(&r);
    r = begin_run(WHEEL "drives:\n  m: {motion: {joint: h, value: 4 + t}}\n"
                        "start: {h: {angle: 4}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 100));
    CHECK_NEAR(first_coordinate(&r, 0, 0), 4.2, 1e-13);
    end_run(&r);
    // the displacement says it as well as the angle
    static const char *const STARTS[2] = {"angle: 10 rev", "displacement: 1"};
    for (int k = 0; k < 2; ++k) {
        char text[500];
        snprintf(text, sizeof text,
                 "holonom: 1\nname: screw\ngravity: [0, 0, 0]\n"
                 "bodies:\n  w: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}\n"
                 "joints:\n  h: {screw: {bodies: [ground, w], at: [0, 0, 0], axis: z, "
                 "pitch: 0.1}}\nstart: {h: {%s, rate: 1}}\n",
                 STARTS[k]);
        r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
        CHECK_NEAR(first_coordinate(&r, 0, 0), 1.0, 1e-15);
        CHECK_NEAR(first_coordinate(&r, 0, 1), 20.0 * PI, 1e-13);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 100));
        CHECK_NEAR(first_coordinate(&r, 0, 0), 0.1 / (2.0 * PI) * first_coordinate(&r, 0, 1),
                   1e-14);
        end_run(&r);
    }
}

TEST(turns, given_at_the_start_are_those_of_gears_and_of_axes_at_right_angles)
{
    driven_run r =
        begin_run("holonom: 1\nname: gears\ngravity: [0, 0, 0]\n"
                  "bodies:\n  a: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}\n"
                  "  b: {mass: 1, inertia: [1, 1, 2], position: [1, 0, 0]}\n"
                  "joints:\n  h: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: z}}\n"
                  "  k: {revolute: {bodies: [ground, b], at: [1, 0, 0], axis: z}}\n"
                  "drives:\n  s: {spring: {joint: k, stiffness: 3, rest: -26}}\n"
                  "couplings:\n  g: {gear: {joints: [h, k], teeth: [20, 10]}}\n"
                  "start: {h: {angle: 13}, k: {angle: -26}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
    const double wanted[2] = {14.0, -28.0};
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 10));
    CHECK_NEAR(first_coordinate(&r, 0, 0), 13.0, 1e-13); // the spring is at rest
    CHECK_NEAR(first_coordinate(&r, 1, 0), -26.0, 1e-13);
    CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, wanted, NULL, 2));
    CHECK_NEAR(drive_of(&r, 0).coordinate, -28.0, 1e-13);
    // one that is refused changes nothing, in the steps that follow either
    const double refused[2] = {14.0 + 4.0 * PI, -28.0};
    double next[2];
    size_t size = hn_simulation_snapshot_size(r.simulation);
    void *state = malloc(size);
    CHECK(state != NULL);
    CHECK_OK(r.context, hn_simulation_save(r.simulation, state, size));
    for (int k = 0; k < 2; ++k) {
        if (k == 1)
            CHECK_STATUS(r.context, hn_simulation_set_joints(r.simulation, refused, NULL, 2),
                         HN_INVALID_ARGUMENT);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 5));
        next[k] = first_coordinate(&r, 0, 0);
        CHECK_OK(r.context, hn_simulation_restore(r.simulation, state, size));
    }
    CHECK(next[0] == next[1]); // two turns apart before
    free(state);
    end_run(&r);
    r = begin_run("holonom: 1\nname: cross\ngravity: [0, 0, 0]\n"
                  "bodies:\n  w: {mass: 1, inertia: [1, 1, 2], position: [0, 0, 0]}\n"
                  "joints:\n  h: {universal: {bodies: [ground, w], at: [0, 0, 0], axes: [x, y]}}\n"
                  "drives:\n"
                  "  s: {servo: {joint: h, coordinate: angle_a, target: 7, proportional: 10}}\n"
                  "  t: {servo: {joint: h, coordinate: angle_b, target: -200 deg, "
                  "proportional: 10}}\n"
                  "start: {h: {angle_a: 7, angle_b: -200 deg}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 10));
    CHECK_NEAR(drive_of(&r, 0).coordinate, 7.0, 1e-13); // both at rest where they are to be
    CHECK_NEAR(drive_of(&r, 1).coordinate, -200.0 * PI / 180.0, 1e-13);
    const double crossed[2] = {-8.0, 5.0};
    CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, crossed, NULL, 2));
    CHECK_NEAR(drive_of(&r, 0).coordinate, -8.0, 1e-13);
    CHECK_NEAR(drive_of(&r, 1).coordinate, 5.0, 1e-13);
    end_run(&r);
}

TEST(turns, given_at_the_start_belong_to_the_model_and_to_its_snapshots)
{
    static const char *const TEXTS[2] = {WHEEL "start: {h: {angle: 200 deg}}\n",
                                         WHEEL "start: {h: {angle: -160 deg}}\n"};
    double start, state[400];
    driven_run r = begin_run(TEXTS[0], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
    CHECK_EQUAL(hn_model_joint_start(r.model, hn_model_joint(r.model, 0), NULL, &start), 1);
    CHECK_NEAR(start, 200.0 * PI / 180.0, 1e-15);
    size_t size = hn_simulation_snapshot_size(r.simulation);
    CHECK(size <= sizeof state);
    CHECK_OK(r.context, hn_simulation_save(r.simulation, state, size));
    for (int k = 0; k < 2; ++k) {
        driven_run other =
            begin_run(TEXTS[k], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.002);
        CHECK_STATUS(other.context, hn_simulation_restore(other.simulation, state, size),
                     k == 0 ? HN_OK : HN_INVALID_ARGUMENT);
        CHECK_NEAR(first_coordinate(&other, 0, 0), (k == 0 ? 200.0 : -160.0) * PI / 180.0, 1e-15);
        end_run(&other);
    }
    end_run(&r);
}

// Rates of a joint that starts away from where its bodies are drawn, with either body first. Before, those of planar
// and free joints were taken along the axes of the second body and without its turn where the first one is what moves.
TEST(rates, given_at_the_start_are_those_of_either_body_first)
{
    static const struct {
        const char *joint, *start;
        int count;
    } CASES[] = {
        {"planar: {bodies: [%s], at: {a: [0, 1, 0], b: [1, 1, 0]}, normal: z}", "", 3},
        {"planar: {bodies: [%s], at: [0, 1, 0], normal: [1, 2, 3], direction: [3, 0, -1]}",
         "angle: 2, displacement_2: 0.4, ", 3},
        {"free: {bodies: [%s], at: {a: [0, 0, 0], b: [1, 2, 2]}}", "", 6},
        {"free: {bodies: [%s]}", "place: [1, 2, 3], rotation: [0.3, 0.2, 2], ", 6},
        {"universal: {bodies: [%s], at: [0, 1, 0], axes: [x, y]}", "angle_a: 1, angle_b: 0.5, ", 2},
        {"cylindrical: {bodies: [%s], at: [0, 1, 0], axis: x}", "displacement: 2, angle: 3, ", 2},
        {"spherical: {bodies: [%s], at: [0, 1, 0]}", "rotation: [1, 2, 0.3], ", 3},
        {"slot: {bodies: [%s], at: {a: [0, 0, 0], b: [1, 2, 2]}, axis: [1, 2, 2]}", "", 4},
    };
    static const double GIVEN[6] = {0.3, 0.7, 0.2, 0.1, -0.5, 2.0};
    double worst = 0.0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i)
        for (int order = 0; order < 2; ++order) {
            char text[1024], joint[200], rates[100] = "";
            snprintf(joint, sizeof joint, CASES[i].joint, order == 0 ? "ground, w" : "w, ground");
            for (int k = 0; k < CASES[i].count; ++k)
                snprintf(rates + strlen(rates), sizeof rates - strlen(rates), "%s%g",
                         k == 0 ? "" : ", ", GIVEN[k]);
            snprintf(text, sizeof text,
                     "holonom: 1\nname: rates\nbodies:\n  w: {mass: 1, inertia: [1, 1, 1.5], "
                     "center_of_mass: [0.1, 0.2, 0.3]}\n"
                     "joints:\n  j: {%s}\nstart:\n  j: {%srates: [%s]}\n",
                     joint, CASES[i].start, rates);
            driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.001);
            hn_joint_state state;
            CHECK_OK(r.context, hn_simulation_joint_state(
                                    r.simulation, hn_simulation_joint(r.simulation, 0), &state));
            CHECK_EQUAL(state.coordinate_count, CASES[i].count);
            for (int k = 0; k < CASES[i].count; ++k)
                worst = fmax(worst, fabs(state.rates[k] - GIVEN[k]));
            end_run(&r);
        }
    CHECK_BELOW(worst, 2e-14); // measured 1.1e-15; 2.9 before
}
