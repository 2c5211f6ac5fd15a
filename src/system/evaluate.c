// SPDX-License-Identifier: MIT
// Quantities of a system at a configuration: constraints, twists, wrenches.
#include "system/system.h"

#include "base/processor.h"
#include "base/sum.h"
#include "joints/pivot.h"
#include "linalg/small_lu.h"

void twist_to_velocity(const double *q, const double *twist, double *v)
{
    hn_vec3 omega = vec3_load(twist + 3);
    for (int k = 0; k < 3; ++k) v[k] = twist[k];
    for (int k = 1; k < 4; ++k) vec3_store(vec3_cross(omega, vec3_load(q + 3 * k)), v + 3 * k);
}

void force_to_wrench(const double *q, const double *f, double *wrench)
{
    const hn_vec3 moment = force_moment(q, f);
    for (int k = 0; k < 3; ++k) wrench[k] = f[k];
    vec3_store(moment, wrench + 3);
}

void vectors_to_wrench(const double *q, const hn_vec3 f[4], double *wrench)
{
    double flat[POSE_SIZE];
    for (int k = 0; k < 4; ++k) vec3_store(f[k], flat + 3 * k);
    force_to_wrench(q, flat, wrench);
}

void row_add_force(const constraint_row *row, int a, int b, const double *at_a, const double *at_b,
                   double factor, double *force)
{
    const int body[2] = {a, b};
    hn_vec3 gradient[8];
    row_gradient(row, at_a, at_b, gradient);
    for (int k = 0; k < 8; ++k) {
        if (body[k / 4] < 0) continue;
        double *to = force + POSE_SIZE * (size_t)body[k / 4] + 3 * (k % 4);
        vec3_store(vec3_add_scaled(vec3_load(to), factor, gradient[k]), to);
    }
}

void wrench_hold(const system_body *body, double *wrench)
{
    if (body->has_directors) return;
    hn_vec3 force = vec3_load(wrench), normal = body->plane[2];
    if (body->kind == HN_BODY_PLANAR_POINT_MASS)
        vec3_store(vec3_add_scaled(force, -vec3_dot(normal, force), normal), wrench);
    vec3_store(vec3(0.0, 0.0, 0.0), wrench + 3);
}

void joint_wrenches(const joint *rows, const double *a, const double *b, bool on_b,
                    const system_body *body, double wrenches[][TWIST_SIZE])
{
    for (int r = 0; r < rows->row_count; ++r) {
        hn_vec3 gradient[8];
        const constraint_row row = joint_row(rows, r);
        row_gradient(&row, a, b, gradient);
        vectors_to_wrench(on_b ? b : a, gradient + (on_b ? 4 : 0), wrenches[r]);
        wrench_hold(body, wrenches[r]);
    }
}

bool wrench_multipliers(int count, double length, double wrenches[][TWIST_SIZE], double *wrench,
                        double *lambda)
{
    double unit = 1.0 / length;
    for (int k = 3; k < TWIST_SIZE; ++k) {
        wrench[k] *= unit;
        for (int r = 0; r < count; ++r) wrenches[r][k] *= unit;
    }
    return small_combination(count, TWIST_SIZE, wrenches[0], wrench, lambda);
}

double row_rate(const constraint_row *row, int a, int b, const double *q, const double *v)
{
    const int body[2] = {a, b};
    hn_vec3 gradient[8];
    double sum = 0.0;
    row_gradient(row, system_pose(q, a), system_pose(q, b), gradient);
    for (int k = 0; k < 8; ++k)
        if (body[k / 4] >= 0)
            sum += vec3_dot(gradient[k],
                            vec3_load(v + POSE_SIZE * (size_t)body[k / 4] + 3 * (size_t)(k % 4)));
    return sum;
}

void velocity_to_twist(const double *q, const double *v, double *twist)
{
    hn_vec3 omega = vec3(0.0, 0.0, 0.0);
    for (int k = 1; k < 4; ++k)
        omega = vec3_add_scaled(omega, 0.5, vec3_cross(vec3_load(q + 3 * k), vec3_load(v + 3 * k)));
    for (int k = 0; k < 3; ++k) twist[k] = v[k];
    vec3_store(omega, twist + 3);
}

double system_joint_size(const hn_system *system, const joint *j)
{
    if (j->parent < 0) return system->sizes[j->child];
    if (j->child < 0) return system->sizes[j->parent];
    double a = system->sizes[j->parent], b = system->sizes[j->child];
    return a < b ? a : b;
}

static const double OPENING_BOUND = 1e-10;      // of a joint, over its size,
static const double ROUND_OFF = 16.0 * 0x1p-52; // and over the coordinates and arms that meet in it
static const double PLACE_PART =
    0.01; // of its distance from the origin: a joint's size is no less for its residual

// The larger of two; poses that are no numbers are seen elsewhere.
static inline double larger_of(double a, double b)
{
    return a > b ? a : b;
}

// Largest coordinate of a body, and its size: what round-off at its joints is made of.
static inline double place_of(const hn_system *system, const double *q, int body)
{
    if (body < 0) return 0.0;
    const double *pose = system_pose(q, body);
    return larger_of(fabs(pose[0]), larger_of(fabs(pose[1]), fabs(pose[2]))) + system->sizes[body];
}

// What residuals of a joint's places are measured by, m.
static inline double gap_unit(double size, double place)
{
    return larger_of(size, PLACE_PART * place);
}

double system_gap_unit(const hn_system *system, const joint *j, const double *q)
{
    double place = larger_of(place_of(system, q, j->parent), place_of(system, q, j->child));
    return gap_unit(system_joint_size(system, j), place);
}

// What is left of a joint's rows.
typedef struct joint_gaps {
    double opening, misalignment; // sums of squares: of lengths, m^2, and of cosines
    double translation, rotation; // the worst row of each: m, and a cosine
} joint_gaps;

static ALWAYS_INLINE void note_length(joint_gaps *gaps, double length)
{
    gaps->opening += length * length;
    gaps->translation = worse_of(gaps->translation, fabs(length));
}

static ALWAYS_INLINE void note_cosine(joint_gaps *gaps, double cosine)
{
    gaps->misalignment += cosine * cosine;
    gaps->rotation = worse_of(gaps->rotation, fabs(cosine));
}

static ALWAYS_INLINE joint_gaps gaps_of(const joint *j, const double *a, const double *b)
{
    joint_gaps gaps = {0};
    const joint_type *type = joint_type_of(j->kind);
    if (type->pivot != PIVOT_NONE) {
        hn_vec3 opening;
        double cosines[2];
        pivot_rows(type->pivot, j, a, b, &opening, cosines);
        note_length(&gaps, opening.x), note_length(&gaps, opening.y), note_length(&gaps, opening.z);
        note_cosine(&gaps, cosines[0]), note_cosine(&gaps, cosines[1]);
        return gaps;
    }
    for (int r = 0; r < j->row_count; ++r) {
        constraint_row row;
        type->row(j, r, &row);
        double g = row_value(&row, a, b);
        if (row.rotational) note_cosine(&gaps, g);
        else note_length(&gaps, g / joint_row_length(j));
    }
    return gaps;
}

static inline double square(double x)
{
    return x * x;
}

// Take in joint k. A joint that is no worse than those before, as nearly all are, costs neither roots nor quotients.
static ALWAYS_INLINE void note_joint(constraint_check *check, int k, const joint_gaps *gaps,
                                     double size, double place)
{
    double unit = gap_unit(size, place), round_off = ROUND_OFF * place,
           bound = OPENING_BOUND * size + round_off;
    check->residual = worse_of(check->residual, gaps->rotation);
    if (!(gaps->translation <= check->residual * unit))
        check->residual = worse_of(check->residual, gaps->translation / unit);
    if (!(gaps->opening <= square(check->opening)))
        check->opening = worse_of(check->opening, sqrt(gaps->opening));
    if (!(gaps->misalignment <= square(check->misalignment)))
        check->misalignment = worse_of(check->misalignment, sqrt(gaps->misalignment));
    if (!(gaps->opening <= square(check->openness * bound)) || check->open_joint < 0) {
        check->openness = sqrt(gaps->opening) / bound;
        check->open_joint = k;
        check->open_bound = bound;
    }
    if (gaps->misalignment <= square(check->relative) &&
        gaps->opening <= square(check->relative * size + round_off) && check->worst_joint >= 0)
        return;
    double opening = sqrt(gaps->opening), misalignment = sqrt(gaps->misalignment);
    check->relative = worse_of(misalignment, worse_of(0.0, opening - round_off) / size);
    check->worst_joint = k;
    check->worst_opening = opening;
    check->worst_misalignment = misalignment;
}

// How far a planar point mass is out of its plane, as a part of what gaps are measured by.
static double out_of_plane(const hn_system *system, const double *q, int body)
{
    const double *now = system_pose(q, body), *start = system_pose(system->q_start, body);
    hn_vec3 way = vec3_subtract(vec3_load(now), vec3_load(start));
    return fabs(vec3_dot(system->bodies[body].plane[2], way)) /
           gap_unit(system->sizes[body], place_of(system, q, body));
}

static ALWAYS_INLINE constraint_check check_constraints(const hn_system *system, const double *q)
{
    constraint_check check = {.worst_joint = -1, .open_joint = -1};
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].has_directors)
            check.orthonormality =
                worse_of(check.orthonormality, pose_orthonormality(system_pose(q, i)));
    check.residual = check.orthonormality;
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS)
            check.residual = worse_of(check.residual, out_of_plane(system, q, i));
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->row_count == 0) continue;
        joint_gaps gaps = gaps_of(j, system_pose(q, j->parent), system_pose(q, j->child));
        note_joint(&check, k, &gaps, system_joint_size(system, j),
                   larger_of(place_of(system, q, j->parent), place_of(system, q, j->child)));
    }
    return check;
}

static constraint_check check_plain(const hn_system *system, const double *q)
{
    return check_constraints(system, q);
}

FUSED_FORM static constraint_check check_fused(const hn_system *system, const double *q)
{
    return check_constraints(system, q);
}

constraint_check system_check_constraints(const hn_system *system, const double *q)
{
    return processor_fuses() ? check_fused(system, q) : check_plain(system, q);
}
