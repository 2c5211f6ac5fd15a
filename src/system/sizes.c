// SPDX-License-Identifier: MIT
// Lengths and masses by which bodies are measured: each its own, and those of the mechanism it belongs to.
#include "system/mass.h"
#include "system/system.h"

// Mechanisms as a forest: a body points to another one of its mechanism, or to itself.
static int root_of(int *leader, int body)
{
    while (leader[body] != body) body = leader[body] = leader[leader[body]];
    return body;
}

static void tie(int *leader, int a, int b)
{
    if (a < 0 || b < 0) return;
    a = root_of(leader, a), b = root_of(leader, b);
    if (a < b) leader[b] = a;
    else leader[a] = b;
}

static void tie_coupled(const hn_system *system, int *leader)
{
    for (int k = 0; k < system->coupling_count; ++k) {
        const system_coupling *c = &system->couplings[k];
        int first = element_body(&system->elements[c->first]);
        for (int i = 1; i < c->term_count; ++i)
            tie(leader, first, element_body(&system->elements[c->first + i]));
    }
}

// Bodies that joints or springs connect, but not through the ground, have one number, counted in tree order; with
// `coupled` also those that couplings connect. How many there are.
static int number_mechanisms(const hn_system *system, bool coupled, int *leader)
{
    int count = 0;
    for (int i = 0; i < system->body_count; ++i) leader[i] = i;
    for (int k = 0; k < system->joint_count; ++k)
        if (system->reports[k].rows.kind != HN_JOINT_FREE)
            tie(leader, system->reports[k].rows.parent, system->reports[k].rows.child);
    for (int k = 0; k < system->element_count; ++k)
        tie(leader, system->elements[k].a, system->elements[k].b);
    if (coupled) tie_coupled(system, leader);
    for (int i = 0; i < system->body_count; ++i) root_of(leader, i);
    // a leader comes before the others of its mechanism, and has its number already when they ask
    for (int i = 0; i < system->body_count; ++i)
        leader[i] = leader[i] == i ? count++ : leader[leader[i]];
    return count;
}

// Bodies mechanism by mechanism.
static void list_mechanisms(hn_system *system)
{
    int *start = system->mechanism_start, n = system->body_count;
    for (int m = 0; m <= system->mechanism_count; ++m) start[m] = 0;
    for (int i = 0; i < n; ++i) start[system->mechanism[i] + 1]++;
    for (int m = 0; m < system->mechanism_count; ++m) start[m + 1] += start[m];
    // filling moves the beginnings to the ends
    for (int i = 0; i < n; ++i) system->mechanism_bodies[start[system->mechanism[i]]++] = i;
    for (int m = system->mechanism_count; m > 0; --m) start[m] = start[m - 1];
    start[0] = 0;
}

static void lengthen(hn_system *system, int body, double length)
{
    if (body >= 0) system->sizes[body] = fmax(system->sizes[body], length);
}

// the largest distance from the centre of mass to a joint or a spring, radius of gyration, link, beam element or spring
// at the body
static void find_own_sizes(hn_system *system)
{
    for (int i = 0; i < system->body_count; ++i) {
        const double *inertia = mass_node(system, i);
        lengthen(system, i, sqrt((inertia[1] + inertia[2] + inertia[3]) / inertia[0]));
    }
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        lengthen(system, j->parent, fmax(vec3_norm(j->rho_a), j->length));
        lengthen(system, j->child, fmax(vec3_norm(j->rho_b), j->length));
    }
    for (int k = system->beam_first[0]; k < system->beam_first[system->beam_count]; ++k) {
        const element *e = &system->elements[k];
        lengthen(system, e->a, e->beam->length);
        lengthen(system, e->b, e->beam->length);
    }
}

static void find_spring_sizes(hn_system *system)
{
    for (int k = 0; k < system->element_count; ++k) {
        const element *e = &system->elements[k];
        double length = 0.0;
        if (e->kind == ELEMENT_SPRING)
            length = fmax(e->rest,
                          vec3_norm(vec3_combination(e->link, system_pose(system->q_start, e->a),
                                                     system_pose(system->q_start, e->b))));
        lengthen(system, e->a, fmax(length, vec3_norm(vec3_load(e->link + 1))));
        lengthen(system, e->b, fmax(length, vec3_norm(vec3_load(e->link + 5))));
    }
}

// The size, m, by which displacements along a joint are told from round-off: that of its smaller body, but not where
// places so far from the origin, of which they are differences, have less than a thirteenth digit of it.
static double known_size(const hn_system *system, const joint *j)
{
    static const double PLACE_DIGITS =
        1e-2; // round-off of places, 1e-15, over the 1e-13 that is asked of relations
    double far = 0.0;
    if (j->parent >= 0) far = vec3_norm(pose_center(system_pose(system->q_start, j->parent)));
    if (j->child >= 0)
        far = fmax(far, vec3_norm(pose_center(system_pose(system->q_start, j->child))));
    return fmax(system_joint_size(system, j), PLACE_DIGITS * far);
}

static void find_law_units(hn_system *system)
{
    for (int i = 0; i < system->law_count; ++i) {
        const element *e = &system->elements[system->drive_first + i];
        const joint *j = &system->reports[e->joint].rows;
        system->laws[i].unit = e->displacement ? known_size(system, j) : 1.0;
    }
}

void system_find_sizes(hn_system *system)
{
    int n = system->body_count;
    system->unit_length = system->sizes + n;
    system->unit_mass = system->sizes + 2 * (size_t)n;
    system->mechanism_first = system->mechanism + n;
    system->mechanism_bodies = system->mechanism + 2 * (size_t)n;
    system->mechanism_start = system->mechanism + 3 * (size_t)n;
    system->group = system->mechanism_start + n + 1;
    system->mechanism_count = number_mechanisms(system, false, system->mechanism);
    system->group_count = number_mechanisms(system, true, system->group);
    list_mechanisms(system);
    find_own_sizes(system);
    for (int i = 0; i < n; ++i) system->length = fmax(system->length, system->sizes[i]);
    find_spring_sizes(system);
    // what a mechanism has of both, collected at its first body
    double *length = system->unit_length, *mass = system->unit_mass;
    int *first = system->mechanism_first;
    for (int i = n - 1; i >= 0; --i) first[system->mechanism[i]] = i;
    for (int i = 0; i < n; ++i) {
        int to = first[system->mechanism[i]];
        length[to] = fmax(length[to], system->sizes[i]);
        mass[to] = fmax(mass[to], mass_node(system, i)[0]);
        system->mass = fmax(system->mass, mass_node(system, i)[0]);
    }
    // a point mass that nothing holds has no size: any will do
    if (!(system->length > 0.0)) system->length = 1.0;
    for (int i = 0; i < n; ++i) {
        int from = first[system->mechanism[i]];
        if (!(length[from] > 0.0)) length[from] = system->length;
        length[i] = length[from], mass[i] = mass[from];
        if (!(system->sizes[i] > 0.0)) system->sizes[i] = length[i];
    }
    find_law_units(system);
}
