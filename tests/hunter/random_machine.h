// SPDX-License-Identifier: MIT
// Machines drawn at random, of everything that a model may have: several mechanisms of different scale, joints, drives,
// functions of time, couplings, beams, loops, loads of all kinds. The same for a seed on any machine.
#ifndef TESTS_HUNTER_RANDOM_MACHINE_H
#define TESTS_HUNTER_RANDOM_MACHINE_H

#include "hunter/plan.h"
#include "hunter/random_model.h"

/// A mechanism while it is drawn.
typedef struct machine_maker {
    draw *d;
    plan *p;
    int mechanism;
    double length, mass, rate; ///< m, kg, 1/s: typical
    int first_body, first_joint;
    double fastest; ///< 1/s, roughly
} machine_maker;

/// Draw a machine. Returns the rate of the fastest motion that was asked for (1/s), roughly.
double random_machine(draw *d, plan *p);

/// Loads and springs, drives and couplings of a mechanism whose bodies and joints are there.
void random_loads(machine_maker *m);
void random_springs(machine_maker *m);
void random_drives(machine_maker *m);
void random_couplings(machine_maker *m);

/// A function of time of any kind; `held`: of a motion, which begins at zero and has no jumps.
plan_function random_function(machine_maker *m, bool held);
/// A body of the mechanism; `ground`: or the ground.
plan_place random_place(machine_maker *m, bool ground);
/// Mass and size of what is there; the ground: those of the mechanism.
double place_mass(const machine_maker *m, plan_place at);
double place_size(const machine_maker *m, plan_place at);
/// World place at the start: centre of mass or node.
hn_vec3 place_center(const machine_maker *m, plan_place at);

#endif
