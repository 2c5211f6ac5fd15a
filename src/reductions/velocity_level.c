// SPDX-License-Identifier: MIT
// Both constraint levels in a step: oblique projection of velocities and the forces that belong to it.
#include "reductions/velocity_level.h"

#include "system/mass.h"

#include <string.h>

// (B5) of joints; `rest` loses their part of G(q_mid)^T gamma
static void add_joints(const saddle *rows, const step_data *step, const double *v, double *c,
                       double *rest)
{
    static const double still[POSE_SIZE] = {0.0};
    for (int k = 0; k < saddle_joint_count(rows); ++k) {
        double twice[JOINT_ROWS_MAX], middle[2][POSE_SIZE];
        const joint_place *p = saddle_joint(rows, k, twice);
        const double *va = p->a < 0 ? still : v + POSE_SIZE * (size_t)p->a,
                     *vb = p->b < 0 ? still : v + POSE_SIZE * (size_t)p->b;
        step_equations half = {.weight = 0.5};
        step_projection_pose(&half, step, p->a, middle[0]);
        step_projection_pose(&half, step, p->b, middle[1]);
        for (int r = 0; r < p->rows->row_count; ++r) {
            const constraint_row row = joint_row(p->rows, r);
            row_add_force(&row, p->a, p->b, middle[0], middle[1], -0.5 * twice[r], rest);
            if (row.product) row_add_force(&row, p->a, p->b, va, vb, 0.5 * twice[r], c);
        }
    }
}

// (B5) of the internal constraints of a rigid body: c = V_mid Gamma with D_mid Gamma = rest, Gamma = Gamma^T the
// multipliers of d_I . d_J
static void add_internal(const double *start, const double *end, const double *v,
                         const double *rest, double *c)
{
    hn_vec3 d[3], reciprocal[3];
    double gamma[3][3];
    for (int i = 0; i < 3; ++i)
        d[i] = vec3_mean(vec3_load(start + 3 + 3 * i), vec3_load(end + 3 + 3 * i));
    double volume = vec3_dot(d[0], vec3_cross(d[1], d[2]));
    for (int i = 0; i < 3; ++i)
        reciprocal[i] = vec3_scale(1.0 / volume, vec3_cross(d[(i + 1) % 3], d[(i + 2) % 3]));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            gamma[i][j] = vec3_dot(reciprocal[i], vec3_load(rest + 3 + 3 * j));
    for (int j = 0; j < 3; ++j) {
        hn_vec3 sum = vec3_load(c + 3 + 3 * j);
        for (int i = 0; i < 3; ++i)
            sum = vec3_add_scaled(sum, 0.5 * (gamma[i][j] + gamma[j][i]), vec3_load(v + 3 + 3 * i));
        vec3_store(sum, c + 3 + 3 * j);
    }
}

// v = P_int(q) t
static void set_velocities(const hn_system *system, const double *q, const double *twists,
                           double *v)
{
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        const double *twist = twists + TWIST_SIZE * (size_t)i;
        if (system->bodies[i].has_directors) {
            twist_to_velocity(q + at, twist, v + at);
        } else {
            memset(v + at, 0, POSE_SIZE * sizeof(double));
            memcpy(v + at, twist, 3 * sizeof(double));
        }
    }
}

// (B4) for the change of velocities from a rigid motion near 2 Delta/h - v_n: an error of the matrix, which is the same
// in every step, then does not change the speed of all bodies by its part. `u` becomes 2 M^-1 G(q_mid)^T gamma.
static hn_status find_velocities(saddle *rows, const step_data *step, double *u,
                                 const velocity_work *work, double *v)
{
    const hn_system *system = saddle_system(rows);
    size_t count = POSE_SIZE * (size_t)system->body_count;
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        velocity_to_twist(step->q + at, u + at, work->start + TWIST_SIZE * (size_t)i);
    }
    set_velocities(system, step->q, work->start, v);
    for (size_t k = 0; k < count; ++k) work->momentum[k] = u[k] - v[k];
    mass_apply(system, 1.0, work->momentum, work->momentum);
    TRY(saddle_project_between(rows, step->q_start, step->q, work->momentum, v, work->change));
    for (int k = 0; k < TWIST_SIZE * system->body_count; ++k) work->start[k] += work->change[k];
    set_velocities(system, step->q, work->start, v);
    for (size_t k = 0; k < count; ++k) u[k] -= v[k];
    return HN_OK;
}

hn_status velocity_level_solve(saddle *rows, const step_data *step, double h, const double *v_start,
                               const velocity_work *work, double *v, double *c)
{
    const hn_system *system = saddle_system(rows);
    size_t count = POSE_SIZE * (size_t)system->body_count;
    double *middle = work->middle, *rest = work->momentum;
    for (size_t k = 0; k < count; ++k) middle[k] = 2.0 / h * step->delta[k] - v_start[k];
    TRY(find_velocities(rows, step, middle, work, v));
    mass_apply(system, 0.5, middle, rest); // G(q_mid)^T gamma
    for (size_t k = 0; k < count; ++k) middle[k] = 0.5 * (v_start[k] + v[k]);
    memset(c, 0, count * sizeof(double));
    add_joints(rows, step, middle, c, rest);
    for (int i = 0; i < system->body_count; ++i) {
        size_t at = POSE_SIZE * (size_t)i;
        if (system->bodies[i].has_directors)
            add_internal(step->q_start + at, step->q + at, middle + at, rest + at, c + at);
        else memset(c + at + 3, 0, (POSE_SIZE - 3) * sizeof(double));
    }
    return HN_OK;
}

void velocity_level_add_closure(const saddle *rows, double *closure)
{
    const hn_system *system = saddle_system(rows);
    for (int k = 0; k < system->cut_count; ++k) {
        double twice[JOINT_ROWS_MAX];
        const joint_place *p = saddle_joint(rows, system->body_count + k, twice);
        for (int r = 0; r < p->rows->row_count; ++r) closure[system->cut_row[k] + r] += twice[r];
    }
}
