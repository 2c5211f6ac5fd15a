// SPDX-License-Identifier: MIT
// Quantities of a system at a configuration: constraints, twists, wrenches.
#include "system/system.h"

#include "base/sum.h"

void twist_to_velocity(const double *q, const double *twist, double *v)
{
    hn_vec3 omega = vec3_load(twist + 3);
    for (int k = 0; k < 3; ++k) v[k] = twist[k];
    for (int k = 1; k < 4; ++k) vec3_store(vec3_cross(omega, vec3_load(q + 3 * k)), v + 3 * k);
}

void force_to_wrench(const double *q, const double *f, double *wrench)
{
    hn_vec3 moment = vec3(0.0, 0.0, 0.0);
    for (int k = 1; k < 4; ++k)
        moment = vec3_add(moment, vec3_cross(vec3_load(q + 3 * k), vec3_load(f + 3 * k)));
    for (int k = 0; k < 3; ++k) wrench[k] = f[k];
    vec3_store(moment, wrench + 3);
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
    return fmin(system->sizes[j->parent], system->sizes[j->child]);
}

static const double OPENING_BOUND = 1e-10;      // of a joint, over its size,
static const double ROUND_OFF = 16.0 * 0x1p-52; // and over the coordinates and arms that meet in it
static const double PLACE_PART =
    0.01; // of its distance from the origin: a joint's size is no less for its residual

// Largest coordinate of a body, and its size: what round-off at its joints is made of.
static double place_of(const hn_system *system, const double *q, int body)
{
    if (body < 0) return 0.0;
    const double *pose = system_pose(q, body);
    return fmax(fabs(pose[0]), fmax(fabs(pose[1]), fabs(pose[2]))) + system->sizes[body];
}

double system_gap_unit(const hn_system *system, const joint *j, const double *q)
{
    double place = fmax(place_of(system, q, j->parent), place_of(system, q, j->child));
    return fmax(system_joint_size(system, j), PLACE_PART * place);
}

constraint_check system_check_constraints(const hn_system *system, const double *q)
{
    constraint_check check = {.worst_joint = -1, .open_joint = -1};
    for (int i = 0; i < system->body_count; ++i)
        if (system->bodies[i].has_directors)
            check.orthonormality =
                worse_of(check.orthonormality, pose_orthonormality(system_pose(q, i)));
    check.residual = check.orthonormality;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const joint_type *type = joint_type_of(j->kind);
        const double *a = system_pose(q, j->parent), *b = system_pose(q, j->child);
        double opening = 0.0, misalignment = 0.0, size = system_joint_size(system, j),
               place = fmax(place_of(system, q, j->parent), place_of(system, q, j->child)),
               gap = system_gap_unit(system, j, q);
        for (int r = 0; r < j->row_count; ++r) {
            constraint_row row;
            type->row(j, r, &row);
            double g = row_value(&row, a, b);
            if (row.rotational) {
                check.residual = worse_of(check.residual, fabs(g));
                misalignment += g * g;
            } else {
                // a distance row is half the difference of squares: the opening is the difference of lengths
                double length = j->kind == HN_JOINT_DISTANCE ? g / j->length : g;
                check.residual = worse_of(check.residual, fabs(length) / gap);
                opening += length * length;
            }
        }
        if (j->row_count == 0) continue;
        opening = sqrt(opening);
        misalignment = sqrt(misalignment);
        check.opening = worse_of(check.opening, opening);
        check.misalignment = worse_of(check.misalignment, misalignment);
        double bound = OPENING_BOUND * size + ROUND_OFF * place;
        if (!(opening <= check.openness * bound) || check.open_joint < 0) {
            check.openness = opening / bound;
            check.open_joint = k;
            check.open_bound = bound;
        }
        double relative = worse_of(misalignment, worse_of(0.0, opening - ROUND_OFF * place) / size);
        if (!(relative <= check.relative) || check.worst_joint < 0) {
            check.relative = relative;
            check.worst_joint = k;
            check.worst_opening = opening;
            check.worst_misalignment = misalignment;
        }
    }
    return check;
}
