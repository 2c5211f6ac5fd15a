// SPDX-License-Identifier: MIT
// Under a mirror a polar vector v becomes S v and an axial one -S v. Axes of joints that turn are axial, so that their
// angles stay; displacements along them change their sign then, but in planes, where both are right-handed.
#include "hunter/transformations.h"

#include "base/vector.h"

transformation no_transformation(void)
{
    return (transformation){
        .turn = mat3_identity(), .length = 1.0, .mass = 1.0, .time = 1.0, .prefix = 'a'};
}

bool can_turn(const plan *p)
{
    for (int k = 0; k < p->drive_count; ++k)
        if (p->joints[p->drives[k].joint].def.kind == HN_JOINT_FREE) return false;
    return true;
}

// ---- vectors ----------------------------------------------------------------------------------------------------

static hn_vec3 mirrored(hn_vec3 v)
{
    return vec3(-v.x, v.y, v.z);
}

static hn_vec3 polar(const transformation *t, hn_vec3 v)
{
    return mat3_apply(&t->turn, t->mirror ? mirrored(v) : v);
}

static hn_vec3 axial(const transformation *t, hn_vec3 v)
{
    return mat3_apply(&t->turn, t->mirror ? vec3_negate(mirrored(v)) : v);
}

static hn_vec3 place(const transformation *t, hn_vec3 x)
{
    return vec3_scale(t->length, vec3_add(polar(t, x), t->move));
}

hn_vec3 back_polar(const transformation *t, hn_vec3 v)
{
    hn_vec3 x = mat3_apply_transposed(&t->turn, v);
    return t->mirror ? mirrored(x) : x;
}

hn_vec3 back_axial(const transformation *t, hn_vec3 v)
{
    hn_vec3 x = mat3_apply_transposed(&t->turn, v);
    return t->mirror ? vec3_negate(mirrored(x)) : x;
}

hn_vec3 back_place(const transformation *t, hn_vec3 x)
{
    return back_polar(t, vec3_subtract(vec3_scale(1.0 / t->length, x), t->move));
}

// Components in the frame of a body: mirrored along its first axis; along the second one of the section of a beam,
// whose first axis is a direction of the world and whose third one is its own.
static hn_vec3 in_frame(const transformation *t, bool beam, bool is_axial, hn_vec3 v)
{
    if (!t->mirror) return v;
    hn_vec3 x = beam ? vec3(v.x, -v.y, v.z) : mirrored(v);
    return is_axial ? vec3_negate(x) : x;
}

hn_mat3 back_orientation(const transformation *t, bool beam, const hn_mat3 *r)
{
    hn_vec3 column[3];
    for (int k = 0; k < 3; ++k) column[k] = back_polar(t, mat3_column(r, k));
    int flipped = beam ? 1 : 0;
    if (t->mirror) column[flipped] = vec3_negate(column[flipped]);
    return mat3_from_columns(column[0], column[1], column[2]);
}

static hn_mat3 orientation(const transformation *t, const hn_mat3 *r)
{
    hn_vec3 column[3];
    for (int k = 0; k < 3; ++k) column[k] = polar(t, mat3_column(r, k));
    if (t->mirror) column[0] = vec3_negate(column[0]);
    return mat3_from_columns(column[0], column[1], column[2]);
}

double coordinate_sign(const transformation *t, hn_joint_kind kind, int coordinate)
{
    if (!t->mirror) return 1.0;
    bool along = (kind == HN_JOINT_CYLINDRICAL || kind == HN_JOINT_SCREW) && coordinate == 0;
    bool first = kind == HN_JOINT_FREE && coordinate == 0;
    return along || first ? -1.0 : 1.0;
}

// ---- bodies -------------------------------------------------------------------------------------------------------

static void change_beam(const transformation *t, plan_body *b)
{
    for (int k = 0; k < b->row.point_count; ++k) b->points[k] = place(t, b->points[k]);
    b->row.direction = polar(t, b->row.direction);
    if (t->mirror) b->row.twist = -b->row.twist;
    b->row.damping *= t->time;
    for (int i = 0; i < 6; ++i)
        b->row.section.stiffness[i][i] *= force_unit(t) * (i < 3 ? 1.0 : t->length * t->length);
    b->row.section.mass *= t->mass / t->length;
    for (int i = 0; i < 2; ++i) b->row.section.inertia[i] *= t->mass * t->length;
    b->tip_mass *= t->mass;
}

static void change_body(const transformation *t, plan_body *b)
{
    b->size *= t->length;
    if (b->beam) {
        change_beam(t, b);
        return;
    }
    double inertia = t->mass * t->length * t->length, sign = t->mirror ? -1.0 : 1.0;
    hn_vec3 p = b->def.products_of_inertia;
    b->def.mass *= t->mass;
    b->def.inertia = vec3_scale(inertia, b->def.inertia);
    b->def.products_of_inertia = vec3(inertia * sign * p.x, inertia * sign * p.y, inertia * p.z);
    b->def.center_of_mass = vec3_scale(t->length, in_frame(t, false, false, b->def.center_of_mass));
    b->def.position = place(t, b->def.position);
    // a point mass has none
    if (b->def.kind == HN_BODY_RIGID) b->def.orientation = orientation(t, &b->def.orientation);
    b->def.plane_normal = polar(t, b->def.plane_normal);
    b->velocity = vec3_scale(t->length / t->time, polar(t, b->velocity));
    b->angular_velocity = vec3_scale(1.0 / t->time, axial(t, b->angular_velocity));
}

// ---- joints -------------------------------------------------------------------------------------------------------

static bool axis_is_polar(hn_joint_kind kind)
{
    return kind == HN_JOINT_PRISMATIC || kind == HN_JOINT_SLOT;
}

static void change_rates(const transformation *t, plan_joint *j)
{
    if (j->def.kind == HN_JOINT_SPHERICAL) {
        hn_vec3 omega = axial(t, vec3_load(j->rates));
        vec3_store(vec3_scale(1.0 / t->time, omega), j->rates);
        return;
    }
    for (int k = 0; k < j->rate_count; ++k)
        j->rates[k] *= coordinate_sign(t, j->def.kind, k) *
                       (plan_is_angle(j->def.kind, k) ? 1.0 : t->length) / t->time;
}

static void change_joint(const transformation *t, plan_joint *j)
{
    hn_joint_def *f = &j->def;
    f->point_a = place(t, f->point_a);
    f->point_b = place(t, f->point_b);
    f->axis_a = axis_is_polar(f->kind) ? polar(t, f->axis_a) : axial(t, f->axis_a);
    f->axis_b = axial(t, f->axis_b);
    f->direction = polar(t, f->direction);
    f->length *= t->length;
    f->pitch *= t->length * (t->mirror ? -1.0 : 1.0);
    change_rates(t, j);
}

static bool is_driven(const plan *p, int joint)
{
    for (int k = 0; k < p->drive_count; ++k)
        if (p->drives[k].joint == joint) return true;
    for (int k = 0; k < p->rotation_count; ++k)
        if (p->rotations[k].joint == joint) return true;
    for (int k = 0; k < p->coupling_count; ++k)
        for (int i = 0; i < p->couplings[k].def.term_count; ++i)
            if (p->couplings[k].joints[i] == joint) return true;
    return false;
}

// Which body of a joint moves with a start rate may follow from which is named second, where the ground holds neither
// (docs/manual/model-format.md).
static bool may_swap(const plan *p, int joint)
{
    const plan_joint *j = &p->joints[joint];
    if (j->a.body == PLAN_GROUND || j->b.body == PLAN_GROUND) return true;
    for (int i = 0; i < p->joint_count; ++i)
        if (p->joints[i].rate_count > 0 &&
            plan_joint_mechanism(p, i) == plan_joint_mechanism(p, joint))
            return false;
    for (int i = 0; i < p->body_count; ++i)
        if (p->bodies[i].moves && p->bodies[i].mechanism == plan_joint_mechanism(p, joint))
            return false;
    return true;
}

// The other body first, with the axis turned round: angle and displacement stay what they are.
static void swap_bodies(const plan *p, int joint, plan_joint *j)
{
    hn_joint_def *f = &j->def;
    switch (f->kind) {
    case HN_JOINT_REVOLUTE:
    case HN_JOINT_PRISMATIC:
    case HN_JOINT_CYLINDRICAL:
    case HN_JOINT_SCREW: f->axis_a = vec3_negate(f->axis_a); break;
    case HN_JOINT_FIXED: break;
    case HN_JOINT_SPHERICAL:
        if (is_driven(p, joint)) return;
        for (int k = 0; k < j->rate_count; ++k) j->rates[k] = -j->rates[k];
        break;
    case HN_JOINT_DISTANCE: {
        hn_vec3 point = f->point_a;
        f->point_a = f->point_b;
        f->point_b = point;
        break;
    }
    case HN_JOINT_UNIVERSAL: {
        if (is_driven(p, joint)) return;
        hn_vec3 axis = f->axis_a;
        f->axis_a = f->axis_b;
        f->axis_b = axis;
        double rate = j->rates[0];
        j->rates[0] = -j->rates[1];
        j->rates[1] = -rate;
        break;
    }
    default: return;
    }
    plan_place a = j->a;
    j->a = j->b;
    j->b = a;
    j->swapped = !j->swapped;
}

// ---- loads and springs --------------------------------------------------------------------------------------------

static void change_function(const transformation *t, plan_function *f)
{
    f->start *= t->time, f->peak *= t->time, f->end *= t->time, f->time *= t->time;
    f->rate /= t->time;
    for (int i = 0; i < f->count; ++i) f->times[i] *= t->time;
}

static bool is_beam(const plan *p, plan_place at)
{
    return at.body != PLAN_GROUND && p->bodies[at.body].beam;
}

static void change_load(const plan *p, const transformation *t, plan_load *l)
{
    bool beam = is_beam(p, l->body);
    hn_load_def *f = &l->def;
    hn_vec3 v = f->body_fixed ? in_frame(t, beam, f->torque, f->vector)
                : f->torque   ? axial(t, f->vector)
                              : polar(t, f->vector);
    f->vector = vec3_scale(f->torque ? energy_unit(t) : force_unit(t), v);
    f->point = vec3_scale(t->length, in_frame(t, beam, false, f->point));
    change_function(t, &l->function);
}

static void change_line_load(const transformation *t, plan_line_load *l)
{
    hn_vec3 v =
        l->def.body_fixed ? in_frame(t, true, false, l->def.vector) : polar(t, l->def.vector);
    l->def.vector = vec3_scale(force_unit(t) / t->length, v);
    change_function(t, &l->function);
}

static void change_springs(const transformation *t, plan *p)
{
    double stiffness = force_unit(t) / t->length;
    for (int k = 0; k < p->spring_count; ++k) {
        hn_spring_def *f = &p->springs[k].def;
        f->point_a = place(t, f->point_a);
        f->point_b = place(t, f->point_b);
        f->stiffness *= stiffness;
        f->damping *= stiffness * t->time;
        f->rest_length *= t->length;
    }
    for (int k = 0; k < p->torsion_count; ++k) {
        p->torsions[k].def.stiffness *= energy_unit(t);
        p->torsions[k].def.damping *= energy_unit(t) * t->time;
    }
    for (int k = 0; k < p->bushing_count; ++k) {
        hn_bushing_def *f = &p->bushings[k].def;
        f->point_a = place(t, f->point_a);
        f->frame_a = orientation(t, &f->frame_a);
        for (int i = 0; i < 6; ++i) {
            double unit = i < 3 ? stiffness : energy_unit(t);
            f->stiffness[i] *= unit;
            f->damping[i] *= unit * t->time;
        }
    }
}

// ---- drives -------------------------------------------------------------------------------------------------------

// A table of an effort over a coordinate or its rate, which change their units and both their signs.
static void change_table(plan_function *f, double way, double effort, double sign)
{
    plan_function old = *f;
    for (int i = 0; i < f->count; ++i) {
        int from = sign < 0.0 ? f->count - 1 - i : i;
        f->times[i] = way * sign * old.times[from];
        f->factors[i] = effort * sign * old.factors[from];
    }
}

static double scale_of(hn_drive_kind kind, double way, double effort)
{
    if (kind == HN_DRIVE_EFFORT) return effort;
    return kind == HN_DRIVE_SERVO || kind == HN_DRIVE_MOTION ? way : 1.0;
}

static void change_drive(const plan *p, const transformation *t, plan_drive *x)
{
    hn_drive_def *f = &x->def;
    hn_joint_kind kind = p->joints[x->joint].def.kind;
    bool angle = plan_is_angle(kind, f->coordinate);
    double way = angle ? 1.0 : t->length, effort = angle ? energy_unit(t) : force_unit(t),
           stiffness = effort / way, sign = coordinate_sign(t, kind, f->coordinate);
    f->scale *= sign * scale_of(f->kind, way, effort);
    f->proportional *= stiffness;
    f->derivative *= stiffness * t->time;
    f->integral *= stiffness / t->time;
    f->limit *= effort;
    f->stall *= effort;
    f->no_load *= way / t->time;
    f->stiffness *= stiffness;
    f->damping *= stiffness * t->time;
    f->rest *= sign * way;
    f->latch *= sign * way;
    double lower = f->lower, upper = f->upper;
    f->lower = way * (sign < 0.0 ? -upper : lower);
    f->upper = way * (sign < 0.0 ? -lower : upper);
    f->friction *= effort;
    if (angle) f->radius *= t->length;
    f->stribeck *= way / t->time;
    f->armature *= stiffness * t->time * t->time;
    change_function(t, &x->function);
    change_table(&x->spring, way, effort, sign);
    change_table(&x->damper, way / t->time, effort, sign);
}

static void change_rotation(const transformation *t, plan_rotation *x)
{
    for (int k = 0; k < 3; ++k) {
        // the frames of a joint that is placed in the world are those of the world
        x->def.axes[k] = axial(t, x->def.axes[k]);
        change_function(t, &x->functions[k]);
    }
}

static void change_coupling(const plan *p, const transformation *t, plan_coupling *x)
{
    for (int k = 0; k < x->def.term_count; ++k) {
        hn_joint_kind kind = p->joints[x->joints[k]].def.kind;
        int c = x->def.coordinates[k];
        x->def.factors[k] *=
            coordinate_sign(t, kind, c) / (plan_is_angle(kind, c) ? 1.0 : t->length);
    }
}

// ---- all ----------------------------------------------------------------------------------------------------------

void plan_transform(const plan *from, const transformation *t, plan *to)
{
    *to = *from;
    to->prefix = t->prefix;
    to->reversed = t->reversed;
    to->gravity = vec3_scale(t->length / (t->time * t->time), polar(t, from->gravity));
    for (int i = 0; i < to->body_count; ++i) change_body(t, &to->bodies[i]);
    for (int i = 0; i < to->joint_count; ++i) {
        change_joint(t, &to->joints[i]);
        if (t->swapped && may_swap(from, i)) swap_bodies(from, i, &to->joints[i]);
    }
    for (int k = 0; k < to->load_count; ++k) change_load(to, t, &to->loads[k]);
    for (int k = 0; k < to->line_load_count; ++k) change_line_load(t, &to->line_loads[k]);
    change_springs(t, to);
    for (int k = 0; k < to->drive_count; ++k) change_drive(to, t, &to->drives[k]);
    for (int k = 0; k < to->rotation_count; ++k) change_rotation(t, &to->rotations[k]);
    for (int k = 0; k < to->coupling_count; ++k) change_coupling(to, t, &to->couplings[k]);
    for (int k = 0; k < to->mechanism_count; ++k) {
        to->mechanisms[k].length *= t->length;
        to->mechanisms[k].mass *= t->mass;
        to->mechanisms[k].rate /= t->time;
    }
}

static double factor(draw *d, double part)
{
    return 1.0 + part * draw_uniform(d, -1.0, 1.0);
}

static void disturb_body(plan_body *b, draw *d, double part)
{
    if (b->beam) {
        b->row.section.mass *= factor(d, part);
        return;
    }
    b->def.mass *= factor(d, part);
    b->velocity = vec3_scale(factor(d, part), b->velocity);
    b->angular_velocity = vec3_scale(factor(d, part), b->angular_velocity);
    if (b->def.kind == HN_BODY_RIGID)
        b->def.position = vec3_add_scaled(b->def.position, part * b->size, draw_direction(d));
}

void plan_disturb(plan *p, draw *d, double part)
{
    p->gravity = vec3_add_scaled(p->gravity, part * vec3_norm(p->gravity), draw_direction(d));
    for (int i = 0; i < p->body_count; ++i) disturb_body(&p->bodies[i], d, part);
    for (int i = 0; i < p->joint_count; ++i)
        for (int k = 0; k < p->joints[i].rate_count; ++k) p->joints[i].rates[k] *= factor(d, part);
    for (int k = 0; k < p->load_count; ++k)
        p->loads[k].def.vector = vec3_scale(factor(d, part), p->loads[k].def.vector);
    for (int k = 0; k < p->spring_count; ++k) {
        p->springs[k].def.stiffness *= factor(d, part);
        p->springs[k].def.damping *= factor(d, part);
        p->springs[k].def.rest_length *= factor(d, part);
    }
    for (int k = 0; k < p->torsion_count; ++k) p->torsions[k].def.stiffness *= factor(d, part);
    for (int k = 0; k < p->bushing_count; ++k)
        for (int i = 0; i < 6; ++i) p->bushings[k].def.stiffness[i] *= factor(d, part);
    for (int k = 0; k < p->drive_count; ++k) {
        hn_drive_def *f = &p->drives[k].def;
        f->scale *= factor(d, part);
        f->proportional *= factor(d, part);
        f->stiffness *= factor(d, part);
        f->friction *= factor(d, part);
        f->coefficient *= factor(d, part);
        f->latch *= factor(d, part);
        f->lower *= factor(d, part);
        f->upper *= factor(d, part);
    }
}
