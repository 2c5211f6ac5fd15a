// SPDX-License-Identifier: MIT
// Which momenta a model conserves: the rigid motions (v at the origin, omega) that change neither ground joints nor
// gravity nor loads. Each restriction is a covector on such motions; what no restriction sees is a symmetry.
#include "system/system.h"

#include "linalg/dense.h"

static const double SYMMETRY_TOLERANCE = 1e-15; // of the squared covectors
static const double MEMBER_TOLERANCE = 1e-9;

typedef struct restrictions {
    double normal[6][6]; // sum of c c^T
    double length;
} restrictions;

static void forbid(restrictions *r, hn_vec3 v, hn_vec3 omega)
{
    double c[6];
    vec3_store(v, c);
    vec3_store(vec3_scale(1.0 / r->length, omega), c + 3);
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) r->normal[i][k] += c[i] * c[k];
}

static const hn_vec3 ZERO_VECTOR = {0.0, 0.0, 0.0};

// direction . (v + omega x p) must vanish
static void forbid_point(restrictions *r, hn_vec3 direction, hn_vec3 p)
{
    forbid(r, direction, vec3_cross(p, direction));
}

static hn_vec3 world_axis(int k)
{
    return vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
}

static void forbid_turning(restrictions *r, hn_vec3 axis)
{
    forbid(r, ZERO_VECTOR, vec3_scale(r->length, axis));
}

static void forbid_all_but_turning_about(restrictions *r, hn_vec3 n)
{
    hn_vec3 m = vec3_perpendicular(n);
    forbid_turning(r, m);
    forbid_turning(r, vec3_cross(n, m));
}

static void forbid_moving_point(restrictions *r, hn_vec3 p)
{
    for (int k = 0; k < 3; ++k) forbid_point(r, world_axis(k), p);
}

static void restrict_by_joint(restrictions *r, const joint *j)
{
    bool ground_is_a = j->parent < 0;
    hn_vec3 p = ground_is_a ? j->rho_a : j->rho_b;
    const hn_vec3 *frame = ground_is_a ? j->a : j->b;
    hn_vec3 n = frame[2];
    const joint_type *type = joint_type_of(j->kind);
    switch (type->sides_differ && !ground_is_a ? type->mark_b : type->mark) {
    case MARK_NONE: break;
    case MARK_POINT: forbid_moving_point(r, p); break;
    case MARK_AXIS:
        forbid_moving_point(r, p);
        forbid_all_but_turning_about(r, n);
        break;
    case MARK_LINE:
        forbid_point(r, frame[0], p);
        forbid_point(r, frame[1], p);
        forbid_all_but_turning_about(r, n);
        break;
    case MARK_SLOT:
        forbid(r, frame[0], ZERO_VECTOR);
        forbid(r, frame[1], ZERO_VECTOR);
        for (int k = 0; k < 3; ++k) forbid_turning(r, world_axis(k));
        break;
    case MARK_PLANE:
        forbid(r, n, ZERO_VECTOR);
        forbid_all_but_turning_about(r, n);
        break;
    case MARK_FRAME:
        for (int k = 0; k < 3; ++k)
            forbid(r, world_axis(k), ZERO_VECTOR), forbid_turning(r, world_axis(k));
        break;
    }
}

// is the motion (v, omega) in the span of the group?
static bool is_member(const symmetry_group *group, double length, hn_vec3 v, hn_vec3 omega)
{
    double x[6], size = 0.0, inside = 0.0;
    vec3_store(v, x);
    vec3_store(vec3_scale(length, omega), x + 3);
    for (int k = 0; k < 6; ++k) size += x[k] * x[k];
    for (int m = 0; m < group->count; ++m) {
        double dot = 0.0;
        for (int k = 0; k < 6; ++k) dot += group->motions[m][k] * x[k];
        inside += dot * dot;
    }
    return inside >= (1.0 - MEMBER_TOLERANCE) * size;
}

hn_status system_symmetries(const hn_system *system, symmetry_group *group)
{
    *group = (symmetry_group){0};
    restrictions r = {.length = system->length};
    bool has_point = false;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->parent >= 0 && j->child >= 0) continue;
        restrict_by_joint(&r, j);
        if (!has_point && j->kind != HN_JOINT_FREE) {
            group->point = j->parent < 0 ? j->rho_a : j->rho_b;
            has_point = true;
        }
    }
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS) {
            forbid(&r, system->bodies[i].plane[2], ZERO_VECTOR);
            forbid_all_but_turning_about(&r, system->bodies[i].plane[2]);
        }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        bool drives = e->kind == ELEMENT_DRIVE && e->law->kind != HN_DRIVE_SPRING &&
                      e->law->kind != HN_DRIVE_STOP;
        if (drives) group->loaded = true;
        const element_type *type = element_type_of(e->kind);
        if (type->from_outside || (type->marks_frame && (e->a < 0 || e->b < 0))) {
            if (type->from_outside) group->loaded = true;
            for (int k = 0; k < 3; ++k)
                forbid(&r, world_axis(k), ZERO_VECTOR), forbid_turning(&r, world_axis(k));
        } else if (e->kind == ELEMENT_SPRING && (e->a < 0 || e->b < 0)) {
            const double *end = e->a < 0 ? e->link : e->link + 4;
            hn_vec3 p = vec3_scale(e->a < 0 ? -1.0 : 1.0, vec3(end[1], end[2], end[3]));
            forbid_moving_point(&r, p);
            if (!has_point) group->point = p, has_point = true;
        } else if (e->kind == ELEMENT_TORSION_SPRING && (e->a < 0 || e->b < 0)) {
            // the angle is about the axis of its joint
            hn_vec3 axis = e->a < 0 ? vec3_cross(e->a1, e->a2) : e->b1;
            if (e->a < 0) forbid_turning(&r, axis);
            else
                for (int k = 0; k < 3; ++k) forbid_turning(&r, world_axis(k));
        }
    }
    double g = vec3_norm(system->gravity);
    if (g > 0.0) {
        hn_vec3 down = vec3_scale(1.0 / g, system->gravity);
        forbid(&r, down, ZERO_VECTOR);
        forbid_all_but_turning_about(&r, down);
    }

    double values[6], vectors[36];
    TRY(dense_symmetric_eigen(system->context, 6, &r.normal[0][0], values, vectors));
    double bound = SYMMETRY_TOLERANCE * fmax(values[5], 1.0);
    for (int m = 0; m < 6; ++m)
        if (values[m] <= bound) {
            for (int k = 0; k < 6; ++k) group->motions[group->count][k] = vectors[k * 6 + m];
            group->count++;
        }
    // translations are what the upper left block alone does not see
    double block[9];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) block[3 * i + k] = r.normal[i][k];
    TRY(dense_symmetric_eigen(system->context, 3, block, values, vectors));
    for (int m = 0; m < 3; ++m)
        if (values[m] <= bound) {
            for (int k = 0; k < 3; ++k)
                group->translations[group->translation_count][k] = vectors[k * 3 + m];
            group->translation_count++;
        }
    for (int k = 0; k < 3; ++k) {
        hn_vec3 axis = world_axis(k);
        group->linear[k] = is_member(group, system->length, axis, ZERO_VECTOR);
        // rotation about the point: v at the origin is p x omega
        group->angular[k] = is_member(group, system->length, vec3_cross(group->point, axis), axis);
    }
    return HN_OK;
}
