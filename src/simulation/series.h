// SPDX-License-Identifier: MIT
// What is observed of a state: one table of names, units and shapes for views, result files and their reader.
#ifndef SIMULATION_SERIES_H
#define SIMULATION_SERIES_H

#include <holonom/model.h>

/// What is computed together (observation.h); on demand, once per state.
typedef enum observation_group {
    OBSERVE_RUN, ///< time and counters
    OBSERVE_BODIES,
    OBSERVE_JOINTS,
    OBSERVE_REACTIONS,
    OBSERVE_VERDICTS, ///< of redundant constraints: which reactions are unique
    OBSERVE_BEAMS,
    OBSERVE_DRIVES,
    OBSERVE_COUPLINGS,
    OBSERVE_OUTPUTS, ///< of the model, from the groups they need
    OBSERVE_TOTALS, ///< energies and momenta
    OBSERVE_CONSTRAINTS,
    OBSERVE_HIDDEN,    ///< constraints of velocities
    OBSERVE_ACCELERATIONS, ///< dearer than a step
    OBSERVE_PROJECTED, ///< likewise, of projected momenta: a sparse factorisation, dearer than a step
    OBSERVATION_GROUP_COUNT
} observation_group;

/// Version of the format; a reader refuses a file of a newer one.
enum { RESULTS_FORMAT_VERSION = 1 };

/// What one record of a series holds. In the file the record index comes first: [records, ...].
typedef enum series_shape {
    SERIES_SCALAR,            ///< [records]
    SERIES_VECTOR,            ///< [records, 3]
    SERIES_BODY_VECTOR,       ///< [records, bodies, 3]
    SERIES_BODY_MATRIX,       ///< [records, bodies, 3, 3]
    SERIES_JOINT_VECTOR,      ///< [records, joints, 3]
    SERIES_JOINT_SIX,         ///< [records, joints, 6]
    SERIES_JOINT_COORDINATES, ///< [records, coordinates of all joints]
    SERIES_BEAM_SIX,          ///< [records, elements of all beams, 6]
    SERIES_DRIVE,             ///< [records, drives]
    SERIES_OUTPUTS,           ///< [records, numbers of all outputs]
    SERIES_COUPLING,          ///< [records, couplings]
} series_shape;

typedef enum series_id {
    SERIES_TIME, // the reader takes time as the first column
    SERIES_STEP,
    SERIES_BODY_POSITION,
    SERIES_BODY_ORIENTATION,
    SERIES_BODY_VELOCITY,
    SERIES_BODY_ANGULAR_VELOCITY,
    SERIES_BODY_LINEAR_MOMENTUM,
    SERIES_BODY_ANGULAR_MOMENTUM,
    SERIES_JOINT_COORDINATE,
    SERIES_JOINT_RATE,
    SERIES_BODY_ACCELERATION,
    SERIES_BODY_ANGULAR_ACCELERATION,
    SERIES_JOINT_ACCELERATION,
    SERIES_JOINT_REACTION_FORCE,
    SERIES_JOINT_REACTION_TORQUE,
    SERIES_JOINT_REACTION_TIME,
    SERIES_JOINT_REACTION_VALID,
    SERIES_JOINT_REACTION_UNIQUE, // of models with redundant constraints
    SERIES_BEAM_STRAIN,
    SERIES_BEAM_RESULTANT,
    SERIES_OUTPUT_VALUE,
    SERIES_DRIVE_COORDINATE,
    SERIES_DRIVE_EFFORT,
    SERIES_DRIVE_POWER,
    SERIES_DRIVE_WORK,
    SERIES_COUPLING_EFFORT,
    SERIES_COUPLING_GAP,
    SERIES_KINETIC,
    SERIES_POTENTIAL,
    SERIES_EXTERNAL_WORK,
    SERIES_ENERGY,
    SERIES_DISCRETE_ENERGY,
    SERIES_LINEAR_MOMENTUM,
    SERIES_ANGULAR_MOMENTUM,
    SERIES_CONSTRAINT_RESIDUAL,
    SERIES_JOINT_OPENING,
    SERIES_JOINT_MISALIGNMENT,
    SERIES_ORTHONORMALITY,
    SERIES_HIDDEN_VELOCITY,
    SERIES_HIDDEN_MOMENTUM,
    SERIES_HIDDEN_PROJECTED,
    SERIES_NEWTON_ITERATIONS,
    SERIES_NEWTON_ITERATIONS_TOTAL,
    SERIES_NEWTON_RESIDUAL,
    SERIES_NEWTON_INCREMENT,
    SERIES_HALVED_STEPS,
    SERIES_STEP_SIZE,
    SERIES_COUNT
} series_id;

typedef struct series_info {
    const char *group;   ///< "" for the root, otherwise "bodies", "joints", "beams", "drives", "couplings", "ledger",
                         ///< "newton"
    const char *name;    ///< dataset in the group
    const char *full;    ///< both: "bodies/position"
    const char *unit;    ///< value of its attribute `unit`
    const char *meaning; ///< value of its attribute `meaning`
    series_shape shape;
    bool integer; ///< stored as 64-bit integers
    observation_group observed;
} series_info;

const series_info *series_get(series_id id);

/// How many coordinates, bodies and joints a file has: what the widths of its series follow from.
typedef struct series_extent {
    size_t body_count;
    size_t joint_count;
    size_t coordinate_count; ///< of all joints
    size_t beam_element_count; ///< of all beams
    size_t drive_count;
    size_t output_count; ///< numbers of all outputs
    size_t coupling_count;
} series_extent;

/// Shape of one record: fills `dims` (at most 3) and returns how many there are; 0 for a scalar.
int series_record_dims(series_shape shape, const series_extent *extent, size_t dims[3]);

/// Numbers in one record; 0 when the model has no such element.
size_t series_width(series_shape shape, const series_extent *extent);

/// Numbers of one element in a record: 3 for a vector of every body.
size_t series_components(series_shape shape);
/// What number `index` of a record is of its element: "x", "xy", "force_1", "shear_1"; NULL where there is but one, and
/// for coordinates of joints, whose kind says.
const char *series_component_name(series_shape shape, size_t index);

/// Unit of component 0 to 5 of strains (`resultant` false) or stress resultants.
const char *beam_component_unit(bool resultant, int index);

/// Name and unit of a joint's coordinate: "angle" in "rad", "displacement" in "m", ...
const char *joint_coordinate_label(hn_joint_kind kind, int index);
const char *joint_coordinate_unit(hn_joint_kind kind, int index);

#endif
