// SPDX-License-Identifier: MIT
// One to four bodies of ordinary size and mass in a tree or in a ring of hinges, with springs, and on most coordinates
// of joints something that drives, brakes, stops or leads them.
#include "hunter/driven_model.h"

#include "base/context.h"
#include "base/rotation.h"

#include <stdio.h>
#include <string.h>

enum { BODIES_MAX = 4, JOINTS_MAX = BODIES_MAX + 1, TABLE_MAX = 24 };
static const double GRAVITY = 9.81; // m/s^2

typedef struct maker {
    hn_model *model;
    draw *d;
    int count;
    hn_body_id bodies[BODIES_MAX];
    hn_vec3 places[BODIES_MAX];
    double masses[BODIES_MAX];
    int joint_count, free_count;
    hn_joint_id joints[JOINTS_MAX];
    hn_joint_kind kinds[JOINTS_MAX];
    double loads[JOINTS_MAX];   // kg: what a joint may have to move
    bool led[JOINTS_MAX], ring; // by a motion, which gives it its rate
    char *family;
    size_t family_size;
} maker;

static hn_vec3 direction(draw *d)
{
    for (;;) {
        hn_vec3 x = vec3(draw_uniform(d, -1.0, 1.0), draw_uniform(d, -1.0, 1.0),
                         draw_uniform(d, -1.0, 1.0));
        double size = vec3_norm(x);
        if (size > 0.1 && size < 1.0) return vec3_scale(1.0 / size, x);
    }
}

static void say(maker *m, const char *word)
{
    size_t used = strlen(m->family);
    snprintf(m->family + used, m->family_size - used, "%s%s", used > 0 ? ", " : "", word);
}

static hn_status add_body(maker *m, hn_vec3 place, double size)
{
    draw *d = m->d;
    hn_body_def def = hn_body_def_default();
    double x = draw_uniform(d, 0.2, 1.0), y = draw_uniform(d, 0.2, 1.0),
           z = draw_uniform(d, 0.2, 1.0);
    def.mass = draw_decades(d, -0.7, 0.7);
    double unit = def.mass * size * size / 12.0;
    def.inertia = vec3(unit * (y * y + z * z), unit * (x * x + z * z), unit * (x * x + y * y));
    def.position = place;
    m->places[m->count] = place;
    m->masses[m->count] = def.mass;
    return hn_model_add_body(m->model, &def, &m->bodies[m->count++]);
}

static hn_status add_joint(maker *m, hn_joint_kind kind, int a, int b, hn_vec3 at, hn_vec3 axis)
{
    hn_joint_def def = hn_joint_def_default(kind);
    def.body_a = a < 0 ? hn_ground() : m->bodies[a];
    def.body_b = m->bodies[b];
    def.point_a = at;
    def.axis_a = axis;
    if (kind == HN_JOINT_UNIVERSAL) def.axis_b = vec3_perpendicular(axis);
    m->kinds[m->joint_count] = kind;
    m->loads[m->joint_count] = m->masses[b];
    return hn_model_add_joint(m->model, &def, &m->joints[m->joint_count++]);
}

static hn_status make_tree(maker *m, int count)
{
    static const hn_joint_kind KINDS[] = {
        HN_JOINT_REVOLUTE,  HN_JOINT_REVOLUTE,    HN_JOINT_REVOLUTE,  HN_JOINT_PRISMATIC,
        HN_JOINT_PRISMATIC, HN_JOINT_CYLINDRICAL, HN_JOINT_UNIVERSAL, HN_JOINT_SPHERICAL};
    draw *d = m->d;
    for (int i = 0; i < count; ++i) {
        int parent = i == 0 || draw_chance(d, 0.35) ? -1 : draw_below(d, i);
        hn_vec3 from = parent < 0 ? vec3(0.0, 0.0, 0.0) : m->places[parent];
        hn_vec3 at = vec3_add_scaled(from, draw_uniform(d, 0.1, 0.5), direction(d));
        double size = draw_uniform(d, 0.15, 0.6);
        TRY(add_body(m, vec3_add_scaled(at, size * draw_uniform(d, 0.2, 0.8), direction(d)), size));
        TRY(add_joint(m, KINDS[draw_below(d, sizeof KINDS / sizeof KINDS[0])], parent, i, at,
                      direction(d)));
    }
    return HN_OK;
}

// A four-bar: three bars between hinges of parallel axes.
static hn_status make_ring(maker *m)
{
    draw *d = m->d;
    hn_vec3 normal = direction(d), first = vec3_perpendicular(normal),
            second = vec3_cross(normal, first), corner[4];
    for (int i = 0; i < 4; ++i) {
        double angle = 1.5707963267948966 * (i + draw_uniform(d, -0.25, 0.25)),
               radius = draw_uniform(d, 0.25, 0.5);
        corner[i] = vec3_add(vec3_scale(radius * cos(angle), first),
                             vec3_scale(radius * sin(angle), second));
    }
    m->ring = true;
    for (int i = 0; i < 3; ++i) {
        double length = vec3_norm(vec3_subtract(corner[i + 1], corner[i]));
        TRY(add_body(m, vec3_mean(corner[i], corner[i + 1]), length));
        TRY(add_joint(m, HN_JOINT_REVOLUTE, i - 1, i, corner[i], normal));
    }
    return add_joint(m, HN_JOINT_REVOLUTE, -1, 2, corner[3], normal);
}

static hn_status add_springs(maker *m)
{
    draw *d = m->d;
    for (int count = draw_below(d, 3); count > 0; --count) {
        int b = draw_below(d, m->count);
        double rate = draw_uniform(d, 5.0, 40.0);
        hn_spring_def def = hn_spring_def_default();
        hn_load_id id;
        def.body_a = hn_ground();
        def.body_b = m->bodies[b];
        def.point_a = vec3_add_scaled(m->places[b], draw_uniform(d, 0.2, 0.8), direction(d));
        def.point_b = vec3_add_scaled(m->places[b], 0.05, direction(d));
        def.stiffness = m->masses[b] * rate * rate;
        def.damping = draw_chance(d, 0.4) ? 0.1 * m->masses[b] * rate : 0.0;
        def.rest_length = draw_uniform(d, 0.1, 0.6);
        TRY(hn_model_add_spring(m->model, &def, &id));
        if (count == 1) say(m, "springs");
    }
    if (!draw_chance(d, 0.3)) return HN_OK;
    hn_load_def load = hn_load_def_default();
    hn_load_id id;
    int b = draw_below(d, m->count);
    double times[TABLE_MAX], factors[TABLE_MAX], time = 0.0;
    for (int i = 0; i < TABLE_MAX; ++i) {
        times[i] = time;
        factors[i] = draw_uniform(d, -1.0, 1.0);
        time += draw_decades(d, -2.5, -1.0);
    }
    load.body = m->bodies[b];
    load.vector = vec3_scale(m->masses[b] * draw_uniform(d, 2.0, 20.0), direction(d));
    load.profile = (hn_profile){
        .kind = HN_PROFILE_TABLE, .times = times, .factors = factors, .count = TABLE_MAX};
    say(m, "load by table");
    return hn_model_add_load(m->model, &load, &id);
}

// ---- drives -------------------------------------------------------------------------------------------------

static bool slides(hn_joint_kind kind, int coordinate)
{
    return kind == HN_JOINT_PRISMATIC || (kind == HN_JOINT_CYLINDRICAL && coordinate == 0);
}

// A function of time that begins at zero: smooth, with corners, or as an expression with a corner.
static void draw_function(maker *m, hn_profile *f, char *text, size_t size, double *times,
                          double *factors)
{
    draw *d = m->d;
    double rate = draw_uniform(d, 5.0, 40.0);
    switch (draw_below(d, 4)) {
    case 0: snprintf(text, size, "sin(%.6g*t)", rate); break;
    case 1: snprintf(text, size, "sin(%.6g*t)^2", 0.5 * rate); break;
    case 2:
        snprintf(text, size, "abs(t-%.6g)-%.6g+0.5*sin(%.6g*t)", 1.0 / rate, 1.0 / rate, rate);
        break;
    default: {
        double time = 0.0;
        for (int i = 0; i < TABLE_MAX; ++i) {
            times[i] = time;
            factors[i] = i == 0 ? 0.0 : draw_uniform(d, -1.0, 1.0);
            time += draw_decades(d, -2.0, -0.7);
        }
        *f = (hn_profile){.kind = draw_chance(d, 0.5) ? HN_PROFILE_TABLE : HN_PROFILE_SPLINE,
                          .times = times,
                          .factors = factors,
                          .count = TABLE_MAX};
        return;
    }
    }
    *f = (hn_profile){.kind = HN_PROFILE_EXPRESSION, .expression = text};
}

static hn_status add_drive(maker *m, int joint, int coordinate)
{
    static const hn_drive_kind KINDS[] = {HN_DRIVE_FRICTION, HN_DRIVE_FRICTION, HN_DRIVE_FRICTION,
                                          HN_DRIVE_FRICTION, HN_DRIVE_EFFORT,   HN_DRIVE_SERVO,
                                          HN_DRIVE_MOTOR,    HN_DRIVE_SPRING,   HN_DRIVE_STOP,
                                          HN_DRIVE_STOP,     HN_DRIVE_MOTION,   HN_DRIVE_LATCH};
    draw *d = m->d;
    hn_drive_kind kind = KINDS[draw_below(d, sizeof KINDS / sizeof KINDS[0])];
    hn_drive_def def = hn_drive_def_default(kind);
    bool straight = slides(m->kinds[joint], coordinate);
    double mass = m->loads[joint], arm = straight ? 1.0 : 0.3, inertia = mass * arm * arm,
           effort = mass * GRAVITY * arm, rate = draw_uniform(d, 5.0, 40.0);
    double times[TABLE_MAX], factors[TABLE_MAX];
    char text[120];
    hn_drive_id id;
    def.joint = m->joints[joint];
    def.coordinate = coordinate;
    draw_function(m, &def.function, text, sizeof text, times, factors);
    switch (kind) {
    case HN_DRIVE_EFFORT: def.scale = effort * draw_uniform(d, 0.1, 2.0); break;
    case HN_DRIVE_SERVO:
        def.scale = draw_uniform(d, 0.05, 0.4) * (straight ? 0.5 : 1.0);
        def.proportional = inertia * rate * rate;
        def.derivative = 0.5 * inertia * rate;
        if (draw_chance(d, 0.4)) def.limit = effort * draw_uniform(d, 0.3, 2.0);
        break;
    case HN_DRIVE_MOTOR:
        def.stall = effort * draw_uniform(d, 0.3, 2.0);
        def.no_load = draw_uniform(d, 1.0, 10.0);
        break;
    case HN_DRIVE_SPRING: def.stiffness = inertia * rate * rate; break;
    case HN_DRIVE_STOP:
        def.upper = draw_uniform(d, 0.02, 0.3);
        def.lower = -draw_uniform(d, 0.02, 0.3);
        def.rigid = draw_chance(d, 0.5);
        if (def.rigid) def.restitution = draw_chance(d, 0.3) ? 0.0 : draw_uniform(d, 0.0, 0.9);
        else def.stiffness = inertia * draw_decades(d, 3.0, 5.0);
        break;
    case HN_DRIVE_MOTION:
        def.scale = draw_uniform(d, 0.02, 0.3);
        m->led[joint] = true;
        break;
    case HN_DRIVE_FRICTION:
        def.friction = effort * draw_decades(d, -1.5, 0.0);
        if (draw_chance(d, 0.5)) def.coefficient = draw_uniform(d, 0.05, 0.4);
        def.radius = straight ? 1.0 : draw_uniform(d, 0.02, 0.1);
        if (draw_chance(d, 0.4)) {
            def.static_ratio = draw_uniform(d, 1.0, 1.5);
            def.stribeck = draw_uniform(d, 0.05, 0.5);
        }
        break;
    case HN_DRIVE_LATCH: def.latch = draw_uniform(d, -0.3, 0.3); break;
    }
    say(m, hn_drive_kind_name(kind));
    return hn_model_add_drive(m->model, &def, &id);
}

static hn_status add_drives(maker *m)
{
    draw *d = m->d;
    for (int j = 0; j < m->joint_count; ++j) {
        int count = m->kinds[j] == HN_JOINT_SPHERICAL
                        ? 0
                        : hn_model_joint_coordinate_count(m->model, m->joints[j]);
        for (int c = 0; c < count; ++c)
            if (draw_chance(d, m->ring && j > 0 ? 0.2 : 0.8)) TRY(add_drive(m, j, c));
    }
    return HN_OK;
}

static hn_status set_start(maker *m)
{
    draw *d = m->d;
    for (int j = 0; j < m->joint_count; ++j) {
        double rates[HN_JOINT_COORDINATES_MAX] = {0.0};
        int count = hn_model_joint_coordinate_count(m->model, m->joints[j]);
        if (m->led[j] || (m->ring && j > 0)) continue;
        for (int c = 0; c < count; ++c)
            rates[c] = draw_uniform(d, -4.0, 4.0) * (slides(m->kinds[j], c) ? 0.4 : 1.0);
        TRY(hn_model_set_joint_rates(m->model, m->joints[j], rates, count));
    }
    return HN_OK;
}

hn_status driven_model_create(hn_context *context, draw *d, driven_model *out)
{
    *out = (driven_model){.model = NULL};
    maker m = {.d = d, .family = out->family, .family_size = sizeof out->family};
    hn_model_def def = hn_model_def_default();
    def.gravity = vec3_scale(draw_chance(d, 0.8) ? GRAVITY : 0.0, direction(d));
    TRY(hn_model_create(context, &def, &m.model));
    out->model = m.model;
    bool ring = draw_chance(d, 0.2);
    hn_status status = ring ? make_ring(&m) : make_tree(&m, 1 + draw_below(d, BODIES_MAX));
    if (ring) say(&m, "four-bar");
    if (status == HN_OK) status = add_springs(&m);
    if (status == HN_OK) status = add_drives(&m);
    if (status == HN_OK) status = set_start(&m);
    if (status == HN_OK) return HN_OK;
    hn_model_destroy(m.model);
    out->model = NULL;
    return status;
}
