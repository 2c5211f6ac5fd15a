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

constraint_check system_check_constraints(const hn_system *system, const double *q)
{
    constraint_check check = {.worst_joint = -1};
    double largest = 1.0, translation = 0.0, worst = 0.0;
    for (int i = 0; i < system->body_count; ++i) {
        const double *pose = system_pose(q, i);
        for (int k = 0; k < 3; ++k) largest = worse_of(largest, fabs(pose[k]));
        for (int r = 0; r < system->bodies[i].internal_count; ++r) {
            constraint_row row;
            row_internal(r, &row);
            check.orthonormality =
                worse_of(check.orthonormality, fabs(row_value(&row, pose, pose)));
        }
    }
    check.residual = check.orthonormality;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        const joint_type *type = joint_type_of(j->kind);
        const double *a = system_pose(q, j->parent), *b = system_pose(q, j->child);
        double opening = 0.0, misalignment = 0.0;
        for (int r = 0; r < j->row_count; ++r) {
            constraint_row row;
            type->row(j, r, &row);
            double g = row_value(&row, a, b);
            if (row.rotational) {
                check.residual = worse_of(check.residual, fabs(g));
                misalignment += g * g;
            } else {
                translation = worse_of(translation, fabs(g));
                // a distance row is half the difference of squares: the opening is the difference of lengths
                double length = j->kind == HN_JOINT_DISTANCE ? g / j->length : g;
                opening += length * length;
            }
        }
        opening = sqrt(opening);
        misalignment = sqrt(misalignment);
        check.opening = worse_of(check.opening, opening);
        check.misalignment = worse_of(check.misalignment, misalignment);
        double size = fmax(opening / system->length, misalignment);
        if (size > worst || check.worst_joint < 0) worst = size, check.worst_joint = k;
    }
    check.residual = worse_of(check.residual, translation / largest);
    return check;
}
