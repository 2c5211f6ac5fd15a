// SPDX-License-Identifier: MIT
// Drives and laws on joints: against solutions in minimal coordinates and in closed form; the balance of energy.
#include <holonom/holonom.h>

#include "physics/driven_run.h"
#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the servo arm of tests/reference/servo_arm.py ---------------------------------------------------------

static const double ARM[2] = {0.0490903130681, 0.2078207958202}; // rad at t = 1 s

static void arm_text(char *text, size_t size, bool rotors)
{
    snprintf(
        text, size,
        "holonom: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "bodies:\n"
        "  upper: {mass: 2, inertia: [0.01, 0.2, 0.2], position: [0.5, 0, 0]}\n"
        "  lower: {mass: 1.5, inertia: [0.01, 0.15, 0.15], position: [1.45, 0, 0]}\n"
        "joints:\n"
        "  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: z}}\n"
        "  elbow: {revolute: {bodies: [upper, lower], at: [1, 0, 0], axis: z}}\n"
        "drives:\n"
        "  servo: {servo: {joint: shoulder, target: 0.5*sin(3*t), proportional: 180, derivative: "
        "12,\n"
        "                  integral: 40, armature: %g}}\n"
        "  motor: {motor: {joint: elbow, stall: 6, no_load: 9, command: cos(2*t), armature: %g}}\n"
        "  spring: {spring: {joint: elbow, stiffness: 5, damping: 0.2, rest: 0.3}}\n",
        rotors ? 0.3 : 0.0, rotors ? 0.05 : 0.0);
}

static double arm_error(hn_scheme scheme, hn_reduction reduction, double step)
{
    char text[2000];
    arm_text(text, sizeof text, true);
    driven_run r = begin_run(text, scheme, reduction, step);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, (int64_t)(1.0 / step + 0.5)));
    double error =
        fmax(fabs(drive_of(&r, 0).coordinate - ARM[0]), fabs(drive_of(&r, 1).coordinate - ARM[1]));
    end_run(&r);
    return error;
}

TEST(drives, of_an_arm_are_those_of_minimal_coordinates_to_second_order)
{
    const hn_scheme kinds[4] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_CONVECTED,
                                HN_SCHEME_ENERGY_DECAYING, HN_SCHEME_GGL_ENERGY_MOMENTUM};
    for (int scheme = 0; scheme < 4; ++scheme) {
        hn_scheme kind = kinds[scheme];
        double coarse = arm_error(kind, HN_REDUCTION_REDUCED, 4e-3),
               fine = arm_error(kind, HN_REDUCTION_REDUCED, 2e-3);
        CHECK_NEAR(coarse / fine, 4.0, 0.1); // measured 4.00
        CHECK_BELOW(fine, 5e-6);             // rad; measured 2.1e-6
    }
    double reduced = arm_error(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 4e-3);
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k)
        CHECK_NEAR(arm_error(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 4e-3), reduced, 1e-12);
}

// Schemes without rotors: against each other, with a difference that falls with the square of the step.
TEST(drives, agree_under_all_schemes_that_take_them)
{
    const hn_scheme schemes[3] = {HN_SCHEME_ENERGY_MOMENTUM, HN_SCHEME_VARIATIONAL,
                                  HN_SCHEME_RATTLE};
    double off[2][3], at[3];
    char text[2000];
    arm_text(text, sizeof text, false);
    for (int fine = 0; fine < 2; ++fine)
        for (int k = 0; k < 3; ++k) {
            driven_run r = begin_run(text, schemes[k], HN_REDUCTION_REDUCED, fine ? 1e-3 : 2e-3);
            CHECK_OK(r.context, hn_simulation_step(r.simulation, fine ? 500 : 250));
            at[k] = drive_of(&r, 1).coordinate;
            off[fine][k] = fabs(at[k] - at[0]);
            end_run(&r);
        }
    for (int k = 1; k < 3; ++k) {
        CHECK_NEAR(off[0][k] / off[1][k], 4.0, 0.2); // measured 4.00, 4.02
        CHECK_BELOW(off[1][k], 1e-5);                // rad; measured 1.0e-6, 5.1e-6
    }
}

TEST(drives, that_a_scheme_does_not_take_are_refused_by_name)
{
    char text[2000];
    arm_text(text, sizeof text, true);
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_simulation *simulation;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    const hn_scheme none[4] = {HN_SCHEME_GENERALIZED_ALPHA, HN_SCHEME_GGL_VARIATIONAL,
                               HN_SCHEME_GGL_CLASSICAL, HN_SCHEME_PROJECTED_RK};
    for (int k = 0; k < 4; ++k) {
        def.scheme = none[k];
        CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_MODEL);
        CHECK_CONTAINS(hn_context_message(context), "model:10:3: drive 'servo': scheme '");
        CHECK_CONTAINS(hn_context_message(context), "takes no drives: it ");
    }
    def.scheme = HN_SCHEME_VARIATIONAL;
    CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context), "takes no armature");
    hn_model_destroy(model);
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "bodies: {bar: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.3, 0, 0]}}\n"
             "joints: {pin: {revolute: {bodies: [ground, bar], at: [0, 0, 0], axis: z}}}\n"
             "drives: {rub: {friction: {joint: pin, effort: 1}}}\n");
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
    def.scheme = HN_SCHEME_ENERGY_DECAYING;
    CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context),
                   "its velocities lag, so that what sticks would creep");
    def.scheme = HN_SCHEME_RATTLE;
    CHECK_STATUS(context, hn_simulation_create(model, &def, &simulation), HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(context),
                   "takes no dry friction: it knows its forces before");
    hn_model_destroy(model);
    hn_context_destroy(context);
}

// ---- closed forms ------------------------------------------------------------------------------------------

// A wheel of 0.5 kg m^2 and a rotor of 0.1: w = v_0 (1 - e^(-t/T)), T = (I + J) v_0/tau_0.
TEST(drives, motors_run_up_as_they_should)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {wheel: {mass: 1, inertia: [0.3, 0.3, 0.5], position: [0, 0, 0]}}\n"
        "joints: {axle: {revolute: {bodies: [ground, wheel], at: [0, 0, 0], axis: z}}}\n"
        "drives: {motor: {motor: {joint: axle, stall: 0.08, no_load: 2, armature: 0.1}}}\n";
    double error[2];
    const double time_constant = 0.6 * 2.0 / 0.08, t = 20.0;
    const double angle = 2.0 * (t - time_constant * (1.0 - exp(-t / time_constant)));
    for (int fine = 0; fine < 2; ++fine) {
        double h = fine ? 0.01 : 0.02;
        driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, h);
        CHECK_BELOW(balance_error(&r, (int)(t / h + 0.5), 100), 1e-11); // measured 1.1e-12
        hn_drive_state motor = drive_of(&r, 0);
        hn_energy e;
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        CHECK_NEAR(motor.work / e.external_work, 1.0, 1e-12);
        error[fine] = fabs(motor.coordinate - angle); // over 3 turns
        end_run(&r);
    }
    CHECK_BELOW(error[1], 3e-4); // rad of 20; measured 1.6e-4: h w = 0.02, Cayley steps
    CHECK_NEAR(error[0] / error[1], 4.0, 0.1); // measured
}

// A force over a rail: x = F/m (t/w - sin(w t)/w^2) under F sin(w t), and the work it does.
TEST(drives, efforts_move_a_slider_as_they_should)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, 0, 0]\n"
        "bodies: {car: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "joints: {rail: {prismatic: {bodies: [ground, car], at: [0, 0, 0], axis: [1, 2, 2]}}}\n"
        "drives: {push: {effort: {joint: rail, value: 6*sin(4*t)}}}\n";
    driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 1000));
    double speed = 3.0 / 4.0 * (1.0 - cos(4.0));
    CHECK_NEAR(drive_of(&r, 0).coordinate, 3.0 * (1.0 / 4.0 - sin(4.0) / 16.0), 1e-6); // measured
    CHECK_NEAR(drive_of(&r, 0).work, speed * speed, 1e-12); // the impulse is exact
    end_run(&r);
}

// ---- the balance -------------------------------------------------------------------------------------------

static const char EVERYTHING[] =
    "holonom: 1\n"
    "bodies:\n"
    "  upper: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 2, position: [0.5, 0, 0]}\n"
    "  lower: {shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1.5, position: [1.5, 0, 0]}\n"
    "  slider: {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 1, position: [2, 0, 0]}\n"
    "  puck: {shape: {box: {size: [0.3, 0.2, 0.1]}}, mass: 0.7, position: [2, 0, 0.5]}\n"
    "joints:\n"
    "  shoulder: {revolute: {bodies: [ground, upper], at: [0, 0, 0], axis: y}}\n"
    "  elbow: {universal: {bodies: [upper, lower], at: [1, 0, 0], axes: [y, z]}}\n"
    "  rail: {cylindrical: {bodies: [slider, lower], at: [2, 0, 0], axis: x}}\n"
    "  table: {planar: {bodies: [slider, puck], at: [2, 0, 0.5], normal: z}}\n"
    "drives:\n"
    "  s1: {servo: {joint: shoulder, target: '0.5*sin(2*t)', proportional: 300, derivative: 20,\n"
    "               integral: 50, limit: 40, armature: 0.2}}\n"
    "  s2: {servo: {joint: elbow, coordinate: angle_b, proportional: 100, derivative: 10,\n"
    "               target: {step: {start: 0.1, end: 0.5}, scale: 0.7}}}\n"
    "  m: {motor: {joint: elbow, coordinate: angle_a, stall: 12, no_load: 10, command: 'cos(t)',\n"
    "              armature: 0.1}}\n"
    "  e: {effort: {joint: rail, coordinate: displacement, value: '3*sin(5*t)'}}\n"
    "  k: {spring: {joint: rail, coordinate: displacement, stiffness: 100, damping: 2,\n"
    "      table: {displacements: [-0.1, 0, 0.05, 0.1], efforts: [-30, 0, 2, 20]},\n"
    "      damper: {rates: [-1, 0, 1], efforts: [-3, 0, 5]}}}\n"
    "  w: {spring: {joint: rail, coordinate: angle, stiffness: 1, damping: 0.1, armature: 0.3}}\n"
    "  x: {spring: {joint: table, coordinate: displacement_1, stiffness: 40,\n"
    "      spline: {displacements: [-0.2, 0, 0.2], efforts: [-20, 0, 9]}}}\n"
    "  y: {spring: {joint: table, coordinate: displacement_2, stiffness: 60, damping: 0.5}}\n"
    "  z: {motor: {joint: table, coordinate: angle, stall: 0.1, no_load: 8}}\n";

TEST(drives, close_the_balance_of_energy_under_every_reduction)
{
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        driven_run r = begin_run(EVERYTHING, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 2e-3);
        CHECK_BELOW(balance_error(&r, 1000, 10), 5e-13); // measured 4.3e-14
        // the works of drives and those in the ledger are the same
        double sum = 0.0;
        hn_energy e;
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        for (int i = 0; i < hn_model_drive_count(r.model); ++i) sum += drive_of(&r, i).work;
        CHECK_NEAR(sum, e.external_work, 1e-11 * fabs(e.external_work));
        end_run(&r);
    }
    driven_run r = begin_run(EVERYTHING, HN_SCHEME_CONVECTED, HN_REDUCTION_REDUCED, 2e-3);
    CHECK_BELOW(balance_error(&r, 300, 10), 5e-14); // measured 3.2e-15
    end_run(&r);
}

TEST(drives, close_the_balance_over_ten_thousand_steps)
{
    driven_run r = begin_run(EVERYTHING, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3);
    CHECK_BELOW(balance_error(&r, 10000, 100), 3e-12); // measured 2.3e-13
    end_run(&r);
}

// ---- loops -------------------------------------------------------------------------------------------------

TEST(drives, act_in_loops_and_on_the_joint_that_closes_them)
{
    static const char TEXT[] =
        "holonom: 1\ngravity: [0, -9.81, 0]\n"
        "bodies:\n" FOUR_BAR_BODIES "joints:\n" FOUR_BAR_OPEN_JOINTS
        "  j4: {revolute: {bodies: [rocker, ground], at: [1, 0, 0], axis: z}}\n"
        "drives:\n"
        "  motor: {motor: {joint: j1, stall: 60, no_load: 12, armature: 0.02}}\n"
        "  d2: {spring: {joint: j2, stiffness: 3, damping: 0.2}}\n"
        "  d3: {spring: {joint: j3, stiffness: 2, damping: 0.1, armature: 0.01}}\n"
        "  d4: {servo: {joint: j4, target: 0.2, proportional: 3, derivative: 0.3}}\n";
    double angles[HN_REDUCTION_COUNT];
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 2e-3);
        CHECK_BELOW(balance_error(&r, 500, 10), 1e-12); // measured 1.5e-13
        angles[k] = drive_of(&r, 0).coordinate;
        CHECK_NEAR(angles[k], angles[0], 1e-10); // measured
        end_run(&r);
    }
}

// ---- motions -----------------------------------------------------------------------------------------------

// Slider-crank at constant speed w: with x_p = r cos + l cos phi, sin phi = -(r/l) sin, everything is a function of
// the angle.
typedef struct engine_values {
    double torque; // N m, of the crank
    double pin;    // N, on the rod along x at the crank pin
} engine_values;

static const double ENGINE_R = 0.043, ENGINE_L = 0.144, ENGINE_C = 0.043, ENGINE_W = 30.0,
                    ROD_MASS = 0.55, ROD_INERTIA = 1.8e-3, PISTON = 0.45;

static double engine_gas(double t)
{
    return 20.0 * (1.0 + cos(ENGINE_W * t));
}

static engine_values engine_at(double t)
{
    const double r = ENGINE_R, l = ENGINE_L, c = ENGINE_C, w = ENGINE_W, x = w * t;
    double sine = -r / l * sin(x), cosine = sqrt(1.0 - sine * sine);
    double phi1 = -r / l * cos(x) / cosine;                       // d phi/d x
    double phi2 = (r / l * sin(x) + sine * phi1 * phi1) / cosine; // its derivative
    // centre of the rod: pin + c (cos phi, sin phi); piston: pin + l cos phi; derivatives by x
    double rx1 = -r * sin(x) - c * sine * phi1, ry1 = r * cos(x) + c * cosine * phi1;
    double rx2 = -r * cos(x) - c * (cosine * phi1 * phi1 + sine * phi2),
           ry2 = -r * sin(x) + c * (-sine * phi1 * phi1 + cosine * phi2);
    double p1 = -r * sin(x) - l * sine * phi1,
           p2 = -r * cos(x) - l * (cosine * phi1 * phi1 + sine * phi2);
    double half_slope =
        ROD_MASS * (rx1 * rx2 + ry1 * ry2) + ROD_INERTIA * phi1 * phi2 + PISTON * p1 * p2;
    return (engine_values){w * w * half_slope + engine_gas(t) * p1,
                           w * w * (ROD_MASS * rx2 + PISTON * p2) + engine_gas(t)};
}

static void engine_text(char *text, size_t size)
{
    snprintf(text, size,
             "holonom: 1\ngravity: [0, 0, 0]\n"
             "bodies:\n"
             "  crank:  {mass: 4, inertia: [0.004, 0.004, 0.006], position: [0, 0, 0]}\n"
             "  rod:    {mass: %.17g, inertia: [1e-4, %.17g, %.17g], position: [%.17g, 0, 0]}\n"
             "  piston: {mass: %.17g, inertia: [3e-4, 3e-4, 3e-4], position: [%.17g, 0, 0]}\n"
             "joints:\n"
             "  main:  {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: z}}\n"
             "  pin:   {revolute: {bodies: [crank, rod], at: [%.17g, 0, 0], axis: z}}\n"
             "  small: {revolute: {bodies: [rod, piston], at: [%.17g, 0, 0], axis: z}}\n"
             "  bore:  {prismatic: {bodies: [ground, piston], at: [%.17g, 0, 0], axis: x}}\n"
             "loads:\n"
             "  gas: {force: {body: piston, vector: [-1, 0, 0], factor: 20*(1 + cos(30*t))}}\n"
             "drives:\n"
             "  starter: {motion: {joint: main, value: 30*t}}\n",
             ROD_MASS, ROD_INERTIA, ROD_INERTIA, ENGINE_R + ENGINE_C, PISTON, ENGINE_R + ENGINE_L,
             ENGINE_R, ENGINE_R + ENGINE_L, ENGINE_R + ENGINE_L);
}

typedef struct engine_errors {
    double coordinate, torque, pin, balance; // worst; torque and force over the largest
} engine_errors;

static engine_errors engine_run(hn_scheme scheme, hn_reduction reduction, double step)
{
    char text[3000];
    engine_text(text, sizeof text);
    driven_run r = begin_run(text, scheme, reduction, step);
    engine_errors worst = {0};
    // efforts and reactions alternate by O(h) from step to step; the mean of two steps belongs to the node between them
    double torque_before = 0.0, pin_before = 0.0, torque_max = 0.0, pin_max = 0.0, start = 0.0,
           scale = 0.0;
    int count = (int)(0.4 / step + 0.5);
    hn_joint_id pin = hn_model_find_joint(r.model, "pin");
    for (int i = 1; i <= count; ++i) {
        hn_joint_state joint;
        hn_energy e;
        if (i == 1) {
            CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
            start = e.kinetic + e.potential;
        }
        CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
        hn_drive_state drive = drive_of(&r, 0);
        CHECK_OK(r.context, hn_simulation_joint_state(r.simulation, pin, &joint));
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        engine_values node = engine_at((i - 1) * step);
        worst.coordinate = fmax(worst.coordinate, fabs(drive.coordinate - ENGINE_W * i * step));
        if (i > 1) {
            double torque = 0.5 * (torque_before + drive.effort),
                   force = 0.5 * (pin_before + joint.reaction_force.x);
            worst.torque = fmax(worst.torque, fabs(torque - node.torque));
            worst.pin = fmax(worst.pin, fabs(force - node.pin));
        }
        torque_before = drive.effort;
        pin_before = joint.reaction_force.x;
        worst.balance =
            fmax(worst.balance, fabs(e.kinetic + e.potential - e.external_work - start));
        scale = fmax(scale, fabs(e.external_work) + e.kinetic);
        torque_max = fmax(torque_max, fabs(node.torque));
        pin_max = fmax(pin_max, fabs(node.pin));
    }
    worst.torque /= torque_max;
    worst.pin /= pin_max;
    worst.balance /= scale;
    end_run(&r);
    return worst;
}

TEST(motions, of_an_engine_take_the_torque_and_the_bearing_forces_of_the_closed_form)
{
    engine_errors coarse = engine_run(HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3);
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        engine_errors fine = engine_run(HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 1e-3);
        CHECK_BELOW(fine.coordinate, 2e-12);               // rad of 12; measured 9.7e-13
        CHECK_BELOW(fine.balance, 1e-13);                  // measured 1.2e-14
        CHECK_BELOW(fine.torque, 1e-3);                    // of the largest; measured 6.5e-4
        CHECK_NEAR(coarse.torque / fine.torque, 4.0, 0.1); // measured 4.00
        CHECK_BELOW(fine.pin, 2e-4);                       // of the largest; measured 7.2e-5
        CHECK_NEAR(coarse.pin / fine.pin, 4.0, 0.1);       // measured 4.00
    }
    engine_errors other = engine_run(HN_SCHEME_VARIATIONAL, HN_REDUCTION_REDUCED, 1e-3);
    CHECK_BELOW(other.coordinate, 2e-12); // measured 1.1e-12
    CHECK_BELOW(other.torque, 3e-4);      // measured 8.7e-5
}

// Eight motions in a chain that has eight freedoms: nothing is left to the dynamics, and every coordinate is as
// prescribed.
TEST(motions, may_take_all_freedom)
{
    static const char TEXT[] =
        "holonom: 1\n"
        "bodies:\n"
        "  a: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}\n"
        "  b: {mass: 1, inertia: [0.05, 0.1, 0.1], position: [1.4, 0, 0]}\n"
        "  c: {mass: 1, inertia: [0.05, 0.1, 0.1], position: [1.8, 0, 0]}\n"
        "  d: {mass: 0.5, inertia: [0.02, 0.03, 0.04], position: [1.8, 0, 0.2]}\n"
        "joints:\n"
        "  hinge: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}\n"
        "  cross: {universal: {bodies: [b, a], at: [1, 0, 0], axes: [y, z]}}\n"
        "  tube: {cylindrical: {bodies: [b, c], at: [1.6, 0, 0], axis: x}}\n"
        "  table: {planar: {bodies: [c, d], at: [1.8, 0, 0.2], normal: z}}\n"
        "drives:\n"
        "  m1: {motion: {joint: hinge, value: 0.5*sin(2*t)}}\n"
        "  m2: {motion: {joint: cross, coordinate: angle_a, value: 0.4*t*t}}\n"
        "  m3: {motion: {joint: cross, coordinate: angle_b, value: {step: {start: 0, end: 0.5}, "
        "scale: -0.6}}}\n"
        "  m4: {motion: {joint: tube, coordinate: displacement, value: 0.1*sin(3*t)}}\n"
        "  m5: {motion: {joint: tube, coordinate: angle, value: 2*t}}\n"
        "  m6: {motion: {joint: table, coordinate: displacement_1, value: 0.05*(1 - cos(4*t))}}\n"
        "  m7: {motion: {joint: table, coordinate: displacement_2, value: 0.1*t}}\n"
        "  m8: {motion: {joint: table, coordinate: angle, value: -t}}\n";
    double efforts[HN_REDUCTION_COUNT][8];
    for (int k = 0; k < HN_REDUCTION_COUNT; ++k) {
        driven_run r = begin_run(TEXT, HN_SCHEME_ENERGY_MOMENTUM, (hn_reduction)k, 5e-3);
        CHECK_BELOW(balance_error(&r, 100, 1), 3e-14); // measured 1.8e-15
        const double t = 0.5;
        const double expected[8] = {
            0.5 * sin(2.0 * t),          0.4 * t * t, -0.6, 0.1 * sin(3.0 * t), 2.0 * t,
            0.05 * (1.0 - cos(4.0 * t)), 0.1 * t,     -t};
        for (int i = 0; i < 8; ++i) {
            hn_drive_state m = drive_of(&r, i);
            CHECK_NEAR(m.coordinate, expected[i], 2e-13);
            efforts[k][i] = m.effort;
            CHECK_NEAR(m.effort, efforts[0][i], 1e-6); // N, N m: 1e-13 over h^2
        }
        end_run(&r);
    }
}

static void refuse(const char *drives, hn_status status, int steps, const char *message)
{
    char text[2000];
    snprintf(text, sizeof text,
             "holonom: 1\n"
             "bodies:\n"
             "  crank:   {shape: {cylinder: {radius: 0.02}}, between: [[0, 0, 0], [0, 0.5, 0]], "
             "density: 2700}\n"
             "  coupler: {shape: {cylinder: {radius: 0.02}}, between: [[0, 0.5, 0], [1.2, 0.9, "
             "0]], density: 2700}\n"
             "  rocker:  {shape: {cylinder: {radius: 0.02}}, between: [[1.2, 0.9, 0], [1, 0, 0]], "
             "density: 2700}\n"
             "joints:\n"
             "  j1: {revolute: {bodies: [ground, crank], at: [0, 0, 0], axis: z}}\n"
             "  j2: {revolute: {bodies: [crank, coupler], at: [0, 0.5, 0], axis: z}}\n"
             "  j3: {revolute: {bodies: [coupler, rocker], at: [1.2, 0.9, 0], axis: z}}\n"
             "  j4: {revolute: {bodies: [rocker, ground], at: [1, 0, 0], axis: z}}\n"
             "drives:\n%s",
             drives);
    hn_context *context = hn_context_create(NULL);
    hn_model *model;
    hn_simulation *simulation = NULL;
    CHECK_OK(context, hn_model_parse(context, text, strlen(text), "model", &model));
    hn_simulation_def def = hn_simulation_def_default();
    def.step_size = 1e-3;
    hn_status got = hn_simulation_create(model, &def, &simulation);
    if (got == HN_OK) got = hn_simulation_step(simulation, steps);
    CHECK_EQUAL(got, status);
    CHECK_CONTAINS(hn_context_message(context), message);
    hn_simulation_destroy(simulation);
    hn_model_destroy(model);
    hn_context_destroy(context);
}

TEST(motions, that_cannot_be_are_named)
{
    refuse("  m1: {motion: {joint: j1, value: 0.1*(1 - cos(t))}}\n"
           "  m2: {motion: {joint: j4, value: 0.2*(1 - cos(t))}}\n",
           HN_SINGULAR_SYSTEM, 1, "drive 'm2' cannot move its joint 'j4'");
    refuse("  m1: {motion: {joint: j1, value: 0.1}}\n", HN_INVALID_MODEL, 1,
           "drive 'm1': its motion begins at 0.1, joint 'j1' at 0 rad");
    refuse("  m1: {motion: {joint: j1, value: t}}\n"
           "start: {j1: {rate: 3}}\n",
           HN_INVALID_MODEL, 1,
           "drive 'm1': its motion begins with the rate 1, joint 'j1' with 3 rad/s");
}

TEST(drives, that_do_not_say_where_a_model_rests_are_refused_by_statics)
{
    char text[2000];
    arm_text(text, sizeof text, false);
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 1e-3);
    hn_static_def def = hn_static_def_default();
    hn_equilibrium found;
    CHECK_STATUS(r.context, hn_simulation_find_equilibrium(r.simulation, &def, &found),
                 HN_INVALID_MODEL);
    CHECK_CONTAINS(hn_context_message(r.context),
                   "drive 'servo' is a servo with an integral gain: an equilibrium takes");
    end_run(&r);
}

// ---- stops -------------------------------------------------------------------------------------------------

// A car of 2 kg at 1 m/s against a buffer at 0.05 m: it leaves with exp(-zeta w t) of its speed, t the time until the
// buffer pushes no more (zeta < 0.7), t = (pi - atan(2 zeta s/(1 - 2 zeta^2)))/(w s), s = sqrt(1 - zeta^2).
static double bounce(double zeta, double step, double *balance)
{
    char text[1000];
    const double stiffness = 800.0, mass = 2.0;
    snprintf(text, sizeof text,
             "holonom: 1\ngravity: [0, 0, 0]\n"
             "bodies: {car: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
             "joints: {rail: {prismatic: {bodies: [ground, car], at: [0, 0, 0], axis: x}}}\n"
             "drives: {buffer: {stop: {joint: rail, upper: 5 cm, lower: -3, stiffness: 800,\n"
             "                         damping: %.17g}}}\n"
             "start: {rail: {rate: 1}}\n",
             2.0 * zeta * sqrt(stiffness * mass));
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, step);
    *balance = balance_error(&r, (int)(0.4 / step + 0.5), 1);
    hn_joint_state state;
    CHECK_OK(r.context,
             hn_simulation_joint_state(r.simulation, hn_model_joint(r.model, 0), &state));
    CHECK(drive_of(&r, 0).work <= 0.0);
    end_run(&r);
    return -state.rates[0];
}

TEST(stops, give_back_what_they_should)
{
    double balance, worst = 0.0;
    CHECK_NEAR(bounce(0.0, 5e-3, &balance), 1.0, 1e-12); // nothing is lost, whatever the step
    CHECK_BELOW(balance, 1e-14);                         // measured 1.0e-15
    const double zetas[3] = {0.1, 0.3, 0.6};
    for (int k = 0; k < 3; ++k) {
        double z = zetas[k], s = sqrt(1.0 - z * z), w = sqrt(400.0);
        double t = (3.14159265358979323846 - atan2(2.0 * z * s, 1.0 - 2.0 * z * z)) / (w * s);
        double expected = exp(-z * w * t);
        worst = fmax(worst, fabs(bounce(z, 1e-3, &balance) - expected));
        CHECK_BELOW(balance, 2e-14); // measured 2.0e-15
    }
    CHECK_BELOW(worst, 1e-4); // of the speed; measured 2.3e-5
}

// Whatever stops, speeds and steps: energy never grows.
TEST(stops, never_give_energy)
{
    unsigned seed = 7;
    double worst = -1.0;
    for (int i = 0; i < 300; ++i) {
        double u[4];
        for (int k = 0; k < 4; ++k) {
            seed = 1664525u * seed + 1013904223u;
            u[k] = (double)(seed >> 8) / 16777216.0;
        }
        char text[1000];
        snprintf(text, sizeof text,
                 "holonom: 1\ngravity: [0, 0, 0]\n"
                 "bodies: {bar: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.3, 0, 0]}}\n"
                 "joints: {pin: {revolute: {bodies: [ground, bar], at: [0, 0, 0], axis: z}}}\n"
                 "drives: {buffer: {stop: {joint: pin, upper: 0.3, lower: -0.2, stiffness: %.17g,\n"
                 "                         damping: %.17g}}}\n"
                 "start: {pin: {rate: %.17g}}\n",
                 pow(10.0, 1.0 + 4.0 * u[0]), pow(10.0, 3.0 * u[1]) - 1.0, 8.0 * u[2] - 4.0);
        driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED,
                                 pow(10.0, -3.0 + 1.3 * u[3]));
        hn_energy e;
        CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
        double before = e.kinetic + e.potential, start = before;
        for (int k = 0; k < 40; ++k) {
            CHECK_OK(r.context, hn_simulation_step(r.simulation, 1));
            CHECK_OK(r.context, hn_simulation_energy(r.simulation, &e));
            worst = fmax(worst, (e.kinetic + e.potential - before) / start);
            before = e.kinetic + e.potential;
        }
        end_run(&r);
    }
    CHECK_BELOW(worst, 2e-14); // relative growth in any of 12000 steps; measured 2.1e-15
}

// ---- state and memory --------------------------------------------------------------------------------------

// A servo's integral, a rotor's speed, a motion's effort and the works of all are part of the state.
TEST(drives, go_on_from_a_snapshot_bit_for_bit)
{
    char text[4000];
    snprintf(text, sizeof text,
             "%s  p: {stop: {joint: shoulder, upper: 0.2, lower: -3, stiffness: 500}}\n",
             EVERYTHING);
    char *target = strstr(text, "e: {effort: {joint: rail");
    memcpy(target, "e: {motion", 10);
    driven_run r = begin_run(text, HN_SCHEME_ENERGY_MOMENTUM, HN_REDUCTION_REDUCED, 2e-3);
    hn_drive_state first[10], again;
    CHECK_EQUAL(hn_model_drive_count(r.model), 10);
    snapshot kept = save_after(&r, 50);
    CHECK_OK(r.context, hn_simulation_step(r.simulation, 50));
    for (int i = 0; i < 10; ++i) first[i] = drive_of(&r, i);
    restore_and_step(&r, kept, 50);
    for (int i = 0; i < 10; ++i) {
        again = drive_of(&r, i);
        CHECK(memcmp(&again, &first[i], sizeof again) == 0);
    }
    end_run(&r);
}

TEST(drives, report_every_allocation_that_fails)
{
    static char text[] =
        "holonom: 1\n"
        "bodies:\n"
        "  a: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [0.5, 0, 0]}\n"
        "  b: {mass: 1, inertia: [0.05, 0.1, 0.1], position: [1.4, 0, 0]}\n"
        "joints:\n"
        "  j1: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}\n"
        "  j2: {revolute: {bodies: [a, b], at: [1, 0, 0], axis: y}}\n"
        "drives:\n"
        "  m: {motion: {joint: j1, value: {spline: {times: [0, 1], values: [0, 1]}}}}\n"
        "  s: {servo: {joint: j2, target: sin(t), proportional: 3, integral: 1}}\n"
        "  k: {spring: {joint: j2, table: {displacements: [0, 1], efforts: [0, 2]},\n"
        "      damper: {rates: [-1, 0, 1], efforts: [-1, 0, 1]}}}\n";
    CHECK(check_every_allocation_failing(attempt_run, text) > 60);
}
