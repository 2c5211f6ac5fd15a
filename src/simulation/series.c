// SPDX-License-Identifier: MIT
// Names, units and shapes of what is observed.
#include "simulation/series.h"

#include "model/joint_kinds.h"

#include <assert.h>

#define PLACE(group, name) group, name, group "/" name

static const series_info TABLE[SERIES_COUNT] = {
    [SERIES_TIME] = {"", "time", "time", "s", "time of the record", SERIES_SCALAR, false,
                     OBSERVE_RUN},
    [SERIES_STEP] = {"", "step", "step", "1", "completed steps", SERIES_SCALAR, true, OBSERVE_RUN},
    [SERIES_BODY_POSITION] = {PLACE("bodies", "position"), "m", "centre of mass, world",
                              SERIES_BODY_VECTOR, false, OBSERVE_BODIES},
    [SERIES_BODY_ORIENTATION] = {PLACE("bodies", "orientation"), "1",
                                 "rotation matrix by rows; columns: body axes in the world",
                                 SERIES_BODY_MATRIX, false, OBSERVE_BODIES},
    [SERIES_BODY_VELOCITY] = {PLACE("bodies", "velocity"), "m/s", "of the centre of mass, world",
                              SERIES_BODY_VECTOR, false, OBSERVE_BODIES},
    [SERIES_BODY_ANGULAR_VELOCITY] = {PLACE("bodies", "angular_velocity"), "rad/s", "world axes",
                                      SERIES_BODY_VECTOR, false, OBSERVE_BODIES},
    [SERIES_BODY_LINEAR_MOMENTUM] = {PLACE("bodies", "linear_momentum"), "kg m/s", "world",
                                     SERIES_BODY_VECTOR, false, OBSERVE_BODIES},
    [SERIES_BODY_ANGULAR_MOMENTUM] = {PLACE("bodies", "angular_momentum"), "kg m^2/s",
                                      "about the world origin", SERIES_BODY_VECTOR, false,
                                      OBSERVE_BODIES},
    [SERIES_JOINT_COORDINATE] = {PLACE("joints", "coordinates"), "see coordinate_units",
                                 "coordinates of all joints one after the other",
                                 SERIES_JOINT_COORDINATES, false, OBSERVE_JOINTS},
    [SERIES_JOINT_RATE] = {PLACE("joints", "rates"), "coordinate_units per second",
                           "rates of the coordinates", SERIES_JOINT_COORDINATES, false,
                           OBSERVE_JOINTS},
    [SERIES_BODY_ACCELERATION] = {PLACE("bodies", "acceleration"), "m/s^2",
                                  "of the centre of mass, world axes", SERIES_BODY_VECTOR, false,
                                  OBSERVE_ACCELERATIONS},
    [SERIES_BODY_ANGULAR_ACCELERATION] = {PLACE("bodies", "angular_acceleration"), "rad/s^2",
                                          "world axes", SERIES_BODY_VECTOR, false,
                                          OBSERVE_ACCELERATIONS},
    [SERIES_JOINT_ACCELERATION] = {PLACE("joints", "accelerations"), "m/s^2 or rad/s^2",
                                   "how fast the rates change", SERIES_JOINT_COORDINATES, false,
                                   OBSERVE_ACCELERATIONS},
    [SERIES_JOINT_REACTION_FORCE] = {PLACE("joints", "reaction_force"), "N",
                                     "on body b at its joint point, world axes",
                                     SERIES_JOINT_VECTOR, false, OBSERVE_REACTIONS},
    [SERIES_JOINT_REACTION_TORQUE] = {PLACE("joints", "reaction_torque"), "N m",
                                      "on body b at its joint point, world axes",
                                      SERIES_JOINT_VECTOR, false, OBSERVE_REACTIONS},
    [SERIES_JOINT_REACTION_TIME] = {PLACE("joints", "reaction_time"), "s",
                                    "time the reactions of the record belong to", SERIES_SCALAR,
                                    false, OBSERVE_REACTIONS},
    [SERIES_JOINT_REACTION_VALID] = {PLACE("joints", "reaction_valid"), "1",
                                     "0: no step has given reactions yet (all zero)", SERIES_SCALAR,
                                     true, OBSERVE_REACTIONS},
    [SERIES_JOINT_REACTION_UNIQUE] =
        {PLACE("joints", "reaction_unique"), "1",
         "force x, y, z, torque x, y, z along the columns of frame_a: 0: a self-stress may change "
         "it",
         SERIES_JOINT_SIX, true, OBSERVE_VERDICTS},
    [SERIES_BEAM_STRAIN] = {PLACE("beams", "strain"), "1 and 1/m",
                            "shear along d1, d2, stretch; bending about d1, d2, torsion",
                            SERIES_BEAM_SIX, false, OBSERVE_BEAMS},
    [SERIES_BEAM_RESULTANT] = {PLACE("beams", "resultant"), "N and N m",
                               "shear forces, axial force; bending moments, torsional moment; "
                               "section axes",
                               SERIES_BEAM_SIX, false, OBSERVE_BEAMS},
    [SERIES_OUTPUT_VALUE] = {PLACE("outputs", "value"), "see units",
                             "outputs of the model one after the other", SERIES_OUTPUTS, false,
                             OBSERVE_OUTPUTS},
    [SERIES_DRIVE_COORDINATE] = {PLACE("drives", "coordinate"), "rad or m", "angles count turns",
                                 SERIES_DRIVE, false, OBSERVE_DRIVES},
    [SERIES_DRIVE_EFFORT] = {PLACE("drives", "effort"), "N m or N",
                             "in the last step, along the coordinate", SERIES_DRIVE, false,
                             OBSERVE_DRIVES},
    [SERIES_DRIVE_POWER] = {PLACE("drives", "power"), "W",
                            "mean over the last step, without what springs hold", SERIES_DRIVE,
                            false, OBSERVE_DRIVES},
    [SERIES_DRIVE_WORK] = {PLACE("drives", "work"), "J", "since the start, likewise", SERIES_DRIVE,
                           false, OBSERVE_DRIVES},
    [SERIES_COUPLING_EFFORT] = {PLACE("couplings", "effort"), "N m or N",
                                "in the last step, on the first coordinate", SERIES_COUPLING, false,
                                OBSERVE_COUPLINGS},
    [SERIES_COUPLING_GAP] = {PLACE("couplings", "gap"), "rad or m",
                             "by which the first coordinate is off", SERIES_COUPLING, false,
                             OBSERVE_COUPLINGS},
    [SERIES_KINETIC] = {PLACE("ledger", "kinetic"), "J", "kinetic energy", SERIES_SCALAR, false,
                        OBSERVE_TOTALS},
    [SERIES_POTENTIAL] = {PLACE("ledger", "potential"), "J", "potential energy", SERIES_SCALAR,
                          false, OBSERVE_TOTALS},
    [SERIES_EXTERNAL_WORK] = {PLACE("ledger", "external_work"), "J",
                              "work of loads and dampers since the start", SERIES_SCALAR, false,
                              OBSERVE_TOTALS},
    [SERIES_ENERGY] = {PLACE("ledger", "energy"), "J", "kinetic + potential", SERIES_SCALAR, false,
                       OBSERVE_TOTALS},
    [SERIES_DISCRETE_ENERGY] =
        {PLACE("ledger", "discrete_energy"), "J",
         "variational: energy of the last interval; otherwise kinetic + potential", SERIES_SCALAR,
         false, OBSERVE_TOTALS},
    [SERIES_LINEAR_MOMENTUM] = {PLACE("ledger", "linear_momentum"), "kg m/s", "total",
                                SERIES_VECTOR, false, OBSERVE_TOTALS},
    [SERIES_ANGULAR_MOMENTUM] = {PLACE("ledger", "angular_momentum"), "kg m^2/s",
                                 "total, about the world origin", SERIES_VECTOR, false,
                                 OBSERVE_TOTALS},
    [SERIES_CONSTRAINT_RESIDUAL] = {PLACE("ledger", "constraint_residual"), "1",
                                    "max |g| / max(1, |q|)", SERIES_SCALAR, false,
                                    OBSERVE_CONSTRAINTS},
    [SERIES_JOINT_OPENING] = {PLACE("ledger", "joint_opening"), "m", "worst gap of a joint",
                              SERIES_SCALAR, false, OBSERVE_CONSTRAINTS},
    [SERIES_JOINT_MISALIGNMENT] = {PLACE("ledger", "joint_misalignment"), "rad",
                                   "worst tilt of a joint", SERIES_SCALAR, false,
                                   OBSERVE_CONSTRAINTS},
    [SERIES_ORTHONORMALITY] = {PLACE("ledger", "orthonormality"), "1",
                               "worst internal constraint of a body", SERIES_SCALAR, false,
                               OBSERVE_CONSTRAINTS},
    [SERIES_HIDDEN_VELOCITY] = {PLACE("ledger", "hidden_velocity"), "mixed",
                                "max |G(q_mid) (q_n+1 - q_n)/h|", SERIES_SCALAR, false,
                                OBSERVE_HIDDEN},
    [SERIES_HIDDEN_MOMENTUM] = {PLACE("ledger", "hidden_momentum"), "mixed", "max |G M^-1 p|",
                                SERIES_SCALAR, false, OBSERVE_HIDDEN},
    [SERIES_HIDDEN_PROJECTED] = {PLACE("ledger", "hidden_projected"), "mixed",
                                 "max |G M^-1 p| with projected momenta", SERIES_SCALAR, false,
                                 OBSERVE_PROJECTED},
    [SERIES_NEWTON_ITERATIONS] = {PLACE("newton", "iterations"), "1",
                                  "Newton iterations of the last step", SERIES_SCALAR, true,
                                  OBSERVE_RUN},
    [SERIES_NEWTON_ITERATIONS_TOTAL] = {PLACE("newton", "iterations_total"), "1",
                                        "Newton iterations since the start", SERIES_SCALAR, true,
                                        OBSERVE_RUN},
    [SERIES_NEWTON_RESIDUAL] = {PLACE("newton", "residual"), "1",
                                "relative residual before the last increment", SERIES_SCALAR, false,
                                OBSERVE_RUN},
    [SERIES_NEWTON_INCREMENT] = {PLACE("newton", "increment"), "mixed",
                                 "norm of the last increment", SERIES_SCALAR, false, OBSERVE_RUN},
    [SERIES_STEP_SIZE] = {PLACE("newton", "step_size"), "s",
                          "last internal step of a scheme that chooses its own, otherwise the step",
                          SERIES_SCALAR, false, OBSERVE_RUN},
    [SERIES_HALVED_STEPS] = {PLACE("newton", "halved_steps"), "1",
                             "steps so far that needed substeps", SERIES_SCALAR, true, OBSERVE_RUN},
};

const series_info *series_get(series_id id)
{
    assert(id < SERIES_COUNT);
    return &TABLE[id];
}

int series_record_dims(series_shape shape, const series_extent *extent, size_t dims[3])
{
    dims[1] = dims[2] = 3;
    switch (shape) {
    case SERIES_SCALAR: return 0;
    case SERIES_VECTOR: dims[0] = 3; return 1;
    case SERIES_BODY_VECTOR: dims[0] = extent->body_count; return 2;
    case SERIES_BODY_MATRIX: dims[0] = extent->body_count; return 3;
    case SERIES_JOINT_VECTOR: dims[0] = extent->joint_count; return 2;
    case SERIES_JOINT_SIX:
        dims[0] = extent->joint_count;
        dims[1] = 6;
        return 2;
    case SERIES_JOINT_COORDINATES: dims[0] = extent->coordinate_count; return 1;
    case SERIES_DRIVE: dims[0] = extent->drive_count; return 1;
    case SERIES_OUTPUTS: dims[0] = extent->output_count; return 1;
    case SERIES_COUPLING: dims[0] = extent->coupling_count; return 1;
    case SERIES_BEAM_SIX:
        dims[0] = extent->beam_element_count;
        dims[1] = 6;
        return 2;
    }
    return 0;
}

size_t series_width(series_shape shape, const series_extent *extent)
{
    size_t dims[3];
    size_t width = 1;
    int rank = series_record_dims(shape, extent, dims);
    for (int i = 0; i < rank; ++i) width *= dims[i];
    return width;
}

size_t series_components(series_shape shape)
{
    switch (shape) {
    case SERIES_VECTOR:
    case SERIES_BODY_VECTOR:
    case SERIES_JOINT_VECTOR: return 3;
    case SERIES_BODY_MATRIX: return 9;
    case SERIES_JOINT_SIX:
    case SERIES_BEAM_SIX: return 6;
    default: return 1;
    }
}

const char *series_component_name(series_shape shape, size_t index)
{
    static const char *const AXES[3] = {"x", "y", "z"};
    static const char *const ENTRIES[9] = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
    static const char *const SIX[6] = {"force_1",  "force_2",  "force_3",
                                       "torque_1", "torque_2", "torque_3"};
    static const char *const STRAINS[6] = {"shear_1",   "shear_2",   "axial",
                                           "bending_1", "bending_2", "torsion"};
    switch (shape) {
    case SERIES_VECTOR:
    case SERIES_BODY_VECTOR:
    case SERIES_JOINT_VECTOR: return AXES[index % 3];
    case SERIES_BODY_MATRIX: return ENTRIES[index % 9];
    case SERIES_JOINT_SIX: return SIX[index % 6];
    case SERIES_BEAM_SIX: return STRAINS[index % 6];
    default: return NULL;
    }
}

const char *beam_component_unit(bool resultant, int index)
{
    if (resultant) return index < 3 ? "N" : "N m";
    return index < 3 ? "1" : "1/m";
}

// A coordinate in the order the joint reports them; a point mass has the displacements only, which come first.
static joint_coordinate_facts label_of(hn_joint_kind kind, int index)
{
    const joint_kind_facts *facts = joint_kind_facts_of(kind);
    bool known = index >= 0 && index < facts->coordinate_count;
    return known ? facts->coordinates[index] : (joint_coordinate_facts){"coordinate", "1"};
}

const char *joint_coordinate_label(hn_joint_kind kind, int index)
{
    return label_of(kind, index).word;
}

const char *joint_coordinate_unit(hn_joint_kind kind, int index)
{
    return label_of(kind, index).unit;
}
