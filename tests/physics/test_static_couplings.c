// SPDX-License-Identifier: MIT
// Equilibria and modes with couplings, motions, locked latches and rotors: against closed forms and the linear system.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TURN = 6.283185307179586;

static double angle_of(const driven_run *r, const char *name)
{
    hn_joint_state state;
    CHECK_OK(r->context,
             hn_simulation_joint_state(r->simulation, hn_model_find_joint(r->model, name), &state));
    return state.coordinates[0];
}

static hn_equilibrium rest_of(driven_run *r)
{
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    def.at_time = true;
    CHECK_OK(r->context, hn_simulation_find_equilibrium(r->simulation, &def, &found));
    CHECK_BELOW(found.residual, 1e-9);
    return found;
}

static hn_modes_report modes_of(driven_run *r, hn_mode *modes, int count, bool here)
{
    hn_modes_def def = hn_modes_def_default();
    hn_modes_report report;
    def.count = count;
    def.at_start = here;
    def.statics.at_time = true;
    CHECK_OK(r->context, hn_simulation_modes(r->simulation, &def, modes, NULL, &report));
    return report;
}

// An arm of 2 kg whose gear wheel turns a shaft with a spring, and with a rotor where `armature`: one freedom.
static driven_run begin_geared(double stiffness, double armature, double up)
{
    char text[2000];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, %g]\n"
             "bodies:\n"
             "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
             "  shaft: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [3, 0, 0]}\n"
             "joints:\n"
             "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
             "  axle: {revolute: {bodies: [ground, shaft], at: [3, 0, 0], axis: y}}\n"
             "couplings:\n"
             "  mesh: {gear: {joints: [pin, axle], teeth: [30, 20]}}\n"
             "drives:\n"
             "  s: {spring: {joint: axle, stiffness: %g, armature: %g}}\n"
             "%s",
             up == 0.0 ? -9.81 : 0.0, stiffness, armature,
             up == 0.0 ? "" : "loads: {push: {force: {body: arm, vector: [-19.62, 0, 0]}}}\n");
    return begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
}

TEST(statics, couplings_hold)
{
    driven_run r = begin_geared(6.0, 0.05, 0.0);
    hn_equilibrium found = rest_of(&r);
    // (30/20)^2 6 t = 2 g 0.5 cos t
    double k = 2.25 * 6.0, t = 0.5;
    for (int n = 0; n < 60; ++n) t -= (k * t - 9.81 * cos(t)) / (k + 9.81 * sin(t));
    CHECK_NEAR(angle_of(&r, "pin"), t, 1e-12);         // rad
    CHECK_NEAR(angle_of(&r, "axle"), -1.5 * t, 1e-12); // rad
    CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
    hn_coupling_state mesh;
    CHECK_OK(r.context, hn_simulation_coupling(r.simulation, 0, &mesh));
    CHECK_NEAR(mesh.effort, -9.81 * cos(t), 1e-9); // N m: the weight's moment
    // and it stays there
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 50));
    CHECK_NEAR(angle_of(&r, "pin"), t, 1e-9);
    hn_mode mode;
    hn_modes_report report = modes_of(&r, &mode, 1, false);
    double inertia = 2.0 * 1.01 / 12.0 + 0.5 + 2.25 * (0.2 + 0.05);
    CHECK_EQUAL(report.count, 1);
    CHECK_NEAR(mode.frequency, sqrt((k + 9.81 * sin(t)) / inertia) / TURN, 1e-11); // Hz
    end_run(&r);
}

// The same arm pushed along itself by 19.62 N is a column on a spring: 2.25 k is more than 19.62 N times 0.5 m or less.
TEST(statics, stability_counts_what_couplings_let_move)
{
    for (int stable = 0; stable < 2; ++stable) {
        driven_run r = begin_geared(stable ? 5.0 : 4.0, 0.0, 1.0);
        hn_mode mode;
        hn_modes_report report = modes_of(&r, &mode, 1, true);
        double inertia = 2.0 * 1.01 / 12.0 + 0.5 + 2.25 * 0.2;
        CHECK_EQUAL(report.equilibrium.unstable_count, stable ? 0 : 1);
        CHECK_EQUAL(report.equilibrium.neutral_count, 0);
        CHECK_NEAR(mode.eigenvalue, (2.25 * (stable ? 5.0 : 4.0) - 9.81) / inertia, 1e-9);
        end_run(&r);
    }
    // no spring and no weight: one motion without stiffness, of both wheels together
    driven_run r = begin_geared(0.0, 0.0, 0.0);
    char text[] = "holonom: 1\n"
                  "gravity: [0, 0, 0]\n"
                  "bodies:\n"
                  "  a: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [0, 0, 0]}\n"
                  "  b: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [3, 0, 0]}\n"
                  "joints:\n"
                  "  j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}\n"
                  "  k: {revolute: {bodies: [ground, b], at: [3, 0, 0], axis: y}}\n"
                  "couplings: {mesh: {gear: {joints: [j, k], ratio: 2}}}\n";
    driven_run free = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    hn_mode modes[4];
    hn_modes_report report = modes_of(&free, modes, 4, true);
    CHECK_EQUAL(report.equilibrium.neutral_count, 1);
    CHECK_EQUAL(report.count, 1);
    end_run(&free);
    end_run(&r);
}

// Every frequency is one of the linear system, which is found in independent coordinates.
static void compare_with_linear_system(const char *text, double bound)
{
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    hn_equilibrium found = rest_of(&r);
    CHECK_EQUAL(found.unstable_count, 0);
    hn_mode modes[32]; // more than there are
    hn_modes_report report = modes_of(&r, modes, 32, true);
    hn_linear_system *system;
    CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &system));
    CHECK_EQUAL(report.count, system->freedom_count);
    for (int k = 0; k < report.count; ++k) {
        double nearest = HUGE_VAL, omega = TURN * modes[k].frequency;
        for (int i = 0; i < system->state_count; ++i)
            nearest = fmin(nearest, hypot(system->eigenvalue_real[i],
                                          system->eigenvalue_imaginary[i] - omega));
        CHECK_BELOW(nearest / omega, bound);
    }
    hn_linear_system_destroy(system);
    end_run(&r);
}

TEST(modes, with_couplings_are_those_of_the_linear_system)
{
    // a linkage with a belt, a screw, two springs with rotors; measured 1.1e-14 and 4.3e-13
    compare_with_linear_system(
        "holonom: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "bodies:\n" FOUR_BAR_BODIES
        "  flywheel: {mass: 2, inertia: [0.01, 0.01, 0.02], position: [2, 0, 0]}\n"
        "  nut: {mass: 1.5, inertia: [0.01, 0.02, 0.02], position: [2, 0, 0.4]}\n"
        "joints:\n" FOUR_BAR_JOINTS
        "  j5: {revolute: {bodies: [ground, flywheel], at: [2, 0, 0], axis: z}}\n"
        "  j6: {screw: {bodies: [flywheel, nut], at: [2, 0, 0.4], axis: z, pitch: 0.5}}\n"
        "couplings:\n"
        "  belt: {belt: {joints: [j4, j5], radii: [0.3, 0.1]}}\n"
        "drives:\n"
        "  s: {spring: {joint: j5, stiffness: 90, armature: 0.01}}\n"
        "  t: {spring: {joint: j6, coordinate: displacement, stiffness: 300, armature: 0.3}}\n",
        1e-11);
}

// Asked for all of them, with frequencies 1 : 1500: what round-off adds to them was shown as unstable, first of all.
TEST(modes, all_of_a_stiff_model_are_those_of_the_linear_system)
{
    compare_with_linear_system(
        "holonom: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  arm: {mass: 2.5, inertia: [0.09, 0.08, 0.1], position: [0.1, -0.5, 0.3]}\n"
        "beams:\n"
        "  rod: {from: [0.3, 0.3, 0.3], to: [0.8, 0.5, 0.1], elements: 2, direction: y,\n"
        "    section: {rectangle: [0.02, 0.03]},\n"
        "    material: {young: 1e7, poisson: 0.3, density: 1000}}\n"
        "joints:\n"
        "  pivot: {universal: {bodies: [ground, arm], at: [0, 0, 0], axes: [x, z]}}\n"
        "  root: {revolute: {bodies: [ground, rod.start], axis: y}}\n"
        "drives:\n"
        "  a: {spring: {joint: pivot, coordinate: angle_a, stiffness: 40}}\n"
        "  b: {spring: {joint: pivot, coordinate: angle_b, stiffness: 30}}\n"
        "  c: {spring: {joint: root, stiffness: 30}}\n",
        1e-8); // measured 9.1e-11, and 15 frequencies of 15
}

// Two screws on each other: ways that nothing but a thread holds. Round-off in the responses said that the equilibrium
// is neutral, and the gap of a thread was taken for its force: frequencies off by 3e-6, "unbalanced force 5.3e-4".
TEST(modes, of_screws_on_each_other)
{
    const char *const SCREWS =
        "holonom: 1\n"
        "gravity: [1, -9.81, -3]\n"
        "bodies:\n"
        "  b: {mass: 2, inertia: [0.1, 0.2, 0.15], position: [0.3, 0.4, 0]}\n"
        "  c: {mass: 1.5, inertia: [0.1, 0.08, 0.15], position: [0.9, 0.1, 0.2]}\n"
        "joints:\n"
        "  j: {screw: {bodies: [ground, b], at: [0, 0, 0], axis: z, pitch: 0.5}}\n"
        "  k: {screw: {bodies: [b, c], at: [0.5, 0.3, 0.1], axis: [1, 0.2, 0.3], pitch: 0.8}}\n"
        "drives:\n"
        "  s: {spring: {joint: j, coordinate: angle, stiffness: 200}}\n"
        "  t: {spring: {joint: k, coordinate: angle, stiffness: 100}}\n";
    compare_with_linear_system(SCREWS, 1e-12); // measured 1.4e-15
    driven_run r = begin_run(SCREWS, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    hn_equilibrium found = rest_of(&r);
    CHECK_EQUAL(found.neutral_count, 0);
    hn_mode modes[2];
    hn_modes_report report = modes_of(&r, modes, 2, true);
    CHECK_EQUAL(report.equilibrium.neutral_count, 0);
    CHECK_BELOW(report.equilibrium.residual, 5e-14); // measured 5.2e-16
    end_run(&r);
}

// Load steps are at rest, whatever the start velocities: they were those of the start, in every record.
TEST(statics, load_steps_are_at_rest)
{
    driven_run r =
        begin_run("holonom: 1\n"
                  "bodies: {arm: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}}\n"
                  "joints: {pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}}\n"
                  "loads: {s: {torsion_spring: {joint: pin, stiffness: 15}}}\n"
                  "start: {pin: {rate: 3}}\n",
                  HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    hn_energy energy;
    def.as_steps = true;
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &found));
    CHECK_OK(r.context, hn_simulation_energy(r.simulation, &energy));
    CHECK(energy.kinetic == 0.0);
    end_run(&r);
}

// Threads and a relation, and weights from all sides: as many directions leave the equilibrium as the linear system has
// growing motions, though most of the parts are free without what ties their coordinates.
TEST(statics, verdicts_on_screws_are_those_of_the_linear_system)
{
    int wrong = 0;
    for (int k = 0; k < 60; ++k) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "holonom: 1\n"
            "gravity: [%.9g, %.9g, %.9g]\n"
            "bodies:\n"
            "  a: {mass: 0.78, inertia: [0.07, 0.06, 0.07], position: [-0.27, -0.08, -0.41]}\n"
            "  b: {mass: 1.14, inertia: [0.1, 0.1, 0.08], position: [-0.25, -0.51, -0.15]}\n"
            "  c: {mass: 0.64, inertia: [0.06, 0.09, 0.09], position: [-0.27, -0.58, -0.35]}\n"
            "  d: {mass: 2.63, inertia: [0.06, 0.1, 0.08], position: [-0.75, -0.13, -0.28]}\n"
            "joints:\n"
            "  p: {screw: {bodies: [ground, a], at: [-0.13, -0.04, -0.21],\n"
            "    axis: [0.94, -0.13, -0.31], pitch: 0.78}}\n"
            "  q: {prismatic: {bodies: [a, b], at: [-0.26, -0.3, -0.28], axis: [0, -0.9, 0.43]}}\n"
            "  r: {screw: {bodies: [a, c], at: [-0.27, -0.33, -0.38], axis: [0.2, -0.98, 0.01],\n"
            "    pitch: 0.66}}\n"
            "  s: {cylindrical: {bodies: [a, d], at: [-0.51, -0.11, -0.35], axis: z}}\n"
            "couplings:\n"
            "  t: {relation: {joints: [s, s], coordinates: [displacement, angle], factors: [1, "
            "-0.91]}}\n"
            "drives:\n"
            "  h: {spring: {joint: p, coordinate: angle, stiffness: 107.65}}\n"
            "  i: {spring: {joint: q, stiffness: 638.59}}\n"
            "  j: {spring: {joint: r, coordinate: angle, stiffness: 139.76}}\n"
            "  k: {spring: {joint: s, coordinate: angle, stiffness: 118.54}}\n",
            5.0 * cos(k), 5.0 * sin(k), -5.0 * cos(2.0 * k));
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        hn_equilibrium found = rest_of(&r);
        hn_linear_system *system;
        CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &system));
        int growing = 0;
        for (int i = 0; i < system->state_count; ++i) growing += system->eigenvalue_real[i] > 1e-6;
        wrong += found.unstable_count != growing || found.neutral_count != 0;
        hn_linear_system_destroy(system);
        end_run(&r);
    }
    CHECK_EQUAL(wrong, 0);
}

// What a motion or a gear holds at the start of a file is in balance there, and its force has a part in the stiffness.
TEST(modes, at_a_start_that_a_motion_or_a_gear_holds)
{
    const double HANGING = sqrt(9.81 * 0.5 / (1.01 / 12.0 + 0.25)) / TURN;
    const char *const HOLDS[] = {
        "drives: {m: {motion: {joint: pin, value: 0}}}\n",
        "couplings: {c: {relation: {joints: [pin, rail], factors: [1, 1]}}}\n"
        "drives: {m: {motion: {joint: rail, value: 0}}}\n",
    };
    for (int k = 0; k < 2; ++k) {
        char text[1500];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n"
                 "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
                 "  bob: {shape: {box: {size: [0.1, 0.1, 1]}}, mass: 1, position: [1, 0, -0.5]}\n"
                 "  cart: {shape: {box: {size: [1, 1, 1]}}, mass: 3, position: [0, 5, 0]}\n"
                 "joints:\n"
                 "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                 "  hook: {revolute: {bodies: [arm, bob], at: [1, 0, 0], axis: y}}\n"
                 "  rail: {prismatic: {bodies: [ground, cart], at: [0, 5, 0], axis: x}}\n"
                 "loads: {s: {spring: {bodies: [ground, cart], from: [-1, 5, 0], to: [0, 5, 0], "
                 "stiffness: 1e4}}}\n%s",
                 HOLDS[k]);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        hn_mode modes[1];
        hn_modes_report report = modes_of(&r, modes, 1, true);
        CHECK_BELOW(report.equilibrium.residual,
                    9e-15); // measured 9.8e-17; without its effort 1.4
        CHECK_NEAR(modes[0].frequency, HANGING, 1e-12);
        end_run(&r);
    }
}

// A motion holds where it is told, a latch where it has locked: their efforts are those of the weight.
TEST(statics, motions_and_locked_latches_hold)
{
    static const char *const drives[2] = {"motion: {joint: elbow, value: 0.3 + 0.1*t}",
                                          "latch: {joint: elbow, value: 0.3}"};
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n"
                 "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
                 "  tip: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1, position: [1.5, 0, 0]}\n"
                 "joints:\n"
                 "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                 "  elbow: {revolute: {bodies: [arm, tip], at: [1, 0, 0], axis: y}}\n"
                 "drives:\n"
                 "  s: {spring: {joint: pin, stiffness: 60}}\n"
                 "  h: {%s}\n"
                 "start: {elbow: {angle: %s%s}}\n",
                 drives[k], k == 0 ? "0.3" : "0.2", k == 0 ? "" : ", rate: 20");
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        if (k == 1) CHECK_OK(r.context, hn_simulation_step(r.simulation, 30));
        hn_equilibrium found = rest_of(&r);
        CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
        // 60 t = g (2 0.5 cos t + 1 (cos t + 0.5 cos(t + 0.3)))
        double t = 0.4;
        for (int n = 0; n < 60; ++n)
            t -= (60.0 * t - 9.81 * (2.0 * cos(t) + 0.5 * cos(t + 0.3))) /
                 (60.0 + 9.81 * (2.0 * sin(t) + 0.5 * sin(t + 0.3)));
        CHECK_NEAR(angle_of(&r, "pin"), t, 1e-11);
        CHECK_NEAR(angle_of(&r, "elbow"), 0.3, 1e-12);
        CHECK_NEAR(drive_of(&r, 1).effort, -9.81 * 0.5 * cos(t + 0.3), 1e-9);
        // one freedom is left, for modes and for the linear system
        hn_mode modes[2];
        hn_linear_system *system;
        CHECK_EQUAL(modes_of(&r, modes, 2, true).count, 1);
        CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &system));
        CHECK_EQUAL(system->freedom_count, 1);
        if (k == 1)
            CHECK_NEAR(fabs(system->eigenvalue_imaginary[0]), TURN * modes[0].frequency, 1e-9);
        hn_linear_system_destroy(system);
        end_run(&r);
    }
}

// Joints and drives that hold a model everywhere leave no mode; round-off was printed as modes of 1e9 1/s.
TEST(modes, without_freedom_there_are_none)
{
    static const char *const held[] = {
        "joints: {j: {fixed: {bodies: [ground, a], at: [0, 0, 0]}}}\n",
        "joints: {j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}}\n"
        "drives: {d: {motion: {joint: j, value: 0.3*t}}}\n",
        "joints: {j: {spherical: {bodies: [ground, a], at: [0, 0, 0]}}}\n"
        "drives: {d: {motion: {joint: j, rotation: {axis: [0, 0, 1], angle: 0.3*t}}}}\n",
        "joints: {j: {cylindrical: {bodies: [ground, a], at: [0, 0, 0], axis: y}}}\n"
        "drives: {d: {motion: {joint: j, coordinate: angle, value: 0.3*t}},\n"
        "  e: {motion: {joint: j, coordinate: displacement, value: 0.1*t}}}\n",
    };
    for (size_t k = 0; k < sizeof held / sizeof held[0]; ++k) {
        char text[1000];
        hn_mode modes[10];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}}\n%s",
                 held[k]);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        CHECK_EQUAL(modes_of(&r, modes, 10, false).count, 0);
        hn_linear_system *system;
        CHECK_OK(r.context, hn_simulation_linearise(r.simulation, &system));
        CHECK_EQUAL(system->freedom_count, 0);
        hn_linear_system_destroy(system);
        end_run(&r);
    }
}

// Springs of drives at rest: the effort is that of the place, in however many load steps it was reached. It was that of
// the mean over the last one: half of it in one step.
TEST(statics, efforts_of_springs_are_those_of_the_place)
{
    static const char *const springs[] = {
        "stiffness: 20", "table: {displacements: [-1, 0, 1], efforts: [-20, 0, 20]}"};
    for (int k = 0; k < 2; ++k)
        for (int steps = 1; steps <= 10; steps += 3) {
            char text[1000];
            snprintf(text, sizeof text,
                     "holonom: 1\n"
                     "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}\n"
                     "joints: {j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}}\n"
                     "drives: {d: {spring: {joint: j, %s}}}\n",
                     springs[k]);
            driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
            hn_static_def def = hn_static_def_default();
            hn_equilibrium found;
            def.load_steps = steps;
            CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &found));
            CHECK_NEAR(drive_of(&r, 0).effort, -20.0 * angle_of(&r, "j"), 1e-12);
            CHECK_NEAR(drive_of(&r, 0).effort, -9.81 * cos(angle_of(&r, "j")), 1e-9);
            end_run(&r);
        }
}

TEST(statics, couplings_that_cannot_hold_are_named)
{
    static const char TEXT[] = "holonom: 1\n"
                               "bodies:\n"
                               "  a: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [0, 0, -0.5]}\n"
                               "  b: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [2, 0, -0.5]}\n"
                               "  c: {mass: 1, inertia: [0.1, 0.2, 0.1], position: [1, 0, -1]}\n"
                               "joints:\n"
                               "  j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}\n"
                               "  k: {revolute: {bodies: [ground, b], at: [2, 0, 0], axis: y}}\n"
                               "  l: {revolute: {bodies: [a, c], at: [0, 0, -1], axis: y}}\n"
                               "  m: {revolute: {bodies: [b, c], at: [2, 0, -1], axis: y}}\n"
                               "%s";
    const struct {
        const char *more, *message;
    } cases[2] = {
        {"couplings: {mesh: {belt: {joints: [j, k], ratio: 1}}}\n", "coupling 'mesh'"},
        {"drives: {dry: {friction: {joint: j, effort: 1}}}\n",
         "drive 'dry' is a friction, which may rest at many places"},
    };
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        snprintf(text, sizeof text, TEXT, cases[k].more);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
        hn_static_def def = hn_static_def_default();
        CHECK(hn_simulation_find_equilibrium(r.simulation, &def, NULL) != HN_OK);
        CHECK_CONTAINS(hn_context_message(r.context), cases[k].message);
        end_run(&r);
    }
}
