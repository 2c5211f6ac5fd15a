// SPDX-License-Identifier: MIT
// A model: bodies, joints, loads and start values as plain data, independent of scheme and coordinates.
#ifndef HOLONOM_MODEL_H
#define HOLONOM_MODEL_H

#include <holonom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Handles are small values; zero-initialised means none. They know their model: another one refuses them.
typedef struct hn_body_id {
    uint32_t index1; ///< 0: none, UINT32_MAX: the ground, otherwise position in the model plus one
    uint32_t model;  ///< tag of the model; 0: the ground
} hn_body_id;
typedef struct hn_joint_id {
    uint32_t index1; ///< 0: none, otherwise position in the model plus one
    uint32_t model;  ///< tag of the model
} hn_joint_id;
typedef struct hn_load_id {
    uint32_t index1; ///< 0: none, otherwise position in the model plus one
    uint32_t model;  ///< tag of the model
} hn_load_id;

typedef struct hn_model hn_model;

/// The immovable ground; its frame is the world frame.
HN_API hn_body_id hn_ground(void);

typedef struct hn_model_def {
    size_t size; ///< bytes of this struct: set by hn_model_def_default
    const char *name; ///< shown in reports; NULL: "model"
    hn_vec3 gravity;  ///< m/s^2, world frame
} hn_model_def;

/// Defaults: no name, gravity (0, 0, -9.81).
HN_API void hn_model_def_init(hn_model_def *def, size_t size);
static inline hn_model_def hn_model_def_default(void)
{
    hn_model_def def;
    hn_model_def_init(&def, sizeof def);
    return def;
}

/// Create an empty model. The context must outlive it.
HN_API HN_NODISCARD hn_status hn_model_create(hn_context *context, const hn_model_def *def, hn_model **model);

/// Destroy a model; NULL is fine. Simulations made from it stay valid.
HN_API void hn_model_destroy(hn_model *model);

/// Read a model file (YAML, format 1). On success `*model` belongs to the caller.
/// @return HN_OK, HN_FILE_ACCESS, HN_FILE_FORMAT (message begins with file:line:column), HN_INVALID_MODEL, HN_CANCELLED
HN_API HN_NODISCARD hn_status hn_model_load(hn_context *context, const char *path, hn_model **model);

/// Read a robot description (URDF); hn_model_load and hn_model_parse take one too, with a fixed base. The model's
/// text is
/// then that of the model file it was converted to; what has no counterpart goes to the log and into comments there.
/// @param free_base the root of the robot is a free body; otherwise the ground
HN_API HN_NODISCARD hn_status hn_model_load_urdf(hn_context *context, const char *path, bool free_base,
                                                 hn_model **model);

/// Another value for a parameter of a model file: a number or an expression of the parameters above it.
typedef struct hn_parameter {
    const char *name;
    const char *value;
} hn_parameter;

/// As hn_model_load, with other values for some of the file's parameters. They are written into the model's text, so
/// that results hold the model as it was run. A name the file does not have is an error (HN_FILE_FORMAT).
HN_API HN_NODISCARD hn_status hn_model_load_with(hn_context *context, const char *path, const hn_parameter *parameters,
                                                 int parameter_count, hn_model **model);

/// As hn_model_load, from text in memory; `name` stands for the path in messages.
HN_API HN_NODISCARD hn_status hn_model_parse(hn_context *context, const char *text, size_t length,
                                             const char *name, hn_model **model);
/// As hn_model_load_with, from text in memory.
HN_API HN_NODISCARD hn_status hn_model_parse_with(hn_context *context, const char *text, size_t length,
                                                  const char *name, const hn_parameter *parameters,
                                                  int parameter_count, hn_model **model);

/// The parameters of the file that the model was read from, in its order, and their values as they were read: after
/// other values were given, and what follows from them. None for a model built by calls. Since 0.2.
HN_API int hn_model_parameter_count(const hn_model *model);
HN_API const char *hn_model_parameter_name(const hn_model *model, int index); ///< "" where there is none
HN_API double hn_model_parameter_value(const hn_model *model, int index);     ///< NAN where there is none

/// Simulations of the model start at rest at the equilibrium that its loads have at time zero, found from the positions
/// given (statics.h); hn_simulation_create fails where there is none, and where start velocities are given.
HN_API HN_NODISCARD hn_status hn_model_start_at_equilibrium(hn_model *model, bool start);
HN_API bool hn_model_starts_at_equilibrium(const hn_model *model); ///< false for NULL

// ---- shapes -------------------------------------------------------------------------------------

/// Shapes give mass, inertia and picture. Points and axes are in the shape's own frame; the origin is the centroid
/// except for the tetrahedron, whose frame is that of its corners.
typedef enum hn_shape_kind {
    HN_SHAPE_BOX,             ///< size: edge lengths along x, y, z
    HN_SHAPE_SPHERE,          ///< radius
    HN_SHAPE_CYLINDER,        ///< radius, height along z
    HN_SHAPE_HOLLOW_CYLINDER, ///< radius (outer), inner_radius, height along z
    HN_SHAPE_CONE,            ///< radius, height; apex at z = -3/4 height, base at z = +1/4 height
    HN_SHAPE_PYRAMID,         ///< size.x, size.y: base edges, size.z: height; base at z = -1/4 height, apex at +3/4
    HN_SHAPE_TETRAHEDRON,     ///< corners
} hn_shape_kind;

typedef struct hn_shape {
    hn_shape_kind kind;
    hn_vec3 size;          ///< m
    double radius;         ///< m
    double inner_radius;   ///< m
    double height;         ///< m
    hn_vec3 corners[4];    ///< m
    hn_vec3 position;      ///< m, place of the shape's origin in the body frame
    hn_mat3 orientation;   ///< shape axes in the body frame
    double mass;           ///< kg; 0: from density
    double density;        ///< kg/m^3; used when mass is 0
} hn_shape;

/// Defaults: all sizes zero, identity orientation, density 1000.
HN_API hn_shape hn_shape_default(hn_shape_kind kind);

/// Spelling used in files: "box", "hollow_cylinder", ...
HN_API const char *hn_shape_kind_name(hn_shape_kind kind);
HN_API bool hn_shape_kind_from_name(const char *name, hn_shape_kind *kind); ///< since 0.2

// ---- bodies -------------------------------------------------------------------------------------

typedef enum hn_body_kind {
    HN_BODY_RIGID,              ///< twelve coordinates: centre of mass and three directors
    HN_BODY_POINT_MASS,         ///< three coordinates
    HN_BODY_PLANAR_POINT_MASS,  ///< two coordinates in the plane through its start position with normal `plane_normal`
    HN_BODY_BEAM_NODE,          ///< node of a beam: twelve coordinates, nine of them with inertia; made by
                                ///< hn_model_add_beam
} hn_body_kind;
/// As in result files: "rigid", "point_mass", "planar_point_mass", "beam_node"; since 0.2.
HN_API const char *hn_body_kind_name(hn_body_kind kind);
HN_API bool hn_body_kind_from_name(const char *name, hn_body_kind *kind);

typedef struct hn_body_def {
    size_t size; ///< bytes of this struct: set by hn_body_def_default
    const char *name;            ///< unique in the model; NULL: "body1", "body2", ...
    hn_body_kind kind;
    double mass;                 ///< kg, positive
    hn_vec3 inertia;             ///< kg m^2, diagonal (xx, yy, zz) about the centre of mass, body axes
    hn_vec3 products_of_inertia; ///< kg m^2, off-diagonal tensor entries (xy, xz, yz); J_xy = -sum m x y
    hn_vec3 center_of_mass;      ///< m, in the body frame
    hn_vec3 position;            ///< m, world place of the body frame's origin at the start
    hn_mat3 orientation;         ///< body axes in the world at the start, a rotation matrix
    hn_vec3 plane_normal;        ///< planar point mass only: world direction it cannot move in
    bool through_joints;         ///< position and orientation follow from its joints (assembly.h); not read here
    const hn_shape *shapes;      ///< picture of the body, body frame; copied; may be NULL
    int shape_count;
} hn_body_def;

/// Defaults: rigid, no mass (to be set), body frame on the world frame.
HN_API void hn_body_def_init(hn_body_def *def, size_t size);
static inline hn_body_def hn_body_def_default(void)
{
    hn_body_def def;
    hn_body_def_init(&def, sizeof def);
    return def;
}

/// Fill mass, centre of mass, inertia and picture from solid shapes in the body frame. The shapes are not copied
/// until the body is added.
/// @return HN_OK or HN_INVALID_ARGUMENT (a size, mass or density is not positive; flat tetrahedron)
HN_API HN_NODISCARD hn_status hn_body_def_set_shapes(hn_context *context, hn_body_def *def,
                                                     const hn_shape *shapes, int shape_count);

/// Add a body. @return HN_OK, HN_INVALID_MODEL (mass, inertia, orientation, name), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_body(hn_model *model, const hn_body_def *def, hn_body_id *body);

// ---- beams --------------------------------------------------------------------------------------
// Geometrically exact beams. A beam is a row of nodes, which are bodies: their ids go into joints, loads and start
// velocities like any other. The frame of a node is its cross-section's, (d1, d2) in the section and d3 along the axis.

/// A beam of a model; zero-initialised means none.
typedef struct hn_beam_id {
    uint32_t index1; ///< 0: none, otherwise position in the model plus one
    uint32_t model;  ///< tag of the model
} hn_beam_id;

/// Elasticity and inertia of a cross-section, by length. Strains are shear along d1 and d2, stretch along d3 (1), and
/// bending about d1 and d2, torsion about d3 (1/m). The origin is the centre of mass, d1 and d2 its principal axes.
typedef struct hn_beam_section {
    double stiffness[6][6]; ///< resultants by strains: N, N m, N m^2; symmetric, positive definite. Commonly a
                            ///< diagonal: GA1, GA2, EA, EI1, EI2, GJ
    double mass;            ///< kg/m
    double inertia[2];      ///< kg m: density times squared coordinate along d1, along d2, integrated over the section
} hn_beam_section;

typedef struct hn_beam_material {
    double young;        ///< Pa
    double poisson;      ///< above -1, below 1/2
    double density;      ///< kg/m^3
    double shear_factor; ///< of the shear areas; 0: that of the section's form
} hn_beam_material;

/// Defaults: no stiffness and no density (to be set), Poisson number 0.3, shear factor of the form.
HN_API hn_beam_material hn_beam_material_default(void);

/// Sections of one material. Shear factors: rectangle 5/6, circle 9/10, tube 1/2, else 1.
/// @return HN_OK or HN_INVALID_ARGUMENT (a size or a modulus that cannot be)
HN_API HN_NODISCARD hn_status hn_beam_section_rectangle(hn_context *context, const hn_beam_material *material,
                                                        double size1, double size2, hn_beam_section *section);
HN_API HN_NODISCARD hn_status hn_beam_section_circle(hn_context *context, const hn_beam_material *material,
                                                     double radius, hn_beam_section *section);
HN_API HN_NODISCARD hn_status hn_beam_section_tube(hn_context *context, const hn_beam_material *material,
                                                   double radius, double inner_radius, hn_beam_section *section);
/// Area (m^2), second moments about d1 and d2 and torsion constant (m^4).
HN_API HN_NODISCARD hn_status hn_beam_section_moments(hn_context *context, const hn_beam_material *material,
                                                      double area, double moment1, double moment2, double torsion,
                                                      hn_beam_section *section);

/// Mass and inertia from the full matrix of a section, by length: (v1, v2, v3, omega1, omega2, omega3) in the section's
/// frame; kg/m, kg, kg m. A section of directors has a mass m and second moments along d1 and d2 about its centre of
/// mass: diag(m, m, m, J1, J2, J1 + J2). Everything else is refused, with what would bring it there.
/// @return HN_OK or HN_INVALID_ARGUMENT
HN_API HN_NODISCARD hn_status hn_beam_section_mass_matrix(hn_context *context, const double mass[6][6],
                                                          hn_beam_section *section);

typedef enum hn_beam_shape {
    HN_BEAM_POLYLINE, ///< straight pieces through the points, two or more; each point is a node
    HN_BEAM_ARC,      ///< the circle through three points: start, one between, end
    HN_BEAM_SPLINE,   ///< a natural cubic spline through the points, two or more
    HN_BEAM_NODES,    ///< points and frames of all nodes
} hn_beam_shape;
/// "polyline", "arc", "spline", "nodes"; since 0.2.
HN_API const char *hn_beam_shape_name(hn_beam_shape shape);
HN_API bool hn_beam_shape_from_name(const char *name, hn_beam_shape *shape);

/// What is between nodes. Docs: docs/manual/beams.md, docs/theory/beams.md
typedef enum hn_beam_element {
    HN_BEAM_HELICAL,   ///< two nodes, and an axis of one curvature and torsion between them
    HN_BEAM_LINEAR,    ///< two nodes, place and directors interpolated linearly: softer
    HN_BEAM_QUADRATIC, ///< three nodes, interpolated by parabolas
} hn_beam_element;
/// "helical", "linear", "quadratic"; since 0.2.
HN_API const char *hn_beam_element_name(hn_beam_element element);
HN_API bool hn_beam_element_from_name(const char *name, hn_beam_element *element);

/// The reference shape, free of stress, is the shape at the start.
typedef struct hn_beam_def {
    size_t size; ///< bytes of this struct: set by hn_beam_def_default
    const char *name;         ///< unique among beams; NULL: "beam1", ... Nodes are the bodies "name.0", "name.1", ...
    hn_beam_shape shape;
    const hn_vec3 *points;    ///< m, world; copied
    int point_count;
    const hn_mat3 *frames;    ///< HN_BEAM_NODES: columns d1, d2, d3 of every node; NULL elsewhere
    int element_count;        ///< of two nodes: nodes less one; quadratic ones: half as many
    int order;                ///< 1: as `element` says; 2: quadratic ones
    hn_vec3 direction;        ///< world direction of d1 at the start, as far as it is at right angles to the axis;
                              ///< zero: chosen
    double twist;             ///< rad, by which the section turns about the axis from start to end, beyond what the
                              ///< axis asks
    hn_beam_section section;
    double damping;           ///< s, of the stiffness: resultants gain damping times stiffness times strain rate
    hn_beam_element element;  ///< since 0.2
} hn_beam_def;

/// Defaults: a polyline of ten helical elements, no section (to be set).
HN_API void hn_beam_def_init(hn_beam_def *def, size_t size);
static inline hn_beam_def hn_beam_def_default(void)
{
    hn_beam_def def;
    hn_beam_def_init(&def, sizeof def);
    return def;
}

/// Add a beam and its nodes.
/// @return HN_OK, HN_INVALID_MODEL (name, points, frames, section, more than 45 degrees between neighbouring nodes),
/// HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_beam(hn_model *model, const hn_beam_def *def, hn_beam_id *beam);

/// Node `index` as a body, 0 <= index <= element count; no body beyond.
HN_API hn_body_id hn_model_beam_node(const hn_model *model, hn_beam_id beam, int index);
/// The node nearest to the arc length `at` (m) of the reference axis.
HN_API int hn_model_beam_node_at(const hn_model *model, hn_beam_id beam, double at);
/// Add a point mass (kg) to a node; it is part of the node then.
HN_API HN_NODISCARD hn_status hn_model_add_beam_mass(hn_model *model, hn_beam_id beam, int node, double mass);

HN_API int hn_model_beam_count(const hn_model *model);
HN_API hn_beam_id hn_model_beam(const hn_model *model, int index); ///< 0 <= index < beam count
HN_API const char *hn_model_beam_name(const hn_model *model, hn_beam_id beam);
/// Pieces between neighbouring nodes: a quadratic element has two.
HN_API int hn_model_beam_element_count(const hn_model *model, hn_beam_id beam);
HN_API double hn_model_beam_length(const hn_model *model, hn_beam_id beam); ///< m, of the reference axis
HN_API hn_beam_section hn_model_beam_section(const hn_model *model, hn_beam_id beam);
/// Find by name; index1 is 0 when there is none.
HN_API hn_beam_id hn_model_find_beam(const hn_model *model, const char *name);

// ---- joints -------------------------------------------------------------------------------------

/// Every kind of joint: its name here, its word in files, and how many relative degrees of freedom it leaves, with the
/// coordinates that are reported.
#define HN_JOINT_KIND_LIST(X)                                                                                          \
    X(SPHERICAL, spherical, "3: rotation vector")                                                                      \
    X(REVOLUTE, revolute, "1: angle about the axis")                                                                   \
    X(PRISMATIC, prismatic, "1: displacement along the axis")                                                          \
    X(CYLINDRICAL, cylindrical, "2: displacement along and angle about the axis")                                      \
    X(PLANAR, planar, "3: two displacements in the plane normal to the axis, angle about the axis")                    \
    X(UNIVERSAL, universal, "2: angle about axis_a (fixed in a), about axis_b (fixed in b, at right angles)")          \
    X(FIXED, fixed, "0")                                                                                               \
    X(FREE, free, "6: position of b's joint point in a's frame, rotation vector; no constraint")                       \
    X(DISTANCE, distance, "5: two points at constant distance; no coordinates are reported")                           \
    X(SLOT, slot, "4: displacement of b's point along the axis, a line of a; rotation vector")                         \
    X(SCREW, screw, "1: displacement along and angle about the axis, which a thread ties (`pitch`)")

typedef enum hn_joint_kind {
#define HN_JOINT_KIND_ENTRY(NAME, word, sentence) HN_JOINT_##NAME,
    HN_JOINT_KIND_LIST(HN_JOINT_KIND_ENTRY)
#undef HN_JOINT_KIND_ENTRY
} hn_joint_kind;

#define HN_JOINT_KIND_COUNT 11
#define HN_JOINT_COORDINATES_MAX 6

/// Spelling used in files and on the command line: "revolute", ...
HN_API const char *hn_joint_kind_name(hn_joint_kind kind);
/// Inverse of hn_joint_kind_name; false for an unknown word.
HN_API bool hn_joint_kind_from_name(const char *name, hn_joint_kind *kind);

/// Places and directions are world ones in the start configuration, or body-frame ones with `body_coordinates`.
typedef struct hn_joint_def {
    size_t size; ///< bytes of this struct: set by hn_joint_def_default
    const char *name;      ///< unique among joints; NULL: "joint1", ...
    hn_joint_kind kind;
    hn_body_id body_a;     ///< coordinates describe the motion of b relative to a
    hn_body_id body_b;
    bool body_coordinates; ///< false: world frame at the start; true: point_a, axis_a in a, point_b, axis_b in b
    hn_vec3 point_a;       ///< m, the joint's place on a
    hn_vec3 point_b;       ///< m, the joint's place on b; read only with separate_points
    bool separate_points;  ///< false: b's point is where a's point is at the start
    hn_vec3 axis_a;        ///< axis; plane normal (planar); first axis (universal)
    hn_vec3 axis_b;        ///< universal: second axis; others, with body_coordinates: the axis in b, zero: as axis_a
    hn_vec3 direction;     ///< planar: direction of the first displacement (frame of axis_a); zero: chosen
    double length;         ///< m, distance joint only; 0: the distance at the start
    bool separate_frames;  ///< with body_coordinates: frame_a and frame_b are read, and no axis or direction
    hn_mat3 frame_a;       ///< columns: the joint's frame in a, third the axis; frames meet at coordinates of zero
    hn_mat3 frame_b;       ///< the same in b; universal: third the second axis, first the first one at zero
    double pitch;          ///< m, screw only, not zero: displacement of a turn; positive: right-handed
} hn_joint_def;

HN_API void hn_joint_def_init(hn_joint_def *def, size_t size, hn_joint_kind kind);
static inline hn_joint_def hn_joint_def_default(hn_joint_kind kind)
{
    hn_joint_def def;
    hn_joint_def_init(&def, sizeof def, kind);
    return def;
}

/// Add a joint. A screw brings a coupling of its own, with its name, whose effort (N) is the axial force of the thread.
/// @return HN_OK, HN_INVALID_MODEL (bodies, axis, length, pitch, name), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_joint(hn_model *model, const hn_joint_def *def, hn_joint_id *joint);

// ---- loads --------------------------------------------------------------------------------------

typedef enum hn_profile_kind {
    HN_PROFILE_CONSTANT, ///< factor 1 at all times
    HN_PROFILE_TABLE,    ///< piecewise linear in time, constant outside the table
    HN_PROFILE_PULSE,    ///< triangle: 0 until `start`, 1 at `peak`, 0 from `end` on
    HN_PROFILE_SPLINE,   ///< cubic spline through a table, level at both ends and constant outside
    HN_PROFILE_STEP,     ///< smooth rise: 0 until `start`, 1 from `end` on, 10 x^3 - 15 x^4 + 6 x^5 between
    HN_PROFILE_EXPRESSION, ///< `expression` in t
} hn_profile_kind;
/// "constant", "table", "pulse", "spline", "step", "expression"; since 0.2.
HN_API const char *hn_profile_kind_name(hn_profile_kind kind);
HN_API bool hn_profile_kind_from_name(const char *name, hn_profile_kind *kind);

/// A function of time: of all that depends on it. A step takes its mean, exact for all kinds but expressions (there by
/// Gauss quadrature of order ten, split at corners, in halves until these agree to 1e-11), so that impulses are right
/// also where it is finer than the step; a simulation then says so through the log callback.
typedef struct hn_profile {
    hn_profile_kind kind;
    double start, peak, end;  ///< s, pulse; step: start and end
    const double *times;      ///< s, strictly increasing, table and spline; copied
    const double *factors;    ///< table and spline; copied
    int count;                ///< table entries
    const char *expression;   ///< in t (s), such as "0.3*sin(2*pi*t)": the language of model files; copied
    const struct hn_profile_inner *inner; ///< the library's own; leave NULL
} hn_profile;

/// Force or torque on a body, its vector fixed in space or in the body.
typedef struct hn_load_def {
    size_t size; ///< bytes of this struct: set by hn_load_def_default
    const char *name;   ///< NULL: "load1", ...
    hn_body_id body;
    bool torque;        ///< false: force at `point`; true: pure torque
    bool body_fixed;    ///< the vector turns with the body
    hn_vec3 vector;     ///< N or N m; world frame, or body frame when body_fixed
    hn_vec3 point;      ///< m, body frame; force only
    hn_profile profile;
} hn_load_def;

HN_API void hn_load_def_init(hn_load_def *def, size_t size);
static inline hn_load_def hn_load_def_default(void)
{
    hn_load_def def;
    hn_load_def_init(&def, sizeof def);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_load(hn_model *model, const hn_load_def *def, hn_load_id *load);

/// Load by length on a whole beam: on each node its part, as hn_load_def has it. The loads are named "name.0", ...
typedef struct hn_beam_load_def {
    size_t size; ///< bytes of this struct: set by hn_beam_load_def_default
    const char *name;   ///< NULL: "line_load1", ...
    hn_beam_id beam;
    bool body_fixed;    ///< the vector turns with the sections
    hn_vec3 vector;     ///< N/m; world frame, or section frame when body_fixed
    hn_profile profile;
} hn_beam_load_def;

HN_API void hn_beam_load_def_init(hn_beam_load_def *def, size_t size);
static inline hn_beam_load_def hn_beam_load_def_default(void)
{
    hn_beam_load_def def;
    hn_beam_load_def_init(&def, sizeof def);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_beam_load(hn_model *model, const hn_beam_load_def *def);

/// Linear spring and damper between two points.
typedef struct hn_spring_def {
    size_t size; ///< bytes of this struct: set by hn_spring_def_default
    const char *name;      ///< NULL: "spring1", ...
    hn_body_id body_a, body_b;
    bool body_coordinates; ///< false: points are world ones at the start
    hn_vec3 point_a, point_b; ///< m
    double stiffness;      ///< N/m, not negative
    double damping;        ///< N s/m, not negative
    double rest_length;    ///< m; negative: the length at the start
} hn_spring_def;

HN_API void hn_spring_def_init(hn_spring_def *def, size_t size);
static inline hn_spring_def hn_spring_def_default(void)
{
    hn_spring_def def;
    hn_spring_def_init(&def, sizeof def);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_spring(hn_model *model, const hn_spring_def *def, hn_load_id *spring);

/// Torsional spring and damper on the angle of a revolute, cylindrical or planar joint.
typedef struct hn_torsion_spring_def {
    size_t size; ///< bytes of this struct: set by hn_torsion_spring_def_default
    const char *name;   ///< NULL: "torsion_spring1", ...
    hn_joint_id joint;
    double stiffness;   ///< N m/rad, not negative
    double damping;     ///< N m s/rad, not negative
    double rest_angle;  ///< rad, relative to the start configuration
} hn_torsion_spring_def;

HN_API void hn_torsion_spring_def_init(hn_torsion_spring_def *def, size_t size);
static inline hn_torsion_spring_def hn_torsion_spring_def_default(void)
{
    hn_torsion_spring_def def;
    hn_torsion_spring_def_init(&def, sizeof def);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_torsion_spring(hn_model *model, const hn_torsion_spring_def *def,
                                                          hn_load_id *spring);

/// Bushing: springs and dampers along and about the three axes of a frame between two bodies with directors. At rest
/// where its frames on the bodies meet: at the start, or with `body_coordinates` where they are put. Forces are along
/// the axes as a carries them; a turn by an angle about one of them is answered by stiffness times its sine.
typedef struct hn_bushing_def {
    size_t size; ///< bytes of this struct: set by hn_bushing_def_default
    const char *name;         ///< NULL: "bushing1", ...
    hn_body_id body_a, body_b;
    bool body_coordinates;    ///< false: point_a and frame_a are world ones at the start, of both bodies
    hn_vec3 point_a, point_b; ///< m
    hn_mat3 frame_a, frame_b; ///< columns: its axes
    double stiffness[6];      ///< along them, N/m; about them, N m/rad; not negative
    double damping[6];        ///< N s/m; N m s/rad; not negative
} hn_bushing_def;

HN_API void hn_bushing_def_init(hn_bushing_def *def, size_t size); ///< no stiffness, no damping, axes x, y, z
static inline hn_bushing_def hn_bushing_def_default(void)
{
    hn_bushing_def def;
    hn_bushing_def_init(&def, sizeof def);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_bushing(hn_model *model, const hn_bushing_def *def, hn_load_id *bushing);

// ---- drives and laws on the coordinates of joints --------------------------------------------------

typedef enum hn_drive_kind {
    HN_DRIVE_EFFORT, ///< a force or torque that is a function of time
    HN_DRIVE_SERVO,  ///< follows a target with proportional, derivative and integral gain, up to a limit
    HN_DRIVE_MOTOR,  ///< effort falls with speed in a straight line, from `stall` at rest to none at `no_load`
    HN_DRIVE_SPRING, ///< spring and damper, linear or by tables
    HN_DRIVE_STOP,   ///< elastic buffers that begin at a lower and an upper value of the coordinate
    HN_DRIVE_MOTION, ///< prescribes the coordinate over time, with whatever effort that takes
    HN_DRIVE_FRICTION, ///< dry friction, of a given size or by the joint's reaction; it sticks
    HN_DRIVE_LATCH,  ///< locks the joint where its coordinate reaches a value
} hn_drive_kind;
#define HN_DRIVE_KIND_COUNT 8
HN_API const char *hn_drive_kind_name(hn_drive_kind kind);
HN_API bool hn_drive_kind_from_name(const char *name, hn_drive_kind *kind); ///< since 0.2

/// A step as a law sees it.
typedef struct hn_law_step {
    double from, to;   ///< rad or m, the coordinate at the begin and, as far as it is known, at the end of the step
    double begin, end; ///< s; equal, with from equal to `to`, where nothing moves (statics)
} hn_law_step;
/// A law of your own inside Newton's iteration: the effort along the coordinate, constant over the step, N m or N.
/// `slope`: its derivative by `to`; it comes as NAN, and where it is left so it is found by differences. Called as
/// often as needed: the same step gives the same effort. Since 0.2.
typedef double (*hn_law_function)(const hn_law_step *step, double *slope, void *user);

typedef struct hn_drive_id {
    uint32_t index1; ///< 1 for the first, 0 for none
    uint32_t model;
} hn_drive_id;

/// What acts along one coordinate of a revolute, prismatic, cylindrical, planar or universal joint or along a slot,
/// between its bodies, or along the place of a body: x, y or z of a free joint from the ground to it (since 0.2).
/// Efforts are N for displacements and N m for angles; a positive one makes the coordinate grow. The work of each in a
/// step is its effort times the change of the coordinate, exactly; energy-momentum and convected close the balance.
typedef struct hn_drive_def {
    size_t size; ///< bytes of this struct: set by hn_drive_def_default
    const char *name;      ///< NULL: "drive1", ...
    hn_drive_kind kind;
    hn_joint_id joint;
    int coordinate;        ///< as hn_simulation_joint_coordinates counts, from 0
    hn_profile function;   ///< effort, target, motion (rad or m) or command (1: full) over time, times `scale`; a
                           ///< motion begins where the joint does, and its rate then is that of the joint unless one
                           ///< was set
    double scale;
    double proportional;   ///< N m/rad or N/m, servo
    double derivative;     ///< N m s/rad or N s/m, servo: on the rate of target less coordinate
    double integral;       ///< N m/(rad s) or N/(m s), servo
    double limit;          ///< N m or N, servo: largest effort; infinite by default
    double stall;          ///< N m or N, motor: effort at rest
    double no_load;        ///< rad/s or m/s, motor: speed at which it has none
    double stiffness;      ///< N m/rad or N/m, spring and stop
    double damping;        ///< N m s/rad or N s/m, spring; stop: of its compression, and it never pulls
    double lower, upper;   ///< rad or m, stop: where its buffers begin; infinite by default
    double rest;           ///< rad or m, spring: coordinate without force
    hn_profile spring_table; ///< table or spline of the restoring effort over the coordinate, which stands for the time
    hn_profile damper_table; ///< table of the resisting effort over the rate; both: HN_PROFILE_CONSTANT for none
    bool rigid;            ///< stop: an impact with `restitution` instead of a stiffness
    double restitution;    ///< there: 0 to 1, speed after an impact over that before
    double friction;       ///< N m or N, friction: while it slides, without the part by the reaction
    double coefficient;    ///< friction: times `radius` and the joint's reaction force
    double radius;         ///< m, friction on angles; on displacements 1
    double static_ratio;   ///< friction: at rest over sliding fast, 1 or more
    double stribeck;       ///< rad/s or m/s, friction: speed at which it has fallen by 63 % of the way between
    double latch;          ///< rad or m, latch: where it locks
    double armature;       ///< kg m^2 or kg, of a rotor that moves with the coordinate; energy-momentum and convected
    hn_law_function law;   ///< effort: your own function in place of `function`; NULL: none. Since 0.2
    void *law_user;        ///< handed to it
} hn_drive_def;

HN_API void hn_drive_def_init(hn_drive_def *def, size_t size, hn_drive_kind kind);
static inline hn_drive_def hn_drive_def_default(hn_drive_kind kind)
{
    hn_drive_def def;
    hn_drive_def_init(&def, sizeof def, kind);
    return def;
}
HN_API HN_NODISCARD hn_status hn_model_add_drive(hn_model *model, const hn_drive_def *def, hn_drive_id *drive);

/// A motion by a rotation that is a function of time, of a spherical joint or of a body (a free joint from the ground):
/// turns about three axes in order, each carried along by those before it. Sequences of Euler and Cardan angles have
/// axes x, y, z in some order; one axis with an angle is such a path too, with nothing for the others. The frame of
/// body b seen from that of a is where the path says at every node, however often it turns. Since 0.2.
typedef struct hn_rotation_def {
    size_t size; ///< bytes of this struct: set by hn_rotation_def_default
    const char *name;      ///< NULL: "drive1", ...
    hn_joint_id joint;
    hn_vec3 axes[3];       ///< in the frame of body a; by default x, y, z
    hn_profile angles[3];  ///< rad over time, times `scales`; at the start they give the rotation that the joint has
    double scales[3];
} hn_rotation_def;

HN_API void hn_rotation_def_init(hn_rotation_def *def, size_t size);
static inline hn_rotation_def hn_rotation_def_default(void)
{
    hn_rotation_def def;
    hn_rotation_def_init(&def, sizeof def);
    return def;
}
/// Adds three drives of the kind motion one after the other, `first` of them: "NAME.x", "NAME.y", "NAME.z", of a body
/// "NAME.turn_x" and so on. Their efforts are the components of the torque in the frame of body a (N m), their
/// coordinates the turns about its axes, summed up over the steps (rad), their works what each did. Since 0.2.
/// @return HN_OK, HN_INVALID_MODEL (joint, axis, function, name), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_rotation(hn_model *model, const hn_rotation_def *def, hn_drive_id *first);

HN_API int hn_model_drive_count(const hn_model *model);
HN_API const char *hn_model_drive_name(const hn_model *model, int index); ///< "" where there is none
HN_API hn_drive_kind hn_model_drive_kind(const hn_model *model, int index); ///< 0 <= index < drive count
/// What the input "drives/command" (hn_simulation_input) tells a kind of drive: "value" of an effort, "target" of a
/// servo, "command" of a motor; NULL: a kind that cannot be told anything. Since 0.2.
HN_API const char *hn_drive_kind_command(hn_drive_kind kind);
/// What the drive's own function of time, times its scale, says at a time (s); 0 where there is none. Since 0.2.
HN_API double hn_model_drive_command(const hn_model *model, int index, double time);
/// Word of a coordinate that a drive can act on: angle, displacement, displacement_1, displacement_2, angle_a, angle_b,
/// of a free joint x, y, z; NULL: no such coordinate.
HN_API const char *hn_joint_coordinate_name(hn_joint_kind kind, int coordinate);

// ---- couplings of joint coordinates ------------------------------------------------------------------

typedef enum hn_coupling_kind {
    HN_COUPLING_GEAR,     ///< two angles, of wheels that mesh
    HN_COUPLING_BELT,     ///< two angles, of pulleys
    HN_COUPLING_RACK,     ///< an angle and a displacement
    HN_COUPLING_RELATION, ///< any
    HN_COUPLING_SCREW,    ///< displacement and angle of a screw joint, with its name; comes with the joint
} hn_coupling_kind;
#define HN_COUPLING_KIND_COUNT 5
#define HN_COUPLING_TERMS_MAX 4
HN_API const char *hn_coupling_kind_name(hn_coupling_kind kind);
HN_API bool hn_coupling_kind_from_name(const char *name, hn_coupling_kind *kind);

typedef struct hn_coupling_id {
    uint32_t index1; ///< 1 for the first, 0 for none
    uint32_t model;
} hn_coupling_id;

/// The sum of factors times coordinates of joints keeps the value that it has at the start; angles count turns. All
/// kinds are such a relation, and differ in what a model file says of them. Joints whose rates are not set start with
/// those that follow. `energy-momentum` and `variational` take couplings.
typedef struct hn_coupling_def {
    size_t size; ///< bytes of this struct: set by hn_coupling_def_default
    const char *name;      ///< NULL: "coupling1", ...
    hn_coupling_kind kind;
    int term_count;        ///< 2 to HN_COUPLING_TERMS_MAX
    hn_joint_id joints[HN_COUPLING_TERMS_MAX];
    int coordinates[HN_COUPLING_TERMS_MAX]; ///< as hn_simulation_joint_coordinates counts, from 0
    double factors[HN_COUPLING_TERMS_MAX];  ///< none of them zero
} hn_coupling_def;

HN_API void hn_coupling_def_init(hn_coupling_def *def, size_t size, hn_coupling_kind kind);
static inline hn_coupling_def hn_coupling_def_default(hn_coupling_kind kind)
{
    hn_coupling_def def;
    hn_coupling_def_init(&def, sizeof def, kind);
    return def;
}
/// @return HN_OK, HN_INVALID_MODEL (joints, coordinates, factors, name), HN_OUT_OF_MEMORY
HN_API HN_NODISCARD hn_status hn_model_add_coupling(hn_model *model, const hn_coupling_def *def,
                                                    hn_coupling_id *coupling);
HN_API int hn_model_coupling_count(const hn_model *model);
HN_API const char *hn_model_coupling_name(const hn_model *model, int index); ///< "" where there is none
HN_API hn_coupling_kind hn_model_coupling_kind(const hn_model *model, int index); ///< 0 <= index < coupling count

// ---- start velocities ---------------------------------------------------------------------------
// What is not set follows from the joints: a body moves with its neighbour nearer to the ground (or to the root of a
// free tree) as if the joint were locked; a free body is at rest. What is set is kept, or checked where it is too much.

/// World velocity of the body frame's origin, m/s.
HN_API HN_NODISCARD hn_status hn_model_set_velocity(hn_model *model, hn_body_id body, hn_vec3 velocity);
/// World angular velocity, rad/s.
HN_API HN_NODISCARD hn_status hn_model_set_angular_velocity(hn_model *model, hn_body_id body, hn_vec3 angular_velocity);
/// All rates of a joint in the order of its coordinates (m/s, rad/s). Spherical and free: velocity and angular
/// velocity of b relative to a, in world axes; a free joint gives 3 + 3 numbers.
HN_API HN_NODISCARD hn_status hn_model_set_joint_rates(hn_model *model, hn_joint_id joint, const double *rates,
                                                       int count);

// ---- run options carried by a model file ----------------------------------------------------------

typedef enum hn_scheme {
    HN_SCHEME_ENERGY_MOMENTUM, ///< Betsch-Leyendecker 2006, eq. 10: keeps energy, momentum maps, constraints
    HN_SCHEME_VARIATIONAL,     ///< Leyendecker-Marsden-Ortiz 2008, eq. 22: symplectic, momentum maps, constraints
    HN_SCHEME_RATTLE,          ///< both constraint levels, symplectic, momentum maps
    HN_SCHEME_GENERALIZED_ALPHA, ///< dissipative baseline with a spectral radius at infinite frequency
    HN_SCHEME_GGL_ENERGY_MOMENTUM, ///< energy, momentum maps and both constraint levels at the nodes
    HN_SCHEME_CONVECTED,       ///< Nielsen-Krenk 2013, eq. 23-28: energy, momentum maps, constraints, C(q) p = 0
    HN_SCHEME_GGL_VARIATIONAL, ///< Kinon-Betsch-Schneider 2021, eq. 41: symplectic, momentum maps, both constraint
                               ///< levels
    HN_SCHEME_GGL_CLASSICAL,   ///< Gear-Gupta-Leimkuhler (KBS 21), for comparison: both constraint levels
    HN_SCHEME_PROJECTED_RK,    ///< Tuomela-Arponen-Normi 2006: Dormand-Prince 5(4) with projection, energy where
                               ///< imposed
    HN_SCHEME_ENERGY_DECAYING, ///< energy-momentum that loses what the step does not resolve, by an identity
} hn_scheme;
#define HN_SCHEME_COUNT 10
HN_API const char *hn_scheme_name(hn_scheme scheme);
HN_API bool hn_scheme_from_name(const char *name, hn_scheme *scheme);
/// True for schemes that bring a solver of their own: the choice of a reduction then means nothing.
HN_API bool hn_scheme_has_own_solver(hn_scheme scheme);

typedef enum hn_reduction {
    HN_REDUCTION_REDUCED,     ///< n - m unknowns on the constraint manifold, linear time on trees
    HN_REDUCTION_NULLSPACE,   ///< n unknowns, constraint forces projected away
    HN_REDUCTION_MULTIPLIERS, ///< n + m unknowns
} hn_reduction;
#define HN_REDUCTION_COUNT 3
HN_API const char *hn_reduction_name(hn_reduction reduction);
HN_API bool hn_reduction_from_name(const char *name, hn_reduction *reduction);

/// How a model asks to be run; a negative step or end means the file does not say.
typedef struct hn_run_options {
    hn_scheme scheme;
    hn_reduction reduction;
    double step; ///< s
    double end;  ///< s
    double rho;  ///< of `energy-decaying`; 0 or less: not said
    int order;   ///< of the scheme above, where it has several; 0 or less: not said. Since 0.2
} hn_run_options;
HN_API hn_run_options hn_model_run_options(const hn_model *model);
HN_API void hn_model_set_run_options(hn_model *model, const hn_run_options *options);

// ---- looking at a model ---------------------------------------------------------------------------

HN_API const char *hn_model_name(const hn_model *model);
HN_API hn_vec3 hn_model_gravity(const hn_model *model);
HN_API int hn_model_body_count(const hn_model *model);
HN_API int hn_model_joint_count(const hn_model *model);
HN_API int hn_model_load_count(const hn_model *model); ///< forces, torques, springs, torsional springs
HN_API hn_body_id hn_model_body(const hn_model *model, int index);   ///< 0 <= index < body count
HN_API hn_joint_id hn_model_joint(const hn_model *model, int index); ///< 0 <= index < joint count
/// Names live as long as the model. The ground is "ground"; an unknown id gives "".
HN_API const char *hn_model_body_name(const hn_model *model, hn_body_id body);
HN_API const char *hn_model_joint_name(const hn_model *model, hn_joint_id joint);
HN_API const char *hn_model_load_name(const hn_model *model, int index);
HN_API hn_load_id hn_model_load_at(const hn_model *model, int index); ///< 0 <= index < load count; since 0.2
HN_API hn_load_id hn_model_find_load(const hn_model *model, const char *name); ///< index1 is 0 when there is none; 0.2
/// Place among the loads, for hn_model_load_name and hn_result_file_load; -1: not of this model. Since 0.2.
HN_API int hn_model_load_index(const hn_model *model, hn_load_id load);
HN_API hn_joint_kind hn_model_joint_kind(const hn_model *model, hn_joint_id joint);
HN_API hn_body_id hn_model_joint_body_a(const hn_model *model, hn_joint_id joint);
HN_API hn_body_id hn_model_joint_body_b(const hn_model *model, hn_joint_id joint);
/// Number of coordinates a joint reports between these bodies (a point mass has no orientation).
HN_API int hn_model_joint_coordinate_count(const hn_model *model, hn_joint_id joint);
HN_API hn_body_kind hn_model_body_kind(const hn_model *model, hn_body_id body);
HN_API double hn_model_body_mass(const hn_model *model, hn_body_id body); ///< kg
/// Inertia tensor about the centre of mass in the body frame, kg m^2.
HN_API hn_mat3 hn_model_body_inertia(const hn_model *model, hn_body_id body);
HN_API hn_vec3 hn_model_body_center_of_mass(const hn_model *model, hn_body_id body); ///< m, body frame
/// Place of the body frame's origin and its axes at the start, as given.
HN_API hn_vec3 hn_model_body_position(const hn_model *model, hn_body_id body);
HN_API hn_mat3 hn_model_body_orientation(const hn_model *model, hn_body_id body);
HN_API int hn_model_body_shape_count(const hn_model *model, hn_body_id body);
HN_API hn_shape hn_model_body_shape(const hn_model *model, hn_body_id body, int index);
/// Find by name; index1 is 0 when there is none. "ground" finds the ground; "BEAM.start", "BEAM.end", "BEAM.tip" (the
/// end again), "BEAM.middle" and "BEAM[5]" find nodes of a beam.
HN_API hn_body_id hn_model_find_body(const hn_model *model, const char *name);
HN_API hn_joint_id hn_model_find_joint(const hn_model *model, const char *name);
/// Text the model was read from and its length, or NULL and 0 for one built by calls.
HN_API const char *hn_model_text(const hn_model *model, size_t *length);
/// Context the model was created with.
HN_API hn_context *hn_model_context(const hn_model *model);

#ifdef __cplusplus
}
#endif

#endif
