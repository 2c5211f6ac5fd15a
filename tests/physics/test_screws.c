// SPDX-License-Identifier: MIT
// Screw joints: the kind, and threads that turn many times. A nut on a spring in closed form: test_couplings.c.
#include "physics/driven_run.h"

#include <stdio.h>

static const double TURN = 6.283185307179586; // rad

static hn_joint_state thread_of(const driven_run *r)
{
    hn_joint_state state;
    CHECK_OK(r->context, hn_simulation_joint_state(
                             r->simulation, hn_model_find_joint(r->model, "thread"), &state));
    return state;
}

static hn_joint_def nut_on_the_ground(hn_context *context, hn_model *model, double pitch)
{
    hn_body_def body = hn_body_def_default();
    hn_body_id nut;
    body.mass = 2.0;
    body.inertia = (hn_vec3){0.01, 0.01, 0.004};
    CHECK_OK(context, hn_model_add_body(model, &body, &nut));
    hn_joint_def def = hn_joint_def_default(HN_JOINT_SCREW);
    def.name = "thread";
    def.body_a = hn_ground();
    def.body_b = nut;
    def.pitch = pitch;
    return def;
}

TEST(screws, are_a_kind_of_joint_with_a_coupling_of_its_name)
{
    static const double BAD[] = {0.0, (double)NAN, HUGE_VAL};
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_model_def empty = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &empty, &model));
    hn_joint_def def = nut_on_the_ground(context, model, 0.25);
    hn_joint_id joint;
    for (int i = 0; i < 3; ++i) {
        def.pitch = BAD[i];
        CHECK_EQUAL(hn_model_add_joint(model, &def, &joint), HN_INVALID_MODEL);
        CHECK(strstr(hn_context_message(context), "joint 'thread': pitch is") != NULL);
        CHECK_EQUAL(hn_model_joint_count(model), 0);
        CHECK_EQUAL(hn_model_coupling_count(model), 0);
    }
    def.pitch = 0.25;
    CHECK_OK(context, hn_model_add_joint(model, &def, &joint));
    CHECK_EQUAL(hn_model_joint_kind(model, joint), HN_JOINT_SCREW);
    CHECK_TEXT(hn_joint_kind_name(HN_JOINT_SCREW), "screw");
    CHECK_EQUAL(hn_model_coupling_count(model), 1);
    CHECK_TEXT(hn_model_coupling_name(model, 0), "thread");
    CHECK_EQUAL(hn_model_coupling_kind(model, 0), HN_COUPLING_SCREW);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Schemes that take no couplings say so, by the name of the joint.
TEST(screws, are_refused_by_name_where_no_coupling_is_taken)
{
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_model_def empty = hn_model_def_default();
    CHECK_OK(context, hn_model_create(context, &empty, &model));
    hn_joint_def def = nut_on_the_ground(context, model, 0.25);
    hn_joint_id joint;
    CHECK_OK(context, hn_model_add_joint(model, &def, &joint));
    int taken = 0;
    for (int scheme = 0; scheme < HN_SCHEME_COUNT; ++scheme) {
        hn_simulation_def run = hn_simulation_def_default();
        hn_simulation *simulation = NULL;
        run.scheme = (hn_scheme)scheme;
        run.step_size = 1e-3;
        hn_status status = hn_simulation_create(model, &run, &simulation);
        if (status == HN_OK) {
            ++taken;
            CHECK_EQUAL(hn_simulation_structure(simulation).degrees_of_freedom, 1);
        } else {
            CHECK(strstr(hn_context_message(context), "'thread'") != NULL);
        }
        hn_simulation_destroy(simulation);
    }
    CHECK(taken >= 2);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// Two tumbling bodies whose thread makes a dozen turns: the relation holds without losing one, and energy
// (energy-momentum), momenta (both schemes) stay. Mean turn per step 0.16 rad.
TEST(screws, turn_many_times_on_a_tumbling_body)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  rod: {mass: 2, inertia: [0.3, 0.2, 0.1], position: [0, 0, 0]}\n"
        "  nut: {mass: 1, inertia: [0.05, 0.06, 0.08], position: [0.4, 0.1, 0.05]}\n"
        "joints:\n"
        "  thread: {screw: {bodies: [nut, rod], at: [0.3, 0, 0], axis: [1, 0.2, 0.1], pitch: -5 "
        "mm}}\n"
        "start:\n"
        "  rod: {angular_velocity: [0.1, 0.2, -0.15]}\n"
        "  thread: {rate: 40}\n";
    static const hn_scheme SCHEMES[2] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL};
    for (int i = 0; i < 2 * HN_REDUCTION_COUNT; ++i) {
        driven_run r = begin_run(TEXT, SCHEMES[i % 2], (hn_reduction)(i / 2), 4e-3);
        hn_vec3 linear[2], angular[2];
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[0], &angular[0]));
        double balance = balance_error(&r, 500, 1);
        if (i % 2 == 0) CHECK_BELOW(balance, 2e-13); // measured 8.4e-15
        else CHECK_BELOW(balance, 1e-3);             // measured 1.0e-4
        CHECK_OK(r.context, hn_simulation_momentum(r.simulation, &linear[1], &angular[1]));
        CHECK_NEAR(angular[1].x, angular[0].x, 5e-13);
        CHECK_NEAR(angular[1].y, angular[0].y, 5e-13);
        CHECK_NEAR(angular[1].z, angular[0].z, 5e-13);
        CHECK_NEAR(linear[1].x, linear[0].x, 5e-13);
        hn_joint_state s = thread_of(&r);
        CHECK(fabs(s.coordinates[1]) > 10.0 * TURN);
        CHECK_NEAR(s.coordinates[0], -5e-3 / TURN * s.coordinates[1], 1e-13); // measured 1.6e-14
        end_run(&r);
    }
}

// The displacement of a start follows its angle and the other way round; who says both cuts the thread elsewhere.
TEST(screws, start_at_an_angle_or_a_displacement)
{
    static const struct {
        const char *start;
        double displacement, angle;
    } CASES[] = {{"angle: 90 deg", 0.1, TURN / 4},
                 {"displacement: -0.04", -0.04, -TURN / 10},
                 {"displacement: 0.04, angle: 1 rad", 0.04, 1.0}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; ++i) {
        char text[600];
        snprintf(text, sizeof text,
                 "holonom: 1\n"
                 "bodies:\n"
                 "  nut: {mass: 2, inertia: [0.01, 0.01, 0.004], position: [0.03, 0, 1]}\n"
                 "joints:\n"
                 "  thread: {screw: {bodies: [ground, nut], at: [0.03, 0, 1], axis: z, pitch: "
                 "0.4}}\n"
                 "start: {thread: {%s}}\n",
                 CASES[i].start);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 5e-3);
        hn_joint_state s = thread_of(&r);
        CHECK_NEAR(s.coordinates[0], CASES[i].displacement, 1e-15);
        CHECK_NEAR(s.coordinates[1], CASES[i].angle, 1e-15);
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 100)); // falls along its thread
        hn_joint_state end = thread_of(&r);
        CHECK(end.coordinates[0] < s.coordinates[0] - 0.05);
        CHECK_NEAR(end.coordinates[0] - s.coordinates[0],
                   0.4 / TURN * (end.coordinates[1] - s.coordinates[1]), 1e-14);
        end_run(&r);
    }
}

// A motor on the angle lifts a weight: its work is the weight's energy (elsewhere: models/lead-screw.yaml, in a loop).
TEST(screws, lift_a_weight_by_the_work_of_a_motor_in_a_loop)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  spindle: {mass: 1, inertia: [0.01, 0.01, 0.002], position: [0, 0, 0]}\n"
        "  table: {mass: 3, inertia: [0.1, 0.1, 0.1], position: [0.2, 0, 0]}\n"
        "joints:\n"
        "  bearing: {revolute: {bodies: [ground, spindle], at: [0, 0, 0], axis: z}}\n"
        "  guide: {prismatic: {bodies: [ground, table], at: [0.4, 0, 0], axis: z}}\n"
        "  thread: {screw: {bodies: [spindle, table], at: [0, 0, 0], axis: z, pitch: -20 mm}}\n"
        "drives:\n"
        "  motor: {effort: {joint: bearing, value: 0.4}}\n"
        "  rub: {spring: {joint: thread, coordinate: angle, damping: 2e-3}}\n";
    double height[HN_REDUCTION_COUNT];
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 1e-3);
        CHECK_BELOW(balance_error(&r, 600, 1), 1e-12);
        hn_joint_state s = thread_of(&r);
        CHECK(fabs(s.coordinates[1]) > 2.0 * TURN);
        height[k] = s.coordinates[0];
        // J w' = tau - c w - m g p/2pi, with J of the spindle and m (p/2pi)^2 of the table
        double lead = 0.02 / TURN, inertia = 0.002 + 3.0 * lead * lead,
               torque = 0.4 - 3.0 * 9.81 * lead, rate = 2e-3 / inertia, t = 0.6,
               angle = torque / 2e-3 * (t - (1.0 - exp(-rate * t)) / rate);
        CHECK_NEAR(height[k], lead * angle, 2e-5); // measured 1.7e-5; 7.0e-5 in steps of 2 ms
        CHECK_NEAR(height[k], height[0], 1e-10);
        end_run(&r);
    }
}

// A thread between two bodies that a slide carries along: it does not turn, but for the round-off of the velocities
// of its bodies, 1e-17 of them. Before: "coupling 'thread': joint 'thread' starts with the rate 2e-17 m/s; expected
// 0".
TEST(screws, at_rest_between_moving_bodies_are_no_contradiction)
{
    int refused = 0;
    double worst = 0.0;
    for (int k = 0; k < 64; ++k) {
        hn_context *context = hn_context_create(NULL);
        hn_model *model;
        hn_model_def world = hn_model_def_default();
        world.gravity = (hn_vec3){0.0, 0.0, 0.0};
        CHECK_OK(context, hn_model_create(context, &world, &model));
        hn_joint_def thread = nut_on_the_ground(context, model, 0.2);
        hn_joint_def slide = hn_joint_def_default(HN_JOINT_PRISMATIC);
        hn_joint_id joint;
        slide.name = "slide";
        slide.body_a = hn_ground();
        slide.body_b = thread.body_b;
        slide.axis_a = slide.axis_b = (hn_vec3){-2.71, 2.29 + 0.1 * k, 0.54};
        CHECK_OK(context, hn_model_add_joint(model, &slide, &joint));
        double rate = -0.378 * pow(10.0, k % 7 - 3);
        CHECK_OK(context, hn_model_set_joint_rates(model, joint, &rate, 1));
        hn_body_def body = hn_body_def_default();
        body.name = "bolt";
        body.mass = 1.0;
        body.inertia = (hn_vec3){0.01, 0.02, 0.015};
        body.position = (hn_vec3){-0.4, 0.7, 0.3};
        CHECK_OK(context, hn_model_add_body(model, &body, &thread.body_a));
        thread.axis_a = thread.axis_b = (hn_vec3){-0.95, 2.41, -0.48 - 0.03 * k};
        thread.point_a = (hn_vec3){0.4, -0.7, -0.3};
        CHECK_OK(context, hn_model_add_joint(model, &thread, &joint));
        hn_simulation_def def = hn_simulation_def_default();
        hn_simulation *simulation = NULL;
        def.step_size = 0.01;
        if (hn_simulation_create(model, &def, &simulation) == HN_OK) {
            CHECK_OK(context, hn_simulation_step(simulation, 10));
            hn_joint_state state;
            CHECK_OK(context, hn_simulation_joint_state(simulation, joint, &state));
            worst = fmax(worst, fabs(state.rates[1]) / fabs(rate));
        } else {
            refused++;
        }
        hn_simulation_destroy(simulation);
        hn_model_destroy(model);
        hn_context_destroy(context);
    }
    CHECK_EQUAL(refused, 0);   // before: 61 of 64
    CHECK_BELOW(worst, 5e-14); // measured 8.7e-16
}
