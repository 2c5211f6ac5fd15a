// SPDX-License-Identifier: MIT
// From a model to a system: principal axes, spanning tree, joints seen from the tree, elements, start poses.
#include "system/system.h"

#include "model/inertia.h"
#include "model/profiles.h"
#include "system/close_loops.h"
#include "system/couplings.h"
#include "system/graph.h"
#include "system/mass.h"

#include <string.h>

const double GROUND_POSE[POSE_SIZE] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

// Start positions off by less than this (m over the model's length, rad) are taken as exact.
static const double START_ROUND_OFF = 1e-13;
static const double START_CLOSED = 1e-10; // rad, m over the length: loops after they were closed
enum { SETTLE_SWEEPS = 4 };

void *system_allocate(hn_system *system, size_t size)
{
    return pool_take(&system->memory, size, 1);
}

void system_destroy(hn_system *system)
{
    if (system == NULL) return;
    for (int i = 0; i < system->element_count; ++i)
        profile_release(system->context, &system->profiles[i]);
    for (int i = 0; i < 3 * system->drive_count; ++i)
        profile_release(system->context, &system->law_functions[i]);
    pool_release(&system->memory);
    context_release(system->context, system);
}

// ---- bodies -----------------------------------------------------------------------------------------

// Directors lie along the principal axes of inertia; a tensor that is diagonal already keeps the user's axes.
static void compile_body(hn_system *system, const model_body *from, int index, int model_index)
{
    system_body *body = &system->bodies[index];
    double *inertia = system->inertia + 4 * (size_t)index;
    double *q = system->q_start + POSE_SIZE * (size_t)index;
    memcpy(q, GROUND_POSE, sizeof GROUND_POSE);
    body->kind = from->kind;
    body->model_index = model_index;
    body->has_directors = model_has_directors(from);
    body->coordinate_count = body->has_directors ? 12 : from->kind == HN_BODY_POINT_MASS ? 3 : 2;
    body->internal_count = body->has_directors ? INTERNAL_ROWS : 0;
    body->user_axes = mat3_identity();
    for (int k = 0; k < 3; ++k)
        body->plane[k] = vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
    inertia[0] = from->mass;
    hn_vec3 center = vec3_add(from->position, mat3_apply(&from->orientation, from->center_of_mass));
    vec3_store(center, q);
    if (from->kind == HN_BODY_PLANAR_POINT_MASS) {
        body->plane[2] = from->plane_normal;
        body->plane[0] = vec3_perpendicular(from->plane_normal);
        body->plane[1] = vec3_cross(from->plane_normal, body->plane[0]);
    }
    if (!body->has_directors) return;
    if (from->kind == HN_BODY_BEAM_NODE) {
        // the section's own axes
        memcpy(inertia, from->node_inertia, sizeof from->node_inertia);
        for (int k = 0; k < 3; ++k) vec3_store(mat3_column(&from->orientation, k), q + 3 + 3 * k);
        settle_directors(vec3(0.0, 0.0, 0.0), q);
        return;
    }
    hn_vec3 principal;
    hn_mat3 axes;
    inertia_principal(&from->inertia, &principal, &axes);
    const double moments[3] = {principal.x, principal.y, principal.z};
    // E_I = (tr J)/2 - J_I (BL 158); flat bodies have one at zero, where round-off must not make it negative
    double half_trace = 0.5 * (moments[0] + moments[1] + moments[2]);
    for (int k = 0; k < 3; ++k) {
        double euler = half_trace - moments[k];
        inertia[1 + k] = euler > 1e-14 * half_trace ? euler : 0.0;
    }
    hn_mat3 directors = mat3_multiply(&from->orientation, &axes);
    for (int k = 0; k < 3; ++k) vec3_store(mat3_column(&directors, k), q + 3 + 3 * k);
    settle_directors(vec3(0.0, 0.0, 0.0), q);
    body->user_axes = mat3_transpose(&axes);
}

// a vector of the user's body frame in directors
static hn_vec3 in_directors(const hn_system *system, int body, hn_vec3 x)
{
    return body < 0 ? x : mat3_apply(&system->bodies[body].user_axes, x);
}

// a point of the user's body frame relative to the centre of mass, in directors
static hn_vec3 point_in_directors(const hn_system *system, const hn_model *model, int body,
                                  hn_vec3 x)
{
    if (body < 0) return x;
    hn_vec3 center = model->bodies[system->bodies[body].model_index].center_of_mass;
    return mat3_apply(&system->bodies[body].user_axes, vec3_subtract(x, center));
}

// ---- joints -----------------------------------------------------------------------------------------

static bool is_point(const hn_system *system, int body)
{
    return body >= 0 && !system->bodies[body].has_directors;
}

static int joint_dof(const hn_system *system, const joint *j)
{
    int dof = joint_type_of(j->kind)->dof;
    if (!is_point(system, j->child)) return dof;
    if (system->bodies[j->child].kind == HN_BODY_PLANAR_POINT_MASS)
        return dof - 4; // free 2, distance 1
    return dof - 3;
}

static void set_child_kind(const hn_system *system, joint *j)
{
    j->point_child = is_point(system, j->child);
    j->plane_child = j->point_child && system->bodies[j->child].kind == HN_BODY_PLANAR_POINT_MASS;
    if (j->plane_child)
        for (int k = 0; k < 3; ++k) j->a[k] = system->bodies[j->child].plane[k];
}

// The joint with a and b as the rows want them. One whose rows are not symmetric in its bodies at a midpoint keeps its
// sides: they are carried by the ground or by the body whose name sorts first, so that neither the order of
// bodies in a file nor that in a joint changes the motion.
static void compile_report(hn_system *system, const hn_model *model, const tree *t, int index)
{
    const model_joint *from = &model->joints[index];
    system_joint *report = &system->reports[index];
    joint *j = &report->rows;
    *j = (joint){.kind = from->kind, .length = from->length, .model_joint = index};
    j->parent = from->body_a < 0 ? GROUND : t->place[from->body_a];
    j->child = from->body_b < 0 ? GROUND : t->place[from->body_b];
    j->rho_a = point_in_directors(system, model, j->parent, from->point_a);
    j->rho_b = point_in_directors(system, model, j->child, from->point_b);
    for (int k = 0; k < 3; ++k) {
        j->a[k] = in_directors(system, j->parent, mat3_column(&from->frame_a, k));
        j->b[k] = in_directors(system, j->child, mat3_column(&from->frame_b, k));
    }
    j->row_count = joint_type_of(from->kind)->row_count;
    report->tree_body = report->thread = report->pair = -1;
    if (joint_has_two_angles(from->kind))
        report->pair = model->joint_count + 2 * system->pair_count++;
    report->rows_swapped = false;
    const joint_type *type = joint_type_of(from->kind);
    if (type->keeps_sides && !type->sides_differ && from->body_a >= 0 &&
        (from->body_b < 0 ||
         strcmp(model->bodies[from->body_b].name, model->bodies[from->body_a].name) < 0)) {
        joint_swap_sides(j);
        report->rows_swapped = true;
    }
}

// The tree joint of a body: the reported joint turned so that its b is the child, or a free one.
static void compile_tree_joint(hn_system *system, const tree *t, int body)
{
    joint *j = &system->joints[body];
    if (t->joint[body] < 0) {
        *j = (joint){.kind = HN_JOINT_FREE,
                     .parent = t->parent[body], // GROUND, or the other end of an elastic edge
                     .child = body,
                     .model_joint = -1};
        for (int k = 0; k < 3; ++k)
            j->a[k] = j->b[k] = vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
    } else {
        system_joint *report = &system->reports[t->joint[body]];
        report->tree_body = body;
        *j = report->rows;
        if (j->child != body) {
            if (joint_type_of(j->kind)->keeps_sides) {
                // the rows stay with their body, which is the child here
                int other = j->parent;
                j->parent = j->child;
                j->child = other;
                j->child_is_a = true;
            } else {
                joint_swap_sides(j);
                j->swapped = true;
            }
        }
    }
    set_child_kind(system, j);
    j->dof = joint_dof(system, j);
}

// A free joint between the ground and the root of a component stands for that root's own: it may carry its start rates.
static hn_status attach_free_joint(hn_system *system, const hn_model *model, int index)
{
    system_joint *report = &system->reports[index];
    const joint *rows = &report->rows;
    int body = rows->parent < 0 ? rows->child : rows->parent;
    bool to_ground = rows->parent < 0 || rows->child < 0;
    if (to_ground && system->joints[body].kind == HN_JOINT_FREE &&
        system->joints[body].model_joint < 0) {
        system->joints[body].model_joint = index;
        system->joints[body].swapped = rows->parent >= 0;
        report->tree_body = body;
        // its rates are those against the ground
        if (model->joints[index].has_rates) system->carried[body] = false;
        return HN_OK;
    }
    if (model->joints[index].has_rates)
        return context_fail(system->context, HN_INVALID_MODEL,
                            "joint '%s': rates of a free joint count only between the ground and a "
                            "body that no other "
                            "joint holds; give the body's velocity instead",
                            report->name);
    return HN_OK;
}

// ---- elements ---------------------------------------------------------------------------------------

static void set_point(double *coefficients, double sign, hn_vec3 local)
{
    coefficients[0] = sign;
    coefficients[1] = sign * local.x;
    coefficients[2] = sign * local.y;
    coefficients[3] = sign * local.z;
}

// Where an element sits in the tree.
static void place_element(hn_system *system, int index)
{
    const element *e = &system->elements[index];
    system->element_edge[index] = -1;
    if (e->a < 0 || e->b < 0 || e->a == e->b) {
        system->places[index] = PLACE_ONE_BODY;
    } else if (system->parent[e->a] == e->b || system->parent[e->b] == e->a) {
        system->places[index] = PLACE_EDGE;
        system->element_edge[index] = system->parent[e->a] == e->b ? e->a : e->b;
    } else {
        system->places[index] = PLACE_ELSEWHERE;
    }
}

static hn_status compile_force(hn_system *system, const hn_model *model, const tree *t,
                               const model_load *from, element *e)
{
    ptrdiff_t index = e - system->elements;
    e->kind = from->kind == LOAD_FORCE ? ELEMENT_FORCE : ELEMENT_TORQUE;
    e->b = t->place[from->body_a];
    e->body_fixed = from->body_fixed;
    e->vector = from->body_fixed ? in_directors(system, e->b, from->vector) : from->vector;
    set_point(e->link + 4, 1.0, point_in_directors(system, model, e->b, from->point_a));
    e->profile = &system->profiles[index];
    return profile_copy(system->context, &from->profile, &system->profiles[index]);
}

// The two bodies of a load, and the link between its points on them.
static void place_ends(const hn_system *system, const hn_model *model, const tree *t,
                       const model_load *from, element *e)
{
    e->a = from->body_a < 0 ? GROUND : t->place[from->body_a];
    e->b = from->body_b < 0 ? GROUND : t->place[from->body_b];
    set_point(e->link, -1.0, point_in_directors(system, model, e->a, from->point_a));
    set_point(e->link + 4, 1.0, point_in_directors(system, model, e->b, from->point_b));
    e->stiffness = from->stiffness;
    e->damping = from->damping;
    e->rest = from->rest;
}

static hn_status compile_spring(hn_system *system, const hn_model *model, const tree *t,
                                const model_load *from, element *e)
{
    e->kind = ELEMENT_SPRING;
    place_ends(system, model, t, from, e);
    return HN_OK;
}

// Masses that differ by less are the same: the second body of the joint is taken.
static const double SAME_MASS = 1e-9; // relative

static double mass_of(const hn_system *system, const hn_model *model, int body)
{
    return body < 0 ? -1.0 : model->bodies[system->bodies[body].model_index].mass;
}

// Angles about the axis of a joint are measured by directions at right angles to it, parallel at zero. Which is no
// matter where poses are rotations. Within a step they are none, and the direction that is taken is seen at the order
// of its square: it is one of the heavier body, not of the world. `b_axis`: the axis in the directors of b.
static void refer_to_body(const hn_system *system, const hn_model *model, element *e,
                          hn_vec3 b_axis)
{
    double a = mass_of(system, model, e->a), b = mass_of(system, model, e->b);
    hn_vec3 b2 = vec3_cross(b_axis, e->b1), first = e->b1, second = b2, old = e->a1;
    if (a - b > SAME_MASS * a) first = e->a1, second = e->a2;
    hn_vec3 direction = vec3_perpendicular(vec3_cross(first, second));
    double c = vec3_dot(direction, first), s = vec3_dot(direction, second);
    e->a1 = vec3_add_scaled(vec3_scale(c, old), s, e->a2);
    e->a2 = vec3_add_scaled(vec3_scale(c, e->a2), -s, old);
    e->b1 = vec3_add_scaled(vec3_scale(c, e->b1), s, b2);
}

static hn_status compile_torsion_spring(hn_system *system, const hn_model *model, const tree *t,
                                        const model_load *from, element *e)
{
    (void)t;
    const joint *j = &system->reports[from->joint].rows;
    bool swapped = system->reports[from->joint].rows_swapped;
    e->joint = from->joint;
    e->kind = ELEMENT_TORSION_SPRING;
    e->a = swapped ? j->child : j->parent;
    e->b = swapped ? j->parent : j->child;
    e->a1 = swapped ? j->b[0] : j->a[0];
    e->a2 = swapped ? j->b[1] : j->a[1];
    e->b1 = swapped ? j->a[0] : j->b[0];
    refer_to_body(system, model, e, swapped ? j->a[2] : j->b[2]);
    e->stiffness = from->stiffness;
    e->damping = from->damping;
    e->rest = from->rest;
    e->angle = system->angle_count++;
    e->turns = true;
    return HN_OK;
}

static hn_status compile_bushing(hn_system *system, const hn_model *model, const tree *t,
                                 const model_load *from, element *e)
{
    bushing *own = system_allocate(system, sizeof *own);
    if (own == NULL) return HN_OUT_OF_MEMORY;
    e->kind = ELEMENT_BUSHING;
    place_ends(system, model, t, from, e);
    for (int k = 0; k < 3; ++k) {
        own->a[k] = in_directors(system, e->a, mat3_column(&from->frame_a, k));
        own->b[k] = in_directors(system, e->b, mat3_column(&from->frame_b, k));
    }
    memcpy(own->stiffness, from->stiffnesses, sizeof own->stiffness);
    memcpy(own->damping, from->dampings, sizeof own->damping);
    e->bushing = own;
    return HN_OK;
}

static hn_status compile_element(hn_system *system, const hn_model *model, const tree *t, int index)
{
    static hn_status (*const COMPILE[LOAD_KIND_COUNT])(hn_system *, const hn_model *, const tree *,
                                                       const model_load *, element *) = {
        [LOAD_FORCE] = compile_force,     [LOAD_TORQUE] = compile_force,
        [LOAD_SPRING] = compile_spring,   [LOAD_TORSION_SPRING] = compile_torsion_spring,
        [LOAD_BUSHING] = compile_bushing,
    };
    element *e = &system->elements[index];
    *e = (element){.name = e->name, .a = GROUND, .b = GROUND, .angle = -1, .mass_edge = -1};
    TRY(COMPILE[model->loads[index].kind](system, model, t, &model->loads[index], e));
    place_element(system, index);
    return HN_OK;
}

// ---- beams ------------------------------------------------------------------------------------------

// How far the elements of beams have come.
typedef struct beam_counts {
    int piece, extra,
        edge; // pieces of beams; elements, at the end of the list; edges of the mass matrix
} beam_counts;

// The section, and what an element of two nodes a and b of the reference shape would have.
static beam_element piece_of(const model_beam *from, int piece, const double *a, const double *b)
{
    double length = from->lengths[piece], measures[BEAM_STRAINS];
    beam_element beam = {.length = length, .weight = length, .damping = from->damping};
    for (int r = 0; r < BEAM_STRAINS; ++r)
        for (int c = 0; c < BEAM_STRAINS; ++c)
            beam.stiffness[r][c] =
                0.5 * (from->section.stiffness[r][c] + from->section.stiffness[c][r]);
    if (from->element == HN_BEAM_HELICAL) beam_make_helical(&beam);
    beam_measures(&beam, a, b, measures);
    memcpy(beam.rest, measures, sizeof beam.rest);
    for (int k = 0; k < 3; ++k) beam.turn[k] = length * measures[3 + k];
    return beam;
}

static void node_pose(const hn_model *model, int body, double *pose)
{
    const model_body *node = &model->bodies[body];
    vec3_store(node->position, pose);
    for (int c = 0; c < 3; ++c) vec3_store(mat3_column(&node->orientation, c), pose + 3 + 3 * c);
}

static void compile_two_nodes(hn_system *system, const hn_model *model, const tree *t,
                              const model_beam *from, int piece, beam_counts *count)
{
    int node = from->first_body + piece;
    double poses[2][POSE_SIZE], sixth = from->lengths[piece] / 6.0;
    beam_element *beam = &system->beam_elements[count->piece];
    for (int k = 0; k < 2; ++k) node_pose(model, node + k, poses[k]);
    *beam = piece_of(from, piece, poses[0], poses[1]);
    const double turning = beam->helical ? 0.0 : sixth;
    element *e = &system->elements[model->load_count + count->piece++];
    *e = (element){.kind = beam->helical ? ELEMENT_BEAM_HELICAL : ELEMENT_BEAM,
                   .a = t->place[node],
                   .b = t->place[node + 1],
                   .angle = -1,
                   .damping = from->damping,
                   .beam = beam,
                   .mass_edge = count->edge};
    system->mass_edges[count->edge++] =
        (mass_edge){.a = e->a,
                    .b = e->b,
                    .mass = {sixth * from->section.mass, turning * from->section.inertia[0],
                             turning * from->section.inertia[1], 0.0}};
}

// Three pairs of nodes: two pieces, and the ends with each other after all pieces.
static void compile_quadratic(hn_system *system, const hn_model *model, const tree *t,
                              const model_beam *from, int piece, beam_counts *count)
{
    static const int ENDS[3][2] = {{0, 1}, {1, 2}, {0, 2}}, THIRD[3] = {2, 0, 1};
    static const int EDGES[3][2] = {{1, 0}, {1, 2}, {0, 2}}; // the middle node is eliminated first
    int node = from->first_body + piece, group = model->load_count + count->piece;
    double poses[3][POSE_SIZE], mass[3][3];
    beam_element *points = &system->beam_elements[count->piece];
    for (int k = 0; k < 3; ++k) node_pose(model, node + k, poses[k]);
    model_quadratic_mass(from->lengths[piece], from->lengths[piece + 1], mass);
    for (int g = 0; g < 2; ++g) {
        double at = (g == 0 ? -1.0 : 1.0) / sqrt(3.0);
        points[g] = piece_of(from, piece + g, poses[g], poses[g + 1]);
        points[g].weight = model_quadratic_shape(from->lengths[piece], from->lengths[piece + 1], at,
                                                 points[g].shape, points[g].slope);
        beam_quadratic_measures(&points[g], poses[0], poses[1], poses[2], points[g].rest);
    }
    for (int p = 0; p < 3; ++p) {
        int index = p < 2 ? group + p : count->extra++;
        const double m = mass[EDGES[p][0]][EDGES[p][1]];
        system->elements[index] = (element){.kind = ELEMENT_BEAM_QUADRATIC,
                                            .a = t->place[node + ENDS[p][0]],
                                            .b = t->place[node + ENDS[p][1]],
                                            .angle = -1,
                                            .damping = from->damping,
                                            .beam = p < 2 ? points + p : NULL,
                                            .points = points,
                                            .pair = p,
                                            .third = t->place[node + THIRD[p]],
                                            .group = group,
                                            .mass_edge = count->edge};
        system->mass_edges[count->edge++] =
            (mass_edge){.a = t->place[node + EDGES[p][0]],
                        .b = t->place[node + EDGES[p][1]],
                        .mass = {m * from->section.mass, m * from->section.inertia[0],
                                 m * from->section.inertia[1], 0.0}};
    }
    count->piece += 2;
}

// The elements of all beams, after the loads, each with its block of the mass matrix.
static void compile_beams(hn_system *system, const hn_model *model, const tree *t)
{
    beam_counts count = {.extra = model->load_count};
    for (int i = 0; i < model->beam_count; ++i) count.extra += model->beams[i].element_count;
    for (int i = 0; i < model->beam_count; ++i) {
        const model_beam *from = &model->beams[i];
        system->beam_first[i] = model->load_count + count.piece;
        for (int k = 0; k < from->element_count; k += from->order)
            (from->order == 2 ? compile_quadratic : compile_two_nodes)(system, model, t, from, k,
                                                                       &count);
    }
    system->beam_first[model->beam_count] = model->load_count + count.piece;
    system->element_count = count.extra;
    system->mass_edge_count = count.edge;
    for (int k = model->load_count; k < system->element_count; ++k) place_element(system, k);
}

// A drive on a coordinate of a joint, seen from the user's body a. Of two turns about axes at right angles, each is the
// angle of the other's axis: the second one seen from b.
static void place_drive(const hn_system *system, const hn_model *model, int coordinate, element *e,
                        drive_law *law)
{
    const joint *j = &system->reports[e->joint].rows;
    bool swapped = system->reports[e->joint].rows_swapped;
    const hn_vec3 *frame_a = swapped ? j->b : j->a, *frame_b = swapped ? j->a : j->b;
    e->a = swapped ? j->child : j->parent;
    e->b = swapped ? j->parent : j->child;
    e->a1 = frame_a[0], e->a2 = frame_a[1], e->b1 = frame_b[0];
    law->sign = 1.0;
    if (e->rotation) {
        e->b_axis = frame_b[2];
        return;
    }
    coordinate_axis axis = joint_type_of(j->kind)->axes[coordinate];
    e->turns = coordinate == joint_angle_place(j->kind);
    e->displacement = !axis.turning;
    if (e->displacement) {
        e->a1 = frame_a[axis.axis];
        set_point(e->link, -1.0, swapped ? j->rho_b : j->rho_a);
        set_point(e->link + 4, 1.0, swapped ? j->rho_a : j->rho_b);
    } else if (e->turns) {
        refer_to_body(system, model, e, frame_b[2]);
    } else if (axis.home == AXIS_OF_A) {
        e->b1 = frame_b[2];
    } else {
        int other = e->a;
        e->a = e->b, e->b = other;
        e->a1 = frame_b[0], e->a2 = frame_b[1], e->b1 = frame_a[2];
        law->sign = -1.0;
    }
}

static hn_status compile_drive(hn_system *system, const hn_model *model, int index)
{
    const model_drive *from = &model->drives[index];
    const hn_drive_def *def = &from->def;
    drive_law *law = &system->laws[index];
    hn_profile *functions = system->law_functions + 3 * (size_t)index;
    element *e = &system->elements[system->drive_first + index];
    *e = (element){.kind = ELEMENT_DRIVE,
                   .name = law->name,
                   .joint = from->joint,
                   .angle = system->angle_count,
                   .stiffness = def->kind == HN_DRIVE_STOP ? 0.0 : def->stiffness,
                   .damping = def->kind == HN_DRIVE_STOP ? 0.0 : def->damping,
                   .rest = def->rest,
                   .rotation = from->of_path,
                   .law = law,
                   .mass_edge = -1};
    *law = (drive_law){.kind = def->kind,
                       .name = law->name,
                       .coordinate = def->coordinate,
                       .path_row = from->path_row,
                       .path_axis = from->path_axis,
                       .function = &functions[0],
                       .scale = def->scale,
                       .held = (double)NAN,
                       .proportional = def->proportional,
                       .derivative = def->derivative,
                       .integral = def->integral,
                       .limit = def->limit,
                       .stall = def->stall,
                       .no_load = def->no_load,
                       .lower = def->lower,
                       .upper = def->upper,
                       .rigid = def->rigid,
                       .restitution = def->restitution,
                       .friction = def->friction,
                       .static_ratio = def->static_ratio,
                       .stribeck = def->stribeck,
                       .latch = def->latch,
                       .contact = def->kind == HN_DRIVE_STOP ? def->stiffness : 0.0,
                       .contact_damping = def->kind == HN_DRIVE_STOP ? def->damping : 0.0,
                       .armature = def->armature,
                       .law = def->law,
                       .law_user = def->law_user};
    system->angle_count += DRIVE_SLOTS;
    place_drive(system, model, def->coordinate, e, law);
    law->by_reaction = def->coefficient * (e->displacement ? 1.0 : def->radius);
    TRY(profile_copy(system->context, &def->function, &functions[0]));
    TRY(profile_copy(system->context, &def->spring_table, &functions[1]));
    TRY(profile_copy(system->context, &def->damper_table, &functions[2]));
    law->jumps = def->kind == HN_DRIVE_MOTION && profile_may_jump(&functions[0]);
    if (def->spring_table.kind != HN_PROFILE_CONSTANT) law->spring = &functions[1];
    if (def->damper_table.kind != HN_PROFILE_CONSTANT) law->damper = &functions[2];
    place_element(system, system->drive_first + index);
    return HN_OK;
}

// The efforts of couplings are held like those of motions, term by term.
static void compile_couplings(hn_system *system, const hn_model *model)
{
    drive_law *law = system->laws + model->drive_count;
    system->law_count = model->drive_count;
    system->coupling_count = model->coupling_count;
    for (int i = 0; i < model->coupling_count; ++i) {
        const model_coupling *from = &model->couplings[i];
        system_coupling *c = &system->couplings[i];
        c->first = system->element_count;
        c->term_count = from->term_count;
        if (from->kind == HN_COUPLING_SCREW) system->reports[from->joints[0]].thread = i;
        for (int k = 0; k < from->term_count; ++k, ++law) {
            element *e = &system->elements[system->element_count++];
            *e = (element){.kind = ELEMENT_DRIVE,
                           .name = c->name,
                           .joint = from->joints[k],
                           .angle = system->angle_count,
                           .law = law,
                           .mass_edge = -1};
            *law = (drive_law){.kind = HN_DRIVE_MOTION,
                               .coordinate = from->coordinates[k],
                               .held = (double)NAN,
                               .limit = HUGE_VAL};
            c->factors[k] = from->factors[k];
            system->angle_count += DRIVE_SLOTS;
            system->law_count++;
            place_drive(system, model, from->coordinates[k], e, law);
            place_element(system, system->element_count - 1);
        }
    }
}

// Coordinates that laws act on, each with one number
static void number_coordinates(hn_system *system)
{
    for (int i = 0; i < system->law_count; ++i) {
        int own = system->elements[system->drive_first + i].joint, other = 0;
        while (other < i && (system->elements[system->drive_first + other].joint != own ||
                             system->laws[other].coordinate != system->laws[i].coordinate))
            ++other;
        system->laws[i].column = other < i ? system->laws[other].column : system->column_count++;
    }
}

// Where the relations stand at the start.
static void start_couplings(hn_system *system)
{
    for (int i = 0; i < system->coupling_count; ++i) {
        system_coupling *c = &system->couplings[i];
        for (int k = 0; k < c->term_count; ++k) {
            const element *e = &system->elements[c->first + k];
            c->start += c->factors[k] * e->law->sign * system->angle_start[e->angle];
        }
    }
}

static hn_status compile_drives(hn_system *system, const hn_model *model)
{
    system->drive_first = system->element_count;
    for (int i = 0; i < model->drive_count; ++i) {
        system->drive_count = i + 1;
        system->element_count = system->drive_first + i + 1;
        TRY(compile_drive(system, model, i));
    }
    return HN_OK;
}

// ---- start poses ------------------------------------------------------------------------------------

static void settle_tree(hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        const joint *j = &system->joints[i];
        const joint_type *type = joint_type_of(j->kind);
        joint_step step = {0};
        double *q = system->q_start + POSE_SIZE * (size_t)i;
        const double *parent = system_pose(system->q_start, j->parent);
        type->begin(j, parent, q, &step);
        type->settle(j, &step, parent, q);
    }
}

static hn_status start_positions(hn_system *system, double start_tolerance)
{
    constraint_check check = system_check_constraints(system, system->q_start);
    double off = check.relative;
    const char *name = check.worst_joint < 0 ? "" : system->reports[check.worst_joint].name;
    if (off > start_tolerance)
        return context_fail(
            system->context, HN_INVALID_MODEL,
            "joint '%s': the start positions violate it by %.3g m and %.3g rad, more than the "
            "tolerance "
            "of %.3g rad, or %.3g m at the size of its bodies; move the bodies or the joint so "
            "that they meet, or let them be moved: 'start: assembled'",
            name, check.worst_opening, check.worst_misalignment, start_tolerance,
            start_tolerance * system_joint_size(system, &system->reports[check.worst_joint].rows));
    if (off > START_ROUND_OFF)
        system->position_projection = fmax(check.opening, check.misalignment);
    for (int sweep = 0; sweep < SETTLE_SWEEPS; ++sweep) settle_tree(system);
    if (off <= START_ROUND_OFF || system->cut_count == 0) return HN_OK;
    loop_closure closure;
    TRY(system_close_loops(system, NULL, 0, &closure));
    check = system_check_constraints(system, system->q_start);
    if (check.relative > START_CLOSED)
        return context_fail(
            system->context, HN_INVALID_MODEL,
            "joint '%s': the loop does not close, %.3g m and %.3g rad are left whichever way its "
            "joints move; give places and axes that fit",
            system->reports[check.worst_joint].name, check.worst_opening, check.worst_misalignment);
    return HN_OK;
}

// ---- all together -----------------------------------------------------------------------------------

// Joints that are not in the tree close loops: they are cut, and their constraints stay as equations.
static hn_status compile_cuts(hn_system *system, const tree *t)
{
    for (int k = 0; k < system->joint_count; ++k) {
        system->reports[k].cut = -1;
        if (!t->used[k] && system->reports[k].rows.kind != HN_JOINT_FREE)
            system->reports[k].cut = system->cut_count++;
    }
    system->loop_count = system->cut_count;
    system->cuts = system_allocate(system, (size_t)system->cut_count * sizeof(joint));
    system->cut_row = system_allocate(system, ((size_t)system->cut_count + 1) * sizeof(int));
    system->in_loop = system_allocate(system, (size_t)system->body_count * sizeof(bool));
    TRY(pool_status(&system->memory));
    int *next = context_allocate(system->context, ((size_t)system->body_count + 1) * sizeof(int));
    if (next == NULL) return HN_OUT_OF_MEMORY;
    // next[i]: nearest body at or above i whose tree joint is not known to lie on a loop
    for (int i = 0; i < system->body_count; ++i) next[i] = i;
    for (int k = 0; k < system->joint_count; ++k) {
        int cut = system->reports[k].cut;
        if (cut < 0) continue;
        const joint *rows = &system->reports[k].rows;
        system->cuts[cut] = *rows;
        system->cut_row[cut] = system->cut_row_count;
        system->cut_row_count += rows->row_count;
        // both ends climb until they meet; the larger tree index cannot be above the smaller one
        int a = rows->parent, b = rows->child;
        while (a != b) {
            int *deeper = a > b ? &a : &b;
            int top = *deeper;
            while (top >= 0 && next[top] != top) top = next[top];
            // compress the path walked
            for (int x = *deeper; x >= 0 && x != top;) {
                int up = next[x];
                next[x] = top < 0 ? GROUND : top;
                x = up;
            }
            if (top < 0) {
                *deeper = GROUND;
                continue;
            }
            if (top != *deeper) {
                *deeper = top;
                continue;
            }
            system->in_loop[top] = true;
            next[top] = system->parent[top];
            *deeper = system->parent[top];
        }
    }
    context_release(system->context, next);
    return HN_OK;
}

// offsets of coordinates and constraints: bodies in model order, then joints in model order
static void number_unknowns(hn_system *system, const tree *t)
{
    int coordinates = 0, constraints = 0, dof = 0;
    for (int i = 0; i < system->body_count; ++i) {
        system_body *body = &system->bodies[t->place[i]];
        body->coordinate_offset = coordinates;
        body->internal_offset = constraints;
        coordinates += body->coordinate_count;
        constraints += body->internal_count;
    }
    system->coordinate_count = coordinates;
    system->internal_count = constraints;
    for (int k = 0; k < system->joint_count; ++k) {
        system->reports[k].rows.row_offset = constraints;
        constraints += system->reports[k].rows.row_count;
        int cut = system->reports[k].cut;
        if (cut >= 0) system->cuts[cut].row_offset = system->reports[k].rows.row_offset;
    }
    system->constraint_count = constraints;
    for (int i = 0; i < system->body_count; ++i) {
        joint *j = &system->joints[i];
        if (j->model_joint >= 0) {
            j->row_count = system->reports[j->model_joint].rows.row_count;
            j->row_offset = system->reports[j->model_joint].rows.row_offset;
        }
        system->dof_offset[i] = dof;
        dof += j->dof;
    }
    system->dof = dof;
}

static hn_status copy_names(hn_system *system, const hn_model *model, const tree *t)
{
    size_t size = strlen(model->name) + 1;
    for (int i = 0; i < model->body_count; ++i) size += strlen(model->bodies[i].name) + 1;
    for (int k = 0; k < model->joint_count; ++k) size += strlen(model->joints[k].name) + 1;
    for (int k = 0; k < model->load_count; ++k) size += strlen(model->loads[k].name) + 1;
    for (int k = 0; k < model->drive_count; ++k) size += strlen(model->drives[k].name) + 1;
    for (int k = 0; k < model->coupling_count; ++k) size += strlen(model->couplings[k].name) + 1;
    char *text = system_allocate(system, size);
    if (text == NULL) return HN_OUT_OF_MEMORY;
    system->name = strcpy(text, model->name);
    text += strlen(text) + 1;
    for (int i = 0; i < model->body_count; ++i) {
        system->bodies[t->place[i]].name = strcpy(text, model->bodies[i].name);
        text += strlen(text) + 1;
    }
    for (int k = 0; k < model->joint_count; ++k) {
        system->reports[k].name = strcpy(text, model->joints[k].name);
        text += strlen(text) + 1;
    }
    for (int k = 0; k < model->load_count; ++k) {
        system->elements[k].name = strcpy(text, model->loads[k].name);
        text += strlen(text) + 1;
    }
    for (int k = 0; k < model->drive_count; ++k) {
        system->laws[k].name = strcpy(text, model->drives[k].name);
        text += strlen(text) + 1;
    }
    for (int k = 0; k < model->coupling_count; ++k) {
        system->couplings[k].name = strcpy(text, model->couplings[k].name);
        text += strlen(text) + 1;
    }
    return HN_OK;
}

// Does a joint resist the spin of a body about `line`?
static bool joint_holds_spin(const joint *j, int body, hn_vec3 line, const double *q)
{
    for (int r = 0; r < j->row_count; ++r) {
        hn_vec3 gradient[8];
        double wrench[TWIST_SIZE];
        int side = j->parent == body ? 0 : 1;
        const constraint_row row = joint_row(j, r);
        row_gradient(&row, system_pose(q, j->parent), system_pose(q, j->child), gradient);
        vectors_to_wrench(system_pose(q, body), gradient + 4 * side, wrench);
        hn_vec3 moment = vec3_load(wrench + 3), force = vec3_load(wrench);
        double arm = vec3_norm(side == 0 ? j->rho_a : j->rho_b);
        if (fabs(vec3_dot(line, moment)) > 1e-9 * (vec3_norm(moment) + arm * vec3_norm(force)))
            return true;
    }
    return false;
}

// A body without inertia about its own line must be held by its joints there: otherwise nothing says how it spins.
static hn_status check_rods(const hn_system *system)
{
    hn_status status = HN_OK;
    const double *q = system->q_start;
    bool *held = context_allocate(system->context, ((size_t)system->body_count + 1) * sizeof(bool));
    if (held == NULL) return HN_OUT_OF_MEMORY;
    for (int i = 0; i < system->body_count; ++i) held[i] = !system_body_is_rod(system, i);
    for (int k = 0; k < 2 * system->joint_count; ++k) {
        const joint *j = &system->reports[k / 2].rows;
        int body = k % 2 == 0 ? j->parent : j->child;
        if (body < 0 || held[body]) continue;
        const double *e = mass_node(system, body) + 1;
        int along = e[0] > e[1] && e[0] > e[2] ? 0 : e[1] > e[2] ? 1 : 2;
        held[body] =
            joint_holds_spin(j, body, vec3_load(system_pose(q, body) + 3 * (along + 1)), q);
    }
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        if (e->angle < 0 || e->displacement) continue; // no torsional spring
        if (e->a >= 0) held[e->a] = true;
        if (e->b >= 0) held[e->b] = true;
    }
    for (int i = 0; i < system->body_count && status == HN_OK; ++i)
        if (!held[i])
            status = context_fail(
                system->context, HN_INVALID_MODEL,
                "body '%s': it has no inertia about its own line, and its joints let it spin "
                "there; give it a small moment of inertia, or make it a point mass",
                system->bodies[i].name);
    context_release(system->context, held);
    return status;
}

// A force and a torque on every body; a point takes the first alone.
static void compile_inputs(hn_system *system)
{
    static const hn_profile always = {.kind = HN_PROFILE_CONSTANT};
    for (int i = 0; i < system->body_count; ++i) {
        system->input_first[i] = system->element_count;
        for (int k = 0; k < (system->bodies[i].has_directors ? 2 : 1); ++k) {
            element *e = &system->elements[system->element_count];
            *e = (element){.kind = k == 0 ? ELEMENT_FORCE : ELEMENT_TORQUE,
                           .name = system->bodies[i].name,
                           .a = GROUND,
                           .b = i,
                           .profile = &always,
                           .input = true,
                           .angle = -1,
                           .mass_edge = -1};
            e->link[4] = 1.0; // the centre of mass
            place_element(system, system->element_count++);
        }
    }
}

// Everything but the start.
static hn_status compile(hn_system *system, const hn_model *model, tree *t)
{
    size_t n = (size_t)model->body_count, m = (size_t)model->joint_count,
           beams = (size_t)model->beam_count, beam_elements = 0;
    size_t extras = 0, drives = (size_t)model->drive_count;
    for (size_t i = 0; i < beams; ++i) {
        beam_elements += (size_t)model->beams[i].element_count;
        if (model->beams[i].order == 2) extras += (size_t)model->beams[i].element_count / 2;
    }
    size_t couplings = (size_t)model->coupling_count, terms = 0;
    for (size_t i = 0; i < couplings; ++i) terms += (size_t)model->couplings[i].term_count;
    size_t loads = (size_t)model->load_count + beam_elements + extras + drives + terms +
                   (system->has_inputs ? 2 * n : 0);
    system->input_first = system_allocate(system, n * sizeof(int));
    system->beam_count = model->beam_count;
    system->beam_first = system_allocate(system, (beams + 1) * sizeof(int));
    system->beam_elements = system_allocate(system, beam_elements * sizeof(beam_element));
    system->mass_edges = system_allocate(system, (beam_elements + extras) * sizeof(mass_edge));
    system->inertia = system_allocate(system, 4 * n * sizeof(double));
    system->parent = system_allocate(system, n * sizeof(int));
    system->mechanism = system_allocate(system, (5 * n + 1) * sizeof(int));
    system->velocities = system_allocate(system, n * sizeof(start_velocities));
    system->sizes = system_allocate(system, 3 * n * sizeof(double));
    system->dof_offset = system_allocate(system, n * sizeof(int));
    system->joints = system_allocate(system, n * sizeof(joint));
    system->bodies = system_allocate(system, n * sizeof(system_body));
    system->reports = system_allocate(system, m * sizeof(system_joint));
    system->elements = system_allocate(system, loads * sizeof(element));
    system->places = system_allocate(system, loads * sizeof(element_place));
    system->element_edge = system_allocate(system, loads * sizeof(int));
    system->profiles = system_allocate(system, loads * sizeof(hn_profile));
    system->q_start = system_allocate(system, POSE_SIZE * n * sizeof(double));
    system->twist_start = system_allocate(system, TWIST_SIZE * n * sizeof(double));
    system->angle_start =
        system_allocate(system, (loads + DRIVE_SLOTS * (drives + terms)) * sizeof(double));
    system->turn_start = system_allocate(system, m * sizeof(double));
    system->laws = system_allocate(system, (drives + terms) * sizeof(drive_law));
    system->couplings = system_allocate(system, couplings * sizeof(system_coupling));
    system->law_functions = system_allocate(system, 3 * drives * sizeof(hn_profile));
    t->order = system_allocate(system, n * sizeof(int));
    t->place = system_allocate(system, n * sizeof(int));
    system->tree_place = t->place;
    t->parent = system->parent;
    t->joint = system_allocate(system, n * sizeof(int));
    t->used = system_allocate(system, m * sizeof(bool));
    t->carried = system->carried = system_allocate(system, n * sizeof(bool));
    TRY(pool_status(&system->memory));
    TRY(tree_find(system->context, model, t));
    memcpy(system->alike, t->alike, sizeof t->alike);
    TRY(copy_names(system, model, t));
    for (int i = 0; i < model->body_count; ++i)
        compile_body(system, &model->bodies[t->order[i]], i, t->order[i]);
    for (int k = 0; k < model->joint_count; ++k) compile_report(system, model, t, k);
    TRY(compile_cuts(system, t));
    for (int i = 0; i < model->body_count; ++i) compile_tree_joint(system, t, i);
    for (int k = 0; k < model->joint_count; ++k)
        if (model->joints[k].kind == HN_JOINT_FREE) TRY(attach_free_joint(system, model, k));
    for (int i = 0; i < model->load_count; ++i) {
        system->element_count = i + 1;
        TRY(compile_element(system, model, t, i));
    }
    compile_beams(system, model, t);
    TRY(compile_drives(system, model));
    compile_couplings(system, model);
    if (system->has_inputs) compile_inputs(system);
    TRY(mass_prepare_edges(system));
    number_unknowns(system, t);
    system_find_sizes(system);
    return HN_OK;
}

// Angles at the start: as poses have them, with the whole turns that were given.
static void start_angles(hn_system *system, const hn_model *model)
{
    for (int k = 0; k < system->joint_count; ++k) {
        int place = joint_angle_place(system->reports[k].rows.kind);
        if (place >= 0) system->turn_start[k] = model_start_turn(&model->joints[k], place);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (e->angle < 0) continue;
        double near = e->turns ? system->turn_start[e->joint] : 0.0;
        if (!e->turns && !e->rotation)
            near = e->law->sign * model_start_turn(&model->joints[e->joint], e->law->coordinate);
        system->angle_start[e->angle] = element_angle(e, system_pose(system->q_start, e->a),
                                                      system_pose(system->q_start, e->b), near);
    }
}

static hn_status compile_start(hn_system *system, const hn_model *model, double start_tolerance)
{
    TRY(start_positions(system, start_tolerance));
    TRY(check_rods(system));
    start_angles(system, model);
    start_couplings(system);
    number_coordinates(system);
    TRY(couplings_find_dependent(system));
    return system_start_velocities(system, model, start_tolerance);
}

// Every rate that an element damps has a place of its own.
static void number_damped_rates(hn_system *system)
{
    for (int i = 0; i < system->element_count; ++i) {
        element *e = &system->elements[i];
        int count = element_damped_count(e);
        e->damped = count > 0 ? system->damped_count : -1;
        system->damped_count += count;
    }
    // the three pairs of a quadratic beam have those of the first
    for (int i = 0; i < system->element_count; ++i) {
        element *e = &system->elements[i];
        if (e->points != NULL) e->damped = system->elements[e->group].damped;
    }
}

static hn_status create_parts(hn_context *context, const hn_model *model, bool inputs,
                              hn_system **out)
{
    *out = NULL;
    if (model->body_count == 0)
        return context_fail(context, HN_INVALID_MODEL, "model '%s' has no bodies", model->name);
    hn_system *system = context_allocate(context, sizeof *system);
    if (system == NULL) return HN_OUT_OF_MEMORY;
    system->context = system->memory.context = context;
    system->has_inputs = inputs;
    system->body_count = model->body_count;
    system->joint_count = model->joint_count;
    system->output_columns = model->output_columns;
    system->gravity = model->gravity;
    tree t = {0};
    hn_status status = compile(system, model, &t);
    if (status != HN_OK) {
        system_destroy(system);
        return status;
    }
    number_damped_rates(system);
    *out = system;
    return HN_OK;
}

hn_status system_create_drawn(hn_context *context, const hn_model *model, hn_system **out)
{
    return create_parts(context, model, false, out);
}

hn_status system_create(hn_context *context, const hn_model *model, double start_tolerance,
                        bool inputs, hn_system **out)
{
    *out = NULL;
    if (model->assembly_pending)
        return context_fail(context, HN_INVALID_MODEL,
                            "model '%s' has joint coordinates or bodies without a place that wait "
                            "for hn_model_assemble",
                            model->name);
    TRY(create_parts(context, model, inputs, out));
    hn_status status = compile_start(*out, model, start_tolerance);
    if (status == HN_OK) return HN_OK;
    system_destroy(*out);
    *out = NULL;
    return status;
}
