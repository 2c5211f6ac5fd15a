// SPDX-License-Identifier: MIT
// Equilibria against what is known without this code: elastica, curves of follower loads, buckling loads, springs.
#include "physics/run.h"

#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct rest {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
    hn_equilibrium found;
} rest;

static rest rest_open(const char *text)
{
    rest r = {.context = hn_context_create(NULL)};
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    CHECK_OK(r.context, hn_model_parse(r.context, text, strlen(text), "model", &r.model));
    CHECK_OK(r.context, hn_simulation_create(r.model, &def, &r.simulation));
    return r;
}

static rest rest_of(const char *text, int load_steps)
{
    rest r = rest_open(text);
    hn_static_def def = hn_static_def_default();
    def.load_steps = load_steps;
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &r.found));
    return r;
}

static void rest_close(rest *r)
{
    hn_simulation_destroy(r->simulation);
    hn_model_destroy(r->model);
    hn_context_destroy(r->context);
}

static hn_body_state rest_body(const rest *r, const char *name)
{
    hn_body_state state;
    CHECK_OK(r->context,
             hn_simulation_body_state(r->simulation, hn_model_find_body(r->model, name), &state));
    return state;
}

static double rest_angle(const rest *r, const char *name)
{
    hn_joint_state state;
    CHECK_OK(r->context,
             hn_simulation_joint_state(r->simulation, hn_model_find_joint(r->model, name), &state));
    return state.coordinates[0];
}

// ---- cantilevers ------------------------------------------------------------------------------------

// EI = 1, L = 1, thickness 1/1000: EA = 12e6, GA = 4e6 (nearly), so that shear and stretch do not count.
static const char *const CANTILEVER =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "beams:\n"
    "  c:\n"
    "    from: [0, 0, 0]\n"
    "    to: [1, 0, 0]\n"
    "    elements: %d\n"
    "    direction: y\n"
    "    stiffness: {shear: 4e6, axial: 12e6, bending: [1, 1], torsion: 0.8}\n"
    "    mass_per_length: 1\n"
    "    inertia_per_length: [1e-7, 1e-7]\n"
    "    clamped: start\n"
    "loads:\n"
    "  p: {force: {body: c.end, vector: [%.17g, 0, %.17g], body_fixed: %s}}\n";

// The axis of an inextensible rod from the tip inward, where nothing is bent: moments of the tip force alone. Angle and
// place of the clamped end as seen from the tip, by Runge and Kutta. s: from the tip.
typedef struct rod_end {
    double angle, x, z;
} rod_end;

static rod_end rod_from_tip(double fx, double fz)
{
    enum { STEPS = 2000 };
    double h = 1.0 / STEPS, y[3] = {0.0, 0.0, 0.0};
    for (int n = 0; n < STEPS; ++n) {
        double k[4][3];
        for (int s = 0; s < 4; ++s) {
            double a = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h, at[3];
            for (int i = 0; i < 3; ++i) at[i] = y[i] + (s == 0 ? 0.0 : a * k[s - 1][i]);
            // going inward the axis runs along -(cos, sin); EI phi' = moment of the force about the place
            k[s][0] = -(-at[1] * fz + at[2] * fx);
            k[s][1] = -cos(at[0]);
            k[s][2] = -sin(at[0]);
        }
        for (int i = 0; i < 3; ++i)
            y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    return (rod_end){y[0], y[1], y[2]};
}

// Where the tip is when the clamped end is turned back to the x axis at the origin.
static void tip_of(rod_end r, double *x, double *z)
{
    double c = cos(-r.angle), s = sin(-r.angle);
    *x = -(c * r.x - s * r.z);
    *z = -(s * r.x + c * r.z);
}

// The dead load (0, P) is (P sin a, P cos a) in axes of the tip, a its angle: shoot for it.
static void elastica_tip(double p, double *x, double *z)
{
    double low = 0.0, high = 0.5 * PI;
    for (int k = 0; k < 60; ++k) {
        double a = 0.5 * (low + high);
        rod_end r = rod_from_tip(p * sin(a), p * cos(a));
        if (-r.angle < a) high = a; // bends less than assumed
        else low = a;
    }
    tip_of(rod_from_tip(p * sin(low), p * cos(low)), x, z);
}

static double tip_error(int elements, double p, bool follower, double x, double z)
{
    char text[1024];
    snprintf(text, sizeof text, CANTILEVER, elements, 0.0, p, follower ? "true" : "false");
    if (follower) {
        // sections have d1 = y and d3 along the axis, d2 = d3 x d1 = z
        char *vector = strstr(text, "vector: [");
        snprintf(vector, sizeof text - (size_t)(vector - text),
                 "vector: [0, %.17g, 0], body_fixed: true}}\n", p);
    }
    rest r = rest_of(text, 10);
    hn_body_state tip = rest_body(&r, "c.end");
    CHECK_BELOW(r.found.residual, 1e-9); // measured 8e-11: round-off of EA
    if (!follower) CHECK_EQUAL(r.found.unstable_count, 0);
    CHECK(r.found.conservative == !follower);
    rest_close(&r);
    return hypot(tip.position.x - x, tip.position.z - z);
}

TEST(statics, slender_cantilever_under_a_tip_load_is_the_elastica)
{
    double x, z;
    elastica_tip(10.0, &x, &z);
    CHECK_NEAR(z, 0.81061, 2e-5); // Mattiasson 1981: w/L at P L^2/EI = 10
    CHECK_NEAR(1.0 - x, 0.55500, 2e-5);
    double coarse = tip_error(5, 10.0, false, x, z), fine = tip_error(10, 10.0, false, x, z);
    CHECK_BELOW(fine, 2e-5);              // of the length; measured 1.1e-5
    CHECK_NEAR(coarse / fine, 16.0, 3.0); // order four, as long as shear and stretch do not count
}

TEST(statics, follower_load_bends_as_its_initial_value_problem_says)
{
    double x, z;
    tip_of(rod_from_tip(0.0, 12.0), &x, &z);
    double coarse = tip_error(5, 12.0, true, x, z), fine = tip_error(10, 12.0, true, x, z);
    CHECK_BELOW(fine, 1e-4);              // of the length; measured 3.3e-5
    CHECK_NEAR(coarse / fine, 16.0, 4.0); // order four
}

// Under an end moment alone helical elements turn by M l/EI, on the circle.
TEST(statics, roll_up_is_a_circle)
{
    run r = run_model("roll-up", HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 0.1, false);
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.sim, &def, &found));
    hn_vec3 tip = run_body(&r, hn_model_find_body(r.model, "strip.tip")).position,
            middle = run_body(&r, hn_model_find_body(r.model, "strip.middle")).position;
    CHECK_BELOW(vec3_norm(tip), 2e-14); // m; measured 4e-16
    CHECK_BELOW(fabs(middle.x) + fabs(fabs(middle.z) - 1.0 / PI), 1e-13);
    CHECK_NEAR(found.beam_angle, 2.0 * PI / 20.0, 1e-12); // rad
    run_end(&r);
}

// ---- stability --------------------------------------------------------------------------------------

// A pendulum is unstable upright and stable hanging, of a micrometre or of a thousand kilometres.
TEST(statics, stability_knows_no_unit_of_length)
{
    static const double LENGTH[] = {1e-6, 1e-3, 1.0, 1e3, 1e6}; // m
    for (int k = 0; k < 10; ++k) {
        char text[512];
        double l = LENGTH[k / 2];
        snprintf(text, sizeof text,
                 "holonom: 1\nname: pendulum\ngravity: [0, 0, -9.81]\nbodies:\n"
                 "  rod: {mass: 2, inertia: [%.17g, %.17g, %.17g], position: [0, 0, %.17g]}\n"
                 "joints:\n  hinge: {revolute: {bodies: [ground, rod], at: [0, 0, 0], axis: y}}\n"
                 "run: {step: 0.001, end: 1}\n",
                 0.1 * l * l, 0.1 * l * l, 0.1 * l * l, k % 2 == 0 ? l : -l);
        rest r = rest_of(text, 1);
        print_message("%g m: %d unstable, %d neutral\n", k % 2 == 0 ? l : -l,
                      r.found.unstable_count, r.found.neutral_count);
        CHECK_EQUAL(r.found.unstable_count, k % 2 == 0 ? 1 : 0);
        CHECK_EQUAL(r.found.neutral_count, 0);
        rest_close(&r);
    }
}

// Euler's loads of a clamped column: (2k - 1)^2 pi^2 EI/4 L^2, in both planes.
TEST(statics, columns_lose_stiffness_at_eulers_loads)
{
    const double load[] = {0.98, 1.02, 8.7, 9.3};
    const int unstable[] = {0, 2, 2, 4};
    for (int k = 0; k < 4; ++k) {
        char text[1024];
        snprintf(text, sizeof text, CANTILEVER, 40, -load[k] * PI * PI / 4.0, 0.0, "false");
        rest r = rest_of(text, 1);
        CHECK_EQUAL(r.found.unstable_count, unstable[k]);
        CHECK_EQUAL(r.found.neutral_count, 0);
        rest_close(&r);
    }
}

static const char *const STRETCHED =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "beams:\n"
    "  c:\n"
    "    from: [0, 0, 0]\n"
    "    to: [1, 0, 0]\n"
    "    elements: %d\n"
    "    element: %s\n"
    "    stiffness: {shear: 4e8, axial: 12e8, bending: [1, %d], torsion: 0.8}\n"
    "    mass_per_length: 1\n"
    "    inertia_per_length: [1e-7, 1e-7]\n"
    "    clamped: start\n"
    "loads:\n"
    "  p: {force: {body: c.end, vector: [%.17g, 0, 0]}}\n";

// Unstable motions of a clamped chain of n elements in a plane under the tension N l^2 = r limit EI, by (W8): those
// with sum and difference of the turns of end nodes as in sin(k pi/2n), k odd.
static int zigzags(int n, int order, double r)
{
    double most = order == 1 ? 1.0 - 1.0 / r : 6.0 * r * (r - 1.0) / ((1.0 + r) * (1.0 + 2.0 * r));
    int count = 0;
    for (int k = 1; k < 2 * n; k += 2) count += pow(tan(k * PI / (4.0 * n)), 2.0) < most;
    return count;
}

// A stretched beam is stable. Elements that are too long are not, and are named; with as many as that says they are.
TEST(statics, elements_too_long_for_their_tension_are_named)
{
    static const double RATIO[] = {0.5, 0.99, 1.003, 1.01, 1.2, 2.5}; // times (1 + strain)
    for (int k = 0; k < 24; ++k) {
        int order = 1 + k % 2, stiff = k / 2 % 2 == 0 ? 1 : 100, n = 10, unstable = 0;
        double ratio = RATIO[k / 4], limit = order == 1 ? 4.0 : 24.0, force = ratio * limit * n * n;
        for (int pass = 0; pass < 2; ++pass) {
            char text[1024];
            hn_beam_tension tension;
            snprintf(text, sizeof text, STRETCHED, n, order == 1 ? "linear" : "quadratic", stiff,
                     force);
            rest r = rest_of(text, 1);
            CHECK_OK(r.context, hn_simulation_beam_tension(r.simulation, &tension));
            CHECK_NEAR(tension.ratio, ratio * (1.0 + force / 12e8), 1e-7);
            CHECK(tension.limit == limit && tension.beam == 0);
            unstable = zigzags(n, order, ratio) * (stiff == 1 ? 2 : 1); // of two planes, or of one
            CHECK_EQUAL(r.found.unstable_count, unstable);
            CHECK_EQUAL(r.found.neutral_count, 0);
            CHECK(unstable == 0 || tension.ratio > 1.0);
            rest_close(&r);
            CHECK(tension.least_count > n || ratio < 1.0);
            ratio *= pow((double)n / tension.least_count, 2.0);
            n = tension.least_count;
        }
        CHECK_EQUAL(unstable, 0);
        CHECK_BELOW(ratio, 1.0);
    }
}

static const char *const ARCH = "holonom: 1\n"
                                "gravity: [0, 0, 0]\n"
                                "beams:\n"
                                "  arch:\n"
                                "    arc: [[-1, 0, 0], [0, 0, 0.2], [1, 0, 0]]\n"
                                "    elements: 20\n"
                                "    element: linear\n"
                                "    direction: y\n"
                                "    section: {rectangle: [0.05, 0.02]}\n"
                                "    material: {young: 2e9, poisson: 0.3, density: 1000}\n"
                                "joints:\n"
                                "  l: {revolute: {bodies: [ground, arch.start], axis: y}}\n"
                                "  r: {revolute: {bodies: [ground, arch.end], axis: y}}\n"
                                "loads:\n"
                                "  p: {force: {body: arch.middle, vector: [0, 0, -3000]}}\n";

TEST(statics, limit_point_is_named_and_can_be_passed)
{
    rest r = rest_open(ARCH);
    hn_static_def def = hn_static_def_default();
    double before = rest_body(&r, "arch.middle").position.z;
    CHECK_STATUS(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &r.found),
                 HN_NOT_CONVERGED);
    CHECK_CONTAINS(hn_context_message(r.context), "limit point");
    CHECK_CONTAINS(hn_context_message(r.context), "'arch.");
    // the state is that from before
    CHECK_NEAR(rest_body(&r, "arch.middle").position.z, before, 0.0);
    def.relax = true;
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &r.found));
    CHECK_EQUAL(r.found.unstable_count, 0);
    CHECK_NEAR(rest_body(&r, "arch.middle").position.z, -0.24, 0.01); // m: on the other side
    rest_close(&r);
}

// ---- mechanisms -------------------------------------------------------------------------------------

TEST(statics, pendulum_with_a_spring_rests_where_moments_balance)
{
    rest r =
        rest_of("holonom: 1\n"
                "bodies:\n"
                "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
                "joints:\n"
                "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                "loads:\n"
                "  spring: {torsion_spring: {joint: pin, stiffness: 15, rest_angle: 0}}\n",
                4);
    // 15 t = 2 g 0.5 cos t
    double t = 0.5;
    for (int k = 0; k < 50; ++k) t -= (15.0 * t - 9.81 * cos(t)) / (15.0 + 9.81 * sin(t));
    CHECK_NEAR(rest_angle(&r, "pin"), t, 1e-12); // rad
    CHECK_EQUAL(r.found.unstable_count + r.found.neutral_count, 0);
    // the hinge bears the weight
    rest_close(&r);
}

// A servo is a spring about its target, a motor and an effort pull with what they have at no speed.
TEST(statics, drives_hold_what_they_can)
{
    const struct {
        const char *drive;
        double stiffness, torque;
    } cases[] = {
        {"servo: {joint: pin, target: 0.3, proportional: 40, derivative: 5}", 40.0, 12.0},
        {"effort: {joint: pin, value: -3}", 0.0, -3.0},
    };
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n"
                 "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
                 "joints:\n"
                 "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                 "drives:\n"
                 "  d: {%s}\n",
                 cases[k].drive);
        rest r = rest_of(text, 3);
        // stiffness t = torque + 2 g 0.5 cos t
        double t = 0.5;
        for (int n = 0; n < 60; ++n)
            t -= (cases[k].stiffness * t - cases[k].torque - 9.81 * cos(t)) /
                 (cases[k].stiffness + 9.81 * sin(t));
        CHECK_NEAR(rest_angle(&r, "pin"), t, 1e-10); // rad
        rest_close(&r);
    }
}

// A parallelogram in space has three constraints too many; its coupler moves without turning.
static const char *const PARALLELOGRAM =
    "holonom: 1\n"
    "bodies:\n"
    "  left: {shape: {box: {size: [1, 0.05, 0.05]}}, mass: 1, position: [0.5, 0, 0]}\n"
    "  right: {shape: {box: {size: [1, 0.05, 0.05]}}, mass: 1, position: [0.5, 0, 2]}\n"
    "  coupler: {shape: {box: {size: [0.05, 0.05, 2]}}, mass: 3, position: [1, 0, 1]}\n"
    "joints:\n"
    "  a: {revolute: {bodies: [ground, left], at: [0, 0, 0], axis: y}}\n"
    "  b: {revolute: {bodies: [ground, right], at: [0, 0, 2], axis: y}}\n"
    "  c: {revolute: {bodies: [left, coupler], at: [1, 0, 0], axis: y}}\n"
    "  d: {revolute: {bodies: [right, coupler], at: [1, 0, 2], axis: y}}\n"
    "loads:\n"
    "  spring: {torsion_spring: {joint: b, stiffness: %g, rest_angle: 0}}\n"
    "%s";

TEST(statics, redundant_loop_rests_where_moments_balance)
{
    char text[2048];
    snprintf(text, sizeof text, PARALLELOGRAM, 60.0, "");
    rest r = rest_of(text, 3);
    double t = 0.5, weight = 9.81 * (0.5 + 0.5 + 3.0);
    for (int k = 0; k < 50; ++k) t -= (60.0 * t - weight * cos(t)) / (60.0 + weight * sin(t));
    CHECK_NEAR(rest_angle(&r, "a"), t, 1e-10); // rad
    CHECK_EQUAL(r.found.unstable_count + r.found.neutral_count, 0);
    hn_constraint_state c;
    CHECK_OK(r.context, hn_simulation_constraints(r.simulation, &c));
    CHECK_BELOW(c.residual, 1e-13);
    rest_close(&r);
}

// Without a spring it is a mechanism and finds the lowest place, also from straight above it.
TEST(statics, mechanisms_relax_to_a_stable_rest)
{
    const char *const names[] = {"pendulum", "four-bar", "slider-crank",  "six-body-linkage",
                                 "bennett",  "bricard",  "chain-revolute"};
    for (int k = 0; k < 7; ++k) {
        run r = run_model(names[k], HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-4, false);
        hn_static_def def = hn_static_def_default();
        hn_equilibrium found;
        CHECK_OK(r.context, hn_simulation_find_equilibrium(r.sim, &def, &found));
        CHECK_EQUAL(found.unstable_count + found.neutral_count, 0);
        CHECK_BELOW(found.residual, 1e-10);
        // and stays there
        hn_energy energy;
        run_step(&r, 50);
        CHECK_OK(r.context, hn_simulation_energy(r.sim, &energy));
        CHECK_BELOW(energy.kinetic, 1e-20); // J
        run_end(&r);
    }
}

// A torque of a drive turns a pendulum away that weight holds: without weight it would turn on, with a tenth of it too.
TEST(statics, mechanisms_that_drives_move_rest_under_all_their_loads)
{
    static const char *const DRIVES[] = {"{effort: {joint: pin, value: 0.4}}",
                                         "{motor: {joint: pin, stall: 0.4, no_load: 3}}"};
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies: {arm: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.3, 0, 0]}}\n"
                 "joints: {pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}}\n"
                 "drives: {u: %s}\n",
                 DRIVES[k]);
        rest r = rest_of(text, 10);
        CHECK_NEAR(rest_angle(&r, "pin"), acos(-0.4 / (0.3 * 9.81)), 1e-12); // measured 1e-15
        CHECK(r.found.unstable_count == 0 && r.found.neutral_count == 0);
        CHECK_NEAR(r.found.load_factor, 1.0, 0.0);
        rest_close(&r);
    }
}

TEST(statics, what_nothing_holds_is_named)
{
    rest r = rest_open("holonom: 1\n"
                       "bodies:\n"
                       "  stone: {shape: {sphere: {radius: 0.1}}, mass: 1}\n");
    hn_static_def def = hn_static_def_default();
    CHECK_STATUS(r.context, hn_simulation_find_equilibrium(r.simulation, &def, NULL),
                 HN_NOT_CONVERGED);
    CHECK_CONTAINS(hn_context_message(r.context), "'stone'");
    rest_close(&r);
}

// ---- loads in time, and starts ----------------------------------------------------------------------

TEST(statics, loads_are_those_of_the_time_asked_for)
{
    const char *const text =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  cart: {shape: {box: {size: [1, 1, 1]}}, mass: 2}\n"
        "joints:\n"
        "  rail: {prismatic: {bodies: [ground, cart], at: [0, 0, 0], axis: x}}\n"
        "loads:\n"
        "  spring: {spring: {bodies: [ground, cart], from: [-2, 0, 0], to: [0, 0, 0],"
        " stiffness: 100, rest_length: 2}}\n"
        "  push: {force: {body: cart, vector: [10, 0, 0], table: {times: [0, 2], factors: [0, "
        "1]}}}\n";
    const double times[] = {-1.0, 0.0, 0.5, 2.0}; // below zero: without the profile
    const double expected[] = {0.1, 0.0, 0.025, 0.1};
    for (int k = 0; k < 4; ++k) {
        rest r = rest_open(text);
        hn_static_def def = hn_static_def_default();
        def.at_time = times[k] >= 0.0;
        def.time = times[k];
        CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &r.found));
        CHECK_NEAR(rest_body(&r, "cart").position.x, expected[k], 1e-12); // m
        rest_close(&r);
    }
}

TEST(statics, runs_can_start_at_the_equilibrium)
{
    char text[2048];
    snprintf(text, sizeof text, PARALLELOGRAM, 60.0, "start: equilibrium\n");
    for (int scheme = 0; scheme < REDUCTION_SCHEME_COUNT; ++scheme) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model;
        hn_simulation *simulation;
        hn_simulation_def def = hn_simulation_def_default();
        hn_energy energy;
        def.scheme = (hn_scheme)scheme;
        def.step_size = 1e-3;
        CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
        CHECK(hn_model_starts_at_equilibrium(model));
        CHECK_OK(context, hn_simulation_create(model, &def, &simulation));
        CHECK_OK(context, hn_simulation_step(simulation, 200));
        CHECK_OK(context, hn_simulation_energy(simulation, &energy));
        CHECK_BELOW(energy.kinetic, 1e-20); // J; potential 157 J below the start
        hn_ledger ledger;
        CHECK_OK(context, hn_simulation_ledger(simulation, &ledger));
        CHECK(ledger.entry[HN_PROMISE_ENERGY].kept);
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
}

TEST(statics, start_velocities_and_a_start_at_rest_exclude_each_other)
{
    rest r =
        rest_open("holonom: 1\n"
                  "bodies:\n"
                  "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
                  "joints:\n"
                  "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
                  "start: {pin: {rate: 2}}\n");
    hn_simulation *other = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    CHECK_OK(r.context, hn_model_start_at_equilibrium(r.model, true));
    CHECK_STATUS(r.context, hn_simulation_create(r.model, &def, &other), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(r.context), "'arm' has a start velocity");
    rest_close(&r);
    // a motion gives one that nobody wrote: it is named
    static const char *const MOVED =
        "holonom: 1\n"
        "bodies:\n"
        "  arm: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
        "joints:\n"
        "  pin: {revolute: {bodies: [ground, arm], at: [0, 0, 0], axis: y}}\n"
        "drives:\n"
        "  crank: {motion: {joint: pin, value: 2*t}}\n"
        "start: equilibrium\n";
    r = (rest){.context = hn_context_create(NULL)};
    CHECK_OK(r.context, hn_model_parse(r.context, MOVED, strlen(MOVED), "model", &r.model));
    CHECK_STATUS(r.context, hn_simulation_create(r.model, &def, &other), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(r.context),
                   "drive 'crank': its motion begins with the rate 2 rad/s");
    rest_close(&r);
}

// Reactions at rest: the clamped end bears the tip load and its moment.
TEST(statics, reactions_are_those_of_the_equilibrium)
{
    char text[1024];
    snprintf(text, sizeof text, CANTILEVER, 20, 0.0, 2.0, "false");
    rest r = rest_open(text);
    hn_static_def def = hn_static_def_default();
    def.as_steps = true;
    CHECK_OK(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &r.found));
    CHECK_EQUAL(hn_simulation_step_count(r.simulation), 10);
    hn_joint_state clamp;
    hn_vec3 tip = rest_body(&r, "c.end").position;
    CHECK_OK(r.context, hn_simulation_joint_state(r.simulation,
                                                  hn_model_find_joint(r.model, "c.start"), &clamp));
    CHECK(clamp.reaction_valid);
    CHECK_NEAR(clamp.reaction_force.z, -2.0, 1e-7); // N; round-off of EA
    CHECK_NEAR(clamp.reaction_force.x, 0.0, 1e-7);
    CHECK_NEAR(clamp.reaction_torque.y, 2.0 * tip.x, 1e-7); // N m
    rest_close(&r);
}

// Beams of 200 and 1000 elements: the same number of iterations (19 and 22; 16 of 50, whose shear is softer (W11)).
TEST(statics, iterations_do_not_grow_with_the_number_of_elements)
{
    int64_t iterations[2];
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        snprintf(text, sizeof text, CANTILEVER, k == 0 ? 200 : 1000, 0.0, 1.0, "false");
        rest r = rest_of(text, 2);
        iterations[k] = r.found.iteration_total;
        rest_close(&r);
    }
    CHECK_BELOW((double)(iterations[1] - iterations[0]), 6.0);
}
