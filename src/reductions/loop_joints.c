// SPDX-License-Identifier: MIT
// Rows of joints on loops, on scaled twists.
#include "reductions/loop_joints.h"

#include "reductions/coordinates.h"

void loop_joints_turn_scales(const hn_system *system, const loop_joint *joints, int joint_count,
                             double *turn_scale)
{
    for (int i = 0; i < system->body_count; ++i) turn_scale[i] = 0.0;
    for (int k = 0; k < joint_count; ++k)
        for (int side = 0; side < 2; ++side) {
            int body = joints[k].body[side];
            const joint *j = joints[k].rows;
            if (body >= 0)
                turn_scale[body] =
                    fmax(turn_scale[body], vec3_norm(side == 0 ? j->rho_a : j->rho_b));
        }
    for (int i = 0; i < system->body_count; ++i)
        turn_scale[i] = 1.0 / (turn_scale[i] > 0.0 ? turn_scale[i] : system->unit_length[i]);
}

// G S^1/2 of one side of a row
static void scaled_row(const hn_system *system, int body, double turn_scale, const double *q,
                       const hn_vec3 gradient[4], double *row)
{
    for (int k = 0; k < TWIST_SIZE; ++k) row[k] = 0.0;
    if (body < 0) return;
    const system_body *b = &system->bodies[body];
    if (!b->has_directors) {
        coordinates_of(b, gradient[0], row);
        return;
    }
    vectors_to_wrench(system_pose(q, body), gradient, row);
    for (int k = 3; k < TWIST_SIZE; ++k) row[k] *= turn_scale;
}

void loop_joints_rows(const hn_system *system, const loop_joint *joints, int joint_count,
                      const double *turn_scale, const double *q, loop_row *rows)
{
    for (int k = 0; k < joint_count; ++k) {
        const loop_joint *j = &joints[k];
        const double *pose[2] = {system_pose(q, j->body[0]), system_pose(q, j->body[1])};
        for (int i = 0; i < j->rows->row_count; ++i) {
            hn_vec3 gradient[8];
            const constraint_row row = joint_row(j->rows, i);
            row_gradient(&row, pose[0], pose[1], gradient);
            for (int side = 0; side < 2; ++side) {
                int body = j->body[side];
                scaled_row(system, body, body < 0 ? 1.0 : turn_scale[body], q, gradient + 4 * side,
                           rows[j->first_row + i][side]);
            }
        }
    }
}
