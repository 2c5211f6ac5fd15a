// SPDX-License-Identifier: MIT
// Assembly: bodies placed through their joints, joint coordinates at the start, loops closed.
#ifndef HOLONOM_ASSEMBLY_H
#define HOLONOM_ASSEMBLY_H

#include <holonom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Set one coordinate of a joint at the start (m or rad, in the order of its coordinates). A rotation vector, of
/// spherical and free joints, is set whole. The model then needs hn_model_assemble.
HN_API HN_NODISCARD hn_status hn_model_set_joint_coordinate(hn_model *model, hn_joint_id joint, int coordinate,
                                                            double value);

/// What assembly did.
typedef struct hn_assembly {
    int iterations;
    double opening, misalignment; ///< m, rad: worst of any joint as drawn, and with what was set
    double left_opening, left_misalignment; ///< m, rad: what is left
    double moved, turned;         ///< m, rad: the largest way and turn of a body that had a place
    hn_joint_id worst;            ///< joint that is open furthest for its size afterwards
} hn_assembly;

/// Place all bodies: root to leaves through the joints with the coordinates that were set, those as drawn elsewhere
/// (zero where a body has no place), then loops are closed with the least change of the coordinates that were not set,
/// by a damped Gauss-Newton method. From far off, coordinates that were set are approached in steps, so that the
/// mechanism stays in the way it is put together. Joint places, loads and springs stay where they are on their bodies.
/// `report` may be NULL. On failure the model is as before.
/// @return HN_OK, HN_INVALID_MODEL (the message names the joints of the loop that stays open and by how much, or the
/// body that nothing places), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_assemble(hn_model *model, hn_assembly *report);

/// True while coordinates were set or bodies added that wait for hn_model_assemble; simulations are refused till then.
HN_API bool hn_model_needs_assembly(const hn_model *model);

/// What the last assembly did; false when there was none.
HN_API bool hn_model_assembly(const hn_model *model, hn_assembly *report);

/// Coordinates of a joint before and after the last assembly (either may be NULL), HN_JOINT_COORDINATES_MAX numbers at
/// most. Returns how many; 0 when the model was not assembled or the joint has none.
HN_API int hn_model_joint_start(const hn_model *model, hn_joint_id joint, double *drawn, double *start);

/// Place and frame of a joint in its body a or b (columns, the third is the axis); either may be NULL. False: no such
/// joint.
HN_API bool hn_model_joint_geometry(const hn_model *model, hn_joint_id joint, bool on_b, hn_vec3 *point,
                                    hn_mat3 *frame);

#ifdef __cplusplus
}
#endif

#endif
