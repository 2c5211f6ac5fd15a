// SPDX-License-Identifier: MIT
// Energy mechanism by mechanism.
//
//   (H6)  T = 1/2 M |v_c|^2 + T_rel,  T_rel = sum 1/2 m |v - v_c|^2 + rotations: from relative velocities,
//         no difference of large numbers
//   (H7)  free, no forces: T_rel + V_springs - W and 1/2 M |v_c|^2 - M g . x_c are kept each for itself
#include "simulation/mechanisms.h"

#include "simulation/equations.h"
#include "simulation/simulation.h"
#include "system/mass.h"

#include <float.h>
#include <string.h>

static bool is_load(const element *e)
{
    return element_type_of(e->kind)->from_outside;
}

// Do schemes tell the work of loads mechanism by mechanism?
static bool works_apart(const hn_simulation *s)
{
    return s->scheme->energy_kept;
}

int mechanisms_find(const hn_simulation *s, energy_part *parts, int *part_of)
{
    const hn_system *system = s->system;
    // inertia between bodies is not split
    if (system->mass_edge_count > 0) return 0;
    bool tied_alone = false;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->kind != HN_JOINT_FREE && (j->parent < 0 || j->child < 0)) tied_alone = true;
    }
    if (system->mechanism_count == 1 && tied_alone) return 0;
    if (parts == NULL) return system->mechanism_count;
    for (int m = 0; m < system->mechanism_count; ++m)
        parts[m] = (energy_part){.first = system->mechanism_first[m]}, part_of[m] = m;
    for (int k = 0; k < system->joint_count; ++k) {
        const joint *j = &system->reports[k].rows;
        if (j->kind == HN_JOINT_FREE || (j->parent >= 0 && j->child >= 0)) continue;
        parts[system->mechanism[j->parent >= 0 ? j->parent : j->child]].tied = true;
    }
    int loaded = -1;
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        int m = system->mechanism[element_body(e)];
        if (is_load(e)) parts[m].forced = true;
        else if (e->a < 0 || e->b < 0) parts[m].tied = true;
        if (works_apart(s) || (!is_load(e) && e->damping == 0.0 && e->law == NULL)) continue;
        if (loaded < 0) loaded = m;
        part_of[m] = loaded;
        parts[loaded].loaded = true;
    }
    for (int i = 0; i < system->body_count; ++i) {
        int m = system->mechanism[i];
        if (system->bodies[i].kind == HN_BODY_PLANAR_POINT_MASS) parts[m].tied = true;
        parts[part_of[m]].mass += mass_weight(system, i);
        parts[m].momentum.mass += mass_weight(system, i);
    }
    for (int m = 0; m < system->mechanism_count; ++m) {
        parts[m].momentum.free = !parts[m].tied && !parts[m].forced;
        parts[m].whole = s->scheme->imposes_invariants;
    }
    // those that share their work are measured in the ground's frame
    for (int m = 0; m < system->mechanism_count; ++m)
        if (part_of[m] != m) parts[part_of[m]].tied = true;
    return system->mechanism_count;
}

static energy_part *part_of_body(const hn_simulation *s, int body)
{
    return &s->parts[s->part_of[s->system->mechanism[body]]];
}

bool mechanisms_have_centre(const energy_part *part)
{
    return !part->tied && !part->forced && !part->whole;
}

static void measure(hn_simulation *s)
{
    const hn_system *system = s->system;
    for (int m = 0; m < s->part_count; ++m) {
        energy_part *part = &s->parts[m];
        memset(part->linear, 0, sizeof part->linear);
        part->kinetic = part->potential = part->weight_potential = part->inner_kinetic = 0.0;
    }
    for (int i = 0; i < system->body_count; ++i) {
        energy_part *part = part_of_body(s, i);
        const double *p = s->momenta + POSE_SIZE * (size_t)i, *q = system_pose(s->state.q, i);
        double mass = mass_node(system, i)[0], speed = vec3_norm(vec3_load(p)) / mass;
        for (int k = 0; k < 3; ++k) {
            part->linear[k] += p[k];
            // of the body's joints, whose places are rounded too
            part->distance = fmax(part->distance, fabs(q[k]) + system->sizes[i]);
        }
        part->speed = fmax(part->speed, speed);
        part->kinetic += 0.5 * mass * speed * speed;
        part->weight_potential -= mass * vec3_dot(system->gravity, pose_center(q));
    }
    for (int i = 0; i < system->body_count; ++i) {
        energy_part *part = part_of_body(s, i);
        const double *p = s->momenta + POSE_SIZE * (size_t)i, *m = mass_node(system, i);
        double turning = 0.0;
        for (int k = 3; k < POSE_SIZE; ++k)
            if (m[k / 3] > 0.0) turning += 0.5 * p[k] * p[k] / m[k / 3];
        hn_vec3 centre = vec3_scale(1.0 / part->mass, vec3_load(part->linear));
        double relative = vec3_norm(vec3_subtract(vec3_scale(1.0 / m[0], vec3_load(p)), centre));
        part->kinetic += turning;
        part->inner_kinetic += turning + 0.5 * m[0] * relative * relative;
        part->inner_speed = fmax(part->inner_speed, part->tied ? part->speed : relative);
    }
    for (int i = 0; i < system->element_count; ++i) {
        const element *e = &system->elements[i];
        part_of_body(s, element_body(e))->potential +=
            element_energy(e, system_pose(s->state.q, e->a), system_pose(s->state.q, e->b),
                           system_third(e, s->state.q), s->angles);
    }
}

void mechanisms_note(hn_simulation *s, bool first)
{
    if (s->part_count == 0) return;
    measure(s);
    for (int m = 0; m < s->part_count; ++m) {
        energy_part *part = &s->parts[m];
        if (s->part_of[m] != m) continue;
        double work = works_apart(s) ? s->works[m] : part->loaded ? s->work : 0.0;
        bool split = mechanisms_have_centre(part);
        energy_account_note(&part->inner, split ? part->inner_kinetic : part->kinetic,
                            part->potential + (split ? 0.0 : part->weight_potential), work, first);
        part->inner_scale = fmax(part->inner_scale, part->inner_kinetic);
        if (!split) continue;
        double square = 0.0;
        for (int k = 0; k < 3; ++k) square += part->linear[k] * part->linear[k];
        energy_account_note(&part->centre, 0.5 * square / part->mass, part->weight_potential, 0.0,
                            first);
    }
}

static const double NOTHING_ELSE = 100.0; // times round-off

// J, what round-off leaves open of the works of forces: that of mechanisms that are one part together
static void sum_work_round_off(const hn_simulation *s, double *sums)
{
    memset(sums, 0, (size_t)s->part_count * sizeof(double));
    for (int m = 0; m < s->part_count; ++m)
        sums[s->part_of[m]] += s->work_round_off[m] + equations_stiff_round_off(s, m);
}

// Keep the worse of two verdicts. `work`: what round-off leaves open of works, a part of the floor.
static void judge(energy_verdict *worst, const energy_part *part, const energy_account *a,
                  double scale, double floor, double work, double bound, bool centre,
                  double *worst_ratio)
{
    // nothing but round-off is turned over
    if (!(scale > 0.0) || (a->error <= floor && scale < NOTHING_ELSE * floor)) return;
    floor += work;
    double ratio = a->error / (bound * scale + floor);
    if (worst->part != NULL && ratio <= *worst_ratio) return;
    *worst_ratio = ratio;
    *worst = (energy_verdict){.error = a->error / scale,
                              .drift = a->drift / scale,
                              .scale = scale,
                              .floor = floor / scale,
                              .part = part,
                              .band = &a->band,
                              .centre = centre};
}

bool mechanisms_verdict(const hn_simulation *s, double bound, energy_verdict *verdict)
{
    const double AT_REST = 1e-12, ROUND_OFF = 4.0 * DBL_EPSILON;
    const hn_system *system = s->system;
    double gravity = vec3_norm(system->gravity), worst_ratio = 0.0;
    *verdict = (energy_verdict){0};
    sum_work_round_off(s, s->terms);
    for (int m = 0; m < s->part_count; ++m) {
        const energy_part *part = &s->parts[m];
        if (s->part_of[m] != m) continue;
        const energy_account *a = &part->inner;
        double scale = a->kinetic_max + a->potential_change_max;
        double rate = ROUND_OFF * (part->distance / simulation_finest_step(s) + part->speed);
        double still = rate * sqrt((double)s->step_count + 1.0); // where nothing else moves
        // what forces do on round-off alone is as large as they are
        if (part->tied && a->kinetic_max <= NOTHING_ELSE * part->mass * still * still &&
            isfinite(a->error))
            continue;
        double floor = part->mass * (part->inner_speed * rate + still * still) +
                       ROUND_OFF * fabs(a->potential_start); // of stressed springs
        double work = s->terms[m];
        // a stressed structure that floats at rest: by what its springs hold
        if (!(scale > AT_REST * fabs(a->potential_start))) scale = fabs(a->potential_start);
        if (part->tied) {
            // a structure at rest: by its weight times its size
            double standing =
                fabs(a->potential_start) +
                part->mass * gravity * (system->unit_length[part->first] + part->distance);
            if (!(scale > AT_REST * standing)) scale = standing;
            floor += ROUND_OFF * standing; // of heights, while little has moved yet
        } else if (part->forced || part->whole) {
            if (part->whole)
                judge(verdict, part, a, scale, floor, work, bound, false, &worst_ratio);
            // differences of what falling turns over, in every step
            floor += ROUND_OFF * sqrt((double)s->step_count + 1.0) *
                     (a->kinetic_max + a->potential_change_max + fabs(a->potential_start));
            scale = fmin(scale, part->inner_scale + a->work_max);
        }
        judge(verdict, part, a, scale, floor, work, bound, false, &worst_ratio);
        if (!mechanisms_have_centre(part)) continue;
        a = &part->centre;
        scale = a->kinetic_max + a->potential_change_max;
        floor = part->mass * part->speed * rate + ROUND_OFF * fabs(a->potential_start);
        judge(verdict, part, a, scale, floor, 0.0, bound, true, &worst_ratio);
    }
    return s->part_count > 0;
}
