// SPDX-License-Identifier: MIT
// Generated models for scaling: a chain of equal rods hanging on the ground, as long as one likes.
#ifndef BENCHMARKS_CHAIN_H
#define BENCHMARKS_CHAIN_H

#include <holonom/holonom.h>

/// A chain of `count` rods, 1 m and 1 kg each, straight along x at the start and let go under gravity. Joints are
/// revolute (their axes alternate between two directions, so the motion is spatial) or spherical.
HN_NODISCARD hn_status chain_create(hn_context *context, hn_joint_kind kind, int count,
                                    hn_model **model);

#endif
