// SPDX-License-Identifier: MIT
// Every mechanism has a length, a mass and a rate of its own and stands at a place that is near by its own measure.
// Joints are placed in the start configuration, so every loop closes there.
#include "hunter/random_machine.h"

#include "base/vector.h"

#include <string.h>

enum { TREE_BODIES = 5 };
static const plan_place GROUND = {PLAN_GROUND, 0};

static plan_body *body_of(const machine_maker *m, plan_place at)
{
    return &m->p->bodies[at.body];
}

double place_mass(const machine_maker *m, plan_place at)
{
    if (at.body == PLAN_GROUND) return m->mass;
    const plan_body *b = body_of(m, at);
    return b->beam ? b->row.section.mass * b->size : b->def.mass;
}

double place_size(const machine_maker *m, plan_place at)
{
    return at.body == PLAN_GROUND ? m->length : body_of(m, at)->size;
}

hn_vec3 place_center(const machine_maker *m, plan_place at)
{
    if (at.body == PLAN_GROUND) return m->p->mechanisms[m->mechanism].origin;
    const plan_body *b = body_of(m, at);
    if (!b->beam)
        return vec3_add(b->def.position, mat3_apply(&b->def.orientation, b->def.center_of_mass));
    return at.node == 0 ? b->points[0] : b->points[b->row.point_count - 1];
}

plan_place random_place(machine_maker *m, bool ground)
{
    int count = m->p->body_count - m->first_body;
    int k = draw_below(m->d, count + (ground ? 1 : 0));
    if (k == count) return GROUND;
    plan_place at = {m->first_body + k, 0};
    const plan_body *b = body_of(m, at);
    if (b->beam && draw_chance(m->d, 0.8)) at.node = plan_node_count(b) - 1;
    return at;
}

// ---- bodies -------------------------------------------------------------------------------------------------

static plan_place add_body(machine_maker *m, hn_vec3 center, double size, hn_body_kind kind)
{
    draw *d = m->d;
    int index = m->p->body_count++;
    plan_body *b = &m->p->bodies[index];
    *b = (plan_body){.def = hn_body_def_default(), .mechanism = m->mechanism, .size = size};
    b->def.kind = kind;
    b->def.mass =
        m->mass * (draw_chance(d, 0.7) ? draw_decades(d, -1.0, 1.0) : draw_decades(d, -4.0, 4.0));
    b->def.position = center;
    if (kind == HN_BODY_PLANAR_POINT_MASS) b->def.plane_normal = draw_direction(d);
    if (kind != HN_BODY_RIGID) return (plan_place){index, 0};
    // a box of generic proportions
    double x = draw_uniform(d, 0.1, 1.0), y = draw_uniform(d, 0.1, 1.0),
           z = draw_uniform(d, 0.1, 1.0);
    double unit = b->def.mass * size * size / 12.0;
    b->def.inertia = vec3(unit * (y * y + z * z), unit * (x * x + z * z), unit * (x * x + y * y));
    b->def.orientation = draw_rotation(d);
    if (draw_chance(d, 0.4)) {
        // the frame is not the principal one
        b->def.products_of_inertia =
            vec3(0.2 * unit * x * y, -0.1 * unit * x * z, 0.1 * unit * y * z);
        b->def.center_of_mass = vec3_scale(0.3 * size, draw_direction(d));
        b->def.position =
            vec3_subtract(center, mat3_apply(&b->def.orientation, b->def.center_of_mass));
    }
    return (plan_place){index, 0};
}

static int add_joint(machine_maker *m, hn_joint_kind kind, plan_place a, plan_place b, hn_vec3 at,
                     hn_vec3 axis)
{
    int index = m->p->joint_count++;
    plan_joint *j = &m->p->joints[index];
    *j = (plan_joint){.def = hn_joint_def_default(kind), .a = a, .b = b};
    j->def.point_a = at;
    j->def.axis_a = axis;
    if (kind == HN_JOINT_UNIVERSAL) j->def.axis_b = vec3_perpendicular(axis);
    // a direction that is chosen depends on the axes of the world
    if (kind == HN_JOINT_PLANAR) j->def.direction = vec3_perpendicular(axis);
    if (kind == HN_JOINT_SCREW)
        j->def.pitch = m->length * draw_uniform(m->d, 0.1, 2.0) * (draw_chance(m->d, 0.5) ? 1 : -1);
    if (kind == HN_JOINT_DISTANCE) {
        j->def.separate_points = true;
        j->def.point_b = place_center(m, b);
        if (!plan_is_point(m->p, b) && !body_of(m, b)->beam)
            j->def.point_b =
                vec3_add_scaled(j->def.point_b, 0.3 * place_size(m, b), draw_direction(m->d));
        if (plan_is_point(m->p, a) && a.body != PLAN_GROUND) j->def.point_a = place_center(m, a);
    }
    return index;
}

// A joint of a point mass: what it takes.
static void join_point(machine_maker *m, plan_place parent, plan_place point, hn_vec3 at)
{
    bool planar = body_of(m, point)->def.kind == HN_BODY_PLANAR_POINT_MASS;
    if (planar || draw_chance(m->d, 0.8))
        (void)add_joint(m, HN_JOINT_DISTANCE, planar ? GROUND : parent, point, at,
                        vec3(0.0, 0.0, 1.0));
}

static plan_place parent_of_next(machine_maker *m)
{
    if (m->p->body_count == m->first_body || draw_chance(m->d, 0.3)) return GROUND;
    plan_place at = random_place(m, false);
    return plan_is_point(m->p, at) ? GROUND : at;
}

static void add_tree_body(machine_maker *m)
{
    static const hn_joint_kind KINDS[] = {
        HN_JOINT_SPHERICAL, HN_JOINT_REVOLUTE,    HN_JOINT_REVOLUTE, HN_JOINT_REVOLUTE,
        HN_JOINT_PRISMATIC, HN_JOINT_CYLINDRICAL, HN_JOINT_PLANAR,   HN_JOINT_UNIVERSAL,
        HN_JOINT_FIXED,     HN_JOINT_DISTANCE,    HN_JOINT_SLOT,     HN_JOINT_SCREW,
        HN_JOINT_FREE};
    draw *d = m->d;
    hn_body_kind body = draw_chance(d, 0.86)  ? HN_BODY_RIGID
                        : draw_chance(d, 0.6) ? HN_BODY_POINT_MASS
                                              : HN_BODY_PLANAR_POINT_MASS;
    plan_place parent = parent_of_next(m);
    double size = m->length * draw_decades(d, -0.7, 0.2);
    hn_vec3 at = place_center(m, parent);
    if (parent.body == PLAN_GROUND || !body_of(m, parent)->beam || draw_chance(d, 0.3))
        at = vec3_add_scaled(at, m->length * draw_uniform(d, 0.1, 1.0), draw_direction(d));
    plan_place b = add_body(
        m, vec3_add_scaled(at, size * draw_uniform(d, 0.2, 0.8), draw_direction(d)), size, body);
    if (body != HN_BODY_RIGID) {
        join_point(m, parent, b, at);
        return;
    }
    hn_joint_kind kind = KINDS[draw_below(d, sizeof KINDS / sizeof KINDS[0])];
    if (kind == HN_JOINT_FREE) {
        plan_body *free = body_of(m, b);
        // what hangs on a free body moves with it, not it with that: its velocities are given, be they zero
        bool led = draw_chance(d, 0.5), moves = !led && draw_chance(d, 0.7);
        free->moves = !led;
        free->velocity = vec3_scale(moves ? m->rate * m->length : 0.0, draw_direction(d));
        free->angular_velocity = vec3_scale(moves ? m->rate : 0.0, draw_direction(d));
        if (led) (void)add_joint(m, kind, GROUND, b, free->def.position, vec3(0.0, 0.0, 1.0));
        return;
    }
    (void)add_joint(m, kind, parent, b, at, draw_direction(d));
}

// A ring of bars with parallel hinges, three of them redundant, in a plane of any direction.
static void add_ring(machine_maker *m)
{
    draw *d = m->d;
    int count = 3;
    hn_mat3 frame = draw_rotation(d);
    hn_vec3 normal = mat3_column(&frame, 2), corner[6];
    for (int i = 0; i <= count; ++i) {
        double angle = 6.283185307179586 * (i + draw_uniform(d, -0.3, 0.3)) / (count + 1);
        double radius = m->length * draw_uniform(d, 0.6, 1.2);
        corner[i] = vec3_add(m->p->mechanisms[m->mechanism].origin,
                             vec3_add(vec3_scale(radius * cos(angle), mat3_column(&frame, 0)),
                                      vec3_scale(radius * sin(angle), mat3_column(&frame, 1))));
    }
    plan_place last = GROUND;
    for (int i = 0; i < count; ++i) {
        plan_place b = add_body(m, vec3_mean(corner[i], corner[i + 1]),
                                vec3_norm(vec3_subtract(corner[i + 1], corner[i])), HN_BODY_RIGID);
        (void)add_joint(m, HN_JOINT_REVOLUTE, last, b, corner[i], normal);
        last = b;
    }
    (void)add_joint(m, draw_chance(d, 0.3) ? HN_JOINT_CYLINDRICAL : HN_JOINT_REVOLUTE, GROUND, last,
                    corner[count], normal);
    m->p->mechanisms[m->mechanism].looped = true;
}

// A beam on the ground or on a body, whose first bending frequency is some of the mechanism's rates.
static void add_beam(machine_maker *m)
{
    draw *d = m->d;
    plan_place parent = parent_of_next(m);
    if (parent.body != PLAN_GROUND && body_of(m, parent)->beam) parent = GROUND;
    hn_vec3 from = vec3_add_scaled(place_center(m, parent), m->length * draw_uniform(d, 0.1, 0.5),
                                   draw_direction(d)),
            along = draw_direction(d), across = vec3_perpendicular(along);
    double length = m->length * draw_uniform(d, 0.5, 2.0);
    int index = m->p->body_count++;
    plan_body *b = &m->p->bodies[index];
    *b = (plan_body){
        .beam = true, .row = hn_beam_def_default(), .mechanism = m->mechanism, .size = length};
    b->points[0] = from;
    b->row.point_count = draw_chance(d, 0.6) ? 2 : 3;
    b->points[b->row.point_count - 1] = vec3_add_scaled(from, length, along);
    if (b->row.point_count == 3)
        b->points[1] =
            vec3_add_scaled(vec3_add_scaled(from, 0.5 * length, along), 0.1 * length, across);
    b->row.shape = b->row.point_count == 2 ? HN_BEAM_POLYLINE
                   : draw_chance(d, 0.5)   ? HN_BEAM_ARC
                                           : HN_BEAM_SPLINE;
    b->row.order = 1 + draw_below(d, 2);
    b->row.element_count = b->row.order == 2 ? 1 + draw_below(d, 2) : 2 + draw_below(d, 3);
    b->row.direction = across;
    if (draw_chance(d, 0.3)) b->row.twist = draw_uniform(d, -1.0, 1.0);
    if (draw_chance(d, 0.3)) b->row.damping = 0.01 / m->rate;
    double mass = m->mass * draw_decades(d, -1.0, 0.5) / length,
           rate = m->rate * draw_decades(d, 0.0, 0.7), slender = draw_decades(d, 1.5, 3.0);
    double bending = mass * rate * rate * pow(length, 4) / 12.0,
           stretch = bending * slender / (length * length);
    double diagonal[6] = {0.4 * stretch, 0.4 * stretch, stretch,
                          bending,       1.5 * bending, 0.8 * bending};
    for (int k = 0; k < 6; ++k) b->row.section.stiffness[k][k] = diagonal[k];
    b->row.section.mass = mass;
    b->row.section.inertia[0] = 1.5 * mass * length * length / slender;
    b->row.section.inertia[1] = mass * length * length / slender;
    if (draw_chance(d, 0.3)) b->tip_mass = m->mass * draw_decades(d, -1.0, 0.5);
    if (rate > m->fastest) m->fastest = rate;
    if (draw_chance(d, 0.85))
        (void)add_joint(m, draw_chance(d, 0.6) ? HN_JOINT_FIXED : HN_JOINT_REVOLUTE, parent,
                        (plan_place){index, 0}, from, across);
}

static void close_loops(machine_maker *m)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.25) ? 1 + draw_below(d, 2) : 0;
    for (int k = 0; k < count; ++k) {
        plan_place a = random_place(m, true), b = random_place(m, false);
        bool points = plan_is_point(m->p, a) || plan_is_point(m->p, b);
        if (a.body == b.body || points) continue;
        hn_joint_kind kind = draw_chance(d, 0.6)   ? HN_JOINT_DISTANCE
                             : draw_chance(d, 0.5) ? HN_JOINT_SPHERICAL
                                                   : HN_JOINT_CYLINDRICAL;
        hn_vec3 at =
            vec3_add_scaled(m->p->mechanisms[m->mechanism].origin, m->length, draw_direction(d));
        (void)add_joint(m, kind, a, b, at, draw_direction(d));
        m->p->mechanisms[m->mechanism].looped = true;
    }
}

// ---- start --------------------------------------------------------------------------------------------------

static bool is_coupled_or_moved(const plan *p, int joint)
{
    for (int k = 0; k < p->coupling_count; ++k)
        for (int m = 0; m < p->couplings[k].def.term_count; ++m)
            if (p->couplings[k].joints[m] == joint && (k > 0 || m > 0)) return true;
    for (int k = 0; k < p->drive_count; ++k)
        if (p->drives[k].joint == joint && p->drives[k].def.kind == HN_DRIVE_MOTION) return true;
    for (int k = 0; k < p->rotation_count; ++k)
        if (p->rotations[k].joint == joint) return true;
    return false;
}

static int rate_count(const plan *p, const plan_joint *j)
{
    bool points = plan_is_point(p, j->a) || plan_is_point(p, j->b);
    if (points) return 0;
    switch (j->def.kind) {
    case HN_JOINT_SPHERICAL:
    case HN_JOINT_PLANAR: return 3;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_UNIVERSAL: return 2;
    case HN_JOINT_REVOLUTE:
    case HN_JOINT_PRISMATIC: return 1;
    default: return 0;
    }
}

// Rates of joints. Of a ring one gets them, which has one degree of freedom; of other loops some, which seldom say all.
static void set_start(machine_maker *m, bool ring)
{
    bool looped = m->p->mechanisms[m->mechanism].looped, moves = draw_chance(m->d, 0.8);
    double part = looped && !ring ? draw_uniform(m->d, 0.2, 0.8) : 1.0;
    for (int i = m->first_joint; i < m->p->joint_count && moves; ++i) {
        plan_joint *j = &m->p->joints[i];
        int count = rate_count(m->p, j);
        if (count == 0 || (ring && i > m->first_joint)) continue;
        if (part < 1.0 && !draw_chance(m->d, part)) continue;
        if (is_coupled_or_moved(m->p, i)) continue;
        j->rate_count = count;
        for (int k = 0; k < count; ++k)
            j->rates[k] = m->rate * draw_uniform(m->d, -1.5, 1.5) *
                          (plan_is_angle(j->def.kind, k) ? 1.0 : m->length);
    }
}

// ---- all ----------------------------------------------------------------------------------------------------

static void add_mechanism(machine_maker *m)
{
    draw *d = m->d;
    double kind = draw_uniform(d, 0.0, 1.0);
    bool ring = kind < 0.15;
    if (ring) add_ring(m);
    else {
        int count = 1 + draw_below(d, draw_chance(d, 0.1) ? TREE_BODIES + 2 : 4);
        for (int k = 0; k < count; ++k) {
            if (kind > 0.85 && k == 0) add_beam(m);
            else add_tree_body(m);
        }
        close_loops(m);
    }
    random_springs(m);
    random_loads(m);
    random_couplings(m);
    random_drives(m);
    set_start(m, ring);
}

double random_machine(draw *d, plan *p)
{
    memset(p, 0, sizeof *p);
    p->prefix = 'a';
    p->mechanism_count = draw_chance(d, 0.55) ? 1 : 2 + draw_below(d, PLAN_MECHANISMS - 1);
    double rate = draw_decades(d, -0.3, 0.8), fastest = 0.0;
    bool one_scale = p->mechanism_count == 1 && draw_chance(d, 0.5);
    p->gravity = vec3_scale(draw_chance(d, 0.7) ? rate * rate : 0.0, draw_direction(d));
    for (int k = 0; k < p->mechanism_count; ++k) {
        machine_maker m = {.d = d,
                           .p = p,
                           .mechanism = k,
                           .length = one_scale ? 1.0 : draw_decades(d, -6.0, 6.0),
                           .mass = one_scale ? 1.0 : draw_decades(d, -6.0, 6.0),
                           .rate = rate * draw_decades(d, -0.2, 0.2),
                           .first_body = p->body_count,
                           .first_joint = p->joint_count};
        m.fastest = 2.0 * m.rate;
        p->mechanisms[k] = (plan_scale){.length = m.length, .mass = m.mass, .rate = m.rate};
        p->mechanisms[k].origin = vec3_scale(0.7 * m.length, draw_direction(d));
        add_mechanism(&m);
        fastest = fmax(fastest, m.fastest);
    }
    // weight as the smallest mechanism feels it
    double least = HUGE_VAL;
    for (int k = 0; k < p->mechanism_count; ++k) least = fmin(least, p->mechanisms[k].length);
    p->gravity = vec3_scale(least, p->gravity);
    return fastest;
}
