// SPDX-License-Identifier: MIT
// A model as plain data, from which it is built and which can be turned, scaled, renamed: definitions as the library
// takes them, with places in the plan where those have ids and pointers.
#ifndef TESTS_HUNTER_PLAN_H
#define TESTS_HUNTER_PLAN_H

#include <holonom/model.h>

enum {
    PLAN_BODIES = 28,
    PLAN_JOINTS = 40,
    PLAN_ELEMENTS = 40, // of each kind: loads, springs, drives, ...
    PLAN_NAME = 24,
    PLAN_TABLE = 8,
    PLAN_MECHANISMS = 4,
    PLAN_GROUND = -1,
    PLAN_TEXT = 200,
};

/// Forms of expressions, in the rate W (1/s) and the time T (s) of a function.
typedef enum plan_form {
    FORM_SINE,    ///< sin(W t)
    FORM_COSINE,  ///< 1 - cos(W t)
    FORM_HUMP,    ///< W t exp(-(W t)^2)
    FORM_CORNERS, ///< abs(sin(W t))
    FORM_RAMP,    ///< max(0, W (t - T))
    FORM_CHIRP,   ///< sin(W t + 0.3 sin(2 W t))
    FORM_SWITCH,  ///< t < T ? 0 : sin(W (t - T))
    FORM_LINEAR,  ///< W t
    FORM_COUNT,
} plan_form;

/// A function of time, or a table over a coordinate.
typedef struct plan_function {
    hn_profile_kind kind;
    double start, peak, end;
    int count;
    double times[PLAN_TABLE], factors[PLAN_TABLE];
    plan_form form;
    double rate, time;
} plan_function;

/// A body, or a node of a beam.
typedef struct plan_place {
    int body; ///< PLAN_GROUND: the ground
    int node; ///< of a beam
} plan_place;

/// A body or a beam.
typedef struct plan_body {
    bool beam;
    hn_body_def def;
    hn_beam_def row;
    hn_vec3 points[3]; ///< of a beam
    double tip_mass;   ///< kg, at the end of a beam; 0: none
    bool moves;        ///< start velocities are given
    hn_vec3 velocity, angular_velocity;
    int mechanism;
    double size; ///< m
} plan_body;

typedef struct plan_joint {
    hn_joint_def def;
    plan_place a, b;
    int rate_count; ///< 0: none are given
    double rates[HN_JOINT_COORDINATES_MAX];
    bool swapped; ///< its bodies, from what was drawn
} plan_joint;

typedef struct plan_load {
    hn_load_def def;
    plan_place body;
    plan_function function;
} plan_load;

typedef struct plan_line_load {
    hn_beam_load_def def;
    int beam;
    plan_function function;
} plan_line_load;

typedef struct plan_spring {
    hn_spring_def def;
    plan_place a, b;
} plan_spring;

typedef struct plan_torsion {
    hn_torsion_spring_def def;
    int joint;
} plan_torsion;

typedef struct plan_bushing {
    hn_bushing_def def;
    plan_place a, b;
} plan_bushing;

typedef struct plan_drive {
    hn_drive_def def;
    int joint;
    plan_function function, spring, damper;
} plan_drive;

typedef struct plan_rotation {
    hn_rotation_def def;
    int joint;
    plan_function functions[3];
} plan_rotation;

typedef struct plan_coupling {
    hn_coupling_def def;
    int joints[HN_COUPLING_TERMS_MAX];
} plan_coupling;

/// What a mechanism is measured by.
typedef struct plan_scale {
    double length, mass, rate; ///< m, kg, 1/s
    hn_vec3 origin;
    bool looped;
} plan_scale;

typedef struct plan {
    hn_vec3 gravity;
    char prefix; ///< of names
    bool reversed; ///< bodies, joints, loads, drives and couplings are added from the last to the first
    int body_count, joint_count, load_count, line_load_count, spring_count, torsion_count, bushing_count, drive_count,
        rotation_count, coupling_count, mechanism_count;
    plan_body bodies[PLAN_BODIES];
    plan_joint joints[PLAN_JOINTS];
    plan_load loads[PLAN_ELEMENTS];
    plan_line_load line_loads[PLAN_ELEMENTS];
    plan_spring springs[PLAN_ELEMENTS];
    plan_torsion torsions[PLAN_ELEMENTS];
    plan_bushing bushings[PLAN_ELEMENTS];
    plan_drive drives[PLAN_ELEMENTS];
    plan_rotation rotations[PLAN_ELEMENTS];
    plan_coupling couplings[PLAN_ELEMENTS];
    plan_scale mechanisms[PLAN_MECHANISMS];
} plan;

/// Where the parts of a plan are in its model.
typedef struct plan_ids {
    hn_body_id bodies[PLAN_BODIES]; ///< first node of a beam
    hn_beam_id beams[PLAN_BODIES];
    hn_joint_id joints[PLAN_JOINTS];
    int drives[PLAN_ELEMENTS], rotations[PLAN_ELEMENTS], couplings[PLAN_ELEMENTS]; ///< indices
} plan_ids;

/// Build it. @return HN_OK, or the status of the first part that was refused; `*model` is NULL then
hn_status plan_build(const plan *p, hn_context *context, hn_model **model, plan_ids *ids);

/// The profile of a function; `text` of PLAN_TEXT bytes, which an expression lives in.
hn_profile plan_profile(const plan_function *f, char *text);

/// Nodes of a beam, 1 of a body.
int plan_node_count(const plan_body *b);
/// Is a coordinate of this kind of joint an angle?
bool plan_is_angle(hn_joint_kind kind, int coordinate);
bool plan_is_point(const plan *p, plan_place at);
/// Mechanism of a joint.
int plan_joint_mechanism(const plan *p, int joint);
/// Does a drive that holds (motion, friction, latch, stop) act in it?
bool plan_has_holds(const plan *p);
/// A damper of any kind.
bool plan_has_dampers(const plan *p);
bool plan_has_beams(const plan *p);

/// Only one mechanism of it, in `out`.
void plan_extract(const plan *p, int mechanism, plan *out);

#endif
