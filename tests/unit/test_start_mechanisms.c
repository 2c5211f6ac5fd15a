// SPDX-License-Identifier: MIT
// Start velocities of mechanisms: what no motion can reach is refused, a mechanism of any size starts as the one of a
// metre does, and one beside others starts as it does alone, to the last bit.
#include <holonom/holonom.h>

#include "base/vector.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODIES_MAX = 32, TEXT_MAX = 8192 };

typedef struct start_state {
    hn_status status;
    int body_count;
    hn_vec3 velocity[BODIES_MAX], omega[BODIES_MAX];
    double energy, projection;
    char message[512];
    int caution_count;
    char caution[512]; // the first
} start_state;

static start_state start_of(const char *text)
{
    start_state s = {.status = HN_OK};
    hn_context *context = hn_context_create(NULL);
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "start", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    s.status = hn_simulation_create(model, &def, &simulation);
    snprintf(s.message, sizeof s.message, "%s", hn_context_message(context));
    if (s.status == HN_OK) {
        s.body_count = hn_model_body_count(model);
        for (int i = 0; i < s.body_count; ++i) {
            hn_body_state body;
            CHECK_OK(context, hn_simulation_body_state(simulation, hn_model_body(model, i), &body));
            s.velocity[i] = body.velocity, s.omega[i] = body.angular_velocity;
        }
        hn_energy energy;
        CHECK_OK(context, hn_simulation_energy(simulation, &energy));
        s.energy = energy.kinetic;
        s.caution_count = hn_simulation_caution(simulation, model, 0, s.caution, sizeof s.caution);
        s.projection = hn_simulation_structure(simulation).velocity_projection;
    }
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
    return s;
}

// ---- what no motion can reach -----------------------------------------------------------------------

// A hinge and a ball joint off its axis hold two bodies together: the hinge cannot turn.
static const char LOCKED[] =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "parameters: {L: %.17g, X: %.17g}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [L*L, L*L, L*L], position: [X + 0.1*L, 0.3*L, 0.2*L]}\n"
    "  b: {mass: 2, inertia: [L*L, 2*L*L, 2*L*L], position: [X + L, 0, 0.1*L]}\n"
    "joints:\n"
    "%s"
    "  hinge: {revolute: {bodies: [a, b], at: [X + 0.5*L, 0.1*L, 0], axis: [1, 2, 3]}}\n"
    "  ball: {spherical: {bodies: [a, b], at: [X + 0.7*L, 0.8*L, 0.4*L]}}\n"
    "start:\n"
    "  hinge: {rate: %.17g}\n";

TEST(unreachable, rates_of_a_locked_hinge_are_refused_with_its_name)
{
    const char *feet[2] = {"", "  foot: {spherical: {bodies: [ground, a], at: [X, 0, 0]}}\n"};
    const double lengths[] = {1e-6, 1e-3, 1.0, 1e3, 1e6};
    for (int i = 0; i < 20; ++i) {
        char text[TEXT_MAX];
        // near the origin, and a hundred times as far from it as it is long
        double length = lengths[i / 4], place = i % 4 < 2 ? 0.0 : 100.0 * length;
        snprintf(text, sizeof text, LOCKED, length, place, feet[i % 2], 0.5);
        start_state s = start_of(text);
        CHECK_EQUAL(s.status, HN_INVALID_MODEL);
        CHECK_CONTAINS(s.message, "joint 'hinge'");
        CHECK_CONTAINS(s.message, "joint 'ball'");
        snprintf(text, sizeof text, LOCKED, length, place, feet[i % 2], 0.0);
        s = start_of(text);
        CHECK_EQUAL(s.status, HN_OK);
        CHECK(s.energy == 0.0);
    }
}

// A body whose frame has its origin on the axis: no rate moves that point.
TEST(unreachable, velocities_of_a_point_on_the_axis_are_refused)
{
    static const char text[] =
        "holonom: 1\n"
        "bodies:\n"
        "  door: {mass: 1, inertia: [1, 1, 1], position: [0.1, 0.2, 0.3],\n"
        "         center_of_mass: [0.7, 0.13, 0.29]}\n"
        "joints:\n"
        "  hinge: {revolute: {bodies: [ground, door], at: [0.1, 0.2, 0.3], axis: [1, 2, 3]}}\n"
        "start:\n"
        "  door: {velocity: [0.3, 0.1, -0.2]}\n";
    start_state s = start_of(text);
    CHECK_EQUAL(s.status, HN_INVALID_MODEL);
    CHECK_CONTAINS(s.message, "body 'door'");
    CHECK_CONTAINS(s.message, "0.3 m/s"); // all of it
}

// ---- any size -----------------------------------------------------------------------------------------

// Two degrees of freedom and one rate; a floating loop with the velocity of its base; a slider whose body is told.
static const char *const SIZED[] = {
    "bodies:\n"
    "  a: {mass: 2.2, inertia: [0.36*L*L, 0.34*L*L, 0.35*L*L], position: [0.23*L, 0.04*L, "
    "0.08*L],\n"
    "      center_of_mass: [0.01*L, 0.13*L, 0.12*L]}\n"
    "  b: {mass: 0.35, inertia: [0.04*L*L, 0.04*L*L, 0.03*L*L], position: [0, 0.02*L, -0.91*L]}\n"
    "joints:\n"
    "  foot: {cylindrical: {bodies: [ground, a], at: [0.08*L, 0.35*L, -0.35*L],\n"
    "         axis: [-0.34, 0.94, -0.02]}}\n"
    "  hinge: {revolute: {bodies: [b, a], at: [0.68*L, -0.35*L, -0.6*L], axis: [0.6, -0.2, 0.8]}}\n"
    "  link: {distance: {bodies: [b, ground], from: [-0.19*L, 0.3*L, -0.78*L],\n"
    "         to: [1.27*L, 1.1*L, 1.38*L]}}\n"
    "start:\n"
    "  hinge: {rate: 0.3}\n",
    "bodies:\n"
    "  a: {mass: 1, inertia: [L*L, L*L, L*L], position: [0.155*L, 0.3626*L, 0.0846*L]}\n"
    "  c: {mass: 3, inertia: [2*L*L, 2*L*L, L*L], position: [0.0077*L, 0.15*L, -1.206*L]}\n"
    "joints:\n"
    "  hinge: {revolute: {bodies: [a, c], at: [0.329*L, 0.854*L, -1.505*L], axis: [-0.4, -0.5, "
    "0.8]}}\n"
    "  link: {distance: {bodies: [c, a], from: [-0.03*L, -0.047*L, -1.11*L],\n"
    "         to: [1.18*L, -0.77*L, 0.51*L]}}\n"
    "start:\n"
    "  a: {velocity: [0.11*L, 0.57*L, -0.58*L], angular_velocity: [0.0945, 0.6516, -0.516]}\n",
    "bodies:\n"
    "  a: {mass: 1, inertia: [L*L, L*L, 2*L*L], position: [0.4*L, 0.1*L, 0]}\n"
    "  b: {mass: 3, inertia: [2*L*L, 2*L*L, L*L], position: [1.1*L, 0.15*L, -0.2*L],\n"
    "      center_of_mass: [0.2*L, 0.1*L, -0.3*L]}\n"
    "joints:\n"
    "  guide: {cylindrical: {bodies: [ground, a], at: [0, 0.1*L, 0.2*L], axis: [1, 0.3, 0.2]}}\n"
    "  arm: {cylindrical: {bodies: [a, b], at: [0.8*L, 0.3*L, 0.1*L], axis: [0.2, 1, -0.4]}}\n"
    "start:\n"
    "  b: {velocity: [0.2*L, 0.1*L, 0.05*L]}\n",
};

static start_state sized(int kind, double length)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "holonom: 1\ngravity: [0, 0, 0]\nparameters: {L: %.17g}\n%s",
             length, SIZED[kind]);
    return start_of(text);
}

TEST(sizes, of_mechanisms_do_not_change_how_they_start)
{
    const double lengths[] = {1e-9, 1e-6, 1e-3, 1e3, 1e5, 1e6, 1e9};
    double worst = 0.0;
    for (int kind = 0; kind < 3; ++kind) {
        start_state metre = sized(kind, 1.0);
        CHECK_EQUAL(metre.status, HN_OK);
        CHECK(metre.energy > 1e-4);
        for (int n = 0; n < 7; ++n) {
            double length = lengths[n];
            start_state s = sized(kind, length);
            if (s.status != HN_OK) print_error("%d, %g m: %s\n", kind, length, s.message);
            CHECK_EQUAL(s.status, HN_OK);
            CHECK(s.projection == 0.0);
            for (int i = 0; i < s.body_count; ++i) {
                double off = vec3_norm(vec3_subtract(vec3_scale(1.0 / length, s.velocity[i]),
                                                     metre.velocity[i])) +
                             vec3_norm(vec3_subtract(s.omega[i], metre.omega[i]));
                if (off > 1e-12) print_error("%d, %g m: body %d off %.2g\n", kind, length, i, off);
                worst = fmax(worst, off);
            }
        }
    }
    CHECK_BELOW(worst, 1e-13); // m/s at a metre, rad/s; measured 3.5e-15
}

// ---- neighbours ---------------------------------------------------------------------------------------

// Mechanisms as bodies, joints and start values; names of each begin with its own letter.
typedef struct fragment {
    const char *bodies, *joints, *start;
} fragment;

static const fragment FRAGMENTS[] = {
    // at rest, in a loop
    {"  a1: {mass: 1, inertia: [1, 1, 1], position: [10.1, 2, 3]}\n"
     "  a2: {mass: 1, inertia: [1, 1, 1], position: [15.3, 2.2, 3.1]}\n",
     "  a3: {revolute: {bodies: [ground, a1], at: [0.3, 0.1, 0.2], axis: [1, 2, 3]}}\n"
     "  a4: {spherical: {bodies: [a1, a2], at: [12, 2.1, 3.3]}}\n"
     "  a5: {distance: {bodies: [a2, ground], from: [16.7, 2.9, 3.7], to: [42.1, 8.5, 4.7]}}\n",
     ""},
    // a speck in flight
    {"  b1: {mass: 1e-9, inertia: [7e-19, 8e-19, 9e-19], position: [-1.5e-5, 6.2e-5, 5.4e-5],\n"
     "       center_of_mass: [-1.9e-6, -1.3e-6, 8e-6]}\n",
     "", "  b1: {velocity: [-1.4e-7, -1.5e-5, -6.4e-5], angular_velocity: [0.02, 0.9, 1.04]}\n"},
    // large, heavy, fast, in a loop; least kinetic energy
    {"  c1: {mass: 1e9, inertia: [1e19, 2e19, 2e19], position: [15509, 36258, 8462],\n"
     "       center_of_mass: [-9887, 11845, 1712]}\n"
     "  c2: {mass: 3e9, inertia: [2e19, 2e19, 1e19], position: [766, 15010, -120635]}\n",
     "  c3: {revolute: {bodies: [c1, c2], at: [32928, 85425, -150494], axis: [-0.4, -0.5, 0.8]}}\n"
     "  c4: {distance: {bodies: [c2, c1], from: [-3112, -4728, -111107], to: [118205, -76613, "
     "51066]}}\n",
     "  c1: {velocity: [11090, 56768, -57741], angular_velocity: [0.09, 0.65, -0.5]}\n"},
    // two degrees of freedom in a loop, one rate
    {"  d1: {mass: 2.2, inertia: [0.36, 0.34, 0.35], position: [0.23, 0.04, 0.08]}\n"
     "  d2: {mass: 0.35, inertia: [0.04, 0.04, 0.03], position: [0, 0.02, -0.91]}\n",
     "  d3: {cylindrical: {bodies: [ground, d1], at: [0.08, 0.35, -0.35], axis: [-0.34, 0.94, "
     "-0.02]}}\n"
     "  d4: {revolute: {bodies: [d2, d1], at: [0.68, -0.35, -0.6], axis: [0.6, -0.2, 0.8]}}\n"
     "  d5: {distance: {bodies: [d2, ground], from: [-0.19, 0.3, -0.78], to: [1.27, 1.1, 1.38]}}\n",
     "  d4: {rate: 0.3}\n"},
    // a tree whose last body is told, all rates together
    {"  e1: {mass: 5, inertia: [1, 1, 2], position: [0.4, 0.1, 0]}\n"
     "  e2: {mass: 3, inertia: [2, 2, 1], position: [1.1, 0.15, -0.2]}\n",
     "  e3: {revolute: {bodies: [ground, e1], at: [0, 0, 0.2], axis: [0, 0.3, 1]}}\n"
     "  e4: {prismatic: {bodies: [e1, e2], at: [0.8, 0.3, 0.1], axis: [0.2, 1, -0.4]}}\n",
     "  e2: {angular_velocity: [0, 0.6, 2]}\n"},
    // a tree at rest
    {"  f1: {mass: 2e5, inertia: [2e8, 1e8, 1e8], position: [-5.6, -10.4, -15.05]}\n",
     "  f2: {prismatic: {bodies: [ground, f1], at: [-45.2, 15.5, -6.9], axis: [-0.16, -0.4, "
     "-0.9]}}\n",
     ""},
};
enum { FRAGMENT_COUNT = sizeof FRAGMENTS / sizeof FRAGMENTS[0] };

static start_state start_together(const int *kinds, int count)
{
    char text[TEXT_MAX] = "holonom: 1\ngravity: [0, 0, -9.81]\nbodies:\n";
    bool jointed = false, told = false;
    for (int i = 0; i < count; ++i) {
        strcat(text, FRAGMENTS[kinds[i]].bodies);
        jointed = jointed || FRAGMENTS[kinds[i]].joints[0] != '\0';
        told = told || FRAGMENTS[kinds[i]].start[0] != '\0';
    }
    if (jointed) strcat(text, "joints:\n");
    for (int i = 0; i < count; ++i) strcat(text, FRAGMENTS[kinds[i]].joints);
    if (told) strcat(text, "start:\n");
    for (int i = 0; i < count; ++i) strcat(text, FRAGMENTS[kinds[i]].start);
    return start_of(text);
}

// bodies of the second mechanism begin where those of the first end
static void check_same(const start_state *alone, const start_state *both, int first, int kind,
                       int other)
{
    for (int i = 0; i < alone->body_count; ++i) {
        bool same = memcmp(&alone->velocity[i], &both->velocity[first + i], sizeof(hn_vec3)) == 0 &&
                    memcmp(&alone->omega[i], &both->omega[first + i], sizeof(hn_vec3)) == 0;
        if (!same)
            print_error("mechanism %d beside %d: body %d is off by %.2g m/s, %.2g rad/s\n", kind,
                        other, i,
                        vec3_norm(vec3_subtract(alone->velocity[i], both->velocity[first + i])),
                        vec3_norm(vec3_subtract(alone->omega[i], both->omega[first + i])));
        CHECK(same);
    }
}

TEST(neighbours, start_as_they_do_alone_to_the_last_bit)
{
    start_state alone[FRAGMENT_COUNT];
    for (int i = 0; i < FRAGMENT_COUNT; ++i) {
        alone[i] = start_together(&i, 1);
        if (alone[i].status != HN_OK) print_error("%d: %s\n", i, alone[i].message);
        CHECK_EQUAL(alone[i].status, HN_OK);
        CHECK(alone[i].projection == 0.0);
    }
    for (int i = 0; i < FRAGMENT_COUNT; ++i)
        for (int k = 0; k < FRAGMENT_COUNT; ++k) {
            if (i == k) continue;
            const int kinds[2] = {i, k};
            start_state both = start_together(kinds, 2);
            if (both.status != HN_OK) print_error("%d, %d: %s\n", i, k, both.message);
            CHECK_EQUAL(both.status, HN_OK);
            CHECK(both.projection == 0.0); // nothing had to be changed
            check_same(&alone[i], &both, 0, i, k);
            check_same(&alone[k], &both, alone[i].body_count, k, i);
        }
}

// ---- as if locked -------------------------------------------------------------------------------------

// A four-bar linkage with bodies that hang by links on its coupler, a rigid one and a point.
static const char HUNG[] =
    "holonom: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: [0.1, 0.1, 0.2], position: [0, 0.25, 0]}\n"
    "  coupler: {mass: 2, inertia: [0.2, 0.3, 0.4], position: [0.6, 0.7, 0]}\n"
    "  rocker: {mass: 1, inertia: [0.1, 0.1, 0.2], position: [1.1, 0.45, 0]}\n"
    "  charm: {mass: 0.7, inertia: [0.1, 0.2, 0.15], position: [0.9, 1.5, 0.4]}\n"
    "  bead: {point_mass: {mass: 0.3}, position: [0.2, 1.1, -0.3]}\n"
    "joints:\n"
    "  crank_bearing: {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: z}}\n"
    "  crank_pin: {revolute: {bodies: [crank, coupler], at: [0, 0.5, 0], axis: z}}\n"
    "  rocker_pin: {revolute: {bodies: [coupler, rocker], at: [1.2, 0.9, 0], axis: z}}\n"
    "  rocker_bearing: {revolute: {bodies: [rocker, ground], at: [1, 0, 0], axis: z}}\n"
    "  cord: {distance: {bodies: [coupler, charm], from: [0.7, 0.8, 0.1], to: [0.8, 1.4, 0.3]}}\n"
    "  thread: {distance: {bodies: [coupler, bead], from: [0.5, 0.7, -0.1], to: [0.2, 1.1, "
    "-0.3]}}\n"
    "start:\n"
    "  crank_bearing: {rate: -10}\n";

// On no loop, and nothing is said of them: they move with the coupler as if the links were rigid bars.
TEST(as_if_locked, what_hangs_by_links_on_a_loop_moves_along)
{
    enum { COUPLER = 1, CHARM = 3, BEAD = 4 };
    start_state s = start_of(HUNG);
    CHECK_EQUAL(s.status, HN_OK);
    const hn_vec3 arm[2] = {vec3(0.3, 0.8, 0.4), vec3(-0.4, 0.4, -0.3)};
    CHECK_NEAR(s.omega[COUPLER].z, -1.0, 1e-12);
    double worst = vec3_norm(vec3_subtract(s.omega[CHARM], s.omega[COUPLER]));
    for (int k = 0; k < 2; ++k) {
        hn_vec3 along = vec3_add(s.velocity[COUPLER], vec3_cross(s.omega[COUPLER], arm[k]));
        worst = fmax(worst, vec3_norm(vec3_subtract(s.velocity[k == 0 ? CHARM : BEAD], along)));
    }
    CHECK_BELOW(worst, 1e-12); // m/s, rad/s, of 14; measured 1e-14
}

// ---- in any order -------------------------------------------------------------------------------------

static const char *const PAIR[2] = {
    "  base: {mass: 3, inertia: [1, 2, 1.5], position: [0, 0, 0]}\n",
    "  arm: {mass: 1, inertia: [0.3, 0.2, 0.1], position: [0.5, 0.2, 0.1]}\n",
};

// Both bodies are told how fast their origins are, and nothing of their turns.
TEST(any_order, bodies_that_float_and_are_told_a_part_start_alike)
{
    start_state s[2];
    for (int k = 0; k < 2; ++k) {
        char text[TEXT_MAX];
        snprintf(
            text, sizeof text,
            "holonom: 1\n"
            "bodies:\n%s%s"
            "joints:\n"
            "  rail: {cylindrical: {bodies: [base, arm], at: [0.2, 0.1, 0], axis: [1, 2, 3]}}\n"
            "start:\n"
            "  base: {velocity: [1, 0, 0.5]}\n"
            "  arm: {velocity: [0.2, 0.7, -0.4]}\n",
            PAIR[k], PAIR[1 - k]);
        s[k] = start_of(text);
        CHECK_EQUAL(s[k].status, HN_OK);
    }
    double worst = 0.0;
    for (int i = 0; i < 2; ++i) {
        worst = fmax(worst, vec3_norm(vec3_subtract(s[0].velocity[i], s[1].velocity[1 - i])));
        worst = fmax(worst, vec3_norm(vec3_subtract(s[0].omega[i], s[1].omega[1 - i])));
    }
    CHECK(vec3_norm(s[0].omega[0]) > 0.1); // the rail turns
    CHECK_BELOW(worst, 1e-12);             // m/s, rad/s; measured 0
}

// ---- what is not determined -----------------------------------------------------------------------------

// Balls on a ring in flight, of which one is told how fast it is.
static start_state ring_of(int count)
{
    char text[TEXT_MAX];
    int used = snprintf(text, sizeof text, "holonom: 1\ngravity: [0, 0, 0]\nbodies:\n");
    for (int i = 0; i < count; ++i) {
        double angle = 6.283185307179586 * i / count;
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "  b%d: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [%.17g, %.17g, 0]}\n", i,
                     cos(angle), sin(angle));
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
    for (int i = 0; i < count; ++i) {
        double angle = 6.283185307179586 * (i + 0.5) / count;
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  j%d: {spherical: {bodies: [b%d, b%d], at: [%.17g, %.17g, 0]}}\n", i, i,
                         (i + 1) % count, cos(angle), sin(angle));
    }
    snprintf(text + used, sizeof text - (size_t)used, "start:\n  b0: {velocity: [1, 0.2, 0.3]}\n");
    return start_of(text);
}

// Least kinetic energy with few degrees of freedom; with many another choice, which is said.
TEST(undetermined, velocities_of_long_rings_are_said)
{
    start_state few = ring_of(6), many = ring_of(24);
    CHECK_EQUAL(few.status, HN_OK);
    CHECK_EQUAL(few.caution_count, 0);
    CHECK_BELOW(few.energy, 0.5 * 6 * 1.13); // J, that of all of them together; measured 1.62
    CHECK_EQUAL(many.status, HN_OK);
    CHECK_EQUAL(many.caution_count, 1);
    CHECK_CONTAINS(many.caution, "start velocities around joint 'j");
    CHECK_CONTAINS(many.caution, "do not follow");
}
