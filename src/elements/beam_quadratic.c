// SPDX-License-Identifier: MIT
// Geometrically exact beam element with three nodes: directors interpolated by parabolas, two points of quadrature.
// Note: docs/theory/beams.md
//
//   (W6)  Gamma_i = d_i . phi',   K_i = (d_p . d_m' - d_m . d_p')/2     at each point, x = sum N_k x_k,
//         x' = sum N_k' x_k, (p, m) = (3, 2), (1, 3), (2, 1)
//
// with energies, discrete gradients and dampers (W2) to (W5), the weight of the point in place of l.
//
// Elements of the system have two bodies. One with three nodes is three of them, each on a pair of nodes: it gives the
// blocks between its two, and half of what belongs to each alone, which is in two pairs. Pairs (first, middle) and
// (middle, last) are the pieces that are reported, each with the strains of its point of quadrature.
#include "elements/element.h"

enum { NODES = 3, POINTS = 2, VECTORS = 4 };

static const int ENDS[NODES][2] = {{0, 1}, {1, 2}, {0, 2}}; // nodes of the pairs
static const int THIRD[NODES] = {2, 0, 1};
static const int STRAINS_OF[VECTORS][3] = {{0, 1, 2}, {0, 4, 5}, {1, 3, 5}, {2, 3, 4}};
static const int PLUS[3] = {3, 1, 2}, MINUS[3] = {2, 3, 1};

typedef struct node_poses {
    const double *at[NODES];
} node_poses;

static node_poses poses_of(const element *e, const double *a, const double *b, const double *third)
{
    node_poses poses;
    poses.at[ENDS[e->pair][0]] = a;
    poses.at[ENDS[e->pair][1]] = b;
    poses.at[THIRD[e->pair]] = third;
    return poses;
}

// The vectors and their slopes at a point
typedef struct point_vectors {
    hn_vec3 x[VECTORS], slope[VECTORS];
} point_vectors;

static point_vectors interpolate(const beam_element *point, const node_poses *poses)
{
    point_vectors v;
    for (int k = 0; k < VECTORS; ++k) {
        v.x[k] = v.slope[k] = vec3(0.0, 0.0, 0.0);
        for (int n = 0; n < NODES; ++n) {
            hn_vec3 x = vec3_load(poses->at[n] + 3 * k);
            v.x[k] = vec3_add_scaled(v.x[k], point->shape[n], x);
            v.slope[k] = vec3_add_scaled(v.slope[k], point->slope[n], x);
        }
    }
    return v;
}

// (W6)
static void measures_at(const point_vectors *v, double *measures)
{
    for (int i = 0; i < 3; ++i) {
        measures[i] = vec3_dot(v->x[1 + i], v->slope[0]);
        measures[3 + i] = 0.5 * (vec3_dot(v->x[PLUS[i]], v->slope[MINUS[i]]) -
                                 vec3_dot(v->x[MINUS[i]], v->slope[PLUS[i]]));
    }
}

static void find_measures(const beam_element *point, const node_poses *poses, double *measures)
{
    point_vectors v = interpolate(point, poses);
    measures_at(&v, measures);
}

void beam_quadratic_measures(const beam_element *point, const double *first, const double *middle,
                             const double *last, double *measures)
{
    const node_poses poses = {{first, middle, last}};
    find_measures(point, &poses, measures);
}

void beam_quadratic_resultants(const element *e, const double *a, const double *b,
                               const double *third, double *strain, double *resultant)
{
    node_poses poses = poses_of(e, a, b, third);
    find_measures(e->beam, &poses, strain);
    for (int i = 0; i < BEAM_STRAINS; ++i) strain[i] -= e->beam->rest[i];
    beam_stress(e->beam, 1.0, strain, resultant);
}

// B on the vectors of a node, in slots as STRAINS_OF has them
typedef struct node_rows {
    hn_vec3 slot[VECTORS][3];
} node_rows;

static void find_rows(const beam_element *point, const point_vectors *v, int node, node_rows *rows)
{
    double shape = point->shape[node], slope = point->slope[node];
    for (int i = 0; i < 3; ++i) {
        rows->slot[0][i] = vec3_scale(slope, v->x[1 + i]);
        rows->slot[1 + i][0] = vec3_scale(shape, v->slope[0]);
    }
    for (int x = 1; x < VECTORS; ++x)
        for (int r = 1; r < 3; ++r) {
            int i = STRAINS_OF[x][r] - 3;
            int other = PLUS[i] == x ? MINUS[i] : PLUS[i];
            double sign = PLUS[i] == x ? 0.5 : -0.5;
            rows->slot[x][r] = vec3_add_scaled(vec3_scale(sign * shape, v->slope[other]),
                                               -sign * slope, v->x[other]);
        }
}

// What one point adds: B(left)^T S to the residual, and factor B(left)^T C B(right) + geometric d(B^T S)/dq
typedef struct point_part {
    const beam_element *point;
    const node_poses *left, *right;
    double stress[BEAM_STRAINS];
    double material, geometric;
} point_part;

static void add_residual(const element *e, const point_part *p, const point_vectors *v,
                         element_output *out)
{
    for (int side = 0; side < 2; ++side) {
        double *residual = side == 0 ? out->residual_a : out->residual_b;
        node_rows rows;
        if (residual == NULL) continue;
        find_rows(p->point, v, ENDS[e->pair][side], &rows);
        for (int x = 0; x < VECTORS; ++x) {
            hn_vec3 sum = vec3_load(residual + 3 * x);
            for (int r = 0; r < 3; ++r)
                sum = vec3_add_scaled(sum, 0.5 * p->stress[STRAINS_OF[x][r]], rows.slot[x][r]);
            vec3_store(sum, residual + 3 * x);
        }
    }
}

// share left^T C right between two nodes, at their places in the block
static void add_material(const point_part *p, double share, const node_rows *left,
                         const node_rows *right, int row, int column, element_block *block)
{
    double product[BEAM_STRAINS][3 * VECTORS];
    for (int y = 0; y < VECTORS; ++y)
        for (int i = 0; i < BEAM_STRAINS; ++i) {
            hn_vec3 sum = vec3(0.0, 0.0, 0.0);
            for (int r = 0; r < 3; ++r)
                sum = vec3_add_scaled(
                    sum, share * p->material * p->point->stiffness[i][STRAINS_OF[y][r]],
                    right->slot[y][r]);
            vec3_store(sum, &product[i][3 * y]);
        }
    for (int x = 0; x < VECTORS; ++x)
        for (int r = 0; r < 3; ++r) {
            double s[3];
            const double *from = product[STRAINS_OF[x][r]];
            vec3_store(left->slot[x][r], s);
            for (int i = 0; i < 3; ++i)
                for (int c = 0; c < 3 * VECTORS; ++c)
                    block->k[row + 3 * x + i][column + c] += s[i] * from[c];
        }
}

static void add_identity(element_block *block, int row, int column, double value)
{
    for (int i = 0; i < 3; ++i) block->k[row + i][column + i] += value;
}

// d(B^T S)/dq between nodes m and n: numbers on pairs of vectors
static void add_geometric(const point_part *p, double share, int m, int n, int row, int column,
                          element_block *block)
{
    const double *shape = p->point->shape, *slope = p->point->slope;
    double factor = share * p->geometric;
    for (int i = 0; i < 3; ++i) {
        double force = factor * p->stress[i], moment = 0.5 * factor * p->stress[3 + i];
        add_identity(block, row, column + 3 + 3 * i, force * slope[m] * shape[n]);
        add_identity(block, row + 3 + 3 * i, column, force * shape[m] * slope[n]);
        double turn = moment * (shape[m] * slope[n] - slope[m] * shape[n]);
        add_identity(block, row + 3 * PLUS[i], column + 3 * MINUS[i], turn);
        add_identity(block, row + 3 * MINUS[i], column + 3 * PLUS[i], -turn);
    }
}

static void add_part(const element *e, const point_part *p, element_output *out)
{
    point_vectors left = interpolate(p->point, p->left);
    add_residual(e, p, &left, out);
    if (out->block == NULL) return;
    point_vectors right = interpolate(p->point, p->right);
    for (int x = 0; x < 2; ++x)
        for (int y = 0; y < 2; ++y) {
            node_rows on_x, on_y;
            int m = ENDS[e->pair][x], n = ENDS[e->pair][y];
            double share = x == y ? 0.5 : 1.0;
            find_rows(p->point, &left, m, &on_x);
            find_rows(p->point, &right, n, &on_y);
            add_material(p, share, &on_x, &on_y, 12 * x, 12 * y, out->block);
            add_geometric(p, share, m, n, 12 * x, 12 * y, out->block);
        }
}

// poses (1 - w) q_n + w q_n+1 of all nodes
typedef struct pose_memory {
    double at[NODES][12];
} pose_memory;

static node_poses poses_between(const node_poses *start, const node_poses *end, double w,
                                pose_memory *memory)
{
    node_poses poses;
    for (int n = 0; n < NODES; ++n) {
        for (int k = 0; k < 12; ++k)
            memory->at[n][k] = (1.0 - w) * start->at[n][k] + w * end->at[n][k];
        poses.at[n] = memory->at[n];
    }
    return poses;
}

static void quadratic_gradient(const element *e, const element_step *step, element_output *out)
{
    node_poses start = poses_of(e, step->a_start, step->b_start, step->third_start),
               end = poses_of(e, step->a, step->b, step->third);
    double w = step->discrete_gradient ? 0.5 : step->gradient_weight;
    pose_memory memory;
    node_poses between = poses_between(&start, &end, w, &memory);
    for (int g = 0; g < POINTS; ++g) {
        const beam_element *point = &e->points[g];
        double factor = step->factor * point->weight, strain[BEAM_STRAINS];
        point_part part = {.point = point, .left = &between, .right = &between, .geometric = w};
        part.material = w * factor;
        if (step->discrete_gradient) {
            // (W3), with (Z1)
            double before[BEAM_STRAINS], half = 0.5 * step->decay;
            find_measures(point, &start, before);
            find_measures(point, &end, strain);
            for (int i = 0; i < BEAM_STRAINS; ++i) {
                double mean = 0.5 * (before[i] + strain[i]) - point->rest[i];
                if (half > 0.0)
                    mean += half * (strain[i] - before[i] -
                                    step->change_before[step->change_stride * g + i]);
                strain[i] = mean;
            }
            part.right = &end;
            part.material *= 1.0 + step->decay;
        } else {
            // (W4)
            find_measures(point, &between, strain);
            for (int i = 0; i < BEAM_STRAINS; ++i) strain[i] -= point->rest[i];
        }
        beam_stress(point, factor, strain, part.stress);
        add_part(e, &part, out);
    }
}

// (W5)
static void quadratic_load(const element *e, const element_step *step, element_output *out)
{
    if (e->damping == 0.0) return;
    node_poses start = poses_of(e, step->a_start, step->b_start, step->third_start),
               end = poses_of(e, step->a, step->b, step->third);
    pose_memory memory;
    node_poses middle = poses_between(&start, &end, 0.5, &memory);
    for (int g = 0; g < POINTS; ++g) {
        const beam_element *point = &e->points[g];
        double factor = step->factor * (1.0 + step->damper_excess) * point->weight *
                        point->damping / step->step_size;
        double before[BEAM_STRAINS], change[BEAM_STRAINS];
        point_part part = {
            .point = point, .left = &middle, .right = &end, .material = factor, .geometric = 0.5};
        find_measures(point, &start, before);
        find_measures(point, &end, change);
        for (int i = 0; i < BEAM_STRAINS; ++i) change[i] -= before[i];
        beam_stress(point, factor, change, part.stress);
        if (step->owed != NULL) {
            double root[BEAM_STRAINS][BEAM_STRAINS];
            beam_root(point, point->weight * point->damping, root);
            beam_take_owed(root, step->factor * (1.0 + step->damper_excess) / step->step_size,
                           step->owed + BEAM_STRAINS * g, part.stress);
        }
        add_part(e, &part, out);
    }
}

static int quadratic_damped_count(const element *e)
{
    return e->damping > 0.0 && e->pair == 0 ? POINTS * BEAM_STRAINS : 0;
}

// Of all three nodes, with the first pair: rates L^T dE/dt, with eta l C = L L^T of each point
static void quadratic_damped(const element *e, const element_step *step, damped_rates *rates)
{
    node_poses start = poses_of(e, step->a_start, step->b_start, step->third_start),
               end = poses_of(e, step->a, step->b, step->third);
    for (int g = 0; g < POINTS; ++g) {
        const beam_element *point = &e->points[g];
        double before[BEAM_STRAINS], after[BEAM_STRAINS], root[BEAM_STRAINS][BEAM_STRAINS];
        point_vectors v = interpolate(point, &end);
        beam_root(point, point->weight * point->damping, root);
        find_measures(point, &start, before);
        measures_at(&v, after);
        for (int k = 0; k < BEAM_STRAINS; ++k) {
            int row = BEAM_STRAINS * g + k;
            double change = 0.0;
            for (int i = k; i < BEAM_STRAINS; ++i) change += root[i][k] * (after[i] - before[i]);
            rates->coefficient[row] = 1.0;
            rates->mean[row] = change / step->step_size;
        }
        for (int n = 0; n < NODES; ++n) {
            // the pair (first, middle): nodes in their order
            node_rows slots;
            find_rows(point, &v, n, &slots);
            for (int x = 0; x < 3 * VECTORS; ++x)
                for (int k = 0; k < BEAM_STRAINS; ++k) {
                    double *to = rates->row[BEAM_STRAINS * g + k] + 12 * n + 3 * (x / 3);
                    double part = root[STRAINS_OF[x / 3][x % 3]][k];
                    vec3_store(vec3_add_scaled(vec3_load(to), part, slots.slot[x / 3][x % 3]), to);
                }
        }
    }
}

// (W2), of its own point
static double quadratic_potential(const element *e, const double *a, const double *b,
                                  const double *third, double angle)
{
    (void)angle;
    if (e->beam == NULL) return 0.0;
    double strain[BEAM_STRAINS], stress[BEAM_STRAINS], twice = 0.0;
    beam_quadratic_resultants(e, a, b, third, strain, stress);
    for (int i = 0; i < BEAM_STRAINS; ++i) twice += strain[i] * stress[i];
    return 0.5 * e->beam->weight * twice;
}

static void quadratic_cancelling(const element *e, const element_step *step, double *force,
                                 double *moment)
{
    node_poses end = poses_of(e, step->a, step->b, step->third);
    for (int g = 0; g < POINTS; ++g) {
        double measures[BEAM_STRAINS], f, m;
        find_measures(&e->points[g], &end, measures);
        beam_sizes(&e->points[g], step->factor, measures, &f, &m);
        *force += f, *moment += m;
    }
}

static int quadratic_strain_changes(const element *e, const element_step *step, double *changes)
{
    if (e->beam == NULL) return 0;
    node_poses start = poses_of(e, step->a_start, step->b_start, step->third_start),
               end = poses_of(e, step->a, step->b, step->third);
    double before[BEAM_STRAINS];
    find_measures(e->beam, &start, before);
    find_measures(e->beam, &end, changes);
    for (int i = 0; i < BEAM_STRAINS; ++i) changes[i] -= before[i];
    return BEAM_STRAINS;
}

static double quadratic_strain_product(const element *e, const double *x, const double *y)
{
    if (e->beam == NULL) return 0.0;
    double stress[BEAM_STRAINS], sum = 0.0;
    beam_stress(e->beam, e->beam->weight, x, stress);
    for (int i = 0; i < BEAM_STRAINS; ++i) sum += stress[i] * y[i];
    return sum;
}

const element_type element_beam_quadratic = {
    .name = "beam",
    .dense = true,
    .potential = quadratic_potential,
    .gradient = quadratic_gradient,
    .load = quadratic_load,
    .damped_count = quadratic_damped_count,
    .damped = quadratic_damped,
    .cancelling = quadratic_cancelling,
    .strain_changes = quadratic_strain_changes,
    .strain_product = quadratic_strain_product,
};
