// SPDX-License-Identifier: MIT
// Soft motions beside stiff parts, in statics and modes: against closed forms that know nothing of what is stiff.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TURN = 6.283185307179586, GRAVITY = 9.81;

static driven_run begin(const char *text)
{
    return begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
}

static hn_equilibrium rest_of(driven_run *r, int load_steps)
{
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    def.load_steps = load_steps;
    CHECK_OK(r->context, hn_simulation_find_equilibrium(r->simulation, &def, &found));
    return found;
}

static hn_modes_report modes_of(driven_run *r, hn_mode *modes, int count, bool here)
{
    hn_modes_def def = hn_modes_def_default();
    hn_modes_report report;
    def.count = count;
    def.at_start = here;
    CHECK_OK(r->context, hn_simulation_modes(r->simulation, &def, modes, NULL, &report));
    return report;
}

// ---- buckling ---------------------------------------------------------------------------------------

static hn_equilibrium strip_under(int elements, double load)
{
    char text[1000];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, 0]\n"
             "beams:\n"
             "  strip: {from: [0, 0, 0], to: [1, 0, 0], elements: %d, order: 2, direction: z,\n"
             "    stiffness: {shear: 1e7, axial: 1e7, bending: [1, 1e6], torsion: 1},\n"
             "    mass_per_length: 1, inertia_per_length: [1e-4, 1e-4], clamped: start}\n"
             "loads: {tip: {force: {body: strip.end, vector: [0, 0, %.17g]}}}\n",
             elements, load);
    driven_run r = begin(text);
    hn_equilibrium found = rest_of(&r, 1);
    end_run(&r);
    return found;
}

// Prandtl and Michell 1899: 4.0126 sqrt(EI GJ)/L^2. With zero as a part of the largest stiffness, which grows with the
// mesh, 80 elements were said to be neutral from 3.92 to 4.10.
TEST(soft_motions, strip_buckles_sideways_at_its_load_in_any_mesh)
{
    const double CRITICAL = 4.0126;
    static const int meshes[] = {5, 10, 20, 40, 80};
    for (size_t k = 0; k < sizeof meshes / sizeof meshes[0]; ++k) {
        double within =
            meshes[k] == 5 ? 3.3e-4 : 5e-5; // measured 3.0e-4: what five elements are off; 2.0e-5
        hn_equilibrium below = strip_under(meshes[k], CRITICAL * (1.0 - within)),
                       above = strip_under(meshes[k], CRITICAL * (1.0 + within));
        CHECK_EQUAL(below.unstable_count + below.neutral_count, 0);
        CHECK_EQUAL(above.unstable_count, 1);
        CHECK_EQUAL(above.neutral_count, 0);
    }
}

static hn_equilibrium frame_under(int elements, double load)
{
    static const char LEG[] =
        "    elements: %d, order: 2, direction: z, material: {young: 71240, poisson: 0.31, "
        "density: 1e-6},\n"
        "    section: {moments: {area: 18, bending: [1350, 0.54], torsion: 2.16}}%s}\n";
    char text[1500], column[300], arm[300];
    snprintf(column, sizeof column, LEG, elements, ", clamped: start");
    snprintf(arm, sizeof arm, LEG, elements, "");
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, 0]\n"
             "beams:\n"
             "  column: {from: [0, 0, 0], to: [0, 240, 0],\n%s"
             "  arm: {from: [0, 240, 0], to: [240, 240, 0],\n%s"
             "joints: {elbow: {fixed: {bodies: [column.end, arm.start]}}}\n"
             "loads: {tip: {force: {body: arm.end, vector: [0, %.17g, 0]}}}\n",
             column, arm, load);
    driven_run r = begin(text);
    hn_equilibrium found = rest_of(&r, 1);
    end_run(&r);
    return found;
}

// Argyris and others 1979, to their digits 1.088 and -0.680; 1.08752 and -0.68043 by a solution that shares no code.
TEST(soft_motions, frame_buckles_sideways_at_its_loads_in_any_mesh)
{
    static const double CRITICAL[2] = {1.08752, -0.68043};
    static const int meshes[] = {5, 20, 80};
    for (size_t k = 0; k < sizeof meshes / sizeof meshes[0]; ++k)
        for (int side = 0; side < 2; ++side) {
            const double within = 3e-5; // measured 1e-5, the last digit
            hn_equilibrium below = frame_under(meshes[k], CRITICAL[side] * (1.0 - within)),
                           above = frame_under(meshes[k], CRITICAL[side] * (1.0 + within));
            CHECK_EQUAL(below.unstable_count + below.neutral_count, 0);
            CHECK_EQUAL(above.unstable_count, 1);
            CHECK_EQUAL(above.neutral_count, 0);
        }
}

// On the far side of the load as few iterations as on the near one: ten halvings took 46, where the path only goes on
// straight.
TEST(soft_motions, straight_path_goes_on_past_its_branching_at_once)
{
    hn_equilibrium near = strip_under(20, 3.9), far = strip_under(20, 4.2);
    CHECK_EQUAL(far.unstable_count, 1);
    CHECK(near.iteration_total <= 4); // measured 3
    CHECK(far.iteration_total <= 12); // measured 9: one halving tells how the path goes
}

// ---- light beside heavy -----------------------------------------------------------------------------

// A pendulum of 1 m in the middle of a girder of steel, 4 m long. Of 10 g it was "0 Hz, rigid: nothing holds it".
TEST(soft_motions, pendulum_under_a_girder_swings_whatever_its_mass)
{
    static const double masses[] = {1.0, 1e-2, 1e-3, 1e-6};
    for (size_t k = 0; k < sizeof masses / sizeof masses[0]; ++k) {
        static const char HALF[] = "elements: 10, direction: z, section: {rectangle: [0.2, 0.3]},\n"
                                   "    material: {young: 2.1e11, poisson: 0.3, density: 7850}";
        char text[1500];
        double m = masses[k];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {bob: {mass: %g, inertia: [%g, %g, %g], position: [2, 0, -1]}}\n"
                 "beams:\n"
                 "  girder: {from: [0, 0, 0], to: [2, 0, 0], clamped: start, %s}\n"
                 "  other: {from: [2, 0, 0], to: [4, 0, 0], clamped: end, %s}\n"
                 "joints:\n"
                 "  weld: {fixed: {bodies: [girder.end, other.start]}}\n"
                 "  hook: {universal: {bodies: [girder.end, bob], at: [2, 0, 0], axes: [x, y]}}\n",
                 m, 1e-9 * m, 1e-9 * m, 1e-9 * m, HALF, HALF);
        driven_run r = begin(text);
        hn_equilibrium found = rest_of(&r, 1);
        CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
        hn_mode modes[3];
        hn_modes_report report = modes_of(&r, modes, 3, true);
        CHECK_EQUAL(report.equilibrium.neutral_count, 0);
        const double expected = sqrt(GRAVITY / (1.0 + 1e-9)) / TURN;
        for (int i = 0; i < 2; ++i) {
            CHECK(!modes[i].rigid);
            // the hook gives way to 1 kg; measured 1.8e-8, and 2e-10 beside lighter ones
            CHECK_NEAR(modes[i].frequency / expected, 1.0, m == 1.0 ? 1e-7 : 1e-8);
            CHECK_BELOW(modes[i].round_off, 1e-2 * expected); // measured 1.0e-3 Hz for 1 mg
        }
        end_run(&r);
    }
}

// The same under a heavy bed on stiff feet, whichever of the two stands first in the file.
TEST(soft_motions, pendulum_under_a_machine_bed)
{
    static const double feet[] = {1e6, 1e10, 1e12};
    for (int k = 0; k < 6; ++k) {
        static const char
            BOB[] = "  bob: {mass: 1e-3, inertia: [1e-12, 1e-12, 1e-12], position: [0, 0, -1]}\n",
            BED[] = "  bed: {mass: 1000, inertia: [100, 200, 200], position: [0, 0, 0]}\n";
        char text[1000];
        double stiff = feet[k / 2];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n%s%s"
                 "joints: {hook: {universal: {bodies: [bed, bob], at: [0, 0, 0], axes: [x, y]}}}\n"
                 "loads: {feet: {bushing: {bodies: [ground, bed], at: [0, 0, 0],\n"
                 "  stiffness: [%g, %g, %g, %g, %g, %g]}}}\n",
                 k % 2 == 0 ? BOB : BED, k % 2 == 0 ? BED : BOB, stiff, stiff, stiff, stiff, stiff,
                 stiff);
        driven_run r = begin(text);
        hn_equilibrium found = rest_of(&r, 1);
        CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
        hn_mode modes[2];
        modes_of(&r, modes, 2, true);
        for (int i = 0; i < 2; ++i)
            CHECK_NEAR(modes[i].frequency * TURN / sqrt(GRAVITY), 1.0, 1e-7); // measured 6e-9
        end_run(&r);
    }
}

// Sliders askew, one on the other: as soft and as light as may be beside as stiff and as heavy.
TEST(soft_motions, springs_apart_by_fifteen_decades)
{
    static const double cases[][4] = {// m, k, M, K
                                      {1e-6, 1e-6, 1e6, 1e9},
                                      {1e-6, 1e-3, 1e6, 1e6},
                                      {1.0, 1e-6, 1.0, 1e9},
                                      {1e-6, 1e-6, 1e6, 1e12}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        double m = cases[c][0], k = cases[c][1], heavy = cases[c][2], stiff = cases[c][3];
        char text[1000];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  big: {mass: %g, inertia: [%g, %g, %g], position: [0, 0, 0]}\n"
                 "  small: {mass: %g, inertia: [%g, %g, %g], position: [1, 0.3, 0.2]}\n"
                 "joints:\n"
                 "  a: {prismatic: {bodies: [ground, big], at: [0, 0, 0], axis: [1, 2, 3]}}\n"
                 "  b: {prismatic: {bodies: [big, small], at: [1, 0.3, 0.2], axis: [1, -1, 0.3]}}\n"
                 "drives:\n"
                 "  s: {spring: {joint: a, stiffness: %g}}\n"
                 "  t: {spring: {joint: b, stiffness: %g}}\n",
                 heavy, heavy, heavy, heavy, m, m, m, m, stiff, k);
        driven_run r = begin(text);
        hn_equilibrium found = rest_of(&r, 10);
        CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
        hn_mode modes[2];
        hn_modes_report report = modes_of(&r, modes, 2, true);
        double soft = sqrt(k / m) / TURN, other = sqrt(stiff / heavy) / TURN;
        CHECK_NEAR(modes[0].frequency / fmin(soft, other), 1.0, 1e-10); // measured 5e-13
        if (report.count > 1) CHECK_NEAR(modes[1].frequency / fmax(soft, other), 1.0, 1e-10);
        end_run(&r);
    }
}

// A shape of the heavy one alone was said to be that of the light one, whose round-off its norm does not see.
TEST(soft_motions, heavy_ones_are_named_beside_light_ones)
{
    static const double masses[] = {1e9, 1e20, 1e24};
    for (size_t k = 0; k < sizeof masses / sizeof masses[0]; ++k) {
        char text[1000];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "parameters: {M: %g}\n"
                 "bodies:\n"
                 "  light: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 0.001, left: [0, 0, 0]}\n"
                 "  heavy: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: M, left: [3, 0, 0]}\n"
                 "joints:\n"
                 "  one: {revolute: {bodies: [ground, light], at: [0, 0, 0], axis: z}}\n"
                 "  other: {revolute: {bodies: [ground, heavy], at: [3, 0, 0], axis: z}}\n"
                 "loads:\n"
                 "  a: {torsion_spring: {joint: one, stiffness: 0.01}}\n"
                 "  b: {torsion_spring: {joint: other, stiffness: 40*M}}\n",
                 masses[k]);
        driven_run r = begin(text);
        hn_mode modes[2];
        hn_modes_report report = modes_of(&r, modes, 2, false);
        CHECK(report.count > 0);
        CHECK_TEXT(hn_model_body_name(r.model, modes[report.count - 1].body), "heavy");
        end_run(&r);
    }
}

// ---- zero -------------------------------------------------------------------------------------------

// Upright on a spring as stiff as its weight: told from zero to 1e-9 of it on both sides, and at zero with the amount.
TEST(soft_motions, what_cancels_is_told_from_zero_by_its_round_off)
{
    static const double parts[] = {1.0 + 1e-9, 1.0 - 1e-9, 1.0};
    for (int k = 0; k < 3; ++k) {
        char text[500];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {arm: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}}\n"
                 "joints: {pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}}\n"
                 "loads: {s: {torsion_spring: {joint: pin, stiffness: %.17g}}}\n",
                 parts[k] * GRAVITY);
        driven_run r = begin(text);
        hn_equilibrium found = rest_of(&r, 1);
        CHECK_EQUAL(found.unstable_count, k == 1);
        CHECK_EQUAL(found.neutral_count, k == 2);
        CHECK_EQUAL(found.unclear_count, k == 2);
        hn_mode mode;
        modes_of(&r, &mode, 1, true);
        CHECK(mode.rigid == (k == 2) && mode.held == (k == 2));
        CHECK_BELOW(mode.round_off, 1e-6);                                // Hz; measured 3.5e-8
        const double swing = sqrt(1e-9 * GRAVITY / 2.0);                  // inertia 2 about the pin
        if (k == 0) CHECK_NEAR(TURN * mode.frequency / swing, 1.0, 1e-5); // measured 8.7e-8
        if (k == 1) CHECK_NEAR(mode.growth_rate / swing, 1.0, 1e-5);
        if (k == 2) CHECK_NEAR(found.unclear_frequency / mode.round_off, 1.0, 1e-3);
        end_run(&r);
    }
}

// Nothing holds three bodies in space, though what is between them is fifteen decades apart.
TEST(soft_motions, free_bodies_have_six_rigid_ones)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
        "  b: {mass: 1e6, inertia: [1e6, 1e6, 1e6], position: [3, 0, 0]}\n"
        "  c: {mass: 1e-6, inertia: [1e-6, 1e-6, 1e-6], position: [0, 3, 0]}\n"
        "loads:\n"
        "  s: {bushing: {bodies: [a, b], at: [1, 0, 0], stiffness: [1e9, 1e9, 1e9, 1e9, 1e9, "
        "1e9]}}\n"
        "  u: {bushing: {bodies: [a, c], at: [0, 1, 0],\n"
        "    stiffness: [1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6]}}\n";
    driven_run r = begin(TEXT);
    hn_mode modes[12];
    hn_modes_report report = modes_of(&r, modes, 12, true);
    CHECK_EQUAL(report.count, 12);
    CHECK_EQUAL(report.equilibrium.neutral_count, 6);
    CHECK_EQUAL(report.equilibrium.unclear_count, 0);
    for (int k = 0; k < 12; ++k) {
        CHECK(modes[k].rigid == (k < 6) && !modes[k].held);
        CHECK(k < 6 || modes[k].frequency > 0.06);
    }
    end_run(&r);
}

// A light arm stands upright on a gear, whose spring is nearly as stiff as its weight, beside stiff feet: the gear is a
// relation, whose verdicts were counted with the round-off of what it holds.
TEST(soft_motions, soft_gears_beside_stiff_feet)
{
    static const double parts[] = {1.001, 0.999};
    for (int k = 0; k < 2; ++k) {
        char text[1500];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n"
                 "  big: {mass: 1e3, inertia: [1e3, 1e3, 1e3], position: [0, 0, 0]}\n"
                 "  arm: {mass: 1e-3, inertia: [1e-6, 1e-6, 1e-6], position: [0, 0, 1]}\n"
                 "  shaft: {mass: 1e-3, inertia: [1e-6, 1e-6, 1e-6], position: [3, 0, 0]}\n"
                 "joints:\n"
                 "  pin: {revolute: {bodies: [big, arm], at: [0, 0, 0], axis: y}}\n"
                 "  axle: {revolute: {bodies: [big, shaft], at: [3, 0, 0], axis: y}}\n"
                 "couplings: {mesh: {gear: {joints: [pin, axle], teeth: [30, 20]}}}\n"
                 "drives: {s: {spring: {joint: axle, stiffness: %.17g}}}\n"
                 "loads: {f: {bushing: {bodies: [ground, big], at: [0, 0, 0],\n"
                 "  stiffness: [1e10, 1e10, 1e10, 1e10, 1e10, 1e10]}}}\n",
                 parts[k] * 1e-3 * GRAVITY / 2.25);
        driven_run r = begin(text);
        hn_equilibrium found = rest_of(&r, 1);
        CHECK_EQUAL(found.unstable_count, k);
        CHECK_EQUAL(found.neutral_count, 0);
        end_run(&r);
    }
}
