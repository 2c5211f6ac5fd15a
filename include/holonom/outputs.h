// SPDX-License-Identifier: MIT
// Outputs: quantities of a model by name (sensors), in results and in one array for programs.
#ifndef HOLONOM_OUTPUTS_H
#define HOLONOM_OUTPUTS_H

#include <holonom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hn_output_kind {
    HN_OUTPUT_POSITION,         ///< of a point of body_a; 3 numbers, m
    HN_OUTPUT_VELOCITY,         ///< 3, m/s
    HN_OUTPUT_ACCELERATION,     ///< 3, m/s^2; of the state, by a solution with the mass matrix
    HN_OUTPUT_DISTANCE,         ///< between a point of body_a and one of body_b; m
    HN_OUTPUT_ANGLE,            ///< between directions in body_a and body_b, 0 to pi; about an axis in a: of their
                                ///< parts at right angles to it, signed
    HN_OUTPUT_REACTION_FORCE,   ///< of a joint on its body b; 3, N
    HN_OUTPUT_REACTION_TORQUE,  ///< about the joint point; 3, N m
    HN_OUTPUT_COORDINATE,       ///< of a joint; m, rad
    HN_OUTPUT_RATE,             ///< m/s, rad/s
    HN_OUTPUT_EFFORT,           ///< of a drive in the last step; N, N m
    HN_OUTPUT_POWER,            ///< of a drive, mean over the last step; W
    HN_OUTPUT_KINETIC_ENERGY,   ///< J
    HN_OUTPUT_POTENTIAL_ENERGY, ///< J
    HN_OUTPUT_ENERGY,           ///< both; J
    HN_OUTPUT_EXPRESSION,       ///< of t and outputs added before: NAME, or NAME_x, NAME_y, NAME_z of those with three
} hn_output_kind;
#define HN_OUTPUT_KIND_COUNT 15
/// "position", "reaction_force", "kinetic_energy", ...; "" for none.
HN_API const char *hn_output_kind_name(hn_output_kind kind);
HN_API bool hn_output_kind_from_name(const char *name, hn_output_kind *kind);

/// Axes that the three numbers of a reaction are components along.
typedef enum hn_output_frame { HN_FRAME_WORLD, HN_FRAME_A, HN_FRAME_B } hn_output_frame;
/// "world", "a", "b".
HN_API const char *hn_output_frame_name(hn_output_frame frame);
HN_API bool hn_output_frame_from_name(const char *name, hn_output_frame *frame);

typedef struct hn_output_def {
    size_t size; ///< bytes of this struct: set by hn_output_def_default
    const char *name; ///< unique among outputs; NULL: "output1", ...
    hn_output_kind kind;
    hn_body_id body_a;    ///< the body; distance, angle: the first one
    hn_body_id body_b;    ///< distance, angle: the second one. Position, velocity, acceleration: as this body sees it,
                          ///< in its frame; none or the ground: the world
    hn_vec3 point_a;      ///< m, body frame; angle: a direction
    hn_vec3 point_b;
    hn_vec3 axis;         ///< angle: in body_a, about which it is signed; zero: none
    hn_joint_id joint;    ///< reaction, coordinate, rate
    hn_output_frame frame; ///< reaction: world axes, or the axes of the joint's body a or b
    int coordinate;       ///< coordinate, rate: from 0
    int drive;            ///< effort, power: place among the drives, from 0
    const char *expression; ///< copied
} hn_output_def;

HN_API void hn_output_def_init(hn_output_def *def, size_t size, hn_output_kind kind);
static inline hn_output_def hn_output_def_default(hn_output_kind kind)
{
    hn_output_def def;
    hn_output_def_init(&def, sizeof def, kind);
    return def;
}

/// Add an output. Simulations of the model then have the view "outputs/value", one array of all their numbers, and
/// result files the series outputs/NAME. It costs nothing until it is viewed or recorded.
/// @return HN_OK, HN_INVALID_MODEL (body, joint, drive, direction, expression, name), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_output(hn_model *model, const hn_output_def *def);

HN_API int hn_model_output_count(const hn_model *model);
HN_API const char *hn_model_output_name(const hn_model *model, int index); ///< "" where there is none
HN_API hn_output_kind hn_model_output_kind(const hn_model *model, int index); ///< 0 <= index < output count
/// Its first number in "outputs/value", and how many it has (1 or 3); -1 and 0 where there is none.
HN_API int hn_model_output_place(const hn_model *model, int index, int *count);

#ifdef __cplusplus
}
#endif

#endif
