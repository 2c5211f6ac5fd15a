// SPDX-License-Identifier: MIT
// Products and solutions with the mass matrix.
#include "system/mass.h"

#include "base/sum.h"

#include <string.h>

static inline void add_scaled(double factor, const double *x, double *y)
{
    for (int k = 0; k < 3; ++k) y[k] += factor * x[k];
}

void mass_add_edges(const hn_system *system, double factor, const double *x, double *y)
{
    for (int e = 0; e < system->mass_edge_count; ++e) {
        const mass_edge *edge = &system->mass_edges[e];
        size_t a = POSE_SIZE * (size_t)edge->a, b = POSE_SIZE * (size_t)edge->b;
        for (int i = 0; i < 4; ++i) {
            double m = factor * edge->mass[i];
            if (m == 0.0) continue;
            add_scaled(m, x + b + 3 * i, y + a + 3 * i);
            add_scaled(m, x + a + 3 * i, y + b + 3 * i);
        }
    }
}

// x <- M x as L D L^T x, in place
static void apply_edges_in_place(const hn_system *system, double *x)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (int e = 0; e < system->mass_edge_count; ++e) {
            // L^T from the first edge on, L from the last
            const mass_edge *edge =
                &system->mass_edges[pass == 0 ? e : system->mass_edge_count - 1 - e];
            const double *pivot = system->mass_pivots + 4 * (size_t)edge->a;
            double *a = x + POSE_SIZE * (size_t)edge->a, *b = x + POSE_SIZE * (size_t)edge->b;
            for (int i = 0; i < 4; ++i)
                if (pivot[i] > 0.0)
                    add_scaled(edge->factor[i] / pivot[i], (pass == 0 ? b : a) + 3 * i,
                               (pass == 0 ? a : b) + 3 * i);
        }
        size_t n = POSE_SIZE * (size_t)system->body_count;
        for (size_t k = 0; pass == 0 && k < n; ++k) x[k] *= system->mass_pivots[k / 3];
    }
}

void mass_apply(const hn_system *system, double factor, const double *x, double *y)
{
    if (x == y && system->mass_edge_count > 0) {
        apply_edges_in_place(system, y);
        for (size_t k = 0; k < POSE_SIZE * (size_t)system->body_count; ++k) y[k] *= factor;
        return;
    }
    for (int i = 0; i < system->body_count; ++i) {
        const double *m = mass_node(system, i);
        for (int k = 0; k < POSE_SIZE; ++k) {
            size_t place = POSE_SIZE * (size_t)i + (size_t)k;
            y[place] = factor * m[k / 3] * x[place];
        }
    }
    mass_add_edges(system, factor, x, y);
}

void mass_add_weights(const hn_system *system, double factor, double *y)
{
    for (int i = 0; i < system->body_count; ++i) {
        double weight = factor * mass_weight(system, i), *to = y + POSE_SIZE * (size_t)i;
        to[0] += weight * system->gravity.x;
        to[1] += weight * system->gravity.y;
        to[2] += weight * system->gravity.z;
    }
}

void mass_add_edge_weights(const hn_system *system, double factor, double *y)
{
    for (int i = 0; system->mass_edge_count > 0 && i < system->body_count; ++i) {
        hn_vec3 weight = vec3_scale(factor * system->edge_inertia[4 * (size_t)i], system->gravity);
        double *to = y + POSE_SIZE * (size_t)i;
        vec3_store(vec3_add(vec3_load(to), weight), to);
    }
}

// L y = p of the factors L D L^T: first bodies of edges into second ones
static void substitute_forward(const hn_system *system, double *y)
{
    for (int e = 0; e < system->mass_edge_count; ++e) {
        const mass_edge *edge = &system->mass_edges[e];
        const double *pivot = system->mass_pivots + 4 * (size_t)edge->a;
        for (int i = 0; i < 4; ++i)
            if (pivot[i] > 0.0)
                add_scaled(-edge->factor[i] / pivot[i], y + POSE_SIZE * (size_t)edge->a + 3 * i,
                           y + POSE_SIZE * (size_t)edge->b + 3 * i);
    }
}

// L^T x = D^-1 y
static void substitute_backward(const hn_system *system, double *x)
{
    for (int e = system->mass_edge_count - 1; e >= 0; --e) {
        const mass_edge *edge = &system->mass_edges[e];
        const double *pivot = system->mass_pivots + 4 * (size_t)edge->a;
        for (int i = 0; i < 4; ++i)
            if (pivot[i] > 0.0)
                add_scaled(-edge->factor[i] / pivot[i], x + POSE_SIZE * (size_t)edge->b + 3 * i,
                           x + POSE_SIZE * (size_t)edge->a + 3 * i);
    }
}

static void divide(const double *pivots, const double *p, double *v)
{
    for (int k = 0; k < POSE_SIZE; ++k) v[k] = pivots[k / 3] > 0.0 ? p[k] / pivots[k / 3] : 0.0;
}

void mass_solve_coupled(const hn_system *system, const double *p, double *v)
{
    int n = system->mass_edge_count > 0 ? system->body_count : 0;
    for (int i = 0; i < n; ++i)
        if (mass_is_coupled(system, i) && v != p)
            memcpy(v + POSE_SIZE * (size_t)i, p + POSE_SIZE * (size_t)i,
                   POSE_SIZE * sizeof(double));
    substitute_forward(system, v);
    for (int i = 0; i < n; ++i)
        if (mass_is_coupled(system, i))
            divide(system->mass_pivots + 4 * (size_t)i, v + POSE_SIZE * (size_t)i,
                   v + POSE_SIZE * (size_t)i);
    substitute_backward(system, v);
}

void mass_solve(const hn_system *system, const double *p, double *v)
{
    for (int i = 0; i < system->body_count; ++i)
        if (!mass_is_coupled(system, i))
            divide(mass_node(system, i), p + POSE_SIZE * (size_t)i, v + POSE_SIZE * (size_t)i);
    mass_solve_coupled(system, p, v);
}

void mass_own_momenta(const hn_system *system, const double *p, double *own)
{
    size_t n = POSE_SIZE * (size_t)system->body_count;
    if (system->mass_edge_count == 0) {
        if (own != p) memcpy(own, p, n * sizeof(double));
        return;
    }
    if (own != p) memcpy(own, p, n * sizeof(double));
    mass_solve_coupled(system, own, own);
    for (size_t k = 0; k < n; ++k)
        if (mass_is_coupled(system, (int)(k / POSE_SIZE))) own[k] *= system->inertia[k / 3];
}

void mass_twist(const hn_system *system, int body, const double *q, const double *own,
                double *twist)
{
    const double *m = mass_node(system, body);
    vec3_store(vec3_scale(1.0 / m[0], vec3_load(own)), twist);
    vec3_store(vec3(0.0, 0.0, 0.0), twist + 3);
    if (!system->bodies[body].has_directors) return;
    double wrench[TWIST_SIZE];
    force_to_wrench(q, own, wrench);
    hn_vec3 l = pose_components(q, vec3_load(wrench + 3));
    double x = m[2] + m[3], y = m[1] + m[3], z = m[1] + m[2];
    hn_vec3 omega = vec3(x > 0.0 ? l.x / x : 0.0, y > 0.0 ? l.y / y : 0.0, z > 0.0 ? l.z / z : 0.0);
    vec3_store(pose_direction(q, omega), twist + 3);
}

double mass_kinetic_energy(const hn_system *system, const double *v)
{
    exact_sum sum = {0};
    for (int i = 0; i < system->body_count; ++i) {
        const double *m = mass_node(system, i), *x = v + POSE_SIZE * (size_t)i;
        double twice = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) twice += m[k / 3] * x[k] * x[k];
        sum_add(&sum, 0.5 * twice);
    }
    for (int e = 0; e < system->mass_edge_count; ++e) {
        const mass_edge *edge = &system->mass_edges[e];
        const double *a = v + POSE_SIZE * (size_t)edge->a, *b = v + POSE_SIZE * (size_t)edge->b;
        double own = 0.0;
        for (int k = 0; k < POSE_SIZE; ++k) own += edge->mass[k / 3] * a[k] * b[k];
        sum_add(&sum, own);
    }
    return sum_total(&sum);
}

hn_status mass_prepare_edges(hn_system *system)
{
    size_t size = 4 * (size_t)system->body_count * sizeof(double);
    if (system->mass_edge_count == 0) return HN_OK;
    system->edge_inertia = system_allocate(system, size);
    system->mass_pivots = system_allocate(system, size);
    if (system->edge_inertia == NULL || system->mass_pivots == NULL) return HN_OUT_OF_MEMORY;
    memcpy(system->mass_pivots, system->inertia, size);
    for (int e = 0; e < system->mass_edge_count; ++e)
        memcpy(system->mass_edges[e].factor, system->mass_edges[e].mass,
               sizeof system->mass_edges[e].factor);
    for (int e = 0; e < system->mass_edge_count; ++e) {
        mass_edge *edge = &system->mass_edges[e];
        size_t a = 4 * (size_t)edge->a, b = 4 * (size_t)edge->b;
        // a middle node has two edges in a row, and the next one joins their ends
        bool middle = e + 2 < system->mass_edge_count && edge[1].a == edge->a;
        for (size_t i = 0; i < 4; ++i) {
            double m = edge->factor[i], pivot = system->mass_pivots[a + i];
            system->edge_inertia[a + i] += edge->mass[i];
            system->edge_inertia[b + i] += edge->mass[i];
            if (pivot > 0.0) system->mass_pivots[b + i] -= m * m / pivot;
            if (pivot > 0.0 && middle) edge[2].factor[i] -= m * edge[1].factor[i] / pivot;
        }
    }
    return HN_OK;
}
