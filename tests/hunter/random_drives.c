// SPDX-License-Identifier: MIT
// Loads, springs, drives and couplings of a mechanism, by its own measures.
#include "hunter/random_machine.h"

#include "base/vector.h"

// ---- functions of time ----------------------------------------------------------------------------------------

plan_function random_function(machine_maker *m, bool held)
{
    draw *d = m->d;
    double period = 1.0 / m->rate;
    plan_function f = {.kind = (hn_profile_kind)draw_below(d, 6)};
    if (draw_chance(d, 0.3)) f.kind = HN_PROFILE_EXPRESSION;
    if (held && (f.kind == HN_PROFILE_PULSE || f.kind == HN_PROFILE_CONSTANT ||
                 (f.kind == HN_PROFILE_TABLE && draw_chance(d, 0.5))))
        f.kind = HN_PROFILE_SPLINE;
    f.rate = m->rate * draw_decades(d, -0.5, 0.3);
    f.time = period * draw_uniform(d, 0.1, 2.0);
    f.form = (plan_form)draw_below(d, FORM_COUNT);
    f.start = period * draw_uniform(d, 0.0, 1.0);
    f.peak = f.start + period * draw_decades(d, held ? -0.5 : -2.0, 0.5);
    f.end = f.peak + period * draw_decades(d, held ? -0.5 : -2.0, 0.5);
    if (f.kind != HN_PROFILE_TABLE && f.kind != HN_PROFILE_SPLINE) return f;
    f.count = 2 + draw_below(d, PLAN_TABLE - 2);
    double time = held ? 0.0 : period * draw_uniform(d, -0.5, 0.5);
    for (int i = 0; i < f.count; ++i) {
        f.times[i] = time;
        f.factors[i] = held && i == 0 ? 0.0 : draw_uniform(d, -1.0, 1.0);
        time += period * draw_decades(d, held ? -0.5 : -1.5, 0.3);
    }
    return f;
}

// ---- loads ------------------------------------------------------------------------------------------------------

void random_loads(machine_maker *m)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.4) ? 1 + draw_below(d, 2) : 0;
    for (int k = 0; k < count; ++k) {
        plan_place at = random_place(m, false);
        const plan_body *b = &m->p->bodies[at.body];
        bool point = plan_is_point(m->p, at);
        double strength = place_mass(m, at) * m->rate * m->rate * m->length *
                          draw_uniform(d, 0.1, 1.0) * (b->beam ? 0.1 : 1.0);
        if (b->beam && draw_chance(d, 0.4)) {
            plan_line_load *l = &m->p->line_loads[m->p->line_load_count++];
            *l = (plan_line_load){.def = hn_beam_load_def_default(), .beam = at.body};
            l->def.body_fixed = draw_chance(d, 0.4);
            l->def.vector = vec3_scale(strength / b->size, draw_direction(d));
            l->function = random_function(m, false);
            continue;
        }
        plan_load *l = &m->p->loads[m->p->load_count++];
        *l = (plan_load){.def = hn_load_def_default(), .body = at};
        l->def.torque = !point && draw_chance(d, 0.4);
        l->def.body_fixed = !point && draw_chance(d, 0.4);
        l->def.vector =
            vec3_scale(l->def.torque ? 0.1 * strength * b->size : strength, draw_direction(d));
        if (!l->def.torque && !point && !b->beam)
            l->def.point = vec3_scale(0.3 * b->size, draw_direction(d));
        l->function = random_function(m, false);
    }
}

static double pair_mass(const machine_maker *m, plan_place a, plan_place b)
{
    double one = place_mass(m, b);
    return a.body == PLAN_GROUND ? one : one * place_mass(m, a) / (one + place_mass(m, a));
}

static hn_vec3 point_on(machine_maker *m, plan_place at)
{
    hn_vec3 center = place_center(m, at);
    if (plan_is_point(m->p, at) || (at.body != PLAN_GROUND && m->p->bodies[at.body].beam))
        return center;
    return vec3_add_scaled(center, (at.body == PLAN_GROUND ? 2.0 : 0.5) * place_size(m, at),
                           draw_direction(m->d));
}

static void add_spring(machine_maker *m, plan_place a, plan_place b)
{
    draw *d = m->d;
    plan_spring *s = &m->p->springs[m->p->spring_count++];
    *s = (plan_spring){.def = hn_spring_def_default(), .a = a, .b = b};
    s->def.point_a = point_on(m, a);
    s->def.point_b = point_on(m, b);
    double rate = m->rate * draw_decades(d, -0.5, 0.8), mass = pair_mass(m, a, b);
    if (draw_chance(d, 0.8)) s->def.stiffness = mass * rate * rate;
    if (draw_chance(d, 0.5)) s->def.damping = mass * rate * draw_decades(d, -2.0, 0.5);
    s->def.rest_length =
        draw_uniform(d, 0.3, 1.2) * vec3_norm(vec3_subtract(s->def.point_b, s->def.point_a));
    if (s->def.stiffness > 0.0 && rate > m->fastest) m->fastest = rate;
}

static void add_bushing(machine_maker *m, plan_place a, plan_place b)
{
    draw *d = m->d;
    plan_bushing *s = &m->p->bushings[m->p->bushing_count++];
    *s = (plan_bushing){.def = hn_bushing_def_default(), .a = a, .b = b};
    s->def.point_a = place_center(m, b);
    s->def.frame_a = draw_rotation(d);
    double rate = m->rate * draw_decades(d, -0.3, 0.7), mass = pair_mass(m, a, b),
           size = place_size(m, b);
    for (int k = 0; k < 6; ++k) {
        double unit = mass * (k < 3 ? 1.0 : 0.1 * size * size);
        s->def.stiffness[k] = unit * rate * rate * draw_uniform(d, 0.3, 1.0);
        if (draw_chance(d, 0.4)) s->def.damping[k] = 0.1 * unit * rate;
    }
    if (2.0 * rate > m->fastest) m->fastest = 2.0 * rate;
}

void random_springs(machine_maker *m)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.5) ? 1 + draw_below(d, 2) : 0;
    for (int k = 0; k < count; ++k) {
        plan_place a = random_place(m, true), b = random_place(m, false);
        if (a.body == b.body) continue;
        bool points = plan_is_point(m->p, a) || plan_is_point(m->p, b);
        if (!points && draw_chance(d, 0.25)) add_bushing(m, a, b);
        else add_spring(m, a, b);
    }
    for (int i = m->first_joint; i < m->p->joint_count; ++i) {
        const plan_joint *j = &m->p->joints[i];
        if (j->def.kind != HN_JOINT_REVOLUTE || !draw_chance(d, 0.15)) continue;
        plan_torsion *s = &m->p->torsions[m->p->torsion_count++];
        *s = (plan_torsion){.def = hn_torsion_spring_def_default(), .joint = i};
        double rate = m->rate * draw_decades(d, -0.5, 0.7);
        double inertia = place_mass(m, j->b) * m->length * m->length;
        s->def.stiffness = 0.1 * inertia * rate * rate;
        s->def.damping = draw_chance(d, 0.5) ? 0.01 * inertia * rate : 0.0;
        s->def.rest_angle = draw_uniform(d, -1.0, 1.0);
    }
}

// ---- drives -----------------------------------------------------------------------------------------------------

// Units of a coordinate by the mechanism's measures.
typedef struct coordinate_units {
    bool angle;
    double way, inertia, effort, rate; // rad or m; kg m^2 or kg; N m or N; 1/s
} coordinate_units;

static coordinate_units units_of(const machine_maker *m, int joint, int coordinate)
{
    const plan_joint *j = &m->p->joints[joint];
    coordinate_units u = {.angle = plan_is_angle(j->def.kind, coordinate), .rate = m->rate};
    double size = place_size(m, j->b);
    u.way = u.angle ? 1.0 : m->length;
    u.inertia = place_mass(m, j->b) * (u.angle ? size * size : 1.0);
    u.effort = u.inertia * m->rate * m->rate * u.way;
    return u;
}

static plan_function random_table(draw *d, double way, double effort, bool damper)
{
    plan_function f = {.kind =
                           !damper && draw_chance(d, 0.5) ? HN_PROFILE_SPLINE : HN_PROFILE_TABLE};
    f.count = 5;
    for (int i = 0; i < f.count; ++i) {
        f.times[i] = way * (i - 2) * draw_uniform(d, 0.8, 1.2);
        f.factors[i] = effort * (i - 2) * draw_uniform(d, 0.3, 1.0);
    }
    return f;
}

static void fill_law(machine_maker *m, plan_drive *x, const coordinate_units *u)
{
    draw *d = m->d;
    hn_drive_def *f = &x->def;
    double rate = u->rate * draw_decades(d, -0.3, 0.5);
    switch (f->kind) {
    case HN_DRIVE_EFFORT: f->scale = u->effort * draw_uniform(d, -1.0, 1.0); break;
    case HN_DRIVE_SERVO:
        f->scale = u->way * draw_uniform(d, -1.0, 1.0);
        f->proportional = u->inertia * rate * rate;
        f->derivative = u->inertia * rate * draw_uniform(d, 0.0, 1.0);
        if (draw_chance(d, 0.3)) f->integral = 0.3 * u->inertia * rate * rate * u->rate;
        if (draw_chance(d, 0.3)) f->limit = u->effort * draw_uniform(d, 0.1, 1.0);
        break;
    case HN_DRIVE_MOTOR:
        f->scale = draw_uniform(d, -1.0, 1.0);
        f->stall = u->effort * draw_uniform(d, 0.1, 1.0);
        f->no_load = u->way * u->rate * draw_uniform(d, 0.5, 3.0);
        break;
    case HN_DRIVE_SPRING:
        f->rest = u->way * draw_uniform(d, -0.5, 0.5);
        f->stiffness = u->inertia * rate * rate;
        if (draw_chance(d, 0.5)) f->damping = u->inertia * rate * draw_decades(d, -2.0, 0.0);
        if (draw_chance(d, 0.4)) x->spring = random_table(d, 0.5 * u->way, u->effort, false);
        if (draw_chance(d, 0.3))
            x->damper = random_table(d, u->way * u->rate, 0.2 * u->effort, true);
        break;
    case HN_DRIVE_STOP:
        f->lower = -u->way * draw_uniform(d, 0.05, 1.0);
        if (draw_chance(d, 0.8)) f->upper = u->way * draw_uniform(d, 0.05, 1.0);
        f->rigid = draw_chance(d, 0.5);
        if (f->rigid) f->restitution = draw_chance(d, 0.3) ? 1.0 : draw_uniform(d, 0.0, 1.0);
        else {
            f->stiffness = u->inertia * u->rate * u->rate * draw_decades(d, 0.5, 2.5);
            if (draw_chance(d, 0.5)) f->damping = 0.3 * sqrt(f->stiffness * u->inertia);
        }
        break;
    case HN_DRIVE_MOTION: f->scale = u->way * draw_uniform(d, -1.0, 1.0); break;
    case HN_DRIVE_FRICTION:
        if (draw_chance(d, 0.6)) f->friction = u->effort * draw_decades(d, -1.5, 0.3);
        else f->coefficient = draw_uniform(d, 0.02, 0.3);
        if (u->angle) f->radius = 0.1 * m->length;
        if (draw_chance(d, 0.4)) {
            f->static_ratio = draw_uniform(d, 1.0, 1.5);
            f->stribeck = u->way * u->rate * draw_uniform(d, 0.05, 0.5);
        }
        break;
    case HN_DRIVE_LATCH: f->latch = u->way * draw_uniform(d, -1.0, 1.0); break;
    }
}

static bool is_moved(const plan *p, int joint, int coordinate)
{
    for (int k = 0; k < p->drive_count; ++k)
        if (p->drives[k].joint == joint && p->drives[k].def.coordinate == coordinate &&
            p->drives[k].def.kind == HN_DRIVE_MOTION)
            return true;
    for (int k = 0; k < p->coupling_count; ++k)
        for (int i = 0; i < p->couplings[k].def.term_count; ++i)
            if (p->couplings[k].joints[i] == joint) return true;
    return false;
}

static void add_drive(machine_maker *m, int joint, int coordinate)
{
    // what holds is half as frequent
    static const hn_drive_kind KINDS[] = {
        HN_DRIVE_EFFORT, HN_DRIVE_EFFORT,   HN_DRIVE_SERVO,  HN_DRIVE_SERVO, HN_DRIVE_MOTOR,
        HN_DRIVE_MOTOR,  HN_DRIVE_SPRING,   HN_DRIVE_SPRING, HN_DRIVE_STOP,  HN_DRIVE_MOTION,
        HN_DRIVE_MOTION, HN_DRIVE_FRICTION, HN_DRIVE_LATCH};
    draw *d = m->d;
    hn_drive_kind kind = KINDS[draw_below(d, sizeof KINDS / sizeof KINDS[0])];
    if (kind == HN_DRIVE_MOTION && is_moved(m->p, joint, coordinate)) kind = HN_DRIVE_EFFORT;
    coordinate_units u = units_of(m, joint, coordinate);
    plan_drive *x = &m->p->drives[m->p->drive_count++];
    *x = (plan_drive){.def = hn_drive_def_default(kind), .joint = joint};
    x->def.coordinate = coordinate;
    fill_law(m, x, &u);
    if (kind == HN_DRIVE_EFFORT || kind == HN_DRIVE_SERVO || kind == HN_DRIVE_MOTOR ||
        kind == HN_DRIVE_MOTION)
        x->function = random_function(m, kind == HN_DRIVE_MOTION);
    if (kind != HN_DRIVE_FRICTION && kind != HN_DRIVE_LATCH && draw_chance(d, 0.15))
        x->def.armature = u.inertia * draw_decades(d, -1.0, 0.5);
}

static void add_rotation(machine_maker *m, int joint)
{
    plan_rotation *x = &m->p->rotations[m->p->rotation_count++];
    *x = (plan_rotation){.def = hn_rotation_def_default(), .joint = joint};
    bool one = draw_chance(m->d, 0.4);
    for (int k = 0; k < 3; ++k) {
        x->functions[k] = random_function(m, true);
        x->def.scales[k] = one && k > 0 ? 0.0 : draw_uniform(m->d, -1.0, 1.0);
    }
    if (one) x->def.axes[0] = draw_direction(m->d);
}

void random_drives(machine_maker *m)
{
    draw *d = m->d;
    double often = draw_chance(d, 0.6) ? 0.3 : 0.0;
    for (int i = m->first_joint; i < m->p->joint_count && often > 0.0; ++i) {
        const plan_joint *j = &m->p->joints[i];
        bool points = plan_is_point(m->p, j->a) || plan_is_point(m->p, j->b);
        bool beam = j->a.body != PLAN_GROUND && m->p->bodies[j->a.body].beam;
        hn_joint_kind kind = j->def.kind;
        if (points) continue;
        if ((kind == HN_JOINT_SPHERICAL && !beam) || kind == HN_JOINT_FREE) {
            bool still = kind == HN_JOINT_SPHERICAL || !m->p->bodies[j->b.body].moves;
            if (still && draw_chance(d, 0.3 * often)) add_rotation(m, i);
        }
        if (kind == HN_JOINT_SPHERICAL || (kind == HN_JOINT_FREE && m->p->bodies[j->b.body].moves))
            continue;
        for (int c = 0; hn_joint_coordinate_name(kind, c) != NULL && c < 3; ++c)
            for (int k = 0; k < 2 && m->p->drive_count < PLAN_ELEMENTS; ++k)
                if (draw_chance(d, k == 0 ? often : 0.3 * often)) add_drive(m, i, c);
    }
}

// ---- couplings ----------------------------------------------------------------------------------------------------

static int coordinates_to_couple(const machine_maker *m, int joint)
{
    const plan_joint *j = &m->p->joints[joint];
    if (plan_is_point(m->p, j->a) || plan_is_point(m->p, j->b)) return 0;
    switch (j->def.kind) {
    case HN_JOINT_REVOLUTE:
    case HN_JOINT_PRISMATIC: return 1;
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_UNIVERSAL: return 2;
    default: return 0;
    }
}

static hn_coupling_kind kind_of_coupling(draw *d, int count, int angles)
{
    if (count > 2 || angles == 0 || draw_chance(d, 0.2)) return HN_COUPLING_RELATION;
    if (angles == 1) return HN_COUPLING_RACK;
    return draw_chance(d, 0.5) ? HN_COUPLING_GEAR : HN_COUPLING_BELT;
}

void random_couplings(machine_maker *m)
{
    draw *d = m->d;
    if (m->p->mechanisms[m->mechanism].looped || !draw_chance(d, 0.3)) return;
    int count = 0, angles = 0;
    plan_coupling x = {.def = hn_coupling_def_default(HN_COUPLING_RELATION)};
    for (int i = m->first_joint; i < m->p->joint_count && count < HN_COUPLING_TERMS_MAX; ++i) {
        int coordinates = coordinates_to_couple(m, i);
        if (coordinates == 0 || (count >= 2 && draw_chance(d, 0.6))) continue;
        int c = draw_below(d, coordinates);
        bool angle = plan_is_angle(m->p->joints[i].def.kind, c);
        x.joints[count] = i;
        x.def.coordinates[count] = c;
        x.def.factors[count++] = draw_uniform(d, 0.3, 2.0) * (draw_chance(d, 0.5) ? 1.0 : -1.0) /
                                 (angle ? 1.0 : m->length);
        angles += angle;
    }
    if (count < 2) return;
    x.def.term_count = count;
    x.def.kind = kind_of_coupling(d, count, angles);
    m->p->couplings[m->p->coupling_count++] = x;
}
