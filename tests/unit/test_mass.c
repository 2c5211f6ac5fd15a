// SPDX-License-Identifier: MIT
// The mass operator against a dense matrix: products, solutions, energy, with and without blocks between bodies.
#include "system/mass.h"

#include "support/check.h"
#include "support/generic_models.h"

#include <math.h>
#include <string.h>

enum { BODIES = 7, EDGES = 4, SIZE = POSE_SIZE * BODIES };

typedef struct coupled {
    hn_system system;
    system_body bodies[BODIES];
    double inertia[4 * BODIES];
    mass_edge edges[EDGES];
    double dense[SIZE][SIZE];
} coupled;

// Two chains, one in the order 0 2 1 and one 3 4 5, and a body alone; no inertia on d3 of body 4 and its neighbours.
static void make(coupled *c, number_source *numbers, int edge_count)
{
    static const int ends[EDGES][2] = {{0, 2}, {2, 1}, {3, 4}, {4, 5}};
    *c = (coupled){.system = {.body_count = BODIES, .gravity = {0.3, -2.0, 5.0}}};
    c->system.context = c->system.memory.context = hn_context_create(NULL);
    CHECK(c->system.context != NULL);
    c->system.bodies = c->bodies;
    c->system.inertia = c->inertia;
    c->system.mass_edges = c->edges;
    c->system.mass_edge_count = edge_count;
    for (int i = 0; i < BODIES; ++i) {
        c->bodies[i].has_directors = i != 6;
        for (int k = 0; k < 4; ++k)
            c->inertia[4 * i + k] = k == 3 && i >= 3 ? 0.0 : 1.0 + 0.5 * next_number(numbers);
    }
    for (int e = 0; e < edge_count; ++e) {
        c->edges[e] = (mass_edge){.a = ends[e][0], .b = ends[e][1]};
        for (int k = 0; k < 4; ++k)
            c->edges[e].mass[k] = k == 3 && e >= 2 ? 0.0 : 0.2 + 0.1 * next_number(numbers);
    }
    for (int k = 0; k < SIZE; ++k) c->dense[k][k] = c->inertia[k / 3];
    for (int e = 0; e < edge_count; ++e)
        for (int k = 0; k < POSE_SIZE; ++k) {
            int a = POSE_SIZE * ends[e][0] + k, b = POSE_SIZE * ends[e][1] + k;
            c->dense[a][b] = c->dense[b][a] = c->edges[e].mass[k / 3];
        }
    CHECK_OK(c->system.context, mass_prepare_edges(&c->system));
}

static void drop(coupled *c)
{
    pool_release(&c->system.memory);
    hn_context_destroy(c->system.context);
}

static double largest_difference(const double *x, const double *y)
{
    double worst = 0.0;
    for (int k = 0; k < SIZE; ++k) worst = fmax(worst, fabs(x[k] - y[k]));
    return worst;
}

TEST(mass, operator_is_the_dense_matrix)
{
    number_source numbers = {5};
    for (int edges = 0; edges <= EDGES; edges += EDGES) {
        coupled c;
        make(&c, &numbers, edges);
        double x[SIZE], expected[SIZE] = {0.0}, y[SIZE], v[SIZE], twice = 0.0;
        for (int k = 0; k < SIZE; ++k) x[k] = next_number(&numbers);
        for (int i = 0; i < SIZE; ++i)
            for (int k = 0; k < SIZE; ++k) {
                expected[i] += 3.0 * c.dense[i][k] * x[k];
                twice += x[i] * c.dense[i][k] * x[k];
            }
        mass_apply(&c.system, 3.0, x, y);
        CHECK_BELOW(largest_difference(y, expected), 1e-14); // measured 1e-15
        memcpy(y, x, sizeof y);
        mass_apply(&c.system, 3.0, y, y);
        CHECK_BELOW(largest_difference(y, expected), 1e-14);                       // measured 1e-15
        CHECK_BELOW(fabs(mass_kinetic_energy(&c.system, x) - 0.5 * twice), 1e-13); // measured 1e-15

        // v with M v = M x / 3: x again, but for vectors without inertia
        for (int k = 0; k < SIZE; ++k)
            if (c.inertia[k / 3] == 0.0) x[k] = 0.0;
        mass_apply(&c.system, 1.0, x, y);
        mass_solve(&c.system, y, v);
        CHECK_BELOW(largest_difference(v, x), 1e-14); // measured 1e-15
        mass_solve(&c.system, y, y);
        CHECK_BELOW(largest_difference(y, v), 1e-300); // in place: the same
        mass_apply(&c.system, 1.0, x, y);
        mass_own_momenta(&c.system, y, y);
        for (int k = 0; k < SIZE; ++k) v[k] = c.inertia[k / 3] * x[k];
        CHECK_BELOW(largest_difference(y, v), 1e-14); // measured 1e-15
        drop(&c);
    }
}

TEST(mass, weights_are_what_a_translation_meets)
{
    number_source numbers = {6};
    coupled c;
    make(&c, &numbers, EDGES);
    double x[SIZE] = {0.0}, y[SIZE], w[SIZE] = {0.0};
    for (int i = 0; i < BODIES; ++i) vec3_store(c.system.gravity, x + POSE_SIZE * i);
    mass_apply(&c.system, 2.0, x, y);
    mass_add_weights(&c.system, 2.0, w);
    CHECK_BELOW(largest_difference(y, w), 1e-13); // N; measured 2e-15
    drop(&c);
}

TEST(mass, twist_is_that_of_the_momenta)
{
    number_source numbers = {7};
    coupled c;
    make(&c, &numbers, EDGES);
    double q[SIZE], v[SIZE], twists[TWIST_SIZE * BODIES], worst = 0.0;
    for (int i = 0; i < BODIES; ++i) {
        hn_mat3 r = next_rotation(&numbers);
        vec3_store(next_vector(&numbers, 1.0), q + POSE_SIZE * i);
        for (int k = 0; k < 3; ++k) vec3_store(mat3_column(&r, k), q + POSE_SIZE * i + 3 + 3 * k);
        for (int k = 0; k < TWIST_SIZE; ++k) twists[TWIST_SIZE * i + k] = next_number(&numbers);
        twist_to_velocity(q + POSE_SIZE * i, twists + TWIST_SIZE * i, v + POSE_SIZE * i);
    }
    mass_apply(&c.system, 1.0, v, v);
    mass_own_momenta(&c.system, v, v);
    for (int i = 0; i < BODIES; ++i) {
        double twist[TWIST_SIZE];
        mass_twist(&c.system, i, q + POSE_SIZE * i, v + POSE_SIZE * i, twist);
        for (int k = 0; k < (c.bodies[i].has_directors ? TWIST_SIZE : 3); ++k)
            worst = fmax(worst, fabs(twist[k] - twists[TWIST_SIZE * i + k]));
    }
    CHECK_BELOW(worst, 1e-13); // measured 3e-15
    drop(&c);
}
