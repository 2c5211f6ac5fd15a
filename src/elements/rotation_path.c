// SPDX-License-Identifier: MIT
// A rotation as a function of time. Note: docs/theory/prescribed.md
//
//   (O4)  R = R_1 R_2 R_3,  R_k = exp(phi_k(t) u_k),  w_k = R_1 .. R_k-1 u_k,
//         omega = sum_k phi_k' w_k,   alpha = sum_k (phi_k'' w_k + omega_<k x phi_k' w_k)
//   (O5)  R(q) = exp(eps) R(t):  eps = 0 is what holds
#include "elements/rotation_effort.h"

rotation_jet rotation_path_at(const element *e, double time)
{
    rotation_jet x = {.turn = mat3_identity()};
    for (int k = 0; k < 3; ++k) {
        const drive_law *law = e->law - e->law->path_row + k;
        time_jet angle = profile_at(law->function, time);
        hn_vec3 axis = mat3_apply(&x.turn, law->path_axis);
        hn_mat3 own = rotation_exponential(vec3_scale(law->scale * angle.value, law->path_axis));
        hn_vec3 rate = vec3_scale(law->scale * angle.rate, axis);
        x.acceleration =
            vec3_add(vec3_add_scaled(x.acceleration, law->scale * angle.acceleration, axis),
                     vec3_cross(x.velocity, rate));
        x.velocity = vec3_add(x.velocity, rate);
        x.turn = mat3_multiply(&x.turn, &own);
    }
    return x;
}

// Component of the rotation vector of one rotation beyond another
static double beyond(const element *e, const hn_mat3 *turn, const hn_mat3 *path)
{
    hn_mat3 back = mat3_transpose(path), more = mat3_multiply(turn, &back);
    return rotation_component(e, rotation_logarithm(&more));
}

double rotation_path_off(const element *e, const double *a, const double *b, double time)
{
    const hn_vec3 frame_a[3] = {e->a1, e->a2, vec3_cross(e->a1, e->a2)},
                  frame_b[3] = {e->b1, vec3_cross(e->b_axis, e->b1), e->b_axis};
    hn_mat3 turn;
    rotation_jet path = rotation_path_at(e, time);
    for (int i = 0; i < 3; ++i) {
        const double of_a[8] = {0.0, frame_a[i].x, frame_a[i].y, frame_a[i].z};
        hn_vec3 axis = vec3_combination(of_a, a, b);
        for (int k = 0; k < 3; ++k) {
            const double of_b[8] = {0.0, 0.0,          0.0,          0.0,
                                    0.0, frame_b[k].x, frame_b[k].y, frame_b[k].z};
            turn.m[i][k] = vec3_dot(axis, vec3_combination(of_b, a, b));
        }
    }
    return beyond(e, &turn, &path.turn);
}

double rotation_path_way(const element *e, double begin, double end)
{
    hn_mat3 to = rotation_path_at(e, end).turn, from = rotation_path_at(e, begin).turn;
    return beyond(e, &to, &from);
}
