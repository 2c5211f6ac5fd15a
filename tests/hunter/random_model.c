// SPDX-License-Identifier: MIT
// A tree of bodies first, each at a joint somewhere near its parent; then whatever closes loops, pulls and pushes.
// Joints are placed in the start configuration, so every loop closes there; whether it moves is its own affair.
#include "hunter/random_model.h"

#include "base/context.h"
#include "base/rotation.h"

#include <stdio.h>

enum { BODIES_MAX = 12, TABLE_MAX = 6 };

draw draw_create(uint64_t seed, uint64_t index)
{
    return (draw){seed * 0x9e3779b97f4a7c15u ^ (index + 1) * 0xd1b54a32d192ed03u};
}

static uint64_t draw_bits(draw *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double draw_uniform(draw *d, double low, double high)
{
    return low + (high - low) * ((double)(draw_bits(d) >> 11) * 0x1p-53);
}

double draw_decades(draw *d, double low, double high)
{
    return pow(10.0, draw_uniform(d, low, high));
}

int draw_below(draw *d, int count)
{
    return (int)(draw_bits(d) % (uint64_t)count);
}

bool draw_chance(draw *d, double probability)
{
    return draw_uniform(d, 0.0, 1.0) < probability;
}

hn_vec3 draw_direction(draw *d)
{
    for (;;) {
        hn_vec3 x = vec3(draw_uniform(d, -1.0, 1.0), draw_uniform(d, -1.0, 1.0),
                         draw_uniform(d, -1.0, 1.0));
        double size = vec3_norm(x);
        if (size > 0.1 && size < 1.0) return vec3_scale(1.0 / size, x);
    }
}

hn_mat3 draw_rotation(draw *d)
{
    hn_vec3 third = draw_direction(d), first = vec3_perpendicular(third);
    double angle = draw_uniform(d, 0.0, 6.28);
    hn_vec3 second = vec3_cross(third, first);
    hn_vec3 x = vec3_add(vec3_scale(cos(angle), first), vec3_scale(sin(angle), second));
    return mat3_from_columns(x, vec3_cross(third, x), third);
}

// What is known of a body while the rest is drawn.
typedef struct drawn_body {
    hn_body_id id;
    hn_vec3 place; // centre of mass at the start
    double mass, size;
    bool point;
} drawn_body;

typedef struct maker {
    hn_model *model;
    draw *d;
    double length; // m, typical
    double rate;   // 1/s, typical
    double fastest;
    double mass; // kg, typical
    int count;
    drawn_body bodies[BODIES_MAX];
    int joint_count;
    hn_joint_id joints[BODIES_MAX + 4];
    hn_joint_kind kinds[BODIES_MAX + 4];
} maker;

static hn_status add_body(maker *m, hn_vec3 place, double size, bool point)
{
    draw *d = m->d;
    drawn_body *b = &m->bodies[m->count];
    hn_body_def def = hn_body_def_default();
    *b = (drawn_body){.place = place, .size = size, .point = point};
    b->mass =
        m->mass * (draw_chance(d, 0.5) ? draw_decades(d, -1.0, 1.0) : draw_decades(d, -6.0, 6.0));
    def.kind = point ? HN_BODY_POINT_MASS : HN_BODY_RIGID;
    def.mass = b->mass;
    def.position = place;
    if (!point) {
        // a box of generic proportions
        double x = draw_uniform(d, 0.1, 1.0), y = draw_uniform(d, 0.1, 1.0),
               z = draw_uniform(d, 0.1, 1.0);
        double unit = b->mass * size * size / 12.0;
        def.inertia = vec3(unit * (y * y + z * z), unit * (x * x + z * z), unit * (x * x + y * y));
        def.orientation = draw_rotation(d);
    }
    TRY(hn_model_add_body(m->model, &def, &b->id));
    m->count++;
    return HN_OK;
}

static hn_status add_joint(maker *m, hn_joint_kind kind, int a, int b, hn_vec3 at, hn_vec3 axis)
{
    hn_joint_def def = hn_joint_def_default(kind);
    def.body_a = a < 0 ? hn_ground() : m->bodies[a].id;
    def.body_b = m->bodies[b].id;
    def.point_a = at;
    def.axis_a = axis;
    if (kind == HN_JOINT_UNIVERSAL) def.axis_b = vec3_perpendicular(axis);
    if (kind == HN_JOINT_DISTANCE) {
        def.separate_points = true;
        def.point_b = m->bodies[b].place;
        if (!m->bodies[b].point)
            def.point_b =
                vec3_add_scaled(def.point_b, 0.3 * m->bodies[b].size, draw_direction(m->d));
    }
    TRY(hn_model_add_joint(m->model, &def, &m->joints[m->joint_count]));
    m->kinds[m->joint_count++] = kind;
    return HN_OK;
}

static hn_status make_tree(maker *m, int count)
{
    static const hn_joint_kind KINDS[] = {
        HN_JOINT_SPHERICAL,   HN_JOINT_REVOLUTE,  HN_JOINT_REVOLUTE,  HN_JOINT_PRISMATIC,
        HN_JOINT_CYLINDRICAL, HN_JOINT_PLANAR,    HN_JOINT_UNIVERSAL, HN_JOINT_FIXED,
        HN_JOINT_DISTANCE,    HN_JOINT_SPHERICAL, HN_JOINT_FREE};
    draw *d = m->d;
    for (int i = 0; i < count; ++i) {
        int parent = draw_chance(d, 0.35) || i == 0 ? -1 : draw_below(d, i);
        bool point = draw_chance(d, 0.08);
        if (parent >= 0 && m->bodies[parent].point) parent = -1;
        double size = m->length * draw_decades(d, -0.7, 0.2);
        hn_vec3 from = parent < 0 ? vec3(0.0, 0.0, 0.0) : m->bodies[parent].place;
        hn_vec3 at =
            vec3_add_scaled(from, m->length * draw_uniform(d, 0.1, 1.0), draw_direction(d));
        hn_vec3 place = vec3_add_scaled(at, size * draw_uniform(d, 0.2, 0.8), draw_direction(d));
        TRY(add_body(m, place, size, point));
        hn_joint_kind kind = KINDS[draw_below(d, sizeof KINDS / sizeof KINDS[0])];
        if (point && kind != HN_JOINT_FREE) kind = HN_JOINT_DISTANCE;
        if (kind == HN_JOINT_FREE) continue; // no joint at all
        TRY(add_joint(m, kind, parent, i, at, draw_direction(d)));
    }
    return HN_OK;
}

// A ring of bars with parallel hinges, three of them redundant, in a plane of any direction.
static hn_status make_planar_ring(maker *m, int count)
{
    draw *d = m->d;
    hn_mat3 frame = draw_rotation(d);
    hn_vec3 normal = mat3_column(&frame, 2), corner[BODIES_MAX + 1];
    for (int i = 0; i <= count; ++i) {
        double angle = 6.283185307179586 * (i + draw_uniform(d, -0.3, 0.3)) / (count + 1);
        double radius = m->length * draw_uniform(d, 0.6, 1.2);
        corner[i] = vec3_add(vec3_scale(radius * cos(angle), mat3_column(&frame, 0)),
                             vec3_scale(radius * sin(angle), mat3_column(&frame, 1)));
    }
    for (int i = 0; i < count; ++i) {
        TRY(add_body(m, vec3_mean(corner[i], corner[i + 1]),
                     vec3_norm(vec3_subtract(corner[i + 1], corner[i])), false));
        TRY(add_joint(m, HN_JOINT_REVOLUTE, i - 1, i, corner[i], normal));
    }
    hn_joint_kind last = draw_chance(d, 0.3) ? HN_JOINT_CYLINDRICAL : HN_JOINT_REVOLUTE;
    return add_joint(m, last, -1, count - 1, corner[count], normal);
}

static hn_status close_loops(maker *m, bool *looped)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.3) ? 1 + draw_below(d, 2) : 0;
    for (int k = 0; k < count; ++k) {
        int a = draw_below(d, m->count + 1) - 1, b = draw_below(d, m->count);
        if (a == b) continue;
        hn_joint_kind kind = draw_chance(d, 0.6)   ? HN_JOINT_DISTANCE
                             : draw_chance(d, 0.5) ? HN_JOINT_SPHERICAL
                                                   : HN_JOINT_CYLINDRICAL;
        bool point = m->bodies[b].point || (a >= 0 && m->bodies[a].point);
        hn_vec3 at = vec3_scale(m->length, draw_direction(d));
        if (point) {
            kind = HN_JOINT_DISTANCE;
            if (a >= 0) at = m->bodies[a].place;
        }
        TRY(add_joint(m, kind, a, b, at, draw_direction(d)));
        *looped = true;
    }
    return HN_OK;
}

static double reduced_mass(const maker *m, int a, int b)
{
    double one = m->bodies[b].mass;
    return a < 0 ? one : one * m->bodies[a].mass / (one + m->bodies[a].mass);
}

static hn_vec3 place_on(maker *m, int body)
{
    if (body < 0) return vec3_scale(2.0 * m->length, draw_direction(m->d));
    const drawn_body *b = &m->bodies[body];
    return b->point ? b->place : vec3_add_scaled(b->place, 0.5 * b->size, draw_direction(m->d));
}

static hn_status add_springs(maker *m)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.5) ? 1 + draw_below(d, 3) : 0;
    hn_load_id id;
    for (int k = 0; k < count; ++k) {
        int a = draw_below(d, m->count + 1) - 1, b = draw_below(d, m->count);
        if (a == b) continue;
        hn_spring_def def = hn_spring_def_default();
        def.body_a = a < 0 ? hn_ground() : m->bodies[a].id;
        def.body_b = m->bodies[b].id;
        def.point_a = place_on(m, a);
        def.point_b = place_on(m, b);
        double rate = m->rate * draw_decades(d, -0.5, 1.0), mass = reduced_mass(m, a, b);
        if (draw_chance(d, 0.8)) def.stiffness = mass * rate * rate;
        if (draw_chance(d, 0.5)) def.damping = mass * rate * draw_decades(d, -2.0, 1.5);
        if (draw_chance(d, 0.5))
            def.rest_length =
                draw_uniform(d, 0.3, 1.2) * vec3_norm(vec3_subtract(def.point_b, def.point_a));
        if (def.stiffness > 0.0 && rate > m->fastest) m->fastest = rate;
        TRY(hn_model_add_spring(m->model, &def, &id));
    }
    for (int k = 0; k < m->joint_count; ++k) {
        if (m->kinds[k] != HN_JOINT_REVOLUTE || !draw_chance(d, 0.15)) continue;
        hn_torsion_spring_def def = hn_torsion_spring_def_default();
        double rate = m->rate * draw_decades(d, -0.5, 0.7);
        double inertia = m->bodies[draw_below(d, m->count)].mass * m->length * m->length;
        def.joint = m->joints[k];
        def.stiffness = 0.1 * inertia * rate * rate;
        def.damping = draw_chance(d, 0.5) ? 0.01 * inertia * rate : 0.0;
        def.rest_angle = draw_uniform(d, -1.0, 1.0);
        TRY(hn_model_add_torsion_spring(m->model, &def, &id));
    }
    return HN_OK;
}

static hn_status add_loads(maker *m)
{
    draw *d = m->d;
    int count = draw_chance(d, 0.35) ? 1 + draw_below(d, 2) : 0;
    for (int k = 0; k < count; ++k) {
        drawn_body *b = &m->bodies[draw_below(d, m->count)];
        hn_load_def def = hn_load_def_default();
        double times[TABLE_MAX], factors[TABLE_MAX], period = 1.0 / m->rate;
        def.body = b->id;
        def.torque = !b->point && draw_chance(d, 0.4);
        def.body_fixed = !b->point && draw_chance(d, 0.4);
        double strength = b->mass * m->rate * m->rate * m->length * draw_uniform(d, 0.1, 1.0);
        def.vector =
            vec3_scale(def.torque ? 0.1 * strength * b->size : strength, draw_direction(d));
        if (!def.torque && !b->point) def.point = vec3_scale(0.3 * b->size, draw_direction(d));
        def.profile.kind = (hn_profile_kind)draw_below(d, 3);
        if (def.profile.kind == HN_PROFILE_PULSE) {
            def.profile.start = period * draw_uniform(d, 0.0, 1.0);
            def.profile.peak = def.profile.start + period * draw_decades(d, -2.0, 0.0);
            def.profile.end = def.profile.peak + period * draw_decades(d, -2.0, 0.0);
        }
        if (def.profile.kind == HN_PROFILE_TABLE) {
            double time = period * draw_uniform(d, -0.5, 0.5);
            def.profile.count = 2 + draw_below(d, TABLE_MAX - 1);
            for (int i = 0; i < def.profile.count; ++i) {
                times[i] = time;
                factors[i] = draw_uniform(d, -1.0, 1.0);
                time += period * draw_decades(d, -1.5, 0.3);
            }
            def.profile.times = times;
            def.profile.factors = factors;
        }
        hn_load_id id;
        TRY(hn_model_add_load(m->model, &def, &id));
    }
    return HN_OK;
}

// Rates of joints in trees; a loop starts at rest or with one rate, from which the others follow.
static hn_status set_start(maker *m, bool looped)
{
    draw *d = m->d;
    bool moves = draw_chance(d, 0.8);
    for (int k = 0; k < m->joint_count && moves; ++k) {
        double rates[HN_JOINT_COORDINATES_MAX] = {0.0};
        int count = hn_model_joint_coordinate_count(m->model, m->joints[k]);
        if (count == 0 || m->kinds[k] == HN_JOINT_DISTANCE || (looped && k > 0)) continue;
        for (int i = 0; i < count; ++i) {
            bool slides = m->kinds[k] == HN_JOINT_PRISMATIC ||
                          (m->kinds[k] == HN_JOINT_CYLINDRICAL && i == 0) ||
                          (m->kinds[k] == HN_JOINT_PLANAR && i < 2);
            rates[i] = m->rate * draw_uniform(d, -2.0, 2.0) * (slides ? m->length : 1.0);
        }
        TRY(hn_model_set_joint_rates(m->model, m->joints[k], rates, count));
    }
    return HN_OK;
}

hn_status random_model_create(hn_context *context, draw *d, random_model *out)
{
    maker m = {.d = d,
               .length = draw_chance(d, 0.5) ? 1.0 : draw_decades(d, -3.0, 3.0),
               .rate = draw_decades(d, -0.3, 0.8),
               .mass = draw_decades(d, -1.0, 1.0)};
    hn_model_def def = hn_model_def_default();
    *out = (random_model){.model = NULL};
    def.gravity =
        vec3_scale(draw_chance(d, 0.7) ? m.rate * m.rate * m.length : 0.0, draw_direction(d));
    TRY(hn_model_create(context, &def, &m.model));
    out->model = m.model;
    m.fastest = 2.0 * m.rate;
    bool ring = draw_chance(d, 0.15);
    int count =
        ring ? 3 + draw_below(d, 3) : 1 + draw_below(d, draw_chance(d, 0.1) ? BODIES_MAX : 5);
    hn_status status = ring ? make_planar_ring(&m, count) : make_tree(&m, count);
    out->looped = ring;
    if (status == HN_OK && !ring) status = close_loops(&m, &out->looped);
    if (status == HN_OK) status = add_springs(&m);
    if (status == HN_OK) status = add_loads(&m);
    if (status == HN_OK) status = set_start(&m, out->looped);
    snprintf(out->family, sizeof out->family, "%s of %d bodies%s, %d loads", ring ? "ring" : "tree",
             m.count, out->looped && !ring ? " with loops" : "", hn_model_load_count(m.model));
    out->rate = m.fastest;
    if (status != HN_OK) {
        hn_model_destroy(m.model);
        out->model = NULL;
    }
    return status;
}
