// SPDX-License-Identifier: MIT
// The six-body linkage with six unlike blocks for its tetrahedra: one redundant row and no symmetry but the hinges'.
#ifndef PHYSICS_LINKAGE_H
#define PHYSICS_LINKAGE_H

#include "physics/mechanism.h"

/// Hinges as in models/six-body-linkage.yaml. `flying`: no body is fixed, no gravity, and the first body defined is the
/// root.
static inline mechanism linkage_mechanism(bool flying)
{
    const double l = 0.1;
    const hn_vec3 points[6] = {{0, l, 0}, {l, l, 0}, {l, l, -l}, {l, 0, -l}, {0, 0, -l}, {0, 0, 0}};
    const hn_vec3 axes[6] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    mechanism m = mechanism_create(8, flying ? vec3(0.0, 0.0, 0.0) : vec3(0.0, 0.0, -9.81));
    for (int k = 0; k < 6; ++k) {
        int bar = mechanism_bar(&m, points[(k + 5) % 6], points[k], 0.05 + 0.01 * k, 0.04);
        m.bodies[bar].inertia = vec3_scale(1.0 + 0.1 * k, m.bodies[bar].inertia);
    }
    if (!flying)
        mechanism_joint_between(&m, HN_JOINT_FIXED, MECHANISM_GROUND, 0, points[5],
                                vec3(0.0, 0.0, 1.0));
    for (int k = 0; k < 6; ++k) {
        int j = mechanism_joint_between(&m, HN_JOINT_REVOLUTE, k, (k + 1) % 6, points[k], axes[k]);
        m.joints[j].has_rate = k < 2;
        m.joints[j].rate = 20.0;
    }
    mechanism_fix_start(&m);
    // in flight it drifts and tumbles as a whole, too
    const hn_vec3 drift = {0.1, 0.05, -0.02}, tumble = {2.0, -3.0, 1.5};
    for (int k = 0; flying && k < 6; ++k) {
        m.bodies[k].velocity = vec3_add(vec3_add(m.bodies[k].velocity, drift),
                                        vec3_cross(tumble, m.bodies[k].position));
        m.bodies[k].omega = vec3_add(m.bodies[k].omega, tumble);
    }
    return m;
}

#endif
