// SPDX-License-Identifier: MIT
// Dry friction never gives energy: ten thousand random machines and states.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "support/check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

// Random machines from random states: what friction does in a step is never work that it gives.
TEST(friction, never_gives_energy)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}\n"
        "  b: {mass: 0.7, inertia: [0.05, 0.1, 0.1], position: [1.4, 0, 0]}\n"
        "joints:\n"
        "  j: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}\n"
        "  k: {cylindrical: {bodies: [a, b], at: [1, 0, 0], axis: [%.3f, 1, 0.2]}}\n"
        "drives:\n"
        "  s: {spring: {joint: k, coordinate: displacement, stiffness: %.6g}}\n"
        "  p: {friction: {joint: j, effort: %.6g, coefficient: %.6g, radius: 0.05, static: %.6g, "
        "stribeck: %.6g}}\n"
        "  q: {friction: {joint: k, coordinate: displacement, effort: %.6g, static: %.6g, "
        "stribeck: 0.1}}\n"
        "  r: {friction: {joint: k, coordinate: angle, effort: %.6g}}\n";
    uint64_t random = 12345;
    double worst = 0.0;
    int cases = 0, stuck = 0, failed = 0;
    for (int model = 0; model < 50; ++model) {
        char text[2000];
        double x[9];
        for (int i = 0; i < 9; ++i) x[i] = next_random(&random);
        snprintf(text, sizeof text, TEXT, x[0], 50.0 * pow(10.0, x[1]), 2.0 * pow(10.0, x[2]),
                 0.2 * (1.0 + x[3]), 1.3 + 0.3 * x[4], pow(10.0, x[5]), 3.0 * pow(10.0, x[6]),
                 1.3 + 0.3 * x[7], pow(10.0, x[8]));
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED,
                                 2e-3 * pow(10.0, 0.7 * next_random(&random)));
        for (int i = 0; i < 200; ++i, ++cases) {
            double coordinates[3], rates[3], before[3];
            for (int c = 0; c < 3; ++c) {
                coordinates[c] = 0.5 * next_random(&random);
                rates[c] = (i % 3 == 0 ? 0.03 : 2.0) * next_random(&random);
            }
            CHECK_OK(r.context, hn_simulation_set_joints(r.simulation, coordinates, rates, 3));
            for (int d = 0; d < 3; ++d) before[d] = drive_of(&r, 1 + d).work;
            if (hn_simulation_step(r.simulation, 3) != HN_OK) {
                ++failed;
                continue;
            }
            for (int d = 0; d < 3; ++d) {
                hn_drive_state s = drive_of(&r, 1 + d);
                worst = fmax(worst, s.work - before[d]);
                stuck += fabs(s.power) < 1e-12;
            }
        }
        end_run(&r);
    }
    CHECK_EQUAL(cases, 10000);
    CHECK_EQUAL(failed, 0);
    CHECK(stuck > 900);        // measured 973
    CHECK_BELOW(worst, 1e-10); // J
}
