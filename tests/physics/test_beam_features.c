// SPDX-License-Identifier: MIT
// What a model file can say of beams, each against a formula of the books: shapes, sections, masses, bodies, loads,
// ends.
#include "physics/run.h"

static const double PI = 3.14159265358979323846, G = 9.81;

// EI = 1000 N m^2 about both axes, GJ = 800, slender enough for Euler and Bernoulli; loads bend it by about 1e-5.
#define STIFF                                                                                      \
    "    stiffness: {shear: 1e9, axial: 1e9, bending: [1000, 1000], torsion: 800}\n"               \
    "    mass_per_length: %g\n"                                                                    \
    "    inertia_per_length: [1e-6, 1e-6]\n"

static run rest_of(const char *text)
{
    run r = {.context = hn_context_create(NULL)};
    hn_simulation_def def = hn_simulation_def_default();
    hn_static_def statics = hn_static_def_default();
    hn_equilibrium found;
    def.step_size = 1e-3;
    statics.load_steps = 1;
    CHECK_OK(r.context, hn_model_parse(r.context, text, strlen(text), "model", &r.model));
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.sim));
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.sim, &statics, &found));
    CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
    return r;
}

static hn_vec3 place_of(const run *r, const char *name)
{
    return run_body(r, hn_model_find_body(r->model, name)).position;
}

// What a model does to the place of a node, beyond where it began.
static hn_vec3 moved(const char *text, const char *node, hn_vec3 from)
{
    run r = rest_of(text);
    hn_vec3 to = place_of(&r, node);
    run_end(&r);
    return vec3_subtract(to, from);
}

static const hn_vec3 TIP = {1.0, 0.0, 0.0};

TEST(beam_features, line_load_and_weight_along_a_line)
{
    char text[1024];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "beams:\n"
             "  b:\n"
             "    from: [0, 0, 0]\n"
             "    to: [1, 0, 0]\n"
             "    elements: 40\n"
             "    direction: y\n" STIFF "    clamped: start\n"
             "loads:\n"
             "  q: {line_load: {beam: b, vector: [0, 0, -0.05]}}\n",
             0.01);
    // q L^4/8 EI
    double expected = -(0.05 + 0.01 * G) / 8000.0;
    CHECK_NEAR(moved(text, "b.end", TIP).z / expected, 1.0, 1e-3); // measured 3e-4
}

TEST(beam_features, both_ends_clamped)
{
    char text[1024];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, 0]\n"
             "beams:\n"
             "  b:\n"
             "    from: [0, 0, 0]\n"
             "    to: [1, 0, 0]\n"
             "    elements: 40\n"
             "    direction: y\n" STIFF "    clamped: [start, end]\n"
             "loads:\n"
             "  q: {line_load: {beam: b, vector: [0, 0, -1]}}\n",
             0.01);
    // q L^4/384 EI
    CHECK_NEAR(moved(text, "b.middle", vec3(0.5, 0.0, 0.0)).z * -384000.0, 1.0, 4e-3);
}

TEST(beam_features, point_mass_and_rigid_body_at_a_node)
{
    char text[1024];
    // 5 m g L^3/48 EI at the tip by a weight in the middle
    const double expected = -5.0 * 0.01 * G / 48000.0;
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "beams:\n"
             "  b:\n"
             "    from: [0, 0, 0]\n"
             "    to: [1, 0, 0]\n"
             "    elements: 40\n"
             "    direction: y\n" STIFF "    clamped: start\n"
             "    masses: [{at: 0.5, mass: 0.01}]\n",
             1e-9);
    CHECK_NEAR(moved(text, "b.end", TIP).z / expected, 1.0, 1e-3);
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "bodies:\n"
             "  ball: {shape: {sphere: {radius: 0.02}}, mass: 0.01, position: [0.5, 0, 0]}\n"
             "beams:\n"
             "  b:\n"
             "    from: [0, 0, 0]\n"
             "    to: [1, 0, 0]\n"
             "    elements: 40\n"
             "    direction: y\n" STIFF "    clamped: start\n"
             "joints:\n"
             "  held: {fixed: {bodies: [b.middle, ball]}}\n",
             1e-9);
    CHECK_NEAR(moved(text, "b.end", TIP).z / expected, 1.0, 1e-3);
}

// A quarter of a circle, clamped at (0, 1): P R^3 pi/4 EI in its plane, and P R^3 (pi/4 EI + (3 pi/4 - 2)/GJ) out of
// it.
TEST(beam_features, arcs_bend_and_twist)
{
    const char *const shapes[] = {"arc: [[1, 0, 0], [sqrt(0.5), sqrt(0.5), 0], [0, 1, 0]]"};
    for (int out = 0; out < 2; ++out) {
        char text[1024];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "beams:\n"
                 "  b:\n"
                 "    %s\n"
                 "    elements: 40\n"
                 "    direction: z\n" STIFF "    clamped: end\n"
                 "loads:\n"
                 "  p: {force: {body: b.start, vector: %s}}\n",
                 shapes[0], 0.01, out ? "[0, 0, 0.1]" : "[0.1, 0, 0]");
        hn_vec3 d = moved(text, "b.start", TIP);
        double expected =
            out ? 0.1 * (0.25 * PI / 1000.0 + (0.75 * PI - 2.0) / 800.0) : 0.1 * 0.25 * PI / 1000.0;
        CHECK_NEAR((out ? d.z : d.x) / expected, 1.0, 2e-3); // measured 1e-3
    }
}

// A spline and a polyline through places of the same circle come near it.
TEST(beam_features, splines_and_polylines_follow_their_points)
{
    double result[2];
    for (int k = 0; k < 2; ++k) {
        char text[2048], points[1024] = "";
        int count = k == 0 ? 6 : 40;
        size_t used = 0;
        for (int i = 0; i <= count; ++i)
            used += (size_t)snprintf(points + used, sizeof points - used, "%s[%.6f, %.6f, 0]",
                                     i == 0 ? "" : ", ", cos(0.5 * PI * i / count),
                                     sin(0.5 * PI * i / count));
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "beams:\n"
                 "  b:\n"
                 "    %s: [%s]\n"
                 "    elements: 40\n"
                 "    direction: z\n" STIFF "    clamped: end\n"
                 "loads:\n"
                 "  p: {force: {body: b.start, vector: [0, 0, 0.1]}}\n",
                 k == 0 ? "spline" : "points", points, 0.01);
        result[k] = moved(text, "b.start", TIP).z /
                    (0.1 * (0.25 * PI / 1000.0 + (0.75 * PI - 2.0) / 800.0));
    }
    CHECK_NEAR(result[0], 1.0, 3e-3);
    CHECK_NEAR(result[1], 1.0, 5e-3); // measured 4e-3: chords
}

// MacNeal and Harder 1985: a strip twisted by 90 degrees, unit loads along and across the tip's thickness. Plates have
// 0.005424 and 0.001754.
TEST(beam_features, twisted_strip_of_macneal_and_harder)
{
    const double published[2] = {0.001754, 0.005424};
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "beams:\n"
                 "  b:\n"
                 "    from: [0, 0, 0]\n"
                 "    to: [12, 0, 0]\n"
                 "    elements: 48\n"
                 "    direction: y\n"
                 "    twist: pi/2\n"
                 "    section: {rectangle: [1.1, 0.32]}\n"
                 "    material: {young: 29e6, poisson: 0.22, density: 1}\n"
                 "    clamped: start\n"
                 "loads:\n"
                 "  p: {force: {body: b.end, vector: %s}}\n",
                 k == 0 ? "[0, 1, 0]" : "[0, 0, 1]");
        hn_vec3 d = moved(text, "b.end", vec3(12.0, 0.0, 0.0));
        CHECK_NEAR((k == 0 ? d.y : d.z) / published[k], 1.0, 0.01);
    }
}

// Two legs at a right angle, pushed out of their plane at the end: 2 P L^3/3 EI + P L^3/GJ
TEST(beam_features, beams_meet_at_a_node)
{
    char text[2048];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "gravity: [0, 0, 0]\n"
             "beams:\n"
             "  a:\n"
             "    from: [0, 0, 0]\n"
             "    to: [0, 1, 0]\n"
             "    elements: 20\n"
             "    direction: z\n" STIFF "    clamped: start\n"
             "  b:\n"
             "    from: [0, 1, 0]\n"
             "    to: [1, 1, 0]\n"
             "    elements: 20\n"
             "    direction: z\n" STIFF "joints:\n"
             "  corner: {fixed: {bodies: [a.end, b.start]}}\n"
             "loads:\n"
             "  p: {force: {body: b.end, vector: [0, 0, 0.1]}}\n",
             0.01, 0.01);
    double expected = 0.1 * (2.0 / 3000.0 + 1.0 / 800.0);
    CHECK_NEAR(moved(text, "b.end", vec3(1.0, 1.0, 0.0)).z / expected, 1.0, 1e-3);
}

// A moment that follows the tip of a beam in space bends it like one that does not, where it has turned about its
// axis only.
TEST(beam_features, following_and_dead_moments)
{
    double angle[2];
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        // d1 = y, d3 = x: y is the first axis of the node
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "beams:\n"
                 "  b:\n"
                 "    from: [0, 0, 0]\n"
                 "    to: [1, 0, 0]\n"
                 "    elements: 40\n"
                 "    direction: y\n" STIFF "    clamped: start\n"
                 "loads:\n"
                 "  m: {torque: {body: b.end, vector: %s}}\n",
                 0.01, k == 0 ? "[0, 800, 0]" : "[800, 0, 0], body_fixed: true");
        run r = rest_of(text);
        hn_vec3 tip = place_of(&r, "b.end");
        angle[k] = atan2(-tip.z, tip.x);
        run_end(&r);
    }
    CHECK_NEAR(angle[0], 0.4, 2e-3); // rad: half of M L/EI, elements bend a little more
    CHECK_NEAR(angle[1], angle[0], 1e-10);
}
