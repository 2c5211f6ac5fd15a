// SPDX-License-Identifier: MIT
// What a mesh of beam elements is worth: the classical problems of large rotations by kind of element and number of
// nodes, against limits of fine meshes of quadratic ones; what helical elements keep.
#include "physics/run.h"

static const double PI = 3.14159265358979323846;
static const char *const WORD[] = {"linear", "helical", "quadratic"};
enum { LINEAR, HELICAL, QUADRATIC, WORD_COUNT };

// As many pieces between nodes for all kinds
static int elements_of(int kind, int pieces)
{
    return kind == QUADRATIC ? pieces / 2 : pieces;
}

static run start_text(const char *text)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "text", &model));
    run r = {.context = context, .model = model};
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = hn_model_run_options(model).step;
    def.ledger = false;
    CHECK_OK(context, hn_simulation_create(model, &def, &r.sim));
    return r;
}

static hn_vec3 place_of(const run *r, const char *name)
{
    return run_body(r, hn_model_find_body(r->model, name)).position;
}

// Place of a node at rest; HUGE_VAL where no equilibrium is found.
static hn_vec3 at_rest(const char *text, const char *node)
{
    run r = start_text(text);
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    hn_vec3 place = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    if (hn_simulation_find_equilibrium(r.sim, &def, &found) == HN_OK) place = place_of(&r, node);
    run_end(&r);
    return place;
}

static double apart(hn_vec3 a, hn_vec3 b)
{
    return vec3_norm(vec3_subtract(a, b));
}

// ---- at rest ----------------------------------------------------------------------------------------

static const char *const ROLL =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "beams:\n"
    "  strip:\n"
    "    from: [0, 0, 0]\n"
    "    to: [1, 0, 0]\n"
    "    elements: %d\n"
    "    element: %s\n"
    "    direction: y\n"
    "    stiffness: {shear: 2e4, axial: 4e4, bending: [10, 10], torsion: 8}\n"
    "    mass_per_length: 1\n"
    "    inertia_per_length: [1e-3, 1e-3]\n"
    "    clamped: start\n"
    "loads:\n"
    "  m: {torque: {body: strip.tip, vector: [0, %.17g, 0]}}\n"
    "run: {step: 0.01, end: 1}\n";

// EI/L times 2 pi is a circle, whatever the mesh.
TEST(helical_beams, eight_elements_roll_up_to_a_circle)
{
    const int pieces[] = {4, 8, 16, 32};
    double helical[4];
    for (int k = 0; k < 4; ++k)
        for (int kind = 0; kind < WORD_COUNT; ++kind) {
            char text[1024];
            snprintf(text, sizeof text, ROLL, elements_of(kind, pieces[k]), WORD[kind],
                     -2.0 * PI * 10.0);
            double off = vec3_norm(at_rest(text, "strip.tip"));
            print_message("roll-up, %d pieces, %s: %.3g\n", pieces[k], WORD[kind], off);
            if (kind == HELICAL) helical[k] = off;
        }
    CHECK_BELOW(
        helical[0],
        1e-4); // of the length; measured 2.4e-5, the sum in place of theta/sin(theta) at 90 degrees
    CHECK_BELOW(helical[1], 1e-9);  // measured 1.7e-10, at 45
    CHECK_BELOW(helical[2], 1e-13); // measured 2.4e-15
    // half a circle by four: its diameter
    char text[1024];
    snprintf(text, sizeof text, ROLL, 4, "helical", -PI * 10.0);
    hn_vec3 tip = at_rest(text, "strip.tip");
    CHECK_BELOW(fabs(fabs(tip.z) - 2.0 / PI) + fabs(tip.x), 1e-9); // measured 2.8e-10
}

static const char *const BEND = "holonom: 1\n"
                                "gravity: [0, 0, 0]\n"
                                "beams:\n"
                                "  bend:\n"
                                "    arc: [[0, 0, 0], [38.268343236508976, 7.612046748871326, 0],\n"
                                "          [70.71067811865476, 29.289321881345254, 0]]\n"
                                "    elements: %d\n"
                                "    element: %s\n"
                                "    direction: z\n"
                                "    section: {rectangle: [1, 1]}\n"
                                "    material: {young: 1e7, poisson: 0, density: 1}\n"
                                "    clamped: start\n"
                                "loads:\n"
                                "  tip: {force: {body: bend.end, vector: [0, 0, 600]}}\n"
                                "run: {step: 0.01, end: 1}\n";

static double bend_error(int kind, int pieces, hn_vec3 limit)
{
    char text[1024];
    snprintf(text, sizeof text, BEND, elements_of(kind, pieces), WORD[kind]);
    return apart(at_rest(text, "bend.end"), limit);
}

// Bathe and Bolourchi's bend; the limit is that of 80 and 160 quadratic elements, which agree to 1e-5.
TEST(helical_beams, bend_of_45_degrees_is_right_to_a_tenth_of_a_per_mille_with_eight)
{
    const hn_vec3 limit = {46.89158638, 15.55767625, 53.60798638};
    const int pieces[] = {4, 8, 16, 32};
    double error[WORD_COUNT][4];
    for (int k = 0; k < 4; ++k)
        for (int kind = 0; kind < WORD_COUNT; ++kind) {
            error[kind][k] = bend_error(kind, pieces[k], limit);
            print_message("bend, %d pieces, %s: %.3g\n", pieces[k], WORD[kind], error[kind][k]);
        }
    CHECK_BELOW(error[HELICAL][1],
                0.01); // of 100; measured 0.0069, linear 1.5, Simo and Vu-Quoc with eight 0.47
    CHECK_BELOW(50.0 * error[HELICAL][1], error[LINEAR][1]); // measured 210 times
    CHECK_NEAR(log2(error[HELICAL][2] / error[HELICAL][3]), 2.0, 0.1);
}

static const char *const CANTILEVER =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "beams:\n"
    "  c:\n"
    "    from: [0, 0, 0]\n"
    "    to: [1, 0, 0]\n"
    "    elements: %d\n"
    "    element: %s\n"
    "    direction: y\n"
    "    stiffness: {shear: 4e6, axial: 12e6, bending: [1, 1], torsion: 0.8}\n"
    "    mass_per_length: 1\n"
    "    inertia_per_length: [1e-7, 1e-7]\n"
    "    clamped: start\n"
    "loads:\n"
    "  p: {force: {body: c.end, vector: [0, 0, %.17g]}}\n"
    "run: {step: 0.01, end: 1}\n";

// PL^2/EI = 10: the elastica's tip, 0.81061 aside and 0.55500 shorter (Mattiasson 1981).
TEST(helical_beams, elastica_of_a_cantilever)
{
    const int pieces[] = {4, 8, 16, 32};
    double error[WORD_COUNT][4];
    for (int kind = 0; kind < WORD_COUNT; ++kind)
        for (int k = 0; k < 4; ++k) {
            char text[1024];
            snprintf(text, sizeof text, CANTILEVER, elements_of(kind, pieces[k]), WORD[kind], 10.0);
            error[kind][k] =
                apart(at_rest(text, "c.end"), (hn_vec3){1.0 - 0.5549956, 0.0, 0.8106090});
            print_message("elastica, %d pieces, %s: %.3g\n", pieces[k], WORD[kind], error[kind][k]);
        }
    CHECK_BELOW(error[HELICAL][1], 4e-5); // of the length; measured 2.8e-5, where four have 4.2e-4
    CHECK_BELOW(500.0 * error[HELICAL][1], error[LINEAR][1]); // measured 1300 times
}

// ---- in motion --------------------------------------------------------------------------------------

static const char *const SPAGHETTI =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "beams:\n"
    "  s:\n"
    "    from: [6, 0, 0]\n"
    "    to: [0, 8, 0]\n"
    "    elements: %d\n"
    "    element: %s\n"
    "    direction: z\n"
    "    stiffness: {shear: 1e4, axial: 1e4, bending: [100, 100], torsion: 100}\n"
    "    mass_per_length: 1\n"
    "    inertia_per_length: [10, 10]\n"
    "loads:\n"
    "  f: {force: {body: s.start, vector: [8, 0, 0], table: {times: [0, 2.5, 2.52], factors: [1, "
    "1, "
    "0]}}}\n"
    "  m: {torque: {body: s.start, vector: [0, 0, -80], table: {times: [0, 2.5, 2.52], factors: "
    "[1, "
    "1, 0]}}}\n"
    "run: {step: 0.02, end: 7.5}\n";

// Simo and Vu-Quoc's flying spaghetti in its plane: the loaded end after 7.5 s.
TEST(helical_beams, flying_spaghetti)
{
    const int pieces[] = {10, 20, 40};
    double error[WORD_COUNT][3], energy[WORD_COUNT][3], right = 0.0;
    hn_vec3 limit = {0.0, 0.0, 0.0};
    for (int k = -1; k < 3; ++k)
        for (int kind = k < 0 ? QUADRATIC : 0; kind < WORD_COUNT; ++kind) {
            char text[1024];
            snprintf(text, sizeof text, SPAGHETTI, elements_of(kind, k < 0 ? 80 : pieces[k]),
                     WORD[kind]);
            run r = start_text(text);
            run_step(&r, 375);
            hn_vec3 place = place_of(&r, "s.start");
            hn_energy all;
            CHECK_OK(r.context, hn_simulation_energy(r.sim, &all));
            run_end(&r);
            if (k < 0) {
                limit = place, right = all.kinetic + all.potential;
                continue;
            }
            error[kind][k] = apart(place, limit);
            energy[kind][k] = (all.kinetic + all.potential) / right - 1.0;
            print_message("spaghetti, %d pieces, %s: %.3g m, energy %+.2g\n", pieces[k], WORD[kind],
                          error[kind][k], energy[kind][k]);
        }
    CHECK_BELOW(error[HELICAL][1], 0.15);                   // m; measured 0.142
    CHECK_BELOW(8.0 * error[HELICAL][1], error[LINEAR][1]); // measured 10.9 times
    CHECK_NEAR(log2(error[HELICAL][1] / error[HELICAL][2]), 2.0, 0.3);
}
