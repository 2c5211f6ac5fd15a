// SPDX-License-Identifier: MIT
// What is observed of a state: groups of quantities, computed once per state when asked for, in arrays that getters,
// views and result files read. The table of what there is: series.h.
#ifndef SIMULATION_OBSERVATION_H
#define SIMULATION_OBSERVATION_H

#include "simulation/series.h"
#include "simulation/totals.h"
#include "system/system.h"

typedef struct observation {
    double *data[SERIES_COUNT]; ///< records as result files have them, in the order of the model; NULL: not asked for
    void *memory[OBSERVATION_GROUP_COUNT];
    bool known[OBSERVATION_GROUP_COUNT];      ///< belongs to the state
    bool subscribed[OBSERVATION_GROUP_COUNT]; ///< somebody has a view of it: computed after every call that steps
    series_extent extent;
    int *coordinate_start; ///< per joint of the model: its first column; and the end
    double *scratch;       ///< 24 per body
    constraint_check check;
    state_totals totals;
    bool check_known, totals_known; ///< likewise
    bool verdicts_known;   ///< reaction_unique was found
    int64_t verdicts_step; ///< after so many steps
} observation;

/// The arrays of a group hold the current state afterwards. Allocates at the first call of a group.
/// @return HN_OK, HN_OUT_OF_MEMORY, HN_NOT_FINITE (energies), HN_SINGULAR_SYSTEM (reactions, projected momenta)
hn_status simulation_observe(const hn_simulation *simulation, observation_group group);

/// Take the memory of a group now.
hn_status observation_prepare(hn_simulation *simulation, observation_group group);

/// All groups that are subscribed.
hn_status observe_subscribed(const hn_simulation *simulation);

/// How well joints and rigidity hold at the current state.
const constraint_check *observe_check(const hn_simulation *simulation);
/// Its energies and momenta.
const state_totals *observe_state_totals(const hn_simulation *simulation);
/// Are energies, momenta, places and angles finite? No step is made from others.
bool observe_finite(const hn_simulation *simulation);

/// Numbers of bodies, joints, coordinates and beam elements.
void observation_measure(const hn_system *system, series_extent *extent);

/// The state has changed.
void observation_forget(hn_simulation *simulation);
void observation_destroy(hn_simulation *simulation);

/// Number of coordinates that a joint of the model reports, the coordinates, and their rates from the twists of the two
/// bodies that have its rows.
int simulation_joint_coordinate_count(const hn_system *system, int index);
int simulation_joint_coordinates(const hn_simulation *simulation, int index, double *coordinates);
void simulation_joint_rates(const hn_simulation *simulation, int index, const double *twist_a, const double *twist_b,
                            double *rates);

/// Accelerations of all joint coordinates from those of bodies, in the order of the model.
hn_status simulation_joint_accelerations(hn_simulation *simulation, const double *linear, const double *angular,
                                         double *accelerations);

/// Force and moment of a joint on the user's body b about its joint point; `step` is simulation_reaction_step.
typedef struct joint_reaction {
    hn_vec3 force, moment; ///< N, N m
} joint_reaction;
struct solved_step;
hn_status simulation_reaction(hn_simulation *simulation, const struct solved_step *step, int index,
                              joint_reaction *reaction);
/// The time that reactions belong to.
double simulation_reaction_time(const hn_simulation *simulation, const struct solved_step *step);
/// Where a body stands then: at the start of the step, at its end, or half way between by the middle of its turn.
void simulation_reaction_pose(const hn_simulation *simulation, const struct solved_step *step, int body, double *pose);

#endif
