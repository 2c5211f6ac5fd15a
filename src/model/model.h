// SPDX-License-Identifier: MIT
// The model seen from inside the library: plain arrays, validated when an element is added.
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <holonom/assembly.h>
#include <holonom/outputs.h>

#include "base/context.h"
#include "model/names.h"
#include "model/time_expression.h"

/// Index of a body in model arrays, or one of these.
enum { BODY_GROUND = -1 };

/// Where an element stands in the file; zero when it was built by calls.
typedef struct model_place {
    int line, column; ///< both from 1
} model_place;

typedef struct model_body {
    char *name;
    model_place place;
    hn_body_kind kind;
    double mass;            ///< kg; beam node: with its part of the elements beside it
    hn_mat3 inertia;        ///< kg m^2, tensor about the centre of mass, body axes; zero for point masses
    hn_vec3 center_of_mass; ///< m, body frame
    hn_vec3 position;       ///< m, world, of the body frame's origin
    hn_mat3 orientation;    ///< body axes in the world
    hn_vec3 plane_normal;   ///< unit vector, planar point mass only
    bool unplaced;          ///< and are not known yet (hn_model_assemble)
    hn_shape *shapes;       ///< shape_count
    int shape_count;
    double node_inertia[4];    ///< beam node: m (kg), E1, E2, E3 (kg m^2) of the node alone, as mass.h has them
    bool has_velocity;         ///< start velocity of the body frame's origin was set
    hn_vec3 velocity;          ///< m/s
    bool has_angular_velocity; ///< start angular velocity was set
    hn_vec3 angular_velocity;  ///< rad/s
} model_body;

/// A joint with its places in body frames (ground: world frame). Frames are right-handed, third vector: the axis.
typedef struct model_joint {
    char *name;
    model_place place;
    hn_joint_kind kind;
    int body_a, body_b;       ///< BODY_GROUND or index
    hn_vec3 point_a, point_b; ///< m, in the body frames
    hn_mat3 frame_a, frame_b; ///< columns: joint frame in the body frames; aligned at the start unless axes were given
                              ///< apart; universal: third of frame_a is the first axis, third of frame_b the second
    double length;            ///< m, distance joint
    double lead;              ///< m/rad, screw
    bool has_rates;
    bool rates_of_motions; ///< they are those of drives that move its coordinates, or follow from couplings
    unsigned rates_known;  ///< there: which of them, a bit each
    unsigned rates_coupled;///< of these: which follow from couplings
    double rates[HN_JOINT_COORDINATES_MAX];
    unsigned given;        ///< bit k: coordinate k at the start was set
    unsigned followed;     ///< of these: what the thread of a screw says
    double coordinates[HN_JOINT_COORDINATES_MAX];                                ///< m, rad, as far as they were
    double drawn[HN_JOINT_COORDINATES_MAX], start[HN_JOINT_COORDINATES_MAX]; ///< before and after assembly
} model_joint;

typedef enum model_load_kind {
    LOAD_FORCE,
    LOAD_TORQUE,
    LOAD_SPRING,
    LOAD_TORSION_SPRING,
    LOAD_BUSHING,
} model_load_kind;
enum { LOAD_KIND_COUNT = LOAD_BUSHING + 1 };

/// What files say of a kind of load, and on what it acts.
typedef struct load_kind_facts {
    const char *word;
    int body_count; ///< 1; 2: between two bodies, which it ties elastically; 0: a joint's
} load_kind_facts;
const load_kind_facts *load_kind_facts_of(model_load_kind kind);

/// Forces, torques and springs in the order they were added.
typedef struct model_load {
    char *name;
    model_place place;
    model_load_kind kind;
    int body_a;               ///< force, torque: the body; spring: first body
    int body_b;               ///< spring: second body
    int joint;                ///< torsional spring: its joint
    bool body_fixed;          ///< force, torque
    hn_vec3 vector;           ///< N or N m; world, or body frame when body_fixed
    hn_vec3 point_a, point_b; ///< m, body frames
    hn_profile profile;       ///< owned copy of the table
    double stiffness, damping;///< N/m, N s/m or N m/rad, N m s/rad
    double rest;              ///< m or rad
    hn_mat3 frame_a, frame_b; ///< bushing: columns, its axes in the body frames
    double stiffnesses[6], dampings[6]; ///< bushing: along its axes, about them
} model_load;

/// A drive or law on a coordinate of a joint; functions and tables are owned copies.
typedef struct model_drive {
    char *name;
    model_place place;
    hn_drive_def def; ///< its name is NULL
    int joint;
    bool of_path;      ///< one of the three neighbours that are a rotation path,
    int path_row;      ///< 0, 1 or 2 of them;
    hn_vec3 path_axis; ///< its angle is about this unit vector
} model_drive;

/// A relation of joint coordinates; the first factor is 1.
typedef struct model_coupling {
    char *name;
    model_place place;
    hn_coupling_kind kind;
    int term_count;
    int joints[HN_COUPLING_TERMS_MAX];
    int coordinates[HN_COUPLING_TERMS_MAX];
    double factors[HN_COUPLING_TERMS_MAX];
} model_coupling;

/// A beam: its nodes are `element_count + 1` bodies one after the other.
typedef struct model_beam {
    char *name;
    int first_body;
    int element_count;      ///< pieces between neighbouring nodes; a quadratic element has two
    int order;              ///< of elements: 1 or 2
    hn_beam_element element;
    double *lengths;        ///< m, per piece, of the reference axis
    hn_beam_section section;
    double damping;         ///< s
} model_beam;

/// N and dN/ds of a quadratic element with pieces of lengths l1, l2 at -1 <= at <= 1; returns ds/d at.
double model_quadratic_shape(double l1, double l2, double at, double *shape, double *slope);
/// Integral of N_i N_k ds over it, m.
void model_quadratic_mass(double l1, double l2, double mass[3][3]);

typedef struct model_parameter {
    char *name;
    double value;
    signed char unit[4]; ///< exponents of m, kg, s and rad; all 0: not known
} model_parameter;

/// A quantity by name.
typedef struct model_output {
    char *name;
    model_place place;
    hn_output_def def; ///< its texts are NULL
    int body_a, body_b; ///< BODY_GROUND or index
    int joint;          ///< index, -1: none
    int column;         ///< its first number among those of all outputs
    time_instruction *code; ///< of an expression
    int code_count;
    char *text;
} model_output;

/// A setting of a run that the model asks for, as text.
typedef struct model_setting {
    const char *name;
    char *value;
} model_setting;

struct hn_model {
    hn_context *context;
    uint32_t tag; ///< of its ids
    char *name;
    hn_vec3 gravity;
    bool starts_at_equilibrium;
    bool assembly_pending; ///< places that follow from joints are not found yet
    bool assembled;        ///< they were: `drawn` and `start` of joints are known
    hn_assembly assembly;  ///< what that took
    model_body *bodies;
    int body_count, body_capacity;
    model_joint *joints;
    int joint_count, joint_capacity;
    model_load *loads;
    int load_count, load_capacity;
    model_drive *drives;
    int drive_count, drive_capacity;
    model_coupling *couplings;
    int coupling_count, coupling_capacity;
    model_beam *beams;
    int beam_count, beam_capacity;
    name_table body_names, joint_names, load_names, beam_names,
        drive_names, coupling_names; ///< index by name; the names are those of the elements
    model_parameter *parameters; ///< of the file; identity.c leaves them out: what they act on is in the model
    int parameter_count, parameter_capacity;
    model_output *outputs;
    int output_count, output_capacity, output_columns; ///< columns: numbers of all outputs
    name_table output_names;
    hn_run_options run;
    model_setting *run_settings; ///< further ones by name; the name is that of the table in simulation/options.c
    int run_setting_count, run_setting_capacity;
    char *text; ///< source text, NULL when built by calls
    size_t text_length;
    char *source; ///< file it was read from, or what stands for it in messages; NULL when built by calls
};

/// Index of a body id in the model, BODY_GROUND for the ground, or -2 when the id is not of this model.
int model_body_index(const hn_model *model, hn_body_id body);
/// Index of a joint id in the model, or -1 when the id is not of this model.
int model_joint_index(const hn_model *model, hn_joint_id joint);

/// A number that changes with anything in the model that a simulation depends on (identity.c).
uint64_t model_identity(const hn_model *model);

/// How fast a velocity leads out of the plane of a planar point mass; 0 within round-off, and of other bodies.
double model_speed_across(const model_body *body, hn_vec3 velocity);
/// Does a body have an orientation?
static inline bool model_has_directors(const model_body *body)
{
    return body->kind == HN_BODY_RIGID || body->kind == HN_BODY_BEAM_NODE;
}

/// Index of a beam id, or -1.
int model_beam_index(const hn_model *model, hn_beam_id beam);

/// The node of a beam that a name like "BEAM.tip" means, as a body index, or -1 (beams.c).
int model_find_node(const hn_model *model, const char *name);

/// Name of a body index for messages; BODY_GROUND gives "ground".
const char *model_body_index_name(const hn_model *model, int index);

/// Body-frame coordinates of a world place at the start, and back; BODY_GROUND's frame is the world frame.
hn_vec3 model_point_to_body(const hn_model *model, int body, hn_vec3 world);
hn_vec3 model_point_to_world(const hn_model *model, int body, hn_vec3 local);
/// The same for directions.
hn_vec3 model_direction_to_body(const hn_model *model, int body, hn_vec3 world);
hn_vec3 model_direction_to_world(const hn_model *model, int body, hn_vec3 local);

/// Check that a tensor can be the inertia of a rigid body: symmetric, positive semidefinite, triangle inequality on the
/// principal moments. `body_name` stands in the message.
hn_status model_check_inertia(hn_context *context, const char *body_name, const hn_mat3 *inertia);

/// Check that a matrix is a right-handed rotation. `owner` stands in the message, e.g. "body 'link'".
hn_status model_check_rotation(hn_context *context, const char *owner, const hn_mat3 *rotation);

/// A point mass has one point only: check that `point` (its frame) is there within round-off and make it exactly so.
/// Other bodies pass. `kind` and `name` stand in the message ("joint", "rod").
hn_status model_settle_point_mass(const hn_model *model, const char *kind, const char *name, int body, hn_vec3 *point);

/// Check the sizes of a shape. `owner` stands in the message.
hn_status model_check_shape(hn_context *context, const char *owner, const hn_shape *shape);

/// Centroid of a shape in its own frame.
hn_vec3 shape_centroid(const hn_shape *shape);

/// Copy of `name` for element number `index` of a kind ("body", ...), checked to be usable and not taken; NULL gives
/// the kind and a number. On success the caller owns `*copy`.
hn_status model_new_name(hn_context *context, const name_table *table, const char *kind, const char *name, int index,
                         char **copy);

/// The coupling that comes with a joint with a thread: what would speak against it, and adding it.
hn_status model_check_thread(const hn_model *model, const char *name, double pitch);
hn_status model_add_thread(hn_model *model, hn_joint_id joint);
/// Where a coordinate of a joint starts as far as it was said: tells the whole turns of an angle; otherwise 0.
static inline double model_start_turn(const model_joint *j, int coordinate)
{
    return (j->given >> coordinate & 1U) != 0U ? j->coordinates[coordinate] : 0.0;
}
/// Give rates of the start to joints where couplings say them and nothing else does.
void model_follow_couplings(hn_model *model);

/// Unit of an output's numbers.
const char *model_output_unit(const hn_model *model, int index);
/// The output that a number belongs to, and "x", "y", "z" or NULL; -1: none.
int model_output_of_column(const hn_model *model, int column, const char **component);
/// Release what an output owns.
void model_output_clear(hn_context *context, model_output *output);

/// What goes wrong with a drive in substeps back in time: completes "substeps back in time, which "; NULL: nothing.
const char *drive_without_way_back(const hn_drive_def *def);
/// A servo with an integral gain whose target changes with time.
bool servo_integrates_a_path(const hn_drive_def *def);
/// A free joint has a place that drives and couplings act on from the ground to a body alone. `kind`, `name`: whose.
hn_status model_check_place(const hn_model *model, const char *kind, const char *name, const model_joint *joint);
/// Release what a drive owns.
void model_drive_clear(hn_context *context, model_drive *drive);

/// Let the message of a failure on `context` begin with file, line and column of the first body, joint or load that it
/// names, or with the file when it names none. A model that was built by calls leaves it as it is. Returns `status`.
hn_status model_place_message(hn_context *context, const hn_model *model, hn_status status);

/// Remember a parameter of the file with its value, and its unit as far as it is known.
hn_status model_add_parameter(hn_model *model, const char *name, double value, const signed char unit[4]);
/// Give a model the text it was read from (copied).
hn_status model_set_text(hn_model *model, const char *text, size_t length, const char *source);

#endif
