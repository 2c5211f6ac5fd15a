// SPDX-License-Identifier: MIT
// The motions that all joints allow at a configuration, told apart by coordinates: which ones are independent, the
// motion T_k of all bodies when coordinate k has the rate 1 and the others rest, and how that changes along a motion.
// Note: docs/theory/linearisation.md
//
// A coordinate has a rate r(q, v) that is linear in the velocities v and a polynomial in q: coordinates of joints,
// and for bodies that no joint of the model leads to their displacements and turns: along world axes, or along axes of
// the body itself or of one that carries it, as that stands at the configuration (motion_axes.h).
#ifndef SIMULATION_MOTION_FRAME_H
#define SIMULATION_MOTION_FRAME_H

#include "simulation/simulation.h"

/// One coordinate: of a joint of the model; of a body (tree index) where joint is -1; or the relation of a hold, a sum
/// of factors times coordinates of joints, where body is -1 too.
typedef struct frame_coordinate {
    int joint;
    int index; ///< among the coordinates of the joint; of a body: 0 to 5, or 0 to 2; of a relation: which hold
    int body;
    int element; ///< of a rotation path, whose turn about an axis of a it is; otherwise -1
    int carrier; ///< of a body: along whose axes (tree index), or GROUND: the world's
    int stage;   ///< coordinates are taken from the lowest first
} frame_coordinate;

/// Along which axes displacements and turns of bodies are counted that joints do not tell
typedef enum frame_axes {
    FRAME_AXES_WORLD,
    FRAME_AXES_OWN,    ///< those of the body itself; of nodes of a beam and of points: of the body that carries them
    FRAME_AXES_CARRIER ///< those of the next body nearer to the ground
} frame_axes;

/// What a frame is asked to be. Zero: world axes, coordinates as they tell best.
typedef struct frame_wish {
    frame_axes axes;
    const int *chosen; ///< the free coordinates, `count` of them; NULL: as they tell best
    int count;
} frame_wish;

typedef struct motion_frame {
    hn_context *context;
    const hn_system *system;
    const double *q;      ///< the configuration, 12 per body; not owned
    saddle *rows;         ///< with the factors of the mass matrix at q
    frame_axes axes;
    int candidate_count;
    frame_coordinate *candidates; ///< joints first, in the order of the model
    int joint_count;      ///< of the candidates: of joints
    hold *holds;          ///< what holds at the state: motions, couplings, locked latches, stops in contact,
                          ///< and behind them friction that sticks
    int tied_hold;        ///< friction among them that the others hold already, why there is no frame; or -1
    int driven_count;     ///< as many are the first ones of `chosen`: relations, behind the candidates
    int path_count;       ///< behind them: turns of rotation paths
    int count;            ///< degrees of freedom, driven ones included
    int *chosen;          ///< independent ones: driven, then free in the order of candidates
    int *carriers;        ///< per body: along whose axes its coordinates are counted, or GROUND
    int *terms;           ///< candidates of every relation, HN_COUPLING_TERMS_MAX each
    double *motions;      ///< T, 12 per body, one column after the other
    void *memory;
} motion_frame;

/// Find the frame at q. With `driven`, drives that prescribe coordinates come first among those chosen; one that a
/// loop or another drive holds is refused by name. motion_frame_end in any case.
/// @return HN_OK, HN_SINGULAR_SYSTEM, HN_INVALID_MODEL (a drive in conflict), HN_OUT_OF_MEMORY
/// `sticks` (or NULL: none), per drive: dry friction that holds its coordinate.
/// `wish` (or NULL: zero); where it has coordinates and they are not as many as are free: HN_SINGULAR_SYSTEM.
hn_status motion_frame_begin(hn_simulation *simulation, const double *q, const bool *sticks, const frame_wish *wish,
                             motion_frame *frame);
void motion_frame_end(motion_frame *frame);

/// Candidates alone, for rates at q: no motions.
hn_status motion_frame_list(hn_simulation *simulation, const double *q, motion_frame *frame);

/// T_k, 12 per body.
static inline double *frame_motion(const motion_frame *f, int k)
{
    return f->motions + (size_t)k * POSE_SIZE * (size_t)f->system->body_count;
}

/// Candidate that the element of a drive or of a coupling acts on.
int frame_element_candidate(const motion_frame *frame, int index);

/// r(q, v) of a candidate at any q.
double frame_rate(const motion_frame *frame, int candidate, const double *q, const double *v);
/// d/d eps r(q + eps x, y): exact, since r is a polynomial.
double frame_rate_change(const motion_frame *frame, int candidate, const double *x, const double *y);
/// A motion along two parameters: v = q_t, dq = q_e, dv = v_e = q_te, a = v_t, da = v_te.
typedef struct frame_jet {
    const double *v, *dq, *dv, *a, *da;
} frame_jet;
/// d^2/(dt de) of the rate of a candidate along it: the change of its acceleration.
double frame_acceleration_change(const motion_frame *frame, int candidate, const frame_jet *jet);
/// to += effort times the force that has the power r(q, v) for every v.
void frame_add_effort(const motion_frame *frame, int candidate, double effort, double *to);

/// z with G z = -H(x, y) and r(q, z) = -d/d eps r(q + eps x, y) for all chosen coordinates: the change of the
/// motion y of fixed rates along x. `v, v`: accelerations of constant rates.
void frame_turn(const motion_frame *frame, const double *x, const double *y, double *z);

/// Mean rates of the chosen coordinates with velocities v.
void frame_rates(const motion_frame *frame, const double *v, double *rates);
/// sum_k rates_k T_k.
void frame_velocity(const motion_frame *frame, const double *rates, double *v);

/// Its axis in world axes, where it is a coordinate of a body.
hn_vec3 frame_body_axis(const motion_frame *frame, int candidate);
/// Is it counted along or about world axes that a moving body does not keep: does its name change with the axes?
bool frame_is_of_axes(const motion_frame *frame, int candidate);

/// Name of a candidate, "hinge/angle" or "body/x", into `name`; its unit, "rad" or "m".
void frame_name(const motion_frame *frame, int candidate, char *name, size_t size);
const char *frame_unit(const motion_frame *frame, int candidate);

#endif
