// SPDX-License-Identifier: MIT
// What machines are made of: counted, and in words.
#ifndef TESTS_HUNTER_FEATURES_H
#define TESTS_HUNTER_FEATURES_H

#include "hunter/plan.h"

#include <stdio.h>

/// Kinds of joints, drives, functions of time, couplings, and some more.
enum {
    FEATURE_JOINTS = 0,
    FEATURE_DRIVES = FEATURE_JOINTS + HN_JOINT_KIND_COUNT,
    FEATURE_FUNCTIONS = FEATURE_DRIVES + HN_DRIVE_KIND_COUNT,
    FEATURE_COUPLINGS = FEATURE_FUNCTIONS + 6,
    FEATURE_OTHERS = FEATURE_COUPLINGS + HN_COUPLING_KIND_COUNT,
    FEATURE_MECHANISMS = FEATURE_OTHERS,
    FEATURE_LOOPS,
    FEATURE_BEAMS,
    FEATURE_QUADRATIC_BEAMS,
    FEATURE_LINE_LOADS,
    FEATURE_POINTS,
    FEATURE_PLANAR_POINTS,
    FEATURE_FORCES,
    FEATURE_TORQUES,
    FEATURE_SPRINGS,
    FEATURE_DAMPERS,
    FEATURE_TORSION_SPRINGS,
    FEATURE_BUSHINGS,
    FEATURE_RIGID_STOPS,
    FEATURE_COEFFICIENTS,
    FEATURE_ARMATURES,
    FEATURE_TABLES,
    FEATURE_ROTATIONS,
    FEATURE_PLACES,
    FEATURES,
};

/// Add one to each feature that a machine has.
void features_count(const plan *p, int64_t counts[FEATURES]);
void features_print(const int64_t counts[FEATURES], FILE *out);
/// A machine in words, a line for each part.
void features_describe(const plan *p, FILE *out);

#endif
