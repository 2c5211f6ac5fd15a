// SPDX-License-Identifier: MIT
// Kinematics and inverse dynamics: mechanisms whose prescribed motions take all their freedom.
#ifndef HOLONOM_PRESCRIBED_H
#define HOLONOM_PRESCRIBED_H

#include <holonom/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Advance by `count` steps as the drives of the kind motion say, and nothing else: joints closed and motions met to
/// round-off at every step, velocities and accelerations ("bodies/acceleration", "joints/accelerations") those of the
/// motion itself; masses and forces play no part. 0 steps: the state as it is.
/// With `efforts` the drives have the efforts that this takes (inverse dynamics), power and work (by trapezoids), and
/// joints their reactions, all at the current time. Otherwise both are zero.
/// The simulation has the scheme `energy-momentum`, which may go on from there. On failure the state is that of
/// the last step. Since 0.2.
/// @return HN_OK, HN_INVALID_MODEL (a freedom without a motion, or a motion that a loop or another one holds, by
/// name), HN_NOT_CONVERGED (joints do not close there), HN_INVALID_ARGUMENT, HN_OUT_OF_MEMORY, HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_simulation_follow(hn_simulation *simulation, int64_t count, bool efforts);

#ifdef __cplusplus
}
#endif

#endif
