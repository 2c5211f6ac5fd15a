// SPDX-License-Identifier: MIT
// Kinematics and inverse dynamics against closed forms, and against simulations of the same drives.
#include "physics/run.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MAX = 8, COORDINATES_MAX = 24, DRIVES_MAX = 8, TEXT_SIZE = 8192 };

typedef struct driven {
    hn_context *context;
    hn_model *model;
    hn_simulation *simulation;
} driven;

// A model file without its drives and run, and other drives for it.
static const char *with_drives(const char *name, const char *drives, char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s.yaml", HN_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = fread(text, 1, TEXT_SIZE - 2048, file);
    fclose(file);
    text[size] = '\0';
    const char *const ends[] = {"\ndrives:", "\nstart:", "\nrun:"};
    for (int k = 0; k < 3; ++k) {
        char *end = strstr(text, ends[k]);
        if (end != NULL) *end = '\0';
    }
    size = strlen(text);
    snprintf(text + size, TEXT_SIZE - size, "\ndrives:\n%s\nrun: {step: 0.001, end: 1}\n", drives);
    return text;
}

static driven driven_of(const char *text, double step, bool inputs)
{
    driven d = {.context = hn_context_create(NULL)};
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = step;
    def.ledger = false;
    def.inputs = inputs;
    CHECK_OK(d.context, hn_model_parse(d.context, text, strlen(text), "model", &d.model));
    CHECK_OK(d.context, hn_simulation_create(d.model, &def, &d.simulation));
    return d;
}

static void driven_close(driven *d)
{
    hn_simulation_destroy(d->simulation);
    hn_model_destroy(d->model);
    hn_context_destroy(d->context);
}

static const double *view_of(const driven *d, const char *name, size_t *count)
{
    hn_view view;
    CHECK_OK(d->context, hn_simulation_view(d->simulation, name, &view));
    *count = 1;
    for (int k = 0; k < view.rank; ++k) *count *= view.shape[k];
    return view.data;
}

// ---- the mechanisms -----------------------------------------------------------------------------------------

typedef struct mechanism {
    const char *model, *drives;
    double step; // s
} mechanism;

static const char ARM[] =
    "  m1: {motion: {joint: a1, value: '0.7*(1-cos(2*t))', armature: 4}}\n"
    "  m2: {motion: {joint: a2, value: '0.4*sin(1.5*t)'}}\n"
    "  m3: {motion: {joint: a3, value: '-0.5*sin(2*t)+0.2*t', armature: 1.5}}\n"
    "  m4: {motion: {joint: a4, value: '0.8*sin(3*t)'}}\n"
    "  m5: {motion: {joint: a5, value: '0.6*(1-cos(4*t))'}}\n"
    "  m6: {motion: {joint: a6, value: '2*t+t^2', armature: 0.1}}\n"
    "  balance: {spring: {joint: a2, stiffness: 80, rest: -0.3}}\n";
static const mechanism MECHANISMS[] = {
    {"engine", "  starter: {motion: {joint: main, value: '30*t+40*t^2'}}\n", 1e-3},
    {"robot-arm", ARM, 2e-3},
    {"four-bar", "  turn: {motion: {joint: crank_bearing, value: '-6*t+sin(3*t)'}}\n", 1e-3},
    {"bennett", "  turn: {motion: {joint: b, value: '3*t+0.4*sin(2*t)'}}\n", 1e-3},
};
enum { MECHANISM_COUNT = sizeof MECHANISMS / sizeof MECHANISMS[0] };

// ---- kinematics -----------------------------------------------------------------------------------------------

// Largest differences between what is followed and what is simulated, over a part of a second: places, rates, and
// accelerations (of the simulation as differences over two steps).
typedef struct differences {
    double place, rate, acceleration;
} differences;

static differences compare(const mechanism *m, double step)
{
    static char text[TEXT_SIZE];
    differences worst = {0.0, 0.0, 0.0};
    driven stepped = driven_of(with_drives(m->model, m->drives, text), step, false),
           follow = driven_of(text, step, false);
    size_t n, count;
    const double *x = view_of(&stepped, "bodies/position", &n),
                 *y = view_of(&follow, "bodies/position", &n),
                 *rx = view_of(&stepped, "joints/rates", &count),
                 *ry = view_of(&follow, "joints/rates", &count),
                 *cx = view_of(&stepped, "joints/coordinates", &count),
                 *cy = view_of(&follow, "joints/coordinates", &count),
                 *ay = view_of(&follow, "joints/accelerations", &count);
    CHECK(count <= COORDINATES_MAX);
    double before[2][COORDINATES_MAX] = {{0.0}}, acceleration[COORDINATES_MAX] = {0.0};
    int steps = (int)(0.2 / step + 0.5);
    CHECK_OK(follow.context, hn_simulation_follow(follow.simulation, 0, false));
    for (int i = 0; i < steps; ++i) {
        memcpy(before[1], before[0], sizeof before[0]);
        memcpy(before[0], rx, count * sizeof(double));
        memcpy(acceleration, ay, count * sizeof(double));
        CHECK_OK(stepped.context, hn_simulation_step(stepped.simulation, 1));
        CHECK_OK(follow.context, hn_simulation_follow(follow.simulation, 1, false));
        for (size_t k = 0; k < n; ++k) worst.place = fmax(worst.place, fabs(x[k] - y[k]));
        for (size_t k = 0; k < count; ++k) {
            worst.place = fmax(worst.place, fabs(cx[k] - cy[k]));
            worst.rate = fmax(worst.rate, fabs(rx[k] - ry[k]));
            if (i > 0)
                worst.acceleration =
                    fmax(worst.acceleration,
                         fabs((rx[k] - before[1][k]) / (2.0 * step) - acceleration[k]));
        }
    }
    driven_close(&stepped);
    driven_close(&follow);
    return worst;
}

TEST(kinematics, agrees_with_the_dynamics_of_the_same_drives)
{
    double place = 0.0;
    for (int k = 0; k < MECHANISM_COUNT; ++k) {
        differences coarse = compare(&MECHANISMS[k], MECHANISMS[k].step),
                    fine = compare(&MECHANISMS[k], 0.5 * MECHANISMS[k].step);
        if (getenv("HN_TEST_VERBOSE") != NULL)
            printf("%s: %.2e %.2e %.2e, %.2e %.2e %.2e\n", MECHANISMS[k].model, coarse.place,
                   coarse.rate, coarse.acceleration, fine.place, fine.rate, fine.acceleration);
        place = fmax(place, fmax(coarse.place, fine.place));
        CHECK(coarse.rate > 3.6 * fine.rate && coarse.rate < 4.4 * fine.rate);
        CHECK(coarse.acceleration > 3.6 * fine.acceleration &&
              coarse.acceleration < 4.4 * fine.acceleration);
    }
    CHECK_BELOW(place, 1e-11); // m, rad, of 20 rad; measured 8e-13
}

TEST(kinematics, a_slider_crank_is_that_of_its_formula)
{
    static char text[TEXT_SIZE];
    const double r = 0.043, l = 0.144;
    driven d = driven_of(with_drives("engine", MECHANISMS[0].drives, text), 2e-3, false);
    size_t n;
    const double *x = view_of(&d, "bodies/position", &n), *v = view_of(&d, "bodies/velocity", &n),
                 *a = view_of(&d, "bodies/acceleration", &n);
    double worst[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i <= 100; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, i == 0 ? 0 : 1, false));
        double t = hn_simulation_time(d.simulation), p = 30.0 * t + 40.0 * t * t,
               w = 30.0 + 80.0 * t, b = 80.0;
        double s = sin(p), c = cos(p), root = sqrt(l * l - r * r * s * s);
        double by = -r * s - r * r * s * c / root; // dx/dp
        double second =
            -r * c - r * r * (c * c - s * s) / root - pow(r, 4) * s * s * c * c / pow(root, 3);
        worst[0] = fmax(worst[0], fabs(x[6] - (r * c + root)));
        worst[1] = fmax(worst[1], fabs(v[6] - by * w));
        worst[2] = fmax(worst[2], fabs(a[6] - (second * w * w + by * b)));
    }
    CHECK_BELOW(worst[0], 5e-15); // m; measured 8.3e-17
    CHECK_BELOW(worst[1], 5e-13); // m/s; measured 9.8e-15
    CHECK_BELOW(worst[2], 1e-11); // m/s^2, of 200; measured 1.6e-13
    driven_close(&d);
}

// Steps in which bodies turn far are taken in parts.
TEST(kinematics, long_steps)
{
    static char text[TEXT_SIZE];
    driven d =
        driven_of(with_drives("engine", "  starter: {motion: {joint: main, value: 300*t}}\n", text),
                  0.02, false);
    size_t n;
    const double *x = view_of(&d, "joints/coordinates", &n);
    for (int i = 1; i <= 10; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, false));
        CHECK(fabs(x[0] - 6.0 * i) < 1e-11);
    }
    driven_close(&d);
}

// A latch that is never reached stands before the motions: their angles are their own all the same.
TEST(kinematics, angles_belong_to_their_motions)
{
    static const char TEXT[] =
        "holonom: 1\nbodies:\n"
        "  one: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n"
        "  two: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0]}\n"
        "joints:\n"
        "  first: {revolute: {bodies: [ground, one], at: [0, 0, 0], axis: z}}\n"
        "  second: {revolute: {bodies: [one, two], at: [1, 0, 0], axis: z}}\n"
        "drives:\n"
        "  lock: {latch: {joint: first, value: 500}}\n"
        "  slow: {motion: {joint: first, value: 2*t}}\n"
        "  fast: {motion: {joint: second, value: 300*t}}\n";
    driven d = driven_of(TEXT, 0.02, false);
    size_t n;
    const double *x = view_of(&d, "joints/coordinates", &n);
    double worst = 0.0;
    for (int i = 1; i <= 20; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        worst = fmax(worst, fmax(fabs(x[0] - 0.04 * i), fabs(x[1] - 6.0 * i)));
    }
    CHECK_BELOW(worst, 1e-12); // rad, of 120; measured 1.4e-14
    driven_close(&d);
}

static void refused(const char *model, const char *drives, const char *said)
{
    static char text[TEXT_SIZE];
    driven d = driven_of(with_drives(model, drives, text), 1e-3, false);
    CHECK_STATUS(d.context, hn_simulation_follow(d.simulation, 1, true), HN_INVALID_MODEL);
    CHECK(strstr(hn_context_message(d.context), said) != NULL);
    driven_close(&d);
}

TEST(kinematics, refuses_by_name)
{
    refused("four-bar", "  push: {effort: {joint: crank_bearing, value: 1}}\n",
            "'crank_bearing/angle'");
    refused("four-bar",
            "  one: {motion: {joint: crank_bearing, value: 0}}\n"
            "  two: {motion: {joint: rocker_bearing, value: 0}}\n",
            "drive 'two' cannot move joint 'rocker_bearing'");
    refused("robot-arm", "  m2: {motion: {joint: a2, value: 0}}\n",
            "5 degrees of freedom are without");
}

// ---- inverse dynamics -----------------------------------------------------------------------------------------

// A block that a motion leads into a buffer, which it touches with a metre per second.
TEST(inverse, a_buffer_pushes_from_the_instant_it_is_touched)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\n"
        "joints: {rail: {prismatic: {bodies: [ground, block], at: [0, 0, 0], axis: x}}}\n"
        "drives:\n"
        "  lead: {motion: {joint: rail, value: '0.01*sin(100*t)'}}\n"
        "  buffer: {stop: {joint: rail, upper: 0.005, stiffness: 1e6, damping: 50}}\n";
    driven d = driven_of(TEXT, 5e-4, false);
    double worst = 0.0;
    CHECK_OK(d.context, hn_simulation_follow(d.simulation, 0, true));
    for (int i = 1; i <= 120; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        double t = 5e-4 * i, pressed = 0.01 * sin(100.0 * t) - 0.005,
               push = pressed > 0.0 ? fmax(1e6 * pressed + 50.0 * cos(100.0 * t), 0.0) : 0.0;
        hn_drive_state lead;
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 0, &lead));
        worst = fmax(worst, fabs(lead.effort - push + 200.0 * sin(100.0 * t)));
    }
    CHECK_BELOW(worst, 1e-10); // N of 4800; measured 3e-12
    driven_close(&d);
}

// A servo counts the integral of its error on the way, also where its limit holds for a while; it stood still before.
TEST(inverse, servos_integrate_their_error)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\n"
        "joints: {rail: {prismatic: {bodies: [block, ground], at: [0, 0, 0], axis: x}}}\n"
        "drives:\n"
        "  lead: {motion: {joint: rail, value: 't^2'}}\n"
        "  free: {servo: {joint: rail, target: '1+t', integral: 10}}\n"
        "  limited: {servo: {joint: rail, target: 1, integral: 10, limit: 3}}\n";
    driven d = driven_of(TEXT, 0.01, false);
    hn_drive_state lead, free, limited;
    double worst = 0.0, most = 0.0;
    CHECK_OK(d.context, hn_simulation_follow(d.simulation, 0, true));
    for (int i = 1; i <= 150; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 0, &lead));
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 1, &free));
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 2, &limited));
        double t = 0.01 * i;
        worst = fmax(worst, fabs(free.effort - 10.0 * (t + t * t / 2.0 - t * t * t / 3.0)));
        worst = fmax(worst, fabs(lead.effort + free.effort + limited.effort - 4.0));
        most = fmax(most, fabs(limited.effort));
    }
    CHECK_BELOW(worst, 5e-13); // N of 16; measured 8.9e-15
    CHECK_BELOW(most, 3.0);
    // the limit holds while the error does not change its sign, t < 1; then it falls by 10 (t^3/3 - t + 2/3)
    CHECK_NEAR(limited.effort, 3.0 - 10.0 * (1.5 * 1.5 * 1.5 / 3.0 - 1.5 + 2.0 / 3.0), 0.06);
    driven_close(&d);
}

// A wheel that turns by six radians between two records: laws know how far it has turned.
TEST(inverse, laws_count_turns_however_far_records_are_apart)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {wheel: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
        "joints: {axle: {revolute: {bodies: [ground, wheel], at: [0, 0, 0], axis: x}}}\n"
        "loads: {twist: {torsion_spring: {joint: axle, stiffness: 3}}}\n"
        "drives:\n"
        "  lead: {motion: {joint: axle, value: 300*t}}\n"
        "  spring: {spring: {joint: axle, stiffness: 1}}\n"
        "  servo: {servo: {joint: axle, target: 0, proportional: 2}}\n";
    driven d = driven_of(TEXT, 0.02, false);
    hn_drive_state state[3];
    CHECK_OK(d.context, hn_simulation_follow(d.simulation, 0, true));
    for (int i = 1; i <= 10; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        for (int k = 0; k < 3; ++k)
            CHECK_OK(d.context, hn_simulation_drive(d.simulation, k, &state[k]));
        CHECK_NEAR(state[0].effort, 36.0 * i, 1e-11);
        CHECK_NEAR(state[1].effort, -6.0 * i, 1e-11);
        CHECK_NEAR(state[2].effort, -12.0 * i, 1e-11);
    }
    driven_close(&d);
}

// Of a spring that is energy, not work: with motions and dampers the sum of all work is what the energy has grown by.
TEST(inverse, work_of_springs_and_buffers_is_what_they_lose)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {rail: {prismatic: {bodies: [ground, block], at: [0, 0, 0], axis: x}}}\n"
        "drives:\n"
        "  lead: {motion: {joint: rail, value: 't^2'}}\n"
        "  spring: {spring: {joint: rail, stiffness: 10, damping: 1}}\n"
        "  table: {spring: {joint: rail, table: {displacements: [0, 1], efforts: [0, 5]}}}\n"
        "  buffer: {stop: {joint: rail, upper: 0.5, stiffness: 100, damping: 2}}\n";
    driven d = driven_of(TEXT, 1e-4, false);
    hn_drive_state state[4];
    hn_energy begin, end;
    CHECK_OK(d.context, hn_simulation_follow(d.simulation, 0, true));
    CHECK_OK(d.context, hn_simulation_energy(d.simulation, &begin));
    CHECK_OK(d.context, hn_simulation_follow(d.simulation, 10000, true));
    CHECK_OK(d.context, hn_simulation_energy(d.simulation, &end));
    double work = 0.0;
    for (int k = 0; k < 4; ++k) {
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, k, &state[k]));
        work += state[k].work;
    }
    CHECK_NEAR(state[1].effort, -12.0, 1e-12);
    CHECK_NEAR(state[1].power, -4.0, 1e-12); // of the damper alone: 1 (2 t)^2
    CHECK_NEAR(state[2].power, 0.0, 1e-12);
    CHECK_NEAR(state[3].power, -8.0, 1e-12);
    CHECK_NEAR(state[1].work, -4.0 / 3.0, 1e-7);
    CHECK_NEAR(work, end.kinetic + end.potential - begin.kinetic - begin.potential,
               2e-3); // touches at 0.5
    driven_close(&d);
}

// Efforts that steps took, held over the same steps: the same motion.
TEST(inverse, discrete_efforts_fed_back_give_the_same_motion)
{
    static char text[TEXT_SIZE], efforts[2048];
    driven stepped = driven_of(with_drives("robot-arm", ARM, text), 2e-3, false);
    snprintf(efforts, sizeof efforts, "%s",
             "  m1: {effort: {joint: a1, value: 0, armature: 4}}\n"
             "  m2: {effort: {joint: a2, value: 0}}\n"
             "  m3: {effort: {joint: a3, value: 0, armature: 1.5}}\n"
             "  m4: {effort: {joint: a4, value: 0}}\n"
             "  m5: {effort: {joint: a5, value: 0}}\n"
             "  m6: {effort: {joint: a6, value: 0, armature: 0.1}}\n"
             "  balance: {spring: {joint: a2, stiffness: 80, rest: -0.3}}\n"
             "start: {a2: {rate: 0.6}, a3: {rate: -0.8}, a4: {rate: 2.4}, a6: {rate: 2}}\n");
    driven fed = driven_of(with_drives("robot-arm", efforts, text), 2e-3, true);
    hn_input command;
    size_t n;
    CHECK_OK(fed.context, hn_simulation_input(fed.simulation, "drives/command", &command));
    const double *x = view_of(&stepped, "joints/coordinates", &n),
                 *y = view_of(&fed, "joints/coordinates", &n);
    double worst = 0.0;
    for (int i = 0; i < 250; ++i) {
        CHECK_OK(stepped.context, hn_simulation_step(stepped.simulation, 1));
        for (int d = 0; d < 6; ++d) {
            hn_drive_state state;
            CHECK_OK(stepped.context, hn_simulation_drive(stepped.simulation, d, &state));
            command.data[d] = state.effort;
        }
        CHECK_OK(fed.context, hn_simulation_step(fed.simulation, 1));
        for (size_t k = 0; k < n; ++k) worst = fmax(worst, fabs(x[k] - y[k]));
    }
    CHECK_BELOW(worst, 3e-11); // rad, after 250 steps; measured 6.3e-13
    driven_close(&stepped);
    driven_close(&fed);
}

// Efforts of the motion itself, in the middle of steps, against those of steps: means of two, which do not alternate.
static void effort_differences(double step, double *effort, double *reaction)
{
    static char text[TEXT_SIZE];
    driven stepped = driven_of(with_drives("robot-arm", ARM, text), step, false),
           follow = driven_of(text, step, false);
    int steps = (int)(0.3 / step + 0.5);
    size_t n;
    const double *fx = view_of(&stepped, "joints/reaction_force", &n),
                 *fy = view_of(&follow, "joints/reaction_force", &n);
    double before[DRIVES_MAX] = {0.0}, forces[COORDINATES_MAX] = {0.0};
    *effort = *reaction = 0.0;
    for (int i = 0; i < steps; ++i) {
        // means of the steps that end and begin at t belong to t
        CHECK_OK(stepped.context, hn_simulation_step(stepped.simulation, 1));
        for (int d = 0; d < 6; ++d) {
            hn_drive_state a, b;
            CHECK_OK(stepped.context, hn_simulation_drive(stepped.simulation, d, &a));
            CHECK_OK(follow.context, hn_simulation_drive(follow.simulation, d, &b));
            if (i > 0) *effort = fmax(*effort, fabs(0.5 * (a.effort + before[d]) - b.effort));
            before[d] = a.effort;
        }
        for (size_t k = 0; k < n; ++k) {
            if (i > 0) *reaction = fmax(*reaction, fabs(0.5 * (fx[k] + forces[k]) - fy[k]));
            forces[k] = fx[k];
        }
        CHECK_OK(follow.context, hn_simulation_follow(follow.simulation, 1, true));
    }
    driven_close(&stepped);
    driven_close(&follow);
}

TEST(inverse, continuous_efforts_and_reactions_are_those_of_steps_to_second_order)
{
    double effort[2], reaction[2];
    for (int k = 0; k < 2; ++k) effort_differences(k == 0 ? 2e-3 : 1e-3, &effort[k], &reaction[k]);
    if (getenv("HN_TEST_VERBOSE") != NULL)
        printf("efforts %.2e %.2e, reactions %.2e %.2e\n", effort[0], effort[1], reaction[0],
               reaction[1]);
    CHECK(effort[0] > 3.5 * effort[1] && effort[0] < 4.5 * effort[1]);
    CHECK(reaction[0] > 3.5 * reaction[1] && reaction[0] < 4.5 * reaction[1]);
}

// Two rods on hinges, told how to move: torques and the force in the shoulder by Newton's and Euler's equations.
TEST(inverse, a_double_pendulum_takes_the_torques_of_its_equations)
{
    static const char TEXT[] =
        "holonom: 1\nbodies:\n"
        "  one: {mass: 1.3, inertia: [0.11, 0.11, 0.001], position: [0, 0, -0.5]}\n"
        "  two: {mass: 0.8, inertia: [0.07, 0.07, 0.001], position: [0, 0, -1.4]}\n"
        "joints:\n"
        "  shoulder: {revolute: {bodies: [ground, one], at: [0, 0, 0], axis: y}}\n"
        "  elbow: {revolute: {bodies: [one, two], at: [0, 0, -1], axis: y}}\n"
        "drives:\n"
        "  s: {motion: {joint: shoulder, value: '0.9*sin(2*t)', armature: 0.25}}\n"
        "  e: {motion: {joint: elbow, value: '0.5*t^2-0.7*t'}}\n"
        "run: {step: 0.01, end: 1}\n";
    const double m1 = 1.3, m2 = 0.8, J1 = 0.11, J2 = 0.07, c1 = 0.5, l = 1.0, c2 = 0.4, g = 9.81;
    driven d = driven_of(TEXT, 0.01, false);
    double worst = 0.0;
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        double t = hn_simulation_time(d.simulation);
        // about y a turn p takes the rod's lower end to -x: its direction is (-sin p, -cos p)
        double p = 0.9 * sin(2 * t), w = 1.8 * cos(2 * t), a = -3.6 * sin(2 * t);
        double q = p + 0.5 * t * t - 0.7 * t, u = w + t - 0.7, b = a + 1.0;
        double e1[2] = {-sin(p), -cos(p)}, n1[2] = {-cos(p), sin(p)}, e2[2] = {-sin(q), -cos(q)},
               n2[2] = {-cos(q), sin(q)}, f2[2], f1[2];
        for (int k = 0; k < 2; ++k) {
            double a1 = c1 * (a * n1[k] - w * w * e1[k]),
                   a2 = l * (a * n1[k] - w * w * e1[k]) + c2 * (b * n2[k] - u * u * e2[k]);
            f2[k] = m2 * (a2 + (k == 1 ? g : 0.0));         // on rod two at the elbow
            f1[k] = m1 * (a1 + (k == 1 ? g : 0.0)) + f2[k]; // on rod one at the shoulder
        }
        // moments about y, (z x) components: r x f = r_z f_x - r_x f_z
        double elbow = J2 * b - (-c2 * e2[1] * f2[0] + c2 * e2[0] * f2[1]);
        double shoulder = J1 * a + elbow - (-c1 * e1[1] * f1[0] + c1 * e1[0] * f1[1]) +
                          ((l - c1) * e1[1] * f2[0] - (l - c1) * e1[0] * f2[1]) + 0.25 * a;
        hn_drive_state s, e;
        hn_joint_state bearing;
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 0, &s));
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 1, &e));
        CHECK_OK(d.context, hn_simulation_joint_state(
                                d.simulation, hn_simulation_joint(d.simulation, 0), &bearing));
        worst = fmax(worst, fmax(fabs(s.effort - shoulder), fabs(e.effort - elbow)));
        worst = fmax(worst, fmax(fabs(bearing.reaction_force.x - f1[0]),
                                 fabs(bearing.reaction_force.z - f1[1])));
    }
    CHECK_BELOW(worst, 5e-13); // N m, N of 50; measured 7e-15
    driven_close(&d);
}

// A crank moves two rockers by rods, which makes two loops: on every body joints, weight and acceleration balance,
// and free hinges take no torque.
static const char ROCKERS[] =
    "holonom: 1\nname: rockers\ngravity: [1, -9, 2]\nbodies:\n"
    "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.2, 0, 0]}\n"
    "  left: {mass: 2, inertia: [0.2, 0.1, 0.2], position: [1, 0.3, 0]}\n"
    "  right: {mass: 3, inertia: [0.2, 0.1, 0.3], position: [-1, 0.3, 0.1]}\n"
    "joints:\n"
    "  motor: {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: z}}\n"
    "  foot_left: {revolute: {bodies: [ground, left], at: [1, 0, 0], axis: z}}\n"
    "  foot_right: {revolute: {bodies: [ground, right], at: [-1, 0, 0], axis: z}}\n"
    "  rod_left: {distance: {bodies: [crank, left], from: [0.3, 0.1, 0], to: [1, 0.5, 0]}}\n"
    "  rod_right: {distance: {bodies: [crank, right], from: [0.1, 0.3, 0], to: [-1, 0.5, 0]}}\n"
    "drives:\n  turn: {motion: {joint: motor, value: '0.3*sin(4*t)'}}\n"
    "run: {step: 0.001, end: 1}\n";

TEST(inverse, reactions_of_two_loops_balance_every_body)
{
    enum { BODIES = 3, JOINTS = 5, STEPS = 200 };
    static const double MASS[BODIES] = {1.0, 2.0, 3.0}, GRAVITY[3] = {1.0, -9.0, 2.0},
                        ON[BODIES][JOINTS] = {{1, 0, 0, -1, -1}, {0, 1, 0, 1, 0}, {0, 0, 1, 0, 1}};
    const double h = 1e-3;
    driven d = driven_of(ROCKERS, h, false);
    double speed[3][3 * BODIES], force[2][3 * JOINTS], error = 0.0, size = 0.0, free_part = 0.0;
    size_t n;
    const double *v = view_of(&d, "bodies/velocity", &n);
    CHECK_EQUAL(n, 3 * BODIES);
    const double *f = view_of(&d, "joints/reaction_force", &n);
    CHECK_EQUAL(n, 3 * JOINTS);
    const double *torque = view_of(&d, "joints/reaction_torque", &n);
    for (int i = 0; i < STEPS; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, i > 0 ? 1 : 0, true));
        // the feet turn freely about z
        for (int k = 1; k <= 2; ++k) free_part = fmax(free_part, fabs(torque[3 * k + 2]));
        memmove(speed, speed + 1, 2 * sizeof speed[0]);
        memcpy(speed[2], v, sizeof speed[2]);
        memcpy(force[0], force[1], sizeof force[0]);
        memcpy(force[1], f, sizeof force[1]);
        for (int k = 0; k < 3 * BODIES && i >= 2; ++k) {
            double sum = MASS[k / 3] * (GRAVITY[k % 3] - (speed[2][k] - speed[0][k]) / (2.0 * h));
            for (int j = 0; j < JOINTS; ++j) {
                sum += ON[k / 3][j] * force[0][3 * j + k % 3];
                size = fmax(size, fabs(force[0][3 * j + k % 3]));
            }
            error = fmax(error, fabs(sum));
        }
    }
    print_message("rockers: %.2g N of %.3g, %.2g N m\n", error, size, free_part);
    CHECK_BELOW(error / size, 1e-5);      // central differences; measured 3.7e-7
    CHECK_BELOW(free_part / size, 1e-14); // m; measured 1.7e-16
    driven_close(&d);
}

// A planetary gear whose sun is told to speed up: the carrier makes 2/7 of its turns, one inertia is accelerated.
TEST(inverse, of_a_planetary_gear)
{
    static char text[TEXT_SIZE];
    driven d = driven_of(with_drives("planetary-gear",
                                     "  sun: {motion: {joint: input, value: '15*t^2'}}\n"
                                     "  load: {spring: {joint: output, damping: 0.01}}\n",
                                     text),
                         0.05, false);
    const double ratio = 2.0 / 7.0, spin = 1.0 - 60.0 / 18.0, arm = 0.042;
    double planet = 0.16 * (arm * arm + 0.5 * 0.018 * 0.018 * spin * spin);
    double inertia =
        0.28 * 0.5 * 0.024 * 0.024 + ratio * ratio * (0.74 * 0.5 * 0.05 * 0.05 + 3.0 * planet);
    size_t n;
    const double *x = view_of(&d, "joints/coordinates", &n);
    double place = 0.0, effort = 0.0;
    for (int i = 0; i < 20; ++i) {
        CHECK_OK(d.context, hn_simulation_follow(d.simulation, 1, true));
        double t = hn_simulation_time(d.simulation), turn = 15.0 * t * t, rate = 30.0 * t;
        hn_drive_state state;
        CHECK_OK(d.context, hn_simulation_drive(d.simulation, 0, &state));
        place = fmax(place, fmax(fabs(x[0] - turn), fabs(x[1] - ratio * turn)));
        place = fmax(place, fabs(x[2] + 60.0 / 18.0 * ratio * turn));
        effort = fmax(effort, fabs(state.effort - (inertia * 30.0 + ratio * ratio * 0.01 * rate)));
    }
    CHECK_BELOW(place, 5e-13);  // rad, of 15; measured 5e-15
    CHECK_BELOW(effort, 5e-12); // N m, of 0.06; measured 5e-14
    driven_close(&d);
}

static hn_status attempt(hn_context *context, void *user)
{
    hn_model *model = NULL;
    hn_simulation *simulation = NULL;
    hn_linear_system *system = NULL;
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-2;
    hn_status status = hn_model_parse(context, user, strlen(user), "model", &model);
    if (status == HN_OK) status = hn_simulation_create(model, &def, &simulation);
    if (status == HN_OK) status = hn_simulation_linearise(simulation, &system);
    if (status == HN_OK) status = hn_simulation_follow(simulation, 1, true);
    hn_linear_system_destroy(system);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    return status;
}

TEST(prescribed, report_every_allocation_that_fails)
{
    static char text[TEXT_SIZE];
    with_drives("four-bar", MECHANISMS[2].drives, text);
    CHECK(check_every_allocation_failing(attempt, text) > 60);
}
