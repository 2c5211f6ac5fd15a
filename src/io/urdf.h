// SPDX-License-Identifier: MIT
// Robots in the Unified Robot Description Format: read as links and joints, written as a model file.
#ifndef IO_URDF_H
#define IO_URDF_H

#include "base/context.h"
#include "base/vector.h"

/// A rigid motion: x = translation + rotation x'.
typedef struct urdf_pose {
    hn_mat3 rotation;
    hn_vec3 translation;
} urdf_pose;

typedef enum urdf_joint_kind {
    URDF_FIXED,
    URDF_REVOLUTE, ///< `continuous` too
    URDF_PRISMATIC,
    URDF_PLANAR,
    URDF_FLOATING,
    URDF_KIND_COUNT
} urdf_joint_kind;

/// One visual of a link: box, cylinder, sphere; meshes are named in the notes.
typedef struct urdf_picture {
    int link;
    char shape;      ///< 'b', 'c', 's'
    double sizes[3]; ///< m: x, y, z; radius, length; radius
    urdf_pose pose;  ///< in the link
} urdf_picture;

typedef struct urdf_link {
    const char *name;
    int line;
    double mass;         ///< kg; 0 when the file gives none
    hn_vec3 center;      ///< m, in the link
    hn_mat3 inertia;     ///< kg m^2, about the centre of mass in the link's axes
    int parent_joint;    ///< -1: the root
    urdf_pose world;     ///< at the start, all coordinates zero
    int body;            ///< link whose body this one is part of: itself, or what fixed joints lead to; GROUND_LINK
} urdf_link;

enum { GROUND_LINK = -1 };

typedef struct urdf_joint {
    const char *name;
    int line;
    urdf_joint_kind kind;
    int parent, child;
    urdf_pose origin; ///< of the child in the parent
    hn_vec3 axis;     ///< unit, in the child
    double damping;   ///< N m s/rad or N s/m
    double friction;  ///< N m or N
    bool limited;
    double lower, upper, effort, velocity;
    const char *mimic; ///< joint it follows, or NULL
    double mimic_multiplier, mimic_offset; ///< its coordinate is multiplier times that one's, plus offset
    bool dropped;      ///< has become part of another joint, or moves nothing that has mass
} urdf_joint;

/// What stands in the file and has no counterpart in a model.
typedef struct urdf_note {
    char text[240];
} urdf_note;

typedef struct urdf_robot {
    hn_context *context;
    const char *file;
    const char *name;
    urdf_link *links;
    urdf_joint *joints;
    urdf_picture *pictures;
    urdf_note *notes;
    int link_count, link_capacity, joint_count, joint_capacity, picture_count, picture_capacity, note_count,
        note_capacity;
    void *document; ///< libxml2's; owns the names
} urdf_robot;

/// Is this text a robot description rather than a model file? (It begins with '<'.)
bool urdf_is_robot(const char *text, size_t length);

/// Read links and joints. Mistakes have the form `file:line: ...`. Clear the robot in any case.
hn_status urdf_read(hn_context *context, const char *text, size_t length, const char *file, urdf_robot *robot);
void urdf_clear(urdf_robot *robot);

HN_PRINTF(2, 3) hn_status urdf_add_note(urdf_robot *robot, const char *format, ...);

/// The text of a model file for a robot; owned by the caller (context_release). With `free_base` the root may move.
hn_status urdf_to_model(hn_context *context, const char *text, size_t length, const char *file, bool free_base,
                        char **model, size_t *model_length);

/// Multiplication, and the inverse, of rigid motions.
urdf_pose urdf_compose(const urdf_pose *outer, const urdf_pose *inner);
urdf_pose urdf_inverse(const urdf_pose *pose);
hn_vec3 urdf_place(const urdf_pose *pose, hn_vec3 x);

#endif
