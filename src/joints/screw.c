// SPDX-License-Identifier: MIT
// Screw joint H, the sixth lower pair: a nut on a thread. With p metres per turn,
//
//        a ===>==|== b          g = a1 . e,  a2 . e,  a3 . b1,  a3 . b2      rows, as those of the cylindrical joint
//             n = a3 = b3       x - p/(2 pi) theta = c                       relation of its coordinates x, theta
//
// Rows are products of vectors, whose discrete derivative is their gradient at the midpoint. An angle is no product:
// theta counts turns, which no pose tells, and its discrete derivative has the factor dtheta/(2 sin(dtheta/2)) of the
// whole step (docs/theory/joints.md). The thread is therefore held along both coordinates by one effort, whose work in
// any step is (dx - p/(2 pi) dtheta) times it, zero (elements/joint_effort.c, docs/theory/drives.md (D10)).
#include "joints/cylindrical.h"

const joint_type joint_screw = {
    .dof = 2, // of the rows; the thread takes one
    .row_count = 4,
    .coordinate_count = 2,
    .axes = {{false, AXIS_OF_A, 2}, {true, AXIS_OF_A, 2}},
    .keeps_sides = true,
    .mark = MARK_LINE,
    .planar = {.normal = {PLANAR_REFUSED, 0}, .inside = {PLANAR_REFUSED, 0}},
    .row = cylindrical_row,
    .motion = cylindrical_motion,
    .terms = cylindrical_terms,
    .begin = cylindrical_begin,
    .guess = guess_same,
    .advance = cylindrical_advance,
    .settle = cylindrical_settle,
    .coordinates = cylindrical_coordinates,
};
