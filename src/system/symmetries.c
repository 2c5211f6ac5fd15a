// SPDX-License-Identifier: MIT
// Which momenta are conserved: rigid motions (v, omega) that change neither ground joints nor gravity nor loads. Each
// restriction is a covector on such motions; what no restriction sees is a symmetry. Every mechanism has its own, by
// its own length and about a point on the ground of its own; the model has those that all mechanisms share.
#include "system/system.h"

#include "linalg/dense.h"

#include <string.h>

static const double SYMMETRY_TOLERANCE = 1e-15; // of the squared covectors

typedef struct restrictions {
    double normal[6][6]; // sum of c c^T
    double length;       // m
    hn_vec3 point;       // m, on the ground: motions are (v there, length omega)
    bool has_point;
    bool any; // others than gravity
} restrictions;

static void forbid(restrictions *r, hn_vec3 v, hn_vec3 omega)
{
    double c[6];
    vec3_store(v, c);
    vec3_store(vec3_scale(1.0 / r->length, omega), c + 3);
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) r->normal[i][k] += c[i] * c[k];
    r->any = true;
}

static const hn_vec3 ZERO_VECTOR = {0.0, 0.0, 0.0};

// direction . (v + omega x p) must vanish
static void forbid_point(restrictions *r, hn_vec3 direction, hn_vec3 p)
{
    forbid(r, direction, vec3_cross(vec3_subtract(p, r->point), direction));
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

static void forbid_all(restrictions *r)
{
    for (int k = 0; k < 3; ++k)
        forbid(r, world_axis(k), ZERO_VECTOR), forbid_turning(r, world_axis(k));
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
    case MARK_FRAME: forbid_all(r); break;
    }
}

static hn_vec3 ground_point(const joint *j)
{
    return j->parent < 0 ? j->rho_a : j->rho_b;
}

static bool is_spring_on_ground(const element *e)
{
    return e->kind == ELEMENT_SPRING && (e->a < 0 || e->b < 0);
}

static hn_vec3 spring_point(const element *e)
{
    const double *end = e->a < 0 ? e->link : e->link + 4;
    return vec3_scale(e->a < 0 ? -1.0 : 1.0, vec3(end[1], end[2], end[3]));
}

static void restrict_by_element(restrictions *r, const element *e)
{
    const element_type *type = element_type_of(e->kind);
    if (type->from_outside || (type->marks_frame && (e->a < 0 || e->b < 0))) {
        forbid_all(r);
    } else if (is_spring_on_ground(e)) {
        forbid_moving_point(r, spring_point(e));
    } else if (e->kind == ELEMENT_TORSION_SPRING && (e->a < 0 || e->b < 0)) {
        // the angle is about the axis of its joint
        if (e->a < 0) forbid_turning(r, vec3_cross(e->a1, e->a2));
        else
            for (int k = 0; k < 3; ++k) forbid_turning(r, world_axis(k));
    }
}

static void restrict_by_gravity(restrictions *r, hn_vec3 gravity)
{
    double g = vec3_norm(gravity);
    if (!(g > 0.0)) return;
    hn_vec3 down = vec3_scale(1.0 / g, gravity);
    forbid(r, down, ZERO_VECTOR);
    forbid_all_but_turning_about(r, down);
}

static void keep_point(restrictions *r, hn_vec3 point)
{
    if (!r->has_point) r->point = point, r->has_point = true;
}

static int element_mechanism(const hn_system *system, const element *e)
{
    return system->mechanism[element_body(e)];
}

static bool is_on_ground(const joint *j)
{
    return j->parent < 0 || j->child < 0;
}

static int joint_mechanism(const hn_system *system, const joint *j)
{
    return system->mechanism[j->parent >= 0 ? j->parent : j->child];
}

// What each mechanism has of its own, gravity left out.
static void collect(const hn_system *system, restrictions *own)
{
    for (int m = 0; m < system->mechanism_count; ++m)
        own[m] = (restrictions){.length = system->mechanism_count == 1
                                              ? system->length
                                              : system->unit_length[system->mechanism_first[m]]};
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (is_on_ground(j) && j->kind != HN_JOINT_FREE)
            keep_point(&own[joint_mechanism(system, j)], ground_point(j));
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        if (is_spring_on_ground(e)) keep_point(&own[element_mechanism(system, e)], spring_point(e));
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (is_on_ground(j)) restrict_by_joint(&own[joint_mechanism(system, j)], j);
    }
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS) {
            restrictions *r = &own[system->mechanism[i]];
            forbid(r, system->bodies[i].plane[2], ZERO_VECTOR);
            forbid_all_but_turning_about(r, system->bodies[i].plane[2]);
        }
    for (int i = 0; i < system->element_count; ++i)
        restrict_by_element(&own[element_mechanism(system, &system->elements[i])],
                            &system->elements[i]);
}

static double dot6(const double *x, const double *y)
{
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) sum += x[k] * y[k];
    return sum;
}

// What is left of x beside the orthonormal rows; twice, as a difference of near equals is rounded.
static void remove_span(const double *rows, int count, double *x)
{
    for (int pass = 0; pass < 2; ++pass)
        for (int c = 0; c < count; ++c) {
            double dot = dot6(rows + 6 * c, x);
            for (int k = 0; k < 6; ++k) x[k] -= dot * rows[6 * c + k];
        }
}

// Translations among the motions, and the rest at right angles to them with |omega| = 1.
static void split(symmetry_group *group, int translation_count, const double *translations)
{
    const double INDEPENDENT = 1e-8; // what is shorter depends on the others
    double basis[6][6] = {{0.0}};
    int count = group->translation_count = translation_count;
    for (int c = 0; c < count; ++c) {
        memcpy(group->translations[c], translations + 3 * c, 3 * sizeof(double));
        memcpy(basis[c], translations + 3 * c, 3 * sizeof(double));
    }
    group->rotation_count = 0;
    for (int m = 0; m < group->count && count < group->count; ++m) {
        double x[6];
        memcpy(x, group->motions[m], sizeof x);
        remove_span(basis[0], count, x);
        double size = sqrt(dot6(x, x));
        if (size < INDEPENDENT) continue;
        for (int k = 0; k < 6; ++k) x[k] /= size;
        memcpy(basis[count++], x, sizeof x);
        double spin = vec3_norm(vec3_load(x + 3)) / group->length;
        double *to = group->rotations[group->rotation_count++];
        for (int k = 0; k < 3; ++k)
            to[k] = x[k] / spin, to[3 + k] = x[3 + k] / group->length / spin;
    }
}

// The motions that no restriction sees, gravity included.
static hn_status find_group(const hn_system *system, const restrictions *own, symmetry_group *group)
{
    restrictions r = *own;
    restrict_by_gravity(&r, system->gravity);
    *group = (symmetry_group){.point = r.point, .length = r.length};
    double values[6], vectors[36], block[9], translations[9];
    TRY(dense_symmetric_eigen(system->context, 6, &r.normal[0][0], values, vectors));
    double bound = SYMMETRY_TOLERANCE * fmax(values[5], 1.0);
    for (int m = 0; m < 6; ++m)
        if (values[m] <= bound) {
            for (int k = 0; k < 6; ++k) group->motions[group->count][k] = vectors[k * 6 + m];
            group->count++;
        }
    // translations are what the upper left block alone does not see
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) block[3 * i + k] = r.normal[i][k];
    TRY(dense_symmetric_eigen(system->context, 3, block, values, vectors));
    int count = 0;
    for (int m = 0; m < 3; ++m)
        if (values[m] <= bound) {
            for (int k = 0; k < 3; ++k) translations[3 * count + k] = vectors[k * 3 + m];
            count++;
        }
    split(group, count, translations);
    return HN_OK;
}

// The same motions as (v at the point, length omega), orthonormal; translations first, which carry no places.
static void measure_by(symmetry_group *group, hn_vec3 point, double length)
{
    hn_vec3 way = vec3_subtract(point, group->point);
    int count = 0;
    for (int m = 0; m < group->translation_count + group->rotation_count; ++m) {
        double x[6] = {0.0};
        if (m < group->translation_count) memcpy(x, group->translations[m], 3 * sizeof(double));
        else {
            double *from = group->rotations[m - group->translation_count];
            hn_vec3 turn = vec3_load(from + 3),
                    v = vec3_add(vec3_load(from), vec3_cross(turn, way));
            vec3_store(v, x), vec3_store(vec3_scale(length, turn), x + 3);
        }
        remove_span(group->motions[0], count, x);
        double size = sqrt(dot6(x, x));
        for (int k = 0; k < 6; ++k) group->motions[count][k] = x[k] / size;
        count++;
    }
    group->count = count;
    group->point = point;
    group->length = length;
}

// Combinations of the orthonormal `motions` of the group whose `parts` (rows of six) vanish, into `kept`.
static hn_status without_parts(const hn_system *system, const symmetry_group *group,
                               const double *parts, double kept[6][6], int *kept_count)
{
    int n = group->count;
    double gram[36] = {0.0}, values[6], vectors[36];
    *kept_count = 0;
    if (n == 0) return HN_OK;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) gram[i * n + k] = dot6(parts + 6 * i, parts + 6 * k);
    TRY(dense_symmetric_eigen(system->context, n, gram, values, vectors));
    for (int m = 0; m < n; ++m) {
        if (values[m] > SYMMETRY_TOLERANCE) continue;
        double *to = kept[(*kept_count)++];
        for (int k = 0; k < 6; ++k) {
            to[k] = 0.0;
            for (int i = 0; i < n; ++i) to[k] += vectors[i * n + m] * group->motions[i][k];
        }
    }
    return HN_OK;
}

// Leave of the group what is a symmetry of `other` too, by the length and the point of that one.
static hn_status intersect(const hn_system *system, const symmetry_group *other,
                           symmetry_group *group)
{
    double parts[6][6] = {{0.0}}, kept[6][6];
    measure_by(group, other->point, other->length);
    for (int m = 0; m < group->count; ++m) {
        memcpy(parts[m], group->motions[m], sizeof parts[m]);
        remove_span(other->motions[0], other->count, parts[m]);
    }
    TRY(without_parts(system, group, parts[0], kept, &group->count));
    memcpy(group->motions, kept, sizeof kept);
    for (int m = 0; m < group->count; ++m) {
        memcpy(parts[m], group->motions[m], sizeof parts[m]);
        for (int k = 0; k < 3; ++k) parts[m][k] = 0.0;
    }
    int count = 0;
    double translations[9];
    TRY(without_parts(system, group, parts[0], kept, &count));
    if (count > 3) count = 3;
    for (int m = 0; m < count; ++m) memcpy(translations + 3 * m, kept[m], 3 * sizeof(double));
    split(group, count, translations);
    return HN_OK;
}

// is the motion (v at the point, omega) in the span of the group?
static bool is_member(const symmetry_group *group, hn_vec3 v, hn_vec3 omega)
{
    double x[6];
    vec3_store(v, x);
    vec3_store(vec3_scale(group->length, omega), x + 3);
    double size = dot6(x, x);
    remove_span(group->motions[0], group->count, x);
    return dot6(x, x) <= SYMMETRY_TOLERANCE * size;
}

static void name_components(symmetry_group *group)
{
    for (int k = 0; k < 3; ++k) {
        hn_vec3 axis = world_axis(k);
        group->linear[k] = is_member(group, axis, ZERO_VECTOR);
        group->angular[k] = is_member(group, ZERO_VECTOR, axis);
    }
}

static bool is_loaded(const hn_system *system)
{
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        bool drives = e->kind == ELEMENT_DRIVE && e->law->kind != HN_DRIVE_SPRING &&
                      e->law->kind != HN_DRIVE_STOP;
        if (drives || element_type_of(e->kind)->from_outside) return true;
    }
    return false;
}

// The point that reports name: of the first joint or spring on the ground.
static hn_vec3 first_point(const hn_system *system)
{
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (is_on_ground(j) && j->kind != HN_JOINT_FREE) return ground_point(j);
    }
    for (int i = 0; i < system->element_count; ++i)
        if (is_spring_on_ground(&system->elements[i])) return spring_point(&system->elements[i]);
    return ZERO_VECTOR;
}

static hn_status find_groups(const hn_system *system, const restrictions *own,
                             symmetry_group *whole, symmetry_group *mechanisms)
{
    const restrictions none = {.length = system->length};
    symmetry_group unbound;
    TRY(find_group(system, &none, &unbound));
    *whole = unbound;
    for (int m = 0; m < system->mechanism_count; ++m) {
        symmetry_group found = unbound;
        if (own[m].any) {
            TRY(find_group(system, &own[m], &found));
            if (system->mechanism_count == 1) *whole = found;
            else if (whole->count > 0) TRY(intersect(system, &found, whole));
        }
        if (mechanisms != NULL) mechanisms[m] = found;
    }
    if (system->mechanism_count > 1) measure_by(whole, first_point(system), system->length);
    return HN_OK;
}

hn_status system_symmetries(const hn_system *system, symmetry_group *whole,
                            symmetry_group *mechanisms)
{
    restrictions *own =
        context_allocate(system->context, (size_t)system->mechanism_count * sizeof(restrictions));
    if (own == NULL) return HN_OUT_OF_MEMORY;
    collect(system, own);
    hn_status status = find_groups(system, own, whole, mechanisms);
    context_release(system->context, own);
    TRY(status);
    whole->loaded = is_loaded(system);
    name_components(whole);
    return HN_OK;
}
