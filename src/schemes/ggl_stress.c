// SPDX-License-Identifier: MIT
// Wrenches round loops, (G6) to (G9) of ggl_stress.h.
#include "schemes/ggl_stress.h"

#include "linalg/small_lu.h"

#include <string.h>

// Pivots of (G6), squared sines, below this part of the number of joints count as zero.
static const double FREEDOM_TOLERANCE = 1e-11;
// A row that a self-stress replaces may be off by this much (rad, m over its bodies' length) after a step before the
// loop is taken to have lost the self-stress within it.
static const double REPLACED_ROW_TOLERANCE = 1e-11;

hn_status ggl_stress_create(pool *memory, const hn_system *system, const joint_blocks *blocks,
                            const ggl_row *rows, int row_count, ggl_stress *stress)
{
    *stress = (ggl_stress){0};
    int loops = blocks->cycle_count, count = 0;
    if (loops == 0) return HN_OK;
    for (int c = 0; c < loops; ++c) count += blocks->cycles[c].count;
    int *first = pool_ints(memory, (size_t)blocks->joint_count);
    stress->loops = pool_take(memory, (size_t)loops, sizeof(stress_loop));
    stress->joints = pool_take(memory, (size_t)count, sizeof(stress_joint));
    stress->twists = pool_doubles(memory, TWIST_SIZE * (size_t)system->body_count);
    TRY(pool_status(memory));
    for (int k = row_count - 1; k >= 0; --k)
        if (rows[k].joint >= 0) first[rows[k].joint] = k;
    stress->loop_count = loops;
    for (int c = 0; c < loops; ++c) {
        const joint_cycle *cycle = &blocks->cycles[c];
        stress->loops[c].joints = stress->joints + cycle->first;
        stress->loops[c].joint_count = cycle->count;
        for (int k = cycle->first; k < cycle->first + cycle->count; ++k) {
            const cycle_joint *way = &blocks->way[k];
            const ggl_row *row = &rows[first[way->joint]];
            stress->joints[k] = (stress_joint){.first = first[way->joint],
                                               .count = blocks->joints[way->joint].rows->row_count,
                                               .from = way->forward ? row->a : row->b,
                                               .to = way->forward ? row->b : row->a,
                                               .sign = way->forward ? 1.0 : -1.0};
        }
    }
    return HN_OK;
}

// ---- self-stresses ----------------------------------------------------------------------------------

// R_j: rows as wrenches on body b about `point`, moments in units of the length
static void rows_of_joint(const hn_system *system, hn_vec3 point, const double *q,
                          const ggl_row *rows, stress_joint *j)
{
    for (int r = 0; r < j->count; ++r) {
        const ggl_row *row = &rows[j->first + r];
        // the wrenches on both bodies are opposite: that of body a serves where b is the ground
        int side = row->b >= 0 ? 1 : 0, body = side == 1 ? row->b : row->a;
        double wrench[TWIST_SIZE], sign = side == 1 ? 1.0 : -1.0;
        const double *pose = system_pose(q, body);
        hn_vec3 gradient[8];
        row_gradient(&row->row, system_pose(q, row->a), system_pose(q, row->b), gradient);
        vectors_to_wrench(pose, gradient + 4 * side, wrench);
        if (!system->bodies[body].has_directors) memset(wrench + 3, 0, 3 * sizeof(double));
        hn_vec3 force = vec3_load(wrench), arm = vec3_subtract(pose_center(pose), point);
        hn_vec3 moment = vec3_add(vec3_load(wrench + 3), vec3_cross(arm, force));
        double length = system->unit_length[body];
        j->unit[r] = row->row.rotational ? length : 1.0;
        vec3_store(vec3_scale(sign * j->unit[r], force), j->rows[r]);
        vec3_store(vec3_scale(sign * j->unit[r] / length, moment), j->rows[r] + 3);
    }
}

// R_j^+ = R_j^T (R_j R_j^T)^-1, and P_j added to the sum; false when the rows depend on each other
static bool invert_rows(stress_joint *j, double freedom[TWIST_SIZE][TWIST_SIZE])
{
    double normal[JOINT_ROWS_MAX * JOINT_ROWS_MAX], columns[JOINT_ROWS_MAX][TWIST_SIZE];
    int n = j->count, pivot[JOINT_ROWS_MAX];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            normal[i * n + k] = 0.0;
            for (int c = 0; c < TWIST_SIZE; ++c) normal[i * n + k] += j->rows[i][c] * j->rows[k][c];
        }
    memcpy(columns, j->rows, sizeof columns);
    if (!small_lu_factor(n, n, normal, pivot)) return false;
    small_lu_solve(n, n, normal, pivot, TWIST_SIZE, TWIST_SIZE, columns[0]);
    for (int c = 0; c < TWIST_SIZE; ++c) {
        for (int r = 0; r < n; ++r) j->inverse[c][r] = columns[r][c];
        for (int k = 0; k < TWIST_SIZE; ++k) {
            freedom[c][k] += c == k ? 1.0 : 0.0;
            for (int r = 0; r < n; ++r) freedom[c][k] -= columns[r][c] * j->rows[r][k];
        }
    }
    return true;
}

// Kernel of the symmetric semidefinite matrix: its dimension, an orthonormal basis, and a generalised inverse in place
// of the matrix. Gauss-Jordan with diagonal pivots.
static int split_freedom(double tolerance, double freedom[TWIST_SIZE][TWIST_SIZE],
                         double kernel[TWIST_SIZE][TWIST_SIZE])
{
    double a[TWIST_SIZE][2 * TWIST_SIZE] = {{0.0}};
    bool used[TWIST_SIZE] = {false};
    for (int i = 0; i < TWIST_SIZE; ++i) {
        memcpy(a[i], freedom[i], sizeof freedom[i]);
        a[i][TWIST_SIZE + i] = 1.0;
    }
    for (int n = 0; n < TWIST_SIZE; ++n) {
        int p = -1;
        for (int i = 0; i < TWIST_SIZE; ++i)
            if (!used[i] && (p < 0 || a[i][i] > a[p][p])) p = i;
        if (!(a[p][p] > tolerance)) break;
        used[p] = true;
        double pivot = a[p][p];
        for (int k = 0; k < 2 * TWIST_SIZE; ++k) a[p][k] /= pivot;
        for (int i = 0; i < TWIST_SIZE; ++i) {
            double factor = a[i][p];
            if (i == p || factor == 0.0) continue;
            for (int k = 0; k < 2 * TWIST_SIZE; ++k) a[i][k] -= factor * a[p][k];
        }
    }
    int found = 0;
    for (int f = 0; f < TWIST_SIZE; ++f) {
        if (used[f]) continue;
        double *to = kernel[found++], norm = 0.0;
        for (int i = 0; i < TWIST_SIZE; ++i) to[i] = used[i] ? -a[i][f] : i == f ? 1.0 : 0.0;
        for (int e = 0; e < found - 1; ++e) {
            double dot = 0.0;
            for (int i = 0; i < TWIST_SIZE; ++i) dot += to[i] * kernel[e][i];
            for (int i = 0; i < TWIST_SIZE; ++i) to[i] -= dot * kernel[e][i];
        }
        for (int i = 0; i < TWIST_SIZE; ++i) norm += to[i] * to[i];
        for (int i = 0; i < TWIST_SIZE; ++i) to[i] /= sqrt(norm);
    }
    for (int i = 0; i < TWIST_SIZE; ++i)
        for (int k = 0; k < TWIST_SIZE; ++k)
            freedom[i][k] = used[i] && used[k] ? a[i][TWIST_SIZE + k] : 0.0;
    return found;
}

// (G6), (G7) for one loop: the number of its self-stresses
static int find_stresses(const hn_system *system, const double *q, const ggl_row *rows,
                         stress_loop *loop)
{
    double kernel[TWIST_SIZE][TWIST_SIZE];
    const stress_joint *front = &loop->joints[0];
    loop->point = pose_center(system_pose(q, front->to >= 0 ? front->to : front->from));
    memset(loop->freedom, 0, sizeof loop->freedom);
    for (int k = 0; k < loop->joint_count; ++k) {
        rows_of_joint(system, loop->point, q, rows, &loop->joints[k]);
        if (!invert_rows(&loop->joints[k], loop->freedom)) return 0;
    }
    int count = split_freedom(FREEDOM_TOLERANCE * loop->joint_count, loop->freedom, kernel);
    for (int k = 0; k < loop->joint_count; ++k) {
        stress_joint *j = &loop->joints[k];
        for (int r = 0; r < j->count; ++r)
            for (int e = 0; e < count; ++e) {
                j->stress[r][e] = 0.0;
                for (int c = 0; c < TWIST_SIZE; ++c)
                    j->stress[r][e] += j->sign * j->inverse[c][r] * kernel[e][c] / j->unit[r];
            }
    }
    return count;
}

// rows of the joint in front that the others on the loop determine best: largest pivots of N there
static void choose_replaced(stress_loop *loop, int count, ggl_row *rows)
{
    const stress_joint *front = &loop->joints[0];
    double n[JOINT_ROWS_MAX][TWIST_SIZE];
    memcpy(n, front->stress, sizeof n);
    for (int r = 0; r < front->count; ++r) rows[front->first + r].dropped = false;
    for (int done = 0; done < count; ++done) {
        int row = -1, column = -1;
        for (int r = 0; r < front->count; ++r)
            for (int e = 0; e < count && !rows[front->first + r].dropped; ++e)
                if (row < 0 || fabs(n[r][e]) > fabs(n[row][column])) row = r, column = e;
        double pivot = n[row][column];
        for (int e = 0; e < count; ++e) {
            double factor = n[row][e] / pivot;
            for (int r = 0; e != column && r < front->count; ++r) n[r][e] -= factor * n[r][column];
        }
        for (int r = 0; r < front->count; ++r) n[r][column] = 0.0;
        rows[front->first + row].dropped = rows[front->first + row].spread = true;
        loop->row[done] = front->first + row;
    }
}

void ggl_stress_find(const hn_system *system, ggl_stress *stress, const double *q, ggl_row *rows)
{
    for (int l = 0; l < stress->loop_count; ++l) {
        stress_loop *loop = &stress->loops[l];
        const stress_joint *front = &loop->joints[0];
        int dropped = 0, count = loop->lost ? 0 : find_stresses(system, q, rows, loop);
        memset(loop->mu, 0, sizeof loop->mu);
        for (int r = 0; r < front->count; ++r) dropped += rows[front->first + r].dropped ? 1 : 0;
        loop->count = count >= dropped ? count : 0; // more depend: on joints of other loops, too
        if (loop->count > 0) choose_replaced(loop, loop->count, rows);
    }
}

bool ggl_stress_lost(const hn_system *system, ggl_stress *stress, const double *q,
                     const ggl_row *rows)
{
    bool lost = false;
    for (int l = 0; l < stress->loop_count; ++l) {
        stress_loop *loop = &stress->loops[l];
        for (int e = 0; e < loop->count; ++e) {
            const ggl_row *r = &rows[loop->row[e]];
            double value = row_value(&r->row, system_pose(q, r->a), system_pose(q, r->b));
            if (!r->row.rotational)
                value /= fmax(r->a < 0 ? 0.0 : system->sizes[r->a],
                              r->b < 0 ? 0.0 : system->sizes[r->b]);
            if (!(fabs(value) <= REPLACED_ROW_TOLERANCE)) lost = loop->lost = true;
        }
    }
    return lost;
}

void ggl_stress_begin(ggl_stress *stress)
{
    for (int l = 0; l < stress->loop_count; ++l) stress->loops[l].lost = false;
}

// ---- the force X ------------------------------------------------------------------------------------

// twists t of the bodies on the loop, about its point, with R_j (t_b - t_a) = gamma'_j
static void open_loop(const stress_loop *loop, const double *gamma, double *twists)
{
    double gap[TWIST_SIZE] = {0.0}, free[TWIST_SIZE] = {0.0}, t[TWIST_SIZE] = {0.0};
    double ground[TWIST_SIZE] = {0.0};
    for (int k = 0; k < loop->joint_count; ++k) {
        const stress_joint *j = &loop->joints[k];
        for (int c = 0; c < TWIST_SIZE; ++c)
            for (int r = 0; r < j->count; ++r)
                gap[c] += j->sign * j->inverse[c][r] * gamma[j->first + r] / j->unit[r];
    }
    for (int c = 0; c < TWIST_SIZE; ++c)
        for (int k = 0; k < TWIST_SIZE; ++k) free[c] -= loop->freedom[c][k] * gap[k];
    for (int k = 0; k < loop->joint_count; ++k) {
        const stress_joint *j = &loop->joints[k];
        for (int c = 0; c < TWIST_SIZE; ++c) t[c] += free[c];
        for (int r = 0; r < j->count; ++r) {
            double along = j->sign * gamma[j->first + r] / j->unit[r];
            for (int c = 0; c < TWIST_SIZE; ++c) along -= j->rows[r][c] * free[c];
            for (int c = 0; c < TWIST_SIZE; ++c) t[c] += j->inverse[c][r] * along;
        }
        memcpy(j->to < 0 ? ground : twists + TWIST_SIZE * (size_t)j->to, t, sizeof t);
    }
    for (int k = 0; k < loop->joint_count; ++k) // the ground does not move
        for (int c = 0; c < TWIST_SIZE; ++c)
            if (loop->joints[k].to >= 0) twists[TWIST_SIZE * loop->joints[k].to + c] -= ground[c];
}

// twelve velocities of a body from its twist about the point; the ground has none
static hn_vec3 body_velocities(const hn_system *system, const stress_loop *loop, const double *q,
                               const double *twists, int body, double *z)
{
    memset(z, 0, POSE_SIZE * sizeof(double));
    if (body < 0) return vec3(0.0, 0.0, 0.0);
    const double *t = twists + TWIST_SIZE * (size_t)body, *pose = system_pose(q, body);
    hn_vec3 omega = vec3_scale(1.0 / system->unit_length[body], vec3_load(t + 3));
    hn_vec3 arm = vec3_subtract(pose_center(pose), loop->point);
    vec3_store(vec3_add(vec3_load(t), vec3_cross(omega, arm)), z);
    for (int k = 1; k < 4 && system->bodies[body].has_directors; ++k)
        vec3_store(vec3_cross(omega, vec3_load(pose + 3 * k)), z + 3 * k);
    return omega;
}

// (G9) of one joint
static void add_joint_force(const hn_system *system, const stress_loop *loop, const double *q,
                            const ggl_row *rows, const stress_joint *j, const double *twists,
                            double *force)
{
    const int body[2] = {rows[j->first].a, rows[j->first].b};
    double z[2][POSE_SIZE];
    hn_vec3 omega[2];
    for (int side = 0; side < 2; ++side)
        omega[side] = body_velocities(system, loop, q, twists, body[side], z[side]);
    for (int r = 0; r < j->count; ++r) {
        const ggl_row *row = &rows[j->first + r];
        double size = 0.0;
        for (int e = 0; e < loop->count; ++e)
            size += j->unit[r] * j->unit[r] * j->stress[r][e] * loop->mu[e];
        hn_vec3 gradient[8], bent[8];
        row_gradient(&row->row, system_pose(q, row->a), system_pose(q, row->b), gradient);
        row_gradient(&row->row, z[0], z[1], bent);
        for (int side = 0; side < 2; ++side) {
            if (body[side] < 0) continue;
            int vectors = system->bodies[body[side]].has_directors ? 4 : 1;
            for (int k = 0; k < vectors; ++k) {
                hn_vec3 change = row->row.product ? bent[4 * side + k] : vec3(0.0, 0.0, 0.0);
                if (k > 0)
                    change = vec3_add(change, vec3_cross(gradient[4 * side + k], omega[side]));
                double *to = force + POSE_SIZE * (size_t)body[side] + 3 * k;
                vec3_store(vec3_add_scaled(vec3_load(to), -size, change), to);
            }
        }
    }
}

void ggl_stress_excess(const ggl_stress *stress, int row_count, double *excess)
{
    memset(excess, 0, (size_t)row_count * sizeof(double));
    for (int l = 0; l < stress->loop_count; ++l) {
        const stress_loop *loop = &stress->loops[l];
        for (int k = 0; k < loop->joint_count; ++k) {
            const stress_joint *j = &loop->joints[k];
            for (int r = 0; r < j->count; ++r)
                for (int e = 0; e < loop->count; ++e)
                    excess[j->first + r] += j->stress[r][e] * loop->mu[e];
        }
    }
}

void ggl_stress_force(const hn_system *system, ggl_stress *stress, const double *q,
                      const ggl_row *rows, const double *gamma, double *force)
{
    memset(force, 0, POSE_SIZE * (size_t)system->body_count * sizeof(double));
    for (int l = 0; l < stress->loop_count; ++l) {
        const stress_loop *loop = &stress->loops[l];
        if (loop->count == 0) continue;
        open_loop(loop, gamma, stress->twists);
        for (int k = 0; k < loop->joint_count; ++k)
            add_joint_force(system, loop, q, rows, &loop->joints[k], stress->twists, force);
    }
}
